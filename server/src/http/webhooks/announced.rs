//! The messages that the gateway itself sends, as the document's `webhooks` (OpenAPI 3.1): one entry per type of event.

use railgate::store::record::{EventSubject, EventType, Topic};
use railgate::webhook::{ID, SIGNATURE, TIMESTAMP};
use serde_json::json;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter, ParameterBuilder, ParameterIn, PathItem, PathsBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{AllOfBuilder, KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{ContentBuilder, OpenApi as Document, Ref, Required, ResponseBuilder};

use super::example;

const SETTLEMENT_DATA: &str = "SettlementEventData";
const MOVEMENT_DATA: &str = "BalanceEventData";

/// Adds the webhooks to the document.
pub(crate) fn announced(document: &mut Document) {
    let components = document.components.get_or_insert_default();
    components.schemas.insert(SETTLEMENT_DATA.to_owned(), settlement_data().into());
    components.schemas.insert(MOVEMENT_DATA.to_owned(), movement_data().into());
    let paths = Topic::all().fold(PathsBuilder::new(), |paths, topic| paths.path(topic.as_str(), sent(topic)));
    document.webhooks = Some(paths.build());
}

fn sent(topic: Topic) -> PathItem {
    let taken = ResponseBuilder::new().description("Accepted. Any 2xx will do; its body is ignored");
    let gone = ResponseBuilder::new().description("Gone for good: the webhook is disabled");
    let other = ResponseBuilder::new()
        .description("The delivery is tried again, up to ten attempts in a little over three days; redirects are not followed");
    let content = ContentBuilder::new().schema(Some(message(topic))).example(Some(example::message(topic))).build();
    let operation = OperationBuilder::new()
        .tag("webhooks")
        .operation_id(Some(operation_id(topic)))
        .summary(Some(format!("`{}`", topic.as_str())))
        .description(Some(described(topic)))
        .parameter(header(ID, "The event's id, the same on each attempt: an id seen before is a repeated delivery", "evt_01KAJX3M7Q5W8ZP9D2R4T6V8YB"))
        .parameter(header(TIMESTAMP, "When this attempt was made, in seconds since 1970", "1795257497"))
        .parameter(header(SIGNATURE, "`v1,` and the base64 of an HMAC-SHA256 over id, timestamp and body, joined by full stops (Standard Webhooks 1.0.0); several, separated by spaces, while the secret is being replaced", "v1,SxqO7I+mGXF8UV9+Y8e/rZCarR6CRUwTDKcTNuC/Svc="))
        .request_body(Some(RequestBodyBuilder::new().content("application/json", content).required(Some(Required::True)).build()))
        .response("2XX", taken)
        .response("410", gone)
        .response("default", other)
        // No token: the signature identifies the sender.
        .security(SecurityRequirement::default());
    PathItem::new(HttpMethod::Post, operation)
}

/// An operation id such as `onSettlementCompleted`.
fn operation_id(topic: Topic) -> String {
    let words = topic.as_str().split(['.', '_']);
    words.fold("on".to_owned(), |mut id, word| {
        let mut letters = word.chars();
        id.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        id + letters.as_str()
    })
}

fn described(topic: Topic) -> String {
    match topic {
        Topic::Event(EventType::BalanceCreditChanged) => {
            "An operator of the gateway set how far below zero the client's available money may fall. No money moved, so the statement has \
            no line."
                .to_owned()
        }
        Topic::Event(kind) if kind.subject() == EventSubject::Movement => {
            "An operator of the gateway moved real money into the client's account, or out of it. The statement has a line with the same \
            reference."
                .to_owned()
        }
        Topic::Event(kind) if kind.subject() == EventSubject::Bundle => {
            "A step of one of the client's bundles. Of two messages about a bundle, the one with the greater `sequence` is the later."
                .to_owned()
        }
        Topic::Event(_) => {
            "An event of a settlement's trace. Order is not guaranteed: of two messages about a settlement, the one with the \
            greater `sequence` is the later."
                .to_owned()
        }
        Topic::WebhookDisabled | Topic::Notification => {
            "The gateway disabled another webhook of the client, because it responded with 410, or only with failures for \
            five days."
                .to_owned()
        }
    }
}

fn header(name: &str, description: &str, example: &str) -> Parameter {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::True)
        .description(Some(description))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .example(Some(json!(example)))
        .build()
}

/// Standard Webhooks: `{type, timestamp, data}`.
fn message(topic: Topic) -> Schema {
    let data = match topic {
        Topic::Event(kind) => match kind.subject() {
            EventSubject::Settlement => SETTLEMENT_DATA,
            EventSubject::Movement => MOVEMENT_DATA,
            EventSubject::Bundle => "BundleEventView",
        },
        // No webhook receives a notification.
        Topic::WebhookDisabled | Topic::Notification => "WebhookView",
    };
    let kind = ObjectBuilder::new().schema_type(Type::String).enum_values(Some([topic.as_str()]));
    let time = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("When the event happened"));
    ObjectBuilder::new()
        .property("type", kind)
        .property("timestamp", time)
        .property("data", Ref::from_schema_name(data))
        .required("type")
        .required("timestamp")
        .required("data")
        .into()
}

/// What an operator did to the client's account, and the members that the event adds.
fn movement_data() -> Schema {
    let sequence = ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).description(Some("1: there is one event"));
    let event = ObjectBuilder::new().property("sequence", sequence).required("sequence");
    AllOfBuilder::new()
        .item(Ref::from_schema_name("BalanceMovementView"))
        .item(event)
        .description(Some("What an operator did to the client's account"))
        .into()
}

/// The settlement as the event left it, and the members that the event adds.
fn settlement_data() -> Schema {
    let sequence =
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(1)).description(Some("The event's place in the settlement's trace"));
    let event = ObjectBuilder::new()
        .property("sequence", sequence)
        .property("reversal", Ref::from_schema_name("ReversalView"))
        .required("sequence")
        .description(Some("`reversal` is present if the event is about one"));
    AllOfBuilder::new()
        .item(Ref::from_schema_name("SettlementView"))
        .item(event)
        .description(Some("The settlement as the event left it; a replay shows its current state"))
        .into()
}
