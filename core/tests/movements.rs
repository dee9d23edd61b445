//! Real money that an operator credits and debits, what clients do with it, and credit.

use crate::support;
use std::sync::{Arc, Barrier};

use crate::plain_rail::{PlainRail, provider};
use crate::support::log::{assert_logged, assert_trees, log_all, unlogged};
use crate::support::{START, Sandbox, sealing};
use railgate::api::{Caller, EventView, NewWebhook, TermsBody};
use railgate::engine::{Create, CreateWebhook, MoveMoney, Moved, NumberEvents, Operated, PutTerms, Redeliver, Replay, SetCredit, verify};
use railgate::env::ManualEnv;
use railgate::ids::{EndpointNo, SettlementNo, Ulid};
use railgate::ledger::Mode;
use railgate::rail::{Carried, Carrier, HttpReply, HttpRequest, Rails};
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{
    AuditRecord, DeliveryRecord, EventRecord, EventType, FeedRecord, Key, MovementKind, MovementRecord, Record, RecordKind, SetupRecord,
};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Scan, Store, Write, typed, typed_all};
use railgate::{Config, Engine, Error, ErrorCode};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

fn config() -> Config {
    let live = ProviderSpec { mode: Mode::Live, ..provider("acme", "https://acme.example") };
    Config { providers: vec![live], rails: Rails::built_in().with(PlainRail), ..sealing() }
}

fn stores() -> Vec<(Arc<dyn Store>, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("money.db")).unwrap();
    vec![(Arc::new(MemoryStore::new()), None), (Arc::new(sqlite), Some(folder))]
}

fn moving(s: &Sandbox, kind: MovementKind, money: &str, reference: &str) -> Operated<MoveMoney> {
    let (money, reference) = (money.parse().unwrap(), reference.parse().unwrap());
    Operated(MoveMoney { client: s.caller.client_id, kind, money, reference, evidence: "line 7".to_owned() })
}

fn deposit(s: &Sandbox, money: &str, reference: &str) -> Result<Moved, Error> {
    s.engine.run(moving(s, MovementKind::Deposit, money, reference))
}

fn withdraw(s: &Sandbox, money: &str, reference: &str) -> Result<Moved, Error> {
    s.engine.run(moving(s, MovementKind::Withdrawal, money, reference))
}

fn live(s: &Sandbox) -> Caller {
    Caller { mode: Mode::Live, ..s.caller }
}

/// Available and reserved live euros.
fn euros(s: &Sandbox) -> (String, String) {
    let balance = s.engine.balance(&live(s), "EUR").unwrap();
    (balance.available.as_str().to_owned(), balance.reserved.as_str().to_owned())
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> ErrorCode {
    result.unwrap_err().code
}

/// Pays ten live euros to a telephone.
fn pay(s: &Sandbox, reference: &str) -> Result<(), Error> {
    let body = format!(r#"{{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"{reference}"}}"#);
    let request = Box::new(s.engine.parse_create(body.as_bytes()).unwrap());
    s.engine.run(Create { caller: live(s), request }).map(drop)
}

struct Paid;

impl Carrier for Paid {
    fn carry(&self, _: &HttpRequest) -> Carried {
        Carried::Answered(HttpReply { status: 200, headers: Vec::new(), body: br#"{"status":"paid"}"#.to_vec() })
    }
}

#[test]
fn money_enters_is_spent_and_leaves() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store, config(), 1);
        assert_eq!(code(pay(&s, "none")), ErrorCode::AccountNotFound);
        deposit(&s, "100.00 EUR", "bank-1").unwrap();
        pay(&s, "r").unwrap();
        assert_eq!(euros(&s), ("90.00".to_owned(), "10.00".to_owned()));
        assert_eq!(code(withdraw(&s, "90.01 EUR", "out-1")), ErrorCode::InsufficientFunds, "money on hold cannot leave");
        s.engine.work_until_quiet(&Paid).unwrap();
        assert_eq!(s.engine.settlement(&live(&s), &support::target("r")).unwrap().status.as_str(), "completed");
        withdraw(&s, "90.00 EUR", "out-2").unwrap();
        assert_eq!(euros(&s), ("0.00".to_owned(), "0.00".to_owned()));
        assert_eq!(code(withdraw(&s, "0.01 EUR", "out-3")), ErrorCode::InsufficientFunds);
        assert_eq!(code(s.engine.balance(&live(&s), "KWD").map(drop)), ErrorCode::BalanceNotFound);
        assert_eq!(s.euros().0, "1000000.00", "play money is apart");
        s.assert_sound();
    }
}

#[test]
fn an_account_that_could_not_hold_the_money_gets_none() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    // A quarter of what 64 bits hold, less one cent.
    let most = i64::MAX / 4 - 1;
    let money = |minor| railgate::money::Money::from_minor(minor, railgate::money::Currency::from_code("EUR").unwrap());
    let moved = |minor, reference: &str| {
        let deposit = MoveMoney { money: money(minor), ..moving(&s, MovementKind::Deposit, "1 EUR", reference).0 };
        s.engine.run(Operated(deposit)).map(drop)
    };
    moved(most - 100, "much").unwrap();
    assert_eq!(code(moved(101, "too-much")), ErrorCode::AmountAboveMaximum);
    moved(100, "all").unwrap();
    assert_eq!(euros(&s).0, money(most).decimal());
    s.assert_sound();
}

