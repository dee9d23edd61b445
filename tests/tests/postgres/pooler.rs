//! Through a pooler that pools transactions: the same store, whichever server process each transaction gets, and nothing is left behind
//! for others.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use railgate::ids::SettlementNo;
use railgate::store::conformance::{any_history_reads_as_in_memory, everything};
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::Key;
use railgate::store::{CommitError, Store};
use railgate_tests::patience::until;
use railgate_tests::pgbouncer::{POOL, PgBouncer};
use railgate_tests::postgres::{Postgres, Sql};

use super::links::{Said, assert_whole, more, payment, under};
use super::{Fresh, options, some_writes};

railgate::store_conformance!(conformance, || Box::new(pooled()) as Box<dyn Store>);

/// A store over a separate database, through the pooler that this process's tests share.
pub(super) fn pooled() -> Fresh {
    Fresh::at(|database| shared().url(database))
}

pub(super) fn shared() -> &'static PgBouncer {
    static POOLER: OnceLock<PgBouncer> = OnceLock::new();
    POOLER.get_or_init(|| PgBouncer::pooling_transactions(Postgres::shared()))
}

#[test]
fn it_does_what_memory_does() {
    any_history_reads_as_in_memory(&|| Box::new(pooled()), 8);
}

#[test]
fn a_pooler_that_is_killed_with_all_it_carries_loses_and_doubles_nothing() {
    let server = Postgres::quick();
    let database = server.database();
    let mut pooler = PgBouncer::pooling_transactions(&server);
    under(&pooler.url(&database), |next| {
        for _ in 0..5 {
            more(next, 100);
            pooler.restart(&server);
        }
        more(next, 100);
    });
}

#[test]
fn connections_that_are_cut_behind_the_pooler_leave_nothing_half_written() {
    let (server, fresh) = (Postgres::shared(), pooled());
    let sql = server.sql(&fresh.database);
    let all =
        format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()", fresh.database);
    under(&shared().url(&fresh.database), |next| {
        for _ in 0..20 {
            sql.texts(&all);
            more(next, 20);
        }
    });
}

#[test]
fn a_server_that_crashes_behind_the_pooler_has_what_it_answered() {
    let server = Postgres::quick();
    let database = server.database();
    let pooler = PgBouncer::pooling_transactions(&server);
    under(&pooler.url(&database), |next| {
        for _ in 0..3 {
            more(next, 100);
            server.restart("immediate");
        }
        more(next, 100);
    });
}

/// What a stranger finds in each server process of the pool.
fn left_behind(url: &str) -> Vec<String> {
    let strangers: Vec<Sql> = (0..POOL).map(|_| Sql::connect(url)).collect();
    // Open transactions keep the processes apart.
    strangers.iter().for_each(|stranger| stranger.run("BEGIN"));
    let look = "SELECT concat_ws(' ', current_setting('enable_seqscan'), current_setting('plan_cache_mode'), \
                current_setting('default_transaction_read_only'), current_setting('statement_timeout'), \
                (SELECT count(*) FROM pg_prepared_statements))";
    strangers.iter().flat_map(|stranger| stranger.texts(look)).collect()
}

#[test]
fn many_connections_share_few_processes_and_leave_nothing_in_them() {
    let (server, fresh) = (Postgres::shared(), pooled());
    let url = shared().url(&fresh.database);
    let stores: Vec<PostgresStore> = (0..5).map(|_| PostgresStore::open(&url, options()).unwrap()).collect();
    std::thread::scope(|scope| {
        for (at, store) in (0i64..).zip(&stores) {
            scope.spawn(move || {
                for no in 1..=40 {
                    store.commit(&payment(at * 100 + no)).unwrap();
                    assert!(store.get(&Key::Settlement(SettlementNo(at * 100 + no))).unwrap().is_some());
                }
            });
        }
    });
    let processes = format!("SELECT pid FROM pg_stat_activity WHERE datname = '{}' AND pid <> pg_backend_pid()", fresh.database);
    assert!(server.sql(&fresh.database).texts(&processes).len() <= POOL);
    assert_eq!(left_behind(&url), ["on auto off 0 0"; POOL]);
    let made: BTreeMap<i64, Said> = (0..5).flat_map(|at| (1..=40).map(move |no| (at * 100 + no, Said::Made))).collect();
    assert_whole(&fresh, &made);
}

