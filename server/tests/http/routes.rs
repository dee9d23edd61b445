//! Each route does what it is for.

use axum::body::Body;
use hyper::Request;
use serde_json::json;

use super::support::{SETTLEMENTS, service};

fn body(reference: &str) -> serde_json::Value {
    json!({"amount": 10.5, "currency": "EUR", "to": "sim:ok", "reference": reference, "description": "d, \"q\"", "metadata": {"order": "7"}})
}

#[tokio::test]
async fn a_settlement_is_created_once_and_settled() {
    let service = service().await;
    let created = service.post(SETTLEMENTS, &body("inv-1")).await.expect(201);
    assert_eq!(created.header("location"), Some("/api/v1/gateway/settlements/inv-1"));
    assert!(created.text().contains("\"amount\":10.50,"), "{}", created.text());
    assert_eq!(created.json()["status"], "accepted");
    service.until("inv-1", "completed").await;
    // The same amount in another form: 10.50 is 10.5.
    let text = body("inv-1").to_string().replace("10.5", "10.50");
    let replayed = service.post_text(SETTLEMENTS, text).await.expect(200);
    assert_eq!(replayed.header("idempotent-replayed"), Some("true"));
    assert_eq!(replayed.json()["id"], created.json()["id"]);
    assert_eq!(replayed.json()["status"], "completed");
    assert_eq!(service.get("/api/v1/balances/EUR").await.json()["available"].to_string(), "999989.5");
    service.running.stop().await;
}

#[tokio::test]
async fn a_create_can_wait_for_the_end() {
    let service = service().await;
    let request = service.request("POST", SETTLEMENTS).header("content-type", "application/json").header("prefer", "wait=30");
    let answer = service.send(request.body(Body::from(body("w-1").to_string())).unwrap()).await.expect(201);
    assert_eq!(answer.json()["status"], "completed");
    assert_eq!(answer.header("preference-applied"), Some("wait=30"));
}

#[tokio::test]
async fn a_record_is_read_by_reference_and_id_and_revalidated() {
    let service = service().await;
    let id = service.settled("r-1", "sim:ok").await["id"].as_str().unwrap().to_owned();
    let first = service.get(&format!("{SETTLEMENTS}/r-1")).await.expect(200);
    let tag = first.header("etag").unwrap().to_owned();
    assert_eq!(tag, format!("\"{}\"", first.json()["version"]));
    assert_eq!(service.get(&format!("{SETTLEMENTS}/{id}")).await.expect(200).body, first.body);
    for (known, status) in [(tag.clone(), 304), (format!("\"0\", W/{tag}"), 304), ("*".to_owned(), 304), ("\"0\"".to_owned(), 200)] {
        let request = service.request("GET", &format!("{SETTLEMENTS}/r-1")).header("if-none-match", &known);
        let answer = service.send(request.body(Body::empty()).unwrap()).await.expect(status);
        assert_eq!(answer.header("etag"), Some(tag.as_str()));
        assert_eq!(answer.body.is_empty(), status == 304, "{known}");
    }
    let head = service.send(service.request("HEAD", &format!("{SETTLEMENTS}/r-1")).body(Body::empty()).unwrap()).await.expect(200);
    assert!(head.body.is_empty() && head.header("etag").is_some());
}

