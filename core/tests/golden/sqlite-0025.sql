-- A database of schema 0025 as a gateway left it: payments of which one failed, one is reversed in part and one was not answered yet, a webhook with deliveries, an invited operator, a user with a code for a device.
-- It must open for ever; this file never changes.
PRAGMA application_id = 1380401492;
PRAGMA user_version = 25;
BEGIN TRANSACTION;
CREATE TABLE account (
    id              INTEGER PRIMARY KEY,          -- owner << 16 | currency << 4 | mode << 2 | kind of owner
    debits_pending  INTEGER NOT NULL,
    debits_posted   INTEGER NOT NULL,
    credits_pending INTEGER NOT NULL,
    credits_posted  INTEGER NOT NULL
) STRICT;
INSERT INTO "account" VALUES(5702,0,100000000,0,0);
INSERT INTO "account" VALUES(6278,0,1000000,0,0);
INSERT INTO "account" VALUES(6470,0,100000000,0,0);
INSERT INTO "account" VALUES(6630,0,1000000000,0,0);
INSERT INTO "account" VALUES(9062,0,100000000,0,0);
INSERT INTO "account" VALUES(12806,0,1000000,0,0);
INSERT INTO "account" VALUES(13222,0,100000000,0,0);
INSERT INTO "account" VALUES(13350,0,100000000,0,0);
INSERT INTO "account" VALUES(13446,0,100000000,0,0);
INSERT INTO "account" VALUES(14982,0,100000000,0,0);
INSERT INTO "account" VALUES(15238,0,1000000,0,0);
INSERT INTO "account" VALUES(15654,0,100000000,0,0);
INSERT INTO "account" VALUES(71236,0,0,0,100000000);
INSERT INTO "account" VALUES(71812,0,0,0,1000000);
INSERT INTO "account" VALUES(72004,0,0,0,100000000);
INSERT INTO "account" VALUES(72005,0,0,0,0);
INSERT INTO "account" VALUES(72164,0,0,0,1000000000);
INSERT INTO "account" VALUES(74596,0,0,0,100000000);
INSERT INTO "account" VALUES(78340,0,0,0,1000000);
INSERT INTO "account" VALUES(78756,0,0,0,100000000);
INSERT INTO "account" VALUES(78884,0,0,0,100000000);
INSERT INTO "account" VALUES(78980,0,0,0,100000000);
INSERT INTO "account" VALUES(80516,0,0,0,100000000);
INSERT INTO "account" VALUES(80772,0,0,0,1000000);
INSERT INTO "account" VALUES(81188,700,2800,0,100000250);
INSERT INTO "account" VALUES(81189,0,250,700,2300);
INSERT INTO "account" VALUES(146725,0,0,0,500);
CREATE TABLE allowance (
    client  INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    since   INTEGER NOT NULL                      -- negated: the client is about to be removed
) STRICT;
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
INSERT INTO "app_user" VALUES(1,1,1,'ada',1,'[]','',1795770373181,1);
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
CREATE TABLE attempt (
    k           INTEGER PRIMARY KEY,
    provider    INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    sends       INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    answered_at INTEGER
) STRICT;
INSERT INTO "attempt" VALUES(131073,1,4,1,1795770372127,1795770372157);
INSERT INTO "attempt" VALUES(196609,1,4,1,1795770372265,1795770372295);
INSERT INTO "attempt" VALUES(262145,1,5,1,1795770372391,1795770372429);
INSERT INTO "attempt" VALUES(327681,1,2,1,1795770372531,1795770372586);
INSERT INTO "attempt" VALUES(393217,1,5,1,1795770372664,1795770372702);
INSERT INTO "attempt" VALUES(393218,2,4,1,1795770372717,1795770372805);
INSERT INTO "attempt" VALUES(458753,1,4,1,1795770373332,1795770373401);
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
INSERT INTO "audit" VALUES(1883001713616953418,1795770372025,1,1,1,1,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001713707130956,1795770372111,1,1,7,2,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001713854980180,1795770372252,1,1,7,3,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001713988149339,1795770372379,1,1,7,4,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001714133901409,1795770372518,1,1,7,5,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001714273362025,1795770372651,1,1,7,6,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001714533408884,1795770372899,1,1,8,2,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001714695938168,1795770373054,1,1,15,1,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001714829107326,1795770373181,1,1,71,0,'ada',NULL,'{"limits":null}',1);
INSERT INTO "audit" VALUES(1883001714958082176,1795770373304,1,1,7,7,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001715230967174,1795770373564,0,0,60,0,'opr_01M8E42NDWQ766GM3ARMGDPGH5',NULL,'{"name":"Ada","reason":null,"role":"agent"}',NULL);
CREATE TABLE brought (
    id    INTEGER PRIMARY KEY,                    -- as in usage
    value INTEGER NOT NULL,                       -- minor units
    count INTEGER NOT NULL
) STRICT;
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
CREATE TABLE client (
    no         INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,           -- ULID, 16 bytes, big-endian
    name       TEXT    NOT NULL,
    suspended  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
, webhook_secret BLOB NOT NULL DEFAULT x'', version INTEGER) STRICT;
INSERT INTO "client" VALUES(1,X'01A21C414FB91AA6B620E477F8CEDA61','Golden Bakery',0,1795770372025,X'010000000178378C99160A4C487891476FA061BFDD93C7A23F20432A52B36244C7123FE8A77D812444DC5C395943D0067823A8C68D1223EFB3D45AD1260E25E6C4C801F7139D9E4E32B0D50CCB',NULL);
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
INSERT INTO "delivery" VALUES(1883001714709569657,1,X'01A21C415336327125411A33E082769D',15,1,1,1,1795770379175,2,7,'{"type":"reversal.submitted","timestamp":"2026-11-27T09:06:12.918Z","data":{"id":"stl_01M8E42M0FXVTJDZY1A20XF99M","reference":"golden-1","status":"completed","version":7,"sandbox":true,"direction":"outgoing","amount":10.50,"amount_minor":"1050","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M8E42M0FXVTJDZY1A20XF99M-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":2.50,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E42KXS3AKBC874EZWCXPK1","created_at":"2026-11-27T09:06:12.111Z","updated_at":"2026-11-27T09:06:12.918Z","completed_at":"2026-11-27T09:06:12.157Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":7,"reversal":{"id":"rev_01M8E42MS3BZF7XYJARHQDK8C5","settlement_id":"stl_01M8E42M0FXVTJDZY1A20XF99M","reference":null,"status":"submitted","iso_status":"ACSP","amount":2.50,"amount_minor":"250","currency":"EUR","reason":null,"description":null,"rail_reference":null,"failure":null,"needs_review":false,"created_at":"2026-11-27T09:06:12.899Z","updated_at":"2026-11-27T09:06:12.918Z","completed_at":null}}}','{"at":1795770373189,"took_ms":12,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001714735784060,1,X'01A21C4153CB7017E760284F0A7ADDF9',17,1,1,1,1795770377480,2,8,'{"type":"reversal.completed","timestamp":"2026-11-27T09:06:13.067Z","data":{"id":"stl_01M8E42M0FXVTJDZY1A20XF99M","reference":"golden-1","status":"partially_reversed","version":9,"sandbox":true,"direction":"outgoing","amount":10.50,"amount_minor":"1050","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M8E42M0FXVTJDZY1A20XF99M-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":2.50,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E42KXS3AKBC874EZWCXPK1","created_at":"2026-11-27T09:06:12.111Z","updated_at":"2026-11-27T09:06:13.067Z","completed_at":"2026-11-27T09:06:12.157Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":8,"reversal":{"id":"rev_01M8E42MS3BZF7XYJARHQDK8C5","settlement_id":"stl_01M8E42M0FXVTJDZY1A20XF99M","reference":null,"status":"completed","iso_status":"ACSC","amount":2.50,"amount_minor":"250","currency":"EUR","reason":null,"description":null,"rail_reference":"SIM-01M8E42M0FXVTJDZY1A20XF99M-R1","failure":null,"needs_review":false,"created_at":"2026-11-27T09:06:12.899Z","updated_at":"2026-11-27T09:06:13.067Z","completed_at":"2026-11-27T09:06:13.067Z"}}}','{"at":1795770373189,"took_ms":12,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001714735784061,1,X'01A21C4153CBC2A105C439F44F041843',7,1,1,1,1795770377355,2,9,'{"type":"settlement.partially_reversed","timestamp":"2026-11-27T09:06:13.067Z","data":{"id":"stl_01M8E42M0FXVTJDZY1A20XF99M","reference":"golden-1","status":"partially_reversed","version":9,"sandbox":true,"direction":"outgoing","amount":10.50,"amount_minor":"1050","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M8E42M0FXVTJDZY1A20XF99M-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":2.50,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E42KXS3AKBC874EZWCXPK1","created_at":"2026-11-27T09:06:12.111Z","updated_at":"2026-11-27T09:06:13.067Z","completed_at":"2026-11-27T09:06:12.157Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":9,"reversal":{"id":"rev_01M8E42MS3BZF7XYJARHQDK8C5","settlement_id":"stl_01M8E42M0FXVTJDZY1A20XF99M","reference":null,"status":"completed","iso_status":"ACSC","amount":2.50,"amount_minor":"250","currency":"EUR","reason":null,"description":null,"rail_reference":"SIM-01M8E42M0FXVTJDZY1A20XF99M-R1","failure":null,"needs_review":false,"created_at":"2026-11-27T09:06:12.899Z","updated_at":"2026-11-27T09:06:13.067Z","completed_at":"2026-11-27T09:06:13.067Z"}}}','{"at":1795770373190,"took_ms":12,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001714987442306,1,X'01A21C4154B818FF5C4C89E901578146',1,1,1,1,1795770378672,7,1,'{"type":"settlement.accepted","timestamp":"2026-11-27T09:06:13.304Z","data":{"id":"stl_01M8E42N5RVQ9YJ89S6QJDFMBS","reference":"golden-3","status":"accepted","version":1,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":null,"metadata":{},"client_id":"cli_01M8E42KXS3AKBC874EZWCXPK1","created_at":"2026-11-27T09:06:13.304Z","updated_at":"2026-11-27T09:06:13.304Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":1}}','{"at":1795770373371,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001715024142469,1,X'01A21C4154D47359918590F78111066F',2,1,1,1,1795770378472,7,2,'{"type":"settlement.submitted","timestamp":"2026-11-27T09:06:13.332Z","data":{"id":"stl_01M8E42N5RVQ9YJ89S6QJDFMBS","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":null,"metadata":{},"client_id":"cli_01M8E42KXS3AKBC874EZWCXPK1","created_at":"2026-11-27T09:06:13.304Z","updated_at":"2026-11-27T09:06:13.332Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":2}}','{"at":1795770373401,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001715024142470,1,X'01A21C4154D4D14BB47A4CF9B217D78F',12,1,1,1,1795770379014,7,3,'{"type":"attempt.started","timestamp":"2026-11-27T09:06:13.332Z","data":{"id":"stl_01M8E42N5RVQ9YJ89S6QJDFMBS","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":null,"metadata":{},"client_id":"cli_01M8E42KXS3AKBC874EZWCXPK1","created_at":"2026-11-27T09:06:13.304Z","updated_at":"2026-11-27T09:06:13.332Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":3}}','{"at":1795770373401,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001715087057033,1,X'01A21C4155195077B80132FD446150F2',13,1,1,1,1795770378909,7,4,'{"type":"attempt.answered","timestamp":"2026-11-27T09:06:13.401Z","data":{"id":"stl_01M8E42N5RVQ9YJ89S6QJDFMBS","reference":"golden-3","status":"completed","version":5,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":"SIM-01M8E42N5RVQ9YJ89S6QJDFMBS-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E42KXS3AKBC874EZWCXPK1","created_at":"2026-11-27T09:06:13.304Z","updated_at":"2026-11-27T09:06:13.401Z","completed_at":"2026-11-27T09:06:13.401Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":4}}','{"at":1795770373494,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001715087057034,1,X'01A21C4155197FBAE9CAFB7034195EA0',4,1,1,1,1795770378367,7,5,'{"type":"settlement.completed","timestamp":"2026-11-27T09:06:13.401Z","data":{"id":"stl_01M8E42N5RVQ9YJ89S6QJDFMBS","reference":"golden-3","status":"completed","version":5,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":"SIM-01M8E42N5RVQ9YJ89S6QJDFMBS-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E42KXS3AKBC874EZWCXPK1","created_at":"2026-11-27T09:06:13.304Z","updated_at":"2026-11-27T09:06:13.401Z","completed_at":"2026-11-27T09:06:13.401Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":5}}','{"at":1795770373495,"took_ms":0,"error":"no connection could be made to the host"}');
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
CREATE TABLE device_code (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the code
    app_user   INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "device_code" VALUES(X'E34D3B7725416DA5AB057B27A9E08042342B49E4598AFCEE2D5B6511AB8F012F',1,1795770373181,1795770973181);
CREATE TABLE elsewhere (
    client    INTEGER NOT NULL,
    kind      INTEGER NOT NULL,
    reference TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    url       TEXT    NOT NULL,
    PRIMARY KEY (client, kind, reference)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "endpoint" VALUES(1,X'01A21C4153BEF11BFC99A81E9B39F566',1,1,1,1,'http://127.0.0.1:9/hook',NULL,NULL,1795770373054,1795770373054,NULL);
CREATE TABLE endpoint_secret (
    endpoint   INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER, version INTEGER,                           -- when it stops signing; NULL: the newest
    PRIMARY KEY (endpoint, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "endpoint_secret" VALUES(1,1,X'0100000001D89149ECC2496AB740CA902A63EB348FDDAA8B9B19D868B39B0A61B2D5C8ADC6F61BE23FAB1185D6C7A647CBA5C8DEC32F8054A916267DCDD65DD4A4079B60C7EB58E18F06F758C6',1795770373054,NULL,NULL);
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
INSERT INTO "entry" VALUES(71236,1,1795770372111,100000000,100000000,1,1,12);
INSERT INTO "entry" VALUES(71812,1,1795770372111,1000000,1000000,1,1,4);
INSERT INTO "entry" VALUES(72004,1,1795770372111,100000000,100000000,1,1,6);
INSERT INTO "entry" VALUES(72164,1,1795770372111,1000000000,1000000000,1,1,5);
INSERT INTO "entry" VALUES(74596,1,1795770372111,100000000,100000000,1,1,10);
INSERT INTO "entry" VALUES(78340,1,1795770372111,1000000,1000000,1,1,7);
INSERT INTO "entry" VALUES(78756,1,1795770372111,100000000,100000000,1,1,3);
INSERT INTO "entry" VALUES(78884,1,1795770372111,100000000,100000000,1,1,8);
INSERT INTO "entry" VALUES(78980,1,1795770372111,100000000,100000000,1,1,2);
INSERT INTO "entry" VALUES(80516,1,1795770372111,100000000,100000000,1,1,9);
INSERT INTO "entry" VALUES(80772,1,1795770372111,1000000,1000000,1,1,11);
INSERT INTO "entry" VALUES(81188,1,1795770372111,100000000,100000000,1,1,1);
INSERT INTO "entry" VALUES(81188,2,1795770372157,-1050,99998950,2,2,2);
INSERT INTO "entry" VALUES(81188,3,1795770372295,-1050,99997900,2,3,2);
INSERT INTO "entry" VALUES(81188,4,1795770372805,-500,99997400,2,6,4);
INSERT INTO "entry" VALUES(81188,5,1795770373067,250,99997650,4,2,4);
INSERT INTO "entry" VALUES(81188,6,1795770373401,-200,99997450,2,7,2);
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
INSERT INTO "event" VALUES(131073,1,1795770372111,NULL,1,1,0,NULL,X'0A9980B2E1AAE79916DA9069E6EA91DBCF4A398AB73EF141B91CDB2E282DAADC');
INSERT INTO "event" VALUES(131074,2,1795770372127,1,2,2,0,NULL,X'1EB54F070E592CB4DCDE9EE097AC15DE7BA37520A93881BB2A69AA033376E9F2');
INSERT INTO "event" VALUES(131075,12,1795770372127,NULL,10,2,1,'{"provider":"simulator"}',X'548E1E6028A1757F2382642FD0800EC1379E531E4305609C3A5279AC792CAA07');
INSERT INTO "event" VALUES(131076,13,1795770372157,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M8E42M0FXVTJDZY1A20XF99M-1"}',X'16F7E2ACC029E43152FF82F72FDA783565F95F13B48B829A8AA381234789D4D1');
INSERT INTO "event" VALUES(131077,4,1795770372157,2,4,3,1,NULL,X'4770B25D01266ADD2B78388955B54469FCE843522900571213C3FC089F95A9FB');
INSERT INTO "event" VALUES(131078,14,1795770372899,NULL,1,1,1,'{"amount":"2.50","reversal":"rev_01M8E42MS3BZF7XYJARHQDK8C5"}',X'7BA4E80EDCC2EEF97896F57AF06F7F61855B161696B65FE9C880C4F57EA03C4D');
INSERT INTO "event" VALUES(131079,15,1795770372918,1,2,2,1,'{"reversal":"rev_01M8E42MS3BZF7XYJARHQDK8C5"}',X'E71A042FEF9C99437644A57C59E28CD7843A3F1488C8E02B9EC6545A68397DEE');
INSERT INTO "event" VALUES(131080,17,1795770373067,2,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M8E42M0FXVTJDZY1A20XF99M-R1","reversal":"rev_01M8E42MS3BZF7XYJARHQDK8C5"}',X'CDFD0A79CD76E7046F056CA79B9CC68FD6AFD52C6EA6604461FF20B485D2558A');
INSERT INTO "event" VALUES(131081,7,1795770373067,4,5,3,1,'{"reversal":"rev_01M8E42MS3BZF7XYJARHQDK8C5"}',X'556A3B0EEB0660BCFE08113AB747B7605B876EAAB672FDB1C3C79BF59ED1BA44');
INSERT INTO "event" VALUES(196609,1,1795770372252,NULL,1,1,0,NULL,X'F1ACF479B56F50600C8F9AD065BBF6867DD5A41203AB9F99AE430D22B43A3C06');
INSERT INTO "event" VALUES(196610,2,1795770372265,1,2,2,0,NULL,X'C42C702C6F1B0446A47BBA7EFA414FDA3F57B5EB972F8674E7629D3C2D71E648');
INSERT INTO "event" VALUES(196611,12,1795770372265,NULL,10,2,1,'{"provider":"simulator"}',X'06DFFA2F06B1146FC261CE3A6A3AD9077975F5CB87332A7B7139FDBF689730FD');
INSERT INTO "event" VALUES(196612,13,1795770372295,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M8E42M4WC5HN5DXNN05H9ZG8-1"}',X'4AAA92DA98F692BF469B8F450326BE339ED2A9DDDE834C132A81CE163FC876A6');
INSERT INTO "event" VALUES(196613,4,1795770372295,2,4,3,1,NULL,X'ED9E615349F6C1C7D5E2457E5B78C999A60877B0A918B5F7CD9FA2180C72A168');
INSERT INTO "event" VALUES(262145,1,1795770372379,NULL,1,1,0,NULL,X'46CD8F2AD66885ADCC6D724DA674FB58D72ACBAF5C4E1E8C0A37D736827D5687');
INSERT INTO "event" VALUES(262146,2,1795770372391,1,2,2,0,NULL,X'63827F0196DC0934FEF63A343CBFE4E2654AEBF8CC7889B043C809A8BB81C431');
INSERT INTO "event" VALUES(262147,12,1795770372391,NULL,10,2,1,'{"provider":"simulator"}',X'7975B1F03B84C1AFE698CFE0BFA23047D93FF00E4617E5FE0C58D28F4705547C');
INSERT INTO "event" VALUES(262148,13,1795770372429,10,11,3,1,'{"answer":"declined","code":"over_limit","rail_code":"SIM-AM14"}',X'A802A7421F768B8F00DA0674003D286E5338766EF56AF1A577E4C250C996669D');
INSERT INTO "event" VALUES(262149,5,1795770372429,2,8,3,1,'{"code":"over_limit"}',X'BACC030DC4659795D50A1E255FD0C802E5D761B564CAB267B1BEE4E7A8B940ED');
INSERT INTO "event" VALUES(327681,1,1795770372518,NULL,1,1,0,NULL,X'FA12946D2C94294E5398041977B1CD227B0AC3E845637ECA7A453556607EA79D');
INSERT INTO "event" VALUES(327682,2,1795770372531,1,2,2,0,NULL,X'8E61D58B62AC827381E7894B448402FB8068137488D75E33A8AD4BB6A6551C43');
INSERT INTO "event" VALUES(327683,12,1795770372531,NULL,10,2,1,'{"provider":"simulator"}',X'ABF6A5A691721F9A8741469702400A7DF7B238EED55C981F885DD2A2458B0F5E');
INSERT INTO "event" VALUES(327684,13,1795770372586,10,1,3,1,'{"answer":"accepted","rail_reference":"SIM-01M8E42MD6A569W7H5AVV32MJ6-1"}',X'D5E89D431964002232D0E0948A464D94B0F4AA0E6EE3071CA93318305699FDFA');
INSERT INTO "event" VALUES(393217,1,1795770372651,NULL,1,1,0,NULL,X'AC0926CAF2E2BD30229489D4687A3E847DBA548C89D901259654A70248FD27AA');
INSERT INTO "event" VALUES(393218,2,1795770372664,1,2,2,0,NULL,X'8A32D12F65E255573661D60468F6C8ABB426F5FC40F27D60BF0ADCE6BED92FE0');
INSERT INTO "event" VALUES(393219,12,1795770372664,NULL,10,2,1,'{"provider":"simulator"}',X'B5F9A38B4F3CDECB5A5136354B13413884F011B6EA9BCB26E72E8D00450DBB27');
INSERT INTO "event" VALUES(393220,13,1795770372702,10,11,3,1,'{"answer":"declined","code":"over_limit","rail_code":"SIM-AM14"}',X'4D605FDF62059AD8627C12C198E6ED5DBFA602D51E3C30AD9FF3FABE4F75100F');
INSERT INTO "event" VALUES(393221,12,1795770372717,NULL,10,2,2,'{"provider":"simulator-backup"}',X'D63137549CCD21DA46C7C29C0B76D05F1683F88205A5EF944C5F5233B1060C05');
INSERT INTO "event" VALUES(393222,13,1795770372805,10,4,3,2,'{"answer":"completed","rail_reference":"SIM-01M8E42MHB7HR8BE08YW6YQY0G-2"}',X'7B2B47EB47C78B174F1BC42027CC93CDDBEDFC2232DAEAF1C27A312CB8A64FAA');
INSERT INTO "event" VALUES(393223,4,1795770372805,2,4,3,2,NULL,X'59A9A96FF850AC27515DFCCB3306E1B47640C794AB039925FCF446762CB2F3C4');
INSERT INTO "event" VALUES(458753,1,1795770373304,NULL,1,1,0,NULL,X'7E8E1B6E9F479434DD97CC112D3B1E0A277473B1D9B1788CF33806CCC8F8F8EC');
INSERT INTO "event" VALUES(458754,2,1795770373332,1,2,2,0,NULL,X'DCEC24F2DD909832734A96B6F830030153E0B56F764A7283330F48516A59304D');
INSERT INTO "event" VALUES(458755,12,1795770373332,NULL,10,2,1,'{"provider":"simulator"}',X'D7B211A012AC85E6B3EC2681361AAC60389744E13FAA7340735435EAF2234DCE');
INSERT INTO "event" VALUES(458756,13,1795770373401,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M8E42N5RVQ9YJ89S6QJDFMBS-1"}',X'35E6B8A2D29CFE32D4BD1073E3A4DD507FD1BD6904D06A42DEA81DFF4CFF5BBB');
INSERT INTO "event" VALUES(458757,4,1795770373401,2,4,3,1,NULL,X'767E3C80E357FB05B3579BC1AFBEC007FE162F4745462438353599FAA8509FA2');
CREATE TABLE feed (
    owner      INTEGER NOT NULL,                  -- client << 2 | mode
    position   INTEGER NOT NULL,
    k          INTEGER NOT NULL UNIQUE,           -- the event: settlement << 16 | n
    at         INTEGER NOT NULL,
    leaf       INTEGER NOT NULL,
    PRIMARY KEY (owner, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "feed" VALUES(5,1,131073,1795770372111,0);
INSERT INTO "feed" VALUES(5,2,131074,1795770372127,1);
INSERT INTO "feed" VALUES(5,3,131075,1795770372127,2);
INSERT INTO "feed" VALUES(5,4,131076,1795770372157,3);
INSERT INTO "feed" VALUES(5,5,131077,1795770372157,4);
INSERT INTO "feed" VALUES(5,6,196609,1795770372252,5);
INSERT INTO "feed" VALUES(5,7,196610,1795770372265,6);
INSERT INTO "feed" VALUES(5,8,196611,1795770372265,7);
INSERT INTO "feed" VALUES(5,9,196612,1795770372295,8);
INSERT INTO "feed" VALUES(5,10,196613,1795770372295,9);
INSERT INTO "feed" VALUES(5,11,262145,1795770372379,10);
INSERT INTO "feed" VALUES(5,12,262146,1795770372391,11);
INSERT INTO "feed" VALUES(5,13,262147,1795770372391,12);
INSERT INTO "feed" VALUES(5,14,262148,1795770372429,13);
INSERT INTO "feed" VALUES(5,15,262149,1795770372429,14);
INSERT INTO "feed" VALUES(5,16,327681,1795770372518,15);
INSERT INTO "feed" VALUES(5,17,327682,1795770372531,16);
INSERT INTO "feed" VALUES(5,18,327683,1795770372531,17);
INSERT INTO "feed" VALUES(5,19,327684,1795770372586,18);
INSERT INTO "feed" VALUES(5,20,393217,1795770372651,19);
INSERT INTO "feed" VALUES(5,21,393218,1795770372664,20);
INSERT INTO "feed" VALUES(5,22,393219,1795770372664,21);
INSERT INTO "feed" VALUES(5,23,393220,1795770372702,22);
INSERT INTO "feed" VALUES(5,24,393221,1795770372717,23);
INSERT INTO "feed" VALUES(5,25,393222,1795770372805,24);
INSERT INTO "feed" VALUES(5,26,393223,1795770372805,25);
INSERT INTO "feed" VALUES(5,27,131078,1795770372899,26);
INSERT INTO "feed" VALUES(5,28,131079,1795770372918,27);
INSERT INTO "feed" VALUES(5,29,131080,1795770373067,28);
INSERT INTO "feed" VALUES(5,30,131081,1795770373067,29);
INSERT INTO "feed" VALUES(5,31,458753,1795770373304,30);
INSERT INTO "feed" VALUES(5,32,458754,1795770373332,31);
INSERT INTO "feed" VALUES(5,33,458755,1795770373332,32);
INSERT INTO "feed" VALUES(5,34,458756,1795770373401,33);
INSERT INTO "feed" VALUES(5,35,458757,1795770373401,34);
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
CREATE TABLE idempotency (
    client      INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    settlement  INTEGER NOT NULL,
    reversal    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL, answer TEXT,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "idempotency" VALUES(1,'sandbox
01M8E42MR6Y6G82411YEGCJPJX',X'7C9DDFA3C986CB49E5E1EC60C1CA67F48442436ED6423B469790869F6BDB220E',2,1,1795770372899,NULL);
CREATE TABLE invitation (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the code
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
INSERT INTO "key" VALUES(1,X'E39A16355BDAE5B2F410A6B6656A5862561C271F0E71CC74F591F6D79B5348EC',1,1,1,X'04CCC99DE2CBD7DA822D164F9259F0E256C4100180B1E356FC37FADB7D417397772349C101528456FA1839588E14CCA5594F4A2B1CAF5E1DC38172FE5204017CE6',5631,1,NULL,1795770372025,NULL,NULL);
CREATE TABLE log_head (
    events  INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    until INTEGER NOT NULL
, live INTEGER) STRICT;
INSERT INTO "log_head" VALUES(35,-5982194265065659631,0,0);
CREATE TABLE matches (
    run   INTEGER NOT NULL,
    n     INTEGER NOT NULL,
    pairs BLOB    NOT NULL,                          -- what was matched, and the identity of the line
    PRIMARY KEY (run, n)
) STRICT;
CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('id_key',X'EA7BD043579FA7171FD9CA8F34D9DD7D');
INSERT INTO "meta" VALUES('webhook_secret_used/1',X'');
CREATE TABLE migration (no INTEGER PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO "migration" VALUES(1,'0001_initial',X'ED88626D288400D32BE9D15867048F7A109E16E2650891F110539AFB91BDE5C1');
INSERT INTO "migration" VALUES(2,'0002_authentication',X'CE38E4A675D17E06040CFDBF283CA59E1F824EA07CD1EEF626F96D89601015A3');
INSERT INTO "migration" VALUES(3,'0003_log_and_webhooks',X'118FF9BF187F1ADE4A6CA21EE6338C4CA82C9ED0A14859CD25E7420CE9C1BDA3');
INSERT INTO "migration" VALUES(4,'0004_versions',X'9A76A8E62E1C829E7D6D1983C7633C35D1094BE79714913E0B0CE9019C2E135F');
INSERT INTO "migration" VALUES(5,'0005_lists',X'12ED8DED29C09539434F712D1139D6E95285E99C24C79BFA370456177BD1F716');
INSERT INTO "migration" VALUES(6,'0006_enrolment',X'9857AF49E6D0F7C15FB6505A0ECC74772A60A7F12B9E9D6EE61937362D4B58BE');
INSERT INTO "migration" VALUES(7,'0007_trees',X'46741199B8DEB1664976EE552CBC7CB06B3BDED93BF2F0CE1E42F73DCD929719');
INSERT INTO "migration" VALUES(8,'0008_operation',X'764220C1DDBA83ABAD2D39F0715F50020F627E310A725514195FEBC4C3251870');
INSERT INTO "migration" VALUES(9,'0009_review',X'273CED0031DA0A7BB63DE1FD89227AFBD63B5CB3EE5EF8DFFAC1A95B34C318C7');
INSERT INTO "migration" VALUES(10,'0010_terms',X'9761AC2096C809A66A0D6074771F0D9CAB09C7089F9E22A20B8BB0961B8D712D');
INSERT INTO "migration" VALUES(11,'0011_simulator',X'369CA26AF723C1D010442F1692C5E1A6FADCB73B03F418ED2B216BE01A1E663C');
INSERT INTO "migration" VALUES(12,'0012_operators',X'C3F98D0E3B385C5534C3D2CDC0449C5F0BB06B865608882C9C782FB0306C8690');
INSERT INTO "migration" VALUES(13,'0013_statement',X'DA9C8A57A98EDF8769A00715A8279C0F00CC06143DE76EC31160D9C22C2240E6');
INSERT INTO "migration" VALUES(14,'0014_answers',X'77B800DBB44F5917508A7A650AA764B51AD66452E94748CC9A49FA3E5C755E8D');
INSERT INTO "migration" VALUES(15,'0015_clock',X'19F066A86180DAF1E7A1561504949A2ECFB03F76B4ED3D6612B996203D79A1D3');
INSERT INTO "migration" VALUES(16,'0016_movement_events',X'5BE55BA08AEF9196EBE9251867B379FDDDA7B4EC6FE3E66845866111FC930C27');
INSERT INTO "migration" VALUES(17,'0017_credit_lines',X'EC100C5B33AD685C3B5966A52C220BBE38FA7323E316FFB62A63A05E268299D9');
INSERT INTO "migration" VALUES(18,'0018_nodes',X'05F5D3E0C7511821DC66BC37F9D7FB02257AFB54A2F3F8ACB7A3658BD0158E58');
INSERT INTO "migration" VALUES(19,'0019_reconciliation',X'9F6466CCEF71478C9813C84130727F232C9FBA2DA5FD64021CBF2C4080E643CB');
INSERT INTO "migration" VALUES(20,'0020_sessions',X'2E4628C22ACC6F3BC24441CF07E7116A2792A44AB27CE2AA130641BDADFC4ABA');
INSERT INTO "migration" VALUES(21,'0021_mobile',X'45AC2D10075E757A4D26EAE42C111198572299CF610E264F4B1DAE70C9131439');
INSERT INTO "migration" VALUES(22,'0022_notifications',X'0842F1EE0AF82D4A6601B61E9AC86BC5985F3C368F21754891862BA79B97F83B');
INSERT INTO "migration" VALUES(23,'0023_bundles',X'6E1B154CB7BCB8837C0A3B99F9BB0108B4318DAE65BDEF77B28FCC53F2EED72A');
INSERT INTO "migration" VALUES(24,'0024_cells',X'A3A9E6A8B04B4852CAD2BA35F5AAE87061F90829912AE9EADAFCCCF94CFEBCDE');
INSERT INTO "migration" VALUES(25,'0025_quality',X'F6EAAAEF20A7E95CFB6C1CF26C31D02465C61E0DB75E82AC1767F6A02D17A3AB');
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
CREATE TABLE node (
    no         INTEGER PRIMARY KEY,
    host       TEXT    NOT NULL,
    address    TEXT,
    version    TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;
CREATE TABLE nonce (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the nonce's text
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "nonce" VALUES(X'4740867D81CEB5038E00D78C148BB802360E1D9AB66416AA614F894E4149EE63',1795770672000);
INSERT INTO "nonce" VALUES(X'988208A07CCD452D2CF125148201FBBFE6889BE6B41603668E69C70AEBB79DBA',1795770672000);
INSERT INTO "nonce" VALUES(X'9943E4DEEDA8EFB75BBED931B78B6D8C2FDCFC45253614AAE5D8D894B5FEF004',1795770672000);
INSERT INTO "nonce" VALUES(X'CB0FFA636F4761808794671DC7493FA7775B9FAC3F51F9ED490B42FE2B86A1F2',1795770672000);
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
INSERT INTO "operator" VALUES(1,X'01A21C4155BCB9CC68506AC520DB4225','Ada',2,1,X'932E2687B39D8D77D63C5B1BFDFA9A6B937D30825B082C5BCEE59D165706DC09',0,1795770373564,1796375173564,NULL,NULL,NULL);
CREATE TABLE provider (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "provider" VALUES(1,'simulator');
INSERT INTO "provider" VALUES(2,'simulator-backup');
INSERT INTO "provider" VALUES(3,'books');
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
CREATE TABLE quality_seen (
    day     INTEGER NOT NULL,                     -- from 1970-01-01
    device  INTEGER NOT NULL,                     -- the number of its key
    ids     BLOB    NOT NULL,                     -- eight bytes of the hash of each, in order
    version INTEGER,
    PRIMARY KEY (day, device)
) STRICT;
CREATE TABLE queue (
    endpoint      INTEGER PRIMARY KEY,
    version       INTEGER NOT NULL,
    troubled      INTEGER NOT NULL,
    due           INTEGER,                        -- NULL: nothing waits
    owner         INTEGER NOT NULL,
    added         INTEGER,
    failing_since INTEGER
) STRICT;
INSERT INTO "queue" VALUES(1,13,1,1795770377355,0,NULL,1795770373189);
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
INSERT INTO "reversal" VALUES(131073,1,NULL,4,250,NULL,NULL,3,0,'SIM-01M8E42M0FXVTJDZY1A20XF99M-R1',NULL,1795770372899,1795770373067,1795770373067);
CREATE TABLE review (
    k         INTEGER PRIMARY KEY,                -- settlement << 16 | reversal, 0 for the settlement itself
    reason    INTEGER NOT NULL,                   -- 1 no end for a day, 2 a discrepancy
    opened_at INTEGER NOT NULL,
    due       INTEGER NOT NULL
) STRICT;
CREATE TABLE secret (
    kind       INTEGER NOT NULL,
    no         INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    public     BLOB    NOT NULL,                  -- SEC 1 uncompressed; empty: none
    created_at INTEGER NOT NULL,
    retired_at INTEGER, version INTEGER,
    PRIMARY KEY (kind, no)
) STRICT, WITHOUT ROWID;
INSERT INTO "secret" VALUES(1,1,X'010000000105B409B8723218CB03F9EB4DE2D7F16E01797DB749C6158AE3A9B1DD6B8E3BC96DB048A8EE7F5274C71F9F216D1F277B34BBAEB28B80C666AAD940F6AB52A7768CB80EC567CDE373',X'',1795770371863,NULL,NULL);
INSERT INTO "secret" VALUES(2,1,X'0100000001046081AE51771D7ACC904AFC82114708ADF02ED2E6C6B56A426A3CB2BEAF9E973281B1D5EC94858A29F2A98DA105EEAA56A558B35F535D9412540373A39A03EA183F9F455CCD2FAC',X'042A8EE2B7CA4FE59E5AF319551C626C84B5B4071620FB637E75E1C92BE5BDBE38834305EA7575C33C9C4A67633AD449BC1C56EB046219CB9423C8D557770727E5',1795770371868,NULL,NULL);
INSERT INTO "secret" VALUES(3,1,X'01000000015B64ABC59B74CD2544963DA1AD4AE27874DE6A3101005BFEA461409195DFEA09A78C6705B8A1543AA958893B7D7C4993B88E672FB7225AE88AE2A45C2ED6F547896BEBEA0DC17083',X'BB6EE1E684E04A474DF3CF83C705CA3159443B6878375BBDFB719D553029B98C',1795770371873,NULL,NULL);
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
INSERT INTO "settlement" VALUES(2,1,'golden-1',1,5,9,0,1050,978,'sim:ok',1,0,250,0,1,1,4,1,345775777076,X'556A3B0EEB0660BCFE08113AB747B7605B876EAAB672FDB1C3C79BF59ED1BA44',1795770372111,1795770373067,1795770372157,NULL,'{"rail_reference":"SIM-01M8E42M0FXVTJDZY1A20XF99M-1"}',NULL);
INSERT INTO "settlement" VALUES(3,1,'golden-2',1,4,5,0,1050,978,'sim:ok',1,0,0,0,1,0,2,1,721740430856,X'ED9E615349F6C1C7D5E2457E5B78C999A60877B0A918B5F7CD9FA2180C72A168',1795770372252,1795770372295,1795770372295,NULL,'{"rail_reference":"SIM-01M8E42M4WC5HN5DXNN05H9ZG8-1"}',NULL);
INSERT INTO "settlement" VALUES(4,1,'golden-declined',1,8,5,0,300,404,'sim:decline-over_limit',1,0,0,0,1,0,2,1,578787092551,X'BACC030DC4659795D50A1E255FD0C802E5D761B564CAB267B1BEE4E7A8B940ED',1795770372379,1795770372429,1795770372429,NULL,'{"failure":{"code":"over_limit","rail_code":"SIM-AM14"}}',NULL);
INSERT INTO "settlement" VALUES(5,1,'golden-open',1,2,4,0,700,978,'sim:slow-30s',1,0,0,0,1,0,1,1,373497614918,X'D5E89D431964002232D0E0948A464D94B0F4AA0E6EE3071CA93318305699FDFA',1795770372518,1795770372586,NULL,NULL,'{"rail_reference":"SIM-01M8E42MD6A569W7H5AVV32MJ6-1"}',NULL);
INSERT INTO "settlement" VALUES(6,1,'golden-failover',1,4,7,0,500,978,'sim:failover',2,0,0,0,2,0,4,3,1061090490384,X'59A9A96FF850AC27515DFCCB3306E1B47640C794AB039925FCF446762CB2F3C4',1795770372651,1795770372805,1795770372805,NULL,'{"rail_reference":"SIM-01M8E42MHB7HR8BE08YW6YQY0G-2"}',NULL);
INSERT INTO "settlement" VALUES(7,1,'golden-3',1,4,5,0,200,978,'sim:ok',1,0,0,0,1,0,2,1,231472615801,X'767E3C80E357FB05B3579BC1AFBEC007FE162F4745462438353599FAA8509FA2',1795770373304,1795770373401,1795770373401,NULL,'{"rail_reference":"SIM-01M8E42N5RVQ9YJ89S6QJDFMBS-1"}',NULL);
CREATE TABLE setup (
    revision INTEGER PRIMARY KEY,
    subject  INTEGER NOT NULL,                    -- 1 a provider, 2 the table of routes
    provider INTEGER NOT NULL,                    -- 0 for none
    at       INTEGER NOT NULL,
    document TEXT    NOT NULL,                    -- JSON, without secrets
    secrets  BLOB    NOT NULL,                    -- sealed; empty for none
    reason   TEXT
, client INTEGER) STRICT;
CREATE TABLE sim_payment (
    k           INTEGER PRIMARY KEY,
    provider    INTEGER NOT NULL,
    received    INTEGER NOT NULL,
    received_at INTEGER NOT NULL
, decided INTEGER, code INTEGER) STRICT;
INSERT INTO "sim_payment" VALUES(131073,1,1,1795770372146,NULL,NULL);
INSERT INTO "sim_payment" VALUES(163841,1,1,1795770372958,NULL,NULL);
INSERT INTO "sim_payment" VALUES(196609,1,1,1795770372282,NULL,NULL);
INSERT INTO "sim_payment" VALUES(262145,1,1,1795770372403,NULL,NULL);
INSERT INTO "sim_payment" VALUES(327681,1,1,1795770372561,NULL,NULL);
INSERT INTO "sim_payment" VALUES(393217,1,1,1795770372686,NULL,NULL);
INSERT INTO "sim_payment" VALUES(393218,2,1,1795770372747,NULL,NULL);
INSERT INTO "sim_payment" VALUES(458753,1,1,1795770373367,NULL,NULL);
CREATE TABLE simulator (
    client           INTEGER PRIMARY KEY,
    rate             INTEGER NOT NULL,               -- in millionths
    drop_answer_rate INTEGER NOT NULL,               -- in millionths
    latency_ms       INTEGER NOT NULL,
    seed             INTEGER NOT NULL
) STRICT;
CREATE TABLE task (
    key        INTEGER PRIMARY KEY,               -- due << 20 | a number that makes it unique
    kind       INTEGER NOT NULL,
    settlement INTEGER NOT NULL,
    child      INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    owner      INTEGER NOT NULL
, client INTEGER) STRICT;
INSERT INTO "task" VALUES(1883001719448084582,2,5,1,0,1795770372586,0,1);
INSERT INTO "task" VALUES(1883001745636270181,5,5,1,0,1795770372561,0,1);
CREATE TABLE tile (
    k       INTEGER PRIMARY KEY,                  -- level << 56 | index
    entries BLOB    NOT NULL                      -- at most 256 of 32 bytes
) STRICT;
INSERT INTO "tile" VALUES(0,X'8DA84659425D455894CC01A2D536A53C5A3E5D8115152E1F883297E7F6F9FB4A44E4BB11673A045AD9ADADAB08E4421E4498A2FF2EC9C58C8F9046CA9C0A33CFF5B66F91DE5F02F975D32ED4477BF1805EF6468019CB10B8EBD408B1818E10A4D73E04076DE24E30D8A5A1191FAC42BB8CA832D99E64673FAF194934F0362A6DFCDC9DFFBE6015E11DA9672D6F2D183E9669B4503756749280CAB4BCDAF772AC24EEFAFFF8B41B9313F61F896C77B244D178BFFF2D1650AD1138704E1CFDBB431DCB5F7FDF81E898C0F4FF5FB21399AEE548CA290E9970F4F2B971DD2D5BCFEBE6AED71980E3249D83FAD0C6F58863BF7F4154F1D769A2D3A94D80D0924D5D6E7EFC469771E63B539523511E98E38D8FB610782B49B4A82A803322EE9332C4F38DC2581A3592D3CE5EF19CDDF0D208CA5D9E417FCA6B9672BD9E7E9D76F38F3CE716F37CF9ECD1382A758CE61BE43FBD5C704B044B1718FFA7AD70BE576B0A02CA23A00CA4D7EA58CBE3F0EBD731FA57596DABD30F1A6FFF1075FF769F4635AEA42892A5C91F4883B49F7D44A22F234AB78E072050EA1A145F55E97F4EF018AB69057D47A03CCD0E8B40462C39788237A115F3B5FE1E8BC025EC7D8B78CF102C083BAE4841A028D2C0EA3EEB7C2DC4E00FC761B6CA25E5759AE64E147CA0E0979EDEE4884CA9B3BCC34D79629E5D78828A5AC45BE07522C3E3F7A215CFB6843301A2994CA5FE9557537E0A61035AA4DB0D86618549A9E306D1B30676BBB7FF37E0D5ACECEEAABFCE79018AA3A8CDD53D0E9F65E7B18F54A54A12EF4061727240B9F9FAF5AC5CA65E64270CEADCB9301E24DFD6294B6828EF4D24DE23BA1E981F7DEE064FAE6B03003B807E8AB57D0D1451CF79CC8CB797BAAFD0009CE8409214006994B81CEB20EDAC3072AD9EDF70726E5AD18E08D7B589EE13E1A7498AE2D528514A09484A7F4C8809B2098C96A9B5497113A3CDF6DABB2CA531D9D00AD83B91FB5B94DC11D6F3BB734E5B24BFE7284883B4CA0139E259220720700ED1FCFB4413880C8EEB0FCDBC5002F9B5DE81A1A876D348DA344D0C1379FC6932AC67F2B461B8AB162B2C0C57DCEF12880835D4CA52E570850E70D22960D5784B12D885AA7C052B1CA2C97A340E93E5E91174A203FE5D2E99AAD7044B34604F5419C5A25EFA8C04965520FB25C30CE48AF5A66B3D7C30B16B9AD21856289E751AAB23EFA2368BF8AEBC514F1DD17347BA01A4B68A831126E176BFCF51F6F6A4A198716614C19B07CD6437B29014892E1F4FBB2273663B2662EF1FACE7C8952769D04D88FD067BDEAB5044FC200BA279E46AC7932F295CFCF100C1F0EDF1790DABC533C7CF4A9DE3A77A5F99098CE5E4A46E580405B20A7DCF868CE145791D8841EB74BA7B6658D63D53D96469593234E90F37B8C9FD2AB7A2E76319851C1B98697C54E31FD1972DA2A490D27021068D52F725AFE4714F6B716448D3A57EEC44C98C6A970C5D0A3F25F1F85DA751C219A66989CBB0FABD7CA3E4E197C5C7EDB1F029FBB822E2ED5298E9D33D783881AF6DF261D05E86DE54F4E31DB59EC5395C5CFC9434');
CREATE TABLE token (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the token's text
    client     INTEGER NOT NULL,
    mode       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
, key    INTEGER NOT NULL DEFAULT 0, scopes INTEGER NOT NULL DEFAULT 0, session BLOB) STRICT, WITHOUT ROWID;
INSERT INTO "token" VALUES(X'0F03AAA9C192CDBFC87539844EEEAC055FEE45CD0D9BF9FB621F76CB903FB30F',1,1,1795770372025,1795771272025,1,5631,NULL);
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
INSERT INTO "transfer" VALUES(65537,4,1,15654,81188,100000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65538,4,1,13446,78980,100000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65539,4,1,13222,78756,100000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65540,4,1,6278,71812,1000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65541,4,1,6630,72164,1000000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65542,4,1,6470,72004,100000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65543,4,1,12806,78340,1000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65544,4,1,13350,78884,100000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65545,4,1,14982,80516,100000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65546,4,1,9062,74596,100000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65547,4,1,15238,80772,1000000,0,1795770372111);
INSERT INTO "transfer" VALUES(65548,4,1,5702,71236,100000000,0,1795770372111);
INSERT INTO "transfer" VALUES(131073,1,2,81188,81189,1050,0,1795770372111);
INSERT INTO "transfer" VALUES(131074,2,2,81188,81189,1050,1,1795770372157);
INSERT INTO "transfer" VALUES(131075,1,4,81189,81188,250,0,1795770372899);
INSERT INTO "transfer" VALUES(131076,2,4,81189,81188,250,3,1795770373067);
INSERT INTO "transfer" VALUES(196609,1,2,81188,81189,1050,0,1795770372252);
INSERT INTO "transfer" VALUES(196610,2,2,81188,81189,1050,1,1795770372295);
INSERT INTO "transfer" VALUES(262145,1,2,72004,72005,300,0,1795770372379);
INSERT INTO "transfer" VALUES(262146,3,2,72004,72005,300,1,1795770372429);
INSERT INTO "transfer" VALUES(327681,1,2,81188,81189,700,0,1795770372518);
INSERT INTO "transfer" VALUES(393217,1,2,81188,81189,500,0,1795770372651);
INSERT INTO "transfer" VALUES(393218,3,2,81188,81189,500,1,1795770372702);
INSERT INTO "transfer" VALUES(393219,1,2,81188,146725,500,0,1795770372702);
INSERT INTO "transfer" VALUES(393220,2,2,81188,146725,500,3,1795770372805);
INSERT INTO "transfer" VALUES(458753,1,2,81188,81189,200,0,1795770373304);
INSERT INTO "transfer" VALUES(458754,2,2,81188,81189,200,1,1795770373401);
CREATE TABLE unbooked (
    no    INTEGER PRIMARY KEY,
    lines BLOB    NOT NULL
) STRICT;
CREATE TABLE unlogged (
    no      INTEGER PRIMARY KEY,                  -- grows, so that inserts append
    changes BLOB    NOT NULL                      -- numbers in LEB128, hashes as they are
) STRICT;
CREATE TABLE usage (
    id    INTEGER PRIMARY KEY,                    -- client << 30 | currency << 20 | mode << 18 | day
    value INTEGER NOT NULL,                       -- minor units
    count INTEGER NOT NULL
) STRICT;
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
