//! Requests that two parsers could read differently: whatever follows them on the connection is never taken for a request of its own.

use tokio::io::AsyncWriteExt as _;

use super::support::{SETTLEMENTS, Service, read_until, service};

/// What follows. If it was answered, there would be a second status line.
const HIDDEN: &str = "GET /healthz?hidden HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

/// All that comes back for these bytes and a further request.
async fn both(service: &Service, bytes: &str) -> String {
    service.raw(format!("{bytes}{HIDDEN}").as_bytes()).await
}

fn responses(text: &str) -> usize {
    text.matches("HTTP/1.1 ").count()
}

#[tokio::test]
async fn a_message_whose_end_is_in_doubt_ends_its_connection() {
    let service = service().await;
    let post = |more: &str| format!("POST /api/v1/auth/challenges HTTP/1.1\r\nHost: x\r\n{more}\r\n");
    let cases = [
        post("Content-Length: 4\r\nContent-Length: 5\r\n") + "{}  ",
        post("Content-Length: 4, 5\r\n") + "{}  ",
        post("Content-Length: +4\r\n") + "{}  ",
        post("Content-Length: -4\r\n"),
        post("Content-Length: 0x4\r\n") + "{}  ",
        post("Content-Length: 4 4\r\n") + "{}  ",
        post("Content-Length: 99999999999999999999\r\n"),
        post("Content-Length : 4\r\n") + "{}  ",
        post("Transfer-Encoding: identity\r\n"),
        post("Transfer-Encoding: chunked, identity\r\n") + "0\r\n\r\n",
        post("Transfer-Encoding: xchunked\r\n") + "0\r\n\r\n",
        post("Transfer-Encoding: \"chunked\"\r\n") + "0\r\n\r\n",
        post("Transfer-Encoding : chunked\r\n") + "0\r\n\r\n",
        post(" Transfer-Encoding: chunked\r\n") + "0\r\n\r\n",
        post("X: y\r\n Transfer-Encoding: chunked\r\n") + "0\r\n\r\n",
        post("X: y\r\n\tContent-Length: 4\r\n") + "{}  ",
        post("X\0: y\r\n"),
        post("X: a\0b\r\n"),
        post("X: a\rContent-Length: 4\r\n") + "{}  ",
        post("Transfer-Encoding: chunked\r\n") + "-1\r\n",
        post("Transfer-Encoding: chunked\r\n") + "0x2\r\n{}\r\n0\r\n\r\n",
        post("Transfer-Encoding: chunked\r\n") + "fffffffffffffffff\r\n",
        post("Transfer-Encoding: chunked\r\n") + "2\r\n{}X\r\n0\r\n\r\n",
        "POST /api/v1/auth/challenges HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1 x\r\nHost: x\r\n\r\n".to_owned(),
        "GET /healthz\tHTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GET  /healthz HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "GE T /healthz HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
    ];
    for case in cases {
        let text = both(&service, &case).await;
        assert!(text.starts_with("HTTP/1.1 400 "), "{case:?}: {text}");
        assert_eq!(responses(&text), 1, "{case:?}: {text}");
    }
}

