//! The records that the servers over a store keep of themselves.

use crate::support;
use std::sync::Arc;

use crate::support::{START, sealing};
use railgate::engine::{Maintain, NodeFacts, RecordNode, RemoveNode, nodes};
use railgate::env::{Env as _, ManualEnv};
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::store::sqlite::SqliteStore;
use railgate::{Config, Engine};

const SECOND: i64 = 1_000;
const DAY: i64 = 86_400_000;

/// A server over a store that others use too, with a clock of its own.
struct Node {
    engine: Engine,
    env: Arc<ManualEnv>,
    record: RecordNode,
}

impl Node {
    fn start(store: &Arc<dyn Store>, no: i64, at: i64) -> Self {
        let env = Arc::new(ManualEnv::new(at, no.unsigned_abs()));
        let engine = Engine::open(store.clone(), env.clone(), Config { owner: Some(no), ..sealing() }).unwrap();
        let address = (no % 2 == 0).then(|| format!("http://10.0.0.{no}:8080"));
        let facts = NodeFacts { host: format!("pay-{no}"), address, version: "1.2.3".to_owned(), started_at: at };
        Self { engine, env, record: RecordNode { facts, alone: false } }
    }

    fn record_at(&self, at: i64) {
        self.env.step(at - self.env.now());
        self.engine.run(self.record.clone()).unwrap();
    }

    /// The hosts of all servers, and whether they are up, by the clock of this one.
    fn sees(&self) -> Vec<(String, bool)> {
        self.engine.overview(0, 1).unwrap().nodes.into_iter().map(|node| (node.host, node.up)).collect()
    }
}

fn over_each_store(test: impl Fn(Arc<dyn Store>)) {
    let folder = tempfile::tempdir().unwrap();
    test(Arc::new(MemoryStore::new()));
    test(Arc::new(SqliteStore::open(folder.path().join("nodes.db")).unwrap()));
}

fn hosts(expected: &[(&str, bool)]) -> Vec<(String, bool)> {
    expected.iter().map(|(host, up)| ((*host).to_owned(), *up)).collect()
}

#[test]
fn a_server_is_up_while_it_is_seen_and_listed_for_a_day() {
    over_each_store(|store| {
        let (one, two) = (Node::start(&store, 1, START), Node::start(&store, 2, START + 5 * SECOND));
        one.record_at(START);
        assert_eq!(two.sees(), hosts(&[("pay-1", true)]));
        two.record_at(START + 5 * SECOND);
        let seen = nodes(&*store, two.env.now()).unwrap();
        assert_eq!((seen[0].address.as_deref(), &seen[1].address), (Some("http://10.0.0.2:8080"), &None), "the newest first");
        assert_eq!((&*seen[0].id, &*seen[0].version), ("0000000000000002", "1.2.3"));
        assert_eq!((&*seen[0].started_at, &*seen[1].seen_at), ("2026-11-21T10:38:22.042Z", "2026-11-21T10:38:17.042Z"));

        two.record_at(START + 30 * SECOND);
        assert_eq!(two.sees(), hosts(&[("pay-2", true), ("pay-1", true)]));
        two.record_at(START + 30 * SECOND + 1);
        assert_eq!(two.sees(), hosts(&[("pay-2", true), ("pay-1", false)]), "it did not stop properly");
        one.record_at(START + 40 * SECOND);
        assert_eq!(two.sees(), hosts(&[("pay-2", true), ("pay-1", true)]), "it was only late");

        one.engine.run(RemoveNode).unwrap();
        assert_eq!(two.sees(), hosts(&[("pay-2", true)]));
        one.engine.run(RemoveNode).unwrap();
        one.record_at(START + 40 * SECOND);
        two.record_at(START + 40 * SECOND + DAY);
        assert_eq!(two.sees(), hosts(&[("pay-2", true), ("pay-1", false)]));
        two.record_at(START + 40 * SECOND + DAY + 1);
        assert_eq!(two.sees(), hosts(&[("pay-2", true)]));
        assert_eq!((two.engine.run(Maintain).unwrap(), two.engine.run(Maintain).unwrap()), (1, 0));
        // It was asleep, and is back.
        one.record_at(START + 50 * SECOND + DAY);
        assert_eq!(two.sees(), hosts(&[("pay-2", true), ("pay-1", true)]));
    });
}

#[test]
fn a_clock_that_jumps_does_no_lasting_harm() {
    over_each_store(|store| {
        let (one, two) = (Node::start(&store, 1, START), Node::start(&store, 2, START + 1));
        one.record_at(START + 2 * DAY);
        two.record_at(START + 1);
        assert_eq!(two.sees(), hosts(&[("pay-2", true)]), "what was seen in two days is not up");
        assert_eq!(one.sees(), hosts(&[("pay-1", true)]));
        assert_eq!(one.engine.run(Maintain).unwrap(), 1);
        two.record_at(START + 10 * SECOND);
        one.record_at(START + 11 * SECOND);
        assert_eq!(two.sees(), hosts(&[("pay-2", true), ("pay-1", true)]), "it was put right, and the other is back");
        two.record_at(START + DAY);
        one.record_at(START + 12 * SECOND);
        assert_eq!(one.sees(), hosts(&[("pay-2", false), ("pay-1", true)]));
    });
}

#[test]
fn a_server_that_has_its_store_to_itself_removes_those_of_before() {
    over_each_store(|store| {
        let (one, two) = (Node::start(&store, 1, START), Node::start(&store, 2, START + 1));
        one.record_at(START);
        let mut alone = Node::start(&store, 3, START + 2);
        alone.record.alone = true;
        two.record_at(START + 1);
        alone.record_at(START + 2);
        assert_eq!(alone.sees(), hosts(&[("pay-3", true)]));
        // Only when it starts: whoever records itself later is there.
        two.record_at(START + 3);
        alone.record_at(START + 4);
        assert_eq!(alone.sees(), hosts(&[("pay-3", true), ("pay-2", true)]));
    });
}

#[test]
fn a_record_and_its_removal_in_one_group_leave_nothing() {
    over_each_store(|store| {
        let one = Node::start(&store, 1, START);
        let (first, second) = support::together(&one.engine, one.record.clone(), RemoveNode);
        assert!(first.is_ok() && second.is_ok());
        assert_eq!(one.sees(), []);
    });
}
