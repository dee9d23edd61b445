//! Migration from the embedded store: the binary copies a SQLite file with settlements in every state into PostgreSQL, is killed
//! halfway, and serves the copy as before. And back.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use super::support::{self, Sandbox};
use super::{Fresh, options};
use railgate::api::{Caller, NewWebhook};
use railgate::engine::{CreateWebhook, NumberEvents};
use railgate::env::{Env, ManualEnv};
use railgate::lifecycle::SettlementStatus;
use railgate::store::copy::copy;
use railgate::store::memory::MemoryStore;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::{ClientRecord, MetaRecord, Record, RecordKind, SettlementRecord};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Scan, Store, typed_all};
use railgate::webhook::Guard;
use railgate::{Config, Engine};
use railgate_tests::binary::{Server, railgate};
use railgate_tests::client::Account;
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;
use serde_json::Value;

/// The number of settlements in the store whose copy is killed.
const SETTLEMENTS: usize = 1_000;

fn run(args: &[&str]) -> Output {
    Command::new(railgate()).args(args).env("NO_COLOR", "1").stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[track_caller]
fn ok(args: &[&str]) -> String {
    let output = run(args);
    assert!(output.status.success(), "{args:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout).to_owned()
}

#[track_caller]
fn refused(args: &[&str]) -> String {
    let output = run(args);
    assert_eq!(output.status.code(), Some(1), "{args:?}: {}", text(&output.stdout));
    text(&output.stderr).to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// All records of a store that a copy of it has, in order: not those of its servers.
fn everything(store: &dyn Store) -> Vec<Record> {
    let all = |kind: &RecordKind| store.scan(&Scan::all(*kind, usize::MAX)).unwrap();
    RecordKind::ALL.iter().filter(|kind| **kind != RecordKind::Node).flat_map(all).collect()
}

fn config() -> Config {
    let guard = Guard { insecure_loopback: true, ..Guard::default() };
    Config { webhook_guard: guard, owner: Some(1), ..support::sealing() }
}

/// Makes a SQLite file with settlements in every state, and a webhook.
fn busy(path: &Path) -> Sandbox {
    let fast = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    let sandbox = Sandbox::over(Arc::new(SqliteStore::open_with(path, fast).unwrap()), config(), 7);
    let new = NewWebhook { url: "http://127.0.0.1:9/hook".to_owned(), topics: None, description: None };
    sandbox.engine.run(CreateWebhook { caller: sandbox.caller, new }).unwrap();
    let pay = |reference: &str, to: &str| drop(sandbox.pay(reference, to));
    for n in 0..SETTLEMENTS {
        pay(&format!("many-{n}"), "sim:ok");
    }
    for (reference, to) in
        [("failed", "sim:decline-over_limit"), ("returned", "sim:returned-after-1d"), ("part", "sim:ok"), ("whole", "sim:ok")]
    {
        pay(reference, to);
    }
    sandbox.pass(2 * 86_400_000);
    sandbox.reverse("part", r#"{"amount":3}"#).unwrap();
    sandbox.reverse("whole", "{}").unwrap();
    sandbox.pass(60_000);
    while sandbox.engine.run(NumberEvents { limit: 500 }).is_ok_and(|logged| logged.more) {}
    pay("unknown", "sim:timeout-never");
    pay("cancelled", "sim:ok");
    sandbox.reverse("cancelled", "{}").unwrap();
    sandbox.pass(20_000);
    pay("slow", "sim:slow-30s");
    sandbox.pass(1_000);
    pay("accepted", "sim:ok");
    sandbox
}

fn states(store: &dyn Store) -> Vec<SettlementStatus> {
    let all: Vec<SettlementRecord> = store.scan(&Scan::all(RecordKind::Settlement, usize::MAX)).and_then(typed_all).unwrap();
    SettlementStatus::ALL.iter().copied().filter(|state| all.iter().any(|it| it.status == *state)).collect()
}

/// The responses that the owner of some settlements gets.
fn seen(engine: &Engine, caller: &Caller) -> Vec<String> {
    let names = ["failed", "returned", "part", "whole", "unknown", "cancelled", "slow", "accepted", "many-0", "many-99"];
    let told = |name: &str| {
        let record = engine.settlement(caller, &support::target(name)).unwrap();
        let view = serde_json::to_string(&engine.view(&record, caller.client_id)).unwrap();
        view + &serde_json::to_string(&engine.events(&record, 0, 1_000).unwrap()).unwrap()
    };
    names.map(told).to_vec()
}

#[test]
fn a_copy_that_is_killed_half_way_goes_on_and_holds_the_same() {
    let (server, folder) = (Postgres::shared(), tempfile::tempdir().unwrap());
    let path = folder.path().join("railgate.db");
    let sandbox = busy(&path);
    let (before, caller, now) = (seen(&sandbox.engine, &sandbox.caller), sandbox.caller, sandbox.env.now());
    drop(sandbox);

    let database = server.database();
    let (from, to) = (format!("sqlite:{}", path.display()), server.url(&database));
    let line = ["copy", "--from", &from, "--to", &to];
    ok(&["migrate", "--store", &to]);
    let sql = server.sql(&database);
    // It reaches this table after the events, and no further.
    sql.run("BEGIN; LOCK TABLE sim_payment IN SHARE MODE");
    let mut copying = Command::new(railgate()).args(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while sql.texts("SELECT 1 FROM event LIMIT 1").is_empty() {
        assert!(copying.try_wait().unwrap().is_none(), "it was done before it could be killed");
    }
    copying.kill().unwrap();
    copying.wait().unwrap();
    sql.run("ROLLBACK");
    assert_eq!(sql.texts("SELECT count(*) FROM meta WHERE name = 'copy'"), ["1"], "it was killed half-way");
    let serving = run(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--metrics-listen",
        "off",
        "--store",
        &to,
        "--data-dir",
        folder.path().to_str().unwrap(),
    ]);
    assert!(!serving.status.success() && text(&serving.stderr).contains("a copy that is not finished"), "{serving:?}");

    let report = json(&ok(&[&line[..], &["--json"]].concat()));
    assert!(report["resumed"].as_u64() > Some(0) && report["copied"].as_u64() > Some(0), "{report}");
    assert_eq!((&report["equal"], &report["ledger"]["ok"]), (&Value::Bool(true), &Value::Bool(true)), "{report}");
    let source = SqliteStore::open_read_only(&path).unwrap();
    let target = Arc::new(PostgresStore::open(&to, options()).unwrap());
    assert_eq!(everything(&source), everything(&*target));
    let every: Vec<SettlementStatus> = SettlementStatus::ALL.to_vec();
    assert_eq!(states(&source), every, "of every state");
    let sound = ok(&["ledger", "verify", "--store", &to]);
    assert!(sound.contains("everything agrees"), "{sound}");

    let engine = Engine::open(target, Arc::new(ManualEnv::new(now, 9)), config()).unwrap();
    assert_eq!(seen(&engine, &caller), before);
    drop(engine);
    server.remove(&database);
}

#[test]
fn what_was_answered_before_a_copy_is_answered_after_it() {
    let (server, folder) = (Postgres::shared(), tempfile::tempdir().unwrap());
    let path = folder.path().join("railgate.db");
    let (from, keys) = (format!("sqlite:{}", path.display()), folder.path().join("railgate.db.keys").display().to_string());
    let data = folder.path().join("data").display().to_string();
    let more = ["--public-url", "https://pay.example.test"];
    let gateway = Server::over(&from, &more);
    let account = Account::enroll(gateway.address, Some(more[1]), railgate_tests::client::new_key()).unwrap();
    let mut client = account.connect(gateway.address).unwrap();
    for (reference, to) in [("one", "sim:ok"), ("two", "sim:decline-over_limit")] {
        let body = format!(r#"{{"amount":10.5,"currency":"EUR","to":"{to}","reference":"{reference}"}}"#);
        assert_eq!(client.send("POST", "/api/v1/gateway/settlements", Some(&body)).unwrap().status, 201);
    }
    let path_of = |reference: &str| format!("/api/v1/gateway/settlements/{reference}");
    for reference in ["one", "two"] {
        // Until its record no longer changes.
        let mut status = || client.send("GET", &path_of(reference), None).unwrap().body["status"].clone();
        until("it has ended", || ["completed", "failed"].contains(&status().as_str().unwrap()));
    }
    let ask = |client: &mut railgate_tests::client::Client| {
        ["one", "two"].map(|reference| client.send("GET", &path_of(reference), None).unwrap().bytes)
    };
    let before = ask(&mut client);
    let served = refused(&["copy", "--from", &from, "--to", &server.url("postgres")]);
    assert!(served.contains("another process has it open"), "{served}");
    assert!(gateway.stop());

    let database = server.database();
    let to = server.url(&database);
    ok(&["copy", "--from", &from, "--to", &to]);
    let gateway = Server::over(&to, &[&more[..], &["--master-keys", &keys, "--data-dir", &data]].concat());
    // With the same key and token, of a client in the copy.
    let mut client = account.connect(gateway.address).unwrap();
    assert_eq!(ask(&mut client), before);

    // An operator uses it while the server runs.
    let clients = json(&ok(&["clients", "list", "--store", &to, "--json"]));
    let id = clients["data"][0]["client_id"].as_str().unwrap().to_owned();
    ok(&["clients", "suspend", &id, "--store", &to]);
    let suspended = json(&ok(&["clients", "list", "--store", &to, "--json"]));
    assert_eq!(suspended["data"][0]["suspended"], true);
    assert!(ok(&["audit", "--store", &to]).contains("suspend_client"));
    let listed = ok(&["keys", "list", "--store", &to, "--master-keys", &keys]);
    assert!(listed.contains("receipt") && listed.contains("master key 1"), "{listed}");
    ok(&["ledger", "verify", "--store", &to]);
    assert!(refused(&["backup", "--to", "/tmp/never", "--store", &to]).contains("pg_dump"));
    drop(gateway);

    // And back to SQLite.
    let back = folder.path().join("back.db");
    let report = json(&ok(&["copy", "--from", &to, "--to", &format!("sqlite:{}", back.display()), "--json"]));
    assert_eq!(report["equal"], true);
    let (one, other) = (PostgresStore::open(&to, options()).unwrap(), SqliteStore::open_read_only(&back).unwrap());
    assert_eq!(everything(&one), everything(&other));
    drop(one);
    server.remove(&database);
}

#[test]
fn a_schema_is_made_and_told_by_the_command() {
    let server = Postgres::shared();
    let database = server.database();
    let url = server.url(&database);
    let behind = run(&["migrate", "--check", "--store", &url]);
    assert_eq!(behind.status.code(), Some(1));
    let known = PostgresStore::schema(&url, PostgresOptions::default()).unwrap().known;
    assert!(text(&behind.stdout).contains(&format!("schema version 0; the current one is {known}")), "{behind:?}");
    assert!(refused(&["ledger", "verify", "--store", &url]).contains("version 0"));
    let made = json(&ok(&["migrate", "--store", &url, "--json"]));
    assert_eq!((made["was"].as_u64(), made["is"].as_u64(), made["current"].as_u64()), (Some(0), Some(known as u64), Some(known as u64)));
    assert!(ok(&["migrate", "--check", "--store", &url]).contains("which is the current one"));
    let sql = server.sql(&database);
    sql.run(&format!("INSERT INTO railgate_migration VALUES ({}, 'later', '')", known + 1));
    assert!(refused(&["migrate", "--store", &url]).contains("newer than this program"));
    drop(sql);
    server.remove(&database);
}

#[test]
fn what_is_opened_for_reading_shows_one_moment_and_takes_nothing() {
    let (server, fresh) = (Postgres::shared(), Fresh::new());
    fresh.commit(&super::some_writes(1, 3)).unwrap();
    let url = server.url(&fresh.database);
    let still = PostgresStore::open_read_only(&url, PostgresOptions { readers: 3, ..options() }).unwrap();
    let before = everything(&still);
    assert_eq!(before, everything(&fresh));
    fresh.commit(&super::some_writes(4, 3)).unwrap();
    assert_eq!(everything(&still), before);
    assert!(still.commit(&super::some_writes(7, 1)).unwrap_err().to_string().contains("for reading only"));
    // Another connection would have another snapshot: there is none.
    server.sql("postgres").texts(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}' AND state = 'idle in transaction'",
        fresh.database
    ));
    let lost = still.scan(&Scan::last(RecordKind::LogHead)).unwrap_err();
    assert!(!lost.retryable && lost.to_string().contains("the snapshot"), "{lost}");
}

/// Texts that PostgreSQL cannot store unchanged must be encoded so that they keep their order.
#[test]
fn the_strangest_texts_are_copied_and_compared() {
    let (source, fresh) = (MemoryStore::new(), Fresh::new());
    let named = |name: String| railgate::store::Write::Insert(MetaRecord { name, value: vec![7; 16] }.into());
    let texts = ["id_key", "", "\0", "\0\0", "\u{1}", "\u{1}\0", "\u{1}\u{1}", "\u{1a}", "\u{2}", "ü"].map(str::to_owned);
    let owner = ClientRecord { name: "\0\u{1}".to_owned(), ..railgate::store::conformance::fixtures::client(1, 11) };
    let writes = texts.into_iter().map(named).chain([railgate::store::Write::Insert(owner.into())]).collect();
    source.commit(&railgate::store::Commit { writes }).unwrap();
    assert!(copy(&source, &fresh, &mut |_| {}).unwrap().is_equal());
    assert_eq!(everything(&source), everything(&fresh));
}
