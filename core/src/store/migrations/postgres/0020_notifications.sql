-- Notifications of end users, and subscriptions to push.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE endpoint ADD COLUMN push text COLLATE "C";  -- JSON: what makes it a push subscription

CREATE TABLE notification (
    n          bigint   NOT NULL,                 -- when it was told << 20 | a number that makes it unique
    settlement bigint   NOT NULL,                 -- 0: none
    at         bigint   NOT NULL,
    read_at    bigint,
    app_user   bigint   NOT NULL,
    kind       smallint NOT NULL,
    unread     boolean  NOT NULL,
    facts      text     COLLATE "C" NOT NULL,     -- JSON
    PRIMARY KEY (app_user, n)
);

CREATE INDEX notification_unread ON notification (app_user, n) WHERE unread;
CREATE INDEX notification_at ON notification (at);