#[test]
fn a_reference_moves_money_once() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        assert!(!deposit(&s, "100.00 EUR", "bank-1").unwrap().replayed);
        assert!(deposit(&s, "100 EUR", "bank-1").unwrap().replayed);
        assert_eq!(code(deposit(&s, "100.01 EUR", "bank-1")), ErrorCode::ReferenceConflict);
        assert_eq!(code(deposit(&s, "100.00 USD", "bank-1")), ErrorCode::ReferenceConflict);
        assert_eq!(code(withdraw(&s, "100.00 EUR", "bank-1")), ErrorCode::ReferenceConflict);
        let other = support::enroll(&s.engine, "Another");
        let of_other = MoveMoney { client: other.client_id, ..moving(&s, MovementKind::Deposit, "1.00 EUR", "bank-1").0 };
        assert!(!s.engine.run(Operated(of_other.clone())).unwrap().replayed, "each client has references of its own");
        for evidence in ["", "  ", "two\nlines", &"x".repeat(501)] {
            let refused = s.engine.run(Operated(MoveMoney { evidence: evidence.to_owned(), ..of_other.clone() })).unwrap_err();
            assert_eq!(refused.fields[0].pointer, "/evidence");
        }
        for minor in [0, -5] {
            for kind in [MovementKind::Deposit, MovementKind::Withdrawal] {
                let money = railgate::money::Money::from_minor(minor, of_other.money.currency());
                let reference = "none".parse().unwrap();
                let refused = s.engine.run(Operated(MoveMoney { kind, money, reference, ..of_other.clone() })).unwrap_err();
                assert_eq!(refused.fields[0].code, "amount_not_positive");
            }
        }
        let nobody = MoveMoney { client: Ulid(7), ..of_other };
        assert_eq!(code(s.engine.run(Operated(nobody))), ErrorCode::ClientNotFound);
        assert_eq!(euros(&s).0, "100.00");

        // The same command at four nodes at once, several times.
        let start = Arc::new(Barrier::new(4));
        let threads: Vec<_> = (0..4)
            .map(|node| {
                let (store, start) = (store.clone(), start.clone());
                let command = |n: u32| moving(&s, MovementKind::Withdrawal, "1.00 EUR", &format!("out-{n}"));
                let commands: Vec<_> = (0..10).map(command).collect();
                std::thread::spawn(move || {
                    let engine = Engine::open(store, Arc::new(ManualEnv::new(START, 20 + node)), config()).unwrap();
                    start.wait();
                    commands.into_iter().filter(|command| !engine.run(command.clone()).unwrap().replayed).count()
                })
            })
            .collect();
        let made: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!((made, euros(&s).0.as_str()), (10, "90.00"));
        log_all(&s.engine);
        let told = s.engine.feed(&live(&s), 0, 100).unwrap();
        let count = |kind| told.iter().filter(|entry| entry.event.kind == kind).count();
        assert_eq!((count(EventType::BalanceDeposited), count(EventType::BalanceWithdrawn), told.len()), (1, 10, 11));
        assert_logged(&*store);
        s.assert_sound();
    }
}

