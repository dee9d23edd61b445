//! The browser sites: within their budget, and used in Chromium against real servers over both databases.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate_tests::npm::succeed;
use railgate_tests::postgres::Postgres;
use railgate_tests::web::script;

/// Serialises these tests: two browsers on a small machine are slow.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs every spec against `nodes` servers over a store, and looks at pages in these forms.
fn specs(store: &str, nodes: u32, forms: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut specs = script("test");
    specs.env("RAILGATE_TEST_FORMS", forms);
    specs.env("RAILGATE_TEST_STORE", store).env("RAILGATE_TEST_NODES", nodes.to_string()).env("RAILGATE_TEST_FOLDER", folder.path());
    print!("{}", succeed(&mut specs));
}

#[test]
fn the_first_load_is_within_its_budget() {
    let _turn = alone();
    print!("{}", succeed(&mut script("budget")));
}

#[test]
fn over_sqlite() {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    specs(&format!("sqlite:{}", folder.path().join("gateway.db").display()), 1, "all");
}

#[test]
fn over_postgresql_with_two_nodes() {
    let _turn = alone();
    let postgres = Postgres::shared();
    specs(&postgres.url(&postgres.database()), 2, "first");
}
