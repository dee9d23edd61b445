//! The store over PostgreSQL: the conformance suite, the memory store as its model, and tests specific to a server.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod books;
mod cells;
mod copy;
mod engine;
mod golden;
mod links;
mod operators;
mod plans;
mod pooler;
mod quality;
mod readers;
mod schema;
mod standby;
#[path = "../../../core/tests/support/mod.rs"]
mod support;
mod tls;

use std::sync::OnceLock;

use railgate::ledger::Owner;
use railgate::store::conformance::{any_history_reads_as_in_memory, fixtures::*};
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::{Key, Record};
use railgate::store::{Commit, CommitError, Lookup, Scan, Store, StoreError, Unique, Write};
use railgate_tests::postgres::Postgres;

railgate::store_conformance!(conformance, || Box::new(Fresh::new()) as Box<dyn Store>);

/// A store over a separate database, which is removed with it.
struct Fresh {
    store: PostgresStore,
    database: String,
}

impl Fresh {
    fn new() -> Self {
        Self::at(|database| Postgres::shared().url(database))
    }

    /// The same, with the URL of its database from `url`.
    fn at(url: impl FnOnce(&str) -> String) -> Self {
        let server = Postgres::shared();
        // One database gets its schema by migration; the others are copies of it, as a restored one would be.
        static TEMPLATE: OnceLock<String> = OnceLock::new();
        let template = TEMPLATE.get_or_init(|| {
            let database = server.database();
            drop(PostgresStore::open(&server.url(&database), options()).unwrap());
            server.sql("postgres").run(&format!("ALTER DATABASE {database} ALLOW_CONNECTIONS false"));
            let others = format!("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{database}'");
            server.sql("postgres").texts(&others);
            database
        });
        let database = server.copy(template);
        Self { store: PostgresStore::open(&url(&database), options()).unwrap(), database }
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        Postgres::shared().remove(&self.database);
    }
}

impl Store for Fresh {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        self.store.commit(commit)
    }
    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.store.get(key)
    }
    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.store.find(unique)
    }
    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.store.scan(scan)
    }
    fn holds(&self, record: &Record) -> Result<bool, StoreError> {
        self.store.holds(record)
    }
    fn secure(&self) -> Result<(), StoreError> {
        self.store.secure()
    }
    fn is_remote(&self) -> bool {
        self.store.is_remote()
    }
    fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
        self.store.look_up(lookups)
    }
}

fn options() -> PostgresOptions {
    PostgresOptions { readers: 2, writers: 4, ..PostgresOptions::default() }
}

#[test]
fn it_does_what_memory_does() {
    any_history_reads_as_in_memory(&|| Box::new(Fresh::new()), 32);
}

/// A few settlements from number `from` on, each with an event, a task and a payment whose amount is its number.
fn some_writes(from: i64, count: i64) -> Commit {
    let each = |no: i64| {
        let payment = Write::Post(transfer(no, 1, account(Owner::Funding), account_of(1), no));
        [insert(settlement(no, 1, &no.to_string())), insert(event(no, 1)), insert(task(no, 1)), payment]
    };
    commit((from..from + count).flat_map(each))
}
