//! Connections that bring nothing, or never end, take nothing from those who call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::Body;
use railgate::store::memory::MemoryStore;
use railgate_server::Hosted;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::support::{NOW, SETTLEMENTS, Service, Slow, read_until, service_with};

async fn with(adjust: impl FnOnce(&mut Hosted)) -> Service {
    service_with(Arc::new(MemoryStore::new()), adjust).await
}

/// A settlement that stays as it is.
async fn pending(service: &Service) {
    let body = json!({"amount": 5, "currency": "EUR", "to": "sim:pending", "reference": "open"});
    service.post(SETTLEMENTS, &body).await.expect(201);
}

/// The head of a call that is held until the server stops.
async fn long_poll(service: &Service, more: &str) -> String {
    service.head("GET", &format!("{SETTLEMENTS}/open/status?wait=30&version=1000"), more, b"").await
}

/// A connection on which a call is held.
async fn held(service: &Service, more: &str, in_flight: usize) -> TcpStream {
    let mut stream = service.connect().await;
    stream.write_all(long_poll(service, more).await.as_bytes()).await.unwrap();
    until_in_flight(service, in_flight).await;
    stream
}

async fn until_in_flight(service: &Service, calls: usize) {
    while !service.figures().await.contains(&format!("railgate_http_requests_in_flight {calls}\n")) {}
}

/// Reads whatever comes until the server closes the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text).await;
    String::from_utf8_lossy(&text).into_owned()
}

/// The value of a metric.
fn figure(figures: &str, name: &str) -> u64 {
    let line = figures.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_else(|| panic!("{name} is not in\n{figures}"));
    line.trim().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundreds_of_idle_connections_opened_again_and_again_lock_nobody_out() {
    let service = with(|hosted| {
        hosted.limits.connections = 64;
        hosted.limits.head_read = Duration::from_secs(600);
        hosted.limits.body_read = Duration::from_secs(600);
    })
    .await;
    let (address, over) = (service.running.address(), Arc::new(AtomicBool::new(false)));
    let opened = Arc::new(AtomicUsize::new(0));
    // Nothing, half a head, half a body that nobody has signed, and a whole call with nothing after it.
    let beginnings: [&[u8]; 4] = [
        b"",
        b"GET /healthz HTTP/1.1\r\nHost:",
        b"POST /api/v1/auth/challenges HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
    ];
    let flood: Vec<_> = (0..300)
        .map(|n| {
            let (over, opened) = (Arc::clone(&over), Arc::clone(&opened));
            tokio::spawn(async move {
                while !over.load(Ordering::Relaxed) {
                    let Ok(mut stream) = TcpStream::connect(address).await else { continue };
                    opened.fetch_add(1, Ordering::Relaxed);
                    let _ = stream.write_all(beginnings[n % 4]).await;
                    // It is opened again as soon as the server gives it up.
                    while !over.load(Ordering::Relaxed) && !matches!(stream.read(&mut [0; 1024]).await, Ok(0) | Err(_)) {}
                }
            })
        })
        .collect();
    while opened.load(Ordering::Relaxed) < 300 {
        tokio::task::yield_now().await;
    }
    // While more come than there are places, a new connection may be given up before its request arrives: nothing tells it from those
    // that never bring one. It is opened again, as any client does. No request that arrived is lost that way.
    for n in 0..20 {
        let ask = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        while !service.raw(ask).await.starts_with("HTTP/1.1 200") {}
        let body = json!({"amount": 5, "currency": "EUR", "to": "sim:ok", "reference": format!("r-{n}")}).to_string();
        let more = format!("Connection: close\r\nContent-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        let create = async || {
            let head = service.head("POST", SETTLEMENTS, &more, body.as_bytes()).await;
            service.raw(format!("{head}{body}").as_bytes()).await
        };
        let mut made = create().await;
        while made.is_empty() {
            made = create().await;
        }
        assert!(made.starts_with("HTTP/1.1 201"), "an earlier one was carried out and not answered: {made:?}");
    }
    let figures = service.figures().await;
    let creates = format!("railgate_http_requests_total{{route=\"{SETTLEMENTS}\",method=\"POST\",status=\"201\"}} ");
    assert_eq!(figure(&figures, &creates), 20);
    assert!(figure(&figures, "railgate_http_connections_evicted_total") > 200, "{figures}");
    assert!(figure(&figures, "railgate_http_connections ") <= 64, "{figures}");
    over.store(true, Ordering::Relaxed);
    for one in flood {
        one.abort();
    }
}

/// A connection with a create in flight, on a store that is held.
async fn creating(service: &Service, reference: &str, in_flight: usize) -> TcpStream {
    let body = json!({"amount": 2, "currency": "EUR", "to": "sim:ok", "reference": reference}).to_string();
    let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let head = service.head("POST", SETTLEMENTS, &more, body.as_bytes()).await;
    let mut stream = service.connect().await;
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    until_in_flight(service, in_flight).await;
    stream
}

#[tokio::test]
async fn a_connection_makes_room_when_it_is_idle_and_not_before() {
    let store = Arc::new(Slow::default());
    let service = service_with(store.clone(), |hosted| hosted.limits.connections = 2).await;
    store.hold(true);
    let first = creating(&service, "r-1", 1).await;
    let mut idle = service.connect().await;
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    read_until(&mut idle, |text| text.contains("\"ok\"")).await;
    // The idle one makes room, and the one with a call in flight does not.
    let third = creating(&service, "r-2", 2).await;
    assert_eq!(idle.read(&mut [0; 16]).await.unwrap(), 0);
    store.hold(false);
    for mut stream in [first, third] {
        read_until(&mut stream, |text| text.starts_with("HTTP/1.1 201")).await;
    }
}

#[tokio::test]
async fn probes_and_metrics_have_places_of_their_own() {
    let store = Arc::new(Slow::default());
    let service = service_with(store.clone(), |hosted| hosted.limits.connections = 2).await;
    store.hold(true);
    let _busy = [creating(&service, "r-1", 1).await, creating(&service, "r-2", 2).await];
    let address = service.running.metrics_address().unwrap();
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    for (path, expected) in [("/healthz", "\"ok\""), ("/readyz", "\"ready\""), ("/metrics", "railgate_http_connections 2\n")] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
        let answer = rest(stream).await;
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains(expected), "{answer}");
    }
    store.hold(false);
}

