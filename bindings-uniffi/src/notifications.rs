//! What an end user is told: the inbox, preferences, and where pushes go.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use railgate::ErrorCode;
use railgate::api::{ChannelsBody, NotificationsView, PreferencesBody, PushSubscriptionBody, QuietHoursBody, UnreadView};
use railgate::client::{Call, Request};
use serde::Deserialize;

use crate::client::{GatewayClient, once, part};
use crate::error::GatewayError;
use crate::filter::{below, pairs};
use crate::link::{Link, TRIES};
use crate::mirror::{Give, mirror_record};
use crate::mobile::MOBILE;
use crate::names::NotificationKind;
use crate::push::PushKeys;
use crate::request::written;
use crate::values::{Decimal, Instant};

/// The most notifications that a follower reads at once.
const AT_ONCE: u32 = 50;
/// The pauses between two looks at an inbox, while nothing comes: the first one, and the longest.
const PAUSES_MS: (i64, i64) = (500, 8_000);

mirror_record! {
    /// A notification in a user's inbox.
    UserNotification of railgate::api::NotificationView {
        /// `ntf_` and a ULID.
        id: String,
        /// What it tells.
        kind: NotificationKind,
        /// When that happened.
        at: Instant,
        /// When the user read it; absent if they have not.
        read_at: Option<Instant>,
        /// What happened, in a few words.
        title: String,
        /// A sentence about it.
        body: String,
        /// The language of both, a BCP 47 tag.
        lang: String,
        /// The direction of that language: `ltr` or `rtl`.
        dir: String,
        /// `stl_` and a ULID: the payment, if it is about one.
        settlement_id: Option<String>,
        /// The reference of the payment.
        reference: Option<String>,
        /// The amount: that of the payment, or what was given back of it.
        amount: Option<Decimal>,
        /// ISO 4217 code.
        currency: Option<String>,
        /// The payee.
        to: Option<String>,
        /// Why the payment failed: a failure code.
        failure: Option<String>,
        /// Until when the payment waits for approval.
        expires_at: Option<Instant>,
        /// `dev_` and a ULID: the device, if it is about one.
        device_id: Option<String>,
        /// What the owner of the device calls it, or its model or platform.
        device: Option<String>,
    }
}

/// A page of a user's inbox.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct NotificationPage {
    /// The notifications, newest first.
    pub data: Vec<UserNotification>,
    /// How many of the whole inbox are unread.
    pub unread_count: u64,
    /// Whether there are more after this page.
    pub has_more: bool,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

impl Give<NotificationPage> for NotificationsView {
    fn give(self) -> Result<NotificationPage, GatewayError> {
        let Self { data, unread_count, has_more, next_cursor } = self;
        Ok(NotificationPage { data: data.give()?, unread_count: unread_count.give()?, has_more, next_cursor })
    }
}

/// Selects notifications of a user's inbox.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct NotificationFilter {
    /// Only unread ones.
    #[uniffi(default = false)]
    pub unread: bool,
    /// The language of the texts, a BCP 47 tag, unless the user has chosen one.
    #[uniffi(default = None)]
    pub locale: Option<String>,
    /// Page size, 1 to 200.
    #[uniffi(default = 50)]
    pub limit: u32,
    /// `next_cursor` of the previous page.
    #[uniffi(default = None)]
    pub cursor: Option<String>,
}

impl NotificationFilter {
    fn request(self) -> Request {
        let Self { unread, locale, limit, cursor } = self;
        let unread = unread.then(|| "true".to_owned());
        let query = pairs([("limit", Some(limit.to_string())), ("unread", unread), ("cursor", cursor)]);
        let mut request = Request::new("GET", &below(&format!("{MOBILE}/notifications"), query));
        request.headers.extend(locale.map(|locale| ("accept-language".to_owned(), locale)));
        request
    }
}

/// Hours of the day during which pushes wait.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, uniffi::Record)]
pub struct QuietHours {
    /// When they begin, `HH:MM`.
    #[serde(rename = "from")]
    pub from_time: String,
    /// When they end, `HH:MM`; the next day, if not later than `from_time`.
    #[serde(rename = "to")]
    pub to_time: String,
    /// An IANA time zone, or an offset such as `+03:00`.
    pub time_zone: String,
}

mirror_record! {
    /// Where a kind of notification is shown.
    NotificationChannels of railgate::api::ChannelsView {
        /// In the inbox.
        inbox: bool,
        /// As a push.
        push: bool,
    }
}

