-- The statements of clients: each posted transfer as a line with the balance after it.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE unbooked (
    no    bigint PRIMARY KEY,
    lines bytea  NOT NULL
);

CREATE TABLE entry (
    account  bigint   NOT NULL,
    n        bigint   NOT NULL,                       -- from 1; 0 for the balance brought forward
    at       bigint   NOT NULL,
    amount   bigint   NOT NULL,                       -- minor units
    balance  bigint   NOT NULL,                       -- after it
    journal  bigint   NOT NULL,
    code     smallint,                                -- of the transfer
    transfer integer  NOT NULL,
    PRIMARY KEY (account, n)
);

-- What clients have from before there were statements. No older server may post meanwhile.
LOCK TABLE account IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO entry (account, n, at, amount, balance, code, journal, transfer)
SELECT id, 0, (extract(epoch FROM now()) * 1000)::bigint, 0, credits_posted - debits_posted, NULL, 0, 0
FROM account WHERE id & 3 = 0;
