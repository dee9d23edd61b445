//! Commands under an `Idempotency-Key`: carried out once, answered alike, on any node and whatever becomes of a commit.
#![cfg(feature = "testkit")]

use std::sync::Arc;

use crate::support::meddling::Meddling;
use crate::support::{Sandbox, enroll, sealing, together};
use railgate::api::{Caller, IdempotencyKey, NewWebhook};
use railgate::engine::{Answer, Answers, CreateWebhook, Fund, KeptUnder, Maintain, Once, RotateWebhookSecret};
use railgate::env::Env as _;
use railgate::ledger::{Mode, Totals};
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{IdempotencyRecord, RecordKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, typed_all};
use railgate::{Config, Engine, Error};

const DAY: i64 = 86_400_000;

fn keyed<C: Answers>(caller: Caller, key: &str, print: u8, command: C) -> Once<C> {
    let key = IdempotencyKey { key: key.to_owned(), fingerprint: [print; 32] };
    Once { key: Some(KeptUnder { caller, key }), goes_on: false, command }
}

fn fund(caller: Caller, amount: &str) -> Fund {
    Fund { caller, money: format!("{amount} CHF").parse().unwrap() }
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code.as_str()
}

fn francs(s: &Sandbox) -> String {
    s.engine.balance(&s.caller, "CHF").unwrap().ledger.as_str().to_owned()
}

fn stored(s: &Sandbox) -> Vec<IdempotencyRecord> {
    typed_all(s.store.scan(&Scan::all(RecordKind::Idempotency, 9)).unwrap()).unwrap()
}

fn over_each_store(check: impl Fn(&Sandbox)) {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("once.db")).unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(sqlite)];
    for store in stores {
        check(&Sandbox::over(store, sealing(), 1));
    }
}

#[test]
fn a_repeat_gets_the_answer_to_the_first_call_and_adds_nothing() {
    over_each_store(|s| {
        let first = s.engine.run(keyed(s.caller, "k", 1, fund(s.caller, "5.00"))).unwrap();
        assert!(!first.is_repeated());
        s.engine.run(fund(s.caller, "1.00")).unwrap();
        let again = s.engine.run(keyed(s.caller, "k", 1, fund(s.caller, "5.00"))).unwrap();
        assert!(again.is_repeated());
        assert_eq!(again.body, first.body, "as it was then, whatever has happened since");
        assert_eq!(francs(s), "6.00");
        assert_eq!(code(s.engine.run(keyed(s.caller, "k", 2, fund(s.caller, "5.00")))), "idempotency_key_reused");
        s.assert_sound();
    });
}

#[test]
fn the_balance_in_the_answer_is_the_one_that_can_be_read() {
    over_each_store(|s| {
        for amount in ["5.00 EUR", "2.50 EUR"] {
            let command = Fund { caller: s.caller, money: amount.parse().unwrap() };
            let answer = s.engine.run(keyed(s.caller, amount, 1, command)).unwrap();
            assert_eq!(answer.body, serde_json::to_string(&s.engine.balance(&s.caller, "EUR").unwrap()).unwrap());
        }
    });
}

#[test]
fn the_keys_of_clients_and_of_modes_are_apart() {
    over_each_store(|s| {
        let other = enroll(&s.engine, "Other");
        let live = Caller { mode: Mode::Live, ..s.caller };
        for caller in [s.caller, other, live] {
            assert!(!s.engine.run(keyed(caller, "k", 1, fund(caller, "1.00"))).unwrap().is_repeated());
        }
        assert_eq!(francs(s), "2.00");
    });
}

#[test]
fn of_calls_that_are_decided_together_one_is_carried_out() {
    over_each_store(|s| {
        let call = || keyed(s.caller, "k", 1, fund(s.caller, "5.00"));
        let (one, next) = together(&s.engine, call(), call());
        assert!(!one.unwrap().is_repeated() && next.unwrap().is_repeated());
        assert_eq!(code(together(&s.engine, call(), keyed(s.caller, "k", 2, fund(s.caller, "1.00"))).1), "idempotency_key_reused");
        assert_eq!(francs(s), "5.00");
    });
}

