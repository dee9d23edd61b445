//! Deliveries: tests, reads, redeliveries and replays.

use axum::extract::State;
use hyper::StatusCode;
use hyper::header::LOCATION;
use railgate::api::{DeliveryView, Page, ReplayBody, ReplayView, Target, TestBody, TestView};
use railgate::engine::{DeliveryFilter, Redeliver, Replay, Replayed, TestWebhook, Tested};
use railgate::store::record::DeliveryStatus;
use railgate::time::Millis;
use railgate::validate::webhook::{ReplayRequest, parse_replay, parse_webhook_test};
use railgate::{Error, ErrorCode};

use super::Place;
use crate::http::App;
use crate::http::document::{BadFields, BadMessage, BadQuery, Denied, NoDelivery, NoSettlement, NoWebhook, NotEnabled, Testing, Unserved};
use crate::http::extract::{Authenticated, Params};
use crate::http::keyed::{Keyed, answered, id_in};
use crate::http::response::{HandlerResult, ok, with_text};
use crate::http::route::{WebhooksRead, WebhooksWrite, routes};

const PAGE: u32 = 50;
const PAGE_MAX: u32 = 200;
/// How many parts of a replay one call queues, of 500 events each.
const REPLAY_PARTS: usize = 20;

routes![test, list, read, redeliver, replay];

/// Send a test to a webhook
///
/// An example event, signed like a real one, is delivered at once and tried once. The response reports what the receiver
/// answered, even if it refused. A disabled webhook can be tested too. Only one test of a webhook runs at a time. An `Idempotency-Key` is
/// taken once the test is done: one that was cut off is sent again.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/test", tag = "webhooks", operation_id = "testWebhook",
    params(("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = Option<TestBody>, content_type = "application/json", example = json!({"type": "settlement.completed"})),
    responses((status = 200, description = "The result of the test", body = TestView), BadFields, NoWebhook, Denied, Testing, Unserved),
)]
pub(crate) async fn test(State(app): State<App>, place: Place, keyed: Keyed<WebhooksWrite>) -> HandlerResult {
    let topic = parse_webhook_test(keyed.body())?;
    let id = place.webhook()?;
    let _begun = app.in_flight.begin(keyed.caller.client, id)?;
    if let Some(answer) = keyed.kept(&app).await? {
        return answered(StatusCode::OK, answer);
    }
    let untried = || Error::internal("a test was not tried");
    let parcel = keyed.run(&app, TestWebhook { caller: keyed.caller, id, topic }).await?;
    let tried = app.deliverer.deliver_now(parcel).await?.pop().ok_or_else(untried)?;
    let tested = keyed.named(Tested { delivery: tried.delivery, tried }, false);
    answered(StatusCode::OK, app.gateway.run(&keyed.caller, tested).await?)
}

/// List a webhook's deliveries, newest first
///
/// Covers the last 30 days. Pass `next_cursor` as `cursor` for the next page. With `settlement`, a page may have fewer than `limit`, or none,
/// and still a cursor.
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries", tag = "webhooks", operation_id = "listDeliveries",
    params(
        ("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("status" = Option<DeliveryStatus>, Query, description = "Only deliveries with this status"),
        ("settlement" = Option<String>, Query, description = "Only deliveries of events of this settlement: your reference, or the `stl_` id"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = Page<DeliveryView>), BadQuery, NoWebhook, NoSettlement, Denied, Unserved),
)]
pub(crate) async fn list(State(app): State<App>, Authenticated(call): Authenticated<WebhooksRead>, place: Place) -> HandlerResult {
    let mut params = Params::of(&call.uri)?;
    let limit = params.number("limit", 1..=PAGE_MAX).unwrap_or(PAGE) as usize;
    let cursor = params.text("cursor");
    let status = params.choice("status", DeliveryStatus::ALL, DeliveryStatus::as_str);
    let settlement = params.text("settlement");
    params.finish()?;
    let target = |text: String| Target::parse(&text).ok_or_else(|| Error::new(ErrorCode::SettlementNotFound));
    let filter = DeliveryFilter { status, settlement: settlement.map(target).transpose()? };
    let id = place.webhook()?;
    let page =
        app.gateway.scan(&call.caller, move |engine| engine.delivery_page(&call.caller, id, &filter, cursor.as_deref(), limit)).await?;
    ok(&page)
}

