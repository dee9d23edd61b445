-- A database of schema 0003 as a gateway left it: a webhook with deliveries, payments of which one is reversed in part and one
-- not sent yet, a log with events that are not numbered yet, odd texts (the master key is 32 bytes of 9).
-- It must open for ever; this file never changes.
PRAGMA application_id = 1380401492;
PRAGMA user_version = 3;
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
INSERT INTO "account" VALUES(72164,0,0,0,1000000000);
INSERT INTO "account" VALUES(74596,0,0,0,100000000);
INSERT INTO "account" VALUES(78340,0,0,0,1000000);
INSERT INTO "account" VALUES(78756,0,0,0,100000000);
INSERT INTO "account" VALUES(78884,0,0,0,100000000);
INSERT INTO "account" VALUES(78980,0,0,0,100000000);
INSERT INTO "account" VALUES(80516,0,0,0,100000000);
INSERT INTO "account" VALUES(80772,0,0,0,1000000);
INSERT INTO "account" VALUES(81188,1000,4200,250,100000000);
INSERT INTO "account" VALUES(81189,250,0,1000,4200);
CREATE TABLE attempt (
    k           INTEGER PRIMARY KEY,
    provider    INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    sends       INTEGER NOT NULL,
    started_at  INTEGER NOT NULL,
    answered_at INTEGER
) STRICT;
INSERT INTO "attempt" VALUES(851969,1,4,1,1795257497042,1795257497042);
INSERT INTO "attempt" VALUES(917505,1,4,1,1795257497042,1795257497042);
INSERT INTO "attempt" VALUES(983041,1,4,1,1795257497042,1795257497042);
INSERT INTO "attempt" VALUES(1048577,1,4,1,1795257497042,1795257497042);
CREATE TABLE audit (
    no      INTEGER PRIMARY KEY,                  -- grows, so that inserts append
    at      INTEGER NOT NULL,
    client  INTEGER NOT NULL,                     -- 0: none
    key     INTEGER NOT NULL,                     -- 0: an operator
    action  INTEGER NOT NULL,
    target  INTEGER NOT NULL,                     -- 0: nothing with a number
    name    TEXT,
    refused TEXT                                  -- the code of the refusal; NULL: done
) STRICT;
CREATE TABLE client (
    no         INTEGER PRIMARY KEY,
    id         BLOB    NOT NULL UNIQUE,           -- ULID, 16 bytes, big-endian
    name       TEXT    NOT NULL,
    suspended  INTEGER NOT NULL,
    created_at INTEGER NOT NULL
, webhook_secret BLOB NOT NULL DEFAULT x'') STRICT;
INSERT INTO "client" VALUES(1,X'01A1FDAF75D2452F33333399E3F0E43D','Tester',0,1795257497042,X'010000000166420DA91AE9A3F565D6A32C75B9AFACE68B8980FCE0EADA37B49B887AD1EEAB8A187B18E92FEA659D7A84B510DFC552E509D7434685D66568467E154D41BB20F77C75AF7C4EA352');
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
INSERT INTO "delivery" VALUES(1882463925218554028,1,X'01A1FDAF75D23C7B73D53A28F98C96F6',1,1,1,0,1795257497042,13,1,'{"type":"settlement.accepted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"accepted","version":1,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":1}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554029,1,X'01A1FDAF75D294793DEC8E8C9A864F78',1,1,1,0,1795257497042,14,1,'{"type":"settlement.accepted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"accepted","version":1,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":1}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554030,1,X'01A1FDAF75D2B90B0FE9A5906097590A',1,1,1,0,1795257497042,15,1,'{"type":"settlement.accepted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"accepted","version":1,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":1}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554031,1,X'01A1FDAF75D2C6274FE16F27C1B71A9B',1,1,1,0,1795257497042,16,1,'{"type":"settlement.accepted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"accepted","version":1,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":0,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"RCVD","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":1}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554032,1,X'01A1FDAF75D2CDCFB6F9E4160BEFBDB8',2,1,1,0,1795257497042,13,2,'{"type":"settlement.submitted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":2}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554033,1,X'01A1FDAF75D2AFE5ACF7D8AB6CDD2E7E',12,1,1,0,1795257497042,13,3,'{"type":"attempt.started","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":3}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554034,1,X'01A1FDAF75D2242E5266E41849425984',2,1,1,0,1795257497042,14,2,'{"type":"settlement.submitted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":2}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554035,1,X'01A1FDAF75D2B67618DFC4F8FEC4B1E7',12,1,1,0,1795257497042,14,3,'{"type":"attempt.started","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":3}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554036,1,X'01A1FDAF75D2C00A43078F783A38D829',2,1,1,0,1795257497042,15,2,'{"type":"settlement.submitted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":2}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554037,1,X'01A1FDAF75D223FAC707262846B3C8F2',12,1,1,0,1795257497042,15,3,'{"type":"attempt.started","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":3}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554038,1,X'01A1FDAF75D29BDDC1BDE7F973B16D46',2,1,1,0,1795257497042,16,2,'{"type":"settlement.submitted","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":2}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554039,1,X'01A1FDAF75D25F6039CC886E38259B5B',12,1,1,0,1795257497042,16,3,'{"type":"attempt.started","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"submitted","version":3,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":null,"attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSP","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":null,"expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":3}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554040,1,X'01A1FDAF75D2F34B5B8964042062BE90',13,1,1,0,1795257497042,13,4,'{"type":"attempt.answered","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJSS4KYY4GQNA2P2JX-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":4}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554041,1,X'01A1FDAF75D2AADE95D52B6CC09ED0A5',4,1,1,0,1795257497042,13,5,'{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJSS4KYY4GQNA2P2JX","reference":"golden-0","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJSS4KYY4GQNA2P2JX-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-0","status":"/api/v1/gateway/settlements/golden-0/status","events":"/api/v1/gateway/settlements/golden-0/events","reverse":"/api/v1/gateway/settlements/golden-0/reverse","receipt":"/api/v1/gateway/settlements/golden-0/receipt"},"sequence":5}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554042,1,X'01A1FDAF75D2BE6FC2C8A1EFF97F44D2',13,1,1,0,1795257497042,14,4,'{"type":"attempt.answered","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJ7GZ5FG3WM4PSTNXE-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":4}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554043,1,X'01A1FDAF75D2E15F0576CF99284E57A3',4,1,1,0,1795257497042,14,5,'{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJ7GZ5FG3WM4PSTNXE","reference":"golden-1","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJ7GZ5FG3WM4PSTNXE-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-1","status":"/api/v1/gateway/settlements/golden-1/status","events":"/api/v1/gateway/settlements/golden-1/events","reverse":"/api/v1/gateway/settlements/golden-1/reverse","receipt":"/api/v1/gateway/settlements/golden-1/receipt"},"sequence":5}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554044,1,X'01A1FDAF75D2D947151FC2D1C7DC26C9',13,1,1,0,1795257497042,15,4,'{"type":"attempt.answered","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJDGY979NBY353JRNC-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":4}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554045,1,X'01A1FDAF75D2931FC56FD2481578D0D7',4,1,1,0,1795257497042,15,5,'{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJDGY979NBY353JRNC","reference":"golden-2","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:decline","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJDGY979NBY353JRNC-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-2","status":"/api/v1/gateway/settlements/golden-2/status","events":"/api/v1/gateway/settlements/golden-2/events","reverse":"/api/v1/gateway/settlements/golden-2/reverse","receipt":"/api/v1/gateway/settlements/golden-2/receipt"},"sequence":5}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554046,1,X'01A1FDAF75D275C456929599F920BA22',13,1,1,0,1795257497042,16,4,'{"type":"attempt.answered","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJT97GXRM8ABGBMM36-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":4}}',NULL);
INSERT INTO "delivery" VALUES(1882463925218554047,1,X'01A1FDAF75D2E7C7D740BC2FDA781006',4,1,1,0,1795257497042,16,5,'{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"id":"stl_01M7YTYXEJT97GXRM8ABGBMM36","reference":"golden-3","status":"completed","version":5,"sandbox":true,"amount":10.50,"amount_minor":"1050","currency":"EUR","to":"sim:ok","payee":{"display_name":"Simulated Payee","match":"match"},"fee":0.00,"total_debit":10.50,"provider":"simulator","rail_reference":"SIM-01M7YTYXEJT97GXRM8ABGBMM36-1","attempts":1,"failure":null,"needs_review":false,"reversed_amount":0.00,"reversing_amount":0.00,"iso_status":"ACSC","description":"Bread ü","metadata":{"a":"b"},"client_id":"cli_01M7YTYXEJ8MQK6CSKK7HZ1S1X","created_at":"2026-11-21T10:38:17.042Z","updated_at":"2026-11-21T10:38:17.042Z","completed_at":"2026-11-21T10:38:17.042Z","expires_at":null,"links":{"self":"/api/v1/gateway/settlements/golden-3","status":"/api/v1/gateway/settlements/golden-3/status","events":"/api/v1/gateway/settlements/golden-3/events","reverse":"/api/v1/gateway/settlements/golden-3/reverse","receipt":"/api/v1/gateway/settlements/golden-3/receipt"},"sequence":5}}',NULL);
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
INSERT INTO "endpoint" VALUES(1,X'01A1FDAF75D2F501166B9DF0A6F4D33C',1,1,1,1,'https://example.com/',NULL,'till',1795257497042,1795257497042);
CREATE TABLE endpoint_secret (
    endpoint   INTEGER NOT NULL,
    n          INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    until      INTEGER,                           -- when it stops signing; NULL: the newest
    PRIMARY KEY (endpoint, n)
) STRICT, WITHOUT ROWID;
INSERT INTO "endpoint_secret" VALUES(1,1,X'0100000001EFEA7364FD9636C03A46BCE7BDF4E8AF6BAF9331CA1B0C31E7CBC71A808CAD84FF01C7EDC8B123F24BDDF219D476DE012E8DCD250C637B1788C4F31EE52923CE2B597D0810CAF6B4',1795257497042,NULL);
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
INSERT INTO "event" VALUES(851969,1,1795257497042,NULL,1,1,0,NULL,X'C132B0447B8B983B50B2F4458EECB73A15D9D6F7F2FB41EB1AB61A6D417CEF0B');
INSERT INTO "event" VALUES(851970,2,1795257497042,1,2,2,0,NULL,X'F29417DC26C417F561DBEF8CB627842777C033B7100EE6E013D13002C99C6829');
INSERT INTO "event" VALUES(851971,12,1795257497042,NULL,10,2,1,'{"provider":"simulator"}',X'38D2D27C96B1E0677A6568C3E23B592DE1C768AEF9CDE8B5D5A407D57C786C18');
INSERT INTO "event" VALUES(851972,13,1795257497042,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M7YTYXEJSS4KYY4GQNA2P2JX-1"}',X'16847CA08F8197615D35A2A9AD98E58987E1C34F77AA65E3EAD140403CDC0EF7');
INSERT INTO "event" VALUES(851973,4,1795257497042,2,4,3,1,NULL,X'41E013CA380C277D359C20BAE84C66EE39F83B6FDAE67E23775337C335353F74');
INSERT INTO "event" VALUES(851974,14,1795257497042,NULL,1,1,1,'{"amount":"2.50","reversal":"rev_01M7YTYXEJFEJMWZS16RWH25BP"}',X'50AF18C12355C5629619F253CB7C1C26C6F56ADD41DD8D1D212FEC67D4223DD0');
INSERT INTO "event" VALUES(917505,1,1795257497042,NULL,1,1,0,NULL,X'05C49306E4E793841524256915960F73BCB6E2D2AE05848D0C4214023C9D1A6C');
INSERT INTO "event" VALUES(917506,2,1795257497042,1,2,2,0,NULL,X'9ED47351462F7B393D60ABC9265A17E7EBE7D50A92F833C74733C0EFC2057860');
INSERT INTO "event" VALUES(917507,12,1795257497042,NULL,10,2,1,'{"provider":"simulator"}',X'88E916FCBC9F57FDB8EB5DFA20385CA2069C89DF29D9A0E634EA5BFB54F4C61D');
INSERT INTO "event" VALUES(917508,13,1795257497042,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M7YTYXEJ7GZ5FG3WM4PSTNXE-1"}',X'0FF76223F71151EF287B7F2121DA0CF2143530D9E6AC2153135BC7908B92151C');
INSERT INTO "event" VALUES(917509,4,1795257497042,2,4,3,1,NULL,X'5C28A3C694DC0DA1EB45085724B2BAE51DB2AD6EC286AFE0FE71EFC22C2F2157');
INSERT INTO "event" VALUES(983041,1,1795257497042,NULL,1,1,0,NULL,X'685AA26FCE66B302FCEEBEF07ACA5901BA9DF81FDF3B89AF63EF1CE1906D27E6');
INSERT INTO "event" VALUES(983042,2,1795257497042,1,2,2,0,NULL,X'C911F95FE9B6E31D9AAFD93816B8ECDE0C3D0F3641BAADFA6858ADB3AC5D97AE');
INSERT INTO "event" VALUES(983043,12,1795257497042,NULL,10,2,1,'{"provider":"simulator"}',X'4F7230632A343DE1AC65C524CCC57E27EDCA9B8970E6BAF24CD79E2DC20CBF4D');
INSERT INTO "event" VALUES(983044,13,1795257497042,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M7YTYXEJDGY979NBY353JRNC-1"}',X'9A6F577105F6DC8BDC1774EDA7D0F0AE19DBA493F7B016BEB9F6DF19493A2D55');
INSERT INTO "event" VALUES(983045,4,1795257497042,2,4,3,1,NULL,X'B112B284DD36CB0FB69A187B0D032CAC93875B2AE9E606D5276BB0FD7EB80AA2');
INSERT INTO "event" VALUES(1048577,1,1795257497042,NULL,1,1,0,NULL,X'A7961D0ED985FE1A250F59DE667C47CF7819F70909EDD5DD2611EB5E3337227C');
INSERT INTO "event" VALUES(1048578,2,1795257497042,1,2,2,0,NULL,X'32E45CBDAB4E342ECB5794C640E48DEC5A15DD7E684B7B8F0009AE26CB0CFAAC');
INSERT INTO "event" VALUES(1048579,12,1795257497042,NULL,10,2,1,'{"provider":"simulator"}',X'91342335F280A86632E668C57BF09DE6AB79E9CECA1D7BEB8D05C48A18C30D78');
INSERT INTO "event" VALUES(1048580,13,1795257497042,10,4,3,1,'{"answer":"completed","rail_reference":"SIM-01M7YTYXEJT97GXRM8ABGBMM36-1"}',X'9138E4685BB2380DB8697CF1D7FE086FD8DA2D620A2F2CC09B7F03D6F9D92821');
INSERT INTO "event" VALUES(1048581,4,1795257497042,2,4,3,1,NULL,X'5BE56EFFED5054DEC8C0DE8BA1A5A4F1CFC38178594D3DF79EBA21B697B87F5D');
INSERT INTO "event" VALUES(1114113,1,1795257497042,NULL,1,1,0,NULL,X'8D9AC580D1980F6EBBC3B52EF7B94E577EEAD2322FEE03AF5BF0EEC667D51BBC');
CREATE TABLE feed (
    owner      INTEGER NOT NULL,                  -- client << 2 | mode
    position   INTEGER NOT NULL,
    k          INTEGER NOT NULL UNIQUE,           -- the event: settlement << 16 | n
    at         INTEGER NOT NULL,
    leaf       INTEGER NOT NULL,
    PRIMARY KEY (owner, position)
) STRICT, WITHOUT ROWID;
INSERT INTO "feed" VALUES(5,1,851969,1795257497042,0);
INSERT INTO "feed" VALUES(5,2,917505,1795257497042,1);
INSERT INTO "feed" VALUES(5,3,983041,1795257497042,2);
INSERT INTO "feed" VALUES(5,4,1048577,1795257497042,3);
INSERT INTO "feed" VALUES(5,5,851970,1795257497042,4);
INSERT INTO "feed" VALUES(5,6,851971,1795257497042,5);
INSERT INTO "feed" VALUES(5,7,917506,1795257497042,6);
INSERT INTO "feed" VALUES(5,8,917507,1795257497042,7);
INSERT INTO "feed" VALUES(5,9,983042,1795257497042,8);
INSERT INTO "feed" VALUES(5,10,983043,1795257497042,9);
INSERT INTO "feed" VALUES(5,11,1048578,1795257497042,10);
INSERT INTO "feed" VALUES(5,12,1048579,1795257497042,11);
INSERT INTO "feed" VALUES(5,13,851972,1795257497042,12);
INSERT INTO "feed" VALUES(5,14,851973,1795257497042,13);
INSERT INTO "feed" VALUES(5,15,917508,1795257497042,14);
INSERT INTO "feed" VALUES(5,16,917509,1795257497042,15);
INSERT INTO "feed" VALUES(5,17,983044,1795257497042,16);
INSERT INTO "feed" VALUES(5,18,983045,1795257497042,17);
INSERT INTO "feed" VALUES(5,19,1048580,1795257497042,18);
INSERT INTO "feed" VALUES(5,20,1048581,1795257497042,19);
CREATE TABLE idempotency (
    client      INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL,
    settlement  INTEGER NOT NULL,
    reversal    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "idempotency" VALUES(1,'key ',X'0303030303030303030303030303030303030303030303030303030303030303',1,0,1795257497042);
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
) STRICT;
CREATE TABLE log_head (
    size  INTEGER PRIMARY KEY,
    owner INTEGER NOT NULL,
    until INTEGER NOT NULL
) STRICT;
INSERT INTO "log_head" VALUES(20,7071056692253012125,1795257502042);
CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('id_key',X'1FA1B691B366D4BC89CBEA750586A897');
INSERT INTO "meta" VALUES('odd ',X'00FF');
INSERT INTO "meta" VALUES('webhook_secret_used/1',X'');
CREATE TABLE migration (no INTEGER PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL) STRICT;
INSERT INTO "migration" VALUES(1,'0001_initial',X'ED88626D288400D32BE9D15867048F7A109E16E2650891F110539AFB91BDE5C1');
INSERT INTO "migration" VALUES(2,'0002_authentication',X'CE38E4A675D17E06040CFDBF283CA59E1F824EA07CD1EEF626F96D89601015A3');
INSERT INTO "migration" VALUES(3,'0003_log_and_webhooks',X'118FF9BF187F1ADE4A6CA21EE6338C4CA82C9ED0A14859CD25E7420CE9C1BDA3');
CREATE TABLE nonce (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the nonce's text
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "nonce" VALUES(X'0909090909090909090909090909090909090909090909090909090909090909',9223372036854775806);
CREATE TABLE provider (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "provider" VALUES(1,'simulator');
INSERT INTO "provider" VALUES(2,'simulator-backup');
CREATE TABLE queue (
    endpoint      INTEGER PRIMARY KEY,
    version       INTEGER NOT NULL,
    troubled      INTEGER NOT NULL,
    due           INTEGER,                        -- NULL: nothing waits
    owner         INTEGER NOT NULL,
    added         INTEGER,
    failing_since INTEGER
) STRICT;
INSERT INTO "queue" VALUES(1,2,0,1795257497042,0,NULL,NULL);
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
INSERT INTO "reversal" VALUES(851969,1,'back',1,250,NULL,NULL,3,0,NULL,NULL,1795257497042,1795257497042,NULL);
CREATE TABLE secret (
    kind       INTEGER NOT NULL,
    no         INTEGER NOT NULL,
    sealed     BLOB    NOT NULL,
    public     BLOB    NOT NULL,                  -- SEC 1 uncompressed; empty: none
    created_at INTEGER NOT NULL,
    retired_at INTEGER,
    PRIMARY KEY (kind, no)
) STRICT, WITHOUT ROWID;
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
INSERT INTO "settlement" VALUES(13,1,'golden-0',1,4,6,0,1050,978,'sim:ok',1,0,0,250,1,1,3,1,813160925789,X'50AF18C12355C5629619F253CB7C1C26C6F56ADD41DD8D1D212FEC67D4223DD0',1795257497042,1795257497042,1795257497042,NULL,'{"description":"Bread ü","metadata":{"a":"b"},"rail_reference":"SIM-01M7YTYXEJSS4KYY4GQNA2P2JX-1"}');
INSERT INTO "settlement" VALUES(14,1,'golden-1',1,4,5,0,1050,978,'sim:ok',1,0,0,0,1,0,2,1,692255020974,X'5C28A3C694DC0DA1EB45085724B2BAE51DB2AD6EC286AFE0FE71EFC22C2F2157',1795257497042,1795257497042,1795257497042,NULL,'{"description":"Bread ü","metadata":{"a":"b"},"rail_reference":"SIM-01M7YTYXEJ7GZ5FG3WM4PSTNXE-1"}');
INSERT INTO "settlement" VALUES(15,1,'golden-2',1,4,5,0,1050,978,'sim:decline',1,0,0,0,1,0,2,1,1034184909484,X'B112B284DD36CB0FB69A187B0D032CAC93875B2AE9E606D5276BB0FD7EB80AA2',1795257497042,1795257497042,1795257497042,NULL,'{"description":"Bread ü","metadata":{"a":"b"},"rail_reference":"SIM-01M7YTYXEJDGY979NBY353JRNC-1"}');
INSERT INTO "settlement" VALUES(16,1,'golden-3',1,4,5,0,1050,978,'sim:ok',1,0,0,0,1,0,2,1,355957624934,X'5BE56EFFED5054DEC8C0DE8BA1A5A4F1CFC38178594D3DF79EBA21B697B87F5D',1795257497042,1795257497042,1795257497042,NULL,'{"description":"Bread ü","metadata":{"a":"b"},"rail_reference":"SIM-01M7YTYXEJT97GXRM8ABGBMM36-1"}');
INSERT INTO "settlement" VALUES(17,1,'golden-late',1,1,1,0,1000,978,'sim:ok',1,0,0,0,0,0,1,1,134303648726,X'8D9AC580D1980F6EBBC3B52EF7B94E577EEAD2322FEE03AF5BF0EEC667D51BBC',1795257497042,1795257497042,NULL,NULL,NULL);
CREATE TABLE sim_payment (
    k           INTEGER PRIMARY KEY,
    provider    INTEGER NOT NULL,
    received    INTEGER NOT NULL,
    received_at INTEGER NOT NULL
) STRICT;
INSERT INTO "sim_payment" VALUES(851969,1,1,1795257497042);
INSERT INTO "sim_payment" VALUES(917505,1,1,1795257497042);
INSERT INTO "sim_payment" VALUES(983041,1,1,1795257497042);
INSERT INTO "sim_payment" VALUES(1048577,1,1,1795257497042);
CREATE TABLE task (
    key        INTEGER PRIMARY KEY,               -- due << 20 | a number that makes it unique
    kind       INTEGER NOT NULL,
    settlement INTEGER NOT NULL,
    child      INTEGER NOT NULL,
    tries      INTEGER NOT NULL,
    since      INTEGER NOT NULL,
    owner      INTEGER NOT NULL
) STRICT;
INSERT INTO "task" VALUES(1882463925218554048,3,13,1,0,1795257497042,0);
INSERT INTO "task" VALUES(1882463925218554050,1,17,1,0,1795257497042,0);
CREATE TABLE tile (
    k       INTEGER PRIMARY KEY,                  -- level << 56 | index
    entries BLOB    NOT NULL                      -- at most 256 of 32 bytes
) STRICT;
INSERT INTO "tile" VALUES(0,X'300047553E5177A3DB4E22BB3B0E8B414E6CDD3D786B4A39A68C87A76E89AD63F852539211B6057DEAECA03AAB8F01E835CC8C08FB43145D495CAD196FA9F78F3856213A08392129170B8E2B38AC53BC3E38599462F6733F1CC71BAE38D6FA75CDAE4B29460C85297E67DD5C62EC3FDD180838D53628F50FF8C5B3DE22D17D7DD0B20EDAB0982FBA1E9468930F110EDCF1C3016A11607BBEE1BCA93BF6DE4E04D2974E37FD3ABC1656D7156D06CDA255F085072975AC6EB3D2EC6D9255275E6D372A81371AB8A9702A3B63EF39F916A5E23DCA5B9C203BBE0C7D3793D9F7138F0C0C84341ED593117635F9108D4A9A4F301DA65F8CAF6B01FFDD72D3D36877F8092322DAD18E9D4C3794208F2E25E29CA0207AFBD2E943783D2AC785D5C11E1ECFEBB0DD4D11933B84AC19C6AD594881BE5C95D2CBDC1278859015B89992843D277CE971B4AA20B0D8C740A186180CC77EE9C97C03A3FE4A29676F7A5EC81D5AC570F97ABBDBD293F969D79D417F866A38C9B858A07D721A34A0EAFE4776A4D77F31E21110AABE2992AE01AA446D1F917B86691D65294A70E6EA6F630D79BD8CA991014DA88C452D6012524B7BD0A781AD841A4C423EA9F4986A66D8580C511CFE5DE322A84F6267A0CDCBB4830C4650BB33DDCC90B660A4BD48E2815F78EDE2EB5A89D5F479AF11213703C010D6B072838C5F16105E6BB8384E6D4EFA59E5F38E95688A75379831BD6CA73AE3CF19EF653683CA1B91F5A55DE083B1E176700679A48235C53153D33074BAB389BB8D50DE5403115368DF21C6C286038D51BC447D3EDBC9E1B5B6355921CA55CFC28A12D6CE37B9C57E19AEA19D77281A971A882AD6F9CAACDC30FE9C87AD749EF83816CE882761911ADEB216ED435FAA300CA0');
CREATE TABLE token (
    hash       BLOB    NOT NULL PRIMARY KEY,      -- SHA-256 of the token's text
    client     INTEGER NOT NULL,
    mode       INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
, key    INTEGER NOT NULL DEFAULT 0, scopes INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
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
INSERT INTO "transfer" VALUES(65537,4,1,15654,81188,100000000,0,1795257497042);
INSERT INTO "transfer" VALUES(131073,4,1,13446,78980,100000000,0,1795257497042);
INSERT INTO "transfer" VALUES(196609,4,1,13222,78756,100000000,0,1795257497042);
INSERT INTO "transfer" VALUES(262145,4,1,6278,71812,1000000,0,1795257497042);
INSERT INTO "transfer" VALUES(327681,4,1,6630,72164,1000000000,0,1795257497042);
INSERT INTO "transfer" VALUES(393217,4,1,6470,72004,100000000,0,1795257497042);
INSERT INTO "transfer" VALUES(458753,4,1,12806,78340,1000000,0,1795257497042);
INSERT INTO "transfer" VALUES(524289,4,1,13350,78884,100000000,0,1795257497042);
INSERT INTO "transfer" VALUES(589825,4,1,14982,80516,100000000,0,1795257497042);
INSERT INTO "transfer" VALUES(655361,4,1,9062,74596,100000000,0,1795257497042);
INSERT INTO "transfer" VALUES(720897,4,1,15238,80772,1000000,0,1795257497042);
INSERT INTO "transfer" VALUES(786433,4,1,5702,71236,100000000,0,1795257497042);
INSERT INTO "transfer" VALUES(851969,1,2,81188,81189,1050,0,1795257497042);
INSERT INTO "transfer" VALUES(851970,2,2,81188,81189,1050,1,1795257497042);
INSERT INTO "transfer" VALUES(851971,1,4,81189,81188,250,0,1795257497042);
INSERT INTO "transfer" VALUES(917505,1,2,81188,81189,1050,0,1795257497042);
INSERT INTO "transfer" VALUES(917506,2,2,81188,81189,1050,1,1795257497042);
INSERT INTO "transfer" VALUES(983041,1,2,81188,81189,1050,0,1795257497042);
INSERT INTO "transfer" VALUES(983042,2,2,81188,81189,1050,1,1795257497042);
INSERT INTO "transfer" VALUES(1048577,1,2,81188,81189,1050,0,1795257497042);
INSERT INTO "transfer" VALUES(1048578,2,2,81188,81189,1050,1,1795257497042);
INSERT INTO "transfer" VALUES(1114113,1,2,81188,81189,1000,0,1795257497042);
CREATE TABLE unlogged (
    no      INTEGER PRIMARY KEY,                  -- grows, so that inserts append
    changes BLOB    NOT NULL                      -- numbers in LEB128, hashes as they are
) STRICT;
INSERT INTO "unlogged" VALUES(1882463925218554049,X'011A01010406000100F40301A4D7FBDABF6801A4D7FBDABF68012053494D2D30314D3759545958454A5353344B59593447514E413250324A582D3100010EA4D7FBDABF6850AF18C12355C5629619F253CB7C1C26C6F56ADD41DD8D1D212FEC67D4223DD0');
INSERT INTO "unlogged" VALUES(1882463925218554051,X'0122010101010001000000A4D7FBDABF680000000101A4D7FBDABF688D9AC580D1980F6EBBC3B52EF7B94E577EEAD2322FEE03AF5BF0EEC667D51BBC');
CREATE INDEX token_expires ON token (expires_at);
CREATE INDEX settlement_client ON settlement (client);
CREATE INDEX settlement_review ON settlement (client) WHERE needs_review = 1;
CREATE UNIQUE INDEX reversal_reference ON reversal (client, reference) WHERE reference IS NOT NULL;
CREATE INDEX idempotency_age ON idempotency (created_at);
CREATE INDEX key_client ON key (client);
CREATE INDEX nonce_expires ON nonce (expires_at);
CREATE INDEX endpoint_client ON endpoint (client, mode) WHERE status <> 5;
CREATE INDEX queue_due ON queue (troubled, due) WHERE due IS NOT NULL;
CREATE INDEX delivery_list ON delivery (endpoint, status);
CREATE INDEX delivery_due ON delivery (endpoint, due) WHERE due IS NOT NULL;
-- U+0000, which a dump cuts off.
UPDATE meta SET name = 'odd ' || char(0) WHERE name = 'odd ';
UPDATE idempotency SET key = 'key ' || char(0, 1) || ' ü' WHERE key = 'key ';
COMMIT;
