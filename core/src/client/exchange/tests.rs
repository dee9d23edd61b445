//! Every state with every event, every code with every doubt, and the course of whole calls.

use std::collections::VecDeque;

use super::response::retry_after_ms;
use super::*;
use crate::auth::{Signer as _, SoftwareKey};
use crate::client::Response;
use crate::error::ErrorCode;
use crate::ledger::Mode;

const NOW: Millis = 1_763_733_600_000;
const CHALLENGE: &str = r#"{"challenge":"c1.a.b","expires_in":300}"#;
const TOKEN: &str = r#"{"access_token":"t","expires_in":900,"client_id":"cli_1"}"#;
const CREATE: &str = "/api/v1/gateway/settlements";
const REVERSE: &str = "/api/v1/gateway/settlements/inv-1/reverse";
const PATIENCE: RetryPolicy = RetryPolicy { tries: 3, timeout_ms: 30_000, pause_ms: 250, longest_pause_ms: 20_000, unconnected: true };

fn key(n: u8) -> SoftwareKey {
    SoftwareKey::ed25519(&[n; 32])
}

fn session() -> Session {
    Session::new("https://pay.example", Mode::Sandbox, key(1).public_key()).unwrap()
}

/// A session that has both a challenge and a token.
fn ready() -> Session {
    let mut session = session();
    for body in [CHALLENGE, TOKEN] {
        assert!(session.learn(&Response { status: 200, headers: &[], body: body.as_bytes() }, None, NOW));
    }
    session
}

fn post(path: &str) -> Call {
    Call::new(Request::post(path, "{}".to_owned()))
}

fn problem(code: &str) -> String {
    format!(r#"{{"code":"{code}","retryable":true}}"#)
}

/// What happens to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// A 2xx.
    Fine,
    /// A problem of the gateway.
    Code(ErrorCode),
    /// A response with this status that does not come from a gateway.
    Page(u16),
    /// A code that only a newer gateway has.
    Newer(u16),
    Lost(Lost),
}
use Event::{Code, Fine, Newer, Page};

fn hear(exchange: &mut Exchange, session: &mut Session, event: Event, headers: &[(&str, &str)]) {
    let (status, body, kind) = match event {
        Event::Lost(lost) => return exchange.lost(lost),
        Fine => (200, "{}".to_owned(), "application/json"),
        Code(code) => (code.http_status(), problem(code.as_str()), "application/problem+json"),
        Newer(status) => (status, problem("of_tomorrow"), "application/problem+json; charset=utf-8"),
        Page(status) => (status, "<html>".to_owned(), "text/html"),
    };
    let headers = [headers, &[("Content-Type", kind)]].concat();
    exchange.answered(session, &Response { status, headers: &headers, body: body.as_bytes() }, NOW);
}

/// The course of a call.
#[derive(Debug, PartialEq, Eq)]
struct Went {
    verdict: Verdict,
    /// What was sent: `c`hallenge, `t`oken, or the `C`all.
    sent: String,
    pauses: usize,
}

/// Carries out a call that meets `events`; challenges and tokens are granted unless `grants` says otherwise.
fn carry(session: &mut Session, call: Call, patience: RetryPolicy, events: &[Event], grants: &[Event]) -> (Went, Done) {
    let mut exchange = Exchange::new(call, patience);
    let (mut events, mut grants) = (VecDeque::from(events.to_vec()), VecDeque::from(grants.to_vec()));
    let (mut sent, mut pauses, mut n) = (String::new(), 0, 0);
    loop {
        n += 1;
        match exchange.next(session, NOW, [n; 48]) {
            Step::Sign { by: SignedBy::Key, message } => exchange.signed(&key(1).sign(&message).unwrap()),
            Step::Sign { by: SignedBy::NewKey, message } => exchange.signed(&key(2).sign(&message).unwrap()),
            Step::Send { request, prepares: true, .. } => {
                let (letter, body) = if request.path.ends_with("challenges") { ('c', CHALLENGE) } else { ('t', TOKEN) };
                sent.push(letter);
                match grants.pop_front() {
                    Some(event) => hear(&mut exchange, session, event, &[]),
                    None => exchange.answered(session, &Response { status: 200, headers: &[], body: body.as_bytes() }, NOW),
                }
            }
            Step::Send { .. } => {
                sent.push('C');
                hear(&mut exchange, session, events.pop_front().expect("sent more often than expected"), &[]);
            }
            Step::Pause(_) => pauses += 1,
            Step::Done(done) => {
                assert!(events.is_empty(), "not sent: {events:?}");
                return (Went { verdict: done.verdict, sent, pauses }, done);
            }
        }
    }
}

