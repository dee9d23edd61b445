-- The answer that an idempotency key repeats. Null for a reversal, whose answer is read from the reversal itself.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE idempotency ADD COLUMN answer text;
