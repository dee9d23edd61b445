//! The store in memory: the model that every other store is compared with, and the store of tests and of demonstrations.
//!
//! One lock, one ordered map of all records by key, and beside it the further unique keys. It is naive on purpose. A commit is
//! applied write by write under the lock, and taken back from the last to the first if anything stood in its way, so that
//! nobody ever sees a part of one.

use std::collections::BTreeMap;
use std::sync::{RwLock, RwLockReadGuard};

use super::cell::{KeyBytes, head, key_bytes, unique_bytes};
use super::record::{AccountRecord, Key, Record};
use super::shared::{self, Deltas};
use super::{Clash, Commit, CommitError, Scan, Store, StoreError, Unique, Write};
use crate::ledger::Totals;

/// Keeps everything in memory. Dropped, it is gone.
#[derive(Default)]
pub struct MemoryStore {
    state: RwLock<State>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> Result<RwLockReadGuard<'_, State>, StoreError> {
        self.state.read().map_err(|_| poisoned())
    }
}

impl Store for MemoryStore {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        shared::check(commit)?;
        self.state.write().map_err(|_| poisoned())?.commit(commit)
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

/// A thread that panicked in the middle of a commit may have left a part of it.
fn poisoned() -> StoreError {
    StoreError::corrupt("locking the memory store", "a thread panicked inside a commit")
}

#[derive(Default)]
struct State {
    records: BTreeMap<KeyBytes, Record>,
    /// From each further unique key to the primary one.
    unique: BTreeMap<KeyBytes, KeyBytes>,
}

/// What was under a key before a write.
type Was = (KeyBytes, Option<Record>);

impl State {
    fn commit(&mut self, commit: &Commit) -> Result<(), CommitError> {
        let mut undo = Vec::with_capacity(commit.writes.len());
        let made = self.make(commit, &mut undo);
        if made.is_err() {
            for (key, was) in undo.into_iter().rev() {
                self.set(key, was)?;
            }
        }
        made
    }

    fn make(&mut self, commit: &Commit, undo: &mut Vec<Was>) -> Result<(), CommitError> {
        let mut clashes = Vec::new();
        for (index, write) in commit.writes.iter().enumerate() {
            let was = match write {
                Write::Insert(record) => self.insert(record)?,
                Write::Update { record, expected } => self.replace(record, Some(*expected))?,
                Write::Replace(record) => self.replace(record, None)?,
                Write::Post(transfer) => self.insert(&transfer.clone().into())?,
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
        Ok(())
    }

    /// Adds a record unless one of its keys is taken.
    fn insert(&mut self, record: &Record) -> Result<Option<Was>, StoreError> {
        let key = bytes_of(&record.key())?;
        let unique = unique_of(record)?;
        let taken = self.records.contains_key(&key) || unique.is_some_and(|unique| self.unique.contains_key(&unique));
        if taken { Ok(None) } else { self.set(key, Some(record.clone())).map(Some) }
    }

    /// Puts a record in the place of the one under its key, if that has the version. What never changes is the same in both: a
    /// record that differs there is not the same record.
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