#[test]
fn every_movement_is_in_the_audit_trail_under_its_client() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    deposit(&s, "5.00 EUR", "bank-1").unwrap();
    withdraw(&s, "9.00 EUR", "out-1").unwrap_err();
    let trail = s.store.scan(&Scan::all(RecordKind::Audit, 9)).unwrap();
    let seen: Vec<_> = trail
        .into_iter()
        .filter_map(|record| match record {
            Record::Audit(row) if row.name.is_some() => Some((row.action.as_str(), row.client.0, row.name.unwrap(), row.refused)),
            _ => None,
        })
        .collect();
    let expected = [
        ("deposit", s.caller.client.0, "bank-1 5.00 EUR".to_owned(), None),
        ("withdraw", 0, "out-1 9.00 EUR".to_owned(), Some("insufficient_funds".to_owned())),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_movement_that_somebody_changed_or_removed_is_found() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let movement = deposit(&s, "5.00 EUR", "bank-1").unwrap().movement;
    let problems = |write: Write, back: Write| {
        s.store.commit(&Commit { writes: vec![write] }).unwrap();
        let report = verify::verify(&*s.store, &mut |_| {}).unwrap();
        s.store.commit(&Commit { writes: vec![back] }).unwrap();
        report.problems.iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    let whole = || Record::from(movement.clone());
    let larger = MovementRecord { amount: 6_00, ..movement.clone() };
    assert_eq!(problems(Write::Replace(larger.into()), Write::Replace(whole())), ["movement_differs", "trail_broken"]);
    let removed = problems(Write::Delete(Key::Movement(movement.journal)), Write::Insert(whole()));
    assert_eq!(removed, ["movement_differs", "movement_without_transfer", "unlogged_without_event"]);
    let spare = MovementRecord { journal: SettlementNo(99), reference: "bank-2".parse().unwrap(), ..movement.clone() };
    let added = problems(Write::Insert(spare.clone().into()), Write::Delete(Key::Movement(spare.journal)));
    assert_eq!(added, ["movement_without_transfer"]);
    s.assert_sound();
}

/// A live webhook of a client, for all events.
fn hook(s: &Sandbox, caller: Caller) -> (EndpointNo, Ulid) {
    let new = NewWebhook { url: "https://example.com/hook".to_owned(), topics: None, description: None };
    let made = s.engine.run(CreateWebhook { caller, new }).unwrap().endpoint;
    (made.no, made.id)
}

/// What was sent or will be, oldest first.
fn deliveries(s: &Sandbox, endpoint: EndpointNo) -> Vec<DeliveryRecord> {
    let mut all: Vec<DeliveryRecord> = typed_all(s.store.scan(&Scan::deliveries_of(endpoint, i64::MAX, None, 100)).unwrap()).unwrap();
    all.reverse();
    all
}

fn told(s: &Sandbox, caller: Caller) -> Vec<EventView> {
    let events: Vec<_> = s.engine.feed(&caller, 0, 100).unwrap().into_iter().map(|entry| entry.event).collect();
    events.iter().for_each(support::says_what_is_documented);
    events
}

#[test]
fn a_client_is_told_of_each_movement_once_and_never_of_its_evidence() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        let other = Caller { mode: Mode::Live, ..support::enroll(&s.engine, "Another") };
        let ((own, _), (of_other, _), (of_sandbox, _)) = (hook(&s, live(&s)), hook(&s, other), hook(&s, s.caller));
        deposit(&s, "100.00 EUR", "bank-1").unwrap();
        deposit(&s, "100 EUR", "bank-1").unwrap();
        withdraw(&s, "100.01 EUR", "out-1").unwrap_err();
        withdraw(&s, "40.00 EUR", "out-2").unwrap();
        assert_eq!(log_all(&s.engine), 2, "neither a repeat nor a refusal is an event");

        let events = told(&s, live(&s));
        let expected = [
            json!({
                "actor": "operator", "at": "2026-11-21T10:38:17.042Z", "attempt": null, "from": null, "to": null, "prev": null,
                "data": {"movement": {"amount": "100.00", "currency": "EUR", "kind": "deposit", "reference": "bank-1"}},
                "reference": "bank-1", "sequence": 1, "settlement_id": null, "type": "balance.deposited",
            }),
            json!({
                "actor": "operator", "at": "2026-11-21T10:38:17.042Z", "attempt": null, "from": null, "to": null, "prev": null,
                "data": {"movement": {"amount": "40.00", "currency": "EUR", "kind": "withdrawal", "reference": "out-2"}},
                "reference": "out-2", "sequence": 1, "settlement_id": null, "type": "balance.withdrawn",
            }),
        ];
        for (event, mut expected) in events.iter().zip(expected) {
            let mut shown = serde_json::to_value(event).unwrap();
            let hash = shown.as_object_mut().unwrap().remove("hash").unwrap();
            let form = serde_json_canonicalizer::to_vec(&shown).unwrap();
            assert_eq!(hash, base16ct::lower::encode_string(&Sha256::digest(form)), "whoever has the event can verify it");
            expected["id"] = json!(event.id);
            assert_eq!(shown, expected);
        }
        assert_eq!(told(&s, other).len() + told(&s, s.caller).len(), 0, "nobody else is told, nor the client's sandbox");

        let sent = deliveries(&s, own);
        let bodies: Vec<Value> = sent.iter().map(|delivery| serde_json::from_str(&delivery.body).unwrap()).collect();
        let body = |kind: &str, what: &str, amount: f64, reference: &str| {
            let data = json!({"kind": what, "reference": reference, "amount": amount, "currency": "EUR", "at": "2026-11-21T10:38:17.042Z", "sequence": 1});
            json!({"type": kind, "timestamp": "2026-11-21T10:38:17.042Z", "data": data})
        };
        let expected = [body("balance.deposited", "deposit", 100.0, "bank-1"), body("balance.withdrawn", "withdrawal", 40.0, "out-2")];
        assert_eq!(bodies, expected);
        assert!(sent[0].body.contains(r#""amount":100.00,"#), "{}", sent[0].body);
        assert!(sent.iter().zip(&events).all(|(delivery, event)| format!("evt_{}", delivery.message) == event.id));
        assert_eq!((deliveries(&s, of_other), deliveries(&s, of_sandbox)), (vec![], vec![]));
        assert!(!format!("{events:?} {sent:?}").contains("line 7"));

        let line = &s.engine.statement(&s.engine.statement_request(&live(&s), "EUR", (None, None), None, 9).unwrap()).unwrap().data[0];
        assert_eq!((&*line.kind, line.reference.as_deref()), ("withdrawal", Some("out-2")), "the statement names what the webhook told");
        let movement = s.engine.movement(&live(&s), "out-2").unwrap();
        assert_eq!((movement.kind, movement.amount.as_str(), &*movement.currency), (MovementKind::Withdrawal, "40.00", "EUR"));
        for (caller, reference) in [(other, "out-2"), (s.caller, "out-2"), (live(&s), "out-1"), (live(&s), "")] {
            assert_eq!(code(s.engine.movement(&caller, reference)), ErrorCode::MovementNotFound);
        }
        assert_logged(&*store);
        assert_trees(&s.engine, &*store);
        s.assert_sound();
    }
}

#[test]
fn what_was_told_of_a_movement_can_be_sent_again() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let (endpoint, id) = hook(&s, live(&s));
    deposit(&s, "100.00 EUR", "bank-1").unwrap();
    pay(&s, "r").unwrap();
    log_all(&s.engine);
    let first = deliveries(&s, endpoint).remove(0);
    let view = s.engine.delivery_view(&first).unwrap();
    let delivery = Ulid::parse(view.id.strip_prefix("dlv_").unwrap()).unwrap();
    let again = s.engine.run(Redeliver { caller: live(&s), id, delivery }).unwrap();
    assert_eq!((again.message, &again.body), (first.message, &first.body));
    let replay = Replay { caller: live(&s), id, since: START - 1, until: START + 1, after: 0, before: 0 };
    assert_eq!(s.engine.run(replay).unwrap().queued, 2, "with the payment of the same time");
    let replayed = deliveries(&s, endpoint).into_iter().rev().take(2).find(|it| it.message == first.message).unwrap();
    assert_eq!((replayed.topic.as_str(), &replayed.body), ("balance.deposited", &first.body));
    s.assert_sound();
}

