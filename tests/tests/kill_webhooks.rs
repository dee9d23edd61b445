//! Repeated SIGKILL during deliveries: each event still arrives at least once, always with the same `webhook-id`
//! and the same bytes, and no other events arrive.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use railgate::log::{LogKey, verify_proof};
use railgate::store::record::RecordKind;
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store as _};
use railgate::webhook::{SignedHeaders, TOLERANCE_S, VerifyError, WebhookSecret, verify};
use railgate_tests::binary::{Server, railgate};
use railgate_tests::client::{Account, Client, enroll};
use serde_json::{Value, json};

const ROUNDS: u64 = 12;
const CONNECTIONS: u64 = 4;
/// The maximum number of settlements in a round: each has about five events, all of which are delivered in the end.
const CREATES: u64 = 50;
const SCENARIOS: &[&str] = &["sim:ok", "sim:ok", "sim:failover", "sim:timeout-then-ok", "sim:decline-over_limit", "msisdn:+254700000001"];
/// One in this many creates is followed by the reversal of an earlier settlement of the same connection,
const REVERSE_EVERY: u64 = 3;
/// this many before it: some of them have been sent by then, and some have not.
const BEFORE: usize = 2;
/// How often a waiter checks that its condition can still become true.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How the receiver treats a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reaction {
    Take,
    /// The response comes a byte at a time.
    TakeSlowly,
    Refuse,
    /// The connection ends without a response.
    HangUp,
    /// There is no response as long as the gateway runs.
    Hold,
}

/// A received delivery.
#[derive(Debug, Clone)]
struct Arrival {
    id: String,
    body: Vec<u8>,
    genuine: std::result::Result<(), VerifyError>,
    reaction: Reaction,
}

#[derive(Default)]
struct Seen {
    secret: Option<WebhookSecret>,
    arrivals: Vec<Arrival>,
    ids: HashSet<String>,
    /// Whether it misbehaves: only at the first attempt of an id, because a third attempt would come minutes later.
    difficult: bool,
    /// After this many arrivals, the next new event is held.
    hold_from: Option<usize>,
    held: Option<String>,
}

impl Seen {
    fn reaction(&mut self, id: &str) -> Reaction {
        let is_new = self.ids.insert(id.to_owned());
        if !is_new || !self.difficult {
            return Reaction::Take;
        }
        if self.hold_from.take_if(|from| self.arrivals.len() >= *from).is_some() {
            self.held = Some(id.to_owned());
            return Reaction::Hold;
        }
        match self.ids.len() % 61 {
            13 => Reaction::Refuse,
            41 => Reaction::HangUp,
            n if n % 10 == 7 => Reaction::TakeSlowly,
            _ => Reaction::Take,
        }
    }
}

/// The receiver of the webhook. It outlives every server.
struct Receiver {
    address: SocketAddr,
    seen: Mutex<Seen>,
    news: Condvar,
}

