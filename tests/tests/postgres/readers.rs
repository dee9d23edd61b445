//! Lists that take long leave connections to everybody else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use railgate::Engine;
use railgate::api::NewWebhook;
use railgate::engine::CreateWebhook;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate_server::gateway::{Gateway, QueueLimits};
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;
use tokio::runtime::Runtime;

use super::engine::config;
use super::support::{Sandbox, create, enroll, target};
use super::{Fresh, options};

#[test]
fn slow_lists_leave_connections_to_look_ups_and_commits() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    let sql = server.sql(&fresh.database);
    let store = PostgresStore::open(&server.url(&fresh.database), PostgresOptions { readers: 4, ..options() }).unwrap();
    let sandbox = Sandbox::over(Arc::new(store), config(), 7);
    sandbox.pay("kept", "sim:ok");
    let mine = sandbox.caller;
    let others = [enroll(&sandbox.engine, "Second"), enroll(&sandbox.engine, "Third")];
    let webhooks = others.map(|caller| {
        let new = NewWebhook { url: "http://127.0.0.1:9/hook".to_owned(), topics: None, description: None };
        sandbox.engine.run(CreateWebhook { caller, new }).unwrap().endpoint.id
    });
    let runtime = Runtime::new().unwrap();
    let gateway = Gateway::start(Arc::new(sandbox.engine), Arc::default(), QueueLimits::default()).unwrap();

    sql.run("BEGIN; LOCK TABLE delivery IN ACCESS EXCLUSIVE MODE");
    let begun = Arc::new(AtomicUsize::new(0));
    for (caller, webhook) in others.into_iter().zip(webhooks).cycle().take(12) {
        let (gateway, begun) = (gateway.clone(), Arc::clone(&begun));
        runtime.spawn(async move {
            let list = move |engine: &Engine| {
                begun.fetch_add(1, Ordering::SeqCst);
                engine.deliveries(&caller, webhook, None, None, 9)
            };
            gateway.scan(&caller, list).await
        });
    }
    let waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = 'delivery'::regclass";
    until("one list of each client waits", || sql.texts(waiting).len() >= 2);
    for no in 0..9 {
        let body = format!(r#"{{"amount":10.00,"currency":"EUR","to":"sim:ok","reference":"r{no}"}}"#);
        let command = create(gateway.engine(), mine, &body);
        let (found, made) = runtime.block_on(async {
            let found = gateway.read(&mine, |engine| engine.settlement(&mine, &target("kept"))).await;
            (found, gateway.run(&mine, command).await)
        });
        assert_eq!(found.unwrap().reference.as_str(), "kept");
        made.unwrap();
    }
    assert_eq!(begun.load(Ordering::SeqCst), 2, "half of the readers make lists");
    sql.run("COMMIT");
    runtime.block_on(gateway.shutdown());
}
