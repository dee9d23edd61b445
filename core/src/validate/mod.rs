//! Parses the bodies of commands once, at the edge, into types that are always valid.
//!
//! ```
//! use railgate::validate::{AnyCurrency, parse_create};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let now = 1_795_257_497_042;
//! let body = br#"{"amount": 10.50, "currency": "EUR", "to": "sim:ok", "reference": "inv-1"}"#;
//! let request = parse_create(body, &AnyCurrency, now)?;
//! assert_eq!(request.money.minor(), 1050);
//!
//! // A refusal names every problem, with a pointer to each.
//! let body = br#"{"amount": 1e3, "currency": "EUR", "to": "sim", "reference": "inv 1", "colour": "red"}"#;
//! let refused = parse_create(body, &AnyCurrency, now).unwrap_err();
//! let found: Vec<_> = refused.fields.iter().map(|problem| (&*problem.pointer, &*problem.code)).collect();
//! assert_eq!(
//!     found,
//!     [
//!         ("/amount", "amount_exponent"),
//!         ("/to", "participant_malformed"),
//!         ("/reference", "reference_malformed"),
//!         ("/colour", "unknown_field"),
//!     ]
//! );
//! # Ok(())
//! # }
//! ```
//!
//! The rules are those of the HTTP interface. Every host parses its requests here, so a phone and the server reject
//! the same requests with the same codes and pointers. Rules that depend on state (balances, limits, whether the
//! reference is taken) are not checked here.

pub mod access;
#[cfg(feature = "bundles")]
pub mod bundle;
pub(crate) mod json;
pub mod messages;
pub mod mobile;
pub(crate) mod nearest;
#[cfg(feature = "push")]
pub mod notification;
pub mod operator;
pub mod provider;
pub mod quality;
pub mod simulator;
mod slip;
pub mod terms;
pub mod webhook;

use crate::api::{CreateBatchBody, CreateBody, FundBody, ReverseBody};
use crate::error::{Error, PROBLEMS_MAX, Params};
use crate::ledger::Mode;
use crate::lifecycle::stored_enum;
use crate::money::{Amount, AmountError, Currency, Money};
use crate::participant::{Namespace, Participant, ParticipantError, Reference, ReferenceError};
use crate::rail::simulator::{UnknownScenario, check_scenario};
use crate::route::{FeeRule, Payment};
use crate::time::{Millis, parse_rfc3339, rfc3339};
use crate::traceparent::TraceParent;
use json::{FieldProblems, Object, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

const DESCRIPTION_MAX_CHARS: usize = 140;
const METADATA_MAX_PAIRS: usize = 50;
const METADATA_KEY_MAX_CHARS: usize = 40;
const METADATA_VALUE_MAX_CHARS: usize = 500;
const QUOTE_ID_MAX_CHARS: usize = 256;
const PROVIDER_MAX_CHARS: usize = 64;
const EVIDENCE_MAX_CHARS: usize = 500;
const BATCH_MAX: usize = 1000;
/// The largest count, number of an event, step or version in a call, as the document's `int32` says.
pub const COUNT_MAX: u32 = 0x7fff_ffff;

/// The part of the gateway's offer that validation needs.
pub trait Offer {
    /// Whether any route supports this currency, for payees of this kind if the payee is valid.
    fn currency(&self, currency: Currency, to: Option<Namespace>) -> bool;
}

/// Offers every currency.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnyCurrency;

impl Offer for AnyCurrency {
    fn currency(&self, _: Currency, _: Option<Namespace>) -> bool {
        true
    }
}

/// A valid request to create a settlement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateRequest {
    /// The amount, above zero, in a supported currency.
    pub money: Money,
    /// The payee.
    pub to: Participant,
    /// The client's reference, which is also the idempotency key.
    pub reference: Reference,
    /// The requested mode; `None` for the credential's mode.
    pub sandbox: Option<bool>,
    /// A description for people, at most 140 characters; may contain line feeds and tabs.
    pub description: Option<SmolStr>,
    /// The client's own key-value pairs, at most 50; keys of 1 to 40 characters, values of at most 500.
    pub metadata: Arc<BTreeMap<String, String>>,
    /// The provider to use, `[a-z0-9._-]{1,64}`. Whether it exists is not checked here.
    pub provider: Option<String>,
    /// The id of the quote that fixes the fee, 1 to 256 characters. Its content is not checked here.
    pub quote_id: Option<String>,
    /// When it is cancelled if it was not dispatched; later than the `now` of parsing.
    pub expires_at: Option<Millis>,
    /// The client's end user who pays, 1 to 64 printable ASCII characters. Whether there is one is not checked here.
    pub user: Option<String>,
    /// The place in a distributed trace that its settlement keeps. It is no part of the body, and a repeat may have another one.
    pub traceparent: Option<TraceParent>,
}

