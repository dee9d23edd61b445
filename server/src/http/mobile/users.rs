//! End users as their client manages them.

use axum::extract::State;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, ETAG};
use railgate::ErrorCode;
use railgate::api::{DeviceCodeBody, DeviceCodeView, UserBody, UserView, UsersView};
use railgate::engine::{MakeDeviceCode, PutUser};
use railgate::store::record::{UserRecord, UserStatus};
use railgate::validate::mobile::{is_user, parse_device_code, parse_user};

use super::super::App;
use super::super::document::{BadFields, BadQuery, Changing, Denied, NoUser, Unserved, UserIsBlocked};
use super::super::extract::{Authenticated, Named, Params};
use super::super::keyed::{Keyed, answered};
use super::super::response::{HandlerResult, NO_STORE, ok, with, with_text};
use super::super::route::{KeysWrite, routes};

routes![make_code, users, user, put_user];

/// The default and the most of a page.
const PAGE: (usize, usize) = (50, 200);

/// Make a code for a device of an end user
///
/// Adds the user if the client has none of this name. The response shows the code, once: for people to type, as an address that opens the
/// app, and as a QR code of that address. It is valid for ten minutes and for one device; a newer one replaces it.
#[utoipa::path(
    post, path = "/api/v1/mobile/enrollment-codes", tag = "mobile", operation_id = "createEnrollmentCode",
    request_body(content = DeviceCodeBody, content_type = "application/json", example = json!({"user": "customer-17", "limits": [{"currency": "EUR", "max": 500, "daily_value": 1000, "approval_over": 100}]})),
    responses((status = 201, description = "The code", body = DeviceCodeView), BadFields, Denied, UserIsBlocked, Changing, Unserved),
)]
pub(crate) async fn make_code(State(app): State<App>, keyed: Keyed<KeysWrite>) -> HandlerResult {
    let request = parse_device_code(keyed.body())?;
    let link = request.link.unwrap_or_else(|| app.app_link.clone());
    let command = MakeDeviceCode { caller: keyed.caller, name: request.user, limits: request.limits, link };
    with(answered(StatusCode::CREATED, keyed.once(&app, command).await?)?, CACHE_CONTROL, NO_STORE)
}

/// List the client's end users, by name
///
/// Those of the credential's environment.
#[utoipa::path(
    get, path = "/api/v1/mobile/users", tag = "mobile", operation_id = "listUsers",
    params(
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
    ),
    responses((status = 200, description = "One page", body = UsersView), BadQuery, Denied, Unserved),
)]
pub(crate) async fn users(State(app): State<App>, Authenticated(call): Authenticated<KeysWrite>) -> HandlerResult {
    let mut params = Params::of(&call.uri)?;
    let limit = params.number("limit", 1..=PAGE.1).unwrap_or(PAGE.0);
    let after = params.text("cursor").unwrap_or_default();
    params.finish()?;
    ok(&app.gateway.read(&call.caller, |engine| engine.users(&call.caller, &after, limit)).await?)
}

/// Read an end user
#[utoipa::path(
    get, path = "/api/v1/mobile/users/{user}", tag = "mobile", operation_id = "getUser",
    params(("user" = String, Path, description = "The client's own name for the user", example = "customer-17")),
    responses((status = 200, description = "The user", body = UserView, headers(("ETag" = String, description = "The version"))), NoUser, Denied, Unserved),
)]
pub(crate) async fn user(State(app): State<App>, Authenticated(call): Authenticated<KeysWrite>, named: Named) -> HandlerResult {
    let user = app.gateway.read(&call.caller, |engine| engine.user(&call.caller, named.last())).await?;
    shown(&user)
}

/// Add or change an end user
///
/// What is left out stays as it is. A user who is blocked can pay nothing, and the user's devices are refused: here at once, on other
/// servers within five seconds. Payments that were sent go on.
#[utoipa::path(
    put, path = "/api/v1/mobile/users/{user}", tag = "mobile", operation_id = "putUser",
    params(("user" = String, Path, description = "The client's own name for the user", example = "customer-17")),
    request_body(content = UserBody, content_type = "application/json", example = json!({"status": "blocked"})),
    responses((status = 200, description = "The user", body = UserView), BadFields, NoUser, Denied, Changing, Unserved),
)]
pub(crate) async fn put_user(State(app): State<App>, named: Named, keyed: Keyed<KeysWrite>) -> HandlerResult {
    let name = named.last();
    if !is_user(name) {
        return Err(railgate::Error::new(ErrorCode::UserNotFound).into());
    }
    let (limits, status) = parse_user(keyed.body())?;
    let answer = keyed.once(&app, PutUser { caller: keyed.caller, name: name.to_owned(), limits, status }).await?;
    if answer.output.as_ref().is_some_and(|user| user.status == UserStatus::Blocked) {
        app.gate.forget(keyed.caller.client);
    }
    answered(StatusCode::OK, answer)
}

fn shown(user: &UserRecord) -> HandlerResult {
    with_text(ok(&UserView::from(user))?, ETAG, format!("\"{}\"", user.version.0))
}
