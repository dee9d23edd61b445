//! The bodies of operators' calls.
//!
//! ```
//! use railgate::store::record::OperatorRole;
//! use railgate::validate::operator::parse_operator_invitation;
//!
//! # fn main() -> Result<(), railgate::Error> {
//! let request = parse_operator_invitation(br#"{"name": "Ada", "role": "approver", "reason": "new in the team"}"#)?;
//! assert_eq!((request.name.as_str(), request.role), ("Ada", OperatorRole::Approver));
//! assert!(parse_operator_invitation(br#"{"name": "Ada", "role": "owner"}"#).is_err());
//! # Ok(())
//! # }
//! ```

use crate::api::{
    ApproveClientBody, CommentBody, MoveMoneyBody, OperatorEnrollBody, OperatorInviteBody, ReasonBody, ResolveReviewBody, RoleBody,
    SetFeesBody, SetFloorBody, SetLimitsBody, SetSessionSignaturesBody,
};
use crate::auth::{KeyId, PublicKey, read_jwk};
use crate::error::{Error, excerpt};
use crate::ledger::Mode;
use crate::lifecycle::Resolution;
use crate::money::{Amount, Currency, Money};
use crate::participant::Reference;
use crate::route::FeeRule;
use crate::store::record::OperatorRole;
use crate::terms::{LimitsEdit, SessionUse};

use super::access::{mode, printable, printable_up_to};
use super::json::{FieldProblems, Object, Value};
use super::provider::{fee, integer, list_or_none, minor};
use super::simulator::one_of;
use super::terms::session_use;
use super::{COUNT_MAX, EVIDENCE_MAX_CHARS, amount, currency, reference};

/// Longer than any code of an invitation.
const CODE_MAX: usize = 64;

/// A valid request of an operator to enrol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorEnrollment {
    /// The code of the invitation.
    pub code: String,
    /// The operator's key.
    pub key: PublicKey,
    /// The operator's name; `None` for that of the invitation.
    pub name: Option<String>,
}

/// Parses `{"code", "jwk", "name"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_operator_enrollment(body: &[u8]) -> Result<OperatorEnrollment, Error> {
    let mut body = Object::parse(body, &OperatorEnrollBody::FIELDS)?;
    let code = body.required("code", |value| {
        let text = value.text()?;
        let known = text.len() <= CODE_MAX && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if known {
            Ok(text.into_owned())
        } else {
            Err(FieldProblems::one("invitation_malformed", "must be a code as `railgate operators invite` prints it: opi_…"))
        }
    });
    let key = body.required("jwk", read_jwk);
    let name = body.optional("name", name);
    body.finish(|| Some(OperatorEnrollment { code: code?, key: key?, name: name? }))
}

/// A valid invitation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorInvitation {
    /// The name of the operator.
    pub name: String,
    /// What they may do.
    pub role: OperatorRole,
    /// Why they are invited.
    pub reason: String,
}

/// Parses `{"name", "role", "reason"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_operator_invitation(body: &[u8]) -> Result<OperatorInvitation, Error> {
    let mut body = Object::parse(body, &OperatorInviteBody::FIELDS)?;
    let name = body.required("name", name);
    let role = body.required("role", role);
    let reason = body.required("reason", said);
    body.finish(|| Some(OperatorInvitation { name: name?, role: role?, reason: reason? }))
}

/// Parses `{"role", "reason"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_role(body: &[u8]) -> Result<(OperatorRole, String), Error> {
    let mut body = Object::parse(body, &RoleBody::FIELDS)?;
    let role = body.required("role", role);
    let reason = body.required("reason", said);
    body.finish(|| Some((role?, reason?)))
}

/// Parses `{"reason"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_reason(body: &[u8]) -> Result<String, Error> {
    let mut body = Object::parse(body, &ReasonBody::FIELDS)?;
    let reason = body.required("reason", said);
    body.finish(|| reason)
}

/// Parses `{"comment"?}`; an empty body has none.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_comment(body: &[u8]) -> Result<Option<String>, Error> {
    if body.is_empty() {
        return Ok(None);
    }
    let mut body = Object::parse(body, &CommentBody::FIELDS)?;
    let comment = body.optional("comment", said);
    body.finish(|| comment)
}

