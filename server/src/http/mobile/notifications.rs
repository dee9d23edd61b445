//! The inbox of an end user, and what they want to be told.

use std::sync::Arc;

use axum::extract::State;
use hyper::header::ACCEPT_LANGUAGE;
use hyper::{HeaderMap, StatusCode};
use railgate::api::{Caller, NotificationView, NotificationsView, PreferencesBody, PreferencesView, UnreadView};
use railgate::engine::{InboxEntry, MarkAllRead, MarkRead, PutPreferences};
use railgate::error::FieldProblem;
use railgate::ids::Ulid;
use railgate::notification::Detail;
use railgate::time::{Millis, rfc3339};
use railgate::validate::notification::parse_preferences;
use railgate::{Engine, Error, ErrorCode, Result};

use super::super::App;
use super::super::document::{BadFields, BadMessage, BadQuery, Changing, Denied, InvalidPage, NoNotification, Unserved};
use super::super::extract::{Authenticated, Named, Open, Params};
use super::super::keyed::{Keyed, answered};
use super::super::negotiate::{JSON, choose};
use super::super::operator::id;
use super::super::response::{HandlerResult, ok};
use super::super::route::{AsMobile, routes};
use super::super::stream::{self, EVENT_STREAM, Followed, LAST_EVENT_ID};
use super::super::token;
use crate::texts::Locale;

routes![list, read, read_all, preferences, put_preferences];

/// Read or follow a user's notifications
///
/// On a device of the user. As JSON, a page, newest first, with the number of unread ones in the whole inbox. As `text/event-stream`
/// (Server-Sent Events), all that are kept after `Last-Event-ID`, oldest first, then each one as it comes; `id` is that of the
/// notification. Titles and bodies are in the language of the preferences, or else of `Accept-Language`. The newest 500 are kept, for 90
/// days.
#[utoipa::path(
    get, path = "/api/v1/mobile/notifications", tag = "mobile", operation_id = "listNotifications",
    params(
        ("unread" = Option<bool>, Query, description = "`true` for unread ones only"),
        ("limit" = Option<u32>, Query, description = "Page size, 50 by default", minimum = 1, maximum = 200),
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
        ("Last-Event-ID" = Option<String>, Header, description = "The last notification received; resumes a broken stream", pattern = "^ntf_[0-7][0-9A-HJKMNP-TV-Z]{25}$"),
        ("Accept-Language" = Option<String>, Header, description = "The languages of the device", example = "ar-EG, en;q=0.5"),
    ),
    responses(
        (status = 200, description = "A page, or a stream that stays open", content(
            (NotificationsView = "application/json"),
            (String = "text/event-stream", example = "id: ntf_01KAJX3M7Q5W8ZP9D2R4T6V8YB\nevent: payment.completed\ndata: {}\n\n"),
        )),
        BadQuery, InvalidPage, Denied, Unserved,
    ),
)]
pub(crate) async fn list(State(app): State<App>, open: Open<AsMobile>) -> HandlerResult {
    let kind = choose(&open.headers, &[JSON, EVENT_STREAM])?;
    let mut params = Params::of(&open.uri)?;
    let unread = params.choice("unread", &[true, false], |one| if one { "true" } else { "false" }).unwrap_or(false);
    let limit = params.number("limit", 1..=200).unwrap_or(50) as usize;
    let cursor = params.text("cursor");
    params.finish()?;
    let (caller, accepted, last) = (open.caller, accepted(&open.headers), last_seen(&open.headers)?);
    if kind == EVENT_STREAM {
        let start = app.gateway.scan(&caller, move |engine| Ok((tags(engine, &caller, accepted)?, place(engine, &caller, last)?)));
        let (tags, after) = start.await?;
        let token = token::bearer(&open.headers)?.ok_or_else(token::missing)?.to_owned();
        return Ok(stream::open(app, &caller, token, Followed::Inbox(caller, Arc::from(tags)), after)?);
    }
    let page = move |engine: &Engine| {
        let inbox = engine.inbox(&caller, unread, cursor.as_deref(), limit)?;
        let tags = tags(engine, &caller, accepted)?;
        let (locale, now) = (Locale::of(tags.iter().map(String::as_str)), engine.now());
        let data = inbox.entries.iter().map(|entry| shown(entry, &locale, now)).collect();
        Ok(NotificationsView { data, unread_count: inbox.unread, has_more: inbox.next_cursor.is_some(), next_cursor: inbox.next_cursor })
    };
    ok(&app.gateway.scan(&caller, page).await?)
}

