//! Every store against the conformance suite, SQLite against the memory store as its model, and the properties of a file: it
//! outlives the process, has one owner, is refused if another program wrote it, and can be copied while in use.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use railgate::auth::KeyId;
use railgate::engine::{IssueToken, verify};
use railgate::env::ManualEnv;
use railgate::ids::{ClientNo, EndpointNo, KeyNo, Ulid};
use railgate::ledger::{Mode, Owner};
use railgate::lifecycle::SettlementStatus;
use railgate::seal::MasterKeys;
use railgate::store::conformance::{any_history_reads_as_in_memory, clashes, everything, fixtures::*};
use railgate::store::faulty::{CommitFault, Faulty, Rates};
use railgate::store::memory::MemoryStore;
use railgate::store::record::*;
use railgate::store::sqlite::{Sharing, SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Commit, CommitError, Scan, Store, StoreError, Unique, Write, typed_all};
use railgate::{Config, Engine, ErrorCode};

railgate::store_conformance!(memory, || Box::new(MemoryStore::new()) as Box<dyn Store>);
railgate::store_conformance!(sqlite, || Box::new(OnDisk::new()) as Box<dyn Store>);
railgate::store_conformance!(a_calm_faulty_store, || Box::new(Faulty::new(MemoryStore::new())) as Box<dyn Store>);

#[test]
fn sqlite_does_what_memory_does() {
    any_history_reads_as_in_memory(&|| Box::new(OnDisk::new()), 96);
}

/// A directory that is removed when the test ends.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("railgate-stores-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A SQLite store with its directory. There is no power failure here: no need to wait for the disk.
struct OnDisk {
    store: SqliteStore,
    _dir: Dir,
}

impl OnDisk {
    fn new() -> Self {
        let dir = Dir::new();
        let options = SqliteOptions { synchronous: Synchronous::Normal, readers: 2, checkpoint_pages: 100, ..Default::default() };
        Self { store: SqliteStore::open_with(&dir.file("railgate.db"), options).unwrap(), _dir: dir }
    }
}

impl Store for OnDisk {
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
}

fn open(path: &Path) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path)
}

fn refusal(opened: Result<SqliteStore, StoreError>) -> String {
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

fn some_writes(from: i64, count: i64) -> Commit {
    let each = |no: i64| {
        let payment = Write::Post(transfer(no, 1, account(Owner::Funding), account_of(1), no));
        [insert(settlement(no, 1, &no.to_string())), insert(event(no, 1)), insert(task(no, 1)), payment]
    };
    commit((from..from + count).flat_map(each))
}

#[test]
fn all_is_there_after_closing_and_opening() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    let (mut last, mut no) = (Vec::new(), 1);
    for _ in 0..3 {
        let store = open(&path).unwrap();
        assert_eq!(everything(&store), last);
        store.commit(&some_writes(no, 50)).unwrap();
        no += 50;
        last = everything(&store);
        assert!(!last.is_empty());
    }
    // After a proper close, the database is one file next to its lock.
    let mut left: Vec<_> = std::fs::read_dir(&dir.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["railgate.db", "railgate.db.lock"]);
}

#[test]
fn all_is_there_after_the_process_vanished() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    let store = open(&path).unwrap();
    (0..20).for_each(|round| store.commit(&some_writes(1 + round * 10, 10)).unwrap());
    // The files that a vanished process leaves: unchanged, with the log not yet copied.
    for suffix in ["", "-wal"] {
        std::fs::copy(dir.file(&format!("railgate.db{suffix}")), dir.file(&format!("copy.db{suffix}"))).unwrap();
    }
    let recovered = open(&dir.file("copy.db")).unwrap();
    assert_eq!(everything(&recovered), everything(&store));
}

