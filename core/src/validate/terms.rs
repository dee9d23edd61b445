//! Parses what is agreed with a client, as an operator writes it.
//!
//! ```
//! use railgate::validate::terms::parse_terms;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB";
//! let body = format!(r#"{{"client": "{client}", "credit": {{"EUR": "2500"}}, "reversal_days": 30}}"#);
//! let request = parse_terms(body.as_bytes())?;
//! assert_eq!((request.terms.credit[0].minor(), request.terms.reversal_days), (2500_00, Some(30)));
//!
//! let body = format!(r#"{{"client": "{client}", "limits": [{{"mode": "live", "currency": "EUR", "daily_value": "0.001"}}]}}"#);
//! let fields = parse_terms(body.as_bytes()).unwrap_err().into_fields();
//! assert_eq!((&*fields[0].pointer, &*fields[0].code), ("/limits/0/daily_value", "amount_scale"));
//! # Ok(())
//! # }
//! ```
//!
//! Whether the client exists is not checked here.

use std::collections::BTreeMap;

use super::access::mode;
use super::json::{FieldProblems, Object, Value};
use super::provider::{MANY, fee, integer, list_or_none, minor, require_order};
use super::{COUNT_MAX, amount, currency};
use crate::api::{ClientLimitBody, TermsBody};
use crate::error::Error;
use crate::ids::Ulid;
use crate::ledger::Mode;
use crate::money::{Currency, Money};
use crate::terms::{ClientLimits, SessionUse, Terms};

/// Longer than any payment can be reversed: a hundred years.
const MOST_DAYS: u64 = 36_500;

/// Valid terms of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TermsRequest {
    /// The ULID in `cli_…`.
    pub client: Ulid,
    /// The terms.
    pub terms: Terms,
}

/// Parses the terms of a client.
///
/// # Errors
/// [`crate::ErrorCode::MalformedJson`], or [`crate::ErrorCode::InvalidFields`] with all problems.
pub fn parse_terms(body: &[u8]) -> Result<TermsRequest, Error> {
    let mut body = Object::parse(body, &TermsBody::FIELDS)?;
    let client = body.required("client", client);
    let limits = body.optional("limits", limits);
    let credit = body.optional("credit", credit);
    let fees = body.optional("fees", |value| list_or_none(value, fee));
    let reversal_days = body.optional("reversal_days", |value| integer(value, MOST_DAYS));
    let session_signatures = body.optional("session_signatures", session_signatures);
    body.finish(|| {
        let terms = Terms {
            limits: limits?.unwrap_or_default(),
            credit: credit?.unwrap_or_default(),
            fees: fees?.unwrap_or_default(),
            reversal_days: reversal_days?.and_then(|days| u32::try_from(days).ok()),
            session_signatures: session_signatures?.unwrap_or_default(),
        };
        Some(TermsRequest { client: client?, terms })
    })
}

fn client(value: Value<'_>) -> Result<Ulid, FieldProblems> {
    let text = value.text()?;
    let id = text.strip_prefix("cli_").and_then(Ulid::parse);
    id.ok_or_else(|| FieldProblems::one("client_malformed", "must be the id of a client: cli_ and 26 characters"))
}

fn limits(value: Value<'_>) -> Result<Vec<ClientLimits>, FieldProblems> {
    let limits = list_or_none(value, limit)?;
    let mut problems = FieldProblems::default();
    for (n, one) in limits.iter().enumerate() {
        if limits[..n].iter().any(|other| (other.mode, other.currency) == (one.mode, one.currency)) {
            problems.add(&n.to_string(), FieldProblems::one("duplicate_entry", "there is one for this mode and currency already"));
        }
    }
    problems.into_result(limits)
}

