-- A phone's outbox of layout 1 with an entry in each state, as the client wrote it.
-- It must open for ever; this file never changes.
PRAGMA application_id = 1919381346;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE entry (
    no INTEGER PRIMARY KEY,
    reference TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL,
    state INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    -- The kind of the latest try: 1 create, 2 ask.
    kind INTEGER NOT NULL DEFAULT 1,
    -- A try has no response: it may have been carried out, or may still be.
    doubtful INTEGER NOT NULL DEFAULT 0,
    -- When the gateway first answered after that, by its own clock: milliseconds since 1970.
    told_at INTEGER,
    -- A try was refused while in doubt: from then on, ask the gateway instead of sending.
    refused INTEGER NOT NULL DEFAULT 0,
    -- Null while a try is in flight, and when nothing is left to do.
    next_at INTEGER,
    problem TEXT,
    settlement TEXT,
    version INTEGER NOT NULL DEFAULT 0,
    looks INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    change INTEGER NOT NULL
) STRICT;
INSERT INTO "entry" VALUES(1,'delivered','{"amount":"10","currency":"EUR","to":"sim:ok","reference":"delivered","expires_at":"2030-01-01T00:00:00Z"}',4,1,1,0,NULL,0,NULL,NULL,'{"id":"stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB","reference":"delivered","version":5,"status":"completed","amount_minor":"1000","currency":"EUR","to":"sim:ok","description":null,"metadata":{}}',5,0,1763733601000,1763733601000,3);
INSERT INTO "entry" VALUES(4,'refused','{"amount":"10","currency":"EUR","to":"sim:ok","reference":"refused","expires_at":"2030-01-01T00:00:00Z"}',5,1,1,0,NULL,1,NULL,'{"code":"insufficient_funds","title":"The account does not hold enough"}',NULL,0,0,1763733602000,1763733602000,6);
INSERT INTO "entry" VALUES(7,'unknown','{"amount":"10","currency":"EUR","to":"sim:ok","reference":"unknown","expires_at":"2030-01-01T00:00:00Z"}',3,1,1,1,NULL,0,1763733604106,'{"code":"no_answer"}',NULL,0,0,1763733603000,1763733603000,9);
INSERT INTO "entry" VALUES(10,'sending','{"amount":"10","currency":"EUR","to":"sim:ok","reference":"sending","expires_at":"2030-01-01T00:00:00Z"}',2,1,1,0,NULL,0,NULL,NULL,NULL,0,0,1763733604000,1763733604000,11);
INSERT INTO "entry" VALUES(12,'withdrawn','{"amount":"10","currency":"EUR","to":"sim:ok","reference":"withdrawn","expires_at":"2030-01-01T00:00:00Z"}',6,0,1,0,NULL,0,NULL,NULL,NULL,0,0,1763733604001,1763733604002,13);
INSERT INTO "entry" VALUES(14,'queued','{"amount":"10","currency":"EUR","to":"sim:ok","reference":"queued","expires_at":"2030-01-01T00:00:00Z"}',1,0,1,0,NULL,0,1763733604003,NULL,NULL,0,0,1763733604003,1763733604003,14);
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- On whose behalf the entries are sent. A reference has no meaning for another owner.
    owner TEXT NOT NULL,
    -- The number of the latest change.
    change INTEGER NOT NULL
) STRICT;
INSERT INTO "outbox" VALUES(1,'https://pay.example sandbox cli_1',14);
CREATE INDEX entry_next ON entry (next_at, no) WHERE next_at IS NOT NULL;
CREATE INDEX entry_change ON entry (change);
COMMIT;
