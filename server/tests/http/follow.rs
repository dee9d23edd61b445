//! Long polls and event streams.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use railgate::env::ManualEnv;
use railgate::store::memory::MemoryStore;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::support::{NOW, SETTLEMENTS, Service, read_until, service, service_with};

async fn pending(service: &Service, reference: &str) {
    let body = json!({"amount": 5, "currency": "EUR", "to": "sim:slow-30s", "reference": reference});
    service.post(SETTLEMENTS, &body).await.expect(201);
    // The rail has the payment: accepted, submitted, attempt started, attempt answered.
    service.get(&format!("{SETTLEMENTS}/{reference}/status?wait=20&version=3")).await.expect(200);
    assert_eq!(service.status(reference).await, "submitted");
}

#[tokio::test]
async fn a_long_poll_ends_with_the_change() {
    let service = Arc::new(service().await);
    pending(&service, "poll").await;
    let path = format!("{SETTLEMENTS}/poll/status");
    let before = service.get(&path).await.json();
    assert_eq!(before["final"], false);
    let waiting = tokio::spawn({
        let (service, path) = (service.clone(), format!("{path}?wait=20&version={}", before["version"]));
        async move { service.get(&path).await.expect(200).json() }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!waiting.is_finished());
    service.env.advance_to(NOW + 31_000);
    let after = waiting.await.unwrap();
    assert!(after["version"].as_u64() > before["version"].as_u64());
    service.until("poll", "completed").await;
    // For an old version and for a final settlement, the response comes at once.
    let begun = Instant::now();
    service.get(&format!("{path}?wait=20&version=1")).await.expect(200);
    assert_eq!(service.get(&format!("{path}?wait=20")).await.json()["final"], true);
    assert!(begun.elapsed() < Duration::from_secs(20), "it waited");
    // Nothing new: the full time is waited.
    let version = service.get(&path).await.json()["version"].clone();
    let begun = Instant::now();
    assert_eq!(service.get(&format!("{path}?wait=1&version={version}")).await.json()["version"], version);
    assert!(begun.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_long_poll_hears_of_what_another_node_does() {
    let store = Arc::new(MemoryStore::new());
    let idle = service_with(store.clone(), |hosted| {
        hosted.worker.carries = false;
        hosted.limits.look = Duration::from_millis(5);
    });
    let idle = idle.await;
    let body = json!({"amount": 5, "currency": "EUR", "to": "sim:ok", "reference": "elsewhere"});
    let request = idle.request("POST", SETTLEMENTS).header("prefer", "wait=30").header("content-type", "application/json");
    let request = request.body(Body::from(body.to_string())).unwrap();
    let (made, _busy) = tokio::join!(idle.send(request), service_with(store, |hosted| hosted.env = Arc::new(ManualEnv::new(NOW, 43))));
    assert_eq!(made.expect(201).json()["status"], "completed");
}

#[tokio::test]
async fn the_trace_is_paged() {
    let service = service().await;
    service.settled("paged", "sim:ok").await;
    let path = format!("{SETTLEMENTS}/paged/events");
    let all = service.get(&path).await.expect(200).json();
    let all = all["data"].as_array().unwrap().clone();
    assert!(all.len() >= 3);
    let mut seen: Vec<Value> = Vec::new();
    loop {
        let page = service.get(&format!("{path}?limit=1&after={}", seen.len())).await.json();
        seen.extend(page["data"].as_array().unwrap().clone());
        if page["has_more"] == false {
            break;
        }
        assert_eq!(page["next_cursor"], seen.len().to_string());
    }
    assert_eq!(seen, all);
    for pair in all.windows(2) {
        assert_eq!(pair[0]["hash"], pair[1]["prev"]);
    }
}

#[tokio::test]
async fn a_stream_shows_what_was_and_what_happens() {
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| hosted.limits.heartbeat = Duration::from_millis(100)).await;
    pending(&service, "live").await;
    let mut stream = service.connect().await;
    let path = format!("{SETTLEMENTS}/live/events");
    let ask = async |last: &str| service.head("GET", &path, &format!("Accept: text/event-stream\r\n{last}"), b"").await;
    stream.write_all(ask("").await.as_bytes()).await.unwrap();
    let first = read_until(&mut stream, |text| text.contains("event: attempt.started") && text.contains(": still here")).await;
    assert!(first.contains("content-type: text/event-stream"), "{first}");
    assert!(first.contains("id: 1\nevent: settlement.accepted\ndata: {"), "{first}");
    service.env.advance_to(NOW + 31_000);
    let then = read_until(&mut stream, |text| text.contains("event: settlement.completed")).await;
    assert!(!then.contains("id: 1\n"));
    // Resumed where it broke.
    let mut again = service.connect().await;
    again.write_all(ask("Last-Event-ID: 2\r\n").await.as_bytes()).await.unwrap();
    let rest = read_until(&mut again, |text| text.contains("event: settlement.completed")).await;
    assert!(rest.contains("id: 3\n") && !rest.contains("id: 2\n"), "{rest}");
    let data: Value = rest.lines().find_map(|line| line.strip_prefix("data: ")).map(|line| serde_json::from_str(line).unwrap()).unwrap();
    assert_eq!(data["sequence"], 3);
}

#[tokio::test]
async fn a_stream_ends_with_what_let_it_in() {
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| hosted.limits.heartbeat = Duration::from_millis(100)).await;
    pending(&service, "ends").await;
    let path = format!("{SETTLEMENTS}/ends/events");
    let open = async || {
        let mut stream = service.connect().await;
        let ask = service.head("GET", &path, "Accept: text/event-stream\r\n", b"").await;
        stream.write_all(ask.as_bytes()).await.unwrap();
        read_until(&mut stream, |text| text.contains(": still here")).await;
        stream
    };
    let mut revoked = open().await;
    let request = service.request("POST", "/api/v1/auth/tokens/revoke").body(Body::empty()).unwrap();
    service.send(request).await.expect(204);
    // The last chunk of a chunked body.
    let rest = read_until(&mut revoked, |text| text.ends_with("0\r\n\r\n")).await;
    assert!(!rest.contains("settlement.completed"), "{rest}");
}

#[tokio::test]
async fn a_stream_is_asked_for_properly_or_not_at_all() {
    let service = service().await;
    service.settled("s-1", "sim:ok").await;
    let ask =
        |name: &'static str, accept: &'static str| service.request("GET", &format!("{SETTLEMENTS}/{name}/events")).header("accept", accept);
    service.send(ask("none", "text/event-stream").body(Body::empty()).unwrap()).await.problem(404, "settlement_not_found");
    service.send(ask("s-1", "text/html").body(Body::empty()).unwrap()).await.problem(406, "not_acceptable");
    let bad = ask("s-1", "text/event-stream").header("last-event-id", "abc").body(Body::empty()).unwrap();
    service.send(bad).await.problem(422, "invalid_fields");
}
