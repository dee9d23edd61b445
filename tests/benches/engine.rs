//! Engine operations on the memory store: what deciding costs, without a disk.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use railgate::api::{Caller, Command, Outcome, Target};
use railgate::env::ManualEnv;
use railgate::store::memory::MemoryStore;
use railgate::{Config, Engine};

fn gateway() -> (Engine, Caller) {
    let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
    let engine = Engine::open(Arc::new(MemoryStore::default()), env, Config::default()).expect("an engine");
    match engine.run(Command::Enroll { name: "Bench".into(), key: None }).expect("enrolling") {
        Outcome::Enrolled(enrolled) => (engine, enrolled.caller),
        _ => unreachable!(),
    }
}

fn body(n: u64) -> String {
    format!(r#"{{"amount":0.01,"currency":"EUR","to":"msisdn:+254700000001","reference":"inv-{n}"}}"#)
}

fn creates(engine: &Engine, caller: Caller, from: &mut u64, count: u64) -> Vec<Command> {
    let first = *from;
    *from += count;
    let request = |n| Box::new(engine.parse_create(body(n).as_bytes()).expect("valid"));
    (first..first + count).map(|n| Command::Create { caller, request: request(n) }).collect()
}

fn engine(c: &mut Criterion) {
    let (engine, caller) = gateway();
    let mut next = 0;

    c.bench_function("validate a create body", |b| {
        let body = body(1);
        b.iter(|| engine.parse_create(black_box(body.as_bytes())));
    });
    for size in [1, 64, 512] {
        let mut group = c.benchmark_group("engine");
        group.throughput(Throughput::Elements(size));
        group.bench_function(format!("create, group of {size}"), |b| {
            b.iter_batched(|| creates(&engine, caller, &mut next, size), |commands| engine.execute(commands), BatchSize::SmallInput);
        });
        group.finish();
    }
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

    let mut group = c.benchmark_group("engine");
    group.throughput(Throughput::Elements(512));
    group.bench_function("dispatch, simulate and complete 512", |b| {
        b.iter_batched(
            || drop(engine.execute(creates(&engine, caller, &mut next, 512))),
            |()| engine.work(512).expect("working"),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20);
    targets = engine
}
criterion_main!(benches);
