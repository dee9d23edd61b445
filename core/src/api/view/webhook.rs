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
    /// The URL that deliveries go to.
    pub url: String,
    /// The types of event that are delivered.
    pub events: Vec<Cow<'static, str>>,
    /// Whether all types of event are delivered, including future ones.
    pub all_events: bool,
    /// The owner's description.
    pub description: Option<String>,
    /// `enabled`, `disabled` by its owner, `gone` (it responded with 410), or `failing` (only failures for five days).
    #[cfg_attr(feature = "openapi", schema(schema_with = shown_status))]
    pub status: EndpointStatus,
    /// Since when all deliveries have failed, RFC 3339; null if the last one succeeded.
    pub failing_since: Option<String>,
    /// When it was created, RFC 3339.
    pub created_at: String,
    /// When it last changed, RFC 3339.
    pub updated_at: String,
    /// `whsec_` and base64; only in the response to the call that created it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
    /// Only in the repeated response to a call with an `Idempotency-Key` that created a secret: `true`, for the first response showed
    /// it. If that was lost, give the webhook a new secret.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret_shown: bool,
}

impl fmt::Debug for WebhookView {
    /// Omits the secret, and only shows whether there is one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Destructured, so that a new field is not forgotten here.
        let Self { id, url, events, all_events, description, status, failing_since, created_at, updated_at, secret, secret_shown } = self;
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
            .field("secret_shown", secret_shown)
            .finish()
    }
}

/// The schema of the status. Removed webhooks are not shown.
#[cfg(feature = "openapi")]
fn shown_status() -> utoipa::openapi::schema::Object {
    let shown = EndpointStatus::ALL.iter().filter(|status| **status != EndpointStatus::Removed);
    let description = "`enabled`, `disabled` by its owner, `gone` (it responded with 410), or `failing` (only failures for five days)";
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
    /// Why the delivery was created.
    pub cause: DeliveryCause,
    /// The delivery's state.
    pub status: DeliveryStatus,
    /// How many times it was tried.
    pub attempts: u16,
    /// When it will be tried next, RFC 3339; null if it will not.
    pub next_attempt_at: Option<String>,
    /// The result of the last try; null before the first.
    pub last_attempt: Option<AttemptView>,
    /// When it was created, RFC 3339.
    pub created_at: String,
    /// The body that is sent.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub payload: Box<RawValue>,
}

/// The result of a try at a delivery.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttemptView {
    /// When it started, RFC 3339.
    pub at: String,
    /// How long it took, in milliseconds.
    pub took_ms: u32,
    /// The status of the receiver's response; null if there was none.
    pub status: Option<u16>,
    /// Why there was no response.
    pub error: Option<String>,
    /// The start of the response body, as the receiver wrote it.
    pub response_excerpt: String,
}

/// A client's webhooks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhooksView {
    /// The webhooks, oldest first.
    pub data: Vec<WebhookView>,
}

/// The result of a test.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TestView {
    /// The delivery that was sent. It is not tried again.
    pub delivery: DeliveryView,
    /// Whether the receiver accepted it with a 2xx response.
    pub delivered: bool,
    /// The receiver's response.
    pub response: ResponseView,
}

/// The response of a receiver.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ResponseView {
    /// The status; null if there was no response.
    pub status: Option<u16>,
    /// How long it took, in milliseconds.
    pub took_ms: u32,
    /// The start of the body, as the receiver wrote it.
    pub excerpt: String,
    /// Why there was no response.
    pub error: Option<String>,
}

/// The result of a replay.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ReplayView {
    /// How many deliveries were queued.
    pub queued: usize,
    /// Set if there are more events than one call handles: send the same request again with this
    /// as `after`. Null when all are queued.
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
            secret_shown: false,
        };
        let shown = format!("{view:?} {view:#?}");
        assert!(shown.contains("shop.example") && shown.contains("secret: Some(..)"), "{shown}");
        assert!(!shown.contains("CAgI"), "{shown}");
    }
}
