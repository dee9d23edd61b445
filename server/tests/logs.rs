//! The content of the log: a line for each request, and no user data.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use hyper::Request;
use railgate::auth::{Signer as _, SoftwareKey};
use railgate::engine::{InviteOperator, Operated};
use railgate::store::record::OperatorRole;
use railgate_server::gateway::Tenant;
use railgate_server::telemetry::{LogFormat, parse_filter, subscriber};
use serde_json::{Value, json};
use support::{SETTLEMENTS, Service, live_call, service};
use tracing_subscriber::fmt::MakeWriter;

#[path = "http/support.rs"]
#[allow(dead_code, reason = "shared with the tests of the interface, which use more of it")]
mod support;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for Captured {
    type Writer = Self;

    fn make_writer(&'w self) -> Self {
        self.clone()
    }
}

/// A busy run: everything that a client does with its credentials, right and wrong. Returns what must not be logged.
async fn busy(service: &Service) -> Vec<String> {
    let key = Arc::new(SoftwareKey::p256(&[5; 32]).unwrap());
    let jwk: Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
    let body = json!({"client_name": "Secretive Ltd", "jwk": jwk}).to_string();
    let request = Request::post("/api/v1/auth/enrollments").header("content-type", "application/json").body(Body::from(body)).unwrap();
    let enrolled = service.exchange(service.sign(request, &*key).await).await.expect(201).json();
    let secret = |name: &str| enrolled[name].as_str().unwrap().to_owned();
    let (first, webhook) = (secret("access_token"), secret("webhook_secret"));
    service.keys.lock().unwrap().insert(first.clone(), Arc::clone(&key));
    let renewal = Request::post("/api/v1/auth/tokens").body(Body::empty()).unwrap();
    let renewed = service.exchange(service.sign(renewal, &*key).await).await.expect(200).json();
    let token = renewed["access_token"].as_str().unwrap().to_owned();
    service.keys.lock().unwrap().insert(token.clone(), Arc::clone(&key));

    let call = |method: &str, path: &str| {
        let request = Request::builder().method(method).uri(path.to_owned()).header("authorization", format!("Bearer {token}"));
        if method == "POST" { request.header("content-type", "application/json") } else { request }
    };
    let body = json!({"amount": 31415.92, "currency": "EUR", "to": "msisdn:+254712345678", "reference": "ref-for-nobody", "description": "Private words"});
    for prefer in ["wait=5", "none"] {
        let request = call("POST", SETTLEMENTS).header("x-request-id", "seen-1").header("prefer", prefer);
        service.send(request.body(Body::from(body.to_string())).unwrap()).await;
    }
    for path in ["/ref-for-nobody", "/ref-for-nobody/events", "/ref-for-nobody/nothing", "?to=msisdn:%2B254712345678&limit=x"] {
        service.send(call("GET", &format!("{SETTLEMENTS}{path}")).body(Body::empty()).unwrap()).await;
    }
    // A callback for a provider that is made up.
    let path = "/api/v1/rails/ref-for-nobody/callbacks";
    service.send(call("POST", path).body(Body::from("{}")).unwrap()).await;
    let broken = Body::from("{\"to\":\"msisdn:+254712345678\",\"reference\":\"ref-for-nobody\"");
    service.send(call("POST", SETTLEMENTS).body(broken).unwrap()).await;

    // Wrong in every way that could reveal something: signatures, nonces, tokens.
    let signed = service.sign(call("GET", SETTLEMENTS).body(Body::empty()).unwrap(), &*key).await;
    let signature = signed.headers()["signature"].to_str().unwrap().trim_start_matches("sig1=:").trim_end_matches(':').to_owned();
    let (parts, _) = signed.into_parts();
    for uri in [SETTLEMENTS, SETTLEMENTS, "/api/v1/gateway/settlements?limit=1"] {
        let mut again = Request::from_parts(parts.clone(), Body::empty());
        *again.uri_mut() = uri.parse().unwrap();
        service.exchange(again).await;
    }
    service.exchange(Request::get("/readyz").header("authorization", "Bearer rg_sandbox_wrong").body(Body::empty()).unwrap()).await;
    let revoked = json!({"token": first}).to_string();
    service.send(call("POST", "/api/v1/auth/tokens/revoke").body(Body::from(revoked)).unwrap()).await.expect(204);
    service.send(call("DELETE", &format!("/api/v1/auth/keys/{}", key.public_key().id())).body(Body::empty()).unwrap()).await.expect(204);
    let bytes = |text: &str| text.trim_start_matches("whsec_").to_owned();
    vec![first, token, bytes(&webhook), signature]
}

