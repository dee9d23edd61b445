//! Two servers over one store, a SQLite file or a PostgreSQL database: the same bytes sent to both have no second effect,
//! one after the other or at the same time.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use railgate::auth::Signer as _;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::{EntryRecord, RecordKind};
use railgate::store::sqlite::{Sharing, SqliteOptions, SqliteStore};
use railgate::store::{Commit, Scan, Store, Write, typed_all};
use railgate_tests::binary::railgate;
use railgate_tests::client::{Account, Client, Connection, Response, call, new_key};
use railgate_tests::nodes::{Nodes, PUBLIC_URL};
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;
use serde_json::{Value, json};

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
const ROUNDS: usize = 50;

/// Runs each of these tests over both stores.
macro_rules! over_both_stores {
    ($($test:ident),* $(,)?) => {
        mod sqlite {
            $(#[test]
            fn $test() {
                let folder = tempfile::tempdir().expect("a folder");
                let store = format!("sqlite:{}", folder.path().join("gateway.db").display());
                super::$test(&super::Nodes::start(&store, &["--shared-store", "on"]));
            })*
        }
        mod postgres {
            $(#[test]
            fn $test() {
                let server = super::Postgres::shared();
                super::$test(&super::Nodes::start(&server.url(&server.database()), &[]));
            })*
        }
    };
}

over_both_stores!(
    both_nodes_take_each_others_challenges_and_tokens,
    a_reversal_is_made_once,
    a_reconciliation_is_made_once,
    keys_are_added_and_revoked_once,
    tokens_are_taken_and_revoked_once,
    an_enrolment_is_made_once,
    a_create_is_answered_as_the_replay_that_it_is,
    a_create_that_was_refused_stays_refused,
    of_two_creates_at_the_same_time_one_makes_the_settlement,
    of_two_reversals_at_the_same_time_one_is_made,
    servers_are_listed_while_they_run,
    statements_are_repaired_while_servers_book,
);

/// An account at two nodes. Calls are signed once, with a challenge from node A.
struct Caller {
    account: Account,
    a: Client,
    b: SocketAddr,
}

impl Caller {
    fn of(nodes: &Nodes) -> Self {
        let account = nodes.enroll();
        let a = account.connect(nodes.address(0)).expect("connecting");
        Self { a, b: nodes.address(1), account }
    }

    /// A connection to node B, opened when needed, because an idle one is closed.
    fn b(&self) -> Connection {
        Connection::open(self.b).expect("connecting")
    }

    fn sign(&mut self, method: &str, path: &str, body: Option<&Value>) -> Vec<u8> {
        self.a.signed(call(method, path, body.map(Value::to_string).as_deref())).expect("signing")
    }

    /// Sends the same bytes to node A and then to node B.
    fn both(&mut self, bytes: &[u8]) -> (Response, Response) {
        (self.a.exchange(bytes).expect("node A"), self.b().exchange(bytes).expect("node B"))
    }

    /// Sends the same bytes to both nodes at the same time.
    fn race(&mut self, bytes: &[u8]) -> [Response; 2] {
        let barrier = Barrier::new(2);
        let mut b = self.b();
        let a = &mut self.a;
        std::thread::scope(|scope| {
            let at_a = scope.spawn(|| {
                barrier.wait();
                a.exchange(bytes).expect("node A")
            });
            barrier.wait();
            let at_b = b.exchange(bytes).expect("node B");
            [at_a.join().expect("no panics"), at_b]
        })
    }

    fn get(&mut self, path: &str) -> Value {
        let response = self.a.send("GET", path, None).expect("node A");
        assert_eq!(response.status, 200, "{response:?}");
        response.body
    }

    /// Makes a completed settlement.
    fn settled(&mut self, reference: &str, amount: u32) {
        let body = create(reference, amount);
        let created = self.a.send("POST", SETTLEMENTS, Some(&body.to_string())).expect("node A");
        assert_eq!(created.status, 201, "{created:?}");
        self.until(&format!("{SETTLEMENTS}/{reference}"), |record| record["status"] == "completed");
    }

    /// Polls until the response is as expected, whichever node's worker does the task.
    fn until(&mut self, path: &str, found: impl Fn(&Value) -> bool) {
        until(path, || found(&self.get(path)));
    }

    fn reversals(&mut self, reference: &str) -> usize {
        self.get(&format!("{SETTLEMENTS}/{reference}/reversals"))["data"].as_array().expect("a list").len()
    }

