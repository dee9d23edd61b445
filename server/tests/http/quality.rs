//! What devices measure, as phones report it and their client reads it.

use std::sync::Arc;

use axum::body::Body;
use hyper::Request;
use railgate::env::Env as _;
use railgate::store::memory::MemoryStore;
use railgate::store::record::OperatorRole;
use railgate_server::{Hosted, RateLimits};
use serde_json::{Value, json};

use super::mobile::{Phone, phone};
use super::operators::person;
use super::support::{SETTLEMENTS, Service, service, service_with};

const QUALITY: &str = "/api/v1/mobile/quality";

fn point(service: &Service, id: &str, value: f64) -> Value {
    let at = railgate::time::rfc3339(service.env.now());
    json!({"id": format!("measured-{id}"), "metric": "app.start", "value": value, "unit": "ms", "at": at, "os": "ios 26.1"})
}

async fn report(service: &Service, phone: &Phone, items: Value) -> Value {
    phone.call(service, "POST", QUALITY, json!({"items": items})).await.expect(200).json()
}

#[tokio::test]
async fn phones_report_and_their_client_reads_what_five_of_them_measured() {
    let service = service().await;
    let mut phones = Vec::new();
    for n in 0..5 {
        phones.push(phone(&service, 50 + n, &format!("user-{n}")).await);
    }
    let paid = service.settled("paid", "sim:ok").await;
    for (n, phone) in phones.iter().enumerate() {
        let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("r-{n}")});
        let own = phone.call(&service, "POST", SETTLEMENTS, body).await.expect(201).json();
        let mut about_own = point(&service, "1", 100.5);
        about_own["settlement"] = own["id"].clone();
        // A settlement of nobody's phone.
        let mut about_another = point(&service, "2", 200.5);
        about_another["settlement"] = paid["id"].clone();
        about_another["failed"] = json!(true);
        let items = json!([about_own, about_another]);
        assert_eq!(report(&service, phone, items.clone()).await, json!({"accepted": 2, "duplicates": 0, "refused": []}));
        assert_eq!(report(&service, phone, items).await, json!({"accepted": 0, "duplicates": 2, "refused": []}));
        if n == 3 {
            let few = service.get(&format!("{QUALITY}/summary?metric=app.start")).await.expect(200).json();
            assert_eq!((&few["groups"], &few["withheld"]), (&json!([]), &json!(8)));
        }
    }
    let summary = service.get(&format!("{QUALITY}/summary?metric=app.start&by=os&by=provider")).await.expect(200).json();
    assert_eq!((&summary["metric"], &summary["environment"], &summary["withheld"]), (&json!("app.start"), &json!("sandbox"), &json!(0)));
    let groups: Vec<_> =
        summary["groups"].as_array().unwrap().iter().map(|it| (&it["provider"], &it["count"], &it["failure_rate"])).collect();
    assert_eq!(groups, [(&json!("none"), &json!(5), &json!(1)), (&paid["provider"], &json!(5), &json!(0))]);
    let group = &summary["groups"][1];
    assert_eq!(
        (&group["os"], &group["unit"], &group["mean"], &group["p99"]),
        (&json!("ios 26.1"), &json!("ms"), &json!(100.5), &json!(100.5))
    );
    phones[0].get(&service, &format!("{QUALITY}/summary?metric=app.start")).await.problem(403, "insufficient_scope");
    service.running.stop().await;
}

