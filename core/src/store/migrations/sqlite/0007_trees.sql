-- The log has a tree for each mode. What it had so far is the sandbox's tree, and stays as it is. `live` is how many of the events
-- are in the live tree; NULL: all are in one tree. The key of a live tile is that of a sandbox tile with bit 62 set.
-- `size` gets a new name so that an older server beside newer ones numbers nothing: it knows one tree only.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE log_head RENAME COLUMN size TO events;
ALTER TABLE log_head ADD COLUMN live INTEGER;
DELETE FROM meta WHERE name = 'log_live';