#[test]
fn the_log_is_copied_and_begun_anew_under_load() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    let options = SqliteOptions { synchronous: Synchronous::Normal, checkpoint_pages: 64, ..Default::default() };
    let store = SqliteStore::open_with(&path, options).unwrap();
    let size = |file: &str| std::fs::metadata(dir.file(file)).unwrap().len();
    // Until a commit does not extend the log: it was restarted.
    let begun_anew = |round: i64| {
        let before = size("railgate.db-wal");
        store.commit(&some_writes(1 + round * 100, 100)).unwrap();
        size("railgate.db") > 1 << 20 && size("railgate.db-wal") == before
    };
    assert!((0..5_000).any(begun_anew), "the log grew to {} bytes", size("railgate.db-wal"));
}

#[test]
fn reads_do_not_keep_the_log_from_being_begun_anew() {
    let longest = |checkpoint_pages, readers| {
        let dir = Dir::new();
        let options = SqliteOptions { synchronous: Synchronous::Normal, checkpoint_pages, ..Default::default() };
        let store = SqliteStore::open_with(&dir.file("railgate.db"), options).unwrap();
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..readers {
                scope.spawn(|| {
                    while !ended.load(Ordering::SeqCst) {
                        store.scan(&Scan::all(RecordKind::Settlement, 50)).unwrap();
                    }
                });
            }
            (0..3_000).for_each(|round| store.commit(&some_writes(1 + round * 20, 20)).unwrap());
            ended.store(true, Ordering::SeqCst);
        });
        // The file never gets shorter.
        std::fs::metadata(dir.file("railgate.db-wal")).unwrap().len()
    };
    let (never, under_reads) = (longest(u32::MAX, 0), longest(2_000, 3));
    assert!(under_reads < never / 2, "it was begun anew too rarely: {under_reads} bytes, and {never} without");
}

#[test]
fn a_database_has_one_owner() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    let store = open(&path).unwrap();
    assert!(refusal(open(&path)).contains("another process has it open"));
    #[cfg(unix)]
    {
        // Under any name.
        std::os::unix::fs::symlink(&path, dir.file("alias.db")).unwrap();
        assert!(refusal(open(&dir.file("alias.db"))).contains("another process has it open"));
    }
    drop(store);
    open(&path).unwrap();
}

fn shared(path: &Path, sharing: Sharing) -> Result<SqliteStore, StoreError> {
    SqliteStore::open_with(path, SqliteOptions { sharing, ..SqliteOptions::default() })
}

#[test]
fn several_processes_share_a_database_if_all_agree() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    assert!(shared(&path, Sharing::Beside).is_err(), "an operator makes no database");
    let first = shared(&path, Sharing::Among).unwrap();
    let second = shared(&path, Sharing::Among).unwrap();
    assert!(refusal(open(&path)).contains("another process has it open"));
    first.commit(&some_writes(1, 5)).unwrap();
    assert_eq!(everything(&second), everything(&first));
    let clash = second.commit(&some_writes(1, 5)).unwrap_err();
    assert!(matches!(clash, CommitError::Conflict(_)), "{clash}");
    drop((first, second));

    let alone = open(&path).unwrap();
    assert!(refusal(shared(&path, Sharing::Among)).contains("another process has it open"));
    let operator = shared(&path, Sharing::Beside).unwrap();
    operator.commit(&some_writes(6, 5)).unwrap();
    assert_eq!(everything(&alone), everything(&operator));
}

#[test]
fn an_operator_reads_beside_a_running_server() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    assert!(SqliteStore::open_read_only(&path).is_err());
    assert!(!path.exists(), "looking makes no database");
    let store = open(&path).unwrap();
    store.commit(&some_writes(1, 5)).unwrap();
    let reader = SqliteStore::open_read_only(&path).unwrap();
    let then = everything(&store);
    store.commit(&some_writes(6, 5)).unwrap();
    assert_eq!(everything(&reader), then, "one moment, for as long as it is open");
    assert_eq!(everything(&SqliteStore::open_read_only(&path).unwrap()), everything(&store));
    match reader.commit(&some_writes(11, 1)) {
        Err(CommitError::Store(error)) => assert!(!error.retryable),
        other => panic!("{other:?}"),
    }
    drop(store);
    assert_eq!(everything(&reader), then);
}

