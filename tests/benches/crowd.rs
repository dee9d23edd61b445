//! What a client notices of another that takes all it may: p99 of its calls beside a flood, compared with the same calls in quiet,
//! interleaved in the same run.
//!
//! 1. One client floods with batches at its quota's limit; ten others create a payment a second each and wait for its end.
//! 2. One client sends the worst lists in parallel over its million settlements; another reads its own settlements.
//!
//! Arguments: `--seconds N` a measurement (30), `--rounds N` (3), `--quota N` elements a minute of the flood (600, the default of a
//! server), `--lists N` in parallel (64), `--present N` settlements of the one who lists (1000000; 0 skips the second part).

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

use railgate::api::Caller;
use railgate::auth::Algorithm;
use railgate::engine::Create;
use railgate::env::SystemEnv;
use railgate::ledger::Mode;
use railgate::store::record::{ClientRecord, RecordKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store as _, typed};
use railgate::{Config, Engine};
use railgate_tests::binary::Server;
use railgate_tests::client::Connection;
use railgate_tests::presigned::Stock;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
const OTHERS: usize = 10;
const BATCH: u64 = 1_000;
const CHANGES: u64 = 6;

fn main() {
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let (seconds, rounds) = (argument("--seconds", 30), argument("--rounds", 3));
    println!("beside | of others | p50 ms quiet | p50 ms | p99 ms quiet | p99 ms | p99 moved by");
    println!("-------|-----------|-------------:|-------:|-------------:|-------:|------------:");
    let quota = argument("--quota", 600);
    let (mut quiet, mut loud) = (Paid::default(), Paid::default());
    for round in 0..rounds {
        quiet.add(beside_batches(0, seconds, &format!("q{round}")));
        loud.add(beside_batches(quota, seconds, &format!("l{round}")));
    }
    let flood = format!("batches of {BATCH}, {quota} elements a minute");
    row(&flood, "a create", &mut quiet.created, &mut loud.created);
    row(&flood, "… to its end", &mut quiet.completed, &mut loud.completed);
    let (present, lists) = (argument("--present", 1_000_000), argument("--lists", 64));
    if present > 0 {
        let folder = tempfile::tempdir().expect("a folder");
        let crowd = Crowd::fill(folder.path(), present);
        let (mut quiet, mut loud) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            quiet.extend(crowd.reads(0, seconds));
            loud.extend(crowd.reads(lists, seconds));
        }
        row(&format!("{lists} lists over {present} settlements"), "a status", &mut quiet, &mut loud);
    }
}

fn argument(name: &str, default: u64) -> u64 {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(default)
}

fn row(beside: &str, of: &str, quiet: &mut [Duration], loud: &mut [Duration]) {
    let at = |runs: &mut [Duration], q: usize| {
        runs.sort_unstable();
        runs.get((runs.len().max(1) - 1) * q / 100).map_or(f64::NAN, Duration::as_secs_f64) * 1e3
    };
    let (p50, p99) = ((at(quiet, 50), at(loud, 50)), (at(quiet, 99), at(loud, 99)));
    let moved = 100.0 * (p99.1 / p99.0 - 1.0);
    println!("{beside} | {of} | {:.2} | {:.2} | {:.2} | {:.2} | {moved:+.0} %", p50.0, p50.1, p99.0, p99.1);
}

/// How long payments took.
#[derive(Default)]
struct Paid {
    created: Vec<Duration>,
    completed: Vec<Duration>,
}

impl Paid {
    fn add(&mut self, other: Self) {
        self.created.extend(other.created);
        self.completed.extend(other.completed);
    }
}

