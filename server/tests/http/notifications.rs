//! What end users are told: the inbox as an app reads and follows it, and pushes as a push service receives them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http_body_util::BodyExt as _;
use hyper::Request;
use railgate::auth::{Curve, EphemeralKey, EphemeralSecret};
use railgate::env::Env as _;
use railgate::push::{SubscriptionKeys, decrypt};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{DeliveryRecord, RecordKind};
use railgate::store::{Scan, Store as _, typed_all};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::mobile::{Phone, phone};
use super::support::{SETTLEMENTS, Service, service, service_with};

const NOTIFICATIONS: &str = "/api/v1/mobile/notifications";
const SUBSCRIPTIONS: &str = "/api/v1/mobile/push-subscriptions";
const PREFERENCES: &str = "/api/v1/mobile/preferences";
/// The subscription's own secrets: a browser keeps them.
const PRIVATE: [u8; 32] = [3; 32];
const AUTH: [u8; 16] = [5; 16];

/// A push service on this machine, which answers as it is told to, and with 201 after that.
pub(super) struct PushService {
    origin: String,
    answers: Arc<Mutex<VecDeque<&'static str>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

/// A request to it.
#[derive(Clone)]
struct Seen {
    head: String,
    body: Vec<u8>,
}

impl PushService {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let (answers, seen): (Arc<Mutex<VecDeque<_>>>, Arc<Mutex<Vec<Seen>>>) = Default::default();
        let (to_give, kept) = (Arc::clone(&answers), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    head.push(stream.read_u8().await.unwrap());
                }
                let head = String::from_utf8(head).unwrap();
                let mut body = vec![0; Seen { head: head.clone(), body: Vec::new() }.header("content-length").unwrap().parse().unwrap()];
                stream.read_exact(&mut body).await.unwrap();
                let answer = to_give.lock().unwrap().pop_front().unwrap_or("201 Created");
                // The answer of a request that is seen is decided.
                kept.lock().unwrap().push(Seen { head, body });
                stream.write_all(format!("HTTP/1.1 {answer}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
            }
        });
        Self { origin, answers, seen }
    }

    fn answer(&self, answers: &[&'static str]) {
        self.answers.lock().unwrap().extend(answers);
    }

    /// The requests, once there are so many.
    async fn seen(&self, count: usize) -> Vec<Seen> {
        loop {
            let seen = self.seen.lock().unwrap().clone();
            if seen.len() >= count {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// What an app was told that fits, once it was.
    pub(super) async fn told(&self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let found = self.seen.lock().unwrap().iter().map(Seen::read).find(&fits);
            if let Some(told) = found {
                return told;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A subscription as a browser makes one here.
    fn subscription(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let keys = json!({"p256dh": text(&public()), "auth": text(&AUTH)});
        json!({"endpoint": format!("{}/p/1", self.origin), "expirationTime": null, "keys": keys})
    }
}

fn public() -> [u8; 65] {
    match EphemeralSecret::new(Curve::P256, PRIVATE).unwrap().public() {
        EphemeralKey::P256(point) => point,
        EphemeralKey::X25519(_) => panic!("a key of another curve"),
    }
}

impl Seen {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// What the app gets.
    fn read(&self) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let keys = SubscriptionKeys::parse(&text(&public()), &text(&AUTH)).unwrap();
        assert_eq!(self.header("content-encoding"), Some("aes128gcm"));
        serde_json::from_slice(&decrypt(&keys, &PRIVATE, &self.body).unwrap()).unwrap()
    }

    /// The claims of its token, which must be of this key.
    fn claims(&self, application_server_key: &str) -> Value {
        let (token, key) = self.header("authorization").unwrap().strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
        assert_eq!(key, application_server_key);
        let bytes = |text: &str| URL_SAFE_NO_PAD.decode(text).unwrap();
        let (signed, signature) = token.rsplit_once('.').unwrap();
        UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, bytes(key)).verify(signed.as_bytes(), &bytes(signature)).unwrap();
        let (header, claims) = signed.split_once('.').unwrap();
        let header: Value = serde_json::from_slice(&bytes(header)).unwrap();
        assert_eq!(header, json!({"typ": "JWT", "alg": "ES256"}));
        serde_json::from_slice(&bytes(claims)).unwrap()
    }
}

impl Phone {
    /// Subscribes to pushes and returns the gateway's key for them.
    pub(super) async fn subscribe(&self, service: &Service, pushes: &PushService) -> String {
        let key = self.get(service, SUBSCRIPTIONS).await.expect(200).json()["application_server_key"].as_str().unwrap().to_owned();
        let made = self.call(service, "POST", SUBSCRIPTIONS, pushes.subscription()).await.expect(201).json();
        assert_eq!((&made["push_service"], &made["this_device"]), (&json!(pushes.origin), &json!(true)));
        assert!(!made.to_string().contains("/p/1"), "the rest of the endpoint is a secret of the device");
        key
    }

    async fn unread(&self, service: &Service) -> u64 {
        self.get(service, NOTIFICATIONS).await.expect(200).json()["unread_count"].as_u64().unwrap()
    }

    /// The inbox, once it has so many notifications.
    async fn inbox(&self, service: &Service, count: usize) -> Vec<Value> {
        loop {
            let data = self.get(service, NOTIFICATIONS).await.expect(200).json()["data"].as_array().unwrap().clone();
            if data.len() >= count {
                return data;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

async fn pay(service: &Service, user: &str, reference: &str, amount: u32) -> Value {
    let body = json!({"amount": amount, "currency": "EUR", "to": "sim:ok", "reference": reference, "user": user});
    service.post(SETTLEMENTS, &body).await.expect(201).json()
}

#[tokio::test]
async fn an_app_subscribes_and_is_told_of_a_payment_in_its_language() {
    let service = service().await;
    let (ada, pushes) = (phone(&service, 41, "ada").await, PushService::start().await);
    let key = ada.subscribe(&service, &pushes).await;
    ada.call(&service, "PUT", PREFERENCES, json!({"detail": "full", "locale": "ar-EG"})).await.expect(200);
    let waiting = pay(&service, "ada", "rent", 250).await;
    let first = pushes.seen(1).await.remove(0);
    let claims = first.claims(&key);
    assert_eq!((&claims["aud"], claims["exp"].as_i64()), (&json!(pushes.origin), Some(service.env.now() / 1_000 + 12 * 3_600)));
    assert_eq!((first.header("urgency"), first.header("ttl")), (Some("high"), Some("3600")), "as long as the payment waits");
    let told = first.read();
    assert_eq!((&told["lang"], &told["dir"]), (&json!("ar"), &json!("rtl")));
    assert!(told["body"].as_str().unwrap().contains("٢٥٠٫٠٠"), "{told}");
    assert_eq!(told["data"]["settlement_id"], waiting["id"]);

    let shown = json!({"amount": 250, "currency": "EUR", "to": "sim:ok", "reference": "rent"});
    let path = format!("/api/v1/mobile/approvals/{}", waiting["id"].as_str().unwrap());
    ada.call(&service, "POST", &path, json!({"decision": "approve", "shown": shown})).await.expect(200);
    let second = pushes.seen(2).await.remove(1);
    assert_eq!(second.read()["data"]["kind"], "payment.completed");
    assert_eq!(second.header("topic"), first.header("topic"), "a device that was away hears of the payment once");
    assert_eq!((second.header("urgency"), second.header("ttl")), (Some("normal"), Some("259200")));
    assert_eq!(second.read()["tag"], json!(second.header("topic").unwrap()));
    let inbox = ada.inbox(&service, 3).await;
    assert_eq!(inbox[0]["id"], second.read()["data"]["id"]);
    service.running.stop().await;
}

#[tokio::test]
async fn a_push_service_in_trouble_is_asked_again_and_an_ended_subscription_is_removed() {
    let store = Arc::new(MemoryStore::new());
    let service = service_with(store.clone(), |_| {}).await;
    let (ada, pushes) = (phone(&service, 41, "ada").await, PushService::start().await);
    pushes.answer(&["429 Too Many Requests\r\nRetry-After: 60", "503 Service Unavailable", "201 Created", "410 Gone"]);
    ada.subscribe(&service, &pushes).await;
    pay(&service, "ada", "p-1", 10).await;
    let first = pushes.seen(1).await.remove(0);
    // The clock stands until the answer is on record: no lease ends, and so nothing is sent twice.
    let after = async |tries: u16| loop {
        let deliveries: Vec<DeliveryRecord> = typed_all(store.scan(&Scan::all(RecordKind::Delivery, 9)).unwrap()).unwrap();
        let [delivery] = deliveries.as_slice() else { panic!("{deliveries:?}") };
        if delivery.attempts == tries {
            return service.env.advance_to(delivery.due.unwrap());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    after(1).await;
    pushes.seen(2).await;
    after(2).await;
    let seen = pushes.seen(3).await;
    assert_eq!((seen[1].read(), seen[2].read()), (first.read(), first.read()));
    assert_ne!(seen[1].body, first.body, "each try is encrypted anew");
    assert!(seen[2].header("ttl").unwrap().parse::<u32>().unwrap() < 259_200, "it is of use no longer than before");
    pay(&service, "ada", "p-2", 10).await;
    pushes.seen(4).await;
    while !ada.get(&service, SUBSCRIPTIONS).await.expect(200).json()["data"].as_array().unwrap().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    service.running.stop().await;
}

#[tokio::test]
async fn an_inbox_is_read_marked_and_shown_in_the_language_of_the_device() {
    let service = service().await;
    let (ada, bob) = (phone(&service, 41, "ada").await, phone(&service, 42, "bob").await);
    pay(&service, "ada", "p-1", 10).await;
    let inbox = ada.inbox(&service, 2).await;
    let paid = &inbox[0];
    assert_eq!((&paid["kind"], &paid["title"]), (&json!("payment.completed"), &json!("Your payment has arrived")));
    assert_eq!((&paid["amount"], &paid["currency"], &paid["read_at"]), (&json!("10.00"), &json!("EUR"), &Value::Null));
    let request =
        Request::get(NOTIFICATIONS).header("authorization", format!("Bearer {}", ada.token)).header("accept-language", "fr, ar;q=0.5");
    let arabic = service.exchange(service.sign(request.body(Body::empty()).unwrap(), &*ada.key).await).await.expect(200).json();
    assert_eq!(arabic["data"][0]["lang"], "ar");

    let read = format!("{NOTIFICATIONS}/{}/read", paid["id"].as_str().unwrap());
    bob.call(&service, "POST", &read, json!({})).await.problem(404, "notification_not_found");
    assert_eq!(ada.call(&service, "POST", &read, json!({})).await.expect(200).json(), json!({"unread_count": 1}));
    let unread = ada.get(&service, &format!("{NOTIFICATIONS}?unread=true")).await.expect(200).json();
    assert_eq!((unread["data"].as_array().unwrap().len(), &unread["data"][0]["kind"]), (1, &json!("device.enrolled")));
    let all = format!("{NOTIFICATIONS}/read-all");
    assert_eq!(ada.call(&service, "POST", &all, json!({})).await.expect(200).json(), json!({"unread_count": 0}));
    assert_eq!((ada.unread(&service).await, bob.unread(&service).await), (0, 1));
    let page = ada.get(&service, &format!("{NOTIFICATIONS}?limit=1")).await.expect(200).json();
    let next =
        ada.get(&service, &format!("{NOTIFICATIONS}?limit=1&cursor={}", page["next_cursor"].as_str().unwrap())).await.expect(200).json();
    assert_eq!((&next["data"][0]["kind"], &next["has_more"]), (&json!("device.enrolled"), &json!(false)));
    ada.get(&service, &format!("{NOTIFICATIONS}?unread=maybe")).await.problem(422, "invalid_fields");
    service.running.stop().await;
}

/// Reads a stream until it has this text.
async fn until(body: &mut Body, wanted: &str) -> String {
    let mut read = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&read).into_owned();
        if text.contains(wanted) {
            return text;
        }
        let frame = body.frame().await.expect("the stream goes on").unwrap();
        read.extend_from_slice(&frame.into_data().unwrap());
    }
}

#[tokio::test]
async fn a_stream_of_notifications_goes_on_where_it_broke() {
    let service = service().await;
    let ada = phone(&service, 41, "ada").await;
    let open = async |last: Option<&str>| {
        let mut request = Request::get(NOTIFICATIONS).header("authorization", format!("Bearer {}", ada.token));
        request = request.header("accept", "text/event-stream");
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let request = service.sign(request.body(Body::empty()).unwrap(), &*ada.key).await;
        service.running.front().answer(request).await.into_body()
    };
    let mut stream = open(None).await;
    until(&mut stream, "event: device.enrolled").await;
    pay(&service, "ada", "p-1", 10).await;
    let seen = until(&mut stream, "event: payment.completed").await;
    let last = seen.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap().to_owned();
    drop(stream);
    pay(&service, "ada", "p-2", 10).await;
    let rest = until(&mut open(Some(&last)).await, "\"p-2\"").await;
    assert!(!rest.contains("\"p-1\"") && !rest.contains("device.enrolled"), "{rest}");
    let wrong = Request::get(NOTIFICATIONS).header("authorization", format!("Bearer {}", ada.token)).header("last-event-id", "7");
    service.exchange(service.sign(wrong.body(Body::empty()).unwrap(), &*ada.key).await).await.problem(422, "invalid_fields");
    service.running.stop().await;
}

#[tokio::test]
async fn preferences_and_subscriptions_are_the_users_own() {
    let service = service().await;
    let (ada, bob, pushes) = (phone(&service, 41, "ada").await, phone(&service, 42, "bob").await, PushService::start().await);
    let wish =
        json!({"quiet_hours": {"from": "22:00", "to": "07:00", "time_zone": "Africa/Cairo"}, "kinds": {"payment.failed": {"push": false}}});
    let put = ada.call(&service, "PUT", PREFERENCES, wish.clone()).await.expect(200).json();
    assert_eq!(put, ada.get(&service, PREFERENCES).await.expect(200).json());
    assert_eq!((&put["quiet_hours"], &put["detail"]), (&wish["quiet_hours"], &json!("none")));
    assert_eq!(put["kinds"]["payment.failed"], json!({"inbox": true, "push": false}));
    assert_eq!(put["kinds"]["payment.completed"], json!({"inbox": true, "push": true}));
    assert_eq!(bob.get(&service, PREFERENCES).await.expect(200).json()["quiet_hours"], Value::Null);
    let wrong = ada.call(&service, "PUT", PREFERENCES, json!({"detail": "all"})).await.problem(422, "invalid_fields");
    assert_eq!(wrong["errors"][0]["pointer"], "/detail");

    ada.subscribe(&service, &pushes).await;
    ada.subscribe(&service, &pushes).await;
    let mine = ada.get(&service, SUBSCRIPTIONS).await.expect(200).json()["data"].as_array().unwrap().clone();
    assert_eq!(mine.len(), 1);
    let path = format!("{SUBSCRIPTIONS}/{}", mine[0]["id"].as_str().unwrap());
    bob.call(&service, "DELETE", &path, Value::Null).await.problem(404, "push_subscription_not_found");
    ada.call(&service, "DELETE", &path, Value::Null).await.expect(204);
    ada.call(&service, "DELETE", &path, Value::Null).await.problem(404, "push_subscription_not_found");
    // A client is no user, and sees nothing of its users' devices.
    service.get(NOTIFICATIONS).await.problem(403, "insufficient_scope");
    let webhooks = service.get("/api/v1/webhooks").await.expect(200).json();
    assert_eq!(webhooks["data"], json!([]));
    service.running.stop().await;
}
