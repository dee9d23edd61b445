//! `verify` finds manual changes to a real file and names the first broken link; it finds nothing wrong with what the engine itself
//! does.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use crate::support;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::log::log_all;
use crate::support::receiver::new_hook;
use crate::support::{Sandbox, create, reverse, sealing};
use proptest::prelude::*;
use railgate::api::{Parcel, Tried, WebhookPatch};
use railgate::engine::verify::{BrokenLink, VerifyReport, verify};
use railgate::engine::{
    AnyCommand, ChangedWebhook, DeleteWebhook, Delivered, EnableWebhook, LeaseQueues, Maintain, NumberEvents, Replay, RotateWebhookSecret,
    TestWebhook, UpdateWebhook,
};
use railgate::env::Env;
use railgate::ids::Ulid;
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{EventType, LastTry, Topic};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};

/// A file with some settlements, a webhook and deliveries, all logged except the last event.
struct Ledger {
    dir: PathBuf,
    /// The `stl_…` id of each, in order.
    ids: Vec<String>,
}

impl Ledger {
    fn new(settlements: usize) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = std::env::temp_dir().join(format!("railgate-verify-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let options = SqliteOptions { synchronous: Synchronous::Normal, ..Default::default() };
        let s = Sandbox::over(Arc::new(SqliteStore::open_with(&dir.join("railgate.db"), options).unwrap()), sealing(), 1);
        s.engine.run(new_hook(s.caller, None)).unwrap();
        let ids: Vec<String> = (0..settlements).map(|n| s.pay(&format!("r{n}"), "sim:ok").id.to_string()).collect();
        s.work();
        log_all(&s.engine);
        s.engine.run(reverse(s.caller, "r0", "")).unwrap();
        Self { dir, ids }
    }

    /// The report after this SQL was run.
    fn after(&self, sql: &str) -> VerifyReport {
        let copy = self.dir.join("copy.db");
        let _ = std::fs::remove_file(&copy);
        std::fs::copy(self.dir.join("railgate.db"), &copy).unwrap();
        let connection = rusqlite::Connection::open(&copy).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        verify(&SqliteStore::open_read_only(&copy).unwrap(), &mut |_| {}).unwrap()
    }

    /// The codes of the problems found, each once and in order.
    fn codes(&self, sql: &str) -> Vec<&'static str> {
        let mut codes: Vec<&'static str> = self.after(sql).problems.iter().map(|problem| problem.code).collect();
        codes.dedup();
        codes
    }

    fn first(&self, sql: &str) -> (usize, u32, &'static str) {
        let report = self.after(sql);
        let BrokenLink { settlement, sequence, code, .. } = report.first_broken.clone().unwrap();
        assert!(report.problems.iter().any(|problem| (&problem.what, problem.code) == (&settlement, code)), "{report:#?}");
        (self.ids.iter().position(|id| *id == settlement).unwrap(), sequence, code)
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.dir);
    }
}

/// The numbers of settlements sort after those of fundings.
const NTH: &str = "(SELECT no FROM settlement ORDER BY no LIMIT 1 OFFSET";

#[test]
fn an_untouched_ledger_is_sound_and_counted() {
    let ledger = Ledger::new(80);
    let report = ledger.after("");
    assert!(report.is_ok(), "{:#?}", report.problems);
    assert_eq!((report.first_broken, report.settlements, report.webhooks), (None, 80, 1));
    assert!(report.logged > 256 && report.deliveries == report.logged && report.events == report.logged + 1, "one event waits");
}

