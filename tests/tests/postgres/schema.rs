//! Opening a database: what is created, kept and refused.

use railgate::store::Store;
use railgate::store::conformance::everything;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;

use super::{Fresh, options, some_writes};

fn refusal(url: &str, options: PostgresOptions) -> String {
    match PostgresStore::open(url, options) {
        Ok(_) => panic!("it was opened"),
        Err(error) => {
            assert!(!error.retryable, "{error}");
            error.to_string()
        }
    }
}

#[test]
fn all_is_there_after_closing_and_opening() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    fresh.commit(&some_writes(1, 5)).unwrap();
    let before = everything(&fresh);
    let again = PostgresStore::open(&server.url(&fresh.database), options()).unwrap();
    assert_eq!(everything(&again), before);
    again.commit(&some_writes(6, 1)).unwrap();
    assert_eq!(everything(&fresh), everything(&again), "one database");
}

/// The number of this program's migrations.
fn migrations(url: &str) -> usize {
    PostgresStore::schema(url, options()).unwrap().known
}

#[test]
fn nodes_that_start_together_make_one_schema() {
    let server = Postgres::shared();
    let database = server.database();
    let url = server.url(&database);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| PostgresStore::open(&url, PostgresOptions { readers: 1, writers: 1, ..options() }).unwrap());
        }
    });
    let numbers: Vec<String> = (1..=migrations(&url)).map(|no| no.to_string()).collect();
    assert_eq!(server.sql(&database).texts("SELECT no FROM railgate_migration ORDER BY no"), numbers);
    server.remove(&database);
}

#[test]
fn who_waits_for_a_long_migration_waits_longer_than_for_a_statement() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let sql = server.sql(&fresh.database);
    sql.texts(&format!("SELECT pg_advisory_lock({})", i32::from_be_bytes(*b"RGAT")));
    sql.run(&format!("ALTER DATABASE {} SET lock_timeout = '1s'", fresh.database));
    let hasty = PostgresOptions { statement_timeout: std::time::Duration::from_secs(3), ..options() };
    let url = server.url(&fresh.database);
    let opening = std::thread::spawn(move || PostgresStore::open(&url, hasty).map(drop));
    let long = format!(
        "SELECT 1 FROM pg_stat_activity WHERE datname = '{}' AND wait_event = 'advisory' AND clock_timestamp() - query_start > interval '6 s'",
        fresh.database
    );
    until("it waits for the other", || !sql.texts(&long).is_empty() || opening.is_finished());
    assert!(!opening.is_finished(), "{:?}", opening.join().unwrap());
    sql.texts("SELECT pg_advisory_unlock_all()");
    opening.join().unwrap().unwrap();
}

#[test]
fn a_migration_that_waits_for_a_long_transaction_stands_in_nobodys_way() {
    let server = Postgres::shared();
    let database = server.database();
    server.sql(&database).run(include_str!("../../../core/tests/golden/postgres-0018.sql"));
    let (long, other) = (server.sql(&database), server.sql(&database));
    long.run("BEGIN; SELECT 1 FROM public.settlement LIMIT 1");
    let url = server.url(&database);
    let opening = std::thread::spawn(move || PostgresStore::open(&url, options()).map(drop));
    let waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock' AND relation = 'public.settlement'::regclass";
    until("the migration waits", || !other.texts(waits).is_empty());
    // The server ends a statement that waits for ever.
    other.run("SET statement_timeout = '60s'; SELECT count(*) FROM public.settlement");
    assert!(!opening.is_finished());
    long.run("COMMIT");
    opening.join().unwrap().unwrap();
    assert!(PostgresStore::schema(&server.url(&database), options()).unwrap().is_current());
    drop((long, other));
    server.remove(&database);
}

#[test]
fn a_newer_schema_and_a_changed_migration_are_refused() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let (url, sql) = (server.url(&fresh.database), server.sql(&fresh.database));
    let later = migrations(&url) + 1;
    sql.run(&format!("INSERT INTO railgate_migration VALUES ({later}, 'later', '')"));
    let newer = refusal(&url, options());
    assert!(newer.contains(&format!("version {later}")) && newer.contains("newer than this program"), "{newer}");
    sql.run("DELETE FROM railgate_migration WHERE name = 'later'; UPDATE railgate_migration SET hash = 'other'");
    let changed = refusal(&url, options());
    assert!(changed.contains("0001_initial"), "{changed}");
}