#[test]
fn files_that_are_not_ours_are_refused_and_left_alone() {
    let dir = Dir::new();
    let path = dir.file("text.db");
    std::fs::write(&path, "Dear diary, ".repeat(1000)).unwrap();
    assert!(refusal(open(&path)).contains("not a database"));
    assert_eq!(std::fs::read(&path).unwrap(), "Dear diary, ".repeat(1000).into_bytes());

    let path = dir.file("other.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE mine (a)").unwrap();
    drop(other);
    let before = std::fs::read(&path).unwrap();
    assert!(refusal(open(&path)).contains("another program"));
    assert!(refusal(SqliteStore::open_read_only(&path)).contains("another program"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_database_of_a_newer_program_is_refused() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    drop(open(&path).unwrap());
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    for opened in [open(&path), SqliteStore::open_read_only(&path)] {
        let refused = refusal(opened);
        assert!(refused.contains("99") && refused.contains("newer than this program"), "{refused}");
    }
}

#[test]
#[cfg(unix)]
fn only_the_owner_may_read_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let dir = Dir::new();
    let store = open(&dir.file("railgate.db")).unwrap();
    store.commit(&some_writes(1, 5)).unwrap();
    store.backup(&dir.file("backup.db"), &mut |_, _| {}).unwrap();
    let files: Vec<_> = std::fs::read_dir(&dir.0).unwrap().map(Result::unwrap).collect();
    assert!(files.len() >= 4);
    for file in files {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{:?}", file.file_name());
    }
}

#[test]
fn a_backup_is_one_moment_of_a_store_in_use() {
    let dir = Dir::new();
    let store = open(&dir.file("railgate.db")).unwrap();
    (0..40).for_each(|round| store.commit(&some_writes(1 + round * 1000, 1000)).unwrap());
    let before = everything(&store);
    let mut steps = Vec::new();
    let mut next = 100_000;
    let mut work = |done, total| {
        // Commits continue between the steps, and are not in the copy.
        store.commit(&some_writes(next, 10)).unwrap();
        next += 10;
        steps.push((done, total));
    };
    let copy = dir.file("backup.db");
    store.backup(&copy, &mut work).unwrap();
    assert!(steps.len() > 1 && steps.is_sorted(), "{steps:?}");
    assert!(steps.last().is_some_and(|(done, total)| done == total));
    assert!(everything(&store).len() > before.len());

    let refused = store.backup(&copy, &mut |_, _| {}).unwrap_err();
    assert!(refused.to_string().contains("creating the backup file"), "{refused}");
    assert!(store.backup(&dir.file("none/backup.db"), &mut |_, _| {}).is_err());
    drop(store);
    assert_eq!(everything(&SqliteStore::open_read_only(&copy).unwrap()), before);
    let restored = open(&copy).unwrap();
    assert_eq!(everything(&restored), before);
    restored.commit(&some_writes(100_000, 1)).unwrap();
    let check: String = rusqlite::Connection::open(&copy).unwrap().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

/// A database as left by a gateway with schema 0001. Golden files are never regenerated: each released schema must always open.
const GOLDEN_0001: &str = include_str!("golden/sqlite-0001.sql");

#[test]
fn a_database_of_the_first_schema_opens_and_is_whole() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(GOLDEN_0001).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(refusal(SqliteStore::open_read_only(&path)).contains("open it once for writing"));
    assert_eq!(std::fs::read(&path).unwrap(), before, "looking changes nothing");

    let store = open(&path).unwrap();
    let Some(Record::Client(client)) = store.get(&Key::Client(ClientNo(1))).unwrap() else { panic!("no client") };
    assert_eq!((client.name.as_str(), client.suspended, client.webhook_secret.as_slice()), ("Golden Bakery", false, [].as_slice()));
    assert_eq!(store.find(&Unique::ClientId(client.id)).unwrap(), Some(client.clone().into()));
    let tokens = Scan::tokens_expired_before(i64::MAX, 9);
    assert_eq!(store.scan(&tokens).unwrap(), [], "a token without a key opens nothing");
    let paid = store.find(&Unique::SettlementReference(ClientNo(1), "golden-paid".parse().unwrap())).unwrap();
    let Some(Record::Settlement(paid)) = paid else { panic!("{paid:?}") };
    assert_eq!((paid.status, paid.amount, paid.reversed, paid.version), (SettlementStatus::PartiallyReversed, 1050, 250, 9));
    let report = verify::verify(&store, &mut |_| {}).unwrap();
    assert_eq!(report.problems, []);
    assert_eq!((report.settlements, report.events, report.transfers, report.accounts, report.tasks), (3, 19, 19, 27, 1));

    let secret_of_hooks = ClientRecord { webhook_secret: vec![1; 77], ..client };
    store.commit(&commit([replace_any(secret_of_hooks.clone()), insert(key(1, 1, 1)), insert(token(1, 5)), insert(nonce(1, 5))])).unwrap();
    drop(store);
    let store = open(&path).unwrap();
    for record in [secret_of_hooks.into(), key(1, 1, 1).into(), token(1, 5).into(), Record::from(nonce(1, 5))] {
        assert_eq!(store.get(&record.key()).unwrap(), Some(record));
    }
}

/// A database as left by a gateway with schema 0002.
const GOLDEN_0002: &str = include_str!("golden/sqlite-0002.sql");

#[test]
fn a_database_of_the_second_schema_opens_and_is_whole() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(GOLDEN_0002).unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(refusal(SqliteStore::open_read_only(&path)).contains("open it once for writing"));
    assert_eq!(std::fs::read(&path).unwrap(), before, "looking changes nothing");

    let store = open(&path).unwrap();
    let Some(Record::Client(client)) = store.get(&Key::Client(ClientNo(1))).unwrap() else { panic!("no client") };
    assert_eq!((client.name.as_str(), client.suspended, client.webhook_secret.is_empty()), ("Golden Bakery", false, false));
    let keys: Vec<KeyRecord> = typed_all(store.scan(&Scan::keys_of(ClientNo(1))).unwrap()).unwrap();
    let keys: Vec<_> = keys.iter().map(|key| (key.mode, key.status, key.label.as_deref())).collect();
    let (active, revoked) = (KeyStatus::Active, KeyStatus::Revoked);
    assert_eq!(keys, [(Mode::Sandbox, active, None), (Mode::Sandbox, revoked, Some("till")), (Mode::Live, active, None)]);
    let count = |scan| store.scan(&scan).unwrap().len();
    assert_eq!(count(Scan::tokens_expired_before(i64::MAX, 99)), 4);
    assert_eq!(count(Scan::after(&Key::Audit(i64::MIN), 99)), 10);
    assert_eq!(count(Scan::all(RecordKind::Secret, usize::MAX)), 3);
    assert_eq!(clashes(store.commit(&commit([insert(nonce(7, 9)), insert(nonce(9, 9))]))), [0], "a spent nonce stays spent");
    let paid = store.find(&Unique::SettlementReference(ClientNo(1), "golden-paid".parse().unwrap())).unwrap();
    let Some(Record::Settlement(paid)) = paid else { panic!("{paid:?}") };
    assert_eq!((paid.status, paid.amount, paid.reversed, paid.version), (SettlementStatus::PartiallyReversed, 1050, 250, 9));
    let report = verify::verify(&store, &mut |_| {}).unwrap();
    assert_eq!(report.problems, []);
    assert_eq!((report.settlements, report.events, report.transfers, report.accounts, report.tasks), (3, 19, 31, 39, 1));

    // Later additions are empty, and work.
    let everywhere = (ClientNo(0), Mode::Sandbox, i64::MIN);
    for empty in [
        Scan::all(RecordKind::Unlogged, 9),
        Scan::after(&Key::Feed(everywhere), 9),
        Scan::last(RecordKind::LogHead),
        Scan::last(RecordKind::Endpoint),
    ] {
        assert_eq!(store.scan(&empty).unwrap(), []);
    }
    let new: [Record; 4] =
        [endpoint(1, 1, 11).into(), queue(1, Some(5)).into(), delivery(1, 1, Some(5)).into(), feed(1, Mode::Sandbox, 1, paid.no.0).into()];
    store.commit(&commit(new.iter().cloned().map(insert))).unwrap();
    drop(store);
    let store = open(&path).unwrap();
    for record in new {
        assert_eq!(store.get(&record.key()).unwrap(), Some(record));
    }
}