#[test]
fn of_calls_on_two_nodes_at_once_one_is_carried_out() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let s = Sandbox::over(store.clone(), sealing(), 1);
    let meddling = Meddling::over(store.clone());
    let node = Engine::open(meddling.clone(), s.env.clone(), Config { owner: Some(2), ..sealing() }).unwrap();
    let other = Engine::open(store, s.env.clone(), Config { owner: Some(3), ..sealing() }).unwrap();
    let call = keyed(s.caller, "k", 1, fund(s.caller, "5.00"));
    let same = call.clone();
    meddling.before_commit(move || assert!(!other.run(same).unwrap().is_repeated()));
    assert!(node.run(call).unwrap().is_repeated());
    assert_eq!(francs(&s), "5.00");
    s.assert_sound();
}

#[test]
fn whatever_becomes_of_the_commit_a_repeat_finds_what_was_done() {
    for fault in CommitFault::ALL {
        let faults = Arc::new(Faulty::new(MemoryStore::new()));
        let s = Sandbox::over(faults.clone(), sealing(), 1);
        let call = || keyed(s.caller, "k", 1, fund(s.caller, "5.00"));
        faults.script([Some(fault)]);
        if let Err(error) = s.engine.run(call()) {
            assert!(error.retryable, "{fault:?}: with a key, it may always be sent again");
        }
        s.engine.run(call()).unwrap();
        assert_eq!(francs(&s), "5.00", "{fault:?}");
        assert_eq!(stored(&s).len(), 1);
    }
}

#[test]
fn a_refused_call_keeps_nothing() {
    over_each_store(|s| {
        assert_eq!(code(s.engine.run(keyed(s.caller, "k", 1, fund(s.caller, "10000000001.00")))), "amount_above_maximum");
        assert_eq!(stored(s), []);
        assert!(!s.engine.run(keyed(s.caller, "k", 2, fund(s.caller, "5.00"))).unwrap().is_repeated());
    });
}

#[test]
fn a_secret_is_shown_once_and_not_kept() {
    over_each_store(|s| {
        let new = NewWebhook { url: "https://hooks.example.com/".to_owned(), topics: None, description: None };
        let create = || keyed(s.caller, "k", 1, CreateWebhook { caller: s.caller, new: new.clone() });
        let first = s.engine.run(create()).unwrap();
        let made = first.output.unwrap();
        let secret = made.secret.unwrap().to_text().to_string();
        assert!(first.body.contains(&format!(r#""secret":"{secret}""#)) && !first.body.contains("secret_shown"));
        let rotate = || keyed(s.caller, "l", 1, RotateWebhookSecret { caller: s.caller, id: made.endpoint.id, grace_ms: 0 });
        let rotated = s.engine.run(rotate()).unwrap();
        for again in [s.engine.run(create()).unwrap(), s.engine.run(rotate()).unwrap()] {
            assert!(again.is_repeated() && again.body.ends_with(r#""secret_shown":true}"#), "{}", again.body);
            assert!(!again.body.contains("whsec_"));
        }
        assert!(rotated.body.contains("whsec_"));
        assert_eq!(s.engine.webhooks(&s.caller).unwrap().len(), 1);
        assert!(stored(s).iter().all(|kept| !kept.answer.as_ref().unwrap().contains("whsec_")));
    });
}

#[test]
fn a_key_is_free_again_after_seven_days() {
    over_each_store(|s| {
        let call = || keyed(s.caller, "k", 1, fund(s.caller, "5.00"));
        let repeated = |answer: Result<Answer<Totals>, Error>| answer.unwrap().is_repeated();
        assert!(!repeated(s.engine.run(call())));
        s.env.advance_to(s.env.now() + 7 * DAY);
        s.engine.run(Maintain).unwrap();
        assert!(repeated(s.engine.run(call())));
        s.env.advance_to(s.env.now() + 1);
        s.engine.run(Maintain).unwrap();
        assert!(!repeated(s.engine.run(call())));
    });
}
