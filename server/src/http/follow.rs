//! Following a settlement: long polls of its status, and its trace as pages or as a stream.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::response::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Uri};
use railgate::api::{EventView, Page, StatusView};
use railgate::error::FieldProblem;
use railgate::store::record::SettlementRecord;
use railgate::{Error, Result};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::App;
use super::answer::{Answer, NO_STORE, ok};
use super::call::{Call, Named, Open, Params};
use super::document::{BadQuery, Denied, NoSettlement, Unserved};
use super::hold::until;
use super::negotiate::{JSON, choose};
use super::token;

const EVENT_STREAM: &str = "text/event-stream";
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// Events read together for a stream.
const STREAM_PAGE: usize = 100;

/// Read a settlement's status, or wait for the next one
///
/// With `wait`, the answer is held until the version is above `version` (the current one unless given), at most that
/// many seconds. A settlement that is final answers at once, unless `version` is given.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/status", tag = "settlements", operation_id = "getSettlementStatus",
    params(
        ("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"),
        ("wait" = Option<u32>, Query, description = "Seconds to wait for a change", minimum = 0, maximum = 30),
        ("version" = Option<u32>, Query, description = "The version that is known already"),
    ),
    responses((status = 200, description = "The status", body = StatusView), BadQuery, NoSettlement, Denied, Unserved),
)]
pub(crate) async fn status(State(app): State<App>, Call(call): Call, named: Named) -> Answer {
    let mut params = Params::of(&call.uri)?;
    let wait_s = params.number("wait", 0..=app.limits.wait_s).unwrap_or(0);
    let known = params.number("version", 0..=u32::MAX);
    params.finish()?;
    let record = app.gateway.read(|engine| engine.settlement(&call.caller, named.target()?))?;
    let version = known.unwrap_or(record.version);
    let enough = |record: &SettlementRecord| record.version > version || (known.is_none() && record.status.is_final());
    let record = until(&app, &call.caller, record, wait_s, enough).await?;
    ok(&app.gateway.engine().status_view(&record))
}

/// Read a settlement's trace, or follow it live
///
/// As JSON, a page of events, oldest first; pass the last `sequence` as `after` for the next page. As
/// `text/event-stream` (Server-Sent Events), everything above `after` or `Last-Event-ID` and then each event as it
/// happens; `id` is the sequence. A comment is sent every 15 seconds. The stream stays open until the client closes it,
/// the token of the call ends or the server is shut down; it is taken up again with `Last-Event-ID` and a fresh token.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/events", tag = "settlements", operation_id = "listSettlementEvents",
    params(
        ("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"),
        ("after" = Option<u32>, Query, description = "Only events with a higher sequence"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 unless told", minimum = 1, maximum = 200),
        ("Last-Event-ID" = Option<u32>, Header, description = "Where a broken stream is taken up again"),
    ),
    responses(
        (status = 200, description = "A page, or a stream that stays open", content(
            (Page<EventView> = "application/json"),
            (String = "text/event-stream", example = "id: 1\nevent: settlement.accepted\ndata: {}\n\n"),
        )),
        BadQuery, NoSettlement, Denied, Unserved,
    ),
)]
pub(crate) async fn events(State(app): State<App>, open: Open, named: Named) -> Answer {
    let kind = choose(&open.headers, &[JSON, EVENT_STREAM])?;
    let (after, limit) = range(&open.uri, &open.headers)?;
    let record = app.gateway.read(|engine| engine.settlement(&open.caller, named.target()?))?;
    if kind == EVENT_STREAM {
        let token = token::bearer(&open.headers)?.ok_or_else(token::missing)?.to_owned();
        return Ok(stream(app, token, record, after));
    }
    let page = app.gateway.scan(move |engine| page(engine.events(&record, after, limit + 1)?, limit)).await?;
    ok(&page)
}

