//! The shared scenarios, `tests/scenarios/*.json`: the sandbox's responses, byte for byte, on every platform.
//!
//! This file replays them over each kind of store. The browser, the phones and Python replay the same files. After an intended
//! change: `RAILGATE_BLESS=1 cargo test -p railgate --features sandbox --test engine sandbox_scenarios`.
#![cfg(feature = "sandbox")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use railgate::engine::verify::verify;
use railgate::sandbox::{Options, Sandbox};
use railgate::store::Store;
use railgate::store::journal::JournalStore;
use railgate::store::memory::MemoryStore;
use serde_json::{Value, json};

/// What a host keeps between two runs of the sandbox.
trait Host {
    fn open(&mut self) -> Arc<dyn Store>;
    /// Called before a response is shown.
    fn keep(&mut self) {}
}

/// A store that outlives the sandbox.
struct Lasting(Arc<dyn Store>);

impl Host for Lasting {
    fn open(&mut self) -> Arc<dyn Store> {
        Arc::clone(&self.0)
    }
}

/// A browser tab: entries are kept as they come. Each restart except the first keeps a snapshot, after which older entries are
/// deleted.
#[derive(Default)]
struct Tab {
    store: Option<Arc<JournalStore>>,
    snapshot: Option<Vec<u8>>,
    entries: Vec<u8>,
}

impl Host for Tab {
    fn open(&mut self) -> Arc<dyn Store> {
        let restored = JournalStore::restore(self.snapshot.as_deref(), &self.entries).unwrap();
        assert_eq!(restored.torn, 0);
        let store = Arc::new(restored.store);
        if !self.entries.is_empty() {
            self.snapshot = Some(store.snapshot().unwrap());
            self.entries.clear();
        }
        self.store = Some(Arc::clone(&store));
        store
    }

    fn keep(&mut self) {
        self.entries.extend(self.store.as_ref().unwrap().take().unwrap());
    }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/scenarios");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    assert!(files.len() >= 12, "only {} scenarios", files.len());
    files
}

fn seed(value: &Value) -> [u8; 32] {
    let hex = value.as_str().unwrap();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect();
    bytes.try_into().unwrap()
}

/// Plays a scenario; returns it with the actual responses.
fn play(scenario: &Value, host: &mut dyn Host) -> Value {
    let mut played = scenario.clone();
    let mut now = scenario["start_ms"].as_i64().unwrap();
    let open = |host: &mut dyn Host, seed: [u8; 32], now: i64| {
        let sandbox = Sandbox::open(host.open(), &Options::default(), seed, now).unwrap();
        host.keep();
        sandbox
    };
    let mut sandbox = open(host, seed(&scenario["seed"]), now);
    for step in played["steps"].as_array_mut().unwrap() {
        let step = step.as_object_mut().unwrap();
        let answer = if let Some(ms) = step.get("advance_ms") {
            now += ms.as_i64().unwrap();
            continue;
        } else if let Some(fresh) = step.get("restart") {
            let fresh = seed(fresh);
            drop(sandbox);
            sandbox = open(host, fresh, now);
            continue;
        } else if step.contains_key("work") {
            serde_json::to_string(&sandbox.work(now).unwrap()).unwrap()
        } else {
            sandbox.call(now, step["call"].as_str().unwrap())
        };
        host.keep();
        step.insert("answer".to_owned(), json!(answer));
    }
    played
}

fn compare(path: &Path, scenario: &Value, played: &Value, over: &str) {
    let steps = |it: &Value| it["steps"].as_array().unwrap().clone();
    for (at, (wanted, given)) in steps(scenario).iter().zip(steps(played)).enumerate() {
        assert_eq!(wanted.get("answer"), given.get("answer"), "step {at} of {} over {over}: {}", path.display(), wanted["call"]);
    }
}

#[test]
fn every_scenario_is_answered_to_the_byte() {
    let bless = std::env::var_os("RAILGATE_BLESS").is_some();
    let mut steps = 0;
    for path in files() {
        let scenario: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let played = play(&scenario, &mut Tab::default());
        if bless {
            std::fs::write(&path, serde_json::to_string_pretty(&played).unwrap() + "\n").unwrap();
        } else {
            compare(&path, &scenario, &played, "a journal");
        }
        let memory = Arc::new(MemoryStore::new());
        compare(&path, &played, &play(&scenario, &mut Lasting(memory.clone())), "memory");
        let report = verify(&*memory, &mut |_| {}).unwrap();
        // The events of a sandbox are in a feed, and in no log.
        let problems: Vec<_> = report.problems.iter().filter(|problem| problem.code != "leaf_differs").collect();
        assert!(problems.is_empty(), "{}: {problems:?}", path.display());
        #[cfg(feature = "sqlite")]
        compare(&path, &played, &over_sqlite(&scenario), "SQLite");
        steps += scenario["steps"].as_array().unwrap().len();
    }
    assert!(steps >= 200, "only {steps} steps");
}

#[cfg(feature = "sqlite")]
fn over_sqlite(scenario: &Value) -> Value {
    use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
    let folder = std::env::temp_dir().join(format!("railgate-scenarios-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("sandbox.db");
    // There is no power failure here: no need to wait for the disk.
    let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    let played = play(scenario, &mut Lasting(Arc::new(SqliteStore::open_with(&file, options).unwrap())));
    std::fs::remove_dir_all(&folder).unwrap();
    played
}

/// Every call of the sandbox and every behaviour of the simulated operator occurs in some scenario.
#[test]
fn nothing_is_left_out() {
    let all: String = files().iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let calls = [
        "create",
        "check",
        "get",
        "status",
        "list",
        "events",
        "feed",
        "reverse",
        "reversals",
        "reversal",
        "reconcile",
        "receipt",
        "keys",
        "balances",
        "balance",
        "fund",
        "advance",
        "faults",
        "set_faults",
        "reset",
        "scenarios",
        "clock",
        "set_clock",
        "users",
        "user",
        "put_user",
        "enrollment_code",
        "enroll_device",
        "devices",
        "device",
        "rename_device",
        "revoke_device",
        "approvals",
        "approval",
        "decide",
    ];
    for call in calls {
        assert!(all.contains(&format!(r#"\"call\":\"{call}\""#)), "{call} is in no scenario");
    }
    for scenario in railgate::rail::sandbox_scenarios() {
        assert!(all.contains(&format!(r#"\"to\":\"{}\""#, scenario.to)), "{} is in no scenario", scenario.to);
    }
}
