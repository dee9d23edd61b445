//! A client that moves from a gateway over SQLite to one over PostgreSQL.

use std::sync::Arc;

use super::Fresh;
use super::support::{Sandbox, sealing, target};
use railgate::api::{Caller, NewWebhook};
use railgate::engine::{CreateWebhook, MoveMoney, Operated, Relocation, RelocationOrder, RelocationStep, verify};
use railgate::env::Env;
use railgate::ledger::Mode;
use railgate::seal::MasterKeys;
use railgate::store::record::{EndpointRecord, MovementKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, typed_all};
use railgate::{Config, Engine, ErrorCode};

#[test]
fn a_client_moves_from_sqlite_to_postgresql() {
    let folder = tempfile::tempdir().unwrap();
    let file: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path().join("a.db")).unwrap());
    let a = Sandbox::over(file, sealing(), 1);
    let database: Arc<dyn Store> = Arc::new(Fresh::new());
    let other_keys = Config { master: Some(Arc::new(MasterKeys::generate(1, [7; 32]))), ..Config::default() };
    let b = Sandbox::over(database.clone(), other_keys.clone(), 2);
    let (client, kind, evidence) = (a.caller.client_id, MovementKind::Deposit, "line 7".to_owned());
    let (money, reference) = ("70.00 EUR".parse().unwrap(), "bank-1".parse().unwrap());
    a.engine.run(Operated(MoveMoney { client, kind, money, reference, evidence })).unwrap();
    let new = NewWebhook { url: "https://example.com/hook".to_owned(), topics: None, description: None };
    let secret = a.engine.run(CreateWebhook { caller: a.caller, new }).unwrap().secret.unwrap();
    for n in 0..700 {
        a.pay(&format!("inv-{n}"), "sim:ok");
    }
    a.work();

    let (from_url, to_url) = ("https://a.pay.example".to_owned(), "https://b.pay.example".to_owned());
    let order = RelocationOrder { client, from_url, to_url, reason: "A is full".to_owned() };
    let mut remembered = 0;
    loop {
        // Each step is one of a new process.
        let to = Engine::open(database.clone(), b.env.clone(), other_keys.clone()).unwrap();
        match Relocation::new(&a.engine, &to, order.clone()).unwrap().step().unwrap() {
            RelocationStep::Done => break,
            RelocationStep::Wait(ms) => [&a, &b].iter().for_each(|cell| cell.env.advance_to(cell.env.now() + ms)),
            RelocationStep::Remembered(count) => remembered += count,
            _ => {}
        }
    }
    assert_eq!(remembered, 701, "the payments, and the deposit");
    b.engine.follow_setup().unwrap();
    let there = Caller::client(b.engine.client_no(client).unwrap(), client, Mode::Sandbox);
    let live = b.engine.balance(&Caller { mode: Mode::Live, ..there }, "EUR").unwrap();
    assert_eq!((live.available.as_str(), b.engine.balance(&there, "EUR").unwrap().available.as_str()), ("70.00", "993000.00"));
    let hooks: Vec<EndpointRecord> = typed_all(database.scan(&Scan::endpoints_of(there.client, Mode::Sandbox)).unwrap()).unwrap();
    let secrets = b.engine.webhook_secrets(hooks[0].no).unwrap();
    assert_eq!((secrets.len(), secrets[0].to_text()), (1, secret.to_text()));
    let moved = Sandbox { engine: b.engine, caller: there, ..b };
    let body = |reference: &str| format!(r#"{{"amount":10,"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
    assert_eq!(moved.create(&body("inv-0")).unwrap_err().code, ErrorCode::ReferenceElsewhere);
    moved.create(&body("inv-700")).unwrap();
    moved.work();
    assert_eq!(moved.engine.settlement(&there, &target("inv-700")).unwrap().status.as_str(), "completed");
    for store in [&a.store, &database] {
        let report = verify::verify(&**store, &mut |_| {}).unwrap();
        assert!(report.is_ok(), "{:#?}", report.problems);
    }
}
