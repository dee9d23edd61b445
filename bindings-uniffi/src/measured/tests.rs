//! What is measured of calls, and that no call suffers for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_lite::future::{block_on, pending, yield_now};
use serde_json::{Value, json};

use super::*;
use crate::{Environment, GatewayClient, HttpRequest, HttpResponse, HttpTransport, SettlementRequest, SoftwareSigner, TransportError};

/// The fate of a call.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Answered,
    Lost,
    NotSent,
    /// Nobody ever learns what became of it.
    Held,
    Refused(u16),
}

/// A gateway that takes points and has nothing else.
#[derive(Default)]
struct Gateway {
    calls: Mutex<VecDeque<Fate>>,
    reports: Mutex<VecDeque<Fate>>,
    /// The batches of points that arrived.
    seen: Mutex<Vec<Vec<Value>>>,
}

#[async_trait]
impl HttpTransport for Gateway {
    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, TransportError> {
        let path = request.url.trim_start_matches("https://pay.example/api/v1");
        let (fate, body) = match path {
            "/auth/challenges" => (None, json!({"challenge": "c", "expires_in": 300})),
            "/auth/tokens" => (None, json!({"access_token": "t", "expires_in": 900, "client_id": "cli_1"})),
            "/mobile/quality" => {
                let points = parse_quality(&request.body, now()).unwrap();
                assert!(points.iter().all(Result::is_ok), "{points:?}");
                let body: Value = serde_json::from_slice(&request.body).unwrap();
                self.seen.lock().unwrap().push(body["items"].as_array().unwrap().clone());
                (self.reports.lock().unwrap().pop_front(), json!({"accepted": points.len(), "duplicates": 0, "refused": []}))
            }
            _ => {
                // As on a network, nothing comes at once.
                yield_now().await;
                (self.calls.lock().unwrap().pop_front(), json!({"data": []}))
            }
        };
        let (status, body) = match fate.unwrap_or(Fate::Answered) {
            Fate::Answered => (200, body),
            Fate::Lost => return Err(TransportError::NoAnswer { detail: "lost".to_owned() }),
            Fate::NotSent => return Err(TransportError::NotSent { detail: "no network".to_owned() }),
            Fate::Held => pending().await,
            Fate::Refused(status) => (status, json!({"code": "user_blocked", "detail": "no"})),
        };
        let id = request.headers.into_iter().find(|header| header.name == "x-request-id").unwrap();
        Ok(HttpResponse { status, headers: vec![id], body: body.to_string().into_bytes() })
    }

    async fn pause(&self, _: u64) -> Result<(), TransportError> {
        Ok(())
    }
}

impl Gateway {
    fn client(self: &Arc<Self>) -> Arc<GatewayClient> {
        let signer = SoftwareSigner::new(Some(vec![1; 32])).unwrap();
        GatewayClient::new("https://pay.example".to_owned(), Environment::Sandbox, signer, self.clone(), None).unwrap()
    }

    fn fated(&self, fates: impl IntoIterator<Item = Fate>) {
        self.calls.lock().unwrap().extend(fates);
    }

    /// The points of the last batch.
    fn last(&self) -> Vec<Value> {
        self.seen.lock().unwrap().last().cloned().unwrap_or_default()
    }

    /// How many batches arrived.
    fn batches(&self) -> usize {
        self.seen.lock().unwrap().len()
    }
}

fn options() -> QualityOptions {
    let (app_version, os) = (Some("3.2.0".to_owned()), Some("android 16".to_owned()));
    QualityOptions { app_version, os, network: Some(NetworkKind::Cellular), background: true }
}

/// A client whose calls are measured.
fn measured(gateway: &Arc<Gateway>) -> Arc<GatewayClient> {
    let client = gateway.client();
    client.measure_quality(Some(options())).unwrap();
    client
}

fn payment() -> SettlementRequest {
    SettlementRequest {
        amount: crate::Decimal::parse("1").unwrap(),
        currency: "EUR".to_owned(),
        to: "sim:ok".to_owned(),
        reference: "inv-1".to_owned(),
        description: None,
        metadata: [].into(),
        provider: None,
        quote_id: None,
        expires_at: None,
        user: None,
    }
}

#[test]
fn nothing_is_measured_unless_the_app_asks_for_it() {
    let gateway = Arc::new(Gateway::default());
    let client = gateway.client();
    block_on(client.balances()).unwrap();
    assert_eq!((block_on(client.send_quality()), gateway.batches()), (Ok(0), 0));
    client.measure_quality(Some(options())).unwrap();
    block_on(client.balances()).unwrap();
    client.measure_quality(None).unwrap();
    assert_eq!((block_on(client.send_quality()), gateway.batches()), (Ok(0), 0));
}