impl CreateRequest {
    /// A request with the required fields only.
    pub fn new(money: Money, to: Participant, reference: Reference) -> Self {
        Self {
            money,
            to,
            reference,
            sandbox: None,
            description: None,
            metadata: Arc::default(),
            provider: None,
            quote_id: None,
            expires_at: None,
            user: None,
            traceparent: None,
        }
    }

    /// What its route depends on.
    pub(crate) fn payment<'a>(&'a self, mode: Mode, agreed: &'a [FeeRule]) -> Payment<'a> {
        Payment { mode, to: &self.to, money: self.money, pinned: self.provider.as_deref(), seed: self.reference.as_str(), agreed }
    }
}

/// A valid request to reverse a settlement; all fields are optional.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReverseRequest {
    /// The amount, in the settlement's currency, which the body does not name; `None` for the whole remainder.
    pub amount: Option<Amount>,
    /// The reason.
    pub reason: Option<ReversalReason>,
    /// The client's reference for the reversal.
    pub reference: Option<Reference>,
    /// A description for people, at most 140 characters; may contain line feeds and tabs.
    pub description: Option<String>,
}

stored_enum! {
    /// Why a client reverses a settlement.
    pub enum ReversalReason {
        /// It was sent twice.
        Duplicate = 1 "duplicate",
        /// The amount was wrong.
        IncorrectAmount = 2 "incorrect_amount",
        /// The participant was wrong.
        IncorrectRecipient = 3 "incorrect_recipient",
        /// The client did not authorise it.
        Fraud = 4 "fraud",
        /// The client's customer asked for it.
        CustomerRequest = 5 "customer_request",
        /// Any other reason.
        Other = 6 "other",
    }
}

/// Parses the body of a create or of a pre-flight check.
///
/// # Errors
/// [`ErrorCode::MalformedJson`](crate::error::ErrorCode::MalformedJson), or
/// [`ErrorCode::InvalidFields`](crate::error::ErrorCode::InvalidFields) with all problems, in the order of the fields.
pub fn parse_create(body: &[u8], offer: &dyn Offer, now: Millis) -> Result<CreateRequest, Error> {
    let mut body = Object::parse(body, &CreateBody::FIELDS)?;
    // The currency comes first because the amount depends on it; problems are reported in the table's order anyway.
    let currency = body.required("currency", currency);
    let to = body.required("to", participant);
    let namespace = to.as_ref().map(Participant::namespace);
    let offered = currency.and_then(|it| body.required("currency", |_| offered(it, namespace, offer)));
    let money = body.required("amount", |value| {
        let amount = amount(value)?;
        Ok(currency.map(|currency| amount.to_money(currency)).transpose()?)
    });
    let reference = body.required("reference", reference);
    let sandbox = body.optional("sandbox", Value::boolean);
    let description = body.optional("description", description);
    let metadata = body.optional("metadata", metadata);
    let provider = body.optional("provider", provider);
    let quote_id = body.optional("quote_id", |value| sized(value.text()?, 1, QUOTE_ID_MAX_CHARS));
    let expires_at = body.optional("expires_at", |value| future(value, now));
    let user = body.optional("user", mobile::user);
    body.finish(|| {
        offered?;
        Some(CreateRequest {
            money: money??,
            to: to?,
            reference: reference?,
            sandbox: sandbox?,
            description: description?,
            metadata: metadata?.unwrap_or_default(),
            provider: provider?,
            quote_id: quote_id?,
            expires_at: expires_at?,
            user: user?,
            traceparent: None,
        })
    })
}

