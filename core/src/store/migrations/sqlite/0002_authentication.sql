-- Signed calls: clients have public keys, a token belongs to the key that took it, a nonce is used once, and what was
-- done with which key is kept. Secrets are sealed before they get here.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE client ADD COLUMN webhook_secret BLOB NOT NULL DEFAULT x'';  -- sealed; empty: none

-- No key can sign for a token that was issued before there were keys: it opens nothing any more.
DELETE FROM token;
ALTER TABLE token ADD COLUMN key    INTEGER NOT NULL DEFAULT 0;
ALTER TABLE token ADD COLUMN scopes INTEGER NOT NULL DEFAULT 0;          -- one bit a scope

CREATE TABLE key (
    no         INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,           -- RFC 7638 thumbprint, SHA-256
    client     INTEGER NOT NULL,
    mode       INTEGER NOT NULL,
    algorithm  INTEGER NOT NULL,
    public     BLOB    NOT NULL,                  -- P-256: SEC 1 uncompressed, 65 bytes; Ed25519: 32 bytes
    scopes     INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    label      TEXT,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) STRICT;
CREATE INDEX key_client ON key (client);

CREATE TABLE nonce (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the nonce's text
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX nonce_expires ON nonce (expires_at);

CREATE TABLE secret (
    kind       INTEGER NOT NULL,
    no         INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    public     BLOB    NOT NULL,                  -- SEC 1 uncompressed; empty: none
    created_at INTEGER NOT NULL,
    retired_at INTEGER,
    PRIMARY KEY (kind, no)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    no      INTEGER PRIMARY KEY,                  -- grows, so that inserts append
    at      INTEGER NOT NULL,
    client  INTEGER NOT NULL,                     -- 0: none
    key     INTEGER NOT NULL,                     -- 0: an operator
    action  INTEGER NOT NULL,
    target  INTEGER NOT NULL,                     -- 0: nothing with a number
    name    TEXT,
    refused TEXT                                  -- the code of the refusal; NULL: done
) STRICT;
