//! A service in this process over a memory store, with a client for it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use hyper::{HeaderMap, Request, StatusCode};
use railgate::auth::{Outgoing, Signer, SoftwareKey, Stamp, TAG, TAG_NEW_KEY, sign_request};
use railgate::env::{Env as _, ManualEnv};
use railgate::seal::MasterKeys;
use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::memory::MemoryStore;
use railgate::store::{Store, StoreError};
use railgate_server::{Hosted, Running, start_with};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Anything that takes longer hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// 2026-11-21T10:38:17.042Z.
pub(crate) const NOW: i64 = 1_795_257_497_042;
pub(crate) const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

pub(crate) struct Service {
    pub(crate) running: Running,
    pub(crate) env: Arc<ManualEnv>,
    pub(crate) token: String,
    /// The keys by the tokens that they requested.
    pub(crate) keys: Mutex<HashMap<String, Arc<SoftwareKey>>>,
    challenge: Mutex<(String, i64)>,
    nonces: AtomicU64,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Asserts that the response has this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// Asserts that the response is this problem.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Value {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        let problem = answer.json();
        assert_eq!(problem["code"], code, "{problem:#}");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], format!("/docs/problems/{code}"));
        for field in ["title", "detail", "instance", "category", "request_id"] {
            assert!(problem[field].is_string(), "{field} in {problem:#}");
        }
        assert!(problem["retryable"].is_boolean());
        assert_eq!(problem["request_id"], answer.header("x-request-id").unwrap());
        problem
    }
}

/// A service with one enrolled client.
pub(crate) async fn service() -> Service {
    service_with(Arc::new(MemoryStore::new()), |_| {}).await
}

pub(crate) async fn service_with(store: Arc<dyn Store>, adjust: impl FnOnce(&mut Hosted)) -> Service {
    let mut service = service_without_client(store, adjust).await;
    service.token = service.enroll("Corner shop").await;
    service
}

pub(crate) async fn service_without_client(store: Arc<dyn Store>, adjust: impl FnOnce(&mut Hosted)) -> Service {
    service_at(store, Arc::new(ManualEnv::new(NOW, 42)), adjust).await
}

/// A service with a clock and a seed of the test's choice.
pub(crate) async fn service_at(store: Arc<dyn Store>, env: Arc<ManualEnv>, adjust: impl FnOnce(&mut Hosted)) -> Service {
    let mut hosted = Hosted::over(store);
    hosted.env = env.clone();
    // The clock stands still: only polling shows what became due when a test moved it.
    hosted.worker.look_every = Duration::from_millis(20);
    hosted.deliver.look_every = Duration::from_millis(20);
    hosted.engine.master = MasterKeys::new(vec![(1, [9; 32])]).map(Arc::new);
    adjust(&mut hosted);
    let loopback = "127.0.0.1:0".parse().unwrap();
    let running = start_with(hosted, loopback, Some(loopback)).await.unwrap();
    Service { running, env, token: String::new(), keys: Mutex::default(), challenge: Mutex::default(), nonces: AtomicU64::new(1) }
}

impl Service {
    pub(crate) async fn enroll(&self, name: &str) -> String {
        // Different ones even if a test starts a second service with the same numbers.
        static KEYS: AtomicU64 = AtomicU64::new(1);
        let mut secret = [7u8; 32];
        secret[..8].copy_from_slice(&KEYS.fetch_add(1, Ordering::Relaxed).to_be_bytes());
        self.enroll_with(name, Arc::new(SoftwareKey::ed25519(&secret))).await
    }

    pub(crate) async fn enroll_with(&self, name: &str, key: Arc<SoftwareKey>) -> String {
        let jwk: Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
        let body = json!({"client_name": name, "jwk": jwk}).to_string();
        let request = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json");
        let request = request.body(Body::from(body)).unwrap();
        let answer = self.exchange(self.sign(request, &*key).await).await.expect(201);
        let token = answer.json()["access_token"].as_str().unwrap().to_owned();
        self.keys.lock().unwrap().insert(token.clone(), key);
        token
    }

    /// The key that requested a token; for an unknown token, that of the service's own token.
    pub(crate) fn key_of(&self, token: &str) -> Arc<SoftwareKey> {
        let keys = self.keys.lock().unwrap();
        Arc::clone(keys.get(token).or_else(|| keys.get(&self.token)).unwrap())
    }

    /// An unused nonce.
    pub(crate) async fn nonce(&self) -> String {
        let now = self.env.now();
        let (mut challenge, taken) = self.challenge.lock().unwrap().clone();
        if challenge.is_empty() || now - taken > 200_000 || now < taken {
            let request = Request::post("/api/v1/auth/challenges").body(Body::empty()).unwrap();
            challenge = self.exchange(request).await.expect(200).json()["challenge"].as_str().unwrap().to_owned();
            *self.challenge.lock().unwrap() = (challenge.clone(), now);
        }
        format!("{challenge}.{}", self.nonces.fetch_add(1, Ordering::Relaxed))
    }