fn payment(reference: &str) -> String {
    format!(r#"{{"amount":0.01,"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#)
}

/// The payments of ten clients over these seconds, beside one that sends `quota` elements a minute in batches; 0 for none.
fn beside_batches(quota: u64, seconds: u64, run: &str) -> Paid {
    let folder = tempfile::tempdir().expect("a folder");
    let limit = format!("100000/{}", quota.max(600));
    let server = Server::start(&folder.path().join("crowd.db"), &["--rate-limit", &limit]);
    let stop = Arc::new(AtomicBool::new(false));
    let flood = (quota > 0).then(|| flood(server.address, quota, seconds, Arc::clone(&stop)));
    let others: Vec<JoinHandle<Paid>> = (0..OTHERS).map(|n| payer(server.address, seconds, format!("{run}-{n}"), n)).collect();
    let mut paid = Paid::default();
    others.into_iter().for_each(|other| paid.add(other.join().expect("no panics")));
    stop.store(true, Ordering::Relaxed);
    if let Some(flood) = flood {
        let taken = flood.join().expect("no panics");
        eprintln!("{taken} elements of batches were accepted in {seconds} s");
    }
    paid
}

/// Sends batches as fast as they are taken, over four connections; returns how many elements were.
fn flood(address: SocketAddr, quota: u64, seconds: u64, stop: Arc<AtomicBool>) -> JoinHandle<u64> {
    let stock = Stock::enroll(address, Algorithm::Ed25519);
    let element = |batch: u64, n: u64| payment(&format!("flood-{batch}-{n}"));
    let body = move |batch: u64| {
        let elements: Vec<String> = (0..BATCH).map(|n| element(batch, n)).collect();
        (format!("{SETTLEMENTS}/batch"), Some(format!(r#"{{"settlements":[{}]}}"#, elements.join(","))))
    };
    // What the quota allows, and what is refused: ten a second over each connection.
    let count = quota * (seconds + 60) / 60 / BATCH + 40 * seconds + 40;
    let calls = Arc::new(stock.sign(count, &body));
    spawn(move || {
        let (next, taken) = (AtomicU64::new(0), AtomicU64::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let mut connection = Connection::open(address).expect("connecting");
                    while !stop.load(Ordering::Relaxed)
                        && let Some(call) = calls.get(usize::try_from(next.fetch_add(1, Ordering::Relaxed)).expect("few"))
                    {
                        let response = connection.exchange(call).expect("an answer");
                        match response.status {
                            200 => _ = taken.fetch_add(BATCH, Ordering::Relaxed),
                            // Its quota is used up, or too many of its commands wait already.
                            429 | 503 => sleep(Duration::from_millis(100)),
                            _ => panic!("{response:?}"),
                        }
                    }
                });
            }
        });
        taken.into_inner()
    })
}

/// Pays once a second, and waits for the end of each payment.
fn payer(address: SocketAddr, seconds: u64, name: String, n: usize) -> JoinHandle<Paid> {
    let stock = Stock::enroll(address, Algorithm::Ed25519);
    let count = seconds;
    let create = |at: u64| (SETTLEMENTS.to_owned(), Some(payment(&format!("{name}-{at}"))));
    let wait = |at: u64| (format!("{SETTLEMENTS}/{name}-{at}/status?wait=30"), None);
    // Each wait ends with the next change; a payment has few.
    let waits = stock.sign(CHANGES * count, &|n| wait(n / CHANGES));
    let creates = stock.sign(count, &create);
    spawn(move || {
        let mut connection = Connection::open(address).expect("connecting");
        let mut paid = Paid::default();
        let begun = Instant::now() + Duration::from_millis(97 * n as u64);
        for (at, (create, waits)) in creates.iter().zip(waits.chunks(CHANGES as usize)).enumerate() {
            sleep((begun + Duration::from_secs(at as u64)).saturating_duration_since(Instant::now()));
            let sent = Instant::now();
            let response = connection.exchange(create).expect("an answer");
            assert_eq!(response.status, 201, "{response:?}");
            paid.created.push(sent.elapsed());
            let mut changes = waits.iter().map(|wait| connection.exchange(wait).expect("an answer"));
            assert!(changes.any(|change| change.body["status"] == "completed"), "it has completed");
            paid.completed.push(sent.elapsed());
        }
        paid
    })
}

