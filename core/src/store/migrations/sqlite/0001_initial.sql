-- The first schema. Keys are dense numbers that grow, so that inserts append; a settlement's children are clustered
-- under it by `k = settlement << 16 | n`; enums, currencies (ISO 4217 numeric) and providers are small integers; times
-- are milliseconds since 1970 UTC; money is in minor units. No column repeats what another one tells.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE client (
    no         INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,           -- ULID, 16 bytes, big-endian
    name       TEXT    NOT NULL,
    suspended  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE token (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the token's text
    client     INTEGER NOT NULL,
    mode       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX token_expires ON token (expires_at);

CREATE TABLE provider (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE account (
    id              INTEGER PRIMARY KEY,          -- owner << 16 | currency << 4 | mode << 2 | kind of owner
    debits_pending  INTEGER NOT NULL,
    debits_posted   INTEGER NOT NULL,
    credits_pending INTEGER NOT NULL,
    credits_posted  INTEGER NOT NULL
) STRICT;

CREATE TABLE settlement (
    no           INTEGER PRIMARY KEY,
    client       INTEGER NOT NULL,
    reference    TEXT    NOT NULL,
    mode         INTEGER NOT NULL,
    status       INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    needs_review INTEGER NOT NULL,
    amount       INTEGER NOT NULL,
    currency     INTEGER NOT NULL,
    recipient    TEXT    NOT NULL,                -- the participant that is paid, canonical
    provider     INTEGER NOT NULL,
    fee          INTEGER NOT NULL,
    reversed     INTEGER NOT NULL,
    reversing    INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    reversals    INTEGER NOT NULL,
    transfers    INTEGER NOT NULL,
    hold         INTEGER NOT NULL,
    salt         INTEGER NOT NULL,
    head         BLOB    NOT NULL,                -- SHA-256 of the last event
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    completed_at INTEGER,
    expires_at   INTEGER,
    more         TEXT,                            -- JSON; NULL for most
    UNIQUE (client, reference)
) STRICT;
CREATE INDEX settlement_client ON settlement (client);
CREATE INDEX settlement_review ON settlement (client) WHERE needs_review = 1;

CREATE TABLE event (
    k          INTEGER PRIMARY KEY,
    kind       INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    from_state INTEGER,
    to_state   INTEGER,
    actor      INTEGER NOT NULL,
    child      INTEGER NOT NULL,
    data       TEXT,                              -- canonical JSON, hashed as it is
    hash       BLOB    NOT NULL
) STRICT;

CREATE TABLE attempt (
    k           INTEGER PRIMARY KEY,
    provider    INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    sends       INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    answered_at INTEGER
) STRICT;

CREATE TABLE reversal (
    k              INTEGER PRIMARY KEY,
    client         INTEGER NOT NULL,
    reference      TEXT,
    status         INTEGER NOT NULL,
    amount         INTEGER NOT NULL,
    reason         INTEGER,
    description    TEXT,
    hold           INTEGER NOT NULL,
    needs_review   INTEGER NOT NULL,
    rail_reference TEXT,
    failure        TEXT,                          -- JSON
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    completed_at   INTEGER
) STRICT;
CREATE UNIQUE INDEX reversal_reference ON reversal (client, reference) WHERE reference IS NOT NULL;

CREATE TABLE transfer (
    k        INTEGER PRIMARY KEY,
    kind     INTEGER NOT NULL,
    code     INTEGER NOT NULL,
    debit    INTEGER NOT NULL,
    credit   INTEGER NOT NULL,
    amount   INTEGER NOT NULL,
    resolves INTEGER NOT NULL,
    at       INTEGER NOT NULL
) STRICT;

CREATE TABLE task (
    key        INTEGER PRIMARY KEY,               -- due << 20 | a number that makes it unique
    kind       INTEGER NOT NULL,
    settlement INTEGER NOT NULL,
    child      INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    owner      INTEGER NOT NULL
) STRICT;

CREATE TABLE idempotency (
    client      INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    settlement  INTEGER NOT NULL,
    reversal    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

CREATE TABLE sim_payment (
    k           INTEGER PRIMARY KEY,
    provider    INTEGER NOT NULL,
    received    INTEGER NOT NULL,
    received_at INTEGER NOT NULL
) STRICT;

CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
