//! The log has a tree for each mode: the sandbox's tells nothing about live events, and both are complete and provable.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::support::live::{assert_two_trees, both_modes, in_both_modes, live, pay, two_nodes_keep_two_trees};
use crate::support::log::{assert_logged, head, log_all, naive_root, unlogged};
use crate::support::meddling::Meddling;
use crate::support::{START, Sandbox, sealing, target};
use railgate::engine::verify::verify;
use railgate::env::{Env, ManualEnv};
use railgate::ledger::Mode;
use railgate::log::{TileKind, TilePath};
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, Later, LogHeadRecord, RecordKind};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Commit, Store, Write};
use railgate::{Config, Engine};
use rusqlite::Connection;

/// A folder that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("railgate-trees-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("railgate.db")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn on_disk(path: &Path) -> Arc<SqliteStore> {
    let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    Arc::new(SqliteStore::open_with(path, options).unwrap())
}

/// Pays in both modes, three times as often in the sandbox, and numbers nothing.
fn used(store: Arc<dyn Store>) -> Sandbox {
    let s = both_modes(store, sealing());
    for n in 0..90 {
        pay(&s.engine, s.caller, &format!("play-{n}"));
        if n % 3 == 0 {
            pay(&s.engine, live(s.caller), &format!("real-{n}"));
        }
    }
    s.work();
    s
}

#[test]
fn two_nodes_keep_the_log_of_each_mode_apart() {
    two_nodes_keep_two_trees(Arc::new(MemoryStore::new()));
    let folder = Folder::new("nodes");
    two_nodes_keep_two_trees(on_disk(&folder.file()));
}

#[test]
fn what_the_sandbox_reads_is_the_same_whatever_happens_live() {
    let quiet = both_modes(Arc::new(MemoryStore::new()), sealing());
    let busy = both_modes(Arc::new(MemoryStore::new()), sealing());
    let read = |s: &Sandbox| {
        log_all(&s.engine);
        let tile = TilePath::new(TileKind::Hashes(0), 0, 1).unwrap();
        let proof = s.engine.proof(&s.caller, &target("play")).unwrap();
        let size = s.engine.log_keys(Mode::Sandbox).unwrap()[0].open(&s.engine.checkpoint(Mode::Sandbox).unwrap()).unwrap().size;
        let beyond = TilePath::new(TileKind::Entries, 0, size as u16 + 1).unwrap();
        let served = s.engine.log_tile(Mode::Sandbox, &tile).unwrap().map(|tile| tile.len());
        (size, proof.leaf_index, proof.tree_size, served, s.engine.log_tile(Mode::Sandbox, &beyond).unwrap())
    };
    pay(&busy.engine, live(busy.caller), "real-1");
    log_all(&busy.engine);
    for s in [&quiet, &busy] {
        pay(&s.engine, s.caller, "play");
    }
    pay(&busy.engine, live(busy.caller), "real-2");
    assert_eq!(read(&quiet), read(&busy));
    assert_eq!(busy.engine.proof(&busy.caller, &target("real-1")).unwrap_err().code.as_str(), "settlement_not_found");
    assert_eq!(busy.engine.proof(&live(busy.caller), &target("real-1")).unwrap().tree_size, 2);
    // A live credential also reads its client's sandbox settlements, whose proofs come from the sandbox's tree.
    assert_eq!(busy.engine.proof(&live(busy.caller), &target("play")).unwrap().tree_size, 1);
}

#[test]
fn a_tile_of_one_tree_in_the_place_of_the_others_is_found() {
    let folder = Folder::new("verify");
    let s = used(on_disk(&folder.file()));
    log_all(&s.engine);
    assert_logged(&*s.store);
    drop(s);
    let problems = |sql: &str| {
        let copy = folder.0.join("copy.db");
        let _ = std::fs::remove_file(&copy);
        std::fs::copy(folder.file(), &copy).unwrap();
        Connection::open(&copy).unwrap().execute_batch(sql).unwrap();
        let report = verify(&SqliteStore::open_read_only(&copy).unwrap(), &mut |_| {}).unwrap();
        report.problems.into_iter().map(|problem| (problem.what, problem.code)).collect::<Vec<_>>()
    };
    assert_eq!(problems(""), []);
    const LIVE: &str = "(1 << 62)";
    let found = |sql: &str, what: &str, code: &str| {
        let problems = problems(sql);
        assert!(problems.iter().any(|problem| (problem.0.as_str(), problem.1) == (what, code)), "{sql}: {problems:?}");
    };
    found(&format!("UPDATE tile SET k = 2 WHERE k = {LIVE}"), "sandbox log", "tile_gap");
    found(&format!("UPDATE tile SET k = 2 WHERE k = {LIVE}"), "live log", "log_size");
    let swapped = format!("UPDATE tile SET entries = (SELECT entries FROM tile WHERE k = {LIVE}) WHERE k = 1");
    found(&swapped, "sandbox log", "log_size");
    let both =
        format!("UPDATE tile SET k = -1 WHERE k = 0; UPDATE tile SET k = 0 WHERE k = {LIVE}; UPDATE tile SET k = {LIVE} WHERE k = -1");
    assert!(problems(&both).iter().any(|problem| problem.1 == "leaf_differs"));
    found(&format!("INSERT INTO tile SELECT {LIVE} | (1 << 56), zeroblob(32)"), "live log", "tile_too_many");
    found("UPDATE log_head SET live = live - 1", "sandbox log", "log_size");
    found("UPDATE log_head SET live = live - 1", "live log", "log_size");
    found("UPDATE log_head SET live = NULL", "live log", "log_size");
    found("UPDATE log_head SET live = -9223372036854775807", "live log", "log_size");
    found(&format!("UPDATE tile SET entries = CAST(entries || zeroblob(32) AS BLOB) WHERE k = {LIVE}"), "live log", "leaf_without_event");
}

