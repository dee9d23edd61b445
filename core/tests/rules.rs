//! The engine's rules, one by one: replays, conflicts, funds, reversals, tenancy, modes, crashes.

use crate::support;
use std::sync::Arc;

use crate::support::{Sandbox, create, enroll, reverse};
use railgate::api::{IdempotencyKey, Target, Work};
use railgate::engine::{Expire, Fund, LeaseTasks, Maintain, Receive, Recover, ReportAnswer, Reverse};
use railgate::env::Env as _;
use railgate::ledger::Mode;
use railgate::money::{Currency, Money};
use railgate::rail::RailAnswer;
use railgate::route::{AmountLimits, FeeRule, Percent, ProviderSpec, Units};
use railgate::store::memory::MemoryStore;
use railgate::{Config, Engine, Error};

fn body(reference: &str, amount: &str) -> String {
    format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#)
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code.as_str()
}

#[test]
fn the_same_request_is_replayed_by_meaning() {
    let s = Sandbox::new();
    let (first, replayed) = s.create(&body("r", "10.5")).unwrap();
    assert!(!replayed);
    for same in ["10.5", "10.50", "\"10.5\"", "\"10.50\""] {
        let (again, replayed) = s.create(&body("r", same)).unwrap();
        assert!(replayed);
        assert_eq!(again.id, first.id);
    }
    assert_eq!(code(s.create(&body("r", "10.51"))), "reference_conflict");
    assert_eq!(code(s.create(&body("r", "10.5").replace("sim:ok", "sim:pending"))), "reference_conflict");
    assert_eq!(code(s.create(&body("r", "10.5").replace('}', r#","description":"x"}"#))), "reference_conflict");
    s.assert_sound();
}

#[test]
fn a_conflict_says_which_fields_differ() {
    let s = Sandbox::new();
    let differing = |error: Error| error.fields.iter().map(|it| format!("{} {}", it.pointer, it.code)).collect::<Vec<_>>();
    s.create(&body("r", "10.5")).unwrap();
    let one = s.create(&body("r", "10.51")).unwrap_err();
    assert_eq!(one.detail, "the reference was used with another amount");
    assert_eq!(differing(one), ["/amount differs"]);
    let all = r#"{"amount":1,"currency":"USD","to":"sim:pending","reference":"r","description":"x","metadata":{"a":"b"},
        "provider":"simulator","expires_at":"2030-01-01T00:00:00Z"}"#;
    let fields = ["/amount", "/currency", "/to", "/expires_at", "/description", "/metadata", "/provider"];
    assert_eq!(differing(s.create(all).unwrap_err()), fields.map(|field| format!("{field} differs")));

    s.work();
    s.reverse("r", r#"{"amount":1,"reference":"rev"}"#).unwrap();
    let other = s.reverse("r", r#"{"amount":2,"reason":"fraud","reference":"rev"}"#).unwrap_err();
    assert_eq!(differing(other), ["/amount differs", "/reason differs"]);
}

#[test]
fn an_account_that_does_not_exist_is_not_one_without_funds() {
    let s = Sandbox::new();
    let none = s.create(&body("r", "1").replace("EUR", "ISK")).unwrap_err();
    assert_eq!((none.code.as_str(), none.code.http_status()), ("account_not_found", 404));
    assert_eq!(none.detail, "the client has no account in ISK");
    assert_eq!(code(s.create(&body("r", "1000000000"))), "insufficient_funds", "it is opened by the first payment");
    let check = s.engine.preflight(&s.caller, body("r", "1").replace("EUR", "ISK").as_bytes()).unwrap().view;
    let problems: Vec<_> = check.problems.iter().map(|it| (it.pointer.as_str(), &*it.code)).collect();
    assert_eq!((check.ok, check.funds_available, problems), (false, false, vec![("/currency", "account_not_found")]));
    s.create(&body("r", "1")).unwrap();
    assert_eq!(code(s.create(&body("q", "1").replace("EUR", "ISK"))), "account_not_found");
    assert_eq!(code(s.create(&body("q", "1000000000"))), "insufficient_funds");
    s.assert_sound();
}

#[test]
fn a_scenario_that_does_not_exist_pays_nobody() {
    let s = Sandbox::new();
    let request = body("r", "1").replace("sim:ok", "sim:declined");
    let check = s.engine.preflight(&s.caller, request.as_bytes()).unwrap().view;
    for problem in [s.create(&request).unwrap_err().fields[0].clone(), check.problems[0].clone()] {
        assert_eq!((problem.pointer.as_str(), &*problem.code), ("/to", "participant_scenario_unknown"));
        assert_eq!(problem.params.get("nearest"), Some("sim:decline-other"));
        assert!(problem.message.contains("the nearest are sim:decline-other, "), "{}", problem.message);
    }
    // Also of a request that was not read from JSON.
    let payee = "sim:declined".parse().unwrap();
    let typed = railgate::api::CreateRequest::new("1 EUR".parse().unwrap(), payee, "r".parse().unwrap());
    let refused = s.engine.run(railgate::engine::Create { caller: s.caller, request: Box::new(typed) }).unwrap_err();
    assert_eq!(refused.fields[0].code, "participant_scenario_unknown");
    s.assert_sound();
}

#[test]
fn a_replay_is_answered_whatever_has_changed_since() {
    let s = Sandbox::new();
    let all = r#"{"amount":1000000,"currency":"EUR","to":"sim:ok","reference":"r","expires_at":"2026-11-21T10:39:00Z"}"#;
    s.create(all).unwrap();
    s.pass(600_000);
    // The funds are spent and the expiry has passed; it is still the same payment.
    assert!(s.create(all).unwrap().1);
    assert_eq!(code(s.create(&all.replace("\"r\"", "\"q\""))), "invalid_fields");
}

#[test]
fn of_a_group_with_one_reference_one_is_made_and_the_others_replay() {
    let s = Sandbox::new();
    let same = create(&s.engine, s.caller, &body("r", "1"));
    let made = s.engine.run_all(vec![same; 100]).into_iter().filter(|made| made.as_ref().is_ok_and(|made| !made.replayed)).count();
    assert_eq!(made, 1);
    assert_eq!(s.euros().1, "1.00");
    s.assert_sound();
}

#[test]
fn of_many_threads_with_one_reference_one_wins() {
    let s = Sandbox::new();
    let made: usize = std::thread::scope(|scope| {
        let run = || s.create(&body("r", "1")).map(|(_, replayed)| usize::from(!replayed)).unwrap();
        let threads: Vec<_> = (0..100).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(made, 1);
}

#[test]
fn a_refused_command_leaves_nothing_and_disturbs_nobody() {
    let s = Sandbox::new();
    let payments = [("a", "600000"), ("b", "600000"), ("c", "400000"), ("d", "0.01")];
    let results = s.engine.run_all(payments.map(|(reference, amount)| create(&s.engine, s.caller, &body(reference, amount))));
    let codes: Vec<_> = results.into_iter().map(|r| r.map(|_| ()).map_err(|e| e.code.as_str())).collect();
    assert_eq!(codes, [Ok(()), Err("insufficient_funds"), Ok(()), Err("insufficient_funds")]);
    assert_eq!(s.euros(), ("0.00".into(), "1000000.00".into(), "0.00".into()));
    s.assert_sound();
}

#[test]
fn amounts_are_exact_in_every_currency() {
    let s = Sandbox::new();
    let create = |amount: &str, currency: &str, reference: &str| {
        s.create(&format!(r#"{{"amount":{amount},"currency":"{currency}","to":"sim:ok","reference":"{reference}"}}"#))
    };
    for (amount, currency, written, minor) in
        [("0.1", "EUR", "0.10", "10"), ("1.10", "EUR", "1.10", "110"), ("1.234", "KWD", "1.234", "1234"), ("7", "JPY", "7", "7")]
    {
        let view = create(amount, currency, &format!("{currency}-{minor}")).unwrap().0;
        assert_eq!((view.amount.as_str(), view.amount_minor.as_str()), (written, minor));
        let json = serde_json::to_string(&view).unwrap();
        assert!(json.contains(&format!("\"amount\":{written},")), "{json}");
    }
    // More than the account contains, but parsed exactly.
    assert_eq!(code(create("123456789012.345", "KWD", "kwd")), "insufficient_funds");
    for (amount, currency, problem) in [
        ("1e3", "EUR", "amount_exponent"),
        ("-1", "EUR", "amount_not_positive"),
        ("0", "EUR", "amount_not_positive"),
        ("1234567890123456", "EUR", "amount_digits"),
        ("0.1", "JPY", "amount_scale"),
        ("0.001", "EUR", "amount_scale"),
    ] {
        assert_eq!(create(amount, currency, "bad").unwrap_err().fields[0].code, problem, "{amount} {currency}");
    }
}

#[test]
fn an_undispatched_settlement_is_cancelled_and_never_sent() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    assert!(s.reverse("r", "").unwrap().reversal.is_none());
    s.pass(86_400_000);
    assert_eq!((s.status("r"), s.view("r").attempts), ("cancelled", 0));
    assert_eq!(s.euros(), ("1000000.00".into(), "0.00".into(), "0.00".into()));
    assert_eq!(code(s.reverse("r", "")), "invalid_state");
    s.assert_sound();
}

#[test]
fn what_expired_before_it_was_sent_is_cancelled() {
    let s = Sandbox::new();
    s.create(r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r","expires_at":"2026-11-21T10:39:00Z"}"#).unwrap();
    s.env.advance_to(support::START + 3_600_000);
    s.work();
    assert_eq!(s.status("r"), "cancelled");
    s.assert_sound();
}

#[test]
fn reversals_never_exceed_the_amount() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    assert!(s.reverse("r", r#"{"amount":10.01}"#).is_err());
    s.work();
    assert_eq!(code(s.reverse("r", r#"{"amount":10.01}"#)), "reversal_exceeds_remaining");
    let done: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..20).map(|_| scope.spawn(|| usize::from(s.reverse("r", r#"{"amount":3}"#).is_ok()))).collect();
        threads.into_iter().map(|t| t.join().unwrap()).sum()
    });
    assert_eq!(done, 3);
    s.work();
    assert_eq!((s.status("r"), s.view("r").reversed_amount.as_str().to_owned()), ("partially_reversed", "9.00".into()));
    s.reverse("r", "").unwrap();
    s.work();
    assert_eq!((s.status("r"), s.euros().0), ("reversed", "1000000.00".into()));
    assert_eq!(code(s.reverse("r", "")), "already_reversed");
    s.assert_sound();
}

#[test]
fn what_is_in_flight_can_be_neither_cancelled_nor_reversed() {
    let s = Sandbox::new();
    for (reference, to) in [("a", "sim:pending"), ("b", "sim:timeout-never")] {
        s.pay(reference, to);
        s.work();
        assert_eq!(code(s.reverse(reference, "")), "settlement_in_flight");
    }
}

#[test]
fn a_reversal_repeats_by_key_and_by_reference() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    s.work();
    let keyed = |key: &str, print: u8, body: &str| {
        let idempotency = Some(IdempotencyKey { key: key.into(), fingerprint: [print; 32] });
        s.engine.run(Reverse { idempotency, ..reverse(s.caller, "r", body) })
    };
    assert!(!keyed("k", 1, r#"{"amount":1}"#).unwrap().replayed);
    assert!(keyed("k", 1, r#"{"amount":1}"#).unwrap().replayed);
    assert_eq!(code(keyed("k", 2, r#"{"amount":2}"#)), "idempotency_key_reused");
    assert!(!s.reverse("r", r#"{"amount":1,"reference":"rev"}"#).unwrap().replayed);
    assert!(s.reverse("r", r#"{"amount":1,"reference":"rev"}"#).unwrap().replayed);
    assert_eq!(code(s.reverse("r", r#"{"amount":2,"reference":"rev"}"#)), "reference_conflict");
    s.work();
    assert_eq!(s.view("r").reversed_amount.as_str(), "2.00");
}

#[test]
fn keys_are_forgotten_after_seven_days() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    s.work();
    let idempotency = Some(IdempotencyKey { key: "k".into(), fingerprint: [1; 32] });
    let command = Reverse { idempotency, ..reverse(s.caller, "r", r#"{"amount":1}"#) };
    s.engine.run(command.clone()).unwrap();
    s.pass(7 * 86_400_000 - 1);
    s.engine.run(Maintain).unwrap();
    assert!(s.engine.run(command.clone()).unwrap().replayed);
    s.pass(2);
    s.engine.run(Maintain).unwrap();
    assert!(!s.engine.run(command).unwrap().replayed);
}

#[test]
fn another_clients_things_are_not_there() {
    let s = Sandbox::new();
    let id = s.pay("r", "sim:ok").id;
    s.work();
    let other = enroll(&s.engine, "Other");
    for text in ["r", id.as_str(), "stl_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let target = Target::parse(text).unwrap();
        assert_eq!(code(s.engine.settlement(&other, &target)), "settlement_not_found", "{text}");
        let request = Box::default();
        assert_eq!(code(s.engine.run(Reverse { caller: other, target, request, idempotency: None })), "settlement_not_found");
    }
    let list = s.engine.parse_list(&[]).unwrap();
    assert!(s.engine.list(&other, &list).unwrap().data.is_empty());
    let made = s.engine.run(create(&s.engine, other, &body("r", "5"))).unwrap();
    assert!(!made.replayed, "references are each client's own");
    assert_eq!(s.status(&id), "completed");
    s.assert_sound();
}

#[test]
fn a_cursor_of_another_client_is_none() {
    let s = Sandbox::new();
    for n in 0..5 {
        s.pay(&format!("r{n}"), "sim:ok");
    }
    let parse = |query: &[(&str, &str)]| s.engine.parse_list(&query.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect::<Vec<_>>());
    let mut seen = Vec::new();
    let mut request = Some(parse(&[("limit", "2")]).unwrap());
    let mut cursor = None;
    while let Some(page_request) = request {
        let page = s.engine.list(&s.caller, &page_request).unwrap();
        cursor = page.next_cursor.clone().or(cursor);
        seen.extend(page.data.iter().map(|v| v.reference.clone()));
        request = page_request.next(&page);
    }
    assert_eq!(seen, ["r4", "r3", "r2", "r1", "r0"]);
    let other = enroll(&s.engine, "Other");
    let request = parse(&[("cursor", &cursor.unwrap())]).unwrap();
    assert_eq!(code(s.engine.list(&other, &request)), "invalid_cursor");
    for bad in ["", "x", "AAAAAAAAAAAAAAAAAAAAAA", "!"] {
        assert_eq!(code(s.engine.list(&s.caller, &parse(&[("cursor", bad)]).unwrap())), "invalid_cursor", "{bad}");
    }
    let error = parse(&[("limit", "0"), ("status", "done"), ("colour", "red"), ("currency", "EUR"), ("currency", "USD")]).unwrap_err();
    let pointers: Vec<_> = error.fields.iter().map(|f| (f.pointer.as_str(), &*f.code)).collect();
    assert_eq!(
        pointers,
        [("limit", "out_of_range"), ("status", "unknown_value"), ("colour", "unknown_parameter"), ("currency", "duplicate_parameter")]
    );
}

#[test]
fn a_sandbox_credential_makes_no_live_settlement() {
    let s = Sandbox::new();
    let live = body("r", "1").replace('}', r#","sandbox":false}"#);
    assert_eq!(code(s.create(&live)), "mode_mismatch");
    let mut caller = s.caller;
    caller.mode = Mode::Live;
    let refused = s.engine.run(create(&s.engine, caller, &body("r", "1"))).unwrap_err();
    assert_eq!(refused.fields[0].code, "participant_sandbox_only");
    let to_a_phone = body("r", "1").replace("sim:ok", "msisdn:+254700000001");
    let refused = s.engine.run(create(&s.engine, caller, &to_a_phone)).unwrap_err();
    assert_eq!((refused.code.as_str(), refused.retryable), ("no_route", false), "there is no live provider at all");
}

#[test]
fn a_payment_expires_on_time_even_if_the_outbox_stands_still() {
    let s = Sandbox::new();
    let at = |ms| railgate::time::rfc3339(s.env.now() + ms);
    let ending = |reference: &str, at: String| body(reference, "10").replace('}', &format!(r#","expires_at":"{at}"}}"#));
    s.create(&ending("a", at(5_000))).unwrap();
    s.create(&ending("b", at(60_000))).unwrap();
    s.create(&body("c", "10")).unwrap();
    let expired = || s.engine.expired(None, 10).unwrap().settlements;
    let expire = || s.engine.run(Expire { settlements: expired() }).unwrap();
    assert!(expired().is_empty() && expire() == 0);
    s.env.advance_to(s.env.now() + 5_000);
    assert_eq!(expired().len(), 1);
    assert_eq!((expire(), expire(), expired().len()), (1, 0, 0));
    assert_eq!((s.status("a"), s.status("b"), s.status("c")), ("cancelled", "accepted", "accepted"));
    assert_eq!(s.euros().1, "20.00", "its money is free again");
    // Nothing of it is sent later, and what was sent in time does not expire.
    s.work();
    s.env.advance_to(s.env.now() + 120_000);
    assert_eq!((expire(), s.status("a"), s.status("b")), (0, "cancelled", "completed"));
    s.assert_sound();
}

#[test]
fn fees_are_held_and_posted_beside_the_amount_and_a_quote_fixes_them() {
    let flat = Units::of("0.10".parse().unwrap()).unwrap();
    let fees = vec![FeeRule { flat, percent: Percent::of_millionths(5_000).unwrap(), ..FeeRule::default() }];
    let provider = ProviderSpec { fees, ..ProviderSpec::simulator("simulator", "Simulator") };
    let s = Sandbox::over(Arc::new(MemoryStore::default()), Config { providers: vec![provider], ..Config::default() }, 1);
    let check = s.engine.preflight(&s.caller, body("r", "100.01").as_bytes()).unwrap().view;
    let quote = check.quote.unwrap();
    // 0.10 and half a per cent of 100.01, rounded up to the cent.
    assert_eq!((quote.fee.as_str(), quote.total_debit.as_str()), ("0.61", "100.62"));
    let quoted = body("r", "100.01").replace('}', &format!(r#","quote_id":"{}"}}"#, quote.quote_id));
    let view = s.create(&quoted).unwrap().0;
    assert_eq!((view.fee.as_str(), s.euros().1.as_str()), ("0.61", "100.62"));
    s.work();
    assert_eq!(s.euros().0, "999899.38");
    for wrong in [quoted.replace("100.01", "200"), quoted.replace("sim:ok", "sim:pending"), quoted.replace("quo_0", "quo_1")] {
        assert_eq!(s.create(&wrong.replace("\"r\"", "\"q\"")).unwrap_err().fields[0].code, "quote_unknown");
    }
    // Asking with a quote does not renew it.
    s.pass(600_000);
    let asked = s.engine.preflight(&s.caller, quoted.replace("\"r\"", "\"q\"").as_bytes()).unwrap().view.quote.unwrap();
    assert_eq!((&asked.expires_at, &asked.quote_id), (&quote.expires_at, &quote.quote_id));
    s.pass(300_000);
    assert_eq!(code(s.create(&quoted.replace("\"r\"", "\"q\""))), "quote_expired");
    assert!(s.create(&quoted).unwrap().1, "the settlement that used it replays");
    s.assert_sound();
}

#[test]
fn limits_are_kept_and_pass_over_a_provider() {
    let limits = |min, max| vec![AmountLimits { currency: Currency::from_code("EUR").unwrap(), min, max }];
    let small = ProviderSpec { limits: limits(100, 1_000), ..ProviderSpec::simulator("small", "Small") };
    let large = ProviderSpec { limits: limits(500, 10_000), ..ProviderSpec::simulator("large", "Large") };
    let s = Sandbox::over(Arc::new(MemoryStore::default()), Config { providers: vec![small, large], ..Config::default() }, 1);
    assert_eq!(code(s.create(&body("a", "0.99"))), "amount_below_minimum");
    assert_eq!(s.create(&body("b", "10.00")).unwrap().0.provider, "small");
    assert_eq!(s.create(&body("c", "10.01")).unwrap().0.provider, "large");
    assert_eq!(code(s.create(&body("d", "100.01"))), "amount_above_maximum");
}

/// Leases what is due and drops it, like a host that is killed.
fn lease_and_die(engine: &Engine) -> Vec<railgate::api::RailCall> {
    engine
        .run(LeaseTasks::up_to(100))
        .unwrap()
        .into_iter()
        .filter_map(|l| if let Work::Call(call) = l.work { Some(call) } else { None })
        .collect()
}

#[test]
fn what_may_have_left_before_a_crash_is_asked_about_and_never_sent_again() {
    let s = Sandbox::new();
    s.pay("sent", "sim:ok");
    s.pay("not-sent", "sim:ok");
    let calls = lease_and_die(&s.engine);
    assert_eq!(calls.len(), 2);
    // One call reached the operator before the host died; its answer was lost.
    let sent = calls.iter().find(|c| c.reference.as_str() == "sent").unwrap();
    s.engine.run(Receive(sent.clone())).unwrap();
    assert_eq!(s.status("sent"), "submitted");

    s.pass(30_000);
    assert_eq!((s.status("sent"), s.status("not-sent")), ("unknown", "unknown"));
    s.pass(3_600_000);
    assert_eq!((s.status("sent"), s.view("sent").attempts), ("completed", 1));
    // It was proved never to have arrived: only then was it sent again, with the same key.
    let view = s.view("not-sent");
    assert_eq!((view.status.as_str(), view.attempts, view.provider.as_str()), ("completed", 1, "simulator"));
    assert_eq!(s.trace("not-sent").iter().filter(|kind| **kind == "attempt.started").count(), 2);
    s.assert_sound();
}

#[test]
fn a_restarted_host_does_not_wait_for_the_leases_of_the_dead_one() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    lease_and_die(&s.engine);
    let engine = Engine::open(s.store.clone(), s.env.clone(), Config::default()).unwrap();
    assert_eq!(engine.work(10, &()).unwrap(), 0);
    assert_eq!(engine.run(Recover).unwrap(), 1);
    assert_eq!(engine.run(Recover).unwrap(), 0, "it belongs to nobody now");
    while engine.work(10, &()).unwrap() > 0 {}
    assert_eq!(s.status("r"), "unknown");
}

#[test]
fn a_crashed_reversal_is_asked_about_and_never_sent_again() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    s.work();
    s.reverse("r", r#"{"amount":4}"#).unwrap();
    let calls = lease_and_die(&s.engine);
    s.engine.run(Receive(calls[0].clone())).unwrap();
    s.pass(3_600_000);
    assert_eq!(s.view("r").reversed_amount.as_str(), "4.00");
    s.assert_sound();
}

#[test]
fn a_late_answer_under_a_lost_lease_counts_once() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    let leases = s.engine.run(LeaseTasks::up_to(1)).unwrap();
    let Work::Call(call) = &leases[0].work else { panic!() };
    s.env.advance_to(support::START + 31_000);
    s.work();
    assert_eq!(s.status("r"), "unknown");
    let answer = RailAnswer::Completed { rail_reference: Some("X".into()) };
    for _ in 0..3 {
        s.engine.run(ReportAnswer { subject: call.subject, answer: answer.clone(), lease: Some(leases[0].key) }).unwrap();
    }
    assert_eq!(s.status("r"), "completed");
    let events = s.events("r").len();
    s.env.advance_to(support::START + 3_600_000);
    s.work();
    assert_eq!(s.events("r").len(), events);
    s.assert_sound();
}

#[test]
fn not_found_is_proof_only_when_nothing_can_be_on_its_way() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    let calls = lease_and_die(&s.engine);
    s.engine.run(ReportAnswer { subject: calls[0].subject, answer: RailAnswer::NotSent, lease: None }).unwrap();
    assert_eq!((s.status("r"), s.view("r").attempts), ("unknown", 1));
    s.assert_sound();
}

/// How often a payment of `s` was recorded as sent.
fn sends(s: &Sandbox) -> usize {
    s.trace("r").iter().filter(|kind| **kind == "attempt.started").count()
}

#[test]
fn a_clock_that_is_set_ahead_makes_not_found_no_proof() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    lease_and_die(&s.engine);
    s.pass(30_000);
    assert_eq!((s.status("r"), sends(&s)), ("unknown", 1));
    s.env.step(86_400_000);
    s.work();
    s.pass(59_000);
    assert_eq!((s.status("r"), sends(&s)), ("unknown", 1), "it may still be on its way");
    s.pass(2 * 3_600_000);
    assert_eq!((s.status("r"), sends(&s)), ("completed", 2), "not found, and sent again");
    s.assert_sound();
}

#[test]
fn a_restart_with_a_clock_that_was_set_ahead_makes_not_found_no_proof() {
    let mut s = Sandbox::new();
    s.pay("r", "sim:ok");
    lease_and_die(&s.engine);
    s.pass(30_000);
    s.env.step(86_400_000);
    s.engine = Engine::open(s.store.clone(), s.env.clone(), Config::default()).unwrap();
    s.work();
    s.pass(59_000);
    assert_eq!((s.status("r"), sends(&s)), ("unknown", 1), "it may still be on its way");
    s.pass(2 * 3_600_000);
    assert_eq!((s.status("r"), sends(&s)), ("completed", 2), "not found, and sent again");
    s.assert_sound();
}

#[test]
fn play_money_can_be_added() {
    let s = Sandbox::new();
    let money = Money::from_minor(1_50, Currency::from_code("CHF").unwrap());
    s.engine.run(Fund { caller: s.caller, money }).unwrap();
    assert_eq!(s.engine.balance(&s.caller, "CHF").unwrap().available.as_str(), "1.50");
    assert_eq!(code(s.engine.balance(&s.caller, "SEK")), "balance_not_found");
    s.assert_sound();
}

#[test]
fn play_money_is_bounded_in_all_whatever_was_spent_since() {
    let s = Sandbox::new();
    let fund = |units: &str| s.engine.run(Fund { caller: s.caller, money: units.parse().unwrap() });
    assert_eq!(code(fund("9999000000.01 EUR")), "amount_above_maximum", "the opening balance counts, drawn or not");
    assert_eq!(code(fund("10000000000.01 CHF")), "amount_above_maximum");
    fund("9999999999.99 CHF").unwrap();
    s.create(r#"{"amount":9999999999.99,"currency":"CHF","to":"sim:ok","reference":"r"}"#).unwrap();
    s.work();
    fund("0.01 CHF").unwrap();
    assert_eq!(code(fund("0.01 CHF")), "amount_above_maximum");
    assert_eq!(code(fund("10000000000 JPY")), "amount_above_maximum", "the opening balance counts");
    s.assert_sound();
}

#[test]
fn the_chain_is_hashed_over_the_canonical_form() {
    use sha2::{Digest, Sha256};
    let s = Sandbox::new();
    s.create(r#"{"amount":1,"currency":"EUR","to":"alias:\"é\\€😀","reference":"r","description":"d"}"#).unwrap();
    s.work();
    s.reverse("r", "").unwrap();
    s.work();
    let mut prev = None;
    for mut event in s.events("r") {
        assert_eq!(event.prev, prev);
        let hash = event.hash.take();
        let plain: serde_json::Value = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
        let form = serde_json_canonicalizer::to_vec(&plain).unwrap();
        let hex: String = Sha256::digest(&form).iter().map(|b| format!("{b:02x}")).collect();
        assert_eq!(hash.as_deref(), Some(hex.as_str()), "{}", String::from_utf8_lossy(&form));
        prev = hash;
    }
}
