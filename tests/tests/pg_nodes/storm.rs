//! The load: creates over both nodes by several connections, a fifth of them with references that were used before, and
//! the invariants that must hold despite all disturbances.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use railgate::engine::verify::verify;
use railgate::ids::SettlementNo;
use railgate::lifecycle::SettlementStatus;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::{Key, SettlementRecord};
use railgate::store::{Scan, Store, typed_all};
use railgate_tests::client::{Account, Client, Response, call};
use railgate_tests::nodes::Nodes;
use railgate_tests::postgres::Sql;
use railgate_tests::rest::run_to_rest;
use serde_json::{Value, json};

use super::follower::Follower;

const CONNECTIONS: usize = 6;
/// Settlements are made in blocks: [`BATCH`] in one call and [`SINGLES`] individually. [`AGAIN`] of the batch are sent to
/// the other node at the same time; one in [`TWICE`] of the others is sent to both, and two are sent again at the end.
const BLOCKS: u64 = 80;
const BATCH: u64 = 50;
const SINGLES: u64 = 50;
const AGAIN: u64 = 15;
const TWICE: u64 = 6;
/// The number of settlements in the end,
pub const SETTLEMENTS: u64 = BLOCKS * (BATCH + SINGLES);
/// and of creates.
pub const CREATES: u64 = SETTLEMENTS + BLOCKS * (AGAIN + 8 + 2);
const PATH: &str = "/api/v1/gateway/settlements";
const SCENARIOS: &[&str] =
    &["sim:ok", "sim:ok", "sim:ok", "sim:failover", "sim:timeout-then-ok", "sim:decline-over_limit", "msisdn:+254700000001"];
/// How often a waiter checks that its condition can still become true.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A running load.
pub struct Storm<'n> {
    nodes: &'n Nodes,
    account: Account,
    next_block: AtomicU64,
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Default)]
struct State {
    /// The id of each acknowledged settlement, and whether a response reported it as new (201).
    settled: HashMap<u64, (String, bool)>,
    /// Creates whose response was a settlement.
    answered: u64,
    /// Creates that were told to retry later, and calls whose connection broke.
    later: u64,
    lost: u64,
    working: usize,
    /// Whether a connection's thread ended by a failed assertion.
    broken: bool,
}

/// A create or a batch of them.
struct Call {
    path: String,
    body: String,
    numbers: Vec<u64>,
}

fn reference(n: u64) -> String {
    format!("s-{n}")
}

fn scenario(n: u64) -> &'static str {
    SCENARIOS[(n % SCENARIOS.len() as u64) as usize]
}

/// The amount in cents: small enough for the account, and different for neighbours.
fn amount_minor(n: u64) -> u64 {
    1 + n % 97
}

fn element(n: u64) -> Value {
    json!({"amount": format!("0.{:02}", amount_minor(n)), "currency": "EUR", "to": scenario(n), "reference": reference(n)})
}

impl Call {
    fn single(n: u64) -> Self {
        Self { path: PATH.to_owned(), body: element(n).to_string(), numbers: vec![n] }
    }

    fn batch(numbers: impl Iterator<Item = u64> + Clone) -> Self {
        let elements: Vec<Value> = numbers.clone().map(element).collect();
        Self { path: format!("{PATH}/batch"), body: json!({ "settlements": elements }).to_string(), numbers: numbers.collect() }
    }
}

impl<'n> Storm<'n> {
    /// Prepares a load with a new client of both nodes.
    pub fn over(nodes: &'n Nodes) -> Self {
        Self { nodes, account: nodes.enroll(), next_block: AtomicU64::new(0), state: Mutex::default(), news: Condvar::new() }
    }

