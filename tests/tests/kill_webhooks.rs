//! Repeated SIGKILL during deliveries: each event still arrives at least once, always with the same `webhook-id`
//! and the same bytes, and no other events arrive.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::HashSet;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use railgate::log::{LogKey, verify_proof};
use railgate_tests::binary::{Server, railgate};
use railgate_tests::client::{Account, Client, enroll};
use railgate_tests::load::rounds;
use railgate_tests::place::Place;
use railgate_tests::receiver::{Reaction, Receiver, assert_taken, assert_true, by_id, deliveries, drain, make_webhook};
use serde_json::{Value, json};

const CONNECTIONS: u64 = 4;
/// The maximum number of settlements in a round: each has about five events, all of which are delivered in the end.
const CREATES: u64 = 50;
const SCENARIOS: &[&str] = &["sim:ok", "sim:ok", "sim:failover", "sim:timeout-then-ok", "sim:decline-over_limit", "msisdn:+254700000001"];
/// One in this many creates is followed by the reversal of an earlier settlement of the same connection,
const REVERSE_EVERY: u64 = 3;
/// this many before it: some of them have been sent by then, and some have not.
const BEFORE: usize = 2;

/// Creates and reverses settlements on one connection until the server is gone or the numbers up to `end` are used; records
/// the acknowledged references.
fn load(server: &Server, account: &Account, next: &AtomicU64, end: u64, answered: &Mutex<Vec<String>>) {
    let Ok(mut client) = account.connect(server.address) else { return };
    let mut own = Vec::new();
    loop {
        let n = next.fetch_add(1, Ordering::SeqCst);
        if n >= end {
            return;
        }
        let to = SCENARIOS[(n % SCENARIOS.len() as u64) as usize];
        let reference = format!("w-{n}");
        let body = json!({ "amount": "0.02", "currency": "EUR", "to": to, "reference": reference });
        let Ok(response) = client.send("POST", "/api/v1/gateway/settlements", Some(&body.to_string())) else { return };
        assert_eq!(response.status, 201, "{response:?}");
        answered.lock().unwrap().push(reference.clone());
        own.push(reference);
        if n.is_multiple_of(REVERSE_EVERY) && own.len() > BEFORE {
            let path = format!("/api/v1/gateway/settlements/{}/reverse", own[own.len() - 1 - BEFORE]);
            let Ok(response) = client.send("POST", &path, Some(r#"{"amount":"0.01"}"#)) else { return };
            assert!(matches!(response.status, 200 | 201 | 409 | 422), "{response:?}");
        }
    }
}

/// Puts load on the server and kills it after some more deliveries: in every other round certainly while a response is
/// outstanding, otherwise at any time.
fn round(n: u64, server: Server, account: &Account, next: &AtomicU64, receiver: &Receiver, answered: &Mutex<Vec<String>>) {
    // The number of arrivals before the kill differs between rounds, and so do the operations in flight.
    let end = next.load(Ordering::SeqCst) + CREATES;
    let kill_at = receiver.seen().arrivals.len() + usize::try_from(n * 37 % 61 + 3).unwrap();
    let holds = n % 2 == 1;
    receiver.seen().hold_from = holds.then_some(kill_at);
    std::thread::scope(|scope| {
        for _ in 0..CONNECTIONS {
            scope.spawn(|| load(&server, account, next, end, answered));
        }
        receiver.wait(server.address, |seen| seen.arrivals.len() >= kill_at && (seen.held.is_some() || !holds));
        let killed = Command::new("kill").args(["-KILL", &server.pid().to_string()]).status().unwrap();
        assert!(killed.success());
    });
    server.kill();
    receiver.seen().held = None;
}

/// The proofs of some settlements lead from their last event to the log's signed checkpoint.
fn assert_proven(client: &mut Client, references: &[String]) {
    let keys = String::from_utf8(client.fetch("/api/v1/log/keys", "").unwrap()).unwrap();
    let key = LogKey::parse(keys.lines().next().unwrap()).unwrap();
    let fetched: Vec<Value> = references
        .iter()
        .map(|reference| client.fetch(&format!("/api/v1/gateway/settlements/{reference}/receipt/proof"), "application/json").unwrap())
        .map(|proof| serde_json::from_slice(&proof).unwrap())
        .collect();
    let feed = client.feed().unwrap();
    let events = by_id(&feed);
    for proof in fetched {
        let event = events[proof["event_id"].as_str().unwrap()];
        let hash = bytes(event["hash"].as_str().unwrap());
        verify_proof(proof["proof"].as_str().unwrap(), &hash, &key).unwrap_or_else(|error| panic!("{error}: {proof}"));
    }
}

fn bytes(hex: &str) -> [u8; 32] {
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let bytes: Vec<u8> = digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    bytes.try_into().unwrap()
}

#[test]
fn kills_lose_no_webhook() {
    story(&Place::sqlite(), rounds(12));
}

#[test]
#[ignore = "it takes minutes, and over PostgreSQL webhooks are under way in `kill`, too"]
fn kills_over_postgresql_lose_no_webhook() {
    story(&Place::postgres(), rounds(6));
}

fn story(place: &Place, rounds: u64) {
    let receiver = Receiver::start();
    let mut server = place.serve();
    let account = enroll(server.address);
    let webhook = make_webhook(&mut account.connect(server.address).unwrap(), &receiver);
    let (next, answered) = (AtomicU64::new(0), Mutex::<Vec<String>>::default());
    receiver.seen().difficult = true;
    for n in 1..=rounds {
        round(n, server, &account, &next, &receiver, &answered);
        server = place.serve();
    }
    receiver.seen().difficult = false;

    let feed = drain(server.address, &account, &webhook, &receiver, &|| place.read());
    let mut client = account.connect(server.address).unwrap();
    assert_eq!(deliveries(&mut client, &webhook, "failed"), Vec::<Value>::new());
    let arrivals = receiver.seen().arrivals.clone();
    // Events that happen meanwhile are in the feed before they are delivered.
    assert_true(&arrivals, &client.feed().unwrap());
    assert_taken(&arrivals, &feed);
    let answered = answered.into_inner().unwrap();
    let accepted = feed.iter().filter(|entry| entry["event"]["type"] == "settlement.accepted");
    let accepted: HashSet<&str> = accepted.map(|entry| entry["event"]["reference"].as_str().unwrap()).collect();
    assert!(answered.iter().all(|reference| accepted.contains(reference.as_str())), "an answered settlement is not in the feed");

    // The receiver misbehaved in every intended way.
    let came = |reaction| arrivals.iter().filter(|arrival| arrival.reaction == reaction).count();
    assert_eq!(came(Reaction::Hold) as u64, rounds.div_ceil(2));
    assert!([Reaction::TakeSlowly, Reaction::Refuse, Reaction::HangUp].iter().all(|reaction| came(*reaction) > 0));

    let some: Vec<String> = answered.iter().step_by(answered.len().div_ceil(20)).cloned().collect();
    assert_proven(&mut client, &some);
    assert!(server.stop(), "a graceful end");
    let verified = Command::new(railgate()).args(["ledger", "verify", "--store", place.url()]).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
}
