//! Each problem has its code, its status and its headers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use axum::body::Body;
use hyper::Request;
use railgate::ErrorCode;
use railgate::store::hooked::{Call, Hooked, Hooks};
use railgate::store::record::{Record, RecordKind};
use railgate::store::{Commit, CommitError, StoreError, Write};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::support::{NOW, PATIENCE, SETTLEMENTS, service, service_with};

fn create(reference: &str, to: &str, amount: Value) -> Value {
    json!({"amount": amount, "currency": "EUR", "to": to, "reference": reference})
}

#[tokio::test]
async fn who_is_not_known_is_challenged() {
    let service = service().await;
    let send = |authorization: Option<String>| {
        let mut request = Request::get("/api/v1/balances");
        if let Some(value) = authorization {
            request = request.header("authorization", value);
        }
        service.send(request.body(Body::empty()).unwrap())
    };
    let missing = send(None).await;
    assert_eq!(missing.header("www-authenticate"), Some("Bearer realm=\"railgate\""));
    missing.problem(401, "token_missing");
    send(Some("Basic dTpw".to_owned())).await.problem(401, "token_missing");
    send(Some("Bearer".to_owned())).await.problem(401, "token_missing");
    let invalid = send(Some("Bearer rg_sandbox_nonsense".to_owned())).await;
    assert_eq!(invalid.header("www-authenticate"), Some("Bearer realm=\"railgate\", error=\"invalid_token\""));
    invalid.problem(401, "token_invalid");
    // A token is cached for some seconds, but never beyond its expiry.
    send(Some(format!("Bearer {}", service.token))).await.expect(200);
    service.env.advance_to(NOW + 900_000 - 1);
    send(Some(format!("Bearer {}", service.token))).await.expect(200);
    service.env.advance_to(NOW + 900_000);
    send(Some(format!("Bearer {}", service.token))).await.problem(401, "token_expired");
}

#[tokio::test]
async fn paths_and_methods() {
    let service = service().await;
    let problem = service.get("/nowhere").await.problem(404, "route_not_found");
    assert_eq!(problem["instance"], "/nowhere");
    let version = service.get("/api/v2/gateway/settlements").await.problem(404, "route_not_found");
    assert!(version["detail"].as_str().unwrap().contains("/api/v1"));
    let delete = service.send(service.request("DELETE", SETTLEMENTS).body(Body::empty()).unwrap()).await;
    let mut allowed: Vec<_> = delete.header("allow").unwrap().split(',').collect();
    allowed.sort_unstable();
    assert_eq!(allowed, ["GET", "HEAD", "POST"]);
    delete.problem(405, "method_not_allowed");
    // Static path segments take precedence over references: no reference may have such a name.
    service.get(&format!("{SETTLEMENTS}/check")).await.problem(405, "method_not_allowed");
    service.get(&format!("{SETTLEMENTS}/batch")).await.problem(405, "method_not_allowed");
    service.post(&format!("{SETTLEMENTS}/x/nothing"), &json!({})).await.problem(404, "route_not_found");
}

#[tokio::test]
async fn things_that_are_not_there() {
    let service = service().await;
    service.settled("n-1", "sim:ok").await;
    for name in ["n-2", "stl_01ARZ3NDEKTSV4RRFFQ69G5FAV", "stl_short", "%FF", "a%2Fb", "%00"] {
        service.get(&format!("{SETTLEMENTS}/{name}")).await.problem(404, "settlement_not_found");
    }
    service.get(&format!("{SETTLEMENTS}/n-1/reversals/rev_x")).await.problem(404, "reversal_not_found");
    service.get("/api/v1/balances/XXX").await.problem(404, "balance_not_found");
    service.get("/api/v1/balances/eur").await.problem(404, "balance_not_found");
}

