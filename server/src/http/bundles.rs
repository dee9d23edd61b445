//! Bundles: what partners send, and the steps of both sides.

use std::io::{Read as _, Seek as _};
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use hyper::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, HeaderValue, LOCATION, X_CONTENT_TYPE_OPTIONS,
};
use hyper::{StatusCode, Uri};
use railgate::api::{
    ApproveBundleBody, AskedView, BundleBody, BundleCommentBody, BundleDiffView, BundleSummaryView, BundleTimelineView, BundleView,
    BundlesView, ConformanceView, PublishBundleBody, ReasonBody, ReviewBundleBody,
};
use railgate::bundle::schema;
use railgate::engine::{Answer, AskBundle, BundleAsk, BundleBy, BundleReader, BundleScope, BundleVerdict, ReviewBundle};
use railgate::ids::Ulid;
use railgate::lifecycle::BundleStatus;
use railgate::store::record::{BundleRecord, OperatorAct};
use railgate::validate::COUNT_MAX;
use railgate::validate::bundle::{
    ZIP, parse_bundle, parse_bundle_approval, parse_bundle_comment, parse_bundle_remark, parse_bundle_review, unpack_bundle,
};
use railgate::{Engine, Error, ErrorCode, Result};
use serde::Deserialize;

use super::App;
use super::document::{BadFields, BadQuery, Denied, NoBundle, NotActed, NotKept, NotStepped, Unserved};
use super::extract::{Authenticated, Named, Noted, Open, Params};
use super::keyed::{Keyed, answered};
use super::operator::{act, acting, id, page, version_in_if_match};
use super::response::{HandlerResult, ok, with, with_text};
use super::route::{AsReviewer, Asks, BundlesWrite, routes};
use super::upload::{Bundles, Uploaded};

routes![
    schema_read,
    create,
    list,
    read,
    replace,
    submit,
    withdraw,
    test,
    comment,
    timeline,
    diff,
    conformance,
    document,
    start_review,
    approve,
    reject,
    request_changes,
    publish,
    revoke,
];

/// Read the JSON Schema of manifests
///
/// JSON Schema 2020-12, for editors and validators; needs no token. `railgate bundle validate` checks a bundle with the gateway's own
/// rules.
#[utoipa::path(
    get, path = "/api/v1/bundles/schema", tag = "bundles", operation_id = "bundleSchema", security(()),
    responses((status = 200, description = "The schema", content_type = "application/schema+json", body = serde_json::Value)),
)]
pub(crate) async fn schema_read(_: Noted) -> HandlerResult {
    let response = Response::new(schema().to_string().into());
    let response = with(response, CONTENT_TYPE, HeaderValue::from_static("application/schema+json"))?;
    with(response, CACHE_CONTROL, HeaderValue::from_static("public, max-age=300"))
}

/// Create a bundle
///
/// A draft, with its first revision: as JSON, or as a zip archive of `manifest.json`, `secrets.json` and documents, at most 10 MiB. All
/// problems are reported at once, with pointers into the bundle. A client may have 20 open bundles in each mode.
#[utoipa::path(
    post, path = "/api/v1/bundles", tag = "bundles", operation_id = "createBundle",
    request_body(content((BundleBody = "application/json", example = json!({"manifest": {"id": "acme", "version": "1.0.0", "name": "Acme Pay", "rail": "adapter", "namespaces": ["msisdn"], "currencies": ["KES"], "contacts": [{"role": "technical", "email": "integration@acme.example"}], "sandbox": {"base_url": "https://sandbox.acme.example/railgate", "test": {"to": "msisdn:+254700000001"}}}})), (String = "application/zip", example = "PK…"))),
    responses(
        (status = 201, description = "The draft", body = BundleView, headers(("Location" = String, description = "Path of the bundle"), ("ETag" = String, description = "The version"))),
        NotKept, Denied, Unserved,
    ),
)]
pub(crate) async fn create(State(app): State<App>, upload: Uploaded<BundlesWrite, Bundles>) -> HandlerResult {
    let answer = written(&app, upload, None).await?;
    let path = format!("/api/v1/bundles/{}", facts(&answer)?.id);
    with_text(tagged(StatusCode::CREATED, answer)?, LOCATION, path)
}

