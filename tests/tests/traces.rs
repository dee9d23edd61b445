//! One trace from a client's call through the operator to the webhook, as a collector gets it by OTLP.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::IntoResponse as _;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::{Span, span::SpanKind};
use prost::Message as _;
use railgate_tests::binary::{Server, railgate};
use railgate_tests::client::{call, enroll};
use serde_json::json;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLERS_SPAN: &str = "00f067aa0ba902b7";

/// A request that arrived somewhere.
struct Arrived {
    method: Method,
    path: String,
    traceparent: Option<String>,
    body: Bytes,
}

/// A receiver of HTTP on this machine, which answers everything alike. It is the collector, the operator and the endpoint of a webhook.
fn receiver(answer: &'static str) -> (String, Receiver<Arrived>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    listener.set_nonblocking(true).unwrap();
    let (send, receive) = channel();
    std::thread::spawn(move || serve(listener, answer, &send));
    (address, receive)
}

fn serve(listener: std::net::TcpListener, answer: &'static str, arrived: &Sender<Arrived>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let send = arrived.clone();
        let app = Router::new().fallback(move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| {
            let traceparent = headers.get("traceparent").map(|value| value.to_str().unwrap().to_owned());
            // The test may have ended.
            let _ = send.send(Arrived { method, path: uri.path().to_owned(), traceparent, body });
            std::future::ready(([("content-type", "application/json")], answer).into_response())
        });
        axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), app).await.unwrap();
    });
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn text(span: &Span, key: &str) -> String {
    let found = span.attributes.iter().find(|it| it.key == key).unwrap_or_else(|| panic!("{} has no {key}", span.name));
    match found.value.as_ref().unwrap().value.as_ref().unwrap() {
        Any::StringValue(text) => text.clone(),
        Any::IntValue(number) => number.to_string(),
        other => panic!("{key}: {other:?}"),
    }
}

/// Spans of the trace, as they arrive at the collector, until there is one with each of these names.
fn spans(collector: &Receiver<Arrived>, names: &[&str]) -> Vec<Span> {
    let mut found: Vec<Span> = Vec::new();
    while !names.iter().all(|name| found.iter().any(|span| span.name == *name)) {
        let sent = collector.recv().unwrap();
        assert_eq!((sent.method, sent.path.as_str()), (Method::POST, "/v1/traces"));
        let sent = ExportTraceServiceRequest::decode(sent.body).unwrap();
        for resource in sent.resource_spans {
            let service = resource.resource.unwrap().attributes.into_iter().find(|it| it.key == "service.name").unwrap();
            assert_eq!(service.value.unwrap().value, Some(Any::StringValue("railgate".to_owned())));
            found.extend(resource.scope_spans.into_iter().flat_map(|scope| scope.spans).filter(|span| hex(&span.trace_id) == TRACE));
        }
    }
    found
}

#[test]
fn a_call_is_followed_through_the_operator_to_the_webhook() {
    let (collector, sent) = receiver("{}");
    let (operator, asked) = receiver(r#"{"status":"completed","reference":"acme-1"}"#);
    let (endpoint, told) = receiver("{}");
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("gateway.db");
    // It makes the store, in which the provider is before the server of the test begins.
    assert!(Server::start(&database, &[]).stop());
    let provider = json!({
        "id": "acme", "name": "Acme", "rail": "adapter", "mode": "sandbox", "base_url": operator,
        "secrets": {"token": "a-long-random-text-of-acme", "callback_secret": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="},
    });
    let file = folder.path().join("acme.json");
    std::fs::write(&file, provider.to_string()).unwrap();
    let store = format!("sqlite:{}", database.display());
    let applied =
        Command::new(railgate()).args(["providers", "apply", file.to_str().unwrap(), "--yes", "--store", &store]).output().unwrap();
    assert!(applied.status.success(), "{applied:?}");

    let server = Server::start(&database, &["--traces", &collector]);
    let mut client = enroll(server.address).connect(server.address).unwrap();
    let webhook = json!({"url": endpoint, "events": ["settlement.completed"]}).to_string();
    assert_eq!(client.send("POST", "/api/v1/webhooks", Some(&webhook)).unwrap().status, 201);
    let body = json!({"amount": 10, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "t-1", "provider": "acme"});
    let mut create = call("POST", "/api/v1/gateway/settlements", Some(&body.to_string()));
    create.headers.push(("traceparent".to_owned(), format!("00-{TRACE}-{CALLERS_SPAN}-01")));
    let created = client.ask(create).unwrap();
    assert_eq!(created.status, 201, "{created:?}");

    let all = spans(&sent, &["POST /api/v1/gateway/settlements", "rail submit", "webhook settlement.completed"]);
    let span = |name: &str| all.iter().rfind(|span| span.name == name).unwrap();
    let (made, paid, said) = (span("POST /api/v1/gateway/settlements"), span("rail submit"), span("webhook settlement.completed"));
    assert_eq!((hex(&made.parent_span_id).as_str(), made.kind), (CALLERS_SPAN, SpanKind::Server as i32));
    assert_eq!((text(made, "http.response.status_code").as_str(), text(made, "http.request.method").as_str()), ("201", "POST"));
    assert_eq!((&paid.parent_span_id, paid.kind), (&made.span_id, SpanKind::Client as i32));
    assert_eq!((text(paid, "railgate.provider").as_str(), text(paid, "railgate.answer").as_str()), ("acme", "completed"));
    assert_eq!((&said.parent_span_id, said.kind), (&made.span_id, SpanKind::Client as i32));
    assert_eq!(text(said, "http.response.status_code"), "200");

    // The operator and the receiver of the webhook can go on from there.
    let go_on = |span: &Span| Some(format!("00-{TRACE}-{}-01", hex(&span.span_id)));
    let payment = asked.iter().find(|it| it.method == Method::PUT && it.path.contains("/payments/")).unwrap();
    assert_eq!(payment.traceparent, go_on(paid));
    let delivery = told.recv().unwrap();
    assert!(delivery.body.starts_with(b"{"), "{:?}", delivery.path);
    assert_eq!(delivery.traceparent, go_on(said));
    assert!(server.stop());
}

#[test]
fn what_a_caller_does_not_record_is_not_sent_but_goes_on() {
    let (collector, sent) = receiver("{}");
    let (endpoint, told) = receiver("{}");
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("gateway.db"), &["--traces", &collector, "--traces-share", "0"]);
    let mut client = enroll(server.address).connect(server.address).unwrap();
    let webhook = json!({"url": endpoint, "events": ["settlement.completed"]}).to_string();
    assert_eq!(client.send("POST", "/api/v1/webhooks", Some(&webhook)).unwrap().status, 201);
    let body = json!({"amount": 10, "currency": "EUR", "to": "sim:ok", "reference": "t-2"});
    let mut create = call("POST", "/api/v1/gateway/settlements", Some(&body.to_string()));
    create.headers.push(("traceparent".to_owned(), format!("00-{TRACE}-{CALLERS_SPAN}-00")));
    assert_eq!(client.ask(create).unwrap().status, 201);
    let delivery = told.recv().unwrap();
    assert!(delivery.traceparent.unwrap().ends_with("-00"), "not recorded");
    // The server has sent all that it recorded when it ends.
    assert!(server.stop());
    assert!(sent.try_recv().is_err(), "a span was sent");
}