#[tokio::test]
async fn kinds_of_bodies_and_answers() {
    let service = service().await;
    let send = |name: &'static str, value: &'static str| {
        let request = service.request("POST", SETTLEMENTS).header(name, value);
        service.send(request.body(Body::from(create("a-1", "sim:ok", json!(1)).to_string())).unwrap())
    };
    send("content-type", "text/plain").await.problem(415, "unsupported_media_type");
    send("x-nothing", "1").await.problem(415, "unsupported_media_type");
    let request = service.request("POST", SETTLEMENTS).header("content-type", "application/json").header("content-encoding", "gzip");
    service.send(request.body(Body::from("x")).unwrap()).await.problem(415, "unsupported_media_type");
    let request = service.request("POST", SETTLEMENTS).header("content-type", "application/json").header("accept", "text/html");
    let refused = service.send(request.body(Body::from(create("a-2", "sim:ok", json!(1)).to_string())).unwrap()).await;
    refused.problem(406, "not_acceptable");
    service.get(&format!("{SETTLEMENTS}/a-2")).await.problem(404, "settlement_not_found");
    let request = service.request("GET", &format!("{SETTLEMENTS}/export")).header("accept", "application/json");
    service.send(request.body(Body::empty()).unwrap()).await.problem(406, "not_acceptable");
    send("content-type", "application/vnd.railgate+json; charset=utf-8").await.expect(201);
}

#[tokio::test]
async fn fields_are_told_all_at_once() {
    let service = service().await;
    let body = json!({"amount": "1.001", "currency": "EUR", "to": "nope", "reference": "a b", "extra": 1, "sandbox": "yes"});
    let problem = service.post(SETTLEMENTS, &body).await.problem(422, "invalid_fields");
    let pointers: Vec<_> = problem["errors"].as_array().unwrap().iter().map(|e| e["pointer"].as_str().unwrap()).collect();
    for pointer in ["/amount", "/to", "/reference", "/sandbox", "/extra"] {
        assert!(pointers.contains(&pointer), "{pointer} in {problem:#}");
    }
    let query = service.get(&format!("{SETTLEMENTS}?limit=0&status=gone&colour=red")).await.problem(422, "invalid_fields");
    assert_eq!(query["errors"].as_array().unwrap().len(), 3);
    service.get(&format!("{SETTLEMENTS}?cursor=garbage")).await.problem(400, "invalid_cursor");
    service.get(&format!("{SETTLEMENTS}/x/status?wait=31")).await.problem(422, "invalid_fields");
    service.post("/api/v1/auth/enrollments", &json!({"client_name": ""})).await.problem(422, "invalid_fields");
    service.post("/api/v1/auth/enrollments", &json!({})).await.problem(422, "invalid_fields");
}

#[tokio::test]
async fn rules_of_business() {
    let service = service().await;
    service.post(SETTLEMENTS, &create("p-1", "sim:pending", json!(5))).await.expect(201);
    service.post(SETTLEMENTS, &create("p-1", "sim:pending", json!(6))).await.problem(409, "reference_conflict");
    service.post(SETTLEMENTS, &create("p-2", "sim:ok", json!(900_000_000))).await.problem(422, "insufficient_funds");
    let live = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "p-3", "sandbox": false});
    service.post(SETTLEMENTS, &live).await.problem(403, "mode_mismatch");
    service.until("p-1", "submitted").await;
    let reverse = |reference: &str| format!("{SETTLEMENTS}/{reference}/reverse");
    let in_flight = service.post(&reverse("p-1"), &json!({})).await.problem(409, "settlement_in_flight");
    assert_eq!(in_flight["retryable"], true);
    service.settled("p-4", "sim:ok").await;
    service.post(&reverse("p-4"), &json!({"amount": 101})).await.problem(409, "reversal_exceeds_remaining");
    service.post(&reverse("p-4"), &json!({})).await.expect(201);
    service.until("p-4", "reversed").await;
    service.post(&reverse("p-4"), &json!({})).await.problem(409, "already_reversed");
    service.settled("p-5", "sim:decline-recipient_not_found").await;
    service.post(&reverse("p-5"), &json!({})).await.problem(409, "invalid_state");
    let request = service.request("POST", &reverse("p-4")).header("idempotency-key", "");
    service.send(request.body(Body::empty()).unwrap()).await.problem(400, "malformed_request");
}

#[tokio::test]
async fn request_ids_are_taken_or_made() {
    let service = service().await;
    let ask = |id: &'static str| service.send(service.request("GET", "/nowhere").header("x-request-id", id).body(Body::empty()).unwrap());
    assert_eq!(ask("order-17").await.problem(404, "route_not_found")["request_id"], "order-17");
    let made = ask("not good").await.problem(404, "route_not_found");
    assert!(made["request_id"].as_str().unwrap().starts_with("req_"));
}

