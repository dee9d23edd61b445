//! What the outcome of a try proves about an entry.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{OutboxInput, TryKind};
use crate::client::proof::{Proof, known};
use crate::error::ErrorCode;
use crate::lifecycle::SettlementStatus;
use crate::time::Millis;
use crate::validate::{AnyCurrency, parse_create};

/// The outcome of a try, as the host reports it.
#[derive(Debug, Clone, Copy)]
pub enum Heard<'a> {
    /// Nothing left the device: there was no connection, or the key did not sign. `problem` has the reason.
    NotSent {
        /// The reason, as a problem document.
        problem: &'a str,
    },
    /// The request may have left, but no valid response to it came.
    NoAnswer {
        /// The reason, as a problem document.
        problem: &'a str,
    },
    /// A valid response to the request.
    Response {
        /// The HTTP status code.
        status: u16,
        /// The response body.
        body: &'a [u8],
        /// When the gateway gave it, by its own clock: the `Date` header.
        date: Option<Millis>,
    },
}

#[cfg(feature = "sqlite")]
impl Heard<'_> {
    /// When the gateway gave the response, by its own clock.
    pub(super) fn date(&self) -> Option<Millis> {
        match *self {
            Self::Response { date, .. } => date,
            Self::NotSent { .. } | Self::NoAnswer { .. } => None,
        }
    }
}

/// How an outcome is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The input to the entry's state machine.
    pub input: OutboxInput,
    /// What stood in the way, as a problem document.
    pub problem: Option<String>,
    /// The settlement as the gateway returned it, with its version.
    pub settlement: Option<(String, u32)>,
    /// The settlement has reached a final state.
    pub at_end: bool,
}

/// The members of a settlement that are read.
#[derive(Deserialize)]
struct Shown {
    reference: String,
    version: u32,
    status: String,
    amount_minor: String,
    currency: String,
    to: String,
    description: Option<String>,
    #[serde(default)]
    metadata: BTreeMap<String, String>,
}

impl Shown {
    /// Whether this is what the create call with this body asked for.
    fn is_of(&self, body: &str) -> bool {
        // Whether it has expired does not matter here.
        parse_create(body.as_bytes(), &AnyCurrency, i64::MIN).is_ok_and(|wanted| {
            self.amount_minor == wanted.money.minor().to_string()
                && self.currency == wanted.money.currency().code()
                && self.to == wanted.to.as_str()
                && self.description.as_deref() == wanted.description.as_deref()
                && self.metadata == *wanted.metadata
        })
    }
}

/// Whether the response is the settlement that the create call with this reference and body asks for.
pub fn shows(reference: &str, body: &str, answer: &[u8]) -> bool {
    // As text: a phone has this parser already, for what it stored.
    let shown = std::str::from_utf8(answer).ok().and_then(|answer| serde_json::from_str::<Shown>(answer).ok());
    shown.is_some_and(|shown| shown.reference == reference && shown.is_of(body))
}

#[derive(Deserialize)]
struct Told {
    code: String,
}

/// Judges the outcome of a try for the entry with this reference and body.
pub fn judge(kind: TryKind, reference: &str, body: &str, heard: &Heard<'_>) -> Verdict {
    match *heard {
        Heard::NotSent { problem } => without(OutboxInput::NotSent, problem.to_owned()),
        Heard::NoAnswer { problem } => without(OutboxInput::NoAnswer, problem.to_owned()),
        Heard::Response { status: 200 | 201, body: answer, .. } => taken(kind, reference, body, answer),
        Heard::Response { status, body: answer, .. } => refused(kind, status, answer),
    }
}

fn without(input: OutboxInput, problem: String) -> Verdict {
    Verdict { input, problem: Some(problem), settlement: None, at_end: false }
}

fn unreadable(status: u16) -> Verdict {
    let problem = format!(r#"{{"code":"answer_unreadable","status":{status},"detail":"the answer is not one of a gateway to this call"}}"#);
    without(OutboxInput::NoAnswer, problem)
}

fn taken(kind: TryKind, reference: &str, body: &str, answer: &[u8]) -> Verdict {
    let text = std::str::from_utf8(answer).ok();
    let shown = text.and_then(|text| serde_json::from_str::<Shown>(text).ok()).filter(|shown| shown.reference == reference);
    match (text, shown) {
        (Some(_), Some(shown)) if !shown.is_of(body) => match kind {
            // The response to somebody else's call.
            TryKind::Create => unreadable(200),
            TryKind::Ask | TryKind::Follow => {
                let problem =
                    r#"{"code":"reference_conflict","detail":"the reference was used for a different request","retryable":false}"#;
                without(OutboxInput::Foreign, problem.to_owned())
            }
        },
        (Some(text), Some(shown)) => Verdict {
            input: OutboxInput::Taken,
            problem: None,
            settlement: Some((text.to_owned(), shown.version)),
            at_end: SettlementStatus::from_name(&shown.status).is_some_and(SettlementStatus::is_final),
        },
        _ => unreadable(200),
    }
}

fn refused(kind: TryKind, status: u16, body: &[u8]) -> Verdict {
    let told = std::str::from_utf8(body).ok().and_then(|text| Some((text, serde_json::from_str::<Told>(text).ok()?.code)));
    let Some((problem, code)) = told else { return unreadable(status) };
    let input = match (kind, known(&code, status)) {
        (TryKind::Ask, Some(ErrorCode::SettlementNotFound)) => OutboxInput::Absent,
        (_, Some(code)) => of_create(code),
        // A code of a newer gateway: its class tells whether the request was judged. Any other class proves nothing.
        (TryKind::Create, None) if status == 422 => OutboxInput::Refused,
        (_, None) => OutboxInput::NoAnswer,
    };
    without(input, problem.to_owned())
}

/// What a problem document proves as the response to a create call.
fn of_create(code: ErrorCode) -> OutboxInput {
    match Proof::of(code) {
        // Every further try would send the same request.
        Proof::Judged => OutboxInput::Refused,
        Proof::Foreign => OutboxInput::Foreign,
        Proof::PutOff => OutboxInput::PutOff,
        Proof::Open | Proof::Other => OutboxInput::NoAnswer,
    }
}
