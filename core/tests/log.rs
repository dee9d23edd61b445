//! The log over all events: complete, in order, and provable, whichever node numbers it and whatever fails in the meantime.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use crate::support;
use std::sync::Arc;

use crate::support::log::{
    assert_feed_shows_traces, assert_logged, assert_trees, events_of, feeds, head, leaves, log_all, log_some, unlogged,
};
use crate::support::meddling::Meddling;
use crate::support::receiver::new_hook;
use crate::support::{START, Sandbox, create, enroll, reverse, sealing, target, together};
use railgate::api::Caller;
use railgate::engine::{NumberEvents, Operated, Recover, Rotate, Slot};
use railgate::env::{Env, ManualEnv};
use railgate::ids::SettlementNo;
use railgate::ledger::Mode;
use railgate::lifecycle::SettlementStatus;
use railgate::log::{self, Tiles, verify_proof};
use railgate::participant::Reference;
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{EventRecord, Key, LoggedEvent, Record, SecretKind, TileRecord, UnloggedRecord};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Commit, CommitError, Scan, Store, StoreError, Unique, Write, typed};
use railgate::{Config, Engine};

const SANDBOX: Mode = Mode::Sandbox;

fn sandbox() -> Sandbox {
    Sandbox::over(Arc::new(MemoryStore::new()), sealing(), 1)
}

fn pay(engine: &Engine, caller: Caller, reference: &str, to: &str) {
    let body = format!(r#"{{"amount":10.00,"currency":"EUR","to":"{to}","reference":"{reference}"}}"#);
    engine.run(create(engine, caller, &body)).unwrap();
}

fn work(engine: &Engine) {
    while engine.work(64, &()).unwrap() > 0 {}
}

/// The rows of the sandbox's tree in a store.
struct Rows<'a>(&'a dyn Store);

impl Tiles for Rows<'_> {
    type Error = StoreError;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let row: Option<TileRecord> = typed(self.0.get(&Key::Tile((SANDBOX, level, index as i64)))?)?;
        Ok(row.map(|row| row.entries))
    }
}

/// A live settlement with its first event, as committed by the engine: no provider here accepts live ones.
fn write_live(s: &Sandbox, like: &str, no: i64) {
    let mut record = s.engine.settlement(&s.caller, &target(like)).unwrap();
    let mut event = events_of(&*s.store, record.no).remove(0);
    (record.no, record.mode, record.version, record.status) = (SettlementNo(no), Mode::Live, 1, SettlementStatus::Accepted);
    record.reference = Reference::parse(&format!("live-{no}")).unwrap();
    event.settlement = record.no;
    let mut change = unlogged(&*s.store)[0].changes[0].clone();
    (change.settlement, change.client, change.mode) = (record.no, record.client, Mode::Live);
    change.version = 1;
    change.events = vec![LoggedEvent { kind: event.kind, at: event.at, hash: event.hash }];
    let row = UnloggedRecord { no: no << 20, changes: vec![change] };
    let writes = vec![Write::Insert(record.into()), Write::Insert(event.into()), Write::Insert(row.into())];
    s.store.commit(&Commit { writes }).unwrap();
}

