//! Webhook types that cross a binding or the wire: what owners ask for, and what hosts deliver.

use crate::ids::{ClientNo, EndpointNo};
use crate::ledger::Mode;
use crate::store::record::{DeliveryRecord, LastTry, PushRoute, TopicSet};
use crate::time::Millis;

/// A webhook to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewWebhook {
    /// The URL that deliveries go to.
    pub url: String,
    /// The topics to deliver; `None` for all.
    pub topics: Option<TopicSet>,
    /// The owner's description.
    pub description: Option<String>,
}

/// Changes to a webhook; `None` leaves a field unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WebhookPatch {
    /// The URL that deliveries go to.
    pub url: Option<String>,
    /// The topics to deliver; the inner `None` for all.
    pub topics: Option<Option<TopicSet>>,
    /// The owner's description; the inner `None` removes it.
    pub description: Option<Option<String>>,
    /// Whether anything is delivered to it.
    pub enabled: Option<bool>,
}

/// Deliveries to one endpoint, which a host may make in any order, [`Parcel::AT_ONCE`] of them at the same time. It may leave some of them:
/// what it does not report stays due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// The endpoint; pass it to [`crate::Engine::webhook_secrets`].
    pub endpoint: EndpointNo,
    /// The client that owns the endpoint.
    pub client: ClientNo,
    /// The endpoint's mode.
    pub mode: Mode,
    /// Whether the endpoint's last delivery failed or was slow.
    pub troubled: bool,
    /// What makes the endpoint a push subscription; `None` for a webhook.
    pub push: Option<Box<PushRoute>>,
    /// The URL that deliveries go to.
    pub url: String,
    /// When the host's lease of the endpoint ends.
    pub until: Millis,
    /// The deliveries to make.
    pub deliveries: Vec<DeliveryRecord>,
}

impl Parcel {
    /// How many deliveries to one endpoint are in flight at the same time.
    pub const AT_ONCE: usize = 16;

    /// The share that it counts towards.
    pub const fn share(&self) -> Share {
        Share { client: self.client, mode: self.mode, troubled: self.troubled, push: self.push.is_some() }
    }
}

/// Identifies what one client has in flight in one mode and one line, because each client only gets a part of a line's capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Share {
    /// The client that owns the endpoints.
    pub client: ClientNo,
    /// The endpoints' mode.
    pub mode: Mode,
    /// The line: `true` for endpoints whose last delivery failed or was slow.
    pub troubled: bool,
    /// Whether it is what is pushed to the client's users.
    pub push: bool,
}

/// The result of a try at a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// The delivery's [`DeliveryRecord::no`].
    pub delivery: i64,
    /// The outcome to record.
    pub outcome: LastTry,
    /// How long the receiver asked to be left alone, from its `Retry-After`.
    pub retry_after: Option<Millis>,
    /// Whether nothing was sent, because the push is of no use any more.
    pub is_too_late: bool,
}

/// The output of [`crate::engine::NumberEvents`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Logged {
    /// How many events were numbered.
    pub events: usize,
    /// Whether there are more.
    pub more: bool,
    /// Another node is numbering events, until this time at most.
    pub held_until: Option<Millis>,
}