#[track_caller]
fn ends(call: Call, events: &[Event], verdict: Verdict) -> Done {
    let (went, done) = carry(&mut ready(), call, PATIENCE, events, &[]);
    assert_eq!(went.verdict, verdict, "{events:?}");
    assert_eq!(went.sent, "C".repeat(events.len()));
    done
}

/// The states, for the table.
const STATES: [&str; 9] = ["begin", "signing", "countersign", "signing too", "ready", "fetching", "sent", "pausing", "over"];

fn brought_to(state: &str) -> (Exchange, Session) {
    let mut session = if state == "fetching" { session() } else { ready() };
    let call = post(REVERSE).repeatable();
    let call = if matches!(state, "countersign" | "signing too") { call.with_new_key(key(2).public_key()) } else { call };
    let mut exchange = Exchange::new(call, PATIENCE);
    if state == "begin" {
        return (exchange, session);
    }
    exchange.next(&mut session, NOW, [1; 48]);
    if matches!(state, "signing" | "fetching") {
        return (exchange, session);
    }
    exchange.signed(&[0; 64]);
    if state == "signing too" {
        exchange.next(&mut session, NOW, [2; 48]);
    }
    if matches!(state, "countersign" | "signing too" | "ready") {
        return (exchange, session);
    }
    exchange.next(&mut session, NOW, [2; 48]);
    match state {
        "pausing" => exchange.lost(Lost::NoAnswer),
        "over" => hear(&mut exchange, &mut session, Fine, &[]),
        _ => {}
    }
    (exchange, session)
}

/// The next step, for the table.
fn next(exchange: &mut Exchange, session: &mut Session) -> String {
    match exchange.next(session, NOW, [3; 48]) {
        Step::Sign { by: SignedBy::Key, .. } => "sign".to_owned(),
        Step::Sign { by: SignedBy::NewKey, .. } => "sign too".to_owned(),
        Step::Send { prepares: true, .. } => "fetch".to_owned(),
        Step::Send { .. } => "send".to_owned(),
        Step::Pause(_) => "pause".to_owned(),
        Step::Done(done) => format!("{:?}", done.verdict),
    }
}

const TABLE: &str = "
            | (nothing) | signed    | 2xx       | refused   | lost      | stop
begin       | sign      | sign      | sign      | sign      | sign      | NotDone
signing     | sign      | send      | sign      | sign      | sign      | NotDone
countersign | sign too  | sign too  | sign too  | sign too  | sign too  | NotDone
signing too | sign too  | send      | sign too  | sign too  | sign too  | NotDone
ready       | send      | send      | send      | send      | send      | NotDone
fetching    | pause     | pause     | fetch     | NotDone   | pause     | NotDone
sent        | pause     | pause     | Answered  | Refused   | pause     | Open
pausing     | pause     | pause     | pause     | pause     | pause     | InDoubt
over        | Answered  | Answered  | Answered  | Answered  | Answered  | Answered
";

#[test]
fn whatever_happens_to_a_state_has_an_outcome() {
    let inputs = ["(nothing)", "signed", "2xx", "refused", "lost", "stop"];
    let mut made = format!("\n{:11}", "");
    inputs.iter().for_each(|input| made.push_str(&format!(" | {input:9}")));
    for state in STATES {
        made = format!("{}\n{state:11}", made.trim_end());
        for input in inputs {
            let (mut exchange, mut session) = brought_to(state);
            match input {
                "signed" => exchange.signed(&[0; 64]),
                "2xx" => hear(&mut exchange, &mut session, Fine, &[]),
                "refused" => hear(&mut exchange, &mut session, Code(ErrorCode::ClientSuspended), &[]),
                "lost" => exchange.lost(Lost::NoAnswer),
                "stop" => exchange.stop(),
                _ => {}
            }
            made.push_str(&format!(" | {:9}", next(&mut exchange, &mut session)));
        }
    }
    assert_eq!(format!("{}\n", made.trim_end()), TABLE.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>());
}

