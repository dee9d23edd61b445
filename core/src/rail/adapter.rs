//! The gateway's own protocol, for operators whose protocol it does not speak: a small HTTP service beside them, an *adapter*, in any
//! language. `docs/rails/adapter.md` describes it, and `docs/rails/adapter.openapi.json` defines it.
//!
//! ```
//! use railgate::rail::adapter::Adapter;
//! use railgate::rail::{HttpReply, Link, Rail as _};
//! use railgate::{ledger::Mode, route::ProviderSpec, route::health::Health};
//!
//! let mut provider = ProviderSpec::new("acme", "Acme", Mode::Live, &Adapter);
//! let problems = Adapter.configure(&mut provider);
//! assert_eq!(problems[0].pointer, "/base_url", "it must say where the adapter is");
//!
//! provider.base_url = Some("https://adapter.example".to_owned());
//! provider.settings.insert("reversals".to_owned(), "full".to_owned());
//! assert!(Adapter.configure(&mut provider).is_empty());
//! assert!(provider.capabilities.reverse && !provider.capabilities.partial_reverse);
//!
//! let link = Link { provider: &provider, token: None, callback_url: None, asked: None, now: 0 };
//! let request = Adapter.heartbeat(&link).unwrap();
//! assert_eq!((request.method, &*request.url), ("GET", "https://adapter.example/railgate/v1/health"));
//! assert!(request.signed);
//! let reply = HttpReply { status: 200, headers: Vec::new(), body: br#"{"status":"maintenance"}"#.to_vec() };
//! assert_eq!(Adapter.decode_heartbeat(&reply), Some(Health::Maintenance));
//! ```
//!
//! An adapter takes a payment once per key, so a key that is sent again pays nobody again. Nevertheless a request that moves money is
//! sent only once: the engine first asks what became of it.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{
    CallbackError, FailureCode, Heard, HttpReply, HttpRequest, Inbound, Link, Payee, PayeeMatch, Rail, RailAnswer, Request, TLS_KEY,
    is_common_setting,
};
use crate::api::{Action, PayeeView, RailCall};
use crate::error::{FieldProblem, excerpt};
use crate::lifecycle::named_enum;
use crate::money::Amount;
use crate::route::health::Health;
use crate::route::{Capabilities, ProviderSpec};
use crate::validate::access::printable_up_to;
use crate::validate::json::pointer;
use crate::webhook::{SignedHeaders, TOLERANCE_S, WebhookSecret, verify};

/// The setting that says whether the adapter knows payees: `yes` (default) or `no`.
pub const PAYEES: &str = "payees";
/// The setting that says which reversals it takes: `partial` (default), `full` or `none`.
pub const REVERSALS: &str = "reversals";
/// The setting that says what its "not found" is worth: `authoritative` (default: proof, if the answer says so itself) or `advisory`
/// (never proof).
pub const INQUIRY: &str = "inquiry";
/// The secret that is sent as a bearer token with each request, if there is one.
pub const TOKEN: &str = "token";
/// The secret that signs callbacks: `whsec_` and base64; two of them, separated by a space, while it is exchanged.
pub const CALLBACK_SECRET: &str = "callback_secret";

/// Below the provider's base URL. A later version of the protocol has another one.
const ROOT: &str = "/railgate/v1";
/// The longest answer and callback, in bytes.
const BODY_MAX_BYTES: usize = 64 << 10;
/// The longest `rail_reference`, `rail_code` and `display_name`, in characters.
const TEXT_MAX_CHARS: usize = 128;
/// An adapter that needs longer to say how it is says it too late.
const HEARTBEAT_MS: u64 = 5_000;

/// The rail of adapters.
pub struct Adapter;

