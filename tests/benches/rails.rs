//! Payments end to end through each rail: the real server over SQLite, and an operator that keeps books, on this machine's loopback.
//!
//! 1. Each rail, by how its operator answers: done in the answer, done later with a callback, done later and asked about. A payment is
//!    measured from its create, which is sent with `Prefer: wait`, to the response, which leaves when the payment is final: one signed call
//!    costs the server less than a feed or further calls that wait. Where nobody calls back, the gateway asks 5 s after the answer, then
//!    after 30 s, 2, 10, 30 and 60 minutes: that ladder is the latency, and with the number of connections the rate.
//! 2. What a provider that is slow or dead costs the payments through another: payments through A on a schedule, beside the same payments
//!    through a B that answers at once and through one that does not, in turns; and what a B that answers at once costs. B's load is a
//!    burst, which is over when the measurement begins, and then a trickle. A measurement is longer than a slow answer takes.
//!
//! Arguments: `--payments N` of each case of the first part (3200; 0 skips it), `--asked N` where the operator is asked (128),
//! `--seconds N` a measurement of the second part (25), `--rounds N` (2; 0 skips it), `--rate N` payments a second through A (100),
//! `--burst N` payments through B (300).

#[allow(dead_code, reason = "the echo is needed")]
#[path = "http/child.rs"]
mod child;
#[allow(dead_code, reason = "the runs of the echo are needed")]
#[path = "http/load.rs"]
mod load;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use railgate::auth::Algorithm;
use railgate::money::Currency;
use railgate::route::{ProviderSpec, Serves};
use railgate_tests::client::{Connection, call, render};
use railgate_tests::operators::{ADAPTERS, Cast, Intent, Listening, QUIET, gsma, mojaloop, paying_through};
use railgate_tests::presigned::Stock;
use tokio::net::TcpSocket;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
const CONNECTIONS: u64 = 32;
/// Clients that pay through A on a schedule.
const PAYERS: u64 = 16;
/// Clients that pay through B.
const OTHERS: u64 = 4;
/// How many payments a second through B follow its burst.
const TRICKLE: u64 = 20;
/// How long payments through A are made before they are measured.
const WARM_UP: u64 = 5;
/// How slow a slow provider is.
const SLOW: Duration = Duration::from_secs(20);
/// Longer than anything is measured.
const NEVER: Duration = Duration::from_secs(3_600);
const LATER: Intent = Intent::DoesAfter(50);

fn main() {
    if child::main() || !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    if argument("--payments", 3_200) > 0 {
        each_rail(folder.path());
    }
    if argument("--rounds", 2) > 0 {
        beside_each(folder.path());
    }
}

fn argument(name: &str, default: u64) -> u64 {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(default)
}

fn ms(sorted: &[Duration], percent: usize) -> f64 {
    sorted.get((sorted.len().max(1) - 1) * percent / 100).map_or(f64::NAN, Duration::as_secs_f64) * 1e3
}

fn each_rail(folder: &Path) {
    let (count, asked) = (argument("--payments", 3_200), argument("--asked", 128));
    let cases: [(&str, Cast, &str, Intent, u64); 9] = [
        ("adapter", ADAPTERS, "done, in its answer", Intent::Does, count),
        ("adapter", ADAPTERS, "done after 50 ms, calls back", LATER, count),
        ("adapter", QUIET, "done after 50 ms, is asked", LATER, asked),
        ("gsma", gsma::thorough(), "done, half in its answer, half calls back", Intent::Does, count),
        ("gsma", gsma::thorough(), "done after 50 ms, calls back", LATER, count),
        ("gsma", gsma::terse(), "done after 50 ms, is asked", LATER, asked),
        ("mojaloop", mojaloop::automatic(), "done, in its answer", Intent::Does, count),
        ("mojaloop", mojaloop::stepwise(), "done, in the third answer", Intent::Does, count),
        ("mojaloop", mojaloop::automatic(), "done after 50 ms, is asked", LATER, asked),
    ];
    let echo = child::Server::echo();
    println!("rail | the operator has it | payments | completed | payments/s | of the echo | p50 ms | p99 ms");
    println!("-----|---------------------|---------:|----------:|-----------:|------------:|-------:|-------:");
    for (n, (rail, cast, answers, intent, count)) in cases.into_iter().enumerate() {
        let echoes = (0..load::MOST_PER_SECOND).map(|n| render(&call("POST", "/echo", Some(&whole(n))))).collect();
        let echo = load::run(echo.address, echoes, CONNECTIONS as usize, 1).rate;
        let operator = Listening::start(&cast, "first", None);
        operator.operator().intend(intent);
        let server = paying_through(&folder.join(format!("rail-{n}.db")), &[(cast.provider)("first", operator.base_url())]);
        let (took, elapsed) = pay_all(server.address, count / CONNECTIONS);
        let rate = took.len() as f64 / elapsed.as_secs_f64();
        let (p50, p99, done) = (ms(&took, 50), ms(&took, 99), took.len());
        println!("{rail} | {answers} | {count} | {done} | {rate:.0} | {:.1} % | {p50:.2} | {p99:.2}", 100.0 * rate / echo);
    }
}

