//! GSMA Mobile Money API 1.2.0: disbursements and transfers to accounts at mobile-money operators.
//!
//! ```
//! use railgate::rail::{Rails, gsma::Gsma};
//! use railgate::validate::provider::parse_provider;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body = br#"{"id": "operator-kenya", "name": "Operator in Kenya", "rail": "gsma", "mode": "live",
//!     "base_url": "https://api.operator.example/v1.2/mm",
//!     "settings": {"debit_party_type": "accountid", "debit_party": "4711", "token_url": "https://id.operator.example/token"},
//!     "secrets": {"client_id": "us", "client_secret": "whispered"}}"#;
//! let provider = parse_provider(body, &Rails::built_in().with(Gsma))?.spec;
//! assert!(provider.capabilities.reverse && !provider.capabilities.partial_reverse);
//! assert!(!provider.capabilities.inquiry, "that the operator does not find a payment proves nothing, unless it says so");
//! # Ok(())
//! # }
//! ```
//!
//! Each attempt and each reversal has an `X-CorrelationID` of its own, which follows from its key, so that a repeated request has the
//! same. What became of one is asked where its last answer pointed: at its request state, or its transaction. That pointer came with an
//! answer that nothing ties to our request, so before it refuses a payment, or if it leads to another one, the operator is asked what it
//! answered to our `X-CorrelationID` (`/responses`). Requests that follow from there carry this header; so their answers count.
//!
//! What every code means is in [`codes`], and for operators in `docs/rails/gsma.md`.

pub mod codes;
mod place;
mod settings;
mod transaction;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::parts::{segment, uuid};
use super::{
    AccessToken, CallbackError, FailureCode, Heard, HttpReply, HttpRequest, Inbound, Link, Payee, PayeeMatch, Rail, RailAnswer, Request,
};
use crate::api::{Action, PayeeView, RailCall};
use crate::error::FieldProblem;
use crate::route::health::Health;
use crate::route::{Capabilities, ProviderSpec};
use crate::time::{Millis, rfc3339};
use codes::{About, Fault};
use place::Place;
use settings::Settings;

const CORRELATION: &str = "x-correlationid";
/// How long a description may be, in characters.
const DESCRIPTION_MAX: usize = 160;
/// How long an access token is used if its issuer does not say, in milliseconds.
const TOKEN_MS: Millis = 300_000;
/// The longest that an access token is used, in seconds.
const TOKEN_MAX_S: i64 = 86_400;

/// The rail of operators that offer the GSMA Mobile Money API.
pub struct Gsma;

