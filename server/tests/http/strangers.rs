//! What callers can cause before they are known: little is read from the store, and nothing of a body into memory.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use axum::body::Body;
use hyper::Request;
use railgate::auth::{KeyId, Signer as _, SoftwareKey, token_text};
use railgate::ids::IdKey;
use railgate::ledger::Mode;
use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, RecordKind};
use railgate::store::{StoreError, Unique};
use railgate_server::RateLimits;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::support::{NOW, SETTLEMENTS, Service, read_until, service, service_with, service_without_client};

const BATCH: &str = "/api/v1/gateway/settlements/batch";
const TOKENS: &str = "/api/v1/auth/tokens";
const MIB: usize = 1024 * 1024;

/// Counts the reads that find out who calls.
#[derive(Default)]
struct Counting {
    reads: AtomicUsize,
}

impl Counting {
    /// The reads since the last call.
    fn taken(&self) -> usize {
        self.reads.swap(0, Ordering::SeqCst)
    }
}

impl Hooks for Counting {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        let finds_out = matches!(call, Call::Get(Key::Token(_) | Key::Key(_)) | Call::Find(Unique::KeyId(_)));
        self.reads.fetch_add(usize::from(finds_out), Ordering::SeqCst);
        Ok(())
    }
}

async fn counted() -> (Arc<Hooked<Counting>>, Service) {
    let store = Arc::new(Hooked::<Counting>::default());
    let rates = RateLimits { reads_per_minute: 60_000, writes_per_minute: 60_000 };
    let service = service_with(store.clone(), |hosted| hosted.edge.rate = Some(rates)).await;
    store.taken();
    (store, service)
}

fn numbered(n: u32) -> [u8; 32] {
    let mut bytes = [1; 32];
    bytes[..4].copy_from_slice(&n.to_be_bytes());
    bytes
}

/// A request for a token, signed by `key`.
async fn asks(service: &Service, key: &SoftwareKey) -> Request<Body> {
    let request = Request::post(TOKENS).header("content-type", "application/json").body(Body::from("{}")).unwrap();
    service.sign(request, key).await
}

#[tokio::test]
async fn a_thousand_tokens_that_were_made_up_cost_no_read() {
    let (store, service) = counted().await;
    for n in 0..1_000 {
        let token = token_text(&IdKey([9; 16]), Mode::Sandbox, &numbered(n), i64::MAX);
        let call = Request::get(SETTLEMENTS).header("authorization", format!("Bearer {token}"));
        let answer = service.exchange(call.body(Body::empty()).unwrap()).await;
        assert!([401, 429].contains(&answer.status.as_u16()));
    }
    assert_eq!(store.taken(), 0);
    service.get(SETTLEMENTS).await.expect(200);
    assert_eq!(store.taken(), 2, "one's own token is looked up, with its key");
}

#[tokio::test]
async fn a_token_that_was_revoked_is_read_once_and_one_that_is_over_is_not() {
    let (store, service) = counted().await;
    let mut tokens = Vec::new();
    for _ in 0..2 {
        let key = service.key_of(&service.token);
        let taken = service.exchange(asks(&service, &key).await).await.expect(200).json();
        tokens.push(taken["access_token"].as_str().unwrap().to_owned());
        service.keys.lock().unwrap().insert(tokens.last().unwrap().clone(), key);
    }
    let with = |method: &str, path: &str, token: &str| {
        Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}")).body(Body::empty()).unwrap()
    };
    service.send(with("POST", "/api/v1/auth/tokens/revoke", &tokens[0])).await.expect(204);
    store.taken();
    for _ in 0..10 {
        service.exchange(with("GET", SETTLEMENTS, &tokens[0])).await.problem(401, "token_invalid");
    }
    assert_eq!(store.taken(), 1);
    service.env.advance_to(NOW + 902_000);
    for _ in 0..10 {
        service.exchange(with("GET", SETTLEMENTS, &tokens[1])).await.problem(401, "token_expired");
    }
    assert_eq!(store.taken(), 0);
}

