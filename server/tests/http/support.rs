//! A service in this process over a memory store, and a client for it.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt as _;
use hyper::{HeaderMap, Request, StatusCode};
use railgate::env::ManualEnv;
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate_server::{Hosted, Running, start_with};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// 2026-11-21T10:38:17.042Z.
pub(crate) const NOW: i64 = 1_795_257_497_042;
pub(crate) const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

pub(crate) struct Service {
    pub(crate) running: Running,
    pub(crate) env: Arc<ManualEnv>,
    pub(crate) token: String,
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

    /// The answer, which must have this status.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// The answer, which must be this problem.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Value {
        let answer = self.expect(status);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"));
        let problem = answer.json();
        assert_eq!(problem["code"], code, "{problem:#}");
        assert_eq!(problem["status"], status);
        assert_eq!(problem["type"], format!("https://railgate.dev/problems/{code}"));
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
    let env = Arc::new(ManualEnv::new(NOW, 42));
    let mut hosted = Hosted::over(store);
    hosted.env = env.clone();
    // The clock stands still: only looking shows what became due when a test moved it.
    hosted.worker.look_every = Duration::from_millis(20);
    adjust(&mut hosted);
    let loopback = "127.0.0.1:0".parse().unwrap();
    let running = start_with(hosted, loopback, Some(loopback), None).await.unwrap();
    let mut service = Service { running, env, token: String::new() };
    service.token = service.enroll("Corner shop").await;
    service
}

impl Service {
    pub(crate) async fn enroll(&self, name: &str) -> String {
        let request = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json");
        let answer = self.send(request.body(Body::from(json!({"client_name": name}).to_string())).unwrap()).await.expect(201);
        answer.json()["access_token"].as_str().unwrap().to_owned()
    }

    /// Sends a request as it is.
    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
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

    /// A settlement that has come to its end.
    pub(crate) async fn settled(&self, reference: &str, to: &str) -> Value {
        let body = json!({"amount": 100, "currency": "EUR", "to": to, "reference": reference}).to_string();
        let request = self.request("POST", SETTLEMENTS).header("content-type", "application/json").header("prefer", "wait=10");
        self.send(request.body(Body::from(body)).unwrap()).await.expect(201).json()
    }

    pub(crate) async fn status(&self, reference: &str) -> String {
        let answer = self.get(&format!("{SETTLEMENTS}/{reference}/status")).await.expect(200);
        answer.json()["status"].as_str().unwrap().to_owned()
    }

    /// Waits until the worker brought a settlement to `status`.
    pub(crate) async fn until(&self, reference: &str, status: &str) {
        for _ in 0..500 {
            if self.status(reference).await == status {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{reference} is {} and not {status}", self.status(reference).await);
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
        let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await.expect("no end");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

/// Reads from a stream until `found` says that there is enough.
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
    tokio::time::timeout(Duration::from_secs(10), reading).await.expect("not in time");
    text
}
