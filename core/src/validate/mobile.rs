//! The bodies of the mobile API.
//!
//! ```
//! use railgate::validate::mobile::parse_device_code;
//!
//! # fn main() -> Result<(), railgate::Error> {
//! let body = br#"{"user": "customer-17", "limits": [{"currency": "EUR", "max": 500, "approval_over": "100"}]}"#;
//! let request = parse_device_code(body)?;
//! assert_eq!(request.user, "customer-17");
//! assert_eq!(request.limits.unwrap_or_default()[0].approval_over, Some(100_00));
//! assert!(parse_device_code(br#"{"user": "customer 17"}"#).is_err());
//! # Ok(())
//! # }
//! ```

use crate::api::{AttestationBody, DecisionBody, DeviceBody, DeviceCodeBody, DeviceEnrollBody, ShownBody, UserBody, UserLimitsBody};
#[cfg(feature = "sandbox")]
use crate::auth::read_jwk_of_row;
use crate::auth::{PublicKey, read_jwk};
use crate::engine::{EnrollDevice, Shown};
use crate::error::Error;
use crate::money::{Amount, Currency};
use crate::store::record::{AttestationFormat, DeviceAttestation, UserStatus};
use crate::terms::UserLimits;

use super::access::{printable, printable_up_to};
use super::json::{FieldProblems, Object, Value};
use super::provider::{integer, list_or_none, minor};
use super::simulator::one_of;
use super::{COUNT_MAX, EVIDENCE_MAX_CHARS, amount, currency, participant, reference};

/// The most characters of a user's name.
const USER_MAX: usize = 64;
/// The most characters of a code as somebody types it.
const CODE_MAX: usize = 64;
/// The most certificates in a chain, and the most characters of each, and of an attestation object.
const CHAIN_MAX: usize = 8;
const CERTIFICATE_MAX: usize = 8_192;
const OBJECT_MAX: usize = 16_384;
/// The most characters of the address that opens an app.
const LINK_MAX: usize = 500;

/// A valid request for a device's code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceCodeRequest {
    /// The client's own name for the user.
    pub user: String,
    /// What the user may pay; `None` to leave it.
    pub limits: Option<Vec<UserLimits>>,
    /// The address that opens the app, with `{code}` in it.
    pub link: Option<String>,
}

/// Parses `{"user", "limits"?, "link"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_device_code(body: &[u8]) -> Result<DeviceCodeRequest, Error> {
    let mut body = Object::parse(body, &DeviceCodeBody::FIELDS)?;
    let user = body.required("user", user);
    let limits = body.optional("limits", limits);
    let link = body.optional("link", link);
    body.finish(|| Some(DeviceCodeRequest { user: user?, limits: limits?, link: link? }))
}

/// Parses `{"limits"?, "status"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_user(body: &[u8]) -> Result<(Option<Vec<UserLimits>>, Option<UserStatus>), Error> {
    let mut body = Object::parse(body, &UserBody::FIELDS)?;
    let limits = body.optional("limits", limits);
    let status =
        body.optional("status", |value| Ok(UserStatus::ALL[one_of(value, &mut UserStatus::ALL.iter().map(|status| status.as_str()))?]));
    body.finish(|| Some((limits?, status?)))
}

/// A valid request of a device to enrol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceEnrollment {
    /// The code, as somebody typed it.
    pub code: String,
    /// The device's key.
    pub key: PublicKey,
    /// The platform, as the app names it.
    pub platform: String,
    /// The version of the app.
    pub app_version: Option<String>,
    /// The model of the device.
    pub model: Option<String>,
    /// What its owner calls it.
    pub name: Option<String>,
    /// What the app shows to prove where the key lives.
    pub evidence: Option<Evidence>,
}

impl DeviceEnrollment {
    /// The command that enrols the device, with what its maker says of its key as far as the host could verify it.
    pub fn command(self, attestation: Option<DeviceAttestation>) -> EnrollDevice {
        let Self { code, key, platform, app_version, model, name: label, evidence: _ } = self;
        EnrollDevice { code, key, platform, app_version, model, label, attestation }
    }
}

