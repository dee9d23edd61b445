//! Receipts over HTTP: every form, who gets one and when, and that others can verify them.

use axum::body::Body;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use railgate::engine::{Operated, Rotate};
use railgate::receipt::{Claims, verify_receipt};
use railgate::store::record::SecretKind;
use railgate_server::gateway::Tenant;
use serde_json::{Value, json};

use super::support::{Answer, SETTLEMENTS, Service, service, service_with};

async fn receipt(service: &Service, reference: &str, accept: Option<&str>) -> Answer {
    let mut request = service.request("GET", &format!("{SETTLEMENTS}/{reference}/receipt"));
    if let Some(accept) = accept {
        request = request.header("accept", accept);
    }
    service.send(request.body(Body::empty()).unwrap()).await
}

/// The claims of a receipt, verified with the keys that the service publishes.
async fn checked(service: &Service, jws: &str) -> Claims {
    let keys = service.get("/.well-known/jwks.json").await.expect(200);
    verify_receipt(jws, keys.text()).unwrap()
}

async fn jws(service: &Service, reference: &str) -> String {
    receipt(service, reference, Some("application/jose")).await.expect(200).text().to_owned()
}

#[tokio::test]
async fn each_form_is_the_same_receipt() {
    let service = service().await;
    let settled = service.settled("r-1", "sim:ok").await;
    let jws = jws(&service, "r-1").await;
    let claims = checked(&service, &jws).await;
    assert_eq!((claims.sub.as_str(), claims.reference.as_str()), (settled["id"].as_str().unwrap(), "r-1"));
    assert_eq!((claims.amt.as_str(), claims.cur.as_str(), claims.to.as_str()), ("100.00", "EUR", "sim:***"));
    assert_eq!(Value::from(claims.settled_at.as_str()), settled["completed_at"]);
    assert_eq!(Value::from(claims.from.as_str()), settled["client_id"]);
    // The trace that it names is that of the settlement.
    let events = service.get(&format!("{SETTLEMENTS}/r-1/events")).await.expect(200).json();
    let last = events["data"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&last["type"], &last["hash"]), (&"settlement.completed".into(), &claims.ev.head.as_str().into()));
    assert_eq!(last["sequence"], claims.ev.n);

    for (accept, content, begins) in [
        (None, "application/json", "{\"id\":\"rcpt_"),
        (Some("*/*"), "application/json", "{\"id\":\"rcpt_"),
        (Some("image/png, application/json;q=0.5"), "application/json", "{\"id\":\"rcpt_"),
        (Some("application/jose"), "application/jose", "eyJ"),
        (Some("text/html,application/xhtml+xml,*/*;q=0.8"), "text/html; charset=utf-8", "<!DOCTYPE html>"),
        (Some("image/svg+xml"), "image/svg+xml", "<svg xmlns="),
        (Some("text/plain"), "text/plain; charset=utf-8", "Payment receipt\n"),
    ] {
        let answer = receipt(&service, "r-1", accept).await.expect(200);
        assert_eq!(answer.header("content-type"), Some(content), "{accept:?}");
        assert!(answer.text().starts_with(begins), "{accept:?}: {}", answer.text());
        assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
        assert!(answer.header("vary").is_some_and(|vary| vary.contains("accept")), "{accept:?}");
        if content != "image/svg+xml" {
            assert!(answer.text().contains(&jws), "{accept:?}");
        }
        if content != "application/json" {
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert!(answer.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
            assert!(answer.header("content-disposition").unwrap().starts_with("inline; filename=\"receipt-r-1."));
        }
    }
    let view = receipt(&service, "r-1", None).await.json();
    assert_eq!((&view["jws"], &view["id"], &view["supersedes"]), (&jws.into(), &claims.jti.into(), &Value::Null));
    assert_eq!((view["amount"].to_string(), &view["sandbox"]), ("100.0".to_owned(), &true.into()));
    // By id too, with the same bytes each time.
    let id = settled["id"].as_str().unwrap();
    assert_eq!(receipt(&service, id, None).await.body, receipt(&service, "r-1", None).await.body);
}

