//! Webhooks: whether one client's dead endpoint delays the deliveries of the others, and the maximum rate of deliveries.
//!
//! Isolation: 99 clients, each with an endpoint that responds at once, and a hundredth with five times their load, whose
//! endpoint responds too, accepts connections and never responds, or refuses them. The load is the same in all three cases:
//! creates on a schedule. Latency is measured from the event's time, as in its payload, to its arrival at
//! one of the 99; it includes the commit and the numbering of the event.
//!
//! Sustained: the deliveries of the first case are replayed, to the hundredth endpoint alone and to the 99 others, and compared
//! with as many posts of the same body by a minimal hyper client to the same receivers, with as many keep-alive connections as
//! the gateway has deliveries in flight. Both rates are from the first to the last arrival; the gateway's
//! includes writing the replayed deliveries and their results.
//!
//! Spread the load so that the gateway keeps up in the first case; otherwise the comparison is between queue lengths.
//! Gateway, minimal client and receivers share the machine's cores, so only the ratios are comparable. The gateway is the release
//! binary over a fresh SQLite database in each case; the cases take turns. Needs 4,096 open files (`ulimit -n`).
//! Arguments: `--rounds N` (3), `--seconds N` over which the load is spread (12), `--settlements N` of each client in that
//! time (20), `--live N` clients (99), `--deliveries N` about so many in each sustained run (8000).

use std::collections::HashSet;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Request};
use hyper::client::conn::http1::handshake;
use hyper_util::rt::TokioIo;
use railgate::auth::Algorithm;
use railgate::time::parse_rfc3339;
use railgate_tests::binary::Server;
use railgate_tests::client::{Connection, Response};
use railgate_tests::figures::figure;
use railgate_tests::presigned::Stock;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
/// How many deliveries to one endpoint the gateway has in flight at the same time.
const AT_ONCE: usize = 16;
/// The hundredth client's load relative to the others'.
const HEAVY: usize = 5;
/// How many replays are asked for at the same time.
const REPLAYERS: usize = 8;
/// Connections over which the load is sent.
const SENDERS: usize = 16;
/// Longer than any single attempt of a delivery, including the timeout of a dead one.
const PATIENCE: Duration = Duration::from_secs(45);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Dead {
    None,
    Silent,
    Refusing,
}

const CASES: [Dead; 3] = [Dead::None, Dead::Silent, Dead::Refusing];

impl Dead {
    const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Silent => "accepts, never answers",
            Self::Refusing => "refuses connections",
        }
    }
}

struct Options {
    rounds: usize,
    period: Duration,
    settlements: usize,
    live: usize,
    deliveries: usize,
}

fn options() -> Options {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str, default: usize| {
        let given = args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).and_then(|v| v.parse().ok());
        given.unwrap_or(default).max(1)
    };
    Options {
        rounds: value("--rounds", 3),
        period: Duration::from_secs(value("--seconds", 12) as u64),
        settlements: value("--settlements", 20),
        live: value("--live", 99),
        deliveries: value("--deliveries", 8_000),
    }
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if let [_, role, body, each, addresses] = args.as_slice()
        && role == "--minimal-client"
    {
        return minimal_client(Path::new(body), each.parse().expect("a number"), addresses);
    }
    // `cargo test --benches` only checks that it starts.
    if args.iter().any(|a| a == "--bench") {
        measure(&options());
    }
}

