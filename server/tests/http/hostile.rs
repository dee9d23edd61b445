//! Malicious or broken callers: always a 4xx that tells what is wrong, never a 5xx, never silence.

use std::time::Duration;

use hyper::Request;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;

use super::support::{SETTLEMENTS, Service, read_until, service};

const GOOD: &str = r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"h-1"}"#;

fn problem(answer: &str) -> Value {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {answer:?}"));
    assert!(head.contains("application/problem+json"), "{head}");
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// The head of a create, signed over `body`.
async fn head(service: &Service, more: &str, body: &[u8]) -> String {
    service.head("POST", SETTLEMENTS, &format!("Connection: close\r\n{more}"), body).await
}

/// Sends the body over a socket; returns the problem of the response.
async fn refused(service: &Service, body: &[u8]) -> Value {
    let mut bytes =
        head(service, &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()), body).await.into_bytes();
    bytes.extend_from_slice(body);
    let answer = service.raw(&bytes).await;
    let status: u16 = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("{answer:?}"));
    assert!((400..500).contains(&status), "{answer}");
    let problem = problem(&answer);
    assert_eq!(problem["status"], status);
    problem
}

#[tokio::test]
async fn bodies() {
    let service = service().await;
    let nested = "[".repeat(1_000_000);
    let nested_field = format!("{{\"amount\":{}1{}}}", "[".repeat(30_000), "]".repeat(30_000));
    let long = format!("{{\"reference\":\"{}\"}}", "a".repeat(60_000));
    let many_keys: String = format!("{{{}}}", (0..5_000).map(|n| format!("\"k{n}\":1")).collect::<Vec<_>>().join(","));
    let cases: [(&[u8], &str); 16] = [
        (b"", "malformed_json"),
        (&GOOD.as_bytes()[..20], "malformed_json"),
        (nested.as_bytes(), "body_too_large"),
        (&nested.as_bytes()[..60_000], "malformed_json"),
        (nested_field.as_bytes(), "invalid_fields"),
        (br#"{"amount":1,"amount":2,"currency":"EUR","to":"sim:ok","reference":"h-1"}"#, "invalid_fields"),
        (b"{\"amount\":1,\"currency\":\"EUR\",\"to\":\"sim:o\0k\",\"reference\":\"h-1\"}", "malformed_json"),
        (br#"{"amount":1,"currency":"EUR","to":"sim:o\u0000k","reference":"h-1"}"#, "invalid_fields"),
        (&vec![b'x'; 10_000_000], "body_too_large"),
        (br#"{"amount":{},"currency":7,"to":[],"reference":true}"#, "invalid_fields"),
        (br#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"h-1","more":1}"#, "invalid_fields"),
        (b"{\"amount\":1,\"currency\":\"EUR\",\"to\":\"sim:\xff\",\"reference\":\"h-1\"}", "malformed_json"),
        (br#"{"amount":1e400,"currency":"EUR","to":"sim:ok","reference":"h-1"}"#, "invalid_fields"),
        (br#"["amount"]"#, "invalid_fields"),
        (long.as_bytes(), "invalid_fields"),
        (many_keys.as_bytes(), "invalid_fields"),
    ];
    for (body, code) in cases {
        let problem = refused(&service, body).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(80)]).into_owned();
        assert_eq!(problem["code"], code, "{shown}");
        if code != "body_too_large" {
            assert!(problem["errors"][0]["pointer"].is_string(), "{shown}: {problem:#}");
            assert!(problem["errors"].as_array().unwrap().len() <= 120, "{shown}");
        }
    }
    let head = head(&service, "Content-Type: application/json\r\nContent-Length: 61\r\n", GOOD.as_bytes()).await;
    let answer = service.raw(format!("{head}{GOOD}").as_bytes()).await;
    assert_eq!(GOOD.len(), 61);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
}

/// A batch of nonsense elements, as large as a batch may be.
fn nonsense(element: impl Fn(usize) -> String) -> String {
    const MOST: usize = 1024 * 1024;
    let mut elements: Vec<String> = Vec::new();
    let mut length = 20;
    while elements.len() < 1_000 {
        let next = element(elements.len());
        length += next.len() + 1;
        if length > MOST {
            break;
        }
        elements.push(next);
    }
    format!(r#"{{"settlements":[{}]}}"#, elements.join(","))
}

#[tokio::test]
async fn a_batch_of_nonsense_has_a_bounded_answer() {
    let service = service().await;
    let unknown = |n: usize| format!("{{{}}}", (0..110).map(|m| format!("\"{n}k{m}\":1")).collect::<Vec<_>>().join(","));
    let control = |_: usize| format!(r#"{{"{}":1}}"#, r"\u0001".repeat(170));
    let metadata = |_: usize| format!(r#"{{"metadata":{{{}}}}}"#, vec![r#""":1"#; 200].join(","));
    let quoted = |_: usize| format!(r#"{{"to":"{}"}}"#, "\u{10ffff}".repeat(250));
    let missing = |n: usize| {
        let provider = "p".repeat(64);
        format!(
            r#"{{"amount":1,"currency":"EUR","to":"sim:ok","reference":"n-{n}","provider":"{provider}","description":"{}"}}"#,
            "é".repeat(140)
        )
    };
    let one_huge = |_: usize| format!(r#"{{"metadata":{{{}}}}}"#, vec![r#""":1"#; 200_000].join(","));
    let kinds: [(&str, String); 7] = [
        ("unknown", nonsense(unknown)),
        ("control", nonsense(control)),
        ("metadata", nonsense(metadata)),
        ("quoted", nonsense(quoted)),
        ("missing", nonsense(missing)),
        ("huge", nonsense(one_huge)),
        ("empty", nonsense(|_| "{}".to_owned())),
    ];
    for (kind, body) in kinds {
        let answer = service.post_text(&format!("{SETTLEMENTS}/batch"), body.clone()).await.expect(200);
        let (sent, got) = (body.len(), answer.body.len());
        assert!(got < 700_000, "{kind}: {sent} bytes sent, {got} received");
        let results = answer.json();
        let results = results["results"].as_array().unwrap();
        let listed: usize = results.iter().map(|it| it["problem"]["errors"].as_array().map_or(0, Vec::len)).sum();
        assert!(kind == "missing" || listed <= 101, "{kind}: {listed} are listed");
        assert!(results.iter().all(|it| it["status"] == 422), "{kind}");
    }
    let answer = service.post_text(&format!("{SETTLEMENTS}/batch"), nonsense(unknown)).await.json();
    let detail = |n: usize| answer["results"][n]["problem"]["detail"].as_str().unwrap();
    assert!(detail(0).starts_with('/') && detail(0).ends_with("; and 113 more problems"), "{}", detail(0));
    let last = answer["results"][0]["problem"]["errors"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["code"], &last["message"]), (&"more_problems".into(), &"and 14 more".into()));
    assert_eq!(detail(1), "not valid, with 114 problems; the response lists problems of earlier elements only");
}

#[tokio::test]
async fn a_query_has_few_parameters_and_its_problems_are_short() {
    let service = service().await;
    let many = vec!["a=1"; 15_000].join("&");
    for path in [SETTLEMENTS, "/api/v1/gateway/events"] {
        service.get(&format!("{path}?{many}")).await.problem(400, "malformed_request");
        let few = vec!["a=1"; 64].join("&");
        service.get(&format!("{path}?{few}")).await.problem(422, "invalid_fields");
        let long = service.get(&format!("{path}?{}=1", "a".repeat(30_000))).await.expect(422);
        assert!(long.body.len() < 1_000, "{}", long.text());
    }
}

#[tokio::test]
async fn framing() {
    let service = service().await;
    let chunked = async |chunks: &str| {
        head(&service, "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", GOOD.as_bytes()).await + chunks
    };
    let two = format!("10\r\n{}\r\n2d\r\n{}\r\n0\r\n\r\n", &GOOD[..16], &GOOD[16..]);
    let answer = service.raw(chunked(&two).await.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let answer = service.raw(chunked("zz\r\nno\r\n0\r\n\r\n").await.as_bytes()).await;
    assert_eq!(problem(&answer)["code"], "malformed_request");
    // Chunked bodies without a declared length are bounded too.
    let mut many = chunked("").await;
    for _ in 0..100 {
        many.push_str(&format!("1000\r\n{}\r\n", "x".repeat(0x1000)));
    }
    many.push_str("0\r\n\r\n");
    assert_eq!(problem(&service.raw(many.as_bytes()).await)["code"], "body_too_large");
    // A sender that waits for `100 Continue` does not get it for a body that is too large.
    let expect = head(&service, "Content-Type: application/json\r\nContent-Length: 10000000\r\nExpect: 100-continue\r\n", b"").await;
    let answer = service.raw(expect.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
    // The sender's side is closed before the body is complete.
    let mut stream = service.connect().await;
    let broken = head(&service, "Content-Type: application/json\r\nContent-Length: 100\r\n", b"{").await;
    stream.write_all(broken.as_bytes()).await.unwrap();
    stream.write_all(b"{").await.unwrap();
    stream.shutdown().await.unwrap();
    let text = read_until(&mut stream, |text| text.contains("\r\n\r\n{")).await;
    assert_eq!(problem(&text)["code"], "malformed_request");
}

#[tokio::test]
async fn heads() {
    let service = service().await;
    for nonsense in ["\x16\x03\x01\x02\x00\x01\x00", "GARBAGE\r\n\r\n", "GET / HTTP/1.1\r\nBad Header: x\r\n\r\n", "GET / HTTP/9.9\r\n\r\n"]
    {
        let answer = service.raw(nonsense.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400"), "{nonsense:?}: {answer:?}");
    }
    let both = head(&service, "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", b"").await + "0\r\n\r\n";
    let answer = service.raw(both.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer}");
    let huge = format!("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Big: {}\r\n\r\n", "a".repeat(100_000));
    let answer = service.raw(huge.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer:?}");
    let many: String = (0..200).map(|n| format!("X-{n}: 1\r\n")).collect();
    let answer = service.raw(format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{many}\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer:?}");
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(70_000));
    let answer = service.raw(long.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 4"), "{answer:?}");
}

#[tokio::test]
async fn slow_senders_are_told_and_let_go() {
    let store = std::sync::Arc::new(railgate::store::memory::MemoryStore::new());
    let service = super::support::service_with(store, |hosted| {
        hosted.limits.body_read = Duration::from_millis(200);
        hosted.limits.head_read = Duration::from_millis(300);
    })
    .await;
    let slow_body = head(&service, "Content-Type: application/json\r\nContent-Length: 100\r\n", b"{").await + "{";
    let answer = service.raw(slow_body.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert_eq!(problem(&answer)["code"], "malformed_request");
    // A head that never ends occupies its connection only for a bounded time.
    service.raw(b"GET /healthz HTTP/1.1\r\nHost:").await;
}

#[tokio::test]
async fn connections_are_kept_and_requests_on_them_may_be_sent_ahead() {
    let service = service().await;
    let mut stream = service.connect().await;
    let mut ahead = String::new();
    for _ in 0..3 {
        ahead.push_str(&service.head("GET", "/api/v1/balances/EUR", "", b"").await);
    }
    stream.write_all(format!("GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n{ahead}").as_bytes()).await.unwrap();
    let text = read_until(&mut stream, |text| text.matches("HTTP/1.1 ").count() == 4).await;
    assert_eq!(text.matches("HTTP/1.1 200").count(), 3);
    assert_eq!(text.matches("HTTP/1.1 404").count(), 1);
}

#[tokio::test]
async fn odd_addresses_are_harmless() {
    let service = service().await;
    for path in ["/%00", "//", "/api/v1/gateway/settlements/", "/api/v1/gateway/settlements/%2e%2e/x", "/?", "/api", "/api/"] {
        let answer = service.send(Request::get(path).body(axum::body::Body::empty()).unwrap()).await;
        assert!(answer.status.is_client_error(), "{path}");
        answer.problem(404, "route_not_found");
    }
    let long = "a".repeat(20_000);
    service.get(&format!("{SETTLEMENTS}/{long}")).await.problem(404, "settlement_not_found");
    service.get(&format!("{SETTLEMENTS}?to={long}&limit=%FF&created_from=yesterday")).await.problem(422, "invalid_fields");
}
