//! The shutdown: nothing that was accepted is lost, and no caller is kept waiting.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use railgate::store::memory::MemoryStore;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::support::{SETTLEMENTS, Slow, read_until, service_with};

#[tokio::test]
async fn calls_under_way_are_answered_and_streams_are_closed() {
    let store = Arc::new(Slow::default());
    let service = service_with(store.clone(), |_| {}).await;
    let get = async |path: &str, accept: &str| service.head("GET", path, &format!("Accept: {accept}\r\n"), b"").await;
    service.post(SETTLEMENTS, &json!({"amount": 1, "currency": "EUR", "to": "sim:pending", "reference": "open"})).await.expect(201);

    let mut stream = service.connect().await;
    stream.write_all(get(&format!("{SETTLEMENTS}/open/events"), "text/event-stream").await.as_bytes()).await.unwrap();
    read_until(&mut stream, |text| text.contains("settlement.accepted")).await;
    let mut poll = service.connect().await;
    poll.write_all(get(&format!("{SETTLEMENTS}/open/status?wait=30&version=1000"), "*/*").await.as_bytes()).await.unwrap();
    let mut idle = service.connect().await;
    idle.write_all(get("/healthz", "*/*").await.as_bytes()).await.unwrap();
    read_until(&mut idle, |text| text.contains("\"ok\"")).await;
    let body = json!({"amount": 2, "currency": "EUR", "to": "sim:ok", "reference": "last"}).to_string();
    store.hold(true);
    let mut create = service.connect().await;
    let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let head = service.head("POST", SETTLEMENTS, &more, body.as_bytes()).await;
    create.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    // The poll and the create: a request that was not read yet is not in flight.
    while !service.figures().await.contains("railgate_http_requests_in_flight 2") {}

    let address = service.running.address();
    let begun = Instant::now();
    let stopping = tokio::spawn(service.running.stop());
    // The shutdown has begun, and the create is still in flight.
    let mut ready = String::new();
    while !ready.starts_with("HTTP/1.1 503") {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n").await.unwrap();
        ready.clear();
        stream.read_to_string(&mut ready).await.unwrap();
    }
    store.hold(false);
    let mut answer = String::new();
    create.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let mut answer = String::new();
    poll.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"0\r\n\r\n"), "the stream was cut off instead of ended");
    idle.read_to_end(&mut rest).await.unwrap();
    stopping.await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(30), "the poll was waited for: {:?}", begun.elapsed());
    assert!(TcpStream::connect(address).await.is_err());
    // What was acknowledged is stored.
    let again = service_with(store, |_| {}).await;
    assert_eq!(again.running.gateway().engine().now(), super::support::NOW);
    let stored = again.running.gateway().engine().settlement_by_number(railgate::ids::SettlementNo(1));
    assert!(stored.is_ok());
}

#[tokio::test]
async fn a_stream_that_nobody_reads_ends_too() {
    let store = Arc::new(MemoryStore::new());
    let kept = Arc::downgrade(&store);
    let service = service_with(store, |hosted| hosted.limits.heartbeat = Duration::from_millis(1)).await;
    let request = service.request("GET", "/api/v1/gateway/events").header("accept", "text/event-stream");
    let request = service.sign(request.body(Body::empty()).unwrap(), &*service.key_of(&service.token)).await;
    let unread = service.running.front().answer(request).await;
    assert_eq!(unread.status(), 200);
    // By now there is more to send than fits.
    tokio::time::sleep(Duration::from_millis(200)).await;
    service.running.stop().await;
    assert_eq!(kept.strong_count(), 0, "it still waits for its reader, and keeps the store open");
    drop(unread);
}

#[tokio::test]
async fn a_store_on_disk_is_closed_and_found_again() {
    use railgate::store::sqlite::SqliteStore;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("railgate.db");
    let open = || Arc::new(SqliteStore::open(&path).unwrap());
    let service = service_with(open(), |_| {}).await;
    service.settled("kept", "sim:ok").await;
    let slow = json!({"amount": 3, "currency": "EUR", "to": "sim:slow-30s", "reference": "slow"});
    service.post(SETTLEMENTS, &slow).await.expect(201);
    service.until("slow", "submitted").await;
    let (token, keys) = (service.token, service.keys);
    service.running.stop().await;
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().ends_with("-wal")), "the log was not checkpointed: {left:?}");

    let mut again = service_with(open(), |_| {}).await;
    (again.token, again.keys) = (token, keys);
    assert_eq!(again.status("kept").await, "completed");
    // Work in progress continues: the outbox is in the store.
    again.env.advance_to(super::support::NOW + 31_000);
    again.until("slow", "completed").await;
    assert_eq!(again.get("/api/v1/balances/EUR").await.json()["reserved"].to_string(), "0.0");
    again.running.stop().await;
}

#[tokio::test]
async fn connections_beyond_the_bound_wait_for_a_place() {
    let store = Arc::new(Slow::default());
    let service = service_with(store.clone(), |hosted| hosted.limits.connections = 1).await;
    store.hold(true);
    let body = json!({"amount": 2, "currency": "EUR", "to": "sim:ok", "reference": "held"}).to_string();
    let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let head = service.head("POST", SETTLEMENTS, &more, body.as_bytes()).await;
    let mut first = service.connect().await;
    first.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    while !service.figures().await.contains("railgate_http_requests_in_flight 1") {}
    let mut second = service.connect().await;
    second.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let early = tokio::time::timeout(Duration::from_millis(100), second.read_u8()).await;
    assert!(early.is_err(), "the second connection was served beside the first");
    store.hold(false);
    // The first one is answered, and then makes room.
    let mut answer = String::new();
    first.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    read_until(&mut second, |text| text.contains("\"ok\"")).await;
}

#[tokio::test]
async fn a_request_that_never_ends_is_cut_off_after_the_time_to_drain() {
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| {
        hosted.limits.drain = Duration::from_millis(200);
        hosted.limits.body_read = Duration::from_secs(60);
    })
    .await;
    let mut stuck = service.connect().await;
    let head = format!("POST {SETTLEMENTS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{{");
    stuck.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    service.running.stop().await;
}
