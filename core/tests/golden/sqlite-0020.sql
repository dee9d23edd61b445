-- A database of schema 0020 as a gateway left it: payments of which one failed, one is reversed in part and one was not answered yet, a webhook with deliveries, an invited operator.
-- It must open for ever; this file never changes.
PRAGMA application_id = 1380401492;
PRAGMA user_version = 20;
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
INSERT INTO "attempt" VALUES(131073,1,4,1,1795770346883,1795770346929);
INSERT INTO "attempt" VALUES(196609,1,4,1,1795770347076,1795770347096);
INSERT INTO "attempt" VALUES(262145,1,5,1,1795770347130,1795770347162);
INSERT INTO "attempt" VALUES(327681,1,2,1,1795770347223,1795770347226);
INSERT INTO "attempt" VALUES(393217,1,5,1,1795770347315,1795770347318);
INSERT INTO "attempt" VALUES(393218,2,4,1,1795770347320,1795770347321);
INSERT INTO "attempt" VALUES(458753,1,4,1,1795770347753,1795770347767);
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
INSERT INTO "audit" VALUES(1883001687159116244,1795770346793,1,1,1,1,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001687246148054,1795770346876,1,1,7,2,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001687445377502,1795770347066,1,1,7,3,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001687509340645,1795770347127,1,1,7,4,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001687606858219,1795770347220,1,1,7,5,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001687703327219,1795770347312,1,1,7,6,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001687821816318,1795770347425,1,1,8,2,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001687960228356,1795770347557,1,1,15,1,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001688156312072,1795770347744,1,1,7,7,NULL,NULL,NULL,1);
INSERT INTO "audit" VALUES(1883001688263282010,1795770347846,0,0,60,0,'opr_01M8E41WA64RKEZNEYBS1APH1Y',NULL,'{"name":"Ada","reason":null,"role":"agent"}',NULL);
CREATE TABLE client (
    no         INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,           -- ULID, 16 bytes, big-endian
    name       TEXT    NOT NULL,
    suspended  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
, webhook_secret BLOB NOT NULL DEFAULT x'', version INTEGER) STRICT;
INSERT INTO "client" VALUES(1,X'01A21C40ED29149C301C40F2CE4BE578','Golden Bakery',0,1795770346793,X'01000000010D0F8B4D645410B1E4D89DDE65626CF9098290C23356C06CE19CC8898B4E8015CCD5BAEBFD4AEDFDF0E949926FA30F4C8B2BA01DA2E0A1F2E0A63BC8DE66CC4EB681A3CC2D360F5B',NULL);
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
INSERT INTO "delivery" VALUES(1883001687968616965,1,X'01A21C40F002B689909C0D750DF2301D',17,1,1,1,1795770352750,2,8,'{"type":"reversal.completed","timestamp":"2026-11-27T09:05:47.522Z","data":{"id":"stl_01M8E41VBWFG9AHBRB5493XFQN","reference":"golden-1","status":"partially_reversed","version":9,"sandbox":true,"direction":"outgoing","amount":10.50,"amount_minor":"1050","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M8E41VBWFG9AHBRB5493XFQN-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":2.50,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E41V992JE30720YB74QSBR","created_at":"2026-11-27T09:05:46.876Z","updated_at":"2026-11-27T09:05:47.522Z","completed_at":"2026-11-27T09:05:46.929Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":8,"reversal":{"id":"rev_01M8E41VX1F2ZBQA5Q0JZ94P7J","settlement_id":"stl_01M8E41VBWFG9AHBRB5493XFQN","reference":null,"status":"completed","iso_status":"ACSC","amount":2.50,"amount_minor":"250","currency":"EUR","reason":null,"description":null,"rail_reference":"SIM-01M8E41VBWFG9AHBRB5493XFQN-R1","failure":null,"needs_review":false,"created_at":"2026-11-27T09:05:47.425Z","updated_at":"2026-11-27T09:05:47.522Z","completed_at":"2026-11-27T09:05:47.522Z"}}}','{"at":1795770347604,"took_ms":16,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001687968616966,1,X'01A21C40F00222C67F20657A417EF1E7',7,1,1,1,1795770351721,2,9,'{"type":"settlement.partially_reversed","timestamp":"2026-11-27T09:05:47.522Z","data":{"id":"stl_01M8E41VBWFG9AHBRB5493XFQN","reference":"golden-1","status":"partially_reversed","version":9,"sandbox":true,"direction":"outgoing","amount":10.50,"amount_minor":"1050","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M8E41VBWFG9AHBRB5493XFQN-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":2.50,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E41V992JE30720YB74QSBR","created_at":"2026-11-27T09:05:46.876Z","updated_at":"2026-11-27T09:05:47.522Z","completed_at":"2026-11-27T09:05:46.929Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":9,"reversal":{"id":"rev_01M8E41VX1F2ZBQA5Q0JZ94P7J","settlement_id":"stl_01M8E41VBWFG9AHBRB5493XFQN","reference":null,"status":"completed","iso_status":"ACSC","amount":2.50,"amount_minor":"250","currency":"EUR","reason":null,"description":null,"rail_reference":"SIM-01M8E41VBWFG9AHBRB5493XFQN-R1","failure":null,"needs_review":false,"created_at":"2026-11-27T09:05:47.425Z","updated_at":"2026-11-27T09:05:47.522Z","completed_at":"2026-11-27T09:05:47.522Z"}}}','{"at":1795770347621,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001688165749259,1,X'01A21C40F0E0CBDFABF773E7793060D3',1,1,1,1,1795770352110,7,1,'{"type":"settlement.accepted","timestamp":"2026-11-27T09:05:47.744Z","data":{"id":"stl_01M8E41W70J9MPQ0M6GDN00020","reference":"golden-3","status":"accepted","version":1,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":null,"metadata":{},"client_id":"cli_01M8E41V992JE30720YB74QSBR","created_at":"2026-11-27T09:05:47.744Z","updated_at":"2026-11-27T09:05:47.744Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":1}}','{"at":1795770347765,"took_ms":1,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001688177283597,1,X'01A21C40F0E92DAAEE883A5A52794E68',2,1,1,1,1795770352021,7,2,'{"type":"settlement.submitted","timestamp":"2026-11-27T09:05:47.753Z","data":{"id":"stl_01M8E41W70J9MPQ0M6GDN00020","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":null,"metadata":{},"client_id":"cli_01M8E41V992JE30720YB74QSBR","created_at":"2026-11-27T09:05:47.744Z","updated_at":"2026-11-27T09:05:47.753Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":2}}','{"at":1795770347769,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001688177283598,1,X'01A21C40F0E922DC11B82BA970578CD4',12,1,1,1,1795770352282,7,3,'{"type":"attempt.started","timestamp":"2026-11-27T09:05:47.753Z","data":{"id":"stl_01M8E41W70J9MPQ0M6GDN00020","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":null,"metadata":{},"client_id":"cli_01M8E41V992JE30720YB74QSBR","created_at":"2026-11-27T09:05:47.744Z","updated_at":"2026-11-27T09:05:47.753Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":3}}','{"at":1795770347769,"took_ms":0,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001688188817937,1,X'01A21C40F0F74E3D619DC27B6D1E2E73',13,1,1,1,1795770352455,7,4,'{"type":"attempt.answered","timestamp":"2026-11-27T09:05:47.767Z","data":{"id":"stl_01M8E41W70J9MPQ0M6GDN00020","reference":"golden-3","status":"completed","version":5,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":"SIM-01M8E41W70J9MPQ0M6GDN00020-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E41V992JE30720YB74QSBR","created_at":"2026-11-27T09:05:47.744Z","updated_at":"2026-11-27T09:05:47.767Z","completed_at":"2026-11-27T09:05:47.767Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":4}}','{"at":1795770347779,"took_ms":2,"error":"no connection could be made to the host"}');
INSERT INTO "delivery" VALUES(1883001688188817938,1,X'01A21C40F0F7051EFE9CC4A9DC168E17',4,1,1,1,1795770353677,7,5,'{"type":"settlement.completed","timestamp":"2026-11-27T09:05:47.767Z","data":{"id":"stl_01M8E41W70J9MPQ0M6GDN00020","reference":"golden-3","status":"completed","version":5,"sandbox":true,"direction":"outgoing","amount":2.00,"amount_minor":"200","currency":"EUR","from":null,"to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":2.00,"provider":"simulator","rail_reference":"SIM-01M8E41W70J9MPQ0M6GDN00020-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":null,"metadata":{},"client_id":"cli_01M8E41V992JE30720YB74QSBR","created_at":"2026-11-27T09:05:47.744Z","updated_at":"2026-11-27T09:05:47.767Z","completed_at":"2026-11-27T09:05:47.767Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":5}}','{"at":1795770347782,"took_ms":1,"error":"no connection could be made to the host"}');
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
INSERT INTO "endpoint" VALUES(1,X'01A21C40F025313CC0F6B79B61DE5D38',1,1,1,1,'http://127.0.0.1:9/hook',NULL,NULL,1795770347557,1795770347557);
CREATE TABLE endpoint_secret (
    endpoint   INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER, version INTEGER,                           -- when it stops signing; NULL: the newest
    PRIMARY KEY (endpoint, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "endpoint_secret" VALUES(1,1,X'0100000001187FF403D59B69D5D95D738577D2765A3F7E8E7B32557D01AD054E503B883E840AA5E8BC616EE6DA2314B24446EB0DDD938CB1D34A2EB0247542BADE3EAD3E525471560096E783D2',1795770347557,NULL,NULL);
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
INSERT INTO "entry" VALUES(71236,1,1795770346876,100000000,100000000,1,1,12);
INSERT INTO "entry" VALUES(71812,1,1795770346876,1000000,1000000,1,1,4);
INSERT INTO "entry" VALUES(72004,1,1795770346876,100000000,100000000,1,1,6);
INSERT INTO "entry" VALUES(72164,1,1795770346876,1000000000,1000000000,1,1,5);
INSERT INTO "entry" VALUES(74596,1,1795770346876,100000000,100000000,1,1,10);
INSERT INTO "entry" VALUES(78340,1,1795770346876,1000000,1000000,1,1,7);
INSERT INTO "entry" VALUES(78756,1,1795770346876,100000000,100000000,1,1,3);
INSERT INTO "entry" VALUES(78884,1,1795770346876,100000000,100000000,1,1,8);
INSERT INTO "entry" VALUES(78980,1,1795770346876,100000000,100000000,1,1,2);
INSERT INTO "entry" VALUES(80516,1,1795770346876,100000000,100000000,1,1,9);
INSERT INTO "entry" VALUES(80772,1,1795770346876,1000000,1000000,1,1,11);
INSERT INTO "entry" VALUES(81188,1,1795770346876,100000000,100000000,1,1,1);
INSERT INTO "entry" VALUES(81188,2,1795770346929,-1050,99998950,2,2,2);
INSERT INTO "entry" VALUES(81188,3,1795770347096,-1050,99997900,2,3,2);
INSERT INTO "entry" VALUES(81188,4,1795770347321,-500,99997400,2,6,4);
INSERT INTO "entry" VALUES(81188,5,1795770347522,250,99997650,4,2,4);
INSERT INTO "entry" VALUES(81188,6,1795770347767,-200,99997450,2,7,2);
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
INSERT INTO "event" VALUES(131073,1,1795770346876,NULL,1,1,0,NULL,X'862121F57AE101506BF45CD776DA2C73A30A32A16C79D02F0B8C363DA442B91A');
INSERT INTO "event" VALUES(131074,2,1795770346883,1,2,2,0,NULL,X'87B7CCF6DD2AF398F3866808DC04FF7BAC560AD777B1CF5938CCF76A634072BF');
INSERT INTO "event" VALUES(131075,12,1795770346883,NULL,10,2,1,'{"provider":"simulator"}',X'92F952B41FD44DEF2CFDA18917BE5C2E822C3C1B96E26F21417B941C35CD5314');
INSERT INTO "event" VALUES(131076,13,1795770346929,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M8E41VBWFG9AHBRB5493XFQN-1"}',X'31BA23F63C1258B86CBB7466D2E9FD755D4A81446C5E479AD7DB806544B7DFC1');
INSERT INTO "event" VALUES(131077,4,1795770346929,2,4,3,1,NULL,X'4164E85836A2B9CCA8AB7866924EC9B26F43AF6B8FBC6D882107A9C036B9B468');
INSERT INTO "event" VALUES(131078,14,1795770347425,NULL,1,1,1,'{"amount":"2.50","reversal":"rev_01M8E41VX1F2ZBQA5Q0JZ94P7J"}',X'AC3FCE6631CDDCD50BD76F6C45B85AFBE999AD2C7B420DA1705CFBD9317F44A0');
INSERT INTO "event" VALUES(131079,15,1795770347467,1,2,2,1,'{"reversal":"rev_01M8E41VX1F2ZBQA5Q0JZ94P7J"}',X'2E79BA1309DD57676333A31B2F5B856DA02DB382BE3B9F16D4A0FBC7E25C1D97');
INSERT INTO "event" VALUES(131080,17,1795770347522,2,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M8E41VBWFG9AHBRB5493XFQN-R1","reversal":"rev_01M8E41VX1F2ZBQA5Q0JZ94P7J"}',X'506BB321A09D17897E95606B482130B30A964866F1FD56315D69F4D17D6EF0B9');
INSERT INTO "event" VALUES(131081,7,1795770347522,4,5,3,1,'{"reversal":"rev_01M8E41VX1F2ZBQA5Q0JZ94P7J"}',X'FFFD95B63F17769735D97A42A1A93EBBE5549995093434A3B841D71DE49B7E35');
INSERT INTO "event" VALUES(196609,1,1795770347066,NULL,1,1,0,NULL,X'7F0E62FDD2491B7E0102FC69BC2BDF0DE08A263DC66E9B5BF58F4C88E63392CE');
INSERT INTO "event" VALUES(196610,2,1795770347076,1,2,2,0,NULL,X'B0B359FF7C54B0A5227B3311B12485CD29B488BAE646F2F547C31ED63C9C8234');
INSERT INTO "event" VALUES(196611,12,1795770347076,NULL,10,2,1,'{"provider":"simulator"}',X'E96C32CEC39AB29CC0A572613050298BC5758CC1AB5835D093C2A4B28E307547');
INSERT INTO "event" VALUES(196612,13,1795770347096,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M8E41VHT426RD0Z9NYHMB3XY-1"}',X'D0719C6E76235F2F4AE5CFF10F1FFAB352F14D62D8E36854B46E6C0F6D03B25B');
INSERT INTO "event" VALUES(196613,4,1795770347096,2,4,3,1,NULL,X'774297F09693647306B6B1FA23A8FEB6FD873D38D6EE720204E82215A953B747');
INSERT INTO "event" VALUES(262145,1,1795770347127,NULL,1,1,0,NULL,X'D870B0139AAB8364D39E3B4A02B29AC7DD86DEC9E3E142DE88D97148868BFCBA');
INSERT INTO "event" VALUES(262146,2,1795770347130,1,2,2,0,NULL,X'3762E2F8C850B8EE3B18AA38B5C3EA80E166A03EE9FD777866EE374613CF3FB5');
INSERT INTO "event" VALUES(262147,12,1795770347130,NULL,10,2,1,'{"provider":"simulator"}',X'80D2FB984F2A6A007E7566B808E9BE4676C005605262B41CCF0B5643D8FFCE86');
INSERT INTO "event" VALUES(262148,13,1795770347162,10,11,3,1,'{"answer":"declined","code":"over_limit","rail_code":"SIM-AM14"}',X'C8668AC9C5B6F45F436290501C21C154D48634952A9EFBE90F73E5C1CB84DEC9');
INSERT INTO "event" VALUES(262149,5,1795770347162,2,8,3,1,'{"code":"over_limit"}',X'AA9491C83AF28D7F3E70DBB405498DC2A00512A5AD8B57A52010BCE989DB0090');
INSERT INTO "event" VALUES(327681,1,1795770347220,NULL,1,1,0,NULL,X'B14C711B6F9989BD09AA105BE7F9FA1B92D1E5D4AD2295970A2B0AD5D7FF810B');
INSERT INTO "event" VALUES(327682,2,1795770347223,1,2,2,0,NULL,X'51A053B51D7954B93BBB97B52564F0F6A46C0762BF388D6F318F7FC26A204EA3');
INSERT INTO "event" VALUES(327683,12,1795770347223,NULL,10,2,1,'{"provider":"simulator"}',X'033CFA41025B732EB8AE56F7B5647ADF5F1AB6CAA33B61380A295D54C0945082');
INSERT INTO "event" VALUES(327684,13,1795770347226,10,1,3,1,'{"answer":"accepted","rail_reference":"SIM-01M8E41VPMKQ8X3SKGT9M1PC83-1"}',X'440190314CBA6CD0E21D39E950EEF62C84FB909D0122708D860F4B16770EC2FE');
INSERT INTO "event" VALUES(393217,1,1795770347312,NULL,1,1,0,NULL,X'B9EF4E61AF3226FCE7F1986EAE7096D58B95414FDF066C00D61258313A244D08');
INSERT INTO "event" VALUES(393218,2,1795770347315,1,2,2,0,NULL,X'62F152E0050CBC6CCF4EFE28BA07876D034C7189A79AECD41D9CCBBF7E7653F7');
INSERT INTO "event" VALUES(393219,12,1795770347315,NULL,10,2,1,'{"provider":"simulator"}',X'0AFF1796BC03D834215FF843BBDDB14F435BA22D87043E47957432BA27C2D776');
INSERT INTO "event" VALUES(393220,13,1795770347318,10,11,3,1,'{"answer":"declined","code":"over_limit","rail_code":"SIM-AM14"}',X'BE0F8B9CB9A2785E52E9E13AB4C2315F22BAF966A5D75B88FB6257A2C7A9A277');
INSERT INTO "event" VALUES(393221,12,1795770347320,NULL,10,2,2,'{"provider":"simulator-backup"}',X'4092F93D8BB0A7BD098AF50E35165638B071B1D154C1E9DCB3C78FF27A21369D');
INSERT INTO "event" VALUES(393222,13,1795770347321,10,4,3,2,'{"answer":"completed","rail_reference":"SIM-01M8E41VSG6377AQ64HH9E165V-2"}',X'E3D04AA93490AA7B7D1E4FF1989F2F972340465CD0A782C14AAC236B3CB0D449');
INSERT INTO "event" VALUES(393223,4,1795770347321,2,4,3,2,NULL,X'F4C48672E67070AD542EE3486818418252E916A7BD99FFFE114A449C2FB07CA2');
INSERT INTO "event" VALUES(458753,1,1795770347744,NULL,1,1,0,NULL,X'40E883EF5F7A4E0029F1F9AE0F1DA8F67751C6AA5FBBB3B428F7853EC1F766A7');
INSERT INTO "event" VALUES(458754,2,1795770347753,1,2,2,0,NULL,X'146708C0BBF4951894034D5D2A31CE2D0BA2B42611A788A836F7DA702BFEEE49');
INSERT INTO "event" VALUES(458755,12,1795770347753,NULL,10,2,1,'{"provider":"simulator"}',X'8BE26896D71F9EB29EF352A2EAB0B5AD7801EB4109E48219FA4DC5FB5880EA82');
INSERT INTO "event" VALUES(458756,13,1795770347767,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M8E41W70J9MPQ0M6GDN00020-1"}',X'41BFDDB216CC8E84DC4182DF16E8F284A1CBB3F49037D0813C25A091D6D7338E');
INSERT INTO "event" VALUES(458757,4,1795770347767,2,4,3,1,NULL,X'9E1072E1C7488351CA11F023A2CAE02410D7C3E0329D2967CDACD6657C623B93');
CREATE TABLE feed (
    owner      INTEGER NOT NULL,                  -- client << 2 | mode
    position   INTEGER NOT NULL,
    k          INTEGER NOT NULL UNIQUE,           -- the event: settlement << 16 | n
    at         INTEGER NOT NULL,
    leaf       INTEGER NOT NULL,
    PRIMARY KEY (owner, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "feed" VALUES(5,1,131073,1795770346876,0);
INSERT INTO "feed" VALUES(5,2,131074,1795770346883,1);
INSERT INTO "feed" VALUES(5,3,131075,1795770346883,2);
INSERT INTO "feed" VALUES(5,4,131076,1795770346929,3);
INSERT INTO "feed" VALUES(5,5,131077,1795770346929,4);
INSERT INTO "feed" VALUES(5,6,196609,1795770347066,5);
INSERT INTO "feed" VALUES(5,7,196610,1795770347076,6);
INSERT INTO "feed" VALUES(5,8,196611,1795770347076,7);
INSERT INTO "feed" VALUES(5,9,196612,1795770347096,8);
INSERT INTO "feed" VALUES(5,10,196613,1795770347096,9);
INSERT INTO "feed" VALUES(5,11,262145,1795770347127,10);
INSERT INTO "feed" VALUES(5,12,262146,1795770347130,11);
INSERT INTO "feed" VALUES(5,13,262147,1795770347130,12);
INSERT INTO "feed" VALUES(5,14,262148,1795770347162,13);
INSERT INTO "feed" VALUES(5,15,262149,1795770347162,14);
INSERT INTO "feed" VALUES(5,16,327681,1795770347220,15);
INSERT INTO "feed" VALUES(5,17,327682,1795770347223,16);
INSERT INTO "feed" VALUES(5,18,327683,1795770347223,17);
INSERT INTO "feed" VALUES(5,19,327684,1795770347226,18);
INSERT INTO "feed" VALUES(5,20,393217,1795770347312,19);
INSERT INTO "feed" VALUES(5,21,393218,1795770347315,20);
INSERT INTO "feed" VALUES(5,22,393219,1795770347315,21);
INSERT INTO "feed" VALUES(5,23,393220,1795770347318,22);
INSERT INTO "feed" VALUES(5,24,393221,1795770347320,23);
INSERT INTO "feed" VALUES(5,25,393222,1795770347321,24);
INSERT INTO "feed" VALUES(5,26,393223,1795770347321,25);
INSERT INTO "feed" VALUES(5,27,131078,1795770347425,26);
INSERT INTO "feed" VALUES(5,28,131079,1795770347467,27);
INSERT INTO "feed" VALUES(5,29,131080,1795770347522,28);
INSERT INTO "feed" VALUES(5,30,131081,1795770347522,29);
INSERT INTO "feed" VALUES(5,31,458753,1795770347744,30);
INSERT INTO "feed" VALUES(5,32,458754,1795770347753,31);
INSERT INTO "feed" VALUES(5,33,458755,1795770347753,32);
INSERT INTO "feed" VALUES(5,34,458756,1795770347767,33);
INSERT INTO "feed" VALUES(5,35,458757,1795770347767,34);
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
01M8E41VW3X0P61WY7QQEZ0W2F',X'7C9DDFA3C986CB49E5E1EC60C1CA67F48442436ED6423B469790869F6BDB220E',2,1,1795770347425,NULL);
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
INSERT INTO "key" VALUES(1,X'07AF018B3B0C885A49CEB0966EF0393CD0BE741B90CF3CAD96E6245EB73F7840',1,1,1,X'04BE70F54A64A08D13B214D2B88BC42131DF1045CD279826EDCED204C211B221BDAC3CB241A78E3E02D6541256339EEF45F6DD0278771CC159EE7D9AFBDFCAF476',5631,1,NULL,1795770346793,NULL,NULL);
CREATE TABLE log_head (
    events  INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    until INTEGER NOT NULL
, live INTEGER) STRICT;
INSERT INTO "log_head" VALUES(35,-7579907491128082965,0,0);
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
INSERT INTO "meta" VALUES('id_key',X'D30C6FF2D71F904A44783327015ED3EA');
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
INSERT INTO "nonce" VALUES(X'271191AB7C309E48451C1074BE4FFA46C2F141F4D7B50A3866E2262EE1CFA42C',1795770647000);
INSERT INTO "nonce" VALUES(X'C6D86231828002999428ECD1D5B9FB034B278F33CA3A0C0BA6388C60E0AB2810',1795770647000);
INSERT INTO "nonce" VALUES(X'E5E89B0A65071765875493ACC33B3FC5F4F114F9487B83EE9586B411292F3062',1795770647000);
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
INSERT INTO "operator" VALUES(1,X'01A21C40F1462626EFD5DE5E42AB443E','Ada',2,1,X'286592AA73CFD2B74BD6EC876D70AF9693E6185D508B58AF40DBAC1F0D55370C',0,1795770347846,1796375147846,NULL,NULL,NULL);
CREATE TABLE provider (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "provider" VALUES(1,'simulator');
INSERT INTO "provider" VALUES(2,'simulator-backup');
INSERT INTO "provider" VALUES(3,'books');
CREATE TABLE queue (
    endpoint      INTEGER PRIMARY KEY,
    version       INTEGER NOT NULL,
    troubled      INTEGER NOT NULL,
    due           INTEGER,                        -- NULL: nothing waits
    owner         INTEGER NOT NULL,
    added         INTEGER,
    failing_since INTEGER
) STRICT;
INSERT INTO "queue" VALUES(1,13,1,1795770351721,0,NULL,1795770347604);
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
INSERT INTO "reversal" VALUES(131073,1,NULL,4,250,NULL,NULL,3,0,'SIM-01M8E41VBWFG9AHBRB5493XFQN-R1',NULL,1795770347425,1795770347522,1795770347522);
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
INSERT INTO "secret" VALUES(1,1,X'0100000001A1A3108FBF407DABA243A33F7302622726E9944C6D2F377C727E8657DAF8E018999E8816F5ACB38A0511CCB03B751DCD49A88F24A3E06AFDB8DF839B9968265C015AE3AEB87644D7',X'',1795770346529,NULL,NULL);
INSERT INTO "secret" VALUES(2,1,X'0100000001B5B6AC4A5571C91A7156B293555114A8A7180A0D59BC2302F0CA146664A1EF627701732F1ED87DBEB851DE34F49F9470D1EB1CDD8A6015AC2EA3FC4178AB707EA17C6C48E142FC6C',X'042D612F419AEFCA9C1EEDD580E9F7694DA0DB5C5825043CB6299B9C5BA1FDFC2E034EDF68DD18CC734ECEB8C90C4A00A01016DC314934AEF1674BB1673C519992',1795770346530,NULL,NULL);
INSERT INTO "secret" VALUES(3,1,X'0100000001C7E4FC893245566D7A1A2E657343280CF8A8F318462EDDAC606B5815788EFD276281585C1D60271A1F1BA2A5E436569E86AB8AAC5BEBBB92026D2A8ACE4F7D83A0C3D31A345ECE4A',X'9361F51D0349EC1AD670C01CD94987AC85A3DC09737A642EA9B25E1CF73813EC',1795770346530,NULL,NULL);
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
    more         TEXT,                            -- JSON; NULL for most
    UNIQUE (client, reference)
) STRICT;
INSERT INTO "settlement" VALUES(2,1,'golden-1',1,5,9,0,1050,978,'sim:ok',1,0,250,0,1,1,4,1,176399761141,X'FFFD95B63F17769735D97A42A1A93EBBE5549995093434A3B841D71DE49B7E35',1795770346876,1795770347522,1795770346929,NULL,'{"rail_reference":"SIM-01M8E41VBWFG9AHBRB5493XFQN-1"}');
INSERT INTO "settlement" VALUES(3,1,'golden-2',1,4,5,0,1050,978,'sim:ok',1,0,0,0,1,0,2,1,754358521790,X'774297F09693647306B6B1FA23A8FEB6FD873D38D6EE720204E82215A953B747',1795770347066,1795770347096,1795770347096,NULL,'{"rail_reference":"SIM-01M8E41VHT426RD0Z9NYHMB3XY-1"}');
INSERT INTO "settlement" VALUES(4,1,'golden-declined',1,8,5,0,300,404,'sim:decline-over_limit',1,0,0,0,1,0,2,1,464430894823,X'AA9491C83AF28D7F3E70DBB405498DC2A00512A5AD8B57A52010BCE989DB0090',1795770347127,1795770347162,1795770347162,NULL,'{"failure":{"code":"over_limit","rail_code":"SIM-AM14"}}');
INSERT INTO "settlement" VALUES(5,1,'golden-open',1,2,4,0,700,978,'sim:slow-30s',1,0,0,0,1,0,1,1,903689744643,X'440190314CBA6CD0E21D39E950EEF62C84FB909D0122708D860F4B16770EC2FE',1795770347220,1795770347226,NULL,NULL,'{"rail_reference":"SIM-01M8E41VPMKQ8X3SKGT9M1PC83-1"}');
INSERT INTO "settlement" VALUES(6,1,'golden-failover',1,4,7,0,500,978,'sim:failover',2,0,0,0,2,0,4,3,602685872315,X'F4C48672E67070AD542EE3486818418252E916A7BD99FFFE114A449C2FB07CA2',1795770347312,1795770347321,1795770347321,NULL,'{"rail_reference":"SIM-01M8E41VSG6377AQ64HH9E165V-2"}');
INSERT INTO "settlement" VALUES(7,1,'golden-3',1,4,5,0,200,978,'sim:ok',1,0,0,0,1,0,2,1,564419100736,X'9E1072E1C7488351CA11F023A2CAE02410D7C3E0329D2967CDACD6657C623B93',1795770347744,1795770347767,1795770347767,NULL,'{"rail_reference":"SIM-01M8E41W70J9MPQ0M6GDN00020-1"}');
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
INSERT INTO "sim_payment" VALUES(131073,1,1,1795770346909,NULL,NULL);
INSERT INTO "sim_payment" VALUES(163841,1,1,1795770347491,NULL,NULL);
INSERT INTO "sim_payment" VALUES(196609,1,1,1795770347090,NULL,NULL);
INSERT INTO "sim_payment" VALUES(262145,1,1,1795770347149,NULL,NULL);
INSERT INTO "sim_payment" VALUES(327681,1,1,1795770347224,NULL,NULL);
INSERT INTO "sim_payment" VALUES(393217,1,1,1795770347317,NULL,NULL);
INSERT INTO "sim_payment" VALUES(393218,2,1,1795770347321,NULL,NULL);
INSERT INTO "sim_payment" VALUES(458753,1,1,1795770347763,NULL,NULL);
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
INSERT INTO "task" VALUES(1883001692856029680,2,5,1,0,1795770347226,0,1);
INSERT INTO "task" VALUES(1883001719068332527,5,5,1,0,1795770347224,0,1);
CREATE TABLE tile (
    k       INTEGER PRIMARY KEY,                  -- level << 56 | index
    entries BLOB    NOT NULL                      -- at most 256 of 32 bytes
) STRICT;
INSERT INTO "tile" VALUES(0,X'B0B7ADCB2ABA9F6B75B0F0E9C923F2E34FD420367BA73225074AB2D69FA1AE6BE79280889F918E85AAEC6B39BCC9D073E310713238FEE5EF8B5B085EECD44CF7E6BCD316AB247B18756835389C19C3F3B6994EC9F613C36995FB3274C016610BADD4C5203DD8F8A2E8D01897858ABA26BC641E3594A60102A54C762B08C44EAAD1FBA83F66BF9FB1FFD9B587CC66CE715A52021DC83758E9EFEB012BE73FF04DE20A825A2A723AE362546C9537C087F88A1C3BDB4E628C062B92A0F4780A97F8AC00E9BA313DD9A8909F4AB6E0F630053E5AB4E8C5019A03916650A40868D9CC66366845CA444A2485368EA3F0243EA77471CF20DE13B2BC002549547FD81BDF0A6022A59B2291FE513DA4DADF30DFB0B7F5267575C03D2398C0A491EF130287632B2439C85C26558D3331D23AAE8B429F987D3861530DD3911AB2DE681D66FF5A6C73088E3180C690690291354983046D9C78FE544E637A69DED8E5E8AB0C0207818218DEAD966ADD811ADCA63327EDB7B6F0F6A643876D74C701DD31887CB7F2E625961160B253F400C26C7F31093928EC461AB39F511D25D80EBAADFCD33EFA1FFFA57CAA1F5BCCAD1643FABE9EBC250EBA182EF9EF91E8457643B44E6328F8E7AC04C2AD92A388DAD535CD7413C920E56978AF0A794C03B4C8C3332F30BBC3D6FC5C9BFE302DF61DCE57D4DF67009B8626175E96714E57EE4F9E6D7F7A1DDA214D00967BF6EFF0DCE09A0D97089AC330830495DF3A4782242F66F98B84E664A14593A04DBC0A834A7114352BC25C7F4A970476CA6A14C51D9A9E3FDE6E29A066D6AFC7069889AD1E1E58DA99CA589B5546D15E6DE0FB4947A3F8DCBF0F341C29FD798462F92A97CDCB6DD999782006241FB48C7645EC978F520DC3D82D83D37966AD3576BB374494CB99FCEA19159C921DD7629625F99A5C81E45BCC9BE61025A328688541DE3940DE769276F7D38008D297A82C2AC545DEBB9AE665802853D83A78313B715955F9912D0A573F5BAA76BD9EF1669F88B72511C07FC45039AF242B080EF7ACDC165E89E76087A6BC489A4EDCD1545E9A8D8A3F1E95DB23A7E2C6132FCD6829DAB46871A3B0D9E9760AFDB6B901022B1D0AF8187D249DAE347953DD5D4B820B5D8F73B29A684234FDB180F8B31EE63FBBC237F345204530DE68511324580122647267B1A55E72B11FF31526619C73EB41C23EBC2146E6BF5255456AA9512C7FBE5F6D33248045ACA08E5E0B3F08632C926796DF4F48BCED61969739A573C4FE6CED0A28D3A1688AB62C116141859E98AC1625D8DDFD38ED5892B13BAE4CCA52E283ABA14FF59C87E6D13BF0A34396A92FA49D67094234E156F79AE02F76C4C63020C8331FFFE3772010FBF2B3EDC5BEA744EC6E3F9C23798303A3D3DA00156E890AF2B2228FB85E7AC776A7C8D6EEB72D786FF6117CF8B000B6BCE11FBD27CC995F42683AFF339357DA428E77C342EA24121B89D62BF74ED9D563C2C0147C70614BFAD2B288C3B28C8A86780A5904EC04DBE79A9281ABDDF39A04C02FB13B07D2EBC8FB4947C9604067B8528D54A2B8508668C7DC75359BBE');
CREATE TABLE token (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the token's text
    client     INTEGER NOT NULL,
    mode       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
, key    INTEGER NOT NULL DEFAULT 0, scopes INTEGER NOT NULL DEFAULT 0, session BLOB) STRICT, WITHOUT ROWID;
INSERT INTO "token" VALUES(X'791F69856B83BDD48C1C9D9631F2A043A2582ABC8CF7348D2D6BA16BC27C552C',1,1,1795770346793,1795771246793,1,5631,NULL);
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
INSERT INTO "transfer" VALUES(65537,4,1,15654,81188,100000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65538,4,1,13446,78980,100000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65539,4,1,13222,78756,100000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65540,4,1,6278,71812,1000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65541,4,1,6630,72164,1000000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65542,4,1,6470,72004,100000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65543,4,1,12806,78340,1000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65544,4,1,13350,78884,100000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65545,4,1,14982,80516,100000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65546,4,1,9062,74596,100000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65547,4,1,15238,80772,1000000,0,1795770346876);
INSERT INTO "transfer" VALUES(65548,4,1,5702,71236,100000000,0,1795770346876);
INSERT INTO "transfer" VALUES(131073,1,2,81188,81189,1050,0,1795770346876);
INSERT INTO "transfer" VALUES(131074,2,2,81188,81189,1050,1,1795770346929);
INSERT INTO "transfer" VALUES(131075,1,4,81189,81188,250,0,1795770347425);
INSERT INTO "transfer" VALUES(131076,2,4,81189,81188,250,3,1795770347522);
INSERT INTO "transfer" VALUES(196609,1,2,81188,81189,1050,0,1795770347066);
INSERT INTO "transfer" VALUES(196610,2,2,81188,81189,1050,1,1795770347096);
INSERT INTO "transfer" VALUES(262145,1,2,72004,72005,300,0,1795770347127);
INSERT INTO "transfer" VALUES(262146,3,2,72004,72005,300,1,1795770347162);
INSERT INTO "transfer" VALUES(327681,1,2,81188,81189,700,0,1795770347220);
INSERT INTO "transfer" VALUES(393217,1,2,81188,81189,500,0,1795770347312);
INSERT INTO "transfer" VALUES(393218,3,2,81188,81189,500,1,1795770347318);
INSERT INTO "transfer" VALUES(393219,1,2,81188,146725,500,0,1795770347318);
INSERT INTO "transfer" VALUES(393220,2,2,81188,146725,500,3,1795770347321);
INSERT INTO "transfer" VALUES(458753,1,2,81188,81189,200,0,1795770347744);
INSERT INTO "transfer" VALUES(458754,2,2,81188,81189,200,1,1795770347767);
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
COMMIT;
