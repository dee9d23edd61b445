//! What devices measure.

use axum::extract::State;
use hyper::StatusCode;
use railgate::api::{QualityBody, QualitySummaryView, QualityTakenView};
use railgate::engine::{QualityBy, QualityRequest, TakeQuality};
use railgate::time::Millis;
use railgate::validate::quality::{is_metric, parse_quality};
use railgate::{Error, Result};

use super::super::App;
use super::super::body::MEASURED;
use super::super::document::{BadFields, BadQuery, Changing, Denied, Unserved};
use super::super::extract::{Authenticated, Params};
use super::super::keyed::{Keyed, answered};
use super::super::response::{HandlerResult, ok};
use super::super::route::{OwnWrite, SettlementsRead, routes};

routes![take, summary];

/// How many points count as one write.
const POINTS_A_WRITE: usize = 25;

/// Report what a device measured
///
/// Up to 500 points, each with an id of the app's own: one that the device sends again within seven days counts once, so a batch whose
/// answer was lost is sent again as it is. What is wrong with a point is said by its index, and the others are taken. There is no member
/// for anything about a person, and unknown members are refused. Every 25 points count as one write; a device reports 10,000 points a day.
#[utoipa::path(
    post, path = "/api/v1/mobile/quality", tag = "mobile", operation_id = "reportQuality",
    request_body(content = QualityBody, content_type = "application/json", example = json!({"items": [{"id": "01KAJX3M7Q5W8ZP9D2R4T6V8YB", "metric": "payment.confirmed", "value": 812.5, "unit": "ms", "at": "2026-11-21T10:38:17Z", "app_version": "3.2.0", "os": "android 16", "network": "cellular", "settlement": "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB"}]})),
    responses((status = 200, description = "What became of the points", body = QualityTakenView), BadFields, Denied, Changing, Unserved),
)]
pub(crate) async fn take(State(app): State<App>, keyed: Keyed<OwnWrite, MEASURED>) -> HandlerResult {
    let points = parse_quality(keyed.body(), app.gateway.engine().now())?;
    keyed.charge(&app, points.len().div_ceil(POINTS_A_WRITE))?;
    let (caller, key) = (keyed.caller, keyed.credential.key);
    answered(StatusCode::OK, keyed.once(&app, TakeQuality { caller, key, points }).await?)
}

/// Summarise what devices measured
///
/// Of the credential's environment. The cost does not depend on how many points there were, as sketches are read: percentiles are at most
/// one hundredth of their size off. What fewer than five devices measured is not shown by itself: such groups are added up to one of their
/// own, and left out if that is of fewer than five devices, too. What is older than nine days is known by the day (UTC) alone, and counts
/// as of its beginning.
#[utoipa::path(
    get, path = "/api/v1/mobile/quality/summary", tag = "mobile", operation_id = "summariseQuality",
    params(
        ("metric" = String, Query, description = "What was measured", pattern = "^[a-z][a-z0-9_]{0,31}([.][a-z][a-z0-9_]{0,31}){0,3}$", example = "payment.confirmed"),
        ("from" = Option<String>, Query, description = "RFC 3339, inclusive; the hour counts. Seven days before `to` by default, at most 92", format = DateTime),
        ("to" = Option<String>, Query, description = "RFC 3339, exclusive; a begun hour counts. Now by default", format = DateTime),
        ("by" = inline(Option<Vec<QualityBy>>), Query, description = "What tells groups apart: up to two. One group by default", max_items = 2),
    ),
    responses((status = 200, description = "The groups", body = QualitySummaryView), BadQuery, Denied, Unserved),
)]
pub(crate) async fn summary(State(app): State<App>, Authenticated(call): Authenticated<SettlementsRead>) -> HandlerResult {
    let request = request(Params::of(&call.uri)?, app.gateway.engine().now())?;
    let caller = call.caller;
    ok(&app.gateway.scan(&caller, move |engine| engine.quality_summary(&caller, &request)).await?)
}

/// What a summary is asked to be of; `params` has nothing else.
pub(in crate::http) fn request(mut params: Params, now: Millis) -> Result<QualityRequest> {
    let (metric, from, to) = (params.text("metric"), params.time("from"), params.time("to"));
    let by = params.choices("by", QualityBy::ALL, QualityBy::as_str);
    params.finish()?;
    let named = metric.filter(|metric| is_metric(metric));
    let metric = named.ok_or_else(|| Error::field("metric", "metric_malformed", "metric must name what was measured"))?;
    QualityRequest::new(metric, from, to, by, now)
}