fn measure(options: &Options) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut isolation: [Vec<Figures>; 3] = Default::default();
    let mut sustained: [Vec<Rates>; 2] = Default::default();
    for round in 0..options.rounds {
        for turn in 0..CASES.len() {
            let case = (round + turn) % CASES.len();
            let gateway = Gateway::start(&folder.path().join(format!("{round}-{case}.db")), options.live, CASES[case]);
            isolation[case].push(gateway.load(options));
            if CASES[case] == Dead::None {
                let (heavy, others) = (options.live..options.live + 1, 0..options.live);
                sustained[0].push(gateway.sustain(heavy, options.deliveries, folder.path()));
                sustained[1].push(gateway.sustain(others, options.deliveries, folder.path()));
            }
        }
    }
    println!("dead endpoint | live deliveries | live deliveries/s | p50 ms | p99 ms | max ms | p99 to that without");
    println!("--------------|----------------:|------------------:|-------:|-------:|-------:|-------------------:");
    for (case, runs) in CASES.iter().zip(&isolation) {
        let of = |figure: fn(&Figures) -> f64| median(runs.iter().map(figure));
        let max = runs.iter().map(|run| run.max).fold(0.0, f64::max);
        // Compared within a round, because the machine's speed differs between rounds.
        let ratio = median(runs.iter().zip(&isolation[0]).map(|(run, none)| run.p99 / none.p99));
        let (count, rate) = (runs[0].count, of(|run| run.rate));
        println!("{} | {count} | {rate:.0} | {:.1} | {:.1} | {max:.1} | {ratio:.2}", case.name(), of(|run| run.p50), of(|run| run.p99));
    }
    println!();
    println!("endpoints | deliveries | gateway/s | minimal client/s | ratio");
    println!("---------:|-----------:|----------:|-----------------:|------:");
    for (endpoints, runs) in [1, options.live].into_iter().zip(&sustained) {
        let (gateway, minimal) = (median(runs.iter().map(|r| r.gateway)), median(runs.iter().map(|r| r.minimal)));
        let ratio = 100.0 * gateway / minimal;
        println!("{endpoints} | {} | {gateway:.0} | {minimal:.0} | {ratio:.0} %", runs[0].count);
        figure(&format!("webhooks to {endpoints} endpoints, of a minimal client, %"), ratio);
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// Results of the live endpoints; times in milliseconds.
struct Figures {
    count: usize,
    rate: f64,
    p50: f64,
    p99: f64,
    max: f64,
}

/// Rates, in arrivals a second.
struct Rates {
    count: usize,
    gateway: f64,
    minimal: f64,
}

/// A gateway with its clients, the last of which has the endpoint that may be dead.
struct Gateway {
    server: Server,
    clients: Vec<Client>,
    receivers: Receivers,
    /// Clients whose endpoints answer; they come first.
    answering: usize,
    /// The number of events of a settlement.
    events: usize,
}

struct Client {
    stock: Stock,
    webhook: String,
}

impl Gateway {
    /// Makes one delivery to every live endpoint first, so that the first connection is not measured.
    fn start(path: &Path, live: usize, dead: Dead) -> Self {
        let server = Server::start(path, &[]);
        let receivers = Receivers::start(live, dead);
        let mut connection = Connection::open(server.address).expect("connecting");
        let clients: Vec<Client> = receivers.addresses.iter().map(|endpoint| Client::enroll(&server, &mut connection, *endpoint)).collect();
        let answering = if dead == Dead::None { live + 1 } else { live };
        let mut gateway = Self { server, clients, receivers, answering, events: 0 };
        let mut create = |client: usize| expect(201, gateway.post(&mut connection, client, SETTLEMENTS, &settlement("first")));
        create(0);
        let mut seen = HashSet::new();
        let events = gateway.receivers.until(|arrival| {
            let body = arrival.body();
            seen.insert(arrival.id.clone());
            (body["type"] == "settlement.completed").then(|| body["data"]["sequence"].as_u64().expect("a number") as usize)
        });
        gateway.receivers.collect(events - seen.len(), &mut seen);
        (1..answering).for_each(create);
        gateway.receivers.collect(events * (answering - 1), &mut seen);
        gateway.events = events;
        gateway
    }

    fn post(&self, connection: &mut Connection, client: usize, path: &str, body: &str) -> Response {
        self.clients[client].post(connection, path, body)
    }

    /// Sends the load and waits until all of it has arrived at the live endpoints.
    fn load(&self, options: &Options) -> Figures {
        let last = self.clients.len() - 1;
        let mut calls = Vec::new();
        for (c, client) in self.clients.iter().enumerate() {
            let count = if c == last { HEAVY * options.settlements } else { options.settlements };
            let signed = client.stock.sign(count as u64, &|n| (SETTLEMENTS.to_owned(), Some(settlement(&n.to_string()))));
            // Evenly over the period, with the clients staggered.
            let due = |n: usize| options.period.mul_f64((n as f64 + c as f64 / self.clients.len() as f64) / count as f64);
            calls.extend(signed.into_iter().enumerate().map(|(n, call)| (due(n), call)));
        }
        calls.sort_by_key(|(due, _)| *due);
        send(self.server.address, &calls);

        let of_live = options.settlements * last;
        let of_last = if self.answering > last { HEAVY * options.settlements } else { 0 };
        let mut arrivals = self.receivers.collect((of_live + of_last) * self.events, &mut HashSet::new());
        arrivals.retain(|arrival| arrival.endpoint < last);
        let mut delays: Vec<f64> = arrivals.iter().map(Arrival::delay_ms).collect();
        delays.sort_by(f64::total_cmp);
        let at = |q: usize| delays[(delays.len() - 1) * q / 100];
        Figures { count: delays.len(), rate: rate(&arrivals), p50: at(50), p99: at(99), max: at(100) }
    }

    /// Has about this many deliveries to these endpoints replayed, by several calls at the same time; returns how many.
    fn replay(&self, endpoints: &std::ops::Range<usize>, deliveries: usize) -> usize {
        let (next, queued) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (address, clients) = (self.server.address, &self.clients[endpoints.clone()]);
        std::thread::scope(|scope| {
            for _ in 0..REPLAYERS.min(clients.len()) {
                scope.spawn(|| {
                    let mut connection = Connection::open(address).expect("connecting");
                    while queued.load(Ordering::Relaxed) < deliveries {
                        let client = &clients[next.fetch_add(1, Ordering::Relaxed) % clients.len()];
                        let path = format!("{}/replay", client.webhook);
                        let answer = client.post(&mut connection, &path, r#"{"since":"2026-01-01T00:00:00Z"}"#);
                        // The queue is full.
                        if answer.status == 409 {
                            break;
                        }
                        let replayed = answer.body["queued"].as_u64().unwrap_or(0) as usize;
                        assert!(answer.status == 202 && replayed > 0, "{answer:?}");
                        queued.fetch_add(replayed, Ordering::Relaxed);
                    }
                });
            }
        });
        queued.into_inner()
    }

    /// Replays about this many deliveries to these endpoints at full speed, and posts as many without the gateway.
    fn sustain(&self, endpoints: std::ops::Range<usize>, deliveries: usize, folder: &Path) -> Rates {
        let queued = self.replay(&endpoints, deliveries);
        let arrivals = self.receivers.any(queued);
        let body = folder.join("body.json");
        std::fs::write(&body, &arrivals[0].body).expect("writing");
        let each = queued / endpoints.len();
        let addresses: Vec<String> = self.receivers.addresses[endpoints.clone()].iter().map(SocketAddr::to_string).collect();
        let mut minimal = Command::new(std::env::current_exe().expect("own path"));
        let done = minimal.arg("--minimal-client").arg(&body).args([each.to_string(), addresses.join(",")]).status().expect("starting");
        assert!(done.success(), "the minimal client failed");
        let posted = self.receivers.any(each * endpoints.len());
        Rates { count: queued, gateway: rate(&arrivals), minimal: rate(&posted) }
    }
}

impl Client {
    fn enroll(server: &Server, connection: &mut Connection, endpoint: SocketAddr) -> Self {
        let mut client = Self { stock: Stock::enroll(server.address, Algorithm::Ed25519), webhook: String::new() };
        let body = json!({"url": format!("http://{endpoint}/hook")}).to_string();
        let made = client.post(connection, "/api/v1/webhooks", &body);
        client.webhook = format!("/api/v1/webhooks/{}", made.body["id"].as_str().unwrap_or_else(|| panic!("{made:?}")));
        client
    }

    fn post(&self, connection: &mut Connection, path: &str, body: &str) -> Response {
        let call = self.stock.sign(1, &|_| (path.to_owned(), Some(body.to_owned()))).remove(0);
        connection.exchange(&call).expect("an answer")
    }
}

fn settlement(name: &str) -> String {
    json!({"amount": 0.01, "currency": "EUR", "to": "msisdn:+254700000001", "reference": format!("inv-2026-{name}")}).to_string()
}

fn expect(status: u16, answer: Response) {
    assert_eq!(answer.status, status, "{answer:?}");
}

/// Sends each call at its scheduled time, or as soon as a connection is free.
fn send(address: SocketAddr, calls: &[(Duration, Vec<u8>)]) {
    let next = AtomicUsize::new(0);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..SENDERS.min(calls.len()) {
            scope.spawn(|| {
                let mut connection = Connection::open(address).expect("connecting");
                while let Some((due, call)) = calls.get(next.fetch_add(1, Ordering::Relaxed)) {
                    std::thread::sleep(due.saturating_sub(began.elapsed()));
                    expect(201, connection.exchange(call).expect("an answer"));
                }
            });
        }
    });
}