#[tokio::test]
async fn a_viewer_reads_what_devices_of_all_clients_measured() {
    const SUMMARY: &str = "/quality/summary?metric=app.start&by=os";
    let service = service().await;
    let viewer = person(&service, 71, OperatorRole::Viewer).await;
    for n in 0..4 {
        let phone = phone(&service, 60 + n, &format!("user-{n}")).await;
        report(&service, &phone, json!([point(&service, "1", 100.5)])).await;
    }
    let few = viewer.get(&service, &format!("{SUMMARY}&environment=sandbox")).await;
    assert_eq!((&few["groups"], &few["withheld"]), (&json!([]), &json!(4)));
    // The client reports by itself: its key is the fifth device.
    service.post(QUALITY, &json!({"items": [point(&service, "1", 200.5)]})).await.expect(200);
    let own = service.get("/api/v1/mobile/quality/summary?metric=app.start&by=os").await.expect(200).json();
    let found = viewer.get(&service, &format!("{SUMMARY}&environment=sandbox")).await;
    assert_eq!((&found, &found["groups"][0]["count"]), (&own, &json!(5)), "with one client, it is that client's");
    let live = viewer.get(&service, SUMMARY).await;
    assert_eq!((&live["environment"], &live["groups"], &live["withheld"]), (&json!("live"), &json!([]), &json!(0)));
    for query in ["", "metric=App", "metric=a&environment=test", "metric=a&by=client", "metric=a&client=cli_1", "metric=a&by=os&by=os"] {
        let refused = viewer.call(&service, "GET", &format!("/quality/summary?{query}"), Value::Null).await;
        refused.problem(422, "invalid_fields");
    }
    service.get("/api/v1/operator/quality/summary?metric=app.start").await.problem(403, "insufficient_scope");
    service.running.stop().await;
}

#[tokio::test]
async fn a_batch_is_refused_as_a_whole_or_point_by_point() {
    let service = service().await;
    let ada = phone(&service, 50, "ada").await;
    let mut named = point(&service, "2", 1.0);
    named["user"] = json!("ada");
    let taken = report(&service, &ada, json!([point(&service, "1", 1.0), named, 7])).await;
    assert_eq!((&taken["accepted"], &taken["refused"][0]["index"], &taken["refused"][1]["index"]), (&json!(1), &json!(1), &json!(2)));
    let first = &taken["refused"][0]["errors"][0];
    assert_eq!((&first["pointer"], &first["code"]), (&json!("/user"), &json!("unknown_field")));
    for body in [json!({}), json!({"items": []}), json!({"items": vec![json!({}); 501]}), json!({"items": [], "device": "x"})] {
        ada.call(&service, "POST", QUALITY, body).await.problem(422, "invalid_fields");
    }
    let summary = async |query: &str| service.get(&format!("{QUALITY}/summary?{query}")).await.problem(422, "invalid_fields");
    for query in [
        "",
        "metric=App",
        "metric=a&by=user",
        "metric=a&by=os&by=os",
        "metric=a&from=yesterday",
        "metric=a&from=2020-01-01T00:00:00Z",
        "metric=a&q=1",
    ] {
        summary(query).await;
    }
    service.running.stop().await;
}

#[tokio::test]
async fn the_client_reports_too_and_a_key_repeats_the_answer() {
    let service = service().await;
    let body = json!({"items": [point(&service, "1", 1.0)]}).to_string();
    let keyed = async |body: &str| {
        let request = service.request("POST", QUALITY).header("idempotency-key", "batch-1").header("content-type", "application/json");
        service.send(request.body(Body::from(body.to_owned())).unwrap()).await
    };
    let first = keyed(&body).await.expect(200);
    let again = keyed(&body).await.expect(200);
    assert_eq!((first.json(), again.header("idempotent-replayed")), (again.json(), Some("true")));
    assert_eq!(first.json()["accepted"], 1);
    keyed(&json!({"items": [point(&service, "2", 1.0)]}).to_string()).await.problem(422, "idempotency_key_reused");
    let unsigned = Request::post(QUALITY).header("content-type", "application/json").body(Body::from(body)).unwrap();
    service.exchange(unsigned).await.problem(401, "token_missing");
    service.running.stop().await;
}

#[tokio::test]
async fn points_count_as_writes() {
    let limits = |hosted: &mut Hosted| hosted.edge.rate = Some(RateLimits { reads_per_minute: 1_000, writes_per_minute: 30 });
    let service = service_with(Arc::new(MemoryStore::new()), limits).await;
    let batch = |n: usize| json!({"items": (0..500).map(|at| point(&service, &format!("{n}-{at}"), 1.0)).collect::<Vec<_>>()});
    let first = service.post(QUALITY, &batch(1)).await.expect(200);
    assert_eq!(first.json()["accepted"], 500);
    service.post(QUALITY, &batch(2)).await.problem(429, "rate_limited");
    service.post(QUALITY, &json!({"items": [point(&service, "small", 1.0)]})).await.expect(200);
    service.running.stop().await;
}
