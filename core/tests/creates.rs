//! What a create keeps of a request, why it refuses one, and when what it made is over.

use std::collections::HashSet;
use std::sync::Arc;

use crate::support::live::live;
use crate::support::{Sandbox, create, enroll, sealing, target};
use railgate::engine::Expire;
use railgate::env::Env as _;
use railgate::ledger::Mode;
use railgate::rail::simulator::Simulator;
use railgate::route::{Availability, FeeRefund, FeeRule, ProviderSpec, Units};
use railgate::store::memory::MemoryStore;
use railgate::store::record::SettlementMore;
use railgate::time::rfc3339;
use railgate::{Config, Error, ErrorCode};
use serde_json::{Value, json};

/// A create of a euro to the simulated operator, with these members besides.
fn with(s: &Sandbox, reference: &str, more: &Value) -> Result<Option<Arc<SettlementMore>>, Error> {
    let mut body = json!({ "amount": 1, "currency": "EUR", "to": "sim:ok", "reference": reference });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    s.create(&body.to_string())?;
    Ok(s.engine.settlement(&s.caller, &target(reference)).unwrap().more)
}

#[test]
fn each_member_is_kept_also_without_the_others() {
    let s = Sandbox::new();
    assert_eq!(with(&s, "none", &json!({})).unwrap(), None);
    let quote = s.engine.preflight(&s.caller, br#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"quoted"}"#).unwrap().view.quote;
    let quote = quote.unwrap().quote_id;
    let kept = |reference: &str, member: Value| Arc::unwrap_or_clone(with(&s, reference, &member).unwrap().unwrap());
    let expected = SettlementMore { description: Some("for May".into()), ..SettlementMore::default() };
    assert_eq!(kept("described", json!({ "description": "for May" })), expected);
    let expected = SettlementMore { metadata: Arc::new([("order".to_owned(), "7".to_owned())].into()), ..SettlementMore::default() };
    assert_eq!(kept("ordered", json!({ "metadata": { "order": "7" } })), expected);
    let expected = SettlementMore { pinned: Some("simulator".into()), ..SettlementMore::default() };
    assert_eq!(kept("pinned", json!({ "provider": "simulator" })), expected);
    let expected = SettlementMore { quote_id: Some(quote.clone()), ..SettlementMore::default() };
    assert_eq!(kept("quoted", json!({ "quote_id": quote })), expected);
    let mut traced = create(&s.engine, s.caller, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"traced"}"#);
    traced.request.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().ok();
    let expected = SettlementMore { traceparent: traced.request.traceparent, ..SettlementMore::default() };
    assert_eq!(s.engine.run(traced).unwrap().settlement.more.as_deref(), Some(&expected));
}

#[test]
fn ids_of_one_moment_cannot_be_guessed_from_each_other() {
    let s = Sandbox::new();
    for n in 0..8 {
        s.pay(&n.to_string(), "sim:ok");
    }
    let salts: HashSet<u64> = (0..8).map(|n| s.engine.settlement(&s.caller, &target(&n.to_string())).unwrap().salt).collect();
    assert_eq!(salts.len(), 8);
}

#[test]
fn who_cannot_pay_hears_whether_there_is_an_account_at_all() {
    let code = |s: &Sandbox, amount: &str, currency: &str| {
        s.create(&format!(r#"{{"amount":"{amount}","currency":"{currency}","to":"sim:ok","reference":"r"}}"#)).unwrap_err().code
    };
    // The first payment of all and a later one.
    let s = Sandbox::new();
    for _ in 0..2 {
        assert_eq!(code(&s, "1000000.01", "EUR"), ErrorCode::InsufficientFunds);
        assert_eq!(code(&s, "1", "CHF"), ErrorCode::AccountNotFound);
        s.pay("paid", "sim:ok");
    }
}

#[test]
fn without_a_provider_of_the_mode_trying_again_does_not_help() {
    let provider = |availability| ProviderSpec { availability, ..ProviderSpec::new("play", "Play", Mode::Sandbox, &Simulator) };
    let config = Config { providers: vec![provider(Availability::Disabled)], ..sealing() };
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config, 1);
    let pay = |caller, to: &str| {
        let body = format!(r#"{{"amount":1,"currency":"EUR","to":"{to}","reference":"r"}}"#);
        s.engine.run(create(&s.engine, caller, &body)).unwrap_err()
    };
    let (off, none) = (pay(s.caller, "acct:42"), pay(live(s.caller), "acct:42"));
    assert_eq!((off.code, none.code), (ErrorCode::NoRoute, ErrorCode::NoRoute));
    assert!(off.retryable && !none.retryable);
    assert!(none.to_string().contains("no provider for live payments") && !off.to_string().contains("no provider for"), "{off}; {none}");
    assert_eq!(pay(live(enroll(&s.engine, "Other")), "sim:ok").fields[0].code, "participant_sandbox_only");
}

#[test]
fn what_a_fee_gives_back_is_kept_only_where_there_is_a_fee_and_it_gives_back() {
    let kept = |charges: bool, refund| {
        let flat = if charges { Units::of("0.07".parse().unwrap()).unwrap() } else { Units::default() };
        let fees = vec![FeeRule { flat, refund, ..FeeRule::default() }];
        let provider = ProviderSpec { fees, ..ProviderSpec::new("play", "Play", Mode::Sandbox, &Simulator) };
        let s = Sandbox::over(Arc::new(MemoryStore::new()), Config { providers: vec![provider], ..sealing() }, 1);
        with(&s, "r", &json!({})).unwrap().and_then(|more| more.fee_refund)
    };
    assert_eq!(kept(true, Some(FeeRefund::Proportional)), Some(FeeRefund::Proportional));
    assert_eq!((kept(true, None), kept(false, Some(FeeRefund::Proportional)), kept(false, None)), (None, None, None));
}

#[test]
fn what_is_over_is_found_in_pages_at_its_time_and_counted() {
    let s = Sandbox::new();
    let end = s.env.now() + 60_000;
    for n in 0..3 {
        with(&s, &n.to_string(), &json!({ "expires_at": rfc3339(end) })).unwrap();
    }
    with(&s, "later", &json!({ "expires_at": rfc3339(end + 1) })).unwrap();
    s.env.advance_to(end - 1);
    assert_eq!(s.engine.expired(None, 9).unwrap().settlements, []);
    s.env.advance_to(end);
    let first = s.engine.expired(None, 2).unwrap();
    let second = s.engine.expired(first.next, 2).unwrap();
    assert_eq!((first.settlements.len(), second.settlements.len(), second.next), (2, 1, None));
    let exactly = s.engine.expired(None, 3).unwrap();
    assert!(exactly.next.is_some() && s.engine.expired(exactly.next, 3).unwrap().settlements.is_empty());
    let settlements = [first.settlements, second.settlements].concat();
    assert_eq!(s.engine.run(Expire { settlements: settlements.clone() }).unwrap(), 3);
    assert_eq!(s.engine.run(Expire { settlements }).unwrap(), 0);
    assert_eq!(["0", "1", "2", "later"].map(|reference| s.status(reference)), ["cancelled", "cancelled", "cancelled", "accepted"]);
    s.assert_sound();
}