#[tokio::test]
async fn calls_that_wait_are_bounded_and_further_ones_are_answered_at_once() {
    let service = with(|hosted| hosted.limits.client_waits = 1).await;
    pending(&service).await;
    let _busy = held(&service, "", 1).await;
    let status = service.get(&format!("{SETTLEMENTS}/open/status?wait=30&version=1000")).await.expect(200);
    assert_eq!(status.json()["final"], false);
    // A create that cannot wait is a create: a server may ignore the preference, and then does not claim to apply it.
    let create = |reference: &str| {
        let body = json!({"amount": 5, "currency": "EUR", "to": "sim:pending", "reference": reference});
        let request = service.request("POST", SETTLEMENTS).header("prefer", "wait=30").header("content-type", "application/json");
        request.body(Body::from(body.to_string())).unwrap()
    };
    let made = service.send(create("at-once")).await.expect(201);
    assert_eq!(made.header("preference-applied"), None);
    // Another client has its own.
    let other = service.enroll("Other").await;
    let body = json!({"amount": 5, "currency": "EUR", "to": "sim:ok", "reference": "held"}).to_string();
    let request = hyper::Request::post(SETTLEMENTS).header("authorization", format!("Bearer {other}"));
    let request = request.header("prefer", "wait=30").header("content-type", "application/json");
    let made = service.send(request.body(Body::from(body)).unwrap()).await.expect(201);
    assert_eq!((made.header("preference-applied"), made.json()["status"].as_str()), (Some("wait=30"), Some("completed")));
}

