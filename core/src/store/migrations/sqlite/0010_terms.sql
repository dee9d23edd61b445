-- What is agreed with each client, and what its payments of a day add up to.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE setup ADD COLUMN client INTEGER;      -- the client, if the row is about one

CREATE TABLE usage (
    id    INTEGER PRIMARY KEY,                    -- client << 30 | currency << 20 | mode << 18 | day
    value INTEGER NOT NULL,                       -- minor units
    count INTEGER NOT NULL
) STRICT;
