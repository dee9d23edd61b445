-- The mobile API: end users of clients, their devices, the codes with which these enrol, and who pays a settlement.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE settlement ADD COLUMN app_user bigint;

CREATE INDEX settlement_app_user ON settlement (app_user, created_at, no) WHERE app_user IS NOT NULL;

CREATE TABLE app_user (
    no          bigint   PRIMARY KEY,
    client      bigint   NOT NULL,
    created_at  bigint   NOT NULL,
    version     bigint,
    mode        smallint NOT NULL,
    status      smallint NOT NULL,                    -- 1 active, 2 blocked
    name        text     COLLATE "C" NOT NULL,        -- the client's own
    limits      text     COLLATE "C" NOT NULL,        -- JSON
    preferences text     COLLATE "C" NOT NULL,        -- JSON; empty for the defaults
    UNIQUE (client, mode, name)
);

CREATE TABLE device (
    no          bigint   PRIMARY KEY,                 -- of its key
    app_user    bigint   NOT NULL,
    created_at  bigint   NOT NULL,
    revoked_at  bigint,
    version     bigint,
    id          bytea    NOT NULL UNIQUE,
    label       text     COLLATE "C",
    platform    text     COLLATE "C" NOT NULL,
    app_version text     COLLATE "C",
    model       text     COLLATE "C",
    attestation text     COLLATE "C"                  -- JSON
);

CREATE INDEX device_app_user ON device (app_user, no);

CREATE TABLE device_code (
    hash       bytea    PRIMARY KEY,                  -- SHA-256 of the code
    app_user   bigint   NOT NULL,
    created_at bigint   NOT NULL,
    expires_at bigint   NOT NULL
);

CREATE INDEX device_code_app_user ON device_code (app_user, hash);
CREATE INDEX device_code_expires ON device_code (expires_at);
