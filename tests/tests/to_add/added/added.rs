//! What was added to this copy of the repository, in use over databases that were written before.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::routing::put;
use railgate::engine::verify::verify;
use railgate::ledger::Mode;
use railgate::rail::Rails;
use railgate::route::ProviderSpec;
use railgate::store::conformance::every_kind_is_walked_in_the_order_of_its_keys;
use railgate::store::journal::JournalStore;
use railgate::store::memory::MemoryStore;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::{Key, RecordKind, RemarkRecord, SettlementRecord};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, typed, typed_all};
use railgate_server::{Hosted, start_with};
use railgate_tests::client::{Client, Connection, call, enroll, render};
use serde_json::{Value, json};

const SETTLEMENT: &str = "/api/v1/gateway/settlements/new";
const REMARK: &str = "For the guitar";

#[test]
fn everything_works_over_sqlite() {
    let path = std::env::var("OLD_SQLITE").unwrap();
    assert!(!SqliteStore::schema(path.as_ref()).unwrap().is_current());
    everything_works_over(|| Arc::new(SqliteStore::open(&path).unwrap()));
}

#[test]
fn everything_works_over_postgresql() {
    let url = std::env::var("OLD_POSTGRES").unwrap();
    let options = PostgresOptions::default;
    assert!(!PostgresStore::schema(&url, options()).unwrap().is_current());
    everything_works_over(|| Arc::new(PostgresStore::open(&url, options()).unwrap()));
}

#[test]
fn the_new_kind_is_tried_in_every_store() {
    every_kind_is_walked_in_the_order_of_its_keys(&|| Box::new(MemoryStore::new()));
}

/// A journal has no migrations. This one was written long before.
#[test]
fn a_journal_of_before_opens() {
    let store = JournalStore::restore(None, include_bytes!("../../core/tests/golden/journal-1-engine.bin")).unwrap().store;
    assert_sound(&store);
    let old = settlements(&store);
    assert!(!old.is_empty() && old.iter().all(|it| it.promised_at.is_none() && store.holds(&it.clone().into()).unwrap()));
    let snapshot = store.snapshot().unwrap();
    assert_eq!(settlements(&JournalStore::restore(Some(&snapshot), &[]).unwrap().store), old);
}

fn everything_works_over(open: impl Fn() -> Arc<dyn Store>) {
    let store = open();
    assert_sound(&*store);
    let [old] = settlements(&*store).try_into().unwrap();
    assert_eq!((old.reference.as_str(), old.promised_at), ("old", None));

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (operator, paid) = runtime.block_on(operator());
    let running = runtime.block_on(start_with(hosted(store, operator), loopback(), None)).unwrap();
    pay_and_remark(running.address());
    assert_eq!(paid.load(Ordering::Relaxed), 1);
    runtime.block_on(running.stop());

    let store = open();
    assert_sound(&*store);
    let [same, new] = settlements(&*store).try_into().unwrap();
    assert_eq!((same, new.reference.as_str()), (old, "new"));
    assert_eq!(new.promised_at, Some(new.created_at + 86_400_000));
    let kept: RemarkRecord = typed(store.get(&Key::Remark(new.no)).unwrap()).unwrap().unwrap();
    assert_eq!((kept.text.as_str(), kept.at >= new.created_at), (REMARK, true));
    assert_eq!(store.scan(&Scan::all(RecordKind::Remark, 9)).unwrap(), [kept.into()]);
}

/// A client pays over the rail and calls the route, which nobody else can for this settlement.
fn pay_and_remark(address: SocketAddr) {
    let mut client = enroll(address).connect(address).unwrap();
    let pay = json!({"amount": 25, "currency": "EUR", "to": "msisdn:+254700000001", "reference": "new"});
    assert_eq!(send(&mut client, 201, "POST", "/api/v1/gateway/settlements", Some(&pay))["provider"], "courier");
    while send(&mut client, 200, "GET", &format!("{SETTLEMENT}/status?wait=10"), None)["final"] != true {}
    assert_eq!(send(&mut client, 200, "GET", SETTLEMENT, None)["rail_reference"], "C-1");

    let route = format!("{SETTLEMENT}/remark");
    for text in ["For the piano", REMARK] {
        assert_eq!(send(&mut client, 201, "PUT", &route, Some(&json!({"text": text})))["text"], text);
    }
    let mut other = enroll(address).connect(address).unwrap();
    assert_eq!(send(&mut other, 404, "PUT", &route, Some(&json!({"text": "Mine"})))["code"], "settlement_not_found");

    let mut stranger = Connection::open(address).unwrap();
    let unsigned = stranger.exchange(&render(&call("PUT", &route, Some(r#"{"text": "Mine"}"#)))).unwrap();
    assert_eq!((unsigned.status, unsigned.code()), (401, "token_missing"));
    let document = stranger.exchange(&render(&call("GET", "/openapi.json", None))).unwrap().body;
    let documented = &document["paths"]["/api/v1/gateway/settlements/{ref}/remark"]["put"];
    assert_eq!(documented["operationId"], "remarkOnSettlement");
    assert!(documented["responses"]["401"].is_object(), "{documented:#}");
}

fn send(client: &mut Client, status: u16, method: &str, path: &str, body: Option<&Value>) -> Value {
    let response = client.send(method, path, body.map(Value::to_string).as_deref()).unwrap();
    assert_eq!(response.status, status, "{method} {path}: {response:?}");
    response.body
}

/// A service whose only provider is of the new rail.
fn hosted(store: Arc<dyn Store>, operator: SocketAddr) -> Hosted {
    let rails = Rails::built_in();
    let spec = ProviderSpec::new("courier", "Courier", Mode::Sandbox, rails.get("courier").unwrap());
    let mut hosted = Hosted::over(store);
    hosted.engine.providers = vec![ProviderSpec { base_url: Some(format!("http://{operator}")), ..spec }];
    hosted
}

/// An operator on this machine, and how often it was paid.
async fn operator() -> (SocketAddr, Arc<AtomicUsize>) {
    let paid = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&paid);
    let pay = async move || format!("C-{}", count.fetch_add(1, Ordering::Relaxed) + 1);
    let listener = tokio::net::TcpListener::bind(loopback()).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/{key}", put(pay))).await });
    (address, paid)
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn settlements(store: &dyn Store) -> Vec<SettlementRecord> {
    typed_all(store.scan(&Scan::all(RecordKind::Settlement, 99)).unwrap()).unwrap()
}

fn assert_sound(store: &dyn Store) {
    let report = verify(store, &mut |_| {}).unwrap();
    assert!(report.is_ok(), "{:#?}", report.problems);
}
