-- Two records or more of every kind in a database of schema 0025, as the store wrote them.
-- It must open for ever; this file never changes.
PRAGMA application_id = 1380401492;
PRAGMA user_version = 25;
BEGIN TRANSACTION;
CREATE TABLE migration (no INTEGER PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO "migration" VALUES(1,'0001_initial',X'ed88626d288400d32be9d15867048f7a109e16e2650891f110539afb91bde5c1');
INSERT INTO "migration" VALUES(2,'0002_authentication',X'ce38e4a675d17e06040cfdbf283ca59e1f824ea07cd1eef626f96d89601015a3');
INSERT INTO "migration" VALUES(3,'0003_log_and_webhooks',X'118ff9bf187f1ade4a6ca21ee6338c4ca82c9ed0a14859cd25e7420ce9c1bda3');
INSERT INTO "migration" VALUES(4,'0004_versions',X'9a76a8e62e1c829e7d6d1983c7633c35d1094be79714913e0b0ce9019c2e135f');
INSERT INTO "migration" VALUES(5,'0005_lists',X'12ed8ded29c09539434f712d1139d6e95285e99c24c79bfa370456177bd1f716');
INSERT INTO "migration" VALUES(6,'0006_enrolment',X'9857af49e6d0f7c15fb6505a0ecc74772a60a7f12b9e9d6ee61937362d4b58be');
INSERT INTO "migration" VALUES(7,'0007_trees',X'46741199b8deb1664976ee552cbc7cb06b3bded93bf2f0ce1e42f73dcd929719');
INSERT INTO "migration" VALUES(8,'0008_operation',X'764220c1ddba83abad2d39f0715f50020f627e310a725514195febc4c3251870');
INSERT INTO "migration" VALUES(9,'0009_review',X'273ced0031da0a7bb63de1fd89227afbd63b5cb3ee5ef8dffac1a95b34c318c7');
INSERT INTO "migration" VALUES(10,'0010_terms',X'9761ac2096c809a66a0d6074771f0d9cab09c7089f9e22a20b8bb0961b8d712d');
INSERT INTO "migration" VALUES(11,'0011_simulator',X'369ca26af723c1d010442f1692c5e1a6fadcb73b03f418ed2b216be01a1e663c');
INSERT INTO "migration" VALUES(12,'0012_operators',X'c3f98d0e3b385c5534c3d2cdc0449c5f0bb06b865608882c9c782fb0306c8690');
INSERT INTO "migration" VALUES(13,'0013_statement',X'da9c8a57a98edf8769a00715a8279c0f00cc06143de76ec31160d9c22c2240e6');
INSERT INTO "migration" VALUES(14,'0014_answers',X'77b800dbb44f5917508a7a650aa764b51ad66452e94748cc9a49fa3e5c755e8d');
INSERT INTO "migration" VALUES(15,'0015_clock',X'19f066a86180daf1e7a1561504949a2ecfb03f76b4ed3d6612b996203d79a1d3');
INSERT INTO "migration" VALUES(16,'0016_movement_events',X'5be55ba08aef9196ebe9251867b379fddda7b4ec6fe3e66845866111fc930c27');
INSERT INTO "migration" VALUES(17,'0017_credit_lines',X'ec100c5b33ad685c3b5966a52c220bbe38fa7323e316ffb62a63a05e268299d9');
INSERT INTO "migration" VALUES(18,'0018_nodes',X'05f5d3e0c7511821dc66bc37f9d7fb02257afb54a2f3f8acb7a3658bd0158e58');
INSERT INTO "migration" VALUES(19,'0019_reconciliation',X'9f6466ccef71478c9813c84130727f232c9fba2da5fd64021cbf2c4080e643cb');
INSERT INTO "migration" VALUES(20,'0020_sessions',X'2e4628c22acc6f3bc24441cf07e7116a2792a44ab27ce2aa130641bdadfc4aba');
INSERT INTO "migration" VALUES(21,'0021_mobile',X'45ac2d10075e757a4d26eae42c111198572299cf610e264f4b1dae70c9131439');
INSERT INTO "migration" VALUES(22,'0022_notifications',X'0842f1ee0af82d4a6601b61e9ac86bc5985f3c368f21754891862ba79b97f83b');
INSERT INTO "migration" VALUES(23,'0023_bundles',X'6e1b154cb7bcb8837c0a3b99f9bb0108b4318dae65bdef77b28fcc53f2eed72a');
INSERT INTO "migration" VALUES(24,'0024_cells',X'a3a9e6a8b04b4852cad2ba35f5aae87061f90829912ae9eadafcccf94cfebcde');
INSERT INTO "migration" VALUES(25,'0025_quality',X'f6eaaaef20a7e95cfb6c1cf26c31d02465c61e0db75e82ac1767f6a02d17a3ab');
CREATE TABLE client (
    no         INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,           -- ULID, 16 bytes, big-endian
    name       TEXT    NOT NULL,
    suspended  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
, webhook_secret BLOB NOT NULL DEFAULT x'', version INTEGER) STRICT;
INSERT INTO "client" VALUES(1,X'0000000000000000000000000000000c','client 1',0,0,X'',NULL);
INSERT INTO "client" VALUES(2,X'0000000000000000000000000000000b','client 2',0,0,X'',NULL);
CREATE TABLE token (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the token's text
    client     INTEGER NOT NULL,
    mode       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
, key    INTEGER NOT NULL DEFAULT 0, scopes INTEGER NOT NULL DEFAULT 0, session BLOB) STRICT, WITHOUT ROWID;
INSERT INTO "token" VALUES(X'0101010101010101010101010101010101010101010101010101010101010101',1,2,0,6,1,5631,NULL);
INSERT INTO "token" VALUES(X'c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8',1,2,0,5,1,5631,NULL);
CREATE TABLE provider (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "provider" VALUES(1,'q');
INSERT INTO "provider" VALUES(2,'p');
CREATE TABLE account (
    id              INTEGER PRIMARY KEY,          -- owner << 16 | currency << 4 | mode << 2 | kind of owner
    debits_pending  INTEGER NOT NULL,
    debits_posted   INTEGER NOT NULL,
    credits_pending INTEGER NOT NULL,
    credits_posted  INTEGER NOT NULL
) STRICT;
INSERT INTO "account" VALUES(15654,0,21,0,0);
INSERT INTO "account" VALUES(81188,0,0,0,7);
INSERT INTO "account" VALUES(212260,0,0,0,7);
INSERT INTO "account" VALUES(343332,0,0,0,7);
CREATE TABLE settlement (
    no           INTEGER PRIMARY KEY,
    client       INTEGER NOT NULL,
    reference    TEXT    NOT NULL,
    mode         INTEGER NOT NULL,
    status       INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    needs_review INTEGER NOT NULL,
    amount       INTEGER NOT NULL,
    currency     INTEGER NOT NULL,
    recipient    TEXT    NOT NULL,                -- the participant that is paid, canonical
    provider     INTEGER NOT NULL,
    fee          INTEGER NOT NULL,
    reversed     INTEGER NOT NULL,
    reversing    INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    reversals    INTEGER NOT NULL,
    transfers    INTEGER NOT NULL,
    hold         INTEGER NOT NULL,
    salt         INTEGER NOT NULL,
    head         BLOB    NOT NULL,                -- SHA-256 of the last event
    created_at   INTEGER NOT NULL,
    updated_at   INTEGER NOT NULL,
    completed_at INTEGER,
    expires_at   INTEGER,
    more         TEXT, app_user INTEGER,                            -- JSON; NULL for most
    UNIQUE (client, reference)
) STRICT;
INSERT INTO "settlement" VALUES(-7,1,'c',1,1,1,0,1050,978,'sim:ok',1,10,0,0,0,0,1,1,78187493530,X'0101010101010101010101010101010101010101010101010101010101010101',993,993,NULL,NULL,NULL,NULL);
INSERT INTO "settlement" VALUES(1,1,'b',1,1,1,0,1050,978,'sim:ok',1,10,0,0,0,0,1,1,78187493530,X'0101010101010101010101010101010101010101010101010101010101010101',1001,1001,NULL,NULL,NULL,NULL);
INSERT INTO "settlement" VALUES(2,1,'a',1,1,1,0,1050,978,'sim:ok',1,10,0,0,0,0,1,1,78187493530,X'0101010101010101010101010101010101010101010101010101010101010101',1002,1002,NULL,NULL,NULL,NULL);
CREATE TABLE event (
    k          INTEGER PRIMARY KEY,
    kind       INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    from_state INTEGER,
    to_state   INTEGER,
    actor      INTEGER NOT NULL,
    child      INTEGER NOT NULL,
    data       TEXT,                              -- canonical JSON, hashed as it is
    hash       BLOB    NOT NULL
) STRICT;
INSERT INTO "event" VALUES(-393217,1,1000,NULL,1,1,0,NULL,X'0202020202020202020202020202020202020202020202020202020202020202');
INSERT INTO "event" VALUES(131071,1,1000,NULL,1,1,0,NULL,X'0202020202020202020202020202020202020202020202020202020202020202');
INSERT INTO "event" VALUES(131073,1,1000,NULL,1,1,0,NULL,X'0202020202020202020202020202020202020202020202020202020202020202');
CREATE TABLE attempt (
    k           INTEGER PRIMARY KEY,
    provider    INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    sends       INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    answered_at INTEGER
) STRICT;
INSERT INTO "attempt" VALUES(65538,1,1,1,1000,NULL);
INSERT INTO "attempt" VALUES(131073,1,1,1,1000,NULL);
CREATE TABLE reversal (
    k              INTEGER PRIMARY KEY,
    client         INTEGER NOT NULL,
    reference      TEXT,
    status         INTEGER NOT NULL,
    amount         INTEGER NOT NULL,
    reason         INTEGER,
    description    TEXT,
    hold           INTEGER NOT NULL,
    needs_review   INTEGER NOT NULL,
    rail_reference TEXT,
    failure        TEXT,                          -- JSON
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    completed_at   INTEGER
) STRICT;
INSERT INTO "reversal" VALUES(131071,1,NULL,1,50,NULL,NULL,3,0,NULL,NULL,2000,2000,NULL);
INSERT INTO "reversal" VALUES(131073,1,'r',1,50,NULL,NULL,3,0,NULL,NULL,2000,2000,NULL);
CREATE TABLE transfer (
    k        INTEGER PRIMARY KEY,
    kind     INTEGER NOT NULL,
    code     INTEGER NOT NULL,
    debit    INTEGER NOT NULL,
    credit   INTEGER NOT NULL,
    amount   INTEGER NOT NULL,
    resolves INTEGER NOT NULL,
    at       INTEGER NOT NULL
) STRICT;
INSERT INTO "transfer" VALUES(-196607,4,2,15654,212260,7,0,1000);
INSERT INTO "transfer" VALUES(65537,4,2,15654,81188,7,0,1000);
INSERT INTO "transfer" VALUES(327681,4,2,15654,343332,7,0,1000);
CREATE TABLE task (
    key        INTEGER PRIMARY KEY,               -- due << 20 | a number that makes it unique
    kind       INTEGER NOT NULL,
    settlement INTEGER NOT NULL,
    child      INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    owner      INTEGER NOT NULL
, client INTEGER) STRICT;
INSERT INTO "task" VALUES(-5242879,1,1,0,0,-5,0,NULL);
INSERT INTO "task" VALUES(5242880,1,1,0,0,5,0,NULL);
INSERT INTO "task" VALUES(5242881,1,1,0,0,5,0,NULL);
CREATE TABLE idempotency (
    client      INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    settlement  INTEGER NOT NULL,
    reversal    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL, answer TEXT,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "idempotency" VALUES(1,'',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,CAST(X'00' AS TEXT),X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,CAST(X'0000' AS TEXT),X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,CAST(X'0061' AS TEXT),X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,'',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,CAST(X'0100' AS TEXT),X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,'',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,'A',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,'a',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,'a',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,'ab',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,'ü',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(1,'􏿿',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,5,NULL);
INSERT INTO "idempotency" VALUES(2,'',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,4,'{"a":"ü"}');
CREATE TABLE sim_payment (
    k           INTEGER PRIMARY KEY,
    provider    INTEGER NOT NULL,
    received    INTEGER NOT NULL,
    received_at INTEGER NOT NULL
, decided INTEGER, code INTEGER) STRICT;
INSERT INTO "sim_payment" VALUES(131071,1,1,3000,NULL,NULL);
INSERT INTO "sim_payment" VALUES(131072,1,1,3000,NULL,NULL);
CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('',X'31');
INSERT INTO "meta" VALUES(CAST(X'00' AS TEXT),X'31');
INSERT INTO "meta" VALUES(CAST(X'0000' AS TEXT),X'31');
INSERT INTO "meta" VALUES(CAST(X'0061' AS TEXT),X'31');
INSERT INTO "meta" VALUES('',X'31');
INSERT INTO "meta" VALUES(CAST(X'0100' AS TEXT),X'31');
INSERT INTO "meta" VALUES('',X'31');
INSERT INTO "meta" VALUES('A',X'31');
INSERT INTO "meta" VALUES('a',X'31');
INSERT INTO "meta" VALUES('a',X'31');
INSERT INTO "meta" VALUES('ab',X'31');
INSERT INTO "meta" VALUES('ü',X'31');
INSERT INTO "meta" VALUES('􏿿',X'31');
CREATE TABLE key (
    no         INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,           -- RFC 7638 thumbprint, SHA-256
    client     INTEGER NOT NULL,
    mode       INTEGER NOT NULL,
    algorithm  INTEGER NOT NULL,
    public     BLOB    NOT NULL,                  -- P-256: SEC 1 uncompressed, 65 bytes; Ed25519: 32 bytes
    scopes     INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    label      TEXT,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
, version INTEGER) STRICT;
INSERT INTO "key" VALUES(1,X'0202020202020202020202020202020202020202020202020202020202020202',2,1,2,X'5866666666666666666666666666666666666666666666666666666666666666',5631,1,NULL,0,NULL,NULL);
INSERT INTO "key" VALUES(4294967295,X'0101010101010101010101010101010101010101010101010101010101010101',1,1,2,X'5866666666666666666666666666666666666666666666666666666666666666',5631,1,NULL,0,NULL,NULL);
CREATE TABLE nonce (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the nonce's text
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "nonce" VALUES(X'c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8',5);
INSERT INTO "nonce" VALUES(X'0101010101010101010101010101010101010101010101010101010101010101',6);
CREATE TABLE secret (
    kind       INTEGER NOT NULL,
    no         INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    public     BLOB    NOT NULL,                  -- SEC 1 uncompressed; empty: none
    created_at INTEGER NOT NULL,
    retired_at INTEGER, version INTEGER,
    PRIMARY KEY (kind, no)
) STRICT, WITHOUT ROWID;
INSERT INTO "secret" VALUES(1,2,X'010203',X'',0,NULL,NULL);
INSERT INTO "secret" VALUES(2,1,X'010203',X'',0,NULL,NULL);
INSERT INTO "secret" VALUES(2,2,X'010203',X'',0,NULL,NULL);
CREATE TABLE audit (
    no      INTEGER PRIMARY KEY,                  -- grows, so that inserts append
    at      INTEGER NOT NULL,
    client  INTEGER NOT NULL,                     -- 0: none
    key     INTEGER NOT NULL,                     -- 0: an operator
    action  INTEGER NOT NULL,
    target  INTEGER NOT NULL,                     -- 0: nothing with a number
    name    TEXT,
    refused TEXT                                  -- the code of the refusal; NULL: done
, detail TEXT, signed_by INTEGER) STRICT;
INSERT INTO "audit" VALUES(-1,1000,1,1,7,7,NULL,NULL,NULL,NULL);
INSERT INTO "audit" VALUES(1,1000,1,1,7,7,NULL,NULL,NULL,NULL);
CREATE TABLE unlogged (
    no      INTEGER PRIMARY KEY,                  -- grows, so that inserts append
    changes BLOB    NOT NULL                      -- numbers in LEB128, hashes as they are
) STRICT;
INSERT INTO "unlogged" VALUES(-1,X'0102010101010001000000d00f0000000101d00f0202020202020202020202020202020202020202020202020202020202020202');
INSERT INTO "unlogged" VALUES(1,X'0102010101010001000000d00f0000000101d00f0202020202020202020202020202020202020202020202020202020202020202');
CREATE TABLE feed (
    owner      INTEGER NOT NULL,                  -- client << 2 | mode
    position   INTEGER NOT NULL,
    k          INTEGER NOT NULL UNIQUE,           -- the event: settlement << 16 | n
    at         INTEGER NOT NULL,
    leaf       INTEGER NOT NULL,
    PRIMARY KEY (owner, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "feed" VALUES(5,9,65537,1000,8);
INSERT INTO "feed" VALUES(6,-1,131073,1000,-2);
INSERT INTO "feed" VALUES(6,1,196609,1000,0);
INSERT INTO "feed" VALUES(9,1,262145,1000,0);
CREATE TABLE tile (
    k       INTEGER PRIMARY KEY,                  -- level << 56 | index
    entries BLOB    NOT NULL                      -- at most 256 of 32 bytes
) STRICT;
INSERT INTO "tile" VALUES(7,X'0404040404040404040404040404040404040404040404040404040404040404');
INSERT INTO "tile" VALUES(72057594037927936,X'0404040404040404040404040404040404040404040404040404040404040404');
INSERT INTO "tile" VALUES(4539628424389459969,X'0404040404040404040404040404040404040404040404040404040404040404');
CREATE TABLE log_head (
    events  INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    until INTEGER NOT NULL
, live INTEGER) STRICT;
INSERT INTO "log_head" VALUES(5,0,0,0);
INSERT INTO "log_head" VALUES(7,0,0,0);
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
, push TEXT) STRICT;
INSERT INTO "endpoint" VALUES(1,X'0000000000000000000000000000000c',1,1,1,1,'https://shop.example/hooks',NULL,NULL,1000,1000,NULL);
INSERT INTO "endpoint" VALUES(2,X'0000000000000000000000000000000b',1,1,1,1,'https://shop.example/hooks',NULL,NULL,1000,1000,NULL);
CREATE TABLE endpoint_secret (
    endpoint   INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER, version INTEGER,                           -- when it stops signing; NULL: the newest
    PRIMARY KEY (endpoint, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "endpoint_secret" VALUES(1,2,X'010203',1000,NULL,NULL);
INSERT INTO "endpoint_secret" VALUES(2,1,X'010203',1000,NULL,NULL);
CREATE TABLE queue (
    endpoint      INTEGER PRIMARY KEY,
    version       INTEGER NOT NULL,
    troubled      INTEGER NOT NULL,
    due           INTEGER,                        -- NULL: nothing waits
    owner         INTEGER NOT NULL,
    added         INTEGER,
    failing_since INTEGER
) STRICT;
INSERT INTO "queue" VALUES(1,1,0,NULL,0,NULL,NULL);
INSERT INTO "queue" VALUES(2,1,0,5,0,NULL,NULL);
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
INSERT INTO "delivery" VALUES(-1,2,X'00000000000000000000000000000007',1,1,1,0,5,1,1,'{}',NULL);
INSERT INTO "delivery" VALUES(1,1,X'00000000000000000000000000000007',1,1,1,0,NULL,1,1,'{}',NULL);
CREATE TABLE allowance (
    client  INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    since   INTEGER NOT NULL                      -- negated: the client is about to be removed
) STRICT;
INSERT INTO "allowance" VALUES(1,1,9);
INSERT INTO "allowance" VALUES(4294967295,1,5);
CREATE TABLE invitation (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the code
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "invitation" VALUES(X'0101010101010101010101010101010101010101010101010101010101010101',1,6);
INSERT INTO "invitation" VALUES(X'c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8',1,5);
CREATE TABLE setup (
    revision INTEGER PRIMARY KEY,
    subject  INTEGER NOT NULL,                    -- 1 a provider, 2 the table of routes
    provider INTEGER NOT NULL,                    -- 0 for none
    at       INTEGER NOT NULL,
    document TEXT    NOT NULL,                    -- JSON, without secrets
    secrets  BLOB    NOT NULL,                    -- sealed; empty for none
    reason   TEXT
, client INTEGER) STRICT;
INSERT INTO "setup" VALUES(1,1,1,1000,'{}',X'010203','a new contract',NULL);
INSERT INTO "setup" VALUES(2,1,1,1000,'{}',X'010203','a new contract',NULL);
CREATE TABLE movement (
    journal   INTEGER PRIMARY KEY,
    client    INTEGER NOT NULL,
    reference TEXT    NOT NULL,
    kind      INTEGER NOT NULL,                   -- 1 in, 2 out
    mode      INTEGER NOT NULL,
    currency  INTEGER NOT NULL,
    amount    INTEGER NOT NULL,
    evidence  TEXT    NOT NULL,
    at        INTEGER NOT NULL, previous INTEGER, terms INTEGER,
    UNIQUE (client, reference)
) STRICT;
INSERT INTO "movement" VALUES(3,1,'m-3',1,2,978,1000,'line 7 of the statement of November',1000,NULL,NULL);
INSERT INTO "movement" VALUES(9,1,'m-1',1,2,978,1000,'line 7 of the statement of November',1000,NULL,NULL);
CREATE TABLE review (
    k         INTEGER PRIMARY KEY,                -- settlement << 16 | reversal, 0 for the settlement itself
    reason    INTEGER NOT NULL,                   -- 1 no end for a day, 2 a discrepancy
    opened_at INTEGER NOT NULL,
    due       INTEGER NOT NULL
) STRICT;
INSERT INTO "review" VALUES(-458751,1,1000,9);
INSERT INTO "review" VALUES(65536,1,1000,6);
INSERT INTO "review" VALUES(65538,1,1000,5);
INSERT INTO "review" VALUES(131072,1,1000,7);
CREATE TABLE usage (
    id    INTEGER PRIMARY KEY,                    -- client << 30 | currency << 20 | mode << 18 | day
    value INTEGER NOT NULL,                       -- minor units
    count INTEGER NOT NULL
) STRICT;
INSERT INTO "usage" VALUES(2099773441,5,1);
INSERT INTO "usage" VALUES(2099793440,1,1);
CREATE TABLE simulator (
    client           INTEGER PRIMARY KEY,
    rate             INTEGER NOT NULL,               -- in millionths
    drop_answer_rate INTEGER NOT NULL,               -- in millionths
    latency_ms       INTEGER NOT NULL,
    seed             INTEGER NOT NULL
) STRICT;
INSERT INTO "simulator" VALUES(1,100000,1000000,2000,-1);
INSERT INTO "simulator" VALUES(4294967295,100000,1000000,2000,0);
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
INSERT INTO "operator" VALUES(1,X'0000000000000000000000000000000c','Ada',2,2,X'',0,1,9,5,NULL,NULL);
INSERT INTO "operator" VALUES(200,X'0000000000000000000000000000000b','Ada',2,2,X'',0,1,9,5,NULL,NULL);
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
INSERT INTO "approval" VALUES(-1,X'0000000000000000000000000000000c',7,'cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB','{}',X'00ff',NULL,1,NULL,1,1,9,1,0,NULL,NULL,NULL);
INSERT INTO "approval" VALUES(1,X'0000000000000000000000000000000b',7,'cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB','{}',X'00ff',NULL,1,NULL,1,1,9,1,0,NULL,NULL,NULL);
CREATE TABLE unbooked (
    no    INTEGER PRIMARY KEY,
    lines BLOB    NOT NULL
) STRICT;
INSERT INTO "unbooked" VALUES(-1,X'02c8f409e707020e020ac8f409feffffffffffffffff01050e020a');
INSERT INTO "unbooked" VALUES(1,X'02c8f409e707020e020ac8f409feffffffffffffffff01050e020a');
CREATE TABLE entry (
    account  INTEGER NOT NULL,
    n        INTEGER NOT NULL,                    -- from 1; 0 for the balance brought forward
    at       INTEGER NOT NULL,
    amount   INTEGER NOT NULL,                    -- minor units
    balance  INTEGER NOT NULL,                    -- after it
    code     INTEGER,                             -- of the transfer
    journal  INTEGER NOT NULL,
    transfer INTEGER NOT NULL,
    PRIMARY KEY (account, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "entry" VALUES(81188,0,5,-500,500,2,7,2);
INSERT INTO "entry" VALUES(81188,7,5,-500,500,2,7,2);
INSERT INTO "entry" VALUES(146724,1,5,-500,500,2,7,2);
CREATE TABLE clock (
    client     INTEGER PRIMARY KEY,
    ahead      INTEGER NOT NULL,
    stands_at  INTEGER,                           -- NULL while it runs
    goal       INTEGER,                           -- NULL if it is not on its way
    stays      INTEGER NOT NULL,
    stops      INTEGER NOT NULL,
    stopped_at INTEGER NOT NULL,
    alarm      INTEGER,                           -- the key of a task; NULL for none
    since      INTEGER NOT NULL,
    version    INTEGER
) STRICT;
INSERT INTO "clock" VALUES(1,86400000,NULL,NULL,0,4096,5,5242881,5,1);
INSERT INTO "clock" VALUES(4294967295,86400000,6,NULL,0,4096,6,6291457,6,1);
CREATE TABLE node (
    no         INTEGER PRIMARY KEY,
    host       TEXT    NOT NULL,
    address    TEXT,
    version    TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;
INSERT INTO "node" VALUES(-1,'pay-1',NULL,'1.2.3',1,5);
INSERT INTO "node" VALUES(1,'pay-1','https://10.0.0.7:8443','1.2.3',1,5);
CREATE TABLE reconciliation (
    no              INTEGER PRIMARY KEY,
    provider        INTEGER NOT NULL,
    digest          BLOB    NOT NULL,                -- of the file, SHA-256
    round           INTEGER NOT NULL,                -- how often the same file was compared before
    name            TEXT    NOT NULL,
    format          INTEGER NOT NULL,                -- 1 csv, 2 camt.053, 3 camt.054, 4 gsma
    status          INTEGER NOT NULL,                -- 1 running, 2 done
    made_by         INTEGER NOT NULL,                -- 0: on the store itself
    created_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    owner           INTEGER NOT NULL,                -- the host that makes it
    until           INTEGER NOT NULL,                -- the end of its lease
    period_from     INTEGER,
    period_to       INTEGER,
    lines           INTEGER NOT NULL,
    skipped         INTEGER NOT NULL,
    by_reference    INTEGER NOT NULL,
    by_key          INTEGER NOT NULL,
    by_amount       INTEGER NOT NULL,
    missing_here    INTEGER NOT NULL,
    missing_there   INTEGER NOT NULL,
    amount_differs  INTEGER NOT NULL,
    duplicate_there INTEGER NOT NULL,
    last_settlement INTEGER NOT NULL,
    version         INTEGER,
    UNIQUE (provider, digest, round)
) STRICT;
INSERT INTO "reconciliation" VALUES(1,1,X'0202020202020202020202020202020202020202020202020202020202020202',0,'statement.csv',1,1,0,5,NULL,-1,9,1,NULL,0,0,1,2,3,4,5,6,4294967295,7,NULL);
INSERT INTO "reconciliation" VALUES(2,1,X'0101010101010101010101010101010101010101010101010101010101010101',0,'statement.csv',1,1,0,5,NULL,-1,9,1,NULL,0,0,1,2,3,4,5,6,4294967295,7,NULL);
CREATE TABLE finding (
    run        INTEGER NOT NULL,                     -- the reconciliation
    n          INTEGER NOT NULL,
    kind       INTEGER NOT NULL,                     -- 1 missing here, 2 missing there, 3 amount differs, 4 duplicate there
    settlement INTEGER NOT NULL,                     -- 0 for none
    child      INTEGER NOT NULL,                     -- 0: itself, otherwise its reversal
    matched_by INTEGER,                              -- 1 rail reference, 2 rail key, 3 amount
    confidence INTEGER NOT NULL,                     -- hundredths
    entry      INTEGER NOT NULL,                     -- the identity of the line
    line       TEXT,                                 -- JSON
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "finding" VALUES(1,2,3,7,0,2,100,-1,NULL);
INSERT INTO "finding" VALUES(2,1,3,0,0,NULL,100,-1,'{"line":17,"direction":"outgoing","amount":1050,"currency":"EUR","at":5,"whole_day":true,"references":["R\"1"],"entry":"E"}');
CREATE TABLE matches (
    run   INTEGER NOT NULL,
    n     INTEGER NOT NULL,
    pairs BLOB    NOT NULL,                          -- what was matched, and the identity of the line
    PRIMARY KEY (run, n)
) STRICT;
INSERT INTO "matches" VALUES(2,1,X'00ff07');
INSERT INTO "matches" VALUES(1,2,X'00ff07');
CREATE TABLE app_user (
    no          INTEGER PRIMARY KEY,
    client      INTEGER NOT NULL,
    mode        INTEGER NOT NULL,
    name        TEXT    NOT NULL,                 -- the client's own
    status      INTEGER NOT NULL,                 -- 1 active, 2 blocked
    limits      TEXT    NOT NULL,                 -- JSON
    preferences TEXT    NOT NULL,                 -- JSON; empty for the defaults
    created_at  INTEGER NOT NULL,
    version     INTEGER,
    UNIQUE (client, mode, name)
) STRICT;
INSERT INTO "app_user" VALUES(1,1,1,'b',1,'[{"currency":"EUR","max":9,"daily_count":1,"approval_over":0}]','',1,NULL);
INSERT INTO "app_user" VALUES(4294967295,1,1,'a',1,'[{"currency":"EUR","max":9,"daily_count":1,"approval_over":0}]','',1,NULL);
CREATE TABLE device (
    no          INTEGER PRIMARY KEY,              -- of its key
    id          BLOB    NOT NULL UNIQUE,
    app_user    INTEGER NOT NULL,
    label       TEXT,
    platform    TEXT    NOT NULL,
    app_version TEXT,
    model       TEXT,
    attestation TEXT,                             -- JSON
    created_at  INTEGER NOT NULL,
    revoked_at  INTEGER,
    version     INTEGER
) STRICT;
INSERT INTO "device" VALUES(1,X'0000000000000000000000000000000c',1,'mine','ios',NULL,'Phone 9',NULL,1,NULL,NULL);
INSERT INTO "device" VALUES(200,X'0000000000000000000000000000000b',1,'mine','ios',NULL,'Phone 9',NULL,1,NULL,NULL);
CREATE TABLE device_code (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the code
    app_user   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "device_code" VALUES(X'0101010101010101010101010101010101010101010101010101010101010101',2,1,6);
INSERT INTO "device_code" VALUES(X'c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8c8',1,1,5);
CREATE TABLE notification (
    app_user   INTEGER NOT NULL,
    n          INTEGER NOT NULL,                  -- when it was told << 20 | a number that makes it unique
    kind       INTEGER NOT NULL,
    settlement INTEGER NOT NULL,                  -- 0: none
    at         INTEGER NOT NULL,
    unread     INTEGER NOT NULL,
    read_at    INTEGER,
    facts      TEXT    NOT NULL,                  -- JSON
    PRIMARY KEY (app_user, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "notification" VALUES(1,9,3,1,9,1,NULL,'{"amount":"1.00"}');
INSERT INTO "notification" VALUES(1,12,3,1,12,0,9,'{"amount":"1.00"}');
INSERT INTO "notification" VALUES(2,-1,3,1,-1,1,NULL,'{"amount":"1.00"}');
CREATE TABLE bundle (
    no          INTEGER PRIMARY KEY,
    id          BLOB    NOT NULL UNIQUE,
    client      INTEGER NOT NULL,
    mode        INTEGER NOT NULL,                    -- 1 sandbox, 2 live
    status      INTEGER NOT NULL,                    -- 1 draft … 9 revoked
    provider    TEXT    NOT NULL,                    -- the id in the manifest
    release     TEXT    NOT NULL,                    -- the version in the manifest
    revision    INTEGER NOT NULL,
    digest      BLOB    NOT NULL,                    -- of that revision, SHA-256
    bytes       INTEGER NOT NULL,
    steps       INTEGER NOT NULL,
    head        BLOB    NOT NULL,                    -- SHA-256 of the event of the last step
    submission  INTEGER NOT NULL,                    -- the step; 0 for none
    report      INTEGER NOT NULL,                    -- the step; 0 for none
    sealed      BLOB    NOT NULL,                    -- secrets for the endpoints
    in_sandbox  INTEGER NOT NULL,
    in_live     INTEGER NOT NULL,
    publishing  INTEGER,                             -- a mode
    with_routes INTEGER NOT NULL,
    conformance INTEGER,                             -- 1 waiting, 2 running, 3 passed, 4 failed
    due         INTEGER,                             -- when the test is due, or the lease on it ends
    owner       INTEGER NOT NULL,                    -- the host that has the lease; 0 for none
    tries       INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL,
    version     INTEGER
) STRICT;
INSERT INTO "bundle" VALUES(-1,X'0000000000000000000000000000000c',2,1,3,'acme','1.2.0',3,X'0707070707070707070707070707070707070707070707070707070707070707',1099511627776,5,X'0808080808080808080808080808080808080808080808080808080808080808',4,0,X'0100ff',1,0,2,1,2,NULL,-1,2,5,6,NULL);
INSERT INTO "bundle" VALUES(1,X'0000000000000000000000000000000b',1,1,3,'acme','1.2.0',3,X'0707070707070707070707070707070707070707070707070707070707070707',1099511627776,5,X'0808080808080808080808080808080808080808080808080808080808080808',4,0,X'0100ff',1,0,2,1,2,NULL,-1,2,5,6,NULL);
CREATE TABLE bundle_part (
    bundle    INTEGER NOT NULL,
    revision  INTEGER NOT NULL,
    n         INTEGER NOT NULL,                      -- 0 the manifest, otherwise a document
    name      TEXT    NOT NULL,
    digest    BLOB    NOT NULL,                      -- SHA-256
    signed_by INTEGER NOT NULL,                      -- a key
    at        INTEGER NOT NULL,
    content   BLOB    NOT NULL,
    PRIMARY KEY (bundle, revision, n)
) STRICT;
INSERT INTO "bundle_part" VALUES(2,1,0,'contract.pdf',X'0909090909090909090909090909090909090909090909090909090909090909',7,5,X'00ff25');
INSERT INTO "bundle_part" VALUES(1,2,0,'contract.pdf',X'0909090909090909090909090909090909090909090909090909090909090909',7,5,X'00ff25');
INSERT INTO "bundle_part" VALUES(1,1,2,'contract.pdf',X'0909090909090909090909090909090909090909090909090909090909090909',7,5,X'00ff25');
CREATE TABLE bundle_step (
    bundle      INTEGER NOT NULL,
    n           INTEGER NOT NULL,
    kind        INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    made_by     INTEGER NOT NULL,                    -- a client, an operator, or 0 for the gateway
    signed_by   INTEGER NOT NULL,                    -- a key; 0 for none
    revision    INTEGER NOT NULL,
    from_status INTEGER NOT NULL,
    to_status   INTEGER NOT NULL,
    comment     TEXT,
    data        TEXT,                                -- JSON
    PRIMARY KEY (bundle, n)
) STRICT;
INSERT INTO "bundle_step" VALUES(2,1,8,5,1073741826,3,2,3,4,'ü',NULL);
INSERT INTO "bundle_step" VALUES(1,9,8,5,1073741826,3,2,3,4,'ü',NULL);
CREATE TABLE elsewhere (
    client    INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    reference TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    url       TEXT    NOT NULL,
    PRIMARY KEY (client, kind, reference)
) STRICT, WITHOUT ROWID;
INSERT INTO "elsewhere" VALUES(1,1,'','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,CAST(X'00' AS TEXT),'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,CAST(X'0000' AS TEXT),'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,CAST(X'0061' AS TEXT),'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,'','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,CAST(X'0100' AS TEXT),'stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,'','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,'A','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,'a','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,'a','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,'ab','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,'ü','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,1,'􏿿','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(1,2,'a','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
INSERT INTO "elsewhere" VALUES(2,1,'a','stl_01M7Z1BC0HKS8HGFZWA1RKHZQE','https://a.pay.example');
CREATE TABLE brought (
    id    INTEGER PRIMARY KEY,                    -- as in usage
    value INTEGER NOT NULL,                       -- minor units
    count INTEGER NOT NULL
) STRICT;
INSERT INTO "brought" VALUES(2099773441,5,1);
INSERT INTO "brought" VALUES(2099793440,1,1);
CREATE TABLE quality (
    owner       INTEGER NOT NULL,                 -- client and mode
    metric      TEXT    NOT NULL,
    begins_at   INTEGER NOT NULL,
    unit        INTEGER NOT NULL,                 -- 1 ms, 2 s, 3 count, 4 bytes, 5 percent
    app_version TEXT    NOT NULL,                 -- empty if the app did not say
    os          TEXT    NOT NULL,                 -- empty if the app did not say
    network     INTEGER NOT NULL,                 -- 1 wifi, 2 cellular, 3 ethernet, 4 offline, 5 unknown
    provider    INTEGER NOT NULL,                 -- 0 without a settlement
    is_day      INTEGER NOT NULL,                 -- 0 an hour, 1 a day
    points      INTEGER NOT NULL,
    failures    INTEGER NOT NULL,
    devices     BLOB    NOT NULL,                 -- up to four numbers of keys, or one byte for more
    sketch      BLOB    NOT NULL,                 -- of the values, in thousandths
    version     INTEGER,
    PRIMARY KEY (owner, metric, begins_at, unit, app_version, os, network, provider)
) STRICT;
INSERT INTO "quality" VALUES(5,'ab',1,1,'','ios 26',1,0,0,1,0,X'00000007',X'01010202010000000000000000000000000000000201',NULL);
INSERT INTO "quality" VALUES(5,'a.b',-7,1,'1','ios 26',1,0,0,1,0,X'00000007',X'01010d0df9ffffffffffffffffffffffffffffff930201',NULL);
INSERT INTO "quality" VALUES(5,'a',8,1,'','ios 26',1,0,0,1,0,X'00000007',X'0101101008000000000000000000000000000000ae0201',NULL);
INSERT INTO "quality" VALUES(5,'a',7,1,'1.5','ios 26',1,0,0,1,0,X'00000007',X'01010e0e07000000000000000000000000000000940201',NULL);
INSERT INTO "quality" VALUES(5,'a',7,1,'1','ios 26',1,0,0,1,0,X'00000007',X'01010e0e07000000000000000000000000000000940201',NULL);
CREATE TABLE quality_seen (
    day     INTEGER NOT NULL,                     -- from 1970-01-01
    device  INTEGER NOT NULL,                     -- the number of its key
    ids     BLOB    NOT NULL,                     -- eight bytes of the hash of each, in order
    version INTEGER,
    PRIMARY KEY (day, device)
) STRICT;
INSERT INTO "quality_seen" VALUES(1,6,X'0707070707070707',NULL);
INSERT INTO "quality_seen" VALUES(1,5,X'0707070707070707',NULL);
INSERT INTO "quality_seen" VALUES(-1,7,X'0707070707070707',NULL);
CREATE INDEX token_expires ON token (expires_at);
CREATE UNIQUE INDEX reversal_reference ON reversal (client, reference) WHERE reference IS NOT NULL;
CREATE INDEX idempotency_age ON idempotency (created_at);
CREATE INDEX key_client ON key (client);
CREATE INDEX nonce_expires ON nonce (expires_at);
CREATE INDEX endpoint_client ON endpoint (client, mode) WHERE status <> 5;
CREATE INDEX queue_due ON queue (troubled, due) WHERE due IS NOT NULL;
CREATE INDEX delivery_list ON delivery (endpoint, status);
CREATE INDEX delivery_due ON delivery (endpoint, due) WHERE due IS NOT NULL;
CREATE INDEX settlement_created ON settlement (client, created_at);
CREATE INDEX settlement_review ON settlement (client, created_at) WHERE needs_review = 1;
CREATE INDEX allowance_since ON allowance (since);
CREATE INDEX invitation_expires ON invitation (expires_at);
CREATE INDEX audit_refused ON audit (at) WHERE refused IS NOT NULL;
CREATE INDEX review_due ON review (due);
CREATE INDEX approval_status ON approval (status, no);
CREATE INDEX clock_since ON clock (since);
CREATE INDEX task_client ON task (client, key) WHERE client IS NOT NULL;
CREATE INDEX settlement_expires ON settlement (status, expires_at, no) WHERE expires_at IS NOT NULL;
CREATE INDEX settlement_ends ON settlement (client, status, expires_at, no) WHERE expires_at IS NOT NULL;
CREATE INDEX reconciliation_provider ON reconciliation (provider, no);
CREATE INDEX finding_settlement ON finding (settlement, run, n);
CREATE INDEX settlement_app_user ON settlement (app_user, created_at, no) WHERE app_user IS NOT NULL;
CREATE INDEX device_app_user ON device (app_user, no);
CREATE INDEX device_code_app_user ON device_code (app_user, hash);
CREATE INDEX device_code_expires ON device_code (expires_at);
CREATE INDEX notification_unread ON notification (app_user, n) WHERE unread = 1;
CREATE INDEX notification_at ON notification (at);
CREATE INDEX bundle_client ON bundle (client, mode, no);
CREATE INDEX bundle_status ON bundle (status, no);
CREATE INDEX bundle_due ON bundle (due, no) WHERE due IS NOT NULL;
CREATE INDEX quality_begins ON quality (is_day, begins_at);
COMMIT;