    /// How many settlements have this reference.
    fn listed(&mut self, reference: &str) -> usize {
        self.get(&format!("{SETTLEMENTS}?reference={reference}"))["data"].as_array().expect("a list").len()
    }
}

/// The addresses of the servers that run over the store, in order, and how many are up.
fn listed(nodes: &Nodes) -> (Vec<String>, usize) {
    let told = Command::new(railgate()).args(["nodes", "--json", "--store", nodes.store()]).output().expect("railgate runs");
    assert!(told.status.success(), "{told:?}");
    let told: Value = serde_json::from_slice(&told.stdout).expect("JSON");
    let all = told["data"].as_array().expect("a list");
    let mut addresses: Vec<String> = all.iter().map(|node| node["address"].as_str().expect("one").to_owned()).collect();
    addresses.sort();
    (addresses, all.iter().filter(|node| node["up"] == true).count())
}

/// Each is there from its start to its stop; one that was killed stays, and a restart is another server.
fn servers_are_listed_while_they_run(nodes: &Nodes) {
    let [a, b] = [0, 1].map(|n| format!("http://{}", nodes.address(n)));
    let sorted = |mut all: Vec<&String>| {
        all.sort();
        all.into_iter().cloned().collect::<Vec<_>>()
    };
    until("both are listed", || listed(nodes) == (sorted(vec![&a, &b]), 2));
    assert!(nodes.stop(0));
    assert_eq!(listed(nodes), (vec![b.clone()], 1), "who stops is gone at once");
    nodes.kill(1);
    assert_eq!(listed(nodes).0, std::slice::from_ref(&b));
    nodes.restart(1);
    until("the new one is listed too", || listed(nodes).0 == [b.clone(), b.clone()]);
}

fn open(store: &str) -> Arc<dyn Store> {
    match store.strip_prefix("sqlite:") {
        Some(path) => {
            let options = SqliteOptions { sharing: Sharing::Among, ..SqliteOptions::default() };
            Arc::new(SqliteStore::open_with(path.as_ref(), options).expect("a store"))
        }
        None => Arc::new(PostgresStore::open(store, PostgresOptions::default()).expect("a store")),
    }
}

/// Removes what is not booked yet, if there is something, as if an older server had posted it. Returns whether there was.
fn without_lines(store: &dyn Store) -> bool {
    let waiting = store.scan(&Scan::all(RecordKind::Unbooked, 1)).expect("a page");
    // A server that books it meanwhile wins.
    waiting.iter().any(|row| store.commit(&Commit { writes: vec![Write::Delete(row.key())] }).is_ok())
}

/// The repair finds what is missing in a moment's state, and both servers go on booking: nothing is added twice or left out.
fn statements_are_repaired_while_servers_book(nodes: &Nodes) {
    let (mut caller, store) = (Caller::of(nodes), open(nodes.store()));
    let command = |what: &[&str]| {
        let told = Command::new(railgate()).args(what).args(["--json", "--store", nodes.store()]).output().expect("railgate runs");
        (told.status.success(), serde_json::from_slice::<Value>(&told.stdout).expect("JSON"))
    };
    let (ended, mut lost, mut made) = (AtomicBool::new(false), 0, 0);
    std::thread::scope(|scope| {
        let repairing = scope.spawn(|| {
            let mut added = 0;
            while !ended.load(Ordering::SeqCst) {
                let (ok, told) = command(&["ledger", "repair-statements"]);
                assert!(ok, "{told:#}");
                added += told["data"].as_array().expect("a list").iter().map(|it| it["added"].as_u64().expect("a count")).sum::<u64>();
            }
            added
        });
        while lost < 20 {
            made += 1;
            let body = create(&format!("r-{made}"), made).to_string();
            assert_eq!(caller.a.send("POST", SETTLEMENTS, Some(&body)).expect("node A").status, 201);
            lost += u32::from(without_lines(&*store));
        }
        ended.store(true, Ordering::SeqCst);
        assert!(repairing.join().expect("no panics") > 0, "something was repaired while payments were made");
    });
    caller.until(&format!("{SETTLEMENTS}/r-{made}"), |record| record["status"] == "completed");
    until("all that was posted is booked", || store.scan(&Scan::all(RecordKind::Unbooked, 1)).expect("a page").is_empty());
    command(&["ledger", "repair-statements"]);
    let (sound, report) = command(&["ledger", "verify"]);
    assert!(sound, "{report:#}");
    let entries: Vec<EntryRecord> = typed_all(store.scan(&Scan::all(RecordKind::Entry, usize::MAX)).expect("a page")).expect("entries");
    let payments: HashSet<_> = entries.iter().filter(|line| line.amount < 0).map(|line| (line.account, line.journal)).collect();
    assert_eq!(payments.len(), made as usize);
    assert_eq!(entries.iter().filter(|line| line.amount < 0).count(), payments.len(), "each once");
}

