//! What devices measure, taken by several nodes over one database.

use std::sync::Arc;

use railgate::engine::{Enroll, QualityRequest, TakeQuality, verify};
use railgate::env::ManualEnv;
use railgate::ids::KeyNo;
use railgate::store::postgres::PostgresStore;
use railgate::validate::quality::parse_quality;
use railgate::{Config, Engine};
use railgate_tests::postgres::Postgres;

use super::support::START;
use super::{Fresh, options};

#[test]
fn nothing_is_lost_or_counted_twice_when_nodes_take_points_at_once() {
    const BATCHES: u32 = 15;
    let fresh = Fresh::new();
    let url = Postgres::shared().url(&fresh.database);
    let node = |seed| {
        let store = Arc::new(PostgresStore::open(&url, options()).unwrap());
        Engine::open(store, Arc::new(ManualEnv::new(START, seed)), Config::default()).unwrap()
    };
    let nodes = [1, 2, 3].map(node);
    let caller = nodes[0].run(Enroll { name: "Shop".to_owned(), key: None }).unwrap().caller;
    let point = |batch, n| {
        format!(
            r#"{{"id":"point-{batch}-{n}","metric":"app.start","value":{batch},"unit":"ms","at":"2026-11-21T10:00:00Z","os":"ios {}"}}"#,
            n % 2
        )
    };
    let taking = |device, batch| {
        let points: Vec<String> = (0..4).map(|n| point(batch, n)).collect();
        let points = parse_quality(format!(r#"{{"items":[{}]}}"#, points.join(",")).as_bytes(), START).unwrap();
        TakeQuality { caller, key: KeyNo(device), points }
    };
    std::thread::scope(|scope| {
        for node in &nodes {
            // Every device sends every batch over every node, as after lost answers.
            scope.spawn(move || {
                for batch in 0..BATCHES {
                    let commands: Vec<_> = (1..6).map(|device| taking(device, batch)).collect();
                    while node.run_all(commands.clone()).iter().any(|taken| taken.as_ref().is_err_and(|error| error.code.retryable())) {}
                }
            });
        }
    });
    let request = QualityRequest::new("app.start".to_owned(), None, None, Vec::new(), START).unwrap();
    let found = nodes[1].quality_summary(&caller, &request).unwrap();
    assert_eq!((found.groups[0].count, found.groups[0].mean.as_str()), (i64::from(BATCHES) * 4 * 5, "7"));
    let of_all = nodes[2].quality_summary_of_all(caller.mode, &request).unwrap();
    assert_eq!(of_all.groups, found.groups, "the operators' summary is of the same sketches");
    assert_eq!(verify::verify(&fresh.store, &mut |_| {}).unwrap().problems, []);
}
