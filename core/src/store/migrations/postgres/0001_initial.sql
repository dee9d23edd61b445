-- The first schema. Keys are dense numbers that grow, so that inserts append; a settlement's children are clustered
-- under it by `k = settlement << 16 | n`; enums, currencies (ISO 4217 numeric) and providers are small integers; times
-- are milliseconds since 1970 UTC; money is in minor units. No column repeats what another one tells. Wide columns
-- stand first, so that no row is padded. Texts are compared byte by byte; U+0000, which PostgreSQL keeps in none, is
-- written as U+0001 twice, and U+0001 as U+0001 and U+0002, which keeps the order.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE client (
    no             bigint PRIMARY KEY,
    created_at     bigint  NOT NULL,
    suspended      boolean NOT NULL,
    id             bytea   NOT NULL UNIQUE,           -- ULID, 16 bytes, big-endian
    name           text    COLLATE "C" NOT NULL,
    webhook_secret bytea   NOT NULL                   -- sealed; empty: none
);

CREATE TABLE key (
    no         bigint PRIMARY KEY,
    client     bigint   NOT NULL,
    scopes     bigint   NOT NULL,                     -- one bit a scope
    created_at bigint   NOT NULL,
    revoked_at bigint,
    mode       smallint NOT NULL,
    algorithm  smallint NOT NULL,
    status     smallint NOT NULL,
    id         bytea    NOT NULL UNIQUE,              -- RFC 7638 thumbprint, SHA-256
    public     bytea    NOT NULL,                     -- P-256: SEC 1 uncompressed, 65 bytes; Ed25519: 32 bytes
    label      text     COLLATE "C"
);
CREATE INDEX key_client ON key (client, no);

CREATE TABLE token (
    client     bigint   NOT NULL,
    key        bigint   NOT NULL,
    scopes     bigint   NOT NULL,                     -- one bit a scope
    created_at bigint   NOT NULL,
    expires_at bigint   NOT NULL,
    mode       smallint NOT NULL,
    hash       bytea PRIMARY KEY                      -- SHA-256 of the token's text
);
CREATE INDEX token_expires ON token (expires_at);

CREATE TABLE nonce (
    expires_at bigint NOT NULL,
    hash       bytea PRIMARY KEY                      -- SHA-256 of the nonce's text
);
CREATE INDEX nonce_expires ON nonce (expires_at);

CREATE TABLE secret (
    no         bigint   NOT NULL,
    created_at bigint   NOT NULL,
    retired_at bigint,
    kind       smallint NOT NULL,
    sealed     bytea    NOT NULL,
    public     bytea    NOT NULL,                     -- SEC 1 uncompressed; empty: none
    PRIMARY KEY (kind, no)
);

CREATE TABLE audit (
    no      bigint PRIMARY KEY,                       -- grows, so that inserts append
    at      bigint   NOT NULL,
    client  bigint   NOT NULL,                        -- 0: none
    key     bigint   NOT NULL,                        -- 0: an operator
    target  bigint   NOT NULL,                        -- 0: nothing with a number
    action  smallint NOT NULL,
    name    text     COLLATE "C",
    refused text     COLLATE "C"                      -- the code of the refusal; NULL: done
);

CREATE TABLE provider (
    no integer PRIMARY KEY,
    id text COLLATE "C" NOT NULL UNIQUE
);

