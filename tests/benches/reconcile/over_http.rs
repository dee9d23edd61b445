//! A statement that an operator sends to the real server, while a client reads.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use railgate::auth::Algorithm;
use railgate::client::Request;
use railgate::env::ManualEnv;
use railgate::store::sqlite::SqliteStore;
use railgate::{Config, Engine};
use railgate_tests::binary::{Server, railgate};
use railgate_tests::client::{Account, Connection};
use railgate_tests::presigned::Stock;
use serde_json::json;

use super::{START, all_settlements, columns, line_of, peak_of, settled};

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";
/// The client reads five hundred times a second.
const EVERY: Duration = Duration::from_millis(2);
/// How long it reads in quiet, and how long it could read at most meanwhile, in seconds.
const QUIET: u64 = 5;
const LONGEST: u64 = 120;
/// The file is sent so often, one after the other, and compared each time.
const TIMES: u32 = 5;

/// Sends a CSV of so many lines: one for each of the known settlements, and lines over nothing, which are read and left out. More than
/// 100,000 lines that name no settlement would not be compared.
pub(super) fn measure(lines: u64, known: u64) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.db");
    // The server's keys, and the client that reads.
    let server = Server::start(&path, &[]);
    let listen = server.address.to_string();
    let reader = Stock::enroll(server.address, Algorithm::Ed25519);
    let mine = json!({"amount": 0.01, "currency": "EUR", "to": "sim:ok", "reference": "mine"}).to_string();
    let made = Connection::open(server.address).unwrap().exchange(&reader.sign(1, &|_| (SETTLEMENTS.to_owned(), Some(mine.clone())))[0]);
    assert_eq!(made.unwrap().status, 201);
    assert!(server.stop());
    let statement = seed(&path, lines, known);

    let server = Server::start(&path, &["--listen", &listen]);
    let store = format!("sqlite:{}", path.display());
    let invited = Command::new(railgate()).args(["operators", "invite", "Ada", "--role", "admin", "--store", &store]).output().unwrap();
    assert!(invited.status.success(), "{}", String::from_utf8_lossy(&invited.stderr));
    let code = String::from_utf8(invited.stdout).unwrap();
    let operator = Account::enroll_operator(server.address, code.trim()).unwrap();
    let provider = json!({
        "id": "simulator", "name": "Simulated operator", "rail": "simulator", "mode": "sandbox", "settings": columns(), "reason": "a benchmark",
    });
    let put = operator.connect(server.address).unwrap().send("PUT", "/api/v1/operator/providers/simulator", Some(&provider.to_string()));
    let put = put.unwrap();
    assert_eq!(put.status, 200, "{put:?}");

    let stop = AtomicBool::new(false);
    let quiet = reads(&server, &reader, QUIET, &stop);
    let before = peak_of(&server.pid().to_string());
    let size = statement.len();
    let (made, took, beside) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| reads(&server, &reader, LONGEST, &stop));
        let mut request = Request::new("POST", "/api/v1/operator/reconciliations?provider=simulator&file=bench.csv&again=true");
        request.headers.push(("content-type".to_owned(), "text/csv".to_owned()));
        request.body = statement;
        let mut connection = operator.connect(server.address).unwrap();
        let begun = Instant::now();
        let made = (0..TIMES).map(|_| connection.ask(request.clone())).collect::<Result<Vec<_>, _>>();
        let took = begun.elapsed() / TIMES;
        stop.store(true, Ordering::Relaxed);
        (made.unwrap().remove(0), took, reading.join().unwrap())
    });
    assert_eq!(made.status, 201, "{made:?}");
    let (rate, peak) = (lines as f64 / took.as_secs_f64(), peak_of(&server.pid().to_string()));
    println!();
    println!(
        "sent over HTTP | MiB | known | matched | s | lines/s | server's peak MiB before | … and after | a status p99 ms quiet | … meanwhile"
    );
    println!(
        "--------------:|----:|------:|--------:|--:|--------:|-------------------------:|------------:|----------------------:|-----------:"
    );
    let (matched, seconds) = (&made.body["matched"]["rail_reference"], took.as_secs_f64());
    let (mib, quiet, meanwhile) = (size >> 20, p99(&quiet), p99(&beside));
    println!("{lines} | {mib} | {known} | {matched} | {seconds:.1} | {rate:.0} | {before} | {peak} | {quiet:.2} | {meanwhile:.2}");
}

/// Carries out payments in the database, and returns their statement.
fn seed(path: &std::path::Path, lines: u64, known: u64) -> Vec<u8> {
    let store = Arc::new(SqliteStore::open(path).unwrap());
    let env = Arc::new(ManualEnv::new(START, 1));
    let engine = Engine::open(store.clone(), env.clone(), Config::default()).unwrap();
    settled(&engine, &env, known);
    let mut statement = b"Time,Reference,Key,Amount\n".to_vec();
    let all = all_settlements(&*store);
    // What the server made before is of another day, and in nobody's statement.
    let named = all.iter().filter(|record| record.reference.as_str().starts_with("inv-"));
    named.for_each(|record| statement.extend(format!("{}\n", line_of(record, "-0.01")).bytes()));
    (known..lines).for_each(|n| statement.extend(format!("2026-11-21T10:00:00Z,SIM-{n:026}-1,,0.00\n").bytes()));
    statement
}

/// How long reads of one settlement take, until `stop` or for so many seconds. Sorted.
fn reads(server: &Server, reader: &Stock, seconds: u64, stop: &AtomicBool) -> Vec<Duration> {
    let calls = reader.sign(seconds * 500, &|_| (format!("{SETTLEMENTS}/mine/status"), None));
    let mut connection = Connection::open(server.address).unwrap();
    let begun = Instant::now();
    let mut took = Vec::new();
    for (at, read) in (0..).map(|n| begun + EVERY * n).zip(&calls).take_while(|_| !stop.load(Ordering::Relaxed)) {
        sleep(at.saturating_duration_since(Instant::now()));
        let sent = Instant::now();
        assert_eq!(connection.exchange(read).unwrap().status, 200);
        took.push(sent.elapsed());
    }
    took.sort_unstable();
    took
}

fn p99(sorted: &[Duration]) -> f64 {
    sorted.get((sorted.len().max(1) - 1) * 99 / 100).map_or(f64::NAN, Duration::as_secs_f64) * 1e3
}