#[tokio::test]
async fn a_thousand_keys_that_nobody_has_cost_their_address_its_failures_and_no_more_reads() {
    let (store, service) = counted().await;
    let own = service.key_of(&service.token);
    let enrolled_elsewhere = Arc::new(SoftwareKey::ed25519(&numbered(5_000)));
    for n in 0..1_000 {
        service.exchange(asks(&service, &SoftwareKey::ed25519(&numbered(n))).await).await;
    }
    assert_eq!(store.taken(), 60, "as many as an address may fail in a minute");
    // A key that has signed here goes on, at the same address; one that is new here has to wait.
    service.exchange(asks(&service, &own).await).await.expect(200);
    let refused = service.exchange(asks(&service, &enrolled_elsewhere).await).await;
    assert!(refused.header("retry-after").is_some());
    refused.problem(429, "rate_limited");
    service.env.advance_to(NOW + 1_000);
    service.exchange(asks(&service, &enrolled_elsewhere).await).await.problem(401, "key_unknown");
}

#[tokio::test]
async fn a_key_that_nobody_has_is_read_once_a_second_until_it_is_enrolled() {
    let (store, service) = counted().await;
    let key = Arc::new(SoftwareKey::ed25519(&numbered(1)));
    for _ in 0..10 {
        service.exchange(asks(&service, &key).await).await.problem(401, "key_unknown");
    }
    assert_eq!(store.taken(), 1);
    service.enroll_with("Late", key.clone()).await;
    service.exchange(asks(&service, &key).await).await.expect(200);
}

#[tokio::test]
async fn who_names_the_key_of_another_causes_no_read() {
    let (store, service) = counted().await;
    let own = service.key_of(&service.token);
    service.exchange(asks(&service, &own).await).await.expect(200);
    store.taken();
    for _ in 0..100 {
        let mut forged = asks(&service, &own).await;
        *forged.uri_mut() = format!("{TOKENS}?x").parse().unwrap();
        let answer = service.exchange(forged).await;
        assert!([401, 429].contains(&answer.status.as_u16()));
    }
    assert_eq!(store.taken(), 0);
}

/// A remote store that keeps look-ups of keys waiting while it is told to, of all but one.
#[derive(Default)]
struct Stuck {
    /// The key that is looked up all the same, and how many look-ups wait.
    held: Mutex<(Option<KeyId>, usize)>,
    freed: Condvar,
}

impl Stuck {
    fn hold(&self, but: Option<KeyId>) {
        self.held.lock().unwrap().0 = but;
        self.freed.notify_all();
    }

    fn waiting(&self) -> usize {
        self.held.lock().unwrap().1
    }
}

impl Hooks for Stuck {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        let mut held = self.held.lock().unwrap();
        if let (Call::Find(Unique::KeyId(key)), Some(spared)) = (call, held.0)
            && *key != spared
        {
            held.1 += 1;
            held = self.freed.wait_while(held, |held| held.0.is_some()).unwrap();
            held.1 -= 1;
        }
        Ok(())
    }

    fn is_remote(&self) -> bool {
        true
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixteen_strangers_are_looked_up_at_once_and_no_client_waits_for_them() {
    let store = Arc::new(Hooked::<Stuck>::default());
    let service = Arc::new(service_with(store.clone(), |_| {}).await);
    let own = service.key_of(&service.token);
    store.hold(Some(own.public_key().id()));
    let come = |n: u32| {
        let service = Arc::clone(&service);
        tokio::spawn(async move { service.exchange(asks(&service, &SoftwareKey::ed25519(&numbered(n))).await).await })
    };
    let strangers: Vec<_> = (0..16).map(come).collect();
    while store.waiting() < 16 {
        tokio::task::yield_now().await;
    }
    // The next one does not wait for a place.
    let next = come(16);
    while !next.is_finished() && store.waiting() == 16 {
        tokio::task::yield_now().await;
    }
    if !next.is_finished() {
        store.hold(None);
        panic!("one more is looked up");
    }
    let refused = next.await.unwrap().problem(503, "store_unavailable");
    assert_eq!(refused["retryable"], true, "{refused:#}");
    // A token that is not cached yet is looked up, and so is a key that has signed here.
    service.get(SETTLEMENTS).await.expect(200);
    service.exchange(asks(&service, &own).await).await.expect(200);
    assert_eq!(store.waiting(), 16);
    store.hold(None);
    for stranger in strangers {
        stranger.await.unwrap().problem(401, "key_unknown");
    }
    come(17).await.unwrap().problem(401, "key_unknown");
}

/// Remembers which lists were read.
#[derive(Default)]
struct Listed(Mutex<Vec<RecordKind>>);

impl Listed {
    /// How many lists of this kind were read since the last call.
    fn taken(&self, kind: RecordKind) -> usize {
        let mut read = self.0.lock().unwrap();
        let all = read.len();
        read.retain(|one| *one != kind);
        all - read.len()
    }
}

impl Hooks for Listed {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        if let Call::Scan(scan) = call {
            self.0.lock().unwrap().push(scan.kind());
        }
        Ok(())
    }
}