/// A body that the echo parses.
fn whole(n: u64) -> String {
    let more = r#""description":"Invoice of November, order of 12 crates","metadata":{"order":"4711-0815","branch":"Nairobi West"}"#;
    format!(r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"inv-2026-{n:012}",{more}}}"#)
}

/// A create of a payment that is answered when the payment is final.
fn creates(stock: &Stock, count: u64, currency: &str, waits: bool) -> Vec<Vec<u8>> {
    let body = |n: u64| {
        format!(r#"{{"amount":1.25,"currency":"{currency}","to":"msisdn:+254700000001","reference":"inv-2026-{currency}-{n:012}"}}"#)
    };
    let calls = stock.sign(count, &|n| (SETTLEMENTS.to_owned(), Some(body(n))));
    let prefer = |call: Vec<u8>| {
        let end = call.windows(2).position(|two| two == b"\r\n").expect("a first line") + 2;
        [&call[..end], b"prefer: wait=30\r\n", &call[end..]].concat()
    };
    if waits { calls.into_iter().map(prefer).collect() } else { calls }
}

/// Makes a payment, and returns how long it took until it was completed, or until the gateway waited no longer; `None` if it failed.
fn pay(connection: &mut Connection, create: &[u8]) -> Option<Duration> {
    let sent = Instant::now();
    let response = connection.exchange(create).expect("an answer");
    assert_eq!(response.status, 201, "{response:?}");
    match response.body["status"].as_str() {
        Some("completed") => Some(sent.elapsed()),
        // A scheme's quote may be more than the client pays.
        Some("failed") => None,
        other => {
            eprintln!("{other:?} after {:?}", sent.elapsed());
            Some(sent.elapsed())
        }
    }
}

/// Each of the clients makes so many payments, one after the other. How long those that were completed took, sorted, and all of them.
fn pay_all(address: SocketAddr, each: u64) -> (Vec<Duration>, Duration) {
    let stocks: Vec<Vec<Vec<u8>>> =
        (0..CONNECTIONS).map(|_| creates(&Stock::enroll(address, Algorithm::Ed25519), each, "EUR", true)).collect();
    let begun = Instant::now();
    let payers = stocks.into_iter().map(|calls| {
        spawn(move || {
            let mut connection = Connection::open(address).expect("connecting");
            calls.iter().filter_map(|create| pay(&mut connection, create)).collect::<Vec<_>>()
        })
    });
    let payers: Vec<_> = payers.collect();
    let mut took: Vec<Duration> = payers.into_iter().flat_map(|payer| payer.join().expect("no panics")).collect();
    let elapsed = begun.elapsed();
    took.sort_unstable();
    (took, elapsed)
}

/// How the provider is that nobody measures.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Other {
    /// Nobody pays through it.
    Unused,
    Well,
    Slow,
    Refuses,
    Silent,
}

impl Other {
    const fn name(self) -> &'static str {
        match self {
            Self::Unused => "nothing",
            Self::Well => "answers at once",
            Self::Slow => "answers after 20 s",
            Self::Refuses => "refuses connections",
            Self::Silent => "never answers",
        }
    }
}

/// What B is measured against, and B.
const OTHER: [[Other; 2]; 4] =
    [[Other::Unused, Other::Well], [Other::Well, Other::Slow], [Other::Well, Other::Refuses], [Other::Well, Other::Silent]];

fn beside_each(folder: &Path) {
    let (seconds, rounds) = (argument("--seconds", 25), argument("--rounds", 2));
    let mut runs: [[Vec<Vec<Duration>>; 2]; 4] = Default::default();
    for round in 0..rounds {
        for (n, (pair, both)) in OTHER.iter().zip(&mut runs).enumerate() {
            for (of, run) in pair.iter().zip(both) {
                run.push(beside(&folder.join(format!("beside-{round}-{n}-{}.db", *of as u8)), *of, seconds));
            }
        }
    }
    println!();
    println!("B | against | payments through A | p50 ms against | p50 ms | p99 ms against | (rounds) | p99 ms | (rounds) | p99 moved by");
    println!("--|---------|-------------------:|---------------:|-------:|---------------:|---------:|-------:|---------:|------------:");
    for ([base, other], [against, with]) in OTHER.iter().zip(&runs) {
        let (against, with) = (Spread::of(against), Spread::of(with));
        let moved = 100.0 * (with.p99 / against.p99 - 1.0);
        let (names, count, p50s) = (format!("{} | {}", other.name(), base.name()), with.count, (against.p50, with.p50));
        let p99 = |spread: &Spread| format!("{:.2} | {:.2}–{:.2}", spread.p99, spread.rounds.0, spread.rounds.1);
        println!("{names} | {count} | {:.2} | {:.2} | {} | {} | {moved:+.0} %", p50s.0, p50s.1, p99(&against), p99(&with));
    }
}

/// All rounds of a measurement together, and the lowest and highest p99 of one.
struct Spread {
    count: usize,
    p50: f64,
    p99: f64,
    rounds: (f64, f64),
}

