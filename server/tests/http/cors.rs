//! CORS: allowed origins may call and read, others may not, and by default there is none.

use std::sync::Arc;

use axum::body::Body;
use hyper::Request;
use hyper::header::HeaderValue;
use railgate::store::memory::MemoryStore;
use serde_json::json;

use super::support::{Answer, SETTLEMENTS, Service, service, service_with};

const SHOP: &str = "https://shop.example.com";

async fn with_origins() -> Service {
    let origins = vec![HeaderValue::from_static(SHOP), HeaderValue::from_static("http://localhost:5173")];
    service_with(Arc::new(MemoryStore::new()), |hosted| hosted.edge.cors_origins = origins).await
}

async fn preflight(service: &Service, path: &str, origin: &str) -> Answer {
    let request = Request::options(path)
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "authorization,content-digest,content-type,signature,signature-input");
    service.send(request.body(Body::empty()).unwrap()).await
}

async fn get(service: &Service, path: &str, origin: &str) -> Answer {
    service.send(service.request("GET", path).header("origin", origin).body(Body::empty()).unwrap()).await
}

fn list(answer: &Answer, name: &str) -> Vec<String> {
    answer.header(name).unwrap_or_default().split(',').map(|part| part.trim().to_ascii_lowercase()).collect()
}

#[tokio::test]
async fn a_preflight_is_answered_before_anything_else() {
    let service = with_origins().await;
    for path in [SETTLEMENTS, "/nowhere"] {
        let answer = preflight(&service, path, SHOP).await.expect(200);
        assert_eq!(answer.header("access-control-allow-origin"), Some(SHOP));
        assert_eq!(list(&answer, "access-control-allow-methods"), ["get", "post", "put", "patch", "delete"]);
        let sent = list(&answer, "access-control-allow-headers");
        let all = ["authorization", "content-type", "content-digest", "signature", "signature-input", "idempotency-key", "prefer"];
        for name in all.into_iter().chain(["if-match", "if-none-match", "last-event-id", "x-request-id", "traceparent", "tracestate"]) {
            assert!(sent.contains(&name.to_owned()), "{name} is not in {sent:?}");
        }
        assert_eq!(answer.header("access-control-max-age"), Some("600"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert!(list(&answer, "vary").contains(&"origin".to_owned()));
        assert!(answer.body.is_empty());
    }
    // Neither a route nor a caller was looked up.
    let figures = service.running.metrics().encode();
    assert!(!figures.contains("OPTIONS"), "{figures}");
}

#[tokio::test]
async fn every_answer_says_who_may_read_it() {
    let service = with_origins().await;
    let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "r-1"}).to_string();
    let create = service.request("POST", SETTLEMENTS).header("content-type", "application/json").header("origin", SHOP);
    let created = service.send(create.body(Body::from(body)).unwrap()).await.expect(201);
    let nowhere = get(&service, "/nowhere", SHOP).await.expect(404);
    let unknown = get(&service, &format!("{SETTLEMENTS}/nobody"), SHOP).await.expect(404);
    let anonymous = Request::get(SETTLEMENTS).header("origin", SHOP).body(Body::empty()).unwrap();
    let denied = service.send(anonymous).await.expect(401);
    for answer in [&created, &nowhere, &unknown, &denied] {
        assert_eq!(answer.header("access-control-allow-origin"), Some(SHOP));
        let readable = list(answer, "access-control-expose-headers");
        let all = ["signature-challenge", "www-authenticate", "accept-signature", "location", "etag", "link", "retry-after"];
        let more = ["date", "ratelimit", "ratelimit-policy", "idempotent-replayed", "x-request-id", "deprecation", "sunset"];
        for name in all.into_iter().chain(more) {
            assert!(readable.contains(&name.to_owned()), "{name} is not in {readable:?}");
        }
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        assert!(answer.header("x-request-id").is_some());
    }
    denied.problem(401, "token_missing");
}

#[tokio::test]
async fn other_origins_are_not_let_in() {
    let service = with_origins().await;
    for other in
        ["https://evil.example.com", "http://shop.example.com", "https://shop.example.com:8443", "https://shop.example.com.evil", "null"]
    {
        assert_eq!(preflight(&service, SETTLEMENTS, other).await.header("access-control-allow-origin"), None, "{other}");
        let answer = get(&service, "/api/v1/balances", other).await;
        assert_eq!(answer.header("access-control-allow-origin"), None, "{other}");
    }
    let second = get(&service, "/api/v1/balances", "http://localhost:5173").await.expect(200);
    assert_eq!(second.header("access-control-allow-origin"), Some("http://localhost:5173"));
}

#[tokio::test]
async fn options_that_no_browser_asks_is_routed_like_any_other() {
    let service = with_origins().await;
    let plain = service.request("OPTIONS", SETTLEMENTS).body(Body::empty()).unwrap();
    service.send(plain).await.problem(405, "method_not_allowed");
}

#[tokio::test]
async fn by_default_there_is_none_of_it() {
    let service = service().await;
    preflight(&service, SETTLEMENTS, SHOP).await.problem(405, "method_not_allowed");
    let answer = get(&service, "/api/v1/balances", SHOP).await.expect(200);
    assert!(!answer.headers.keys().any(|name| name.as_str().starts_with("access-control") || name == "vary"), "{:?}", answer.headers);
}
