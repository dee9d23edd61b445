-- What is agreed with each client, and what its payments of a day add up to.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE setup ADD COLUMN client bigint;           -- the client, if the row is about one

CREATE TABLE usage (
    id    bigint PRIMARY KEY,                         -- client << 30 | currency << 20 | mode << 18 | day
    value bigint NOT NULL,                            -- minor units
    count bigint NOT NULL
);
