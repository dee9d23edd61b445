//! The engine over PostgreSQL: the same seed produces the same bytes as over memory, with and without faults, and the ledger,
//! traces, feeds and deliveries are sound.

use std::sync::Arc;

use super::Fresh;
use super::pooler::pooled;
use super::support::Sandbox;
use super::support::live::two_nodes_keep_two_trees;
use railgate::api::{NewWebhook, Tried};
use railgate::engine::{CreateWebhook, Delivered, LeaseQueues, NumberEvents, verify};
use railgate::env::Env;
use railgate::ledger::Mode;
use railgate::seal::MasterKeys;
use railgate::store::Store;
use railgate::store::faulty::{Faulty, Rates};
use railgate::store::memory::MemoryStore;
use railgate::store::record::LastTry;
use railgate::webhook::Guard;
use railgate::{Config, Engine};

const SCENARIOS: [&str; 8] = [
    "sim:ok",
    "sim:slow-30s",
    "sim:decline-over_limit",
    "sim:timeout-then-ok",
    "sim:failover",
    "sim:returned-after-1d",
    "sim:reverse-fail",
    "msisdn:+254700000001",
];

pub(super) fn config() -> Config {
    let guard = Guard { insecure_loopback: true, ..Guard::default() };
    Config { master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))), webhook_guard: guard, owner: Some(1), ..Config::default() }
}

/// Numbers events and delivers them; every third delivery fails.
fn log_and_deliver(engine: &Engine, count: &mut u32) {
    while engine.run(NumberEvents { limit: 50 }).is_ok_and(|logged| logged.more) {}
    for parcel in engine.run(LeaseQueues { healthy: 9, troubled: 9, in_flight: Vec::new() }).unwrap() {
        let mut tries = Vec::new();
        for delivery in parcel.deliveries {
            *count += 1;
            let status = if count.is_multiple_of(3) { 500 } else { 204 };
            let outcome = LastTry { at: engine.now(), took_ms: 5, status: Some(status), error: None, excerpt: String::new() };
            tries.push(Tried { delivery: delivery.no, outcome, retry_after: None, is_too_late: false });
        }
        engine.run(Delivered { endpoint: parcel.endpoint, until: parcel.until, tries, more: false }).unwrap();
    }
}

/// Plays every scenario with reversals, the log and a webhook, and returns everything that the owner can see.
fn play(store: Arc<dyn Store>) -> Vec<String> {
    let sandbox = Sandbox::over(store, config(), 7);
    let new = NewWebhook { url: "http://127.0.0.1:9/hook".to_owned(), topics: None, description: Some("till".to_owned()) };
    sandbox.engine.run(CreateWebhook { caller: sandbox.caller, new }).unwrap();
    let mut deliveries = 0;
    for (n, to) in SCENARIOS.iter().enumerate() {
        sandbox.pay(&format!("r{n}"), to);
        sandbox.pass(1_000);
        if n % 2 == 0 {
            // Not all of them can be reversed; the results are compared.
            let _ = sandbox.reverse(&format!("r{n}"), r#"{"amount":3}"#);
        }
        sandbox.pass(40_000);
        log_and_deliver(&sandbox.engine, &mut deliveries);
    }
    sandbox.pass(2 * 86_400_000);
    for _ in 0..20 {
        log_and_deliver(&sandbox.engine, &mut deliveries);
        sandbox.env.advance_to(sandbox.env.now() + 3_600_000);
    }
    sandbox.assert_sound();
    assert!(deliveries > 60, "{deliveries} deliveries");

    let mut seen = Vec::new();
    for n in 0..SCENARIOS.len() {
        seen.push(serde_json::to_string(&sandbox.view(&format!("r{n}"))).unwrap());
        seen.push(serde_json::to_string(&sandbox.events(&format!("r{n}"))).unwrap());
    }
    let feed = sandbox.engine.feed(&sandbox.caller, 0, 1_000).unwrap();
    seen.extend(feed.iter().map(|event| serde_json::to_string(event).unwrap()));
    seen.push(sandbox.engine.checkpoint(Mode::Sandbox).unwrap());
    seen.push(format!("{:?}", sandbox.euros()));
    seen
}

#[test]
fn the_same_seed_gives_the_same_bytes_as_in_memory() {
    let expected = play(Arc::new(MemoryStore::new()));
    for fresh in [Fresh::new(), pooled()].map(Arc::new) {
        assert_eq!(play(fresh.clone()), expected);
        let report = verify::verify(&*fresh, &mut |_| {}).unwrap();
        assert_eq!(report.problems, []);
        assert_eq!(report.settlements, SCENARIOS.len() as u64);
    }
}

#[test]
fn two_nodes_keep_the_log_of_each_mode_apart() {
    two_nodes_keep_two_trees(Arc::new(Fresh::new()));
}

#[test]
fn faults_before_and_after_commits_leave_sound_books() {
    let faulty = Arc::new(Faulty::seeded(Fresh::new(), 5, Rates::default()));
    let sandbox = Sandbox::over(faulty.clone(), config(), 5);
    let plan = railgate::store::faulty::CommitFault::ALL;
    for n in 0..120 {
        faulty.script([plan.get(n % 7).copied()]);
        let body = format!(r#"{{"amount":1,"currency":"EUR","to":"{}","reference":"r{}"}}"#, SCENARIOS[n % 8], n / 2);
        match sandbox.create(&body) {
            Ok(_) => {}
            Err(error) => assert!(["store_unavailable", "reference_conflict"].contains(&error.code.as_str()), "{error}"),
        }
        faulty.calm();
        sandbox.pass(700);
    }
    assert!(faulty.injected() > 30);
    sandbox.pass(3 * 86_400_000);
    sandbox.assert_sound();
}
