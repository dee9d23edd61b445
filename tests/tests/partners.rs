//! Partners: the documentation's bundle, the published schema against what is accepted, and an adapter of the documentation that becomes a
//! provider of a real server, which signs as the server does.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use jsonschema::Validator;
use railgate::Error;
use railgate::bundle::{EXAMPLE, schema};
use railgate::rail::Rails;
use railgate::validate::bundle::{parse_bundle, parse_manifest};
use railgate_tests::binary::{Server, railgate};
use railgate_tests::operators::{Listening, gsma};
use railgate_tests::port;
use serde_json::{Value, json};

fn docs(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name)).unwrap()
}

fn example() -> Value {
    serde_json::from_str(EXAMPLE).unwrap()
}

#[test]
fn the_example_of_the_documentation_is_complete_and_valid() {
    let page = docs("bundles.md");
    let shown = page.split("```json\n").nth(1).and_then(|rest| rest.split("\n```").next()).unwrap();
    assert_eq!(format!("{shown}\n"), EXAMPLE, "docs/bundles.md and core/src/bundle/example.json are one");
    let content = parse_bundle(EXAMPLE.as_bytes()).unwrap();
    assert!(content.problems().is_empty());
    let manifest = parse_manifest(&content.manifest, &content.secrets.unwrap(), &Rails::built_in()).unwrap();
    assert_eq!((manifest.sandbox.id.as_str(), manifest.live.unwrap().id.as_str()), ("acme-sandbox", "acme"));
    // It names every member that there is.
    let properties = schema()["properties"].as_object().unwrap().clone();
    let missing: Vec<_> = properties.keys().filter(|name| example()["manifest"].get(name.as_str()).is_none()).cloned().collect();
    assert_eq!(missing, Vec::<String>::new());
}

/// The codes of problems that a schema cannot find.
const BESIDE: &[&str] = &[
    "out_of_range",
    "not_served",
    "contradicts_settings",
    "setting_unknown",
    "setting_malformed",
    "statement_setting",
    "url_malformed",
    "amount_exponent",
    "amount_digits",
    "amount_scale",
    "amount_not_positive",
    "participant_malformed",
    "participant_unknown_namespace",
    "msisdn_malformed",
    "name_malformed",
    "email_malformed",
    "out_of_order",
    "currency_missing",
    "invalid_characters",
];

fn judged(manifest: &Value) -> Result<(), Error> {
    parse_manifest(&manifest.to_string(), &Default::default(), &Rails::built_in()).map(drop)
}

