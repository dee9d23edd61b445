//! Creating and reading settlements.

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{CACHE_CONTROL, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH, LOCATION};
use hyper::{HeaderMap, StatusCode};
use railgate::api::{BatchResult, BatchView, Caller, CheckView, CreateBatchBody, CreateBody, Page, ReconcileView, SettlementView, Subject};
use railgate::engine::{Create, Created, Inquiries, NoteCheck, ReportAnswer};
use railgate::rail::RailAnswer;
use railgate::store::record::SettlementRecord;
use railgate::{Error, ErrorCode};
use tokio::task::JoinSet;

use super::App;
use super::body::BATCH;
use super::document::{BadBody, BadMessage, BadQuery, Denied, ListParams, NoSettlement, Refused, Unserved};
use super::extract::{Authenticated, Named, Posted, pairs, prefer_wait};
use super::held;
use super::keyed::REPLAYED;
use super::long_poll::until;
use super::problem::problem;
use super::response::{HandlerResult, json, ok, with, with_text};
use super::route::{Asks, OwnRead, OwnWrite, SettlementsWrite, routes};
use super::unsent::Reader;

const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
pub(crate) const REVALIDATE: HeaderValue = HeaderValue::from_static("private, no-cache");

routes![create, create_batch, check, list, read, reconcile];

/// Create a settlement
///
/// `reference` makes the call idempotent: the same request sent again returns 200 with the settlement in its current
/// state, a different request with the same reference 409. After a timeout or a lost connection, send the same request again.
#[utoipa::path(
    post, path = "/api/v1/gateway/settlements", tag = "settlements", operation_id = "createSettlement",
    params(("Prefer" = Option<String>, Header, description = "`wait=N` holds the response until the settlement is final, for at most N ≤ 30 seconds", example = "wait=10")),
    request_body(content = CreateBody, content_type = "application/json", examples(
        ("minimal" = (summary = "Required fields", value = json!({"amount": 10.50, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "invoice-2026-0001"}))),
        ("full" = (summary = "All fields that clients use", value = json!({"amount": "10.50", "currency": "EUR", "to": "sim:ok", "reference": "invoice-2026-0002", "sandbox": true, "description": "November", "metadata": {"order": "42"}, "expires_at": "2030-01-01T00:00:00Z"}))),
    )),
    responses(
        (status = 201, description = "Created", body = SettlementView, headers(("Location" = String, description = "Path of the record"), ("Preference-Applied" = String, description = "When `Prefer: wait` was sent and the client does not have too many such calls open"))),
        (status = 200, description = "It existed already: the record in its current state", body = SettlementView, headers(("Idempotent-Replayed" = String, description = "`true`"))),
        BadBody, Denied, Refused, Unserved,
    ),
)]
pub(crate) async fn create(State(app): State<App>, posted: Posted<OwnWrite>) -> HandlerResult {
    let mut request = app.gateway.engine().parse_create(posted.body())?;
    request.traceparent = posted.raw.context.kept_traceparent();
    let command = Create { caller: posted.caller, request: Box::new(request) };
    let Created { settlement, replayed } = posted.run(&app, command).await?;
    let wait = prefer_wait(&posted.raw.parts.headers, app.limits.wait_s);
    match wait.and_then(|wait_s| Some((wait_s, held::wait(&app, posted.caller.party())?))) {
        None => created_answer(&app, &posted.caller, &settlement, replayed),
        Some((wait_s, _place)) => {
            // The settlement exists: a store that cannot be read now does not change that.
            let made = settlement.clone();
            let is_final = |record: &SettlementRecord| record.status.is_final();
            let settlement = until(&app, &posted.caller, posted.link(), *settlement, wait_s, is_final).await.unwrap_or(*made);
            let answer = created_answer(&app, &posted.caller, &settlement, replayed)?;
            with_text(answer, PREFERENCE_APPLIED, format!("wait={wait_s}"))
        }
    }
}

fn created_answer(app: &App, caller: &Caller, settlement: &SettlementRecord, replayed: bool) -> HandlerResult {
    let view = app.gateway.engine().view(settlement, caller.client_id);
    if replayed {
        app.metrics.replayed();
        return with(ok(&view)?, REPLAYED, HeaderValue::from_static("true"));
    }
    let answer = json(StatusCode::CREATED, &view)?;
    with_text(answer, LOCATION, view.links.itself.text())
}

