//! Rate limits: of clients by their own quota, of failures and enrolments by address.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use axum::body::Body;
use hyper::Request;
use railgate::auth::{Signer as _, SoftwareKey};
use railgate::engine::{Enrollment, Invite, Operated};
use railgate::store::memory::MemoryStore;
use railgate::store::record::RecordKind;
use railgate::store::{Scan, Store as _};
use railgate_server::RateLimits;
use railgate_server::gateway::Tenant;
use serde_json::json;

use super::support::{Answer, NOW, SETTLEMENTS, Service, service_with, service_without_client};

async fn limited() -> Service {
    let rates = RateLimits { reads_per_minute: 3, writes_per_minute: 2 };
    service_with(Arc::new(MemoryStore::new()), |hosted| hosted.edge.rate = Some(rates)).await
}

#[tokio::test]
async fn a_client_is_told_its_quota_and_when_to_come_back() {
    let service = limited().await;
    let first = service.get("/api/v1/balances").await.expect(200);
    assert_eq!(first.header("ratelimit-policy"), Some("\"reads\";q=3;w=60;per=\"node\""));
    assert_eq!(first.header("ratelimit"), Some("\"reads\";r=2;t=20"));
    service.get("/api/v1/balances").await.expect(200);
    service.get("/api/v1/balances").await.expect(200);
    let refused = service.get("/api/v1/balances").await;
    assert_eq!(refused.header("retry-after"), Some("20"));
    assert_eq!(refused.header("ratelimit"), Some("\"reads\";r=0;t=60"));
    let problem = refused.problem(429, "rate_limited");
    assert_eq!(problem["retryable"], true);
    // Writes have their own quota, and so have other clients.
    let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "w-1"});
    let written = service.post(SETTLEMENTS, &body).await.expect(201);
    assert_eq!(written.header("ratelimit-policy"), Some("\"writes\";q=2;w=60;per=\"node\""));
    let other = service.enroll("Other").await;
    let request = Request::get("/api/v1/balances").header("authorization", format!("Bearer {other}")).body(Body::empty()).unwrap();
    service.send(request).await.expect(200);
    // A refused call was not carried out, and is later.
    service.post(SETTLEMENTS, &json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "w-2"})).await.expect(201);
    let third = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "w-3"});
    service.post(SETTLEMENTS, &third).await.problem(429, "rate_limited");
    service.env.advance_to(NOW + 30_000);
    let done = service.post(SETTLEMENTS, &third).await.expect(201);
    assert_eq!(done.header("idempotent-replayed"), None);
}

#[tokio::test]
async fn a_call_beyond_the_quota_leaves_nothing_behind() {
    let service = limited().await;
    let key = service.key_of(&service.token);
    let read = async || service.sign(service.request("GET", SETTLEMENTS).body(Body::empty()).unwrap(), &*key).await;
    for _ in 0..3 {
        service.exchange(read().await).await.expect(200);
    }
    let (head, _) = read().await.into_parts();
    let again = || Request::from_parts(head.clone(), Body::empty());
    service.exchange(again()).await.problem(429, "rate_limited");
    // Its nonce was not remembered: a minute later, the same call is answered, once.
    service.env.advance_to(NOW + 60_000);
    service.exchange(again()).await.expect(200);
    service.exchange(again()).await.problem(401, "nonce_replayed");
}

#[tokio::test]
async fn each_element_of_a_batch_counts() {
    let rates = RateLimits { reads_per_minute: 10, writes_per_minute: 10 };
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| hosted.edge.rate = Some(rates)).await;
    let pay = |n: usize| json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("p-{n}")});
    let batch = |range: std::ops::Range<usize>| json!({"settlements": range.map(pay).collect::<Vec<_>>()});
    let url = format!("{SETTLEMENTS}/batch");
    let first = service.post(&url, &batch(0..4)).await.expect(200);
    assert_eq!(first.header("ratelimit"), Some("\"writes\";r=6;t=24"));
    // More than there is in a minute: allowed while half of it is left, and paid back before the next.
    let large = service.post(&url, &batch(4..24)).await.expect(200);
    assert_eq!(large.header("ratelimit"), Some("\"writes\";r=0;t=144"));
    service.post(SETTLEMENTS, &pay(99)).await.problem(429, "rate_limited");
    service.env.advance_to(NOW + 84_000);
    service.post(SETTLEMENTS, &pay(99)).await.problem(429, "rate_limited");
    service.env.advance_to(NOW + 90_000);
    service.post(SETTLEMENTS, &pay(99)).await.expect(201);
    // A batch that is refused did nothing.
    service.post(&url, &batch(100..105)).await.problem(429, "rate_limited");
    service.get(&format!("{SETTLEMENTS}/p-100")).await.problem(404, "settlement_not_found");
}

#[tokio::test]
async fn what_costs_more_counts_more() {
    let rates = RateLimits { reads_per_minute: 10, writes_per_minute: 60 };
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| hosted.edge.rate = Some(rates)).await;
    let post = async |path: &str, key: Option<&str>, body: serde_json::Value| {
        let request = service.request("POST", path).header("content-type", "application/json");
        let request = if let Some(key) = key { request.header("idempotency-key", key) } else { request };
        let answer = service.send(request.body(Body::from(body.to_string())).unwrap()).await.expect(200);
        let left = answer.header("ratelimit").unwrap().split_once("r=").unwrap().1.split(';').next().unwrap().parse::<u32>();
        left.unwrap()
    };
    let fund = |amount: u32| json!({"currency": "CHF", "amount": amount});
    assert_eq!(post("/api/v1/simulator/fund", None, fund(5)).await, 59);
    assert_eq!(post("/api/v1/simulator/fund", Some("k"), fund(5)).await, 57, "what is kept for a week counts twice");
    assert_eq!(post("/api/v1/simulator/reset", None, json!({})).await, 32, "a reset is as much work as 25 pages");
}