/// A server whose one client has many settlements, and another few.
struct Crowd {
    server: Server,
    many: Stock,
    few: Stock,
}

impl Crowd {
    fn fill(folder: &Path, present: u64) -> Self {
        let path = folder.join("lists.db");
        let options = ["--outbox", "off", "--rate-limit", "1000000/1000000"];
        let server = Server::start(&path, &options);
        let port = server.address.to_string();
        let (many, few) = (Stock::enroll(server.address, Algorithm::Ed25519), Stock::enroll(server.address, Algorithm::Ed25519));
        let one = few.sign(1, &|_| (SETTLEMENTS.to_owned(), Some(payment("mine"))));
        assert_eq!(Connection::open(server.address).and_then(|mut to| to.exchange(&one[0])).expect("an answer").status, 201);
        assert!(server.stop());
        let store = Arc::new(SqliteStore::open(&path).expect("the database"));
        let clients = store.scan(&Scan::all(RecordKind::Client, 1)).expect("clients").pop();
        let client: ClientRecord = typed(clients).expect("a client").expect("a client");
        let caller = Caller::client(client.no, client.id, Mode::Sandbox);
        let engine = Engine::open(store, Arc::new(SystemEnv::default()), Config::default()).expect("an engine");
        for group in 0..present / BATCH {
            let create = |n| {
                let request = engine.parse_create(payment(&format!("many-{group}-{n}")).as_bytes()).expect("a request");
                Create { caller, request: Box::new(request) }
            };
            assert!(engine.run_all((0..BATCH).map(create)).iter().all(Result::is_ok));
        }
        drop(engine);
        let again: Vec<&str> = options.iter().copied().chain(["--listen", &port]).collect();
        Self { server: Server::start(&path, &again), many, few }
    }

    /// The reads of the one with few settlements, fifty a second, beside `lists` in parallel of the other.
    fn reads(&self, lists: u64, seconds: u64) -> Vec<Duration> {
        let address = self.server.address;
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let list = |_| (format!("{SETTLEMENTS}?to=acct:nobody&min_amount=5"), None);
        let calls = Arc::new(self.many.sign(if lists == 0 { 0 } else { 20_000 }, &list));
        let next = Arc::new(AtomicU64::new(0));
        let crowd: Vec<_> = (0..lists)
            .map(|_| {
                let (stop, answered, calls, next) = (Arc::clone(&stop), Arc::clone(&answered), Arc::clone(&calls), Arc::clone(&next));
                spawn(move || {
                    let mut connection = Connection::open(address).expect("connecting");
                    while !stop.load(Ordering::Relaxed)
                        && let Some(call) = calls.get(usize::try_from(next.fetch_add(1, Ordering::Relaxed)).expect("few"))
                    {
                        let response = connection.exchange(call).expect("an answer");
                        assert!(matches!(response.status, 200 | 429 | 503), "{response:?}");
                        answered.fetch_add(u64::from(response.status == 200), Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let reads = self.few.sign(50 * seconds, &|_| (format!("{SETTLEMENTS}/mine/status"), None));
        let mut connection = Connection::open(address).expect("connecting");
        let begun = Instant::now();
        let mut took = Vec::new();
        for (at, read) in reads.iter().enumerate() {
            sleep((begun + Duration::from_millis(20 * at as u64)).saturating_duration_since(Instant::now()));
            let sent = Instant::now();
            let response = connection.exchange(read).expect("an answer");
            assert_eq!(response.status, 200, "{response:?}");
            took.push(sent.elapsed());
        }
        stop.store(true, Ordering::Relaxed);
        crowd.into_iter().for_each(|one| one.join().expect("no panics"));
        if lists > 0 {
            eprintln!("{} lists were answered in {seconds} s", answered.load(Ordering::Relaxed));
        }
        took
    }
}
