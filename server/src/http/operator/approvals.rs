//! Four eyes: what waits for a second operator.

use axum::extract::State;
use hyper::StatusCode;
use railgate::ErrorCode;
use railgate::api::{ApprovalView, ApprovalsView, AskedView, CommentBody};
use railgate::engine::DecideApproval;
use railgate::store::record::ApprovalStatus;
use railgate::validate::operator::parse_comment;

use super::super::App;
use super::super::document::{BadFields, BadQuery, Denied, NoApproval, NotActed, Unserved};
use super::super::extract::{Authenticated, Named};
use super::super::keyed::{Keyed, answered};
use super::super::response::{HandlerResult, ok};
use super::super::route::{AsApprover, AsViewer, routes};
use super::{acting, id, in_force, page};

routes![approvals, approval, confirm, decline];

/// List what operators asked for, newest first
///
/// A page may have fewer than `limit`, and still a cursor.
#[utoipa::path(
    get, path = "/api/v1/operator/approvals", tag = "operators", operation_id = "listApprovals",
    params(
        ("status" = Option<ApprovalStatus>, Query, description = "Only those with this status", example = "pending"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = ApprovalsView), BadQuery, Denied, Unserved),
)]
pub(crate) async fn approvals(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let (limit, cursor, status) = page(&call.uri, |params| params.choice("status", ApprovalStatus::ALL, ApprovalStatus::as_str))?;
    let after = cursor.map(|cursor| id(&cursor, "apr_", ErrorCode::InvalidCursor)).transpose()?;
    ok(&app.gateway.read(&call.caller, |engine| engine.approvals(status, after, limit)).await?)
}

/// Read what an operator asked for
#[utoipa::path(
    get, path = "/api/v1/operator/approvals/{id}", tag = "operators", operation_id = "getApproval",
    params(("id" = String, Path, description = "The `apr_` id", example = "apr_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "What was asked for", body = ApprovalView), NoApproval, Denied, Unserved),
)]
pub(crate) async fn approval(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    let approval = id(named.last(), "apr_", ErrorCode::ApprovalNotFound)?;
    ok(&app.gateway.read(&call.caller, |engine| engine.approval(approval)).await?)
}

/// Confirm what another operator asked for
///
/// It takes effect now, as if it were asked for now: if it is refused, it goes on waiting. Nobody confirms what they asked for
/// themselves, nor what somebody asked for whom they invited or who invited them.
#[utoipa::path(
    post, path = "/api/v1/operator/approvals/{id}/confirm", tag = "operators", operation_id = "confirmApproval",
    params(("id" = String, Path, description = "The `apr_` id", example = "apr_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = Option<CommentBody>, content_type = "application/json", example = json!({"comment": "compared with the bank statement"})),
    responses((status = 200, description = "It took effect", body = AskedView), BadFields, NoApproval, NotActed, Denied, Unserved),
)]
pub(crate) async fn confirm(State(app): State<App>, named: Named, keyed: Keyed<AsApprover>) -> HandlerResult {
    decide(&app, named.last(), &keyed, true).await
}

/// Decline what an operator asked for
///
/// Whoever asked for it may withdraw it this way, too.
#[utoipa::path(
    post, path = "/api/v1/operator/approvals/{id}/decline", tag = "operators", operation_id = "declineApproval",
    params(("id" = String, Path, description = "The `apr_` id", example = "apr_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = Option<CommentBody>, content_type = "application/json", example = json!({"comment": "the amount is wrong"})),
    responses((status = 200, description = "It was declined", body = AskedView), BadFields, NoApproval, NotActed, Denied, Unserved),
)]
pub(crate) async fn decline(State(app): State<App>, named: Named, keyed: Keyed<AsApprover>) -> HandlerResult {
    decide(&app, named.last(), &keyed, false).await
}

async fn decide(app: &App, approval: &str, keyed: &Keyed<AsApprover>, confirm: bool) -> HandlerResult {
    let approval = id(approval, "apr_", ErrorCode::ApprovalNotFound)?;
    let comment = parse_comment(keyed.body())?;
    let answer = keyed.once(app, DecideApproval { by: acting(keyed)?, approval, confirm, comment }).await?;
    if let Some(acted) = answer.output.as_ref().and_then(|decided| decided.acted.as_ref()) {
        in_force(app, keyed.caller, acted).await?;
    }
    answered(StatusCode::OK, answer)
}
