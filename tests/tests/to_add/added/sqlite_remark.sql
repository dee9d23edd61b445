-- What clients remark on their settlements.

CREATE TABLE remark (
    settlement INTEGER PRIMARY KEY,
    text       TEXT    NOT NULL,
    at         INTEGER NOT NULL
) STRICT;
