//! What commands say of themselves, on which callers, groups and nodes rely: whether they may be sent again, what they read, and how
//! many numbers they draw.
#![cfg(feature = "testkit")]

use std::sync::Arc;

use crate::support::live::{in_both_modes, node};
use crate::support::meddling::Meddling;
use crate::support::remote::Remote;
use crate::support::town::{body, town};
use crate::support::{Sandbox, create, enroll, reverse, sealing};
use railgate::ErrorCode;
use railgate::api::{Caller, IdempotencyKey, Subject};
use railgate::engine::{
    Command, Create, Expire, Fund, LeaseTasks, MoveMoney, NoteCheck, Receive, Recover, Release, ReportAnswer, ResolveReview, Reverse,
};
use railgate::env::Env as _;
use railgate::ids::Ulid;
use railgate::lifecycle::Resolution;
use railgate::money::{Currency, Money};
use railgate::rail::RailAnswer;
use railgate::store::Scan;
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{MovementKind, Record, RecordKind, SettlementRecord};

const DAY: i64 = 86_400_000;

fn sandbox() -> Sandbox {
    Sandbox::over(Arc::new(MemoryStore::new()), in_both_modes(sealing()), 1)
}

fn fund(caller: Caller, money: &str) -> Fund {
    Fund { caller, money: money.parse().unwrap() }
}

fn settlement(s: &Sandbox, reference: &str) -> SettlementRecord {
    s.engine.settlement(&s.caller, &crate::support::target(reference)).unwrap()
}

/// A payment whose operator never answers, and which a person is asked about.
fn waits_for_a_person(s: &Sandbox) {
    s.pay("r", "sim:timeout-never");
    s.pass(2 * DAY);
    assert!(s.view("r").needs_review);
}

fn resolve(s: &Sandbox, resolution: Resolution) -> ResolveReview {
    let id = Ulid::parse(s.view("r").id.strip_prefix("stl_").unwrap()).unwrap();
    ResolveReview { settlement: id, reversal: None, resolution, evidence: "Statement 7".to_owned(), expected: None }
}

fn deposit(s: &Sandbox) -> MoveMoney {
    let (money, reference) = ("1.00 EUR".parse().unwrap(), "bank-1".parse().unwrap());
    MoveMoney { client: s.caller.client_id, kind: MovementKind::Deposit, money, reference, evidence: "line 7".to_owned() }
}

/// A call to the simulated operator, which carries it out or has done so.
fn call(s: &Sandbox) -> Receive {
    s.pay("r", "sim:ok");
    let leases = s.engine.run(LeaseTasks::up_to(9)).unwrap();
    Receive(s.engine.round(leases).inside.remove(0).0)
}

fn paid(s: &Sandbox) {
    s.pay("r", "sim:ok");
    s.pass(0);
    assert_eq!(s.status("r"), "completed");
}

