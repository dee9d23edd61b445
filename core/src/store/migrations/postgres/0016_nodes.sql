-- The servers that run over the database.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE node (
    no         bigint PRIMARY KEY,
    host       text   NOT NULL,
    address    text,
    version    text   NOT NULL,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL                        -- not indexed: it changes all the time, and there are few rows
);
