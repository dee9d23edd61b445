//! Two nodes of an earlier build are replaced by this one under load: one after the other, or, over a SQLite file of an earlier schema,
//! both at once. Nothing that was answered is lost, no call fails but by a connection that closes, webhooks and streams go on, and
//! `ledger verify` finds nothing. Then nobody goes back unless the schema allows it.
//!
//! `RAILGATE_BEFORE` names the earlier binary: `scripts/upgrade.sh` builds one, and runs this.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use railgate_tests::binary::railgate;
use railgate_tests::client::{Account, Client, Response};
use railgate_tests::nodes::Nodes;
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;
use railgate_tests::stream::Stream;
use railgate_tests::subscriber::Subscriber;
use serde_json::{Value, json};

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
const CONNECTIONS: usize = 4;
/// Payments that are answered before the first node is replaced, between the two, and after the second.
const PAYMENTS: u64 = 400;
const PAYEES: [&str; 4] = ["sim:ok", "sim:ok", "sim:failover", "sim:decline-over_limit"];

/// The earlier binary.
fn before() -> PathBuf {
    let given = std::env::var_os("RAILGATE_BEFORE").map(PathBuf::from).expect("RAILGATE_BEFORE names an earlier binary");
    // Built now, not while a node is down.
    railgate();
    given
}

/// One at a time: each keeps the machine busy.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The calls of one client, to whichever node is up.
struct Load<'n> {
    nodes: &'n Nodes,
    account: Account,
    next: AtomicU64,
    /// The id of each payment that was answered, by its reference.
    answered: Mutex<HashMap<String, String>>,
    /// Connections that closed before an answer, and calls that were found to have counted when they were sent again.
    closed: AtomicU64,
    again: AtomicU64,
    ended: AtomicBool,
    /// How many events the feed has, once it has all of them.
    whole: AtomicUsize,
    broken: AtomicBool,
}

impl Load<'_> {
    fn count(&self) -> u64 {
        self.answered.lock().unwrap().len() as u64
    }

    /// Waits until so many more payments are answered.
    fn more(&self, count: u64) {
        let enough = self.count() + count;
        until("more payments are answered", || self.count() >= enough || self.ended.load(Ordering::SeqCst));
    }

    /// Pays, looks and takes back until it is over.
    fn work(&self) {
        let mut at = Connected { load: self, node: 0, client: None };
        while !self.ended.load(Ordering::SeqCst) {
            let n = self.next.fetch_add(1, Ordering::SeqCst);
            let reference = format!("u-{n}");
            let to = PAYEES[usize::try_from(n).unwrap() % PAYEES.len()];
            let body = json!({"amount": "0.02", "currency": "EUR", "to": to, "reference": reference}).to_string();
            let made = at.insist("POST", SETTLEMENTS, Some(&body), &[200, 201]);
            self.again.fetch_add(u64::from(made.status == 200), Ordering::Relaxed);
            let id = made.body["id"].as_str().unwrap().to_owned();
            self.answered.lock().unwrap().insert(reference.clone(), id.clone());
            let found = at.insist("GET", &format!("{SETTLEMENTS}/{reference}"), None, &[200]);
            assert_eq!(found.body["id"], id, "{reference}");
            if n.is_multiple_of(4) {
                // 409: it cannot be reversed, or it was already, by a call whose answer was lost.
                at.insist("POST", &format!("{SETTLEMENTS}/{reference}/reverse"), None, &[200, 201, 409]);
            }
        }
    }
}

/// A connection to one of the nodes, and to the other one once that has closed.
struct Connected<'l, 'n> {
    load: &'l Load<'n>,
    node: usize,
    client: Option<Client>,
}

impl Connected<'_, '_> {
    /// Sends a call, signed anew each time, until it is answered.
    fn insist(&mut self, method: &str, path: &str, body: Option<&str>, statuses: &[u16]) -> Response {
        let Load { nodes, account, closed, .. } = self.load;
        loop {
            assert!(!self.load.broken.load(Ordering::SeqCst), "the test has failed elsewhere");
            let mut client = match self.client.take().map_or_else(|| account.connect(nodes.address(self.node)), Ok) {
                Ok(client) => client,
                Err(_) => {
                    self.node = 1 - self.node;
                    nodes.rest(Duration::from_millis(10));
                    continue;
                }
            };
            match client.send(method, path, body) {
                Ok(response) => {
                    assert!(statuses.contains(&response.status), "{method} {path}: {response:?}");
                    self.client = Some(client);
                    return response;
                }
                Err(_) => {
                    closed.fetch_add(1, Ordering::Relaxed);
                    self.node = 1 - self.node;
                }
            }
        }
    }
}

