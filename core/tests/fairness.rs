//! One client that causes much delays no other: the outbox, the numbering of events, lists and batches that are sent again.
#![cfg(feature = "testkit")]

use crate::plain_rail;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::remote::Remote;
use crate::support::{Sandbox, create, enroll, target};
use railgate::api::{Caller, Page, SettlementView};
use railgate::engine::{CALLS_AT_ONCE, LeaseTasks, NumberEvents, Pending, Release, Slot};
use railgate::env::Env as _;
use railgate::ids::{ClientNo, SettlementNo};
use railgate::money::Currency;
use railgate::rail::Rails;
use railgate::route::{ProviderSpec, Serves};
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, Record, RecordKind, UnloggedRecord};
use railgate::store::{Clash, Commit, Scan, StoreError, Write, typed_all};
use railgate::{Config, Engine, ErrorCode};

fn pay(engine: &Engine, caller: Caller, references: impl Iterator<Item = String>) {
    let body = |reference: String| format!(r#"{{"amount":0.01,"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
    let made = engine.run_all(references.map(|reference| create(engine, caller, &body(reference))));
    assert!(made.iter().all(Result::is_ok), "{made:?}");
}

/// The clients whose tasks are leased next.
fn leased(sandbox: &Sandbox, limit: usize) -> Vec<ClientNo> {
    let leases = sandbox.engine.run(LeaseTasks::up_to(limit)).unwrap();
    let round = sandbox.engine.round(leases);
    let owner = |reference: &str| if reference.starts_with("flood") { ClientNo(1) } else { ClientNo(2) };
    round.inside.iter().map(|(call, _)| owner(call.reference.as_str())).collect()
}

#[test]
fn payments_of_others_are_sent_next_however_many_of_one_wait() {
    let sandbox = Sandbox::new();
    let other = enroll(&sandbox.engine, "Other");
    pay(&sandbox.engine, sandbox.caller, (0..5_000).map(|n| format!("flood-{n}")));
    sandbox.env.advance_to(sandbox.env.now() + 50);
    assert_eq!(leased(&sandbox, 64).len(), 64);
    sandbox.env.advance_to(sandbox.env.now() + 60_000);
    pay(&sandbox.engine, other, (0..3).map(|n| format!("pay-{n}")));
    let next = leased(&sandbox, 64);
    assert_eq!(next.iter().filter(|client| **client == ClientNo(2)).count(), 3, "{next:?}");
    let mut all = 128;
    while let Some(more) = Some(leased(&sandbox, 64).len()).filter(|more| *more > 0) {
        all += more;
    }
    assert_eq!(all, 5_003, "and nothing is left");
}

/// A gateway with two providers outside it: `slow` for dollars, `well` for euros.
fn with_a_slow_and_a_well_provider() -> Sandbox {
    let provider = |id: &str, code: &str| {
        let currencies = Serves::Only(vec![Currency::from_code(code).unwrap()]);
        ProviderSpec { currencies, ..plain_rail::provider(id, &format!("https://{id}.example")) }
    };
    let providers = vec![provider("slow", "USD"), provider("well", "EUR")];
    let config = Config { providers, rails: Rails::built_in().with(plain_rail::PlainRail), ..Config::sandbox() };
    Sandbox::over(Arc::new(MemoryStore::default()), config, 1)
}

fn pay_outside(engine: &Engine, caller: Caller, code: &str, count: usize) {
    let body = |n: usize| format!(r#"{{"amount":0.01,"currency":"{code}","to":"msisdn:+254700000001","reference":"{code}-{n}"}}"#);
    let made = engine.run_all((0..count).map(|n| create(engine, caller, &body(n))));
    assert!(made.iter().all(Result::is_ok), "{made:?}");
}

#[test]
fn a_provider_that_has_as_many_calls_as_it_may_gets_no_more_and_keeps_no_other_waiting() {
    let Sandbox { engine, env, caller, .. } = with_a_slow_and_a_well_provider();
    let slow = engine.routes().number("slow").unwrap();
    // How many calls are leased to the slow one, and to the other.
    let leased = |under_way: usize| {
        let leases = engine.run(LeaseTasks { limit: 1_000, in_flight: vec![(slow, under_way)] }).unwrap();
        let (to_slow, to_well): (Vec<_>, Vec<_>) = engine.round(leases).outside.into_iter().partition(|(call, _)| call.provider == slow);
        (to_slow.len(), to_well.len())
    };
    pay_outside(&engine, caller, "USD", CALLS_AT_ONCE + 44);
    pay_outside(&engine, caller, "EUR", 2);
    env.advance_to(env.now() + 1_000);
    assert_eq!(leased(0), (CALLS_AT_ONCE, 2));
    assert_eq!(leased(CALLS_AT_ONCE), (0, 0), "44 wait");
    env.advance_to(env.now() + 1_000);
    assert_eq!(leased(CALLS_AT_ONCE), (0, 0), "and wait on");
    env.advance_to(env.now() + 2_000);
    assert_eq!(leased(CALLS_AT_ONCE - 10), (10, 0), "as there is room");
    env.advance_to(env.now() + 30_000);
    assert_eq!(leased(0), (34, 0), "and none is lost");
}

#[test]
fn what_its_provider_has_no_room_for_is_put_off_behind_the_rest_and_belongs_to_nobody() {
    let Sandbox { engine, env, caller, .. } = with_a_slow_and_a_well_provider();
    let slow = engine.routes().number("slow").unwrap();
    let look = |limit: usize, under_way: usize| {
        let leases = engine.run(LeaseTasks { limit, in_flight: vec![(slow, under_way)] }).unwrap();
        engine.round(leases).outside
    };
    pay_outside(&engine, caller, "USD", 20);
    pay_outside(&engine, caller, "EUR", 2);
    env.advance_to(env.now() + 1_000);
    let found: Vec<usize> = (0..3).map(|_| look(10, CALLS_AT_ONCE).len()).collect();
    assert_eq!(found, [0, 0, 2], "a look passes over as many as it may take, and the next begins behind them");
    assert_eq!(engine.next_due().unwrap(), Some(env.now() + 1_000), "nothing is looked at again before");

    // All are sent and asked about, and nobody hears of it.
    for after in [30_000, 30_000, 5_000] {
        env.advance_to(env.now() + after);
        look(1_000, 0);
    }
    env.advance_to(env.now() + 30_000);
    assert_eq!(look(1_000, CALLS_AT_ONCE).len(), 2, "only the well one has room for inquiries");
    assert_eq!(engine.run(Release).unwrap(), 2, "what was put off is under way nowhere");
}

#[test]
fn operators_inside_the_gateway_have_room_for_everything() {
    let sandbox = Sandbox::new();
    pay(&sandbox.engine, sandbox.caller, (0..CALLS_AT_ONCE + 44).map(|n| format!("pay-{n}")));
    sandbox.env.advance_to(sandbox.env.now() + 60_000);
    assert_eq!(leased(&sandbox, 1_000).len(), CALLS_AT_ONCE + 44);
}

#[test]
fn what_is_added_in_the_group_that_looks_for_work_is_found_by_the_next_look() {
    let sandbox = Sandbox::new();
    let body = |n: u32| format!(r#"{{"amount":0.01,"currency":"EUR","to":"sim:ok","reference":"flood-{n}"}}"#);
    let mut creates: Vec<_> = (0..200).map(|n| Slot::new(create(&sandbox.engine, sandbox.caller, &body(n)))).collect();
    let mut look = Slot::new(LeaseTasks::up_to(1_000));
    let mut group: Vec<&mut dyn Pending> = creates.iter_mut().map(|slot| slot as &mut dyn Pending).collect();
    group.push(&mut look);
    sandbox.engine.execute(&mut group);
    assert_eq!(look.into_result().unwrap().unwrap().len(), 0, "they are not stored yet");
    assert_eq!(leased(&sandbox, 1_000).len(), 200, "although the turns of most are in the future");
}

#[test]
fn what_was_taken_by_a_commit_that_failed_is_taken_again() {
    let faults = Arc::new(Faulty::new(MemoryStore::default()));
    let sandbox = Sandbox::over(faults.clone(), Config::default(), 1);
    pay(&sandbox.engine, sandbox.caller, (0..200).map(|n| format!("flood-{n}")));
    for fault in [CommitFault::Unavailable, CommitFault::LostBefore] {
        faults.script([Some(fault)]);
        assert!(sandbox.engine.run(LeaseTasks::up_to(1_000)).is_err(), "{fault:?}");
    }
    faults.script([Some(CommitFault::Conflict)]);
    assert_eq!(leased(&sandbox, 1_000).len(), 200);
}

/// Finds no task while it is blind.
#[derive(Default)]
struct Blind(AtomicBool);

impl Hooks for Blind {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        match call {
            Call::Get(Key::Task(_)) if self.0.load(Ordering::Relaxed) => Err(StoreError::unavailable("reading", "the link is down")),
            _ => Ok(()),
        }
    }
}

#[test]
fn what_could_not_be_read_is_taken_by_the_next_look() {
    let store = Hooked::<Blind>::over(Arc::new(MemoryStore::default()));
    let sandbox = Sandbox::over(store.clone(), Config::default(), 1);
    pay(&sandbox.engine, sandbox.caller, (0..200).map(|n| format!("flood-{n}")));
    store.0.store(true, Ordering::Relaxed);
    assert!(sandbox.engine.run(LeaseTasks::up_to(1_000)).is_err());
    store.0.store(false, Ordering::Relaxed);
    assert_eq!(leased(&sandbox, 1_000).len(), 200);
}

/// A store that never takes the attempt of one settlement, while there is one.
#[derive(Default)]
struct Stuck(Mutex<Option<SettlementNo>>);

impl Hooks for Stuck {
    fn clashes(&self, commit: &Commit) -> Vec<Clash> {
        let stuck = *self.0.lock().unwrap();
        let clashes = |write: &Write| matches!(write, Write::Insert(Record::Attempt(attempt)) if Some(attempt.settlement) == stuck);
        commit.writes.iter().enumerate().filter(|(_, write)| clashes(write)).map(|(write, _)| Clash { write }).collect()
    }
}

/// A sandbox with 60 payments to send, of which the twentieth cannot be stored.
fn with_one_that_cannot_be_stored() -> (Arc<Hooked<Stuck>>, Sandbox) {
    let store = Hooked::<Stuck>::over(Arc::new(MemoryStore::default()));
    let sandbox = Sandbox::over(store.clone(), Config::default(), 1);
    pay(&sandbox.engine, sandbox.caller, (1..=60).map(|n| format!("pay-{n}")));
    sandbox.env.advance_to(sandbox.env.now() + 60_000);
    let stuck = sandbox.engine.settlement(&sandbox.caller, &target("pay-20")).unwrap().no;
    *store.0.lock().unwrap() = Some(stuck);
    (store, sandbox)
}

#[test]
fn a_payment_that_cannot_be_stored_keeps_no_other_waiting() {
    let (store, sandbox) = with_one_that_cannot_be_stored();
    sandbox.engine.work_until_quiet(&()).unwrap();
    let waits = |n: &usize| sandbox.status(&format!("pay-{n}")) != "completed";
    assert_eq!((1..=60).filter(waits).collect::<Vec<_>>(), [20]);
    sandbox.pass(30_000);
    assert_eq!(sandbox.status("pay-20"), "accepted", "it is tried again, and put off again");
    *store.0.lock().unwrap() = None;
    sandbox.pass(30_000);
    assert_eq!(sandbox.status("pay-20"), "completed");
    sandbox.assert_sound();
}

#[test]
fn fewer_and_fewer_are_tried_until_the_one_that_cannot_be_stored_is_found() {
    for limit in [64, 512] {
        let (_, sandbox) = with_one_that_cannot_be_stored();
        let leased = || sandbox.engine.run(LeaseTasks::up_to(limit)).unwrap().len();
        assert_eq!(std::array::from_fn(|_| leased()), [8, 8, 1, 1, 1, 0, 40], "{limit}");
        assert!(sandbox.engine.run(LeaseTasks::up_to(0)).unwrap().is_empty());
    }
}

#[test]
fn an_idle_gateway_sends_everything_at_once() {
    let sandbox = Sandbox::new();
    pay(&sandbox.engine, sandbox.caller, (0..1_000).map(|n| format!("flood-{n}")));
    assert_eq!(sandbox.engine.work_until_quiet(&()).unwrap(), 1_000);
    assert_eq!(sandbox.status("flood-999"), "completed", "without waiting for later turns");
    sandbox.assert_sound();
}

#[test]
fn events_of_others_are_numbered_next_however_many_of_one_wait() {
    let sandbox = Sandbox::new();
    let other = enroll(&sandbox.engine, "Other");
    for batch in 0..40 {
        pay(&sandbox.engine, sandbox.caller, (0..100).map(|n| format!("flood-{batch}-{n}")));
    }
    sandbox.engine.run(NumberEvents { limit: 512 }).unwrap();
    sandbox.env.advance_to(sandbox.env.now() + 60_000);
    pay(&sandbox.engine, other, std::iter::once("pay-1".to_owned()));
    let mut rounds = 0;
    while sandbox.engine.feed(&other, 0, 1).unwrap().is_empty() {
        sandbox.engine.run(NumberEvents { limit: 512 }).unwrap();
        rounds += 1;
        assert!(rounds <= 2, "thousands of events of another client come first");
    }
    while sandbox.engine.run(NumberEvents { limit: 512 }).unwrap().more {}
    let left: Vec<UnloggedRecord> = typed_all(sandbox.store.scan(&Scan::all(RecordKind::Unlogged, usize::MAX)).unwrap()).unwrap();
    assert!(left.is_empty());
    sandbox.assert_sound();
}

/// The pages of a list until its end.
fn pages(sandbox: &Sandbox, query: &[(&str, &str)]) -> Vec<Page<SettlementView>> {
    let mut pages: Vec<Page<SettlementView>> = Vec::new();
    loop {
        let cursor = pages.last().map(|page| page.next_cursor.clone().unwrap());
        let pairs = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let pairs: Vec<_> = pairs.chain(cursor.map(|cursor| ("cursor".to_owned(), cursor))).collect();
        let request = sandbox.engine.parse_list(&pairs).unwrap();
        pages.push(sandbox.engine.list(&sandbox.caller, &request).unwrap());
        if !pages.last().unwrap().has_more {
            return pages;
        }
    }
}

#[test]
fn a_search_goes_on_from_page_to_page_and_none_examines_everything() {
    let sandbox = Sandbox::new();
    sandbox.pay("needle", "acct:42");
    for batch in 0..10 {
        pay(&sandbox.engine, sandbox.caller, (0..1_000).map(|n| format!("hay-{batch}-{n}")));
    }
    let found = pages(&sandbox, &[("to", "acct:42")]);
    let sizes: Vec<_> = found.iter().map(|page| page.data.len()).collect();
    assert_eq!(sizes, [0, 0, 1], "4,000 are examined for a page");
    assert_eq!(found[2].data[0].reference, "needle");
    let all = pages(&sandbox, &[("limit", "200"), ("currency", "EUR")]);
    assert_eq!(all.iter().map(|page| page.data.len()).sum::<usize>(), 10_001, "nothing is shown twice or left out");

    let cursor = found[0].next_cursor.clone().unwrap();
    let other = enroll(&sandbox.engine, "Other");
    let request = sandbox.engine.parse_list(&[("cursor".to_owned(), cursor)]).unwrap();
    assert_eq!(sandbox.engine.list(&other, &request).unwrap_err().code, ErrorCode::InvalidCursor, "it belongs to its client");
}

#[test]
fn a_batch_that_is_sent_again_costs_a_handful_of_round_trips() {
    let store = Arc::new(Remote::default());
    let sandbox = Sandbox::over(store.clone(), Config::default(), 1);
    let body = |n: usize| format!(r#"{{"amount":0.01,"currency":"EUR","to":"sim:ok","reference":"pay-{n}"}}"#);
    let batch = || sandbox.engine.run_all((0..1_000).map(|n| create(&sandbox.engine, sandbox.caller, &body(n))));
    assert!(batch().iter().all(|made| !made.as_ref().unwrap().replayed));
    store.taken();
    assert!(batch().iter().all(|made| made.as_ref().unwrap().replayed));
    let trips = store.taken();
    assert!(trips < 16, "{trips} round trips");
}