#[test]
fn what_a_refusal_says_of_the_try_it_ends_and_of_those_before() {
    for code in ErrorCode::ALL.iter().copied() {
        let again =
            matches!(code, ErrorCode::ChallengeExpired | ErrorCode::ChallengeInvalid | ErrorCode::TokenExpired | ErrorCode::TokenInvalid);
        let passes = proof_passes(code);
        let times = |n: usize| vec![Code(code); n];
        // A call that is not repeatable is sent once, unless it was refused for its signature.
        let (went, _) = carry(&mut ready(), post(REVERSE), PATIENCE, &times(if again { 2 } else { 1 }), &[]);
        assert_eq!(went.pauses, 0, "{code:?}");
        let open = matches!(
            code,
            ErrorCode::NonceReplayed
                | ErrorCode::RequestInProgress
                | ErrorCode::Timeout
                | ErrorCode::Internal
                | ErrorCode::StoreUnavailable
        );
        assert_eq!(went.verdict, if open { Verdict::Open } else { Verdict::Refused }, "{code:?}");
        // Otherwise up to the limit of the retry policy, if the error can pass.
        let tries = match (again, passes) {
            (true, _) => 2,
            (false, true) => 3,
            (false, false) => 1,
        };
        let (went, _) = carry(&mut ready(), post(REVERSE).repeatable(), PATIENCE, &times(tries), &[]);
        assert_eq!(went.verdict, if open { Verdict::Open } else { Verdict::Refused }, "{code:?}");
        // After a try without a response, a refusal proves nothing unless it settles all tries.
        let tries = if passes { 2 } else { tries };
        let events = [vec![Event::Lost(Lost::NoAnswer)], times(tries)].concat();
        let (went, _) = carry(&mut ready(), post(REVERSE).repeatable(), PATIENCE, &events, &[]);
        let settled = matches!(code, ErrorCode::ReferenceConflict | ErrorCode::KeyExists);
        assert_eq!(went.verdict, if settled { Verdict::Refused } else { Verdict::InDoubt }, "{code:?}");
        // Reading twice does no harm.
        let (went, _) = carry(&mut ready(), Call::new(Request::new("GET", "/api/v1/balances")).repeatable(), PATIENCE, &events, &[]);
        assert_ne!(went.verdict, Verdict::InDoubt, "{code:?}");
    }
}

fn proof_passes(code: ErrorCode) -> bool {
    use ErrorCode as E;
    matches!(
        code,
        E::RateLimited
            | E::Timeout
            | E::StoreUnavailable
            | E::NotLoggedYet
            | E::RequestInProgress
            | E::VersionConflict
            | E::NonceReplayed
            | E::ClientMoving
    )
}

