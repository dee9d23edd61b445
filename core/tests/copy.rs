//! Copying a store: whatever stops a copy, the same call continues it, and in the end both stores are equal and behave alike.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use crate::support;
use std::sync::Arc;

use crate::support::Sandbox;
use crate::support::meddling::Meddling;
use railgate::engine::verify;
use railgate::env::{Env, ManualEnv};
use railgate::ledger::Owner;
use railgate::store::conformance::fixtures::*;
use railgate::store::copy::{CopyError, Report, Step, copy};
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, MetaRecord, Record, RecordKind, SettlementRecord};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Commit, Scan, Store, Write};
use railgate::{Config, Engine};

/// All records of a store, in order.
fn everything(store: &dyn Store) -> Vec<Record> {
    let all = |kind: &RecordKind| store.scan(&Scan::all(*kind, usize::MAX)).unwrap();
    RecordKind::ALL.iter().flat_map(all).collect()
}

/// A store that has been in use: payments with every outcome, reversals, and payments still in progress.
fn served(store: Arc<dyn Store>) -> Sandbox {
    let sandbox = Sandbox::over(store, Config { owner: Some(1), ..support::sealing() }, 7);
    let scenarios = ["sim:ok", "sim:slow-30s", "sim:decline-over_limit", "sim:timeout-then-ok", "sim:returned-after-1d", "sim:pending"];
    for n in 0..48 {
        sandbox.pay(&format!("r{n}"), scenarios[n % scenarios.len()]);
        sandbox.pass(2_000);
        if n % 6 == 0 {
            sandbox.reverse(&format!("r{n}"), r#"{"amount":3}"#).unwrap();
        }
    }
    sandbox
}

fn equal(report: &Report) {
    assert!(report.is_equal(), "{:?}", report.kinds.iter().filter(|kind| kind.source != kind.target).collect::<Vec<_>>());
}

fn copied(from: &dyn Store, to: &dyn Store) -> Report {
    let report = copy(from, to, &mut |_| {}).unwrap();
    equal(&report);
    assert_eq!(everything(from), everything(to));
    report
}

fn on_disk(folder: &std::path::Path, name: &str) -> SqliteStore {
    let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    SqliteStore::open_with(&folder.join(name), options).unwrap()
}

/// A folder that is removed with the test.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("railgate-copy-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A gateway's records and many more: a few of each kind, and enough of one kind to fill several pages.
fn large() -> MemoryStore {
    let store = MemoryStore::new();
    let key = MetaRecord { name: "id_key".to_owned(), value: vec![7; 16] };
    store.commit(&commit([insert(key)])).unwrap();
    for from in [0, 1_000] {
        let each = |no: i64| {
            let payment = Write::Post(transfer(no, 1, account(Owner::Funding), account_of(1), no + 1));
            [insert(settlement(no, 1, &no.to_string())), insert(event(no, 1)), insert(task(no, 1)), payment]
        };
        store.commit(&commit((from..from + 750).flat_map(each))).unwrap();
    }
    store
}

#[test]
fn a_store_is_copied_from_memory_to_disk_and_back() {
    let memory = Arc::new(MemoryStore::new());
    let sandbox = served(memory.clone());
    let folder = Folder::new("there-and-back");
    let disk = on_disk(&folder.0, "a.db");
    let report = copied(&*memory, &disk);
    let (accounts, all) = (report.kinds[RecordKind::Account as usize].source.records, everything(&disk).len() as u64);
    assert_eq!((report.resumed, report.copied), (0, all - accounts));
    assert_eq!(report.kinds.iter().map(|kind| kind.target.records).sum::<u64>(), all);
    assert_eq!(verify::verify(&disk, &mut |_| {}).unwrap().problems, []);
    let back = MemoryStore::new();
    copied(&disk, &back);
    let beside = on_disk(&folder.0, "b.db");
    assert_eq!(copied(&back, &beside).kinds, report.kinds, "the same hashes, whatever the store");

    // Payments in progress continue in the copy, from the state in the source.
    let engine = Config { owner: Some(1), ..support::sealing() };
    let env = Arc::new(ManualEnv::new(sandbox.env.now(), 3));
    let other = Engine::open(Arc::new(disk), env, engine).unwrap();
    for n in 0..48 {
        let reference = support::target(&format!("r{n}"));
        let (here, there) = (sandbox.engine.settlement(&sandbox.caller, &reference), other.settlement(&sandbox.caller, &reference));
        assert_eq!(here.unwrap(), there.unwrap());
    }
}

#[test]
fn a_copy_has_none_of_the_servers_of_its_source() {
    let (source, target) = (large(), MemoryStore::new());
    source.commit(&commit([insert(node(1, None)), insert(node(7, Some("http://10.0.0.7:8080")))])).unwrap();
    equal(&copy(&source, &target, &mut |_| {}).unwrap());
    let nodes = |store: &MemoryStore| store.scan(&Scan::all(RecordKind::Node, usize::MAX)).unwrap().len();
    assert_eq!((nodes(&source), nodes(&target)), (2, 0));
    // A server that starts over the copy makes it no other store than its source.
    target.commit(&commit([insert(node(9, None))])).unwrap();
    equal(&copy(&source, &target, &mut |_| {}).unwrap());
}

#[test]
fn a_copy_that_was_stopped_at_any_commit_goes_on() {
    let source = large();
    let mut stopped = 0;
    for fault in CommitFault::ALL {
        for before in 0..12 {
            let target = Faulty::new(MemoryStore::new());
            target.script(std::iter::repeat_n(None, before).chain([Some(fault)]));
            match copy(&source, &target, &mut |_| {}) {
                // The mark proves that a commit was made although its response was lost; only the first and last commit have no
                // mark.
                Ok(report) => equal(&report),
                Err(CopyError::Commit(_)) => {
                    stopped += 1;
                    target.calm();
                    let now = everything(target.inner()).len() as u64;
                    let report = copied(&source, target.inner());
                    let accounts = report.kinds[RecordKind::Account as usize].source.records;
                    assert!(report.copied == 0 || report.resumed + report.copied == everything(&source).len() as u64 - accounts);
                    assert!(report.resumed <= now, "{report:?}");
                }
                Err(other) => panic!("{other}"),
            }
            assert_eq!(everything(&source), everything(target.inner()));
        }
    }
    assert!(stopped > 3 * 8, "{stopped} times");
}

#[test]
fn reading_that_fails_stops_a_copy_and_it_goes_on() {
    let (source, target) = (Faulty::new(large()), MemoryStore::new());
    let mut seen = 0;
    let stopped = copy(&source, &target, &mut |progress| {
        seen += 1;
        if seen == 5 {
            assert_eq!((progress.step, progress.records > 0), (Step::Copying, true));
            source.fail_reads(1);
        }
    });
    assert!(matches!(stopped, Err(CopyError::Source(_))), "{stopped:?}");
    assert!(copied(source.inner(), &target).resumed > 0);
}

#[test]
fn nobody_serves_half_a_copy() {
    let (source, target) = (Arc::new(MemoryStore::new()), Arc::new(Faulty::new(MemoryStore::new())));
    served(source.clone());
    target.script([None, None, None, Some(CommitFault::Unavailable)]);
    assert!(copy(&*source, &*target, &mut |_| {}).is_err());
    let open = || Engine::open(target.clone(), Arc::new(ManualEnv::new(0, 1)), Config::default());
    let refused = open().err().unwrap();
    let cause = std::error::Error::source(&refused).unwrap().to_string();
    assert!(cause.contains("a copy that is not finished"), "{cause}");
    let from_half = copy(&*target, &MemoryStore::new(), &mut |_| {});
    assert!(matches!(from_half, Err(CopyError::SourceUnfinished)), "{from_half:?}");
    copied(&*source, target.inner());
    assert!(open().is_ok());
}

/// A store in which somebody else writes just before the first commit.
fn outrun_by(other: Commit) -> Arc<Meddling> {
    let store = Arc::new(MemoryStore::new());
    let outrun = Meddling::over(store.clone());
    outrun.before_commit(move || store.commit(&other).unwrap());
    outrun
}

#[test]
fn of_a_copy_and_a_server_that_begin_at_one_moment_never_both_go_on() {
    let source = large();
    // The server is first: the copy gives up and leaves no mark.
    let served = commit([insert(MetaRecord { name: "id_key".to_owned(), value: vec![8; 16] })]);
    let target = outrun_by(served.clone());
    assert!(matches!(copy(&source, &*target, &mut |_| {}), Err(CopyError::TargetTaken)));
    assert_eq!(everything(&*target).len(), 1);
    let open = |store: Arc<dyn Store>| Engine::open(store, Arc::new(ManualEnv::new(0, 1)), Config::default());
    assert!(open(target).is_ok());

    // The same for a copy that was stopped after its mark.
    let target = Faulty::new(MemoryStore::new());
    target.script([Some(CommitFault::LostAfter)]);
    assert!(copy(&source, &target, &mut |_| {}).is_err());
    target.inner().commit(&served).unwrap();
    assert!(matches!(copy(&source, target.inner(), &mut |_| {}), Err(CopyError::TargetTaken)));
    assert_eq!(everything(target.inner()).len(), 1);

    // The copy is first: the server does not start.
    let marked = commit([insert(MetaRecord { name: "copy".to_owned(), value: vec![] })]);
    let refused = open(outrun_by(marked)).err().unwrap();
    let cause = std::error::Error::source(&refused).unwrap().to_string();
    assert!(cause.contains("a copy that is not finished"), "{cause}");
}

#[test]
fn only_an_empty_target_or_half_a_copy_of_this_source_is_taken() {
    let (source, other) = (large(), MemoryStore::new());
    let key = MetaRecord { name: "id_key".to_owned(), value: vec![8; 16] };
    other.commit(&commit([insert(key), insert(client(1, 11))])).unwrap();
    let refused = |to: &dyn Store| copy(&source, to, &mut |_| {}).unwrap_err();
    assert!(matches!(refused(&other), CopyError::TargetTaken));
    let begun = Faulty::new(MemoryStore::new());
    begun.script([None, None, Some(CommitFault::Unavailable)]);
    assert!(copy(&other, &begun, &mut |_| {}).is_err());
    assert!(matches!(refused(&begun), CopyError::OtherSource));
    let nothing = copy(&MemoryStore::new(), &MemoryStore::new(), &mut |_| {});
    assert!(matches!(nothing, Err(CopyError::NothingThere)), "{nothing:?}");

    // A complete target is only compared; a target that has been used since is another store.
    let target = MemoryStore::new();
    copied(&source, &target);
    assert_eq!(copied(&source, &target).copied, 0);
    target.commit(&commit([insert(task(9_999, 1))])).unwrap();
    assert!(matches!(refused(&target), CopyError::TargetTaken));
}

#[test]
fn a_source_that_changes_is_found_out() {
    // A change between two tries that moves the end of a sequence: detected at once.
    let (source, target) = (large(), Faulty::new(MemoryStore::new()));
    target.script([None, None, None, Some(CommitFault::Unavailable)]);
    assert!(copy(&source, &target, &mut |_| {}).is_err());
    source.commit(&commit([insert(settlement(5_000, 1, "late"))])).unwrap();
    let refused = copy(&source, target.inner(), &mut |_| {});
    assert!(matches!(refused, Err(CopyError::SourceChanged)), "{refused:?}");

    // A change anywhere during the copy: detected by the comparison.
    let (source, target) = (large(), MemoryStore::new());
    let changed = SettlementRecord { version: 2, needs_review: true, ..settlement(5, 1, "5") };
    let mut once = Some(Commit { writes: vec![update(changed, 1)] });
    let report = copy(&source, &target, &mut |progress| {
        if progress.kind == RecordKind::Event
            && let Some(change) = once.take()
        {
            source.commit(&change).unwrap();
        }
    });
    let report = report.unwrap();
    let differ: Vec<RecordKind> = report.kinds.iter().filter(|kind| kind.source != kind.target).map(|kind| kind.kind).collect();
    assert_eq!(differ, [RecordKind::Settlement]);
    assert!(Engine::open(Arc::new(target), Arc::new(ManualEnv::new(0, 1)), Config::default()).is_err(), "it keeps its mark");

    // A change after the comparison of its kind: detected by the ends.
    let (source, target) = (large(), MemoryStore::new());
    let mut once = Some(Commit { writes: vec![insert(settlement(5_000, 1, "late"))] });
    let refused = copy(&source, &target, &mut |progress| {
        if progress.step == Step::ReadingTarget
            && let Some(change) = once.take()
        {
            source.commit(&change).unwrap();
        }
    });
    assert!(matches!(refused, Err(CopyError::SourceChanged)), "{refused:?}");
    assert!(target.get(&Key::Meta("copy".to_owned())).unwrap().is_some());
}

/// If nodes draw numbers at the same time, incoming money may have a higher number than the payment it was spent on.
#[test]
fn money_that_came_in_under_a_higher_number_than_it_went_out_under_is_copied() {
    let source = MemoryStore::new();
    let key = MetaRecord { name: "id_key".to_owned(), value: vec![7; 16] };
    let came = (2_500..2_510).map(|no| funding(no, account_of(1), 100));
    source.commit(&commit(came.chain([insert(key)]))).unwrap();
    let went = (0..1_000).map(|no| Write::Post(transfer(no, 1, account_of(1), account(Owner::Funding), 1)));
    source.commit(&commit(went)).unwrap();
    let others = (1_000..2_500).map(|no| funding(no, account_of(2), 1));
    source.commit(&commit(others)).unwrap();
    copied(&source, &MemoryStore::new());
}
