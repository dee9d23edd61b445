//! `npm/src/routes.ts`: what each call takes and returns, from the server's OpenAPI document, whose snapshot the server's tests keep.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::{Way, World, comment, described};

const HEAD: &str = r#"/**
 * Every call of the HTTP interface, by path and method, and the types that only operators meet.
 *
 * Generated from the server's OpenAPI document by `RAILGATE_BLESS=1 cargo test -p railgate-wasm --test types`.
 *
 * @module
 */

"#;
const API: &str = "/api/v1";
/// What the client does by itself, or never.
const HIDDEN: [&str; 6] =
    ["/auth/challenges", "/auth/enrollments", "/auth/tokens", "/auth/tokens/revoke", "/operator/enrollments", "/rails/"];
/// What a method returns although the table does not have it.
const RETURNED: &str = "#/components/schemas/OperatorEnrollmentView";
/// Schemas with a type in `values.ts`.
const BY_HAND: [(&str, &str); 4] =
    [("AmountInput", "AmountInput"), ("BatchResult", "BatchResult"), ("Jwk", "PublicJwk"), ("Paper", "Uint8Array")];
/// The members of a page of a list.
const PAGE: [&str; 3] = ["data", "has_more", "next_cursor"];

/// The document, from the snapshot of it.
pub fn document() -> Value {
    const SNAPSHOT: &str =
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/http/snapshots/http__document__the_document_as_a_whole.snap"));
    let (_, json) = SNAPSHOT.trim_start_matches("---").split_once("\n---\n").unwrap();
    serde_json::from_str(json).unwrap()
}

/// The text of `routes.ts`. `world` has the types of `types.ts`.
pub fn generated(mut world: World) -> String {
    let document = document();
    let shared: BTreeSet<String> = world.called.values().map(|name| (*name).to_owned()).collect();
    let schemas = document["components"]["schemas"].as_object().unwrap();
    world.called.extend(BY_HAND.map(|(schema, name)| (schema.to_owned(), name)));
    for name in schemas.keys().filter(|name| !name.contains('_')) {
        world.called.entry(name.clone()).or_insert_with(|| own_name(name).leak());
    }
    world.schemas.extend(schemas.iter().map(|(name, schema)| (name.clone(), schema.clone())));
    let mut table = Table { world: &world, answered: BTreeSet::new(), asked: BTreeSet::new() };
    let mut body = String::new();
    table.write(&mut body, document["paths"].as_object().unwrap());
    table.note(&json!({"$ref": RETURNED}), Way::Out);
    let Table { answered, asked, .. } = table;
    let mut types = String::new();
    let by_hand = |name: &str| shared.contains(world.called[name]) || BY_HAND.iter().any(|(schema, _)| *schema == name);
    for name in answered.union(&asked).filter(|name| !by_hand(name)) {
        types.push('\n');
        let way = if answered.contains(name) { Way::Out } else { Way::Patch };
        write_type(&mut types, &world, name, way);
    }
    format!("{}{types}\n{body}", imports(&shared, &format!("{types}{body}")))
}

/// `OperatorView` is an `Operator`, `RoleBody` a `RoleRequest`.
fn own_name(schema: &str) -> String {
    match (schema.strip_suffix("View"), schema.strip_suffix("Body")) {
        (Some(name), _) => name.to_owned(),
        (_, Some(name)) => format!("{name}Request"),
        _ => schema.to_owned(),
    }
}

/// The head of the file: imports whatever it mentions.
fn imports(shared: &BTreeSet<String>, text: &str) -> String {
    let mentioned: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let of = |names: &mut dyn Iterator<Item = &str>| {
        names.filter(|name| mentioned.contains(name)).map(|name| format!("  {name},\n")).collect::<String>()
    };
    let values = ["Amount", "AmountInput", "BatchResult", "Json", "JsonObject", "PublicJwk", "TimeInput", "Timestamp"];
    let mut types = shared
        .iter()
        .map(String::as_str)
        .map(|name| name.trim_end_matches("<T>"))
        .filter(|name| !values.contains(name) && *name != "number");
    let types = of(&mut types);
    format!(
        "{HEAD}import type {{\n{types}}} from \"./types.js\";\nimport type {{\n{}}} from \"./values.js\";\n",
        of(&mut values.into_iter())
    )
}

/// Collects the types that calls mention while it writes the table.
struct Table<'w> {
    world: &'w World,
    answered: BTreeSet<String>,
    asked: BTreeSet<String>,
}