#[tokio::test]
async fn what_anybody_may_ask_for_is_read_once_a_second_and_the_rest_never() {
    let store = Arc::new(Hooked::<Listed>::default());
    let service = service_without_client(store.clone(), |hosted| hosted.worker.carries = false).await;
    let ask = async |path: &str| {
        for _ in 0..100 {
            service.exchange(Request::get(path).body(Body::empty()).unwrap()).await.expect(200);
        }
    };
    // From here on time passes only when the test says so.
    tokio::time::pause();
    let kinds = [RecordKind::Secret, RecordKind::Task];
    let _ = kinds.map(|kind| store.taken(kind));
    for (path, kind) in ["/.well-known/jwks.json", "/readyz"].into_iter().zip(kinds) {
        for _ in 0..3 {
            ask(path).await;
            assert_eq!(store.taken(kind), 1, "{path}");
            tokio::time::advance(Duration::from_secs(1)).await;
        }
    }
    for path in ["/healthz", "/openapi.json"] {
        ask(path).await;
        assert_eq!(kinds.map(|kind| store.taken(kind)), [0, 0], "{path}");
    }
}

/// The problem that arrives although only `head` was sent.
async fn by_its_head(service: &Service, head: &str) -> (TcpStream, Value) {
    let mut stream = service.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let text = read_until(&mut stream, |text| text.contains("\r\n\r\n{") && text.ends_with('}')).await;
    let problem = text.split_once("\r\n\r\n").unwrap().1;
    (stream, serde_json::from_str(problem).unwrap())
}

/// A signed head of a batch whose body is announced and not sent.
async fn announced(service: &Service, length: usize, more: &str) -> String {
    let more = format!("Content-Type: application/json\r\nContent-Length: {length}\r\n{more}");
    service.head("POST", BATCH, &more, b"{}").await
}

#[tokio::test]
async fn a_body_is_not_waited_for_before_its_sender_is_known() {
    let service = service().await;
    let plain = |path: &str, length: usize| {
        format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n")
    };
    let signed = announced(&service, MIB, "").await;
    let used = announced(&service, 2, "").await;
    service.raw(format!("{}{{}}", used.replace("Host: x", "Host: x\r\nConnection: close")).as_bytes()).await;
    let cases = [
        (plain(BATCH, MIB), "token_missing"),
        (plain(TOKENS, 60_000), "signature_missing"),
        (signed.replace(&service.token, &token_text(&IdKey([9; 16]), Mode::Sandbox, &[7; 32], i64::MAX)), "token_invalid"),
        (signed.replace("/batch HTTP", "/batch?x HTTP"), "signature_invalid"),
        (signed.replace("application/json", "text/plain"), "unsupported_media_type"),
        (used, "nonce_replayed"),
        (announced(&service, MIB + 1, "").await, "body_too_large"),
        (plain("/api/v1/auth/enrollments", 9_000), "body_too_large"),
        (plain("/api/v1/auth/challenges", 5_000), "body_too_large"),
        (plain("/nowhere", MIB), "route_not_found"),
        (plain("/healthz", MIB), "method_not_allowed"),
    ];
    for (head, code) in cases {
        let (_stream, problem) = by_its_head(&service, &head).await;
        assert_eq!(problem["code"], code, "{head}");
    }
}

