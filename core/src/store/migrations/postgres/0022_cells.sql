-- Clients that moved to another gateway, or came from one.
-- This file never changes once released: its hash is kept in every database that it made.

CREATE TABLE elsewhere (
    client    bigint   NOT NULL,
    kind      smallint NOT NULL,
    reference text     COLLATE "C" NOT NULL,
    id        text     NOT NULL,
    url       text     NOT NULL,
    PRIMARY KEY (client, kind, reference)
);

CREATE TABLE brought (
    id    bigint PRIMARY KEY,                         -- as in usage
    value bigint NOT NULL,                            -- minor units
    count bigint NOT NULL
);
