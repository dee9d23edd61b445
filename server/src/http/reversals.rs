//! Reversing settlements.

use axum::extract::State;
use hyper::StatusCode;
use hyper::header::{HeaderValue, LOCATION};
use railgate::api::{ReversalView, ReversalsView, ReverseBody, ReverseView};
use railgate::engine::{Reverse, Reversed};

use super::App;
use super::document::{BadBody, Denied, NoReversal, NoSettlement, NotReversible, Unserved};
use super::extract::{Authenticated, Named};
use super::keyed::{Keyed, REPLAYED};
use super::response::{HandlerResult, json, ok, with, with_text};
use super::route::{SettlementsRead, SettlementsReverse, routes};

routes![reverse, list, read];

/// Reverse a settlement
///
/// A settlement that was not dispatched yet is cancelled (200). A completed one is reversed, in whole or in part (201).
/// The body is optional; the default amount is what is left to reverse. With an `Idempotency-Key` or a `reference` of its
/// own, the call can be sent again without reversing twice.
#[utoipa::path(
    post, path = "/api/v1/gateway/settlements/{ref}/reverse", tag = "reversals", operation_id = "reverseSettlement",
    params(
        ("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"),
    ),
    request_body(content = Option<ReverseBody>, content_type = "application/json", example = json!({"amount": 4.20, "reason": "customer_request", "reference": "refund-1"})),
    responses(
        (status = 201, description = "A reversal was made", body = ReverseView, headers(("Location" = String, description = "Path of the reversal"))),
        (status = 200, description = "The settlement was cancelled, or the call was carried out before", body = ReverseView),
        BadBody, NoSettlement, Denied, NotReversible, Unserved,
    ),
)]
pub(crate) async fn reverse(State(app): State<App>, named: Named, posted: Keyed<SettlementsReverse>) -> HandlerResult {
    let command = Reverse {
        caller: posted.caller,
        target: named.target()?.clone(),
        request: Box::new(railgate::validate::parse_reverse(posted.body())?),
        idempotency: posted.key(),
    };
    let Reversed { settlement, reversal, replayed } = posted.run(&app, command).await?;
    let engine = app.gateway.engine();
    let view = ReverseView {
        reversal: reversal.map(|reversal| engine.reversal_view(&settlement, &reversal)),
        settlement: engine.view(&settlement, posted.caller.client_id),
    };
    if replayed {
        return with(ok(&view)?, REPLAYED, HeaderValue::from_static("true"));
    }
    match &view.reversal {
        None => ok(&view),
        Some(reversal) => {
            let path = format!("{}/reversals/{}", view.settlement.links.itself, reversal.id);
            with_text(json(StatusCode::CREATED, &view)?, LOCATION, path)
        }
    }
}

/// List a settlement's reversals, oldest first
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/reversals", tag = "reversals", operation_id = "listReversals",
    params(("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001")),
    responses((status = 200, description = "All reversals", body = ReversalsView), NoSettlement, Denied, Unserved),
)]
pub(crate) async fn list(State(app): State<App>, Authenticated(call): Authenticated<SettlementsRead>, named: Named) -> HandlerResult {
    let data = app.gateway.read(&call.caller, |engine| engine.reversals(&engine.settlement(&call.caller, named.target()?)?)).await?;
    ok(&ReversalsView { data })
}

/// Read a reversal
///
/// `id` is the `rev_` id or the client's reference of the reversal.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/reversals/{id}", tag = "reversals", operation_id = "getReversal",
    params(
        ("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"),
        ("id" = String, Path, description = "The `rev_` id, or the client's reference of the reversal", example = "refund-1"),
    ),
    responses((status = 200, description = "The reversal", body = ReversalView), NoReversal, Denied, Unserved),
)]
pub(crate) async fn read(State(app): State<App>, Authenticated(call): Authenticated<SettlementsRead>, named: Named) -> HandlerResult {
    let view = app
        .gateway
        .read(&call.caller, |engine| {
            let record = engine.settlement(&call.caller, named.target()?)?;
            engine.reversal(&record, named.last())
        })
        .await?;
    ok(&view)
}
