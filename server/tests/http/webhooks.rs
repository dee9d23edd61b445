//! Webhooks as their owner manages them: created, changed, tested, read and replayed, and by nobody else.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use hyper::Request;
use railgate::api::{NewWebhook, Parcel};
use railgate::auth::TAG;
use railgate::engine::{CreateWebhook, Enroll, NumberEvents, TestWebhook};
use railgate::env::Env as _;
use railgate::seal::MasterKeys;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{AuditAction, AuditRecord, DeliveryRecord, EventType, Key, Topic};
use railgate::store::{Scan, Store, typed_all};
use railgate::webhook::{Guard, SignedHeaders, TOLERANCE_S, WebhookSecret, verify};
use railgate::{Config, Engine};
use railgate_server::deliver::Deliverer;
use railgate_server::gateway::Tenant;
use railgate_server::outbound::Limits;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::signed::live;
use super::support::{Answer, SETTLEMENTS, Service, service, service_with, sign_as};

const WEBHOOKS: &str = "/api/v1/webhooks";
/// Nobody listens there: deliveries to it wait for their next attempt.
const NOWHERE: &str = "http://127.0.0.1:9/hook";

impl Service {
    async fn call(&self, method: &str, path: &str, body: &Value) -> Answer {
        let request = self.request(method, path).header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }

    async fn delete(&self, path: &str) -> Answer {
        self.send(self.request("DELETE", path).body(Body::empty()).unwrap()).await
    }

    /// A webhook to `url`: its path and its secret.
    async fn webhook(&self, url: &str) -> (String, String) {
        let made = self.post(WEBHOOKS, &json!({"url": url})).await.expect(201).json();
        (format!("{WEBHOOKS}/{}", made["id"].as_str().unwrap()), made["secret"].as_str().unwrap().to_owned())
    }

    /// Numbers every event so far, which determines its deliveries.
    async fn number(&self) {
        while let Ok(logged) = self.running.gateway().run(Tenant::GATEWAY, NumberEvents { limit: 1_000 }).await {
            if !logged.more && logged.held_until.is_none() {
                break;
            }
        }
    }

    /// The webhook's deliveries, after every event so far was numbered.
    async fn deliveries(&self, webhook: &str) -> Vec<Value> {
        self.number().await;
        let page = self.get(&format!("{webhook}/deliveries?limit=200")).await.expect(200).json();
        page["data"].as_array().unwrap().clone()
    }
}

/// What a receiver was sent: headers in lower case, and the body.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    head: String,
    pub(super) body: String,
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        let line = self.head.lines().find_map(|line| line.split_once(": ").filter(|(known, _)| known.eq_ignore_ascii_case(name)));
        line.map(|(_, value)| value)
    }

    /// Whether this secret signed it, checked like a receiver would.
    fn is_signed_with(&self, secret: &str, now_ms: i64) -> bool {
        let headers = SignedHeaders::find(|name| self.header(name)).unwrap();
        let secrets = [WebhookSecret::parse(secret).unwrap()];
        verify(&secrets, &headers, self.body.as_bytes(), now_ms / 1_000, TOLERANCE_S).is_ok()
    }
}

/// Responds to every webhook with the same bytes, and keeps what it was sent.
pub(super) struct Receiver {
    pub(super) url: String,
    pub(super) seen: Arc<Mutex<Vec<Seen>>>,
}

impl Receiver {
    pub(super) async fn answering(answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let seen: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let kept = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let length = head.to_ascii_lowercase().split_once("content-length: ").unwrap().1.lines().next().unwrap().parse().unwrap();
                let mut body = vec![0; length];
                stream.read_exact(&mut body).await.unwrap();
                kept.lock().unwrap().push(Seen { head, body: String::from_utf8(body).unwrap() });
                stream.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        Self { url, seen }
    }

    fn last(&self) -> Seen {
        self.seen.lock().unwrap().last().unwrap().clone()
    }
}