/// What a user wants to be told, and where.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct NotificationPreferences {
    /// What a push may say: `none`, `amount` or `full`.
    #[uniffi(default = "none")]
    pub detail: String,
    /// The language, a BCP 47 tag; by default that of each device.
    #[uniffi(default = None)]
    pub locale: Option<String>,
    /// When pushes wait; never by default.
    #[uniffi(default = None)]
    pub quiet_hours: Option<QuietHours>,
    /// By kind of notification, such as `payment.completed`, where it is shown; everywhere by default.
    #[serde(default)]
    #[uniffi(default)]
    pub kinds: HashMap<String, NotificationChannels>,
}

impl NotificationPreferences {
    fn body(self) -> PreferencesBody {
        let Self { detail, locale, quiet_hours, kinds } = self;
        let hours = |QuietHours { from_time: from, to_time: to, time_zone }| QuietHoursBody { from, to, time_zone };
        let channels = |NotificationChannels { inbox, push }| ChannelsBody { inbox: Some(inbox), push: Some(push) };
        let kinds: BTreeMap<_, _> = kinds.into_iter().map(|(kind, shown)| (kind, channels(shown))).collect();
        PreferencesBody { detail: Some(detail), locale, quiet_hours: quiet_hours.map(hours), kinds: Some(kinds) }
    }
}

mirror_record! {
    /// A push subscription of a user.
    PushSubscription of railgate::api::PushSubscriptionView {
        /// `psh_` and a ULID.
        id: String,
        /// The push service, without the rest of the endpoint, which is a secret of the device.
        push_service: String,
        /// Whether it was made by the device that asks.
        this_device: bool,
        /// The language of the device, a BCP 47 tag.
        locale: Option<String>,
        /// When it was made.
        created_at: Instant,
        /// When it expires; absent for never.
        expires_at: Option<Instant>,
        /// Since when all pushes to it have failed; absent if the last one arrived.
        failing_since: Option<Instant>,
    }
}

mirror_record! {
    /// The push subscriptions of a user, and what a new one needs.
    PushSubscriptions of railgate::api::PushSubscriptionsView {
        /// The gateway's key, which a push service binds a subscription to (RFC 8292): an uncompressed point in base64url.
        application_server_key: String,
        /// The subscriptions, oldest first.
        data: Vec<PushSubscription>,
    }
}

fn unread(UnreadView { unread_count }: UnreadView) -> u64 {
    unread_count as u64
}

#[uniffi::export]
impl GatewayClient {
    /// Returns a page of the inbox of this device's user, newest first, with the number of unread ones in all of it.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn notifications(&self, filter: NotificationFilter) -> Result<NotificationPage, GatewayError> {
        self.call(filter.request()).await
    }

    /// Follows the inbox: the notifications after the one with the id `after`, then each as it comes; by default only those that
    /// come from now on. `locale`: as in [`NotificationFilter`].
    ///
    /// # Errors
    /// None.
    #[uniffi::method(default(after = None, locale = None))]
    pub fn follow_notifications(&self, after: Option<String>, locale: Option<String>) -> Result<Arc<NotificationFollower>, GatewayError> {
        let seen = after.map_or(Seen::Nothing, |id| Seen::UpTo(Some(id)));
        Ok(Arc::new(NotificationFollower { link: self.link.clone(), locale, seen: Mutex::new(seen) }))
    }

    /// Marks a notification as read; returns how many of the inbox are still unread.
    ///
    /// # Errors
    /// `Refused` with code `notification_not_found`; `Unanswered`, `Unsigned`.
    pub async fn mark_read(&self, id: String) -> Result<u64, GatewayError> {
        let path = format!("{MOBILE}/notifications/{}/read", part(&id, ErrorCode::NotificationNotFound)?);
        self.call(once("POST", &path, String::new())?).await.map(unread)
    }

    /// Marks all notifications as read; returns how many are still unread: those that came meanwhile.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn mark_all_read(&self) -> Result<u64, GatewayError> {
        self.call(once("POST", &format!("{MOBILE}/notifications/read-all"), String::new())?).await.map(unread)
    }

    /// Returns what the user wants to be told.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn preferences(&self) -> Result<NotificationPreferences, GatewayError> {
        self.look(format!("{MOBILE}/preferences")).await
    }

    /// Replaces what the user wants to be told, as a whole; returns it.
    ///
    /// # Errors
    /// `Refused` with code `invalid_fields`; `Unanswered`, `Unsigned`.
    pub async fn put_preferences(&self, preferences: NotificationPreferences) -> Result<NotificationPreferences, GatewayError> {
        self.call(once("PUT", &format!("{MOBILE}/preferences"), written(&preferences.body()))?).await
    }

    /// Returns where pushes for the user go, and the gateway's key, which a push service needs for a new subscription.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn push_subscriptions(&self) -> Result<PushSubscriptions, GatewayError> {
        self.look(format!("{MOBILE}/push-subscriptions")).await
    }

    /// Has pushes for the user sent to `endpoint`, which the push service gave this app, encrypted for `keys`. The same again changes
    /// nothing: call it at every start. `locale`: the language of the device, a BCP 47 tag. `application_server_key`: the gateway's key
    /// that the endpoint was made with, if the gateway has replaced it since.
    ///
    /// # Errors
    /// `Refused` with code `invalid_fields`, such as for an address that the gateway does not send to; `Unanswered`, `Unsigned`.
    #[uniffi::method(default(locale = None, application_server_key = None))]
    pub async fn subscribe_push(
        &self,
        endpoint: String,
        keys: Arc<PushKeys>,
        locale: Option<String>,
        application_server_key: Option<String>,
    ) -> Result<PushSubscription, GatewayError> {
        let body = PushSubscriptionBody { endpoint, keys: keys.body(), expiration_time: None, application_server_key, locale };
        self.call(once("POST", &format!("{MOBILE}/push-subscriptions"), written(&body))?).await
    }

    /// Removes a push subscription of the user, such as when the push service ended it.
    ///
    /// # Errors
    /// `Refused` with code `push_subscription_not_found`; `Unanswered`, `Unsigned`.
    pub async fn unsubscribe_push(&self, id: String) -> Result<(), GatewayError> {
        let path = format!("{MOBILE}/push-subscriptions/{}", part(&id, ErrorCode::PushSubscriptionNotFound)?);
        self.call(Request::new("DELETE", &path)).await
    }
}