#[tokio::test]
async fn who_fails_often_hears_less_and_locks_nobody_out() {
    let service = limited().await;
    let wrong = || Request::get(SETTLEMENTS).header("authorization", "Bearer rg_sandbox_wrong").body(Body::empty()).unwrap();
    for _ in 0..60 {
        service.exchange(wrong()).await.problem(401, "token_invalid");
    }
    let refused = service.exchange(wrong()).await;
    assert!(refused.header("retry-after").is_some() && refused.header("accept-signature").is_none());
    refused.problem(429, "rate_limited");
    // The same address and the same client: a correct call gets through, whoever failed in its name.
    let mut forged = service.sign(service.request("GET", SETTLEMENTS).body(Body::empty()).unwrap(), &*service.key_of("")).await;
    *forged.uri_mut() = format!("{SETTLEMENTS}?limit=1").parse().unwrap();
    let problem = service.exchange(forged).await.problem(429, "rate_limited");
    assert!(problem.get("signature_base").is_none(), "it says that it does not tell why: {problem:#}");
    service.get(SETTLEMENTS).await.expect(200);
    // Nor is anyone refused because a token has merely expired.
    service.env.advance_to(NOW + 59_000);
    for _ in 0..61 {
        service.exchange(wrong()).await;
    }
    service.exchange(wrong()).await.problem(429, "rate_limited");
    service.env.advance_to(NOW + 900_000);
    for _ in 0..61 {
        service.exchange(wrong()).await;
    }
    service.get(SETTLEMENTS).await.problem(401, "token_expired");
}

/// A service without clients that admits strangers as told, and its store.
async fn admitting(enrollment: Enrollment, cap: u32) -> (Service, Arc<MemoryStore>) {
    let store = Arc::new(MemoryStore::new());
    let service = service_without_client(store.clone(), |hosted| {
        hosted.engine.enrollment = enrollment;
        hosted.engine.enrollment_cap = cap;
    });
    (service.await, store)
}

/// The answer to the enrolment of a key, with these members in its body.
async fn enrol(service: &Service, n: u8, more: serde_json::Value) -> Answer {
    let key = SoftwareKey::ed25519(&[n; 32]);
    let jwk: serde_json::Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
    let mut body = json!({"jwk": jwk, "client_name": "Many"});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let request = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json");
    service.exchange(service.sign(request.body(Body::from(body.to_string())).unwrap(), &key).await).await
}

#[tokio::test]
async fn strangers_enrol_as_far_as_the_settings_admit_them() {
    let (off, _) = admitting(Enrollment::Off, 9).await;
    enrol(&off, 1, json!({})).await.problem(403, "enrollment_closed");
    let unsigned = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json");
    let jwk: serde_json::Value = serde_json::from_str(&SoftwareKey::ed25519(&[1; 32]).public_key().jwk()).unwrap();
    let body = json!({"jwk": jwk, "client_name": "Many"}).to_string();
    off.exchange(unsigned.body(Body::from(body)).unwrap()).await.problem(403, "enrollment_closed");

    let (full, _) = admitting(Enrollment::Open, 2).await;
    enrol(&full, 1, json!({"invitation": "inv_unused"})).await.expect(201);
    enrol(&full, 2, json!({})).await.expect(201);
    enrol(&full, 3, json!({})).await.problem(403, "enrollment_full");

    let (invited, _) = admitting(Enrollment::Invited, 9).await;
    let code = invited.running.gateway().run(Tenant::GATEWAY, Operated(Invite { ttl_ms: 60_000 })).await.unwrap().code;
    enrol(&invited, 1, json!({})).await.problem(403, "invitation_invalid");
    enrol(&invited, 1, json!({"invitation": code})).await.expect(201);
    enrol(&invited, 2, json!({"invitation": code})).await.problem(403, "invitation_invalid");
}

#[tokio::test]
async fn a_name_that_is_too_long_is_refused_before_anything_is_stored() {
    let (service, store) = admitting(Enrollment::Open, 9).await;
    for wrong in ["x".repeat(101), "x".repeat(7_000), "a\u{7}".to_owned(), "\u{202e}gnp".to_owned()] {
        let problem = enrol(&service, 1, json!({"client_name": wrong})).await.problem(422, "invalid_fields");
        assert_eq!(problem["errors"][0]["pointer"], "/client_name");
    }
    let stored = |kind| store.scan(&Scan::all(kind, 99)).unwrap().len();
    assert_eq!([RecordKind::Client, RecordKind::Audit, RecordKind::Nonce].map(stored), [0; 3]);
}

#[tokio::test]
async fn enrolments_of_an_address_are_bounded() {
    let service = limited().await;
    let enroll = async |n: u8| {
        let key = SoftwareKey::ed25519(&[n; 32]);
        let jwk: serde_json::Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
        let body = json!({"jwk": jwk, "client_name": "Many"}).to_string();
        let request = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json").body(Body::from(body)).unwrap();
        service.exchange(service.sign(request, &key).await).await
    };
    // The service's own client was the first.
    for n in 1..30 {
        enroll(n).await.expect(201);
    }
    enroll(30).await.problem(429, "rate_limited");
    service.env.advance_to(NOW + 2_000);
    enroll(30).await.expect(201);
}
