//! A database and a journal of the same history, written by a gateway before each kind of record was declared once. Both open, have
//! the same content, are complete, and are written as the same bytes again.
#![cfg(all(feature = "sqlite", feature = "sandbox", feature = "testkit"))]

use railgate::engine::verify::verify;
use railgate::store::journal::JournalStore;
use railgate::store::record::{Record, RecordKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write};
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};
use sha2::{Digest as _, Sha256};

const DATABASE: &str = include_str!("golden/sqlite-0003.sql");
const JOURNAL: &[u8] = include_bytes!("golden/journal-1-engine.bin");
const SNAPSHOT: &[u8] = include_bytes!("golden/snapshot-1-engine.bin");

fn all(store: &dyn Store) -> Vec<Record> {
    RecordKind::ALL.iter().flat_map(|kind| store.scan(&Scan::all(*kind, usize::MAX)).unwrap()).collect()
}

/// Every row of every table, as stored.
fn rows(path: &std::path::Path) -> Vec<(&'static str, Vec<Value>)> {
    let database = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut rows = Vec::new();
    for kind in RecordKind::ALL {
        let mut statement = database.prepare(&format!("SELECT * FROM {} ORDER BY 1, 2", kind.as_str())).unwrap();
        let width = statement.column_count();
        let found = statement.query_map([], |row| (0..width).map(|at| row.get(at)).collect()).unwrap();
        rows.extend(found.map(|row| (kind.as_str(), row.unwrap())));
    }
    rows
}

#[test]
fn a_database_and_a_journal_of_before_hold_the_same_and_are_written_as_the_same_bytes() {
    let folder = std::env::temp_dir().join(format!("railgate-golden-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (golden, anew) = (folder.join("golden.db"), folder.join("anew.db"));
    Connection::open(&golden).unwrap().execute_batch(DATABASE).unwrap();
    let store = SqliteStore::open(&golden).unwrap();
    let records = all(&store);
    assert!(records.len() > 100 && verify(&store, &mut |_| {}).unwrap().is_ok());

    // A database brings the balances forward into statements when it is migrated; a journal has no migrations.
    let is_brought = |record: &Record| matches!(record, Record::Entry(entry) if entry.n == 0 && entry.code.is_none());
    let (brought, before): (Vec<Record>, Vec<Record>) = records.iter().cloned().partition(is_brought);
    assert!(!brought.is_empty());
    let restored = JournalStore::restore(None, JOURNAL).unwrap();
    assert_eq!((all(&restored.store), restored.torn), (before.clone(), 0));
    assert_eq!(restored.store.snapshot().unwrap(), SNAPSHOT, "a snapshot is the same bytes");
    assert_eq!(all(&JournalStore::restore(Some(SNAPSHOT), &[]).unwrap().store), before);
    assert!(verify(&restored.store, &mut |_| {}).unwrap().is_ok());

    let again = SqliteStore::open(&anew).unwrap();
    let write = |record: &Record| match record {
        Record::Transfer(transfer) => Some(Write::Post(transfer.clone())),
        // Accounts are derived from their transfers.
        Record::Account(_) => None,
        other => Some(Write::Insert(other.clone())),
    };
    again.commit(&Commit { writes: records.iter().filter_map(write).collect() }).unwrap();
    drop((store, again));
    assert_eq!(rows(&golden), rows(&anew), "to the byte");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Every record of a store, a line each.
fn told(store: &dyn Store) -> String {
    all(store).iter().map(|record| format!("{record:?}\n")).collect()
}

/// Records of every kind in a database of schema 25, and how they are read. Where a record gets a new member, `RAILGATE_BLESS=1` writes the
/// text again, for a review of the difference.
#[test]
fn records_of_every_kind_that_a_gateway_of_before_wrote_are_read_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kinds.db");
    let database = Connection::open(&path).unwrap();
    database.execute_batch(include_str!("golden/sqlite-0025.sql")).unwrap();
    for kind in RecordKind::ALL {
        database.execute(&format!("DELETE FROM {}", kind.as_str()), []).unwrap();
    }
    database.execute_batch(include_str!("golden/kinds-sqlite-0025.sql")).unwrap();
    drop(database);
    let store = SqliteStore::open(&path).unwrap();
    for kind in RecordKind::ALL {
        assert!(store.scan(&Scan::all(*kind, 9)).unwrap().len() >= 2, "{kind:?}");
    }
    let (text, known) = (told(&store), concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/kinds.txt"));
    if std::env::var_os("RAILGATE_BLESS").is_some() {
        std::fs::write(known, &text).unwrap();
    }
    assert!(text == std::fs::read_to_string(known).unwrap(), "{text}");
}

/// What gateways of these schemas left.
const DATABASES: [(usize, &str); 5] = [
    (1, include_str!("golden/sqlite-0001.sql")),
    (2, include_str!("golden/sqlite-0002.sql")),
    (3, DATABASE),
    (20, include_str!("golden/sqlite-0020.sql")),
    (25, include_str!("golden/sqlite-0025.sql")),
];

/// The migrations' files, in order: names and contents.
fn migrations() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/migrations/sqlite");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let named = |path: &std::path::PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
    paths.iter().map(|path| (named(path), std::fs::read_to_string(path).unwrap())).collect()
}

/// A database of each schema, made from the latest one before it that a gateway left, by the files alone.
#[test]
fn a_database_of_every_schema_opens_is_migrated_and_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let migrations = migrations();
    for schema in 1..=migrations.len() {
        let path = folder.path().join(format!("{schema}.db"));
        let (left, golden) = DATABASES.iter().rfind(|(of, _)| *of <= schema).unwrap();
        let database = Connection::open(&path).unwrap();
        database.execute_batch(golden).unwrap();
        for (no, (name, sql)) in (1..).zip(&migrations).skip(*left).take(schema - left) {
            database.execute_batch(sql).unwrap();
            let hash: [u8; 32] = Sha256::digest(sql).into();
            database.execute("INSERT INTO migration (no, name, hash) VALUES (?1, ?2, ?3)", (no, name, hash)).unwrap();
            database.pragma_update(None, "user_version", no).unwrap();
        }
        drop(database);
        let store = SqliteStore::open(&path).unwrap_or_else(|error| panic!("schema {schema}: {error}"));
        let report = verify(&store, &mut |_| {}).unwrap();
        assert!(report.is_ok() && report.settlements >= 3, "schema {schema}: {:#?}", report.problems);
        let version: u32 = Connection::open(&path).unwrap().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version as usize, migrations.len(), "schema {schema}");
    }
}
