//! Every store against the conformance suite, SQLite against the memory store as its model, and what only a file has:
//! it outlives the process, has one owner, is refused when it is not ours, and can be copied while it is in use.
#![cfg(all(feature = "sqlite", feature = "testkit"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use railgate::auth::KeyId;
use railgate::engine::verify;
use railgate::ids::{ClientNo, KeyNo, ProviderNo, SettlementNo, Ulid};
use railgate::ledger::{AccountId, Mode, Owner, Transfer, TransferKind};
use railgate::lifecycle::{AttemptStatus, SettlementStatus};
use railgate::store::conformance::{clashes, everything, fixtures::*};
use railgate::store::faulty::{CommitFault, Faulty, Rates};
use railgate::store::memory::MemoryStore;
use railgate::store::record::*;
use railgate::store::sqlite::{Sharing, SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Commit, CommitError, Scan, SettlementFilter, Store, StoreError, Unique, Write};

railgate::store_conformance!(memory, || Box::new(MemoryStore::new()) as Box<dyn Store>);
railgate::store_conformance!(sqlite, || Box::new(OnDisk::new()) as Box<dyn Store>);
railgate::store_conformance!(a_calm_faulty_store, || Box::new(Faulty::new(MemoryStore::new())) as Box<dyn Store>);

/// A directory that goes when the test ends.
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

/// A SQLite store with its directory. Nothing here loses power, so that the disk need not be waited for.
struct OnDisk {
    store: SqliteStore,
    _dir: Dir,
}

impl OnDisk {
    fn new() -> Self {
        let dir = Dir::new();
        let options = SqliteOptions { synchronous: Synchronous::Normal, readers: 2, checkpoint_pages: 100, ..Default::default() };
        Self { store: SqliteStore::open(&dir.file("railgate.db"), options).unwrap(), _dir: dir }
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
    SqliteStore::open(path, SqliteOptions::default())
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
    // Closed properly, the database is one file beside its lock.
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
    // What a process that vanishes leaves: the files as they are, the log not yet copied.
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
    let store = SqliteStore::open(&path, options).unwrap();
    (0..200).for_each(|round| store.commit(&some_writes(1 + round * 100, 100)).unwrap());
    let log = std::fs::metadata(dir.file("railgate.db-wal")).unwrap().len();
    let database = std::fs::metadata(&path).unwrap().len();
    assert!(database > 1 << 20, "only {database} bytes were copied");
    assert!(log < 16 << 20, "the log grew to {log} bytes");
}

#[test]
fn a_database_has_one_owner() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    let store = open(&path).unwrap();
    assert!(refusal(open(&path)).contains("another process has it open"));
    #[cfg(unix)]
    {
        // Whatever name it goes by.
        std::os::unix::fs::symlink(&path, dir.file("alias.db")).unwrap();
        assert!(refusal(open(&dir.file("alias.db"))).contains("another process has it open"));
    }
    drop(store);
    open(&path).unwrap();
}

