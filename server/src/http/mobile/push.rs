//! Push subscriptions of an end user.

use axum::extract::State;
use hyper::StatusCode;
use railgate::ErrorCode;
use railgate::api::{PushSubscriptionBody, PushSubscriptionView, PushSubscriptionsView};
use railgate::engine::{RemoveSubscription, Subscribe};
use railgate::validate::notification::parse_subscription;

use super::super::App;
use super::super::access::no_content;
use super::super::document::{BadFields, BadMessage, Changing, Denied, NoSubscription, Unserved};
use super::super::extract::{Authenticated, Named, Posted};
use super::super::keyed::{Keyed, answered};
use super::super::operator::id;
use super::super::response::{HandlerResult, ok};
use super::super::route::{AsMobile, routes};
use super::notifications::accepted;

routes![list, subscribe, unsubscribe];

/// List the push subscriptions of a user, oldest first
///
/// With the `application_server_key` that a new one needs.
#[utoipa::path(
    get, path = "/api/v1/mobile/push-subscriptions", tag = "mobile", operation_id = "listPushSubscriptions",
    responses((status = 200, description = "All subscriptions", body = PushSubscriptionsView), Denied, Unserved),
)]
pub(crate) async fn list(State(app): State<App>, Authenticated(call): Authenticated<AsMobile>) -> HandlerResult {
    ok(&app.gateway.read(&call.caller, |engine| engine.subscriptions(&call.caller, call.key)).await?)
}

/// Push to a subscription from now on
///
/// As `PushSubscription.toJSON()` gives it (Web Push: RFC 8030, 8291 and 8292). The same endpoint again replaces its keys, so that an app
/// sends its subscription at every start. A user has at most ten; one more replaces the oldest. A subscription ends with its device, and
/// when its push service says so.
#[utoipa::path(
    post, path = "/api/v1/mobile/push-subscriptions", tag = "mobile", operation_id = "createPushSubscription",
    request_body(content = PushSubscriptionBody, content_type = "application/json", example = json!({"endpoint": "https://push.example.net/p/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV", "expirationTime": null, "keys": {"p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", "auth": "BTBZMqHH6r4Tts7J_aSIgg"}})),
    responses((status = 201, description = "The subscription", body = PushSubscriptionView), BadFields, Denied, Changing, Unserved),
)]
pub(crate) async fn subscribe(State(app): State<App>, keyed: Keyed<AsMobile>) -> HandlerResult {
    let mut new = parse_subscription(keyed.body())?;
    new.locale = new.locale.or_else(|| accepted(&keyed.raw.parts.headers).into_iter().next());
    let subscribe = Subscribe { caller: keyed.caller, key: keyed.credential.key, new };
    answered(StatusCode::CREATED, keyed.once(&app, subscribe).await?)
}

/// Remove a push subscription
#[utoipa::path(
    delete, path = "/api/v1/mobile/push-subscriptions/{id}", tag = "mobile", operation_id = "deletePushSubscription",
    params(("id" = String, Path, description = "The `psh_` id", example = "psh_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 204, description = "Nothing is pushed to it any more"), BadMessage, NoSubscription, Denied, Changing, Unserved),
)]
pub(crate) async fn unsubscribe(State(app): State<App>, named: Named, posted: Posted<AsMobile>) -> HandlerResult {
    let id = id(named.last(), "psh_", ErrorCode::PushSubscriptionNotFound)?;
    posted.run(&app, RemoveSubscription { caller: posted.caller, id }).await?;
    Ok(no_content())
}