/// Whether the notification `id` is the last one that was seen, or older: that one may have been removed meanwhile. An id begins with its
/// millisecond; the rest is in no order.
fn is_seen(id: &str, last: &str) -> bool {
    const TIME: usize = "ntf_".len() + 10;
    id == last || id.get(..TIME).zip(last.get(..TIME)).is_some_and(|(id, last)| id < last)
}

/// How far a follower is.
#[derive(Clone)]
enum Seen {
    /// It has not looked yet, and begins with what comes next.
    Nothing,
    /// Up to this notification; none: the inbox was empty.
    UpTo(Option<String>),
}

/// The notifications of a user as they come. The packages wrap it as an async iterator, a `Flow` or an `AsyncSequence`.
#[derive(uniffi::Object)]
pub struct NotificationFollower {
    link: Arc<Link>,
    locale: Option<String>,
    seen: Mutex<Seen>,
}

impl NotificationFollower {
    async fn page(&self, cursor: Option<String>) -> Result<NotificationPage, GatewayError> {
        let filter = NotificationFilter { unread: false, locale: self.locale.clone(), limit: AT_ONCE, cursor };
        self.link.call(Call::new(filter.request()).repeatable(), TRIES).await
    }

    /// Everything after this notification, oldest first.
    async fn after(&self, last: Option<&str>) -> Result<Vec<UserNotification>, GatewayError> {
        let (mut new, mut cursor) = (Vec::new(), None);
        loop {
            let page = self.page(cursor).await?;
            let seen = page.data.iter().position(|it| last.is_some_and(|last| is_seen(&it.id, last)));
            new.extend(page.data.into_iter().take(seen.unwrap_or(usize::MAX)));
            cursor = page.next_cursor;
            if seen.is_some() || cursor.is_none() {
                new.reverse();
                return Ok(new);
            }
        }
    }
}

#[uniffi::export]
impl NotificationFollower {
    /// Returns the notifications since the last call, oldest first; waits until there are any. Failures are retried a few times first;
    /// after an error it may be called again.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn next(&self) -> Result<Vec<UserNotification>, GatewayError> {
        let seen = |seen: Seen| *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        let mut pause_ms = PAUSES_MS.0;
        loop {
            let last = self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
            match last {
                Seen::Nothing => seen(Seen::UpTo(self.page(None).await?.data.into_iter().next().map(|it| it.id))),
                Seen::UpTo(last) => {
                    let new = self.after(last.as_deref()).await?;
                    if let Some(newest) = new.last() {
                        seen(Seen::UpTo(Some(newest.id.clone())));
                        return Ok(new);
                    }
                    self.link.pause(pause_ms).await?;
                    pause_ms = (2 * pause_ms).min(PAUSES_MS.1);
                }
            }
        }
    }
}