fn range(uri: &Uri, headers: &HeaderMap) -> Result<(u32, usize)> {
    let mut params = Params::of(uri)?;
    let after = params.number("after", 0..=u32::MAX);
    let limit = params.number("limit", 1..=200).unwrap_or(50);
    params.finish()?;
    let last = headers.get(LAST_EVENT_ID).map(|value| value.to_str().ok().and_then(|text| text.trim().parse().ok()));
    let last = match last {
        Some(None) => {
            let problem = FieldProblem::new("Last-Event-ID", "out_of_range", "Last-Event-ID must be the id of an event of this stream");
            return Err(Error::invalid(vec![problem]));
        }
        Some(Some(last)) => Some(last),
        None => None,
    };
    // The browser sends both when it takes up a stream again; the header is the newer one.
    Ok((last.or(after).unwrap_or(0), limit as usize))
}

fn page(mut events: Vec<EventView>, limit: usize) -> Result<Page<EventView>> {
    let has_more = events.len() > limit;
    events.truncate(limit);
    let next_cursor = events.last().filter(|_| has_more).map(|event| event.sequence.to_string());
    Ok(Page { data: events, has_more, next_cursor })
}

fn stream(app: App, token: String, record: SettlementRecord, after: u32) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        let follower = Follower { app, token, record, after, sender };
        if let Err(error) = follower.follow().await {
            tracing::warn!(%error, "a stream of events ended");
        }
    });
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(EVENT_STREAM));
    headers.insert(CACHE_CONTROL, NO_STORE);
    // Proxies that gather answers before they pass them on would hold the stream back.
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}

struct Follower {
    app: App,
    /// Under which it was opened.
    token: String,
    record: SettlementRecord,
    after: u32,
    sender: mpsc::Sender<Result<Bytes>>,
}

impl Follower {
    /// Sends what is there and then what happens, until nobody listens, the token ends or the process is to end.
    async fn follow(mut self) -> Result<()> {
        let mut watch = self.app.gateway.watch(self.record.no);
        let mut stopping = self.app.stopping.clone();
        let mut heartbeat = tokio::time::interval(self.app.limits.heartbeat.max(Duration::from_millis(1)));
        heartbeat.reset();
        if self.sender.send(Ok(Bytes::from_static(b"retry: 1000\n\n"))).await.is_err() {
            return Ok(());
        }
        while self.catch_up().await? {
            tokio::select! {
                () = watch.changed() => {}
                _ = heartbeat.tick() => {
                    if self.sender.send(Ok(Bytes::from_static(b": still here\n\n"))).await.is_err() {
                        return Ok(());
                    }
                }
                () = self.sender.closed() => return Ok(()),
                () = stopping.requested() => return Ok(()),
            }
        }
        Ok(())
    }

    /// Sends every event that was not sent yet; `false` when nobody listens any more, or nobody may.
    async fn catch_up(&mut self) -> Result<bool> {
        loop {
            // Whoever was let in is not let in for ever: the stream ends with its token, key and client, and is taken up
            // again with another signature.
            let (token, record, after) = (self.token.clone(), self.record.clone(), self.after);
            let read = self.app.gateway.scan(move |engine| {
                engine.authenticate(&token)?;
                engine.events(&record, after, STREAM_PAGE)
            });
            let events = match read.await {
                Ok(events) => events,
                Err(error) if error.code.http_status() < 500 => return Ok(false),
                Err(error) => {
                    // Cut off, so that the client comes back and asks again from where it was.
                    let _ = self.sender.send(Err(error.clone())).await;
                    return Err(error);
                }
            };
            let full = events.len() == STREAM_PAGE;
            let mut text = String::with_capacity(512 * events.len());
            for event in &events {
                write_event(&mut text, event)?;
                self.after = event.sequence;
            }
            if !text.is_empty() && self.sender.send(Ok(text.into())).await.is_err() {
                return Ok(false);
            }
            if !full {
                return Ok(true);
            }
        }
    }
}

fn write_event(out: &mut String, event: &EventView) -> Result<()> {
    use std::fmt::Write as _;
    let data = serde_json::to_string(event).map_err(Error::internal)?;
    // JSON without white space between its parts is one line.
    write!(out, "id: {}\nevent: {}\ndata: {data}\n\n", event.sequence, event.kind.as_str()).map_err(Error::internal)
}
