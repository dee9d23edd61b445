//! What the host of a sandbox makes at once: one write, durable as a whole or undone as a whole.
#![cfg(all(feature = "sandbox", feature = "sqlite"))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;

use railgate::api::{CreateAnswer, CreateRequest, SettlementStatus};
use railgate::engine::verify::verify;
use railgate::sandbox::{Options, Sandbox};
use railgate::store::record::{Key, MetaRecord, Record, RecordKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, CommitError, Scan, Store, StoreError, Unique, Write};
use railgate::{ErrorCode, Result};

const NOW: i64 = 1_795_257_497_042;

fn store(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder.join("sandbox.db")).unwrap()
}

fn meta(name: &str) -> MetaRecord {
    MetaRecord { name: name.to_owned(), value: vec![1] }
}

fn add(store: &dyn Store, name: &str) -> Result<(), CommitError> {
    store.commit(&Commit { writes: vec![Write::Insert(meta(name).into())] })
}

fn has(store: &dyn Store, name: &str) -> bool {
    store.get(&Key::Meta(name.to_owned())).unwrap().is_some()
}

#[test]
fn commits_made_together_are_seen_by_their_own_thread_until_all_are_durable() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let ended = store.together(&mut || {
        add(&store, "a").unwrap();
        assert!(matches!(add(&store, "a"), Err(CommitError::Conflict(_))), "a refused commit leaves the others alone");
        add(&store, "b").unwrap();
        assert!(has(&store, "a") && has(&store, "b"));
        let elsewhere = std::thread::scope(|threads| threads.spawn(|| has(&store, "a")).join().unwrap());
        assert!(!elsewhere, "what is not durable is nobody else's");
    });
    assert!(ended.is_ok() && std::thread::scope(|threads| threads.spawn(|| has(&store, "b")).join().unwrap()));
    drop(store);
    assert!(has(&self::store(folder.path()), "a"));
}

#[test]
fn commits_of_other_threads_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    std::thread::scope(|threads| {
        let (started, starts) = channel();
        let mut other = None;
        let ended = store.together(&mut || {
            add(&store, "mine").unwrap();
            let (started, store) = (started.clone(), &store);
            other = Some(threads.spawn(move || {
                started.send(()).unwrap();
                add(store, "another's").unwrap();
                // Only once what it waited for is durable.
                assert!(has(store, "mine"));
            }));
            starts.recv().unwrap();
            assert!(!has(store, "another's"));
        });
        ended.unwrap();
        other.unwrap().join().unwrap();
    });
    assert!(has(&store, "another's"));
}

#[test]
fn a_panic_undoes_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let steps = || {
        store.together(&mut || {
            add(&store, "a").unwrap();
            panic!("on purpose");
        })
    };
    assert!(catch_unwind(AssertUnwindSafe(steps)).is_err());
    assert!(!has(&store, "a"));
    add(&store, "a").unwrap();
}

/// A disk that fails when it should make commits durable together.
struct Failing {
    inner: SqliteStore,
    fails: AtomicBool,
    syncs: AtomicUsize,
}

impl Store for Failing {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        self.inner.commit(commit)
    }
    fn together(&self, steps: &mut dyn FnMut()) -> Result<(), CommitError> {
        self.syncs.fetch_add(1, Ordering::Relaxed);
        if !self.fails.load(Ordering::Relaxed) {
            return self.inner.together(steps);
        }
        let undone = catch_unwind(AssertUnwindSafe(|| {
            self.inner.together(&mut || {
                steps();
                std::panic::resume_unwind(Box::new(()));
            })
        }));
        assert!(undone.is_err());
        Err(CommitError::Store(StoreError::unavailable("a test", "the disk is full")))
    }
    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.inner.get(key)
    }
    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.inner.find(unique)
    }
    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.inner.scan(scan)
    }
}