/// Parses the body of a reversal. An empty body asks for the whole remainder, without a reason.
///
/// # Errors
/// See [`parse_create`]. Whether the amount fits the settlement and its currency is checked later.
pub fn parse_reverse(body: &[u8]) -> Result<ReverseRequest, Error> {
    if body.is_empty() {
        return Ok(ReverseRequest::default());
    }
    let mut body = Object::parse(body, &ReverseBody::FIELDS)?;
    let amount = body.optional("amount", amount);
    let reason = body.optional("reason", reason);
    let reference = body.optional("reference", reference);
    let description = body.optional("description", description);
    body.finish(|| {
        Some(ReverseRequest { amount: amount?, reason: reason?, reference: reference?, description: description?.map(String::from) })
    })
}

/// Parses `{"currency", "amount"}`, an amount of play money.
///
/// # Errors
/// See [`parse_create`].
pub fn parse_money(body: &[u8]) -> Result<Money, Error> {
    let mut body = Object::parse(body, &FundBody::FIELDS)?;
    let currency = body.required("currency", currency);
    let money = body.required("amount", |value| {
        let amount = amount(value)?;
        Ok(currency.map(|currency| amount.to_money(currency)).transpose()?)
    });
    body.finish(|| money?)
}

/// Parses `{"settlements": [...]}` with 1 to 1000 create bodies, each as if it were sent alone: the pointers of its problems are
/// relative to the element, and a faulty element does not affect the others. All elements together list at most
/// [`PROBLEMS_MAX`] problems; after that, an element only says how many it has.
///
/// # Errors
/// See [`parse_create`] for the batch itself; `too_few` or `too_many` at `/settlements`.
pub fn parse_batch(body: &[u8], offer: &dyn Offer, now: Millis) -> Result<Vec<Result<CreateRequest, Error>>, Error> {
    let mut body = Object::parse(body, &CreateBatchBody::FIELDS)?;
    let elements = body.required("settlements", |value| value.elements(BATCH_MAX));
    let elements = body.finish(|| elements)?;
    let mut budget = PROBLEMS_MAX;
    let parsed = elements.into_iter().map(|element| {
        parse_create(element.raw().as_bytes(), offer, now).map_err(|mut error| {
            error.list_within(&mut budget);
            error
        })
    });
    Ok(parsed.collect())
}

fn currency(value: Value<'_>) -> Result<Currency, FieldProblems> {
    Currency::from_code(&value.text()?)
        .ok_or_else(|| FieldProblems::one("currency_unknown", "must be an ISO 4217 currency code in upper case, such as EUR"))
}

fn offered(currency: Currency, to: Option<Namespace>, offer: &dyn Offer) -> Result<(), FieldProblems> {
    if offer.currency(currency, to) {
        return Ok(());
    }
    let message = format!("{currency} is not supported; the list of providers shows which are");
    Err(FieldProblems::with("currency_unsupported", message, Params::one("currency", currency.code().to_owned())))
}

fn participant(value: Value<'_>) -> Result<Participant, FieldProblems> {
    let to = Participant::parse(&value.text()?)?;
    check_scenario(&to)?;
    Ok(to)
}

fn amount(value: Value<'_>) -> Result<Amount, FieldProblems> {
    let text = value.number()?;
    Amount::parse(&text).map_err(|error| slip::of(error, &text))
}

