//! The simulator over HTTP: each client controls its own sandbox, and only that.

use axum::body::Body;
use hyper::Request;
use serde_json::json;

use super::support::{PATIENCE, SETTLEMENTS, service};

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
    let put = |body: serde_json::Value| {
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
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
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
