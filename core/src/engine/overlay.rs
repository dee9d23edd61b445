//! What a group of commands has decided so far, over what the store holds.
//!
//! Commands of a group are decided one after the other, each seeing what the ones before it decided, and the whole
//! is committed once. A command that fails leaves nothing behind: its writes are cut off before anyone saw them.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::{AccountId, Totals, Transfer};
use crate::store::record::{AccountRecord, Key, Record, SettlementRecord};
use crate::store::{Commit, Store, StoreError, Unique, Write, typed};
use crate::time::Millis;
use crate::{Error, ErrorCode};

pub(crate) struct Overlay<'a> {
    pub(crate) store: &'a dyn Store,
    /// One time for the whole group.
    pub(crate) now: Millis,
    pub(crate) commit: Commit,
    /// How many of the writes are settled; those behind belong to the command that is being decided.
    settled: usize,
    /// Where the latest write of a record stands; `None` for a record that was deleted.
    written: HashMap<Key, Option<usize>>,
    /// References that settled writes of this group took.
    references: HashMap<(ClientNo, String), SettlementNo>,
    reversal_references: HashMap<(ClientNo, String), Key>,
    /// Totals as the store holds them, read once.
    stored_totals: HashMap<AccountId, Totals>,
    /// What settled writes of this group moved.
    moved: HashMap<AccountId, Totals>,
    /// Settlements that settled writes touch, for those who watch them.
    changed: HashSet<SettlementNo>,
    due: Option<Millis>,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(store: &'a dyn Store, now: Millis) -> Self {
        Self {
            store,
            now,
            commit: Commit::default(),
            settled: 0,
            written: HashMap::new(),
            references: HashMap::new(),
            reversal_references: HashMap::new(),
            stored_totals: HashMap::new(),
            moved: HashMap::new(),
            changed: HashSet::new(),
            due: None,
        }
    }

    /// Adds a write of the command that is being decided.
    pub(crate) fn write(&mut self, write: Write) {
        self.commit.writes.push(write);
    }

    /// Adds a new record.
    pub(crate) fn insert(&mut self, record: impl Into<Record>) {
        self.write(Write::Insert(record.into()));
    }

    /// The command failed: forgets what it wrote since it was last settled.
    pub(crate) fn discard(&mut self) {
        self.commit.writes.truncate(self.settled);
    }

    /// The command, or a part of it that stands for itself, succeeded: later reads see what it wrote.
    pub(crate) fn settle(&mut self) {
        for index in self.settled..self.commit.writes.len() {
            match &self.commit.writes[index] {
                Write::Insert(Record::Settlement(record)) => {
                    self.references.insert((record.client, record.reference.as_str().to_owned()), record.no);
                    self.written.insert(Key::Settlement(record.no), Some(index));
                }
                Write::UpdateSettlement { record, .. } => {
                    self.written.insert(Key::Settlement(record.no), Some(index));
                    self.changed.insert(record.no);
                }
                // Nobody reads these back while a group is decided.
                Write::Insert(Record::Event(_) | Record::Transfer(_)) => {}
                Write::Insert(Record::Task(task)) => {
                    let due = task.key.due();
                    self.due = Some(self.due.map_or(due, |earliest| earliest.min(due)));
                    self.written.insert(Key::Task(task.key), Some(index));
                }
                Write::Insert(Record::Reversal(record)) => {
                    let key = Key::Reversal((record.settlement, record.n));
                    if let Some(reference) = &record.reference {
                        self.reversal_references.insert((record.client, reference.as_str().to_owned()), key.clone());
                    }
                    self.written.insert(key, Some(index));
                }
                Write::Insert(record) | Write::Replace(record) => {
                    self.written.insert(record.key(), Some(index));
                }
                Write::Delete(key) => {
                    self.written.insert(key.clone(), None);
                }
                Write::Post(transfer) => {
                    for (account, delta) in transfer.deltas() {
                        let moved = self.moved.entry(account).or_default();
                        *moved = moved.plus(&delta).unwrap_or(*moved);
                    }
                }
            }
        }
        self.settled = self.commit.writes.len();
    }

    /// The record under a primary key, as this group left it.
    pub(crate) fn get<T: TryFrom<Record, Error = Record>>(&self, key: &Key) -> Result<Option<T>> {
        let found = match self.written.get(key) {
            Some(None) => None,
            Some(Some(index)) => self.record_at(*index),
            None => self.store.get(key)?,
        };
        Ok(typed(found)?)
    }

    fn record_at(&self, index: usize) -> Option<Record> {
        match &self.commit.writes[index] {
            Write::Insert(record) | Write::Replace(record) => Some(record.clone()),
            Write::UpdateSettlement { record, .. } => Some(Record::Settlement(record.clone())),
            Write::Post(_) | Write::Delete(_) => None,
        }
    }

    /// Whether this group already wrote or removed the record.
    pub(crate) fn touched(&self, key: &Key) -> bool {
        self.written.contains_key(key)
    }

    /// A settlement that must exist, because something that belongs to it does.
    pub(crate) fn settlement(&self, no: SettlementNo) -> Result<SettlementRecord> {
        self.get(&Key::Settlement(no))?
            .ok_or_else(|| StoreError::corrupt("reading a settlement", format!("number {} is missing", no.0)).into())
    }

    /// The settlement that took a reference in this very group. Costs no read.
    pub(crate) fn reference_here(&self, client: ClientNo, reference: &str) -> Option<SettlementNo> {
        if self.references.is_empty() {
            return None;
        }
        self.references.get(&(client, reference.to_owned())).copied()
    }

    /// Takes over a settlement that an earlier round of this group ran into.
    pub(crate) fn know_reference(&mut self, record: &SettlementRecord) {
        self.references.insert((record.client, record.reference.as_str().to_owned()), record.no);
    }

    /// The settlement that took a reference, in this group or before.
    pub(crate) fn by_reference(&self, client: ClientNo, reference: &str) -> Result<Option<SettlementRecord>> {
        match self.reference_here(client, reference) {
            Some(no) => self.get(&Key::Settlement(no)),
            None => self.find(&Unique::SettlementReference(client, reference.to_owned())),
        }
    }

    /// The record under a further unique key; one that this group has changed since is returned as changed.
    pub(crate) fn find<T: TryFrom<Record, Error = Record>>(&self, unique: &Unique) -> Result<Option<T>> {
        if let Unique::ReversalReference(client, reference) = unique
            && let Some(key) = self.reversal_references.get(&(*client, reference.clone()))
        {
            return self.get(key);
        }
        match self.store.find(unique)? {
            None => Ok(None),
            Some(record) => self.get(&record.key()),
        }
    }

    /// An account's totals, with what this group has posted.
    pub(crate) fn totals(&mut self, account: AccountId) -> Result<Totals> {
        let stored = match self.stored_totals.get(&account) {
            Some(totals) => *totals,
            None => {
                let record: Option<AccountRecord> = typed(self.store.get(&Key::Account(account))?)?;
                let totals = record.map(|a| a.totals).unwrap_or_default();
                self.stored_totals.insert(account, totals);
                totals
            }
        };
        match self.moved.get(&account) {
            None => Ok(stored),
            Some(moved) => stored.plus(moved).ok_or_else(overflow),
        }
    }

    /// Adds a journal line.
    pub(crate) fn post(&mut self, transfer: Transfer) {
        self.write(Write::Post(transfer));
    }

    /// The settlements that this group changed, and when its earliest new task is due.
    pub(crate) fn effects(self) -> (Vec<SettlementNo>, Option<Millis>) {
        (self.changed.into_iter().collect(), self.due)
    }
}

/// Totals beyond what 63 bits of minor units can hold.
pub(crate) fn overflow() -> Error {
    Error::with(ErrorCode::AmountAboveMaximum, "the account cannot hold such an amount")
}