#[test]
fn what_a_gateway_of_the_second_schema_gave_out_still_holds() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch(GOLDEN_0002).unwrap();
    let now = 1_795_257_497_072;
    let config = Config { master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))), ..Config::default() };
    let engine = Engine::open(Arc::new(open(&path).unwrap()), Arc::new(ManualEnv::new(now, 6)), config).unwrap();
    // A token of then has no tag under the store's key. Its owner is told to take a new one, as after its quarter of an hour.
    let token = engine.authenticate("rg_sandbox_mBOlV4dd_99RlEN9tSGrQUgbP_iwAhrJ5n5F2_sDIlc0lBVq");
    assert_eq!(token.unwrap_err().code, ErrorCode::TokenInvalid);
    let taken = engine.run(IssueToken { key: KeyNo(1), scopes: None, session: None }).unwrap();
    let token = engine.authenticate(&taken.text).unwrap();
    assert_eq!((token.caller.client, token.caller.mode, token.key), (ClientNo(1), Mode::Sandbox, KeyNo(1)));
    let challenges = engine.challenge_keys().unwrap();
    challenges.check("c1.AWsBdcYDAwMDAwMDAwMDAw.fpjf0RZQ_0Gcbl9ommo1mw", Mode::Sandbox, now).unwrap();
    assert!(challenges.check("c1.AWsBdcYDAwMDAwMDAwMDAw.fpjf0RZQ_0Gcbl9ommo1mQ", Mode::Sandbox, now).is_err());
    assert_eq!(engine.receipt_keys().unwrap().len(), 1);
}

