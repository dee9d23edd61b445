//! `Idempotency-Key`: every route that makes or changes something is carried out once for each key.

use axum::body::Body;
use hyper::Request;
use railgate::auth::{Signer as _, SoftwareKey, TAG_NEW_KEY};
use railgate::env::Env as _;
use serde_json::{Value, json};

use super::support::{Answer, SETTLEMENTS, Service, service, sign_as};

/// The POST routes that take no key, and why.
const WITHOUT: [(&str, &str); 14] = [
    ("/api/v1/gateway/settlements", "the reference is the key"),
    ("/api/v1/gateway/settlements/batch", "each element's reference is its key"),
    ("/api/v1/gateway/settlements/check", "changes nothing"),
    ("/api/v1/gateway/settlements/{ref}/check", "asks the operator again, which is what it is for"),
    ("/api/v1/auth/challenges", "changes nothing"),
    ("/api/v1/auth/enrollments", "a key is enrolled once; the caller is no client yet, who could have keys"),
    ("/api/v1/auth/tokens", "a lost token expires by itself; what the caller needs is another"),
    ("/api/v1/auth/tokens/revoke", "a repeat finds it revoked"),
    ("/api/v1/operator/enrollments", "a code is used once"),
    ("/api/v1/mobile/devices", "a code is used once"),
    ("/api/v1/operator/reviews/{id}/ask", "asks the provider again, which is what it is for"),
    ("/api/v1/operator/routes/explain", "changes nothing"),
    ("/api/v1/rails/{provider}/callbacks", "an operator's repeated callback changes nothing"),
    ("/api/v1/rails/{provider}/callbacks/{place}", "an operator's repeated callback changes nothing"),
];

impl Service {
    async fn keyed(&self, key: &str, method: &str, path: &str, body: &Value) -> Answer {
        let request = self.request(method, path).header("content-type", "application/json").header("idempotency-key", key);
        self.send(request.body(Body::from(body.to_string())).unwrap()).await
    }
}

fn documented_with_a_key(document: &Value, path: &str, method: &str) -> bool {
    let parameters = document["paths"][path][method]["parameters"].as_array().unwrap();
    parameters.iter().any(|it| it["name"] == "Idempotency-Key" && it["in"] == "header")
}

#[test]
fn every_post_route_takes_a_key_or_has_a_reason_not_to() {
    let document = serde_json::to_value(railgate_server::http::document(None)).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        if item.get("post").is_some() {
            let excused = WITHOUT.iter().any(|(known, _)| known == path);
            assert_ne!(documented_with_a_key(&document, path, "post"), excused, "{path}");
        }
    }
    // A PUT that adds to what there is.
    assert!(documented_with_a_key(&document, "/api/v1/simulator/clock", "put"));
}

