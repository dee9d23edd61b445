//! Statements of providers, compared with the settlements.

use std::sync::Arc;

use axum::extract::State;
use hyper::StatusCode;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, HeaderValue, LOCATION, X_CONTENT_TYPE_OPTIONS};
use railgate::api::{Caller, ReconciliationView, ReconciliationsView, SignedBy, StatementFindingsView};
use railgate::engine::{BeginReconciliation, Begun, KeepReconciled, Kept, LastStep, ReconcileHost, Signed};
use railgate::error::FieldProblem;
use railgate::reconcile::{HTML_END, content_security_policy, html_begin};
use railgate::store::record::{FindingKind, StatementFormat};
use railgate::{Engine, Error, Result};

use super::super::App;
use super::super::document::{BadQuery, Denied, NoProvider, NoReconciliation, NotReconciled, Unserved};
use super::super::export::{CSV, CSV_CONTENT, stream_text};
use super::super::extract::{Authenticated, Named, Open, Params};
use super::super::keyed::{id_in, marked};
use super::super::negotiate::{JSON, choose};
use super::super::response::{HandlerResult, json, ok, with, with_text};
use super::super::route::{AsAgent, AsViewer, routes};
use super::super::upload::Uploaded;
use super::{operator_of, page};
use crate::gateway::Gateway;
use crate::reconciling::{StatementFile, csv_header, csv_rows, html_rows};

routes![reconcile, reconciliations, reconciliation, findings];

/// Where statements are sent.
pub(in crate::http) const PATH: &str = "/api/v1/operator/reconciliations";
const HTML: &str = "text/html";
/// How many findings are streamed at a time.
const ROWS: usize = 500;

/// Send a provider's statement and compare it with the settlements
///
/// CSV, ISO 20022 camt.053 and camt.054 in the versions 02 and 08, or statement entries of the GSMA Mobile Money API; the format is found
/// by the content. At most 256 MiB and 2,000,000 lines. What differs waits for a person. The same file of the same provider again
/// answers with the reconciliation that there is, unless `again` asks for another comparison with what the gateway has by now.
#[utoipa::path(
    post, path = "/api/v1/operator/reconciliations", tag = "operators", operation_id = "reconcileStatement",
    params(
        ("provider" = String, Query, description = "The provider's id", example = "simulator"),
        ("file" = Option<String>, Query, description = "The name of the file, for people", example = "2026-11-24.csv"),
        ("again" = Option<bool>, Query, description = "Compare a file again that was compared before"),
    ),
    request_body(content(
        (String = "text/csv", example = "Date,Reference,Amount\n2026-11-24,R-1,-10.50\n"),
        (String = "application/xml", example = "<Document>…</Document>"),
        (String = "text/xml"),
        (String = "application/json", example = "[]"),
    )),
    responses((status = 201, description = "Compared", body = ReconciliationView), (status = 200, description = "It was compared before", body = ReconciliationView), NotReconciled, Denied, Unserved),
)]
pub(crate) async fn reconcile(State(app): State<App>, upload: Uploaded<AsAgent>) -> HandlerResult {
    let mut params = Params::of(&upload.parts.uri)?;
    let (provider, name) = (params.text("provider"), params.text("file").unwrap_or_default());
    let again = params.choice("again", &[false, true], |it| if it { "true" } else { "false" }).unwrap_or(false);
    params.finish()?;
    let required = || Error::invalid(vec![FieldProblem::new("provider", "required", "is required")]);
    let provider = provider.ok_or_else(required)?;
    if let Some(answer) = upload.kept(&app).await? {
        let id = id_in(&answer)?;
        return marked(ok(&app.gateway.read(&upload.caller, |engine| engine.reconciliation(&id)).await?)?, true);
    }
    let by = operator_of(&upload.caller)?;
    let order = BeginReconciliation { provider, name, digest: upload.sha256, format: StatementFormat::Csv, by, again };
    let file = upload.file.try_clone().map_err(Error::internal)?;
    let mut host = OnQueue { gateway: app.gateway.clone(), caller: upload.caller, by: upload.by.clone(), is_new: false };
    // A caller who leaves does not stop it, and its place is taken until then.
    let (gateway, place) = (app.gateway.clone(), Arc::clone(&upload.place));
    let work = move || {
        let run = gateway.engine().reconcile_file(order, &mut StatementFile(file), &mut host)?;
        drop(place);
        Ok::<_, Error>((gateway.engine().reconciliation_view(&run)?, host.is_new))
    };
    let (view, is_new) = tokio::task::spawn_blocking(work).await.map_err(Error::internal)??;
    upload.keep(&app, LastStep::<BeginReconciliation, _> { command: None, view: view.clone() }).await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    with_text(json(status, &view)?, LOCATION, format!("{PATH}/{}", view.id))
}

/// Runs the commands in the queue, as the operator who signed.
struct OnQueue {
    gateway: Gateway,
    caller: Caller,
    /// Who signed the call.
    by: SignedBy,
    is_new: bool,
}

