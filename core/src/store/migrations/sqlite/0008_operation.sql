-- Live operation: providers and routes as data, real money in and out, expiry. Of the rows of the configuration, the last about a
-- subject is in force.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE setup (
    revision INTEGER PRIMARY KEY,
    subject  INTEGER NOT NULL,                    -- 1 a provider, 2 the table of routes
    provider INTEGER NOT NULL,                    -- 0 for none
    at       INTEGER NOT NULL,
    document TEXT    NOT NULL,                    -- JSON, without secrets
    secrets  BLOB    NOT NULL,                    -- sealed; empty for none
    reason   TEXT
) STRICT;

CREATE TABLE movement (
    journal   INTEGER PRIMARY KEY,
    client    INTEGER NOT NULL,
    reference TEXT    NOT NULL,
    kind      INTEGER NOT NULL,                   -- 1 in, 2 out
    mode      INTEGER NOT NULL,
    currency  INTEGER NOT NULL,
    amount    INTEGER NOT NULL,
    evidence  TEXT    NOT NULL,
    at        INTEGER NOT NULL,
    UNIQUE (client, reference)
) STRICT;

-- Those that wait to be sent and have an end are found when it comes.
CREATE INDEX settlement_expires ON settlement (status, expires_at) WHERE expires_at IS NOT NULL;