#[test]
fn the_first_broken_link_is_named_whatever_was_done_to_events() {
    let l = Ledger::new(6);
    let key = |nth: usize, n: u32| format!("k = ({NTH} {nth}) << 16 | {n})");
    // Changed.
    assert_eq!(l.first(&format!("UPDATE event SET at = at + 1 WHERE {}", key(2, 3))), (2, 3, "trail_broken"));
    assert_eq!(l.first(&format!("UPDATE event SET hash = zeroblob(32) WHERE {}", key(4, 1))), (4, 1, "trail_broken"));
    assert_eq!(l.first(&format!("UPDATE event SET data = '{{\"a\":1}}' WHERE {}", key(1, 2))), (1, 2, "trail_broken"));
    // Removed: in the middle, at the end, all.
    assert_eq!(l.first(&format!("DELETE FROM event WHERE {}", key(3, 2))), (3, 2, "trail_gap"));
    assert_eq!(l.first(&format!("DELETE FROM event WHERE {}", key(3, 1))), (3, 1, "trail_gap"));
    let last = format!("DELETE FROM event WHERE k = (SELECT max(k) FROM event WHERE k >> 16 = {NTH} 5))");
    let (nth, sequence, code) = l.first(&last);
    assert_eq!((nth, code), (5, "trail_head"));
    assert!(sequence > 2);
    assert_eq!(l.first(&format!("DELETE FROM event WHERE k >> 16 = {NTH} 2)")), (2, 1, "trail_head"));
    // Swapped.
    let swap = format!(
        "UPDATE event SET k = -1 WHERE {}; UPDATE event SET k = ({NTH} 1) << 16 | 2) WHERE {}; UPDATE event SET k = ({NTH} 1) << 16 | 3) WHERE k = -1",
        key(1, 2),
        key(1, 3)
    );
    assert_eq!(l.first(&swap), (1, 2, "trail_broken"));
    // Only the first of several.
    let several = format!("UPDATE event SET at = 5 WHERE {}; DELETE FROM event WHERE {}", key(4, 1), key(2, 3));
    assert_eq!(l.first(&several), (2, 3, "trail_gap"));
    let several = format!("DELETE FROM event WHERE {}; DELETE FROM event WHERE {}", key(2, 2), key(2, 4));
    assert_eq!(l.first(&several), (2, 2, "trail_gap"));
}

#[test]
fn a_history_that_was_cut_short_without_a_trace_is_found_by_the_log() {
    let l = Ledger::new(3);
    // The last event is removed, and the record is adapted to the rest.
    let cut = format!(
        "DELETE FROM event WHERE k = (SELECT max(k) FROM event WHERE k >> 16 = {NTH} 1));
         UPDATE settlement SET version = version - 1,
            head = (SELECT hash FROM event WHERE k >> 16 = {NTH} 1) ORDER BY k DESC LIMIT 1) WHERE no = {NTH} 1)"
    );
    let report = l.after(&cut);
    assert!(report.problems.iter().all(|problem| problem.code != "trail_head"), "{:?}", report.problems);
    let first = report.first_broken.unwrap();
    assert_eq!((&first.settlement, first.code), (&l.ids[1], "feed_without_event"));
}

