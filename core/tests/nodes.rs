//! Several engines over one store: they keep out of each other's way, and leave nothing behind when they go.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use railgate::api::{Command, Outcome};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, Record};
use railgate::store::{Commit, CommitError, Scan, Store, StoreError, Unique};
use railgate::{Config, Engine, ErrorCode};
use support::log::{assert_logged, log_all, log_some};
use support::meddling::Meddling;
use support::{Sandbox, sealing};

/// Counts the commits that were refused because of another node, and may be without its standby.
struct Counting {
    inner: Arc<dyn Store>,
    conflicts: AtomicUsize,
    alone: AtomicBool,
}

impl Counting {
    fn over(inner: Arc<dyn Store>) -> Arc<Self> {
        Arc::new(Self { inner, conflicts: AtomicUsize::new(0), alone: AtomicBool::new(false) })
    }
}

impl Store for Counting {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        let made = self.inner.commit(commit);
        self.conflicts.fetch_add(usize::from(matches!(made, Err(CommitError::Conflict(_)))), Ordering::Relaxed);
        made
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

    fn secure(&self) -> Result<(), StoreError> {
        match self.alone.load(Ordering::Relaxed) {
            true => Err(StoreError::unavailable("waiting for the standby", "there is none")),
            false => Ok(()),
        }
    }
}

fn node(s: &Sandbox, store: Arc<dyn Store>, owner: i64) -> Engine {
    Engine::open(store, s.env.clone(), Config { owner: Some(owner), ..sealing() }).unwrap()
}

fn create(s: &Sandbox, node: &Engine, reference: &str) -> Command {
    let body = format!(r#"{{"amount":10,"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
    Command::Create { caller: s.caller, request: Box::new(node.parse_create(body.as_bytes()).unwrap()) }
}

fn leased(outcome: Outcome) -> usize {
    let Outcome::Leased(leases) = outcome else { panic!("{outcome:?}") };
    leases.len()
}

#[test]
fn nodes_that_create_in_turn_run_into_each_other_once_at_most() {
    let s = Sandbox::new();
    let store = Counting::over(s.store.clone());
    let nodes = [node(&s, store.clone(), 1), node(&s, store.clone(), 2)];
    for n in 0..100 {
        let node = &nodes[n % 2];
        node.run(create(&s, node, &format!("r{n}"))).unwrap();
    }
    let conflicts = store.conflicts.load(Ordering::Relaxed);
    assert!(conflicts <= 2, "each meets the other once, not {conflicts} times");
    s.pass(0);
    s.assert_sound();
}

#[test]
fn a_replay_is_answered_only_once_it_is_as_durable_as_a_create() {
    let s = Sandbox::new();
    let store = Counting::over(s.store.clone());
    let node = node(&s, store.clone(), 1);
    node.run(create(&s, &node, "r")).unwrap();
    store.alone.store(true, Ordering::Relaxed);
    let refused = node.run(create(&s, &node, "r")).unwrap_err();
    assert_eq!((refused.code, refused.retryable), (ErrorCode::StoreUnavailable, true));
    store.alone.store(false, Ordering::Relaxed);
    assert!(matches!(node.run(create(&s, &node, "r")).unwrap(), Outcome::Created { replayed: true, .. }));
}

#[test]
fn tasks_that_another_node_took_keep_no_client_waiting() {
    let s = Sandbox::new();
    s.pay("before", "sim:ok");
    let slow = Meddling::over(s.store.clone());
    let (late, fast) = (node(&s, slow.clone(), 1), node(&s, s.store.clone(), 2));
    slow.before_commit(move || assert_eq!(leased(fast.run(Command::Lease { limit: 10 }).unwrap()), 1));
    let group = vec![create(&s, &late, "r"), Command::Lease { limit: 10 }];
    let mut results = late.execute(group).results.into_iter();
    assert!(matches!(results.next().unwrap().unwrap(), Outcome::Created { replayed: false, .. }));
    assert_eq!(leased(results.next().unwrap().unwrap()), 0, "it goes without, and looks again in its next group");
    assert_eq!(leased(late.run(Command::Lease { limit: 10 }).unwrap()), 1);
}

#[test]
fn what_a_node_gives_back_at_its_end_another_takes_at_once() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let s = Sandbox::over(store.clone(), Config { owner: Some(1), ..sealing() }, 1);
    for n in 0..3 {
        s.pay(&format!("r{n}"), "sim:ok");
    }
    let other = node(&s, store.clone(), 2);
    assert_eq!(leased(s.engine.run(Command::Lease { limit: 2 }).unwrap()), 2);
    assert!(log_some(&s.engine, 1).events > 0);
    assert_eq!(leased(other.run(Command::Lease { limit: 10 }).unwrap()), 1, "leases hold");
    assert!(log_some(&other, 100).held_until.is_some(), "and so does the log's");

    s.engine.run(Command::Release).unwrap();
    other.run(Command::Lease { limit: 10 }).unwrap();
    let unknown = (0..3).filter(|n| s.status(&format!("r{n}")) == "unknown").count();
    assert_eq!(unknown, 2, "nobody knows what became of those calls; the other node's own are still under way");
    log_all(&other);
    assert_logged(&*store);
}
