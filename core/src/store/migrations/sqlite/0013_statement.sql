-- The statements of clients: each posted transfer as a line with the balance after it.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE unbooked (
    no    INTEGER PRIMARY KEY,
    lines BLOB    NOT NULL
) STRICT;

CREATE TABLE entry (
    account  INTEGER NOT NULL,
    n        INTEGER NOT NULL,                    -- from 1; 0 for the balance brought forward
    at       INTEGER NOT NULL,
    amount   INTEGER NOT NULL,                    -- minor units
    balance  INTEGER NOT NULL,                    -- after it
    code     INTEGER,                             -- of the transfer
    journal  INTEGER NOT NULL,
    transfer INTEGER NOT NULL,
    PRIMARY KEY (account, n)
) STRICT, WITHOUT ROWID;

-- What clients have from before there were statements.
INSERT INTO entry (account, n, at, amount, balance, code, journal, transfer)
SELECT id, 0, CAST(strftime('%s', 'now') AS INTEGER) * 1000, 0, credits_posted - debits_posted, NULL, 0, 0
FROM account WHERE id & 3 = 0;
