//! What is read back: positions, reversals by their names, batches, balances of each mode.

use std::sync::Arc;

use crate::support::live::{both_modes, live};
use crate::support::{Sandbox, create, enroll, sealing, target};
use railgate::api::{Action, Caller};
use railgate::env::Env as _;
use railgate::store::memory::MemoryStore;
use railgate::traceparent::TraceParent;
use railgate::{Config, ErrorCode};

#[test]
fn what_was_paid_through_a_provider_is_its_position() {
    let s = both_modes(Arc::new(MemoryStore::new()), sealing());
    let told = |provider: &str| -> Vec<(String, bool, String, String, String)> {
        let positions = s.engine.positions(provider).unwrap();
        let one = |it: &railgate::api::PositionView| {
            (it.provider.clone(), it.sandbox, it.currency.clone(), it.posted.as_str().to_owned(), it.pending.as_str().to_owned())
        };
        let mut told: Vec<_> = positions.iter().map(one).collect();
        told.sort();
        told
    };
    let of = |provider: &str, sandbox, currency: &str, posted: &str, pending: &str| {
        (provider.to_owned(), sandbox, currency.to_owned(), posted.to_owned(), pending.to_owned())
    };
    assert_eq!((told("play"), told("real")), (vec![], vec![]));
    s.pay("paid", "sim:ok");
    s.pay("held", "sim:pending");
    s.create(r#"{"amount":7,"currency":"JPY","to":"sim:ok","reference":"yen"}"#).unwrap();
    s.engine
        .run(create(&s.engine, live(s.caller), r#"{"amount":3,"currency":"EUR","to":"msisdn:+254700000001","reference":"real"}"#))
        .unwrap();
    s.pass(1_000);
    s.reverse("paid", r#"{"amount":4}"#).unwrap();
    s.pass(1_000);
    assert_eq!(told("play"), [of("play", true, "EUR", "6.00", "10.00"), of("play", true, "JPY", "7", "0")]);
    assert_eq!(told("real"), [of("real", false, "EUR", "3.00", "0.00")]);
    let all = s.engine.all_positions().unwrap();
    assert_eq!(all.iter().map(|it| &*it.provider).collect::<Vec<_>>(), ["play", "play", "real"]);
    assert_eq!(s.engine.positions("nobody").unwrap_err().code, ErrorCode::ProviderNotFound);
}

#[test]
fn a_reversal_is_found_by_either_of_its_names() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    s.pass(0);
    for (amount, named) in [(1, ""), (2, r#","reference":"back""#), (3, "")] {
        s.reverse("r", &format!(r#"{{"amount":{amount}{named}}}"#)).unwrap();
    }
    let record = s.engine.settlement(&s.caller, &target("r")).unwrap();
    let all = s.engine.reversals(&record).unwrap();
    for (n, reversal) in all.iter().enumerate() {
        assert_eq!(s.engine.reversal(&record, &reversal.id).unwrap().amount_minor, ((n + 1) * 100).to_string());
    }
    assert_eq!(s.engine.reversal(&record, "back").unwrap().id, all[1].id);
    for unknown in ["", "forth", "rev_"] {
        assert_eq!(s.engine.reversal(&record, unknown).unwrap_err().code, ErrorCode::ReversalNotFound, "{unknown:?}");
    }
}

#[test]
fn each_element_of_a_batch_is_judged_alone() {
    let s = Sandbox::new();
    let one = |amount: &str| format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:ok","reference":"r"}}"#);
    let batch = format!(r#"{{"settlements":[{},{},{}]}}"#, one("1"), one("-1"), one("2"));
    let parsed = s.engine.parse_batch(batch.as_bytes()).unwrap();
    let told: Vec<_> = parsed.iter().map(|it| it.as_ref().map(|it| it.money.minor()).map_err(|error| error.code)).collect();
    assert_eq!(told, [Ok(100), Err(ErrorCode::InvalidFields), Ok(200)]);
}

#[test]
fn balances_are_those_of_the_callers_mode() {
    let s = both_modes(Arc::new(MemoryStore::new()), sealing());
    let currencies = |caller: Caller| s.engine.balances(&caller).unwrap().iter().map(|it| it.currency.clone()).collect::<Vec<_>>();
    let (play, real) = (currencies(s.caller), currencies(live(s.caller)));
    assert!(play.len() > 5 && play.is_sorted(), "{play:?}");
    assert_eq!(real, ["EUR"]);
    s.pay("r", "sim:ok");
    assert_eq!((currencies(s.caller), currencies(live(s.caller))), (play, real));
    assert!(s.engine.balances(&s.caller).unwrap().iter().all(|it| it.sandbox));
    assert!(s.engine.balances(&live(s.caller)).unwrap().iter().all(|it| !it.sandbox));
    assert!(currencies(live(enroll(&s.engine, "New"))).is_empty());
}

#[test]
fn where_a_payment_was_asked_for_is_kept_with_it() {
    let s = Sandbox::new();
    let trace: TraceParent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".parse().unwrap();
    let mut traced = create(&s.engine, s.caller, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"traced"}"#);
    traced.request.traceparent = Some(trace);
    let made = s.engine.run(traced).unwrap().settlement.no;
    assert_eq!(s.engine.traceparent_of(made).unwrap(), Some(trace));
    s.pay("alone", "sim:ok");
    let alone = s.engine.settlement(&s.caller, &target("alone")).unwrap();
    assert_eq!((s.engine.traceparent_of(alone.no).unwrap(), alone.more), (None, None));
}

#[test]
fn a_question_to_the_operator_says_what_it_is_about_and_until_when_it_counts() {
    let s = Sandbox::new();
    s.pay("r", "sim:reverse-unknown");
    s.work();
    let asked = || {
        let record = s.engine.settlement(&s.caller, &target("r")).unwrap();
        let found = s.engine.inquiries(&record).unwrap();
        assert_eq!(found.left_out, 0);
        found.calls
    };
    let calls = asked();
    assert_eq!((calls.len(), calls[0].action, calls[0].given_back), (1, Action::Inquire, false));
    s.reverse("r", r#"{"amount":4}"#).unwrap();
    s.work();
    let calls = asked();
    assert_eq!(calls.iter().map(|it| it.action).collect::<Vec<_>>(), [Action::Inquire, Action::InquireReversal]);
    assert_eq!(calls.iter().map(|it| (it.given_back, it.money.minor())).collect::<Vec<_>>(), [(true, 1_000), (false, 400)]);
    for call in calls {
        let (wall, steady) = (call.not_after - s.env.now(), call.leave_by - s.env.steady());
        assert_eq!((wall, steady), (Config::sandbox().lease_ms, Config::sandbox().lease_ms));
    }
}

#[test]
fn a_trace_is_read_in_parts_of_any_length() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    s.pass(0);
    let record = s.engine.settlement(&s.caller, &target("r")).unwrap();
    let all: Vec<u32> = s.engine.events(&record, 0, 99).unwrap().iter().map(|it| it.sequence).collect();
    assert_eq!(all, (1..=record.version).collect::<Vec<_>>());
    for after in 0..=record.version {
        for limit in 0..all.len() {
            let part: Vec<u32> = s.engine.events(&record, after, limit).unwrap().iter().map(|it| it.sequence).collect();
            assert_eq!(part, all.iter().copied().filter(|n| *n > after).take(limit).collect::<Vec<_>>(), "{limit} after {after}");
        }
    }
}

#[test]
fn who_asks_for_too_much_back_hears_what_is_left_and_why() {
    let s = Sandbox::new();
    s.pay("r", "sim:reverse-unknown");
    let refused = |body: &str| s.reverse("r", body).unwrap_err().to_string();
    assert!(
        refused(r#"{"amount":1}"#).contains("nothing was sent yet: it can only be cancelled as a whole"),
        "{}",
        refused(r#"{"amount":1}"#)
    );
    s.pass(0);
    s.reverse("r", r#"{"amount":3}"#).unwrap();
    s.pass(0);
    assert!(refused(r#"{"amount":8}"#).contains("7.00 EUR can still be reversed"), "{}", refused(r#"{"amount":8}"#));
}