    /// The request, signed by `key` and otherwise unchanged.
    pub(crate) async fn sign(&self, request: Request<Body>, key: &dyn Signer) -> Request<Body> {
        let nonce = self.nonce().await;
        let (mut parts, body) = request.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let fields: Vec<(&str, &[u8])> = parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let target_uri = format!("{}{}", self.running.base_url(), parts.uri.path_and_query().unwrap());
        let outgoing = Outgoing { method: parts.method.as_str(), target_uri: &target_uri, fields: &fields, body: &body };
        let stamp = Stamp { created: self.env.now() / 1_000, nonce: &nonce, tag: TAG, label: "sig1" };
        let signed = sign_request(key, &outgoing, &stamp).unwrap();
        let mut add = |name: &'static str, value: &str| drop(parts.headers.insert(name, value.parse().unwrap()));
        if let Some(digest) = &signed.content_digest {
            add("content-digest", digest);
        }
        add("signature-input", &signed.signature_input);
        add("signature", &signed.signature);
        Request::from_parts(parts, Body::from(body))
    }

    /// An unused nonce for a live key.
    pub(crate) async fn live_nonce(&self) -> String {
        let ask = Request::post("/api/v1/auth/challenges").header("content-type", "application/json");
        let ask = ask.body(Body::from(r#"{"environment":"live"}"#)).unwrap();
        self.exchange(ask).await.expect(200).json()["challenge"].as_str().unwrap().to_owned()
    }

    /// Asks for live access of the service's client with this key.
    pub(crate) async fn ask_live(&self, key: &SoftwareKey) -> Answer {
        let jwk: Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
        let body = json!({"jwk": jwk, "environment": "live"}).to_string();
        let request = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json").body(Body::from(body)).unwrap();
        let request = self.sign(request, &*self.key_of(&self.token)).await;
        self.exchange(sign_as(self, request, key, self.env.now() / 1_000, &self.nonce().await, TAG_NEW_KEY).await).await
    }

    /// Asks for a token of a live key.
    pub(crate) async fn live_token(&self, key: &dyn Signer) -> Answer {
        let request = Request::post("/api/v1/auth/tokens").body(Body::empty()).unwrap();
        self.exchange(sign_as(self, request, key, self.env.now() / 1_000, &self.live_nonce().await, TAG).await).await
    }

    /// The head of a signed request as it is sent, with the service's token, up to the empty line. `more` contains complete
    /// header lines.
    pub(crate) async fn head(&self, method: &str, path: &str, more: &str, body: &[u8]) -> String {
        let mut request = self.request(method, path);
        for line in more.lines() {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        head_of(&self.sign(request.body(Body::from(body.to_vec())).unwrap(), &*self.key_of(&self.token)).await)
    }

    /// Sends a request. Unless it is signed already, one with a token is signed by the key that requested the token.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let bearer = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let token = bearer.and_then(|value| value.split_once(' ')).map(|(_, token)| token.to_owned());
        match token.filter(|_| !request.headers().contains_key("signature")) {
            Some(token) => self.exchange(self.sign(request, &*self.key_of(&token)).await).await,
            None => self.exchange(request).await,
        }
    }

    /// Sends a request unchanged.
    pub(crate) async fn exchange(&self, request: Request<Body>) -> Answer {
        let (parts, body) = self.running.front().answer(request).await.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> hyper::http::request::Builder {
        Request::builder().method(method).uri(path).header("authorization", format!("Bearer {}", self.token))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request("GET", path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, body.to_string()).await
    }

    pub(crate) async fn post_text(&self, path: &str, body: impl Into<Body>) -> Answer {
        self.send(self.request("POST", path).header("content-type", "application/json").body(body.into()).unwrap()).await
    }

    /// A settlement that has become final.
    pub(crate) async fn settled(&self, reference: &str, to: &str) -> Value {
        let body = json!({"amount": 100, "currency": "EUR", "to": to, "reference": reference}).to_string();
        let request = self.request("POST", SETTLEMENTS).header("content-type", "application/json").header("prefer", "wait=10");
        let made = self.send(request.body(Body::from(body)).unwrap()).await.expect(201).json();
        if ["accepted", "submitted", "unknown"].iter().all(|open| made["status"] != *open) {
            return made;
        }
        while self.get(&format!("{SETTLEMENTS}/{reference}/status?wait=10")).await.expect(200).json()["final"] != true {}
        self.get(&format!("{SETTLEMENTS}/{reference}")).await.expect(200).json()
    }

    pub(crate) async fn status(&self, reference: &str) -> String {
        let answer = self.get(&format!("{SETTLEMENTS}/{reference}/status")).await.expect(200);
        answer.json()["status"].as_str().unwrap().to_owned()
    }

    /// Waits until the worker has brought a settlement to `status`.
    pub(crate) async fn until(&self, reference: &str, status: &str) {
        let begun = Instant::now();
        loop {
            let found = self.status(reference).await;
            if found == status {
                return;
            }
            if begun.elapsed() > PATIENCE {
                let trace = self.get(&format!("{SETTLEMENTS}/{reference}/events")).await.json();
                panic!("{reference} is {found} and not {status}: {trace:#}");
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// The content of `/metrics`.
    pub(crate) async fn figures(&self) -> String {
        let mut stream = TcpStream::connect(self.running.metrics_address().unwrap()).await.unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        text
    }

    pub(crate) async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.running.address()).await.unwrap()
    }

    /// Writes bytes to a new connection and reads until the server closes it.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect().await;
        // The server may stop reading before everything is written.
        let _ = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        let _ = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await.expect("no end");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Signs a request with a nonce, a time and a tag of the test's choice.
pub(crate) async fn sign_as(
    service: &Service,
    request: Request<Body>,
    key: &dyn Signer,
    created: i64,
    nonce: &str,
    tag: &str,
) -> Request<Body> {
    let (mut parts, body) = request.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let target_uri = format!("{}{}", service.running.base_url(), parts.uri);
    let label = if tag == TAG { "sig1" } else { "sig2" };
    let signed = {
        let fields: Vec<(&str, &[u8])> = parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let outgoing = Outgoing { method: parts.method.as_str(), target_uri: &target_uri, fields: &fields, body: &body };
        sign_request(key, &outgoing, &Stamp { created, nonce, tag, label }).unwrap()
    };
    let join = |name: &str, more: &str| match parts.headers.get(name) {
        Some(there) => format!("{}, {more}", there.to_str().unwrap()),
        None => more.to_owned(),
    };
    let (input, signature) = (join("signature-input", &signed.signature_input), join("signature", &signed.signature));
    if let Some(digest) = signed.content_digest {
        parts.headers.insert("content-digest", digest.parse().unwrap());
    }
    parts.headers.insert("signature-input", input.parse().unwrap());
    parts.headers.insert("signature", signature.parse().unwrap());
    Request::from_parts(parts, Body::from(body))
}

/// A call with a live key and its token.
pub(crate) async fn live_call(service: &Service, by: (&SoftwareKey, &str), method: &str, path: &str, body: &str) -> Answer {
    live_with(service, by, None, (method, path), body).await
}

/// The same, with another header.
pub(crate) async fn live_with(
    service: &Service,
    (key, token): (&SoftwareKey, &str),
    header: Option<(&str, &str)>,
    (method, path): (&str, &str),
    body: &str,
) -> Answer {
    let mut request = Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"));
    if let Some((name, value)) = header {
        request = request.header(name, value);
    }
    if !body.is_empty() {
        request = request.header("content-type", "application/json");
    }
    let request = request.body(Body::from(body.to_owned())).unwrap();
    service.exchange(sign_as(service, request, key, service.env.now() / 1_000, &service.live_nonce().await, TAG).await).await
}

/// A request without its body, as it is sent.
pub(crate) fn head_of(request: &Request<Body>) -> String {
    let mut head = format!("{} {} HTTP/1.1\r\nHost: x\r\n", request.method(), request.uri());
    for (name, value) in request.headers() {
        head.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
    }
    head + "\r\n"
}

/// Reads from a stream until `found` returns true.
pub(crate) async fn read_until(stream: &mut TcpStream, found: impl Fn(&str) -> bool) -> String {
    let mut text = String::new();
    let mut buffer = [0; 4096];
    let reading = async {
        while !found(&text) {
            match stream.read(&mut buffer).await.unwrap() {
                0 => panic!("the stream ended: {text}"),
                n => text.push_str(std::str::from_utf8(&buffer[..n]).unwrap()),
            }
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.expect("not in time");
    text
}

/// A slow disk: a commit takes as long as configured.
pub(crate) type Slow = Hooked<Disk>;

/// See [`Slow`].
#[derive(Default)]
pub(crate) struct Disk {
    held: Mutex<bool>,
    freed: Condvar,
}

impl Disk {
    pub(crate) fn hold(&self, held: bool) {
        *self.held.lock().unwrap() = held;
        self.freed.notify_all();
    }
}

impl Hooks for Disk {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        if let Call::Commit(_) = call {
            drop(self.freed.wait_while(self.held.lock().unwrap(), |held| *held).unwrap());
        }
        Ok(())
    }
}