#[test]
fn a_used_nonce_stays_used_for_the_next_who_opens() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    let store = open(&path).unwrap();
    store.commit(&commit([insert(nonce(1, 5))])).unwrap();
    let beside = SqliteStore::open_read_only(&path).unwrap();
    assert_eq!(beside.get(&Key::Nonce([1; 32])).unwrap(), Some(nonce(1, 5).into()));
    drop(store);
    let store = open(&path).unwrap();
    assert_eq!(clashes(store.commit(&commit([insert(task(1, 1)), insert(nonce(1, 6))]))), [1]);
    assert_eq!(store.get(&Key::Task(TaskKey::new(1, 1))).unwrap(), None);
}

#[test]
fn a_key_that_is_none_is_told_and_not_used() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    open(&path).unwrap().commit(&commit([insert(key(1, 1, 1))])).unwrap();
    for damage in ["public = zeroblob(32)", "public = x'00'", "algorithm = 1", "algorithm = 9", "status = 0", "id = x''"] {
        let damaged = dir.file("damaged.db");
        std::fs::copy(&path, &damaged).unwrap();
        rusqlite::Connection::open(&damaged).unwrap().execute(&format!("UPDATE key SET {damage}"), []).unwrap();
        let read = SqliteStore::open_read_only(&damaged).unwrap().get(&Key::Key(KeyNo(1)));
        assert!(read.as_ref().is_err_and(|error| !error.retryable), "{damage}: {read:?}");
    }
}

