-- Operators as people, and what they ask each other to confirm.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE operator (
    no          bigint   PRIMARY KEY,
    created_at  bigint   NOT NULL,
    expires_at  bigint   NOT NULL,                    -- of the invitation
    enrolled_at bigint,
    revoked_at  bigint,
    invited_by  bigint   NOT NULL,                    -- 0: on the store itself
    version     bigint,
    role        smallint NOT NULL,                    -- 1 viewer, 2 agent, 3 approver, 4 admin
    status      smallint NOT NULL,                    -- 1 invited, 2 active, 3 revoked
    id          bytea    NOT NULL,
    name        text     COLLATE "C" NOT NULL,
    code        bytea    NOT NULL                     -- the hash of the invitation's code; empty once it was used
);

CREATE TABLE approval (
    no         bigint   PRIMARY KEY,
    asked_at   bigint   NOT NULL,
    expires_at bigint   NOT NULL,
    decided_at bigint,
    replaces   bigint,                                -- the version of the configuration that it replaces
    client     bigint   NOT NULL,                     -- 0 for none
    asked_by   bigint   NOT NULL,
    decided_by bigint   NOT NULL,                     -- 0 for nobody
    version    bigint,
    act        smallint NOT NULL,
    status     smallint NOT NULL,                     -- 1 pending, 2 confirmed, 3 declined, 4 expired
    id         bytea    NOT NULL UNIQUE,
    subject    text     COLLATE "C" NOT NULL,
    request    text     COLLATE "C" NOT NULL,         -- JSON, without secrets
    sealed     bytea    NOT NULL,                     -- the request with its secrets; empty for none
    reason     text     COLLATE "C",
    comment    text     COLLATE "C"
);

CREATE INDEX approval_status ON approval (status, no);
