//! `railgate review`, on a store that a server is running on.

use std::sync::Arc;

use railgate::engine::Engine;
use railgate::env::{Env, ManualEnv, SystemEnv};
use railgate::store::sqlite::{Sharing, SqliteOptions, SqliteStore};

use super::support::World;

const HOUR: i64 = 3_600_000;
const EVIDENCE: &str = "Statement of 24 November, line 7";

fn waiting(world: &World) -> Vec<serde_json::Value> {
    let listed = world.operate(&["review", "list", "--all", "--json"]).ok().json();
    listed["data"].as_array().unwrap().clone()
}

/// Repeats until something waits.
fn until_waiting(world: &World) -> serde_json::Value {
    loop {
        if let Some(first) = waiting(world).into_iter().next() {
            return first;
        }
        std::thread::yield_now();
    }
}

fn resolve(world: &World, id: &str, resolution: &str, more: &[&str]) -> super::Run {
    let line = ["review", "resolve", id, "--resolution", resolution, "--evidence", EVIDENCE];
    world.operate(&[&line, more].concat())
}

/// Carries out everything that is due within a day and two hours, as if that time had passed.
fn let_a_day_pass(world: &World) {
    let options = SqliteOptions { sharing: Sharing::Beside, ..SqliteOptions::default() };
    let store = SqliteStore::open_with(&world.path("railgate.db"), options).unwrap();
    let start = SystemEnv::default().now();
    let env = Arc::new(ManualEnv::new(start, 1));
    let engine = Engine::open(Arc::new(store), env.clone(), railgate::Config::default()).unwrap();
    for hour in 0..26 {
        env.advance_to(start + hour * HOUR);
        while engine.work(64, &()).unwrap() > 0 {}
    }
}

