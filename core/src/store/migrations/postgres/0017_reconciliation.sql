-- Statements of providers, compared with the settlements.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE reconciliation (
    no              bigint   PRIMARY KEY,
    provider        smallint NOT NULL,
    round           bigint   NOT NULL,               -- how often the same file was compared before
    made_by         bigint   NOT NULL,               -- 0: on the store itself
    created_at      bigint   NOT NULL,
    finished_at     bigint,
    owner           bigint   NOT NULL,               -- the host that makes it
    until           bigint   NOT NULL,               -- the end of its lease
    period_from     bigint,
    period_to       bigint,
    lines           bigint   NOT NULL,
    skipped         bigint   NOT NULL,
    by_reference    bigint   NOT NULL,
    by_key          bigint   NOT NULL,
    by_amount       bigint   NOT NULL,
    missing_here    bigint   NOT NULL,
    missing_there   bigint   NOT NULL,
    amount_differs  bigint   NOT NULL,
    duplicate_there bigint   NOT NULL,
    last_settlement bigint   NOT NULL,
    version         bigint,
    format          smallint NOT NULL,               -- 1 csv, 2 camt.053, 3 camt.054, 4 gsma
    status          smallint NOT NULL,               -- 1 running, 2 done
    digest          bytea    NOT NULL,               -- of the file, SHA-256
    name            text     COLLATE "C" NOT NULL,
    UNIQUE (provider, digest, round)
);

CREATE INDEX reconciliation_provider ON reconciliation (provider, no);

CREATE TABLE finding (
    run        bigint   NOT NULL,                    -- the reconciliation
    n          bigint   NOT NULL,
    settlement bigint   NOT NULL,                    -- 0 for none
    entry      bigint   NOT NULL,                    -- the identity of the line
    child      integer  NOT NULL,                    -- 0: itself, otherwise its reversal
    confidence integer  NOT NULL,                    -- hundredths
    kind       smallint NOT NULL,                    -- 1 missing here, 2 missing there, 3 amount differs, 4 duplicate there
    matched_by smallint,                             -- 1 rail reference, 2 rail key, 3 amount
    line       text     COLLATE "C",                 -- JSON
    PRIMARY KEY (run, n)
);

CREATE INDEX finding_settlement ON finding (settlement, run, n);

CREATE TABLE matches (
    run   bigint NOT NULL,
    n     bigint NOT NULL,
    pairs bytea  NOT NULL,                           -- what was matched, and the identity of the line
    PRIMARY KEY (run, n)
);
