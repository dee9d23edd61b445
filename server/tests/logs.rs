//! What is logged: a line for each request, and nothing that belongs to anybody.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may fail")]

use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::body::Body;
use hyper::Request;
use railgate::store::memory::MemoryStore;
use railgate_server::telemetry::{LogFormat, parse_filter, subscriber};
use railgate_server::{Hosted, start_with};
use serde_json::{Value, json};
use tracing_subscriber::fmt::MakeWriter;

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

#[tokio::test]
async fn lines_are_structured_and_hold_no_secret_and_nobody() {
    let captured = Captured::default();
    // Everything of ours, down to the finest level.
    let filter = parse_filter("info,railgate_server=trace,railgate=trace,hyper=debug").unwrap();
    tracing::subscriber::set_global_default(subscriber(LogFormat::Json, filter, captured.clone())).unwrap();

    let listen = "127.0.0.1:0".parse().unwrap();
    let running = start_with(Hosted::over(Arc::new(MemoryStore::new())), listen, None, None).await.unwrap();
    let send = async |request: Request<Body>| {
        let answer = running.front().answer(request).await;
        let status = answer.status().as_u16();
        let body = http_body_util::BodyExt::collect(answer.into_body()).await.unwrap().to_bytes();
        (status, body)
    };
    let post = |path: &str| Request::post(path.to_owned()).header("content-type", "application/json");
    let (_, body) = send(post("/api/v1/auth/enrollments").body(Body::from(r#"{"client_name":"Secretive Ltd"}"#)).unwrap()).await;
    let token = serde_json::from_slice::<Value>(&body).unwrap()["access_token"].as_str().unwrap().to_owned();
    let bearer = format!("Bearer {token}");
    let settlements = "/api/v1/gateway/settlements";
    let body = json!({"amount": 31.41, "currency": "EUR", "to": "msisdn:+254712345678", "reference": "ref-for-nobody", "description": "Private words"});
    for prefer in ["wait=5", "none"] {
        let request = post(settlements).header("authorization", &bearer).header("x-request-id", "seen-1").header("prefer", prefer);
        send(request.body(Body::from(body.to_string())).unwrap()).await;
    }
    for path in ["/ref-for-nobody", "/ref-for-nobody/events", "/ref-for-nobody/nothing", "?to=msisdn:%2B254712345678&limit=x"] {
        let request = Request::get(format!("{settlements}{path}")).header("authorization", &bearer);
        send(request.body(Body::empty()).unwrap()).await;
    }
    let broken = post(settlements).header("authorization", &bearer);
    send(broken.body(Body::from("{\"to\":\"msisdn:+254712345678\",\"reference\":\"ref-for-nobody\"")).unwrap()).await;
    send(Request::get("/readyz").header("authorization", "Bearer rg_sandbox_wrong").body(Body::empty()).unwrap()).await;
    running.stop().await;

    let text = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    for private in [token.as_str(), "rg_sandbox", "254712345678", "ref-for-nobody", "Private", "Secretive", "31.41"] {
        assert!(!text.contains(private), "{private} is in\n{text}");
    }
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let created = lines.iter().find(|line| line["request_id"] == "seen-1").unwrap();
    assert_eq!((&created["route"], &created["method"], &created["status"]), (&json!(settlements), &json!("POST"), &json!(201)));
    assert!(created["duration_us"].is_u64() && created["client"].as_str().unwrap().len() == 26, "{created}");
    let unmatched = lines.iter().find(|line| line["route"] == "unmatched").unwrap();
    assert_eq!(unmatched["status"], 404);
}
