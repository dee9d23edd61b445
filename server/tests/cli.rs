//! The command line as people use it: the built binary against its own server, and against servers that misbehave.

// Clippy's exception for tests covers test functions only, not what they call.
#![allow(clippy::unwrap_used)]

#[path = "cli/bundle.rs"]
mod bundle;
#[path = "cli/operator.rs"]
mod operator;
#[path = "cli/operators.rs"]
mod operators;
#[path = "cli/owner.rs"]
mod owner;
#[path = "cli/receipt.rs"]
mod receipt;
#[path = "cli/reconcile.rs"]
mod reconcile;
#[path = "cli/review.rs"]
mod review;
#[path = "cli/setup.rs"]
mod setup;
#[path = "cli/signed.rs"]
mod signed;
#[path = "cli/sim.rs"]
mod sim;
#[path = "cli/stores.rs"]
mod stores;
#[path = "cli/support.rs"]
mod support;
#[path = "cli/users.rs"]
mod users;
#[path = "cli/webhooks.rs"]
mod webhooks;

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use support::{Run, World, railgate};

/// A fixed reference, so that the tests can find the payment again.
const REF: &str = "invoice-1";

#[test]
fn a_payment_from_the_first_session_to_its_reversal() {
    let world = World::start();
    let enrolled = world.run(&["enroll", "--name", "Test client"]).ok();
    assert!(enrolled.out.contains("cli_") && enrolled.out.contains("sandbox"), "{}", enrolled.out);
    assert!(enrolled.out.contains("1,000,000.00"), "balances are shown: {}", enrolled.out);
    assert!(!enrolled.out.contains("rg_sandbox_"), "the token is not: {}", enrolled.out);

    let paid = world.run(&["settle", "10.50", "EUR", "sim:ok", "--reference", REF, "--wait", "30", "--metadata", "shop=Riga"]).ok();
    assert!(paid.out.contains("completed (ACSC)") && paid.out.contains("10.50 EUR"), "{}", paid.out);
    let again = world.run(&["settle", "10.5", "EUR", "sim:ok", "--reference", REF, "--metadata", "shop=Riga"]).ok();
    assert!(again.out.contains("nothing was paid again"), "{}", again.out);

    let status = world.run(&["status", REF, "--wait", "30", "--json"]).ok().json();
    assert_eq!((status["status"].as_str(), status["final"].as_bool()), (Some("completed"), Some(true)));
    let events = world.run(&["events", REF]).ok();
    for step in ["settlement.accepted", "attempt.started", "attempt.answered", "settlement.completed"] {
        assert!(events.out.contains(step), "{step} in {}", events.out);
    }

    let back = world.run(&["reverse", REF, "--amount", "4.50", "--reason", "customer_request", "--reference", "refund-1"]).ok();
    assert!(back.out.contains("rev_") && back.out.contains("4.50 EUR"), "{}", back.out);
    let ended = world.run(&["events", REF, "--until-final", "--json"]).ok();
    assert!(ended.out.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{}", ended.out);

    let list = world.run(&["list", "--currency", "EUR", "--all"]).ok();
    assert!(list.out.contains(REF), "{}", list.out);
    let none = world.run(&["list", "--status", "failed"]).ok();
    assert!(none.out.contains("No payments."), "{}", none.out);
    let consistent = world.run(&["check", REF, "--json"]).ok().json();
    assert_eq!(consistent["consistent"].as_bool(), Some(true), "{consistent}");
    let balance = world.run(&["balance", "EUR"]).ok();
    assert!(balance.out.contains("999,989.50") || balance.out.contains("999,994.00"), "{}", balance.out);
}

#[test]
fn what_is_wrong_with_a_request_is_said_field_by_field() {
    let world = World::enrolled();
    let refused = world.run(&["settle", "10.505", "EUR", "nobody", "--reference", "r1"]).fails(1);
    assert!(refused.err.contains("error: 422 invalid_fields"), "{}", refused.err);
    assert!(refused.err.contains("/amount") && refused.err.contains("amount_scale"), "{}", refused.err);
    assert!(refused.err.contains("/to") && refused.err.contains("participant_malformed"), "{}", refused.err);
    let check = world.run(&["check", "10.50", "EUR", "sim:close-match", "--json"]).ok().json();
    assert_eq!((check["ok"].as_bool(), check["payee"]["match"].as_str()), (Some(true), Some("close_match")));
    let check = world.run(&["check", "2000000", "EUR", "sim:ok"]).fails(1);
    assert!(check.out.contains("not enough") && check.err.contains("would be refused"), "{check:?}");
    let failed = world.run(&["settle", "1", "EUR", "sim:decline-account_closed", "--wait", "30"]).fails(1);
    assert!(failed.err.contains("reference 01") && failed.err.contains("account_closed"), "{}", failed.err);
    let unknown = world.run(&["status", "nobody-made-this"]).fails(1);
    assert!(unknown.err.contains("settlement_not_found") && unknown.err.contains("hint:"), "{}", unknown.err);
}

#[test]
fn curl_prints_what_came_and_tells_by_its_exit_code() {
    let world = World::enrolled();
    let got = world.run(&["curl", "GET", "/balances"]).ok();
    assert!(got.json()["data"].is_array() && got.err.starts_with("HTTP/1.1 200 OK"), "{got:?}");
    let body = r#"{"amount":3.00,"currency":"EUR","to":"sim:ok","reference":"by-hand"}"#;
    let file = world.path("body.json");
    std::fs::write(&file, body).unwrap();
    let made = world.run(&["curl", "post", "gateway/settlements", &format!("@{}", file.display()), "-H", "Prefer: wait=30"]).ok();
    assert_eq!(made.json()["status"], "completed");
    assert!(made.out.contains(r#""amount":3.00"#), "to the letter: {}", made.out);
    let replayed = world.run_with_input(&["curl", "POST", "/api/v1/gateway/settlements", "-"], body).ok();
    assert!(replayed.err.starts_with("HTTP/1.1 200"), "{}", replayed.err);
    let missing = world.run(&["curl", "GET", "/gateway/settlements/nothing"]).fails(22);
    assert_eq!(missing.json()["code"], "settlement_not_found");
    let stranger = world.run(&["curl", "GET", "/balances", "--profile", "stranger"]).fails(22);
    assert!(stranger.err.contains("401") && stranger.err.contains("railgate enroll --profile stranger"), "{}", stranger.err);
}

#[test]
fn events_are_followed_until_the_payment_is_final() {
    let world = World::enrolled();
    world.run(&["settle", "5", "EUR", "sim:duplicate-callback", "--reference", "live"]).ok();
    let followed = world.run(&["events", "live", "--until-final"]).ok();
    let last = followed.out.lines().last().unwrap_or_default();
    assert!(last.contains("settlement.completed"), "{}", followed.out);
    assert!(followed.out.contains("settlement.accepted"), "from the beginning: {}", followed.out);
}

#[test]
fn wrong_usage_is_told_from_failure() {
    for line in [
        &["nonsense"][..],
        &["settle", "10"],
        &["check", "10", "EUR"],
        &["list", "--limit", "0"],
        &["reverse", "x", "--reason", "because"],
        &["serve", "--listen", "nowhere"],
        &["config", "check", "--store", "nowhere:x"],
        &["demo", "--scenario", "nonsense"],
        &["ledger", "verify", "--store", "memory:"],
        &["balance", "--profile", "../escape"],
        &["curl", "GET", "/balances", "-H", "not a header"],
        &["curl", "GET", "/healthz", "--server", "http://example.org"],
        &["enroll", "--server", "http://10.0.0.5:8080"],
        &["proxy", "0.0.0.0:8090"],
        &["clients", "approve", "somebody"],
        &["keys", "rotate", "everything"],
    ] {
        let run = railgate(line, None).fails(2);
        assert!(run.err.contains("error"), "{line:?}: {}", run.err);
    }
    let nobody = railgate(&["balance"], None).fails(1);
    assert!(nobody.err.contains("no profile") && nobody.err.contains("railgate enroll"), "{}", nobody.err);
    // Port 9 of this machine: the discard service, which nobody runs.
    let unreachable = railgate(&["enroll", "--server", "http://127.0.0.1:9"], None).fails(1);
    assert!(unreachable.err.contains("cannot reach http://127.0.0.1:9"), "{}", unreachable.err);
    assert!(railgate(&["--version"], None).ok().out.starts_with("railgate "));
    assert!(railgate(&["completions", "bash"], None).ok().out.contains("_railgate"));
    assert!(railgate(&["config", "check"], None).ok().out.contains("127.0.0.1:8080"));
}

#[test]
fn the_demo_adds_up_and_repeats_itself() {
    let shown = railgate(&["demo"], None).ok();
    for part in ["timeout-then-ok", "as the ledger says; nothing held", "everything agrees", "nothing sent twice"] {
        assert!(shown.out.contains(part), "{part} in {}", shown.out);
    }
    assert!(!shown.out.contains('\u{1b}'), "no colours in a pipe");
    assert!(!shown.out.contains('✗'), "{}", shown.out);
    let widest = shown.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}");

    let report = |args: &[&str]| railgate(args, None).ok().json();
    let first = report(&["demo", "--seed", "7", "--json"]);
    assert_eq!(first["adds_up"], true);
    assert_eq!(first["ledger"]["ok"], true);
    assert!(first["settlements"].as_array().is_some_and(|all| all.len() >= 15 && all.iter().all(|s| s["as_promised"] == true)));
    let second = report(&["demo", "--seed", "7", "--json"]);
    assert_eq!(first["settlements"], second["settlements"], "the same seed shows the same, hashes and all");
    let open = railgate(&["demo", "--scenario", "timeout-never", "--scenario", "pending"], None).ok();
    assert!(open.out.contains("held for 2 on the way"), "{}", open.out);
}

#[test]
fn nobody_reading_is_no_error() {
    let mut child = support::command(&["demo"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(child.wait().unwrap().success(), "{err}");
    assert_eq!(err, "");
}

#[test]
fn the_ledger_is_checked_and_copied_while_the_server_runs() {
    let world = World::enrolled();
    world.settled("12.34", "sim:ok", REF);
    let (store, copy) = (world.store(), world.path("copy.db"));
    let copy_arg = copy.display().to_string();
    let good = world.run(&["ledger", "verify", "--store", &store]).ok();
    assert!(good.out.contains("everything agrees: 1 settlement"), "{}", good.out);
    let copied = world.run(&["backup", "--store", &store, "--to", &copy_arg]).ok();
    assert!(copied.out.contains("everything agrees"), "{}", copied.out);
    let kept = std::fs::read(&copy).unwrap();
    let refused = world.run(&["backup", "--store", &store, "--to", &copy_arg]).fails(1);
    assert!(refused.err.contains("exists already"), "{}", refused.err);
    assert_eq!(std::fs::read(&copy).unwrap(), kept);
    let beside: Vec<_> = std::fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(beside.iter().all(|name| !name.to_string_lossy().starts_with(".railgate-backup")), "{beside:?}");

    let of_copy = format!("sqlite:{copy_arg}");
    world.run(&["ledger", "verify", "--store", &of_copy]).ok();
    damage(&copy);
    let bad = world.run(&["ledger", "verify", "--store", &of_copy]).fails(1);
    assert!(bad.err.contains("does not agree with itself"), "{}", bad.err);
    let report = world.run(&["ledger", "verify", "--store", &of_copy, "--json"]).fails(1).json();
    assert!(report["ok"] == false && report["problems"].as_array().is_some_and(|all| !all.is_empty()), "{report}");
    let missing = world.run(&["ledger", "verify", "--store", "sqlite:/nowhere/at/all.db"]).fails(1);
    assert!(missing.err.contains("there is no store"), "{}", missing.err);
}

#[test]
fn the_ledger_agrees_with_itself_at_every_moment() {
    let world = World::enrolled();
    let store = world.store();
    let pay = |n: usize| {
        let one = |i| format!(r#"{{"amount":1.00,"currency":"EUR","to":"sim:duplicate-callback","reference":"p-{n}-{i}"}}"#);
        // All of it within the quota of a minute.
        let batch: Vec<String> = (0..60).map(one).collect();
        let body = format!(r#"{{"settlements":[{}]}}"#, batch.join(","));
        world.run_with_input(&["curl", "POST", "/gateway/settlements/batch", "-"], &body).ok();
        world.settled("1", "sim:ok", &format!("r-{n}"));
        world.run(&["reverse", &format!("r-{n}"), "--amount", "0.50"]).ok();
    };
    // Payments are made, dispatched and called back while the ledger is read.
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| (0..8).for_each(pay));
        while !writer.is_finished() {
            world.run(&["ledger", "verify", "--store", &store]).ok();
        }
        writer.join().unwrap();
    });
}

/// Adds one minor unit to a stored amount, as nobody ever should.
fn damage(path: &std::path::Path) {
    let db = rusqlite::Connection::open(path).unwrap();
    let changed = db.execute("UPDATE settlement SET amount = amount + 1", []).unwrap();
    assert_eq!(changed, 1);
}

/// A server that treats each connection as specified, and returns the requests that it got.
fn misbehaving(answers: Vec<&'static str>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    (format!("http://{}", listener.local_addr().unwrap()), answering(listener, answers))
}

/// Gives each connection its response, and returns the requests.
fn answering(listener: TcpListener, answers: Vec<&'static str>) -> std::thread::JoinHandle<Vec<String>> {
    std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            asked.push(read_request(&mut stream));
            stream.write_all(answer.as_bytes()).unwrap();
        }
        asked
    })
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut byte = [0u8];
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
        request.push(byte[0]);
    }
    let head = String::from_utf8(request).unwrap().to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.trim().parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