#[test]
fn rows_of_the_log_and_of_webhooks_that_cannot_be_are_told_and_not_used() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    let rows = [insert(unlogged(1)), insert(feed(1, Mode::Sandbox, 1, 1)), insert(endpoint(1, 1, 11)), insert(queue(1, Some(5)))];
    open(&path).unwrap().commit(&commit(rows.into_iter().chain([insert(delivery(1, 1, Some(5)))]))).unwrap();
    let scans = [
        Scan::all(RecordKind::Unlogged, 9),
        Scan::after(&Key::Feed((ClientNo(0), Mode::Sandbox, 0)), 9),
        Scan::after(&Key::Endpoint(EndpointNo(0)), 9),
        Scan::queues(false, 5, 9),
        Scan::deliveries_before(9, 9),
    ];
    for (scan, damage) in [
        (0, "unlogged SET changes = x''"),
        (0, "unlogged SET changes = zeroblob(2)"),
        (0, "unlogged SET changes = x'ffffffffffffffffff01'"),
        (1, "feed SET owner = 1 << 2"),
        (1, "feed SET owner = 1 << 2 | 3"),
        (1, "feed SET owner = 1 << 34 | 1"),
        (2, "endpoint SET id = x'00'"),
        (2, "endpoint SET version = -1"),
        (2, "endpoint SET client = 1 << 32"),
        (2, "endpoint SET mode = 0"),
        (2, "endpoint SET status = 9"),
        (3, "queue SET version = 1 << 32"),
        (4, "delivery SET message = x'00'"),
        (4, "delivery SET topic = 59"),
        (4, "delivery SET cause = 0"),
        (4, "delivery SET status = 4"),
        (4, "delivery SET attempts = 65536"),
        (4, "delivery SET last = '{}'"),
        (4, "delivery SET last = '{\"at\":1,\"took_ms\":1,\"more\":1}'"),
    ] {
        let damaged = dir.file("damaged.db");
        std::fs::copy(&path, &damaged).unwrap();
        assert_eq!(rusqlite::Connection::open(&damaged).unwrap().execute(&format!("UPDATE {damage}"), []).unwrap(), 1);
        let store = SqliteStore::open_read_only(&damaged).unwrap();
        for (at, listed) in scans.iter().enumerate() {
            let read = store.scan(listed);
            assert!(if at == scan { read.as_ref().is_err_and(|error| !error.retryable) } else { read.is_ok() }, "{damage}: {read:?}");
        }
    }
}

