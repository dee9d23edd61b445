-- Sessions: a token may have a key of its own, with which its owner signs instead of the key that took it.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE token ADD COLUMN session bytea;          -- its key, sealed
ALTER TABLE audit ADD COLUMN signed_by smallint;    -- 1 key, 2 session
