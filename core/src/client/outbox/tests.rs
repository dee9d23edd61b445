//! How an entry moves, as a complete table, and what responses prove.

use std::fmt::Write as _;

use super::*;
use crate::error::ErrorCode;

/// `.`: keeps its state; `!`: the caller gets an error.
const TABLE: &str = "
                    queued     sending    unknown    delivered  refused    withdrawn
start      none     sending    !          sending    !          !          !
start      open     sending    !          sending    !          !          !
start      over     sending    !          sending    !          !          !
not_sent   none     .          queued     .          .          .          .
not_sent   open     .          unknown    .          .          .          .
not_sent   over     .          unknown    .          .          .          .
no_answer  none     .          unknown    .          .          .          .
no_answer  open     .          unknown    .          .          .          .
no_answer  over     .          unknown    .          .          .          .
put_off    none     .          queued     .          .          .          .
put_off    open     .          unknown    .          .          .          .
put_off    over     .          unknown    .          .          .          .
refused    none     .          refused    .          .          .          .
refused    open     .          unknown    .          .          .          .
refused    over     .          unknown    .          .          .          .
taken      none     .          delivered  delivered  .          .          .
taken      open     .          delivered  delivered  .          .          .
taken      over     .          delivered  delivered  .          .          .
absent     none     .          unknown    .          .          .          .
absent     open     .          unknown    .          .          .          .
absent     over     .          refused    .          .          .          .
withdraw   none     withdrawn  !          !          !          !          .
withdraw   open     withdrawn  !          !          !          !          .
withdraw   over     withdrawn  !          !          !          !          .
foreign    none     .          refused    .          .          .          .
foreign    open     .          refused    .          .          .          .
foreign    over     .          refused    .          .          .          .
";

#[test]
fn the_table_is_what_the_code_does() {
    let mut made = format!("\n{:20}", "");
    let line = |made: &mut String, words: Vec<&str>| {
        let words: Vec<String> = words.iter().map(|word| format!("{word:10}")).collect();
        writeln!(made, "{}", words.join(" ").trim_end()).unwrap();
    };
    line(&mut made, OutboxState::ALL.iter().map(|state| state.as_str()).collect());
    for input in OutboxInput::ALL {
        for doubt in Doubt::ALL {
            write!(made, "{:10} {:8} ", input.as_str(), doubt.as_str()).unwrap();
            let next = |state: &OutboxState| match outbox_transition(*state, *input, *doubt) {
                OutboxNext::To(next) => next.as_str(),
                OutboxNext::Stay => ".",
                OutboxNext::Refuse => "!",
            };
            line(&mut made, OutboxState::ALL.iter().map(next).collect());
        }
    }
    assert_eq!(made, TABLE);
}

const BODY: &str = r#"{"amount":"10.5","currency":"EUR","to":"sim:ok","reference":"inv-1","expires_at":"2020-01-01T00:00:00Z"}"#;

/// The settlement that the body asks for, as a gateway returns it.
const SHOWN: &str = r#"{"reference":"inv-1","version":5,"status":"completed","amount_minor":"1050","currency":"EUR","to":"sim:ok","description":null,"metadata":{}}"#;

fn heard(kind: TryKind, status: u16, body: &str) -> OutboxInput {
    judge(kind, "inv-1", BODY, &Heard::Response { status, body: body.as_bytes(), date: None }).input
}

