//! Notifications of end users, their preferences, and where pushes go.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::request::body;
use crate::store::record::NotificationKind;

body! {
    /// A push subscription, as `PushSubscription.toJSON()` gives it.
    PushSubscriptionBody {
        /// Where the push service takes messages for it.
        [example = "https://push.example.net/p/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV", min_length = 1]
        endpoint: String,
        /// The keys that encrypt for it.
        keys: PushKeysBody,
    } optional {
        /// When it expires, in milliseconds since 1970; null for never.
        #[serde(rename = "expirationTime", alias = "expiration_time")]
        [value_type = Option<f64>, minimum = 0]
        expiration_time: i64,
        /// The key that it was made with, if that is not the present one: `application_server_key` of an earlier answer.
        [min_length = 1]
        application_server_key: String,
        /// The language of the device, a BCP 47 tag. Default: the first of `Accept-Language`.
        [example = "ar-EG", max_length = 35]
        locale: String,
    }
}

body! {
    /// The keys of a push subscription, in base64url.
    PushKeysBody {
        /// The public key of the device: a point of P-256.
        [example = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4", min_length = 1]
        p256dh: String,
        /// 16 bytes that only the device and the gateway know.
        [example = "BTBZMqHH6r4Tts7J_aSIgg", min_length = 1]
        auth: String,
    } optional {}
}

body! {
    /// What a user wants to be told, and where. What is left out is as by default.
    PreferencesBody {} optional {
        /// What a push may say: `none` (by default), `amount` or `full`.
        [example = "amount", pattern = "^(none|amount|full)$"]
        detail: String,
        /// The language, a BCP 47 tag. Default: that of each device.
        [example = "ar-EG", max_length = 35]
        locale: String,
        /// When pushes wait.
        quiet_hours: QuietHoursBody,
        /// By kind of notification, where it is shown. Default: everywhere.
        kinds: BTreeMap<String, ChannelsBody>,
    }
}

body! {
    /// Hours of the day during which pushes wait.
    QuietHoursBody {
        /// When they begin, `HH:MM`.
        [example = "22:00", pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$"]
        from: String,
        /// When they end, `HH:MM`; the next day, if not later than `from`.
        [example = "07:00", pattern = "^([01][0-9]|2[0-3]):[0-5][0-9]$"]
        to: String,
        /// An IANA time zone, or an offset such as `+03:00`.
        [example = "Africa/Cairo", max_length = 64]
        time_zone: String,
    } optional {}
}

body! {
    /// Where a kind of notification is shown.
    ChannelsBody {} optional {
        /// In the inbox. Default: true.
        inbox: bool,
        /// As a push. Default: true.
        push: bool,
    }
}

/// A notification in a user's inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotificationView {
    /// `ntf_` and a ULID.
    pub id: String,
    /// What it tells.
    pub kind: NotificationKind,
    /// When that happened, RFC 3339.
    pub at: String,
    /// When the user read it, RFC 3339; null if they have not.
    pub read_at: Option<String>,
    /// What happened, in a few words.
    pub title: String,
    /// A sentence about it.
    pub body: String,
    /// The language of both, a BCP 47 tag.
    pub lang: String,
    /// The direction of that language: `ltr` or `rtl`.
    pub dir: String,
    /// `stl_` and a ULID: the payment, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settlement_id: Option<String>,
    /// The reference of the payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The amount: that of the payment, or what was given back of it, with the decimals of the currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// ISO 4217 code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The payee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Why the payment failed: a failure code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Until when the payment waits for approval, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// `dev_` and a ULID: the device, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_id: Option<String>,
    /// What the owner of the device calls it, or its model or platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// A page of a user's inbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotificationsView {
    /// The notifications, newest first.
    pub data: Vec<NotificationView>,
    /// How many of the whole inbox are unread.
    pub unread_count: usize,
    /// Whether there are more.
    pub has_more: bool,
    /// The `cursor` of the next page.
    pub next_cursor: Option<String>,
}

/// How many notifications are unread after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnreadView {
    /// How many of the whole inbox are unread.
    pub unread_count: usize,
}

/// What a user wants to be told, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PreferencesView {
    /// What a push may say: `none`, `amount` or `full`.
    pub detail: String,
    /// The language, a BCP 47 tag; null for that of each device.
    pub locale: Option<String>,
    /// When pushes wait; null for never.
    pub quiet_hours: Option<QuietHoursBody>,
    /// By kind of notification, where it is shown: all kinds.
    pub kinds: BTreeMap<String, ChannelsView>,
}

/// Where a kind of notification is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ChannelsView {
    /// In the inbox.
    pub inbox: bool,
    /// As a push.
    pub push: bool,
}

/// A push subscription of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushSubscriptionView {
    /// `psh_` and a ULID.
    pub id: String,
    /// The push service, without the rest of the endpoint, which is a secret of the device.
    pub push_service: String,
    /// Whether it was made by the device that asks.
    pub this_device: bool,
    /// The language of the device, a BCP 47 tag.
    pub locale: Option<String>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// When it expires, RFC 3339; null for never.
    pub expires_at: Option<String>,
    /// Since when all pushes to it have failed, RFC 3339; null if the last one arrived.
    pub failing_since: Option<String>,
}

/// The push subscriptions of a user, and what a new one needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PushSubscriptionsView {
    /// What to pass to `PushManager.subscribe` as `applicationServerKey`.
    pub application_server_key: String,
    /// The subscriptions, oldest first.
    pub data: Vec<PushSubscriptionView>,
}