impl Receiver {
    fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Arc::new(Self { address: listener.local_addr().unwrap(), seen: Mutex::default(), news: Condvar::new() });
        let own = Arc::clone(&receiver);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, own) = (stream.unwrap(), Arc::clone(&own));
                // A connection ends with the gateway, possibly in the middle of a request.
                std::thread::spawn(move || own.serve(&stream));
            }
        });
        receiver
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    fn serve(&self, mut stream: &TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some((headers, body)) = read_request(&mut reader)? {
            let reaction = self.take_in(&headers, body);
            let answer: &[u8] = match reaction {
                Reaction::Take | Reaction::TakeSlowly => b"HTTP/1.1 204 No Content\r\n\r\n",
                Reaction::Refuse => b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n",
                Reaction::HangUp => return Ok(()),
                // Nothing more can be read until the other side is gone.
                Reaction::Hold => return reader.read(&mut [0]).map(drop),
            };
            let pieces = if reaction == Reaction::TakeSlowly { 1 } else { answer.len() };
            answer.chunks(pieces).try_for_each(|piece| stream.write_all(piece))?;
        }
        Ok(())
    }

    fn take_in(&self, headers: &HashMap<String, String>, body: Vec<u8>) -> Reaction {
        let mut seen = self.seen();
        let signed = SignedHeaders::find(|name| headers.get(name).map(String::as_str));
        let genuine = signed.and_then(|signed| verify(seen.secret.as_slice(), &signed, &body, now_s(), TOLERANCE_S));
        let id = headers.get(railgate::webhook::ID).cloned().unwrap_or_default();
        let reaction = seen.reaction(&id);
        seen.arrivals.push(Arrival { id, body, genuine, reaction });
        self.news.notify_all();
        reaction
    }

    /// Waits until the receiver meets a condition; `server` must keep running.
    fn wait(&self, server: &Server, what: impl Fn(&Seen) -> bool) {
        while !what(&self.seen()) {
            self.rest(server);
        }
    }

    /// Waits until a delivery comes or a short time has passed.
    fn rest(&self, server: &Server) {
        drop(self.news.wait_timeout(self.seen(), LOOK_EVERY).unwrap());
        TcpStream::connect(server.address).expect("the server is gone before it was killed");
    }
}

/// Headers, by lower-case name, and body.
type Request = (HashMap<String, String>, Vec<u8>);

/// The next request; `None` if the connection ends between two requests.
fn read_request(reader: &mut impl BufRead) -> Result<Option<Request>> {
    let (mut headers, mut line) = (HashMap::new(), String::new());
    while reader.read_line(&mut line)? > 0 {
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            if line == "\r\n" {
                let length = headers.get("content-length").map_or(0, |length: &String| length.parse().unwrap());
                let mut body = vec![0; length];
                reader.read_exact(&mut body)?;
                return Ok(Some((headers, body)));
            }
            line.clear();
            continue;
        };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
        line.clear();
    }
    Ok(None)
}

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

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

/// Creates the webhook and gives the receiver its secret; returns its path.
fn make_webhook(client: &mut Client, receiver: &Receiver) -> String {
    let body = json!({ "url": format!("http://{}/hook", receiver.address) });
    let made = client.send("POST", "/api/v1/webhooks", Some(&body.to_string())).unwrap();
    assert_eq!(made.status, 201, "{made:?}");
    receiver.seen().secret = Some(WebhookSecret::parse(made.body["secret"].as_str().unwrap()).unwrap());
    format!("/api/v1/webhooks/{}", made.body["id"].as_str().unwrap())
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
        receiver.wait(&server, |seen| seen.arrivals.len() >= kill_at && (seen.held.is_some() || !holds));
        let killed = Command::new("kill").args(["-KILL", &server.pid().to_string()]).status().unwrap();
        assert!(killed.success());
    });
    server.kill();
    receiver.seen().held = None;
}

/// Waits until every event is numbered, and then until its deliveries are done; returns the feed as of the time in between.
fn drain(server: &Server, account: &Account, webhook: &str, receiver: &Receiver, path: &Path) -> Vec<Value> {
    // The database opened for reading stays as it was when it was opened.
    let unnumbered = || SqliteStore::open_read_only(path).unwrap().scan(&Scan::all(RecordKind::Unlogged, 1)).unwrap();
    while !unnumbered().is_empty() {
        receiver.rest(server);
    }
    let mut client = account.connect(server.address).unwrap();
    let feed = client.feed().unwrap();
    while !deliveries(&mut client, webhook, "pending").is_empty() {
        receiver.rest(server);
    }
    feed
}

fn deliveries(client: &mut Client, webhook: &str, status: &str) -> Vec<Value> {
    let page = client.send("GET", &format!("{webhook}/deliveries?status={status}"), None).unwrap();
    assert_eq!(page.status, 200, "{page:?}");
    page.body["data"].as_array().unwrap().clone()
}