#[test]
fn an_event_of_a_movement_that_somebody_changed_or_removed_is_found() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let movement = deposit(&s, "5.00 EUR", "bank-1").unwrap().movement;
    let key = Key::Event((movement.journal, 1));
    let event: EventRecord = typed(s.store.get(&key).unwrap()).unwrap().unwrap();
    let found = |write: Write, back: Write| {
        s.store.commit(&Commit { writes: vec![write] }).unwrap();
        let report = verify::verify(&*s.store, &mut |_| {}).unwrap();
        s.store.commit(&Commit { writes: vec![back] }).unwrap();
        let first = report.first_broken.map(|link| (link.settlement, link.sequence));
        (report.problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), first)
    };
    let whole = || Record::from(event.clone());
    let named = Some((format!("deposit bank-1 of client number {}", s.caller.client.0), 1));
    assert_eq!(found(Write::Delete(key.clone()), Write::Insert(whole())).0, ["unlogged_without_event"]);
    log_all(&s.engine);
    assert_eq!(found(Write::Delete(key), Write::Insert(whole())), (vec!["feed_without_event", "leaf_without_event"], named.clone()));
    let changes = [
        EventRecord { at: event.at + 1, ..event.clone() },
        EventRecord { kind: EventType::BalanceWithdrawn, ..event.clone() },
        EventRecord { data: Some("{}".to_owned()), ..event.clone() },
    ];
    for changed in changes {
        let (codes, first) = found(Write::Replace(changed.into()), Write::Replace(whole()));
        assert_eq!((codes[0] == "trail_broken" || codes[0] == "feed_differs", first), (true, named.clone()), "{codes:?}");
    }
    let second = EventRecord { n: 2, ..event.clone() };
    let added = found(Write::Insert(second.clone().into()), Write::Delete(Key::Event((movement.journal, 2))));
    assert!(added.0.contains(&"trail_broken"), "{added:?}");
    let place: FeedRecord = typed(s.store.get(&Key::Feed((s.caller.client, Mode::Live, 1))).unwrap()).unwrap().unwrap();
    let moved = FeedRecord { at: place.at + 1, ..place.clone() };
    assert_eq!(found(Write::Replace(moved.into()), Write::Replace(place.into())).0[0], "feed_differs");
    s.assert_sound();
}