/// A store that fails, waits and panics on demand.
#[derive(Default)]
struct Moody {
    failing: AtomicBool,
    /// It fails after the next commit that adds a settlement or a client, not counting those of the background.
    fails_then: AtomicBool,
    /// It makes no commit until it is opened again.
    shut: Mutex<bool>,
    opened: Condvar,
    panicking: AtomicBool,
    /// It panics when it is asked what is due next, which the worker does when nothing is.
    panics_when_idle: AtomicBool,
    panicked: Notify,
}

impl Moody {
    fn shut(&self, shut: bool) {
        *self.shut.lock().unwrap() = shut;
        self.opened.notify_all();
    }

    fn mood(&self) -> Result<(), StoreError> {
        assert!(!self.panicking.load(Ordering::SeqCst), "told to");
        match self.failing.load(Ordering::SeqCst) {
            true => Err(StoreError::unavailable("testing", "the disk is at lunch, rg_secret")),
            false => Ok(()),
        }
    }
}

impl Hooks for Moody {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        if let Call::Commit(_) = call {
            drop(self.opened.wait_while(self.shut.lock().unwrap(), |shut| *shut).unwrap());
        }
        self.mood()?;
        if let Call::Scan(scan) = call
            && self.panics_when_idle.load(Ordering::SeqCst)
            && scan.kind() == RecordKind::Task
            && scan.limit() == 1
        {
            self.panicked.notify_one();
            panic!("told to");
        }
        Ok(())
    }

    fn committed(&self, commit: &Commit, _: &Result<(), CommitError>) {
        let adds = |write: &Write| matches!(write, Write::Insert(Record::Settlement(_) | Record::Client(_)));
        if commit.writes.iter().any(adds) && self.fails_then.swap(false, Ordering::SeqCst) {
            self.failing.store(true, Ordering::SeqCst);
        }
    }
}

#[tokio::test]
async fn faults_of_ours_say_little_and_pass() {
    let store = Arc::new(Hooked::<Moody>::default());
    let service = service_with(store.clone(), |_| {}).await;
    service.settled("f-0", "sim:ok").await;
    let body = create("f-1", "sim:ok", json!(1));

    store.failing.store(true, Ordering::SeqCst);
    let down = service.post(SETTLEMENTS, &body).await;
    assert_eq!(down.header("retry-after"), Some("1"));
    assert!(!down.text().contains("lunch"), "{}", down.text());
    assert_eq!(down.problem(503, "store_unavailable")["retryable"], true);
    service.get(&format!("{SETTLEMENTS}/f-0")).await.problem(503, "store_unavailable");
    service.get("/readyz").await.problem(503, "store_unavailable");
    service.get("/healthz").await.expect(200);
    store.failing.store(false, Ordering::SeqCst);

    store.panicking.store(true, Ordering::SeqCst);
    service.get(&format!("{SETTLEMENTS}/f-0")).await.problem(500, "internal");
    service.get(SETTLEMENTS).await.problem(500, "internal");
    service.post(SETTLEMENTS, &body).await.problem(500, "internal");
    store.panicking.store(false, Ordering::SeqCst);

    store.shut(true);
    // From here on waiting takes no time.
    tokio::time::pause();
    let late = service.post(SETTLEMENTS, &body).await.problem(504, "timeout");
    assert!(late["detail"].as_str().unwrap().contains("nothing is done twice"), "{late:#}");
    assert_eq!(late["retryable"], true);
    // A partial reversal without its own reference would be carried out twice.
    let back = format!("{SETTLEMENTS}/f-0/reverse");
    let late = service.post(&back, &json!({"amount": "0.10"})).await.problem(504, "timeout");
    assert!(late["detail"].as_str().unwrap().contains("could be done twice"), "{late:#}");
    assert_eq!(late["retryable"], false);
    let named = service.post(&back, &json!({"amount": "0.10", "reference": "back-1"})).await.problem(504, "timeout");
    assert_eq!(named["retryable"], true);
    tokio::time::resume();
    store.shut(false);
    // It was carried out nevertheless, as sending it again shows.
    assert_eq!(service.post(SETTLEMENTS, &body).await.expect(200).header("idempotent-replayed"), Some("true"));
    service.until("f-1", "completed").await;
}