/// List the client's bundles, newest first
#[utoipa::path(
    get, path = "/api/v1/bundles", tag = "bundles", operation_id = "listBundles",
    params(
        ("status" = Option<BundleStatus>, Query, description = "Only bundles in this state"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = BundlesView), BadQuery, Denied, Unserved),
)]
pub(crate) async fn list(State(app): State<App>, Authenticated(call): Authenticated<BundlesWrite>) -> HandlerResult {
    let (limit, cursor, status) = page(&call.uri, |params| params.choice("status", BundleStatus::ALL, |it| it.as_str()))?;
    let (reader, scope) = (BundleReader::Partner(call.caller), BundleScope { status, client: None });
    ok(&app.gateway.scan(&call.caller, move |engine: &Engine| engine.bundles(reader, scope, cursor.as_deref(), limit)).await?)
}

/// Read a bundle
///
/// Its last revision, with what the gateway found at its submission, and who signed for it.
#[utoipa::path(
    get, path = "/api/v1/bundles/{id}", tag = "bundles", operation_id = "getBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "The bundle", body = BundleView, headers(("ETag" = String, description = "The version"))), NoBundle, Denied, Unserved),
)]
pub(crate) async fn read(State(app): State<App>, Authenticated(call): Authenticated<BundlesWrite>, named: Named) -> HandlerResult {
    let id = bundle(named.last())?;
    shown(&app, &call, BundleReader::Partner(call.caller), id).await
}

/// Replace the content of a bundle
///
/// While it is a draft, or changes were requested: a new revision. `If-Match` must have the `ETag` of the version that is replaced.
/// Without `secrets`, those that it has stay.
#[utoipa::path(
    put, path = "/api/v1/bundles/{id}", tag = "bundles", operation_id = "replaceBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"), ("If-Match" = String, Header, description = "The `ETag` of the version that is replaced, or `*`", pattern = r#"^(\*|"[0-9]{1,18}")$"#, example = "\"1\"")),
    request_body(content((BundleBody = "application/json", example = json!({"manifest": {"id": "acme", "version": "1.0.0", "name": "Acme Pay", "rail": "adapter", "namespaces": ["msisdn"], "currencies": ["KES"], "contacts": [{"role": "technical", "email": "integration@acme.example"}], "sandbox": {"base_url": "https://sandbox.acme.example/railgate", "test": {"to": "msisdn:+254700000001"}}}})), (String = "application/zip", example = "PK…"))),
    responses((status = 200, description = "The bundle", body = BundleView, headers(("ETag" = String, description = "The version"))), NotKept, Denied, Unserved),
)]
pub(crate) async fn replace(State(app): State<App>, named: Named, upload: Uploaded<BundlesWrite, Bundles>) -> HandlerResult {
    let id = bundle(named.last())?;
    if !upload.parts.headers.contains_key(hyper::header::IF_MATCH) {
        let said = "PUT replaces the whole content: If-Match must have the ETag that was read, or * for whichever there is";
        return Err(Error::with(ErrorCode::MalformedRequest, said).into());
    }
    let expected = expected(&upload.parts.headers)?;
    tagged(StatusCode::OK, written(&app, upload, Some((id, expected))).await?)
}

