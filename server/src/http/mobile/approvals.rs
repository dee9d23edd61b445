//! Payments that wait for their user.

use axum::extract::State;
use hyper::StatusCode;
use railgate::ErrorCode;
use railgate::api::{DecisionBody, PaymentApprovalsView, SettlementView};
use railgate::engine::DecidePayment;
use railgate::ids::Ulid;
use railgate::validate::mobile::{DecisionRequest, parse_decision};

use super::super::App;
use super::super::document::{BadFields, Changing, Decided, Denied, NoPaymentApproval, Unserved, UserIsBlocked};
use super::super::extract::{Authenticated, Named};
use super::super::keyed::{Keyed, answered};
use super::super::operator::id;
use super::super::problem::HttpError;
use super::super::response::{HandlerResult, ok};
use super::super::route::{Consenting, routes};

routes![approvals, approval, decide];

/// List the payments that wait for the user, newest first
///
/// Each is cancelled at its `expires_at`: an hour after it was accepted, or earlier if the client said so.
#[utoipa::path(
    get, path = "/api/v1/mobile/approvals", tag = "mobile", operation_id = "listPaymentApprovals",
    responses((status = 200, description = "The payments", body = PaymentApprovalsView), Denied, Unserved),
)]
pub(crate) async fn approvals(State(app): State<App>, Authenticated(call): Authenticated<Consenting>) -> HandlerResult {
    ok(&app.gateway.read(&call.caller, |engine| engine.waiting_payments(&call.caller)).await?)
}

/// Read a payment that waits for the user, or did
#[utoipa::path(
    get, path = "/api/v1/mobile/approvals/{id}", tag = "mobile", operation_id = "getPaymentApproval",
    params(("id" = String, Path, description = "The `stl_` id of the payment", example = "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "The payment", body = SettlementView), NoPaymentApproval, Denied, Unserved),
)]
pub(crate) async fn approval(State(app): State<App>, Authenticated(call): Authenticated<Consenting>, named: Named) -> HandlerResult {
    let settlement = named_payment(&named)?;
    let record = app.gateway.read(&call.caller, |engine| engine.payment_approval(&call.caller, settlement)).await?;
    ok(&app.gateway.engine().view(&record, call.caller.client_id))
}

/// Approve or decline a payment
///
/// Signed by the device's key itself. `shown` is what the app showed to the user: it must be what the gateway has, and is recorded in the
/// trace with the key that signed it. Of two devices that answer at once, the first one counts and the other one is told (409
/// `approval_decided`). An approved payment is sent now, a declined one is cancelled.
#[utoipa::path(
    post, path = "/api/v1/mobile/approvals/{id}", tag = "mobile", operation_id = "decidePayment",
    params(("id" = String, Path, description = "The `stl_` id of the payment", example = "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = DecisionBody, content_type = "application/json", example = json!({"decision": "approve", "shown": {"amount": 250.00, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "invoice-2026-0001"}})),
    responses((status = 200, description = "The payment afterwards", body = SettlementView), BadFields, NoPaymentApproval, Decided, Denied, UserIsBlocked, Changing, Unserved),
)]
pub(crate) async fn decide(State(app): State<App>, named: Named, keyed: Keyed<Consenting>) -> HandlerResult {
    let settlement = named_payment(&named)?;
    let DecisionRequest { approve, shown, reason } = parse_decision(keyed.body())?;
    let (caller, key) = (keyed.caller, keyed.credential.key);
    answered(StatusCode::OK, keyed.once(&app, DecidePayment { caller, key, settlement, approve, shown, reason }).await?)
}

fn named_payment(named: &Named) -> Result<Ulid, HttpError> {
    Ok(id(named.last(), "stl_", ErrorCode::PaymentApprovalNotFound)?)
}