#[tokio::test]
async fn a_batch_answers_each_element_as_if_it_were_alone() {
    let service = service().await;
    service.settled("b-0", "sim:ok").await;
    let batch = json!({"settlements": [
        {"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "b-1"},
        {"amount": 0, "currency": "EUR", "to": "sim:ok", "reference": "b-2"},
        {"amount": 100, "currency": "EUR", "to": "sim:ok", "reference": "b-0"},
        {"amount": 7, "currency": "EUR", "to": "sim:ok", "reference": "b-0"},
        {"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "b-1"},
        {"amount": 99999999999i64, "currency": "EUR", "to": "sim:ok", "reference": "b-3"},
    ]});
    let results = service.post(&format!("{SETTLEMENTS}/batch"), &batch).await.expect(200).json();
    let statuses: Vec<_> = results["results"].as_array().unwrap().iter().map(|r| r["status"].as_u64().unwrap()).collect();
    assert_eq!(statuses, [201, 422, 200, 409, 200, 422]);
    assert_eq!(results["results"][1]["problem"]["errors"][0]["pointer"], "/amount");
    assert_eq!(results["results"][3]["problem"]["code"], "reference_conflict");
    assert_eq!(results["results"][5]["problem"]["code"], "insufficient_funds");
    assert_eq!(results["results"][0]["settlement"]["id"], results["results"][4]["settlement"]["id"]);
}

#[tokio::test]
async fn a_check_has_no_effect_and_tells_what_would_happen() {
    let service = service().await;
    let check = service.post(&format!("{SETTLEMENTS}/check"), &body("c-1")).await.expect(200).json();
    assert_eq!(check["ok"], true, "{check:#}");
    assert_eq!(check["funds_available"], true);
    service.get(&format!("{SETTLEMENTS}/c-1")).await.problem(404, "settlement_not_found");
    let wrong = service.post(&format!("{SETTLEMENTS}/check"), &json!({"amount": -1})).await;
    assert!(wrong.status == 200 || wrong.status == 422, "{}", wrong.text());
}

#[tokio::test]
async fn lists_are_filtered_and_paged() {
    let service = service().await;
    for n in 0..7 {
        service.settled(&format!("l-{n}"), if n == 3 { "sim:decline-account_closed" } else { "sim:ok" }).await;
    }
    let mut seen = Vec::new();
    let mut path = format!("{SETTLEMENTS}?limit=3&status=completed&status=failed");
    loop {
        let page = service.get(&path).await.expect(200).json();
        seen.extend(page["data"].as_array().unwrap().iter().map(|s| s["reference"].as_str().unwrap().to_owned()));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("{SETTLEMENTS}?limit=3&status=completed&status=failed&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, ["l-6", "l-5", "l-4", "l-3", "l-2", "l-1", "l-0"]);
    let failed = service.get(&format!("{SETTLEMENTS}?status=failed")).await.json();
    assert_eq!(failed["data"][0]["failure"]["code"], "account_closed");
    assert_eq!(failed["has_more"], false);
    let none = service.get(&format!("{SETTLEMENTS}?min_amount=100.01")).await.json();
    assert_eq!(none["data"], json!([]));
}

#[tokio::test]
async fn exports_stream_every_match_in_both_formats() {
    let service = service().await;
    let many: Vec<_> = (0..450).map(|n| json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("x-{n}")})).collect();
    service.post(&format!("{SETTLEMENTS}/batch"), &json!({"settlements": many})).await.expect(200);
    service.post(SETTLEMENTS, &body("odd")).await.expect(201);
    let export = |accept: &'static str| service.request("GET", &format!("{SETTLEMENTS}/export")).header("accept", accept);
    let csv = service.send(export("text/csv").body(Body::empty()).unwrap()).await.expect(200);
    assert!(csv.header("content-type").unwrap().starts_with("text/csv"));
    let lines: Vec<_> = csv.text().split("\r\n").collect();
    assert_eq!(lines.len(), 1 + 451 + 1, "a header, the rows, and the end");
    assert!(
        lines[1].contains(",odd,") && lines[1].contains("\"d, \"\"q\"\"\"") && lines[1].contains("{\"\"order\"\":\"\"7\"\"}"),
        "{}",
        lines[1]
    );
    assert!(lines[451].contains(",x-0,"));
    let rows = service.send(export("application/x-ndjson").body(Body::empty()).unwrap()).await.expect(200);
    assert_eq!(rows.text().lines().count(), 451);
    for line in rows.text().lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        assert!(row["id"].as_str().unwrap().starts_with("stl_"));
    }
    let request = service.request("GET", &format!("{SETTLEMENTS}/export?limit=1")).body(Body::empty()).unwrap();
    service.send(request).await.problem(422, "invalid_fields");
}

#[tokio::test]
async fn reversals_are_made_read_and_repeated() {
    let service = service().await;
    service.settled("v-1", "sim:ok").await;
    let path = format!("{SETTLEMENTS}/v-1/reverse");
    let part = json!({"amount": 30, "reason": "customer_request", "reference": "refund-1"}).to_string();
    let send = |body: String, key: &'static str| {
        let request = service.request("POST", &path).header("content-type", "application/json").header("idempotency-key", key);
        service.send(request.body(Body::from(body)).unwrap())
    };
    let made = send(part.clone(), "k1").await.expect(201);
    let view = made.json();
    let id = view["reversal"]["id"].as_str().unwrap().to_owned();
    assert_eq!(made.header("location"), Some(format!("{SETTLEMENTS}/v-1/reversals/{id}").as_str()));
    let again = send(part.clone(), "k1").await.expect(200);
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    assert_eq!(again.json()["reversal"]["id"], view["reversal"]["id"]);
    send(part.replace("30", "31"), "k1").await.problem(422, "idempotency_key_reused");
    service.until("v-1", "partially_reversed").await;
    let one = service.get(&format!("{SETTLEMENTS}/v-1/reversals/{id}")).await.expect(200).json();
    assert_eq!(one["status"], "completed");
    assert_eq!(service.get(&format!("{SETTLEMENTS}/v-1/reversals/refund-1")).await.expect(200).json(), one);
    assert_eq!(service.get(&format!("{SETTLEMENTS}/v-1/reversals")).await.expect(200).json()["data"], json!([one]));
    // Without a body: all that is left.
    let rest = service.send(service.request("POST", &path).body(Body::empty()).unwrap()).await.expect(201).json();
    assert_eq!(rest["reversal"]["amount"].to_string(), "70.0");
    service.until("v-1", "reversed").await;
}

