//! The endpoints themselves: created, read, changed, removed.

use axum::extract::State;
use axum::response::Response;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, LOCATION};
use railgate::api::{NewWebhookBody, RotationBody, WebhookPatchBody, WebhookView, WebhooksView};
use railgate::engine::{CreateWebhook, DeleteWebhook, EnableWebhook, RotateWebhookSecret, UpdateWebhook};
use railgate::validate::webhook::{parse_new_webhook, parse_rotation, parse_webhook_patch};

use super::Place;
use crate::http::App;
use crate::http::document::{BadFields, BadMessage, Changing, Denied, NoRoom, NoWebhook, Rotating, Unserved};
use crate::http::extract::{Authenticated, Posted};
use crate::http::keyed::{Keyed, answered, id_in};
use crate::http::response::{HandlerResult, NO_STORE, ok, with, with_text};
use crate::http::route::{WebhooksRead, WebhooksWrite, routes};

routes![create, list, read, update, remove, rotate, enable];

/// Create a webhook
///
/// It receives events from now on; a client can have at most ten webhooks in each mode. The response shows the secret that
/// signs its deliveries (Standard Webhooks), only this once: a repeat with the same `Idempotency-Key` has `"secret_shown": true` instead.
/// In the sandbox this is the secret that the client got when it
/// enrolled, until the webhook is given its own.
#[utoipa::path(
    post, path = "/api/v1/webhooks", tag = "webhooks", operation_id = "createWebhook",
    request_body(content = NewWebhookBody, content_type = "application/json", example = json!({"url": "https://shop.example.com/hooks/railgate", "events": ["settlement.completed", "settlement.failed"], "description": "Order service"})),
    responses(
        (status = 201, description = "The webhook, with its secret", body = WebhookView, headers(("Location" = String, description = "Path of the webhook"))),
        BadFields, Denied, NoRoom, Unserved,
    ),
)]
pub(crate) async fn create(State(app): State<App>, keyed: Keyed<WebhooksWrite>) -> HandlerResult {
    let new = parse_new_webhook(keyed.body())?;
    let answer = keyed.once(&app, CreateWebhook { caller: keyed.caller, new }).await?;
    let path = format!("/api/v1/webhooks/{}", id_in(&answer)?);
    with_text(with(answered(StatusCode::CREATED, answer)?, CACHE_CONTROL, NO_STORE)?, LOCATION, path)
}

/// List the client's webhooks, oldest first
#[utoipa::path(
    get, path = "/api/v1/webhooks", tag = "webhooks", operation_id = "listWebhooks",
    responses((status = 200, description = "All webhooks of the credential's mode", body = WebhooksView), Denied, Unserved),
)]
pub(crate) async fn list(State(app): State<App>, Authenticated(call): Authenticated<WebhooksRead>) -> HandlerResult {
    let data = app.gateway.scan(&call.caller, move |engine| engine.webhooks(&call.caller)).await?;
    ok(&WebhooksView { data })
}

/// Read a webhook
#[utoipa::path(
    get, path = "/api/v1/webhooks/{id}", tag = "webhooks", operation_id = "getWebhook",
    params(("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "The webhook, without its secret", body = WebhookView), NoWebhook, Denied, Unserved),
)]
pub(crate) async fn read(State(app): State<App>, Authenticated(call): Authenticated<WebhooksRead>, place: Place) -> HandlerResult {
    let id = place.webhook()?;
    let view = app.gateway.read(&call.caller, |engine| engine.webhook(&call.caller, id)).await?;
    ok(&view)
}

/// Change a webhook
///
/// Members that the body omits stay as they are (RFC 7396). `"enabled": false` stops deliveries; events in the meantime
/// are not queued for it, but can be replayed.
#[utoipa::path(
    patch, path = "/api/v1/webhooks/{id}", tag = "webhooks", operation_id = "updateWebhook",
    params(("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = WebhookPatchBody, content_type = "application/json", example = json!({"events": null, "enabled": true})),
    responses((status = 200, description = "The webhook in its current state", body = WebhookView), BadFields, NoWebhook, Denied, Changing, Unserved),
)]
pub(crate) async fn update(State(app): State<App>, place: Place, keyed: Keyed<WebhooksWrite>) -> HandlerResult {
    let patch = parse_webhook_patch(keyed.body())?;
    let update = UpdateWebhook { caller: keyed.caller, id: place.webhook()?, patch };
    answered(StatusCode::OK, keyed.once(&app, update).await?)
}

/// Remove a webhook
///
/// Its pending deliveries are dropped, and its past ones can no longer be read.
#[utoipa::path(
    delete, path = "/api/v1/webhooks/{id}", tag = "webhooks", operation_id = "deleteWebhook",
    params(("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 204, description = "The webhook is removed"), BadMessage, NoWebhook, Denied, Changing, Unserved),
)]
pub(crate) async fn remove(State(app): State<App>, place: Place, posted: Posted<WebhooksWrite>) -> HandlerResult {
    posted.run(&app, DeleteWebhook { caller: posted.caller, id: place.webhook()? }).await?;
    let mut response = Response::default();
    *response.status_mut() = StatusCode::NO_CONTENT;
    Ok(response)
}

/// Give a webhook a new secret
///
/// The response shows it, only this once: a repeat with the same `Idempotency-Key` has `"secret_shown": true` instead. For the time of
/// `grace`, deliveries carry a signature of the old secret too, so that a receiver can switch without refusing any. At most five secrets
/// sign: while that many do, only a rotation with a `grace` of 0 is possible, which ends all others.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/rotate-secret", tag = "webhooks", operation_id = "rotateWebhookSecret",
    params(("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    request_body(content = Option<RotationBody>, content_type = "application/json", example = json!({"grace": 3600})),
    responses((status = 200, description = "The webhook, with its new secret", body = WebhookView), BadFields, NoWebhook, Denied, Rotating, Unserved),
)]
pub(crate) async fn rotate(State(app): State<App>, place: Place, keyed: Keyed<WebhooksWrite>) -> HandlerResult {
    let grace_ms = parse_rotation(keyed.body())?;
    let rotate = RotateWebhookSecret { caller: keyed.caller, id: place.webhook()?, grace_ms };
    with(answered(StatusCode::OK, keyed.once(&app, rotate).await?)?, CACHE_CONTROL, NO_STORE)
}

/// Enable a webhook again
///
/// After its owner disabled it, or the gateway did because it responded with 410, or only with failures for five days. Its
/// pending deliveries are made at once; events in the meantime can be replayed.
#[utoipa::path(
    post, path = "/api/v1/webhooks/{id}/enable", tag = "webhooks", operation_id = "enableWebhook",
    params(("id" = String, Path, description = "The `whk_` id", example = "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "The webhook in its current state", body = WebhookView), BadMessage, NoWebhook, Denied, Changing, Unserved),
)]
pub(crate) async fn enable(State(app): State<App>, place: Place, keyed: Keyed<WebhooksWrite>) -> HandlerResult {
    let enable = EnableWebhook { caller: keyed.caller, id: place.webhook()? };
    answered(StatusCode::OK, keyed.once(&app, enable).await?)
}