#[tokio::test]
async fn a_panic_under_the_background_leaves_nothing_undone() {
    let store = Arc::new(Hooked::<Moody>::default());
    let service = service_with(store.clone(), |_| {}).await;
    store.panics_when_idle.store(true, Ordering::SeqCst);
    for _ in 0..2 {
        tokio::time::timeout(PATIENCE, store.panicked.notified()).await.expect("nobody looks into the outbox");
    }
    store.panics_when_idle.store(false, Ordering::SeqCst);
    service.settled("b-1", "sim:ok").await;
}

#[tokio::test]
async fn what_was_done_is_not_called_off_because_the_store_failed_since() {
    let store = Arc::new(Hooked::<Moody>::default());
    let service = service_with(store.clone(), |hosted| hosted.worker.carries = false).await;
    store.fails_then.store(true, Ordering::SeqCst);
    let request = service.request("POST", SETTLEMENTS).header("prefer", "wait=1").header("content-type", "application/json");
    let request = request.body(Body::from(create("made", "sim:ok", json!(1)).to_string())).unwrap();
    assert_eq!(service.send(request).await.expect(201).json()["status"], "accepted");
    store.failing.store(false, Ordering::SeqCst);

    // The token of an enrolment is shown only once.
    store.fails_then.store(true, Ordering::SeqCst);
    service.enroll("Made all the same").await;
    assert!(store.failing.load(Ordering::SeqCst));
}

#[tokio::test]
async fn the_type_of_a_problem_leads_to_its_page() {
    let service = service().await;
    let fetch = async |path: &str| {
        let request = Request::get(path).header("accept", "text/html").body(Body::empty()).unwrap();
        service.exchange(request).await
    };
    let kind = service.post(SETTLEMENTS, &json!({})).await.problem(422, "invalid_fields")["type"].as_str().unwrap().to_owned();
    assert!(fetch(&kind).await.expect(200).text().contains("<h1>Some fields are not valid</h1>"));
    let list = fetch("/docs/problems").await.expect(200);
    for code in ErrorCode::ALL {
        assert!(list.text().contains(&format!("href=\"{}\"", code.uri())), "{code:?}");
        let page = fetch(&code.uri()).await.expect(200);
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(page.header("cache-control"), Some("public, max-age=300"));
        assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'; style-src 'sha256-"));
        for part in [format!("HTTP status {}", code.http_status()), format!("<code>{}</code>", code.as_str())] {
            assert!(page.text().contains(&part), "{part}: {}", page.text());
        }
        assert!(!page.text().contains(['`']) && !page.text().contains("src="), "{code:?}");
        // Every text is well formed: backticks are closed, and sentences end.
        for text in [code.meaning(), code.advice()] {
            assert!(text.ends_with('.') && text.matches('`').count() % 2 == 0 && !text.contains("  "), "{code:?}: {text}");
        }
    }
    for unknown in ["/docs/problems/nothing", "/docs/problems/%FF", "/docs/problems/INTERNAL"] {
        fetch(unknown).await.problem(404, "route_not_found");
    }
    let posted = Request::post("/docs/problems").body(Body::empty()).unwrap();
    service.exchange(posted).await.problem(405, "method_not_allowed");
}

/// A store that takes no writes on demand, as with a full disk.
#[derive(Default)]
struct Full(AtomicBool);

impl Hooks for Full {
    fn before(&self, call: &Call<'_>) -> Result<(), StoreError> {
        match (call, self.0.load(Ordering::SeqCst)) {
            (Call::Commit(_), true) => Err(StoreError::unavailable("testing", "the disk is full")),
            _ => Ok(()),
        }
    }
}

#[tokio::test]
async fn a_service_whose_store_takes_no_writes_is_not_ready_until_it_does() {
    let store = Arc::new(Hooked::<Full>::default());
    let service = service_with(store.clone(), |hosted| hosted.worker.carries = false).await;
    service.get("/readyz").await.expect(200);
    store.0.store(true, Ordering::SeqCst);
    service.post(SETTLEMENTS, &create("w-1", "sim:ok", json!(1))).await.problem(503, "store_unavailable");
    // What it was a second ago may still be said.
    let until = async |ready: bool| while (service.get("/readyz").await.status == 200) != ready {};
    until(false).await;
    service.get("/readyz").await.problem(503, "store_unavailable");
    service.get("/healthz").await.expect(200);
    // Nobody else writes anything: that it takes writes again is found out by trying.
    store.0.store(false, Ordering::SeqCst);
    until(true).await;
}
