-- Clients that moved to another gateway, or came from one.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE elsewhere (
    client    INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    reference TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    url       TEXT    NOT NULL,
    PRIMARY KEY (client, kind, reference)
) STRICT, WITHOUT ROWID;

CREATE TABLE brought (
    id    INTEGER PRIMARY KEY,                    -- as in usage
    value INTEGER NOT NULL,                       -- minor units
    count INTEGER NOT NULL
) STRICT;