/// Create up to 1,000 settlements in one call
///
/// Each element succeeds or fails on its own, as if sent alone; pointers in its problem are relative to the element. The elements
/// list at most 100 invalid fields together; further ones are only counted.
#[utoipa::path(
    post, path = "/api/v1/gateway/settlements/batch", tag = "settlements", operation_id = "createSettlements",
    request_body(content = CreateBatchBody, content_type = "application/json", example = json!({"settlements": [{"amount": 10.50, "currency": "EUR", "to": "sim:ok", "reference": "pay-1"}, {"amount": 20, "currency": "EUR", "to": "sim:ok", "reference": "pay-2"}]})),
    responses((status = 200, description = "The outcome of each element, in order", body = BatchView), BadBody, Denied, Unserved),
)]
pub(crate) async fn create_batch(State(app): State<App>, posted: Posted<SettlementsWrite, BATCH>) -> HandlerResult {
    let caller = posted.caller;
    app.unsent.check(Reader::Client(caller.client_id))?;
    let parsed = app.gateway.engine().parse_batch(posted.body())?;
    // Each element counts, as if sent alone.
    posted.charge(&app, parsed.len())?;
    let mut commands = Vec::with_capacity(parsed.len());
    let mut refused = Vec::with_capacity(parsed.len());
    for (index, element) in parsed.into_iter().enumerate() {
        refused.push(match element {
            Ok(mut request) => {
                request.traceparent = posted.raw.context.kept_traceparent();
                commands.push(posted.signed_element(&app, index, Create { caller, request: Box::new(request) }));
                None
            }
            Err(error) => Some(error),
        });
    }
    let outcomes = app.gateway.run_all(&caller, commands).await?;
    // The call is a recorded one: what was refused then is refused now.
    if let Some(Err(error)) = outcomes.iter().find(|outcome| outcome.as_ref().is_err_and(|error| error.code == ErrorCode::NonceReplayed)) {
        return Err(error.clone().into());
    }
    let mut outcomes = outcomes.into_iter();
    let results = refused.into_iter().map(|refusal| match refusal {
        Some(error) => Err(error),
        None => outcomes.next().unwrap_or_else(|| Err(Error::internal("an element was not answered"))),
    });
    let engine = app.gateway.engine();
    let results = results.map(|result| match result {
        Ok(Created { settlement, replayed }) => {
            if replayed {
                app.metrics.replayed();
            }
            let status = if replayed { StatusCode::OK } else { StatusCode::CREATED };
            let view = engine.view(&settlement, caller.client_id);
            BatchResult { status: status.as_u16(), settlement: Some(view), problem: None }
        }
        Err(error) => {
            let problem = problem(&error, posted.raw.parts.uri.path(), posted.raw.context.id());
            BatchResult { status: problem.status, settlement: None, problem: Some(problem) }
        }
    });
    ok(&BatchView { results: results.collect() })
}

/// Check a create request without doing anything
///
/// Validates like a create, and returns what a create would cost and where it would go.
#[utoipa::path(
    post, path = "/api/v1/gateway/settlements/check", tag = "settlements", operation_id = "checkSettlement",
    request_body(content = CreateBody, content_type = "application/json", example = json!({"amount": 10.50, "currency": "EUR", "to": "sim:ok", "reference": "invoice-2026-0001"})),
    responses((status = 200, description = "The outcome that a create would have now", body = CheckView), BadBody, Denied, Unserved),
)]
pub(crate) async fn check(State(app): State<App>, posted: Posted<OwnWrite>) -> HandlerResult {
    let mut preflight = app.gateway.read(&posted.caller, |engine| engine.preflight(&posted.caller, posted.body())).await?;
    let Some(lookup) = preflight.lookup.take() else { return ok(&preflight.view) };
    ok(&preflight.answered(app.carrier.converse(lookup).await?))
}

/// List settlements, newest first
///
/// Pass `next_cursor` as `cursor` for the next page. Settlements created meanwhile do not shift the pages.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements", tag = "settlements", operation_id = "listSettlements",
    params(ListParams, ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200), ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page")),
    responses((status = 200, description = "One page", body = Page<SettlementView>), BadQuery, Denied, Unserved),
)]
pub(crate) async fn list(State(app): State<App>, Authenticated(call): Authenticated<OwnRead>) -> HandlerResult {
    let request = app.gateway.engine().parse_list(&pairs(&call.uri)?)?;
    let page = app.gateway.scan(&call.caller, move |engine| engine.list(&call.caller, &request)).await?;
    ok(&page)
}

