//! Whether something changed that operators see.

use axum::extract::State;
use railgate::api::ChangesView;

use super::super::App;
use super::super::document::{BadQuery, Denied, Unserved};
use super::super::extract::{Open, Params};
use super::super::negotiate::{JSON, choose};
use super::super::response::{HandlerResult, ok};
use super::super::route::{AsViewer, routes};
use super::super::stream::{self, EVENT_STREAM, Followed};
use super::super::token;

routes![changes];

/// Read or follow whether something changed
///
/// `mark` is another one after every change of a settlement, money or a bundle of any client, and after every act of a client or an
/// operator. As JSON, what it is now. As `text/event-stream` (Server-Sent Events), an event `changed` with it as soon as it is another one,
/// at most twice a second; the first one at once, unless `Last-Event-ID` names it. A page that shows any of this reads it again then,
/// instead of every few seconds. What providers' servers and webhooks' receivers do by themselves does not count. The stream ends with the
/// token of the call.
#[utoipa::path(
    get, path = "/api/v1/operator/changes", tag = "operators", operation_id = "followChanges",
    params(("Last-Event-ID" = Option<i64>, Header, description = "The last mark received", minimum = 0)),
    responses(
        (status = 200, description = "The mark, or a stream that stays open", content(
            (ChangesView = "application/json"),
            (String = "text/event-stream", example = "id: 204869188253121\nevent: changed\ndata: {\"mark\":204869188253121,\"events\":7}\n\n"),
        )),
        BadQuery, Denied, Unserved,
    ),
)]
pub(crate) async fn changes(State(app): State<App>, open: Open<AsViewer>) -> HandlerResult {
    let kind = choose(&open.headers, &[JSON, EVENT_STREAM])?;
    Params::of(&open.uri)?.finish()?;
    let last = stream::last_event_id(&open.headers)?;
    if kind == EVENT_STREAM {
        let token = token::bearer(&open.headers)?.ok_or_else(token::missing)?.to_owned();
        // No mark is less than zero.
        return Ok(stream::open(app, &open.caller, token, Followed::Changes, last.unwrap_or(-1))?);
    }
    ok(&app.gateway.scan(&open.caller, |engine| engine.changes()).await?)
}