#[test]
fn every_client_and_mode_has_a_feed_of_its_own_without_gaps() {
    let s = sandbox();
    let live = Caller { mode: Mode::Live, ..s.caller };
    let other = enroll(&s.engine, "Other");
    s.pay("r", "sim:ok");
    for n in 0..30 {
        let to = ["sim:ok", "sim:decline-over_limit", "sim:failover"][n / 2 % 3];
        pay(&s.engine, [s.caller, other][n % 2], &format!("r{n}"), to);
        write_live(&s, "r", 1_000_000 + n as i64);
        if n % 4 == 0 {
            s.work();
            log_some(&s.engine, 7);
        }
    }
    s.pass(86_400_000);
    s.reverse("r0", r#"{"amount":3}"#).unwrap();
    s.pass(86_400_000);
    log_all(&s.engine);
    assert_logged(&*s.store);
    assert_trees(&s.engine, &*s.store);
    let all: Vec<usize> = [s.caller, live, other].iter().map(|caller| s.engine.feed(caller, 0, 1_000).unwrap().len()).collect();
    assert!(all[0] > 30 && all[1] == 30 && all[2] > 30, "{all:?}");
    assert_eq!(all.iter().sum::<usize>(), feeds(&*s.store).len());
    for caller in [&s.caller, &live, &other] {
        assert_feed_shows_traces(&s.engine, caller);
        let feed = s.engine.feed(caller, 0, 1_000).unwrap();
        let (first, rest) = (s.engine.feed(caller, 0, 5).unwrap(), s.engine.feed(caller, 5, 1_000).unwrap());
        let positions = |feed: &[railgate::api::FeedEventView]| feed.iter().map(|entry| entry.position).collect::<Vec<_>>();
        assert_eq!([positions(&first), positions(&rest)].concat(), (1..=feed.len() as i64).collect::<Vec<_>>());
    }
}

#[test]
fn logging_goes_on_in_parts_and_ends() {
    let s = sandbox();
    for n in 0..20 {
        s.pay(&format!("r{n}"), "sim:ok");
    }
    s.work();
    let mut parts = Vec::new();
    loop {
        let logged = log_some(&s.engine, 10);
        parts.push(logged.events);
        if !logged.more {
            break;
        }
    }
    assert!(parts.len() > 2, "{parts:?}");
    assert_eq!(log_some(&s.engine, 10), railgate::api::Logged::default());
    let (mut one, mut next) = (Slot::new(NumberEvents { limit: 5 }), Slot::new(NumberEvents { limit: 5 }));
    assert!(!s.engine.execute(&mut [&mut one, &mut next]).unlogged);
    assert!([one, next].into_iter().all(|slot| slot.into_result().unwrap().is_ok()));
    assert_logged(&*s.store);
}

#[test]
fn a_host_learns_that_there_is_something_to_log_and_whose_feed_grew() {
    let s = sandbox();
    let mut create = Slot::new(create(&s.engine, s.caller, r#"{"amount":1,"currency":"EUR","to":"sim:ok","reference":"r"}"#));
    assert!(s.engine.execute(&mut [&mut create]).unlogged);
    let effects = s.engine.execute(&mut [&mut Slot::new(NumberEvents { limit: 10 })]);
    assert!(!effects.unlogged);
    assert_eq!(effects.fed, [(s.caller.client, Mode::Sandbox)]);
}

/// Two engines over one store; the second one's clock is `behind` by this many milliseconds.
fn two_nodes(store: Arc<dyn Store>, behind: i64) -> (Sandbox, Engine, Arc<ManualEnv>) {
    let ahead = Sandbox::over(store.clone(), Config { owner: Some(1), ..sealing() }, 1);
    let slow = Arc::new(ManualEnv::new(START - behind, 2));
    let node = Engine::open(store, slow.clone(), Config { owner: Some(2), ..sealing() }).unwrap();
    (ahead, node, slow)
}

#[test]
fn a_trace_stays_in_order_where_nodes_clocks_differ() {
    let (ahead, behind, slow) = two_nodes(Arc::new(MemoryStore::new()), 20_000);
    for n in 0..50 {
        ahead.pay(&format!("r{n}"), "sim:ok");
    }
    // The node whose clock is behind writes: its rows sort first and wait for rows that sort after them.
    slow.advance_to(START - 20_000);
    for n in 0..50 {
        behind.run(reverse(ahead.caller, &format!("r{n}"), "")).unwrap();
    }
    let rows = unlogged(&*ahead.store);
    assert_eq!(rows.len(), 100);
    assert!(rows[..50].iter().all(|row| row.changes.iter().all(|change| change.version == 2)));
    let logged = log_some(&ahead.engine, 10);
    assert!(logged.events > 0, "what the first rows wait for is found behind them");
    log_all(&ahead.engine);
    assert_logged(&*ahead.store);
    assert_trees(&ahead.engine, &*ahead.store);
}

#[test]
fn a_trace_stays_in_order_however_old_what_waits_is() {
    let (ahead, behind, _) = two_nodes(Arc::new(MemoryStore::new()), 5);
    for n in 0..50 {
        ahead.pay(&format!("r{n}"), "sim:ok");
        behind.run(reverse(ahead.caller, &format!("r{n}"), "")).unwrap();
    }
    // Nothing was logged for an hour.
    ahead.env.advance_to(ahead.env.now() + 3_600_000);
    while log_some(&ahead.engine, 1).more {}
    assert_logged(&*ahead.store);
}

#[test]
fn what_waits_in_vain_is_logged_all_the_same() {
    let s = sandbox();
    s.pay("r", "sim:ok");
    s.pay("other", "sim:ok");
    log_all(&s.engine);
    s.work();
    // One row is manipulated: it loses the first of its changes.
    let mut rows = unlogged(&*s.store);
    assert!(rows[0].changes.len() >= 2);
    let gone = rows[0].changes.remove(0);
    let row = UnloggedRecord { no: rows[0].no, changes: rows[0].changes.clone() };
    s.store.commit(&Commit { writes: vec![Write::Replace(row.into())] }).unwrap();
    while log_some(&s.engine, 100).events > 0 {}
    assert!(unlogged(&*s.store).iter().flat_map(|row| &row.changes).all(|change| change.settlement == gone.settlement));
    let before = unlogged(&*s.store);
    assert!(!before.is_empty());
    assert_eq!(log_some(&s.engine, 100), railgate::api::Logged::default(), "and nobody is told to come back at once");
    assert_eq!(unlogged(&*s.store), before);
    s.env.advance_to(s.env.now() + 60_001);
    log_all(&s.engine);
    assert_eq!(unlogged(&*s.store), []);
}

#[test]
fn what_waits_although_it_is_logged_holds_up_nobody() {
    for again in 0..3 {
        let s = sandbox();
        s.pay("r", "sim:ok");
        s.work();
        let rows = unlogged(&*s.store);
        log_all(&s.engine);
        // Manipulated so that some of it waits again: part of the trace, all of it, or all in one row.
        let rows: Vec<UnloggedRecord> = match again {
            0 => rows[1..].to_vec(),
            1 => rows,
            _ => vec![UnloggedRecord { no: rows[0].no, changes: rows.iter().flat_map(|row| row.changes.clone()).collect() }],
        };
        let writes = rows.into_iter().map(|row| Write::Insert(row.into())).collect();
        s.store.commit(&Commit { writes }).unwrap();
        s.pay("next", "sim:ok");
        log_all(&s.engine);
        assert_logged(&*s.store);
        s.assert_sound();
    }
}

#[test]
fn one_node_at_a_time_numbers() {
    let (one, other, clock) = two_nodes(Arc::new(MemoryStore::new()), 0);
    one.pay("r", "sim:ok");
    assert_eq!(log_some(&one.engine, 10).events, 1);
    let until = head(&*one.store).until;
    assert_eq!(until, START + 5_000);
    pay(&other, one.caller, "s", "sim:ok");
    assert_eq!(log_some(&other, 10), railgate::api::Logged { held_until: Some(until), ..Default::default() });
    clock.advance_to(until);
    assert_eq!(log_some(&other, 10).events, 1);
    assert!(log_some(&one.engine, 10).held_until.is_some(), "now the other one has it");
    // A host with exclusive use of the store need not wait.
    one.pay("t", "sim:ok");
    one.engine.run(Recover).unwrap();
    assert_eq!(log_some(&one.engine, 10).events, 1);
    assert_logged(&*one.store);
}

#[test]
fn two_nodes_that_number_at_the_same_moment_number_nothing_twice() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let slow = Meddling::over(store.clone());
    let s = Sandbox::over(store.clone(), Config { owner: Some(1), ..sealing() }, 1);
    let late = Engine::open(slow.clone(), s.env.clone(), Config { owner: Some(2), ..sealing() }).unwrap();
    for n in 0..10 {
        s.pay(&format!("r{n}"), "sim:ok");
    }
    let fast = Engine::open(store, s.env.clone(), Config { owner: Some(3), ..sealing() }).unwrap();
    slow.before_commit(move || assert_eq!(log_some(&fast, 4).events, 4));
    let logged = log_some(&late, 100);
    assert!(logged.held_until.is_some(), "deciding again, it sees who was first");
    s.env.advance_to(s.env.now() + 5_001);
    assert_eq!(log_some(&late, 100).events, 6);
    assert_logged(&*s.store);
    assert_trees(&s.engine, &*s.store);
}

#[test]
fn a_crash_before_or_after_the_commit_misses_nothing_and_doubles_nothing() {
    for fault in CommitFault::ALL {
        let faults = Arc::new(Faulty::new(MemoryStore::new()));
        let s = Sandbox::over(faults.clone(), sealing(), 1);
        for n in 0..10 {
            s.pay(&format!("r{n}"), "sim:ok");
            s.work();
            faults.script([Some(fault)]);
            let answer = s.engine.run(NumberEvents { limit: 100 });
            match fault {
                CommitFault::Unavailable | CommitFault::LostBefore => assert_eq!(answer.unwrap_err().code.as_str(), "store_unavailable"),
                // The head names the node that wrote it, so that this node can tell.
                CommitFault::Conflict | CommitFault::LostAfter => assert!(answer.is_ok(), "{fault:?}"),
            }
        }
        log_all(&s.engine);
        assert_logged(&*s.store);
        assert_trees(&s.engine, &*s.store);
        s.assert_sound();
    }
}

#[test]
fn a_change_that_was_not_committed_is_not_told_to_be_by_anothers_log() {
    let faults = Arc::new(Faulty::new(MemoryStore::new()));
    let s = Sandbox::over(faults.clone(), sealing(), 1);
    s.pay("r", "sim:ok");
    faults.script([Some(CommitFault::LostBefore)]);
    let group = || together(&s.engine, NumberEvents { limit: 10 }, new_hook(s.caller, None));
    assert!(matches!(group(), (Err(_), Err(_))));
    assert!(s.engine.webhooks(&s.caller).unwrap().is_empty());
    faults.script([Some(CommitFault::LostAfter)]);
    assert!(matches!(group(), (Ok(_), Ok(_))));
    assert_eq!(s.engine.webhooks(&s.caller).unwrap().len(), 1);
    assert_logged(&*s.store);
}

#[test]
fn a_proof_is_there_once_the_event_is_logged_and_holds_for_it_alone() {
    let s = sandbox();
    s.pay("first", "sim:ok");
    s.pay("r", "sim:ok");
    s.work();
    assert_eq!(s.engine.proof(&s.caller, &target("r")).unwrap_err().code.as_str(), "not_logged_yet");
    log_all(&s.engine);
    let keys = s.engine.log_keys(SANDBOX).unwrap();
    let proof = s.engine.proof(&s.caller, &target("r")).unwrap();
    let record = s.engine.settlement(&s.caller, &target("r")).unwrap();
    assert_eq!(proof.sequence, record.version);
    let event: EventRecord = typed(s.store.get(&Key::Event((record.no, record.version))).unwrap()).unwrap().unwrap();
    let checkpoint = verify_proof(&proof.proof, &event.hash, &keys[0]).unwrap();
    assert_eq!((checkpoint.size, checkpoint.size as i64), (proof.tree_size, head(&*s.store).leaves(SANDBOX)));
    let last = s.events("r").pop().unwrap();
    assert_eq!((Some(&proof.event_hash), &proof.event_id), (last.hash.as_ref(), &last.id));

    let mut changed = event.hash;
    changed[0] ^= 1;
    assert!(verify_proof(&proof.proof, &changed, &keys[0]).is_err());
    let before = events_of(&*s.store, record.no)[0].hash;
    assert!(verify_proof(&proof.proof, &before, &keys[0]).is_err(), "nor for another event of the same settlement");
    let others = enroll(&s.engine, "Other");
    assert_eq!(s.engine.proof(&others, &target("r")).unwrap_err().code.as_str(), "settlement_not_found");

    s.reverse("r", "").unwrap();
    assert_eq!(s.engine.proof(&s.caller, &target("r")).unwrap_err().code.as_str(), "not_logged_yet");
    log_all(&s.engine);
    assert!(s.engine.proof(&s.caller, &target("r")).unwrap().leaf_index > proof.leaf_index);
    assert!(verify_proof(&proof.proof, &event.hash, &keys[0]).is_ok(), "what was proved stays proved");
}

#[test]
fn each_checkpoint_only_adds_to_the_ones_before() {
    let s = sandbox();
    let key = s.engine.log_keys(SANDBOX).unwrap().remove(0);
    let mut seen = vec![key.open(&s.engine.checkpoint(SANDBOX).unwrap()).unwrap()];
    for n in 0..120 {
        s.pay(&format!("r{n}"), "sim:ok");
        s.work();
        if n % 9 == 0 {
            log_all(&s.engine);
            seen.push(key.open(&s.engine.checkpoint(SANDBOX).unwrap()).unwrap());
            assert_eq!(s.engine.checkpoint(SANDBOX).unwrap(), s.engine.checkpoint(SANDBOX).unwrap());
        }
    }
    let new = seen.last().unwrap();
    assert!(new.size > 256, "{}: more than one tile", new.size);
    for old in &seen {
        let proof = log::consistency(&Rows(&*s.store), old.size, new.size).unwrap();
        assert!(log::verify_consistency(old.size, new.size, &old.root, &new.root, &proof), "{} {}", old.size, new.size);
    }
    let data: Vec<u8> = leaves(&*s.store, SANDBOX).into_iter().take(256).flatten().collect();
    let path = |text: &str| log::TilePath::parse(text).unwrap();
    let tile = s.engine.log_tile(SANDBOX, &path("tile/0/000")).unwrap().unwrap();
    let hashes: Vec<u8> = data.chunks(32).flat_map(log::leaf_hash).collect();
    assert_eq!(tile, hashes);
    assert_eq!(s.engine.log_tile(SANDBOX, &path("tile/0/900")).unwrap(), None);
}

#[test]
fn a_new_log_key_signs_what_is_new_and_the_old_one_still_proves_what_it_signed() {
    let s = sandbox();
    s.pay("r", "sim:ok");
    log_all(&s.engine);
    let old_key = s.engine.log_keys(SANDBOX).unwrap().remove(0);
    let record = s.engine.settlement(&s.caller, &target("r")).unwrap();
    let hash = events_of(&*s.store, record.no)[0].hash;
    let old = s.engine.proof(&s.caller, &target("r")).unwrap().proof;
    s.engine.run(Operated(Rotate(SecretKind::Log))).unwrap();
    let keys = s.engine.log_keys(SANDBOX).unwrap();
    assert_eq!((keys.len(), keys[1].to_string()), (2, old_key.to_string()));
    let new = s.engine.proof(&s.caller, &target("r")).unwrap().proof;
    assert!(verify_proof(&old, &hash, &keys[1]).is_ok() && verify_proof(&new, &hash, &keys[0]).is_ok());
    assert!(verify_proof(&old, &hash, &keys[0]).is_err() && verify_proof(&new, &hash, &keys[1]).is_err());
}

/// A database from before the log existed, with a release's records.
fn before_the_log(dir: &std::path::Path) -> std::path::PathBuf {
    let path = dir.join("railgate.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("golden/sqlite-0001.sql")).unwrap();
    path
}

#[test]
fn a_database_from_before_the_log_is_filled_in_though_it_crashes_meanwhile() {
    let dir = tempfile();
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(before_the_log(&dir.0)).unwrap());
    let events: usize = support::log::settlements(&*store).iter().map(|record| record.version as usize).sum();
    assert!(events > 3, "{events}");
    // Every commit during opening fails once, before or after it was made.
    for fault in [CommitFault::LostBefore, CommitFault::LostAfter] {
        for nth in 0..4 {
            let faults = Faulty::new(Shared(store.clone()));
            faults.script((0..nth).map(|_| None).chain([Some(fault)]));
            let env = Arc::new(ManualEnv::new(START, 3));
            let _ = Engine::open(Arc::new(faults), env, sealing());
        }
    }
    let env = Arc::new(ManualEnv::new(START, 1));
    let engine = Engine::open(store.clone(), env.clone(), sealing()).unwrap();
    assert_eq!(head(&*store).events, events as i64);
    assert_logged(&*store);
    assert_trees(&engine, &*store);
    let caller = enroll(&engine, "New");
    pay(&engine, caller, "after", "sim:ok");
    work(&engine);
    // The node that filled in the last part had the lease on the log.
    env.advance_to(env.now() + 5_001);
    assert!(log_all(&engine) > 0);
    assert_logged(&*store);
    assert_trees(&engine, &*store);
    let again = Engine::open(store.clone(), env, sealing()).unwrap();
    assert_eq!(again.checkpoint(SANDBOX).unwrap(), engine.checkpoint(SANDBOX).unwrap(), "nothing is filled in again");
}

#[test]
fn many_settlements_from_before_the_log_are_filled_in_by_parts() {
    // The records of an older version: settlements, and no log.
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let s = Sandbox::over(store.clone(), sealing(), 1);
    for n in 0..1_100 {
        s.pay(&format!("r{n}"), "sim:ok");
    }
    s.work();
    let mut writes: Vec<Write> = unlogged(&*store).iter().map(|row| Write::Delete(Key::Unlogged(row.no))).collect();
    writes.push(Write::Delete(Key::LogHead(0)));
    store.commit(&Commit { writes }).unwrap();
    // The third commit is the second part.
    let faults = Faulty::new(Shared(store.clone()));
    faults.script([None, None, Some(CommitFault::LostAfter)]);
    assert!(Engine::open(Arc::new(faults), s.env.clone(), sealing()).is_err());
    let size = head(&*store).events;
    assert!(size > 0 && feeds(&*store).len() < 1_100 * 5);
    // The older node still runs and adds an event to a settlement that has already been filled in, and a new settlement.
    let engine = Engine::open(store.clone(), s.env.clone(), sealing()).unwrap();
    assert!(head(&*store).events > size);
    s.pay("new", "sim:ok");
    s.reverse("r0", "").unwrap();
    s.pass(60_000);
    log_all(&engine);
    assert_logged(&*store);
    assert_trees(&engine, &*store);
    s.assert_sound();
}

/// One store shared by several owners.
struct Shared(Arc<dyn Store>);

impl Store for Shared {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        self.0.commit(commit)
    }
    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.0.get(key)
    }
    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.0.find(unique)
    }
    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.0.scan(scan)
    }
}

/// A directory that is removed when the test ends.
struct Dir(std::path::PathBuf);

fn tempfile() -> Dir {
    let path = std::env::temp_dir().join(format!("railgate-log-{}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    Dir(path)
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
