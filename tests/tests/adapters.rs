//! The protocol of adapters: its OpenAPI document is what the rail does, the adapters of the documentation pass the test that partners
//! run, and that test finds what is wrong with others.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "../../core/tests/support/adapter_says.rs"]
mod adapter_says;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use adapter_says::{NOT_FOUND, NOT_FOUND_WRONG, OF_PAYMENT, OF_REVERSAL, PAYMENT, REVERSAL};
use jsonschema::Validator;
use railgate::api::{Action, RailCall, Subject};
use railgate::ids::{ClientNo, ProviderNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::money::Currency;
use railgate::rail::adapter::{Adapter, Status};
use railgate::rail::{FailureCode, HttpRequest, Link, Payee, PayeeMatch, Rail as _, Request};
use railgate::route::ProviderSpec;
use railgate::route::health::Health;
use railgate_tests::binary::railgate;
use railgate_tests::{interop, port};
use serde_json::{Value, json};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/rails").join(name)
}

fn document() -> Value {
    serde_json::from_str(&std::fs::read_to_string(docs("adapter.openapi.json")).unwrap()).unwrap()
}

/// The schema of a name, with all others at hand.
fn schema(name: &str) -> Validator {
    let document = document();
    assert!(document["components"]["schemas"][name].is_object(), "{name}");
    let root = json!({"$ref": format!("#/components/schemas/{name}"), "components": document["components"]});
    jsonschema::draft202012::options().should_validate_formats(true).build(&root).unwrap()
}

fn allows(schema: &Validator, body: &str) -> bool {
    serde_json::from_str(body).is_ok_and(|body: Value| schema.is_valid(&body))
}

#[test]
fn the_document_is_valid_and_knows_the_words_of_the_rail() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let words = |pointer: &str| -> Vec<String> {
        let found = document.pointer(&format!("/components/schemas/{pointer}/enum")).unwrap().as_array().unwrap();
        found.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
    };
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(words("Payment/properties/status"), Status::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>());
    assert_eq!(words("Reversal/properties/status"), names(&["completed", "accepted", "declined"]));
    assert_eq!(words("Payment/properties/code"), FailureCode::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>());
    assert_eq!(words("Payee/properties/match"), PayeeMatch::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>());
    assert_eq!(words("Health/properties/status"), Health::ALL.iter().map(|it| it.as_str()).collect::<Vec<_>>());
    let text = std::fs::read_to_string(docs("adapter.openapi.json")).unwrap();
    for named in text.split("\"#/components/schemas/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(document["components"]["schemas"][named].is_object(), "{named} is named and not there");
    }
}