/// Read a delivery
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}/deliveries/{delivery}", tag = "webhooks", operation_id = "getDelivery",
    params(
        ("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("delivery" = String, Path, description = "The `dlv_` id", example = "dlv_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
    ),
    responses((status = 200, description = "The delivery", body = DeliveryView), NoDelivery, Denied, Unserved),
)]
pub(crate) async fn read(State(app): State<App>, Authenticated(call): Authenticated<WebhooksRead>, place: Place) -> HandlerResult {
    let (id, delivery) = (place.webhook()?, place.delivery()?);
    let view = app.gateway.scan(&call.caller, move |engine| engine.delivery_view(&engine.delivery(&call.caller, id, delivery)?)).await?;
    ok(&view)
}

/// Repeat a delivery
///
/// Sends the same event with the same `webhook-id` as a separate delivery: as soon as its turn comes, and with the same
/// retries as any other.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/deliveries/{delivery}/redeliver", tag = "webhooks", operation_id = "redeliver",
    params(
        ("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
        ("delivery" = String, Path, description = "The `dlv_` id", example = "dlv_01KAJX3M7Q5W8ZP9D2R4T6V8YB"),
    ),
    responses(
        (status = 202, description = "The new delivery", body = DeliveryView, headers(("Location" = String, description = "Path of the new delivery"))),
        BadMessage, NoDelivery, Denied, NotEnabled, Unserved,
    ),
)]
pub(crate) async fn redeliver(State(app): State<App>, place: Place, keyed: Keyed<WebhooksWrite>) -> HandlerResult {
    let id = place.webhook()?;
    let answer = keyed.once(&app, Redeliver { caller: keyed.caller, id, delivery: place.delivery()? }).await?;
    let path = format!("/api/v1/webhooks/whk_{id}/deliveries/{}", id_in(&answer)?);
    with_text(answered(StatusCode::ACCEPTED, answer)?, LOCATION, path)
}

/// Deliver the events of a period again
///
/// After an outage of the receiver, or for a new one. Each event keeps its `webhook-id`, so that a receiver recognises
/// what it already has; its settlement is shown in its current state. One call looks at 10,000 events at most.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/replay", tag = "webhooks", operation_id = "replayWebhook",
    params(("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = ReplayBody, content_type = "application/json", example = json!({"since": "2026-11-20T00:00:00Z", "until": "2026-11-21T00:00:00Z"})),
    responses((status = 202, description = "The number of deliveries that were queued", body = ReplayView), BadFields, NoWebhook, Denied, NotEnabled, Unserved),
)]
pub(crate) async fn replay(State(app): State<App>, place: Place, keyed: Keyed<WebhooksWrite>) -> HandlerResult {
    let ReplayRequest { since, until, after } = parse_replay(keyed.body())?;
    let (id, until) = (place.webhook()?, until.unwrap_or(Millis::MAX));
    let caller = keyed.caller;
    let part = |after, before| Replay { caller, id, since, until, after, before };
    let _in_flight = app.in_flight.begin(caller.client, id)?;
    if let Some(answer) = keyed.kept(&app).await? {
        return answered(StatusCode::ACCEPTED, answer);
    }
    app.gateway.scan(&caller, move |engine| engine.room_for_replay(&caller, id)).await?;
    let mut answer = keyed.once(&app, part(after, 0)).await?;
    for _ in 1..REPLAY_PARTS {
        let Some(Replayed { queued, next: Some(after) }) = answer.output else { break };
        // The first part used up the call's nonce and recorded the call. The rest is background work, which the calls of other
        // clients do not queue behind.
        match app.gateway.work(keyed.named(part(after, queued), true)).await {
            Ok(more) => answer = more,
            Err(cause) => {
                // What was queued stays queued: the caller is told where to continue, and gets the error there.
                tracing::warn!(cause = &cause as &dyn std::error::Error, "a replay stopped before its end");
                break;
            }
        }
    }
    answered(StatusCode::ACCEPTED, answer)
}
