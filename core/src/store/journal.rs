//! The store of a host without a database: it is in memory, and every commit produces a journal entry that the host keeps wherever
//! it can, such as in IndexedDB.
//!
//! ```
//! use railgate::store::journal::JournalStore;
//! # use std::sync::Arc;
//! # use railgate::{Config, Gateway, env::ManualEnv};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
//! let store = Arc::new(JournalStore::new());
//! let gateway = Gateway::open_with(store.clone(), env.clone(), Config::sandbox())?;
//! let shop = gateway.client(&gateway.enroll("Shop")?).id();
//!
//! // Before anybody sees the result, the host appends this to what it keeps.
//! let mut kept = store.take()?;
//!
//! // After a restart, everything is there again. An entry that was half written is cut off.
//! kept.extend(b"\0");
//! let restored = JournalStore::restore(None, &kept)?;
//! assert_eq!(restored.torn, 1);
//! let gateway = Gateway::open_with(Arc::new(restored.store), env, Config::sandbox())?;
//! assert!(gateway.client_by_id(&shop).is_ok());
//!
//! // An entry that was altered is detected.
//! kept[40] ^= 1;
//! assert!(JournalStore::restore(None, &kept).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! The host has two duties. First, the result of [`Journal::take`] must be durable before anybody sees anything that depends on it.
//! If it cannot be kept, the host must discard the store and restore it from the durable data: nobody has then seen what was lost.
//! Second, entries must be kept in order. From time to time the host keeps a [`Journal::snapshot`] and may then delete the entries
//! that it contains, but need not do so at once: [`Journal::restore`] skips them.
//!
//! Entries are numbered and chained to detect any that was altered, lost, repeated, moved or taken from another journal. Only the
//! very end can be missing unnoticed: entries that were never kept, and the rest of one that was being written when the host was
//! killed. Neither was ever shown.

pub(super) mod code;
mod frame;
mod table;

use std::sync::{RwLock, RwLockReadGuard};

use super::compact::{Rest, blob};
use super::record::{Key, Record};
use super::{Commit, CommitError, Scan, Store, StoreError, Unique};
use frame::ChainHash;
use table::Table;

/// A store in memory with a journal, for records of every kind.
pub type JournalStore = Journal<true>;

/// The same for a sandbox: it refuses records that only a `SERVER` makes (tokens, the public log, webhooks), and does not
/// read a journal that contains one. A web page therefore need not load the code that reads them.
pub type SandboxJournal = Journal<false>;

/// A store in memory with a journal.
#[derive(Default)]
pub struct Journal<const SERVER: bool> {
    state: RwLock<State<SERVER>>,
}

#[derive(Default)]
struct State<const SERVER: bool> {
    table: Table<SERVER>,
    /// The number of the last entry; 0 before the first.
    number: u64,
    /// The link of the last entry.
    link: ChainHash,
    /// Complete entries that have not been taken yet.
    pending: Vec<u8>,
}

/// The result of restoring a store.
pub struct Restored<const SERVER: bool> {
    /// The store.
    pub store: Journal<SERVER>,
    /// The number of bytes cut off at the end because they were an incomplete entry. If the host's storage keeps entries
    /// atomically, any value above 0 means damage.
    pub torn: usize,
}

/// Why a journal is not as it was written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A newer program wrote it.
    #[error("the journal has version {0}, which this program cannot read: load the newer program that wrote it")]
    Version(u8),
    /// An entry was altered.
    #[error("entry {entry} of the journal was altered: restore it from a copy, or start over")]
    Altered {
        /// The number of the entry.
        entry: u64,
    },
    /// Entries are missing, repeated or moved.
    #[error("entry {expected} of the journal is missing: found entry {found} instead")]
    OutOfOrder {
        /// The number that was expected.
        expected: u64,
        /// The number that was found.
        found: u64,
    },
    /// An entry was altered, or belongs to another journal.
    #[error("entry {entry} of the journal does not follow the one before it: it was altered, or belongs to another journal")]
    Foreign {
        /// The number of the entry.
        entry: u64,
    },
    /// The file is not a snapshot, or was altered.
    #[error("the snapshot was altered or is incomplete: restore it from a copy, or start over")]
    Snapshot,
    /// An entry or, as entry 0, the snapshot contains something that cannot have been written.
    #[error("entry {entry} of the journal contains what no store writes: {cause}")]
    Content {
        /// The number of the entry.
        entry: u64,
        /// What is wrong.
        cause: StoreError,
    },
}

impl JournalError {
    /// A stable code: `journal_version` if another program can read it, `journal_corrupt` if none can.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Version(_) => "journal_version",
            Self::Altered { .. } | Self::OutOfOrder { .. } | Self::Foreign { .. } | Self::Snapshot | Self::Content { .. } => {
                "journal_corrupt"
            }
        }
    }
}

impl<const SERVER: bool> Journal<SERVER> {
    /// An empty store with an empty journal.
    pub fn new() -> Self {
        Self::default()
    }