#[tokio::test]
async fn the_paper_is_the_same_receipt() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    let paper = receipt(&service, "r-1", Some("application/pdf")).await.expect(200);
    assert!(paper.body.starts_with(b"%PDF-1.7\n") && paper.body.trim_ascii_end().ends_with(b"%%EOF"));
    assert_eq!(paper.header("content-type"), Some("application/pdf"));
    assert_eq!(paper.header("content-disposition"), Some("inline; filename=\"receipt-r-1.pdf\""));
    assert_eq!((paper.header("x-content-type-options"), paper.header("cache-control")), (Some("nosniff"), Some("private, no-cache")));
    assert!(paper.header("content-security-policy").unwrap().starts_with("default-src 'none'"));
    assert!(paper.header("etag").unwrap().ends_with("-pdf\""));
    let claims = checked(&service, &jws(&service, "r-1").await).await;
    assert!(String::from_utf8_lossy(&paper.body).contains(&claims.jti));
    // Requested again: the same bytes.
    assert_eq!(receipt(&service, "r-1", Some("application/pdf")).await.expect(200).body, paper.body);
}

#[tokio::test]
async fn its_code_is_drawn_as_it_is_wanted() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    let ask = |query: &str, accept: &'static str| {
        let request = service.request("GET", &format!("{SETTLEMENTS}/r-1/receipt{query}")).header("accept", accept);
        service.send(request.body(Body::empty()).unwrap())
    };
    let usual = ask("", "image/svg+xml").await.expect(200);
    let drawn = ask("?size=300&margin=2&level=M&title=Paid%20%3Ctwice%3E", "image/svg+xml").await.expect(200);
    assert!(drawn.text().contains(" width=\"300\" height=\"300\" ") && drawn.text().contains("<title>Paid &lt;twice&gt;</title>"));
    assert_ne!(usual.body, drawn.body);
    let wrong = [("size=0", "size"), ("size=16385", "size"), ("margin=65", "margin"), ("level=X", "level"), ("colour=red", "colour")];
    for (query, pointer) in wrong {
        let refused = ask(&format!("?{query}"), "image/svg+xml").await.expect(422).json();
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{refused}");
    }
    let long = format!("?title={}", "x".repeat(257));
    assert_eq!(ask(&long, "image/svg+xml").await.expect(422).json()["errors"][0]["code"], "too_long");
    // Other forms have nothing to draw.
    assert_eq!(ask("?size=300", "text/plain").await.expect(422).json()["errors"][0]["code"], "unknown_parameter");
}

#[tokio::test]
async fn the_best_liked_form_is_sent() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    for (accept, content) in [
        ("application/pdf, text/html;q=0.9", "application/pdf"),
        ("text/html;q=0.8, application/pdf;q=0.9, image/svg+xml;q=0.1", "application/pdf"),
        ("application/pdf;q=0.2, application/jose;q=0.3, text/plain;q=0.25", "application/jose"),
        ("application/*;q=0.5, text/plain;q=0.6", "text/plain; charset=utf-8"),
        ("application/*, application/json;q=0.1, application/jose;q=0.1", "application/pdf"),
        ("image/*, application/pdf;q=0.9", "image/svg+xml"),
        ("*/*;q=0.1, application/pdf;q=0", "application/json"),
        ("text/*, text/html;q=0", "text/plain; charset=utf-8"),
        ("APPLICATION/PDF; Q=0.001", "application/pdf"),
        // Equal quality: the form that the interface's description lists first.
        ("text/plain, application/pdf", "application/pdf"),
        ("application/pdf, text/html", "text/html; charset=utf-8"),
    ] {
        let answer = receipt(&service, "r-1", Some(accept)).await.expect(200);
        assert_eq!(answer.header("content-type"), Some(content), "{accept}");
    }
}

#[tokio::test]
async fn only_the_headers_are_sent_where_only_they_are_asked_for() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    for accept in ["application/json", "application/jose", "text/html", "application/pdf", "image/svg+xml", "text/plain"] {
        let request = |method: &str| service.request(method, &format!("{SETTLEMENTS}/r-1/receipt")).header("accept", accept);
        let whole = service.send(request("GET").body(Body::empty()).unwrap()).await.expect(200);
        let head = service.send(request("HEAD").body(Body::empty()).unwrap()).await.expect(200);
        assert!(head.body.is_empty() && !whole.body.is_empty(), "{accept}");
        for name in ["content-type", "etag", "content-disposition", "content-security-policy", "cache-control", "vary"] {
            assert_eq!(head.header(name), whole.header(name), "{accept} {name}");
        }
    }
}

