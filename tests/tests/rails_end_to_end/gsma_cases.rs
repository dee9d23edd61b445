//! The disbursement cases of the GSMA's interoperability test platform, played with the rail `gsma`: what the rail sends is held against
//! their rules, it is answered as they say, and their callbacks reach the gateway.

use std::sync::{Arc, Mutex};

use railgate::api::{CreateRequest, Enrolled, SettlementStatus, SettlementView};
use railgate::env::ManualEnv;
use railgate::money::Amount;
use railgate::rail::{Carried, Carrier, HttpReply, HttpRequest, Rails};
use railgate::store::memory::MemoryStore;
use railgate::validate::provider::parse_provider;
use railgate::{Config, Gateway};
use railgate_tests::operators::{receive, schema};
use serde_json::{Value, json};

const BASE: &str = "https://operator.example/v1.2/mm";

#[test]
fn a_disbursement_whose_success_is_called_back_is_completed() {
    let Some(mut replay) = Replay::begin("Indivudual-Disbursement---callback---success.yaml", |_| ()) else { return };
    assert_eq!(replay.play().status, SettlementStatus::Completed);
}

#[test]
fn a_disbursement_whose_failure_is_called_back_has_failed() {
    // It posts to `/transactions`, which version 1.2.0 of the API calls deprecated: the rail posts to what has replaced it.
    let posts_to_type = |steps: &mut [Value]| {
        steps[0]["pattern"] = "^transactions/type/disbursement$".into();
        steps[0]["request"]["uri"] = "/transactions/type/disbursement".into();
    };
    let Some(mut replay) = Replay::begin("Indivudual-Disbursement---callback---failure.yaml", posts_to_type) else { return };
    let view = replay.play();
    assert_eq!((view.status, failure(&view)), (SettlementStatus::Failed, Some("insufficient_funds")));
}

#[test]
fn a_disbursement_whose_success_is_polled_is_completed() {
    let Some(mut replay) = Replay::begin("Indivudual-Disbursement---polling---success.yaml", |_| ()) else { return };
    assert_eq!(replay.play().status, SettlementStatus::Completed);
}

#[test]
fn a_disbursement_whose_failure_is_polled_has_failed_once_that_is_said() {
    // It polls a state whose id is its own: the rail polls the one that it was told of.
    let polls_what_was_told =
        |steps: &mut [Value]| steps[1]["request"]["uri"] = "/requeststates/{{ steps.1.response.body.serverCorrelationId }}".into();
    let Some(mut replay) = Replay::begin("Indivudual-Disbursement---polling---failure.yml", polls_what_was_told) else { return };
    // It ends with a state that is not found. That proves nothing: the operator took the payment, and may still make it.
    assert_eq!(replay.play().status, SettlementStatus::Submitted);
    // So it goes on: with the next poll, the error is where the API has it, in a state that says that the request failed.
    let mut says = replay.case.steps[1].clone();
    let state = json!({"serverCorrelationId": "{{ steps.1.response.body.serverCorrelationId }}", "status": "failed",
        "notificationMethod": "polling", "error": says["response"]["body"]});
    says["response"] = json!({"status": 200, "body": state});
    replay.case.steps.push(says);
    let view = replay.play();
    assert_eq!((view.status, failure(&view)), (SettlementStatus::Failed, Some("recipient_not_found")));
}

fn failure(view: &SettlementView) -> Option<&'static str> {
    view.failure.as_ref().map(|failure| failure.code.as_str())
}

/// A gateway that pays through the operator of a case.
struct Replay {
    case: Case,
    gateway: Gateway,
    env: Arc<ManualEnv>,
    client: Enrolled,
}

