//! Following a settlement: long polls of its status, and its trace as pages or as a stream.

use axum::extract::State;
use hyper::{HeaderMap, Uri};
use railgate::Result;
use railgate::api::{EventView, Page, StatusView};
use railgate::store::record::SettlementRecord;
use railgate::validate::COUNT_MAX;

use super::App;
use super::document::{BadQuery, Denied, NoSettlement, Unserved};
use super::extract::{Authenticated, Named, Open, Params};
use super::held;
use super::long_poll::until;
use super::negotiate::{JSON, choose};
use super::response::{HandlerResult, ok};
use super::route::{OwnRead, routes};
use super::stream::{self, EVENT_STREAM, Followed};
use super::token;

routes![status, events];

/// Read a settlement's status, or wait for a change
///
/// With `wait`, the response is held until the version is above `version` (by default the current one), for at most that
/// many seconds. A final settlement is returned at once, unless `version` is given. A client that has too many such calls open is
/// answered at once.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/status", tag = "settlements", operation_id = "getSettlementStatus",
    params(
        ("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"),
        ("wait" = Option<u32>, Query, description = "Seconds to wait for a change", minimum = 0, maximum = 30),
        ("version" = Option<u32>, Query, description = "The version that the caller already has"),
    ),
    responses((status = 200, description = "The status", body = StatusView), BadQuery, NoSettlement, Denied, Unserved),
)]
pub(crate) async fn status(State(app): State<App>, Authenticated(call): Authenticated<OwnRead>, named: Named) -> HandlerResult {
    let mut params = Params::of(&call.uri)?;
    let wait_s = params.number("wait", 0..=app.limits.wait_s).unwrap_or(0);
    let known = params.number("version", 0..=COUNT_MAX);
    params.finish()?;
    let record = app.gateway.read(&call.caller, |engine| engine.settlement(&call.caller, named.target()?)).await?;
    let version = known.unwrap_or(record.version);
    let enough = |record: &SettlementRecord| record.version > version || (known.is_none() && record.status.is_final());
    let place = if wait_s > 0 { held::wait(&app, call.caller.party()) } else { None };
    let wait_s = if place.is_some() { wait_s } else { 0 };
    let record = until(&app, &call.caller, call.link.as_deref(), record, wait_s, enough).await?;
    ok(&app.gateway.engine().status_view(&record))
}

/// Read a settlement's trace, or follow it live
///
/// As JSON, a page of events, oldest first; pass the last `sequence` as `after` for the next page. As
/// `text/event-stream` (Server-Sent Events), all events after `after` or `Last-Event-ID`, then each event as it happens;
/// `id` is the sequence. A comment is sent every 15 seconds. The stream stays open until the client closes it, the token
/// of the call ends or the server shuts down; resume it with `Last-Event-ID` and a fresh token.
#[utoipa::path(
    get, path = "/api/v1/gateway/settlements/{ref}/events", tag = "settlements", operation_id = "listSettlementEvents",
    params(
        ("ref" = String, Path, description = "The client's reference, or the `stl_` id", example = "invoice-2026-0001"),
        ("after" = Option<u32>, Query, description = "Only events with a higher sequence"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("Last-Event-ID" = Option<i64>, Header, description = "The last event received; resumes a broken stream", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page, or a stream that stays open", content(
            (Page<EventView> = "application/json"),
            (String = "text/event-stream", example = "id: 1\nevent: settlement.accepted\ndata: {}\n\n"),
        )),
        BadQuery, NoSettlement, Denied, Unserved,
    ),
)]
pub(crate) async fn events(State(app): State<App>, open: Open<OwnRead>, named: Named) -> HandlerResult {
    let kind = choose(&open.headers, &[JSON, EVENT_STREAM])?;
    let (after, limit) = range(&open.uri, &open.headers)?;
    let record = app.gateway.read(&open.caller, |engine| engine.settlement(&open.caller, named.target()?)).await?;
    if kind == EVENT_STREAM {
        let token = token::bearer(&open.headers)?.ok_or_else(token::missing)?.to_owned();
        return Ok(stream::open(app, &open.caller, token, Followed::Settlement(Box::new(record)), after.into())?);
    }
    let page = app.gateway.scan(&open.caller, move |engine| page(engine.events(&record, after, limit + 1)?, limit)).await?;
    ok(&page)
}

fn range(uri: &Uri, headers: &HeaderMap) -> Result<(u32, usize)> {
    let mut params = Params::of(uri)?;
    let after = params.number("after", 0..=COUNT_MAX);
    let limit = params.number("limit", 1..=200).unwrap_or(50);
    params.finish()?;
    let last = stream::last_event_id(headers)?.map(|last| u32::try_from(last).unwrap_or(u32::MAX));
    // A browser that reconnects sends both; the header is the newer one.
    Ok((last.or(after).unwrap_or(0), limit as usize))
}

fn page(mut events: Vec<EventView>, limit: usize) -> Result<Page<EventView>> {
    let has_more = events.len() > limit;
    events.truncate(limit);
    let next_cursor = events.last().filter(|_| has_more).map(|event| event.sequence.to_string());
    Ok(Page { data: events, has_more, next_cursor })
}
