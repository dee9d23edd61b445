//! Real money that enters or leaves a client's account, and its credit.

use axum::extract::State;
use railgate::Error;
use railgate::api::{AskedView, MoveMoneyBody, MovementView, SetFloorBody};
use railgate::store::record::OperatorAct;

use super::super::App;
use super::super::document::{BadFields, Denied, NotActed, Unserved};
use super::super::extract::Named;
use super::super::keyed::Keyed;
use super::super::response::HandlerResult;
use super::super::route::{AsAgent, routes};
use super::act;

routes![deposit, withdraw, floor];

/// Credit what a client paid in
///
/// Once for each reference of the client's movements: the same call again changes nothing.
#[utoipa::path(
    post, path = "/api/v1/operator/clients/{id}/deposits", tag = "operators", operation_id = "deposit",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = MoveMoneyBody, content_type = "application/json", example = json!({"currency": "EUR", "amount": "2500.00", "reference": "wire-2026-0001", "evidence": "statement 7, line 12"})),
    responses((status = 201, description = "Credited", body = MovementView), (status = 200, description = "It was credited before", body = MovementView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn deposit(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    act(&app, &keyed, OperatorAct::Deposit, named.last(), moved_nothing).await
}

/// Debit what a client was paid out
///
/// Once for each reference of the client's movements: the same call again changes nothing. Money on hold cannot leave.
#[utoipa::path(
    post, path = "/api/v1/operator/clients/{id}/withdrawals", tag = "operators", operation_id = "withdraw",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = MoveMoneyBody, content_type = "application/json", example = json!({"currency": "EUR", "amount": "400.00", "reference": "payout-2026-0001", "evidence": "order 118"})),
    responses((status = 201, description = "Debited", body = MovementView), (status = 200, description = "It was debited before", body = MovementView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn withdraw(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    act(&app, &keyed, OperatorAct::Withdraw, named.last(), moved_nothing).await
}

/// Set the floor of a client's live account
///
/// How far below zero its available money may fall, in one currency: a credit line. Zero ends it. Once for each reference of the client's
/// movements: the same call again changes nothing, whatever the floor is by then. `amount` of the answer is the credit, without a sign.
/// The client is told, by an event and its webhooks; its statement has no line, because no money moves.
#[utoipa::path(
    put, path = "/api/v1/operator/clients/{id}/floor", tag = "operators", operation_id = "setClientFloor",
    params(("id" = String, Path, description = "The `cli_` id", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = SetFloorBody, content_type = "application/json", example = json!({"currency": "EUR", "amount": "-500.00", "reference": "contract-2026-0001", "evidence": "contract of May, paragraph 4"})),
    responses((status = 200, description = "It was set, now or before", body = MovementView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn floor(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    act(&app, &keyed, OperatorAct::SetFloor, named.last(), moved_nothing).await
}

async fn moved_nothing() -> HandlerResult {
    Err(Error::internal("a movement that is none").into())
}
