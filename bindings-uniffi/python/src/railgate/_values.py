"""How values of Python's own types go to the library."""

import decimal

# The library's decimals have 28 digits; anything with more is refused there whatever it is.
MOST_CHARACTERS = 64


def decimal_text(value) -> str:
    """An exact decimal, written out. A float is none: what it stands for was rounded before anybody could look."""
    if not isinstance(value, decimal.Decimal):
        raise TypeError(f"an amount must be a decimal.Decimal, not {type(value).__name__}")
    if not value.is_finite():
        return str(value)
    whole, behind = max(value.adjusted() + 1, 1), max(-value.as_tuple().exponent, 0)
    # With an exponent, which is refused: written out it might be a thousand million digits.
    return format(value, "f" if whole + behind <= MOST_CHARACTERS else ".3e")
