-- The mobile API: end users of clients, their devices, the codes with which these enrol, and who pays a settlement.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE settlement ADD COLUMN app_user INTEGER;

CREATE INDEX settlement_app_user ON settlement (app_user, created_at, no) WHERE app_user IS NOT NULL;

CREATE TABLE app_user (
    no          INTEGER PRIMARY KEY,
    client      INTEGER NOT NULL,
    mode        INTEGER NOT NULL,
    name        TEXT    NOT NULL,                 -- the client's own
    status      INTEGER NOT NULL,                 -- 1 active, 2 blocked
    limits      TEXT    NOT NULL,                 -- JSON
    preferences TEXT    NOT NULL,                 -- JSON; empty for the defaults
    created_at  INTEGER NOT NULL,
    version     INTEGER,
    UNIQUE (client, mode, name)
) STRICT;

CREATE TABLE device (
    no          INTEGER PRIMARY KEY,              -- of its key
    id          BLOB    NOT NULL UNIQUE,
    app_user    INTEGER NOT NULL,
    label       TEXT,
    platform    TEXT    NOT NULL,
    app_version TEXT,
    model       TEXT,
    attestation TEXT,                             -- JSON
    created_at  INTEGER NOT NULL,
    revoked_at  INTEGER,
    version     INTEGER
) STRICT;

CREATE INDEX device_app_user ON device (app_user, no);

CREATE TABLE device_code (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the code
    app_user   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX device_code_app_user ON device_code (app_user, hash);
CREATE INDEX device_code_expires ON device_code (expires_at);
