-- Providers and routes as data: the rows of the configuration, of which the last about a subject is in force.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE setup (
    revision bigint   PRIMARY KEY,
    at       bigint   NOT NULL,
    subject  smallint NOT NULL,                       -- 1 a provider, 2 the table of routes
    provider integer  NOT NULL,                       -- 0 for none
    document text     NOT NULL,                       -- JSON, without secrets
    secrets  bytea    NOT NULL,                       -- sealed; empty for none
    reason   text
);