/// Submit a bundle
///
/// What it overlaps with is looked up, and its sandbox endpoint is tested; both are shown to both sides. The body is optional.
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/submit", tag = "bundles", operation_id = "submitBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"), ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is submitted", pattern = r#"^(\*|"[0-9]{1,18}")$"#, example = "\"1\"")),
    request_body(content = Option<ReviewBundleBody>, content_type = "application/json", example = json!({"comment": "Ready for review."})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn submit(State(app): State<App>, named: Named, keyed: Keyed<BundlesWrite>) -> HandlerResult {
    asked(&app, named.last(), &keyed, BundleAsk::Submit).await
}

/// Withdraw a bundle
///
/// At any time before it is published. The body is optional.
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/withdraw", tag = "bundles", operation_id = "withdrawBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"), ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is withdrawn", pattern = r#"^(\*|"[0-9]{1,18}")$"#, example = "\"1\"")),
    request_body(content = Option<ReviewBundleBody>, content_type = "application/json", example = json!({"comment": "We start over."})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn withdraw(State(app): State<App>, named: Named, keyed: Keyed<BundlesWrite>) -> HandlerResult {
    asked(&app, named.last(), &keyed, BundleAsk::Withdraw).await
}

/// Ask for another test of a bundle's sandbox endpoint
///
/// From its submission until it is published, if no test waits or is being made. The body is optional.
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/test", tag = "bundles", operation_id = "testBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = Option<ReviewBundleBody>, content_type = "application/json", example = json!({"comment": "The certificate is renewed."})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn test(State(app): State<App>, named: Named, keyed: Keyed<BundlesWrite>) -> HandlerResult {
    asked(&app, named.last(), &keyed, BundleAsk::Test).await
}

/// Comment on a bundle
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/comments", tag = "bundles", operation_id = "commentBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = BundleCommentBody, content_type = "application/json", example = json!({"comment": "Yes, by the licence.", "pointer": "/manifest/limits/KES/max"})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn comment(State(app): State<App>, named: Named, keyed: Keyed<BundlesWrite>) -> HandlerResult {
    let (id, said) = (bundle(named.last())?, parse_bundle_comment(keyed.body())?);
    let by = BundleBy::Partner(keyed.caller, keyed.credential.key);
    tagged(StatusCode::OK, keyed.once(&app, AskBundle { by, id, expected: None, ask: BundleAsk::Comment(said), comment: None }).await?)
}

/// Read the timeline of a bundle, oldest first
#[utoipa::path(
    get, path = "/api/v1/bundles/{id}/timeline", tag = "bundles", operation_id = "getBundleTimeline",
    params(
        ("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("after" = Option<u32>, Query, description = "Only steps after this one", minimum = 0),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
    ),
    responses((status = 200, description = "One page", body = BundleTimelineView), BadQuery, NoBundle, Denied, Unserved),
)]
pub(crate) async fn timeline(State(app): State<App>, Authenticated(call): Authenticated<BundlesWrite>, named: Named) -> HandlerResult {
    timeline_of(&app, &call, BundleReader::Partner(call.caller), bundle(named.last())?).await
}

/// Compare two revisions of a bundle
///
/// By default the last one with the one before it. Of those that were never submitted, only the last is kept.
#[utoipa::path(
    get, path = "/api/v1/bundles/{id}/diff", tag = "bundles", operation_id = "diffBundle",
    params(
        ("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("from" = Option<u32>, Query, description = "The earlier revision", minimum = 1),
        ("to" = Option<u32>, Query, description = "The later revision", minimum = 1),
    ),
    responses((status = 200, description = "Each place that differs", body = BundleDiffView), BadQuery, NoBundle, Denied, Unserved),
)]
pub(crate) async fn diff(State(app): State<App>, Authenticated(call): Authenticated<BundlesWrite>, named: Named) -> HandlerResult {
    diff_of(&app, &call, BundleReader::Partner(call.caller), bundle(named.last())?).await
}

/// Read the report of the last test of a bundle's sandbox endpoint
///
/// Each check with what was sent, what was expected, what came, and where the protocol says so.
#[utoipa::path(
    get, path = "/api/v1/bundles/{id}/conformance", tag = "bundles", operation_id = "getBundleConformance",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "How the test is, and the last report", body = ConformanceView), NoBundle, Denied, Unserved),
)]
pub(crate) async fn conformance(State(app): State<App>, Authenticated(call): Authenticated<BundlesWrite>, named: Named) -> HandlerResult {
    conformance_of(&app, &call, BundleReader::Partner(call.caller), bundle(named.last())?).await
}

/// Download a document of a bundle
#[utoipa::path(
    get, path = "/api/v1/bundles/{id}/documents/{name}", tag = "bundles", operation_id = "getBundleDocument",
    params(
        ("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("name" = String, Path, description = "The name of the document", example = "licence.pdf"),
        ("revision" = Option<u32>, Query, description = "The revision; default: the last", minimum = 1),
    ),
    responses((status = 200, description = "The document", content_type = "application/octet-stream", body = String), BadQuery, NoBundle, Denied, Unserved),
)]
pub(crate) async fn document(State(app): State<App>, open: Open<BundlesWrite>, Path(place): Path<(String, String)>) -> HandlerResult {
    document_of(&app, &open, BundleReader::Partner(open.caller), place).await
}

/// Begin the review of a bundle
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/start-review", tag = "operators", operation_id = "startBundleReview",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = Option<ReviewBundleBody>, content_type = "application/json", example = json!({"comment": "I take it."})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn start_review(State(app): State<App>, named: Named, keyed: Keyed<AsReviewer>) -> HandlerResult {
    let comment = parse_bundle_remark(keyed.body())?;
    decided(&app, named.last(), &keyed, BundleVerdict::StartReview, comment).await
}

/// Approve a bundle
///
/// `digest` is that of the revision that was reviewed, so that the signature of the call covers it. Its test must have passed.
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/approve", tag = "operators", operation_id = "approveBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = ApproveBundleBody, content_type = "application/json", example = json!({"digest": "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9", "comment": "All checks passed; licence seen."})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn approve(State(app): State<App>, named: Named, keyed: Keyed<AsReviewer>) -> HandlerResult {
    let (digest, comment) = parse_bundle_approval(keyed.body())?;
    decided(&app, named.last(), &keyed, BundleVerdict::Approve(digest), Some(comment)).await
}