/// The statement that the store's only reading process ran last.
fn last_read(server: &Postgres, url: &str, database: &str) -> String {
    let store = PostgresStore::open(url, PostgresOptions { readers: 1, writers: 1, ..options() }).unwrap();
    store.get(&Key::Settlement(SettlementNo(1))).unwrap();
    let last = format!(
        "SELECT query FROM pg_stat_activity WHERE datname = '{database}' AND application_name = 'railgate' ORDER BY query_start DESC LIMIT 1"
    );
    server.sql("postgres").texts(&last).remove(0)
}

#[test]
fn a_pooler_is_recognised_and_a_session_is_used_where_there_is_one() {
    let server = Postgres::shared();
    let sessions = PgBouncer::pooling_sessions(server);
    let database = server.database();
    let direct = server.url(&database);
    let each_in_its_transaction = |url: &str| last_read(server, url, &database) == "COMMIT";
    assert!(!each_in_its_transaction(&direct));
    assert!(each_in_its_transaction(&format!("{direct}?pool_mode=transaction")));
    assert!(each_in_its_transaction(&shared().url(&database)));
    assert!(each_in_its_transaction(&sessions.url(&database)), "nobody can see which of the two it pools");
    assert!(!each_in_its_transaction(&format!("{}?pool_mode=session", sessions.url(&database))));
    server.remove(&database);
}

#[test]
fn a_snapshot_shows_one_moment() {
    let fresh = pooled();
    fresh.commit(&some_writes(1, 5)).unwrap();
    let before = everything(&fresh);
    let snapshot = PostgresStore::open_read_only(&shared().url(&fresh.database), options()).unwrap();
    fresh.commit(&some_writes(6, 5)).unwrap();
    assert_eq!(everything(&snapshot), before);
    assert_ne!(everything(&fresh), before);
}

#[test]
fn a_server_that_was_replaced_is_refused_even_if_the_pooler_turns_back_to_it() {
    let primary = Postgres::quick();
    let database = primary.database();
    let standby = primary.standby();
    let pooler = PgBouncer::pooling_transactions(&primary);
    let hasty = PostgresOptions { connect_timeout: std::time::Duration::from_secs(5), ..options() };
    let store = PostgresStore::open(&pooler.url(&database), hasty).unwrap();
    store.commit(&some_writes(1, 1)).unwrap();
    primary.stop("immediate");
    standby.promote();
    standby.sql("postgres").run("ALTER SYSTEM SET synchronous_standby_names = ''");
    standby.sql("postgres").run("SELECT pg_reload_conf()");
    pooler.turn_to(&standby);
    until("the successor is written to", || store.commit(&some_writes(2, 1)).is_ok());
    primary.start_again();
    let alone = primary.sql("postgres");
    alone.run("ALTER SYSTEM SET synchronous_standby_names = ''");
    alone.run("SELECT pg_reload_conf()");
    until("the setting is taken", || alone.texts("SHOW synchronous_standby_names") == [""]);
    pooler.turn_to(&primary);
    match store.commit(&some_writes(3, 1)) {
        Err(CommitError::Store(error)) => assert!(error.retryable && error.to_string().contains("replaced"), "{error}"),
        other => panic!("{other:?}"),
    }
    let read = store.get(&Key::Settlement(SettlementNo(1)));
    assert!(read.as_ref().is_err_and(|error| error.retryable && error.to_string().contains("replaced")), "{read:?}");
    pooler.turn_to(&standby);
    until("the successor is written to again", || store.commit(&some_writes(3, 1)).is_ok());
}
