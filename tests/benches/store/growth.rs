//! The engine over SQLite alone, empty and with many settlements present: the rate, and the memory of this process.
//!
//! Every settlement is made by the engine. Another process fills the database, with a large cache and without a sync for every commit,
//! so that what it leaves in memory is not in the figures.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use railgate::api::Caller;
use railgate::engine::Enroll;
use railgate::env::{Env as _, ManualEnv};
use railgate::ids::ClientNo;
use railgate::ledger::Mode;
use railgate::store::record::{ClientRecord, Key};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Store as _, typed};
use railgate::{Config, Engine};

use super::{GROUPS, commands, create, median};

/// Measures with nothing present, then again with each of these numbers of settlements.
pub fn measure(totals: &[usize], rows: usize, rounds: usize) {
    println!("settlements present | group | engine + SQLite/s | of the empty one | resident MiB");
    println!("-------------------:|------:|------------------:|-----------------:|------------:");
    let folder = tempfile::tempdir().expect("a folder");
    let mut growing = Growing::new(folder.path());
    let empty = growing.rates(rows, rounds, &[]);
    for total in totals {
        growing.fill(*total);
        // Until the pages in use are in the cache.
        growing.run(rows, 512);
        growing.rates(rows, rounds, &empty);
    }
}

struct Growing {
    path: PathBuf,
    env: Arc<ManualEnv>,
    /// `None` only while it is opened again.
    engine: Option<Engine>,
    caller: Caller,
    next: usize,
}

impl Growing {
    fn new(folder: &Path) -> Self {
        let path = folder.join("engine.db");
        let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
        let engine = open(&path, &env, SqliteOptions::default());
        let caller = engine.run(Enroll { name: "Bench".into(), key: None }).expect("enrolling").caller;
        Self { path, env, engine: Some(engine), caller, next: 0 }
    }

    fn fill(&mut self, total: usize) {
        // Only one store may have the file.
        self.engine = None;
        let mut child = Command::new(std::env::current_exe().expect("this program"));
        child.arg("--bench").arg("--fill").arg(&self.path);
        for (name, value) in
            [("--from", self.next), ("--large", total), ("--client", self.caller.client.0 as usize), ("--at", self.env.now() as usize)]
        {
            child.arg(name).arg(value.to_string());
        }
        assert!(child.status().expect("filling").success());
        // Past the times of all that it made.
        self.env.advance_to(self.env.now() + total as i64);
        self.next = total.max(self.next);
        self.engine = Some(open(&self.path, &self.env, SqliteOptions::default()));
    }

    fn run(&mut self, rows: usize, group: usize) -> f64 {
        let engine = self.engine.as_ref().expect("open");
        create(engine, &self.env, commands(engine, self.caller, &mut self.next, rows, group))
    }

    fn rates(&mut self, rows: usize, rounds: usize, empty: &[f64]) -> Vec<f64> {
        let one = |(at, group): (usize, usize)| {
            let present = self.next;
            let mut rates: Vec<f64> = (0..rounds).map(|_| self.run(rows.min(group * 1_000), group)).collect();
            let rate = median(&mut rates);
            let of = empty.get(at).map_or_else(String::new, |empty| format!("{:.0} %", 100.0 * rate / empty));
            println!("{present} | {group} | {rate:.0} | {of} | {}", resident_mib());
            rate
        };
        GROUPS.into_iter().enumerate().map(one).collect()
    }
}

/// In the other process: makes the settlements from number `next` up to `total` of this client.
pub fn fill(path: &Path, client: u32, at: i64, mut next: usize, total: usize) {
    let env = Arc::new(ManualEnv::new(at, next as u64));
    let fast = SqliteOptions {
        synchronous: Synchronous::Normal,
        cache_kib: 2 * 1024 * 1024,
        checkpoint_pages: 100_000,
        ..SqliteOptions::default()
    };
    let store = Arc::new(SqliteStore::open_with(path, fast).expect("a store"));
    let client: ClientRecord = typed(store.get(&Key::Client(ClientNo(client))).expect("reading")).expect("a client").expect("is there");
    let caller = Caller::client(client.no, client.id, Mode::Sandbox);
    let engine = Engine::open(store, env.clone(), Config::default()).expect("an engine");
    while next < total {
        let rows = 50_000.min(total - next);
        create(&engine, &env, commands(&engine, caller, &mut next, rows, 4_096));
        eprint!("\rfilling: {next} of {total} settlements");
    }
    eprintln!();
}

fn open(path: &Path, env: &Arc<ManualEnv>, options: SqliteOptions) -> Engine {
    let store = SqliteStore::open_with(path, options).expect("a store");
    Engine::open(Arc::new(store), env.clone(), Config::default()).expect("an engine")
}

/// The memory of this process that is resident; 0 if the system does not say.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|it| it.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() / 1024
}