/// Parses `{"reason", "key"?}`: which key to approve, if not all that wait, and why.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_approval(body: &[u8]) -> Result<(Option<KeyId>, String), Error> {
    let mut body = Object::parse(body, &ApproveClientBody::FIELDS)?;
    let reason = body.required("reason", said);
    let key = body.optional("key", |value| {
        KeyId::parse(&value.text()?).ok_or_else(|| FieldProblems::one("key_malformed", "must be the RFC 7638 thumbprint of a key"))
    });
    body.finish(|| Some((key?, reason?)))
}

/// A valid movement of real money, or change of credit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveRequest {
    /// How much; the credit, zero or more.
    pub money: Money,
    /// The operator's reference.
    pub reference: Reference,
    /// What proves it.
    pub evidence: String,
    /// Why it is made.
    pub reason: Option<String>,
}

/// Parses `{"currency", "amount", "reference", "evidence", "reason"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_movement(body: &[u8]) -> Result<MoveRequest, Error> {
    let mut body = Object::parse(body, &MoveMoneyBody::FIELDS)?;
    let currency = body.required("currency", currency);
    let money = body.required("amount", |value| in_currency(amount(value)?, currency));
    movement(body, money)
}

/// Parses `{"mode", "currency", "reason", "min"?, "max"?, "daily_value"?, "daily_count"?}`, where `null` lifts a limit. Returns the change
/// and why it is made.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_limits(body: &[u8]) -> Result<(LimitsEdit, String), Error> {
    let mut body = Object::parse(body, &SetLimitsBody::FIELDS)?;
    let mode = body.required("mode", mode);
    let currency = body.required("currency", currency);
    let reason = body.required("reason", said);
    let mut bound = |name| body.patch(name, |value| value.map(|value| minor(value, currency)).transpose());
    let (min, max, daily_value) = (bound("min"), bound("max"), bound("daily_value"));
    let daily_count = body.patch("daily_count", |value| value.map(|value| integer(value, COUNT_MAX.into())).transpose());
    body.finish(|| {
        let daily_count = daily_count?.map(|count| count.and_then(|count| i64::try_from(count).ok()));
        let limits = LimitsEdit { mode: mode?, currency: currency?, min: min?, max: max?, daily_value: daily_value?, daily_count };
        Some((limits, reason?))
    })
}

/// Parses `{"fees", "reason"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_fees(body: &[u8]) -> Result<(Vec<FeeRule>, String), Error> {
    let mut body = Object::parse(body, &SetFeesBody::FIELDS)?;
    let fees = body.required("fees", |value| list_or_none(value, fee));
    let reason = body.required("reason", said);
    body.finish(|| Some((fees?, reason?)))
}

/// Parses `{"mode", "session_signatures", "reason"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_session_signatures(body: &[u8]) -> Result<(Mode, SessionUse, String), Error> {
    let mut body = Object::parse(body, &SetSessionSignaturesBody::FIELDS)?;
    let mode = body.required("mode", mode);
    let signs = body.required("session_signatures", session_use);
    let reason = body.required("reason", said);
    body.finish(|| Some((mode?, signs?, reason?)))
}

/// Parses `{"currency", "amount", "reference", "evidence", "reason"?}`, with a floor of zero or less. Returns the credit, zero or more.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_floor(body: &[u8]) -> Result<MoveRequest, Error> {
    let mut body = Object::parse(body, &SetFloorBody::FIELDS)?;
    let currency = body.required("currency", currency);
    let credit = body.required("amount", |value| {
        let text = value.number()?;
        let credit = text.strip_prefix('-').unwrap_or(&text);
        match Amount::parse_or_zero(credit)? {
            None => Ok(currency.map(|currency| Money::from_minor(0, currency))),
            Some(_) if credit.len() == text.len() => {
                let said = format!("must be zero or less: -{} lets the balance fall that far below zero", excerpt(credit));
                Err(FieldProblems::one("out_of_range", said))
            }
            Some(credit) => in_currency(credit, currency),
        }
    });
    movement(body, credit)
}

/// Reads the rest of a movement whose amount was read.
fn movement<const N: usize>(mut body: Object<'_, N>, money: Option<Option<Money>>) -> Result<MoveRequest, Error> {
    let reference = body.required("reference", reference);
    let evidence = body.required("evidence", said);
    let reason = body.optional("reason", said);
    body.finish(|| Some(MoveRequest { money: money??, reference: reference?, evidence: evidence?, reason: reason? }))
}

