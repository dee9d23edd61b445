//! Webhooks and their deliveries as their owner sees them.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::store::record::{DeliveryCause, DeliveryStatus, EndpointStatus};

/// A webhook as its owner sees it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookView {
    /// `whk_` and a ULID.
    pub id: String,
    /// Where deliveries go.
    pub url: String,
    /// Of which types of event it is told.
    pub events: Vec<Cow<'static, str>>,
    /// It is told of everything, also of types that there are not yet.
    pub all_events: bool,
    /// What its owner calls it.
    pub description: Option<String>,
    /// `enabled`, `disabled` by its owner, `gone` (it answered 410), or `failing` (five days of failures only).
    #[cfg_attr(feature = "openapi", schema(schema_with = shown_status))]
    pub status: EndpointStatus,
    /// Since when every delivery has failed, RFC 3339.
    pub failing_since: Option<String>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// When it last changed, RFC 3339.
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
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DeliveryView {
    /// `dlv_` and a ULID.
    pub id: String,
    /// The `webhook-id` header: the event's id, the same on each try.
    pub message_id: String,
    /// The type of the event.
    #[serde(rename = "type")]
    pub topic: Cow<'static, str>,
    /// Why it was made.
    pub cause: DeliveryCause,
    /// How far it is.
    pub status: DeliveryStatus,
    /// How often it was tried.
    pub attempts: u16,
    /// When it is tried next, RFC 3339.
    pub next_attempt_at: Option<String>,
    /// How the last try went.
    pub last_attempt: Option<AttemptView>,
    /// When it was made, RFC 3339.
    pub created_at: String,
    /// What is sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub payload: Box<RawValue>,
}

/// How a try at a delivery went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttemptView {
    /// When it began, RFC 3339.
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

/// A client's webhooks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhooksView {
    /// Oldest first.
    pub data: Vec<WebhookView>,
}

/// How a test went.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TestView {
    /// What was sent. It is not tried again.
    pub delivery: DeliveryView,
    /// The receiver took it: it answered with a 2xx.
    pub delivered: bool,
    /// What the receiver answered.
    pub response: ResponseView,
}

/// What a receiver answered.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResponseView {
    /// The status; null if there was no answer.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub took_ms: u32,
    /// The beginning of the body, as the receiver wrote it.
    pub excerpt: String,
    /// Why there was no answer.
    pub error: Option<String>,
}

/// How much a replay queued.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayView {
    /// How many deliveries were queued.
    pub queued: usize,
    /// There is more than one call takes: send the same request again with this as `after`. Null when that was all.
    pub next_after: Option<i64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_shown_for_debugging_keeps_its_secret() {
        let view = WebhookView {
            id: "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB".to_owned(),
            url: "https://shop.example/hooks".to_owned(),
            events: vec!["settlement.completed".into()],
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
