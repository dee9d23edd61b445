//! Group commit: the engine over each store compared with a bare insert of the same rows, interleaved in the same run.
//!
//! The bare side inserts the rows that the engine wrote into a second database with the same schema, with prepared
//! statements, one transaction per group. Both are durable: SQLite with `synchronous=FULL`,
//! PostgreSQL with its defaults.
//! Arguments: `--rows N` settlements a measurement (20000), `--rounds N` (3), `--large N` settlements present in
//! SQLite's second part (1000000; 0 skips it), `--only sqlite` or `--only postgresql`;
//! `--only growth` measures the engine over SQLite without the bare side, empty and with `--large N` settlements present.

#[path = "store/growth.rs"]
mod growth;
#[path = "store/postgres.rs"]
mod postgres;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use railgate::api::Caller;
use railgate::engine::{Create, Enroll};
use railgate::env::ManualEnv;
use railgate::store::sqlite::SqliteStore;
use railgate::{Config, Engine};
use railgate_tests::figures::figure;
use rusqlite::Connection;
use rusqlite::types::Value;

const GROUPS: [usize; 4] = [1, 8, 64, 512];
/// The tables that a create adds rows to; each has an ascending integer key.
const TABLES: [&str; 4] = ["settlement", "event", "transfer", "task"];

fn main() {
    if !std::env::args().any(|a| a == "--bench") {
        return;
    }
    let (rows, rounds, large) = (argument("--rows", 20_000), argument("--rounds", 3), argument("--large", 1_000_000));
    let args: Vec<String> = std::env::args().collect();
    if let Some(path) = args.iter().position(|a| a == "--fill").and_then(|i| args.get(i + 1)) {
        let [client, at, from] = ["--client", "--at", "--from"].map(|name| argument(name, 0));
        return growth::fill(Path::new(path), client as u32, at as i64, from, large);
    }
    let only = args.iter().position(|a| a == "--only").and_then(|i| args.get(i + 1));
    if only.is_some_and(|it| it == "growth") {
        // With a tenth of them first.
        return growth::measure(&[large / 10, large], rows, rounds);
    }
    println!("store | settlements present | group | bare insert/s | engine/s | ratio");
    println!("------|-------------------:|------:|--------------:|---------:|------:");
    if only.is_none_or(|it| it == "sqlite") {
        let folder = tempfile::tempdir().expect("a folder");
        let mut pair = Sqlite::new(folder.path());
        measure("SQLite", &mut pair, rows, rounds);
        if large > 0 {
            pair.grow(large);
            measure("SQLite", &mut pair, rows, rounds);
        }
    }
    if only.is_none_or(|it| it == "postgresql") {
        measure("PostgreSQL", &mut postgres::Postgresql::new(), rows, rounds);
    }
}

/// An engine over a store, and a bare database.
trait Pair {
    /// The number of settlements.
    fn present(&self) -> usize;
    /// Settlements a second through the engine.
    fn engine(&mut self, rows: usize, group: usize) -> f64;
    /// Settlements a second by bare inserts of the rows that the engine wrote since the last time.
    fn bare(&mut self, group: usize) -> f64;
}

fn argument(name: &str, default: usize) -> usize {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)).and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn measure(store: &str, pair: &mut dyn Pair, rows: usize, rounds: usize) {
    for group in GROUPS {
        let present = pair.present();
        // Small groups are slow: fewer rows are enough.
        let rows = rows.min(group * 1_000);
        let (mut engine, mut bare) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            engine.push(pair.engine(rows, group));
            bare.push(pair.bare(group));
        }
        let (e, b) = (median(&mut engine), median(&mut bare));
        let ratio = 100.0 * e / b;
        println!("{store} | {present} | {group} | {b:.0} | {e:.0} | {ratio:.0} %");
        let over = if present < 1_000_000 { store.to_owned() } else { format!("{store} with a million settlements") };
        figure(&format!("engine over {over}, groups of {group}, of a bare insert, %"), ratio);
    }
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// The engine's database and the bare one, with the same rows.
struct Sqlite {
    engine: Engine,
    env: Arc<ManualEnv>,
    caller: Caller,
    source: Connection,
    target: Connection,
    /// The highest key of each table that both have.
    copied: [i64; 4],
    next: usize,
}

