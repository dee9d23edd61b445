//! A small HTTP rail, written as any other would be: this file, and one line that registers it.
//!
//! `PUT {base_url}/payments/{key}` pays and `PUT {base_url}/refunds/{key}` refunds, both once per key; `GET` inquires. The answer
//! is `{"status": "paid" | "taken" | "refused", "reference", "code"}`, or 404 for a key that never arrived. A callback is the same
//! object with its `key`, signed with an HMAC of the provider's secret.
#![allow(dead_code, reason = "each test file uses a part of it")]

use hmac::{Hmac, KeyInit as _, Mac as _};
use railgate::api::{Action, PayeeView, RailCall};
use railgate::rail::{
    CallbackError, FailureCode, Heard, HttpReply, HttpRequest, Inbound, Link, Payee, PayeeMatch, Rail, RailAnswer, Request,
};
use railgate::route::{Capabilities, ProviderSpec, Secrets};
use serde_json::{Value, json};
use sha2::Sha256;

pub const SIGNATURE: &str = "x-plain-signature";

pub struct PlainRail;

impl Rail for PlainRail {
    fn kind(&self) -> &'static str {
        "plain"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: true, reverse: true, partial_reverse: true, inquiry: true, idempotent_submit: true }
    }

    fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request {
        let base = link.provider.base_url.as_deref().unwrap_or_default();
        let (method, path) = match call.action {
            Action::Submit => ("PUT", "payments"),
            Action::Inquire => ("GET", "payments"),
            Action::Reverse => ("PUT", "refunds"),
            Action::InquireReversal => ("GET", "refunds"),
        };
        let body = json!({"amount": call.money.decimal(), "currency": call.money.currency().code(), "to": call.to.as_str()});
        // A key takes effect only once, however often it is sent; still, let the engine find out what happened to a payment.
        let request = HttpRequest { timeout_ms: 5_000, ..HttpRequest::new(method, format!("{base}/{path}/{}", call.rail_key)) };
        Request::Http(if method == "PUT" { request.json(&body) } else { request })
    }

    fn decode(&self, call: &RailCall, _: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
        Heard::Answer(match (reply.status, call.action) {
            (200, _) => reply.json().map_or(RailAnswer::Unknown, |body| said(&body)),
            (404, Action::Inquire | Action::InquireReversal) => RailAnswer::NotSent,
            _ => RailAnswer::Unknown,
        })
    }

    fn look_up_payee(&self, payee: &Payee, link: &Link<'_>) -> Option<HttpRequest> {
        let base = link.provider.base_url.as_deref().unwrap_or_default();
        Some(HttpRequest::new("GET", format!("{base}/accounts/{}", payee.to.identifier())))
    }

    fn decode_payee(&self, _: &Payee, _: &Link<'_>, reply: &HttpReply) -> Heard<PayeeView> {
        let name = reply.json().and_then(|body| Some(body["name"].as_str()?.to_owned()));
        Heard::Answer(match (reply.status, name) {
            (200, Some(name)) => PayeeView { display_name: Some(name), payee_match: PayeeMatch::Match },
            (404, _) => PayeeView { display_name: None, payee_match: PayeeMatch::NoMatch },
            _ => PayeeView::UNKNOWN,
        })
    }

    fn callback_key(&self, inbound: &Inbound<'_>, provider: &ProviderSpec) -> Result<String, CallbackError> {
        let given = inbound.headers.iter().find(|(name, _)| *name == SIGNATURE).map(|(_, value)| *value);
        let secret = provider.secrets.get("secret").unwrap_or_default();
        if secret.is_empty() || given != Some(signature(secret, inbound.body).as_str()) {
            return Err(CallbackError::Unauthenticated);
        }
        let body: Value = serde_json::from_slice(inbound.body).map_err(|_| CallbackError::Malformed)?;
        body["key"].as_str().map(str::to_owned).ok_or(CallbackError::Malformed)
    }

    fn decode_callback(&self, _: &RailCall, inbound: &Inbound<'_>) -> Result<RailAnswer, CallbackError> {
        serde_json::from_slice(inbound.body).map(|body| said(&body)).map_err(|_| CallbackError::Malformed)
    }
}

fn said(body: &Value) -> RailAnswer {
    let rail_reference = body["reference"].as_str().map(str::to_owned);
    match body["status"].as_str() {
        Some("paid") => RailAnswer::Completed { rail_reference },
        Some("taken") => RailAnswer::Accepted { rail_reference },
        Some("refused") => RailAnswer::Declined {
            code: FailureCode::RecipientNotFound,
            elsewhere_ok: body["code"] == "try-another",
            rail_code: body["code"].as_str().map(str::to_owned),
        },
        Some(_) | None => RailAnswer::Unknown,
    }
}

/// The signature of a provider's callback.
pub fn signature(secret: &str, body: &[u8]) -> String {
    let Ok(mac) = Hmac::<Sha256>::new_from_slice(secret.as_bytes()) else { return String::new() };
    mac.chain_update(body).finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A provider that is reachable at `base_url`.
pub fn provider(id: &str, base_url: &str) -> ProviderSpec {
    let spec = ProviderSpec::new(id, id, railgate::ledger::Mode::Sandbox, &PlainRail);
    let secrets = Secrets([("secret".to_owned(), "whispered".to_owned().into())].into());
    ProviderSpec { base_url: Some(base_url.to_owned()), secrets, ..spec }
}
