CREATE TABLE outbox (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- Under whose name the entries are sent. A reference means nothing under another.
    owner TEXT NOT NULL,
    -- The number of the latest change.
    change INTEGER NOT NULL
) STRICT;

CREATE TABLE entry (
    no INTEGER PRIMARY KEY,
    reference TEXT NOT NULL UNIQUE,
    body TEXT NOT NULL,
    state INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    -- Of the latest try: 1 create, 2 ask.
    kind INTEGER NOT NULL DEFAULT 1,
    -- A try has no answer: it may have been carried out, or may yet be.
    doubtful INTEGER NOT NULL DEFAULT 0,
    -- When the gateway answered first after that, by its own clock: milliseconds since 1970.
    told_at INTEGER,
    -- A try was refused while there was a doubt: from then on the gateway is asked, not told.
    refused INTEGER NOT NULL DEFAULT 0,
    -- Null while a try is under way, and when nothing is left to do.
    next_at INTEGER,
    problem TEXT,
    settlement TEXT,
    version INTEGER NOT NULL DEFAULT 0,
    looks INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    change INTEGER NOT NULL
) STRICT;

CREATE INDEX entry_next ON entry (next_at, no) WHERE next_at IS NOT NULL;
CREATE INDEX entry_change ON entry (change);