fn reference(value: Value<'_>) -> Result<Reference, FieldProblems> {
    Ok(Reference::parse(&value.text()?)?)
}

fn reason(value: Value<'_>) -> Result<ReversalReason, FieldProblems> {
    ReversalReason::from_name(&value.text()?).ok_or_else(|| {
        let known: Vec<_> = ReversalReason::ALL.iter().map(|reason| reason.as_str()).collect();
        FieldProblems::one("reason_unknown", format!("must be one of {}", known.join(", ")))
    })
}

fn description(value: Value<'_>) -> Result<SmolStr, FieldProblems> {
    let text = value.lines()?;
    check_size(&text, 0, DESCRIPTION_MAX_CHARS, "must have")?;
    Ok(text.into())
}

fn provider(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    let fits =
        (1..=PROVIDER_MAX_CHARS).contains(&text.len()) && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'));
    if fits {
        return Ok(text.into_owned());
    }
    Err(FieldProblems::one("provider_malformed", "must be a provider's id: 1 to 64 of a-z, 0-9, '.', '_', '-'"))
}

fn time(value: Value<'_>) -> Result<Millis, FieldProblems> {
    parse_rfc3339(&value.text()?)
        .ok_or_else(|| FieldProblems::one("time_malformed", "must be an RFC 3339 time with its offset, such as 2030-01-31T12:00:00Z"))
}

fn future(value: Value<'_>, now: Millis) -> Result<Millis, FieldProblems> {
    let at = time(value)?;
    if at > now {
        return Ok(at);
    }
    Err(FieldProblems::one("expires_in_past", format!("must be in the future; it is {} now", rfc3339(now))))
}

fn metadata(value: Value<'_>) -> Result<Arc<BTreeMap<String, String>>, FieldProblems> {
    pairs(value, METADATA_VALUE_MAX_CHARS, Value::text).map(Arc::new)
}

/// Key-value pairs, with values of at most `max` characters.
fn pairs<'a>(
    value: Value<'a>,
    max: usize,
    read: fn(Value<'a>) -> Result<Cow<'a, str>, FieldProblems>,
) -> Result<BTreeMap<String, String>, FieldProblems> {
    let members = value.members_within(METADATA_MAX_PAIRS)?;
    let mut problems = FieldProblems::default();
    if members.len() > METADATA_MAX_PAIRS {
        let most = METADATA_MAX_PAIRS.to_string();
        problems = FieldProblems::with("too_many", format!("must have at most {most} pairs"), Params::one("max", most));
    }
    let mut pairs = BTreeMap::new();
    for (key, value) in members {
        problems.note(&key, metadata_key(&key));
        let text = problems.note(&key, read(value).and_then(|text| sized(text, 0, max)));
        if pairs.contains_key(key.as_ref()) {
            problems.add(&key, FieldProblems::one("duplicate_field", "must not be given twice"));
        }
        pairs.insert(key.into_owned(), text.unwrap_or_default());
    }
    problems.into_result(pairs)
}

fn metadata_key(key: &str) -> Result<(), FieldProblems> {
    if key.contains(char::is_control) {
        return Err(FieldProblems::one("invalid_characters", "the key must not contain control characters"));
    }
    check_size(key, 1, METADATA_KEY_MAX_CHARS, "the key must have")
}

/// What proves an operator's decision: 1 to 500 printable characters, trimmed.
///
/// # Errors
/// `invalid_fields` at `/evidence`.
pub fn evidence(text: &str) -> Result<String, Error> {
    let said = || Error::field("/evidence", "evidence_malformed", "must have 1 to 500 printable characters");
    access::printable_up_to(text, EVIDENCE_MAX_CHARS).ok_or_else(said)
}

/// Returns `text` if it has `min..=max` characters.
fn sized(text: Cow<'_, str>, min: usize, max: usize) -> Result<String, FieldProblems> {
    check_size(&text, min, max, "must have")?;
    Ok(text.into_owned())
}

