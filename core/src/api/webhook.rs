//! Webhooks as they cross a binding or the wire: what can be asked of them, what a host is to deliver.

use crate::ids::{ClientNo, EndpointNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::{DeliveryRecord, EndpointRecord, LastTry, Topic, TopicSet};
use crate::time::Millis;
use crate::webhook::WebhookSecret;

/// What a client does to its webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookChange {
    /// Makes one.
    Create(NewWebhook),
    /// Changes one.
    Update {
        /// Which.
        id: Ulid,
        /// What to change.
        patch: WebhookPatch,
    },
    /// Removes one; what waits for it is not delivered any more.
    Delete {
        /// Which.
        id: Ulid,
    },
    /// Gives one a new secret; the one before signs too for a while.
    Rotate {
        /// Which.
        id: Ulid,
        /// How long the one before signs too, in milliseconds.
        grace_ms: Millis,
    },
    /// Lets one be told of events again, and of what waits for it.
    Enable {
        /// Which.
        id: Ulid,
    },
    /// Makes a delivery of an example, which the host delivers at once; see [`WebhookDone::Prepared`].
    Test {
        /// Which.
        id: Ulid,
        /// Of what.
        topic: Topic,
    },
    /// Makes a delivery once more.
    Redeliver {
        /// Which webhook.
        id: Ulid,
        /// Which delivery.
        delivery: Ulid,
    },
    /// Delivers the events of some time once more, a part at a time.
    Replay {
        /// Which.
        id: Ulid,
        /// Those that happened then or later.
        since: Millis,
        /// Those that happened before.
        until: Millis,
        /// Behind this position of the feed; 0 to begin.
        after: i64,
    },
}

impl WebhookChange {
    /// Whether making it twice does no more than once; see [`Command::is_repeatable`](super::Command::is_repeatable).
    pub fn is_repeatable(&self) -> bool {
        match self {
            Self::Create(_) | Self::Rotate { .. } | Self::Test { .. } | Self::Redeliver { .. } | Self::Replay { .. } => false,
            Self::Update { .. } | Self::Delete { .. } | Self::Enable { .. } => true,
        }
    }
}

/// A webhook to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// Where to.
    pub url: String,
    /// Of what; `None`: of everything.
    pub topics: Option<TopicSet>,
    /// What its owner calls it.
    pub description: Option<String>,
}

/// What to change of a webhook; `None` leaves it as it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookPatch {
    /// Where to.
    pub url: Option<String>,
    /// Of what; the inner `None`: of everything.
    pub topics: Option<Option<TopicSet>>,
    /// What its owner calls it.
    pub description: Option<Option<String>>,
    /// Whether it is told anything.
    pub enabled: Option<bool>,
}

/// What came of a [`WebhookChange`].
#[derive(Debug, Clone)]
pub enum WebhookDone {
    /// The webhook as it stands, and a secret where there is a new one: shown this once.
    Webhook(Box<EndpointRecord>, Option<WebhookSecret>),
    /// What is to be delivered at once, and reported with [`super::Command::Tested`].
    Prepared(Box<Parcel>),
    /// The delivery that was made.
    Queued(Box<DeliveryRecord>),
    /// Of a replay.
    Replayed {
        /// How many deliveries were made.
        queued: usize,
        /// Go on behind this position; `None`: that was all.
        next: Option<i64>,
    },
}

/// Deliveries to one endpoint, for a host to make: at the same time, in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// To whom; also for [`crate::Engine::webhook_secrets`].
    pub endpoint: EndpointNo,
    /// Whose it is.
    pub client: ClientNo,
    /// In which mode it is.
    pub mode: Mode,
    /// Its last delivery failed or was slow.
    pub troubled: bool,
    /// Where to.
    pub url: String,
    /// What.
    pub deliveries: Vec<DeliveryRecord>,
}

impl Parcel {
    /// As part of what it counts.
    pub const fn share(&self) -> Share {
        Share { client: self.client, mode: self.mode, troubled: self.troubled }
    }
}

/// What one client has under way in one mode and one line: it is given no more than its part of a line's room.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Share {
    /// Whose.
    pub client: ClientNo,
    /// In which mode.
    pub mode: Mode,
    /// Of the endpoints whose last delivery failed or was slow, or else of the others.
    pub troubled: bool,
}

/// How a try at a delivery went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// Which: its [`DeliveryRecord::no`].
    pub delivery: i64,
    /// What to remember of it.
    pub outcome: LastTry,
    /// How long the receiver wants to be left alone, from its `Retry-After`.
    pub retry_after: Option<Millis>,
}

/// What came of [`super::Command::Log`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logged {
    /// How many events were numbered.
    pub events: usize,
    /// There are more.
    pub more: bool,
    /// Another node is at it, until then at most.
    pub held_until: Option<Millis>,
}