/// Mark a notification as read
#[utoipa::path(
    post, path = "/api/v1/mobile/notifications/{id}/read", tag = "mobile", operation_id = "readNotification",
    params(("id" = String, Path, description = "The `ntf_` id", example = "ntf_01KAJX3M7Q5W8ZP9D2R4T6V8YB")),
    responses((status = 200, description = "How many are left", body = UnreadView), BadMessage, NoNotification, Denied, Changing, Unserved),
)]
pub(crate) async fn read(State(app): State<App>, named: Named, keyed: Keyed<AsMobile>) -> HandlerResult {
    let id = id(named.last(), "ntf_", ErrorCode::NotificationNotFound)?;
    answered(StatusCode::OK, keyed.once(&app, MarkRead { caller: keyed.caller, id }).await?)
}

/// Mark all notifications as read
#[utoipa::path(
    post, path = "/api/v1/mobile/notifications/read-all", tag = "mobile", operation_id = "readAllNotifications",
    responses((status = 200, description = "How many are left", body = UnreadView), BadMessage, Denied, Changing, Unserved),
)]
pub(crate) async fn read_all(State(app): State<App>, keyed: Keyed<AsMobile>) -> HandlerResult {
    answered(StatusCode::OK, keyed.once(&app, MarkAllRead { caller: keyed.caller }).await?)
}

/// Read what the user wants to be told
#[utoipa::path(
    get, path = "/api/v1/mobile/preferences", tag = "mobile", operation_id = "getPreferences",
    responses((status = 200, description = "The preferences", body = PreferencesView), Denied, Unserved),
)]
pub(crate) async fn preferences(State(app): State<App>, Authenticated(call): Authenticated<AsMobile>) -> HandlerResult {
    ok(&app.gateway.read(&call.caller, |engine| engine.preferences(&call.caller)).await?)
}

/// Replace what the user wants to be told
///
/// What is left out is as by default: everything is shown everywhere, and a push says what happened, but neither the amount nor the payee.
/// In quiet hours pushes wait; one that would be of no use afterwards comes at once, with `silent`.
#[utoipa::path(
    put, path = "/api/v1/mobile/preferences", tag = "mobile", operation_id = "putPreferences",
    request_body(content = PreferencesBody, content_type = "application/json", example = json!({"detail": "amount", "locale": "ar-EG", "quiet_hours": {"from": "22:00", "to": "07:00", "time_zone": "Africa/Cairo"}, "kinds": {"payment.completed": {"push": false}}})),
    responses((status = 200, description = "The preferences", body = PreferencesView), BadFields, Denied, Changing, Unserved),
)]
pub(crate) async fn put_preferences(State(app): State<App>, keyed: Keyed<AsMobile>) -> HandlerResult {
    let wants = parse_preferences(keyed.body())?;
    answered(StatusCode::OK, keyed.once(&app, PutPreferences { caller: keyed.caller, wants }).await?)
}

/// The languages of a device, the preferred first.
pub(super) fn accepted(headers: &HeaderMap) -> Vec<String> {
    let header = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    Locale::accepted(header).into_iter().map(str::to_owned).collect()
}

/// The languages to write in: what the user chose counts before what the device asks for.
fn tags(engine: &Engine, caller: &Caller, accepted: Vec<String>) -> Result<Vec<String>> {
    Ok(engine.preferred_locale(caller)?.into_iter().chain(accepted).collect())
}

/// The notification that a follower has seen last.
fn last_seen(headers: &HeaderMap) -> Result<Option<Ulid>> {
    let Some(value) = headers.get(LAST_EVENT_ID) else { return Ok(None) };
    let id = value.to_str().ok().and_then(|text| Ulid::parse(text.trim().strip_prefix("ntf_")?));
    id.map(Some).ok_or_else(|| {
        let problem = FieldProblem::new("Last-Event-ID", "out_of_range", "Last-Event-ID must be the id of a notification");
        Error::invalid(vec![problem])
    })
}

/// The place of a notification in the stream; that of its time if it is no longer kept.
fn place(engine: &Engine, caller: &Caller, last: Option<Ulid>) -> Result<i64> {
    last.map_or(Ok(0), |id| engine.place_in_inbox(caller, id))
}

/// A notification as its user sees it.
pub(in crate::http) fn shown(entry: &InboxEntry, locale: &Locale, now: Millis) -> NotificationView {
    let (record, facts) = (&entry.record, &entry.record.facts);
    let phrase = locale.phrase(record.kind, facts, Detail::Full, facts.expires_at.map(|end| end - now));
    NotificationView {
        id: format!("ntf_{}", entry.id),
        kind: record.kind,
        at: rfc3339(record.at),
        read_at: record.read_at.map(rfc3339),
        title: phrase.title,
        body: phrase.body,
        lang: phrase.lang,
        dir: phrase.dir.to_owned(),
        settlement_id: facts.settlement_id.clone(),
        reference: facts.reference.clone(),
        amount: facts.amount.clone(),
        currency: facts.currency.clone(),
        to: facts.to.clone(),
        failure: facts.failure.map(|code| code.as_str().to_owned()),
        expires_at: facts.expires_at.map(rfc3339),
        device_id: facts.device_id.clone(),
        device: facts.device.clone(),
    }
}
