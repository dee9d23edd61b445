//! What is kept of webhooks: endpoints, their secrets, what is to be delivered to them, and how that went.

use serde::{Deserialize, Serialize};

use super::EventType;
use crate::ids::{ClientNo, EndpointNo, SettlementNo, Ulid};
use crate::ledger::Mode;
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

/// Where a client wants to be told of events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointRecord {
    /// Its number.
    pub no: EndpointNo,
    /// The ULID behind `whk_`, unique.
    pub id: Ulid,
    /// Grows by one with every change.
    pub version: u32,
    /// Whose.
    pub client: ClientNo,
    /// Of which mode's events it is told.
    pub mode: Mode,
    /// Whether it is told anything.
    pub status: EndpointStatus,
    /// Where.
    pub url: String,
    /// Of what; `None`: of everything, also of what there is not yet.
    pub topics: Option<TopicSet>,
    /// What its owner calls it.
    pub description: Option<String>,
    /// When it was made.
    pub created_at: Millis,
    /// When it last changed.
    pub updated_at: Millis,
}

/// A secret under which an endpoint's deliveries are signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointSecretRecord {
    /// Whose.
    pub endpoint: EndpointNo,
    /// Its number among the endpoint's, from 1; the highest is the newest.
    pub n: u32,
    /// The secret, sealed.
    pub sealed: Vec<u8>,
    /// When it was made.
    pub created_at: Millis,
    /// When it stops signing; `None`: it is the newest.
    pub until: Option<Millis>,
}

/// The queue before an endpoint: when something is next due for it, who is at it, and how it fares.
///
/// One host at a time delivers to an endpoint, so that neither its slowness nor what waits for it is in anybody's way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRecord {
    /// Before which endpoint.
    pub endpoint: EndpointNo,
    /// Grows by one with every change.
    pub version: u32,
    /// Its last delivery failed or was slow: it waits in a line of its own, which takes nothing from those who answer at once.
    pub troubled: bool,
    /// When the next delivery is due or the lease ends; `None`: nothing waits. A lease is also kept, with nothing under way,
    /// while the receiver wants to be left alone.
    pub due: Option<Millis>,
    /// Who holds the lease; 0 for nobody.
    pub owner: i64,
    /// The earliest due time of what was added since it was leased.
    pub added: Option<Millis>,
    /// Since when every delivery has failed.
    pub failing_since: Option<Millis>,
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

/// One event that one endpoint is to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// Its number: when it was made (milliseconds, upper 43 bits) and a number that makes it unique (lower 20).
    pub no: i64,
    /// Whom.
    pub endpoint: EndpointNo,
    /// The `webhook-id`: the ULID behind `evt_`, the same on each try.
    pub message: Ulid,
    /// The `type`.
    pub topic: Topic,
    /// Why.
    pub cause: DeliveryCause,
    /// How far it is.
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: u16,
    /// When it is tried next; `None` when it will not be.
    pub due: Option<Millis>,
    /// The settlement; 0 for none.
    pub settlement: SettlementNo,
    /// The event's place in the settlement's trace; 0 for none.
    pub n: u32,
    /// What is sent, the same bytes on each try.
    pub body: String,
    /// How the last try went.
    pub last: Option<LastTry>,
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
