//! Real money that an operator credits and debits, and what clients do with it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "support/plain_rail.rs"]
mod plain_rail;
mod support;

use std::sync::{Arc, Barrier};

use plain_rail::{PlainRail, provider};
use railgate::api::Caller;
use railgate::engine::{Create, MoveMoney, Moved, Operated, verify};
use railgate::env::ManualEnv;
use railgate::ledger::Mode;
use railgate::rail::{Carried, Carrier, HttpReply, HttpRequest, Rails};
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, MovementKind, MovementRecord, Record};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Store, Write};
use railgate::{Config, Engine, Error, ErrorCode};
use support::{START, Sandbox, sealing};

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
        assert_eq!(code(pay(&s, "none")), ErrorCode::InsufficientFunds);
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
        let nobody = MoveMoney { client: railgate::ids::Ulid(7), ..of_other };
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
        s.assert_sound();
    }
}

#[test]
fn every_movement_is_in_the_audit_trail_under_its_client() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    deposit(&s, "5.00 EUR", "bank-1").unwrap();
    withdraw(&s, "9.00 EUR", "out-1").unwrap_err();
    let trail = s.store.scan(&railgate::store::Scan::all(railgate::store::record::RecordKind::Audit, 9)).unwrap();
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
    assert_eq!(problems(Write::Replace(larger.into()), Write::Replace(whole())), ["movement_differs"]);
    let removed = problems(Write::Delete(Key::Movement(movement.journal)), Write::Insert(whole()));
    assert_eq!(removed, ["movement_differs", "movement_without_transfer"]);
    let spare = MovementRecord { journal: railgate::ids::SettlementNo(99), reference: "bank-2".parse().unwrap(), ..movement.clone() };
    let added = problems(Write::Insert(spare.clone().into()), Write::Delete(Key::Movement(spare.journal)));
    assert_eq!(added, ["movement_without_transfer"]);
    s.assert_sound();
}
