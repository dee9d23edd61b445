//! What an operator agrees with a client: limits that are exact, credit, fees, and the time in which a payment can be reversed.

use std::collections::BTreeMap;
use std::sync::{Arc, Barrier};

use crate::support::{START, Sandbox, sealing, target};
use proptest::prelude::*;
use railgate::api::{Caller, ReverseRequest, TermsBody};
use railgate::engine::{Create, Operated, PutTerms, Reverse, Slot, verify};
use railgate::ledger::Mode;
use railgate::money::Currency;
use railgate::rail::simulator::Simulator;
use railgate::route::ProviderSpec;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, MovementKind, UsageRecord};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, Store, Write, typed};
use railgate::terms::{UsageId, Used};
use railgate::{Config, Engine, Error, ErrorCode};
use serde_json::json;

const DAY: i64 = 86_400_000;

/// A gateway whose live provider is the simulated operator.
fn config() -> Config {
    let provider = |id, mode| ProviderSpec::new(id, id, mode, &Simulator);
    Config { providers: vec![provider("play", Mode::Sandbox), provider("real", Mode::Live)], ..sealing() }
}

fn stores() -> Vec<(Arc<dyn Store>, Option<tempfile::TempDir>)> {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = SqliteStore::open(folder.path().join("limits.db")).unwrap();
    vec![(Arc::new(MemoryStore::new()), None), (Arc::new(sqlite), Some(folder))]
}

fn live(s: &Sandbox) -> Caller {
    Caller { mode: Mode::Live, ..s.caller }
}

fn agree(s: &Sandbox, terms: serde_json::Value) -> Result<i64, Error> {
    let mut body = json!({ "client": format!("cli_{}", s.caller.client_id) });
    body.as_object_mut().unwrap().extend(terms.as_object().unwrap().clone());
    let body: TermsBody = serde_json::from_value(body).unwrap();
    let version = s.engine.run(Operated(PutTerms { terms: vec![(body, None)], reason: None }))?[0];
    s.engine.follow_setup().unwrap();
    Ok(version)
}

fn deposit(s: &Sandbox, money: &str) {
    let (client, kind) = (s.caller.client_id, MovementKind::Deposit);
    let (money, reference, evidence) = (money.parse().unwrap(), "bank-1".parse().unwrap(), "line 7".to_owned());
    s.engine.run(Operated(railgate::engine::MoveMoney { client, kind, money, reference, evidence })).unwrap();
}

fn body(amount: &str, to: &str, reference: &str) -> String {
    json!({ "amount": amount, "currency": "EUR", "to": to, "reference": reference }).to_string()
}

fn pay_at(engine: &Engine, caller: Caller, amount: &str, reference: &str) -> Result<(), Error> {
    let request = Box::new(engine.parse_create(body(amount, "msisdn:+254700000001", reference).as_bytes()).unwrap());
    engine.run(Create { caller, request }).map(drop)
}

fn pay(s: &Sandbox, amount: &str, reference: &str) -> Result<(), ErrorCode> {
    pay_at(&s.engine, live(s), amount, reference).map_err(|error| error.code)
}

fn used(s: &Sandbox, at: i64) -> (i64, i64) {
    let id = UsageId::new(s.caller.client, Mode::Live, Currency::from_code("EUR").unwrap(), at);
    let found: Option<UsageRecord> = typed(s.store.get(&Key::Usage(id)).unwrap()).unwrap();
    found.map_or((0, 0), |usage| (usage.used.value, usage.used.count))
}

