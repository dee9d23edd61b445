//! A restored backup: what followers of feeds and keepers of checkpoints are told, before and after its operator begins an epoch.
#![cfg(feature = "testkit")]

use std::sync::Arc;

use crate::support::log::{assert_logged, log_all};
use crate::support::{Sandbox, sealing, together};
use railgate::Engine;
use railgate::engine::{BeginEpoch, Operated};
use railgate::env::{Env as _, ManualEnv};
use railgate::ledger::Mode;
use railgate::log::{Checkpoint, Follows, LogKey, NotFollowing};
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{AuditAction, AuditRecord, RecordKind};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Scan, typed_all};

/// The engine's checkpoint, opened with its own keys.
fn checkpoint(engine: &Engine) -> Checkpoint {
    let (note, keys) = (engine.checkpoint(Mode::Sandbox).unwrap(), engine.log_keys(Mode::Sandbox).unwrap());
    keys.iter().find_map(|key| key.open(&note).ok()).unwrap()
}

fn code<T: std::fmt::Debug>(result: railgate::Result<T>) -> &'static str {
    result.unwrap_err().code.as_str()
}

#[test]
fn followers_of_a_restored_backup_learn_of_it_and_can_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let lost = SqliteStore::open(at("lost.db")).unwrap();
    let s = Sandbox::over(Arc::new(lost), sealing(), 1);
    s.pay("kept", "sim:ok");
    s.work();
    log_all(&s.engine);
    // Makes the log's key, which the backup has then.
    checkpoint(&s.engine);
    SqliteStore::open_read_only(&at("lost.db")).unwrap().backup(&at("backup.db"), &mut |_, _| {}).unwrap();
    for reference in ["lost-1", "lost-2"] {
        s.pay(reference, "sim:ok");
    }
    s.work();
    log_all(&s.engine);
    let seen = checkpoint(&s.engine);
    let (old_note, followed) = (s.engine.checkpoint(Mode::Sandbox).unwrap(), s.engine.feed_page(&s.caller, 0, 200, None).unwrap());
    assert_eq!(followed.epoch, 1);

    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(at("backup.db")).unwrap());
    let env = Arc::new(ManualEnv::new(s.env.now() + 60_000, 2));
    let restored = Engine::open(store.clone(), env.clone(), sealing()).unwrap();
    // Without an epoch, only those who have seen more can tell.
    assert_eq!(checkpoint(&restored).follows(&seen, &[]), Err(NotFollowing::Smaller));
    assert_eq!(code(restored.feed_page(&s.caller, followed.next_after, 200, None)), "epoch_changed");

    assert_eq!(restored.run(Operated(BeginEpoch { after: 1 })).unwrap(), 2);
    assert_eq!(code(restored.run(Operated(BeginEpoch { after: 1 }))), "version_conflict");
    assert_eq!(checkpoint(&restored).origin.as_str(), format!("{}/epoch-2", seen.origin));
    assert_eq!(checkpoint(&restored).follows(&seen, &[]), Ok(Follows::NewEpoch));
    assert_eq!(seen.follows(&checkpoint(&restored), &[]), Err(NotFollowing::FormerEpoch));
    // What was proved stays proved: the keys are listed under the former name, too.
    let keys: Vec<LogKey> = restored.log_keys(Mode::Sandbox).unwrap();
    assert_eq!(keys.iter().map(|key| key.open(&old_note).is_ok()).collect::<Vec<_>>(), [false, true]);
    // Whoever says which epoch it knows is told, even when the positions have caught up.
    assert_eq!(code(restored.feed_page(&s.caller, 1, 200, Some(1))), "epoch_changed");
    let page = restored.feed_page(&s.caller, 1, 200, Some(2)).unwrap();
    assert_eq!((page.epoch, page.next_after), (2, restored.feed_page(&s.caller, 0, 200, None).unwrap().next_after));

    let again = Sandbox { engine: restored, env, store, caller: s.caller };
    again.pay("new", "sim:ok");
    again.work();
    log_all(&again.engine);
    assert_logged(&*again.store);
    again.assert_sound();
    let audit: Vec<AuditRecord> = typed_all(again.store.scan(&Scan::all(RecordKind::Audit, 99)).unwrap()).unwrap();
    let begun: Vec<_> = audit.iter().filter(|row| row.action == AuditAction::BeginEpoch).collect();
    assert_eq!(begun.len(), 2, "done once and refused once");
    assert_eq!(begun[0].name.as_deref(), Some("epoch 2"));
}

#[test]
fn of_two_operators_at_once_one_begins_the_epoch() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), sealing(), 1);
    let begin = || Operated(BeginEpoch { after: 1 });
    let (one, next) = together(&s.engine, begin(), begin());
    assert_eq!((one.unwrap(), code(next)), (2, "version_conflict"));
    assert_eq!(s.engine.run(Operated(BeginEpoch { after: 2 })).unwrap(), 3);
    assert_eq!(s.engine.epoch().unwrap(), 3);
    assert_eq!(s.engine.log_keys(Mode::Live).unwrap().len(), 3, "one for each epoch");
}

#[test]
fn a_follower_at_the_end_of_its_feed_waits_there() {
    let s = Sandbox::over(Arc::new(MemoryStore::new()), sealing(), 1);
    assert_eq!(s.engine.feed_page(&s.caller, 0, 200, Some(1)).unwrap().next_after, 0);
    s.pay("r", "sim:ok");
    log_all(&s.engine);
    let end = s.engine.feed_page(&s.caller, 0, 200, None).unwrap().next_after;
    assert_eq!(s.engine.feed_page(&s.caller, end, 200, Some(1)).unwrap().data.len(), 0);
    assert_eq!(code(s.engine.feed_page(&s.caller, end + 1, 200, None)), "epoch_changed");
}
