//! Exports: a whole list, streamed page by page, so that its size is not limited.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use hyper::HeaderMap;
use hyper::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue};
use railgate::api::{Caller, Page, SettlementView};
use railgate::engine::ListRequest;
use railgate::ids::ClientNo;
use railgate::{Engine, Error, Result};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::App;
use super::document::{BadQuery, Denied, ListParams, Unserved};
use super::extract::{Open, pairs};
use super::held;
use super::negotiate::choose;
use super::response::{HandlerResult, with_text};
use super::route::{SettlementsRead, routes};
use crate::csv::write_cells;
use crate::shares::Share;

pub(super) const CSV: &str = "text/csv";
pub(super) const CSV_CONTENT: &str = "text/csv; charset=utf-8; header=present";
pub(super) const NDJSON: &str = "application/x-ndjson";
const PAGE: usize = 200;

routes![export];

/// Export settlements as CSV or NDJSON
///
/// Takes the filters of the list and streams everything that matches, newest first. An export that fails midway is cut off
/// without a proper end of the response, so that a client can tell. In CSV, a text that a spreadsheet would take for a formula has an
/// apostrophe in front.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/export", tag = "settlements", operation_id = "exportSettlements",
    params(ListParams),
    responses(
        (status = 200, description = "Everything that matches", content(
            (String = "text/csv", example = "id,reference,status\n"),
            (String = "application/x-ndjson", example = "{\"id\":\"stl_01ARZ3NDEKTSV4RRFFQ69G5FAV\"}\n"),
        )),
        BadQuery, Denied, Unserved,
    ),
)]
pub(crate) async fn export(State(app): State<App>, open: Open<SettlementsRead>) -> HandlerResult {
    let (pairs, caller) = (pairs(&open.uri)?, open.caller);
    stream(app, &open.headers, caller, &pairs, Box::new(move |engine, request| engine.list(&caller, request))).await
}

/// Reads a page of the list that is exported.
pub(super) type Read = Box<dyn Fn(&Engine, &ListRequest) -> Result<Page<SettlementView>> + Send + Sync>;

/// Streams the list that these parameters describe.
pub(super) async fn stream(app: App, headers: &HeaderMap, caller: Caller, pairs: &[(String, String)], read: Read) -> HandlerResult {
    let form = Form::of(choose(headers, &[CSV, NDJSON])?);
    if let Some((name, _)) = pairs.iter().find(|(name, _)| name == "cursor" || name == "limit") {
        return Err(Error::field(name.as_str(), "unknown_parameter", "an export has no pages").into());
    }
    let mut request = app.gateway.engine().parse_list(pairs)?;
    request.limit = PAGE;
    let page = move |engine: &Engine, request: ListRequest| {
        let page = read(engine, &request)?;
        Ok((form.rows(&page.data, write_row)?, request.next(&page)))
    };
    stream_rows(app, caller, form, ("settlements", HEADER), request, Box::new(page)).await
}

/// The forms of a stream.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Csv,
    NdJson,
}

impl Form {
    /// The form of this media type, one of [`CSV`] and [`NDJSON`].
    pub(super) fn of(kind: &str) -> Self {
        if kind == CSV { Self::Csv } else { Self::NdJson }
    }

    /// Records as text.
    pub(super) fn rows<T: Serialize>(self, records: &[T], write: impl Fn(&mut String, &T) -> Result<()>) -> Result<String> {
        let mut out = String::with_capacity(1_024 * records.len());
        for record in records {
            match self {
                Self::Csv => write(&mut out, record)?,
                Self::NdJson => {
                    out.push_str(&serde_json::to_string(record).map_err(Error::internal)?);
                    out.push('\n');
                }
            }
        }
        Ok(out)
    }
}

/// A page as text, and the request for the next page.
pub(super) type Rows<R> = (String, Option<R>);

/// Reads a page of what is streamed.
pub(super) type ReadRows<R> = Box<dyn Fn(&Engine, R) -> Result<Rows<R>> + Send + Sync>;