#[tokio::test]
async fn whose_quota_is_used_up_is_told_so_before_its_body_is_read() {
    let rates = RateLimits { reads_per_minute: 60, writes_per_minute: 1 };
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| hosted.edge.rate = Some(rates)).await;
    // A head alone uses up nothing, however often it is sent.
    for _ in 0..3 {
        let head = announced(&service, 2, "Connection: close\r\nExpect: 100-continue\r\n").await;
        let mut stream = service.connect().await;
        stream.write_all(head.as_bytes()).await.unwrap();
        read_until(&mut stream, |text| text.starts_with("HTTP/1.1 100")).await;
    }
    let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "w-1"});
    service.post(SETTLEMENTS, &body).await.expect(201);
    let head = announced(&service, MIB, "").await;
    let (_stream, problem) = by_its_head(&service, &head).await;
    assert_eq!(problem["code"], "rate_limited", "{problem:#}");
    // A minute later it is read.
    service.env.advance_to(NOW + 60_000);
    let later = service.raw(format!("{}{{}}", announced(&service, 2, "Connection: close\r\n").await).as_bytes()).await;
    assert!(later.starts_with("HTTP/1.1 422"), "{later}");
}

#[tokio::test]
async fn who_is_refused_while_it_sends_sees_why() {
    let service = service().await;
    let head = format!("POST {BATCH} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n");
    let declared = format!("{head}Content-Length: {MIB}\r\n\r\n{}", "x".repeat(MIB));
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let chunked = format!("{head}Transfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n", chunk.repeat(32));
    for whole in [declared, chunked] {
        let answer = service.raw(whole.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 401") && answer.contains("token_missing"), "{answer}");
    }
}

#[tokio::test]
async fn a_sender_has_a_share_of_the_memory_for_bodies() {
    let service = service().await;
    let mut open = Vec::new();
    for _ in 0..8 {
        let mut stream = service.connect().await;
        stream.write_all(announced(&service, MIB, "Expect: 100-continue\r\n").await.as_bytes()).await.unwrap();
        // It is asked for the body, so memory is set aside for it.
        read_until(&mut stream, |text| text.starts_with("HTTP/1.1 100")).await;
        open.push(stream);
    }
    let (_stream, problem) = by_its_head(&service, &announced(&service, MIB, "Expect: 100-continue\r\n").await).await;
    assert_eq!((&problem["code"], &problem["retryable"]), (&"store_unavailable".into(), &true.into()), "{problem:#}");
    service.get("/api/v1/balances").await.expect(200);
    let other = service.enroll("Other").await;
    let body = r#"{"settlements":[{"amount":1,"currency":"EUR","to":"sim:ok","reference":"m-1"}]}"#;
    let batch = Request::post(BATCH).header("authorization", format!("Bearer {other}")).header("content-type", "application/json");
    let length = body.len().to_string();
    service.send(batch.header("content-length", length).body(Body::from(body)).unwrap()).await.expect(200);
    // Memory is given back when a sender goes away.
    for mut stream in open {
        stream.shutdown().await.unwrap();
        read_until(&mut stream, |text| text.contains("malformed_request")).await;
    }
    let mut stream = service.connect().await;
    stream.write_all(announced(&service, MIB, "Expect: 100-continue\r\n").await.as_bytes()).await.unwrap();
    read_until(&mut stream, |text| text.starts_with("HTTP/1.1 100")).await;
}
