//! The store in memory: the model for all other stores, and the store for tests and demonstrations.
//!
//! ```
//! use std::sync::Arc;
//!
//! use railgate::store::memory::MemoryStore;
//! use railgate::{Config, Gateway};
//! # use railgate::env::ManualEnv;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
//! let store = Arc::new(MemoryStore::new());
//! let gateway = Gateway::open_with(store.clone(), env.clone(), Config::sandbox())?;
//! let shop = gateway.client(&gateway.enroll("Shop")?).id();
//! drop(gateway);
//!
//! // A test keeps the store and restarts the gateway.
//! let gateway = Gateway::open_with(store, env, Config::sandbox())?;
//! assert_eq!(gateway.client_by_id(&shop)?.balance("EUR")?.available.as_str(), "1000000.00");
//! # Ok(())
//! # }
//! ```
//!
//! There is one lock, one ordered map of all records by key, and a second map of the further unique keys. It is deliberately naive:
//! a commit is applied write by write under the lock, and undone from last to first if a write fails. Nobody therefore ever sees
//! part of one.

use std::collections::BTreeMap;
use std::sync::{RwLock, RwLockReadGuard};

use super::cell::{KeyBytes, head, key_bytes, unique_bytes};
use super::record::{AccountRecord, Key, Record};
use super::shared::{self, Counts, Deltas};
use super::{Clash, Commit, CommitError, Scan, Store, StoreError, Unique, Write};
use crate::ledger::Totals;
use crate::terms::Used;

/// Keeps everything in memory until it is dropped.
#[derive(Default)]
pub struct MemoryStore {
    state: RwLock<State>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Commits, and says how to take it back.
    #[cfg(feature = "simulation")]
    pub(crate) fn commit_for_now(&self, commit: &Commit) -> Result<Undo, CommitError> {
        shared::check(commit)?;
        self.state.write().map_err(|_| poisoned())?.commit(commit)
    }

    /// Takes the last commit back.
    #[cfg(feature = "simulation")]
    pub(crate) fn take_back(&self, undo: Undo) -> Result<(), StoreError> {
        self.state.write().map_err(|_| poisoned())?.take_back(undo)
    }

    fn state(&self) -> Result<RwLockReadGuard<'_, State>, StoreError> {
        self.state.read().map_err(|_| poisoned())
    }
}

impl Store for MemoryStore {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        shared::check(commit)?;
        self.state.write().map_err(|_| poisoned())?.commit(commit).map(drop)
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        let state = self.state()?;
        Ok(key_bytes(key).and_then(|key| state.records.get(&key).cloned()))
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        let state = self.state()?;
        let key = unique_bytes(unique).and_then(|unique| state.unique.get(&unique));
        Ok(key.and_then(|key| state.records.get(key).cloned()))
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        scan.page(&self.state()?.records, head::<true>, |record, _| Ok(record.clone()))
    }
}

/// A thread that panicked in the middle of a commit may have left part of it.
fn poisoned() -> StoreError {
    StoreError::corrupt("locking the memory store", "a thread panicked inside a commit")
}

#[derive(Default)]
struct State {
    records: BTreeMap<KeyBytes, Record>,
    /// From each further unique key to its primary key.
    unique: BTreeMap<KeyBytes, KeyBytes>,
}

/// The previous value of a key, before a write.
type Was = (KeyBytes, Option<Record>);

/// The previous values of what a commit wrote, in the order of its writes.
pub(crate) struct Undo(Vec<Was>);

impl State {
    fn commit(&mut self, commit: &Commit) -> Result<Undo, CommitError> {
        let mut undo = Vec::with_capacity(commit.writes.len());
        let made = self.make(commit, &mut undo);
        let undo = Undo(undo);
        match made {
            Ok(()) => Ok(undo),
            Err(error) => {
                self.take_back(undo)?;
                Err(error)
            }
        }
    }

    fn take_back(&mut self, undo: Undo) -> Result<(), StoreError> {
        undo.0.into_iter().rev().try_for_each(|(key, was)| self.set(key, was).map(drop))
    }