/// What an operator does: an invitation, an enrolment, and acts about a client, right and wrong. Returns what must not be logged.
async fn operated(service: &Service) -> Vec<String> {
    let key = SoftwareKey::p256(&[6; 32]).unwrap();
    let invite = InviteOperator { name: "Secretive Ada".to_owned(), role: OperatorRole::Admin, by: None, reason: None };
    let code = service.running.gateway().run(Tenant::GATEWAY, Operated(invite)).await.unwrap().code;
    let jwk: Value = serde_json::from_str(&key.public_key().jwk()).unwrap();
    let mut secrets = vec![code.clone()];
    let mut token = String::new();
    for (code, status) in [("opi_01KAJX3M7Q5W8ZP9D2R4T6V8YB", 403), (code.as_str(), 201)] {
        let request = Request::post("/api/v1/operator/enrollments").header("content-type", "application/json");
        let request = request.body(Body::from(json!({"code": code, "jwk": jwk}).to_string())).unwrap();
        let enrolled = service.exchange(service.sign(request, &key).await).await.expect(status).json();
        token = enrolled["access_token"].as_str().map_or(token, str::to_owned);
    }
    let call = async |method: &str, path: &str, body: Value| {
        live_call(service, (&key, &token), method, &format!("/api/v1/operator{path}"), &body.to_string()).await
    };
    let clients = live_call(service, (&key, &token), "GET", "/api/v1/operator/clients", "").await.expect(200).json();
    let client = format!("/clients/{}", clients["data"][0]["client_id"].as_str().unwrap());
    let money =
        json!({"currency": "EUR", "amount": "31415.92", "reference": "ref-for-nobody", "evidence": "Private words", "reason": "Private"});
    call("POST", &format!("{client}/deposits"), money.clone()).await.expect(202);
    call("POST", "/clients/ref-for-nobody/deposits", money).await.expect(404);
    call("POST", &format!("{client}/suspend"), json!({"reason": "Private words"})).await.expect(200);
    call("POST", &format!("{client}/resume"), json!({"reason": "Private words"})).await.expect(200);
    let provider = json!({
        "id": "third", "name": "Secretive", "rail": "simulator", "mode": "sandbox", "secrets": {"token": "Private-words"}, "reason": "Private"
    });
    call("PUT", "/providers/third", provider).await;
    let invited = call("POST", "/operators", json!({"name": "Secretive Bob", "role": "viewer", "reason": "Private"})).await.expect(201);
    secrets.push(invited.json()["code"].as_str().unwrap().to_owned());
    secrets.push(token);
    secrets
}

#[tokio::test]
async fn lines_are_structured_and_hold_no_secret_and_nobody() {
    let captured = Captured::default();
    // Everything from railgate, down to the finest level, and what the libraries log about a call.
    let filter = parse_filter("debug,railgate_server=trace,railgate=trace").unwrap();
    tracing::subscriber::set_global_default(subscriber(LogFormat::Json, filter, captured.clone())).unwrap();

    let service = service().await;
    let mut secrets = busy(&service).await;
    secrets.extend(operated(&service).await);
    secrets.push(service.token.clone());
    let figures = service.figures().await;
    service.running.stop().await;

    let text = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    let nobody = ["rg_sandbox", "rg_live", "whsec_", "opi_", "c1.", "254712345678", "ref-for-nobody", "Private", "Secretive", "31415.92"];
    for private in secrets.iter().map(String::as_str).chain(nobody) {
        assert!(!text.contains(private), "{private} is in\n{text}");
        assert!(!figures.contains(private), "{private} is in\n{figures}");
    }
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let created = lines.iter().find(|line| line["request_id"] == "seen-1").unwrap();
    assert_eq!((&created["route"], &created["method"], &created["status"]), (&json!(SETTLEMENTS), &json!("POST"), &json!(201)));
    assert!(created["duration_us"].is_u64() && created["client"].as_str().unwrap().len() == 26, "{created}");
    let unmatched = lines.iter().find(|line| line["route"] == "unmatched").unwrap();
    assert_eq!(unmatched["status"], 404);
}
