-- Live operation: providers and routes as data, real money in and out, expiry. Of the rows of the configuration, the last about a
-- subject is in force.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE setup (
    revision bigint   PRIMARY KEY,
    at       bigint   NOT NULL,
    subject  smallint NOT NULL,                       -- 1 a provider, 2 the table of routes
    provider integer  NOT NULL,                       -- 0 for none
    document text     COLLATE "C" NOT NULL,           -- JSON, without secrets
    secrets  bytea    NOT NULL,                       -- sealed; empty for none
    reason   text     COLLATE "C"
);

CREATE TABLE movement (
    journal   bigint   PRIMARY KEY,
    client    bigint   NOT NULL,
    amount    bigint   NOT NULL,
    at        bigint   NOT NULL,
    kind      smallint NOT NULL,                      -- 1 in, 2 out
    mode      smallint NOT NULL,
    currency  smallint NOT NULL,
    reference text     COLLATE "C" NOT NULL,
    evidence  text     COLLATE "C" NOT NULL,
    UNIQUE (client, reference)
);

-- Those that wait to be sent and have an end are found when it comes.
CREATE INDEX settlement_expires ON settlement (status, expires_at) WHERE expires_at IS NOT NULL;
