-- Providers and routes as data: the rows of the configuration, of which the last about a subject is in force.
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
