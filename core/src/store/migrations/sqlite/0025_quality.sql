-- What devices measure: sketches of many values by the hour, later by the day, and which points were reported.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE quality (
    owner       INTEGER NOT NULL,                 -- client and mode
    metric      TEXT    NOT NULL,
    begins_at   INTEGER NOT NULL,
    unit        INTEGER NOT NULL,                 -- 1 ms, 2 s, 3 count, 4 bytes, 5 percent
    app_version TEXT    NOT NULL,                 -- empty if the app did not say
    os          TEXT    NOT NULL,                 -- empty if the app did not say
    network     INTEGER NOT NULL,                 -- 1 wifi, 2 cellular, 3 ethernet, 4 offline, 5 unknown
    provider    INTEGER NOT NULL,                 -- 0 without a settlement
    is_day      INTEGER NOT NULL,                 -- 0 an hour, 1 a day
    points      INTEGER NOT NULL,
    failures    INTEGER NOT NULL,
    devices     BLOB    NOT NULL,                 -- up to four numbers of keys, or one byte for more
    sketch      BLOB    NOT NULL,                 -- of the values, in thousandths
    version     INTEGER,
    PRIMARY KEY (owner, metric, begins_at, unit, app_version, os, network, provider)
) STRICT;

CREATE INDEX quality_begins ON quality (is_day, begins_at);

CREATE TABLE quality_seen (
    day     INTEGER NOT NULL,                     -- from 1970-01-01
    device  INTEGER NOT NULL,                     -- the number of its key
    ids     BLOB    NOT NULL,                     -- eight bytes of the hash of each, in order
    version INTEGER,
    PRIMARY KEY (day, device)
) STRICT;