impl Replay {
    /// Reads a case, with what `deviate` changes in its steps, and makes its payment; `None`, with a message, without the cases.
    fn begin(name: &str, deviate: impl FnOnce(&mut [Value])) -> Option<Self> {
        let text = schema::published(&format!("gsma/disbursement-cases/{name}"))?;
        let mut case: Value = serde_saphyr::from_str(&text).unwrap();
        let mut steps: Vec<Value> = serde_json::from_value(case["test_steps"].take()).unwrap();
        deviate(&mut steps);
        let case = Case { steps, played: Mutex::default() };
        let (asks, body) = (&case.steps[0]["request"], case.played.lock().unwrap().fill(&case.steps[0]["request"]["body"]));
        let callback = if asks["headers"]["X-Callback-URL"].is_null() { "polling" } else { "callback" };
        let [(kind, payer), (key, payee)] = ["debitParty", "creditParty"].map(|party| (&body[party][0]["key"], &body[party][0]["value"]));
        // The cases have no `/responses`.
        let mut settings = json!({"debit_party_type": kind, "debit_party": payer, "notify": callback, "responses": "false"});
        if let Some(id) = asks["headers"].get("X-Client-Id") {
            settings["x_client_id"] = case.played.lock().unwrap().fill(id);
        }
        let spec = json!({"id": "operator", "name": "O", "rail": "gsma", "mode": "sandbox", "base_url": BASE, "settings": settings});
        let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
        let providers = vec![parse_provider(spec.to_string().as_bytes(), &Rails::built_in()).unwrap().spec];
        let config = Config { providers, rails: Rails::built_in(), ..Config::sandbox() };
        let gateway = Gateway::open_with(Arc::new(MemoryStore::new()), env.clone(), config).unwrap();
        gateway.engine().reached_at("https://gateway.example/api/v1/rails".to_owned());
        let client = gateway.enroll("Shop").unwrap();
        let money = format!("{} {}", text_of(&body["amount"]), text_of(&body["currency"])).parse().unwrap();
        let to = format!("{}:{}", text_of(key), text_of(payee)).parse().unwrap();
        gateway.client(&client).create(CreateRequest::new(money, to, "r".parse().unwrap())).unwrap();
        Some(Self { case, gateway, env, client })
    }

    /// Plays the steps that are left, and tells how the payment stands.
    fn play(&mut self) -> SettlementView {
        while let Some(step) = self.case.next() {
            match step["source"].as_str() {
                Some("sp") => self.gateway.work_with(&self.case).map(drop).unwrap(),
                _ => self.call_back(&step),
            }
            if self.case.next().as_ref() == Some(&step) {
                self.env.advance_to(self.gateway.next_due().unwrap().expect("the rail asks again"));
            }
        }
        self.gateway.client(&self.client).settlement("r").unwrap()
    }

    fn call_back(&self, step: &Value) {
        let mut played = self.case.played.lock().unwrap();
        let asks = played.fill(&step["request"]);
        let request = HttpRequest::new("PUT", text_of(&asks["uri"])).body(asks["body"].to_string());
        let about = described(&request);
        hold(&step["test_request_scripts"], &about);
        let status = receive(self.gateway.engine(), &request).expect("it is taken");
        let response = json!({"status": status});
        hold(&step["test_response_scripts"], &response);
        played.steps.push(json!({"request": about, "response": response}));
    }
}

/// A case: the operator of its payment.
struct Case {
    steps: Vec<Value>,
    played: Mutex<Played>,
}

/// What was played of a case.
#[derive(Default)]
struct Played {
    /// The request and the response of each step.
    steps: Vec<Value>,
    /// How often the next step was answered with what is to be repeated.
    repeated: u64,
    /// How many ids were drawn.
    ids: u64,
}

impl Case {
    /// The next step.
    fn next(&self) -> Option<Value> {
        self.steps.get(self.played.lock().unwrap().steps.len()).cloned()
    }
}

impl Carrier for Case {
    fn carry(&self, request: &HttpRequest) -> Carried {
        let step = self.next().unwrap_or_else(|| panic!("the case is over: {request:?}"));
        let mut played = self.played.lock().unwrap();
        let path = request.url.strip_prefix(BASE).and_then(|path| path.strip_prefix('/')).unwrap();
        assert_eq!((Some("sp"), Some(request.method)), (step["source"].as_str(), step["method"].as_str()), "{request:?}");
        // Some patterns have another anchor before their last part, with which nothing matches.
        let pattern = text_of(&step["pattern"]).replace("/^", "/");
        assert!(matches(&pattern, path), "{path} is not as {pattern}");
        assert_eq!(played.fill(&step["request"]["uri"]).as_str().unwrap().trim_start_matches('/'), path);
        let about = described(request);
        hold(&step["test_request_scripts"], &about);
        let repeats = played.repeated < step["repeat"]["count"].as_u64().unwrap_or(0);
        let response = played.fill(if repeats { &step["repeat"]["response"] } else { &step["response"] });
        let status = response["status"].as_u64().and_then(|status| status.try_into().ok()).unwrap();
        let body = response["body"].to_string().into_bytes();
        if repeats {
            played.repeated += 1;
        } else {
            played.repeated = 0;
            played.steps.push(json!({"request": about, "response": response}));
        }
        Carried::Answered(HttpReply { status, headers: Vec::new(), body })
    }
}