#[test]
fn events_of_both_modes_from_before_the_log_are_filled_in() {
    let s = used(Arc::new(MemoryStore::new()));
    let mut writes: Vec<Write> = unlogged(&*s.store).iter().map(|row| Write::Delete(Key::Unlogged(row.no))).collect();
    writes.push(Write::Delete(Key::LogHead(0)));
    s.store.commit(&Commit { writes }).unwrap();
    let again = Engine::open(s.store.clone(), s.env.clone(), in_both_modes(sealing())).unwrap();
    assert_logged(&*s.store);
    assert_two_trees(&Sandbox { engine: again, ..s });
}

/// A database of an earlier release, with the log in one tree.
fn earlier(folder: &Folder) -> PathBuf {
    Connection::open(folder.file()).unwrap().execute_batch(include_str!("golden/sqlite-0003.sql")).unwrap();
    folder.file()
}

fn tiles(path: &Path) -> Vec<(i64, Vec<u8>)> {
    let database = Connection::open(path).unwrap();
    let mut statement = database.prepare("SELECT k, entries FROM tile ORDER BY k").unwrap();
    statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

#[test]
fn the_tree_of_an_earlier_release_stays_the_sandboxs_to_the_byte() {
    let folder = Folder::new("earlier");
    let path = earlier(&folder);
    let before = tiles(&path);
    let leaves: Vec<[u8; 32]> = before[0].1.chunks(32).map(|leaf| leaf.try_into().unwrap()).collect();
    assert_eq!((before.len(), leaves.len()), (1, 20));
    assert_eq!(head(&*on_disk(&path)).live, Later(None));
    let open = |store: Arc<dyn Store>| Engine::open(store, Arc::new(ManualEnv::new(START, 3)), sealing());
    // The commit that separates the trees fails, before or after it was made.
    for fault in [CommitFault::LostBefore, CommitFault::LostAfter] {
        let faults = Faulty::new(SqliteStore::open(&path).unwrap());
        faults.script([Some(fault)]);
        let _ = open(Arc::new(faults));
    }
    let store: Arc<dyn Store> = on_disk(&path);
    let engine = open(store.clone()).unwrap();
    let note = engine.checkpoint(Mode::Sandbox).unwrap();
    let checkpoint = engine.log_keys(Mode::Sandbox).unwrap()[0].open(&note).unwrap();
    assert_eq!((checkpoint.origin.as_str(), checkpoint.size, checkpoint.root), ("railgate/log", 20, naive_root(&leaves)));
    assert!(engine.checkpoint(Mode::Live).unwrap().starts_with("railgate/log/live\n0\n"));
    assert_eq!(tiles(&path), before);
    assert_eq!(head(&*store).live, Later(Some(0)));
    // A server of that release that still runs can neither read nor write the head, so it adds nothing to the tree.
    let database = Connection::open(&path).unwrap();
    assert!(database.prepare("SELECT size, owner, until FROM log_head ORDER BY size DESC LIMIT 1").is_err());
    assert!(database.prepare("INSERT INTO log_head (size, owner, until) VALUES (?1, ?2, ?3)").is_err());
    assert!(verify(&*store, &mut |_| {}).unwrap().is_ok());
}

/// Makes the log one of an earlier release, with all events in one tree.
fn in_one_tree(store: &dyn Store) -> LogHeadRecord {
    let mixed = LogHeadRecord { live: Later(None), ..head(store) };
    store.commit(&Commit { writes: vec![Write::Replace(mixed.into())] }).unwrap();
    mixed
}

#[test]
fn of_two_nodes_that_upgrade_together_the_slower_changes_nothing() {
    let s = both_modes(Arc::new(MemoryStore::new()), sealing());
    pay(&s.engine, s.caller, "before");
    log_all(&s.engine);
    in_one_tree(&*s.store);
    s.work();
    s.env.advance_to(s.env.now() + 5_001);
    let slow = Meddling::over(s.store.clone());
    let (store, env) = (s.store.clone(), s.env.clone());
    slow.before_write(RecordKind::LogHead, move || {
        let fast = Engine::open(store, env, in_both_modes(Config { owner: Some(3), ..sealing() })).unwrap();
        log_all(&fast);
    });
    let late = Engine::open(slow, s.env.clone(), in_both_modes(Config { owner: Some(4), ..sealing() })).unwrap();
    assert!(head(&*s.store).events > 1);
    pay(&late, live(s.caller), "real");
    s.env.advance_to(s.env.now() + 5_001);
    log_all(&late);
    assert_logged(&*s.store);
    assert_two_trees(&s);
}

#[test]
fn one_tree_with_events_of_both_modes_is_refused_and_left_as_it_is() {
    let s = used(Arc::new(MemoryStore::new()));
    log_all(&s.engine);
    let mixed = in_one_tree(&*s.store);
    let Err(refused) = Engine::open(s.store.clone(), s.env.clone(), sealing()) else { panic!("it was opened") };
    let cause = std::error::Error::source(&refused).unwrap().to_string();
    assert!(cause.contains("live and sandbox events in one tree"), "{cause}");
    assert_eq!(head(&*s.store), mixed);
}
