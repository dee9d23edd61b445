//! All events of a client, as pages or as a stream.

use axum::extract::State;
use railgate::api::FeedPage;
use railgate::validate::COUNT_MAX;

use super::App;
use super::document::{BadQuery, Denied, Restored, Unserved};
use super::extract::{Open, Params};
use super::negotiate::{JSON, choose};
use super::response::{HandlerResult, ok};
use super::route::{SettlementsRead, routes};
use super::stream::{self, EVENT_STREAM, Followed};
use super::token;

routes![events];

/// In place of a position: that of the newest event.
const LATEST: &str = "latest";

/// Read or follow all events
///
/// Every event of the client in this mode, of its settlements and of money that operators moved, in one order that never changes;
/// `position` counts them from 1 without gaps. As JSON, a page of the events after `after`; `after=latest` is the end of the feed, whose
/// position `next_after` has, for those who only want what is new. As `text/event-stream` (Server-Sent Events), all events after
/// `after` or `Last-Event-ID`, then each event as it happens; `id` is the position. A follower that reconnects with
/// `Last-Event-ID` misses nothing; one that reads too slowly is cut off. The stream ends with the token of the call. After a backup was
/// restored, `epoch` is another one, and positions were assigned again.
#[utoipa::path(
    get, path = "/api/v1/gateway/events", tag = "settlements", operation_id = "listEvents",
    params(
        ("after" = Option<String>, Query, description = "Only events after this position, or `latest`: only those that are yet to come", pattern = "^([0-9]+|latest)$", example = "latest"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("epoch" = Option<u32>, Query, description = "The epoch that the position is of, from an earlier page: another one is refused", minimum = 1),
        ("Last-Event-ID" = Option<i64>, Header, description = "The last event received; resumes a broken stream", minimum = 0),
    ),
    responses(
        (status = 200, description = "A page, or a stream that stays open", content(
            (FeedPage = "application/json"),
            (String = "text/event-stream", example = "id: 1\nevent: settlement.accepted\ndata: {}\n\n"),
        )),
        BadQuery, Restored, Denied, Unserved,
    ),
)]
pub(crate) async fn events(State(app): State<App>, open: Open<SettlementsRead>) -> HandlerResult {
    let kind = choose(&open.headers, &[JSON, EVENT_STREAM])?;
    let mut params = Params::of(&open.uri)?;
    let from_end = params.is_word("after", LATEST);
    let after = if from_end { None } else { params.number("after", 0..=i64::MAX) };
    let limit = params.number("limit", 1..=200).unwrap_or(50) as usize;
    let epoch = params.number("epoch", 1..=COUNT_MAX);
    params.finish()?;
    // A browser that reconnects sends both; the header is the newer one.
    let after = match stream::last_event_id(&open.headers)?.or(after) {
        Some(after) => after,
        None if from_end => app.gateway.scan(&open.caller, move |engine| engine.feed_end(&open.caller)).await?,
        None => 0,
    };
    if kind == EVENT_STREAM {
        app.gateway.scan(&open.caller, move |engine| engine.place_in_feed(&open.caller, after, epoch)).await?;
        let token = token::bearer(&open.headers)?.ok_or_else(token::missing)?.to_owned();
        return Ok(stream::open(app, &open.caller, token, Followed::Feed(open.caller), after)?);
    }
    let page = app.gateway.scan(&open.caller, move |engine| engine.feed_page(&open.caller, after, limit, epoch)).await?;
    ok(&page)
}
