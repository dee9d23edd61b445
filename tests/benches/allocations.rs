//! How often the server allocates memory for a call: all of its threads, everything but SQLite's own C code.
//!
//! The server runs in a child process whose allocator counts. Calls are signed in a session, beforehand. Arguments:
//! `--calls N` of each kind (20000), `--connections N` (64).

#[path = "http/load.rs"]
#[allow(dead_code, reason = "another bench needs the rest")]
mod load;

use std::alloc::System;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use railgate::auth::Algorithm;
use railgate::store::sqlite::SqliteStore;
use railgate_server::{Hosted, start_with};
use railgate_tests::figures::figure;
use railgate_tests::presigned::Stock;
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let after = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1));
    if let Some(path) = after("--serve") {
        return serve(path);
    }
    if !args.iter().any(|a| a == "--bench") {
        return;
    }
    let number = |name: &str, default: u64| after(name).and_then(|v| v.parse().ok()).unwrap_or(default);
    let (calls, connections) = (number("--calls", 20_000), number("--connections", 64) as usize);
    let folder = tempfile::tempdir().expect("a folder");
    let mut server = Counted::start(&folder.path().join("allocations.db"));
    let stock = Stock::enroll(server.address, Algorithm::EcdsaP256Sha256).in_session();
    println!("call | connections | calls | allocations a call");
    println!("-----|------------:|------:|-------------------:");
    let status = |_: u64| (format!("{SETTLEMENTS}/inv-2026-{:012}/status", 0), None);
    for (name, make) in [("create", &create as &(dyn Fn(u64) -> (String, Option<String>) + Sync)), ("short status", &status)] {
        let requests = stock.sign(calls, make);
        let before = server.allocations();
        let count = load::run(server.address, requests, connections, 600).count as f64;
        let each = (server.allocations() - before) as f64 / count;
        println!("{name} | {connections} | {count} | {each:.1}");
        figure(&format!("allocations: {name}"), each);
    }
}

fn create(n: u64) -> (String, Option<String>) {
    let body = format!(
        r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"inv-2026-{n:012}","description":"Invoice of November, order of 12 crates","metadata":{{"order":"4711-0815","branch":"Nairobi West"}}}}"#
    );
    (SETTLEMENTS.to_owned(), Some(body))
}

/// The server, in a process of its own. Dropping it kills it.
struct Counted {
    child: Child,
    ask: ChildStdin,
    told: BufReader<ChildStdout>,
    address: SocketAddr,
}

impl Counted {
    fn start(path: &std::path::Path) -> Self {
        let exe = std::env::current_exe().expect("own path");
        let mut child = Command::new(exe).arg("--serve").arg(path).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let (ask, told) = (child.stdin.take().expect("piped"), BufReader::new(child.stdout.take().expect("piped")));
        let mut server = Self { child, ask, told, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        server.address = server.line().parse().expect("an address");
        server
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.told.read_line(&mut line).expect("a line");
        line.trim().to_owned()
    }

    /// How often it has allocated so far.
    fn allocations(&mut self) -> u64 {
        writeln!(self.ask).expect("asking");
        self.line().parse().expect("a number")
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves, and prints the count for each line that it reads.
fn serve(path: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let mut hosted = Hosted::over(Arc::new(SqliteStore::open(path).expect("opening")));
    hosted.worker.carries = false;
    let started = start_with(hosted, "127.0.0.1:0".parse().expect("an address"), None);
    let running = runtime.block_on(started).expect("starting");
    println!("{}", running.address());
    for line in std::io::stdin().lines() {
        line.expect("a line");
        let stats = ALLOCATOR.stats();
        println!("{}", stats.allocations + stats.reallocations);
    }
}