fn create(reference: &str, amount: u32) -> Value {
    json!({"amount": amount, "currency": "EUR", "to": "sim:ok", "reference": reference})
}

#[track_caller]
fn assert_replayed(response: &Response) {
    assert_eq!((response.status, response.code()), (401, "nonce_replayed"), "{response:?}");
}

/// The first was executed, and the second refused because its nonce is spent.
#[track_caller]
fn assert_once((first, second): (Response, Response), status: u16) {
    assert_eq!(first.status, status, "{first:?}");
    assert_replayed(&second);
}

/// The first revoked the credential of the second.
#[track_caller]
fn assert_ended((first, second): (Response, Response)) {
    assert_eq!(first.status, 204, "{first:?}");
    assert_eq!(second.status, 401, "{second:?}");
    assert!(["nonce_replayed", "token_invalid", "key_revoked"].contains(&second.code()), "{second:?}");
}

fn both_nodes_take_each_others_challenges_and_tokens(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    let bytes = caller.sign("GET", "/api/v1/balances", None);
    let answered = caller.b().exchange(&bytes).expect("node B");
    assert_eq!(answered.status, 200, "{answered:?}");
    let mut at_b = caller.account.connect(nodes.address(1)).expect("connecting");
    let created = at_b.send("POST", SETTLEMENTS, Some(&create("by-b", 1).to_string())).expect("node B");
    assert_eq!(created.status, 201, "{created:?}");
    assert_eq!(caller.get(&format!("{SETTLEMENTS}/by-b"))["id"], created.body["id"]);
}

fn a_reversal_is_made_once(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    caller.settled("paid", 100);
    let bytes = caller.sign("POST", &format!("{SETTLEMENTS}/paid/reverse"), Some(&json!({"amount": 10})));
    assert_once(caller.both(&bytes), 201);
    assert_eq!(caller.reversals("paid"), 1);
}

fn a_reconciliation_is_made_once(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    caller.settled("paid", 100);
    let bytes = caller.sign("POST", &format!("{SETTLEMENTS}/paid/check"), None);
    assert_once(caller.both(&bytes), 200);
}

fn keys_are_added_and_revoked_once(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    let key = new_key();
    let body = json!({"jwk": serde_json::from_str::<Value>(&key.public_key().jwk()).expect("a JWK")});
    let request = call("POST", "/api/v1/auth/keys", Some(&body.to_string()));
    let bytes = caller.a.signed_with_new_key(request, &*key).expect("signing");
    assert_once(caller.both(&bytes), 201);
    let keys = caller.get("/api/v1/auth/keys");
    assert_eq!(keys["data"].as_array().map(Vec::len), Some(2), "{keys:#}");

    let id = key.public_key().id();
    let bytes = caller.sign("DELETE", &format!("/api/v1/auth/keys/{id}"), None);
    assert_once(caller.both(&bytes), 204);
    let keys = caller.get("/api/v1/auth/keys");
    assert_eq!((&keys["data"][0]["status"], &keys["data"][1]["status"]), (&json!("active"), &json!("revoked")), "{keys:#}");

    let own = caller.account.key_id();
    let bytes = caller.sign("DELETE", &format!("/api/v1/auth/keys/{own}"), None);
    assert_ended(caller.both(&bytes));
}

fn tokens_are_taken_and_revoked_once(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    let bytes = caller.sign("POST", "/api/v1/auth/tokens", None);
    let (first, second) = caller.both(&bytes);
    let token = first.body["access_token"].clone();
    assert!(token.is_string(), "{first:?}");
    assert_once((first, second), 200);

    let bytes = caller.sign("POST", "/api/v1/auth/tokens/revoke", Some(&json!({ "token": token })));
    assert_once(caller.both(&bytes), 204);
    let bytes = caller.sign("POST", "/api/v1/auth/tokens/revoke", None);
    assert_ended(caller.both(&bytes));
}

fn an_enrolment_is_made_once(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    let key = new_key();
    let newcomer = Account::unknown(key, Some(PUBLIC_URL));
    let bytes = newcomer.connect(nodes.address(0)).and_then(|mut client| client.signed_enrollment("Newcomer")).expect("signing");
    assert_once(caller.both(&bytes), 201);
}