/// Every place in a document.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| places(value, &format!("{at}/{name}"), found)),
        Value::Array(elements) => elements.iter().enumerate().for_each(|(n, value)| places(value, &format!("{at}/{n}"), found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// What is put in a place instead.
fn instead() -> Vec<Value> {
    let long = |n: usize| Value::from("a".repeat(n));
    vec![
        json!(null),
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(0.00001),
        json!(120_001),
        json!(1_000_001),
        json!(""),
        json!(" "),
        json!("a"),
        json!("A"),
        json!("0"),
        json!("00"),
        json!("1."),
        json!("-1"),
        json!("1e3"),
        json!("0.12345"),
        json!("KES"),
        json!("KE"),
        json!("EUR"),
        json!("iban"),
        json!("gsma"),
        json!("adapter"),
        json!("full"),
        json!("1.2.3"),
        json!("1.2"),
        json!("a@b"),
        json!("https://acme.example"),
        json!("ftp://acme.example"),
        json!("msisdn:+254700000009"),
        json!("x\ny"),
        long(35),
        long(57),
        long(65),
        long(101),
        long(255),
        long(2_049),
        long(16_385),
        json!([]),
        json!([1]),
        json!(["KES"]),
        json!({}),
        json!({"a": 1}),
        json!({"colour": "red"}),
        json!({"EUR": {}}),
        json!({"from": 0}),
    ]
}

#[test]
fn a_manifest_is_accepted_exactly_if_its_schema_allows_it_and_nothing_beside_refuses_it() {
    let schema = schema();
    jsonschema::meta::validate(&schema).unwrap_or_else(|error| panic!("{error}"));
    let schema: Validator = jsonschema::draft202012::options().build(&schema).unwrap();
    let mut whole = example()["manifest"].clone();
    whole["fees"][0]["tiers"] = json!([{"from": 0, "flat": "1"}, {"from": "1000", "percent": 1.25}]);
    whole["fees"][0]["namespace"] = json!("msisdn");
    whole["fees"][0]["min"] = json!(1);
    whole["routes"][0].as_object_mut().unwrap().extend([("min".to_owned(), json!(1)), ("max".to_owned(), json!("99.5"))]);
    whole["routes"][0]["weight"] = json!(3);
    whole["sandbox"]["settings"] = json!({"inquiry": "authoritative"});
    whole["live"]["settings"] = json!({});
    assert!(schema.is_valid(&whole));
    judged(&whole).unwrap();

    let (mut all, mut accepted, mut beside, mut wrong) = (0, 0, 0, Vec::new());
    let mut check = |mutant: &Value, what: &str| {
        all += 1;
        let (allows, judged) = (schema.is_valid(mutant), judged(mutant));
        match judged {
            Ok(()) => {
                accepted += 1;
                if !allows {
                    wrong.push(format!("the schema does not allow what is accepted: {what}"));
                }
            }
            Err(error) if allows => {
                beside += 1;
                let known = |field: &&railgate::api::FieldProblem| {
                    let of_rail = field.code == "unknown_field" && field.pointer.contains("/settings/");
                    !of_rail && !BESIDE.contains(&&*field.code)
                };
                wrong.extend(error.fields.iter().filter(known).map(|it| format!("{what}: {} {}", it.pointer, it.code)));
            }
            Err(_) => {}
        }
    };
    let mut places_of = Vec::new();
    places(&whole, "", &mut places_of);
    for place in places_of {
        for value in instead() {
            let mut mutant = whole.clone();
            *mutant.pointer_mut(&place).unwrap() = value.clone();
            let shown: String = value.to_string().chars().take(40).collect();
            check(&mutant, &format!("{place} = {shown}"));
        }
        let Some((parent, name)) = place.rsplit_once('/') else { continue };
        let mut without = whole.clone();
        if let Some(members) = without.pointer_mut(parent).and_then(Value::as_object_mut) {
            members.remove(name);
            check(&without, &format!("{place} is missing"));
        }
        let mut more = whole.clone();
        if let Some(members) = more.pointer_mut(&place).and_then(Value::as_object_mut) {
            members.insert("unheard_of".to_owned(), json!("x"));
            check(&more, &format!("{place} has more"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(all > 3_000 && accepted > 200 && beside > 100, "{all} {accepted} {beside}");
}

/// An adapter of the documentation, killed on drop.
struct Adapter {
    child: Child,
    url: String,
    _folder: tempfile::TempDir,
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

impl Adapter {
    fn start(gateway: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("adapter.mjs");
        std::fs::write(&file, docs("rails/adapters/adapter.mjs")).unwrap();
        let mut command = Command::new("node");
        command.arg(&file).current_dir(folder.path()).stdout(Stdio::piped());
        command.env("ADAPTER_LISTEN", "127.0.0.1:0").env("ADAPTER_JWKS", format!("http://{gateway}/.well-known/jwks.json"));
        command.env("ADAPTER_TOKEN", "let-me-in").env("ADAPTER_CALLBACK_SECRET", SECRET).env("NO_PROXY", "*").env("no_proxy", "*");
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("it does not start: {line:?}")).to_owned();
        Self { child, url, _folder: folder }
    }
}

impl Drop for Adapter {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_adapter_of_the_documentation_passes_the_test_of_a_server_and_knows_its_signature() {
    let folder = tempfile::tempdir().unwrap();
    let listen = format!("127.0.0.1:{}", port::free());
    let server = Server::start(&folder.path().join("railgate.db"), &["--listen", &listen]);
    let adapter = Adapter::start(&listen);
    let home = folder.path().join("home");
    let run = |args: &[&str]| -> Value {
        let mut command = Command::new(railgate());
        command.args(args).args(["--json", "--server", &format!("http://{listen}")]).env("RAILGATE_HOME", &home);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    };
    run(&["enroll", "--name", "Acme"]);
    let mut bundle = example();
    bundle["manifest"]["sandbox"]["base_url"] = json!(adapter.url);
    bundle["secrets"]["sandbox"] = json!({"token": "let-me-in", "callback_secret": SECRET});
    let file = folder.path().join("acme.json");
    std::fs::write(&file, bundle.to_string()).unwrap();
    let sent = run(&["bundle", "submit", file.to_str().unwrap()]);
    let id = sent["id"].as_str().unwrap();
    let tested = loop {
        let view = run(&["bundle", "status", id]);
        if view["conformance"] == "passed" || view["conformance"] == "failed" {
            break view;
        }
    };
    let report = run(&["curl", "GET", &format!("/bundles/{id}/conformance")]);
    let checks = report["report"]["checks"].as_array().unwrap();
    let others: Vec<_> = checks.iter().filter(|check| check["result"] != "passed").collect();
    assert!(others.is_empty() && tested["conformance"] == "passed" && checks.len() > 20, "{others:#?}");
    assert!(server.stop());
}

#[test]
fn an_operator_with_the_gsma_api_passes_its_test() {
    let operator = Listening::start(&gsma::thorough(), "acme", None);
    let base_url = operator.base_url();
    let folder = tempfile::tempdir().unwrap();
    let bundle = json!({
        "manifest": {
            "id": "acme", "version": "1.0.0", "name": "Acme", "rail": "gsma", "namespaces": ["msisdn"], "currencies": ["EUR"],
            "settings": {
                "debit_party_type": "organisationid", "debit_party": "4711", "x_client_id": "us", "partial_reversals": "true",
                "not_found_is_proof": "true", "token_url": format!("{base_url}/token"),
            },
            "contacts": [{"role": "technical", "email": "integration@acme.example"}],
            "sandbox": {"base_url": base_url, "test": {"to": "msisdn:+254700000001"}},
        },
        "secrets": {"sandbox": {"client_id": "us", "client_secret": "whispered", "api_key": "k-1"}},
    });
    let file = folder.path().join("acme.json");
    std::fs::write(&file, bundle.to_string()).unwrap();
    let output = Command::new(railgate()).args(["bundle", "test", file.to_str().unwrap(), "--json"]).output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(found["ok"], true, "{found:#}");
    let passed = |about: &str| found["checks"].as_array().unwrap().iter().any(|it| it["check"] == about && it["result"] == "passed");
    for about in ["it says how the operator is", "it knows a payee", "it pays", "it says what became of the payment", "it gives back"] {
        assert!(passed(about), "{about}: {found:#}");
    }
    assert_eq!(operator.operator().books().paid.values().filter(|entry| entry.times > 1).count(), 0, "nothing was paid twice");
}
