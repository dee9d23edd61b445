//! Every scenario of the simulator, from create to its end: states, event trace, money.

use crate::support;
use crate::support::Sandbox;
use railgate::api::Work;
use railgate::engine::{LeaseTasks, ReportAnswer};
use railgate::rail::{FailureCode, RailAnswer};
use railgate::store::Scan;
use railgate::store::record::RecordKind;

const DAY: i64 = 86_400_000;
const FULL: &str = "1000000.00";
const PAID: &str = "999990.00";

/// Plays a scenario for `ms`; returns its final status, and checks that the books and the event trace are sound.
fn play(to: &str, ms: i64) -> (Sandbox, &'static str) {
    let sandbox = Sandbox::new();
    sandbox.pay("r", to);
    sandbox.pass(ms);
    sandbox.assert_sound();
    let status = sandbox.status("r");
    (sandbox, status)
}

fn available(sandbox: &Sandbox) -> String {
    sandbox.euros().0
}

#[test]
fn ok_completes_at_once() {
    let (s, status) = play("sim:ok", 0);
    assert_eq!(status, "completed");
    assert_eq!(
        s.trace("r"),
        ["settlement.accepted", "settlement.submitted", "attempt.started", "attempt.answered", "settlement.completed"]
    );
    assert_eq!(s.euros(), (PAID.into(), "0.00".into(), "0.00".into()));
    let view = s.view("r");
    assert!(view.rail_reference.unwrap().starts_with("SIM-"));
    assert_eq!((view.attempts, view.version), (1, 5));
}

#[test]
fn money_is_held_until_the_end_is_known() {
    let (s, status) = play("sim:slow-30s", 29_000);
    assert_eq!(status, "submitted");
    assert_eq!(s.euros(), (PAID.into(), "10.00".into(), "0.00".into()));
    s.pass(1_000);
    assert_eq!(s.status("r"), "completed");
    assert_eq!(s.euros(), (PAID.into(), "0.00".into(), "0.00".into()));
}

#[test]
fn pending_stays_submitted_and_calls_a_person_after_a_day() {
    let (s, status) = play("sim:pending", 23 * 3_600_000);
    assert_eq!((status, s.view("r").needs_review), ("submitted", false));
    s.pass(2 * 3_600_000);
    assert_eq!((s.status("r"), s.view("r").needs_review), ("submitted", true));
    assert_eq!(s.euros().1, "10.00");
    let before = s.events("r").len();
    s.pass(7 * DAY);
    assert_eq!(s.events("r").len(), before, "asking in vain leaves no trace");
    s.assert_sound();
}

#[test]
fn every_decline_releases_the_money_and_says_why() {
    for code in FailureCode::ALL {
        let (s, status) = play(&format!("sim:decline-{}", code.as_str()), 0);
        assert_eq!(status, "failed");
        let failure = s.view("r").failure.unwrap();
        assert_eq!((failure.code, &*failure.iso_reason), (*code, code.iso_reason()));
        assert_eq!(s.euros(), (FULL.into(), "0.00".into(), "0.00".into()));
    }
}

#[test]
fn a_lost_answer_is_unknown_until_an_inquiry_finds_out() {
    let (s, status) = play("sim:timeout-then-ok", 4_999);
    assert_eq!(status, "unknown");
    assert_eq!(s.euros(), (PAID.into(), "10.00".into(), "0.00".into()));
    s.pass(1);
    assert_eq!(s.status("r"), "completed");
    assert_eq!(available(&s), PAID);

    let (s, status) = play("sim:timeout-then-fail", 4_999);
    assert_eq!(status, "unknown");
    s.pass(1);
    assert_eq!(s.status("r"), "failed");
    assert_eq!(available(&s), FULL);
}