impl Rail for Adapter {
    fn kind(&self) -> &'static str {
        "adapter"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: true, reverse: true, partial_reverse: true, inquiry: true, idempotent_submit: true }
    }

    fn configure(&self, provider: &mut ProviderSpec) -> Vec<FieldProblem> {
        let mut problems = Vec::new();
        if provider.base_url.is_none() {
            problems.push(FieldProblem::new("/base_url", "required", "must be the address of the adapter"));
        }
        provider.capabilities = self.capabilities();
        let supports = &mut provider.capabilities;
        for (name, value) in &provider.settings {
            let known = match (name.as_str(), value.as_str()) {
                (PAYEES, "yes") | (REVERSALS, "partial") | (INQUIRY, "authoritative") => continue,
                (name, _) if is_common_setting(name) => continue,
                (PAYEES, "no") => {
                    supports.check_payee = false;
                    continue;
                }
                (REVERSALS, "full" | "none") => {
                    (supports.reverse, supports.partial_reverse) = (value == "full", false);
                    continue;
                }
                (INQUIRY, "advisory") => {
                    supports.inquiry = false;
                    continue;
                }
                (PAYEES, _) => Some("must be yes or no"),
                (REVERSALS, _) => Some("must be partial, full or none"),
                (INQUIRY, _) => Some("must be authoritative or advisory"),
                _ => None,
            };
            let (code, said) = known.map_or(("setting_unknown", "is not a setting of adapters"), |said| ("setting_malformed", said));
            problems.push(FieldProblem::new(format!("/settings{}", pointer(name)), code, said));
        }
        for (name, secret) in &provider.secrets.0 {
            let (code, said) = match name.as_str() {
                TLS_KEY => continue,
                TOKEN if !secret.is_empty() && secret.bytes().all(|b| b.is_ascii_graphic()) => continue,
                CALLBACK_SECRET if callback_secrets(secret).is_some() => continue,
                TOKEN => ("secret_malformed", "must be one or more visible ASCII characters"),
                CALLBACK_SECRET => ("secret_malformed", "must be whsec_ and base64 of 24 to 64 bytes, or two of them with a space between"),
                _ => ("secret_unknown", "is not a secret of adapters"),
            };
            problems.push(FieldProblem::new(format!("/secrets{}", pointer(name)), code, said));
        }
        problems
    }

    fn look_up_payee(&self, payee: &Payee, link: &Link<'_>) -> Option<HttpRequest> {
        let body = object([("to", payee.to.as_str().into()), ("currency", payee.currency.code().into())]);
        let request = asks("POST", "/payees", link).json(&body);
        link.provider.capabilities.check_payee.then_some(HttpRequest { repeatable: true, ..request })
    }

    fn decode_payee(&self, _: &Payee, _: &Link<'_>, reply: &HttpReply) -> Heard<PayeeView> {
        Heard::Answer(payee_in(reply).unwrap_or(PayeeView::UNKNOWN))
    }

    fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request {
        // A reversal without a payment cannot have been stored.
        let Some(path) = path(call) else { return Request::Known(RailAnswer::Unknown) };
        Request::Http(match call.action {
            Action::Submit => asks("PUT", &path, link).json(&payment(call, link)),
            Action::Reverse => asks("PUT", &path, link).json(&reversal(call, link)),
            Action::Inquire | Action::InquireReversal => asks("GET", &path, link),
        })
    }

    fn decode(&self, call: &RailCall, _: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
        Heard::Answer(answer_in(call, reply).unwrap_or(RailAnswer::Unknown))
    }

    fn heartbeat(&self, link: &Link<'_>) -> Option<HttpRequest> {
        Some(HttpRequest { timeout_ms: HEARTBEAT_MS, ..asks("GET", "/health", link) })
    }

    fn decode_heartbeat(&self, reply: &HttpReply) -> Option<Health> {
        health_in(reply).ok()
    }

    fn callback_key(&self, inbound: &Inbound<'_>, provider: &ProviderSpec) -> Result<String, CallbackError> {
        let secrets = provider.secrets.get(CALLBACK_SECRET).and_then(callback_secrets).ok_or(CallbackError::Unsupported)?;
        let header = |name: &str| inbound.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
        let signed = SignedHeaders::find(header);
        let verified = signed.and_then(|headers| verify(&secrets, &headers, inbound.body, inbound.now.div_euclid(1_000), TOLERANCE_S));
        verified.map_err(|_| CallbackError::Unauthenticated)?;
        let said: Said = read(inbound.body).map_err(|_| CallbackError::Malformed)?;
        let (payment, reversal) = (said.payment.ok_or(CallbackError::Malformed)?, said.reversal);
        // An address that was given with a payment is as good for its reversals.
        let is_its_place = inbound.rail_key.is_none_or(|key| key == payment || reversal.as_deref() == Some(key));
        is_its_place.then(|| reversal.unwrap_or(payment)).ok_or(CallbackError::Malformed)
    }

    fn decode_callback(&self, call: &RailCall, inbound: &Inbound<'_>) -> Result<RailAnswer, CallbackError> {
        read(inbound.body).and_then(|said| about(call, said)).map_err(|_| CallbackError::Malformed)
    }
}

