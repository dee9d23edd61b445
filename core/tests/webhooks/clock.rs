//! Deliveries follow the clock of the client's sandbox.

use railgate::engine::SetClock;
use railgate::time::parse_rfc3339;
use railgate::validate::simulator::parse_clock;

use super::*;

/// Puts the clock of the client's sandbox ahead, or stops it.
fn set_clock(w: &World, body: &str) {
    let request = parse_clock(body.as_bytes()).unwrap();
    w.run(SetClock { caller: w.s.caller, request }).unwrap();
    w.s.engine.work_until_quiet(&()).unwrap();
}

#[test]
fn retries_follow_the_clock_of_the_client_s_sandbox() {
    let w = World::new();
    let hook = w.hook();
    set_clock(&w, r#"{"frozen":true}"#);
    w.event("r");
    let first = w.deliver(500);
    assert_eq!(first.len(), 1, "the first try waits for no clock");

    // While it stands, nothing is tried again, and the queue is not lost.
    w.pass(2 * DAY);
    assert_eq!(w.deliver(500), []);
    assert!(w.queue(hook.no).due.is_some());
    w.s.assert_sound();
    let due = w.deliveries(hook.no)[0].due.unwrap();
    let now = |w: &World| parse_rfc3339(&w.s.engine.clock(&w.s.caller).unwrap().now).unwrap();
    assert!(due > now(&w) && due < now(&w) + MINUTE, "by the client's time");

    // An advance stands where the retry is due until it was tried.
    set_clock(&w, &format!(r#"{{"advance_ms":{DAY}}}"#));
    assert_eq!(now(&w), due);
    assert_eq!(w.deliver(200).len(), 1);
    w.s.engine.work_until_quiet(&()).unwrap();
    let clock = w.s.engine.clock(&w.s.caller).unwrap();
    assert_eq!((clock.advancing_to, clock.frozen), (None, true));
    assert_eq!(w.deliveries(hook.no)[0].status, DeliveryStatus::Delivered);
    w.s.assert_sound();
}

#[test]
fn a_receiver_that_never_answers_does_not_hold_a_clock_for_ever() {
    let w = World::new();
    w.hook();
    w.event("r");
    set_clock(&w, &format!(r#"{{"advance_ms":{DAY}}}"#));
    assert!(w.s.engine.clock(&w.s.caller).unwrap().advancing_to.is_some(), "the first delivery is due and nobody tries it");
    w.s.pass(MINUTE);
    let clock = w.s.engine.clock(&w.s.caller).unwrap();
    assert_eq!(clock.advancing_to, None);
}
