-- Statements of providers, compared with the settlements.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE reconciliation (
    no              INTEGER PRIMARY KEY,
    provider        INTEGER NOT NULL,
    digest          BLOB    NOT NULL,                -- of the file, SHA-256
    round           INTEGER NOT NULL,                -- how often the same file was compared before
    name            TEXT    NOT NULL,
    format          INTEGER NOT NULL,                -- 1 csv, 2 camt.053, 3 camt.054, 4 gsma
    status          INTEGER NOT NULL,                -- 1 running, 2 done
    made_by         INTEGER NOT NULL,                -- 0: on the store itself
    created_at      INTEGER NOT NULL,
    finished_at     INTEGER,
    owner           INTEGER NOT NULL,                -- the host that makes it
    until           INTEGER NOT NULL,                -- the end of its lease
    period_from     INTEGER,
    period_to       INTEGER,
    lines           INTEGER NOT NULL,
    skipped         INTEGER NOT NULL,
    by_reference    INTEGER NOT NULL,
    by_key          INTEGER NOT NULL,
    by_amount       INTEGER NOT NULL,
    missing_here    INTEGER NOT NULL,
    missing_there   INTEGER NOT NULL,
    amount_differs  INTEGER NOT NULL,
    duplicate_there INTEGER NOT NULL,
    last_settlement INTEGER NOT NULL,
    version         INTEGER,
    UNIQUE (provider, digest, round)
) STRICT;

CREATE INDEX reconciliation_provider ON reconciliation (provider, no);

CREATE TABLE finding (
    run        INTEGER NOT NULL,                     -- the reconciliation
    n          INTEGER NOT NULL,
    kind       INTEGER NOT NULL,                     -- 1 missing here, 2 missing there, 3 amount differs, 4 duplicate there
    settlement INTEGER NOT NULL,                     -- 0 for none
    child      INTEGER NOT NULL,                     -- 0: itself, otherwise its reversal
    matched_by INTEGER,                              -- 1 rail reference, 2 rail key, 3 amount
    confidence INTEGER NOT NULL,                     -- hundredths
    entry      INTEGER NOT NULL,                     -- the identity of the line
    line       TEXT,                                 -- JSON
    PRIMARY KEY (run, n)
) STRICT, WITHOUT ROWID;

CREATE INDEX finding_settlement ON finding (settlement, run, n);

CREATE TABLE matches (
    run   INTEGER NOT NULL,
    n     INTEGER NOT NULL,
    pairs BLOB    NOT NULL,                          -- what was matched, and the identity of the line
    PRIMARY KEY (run, n)
) STRICT;
