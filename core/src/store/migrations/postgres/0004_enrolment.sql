-- Enrolment leaves little behind: the money of a client that has not paid yet is one row, invitations serve once, and
-- refusals in the audit trail are found by their age.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE allowance (
    client  bigint PRIMARY KEY,
    version bigint NOT NULL,
    since   bigint NOT NULL                           -- negated: the client is about to be removed
);
CREATE INDEX allowance_since ON allowance (since);

CREATE TABLE invitation (
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL,
    hash       bytea  PRIMARY KEY                     -- SHA-256 of the code
);
CREATE INDEX invitation_expires ON invitation (expires_at);

CREATE INDEX audit_refused ON audit (at) WHERE refused IS NOT NULL;