#[test]
fn a_newer_schema_that_lets_older_programs_work_is_served() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let (url, sql) = (server.url(&fresh.database), server.sql(&fresh.database));
    let known = migrations(&url);
    assert_eq!(
        sql.texts("SELECT DISTINCT oldest FROM railgate_migration ORDER BY oldest"),
        ["1", "5", "6", "8", "11", "13", "14", "15", "17", "18", "19", "20", "21", "22"]
    );
    sql.run(&format!("INSERT INTO railgate_migration VALUES ({}, 'later', '', 1), ({}, 'latest', '', 1)", known + 1, known + 2));
    for migrate in [true, false] {
        PostgresStore::open(&url, PostgresOptions { migrate, ..options() }).unwrap();
    }
    assert!(PostgresStore::schema(&url, options()).unwrap().is_current());
    PostgresStore::open_read_only(&url, options()).unwrap();
    for oldest in [(known + 1).to_string(), "NULL".to_owned()] {
        sql.run(&format!("UPDATE railgate_migration SET oldest = {oldest} WHERE name = 'later'"));
        assert!(refusal(&url, options()).contains(&format!("version {}, newer than this program", known + 2)), "{oldest}");
    }
    // A database from before the oldest compatible version was recorded.
    sql.run("DELETE FROM railgate_migration WHERE name LIKE 'late%'; ALTER TABLE railgate_migration DROP COLUMN oldest");
    PostgresStore::open(&url, options()).unwrap();
}

#[test]
fn databases_that_are_not_ours_are_refused_and_left_alone() {
    let server = Postgres::shared();
    let other = server.database();
    let sql = server.sql(&other);
    sql.run("CREATE TABLE mine (a int)");
    let refused = refusal(&server.url(&other), options());
    assert!(refused.contains("another program"), "{refused}");
    let tables = sql.texts("SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace");
    assert_eq!(tables, ["mine"]);
    drop(sql);
    server.remove(&other);

    server.sql("postgres").run("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    let refused = refusal(&server.url("latin"), options());
    assert!(refused.contains("LATIN1"), "{refused}");
    server.remove("latin");
    let absent = refusal(&server.url("no_such_database"), options());
    assert!(absent.contains("3D000"), "{absent}");
}

#[test]
fn a_role_with_no_more_than_its_grants_serves_and_does_not_migrate() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let (sql, empty) = (server.sql(&fresh.database), server.database());
    sql.run("CREATE ROLE serving LOGIN");
    sql.run("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO serving; REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    sql.run("REVOKE INSERT, UPDATE, DELETE ON railgate_migration FROM serving");
    let serving = |database: &str| server.url(database).replace("railgate@", "serving@");
    let store = PostgresStore::open(&serving(&fresh.database), PostgresOptions { migrate: false, ..options() }).unwrap();
    store.commit(&some_writes(1, 5)).unwrap();
    assert_eq!(everything(&store), everything(&fresh));
    let refused = refusal(&serving(&empty), PostgresOptions { migrate: false, ..options() });
    assert!(refused.contains("version 0"), "{refused}");
    drop(store);
    server.remove(&empty);
    sql.run("DROP OWNED BY serving; DROP ROLE serving");
}

#[test]
fn a_store_with_all_the_time_there_is_works() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let endless = std::time::Duration::MAX;
    let endless = PostgresOptions { connect_timeout: endless, statement_timeout: endless, ..options() };
    let store = PostgresStore::open(&server.url(&fresh.database), endless).unwrap();
    store.commit(&some_writes(1, 1)).unwrap();
    assert_eq!(everything(&store), everything(&fresh));
}

#[test]
fn no_error_quotes_a_password() {
    let server = Postgres::shared();
    let wrong = server.url("no_such_database").replace("railgate@", "railgate:hunter2@");
    let nobody = wrong.replace(&server.port().to_string(), "1");
    let impatient = PostgresOptions { connect_timeout: std::time::Duration::from_millis(200), ..options() };
    for url in [wrong, nobody] {
        let Err(error) = PostgresStore::open(&url, impatient.clone()) else { panic!("it was opened") };
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}
