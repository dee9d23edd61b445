-- The clocks of clients' sandboxes, and the tasks that follow them.
-- This file never changes once released: its hash is kept in every database that it made.

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
CREATE INDEX clock_since ON clock (since);

-- What waits for a time in a sandbox: inquiries (2, 4) and callbacks (5).
ALTER TABLE task ADD COLUMN client INTEGER;
UPDATE task SET client = (SELECT s.client FROM settlement s WHERE s.no = task.settlement AND s.mode = 1)
    WHERE kind IN (2, 4, 5);
CREATE INDEX task_client ON task (client, key) WHERE client IS NOT NULL;

-- Those that wait to be sent and have an end: of all clients, page by page, and of one.
DROP INDEX settlement_expires;
CREATE INDEX settlement_expires ON settlement (status, expires_at, no) WHERE expires_at IS NOT NULL;
CREATE INDEX settlement_ends ON settlement (client, status, expires_at, no) WHERE expires_at IS NOT NULL;
