//! A partner's sandbox endpoint: an adapter in this process, which may be wrong in one way.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post, put};
use railgate::webhook::{WebhookSecret, sign};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

pub(crate) const TOKEN: &str = "let-me-in";
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// It pays again what it is sent again.
    PaysTwice,
    /// It does not know any more what it paid.
    Forgets,
    /// It never answers a payment.
    Late,
    /// It signs callbacks with another secret.
    WrongSignature,
    /// It takes another payment under the same key.
    TakesAnother,
}

type Answered = (StatusCode, axum::Json<Value>);

struct Kept {
    asked: Value,
    answer: Value,
    /// How much was given back, in minor units.
    back: i64,
}

#[derive(Default)]
struct Books {
    kept: HashMap<String, Kept>,
    count: u32,
}

struct Partner {
    /// When it was first and last asked to pay.
    asked: Mutex<Option<[Instant; 2]>>,
    fault: Mutex<Fault>,
    now_s: i64,
    books: Mutex<Books>,
}

/// A running endpoint.
pub(crate) struct Running {
    pub(crate) url: String,
    partner: Arc<Partner>,
}

impl Running {
    pub(crate) async fn start(fault: Fault, now_ms: i64) -> Self {
        let listener = tokio::net::TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let partner =
            Arc::new(Partner { asked: Mutex::default(), fault: Mutex::new(fault), now_s: now_ms / 1_000, books: Mutex::default() });
        let router = Router::new()
            .route("/railgate/v1/health", get(async || axum::Json(json!({"status": "up"}))))
            .route("/railgate/v1/payees", post(payees))
            .route("/railgate/v1/payments/{key}", put(pay).get(paid))
            .route("/railgate/v1/payments/{key}/reversals/{back}", put(give_back).get(given_back))
            .with_state(Arc::clone(&partner));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, partner }
    }

    /// How many payments it made.
    pub(crate) fn paid(&self) -> u32 {
        self.partner.books.lock().unwrap().count
    }

    /// When it was first and last asked to pay.
    pub(crate) fn asked(&self) -> [Instant; 2] {
        self.partner.asked.lock().unwrap().unwrap()
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.partner.fault.lock().unwrap() = fault;
    }
}

async fn payees(body: Bytes) -> axum::Json<Value> {
    let asked: Value = serde_json::from_slice(&body).unwrap();
    let unknown = asked["to"].as_str().unwrap().ends_with("404");
    axum::Json(json!({"match": if unknown { "no_match" } else { "match" }, "display_name": "J*** D***"}))
}

fn refused() -> Answered {
    (StatusCode::UNAUTHORIZED, axum::Json(json!({})))
}

fn is_gateway(headers: &HeaderMap) -> bool {
    headers.get("authorization").is_some_and(|it| it.to_str().unwrap() == format!("Bearer {TOKEN}"))
}

/// What was asked for, but for where to report.
fn asked(body: &Bytes) -> (Value, Option<String>) {
    let mut asked: Value = serde_json::from_slice(body).unwrap();
    let callback = asked.as_object_mut().unwrap().remove("callback_url");
    (asked, callback.and_then(|url| Some(url.as_str()?.to_owned())))
}