impl Spread {
    fn of(runs: &[Vec<Duration>]) -> Self {
        let p99s = || runs.iter().map(|run| ms(run, 99));
        let rounds = (p99s().fold(f64::INFINITY, f64::min), p99s().fold(0.0, f64::max));
        let mut all = runs.concat();
        all.sort_unstable();
        Self { count: all.len(), p50: ms(&all, 50), p99: ms(&all, 99), rounds }
    }
}

/// How long payments through A took on a fresh server while B is like this, sorted.
fn beside(path: &Path, other: Other, seconds: u64) -> Vec<Duration> {
    let (first, second) = (Listening::start(&ADAPTERS, "first", None), Listening::start(&ADAPTERS, "second", None));
    match other {
        Other::Unused | Other::Well | Other::Refuses => {}
        Other::Slow => second.reply_after(SLOW),
        Other::Silent => second.reply_after(NEVER),
    }
    // A port without a listener that nothing else gets.
    let refusing = TcpSocket::new_v4().expect("a socket");
    refusing.bind("127.0.0.1:0".parse().expect("an address")).expect("binding");
    let refuses = format!("http://{}/api", refusing.local_addr().expect("bound"));
    let base_url = if other == Other::Refuses { &refuses } else { second.base_url() };
    let server = paying_through(path, &[provider("first", first.base_url(), "EUR"), provider("second", base_url, "USD")]);
    let stop = AtomicBool::new(false);
    let took = std::thread::scope(|scope| {
        if other != Other::Unused {
            burden(scope, server.address, seconds, &stop);
        }
        let took = on_schedule(server.address, seconds);
        stop.store(true, Ordering::Relaxed);
        took
    });
    let taken = second.operator().books().paid.len();
    eprintln!("B {}: it got {taken} payments; A's p99 was {:.2} ms", other.name(), ms(&took, 99));
    took
}

fn provider(id: &str, base_url: &str, currency: &str) -> ProviderSpec {
    let currencies = Serves::Only(vec![Currency::from_code(currency).expect("a currency")]);
    // Longer than a slow provider takes.
    ProviderSpec { currencies, answer_ms: Some(30_000), ..(ADAPTERS.provider)(id, base_url) }
}

/// Pays through B: a burst, which has been accepted when this returns, and then a trickle until `stop`.
fn burden<'s>(scope: &'s std::thread::Scope<'s, '_>, address: SocketAddr, seconds: u64, stop: &'s AtomicBool) {
    let burst = argument("--burst", 300) / OTHERS;
    let pay = |connection: &mut Connection, call: &Vec<u8>| {
        let response = connection.exchange(call).expect("an answer");
        assert_eq!(response.status, 201, "{response:?}");
    };
    let begin = |_| {
        let calls = creates(&Stock::enroll(address, Algorithm::Ed25519), burst + TRICKLE * (WARM_UP + seconds + 5) / OTHERS, "USD", false);
        let mut connection = Connection::open(address).expect("connecting");
        calls[..burst as usize].iter().for_each(|call| pay(&mut connection, call));
        (calls, connection)
    };
    let others: Vec<_> = (0..OTHERS).map(begin).collect();
    for (calls, mut connection) in others {
        scope.spawn(move || {
            for call in &calls[burst as usize..] {
                if stop.load(Ordering::Relaxed) {
                    return;
                }
                pay(&mut connection, call);
                sleep(Duration::from_secs(OTHERS) / TRICKLE as u32);
            }
        });
    }
}

/// Pays through A, evenly over the warm-up and these seconds. How long each payment after the warm-up took, sorted.
fn on_schedule(address: SocketAddr, seconds: u64) -> Vec<Duration> {
    let a_second = argument("--rate", 100);
    let each = a_second * (WARM_UP + seconds) / PAYERS;
    let every = Duration::from_secs(PAYERS) / a_second.max(1) as u32;
    let stocks: Vec<_> = (0..PAYERS).map(|_| creates(&Stock::enroll(address, Algorithm::Ed25519), each, "EUR", true)).collect();
    let begun = Instant::now();
    let (warm, end) = (begun + Duration::from_secs(WARM_UP), begun + Duration::from_secs(WARM_UP + seconds));
    let payers = (0..).zip(stocks).map(|(n, calls): (u32, Vec<Vec<u8>>)| {
        spawn(move || {
            let mut connection = Connection::open(address).expect("connecting");
            let begun = begun + every * n / PAYERS as u32;
            let due = (0..).map(|at| begun + every * at).take_while(|_| Instant::now() < end);
            let paid = due.zip(&calls).map(|(at, create)| {
                sleep(at.saturating_duration_since(Instant::now()));
                (at, pay(&mut connection, create).expect("A pays"))
            });
            paid.filter(|(at, _)| *at >= warm).map(|(_, took)| took).collect::<Vec<_>>()
        })
    });
    let payers: Vec<_> = payers.collect();
    let mut took: Vec<Duration> = payers.into_iter().flat_map(|payer| payer.join().expect("no panics")).collect();
    took.sort_unstable();
    took
}
