//! Webhooks as they cross a binding or the wire: what can be asked of them, what a host is to deliver.

use crate::ids::{ClientNo, EndpointNo};
use crate::ledger::Mode;
use crate::store::record::{DeliveryRecord, LastTry, TopicSet};
use crate::time::Millis;

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

/// What came of [`crate::engine::NumberEvents`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logged {
    /// How many events were numbered.
    pub events: usize,
    /// There are more.
    pub more: bool,
    /// Another node is at it, until then at most.
    pub held_until: Option<Millis>,
}
