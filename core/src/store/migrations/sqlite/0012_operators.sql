-- Operators as people, and what they ask each other to confirm.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE operator (
    no          INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL,
    name        TEXT    NOT NULL,
    role        INTEGER NOT NULL,                 -- 1 viewer, 2 agent, 3 approver, 4 admin
    status      INTEGER NOT NULL,                 -- 1 invited, 2 active, 3 revoked
    code        BLOB    NOT NULL,                 -- the hash of the invitation's code; empty once it was used
    invited_by  INTEGER NOT NULL,                 -- 0: on the store itself
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,                 -- of the invitation
    enrolled_at INTEGER,
    revoked_at  INTEGER,
    version     INTEGER
) STRICT;

CREATE TABLE approval (
    no         INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,
    act        INTEGER NOT NULL,
    subject    TEXT    NOT NULL,
    request    TEXT    NOT NULL,                  -- JSON, without secrets
    sealed     BLOB    NOT NULL,                  -- the request with its secrets; empty for none
    replaces   INTEGER,                           -- the version of the configuration that it replaces
    client     INTEGER NOT NULL,                  -- 0 for none
    reason     TEXT,
    asked_by   INTEGER NOT NULL,
    asked_at   INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    status     INTEGER NOT NULL,                  -- 1 pending, 2 confirmed, 3 declined, 4 expired
    decided_by INTEGER NOT NULL,                  -- 0 for nobody
    decided_at INTEGER,
    comment    TEXT,
    version    INTEGER
) STRICT;

CREATE INDEX approval_status ON approval (status, no);
