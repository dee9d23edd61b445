//! All events of a client in one order, and the log that proves them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use railgate::log::{LogKey, leaf_hash, verify_inclusion, verify_proof};
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate_server::Hosted;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::support::{SETTLEMENTS, Service, read_until, service, service_with};

const EVENTS: &str = "/api/v1/gateway/events";

/// The whole feed, as soon as it has all events of these settlements.
async fn feed_of(service: &Service, references: &[&str]) -> Vec<Value> {
    let mut expected = 0;
    for reference in references {
        expected += service.get(&format!("{SETTLEMENTS}/{reference}/status")).await.expect(200).json()["version"].as_u64().unwrap();
    }
    loop {
        let page = service.get(&format!("{EVENTS}?limit=200")).await.expect(200).json();
        let data = page["data"].as_array().unwrap().clone();
        if data.len() as u64 >= expected {
            return data;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn the_feed_has_every_event_once_and_in_the_order_of_each_trace() {
    let service = service().await;
    for reference in ["f-1", "f-2", "f-3"] {
        service.settled(reference, "sim:ok").await;
    }
    let all = feed_of(&service, &["f-1", "f-2", "f-3"]).await;
    let positions: Vec<i64> = all.iter().map(|entry| entry["position"].as_i64().unwrap()).collect();
    assert_eq!(positions, (1..=all.len() as i64).collect::<Vec<_>>());
    for reference in ["f-1", "f-2", "f-3"] {
        let trace = service.get(&format!("{SETTLEMENTS}/{reference}/events")).await.json()["data"].as_array().unwrap().clone();
        let of_it: Vec<&Value> = all.iter().map(|entry| &entry["event"]).filter(|event| event["reference"] == reference).collect();
        assert_eq!(of_it, trace.iter().collect::<Vec<_>>());
    }
    // The same events in pages; the cursor of the last page marks where to continue.
    let mut paged: Vec<Value> = Vec::new();
    let mut after = 0;
    loop {
        let page = service.get(&format!("{EVENTS}?limit=2&after={after}")).await.expect(200).json();
        paged.extend(page["data"].as_array().unwrap().clone());
        after = page["next_after"].as_i64().unwrap();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(paged, all);
    assert_eq!(
        service.get(&format!("{EVENTS}?after={after}")).await.json(),
        json!({"data": [], "has_more": false, "next_after": after, "epoch": 1})
    );
    for (query, place) in [("epoch=2", "another epoch"), (&*format!("after={}", after + 1), "past the end")] {
        let problem = service.get(&format!("{EVENTS}?{query}")).await.problem(409, "epoch_changed");
        assert_eq!(problem["retryable"], false, "{place}");
        let stream = service.request("GET", &format!("{EVENTS}?{query}")).header("accept", "text/event-stream");
        service.send(stream.body(Body::empty()).unwrap()).await.problem(409, "epoch_changed");
    }
    // Nobody else sees any of them.
    let other = service.enroll("Other shop").await;
    let request = axum::http::Request::get(EVENTS).header("authorization", format!("Bearer {other}")).body(Body::empty()).unwrap();
    assert_eq!(service.send(request).await.expect(200).json()["data"], json!([]));
    service.get(&format!("{EVENTS}?after=-1")).await.problem(422, "invalid_fields");
    service.get(&format!("{EVENTS}?after=last")).await.problem(422, "invalid_fields");
    service.get(&format!("{EVENTS}?after=latest&after=latest")).await.problem(422, "invalid_fields");
    assert_eq!(
        service.get(&format!("{EVENTS}?after=latest")).await.expect(200).json(),
        json!({"data": [], "has_more": false, "next_after": after, "epoch": 1})
    );
    service.get(&format!("{EVENTS}?limit=201")).await.problem(422, "invalid_fields");
}

/// The ids of a stream's events.
fn ids(stream: &str) -> Vec<i64> {
    stream.lines().filter_map(|line| line.strip_prefix("id: ")?.parse().ok()).collect()
}

async fn open(service: &Service, last: Option<i64>) -> tokio::net::TcpStream {
    let mut stream = service.connect().await;
    let last = last.map(|last| format!("Last-Event-ID: {last}\r\n")).unwrap_or_default();
    let ask = service.head("GET", EVENTS, &format!("Accept: text/event-stream\r\n{last}"), b"").await;
    stream.write_all(ask.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_stream_taken_up_again_misses_nothing_also_across_a_restart() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let first = service_with(Arc::clone(&store), |_| {}).await;
    let mut stream = open(&first, None).await;
    first.settled("r-1", "sim:ok").await;
    let seen = read_until(&mut stream, |text| text.contains("event: settlement.completed")).await;
    assert!(seen.contains("content-type: text/event-stream"), "{seen}");
    let mut all = ids(&seen);
    drop(stream);
    first.settled("r-2", "sim:ok").await;
    let token = first.token.clone();
    let keys = first.keys.lock().unwrap().clone();
    first.running.stop().await;

    let mut second = service_with(store, |_| {}).await;
    second.keys.lock().unwrap().extend(keys);
    second.token = token;
    second.settled("r-3", "sim:ok").await;
    let mut stream = open(&second, all.last().copied()).await;
    let of_last = |text: &str| text.matches("event: settlement.completed").count() == 2;
    all.extend(ids(&read_until(&mut stream, of_last).await));
    let expected = feed_of(&second, &["r-1", "r-2", "r-3"]).await.len() as i64;
    // Events after the last completion may still be missing.
    assert!(all.len() as i64 <= expected);
    assert_eq!(all, (1..=all.len() as i64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_reader_who_does_not_read_is_cut_off() {
    let service = service_with(Arc::new(MemoryStore::new()), |hosted: &mut Hosted| hosted.limits.stall = Duration::from_millis(200)).await;
    // More than the system's buffers between the two can contain.
    let metadata: serde_json::Map<String, Value> = (0..50).map(|n| (format!("key-{n}"), "x".repeat(500).into())).collect();
    for n in 0..300 {
        let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("large-{n}"), "metadata": metadata});
        service.post(SETTLEMENTS, &body).await.expect(201);
    }
    let mut stream = service.connect().await;
    let ask = service.head("GET", &format!("{SETTLEMENTS}/export"), "Accept: application/x-ndjson\r\n", b"").await;
    stream.write_all(ask.as_bytes()).await.unwrap();
    let mut some = [0u8; 64];
    stream.read_exact(&mut some).await.unwrap();
    while !service.running.metrics().encode().contains("http_connections 0\n") {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    // The contents of the buffers arrive, then the end, before the last record.
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(!String::from_utf8_lossy(&rest).contains("\"large-0\""), "everything was buffered: {} bytes", rest.len());
}

#[tokio::test]
async fn a_settlement_is_proved_to_be_in_the_log() {
    let service = service().await;
    for n in 0..300 {
        let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("p-{n}")});
        service.post(SETTLEMENTS, &body).await.expect(201);
    }
    service.until("p-7", "completed").await;
    let proof = service.get(&format!("{SETTLEMENTS}/p-7/receipt/proof")).await.expect(200).json();
    let trace = service.get(&format!("{SETTLEMENTS}/p-7/events")).await.json();
    let last = trace["data"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&proof["event_hash"], &proof["event_id"], &proof["sequence"]), (&last["hash"], &last["id"], &last["sequence"]));

    let keys = service.get("/api/v1/log/keys").await.expect(200);
    let key = LogKey::parse(keys.text().lines().next().unwrap()).unwrap();
    let hash: [u8; 32] = hex(proof["event_hash"].as_str().unwrap());
    let checkpoint = verify_proof(proof["proof"].as_str().unwrap(), &hash, &key).unwrap();
    assert_eq!(json!(checkpoint.size), proof["tree_size"]);
    // The parts agree with the whole.
    let leaf = leaf_hash(&railgate::log::commitment(&hex(proof["salt"].as_str().unwrap()), &hash));
    let path: Vec<[u8; 32]> = proof["path"].as_array().unwrap().iter().map(|hash| hex(hash.as_str().unwrap())).collect();
    assert!(verify_inclusion(&leaf, proof["leaf_index"].as_u64().unwrap(), checkpoint.size, &path, &checkpoint.root));
    let mut other = hash;
    other[31] ^= 1;
    assert!(verify_proof(proof["proof"].as_str().unwrap(), &other, &key).is_err());

    // The file that tools read.
    let request = service.request("GET", &format!("{SETTLEMENTS}/p-7/receipt/proof")).header("accept", "text/plain");
    let text = service.send(request.body(Body::empty()).unwrap()).await.expect(200);
    verify_proof(text.text(), &hash, &key).unwrap();
    service.get(&format!("{SETTLEMENTS}/none/receipt/proof")).await.problem(404, "settlement_not_found");

    // The log itself: a checkpoint under the same key, and tiles as C2SP names them. All are in it once the last one is.
    service.get(&format!("{SETTLEMENTS}/p-299/receipt/proof")).await.expect(200);
    let now = key.open(service.get("/api/v1/log/checkpoint").await.expect(200).text()).unwrap();
    assert!(now.size >= checkpoint.size && now.size > 256, "{}", now.size);
    let tile = service.get("/api/v1/log/tile/0/000").await.expect(200);
    assert_eq!(tile.body.len(), 256 * 32);
    // A cache asks each time: after a restored backup, the same path has other hashes.
    assert_eq!((tile.header("cache-control"), tile.header("etag")), (Some("private, no-cache"), Some("\"sandbox-1\"")));
    let known = service.request("GET", "/api/v1/log/tile/0/000").header("if-none-match", "\"sandbox-1\"").body(Body::empty()).unwrap();
    assert!(service.send(known).await.expect(304).body.is_empty());
    assert_eq!(service.get("/api/v1/log/tile/entries/000.p/3").await.expect(200).body.len(), 3 * 34);
    assert_eq!(service.get("/api/v1/log/tile/1/000.p/1").await.expect(200).body.len(), 32);
    // Requested with their own type; no other is available.
    for (path, kind) in [("checkpoint", "text/plain"), ("keys", "text/plain"), ("tile/0/000", "application/octet-stream")] {
        let asking =
            |accept: &str| service.request("GET", &format!("/api/v1/log/{path}")).header("accept", accept).body(Body::empty()).unwrap();
        let answer = service.send(asking(kind)).await.expect(200);
        assert!(answer.header("content-type").unwrap().starts_with(kind), "{path}");
        service.send(asking("image/png")).await.problem(406, "not_acceptable");
    }
    for none in ["0/999", "0/0", "1/000.p/200", "0/000.p/0", "9/000", "entries/x", "0/x000/000"] {
        service.get(&format!("/api/v1/log/tile/{none}")).await.problem(404, "tile_not_found");
    }
}

fn hex(text: &str) -> [u8; 32] {
    let bytes: Vec<u8> = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect();
    bytes.try_into().unwrap()
}

#[tokio::test]
async fn a_proof_does_not_wait_for_its_turn() {
    let service = service().await;
    // Requested at the very moment of the create, the event is numbered on behalf of the caller.
    service.post(SETTLEMENTS, &json!({"amount": 1, "currency": "EUR", "to": "sim:slow-30s", "reference": "now"})).await.expect(201);
    service.get(&format!("{SETTLEMENTS}/now/receipt/proof")).await.expect(200);
}

#[tokio::test]
async fn a_client_has_so_many_streams_open_and_no_more() {
    let service = service_with(Arc::new(MemoryStore::new()), |hosted: &mut Hosted| hosted.limits.client_streams = 2).await;
    let begun = |text: &str| text.contains("retry: 1000");
    let (mut first, mut second) = (open(&service, None).await, open(&service, None).await);
    read_until(&mut first, begun).await;
    read_until(&mut second, begun).await;
    let third = service.request("GET", EVENTS).header("accept", "text/event-stream").body(Body::empty()).unwrap();
    let refused = service.send(third).await;
    assert!(refused.header("retry-after").is_some());
    refused.problem(429, "rate_limited");
    // Pages are not streams.
    service.get(EVENTS).await.expect(200);
    // A place is free again after its stream is closed.
    drop(first);
    loop {
        let mut third = open(&service, None).await;
        let answer = read_until(&mut third, |text| begun(text) || text.contains("rate_limited")).await;
        if begun(&answer) {
            break;
        }
    }
}
