//! The shared scenarios (`tests/scenarios/*.json`), recorded from the sandbox in a page, over HTTP: a server answers alike.
//!
//! Ids, hashes and cursors differ; each is compared by where it first appeared, and what refers to an earlier one is translated. The
//! host's clock is the test's, so times are equal. Left out is what HTTP has no call for: calls without their members.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use railgate::engine::NumberEvents;
use railgate::env::Env as _;
use railgate::store::memory::MemoryStore;
use serde_json::{Map, Value, json};

use super::support::{Answer, NOW, SETTLEMENTS, Service, service_with};

/// Members whose values differ from gateway to gateway.
const OWN: [&str; 14] = [
    "id",
    "settlement_id",
    "client_id",
    "quote_id",
    "event_id",
    "hash",
    "prev",
    "rail_reference",
    "reversal",
    "next_cursor",
    "cursor",
    "jws",
    "ref",
    "account",
];

/// How often work is looked for while a clock is on its way.
const LOOK: Duration = Duration::from_millis(2);

/// What one side calls its own things, in the order of their first appearance.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, usize>,
    texts: Vec<String>,
}

impl Names {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.texts.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.texts.len() - 1);
        self.texts.len() - 1
    }

    /// The value with its own names replaced by their numbers.
    fn plain(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => Value::Object(members.iter().map(|(name, value)| (name.clone(), self.member(name, value))).collect()),
            Value::Array(elements) => elements.iter().map(|element| self.plain(element)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn member(&mut self, name: &str, value: &Value) -> Value {
        match value.as_str() {
            Some(text) if OWN.contains(&name) => json!(format!("#{}", self.number(text))),
            _ => self.plain(value),
        }
    }
}

/// A server that plays a scenario, and what both sides call things.
struct Player {
    service: Service,
    recorded: Names,
    served: Names,
    compared: usize,
}

impl Player {
    async fn new() -> Self {
        let service = service_with(Arc::new(MemoryStore::new()), |hosted| {
            // As in a page, which has one client.
            hosted.engine.play_money_max = None;
            // Tasks are carried out when the scenario says, and tokens outlive it.
            hosted.worker.carries = false;
            hosted.engine.token_ttl_ms = 366 * 86_400_000;
        });
        Self { service: service.await, recorded: Names::default(), served: Names::default(), compared: 0 }
    }

    fn work(&self) -> usize {
        let engine = self.service.running.gateway().engine();
        let done = engine.work_until_quiet(&()).unwrap();
        self.number();
        done
    }

    /// Numbers the events so far, as the sandbox does with each call.
    fn number(&self) {
        while self.service.running.gateway().engine().run(NumberEvents { limit: 1_000 }).unwrap().more {}
    }

    /// What the server calls the thing that the scenario calls `text`.
    fn translated(&self, text: &str) -> String {
        self.recorded.numbers.get(text).and_then(|number| self.served.texts.get(*number)).cloned().unwrap_or_else(|| text.to_owned())
    }

    /// Sends a call of the sandbox; `None` if HTTP has no such call.
    async fn send(&self, call: &Map<String, Value>, body: Option<String>) -> Option<Answer> {
        let text = |name: &str| call.get(name).and_then(Value::as_str).map(|text| encode(&self.translated(text)));
        let of = |rest: &str| text("ref").map(|reference| format!("{SETTLEMENTS}/{reference}{rest}"));
        // A parameter is a text.
        let is_text = |value: &Value| !value.is_object() && !value.is_null();
        let mut parameters = call.get("query").and_then(Value::as_object).into_iter().flatten().flat_map(|(_, value)| match value {
            Value::Array(values) => values.iter().collect(),
            value => vec![value],
        });
        if !parameters.all(is_text) {
            return None;
        }
        let listed = |path: String| format!("{path}{}", self.query(call.get("query")));
        let name = call.get("call")?.as_str()?;
        let (method, path) = match name {
            "create" => ("POST", SETTLEMENTS.to_owned()),
            "check" => ("POST", format!("{SETTLEMENTS}/check")),
            "get" => ("GET", of("")?),
            "status" => ("GET", of("/status")?),
            "list" => ("GET", listed(SETTLEMENTS.to_owned())),
            "events" => ("GET", listed(of("/events")?)),
            "feed" => ("GET", listed("/api/v1/gateway/events".to_owned())),
            "reverse" => ("POST", of("/reverse")?),
            "reversals" => ("GET", of("/reversals")?),
            "reversal" => ("GET", format!("{}/{}", of("/reversals")?, text("id")?)),
            "reconcile" => ("POST", of("/check")?),
            "balances" => ("GET", "/api/v1/balances".to_owned()),
            "balance" => ("GET", format!("/api/v1/balances/{}", text("currency")?)),
            "fund" => ("POST", "/api/v1/simulator/fund".to_owned()),
            "advance" => ("POST", format!("/api/v1/simulator/settlements/{}/advance", text("ref")?)),
            "faults" => ("GET", "/api/v1/simulator/faults".to_owned()),
            "set_faults" => ("PUT", "/api/v1/simulator/faults".to_owned()),
            "reset" => ("POST", "/api/v1/simulator/reset".to_owned()),
            "clock" => ("GET", "/api/v1/simulator/clock".to_owned()),
            "set_clock" => ("PUT", "/api/v1/simulator/clock".to_owned()),
            "scenarios" => ("GET", "/api/v1/simulator/scenarios".to_owned()),
            "users" => ("GET", listed("/api/v1/mobile/users".to_owned())),
            "user" => ("GET", format!("/api/v1/mobile/users/{}", text("user")?)),
            "put_user" => ("PUT", format!("/api/v1/mobile/users/{}", text("user")?)),
            _ => return None,
        };
        if ["create", "check", "fund", "advance", "set_clock", "set_faults"].contains(&name) && body.is_none() {
            return None;
        }
        let mut request = self.service.request(method, &path);
        if let Some(key) = call.get("idempotency_key").and_then(Value::as_str) {
            request = request.header("idempotency-key", key);
        }
        if method == "GET" {
            return Some(self.service.send(request.body(Body::empty()).unwrap()).await);
        }
        let request = request.header("content-type", "application/json");
        let mut answer = pin!(self.service.send(request.body(Body::from(body.unwrap_or_default())).unwrap()));
        loop {
            tokio::select! {
                answer = &mut answer => {
                    // With each change of its clock, a page works off what is due, as a server always does.
                    if name == "set_clock" {
                        self.work();
                    }
                    return Some(answer);
                }
                // A clock arrives once what is due on its way is done.
                () = tokio::time::sleep(LOOK), if name == "set_clock" => drop(self.work()),
            }
        }
    }

    fn query(&self, query: Option<&Value>) -> String {
        let pairs = query.and_then(Value::as_object).into_iter().flatten().flat_map(|(name, value)| match value {
            Value::Array(values) => values.iter().map(|value| (name, value)).collect::<Vec<_>>(),
            value => vec![(name, value)],
        });
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), |text| self.translated(text));
        let pairs: Vec<String> = pairs.map(|(name, value)| format!("{}={}", encode(name), encode(&text(value)))).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    async fn step(&mut self, call: &str, recorded: &Value, place: &str) {
        let Ok(Value::Object(members)) = serde_json::from_str::<Value>(call) else { return };
        if concerns_members(recorded, &members) {
            return;
        }
        // The body as it was written: its amounts count to the digit.
        let body = members.get("body").filter(|body| !body.is_null()).map(|_| body_of(call));
        let Some(answer) = self.send(&members, body).await else { return };
        assert_eq!(json!(answer.status.as_u16()), recorded["status"], "{place}: {}", answer.text());
        assert_eq!(answer.header("idempotent-replayed").is_some(), recorded["replayed"] == true, "{place}");
        let shown = match recorded.get("error") {
            Some(problem) => (faults_of(&answer.json()), faults_of(problem)),
            None => (self.served.plain(&answer.json()), self.recorded.plain(&recorded["ok"])),
        };
        assert_eq!(shown.0, shown.1, "{place}");
        self.number();
        self.compared += 1;
    }
}

