//! What devices of all clients measure.

use axum::extract::State;
use railgate::api::QualitySummaryView;
use railgate::engine::QualityBy;
use railgate::ledger::Mode;

use super::super::App;
use super::super::document::{BadQuery, Denied, Unserved};
use super::super::extract::{Authenticated, Params};
use super::super::mobile::quality::request;
use super::super::response::{HandlerResult, ok};
use super::super::route::{AsViewer, routes};

routes![summary];

/// Summarise what devices of all clients measured
///
/// As a client's own summary, but of every client's devices, which count together: a group is of at least five devices, whosever they are.
/// What fewer measured is added up to one group, and left out if that is of fewer than five devices, too. Clients are not told apart.
#[utoipa::path(
    get, path = "/api/v1/operator/quality/summary", tag = "operators", operation_id = "summariseAllQuality",
    params(
        ("metric" = String, Query, description = "What was measured", pattern = "^[a-z][a-z0-9_]{0,31}([.][a-z][a-z0-9_]{0,31}){0,3}$", example = "payment.confirmed"),
        ("environment" = inline(Option<Mode>), Query, description = "`live` by default"),
        ("from" = Option<String>, Query, description = "RFC 3339, inclusive; the hour counts. Seven days before `to` by default, at most 92", format = DateTime),
        ("to" = Option<String>, Query, description = "RFC 3339, exclusive; a begun hour counts. Now by default", format = DateTime),
        ("by" = inline(Option<Vec<QualityBy>>), Query, description = "What tells groups apart: up to two. One group by default", max_items = 2),
    ),
    responses((status = 200, description = "The groups", body = QualitySummaryView), BadQuery, Denied, Unserved),
)]
pub(crate) async fn summary(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let mut params = Params::of(&call.uri)?;
    let mode = params.choice("environment", Mode::ALL, Mode::as_str).unwrap_or(Mode::Live);
    let request = request(params, app.gateway.engine().now())?;
    ok(&app.gateway.scan(&call.caller, move |engine| engine.quality_summary_of_all(mode, &request)).await?)
}
