//! A synchronous standby: it has every acknowledged commit, whatever fails, and once promoted, it is the only valid primary.

use std::thread;
use std::time::Duration;

use railgate::ids::SettlementNo;
use railgate::store::conformance::{clashes, fixtures::*};
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::Key;
use railgate::store::{Commit, CommitError, Store};
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;

use super::{options, some_writes};

/// Options with short timeouts.
fn hasty() -> PostgresOptions {
    PostgresOptions { statement_timeout: Duration::from_secs(5), connect_timeout: Duration::from_secs(5), ..options() }
}

/// Lets a server accept writes without its standby, as if it was put back by mistake.
fn alone(server: &Postgres) {
    let sql = server.sql("postgres");
    sql.run("ALTER SYSTEM SET synchronous_standby_names = ''");
    sql.run("SELECT pg_reload_conf()");
    until("the setting is taken", || sql.texts("SHOW synchronous_standby_names") == [""]);
}

fn settlements(server: &Postgres, database: &str) -> Vec<String> {
    server.sql(database).texts("SELECT no FROM settlement ORDER BY no")
}

#[test]
fn a_commit_that_the_standby_does_not_have_is_not_answered_as_made() {
    let primary = Postgres::quick();
    let database = primary.database();
    let standby = primary.standby();
    let store = PostgresStore::open(&primary.url(&database), hasty()).unwrap();
    store.commit(&some_writes(1, 1)).unwrap();
    standby.stop("immediate");
    // The primary has written it, and waits for the standby.
    let answer = store.commit(&some_writes(2, 1));
    drop(store);
    primary.stop("immediate");
    standby.start_again();
    standby.promote();
    let store = PostgresStore::open(&standby.url(&database), options()).unwrap();
    assert!(store.get(&Key::Settlement(SettlementNo(1))).unwrap().is_some());
    let kept = store.get(&Key::Settlement(SettlementNo(2))).unwrap().is_some();
    assert!(kept || matches!(answer, Err(CommitError::Indeterminate(_))), "{answer:?}, and the standby has it: {kept}");
}

/// Makes a commit while an operator ends every wait for the standby.
fn commit_unwaited(store: &PostgresStore, commit: &Commit, server: &Postgres) -> Result<(), CommitError> {
    let sql = server.sql("postgres");
    let mut ended = 0;
    let answer = thread::scope(|scope| {
        let commit = scope.spawn(|| store.commit(commit));
        until("the commit is answered", || {
            ended += sql.texts("SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").len();
            commit.is_finished()
        });
        commit.join().unwrap()
    });
    assert_ne!(ended, 0, "it never waited for the standby");
    answer
}

#[test]
fn a_commit_whose_wait_for_the_standby_is_ended_is_not_answered_as_made() {
    let primary = Postgres::quick();
    let database = primary.database();
    // The server says so by a warning, which it would keep to itself.
    primary.sql("postgres").run(&format!("ALTER DATABASE \"{database}\" SET client_min_messages = error"));
    let standby = primary.standby();
    let store = PostgresStore::open(&primary.url(&database), hasty()).unwrap();
    store.commit(&some_writes(1, 1)).unwrap();
    standby.stop("immediate");
    let at_once = commit_unwaited(&store, &some_writes(2, 1), &primary);
    // After a taken key, the next commits look at what they wrote before they send `COMMIT`.
    assert_eq!(clashes(store.commit(&commit([insert(settlement(9, 1, "1"))]))), [0]);
    let looked_at = commit_unwaited(&store, &some_writes(3, 1), &primary);
    drop(store);
    for answer in [at_once, looked_at] {
        assert!(matches!(answer, Err(CommitError::Indeterminate(_))), "{answer:?}");
    }
    assert_eq!(settlements(&primary, &database), ["1", "2", "3"]);
    primary.stop("immediate");
    standby.start_again();
    standby.promote();
    assert_eq!(settlements(&standby, &database), ["1"]);
}

#[test]
fn a_server_that_was_replaced_and_came_back_is_left_alone() {
    let primary = Postgres::quick();
    let database = primary.database();
    let standby = primary.standby();
    let store = PostgresStore::open(&Postgres::url_of_any(&[&primary, &standby], &database), options()).unwrap();
    store.commit(&some_writes(1, 1)).unwrap();
    primary.stop("immediate");
    standby.promote();
    store.commit(&some_writes(2, 1)).unwrap();
    primary.start_again();
    alone(&primary);
    let others = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'");
    for no in 3..10 {
        standby.sql("postgres").texts(&others);
        store.commit(&some_writes(no, 1)).unwrap();
        assert!(store.get(&Key::Settlement(SettlementNo(no))).unwrap().is_some());
    }
    assert_eq!(settlements(&primary, &database), ["1"]);
    assert_eq!(settlements(&standby, &database).len(), 9);
}

#[test]
fn a_server_that_was_replaced_while_it_runs_is_not_read_any_more() {
    let primary = Postgres::quick();
    let database = primary.database();
    let standby = primary.standby();
    let both = Postgres::url_of_any(&[&primary, &standby], &database);
    let store = PostgresStore::open(&both, PostgresOptions { readers: 1, writers: 1, ..hasty() }).unwrap();
    let read = |no| store.get(&Key::Settlement(SettlementNo(no))).unwrap().is_some();
    store.commit(&some_writes(1, 1)).unwrap();
    assert!(read(1), "by a connection to the primary");
    standby.promote();
    // The primary has no synchronous standby any more and confirms no commit. After each unconfirmed one,both servers
    // claim to accept writes: to pick the wrong one sixty times in a row would not be chance.
    let no = (2..60).find(|no| store.commit(&some_writes(*no, 1)).is_ok()).unwrap();
    assert!(read(no), "the last write cannot be read");
    assert!(settlements(&standby, &database).contains(&no.to_string()));
}
