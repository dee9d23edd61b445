//! What devices measure: how fast points are taken, and what a summary of them costs.
//!
//! A thousand devices send batches of 500 points, of four metrics over three days, to the engine over SQLite; in turns with it, the same
//! points are inserted as rows into a table of a database of its own, with a unique id for each device, a transaction for each batch,
//! both with `synchronous=NORMAL`. Summaries are read after a tenth of the points and after all of them, by the function that the server
//! calls, and compared with what the rows tell exactly.
//!
//! Arguments: `--points N` (1000000), `--reads N` of each summary (50).

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use railgate::api::{Caller, QualityGroupView};
use railgate::engine::{Enroll, QualityBy, QualityRequest, TakeQuality};
use railgate::env::ManualEnv;
use railgate::ids::KeyNo;
use railgate::store::record::{Network, QualityUnit};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::validate::quality::QualityPoint;
use railgate::{Config, Engine};
use rusqlite::{Connection, params};

const START: i64 = 1_795_257_497_042;
const DAY: i64 = 86_400_000;
const BATCH: u64 = 500;
const DEVICES: u64 = 1_000;
const METRICS: [&str; 4] = ["app.start", "payment.confirmed", "screen.shown", "upload.size"];
const SYSTEMS: [&str; 3] = ["android 15", "android 16", "ios 26"];
const VERSIONS: [&str; 3] = ["3.1.4", "3.2.0", "3.2.1"];

fn main() {
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let (points, reads) = (argument("--points", 1_000_000), argument("--reads", 50));
    let folder = tempfile::tempdir().expect("a folder");
    let gateway = Gateway::open(&folder.path().join("gateway.db"));
    let mut rows = Rows::open(&folder.path().join("rows.db"));
    let (mut taken, mut inserted, mut summaries) = (Duration::ZERO, Duration::ZERO, Vec::new());
    let batches = points / BATCH;
    for batch in 0..batches {
        let (device, points) = (batch % DEVICES, (0..BATCH).map(|n| point(batch, n)).collect::<Vec<_>>());
        inserted += timed(|| rows.insert(device, &points));
        let command = TakeQuality { caller: gateway.caller, key: KeyNo(device as u32 + 1), points: points.into_iter().map(Ok).collect() };
        taken += timed(|| assert_eq!(gateway.engine.run(command).expect("taking points").accepted as u64, BATCH));
        if batch + 1 == batches / 10 || batch + 1 == batches {
            summaries.push(gateway.summaries(reads));
        }
    }
    let rate = |spent: Duration| (batches * BATCH) as f64 / spent.as_secs_f64();
    println!("{} points in batches of {BATCH} | points/s", batches * BATCH);
    println!("---|---:");
    println!("taken by the engine | {:.0}", rate(taken));
    println!("inserted as rows | {:.0}", rate(inserted));
    println!("of bare inserts | {:.0} %", 100.0 * rate(taken) / rate(inserted));
    let bytes = [&gateway.path, &rows.path].map(|path| size(path) / (batches * BATCH));
    println!("bytes a point, gateway and rows | {} and {}", bytes[0], bytes[1]);
    println!();
    println!("summary of three days | after a tenth: p50 ms | after all: p50 ms | p99 ms");
    println!("---|---:|---:|---:");
    for (few, all) in summaries[0].iter().zip(&summaries[1]) {
        println!("{} | {:.2} | {:.2} | {:.2}", few.0, at(&few.1, 50), at(&all.1, 50), at(&all.1, 99));
    }
    println!();
    println!("percentile of {} | from the sketches | from the rows | off by", METRICS[0]);
    println!("---|---:|---:|---:");
    let group = gateway.all();
    for (percent, found) in [(50, &group.p50), (95, &group.p95), (99, &group.p99)] {
        let (found, exact): (f64, f64) = (found.as_str().parse().expect("a number"), rows.percentile(percent) as f64 / 1_000.0);
        println!("{percent} | {found} | {exact} | {:+.2} %", 100.0 * (found / exact - 1.0));
    }
}