#[tokio::test]
async fn who_leaves_gives_its_place_up_and_who_closes_its_side_hears_at_once() {
    let service = with(|hosted| {
        hosted.limits.client_waits = 1;
        // Nobody waits for the end of that.
        hosted.limits.wait_s = 30_000;
    })
    .await;
    pending(&service).await;
    let body = r#"{"amount":5,"currency":"EUR","to":"sim:pending","reference":"made"}"#;
    let create = format!("Content-Type: application/json\r\nContent-Length: {}\r\nPrefer: wait=30000\r\n", body.len());
    for leaves in [true, false] {
        let poll = service.head("GET", &format!("{SETTLEMENTS}/open/status?wait=30000&version=1000"), "", b"").await;
        let create = service.head("POST", SETTLEMENTS, &create, body.as_bytes()).await + body;
        for (call, said) in [(poll, "\"final\":false"), (create, "preference-applied: wait=30000")] {
            let mut stream = service.connect().await;
            stream.write_all(call.as_bytes()).await.unwrap();
            until_in_flight(&service, 1).await;
            if leaves {
                drop(stream);
            } else {
                stream.shutdown().await.unwrap();
                let answer = rest(stream).await;
                assert!(answer.starts_with("HTTP/1.1 20") && answer.contains(said), "{answer}");
            }
            until_in_flight(&service, 0).await;
        }
    }
}

#[tokio::test]
async fn a_request_that_comes_while_another_is_held_is_answered_after_it() {
    let service = with(|_| {}).await;
    let body = json!({"amount": 5, "currency": "EUR", "to": "sim:slow-30s", "reference": "held"});
    service.post(SETTLEMENTS, &body).await.expect(201);
    // The rail's first answer is a change as well: a wait that began before it would end with it.
    let events = format!("{SETTLEMENTS}/held/events");
    while !service.get(&events).await.expect(200).json().to_string().contains("attempt.answered") {}
    let first = service.head("GET", &format!("{SETTLEMENTS}/held/status?wait=30"), "", b"").await;
    let mut stream = service.connect().await;
    stream.write_all(first.as_bytes()).await.unwrap();
    until_in_flight(&service, 1).await;
    for part in ["GET /heal", "thz HTTP/1.1\r\nHost: x\r\n\r\n"] {
        stream.write_all(part.as_bytes()).await.unwrap();
    }
    service.env.advance_to(NOW + 31_000);
    let answers = read_until(&mut stream, |text| text.contains("\"ok\"")).await;
    assert!(answers.find("\"version\"").unwrap() < answers.find("\"ok\"").unwrap(), "{answers}");
}

/// A GET of the service's client whose response is not read.
async fn unread(service: &Service, path: &str) -> axum::response::Response {
    let request = service.request("GET", path).body(Body::empty()).unwrap();
    let request = service.sign(request, &*service.key_of(&service.token)).await;
    service.running.front().answer(request).await
}

/// 1,000 settlements.
async fn many(service: &Service) {
    let all: Vec<_> =
        (0..1_000).map(|n| json!({"amount": 1, "currency": "EUR", "to": "sim:pending", "reference": format!("m-{n}")})).collect();
    service.post(&format!("{SETTLEMENTS}/batch"), &json!({"settlements": all})).await.expect(200);
}