fn shared(path: &Path, sharing: Sharing) -> Result<SqliteStore, StoreError> {
    SqliteStore::open(path, SqliteOptions { sharing, ..SqliteOptions::default() })
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
        // Commits go on between the steps, and are not in the copy.
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

/// A database as a gateway of schema 0001 left it. Goldens are never made anew: each released schema opens for ever.
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
    let tokens = Scan::TokensExpiredBefore { expired: i64::MAX, limit: 9 };
    assert_eq!(store.scan(&tokens).unwrap(), [], "a token without a key opens nothing");
    let paid = store.find(&Unique::SettlementReference(ClientNo(1), "golden-paid".to_owned())).unwrap();
    let Some(Record::Settlement(paid)) = paid else { panic!("{paid:?}") };
    assert_eq!((paid.status, paid.amount, paid.reversed, paid.version), (SettlementStatus::PartiallyReversed, 1050, 250, 9));
    let report = verify::verify(&store, &mut |_| {}).unwrap();
    assert_eq!(report.problems, []);
    assert_eq!((report.settlements, report.events, report.transfers, report.accounts, report.tasks), (3, 19, 19, 27, 1));

    let secret_of_hooks = ClientRecord { webhook_secret: vec![1; 77], ..client };
    store.commit(&commit([replace(secret_of_hooks.clone()), insert(key(1, 1, 1)), insert(token(1, 5)), insert(nonce(1, 5))])).unwrap();
    drop(store);
    let store = open(&path).unwrap();
    for record in [secret_of_hooks.into(), key(1, 1, 1).into(), token(1, 5).into(), Record::from(nonce(1, 5))] {
        assert_eq!(store.get(&record.key()).unwrap(), Some(record));
    }
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
fn lists_use_their_indexes() {
    let dir = Dir::new();
    let path = dir.file("railgate.db");
    drop(open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    for (condition, index) in [
        ("client = 1 ORDER BY no DESC LIMIT 9", "settlement_client"),
        ("client = 1 AND no < 7 ORDER BY no DESC LIMIT 9", "settlement_client"),
        ("client = 1 AND needs_review = 1 AND no < 7 ORDER BY no DESC LIMIT 9", "settlement_review"),
        ("client = 1 AND reference = 'a' ORDER BY no DESC LIMIT 9", "(client=? AND reference=?)"),
    ] {
        let sql = format!("EXPLAIN QUERY PLAN SELECT * FROM settlement WHERE {condition}");
        let plan: Vec<String> = connection.prepare(&sql).unwrap().query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        assert!(plan.len() == 1 && plan[0].contains(index), "{condition}: {plan:?}");
    }
    for (query, index) in [
        ("key WHERE client = 1 ORDER BY no", "key_client"),
        ("key WHERE id = x'00'", "(id=?)"),
        ("nonce WHERE expires_at < 5 ORDER BY expires_at LIMIT 9", "nonce_expires"),
        ("nonce WHERE hash = x'00'", "PRIMARY KEY"),
        ("audit WHERE no > 7 ORDER BY no LIMIT 9", "PRIMARY KEY"),
    ] {
        let sql = format!("EXPLAIN QUERY PLAN SELECT * FROM {query}");
        let plan: Vec<String> = connection.prepare(&sql).unwrap().query_map([], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
        assert!(plan.len() == 1 && plan[0].starts_with("SEARCH") && plan[0].contains(index), "{query}: {plan:?}");
    }
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
    assert!(store.scan(&Scan::LastClient).is_err() && store.get(&Key::Client(ClientNo(1))).is_err());
    assert!(store.find(&Unique::ClientId(Ulid(1))).is_ok());
    assert_eq!(store.injected(), 7);

    let faults = |seed| {
        let store = Faulty::seeded(MemoryStore::new(), seed, Rates { commits: [50; 4], reads: 100 });
        let commits = (0..500).map(|no| store.commit(&commit([insert(task(no, 1))])).is_ok());
        commits.chain((0..500).map(|_| store.scan(&Scan::Providers).is_ok())).collect::<Vec<bool>>()
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
    assert_eq!(one_more(KeyRecord { id: KeyId([9; 32]), ..mine(u32::MAX, 1) }.into()), ["key_numbers"]);
    assert_eq!(found(&[Write::Delete(Key::Client(ClientNo(1)))]), ["key_without_client"]);
}

/// What a commit came to, comparable between stores.
#[derive(Debug, PartialEq)]
enum Outcome {
    Made,
    Clashed(Vec<usize>),
    Guarded(AccountId),
    Refused,
}

fn outcome(store: &dyn Store, commit: &Commit) -> Outcome {
    match store.commit(commit) {
        Ok(()) => Outcome::Made,
        Err(CommitError::Conflict(clashes)) => Outcome::Clashed(clashes.into_iter().map(|it| it.write).collect()),
        Err(CommitError::BalanceGuard(account)) => Outcome::Guarded(account),
        Err(CommitError::Store(error)) if !error.retryable => Outcome::Refused,
        Err(other) => panic!("{other:?}"),
    }
}

prop_compose! {
    fn any_settlement()(
        no in 1i64..6, client in 1u32..3, reference in "[abc]", version in 1u32..4, needs_review: bool, amount in 1i64..2000,
        status in prop::sample::select(SettlementStatus::ALL), code in prop::sample::select(vec!["EUR", "JPY", "KWD"]),
        provider in 1u16..3, created_at in 0i64..50, live: bool,
    ) -> SettlementRecord {
        let mode = if live { Mode::Live } else { Mode::Sandbox };
        let (provider, currency) = (ProviderNo(provider), currency(code));
        SettlementRecord { version, needs_review, amount, status, currency, provider, created_at, mode, ..settlement(no, client, &reference) }
    }
}

prop_compose! {
    fn any_transfer()(
        journal in -2i64..4, n in 1u16..4, kind in prop::sample::select(TransferKind::ALL), debit in any_account(), credit in any_account(),
        amount in prop_oneof![8 => 1i64..100, 1 => Just(i64::MAX), 1 => Just(i64::MAX / 2), 1 => Just(0)],
    ) -> Transfer {
        Transfer { kind, ..transfer(journal, n, debit, credit, amount) }
    }
}

fn any_account() -> impl Strategy<Value = AccountId> {
    let owners = [Owner::Client(ClientNo(1)), Owner::Client(ClientNo(2)), Owner::Provider(ProviderNo(1)), Owner::Funding, Owner::Funding];
    prop::sample::select(owners.map(account).to_vec())
}

fn any_other() -> impl Strategy<Value = Record> {
    let small = || 1i64..4;
    prop_oneof![
        (1u32..4, 1u128..4, any::<bool>()).prop_map(|(no, id, suspended)| ClientRecord { suspended, ..client(no, id) }.into()),
        (1u8..4, small()).prop_map(|(hash, at)| token(hash, at).into()),
        (1u32..4, 1u32..3, 1u8..4, prop::sample::select(KeyStatus::ALL)).prop_map(|(no, client, id, status)| KeyRecord {
            status,
            ..key(no, client, id)
        }
        .into()),
        (1u8..4, small()).prop_map(|(hash, at)| nonce(hash, at).into()),
        (prop::sample::select(SecretKind::ALL), 1u32..3, prop::option::of(small())).prop_map(|(kind, no, retired_at)| SecretRecord {
            retired_at,
            ..secret(kind, no)
        }
        .into()),
        (small(), prop::sample::select(AuditAction::ALL), prop::option::of("[no]")).prop_map(|(no, action, name)| AuditRecord {
            action,
            name,
            ..audit(no)
        }
        .into()),
        (1u16..3, "[pq]").prop_map(|(no, id)| provider(no, &id).into()),
        (small(), 1u16..3, prop::sample::select(AttemptStatus::ALL))
            .prop_map(|(no, n, status)| AttemptRecord { status, ..attempt(no, n) }.into()),
        (small(), 1u16..3, 1u32..3, prop::option::of("[rs]")).prop_map(|(no, n, client, reference)| reversal(
            no,
            n,
            client,
            reference.as_deref()
        )
        .into()),
        (small(), prop_oneof![9 => 0u32..3, 1 => 65_535u32..65_537], prop::option::of("\\PC{0,3}")).prop_map(|(no, n, data)| EventRecord {
            data,
            ..event(no, n)
        }
        .into()),
        (small(), 0u32..2, any::<i64>()).prop_map(|(due, n, owner)| TaskRecord { owner, ..task(due, n) }.into()),
        (1u32..3, "[kl]", small()).prop_map(|(client, key, at)| idempotency(client, &key, at).into()),
        (small(), 1u16..3, any::<u16>()).prop_map(|(no, n, received)| SimPaymentRecord { received, ..sim_payment(no, n) }.into()),
        ("[mn]", prop::collection::vec(any::<u8>(), 0..3)).prop_map(|(name, value)| meta(&name, &value).into()),
    ]
}

fn any_write() -> impl Strategy<Value = Write> {
    prop_oneof![
        4 => any_settlement().prop_map(insert),
        3 => (any_settlement(), 1u32..4).prop_map(|(record, expected)| update(record, expected)),
        1 => (1i64..6).prop_map(|no| Write::Delete(Key::Settlement(SettlementNo(no)))),
        4 => any_transfer().prop_map(Write::Post),
        5 => any_other().prop_map(Write::Insert),
        3 => any_other().prop_map(Write::Replace),
        2 => any_other().prop_map(|record| Write::Delete(record.key())),
    ]
}

prop_compose! {
    fn any_filter()(
        status in prop::collection::vec(prop::sample::select(SettlementStatus::ALL), 0..3),
        code in prop::option::of(prop::sample::select(vec!["EUR", "JPY"])), provider in prop::option::of((1u16..3).prop_map(ProviderNo)),
        reference in prop::option::weighted(0.2, "[abc]"), live in prop::option::of(any::<bool>()), needs_review in prop::option::of(any::<bool>()),
        created_from in prop::option::of(0i64..50), created_to in prop::option::of(0i64..50),
        least in prop::option::of(0i64..50), most in prop::option::of(0i64..50),
    ) -> SettlementFilter {
        let bound = |it: i64| [it, it * 10, it * 100, it * 1000, it * 10_000];
        let mode = live.map(|live| if live { Mode::Live } else { Mode::Sandbox });
        let (min_amount, max_amount) = (least.map(bound), most.map(bound));
        SettlementFilter {
            status, currency: code.map(currency), provider, reference, mode, needs_review, created_from, created_to, min_amount, max_amount, to: None,
        }
    }
}

/// Everything that can be asked about the small world of the commits above.
fn same_answers(model: &dyn Store, store: &dyn Store, filter: &SettlementFilter) -> Result<(), TestCaseError> {
    prop_assert_eq!(everything(model), everything(store));
    let numbers = || (1..6).map(SettlementNo);
    let mut scans = vec![Scan::LastSettlement, Scan::LastTransfer, Scan::LastClient, Scan::LastKey, Scan::LastAudit];
    scans.extend((0..3).map(|after| Scan::Audit { after, limit: 2 }));
    scans.extend(numbers().map(Scan::Transfers));
    scans.extend((0..4).map(|until| Scan::Tasks { after: TaskKey(0), until, limit: 2 }));
    for client in (1..3).map(ClientNo) {
        scans.push(Scan::AccountsOf(client));
        for filter in [SettlementFilter::default(), filter.clone()] {
            let page = |before, limit| Scan::SettlementsOf { client, filter: Box::new(filter.clone()), before, limit };
            scans.extend([page(None, 99), page(None, 1), page(Some(SettlementNo(3)), 2)]);
        }
    }
    for scan in &scans {
        prop_assert_eq!(model.scan(scan).unwrap(), store.scan(scan).unwrap(), "{:?}", scan);
    }
    for record in everything(model) {
        prop_assert_eq!(store.get(&record.key()).unwrap(), Some(record));
    }
    let texts = ["a", "b", "c", "r", "s"].map(str::to_owned);
    let of =
        |client| texts.clone().map(|text| [Unique::SettlementReference(client, text.clone()), Unique::ReversalReference(client, text)]);
    let ids = (1..4).flat_map(|id| [Unique::ClientId(Ulid(id.into())), Unique::KeyId(KeyId([id; 32]))]);
    for unique in (1..3).map(ClientNo).flat_map(of).flatten().chain(ids) {
        prop_assert_eq!(model.find(&unique).unwrap(), store.find(&unique).unwrap(), "{:?}", unique);
    }
    for name in ["m", "n"].map(|name| Key::Meta(name.to_owned())) {
        prop_assert_eq!(model.get(&name).unwrap(), store.get(&name).unwrap());
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn sqlite_does_what_memory_does(
        steps in prop::collection::vec((prop::collection::vec(any_write(), 1..4), any_filter()), 1..40),
    ) {
        let (model, store) = (MemoryStore::new(), OnDisk::new());
        for (writes, filter) in steps {
            let commit = commit(writes);
            prop_assert_eq!(outcome(&model, &commit), outcome(&store, &commit), "{:?}", commit);
            same_answers(&model, &store, &filter)?;
        }
    }
}
