//! What a client does with the simulated operator of its own sandbox.

use std::sync::Arc;

use crate::support::{Sandbox, enroll, live, target};
use railgate::api::{FaultsView, ResetView, Work};
use railgate::engine::{Advance, End, Fund, LeaseTasks, Receive, ReportAnswer, Reset, Restore, SetFaults};
use railgate::env::Env as _;
use railgate::rail::RailAnswer;
use railgate::store::Scan;
use railgate::store::memory::MemoryStore;
use railgate::validate::simulator::{parse_advance, parse_faults};
use railgate::{Config, Error};

/// A scenario, whether it is sent first, and which ends it then allows.
type Road = (&'static str, bool, [(&'static str, bool); 5]);

const DAY: i64 = 86_400_000;

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code.as_str()
}

impl Sandbox {
    fn faults(&self, body: &str) {
        let faults = parse_faults(body.as_bytes()).unwrap();
        assert_eq!(self.engine.run(SetFaults { caller: self.caller, faults }).unwrap(), faults);
        assert_eq!(self.engine.faults(&self.caller).unwrap(), faults);
    }

    fn advance(&self, reference: &str, to: &str) -> Result<&'static str, Error> {
        let request = parse_advance(format!(r#"{{"to":"{to}"}}"#).as_bytes())?;
        let record = self.engine.run(Advance { caller: self.caller, target: target(reference), request })?;
        Ok(record.status.as_str())
    }
}

#[test]
fn each_state_can_be_reached_from_where_the_lifecycle_allows_it() {
    let roads: [Road; 5] = [
        ("accepted", false, [("submitted", true), ("unknown", true), ("completed", true), ("failed", true), ("returned", true)]),
        ("sim:pending", true, [("submitted", true), ("unknown", false), ("completed", true), ("failed", true), ("returned", true)]),
        ("sim:timeout-never", true, [("submitted", true), ("unknown", true), ("completed", true), ("failed", true), ("returned", true)]),
        ("sim:ok", true, [("submitted", false), ("unknown", false), ("completed", true), ("failed", false), ("returned", true)]),
        (
            "sim:decline-over_limit",
            true,
            [("submitted", false), ("unknown", false), ("completed", false), ("failed", true), ("returned", false)],
        ),
    ];
    for (from, sent, ends) in roads {
        for (to, allowed) in ends {
            let s = Sandbox::new();
            s.pay("r", if from.starts_with("sim:") { from } else { "sim:ok" });
            if sent {
                s.work();
            }
            let before = s.view("r");
            if allowed {
                assert_eq!(s.advance("r", to).unwrap(), to, "{from} to {to}");
                // The same call again changes nothing.
                let version = s.view("r").version;
                assert_eq!(s.advance("r", to).unwrap(), to);
                assert_eq!(s.view("r").version, version);
            } else {
                assert_eq!(code(s.advance("r", to)), "invalid_state", "{from} to {to}");
                assert_eq!(s.view("r").version, before.version, "a refusal leaves nothing behind");
            }
            // Neither the scenario nor an inquiry changes what was decided.
            let decided = s.status("r");
            s.pass(2 * DAY);
            assert_eq!(s.status("r"), decided, "{from} to {to}, two days later");
            assert!(!s.trace("r").contains(&"settlement.discrepancy"), "{from} to {to}");
            s.assert_sound();
        }
    }
}

#[test]
fn the_operator_sticks_to_its_decision_whatever_its_scenario_says_later() {
    for (scenario, to) in [("sim:slow-30s", "failed"), ("sim:duplicate-callback", "failed"), ("sim:out-of-order", "submitted")] {
        let s = Sandbox::new();
        s.pay("r", scenario);
        s.work();
        s.advance("r", to).unwrap();
        s.pass(2 * DAY);
        assert_eq!(s.status("r"), if to == "failed" { "failed" } else { "submitted" }, "{scenario}");
        assert!(!s.trace("r").contains(&"settlement.discrepancy"), "{scenario}");
        s.assert_sound();
    }
}

#[test]
fn a_decision_is_an_answer_of_the_rail_with_its_money_and_its_reason() {
    let s = Sandbox::new();
    s.pay("r", "sim:pending");
    s.work();
    let request = parse_advance(br#"{"to":"failed","code":"account_closed"}"#).unwrap();
    s.engine.run(Advance { caller: s.caller, target: target("r"), request }).unwrap();
    let failure = s.view("r").failure.unwrap();
    assert_eq!((failure.code.as_str(), failure.iso_reason.as_ref()), ("account_closed", "AC07"));
    assert_eq!(s.euros(), ("1000000.00".to_owned(), "0.00".to_owned(), "0.00".to_owned()));
    let answered = s
        .events("r")
        .into_iter()
        .find(|event| event.kind.as_str() == "attempt.answered" && event.to.is_some_and(|to| to.as_str() == "declined"));
    assert_eq!(answered.unwrap().actor.as_str(), "rail");
}

#[test]
fn an_answer_on_its_way_does_not_contradict_a_later_decision() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    let leases = s.engine.run(LeaseTasks::up_to(1)).unwrap();
    let Work::Call(call) = &leases[0].work else { panic!() };
    let paid = s.engine.run(Receive(call.clone())).unwrap().unwrap();
    assert_eq!(s.advance("r", "failed").unwrap(), "failed");
    s.engine.run(ReportAnswer { subject: call.subject, answer: paid, lease: Some(leases[0].key) }).unwrap();
    assert_eq!(s.trace("r").last(), Some(&"settlement.failed"));
    s.assert_sound();
}

#[test]
fn a_request_that_arrives_after_the_decision_is_answered_by_it_and_counted_once() {
    let s = Sandbox::new();
    s.pay("r", "sim:ok");
    let leases = s.engine.run(LeaseTasks::up_to(1)).unwrap();
    let Work::Call(call) = &leases[0].work else { panic!() };
    assert_eq!(s.advance("r", "failed").unwrap(), "failed");
    let answer = s.engine.run(Receive(call.clone())).unwrap().unwrap();
    s.engine.run(ReportAnswer { subject: call.subject, answer, lease: Some(leases[0].key) }).unwrap();
    assert_eq!(s.status("r"), "failed");
    s.assert_sound();
}

#[test]
fn a_request_that_arrives_after_its_time_is_not_taken() {
    for (late_by, taken) in [(-1, true), (0, false)] {
        let s = Sandbox::new();
        s.pay("r", "sim:ok");
        let leases = s.engine.run(LeaseTasks::up_to(1)).unwrap();
        let Work::Call(call) = &leases[0].work else { panic!() };
        s.env.advance_to(call.not_after + late_by);
        let answer = s.engine.run(Receive(call.clone())).unwrap().unwrap();
        assert_eq!((answer == RailAnswer::Unknown, arrivals(&s, "r")), (!taken, usize::from(taken)), "an inquiry may have been answered");
    }
}

#[test]
fn a_payment_that_is_being_reversed_does_not_come_back_too() {
    let s = Sandbox::new();
    s.pay("r", "sim:reverse-unknown");
    s.work();
    s.reverse("r", r#"{"amount":4}"#).unwrap();
    s.work();
    assert_eq!(code(s.advance("r", "returned")), "invalid_state");
    s.assert_sound();
}

#[test]
fn what_expired_or_was_cancelled_is_not_sent() {
    let s = Sandbox::new();
    s.create(r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"late","expires_at":"2026-11-21T10:39:00Z"}"#).unwrap();
    s.pay("gone", "sim:ok");
    s.reverse("gone", "").unwrap();
    s.env.advance_to(s.env.now() + 60_000);
    for reference in ["late", "gone"] {
        assert_eq!(code(s.advance(reference, "completed")), "invalid_state");
    }
    s.work();
    assert_eq!((s.status("late"), s.status("gone")), ("cancelled", "cancelled"));
}

#[test]
fn settlements_of_others_and_live_ones_are_not_found() {
    let s = live::both_modes(Arc::new(MemoryStore::new()), Config::default());
    s.pay("own", "msisdn:+254700000001");
    let own_live = live::live(s.caller);
    live::pay(&s.engine, own_live, "real");
    let request = parse_advance(br#"{"to":"completed"}"#).unwrap();
    let tell = |caller, reference| s.engine.run(Advance { caller, target: target(reference), request });
    assert_eq!(code(tell(enroll(&s.engine, "Other"), "own")), "settlement_not_found");
    assert_eq!(code(tell(s.caller, "real")), "settlement_not_found");
    assert_eq!(code(tell(own_live, "real")), "settlement_not_found", "not even by a live credential");
    assert_eq!(tell(own_live, "own").unwrap().status.as_str(), "completed", "which may use the sandbox");
}

/// How often the operator received something about the settlement.
fn arrivals(s: &Sandbox, reference: &str) -> usize {
    let no = s.engine.settlement(&s.caller, &target(reference)).unwrap().no;
    s.store.scan(&Scan::sim_payments(no)).unwrap().len()
}

#[test]
fn a_call_that_is_not_sent_proves_that_nothing_happened() {
    let s = Sandbox::new();
    s.faults(r#"{"rate":1}"#);
    s.pay("r", "sim:ok");
    s.work();
    let view = s.view("r");
    assert_eq!((view.status.as_str(), view.attempts), ("failed", 2), "both providers were tried");
    assert_eq!(view.failure.unwrap().code.as_str(), "provider_offline");
    assert_eq!((arrivals(&s, "r"), s.euros().0.as_str()), (0, "1000000.00"));
    s.assert_sound();
}

#[test]
fn an_answer_that_is_lost_leaves_the_payment_unknown_until_an_inquiry_gets_through() {
    let s = Sandbox::new();
    s.faults(r#"{"drop_answer_rate":1}"#);
    s.pay("r", "sim:ok");
    s.pass(7_200_000);
    assert_eq!((s.status("r"), arrivals(&s, "r")), ("unknown", 1), "the answers to inquiries are lost too");
    s.faults("{}");
    s.pass(3_600_000);
    assert_eq!((s.status("r"), s.view("r").attempts), ("completed", 1));
    s.assert_sound();
}

#[test]
fn an_inquiry_that_is_not_sent_proves_nothing() {
    let s = Sandbox::new();
    s.pay("r", "sim:timeout-then-ok");
    s.work();
    s.faults(r#"{"rate":1}"#);
    s.pass(7_200_000);
    assert_eq!(s.status("r"), "unknown");
    s.faults(r#"{"rate":0}"#);
    s.pass(3_600_000);
    assert_eq!(s.status("r"), "completed");
    s.assert_sound();
}

#[test]
fn a_slow_answer_arrives_in_its_time() {
    let s = Sandbox::new();
    s.faults(r#"{"latency_ms":2000}"#);
    s.pay("r", "sim:ok");
    s.pass(1_999);
    assert_eq!(s.status("r"), "submitted");
    s.pass(1);
    assert_eq!(s.status("r"), "completed");
    s.reverse("r", "").unwrap();
    s.pass(1_999);
    assert_eq!(s.status("r"), "completed");
    s.pass(1);
    assert_eq!(s.status("r"), "reversed");
    s.pass(DAY);
    let trace = s.trace("r");
    assert!(!trace.contains(&"settlement.unknown") && !trace.contains(&"reversal.unknown"), "{trace:?}");
    s.assert_sound();
}

#[test]
fn an_answer_slower_than_the_gateway_waits_comes_late_and_contradicts_nothing() {
    let s = Sandbox::new();
    s.faults(r#"{"latency_ms":40000}"#);
    s.pay("paid", "sim:ok");
    s.pay("refused", "sim:decline-over_limit");
    s.pass(30_000);
    assert_eq!((s.status("paid"), s.status("refused")), ("unknown", "unknown"));
    s.pass(DAY);
    assert_eq!((s.status("paid"), s.status("refused")), ("completed", "failed"));
    for reference in ["paid", "refused"] {
        assert_eq!((arrivals(&s, reference), s.view(reference).needs_review), (1, false));
    }
    s.assert_sound();
}

#[test]
fn the_seed_and_the_calls_decide_which_calls_are_hit() {
    let unknown = |seed: u32, share: &str| {
        let s = Sandbox::new();
        s.faults(&format!(r#"{{"drop_answer_rate":{share},"seed":{seed}}}"#));
        let references: Vec<_> = (0..200).map(|n| format!("r-{n}")).collect();
        references.iter().for_each(|reference| drop(s.pay(reference, "sim:ok")));
        s.work();
        references.into_iter().filter(|reference| s.status(reference) == "unknown").collect::<Vec<_>>()
    };
    let hit = unknown(7, "0.25");
    assert!((25..75).contains(&hit.len()), "{} of 200", hit.len());
    assert_eq!(unknown(7, "0.25"), hit);
    assert_ne!(unknown(8, "0.25"), hit);
    assert_eq!((unknown(7, "0").len(), unknown(7, "1").len()), (0, 200));
    let more = unknown(7, "0.5");
    assert!(hit.iter().all(|reference| more.contains(reference)), "a higher rate hits further calls");
}

#[test]
fn the_faults_of_one_sandbox_reach_neither_others_nor_live_money() {
    let s = live::both_modes(Arc::new(MemoryStore::new()), Config::default());
    s.faults(r#"{"rate":1,"drop_answer_rate":1,"latency_ms":60000}"#);
    let other = enroll(&s.engine, "Other");
    live::pay(&s.engine, other, "theirs");
    live::pay(&s.engine, live::live(s.caller), "real");
    live::pay(&s.engine, s.caller, "own");
    s.work();
    let status = |caller, reference| s.engine.settlement(&caller, &target(reference)).unwrap().status.as_str();
    assert_eq!(status(other, "theirs"), "completed");
    assert_eq!(status(live::live(s.caller), "real"), "completed");
    assert_eq!(status(s.caller, "own"), "failed");
}

#[test]
fn a_decision_overtakes_a_slow_answer() {
    let s = Sandbox::new();
    s.faults(r#"{"latency_ms":5000}"#);
    s.pay("r", "sim:ok");
    s.pass(1_000);
    assert_eq!(s.advance("r", "failed").unwrap(), "failed");
    s.pass(DAY);
    assert_eq!((s.status("r"), s.trace("r").last()), ("failed", Some(&"settlement.failed")));
    s.assert_sound();
}

fn reset(s: &Sandbox) -> (u64, u64) {
    let caller = s.caller;
    s.engine.run(Reset { caller }).unwrap();
    let (mut pages, mut done) = (Some(s.engine.parse_reset(b"").unwrap()), ResetView::default());
    while let Some(request) = pages {
        let page = s.engine.list(&caller, &request).unwrap();
        done.count(s.engine.run_all(End::all(caller, &page))).unwrap();
        pages = request.next(&page);
    }
    s.engine.run(Restore { caller }).unwrap();
    (done.ended, done.still_open)
}

#[test]
fn a_reset_ends_what_is_open_and_restores_the_opening_balances() {
    let s = Sandbox::new();
    s.engine.run(Fund { caller: s.caller, money: "500.00 EUR".parse().unwrap() }).unwrap();
    s.engine.run(Fund { caller: s.caller, money: "7.00 CHF".parse().unwrap() }).unwrap();
    for (reference, to) in [("paid", "sim:ok"), ("open", "sim:pending"), ("lost", "sim:timeout-then-ok")] {
        s.pay(reference, to);
    }
    s.work();
    s.pay("unsent", "sim:ok");
    s.faults(r#"{"rate":1}"#);

    assert_eq!(reset(&s), (3, 0));
    let states = ["paid", "open", "lost", "unsent"].map(|reference| s.status(reference));
    assert_eq!(states, ["completed", "failed", "failed", "cancelled"]);
    assert_eq!(s.euros(), ("1000000.00".to_owned(), "0.00".to_owned(), "0.00".to_owned()));
    assert_eq!(s.engine.balance(&s.caller, "CHF").unwrap().available.as_str(), "0.00");
    assert_eq!(s.engine.faults(&s.caller).unwrap(), FaultsView::default());
    s.assert_sound();

    // Nothing stirs afterwards, and a second reset has nothing to do.
    s.pass(2 * DAY);
    assert_eq!(["paid", "open", "lost", "unsent"].map(|reference| s.status(reference)), states);
    assert_eq!(reset(&s), (0, 0));
    s.pay("new", "sim:ok");
    s.work();
    assert_eq!(s.status("new"), "completed");
    assert_eq!(code(s.create(r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"paid"}"#)), "reference_conflict");
    s.assert_sound();
}

#[test]
fn a_reset_touches_neither_others_nor_live_money() {
    let s = live::both_modes(Arc::new(MemoryStore::new()), Config::default());
    let own_live = live::live(s.caller);
    let other = enroll(&s.engine, "Other");
    live::pay(&s.engine, other, "theirs");
    live::pay(&s.engine, own_live, "real");
    live::pay(&s.engine, s.caller, "own");
    let before = s.engine.balance(&own_live, "EUR").unwrap().available;
    assert_eq!(reset(&s), (1, 0));
    let status = |caller, reference| s.engine.settlement(&caller, &target(reference)).unwrap().status.as_str();
    assert_eq!((status(other, "theirs"), status(own_live, "real"), status(s.caller, "own")), ("accepted", "accepted", "cancelled"));
    assert_eq!(s.engine.balance(&own_live, "EUR").unwrap().available, before);
    let tried = s.engine.run(End { caller: own_live, target: target("real") });
    assert_eq!(code(tried), "settlement_not_found");
}

#[test]
fn a_client_that_has_used_nothing_keeps_its_allowance() {
    let s = Sandbox::new();
    assert_eq!(reset(&s), (0, 0));
    assert_eq!(s.euros().0, "1000000.00");
    s.pay("r", "sim:ok");
    assert_eq!(s.euros().0, "999990.00");
    s.assert_sound();
}