/// A valid decision about something that needs review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveRequest {
    /// The decision.
    pub resolution: Resolution,
    /// What proves it.
    pub evidence: String,
    /// Why it is made.
    pub reason: Option<String>,
    /// The version of the settlement that the operator has seen.
    pub version: Option<u32>,
}

/// Parses `{"resolution", "evidence", "reason"?, "version"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_resolution(body: &[u8]) -> Result<ResolveRequest, Error> {
    let mut body = Object::parse(body, &ResolveReviewBody::FIELDS)?;
    let names = || Resolution::ALL.iter().map(|it| it.as_str());
    let resolution = body.required("resolution", |value| Ok(Resolution::ALL[one_of(value, &mut names())?]));
    let evidence = body.required("evidence", said);
    let reason = body.optional("reason", said);
    let version = body.optional("version", |value| integer(value, COUNT_MAX.into()));
    body.finish(|| {
        let version = version?.and_then(|version| u32::try_from(version).ok());
        Some(ResolveRequest { resolution: resolution?, evidence: evidence?, reason: reason?, version })
    })
}

/// Takes the member `reason`, which is required, out of an object that is checked elsewhere: returns it, and the rest.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn split_reason(body: &[u8]) -> Result<(String, String), Error> {
    without(body, "reason", |value| said(value.ok_or_else(|| FieldProblems::one("required", "is required"))?))
}

/// What stands for a secret where its name is shown.
const HIDDEN: &str = "hidden";

/// The object with `hidden` in place of each value in its member `secrets`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn with_secrets_hidden(body: &[u8]) -> Result<String, Error> {
    let hidden = |secrets: Value<'_>| {
        let names = secrets.members()?.into_iter().map(|(name, _)| (name.into_owned(), HIDDEN.into()));
        Ok(serde_json::Value::Object(names.collect()).to_string())
    };
    let (hidden, mut rest) = without(body, "secrets", |secrets| secrets.map(hidden).transpose())?;
    if let Some(hidden) = hidden {
        rest.pop();
        rest.push_str(&format!("{}\"secrets\":{hidden}}}", if rest.len() > 1 { "," } else { "" }));
    }
    Ok(rest)
}

fn without<T>(body: &[u8], name: &str, read: impl FnOnce(Option<Value<'_>>) -> Result<T, FieldProblems>) -> Result<(T, String), Error> {
    let text = std::str::from_utf8(body).map_err(|_| Error::new(crate::ErrorCode::MalformedJson))?;
    let (mut problems, mut found, mut rest) = (FieldProblems::default(), None, String::from("{"));
    for (member, value) in Value::parse(text)?.members()? {
        if member == name {
            found = Some(value);
        } else {
            let separator = if rest.len() > 1 { "," } else { "" };
            let member = serde_json::to_string(&member).map_err(Error::internal)?;
            rest.push_str(&format!("{separator}{member}:{}", value.raw()));
        }
    }
    rest.push('}');
    let read = problems.note(name, read(found.filter(|value| value.raw() != "null")));
    let read = problems.into_result(read)?;
    Ok((read.ok_or_else(|| Error::internal("a field was refused and no problem noted"))?, rest))
}

fn in_currency(amount: Amount, currency: Option<Currency>) -> Result<Option<Money>, FieldProblems> {
    Ok(currency.map(|currency| amount.to_money(currency)).transpose()?)
}

fn name(value: Value<'_>) -> Result<String, FieldProblems> {
    printable(&value.text()?).map_err(|said| FieldProblems::one("name_malformed", said))
}

fn role(value: Value<'_>) -> Result<OperatorRole, FieldProblems> {
    Ok(OperatorRole::ALL[one_of(value, &mut OperatorRole::ALL.iter().map(|role| role.as_str()))?])
}

/// A reason, a comment, or evidence.
pub(super) fn said(value: Value<'_>) -> Result<String, FieldProblems> {
    let said = || FieldProblems::one("text_malformed", format!("must have 1 to {EVIDENCE_MAX_CHARS} printable characters"));
    printable_up_to(&value.text()?, EVIDENCE_MAX_CHARS).ok_or_else(said)
}
