-- Bundles: what partners describe, in revisions, and every step of it.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE bundle (
    no          INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL UNIQUE,
    client      INTEGER NOT NULL,
    mode        INTEGER NOT NULL,                    -- 1 sandbox, 2 live
    status      INTEGER NOT NULL,                    -- 1 draft … 9 revoked
    provider    TEXT    NOT NULL,                    -- the id in the manifest
    release     TEXT    NOT NULL,                    -- the version in the manifest
    revision    INTEGER NOT NULL,
    digest      BLOB    NOT NULL,                    -- of that revision, SHA-256
    bytes       INTEGER NOT NULL,
    steps       INTEGER NOT NULL,
    head        BLOB    NOT NULL,                    -- SHA-256 of the event of the last step
    submission  INTEGER NOT NULL,                    -- the step; 0 for none
    report      INTEGER NOT NULL,                    -- the step; 0 for none
    sealed      BLOB    NOT NULL,                    -- secrets for the endpoints
    in_sandbox  INTEGER NOT NULL,
    in_live     INTEGER NOT NULL,
    publishing  INTEGER,                             -- a mode
    with_routes INTEGER NOT NULL,
    conformance INTEGER,                             -- 1 waiting, 2 running, 3 passed, 4 failed
    due         INTEGER,                             -- when the test is due, or the lease on it ends
    owner       INTEGER NOT NULL,                    -- the host that has the lease; 0 for none
    tries       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    version     INTEGER
) STRICT;

CREATE INDEX bundle_client ON bundle (client, mode, no);
CREATE INDEX bundle_status ON bundle (status, no);
CREATE INDEX bundle_due ON bundle (due, no) WHERE due IS NOT NULL;

CREATE TABLE bundle_part (
    bundle    INTEGER NOT NULL,
    revision  INTEGER NOT NULL,
    n         INTEGER NOT NULL,                      -- 0 the manifest, otherwise a document
    name      TEXT    NOT NULL,
    digest    BLOB    NOT NULL,                      -- SHA-256
    signed_by INTEGER NOT NULL,                      -- a key
    at        INTEGER NOT NULL,
    content   BLOB    NOT NULL,
    PRIMARY KEY (bundle, revision, n)
) STRICT;

CREATE TABLE bundle_step (
    bundle      INTEGER NOT NULL,
    n           INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    made_by     INTEGER NOT NULL,                    -- a client, an operator, or 0 for the gateway
    signed_by   INTEGER NOT NULL,                    -- a key; 0 for none
    revision    INTEGER NOT NULL,
    from_status INTEGER NOT NULL,
    to_status   INTEGER NOT NULL,
    comment     TEXT,
    data        TEXT,                                -- JSON
    PRIMARY KEY (bundle, n)
) STRICT;