impl Rail for Gsma {
    fn kind(&self) -> &'static str {
        "gsma"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: true, reverse: true, partial_reverse: false, inquiry: false, idempotent_submit: true }
    }

    fn configure(&self, provider: &mut ProviderSpec) -> Vec<FieldProblem> {
        settings::configure(provider)
    }

    fn look_up_payee(&self, payee: &Payee, link: &Link<'_>) -> Option<HttpRequest> {
        Some(get(account(payee, link, "status")?, link))
    }

    fn decode_payee(&self, payee: &Payee, link: &Link<'_>, reply: &HttpReply) -> Heard<PayeeView> {
        Heard::Answer(match (reply.status, link.asked.is_some_and(|asked| asked.url.ends_with("/accountname"))) {
            (200, false) => match reply.json().as_ref().and_then(|body| body["accountStatus"].as_str()) {
                Some("available") => match account(payee, link, "accountname") {
                    Some(url) => return Heard::Ask(get(url, link)),
                    None => PayeeView::UNKNOWN,
                },
                Some("unregistered") => NOBODY,
                _ => PayeeView::UNKNOWN,
            },
            (200, true) => reply
                .json()
                .as_ref()
                .and_then(name_in)
                .map_or(PayeeView::UNKNOWN, |name| PayeeView { payee_match: PayeeMatch::Match, display_name: Some(name) }),
            (404, false) if Fault::of(reply).is_some_and(|fault| fault.finds_nothing()) => NOBODY,
            _ => PayeeView::UNKNOWN,
        })
    }

    fn token_request(&self, provider: &ProviderSpec) -> Option<HttpRequest> {
        let url = Settings(provider).token_url()?;
        let (id, secret) = (provider.secrets.get(settings::CLIENT_ID)?, provider.secrets.get(settings::CLIENT_SECRET)?);
        // RFC 6749, section 2.3.1: both are encoded as a form is, before they are joined.
        let credentials = STANDARD.encode(format!("{}:{}", segment(id), segment(secret)));
        let request = HttpRequest { repeatable: true, ..HttpRequest::new("POST", url) }
            .header("accept", "application/json")
            .header("authorization", format!("Basic {credentials}"))
            .header("content-type", "application/x-www-form-urlencoded");
        Some(request.body("grant_type=client_credentials"))
    }

    fn decode_token(&self, reply: &HttpReply) -> Option<AccessToken> {
        let body = reply.json().filter(|_| reply.status == 200)?;
        let secret = body["access_token"].as_str().filter(|token| !token.is_empty() && token.bytes().all(|b| b.is_ascii_graphic()))?;
        body["token_type"].as_str().filter(|kind| kind.eq_ignore_ascii_case("bearer"))?;
        let said = &body["expires_in"];
        let seconds = said.as_i64().or_else(|| said.as_str()?.parse().ok());
        let lifetime_ms = match seconds {
            Some(seconds) => seconds.clamp(0, TOKEN_MAX_S) * 1_000,
            None if said.is_null() => TOKEN_MS,
            None => return None,
        };
        Some(AccessToken { secret: Zeroizing::new(secret.to_owned()), lifetime_ms })
    }

    fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request {
        match call.action {
            Action::Submit => pay(call, link),
            Action::Reverse => reverse(call, link),
            Action::Inquire | Action::InquireReversal => match stored(call.rail_reference.as_deref()) {
                Some(place) => Request::Http(get(place.url(base(link)), link)),
                None if Settings(link.provider).has_responses() => Request::Http(look_up(&call.rail_key, link)),
                None => Request::Known(RailAnswer::Unknown),
            },
        }
    }

    fn decode(&self, call: &RailCall, link: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
        let Some(asked) = link.asked else { return Heard::Answer(RailAnswer::Unknown) };
        match call.action {
            Action::Submit => Heard::Answer(taken(call, asked, reply, link)),
            Action::Reverse if asked.method == "POST" => Heard::Answer(taken(call, asked, reply, link)),
            Action::Reverse => found_payment(call, asked, reply, link),
            Action::Inquire | Action::InquireReversal => inquired(call, asked, reply, link),
        }
    }

    fn heartbeat(&self, link: &Link<'_>) -> Option<HttpRequest> {
        Some(get(format!("{}/heartbeat", base(link)), link))
    }

    fn decode_heartbeat(&self, reply: &HttpReply) -> Option<Health> {
        match (reply.status, reply.json()?["serviceStatus"].as_str()) {
            (200, Some("available")) => Some(Health::Up),
            (200, Some("degraded")) => Some(Health::Degraded),
            (200, Some("unavailable")) => Some(Health::Down),
            (503, _) if Fault::of(reply).is_some_and(|fault| fault.category == codes::Category::ServiceUnavailable) => Some(Health::Down),
            _ => None,
        }
    }

    /// Callbacks name no payment of ours for certain, and carry no signature: that they arrive at an address that was handed out for
    /// one payment is what makes them authentic.
    fn callback_key(&self, inbound: &Inbound<'_>, _: &ProviderSpec) -> Result<String, CallbackError> {
        inbound.rail_key.map(str::to_owned).ok_or(CallbackError::Unauthenticated)
    }

    fn decode_callback(&self, call: &RailCall, inbound: &Inbound<'_>) -> Result<RailAnswer, CallbackError> {
        let body: Value = serde_json::from_slice(inbound.body).map_err(|_| CallbackError::Malformed)?;
        if body["errorCategory"].is_string() {
            let fault = Fault::read(&body).ok_or(CallbackError::Malformed)?;
            return Ok(fault.refuses(About::of(call)).unwrap_or(RailAnswer::Unknown));
        }
        let transaction = transaction::read(&body, call).ok_or(CallbackError::Malformed)?;
        if let Some(Place::Transaction(known)) = stored(call.rail_reference.as_deref())
            && known != transaction.reference
        {
            return Err(CallbackError::Malformed);
        }
        Ok(transaction.answer(call))
    }

    fn callback_status(&self) -> u16 {
        204
    }
}

