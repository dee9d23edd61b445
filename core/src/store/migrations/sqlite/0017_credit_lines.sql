-- A change of a client's credit is a movement of kind 3, which moves no money. A program of before can read neither it nor its event, and
-- must not open a database that may have some.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE movement ADD COLUMN previous INTEGER;        -- the credit before
ALTER TABLE movement ADD COLUMN terms INTEGER;           -- the revision in setup that has the credit