    /// The store as it was after the last of `entries`, which are consecutive and concatenated. They may start with entries that
    /// `snapshot` already contains.
    ///
    /// # Errors
    /// See the variants of [`JournalError`].
    pub fn restore(snapshot: Option<&[u8]>, entries: &[u8]) -> Result<Restored<SERVER>, JournalError> {
        let mut state = State::default();
        if let Some(snapshot) = snapshot {
            let opened = frame::unwrap(snapshot)?;
            load(&mut state.table, opened.rows).map_err(|cause| JournalError::Content { entry: 0, cause })?;
            (state.number, state.link) = (opened.number, opened.link);
        }
        let mut rest = pass_over(entries, &state)?;
        while let Some(entry) = frame::next(&mut rest, state.number + 1)? {
            let expected = state.number + 1;
            if entry.number != expected {
                return Err(JournalError::OutOfOrder { expected, found: entry.number });
            }
            if !entry.follows(&state.link) {
                return Err(JournalError::Foreign { entry: expected });
            }
            state.table.apply(entry.body).map_err(|cause| JournalError::Content { entry: expected, cause })?;
            (state.number, state.link) = (entry.number, entry.link);
        }
        Ok(Restored { store: Self { state: RwLock::new(state) }, torn: rest.len() })
    }

    /// The entries of the commits since the last call, concatenated; empty if there were none.
    ///
    /// # Errors
    /// If a thread panicked inside a commit.
    pub fn take(&self) -> Result<Vec<u8>, StoreError> {
        Ok(std::mem::take(&mut self.state.write().map_err(|_| poisoned())?.pending))
    }

    /// The number of the last entry, taken or not; 0 before the first.
    ///
    /// # Errors
    /// The same as for [`Journal::take`].
    pub fn number(&self) -> Result<u64, StoreError> {
        Ok(self.state()?.number)
    }

    /// The whole store, with all commits so far, including those whose entries were not taken yet. Those entries can still be
    /// taken.
    ///
    /// # Errors
    /// The same as for [`Journal::take`].
    pub fn snapshot(&self) -> Result<Vec<u8>, StoreError> {
        let state = self.state()?;
        let mut rows = Vec::new();
        for (code, row) in state.table.kept() {
            rows.push(code);
            blob(&mut rows, row);
        }
        Ok(frame::wrap(state.number, &state.link, &rows))
    }

    fn state(&self) -> Result<RwLockReadGuard<'_, State<SERVER>>, StoreError> {
        self.state.read().map_err(|_| poisoned())
    }
}

/// A thread that panicked in the middle of a commit may have left part of it.
fn poisoned() -> StoreError {
    StoreError::corrupt("locking the store", "a thread panicked inside a commit")
}

/// Skips the entries that the snapshot contains, after checking that they are the ones that led to it.
fn pass_over<'a, const SERVER: bool>(entries: &'a [u8], snapshot: &State<SERVER>) -> Result<&'a [u8], JournalError> {
    let (mut rest, mut before) = (entries, None::<(u64, ChainHash)>);
    loop {
        let here = rest;
        let expected = before.map_or(snapshot.number + 1, |(number, _)| number + 1);
        match frame::next(&mut rest, expected)? {
            Some(entry) if entry.number <= snapshot.number => {
                if before.is_some() && entry.number != expected {
                    return Err(JournalError::OutOfOrder { expected, found: entry.number });
                }
                let follows = before.is_none_or(|(_, link)| entry.follows(&link));
                if !follows || (entry.number == snapshot.number && entry.link != snapshot.link) {
                    return Err(JournalError::Foreign { entry: entry.number });
                }
                before = Some((entry.number, entry.link));
            }
            Some(_) | None => return Ok(here),
        }
    }
}

/// Loads the rows of a snapshot: for each, the number of its kind, its length, and the row.
fn load<const SERVER: bool>(table: &mut Table<SERVER>, rows: &[u8]) -> Result<(), StoreError> {
    let mut rest = Rest(rows);
    while !rest.0.is_empty() {
        let next = |rest: &mut Rest<'_>| Some((rest.byte()?, rest.blob()?.into()));
        let (code, row) = next(&mut rest).ok_or_else(|| StoreError::corrupt("reading a snapshot", "a row is incomplete"))?;
        table.load(code, row)?;
    }
    Ok(())
}

impl<const SERVER: bool> Store for Journal<SERVER> {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        let mut state = self.state.write().map_err(|_| poisoned())?;
        let State { table, number, link, pending } = &mut *state;
        let changes = table.commit(commit)?;
        if !commit.writes.is_empty() {
            *number += 1;
            *link = frame::append(pending, *number, link, &changes);
        }
        Ok(())
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.state()?.table.get(key)
    }

    fn holds(&self, record: &Record) -> Result<bool, StoreError> {
        self.state()?.table.holds(record)
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.state()?.table.find(unique)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.state()?.table.scan(scan)
    }
}
