-- The servers that run over the database.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE node (
    no         INTEGER PRIMARY KEY,
    host       TEXT    NOT NULL,
    address    TEXT,
    version    TEXT    NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL
) STRICT;
