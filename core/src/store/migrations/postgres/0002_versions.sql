-- The versions of records that several servers change. NULL counts as 0: no change since rows have versions. An older server may run
-- beside newer ones: it leaves the versions as they are.

ALTER TABLE client ADD COLUMN version bigint;
ALTER TABLE key ADD COLUMN version bigint;
ALTER TABLE secret ADD COLUMN version bigint;
ALTER TABLE endpoint_secret ADD COLUMN version bigint;
