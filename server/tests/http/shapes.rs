//! The wire format, byte for byte: the clock stands still and a seed determines the random numbers.

use axum::body::Body;
use hyper::Request;
use railgate::auth::{Signer as _, SoftwareKey};
use serde_json::json;

use super::support::{Answer, SETTLEMENTS, service};

/// With the public key of the private key whose bytes are all one.
const ENROLL: &str = r#"{"client_name":"Second","jwk":{"crv":"Ed25519","kty":"OKP","x":"iojj3XQJ8ZX9UtstPLpdcspnCb8dlBIb83SIAbQPb1w"}}"#;

/// Status, headers and body; the body broken into lines between members, otherwise as it was sent.
fn shown(answer: &Answer) -> String {
    let challenge = |name: &str, value: &str| if name == "signature-challenge" { "c1.…".to_owned() } else { value.to_owned() };
    let headers = answer.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap()));
    let mut headers: Vec<_> = headers.map(|(name, value)| format!("{name}: {}", challenge(name, value))).collect();
    headers.sort();
    let body = answer.text().replace(",\"", ",\n\"");
    format!("{}\n{}\n\n{body}", answer.status.as_u16(), headers.join("\n"))
}

#[tokio::test]
async fn the_main_shapes() {
    let service = service().await;
    let send = |method: &str, path: &str, body: &str| {
        let request = service.request(method, path).header("content-type", "application/json").header("x-request-id", "shape");
        service.send(request.body(Body::from(body.to_owned())).unwrap())
    };
    let body = json!({"amount": 12.5, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "inv-1", "description": "Lunch", "metadata": {"order": "7"}});
    let create = body.to_string();
    insta::assert_snapshot!("create", shown(&send("POST", SETTLEMENTS, &create).await));
    service.until("inv-1", "completed").await;
    insta::assert_snapshot!("replay", shown(&send("POST", SETTLEMENTS, &create).await));
    insta::assert_snapshot!("status", shown(&send("GET", &format!("{SETTLEMENTS}/inv-1/status"), "").await));
    insta::assert_snapshot!("events", shown(&send("GET", &format!("{SETTLEMENTS}/inv-1/events"), "").await));
    let reverse = json!({"amount": "2.50", "reason": "duplicate", "reference": "refund-1"}).to_string();
    insta::assert_snapshot!("reverse", shown(&send("POST", &format!("{SETTLEMENTS}/inv-1/reverse"), &reverse).await));
    service.until("inv-1", "partially_reversed").await;
    insta::assert_snapshot!("read", shown(&send("GET", &format!("{SETTLEMENTS}/inv-1"), "").await));
    insta::assert_snapshot!("reversals", shown(&send("GET", &format!("{SETTLEMENTS}/inv-1/reversals"), "").await));
    insta::assert_snapshot!("list", shown(&send("GET", &format!("{SETTLEMENTS}?limit=1"), "").await));
    insta::assert_snapshot!("provider", shown(&send("GET", "/api/v1/providers/simulator", "").await));
    insta::assert_snapshot!("balance", shown(&send("GET", "/api/v1/balances/EUR", "").await));
    insta::assert_snapshot!("check", shown(&send("POST", &format!("{SETTLEMENTS}/check"), &create.replace("inv-1", "inv-2")).await));
    insta::assert_snapshot!("reconcile", shown(&send("POST", &format!("{SETTLEMENTS}/inv-1/check"), "").await));
    insta::assert_snapshot!("conflict", shown(&send("POST", SETTLEMENTS, &create.replace("12.5", "13")).await));
    insta::assert_snapshot!("invalid", shown(&send("POST", SETTLEMENTS, r#"{"amount":"x","to":"nobody"}"#).await));
    let mut unproved = send("POST", "/api/v1/auth/enrollments", ENROLL).await.text().to_owned();
    let base = unproved.find("c1.").unwrap_or(unproved.len());
    unproved.truncate(base);
    insta::assert_snapshot!("enroll_signed_by_another", unproved.replace(service.running.base_url(), "BASE"));
    let key = SoftwareKey::ed25519(&[1; 32]);
    let request = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json").header("x-request-id", "shape");
    let request = service.sign(request.body(Body::from(ENROLL)).unwrap(), &key).await;
    let enrolled = service.exchange(request).await;
    let mut text = shown(&enrolled);
    // How much randomness was used before depends on which task was faster.
    for random in ["client_id", "access_token", "webhook_secret"] {
        text = text.replace(enrolled.json()[random].as_str().unwrap(), random);
    }
    insta::assert_snapshot!("enroll", text);
    let own = service.key_of(&service.token).public_key().id().to_string();
    insta::assert_snapshot!("keys", shown(&send("GET", "/api/v1/auth/keys", "").await).replace(&own, "KEY"));
    insta::assert_snapshot!("scenarios", shown(&send("GET", "/api/v1/simulator/scenarios", "").await));
}
