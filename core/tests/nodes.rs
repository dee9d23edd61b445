//! Several engines over one store: they do not interfere with each other, and leave nothing behind when they stop.
#![cfg(feature = "testkit")]

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::plain_rail::{PlainRail, provider};
use crate::scripted::{START, Script, World, replied};
use crate::support::log::{assert_logged, log_all, log_some};
use crate::support::meddling::Meddling;
use crate::support::remote::Remote;
use crate::support::{Sandbox, create, sealing, together};
use railgate::api::{IdempotencyKey, Subject};
use railgate::engine::{Create, Fund, KeptUnder, LeaseTasks, Once, Release, ReportAnswer};
use railgate::env::Env as _;
use railgate::rail::{Carried, RailAnswer, Rails};
use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Record, RecordKind};
use railgate::store::{Clash, Commit, CommitError, Store, StoreError, Write};
use railgate::{Config, Engine, ErrorCode};

/// Counts the commits refused because of another node; can be cut off from its standby.
#[derive(Default)]
struct Counting {
    conflicts: AtomicUsize,
    alone: AtomicBool,
}

impl Hooks for Counting {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        match call {
            Call::Secure if self.alone.load(Ordering::Relaxed) => Err(StoreError::unavailable("waiting for the standby", "there is none")),
            _ => Ok(()),
        }
    }

    fn committed(&self, _: &Commit, made: &Result<(), CommitError>) {
        self.conflicts.fetch_add(usize::from(matches!(made, Err(CommitError::Conflict(_)))), Ordering::Relaxed);
    }
}

fn node(s: &Sandbox, store: Arc<dyn Store>, owner: i64) -> Engine {
    Engine::open(store, s.env.clone(), Config { owner: Some(owner), ..sealing() }).unwrap()
}

