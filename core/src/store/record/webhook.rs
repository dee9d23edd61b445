//! What is kept of webhooks: endpoints, their secrets, what is to be delivered to them, and how that went.

use serde::{Deserialize, Serialize};

use super::EventType;
use crate::lifecycle::stored_enum;
use crate::time::Millis;

/// What a delivery can be about: an event of a settlement, or of the endpoints themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// An event of a settlement's trace.
    Settlement(EventType),
    /// An endpoint was disabled, by its answers or by its silence.
    WebhookDisabled,
}

/// Beside the codes of event types, which stay below it.
const WEBHOOK_DISABLED: u8 = 60;

impl Topic {
    /// Every one, in the order of the stored codes.
    pub fn all() -> impl Iterator<Item = Self> {
        EventType::ALL.iter().copied().map(Self::Settlement).chain([Self::WebhookDisabled])
    }

    /// The number under which it is stored, at most 62. Never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Settlement(kind) => kind.code(),
            Self::WebhookDisabled => WEBHOOK_DISABLED,
        }
    }

    /// The topic of a stored number.
    pub const fn from_code(code: u8) -> Option<Self> {
        match EventType::from_code(code) {
            Some(kind) => Some(Self::Settlement(kind)),
            None if code == WEBHOOK_DISABLED => Some(Self::WebhookDisabled),
            None => None,
        }
    }

    /// The `type` on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Settlement(kind) => kind.as_str(),
            Self::WebhookDisabled => "webhook.disabled",
        }
    }

    /// The topic of a `type`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|topic| topic.as_str() == name)
    }
}

/// A set of topics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TopicSet(i64);

impl TopicSet {
    /// The set of these.
    pub fn of(topics: impl IntoIterator<Item = Topic>) -> Self {
        Self(topics.into_iter().fold(0, |bits, topic| bits | 1 << topic.code()))
    }

    /// As it is stored: one bit a topic.
    pub const fn bits(self) -> i64 {
        self.0
    }

    /// What was stored. Bits of topics that are not known any more stay.
    pub const fn from_bits(bits: i64) -> Self {
        Self(bits)
    }

    /// Whether it has this one.
    pub const fn has(self, topic: Topic) -> bool {
        self.0 >> topic.code() & 1 == 1
    }

    /// Those in it.
    pub fn iter(self) -> impl Iterator<Item = Topic> {
        Topic::all().filter(move |topic| self.has(*topic))
    }
}

stored_enum! {
    /// Whether an endpoint is told anything.
    pub enum EndpointStatus {
        /// It is.
        Enabled = 1 "enabled",
        /// Its owner disabled it.
        Disabled = 2 "disabled",
        /// It answered that it is gone for good (410).
        Gone = 3 "gone",
        /// Every delivery of five days failed.
        Failing = 4 "failing",
        /// Its owner removed it; what is left of it is swept away.
        Removed = 5 "removed",
    }
}

stored_enum! {
    /// How far a delivery is.
    pub enum DeliveryStatus {
        /// It will be tried, or tried again.
        Pending = 1 "pending",
        /// It was answered with a 2xx.
        Delivered = 2 "delivered",
        /// All tries failed.
        Failed = 3 "failed",
    }
}

stored_enum! {
    /// Why a delivery is made.
    pub enum DeliveryCause {
        /// The event took place.
        Event = 1 "event",
        /// Its owner asked for that delivery again.
        Redelivery = 2 "redelivery",
        /// Its owner asked for everything since some time.
        Replay = 3 "replay",
        /// Its owner tried the endpoint.
        Test = 4 "test",
    }
}

/// How a try went. What the receiver wrote is its own words: shown to its owner, never trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LastTry {
    /// When it began.
    pub at: Millis,
    /// How long it took.
    pub took_ms: u32,
    /// The status of the answer; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Why there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The beginning of the answer's body.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub excerpt: String,
}