impl ReconcileHost for OnQueue {
    fn begin(&mut self, command: BeginReconciliation) -> Result<Begun> {
        let begun = self.gateway.run_blocking(&self.caller, Signed { by: self.by.clone(), command })?;
        self.is_new = begun.is_due;
        Ok(begun)
    }

    fn keep(&mut self, command: KeepReconciled) -> Result<Kept> {
        self.gateway.run_blocking(&self.caller, command)
    }
}

/// List what was compared, newest first
#[utoipa::path(
    get, path = "/api/v1/operator/reconciliations", tag = "operators", operation_id = "listReconciliations",
    params(
        ("provider" = Option<String>, Query, description = "Only statements of this provider", example = "simulator"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = ReconciliationsView), BadQuery, NoProvider, Denied, Unserved),
)]
pub(crate) async fn reconciliations(State(app): State<App>, Authenticated(call): Authenticated<AsViewer>) -> HandlerResult {
    let (limit, cursor, provider) = page(&call.uri, |params| params.text("provider"))?;
    let read = move |engine: &Engine| engine.reconciliations(provider.as_deref(), cursor.as_deref(), limit);
    ok(&app.gateway.scan(&call.caller, read).await?)
}

/// Read what was compared
///
/// As JSON, or, by `Accept`, as a page to print with all findings.
#[utoipa::path(
    get, path = "/api/v1/operator/reconciliations/{id}", tag = "operators", operation_id = "getReconciliation",
    params(("id" = String, Path, description = "The `rec_` id", example = "rec_01ARZ3NDEKTSV4RRFFQ69G5FAV")),
    responses(
        (status = 200, description = "The reconciliation", content((ReconciliationView = "application/json"), (String = "text/html", example = "<!DOCTYPE html>…"))),
        NoReconciliation, Denied, Unserved,
    ),
)]
pub(crate) async fn reconciliation(State(app): State<App>, open: Open<AsViewer>, named: Named) -> HandlerResult {
    let kind = choose(&open.headers, &[JSON, HTML])?;
    let (caller, id) = (open.caller, named.last().to_owned());
    let view = app.gateway.read(&caller, |engine| engine.reconciliation(&id)).await?;
    if kind == JSON {
        return ok(&view);
    }
    let read = move |engine: &Engine, cursor: Option<String>| {
        let page = engine.findings(&id, None, cursor.as_deref(), ROWS)?;
        let end = if page.has_more { "" } else { HTML_END };
        Ok((format!("{}{end}", html_rows(&page.data)), page.next_cursor.map(Some)))
    };
    let name = format!("inline; filename=\"{}.html\"", view.id);
    let response = stream_text(app, caller, "text/html; charset=utf-8", html_begin(&view), None, Box::new(read)).await?;
    // The page contains text by others: its type must not be guessed.
    let response = with(response, X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"))?;
    let response = with_text(response, CONTENT_SECURITY_POLICY, content_security_policy())?;
    with_text(response, CONTENT_DISPOSITION, name)
}

/// List what a comparison found, in the order of the statement's lines
///
/// What is missing there comes last. By `Accept`, all findings as CSV, without pages. In CSV, a text that a spreadsheet would take for a
/// formula has an apostrophe in front.
#[utoipa::path(
    get, path = "/api/v1/operator/reconciliations/{id}/findings", tag = "operators", operation_id = "listFindings",
    params(
        ("id" = String, Path, description = "The `rec_` id", example = "rec_01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        ("kind" = Option<FindingKind>, Query, description = "Only findings of this kind"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses(
        (status = 200, description = "One page, or all findings", content((StatementFindingsView = "application/json"), (String = "text/csv", example = "n,kind,settlement_id\n"))),
        BadQuery, NoReconciliation, Denied, Unserved,
    ),
)]
pub(crate) async fn findings(State(app): State<App>, open: Open<AsViewer>, named: Named) -> HandlerResult {
    let media = choose(&open.headers, &[JSON, CSV])?;
    let (caller, id) = (open.caller, named.last().to_owned());
    if media == JSON {
        let (limit, cursor, kind) = page(&open.uri, of_kind)?;
        let read = move |engine: &Engine| engine.findings(&id, kind, cursor.as_deref(), limit);
        return ok(&app.gateway.scan(&caller, read).await?);
    }
    let mut params = Params::of(&open.uri)?;
    let kind = of_kind(&mut params);
    params.finish()?;
    let name = format!("attachment; filename=\"{id}.csv\"");
    let read = move |engine: &Engine, cursor: Option<String>| {
        let page = engine.findings(&id, kind, cursor.as_deref(), ROWS)?;
        Ok((csv_rows(&page.data), page.next_cursor.map(Some)))
    };
    let response = stream_text(app, caller, CSV_CONTENT, csv_header(), None, Box::new(read)).await?;
    with_text(response, CONTENT_DISPOSITION, name)
}

fn of_kind(params: &mut Params) -> Option<FindingKind> {
    params.choice("kind", FindingKind::ALL, |kind| kind.as_str())
}