const NOBODY: PayeeView = PayeeView { display_name: None, payee_match: PayeeMatch::NoMatch };

fn base<'a>(link: &Link<'a>) -> &'a str {
    link.provider.base_url.as_deref().unwrap_or_default()
}

/// Where an earlier answer pointed.
fn stored(rail_reference: Option<&str>) -> Option<Place> {
    rail_reference.and_then(Place::of_reference)
}

/// The `X-CorrelationID` of the attempt or reversal with this key: a UUID of version 8 (RFC 9562).
pub fn correlation_id(rail_key: &str) -> String {
    uuid("railgate-gsma-correlation-v1", rail_key, 8)
}

/// A request with the header fields that all have.
fn request(method: &'static str, url: String, link: &Link<'_>) -> HttpRequest {
    let request = HttpRequest::new(method, url).header("accept", "application/json").header("x-date", rfc3339(link.now));
    let optional = [
        ("x-api-key", link.provider.secrets.get(settings::API_KEY)),
        ("x-client-id", link.provider.settings.get(settings::X_CLIENT_ID).map(String::as_str)),
    ];
    let given = optional.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given.fold(request, |request, (name, value)| request.header(name, value)).bearer(link.token)
}

fn get(url: String, link: &Link<'_>) -> HttpRequest {
    request("GET", url, link)
}

/// Asks what the operator answered to the request with our id.
fn look_up(rail_key: &str, link: &Link<'_>) -> HttpRequest {
    get(Place::Response(correlation_id(rail_key)).url(base(link)), link)
}

/// Asks about what the operator's own record of our id leads to.
fn follow(place: &Place, rail_key: &str, link: &Link<'_>) -> HttpRequest {
    get(place.url(base(link)), link).header(CORRELATION, correlation_id(rail_key))
}

/// A request that moves money.
fn post(path: &str, call: &RailCall, link: &Link<'_>, body: &Value) -> HttpRequest {
    let request = request("POST", format!("{}{path}", base(link)), link).header(CORRELATION, correlation_id(&call.rail_key));
    let callback = link.callback_url.filter(|_| Settings(link.provider).wants_callbacks());
    let request = callback.into_iter().fold(request, |request, url| request.header("x-callback-url", url));
    request.json(body)
}

fn pay(call: &RailCall, link: &Link<'_>) -> Request {
    let settings = Settings(link.provider);
    let Some((key, value)) = settings::account_of(&call.to) else {
        return Request::Known(RailAnswer::Declined { code: FailureCode::NotAllowed, elsewhere_ok: true, rail_code: None });
    };
    let kind = settings.transaction();
    let mut body = order(call, kind);
    body["creditParty"] = json!([{"key": key, "value": value}]);
    if let Some((key, value)) = settings.debit_party() {
        body["debitParty"] = json!([{"key": key, "value": value}]);
    }
    Request::Http(post(&format!("/transactions/type/{kind}"), call, link, &body))
}