fn argument(name: &str, default: u64) -> u64 {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(default)
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

fn at(took: &[Duration], percent: usize) -> f64 {
    took.get(took.len() * percent / 100).map_or(f64::NAN, Duration::as_secs_f64) * 1e3
}

/// A number that looks random, always the same for a point.
fn drawn(batch: u64, n: u64) -> u64 {
    let mut x = (batch * BATCH + n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 27)
}

/// What an app measures: most values near each other, and some ten times as large.
fn point(batch: u64, n: u64) -> QualityPoint {
    let (device, random) = (batch % DEVICES, drawn(batch, n));
    let spread = (random >> 8) % 400_000 + (random >> 32) % 400_000;
    let value = if random.is_multiple_of(50) { spread * 10 } else { spread };
    QualityPoint {
        id: format!("{batch:08}-{n:03}-{random:016x}"),
        metric: METRICS[(random % 4) as usize].to_owned(),
        value: value as i64 + 20_000,
        unit: QualityUnit::Milliseconds,
        // A batch is of the last two hours, now of one day and now of another.
        at: START - (batch % 3) as i64 * DAY - ((random >> 16) % 7_200_000) as i64,
        app_version: VERSIONS[(device % 3) as usize].to_owned(),
        os: SYSTEMS[(device / 3 % 3) as usize].to_owned(),
        network: if random.is_multiple_of(5) { Network::Cellular } else { Network::Wifi },
        settlement: None,
        failed: random.is_multiple_of(100),
    }
}

struct Gateway {
    engine: Engine,
    caller: Caller,
    path: PathBuf,
}

impl Gateway {
    fn open(path: &Path) -> Self {
        let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
        let store = Arc::new(SqliteStore::open_with(path, options).expect("a store"));
        let engine = Engine::open(store, Arc::new(ManualEnv::new(START, 1)), Config::default()).expect("an engine");
        let caller = engine.run(Enroll { name: "Bench".into(), key: None }).expect("enrolling").caller;
        Self { engine, caller, path: path.to_owned() }
    }

    fn request(&self, by: &[QualityBy]) -> QualityRequest {
        let (from, now) = (Some(START - 3 * DAY), self.engine.now());
        QualityRequest::new(METRICS[0].to_owned(), from, None, by.to_vec(), now).expect("valid")
    }

    fn all(&self) -> QualityGroupView {
        let summary = self.engine.quality_summary(&self.caller, &self.request(&[])).expect("a summary");
        assert!(summary.complete);
        summary.groups.into_iter().next().expect("a group")
    }

    fn summaries(&self, reads: u64) -> Vec<(&'static str, Vec<Duration>)> {
        let kinds: [(&str, &[QualityBy]); 3] =
            [("in one group", &[]), ("by hour", &[QualityBy::Hour]), ("by system and network", &[QualityBy::Os, QualityBy::Network])];
        let read = |by: &[QualityBy]| {
            let request = self.request(by);
            let once = || timed(|| drop(self.engine.quality_summary(&self.caller, &request).expect("a summary")));
            let mut took: Vec<_> = (0..reads).map(|_| once()).collect();
            took.sort_unstable();
            took
        };
        kinds.map(|(name, by)| (name, read(by))).into()
    }
}

/// The size of a database with its log, in bytes.
fn size(path: &Path) -> u64 {
    let files = [path.to_owned(), PathBuf::from(format!("{}-wal", path.display()))];
    files.iter().map(|file| std::fs::metadata(file).map_or(0, |it| it.len())).sum()
}

/// The points as rows.
struct Rows {
    connection: Connection,
    path: PathBuf,
}

impl Rows {
    fn open(path: &Path) -> Self {
        let connection = Connection::open(path).expect("a database");
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                 CREATE TABLE point (device INTEGER, id TEXT, metric TEXT, value INTEGER, unit INTEGER, at INTEGER, app_version TEXT, os TEXT,
                     network INTEGER, failed INTEGER, PRIMARY KEY (device, id)) STRICT, WITHOUT ROWID;",
            )
            .expect("a table");
        Self { connection, path: path.to_owned() }
    }

    fn insert(&mut self, device: u64, points: &[QualityPoint]) {
        let commit = self.connection.transaction().expect("a transaction");
        {
            let sql = "INSERT INTO point VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
            let mut insert = commit.prepare_cached(sql).expect("a statement");
            for it in points {
                let (unit, network) = (it.unit.code(), it.network.code());
                let row = params![device as i64, it.id, it.metric, it.value, unit, it.at, it.app_version, it.os, network, it.failed];
                insert.execute(row).expect("an insert");
            }
        }
        commit.commit().expect("a commit");
    }

    /// The nearest rank among all values of the first metric.
    fn percentile(&self, percent: i64) -> i64 {
        let count: i64 =
            self.connection.query_row("SELECT count(*) FROM point WHERE metric = ?1", [METRICS[0]], |row| row.get(0)).expect("a count");
        let rank = ((count * percent + 99) / 100).max(1);
        let sql = "SELECT value FROM point WHERE metric = ?1 ORDER BY value LIMIT 1 OFFSET ?2";
        self.connection.query_row(sql, params![METRICS[0], rank - 1], |row| row.get(0)).expect("a value")
    }
}