#[test]
fn each_payment_and_each_day_has_its_limits() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store, config(), 1);
        deposit(&s, "1000.00 EUR");
        pay(&s, "500", "before").unwrap();
        let limits = json!([{ "mode": "live", "currency": "EUR", "min": "2", "max": "60", "daily_value": "100", "daily_count": 3 }]);
        assert_eq!(agree(&s, json!({ "limits": limits })).unwrap(), 1);
        assert_eq!(used(&s, START), (0, 0), "counted from the moment at which the limit is in force");
        assert_eq!(pay(&s, "1.99", "small"), Err(ErrorCode::AmountBelowMinimum));
        assert_eq!(pay(&s, "60.01", "large"), Err(ErrorCode::AmountAboveMaximum));
        pay(&s, "60", "r-1").unwrap();
        assert_eq!(pay(&s, "40.01", "r-2"), Err(ErrorCode::LimitDailyValue));
        pay(&s, "60", "r-1").unwrap();
        assert_eq!(used(&s, START), (6_000, 1), "a replay counts once, a refusal not at all");
        pay(&s, "38", "r-2").unwrap();
        pay(&s, "2", "r-3").unwrap();
        assert_eq!(pay(&s, "2", "r-4"), Err(ErrorCode::LimitDailyCount));
        let said = s.engine.preflight(&live(&s), body("2", "msisdn:+254700000001", "r-4").as_bytes()).unwrap().view;
        assert!(!said.ok && said.problems[0].code == "limit_daily_count", "{said:?}");
        // The other mode has none, and the next day begins at zero.
        pay_at(&s.engine, s.caller, "500", "play").unwrap();
        s.env.advance_to(START - START % DAY + DAY);
        pay(&s, "2", "r-4").unwrap();
        assert_eq!((used(&s, START), used(&s, START + DAY)), ((10_000, 3), (200, 1)));
        // Without limits nothing is counted or refused.
        agree(&s, json!({})).unwrap();
        pay(&s, "100", "after").unwrap();
        assert_eq!(used(&s, START + DAY), (200, 1));
        s.work();
        s.assert_sound();
    }
}

#[test]
fn what_fails_or_is_cancelled_does_not_count() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store, config(), 1);
        let limits = json!([{ "mode": "sandbox", "currency": "EUR", "daily_value": "100", "daily_count": 9 }]);
        agree(&s, json!({ "limits": limits })).unwrap();
        let send = |to: &str, reference: &str| {
            let request = Box::new(s.engine.parse_create(body("100", to, reference).as_bytes()).unwrap());
            s.engine.run(Create { caller: s.caller, request }).map(drop).map_err(|error| error.code)
        };
        let reverse = |reference: &str| {
            let request = Box::new(ReverseRequest::default());
            s.engine.run(Reverse { caller: s.caller, target: target(reference), request, idempotency: None }).unwrap();
        };
        send("sim:decline-account_closed", "declined").unwrap();
        assert_eq!(send("sim:ok", "next"), Err(ErrorCode::LimitDailyValue));
        s.work();
        send("sim:timeout-never", "cancelled").unwrap();
        reverse("cancelled");
        send("sim:ok", "paid").unwrap();
        s.work();
        reverse("paid");
        s.work();
        assert_eq!(s.engine.settlement(&s.caller, &target("paid")).unwrap().status.as_str(), "reversed");
        assert_eq!(send("sim:ok", "more"), Err(ErrorCode::LimitDailyValue), "what was paid counts, also if it came back");
        s.assert_sound();
        // Somebody meddles with the counter.
        let id = UsageId::new(s.caller.client, Mode::Sandbox, Currency::from_code("EUR").unwrap(), START);
        let by = Used { value: -100, count: 0 };
        s.store.commit(&Commit { writes: vec![Write::Count { id, by, most: by }] }).unwrap();
        let report = verify::verify(&*s.store, &mut |_| {}).unwrap();
        assert_eq!(report.problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), ["usage_differs"]);
    }
}