impl Sqlite {
    fn new(folder: &Path) -> Self {
        let (e, b) = (folder.join("engine.db"), folder.join("bare.db"));
        // Opening creates the schema; then only the bare side uses the file.
        drop(SqliteStore::open(&b).expect("the bare database"));
        let store = Arc::new(SqliteStore::open(&e).expect("the engine's database"));
        let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
        let engine = Engine::open(store, env.clone(), Config::default()).expect("an engine");
        let caller = engine.run(Enroll { name: "Bench".into(), key: None }).expect("enrolling").caller;
        let target = Connection::open(b).expect("opening");
        for (pragma, value) in [("journal_mode", "WAL"), ("synchronous", "FULL"), ("wal_autocheckpoint", "8000"), ("cache_size", "-65536")]
        {
            let _ = target.pragma_update(None, pragma, value);
        }
        let source = Connection::open(e).expect("opening");
        let mut pair = Self { engine, env, caller, source, target, copied: [0; 4], next: 0 };
        // The accounts and other rows of the first session.
        pair.bare(512);
        pair
    }

    /// Brings both databases to `total` settlements.
    fn grow(&mut self, total: usize) {
        while self.next < total {
            eprint!("\rgrowing: {} of {total} settlements", self.next);
            self.engine(50_000.min(total - self.next), 512);
            self.bare(4_096);
        }
        eprintln!();
    }
}

/// The requests for this many new settlements, in groups, already parsed.
fn commands(engine: &Engine, caller: Caller, next: &mut usize, rows: usize, group: usize) -> Vec<Vec<Create>> {
    let first = *next;
    *next += rows;
    let request = |n: usize| {
        // Spread over the index as real references are.
        let reference = format!("{:08x}-inv-{n}", (n as u32).wrapping_mul(2_654_435_769));
        let body = format!(r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"{reference}"}}"#);
        Create { caller, request: Box::new(engine.parse_create(body.as_bytes()).expect("valid")) }
    };
    let numbers: Vec<usize> = (first..first + rows).collect();
    numbers.chunks(group).map(|chunk| chunk.iter().map(|n| request(*n)).collect()).collect()
}

/// Settlements a second: runs the groups one after another.
fn create(engine: &Engine, env: &ManualEnv, groups: Vec<Vec<Create>>) -> f64 {
    let rows: usize = groups.iter().map(Vec::len).sum();
    let started = Instant::now();
    for group in groups {
        // A task's key has room for a million tasks a millisecond, so the clock has to move.
        env.advance_to(engine.now() + 1);
        assert!(engine.run_all(group).iter().all(Result::is_ok));
    }
    rows as f64 / started.elapsed().as_secs_f64()
}

impl Pair for Sqlite {
    fn present(&self) -> usize {
        self.next
    }

    fn engine(&mut self, rows: usize, group: usize) -> f64 {
        create(&self.engine, &self.env, commands(&self.engine, self.caller, &mut self.next, rows, group))
    }

    fn bare(&mut self, group: usize) -> f64 {
        let tables: Vec<Vec<Vec<Value>>> = (0..4).map(|t| rows_above(&self.source, TABLES[t], &mut self.copied[t])).collect();
        let count = tables[0].len();
        let inserts: Vec<String> = TABLES.iter().map(|table| insert(&self.target, table)).collect();
        let started = Instant::now();
        for from in (0..count.max(1)).step_by(group) {
            self.target.execute_batch("BEGIN IMMEDIATE").expect("begin");
            for (rows, sql) in tables.iter().zip(&inserts) {
                let mut statement = self.target.prepare_cached(sql).expect("preparing");
                for row in rows.iter().skip(from).take(group) {
                    statement.execute(rusqlite::params_from_iter(row)).expect("inserting");
                }
            }
            // The two accounts that every group moves.
            let mut statement =
                self.target.prepare_cached("UPDATE account SET debits_pending = debits_pending + ?1 WHERE id = ?2").expect("preparing");
            for account in 0..2 {
                statement.execute([1, account]).expect("updating");
            }
            drop(statement);
            self.target.execute_batch("COMMIT").expect("commit");
        }
        count as f64 / started.elapsed().as_secs_f64()
    }
}

fn rows_above(source: &Connection, table: &str, above: &mut i64) -> Vec<Vec<Value>> {
    let mut statement = source.prepare(&format!("SELECT * FROM \"{table}\" WHERE rowid > ?1 ORDER BY rowid")).expect("preparing");
    let columns = statement.column_count();
    let rows = statement.query_map([*above], |row| (0..columns).map(|c| row.get(c)).collect::<rusqlite::Result<Vec<Value>>>());
    let rows: Vec<Vec<Value>> = rows.expect("reading").collect::<rusqlite::Result<_>>().expect("rows");
    if let Some(Value::Integer(last)) = rows.last().and_then(|row| row.first()) {
        *above = *last;
    }
    rows
}

fn insert(target: &Connection, table: &str) -> String {
    let columns = target.prepare(&format!("SELECT * FROM \"{table}\"")).expect("preparing").column_count();
    let places: Vec<String> = (1..=columns).map(|n| format!("?{n}")).collect();
    format!("INSERT INTO \"{table}\" VALUES ({})", places.join(","))
}
