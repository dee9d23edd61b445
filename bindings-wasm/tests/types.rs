//! `npm/src/types.ts` is generated from the core's views, bodies and names, and `npm/src/routes.ts` from the server's OpenAPI document.
//! `RAILGATE_BLESS=1` rewrites both.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(not(target_family = "wasm"))]

#[path = "types/routes.rs"]
mod routes;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use railgate::{api, auth, error, ledger, lifecycle, rail, receipt, route, store::record, validate};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

const HEAD: &str = r#"/**
 * The request and response types of the HTTP interface, with the names from the wire.
 *
 * The one difference is amounts. The interface writes them as JSON numbers with the currency's decimals. A JavaScript number
 * would lose trailing zeros and, in sums, cents, so here they are strings, exactly as the server wrote them.
 *
 * Generated from the core by `RAILGATE_BLESS=1 cargo test -p railgate-wasm --test types`.
 *
 * @module
 */

import type { Amount, AmountInput, JsonObject, TimeInput, Timestamp } from "./values.js";
"#;

/// The direction of a type, which its schema does not show.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// A response: a nullable member is present.
    Out,
    /// A request body: an optional member is left out, not null.
    In,
    /// A request body that changes something: what is left out stays, and null removes.
    Patch,
    /// A response that may come from an intermediary: every member except `code` may be absent.
    Loose,
}

/// The name of an event's type.
const EVENT: &str = "EventOf<T extends EventType>";

struct Shape {
    name: &'static str,
    way: Way,
    schema: Value,
    /// The members in order, each with whether it may be absent.
    members: Vec<(String, bool)>,
}

