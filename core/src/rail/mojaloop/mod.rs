//! Payments through a Mojaloop scheme, over the outbound API 2.1 of the SDK scheme adapter.
//!
//! ```
//! use railgate::rail::Rails;
//! use railgate::validate::provider::parse_provider;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body = br#"{"id": "hub", "name": "The scheme", "rail": "mojaloop", "mode": "live", "base_url": "http://10.0.0.7:4001",
//!     "settings": {"payer_id_type": "BUSINESS", "payer_id": "shop-42", "not_found_is_proof": "true"}}"#;
//! let provider = parse_provider(body, &Rails::built_in())?.spec;
//! assert!(provider.capabilities.inquiry && !provider.capabilities.reverse);
//! # Ok(())
//! # }
//! ```
//!
//! The adapter takes a payment in steps: it finds the payee, asks the payee's provider for a quote, and transfers. Between them it waits
//! for the gateway to accept what it found. Until the quote is accepted, nothing is paid. What each answer means is in [`table`], and
//! with all settings in `docs/rails/mojaloop.md`.

mod answer;
mod codes;
mod settings;
pub mod table;

use serde_json::{Value, json};

use super::parts::{segment, uuid};
use super::{FailureCode, Heard, HttpReply, HttpRequest, Link, Payee, Rail, RailAnswer, Request};
use crate::api::{Action, PayeeView, RailCall};
use crate::error::FieldProblem;
use crate::money::Money;
use crate::participant::{Namespace, Participant};
use crate::route::health::Health;
use crate::route::{Capabilities, ProviderSpec};

pub use answer::{Objection, State, Step, TransferState};
pub use codes::Proof;

/// The longest note for the payee, in characters.
const NOTE_MAX_CHARS: usize = 128;

/// The rail to a Mojaloop scheme adapter.
pub struct Mojaloop;

impl Rail for Mojaloop {
    fn kind(&self) -> &'static str {
        "mojaloop"
    }

    /// A scheme carries out each transfer once, whatever the adapter is told twice. It gives money back only as a new transfer that the
    /// payee's provider begins.
    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: true, reverse: false, partial_reverse: false, inquiry: false, idempotent_submit: true }
    }

    fn configure(&self, provider: &mut ProviderSpec) -> Vec<FieldProblem> {
        provider.capabilities = Capabilities { inquiry: settings::is_set(provider, settings::NOT_FOUND_IS_PROOF), ..self.capabilities() };
        settings::problems(provider)
    }

    fn look_up_payee(&self, payee: &Payee, link: &Link<'_>) -> Option<HttpRequest> {
        let (id_type, id) = party(&payee.to)?;
        Some(request(link, "GET", &format!("/parties/{id_type}/{}", segment(id))))
    }

    fn decode_payee(&self, payee: &Payee, _: &Link<'_>, reply: &HttpReply) -> Heard<PayeeView> {
        Heard::Answer(answer::payee(payee, reply).unwrap_or(PayeeView::UNKNOWN))
    }

    fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request {
        match call.action {
            Action::Submit => match transfer(call, link.provider) {
                Some(transfer) => Request::Http(request(link, "POST", "/transfers").json(&transfer)),
                None => Request::Known(unserved()),
            },
            Action::Inquire => Request::Http(request(link, "GET", &format!("/transfers/{}", transfer_id(&call.rail_key)))),
            Action::Reverse | Action::InquireReversal => Request::Known(unserved()),
        }
    }

    fn decode(&self, call: &RailCall, link: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
        match call.action {
            Action::Submit => answer::submitted(call, link, reply),
            Action::Inquire => Heard::Answer(answer::inquired(call, reply)),
            Action::Reverse | Action::InquireReversal => Heard::Answer(RailAnswer::Unknown),
        }
    }

    fn heartbeat(&self, link: &Link<'_>) -> Option<HttpRequest> {
        Some(request(link, "GET", "/"))
    }

    fn decode_heartbeat(&self, reply: &HttpReply) -> Option<Health> {
        (reply.status == 200).then_some(Health::Up)
    }
}

/// The answer to what no scheme adapter does. Nothing is sent.
fn unserved() -> RailAnswer {
    RailAnswer::Declined { code: FailureCode::NotAllowed, elsewhere_ok: true, rail_code: None }
}

fn request(link: &Link<'_>, method: &'static str, path: &str) -> HttpRequest {
    let request = HttpRequest::new(method, format!("{}{path}", link.provider.base_url.as_deref().unwrap_or_default()));
    match link.provider.secrets.get(settings::TOKEN) {
        Some(token) => request.header("authorization", format!("Bearer {token}")),
        None => request,
    }
}

/// The request with which a payment goes on after a reply.
fn onward(call: &RailCall, link: &Link<'_>, step: Step) -> HttpRequest {
    let path = format!("/transfers/{}", transfer_id(&call.rail_key));
    request(link, "PUT", &path).header("content-type", "application/json").body(step.body())
}

/// The transfer to begin; `None` if a scheme does not know such payees.
fn transfer(call: &RailCall, provider: &ProviderSpec) -> Option<Value> {
    let (id_type, id) = party(&call.to)?;
    let mut transfer = json!({
        "transferId": transfer_id(&call.rail_key),
        "homeTransactionId": call.rail_key,
        "from": settings::payer(provider),
        "to": {"idType": id_type, "idValue": id},
        "amountType": "RECEIVE",
        "currency": call.money.currency().code(),
        "amount": amount(call.money),
        "transactionType": "TRANSFER",
    });
    let note: String = call.description.iter().flat_map(|text| text.chars()).take(NOTE_MAX_CHARS).collect();
    if !note.is_empty() {
        transfer["note"] = note.into();
    }
    Some(transfer)
}

/// The scheme's type and identifier of a payee; `None` if a scheme does not know such payees.
fn party(to: &Participant) -> Option<(&'static str, &str)> {
    let id = in_scheme(to, to.identifier());
    match to.namespace() {
        Namespace::Msisdn => Some(("MSISDN", id)),
        Namespace::Iban => Some(("IBAN", id)),
        Namespace::Acct => Some(("ACCOUNT_ID", id)),
        Namespace::Email => Some(("EMAIL", id)),
        Namespace::Alias => Some(("ALIAS", id)),
        Namespace::Business => Some(("BUSINESS", id)),
        Namespace::Device => Some(("DEVICE", id)),
        Namespace::Wallet | Namespace::Participant | Namespace::Sim => None,
    }
}

/// An identifier of a payee as the scheme writes it: telephone numbers without a plus sign, which it allows.
fn in_scheme<'a>(to: &Participant, id: &'a str) -> &'a str {
    if to.namespace() == Namespace::Msisdn { id.strip_prefix('+').unwrap_or(id) } else { id }
}

/// An amount as the scheme writes it: without zeros at the end.
fn amount(money: Money) -> String {
    let decimal = money.decimal();
    match decimal.contains('.') {
        true => decimal.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => decimal,
    }
}

/// The id of a transfer at the scheme: always the same for a key. The scheme takes ids of the form of a UUID of version 1 to 5, so
/// these have the version of random ones, although they are not drawn.
fn transfer_id(rail_key: &str) -> String {
    uuid("railgate-mojaloop-transfer-v1", rail_key, 4)
}
