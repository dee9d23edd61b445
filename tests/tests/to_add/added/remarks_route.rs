//! Remarks on settlements.

use axum::extract::State;
use hyper::StatusCode;
use railgate::engine::Remark;
use railgate::{Error, ErrorCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::document::{BadBody, Denied, NoSettlement, Unserved};
use super::extract::{Named, Posted};
use super::response::{HandlerResult, json};
use super::route::{SettlementsWrite, routes};

routes![remark];

/// A remark.
#[derive(Serialize, Deserialize, ToSchema)]
pub(crate) struct RemarkBody {
    /// What is remarked.
    text: String,
}

/// Remark on a settlement
#[utoipa::path(
    put, path = "/api/v1/gateway/settlements/{ref}/remark", tag = "settlements", operation_id = "remarkOnSettlement",
    params(("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001")),
    request_body(content = RemarkBody, content_type = "application/json", example = json!({"text": "For the guitar"})),
    responses((status = 201, description = "It is kept", body = RemarkBody), BadBody, NoSettlement, Denied, Unserved),
)]
pub(crate) async fn remark(State(app): State<App>, named: Named, posted: Posted<SettlementsWrite>) -> HandlerResult {
    let body: RemarkBody = serde_json::from_slice(posted.body()).map_err(|_| Error::new(ErrorCode::MalformedJson))?;
    let command = Remark { caller: posted.caller, target: named.target()?.clone(), text: body.text };
    let kept = posted.run(&app, command).await?;
    json(StatusCode::CREATED, &RemarkBody { text: kept.text })
}
