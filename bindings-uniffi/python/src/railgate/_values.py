"""Converts Python's values for the library."""

import decimal

# The library's decimals have 28 digits; it refuses anything longer.
MOST_CHARACTERS = 64


def decimal_text(value) -> str:
    """The text of an exact decimal. A float is refused, because its value has already been rounded."""
    if not isinstance(value, decimal.Decimal):
        raise TypeError(f"an amount must be a decimal.Decimal, not {type(value).__name__}")
    if not value.is_finite():
        return str(value)
    whole, behind = max(value.adjusted() + 1, 1), max(-value.as_tuple().exponent, 0)
    # With an exponent, which the library refuses: written out it could have a thousand million digits.
    return format(value, "f" if whole + behind <= MOST_CHARACTERS else ".3e")