#[test]
fn a_movement_of_before_there_were_events_of_it_is_sound_and_told_to_nobody() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let movement = deposit(&s, "5.00 EUR", "bank-1").unwrap().movement;
    // As an older program left it: with its transfer and its line, without an event.
    let rows = unlogged(&*s.store);
    let mut writes = vec![Write::Delete(Key::Event((movement.journal, 1)))];
    writes.extend(rows.iter().map(|row| Write::Delete(Key::Unlogged(row.no))));
    s.store.commit(&Commit { writes }).unwrap();
    s.assert_sound();
    let reopened = Engine::open(s.store.clone(), Arc::new(ManualEnv::new(START, 9)), config()).unwrap();
    while reopened.run(NumberEvents { limit: 10 }).unwrap().more {}
    assert!(deposit(&s, "5.00 EUR", "bank-1").unwrap().replayed);
    assert_eq!(told(&s, live(&s)).len(), 0);
    deposit(&s, "6.00 EUR", "bank-2").unwrap();
    log_all(&s.engine);
    assert_eq!(told(&s, live(&s)).iter().map(|event| event.reference.as_str()).collect::<Vec<_>>(), ["bank-2"]);
    s.assert_sound();
}

fn credit_line(s: &Sandbox, amount: i64, reference: &str) -> SetCredit {
    let credit = railgate::money::Money::from_minor(amount, "1.00 EUR".parse::<railgate::money::Money>().unwrap().currency());
    let (reference, evidence) = (reference.parse().unwrap(), "contract of May".to_owned());
    SetCredit { client: s.caller.client_id, credit, reference, evidence, expected: None, reason: None }
}

fn set_credit(s: &Sandbox, amount: i64, reference: &str) -> Result<Moved, Error> {
    let moved = s.engine.run(Operated(credit_line(s, amount, reference)));
    s.engine.follow_setup().unwrap();
    moved
}

/// Replaces the terms of a client whole. Returns their version.
fn agree(s: &Sandbox, credit: Value) -> i64 {
    let body = json!({"client": format!("cli_{}", s.caller.client_id), "credit": credit});
    let body: TermsBody = serde_json::from_value(body).unwrap();
    let version = s.engine.run(Operated(PutTerms { terms: vec![(body, None)], reason: None })).unwrap()[0];
    s.engine.follow_setup().unwrap();
    version
}

/// Available euros and credit.
fn credited(s: &Sandbox) -> (String, String) {
    let balance = s.engine.balance(&live(s), "EUR").unwrap();
    (balance.available.as_str().to_owned(), balance.credit.as_str().to_owned())
}