fn codes(problem: &Value) -> Vec<String> {
    let fields = problem["errors"].as_array().unwrap().iter();
    fields.map(|field| format!("{} {}", field["pointer"].as_str().unwrap(), field["code"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn a_webhook_is_made_shown_changed_and_removed() {
    let service = service().await;
    let wish =
        json!({"url": "https://shop.example.com/h", "events": ["settlement.failed", "settlement.completed"], "description": "Orders"});
    let answer = service.post(WEBHOOKS, &wish).await.expect(201);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let made = answer.json();
    let path = answer.header("location").unwrap().to_owned();
    assert_eq!(path, format!("{WEBHOOKS}/{}", made["id"].as_str().unwrap()));
    assert!(WebhookSecret::parse(made["secret"].as_str().unwrap()).is_ok(), "{made:#}");
    assert_eq!((&made["status"], &made["all_events"]), (&json!("enabled"), &json!(false)));
    assert_eq!(made["events"], json!(["settlement.completed", "settlement.failed"]));

    // It is shown as it was created, without its secret.
    let mut shown = made.clone();
    shown.as_object_mut().unwrap().remove("secret");
    assert_eq!(service.get(&path).await.expect(200).json(), shown);
    let (second, _) = service.webhook("https://shop.example.com/all").await;
    let list = service.get(WEBHOOKS).await.expect(200);
    assert_eq!((&list.json()["data"][0], list.json()["data"].as_array().unwrap().len()), (&shown, 2));
    assert!(!list.text().contains("whsec_"));

    // Members that a patch omits stay; null removes them.
    assert_eq!(service.call("PATCH", &path, &json!({})).await.expect(200).json()["description"], "Orders");
    let stopped = service.call("PATCH", &path, &json!({"enabled": false, "url": "https://shop.example.com/2"})).await.expect(200).json();
    assert_eq!((&stopped["status"], &stopped["url"]), (&json!("disabled"), &json!("https://shop.example.com/2")));
    assert_eq!((&stopped["events"], stopped.get("secret")), (&made["events"], None));
    let wide = service.call("PATCH", &path, &json!({"events": null, "description": null, "enabled": true})).await.expect(200).json();
    assert_eq!((&wide["all_events"], &wide["description"], &wide["status"]), (&json!(true), &Value::Null, &json!("enabled")));
    assert!(wide["events"].as_array().unwrap().contains(&json!("webhook.disabled")));
    service.call("PATCH", &path, &json!({"enabled": false})).await.expect(200);
    assert_eq!(service.post(&format!("{path}/enable"), &Value::Null).await.expect(200).json()["status"], "enabled");

    assert!(service.delete(&path).await.expect(204).body.is_empty());
    service.get(&path).await.problem(404, "webhook_not_found");
    service.delete(&path).await.problem(404, "webhook_not_found");
    service.get(&format!("{path}/deliveries")).await.problem(404, "webhook_not_found");
    assert_eq!(service.get(WEBHOOKS).await.expect(200).json()["data"].as_array().unwrap().len(), 1);
    service.get(&second).await.expect(200);
}

#[tokio::test]
async fn what_is_wrong_is_told_at_once_and_where() {
    let service = service().await;
    let (path, _) = service.webhook(NOWHERE).await;
    let wrong = json!({"url": 7, "events": ["settlement.completed", "settlement.paid"], "secret": "s"});
    let problem = service.post(WEBHOOKS, &wrong).await.problem(422, "invalid_fields");
    assert_eq!(codes(&problem), ["/url wrong_type", "/events/1 event_type_unknown", "/secret unknown_field"]);
    for (method, rest, body, code) in [
        ("PATCH", "", json!({"url": null, "status": "enabled"}), "/url required"),
        ("POST", "/rotate-secret", json!({"grace": 604_801}), "/grace out_of_range"),
        ("POST", "/test", json!({"type": "settlement.paid"}), "/type event_type_unknown"),
        ("POST", "/replay", json!({"until": "2026-01-01T00:00:00Z"}), "/since required"),
    ] {
        let problem = service.call(method, &format!("{path}{rest}"), &body).await.problem(422, "invalid_fields");
        assert_eq!(codes(&problem)[0], code, "{method} {rest}");
    }
    let problem = service.get(&format!("{path}/deliveries?limit=0&status=lost&page=2")).await.problem(422, "invalid_fields");
    assert_eq!(codes(&problem), ["limit out_of_range", "status unknown_value", "page unknown_parameter"]);
    for cursor in ["x", "AAAAAAAAAAAAAAAAAAAAAA", "_____________________w"] {
        service.get(&format!("{path}/deliveries?cursor={cursor}")).await.problem(400, "invalid_cursor");
    }

    // Destinations that the gateway refuses, in a create and in a change.
    for url in
        ["http://shop.example.com/", "https://10.0.0.8/", "https://169.254.169.254/latest", "https://me:pw@shop.example.com/", "ftp://x"]
    {
        let problem = service.post(WEBHOOKS, &json!({"url": url})).await.problem(422, "invalid_fields");
        assert_eq!(codes(&problem), ["/url url_refused"], "{url}");
        let problem = service.call("PATCH", &path, &json!({"url": url})).await.problem(422, "invalid_fields");
        assert_eq!(codes(&problem), ["/url url_refused"], "{url}");
    }
    assert_eq!(service.get(&path).await.json()["url"], NOWHERE);
}

/// Accepts connections and answers none of them, until it is dropped.
async fn silent() -> (String, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let listening = tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    (url, listening)
}

#[tokio::test]
async fn one_client_whose_receivers_hang_leaves_room_for_the_others() {
    let store = Arc::new(MemoryStore::new());
    let mut service = service_with(store.clone(), |hosted| {
        hosted.deliver.healthy = 20;
        hosted.deliver.limits = Limits { connect: Duration::from_secs(300), whole: Duration::from_secs(300) };
    })
    .await;
    let event = async |service: &Service, reference: &str| {
        let body = json!({"amount": 1, "currency": "EUR", "to": "sim:pending", "reference": reference});
        service.post(SETTLEMENTS, &body).await.expect(201);
        service.number().await;
    };
    let (hanging, listening) = silent().await;
    for n in 0..21 {
        let (path, _) = service.webhook(&hanging).await;
        event(&service, &format!("r{n}")).await;
        // Each is leased or postponed before it makes room for the next; without any room it is neither.
        for _ in 0..50 {
            let scan = Scan::queues(false, service.env.now(), 9);
            if store.scan(&scan).unwrap().is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        service.delete(&path).await.expect(204);
    }
    service.token = service.enroll("Another shop").await;
    let receiver = Receiver::answering("HTTP/1.1 204 No Content\r\n\r\n").await;
    service.webhook(&receiver.url).await;
    event(&service, "theirs").await;
    for _ in 0..1_000 {
        if !receiver.seen.lock().unwrap().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(receiver.last().body.contains("theirs"));
    assert!(!listening.is_finished(), "nothing was answered to the one that hangs");
}

#[tokio::test]
async fn there_are_ten_at_most() {
    let service = service().await;
    for n in 0..10 {
        service.webhook(&format!("https://shop.example.com/{n}")).await;
    }
    let eleventh = json!({"url": "https://shop.example.com/10"});
    service.post(WEBHOOKS, &eleventh).await.problem(409, "too_many_webhooks");
    let first = service.get(WEBHOOKS).await.json()["data"][0]["id"].as_str().unwrap().to_owned();
    service.delete(&format!("{WEBHOOKS}/{first}")).await.expect(204);
    service.post(WEBHOOKS, &eleventh).await.expect(201);
}

/// Every call about a webhook and its delivery, with a valid body.
fn calls(webhook: &str, delivery: &str) -> Vec<(&'static str, String, Value)> {
    let of = |method, rest: &str, body| (method, format!("{webhook}{rest}"), body);
    vec![
        of("GET", "", Value::Null),
        of("PATCH", "", json!({"enabled": true})),
        of("POST", "/enable", Value::Null),
        of("POST", "/rotate-secret", json!({})),
        of("POST", "/test", json!({})),
        of("POST", "/replay", json!({"since": "2026-01-01T00:00:00Z"})),
        of("GET", "/deliveries", Value::Null),
        of("GET", &format!("/deliveries/{delivery}"), Value::Null),
        of("POST", &format!("/deliveries/{delivery}/redeliver"), Value::Null),
        of("DELETE", "", Value::Null),
    ]
}

impl Service {
    async fn any(&self, method: &str, path: &str, body: &Value) -> Answer {
        if body.is_null() {
            return self.send(self.request(method, path).body(Body::empty()).unwrap()).await;
        }
        self.call(method, path, body).await
    }
}

#[tokio::test]
async fn a_webhook_of_another_client_or_mode_is_not_there() {
    let mut service = service().await;
    let (webhook, secret) = service.webhook(NOWHERE).await;
    service.post(&format!("{webhook}/test"), &json!({})).await.expect(200);
    let delivery = service.deliveries(&webhook).await[0]["id"].as_str().unwrap().to_owned();
    // The client's own other webhook has no such delivery either.
    let (other, own_secret) = service.webhook(NOWHERE).await;
    assert_ne!(secret, own_secret, "only the first webhook begins with the secret of the enrolment");
    service.get(&format!("{other}/deliveries/{delivery}")).await.problem(404, "delivery_not_found");
    service.post(&format!("{other}/deliveries/{delivery}/redeliver"), &Value::Null).await.problem(404, "delivery_not_found");

    let stranger = service.enroll("Somebody else").await;
    let own = std::mem::replace(&mut service.token, stranger);
    for (method, path, body) in calls(&webhook, &delivery) {
        service.any(method, &path, &body).await.problem(404, "webhook_not_found");
    }
    assert_eq!(service.get(WEBHOOKS).await.json()["data"], json!([]));
    service.token = own;

    let (key, token, _) = live(&service).await;
    let live_call = async |method: &str, path: &str, body: &Value| {
        let request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"));
        let request = request.header("content-type", "application/json").body(Body::from(body.to_string())).unwrap();
        let ask = Request::post("/api/v1/auth/challenges").header("content-type", "application/json");
        let ask = ask.body(Body::from(r#"{"environment":"live"}"#)).unwrap();
        let nonce = service.exchange(ask).await.expect(200).json()["challenge"].as_str().unwrap().to_owned();
        service.exchange(sign_as(&service, request, &*key, service.env.now() / 1_000, &nonce, TAG).await).await
    };
    for (method, path, body) in calls(&webhook, &delivery).into_iter().filter(|(method, ..)| *method != "GET") {
        live_call(method, &path, &body).await.problem(404, "webhook_not_found");
    }
    // Development options are for the sandbox only, and live secrets are not shared.
    let problem = live_call("POST", WEBHOOKS, &json!({"url": NOWHERE})).await.problem(422, "invalid_fields");
    assert_eq!(codes(&problem), ["/url url_refused"]);
    let made = live_call("POST", WEBHOOKS, &json!({"url": "https://shop.example.com/"})).await.expect(201).json();
    assert_ne!(made["secret"], json!(secret));
    let path = format!("{WEBHOOKS}/{}", made["id"].as_str().unwrap());
    service.get(&path).await.problem(404, "webhook_not_found");
    assert_eq!(service.get(WEBHOOKS).await.json()["data"].as_array().unwrap().len(), 2);
    for nonsense in ["whk_x", "nothing", "whk_01KAJX3M7Q5W8ZP9D2R4T6V8YB"] {
        service.get(&format!("{WEBHOOKS}/{nonsense}")).await.problem(404, "webhook_not_found");
    }
}

#[tokio::test]
async fn reading_and_writing_are_scopes_of_their_own() {
    let mut service = service().await;
    let (webhook, _) = service.webhook(NOWHERE).await;
    service.post(&format!("{webhook}/test"), &json!({})).await.expect(200);
    let delivery = service.deliveries(&webhook).await[0]["id"].as_str().unwrap().to_owned();
    let key = service.key_of(&service.token);
    let mut calls = calls(&webhook, &delivery);
    calls.extend([("GET", WEBHOOKS.to_owned(), Value::Null), ("POST", WEBHOOKS.to_owned(), json!({"url": NOWHERE}))]);
    for (scope, may_read) in [("webhooks:read", true), ("settlements:read settlements:write", false)] {
        let ask = Request::post("/api/v1/auth/tokens").header("content-type", "application/json");
        let ask = ask.body(Body::from(json!({"scope": scope}).to_string())).unwrap();
        let token = service.exchange(service.sign(ask, &*key).await).await.expect(200).json();
        service.token = token["access_token"].as_str().unwrap().to_owned();
        service.keys.lock().unwrap().insert(service.token.clone(), Arc::clone(&key));
        for (method, path, body) in &calls {
            let answer = service.any(method, path, body).await;
            if may_read && *method == "GET" {
                answer.expect(200);
            } else {
                answer.problem(403, "insufficient_scope");
            }
        }
    }
}

#[tokio::test]
async fn a_test_is_delivered_at_once_and_signed_like_a_real_one() {
    let service = service().await;
    let receiver = Receiver::answering("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 6\r\n\r\nthanks").await;
    let (webhook, secret) = service.webhook(&receiver.url).await;
    let test = async |body: Value| service.any("POST", &format!("{webhook}/test"), &body).await.expect(200).json();
    let answer = test(Value::Null).await;
    assert_eq!((&answer["delivered"], &answer["delivery"]["status"]), (&json!(true), &json!("delivered")));
    assert_eq!(answer["response"]["status"], 200);
    assert_eq!((&answer["response"]["excerpt"], &answer["response"]["error"]), (&json!("thanks"), &Value::Null));
    assert!(answer["response"]["took_ms"].is_u64());
    assert_eq!((&answer["delivery"]["cause"], &answer["delivery"]["attempts"]), (&json!("test"), &json!(1)));
    let seen = receiver.last();
    assert!(seen.is_signed_with(&secret, service.env.now()));
    assert_eq!(
        (seen.header("content-type"), seen.header("webhook-id")),
        (Some("application/json"), answer["delivery"]["message_id"].as_str())
    );
    let sent: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!((&sent, &sent["type"]), (&answer["delivery"]["payload"], &json!("settlement.completed")));
    assert_eq!((&sent["data"]["status"], sent["data"]["sequence"].is_u64()), (&json!("completed"), true));
    test(json!({"type": "webhook.disabled"})).await;
    assert_eq!(serde_json::from_str::<Value>(&receiver.last().body).unwrap()["type"], "webhook.disabled");
    test(json!({"type": "balance.withdrawn"})).await;
    let seen = receiver.last();
    assert!(seen.is_signed_with(&secret, service.env.now()));
    let data = serde_json::from_str::<Value>(&seen.body).unwrap()["data"].clone();
    let members: Vec<&str> = data.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!((&data["kind"], members), (&json!("withdrawal"), vec!["amount", "at", "currency", "kind", "reference", "sequence"]));
    test(json!({"type": "balance.credit_changed"})).await;
    let data = serde_json::from_str::<Value>(&receiver.last().body).unwrap()["data"].clone();
    assert_eq!((&data["kind"], &data["previous"]), (&json!("credit_line"), &json!(1000.0)));

    // While a secret is being replaced both sign; without grace the old one ends at once.
    let rotate = async |body: Value| {
        let answer = service.any("POST", &format!("{webhook}/rotate-secret"), &body).await.expect(200);
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        answer.json()["secret"].as_str().unwrap().to_owned()
    };
    let second = rotate(Value::Null).await;
    test(Value::Null).await;
    let seen = receiver.last();
    assert!(second != secret && [&secret, &second].iter().all(|secret| seen.is_signed_with(secret, service.env.now())), "{}", seen.head);
    let third = rotate(json!({"grace": 0})).await;
    test(Value::Null).await;
    let seen = receiver.last();
    assert!(seen.is_signed_with(&third, service.env.now()));
    assert!([&secret, &second].iter().all(|secret| !seen.is_signed_with(secret, service.env.now())), "{}", seen.head);

    // A disabled webhook can be tested, and stays disabled.
    service.call("PATCH", &webhook, &json!({"enabled": false})).await.expect(200);
    assert_eq!(test(Value::Null).await["delivered"], true);
    assert_eq!(service.get(&webhook).await.json()["status"], "disabled");
}

#[tokio::test]
async fn a_test_tells_what_a_receiver_in_trouble_answered() {
    let service = service().await;
    const GONE: &str = "HTTP/1.1 410 Gone\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    const MOVED: &str = "HTTP/1.1 302 Found\r\nconnection: close\r\nlocation: http://127.0.0.1:9/\r\ncontent-length: 0\r\n\r\n";
    for (answer, status) in [(GONE, 410), (MOVED, 302)] {
        let receiver = Receiver::answering(answer).await;
        let (webhook, _) = service.webhook(&receiver.url).await;
        let told = service.post(&format!("{webhook}/test"), &json!({})).await.expect(200).json();
        assert_eq!((&told["delivered"], &told["response"]["status"]), (&json!(false), &json!(status)));
        assert_eq!((&told["delivery"]["status"], &told["delivery"]["next_attempt_at"]), (&json!("failed"), &Value::Null));
        // A test does not affect the state for real events.
        assert_eq!(service.get(&webhook).await.json()["status"], "enabled");
    }
    let (nobody, _) = service.webhook(NOWHERE).await;
    let told = service.post(&format!("{nobody}/test"), &json!({})).await.expect(200).json();
    assert_eq!((&told["delivered"], &told["response"]["status"]), (&json!(false), &Value::Null));
    assert!(told["response"]["error"].as_str().unwrap().contains("no connection"), "{told:#}");
}

/// A parcel of copies of one delivery.
fn parcel(service: &Service, url: &str, deliveries: i64) -> Parcel {
    let engine = service.running.gateway().engine();
    let caller = engine.run(Enroll { name: "Shop".to_owned(), key: None }).unwrap().caller;
    let new = NewWebhook { url: url.to_owned(), topics: None, description: None };
    let id = engine.run(CreateWebhook { caller, new }).unwrap().endpoint.id;
    let mut parcel = engine.run(TestWebhook { caller, id, topic: Topic::Event(EventType::SettlementCompleted) }).unwrap();
    let one = parcel.deliveries.remove(0);
    parcel.deliveries = (0..deliveries).map(|no| DeliveryRecord { no, ..one.clone() }).collect();
    parcel
}

#[tokio::test]
async fn after_a_delivery_that_is_not_accepted_no_other_of_its_parcel_begins() {
    let service = service().await;
    const OK: &str = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";
    let guard = Guard { insecure_loopback: true, ..Guard::default() };
    let deliverer = Deliverer::new(service.running.gateway().clone(), Arc::default(), &guard, Limits::default());
    for (answer, tried) in [(OK, 40), (BUSY, Parcel::AT_ONCE)] {
        let receiver = Receiver::answering(answer).await;
        let tries = deliverer.deliver_now(parcel(&service, &receiver.url, 40)).await.unwrap();
        let each: HashSet<i64> = tries.iter().map(|tried| tried.delivery).collect();
        assert_eq!((each.len(), tries.len(), receiver.seen.lock().unwrap().len()), (tried, tried, tried), "{answer}");
    }
}

/// `railgate keys rotate master` seals at once under a key that running servers do not have yet.
#[tokio::test]
async fn an_endpoint_whose_secret_is_sealed_under_a_key_to_come_waits_and_has_not_failed() {
    let (store, here) = (Arc::new(MemoryStore::new()), Arc::new(MasterKeys::generate(1, [3; 32])));
    let service = service_with(store.clone(), |hosted| hosted.engine.master = Some(here.clone())).await;
    let guard = Guard { insecure_loopback: true, ..Guard::default() };
    let deliverer = Deliverer::new(service.running.gateway().clone(), Arc::default(), &guard, Limits::default());
    let receiver = Receiver::answering("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await;
    let parcel = parcel(&service, &receiver.url, 1);

    let file = Arc::new(MasterKeys::parse(&here.to_text()).unwrap());
    file.prepend([4; 32]);
    let config = Config { master: Some(file.clone()), ..Config::default() };
    let operator = Engine::open(store, service.env.clone(), config).unwrap();
    assert_ne!(operator.reseal().unwrap(), 0);
    assert_eq!(deliverer.deliver_now(parcel.clone()).await.unwrap(), [], "none was tried");

    here.updated_by(move |here| here.replace(MasterKeys::parse(&file.to_text()).unwrap()));
    let tries = deliverer.deliver_now(parcel).await.unwrap();
    assert_eq!(tries[0].outcome.status, Some(200), "{tries:?}");
}

#[tokio::test]
async fn a_webhook_is_tested_once_at_a_time() {
    let service = service().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (webhook, _) = service.webhook(&format!("http://{}/", listener.local_addr().unwrap())).await;
    let (path, empty) = (format!("{webhook}/test"), json!({}));
    let second = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        service.post(&path, &empty).await.problem(409, "request_in_progress");
        // A response that comes before its request is none.
        stream.read_exact(&mut [0; 4]).await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        // Only after everything was read: unread bytes at its end would discard the response.
        let _ = stream.read_to_end(&mut Vec::new()).await;
    };
    let (first, ()) = tokio::join!(service.post(&path, &empty), second);
    let first = first.expect(200).json();
    assert_eq!(first["delivered"], true, "{first:#}");
    // The next attempt begins, and nobody listens.
    drop(listener);
    assert_eq!(service.post(&path, &empty).await.expect(200).json()["delivered"], false);
}

#[tokio::test]
async fn deliveries_are_listed_in_pages_looked_at_and_made_again() {
    let service = service().await;
    let (webhook, _) = service.webhook(NOWHERE).await;
    service.settled("d-1", "sim:ok").await;
    let all = service.deliveries(&webhook).await;
    assert!(all.len() >= 4, "{all:#?}");
    let ids = |deliveries: &[Value]| deliveries.iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
    let types: Vec<_> = all.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!((types[0], *types.last().unwrap()), ("settlement.completed", "settlement.accepted"), "newest first");
    assert!(all.iter().all(|it| it["cause"] == "event" && it["payload"]["data"]["reference"] == "d-1"), "{all:#?}");

    let (mut paged, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = service.get(&format!("{webhook}/deliveries?limit=2{cursor}")).await.expect(200).json();
        paged.extend(page["data"].as_array().unwrap().clone());
        assert_eq!(page["has_more"].as_bool(), Some(page["next_cursor"].is_string()));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(ids(&paged), ids(&all));
    let of = async |status: &str| service.get(&format!("{webhook}/deliveries?status={status}")).await.expect(200).json()["data"].clone();
    assert_eq!(of("delivered").await, json!([]));
    assert_eq!(of("pending").await.as_array().unwrap().len(), all.len());

    // Those of one settlement, by either of its names.
    let settlement = service.settled("d-2", "sim:ok").await;
    service.number().await;
    let about = async |query: &str| {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = service.get(&format!("{webhook}/deliveries?settlement={query}{cursor}")).await.expect(200).json();
            found.extend(page["data"].as_array().unwrap().clone());
            let Some(next) = page["next_cursor"].as_str() else { return found };
            cursor = format!("&cursor={next}");
        }
    };
    assert_eq!(ids(&about("d-1").await), ids(&all));
    assert_eq!(ids(&about("d-1&limit=1").await), ids(&all));
    let other = about(settlement["id"].as_str().unwrap()).await;
    assert!(other.len() >= 4 && other.iter().all(|it| it["payload"]["data"]["reference"] == "d-2"), "{other:#?}");
    assert_eq!(about("d-2&status=delivered").await, Vec::<Value>::new());
    for unknown in ["d-3", "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB", "%20"] {
        service.get(&format!("{webhook}/deliveries?settlement={unknown}")).await.problem(404, "settlement_not_found");
    }

    let all = service.deliveries(&webhook).await;
    let first = &all[0];
    let path = format!("{webhook}/deliveries/{}", first["id"].as_str().unwrap());
    assert_eq!(service.get(&path).await.expect(200).json()["payload"], first["payload"]);
    let again = service.post(&format!("{path}/redeliver"), &Value::Null).await.expect(202);
    let made = again.json();
    assert_eq!(again.header("location"), Some(format!("{webhook}/deliveries/{}", made["id"].as_str().unwrap()).as_str()));
    assert_eq!((&made["cause"], &made["message_id"], &made["payload"]), (&json!("redelivery"), &first["message_id"], &first["payload"]));
    assert_ne!(made["id"], first["id"]);
    assert_eq!(service.deliveries(&webhook).await.len(), all.len() + 1);

    // Another id of the same millisecond, and one of a millisecond far from any.
    let mut forged = first["id"].as_str().unwrap().to_owned();
    forged.replace_range(29..30, if forged.ends_with('0') { "1" } else { "0" });
    for id in [forged.as_str(), "dlv_7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "dlv_00000000000000000000000000", "dlv_", "x"] {
        service.get(&format!("{webhook}/deliveries/{id}")).await.problem(404, "delivery_not_found");
        service.post(&format!("{webhook}/deliveries/{id}/redeliver"), &Value::Null).await.problem(404, "delivery_not_found");
    }
    service.call("PATCH", &webhook, &json!({"enabled": false})).await.expect(200);
    service.post(&format!("{path}/redeliver"), &Value::Null).await.problem(409, "invalid_state");
}

#[tokio::test]
async fn a_replay_queues_the_events_of_a_time_part_after_part() {
    let service = service().await;
    // More events than one part has.
    let settlements: Vec<Value> =
        (0..130).map(|n| json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("r-{n}")})).collect();
    let batch = service.post(&format!("{SETTLEMENTS}/batch"), &json!({ "settlements": settlements })).await.expect(200);
    assert!(batch.json()["results"].as_array().unwrap().iter().all(|result| result["status"] == 201));
    for n in 0..130 {
        service.until(&format!("r-{n}"), "completed").await;
    }
    service.number().await;
    let wish = json!({"url": NOWHERE, "events": ["settlement.accepted", "settlement.completed"]});
    let made = service.post(WEBHOOKS, &wish).await.expect(201).json();
    let webhook = format!("{WEBHOOKS}/{}", made["id"].as_str().unwrap());
    assert!(service.deliveries(&webhook).await.is_empty(), "what happened before it was made");

    let replay = async |body: Value| service.post(&format!("{webhook}/replay"), &body).await.expect(202).json();
    let since = "2026-11-21T10:38:17.042Z";
    assert_eq!(replay(json!({"since": since})).await, json!({"queued": 260, "next_after": null}));
    assert_eq!(replay(json!({"since": since, "after": 10_000})).await, json!({"queued": 0, "next_after": null}));
    let behind = replay(json!({"since": since, "after": 400})).await;
    assert!((1..260).contains(&behind["queued"].as_u64().unwrap()), "{behind}");
    assert_eq!(replay(json!({"since": "2026-11-21T10:38:17.043Z"})).await["queued"], 0);
    assert_eq!(replay(json!({"since": "2026-11-21T10:00:00Z", "until": since})).await["queued"], 0);
    let queued = service.deliveries(&webhook).await;
    assert!(queued.iter().all(|it| it["cause"] == "replay" && it["payload"]["data"]["status"] == "completed"), "as they stand now");

    service.call("PATCH", &webhook, &json!({"enabled": false})).await.expect(200);
    service.post(&format!("{webhook}/replay"), &json!({"since": since})).await.problem(409, "invalid_state");
}

#[tokio::test]
async fn every_change_is_on_the_audit_trail() {
    let store = Arc::new(MemoryStore::new());
    let service = service_with(Arc::clone(&store) as Arc<dyn Store>, |_| {}).await;
    let (webhook, _) = service.webhook(NOWHERE).await;
    service.post(&format!("{webhook}/test"), &json!({})).await.expect(200);
    let delivery = service.deliveries(&webhook).await[0]["id"].as_str().unwrap().to_owned();
    for (method, path, body) in calls(&webhook, &delivery).into_iter().filter(|(method, ..)| *method != "GET") {
        let answer = service.any(method, &path, &body).await;
        assert!(answer.status.is_success(), "{method} {path}: {}", answer.text());
    }
    service.delete(&webhook).await.problem(404, "webhook_not_found");
    let trail: Vec<AuditRecord> = typed_all(store.scan(&Scan::after(&Key::Audit(i64::MIN), 100)).unwrap()).unwrap();
    let about: Vec<&AuditRecord> = trail.iter().filter(|record| record.action.code() >= AuditAction::CreateWebhook.code()).collect();
    let actions: Vec<&str> = about.iter().map(|record| record.action.as_str()).collect();
    let expected = [
        "create_webhook",
        "test_webhook",
        "update_webhook",
        "enable_webhook",
        "rotate_webhook_secret",
        "test_webhook",
        "replay_webhook",
        "redeliver_webhook",
        "delete_webhook",
        "delete_webhook",
    ];
    assert_eq!(actions, expected);
    let (refused, done) = about.split_last().unwrap();
    assert_eq!(refused.refused.as_deref(), Some("webhook_not_found"));
    assert!(done.iter().all(|record| record.refused.is_none()));
}

#[tokio::test]
async fn a_patch_is_signed_with_its_body() {
    let service = service().await;
    let (webhook, _) = service.webhook(NOWHERE).await;
    let patch = || service.request("PATCH", &webhook).header("content-type", "application/json");
    let unsigned = service.exchange(patch().body(Body::from("{}")).unwrap()).await;
    let wanted = unsigned.header("accept-signature").unwrap().to_owned();
    assert!(wanted.contains(r#""content-type" "content-digest""#), "{wanted}");
    unsigned.problem(401, "signature_missing");
    let mut changed = service.sign(patch().body(Body::from(r#"{"enabled":true}"#)).unwrap(), &*service.key_of(&service.token)).await;
    *changed.body_mut() = Body::from(r#"{"enabled":false}"#);
    service.exchange(changed).await.problem(400, "digest_mismatch");
    let twice = service.sign(patch().body(Body::from("{}")).unwrap(), &*service.key_of(&service.token)).await;
    let (parts, _) = twice.into_parts();
    let copy = || {
        let mut request = Request::new(Body::from("{}"));
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) =
            (parts.method.clone(), parts.uri.clone(), parts.headers.clone());
        request
    };
    service.exchange(copy()).await.expect(200);
    service.exchange(copy()).await.problem(401, "nonce_replayed");
    let form = service.request("PATCH", &webhook).header("content-type", "application/x-www-form-urlencoded");
    service.send(form.body(Body::from("enabled=true")).unwrap()).await.problem(415, "unsupported_media_type");
    let merge = service.request("PATCH", &webhook).header("content-type", "application/merge-patch+json");
    service.send(merge.body(Body::from(r#"{"description":"d"}"#)).unwrap()).await.expect(200);
    service.call("PATCH", &webhook, &json!([])).await.problem(422, "invalid_fields");
}