#[test]
fn a_refusal_that_is_reported_late_counts_if_it_was_sent_once() {
    let s = Sandbox::new();
    s.pay("r", "sim:pending");
    let lease = s.engine.run(LeaseTasks::up_to(1)).unwrap().remove(0);
    let Work::Call(call) = lease.work else { panic!("{lease:?}") };
    s.pass(31_000);
    assert_eq!(s.status("r"), "unknown", "its host stands still");
    let refused = RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: false, rail_code: None };
    s.engine.run(ReportAnswer { subject: call.subject, answer: refused, lease: Some(lease.key) }).unwrap();
    assert_eq!((s.status("r"), available(&s).as_str()), ("failed", FULL));
    s.assert_sound();
}

#[test]
fn a_refusal_that_is_reported_after_it_was_sent_again_proves_nothing() {
    let s = Sandbox::new();
    s.pay("r", "sim:timeout-then-ok");
    let arrived = || s.store.scan(&Scan::all(RecordKind::SimPayment, usize::MAX)).unwrap().len();
    // A host hears that the operator refuses, and stands still. The operator keeps nothing of it.
    let lease = s.engine.run(LeaseTasks::up_to(1)).unwrap().remove(0);
    let Work::Call(call) = lease.work else { panic!("{lease:?}") };
    // So another host does not find it, and sends it again. Now it is paid, and the answer is lost.
    while arrived() == 0 {
        s.pass(1_000);
    }
    let refused = RailAnswer::Declined { code: FailureCode::Other, elsewhere_ok: true, rail_code: None };
    s.engine.run(ReportAnswer { subject: call.subject, answer: refused, lease: Some(lease.key) }).unwrap();
    assert_eq!(s.status("r"), "unknown");
    s.pass(60_000);
    assert_eq!((s.status("r"), s.view("r").attempts, arrived()), ("completed", 1, 1));
    s.assert_sound();
}

#[test]
fn what_nobody_knows_is_never_released() {
    let (s, status) = play("sim:timeout-never", 30 * DAY);
    assert_eq!((status, s.view("r").needs_review), ("unknown", true));
    assert_eq!(s.euros(), (PAID.into(), "10.00".into(), "0.00".into()));
}

#[test]
fn a_success_after_a_proved_failure_calls_a_person_and_moves_nothing() {
    let (s, status) = play("sim:late-ok-after-fail", 60_000);
    assert_eq!((status, s.view("r").needs_review), ("failed", true));
    assert_eq!(s.trace("r").last(), Some(&"settlement.discrepancy"));
    assert_eq!(available(&s), FULL);
}

#[test]
fn a_repeated_callback_changes_nothing() {
    let (s, status) = play("sim:duplicate-callback", 1_500);
    assert_eq!(status, "completed");
    let before = s.events("r");
    s.pass(DAY);
    assert_eq!(s.events("r").len(), before.len());
    assert_eq!(available(&s), PAID);
    s.assert_sound();
}

#[test]
fn an_acceptance_that_comes_after_the_success_is_old_news() {
    let (s, status) = play("sim:out-of-order", DAY);
    assert_eq!((status, s.view("r").needs_review), ("completed", false));
    assert_eq!(
        s.trace("r"),
        [
            "settlement.accepted",
            "settlement.submitted",
            "attempt.started",
            "attempt.answered",
            "settlement.unknown",
            "attempt.answered",
            "settlement.completed"
        ]
    );
}

#[test]
fn fail_over_only_after_proof_and_the_hold_moves_along() {
    let (s, status) = play("sim:failover", 0);
    assert_eq!(status, "completed");
    let view = s.view("r");
    assert_eq!((view.provider.as_str(), view.attempts), ("simulator-backup", 2));
    assert!(view.failure.is_none());
    assert_eq!(s.euros(), (PAID.into(), "0.00".into(), "0.00".into()));
}

#[test]
fn when_no_provider_can_be_reached_it_fails_with_the_money_back() {
    let (s, status) = play("sim:provider-down", 0);
    assert_eq!((status, s.view("r").attempts), ("failed", 2));
    assert_eq!(s.view("r").failure.unwrap().code, FailureCode::ProviderOffline);
    assert_eq!(available(&s), FULL);
}

