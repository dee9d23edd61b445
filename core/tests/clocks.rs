//! The clock that a client changes for its sandbox on a server: what follows it, in which order, and whom it leaves alone.
#![cfg(all(feature = "testkit", feature = "sqlite"))]

use std::sync::Arc;

use crate::plain_rail::{PlainRail, provider};
use crate::scripted::{Script, replied};
use crate::support::live::{both_modes, live};
use crate::support::{Sandbox, create, enroll, sealing, target};
use railgate::api::{Caller, ClockView};
use railgate::engine::{Expire, LeaseTasks, Recover, Reset, SetClock};
use railgate::env::{Env as _, ManualEnv};
use railgate::rail::simulator::SCENARIOS;
use railgate::rail::{Carried, Rails};
use railgate::route::health::Health;
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::store::sqlite::SqliteStore;
use railgate::time::rfc3339;
use railgate::validate::simulator::parse_clock;
use railgate::{Config, Engine, Error};

const SECOND: i64 = 1_000;
const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

fn set(engine: &Engine, caller: Caller, body: &str) -> Result<ClockView, Error> {
    engine.run(SetClock { caller, request: parse_clock(body.as_bytes()).unwrap() })
}

fn ahead(ms: i64) -> String {
    format!(r#"{{"advance_ms":{ms}}}"#)
}

impl Sandbox {
    fn set_clock(&self, body: &str) -> ClockView {
        set(&self.engine, self.caller, body).unwrap()
    }

    fn quiet(&self) {
        self.engine.work_until_quiet(&()).unwrap();
    }

    /// Puts the clock ahead, and carries out what is due on the way.
    fn advance_clock(&self, ms: i64) -> ClockView {
        self.set_clock(&ahead(ms));
        self.quiet();
        let clock = self.engine.clock(&self.caller).unwrap();
        assert_eq!(clock.advancing_to, None);
        clock
    }

    /// What happened when.
    fn story(&self, reference: &str) -> Vec<String> {
        self.events(reference).iter().map(|event| format!("{} {:?} {:?} {:?}", event.at, event.kind, event.from, event.to)).collect()
    }
}

#[test]
fn whatever_is_due_on_the_way_happens_at_its_own_time_as_if_the_client_had_waited() {
    for scenario in SCENARIOS.iter().map(|scenario| scenario.to.to_string()).chain(["sim:pending".to_owned()]) {
        let (waited, ahead) = (Sandbox::new(), Sandbox::new());
        for s in [&waited, &ahead] {
            s.pay("r", &scenario);
        }
        waited.pass(2 * DAY + 7);
        // The payment has not even left when the clock is first changed.
        let clock = ahead.advance_clock(2 * DAY + 7);
        assert_eq!((clock.ahead_ms, clock.frozen), (2 * DAY + 7, false));
        assert_eq!(ahead.story("r"), waited.story("r"), "{scenario}");
        for s in [&waited, &ahead] {
            s.pay("s", &scenario);
            s.quiet();
            let _ = s.reverse("s", "{}");
            s.quiet();
        }
        waited.pass(DAY);
        ahead.advance_clock(DAY);
        assert_eq!(ahead.story("s"), waited.story("s"), "{scenario}");
        assert_eq!(ahead.view("s").needs_review, waited.view("s").needs_review);
        assert_eq!(ahead.euros(), waited.euros());
        ahead.assert_sound();
    }
}

#[test]
fn late_answers_come_at_their_time() {
    for latency in [2 * SECOND, 50 * SECOND] {
        let (waited, ahead) = (Sandbox::new(), Sandbox::new());
        for s in [&waited, &ahead] {
            let faults = railgate::validate::simulator::parse_faults(format!(r#"{{"latency_ms":{latency}}}"#).as_bytes()).unwrap();
            s.engine.run(railgate::engine::SetFaults { caller: s.caller, faults }).unwrap();
        }
        ahead.set_clock(r#"{"frozen":true}"#);
        for s in [&waited, &ahead] {
            s.pay("r", "sim:ok");
            s.quiet();
        }
        waited.pass(DAY);
        ahead.advance_clock(DAY);
        assert_eq!(ahead.story("r"), waited.story("r"), "{latency}");
    }
}

/// A sandbox whose operator is outside the gateway.
fn with_an_operator_outside() -> Sandbox {
    let config = Config { providers: vec![provider("one", "https://one.example")], rails: Rails::built_in().with(PlainRail), ..sealing() };
    Sandbox::over(Arc::new(MemoryStore::new()), config, 1)
}

/// How often the payment was sent.
fn sends(s: &Sandbox) -> usize {
    s.trace("r").iter().filter(|kind| **kind == "attempt.started").count()
}

#[test]
fn not_found_is_no_proof_because_a_client_puts_its_clock_ahead() {
    let s = with_an_operator_outside();
    let finds_nothing = Script::new(|method: &str, _: &str| if method == "PUT" { Carried::Lost } else { replied(404, "") });
    s.pay("r", "msisdn:+254700000001");
    s.set_clock(&ahead(DAY));
    s.engine.work_until_quiet(&finds_nothing).unwrap();
    assert!(finds_nothing.asked().len() > 10, "it was asked about for a day");
    assert_eq!((s.status("r"), sends(&s)), ("unknown", 1), "but may have been on its way for a moment only");
    let end = s.env.now() + HOUR;
    while let Some(due) = s.engine.next_due().unwrap().filter(|due| *due <= end) {
        s.env.advance_to(due);
        s.engine.work_until_quiet(&finds_nothing).unwrap();
    }
    assert!(sends(&s) > 1, "after an hour that really passed, it is sent again");
    s.assert_sound();
}

#[test]
fn not_found_is_proof_by_the_clients_clock_from_an_operator_inside_the_gateway() {
    let s = Sandbox::new();
    s.advance_clock(SECOND);
    s.pay("r", "sim:ok");
    // Its host dies before it sends anything.
    assert_eq!(s.engine.run(LeaseTasks::up_to(1)).unwrap().len(), 1);
    s.pass(59 * SECOND);
    assert_eq!((s.status("r"), sends(&s)), ("unknown", 1), "it was asked about, and may still be on its way");
    s.advance_clock(HOUR);
    assert_eq!((s.status("r"), sends(&s)), ("completed", 2));
    s.assert_sound();
}

#[test]
fn no_clock_waits_for_a_provider_that_takes_nothing() {
    let s = with_an_operator_outside();
    s.advance_clock(SECOND);
    s.engine.routes().pulse(s.engine.routes().number("one").unwrap()).unwrap().says(Health::Down);
    s.pay("r", "msisdn:+254700000001");
    s.advance_clock(DAY);
    assert_eq!(s.status("r"), "accepted");
}

#[test]
fn nothing_happens_while_it_is_stopped_and_time_never_goes_back() {
    let s = Sandbox::new();
    s.pay("before", "sim:slow-30s");
    s.quiet();
    let stopped = s.set_clock(r#"{"frozen":true}"#);
    s.pay("after", "sim:timeout-then-ok");
    s.pass(DAY);
    assert_eq!((s.status("before"), s.status("after")), ("submitted", "unknown"));
    let view = s.engine.clock(&s.caller).unwrap();
    assert_eq!((&view.now, view.frozen, view.ahead_ms), (&stopped.now, true, -DAY));
    assert_eq!(s.view("after").created_at.as_str(), stopped.now);

    // It goes on from where it stood.
    assert_eq!(s.set_clock(r#"{"frozen":false}"#).now, stopped.now);
    s.pass(29_999);
    assert_eq!((s.status("before"), s.status("after")), ("submitted", "completed"));
    s.pass(1);
    assert_eq!(s.status("before"), "completed");
    s.assert_sound();
}

#[test]
fn the_clock_of_one_client_moves_nobody_else_s_and_never_live() {
    let s = both_modes(Arc::new(MemoryStore::new()), Config::default());
    let other = enroll(&s.engine, "Other");
    let body = |to: &str, reference: &str| format!(r#"{{"amount":1,"currency":"EUR","to":"{to}","reference":"{reference}"}}"#);
    let theirs = s.engine.run(create(&s.engine, other, &body("sim:slow-30s", "theirs"))).unwrap().settlement;
    let real = s.engine.run(create(&s.engine, live(s.caller), &body("msisdn:+254700000001", "real"))).unwrap().settlement;
    s.advance_clock(DAY);
    let now = s.env.now();
    let of = |caller: &Caller, reference| s.engine.settlement(caller, &target(reference)).unwrap();
    assert_eq!(of(&other, "theirs").status.as_str(), "submitted");
    for record in [&*theirs, &*real, &of(&live(s.caller), "real"), &of(&other, "theirs")] {
        assert_eq!((record.created_at, record.updated_at), (now, now));
    }
    assert_eq!(s.engine.clock(&other).unwrap().ahead_ms, 0);
    let later = s.engine.run(create(&s.engine, live(s.caller), &body("msisdn:+254700000001", "later"))).unwrap().settlement;
    let mine = s.engine.run(create(&s.engine, s.caller, &body("sim:ok", "mine"))).unwrap().settlement;
    assert_eq!((later.created_at, mine.created_at), (now, now + DAY));
    s.set_clock(r#"{"frozen":true}"#);
    s.pass(30 * SECOND);
    assert_eq!(of(&other, "theirs").status.as_str(), "completed");
    s.assert_sound();
}

#[test]
fn another_node_finishes_what_one_began_over_every_store() {
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn Store>; 2] = [Arc::new(MemoryStore::new()), Arc::new(SqliteStore::open(folder.path().join("a.db")).unwrap())];
    for store in stores {
        // It stops after each possible number of rounds.
        for rounds in 0..14 {
            let s = Sandbox::over(store.clone(), sealing(), 1 + rounds);
            s.pay(&format!("r{rounds}"), "sim:timeout-then-ok");
            s.pay(&format!("s{rounds}"), "sim:returned-after-1d");
            s.set_clock(&ahead(2 * DAY));
            let env: Arc<ManualEnv> = s.env.clone();
            for _ in 0..rounds {
                let _ = s.engine.run(LeaseTasks::up_to(1)).unwrap();
            }
            let next = Engine::open(store.clone(), env, sealing()).unwrap();
            next.run(Recover).unwrap();
            next.work_until_quiet(&()).unwrap();
            // What was leased and never reported is asked about.
            while next.clock(&s.caller).unwrap().advancing_to.is_some() {
                s.env.advance_to(next.next_due().unwrap().unwrap());
                next.work_until_quiet(&()).unwrap();
            }
            let of = |reference: String| next.settlement(&s.caller, &target(&reference)).unwrap().status.as_str();
            assert_eq!((of(format!("r{rounds}")), of(format!("s{rounds}"))), ("completed", "returned"), "{rounds}");
            s.assert_sound();
        }
    }
}

#[test]
fn a_node_learns_of_a_clock_that_was_changed_elsewhere() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), sealing(), 1);
    let other = Engine::open(s.store.clone(), s.env.clone(), sealing()).unwrap();
    s.set_clock(r#"{"frozen":true,"advance_ms":86400000}"#);
    s.quiet();
    let pay = |reference: &str| {
        let body = format!(r#"{{"amount":1,"currency":"EUR","to":"sim:slow-30s","reference":"{reference}"}}"#);
        other.run(create(&other, s.caller, &body)).unwrap().settlement
    };
    // It does not know yet: what it stored is put under the client's clock as soon as that is looked at.
    assert_eq!(pay("early").created_at, s.env.now());
    other.work_until_quiet(&()).unwrap();
    other.follow_clocks().unwrap();
    assert_eq!(pay("late").created_at, s.env.now() + DAY);
    other.work_until_quiet(&()).unwrap();
    s.set_clock(&ahead(29 * SECOND));
    s.quiet();
    s.pass(HOUR);
    assert_eq!(s.status("late"), "submitted");
    s.advance_clock(SECOND);
    assert_eq!((s.status("early"), s.status("late")), ("completed", "completed"));
    // One that starts knows.
    let third = Engine::open(s.store.clone(), s.env.clone(), sealing()).unwrap();
    let body = r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"third"}"#;
    assert_eq!(third.run(create(&third, s.caller, body)).unwrap().settlement.created_at, s.env.now() - HOUR + DAY + 30 * SECOND);
}

#[test]
fn what_was_not_sent_expires_by_the_client_s_clock() {
    let s = Sandbox::new();
    let expires = |after: i64| rfc3339(s.env.now() + after);
    let pay = |reference: &str, after| {
        let body = format!(r#"{{"amount":1,"currency":"EUR","to":"sim:ok","reference":"{reference}","expires_at":"{}"}}"#, expires(after));
        s.create(&body).unwrap()
    };
    let expired = || s.engine.expired(None, 100).unwrap().settlements;
    pay("before", HOUR);
    s.set_clock(r#"{"frozen":true}"#);
    pay("after", 2 * HOUR);
    // Nothing is sent: only the alarm of the clock is carried out.
    s.env.advance_to(s.env.now() + DAY);
    assert!(expired().is_empty(), "the clock stands");
    assert_eq!(s.engine.run(Expire { settlements: Vec::new() }).unwrap(), 0);
    s.set_clock(r#"{"frozen":false}"#);
    s.env.advance_to(s.env.now() + HOUR - 1);
    assert!(expired().is_empty());
    s.env.advance_to(s.env.now() + 1);
    assert_eq!(expired().len(), 1);
    s.set_clock(&ahead(2 * HOUR));
    s.quiet();
    assert_eq!((s.status("before"), s.status("after")), ("cancelled", "completed"), "the second was sent before its time was over");
    s.assert_sound();
}

#[test]
fn an_advance_goes_farther_on_its_way_and_stops_when_it_is_told_to() {
    let s = Sandbox::new();
    s.pay("r", "sim:pending");
    s.set_clock(&ahead(DAY));
    let farther = s.set_clock(r#"{"advance_ms":3600000,"frozen":true}"#);
    assert_eq!((farther.advancing_to.as_deref(), farther.frozen), (Some(&*rfc3339(s.env.now() + DAY + HOUR)), true));
    s.quiet();
    let arrived = s.engine.clock(&s.caller).unwrap();
    assert_eq!((arrived.ahead_ms, arrived.frozen, arrived.advancing_to), (DAY + HOUR, true, None));

    s.set_clock(&ahead(DAY));
    let stopped = s.set_clock(r#"{"frozen":true}"#);
    assert_eq!((stopped.ahead_ms, stopped.advancing_to), (DAY + HOUR, None));
    s.set_clock(&ahead(DAY));
    s.engine.run(Reset { caller: s.caller }).unwrap();
    let reset = s.engine.clock(&s.caller).unwrap();
    assert_eq!((reset.ahead_ms, reset.frozen, reset.advancing_to), (DAY + HOUR, false, None));
}

#[test]
fn no_clock_is_put_ahead_for_ever() {
    let s = Sandbox::new();
    let most = ahead(366 * DAY);
    let mut years = 0;
    while set(&s.engine, s.caller, &most).is_ok() {
        years += 1;
    }
    assert_eq!(years, 72);
    assert_eq!(set(&s.engine, s.caller, &most).unwrap_err().fields[0].code, "out_of_range");
    assert!(parse_clock(ahead(366 * DAY + 1).as_bytes()).is_err());
    s.quiet();
    assert_eq!(s.engine.clock(&s.caller).unwrap().advancing_to, None);
}

#[test]
fn a_year_with_many_inquiries_ends_in_a_bounded_number_of_steps() {
    let s = Sandbox::new();
    for n in 0..20 {
        s.pay(&format!("r{n}"), "sim:pending");
        s.quiet();
        s.pass(SECOND);
    }
    s.set_clock(&ahead(60 * DAY));
    let mut rounds = 0;
    while s.engine.clock(&s.caller).unwrap().advancing_to.is_some() {
        s.engine.work(64, &()).unwrap();
        rounds += 1;
    }
    // 28,800 inquiries; each at a time of its own until 4,096 stops were made.
    assert!(rounds < 16_000, "{rounds}");
    s.assert_sound();
}

#[test]
fn a_clock_that_is_far_ahead_hides_nothing_from_operators() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), sealing(), 1);
    let (begun, other) = (s.env.now(), enroll(&s.engine, "Other"));
    set(&s.engine, other, &ahead(300 * 86_400_000)).unwrap();
    s.quiet();
    for n in 0..40 {
        // One of its own between two dozens of the other's.
        for m in 0..24 {
            let body = format!(r#"{{"amount":1,"currency":"EUR","to":"sim:ok","reference":"f-{n}-{m}"}}"#);
            s.engine.run(create(&s.engine, other, &body)).unwrap();
        }
        s.pay(&format!("r-{n}"), "sim:ok");
        s.env.advance_to(s.env.now() + 60_000);
    }
    let within = |from: i64, to: i64| {
        let query = [("created_from", from), ("created_to", to)].map(|(name, at)| (name.to_owned(), rfc3339(at)));
        let mut request = s.engine.parse_list(&query).unwrap();
        let mut found = Vec::new();
        loop {
            let page = s.engine.list_all(&request).unwrap();
            found.extend(page.data.iter().map(|it| it.reference.clone()));
            match request.next(&page) {
                Some(next) => request = next,
                None => return found,
            }
        }
    };
    let expected: Vec<String> = (10..30).rev().map(|n| format!("r-{n}")).collect();
    assert_eq!(within(begun + 10 * 60_000, begun + 30 * 60_000), expected);
    let overview = s.engine.overview(begun + 10 * 60_000, begun + 30 * 60_000).unwrap();
    // Those of both clients: each when the gateway accepted it.
    assert_eq!((overview.counted, overview.complete), (20 * 25, true));
}

#[test]
fn the_overview_counts_payments_of_sandboxes_when_the_gateway_accepted_them() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), sealing(), 1);
    let counted = |from: i64, to: i64| s.engine.overview(from, to).unwrap().counted;
    let begun = s.env.now();
    s.pay("before", "sim:ok");
    s.env.advance_to(begun + HOUR);
    // From here on, no client has the gateway's time.
    s.advance_clock(30 * DAY);
    s.pay("ahead", "sim:ok");
    s.env.advance_to(begun + 2 * HOUR);
    let now = s.env.now();
    assert_eq!(counted(begun, now), 2);
    assert_eq!(counted(begun, begun + HOUR / 2), 1, "it was accepted before its client changed the clock");
    assert_eq!(counted(begun + HOUR / 2, now), 1);
    assert_eq!(counted(now, now + 40 * DAY), 0, "the time of a sandbox is not the gateway's");
    s.set_clock(r#"{"frozen":true}"#);
    s.quiet();
    s.pay("standing", "sim:ok");
    assert_eq!(counted(now, now + HOUR), 1);
    assert_eq!(counted(begun, now + HOUR), 3);
}