/// A request as rules and templates name its parts.
fn described(request: &HttpRequest) -> Value {
    let headers: serde_json::Map<_, _> = request.headers.iter().map(|(name, value)| (name.clone(), json!([value]))).collect();
    json!({"headers": headers, "body": serde_json::from_slice(&request.body).unwrap_or(Value::Null)})
}

fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is no text"))
}

fn matches(pattern: &str, text: &str) -> bool {
    jsonschema::is_valid(&json!({"pattern": pattern}), &text.into())
}

/// Holds a request or a response against the rules of a step.
fn hold(scripts: &Value, about: &Value) {
    for (path, rules) in scripts.as_array().into_iter().flatten().flat_map(|script| script["rules"].as_object().unwrap()) {
        // Names of header fields are written as one likes.
        let path = if path.starts_with("headers.") { path.to_ascii_lowercase() } else { path.clone() };
        let found = path.split('.').fold(vec![about], |found, part| match part {
            "*" => found.into_iter().filter_map(Value::as_array).flatten().collect(),
            part => found.into_iter().filter_map(|value| value.get(part)).collect(),
        });
        for rule in text_of(rules).split('|') {
            assert!(complies(rule, &found), "{path} is {found:?}, and must be {rule}");
        }
    }
}

/// Whether values comply with a rule of Laravel, in whose language the cases are written.
fn complies(rule: &str, values: &[&Value]) -> bool {
    let every = |fits: &dyn Fn(&str) -> bool| values.iter().all(|value| fits(value.as_str().unwrap_or(&value.to_string())));
    match rule.split_once(':') {
        None if rule == "required" => !values.is_empty() && values.iter().all(|value| ![json!(null), json!(""), json!([])].contains(value)),
        None if rule == "url" => every(&|text| matches("^https?://[^/]+/", text)),
        // As in PHP, texts that are numbers are compared as numbers.
        Some(("in", list)) => every(&|text| {
            let same = |one: &str| one == text || Amount::parse(one).is_ok_and(|one| Amount::parse(text) == Ok(one));
            list.split(',').any(same)
        }),
        Some(("regex", pattern)) => every(&|text| matches(pattern.trim_matches('/'), text)),
        _ => panic!("the rule {rule} is not known"),
    }
}

impl Played {
    /// Fills the templates in, which are written in the language of Twig.
    fn fill(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), self.fill(value))).collect(),
            Value::Array(values) => values.iter().map(|value| self.fill(value)).collect(),
            Value::String(text) => match text.split_once("{{").and_then(|(before, rest)| Some((before, rest.split_once("}}")?))) {
                Some(("", (template, ""))) => self.evaluate(template),
                Some((before, (template, after))) => format!("{before}{}{after}", text_of(&self.evaluate(template))).into(),
                None => value.clone(),
            },
            other => other.clone(),
        }
    }

    fn evaluate(&mut self, template: &str) -> Value {
        let template = template.trim();
        // Here, it stays what it is.
        if let Some(value) = template.strip_suffix("|json_encode") {
            return self.evaluate(value);
        }
        if let Some((value, more)) = template.split_once("|merge({") {
            let mut merged = self.evaluate(value);
            for member in more.trim_end_matches("})").split(',') {
                let (name, value) = member.split_once(':').unwrap();
                merged[name.trim()] = self.evaluate(value);
            }
            return merged;
        }
        match template {
            "uuidv4()" => {
                self.ids += 1;
                format!("{:08x}-0000-4000-8000-000000000000", self.ids).into()
            }
            "new_date_iso8601()" => "2026-11-21T10:38:17.042Z".into(),
            _ => match (template.split_once("|default("), template.strip_prefix('"'), template.strip_prefix("steps.")) {
                (Some((_, value)), ..) => self.evaluate(value.trim_end_matches(')')),
                (_, Some(text), _) => text.trim_end_matches('"').into(),
                (.., Some(path)) => self.told(path),
                _ => panic!("the template {template} is not known"),
            },
        }
    }

    /// A part of a step that was played.
    fn told(&self, path: &str) -> Value {
        let path = path.replace("[\"", ".").replace("\"]", "");
        let (step, path) = path.split_once('.').unwrap();
        let step = &self.steps[step.parse::<usize>().unwrap() - 1];
        let path = if path.starts_with("request.headers.") { path.to_ascii_lowercase() } else { path.to_owned() };
        step.pointer(&format!("/{}", path.replace('.', "/"))).unwrap_or_else(|| panic!("there is no {path} in {step}")).clone()
    }
}