#[tokio::test]
async fn the_longest_reference_and_description_have_every_form() {
    let service = service().await;
    let reference = "R".repeat(64);
    let description = "فاتورة 17 東京 ".repeat(12).chars().take(140).collect::<String>();
    let body = json!({"amount": "1.234", "currency": "KWD", "to": "sim:ok", "reference": reference, "description": description});
    service.post(SETTLEMENTS, &body).await.expect(201);
    service.until(&reference, "completed").await;
    for accept in ["application/json", "application/jose", "text/html", "application/pdf", "image/svg+xml", "text/plain"] {
        let answer = receipt(&service, &reference, Some(accept)).await.expect(200);
        if let Some(name) = answer.header("content-disposition") {
            assert!(name.starts_with(&format!("inline; filename=\"receipt-{reference}.")), "{name}");
        }
    }
}

#[tokio::test]
async fn a_form_that_there_is_not_is_not_acceptable() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    for accept in ["image/png", "application/postscript", "text/css;q=1, application/json;q=0"] {
        let problem = receipt(&service, "r-1", Some(accept)).await.problem(406, "not_acceptable");
        assert!(problem["detail"].as_str().unwrap().contains("application/jose"), "{problem}");
    }
}

#[tokio::test]
async fn an_unchanged_receipt_is_not_sent_again() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    let tag = receipt(&service, "r-1", None).await.expect(200).header("etag").unwrap().to_owned();
    let ask = async |accept: &str| {
        let request = service.request("GET", &format!("{SETTLEMENTS}/r-1/receipt")).header("if-none-match", &tag).header("accept", accept);
        service.send(request.body(Body::empty()).unwrap()).await
    };
    let again = ask("application/json").await.expect(304);
    assert!(again.body.is_empty() && again.header("etag") == Some(tag.as_str()));
    // Another form has another ETag.
    ask("text/html").await.expect(200);
    ask("application/pdf").await.expect(200);
    service.post(&format!("{SETTLEMENTS}/r-1/reverse"), &json!({"amount": 1})).await.expect(201);
    service.until("r-1", "partially_reversed").await;
    ask("application/json").await.expect(200);
}

#[tokio::test]
async fn there_is_none_before_the_end_nor_of_what_failed() {
    let service = service().await;
    service.post(SETTLEMENTS, &json!({"amount": 1, "currency": "EUR", "to": "sim:pending", "reference": "p"})).await.expect(201);
    service.settled("f", "sim:decline-recipient_not_found").await;
    for reference in ["p", "f"] {
        let problem = receipt(&service, reference, None).await.problem(409, "not_completed");
        assert_eq!((&problem["retryable"], &problem["category"]), (&false.into(), &"business_rule".into()));
    }
    receipt(&service, "nothing", None).await.problem(404, "settlement_not_found");
}

#[tokio::test]
async fn another_client_finds_none() {
    let service = service().await;
    let id = service.settled("r-1", "sim:ok").await["id"].as_str().unwrap().to_owned();
    let other = service.enroll("Other shop").await;
    for reference in ["r-1", &id] {
        let path = format!("{SETTLEMENTS}/{reference}/receipt");
        let request = hyper::Request::get(path).header("authorization", format!("Bearer {other}"));
        service.send(request.body(Body::empty()).unwrap()).await.problem(404, "settlement_not_found");
    }
}

#[tokio::test]
async fn a_token_needs_the_scope_for_receipts() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    let ask = async |scope: &str| {
        let key = service.key_of(&service.token);
        let request = hyper::Request::post("/api/v1/auth/tokens").header("content-type", "application/json");
        let request = request.body(Body::from(json!({"scope": scope}).to_string())).unwrap();
        let answer = service.exchange(service.sign(request, &*key).await).await.expect(200);
        let token = answer.json()["access_token"].as_str().unwrap().to_owned();
        let request = hyper::Request::get(format!("{SETTLEMENTS}/r-1/receipt")).header("authorization", format!("Bearer {token}"));
        service.exchange(service.sign(request.body(Body::empty()).unwrap(), &*key).await).await
    };
    ask("settlements:read").await.problem(403, "insufficient_scope");
    ask("receipts:read").await.expect(200);
}

