CREATE TABLE outbox (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    -- On whose behalf the entries are sent. A reference has no meaning for another owner.
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
    -- The kind of the latest try: 1 create, 2 ask.
    kind INTEGER NOT NULL DEFAULT 1,
    -- A try has no response: it may have been carried out, or may still be.
    doubtful INTEGER NOT NULL DEFAULT 0,
    -- When the gateway first answered after that, by its own clock: milliseconds since 1970.
    told_at INTEGER,
    -- A try was refused while in doubt: from then on, ask the gateway instead of sending.
    refused INTEGER NOT NULL DEFAULT 0,
    -- Null while a try is in flight, and when nothing is left to do.
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