#[test]
fn lists_use_their_indexes() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    drop(open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let plan = |query: &str| -> Vec<String> {
        let sql = format!("EXPLAIN QUERY PLAN SELECT * FROM {query}");
        connection.prepare(&sql).unwrap().raw_query().mapped(|row| row.get(3)).map(Result::unwrap).collect()
    };
    for (query, index) in [
        ("settlement WHERE client = 1 ORDER BY created_at DESC, no DESC LIMIT 9", "settlement_created"),
        (
            "settlement WHERE client = 1 AND (created_at, no) < (5, 7) ORDER BY created_at DESC, no DESC LIMIT 9",
            "settlement_created (client=? AND created_at<?)",
        ),
        (
            "settlement WHERE client = 1 AND created_at >= 5 AND created_at < 9 ORDER BY created_at DESC, no DESC LIMIT 1 OFFSET 9",
            "settlement_created (client=? AND created_at>? AND created_at<?)",
        ),
        (
            "settlement WHERE client = 1 AND needs_review = 1 AND (created_at, no) < (5, 7) ORDER BY created_at DESC, no DESC LIMIT 9",
            "settlement_review",
        ),
        ("settlement WHERE client = 1 AND reference = 'a' ORDER BY created_at DESC, no DESC LIMIT 9", "(client=? AND reference=?)"),
        ("settlement WHERE status = ?1 AND expires_at < ?2 ORDER BY expires_at LIMIT ?3", "settlement_expires (status=? AND expires_at<?)"),
        ("key WHERE client = 1 ORDER BY no", "key_client"),
        ("key WHERE id = x'00'", "(id=?)"),
        ("nonce WHERE expires_at < 5 ORDER BY expires_at LIMIT 9", "nonce_expires"),
        ("nonce WHERE hash = x'00'", "PRIMARY KEY"),
        ("audit WHERE no > 7 ORDER BY no LIMIT 9", "PRIMARY KEY"),
        ("audit WHERE refused > ?1 AND at < ?2 ORDER BY at LIMIT ?3", "audit_refused (at<?)"),
        ("allowance WHERE since < ?1 ORDER BY since LIMIT ?2", "allowance_since"),
        ("allowance WHERE client = ?1", "PRIMARY KEY"),
        ("invitation WHERE expires_at < ?1 ORDER BY expires_at LIMIT ?2", "invitation_expires"),
        ("review WHERE due <= ?1 ORDER BY due, k LIMIT ?2", "review_due (due<?)"),
        ("review WHERE due <= ?1 AND (due, k) >= (?2, ?3) ORDER BY due, k LIMIT ?4", "review_due (due>? AND due<?)"),
        ("review WHERE k >= ?1 AND k <= ?2 ORDER BY k", "PRIMARY KEY (rowid>? AND rowid<?)"),
        ("feed WHERE k = ?1", "(k=?)"),
        ("feed WHERE owner = ?1 AND position > ?2 ORDER BY position LIMIT ?3", "PRIMARY KEY (owner=? AND position>?)"),
        ("feed WHERE owner = ?1 ORDER BY position DESC LIMIT 1", "PRIMARY KEY (owner=?)"),
        ("feed WHERE (owner, position) > (?1, ?2) ORDER BY owner, position LIMIT ?3", "PRIMARY KEY ((owner,position)>(?,?))"),
        ("endpoint WHERE no > ?1 ORDER BY no LIMIT ?2", "PRIMARY KEY (rowid>?)"),
        ("endpoint WHERE client = ?1 AND mode = ?2 AND status <> 5 ORDER BY no", "endpoint_client (client=? AND mode=?)"),
        ("endpoint WHERE id = ?1", "(id=?)"),
        ("endpoint_secret WHERE endpoint = ?1 ORDER BY n", "PRIMARY KEY (endpoint=?)"),
        ("queue WHERE troubled = ?1 AND due <= ?2 ORDER BY due, endpoint LIMIT ?3", "queue_due (troubled=? AND due<?)"),
        ("delivery WHERE endpoint = ?1 AND due <= ?2 ORDER BY due, no LIMIT ?3", "delivery_due (endpoint=? AND due<?)"),
        ("delivery WHERE endpoint = ?1 AND no < ?2 AND status = ?3 ORDER BY no DESC LIMIT ?4", "(endpoint=? AND status=? AND rowid<?)"),
        ("delivery WHERE no < ?1 ORDER BY no LIMIT ?2", "PRIMARY KEY (rowid<?)"),
    ] {
        let plan = plan(query);
        assert!(plan.len() == 1 && plan[0].starts_with("SEARCH") && plan[0].contains(index), "{query}: {plan:?}");
    }
    // From one end of a table, in its natural order.
    for query in ["unlogged ORDER BY no LIMIT ?1", "log_head ORDER BY events DESC LIMIT 1", "endpoint ORDER BY no DESC LIMIT 1"] {
        assert_eq!(plan(query), [format!("SCAN {}", query.split(' ').next().unwrap())], "{query}");
    }
    let flagged = plan("settlement WHERE needs_review = 1 ORDER BY client, created_at, no LIMIT ?1");
    assert_eq!(flagged, ["SCAN settlement USING INDEX settlement_review"], "only what is flagged, in its order");
    // A list merged from one walk per status needs no sorting.
    let walk = |status: u8| format!("delivery WHERE endpoint = ?1 AND no < ?2 AND status = {status}");
    let merged = plan(&format!("{} UNION ALL SELECT * FROM {} ORDER BY no DESC LIMIT ?3", walk(1), walk(2)));
    assert!(merged[0].starts_with("MERGE"), "{merged:?}");
    assert_eq!(merged.iter().filter(|step| step.contains("delivery_list (endpoint=? AND status=? AND rowid<?)")).count(), 2, "{merged:?}");
    assert!(!merged.iter().any(|step| step.contains("TEMP B-TREE") || step.contains("SCAN")), "{merged:?}");
}