#[test]
fn faults_of_the_log_are_found() {
    let l = Ledger::new(80);
    let of_log = |sql: &str, code: &str| {
        let codes = l.codes(sql);
        assert!(codes.contains(&code), "{sql}: {codes:?}");
    };
    // An event that should be in the log is not; one that waits need not be.
    of_log("DELETE FROM feed WHERE position = 9", "feed_gap");
    of_log("DELETE FROM feed WHERE position = 9", "event_not_logged");
    of_log("DELETE FROM unlogged", "event_not_logged");
    of_log(
        "UPDATE unlogged SET changes = (SELECT changes FROM unlogged); INSERT INTO unlogged SELECT no + 1, changes FROM unlogged",
        "unlogged_twice",
    );
    of_log("UPDATE feed SET position = 100000 WHERE position = 9", "feed_gap");
    of_log("UPDATE feed SET owner = 9 << 2 | 1 WHERE position = 9", "feed_differs");
    of_log("UPDATE feed SET at = 1 WHERE position = 9", "feed_differs");
    of_log("UPDATE feed SET leaf = 8 WHERE position = 10", "leaf_differs");
    of_log("UPDATE feed SET leaf = 900000000 WHERE position = 10", "leaf_differs");
    // Leaves and tiles.
    of_log("UPDATE tile SET entries = CAST(zeroblob(32) || substr(entries, 33) AS BLOB) WHERE k = 0", "leaf_differs");
    of_log("UPDATE tile SET entries = CAST(zeroblob(32) || substr(entries, 33) AS BLOB) WHERE k = 0", "tile_differs");
    of_log("UPDATE tile SET entries = zeroblob(32) WHERE k = 1 << 56", "tile_differs");
    of_log("DELETE FROM tile WHERE k = 1 << 56", "tile_differs");
    of_log("INSERT INTO tile SELECT 1 << 56 | 1, zeroblob(32)", "tile_too_many");
    of_log("INSERT INTO tile SELECT 2 << 56, zeroblob(32)", "tile_too_many");
    of_log("INSERT INTO tile SELECT max(k) + 1, zeroblob(32) FROM tile WHERE k < 1 << 56", "tile_gap");
    of_log("UPDATE tile SET entries = CAST(entries || zeroblob(32) AS BLOB) WHERE k = 1", "leaf_without_event");
    of_log("UPDATE log_head SET events = events + 1", "log_size");
    of_log("UPDATE log_head SET events = 4000000000000000000", "log_size");
    of_log("DELETE FROM log_head", "log_size");
    of_log("DELETE FROM tile", "leaf_differs");
    let two_one = "UPDATE feed SET leaf = -1 WHERE position = 1; UPDATE feed SET leaf = 0 WHERE position = 2; UPDATE feed SET leaf = 1 WHERE leaf = -1";
    of_log(two_one, "leaf_differs");
}

#[test]
fn faults_of_webhooks_are_found() {
    let l = Ledger::new(3);
    for (sql, codes) in [
        ("DELETE FROM queue", &["webhook_without_queue"][..]),
        ("DELETE FROM endpoint_secret", &["webhook_without_secret"]),
        ("UPDATE endpoint_secret SET until = 5", &["webhook_without_secret"]),
        ("UPDATE queue SET due = NULL", &["delivery_stranded"]),
        ("UPDATE delivery SET due = NULL", &["delivery_state"]),
        ("UPDATE delivery SET settlement = 999", &["delivery_without_event"]),
        ("UPDATE endpoint SET client = 99", &["webhook_without_client"]),
        ("DELETE FROM endpoint", &["queue_without_webhook", "secret_without_webhook", "delivery_without_webhook"]),
        ("UPDATE endpoint SET no = 4000000000", &["webhook_numbers"]),
        ("UPDATE delivery SET endpoint = 7", &["delivery_without_webhook"]),
    ] {
        let found = l.codes(sql);
        assert!(codes.iter().all(|code| found.contains(code)), "{sql}: {found:?}");
    }
}

/// One action of a client, a host or time.
#[derive(Debug, Clone)]
enum Deed {
    Pay(u8),
    Reverse(u8),
    Work,
    Log(usize),
    Hook,
    Hooked(u8, u8),
    Deliver(u16, bool),
    Pass(i64),
    Maintain,
}

fn any_deed() -> impl Strategy<Value = Deed> {
    prop_oneof![
        4 => any::<u8>().prop_map(Deed::Pay),
        2 => any::<u8>().prop_map(Deed::Reverse),
        3 => Just(Deed::Work),
        3 => (0usize..9).prop_map(Deed::Log),
        1 => Just(Deed::Hook),
        2 => (any::<u8>(), 0u8..8).prop_map(|(which, what)| Deed::Hooked(which, what)),
        3 => (prop::sample::select(vec![200u16, 500, 410]), any::<bool>()).prop_map(|(status, lost)| Deed::Deliver(status, lost)),
        2 => prop::sample::select(vec![1, 6_000, 400_000, 90_000_000, 3_000_000_000]).prop_map(Deed::Pass),
        1 => Just(Deed::Maintain),
    ]
}

