//! The records of webhooks: endpoints, their secrets, their deliveries, and the results of those.

use serde::{Deserialize, Serialize};

use super::EventType;
use crate::lifecycle::stored_enum;
use crate::time::Millis;

/// The subject of a delivery: an event of a trace, or of the endpoints themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// An event in the trace of a settlement, of a movement of money, or of a bundle.
    Event(EventType),
    /// An endpoint was disabled, because of its responses or because it did not respond.
    WebhookDisabled,
    /// A notification for an end user: only push subscriptions receive it.
    Notification,
}

/// The code of this topic. The codes of event types stay below it.
const WEBHOOK_DISABLED: u8 = 60;
/// The code of this topic.
const NOTIFICATION: u8 = 61;

impl Topic {
    /// Every topic of webhooks, in the order of the stored codes.
    pub fn all() -> impl Iterator<Item = Self> {
        EventType::ALL.iter().copied().map(Self::Event).chain([Self::WebhookDisabled])
    }

    /// The stored number, at most 62. Never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Event(kind) => kind.code(),
            Self::WebhookDisabled => WEBHOOK_DISABLED,
            Self::Notification => NOTIFICATION,
        }
    }

    /// The topic with this stored number; `None` if there is none.
    pub const fn from_code(code: u8) -> Option<Self> {
        match EventType::from_code(code) {
            Some(kind) => Some(Self::Event(kind)),
            None if code == WEBHOOK_DISABLED => Some(Self::WebhookDisabled),
            None if code == NOTIFICATION => Some(Self::Notification),
            None => None,
        }
    }

    /// The `type` on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event(kind) => kind.as_str(),
            Self::WebhookDisabled => "webhook.disabled",
            Self::Notification => "notification",
        }
    }

    /// The topic with this `type`; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|topic| topic.as_str() == name)
    }
}

/// A set of topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TopicSet(i64);

impl TopicSet {
    /// The set of these topics.
    pub fn of(topics: impl IntoIterator<Item = Topic>) -> Self {
        Self(topics.into_iter().fold(0, |bits, topic| bits | 1 << topic.code()))
    }

    /// The stored form: one bit per topic.
    pub const fn bits(self) -> i64 {
        self.0
    }

    /// The set for a stored value. Bits of unknown topics are preserved.
    pub const fn from_bits(bits: i64) -> Self {
        Self(bits)
    }

    /// Whether the set contains `topic`.
    pub const fn has(self, topic: Topic) -> bool {
        self.0 >> topic.code() & 1 == 1
    }

    /// The topics in the set.
    pub fn iter(self) -> impl Iterator<Item = Topic> {
        Topic::all().filter(move |topic| self.has(*topic))
    }
}

stored_enum! {
    /// Whether an endpoint receives deliveries, and if not, why.
    pub enum EndpointStatus {
        /// It receives deliveries.
        Enabled = 1 "enabled",
        /// Its owner disabled it.
        Disabled = 2 "disabled",
        /// It responded that it is gone for good (410).
        Gone = 3 "gone",
        /// Every delivery failed for five days.
        Failing = 4 "failing",
        /// Its owner removed it; its remaining records are being deleted.
        Removed = 5 "removed",
    }
}

stored_enum! {
    /// The progress of a delivery.
    pub enum DeliveryStatus {
        /// It will be tried, or tried again.
        Pending = 1 "pending",
        /// The receiver responded with a 2xx.
        Delivered = 2 "delivered",
        /// All tries failed.
        Failed = 3 "failed",
    }
}

stored_enum! {
    /// The reason for a delivery.
    pub enum DeliveryCause {
        /// The event occurred.
        Event = 1 "event",
        /// The owner requested this delivery again.
        Redelivery = 2 "redelivery",
        /// The owner requested all events since some time.
        Replay = 3 "replay",
        /// The owner tested the endpoint.
        Test = 4 "test",
    }
}

/// The result of a try. The receiver's own words are shown to its owner, but never trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastTry {
    /// When the try started.
    pub at: Millis,
    /// How long it took, in milliseconds.
    pub took_ms: u32,
    /// The status of the response; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there was no response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The beginning of the response body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
}
