//! Statements of providers over HTTP.

use axum::body::Body;
use hyper::Request;
use railgate::auth::TAG;
use railgate::env::Env as _;
use railgate::store::record::OperatorRole;
use railgate::time::rfc3339;
use serde_json::{Value, json};

use super::operators::{Person, person};
use super::support::{Answer, Service, service, sign_as};

const PATH: &str = "/api/v1/operator/reconciliations";
const DAY: i64 = 86_400_000;

/// Sends a file as an operator.
async fn send(service: &Service, by: &Person, query: &str, headers: &[(&str, &str)], file: &str) -> Answer {
    let mut request = Request::post(format!("{PATH}{query}")).header("authorization", format!("Bearer {}", by.token));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Body::from(file.to_owned())).unwrap();
    service.exchange(sign_as(service, request, &*by.key, service.env.now() / 1_000, &service.live_nonce().await, TAG).await).await
}

const CSV: (&str, &str) = ("content-type", "text/csv");

async fn read(service: &Service, by: &Person, path: &str, accept: &str) -> Answer {
    let request = Request::get(format!("{PATH}{path}")).header("authorization", format!("Bearer {}", by.token)).header("accept", accept);
    let request = request.body(Body::empty()).unwrap();
    service.exchange(sign_as(service, request, &*by.key, service.env.now() / 1_000, &service.live_nonce().await, TAG).await).await
}

/// The simulated operator, with the columns of its statements.
async fn configured(service: &Service, admin: &Person) {
    let settings = json!({
        "statement_amount": "Amount", "statement_currency": "=EUR", "statement_date": "Time", "statement_references": "Reference",
        "statement_text": "Text",
    });
    let body = json!({"id": "simulator", "name": "Simulated operator", "rail": "simulator", "mode": "sandbox", "settings": settings, "reason": "r"});
    admin.call(service, "PUT", "/providers/simulator", body).await.expect(200);
}

/// Lines of text: a reference, an amount and a text each.
fn statement(now: i64, lines: &[(&str, &str, &str)]) -> String {
    let mut out = "Time,Reference,Amount,Text\n".to_owned();
    let row = |at: i64, reference: &str, amount: &str, text: &str| format!("{},{reference},{amount},{text}\n", rfc3339(at));
    out += &row(now - 2 * DAY, "begin", "0.00", "");
    lines.iter().for_each(|(reference, amount, text)| out += &row(now, reference, amount, text));
    out + &row(now + 2 * DAY, "end", "0.01", "")
}

#[tokio::test]
async fn a_statement_is_sent_compared_and_read() {
    let service = service().await;
    let agent = person(&service, 51, OperatorRole::Agent).await;
    let viewer = person(&service, 52, OperatorRole::Viewer).await;
    configured(&service, &agent).await;
    let paid = service.settled("rec-paid", "sim:ok").await;
    let differs = service.settled("rec-differs", "sim:ok").await;
    let reference = |it: &Value| it["rail_reference"].as_str().unwrap().to_owned();
    let lines = [(&*reference(&paid), "-100.00", ""), (&*reference(&differs), "-90.00", "=<b>'hi'")];
    let file = statement(service.env.now(), &lines);

    let query = "?provider=simulator&file=day.csv";
    let made = send(&service, &agent, query, &[CSV], &file).await.expect(201);
    let location = made.header("location").unwrap().to_owned();
    let made = made.json();
    assert_eq!((&made["status"], &made["lines"], &made["skipped"]), (&json!("done"), &json!(3), &json!(1)));
    assert_eq!((&made["matched"]["rail_reference"], &made["amount_differs"], &made["missing_here"]), (&json!(1), &json!(1), &json!(1)));
    assert!(made["made_by"].as_str().unwrap().starts_with("opr_"));
    let id = made["id"].as_str().unwrap();
    assert_eq!(location, format!("{PATH}/{id}"));

    // The same file again is the same reconciliation; another one needs to be asked for.
    assert_eq!(send(&service, &agent, query, &[CSV], &file).await.expect(200).json(), made);
    let again = send(&service, &agent, &format!("{query}&again=true"), &[CSV], &file).await.expect(201).json();
    assert_ne!(again["id"], made["id"]);

    let listed = viewer.get(&service, "/reconciliations?provider=simulator&limit=1").await;
    assert_eq!((&listed["data"][0], &listed["has_more"]), (&again, &json!(true)));
    let next = viewer.get(&service, &format!("/reconciliations?cursor={}", listed["next_cursor"].as_str().unwrap())).await;
    assert_eq!(next["data"], json!([made]));
    assert_eq!(viewer.get(&service, &format!("/reconciliations/{id}")).await, made);
    let found = viewer.get(&service, &format!("/reconciliations/{id}/findings?kind=amount_differs")).await;
    let finding = &found["data"][0];
    assert_eq!((&finding["reference"], &finding["line"]["amount"]), (&json!("rec-differs"), &json!(90.0)));
    assert_eq!((&finding["waits"], &finding["confidence"], &finding["matched_by"]), (&json!(true), &json!(100), &json!("rail_reference")));

    let page = read(&service, &viewer, &format!("/{id}"), "text/html").await.expect(200);
    assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").unwrap().starts_with("default-src 'none'; style-src 'sha256-"));
    let text = page.text();
    assert!(text.contains("=&lt;b&gt;") && !text.contains("<b>") && !text.contains("<script") && text.ends_with("</html>\n"), "{text}");
    let csv = read(&service, &viewer, &format!("/{id}/findings"), "text/csv").await.expect(200);
    let rows: Vec<String> = csv.text().lines().map(str::to_owned).collect();
    assert!(rows.len() == 3 && rows[0].starts_with("n,kind,settlement_id") && rows[1].contains("'=<b>'hi'"), "{rows:?}");

    // The finding is with the review, and whoever decides has it in front of them.
    let review = viewer.get(&service, &format!("/reviews/{}", finding["settlement_id"].as_str().unwrap())).await;
    assert_eq!((&review["waiting"][0]["reason"], review["findings"].as_array().unwrap().len()), (&json!("statement_differs"), 2));
    let trail = viewer.get(&service, "/audit").await;
    let acts: Vec<_> = trail["data"].as_array().unwrap().iter().filter(|it| it["action"] == "reconcile").collect();
    assert_eq!((acts.len(), &acts[0]["target"], &acts[0]["detail"]["file"]), (2, &json!("simulator"), &json!("day.csv")));
    assert_eq!(acts[0]["operator_id"], made["made_by"]);
}