#[test]
fn an_answer_means_something_exactly_if_its_schema_allows_it() {
    for (name, answers) in [("Payment", OF_PAYMENT), ("Reversal", OF_REVERSAL)] {
        let schema = schema(name);
        for (body, means) in answers {
            assert_eq!(allows(&schema, body), *means != "unknown", "{name} {body}");
        }
    }
    let not_found = schema("NotFound");
    assert!(NOT_FOUND.iter().all(|(body, _)| allows(&not_found, body)));
    assert!(NOT_FOUND_WRONG.iter().all(|body| !allows(&not_found, body)));
    let callback = schema("Callback");
    assert!(
        allows(&callback, r#"{"payment":"k","status":"returned"}"#)
            && allows(&callback, r#"{"payment":"k","reversal":"r","status":"completed"}"#)
    );
    for wrong in [r#"{"status":"completed"}"#, r#"{"payment":"k","reversal":"r","status":"returned"}"#, r#"{"payment":"k"}"#] {
        assert!(!allows(&callback, wrong), "{wrong}");
    }
}

fn call(action: Action, description: Option<&str>) -> RailCall {
    let is_payment = matches!(action, Action::Submit | Action::Inquire);
    let no = SettlementNo(1);
    RailCall {
        subject: if is_payment { Subject::Attempt(no, 1) } else { Subject::Reversal(no, 1) },
        client: ClientNo(1),
        action,
        provider: ProviderNo(1),
        rail_key: if is_payment { PAYMENT } else { REVERSAL }.to_owned(),
        paid_as: (!is_payment).then(|| (PAYMENT.to_owned(), None)),
        rail_reference: None,
        money: "10.50 EUR".parse().unwrap(),
        given_back: false,
        fee: 0,
        to: "msisdn:+254700000001".parse().unwrap(),
        reference: "inv-1".parse().unwrap(),
        description: description.map(str::to_owned),
        mode: Mode::Live,
        tries: 0,
        not_after: i64::MAX,
        leave_by: i64::MAX,
    }
}

/// Asserts that the document has the request: its path, its method, and the schema of its body.
fn assert_documented(request: &HttpRequest) {
    let document = document();
    let path = request.url.strip_prefix("https://adapter.example").unwrap();
    let fits = |template: &str| {
        let (template, path): (Vec<_>, Vec<_>) = (template.split('/').collect(), path.split('/').collect());
        template.len() == path.len() && template.iter().zip(&path).all(|(part, given)| part.starts_with('{') || part == given)
    };
    let (_, operations) = document["paths"].as_object().unwrap().iter().find(|(template, _)| fits(template)).unwrap();
    let operation = &operations[request.method.to_ascii_lowercase()];
    assert!(operation.is_object(), "{} {path}", request.method);
    match operation.pointer("/requestBody/content/application~1json/schema/$ref") {
        None => assert!(request.body.is_empty(), "{path}"),
        Some(name) => {
            let schema = schema(name.as_str().unwrap().rsplit_once('/').unwrap().1);
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let wrong: Vec<_> = schema.iter_errors(&body).map(|error| error.to_string()).collect();
            assert!(wrong.is_empty(), "{path} {body}: {wrong:?}");
        }
    }
}

#[test]
fn every_request_is_in_the_document() {
    let mut spec = ProviderSpec::new("acme", "Acme", Mode::Live, &Adapter);
    spec.base_url = Some("https://adapter.example".to_owned());
    for callback_url in [None, Some("https://gateway.example/api/v1/rails/acme/callbacks/x")] {
        let link = Link { provider: &spec, token: None, callback_url, asked: None, now: 0 };
        for action in [Action::Submit, Action::Inquire, Action::Reverse, Action::InquireReversal] {
            for description in [None, Some("for \"Jane\"")] {
                let Request::Http(request) = Adapter.encode(&call(action, description), &link) else { panic!("it is sent") };
                assert_documented(&request);
            }
        }
        let payee = Payee { to: "iban:DE89370400440532013000".parse().unwrap(), currency: Currency::from_code("EUR").unwrap() };
        assert_documented(&Adapter.look_up_payee(&payee, &link).unwrap());
        assert_documented(&Adapter.heartbeat(&link).unwrap());
    }
}

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// An adapter of the documentation, perhaps changed; killed on drop.
struct Running {
    child: Child,
    url: String,
    /// Where it looks for the gateway's keys.
    gateway: String,
    _folder: tempfile::TempDir,
}

impl Running {
    fn start(mut command: Command, name: &str, change: impl Fn(String) -> String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(name);
        std::fs::write(&file, change(std::fs::read_to_string(docs("adapters").join(name)).unwrap())).unwrap();
        let gateway = format!("127.0.0.1:{}", port::free());
        command.arg(&file).current_dir(folder.path()).stdout(Stdio::piped());
        command.env("ADAPTER_LISTEN", "127.0.0.1:0").env("ADAPTER_JWKS", format!("http://{gateway}/.well-known/jwks.json"));
        command.env("ADAPTER_TOKEN", "let-me-in").env("ADAPTER_CALLBACK_SECRET", SECRET);
        let mut child = command.env("NO_PROXY", "*").env("no_proxy", "*").spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{name} does not start: {line:?}")).to_owned();
        Self { child, url, gateway, _folder: folder }
    }

    fn node(change: impl Fn(String) -> String) -> Self {
        Self::start(Command::new("node"), "adapter.mjs", change)
    }

    /// What `railgate rails test` finds: its exit code, and the checks by name.
    fn tested(&self, more: &[&str]) -> (Option<i32>, Vec<(String, String, String)>) {
        let mut test = Command::new(railgate());
        test.args(["rails", "test", &self.url, "--listen", &self.gateway, "--callback-secret", SECRET, "--wait", "10", "--json"]);
        let output = test.args(if more.is_empty() { &["--token", "let-me-in"] } else { more }).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let checks = found["checks"].as_array().unwrap().iter();
        (output.status.code(), checks.map(|it| (text(&it["check"]), text(&it["result"]), text(&it["why"]))).collect())
    }

    /// Why the only failed checks failed.
    fn fails(&self) -> Vec<(String, String)> {
        let (code, checks) = self.tested(&[]);
        assert_eq!(code, Some(1), "{checks:#?}");
        checks.into_iter().filter(|(_, result, _)| result == "failed").map(|(check, _, why)| (check, why)).collect()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_adapters_of_the_documentation_pass_and_are_short() {
    let python = interop::prepare("python-http-message-signatures").get_program().to_owned();
    for running in [Running::start(Command::new(python), "adapter.py", |it| it), Running::node(|it| it)] {
        let (code, checks) = running.tested(&[]);
        assert!(checks.len() > 20 && checks.iter().all(|(_, result, _)| result == "passed"), "{checks:#?}");
        assert_eq!(code, Some(0));
    }
    for name in ["adapter.py", "adapter.mjs"] {
        assert!(std::fs::read_to_string(docs("adapters").join(name)).unwrap().lines().count() < 150, "{name}");
    }
}

/// Replaces a part of a file that must be there.
fn instead(of: &'static str, by: &'static str) -> impl Fn(String) -> String {
    move |text| {
        assert!(text.contains(of), "{of} is not in the adapter");
        text.replace(of, by)
    }
}

#[test]
fn what_is_wrong_with_an_adapter_is_found_and_said() {
    let faults: [(_, _, &[&str], &str); 8] = [
        // It forgets what it took.
        (
            "if (known) return known.answer;",
            "if (known) return { status: \"completed\", rail_reference: randomUUID() };",
            &["the same payment again"],
            "it answered",
        ),
        ("if (known && !isSame)", "if (false)", &["refused with 409"], "instead of 409"),
        ("{ authoritative: true }", "{ error: \"unknown\" }", &["is not found"], "404 needs a body"),
        ("return back >", "return false && back >", &["more than is left"], "Completed"),
        ("if (!key || !verifies(", "if (false && !verifies(", &["did not sign"], "for another address"),
        ("if (!isWhole ||", "if (", &["did not sign"], "with another body"),
        ("`v1,${mac}`", "`v1,AAAA`", &["reports with its signature"], "a callback was refused"),
        (
            r#"return { status: "up", verifies_signatures: true };"#,
            r#"return { status: "fine" };"#,
            &["how the operator is"],
            "\"fine\" is not a Health",
        ),
    ];
    for (of, by, checks, why) in faults {
        let found = Running::node(instead(of, by)).fails();
        for check in checks {
            assert!(found.iter().any(|(name, said)| name.contains(check) && said.contains(why)), "{of}: {check} is not in {found:#?}");
        }
    }
}

#[test]
fn an_adapter_that_expects_another_token_fails_and_a_wrong_address_is_wrong_usage() {
    let running = Running::node(|it| it);
    let (code, checks) = running.tested(&["--token", "guessed"]);
    assert_eq!((code, checks[0].2.as_str()), (Some(1), "the status is 401 instead of 200"));
    let pays = checks.iter().find(|(name, ..)| name == "it pays").unwrap();
    assert_eq!((pays.1.as_str(), pays.2.as_str()), ("failed", "the answer means nothing: the status 401 does not say what happened"));
    let usage = Command::new(railgate()).args(["rails", "test", "ftp://adapter.example"]).output().unwrap();
    assert_eq!(usage.status.code(), Some(2), "{usage:?}");
    assert!(String::from_utf8_lossy(&usage.stderr).contains("/base_url"));
}