fn a_create_is_answered_as_the_replay_that_it_is(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    let bytes = caller.sign("POST", SETTLEMENTS, Some(&create("one", 5)));
    let (first, second) = caller.both(&bytes);
    assert_eq!((first.status, first.header("idempotent-replayed")), (201, None), "{first:?}");
    assert_eq!((second.status, second.header("idempotent-replayed")), (200, Some("true")), "{second:?}");
    assert_eq!(first.body["id"], second.body["id"]);
    assert_eq!(caller.listed("one"), 1);

    let batch = json!({"settlements": [create("two", 5), create("three", 5)]});
    let bytes = caller.sign("POST", &format!("{SETTLEMENTS}/batch"), Some(&batch));
    let (first, second) = caller.both(&bytes);
    for (n, reference) in ["two", "three"].into_iter().enumerate() {
        let (first, second) = (&first.body["results"][n], &second.body["results"][n]);
        assert_eq!((&first["status"], &second["status"]), (&json!(201), &json!(200)), "{first:#} {second:#}");
        assert_eq!(first["settlement"]["id"], second["settlement"]["id"]);
        assert_eq!(caller.listed(reference), 1);
    }
}

fn a_create_that_was_refused_stays_refused(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    // From the million that a sandbox client starts with.
    caller.settled("large", 900_000);
    let single = caller.sign("POST", SETTLEMENTS, Some(&create("too-much", 200_000)));
    let refused = caller.a.exchange(&single).expect("node A");
    assert_eq!((refused.status, refused.code()), (422, "insufficient_funds"), "{refused:?}");
    let elements = json!({"settlements": [create("small", 1), create("too-much-too", 200_000)]});
    let batch = caller.sign("POST", &format!("{SETTLEMENTS}/batch"), Some(&elements));
    let answered = caller.a.exchange(&batch).expect("node A");
    assert_eq!(answered.body["results"][0]["status"], 201, "{answered:?}");
    assert_eq!(answered.body["results"][1]["problem"]["code"], "insufficient_funds", "{answered:?}");

    let reversed = caller.a.send("POST", &format!("{SETTLEMENTS}/large/reverse"), None).expect("node A");
    assert_eq!(reversed.status, 201, "{reversed:?}");
    caller.until(&format!("{SETTLEMENTS}/large"), |record| record["status"] == "reversed");
    for bytes in [&single, &batch] {
        assert_replayed(&caller.b().exchange(bytes).expect("node B"));
    }
    assert_eq!((caller.listed("too-much"), caller.listed("small"), caller.listed("too-much-too")), (0, 1, 0));
    // Only the nonce was the reason: signed again, the same call is accepted.
    for (path, body) in [(SETTLEMENTS.to_owned(), create("too-much", 200_000)), (format!("{SETTLEMENTS}/batch"), elements)] {
        let anew = caller.sign("POST", &path, Some(&body));
        let answered = caller.b().exchange(&anew).expect("node B");
        assert!([200, 201].contains(&answered.status), "{answered:?}");
    }
    assert_eq!((caller.listed("too-much"), caller.listed("small"), caller.listed("too-much-too")), (1, 1, 1));
}

fn of_two_creates_at_the_same_time_one_makes_the_settlement(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    for n in 0..ROUNDS {
        let reference = format!("race-{n}");
        let bytes = caller.sign("POST", SETTLEMENTS, Some(&create(&reference, 1)));
        let answers = caller.race(&bytes);
        let mut statuses = [answers[0].status, answers[1].status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 201], "{answers:?}");
        assert_eq!(answers[0].body["id"], answers[1].body["id"]);
        assert_eq!(caller.listed(&reference), 1);
    }
}

fn of_two_reversals_at_the_same_time_one_is_made(nodes: &Nodes) {
    let mut caller = Caller::of(nodes);
    caller.settled("paid", 1_000);
    for n in 1..=ROUNDS {
        let bytes = caller.sign("POST", &format!("{SETTLEMENTS}/paid/reverse"), Some(&json!({"amount": 1})));
        let mut answers = caller.race(&bytes);
        answers.sort_by_key(|answer| answer.status);
        assert_eq!(answers[0].status, 201, "{answers:?}");
        assert_replayed(&answers[1]);
        assert_eq!(caller.reversals("paid"), n);
    }
    caller.until(&format!("{SETTLEMENTS}/paid"), |record| record["reversing_amount"].as_f64() == Some(0.0));
    assert_eq!(caller.get(&format!("{SETTLEMENTS}/paid"))["reversed_amount"].as_f64(), Some(ROUNDS as f64));
}