impl Table<'_> {
    fn write(&mut self, out: &mut String, paths: &Map<String, Value>) {
        comment(
            out,
            "",
            &[
                "What each call takes and returns, by its path below `/api/v1` and its method. It describes types only: there is no such value.",
            ],
        );
        out.push_str("export interface Routes {\n");
        for (path, item) in paths {
            let Some(path) = path.strip_prefix(API).filter(|path| !hidden(path)) else { continue };
            writeln!(out, "  readonly \"{path}\": {{").unwrap();
            // A new key signs too, which only a method of its own can have it do.
            for (method, operation) in item.as_object().unwrap().iter().filter(|(_, it)| it["operationId"] != "addKey") {
                self.write_operation(out, &method.to_uppercase(), operation);
            }
            out.push_str("  };\n");
        }
        out.push_str("}\n");
    }

    fn write_operation(&mut self, out: &mut String, method: &str, operation: &Value) {
        writeln!(out, "    /** {}. */\n    readonly {method}: {{", operation["summary"].as_str().unwrap().trim_end_matches('.')).unwrap();
        let parameters = operation["parameters"].as_array().unwrap();
        let of = |place: &str| parameters.iter().filter(|it| it["in"] == place).collect::<Vec<_>>();
        self.write_parameters(out, "params", &of("path"));
        self.write_parameters(out, "query", &of("query"));
        if parameters.iter().any(|it| it["name"] == "If-Match") {
            let required = parameters.iter().any(|it| it["name"] == "If-Match" && it["required"] == true);
            writeln!(out, "      readonly ifMatch{}: string;", if required { "" } else { "?" }).unwrap();
        }
        if let Some(body) = operation.get("requestBody") {
            let content = body["content"].as_object().unwrap();
            let kind = self.met(&content["application/json"]["schema"], Way::In);
            let kind = format!("{}{}", kind.trim_end_matches(" | null"), self.beside(&content["application/json"]));
            writeln!(out, "      readonly body{}: {kind};", if body["required"] == true { "" } else { "?" }).unwrap();
            if content.len() > 1 {
                writeln!(out, "      readonly contentType: {};", list(content.keys().map(|it| format!("{it:?}")))).unwrap();
            }
        }
        self.write_answers(out, operation["responses"].as_object().unwrap());
        out.push_str("    };\n");
    }

    /// What the example of a body has beside its schema: an operator's reason.
    fn beside(&mut self, content: &Value) -> String {
        let members = |name: &str| self.world.schemas[name]["properties"].as_object().cloned().unwrap_or_default();
        let Some(name) = content["schema"]["$ref"].as_str().map(|path| path.rsplit('/').next().unwrap()) else { return String::new() };
        let described = members(name);
        let more: Vec<_> =
            content["example"].as_object().into_iter().flatten().filter(|(name, _)| !described.contains_key(*name)).collect();
        match more.as_slice() {
            [] => String::new(),
            [(reason, _)] if *reason == "reason" => {
                format!(" & {}", self.met(&json!({"$ref": "#/components/schemas/ReasonBody"}), Way::In))
            }
            other => panic!("{name} does not describe {other:?}"),
        }
    }

    fn write_parameters(&mut self, out: &mut String, group: &str, parameters: &[&Value]) {
        if parameters.is_empty() {
            return;
        }
        let all_optional = parameters.iter().all(|it| it["required"] != true);
        writeln!(out, "      readonly {group}{}: {{", if all_optional { "?" } else { "" }).unwrap();
        for parameter in parameters {
            comment(out, "        ", &[parameter["description"].as_str().unwrap()]);
            let (name, optional) = (parameter["name"].as_str().unwrap(), if parameter["required"] == true { "" } else { "?" });
            writeln!(out, "        readonly {name}{optional}: {};", self.query_kind(name, parameter)).unwrap();
        }
        out.push_str("      };\n");
    }

    /// A list in a query may be one value; an amount is text or a number, a time text or a `Date`.
    fn query_kind(&mut self, name: &str, parameter: &Value) -> String {
        let schema = &parameter["schema"];
        match self.met(schema, Way::In) {
            _ if parameter["description"].as_str().is_some_and(|text| text.contains("RFC 3339")) => "Timestamp | Date".to_owned(),
            amount if name.ends_with("_amount") && amount == "string" => "AmountInput".to_owned(),
            kind if schema["type"] == "array" => format!("{} | {kind}", kind.trim_start_matches("readonly ").trim_end_matches("[]")),
            kind => kind,
        }
    }

    /// The type of each form of a response; the first is sent unless the call asks for another.
    fn write_answers(&mut self, out: &mut String, responses: &Map<String, Value>) {
        let mut answers: BTreeMap<(bool, &str), Vec<String>> = BTreeMap::new();
        for (_, response) in responses.iter().filter(|(status, _)| status.starts_with('2')) {
            for (form, content) in response["content"].as_object().into_iter().flatten().filter(|(form, _)| *form != "text/event-stream") {
                let kind = match form.as_str() {
                    "application/json" => self.met(&content["schema"], Way::Out),
                    "application/pdf" | "application/octet-stream" => "Uint8Array".to_owned(),
                    _ => "string".to_owned(),
                };
                let kinds = answers.entry((form != "application/json", form)).or_default();
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        out.push_str("      readonly answers: {\n");
        for ((_, form), kinds) in &answers {
            writeln!(out, "        readonly {form:?}: {};", kinds.join(" | ")).unwrap();
        }
        if answers.is_empty() {
            out.push_str("        readonly \"application/json\": undefined;\n");
        }
        out.push_str("      };\n");
    }

    /// The type of a schema, which becomes one of the file's.
    fn met(&mut self, schema: &Value, way: Way) -> String {
        self.note(schema, way);
        kind(self.world, schema, way)
    }

    fn note(&mut self, schema: &Value, way: Way) {
        match schema {
            Value::Object(members) => {
                if let Some(name) = schema["$ref"].as_str().map(|path| path.rsplit('/').next().unwrap()) {
                    let noted = if way == Way::Out { &mut self.answered } else { &mut self.asked };
                    let inner = &self.world.schemas[name];
                    let listed = list_of(inner).is_some();
                    if listed || noted.insert(name.to_owned()) {
                        if listed {
                            noted.remove(name);
                        }
                        self.note(&inner.clone(), way);
                    }
                }
                members.iter().filter(|(name, _)| *name != "example").for_each(|(_, inner)| self.note(inner, way));
            }
            Value::Array(inner) => inner.iter().for_each(|inner| self.note(inner, way)),
            _ => {}
        }
    }
}

fn hidden(path: &str) -> bool {
    HIDDEN.iter().any(|it| path == *it || (it.ends_with('/') && path.starts_with(it)))
}

fn list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(" | ")
}