#[test]
fn what_is_given_back_refuses_nothing_that_is_decided_with_it() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store, config(), 1);
        agree(&s, json!({ "limits": [{ "mode": "sandbox", "currency": "EUR", "daily_value": "100", "daily_count": 2 }] })).unwrap();
        let create = |amount: &str, reference: &str| {
            let request = Box::new(s.engine.parse_create(body(amount, "sim:ok", reference).as_bytes()).unwrap());
            Slot::new(Create { caller: s.caller, request })
        };
        let cancel = |reference: &str| {
            let request = Box::new(ReverseRequest::default());
            Slot::new(Reverse { caller: s.caller, target: target(reference), request, idempotency: None })
        };
        let made = |create: Slot<Create>| create.into_result().unwrap().map(drop).map_err(|error| error.code);
        let (mut one, mut two) = (create("60", "r-1"), create("40", "r-2"));
        s.engine.execute(&mut [&mut one, &mut two]);
        assert_eq!((made(one), made(two)), (Ok(()), Ok(())));
        // One group: the day has room again for what was cancelled before, and for no more.
        let (mut gone, mut large, mut fits, mut third) = (cancel("r-1"), create("61", "r-3"), create("60", "r-4"), create("1", "r-5"));
        s.engine.execute(&mut [&mut gone, &mut large, &mut fits, &mut third]);
        assert_eq!(gone.into_result().unwrap().unwrap().settlement.status.as_str(), "cancelled");
        assert_eq!(made(large), Err(ErrorCode::LimitDailyValue));
        assert_eq!((made(fits), made(third)), (Ok(()), Err(ErrorCode::LimitDailyCount)));
        // Also if the group as a whole adds to the day.
        let (mut gone, mut again) = (cancel("r-2"), create("30", "r-6"));
        s.engine.execute(&mut [&mut gone, &mut again]);
        assert!(gone.into_result().unwrap().is_ok());
        let (mut gone, mut more) = (cancel("r-6"), create("40", "r-7"));
        s.engine.execute(&mut [&mut gone, &mut more]);
        assert_eq!((made(again), made(more)), (Ok(()), Ok(())));
        s.assert_sound();
    }
}

#[test]
fn a_limit_holds_exactly_for_calls_at_once_at_several_nodes() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store.clone(), config(), 1);
        deposit(&s, "1000.00 EUR");
        agree(&s, json!({ "limits": [{ "mode": "live", "currency": "EUR", "daily_value": "200", "daily_count": 30 }] })).unwrap();
        let nodes: Vec<Engine> = (2..5)
            .map(|owner| {
                let engine = Engine::open(store.clone(), s.env.clone(), Config { owner: Some(owner), ..config() }).unwrap();
                engine.follow_setup().unwrap();
                engine
            })
            .collect();
        let barrier = Barrier::new(nodes.len());
        let paid: usize = std::thread::scope(|scope| {
            let node = |(n, engine): (usize, &'_ Engine)| {
                barrier.wait();
                // A node that others outran says that nothing was done.
                let pay = |reference: &str| loop {
                    match pay_at(engine, live(&s), "10", reference) {
                        Err(error) if error.code == ErrorCode::StoreUnavailable => assert!(error.retryable),
                        paid => return paid,
                    }
                };
                let paid = (0..20).map(|m| pay(&format!("r-{n}-{m}"))).filter(|paid| match paid {
                    Ok(()) => true,
                    Err(error) => {
                        assert_eq!(error.code, ErrorCode::LimitDailyValue);
                        false
                    }
                });
                paid.count()
            };
            let running: Vec<_> = nodes.iter().enumerate().map(|it| scope.spawn(move || node(it))).collect();
            running.into_iter().map(|node| node.join().unwrap()).sum()
        });
        assert_eq!((paid, used(&s, START)), (20, (20_000, 20)));
        s.assert_sound();
    }
}