fn check_size(text: &str, min: usize, max: usize, subject: &str) -> Result<(), FieldProblems> {
    if text.len() < min {
        return Err(FieldProblems::with("too_short", format!("{subject} at least {min} character"), Params::one("min", format!("{min}"))));
    }
    // A text never has more characters than bytes, so a short one need not be counted.
    if text.len() > max && text.chars().count() > max {
        return Err(FieldProblems::with("too_long", format!("{subject} at most {max} characters"), Params::one("max", format!("{max}"))));
    }
    Ok(())
}

/// Lets `?` convert a value's own error into the problem of its field.
macro_rules! problem_from {
    ($($error:ty),*) => {$(
        impl From<$error> for FieldProblems {
            fn from(error: $error) -> Self {
                FieldProblems::with(error.code(), error.to_string(), error.params())
            }
        }
    )*};
}

problem_from!(AmountError, ParticipantError, ReferenceError, UnknownScenario);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorCode;
    use proptest::prelude::*;

    const NOW: Millis = 1_795_257_497_042; // 2026-11-21T10:38:17.042Z

    /// Offers every currency except the yen.
    struct NoYen;

    impl Offer for NoYen {
        fn currency(&self, currency: Currency, _: Option<Namespace>) -> bool {
            currency.code() != "JPY"
        }
    }

    fn create(body: &str) -> Result<CreateRequest, Error> {
        parse_create(body.as_bytes(), &NoYen, NOW)
    }

    fn codes(error: Error) -> Vec<String> {
        error.fields.iter().map(|it| format!("{} {}", it.pointer, it.code)).collect()
    }

    /// A valid body with some fields added, replaced, or removed by an empty text.
    fn body(changes: &[(&str, &str)]) -> String {
        let mut fields = vec![("amount", "10.50"), ("currency", "\"USD\""), ("to", "\"msisdn:+254712345678\""), ("reference", "\"INV-1\"")];
        for change in changes {
            match fields.iter_mut().find(|field| field.0 == change.0) {
                Some(field) => *field = *change,
                None => fields.push(*change),
            }
        }
        let members: Vec<_> =
            fields.iter().filter(|field| !field.1.is_empty()).map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    }

    fn refused(changes: &[(&str, &str)]) -> Vec<String> {
        let body = body(changes);
        codes(create(&body).map(|it| panic!("{body} gave {it:?}")).unwrap_err())
    }

    #[test]
    fn the_least_body_has_four_fields() {
        let request = create(&body(&[])).unwrap();
        assert_eq!(request.money, Money::from_minor(1050, Currency::from_code("USD").unwrap()));
        assert_eq!(request.to.as_str(), "msisdn:+254712345678");
        assert_eq!(request.reference.as_str(), "INV-1");
        assert_eq!((request.sandbox, request.description, request.provider), (None, None, None));
        assert_eq!((request.quote_id, request.expires_at, request.metadata.len()), (None, None, 0));
        assert_eq!(
            refused(&[("amount", ""), ("currency", ""), ("to", ""), ("reference", "")]),
            ["/amount required", "/currency required", "/to required", "/reference required"]
        );
    }

    #[test]
    fn the_full_body_is_read() {
        let request = create(&body(&[
            ("sandbox", "false"),
            ("description", r#""two\nlines\tand \u00e9""#),
            ("metadata", r#"{"order":"7","":null}"#),
        ]));
        assert_eq!(codes(request.unwrap_err()), ["/metadata/ too_short", "/metadata/ wrong_type"]);
        let request = create(&body(&[
            ("sandbox", "false"),
            ("description", r#""two\nlines\tand \u00e9""#),
            ("metadata", r#"{"order":"7","a/b":""}"#),
            ("provider", "\"mno-1.ke_x\""),
            ("quote_id", "\"q 1\""),
            ("expires_at", "\"2026-11-21T12:38:17.043+02:00\""),
        ]))
        .unwrap();
        assert_eq!(request.sandbox, Some(false));
        assert_eq!(request.description.as_deref(), Some("two\nlines\tand é"));
        assert_eq!(request.metadata, BTreeMap::from([("order".into(), "7".into()), ("a/b".into(), String::new())]).into());
        assert_eq!((request.provider.as_deref(), request.quote_id.as_deref()), (Some("mno-1.ke_x"), Some("q 1")));
        assert_eq!(request.expires_at, Some(NOW + 1));
    }

    #[test]
    fn null_is_absent() {
        let nulls: Vec<_> = ["sandbox", "description", "metadata", "provider", "quote_id", "expires_at"].map(|name| (name, "null")).into();
        assert_eq!(create(&body(&nulls)).unwrap(), create(&body(&[])).unwrap());
        assert_eq!(refused(&[("to", "null")]), ["/to required"]);
    }

    #[test]
    fn each_field_is_checked() {
        for (name, value, code) in [
            ("amount", "true", "wrong_type"),
            ("amount", "-1", "amount_not_positive"),
            ("amount", "0", "amount_not_positive"),
            ("amount", "1e3", "amount_exponent"),
            ("amount", "10.500", "amount_scale"),
            ("amount", "1234567890123456", "amount_digits"),
            ("amount", "\"\"", "required"),
            ("amount", "\" \"", "amount_malformed"),
            ("amount", "\"+1\"", "amount_malformed"),
            ("amount", "\"1\\u0000\"", "invalid_characters"),
            ("currency", "840", "wrong_type"),
            ("currency", "\"usd\"", "currency_unknown"),
            ("currency", "\"XAU\"", "currency_unknown"),
            ("to", "[]", "wrong_type"),
            ("to", "\"x\"", "participant_malformed"),
            ("to", "\"bank:1\"", "participant_unknown_namespace"),
            ("to", "\"sim:declined\"", "participant_scenario_unknown"),
            ("to", "\"\"", "required"),
            ("to", "\"acct:1\\u0000\"", "invalid_characters"),
            ("reference", "1", "wrong_type"),
            ("reference", "\"a b\"", "reference_malformed"),
            ("reference", "\"stl_1\"", "reference_reserved"),
            ("sandbox", "\"true\"", "wrong_type"),
            ("sandbox", "1", "wrong_type"),
            ("description", "1", "wrong_type"),
            ("description", "\"a\\u0000\"", "invalid_characters"),
            ("description", "\"a\\r\"", "invalid_characters"),
            ("metadata", "[]", "wrong_type"),
            ("provider", "\"\"", "provider_malformed"),
            ("provider", "\"MNO\"", "provider_malformed"),
            ("quote_id", "\"\"", "too_short"),
            ("quote_id", "7", "wrong_type"),
            ("expires_at", "1795257497042", "wrong_type"),
            ("expires_at", "\"tomorrow\"", "time_malformed"),
            ("expires_at", "\"2030-01-01\"", "time_malformed"),
            ("expires_at", "\"2026-11-21T10:38:17.042Z\"", "expires_in_past"),
            ("Amount", "1", "unknown_field"),
            ("a~/b", "1", "unknown_field"),
        ] {
            let pointer = name.replace('~', "~0").replace('/', "~1");
            assert_eq!(refused(&[(name, value)]), [format!("/{pointer} {code}")], "{name}: {value}");
        }
    }

    #[test]
    fn amounts_are_the_same_as_number_or_string() {
        for (amount, currency, minor) in
            [("0.1", "USD", 10), ("1.10", "USD", 110), ("\"10.50\"", "USD", 1050), ("123456789012.345", "KWD", 123_456_789_012_345)]
        {
            let currency = format!("\"{currency}\"");
            let request = create(&body(&[("amount", amount), ("currency", &currency)])).unwrap();
            assert_eq!(request.money.minor(), minor, "{amount}");
        }
    }

    #[test]
    fn the_amount_is_judged_by_its_currency_as_far_as_it_is_known() {
        assert_eq!(refused(&[("currency", "\"JPY\"")]), ["/amount amount_scale", "/currency currency_unsupported"]);
        assert_eq!(refused(&[("currency", "\"JPY\""), ("amount", "10")]), ["/currency currency_unsupported"]);
        assert_eq!(refused(&[("currency", "\"???\""), ("amount", "-1")]), ["/amount amount_not_positive", "/currency currency_unknown"]);
        assert_eq!(refused(&[("currency", ""), ("amount", "1.23456789")]), ["/currency required"]);
        let yen = body(&[("currency", "\"JPY\""), ("amount", "10.5")]);
        assert_eq!(codes(parse_create(yen.as_bytes(), &AnyCurrency, NOW).unwrap_err()), ["/amount amount_scale"]);
    }

    #[test]
    fn lengths_count_characters() {
        let quoted = |c: &str, n: usize| format!("\"{}\"", c.repeat(n));
        for (name, max) in [("description", 140), ("quote_id", 256)] {
            assert!(create(&body(&[(name, &quoted("é", max))])).is_ok());
            assert_eq!(refused(&[(name, &quoted("é", max + 1))]), [format!("/{name} too_long")]);
        }
        assert!(create(&body(&[("provider", &quoted("a", 64))])).is_ok());
        assert_eq!(refused(&[("provider", &quoted("a", 65))]), ["/provider provider_malformed"]);
    }

    #[test]
    fn metadata_is_bounded() {
        let pairs = |n: usize| format!("{{{}}}", (0..n).map(|n| format!("\"k{n}\":\"v\"")).collect::<Vec<_>>().join(","));
        assert_eq!(create(&body(&[("metadata", &pairs(50))])).unwrap().metadata.len(), 50);
        assert_eq!(refused(&[("metadata", &pairs(51))]), ["/metadata too_many"]);
        let (key, value) = ("é".repeat(40), "é".repeat(500));
        assert!(create(&body(&[("metadata", &format!("{{\"{key}\":\"{value}\"}}"))])).is_ok());
        assert_eq!(
            refused(&[("metadata", &format!("{{\"{key}x\":\"{value}x\"}}"))]),
            [format!("/metadata/{key}x too_long"), format!("/metadata/{key}x too_long"),]
        );
        for (metadata, problem) in [
            (r#"{"a":"1","a":"2"}"#, "/metadata/a duplicate_field"),
            (r#"{"a":1}"#, "/metadata/a wrong_type"),
            (r#"{"a":null}"#, "/metadata/a wrong_type"),
            (r#"{"a/~":{}}"#, "/metadata/a~1~0 wrong_type"),
            (r#"{"a":"\n"}"#, "/metadata/a invalid_characters"),
            (r#"{"\u0000":"a"}"#, "/metadata/\0 invalid_characters"),
            (r#"{"\ud800":"a"}"#, "/metadata invalid_characters"),
        ] {
            assert_eq!(refused(&[("metadata", metadata)]), [problem], "{metadata}");
        }
    }

    #[test]
    fn everything_wrong_is_reported_at_once_in_the_order_of_the_table() {
        let body = r#"{"extra":1,"expires_at":"x","quote_id":"","provider":"X","metadata":{"a":1},"description":1,"sandbox":0,
            "reference":"batch","to":"sim:OK","currency":"usd","amount":"x","sandbox":true}"#;
        assert_eq!(
            codes(create(body).unwrap_err()),
            [
                "/amount amount_malformed",
                "/currency currency_unknown",
                "/to participant_malformed",
                "/reference reference_reserved",
                "/sandbox duplicate_field",
                "/sandbox wrong_type",
                "/description wrong_type",
                "/metadata/a wrong_type",
                "/provider provider_malformed",
                "/quote_id too_short",
                "/expires_at time_malformed",
                "/extra unknown_field",
            ]
        );
    }

    #[test]
    fn a_reversal_needs_no_body() {
        for body in ["", "{}", r#"{"amount":null,"reason":null}"#] {
            assert_eq!(parse_reverse(body.as_bytes()).unwrap(), ReverseRequest::default(), "{body:?}");
        }
        let all = parse_reverse(br#"{"amount":"1.5","reason":"customer_request","reference":"R-1","description":"a"}"#).unwrap();
        assert_eq!(all.amount, Some(Amount::parse("1.50").unwrap()));
        assert_eq!(all.reason, Some(ReversalReason::CustomerRequest));
        assert_eq!((all.reference.unwrap().as_str(), all.description.as_deref()), ("R-1", Some("a")));
        assert_eq!(
            codes(parse_reverse(br#"{"amount":0,"reason":"why","reference":"","description":"\u0000","to":1}"#).unwrap_err()),
            [
                "/amount amount_not_positive",
                "/reason reason_unknown",
                "/reference reference_malformed",
                "/description invalid_characters",
                "/to unknown_field",
            ]
        );
        assert_eq!(parse_reverse(b"\x0b").unwrap_err().code, ErrorCode::MalformedJson);
        assert_eq!(codes(parse_reverse(b"null").unwrap_err()), [" wrong_type"]);
        for reason in ReversalReason::ALL {
            assert_eq!(ReversalReason::from_name(reason.as_str()), Some(*reason));
        }
    }

    #[test]
    fn a_batch_judges_each_element_alone() {
        let batch = |elements: &[String]| parse_batch(format!("{{\"settlements\":[{}]}}", elements.join(",")).as_bytes(), &NoYen, NOW);
        let read = batch(&[body(&[]), body(&[("amount", "0"), ("x", "1")]), "7".into(), body(&[])]).unwrap();
        assert!(read[0].is_ok() && read[3].is_ok());
        assert_eq!(codes(read[1].clone().unwrap_err()), ["/amount amount_not_positive", "/x unknown_field"]);
        assert_eq!(codes(read[2].clone().unwrap_err()), [" wrong_type"]);
        assert_eq!(batch(&vec![body(&[]); 1000]).unwrap().len(), 1000);
        for (result, problem) in [
            (batch(&vec![body(&[]); 1001]), "/settlements too_many"),
            (batch(&vec!["0".into(); 100_000]), "/settlements too_many"),
            (batch(&[]), "/settlements too_few"),
            (parse_batch(b"{}", &NoYen, NOW), "/settlements required"),
            (parse_batch(br#"{"settlements":{}}"#, &NoYen, NOW), "/settlements wrong_type"),
            (parse_batch(b"[]", &NoYen, NOW), " wrong_type"),
        ] {
            assert_eq!(codes(result.unwrap_err()), [problem]);
        }
        assert_eq!(parse_batch(br#"{"settlements":[{]}"#, &NoYen, NOW).unwrap_err().code, ErrorCode::MalformedJson);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_readers_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (parse_create(&bytes, &AnyCurrency, NOW), parse_reverse(&bytes), parse_batch(&bytes, &AnyCurrency, NOW));
        }

        #[test]
        fn a_body_cut_short_is_malformed(at in 0usize..78) {
            let whole = body(&[]);
            prop_assume!(at < whole.len());
            prop_assert_eq!(create(&whole[..at]).unwrap_err().code, ErrorCode::MalformedJson);
        }

        #[test]
        fn money_written_is_money_read(minor in 1i64..=999_999_999_999_999, as_text: bool) {
            let money = Money::from_minor(minor, Currency::from_code("KWD").unwrap());
            let amount = if as_text { format!("\"{}\"", money.decimal()) } else { money.decimal() };
            prop_assert_eq!(create(&body(&[("amount", &amount), ("currency", "\"KWD\"")])).unwrap().money, money);
        }
    }
}
