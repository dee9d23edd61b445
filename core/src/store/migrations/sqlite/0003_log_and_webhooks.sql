-- A log over all events: what is written but not numbered yet, each client's feed, the tiles of a Merkle tree. And
-- webhooks: endpoints, their secrets (sealed before they get here), a queue before each, and what is delivered to them.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE unlogged (
    no      INTEGER PRIMARY KEY,                  -- grows, so that inserts append
    changes BLOB    NOT NULL                      -- numbers in LEB128, hashes as they are
) STRICT;

CREATE TABLE feed (
    owner      INTEGER NOT NULL,                  -- client << 2 | mode
    position   INTEGER NOT NULL,
    k          INTEGER NOT NULL UNIQUE,           -- the event: settlement << 16 | n
    at         INTEGER NOT NULL,
    leaf       INTEGER NOT NULL,
    PRIMARY KEY (owner, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE tile (
    k       INTEGER PRIMARY KEY,                  -- level << 56 | index
    entries BLOB    NOT NULL                      -- at most 256 of 32 bytes
) STRICT;

CREATE TABLE log_head (
    size  INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;

CREATE TABLE endpoint (
    no          INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL UNIQUE,          -- ULID, 16 bytes, big-endian
    version     INTEGER NOT NULL,
    client      INTEGER NOT NULL,
    mode        INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    url         TEXT    NOT NULL,
    topics      INTEGER,                          -- one bit a topic; NULL: all
    description TEXT,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX endpoint_client ON endpoint (client, mode) WHERE status <> 5;  -- 5: removed

CREATE TABLE endpoint_secret (
    endpoint   INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER,                           -- when it stops signing; NULL: the newest
    PRIMARY KEY (endpoint, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE queue (
    endpoint      INTEGER PRIMARY KEY,
    version       INTEGER NOT NULL,
    troubled      INTEGER NOT NULL,
    due           INTEGER,                        -- NULL: nothing waits
    owner         INTEGER NOT NULL,
    added         INTEGER,
    failing_since INTEGER
) STRICT;
CREATE INDEX queue_due ON queue (troubled, due) WHERE due IS NOT NULL;

CREATE TABLE delivery (
    no         INTEGER PRIMARY KEY,               -- when it was made << 20 | a number that makes it unique
    endpoint   INTEGER NOT NULL,
    message    BLOB    NOT NULL,                  -- ULID, 16 bytes, big-endian
    topic      INTEGER NOT NULL,
    cause      INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    attempts   INTEGER NOT NULL,
    due        INTEGER,                           -- NULL: it is not tried any more
    settlement INTEGER NOT NULL,                  -- 0: none
    n          INTEGER NOT NULL,
    body       TEXT    NOT NULL,
    last       TEXT                               -- JSON: how the last try went
) STRICT;
CREATE INDEX delivery_list ON delivery (endpoint, status);
CREATE INDEX delivery_due ON delivery (endpoint, due) WHERE due IS NOT NULL;
