//! What waits for a person, and what the person decides.

use axum::extract::State;
use railgate::api::{AskedView, CaseView, ResolveReviewBody, ReviewsView};
use railgate::engine::{Asked, review_id};
use railgate::store::record::OperatorAct;
use railgate::{Engine, Error, ErrorCode};

use super::super::App;
use super::super::document::{BadFields, BadMessage, BadQuery, Denied, NoSettlement, NotActed, Unserved};
use super::super::extract::{Authenticated, Named, Posted};
use super::super::keyed::Keyed;
use super::super::response::{HandlerResult, ok};
use super::super::route::{AsAgent, AsViewer, routes};
use super::super::settlements::inquire;
use super::{act, page};

routes![reviews, review, ask, resolve];

/// List what waits for a person, the longest due first
#[utoipa::path(
    get, path = "/api/v1/operator/reviews", tag = "operators", operation_id = "listReviews",
    params(
        ("all" = Option<bool>, Query, description = "Also what was put off"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = ReviewsView), BadQuery, Denied, Unserved),
)]
pub(crate) async fn reviews(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let (limit, cursor, all) = page(&call.uri, |params| params.choice("all", &[false, true], |it| if it { "true" } else { "false" }))?;
    let read = move |engine: &Engine| engine.reviews_page(all.unwrap_or(false), cursor.as_deref(), limit);
    ok(&app.gateway.scan(&call.caller, read).await?)
}

/// Read everything that is known about what waits
///
/// The same as of its settlement.
#[utoipa::path(
    get, path = "/api/v1/operator/reviews/{id}", tag = "operators", operation_id = "getReview",
    params(("id" = String, Path, description = "The review's id: that of the settlement, with a dot and the reversal's number if it is about one", example = "stl_01ARZ3NDEKTSV4RRFFQ69G5FAV")),
    responses((status = 200, description = "Everything that is known", body = CaseView), NoSettlement, Denied, Unserved),
)]
pub(crate) async fn review(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    let (settlement, _) = known(named.last())?;
    ok(&app.gateway.read(&call.caller, |engine| engine.case(settlement, None)).await?)
}

/// Ask the provider now about what waits
///
/// Its answers are applied as always, and shown as `asked`. Each question counts as a call.
#[utoipa::path(
    post, path = "/api/v1/operator/reviews/{id}/ask", tag = "operators", operation_id = "askAboutReview",
    params(("id" = String, Path, description = "The review's id", example = "stl_01ARZ3NDEKTSV4RRFFQ69G5FAV")),
    responses((status = 200, description = "Everything that is known now", body = CaseView), BadMessage, NoSettlement, Denied, Unserved),
)]
pub(crate) async fn ask(State(app): State<App>, named: Named, posted: Posted<AsAgent>) -> HandlerResult {
    let (settlement, _) = known(named.last())?;
    let record = app.gateway.read(&posted.caller, |engine| engine.settlement_of_any(settlement)).await?;
    let (answers, left_out) = inquire(&app, &posted, &record).await?;
    let asked = Asked { answers, left_out };
    ok(&app.gateway.read(&posted.caller, |engine| engine.case(settlement, Some(&asked))).await?)
}

/// Decide about what waits
///
/// `confirmed_completed` and `confirmed_failed` change the payment and its money as if the provider had said so; `accept_discrepancy`
/// keeps the record as it is; `keep_waiting` asks again in a day. From an amount on that the gateway's settings say, a second operator
/// has to confirm an outcome.
#[utoipa::path(
    post, path = "/api/v1/operator/reviews/{id}/resolve", tag = "operators", operation_id = "resolveReview",
    params(("id" = String, Path, description = "The review's id", example = "stl_01ARZ3NDEKTSV4RRFFQ69G5FAV")),
    request_body(content = ResolveReviewBody, content_type = "application/json", example = json!({"resolution": "confirmed_completed", "evidence": "statement 7, line 12", "reason": "the operator's portal shows it"})),
    responses((status = 200, description = "Everything that is known afterwards", body = CaseView), (status = 202, description = "A second operator has to confirm it", body = AskedView), BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn resolve(State(app): State<App>, named: Named, keyed: Keyed<AsAgent>) -> HandlerResult {
    let shown = async || {
        let (settlement, _) = known(named.last())?;
        ok(&app.gateway.read(&keyed.caller, |engine| engine.case(settlement, None)).await?)
    };
    act(&app, &keyed, OperatorAct::ResolveReview, named.last(), shown).await
}

fn known(id: &str) -> Result<(railgate::ids::Ulid, Option<u16>), Error> {
    review_id(id).ok_or_else(|| Error::new(ErrorCode::SettlementNotFound))
}