#[cfg(feature = "testkit")]
#[test]
fn a_withdrawal_uses_no_credit_that_others_of_its_commit_may_use() {
    use crate::support::meddling::Meddling;
    use crate::support::{create, together};
    for withdrawal_first in [true, false] {
        let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
        deposit(&s, "60.00 EUR", "bank-1").unwrap();
        set_credit(&s, 10_000, "line-1").unwrap();
        let node = |store: Arc<dyn Store>, owner| Engine::open(store, s.env.clone(), Config { owner: Some(owner), ..config() }).unwrap();
        let store = Meddling::over(s.store.clone());
        let (slow, fast) = (node(store.clone(), 2), node(s.store.clone(), 3));
        let payment = |reference: &str| {
            let body = format!(r#"{{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"{reference}"}}"#);
            create(&slow, live(&s), &body)
        };
        // Each draws numbers of its own by now, so that they do not meet.
        slow.run(payment("slow")).unwrap();
        fast.run(payment("fast")).unwrap();
        let meanwhile = ["fast-1", "fast-2"].map(payment);
        store.before_write(RecordKind::Movement, move || assert!(meanwhile.into_iter().all(|payment| fast.run(payment).is_ok())));
        let withdrawal = moving(&s, MovementKind::Withdrawal, "30.00 EUR", "out-1").0;
        let (withdrawn, paid) = if withdrawal_first {
            together(&slow, withdrawal, payment("slow-1"))
        } else {
            let (paid, withdrawn) = together(&slow, payment("slow-1"), withdrawal);
            (withdrawn, paid)
        };
        assert_eq!(code(withdrawn), ErrorCode::InsufficientFunds);
        assert!(paid.is_ok());
        assert_eq!(euros(&s).0, "10.00");
        s.assert_sound();
        // What is paid out of its own money may be in one commit with what is paid out of credit.
        let (withdrawn, paid) = together(&slow, moving(&s, MovementKind::Withdrawal, "10.00 EUR", "out-2").0, payment("slow-2"));
        assert!(withdrawn.is_ok() && paid.is_ok());
        assert_eq!(euros(&s).0, "-10.00");
        s.assert_sound();
    }
}

#[test]
fn a_reference_sets_credit_once() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store, config(), 1);
        assert!(!set_credit(&s, 20_00, "line-1").unwrap().replayed);
        assert_eq!(credited(&s), ("0.00".to_owned(), "20.00".to_owned()));
        pay(&s, "on-credit").unwrap();
        assert_eq!(credited(&s).0, "-10.00", "no money came with it");
        deposit(&s, "5.00 EUR", "bank-1").unwrap();

        let first = set_credit(&s, 20_00, "line-1").unwrap();
        assert_eq!((first.replayed, first.movement.previous), (true, Some(0)));
        assert_eq!(set_credit(&s, 30_00, "line-2").unwrap().movement.previous, Some(20_00));
        assert!(set_credit(&s, 20_00, "line-1").unwrap().replayed, "a late repeat is one");
        assert_eq!(credited(&s).1, "30.00", "and takes nothing back");
        assert_eq!(code(set_credit(&s, 21_00, "line-1")), ErrorCode::ReferenceConflict);
        assert_eq!(code(set_credit(&s, 5_00, "bank-1")), ErrorCode::ReferenceConflict, "deposits have the same references");
        assert_eq!(code(deposit(&s, "20.00 EUR", "line-1")), ErrorCode::ReferenceConflict);
        let other = SetCredit { evidence: "contract of June".to_owned(), ..credit_line(&s, 20_00, "line-1") };
        assert_eq!(code(s.engine.run(Operated(other))), ErrorCode::ReferenceConflict);

        // Nothing of what is refused is kept.
        let refused = |set: SetCredit| s.engine.run(Operated(set)).unwrap_err();
        assert_eq!(refused(credit_line(&s, -1, "no")).fields[0].pointer, "/credit");
        assert_eq!(refused(SetCredit { evidence: "two\nlines".to_owned(), ..credit_line(&s, 1, "no") }).fields[0].pointer, "/evidence");
        assert_eq!(refused(SetCredit { client: Ulid(7), ..credit_line(&s, 1, "no") }).code, ErrorCode::ClientNotFound);
        assert_eq!(refused(SetCredit { expected: Some(1), ..credit_line(&s, 1, "no") }).code, ErrorCode::VersionConflict);
        let kind = MovementKind::CreditLine;
        assert_eq!(s.engine.run(moving(&s, kind, "1.00 EUR", "no")).unwrap_err().fields[0].pointer, "/kind");
        assert_eq!(code(s.engine.movement(&live(&s), "no")), ErrorCode::MovementNotFound);

        let ended = set_credit(&s, 0, "line-3").unwrap();
        assert_eq!((ended.movement.amount, ended.movement.previous), (0, Some(30_00)));
        let still = set_credit(&s, 0, "line-4").unwrap();
        assert_eq!((still.replayed, still.movement.previous, still.movement.terms), (false, Some(0), ended.movement.terms));
        assert_eq!(code(pay(&s, "beyond")), ErrorCode::InsufficientFunds);
        log_all(&s.engine);
        let changes = told(&s, live(&s)).iter().filter(|event| event.kind == EventType::BalanceCreditChanged).count();
        assert_eq!(changes, 4, "one for each reference");
        s.assert_sound();
    }
}