#[test]
fn only_a_refusal_of_the_request_itself_refuses() {
    for code in ErrorCode::ALL {
        let body = format!(r#"{{"code":"{}"}}"#, code.as_str());
        let input = heard(TryKind::Create, code.http_status(), &body);
        assert_ne!(input, OutboxInput::Taken, "{body}");
        if code.http_status() >= 500 && *code != ErrorCode::NoRoute {
            assert_eq!(input, OutboxInput::NoAnswer, "{body}: it may have been carried out");
        }
        if code.retryable() || matches!(code.http_status(), 401 | 403) {
            assert_ne!(input, OutboxInput::Refused, "{body}: it will pass");
        }
        // With another status it is not a response of a gateway.
        assert_eq!(heard(TryKind::Create, 599, &body), OutboxInput::NoAnswer, "{body}");
    }
    assert_eq!(heard(TryKind::Create, 422, r#"{"code":"insufficient_funds"}"#), OutboxInput::Refused);
    assert_eq!(heard(TryKind::Create, 422, r#"{"code":"of_tomorrow"}"#), OutboxInput::Refused);
    assert_eq!(heard(TryKind::Create, 429, r#"{"code":"rate_limited"}"#), OutboxInput::PutOff);
}

#[test]
fn only_an_ask_proves_that_something_is_not_there() {
    let body = r#"{"code":"settlement_not_found"}"#;
    assert_eq!(heard(TryKind::Ask, 404, body), OutboxInput::Absent);
    assert_eq!(heard(TryKind::Create, 404, body), OutboxInput::NoAnswer);
    assert_eq!(heard(TryKind::Ask, 404, r#"{"code":"route_not_found"}"#), OutboxInput::PutOff);
    assert_eq!(heard(TryKind::Ask, 404, "<html>"), OutboxInput::NoAnswer);
}

#[test]
fn only_the_settlement_that_was_asked_for_is_taken() {
    let verdict = judge(TryKind::Create, "inv-1", BODY, &Heard::Response { status: 201, body: SHOWN.as_bytes(), date: None });
    assert_eq!(verdict.settlement, Some((SHOWN.to_owned(), 5)));
    assert!(verdict.at_end && verdict.problem.is_none() && verdict.input == OutboxInput::Taken);
    for (status, body) in [
        (200, &*SHOWN.replace("inv-1", "inv-2")),
        (200, &*SHOWN.replace("1050", "1051")),
        (200, &SHOWN[..30]),
        (200, ""),
        (202, SHOWN),
        (304, ""),
        (502, "<html>"),
    ] {
        assert_eq!(heard(TryKind::Create, status, body), OutboxInput::NoAnswer, "{status} {body}");
    }
}

#[test]
fn a_settlement_of_somebody_else_is_never_taken() {
    assert_eq!(heard(TryKind::Ask, 200, SHOWN), OutboxInput::Taken);
    for (from, to) in [("1050", "1051"), ("EUR", "USD"), ("sim:ok", "sim:no"), ("null", r#""mine""#), ("{}", r#"{"order":"42"}"#)] {
        assert_eq!(heard(TryKind::Ask, 200, &SHOWN.replace(from, to)), OutboxInput::Foreign, "{to}");
    }
    assert_eq!(heard(TryKind::Create, 409, r#"{"code":"reference_conflict"}"#), OutboxInput::Foreign);
}

#[test]
fn pauses_double_up_to_five_minutes_and_differ() {
    let pauses: Vec<Millis> = (1..=12).map(|tries| pause_ms("inv-1", tries) / 1_000).collect();
    assert!(pauses.windows(2).take(8).all(|pair| pair[0] < pair[1]), "{pauses:?}");
    assert!(pauses.iter().all(|pause| (1..=360).contains(pause)), "{pauses:?}");
    assert_ne!(pause_ms("inv-1", 9), pause_ms("inv-2", 9));
    assert!(pause_ms("inv-1", u32::MAX) <= 360_000);
}

#[cfg(feature = "sqlite")]
#[test]
fn what_a_clock_that_was_ahead_put_in_does_not_wait_for_what_is_followed() {
    let file = OutboxFile::open(":memory:".as_ref(), "me", None, 0).unwrap();
    file.put("ahead", BODY, 365 * 86_400_000).unwrap();
    file.put("inv-1", BODY, 0).unwrap();
    let next = || match file.next(0).unwrap() {
        Step::Send(tried) => *tried,
        Step::Wait(_) | Step::Idle => panic!("something is due"),
    };
    let followed = next();
    assert_eq!(followed.reference, "inv-1");
    let shown = SHOWN.replace("completed", "submitted");
    file.heard(&followed, &Heard::Response { status: 201, body: shown.as_bytes(), date: None }, 0).unwrap();
    let ahead = next();
    assert_eq!(ahead.reference, "ahead");
    file.heard(&ahead, &Heard::NotSent { problem: "{}" }, 0).unwrap();
    assert!(matches!(file.next(0).unwrap(), Step::Wait(at) if (1..=2_000).contains(&at)));
}