/// The items of a list or a page, and whether it is a page.
fn list_of(schema: &Value) -> Option<(&Value, bool)> {
    let members = schema["properties"].as_object()?;
    let items = members.get("data").filter(|data| data["type"] == "array").map(|data| &data["items"])?;
    let is_page = members.keys().eq(PAGE);
    (is_page || members.len() == 1).then_some((items, is_page))
}

/// Like [`World::kind`], for any schema of the document: a list is a `Page<…>` or `{ data }`.
fn kind(world: &World, schema: &Value, way: Way) -> String {
    let name = schema["$ref"].as_str().map(|path| path.rsplit('/').next().unwrap());
    match name.and_then(|name| Some((name, list_of(&world.schemas[name])?))) {
        Some((name, (_, true))) if name.starts_with("Page_") => {
            format!("Page<{}>", world.called[name.trim_start_matches("Page_")])
        }
        Some((_, (items, true))) => format!("Page<{}>", kind(world, items, way)),
        Some((_, (items, false))) => format!("{{ readonly data: readonly {}[] }}", kind(world, items, way)),
        None => world.kind(schema, way),
    }
}

fn write_type(out: &mut String, world: &World, name: &str, way: Way) {
    let (schema, called) = (&world.schemas[name], world.called[name]);
    let doc = schema["description"].as_str().unwrap_or_else(|| panic!("{name} has no description"));
    comment(out, "", &[doc]);
    let parts = schema["allOf"].as_array().cloned().unwrap_or_else(|| vec![schema.clone()]);
    if parts.iter().all(|part| part["properties"].is_null() && part["$ref"].is_null()) {
        writeln!(out, "export type {called} = {};", world.kind(schema, way)).unwrap();
        return;
    }
    let bases: Vec<String> = parts.iter().filter(|part| part["$ref"].is_string()).map(|part| world.kind(part, way)).collect();
    let extends = if bases.is_empty() { String::new() } else { format!(" extends {}", bases.join(", ")) };
    writeln!(out, "export interface {called}{extends} {{").unwrap();
    for part in parts.iter().filter(|part| part["properties"].is_object()) {
        let required: Vec<&str> = part["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
        for (member, schema) in part["properties"].as_object().unwrap() {
            comment(out, "  ", &[described(schema).unwrap_or_else(|| panic!("{name}.{member} has no description"))]);
            let optional = !required.contains(&member.as_str());
            let kind = kind(world, schema, way);
            // The package reads a number under the name of an amount as one, also a count.
            let kind = if kind == "number" && way == Way::Out && world.amounts.contains(member.as_str()) { "Amount" } else { &kind };
            writeln!(out, "  readonly {member}{}: {kind};", if optional { "?" } else { "" }).unwrap();
        }
    }
    out.push_str("}\n");
}
