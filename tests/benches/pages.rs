//! What a page costs as the gateway grows: lists, statements and the queue of reviews over few and over many settlements.
//!
//! Two SQLite databases are filled by the engine itself: every payment is paid, numbered and booked, and one in a hundred waits for a
//! person. Then pages are read from both in turn, each at a random place, through the functions that the server calls.
//!
//! Arguments: `--few N` settlements (10000), `--many N` (1000000), `--pages N` read of each kind and size (2000).

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use railgate::api::Caller;
use railgate::engine::{Create, Enroll, NumberEvents};
use railgate::env::{Env as _, ManualEnv};
use railgate::seal::MasterKeys;
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::time::rfc3339;
use railgate::{Config, Engine};

const START: i64 = 1_795_257_497_042;
const DAY: i64 = 86_400_000;
const GROUP: u64 = 1_000;
const PAGE: usize = 50;
/// Between the creations of two settlements.
const APART: i64 = 100;

fn main() {
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let (few, many, pages) = (argument("--few", 10_000), argument("--many", 1_000_000), argument("--pages", 2_000));
    let folder = tempfile::tempdir().expect("a folder");
    let books = [few, many].map(|present| Filled::with(&folder.path().join(format!("{present}.db")), present));
    println!("page of {PAGE} | few: p50 µs | p99 µs | many: p50 µs | p99 µs | p50 moved by");
    println!("-----------|-----------:|-------:|-------------:|-------:|------------:");
    for (name, read) in KINDS {
        let mut took = [Vec::new(), Vec::new()];
        // The first tenth warms the caches.
        for n in 0..pages + pages / 10 {
            for (filled, took) in books.iter().zip(&mut took) {
                let begun = Instant::now();
                read(filled, n);
                if n >= pages / 10 {
                    took.push(begun.elapsed());
                }
            }
        }
        row(name, &mut took);
    }
}

fn argument(name: &str, default: u64) -> u64 {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(default)
}

fn row(name: &str, took: &mut [Vec<Duration>; 2]) {
    took.iter_mut().for_each(|took| took.sort_unstable());
    let at = |size: usize, percent: usize| took[size].get(took[size].len() * percent / 100).map_or(f64::NAN, Duration::as_secs_f64) * 1e6;
    let moved = 100.0 * (at(1, 50) / at(0, 50) - 1.0);
    println!("{name} | {:.0} | {:.0} | {:.0} | {:.0} | {moved:+.0} %", at(0, 50), at(0, 99), at(1, 50), at(1, 99));
}

type Read = fn(&Filled, u64);

const KINDS: [(&str, Read); 7] = [
    ("settlements, newest", |filled, _| filled.list(&[])),
    ("settlements, before some time", |filled, n| filled.list(&[("created_to", filled.some_time(n))])),
    ("settlements of all clients, before some time", Filled::list_all),
    ("statement, newest", |filled, _| filled.statement(None)),
    ("statement, before some time", |filled, n| filled.statement(Some(filled.some_millis(n)))),
    ("reviews, oldest", |filled, _| filled.reviews(0)),
    ("reviews, the next page", |filled, _| filled.reviews(1)),
];

/// A gateway with so many settlements of one client.
struct Filled {
    engine: Engine,
    caller: Caller,
    present: u64,
}

impl Filled {
    fn with(path: &Path, present: u64) -> Self {
        // What is measured are reads: filling need not wait for the disk.
        let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
        let store = Arc::new(SqliteStore::open_with(path, options).expect("a database"));
        let env = Arc::new(ManualEnv::new(START, 1));
        let config = Config { master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))), ..Config::default() };
        let engine = Engine::open(store, env.clone(), config).expect("an engine");
        let caller = engine.run(Enroll { name: "Shop".to_owned(), key: None }).expect("a client").caller;
        let begun = Instant::now();
        for group in 0..present / GROUP {
            let create = |n| {
                let to = if n % 100 == 0 { "sim:timeout-never" } else { "sim:ok" };
                let body = format!(r#"{{"amount":0.01,"currency":"EUR","to":"{to}","reference":"r-{group}-{n}"}}"#);
                Create { caller, request: Box::new(engine.parse_create(body.as_bytes()).expect("a request")) }
            };
            for ten in 0..GROUP / 10 {
                env.advance_to(env.now() + 10 * APART);
                assert!(engine.run_all((ten * 10..ten * 10 + 10).map(create)).iter().all(Result::is_ok));
            }
            while engine.work(1_000, &()).expect("a round") > 0 {}
            while engine.run(NumberEvents { limit: 10_000 }).expect("numbers").more {}
            if group % 50 == 49 {
                eprintln!("{} of {present} settlements after {:.0?}", (group + 1) * GROUP, begun.elapsed());
            }
        }
        // A day later nobody knows yet what became of one in a hundred.
        for _ in 0..26 {
            env.advance_to(env.now() + DAY / 24);
            while engine.work(1_000, &()).expect("a round") > 0 {}
            while engine.run(NumberEvents { limit: 10_000 }).expect("numbers").more {}
        }
        Self { engine, caller, present }
    }

    /// Some time while it was filled, when at least a group was paid; another one for each `n`.
    fn some_millis(&self, n: u64) -> i64 {
        let draw = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
        let after = GROUP * 2 + draw % (self.present - GROUP * 2);
        START + i64::try_from(after).expect("few") * APART
    }

    fn some_time(&self, n: u64) -> String {
        rfc3339(self.some_millis(n))
    }

    fn list(&self, query: &[(&str, String)]) {
        let query: Vec<_> = query.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let page = self.engine.parse_list(&query).and_then(|request| self.engine.list(&self.caller, &request)).expect("a page");
        assert_eq!(page.data.len(), PAGE);
    }

    fn list_all(&self, n: u64) {
        let query = [("created_to".to_owned(), self.some_time(n))];
        let page = self.engine.parse_list(&query).and_then(|request| self.engine.list_all(&request)).expect("a page");
        assert_eq!(page.data.len(), PAGE);
    }

    fn statement(&self, to: Option<i64>) {
        let request = self.engine.statement_request(&self.caller, "EUR", (None, to), None, PAGE).expect("a request");
        assert_eq!(self.engine.statement(&request).expect("a page").data.len(), PAGE);
    }

    fn reviews(&self, after: usize) {
        let mut cursor = None;
        for _ in 0..=after {
            let page = self.engine.reviews_page(false, cursor.as_deref(), PAGE).expect("a page");
            assert_eq!(page.data.len(), PAGE);
            cursor = page.next_cursor;
        }
    }
}
