//! A gateway under the load of a day, for hours: whether memory, descriptors and response times stay as they are, whether files grow as
//! docs/operations/sizing.md says, and whether no call fails.
//!
//! First the peak is measured: all connections send as fast as they are answered, and as webhooks follow. Then they send half of that
//! on a schedule. Of ten calls, four create a payment, four read one, one lists and one reverses. Beside them, payments go through a
//! provider that takes seconds, users approve payments on their phones, every client has a webhook whose receiver verifies what it
//! gets, and follows its feed as a stream.
//!
//! Every ten seconds a line is added to the table. In the end everything must have been told, `ledger verify` must find nothing, and the
//! verdict is printed; the exit code is 1 if it does not hold. Server, load and receivers share the machine's cores. Linux only.
//!
//! A run must last longer than the database needs to outgrow SQLite's cache (64 MiB), or memory still grows: some minutes.
//!
//! Arguments: `--minutes N` (120), `--rate N` calls a second (half of the measured peak), `--peak-seconds N` (30), `--store
//! sqlite|postgres` (sqlite), `--out FOLDER` (target/soak) for `samples.tsv`, `verdict.md` and `soak.svg`.

mod calls;
mod chart;
mod phones;
mod samples;
mod verdict;
mod world;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use calls::Load;
use railgate_tests::binary::railgate;
use samples::{Sample, Sampler};
use world::World;

/// How often a sample is taken.
const EVERY: Duration = Duration::from_secs(10);

struct Options {
    minutes: f64,
    rate: Option<f64>,
    peak: Duration,
    postgres: bool,
    out: PathBuf,
}

fn options() -> Options {
    let args: Vec<String> = std::env::args().collect();
    let value = |name: &str| args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).map(String::as_str);
    let number = |name: &str| value(name).map(|text| text.parse::<f64>().unwrap_or_else(|_| panic!("{name} is a number")));
    let store = value("--store").unwrap_or("sqlite");
    assert!(["sqlite", "postgres"].contains(&store), "--store is sqlite or postgres");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/soak");
    Options {
        minutes: number("--minutes").unwrap_or(120.0),
        rate: number("--rate"),
        peak: Duration::from_secs_f64(number("--peak-seconds").unwrap_or(30.0)),
        postgres: store == "postgres",
        out: value("--out").map_or(target, PathBuf::from),
    }
}

fn main() {
    // `cargo test --benches` only checks that it starts.
    if !std::env::args().any(|arg| arg == "--bench") {
        return;
    }
    let options = options();
    std::fs::create_dir_all(&options.out).expect("the folder for the results");
    let peak = options.rate.is_none().then(|| peak(&options));
    let rate = options.rate.or(peak.map(|peak| peak / 2.0)).expect("one of them");
    match peak {
        Some(peak) => eprintln!("the peak is {peak:.0} calls a second; {:.0} minutes at {rate:.0}", options.minutes),
        None => eprintln!("{:.0} minutes at {rate:.0} calls a second", options.minutes),
    }
    let (samples, ended) = soak(&options, rate);
    let verdict = verdict::of(&samples, &ended, peak, rate, options.postgres);
    std::fs::write(options.out.join("verdict.md"), &verdict.text).expect("written");
    std::fs::write(options.out.join("soak.svg"), chart::drawn(&samples)).expect("written");
    println!("{}", verdict.text);
    println!("{}", options.out.display());
    assert!(verdict.holds, "the verdict does not hold");
}

/// Calls a second, when everything goes as fast as it is answered and told.
fn peak(options: &Options) -> f64 {
    let world = World::start(options.postgres);
    let load = Load::start(&world, None);
    let (begun, before) = (Instant::now(), load.answered());
    std::thread::sleep(options.peak);
    let rate = (load.answered() - before) as f64 / begun.elapsed().as_secs_f64();
    load.stop();
    let (ended, _postgres) = world.end();
    assert_eq!(ended.failures.count(), 0, "{:?}", ended.failures.first());
    rate
}

/// What is known after the end.
struct Ended {
    /// What failed: how often, and the first.
    failed: u64,
    first: Vec<String>,
    /// Payments that were made, and of whose completion each way told.
    made: u64,
    by_webhook: u64,
    by_stream: u64,
    repeated: u64,
    forged: u64,
    /// What `ledger verify` said, how long it took, and whether it was content.
    verified: (String, Duration, bool),
}

fn soak(options: &Options, rate: f64) -> (Vec<Sample>, Ended) {
    let world = World::start(options.postgres);
    let mut sampler = Sampler::start(&world, &options.out.join("samples.tsv"));
    let load = Load::start(&world, Some(rate));
    let phones = phones::start(&world);
    let begun = Instant::now();
    let length = Duration::from_secs_f64(options.minutes * 60.0);
    for n in 1.. {
        std::thread::sleep((begun + EVERY * n).saturating_duration_since(Instant::now()));
        sampler.take(&world, &load);
        if begun.elapsed() + EVERY / 2 > length {
            break;
        }
    }
    load.stop();
    phones.stop();
    world.until_all_is_told();
    let (repeated, forged) = world.odd_deliveries();
    let (made, by_webhook, by_stream) = world.counts();
    let (store, postgres) = world.end();
    let began = Instant::now();
    let verified = Command::new(railgate()).args(["ledger", "verify", "--store", &store.url]).output().expect("railgate runs");
    let said = String::from_utf8_lossy(&verified.stdout).trim().lines().last().unwrap_or_default().to_owned();
    let verified = (said, began.elapsed(), verified.status.success());
    drop(postgres);
    let (failed, first) = (store.failures.count(), store.failures.first());
    (sampler.taken(), Ended { failed, first, made, by_webhook, by_stream, repeated, forged, verified })
}
