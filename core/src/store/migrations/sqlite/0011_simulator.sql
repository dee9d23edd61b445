-- What the simulated operator was told to answer about a payment, and the faults that clients ordered for their sandboxes.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE sim_payment ADD COLUMN decided INTEGER; -- 1 submitted, 2 unknown, 3 completed, 4 failed, 5 returned
ALTER TABLE sim_payment ADD COLUMN code INTEGER;    -- why it is refused, as in a failure

CREATE TABLE simulator (
    client           INTEGER PRIMARY KEY,
    rate             INTEGER NOT NULL,               -- in millionths
    drop_answer_rate INTEGER NOT NULL,               -- in millionths
    latency_ms       INTEGER NOT NULL,
    seed             INTEGER NOT NULL
) STRICT;