/// The transfer encoding decides, wherever the length stands, and the length is not forwarded to anybody.
#[tokio::test]
async fn a_length_beside_chunks_is_not_believed() {
    let service = service().await;
    for order in [["Content-Length: 4", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Content-Length: 4"]] {
        // By its length, the body would end before its last chunk, and the rest would be the next request.
        let both_given = order.join("\r\n");
        let post = format!("POST /api/v1/auth/challenges HTTP/1.1\r\nHost: x\r\n{both_given}\r\n\r\n2\r\n{{}}\r\n0\r\n\r\n");
        let text = both(&service, &post).await;
        assert!(text.starts_with("HTTP/1.1 200 ") || text.starts_with("HTTP/1.1 4"), "{text}");
        assert!(responses(&text) <= 2 && !text.contains("400 Bad Request\r\n\r\n"), "{order:?}: {text}");
        // By its chunks, the body would end at once: what follows within the length is a request of its own, and answered as one.
        let hidden = HIDDEN.len();
        let given = both_given.replace("Content-Length: 4", &format!("Content-Length: {}", 5 + hidden));
        let post = format!("POST /api/v1/auth/challenges HTTP/1.1\r\nHost: x\r\n{given}\r\n\r\n0\r\n\r\n");
        let text = both(&service, &post).await;
        assert!(responses(&text) <= 2, "{order:?}: {text}");
    }
}

#[tokio::test]
async fn a_request_has_one_host() {
    let service = service().await;
    for host in ["a", "a.example:80", "a:", "127.0.0.1:8080", "[::1]", "[::1]:8080", "a_b"] {
        let text = both(&service, &format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n")).await;
        assert!(text.starts_with("HTTP/1.1 200 "), "{host:?}: {text}");
    }
    for hosts in [
        "",
        "Host: a\r\nHost: b\r\n",
        "Host: a\r\nHost: a\r\n",
        "Host: a b\r\n",
        "Host: \r\n",
        "Host: a:b\r\n",
        "Host: a:1:2\r\n",
        "Host: x@y\r\n",
        "Host: a/b\r\n",
        "Host: é\r\n",
    ] {
        let text = both(&service, &format!("GET /healthz HTTP/1.1\r\n{hosts}\r\n")).await;
        assert!(text.starts_with("HTTP/1.1 400 "), "{hosts:?}: {text}");
        assert_eq!(responses(&text), 1, "{hosts:?}: {text}");
    }
    for lawful in ["GET /healthz HTTP/1.0\r\n\r\n", "GET /healthz HTTP/1.1\r\nHost: [::1]:8080\r\nConnection: close\r\n\r\n"] {
        let text = service.raw(lawful.as_bytes()).await;
        assert!(text.split(' ').nth(1) == Some("200"), "{text}");
    }
}

/// A signature covers the address that the gateway is known by. Neither `Host` nor the target's authority can change it.
#[tokio::test]
async fn no_header_changes_what_was_signed() {
    let service = service().await;
    let head = service.head("GET", "/api/v1/balances/EUR", "Connection: close\r\n", b"").await;
    let base = service.running.base_url().to_owned();
    for (from, to) in [
        ("Host: x", "Host: elsewhere.example"),
        ("GET /api", "GET http://elsewhere.example/api"),
        ("Host: x", "Host: x\r\nX-Forwarded-Host: elsewhere.example\r\nX-Forwarded-Proto: gopher\r\nForwarded: host=elsewhere.example"),
    ] {
        let head = service.head("GET", "/api/v1/balances/EUR", "Connection: close\r\n", b"").await;
        let text = service.raw(head.replace(from, to).as_bytes()).await;
        assert!(text.starts_with("HTTP/1.1 200 ") && !text.contains("elsewhere.example"), "{to} beside {base}: {text}");
    }
    // Headers by which other servers let callers choose another method or address.
    for header in ["X-HTTP-Method-Override: DELETE", "X-Original-URL: /api/v1/operator/overview", "X-Rewrite-URL: /readyz", "X-Method: PUT"]
    {
        let head = service.head("GET", "/api/v1/balances/EUR", "Connection: close\r\n", b"").await;
        let text = service.raw(head.replace("Host: x", &format!("Host: x\r\n{header}")).as_bytes()).await;
        assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("\"currency\":\"EUR\""), "{header}: {text}");
    }
    // The same head once more: its nonce counts once, on whatever connection.
    let first = service.raw(head.as_bytes()).await;
    assert!(first.starts_with("HTTP/1.1 200 "), "{first}");
    let again = service.raw(head.as_bytes()).await;
    assert!(again.starts_with("HTTP/1.1 401 ") && again.contains("nonce_replayed"), "{again}");
}

#[tokio::test]
async fn after_a_refusal_the_next_request_is_read_where_it_begins() {
    let service = service().await;
    // The body of what was refused looks like a request.
    let inner = "GET /healthz?inner HTTP/1.1\r\nHost: x\r\n\r\n";
    let refused = format!(
        "POST {SETTLEMENTS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{inner}",
        inner.len()
    );
    let mut stream = service.connect().await;
    stream.write_all(format!("{refused}GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).await.unwrap();
    let text = read_until(&mut stream, |text| responses(text) == 2 && text.ends_with('}')).await;
    assert!(text.starts_with("HTTP/1.1 401 ") && text.contains("HTTP/1.1 404 ") && !text.contains("HTTP/1.1 200 "), "{text}");
}

/// Lines may end with a line feed alone, as RFC 9112 allows, but never in the middle of a value.
#[tokio::test]
async fn line_feeds_alone_divide_lines_and_nothing_else() {
    let service = service().await;
    let text = service.raw(b"GET /healthz HTTP/1.1\nHost: x\nConnection: close\n\n").await;
    assert!(text.starts_with("HTTP/1.1 200 ") || text.starts_with("HTTP/1.1 400 "), "{text}");
    let text = service.raw(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\nContent-Length: 5\nConnection: close\r\n\r\nhello").await;
    assert_eq!(responses(&text), 1, "{text}");
}