/// A signed request to the adapter, with the bearer token if there is one.
fn asks(method: &'static str, path: &str, link: &Link<'_>) -> HttpRequest {
    let base = link.provider.base_url.as_deref().unwrap_or_default().trim_end_matches('/');
    let request = HttpRequest { signed: true, ..HttpRequest::new(method, format!("{base}{ROOT}{path}")) };
    match link.provider.secrets.get(TOKEN) {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    }
}

fn path(call: &RailCall) -> Option<String> {
    let key = &call.rail_key;
    match call.action {
        Action::Submit | Action::Inquire => Some(format!("/payments/{key}")),
        Action::Reverse | Action::InquireReversal => {
            call.paid_as.as_ref().map(|(payment, _)| format!("/payments/{payment}/reversals/{key}"))
        }
    }
}

fn object<const N: usize>(members: [(&str, Value); N]) -> Value {
    // What is not known is left out.
    members.into_iter().filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.to_owned(), value)).collect::<Map<_, _>>().into()
}

fn payment(call: &RailCall, link: &Link<'_>) -> Value {
    let id = call.rail_key.split_once('-').map_or(call.rail_key.as_str(), |(id, _)| id);
    object([
        ("settlement_id", format!("stl_{id}").into()),
        ("reference", call.reference.as_str().into()),
        // A text: a number would become a float in most adapters.
        ("amount", call.money.decimal().into()),
        ("currency", call.money.currency().code().into()),
        ("to", call.to.as_str().into()),
        ("mode", call.mode.as_str().into()),
        ("description", call.description.as_deref().into()),
        ("callback_url", link.callback_url.into()),
    ])
}

fn reversal(call: &RailCall, link: &Link<'_>) -> Value {
    object([
        ("amount", call.money.decimal().into()),
        ("currency", call.money.currency().code().into()),
        ("reason", call.description.as_deref().into()),
        ("callback_url", link.callback_url.into()),
    ])
}

named_enum! {
    /// What an adapter says about a payment or a reversal.
    pub enum Status {
        /// It was carried out.
        Completed = "completed",
        /// It was taken; the outcome follows.
        Accepted = "accepted",
        /// It was refused: it did not happen, and will not.
        Declined = "declined",
        /// A payment was completed and then came back.
        Returned = "returned",
    }
}

/// An answer about a payment or a reversal, or a callback. Members that this version does not know are ignored; one that is given twice
/// makes it unreadable.
#[derive(Deserialize)]
struct Said {
    status: Status,
    payment: Option<String>,
    reversal: Option<String>,
    amount: Option<String>,
    currency: Option<String>,
    rail_reference: Option<String>,
    code: Option<FailureCode>,
    rail_code: Option<String>,
    elsewhere_ok: Option<bool>,
}

#[derive(Deserialize)]
struct NotFound {
    authoritative: bool,
    payment: Option<String>,
    reversal: Option<String>,
}

#[derive(Deserialize)]
struct PayeeSaid {
    #[serde(rename = "match")]
    payee_match: PayeeMatch,
    display_name: Option<String>,
}

#[derive(Deserialize)]
struct HealthSaid {
    status: Health,
}

/// Why a reply means nothing, as a sentence for whoever writes the adapter.
pub type Reason = String;

/// What a reply to a call means.
///
/// # Errors
/// Why it means nothing, so that the answer is unknown.
pub fn answer_in(call: &RailCall, reply: &HttpReply) -> Result<RailAnswer, Reason> {
    match reply.status {
        200..=202 => read(&reply.body).and_then(|said| about(call, said)),
        404 => match call.action {
            Action::Inquire | Action::InquireReversal => {
                let said: NotFound = read(&reply.body)?;
                is_named(call, &said.payment, &said.reversal)?;
                said.authoritative.then_some(RailAnswer::NotSent).ok_or_else(|| "it does not vouch for not having the key".to_owned())
            }
            Action::Submit | Action::Reverse => Err("404 is no answer to a PUT".to_owned()),
        },
        // 409 among them: this key was taken with another body, so something was taken.
        status => Err(format!("the status {status} does not say what happened")),
    }
}

/// The payee in a reply.
///
/// # Errors
/// Why it means nothing.
pub fn payee_in(reply: &HttpReply) -> Result<PayeeView, Reason> {
    let said: PayeeSaid = read_ok(reply)?;
    let display_name = text("display_name", said.display_name)?;
    // The name of somebody who is not meant is nobody's business.
    let display_name = display_name.filter(|_| matches!(said.payee_match, PayeeMatch::Match | PayeeMatch::CloseMatch));
    Ok(PayeeView { payee_match: said.payee_match, display_name })
}

