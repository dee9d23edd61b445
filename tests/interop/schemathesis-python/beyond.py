"""What the document cannot say of valid data: whatever is refused for another reason is data that the document calls valid."""

import re

# Codes of problems.
PROBLEMS = {
    "invalid_cursor",  # Only the gateway makes cursors.
    "bundle_unusable",  # What is in a file.
    "statement_unusable",
    "insufficient_funds",  # What there is.
}

# Codes of problems with fields, and the fields that may have them.
FIELDS = [
    # Registries: of currencies, participants, countries, languages, time zones, and of the gateway itself.
    ("(currency|quote|rail|provider|scope|key|time_zone)_unknown|participant_.*|(country|locale)_malformed", ".*"),
    ("rail_sandbox_only|private_key_sent", ".*"),
    # How a number is written: to a schema, 1000 and 1e3 are the same, and 1 and 1.0.
    ("amount_(exponent|digits|scale)", ".*"),
    ("out_of_range", ".*/(advance_ms|latency_ms|seed|priority|weight|daily_count|connect_ms|answer_ms|grace|after|version)"),
    ("out_of_range", ".*/(flat|percent|min|max|from)"),
    # Characters that nobody sees.
    ("invalid_characters|(client_name|name|label|text|prefix|description)_malformed", ".*"),
    # Formats that have a grammar.
    ("(base64|content|url|link|pointer|key|time)_malformed|malformed_key|url_refused", ".*"),
    # One value depends on another.
    ("currency_missing|contradicts_settings|duplicate_entry|id_mismatch|not_applicable|out_of_order|shown_differs", ".*"),
    ("unsupported_curve|unsupported_key_type", ".*"),
    ("out_of_range", "from|to|.*/quiet_hours/to"),
    ("too_many", "by"),
    ("required", "user|/client_name|.*/jwk/y|/attestation/(chain|object)"),
    ("unknown_parameter", "size|margin|level|title"),
    ("unknown_field", "/attestation/(chain|object)"),
    # The names of members.
    ("too_short|too_long|unknown_field", ".*/(settings|secrets|metadata|sandbox|live|kinds)/[^/]*"),
    # There are more of the kind.
    ("more_problems", ""),
]


def is_beyond(problem: dict) -> bool:
    """Whether the document cannot say that this would be a problem."""

    def known(field: dict) -> bool:
        return any(re.fullmatch(code, field["code"]) and re.fullmatch(at, field["pointer"], re.DOTALL) for code, at in FIELDS)

    fields = problem.get("errors", [])
    return problem["code"] in PROBLEMS or (bool(fields) and all(known(field) for field in fields))