/// Read a settlement
///
/// `ref` is the client's reference or the `stl_` id. The response's `ETag` can be sent as `If-None-Match`.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}", tag = "settlements", operation_id = "getSettlement",
    params(("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"), ("If-None-Match" = Option<String>, Header, description = "An `ETag`", example = "\"3\"")),
    responses(
        (status = 200, description = "The record", body = SettlementView, headers(("ETag" = String, description = "The version"))),
        (status = 304, description = "Unchanged since the version in `If-None-Match`"),
        NoSettlement, Denied, Unserved,
    ),
)]
pub(crate) async fn read(State(app): State<App>, Authenticated(call): Authenticated<OwnRead>, named: Named) -> HandlerResult {
    let record = app.gateway.read(&call.caller, |engine| engine.settlement(&call.caller, named.target()?)).await?;
    let tag = format!("\"{}\"", record.version);
    let answer = if matches(&call.headers, &tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ok(&app.gateway.engine().view(&record, call.caller.client_id))?
    };
    tagged(answer, tag)
}

fn tagged(answer: Response, tag: String) -> HandlerResult {
    let answer = with(answer, CACHE_CONTROL, REVALIDATE)?;
    with_text(answer, ETAG, tag)
}

/// Whether `If-None-Match` names this tag; weak and strong tags compare equal here (RFC 9110, 13.1.2).
pub(crate) fn matches(headers: &HeaderMap, tag: &str) -> bool {
    let lists = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = lists.flat_map(|list| list.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// Ask the rail now, and reconcile
///
/// Compares the record, the ledger, the chain of events and what the rail reports about the payment and its reversals. What contradicts
/// the record waits for a person from then on: `needs_review`. Each question to the rail counts as a call.
#[utoipa::path(
    post, path = "/api/v1/gateway/settlements/{ref}/check", tag = "settlements", operation_id = "reconcileSettlement",
    params(("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001")),
    responses((status = 200, description = "Whether everything agrees, and the record afterwards", body = ReconcileView), BadMessage, NoSettlement, Denied, Unserved),
)]
pub(crate) async fn reconcile(State(app): State<App>, named: Named, posted: Posted<SettlementsWrite>) -> HandlerResult {
    let gateway = &app.gateway;
    let target = named.target()?.clone();
    let settlement = gateway.read(&posted.caller, |engine| engine.settlement(&posted.caller, &target)).await?;
    let (caller, (answers, left_out)) = (posted.caller, inquire(&app, &posted, &settlement).await?);
    let view = gateway.scan(&caller, move |engine| engine.reconcile(&caller, &target, &answers, left_out)).await?;
    ok(&view)
}

/// Asks the rail about a settlement and its reversals, on behalf of whoever calls, and applies the answers. Returns them, and about how
/// many reversals it was not asked.
pub(super) async fn inquire<A: Asks>(
    app: &App,
    posted: &Posted<A>,
    settlement: &SettlementRecord,
) -> railgate::Result<(Vec<(Subject, RailAnswer)>, usize)> {
    let (gateway, caller) = (&app.gateway, posted.caller);
    let Inquiries { calls, left_out } = gateway.read(&caller, |engine| engine.inquiries(settlement)).await?;
    // Each question counts, as if it were asked alone.
    posted.charge(app, calls.len())?;
    // Recorded before anything leaves: the same call sent again must not ask the rail again.
    posted.run(app, NoteCheck(settlement.no)).await?;
    let mut asking = JoinSet::new();
    for call in calls {
        let (subject, carrier) = (call.subject, app.carrier.clone());
        asking.spawn(async move { Ok::<_, Error>((subject, carrier.ask(&caller, call).await?)) });
    }
    let mut answers = Vec::with_capacity(asking.len());
    while let Some(asked) = asking.join_next().await {
        let (subject, answer) = asked.map_err(Error::internal)??;
        gateway.run(&caller, ReportAnswer { subject, answer: answer.clone(), lease: None }).await?;
        answers.push((subject, answer));
    }
    // In the order of the questions, however long each took.
    answers.sort_by_key(|(subject, _)| match *subject {
        Subject::Attempt(_, n) => (0, n),
        Subject::Reversal(_, n) => (1, n),
    });
    Ok((answers, left_out))
}
