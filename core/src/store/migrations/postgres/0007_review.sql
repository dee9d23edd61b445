-- What waits for a person, in the order in which a person should look at it, and what operators must say about their acts.
-- This file never changes once released: its hash is kept in every database that it made.

ALTER TABLE audit ADD COLUMN detail text COLLATE "C"; -- JSON

CREATE TABLE review (
    k         bigint   PRIMARY KEY,                   -- settlement << 16 | reversal, 0 for the settlement itself
    opened_at bigint   NOT NULL,
    due       bigint   NOT NULL,
    reason    smallint NOT NULL                       -- 1 no end for a day, 2 a discrepancy
);
CREATE INDEX review_due ON review (due, k);

-- Earlier versions flagged only the settlement if a reversal had no end for a day.
UPDATE reversal SET needs_review = true
    WHERE status IN (2, 3) AND EXISTS (SELECT 1 FROM settlement s WHERE s.no = reversal.k >> 16 AND s.needs_review);
INSERT INTO review (k, reason, opened_at, due)
    SELECT r.k, CASE WHEN r.status IN (2, 3) THEN 1 ELSE 2 END, r.updated_at, r.updated_at
    FROM reversal r JOIN settlement s ON s.no = r.k >> 16 WHERE r.needs_review AND s.needs_review;
-- The settlement itself, if nothing else can be the reason or its trace has a discrepancy.
INSERT INTO review (k, reason, opened_at, due)
    SELECT s.no << 16, CASE WHEN s.status IN (2, 3) THEN 1 ELSE 2 END, s.updated_at, s.updated_at
    FROM settlement s WHERE s.needs_review AND (
        NOT EXISTS (SELECT 1 FROM review r WHERE r.k > s.no << 16 AND r.k <= (s.no << 16 | 65535))
        OR EXISTS (SELECT 1 FROM event e WHERE e.k > s.no << 16 AND e.k <= (s.no << 16 | 65535) AND e.kind = 10)
    );