async fn pay(State(partner): State<Arc<Partner>>, Path(key): Path<String>, headers: HeaderMap, body: Bytes) -> Answered {
    let now = Instant::now();
    partner.asked.lock().unwrap().get_or_insert([now; 2])[1] = now;
    if !is_gateway(&headers) {
        return refused();
    }
    let fault = *partner.fault.lock().unwrap();
    if fault == Fault::Late {
        std::future::pending::<()>().await;
    }
    let (asked, callback) = asked(&body);
    let mut books = partner.books.lock().unwrap();
    if let Some(kept) = books.kept.get(&key)
        && fault != Fault::PaysTwice
    {
        return match kept.asked == asked || fault == Fault::TakesAnother {
            true => (StatusCode::OK, axum::Json(kept.answer.clone())),
            false => (StatusCode::CONFLICT, axum::Json(json!({}))),
        };
    }
    books.count += 1;
    let to = asked["to"].as_str().unwrap();
    let status = if to.ends_with("404") {
        "declined"
    } else if to.ends_with("202") {
        "accepted"
    } else {
        "completed"
    };
    let mut answer = json!({"payment": key, "status": status, "amount": asked["amount"], "currency": asked["currency"]});
    if status == "completed" {
        answer["rail_reference"] = json!(format!("P-{}", books.count));
    }
    let said = answer.clone();
    if status == "accepted" {
        answer["status"] = json!("completed");
        tokio::spawn(report(Arc::clone(&partner), callback.unwrap(), answer.clone()));
    }
    books.kept.insert(key, Kept { asked, answer, back: 0 });
    (StatusCode::OK, axum::Json(said))
}

async fn report(partner: Arc<Partner>, url: String, answer: Value) {
    let wrong = *partner.fault.lock().unwrap() == Fault::WrongSignature;
    let secret = if wrong { "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" } else { SECRET };
    let body = answer.to_string();
    let signature = sign(&[WebhookSecret::parse(secret).unwrap()], "cb_1", partner.now_s, body.as_bytes());
    let (host, path) = url.strip_prefix("http://").and_then(|rest| rest.split_once('/')).unwrap();
    let request = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Webhook-Id: cb_1\r\nWebhook-Timestamp: {}\r\nWebhook-Signature: {signature}\r\n\r\n{body}",
        body.len(),
        partner.now_s
    );
    let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
}

async fn paid(State(partner): State<Arc<Partner>>, Path(key): Path<String>, headers: HeaderMap) -> Answered {
    if !is_gateway(&headers) {
        return refused();
    }
    let books = partner.books.lock().unwrap();
    let kept = books.kept.get(&key).filter(|_| *partner.fault.lock().unwrap() != Fault::Forgets);
    match kept {
        Some(kept) => (StatusCode::OK, axum::Json(kept.answer.clone())),
        None => (StatusCode::NOT_FOUND, axum::Json(json!({"authoritative": true}))),
    }
}

/// An amount in minor units.
fn amount(value: &Value) -> i64 {
    value["amount"].as_str().unwrap().replace('.', "").parse().unwrap()
}

async fn give_back(
    State(partner): State<Arc<Partner>>,
    Path((key, back)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> Answered {
    if !is_gateway(&headers) {
        return refused();
    }
    let (asked, _) = asked(&body);
    let mut books = partner.books.lock().unwrap();
    if let Some(kept) = books.kept.get(&back) {
        let same = kept.asked == asked;
        return if same { (StatusCode::OK, axum::Json(kept.answer.clone())) } else { (StatusCode::CONFLICT, axum::Json(json!({}))) };
    }
    let has = books.kept.get_mut(&key).filter(|paid| amount(&paid.asked) - paid.back >= amount(&asked));
    let status = match has {
        Some(paid) => {
            paid.back += amount(&asked);
            "completed"
        }
        None => "declined",
    };
    let answer = json!({"payment": key, "reversal": back, "status": status, "amount": asked["amount"], "currency": asked["currency"]});
    books.kept.insert(back, Kept { asked, answer: answer.clone(), back: 0 });
    (StatusCode::OK, axum::Json(answer))
}

async fn given_back(State(partner): State<Arc<Partner>>, Path((_, back)): Path<(String, String)>, headers: HeaderMap) -> Answered {
    if !is_gateway(&headers) {
        return refused();
    }
    match partner.books.lock().unwrap().kept.get(&back) {
        Some(kept) => (StatusCode::OK, axum::Json(kept.answer.clone())),
        None => (StatusCode::NOT_FOUND, axum::Json(json!({"authoritative": true}))),
    }
}
