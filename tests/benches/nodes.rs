//! Durable creates over HTTP with PostgreSQL, by one node and by two, compared with a minimal client of the same server.
//!
//! The minimal client has its rows in advance, checks nothing and reads nothing. It inserts the rows that a node wrote before,
//! one pipelined transaction per settlement, over as many connections as the load has.
//! Load, nodes and database share the machine's cores. Creates are signed before a measurement begins.
//! Arguments: `--seconds N` a measurement (3), `--rounds N` (3), `--connections 1,8,32,128`, `--present 0,1000000,5000000`
//! existing settlements, the first of them 0; the others are measured with 32 connections only, and the
//! minimal client always starts with an empty database.

#[path = "http/load.rs"]
#[allow(dead_code, reason = "another bench needs the rest")]
mod load;
#[path = "nodes/minimal.rs"]
mod minimal;

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use load::{Figures, run};
use minimal::Minimal;
use railgate::auth::Algorithm;
use railgate_tests::binary::Server;
use railgate_tests::figures::figure;
use railgate_tests::postgres::Postgres;
use railgate_tests::presigned::Stock;

/// A typical setting for a server of this size.
const SETTINGS: &str = "shared_buffers = 1GB\nmax_wal_size = 8GB\n";
/// More than two nodes and a database on two cores can write in a second.
const MOST_PER_SECOND: u64 = 10_000;

struct Options {
    seconds: u64,
    rounds: usize,
    connections: Vec<usize>,
    present: Vec<u64>,
}

fn options() -> Options {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned();
    let list = |name: &str, default: &str| value(name).unwrap_or_else(|| default.to_owned());
    Options {
        seconds: value("--seconds").and_then(|it| it.parse().ok()).unwrap_or(3),
        rounds: value("--rounds").and_then(|it| it.parse().ok()).unwrap_or(3),
        connections: list("--connections", "1,8,32,128").split(',').filter_map(|it| it.parse().ok()).collect(),
        present: list("--present", "0,1000000,5000000").split(',').filter_map(|it| it.parse().ok()).collect(),
    }
}

fn main() {
    // `cargo test --benches` only checks that it starts.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let options = options();
    let server = Postgres::start(SETTINGS);
    let (database, bare) = (server.database(), server.database());
    let folder = tempfile::tempdir().expect("a folder");
    let keys = folder.path().join("master.keys");
    let node = |database: &str, outbox: &str| {
        let keys = keys.to_str().expect("a path in UTF-8");
        Server::over(&server.url(database), &["--master-keys", keys, "--outbox", outbox])
    };
    // Both have the schema, and the first has a client whose settlements are cloned.
    drop(node(&bare, "off"));
    println!(
        "settlements present | connections | minimal client/s | p50 ms | p99 ms | 1 node/s | of it | p50 ms | p99 ms | 2 nodes/s | of it | p50 ms | p99 ms"
    );
    println!(
        "-------------------:|------------:|-----------------:|-------:|-------:|---------:|------:|-------:|-------:|----------:|------:|-------:|------:"
    );
    let mut named = 0;
    for (step, present) in options.present.iter().enumerate() {
        if *present > 0 {
            minimal::grow(&server, &database, *present);
        }
        let nodes = [node(&database, "off"), node(&database, "off")];
        let stock = Stock::enroll(nodes[0].address, Algorithm::EcdsaP256Sha256);
        for &connections in options.connections.iter().filter(|it| step == 0 || **it == 32) {
            let (mut plain, mut one, mut two, mut file) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
            for round in 0..options.rounds {
                let count = options.seconds * MOST_PER_SECOND;
                let mut stock_at = |address: SocketAddr, count: u64| {
                    let first = named;
                    named += count;
                    stock.at(address).sign(count, &move |n| create(first + n))
                };
                let mut source = Minimal::behind(&server, &database);
                one.push(run(nodes[0].address, stock_at(nodes[0].address, count), connections, options.seconds));
                let rows = source.rows();
                let halves = nodes.each_ref().map(|node| (node.address, stock_at(node.address, count / 2)));
                two.push(both(halves, connections, options.seconds));
                plain.push(rows.run(&server, &bare, connections, options.seconds));
                if step == 0 {
                    file.push(over_sqlite(&folder.path().join(format!("{connections}-{round}.db")), connections, options.seconds));
                }
            }
            let (plain, one, two) = (median(&mut plain), median(&mut one), median(&mut two));
            figure(&format!("a node over PostgreSQL, {connections} connections, of the minimal client, %"), 100.0 * one.rate / plain.rate);
            println!("{present} | {connections} | {:.0} | {} | {} | {}", plain.rate, times(&plain), row(&one, &plain), row(&two, &plain));
            if step == 0 {
                let file = median(&mut file);
                let percent = 100.0 * one.rate / file.rate;
                eprintln!(
                    "over SQLite, {connections} connections: {:.0}/s, of which one node over PostgreSQL has {percent:.0} %",
                    file.rate
                );
                figure(&format!("a node over PostgreSQL, {connections} connections, of one over SQLite, %"), percent);
            }
        }
    }
}

fn create(n: u64) -> (String, Option<String>) {
    // Spread over the index as real references are.
    let reference = format!("{:08x}-inv-{n}", (n as u32).wrapping_mul(2_654_435_769));
    let body = format!(
        r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"{reference}","description":"Invoice of November, order of 12 crates"}}"#
    );
    ("/api/v1/gateway/settlements".to_owned(), Some(body))
}

/// The same load on a server over a fresh SQLite file.
fn over_sqlite(path: &Path, connections: usize, seconds: u64) -> Figures {
    let server = Server::start(path, &["--outbox", "off"]);
    let requests = Stock::enroll(server.address, Algorithm::EcdsaP256Sha256).sign(seconds * MOST_PER_SECOND, &create);
    run(server.address, requests, connections, seconds)
}

/// Half of the connections to each node, at the same time.
fn both(halves: [(SocketAddr, Vec<Vec<u8>>); 2], connections: usize, seconds: u64) -> Figures {
    let shares = [connections.div_ceil(2), connections / 2];
    std::thread::scope(|scope| {
        let runs = halves.into_iter().zip(shares).filter(|(_, share)| *share > 0);
        let runs: Vec<_> = runs.map(|((address, stock), share)| scope.spawn(move || run(address, stock, share, seconds))).collect();
        Figures::together(runs.into_iter().map(|run| run.join().expect("no panics")).collect())
    })
}

fn median(runs: &mut [Figures]) -> Figures {
    runs.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    runs[runs.len() / 2].clone()
}

fn times(figures: &Figures) -> String {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    format!("{:.2} | {:.2}", ms(figures.p50), ms(figures.p99))
}

fn row(figures: &Figures, plain: &Figures) -> String {
    format!("{:.0} | {:.0} % | {}", figures.rate, 100.0 * figures.rate / plain.rate, times(figures))
}
