-- What the simulated operator was told to answer about a payment, and the faults that clients ordered for their sandboxes.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE sim_payment ADD COLUMN decided smallint; -- 1 submitted, 2 unknown, 3 completed, 4 failed, 5 returned
ALTER TABLE sim_payment ADD COLUMN code smallint;    -- why it is refused, as in a failure

CREATE TABLE simulator (
    client           bigint PRIMARY KEY,
    rate             bigint NOT NULL,               -- in millionths
    drop_answer_rate bigint NOT NULL,               -- in millionths
    latency_ms       bigint NOT NULL,
    seed             bigint NOT NULL
);