-- Few rows, changed by nearly every commit: room in each page keeps the changes there.
CREATE TABLE account (
    id              bigint PRIMARY KEY,               -- owner << 16 | currency << 4 | mode << 2 | kind of owner
    debits_pending  bigint NOT NULL,
    debits_posted   bigint NOT NULL,
    credits_pending bigint NOT NULL,
    credits_posted  bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE settlement (
    no           bigint PRIMARY KEY,
    client       bigint   NOT NULL,
    version      bigint   NOT NULL,
    amount       bigint   NOT NULL,
    fee          bigint   NOT NULL,
    reversed     bigint   NOT NULL,
    reversing    bigint   NOT NULL,
    salt         bigint   NOT NULL,
    created_at   bigint   NOT NULL,
    updated_at   bigint   NOT NULL,
    completed_at bigint,
    expires_at   bigint,
    provider     integer  NOT NULL,
    attempts     integer  NOT NULL,
    reversals    integer  NOT NULL,
    transfers    integer  NOT NULL,
    hold         integer  NOT NULL,
    currency     smallint NOT NULL,
    mode         smallint NOT NULL,
    status       smallint NOT NULL,
    needs_review boolean  NOT NULL,
    reference    text     COLLATE "C" NOT NULL,
    recipient    text     COLLATE "C" NOT NULL,       -- the participant that is paid, canonical
    head         bytea    NOT NULL,                   -- SHA-256 of the last event
    more         text     COLLATE "C",                -- JSON; NULL for most
    UNIQUE (client, reference)
) WITH (fillfactor = 80);
CREATE INDEX settlement_client ON settlement (client, no);
CREATE INDEX settlement_review ON settlement (client, no) WHERE needs_review;

CREATE TABLE event (
    k          bigint PRIMARY KEY,
    at         bigint   NOT NULL,
    child      integer  NOT NULL,
    kind       smallint NOT NULL,
    from_state smallint,
    to_state   smallint,
    actor      smallint NOT NULL,
    hash       bytea    NOT NULL,
    data       text     COLLATE "C"                   -- canonical JSON, hashed as it is
);

CREATE TABLE attempt (
    k           bigint PRIMARY KEY,
    started_at  bigint   NOT NULL,
    answered_at bigint,
    provider    integer  NOT NULL,
    sends       integer  NOT NULL,
    status      smallint NOT NULL
) WITH (fillfactor = 80);

CREATE TABLE reversal (
    k              bigint PRIMARY KEY,
    client         bigint   NOT NULL,
    amount         bigint   NOT NULL,
    created_at     bigint   NOT NULL,
    updated_at     bigint   NOT NULL,
    completed_at   bigint,
    hold           integer  NOT NULL,
    status         smallint NOT NULL,
    reason         smallint,
    needs_review   boolean  NOT NULL,
    reference      text     COLLATE "C",
    description    text     COLLATE "C",
    rail_reference text     COLLATE "C",
    failure        text     COLLATE "C"               -- JSON
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX reversal_reference ON reversal (client, reference) WHERE reference IS NOT NULL;

CREATE TABLE transfer (
    k        bigint PRIMARY KEY,
    debit    bigint   NOT NULL,
    credit   bigint   NOT NULL,
    amount   bigint   NOT NULL,
    at       bigint   NOT NULL,
    resolves integer  NOT NULL,
    kind     smallint NOT NULL,
    code     smallint NOT NULL
);

-- Rows come and go all the time: what went is cleared away early, before the walk from the lowest key grows long.
CREATE TABLE task (
    key        bigint PRIMARY KEY,                    -- due << 20 | a number that makes it unique
    settlement bigint   NOT NULL,
    since      bigint   NOT NULL,
    owner      bigint   NOT NULL,
    child      integer  NOT NULL,
    tries      integer  NOT NULL,
    kind       smallint NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

CREATE TABLE idempotency (
    client      bigint  NOT NULL,
    settlement  bigint  NOT NULL,
    created_at  bigint  NOT NULL,
    reversal    integer NOT NULL,
    key         text    COLLATE "C" NOT NULL,
    fingerprint bytea   NOT NULL,
    PRIMARY KEY (client, key)
);
CREATE INDEX idempotency_age ON idempotency (created_at);

CREATE TABLE sim_payment (
    k           bigint PRIMARY KEY,
    received_at bigint  NOT NULL,
    provider    integer NOT NULL,
    received    integer NOT NULL
);

CREATE TABLE meta (
    name  text COLLATE "C" PRIMARY KEY,
    value bytea NOT NULL
);

-- A log over all events: what is written but not numbered yet, each client's feed, the tiles of a Merkle tree. And
-- webhooks: endpoints, their secrets (sealed before they get here), a queue before each, and what is delivered to them.

CREATE TABLE unlogged (
    no      bigint PRIMARY KEY,                       -- grows, so that inserts append
    changes bytea NOT NULL                            -- numbers in LEB128, hashes as they are
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);

CREATE TABLE feed (
    owner    bigint NOT NULL,                         -- client << 2 | mode
    position bigint NOT NULL,
    k        bigint NOT NULL UNIQUE,                  -- the event: settlement << 16 | n
    at       bigint NOT NULL,
    leaf     bigint NOT NULL,
    PRIMARY KEY (owner, position)
);

CREATE TABLE tile (
    k       bigint PRIMARY KEY,                       -- level << 56 | index
    entries bytea NOT NULL                            -- at most 256 of 32 bytes
);

CREATE TABLE log_head (
    size  bigint PRIMARY KEY,
    owner bigint NOT NULL,
    until bigint NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE endpoint (
    no          bigint PRIMARY KEY,
    version     bigint   NOT NULL,
    client      bigint   NOT NULL,
    topics      bigint,                               -- one bit a topic; NULL: all
    created_at  bigint   NOT NULL,
    updated_at  bigint   NOT NULL,
    mode        smallint NOT NULL,
    status      smallint NOT NULL,
    id          bytea    NOT NULL UNIQUE,             -- ULID, 16 bytes, big-endian
    url         text     COLLATE "C" NOT NULL,
    description text     COLLATE "C"
);
CREATE INDEX endpoint_client ON endpoint (client, mode, no) WHERE status <> 5;  -- 5: removed

CREATE TABLE endpoint_secret (
    endpoint   bigint NOT NULL,
    n          bigint NOT NULL,
    created_at bigint NOT NULL,
    until      bigint,                                -- when it stops signing; NULL: the newest
    sealed     bytea  NOT NULL,
    PRIMARY KEY (endpoint, n)
);

CREATE TABLE queue (
    endpoint      bigint PRIMARY KEY,
    version       bigint  NOT NULL,
    due           bigint,                             -- NULL: nothing waits
    owner         bigint  NOT NULL,
    added         bigint,
    failing_since bigint,
    troubled      boolean NOT NULL
) WITH (fillfactor = 50);
CREATE INDEX queue_due ON queue (troubled, due, endpoint) WHERE due IS NOT NULL;

CREATE TABLE delivery (
    no         bigint PRIMARY KEY,                    -- when it was made << 20 | a number that makes it unique
    endpoint   bigint   NOT NULL,
    due        bigint,                                -- NULL: it is not tried any more
    settlement bigint   NOT NULL,                     -- 0: none
    n          bigint   NOT NULL,
    attempts   integer  NOT NULL,
    topic      smallint NOT NULL,
    cause      smallint NOT NULL,
    status     smallint NOT NULL,
    message    bytea    NOT NULL,                     -- ULID, 16 bytes, big-endian
    body       text     COLLATE "C" NOT NULL,
    last       text     COLLATE "C"                   -- JSON: how the last try went
);
CREATE INDEX delivery_list ON delivery (endpoint, status, no);
CREATE INDEX delivery_due ON delivery (endpoint, due, no) WHERE due IS NOT NULL;