/// A delivery that arrived.
struct Arrival {
    endpoint: usize,
    at: SystemTime,
    /// `webhook-id`; empty for the minimal client's.
    id: String,
    body: Bytes,
}

impl Arrival {
    fn body(&self) -> Value {
        serde_json::from_slice(&self.body).expect("JSON")
    }

    /// The time since its event, whose timestamp has whole milliseconds.
    fn delay_ms(&self) -> f64 {
        let event = self.body()["timestamp"].as_str().and_then(parse_rfc3339).expect("a timestamp");
        self.at.duration_since(UNIX_EPOCH).expect("after 1970").as_secs_f64() * 1e3 - event as f64
    }
}

/// The rate of arrivals a second, from the first to the last.
fn rate(arrivals: &[Arrival]) -> f64 {
    let times = || arrivals.iter().map(|arrival| arrival.at);
    let (Some(first), Some(last)) = (times().min(), times().max()) else { return 0.0 };
    (arrivals.len() - 1) as f64 / last.duration_since(first).expect("later").as_secs_f64()
}

/// The endpoints, each with its own listener. Live ones respond at once.
struct Receivers {
    addresses: Vec<SocketAddr>,
    arrivals: mpsc::Receiver<Arrival>,
    /// A port without a listener that nothing else gets.
    _refusing: Option<TcpSocket>,
    _runtime: Runtime,
}

