-- When the payee has the money at the latest.
ALTER TABLE settlement ADD COLUMN promised_at INTEGER;
