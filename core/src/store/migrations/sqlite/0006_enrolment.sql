-- Enrolment leaves little behind: the money of a client that has not paid yet is one row, invitations serve once, and
-- refusals in the audit trail are found by their age.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE allowance (
    client  INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    since   INTEGER NOT NULL                      -- negated: the client is about to be removed
) STRICT;
CREATE INDEX allowance_since ON allowance (since);

CREATE TABLE invitation (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the code
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_expires ON invitation (expires_at);

CREATE INDEX audit_refused ON audit (at) WHERE refused IS NOT NULL;
