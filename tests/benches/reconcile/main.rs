//! Reconciliation: how fast statements are read, and compared with the settlements of an SQLite file, and how much memory that takes; and
//! what somebody else's calls notice while a statement is sent to a server.
//!
//! `cargo bench -p railgate-tests --bench reconcile -- --lines 1000000 --settlements 200000 --known 100000`; `--known 0` sends none, and
//! `--settlements 0` only sends one.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a benchmark may fail")]

mod over_http;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek as _, Write as _};
use std::sync::Arc;
use std::time::Instant;

use railgate::engine::{BeginReconciliation, Begun, Create, Enroll, KeepReconciled, Kept, ReconcileHost, Statement};
use railgate::env::{Env as _, ManualEnv};
use railgate::ids::OperatorNo;
use railgate::reconcile::{Settings, read};
use railgate::store::record::{RecordKind, SettlementRecord, StatementFormat};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, Store, typed_all};
use railgate::time::rfc3339;
use railgate::{Config, Engine, Result};

const START: i64 = 1_795_257_497_042;
const COLUMNS: [(&str, &str); 6] = [
    ("statement_amount", "Amount"),
    ("statement_currency", "=EUR"),
    ("statement_date", "Time"),
    ("statement_references", "Reference,Key"),
    ("statement_account", "+254700000000"),
    // All is paid within minutes.
    ("statement_grace_hours", "0"),
];

fn columns() -> BTreeMap<String, String> {
    COLUMNS.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

struct OnDisk(File);

impl Statement for OnDisk {
    fn open(&mut self) -> io::Result<Box<dyn BufRead + '_>> {
        self.0.rewind()?;
        Ok(Box::new(BufReader::with_capacity(256 * 1024, &mut self.0)))
    }
}

struct Direct<'a>(&'a Engine);

impl ReconcileHost for Direct<'_> {
    fn begin(&mut self, command: BeginReconciliation) -> Result<Begun> {
        self.0.run(command)
    }

    fn keep(&mut self, command: KeepReconciled) -> Result<Kept> {
        self.0.run(command)
    }
}

/// A file with what `write` writes.
fn file(write: impl FnOnce(&mut BufWriter<&File>)) -> OnDisk {
    let file = tempfile::tempfile().unwrap();
    let mut out = BufWriter::new(&file);
    write(&mut out);
    out.flush().unwrap();
    drop(out);
    OnDisk(file)
}

fn csv(lines: u64) -> OnDisk {
    file(|out| {
        writeln!(out, "Time,Reference,Key,Amount").unwrap();
        (0..lines).for_each(|n| writeln!(out, "2026-11-24T10:00:00Z,SIM-{n:026}-1,01M7Z1BC0HKS8HGFZWA1RKHZQE-1,-10.50").unwrap());
    })
}

fn camt(lines: u64) -> OnDisk {
    file(|out| {
        write!(out, "<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\"><BkToCstmrStmt><Stmt>").unwrap();
        for n in 0..lines {
            writeln!(
                out,
                "<Ntry><Amt Ccy=\"EUR\">10.50</Amt><CdtDbtInd>DBIT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>2026-11-24</Dt></BookgDt>\
                 <AcctSvcrRef>B{n}</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>01M7Z1BC0HKS8HGFZWA1RKHZQE-1</EndToEndId>\
                 <TxId>SIM-{n:026}-1</TxId></Refs><Amt Ccy=\"EUR\">10.50</Amt><CdtDbtInd>DBIT</CdtDbtInd></TxDtls></NtryDtls></Ntry>"
            )
            .unwrap();
        }
        write!(out, "</Stmt></BkToCstmrStmt></Document>").unwrap();
    })
}

fn gsma(lines: u64) -> OnDisk {
    file(|out| {
        for n in 0..lines {
            let start = if n == 0 { '[' } else { ',' };
            writeln!(
                out,
                "{start}{{\"transactionReference\":\"SIM-{n:026}-1\",\"transactionStatus\":\"completed\",\"amount\":\"10.50\",\"currency\":\"EUR\",\
                 \"debitParty\":[{{\"key\":\"msisdn\",\"value\":\"+254700000000\"}}],\"creditParty\":[{{\"key\":\"msisdn\",\"value\":\"+254700000001\"}}],\
                 \"creationDate\":\"2026-11-24T10:00:00Z\"}}"
            )
            .unwrap();
        }
        write!(out, "]").unwrap();
    })
}