fn payment(s: &Sandbox, node: &Engine, reference: &str) -> Create {
    create(node, s.caller, &format!(r#"{{"amount":10,"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#))
}

fn lease(node: &Engine, limit: usize) -> usize {
    node.run(LeaseTasks::up_to(limit)).unwrap().len()
}

#[test]
fn nodes_that_create_in_turn_run_into_each_other_once_at_most() {
    let s = Sandbox::new();
    let store = Hooked::<Counting>::over(s.store.clone());
    let nodes = [node(&s, store.clone(), 1), node(&s, store.clone(), 2)];
    for n in 0..100 {
        let node = &nodes[n % 2];
        node.run(payment(&s, node, &format!("r{n}"))).unwrap();
    }
    let conflicts = store.conflicts.load(Ordering::Relaxed);
    assert!(conflicts <= 2, "each meets the other once, not {conflicts} times");
    s.pass(0);
    s.assert_sound();
}

#[test]
fn an_operator_that_calls_back_again_is_answered_once_a_standby_has_what_it_said() {
    let s = Sandbox::new();
    let store = Hooked::<Counting>::over(s.store.clone());
    let node = node(&s, store.clone(), 1);
    let no = node.run(payment(&s, &node, "r")).unwrap().settlement.no;
    assert_eq!(lease(&node, 9), 1);
    let callback =
        || ReportAnswer { subject: Subject::Attempt(no, 1), answer: RailAnswer::Completed { rail_reference: None }, lease: None };
    node.run(callback()).unwrap();
    store.alone.store(true, Ordering::Relaxed);
    let refused = node.run(callback()).unwrap_err();
    assert_eq!((refused.code, refused.retryable), (ErrorCode::StoreUnavailable, true));
    store.alone.store(false, Ordering::Relaxed);
    node.run(callback()).unwrap();
}

#[test]
fn an_answer_that_is_kept_is_given_again_once_a_standby_has_it() {
    let s = Sandbox::new();
    let store = Hooked::<Counting>::over(s.store.clone());
    let node = node(&s, store.clone(), 1);
    let key = KeptUnder { caller: s.caller, key: IdempotencyKey { key: "k".to_owned(), fingerprint: [1; 32] } };
    let command = Fund { caller: s.caller, money: "5.00 CHF".parse().unwrap() };
    let first = node.run(Once { key: Some(key.clone()), goes_on: false, command }).unwrap();
    store.alone.store(true, Ordering::Relaxed);
    assert_eq!(node.kept_answer::<()>(&key).unwrap_err().code, ErrorCode::StoreUnavailable);
    store.alone.store(false, Ordering::Relaxed);
    assert_eq!(node.kept_answer::<()>(&key).unwrap().unwrap().body, first.body);
}

#[test]
fn what_is_not_found_too_early_is_asked_for_again_when_that_would_be_proof() {
    let stores: [(Arc<dyn Store>, i64); 2] = [(Arc::new(MemoryStore::new()), 60_000), (Remote::over(Arc::new(MemoryStore::new())), 70_000)];
    for (store, proof) in stores {
        let world = World::on(store, vec![provider("first", "https://one.example")], Rails::built_in().with(PlainRail));
        let (env, inquired) = (world.env.clone(), Mutex::new(Vec::new()));
        let lost = Script::new(|method: &str, _: &str| {
            if method == "PUT" {
                return Carried::Lost;
            }
            inquired.lock().unwrap().push(env.now() - START);
            replied(404, "")
        });
        world.pay(&lost, proof - 1);
        assert_eq!((inquired.lock().unwrap().as_slice(), lost.asked().len()), ([5_000, 30_000].as_slice(), 3));
        world.pass(&lost, 1);
        assert_eq!((inquired.lock().unwrap().as_slice(), lost.asked().len()), ([5_000, 30_000, proof].as_slice(), 5), "it is sent again");
    }
}

/// Refuses each commit with one payment.
struct Poisoned;

impl Hooks for Poisoned {
    fn clashes(&self, commit: &Commit) -> Vec<Clash> {
        let is_it = |write: &Write| matches!(write, Write::Insert(Record::Settlement(it)) if it.reference.as_str() == "poison");
        commit.writes.iter().position(is_it).map(|write| Clash { write }).into_iter().collect()
    }
}

#[test]
fn what_conflicts_each_time_fails_alone() {
    let s = Sandbox::new();
    let node = node(&s, Hooked::with(s.store.clone(), Poisoned), 1);
    let references = ["a", "b", "poison", "c", "d"];
    let made = node.run_all(references.map(|reference| payment(&s, &node, reference)));
    let codes = made.into_iter().map(|made| made.map_err(|error| error.code).map(drop)).collect::<Vec<_>>();
    assert_eq!(codes, [Ok(()), Ok(()), Err(ErrorCode::StoreUnavailable), Ok(()), Ok(())]);
    s.pass(0);
    s.assert_sound();
}

/// Something that happens before each commit of a settlement.
#[derive(Default)]
struct Before(Mutex<Option<Box<dyn FnMut() + Send>>>);

impl Hooks for Before {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        if let Call::Commit(commit) = call
            && commit.writes.iter().any(|write| matches!(write, Write::Insert(Record::Settlement(_))))
            && let Some(act) = &mut *self.0.lock().unwrap()
        {
            act();
        }
        Ok(())
    }
}

#[test]
fn a_node_that_begins_beside_a_busy_one_is_not_outrun_for_ever() {
    let s = Sandbox::new();
    let (busy, store) = (node(&s, s.store.clone(), 1), Hooked::<Before>::over(s.store.clone()));
    let late = node(&s, store.clone(), 2);
    let (caller, mut made) = (s.caller, 0);
    // It takes the next numbers again and again, and never notices that another node wants them.
    *store.0.lock().unwrap() = Some(Box::new(move || {
        for _ in 0..100 {
            made += 1;
            let body = format!(r#"{{"amount":0.01,"currency":"EUR","to":"sim:ok","reference":"busy-{made}"}}"#);
            busy.run(create(&busy, caller, &body)).unwrap();
        }
    }));
    for n in 0..5 {
        late.run(payment(&s, &late, &format!("late-{n}"))).unwrap();
    }
    s.pass(0);
    s.assert_sound();
}

#[test]
fn a_client_that_first_uses_its_money_on_two_nodes_at_once_has_it_on_both() {
    type Use = fn(&Sandbox, &Engine);
    let uses: [Use; 4] = [
        |s, node| drop(node.run(payment(s, node, "slow")).unwrap()),
        |s, node| {
            assert!(
                node.preflight(&s.caller, br#"{"amount":10,"currency":"EUR","to":"sim:ok","reference":"r"}"#).unwrap().view.funds_available
            )
        },
        |s, node| assert_eq!(node.balance(&s.caller, "EUR").unwrap().available.as_str(), "999990.00"),
        |s, node| assert!(!node.balances(&s.caller).unwrap().is_empty()),
    ];
    for used in uses {
        let s = Sandbox::new();
        let store = Meddling::over(s.store.clone());
        let (slow, fast) = (node(&s, store.clone(), 1), node(&s, s.store.clone(), 2));
        let first = payment(&s, &fast, "fast");
        store.before_get(RecordKind::Allowance, move || drop(fast.run(first).unwrap()));
        used(&s, &slow);
        s.pass(0);
        s.assert_sound();
    }
}

#[test]
fn a_node_pays_from_memory_but_never_refuses_from_it_nor_spends_what_another_spent() {
    let s = Sandbox::new();
    let remote = Remote::over(s.store.clone());
    let (remembers, other) = (node(&s, remote.clone(), 1), node(&s, s.store.clone(), 2));
    remembers.run(payment(&s, &remembers, "first")).unwrap();
    remote.taken();
    remembers.run(payment(&s, &remembers, "second")).unwrap();
    assert_eq!(remote.taken(), 1, "a commit and no read");

    let all = other.balance(&s.caller, "EUR").unwrap().available;
    let body = format!(r#"{{"amount":"{}","currency":"EUR","to":"sim:ok","reference":"all"}}"#, all.as_str());
    other.run(create(&other, s.caller, &body)).unwrap();
    assert_eq!(remembers.run(payment(&s, &remembers, "third")).unwrap_err().code, ErrorCode::InsufficientFunds);

    other.run(Fund { caller: s.caller, money: "10.00 EUR".parse().unwrap() }).unwrap();
    remembers.run(payment(&s, &remembers, "third")).unwrap();
    s.pass(0);
    s.assert_sound();
}

#[test]
fn a_replay_is_answered_only_once_it_is_as_durable_as_a_create() {
    let s = Sandbox::new();
    let store = Hooked::<Counting>::over(s.store.clone());
    let node = node(&s, store.clone(), 1);
    node.run(payment(&s, &node, "r")).unwrap();
    store.alone.store(true, Ordering::Relaxed);
    let refused = node.run(payment(&s, &node, "r")).unwrap_err();
    assert_eq!((refused.code, refused.retryable), (ErrorCode::StoreUnavailable, true));
    store.alone.store(false, Ordering::Relaxed);
    assert!(node.run(payment(&s, &node, "r")).unwrap().replayed);
}

#[test]
fn tasks_that_another_node_took_keep_no_client_waiting() {
    let s = Sandbox::new();
    s.pay("before", "sim:ok");
    let slow = Meddling::over(s.store.clone());
    let (late, fast) = (node(&s, slow.clone(), 1), node(&s, s.store.clone(), 2));
    slow.before_commit(move || assert_eq!(lease(&fast, 10), 1));
    let (created, leases) = together(&late, payment(&s, &late, "r"), LeaseTasks::up_to(10));
    assert!(!created.unwrap().replayed);
    assert_eq!(leases.unwrap().len(), 0, "it goes without, and looks again in its next group");
    assert_eq!(lease(&late, 10), 1);
}

#[test]
fn what_a_node_gives_back_at_its_end_another_takes_at_once() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let s = Sandbox::over(store.clone(), Config { owner: Some(1), ..sealing() }, 1);
    for n in 0..3 {
        s.pay(&format!("r{n}"), "sim:ok");
    }
    let other = node(&s, store.clone(), 2);
    assert_eq!(lease(&s.engine, 2), 2);
    assert!(log_some(&s.engine, 1).events > 0);
    assert_eq!(lease(&other, 10), 1, "leases hold");
    assert!(log_some(&other, 100).held_until.is_some(), "and so does the log's");

    s.engine.run(Release).unwrap();
    lease(&other, 10);
    let unknown = (0..3).filter(|n| s.status(&format!("r{n}")) == "unknown").count();
    assert_eq!(unknown, 2, "nobody knows what became of those calls; the other node's own are still under way");
    log_all(&other);
    assert_logged(&*store);
}