#[test]
fn a_client_is_told_of_its_credit_and_its_statement_has_no_line() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        let other = Caller { mode: Mode::Live, ..support::enroll(&s.engine, "Another") };
        let ((own, _), (of_other, _), (of_sandbox, _)) = (hook(&s, live(&s)), hook(&s, other), hook(&s, s.caller));
        set_credit(&s, 10_000, "line-1").unwrap();
        set_credit(&s, 10_000, "line-1").unwrap();
        assert_eq!(log_all(&s.engine), 1);

        let event = told(&s, live(&s)).remove(0);
        let mut shown = serde_json::to_value(&event).unwrap();
        let hash = shown.as_object_mut().unwrap().remove("hash").unwrap();
        let form = serde_json_canonicalizer::to_vec(&shown).unwrap();
        assert_eq!(hash, base16ct::lower::encode_string(&Sha256::digest(form)));
        let expected = json!({
            "actor": "operator", "at": "2026-11-21T10:38:17.042Z", "attempt": null, "from": null, "to": null, "prev": null,
            "data": {"credit": {"amount": "100.00", "currency": "EUR", "previous": "0.00", "reference": "line-1"}},
            "id": event.id, "reference": "line-1", "sequence": 1, "settlement_id": null, "type": "balance.credit_changed",
        });
        assert_eq!(shown, expected);
        assert_eq!(told(&s, other).len() + told(&s, s.caller).len(), 0);

        let sent = deliveries(&s, own).remove(0);
        let body = concat!(
            r#"{"type":"balance.credit_changed","timestamp":"2026-11-21T10:38:17.042Z","data":{"kind":"credit_line","reference":"line-1","#,
            r#""amount":100.00,"previous":0.00,"currency":"EUR","at":"2026-11-21T10:38:17.042Z","sequence":1}}"#
        );
        assert_eq!(sent.body, body);
        assert_eq!((deliveries(&s, of_other), deliveries(&s, of_sandbox)), (vec![], vec![]));
        assert!(!format!("{event:?} {sent:?}").contains("contract of May"), "the evidence is the operators' own");

        let movement = s.engine.movement(&live(&s), "line-1").unwrap();
        assert_eq!((movement.kind.as_str(), movement.previous.as_ref().map(|it| it.as_str())), ("credit_line", Some("0.00")));
        for caller in [other, s.caller] {
            assert_eq!(code(s.engine.movement(&caller, "line-1")), ErrorCode::MovementNotFound);
        }
        let lines = s.engine.statement(&s.engine.statement_request(&live(&s), "EUR", (None, None), None, 9).unwrap()).unwrap();
        assert_eq!(lines.data.len(), 0, "no money moved");
        assert_eq!(s.store.scan(&Scan::all(RecordKind::Transfer, 9)).unwrap(), vec![]);
        assert_logged(&*store);
        assert_trees(&s.engine, &*store);
        s.assert_sound();
    }
}

#[test]
fn terms_that_are_replaced_whole_tell_of_the_credit_that_they_change() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store, config(), 1);
        let first = agree(&s, json!({"EUR": "50", "USD": "20"}));
        assert_eq!(agree(&s, json!({"USD": "20", "EUR": "50.00"})), first, "nothing changes");
        // An operator has taken the reference that the next version would have.
        let taken = format!("terms-{}-EUR", first + 1);
        deposit(&s, "1.00 EUR", &taken).unwrap();
        let second = agree(&s, json!({"EUR": "70", "USD": "20"}));
        let third = agree(&s, json!({"KWD": "1.500", "EUR": "70"}));
        log_all(&s.engine);
        let events = told(&s, live(&s)).into_iter().filter(|event| event.kind == EventType::BalanceCreditChanged);
        let seen: Vec<(String, Value)> = events.map(|it| (it.reference, serde_json::from_str(it.data.get()).unwrap())).collect();
        let change = |reference: String, currency: &str, previous: &str, amount: &str| {
            let credit = json!({"amount": amount, "currency": currency, "previous": previous, "reference": reference});
            (reference, json!({ "credit": credit }))
        };
        let expected = [
            change(format!("terms-{first}-EUR"), "EUR", "0.00", "50.00"),
            change(format!("terms-{first}-USD"), "USD", "0.00", "20.00"),
            change(format!("terms-{second}-EUR-2"), "EUR", "50.00", "70.00"),
            change(format!("terms-{third}-KWD"), "KWD", "0.000", "1.500"),
            change(format!("terms-{third}-USD"), "USD", "20.00", "0.00"),
        ];
        assert_eq!(seen, expected);

        let trail: Vec<AuditRecord> = typed_all(s.store.scan(&Scan::all(RecordKind::Audit, 99)).unwrap()).unwrap();
        let last = trail.iter().rfind(|row| row.action.as_str() == "set_credit").unwrap();
        assert_eq!((last.client, last.name.as_deref()), (s.caller.client, Some(&*format!("terms-{third}-USD 0.00 USD"))));
        assert_eq!(last.detail.as_deref(), Some(r#"{"previous":"20.00"}"#), "nobody gave evidence");
        assert_eq!(trail.iter().filter(|row| row.action.as_str() == "put_terms").count(), 4);
        s.assert_sound();
    }
}

