-- What devices measure: sketches of many values by the hour, later by the day, and which points were reported.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE quality (
    owner       bigint   NOT NULL,                -- client and mode
    begins_at   bigint   NOT NULL,
    points      bigint   NOT NULL,
    failures    bigint   NOT NULL,
    version     bigint,
    provider    integer  NOT NULL,                -- 0 without a settlement
    unit        smallint NOT NULL,                -- 1 ms, 2 s, 3 count, 4 bytes, 5 percent
    network     smallint NOT NULL,                -- 1 wifi, 2 cellular, 3 ethernet, 4 offline, 5 unknown
    is_day      boolean  NOT NULL,                -- an hour otherwise
    metric      text     COLLATE "C" NOT NULL,
    app_version text     COLLATE "C" NOT NULL,    -- empty if the app did not say
    os          text     COLLATE "C" NOT NULL,    -- empty if the app did not say
    devices     bytea    NOT NULL,                -- up to four numbers of keys, or one byte for more
    sketch      bytea    NOT NULL,                -- of the values, in thousandths
    PRIMARY KEY (owner, metric, begins_at, unit, app_version, os, network, provider)
);

CREATE INDEX quality_begins ON quality (is_day, begins_at);

CREATE TABLE quality_seen (
    day     bigint NOT NULL,                      -- from 1970-01-01
    device  bigint NOT NULL,                      -- the number of its key
    version bigint,
    ids     bytea  NOT NULL,                      -- eight bytes of the hash of each, in order
    PRIMARY KEY (day, device)
);