#[test]
fn a_payment_whose_answer_was_lost_is_sent_again_under_the_same_reference() {
    const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    const MADE: &str = "HTTP/1.1 201 Created\r\nconnection: close\r\n\r\n{\"id\":\"stl_x\",\"reference\":\"x\",\"status\":\"accepted\",\
        \"version\":1,\"sandbox\":true,\"amount\":1.00,\"amount_minor\":\"100\",\"currency\":\"EUR\",\"to\":\"sim:ok\",\
        \"payee\":{\"match\":\"match\"},\"fee\":0.00,\"total_debit\":1.00,\"provider\":\"simulator\",\"attempts\":0,\"needs_review\":false,\
        \"reversed_amount\":0.00,\"reversing_amount\":0.00,\"iso_status\":\"RCVD\",\"metadata\":{},\"client_id\":\"cli_x\",\
        \"created_at\":\"2026-11-21T10:38:17.042Z\",\"updated_at\":\"2026-11-21T10:38:17.042Z\",\
        \"links\":{\"self\":\"/\",\"status\":\"/\",\"events\":\"/\",\"reverse\":\"/\",\"receipt\":\"/\"}}";
    let (server, asked) = misbehaving(vec!["", BUSY, MADE]);
    let world = support::Home::with_profile(&server);
    let run = world.run(&["settle", "1", "EUR", "sim:ok"]).ok();
    assert!(run.err.contains("sending it again") && run.err.contains("paid only once"), "{}", run.err);
    let asked = asked.join().unwrap();
    assert!(asked.iter().all(|request| request.contains("authorization: bearer t\r\n") && request.contains("signature: sig1=:")));
    let nonces: std::collections::HashSet<&str> = asked.iter().filter_map(|request| request.split("nonce=\"").nth(1)).collect();
    assert_eq!(nonces.len(), 3, "each is signed anew");
    let bodies: Vec<&str> = asked.iter().filter_map(|request| request.split_once("\r\n\r\n")).map(|(_, body)| body).collect();
    assert_eq!(bodies.len(), 3);
    assert!(bodies.iter().all(|body| *body == bodies[0] && body.contains("\"reference\":\"01")), "{bodies:?}");
}