/// The most memory that this process had so far, in MiB.
fn peak() -> u64 {
    peak_of("self")
}

/// The most memory that a process had so far, in MiB.
fn peak_of(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or(0) / 1024
}

fn report(what: &str, lines: u64, begun: Instant) {
    let took = begun.elapsed();
    let rate = u128::from(lines) * 1_000_000 / took.as_micros().max(1);
    println!("{what:<44} {lines:>9} lines in {:>8} ms  {rate:>9} lines/s  peak {:>5} MiB", took.as_millis(), peak());
}

/// Settlements that were carried out, in an SQLite file.
fn settled(engine: &Engine, env: &ManualEnv, count: u64) {
    let caller = engine.run(Enroll { name: "Bench".into(), key: None }).unwrap().caller;
    for first in (0..count).step_by(500) {
        let create = |n: u64| {
            let body = format!(r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"inv-{n}"}}"#);
            Create { caller, request: Box::new(engine.parse_create(body.as_bytes()).unwrap()) }
        };
        engine.run_all((first..(first + 500).min(count)).map(create)).into_iter().for_each(|made| drop(made.unwrap()));
        engine.work_until_quiet(&()).unwrap();
        env.advance_to(env.now() + 1_000);
    }
}

fn all_settlements(store: &dyn Store) -> Vec<SettlementRecord> {
    typed_all(store.scan(&Scan::all(RecordKind::Settlement, usize::MAX)).unwrap()).unwrap()
}

/// The line of a settlement in its provider's statement, with this amount.
fn line_of(record: &SettlementRecord, amount: &str) -> String {
    let at = rfc3339(record.completed_at.unwrap_or(START));
    let reference = record.more.as_ref().and_then(|more| more.rail_reference.clone()).unwrap_or_default();
    format!("{at},{reference},,{amount}")
}

fn argument(name: &str, default: u64) -> u64 {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(default)
}

fn main() {
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let (lines, settlements) = (argument("--lines", 1_000_000), argument("--settlements", 200_000));
    if settlements > 0 {
        in_process(lines, settlements);
    }
    let known = argument("--known", 100_000);
    if known > 0 {
        over_http::measure(lines, known);
    }
}

fn in_process(lines: u64, settlements: u64) {
    let settings = Settings::parse(&columns()).unwrap();
    for (name, make) in [("read CSV", csv as fn(u64) -> OnDisk), ("read camt.053.001.08", camt), ("read GSMA entries", gsma)] {
        let mut statement = make(lines);
        let begun = Instant::now();
        let mut count = 0;
        read(&mut *statement.open().unwrap(), &settings, &mut |_| {
            count += 1;
            Ok(())
        })
        .unwrap();
        assert_eq!(count, lines);
        report(name, lines, begun);
    }

    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(folder.path().join("bench.db")).unwrap());
    let env = Arc::new(ManualEnv::new(START, 1));
    let mut config = Config::default();
    config.providers.iter_mut().for_each(|provider| provider.settings.extend(columns()));
    let engine = Engine::open(Arc::clone(&store), env.clone(), config).unwrap();
    let mut statement = csv(lines);
    let begun = Instant::now();
    let read = engine.read_statement("simulator", &mut statement).unwrap();
    report("read CSV into what is compared", lines, begun);
    drop((read, statement));

    settled(&engine, &env, settlements);
    let all = all_settlements(&*store);
    let mut statement = file(|out| {
        writeln!(out, "Time,Reference,Key,Amount").unwrap();
        // Of a thousand, one is missing and one is wrong.
        for record in all.iter().filter(|record| record.no.0 % 1_000 != 7) {
            writeln!(out, "{}", line_of(record, if record.no.0 % 1_000 == 8 { "-0.02" } else { "-0.01" })).unwrap();
        }
    });
    drop(all);
    let order = BeginReconciliation {
        provider: "simulator".to_owned(),
        name: "bench.csv".to_owned(),
        digest: [7; 32],
        format: StatementFormat::Csv,
        by: OperatorNo(0),
        again: false,
    };
    let begun = Instant::now();
    let run = engine.reconcile_file(order, &mut statement, &mut Direct(&engine)).unwrap();
    report("CSV against SQLite, one in 1,000 wrong", run.lines.into(), begun);
    println!("{} match, {} differ, {} missing there", run.by_reference, run.amount_differs, run.missing_there);
}
