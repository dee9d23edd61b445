//! Webhooks as they cross a binding or the wire: what can be asked of them, what a host is to deliver, and views.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::ids::{ClientNo, EndpointNo};
use crate::ledger::Mode;
use crate::store::record::{DeliveryCause, DeliveryRecord, DeliveryStatus, EndpointStatus, LastTry, TopicSet};
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

/// A webhook as its owner sees it.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookView {
    /// `whk_` and a ULID.
    pub id: String,
    /// Where deliveries go.
    pub url: String,
    /// Of which types of event it is told.
    pub events: Vec<&'static str>,
    /// It is told of everything, also of types that there are not yet.
    pub all_events: bool,
    /// What its owner calls it.
    pub description: Option<String>,
    /// `enabled`, `disabled` by its owner, `gone` (it answered 410), or `failing` (five days of failures only).
    #[cfg_attr(feature = "openapi", schema(schema_with = shown_status))]
    pub status: EndpointStatus,
    /// Since when every delivery has failed.
    pub failing_since: Option<String>,
    /// When it was made.
    pub created_at: String,
    /// When it last changed.
    pub updated_at: String,
    /// `whsec_` and base64: only in the answer to the call that made it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

impl fmt::Debug for WebhookView {
    /// Without the secret: only whether there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Taken apart, so that a new field is not forgotten here.
        let Self { id, url, events, all_events, description, status, failing_since, created_at, updated_at, secret } = self;
        f.debug_struct("WebhookView")
            .field("id", id)
            .field("url", url)
            .field("events", events)
            .field("all_events", all_events)
            .field("description", description)
            .field("status", status)
            .field("failing_since", failing_since)
            .field("created_at", created_at)
            .field("updated_at", updated_at)
            .field("secret", &secret.as_ref().map(|_| format_args!("..")))
            .finish()
    }
}

/// One that is removed is not shown.
#[cfg(feature = "openapi")]
fn shown_status() -> utoipa::openapi::schema::Object {
    let shown = EndpointStatus::ALL.iter().filter(|status| **status != EndpointStatus::Removed);
    let description = "`enabled`, `disabled` by its owner, `gone` (it answered 410), or `failing` (five days of failures only)";
    utoipa::openapi::ObjectBuilder::new()
        .schema_type(utoipa::openapi::schema::Type::String)
        .enum_values(Some(shown.map(|status| status.as_str())))
        .description(Some(description))
        .build()
}

/// A delivery as its owner sees it.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryView {
    /// `dlv_` and a ULID.
    pub id: String,
    /// The `webhook-id` header: the event's id, the same on each try.
    pub message_id: String,
    /// The type of the event.
    #[serde(rename = "type")]
    pub topic: &'static str,
    /// Why it was made.
    pub cause: DeliveryCause,
    /// How far it is.
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: u16,
    /// When it is tried next.
    pub next_attempt_at: Option<String>,
    /// How the last try went.
    pub last_attempt: Option<AttemptView>,
    /// When it was made.
    pub created_at: String,
    /// What is sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub payload: Box<RawValue>,
}

/// How a try at a delivery went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttemptView {
    /// When it began.
    pub at: String,
    /// How long it took, in milliseconds.
    pub took_ms: u32,
    /// The status of the receiver's answer.
    pub status: Option<u16>,
    /// Why there was no answer.
    pub error: Option<String>,
    /// The beginning of the answer's body, as the receiver wrote it.
    pub response_excerpt: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_shown_for_debugging_keeps_its_secret() {
        let view = WebhookView {
            id: "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB".to_owned(),
            url: "https://shop.example/hooks".to_owned(),
            events: vec!["settlement.completed"],
            all_events: false,
            description: None,
            status: EndpointStatus::Enabled,
            failing_since: None,
            created_at: "2026-11-21T10:38:17.042Z".to_owned(),
            updated_at: "2026-11-21T10:38:17.042Z".to_owned(),
            secret: Some("whsec_CAgICAgICAg".to_owned()),
        };
        let shown = format!("{view:?} {view:#?}");
        assert!(shown.contains("shop.example") && shown.contains("secret: Some(..)"), "{shown}");
        assert!(!shown.contains("CAgI"), "{shown}");
    }
}