/// The command to run now for an action; `None` if it has no object.
fn command(s: &Sandbox, hooks: &[Ulid], deed: &Deed, n: usize) -> Option<AnyCommand> {
    let caller = s.caller;
    Some(match deed {
        Deed::Pay(to) => {
            let to = ["sim:ok", "sim:decline-over_limit", "sim:failover", "sim:timeout-then-ok", "sim:slow-30s"][usize::from(*to) % 5];
            let body = format!(r#"{{"amount":10,"currency":"EUR","to":"{to}","reference":"r{n}"}}"#);
            AnyCommand::new(create(&s.engine, caller, &body))
        }
        Deed::Reverse(which) => {
            let reference = format!("r{}", usize::from(*which) % (n + 1));
            AnyCommand::new(reverse(caller, &reference, r#"{"amount":3}"#))
        }
        Deed::Log(limit) => AnyCommand::new(NumberEvents { limit: *limit }),
        Deed::Hook => AnyCommand::new(new_hook(caller, None)),
        Deed::Hooked(which, what) => {
            let id = hooks.get(usize::from(*which) % hooks.len().max(1)).copied()?;
            let disable = WebhookPatch { enabled: Some(false), ..Default::default() };
            match what {
                0 => AnyCommand::new(DeleteWebhook { caller, id }),
                1 | 2 => AnyCommand::new(EnableWebhook { caller, id }),
                3 => AnyCommand::new(UpdateWebhook { caller, id, patch: disable }),
                4 => AnyCommand::new(RotateWebhookSecret { caller, id, grace_ms: 5_000 }),
                5 => AnyCommand::new(Replay { caller, id, since: 0, until: i64::MAX, after: 0, before: 0 }),
                _ => AnyCommand::new(TestWebhook { caller, id, topic: Topic::Event(EventType::SettlementCompleted) }),
            }
        }
        Deed::Deliver(..) => AnyCommand::new(LeaseQueues { healthy: 3, troubled: 2, in_flight: Vec::new() }),
        Deed::Maintain => AnyCommand::new(Maintain),
        Deed::Work | Deed::Pass(_) => return None,
    })
}

fn play(deeds: &[(Deed, bool)]) {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let s = Sandbox::over(store, sealing(), 3);
    let (mut hooks, mut group, mut reports) = (Vec::new(), Vec::new(), Vec::new());
    for (n, (deed, joined)) in deeds.iter().enumerate() {
        match deed {
            Deed::Work => s.work(),
            Deed::Pass(ms) => s.env.advance_to(s.env.now() + ms),
            _ => group.extend(command(&s, &hooks, deed, n)),
        }
        if *joined {
            continue;
        }
        group.append(&mut reports);
        for output in s.engine.run_all(std::mem::take(&mut group)).into_iter().flatten() {
            if let Some(ChangedWebhook { endpoint, secret: Some(_) }) = output.get() {
                hooks.push(endpoint.id);
            }
            let Deed::Deliver(status, false) = deed else { continue };
            for parcel in output.get::<Vec<Parcel>>().into_iter().flatten() {
                let outcome = LastTry { at: s.env.now(), took_ms: 1, status: Some(*status), error: None, excerpt: String::new() };
                let tries = parcel.deliveries.iter().map(|delivery| delivery.no);
                let tries =
                    tries.map(|delivery| Tried { delivery, outcome: outcome.clone(), retry_after: None, is_too_late: false }).collect();
                reports.push(AnyCommand::new(Delivered { endpoint: parcel.endpoint, until: parcel.until, tries, more: *status == 200 }));
            }
        }
        s.assert_sound();
    }
    log_all(&s.engine);
    s.assert_sound();
    support::log::assert_logged(&*s.store);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_done_in_whatever_order_nothing_is_found(
        deeds in prop::collection::vec((any_deed(), prop::bool::weighted(0.4)), 1..60)
    ) {
        play(&deeds);
    }
}