    fn make(&mut self, commit: &Commit, undo: &mut Vec<Was>) -> Result<(), CommitError> {
        let mut clashes = Vec::new();
        for (index, write) in commit.writes.iter().enumerate() {
            let was = match write {
                Write::Insert(record) => self.insert(record)?,
                Write::Update { record, expected } => self.replace(record, Some(*expected))?,
                Write::Replace(record) => self.replace(record, None)?,
                Write::Post(transfer) => self.insert(&transfer.clone().into())?,
                Write::Count { .. } | Write::Floor { .. } => continue,
                Write::Absent(key) => {
                    if key_bytes(key).is_some_and(|key| self.records.contains_key(&key)) {
                        clashes.push(Clash { write: index });
                    }
                    continue;
                }
                Write::Delete(key) => match key_bytes(key) {
                    Some(key) if self.records.contains_key(&key) => Some(self.set(key, None)?),
                    Some(_) | None => None,
                },
            };
            match was {
                Some(was) => undo.push(was),
                None => clashes.push(Clash { write: index }),
            }
        }
        if !clashes.is_empty() {
            return Err(CommitError::Conflict(clashes));
        }
        let settled = Deltas::of(commit).settle(|account| match self.records.get(&bytes_of(&Key::Account(account))?) {
            Some(Record::Account(account)) => Ok(account.totals),
            Some(_) | None => Ok(Totals::default()),
        })?;
        for (id, totals) in settled {
            let account = AccountRecord { id, totals }.into();
            undo.push(self.set(bytes_of(&Key::Account(id))?, Some(account))?);
        }
        let counted = Counts::of(commit).settle(|id| match self.records.get(&bytes_of(&Key::Usage(id))?) {
            Some(Record::Usage(usage)) => Ok(usage.used),
            Some(_) | None => Ok(Used::default()),
        })?;
        for usage in counted {
            undo.push(self.set(bytes_of(&Key::Usage(usage.id))?, Some(usage.into()))?);
        }
        Ok(())
    }

    /// Adds a record unless one of its keys is taken.
    fn insert(&mut self, record: &Record) -> Result<Option<Was>, StoreError> {
        let key = bytes_of(&record.key())?;
        let unique = unique_of(record)?;
        let taken = self.records.contains_key(&key) || unique.is_some_and(|unique| self.unique.contains_key(&unique));
        if taken { Ok(None) } else { self.set(key, Some(record.clone())).map(Some) }
    }

    /// Replaces the record with the same key, if it has the expected version. The columns that never change must be equal: a record
    /// that differs there is another record.
    fn replace(&mut self, record: &Record, expected: Option<u32>) -> Result<Option<Was>, StoreError> {
        let key = bytes_of(&record.key())?;
        let Some(old) = self.records.get(&key) else { return Ok(None) };
        let may = record.kind().layout().may_replace::<true>(old, record)?;
        if may && (expected.is_none() || old.version() == expected) { self.set(key, Some(record.clone())).map(Some) } else { Ok(None) }
    }

    fn set(&mut self, key: KeyBytes, record: Option<Record>) -> Result<Was, StoreError> {
        let unique = record.as_ref().map(unique_of).transpose()?.flatten();
        let was = match record {
            Some(record) => self.records.insert(key.clone(), record),
            None => self.records.remove(&key),
        };
        if let Some(gone) = was.as_ref().map(unique_of).transpose()?.flatten() {
            self.unique.remove(&gone);
        }
        self.unique.extend(unique.map(|unique| (unique, key.clone())));
        Ok((key, was))
    }
}

fn unique_of(record: &Record) -> Result<Option<KeyBytes>, StoreError> {
    record.kind().layout().unique_key::<true>(record)
}

fn bytes_of(key: &Key) -> Result<KeyBytes, StoreError> {
    key_bytes(key).ok_or_else(|| StoreError::new("writing a record", "no record can have such a key", false))
}
