//! The store with a journal: it is a store like any other, even if it is restored after every commit, and any damage to what a host
//! kept is detected.
#![cfg(all(feature = "sandbox", feature = "testkit"))]

use std::path::Path;
use std::sync::Mutex;

use proptest::prelude::*;
use railgate::store::conformance::{any_history_reads_as_in_memory, everything, fixtures::*};
use railgate::store::journal::{JournalError, JournalStore, SandboxJournal};
use railgate::store::record::*;
use railgate::store::{Commit, CommitError, Scan, Store, StoreError, Unique, Write};

railgate::store_conformance!(a_journal, || Box::new(JournalStore::new()) as Box<dyn Store>);
railgate::store_conformance!(a_store_that_is_restored_after_every_commit, || Box::new(Reborn::default()) as Box<dyn Store>);

#[test]
fn a_journal_does_what_memory_does() {
    any_history_reads_as_in_memory(&|| Box::new(JournalStore::new()), 96);
}

#[test]
fn any_history_is_the_same_when_it_is_restored() {
    any_history_reads_as_in_memory(&|| Box::new(Reborn::default()), 96);
}

/// A host that is killed after every commit, whatever its result. Every fifth time it keeps a snapshot, and it deletes the entries
/// in that snapshot only at the next one.
#[derive(Default)]
struct Reborn(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    store: JournalStore,
    snapshot: Option<Vec<u8>>,
    entries: Vec<u8>,
    /// The start of the entries that are not in the snapshot.
    new: usize,
    commits: usize,
}

impl Store for Reborn {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        let kept = &mut *self.0.lock().unwrap();
        let made = kept.store.commit(commit);
        kept.commits += 1;
        if kept.commits.is_multiple_of(5) {
            kept.entries.drain(..std::mem::take(&mut kept.new));
            kept.snapshot = Some(kept.store.snapshot().unwrap());
            kept.entries.extend(kept.store.take().unwrap());
            kept.new = kept.entries.len();
        } else {
            kept.entries.extend(kept.store.take().unwrap());
        }
        let restored = JournalStore::restore(kept.snapshot.as_deref(), &kept.entries).unwrap();
        assert_eq!(restored.torn, 0);
        assert_eq!(restored.store.number().unwrap(), kept.store.number().unwrap());
        assert_eq!(restored.store.snapshot().unwrap(), kept.store.snapshot().unwrap(), "to the byte");
        kept.store = restored.store;
        made
    }
    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.0.lock().unwrap().store.get(key)
    }
    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.0.lock().unwrap().store.find(unique)
    }
    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.0.lock().unwrap().store.scan(scan)
    }
}