/// What an app shows to prove where a key lives. Whether it proves it is not checked here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Android Key Attestation.
    AndroidKey {
        /// The certificates in base64, the key's first.
        chain: Vec<String>,
    },
    /// App Attest.
    AppleAppAttest {
        /// The attestation object in base64.
        object: String,
    },
}

impl Evidence {
    /// Who vouches for the key.
    pub const fn format(&self) -> AttestationFormat {
        match self {
            Self::AndroidKey { .. } => AttestationFormat::AndroidKey,
            Self::AppleAppAttest { .. } => AttestationFormat::AppleAppAttest,
        }
    }
}

/// Parses `{"code", "jwk", "platform", "app_version"?, "model"?, "name"?, "attestation"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_device_enrollment(body: &[u8]) -> Result<DeviceEnrollment, Error> {
    enrollment(body, &|body| body.required("jwk", read_jwk), |body| body.optional("attestation", evidence))
}

/// [`parse_device_enrollment`] for a sandbox, which never verifies a signature: the key may be missing, and is then `made_up`; what an app
/// shows to prove where it lives is not read.
#[cfg(feature = "sandbox")]
pub(crate) fn parse_device_alone(body: &[u8], made_up: impl Fn() -> PublicKey) -> Result<DeviceEnrollment, Error> {
    enrollment(body, &|body| Some(body.optional("jwk", read_jwk_of_row)?.unwrap_or_else(&made_up)), |_| Some(None))
}

/// The body of an enrolment.
type Enrolling<'a> = Object<'a, { DeviceEnrollBody::FIELDS.len() }>;

fn enrollment(
    body: &[u8],
    key: &dyn Fn(&mut Enrolling<'_>) -> Option<PublicKey>,
    evidence: fn(&mut Enrolling<'_>) -> Option<Option<Evidence>>,
) -> Result<DeviceEnrollment, Error> {
    let mut body = Object::parse(body, &DeviceEnrollBody::FIELDS)?;
    let code = body.required("code", |value| text(value, CODE_MAX));
    let key = key(&mut body);
    let platform = body.required("platform", |value| text(value, 40));
    let app_version = body.optional("app_version", |value| text(value, 40));
    let model = body.optional("model", |value| text(value, 100));
    let name = body.optional("name", name);
    let evidence = evidence(&mut body);
    body.finish(|| {
        let (app_version, model, name) = (app_version?, model?, name?);
        Some(DeviceEnrollment { code: code?, key: key?, platform: platform?, app_version, model, name, evidence: evidence? })
    })
}

fn evidence(value: Value<'_>) -> Result<Evidence, FieldProblems> {
    let mut body = value.object(&AttestationBody::FIELDS)?;
    let format = body.required("format", |value| {
        Ok(AttestationFormat::ALL[one_of(value, &mut AttestationFormat::ALL.iter().map(|format| format.as_str()))?])
    });
    let base64 = |value: Value<'_>, most: usize| {
        let text = value.text()?;
        let fits =
            !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='));
        let said = || FieldProblems::one("base64_malformed", format!("must be base64, of at most {most} characters"));
        if fits { Ok(text.into_owned()) } else { Err(said()) }
    };
    let certificate = |value: Value<'_>| base64(value, CERTIFICATE_MAX);
    match format {
        Some(AttestationFormat::AppleAppAttest) => {
            let object = body.required("object", |value| base64(value, OBJECT_MAX));
            let none = body.optional("chain", |_| Err::<(), _>(FieldProblems::one("unknown_field", "is not of this format")));
            Ok(body.finish(|| none.and_then(|_| Some(Evidence::AppleAppAttest { object: object? })))?)
        }
        Some(AttestationFormat::AndroidKey) | None => {
            let chain = body.required("chain", |value| {
                let mut problems = FieldProblems::default();
                let read = value.elements(CHAIN_MAX)?.into_iter().enumerate();
                let chain: Vec<String> = read.filter_map(|(n, it)| problems.note(&n.to_string(), certificate(it))).collect();
                problems.into_result(chain)
            });
            let none = body.optional("object", |_| Err::<(), _>(FieldProblems::one("unknown_field", "is not of this format")));
            Ok(body.finish(|| format.and(none).and_then(|_| Some(Evidence::AndroidKey { chain: chain? })))?)
        }
    }
}

/// Parses `{"name"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_device(body: &[u8]) -> Result<String, Error> {
    let mut body = Object::parse(body, &DeviceBody::FIELDS)?;
    let name = body.required("name", name);
    body.finish(|| name)
}

