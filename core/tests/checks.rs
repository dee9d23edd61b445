//! Checks of a payment before it is made, and where it would go.
#![cfg(feature = "testkit")]

use std::sync::Arc;

use crate::plain_rail::{PlainRail, provider};
use crate::support::live::{both_modes, live};
use crate::support::town::participant;
use crate::support::{Sandbox, enroll, sealing};
use railgate::api::{CheckView, Verdict};
use railgate::env::Env as _;
use railgate::money::Currency;
use railgate::rail::{PayeeMatch, Rails};
use railgate::route::{Availability, ProviderSpec, Serves};
use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::memory::MemoryStore;
use railgate::store::{StoreError, Unique};
use railgate::time::rfc3339;
use railgate::{Config, ErrorCode};

fn body(amount: &str, currency: &str, to: &str) -> String {
    format!(r#"{{"amount":"{amount}","currency":"{currency}","to":"{to}","reference":"new"}}"#)
}

fn checked(s: &Sandbox, body: &str) -> CheckView {
    s.engine.preflight(&s.caller, body.as_bytes()).unwrap().view
}

fn problems(view: &CheckView) -> Vec<(&str, &str)> {
    view.problems.iter().map(|it| (it.pointer.as_ref(), it.code.as_ref())).collect()
}

#[test]
fn a_check_says_what_a_create_would_say_and_where_it_would_go() {
    let s = Sandbox::new();
    let fine = checked(&s, &body("1", "EUR", "sim:ok"));
    assert!(fine.ok && fine.funds_available && fine.problems.is_empty() && fine.warnings.is_empty(), "{fine:?}");
    assert_eq!(fine.quote.unwrap().expires_at, rfc3339(s.env.now() + Config::sandbox().quote_ttl_ms));
    let poor = checked(&s, &body("1000000.01", "EUR", "sim:ok"));
    assert_eq!((poor.ok, poor.funds_available, problems(&poor)), (false, false, vec![("/amount", "insufficient_funds")]));
    let none = checked(&s, &body("1", "CHF", "sim:ok"));
    assert_eq!((none.ok, problems(&none)), (false, vec![("/currency", "account_not_found")]));
    s.pay("new", "sim:ok");
    assert_eq!(problems(&checked(&s, &body("1", "EUR", "sim:ok"))), [("/reference", "reference_used")]);
    // Where nobody takes it, it says who does not and why.
    let provider = ProviderSpec { availability: Availability::Disabled, ..ProviderSpec::simulator("off", "Off") };
    let s = Sandbox::over(Arc::new(MemoryStore::new()), Config { providers: vec![provider], ..sealing() }, 1);
    let nowhere = checked(&s, &body("1", "EUR", "sim:ok"));
    assert!(!nowhere.ok && nowhere.quote.is_none() && !nowhere.route.is_empty(), "{nowhere:?}");
    assert!(nowhere.route.iter().all(|step| step.verdict == Verdict::Out && step.why.is_some()), "{nowhere:?}");
}

#[test]
fn a_currency_that_nobody_takes_is_refused_by_its_name() {
    let currencies = Serves::Only(vec![Currency::from_code("EUR").unwrap()]);
    let provider = ProviderSpec { currencies, ..ProviderSpec::simulator("euros", "Euros") };
    let s = Sandbox::over(Arc::new(MemoryStore::new()), Config { providers: vec![provider], ..sealing() }, 1);
    let refused = checked(&s, &body("1", "USD", "sim:ok"));
    assert_eq!(problems(&refused), [("/currency", "currency_unsupported")]);
    assert!(checked(&s, &body("1", "EUR", "sim:ok")).ok);
}

#[test]
fn where_it_would_go_depends_on_the_mode() {
    let s = both_modes(Arc::new(MemoryStore::new()), sealing());
    let of = |more: &str| {
        let body = format!(r#"{{"amount":1,"currency":"EUR","to":"msisdn:+254700000001","reference":"r"{more}}}"#);
        let route = s.engine.explain(Some(live(s.caller).client_id), body.as_bytes()).unwrap().route;
        route.into_iter().filter(|step| step.verdict == Verdict::In).map(|step| step.provider).collect::<Vec<_>>()
    };
    assert_eq!(
        (of(r#","sandbox":true"#), of(r#","sandbox":false"#), of("")),
        (vec!["play".to_owned()], vec!["real".to_owned()], vec!["real".to_owned()])
    );
}

#[test]
fn an_operator_outside_is_asked_about_a_payee_of_whom_nothing_is_known_if_it_can_say() {
    let with = |check_payee| {
        let mut spec = provider("acme", "https://acme.example");
        spec.capabilities.check_payee = check_payee;
        let config = Config { providers: vec![spec], rails: Rails::built_in().with(PlainRail), ..Config::sandbox() };
        let s = Sandbox::over(Arc::new(MemoryStore::new()), config, 1);
        let check = s.engine.preflight(&s.caller, body("1", "EUR", "msisdn:+254700000001").as_bytes()).unwrap();
        assert_eq!(check.view.payee.payee_match, PayeeMatch::NotAvailable);
        check.lookup.is_some()
    };
    assert!(with(true) && !with(false));
    let s = Sandbox::new();
    let inside = s.engine.preflight(&s.caller, body("1", "EUR", "acct:42").as_bytes()).unwrap();
    assert!(inside.lookup.is_none(), "it has said all it knows: {:?}", inside.view.payee);
    let other = enroll(&s.engine, "Other");
    let known = s.engine.preflight(&s.caller, body("1", "EUR", &participant(&other)).as_bytes()).unwrap();
    assert_eq!((known.view.payee.payee_match, known.lookup.is_none()), (PayeeMatch::Match, true));
}

/// Refuses to find clients by their ids.
struct NoClients(bool);

impl Hooks for NoClients {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        match call {
            Call::Find(Unique::ClientId(_)) => Err(StoreError::new("a test", "injected fault", self.0)),
            _ => Ok(()),
        }
    }
}

#[test]
fn that_the_store_fails_is_no_fault_of_the_request() {
    for (retryable, code) in [(true, ErrorCode::StoreUnavailable), (false, ErrorCode::Internal)] {
        let s = Sandbox::new();
        let other = enroll(&s.engine, "Other");
        let store = Hooked::with(s.store.clone(), NoClients(retryable));
        let engine = railgate::Engine::open(store, s.env.clone(), Config::default()).unwrap();
        let to_client = body("1", "EUR", &participant(&other));
        assert_eq!(engine.preflight(&s.caller, to_client.as_bytes()).unwrap_err().code, code);
    }
}