#[test]
fn injected_faults_are_what_they_claim() {
    let store = Faulty::new(MemoryStore::new());
    store.script([
        Some(CommitFault::Unavailable),
        Some(CommitFault::Conflict),
        Some(CommitFault::LostBefore),
        None,
        Some(CommitFault::LostAfter),
    ]);
    let try_it = |no| store.commit(&commit([insert(task(no, 1))]));
    assert!(matches!(try_it(1), Err(CommitError::Store(error)) if error.retryable));
    assert!(matches!(try_it(2), Err(CommitError::Conflict(at)) if at.is_empty()));
    assert!(matches!(try_it(3), Err(CommitError::Indeterminate(_))));
    assert!(matches!(try_it(4), Ok(())));
    assert!(matches!(try_it(5), Err(CommitError::Indeterminate(_))));
    assert_eq!(everything(store.inner()), [task(4, 1), task(5, 1)].map(Record::from));
    store.script([Some(CommitFault::LostAfter)]);
    assert_eq!(clashes(try_it(5)), [0], "what is refused was not made");

    store.fail_reads(2);
    assert!(store.scan(&Scan::last(RecordKind::Client)).is_err() && store.get(&Key::Client(ClientNo(1))).is_err());
    assert!(store.find(&Unique::ClientId(Ulid(1))).is_ok());
    assert_eq!(store.injected(), 7);

    let faults = |seed| {
        let store = Faulty::seeded(MemoryStore::new(), seed, Rates { commits: [50; 4], reads: 100 });
        let commits = (0..500).map(|no| store.commit(&commit([insert(task(no, 1))])).is_ok());
        commits.chain((0..500).map(|_| store.scan(&Scan::all(RecordKind::Provider, usize::MAX)).is_ok())).collect::<Vec<bool>>()
    };
    assert_eq!(faults(7), faults(7));
    assert_ne!(faults(7), faults(8));
    let failed = faults(7).iter().filter(|ok| !**ok).count();
    assert!((80..220).contains(&failed), "{failed} of 1000");
    store.calm();
    assert!(try_it(6).is_ok());
}

#[test]
fn credentials_without_an_owner_are_found() {
    let mine = |no: u32, client: u32| {
        let key = key(no, client, 0);
        KeyRecord { id: key.public.id(), ..key }
    };
    let sound = [
        insert(meta("id_key", &[7; 16])),
        insert(client(1, 11)),
        insert(mine(1, 1)),
        insert(TokenRecord { mode: Mode::Sandbox, ..token(1, 5) }),
        insert(TokenRecord { key: KeyNo(0), client: ClientNo(9), ..token(2, 5) }),
        insert(audit(1)),
        insert(AuditRecord { key: KeyNo(0), client: ClientNo(0), ..audit(2) }),
    ];
    let found = |more: &[Write]| {
        let store = MemoryStore::new();
        store.commit(&commit(sound.iter().chain(more).cloned())).unwrap();
        let report = verify::verify(&store, &mut |_| {}).unwrap();
        report.problems.iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    assert_eq!(found(&[]), [""; 0]);
    let one_more = |record: Record| found(&[insert(record)]);
    assert_eq!(one_more(TokenRecord { key: KeyNo(2), ..token(3, 5) }.into()), ["token_without_key"]);
    assert_eq!(one_more(TokenRecord { mode: Mode::Live, ..token(3, 5) }.into()), ["token_differs"]);
    assert_eq!(one_more(TokenRecord { mode: Mode::Sandbox, client: ClientNo(2), ..token(3, 5) }.into()), ["token_differs"]);
    assert_eq!(one_more(AuditRecord { key: KeyNo(2), ..audit(3) }.into()), ["audit_without_key"]);
    assert_eq!(one_more(key(50_000, 1, 3).into()), ["key_differs"], "numbers may have gaps");
    assert_eq!(one_more(KeyRecord { id: KeyId([9; 32]), ..mine(u32::MAX, 1) }.into()), ["key_differs", "key_numbers"]);
    // A client that was never used is removed with its keys, but not the traces of its last session.
    assert_eq!(one_more(TokenRecord { client: ClientNo(9), key: KeyNo(2), ..token(3, 5) }.into()), [""; 0]);
    assert_eq!(one_more(AuditRecord { client: ClientNo(9), key: KeyNo(2), ..audit(3) }.into()), [""; 0]);
    assert_eq!(found(&[Write::Delete(Key::Client(ClientNo(1)))]), ["key_without_client"]);
}
