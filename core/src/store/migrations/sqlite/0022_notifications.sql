-- Notifications of end users, and subscriptions to push.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE endpoint ADD COLUMN push TEXT;        -- JSON: what makes it a push subscription

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

CREATE INDEX notification_unread ON notification (app_user, n) WHERE unread = 1;
CREATE INDEX notification_at ON notification (at);