struct Names {
    name: &'static str,
    /// The name of the list of all values, if there is one.
    list: Option<&'static str>,
    doc: String,
    values: Vec<(&'static str, String)>,
}

/// The schemas met so far, their TypeScript names, and the enums.
#[derive(Default)]
struct World {
    schemas: BTreeMap<String, Value>,
    called: BTreeMap<String, &'static str>,
    names: Vec<Names>,
    /// The members that the package reads as amounts.
    amounts: BTreeSet<String>,
}

impl World {
    fn meet<T: ToSchema>(&mut self, name: &'static str) {
        self.called.insert(T::name().into_owned(), name);
        let mut met = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut met);
        self.schemas.extend(met.into_iter().map(|(name, schema)| (name, serde_json::to_value(schema).unwrap())));
    }

    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let name = schema["$ref"].as_str().map(|path| path.rsplit('/').next().unwrap());
        name.map_or(schema, |name| self.schemas.get(name).unwrap_or_else(|| panic!("{name} is not described")))
    }

    /// A value of the schema, with all optional members (`whole`) or none.
    fn sample(&self, schema: &Value, whole: bool) -> Value {
        let schema = self.resolve(schema);
        if let Some(choices) = schema["oneOf"].as_array() {
            let value = choices.iter().find(|choice| choice["type"] != "null").unwrap();
            return if whole { self.sample(value, whole) } else { Value::Null };
        }
        if let Some(values) = schema["enum"].as_array() {
            return values[0].clone();
        }
        match kinds(schema).as_slice() {
            _ if schema["anyOf"].is_array() => json!({}),
            kinds if kinds.contains(&"null") && !whole => Value::Null,
            ["string", ..] => json!(""),
            ["boolean", ..] => json!(true),
            ["integer" | "number", ..] => json!(1),
            ["array", ..] => {
                if whole {
                    json!([self.sample(&schema["items"], whole)])
                } else {
                    json!([])
                }
            }
            ["object", ..] => {
                let properties = schema["properties"].as_object().cloned().unwrap_or_default();
                let required = |name: &str| schema["required"].as_array().is_some_and(|names| names.iter().any(|it| it == name));
                let given = properties.iter().filter(|(name, _)| whole || required(name));
                let members = given.map(|(name, schema)| (name.clone(), self.sample(schema, whole)));
                // An empty map may be left out.
                let texts = whole && schema["additionalProperties"]["type"] == "string";
                Value::Object(members.chain(texts.then(|| ("name".to_owned(), json!("")))).collect())
            }
            other => panic!("no sample of {other:?}: {schema}"),
        }
    }

    /// The shape of a type, from what the core serialises: all members in order, and which of them may be absent.
    fn shape<T: ToSchema + Serialize + DeserializeOwned>(&mut self, name: &'static str, way: Way) -> Shape {
        self.meet::<T>(name);
        let schema = serde_json::to_value(T::schema()).unwrap();
        let written = |whole| {
            let sample = self.sample(&schema, whole).to_string();
            let read: T = serde_json::from_str(&sample).unwrap_or_else(|error| panic!("{name} does not read {sample}: {error}"));
            let text = serde_json::to_string(&read).unwrap();
            let again: T = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&again).unwrap(), text, "{name} reads what it writes");
            text
        };
        let (most, least) = (written(true), written(false));
        let least: Map<String, Value> = serde_json::from_str(&least).unwrap();
        let members: Vec<_> = in_order(&most).into_iter().map(|member| (member.clone(), !least.contains_key(&member))).collect();
        let described = schema["properties"].as_object().map_or(0, Map::len);
        assert_eq!(members.len(), described, "{name} writes what its schema describes");
        Shape { name, way, schema, members }
    }

    fn name_of(&self, values: &[&str]) -> Option<&'static str> {
        self.names.iter().find(|names| names.values.iter().map(|(value, _)| value).eq(values)).map(|names| names.name)
    }

    /// The type of a text with these values: its name, or that of most of them, and the rest.
    fn one_of(&self, values: Vec<&str>) -> String {
        let known = (1..=values.len()).rev().find_map(|n| Some((self.name_of(&values[..n])?, n)));
        known.map_or_else(
            || union(&values),
            |(name, n)| [name.to_owned()].into_iter().chain(values[n..].iter().map(|it| format!("{it:?}"))).collect::<Vec<_>>().join(" | "),
        )
    }

    fn kind(&self, schema: &Value, way: Way) -> String {
        if let Some(path) = schema["$ref"].as_str() {
            let name = path.rsplit('/').next().unwrap();
            return (*self.called.get(name).unwrap_or_else(|| panic!("{name} has no name in TypeScript"))).to_owned();
        }
        if let Some(choices) = schema["oneOf"].as_array() {
            let kinds = choices.iter().filter(|choice| choice["type"] != "null").map(|choice| self.kind(choice, way));
            let null = choices.iter().any(|choice| choice["type"] == "null").then(|| "null".to_owned());
            return kinds.chain(null).collect::<Vec<_>>().join(" | ");
        }
        if let Some(values) = schema["enum"].as_array() {
            return self.one_of(values.iter().filter_map(Value::as_str).collect());
        }
        let kinds = kinds(schema);
        let nullable = kinds.contains(&"null") && matches!(way, Way::Out | Way::Patch);
        let kind = match kinds.iter().filter(|kind| **kind != "null").copied().collect::<Vec<_>>().as_slice() {
            ["number", "string"] => "AmountInput".to_owned(),
            ["string"] if schema["format"] == "decimal" => "Amount".to_owned(),
            ["string"] if schema["description"].as_str().is_some_and(|text| text.contains("RFC 3339")) => match way {
                Way::In | Way::Patch => "TimeInput".to_owned(),
                Way::Out | Way::Loose => "Timestamp".to_owned(),
            },
            ["string"] => "string".to_owned(),
            ["boolean"] => "boolean".to_owned(),
            ["integer" | "number"] => "number".to_owned(),
            ["array"] => match self.kind(&schema["items"], way) {
                several if several.contains(" | ") => format!("readonly ({several})[]"),
                one => format!("readonly {one}[]"),
            },
            ["object"] if schema["additionalProperties"]["type"] == "string" => "Readonly<Record<string, string>>".to_owned(),
            ["object"] if schema["additionalProperties"]["$ref"].is_string() => {
                format!("Readonly<Record<string, {}>>", self.kind(&schema["additionalProperties"], way))
            }
            ["object"] => "JsonObject".to_owned(),
            [] => "Json".to_owned(),
            other => panic!("{other:?} has no type in TypeScript: {schema}"),
        };
        if nullable { format!("{kind} | null") } else { kind }
    }

    fn write(&self, out: &mut String, shape: &Shape) {
        let Shape { name, way, schema, members } = shape;
        comment(out, "", &[schema["description"].as_str().unwrap()]);
        writeln!(out, "export interface {name} {{").unwrap();
        for (member, absent) in members {
            let schema = &schema["properties"][member];
            let unsaid = || (member == "type").then_some("The type of event.");
            comment(out, "  ", &[described(schema).or_else(unsaid).unwrap_or_else(|| panic!("{name}.{member} has no comment"))]);
            let mut kind = self.kind(schema, *way);
            let optional = match way {
                Way::Out | Way::In | Way::Patch => *absent,
                Way::Loose => member != "code",
            };
            if optional && !(*way == Way::Patch && schema["type"].is_array()) {
                kind = kind.strip_suffix(" | null").map_or(kind.clone(), str::to_owned);
            }
            match (*name, member.as_str()) {
                ("Page<T>", "data") => kind = "readonly T[]".to_owned(),
                ("Webhook", "events") => kind = "readonly WebhookTopic[]".to_owned(),
                ("Delivery", "type") => kind = "WebhookTopic".to_owned(),
                (EVENT, "type") => kind = "T".to_owned(),
                (EVENT, "data") => kind = "EventDetails[T]".to_owned(),
                _ => {}
            }
            writeln!(out, "  readonly {member}{}: {kind};", if optional { "?" } else { "" }).unwrap();
        }
        out.push_str("}\n");
    }
}

fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().map(|kind| kind.as_str().unwrap()).collect(),
        _ => Vec::new(),
    }
}

/// The description of a schema; of a nullable reference, that beside the reference.
fn described(schema: &Value) -> Option<&str> {
    let choices = schema["oneOf"].as_array().into_iter().flatten();
    schema["description"].as_str().or_else(|| choices.filter_map(|choice| choice["description"].as_str()).next())
}

/// The member names of a JSON object, in order.
fn in_order(object: &str) -> Vec<String> {
    struct Members;
    impl<'de> serde::de::Visitor<'de> for Members {
        type Value = Vec<String>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut names = Vec::new();
            while let Some((name, serde::de::IgnoredAny)) = map.next_entry()? {
                names.push(name);
            }
            Ok(names)
        }
    }
    serde::Deserializer::deserialize_map(&mut serde_json::Deserializer::from_str(object), Members).unwrap()
}

fn union(values: &[&str]) -> String {
    values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(" | ")
}

/// Writes a TSDoc comment, on one line if it has one. Intra-doc links of the core must not occur in it.
fn comment(out: &mut String, indent: &str, paragraphs: &[&str]) {
    let text = paragraphs.join("\n\n");
    assert!(!text.contains("[`") && !text.contains("*/"), "{text}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    if let [line] = lines.as_slice() {
        writeln!(out, "{indent}/** {line} */").unwrap();
        return;
    }
    writeln!(out, "{indent}/**").unwrap();
    for line in lines {
        writeln!(out, "{}", format!("{indent} * {line}").trim_end()).unwrap();
    }
    writeln!(out, "{indent} */").unwrap();
}

fn write_names(out: &mut String, names: &Names) {
    let Names { name, list, doc, values } = names;
    let meanings: Vec<_> = values.iter().map(|(value, doc)| format!("- `{value}`: {doc}")).collect();
    if let Some(list) = list {
        writeln!(out, "/** Every {{@link {name}}}. */\nexport const {list} = [").unwrap();
        values.iter().for_each(|(value, _)| writeln!(out, "  {value:?},").unwrap());
        out.push_str("] as const;\n\n");
    }
    comment(out, "", &[doc, &meanings.join("\n")]);
    let kind = match list {
        Some(list) => format!("(typeof {list})[number]"),
        None => union(&values.iter().map(|(value, _)| *value).collect::<Vec<_>>()),
    };
    let kind = if kind.len() > 100 { format!("\n  | {}", kind.replace(" | ", "\n  | ")) } else { format!(" {kind}") };
    writeln!(out, "export type {name} ={kind};").unwrap();
}

