//! A node that shuts down: it announces that, finishes calls in flight, and others continue its work.

use std::io::{ErrorKind, Result};
use std::sync::atomic::{AtomicUsize, Ordering};

use railgate_tests::client::{Account, Client, Connection, Response, call, render};
use railgate_tests::nodes::Nodes;
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;
use serde_json::{Value, json};

use super::follower::Follower;

const PATH: &str = "/api/v1/gateway/settlements";
/// How many settlements are made at once: more than a node completes while it shuts down.
const CREATES: usize = 1_000;
/// This many of a load's events are received before the node is told to shut down,
const SEEN: usize = 200;
/// and each connection makes this many more settlements afterwards.
const AFTER: usize = 30;

fn create(client: &mut Client, reference: &str) -> Result<Response> {
    let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": reference});
    client.send("POST", PATH, Some(&body.to_string()))
}

/// Creates settlements at node 0 and, once that is gone, some more at node 1; returns their number.
fn make(nodes: &Nodes, account: &Account, name: &str) -> usize {
    let mut client = account.connect(nodes.address(0)).unwrap();
    let (mut count, mut end) = (0, usize::MAX);
    while count < end {
        if create(&mut client, &format!("{name}-{count}")).is_ok_and(|made| [200, 201].contains(&made.status)) {
            count += 1;
            continue;
        }
        assert_eq!(end, usize::MAX, "node 1 does not answer");
        client = account.connect(nodes.address(1)).unwrap();
        end = count + AFTER;
    }
    count
}

#[test]
fn who_follows_the_feed_misses_nothing_and_hears_nothing_twice() {
    let server = Postgres::quick();
    let nodes = Nodes::start(&server.url(&server.database()), &[]);
    let account = nodes.enroll();
    let (heard, made) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let mut follower = Follower::default();
    std::thread::scope(|scope| {
        let makers = ["a", "b", "c"].map(|name| {
            scope.spawn({
                let (nodes, account) = (&nodes, &account);
                move || make(nodes, account, name)
            })
        });
        scope.spawn(|| {
            let all = |follower: &Follower| {
                heard.store(follower.count(), Ordering::SeqCst);
                follower.completed.len() == made.load(Ordering::SeqCst)
            };
            let left = follower.follow(&account, nodes.address(0), &all).unwrap();
            assert!(!left && follower.retry.as_deref() == Some("500"), "the stream ended with {:?}", follower.retry);
            assert!(follower.follow(&account, nodes.address(1), &all).unwrap(), "node 1 ends its stream");
        });
        until("enough is heard", || heard.load(Ordering::SeqCst) >= SEEN);
        assert!(nodes.stop(0), "a graceful end");
        made.store(makers.into_iter().map(|maker| maker.join().unwrap()).sum(), Ordering::SeqCst);
    });
    // The received events are those of the feed, each once and at its position.
    let feed = account.connect(nodes.address(1)).unwrap().feed().unwrap();
    let hashes: Vec<&str> = feed.iter().map(|entry: &Value| entry["event"]["hash"].as_str().unwrap()).collect();
    follower.assert_heard(&hashes);
}

#[test]
fn what_a_node_had_leased_is_free_when_it_is_gone() {
    let server = Postgres::quick();
    let database = server.database();
    let nodes = Nodes::start_each(&server.url(&database), [&[], &["--outbox", "off"]]);
    let account = nodes.enroll();
    let elements = |from: usize| {
        (from..from + CREATES).map(|n| json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": format!("l-{n}")}))
    };
    let sql = server.sql(&database);
    let open = || sql.texts("SELECT settlement FROM task").len();
    let mut made = 0;
    loop {
        let mut client = account.connect(nodes.address(1)).unwrap();
        let batch = json!({"settlements": elements(made).collect::<Vec<_>>()}).to_string();
        let answer = client.send("POST", &format!("{PATH}/batch"), Some(&batch)).unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        made += CREATES;
        // Some are done, most are in flight or waiting.
        until("some are done", || open() < CREATES);
        assert!(nodes.stop(0), "a graceful end");
        if open() > 0 {
            break;
        }
        // Everything was done before the end: try again.
        nodes.restart(0);
    }
    assert_eq!(sql.texts("SELECT settlement FROM task WHERE owner <> 0"), Vec::<String>::new());
    nodes.restart(0);
    until("all are done", || open() == 0);
    // A connection that was idle for so long may be closed.
    let page = account.connect(nodes.address(1)).unwrap().send("GET", &format!("{PATH}?status=completed&limit=1"), None).unwrap();
    assert_eq!(page.status, 200, "{page:?}");
    assert_eq!(sql.texts("SELECT count(*) FROM sim_payment WHERE received = 1"), [made.to_string()]);
}

#[test]
fn a_node_that_drains_says_so() {
    let server = Postgres::quick();
    let database = server.database();
    let nodes = Nodes::start(&server.url(&database), &["--outbox", "off"]);
    let account = nodes.enroll();
    let mut client = account.connect(nodes.address(0)).unwrap();
    let sql = server.sql(&database);
    sql.run("BEGIN; LOCK TABLE event IN SHARE MODE");
    let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "late"}).to_string();
    let bytes = client.signed(call("POST", PATH, Some(&body))).unwrap();
    client.connection().put(&bytes).unwrap();
    let waiting = "SELECT 1 FROM pg_locks WHERE relation = 'event'::regclass AND NOT granted";
    until("the create waits", || !sql.texts(waiting).is_empty());
    nodes.terminate(0);
    let ready = || Connection::open(nodes.address(0)).and_then(|mut it| it.exchange(&render(&call("GET", "/readyz", None))));
    let answer = loop {
        match ready() {
            // The signal has not arrived yet, or arrived between connect and request.
            Ok(answer) if answer.status == 200 => {}
            Err(error) if error.kind() != ErrorKind::ConnectionRefused => {}
            answer => break answer,
        }
    };
    assert_eq!(answer.map(|answer| answer.status).ok(), Some(503), "it does not report that it is not ready");
    sql.run("COMMIT");
    let made = client.connection().answer().unwrap();
    assert_eq!(made.status, 201, "{made:?}");
    assert!(nodes.ended(0), "a graceful end");
}
