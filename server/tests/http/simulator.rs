//! The simulator over HTTP: each client controls its own sandbox, and only that.

use axum::body::Body;
use hyper::Request;
use serde_json::json;

use super::support::service;

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
