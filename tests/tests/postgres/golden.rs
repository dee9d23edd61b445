//! A database from before each kind of record was declared once: it opens, is complete, and equals SQLite's golden file.

use std::sync::Arc;

use railgate::engine::verify::verify;
use railgate::env::ManualEnv;
use railgate::ledger::Mode;
use railgate::store::postgres::PostgresStore;
use railgate::store::record::{Record, RecordKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store};
use railgate::{Config, Engine};
use railgate_tests::postgres::Postgres;
use sha2::{Digest as _, Sha256};

use super::options;
use super::support::{START, sealing};

/// Balances were brought forward when each database was upgraded, by its own clock.
fn timeless(mut records: Vec<Record>) -> Vec<Record> {
    for record in &mut records {
        if let Record::Entry(entry) = record {
            entry.at = 0;
        }
    }
    records
}

#[test]
fn a_database_of_before_opens_and_holds_the_same_as_sqlite_s() {
    let server = Postgres::shared();
    let database = server.database();
    server.sql(&database).run(include_str!("../../../core/tests/golden/postgres-0001.sql"));
    let store = PostgresStore::open(&server.url(&database), options()).unwrap();
    assert!(verify(&store, &mut |_| {}).unwrap().is_ok());

    let folder = std::env::temp_dir().join(format!("railgate-pg-golden-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("golden.db");
    rusqlite::Connection::open(&file).unwrap().execute_batch(include_str!("../../../core/tests/golden/sqlite-0003.sql")).unwrap();
    let other = SqliteStore::open(&file).unwrap();
    for kind in RecordKind::ALL {
        let [here, there] = [&store as &dyn Store, &other].map(|store| timeless(store.scan(&Scan::all(*kind, usize::MAX)).unwrap()));
        assert_eq!(here, there, "{kind:?}");
    }
    // Both continue the log that they had, as the sandbox's; it is the same to the byte.
    let checkpoint = |store: Arc<dyn Store>, mode| {
        let config = Config { owner: Some(1), ..sealing() };
        Engine::open(store, Arc::new(ManualEnv::new(START, 1)), config).unwrap().checkpoint(mode).unwrap()
    };
    let (store, other): (Arc<dyn Store>, Arc<dyn Store>) = (Arc::new(store), Arc::new(other));
    for (mode, begins) in [(Mode::Sandbox, "railgate/log\n20\n"), (Mode::Live, "railgate/log/live\n0\n")] {
        let note = checkpoint(store.clone(), mode);
        assert!(note.starts_with(begins), "{note}");
        assert_eq!(note, checkpoint(other.clone(), mode));
    }
    drop((store, other));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Records of every kind in a database of schema 23 are read as those are that SQLite's has.
#[test]
fn records_of_every_kind_that_a_gateway_of_before_wrote_are_read_as_they_were() {
    let server = Postgres::shared();
    let database = server.database();
    let sql = server.sql(&database);
    sql.run(include_str!("../../../core/tests/golden/postgres-0023.sql"));
    let tables = sql.texts("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'railgate_migration'");
    tables.iter().for_each(|table| sql.run(&format!("TRUNCATE public.{table}")));
    sql.run(include_str!("../../../core/tests/golden/kinds-postgres-0023.sql"));
    drop(sql);
    let store = PostgresStore::open(&server.url(&database), options()).unwrap();
    let all = RecordKind::ALL.iter().flat_map(|kind| store.scan(&Scan::all(*kind, usize::MAX)).unwrap());
    let text: String = all.map(|record| format!("{record:?}\n")).collect();
    assert!(text == include_str!("../../../core/tests/golden/kinds.txt"), "{text}");
}

/// What gateways of these schemas left.
const DATABASES: [(usize, &str); 3] = [
    (1, include_str!("../../../core/tests/golden/postgres-0001.sql")),
    (18, include_str!("../../../core/tests/golden/postgres-0018.sql")),
    (23, include_str!("../../../core/tests/golden/postgres-0023.sql")),
];

/// A database of each schema, made from the latest one before it that a gateway left, by the files of the migrations alone.
#[test]
fn a_database_of_every_schema_opens_is_migrated_and_is_whole() {
    let server = Postgres::shared();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../core/src/store/migrations/postgres");
    let mut migrations: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    migrations.sort();
    for schema in 1..=migrations.len() {
        let (left, golden) = DATABASES.iter().rfind(|(of, _)| *of <= schema).unwrap();
        let database = server.database();
        server.sql(&database).run(golden);
        // A dump leaves its connection without a search path.
        let sql = server.sql(&database);
        for (no, path) in (1..).zip(&migrations).skip(*left).take(schema - left) {
            let (name, text) = (path.file_stem().unwrap().to_str().unwrap(), std::fs::read_to_string(path).unwrap());
            sql.run(&text);
            let hash = Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            sql.run(&format!("INSERT INTO railgate_migration (no, name, hash) VALUES ({no}, '{name}', '\\x{hash}')"));
        }
        let store = PostgresStore::open(&server.url(&database), options()).unwrap_or_else(|error| panic!("schema {schema}: {error}"));
        let report = verify(&store, &mut |_| {}).unwrap();
        assert!(report.is_ok() && report.settlements >= 3, "schema {schema}: {:#?}", report.problems);
        assert!(PostgresStore::schema(&server.url(&database), options()).unwrap().is_current(), "schema {schema}");
        drop((store, sql));
        server.remove(&database);
    }
}