#[test]
fn credit_lets_live_money_fall_below_zero_and_no_further() {
    for (store, _folder) in stores() {
        let s = Sandbox::over(store, config(), 1);
        assert_eq!(pay(&s, "1", "none"), Err(ErrorCode::AccountNotFound));
        let nothing = s.engine.balances(&live(&s)).unwrap();
        assert!(nothing.is_empty() && s.engine.balance(&live(&s), "EUR").is_err());
        agree(&s, json!({ "credit": { "EUR": "50" } })).unwrap();
        let shown = [s.engine.balances(&live(&s)).unwrap().remove(0), s.engine.balance(&live(&s), "EUR").unwrap()];
        assert!(shown.iter().all(|it| (it.available.as_str(), it.credit.as_str()) == ("0.00", "50.00")), "before there was ever any money");
        assert_eq!(s.engine.balance(&s.caller, "EUR").unwrap().credit.as_str(), "0.00", "the sandbox has none");
        let listed = |caller| s.engine.balances(&caller).unwrap().into_iter().map(|it| it.currency).collect::<Vec<_>>();
        agree(&s, json!({ "credit": { "CHF": "1", "EUR": "50" } })).unwrap();
        assert_eq!(listed(live(&s)), ["CHF", "EUR"]);
        assert!(!listed(s.caller).contains(&"CHF".to_owned()));
        agree(&s, json!({ "credit": { "EUR": "50" } })).unwrap();
        assert_eq!(pay(&s, "50.01", "r-0"), Err(ErrorCode::InsufficientFunds), "it has an account, though never any money");
        pay(&s, "30", "r-1").unwrap();
        assert_eq!(pay(&s, "20.01", "r-2"), Err(ErrorCode::InsufficientFunds));
        let funds =
            |amount| s.engine.preflight(&live(&s), body(amount, "msisdn:+254700000001", "r-9").as_bytes()).unwrap().view.funds_available;
        assert!(funds("20") && !funds("20.01"));
        pay(&s, "20", "r-2").unwrap();
        s.work();
        let balance = s.engine.balance(&live(&s), "EUR").unwrap();
        let shown = (balance.available.as_str(), balance.credit.as_str(), balance.ledger.as_str());
        assert_eq!(shown, ("-50.00", "50.00", "-50.00"));
        // Credit that is withdrawn refuses what is new; a deposit still arrives.
        agree(&s, json!({})).unwrap();
        assert_eq!(s.engine.balance(&live(&s), "EUR").unwrap().credit.as_str(), "0.00");
        assert_eq!(pay(&s, "1", "r-3"), Err(ErrorCode::InsufficientFunds));
        deposit(&s, "51.00 EUR");
        pay(&s, "1", "r-3").unwrap();
        s.work();
        s.assert_sound();
    }
}

#[test]
fn an_agreed_fee_replaces_the_providers() {
    let charged = ProviderSpec { fees: serde_fees(), ..ProviderSpec::new("play", "Play", Mode::Sandbox, &Simulator) };
    let s = Sandbox::over(Arc::new(MemoryStore::new()), Config { providers: vec![charged], ..sealing() }, 1);
    let quoted = |to: &str| {
        let view = s.engine.preflight(&s.caller, body("10", to, "r").as_bytes()).unwrap().view;
        let (quote, route) = (view.quote.unwrap(), view.route[0].fee.clone().unwrap());
        assert_eq!(quote.fee, route);
        quote.fee.as_str().to_owned()
    };
    assert_eq!(quoted("sim:ok"), "0.30");
    agree(&s, json!({ "fees": [{ "namespace": "sim", "flat": "0.05" }] })).unwrap();
    assert_eq!((quoted("sim:ok"), quoted("acct:1")), ("0.05".to_owned(), "0.30".to_owned()));
}

/// Thirty cents for each payment.
fn serde_fees() -> Vec<railgate::route::FeeRule> {
    let flat = railgate::route::Units::of("0.30".parse().unwrap()).unwrap();
    vec![railgate::route::FeeRule { flat, ..Default::default() }]
}

