//! While the database is unavailable, callers are told to retry later; when it is available again, nothing else is needed.

use railgate_tests::client::{Account, Client, Connection, Response, call, render};
use railgate_tests::nodes::Nodes;
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;
use serde_json::{Value, json};

use super::storm::list;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
/// More than there are threads for waiting calls.
const CROWD: usize = 700;

type Asked = (&'static str, String, Option<String>);

/// Calls of all kinds that need the database. Their references contain `name`.
fn calls(name: &str) -> Vec<Asked> {
    let make = |n: u32| json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("{name}-{n}")});
    let of_settlements = ["", "?status=completed", "/export", "/paid", "/paid/status", "/paid/events", "/paid/receipt", "/paid/reversals"];
    let others = ["gateway/events", "balances", "balances/EUR", "auth/keys", "webhooks", "log/checkpoint"];
    let reads = of_settlements.map(|rest| format!("{SETTLEMENTS}{rest}")).into_iter().chain(others.map(|rest| format!("/api/v1/{rest}")));
    let writes = [
        (SETTLEMENTS.to_owned(), make(1)),
        (format!("{SETTLEMENTS}/batch"), json!({"settlements": [make(2), make(3)]})),
        (format!("{SETTLEMENTS}/check"), make(4)),
        (format!("{SETTLEMENTS}/paid/check"), json!({})),
        (format!("{SETTLEMENTS}/paid/reverse"), json!({"amount": 1})),
        ("/api/v1/auth/tokens".to_owned(), json!({})),
    ];
    let writes = writes.into_iter().map(|(path, body)| ("POST", path, Some(body.to_string())));
    reads.map(|path| ("GET", path, None)).chain(writes).collect()
}

/// Sends all of them at the same time, each over its own connection.
fn ask(calls: &[Asked], clients: Vec<Client>) -> Vec<(String, Response)> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = calls
            .iter()
            .zip(clients)
            .map(|((method, path, body), mut client)| {
                scope.spawn(move || (format!("{method} {path}"), client.send(method, path, body.as_deref()).expect("an answer")))
            })
            .collect();
        asked.into_iter().map(|asked| asked.join().expect("no panics")).collect()
    })
}

fn connected(account: &Account, nodes: &Nodes, node: usize, count: usize) -> Vec<Client> {
    (0..count).map(|_| account.connect(nodes.address(node)).unwrap()).collect()
}

fn probe(nodes: &Nodes, node: usize, path: &str) -> Response {
    Connection::open(nodes.address(node)).unwrap().exchange(&render(&call("GET", path, None))).unwrap()
}

#[track_caller]
fn assert_later(asked: &str, response: &Response) {
    // An admitted batch has a result for each element.
    if let Some(results) = response.body["results"].as_array() {
        let later = |result: &Value| result["status"] == 503 && result["problem"]["code"] == "store_unavailable";
        return assert!(results.iter().all(later), "{response:?}");
    }
    assert_eq!((response.status, response.code()), (503, "store_unavailable"), "{asked}: {response:?}");
    assert!(response.header("retry-after").is_some(), "{asked}: {response:?}");
}

/// Makes a completed settlement.
fn paid(client: &mut Client) {
    let body = json!({"amount": 100, "currency": "EUR", "to": "sim:ok", "reference": "paid"});
    let made = client.send("POST", SETTLEMENTS, Some(&body.to_string())).unwrap();
    assert_eq!(made.status, 201, "{made:?}");
    let status = format!("{SETTLEMENTS}/paid/status?wait=30");
    until("it is completed", || client.send("GET", &status, None).unwrap().body["status"] == "completed");
}

#[test]
fn while_the_database_is_gone_all_calls_are_told_to_come_later_and_afterwards_none() {
    let server = Postgres::quick();
    let nodes = Nodes::start(&server.url(&server.database()), &[]);
    let account = nodes.enroll();
    paid(&mut account.connect(nodes.address(0)).unwrap());
    server.stop("fast");
    // Node 0 has cached the token; node 1 would have to look it up.
    for node in [0, 1] {
        let calls = calls("gone");
        for (asked, response) in ask(&calls, connected(&account, &nodes, node, calls.len())) {
            assert_later(&asked, &response);
        }
        assert_eq!(probe(&nodes, node, "/healthz").status, 200);
        assert_later("/readyz", &probe(&nodes, node, "/readyz"));
    }
    server.start_again();
    for node in [0, 1] {
        until("the node sees it again", || probe(&nodes, node, "/readyz").status == 200);
        let calls = calls(&format!("back-{node}"));
        for (asked, response) in ask(&calls, connected(&account, &nodes, node, calls.len())) {
            assert!([200, 201].contains(&response.status), "{asked}: {response:?}");
        }
    }
    // Calls that were told to retry later were not executed.
    let listed = list(&mut account.connect(nodes.address(0)).unwrap());
    assert!(listed.iter().all(|record| !record["reference"].as_str().unwrap().starts_with("gone")), "{listed:#?}");
}

#[test]
fn a_crowd_that_waits_for_the_database_keeps_no_probe_waiting() {
    let server = Postgres::quick();
    let nodes = Nodes::start(&server.url(&server.database()), &[]);
    let account = nodes.enroll();
    let mut client = account.connect(nodes.address(0)).unwrap();
    paid(&mut client);
    let calls: Vec<Vec<u8>> = (0..CROWD).map(|_| client.signed(call("GET", "/api/v1/balances", None)).unwrap()).collect();
    // Opened last, because the server closes idle connections.
    let mut crowd: Vec<Connection> = (0..CROWD).map(|_| Connection::open(nodes.address(0)).unwrap()).collect();
    server.freeze(true);
    for (connection, bytes) in crowd.iter_mut().zip(&calls) {
        connection.put(bytes).unwrap();
    }
    let answer = probe(&nodes, 0, "/healthz");
    let waiting = crowd.iter_mut().map(Connection::is_silent).filter(|silent| matches!(silent, Ok(true))).count();
    server.freeze(false);
    assert_eq!(answer.status, 200);
    assert!(waiting > 0, "the probe got a response only after the other calls had ended");
    for connection in &mut crowd {
        let answer = connection.answer().unwrap();
        if answer.status != 200 {
            assert_later("GET /balances", &answer);
        }
    }
}
