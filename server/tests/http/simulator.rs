//! The simulator over HTTP: each client controls its own sandbox, and only that.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use hyper::Request;
use railgate::env::Env as _;
use railgate::store::memory::MemoryStore;
use railgate_server::RateLimits;
use serde_json::{Value, json};

use super::support::{Answer, PATIENCE, SETTLEMENTS, Service, service, service_with};

const FUND: &str = "/api/v1/simulator/fund";

#[tokio::test]
async fn play_money_is_added_to_the_caller_s_account_only() {
    let service = service().await;
    let other = service.enroll("Other shop").await;
    let funded = service.post(FUND, &json!({"currency": "CHF", "amount": "12.50"})).await.expect(200);
    assert!(funded.text().contains("\"available\":12.50,"), "{}", funded.text());
    assert_eq!(service.get("/api/v1/balances/CHF").await.json()["ledger"].to_string(), "12.5");
    let theirs = Request::get("/api/v1/balances/CHF").header("authorization", format!("Bearer {other}"));
    service.send(theirs.body(Body::empty()).unwrap()).await.problem(404, "balance_not_found");
    service.post(FUND, &json!({"currency": "CHF", "amount": 0})).await.problem(422, "invalid_fields");
    service.post(FUND, &json!({"currency": "CHF", "amount": 10_000_000_000u64})).await.problem(422, "amount_above_maximum");
    assert_eq!(service.get("/api/v1/balances/CHF").await.json()["ledger"].to_string(), "12.5");
    service.running.stop().await;
}

#[tokio::test]
async fn the_client_decides_what_becomes_of_a_settlement() {
    let service = service().await;
    let create = json!({"amount": 10, "currency": "EUR", "to": "sim:pending", "reference": "r"});
    service.post(SETTLEMENTS, &create).await.expect(201);
    service.until("r", "submitted").await;
    let advance = "/api/v1/simulator/settlements/r/advance";
    let done = service.post(advance, &json!({"to": "completed"})).await.expect(200).json();
    assert_eq!((&done["status"], &done["iso_status"]), (&json!("completed"), &json!("ACSC")));
    assert_eq!(service.post(advance, &json!({"to": "completed"})).await.expect(200).json()["version"], done["version"]);
    service.post(advance, &json!({"to": "failed"})).await.problem(409, "invalid_state");
    assert_eq!(service.post(&format!("{SETTLEMENTS}/r/check"), &json!({})).await.expect(200).json()["consistent"], true);
    assert_eq!(service.post(advance, &json!({"to": "returned"})).await.expect(200).json()["status"], "returned");
    let wrong = service.post(advance, &json!({"to": "reversed", "code": 7})).await.problem(422, "invalid_fields");
    assert_eq!(wrong["errors"].as_array().unwrap().len(), 2);

    let other = service.enroll("Other shop").await;
    let theirs = Request::post(advance).header("authorization", format!("Bearer {other}")).header("content-type", "application/json");
    let theirs = theirs.body(Body::from(json!({"to": "completed"}).to_string())).unwrap();
    service.send(theirs).await.problem(404, "settlement_not_found");
    service.running.stop().await;
}