#[test]
fn a_point_says_how_a_call_went_and_nothing_else() {
    let gateway = Arc::new(Gateway::default());
    let client = measured(&gateway);
    gateway.fated([Fate::NotSent, Fate::Lost, Fate::Answered]);
    block_on(client.balances()).unwrap();
    gateway.fated([Fate::Lost; 5]);
    block_on(client.create(payment())).unwrap_err();
    // An answer that refuses is an answer.
    gateway.fated([Fate::Refused(403)]);
    block_on(client.balances()).unwrap_err();
    assert_eq!(block_on(client.send_quality()), Ok(6));
    let points = gateway.last();
    let told: Vec<_> = points.iter().map(|it| (it["metric"].as_str().unwrap(), it["failed"].as_bool().unwrap())).collect();
    let (answer, retries) = ("payment.answer", "call.retries");
    assert_eq!(
        told,
        [("network.offline", false), ("call.answer", false), (retries, false), (answer, true), (retries, true), ("call.answer", false)]
    );
    assert_eq!((&points[2]["value"], &points[4]["value"]), (&json!(2), &json!(4)));
    assert_eq!((&points[0]["network"], &points[1]["network"]), (&json!("offline"), &json!("cellular")));
    assert_eq!((&points[3]["settlement"], points[1].get("settlement")), (&json!("inv-1"), None));
    assert_eq!(block_on(client.send_quality()), Ok(0), "each is sent once");
}

#[test]
fn points_are_sent_beside_calls_which_never_wait_for_that() {
    let gateway = Arc::new(Gateway::default());
    let client = measured(&gateway);
    gateway.reports.lock().unwrap().push_back(Fate::Held);
    // Once there are enough points, a report is on its way for ever.
    for _ in 0..=DUE_POINTS {
        block_on(client.balances()).unwrap();
    }
    assert_eq!(gateway.batches(), 1);
    for _ in 0..DUE_POINTS {
        block_on(client.balances()).unwrap();
    }
    assert_eq!((gateway.batches(), gateway.last().len()), (1, DUE_POINTS), "one at a time");
    let first = gateway.last();
    let sent = block_on(client.send_quality()).unwrap();
    assert!(sent > DUE_POINTS as u64 && gateway.last()[..DUE_POINTS] == first, "the same points again, by the same ids");
}

#[test]
fn what_the_app_wants_to_send_itself_is_not_sent_beside_calls() {
    let gateway = Arc::new(Gateway::default());
    let client = gateway.client();
    client.measure_quality(Some(QualityOptions { background: false, ..options() })).unwrap();
    for _ in 0..2 * DUE_POINTS {
        block_on(client.balances()).unwrap();
    }
    assert_eq!((gateway.batches(), block_on(client.send_quality())), (0, Ok(2 * DUE_POINTS as u64)));
}

#[test]
fn points_are_kept_within_bounds_until_the_gateway_has_them() {
    let gateway = Arc::new(Gateway::default());
    let client = measured(&gateway);
    gateway.reports.lock().unwrap().push_back(Fate::Lost);
    for _ in 0..QUALITY_POINTS_MAX + 100 {
        block_on(client.balances()).unwrap();
    }
    assert_eq!(gateway.batches(), 1, "after a failure it rests");
    gateway.reports.lock().unwrap().push_back(Fate::NotSent);
    assert!(matches!(block_on(client.send_quality()), Err(GatewayError::Unanswered { .. })));
    let kept = gateway.last();
    assert_eq!(kept.len(), QUALITY_POINTS_MAX);
    assert_eq!((block_on(client.send_quality()), gateway.last()), (Ok(1 + QUALITY_POINTS_MAX as u64), with_offline(&gateway, &kept)));
    // What will never be taken is not kept.
    block_on(client.balances()).unwrap();
    gateway.reports.lock().unwrap().push_back(Fate::Refused(403));
    assert!(matches!(block_on(client.send_quality()), Err(GatewayError::Refused { .. })));
    assert_eq!(block_on(client.send_quality()), Ok(0));
}

/// The last batch is the point about the time without a connection, which ended while the others were sent.
fn with_offline(gateway: &Gateway, kept: &[Value]) -> Vec<Value> {
    let seen = gateway.seen.lock().unwrap();
    let [.., full, last] = &seen[..] else { panic!("two batches") };
    assert_eq!(&full[..], kept);
    assert!(last.len() == 1 && last[0]["metric"] == "network.offline", "{last:?}");
    last.clone()
}

#[test]
fn an_app_learns_at_once_what_a_point_must_not_say() {
    let client = Arc::new(Gateway::default()).client();
    for (app_version, os, pointer) in [("Ada's", "android 16", "/app_version"), ("3.2.0", "Ada's phone", "/os")] {
        let wrong = QualityOptions { app_version: Some(app_version.to_owned()), os: Some(os.to_owned()), ..options() };
        let Err(GatewayError::Invalid { problem }) = client.measure_quality(Some(wrong)) else { panic!("it was taken") };
        assert_eq!(problem.problems[0].pointer, pointer);
    }
}
