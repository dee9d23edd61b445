-- What clients remark on their settlements.

CREATE TABLE remark (
    settlement bigint PRIMARY KEY,
    at         bigint NOT NULL,
    text       text   COLLATE "C" NOT NULL
);