/// A user's valid decision about a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRequest {
    /// Whether it is sent.
    pub approve: bool,
    /// What the app showed.
    pub shown: Shown,
    /// Why the user declined.
    pub reason: Option<String>,
}

/// Parses `{"decision", "shown": {"amount", "currency", "to", "reference", "payee_name"?}, "reason"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_decision(body: &[u8]) -> Result<DecisionRequest, Error> {
    let mut body = Object::parse(body, &DecisionBody::FIELDS)?;
    let approve = body.required("decision", |value| Ok(one_of(value, &mut ["approve", "decline"].into_iter())? == 0));
    let shown = body.required("shown", shown);
    let reason = body.optional("reason", |value| text(value, EVIDENCE_MAX_CHARS));
    body.finish(|| Some(DecisionRequest { approve: approve?, shown: shown?, reason: reason? }))
}

fn shown(value: Value<'_>) -> Result<Shown, FieldProblems> {
    let mut body = value.object(&ShownBody::FIELDS)?;
    let currency = body.required("currency", currency);
    let money = body.required("amount", |value| {
        let amount = amount(value)?;
        Ok(currency.map(|currency| amount.to_money(currency)).transpose()?)
    });
    let to = body.required("to", participant);
    let reference = body.required("reference", reference);
    let payee_name = body.optional("payee_name", |value| text(value, 140));
    Ok(body.finish(|| Some(Shown { money: money??, to: to?, reference: reference?, payee_name: payee_name? }))?)
}

/// The client's own name for an end user.
pub(super) fn user(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    if is_user(&text) {
        Ok(text.into_owned())
    } else {
        Err(FieldProblems::one("user_malformed", format!("must have 1 to {USER_MAX} printable ASCII characters, without spaces")))
    }
}

/// Whether a client may give an end user this name.
pub fn is_user(name: &str) -> bool {
    (1..=USER_MAX).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic())
}

fn limits(value: Value<'_>) -> Result<Vec<UserLimits>, FieldProblems> {
    let limits = list_or_none(value, limit)?;
    let mut problems = FieldProblems::default();
    for (n, one) in limits.iter().enumerate() {
        if limits[..n].iter().any(|other| other.currency == one.currency) {
            problems.add(&n.to_string(), FieldProblems::one("duplicate_entry", "there is one for this currency already"));
        }
    }
    problems.into_result(limits)
}

fn limit(value: Value<'_>) -> Result<UserLimits, FieldProblems> {
    let mut body = value.object(&UserLimitsBody::FIELDS)?;
    let currency = body.required("currency", currency);
    let mut bound = |name| body.optional(name, |value| or_zero(value, currency));
    let (max, daily_value, approval_over) = (bound("max"), bound("daily_value"), bound("approval_over"));
    let daily_count = body.optional("daily_count", |value| integer(value, COUNT_MAX.into()));
    Ok(body.finish(|| {
        let daily_count = daily_count?.and_then(|count| i64::try_from(count).ok());
        Some(UserLimits { currency: currency?, max: max?, daily_value: daily_value?, daily_count, approval_over: approval_over? })
    })?)
}

/// An amount that may be zero: no payment, or every payment waits.
fn or_zero(value: Value<'_>, currency: Option<Currency>) -> Result<i64, FieldProblems> {
    match Amount::parse_or_zero(&value.number()?)? {
        None if currency.is_some() => Ok(0),
        Some(_) | None => minor(value, currency),
    }
}

