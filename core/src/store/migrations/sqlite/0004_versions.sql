-- The versions of records that several processes change. NULL counts as 0: no change since rows have versions.

ALTER TABLE client ADD COLUMN version INTEGER;
ALTER TABLE key ADD COLUMN version INTEGER;
ALTER TABLE secret ADD COLUMN version INTEGER;
ALTER TABLE endpoint_secret ADD COLUMN version INTEGER;
