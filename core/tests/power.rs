//! A power cut at any moment of a commit: what was acknowledged is there, and nothing of anything else, whichever sectors of the last
//! writes reached the disk.
#![cfg(all(feature = "sqlite", feature = "testkit"))]

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::support::{START, Sandbox};
use railgate::Config;
use railgate::engine::verify::verify;
use railgate::env::{Env as _, ManualEnv};
use railgate::store::conformance::everything;
use railgate::store::hooked::{Hooked, Hooks};
use railgate::store::record::Record;
use railgate::store::sqlite::{SqliteOptions, SqliteStore};
use railgate::store::{Commit, CommitError};

/// What a disk writes as a whole.
const SECTOR: usize = 512;
/// After how many commits the log is copied into the database.
const COPY_EVERY: u64 = 5;
/// The header of a write-ahead log, with its salt.
const HEADER: usize = 32;

/// What is on the disk after a commit, and what the store holds then.
struct Moment {
    wal: Vec<u8>,
    database: Vec<u8>,
    records: Vec<Record>,
}

/// A store whose power is cut in every commit: a copy of its files has some of the sectors that the commit wrote.
struct Cut {
    store: Arc<SqliteStore>,
    folder: PathBuf,
    chances: ManualEnv,
    last: Mutex<Option<Moment>>,
    counts: Mutex<Counts>,
    commits: Mutex<u64>,
}

#[derive(Debug, Default)]
struct Counts {
    cuts: u64,
    /// How many commits survived the cut.
    survived: u64,
    /// How often the log was copied into the database.
    copied: u64,
}

impl Cut {
    /// Has the log copied into the database, more often than the store does it.
    fn copy_sometimes(&self) {
        let mut commits = self.commits.lock().unwrap();
        *commits += 1;
        if commits.is_multiple_of(COPY_EVERY) {
            let connection = rusqlite::Connection::open(self.folder.join("live.db")).unwrap();
            connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())).unwrap();
        }
    }

    fn look(&self) -> Moment {
        // The log first: what is copied from it into the database meanwhile is in both.
        let wal = fs::read(self.folder.join("live.db-wal")).unwrap_or_default();
        Moment { wal, database: fs::read(self.folder.join("live.db")).unwrap(), records: everything(&*self.store) }
    }

    fn cut(&self, before: &Moment, after: &Moment) {
        // A log is copied into the database, synced, and then begun again, under another salt.
        let is_same_log = before.wal.get(..HEADER) == after.wal.get(..HEADER);
        if before.database != after.database {
            self.counts.lock().unwrap().copied += 1;
            let whole = if is_same_log { after } else { before };
            self.reopen(&self.torn(&before.database, &after.database), &whole.wal, &[whole]);
            if is_same_log {
                return;
            }
        }
        let survived = self.reopen(&after.database, &self.torn(&before.wal, &after.wal), &[before, after]);
        self.counts.lock().unwrap().survived += u64::from(survived == 1);
    }

    /// What is on the disk of a file that was being changed: the first sectors, the last ones, or any of them.
    fn torn(&self, before: &[u8], after: &[u8]) -> Vec<u8> {
        let chance = || {
            let mut bytes = [0; 4];
            self.chances.random(&mut bytes);
            u32::from_le_bytes(bytes) as usize
        };
        let (kind, from) = (chance() % 3, chance() % after.len().max(1));
        let mut torn = after.to_vec();
        for (at, sector) in torn.chunks_mut(SECTOR).enumerate().map(|(n, sector)| (n * SECTOR, sector)) {
            let is_there = match kind {
                0 => at < from,
                1 => at >= from,
                _ => chance().is_multiple_of(2),
            };
            for (offset, byte) in sector.iter_mut().enumerate().filter(|_| !is_there) {
                *byte = before.get(at + offset).copied().unwrap_or(0);
            }
        }
        torn
    }

    /// Opens what is on the disk, which must be as in one of these moments. Returns which.
    fn reopen(&self, database: &[u8], wal: &[u8], moments: &[&Moment]) -> usize {
        let mut counts = self.counts.lock().unwrap();
        counts.cuts += 1;
        let copy = self.folder.join("copy.db");
        let _ = fs::remove_file(self.folder.join("copy.db-shm"));
        fs::write(&copy, database).unwrap();
        fs::write(self.folder.join("copy.db-wal"), wal).unwrap();
        let found = SqliteStore::open(&copy).unwrap();
        let records = everything(&found);
        let which = moments.iter().position(|moment| moment.records == records);
        if counts.cuts.is_multiple_of(50) {
            let report = verify(&found, &mut |_| {}).unwrap();
            assert!(report.is_ok(), "{report:?}");
        }
        which.unwrap_or_else(|| panic!("cut {}: it is as at no moment at which it may be", counts.cuts))
    }
}

impl Hooks for Cut {
    fn committed(&self, _: &Commit, made: &Result<(), CommitError>) {
        if made.is_err() {
            return;
        }
        self.copy_sometimes();
        let after = self.look();
        let mut last = self.last.lock().unwrap();
        if let Some(before) = &*last {
            self.cut(before, &after);
        }
        *last = Some(after);
    }
}

#[test]
fn a_power_cut_in_any_commit_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { readers: 1, ..SqliteOptions::default() };
    let store = Arc::new(SqliteStore::open_with(&folder.path().join("live.db"), options).unwrap());
    let hooks = Cut {
        store: store.clone(),
        folder: folder.path().to_owned(),
        chances: ManualEnv::new(START, 1),
        last: Mutex::default(),
        counts: Mutex::default(),
        commits: Mutex::default(),
    };
    let store = Hooked::with(store, hooks);
    let s = Sandbox::over(store.clone(), Config::default(), 1);
    for (n, to) in ["ok", "slow-30s", "decline-insufficient_funds", "timeout-then-ok", "failover", "returned-after-1d"]
        .iter()
        .cycle()
        .take(40)
        .enumerate()
    {
        let reference = format!("r{n}");
        s.pay(&reference, &format!("sim:{to}"));
        s.pass(if n % 3 == 0 { 40_000 } else { 0 });
        if n % 4 == 0 {
            let _ = s.reverse(&reference, r#"{"amount":3.00}"#);
        }
    }
    s.pass(90_000_000);
    let counts = store.counts.lock().unwrap();
    println!("{counts:?}");
    assert!(counts.cuts > 150 && counts.copied > 20 && counts.survived > 0 && counts.survived < counts.cuts, "{counts:?}");
    s.assert_sound();
}
