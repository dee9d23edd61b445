//! Statements: every posted transfer as a line, and the balance after it.

use std::sync::Arc;

use crate::support::{START, Sandbox, create, sealing};
use railgate::api::{Caller, EntryView};
use railgate::engine::{Fund, MoveMoney, NumberEvents, Operated, Slot};
use railgate::env::Env;
use railgate::ledger::Mode;
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::store::record::MovementKind;
use railgate::store::sqlite::SqliteStore;
use railgate::{Config, Engine, ErrorCode};

fn over_each_store(test: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("statement.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        test(&Sandbox::over(store, sealing(), 1));
    }
}

fn book(engine: &Engine) {
    while engine.run(NumberEvents { limit: 100 }).unwrap().more {}
}

/// All lines, newest first, in pages of three.
fn lines(engine: &Engine, caller: &Caller, period: (Option<i64>, Option<i64>)) -> Vec<EntryView> {
    let mut request = Some(engine.statement_request(caller, "EUR", period, None, 3).unwrap());
    let mut all = Vec::new();
    while let Some(next) = request {
        let page = engine.statement(&next).unwrap();
        assert!(page.data.len() <= 3 && (all.is_empty() || !page.data.is_empty()), "no page after the last");
        request = next.next(&page);
        all.extend(page.data);
    }
    all
}

fn told(lines: &[EntryView]) -> Vec<(&str, &str, &str)> {
    lines.iter().rev().map(|line| (&*line.kind, line.amount.as_str(), line.balance.as_str())).collect()
}

#[test]
fn a_statement_follows_what_is_posted_and_nothing_else() {
    over_each_store(|s| {
        s.pay("paid", "sim:ok");
        s.pay("declined", "sim:decline-account_closed");
        s.pay("held", "sim:pending");
        s.work();
        s.reverse("paid", r#"{"amount": 4}"#).unwrap();
        s.work();
        book(&s.engine);
        let all = lines(&s.engine, &s.caller, (None, None));
        let expected = [("funding", "1000000.00", "1000000.00"), ("payment", "-10.00", "999990.00"), ("reversal", "4.00", "999994.00")];
        assert_eq!(told(&all), expected);
        let balance = s.engine.balance(&s.caller, "EUR").unwrap();
        assert_eq!((balance.ledger.as_str(), balance.reserved.as_str()), ("999994.00", "10.00"), "what is on hold still counts");
        assert_eq!(all[1].reference.as_deref(), Some("paid"));
        assert!(all[1].settlement_id.as_ref().unwrap().starts_with("stl_") && all[2].settlement_id.is_none());
        let unknown = s.engine.statement_request(&s.caller, "CHF", (None, None), None, 3).unwrap_err();
        assert_eq!(unknown.code, ErrorCode::BalanceNotFound);
        let wrong = s.engine.statement_request(&s.caller, "EUR", (None, None), Some("x"), 3).unwrap_err();
        assert_eq!(wrong.code, ErrorCode::InvalidCursor);
        s.assert_sound();
    });
}

#[test]
fn a_period_has_its_lines() {
    over_each_store(|s| {
        for n in 0..20 {
            s.env.advance_to(START + n * 60_000);
            s.engine.run(Fund { caller: s.caller, money: format!("{}.00 EUR", n + 1).parse().unwrap() }).unwrap();
            book(&s.engine);
        }
        let at = |minutes: i64| START + minutes * 60_000;
        for (from, to) in [(0, 20), (3, 7), (0, 1), (19, 30), (5, 5), (-9, 2)] {
            let found = lines(&s.engine, &s.caller, (Some(at(from)), Some(at(to))));
            let amounts: Vec<String> = found.iter().rev().map(|line| line.amount.as_str().to_owned()).collect();
            // The first funding also drew the opening balance.
            let expected: Vec<String> = (from.max(0)..to.min(20)).map(|n| format!("{}.00", n + 1)).collect();
            let opening = usize::from(from <= 0 && to > 0);
            assert!(amounts.ends_with(&expected) && amounts.len() == expected.len() + opening, "{from} to {to}: {amounts:?}");
        }
    });
}

#[test]
fn lines_of_several_nodes_add_up_in_one_statement() {
    over_each_store(|s| {
        let other = Engine::open(s.store.clone(), s.env.clone(), Config { owner: Some(77), ..sealing() }).unwrap();
        let engines = [&s.engine, &other];
        for n in 0..60usize {
            let body = format!(r#"{{"amount":{},"currency":"EUR","to":"sim:ok","reference":"n-{n}"}}"#, n + 1);
            engines[n % 2].run(create(engines[n % 2], s.caller, &body)).unwrap();
            s.work();
            if n % 7 == 0 {
                // Whoever numbers takes a while off afterwards, and both try.
                s.env.advance_to(s.env.now() + 5_001);
                let (mut one, mut two) = (Slot::new(NumberEvents { limit: 5 }), Slot::new(NumberEvents { limit: 5 }));
                engines[n % 2].execute(&mut [&mut one, &mut two]);
                assert!(one.into_result().unwrap().is_ok() && two.into_result().unwrap().is_ok());
            }
            s.assert_sound();
        }
        s.env.advance_to(s.env.now() + 5_001);
        book(&other);
        let all = lines(&s.engine, &s.caller, (None, None));
        assert_eq!(all.len(), 61);
        assert_eq!(all[0].balance.as_str(), s.engine.balance(&s.caller, "EUR").unwrap().ledger.as_str());
        assert!(all.iter().map(|line| line.number).eq((1..=61).rev()));
        assert!(all.is_sorted_by(|newer, older| newer.at >= older.at));
        s.assert_sound();
    });
}

#[test]
fn money_in_and_out_is_on_the_statement_of_the_live_account() {
    over_each_store(|s| {
        let live = Caller { mode: Mode::Live, ..s.caller };
        let moved = |kind, money: &str, reference: &str| {
            let (money, reference) = (money.parse().unwrap(), reference.parse().unwrap());
            let act = MoveMoney { client: s.caller.client_id, kind, money, reference, evidence: "line 7".to_owned() };
            s.engine.run(Operated(act)).unwrap();
        };
        moved(MovementKind::Deposit, "100.00 EUR", "w-1");
        moved(MovementKind::Deposit, "100.00 EUR", "w-1");
        moved(MovementKind::Withdrawal, "40.00 EUR", "o-1");
        book(&s.engine);
        let all = lines(&s.engine, &live, (None, None));
        assert_eq!(told(&all), [("deposit", "100.00", "100.00"), ("withdrawal", "-40.00", "60.00")]);
        assert_eq!(all[0].reference.as_deref(), Some("o-1"));
        let (_, sandbox) = (0, s.engine.statement_request(&s.caller, "EUR", (None, None), None, 3).unwrap());
        assert!(s.engine.statement(&sandbox).unwrap().data.is_empty(), "play money is apart");
        s.assert_sound();
    });
}
