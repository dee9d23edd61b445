-- A client's list is in the order of creation, so that one index serves the list, its pages and its filter by time.
-- This file never changes once released: its hash is kept in every database that it made.

DROP INDEX settlement_client;
DROP INDEX settlement_review;
CREATE INDEX settlement_created ON settlement (client, created_at, no);
CREATE INDEX settlement_review ON settlement (client, created_at, no) WHERE needs_review;