#[test]
fn what_is_no_answer_of_a_gateway_refuses_nothing() {
    use Verdict::{InDoubt, Open, Refused};
    let lost = Event::Lost(Lost::NoAnswer);
    let call = || post(REVERSE).repeatable();
    for status in [502, 503, 504] {
        let done = ends(call(), &[Page(status); 3], Open);
        assert!(matches!(done.why, Why::Lost(Lost::NoAnswer)), "{status}");
    }
    for status in [199, 302, 403, 404, 422, 500] {
        let done = ends(call(), &[Page(status)], Open);
        assert!(matches!(done.why, Why::Unreadable), "{status}");
        ends(call(), &[lost, Page(status)], InDoubt);
        ends(call(), &[Code(ErrorCode::Timeout), Page(status)], InDoubt);
    }
    ends(call(), &[Event::Lost(Lost::Garbled), Event::Lost(Lost::Garbled), lost], Open);
    ends(call(), &[Event::Lost(Lost::NotSent), lost, Event::Lost(Lost::NotSent)], InDoubt);
    ends(call(), &[Event::Lost(Lost::NotSent); 3], Verdict::NotDone);
    ends(call(), &[Event::Lost(Lost::NotSent), Code(ErrorCode::ClientSuspended)], Refused);
    // Another internal error of the gateway already says that the result is unknown.
    ends(call(), &[Code(ErrorCode::Timeout), Code(ErrorCode::Internal)], Open);
    ends(call(), &[lost, Code(ErrorCode::Internal)], InDoubt);
    // The status tells whether a newer gateway has judged the request.
    ends(call(), &[Newer(409)], Refused);
    ends(call(), &[Newer(422)], Refused);
    ends(call(), &[Newer(503); 3], Open);
    ends(call(), &[lost, Newer(422)], InDoubt);
    ends(post(CREATE).repeatable(), &[Newer(409)], Open);
    ends(post(CREATE).repeatable(), &[Newer(422)], Refused);
    // Some proxies send codes, too, with media types of their own.
    let mut session = ready();
    let (mut exchange, _) = brought_to("sent");
    let coded = Response { status: 403, headers: &[("content-type", "application/json")], body: br#"{"code":"FORBIDDEN"}"# };
    exchange.answered(&mut session, &coded, NOW);
    assert!(matches!(exchange.next(&mut session, NOW, [1; 48]), Step::Done(Done { why: Why::Unreadable, .. })));
}

#[test]
fn what_refuses_other_calls_does_not_refuse_a_create() {
    for code in [ErrorCode::SettlementNotFound, ErrorCode::InvalidState, ErrorCode::KeyNotFound] {
        ends(post(CREATE).repeatable(), &[Code(code)], Verdict::Open);
        ends(post(REVERSE).repeatable(), &[Code(code)], Verdict::Refused);
    }
    ends(post(CREATE).repeatable(), &[Code(ErrorCode::InsufficientFunds)], Verdict::Refused);
}

#[test]
fn what_a_call_needs_is_fetched_first_and_no_more_often_than_it_helps() {
    let carry = |events: &[Event], grants: &[Event]| carry(&mut session(), post(REVERSE), PATIENCE, events, grants).0;
    let went = |verdict, sent: &str, pauses| Went { verdict, sent: sent.to_owned(), pauses };
    let expired = Code(ErrorCode::ChallengeExpired);
    assert_eq!(carry(&[Fine], &[]), went(Verdict::Answered, "ctC", 0));
    // Fetches are repeated, even if the call itself is sent only once.
    let lost = Event::Lost(Lost::NoAnswer);
    assert_eq!(carry(&[], &[lost, Page(503), lost]), went(Verdict::NotDone, "ccc", 2));
    assert_eq!(carry(&[Fine], &[lost]), went(Verdict::Answered, "cctC", 1));
    assert_eq!(carry(&[], &[Code(ErrorCode::KeyRevoked)]), went(Verdict::NotDone, "c", 0));
    // A call refused only for its signature is sent once more.
    assert_eq!(carry(&[expired, Fine], &[]), went(Verdict::Answered, "ctCcC", 0));
    assert_eq!(carry(&[expired, expired], &[]), went(Verdict::Refused, "ctCcC", 0));
    // Grants that expire at once and a challenge that is never valid do not cause an endless loop.
    assert_eq!(carry(&[], &[Fine; 4]), went(Verdict::NotDone, "cccc", 0));
    assert_eq!(carry(&[], &[expired; 4]), went(Verdict::NotDone, "cccc", 0));
}

#[test]
fn pauses_double_between_half_and_the_whole_and_a_wish_of_the_gateway_comes_first() {
    for failures in 1..2_000 {
        let whole = (250_u64 << (failures - 1).min(20)).min(20_000);
        for random in [[0; 16], [0x80; 16], [0xff; 16]] {
            let ms = PATIENCE.backoff_ms(failures, random);
            assert!(ms >= whole / 2 && ms <= whole, "{failures}: {ms}");
        }
        assert_eq!(PATIENCE.backoff_ms(failures, [0xff; 16]), whole);
    }
    let endless = RetryPolicy { pause_ms: u64::MAX, longest_pause_ms: u64::MAX, ..PATIENCE };
    assert_eq!(endless.backoff_ms(9, [0xff; 16]), u64::from(u32::MAX));
    let asked = |after: &str| {
        let (mut exchange, mut session) = brought_to("sent");
        hear(&mut exchange, &mut session, Code(ErrorCode::RateLimited), &[("Retry-After", after)]);
        exchange.next(&mut session, NOW, [0xff; 48])
    };
    assert!(matches!(asked("7"), Step::Pause(7_000)));
    assert!(matches!(asked("0"), Step::Pause(250)));
    assert!(matches!(asked("20"), Step::Pause(20_000)));
    // If the wait exceeds the longest pause, the call ends at once.
    assert!(matches!(asked("21"), Step::Done(Done { verdict: Verdict::Refused, why: Why::Response, retry_after_ms: Some(21_000) })));
}

#[test]
fn retry_after_is_seconds_or_a_date_and_nothing_else() {
    // Fri, 21 Nov 2025 14:00:00 GMT.
    for (text, ms) in [
        ("7", Some(7_000)),
        (" 0 ", Some(0)),
        ("Fri, 21 Nov 2025 14:00:03 GMT", Some(3_000)),
        ("Fri, 21 Nov 2025 13:59:53 GMT", Some(0)),
        ("", None),
        ("soon", None),
        ("-1", None),
        ("1.5e3x", None),
        ("99999999999", None),
    ] {
        assert_eq!(retry_after_ms(text, NOW), ms, "{text}");
    }
}

#[test]
fn an_answer_may_take_as_long_as_its_call_asks_for() {
    let mut session = session();
    let mut exchange = Exchange::new(post(REVERSE).extra(25_000), PATIENCE);
    let mut waits = Vec::new();
    loop {
        match exchange.next(&mut session, NOW, [1; 48]) {
            Step::Sign { message, .. } => exchange.signed(&key(1).sign(&message).unwrap()),
            Step::Send { timeout_ms, prepares, request } => {
                waits.push(timeout_ms);
                if !prepares {
                    break;
                }
                let body = if request.path.ends_with("tokens") { TOKEN } else { CHALLENGE };
                exchange.answered(&mut session, &Response { status: 200, headers: &[], body: body.as_bytes() }, NOW);
            }
            Step::Pause(_) | Step::Done(_) => panic!(),
        }
    }
    assert_eq!(waits, [30_000, 30_000, 55_000]);
}

#[test]
fn a_gateway_that_was_never_there_is_told_at_once_where_that_is_wished() {
    let (patience, not_sent) = (RetryPolicy { unconnected: false, ..PATIENCE }, Event::Lost(Lost::NotSent));
    let call = || post(REVERSE).repeatable();
    let (went, _) = carry(&mut ready(), call(), patience, &[not_sent], &[]);
    assert_eq!((went.verdict, went.pauses), (Verdict::NotDone, 0));
    let (went, _) = carry(&mut ready(), call(), patience, &[Page(503), not_sent, Fine], &[]);
    assert_eq!((went.verdict, went.pauses), (Verdict::Answered, 2));
}

#[test]
fn what_broke_is_opened_again_after_a_pause_as_long_as_the_failures_before() {
    let mut session = ready();
    let call = Call::new(Request::new("GET", "/api/v1/gateway/events")).repeatable();
    let mut exchange = Exchange::new(call, PATIENCE);
    exchange.pause_first(2, 0);
    assert!(!exchange.lacks(&session, NOW));
    assert!(matches!(exchange.next(&mut session, NOW, [0xff; 48]), Step::Pause(500)));
    assert!(matches!(exchange.next(&mut session, NOW, [1; 48]), Step::Sign { .. }));
}

#[test]
fn calls_that_lack_the_same_may_wait_for_one_preparation() {
    let mut session = session();
    let (mut call, enrolment) = (Exchange::new(post(REVERSE), PATIENCE), Exchange::new(post("/api/v1/auth/enrollments"), PATIENCE));
    assert!(call.lacks(&session, NOW));
    let mut preparation = call.preparation();
    let mut sent = 0;
    let done = loop {
        match preparation.next(&mut session, NOW, [1; 48]) {
            Step::Sign { message, .. } => preparation.signed(&key(1).sign(&message).unwrap()),
            Step::Send { request, .. } => {
                sent += 1;
                let body = if request.path.ends_with("tokens") { TOKEN } else { CHALLENGE };
                preparation.answered(&mut session, &Response { status: 200, headers: &[], body: body.as_bytes() }, NOW);
            }
            Step::Pause(_) => panic!(),
            Step::Done(done) => break done,
        }
    };
    assert_eq!((sent, done.verdict), (2, Verdict::Answered));
    assert!(!call.lacks(&session, NOW) && !enrolment.lacks(&session, NOW));
    assert!(matches!(call.next(&mut session, NOW, [1; 48]), Step::Sign { .. }));
    // An enrolment needs no token: there is none yet.
    session.restore(&crate::client::Snapshot::default());
    let answer = Response { status: 200, headers: &[], body: CHALLENGE.as_bytes() };
    assert!(enrolment.lacks(&session, NOW) && session.learn(&answer, None, NOW) && !enrolment.lacks(&session, NOW));
}

#[test]
fn what_an_enrolment_grants_is_the_session_s_unless_a_new_key_asked_for_it() {
    for new_key in [false, true] {
        let mut session = session();
        let call = Call::new(session.enroll_request("Shop", None));
        let call = if new_key { call.with_new_key(key(2).public_key()) } else { call };
        let mut exchange = Exchange::new(call, PATIENCE);
        let mut keys = Vec::new();
        let request = loop {
            match exchange.next(&mut session, NOW, [keys.len() as u8; 48]) {
                Step::Sign { by, message } => {
                    keys.push(by);
                    exchange.signed(&key(if by == SignedBy::NewKey { 2 } else { 1 }).sign(&message).unwrap());
                }
                Step::Send { prepares: true, .. } => {
                    exchange.answered(&mut session, &Response { status: 200, headers: &[], body: CHALLENGE.as_bytes() }, NOW);
                }
                Step::Send { request, .. } => break request,
                Step::Pause(_) | Step::Done(_) => panic!(),
            }
        };
        assert!(!request.headers.iter().any(|(name, _)| name == "authorization"));
        assert_eq!(keys, if new_key { vec![SignedBy::Key, SignedBy::NewKey] } else { vec![SignedBy::Key] });
        exchange.answered(&mut session, &Response { status: 201, headers: &[], body: TOKEN.as_bytes() }, NOW);
        assert_eq!(session.needs(NOW, true).is_some(), new_key);
    }
}

#[test]
fn what_cannot_be_signed_is_not_sent() {
    let (_, done) = carry(&mut ready(), Call::new(Request::new("GET", "/a b")), PATIENCE, &[], &[]);
    assert!(matches!(done, Done { verdict: Verdict::NotDone, why: Why::Unsigned(ClientError::Path), .. }));
    let (mut exchange, mut session) = brought_to("signing");
    exchange.signed(b"no signature");
    let Step::Done(done) = exchange.next(&mut session, NOW, [1; 48]) else { panic!() };
    assert!(matches!(done, Done { verdict: Verdict::NotDone, why: Why::Unsigned(ClientError::Sign(_)), .. }));
    // After a try that may have been carried out, this proves nothing about it.
    let (mut exchange, mut session) = brought_to("pausing");
    exchange.next(&mut session, NOW, [1; 48]);
    exchange.next(&mut session, NOW, [1; 48]);
    exchange.stop();
    let Step::Done(done) = exchange.next(&mut session, NOW, [1; 48]) else { panic!() };
    assert!(matches!(done, Done { verdict: Verdict::InDoubt, why: Why::Stopped, .. }));
}