/// Streams page after page. `name` is that of the file, and the header of its CSV form.
pub(super) async fn stream_rows<R: Send + 'static>(
    app: App,
    caller: Caller,
    form: Form,
    (name, header): (&str, &str),
    first: R,
    read: ReadRows<R>,
) -> HandlerResult {
    let (content, ending, head) = match form {
        Form::Csv => (CSV_CONTENT, "csv", header),
        Form::NdJson => (NDJSON, "ndjson", ""),
    };
    stream_text(app, caller, content, head.to_owned(), first, read)
        .await
        .and_then(|response| with_text(response, CONTENT_DISPOSITION, format!("attachment; filename=\"{name}.{ending}\"")))
}

/// Streams page after page of a text of this type, which begins with `head`.
pub(super) async fn stream_text<R: Send + 'static>(
    app: App,
    caller: Caller,
    content: &'static str,
    head: String,
    first: R,
    read: ReadRows<R>,
) -> HandlerResult {
    let (sender, receiver) = mpsc::channel(2);
    let place = held::export(&app, caller.client)?;
    let export = Export { app, caller, read: Arc::new(read), sender, _place: place };
    // Before the response starts, so that an error here is still reported as a problem.
    let (text, next) = export.page(first).await?;
    tokio::spawn(export.run((format!("{head}{text}"), next)));
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(receiver)));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(content));
    Ok(response)
}

struct Export<R> {
    app: App,
    caller: Caller,
    read: Arc<ReadRows<R>>,
    sender: mpsc::Sender<Result<Bytes>>,
    /// Its place among the exports.
    _place: Share<ClientNo>,
}

impl<R: Send + 'static> Export<R> {
    async fn run(self, first: Rows<R>) {
        if let Err(error) = self.stream(first).await {
            tracing::warn!(%error, "an export broke off");
            let _ = self.sender.send(Err(error)).await;
        }
    }

    async fn stream(&self, (mut text, mut next): Rows<R>) -> Result<()> {
        loop {
            if !text.is_empty() && self.sender.send(Ok(text.into())).await.is_err() {
                // The client disconnected.
                return Ok(());
            }
            let Some(request) = next else { return Ok(()) };
            (text, next) = self.page(request).await?;
        }
    }

    async fn page(&self, request: R) -> Result<Rows<R>> {
        let read = Arc::clone(&self.read);
        self.app.gateway.scan(&self.caller, move |engine| read(engine, request)).await
    }
}

const HEADER: &str = "id,reference,status,version,sandbox,amount,amount_minor,currency,to,fee,total_debit,provider,\
    rail_reference,attempts,failure_code,failure_rail_code,needs_review,reversed_amount,reversing_amount,iso_status,\
    description,metadata,client_id,created_at,updated_at,completed_at,expires_at,direction,from\r\n";

/// One record (RFC 4180), in the order of [`HEADER`]. A missing value is an empty cell.
fn write_row(out: &mut String, view: &SettlementView) -> Result<()> {
    let failure = view.failure.as_ref();
    let metadata = if view.metadata.is_empty() { String::new() } else { serde_json::to_string(&view.metadata).map_err(Error::internal)? };
    let (version, attempts) = (view.version.to_string(), view.attempts.to_string());
    let cells: [&str; 29] = [
        &view.id,
        &view.reference,
        view.status.as_str(),
        &version,
        boolean(view.sandbox),
        view.amount.as_str(),
        &view.amount_minor,
        &view.currency,
        &view.to,
        view.fee.as_str(),
        view.total_debit.as_str(),
        &view.provider,
        view.rail_reference.as_deref().unwrap_or_default(),
        &attempts,
        failure.map_or("", |failure| failure.code.as_str()),
        failure.and_then(|failure| failure.rail_code.as_deref()).unwrap_or_default(),
        boolean(view.needs_review),
        view.reversed_amount.as_str(),
        view.reversing_amount.as_str(),
        view.iso_status.as_str(),
        view.description.as_deref().unwrap_or_default(),
        &metadata,
        &view.client_id,
        &view.created_at,
        &view.updated_at,
        view.completed_at.as_deref().unwrap_or_default(),
        view.expires_at.as_deref().unwrap_or_default(),
        view.direction.as_str(),
        view.from.as_deref().unwrap_or_default(),
    ];
    write_cells(out, &cells);
    Ok(())
}

fn boolean(value: bool) -> &'static str {
    if value { "true" } else { "false" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_names_every_cell() {
        assert_eq!(HEADER.trim().split(',').count(), 29);
    }
}