    /// Sends everything until it is acknowledged, while `disturb` runs.
    pub fn run(&self, disturb: impl FnOnce(&Self)) {
        let begun = Instant::now();
        self.state().working = CONNECTIONS;
        std::thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| self.work());
            }
            disturb(self);
        });
        let state = self.state();
        assert_eq!((state.settled.len() as u64, state.answered), (SETTLEMENTS, CREATES));
        let State { answered, later, lost, .. } = *state;
        eprintln!("{answered} creates answered in {:?}; {later} told to retry later, {lost} connections lost", begun.elapsed());
    }

    /// Follows the feed over either node until both are gone, and returns the follower.
    pub fn follow(&self) -> Follower {
        let mut follower = Follower::default();
        for node in [0, 1].into_iter().cycle() {
            match [0, 1].map(|node| self.nodes.is_up(node)) {
                [false, false] => break,
                up if up[node] => {
                    // However the stream ended, the follower continues at its position.
                    let _ = follower.follow(&self.account, self.nodes.address(node), &|_| false);
                }
                _ => {}
            }
            self.nodes.rest(LOOK_EVERY);
        }
        follower
    }

    /// Waits until this many more creates are acknowledged; `false` if there are none left.
    pub fn more(&self, count: u64) -> bool {
        let until = self.state().answered + count;
        self.wait(|state| state.answered >= until)
    }

    /// Waits until some more creates are told to retry later; `false` if there are none left.
    pub fn refused(&self) -> bool {
        let before = self.state().later;
        self.wait(|state| state.later > before)
    }

    fn wait(&self, enough: impl Fn(&State) -> bool) -> bool {
        let mut state = self.state();
        while !enough(&state) && state.working > 0 && !state.broken {
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.working > 0 && !state.broken
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let _working = Working(self);
        let mut worker = Worker { storm: self, clients: [None, None], turn: 0 };
        loop {
            let block = self.next_block.fetch_add(1, Ordering::SeqCst);
            if block >= BLOCKS || self.state().broken {
                return;
            }
            worker.block(block * (BATCH + SINGLES));
        }
    }

    /// Records the responses; `false` if something must be sent again.
    fn take(&self, call: &Call, response: &Response) -> bool {
        if [503, 504].contains(&response.status) {
            let code = if response.status == 503 { "store_unavailable" } else { "timeout" };
            assert_eq!(response.code(), code, "{response:?}");
            assert_eq!(response.header("retry-after").is_some(), response.status == 503, "{response:?}");
            self.later(call.numbers.len() as u64);
            return false;
        }
        let mut all = true;
        if call.path == PATH {
            assert!([200, 201].contains(&response.status), "{response:?}");
            self.settled(call.numbers[0], response.status == 201, &response.body);
        } else {
            assert_eq!(response.status, 200, "{response:?}");
            let results = response.body["results"].as_array().expect("results");
            assert_eq!(results.len(), call.numbers.len());
            for (n, result) in call.numbers.iter().zip(results) {
                match result["status"].as_u64() {
                    Some(status @ (200 | 201)) => self.settled(*n, status == 201, &result["settlement"]),
                    Some(503) if result["problem"]["code"] == "store_unavailable" => {
                        self.later(1);
                        all = false;
                    }
                    _ => panic!("{result:#}"),
                }
            }
        }
        // For a call that is sent again, only the last response counts.
        if all {
            self.state().answered += call.numbers.len() as u64;
            self.news.notify_all();
        }
        all
    }

    fn later(&self, count: u64) {
        self.state().later += count;
        self.news.notify_all();
    }

    fn settled(&self, n: u64, made: bool, record: &Value) {
        assert_eq!((&record["reference"], &record["amount_minor"]), (&json!(reference(n)), &json!(amount_minor(n).to_string())));
        let id = record["id"].as_str().expect("an id").to_owned();
        let mut state = self.state();
        let (known, was_made) = state.settled.entry(n).or_insert_with(|| (id.clone(), false)).clone();
        assert_eq!(known, id, "two settlements under one reference");
        assert!(!(was_made && made), "{id} was made twice");
        state.settled.insert(n, (id, was_made || made));
    }

    /// Asserts that both nodes have every acknowledged settlement, with the same id and amount, and no others.
    pub fn assert_kept(&self) {
        let state = self.state();
        let expected: HashMap<String, (&str, u64)> =
            state.settled.iter().map(|(n, (id, _))| (reference(*n), (id.as_str(), amount_minor(*n)))).collect();
        for node in [0, 1] {
            let mut client = self.account.connect(self.nodes.address(node)).expect("connecting");
            let listed = list(&mut client);
            assert_eq!(listed.len(), expected.len());
            for record in &listed {
                let amount: u64 = record["amount_minor"].as_str().and_then(|text| text.parse().ok()).expect("an amount");
                let told = (record["id"].as_str().expect("an id"), amount);
                assert_eq!(expected.get(record["reference"].as_str().expect("a reference")), Some(&told), "node {node}");
            }
        }
    }
}

/// All settlements of a client.
pub fn list(client: &mut Client) -> Vec<Value> {
    let (mut all, mut path) = (Vec::new(), format!("{PATH}?limit=200"));
    loop {
        let mut page = client.send("GET", &path, None).expect("a node that is up");
        assert_eq!(page.status, 200, "{page:?}");
        all.append(page.body["data"].as_array_mut().expect("a page"));
        let Some(cursor) = page.body["next_cursor"].as_str() else { return all };
        path = format!("{PATH}?limit=200&cursor={cursor}");
    }
}

/// Reports the end of a connection's thread, successful or not.
struct Working<'s, 'n>(&'s Storm<'n>);

impl Drop for Working<'_, '_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.working -= 1;
        state.broken |= std::thread::panicking();
        drop(state);
        self.0.news.notify_all();
    }
}

/// A client with a connection to each node.
struct Worker<'s, 'n> {
    storm: &'s Storm<'n>,
    clients: [Option<Client>; 2],
    turn: usize,
}