#[tokio::test]
async fn a_key_names_one_sending() {
    let service = service().await;
    let agent = person(&service, 53, OperatorRole::Agent).await;
    configured(&service, &agent).await;
    let file = statement(service.env.now(), &[]);
    let keyed = [CSV, ("idempotency-key", "k1")];
    let first = send(&service, &agent, "?provider=simulator", &keyed, &file).await.expect(201);
    let again = send(&service, &agent, "?provider=simulator", &keyed, &file).await.expect(200);
    assert_eq!((again.header("idempotent-replayed"), again.json()), (Some("true"), first.json()));
    let other = send(&service, &agent, "?provider=simulator&again=true", &keyed, &file).await;
    other.problem(422, "idempotency_key_reused");
}

#[tokio::test]
async fn what_is_no_statement_is_refused_and_leaves_nothing() {
    let service = service().await;
    let agent = person(&service, 54, OperatorRole::Agent).await;
    let viewer = person(&service, 55, OperatorRole::Viewer).await;
    configured(&service, &agent).await;
    let good = statement(service.env.now(), &[]);
    let query = "?provider=simulator";
    send(&service, &viewer, query, &[CSV], &good).await.problem(403, "insufficient_scope");
    send(&service, &agent, "", &[CSV], &good).await.problem(422, "invalid_fields");
    send(&service, &agent, "?provider=nobody", &[CSV], &good).await.problem(404, "provider_not_found");
    send(&service, &agent, "?provider=simulator&what=1", &[CSV], &good).await.problem(422, "invalid_fields");
    send(&service, &agent, query, &[("content-type", "application/zip")], &good).await.problem(415, "unsupported_media_type");
    send(&service, &agent, query, &[CSV, ("content-encoding", "gzip")], &good).await.problem(415, "unsupported_media_type");
    let refused = send(&service, &agent, query, &[CSV], &good.replace("0.01", "0.001")).await;
    assert_eq!(refused.problem(422, "statement_unusable")["errors"][0]["pointer"], "line 3");
    let xml = ("content-type", "application/xml");
    let bomb = "<!DOCTYPE a [<!ENTITY a \"x\">]><Document>&a;</Document>";
    send(&service, &agent, query, &[xml], bomb).await.problem(422, "statement_unusable");
    assert_eq!(viewer.get(&service, "/reconciliations").await["data"], json!([]));
    viewer
        .call(&service, "GET", "/reconciliations/rec_01KAJX3M7Q5W8ZP9D2R4T6V8YB", Value::Null)
        .await
        .problem(404, "reconciliation_not_found");
    viewer.call(&service, "GET", "/reconciliations?cursor=x", Value::Null).await.problem(400, "invalid_cursor");

    // Another body than the one that was signed is not looked at.
    let request = Request::post(format!("{PATH}{query}")).header("authorization", format!("Bearer {}", agent.token)).header(CSV.0, CSV.1);
    let request = request.body(Body::from(good.clone())).unwrap();
    let signed = sign_as(&service, request, &*agent.key, service.env.now() / 1_000, &service.live_nonce().await, TAG).await;
    let (parts, _) = signed.into_parts();
    let swapped = Request::from_parts(parts, Body::from(good.replace("0.01", "0.02")));
    service.exchange(swapped).await.problem(400, "digest_mismatch");
}