fn by_id(feed: &[Value]) -> HashMap<&str, &Value> {
    feed.iter().map(|entry| (entry["event"]["id"].as_str().unwrap(), &entry["event"])).collect()
}

/// Each arrival matches its event, and all arrivals with one id are the same.
fn assert_true(arrivals: &[Arrival], feed: &[Value]) {
    let events = by_id(feed);
    let mut bodies: HashMap<&str, &[u8]> = HashMap::new();
    for Arrival { id, body, genuine, .. } in arrivals {
        assert_eq!(*genuine, Ok(()), "{id}");
        let event = events.get(id.as_str()).unwrap_or_else(|| panic!("{id} arrived and is not in the feed"));
        let first = *bodies.entry(id).or_insert(body);
        assert!(first == body, "{id} arrived with two bodies");
        let sent: Value = serde_json::from_slice(body).unwrap();
        let told = [&sent["type"], &sent["timestamp"], &sent["data"]["id"], &sent["data"]["reference"], &sent["data"]["sequence"]];
        let happened = ["type", "at", "settlement_id", "reference", "sequence"].map(|member| &event[member]);
        assert_eq!(told, happened, "{id}");
    }
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
fn twelve_kills_lose_no_webhook() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gateway.db");
    let receiver = Receiver::start();
    let mut server = Server::start(&path, &[]);
    let account = enroll(server.address);
    let webhook = make_webhook(&mut account.connect(server.address).unwrap(), &receiver);
    let (next, answered) = (AtomicU64::new(0), Mutex::<Vec<String>>::default());
    receiver.seen().difficult = true;
    for n in 1..=ROUNDS {
        round(n, server, &account, &next, &receiver, &answered);
        server = Server::start(&path, &[]);
    }
    receiver.seen().difficult = false;

    let feed = drain(&server, &account, &webhook, &receiver, &path);
    let mut client = account.connect(server.address).unwrap();
    assert_eq!(deliveries(&mut client, &webhook, "failed"), Vec::<Value>::new());
    let arrivals = receiver.seen().arrivals.clone();
    // Events that happen meanwhile are in the feed before they are delivered.
    assert_true(&arrivals, &client.feed().unwrap());

    let taken = |arrival: &&Arrival| matches!(arrival.reaction, Reaction::Take | Reaction::TakeSlowly);
    let taken: HashSet<&str> = arrivals.iter().filter(taken).map(|arrival| arrival.id.as_str()).collect();
    let missed: Vec<&Value> = feed.iter().filter(|entry| !taken.contains(entry["event"]["id"].as_str().unwrap())).collect();
    assert!(missed.is_empty(), "{} of {} events never arrived: {missed:#?}", missed.len(), feed.len());
    let answered = answered.into_inner().unwrap();
    let accepted = feed.iter().filter(|entry| entry["event"]["type"] == "settlement.accepted");
    let accepted: HashSet<&str> = accepted.map(|entry| entry["event"]["reference"].as_str().unwrap()).collect();
    assert!(answered.iter().all(|reference| accepted.contains(reference.as_str())), "an answered settlement is not in the feed");

    // The receiver misbehaved in every intended way.
    let came = |reaction| arrivals.iter().filter(|arrival| arrival.reaction == reaction).count();
    assert_eq!(came(Reaction::Hold) as u64, ROUNDS.div_ceil(2));
    assert!([Reaction::TakeSlowly, Reaction::Refuse, Reaction::HangUp].iter().all(|reaction| came(*reaction) > 0));

    let some: Vec<String> = answered.iter().step_by(answered.len().div_ceil(20)).cloned().collect();
    assert_proven(&mut client, &some);
    assert!(server.stop(), "a graceful end");
    let verified =
        Command::new(railgate()).args(["ledger", "verify", "--store"]).arg(format!("sqlite:{}", path.display())).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
}