fn part(s: &Sandbox, more: &str) -> Reverse {
    paid(s);
    reverse(s.caller, "r", &format!(r#"{{"amount":"1.00"{more}}}"#))
}

fn by_key(s: &Sandbox) -> Reverse {
    Reverse { idempotency: Some(IdempotencyKey { key: "k".to_owned(), fingerprint: [1; 32] }), ..part(s, "") }
}

/// What a command has changed: money, payments, and what people are asked.
fn effect(s: &Sandbox) -> Vec<Record> {
    use RecordKind::{Account, Movement, Reversal, Review, Settlement};
    [Account, Movement, Reversal, Review, Settlement].into_iter().flat_map(|kind| s.store.scan(&Scan::all(kind, 99)).unwrap()).collect()
}

fn may_be_sent_again_if_nothing_is_done_twice<C: Command + Clone>(what: &str, given: impl Fn(&Sandbox) -> C) {
    let s = sandbox();
    let command = given(&s);
    assert!(s.engine.run(command.clone()).is_ok(), "{what}");
    let once = effect(&s);
    let repeatable = command.is_repeatable();
    drop(s.engine.run(command));
    assert_eq!(repeatable, effect(&s) == once, "{what}");
}

#[test]
fn what_may_be_sent_again_is_what_a_repeat_does_not_do_twice() {
    use may_be_sent_again_if_nothing_is_done_twice as check;
    check("fund", |s| fund(s.caller, "1.00 EUR"));
    check("create", |s| create(&s.engine, s.caller, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r"}"#));
    check("reverse", |s| part(s, ""));
    check("reverse by reference", |s| part(s, r#","reference":"back-1""#));
    check("reverse by key", by_key);
    for resolution in [Resolution::KeepWaiting, Resolution::ConfirmedCompleted, Resolution::ConfirmedFailed] {
        check(resolution.as_str(), |s| {
            waits_for_a_person(s);
            resolve(s, resolution)
        });
    }
    check("move money", deposit);
    check("report", |s| {
        s.pay("r", "sim:timeout-never");
        s.pass(0);
        let answer = RailAnswer::Completed { rail_reference: None };
        ReportAnswer { subject: Subject::Attempt(settlement(s, "r").no, 1), answer, lease: None }
    });
    check("receive", call);
    check("lease", |s| {
        s.pay("r", "sim:ok");
        LeaseTasks::up_to(9)
    });
    check("expire", |s| {
        let expires = railgate::time::rfc3339(s.env.now() + 1_000);
        let body = format!(r#"{{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r","expires_at":"{expires}"}}"#);
        s.create(&body).unwrap();
        s.env.advance_to(s.env.now() + DAY);
        Expire { settlements: vec![settlement(s, "r").no] }
    });
    check("check", |s| {
        paid(s);
        NoteCheck(settlement(s, "r").no)
    });
    check("recover", |_| Recover);
    check("release", |_| Release);
}

#[test]
fn a_repeat_is_known_as_one() {
    let s = sandbox();
    let moved = [(); 2].map(|()| MoveMoney::is_replay(&s.engine.run(deposit(&s)).unwrap()));
    let command = by_key(&s);
    let reversed = [(); 2].map(|()| Reverse::is_replay(&s.engine.run(command.clone()).unwrap()));
    let payment = create(&s.engine, s.caller, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"new"}"#);
    let created = [(); 2].map(|()| Create::is_replay(&s.engine.run(payment.clone()).unwrap()));
    assert_eq!([moved, reversed, created], [[false, true]; 3]);
}

#[test]
fn a_cancellation_under_a_reference_is_repeated() {
    let s = sandbox();
    s.pay("whole", "sim:ok");
    let by_reference = [r#"{"reference":"back-1"}"#, r#"{"amount":10,"reference":"back-1"}"#];
    for (n, body) in by_reference.into_iter().cycle().take(3).enumerate() {
        let cancelled = s.reverse("whole", body).unwrap();
        assert_eq!((cancelled.replayed, cancelled.reversal.is_none()), (n > 0, true), "{body}");
        assert_eq!((cancelled.settlement.status.as_str(), s.trace("whole").len()), ("cancelled", 2));
    }
    // Another request, one that nothing tells from a new one, and one whose reference is of something else.
    let refused = |body| s.reverse("whole", body).unwrap_err().code;
    for part in [r#"{"amount":4,"reference":"back-1"}"#, r#"{"amount":11,"reference":"back-1"}"#, "{}", r#"{"amount":10}"#] {
        assert_eq!(refused(part), ErrorCode::InvalidState, "{part}");
    }
    assert_eq!(refused(r#"{"amount":"1.001","reference":"back-1"}"#), ErrorCode::InvalidFields);
    paid(&s);
    s.reverse("r", r#"{"reference":"back-2"}"#).unwrap();
    assert_eq!(refused(r#"{"reference":"back-2"}"#), ErrorCode::ReferenceConflict);
    s.assert_sound();
}

#[test]
fn a_caller_in_doubt_is_told_whether_to_send_it_again() {
    for fault in [CommitFault::LostBefore, CommitFault::LostAfter] {
        let faults = Arc::new(Faulty::new(MemoryStore::new()));
        let s = Sandbox::over(faults.clone(), sealing(), 1);
        faults.script([Some(fault)]);
        let paid = s.create(r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r"}"#);
        if fault == CommitFault::LostAfter {
            assert!(paid.is_ok(), "it is found by its reference: {paid:?}");
        } else {
            let paid = paid.unwrap_err();
            assert_eq!((paid.code, paid.retryable), (ErrorCode::StoreUnavailable, true));
            assert!(paid.to_string().contains("nothing is done twice"), "{paid}");
        }
        faults.script([Some(fault)]);
        let funded = s.engine.run(fund(s.caller, "1.00 EUR")).unwrap_err();
        assert_eq!((funded.code, funded.retryable), (ErrorCode::StoreUnavailable, false));
        assert!(funded.to_string().contains("it could be done twice"), "{funded}");
    }
}

/// How many round trips a command takes at a node on another machine than its store.
fn trips<C: Command>(given: impl Fn(&Sandbox) -> C) -> usize {
    let s = sandbox();
    let command = given(&s);
    let store: Arc<Remote> = Remote::over(s.store.clone());
    let node = node(&s, store.clone(), 1);
    // It has looked whether others draw numbers.
    node.run(create(&node, s.caller, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"warm"}"#)).unwrap();
    store.taken();
    assert!(node.run(command).is_ok());
    store.taken()
}

#[test]
fn on_another_machine_a_command_reads_all_that_it_needs_at_once() {
    assert_eq!(trips(|s| fund(s.caller, "1.00 EUR")), 2, "fund");
    assert_eq!(trips(by_key), 2, "reverse");
    let s = sandbox();
    let store: Arc<Remote> = Remote::over(s.store.clone());
    let far = node(&s, store.clone(), 1);
    let funds = || ["EUR", "USD", "JPY"].map(|code| fund(s.caller, &format!("1 {code}")));
    assert!(far.run_all(funds()).iter().all(Result::is_ok));
    store.taken();
    assert!(far.run_all(funds()).iter().all(Result::is_ok));
    assert_eq!(store.taken(), 2, "three at once read what they need in one round trip");
    assert_eq!(trips(call), 2, "receive");
    let unasked = |s: &Sandbox| {
        s.pay("r", "sim:timeout-never");
        s.pass(0);
        ReportAnswer { subject: Subject::Attempt(settlement(s, "r").no, 1), answer: RailAnswer::Unknown, lease: None }
    };
    assert_eq!(trips(unasked), 3, "report: it changes nothing, and is answered once a standby has what it repeats");
    let about_a_reversal = |s: &Sandbox| {
        s.pay("r", "sim:reverse-unknown");
        s.pass(0);
        s.reverse("r", r#"{"amount":1}"#).unwrap();
        s.pass(2 * DAY);
        ResolveReview { reversal: Some(1), ..resolve(s, Resolution::KeepWaiting) }
    };
    assert_eq!(trips(about_a_reversal), 4, "resolve: the two, twice what follows from them, and the commit");
}

/// How many numbers a command says that it draws, and how many it draws.
fn numbers<C: Command>(s: &Sandbox, command: C) -> (usize, usize) {
    let next = |reference: &str| {
        s.pay(reference, "sim:ok");
        settlement(s, reference).no.0
    };
    let (said, before) = (command.numbers(&s.engine), next("before"));
    assert!(s.engine.run(command).is_ok());
    (said, usize::try_from(next("after") - before - 1).unwrap())
}

#[test]
fn a_command_says_how_many_numbers_it_draws() {
    let s = sandbox();
    s.pay("first", "sim:ok");
    let payment: Create = create(&s.engine, s.caller, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r"}"#);
    assert_eq!(numbers(&s, payment), (1, 1), "create");
    assert_eq!(numbers(&sandbox(), fund(s.caller, "1.00 EUR")), (1, 1), "fund");
    let s = sandbox();
    assert_eq!(numbers(&s, deposit(&s)), (1, 1), "move money");
    let t = town(Arc::new(MemoryStore::new()));
    t.s.engine.run(fund(t.bob, "1.00 EUR")).unwrap();
    let between = create(&t.s.engine, t.ann, &body(&t.bob, "2", "r"));
    assert_eq!(numbers(&t.s, between), (2, 2), "create between clients");
}

#[test]
fn a_command_counts_for_as_many_payments_as_it_touched() {
    let s = sandbox();
    for n in 0..3 {
        s.pay(&n.to_string(), "sim:ok");
    }
    let leases = s.engine.run(LeaseTasks::up_to(9)).unwrap();
    assert_eq!(LeaseTasks::touched(&leases), 3);
    let freed = s.engine.run(Release).unwrap();
    assert_eq!(Release::touched(&freed), 3);
    for none in [Release::touched(&0), Recover::touched(&0), Expire::touched(&0), LeaseTasks::touched(&Vec::new())] {
        assert_eq!(none, 1, "looking for something counts as well");
    }
    assert_eq!((Recover::touched(&5), Expire::touched(&5)), (5, 5));
}

#[test]
fn play_money_counts_what_another_node_credited_meanwhile() {
    let s = sandbox();
    let store = Meddling::over(s.store.clone());
    let (slow, fast) = (node(&s, store.clone(), 1), node(&s, s.store.clone(), 2));
    let (caller, other) = (s.caller, enroll(&s.engine, "Other"));
    // Each draws numbers of its own by now, so that they do not meet.
    for _ in 0..3 {
        assert!([&slow, &fast].iter().all(|node| node.run(fund(other, "1.00 EUR")).is_ok()));
    }
    store.before_get(RecordKind::Allowance, move || assert!(fast.run(fund(caller, "2.00 EUR")).is_ok()));
    let totals = slow.run(fund(caller, "3.00 EUR")).unwrap();
    let held = Money::from_minor(totals.credits_posted, Currency::from_code("EUR").unwrap());
    assert_eq!(s.engine.balance(&caller, "EUR").unwrap().ledger.as_str(), held.decimal().as_str());
    s.assert_sound();
}
