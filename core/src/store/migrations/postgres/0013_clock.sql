-- The clocks of clients' sandboxes, and the tasks that follow them.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE clock (
    client     bigint PRIMARY KEY,
    ahead      bigint NOT NULL,
    stands_at  bigint,                            -- NULL while it runs
    goal       bigint,                            -- NULL if it is not on its way
    stays      boolean NOT NULL,
    stops      bigint NOT NULL,
    stopped_at bigint NOT NULL,
    alarm      bigint,                            -- the key of a task; NULL for none
    since      bigint NOT NULL,
    version    bigint
);
CREATE INDEX clock_since ON clock (since);

-- What waits for a time in a sandbox: inquiries (2, 4) and callbacks (5).
ALTER TABLE task ADD COLUMN client bigint;
UPDATE task SET client = (SELECT s.client FROM settlement s WHERE s.no = task.settlement AND s.mode = 1)
    WHERE kind IN (2, 4, 5);
CREATE INDEX task_client ON task (client, key) WHERE client IS NOT NULL;

-- Those that wait to be sent and have an end: of all clients, page by page, and of one.
DROP INDEX settlement_expires;
CREATE INDEX settlement_expires ON settlement (status, expires_at, no) WHERE expires_at IS NOT NULL;
CREATE INDEX settlement_ends ON settlement (client, status, expires_at, no) WHERE expires_at IS NOT NULL;
