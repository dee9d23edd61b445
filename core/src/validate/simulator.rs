//! The bodies of the simulator's calls.
//!
//! ```
//! use railgate::rail::FailureCode;
//! use railgate::rail::simulator::Outcome;
//! use railgate::validate::simulator::parse_advance;
//!
//! # fn main() -> Result<(), railgate::Error> {
//! let request = parse_advance(br#"{"to": "failed", "code": "account_closed"}"#)?;
//! assert_eq!((request.to, request.code), (Outcome::Failed, Some(FailureCode::AccountClosed)));
//! assert!(parse_advance(br#"{"to": "completed", "code": "account_closed"}"#).is_err());
//! # Ok(())
//! # }
//! ```

use crate::api::{AdvanceBody, ClockBody, FaultsBody, FaultsView, Rate};
pub use crate::clock::ClockRequest;
use crate::error::Error;
use crate::rail::FailureCode;
use crate::rail::simulator::Outcome;
use crate::time::Millis;

use super::json::{FieldProblems, Object, Value};

/// A validated [`AdvanceBody`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdvanceRequest {
    /// What becomes of the settlement.
    pub to: Outcome,
    /// Why it fails; only with [`Outcome::Failed`].
    pub code: Option<FailureCode>,
}

/// Parses `{"to", "code"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_advance(body: &[u8]) -> Result<AdvanceRequest, Error> {
    let mut body = Object::parse(body, &AdvanceBody::FIELDS)?;
    let to = body.required("to", |value| Ok(Outcome::ALL[one_of(value, &mut Outcome::ALL.iter().map(|to| to.as_str()))?]));
    let code = body.optional("code", |value| {
        let code = FailureCode::ALL[one_of(value, &mut FailureCode::ALL.iter().map(|code| code.as_str()))?];
        if to.is_some_and(|to| to != Outcome::Failed) {
            return Err(FieldProblems::one("not_applicable", "is only for failed"));
        }
        Ok(code)
    });
    body.finish(|| Some(AdvanceRequest { to: to?, code: code? }))
}

/// The longest latency.
const LATENCY_MAX_MS: u64 = 3_600_000;
/// The highest seed: JSON has no exact larger numbers everywhere.
const SEED_MAX: u64 = (1 << 53) - 1;

/// Parses `{"rate", "latency_ms", "drop_answer_rate", "seed"}`; what is left out is 0.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_faults(body: &[u8]) -> Result<FaultsView, Error> {
    let mut body = Object::parse(body, &FaultsBody::FIELDS)?;
    let rate = body.optional("rate", share);
    let latency_ms = body.optional("latency_ms", |value| whole(value, LATENCY_MAX_MS));
    let drop_answer_rate = body.optional("drop_answer_rate", share);
    let seed = body.optional("seed", |value| whole(value, SEED_MAX));
    body.finish(|| {
        Some(FaultsView {
            rate: rate?.unwrap_or_default(),
            latency_ms: latency_ms?.unwrap_or_default(),
            drop_answer_rate: drop_answer_rate?.unwrap_or_default(),
            seed: seed?.unwrap_or_default(),
        })
    })
}

/// The farthest that a clock is moved at once, a year and a day; a longer time takes several requests.
const FARTHEST_MS: Millis = 366 * 86_400_000;

/// Parses `{"frozen", "advance_ms"}`, both optional.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_clock(body: &[u8]) -> Result<ClockRequest, Error> {
    let mut body = Object::parse(body, &ClockBody::FIELDS)?;
    let frozen = body.optional("frozen", Value::boolean);
    let advance_ms = body.optional("advance_ms", span);
    body.finish(|| Some(ClockRequest { frozen: frozen?, advance_ms: advance_ms?.unwrap_or_default() }))
}

fn span(value: Value<'_>) -> Result<Millis, FieldProblems> {
    let within = value.number()?.parse().ok().filter(|ms| (0..=FARTHEST_MS).contains(ms));
    within.ok_or_else(|| FieldProblems::one("out_of_range", format!("must be a whole number of milliseconds from 0 to {FARTHEST_MS}")))
}

fn share(value: Value<'_>) -> Result<Rate, FieldProblems> {
    let read = Rate::parse(&value.number()?);
    read.ok_or_else(|| FieldProblems::one("out_of_range", "must be a number from 0 to 1 with at most 6 decimals"))
}

fn whole(value: Value<'_>, max: u64) -> Result<u64, FieldProblems> {
    let read = value.number()?.parse().ok().filter(|number| *number <= max);
    read.ok_or_else(|| FieldProblems::one("out_of_range", format!("must be a whole number from 0 to {max}")))
}

/// The position of a wire name among all. Not generic, because a page loads this.
pub(super) fn one_of(value: Value<'_>, all: &mut dyn Iterator<Item = &'static str>) -> Result<usize, FieldProblems> {
    let text = value.text()?;
    let mut known = String::new();
    for (at, name) in all.enumerate() {
        if name == text {
            return Ok(at);
        }
        known.push_str(if at == 0 { "must be one of " } else { ", " });
        known.push_str(name);
    }
    Err(FieldProblems::one("unknown_value", known))
}