/// Follows the feed at whichever node is up, until it has all of it; returns the hashes.
fn follow(load: &Load<'_>) -> Vec<String> {
    let mut heard: Vec<String> = Vec::new();
    let whole = |heard: &Vec<String>| heard.len() >= load.whole.load(Ordering::SeqCst);
    for node in [0, 1].into_iter().cycle() {
        let read = Stream::open(&load.account, load.nodes.address(node), heard.len()).and_then(|mut stream| {
            while !whole(&heard) {
                let Some(block) = stream.next_block()? else { break };
                let Some((position, event)) = block.event() else { continue };
                assert_eq!(position, heard.len() + 1, "an event was missed or repeated");
                heard.push(event["hash"].as_str().unwrap().to_owned());
            }
            Ok(())
        });
        if read.is_err() {
            load.nodes.rest(Duration::from_millis(10));
        }
        if whole(&heard) {
            break;
        }
    }
    heard
}

/// Ends the load; if the test fails, also who follows it: otherwise nobody learns why.
struct Ends<'l, 'n>(&'l Load<'n>);

impl Drop for Ends<'_, '_> {
    fn drop(&mut self) {
        self.0.ended.store(true, Ordering::SeqCst);
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::SeqCst);
            self.0.whole.store(0, Ordering::SeqCst);
        }
    }
}

/// One after the other.
fn rolling(load: &Load<'_>) {
    for node in [0, 1] {
        assert!(load.nodes.stop(node), "node {node} of before ends gracefully");
        load.nodes.replace(node, railgate());
        load.more(PAYMENTS);
    }
}

/// Both stop, one command migrates, and both start.
fn at_once(load: &Load<'_>) {
    assert!(load.nodes.stop(0) && load.nodes.stop(1), "both end gracefully");
    let migrated = Command::new(railgate()).args(["migrate", "--store", load.nodes.store()]).output().unwrap();
    assert!(migrated.status.success(), "{migrated:?}");
    [0, 1].into_iter().for_each(|node| load.nodes.replace(node, railgate()));
    load.more(PAYMENTS);
}

/// Has both nodes replaced under load, and compares what was answered, told and heard with what there is.
fn upgraded(nodes: &Nodes, replace: impl FnOnce(&Load<'_>)) {
    let account = nodes.enroll();
    let receiver = Subscriber::subscribed(&mut account.connect(nodes.address(0)).unwrap(), &[]);
    let load = Load {
        nodes,
        account: account.clone(),
        next: AtomicU64::new(0),
        answered: Mutex::default(),
        closed: AtomicU64::new(0),
        again: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        whole: AtomicUsize::new(usize::MAX),
        broken: AtomicBool::new(false),
    };
    let (heard, feed) = std::thread::scope(|scope| {
        let follower = scope.spawn(|| follow(&load));
        std::thread::scope(|scope| {
            let _ends = Ends(&load);
            (0..CONNECTIONS).for_each(|_| _ = scope.spawn(|| load.work()));
            load.more(PAYMENTS);
            replace(&load);
        });
        let feed = at_rest(&account, nodes.address(1));
        load.whole.store(feed.len(), Ordering::SeqCst);
        (follower.join().unwrap(), feed)
    });
    assert_kept(&load, &feed, &heard, &receiver);
}

/// The feed once nothing is due any more.
fn at_rest(account: &Account, address: SocketAddr) -> Vec<Value> {
    let mut open = String::new();
    for status in ["accepted", "submitted", "unknown"] {
        until("every payment is final", || {
            let path = format!("{SETTLEMENTS}?status={status}&limit=1");
            let page = account.connect(address).unwrap().send("GET", &path, None).unwrap();
            assert_eq!(page.status, 200, "{page:?}");
            open = page.body["data"].to_string();
            open == "[]"
        });
    }
    let mut feed = Vec::new();
    // Reversals are under way a little longer, and events are numbered after their commit.
    until("the feed does not grow any more", || {
        let before = feed.len();
        feed = account.connect(address).unwrap().feed().unwrap();
        let count = |kind: &str| feed.iter().filter(|entry| entry["event"]["type"] == kind).count();
        let reversals = count("reversal.accepted") == count("reversal.completed") + count("reversal.failed");
        // What a reversal does to its payment is told in the same commit, and may be numbered after it.
        let told = count("reversal.completed") == count("settlement.partially_reversed") + count("settlement.reversed");
        reversals && told && before == feed.len()
    });
    feed
}

fn assert_kept(load: &Load<'_>, feed: &[Value], heard: &[String], receiver: &Subscriber) {
    let answered = load.answered.lock().unwrap();
    let mut client = load.account.connect(load.nodes.address(0)).unwrap();
    for (reference, id) in answered.iter() {
        let found = client.send("GET", &format!("{SETTLEMENTS}/{reference}"), None).unwrap();
        assert_eq!((found.status, found.body["id"].as_str()), (200, Some(id.as_str())), "{reference}");
    }
    let hashes: Vec<&str> = feed.iter().map(|entry| entry["event"]["hash"].as_str().unwrap()).collect();
    assert_eq!(heard, hashes, "the stream has the feed");
    until("every event has arrived at the webhook", || receiver.seen().distinct() == feed.len());
    assert_eq!(receiver.seen().forged, 0);
    let (closed, again) = (load.closed.load(Ordering::Relaxed), load.again.load(Ordering::Relaxed));
    let repeated = receiver.seen().repeated;
    eprintln!(
        "{} payments answered, {} events; {closed} connections closed, {again} payments found when sent again; {repeated} deliveries repeated",
        answered.len(),
        feed.len()
    );
}

fn verified(store: &str) {
    let told = Command::new(railgate()).args(["ledger", "verify", "--store", store]).output().unwrap();
    assert!(told.status.success(), "{told:?}");
}

/// What the earlier binary says if it is started over the store; `None` if it serves. It may serve exactly if `may`.
fn assert_goes_back(binary: &Path, nodes: &Nodes, may: bool) {
    if may {
        nodes.replace(0, binary);
        let mut client = nodes.enroll().connect(nodes.address(0)).unwrap();
        let body = json!({"amount": 1, "currency": "EUR", "to": "sim:ok", "reference": "back"}).to_string();
        assert_eq!(client.send("POST", SETTLEMENTS, Some(&body)).unwrap().status, 201);
        assert!(nodes.stop(0), "a graceful end");
        return;
    }
    let mut serve = Command::new(binary);
    serve.args(["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--store", nodes.store()]);
    let told = serve.arg("--data-dir").arg(nodes.data_dir()).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&told.stderr);
    assert_eq!(told.status.code(), Some(1), "{said}");
    assert!(said.contains("newer than this program"), "{said}");
}