/// Gives money back of a transaction of the operator. If its reference is not known, it is asked for first.
fn reverse(call: &RailCall, link: &Link<'_>) -> Request {
    let Some((paid_key, reference)) = &call.paid_as else { return Request::Known(RailAnswer::Unknown) };
    match stored(reference.as_deref()) {
        Some(Place::Transaction(reference)) => Request::Http(take_back(&reference, call, link)),
        Some(Place::State(_) | Place::Response(_)) | None if Settings(link.provider).has_responses() => {
            Request::Http(look_up(paid_key, link))
        }
        Some(Place::State(_) | Place::Response(_)) | None => Request::Known(RailAnswer::NotSent),
    }
}

fn take_back(reference: &str, call: &RailCall, link: &Link<'_>) -> HttpRequest {
    post(&format!("/transactions/{}/reversals", segment(reference)), call, link, &order(call, "reversal"))
}

/// What payments and reversals have in common.
fn order(call: &RailCall, kind: &str) -> Value {
    let mut body = json!({
        "type": kind,
        "amount": call.money.decimal(),
        "currency": call.money.currency().code(),
        "requestingOrganisationTransactionReference": call.rail_key,
    });
    if let Some(description) = &call.description {
        body["descriptionText"] = description.chars().take(DESCRIPTION_MAX).collect::<String>().into();
    }
    body
}

/// The answer to a request that moves money. That a request is being worked on is never its end, whatever state it is in: its own state
/// says so when it is asked.
fn taken(call: &RailCall, asked: &HttpRequest, reply: &HttpReply, link: &Link<'_>) -> RailAnswer {
    match reply.status {
        200 | 201 => reply
            .json()
            .and_then(|body| {
                let transaction = transaction::read(&body, call)?;
                let original = transaction.original.map(|of| format!("{}/reversals", Place::Transaction(of.to_owned()).url(base(link))));
                original.is_none_or(|url| url == asked.url).then(|| transaction.answer(call))
            })
            .unwrap_or(RailAnswer::Unknown),
        202 => reply
            .json()
            .and_then(|body| Place::state(body["serverCorrelationId"].as_str()?))
            .map_or(RailAnswer::Unknown, |state| RailAnswer::Accepted { rail_reference: Some(state.reference()) }),
        _ => Fault::of(reply).and_then(|fault| fault.refuses(About::of(call))).unwrap_or(RailAnswer::Unknown),
    }
}

/// Follows the operator's record of a payment to its transaction, and gives money back of that. Until then nothing was sent.
fn found_payment(call: &RailCall, asked: &HttpRequest, reply: &HttpReply, link: &Link<'_>) -> Heard<RailAnswer> {
    let body = reply.json().filter(|_| reply.status == 200).unwrap_or_default();
    let next = match (Place::asked(base(link), &asked.url), &call.paid_as) {
        (Some(Place::Response(_)), Some((paid_key, _))) => match linked(&body, link) {
            Some(Place::Transaction(reference)) => Some(take_back(&reference, call, link)),
            Some(state @ Place::State(_)) => Some(follow(&state, paid_key, link)),
            Some(Place::Response(_)) | None => None,
        },
        (Some(state @ Place::State(_)), _) => {
            let reference = subject_of(&body, &state).filter(|_| body["status"] == "completed");
            reference.map(|reference| take_back(&reference, call, link))
        }
        (Some(Place::Transaction(_) | Place::Response(_)) | None, _) => None,
    };
    next.map_or(Heard::Answer(RailAnswer::NotSent), Heard::Ask)
}

/// The transaction that a request state is about; `None` if it is another state, or does not say.
fn subject_of(body: &Value, state: &Place) -> Option<String> {
    body["serverCorrelationId"].as_str().and_then(Place::state).filter(|found| found == state)?;
    match Place::of_reference(body["objectReference"].as_str()?)? {
        Place::Transaction(reference) => Some(reference),
        Place::State(_) | Place::Response(_) => None,
    }
}

/// Where the operator's record of our id leads.
fn linked(body: &Value, link: &Link<'_>) -> Option<Place> {
    Place::of_link(base(link), body["link"].as_str()?)
}