/// How the adapter says that the operator is.
///
/// # Errors
/// Why it does not say.
pub fn health_in(reply: &HttpReply) -> Result<Health, Reason> {
    read_ok(reply).map(|HealthSaid { status }| status)
}

/// Whether an answer is about the subject of `call`, as far as it says what it is about. One that names a payment alone is about the
/// payment, not about one of its reversals.
fn is_named(call: &RailCall, payment: &Option<String>, reversal: &Option<String>) -> Result<(), Reason> {
    let key = Some(&call.rail_key);
    let (of_payment, of_reversal) = match call.action {
        Action::Submit | Action::Inquire => (key, None),
        Action::Reverse | Action::InquireReversal => (call.paid_as.as_ref().map(|(payment, _)| payment), key),
    };
    let (payment, reversal) = (payment.as_ref(), reversal.as_ref());
    let says_nothing = payment.is_none() && reversal.is_none();
    if says_nothing || (reversal == of_reversal && (payment.is_none() || payment == of_payment)) {
        return Ok(());
    }
    let named = |name: Option<&String>| excerpt(name.map_or("none", String::as_str)).into_owned();
    Err(format!("it is about the payment {} and the reversal {}, which were not asked about", named(payment), named(reversal)))
}

/// What `said` means for the subject of `call`.
fn about(call: &RailCall, said: Said) -> Result<RailAnswer, Reason> {
    is_named(call, &said.payment, &said.reversal)?;
    let currency = call.money.currency();
    let is_as_asked = said.currency.is_none_or(|code| code == currency.code())
        && said.amount.is_none_or(|amount| Amount::parse(&amount).and_then(|amount| amount.to_money(currency)) == Ok(call.money));
    if !is_as_asked {
        return Err(format!("it is not about {} {}, which was asked for", call.money.decimal(), currency.code()));
    }
    let (rail_reference, rail_code) = (text("rail_reference", said.rail_reference)?, text("rail_code", said.rail_code)?);
    let elsewhere_ok = said.elsewhere_ok == Some(true);
    let is_payment = matches!(call.action, Action::Submit | Action::Inquire);
    Ok(match said.status {
        Status::Completed | Status::Accepted if said.code.is_some() => return Err("a code contradicts its status".to_owned()),
        Status::Completed | Status::Accepted | Status::Returned if elsewhere_ok => {
            return Err("elsewhere_ok contradicts its status".to_owned());
        }
        Status::Returned if !is_payment => return Err("a reversal is never returned".to_owned()),
        Status::Completed => RailAnswer::Completed { rail_reference },
        Status::Accepted => RailAnswer::Accepted { rail_reference },
        Status::Returned => RailAnswer::Returned { rail_code },
        Status::Declined => RailAnswer::Declined { code: said.code.unwrap_or(FailureCode::Other), elsewhere_ok, rail_code },
    })
}

/// A text that fits, if it is there.
fn text(name: &str, given: Option<String>) -> Result<Option<String>, Reason> {
    let fits = |given: String| {
        let wrong = || format!("{name} must have 1 to {TEXT_MAX_CHARS} printable characters");
        printable_up_to(&given, TEXT_MAX_CHARS).ok_or_else(wrong)
    };
    given.map(fits).transpose()
}

fn read_ok<T: DeserializeOwned>(reply: &HttpReply) -> Result<T, Reason> {
    if reply.status == 200 { read(&reply.body) } else { Err(format!("the status is {} instead of 200", reply.status)) }
}

/// A whole JSON object with what is required.
fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Reason> {
    if body.len() > BODY_MAX_BYTES {
        return Err("it is longer than 64 KiB".to_owned());
    }
    // A struct would also be read from an array.
    if !body.trim_ascii_start().starts_with(b"{") {
        return Err("it is not a JSON object".to_owned());
    }
    serde_json::from_slice(body).map_err(|error| error.to_string())
}

/// One secret, or two.
fn callback_secrets(text: &str) -> Option<Vec<WebhookSecret>> {
    let secrets: Option<Vec<_>> = text.split(' ').map(|secret| WebhookSecret::parse(secret).ok()).collect();
    secrets.filter(|secrets| secrets.len() <= 2)
}