#[test]
#[ignore = "it needs an earlier build: scripts/upgrade.sh makes one"]
fn two_nodes_over_postgresql_are_replaced_under_load() {
    let binary = before();
    let _turn = turn();
    let server = Postgres::quick();
    let database = server.database();
    let url = server.url(&database);
    let nodes = Nodes::start_of(&binary, None, [&url; 2], [&[], &[]]);
    let sql = server.sql(&database);
    let number = |asked: &str| sql.texts(asked)[0].parse::<u32>().unwrap();
    let schema = number("SELECT max(no) FROM railgate_migration");
    upgraded(&nodes, rolling);
    let (now, oldest) = (number("SELECT max(no) FROM railgate_migration"), number("SELECT max(oldest) FROM railgate_migration"));
    eprintln!("PostgreSQL: schema {schema} became {now}, which lets programs of {oldest} on work");
    assert!(nodes.stop(0) && nodes.stop(1), "graceful ends");
    verified(&url);
    assert_goes_back(&binary, &nodes, schema >= oldest);
    verified(&url);
}

#[test]
#[ignore = "it needs an earlier build: scripts/upgrade.sh makes one"]
fn two_nodes_over_one_sqlite_file_are_replaced_under_load() {
    let binary = before();
    let _turn = turn();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.db");
    let store = format!("sqlite:{}", file.display());
    let more: &[&str] = &["--shared-store", "on"];
    let nodes = Nodes::start_of(&binary, None, [&store; 2], [more, more]);
    let schema = || {
        let file = rusqlite::Connection::open_with_flags(&file, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        file.query_row("PRAGMA user_version", [], |row| row.get::<_, u32>(0)).unwrap()
    };
    let before = schema();
    let current = Command::new(railgate()).args(["migrate", "--check", "--store", &store]).output().unwrap().status.success();
    // Nobody migrates a file that others have open.
    upgraded(&nodes, if current { rolling } else { at_once });
    let now = schema();
    eprintln!("SQLite: schema {before} became {now}");
    assert_eq!(before == now, current);
    assert!(nodes.stop(0) && nodes.stop(1), "graceful ends");
    verified(&store);
    // Of a file, no older program may have a newer one.
    assert_goes_back(&binary, &nodes, before == now);
    verified(&store);
}