/// Commits of several kinds, each of which changes something.
fn history(name: &str) -> Vec<Commit> {
    let mut commits = vec![commit([insert(meta("id_key", name.as_bytes())), insert(client(1, 1)), insert(provider(1, "one"))])];
    for no in 1..=6 {
        let reference = format!("{name}-{no}");
        let paid = Write::Post(transfer(no, 1, account(railgate::ledger::Owner::Funding), account_of(1), 100 + no));
        commits.push(commit([insert(settlement(no, 1, &reference)), insert(event(no, 1)), insert(task(no, 1)), paid]));
        commits.push(commit([
            update(SettlementRecord { version: 2, ..settlement(no, 1, &reference) }, settlement(no, 1, &reference).version),
            Write::Delete(Key::Task(task(no, 1).key)),
        ]));
    }
    // One record of every other kind.
    let mode = railgate::ledger::Mode::Sandbox;
    commits.push(commit([insert(key(1, 1, 1)), insert(token(1, 5)), insert(nonce(1, 5)), insert(secret(SecretKind::Receipt, 1))]));
    commits.push(commit([insert(attempt(1, 1)), insert(idempotency(1, "k", 5)), insert(sim_payment(1, 1)), insert(audit(1))]));
    // As in version 1, when all events were in one tree.
    let head = LogHeadRecord { live: Later(None), ..log_head(1) };
    commits.push(commit([insert(unlogged(1)), insert(feed(1, mode, 1, 1)), insert(tile(0, 0)), insert(head)]));
    commits.push(commit([
        insert(endpoint(1, 1, 1)),
        insert(endpoint_secret(1, 1)),
        insert(queue(1, Some(5))),
        insert(delivery(1, 1, Some(5))),
    ]));
    // One record takes over the unique key of another in one commit.
    let (first, second) = (reversal(1, 1, 1, Some("r")), reversal(1, 2, 1, Some("s")));
    commits.push(commit([insert(first.clone()), insert(second.clone())]));
    let swapped = [reversal(1, 1, 1, Some("s")), reversal(1, 2, 1, Some("r"))];
    commits.push(commit(
        [Write::Delete(Record::from(first).key()), Write::Delete(Record::from(second).key())].into_iter().chain(swapped.map(insert)),
    ));
    commits.extend([
        commit([insert(allowance(1, 5))]),
        commit([insert(simulator(1, 5))]),
        commit([insert(clock(1, 5))]),
        commit([insert(invitation(1, 5))]),
        commit([insert(setup(1))]),
        commit([insert(movement(1, "m"))]),
    ]);
    commits.push(commit([insert(review(1, 0, 5))]));
    commits.push(commit([insert(usage(1, 5, 1))]));
    commits.extend([commit([insert(operator(1, 1))]), commit([insert(approval(1, 1))])]);
    commits.extend([commit([insert(unbooked(1))]), commit([insert(entry(1, 1))]), commit([insert(node(1, None))])]);
    commits.extend([commit([insert(reconciliation(1, 1))]), commit([insert(finding(1, 1, 1))]), commit([insert(matches(1, 1))])]);
    commits.extend([commit([insert(user(1, "a"))]), commit([insert(device(1, 1, 1))]), commit([insert(device_code(1, 1, 5))])]);
    commits.extend([commit([insert(elsewhere(1, ReferenceKind::Settlement, "r"))]), commit([insert(brought(1, 5, 1))])]);
    commits.push(commit([insert(notification(1, 1, true))]));
    commits.extend([commit([insert(quality("a", 1, "1"))]), commit([insert(quality_seen(1, 1))])]);
    commits.extend([commit([insert(bundle(1, 1, 1))]), commit([insert(bundle_part(1, 1, 0))]), commit([insert(bundle_step(1, 1))])]);
    commits
}