/// A node meets the numbers of changes of credit, which have no transfer: those of another node if it was open before, and those of before
/// if it is opened after.
#[test]
fn a_change_of_credit_keeps_its_number() {
    // More than a node passes by while a command is decided again.
    const MANY: u32 = 200;
    for ((store, _folder), is_open_before) in stores().into_iter().chain(stores()).zip([true, true, false, false]) {
        let open = || Engine::open(store.clone(), Arc::new(ManualEnv::new(START, 9)), config()).unwrap();
        let s = Sandbox::over(store.clone(), config(), 1);
        let before = is_open_before.then(open);
        let line = |n: u32| Operated(credit_line(&s, 10_000 + i64::from(n), &format!("line-{n}")));
        s.engine.run_all((0..MANY).map(line)).into_iter().for_each(|line| drop(line.unwrap()));
        let other = before.unwrap_or_else(open);
        other.follow_setup().unwrap();
        let body = r#"{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"r"}"#;
        other.run(Create { caller: live(&s), request: Box::new(other.parse_create(body.as_bytes()).unwrap()) }).unwrap();
        assert_eq!(log_all(&s.engine), MANY as usize + 1);
        assert_logged(&*store);
        s.assert_sound();
    }
}

#[test]
fn credit_that_somebody_changed_is_found() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let first = set_credit(&s, 10_00, "line-1").unwrap().movement;
    let movement = set_credit(&s, 20_00, "line-2").unwrap().movement;
    let found = |writes: Vec<Write>, back: Vec<Write>| {
        s.store.commit(&Commit { writes }).unwrap();
        let report = verify::verify(&*s.store, &mut |_| {}).unwrap();
        s.store.commit(&Commit { writes: back }).unwrap();
        report.problems.iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    let replaced = |changed: MovementRecord| found(vec![Write::Replace(changed.into())], vec![Write::Replace(movement.clone().into())]);
    let both = ["credit_differs", "trail_broken", "credit_not_told"];
    assert_eq!(replaced(MovementRecord { amount: 30_00, ..movement.clone() }), both);
    assert_eq!(replaced(MovementRecord { previous: Some(5_00), ..movement.clone() }), ["credit_differs", "trail_broken"]);
    assert_eq!(replaced(MovementRecord { previous: None, ..movement.clone() }), both);
    assert_eq!(replaced(MovementRecord { terms: first.terms, ..movement.clone() }), ["credit_differs", "credit_not_told"]);
    let removed = found(vec![Write::Delete(Key::Movement(movement.journal))], vec![Write::Insert(movement.clone().into())]);
    assert_eq!(removed, ["credit_not_told", "unlogged_without_event"]);

    // Terms that were written by hand.
    let row: SetupRecord = typed(s.store.get(&Key::Setup(movement.terms.unwrap())).unwrap()).unwrap().unwrap();
    let more = SetupRecord { document: row.document.replace("20.00", "9000.00"), ..row.clone() };
    assert_eq!(
        found(vec![Write::Replace(more.clone().into())], vec![Write::Replace(row.clone().into())]),
        ["credit_differs", "credit_not_told"]
    );
    let added = SetupRecord { revision: row.revision + 1, ..more };
    let back = vec![Write::Delete(Key::Setup(added.revision))];
    assert_eq!(found(vec![Write::Insert(added.into())], back), ["credit_not_told"]);
    s.assert_sound();
}

#[test]
fn credit_of_before_there_were_events_of_it_is_sound_and_told_to_nobody() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let old = set_credit(&s, 10_00, "line-1").unwrap().movement;
    // As an older program left it: in the terms only.
    let mut writes = vec![Write::Delete(Key::Movement(old.journal)), Write::Delete(Key::Event((old.journal, 1)))];
    writes.extend(unlogged(&*s.store).iter().map(|row| Write::Delete(Key::Unlogged(row.no))));
    s.store.commit(&Commit { writes }).unwrap();
    s.assert_sound();
    set_credit(&s, 10_00, "line-2").unwrap();
    s.assert_sound();
    set_credit(&s, 15_00, "line-3").unwrap();
    log_all(&s.engine);
    assert_eq!(told(&s, live(&s)).iter().map(|event| event.reference.as_str()).collect::<Vec<_>>(), ["line-2", "line-3"]);
    s.assert_sound();
}