#[tokio::test]
async fn who_reads_no_response_gets_no_more_long_ones() {
    let service = with(|hosted| hosted.limits.unsent = 2 * 1024 * 1024).await;
    many(&service).await;
    let list = format!("{SETTLEMENTS}?limit=200");
    let mut held = Vec::new();
    let refused = loop {
        let response = unread(&service, &list).await;
        match response.status().as_u16() {
            200 => held.push(response),
            _ => break response,
        }
    };
    assert!((1..=2).contains(&held.len()), "{}", held.len());
    assert_eq!(refused.status(), 429);
    let body = json!({"settlements": [{"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "b-1"}]});
    // Short ones go on, and others have their own share.
    service.get("/api/v1/balances").await.expect(200);
    service.post(&format!("{SETTLEMENTS}/batch"), &body).await.expect(200);
    held.pop();
    service.get(&list).await.expect(200);
}

#[tokio::test]
async fn a_response_that_is_read_makes_room_for_the_next_on_its_connection() {
    let service = with(|hosted| hosted.limits.unsent = 2 * 1024 * 1024).await;
    many(&service).await;
    let mut stream = service.connect().await;
    for _ in 0..10 {
        let head = service.head("GET", &format!("{SETTLEMENTS}?limit=200"), "", b"").await;
        stream.write_all(head.as_bytes()).await.unwrap();
        let answer = read_until(&mut stream, |text| {
            let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            body.len() == length.parse::<usize>().unwrap()
        })
        .await;
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[tokio::test]
async fn a_client_runs_two_exports_at_once() {
    let service = with(|_| {}).await;
    many(&service).await;
    let export = format!("{SETTLEMENTS}/export");
    let ask = async || {
        let request = service.request("GET", &export).header("accept", "text/csv").body(Body::empty()).unwrap();
        let request = service.sign(request, &*service.key_of(&service.token)).await;
        service.running.front().answer(request).await
    };
    let (first, second) = (ask().await, ask().await);
    assert_eq!(
        (first.status(), second.status(), ask().await.status()),
        (200.try_into().unwrap(), 200.try_into().unwrap(), 429.try_into().unwrap())
    );
    drop(first);
    while ask().await.status() != 200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn sixteen_exports_run_at_once_whosever_they_are() {
    let mut service = with(|_| {}).await;
    let export = format!("{SETTLEMENTS}/export");
    let mut running = Vec::new();
    for n in 0..8 {
        service.token = service.enroll(&format!("Shop {n}")).await;
        many(&service).await;
        for _ in 0..2 {
            running.push(unread(&service, &export).await);
        }
    }
    assert!(running.iter().all(|export| export.status() == 200));
    service.token = service.enroll("Late").await;
    let refused = service.get(&export).await.problem(429, "rate_limited");
    assert_eq!((&refused["detail"], &refused["retryable"]), (&json!("too many exports are running; try again later"), &json!(true)));
    service.get(SETTLEMENTS).await.expect(200);
    // One that ends makes room.
    running.pop();
    while service.get(&export).await.status != 200 {
        tokio::task::yield_now().await;
    }
}

/// An unsigned call, as a proxy passes it on for `caller`.
async fn forwarded(service: &Service, caller: &str) -> String {
    let head = format!("GET {SETTLEMENTS} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Forwarded-For: 198.51.100.9, {caller}\r\n\r\n");
    service.raw(head.as_bytes()).await
}

#[tokio::test]
async fn behind_a_trusted_proxy_each_caller_has_its_own_limits() {
    let rate = railgate_server::RateLimits { reads_per_minute: 3_000, writes_per_minute: 600 };
    for trusted in [true, false] {
        let service = with(|hosted| {
            hosted.edge.rate = Some(rate);
            hosted.edge.trusted_proxies = if trusted { vec!["127.0.0.0/8".parse().unwrap()] } else { Vec::new() };
            hosted.limits.address_connections = Some(1);
        })
        .await;
        while forwarded(&service, "203.0.113.1").await.starts_with("HTTP/1.1 401") {}
        let other = forwarded(&service, "203.0.113.2").await;
        assert_eq!(other.starts_with("HTTP/1.1 401"), trusted, "{other}");
        if trusted {
            // One call of each at a time.
            pending(&service).await;
            let _busy = held(&service, "X-Forwarded-For: 203.0.113.3\r\n", 1).await;
            let again = service.raw(long_poll(&service, "Connection: close\r\nX-Forwarded-For: 203.0.113.3\r\n").await.as_bytes()).await;
            assert!(again.starts_with("HTTP/1.1 429"), "{again}");
            let other = forwarded(&service, "203.0.113.4").await;
            assert!(other.starts_with("HTTP/1.1 401"), "{other}");
        }
    }
}
