//! Receipts as the engine issues them: the event and the key of each.

use std::sync::Arc;

use crate::support::{Sandbox, enroll, target};
use railgate::auth::KeyId;
use railgate::engine::{Operated, Rotate};
use railgate::receipt::{Receipt, verify_receipt};
use railgate::route::ProviderSpec;
use railgate::seal::MasterKeys;
use railgate::store::memory::MemoryStore;
use railgate::store::record::SecretKind;
use railgate::{Config, Engine, Error};

const DAY: i64 = 86_400_000;

fn sealing() -> Config {
    Config { master: MasterKeys::new(vec![(1, [9; 32])]).map(Arc::new), ..Config::default() }
}

fn sandbox() -> Sandbox {
    Sandbox::over(Arc::new(MemoryStore::default()), sealing(), 1)
}

fn ask(s: &Sandbox, reference: &str) -> Result<Receipt, Error> {
    s.engine.receipt(&s.caller, &target(reference))
}

/// The current receipt; it must be valid under the keys that the engine publishes.
fn receipt(s: &Sandbox, reference: &str) -> Receipt {
    let receipt = ask(s, reference).unwrap();
    assert_eq!(verify_receipt(&receipt.jws, &jwks(&s.engine)).unwrap(), receipt.claims);
    receipt
}

fn jwks(engine: &Engine) -> String {
    let keys: Vec<String> = engine.receipt_keys().unwrap().iter().map(|key| key.public.jwk()).collect();
    format!("{{\"keys\":[{}]}}", keys.join(","))
}

fn rotate(engine: &Engine) -> KeyId {
    engine.run(Operated(Rotate(SecretKind::Receipt))).unwrap();
    engine.receipt_keys().unwrap().last().unwrap().public.id()
}

#[test]
fn a_returned_payment_has_a_receipt_of_its_own() {
    let s = sandbox();
    s.pay("r", "sim:returned-after-1d");
    assert_eq!(ask(&s, "r").unwrap_err().code.as_str(), "not_completed");
    s.work();
    let paid = receipt(&s, "r");
    s.pass(2 * DAY);
    let returned = receipt(&s, "r");
    assert_eq!((paid.claims.status.as_str(), returned.claims.status.as_str()), ("completed", "returned"));
    assert_eq!(returned.claims.supersedes, Some(paid.claims.jti));
    assert_eq!(returned.claims.settled_at, paid.claims.settled_at);
    assert!(returned.claims.iat > paid.claims.iat);
}

#[test]
fn only_what_moved_money_makes_a_new_receipt() {
    let s = sandbox();
    s.pay("r", "sim:ok");
    s.work();
    let first = receipt(&s, "r");
    s.reverse("r", r#"{"amount":4}"#).unwrap();
    // The reversal is in progress: the settlement has a new version, but still the same receipt.
    assert!(s.view("r").version > first.claims.ev.n);
    assert_eq!(receipt(&s, "r"), first);
    s.work();
    let second = receipt(&s, "r");
    assert_eq!((second.claims.rev.as_str(), &second.claims.supersedes), ("4.00", &Some(first.claims.jti)));
    // The hash in the receipt identifies the event.
    let events = s.events("r");
    let event = events.iter().find(|event| event.sequence == second.claims.ev.n).unwrap();
    assert_eq!((event.kind.as_str(), event.hash.as_ref()), ("settlement.partially_reversed", Some(&second.claims.ev.head)));
    s.assert_sound();
}

#[test]
fn many_events_do_not_hide_the_ones_that_count() {
    let s = sandbox();
    s.pay("r", "sim:ok");
    s.work();
    let mut before = receipt(&s, "r");
    for _ in 0..120 {
        s.reverse("r", r#"{"amount":0.01}"#).unwrap();
        s.work();
        let now = receipt(&s, "r");
        assert_eq!(now.claims.supersedes, Some(before.claims.jti));
        before = now;
    }
    assert!(s.view("r").version > 400, "{}", s.view("r").version);
    assert_eq!(before.claims.rev, "1.20");
}

#[test]
fn a_new_key_is_noticed_at_once_by_every_node() {
    let s = sandbox();
    s.pay("r", "sim:ok");
    s.work();
    let node = Engine::open(s.store.clone(), s.env.clone(), sealing()).unwrap();
    let on_node = || node.receipt(&s.caller, &target("r")).unwrap();
    let old = receipt(&s, "r");
    assert_eq!(on_node(), old);
    let key = rotate(&s.engine);
    assert_ne!(key, old.key_id);
    assert_eq!((receipt(&s, "r").key_id, on_node().key_id), (key, key));
    assert_eq!(on_node().claims, old.claims);
    assert_eq!(verify_receipt(&old.jws, &jwks(&s.engine)).unwrap(), old.claims);
}

#[test]
fn who_may_not_see_the_settlement_gets_no_receipt() {
    let s = sandbox();
    s.pay("r", "sim:ok");
    s.work();
    let other = enroll(&s.engine, "Other");
    assert_eq!(s.engine.receipt(&other, &target("r")).unwrap_err().code.as_str(), "settlement_not_found");
    assert_eq!(ask(&s, "nothing").unwrap_err().code.as_str(), "settlement_not_found");
}

#[test]
fn a_provider_that_is_gone_is_still_named() {
    let s = sandbox();
    s.pay("r", "sim:ok");
    s.work();
    let before = receipt(&s, "r");
    let others = Config { providers: vec![ProviderSpec::simulator("another", "Another")], ..sealing() };
    let later = Engine::open(s.store.clone(), s.env.clone(), others).unwrap();
    assert_eq!(later.receipt(&s.caller, &target("r")).unwrap(), before);
}

#[test]
fn without_a_master_key_there_is_none() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    s.work();
    assert_eq!(ask(&s, "r").unwrap_err().code.as_str(), "internal");
}
