-- Bundles: what partners describe, in revisions, and every step of it.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE bundle (
    no          bigint   PRIMARY KEY,
    client      bigint   NOT NULL,
    revision    bigint   NOT NULL,
    bytes       bigint   NOT NULL,
    steps       bigint   NOT NULL,
    submission  bigint   NOT NULL,                   -- the step; 0 for none
    report      bigint   NOT NULL,                   -- the step; 0 for none
    due         bigint,                              -- when the test is due, or the lease on it ends
    owner       bigint   NOT NULL,                   -- the host that has the lease; 0 for none
    created_at  bigint   NOT NULL,
    updated_at  bigint   NOT NULL,
    version     bigint,
    tries       integer  NOT NULL,
    mode        smallint NOT NULL,                   -- 1 sandbox, 2 live
    status      smallint NOT NULL,                   -- 1 draft … 9 revoked
    publishing  smallint,                            -- a mode
    conformance smallint,                            -- 1 waiting, 2 running, 3 passed, 4 failed
    in_sandbox  boolean  NOT NULL,
    in_live     boolean  NOT NULL,
    with_routes boolean  NOT NULL,
    id          bytea    NOT NULL UNIQUE,
    digest      bytea    NOT NULL,                   -- of that revision, SHA-256
    head        bytea    NOT NULL,                   -- SHA-256 of the event of the last step
    sealed      bytea    NOT NULL,                   -- secrets for the endpoints
    provider    text     COLLATE "C" NOT NULL,       -- the id in the manifest
    release     text     COLLATE "C" NOT NULL        -- the version in the manifest
);

CREATE INDEX bundle_client ON bundle (client, mode, no);
CREATE INDEX bundle_status ON bundle (status, no);
CREATE INDEX bundle_due ON bundle (due, no) WHERE due IS NOT NULL;

CREATE TABLE bundle_part (
    bundle    bigint  NOT NULL,
    revision  bigint  NOT NULL,
    signed_by bigint  NOT NULL,                      -- a key
    at        bigint  NOT NULL,
    n         integer NOT NULL,                      -- 0 the manifest, otherwise a document
    name      text    COLLATE "C" NOT NULL,
    digest    bytea   NOT NULL,                      -- SHA-256
    content   bytea   NOT NULL,
    PRIMARY KEY (bundle, revision, n)
);

CREATE TABLE bundle_step (
    bundle      bigint   NOT NULL,
    n           bigint   NOT NULL,
    at          bigint   NOT NULL,
    made_by     bigint   NOT NULL,                   -- a client, an operator, or 0 for the gateway
    signed_by   bigint   NOT NULL,                   -- a key; 0 for none
    revision    bigint   NOT NULL,
    kind        smallint NOT NULL,
    from_status smallint NOT NULL,
    to_status   smallint NOT NULL,
    comment     text     COLLATE "C",
    data        text     COLLATE "C",                -- JSON
    PRIMARY KEY (bundle, n)
);