/// Reject a bundle
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/reject", tag = "operators", operation_id = "rejectBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = ReviewBundleBody, content_type = "application/json", example = json!({"comment": "The licence is of another company."})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn reject(State(app): State<App>, named: Named, keyed: Keyed<AsReviewer>) -> HandlerResult {
    let comment = parse_bundle_review(keyed.body())?;
    decided(&app, named.last(), &keyed, BundleVerdict::Reject, Some(comment)).await
}

/// Ask for changes of a bundle
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/request-changes", tag = "operators", operation_id = "requestBundleChanges",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = ReviewBundleBody, content_type = "application/json", example = json!({"comment": "The licence has expired: please attach the new one."})),
    responses((status = 200, description = "The bundle", body = BundleSummaryView), NotStepped, Denied, Unserved),
)]
pub(crate) async fn request_changes(State(app): State<App>, named: Named, keyed: Keyed<AsReviewer>) -> HandlerResult {
    let comment = parse_bundle_review(keyed.body())?;
    decided(&app, named.last(), &keyed, BundleVerdict::RequestChanges, Some(comment)).await
}

/// Publish a bundle
///
/// In the sandbox first, then live. Its sandbox endpoint is tested again; once no check fails, the provider is made, and its wishes are
/// added to the table of routes. Until then the bundle shows where it is `publishing`. Live, a second operator has to confirm it.
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/publish", tag = "operators", operation_id = "publishBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"), ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is published", pattern = r#"^(\*|"[0-9]{1,18}")$"#, example = "\"7\"")),
    request_body(content = PublishBundleBody, content_type = "application/json", example = json!({"mode": "sandbox", "reason": "contract signed"})),
    responses((status = 200, description = "The bundle", body = BundleView), (status = 202, description = "A second operator has to confirm it", body = AskedView), NoBundle, BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn publish(State(app): State<App>, named: Named, keyed: Keyed<AsReviewer>) -> HandlerResult {
    acted(&app, named.last(), &keyed, OperatorAct::PublishBundle).await
}

/// Revoke a published bundle
///
/// Its providers get no new payments; those that they have are followed to their end, and what has no end waits for a person.
#[utoipa::path(
    post, path = "/api/v1/bundles/{id}/revoke", tag = "operators", operation_id = "revokeBundle",
    params(("id" = String, Path, description = "The `bun_` id", example = "bun_01KAJX3M7Q5W8ZP9D2R4T6V8YB"), ("If-Match" = Option<String>, Header, description = "The `ETag` of the version that is revoked", pattern = r#"^(\*|"[0-9]{1,18}")$"#, example = "\"9\"")),
    request_body(content = ReasonBody, content_type = "application/json", example = json!({"reason": "contract ended"})),
    responses((status = 200, description = "The bundle", body = BundleView), (status = 202, description = "A second operator has to confirm it", body = AskedView), NoBundle, BadFields, NotActed, Denied, Unserved),
)]
pub(crate) async fn revoke(State(app): State<App>, named: Named, keyed: Keyed<AsReviewer>) -> HandlerResult {
    acted(&app, named.last(), &keyed, OperatorAct::RevokeBundle).await
}

async fn acted(app: &App, text: &str, keyed: &Keyed<AsReviewer>, what: OperatorAct) -> HandlerResult {
    let id = bundle(text)?;
    let shown = async || {
        let view = app.gateway.read(&keyed.caller, |engine| engine.bundle(BundleReader::Operator, id)).await?;
        with_text(ok(&view)?, ETAG, etag(view.summary.version))
    };
    act(app, keyed, what, text, shown).await
}

async fn asked(app: &App, text: &str, keyed: &Keyed<BundlesWrite>, ask: BundleAsk) -> HandlerResult {
    let (id, comment, expected) = (bundle(text)?, parse_bundle_remark(keyed.body())?, expected(&keyed.raw.parts.headers)?);
    let by = BundleBy::Partner(keyed.caller, keyed.credential.key);
    tagged(StatusCode::OK, keyed.once(app, AskBundle { by, id, expected, ask, comment }).await?)
}

async fn decided(app: &App, text: &str, keyed: &Keyed<AsReviewer>, verdict: BundleVerdict, comment: Option<String>) -> HandlerResult {
    let (by, id, expected) = (acting(keyed)?, bundle(text)?, expected(&keyed.raw.parts.headers)?);
    tagged(StatusCode::OK, keyed.once(app, ReviewBundle { by, id, expected, verdict, comment }).await?)
}

/// Keeps what was sent.
async fn written(app: &App, upload: Uploaded<BundlesWrite, Bundles>, place: Option<(Ulid, Option<u32>)>) -> Result<Answer<BundleRecord>> {
    let kind = upload.parts.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let mut file = upload.file.try_clone().map_err(Error::internal)?;
    let held = Arc::clone(&upload.place);
    let read = move || {
        let mut bytes = zeroize::Zeroizing::new(Vec::new());
        file.rewind().and_then(|()| file.read_to_end(&mut bytes)).map_err(Error::internal)?;
        let content = if kind == ZIP { unpack_bundle(&bytes) } else { parse_bundle(&bytes) };
        drop(held);
        content
    };
    let content = tokio::task::spawn_blocking(read).await.map_err(Error::internal)??;
    let (caller, key) = (upload.caller, upload.by.key);
    let command = app.gateway.read(&caller, move |engine| engine.read_bundle(&caller, key, place, content)).await?;
    upload.once(app, command).await
}

/// What every answer about a bundle has.
#[derive(Deserialize)]
struct Facts {
    id: String,
    version: u32,
}

fn facts<T>(answer: &Answer<T>) -> Result<Facts> {
    serde_json::from_str(&answer.body).map_err(Error::internal)
}

/// The response with this answer, and its version as `ETag`.
fn tagged<T>(status: StatusCode, answer: Answer<T>) -> HandlerResult {
    let version = facts(&answer)?.version;
    with_text(answered(status, answer)?, ETAG, etag(version))
}

fn etag(version: u32) -> String {
    format!("\"{version}\"")
}

fn expected(headers: &hyper::HeaderMap) -> Result<Option<u32>> {
    let gone = || Error::with(ErrorCode::VersionConflict, "there is no such version of a bundle");
    version_in_if_match(headers)?.map(|version| u32::try_from(version).map_err(|_| gone())).transpose()
}

/// The bundle in a path.
pub(super) fn bundle(text: &str) -> Result<Ulid> {
    id(text, "bun_", ErrorCode::BundleNotFound)
}

pub(super) async fn shown<A: Asks>(app: &App, call: &Open<A>, reader: BundleReader, id: Ulid) -> HandlerResult {
    let view = app.gateway.scan(&call.caller, move |engine: &Engine| engine.bundle(reader, id)).await?;
    with_text(ok(&view)?, ETAG, etag(view.summary.version))
}

pub(super) async fn timeline_of<A: Asks>(app: &App, call: &Open<A>, reader: BundleReader, id: Ulid) -> HandlerResult {
    let mut params = Params::of(&call.uri)?;
    let after = params.number("after", 0..=COUNT_MAX).unwrap_or(0);
    let limit = params.number("limit", 1..=200).unwrap_or(50) as usize;
    params.finish()?;
    ok(&app.gateway.scan(&call.caller, move |engine: &Engine| engine.bundle_timeline(reader, id, after, limit)).await?)
}

pub(super) async fn diff_of<A: Asks>(app: &App, call: &Open<A>, reader: BundleReader, id: Ulid) -> HandlerResult {
    let mut params = Params::of(&call.uri)?;
    let (from, to) = (params.number("from", 1..=COUNT_MAX), params.number("to", 1..=COUNT_MAX));
    params.finish()?;
    ok(&app.gateway.scan(&call.caller, move |engine: &Engine| engine.bundle_diff(reader, id, from, to)).await?)
}

pub(super) async fn conformance_of<A: Asks>(app: &App, call: &Open<A>, reader: BundleReader, id: Ulid) -> HandlerResult {
    ok(&app.gateway.scan(&call.caller, move |engine: &Engine| engine.bundle_conformance(reader, id)).await?)
}

/// A document that others wrote: it is downloaded, and never shown.
pub(super) async fn document_of<A: Asks>(app: &App, call: &Open<A>, reader: BundleReader, (text, name): (String, String)) -> HandlerResult {
    let id = bundle(&text)?;
    let revision = revision_in(&call.uri)?;
    let wanted = name.clone();
    let read = move |engine: &Engine| engine.bundle_document(reader, id, &wanted, revision);
    let (media_type, content) = app.gateway.scan(&call.caller, read).await?;
    let response = with(Response::new(content.into()), CONTENT_TYPE, HeaderValue::from_static(media_type))?;
    let response = with(response, X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))?;
    let response = with(response, CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; sandbox"))?;
    // Names of documents are plain.
    with_text(response, CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""))
}

fn revision_in(uri: &Uri) -> Result<Option<u32>> {
    let mut params = Params::of(uri)?;
    let revision = params.number("revision", 1..=COUNT_MAX);
    params.finish()?;
    Ok(revision)
}