#[test]
fn what_a_later_try_is_refused_for_says_nothing_about_one_whose_answer_was_lost() {
    const REFUSED: &str = "HTTP/1.1 403 Forbidden\r\ncontent-type: application/problem+json\r\nconnection: close\r\n\r\n\
        {\"code\":\"client_suspended\",\"title\":\"The client is suspended\"}";
    for (answers, said) in [
        (vec![REFUSED], "403 client_suspended: The client is suspended"),
        (vec!["", REFUSED], "gave up: the server answered 403; it is not known whether the request was carried out"),
    ] {
        let (server, asked) = misbehaving(answers);
        let world = support::Home::with_profile(&server);
        let run = world.run(&["settle", "1", "EUR", "sim:ok", "--reference", "inv-1"]).fails(1);
        assert!(run.err.contains(said), "{}", run.err);
        asked.join().unwrap();
    }
}

#[test]
fn a_followed_trace_goes_on_where_the_connection_broke() {
    const FIRST: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
        : hello\n\nid: 1\ndata: {\"actor\":\"client\",\"at\":\"2026-11-21T10:38:17.042Z\",\"data\":{},\"id\":\"evt_1\",\"reference\":\"x\",\
        \"sequence\":1,\"settlement_id\":\"stl_x\",\"to\":\"accepted\",\"type\":\"settlement.accepted\"}\n\n";
    const REST: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
        id: 2\ndata: {\"actor\":\"rail\",\"at\":\"2026-11-21T10:38:18.042Z\",\"data\":{},\"id\":\"evt_2\",\"reference\":\"x\",\
        \"sequence\":2,\"settlement_id\":\"stl_x\",\"to\":\"completed\",\"type\":\"settlement.completed\"}\n\n";
    let (server, asked) = misbehaving(vec![FIRST, REST]);
    let world = support::Home::with_profile(&server);
    let Run { out, .. } = world.run(&["events", "x", "--until-final"]).ok();
    let types: Vec<&str> = out.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with("settlement."))).collect();
    assert_eq!(types, ["settlement.accepted", "settlement.completed"]);
    let asked = asked.join().unwrap();
    assert!(!asked[0].contains("last-event-id") && asked[1].contains("last-event-id: 1"), "{asked:?}");
}