/// The answer to an inquiry, or what to ask next.
fn inquired(call: &RailCall, asked: &HttpRequest, reply: &HttpReply, link: &Link<'_>) -> Heard<RailAnswer> {
    // Whether the operator's own record of our id led here, or has to be trusted to.
    let bound = asked.headers.iter().any(|(name, _)| name == CORRELATION) || !Settings(link.provider).has_responses();
    let doubt = || if bound { Heard::Answer(RailAnswer::Unknown) } else { Heard::Ask(look_up(&call.rail_key, link)) };
    let body = reply.json().unwrap_or_default();
    match (Place::asked(base(link), &asked.url), reply.status) {
        (Some(Place::Response(_)), 200) => {
            linked(&body, link).map_or(Heard::Answer(RailAnswer::Unknown), |place| Heard::Ask(follow(&place, &call.rail_key, link)))
        }
        (Some(Place::Response(_)), _) => Heard::Answer(no_response(call, reply)),
        (Some(Place::State(_) | Place::Transaction(_)), 404) => doubt(),
        (Some(state @ Place::State(_)), 200) => {
            if body["serverCorrelationId"].as_str().and_then(Place::state).as_ref() != Some(&state) {
                return doubt();
            }
            match (body["status"].as_str(), subject_of(&body, &state)) {
                (Some("pending"), _) => Heard::Answer(RailAnswer::Accepted { rail_reference: Some(state.reference()) }),
                (Some("completed"), Some(reference)) => {
                    let request = get(Place::Transaction(reference).url(base(link)), link);
                    let marks = asked.headers.iter().filter(|(name, _)| name == CORRELATION);
                    Heard::Ask(marks.fold(request, |request, (name, value)| request.header(name, value)))
                }
                // If it is not the request that we were first told of, one of both is not ours.
                (Some("failed"), _) if bound => Heard::Answer(match stored(call.rail_reference.as_deref()) {
                    Some(told) if told != state => RailAnswer::Unknown,
                    Some(_) | None => Fault::failed(&body["error"], About::of(call)),
                }),
                _ => doubt(),
            }
        }
        (Some(place @ Place::Transaction(_)), 200) => match transaction::read(&body, call) {
            Some(found) if found.reference != place.id() => doubt(),
            Some(found) if bound || found.names_us => Heard::Answer(found.answer(call)),
            Some(_) | None => doubt(),
        },
        (Some(Place::State(_) | Place::Transaction(_)) | None, _) => Heard::Answer(RailAnswer::Unknown),
    }
}

/// What it means that the operator has no response for us, or that its response was a refusal.
fn no_response(call: &RailCall, reply: &HttpReply) -> RailAnswer {
    match Fault::of(reply) {
        // It had it before, so not finding it now proves nothing.
        Some(fault) if reply.status == 404 && fault.finds_nothing() && call.rail_reference.is_none() => RailAnswer::NotSent,
        Some(fault) if fault.is_of_money() => fault.refuses(About::of(call)).unwrap_or(RailAnswer::Unknown),
        Some(_) | None => RailAnswer::Unknown,
    }
}

/// Where the operator tells something about an account.
fn account(payee: &Payee, link: &Link<'_>, what: &str) -> Option<String> {
    let (kind, value) = settings::account_of(&payee.to)?;
    Some(format!("{}/accounts/{kind}/{}/{what}", base(link), segment(value)))
}

/// The name of an account's holder.
fn name_in(body: &Value) -> Option<String> {
    let name = &body["name"];
    let part = |part: &str| name[part].as_str().map(str::trim).filter(|text| !text.is_empty());
    let parts = || {
        let given: Vec<&str> = ["firstName", "middleName", "lastName"].into_iter().filter_map(part).collect();
        (!given.is_empty()).then(|| given.join(" "))
    };
    part("fullName").map(str::to_owned).or_else(parts).or_else(|| part("nativeName").map(str::to_owned))
}
