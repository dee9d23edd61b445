//! Engine operations on the memory store: the cost of decisions, without a disk.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use railgate::api::{Caller, Target};
use railgate::engine::{Create, Enroll};
use railgate::env::ManualEnv;
use railgate::store::memory::MemoryStore;
use railgate::{Config, Engine};

fn body(n: u64) -> String {
    format!(r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"inv-{n}"}}"#)
}

/// The number of settlements after which an empty gateway replaces the full one: the benchmark measures the work of
/// a create, not the speed of memory allocation.
const FULL: u64 = 20_000;

struct Gateway {
    engine: Engine,
    caller: Caller,
    made: u64,
}

impl Gateway {
    fn new() -> Self {
        let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
        let engine = Engine::open(Arc::new(MemoryStore::default()), env, Config::default()).expect("an engine");
        let caller = engine.run(Enroll { name: "Bench".into(), key: None }).expect("enrolling").caller;
        Self { engine, caller, made: 0 }
    }

    /// The next requests, already parsed.
    fn creates(&mut self, count: u64) -> Vec<Create> {
        let request = |n| Box::new(self.engine.parse_create(body(n).as_bytes()).expect("valid"));
        let commands = (self.made..self.made + count).map(|n| Create { caller: self.caller, request: request(n) }).collect();
        self.made += count;
        commands
    }
}

/// Measures `work` with `count` requests at a time, excluding their preparation.
fn timed<T, R>(rounds: u64, count: u64, prepare: impl Fn(&Engine, Vec<Create>) -> T, work: impl Fn(&Engine, T) -> R) -> Duration {
    let mut gateway = Gateway::new();
    let mut spent = Duration::ZERO;
    for _ in 0..rounds {
        if gateway.made >= FULL {
            gateway = Gateway::new();
        }
        let commands = gateway.creates(count);
        let given = prepare(&gateway.engine, commands);
        let start = Instant::now();
        let done = black_box(work(&gateway.engine, given));
        spent += start.elapsed();
        drop(done);
    }
    spent
}

fn engine(c: &mut Criterion) {
    for size in [1, 64, 512] {
        let mut group = c.benchmark_group("engine");
        group.throughput(Throughput::Elements(size));
        group.bench_function(format!("create, group of {size}"), |b| {
            b.iter_custom(|rounds| timed(rounds, size, |_, commands| commands, |engine, commands| engine.run_all(commands)));
        });
        group.finish();
    }
    let mut group = c.benchmark_group("engine");
    group.throughput(Throughput::Elements(512));
    group.bench_function("dispatch, simulate and complete 512", |b| {
        let created = |engine: &Engine, commands| drop(engine.run_all(commands));
        b.iter_custom(|rounds| timed(rounds, 512, created, |engine, ()| engine.work(512, &()).expect("working")));
    });
    group.finish();

    let mut gateway = Gateway::new();
    let commands = gateway.creates(FULL);
    drop(gateway.engine.run_all(commands));
    let Gateway { engine, caller, .. } = gateway;
    c.bench_function("validate a create body", |b| {
        let body = body(1);
        b.iter(|| engine.parse_create(black_box(body.as_bytes())));
    });
    let target = Target::parse("inv-0").expect("a reference");
    c.bench_function("status by reference", |b| {
        b.iter(|| engine.settlement(&caller, &target).map(|record| engine.status_view(&record)));
    });
    c.bench_function("record as JSON", |b| {
        let record = engine.settlement(&caller, &target).expect("there");
        b.iter(|| serde_json::to_vec(&engine.view(&record, caller.client_id)));
    });
    let list = engine.parse_list(&[]).expect("valid");
    c.bench_function("list, page of 50", |b| b.iter(|| engine.list(&caller, &list)));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = engine
}
criterion_main!(benches);