#[test]
fn a_contradiction_is_listed_shown_and_accepted() {
    let world = World::enrolled();
    let none = world.operate(&["review", "list"]).ok();
    assert!(none.out.contains("Nothing waits for a person"), "{}", none.out);
    world.settled("10", "sim:late-ok-after-fail", "late");
    let first = until_waiting(&world);
    let id = first["settlement_id"].as_str().unwrap();
    assert_eq!((&first["reason"], &first["status"], &first["reference"]), (&"discrepancy".into(), &"failed".into(), &"late".into()));
    let exact = world.operate(&["review", "list", "--json"]).ok().out;
    assert!(exact.contains(r#""amount":10.00,"currency":"EUR""#) || exact.contains(r#""amount": 10.00"#), "{exact}");
    let listed = world.operate(&["review", "list"]).ok().out;
    assert!(listed.contains(id) && listed.contains("discrepancy") && listed.contains("0 min"), "{listed}");
    let shown = world.operate(&["review", "show", id]).ok().out;
    for part in ["Waits for a person: the settlement, discrepancy", "settlement.discrepancy", "declined", "void", "simulator"] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    let case = world.operate(&["review", "show", id, "--json"]).ok().json();
    assert_eq!((&case["waiting"][0]["reason"], case["transfers"].as_array().unwrap().len()), (&"discrepancy".into(), 2));

    let wrong = resolve(&world, id, "confirmed_completed", &[]).fails(1);
    assert!(wrong.err.contains("confirmed_completed does not fit, only accept_discrepancy"), "{}", wrong.err);
    assert!(wrong.err.contains(&format!("hint: see what is known now: railgate review show {id}")), "{}", wrong.err);
    let outdated = resolve(&world, id, "accept_discrepancy", &["--version", "1"]).fails(1);
    assert!(outdated.err.contains("it changed after you looked at it"), "{}", outdated.err);
    let done = resolve(&world, id, "accept_discrepancy", &[]).ok();
    assert!(done.out.contains("accept_discrepancy; it is failed"), "{}", done.out);
    assert_eq!(waiting(&world), [] as [serde_json::Value; 0]);
    let again = resolve(&world, id, "accept_discrepancy", &[]).fails(1);
    assert!(again.err.contains("does not wait for a person"), "{}", again.err);

    let trail = world.operate(&["audit", "--json"]).ok().json();
    let acts: Vec<_> = trail["data"].as_array().unwrap().iter().filter(|it| it["action"] == "resolve_review").collect();
    assert_eq!(
        acts.iter().map(|it| it["outcome"].as_str().unwrap()).collect::<Vec<_>>(),
        ["invalid_state", "version_conflict", "done", "review_not_found"]
    );
    assert!(acts.iter().all(|it| it["by"] == "operator" && it["detail"]["evidence"] == EVIDENCE), "{acts:?}");
    assert!(world.operate(&["audit"]).ok().out.contains(EVIDENCE));
    let events = world.run(&["events", "late"]).ok().out;
    assert!(events.contains("settlement.reviewed") && events.contains("operator") && !events.contains("Statement"), "{events}");
    world.operate(&["ledger", "verify"]).ok();
}

#[test]
fn an_outcome_that_nobody_knew_is_confirmed_beside_a_running_server() {
    let world = World::enrolled();
    world.run(&["settle", "10", "EUR", "sim:timeout-never", "--reference", "lost"]).ok();
    world.run(&["settle", "20", "EUR", "sim:timeout-never", "--reference", "gone"]).ok();
    // The server has reported what it sent: time that passes only here would end its leases too early.
    for reference in ["lost", "gone"] {
        while world.run(&["status", reference, "--json"]).ok().json()["status"] != "unknown" {
            std::thread::yield_now();
        }
    }
    let_a_day_pass(&world);
    let found = waiting(&world);
    assert_eq!(found.len(), 2, "{found:?}");
    let id = |reference: &str| found.iter().find(|it| it["reference"] == reference).unwrap()["settlement_id"].as_str().unwrap().to_owned();
    let asked = world.operate(&["review", "show", &id("lost"), "--ask"]).ok().out;
    assert!(asked.contains("The provider says now about attempt 1: no usable answer") && asked.contains("Waits for a person"), "{asked}");
    let later = resolve(&world, &id("lost"), "keep_waiting", &[]).ok();
    assert!(later.out.contains("it is unknown") && later.out.contains("put off until"), "{}", later.out);
    resolve(&world, &id("lost"), "confirmed_completed", &[]).ok();
    resolve(&world, &id("gone"), "confirmed_failed", &[]).ok();
    let status = |reference: &str| world.run(&["status", reference, "--json"]).ok().json()["status"].clone();
    assert_eq!((status("lost"), status("gone")), ("completed".into(), "failed".into()));
    let balance = world.run(&["balance", "EUR"]).ok().out;
    assert!(balance.contains("999,990.00  ") && balance.contains("    0.00"), "{balance}");
    assert_eq!(waiting(&world), [] as [serde_json::Value; 0]);
    world.operate(&["ledger", "verify"]).ok();
}

#[test]
fn a_person_asks_the_provider_and_its_answer_counts() {
    let world = World::enrolled();
    let made = world.run(&["settle", "10", "EUR", "sim:timeout-then-ok", "--reference", "r", "--json"]).ok().json();
    let id = made["id"].as_str().unwrap();
    while world.run(&["status", "r", "--json"]).ok().json()["status"] == "accepted" {
        std::thread::yield_now();
    }
    let still = world.operate(&["review", "show", id, "--json"]).ok().json();
    assert!(still.get("asked").is_none(), "{still}");
    let case = world.operate(&["review", "show", id, "--ask", "--json"]).ok().json();
    let answer = &case["asked"][0];
    assert_eq!((&answer["attempt"], &answer["reversal"], &answer["answer"]), (&1.into(), &serde_json::Value::Null, &"completed".into()));
    assert_eq!(case["settlement"]["status"], "completed", "what it says counts");
    let audit = world.operate(&["audit", "--json"]).ok().json();
    assert!(audit["data"].as_array().unwrap().iter().any(|it| it["action"] == "check_settlement" && it["by"] == "operator"), "{audit}");
    world.operate(&["review", "show", id, "--master-keys", "keys"]).fails(2);
    let absent = world.path("absent");
    let keyless = world.operate(&["review", "show", id, "--ask", "--master-keys", absent.to_str().unwrap()]).fails(1);
    assert!(keyless.err.contains("absent"), "{}", keyless.err);
}

#[test]
fn what_is_written_wrongly_is_refused() {
    let world = World::enrolled();
    let id = "stl_01KAJX3M7Q5W8ZP9D2R4T6V8YB";
    let named = world.operate(&["review", "show", "invoice-1"]).fails(2);
    assert!(named.err.contains("a settlement id is stl_ and 26 letters and digits"), "{}", named.err);
    let unknown = world.operate(&["review", "show", id]).fails(1);
    assert!(unknown.err.contains("hint: list what waits: railgate review list"), "{}", unknown.err);
    resolve(&world, id, "paid", &[]).fails(2);
    resolve(&world, id, "confirmed_failed", &["--reversal", "0"]).fails(2);
    world.operate(&["review", "resolve", id, "--resolution", "keep_waiting"]).fails(2);
    let empty = world.operate(&["review", "resolve", id, "--resolution", "keep_waiting", "--evidence", ""]).fails(1);
    assert!(empty.err.contains("/evidence") && empty.err.contains("1 to 500 printable characters"), "{}", empty.err);
}