/// Whether a problem is about the call's own members, which HTTP has as a path and a query.
fn concerns_members(recorded: &Value, members: &Map<String, Value>) -> bool {
    let pointers =
        recorded["error"]["errors"].as_array().into_iter().flatten().filter_map(|error| error["pointer"].as_str()?.strip_prefix('/'));
    pointers.into_iter().any(|name| members.contains_key(name) || ["ref", "body"].contains(&name))
}

/// The raw text of a call's body.
fn body_of(call: &str) -> String {
    let members: HashMap<&str, &serde_json::value::RawValue> = serde_json::from_str(call).unwrap();
    members["body"].get().to_owned()
}

/// What both kinds of problem have.
fn faults_of(problem: &Value) -> Value {
    json!({"code": problem["code"], "status": problem["status"], "retryable": problem["retryable"], "errors": problem["errors"]})
}

fn encode(text: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    text.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    files
}

#[tokio::test]
async fn a_server_answers_like_the_sandbox_in_a_page() {
    let mut compared = 0;
    for path in files() {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let scenario: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(scenario["start_ms"], NOW);
        let mut player = Player::new().await;
        for (at, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
            let place = format!("step {at} of {name}: {}", step["call"]);
            // From here on, devices act, with keys of their own: the stories of the packages play that.
            if step["call"].as_str().is_some_and(|call| call.contains(r#""call":"enroll_device""#)) {
                break;
            }
            let recorded = step["answer"].as_str().map(|answer| serde_json::from_str::<Value>(answer).unwrap());
            if let Some(ms) = step["advance_ms"].as_i64() {
                player.service.env.advance_to(player.service.env.now() + ms);
            } else if step.get("work").is_some() {
                assert_eq!(json!(player.work()), recorded.unwrap()["done"], "{place}");
            } else if let (Some(call), Some(recorded)) = (step["call"].as_str(), recorded) {
                player.step(call, &recorded, &place).await;
            }
        }
        compared += player.compared;
        player.service.running.stop().await;
    }
    assert!(compared >= 400, "only {compared} steps were compared");
}