#[test]
fn a_pinned_provider_is_the_only_one_tried() {
    let s = Sandbox::new();
    s.create(r#"{"amount":1,"currency":"EUR","to":"sim:provider-down","reference":"r","provider":"simulator-backup"}"#).unwrap();
    s.work();
    assert_eq!((s.status("r"), s.view("r").attempts), ("failed", 1));
    let error = s.create(r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"q","provider":"nobody"}"#).unwrap_err();
    assert_eq!(error.fields[0].pointer, "/provider");
}

#[test]
fn a_bounced_payment_comes_back() {
    let (s, status) = play("sim:returned-after-1d", DAY - 1);
    assert_eq!((status, available(&s)), ("completed", PAID.into()));
    s.pass(1);
    assert_eq!((s.status("r"), available(&s)), ("returned", FULL.into()));
    s.assert_sound();
}

#[test]
fn only_what_was_not_reversed_bounces() {
    let s = Sandbox::new();
    s.pay("r", "sim:returned-after-1d");
    s.work();
    s.reverse("r", r#"{"amount":4}"#).unwrap();
    s.work();
    assert_eq!(s.status("r"), "partially_reversed");
    s.pass(DAY);
    assert_eq!((s.status("r"), available(&s)), ("returned", FULL.into()));
    s.assert_sound();
}

#[test]
fn a_bounce_while_a_reversal_is_under_way_calls_a_person() {
    let s = Sandbox::new();
    s.pay("r", "sim:returned-after-1d");
    s.work();
    s.env.advance_to(support::START + DAY);
    s.reverse("r", r#"{"amount":4}"#).unwrap();
    // The callback is due before the reversal's own task.
    assert_eq!(s.engine.work(1, &()).unwrap(), 1);
    assert_eq!((s.status("r"), s.view("r").needs_review), ("completed", true));
    s.pass(DAY);
    assert_eq!(s.status("r"), "partially_reversed");
    s.assert_sound();
}

#[test]
fn a_refused_reversal_leaves_the_payment_as_it_was() {
    let s = Sandbox::new();
    s.pay("r", "sim:reverse-fail");
    s.work();
    s.reverse("r", "").unwrap();
    assert_eq!(s.euros(), (PAID.into(), "0.00".into(), "10.00".into()));
    s.work();
    assert_eq!((s.status("r"), s.euros().2), ("completed", "0.00".into()));
    assert_eq!(s.trace("r").last(), Some(&"reversal.failed"));
    s.assert_sound();
}

#[test]
fn a_reversal_that_nobody_knows_of_stays_announced() {
    let s = Sandbox::new();
    s.pay("r", "sim:reverse-unknown");
    s.work();
    s.reverse("r", "").unwrap();
    s.pass(3 * DAY);
    let view = s.view("r");
    assert_eq!((view.status.as_str(), view.reversing_amount.as_str(), view.needs_review), ("completed", "10.00", true));
    assert_eq!(s.euros(), (PAID.into(), "0.00".into(), "10.00".into()));
    assert_eq!(s.reverse("r", "").unwrap_err().code.as_str(), "reversal_exceeds_remaining");
    s.assert_sound();
}

#[test]
fn payee_checks_say_what_they_know() {
    let s = Sandbox::new();
    for (to, matched) in
        [("sim:ok", "match"), ("sim:close-match", "close_match"), ("sim:no-match", "no_match"), ("msisdn:+254700000001", "not_available")]
    {
        let body = format!(r#"{{"amount":1,"currency":"EUR","to":"{to}","reference":"r"}}"#);
        let check = s.engine.preflight(&s.caller, body.as_bytes()).unwrap().view;
        assert!(check.ok);
        assert_eq!(check.payee.payee_match.as_str(), matched);
        let route: Vec<_> = check.route.iter().map(|step| (step.provider.as_str(), step.why)).collect();
        assert_eq!(route, [("simulator", None), ("simulator-backup", None)]);
    }
    assert_eq!(available(&s), FULL, "a check has no side effect");
}
