//! Durable creates over HTTP compared with a bare axum JSON echo of the same body, interleaved in the same run; with
//! `--signed`, signed calls with and without verification of their signatures; with `--sessions`, calls signed in a session and by a P-256
//! key, compared with the echo.
//!
//! Load generator and server share the machine's cores, so only the ratio is comparable. Requests are signed before a
//! measurement begins. Creates are measured twice: alone (`--outbox off`), and with the outbox sending them meanwhile,
//! as a gateway does. Arguments: `--seconds N` a measurement (3), `--rounds N` (3), `--connections 1,16,64,256` (of
//! `--signed`: 64; of `--sessions`: 64,256).

mod child;
#[allow(dead_code, reason = "another bench needs the rest")]
mod load;

use std::net::SocketAddr;
use std::path::Path;

use child::Server;
use load::{Figures, MOST_PER_SECOND, run};
use railgate::auth::Algorithm;
use railgate_tests::binary;
use railgate_tests::client::{Connection, call, render};
use railgate_tests::figures::figure;
use railgate_tests::presigned::Stock;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

fn body(n: u64) -> String {
    format!(
        r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"inv-2026-{n:012}","description":"Invoice of November, order of 12 crates","metadata":{{"order":"4711-0815","branch":"Nairobi West"}}}}"#
    )
}

fn create(n: u64) -> (String, Option<String>) {
    (SETTLEMENTS.to_owned(), Some(body(n)))
}

fn status(_: u64) -> (String, Option<String>) {
    (format!("{SETTLEMENTS}/inv-2026-{:012}/status", u64::MAX), None)
}

struct Options {
    seconds: u64,
    rounds: usize,
    connections: Vec<usize>,
}

fn options(connections: &str) -> Options {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).cloned();
    Options {
        seconds: value("--seconds").and_then(|v| v.parse().ok()).unwrap_or(3),
        rounds: value("--rounds").and_then(|v| v.parse().ok()).unwrap_or(3),
        connections: value("--connections").as_deref().unwrap_or(connections).split(',').filter_map(|c| c.parse().ok()).collect(),
    }
}

fn main() {
    if child::main() {
        return;
    }
    // `cargo test --benches` only checks that it starts.
    let has = |name: &str| std::env::args().any(|a| a == name);
    match has("--bench") {
        false => {}
        true if has("--signed") => signed(&options("64")),
        true if has("--sessions") => in_sessions(&options("64,256")),
        true => creates(&options("1,16,64,256")),
    }
}

/// Creates compared with the echo.
fn creates(options: &Options) {
    let folder = tempfile::tempdir().expect("a folder");
    let echo = Server::echo();
    let count = MOST_PER_SECOND * options.seconds;
    println!("connections | echo/s | creates/s | ratio | p50 ms | p99 ms | with outbox/s | ratio | p50 ms | p99 ms");
    println!("-----------:|-------:|----------:|------:|-------:|-------:|--------------:|------:|-------:|------:");
    for &connections in &options.connections {
        let (mut echoes, mut alone, mut whole) = (Vec::new(), Vec::new(), Vec::new());
        for round in 0..options.rounds {
            let plain = (0..3 * count).map(|n| render(&call("POST", "/echo", Some(&body(n))))).collect();
            echoes.push(run(echo.address, plain, connections, options.seconds));
            for (outbox, runs) in [("off", &mut alone), ("on", &mut whole)] {
                // A fresh database each time, so that no round pays for the previous round's outbox.
                let path = folder.path().join(format!("{connections}-{round}-{outbox}.db"));
                let server = binary::Server::start(&path, &["--outbox", outbox]);
                let requests = Stock::enroll(server.address, Algorithm::EcdsaP256Sha256).sign(count, &create);
                runs.push(run(server.address, requests, connections, options.seconds));
            }
        }
        let (echo, alone, whole) = (median(&mut echoes), median(&mut alone), median(&mut whole));
        println!("{connections} | {:.0} | {} | {}", echo.rate, row(&alone, &echo), row(&whole, &echo));
    }
}

fn row(figures: &Figures, echo: &Figures) -> String {
    let (p50, p99) = (figures.p50.as_secs_f64() * 1e3, figures.p99.as_secs_f64() * 1e3);
    format!("{:.0} | {:.0} % | {p50:.2} | {p99:.2}", figures.rate, 100.0 * figures.rate / echo.rate)
}

fn median(runs: &mut [Figures]) -> Figures {
    runs.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    runs[runs.len() / 2].clone()
}