#[test]
fn a_sandbox_s_journal_is_the_same_and_has_nothing_of_a_server_s() {
    let (whole, sandbox) = (JournalStore::new(), SandboxJournal::default());
    let mut kinds = Vec::new();
    for commit in history("one") {
        let before = sandbox.snapshot().unwrap();
        let foreign = commit.writes.iter().any(|write| matches!(write, Write::Insert(record) if is_of_a_server(record.kind())));
        match sandbox.commit(&commit) {
            Ok(()) => whole.commit(&commit).unwrap(),
            Err(CommitError::Store(_)) => assert_eq!(sandbox.snapshot().unwrap(), before, "nothing of a commit that was refused stays"),
            Err(other) => panic!("{other}"),
        }
        assert_eq!(sandbox.snapshot().unwrap() == before, foreign, "refused if it has to be");
    }
    assert_eq!(sandbox.take().unwrap(), whole.take().unwrap(), "to the byte");
    for commit in history("one") {
        for write in commit.writes {
            let Write::Insert(record) = write else { continue };
            kinds.push(record.kind());
            let (store, there) = (SandboxJournal::default(), is_of_a_server(record.kind()));
            let made = store.commit(&Commit { writes: vec![Write::Insert(record.clone())] });
            assert_eq!(made.is_err(), there, "{:?}", record.kind());
            assert_eq!(store.get(&record.key()).unwrap(), (!there).then(|| record.clone()));
            let server = JournalStore::new();
            server.commit(&Commit { writes: vec![Write::Insert(record.clone())] }).unwrap();
            assert_eq!((server.holds(&record).unwrap(), store.holds(&record).unwrap_or(false)), (true, !there));
            let entries = server.take().unwrap();
            assert_eq!(matches!(SandboxJournal::restore(None, &entries), Err(JournalError::Content { entry: 1, .. })), there);
        }
    }
    let missing: Vec<_> = RecordKind::ALL.iter().filter(|kind| !kinds.contains(kind)).collect();
    assert_eq!(missing, [&RecordKind::Account, &RecordKind::Transfer], "which are posted");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_sandbox_s_database_has_nothing_of_a_server_s() {
    use railgate::store::sqlite::{SqliteSandbox, SqliteStore};

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sandbox.db");
    let of_a_server = |write: &Write| matches!(write, Write::Insert(record) if is_of_a_server(record.kind()));
    let (foreign, own): (Vec<_>, Vec<_>) = history("one").into_iter().partition(|commit| commit.writes.iter().any(of_a_server));
    let sandbox = SqliteSandbox::open(&path).unwrap();
    own.iter().for_each(|commit| sandbox.commit(commit).unwrap());
    for commit in &foreign {
        assert!(matches!(sandbox.commit(commit), Err(CommitError::Store(_))), "{commit:?}");
    }
    drop(sandbox);
    // The file is a server's: nothing of what was refused is in it, and a server may go on with it.
    let server = SqliteStore::open(&path).unwrap();
    for commit in &foreign {
        server.commit(commit).unwrap();
    }
    drop(server);
    let sandbox = SqliteSandbox::open(&path).unwrap();
    for write in foreign.iter().flat_map(|commit| &commit.writes).filter(|write| of_a_server(write)) {
        let Write::Insert(record) = write else { continue };
        assert!(sandbox.get(&record.key()).is_err() && sandbox.holds(record).is_err(), "{:?}", record.kind());
    }
}

/// The kinds that the engine of a sandbox never writes.
fn is_of_a_server(kind: RecordKind) -> bool {
    match kind {
        RecordKind::Client | RecordKind::Provider | RecordKind::Account | RecordKind::Settlement | RecordKind::Attempt => false,
        RecordKind::Reversal | RecordKind::Event | RecordKind::Transfer | RecordKind::Task | RecordKind::Idempotency => false,
        RecordKind::SimPayment | RecordKind::Secret | RecordKind::Meta | RecordKind::Feed | RecordKind::Allowance => false,
        RecordKind::Simulator | RecordKind::Usage => false,
        RecordKind::User | RecordKind::Device | RecordKind::DeviceCode | RecordKind::Key => false,
        RecordKind::Token | RecordKind::Nonce | RecordKind::Audit | RecordKind::Unlogged | RecordKind::Tile => true,
        RecordKind::LogHead | RecordKind::Endpoint | RecordKind::EndpointSecret | RecordKind::Queue | RecordKind::Delivery => true,
        RecordKind::Invitation | RecordKind::Setup | RecordKind::Movement | RecordKind::Review => true,
        RecordKind::Operator | RecordKind::Approval | RecordKind::Unbooked | RecordKind::Entry | RecordKind::Clock => true,
        RecordKind::Node => true,
        RecordKind::Reconciliation | RecordKind::Finding | RecordKind::Matches | RecordKind::Notification => true,
        RecordKind::Elsewhere | RecordKind::Brought => true,
        RecordKind::Bundle | RecordKind::BundlePart | RecordKind::BundleStep => true,
        RecordKind::Quality | RecordKind::QualitySeen => true,
    }
}

/// A store after that history, and its entries one by one.
fn written(name: &str) -> (JournalStore, Vec<Vec<u8>>) {
    let store = JournalStore::new();
    let entry = |commit: &Commit| {
        store.commit(commit).unwrap();
        store.take().unwrap()
    };
    let entries = history(name).iter().map(entry).collect();
    (store, entries)
}

fn restore(snapshot: Option<&[u8]>, entries: &[u8]) -> Result<(Vec<Record>, usize), JournalError> {
    JournalStore::restore(snapshot, entries).map(|restored| (everything(&restored.store), restored.torn))
}

#[test]
fn what_was_kept_is_all_there() {
    let (store, entries) = written("a");
    assert!(store.take().unwrap().is_empty(), "nothing is given twice");
    let (found, torn) = restore(None, &entries.concat()).unwrap();
    assert_eq!((found, torn), (everything(&store), 0));
    let (found, torn) = restore(Some(&store.snapshot().unwrap()), &[]).unwrap();
    assert_eq!((found, torn), (everything(&store), 0));
    assert_eq!(restore(None, &[]).unwrap(), (Vec::new(), 0));
}

#[test]
fn a_refused_commit_leaves_no_entry() {
    let (store, entries) = written("a");
    let clash = store.commit(&commit([insert(meta("new", b"")), insert(settlement(1, 1, "again"))])).unwrap_err();
    assert!(matches!(clash, CommitError::Conflict(_)));
    assert!(store.take().unwrap().is_empty());
    assert_eq!(store.number().unwrap(), entries.len() as u64);
    let poor = Write::Post(transfer(900, 1, account_of(2), account_of(1), 1));
    assert!(matches!(store.commit(&commit([insert(meta("new", b"")), poor])), Err(CommitError::BalanceGuard(_))));
    assert_eq!(restore(None, &entries.concat()).unwrap().0, everything(&store));
}

#[test]
fn a_torn_end_is_cut_off_wherever_it_is_torn() {
    let (_, entries) = written("a");
    let all = entries.concat();
    let mut whole = 0;
    let mut ends = entries.iter().map(|entry| {
        whole += entry.len();
        whole
    });
    let (mut start, mut end) = (0, ends.next().unwrap());
    for cut in 0..all.len() {
        if cut == end {
            (start, end) = (end, ends.next().unwrap());
        }
        let restored = JournalStore::restore(None, &all[..cut]).unwrap();
        assert_eq!(restored.torn, cut - start, "cut at {cut}");
        // The lost entry can be written again.
        let number = restored.store.number().unwrap();
        restored.store.commit(&history("a")[number as usize]).unwrap();
        assert_eq!(restored.store.take().unwrap(), entries[number as usize]);
    }
}

#[test]
fn no_altered_byte_goes_unnoticed() {
    let (store, entries) = written("a");
    let all = entries.concat();
    for at in 0..all.len() {
        for bit in [0, 3, 7] {
            let mut altered = all.clone();
            altered[at] ^= 1 << bit;
            assert!(JournalStore::restore(None, &altered).is_err(), "byte {at}");
        }
    }
    let snapshot = store.snapshot().unwrap();
    for at in 0..snapshot.len() {
        let mut altered = snapshot.clone();
        altered[at] ^= 1;
        assert!(matches!(JournalStore::restore(Some(&altered), &[]), Err(JournalError::Snapshot)), "byte {at}");
        assert!(matches!(JournalStore::restore(Some(&snapshot[..at]), &[]), Err(JournalError::Snapshot)), "cut at {at}");
    }
}

#[test]
fn entries_that_are_lost_repeated_or_moved_are_noticed() {
    let (_, entries) = written("a");
    for at in 0..entries.len() - 1 {
        let number = at as u64 + 1;
        let mut lost = entries.clone();
        lost.remove(at);
        match JournalStore::restore(None, &lost.concat()) {
            Err(JournalError::OutOfOrder { expected, found }) => assert_eq!((expected, found), (number, number + 1)),
            other => panic!("{:?}", other.map(|_| ()).map_err(|error| error.to_string())),
        }
        let mut repeated = entries.clone();
        repeated.insert(at, entries[at].clone());
        assert!(matches!(JournalStore::restore(None, &repeated.concat()), Err(JournalError::OutOfOrder { .. })));
        let mut moved = entries.clone();
        moved.swap(at, at + 1);
        assert!(matches!(JournalStore::restore(None, &moved.concat()), Err(JournalError::OutOfOrder { .. })));
    }
}

#[test]
fn entries_of_another_journal_are_refused() {
    let ((store, entries), (_, others)) = (written("a"), written("b"));
    for at in 1..entries.len() {
        let mixed = [entries[..at].concat(), others[at..].concat()].concat();
        match JournalStore::restore(None, &mixed) {
            Err(error @ JournalError::Foreign { entry }) => assert_eq!((entry, error.code()), (at as u64 + 1, "journal_corrupt")),
            other => panic!("{:?}", other.map(|_| ()).map_err(|error| error.to_string())),
        }
    }
    let snapshot = store.snapshot().unwrap();
    assert!(restore(Some(&snapshot), &entries.concat()).is_ok(), "its own are passed over");
    assert!(restore(Some(&snapshot), &entries[5..].concat()).is_ok());
    assert!(matches!(restore(Some(&snapshot), &others.concat()), Err(JournalError::Foreign { .. })));
    store.commit(&commit([insert(meta("later", b""))])).unwrap();
    let later = store.take().unwrap();
    assert_eq!(restore(Some(&snapshot), &later).unwrap().0, everything(&store));
    assert!(matches!(restore(None, &later), Err(JournalError::OutOfOrder { expected: 1, .. })));
    let gap = [entries[3].clone(), later].concat();
    assert_eq!(restore(Some(&snapshot), &gap).unwrap().0, everything(&store), "what the snapshot holds may be forgotten in any order");
}

#[test]
fn a_journal_of_a_newer_program_says_so() {
    let (_, mut entries) = written("a");
    entries[0][0] = 9;
    // A newer version would write a valid check.
    use sha2::Digest as _;
    let check = sha2::Sha256::digest(&entries[0][..17]);
    entries[0][17..21].copy_from_slice(&check[..4]);
    match JournalStore::restore(None, &entries.concat()) {
        Err(error @ JournalError::Version(9)) => assert_eq!(error.code(), "journal_version"),
        other => panic!("{:?}", other.map(|_| ()).map_err(|error| error.to_string())),
    }
}

/// A journal of the first release must always open: a change of a row's columns needs a new version and a migration.
#[test]
fn a_journal_of_version_1_opens() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let (store, entries) = written("golden");
    if std::env::var_os("RAILGATE_BLESS").is_some() && !folder.join("journal-1.bin").exists() {
        std::fs::write(folder.join("journal-1.bin"), entries[..18].concat()).unwrap();
        std::fs::write(
            folder.join("snapshot-1.bin"),
            JournalStore::restore(None, &entries[..18].concat()).unwrap().store.snapshot().unwrap(),
        )
        .unwrap();
    }
    let kept = std::fs::read(folder.join("journal-1.bin")).unwrap();
    let snapshot = std::fs::read(folder.join("snapshot-1.bin")).unwrap();
    let rest = entries[18..].concat();
    assert_eq!(restore(None, &[kept.clone(), rest.clone()].concat()).unwrap(), (everything(&store), 0));
    assert_eq!(restore(Some(&snapshot), &rest).unwrap(), (everything(&store), 0));
    assert_eq!(kept, entries[..18].concat(), "the same commits are written as the same bytes");
}

proptest! {
    #[test]
    fn whatever_stands_there_is_restored_or_refused(snapshot in prop::option::of(prop::collection::vec(any::<u8>(), 0..200)), entries in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(restored) = JournalStore::restore(snapshot.as_deref(), &entries) {
            prop_assert_eq!(restored.torn, entries.len());
        }
    }
}