/// The union of all events, by their types.
fn write_events(out: &mut String) {
    out.push_str("\n/** The details of an event, by its type. */\nexport interface EventDetails {\n");
    for kind in record::EventType::ALL {
        comment(out, "  ", &[&format!("Details of `{}`.", kind.as_str())]);
        writeln!(out, "  readonly {:?}: {};", kind.as_str(), api::EventDetails::schema_name(*kind)).unwrap();
    }
    out.push_str("}\n\n");
    comment(out, "", &["An event in a trace, one type for each type of event: a check of `type` tells what `data` is."]);
    out.push_str("export type SettlementEvent = { [T in EventType]: EventOf<T> }[EventType];\n");
}

/// The world with everything in it, and the text of `types.ts`.
fn generated() -> (World, String) {
    let mut world = World::default();
    world.called.insert("DecimalNumber".to_owned(), "Amount");
    world.called.insert("Rate".to_owned(), "number");
    let text = |lines: &[&str]| lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    macro_rules! names {
        ($($name:literal $(in $list:literal)?: $kind:ty,)*) => { $(
            world.meet::<$kind>($name);
            let values = <$kind>::DOCS.iter().map(|(value, doc)| (*value, text(doc))).collect();
            world.names.push(Names { name: $name, list: [$($list,)?].first().copied(), doc: text(<$kind>::DOC), values });
        )* };
    }
    names! {
        "Environment": ledger::Mode,
        "SettlementStatus" in "SETTLEMENT_STATUSES": lifecycle::SettlementStatus,
        "ReversalStatus" in "REVERSAL_STATUSES": lifecycle::ReversalStatus,
        "IsoStatus" in "ISO_STATUSES": lifecycle::IsoStatus,
        "FailureCode" in "FAILURE_CODES": rail::FailureCode,
        "ErrorCategory" in "CATEGORIES": error::Category,
        "PayeeMatch" in "PAYEE_MATCHES": rail::PayeeMatch,
        "ReversalReason" in "REVERSAL_REASONS": validate::ReversalReason,
        "Verdict": api::Verdict,
        "RouteRefusal": route::RouteRefusal,
        "FeeRefund": route::FeeRefund,
        "Direction": lifecycle::Direction,
        "Health": route::health::Health,
        "EventType" in "EVENT_TYPES": record::EventType,
        "Actor" in "ACTORS": record::Actor,
        "MovementKind": record::MovementKind,
        "StateName": lifecycle::StateName,
        "KeyAlgorithm": auth::Algorithm,
        "KeyStatus": record::KeyStatus,
        "DeliveryStatus": record::DeliveryStatus,
        "DeliveryCause": record::DeliveryCause,
        "AnswerKind": lifecycle::attempt::AnswerKind,
        "AttemptStatus": lifecycle::AttemptStatus,
        "TransferKind": ledger::TransferKind,
        "TransferCode": ledger::TransferCode,
        "ReviewReason": record::ReviewReason,
        "ApprovalStatus": record::ApprovalStatus,
        "OperatorAct": record::OperatorAct,
        "OperatorRole": record::OperatorRole,
        "OperatorStatus": record::OperatorStatus,
        "ReconciliationStatus": record::ReconciliationStatus,
        "StatementFormat": record::StatementFormat,
        "FindingKind": record::FindingKind,
        "MatchedBy": record::MatchedBy,
        "Resolution": lifecycle::review::Resolution,
        "UserStatus": record::UserStatus,
        "PaymentApprovalStatus": record::PaymentApprovalStatus,
        "BundleStatus": lifecycle::BundleStatus,
        "BundleStepKind": record::BundleStepKind,
        "ConformanceStatus": record::ConformanceStatus,
        "AttestationFormat": record::AttestationFormat,
        "AttestationLevel": record::AttestationLevel,
        "NotificationKind": record::NotificationKind,
        "QualityUnit": record::QualityUnit,
        "Network": record::Network,
        "PlaceState": api::PlaceState,
    }
    let codes = error::ErrorCode::ALL.iter().map(|code| (code.as_str(), format!("{}.", code.title()))).collect();
    let doc = "An error code of the gateway.".to_owned();
    world.names.push(Names { name: "GatewayCode", list: Some("GATEWAY_CODES"), doc, values: codes });
    let topic = |topic: record::Topic| {
        let events = world.names.iter().find(|names| names.name == "EventType");
        let known = events.and_then(|names| names.values.iter().find(|(value, _)| *value == topic.as_str()));
        (topic.as_str(), known.map_or("Another webhook of the client was disabled.".to_owned(), |(_, doc)| doc.clone()))
    };
    let (doc, values) = ("The type of a webhook's message.".to_owned(), record::Topic::all().map(topic).collect());
    world.names.push(Names { name: "WebhookTopic", list: None, doc, values });
    world.amounts = read_as_amounts().into_iter().collect();
    let mut shapes = Vec::new();
    macro_rules! shapes {
        ($($name:literal $way:ident: $kind:ty,)*) => { $(shapes.push(world.shape::<$kind>($name, Way::$way));)* };
    }
    shapes! {
        "FieldProblem" Out: api::FieldProblem,
        "Problem" Loose: api::Problem,
        "CreateRequest" In: api::CreateBody,
        "ReverseRequest" In: api::ReverseBody,
        "FundRequest" In: api::FundBody,
        "ResetRequest" In: api::ResetBody,
        "FaultsRequest" In: api::FaultsBody,
        "Faults" Out: api::FaultsView,
        "ResetResult" Out: api::ResetView,
        "ClockChange" In: api::ClockBody,
        "Clock" Out: api::ClockView,
        "AdvanceRequest" In: api::AdvanceBody,
        "Payee" Out: api::PayeeView,
        "Failure" Out: api::FailureView,
        "SettlementLinks" Out: api::LinksView,
        "PaymentApproval" Out: api::PaymentApprovalView,
        "Settlement" Out: api::SettlementView,
        "StatusView" Out: api::StatusView,
        "PaymentDetails" Out: api::PaymentDetails,
        "ApprovalTerms" Out: api::ApprovalTerms,
        "ShownDetails" Out: api::ShownDetails,
        "ConsentDetails" Out: api::ConsentDetails,
        "NoDetails" Out: api::NoDetails,
        "CompletionDetails" Out: api::CompletionDetails,
        "ReviewDetails" Out: api::ReviewDetails,
        "FailureDetails" Out: api::FailureDetails,
        "CancellationDetails" Out: api::CancellationDetails,
        "ReversalDetails" Out: api::ReversalDetails,
        "ReversalTerms" Out: api::ReversalTerms,
        "AnswerDetails" Out: api::AnswerDetails,
        "OutcomeDetails" Out: api::OutcomeDetails,
        "DecisionDetails" Out: api::DecisionDetails,
        "AttemptDetails" Out: api::AttemptDetails,
        "MovedDetails" Out: api::MovedDetails,
        "MovementDetails" Out: api::MovementDetails,
        "CreditChange" Out: api::CreditChange,
        "CreditDetails" Out: api::CreditDetails,
        "BundleStepDetails" Out: api::BundleStepDetails,
        "BundleDetails" Out: api::BundleDetails,
    }
    // Its type depends on its type of event.
    let event = world.shape::<api::EventView>(EVENT, Way::Out);
    shapes.push(event);
    world.called.insert("EventView".to_owned(), "SettlementEvent");
    shapes! {
        "FeedEvent" Out: api::FeedEventView,
        "FeedPage" Out: api::FeedPage,
        "Page<T>" Out: api::Page<api::SettlementView>,
        "Reversal" Out: api::ReversalView,
        "ReverseResult" Out: api::ReverseView,
        "Balance" Out: api::BalanceView,
        "BalanceMovement" Out: api::BalanceMovementView,
        "AmountLimits" Out: api::LimitView,
        "FeeTier" Out: api::FeeTierView,
        "FeeRule" Out: api::FeeView,
        "Capabilities" Out: route::Capabilities,
        "Provider" Out: api::ProviderView,
        "RouteStep" Out: api::RouteStepView,
        "Quote" Out: api::QuoteView,
        "CheckResult" Out: api::CheckView,
        "Finding" Out: api::FindingView,
        "ReconcileResult" Out: api::ReconcileView,
        "Scenario" Out: api::ScenarioView,
        "ReceiptTrace" Out: receipt::Trace,
        "Receipt" Out: api::ReceiptView,
        "ReceiptClaims" Out: receipt::Claims,
        "Key" Out: api::KeyView,
        "StatementEntry" Out: api::EntryView,
        "ReceiptProof" Out: api::ProofView,
        "WebhookRequest" In: api::NewWebhookBody,
        "WebhookPatch" Patch: api::WebhookPatchBody,
        "Webhook" Out: api::WebhookView,
        "WebhookTestRequest" In: api::TestBody,
        "WebhookTestResponse" Out: api::ResponseView,
        "WebhookTest" Out: api::TestView,
        "SecretRotation" In: api::RotationBody,
        "DeliveryAttempt" Out: api::AttemptView,
        "Delivery" Out: api::DeliveryView,
        "ReplayRequest" In: api::ReplayBody,
        "Replay" Out: api::ReplayView,
    }
    let mut out = HEAD.to_owned();
    for names in &world.names {
        out.push('\n');
        write_names(&mut out, names);
    }
    for shape in &shapes {
        out.push('\n');
        world.write(&mut out, shape);
        if shape.name == EVENT {
            write_events(&mut out);
        }
    }
    (world, out)
}

