"""Transactions a second of bare SQLite, each of one small row and durable before the next: the reference of `bench.sh`, which runs it."""

import sqlite3
import tempfile
import time

WARM_UP_S = 1
MEASURED_S = 3


def rate(database, for_s):
    start, count = time.monotonic(), 0
    while time.monotonic() - start < for_s:
        database.execute("INSERT INTO payment (amount, reference) VALUES (?, ?)", (1050, f"run-{count}"))
        count += 1
    return count / (time.monotonic() - start)


with tempfile.TemporaryDirectory() as folder:
    # Without explicit transactions, each statement is one.
    database = sqlite3.connect(f"{folder}/reference.db", isolation_level=None)
    database.executescript(
        """
        PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
        CREATE TABLE payment (no INTEGER PRIMARY KEY, amount INTEGER NOT NULL, reference TEXT NOT NULL);
        """
    )
    rate(database, WARM_UP_S)
    print("| SQLite | a transaction of one row |", int(rate(database, MEASURED_S)), "|")
    database.close()