fn limit(value: Value<'_>) -> Result<ClientLimits, FieldProblems> {
    let mut body = value.object(&ClientLimitBody::FIELDS)?;
    let mode = body.required("mode", mode);
    let currency = body.required("currency", currency);
    let mut bound = |name| body.optional(name, |value| minor(value, currency));
    let (min, max, daily_value) = (bound("min"), bound("max"), bound("daily_value"));
    let daily_count = body.optional("daily_count", |value| integer(value, COUNT_MAX.into()));
    require_order(&mut body, min, max);
    Ok(body.finish(|| {
        let (min, max, daily_value) = (min?, max?, daily_value?);
        let daily_count = daily_count?.and_then(|count| i64::try_from(count).ok());
        Some(ClientLimits { mode: mode?, currency: currency?, min, max, daily_value, daily_count })
    })?)
}

fn credit(value: Value<'_>) -> Result<Vec<Money>, FieldProblems> {
    let mut problems = FieldProblems::default();
    let mut credit: Vec<Money> = Vec::new();
    for (code, granted) in value.members_within(MANY)? {
        let read = match Currency::from_code(&code) {
            Some(currency) if credit.iter().any(|known| known.currency() == currency) => {
                Err(FieldProblems::one("duplicate_field", "must not be given twice"))
            }
            Some(currency) => amount(granted).and_then(|amount| Ok(amount.to_money(currency)?)),
            None => Err(FieldProblems::one("currency_unknown", "must be an ISO 4217 currency code in upper case, such as EUR")),
        };
        credit.extend(problems.note(&code, read));
    }
    problems.into_result(credit)
}

fn session_signatures(value: Value<'_>) -> Result<BTreeMap<Mode, SessionUse>, FieldProblems> {
    let mut problems = FieldProblems::default();
    let mut uses = BTreeMap::new();
    for (name, value) in value.members_within(MANY)? {
        let mode = Mode::ALL.iter().copied().find(|mode| mode.as_str() == name);
        let read = match mode {
            Some(mode) if uses.contains_key(&mode) => Err(FieldProblems::one("duplicate_field", "must not be given twice")),
            Some(mode) => session_use(value).map(|it| (mode, it)),
            None => Err(FieldProblems::one("unknown_mode", "must be sandbox or live")),
        };
        uses.extend(problems.note(&name, read));
    }
    problems.into_result(uses)
}

pub(super) fn session_use(value: Value<'_>) -> Result<SessionUse, FieldProblems> {
    SessionUse::from_name(&value.text()?).ok_or_else(|| FieldProblems::one("unknown_session_use", "must be all, reads or off"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(more: &str) -> Vec<(String, String)> {
        let body = format!(r#"{{"client": "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB", {more}}}"#);
        let problems = parse_terms(body.as_bytes()).err().map(Error::into_fields).unwrap_or_default();
        problems.into_iter().map(|problem| (problem.pointer.to_string(), problem.code.to_string())).collect()
    }

    #[test]
    fn everything_that_is_wrong_is_named() {
        let one = |pointer: &str, code: &str| [(pointer.to_owned(), code.to_owned())];
        assert_eq!(refused(r#""limits": [], "credit": {}, "fees": [], "reversal_days": 0"#), []);
        let euro = r#"{"mode": "live", "currency": "EUR"}"#;
        assert_eq!(refused(&format!(r#""limits": [{euro}, {euro}]"#)), one("/limits/1", "duplicate_entry"));
        let bounds = r#"{"mode": "live", "currency": "EUR", "min": 2, "max": 1}"#;
        assert_eq!(refused(&format!(r#""limits": [{bounds}]"#)), one("/limits/0/max", "out_of_range"));
        assert_eq!(
            refused(r#""limits": [{"mode": "live", "currency": "EUR", "daily_count": -1}]"#),
            one("/limits/0/daily_count", "out_of_range")
        );
        assert_eq!(refused(r#""credit": {"EUR": "1", "XXQ": "1"}"#), one("/credit/XXQ", "currency_unknown"));
        assert_eq!(refused(r#""credit": {"JPY": "0.5"}"#), one("/credit/JPY", "amount_scale"));
        assert_eq!(refused(r#""reversal_days": 36501"#), one("/reversal_days", "out_of_range"));
    }
}