#[tokio::test]
async fn a_reversal_makes_a_receipt_that_takes_the_place_of_the_one_before() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    let reverse = format!("{SETTLEMENTS}/r-1/reverse");
    let first = checked(&service, &jws(&service, "r-1").await).await;
    service.post(&reverse, &json!({"amount": 40})).await.expect(201);
    service.until("r-1", "partially_reversed").await;
    let second = checked(&service, &jws(&service, "r-1").await).await;
    service.post(&reverse, &json!({})).await.expect(201);
    service.until("r-1", "reversed").await;
    let third = checked(&service, &jws(&service, "r-1").await).await;
    let told = [&first, &second, &third].map(|claims| (claims.status.as_str(), claims.amt.as_str(), claims.rev.as_str()));
    assert_eq!(told, [("completed", "100.00", "0.00"), ("partially_reversed", "100.00", "40.00"), ("reversed", "100.00", "100.00")]);
    assert_eq!((&first.supersedes, &second.supersedes, &third.supersedes), (&None, &Some(first.jti), &Some(second.jti)));
    assert_eq!((&first.sub, &first.settled_at), (&third.sub, &third.settled_at));
}

#[tokio::test]
async fn a_reversal_that_fails_changes_no_receipt() {
    let service = service().await;
    service.settled("r-1", "sim:reverse-fail").await;
    let before = jws(&service, "r-1").await;
    service.post(&format!("{SETTLEMENTS}/r-1/reverse"), &json!({})).await.expect(201);
    while service.get(&format!("{SETTLEMENTS}/r-1/reversals")).await.json()["data"][0]["status"] != "failed" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(jws(&service, "r-1").await, before);
}

#[tokio::test]
async fn receipts_outlive_their_key() {
    let service = service().await;
    service.settled("r-1", "sim:ok").await;
    let old = jws(&service, "r-1").await;
    let tag = receipt(&service, "r-1", None).await.header("etag").unwrap().to_owned();
    let rotate = Operated(Rotate(SecretKind::Receipt));
    service.running.gateway().run(Tenant::GATEWAY, rotate).await.unwrap();
    let new = jws(&service, "r-1").await;
    let kid = |jws: &str| -> Value {
        let header = URL_SAFE_NO_PAD.decode(jws.split('.').next().unwrap()).unwrap();
        serde_json::from_slice::<Value>(&header).unwrap()["kid"].clone()
    };
    assert_ne!(kid(&old), kid(&new));
    // The same receipt, under either key.
    assert_eq!(checked(&service, &old).await, checked(&service, &new).await);
    assert_ne!(receipt(&service, "r-1", None).await.header("etag"), Some(tag.as_str()));
}

#[tokio::test]
async fn the_issuer_is_the_public_address() {
    let service = service_with(std::sync::Arc::new(railgate::store::memory::MemoryStore::new()), |hosted| {
        hosted.edge.public_url = Some("https://pay.example.com".to_owned());
    });
    let service = service.await;
    service.settled("r-1", "sim:ok").await;
    assert_eq!(checked(&service, &jws(&service, "r-1").await).await.iss, "https://pay.example.com");
}

#[tokio::test]
async fn what_clients_and_payers_write_stays_text_on_the_page() {
    let service = service().await;
    let description = "<b>شكرا</b> & \"merci\" 東京";
    let body = json!({"amount": "1050", "currency": "JPY", "to": "alias:مطعم-الزيتونة", "reference": "r-1", "description": description});
    service.post(SETTLEMENTS, &body).await.expect(201);
    service.until("r-1", "completed").await;
    let page = receipt(&service, "r-1", Some("text/html")).await.expect(200);
    let page = page.text();
    assert!(page.contains("&lt;b&gt;شكرا&lt;/b&gt; &amp; &quot;merci&quot; 東京") && !page.contains("<b>"), "{page}");
    assert!(page.contains("<p class=\"amount\">1,050 <span>JPY</span></p>") && page.contains("<bdi>alias:***تونة</bdi>"), "{page}");
}