impl Worker<'_, '_> {
    fn block(&mut self, first: u64) {
        let batch = Call::batch(first..first + BATCH);
        let again = Call::batch(first + BATCH - AGAIN..first + BATCH);
        if self.next_node() == 0 {
            self.at_once([&batch, &again])
        } else {
            self.at_once([&again, &batch])
        };
        let singles = first + BATCH..first + BATCH + SINGLES;
        for (n, at) in singles.clone().zip(0..) {
            let call = Call::single(n);
            match at % TWICE {
                0 if at < 8 * TWICE => self.at_once([&call, &call]),
                _ => {
                    let node = self.next_node();
                    self.insist(node, &call);
                }
            }
        }
        for n in singles.take(2) {
            let node = self.next_node();
            self.insist(node, &Call::single(n));
        }
    }

    fn next_node(&mut self) -> usize {
        self.turn = 1 - self.turn;
        self.turn
    }

    /// The connection to a node; `None` while it is down.
    fn client(&mut self, node: usize) -> Option<&mut Client> {
        let Storm { nodes, account, .. } = self.storm;
        if self.clients[node].is_none() && nodes.is_up(node) {
            self.clients[node] = account.connect(nodes.address(node)).ok();
        }
        self.clients[node].as_mut()
    }

    fn lose(&mut self, node: usize) {
        self.clients[node] = None;
        self.storm.state().lost += 1;
    }

    /// Sends a call to either node until there is a response, signed again each time.
    fn insist(&mut self, mut node: usize, call: &Call) {
        while !self.storm.state().broken {
            let Some(client) = self.client(node) else {
                node = 1 - node;
                self.storm.nodes.rest(LOOK_EVERY);
                continue;
            };
            match client.send("POST", &call.path, Some(&call.body)) {
                Ok(response) if self.storm.take(call, &response) => return,
                Ok(response) => {
                    let after = response.header("retry-after").and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
                    self.storm.nodes.rest(Duration::from_secs(after));
                }
                Err(_) => self.lose(node),
            }
            node = 1 - node;
        }
    }

    /// Sends one call to each node at the same time, the same bytes if it is the same call. A call without a response is
    /// sent again until there is one.
    fn at_once(&mut self, calls: [&Call; 2]) {
        let mut sent: [Option<Vec<u8>>; 2] = [None, None];
        for node in [0, 1] {
            let earlier = sent[0].clone().filter(|_| std::ptr::eq(calls[0], calls[1]));
            let Some(client) = self.client(node) else { continue };
            let signed = earlier.map_or_else(|| client.signed(call("POST", &calls[node].path, Some(&calls[node].body))), Ok);
            match signed.and_then(|bytes| client.connection().put(&bytes).map(|()| bytes)) {
                Ok(bytes) => sent[node] = Some(bytes),
                Err(_) => self.lose(node),
            }
        }
        let answers = [0, 1].map(|node| {
            let answer = self.clients[node].as_mut().filter(|_| sent[node].is_some())?.connection().answer();
            if answer.is_err() {
                self.lose(node);
            }
            answer.ok()
        });
        for (node, answer) in answers.into_iter().enumerate() {
            if !answer.is_some_and(|response| self.storm.take(calls[node], &response)) {
                self.insist(node, calls[node]);
            }
        }
    }
}

/// Brings the database to rest and verifies all of it: every settlement has the right final state, each payment reached the
/// operator once, the ledger balances, every event has its position in log and feed, and no tasks are left.
pub fn assert_sound(url: &str, follower: &Follower) {
    let begun = Instant::now();
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(url, PostgresOptions::default()).expect("opening"));
    drop(run_to_rest(&store));
    eprintln!("at rest after {:?}", begun.elapsed());
    let all: Vec<SettlementRecord> =
        typed_all(store.scan(&Scan::after(&Key::Settlement(SettlementNo(0)), usize::MAX)).expect("reading")).expect("settlements");
    for record in &all {
        let declined = record.to.as_str() == "sim:decline-over_limit";
        let expected = if declined { SettlementStatus::Failed } else { SettlementStatus::Completed };
        assert_eq!(record.status, expected, "{} to {}", record.reference.as_str(), record.to.as_str());
    }
    let sql = Sql::connect(url);
    assert!(follower.count() > 0, "there is no follower");
    follower.assert_heard(&sql.texts("SELECT encode(hash, 'hex') FROM feed JOIN event USING (k) ORDER BY owner, position"));
    assert_eq!(sql.texts("SELECT k FROM sim_payment WHERE received <> 1"), Vec::<String>::new());
    let unpaid = "SELECT no FROM settlement WHERE NOT EXISTS (SELECT FROM sim_payment WHERE k BETWEEN no << 16 AND no << 16 | 65535)";
    assert_eq!(sql.texts(unpaid), Vec::<String>::new());
    let report = verify(&*store, &mut |_| {}).expect("reading");
    assert!(report.is_ok(), "{:#?}", report.problems);
    assert_eq!((report.settlements, report.tasks, report.received_twice), (SETTLEMENTS, 0, 0));
    assert_eq!(report.logged, report.events, "events wait to be numbered");
    eprintln!("proved after {:?}: {} events", begun.elapsed(), report.events);
}