#[test]
fn a_payment_is_reversed_in_time_or_not_at_all() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    agree(&s, json!({ "reversal_days": 2 })).unwrap();
    for reference in ["one", "two"] {
        pay_at(&s.engine, s.caller, "10", reference).unwrap();
    }
    s.work();
    let reverse = |reference: &str| {
        let request = Box::new(ReverseRequest::default());
        s.engine.run(Reverse { caller: s.caller, target: target(reference), request, idempotency: None }).map(drop)
    };
    s.env.advance_to(START + 2 * DAY);
    reverse("one").unwrap();
    s.env.advance_to(START + 2 * DAY + 60_000);
    assert_eq!(reverse("two").unwrap_err().code, ErrorCode::ReversalWindowClosed);
    s.work();
    s.assert_sound();
}

#[test]
fn terms_are_of_a_client_that_exists_and_never_overwritten_unseen() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), config(), 1);
    let put = |client: &str, expected| {
        let body = TermsBody { client: client.to_owned(), reversal_days: Some(7), ..TermsBody::default() };
        s.engine.run(Operated(PutTerms { terms: vec![(body, expected)], reason: None }))
    };
    assert_eq!(put("cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB", None).unwrap_err().code, ErrorCode::ClientNotFound);
    assert_eq!(put("shop", None).unwrap_err().into_fields()[0].code, "client_malformed");
    let own = format!("cli_{}", s.caller.client_id);
    assert_eq!(put(&own, Some(0)).unwrap(), [1]);
    assert_eq!(put(&own, Some(0)).unwrap_err().code, ErrorCode::VersionConflict);
    assert_eq!(put(&own, None).unwrap(), [1], "nothing changes");
    // After a restart they are as they were.
    let again = Engine::open(s.store.clone(), s.env.clone(), config()).unwrap();
    again.follow_setup().unwrap();
    assert_eq!(again.applied_terms(s.caller.client).unwrap().terms.reversal_days, Some(7));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Two nodes pay, fail, cancel and see limits change in any order: the counters are what the payments say.
    #[test]
    fn counters_are_what_the_payments_say(steps in prop::collection::vec((0usize..2, 0u8..6, 1i64..40), 1..50)) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let s = Sandbox::over(store.clone(), config(), 1);
        let other = Engine::open(store, s.env.clone(), Config { owner: Some(9), ..config() }).unwrap();
        let mut model: BTreeMap<String, i64> = BTreeMap::new();
        let mut daily: Option<i64> = None;
        for (n, (node, action, amount)) in steps.into_iter().enumerate() {
            let engine = [&s.engine, &other][node];
            match action {
                0 => {
                    let value = (amount * 10).to_string();
                    let limits = json!([{ "mode": "sandbox", "currency": "EUR", "daily_value": value }]);
                    agree(&s, if amount % 5 == 0 { json!({}) } else { json!({ "limits": limits }) }).unwrap();
                    other.follow_setup().unwrap();
                    daily = (amount % 5 != 0).then_some(amount * 10);
                }
                1 => s.work(),
                _ => {
                    let to = ["sim:ok", "sim:decline-other", "sim:pending", "sim:failover"][usize::from(action) % 4];
                    let reference = format!("r-{n}");
                    let request = Box::new(engine.parse_create(body(&amount.to_string(), to, &reference).as_bytes()).unwrap());
                    let made = engine.run(Create { caller: s.caller, request });
                    let sum: i64 = model.iter().filter(|(reference, _)| {
                        let record = s.engine.settlement(&s.caller, &target(reference)).unwrap();
                        !matches!(record.status.as_str(), "failed" | "cancelled")
                    }).map(|(_, amount)| amount).sum();
                    let fits = daily.is_none_or(|most| sum + amount <= most);
                    prop_assert_eq!(made.is_ok(), fits, "{} of {:?} after {}", amount, daily, sum);
                    if made.is_ok() && daily.is_some() {
                        model.insert(reference, amount);
                    }
                }
            }
        }
        s.work();
        s.assert_sound();
    }
}