fn failing(folder: &Path) -> (Arc<Failing>, Sandbox) {
    let store = Arc::new(Failing { inner: store(folder), fails: AtomicBool::new(false), syncs: AtomicUsize::new(0) });
    let sandbox = Sandbox::open(Arc::<Failing>::clone(&store), &Options::default(), [7; 32], NOW).unwrap();
    (store, sandbox)
}

/// Whether record, ledger, trace and operator agree about a completed payment.
fn is_whole(sandbox: &Sandbox, reference: &str) -> bool {
    let found = sandbox.client().reconcile(reference).unwrap();
    found.consistent && found.settlement.status == SettlementStatus::Completed
}

fn pay(sandbox: &Sandbox, reference: &str) -> Result<CreateAnswer> {
    let request = CreateRequest::new("10.50 EUR".parse().unwrap(), "sim:ok".parse().unwrap(), reference.parse().unwrap());
    sandbox.client().create(request)
}

#[test]
fn creates_are_decided_sent_and_completed_in_one_write() {
    let folder = tempfile::tempdir().unwrap();
    let (store, sandbox) = failing(folder.path());
    let mut made = Vec::new();
    let worked = sandbox.at_once(NOW, || made.extend(["a", "b", "a"].map(|reference| pay(&sandbox, reference).unwrap())));
    assert_eq!(worked.unwrap().unwrap().done, 2);
    assert_eq!(made.iter().map(|answer| answer.replayed).collect::<Vec<_>>(), [false, false, true]);
    assert_eq!(store.syncs.load(Ordering::Relaxed), 1);
    assert!(is_whole(&sandbox, "a") && is_whole(&sandbox, "b"));
}

#[test]
fn a_write_that_fails_undoes_its_calls_and_the_next_one_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (store, sandbox) = failing(folder.path());
    sandbox.at_once(NOW, || drop(pay(&sandbox, "before").unwrap())).unwrap().unwrap();
    let balance = |sandbox: &Sandbox| sandbox.client().balance("EUR").unwrap().available;
    let (before, events) = (balance(&sandbox), store.scan(&Scan::all(RecordKind::Feed, 1_000)).unwrap());
    store.fails.store(true, Ordering::Relaxed);
    let undone = sandbox.at_once(NOW, || drop(pay(&sandbox, "lost").unwrap())).unwrap_err();
    let error = undone.error(true);
    assert_eq!((error.code, error.retryable), (ErrorCode::StoreUnavailable, true));
    assert_eq!(sandbox.client().settlement("lost").unwrap_err().code, ErrorCode::SettlementNotFound);
    assert_eq!((balance(&sandbox), store.scan(&Scan::all(RecordKind::Feed, 1_000)).unwrap()), (before, events));
    store.fails.store(false, Ordering::Relaxed);
    for reference in ["lost", "after"] {
        sandbox.at_once(NOW, || assert!(!pay(&sandbox, reference).unwrap().replayed)).unwrap().unwrap();
        assert!(is_whole(&sandbox, reference));
    }
    drop((sandbox, store));
    // A sandbox keeps no log of leaves.
    let report = verify(&self::store(folder.path()), &mut |_| {}).unwrap();
    assert!(report.problems.iter().all(|problem| problem.code == "leaf_differs"), "{:?}", report.problems);
}

#[test]
fn a_call_of_another_thread_waits_for_what_is_made_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (_, sandbox) = failing(folder.path());
    std::thread::scope(|threads| {
        let (started, starts) = channel();
        let mut other = None;
        let worked = sandbox.at_once(NOW, || {
            let (started, sandbox) = (started.clone(), &sandbox);
            other = Some(threads.spawn(move || {
                started.send(()).unwrap();
                pay(sandbox, "a").unwrap()
            }));
            starts.recv().unwrap();
            assert!(!pay(sandbox, "a").unwrap().replayed);
        });
        worked.unwrap().unwrap();
        assert!(other.unwrap().join().unwrap().replayed, "it saw what was durable by then");
    });
}