fn link(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    let scheme = text.split_once(':').map(|(scheme, _)| scheme);
    let has_scheme = scheme.is_some_and(|it| {
        it.starts_with(|c: char| c.is_ascii_alphabetic())
            && it.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    let is_script = scheme.is_some_and(|it| ["javascript", "data", "vbscript"].iter().any(|bad| it.eq_ignore_ascii_case(bad)));
    let fits = text.len() <= LINK_MAX && text.bytes().all(|byte| byte.is_ascii_graphic());
    if fits && has_scheme && !is_script && text.contains("{code}") {
        Ok(text.into_owned())
    } else {
        let said = "must be an address that opens the app, with {code} where the code goes: https://app.example/enroll#{code}";
        Err(FieldProblems::one("link_malformed", said))
    }
}

fn name(value: Value<'_>) -> Result<String, FieldProblems> {
    printable(&value.text()?).map_err(|said| FieldProblems::one("name_malformed", said))
}

fn text(value: Value<'_>, longest: usize) -> Result<String, FieldProblems> {
    let said = || FieldProblems::one("text_malformed", format!("must have 1 to {longest} printable characters"));
    printable_up_to(&value.text()?, longest).ok_or_else(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    fn codes<T: std::fmt::Debug>(result: Result<T, Error>) -> String {
        let error = result.unwrap_err();
        error.fields.iter().map(|field| format!("{} {}", field.pointer, field.code)).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn a_code_is_for_a_user_whom_the_client_names() {
        let refused = |body: &str| codes(parse_device_code(body.as_bytes()));
        for (body, problems) in [
            (r#"{}"#, "/user required"),
            (r#"{"user":"a b"}"#, "/user user_malformed"),
            (r#"{"user":"ü"}"#, "/user user_malformed"),
            (r#"{"user":"a","link":"https://app.example"}"#, "/link link_malformed"),
            (r#"{"user":"a","link":"javascript:{code}"}"#, "/link link_malformed"),
            (r#"{"user":"a","limits":[{"max":1}]}"#, "/limits/0/currency required, /limits/0/max currency_missing"),
            (r#"{"user":"a","limits":[{"currency":"EUR"},{"currency":"EUR"}]}"#, "/limits/1 duplicate_entry"),
            (r#"{"user":"a","limits":[{"currency":"EUR","approval_over":"1.001"}]}"#, "/limits/0/approval_over amount_scale"),
        ] {
            assert_eq!(refused(body), problems, "{body}");
        }
        let zero = parse_device_code(br#"{"user":"a","limits":[{"currency":"EUR","approval_over":0}]}"#).unwrap();
        assert_eq!(zero.limits.unwrap()[0].approval_over, Some(0));
    }

    #[test]
    fn a_device_names_itself_in_short_printable_texts() {
        let body = |more: &str| format!(r#"{{"code":"7K3M","jwk":{KEY},"platform":"ios"{more}}}"#);
        assert!(parse_device_enrollment(body("").as_bytes()).is_ok());
        assert_eq!(codes(parse_device_enrollment(body(r#","name":"a\u202eb""#).as_bytes())), "/name name_malformed");
        assert_eq!(codes(parse_device_enrollment(br#"{"platform":7}"#)), "/code required, /jwk required, /platform wrong_type");
    }

    #[test]
    fn a_decision_says_what_was_shown() {
        let refused = codes(parse_decision(br#"{"decision":"maybe","shown":{"currency":"EUR"}}"#));
        assert_eq!(refused, "/decision unknown_value, /shown/amount required, /shown/to required, /shown/reference required");
    }

    #[test]
    fn a_limit_may_be_zero_and_is_a_number() {
        let read = |limit: &str| parse_user(format!(r#"{{"limits":[{{"currency":"EUR",{limit}}}]}}"#).as_bytes());
        for (zero, amount) in [("0", Some(0)), ("\"0.00\"", Some(0)), ("\"1.50\"", Some(150))] {
            let (limits, _) = read(&format!("\"max\":{zero}")).unwrap();
            assert_eq!(limits.unwrap()[0].max, amount, "{zero}");
        }
        for none in ["\"\"", "\".\"", "\"00\"", "\"0.\""] {
            assert_eq!(codes(read(&format!("\"max\":{none}"))), "/limits/0/max amount_malformed", "{none}");
        }
        assert_eq!(read("\"daily_count\":2147483647").unwrap().0.unwrap()[0].daily_count, Some(0x7fff_ffff));
        assert_eq!(codes(read("\"daily_count\":2147483648")), "/limits/0/daily_count out_of_range");
    }
}