/// Calls signed in a session and by a P-256 key, compared with the echo.
fn in_sessions(options: &Options) {
    let folder = tempfile::tempdir().expect("a folder");
    let echo = Server::echo();
    let count = MOST_PER_SECOND * options.seconds;
    println!("call | connections | echo/s | in a session/s | of the echo | p50 ms | p99 ms | P-256/s | of the echo | p50 ms | p99 ms");
    println!("-----|------------:|-------:|---------------:|------------:|-------:|-------:|--------:|------------:|-------:|------:");
    type Make = fn(u64) -> (String, Option<String>);
    for (name, make) in [("create", create as Make), ("status", status as Make)] {
        for &connections in &options.connections {
            let (mut echoes, mut shared, mut keyed) = (Vec::new(), Vec::new(), Vec::new());
            for round in 0..options.rounds {
                let plain = (0..3 * count).map(|n| render(&call("POST", "/echo", Some(&body(n))))).collect();
                echoes.push(run(echo.address, plain, connections, options.seconds));
                for (session, runs) in [(true, &mut shared), (false, &mut keyed)] {
                    let path = folder.path().join(format!("{name}-{connections}-{round}-{session}.db"));
                    let server = binary::Server::start(&path, &["--outbox", "off"]);
                    let stock = Stock::enroll(server.address, Algorithm::EcdsaP256Sha256);
                    pay_the_one_that_is_asked_about(&stock, server.address);
                    let stock = if session { stock.in_session() } else { stock };
                    runs.push(run(server.address, stock.sign(2 * count, &make), connections, options.seconds));
                }
            }
            let (echo, shared, keyed) = (median(&mut echoes), median(&mut shared), median(&mut keyed));
            let percent = |of: &Figures, what: &Figures| 100.0 * what.rate / of.rate;
            figure(&format!("{name} in a session, {connections} connections, of the echo, %"), percent(&echo, &shared));
            figure(&format!("{name} signed by P-256, {connections} connections, of one in a session, %"), percent(&shared, &keyed));
            println!("{name} | {connections} | {:.0} | {} | {}", echo.rate, row(&shared, &echo), row(&keyed, &echo));
        }
    }
}

/// Signed calls with and without verification of their signatures.
fn signed(options: &Options) {
    let folder = tempfile::tempdir().expect("a folder");
    println!("call | key | connections | checked/s | CPU us a call | unchecked/s | CPU us a call | rate kept | CPU us for the check");
    println!("-----|-----|------------:|----------:|--------------:|------------:|--------------:|----------:|--------------------:");
    type Make = fn(u64) -> (String, Option<String>);
    for (name, make) in [("create", create as Make), ("status", status as Make)] {
        for algorithm in [Algorithm::EcdsaP256Sha256, Algorithm::Ed25519] {
            for &connections in &options.connections {
                let (mut checked, mut unchecked) = (Vec::new(), Vec::new());
                for round in 0..options.rounds {
                    for (check, runs) in [(true, &mut checked), (false, &mut unchecked)] {
                        let path = folder.path().join(format!("{name}-{}-{connections}-{round}-{check}.db", algorithm.as_str()));
                        runs.push(measure(&path, check, algorithm, &make, connections, options.seconds));
                    }
                }
                let (with, without) = (median_cost(&mut checked), median_cost(&mut unchecked));
                println!(
                    "{name} | {} | {connections} | {:.0} | {:.1} | {:.0} | {:.1} | {:.0} % | {:.1}",
                    algorithm.as_str(),
                    with.rate,
                    with.cpu_us,
                    without.rate,
                    without.cpu_us,
                    100.0 * with.rate / without.rate,
                    with.cpu_us - without.cpu_us,
                );
            }
        }
    }
}

#[derive(Clone)]
struct Cost {
    rate: f64,
    /// CPU time of the server per call.
    cpu_us: f64,
}

fn measure(
    path: &Path,
    check: bool,
    algorithm: Algorithm,
    make: &(dyn Fn(u64) -> (String, Option<String>) + Sync),
    connections: usize,
    seconds: u64,
) -> Cost {
    let server = Server::service(path, check);
    let stock = Stock::enroll(server.address, algorithm);
    pay_the_one_that_is_asked_about(&stock, server.address);
    let requests = stock.sign(MOST_PER_SECOND * seconds, make);
    let before = server.cpu();
    let figures = run(server.address, requests, connections, seconds);
    let used = server.cpu() - before;
    Cost { rate: figures.rate, cpu_us: used.as_secs_f64() * 1e6 / figures.count as f64 }
}

fn pay_the_one_that_is_asked_about(stock: &Stock, address: SocketAddr) {
    let there = stock.sign(1, &|_| create(u64::MAX)).remove(0);
    let there = Connection::open(address).and_then(|mut connection| connection.exchange(&there)).expect("a settlement");
    assert_eq!(there.status, 201, "{there:?}");
}

/// The median of each figure separately: the run with the median rate need not have the median cost.
fn median_cost(runs: &mut [Cost]) -> Cost {
    let middle = runs.len() / 2;
    runs.sort_by(|a, b| a.rate.total_cmp(&b.rate));
    let rate = runs[middle].rate;
    runs.sort_by(|a, b| a.cpu_us.total_cmp(&b.cpu_us));
    Cost { rate, cpu_us: runs[middle].cpu_us }
}
