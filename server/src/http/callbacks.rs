//! Callbacks: what operators report on their own initiative. Their senders have no credentials of this gateway.

use axum::extract::{Path, State};
use axum::response::IntoResponse as _;
use hyper::StatusCode;
use railgate::engine::ReportAnswer;
use railgate::rail::{CallbackError, Inbound};
use railgate::{Error, ErrorCode};

use super::App;
use super::document::{BadMessage, NotAuthentic, Unserved};
use super::extract::Raw;
use super::response::HandlerResult;
use super::route::routes;
use crate::conformance::Received;
use crate::gateway::Tenant;

routes![callback, callback_about, callback_put];

/// Report the outcome of a payment, as an operator
///
/// For operators whose callbacks name the payment and carry a signature. The rail of the provider says what the body is; a repeated
/// callback changes nothing.
#[utoipa::path(
    post, path = "/api/v1/rails/{provider}/callbacks", tag = "rails", operation_id = "receiveCallback",
    params(("provider" = String, Path, description = "The provider's id", example = "operator-kenya")),
    request_body(content = serde_json::Value, content_type = "application/json", description = "As the provider's protocol says", example = json!({"payment": "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1", "status": "completed", "rail_reference": "T-1"})),
    responses((status = 200, description = "Taken note of"), BadMessage, NotAuthentic, Unserved),
)]
pub(crate) async fn callback(State(app): State<App>, Path(provider): Path<String>, raw: Raw) -> HandlerResult {
    receive(&app, &provider, None, &raw).await
}

/// Report the outcome of one payment, as an operator
///
/// At an address that the gateway gave the operator with the payment, and that nobody else can guess.
#[utoipa::path(
    post, path = "/api/v1/rails/{provider}/callbacks/{place}", tag = "rails", operation_id = "receiveCallbackAbout",
    params(
        ("provider" = String, Path, description = "The provider's id", example = "operator-kenya"),
        ("place" = String, Path, description = "The part of the address that stands for the payment", example = "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1.0d8f3ac4a0b1c2d3e4f5061728394a5b"),
    ),
    request_body(content = serde_json::Value, content_type = "application/json", description = "As the provider's protocol says", example = json!({"payment": "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1", "status": "completed", "rail_reference": "T-1"})),
    responses(
        (status = 200, description = "Taken note of"),
        (status = 204, description = "Taken note of, where the protocol wants this status"),
        BadMessage, NotAuthentic, Unserved,
    ),
)]
pub(crate) async fn callback_about(State(app): State<App>, Path((provider, place)): Path<(String, String)>, raw: Raw) -> HandlerResult {
    receive(&app, &provider, Some(&place), &raw).await
}

/// Report the outcome of one payment with `PUT`, as an operator
#[utoipa::path(
    put, path = "/api/v1/rails/{provider}/callbacks/{place}", tag = "rails", operation_id = "putCallbackAbout",
    params(
        ("provider" = String, Path, description = "The provider's id", example = "operator-kenya"),
        ("place" = String, Path, description = "The part of the address that stands for the payment", example = "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1.0d8f3ac4a0b1c2d3e4f5061728394a5b"),
    ),
    request_body(content = serde_json::Value, content_type = "application/json", description = "As the provider's protocol says", example = json!({"payment": "01KAJX3M7Q5W8ZP9D2R4T6V8YB-1", "status": "completed", "rail_reference": "T-1"})),
    responses(
        (status = 200, description = "Taken note of"),
        (status = 204, description = "Taken note of, where the protocol wants this status"),
        BadMessage, NotAuthentic, Unserved,
    ),
)]
pub(crate) async fn callback_put(State(app): State<App>, Path((provider, place)): Path<(String, String)>, raw: Raw) -> HandlerResult {
    receive(&app, &provider, Some(&place), &raw).await
}

async fn receive(app: &App, provider: &str, place: Option<&str>, raw: &Raw) -> HandlerResult {
    let (gateway, parts) = (&app.gateway, &raw.parts);
    let fields = parts.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    let headers: Vec<(&str, &str)> = fields.collect();
    let source = Some(raw.context.origin.peer);
    if let Some(door) = app.doors.of(provider) {
        return about_test(door.receive(provider, place, source, &headers, &raw.body), provider);
    }
    let now = gateway.engine().now();
    let inbound = Inbound { rail_key: None, source, headers: &headers, body: &raw.body, now };
    let read = gateway.read(Tenant::GATEWAY, |engine| engine.read_callback(provider, place, inbound)).await?;
    let is_known = gateway.engine().routes().number(provider).is_some();
    let reported = read.map_err(|error| rejected(error, is_known.then_some(provider)))?;
    let Some(reported) = reported else {
        return Err(Error::with(ErrorCode::SettlementNotFound, "this gateway sent this provider no such payment").into());
    };
    let report = ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None };
    gateway.run(Tenant::GATEWAY, report).await?;
    Ok(StatusCode::from_u16(reported.status).unwrap_or(StatusCode::OK).into_response())
}

/// The answer to a callback about a payment of a test.
fn about_test(received: Received, provider: &str) -> HandlerResult {
    match received {
        Received::Noted(status) => Ok(StatusCode::from_u16(status).unwrap_or(StatusCode::OK).into_response()),
        Received::Unknown => Err(Error::with(ErrorCode::SettlementNotFound, "this gateway sent this provider no such payment").into()),
        Received::Refused(error) => Err(rejected(error, Some(provider)).into()),
        Received::Broken => Err(Error::internal("the gateway of a test could not read a callback").into()),
    }
}

/// Why a callback is rejected. The log has it only if there is such a provider: strangers write nothing of their own into it.
fn rejected(error: CallbackError, provider: Option<&str>) -> Error {
    if let Some(provider) = provider {
        tracing::warn!(provider, %error, "a callback was rejected");
    }
    let code = match error {
        CallbackError::Unsupported => ErrorCode::ProviderNotFound,
        CallbackError::Unauthenticated => ErrorCode::SignatureInvalid,
        CallbackError::Malformed => ErrorCode::MalformedRequest,
    };
    Error::with(code, error.to_string())
}