/// Compares a generated file with the one in the package.
fn check(file: &str, text: &str) {
    let path = format!("{}/npm/src/{file}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("RAILGATE_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert_eq!(written, text, "{file}: run `RAILGATE_BLESS=1 cargo test -p railgate-wasm --test types` and review the diff");
}

#[test]
fn the_types_of_the_package_are_those_of_the_core() {
    check("types.ts", &generated().1);
}

#[test]
fn the_routes_of_the_package_are_those_of_the_server() {
    check("routes.ts", &routes::generated(generated().0));
}

/// The members that `json.ts` reads as amounts, sorted.
fn read_as_amounts() -> Vec<String> {
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/npm/src/json.ts")).unwrap();
    let (_, list) = source.split_once("new Set([").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    let mut names: Vec<String> =
        list.split(',').map(|name| name.trim().trim_matches('"').to_owned()).filter(|name| !name.is_empty()).collect();
    names.sort();
    names
}

/// `json.ts` recognises amounts by member name; its list must match the core exactly.
#[test]
fn the_package_reads_every_amount_exactly() {
    let document = routes::document();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let members = schemas.values().filter_map(|schema| schema["properties"].as_object()).flatten();
    let is_decimal = |schema: &Value| schema["$ref"].as_str().is_some_and(|path| path.ends_with("/DecimalNumber"));
    let amounts =
        members.filter(|(_, schema)| is_decimal(schema) || schema["oneOf"].as_array().is_some_and(|either| either.iter().any(is_decimal)));
    let amounts: BTreeSet<&str> = amounts.map(|(name, _)| name.as_str()).collect();
    assert_eq!(read_as_amounts(), amounts.into_iter().map(str::to_owned).collect::<Vec<_>>());
}

/// Views without types in the package, used by the command line, also survive a round trip.
#[test]
fn every_other_view_reads_what_it_writes() {
    let mut world = World::default();
    world.shape::<api::BatchResult>("BatchResult", Way::Out);
    world.shape::<api::ChallengeView>("ChallengeView", Way::Out);
    let enrolled = r#"{"client_id":"c","key_id":"k","environment":"sandbox","status":"active","access_token":"t","token_type":"Bearer","expires_in":1,"scope":"s","webhook_secret":"w","balances":[{"account":"main","currency":"EUR","sandbox":true,"available":10.50,"credit":0.00,"reserved":0.00,"pending":0.00,"ledger":10.50,"as_of":"x"}]}"#;
    let read: api::EnrollmentView = serde_json::from_str(enrolled).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), enrolled);
}