#[tokio::test]
async fn a_repeat_gets_the_same_answer_and_another_request_is_refused() {
    let service = service().await;
    service.settled("paid", "sim:ok").await;
    service.post(SETTLEMENTS, &json!({"amount": 1, "currency": "EUR", "to": "sim:pending", "reference": "open"})).await.expect(201);
    service.until("open", "submitted").await;
    let webhook = service.post("/api/v1/webhooks", &json!({"url": "http://127.0.0.1:9/"})).await.expect(201).json();
    let there = format!("/api/v1/webhooks/{}", webhook["id"].as_str().unwrap());
    let tested = service.post(&format!("{there}/test"), &json!({})).await.expect(200).json();
    let delivery = tested["delivery"]["id"].as_str().unwrap();
    let calls = [
        ("POST", "/api/v1/simulator/fund".to_owned(), json!({"currency": "CHF", "amount": 5}), 200),
        ("POST", "/api/v1/simulator/settlements/open/advance".to_owned(), json!({"to": "completed"}), 200),
        ("POST", "/api/v1/simulator/reset".to_owned(), json!({}), 200),
        ("POST", "/api/v1/webhooks".to_owned(), json!({"url": "http://127.0.0.1:9/more"}), 201),
        ("PATCH", there.clone(), json!({"description": "new"}), 200),
        ("POST", format!("{there}/rotate-secret"), json!({"grace": 0}), 200),
        ("POST", format!("{there}/enable"), json!({}), 200),
        ("POST", format!("{there}/test"), json!({"type": "settlement.failed"}), 200),
        ("POST", format!("{there}/deliveries/{delivery}/redeliver"), json!({}), 202),
        ("POST", format!("{there}/replay"), json!({"since": "2026-01-01T00:00:00Z"}), 202),
    ];
    for (n, (method, path, body, status)) in calls.iter().enumerate() {
        let key = format!("key {n}");
        let first = service.keyed(&key, method, path, body).await.expect(*status);
        assert_eq!(first.header("idempotent-replayed"), None, "{path}");
        let again = service.keyed(&key, method, path, body).await.expect(*status);
        assert_eq!(again.header("idempotent-replayed"), Some("true"), "{path}");
        assert_eq!(again.header("location"), first.header("location"), "{path}");
        let (mut first, mut again) = (first.json(), again.json());
        if let Some(secret) = first.as_object_mut().unwrap().remove("secret") {
            assert!(secret.as_str().unwrap().starts_with("whsec_"));
            assert_eq!(again.as_object_mut().unwrap().remove("secret_shown"), Some(json!(true)), "{path}");
        }
        assert_eq!(again, first, "{path}");
        let other = service.keyed(&key, "POST", "/api/v1/simulator/fund", &json!({"currency": "CHF", "amount": 6})).await;
        other.problem(422, "idempotency_key_reused");
    }
    assert_eq!(service.get("/api/v1/balances/CHF").await.json()["available"].as_f64(), Some(0.0), "the reset came after it, and both once");
    assert_eq!(service.get("/api/v1/webhooks").await.json()["data"].as_array().unwrap().len(), 2);
    service.running.stop().await;
}

#[tokio::test]
async fn a_key_is_added_once() {
    let service = service().await;
    let own = service.key_of(&service.token);
    let new = SoftwareKey::ed25519(&[77; 32]);
    let jwk: Value = serde_json::from_str(&new.public_key().jwk()).unwrap();
    let body = json!({"jwk": jwk, "label": "till 2"}).to_string();
    let add = async |key: &str| {
        let request = service.request("POST", "/api/v1/auth/keys").header("content-type", "application/json");
        let request = request.header("idempotency-key", key).body(Body::from(body.clone())).unwrap();
        let now = service.env.now() / 1_000;
        let request = service.sign(request, &*own).await;
        service.exchange(sign_as(&service, request, &new, now, &service.nonce().await, TAG_NEW_KEY).await).await
    };
    let first = add("k").await.expect(201);
    let again = add("k").await.expect(201);
    assert_eq!((again.header("idempotent-replayed"), again.text()), (Some("true"), first.text()));
    add("l").await.problem(409, "key_exists");
}

#[tokio::test]
async fn calls_at_once_are_carried_out_once_and_a_bad_key_not_at_all() {
    let service = service().await;
    let fund = json!({"currency": "CHF", "amount": 5});
    let call = || service.keyed("k", "POST", "/api/v1/simulator/fund", &fund);
    let (one, two, three) = tokio::join!(call(), call(), call());
    let repeated = [one, two, three].map(|answer| answer.expect(200).header("idempotent-replayed").is_some());
    assert_eq!(repeated.iter().filter(|it| **it).count(), 2);
    assert_eq!(service.get("/api/v1/balances/CHF").await.json()["available"].as_f64(), Some(5.0));
    let twice = Request::post("/api/v1/simulator/fund").header("authorization", format!("Bearer {}", service.token));
    let twice = twice.header("content-type", "application/json").header("idempotency-key", "a").header("idempotency-key", "b");
    service.send(twice.body(Body::from(fund.to_string())).unwrap()).await.problem(400, "malformed_request");
    service.keyed("", "POST", "/api/v1/simulator/fund", &fund).await.problem(400, "malformed_request");
}
