//! What is seen every ten seconds, from `/proc`, `/metrics`, the files, and those who call and receive.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use railgate_tests::client::{Connection, call, render};
use railgate_tests::postgres::Sql;

use super::calls::Load;
use super::world::World;

/// The 50th, 99th and 99.9th percentile, in milliseconds.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    pub p50: f64,
    pub p99: f64,
    pub p999: f64,
}

impl Times {
    /// Of values in units of which there are so many in a millisecond.
    fn of(mut values: Vec<u32>, in_one: f64) -> Self {
        values.sort_unstable();
        let at = |q: f64| values.get(((values.len().max(1) - 1) as f64 * q) as usize).map_or(0.0, |it| f64::from(*it) / in_one);
        Self { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
    }
}

/// What is seen at a time.
#[derive(Debug, Clone, Default)]
pub struct Sample {
    pub seconds: f64,
    /// Calls answered a second.
    pub rate: f64,
    pub create: Times,
    pub read: Times,
    pub webhook: Times,
    pub stream: Times,
    pub rss_mib: f64,
    pub descriptors: f64,
    pub threads: f64,
    /// Of one core, in percent.
    pub cpu: f64,
    pub database_mib: f64,
    pub wal_mib: f64,
    /// Payments made so far.
    pub made: f64,
    pub failures: f64,
    /// Responses with a status of 500 or more, as the server counts them.
    pub faults: f64,
    /// How long the oldest due task waits, in seconds.
    pub outbox_lag: f64,
}

/// A column of the table: its name, and what it has.
type Column = (&'static str, fn(&Sample) -> f64);

const COLUMNS: [Column; 24] = [
    ("seconds", |it| it.seconds),
    ("calls/s", |it| it.rate),
    ("create p50 ms", |it| it.create.p50),
    ("create p99 ms", |it| it.create.p99),
    ("create p99.9 ms", |it| it.create.p999),
    ("read p50 ms", |it| it.read.p50),
    ("read p99 ms", |it| it.read.p99),
    ("read p99.9 ms", |it| it.read.p999),
    ("webhook p50 ms", |it| it.webhook.p50),
    ("webhook p99 ms", |it| it.webhook.p99),
    ("webhook p99.9 ms", |it| it.webhook.p999),
    ("stream p50 ms", |it| it.stream.p50),
    ("stream p99 ms", |it| it.stream.p99),
    ("stream p99.9 ms", |it| it.stream.p999),
    ("rss MiB", |it| it.rss_mib),
    ("descriptors", |it| it.descriptors),
    ("threads", |it| it.threads),
    ("cpu %", |it| it.cpu),
    ("database MiB", |it| it.database_mib),
    ("wal MiB", |it| it.wal_mib),
    ("payments", |it| it.made),
    ("failures", |it| it.failures),
    ("faults", |it| it.faults),
    ("outbox lag s", |it| it.outbox_lag),
];

/// Takes samples, and writes them to a file as it does.
pub struct Sampler {
    table: File,
    begun: Instant,
    last: (Instant, u64, f64),
    sql: Option<Sql>,
    taken: Vec<Sample>,
}

impl Sampler {
    pub fn start(world: &World, path: &Path) -> Self {
        let mut table = File::create(path).expect("the table");
        let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
        writeln!(table, "{}", names.join("\t")).expect("written");
        let now = Instant::now();
        let sql = world.postgres.as_ref().map(|postgres| postgres.sql(&world.database));
        Self { table, begun: now, last: (now, 0, cpu_seconds(world)), sql, taken: Vec::new() }
    }

    pub fn taken(self) -> Vec<Sample> {
        self.taken
    }

    /// Takes one.
    pub fn take(&mut self, world: &World, load: &Load) {
        let (now, answered, cpu) = (Instant::now(), load.answered(), cpu_seconds(world));
        let (then, before, cpu_before) = std::mem::replace(&mut self.last, (now, answered, cpu));
        let elapsed = (now - then).as_secs_f64();
        let status = proc_file(world, "status");
        let (database_mib, wal_mib) = self.sizes(world);
        let metrics = metrics(world);
        let all = |of: &dyn Fn(&super::world::Client) -> Vec<u32>| world.clients.iter().flat_map(of).collect::<Vec<u32>>();
        let sample = Sample {
            seconds: (now - self.begun).as_secs_f64(),
            rate: (answered - before) as f64 / elapsed,
            create: Times::of(taken(&load.took().create), 1_000.0),
            read: Times::of(taken(&load.took().read), 1_000.0),
            webhook: Times::of(all(&|client| std::mem::take(&mut client.receiver.seen().lags)), 1.0),
            stream: Times::of(all(&|client| taken(&client.heard.lags)), 1.0),
            rss_mib: field(&status, "VmRSS:") / 1_024.0,
            descriptors: std::fs::read_dir(format!("/proc/{}/fd", world.server.pid())).expect("Linux").count() as f64,
            threads: field(&status, "Threads:"),
            cpu: 100.0 * (cpu - cpu_before) / elapsed,
            database_mib,
            wal_mib,
            made: world.counts().0 as f64,
            failures: world.failures.count() as f64,
            faults: sum(&metrics, |line| line.starts_with("railgate_http_requests_total{") && line.contains("status=\"5")),
            outbox_lag: sum(&metrics, |line| line.starts_with("railgate_outbox_lag_seconds ")),
        };
        let row: Vec<String> = COLUMNS.iter().map(|(_, of)| format!("{:.2}", of(&sample))).collect();
        writeln!(self.table, "{}", row.join("\t")).expect("written");
        self.taken.push(sample);
    }

    /// The database and its write-ahead log, in MiB. That of PostgreSQL is the whole server's.
    fn sizes(&self, world: &World) -> (f64, f64) {
        const MIB: f64 = 1_048_576.0;
        if let Some(sql) = &self.sql {
            let one = |asked: &str| sql.texts(asked)[0].parse::<f64>().expect("a size") / MIB;
            return (one("SELECT pg_database_size(current_database())"), one("SELECT sum(size) FROM pg_ls_waldir()"));
        }
        let path = world.place.file().expect("a file");
        let size = |more: &str| std::fs::metadata(format!("{}{more}", path.display())).map_or(0, |it| it.len()) as f64 / MIB;
        (size(""), size("-wal"))
    }
}

fn taken(values: &Mutex<Vec<u32>>) -> Vec<u32> {
    std::mem::take(&mut values.lock().expect("no panics"))
}

fn proc_file(world: &World, name: &str) -> String {
    std::fs::read_to_string(format!("/proc/{}/{name}", world.server.pid())).expect("Linux")
}

fn field(status: &str, name: &str) -> f64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the field");
    line.split_whitespace().next().and_then(|number| number.parse().ok()).expect("a number")
}

/// What the server has used of processors, in seconds, in steps of 10 ms.
fn cpu_seconds(world: &World) -> f64 {
    let stat = proc_file(world, "stat");
    let rest = stat.rsplit_once(')').expect("a name").1;
    let ticks: f64 = rest.split_ascii_whitespace().skip(11).take(2).map(|field| field.parse::<f64>().expect("a number")).sum();
    ticks / 100.0
}

fn metrics(world: &World) -> String {
    let ask = render(&call("GET", "/metrics", None));
    let answer = Connection::open(world.metrics).and_then(|mut connection| connection.exchange(&ask)).expect("metrics");
    String::from_utf8(answer.bytes).expect("text")
}

fn sum(metrics: &str, of: impl Fn(&str) -> bool) -> f64 {
    metrics
        .lines()
        .filter(|line| of(line))
        .filter_map(|line| line.rsplit_once(' ')?.1.parse::<f64>().ok())
        .fold(0.0, |sum, value| sum + value)
}