#[tokio::test]
async fn reconciling_asks_the_rail_and_finds_everything_in_order() {
    let service = service().await;
    service.settled("k-1", "sim:ok").await;
    let view = service.post(&format!("{SETTLEMENTS}/k-1/check"), &json!({})).await.expect(200).json();
    assert_eq!(view["consistent"], true, "{view:#}");
    let request = service.request("POST", &format!("{SETTLEMENTS}/k-1/check")).body(Body::empty()).unwrap();
    assert_eq!(service.send(request).await.expect(200).json()["findings"], json!([]));
}

#[tokio::test]
async fn a_lost_answer_is_cleared_up_by_the_clock() {
    let service = service().await;
    service.post(SETTLEMENTS, &json!({"amount": 5, "currency": "EUR", "to": "sim:timeout-then-ok", "reference": "t-1"})).await.expect(201);
    service.until("t-1", "unknown").await;
    service.env.advance_to(super::support::NOW + 6_000);
    service.until("t-1", "completed").await;
}

#[tokio::test]
async fn balances_scenarios_and_tokens() {
    let service = service().await;
    let all = service.get("/api/v1/balances").await.expect(200).json();
    let euro = all["data"].as_array().unwrap().iter().find(|b| b["currency"] == "EUR").unwrap().clone();
    assert_eq!(service.get("/api/v1/balances/EUR").await.expect(200).json(), euro);
    let scenarios = service.get("/api/v1/simulator/scenarios").await.expect(200).json();
    assert!(scenarios["data"].as_array().unwrap().iter().any(|s| s["to"] == "sim:ok"));
    let token = service.send(service.request("POST", "/api/v1/auth/tokens").body(Body::empty()).unwrap()).await.expect(200);
    assert_eq!(token.header("cache-control"), Some("no-store"));
    let token = token.json();
    assert_eq!((&token["token_type"], &token["expires_in"]), (&json!("Bearer"), &json!(900)));
    let fresh = format!("bearer {}", token["access_token"].as_str().unwrap());
    let request = Request::get("/api/v1/balances").header("authorization", fresh).body(Body::empty()).unwrap();
    service.send(request).await.expect(200);
}

#[tokio::test]
async fn clients_do_not_see_each_other() {
    let mut service = service().await;
    let id = service.settled("mine", "sim:ok").await["id"].as_str().unwrap().to_owned();
    service.token = service.enroll("Somebody else").await;
    for name in ["mine", id.as_str()] {
        for path in ["", "/status", "/events", "/reversals"] {
            service.get(&format!("{SETTLEMENTS}/{name}{path}")).await.problem(404, "settlement_not_found");
        }
        for path in ["/reverse", "/check"] {
            service.post(&format!("{SETTLEMENTS}/{name}{path}"), &json!({})).await.problem(404, "settlement_not_found");
        }
    }
    assert_eq!(service.get(SETTLEMENTS).await.json()["data"], json!([]));
    // Another client may use the same reference.
    service.post(SETTLEMENTS, &body("mine")).await.expect(201);
}

#[tokio::test]
async fn probes_and_figures() {
    let service = service().await;
    assert_eq!(service.get("/healthz").await.expect(200).json()["status"], "ok");
    assert_eq!(service.get("/readyz").await.expect(200).json()["status"], "ready");
    service.settled("m-1", "sim:ok").await;
    let mut stream = tokio::net::TcpStream::connect(service.running.metrics_address().unwrap()).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let text = super::support::read_until(&mut stream, |text| text.contains("# EOF")).await;
    for figure in [
        "railgate_http_requests_total{route=\"/api/v1/gateway/settlements\",method=\"POST\",status=\"201\"} 1",
        "railgate_settlements_created_total 1",
        "railgate_rail_answers_total{provider=\"simulator\",answer=\"completed\"} 1",
        "railgate_http_requests_in_flight 0",
        "railgate_outbox_tasks_due 0",
        "railgate_commit_duration_seconds_bucket",
        "railgate_reviews_due{environment=\"live\"} 0",
        "railgate_reviews_oldest_age_seconds{environment=\"sandbox\"} 0",
    ] {
        assert!(text.contains(figure), "{figure} is not in\n{text}");
    }
    assert!(!text.contains("m-1") && !text.contains("rg_sandbox"));
}

#[tokio::test]
async fn what_waits_for_a_person_is_counted_with_its_age() {
    let service = service().await;
    service.settled("late", "sim:late-ok-after-fail").await;
    let begun = std::time::Instant::now();
    while !service.figures().await.contains("railgate_reviews_due{environment=\"sandbox\"} 1\n") {
        assert!(begun.elapsed().as_secs() < 30, "{}", service.figures().await);
        service.env.step(10_000);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    service.env.step(90_000);
    let text = service.figures().await;
    let age = text.lines().find_map(|line| line.strip_prefix("railgate_reviews_oldest_age_seconds{environment=\"sandbox\"} ")).unwrap();
    assert!(age.parse::<f64>().unwrap() >= 90.0, "{age}");
    let sum = "railgate_reviews_amount_minor{environment=\"sandbox\",currency=\"EUR\"} 10000\n";
    assert!(text.contains(sum), "{text}");
}
