//! What calls about webhooks take, for the document; it is the core's validator that reads them.

use railgate::store::record::Topic;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ArrayBuilder, Object, ObjectBuilder, OneOfBuilder, Schema, Type};

/// A webhook to be made.
#[derive(ToSchema)]
#[expect(dead_code, reason = "described here, read by the core's validator")]
#[serde(deny_unknown_fields)]
pub(super) struct NewWebhookBody {
    /// Where deliveries go: https to a public address, without user name, password or fragment.
    #[schema(example = "https://shop.example.com/hooks/railgate", min_length = 1, max_length = 2048)]
    url: String,
    /// Of which types of event it is told; of everything, also of types to come, unless told.
    #[schema(schema_with = events, required = false)]
    events: Option<()>,
    /// What its owner calls it.
    #[schema(max_length = 200)]
    description: Option<String>,
}

/// What to change of a webhook.
#[derive(ToSchema)]
#[expect(dead_code, reason = "described here, read by the core's validator")]
#[serde(deny_unknown_fields)]
pub(super) struct WebhookPatchBody {
    /// Where deliveries go.
    #[schema(example = "https://shop.example.com/hooks/railgate", min_length = 1, max_length = 2048, nullable = false)]
    url: Option<String>,
    /// Of which types of event it is told; null for everything.
    #[schema(schema_with = events, required = false)]
    events: Option<()>,
    /// What its owner calls it; null takes it away.
    #[schema(max_length = 200)]
    description: Option<String>,
    /// Whether it is told anything.
    #[schema(nullable = false)]
    enabled: Option<bool>,
}

/// How a secret gives way to the next.
#[derive(ToSchema)]
#[expect(dead_code, reason = "described here, read by the core's validator")]
#[serde(deny_unknown_fields)]
pub(super) struct RotationBody {
    /// For so many seconds the old secret signs too: a day unless told.
    #[schema(example = 3600, minimum = 0, maximum = 604_800)]
    grace: Option<u32>,
}

/// What to send an example of.
#[derive(ToSchema)]
#[expect(dead_code, reason = "described here, read by the core's validator")]
#[serde(deny_unknown_fields)]
pub(super) struct TestBody {
    /// A type of event; `settlement.completed` unless told.
    #[serde(rename = "type")]
    #[schema(schema_with = event_type, required = false, example = "settlement.completed")]
    kind: Option<()>,
}

/// Which events to deliver once more.
#[derive(ToSchema)]
#[expect(dead_code, reason = "described here, read by the core's validator")]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayBody {
    /// RFC 3339, inclusive.
    #[schema(example = "2026-11-20T00:00:00Z")]
    since: String,
    /// RFC 3339, exclusive; everything there is, unless told.
    #[schema(example = "2026-11-21T00:00:00Z")]
    until: Option<String>,
    /// `next_after` of the answer before, to go on where it stopped.
    #[schema(minimum = 0)]
    after: Option<i64>,
}

fn events() -> Schema {
    let everything = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(["*"]));
    let some = ArrayBuilder::new().items(event_type()).min_items(Some(1)).max_items(Some(100));
    let not_named = ObjectBuilder::new().schema_type(Type::Null);
    OneOfBuilder::new().item(some).item(everything).item(not_named).description(Some("Types of event; `*` or null for all of them")).into()
}

/// One of the types of event.
pub(super) fn event_type() -> Object {
    ObjectBuilder::new().schema_type(Type::String).enum_values(Some(Topic::all().map(Topic::as_str))).build()
}
