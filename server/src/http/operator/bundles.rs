//! Bundles of all partners, as reviewers read them. What they decide is beside the partners' own calls, in `http/bundles.rs`.

use axum::extract::{Path, State};
use hyper::StatusCode;
use hyper::header::ETAG;
use railgate::api::{
    BundleCommentBody, BundleDiffView, BundleSummaryView, BundleTimelineView, BundleView, BundlesView, ConformanceView, ReviewBundleBody,
};
use railgate::engine::{AskBundle, BundleAsk, BundleBy, BundleReader, BundleScope};
use railgate::lifecycle::BundleStatus;
use railgate::validate::bundle::{parse_bundle_comment, parse_bundle_remark};
use railgate::{Engine, ErrorCode};

use super::super::App;
use super::super::bundles::{bundle, conformance_of, diff_of, document_of, shown, timeline_of};
use super::super::document::{BadQuery, Denied, NoBundle, NoClient, NotStepped, Unserved};
use super::super::extract::{Authenticated, Named, Open};
use super::super::keyed::{Keyed, answered};
use super::super::response::{HandlerResult, ok, with_text};
use super::super::route::{AsReviewer, AsViewer, routes};
use super::{acting, id, page};

routes![list, read, timeline, diff, conformance, document, comment, test];

/// List the bundles of all partners, newest first
#[utoipa::path(
    get, path = "/api/v1/operator/bundles", tag = "operators", operation_id = "listAllBundles",
    params(
        ("status" = Option<BundleStatus>, Query, description = "Only bundles in this state"),
        ("client" = Option<String>, Query, description = "Only bundles of this client", example = "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = BundlesView), BadQuery, NoClient, Denied, Unserved),
)]
pub(crate) async fn list(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let own =
        |params: &mut super::super::extract::Params| (params.choice("status", BundleStatus::ALL, |it| it.as_str()), params.text("client"));
    let (limit, cursor, (status, client)) = page(&call.uri, own)?;
    let client = client.map(|text| id(&text, "cli_", ErrorCode::ClientNotFound)).transpose()?;
    let scope = BundleScope { status, client };
    let read = move |engine: &Engine| engine.bundles(BundleReader::Operator, scope, cursor.as_deref(), limit);
    ok(&app.gateway.scan(&call.caller, read).await?)
}

/// Read any bundle
#[utoipa::path(
    get, path = "/api/v1/operator/bundles/{id}", tag = "operators", operation_id = "getAnyBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "The bundle", body = BundleView, headers(("ETag" = String, description = "The version"))), NoBundle, Denied, Unserved),
)]
pub(crate) async fn read(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    shown(&app, &call, BundleReader::Operator, bundle(named.last())?).await
}

/// Read the timeline of any bundle, oldest first
#[utoipa::path(
    get, path = "/api/v1/operator/bundles/{id}/timeline", tag = "operators", operation_id = "getAnyBundleTimeline",
    params(
        ("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("after" = Option<u32>, Query, description = "Only steps after this one", minimum = 0),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
    ),
    responses((status = 200, description = "One page", body = BundleTimelineView), BadQuery, NoBundle, Denied, Unserved),
)]
pub(crate) async fn timeline(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    timeline_of(&app, &call, BundleReader::Operator, bundle(named.last())?).await
}

/// Compare two revisions of any bundle
///
/// By default the last one with the one before it that was submitted.
#[utoipa::path(
    get, path = "/api/v1/operator/bundles/{id}/diff", tag = "operators", operation_id = "diffAnyBundle",
    params(
        ("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("from" = Option<u32>, Query, description = "The earlier revision", minimum = 1),
        ("to" = Option<u32>, Query, description = "The later revision", minimum = 1),
    ),
    responses((status = 200, description = "Each place that differs", body = BundleDiffView), BadQuery, NoBundle, Denied, Unserved),
)]
pub(crate) async fn diff(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    diff_of(&app, &call, BundleReader::Operator, bundle(named.last())?).await
}

/// Read the report of the last test of any bundle's sandbox endpoint
#[utoipa::path(
    get, path = "/api/v1/operator/bundles/{id}/conformance", tag = "operators", operation_id = "getAnyBundleConformance",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "How the test is, and the last report", body = ConformanceView), NoBundle, Denied, Unserved),
)]
pub(crate) async fn conformance(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>, named: Named) -> HandlerResult {
    conformance_of(&app, &call, BundleReader::Operator, bundle(named.last())?).await
}

/// Download a document of any bundle
#[utoipa::path(
    get, path = "/api/v1/operator/bundles/{id}/documents/{name}", tag = "operators", operation_id = "getAnyBundleDocument",
    params(
        ("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("name" = String, Path, description = "The name of the document", example = "licence.pdf"),
        ("revision" = Option<u32>, Query, description = "The revision; default: the last", minimum = 1),
    ),
    responses((status = 200, description = "The document", content_type = "application/octet-stream", body = String), BadQuery, NoBundle, Denied, Unserved),
)]
pub(crate) async fn document(State(app): State<App>, open: Open<AsViewer>, Path(place): Path<(String, String)>) -> HandlerResult {
    document_of(&app, &open, BundleReader::Operator, place).await
}

/// Comment on any bundle
///
/// Its partner reads it, too.
#[utoipa::path(
    post, path = "/api/v1/operator/bundles/{id}/comments", tag = "operators", operation_id = "commentAnyBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = BundleCommentBody, content_type = "application/json", example = json!({"comment": "Is this really the largest payment?", "pointer": "/manifest/limits/KES/max"})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn comment(State(app): State<App>, named: Named, keyed: Keyed<AsReviewer>) -> HandlerResult {
    let said = parse_bundle_comment(keyed.body())?;
    asked(&app, named.last(), &keyed, BundleAsk::Comment(said), None).await
}

/// Have the sandbox endpoint of any bundle tested again
#[utoipa::path(
    post, path = "/api/v1/operator/bundles/{id}/test", tag = "operators", operation_id = "testAnyBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = Option<ReviewBundleBody>, content_type = "application/json", example = json!({"comment": "They say that it is mended."})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn test(State(app): State<App>, named: Named, keyed: Keyed<AsReviewer>) -> HandlerResult {
    let comment = parse_bundle_remark(keyed.body())?;
    asked(&app, named.last(), &keyed, BundleAsk::Test, comment).await
}

async fn asked(app: &App, text: &str, keyed: &Keyed<AsReviewer>, ask: BundleAsk, comment: Option<String>) -> HandlerResult {
    let (by, id) = (BundleBy::Operator(acting(keyed)?), bundle(text)?);
    let answer = keyed.once(app, AskBundle { by, id, expected: None, ask, comment }).await?;
    let version = answer.output.as_ref().map(|bundle| u32::from(bundle.version));
    let response = answered(StatusCode::OK, answer)?;
    match version {
        Some(version) => with_text(response, ETAG, format!("\"{version}\"")),
        None => Ok(response),
    }
}