#[tokio::test]
async fn faults_are_ordered_by_a_client_for_its_own_calls() {
    let service = service().await;
    let faults = "/api/v1/simulator/faults";
    let none = service.get(faults).await.expect(200);
    assert_eq!(none.text(), r#"{"rate":0,"latency_ms":0,"drop_answer_rate":0,"seed":0}"#);
    let put = |body: Value| {
        let request = service.request("PUT", faults).header("content-type", "application/json");
        service.send(request.body(Body::from(body.to_string())).unwrap())
    };
    let ordered = put(json!({"drop_answer_rate": 1, "rate": "0.000", "seed": 7})).await.expect(200);
    assert_eq!(ordered.text(), r#"{"rate":0,"latency_ms":0,"drop_answer_rate":1,"seed":7}"#);
    assert_eq!(service.get(faults).await.text(), ordered.text());
    let create = json!({"amount": 10, "currency": "EUR", "to": "sim:ok", "reference": "r"});
    service.post(SETTLEMENTS, &create).await.expect(201);
    service.until("r", "unknown").await;
    // What is left out is 0. The answer comes when its time has.
    put(json!({"latency_ms": 3000})).await.expect(200);
    service.post(SETTLEMENTS, &json!({"amount": 10, "currency": "EUR", "to": "sim:ok", "reference": "slow"})).await.expect(201);
    service.until("slow", "submitted").await;
    // The operator may get the call only after it is recorded as sent, and its three seconds begin then.
    let begun = std::time::Instant::now();
    while service.status("slow").await != "completed" {
        assert!(begun.elapsed() < PATIENCE, "the answer does not come");
        service.env.step(3_000);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }

    let wrong =
        put(json!({"rate": 1.5, "latency_ms": 3_600_001, "drop_answer_rate": -1, "seed": 0.5})).await.problem(422, "invalid_fields");
    assert_eq!(wrong["errors"].as_array().unwrap().len(), 4);
    service.running.stop().await;
}

#[tokio::test]
async fn a_sandbox_starts_again() {
    let service = service().await;
    for n in 0..230 {
        let create = json!({"amount": 10, "currency": "EUR", "to": "sim:pending", "reference": format!("r-{n}")});
        service.post(SETTLEMENTS, &create).await.expect(201);
    }
    let done = service.post_text("/api/v1/simulator/reset", "").await.expect(200).json();
    assert_eq!(done, json!({"ended": 230, "still_open": 0, "next_cursor": null}));
    assert!(["failed", "cancelled"].contains(&service.status("r-0").await.as_str()));
    assert_eq!(service.get("/api/v1/balances/EUR").await.json()["available"].to_string(), "1000000.0");
    assert_eq!(service.post("/api/v1/simulator/reset", &json!({})).await.expect(200).json()["ended"], 0);
    service.post("/api/v1/simulator/reset", &json!({"cursor": "x"})).await.problem(400, "invalid_cursor");
    service.running.stop().await;
}

const CLOCK: &str = "/api/v1/simulator/clock";

fn put_clock(service: &Service, token: &str, body: Value) -> impl Future<Output = Answer> {
    let request = Request::put(CLOCK).header("authorization", format!("Bearer {token}")).header("content-type", "application/json");
    service.send(request.body(Body::from(body.to_string())).unwrap())
}

#[tokio::test]
async fn a_client_puts_its_own_clock_ahead_and_nobody_else_s() {
    let service = service().await;
    let other = service.enroll("Other shop").await;
    for (reference, to) in [("slow", "sim:slow-30s"), ("back", "sim:returned-after-1d")] {
        let create = json!({"amount": 10, "currency": "EUR", "to": to, "reference": reference});
        service.post(SETTLEMENTS, &create).await.expect(201);
    }
    let theirs = Request::post(SETTLEMENTS).header("authorization", format!("Bearer {other}")).header("content-type", "application/json");
    let create = json!({"amount": 10, "currency": "EUR", "to": "sim:slow-30s", "reference": "theirs"});
    service.send(theirs.body(Body::from(create.to_string())).unwrap()).await.expect(201);

    let clock = put_clock(&service, &service.token, json!({"advance_ms": 86_400_000 * 2})).await.expect(200);
    assert_eq!(clock.text(), r#"{"now":"2026-11-23T10:38:17.042Z","frozen":false,"ahead_ms":172800000}"#);
    assert_eq!(service.get(CLOCK).await.text(), clock.text());
    let found = service.get(&format!("{SETTLEMENTS}/slow")).await.json();
    assert_eq!((&found["status"], &found["completed_at"]), (&json!("completed"), &json!("2026-11-21T10:38:47.042Z")));
    let found = service.get(&format!("{SETTLEMENTS}/back")).await.json();
    assert_eq!((&found["status"], &found["updated_at"]), (&json!("returned"), &json!("2026-11-22T10:38:17.042Z")));

    let theirs = |path: &str| {
        let request = Request::get(path.to_owned()).header("authorization", format!("Bearer {other}"));
        service.send(request.body(Body::empty()).unwrap())
    };
    assert_eq!(theirs(CLOCK).await.json()["ahead_ms"], 0);
    let found = theirs(&format!("{SETTLEMENTS}/theirs")).await.json();
    assert!(["accepted", "submitted"].contains(&found["status"].as_str().unwrap()), "{found}");
    assert_eq!(found["created_at"], "2026-11-21T10:38:17.042Z");
    service.running.stop().await;
}

#[tokio::test]
async fn a_stopped_clock_stops_what_waits_for_it_until_it_is_put_ahead_or_runs() {
    let service = service().await;
    put_clock(&service, &service.token, json!({"frozen": true})).await.expect(200);
    let create = json!({"amount": 10, "currency": "EUR", "to": "sim:slow-30s", "reference": "slow"});
    service.post(SETTLEMENTS, &create).await.expect(201);
    service.until("slow", "submitted").await;
    // The host's time passes; another client's work is done by it.
    let other = service.enroll("Other shop").await;
    let theirs = Request::post(SETTLEMENTS).header("authorization", format!("Bearer {other}")).header("content-type", "application/json");
    service.send(theirs.body(Body::from(create.to_string())).unwrap()).await.expect(201);
    let theirs = |path: &str| {
        let request = Request::get(path.to_owned()).header("authorization", format!("Bearer {other}"));
        service.send(request.body(Body::empty()).unwrap())
    };
    // Before the operator has it, a later time would be that of a call that is lost.
    let there: [fn(&Value) -> bool; 2] = [|it| it["rail_reference"].is_string(), |it| it["status"] == "completed"];
    for (there, passes) in there.into_iter().zip([30_000, 0]) {
        while !there(&theirs(&format!("{SETTLEMENTS}/slow")).await.json()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        service.env.advance_to(service.env.now() + passes);
    }
    assert_eq!(service.status("slow").await, "submitted");
    let clock = put_clock(&service, &service.token, json!({"advance_ms": 29_999})).await.expect(200).json();
    assert_eq!((&clock["now"], &clock["frozen"]), (&json!("2026-11-21T10:38:47.041Z"), &json!(true)));
    assert_eq!(service.status("slow").await, "submitted");
    put_clock(&service, &service.token, json!({"advance_ms": 1})).await.expect(200);
    assert_eq!(service.status("slow").await, "completed");

    // A reset lets it run, from where it stands.
    service.post(SETTLEMENTS, &json!({"amount": 10, "currency": "EUR", "to": "sim:slow-30s", "reference": "open"})).await.expect(201);
    service.post("/api/v1/simulator/reset", &json!({})).await.expect(200);
    let clock = service.get(CLOCK).await.json();
    assert_eq!((&clock["now"], &clock["frozen"]), (&json!("2026-11-21T10:38:47.042Z"), &json!(false)));
    service.running.stop().await;
}

#[tokio::test]
async fn a_change_of_the_clock_is_checked_and_charged_by_the_days_that_it_passes() {
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| {
        hosted.edge.rate = Some(RateLimits { reads_per_minute: 1_000, writes_per_minute: 40 });
    });
    let service = service.await;
    let wrong = put_clock(&service, &service.token, json!({"advance_ms": -1, "frozen": 1, "to": 5})).await.problem(422, "invalid_fields");
    assert_eq!(wrong["errors"].as_array().unwrap().len(), 3);
    put_clock(&service, &service.token, json!({"advance_ms": 86_400_000u64 * 30})).await.expect(200);
    put_clock(&service, &service.token, json!({"advance_ms": 86_400_000 * 20})).await.problem(429, "rate_limited");
    assert_eq!(service.get(CLOCK).await.json()["ahead_ms"], 86_400_000u64 * 30, "a refused one moves nothing");
    service.running.stop().await;
}

#[tokio::test]
async fn an_advance_under_a_key_is_made_and_charged_once() {
    let service = service_with(Arc::new(MemoryStore::new()), |hosted| {
        hosted.edge.rate = Some(RateLimits { reads_per_minute: 1_000, writes_per_minute: 80 });
    });
    let service = service.await;
    let put = |key: &'static str, days: u64| {
        let request = service.request("PUT", CLOCK).header("content-type", "application/json").header("idempotency-key", key);
        service.send(request.body(Body::from(json!({"advance_ms": 86_400_000 * days}).to_string())).unwrap())
    };
    let (one, other) = tokio::join!(put("a", 20), put("a", 20));
    let repeated = [&one, &other].map(|answer| answer.header("idempotent-replayed").is_some());
    assert_eq!(repeated.iter().filter(|it| **it).count(), 1);
    for answer in [one, other] {
        assert_eq!(answer.expect(200).text(), r#"{"now":"2026-12-11T10:38:17.042Z","frozen":false,"ahead_ms":1728000000}"#);
    }
    // Ten times as many days would be more than the client may write.
    for _ in 0..8 {
        assert_eq!(put("a", 20).await.expect(200).header("idempotent-replayed"), Some("true"));
    }
    put("a", 21).await.problem(422, "idempotency_key_reused");
    assert_eq!(service.get(CLOCK).await.json()["ahead_ms"], 1_728_000_000);
    // A repeat shows where the clock is by then.
    service.env.step(5);
    put_clock(&service, &service.token, json!({"frozen": true})).await.expect(200);
    let later = put("a", 20).await.expect(200).text().to_owned();
    assert_eq!(later, r#"{"now":"2026-12-11T10:38:17.047Z","frozen":true,"ahead_ms":1728000000}"#);
    service.running.stop().await;
}