type Inbox = (usize, mpsc::Sender<Arrival>);

async fn take(State((endpoint, inbox)): State<Inbox>, headers: HeaderMap, body: Bytes) {
    let id = headers.get("webhook-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
    // At the end nobody receives.
    let _ = inbox.send(Arrival { endpoint, at: SystemTime::now(), id, body });
}

impl Receivers {
    fn start(live: usize, dead: Dead) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
        let (inbox, arrivals) = mpsc::channel();
        let answering = if dead == Dead::None { live + 1 } else { live };
        let mut addresses: Vec<SocketAddr> = (0..answering)
            .map(|endpoint| {
                let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).expect("binding");
                let address = listener.local_addr().expect("bound");
                let router = Router::new().fallback(take).with_state((endpoint, inbox.clone()));
                let listener = axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true)));
                runtime.spawn(axum::serve(listener, router).into_future());
                address
            })
            .collect();
        let mut refusing = None;
        match dead {
            Dead::None => {}
            Dead::Silent => addresses.push(runtime.block_on(silent())),
            Dead::Refusing => {
                let socket = TcpSocket::new_v4().expect("a socket");
                socket.bind("127.0.0.1:0".parse().expect("an address")).expect("binding");
                addresses.push(socket.local_addr().expect("bound"));
                refusing = Some(socket);
            }
        }
        Self { addresses, arrivals, _refusing: refusing, _runtime: runtime }
    }

    /// Receives arrivals until `done` returns true for one of them.
    fn until<T>(&self, mut done: impl FnMut(&Arrival) -> Option<T>) -> T {
        loop {
            let arrival = self.arrivals.recv_timeout(PATIENCE).expect("a delivery arrives");
            if let Some(found) = done(&arrival) {
                return found;
            }
        }
    }

    /// Receives this many further arrivals.
    fn any(&self, count: usize) -> Vec<Arrival> {
        let arrival = |n| self.arrivals.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("only {n} of {count} deliveries arrived"));
        (0..count).map(arrival).collect()
    }

    /// Receives this many deliveries that were not `seen`, each at its first arrival.
    fn collect(&self, count: usize, seen: &mut HashSet<String>) -> Vec<Arrival> {
        let mut all = Vec::with_capacity(count);
        while all.len() < count {
            all.extend(self.any(1).into_iter().filter(|arrival| seen.insert(arrival.id.clone())));
        }
        all
    }
}

/// Accepts connections and never responds.
async fn silent() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("binding");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    address
}

/// The reference, as a separate process: only posts the body `each` times to every address.
fn minimal_client(body: &Path, each: usize, addresses: &str) {
    let body = Bytes::from(std::fs::read(body).expect("a body"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let mut connections = Vec::new();
        for address in addresses.split(',') {
            for n in 0..AT_ONCE {
                let stream = TcpStream::connect(address).await.expect("connecting");
                stream.set_nodelay(true).expect("nodelay");
                let (sender, connection) = handshake::<_, Body>(TokioIo::new(stream)).await.expect("HTTP");
                tokio::spawn(connection);
                let share = each / AT_ONCE + usize::from(n < each % AT_ONCE);
                connections.push((sender, share, address.to_owned()));
            }
        }
        let mut posting = JoinSet::new();
        for (mut sender, share, address) in connections {
            let body = body.clone();
            posting.spawn(async move {
                for _ in 0..share {
                    let request = Request::post("/hook").header("host", &address).header("content-type", "application/json");
                    let response = sender.send_request(request.body(Body::from(body.clone())).expect("valid")).await.expect("an answer");
                    assert!(response.status().is_success(), "{response:?}");
                    to_bytes(Body::new(response.into_body()), 1 << 10).await.expect("a body");
                    sender.ready().await.expect("kept alive");
                }
            });
        }
        posting.join_all().await;
    });
}
