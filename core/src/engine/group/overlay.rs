//! The decisions of a group of commands so far, on top of the store.
//!
//! Commands of a group are decided one after the other, each seeing the writes of those before it, and the whole group is committed
//! at once. A failed command leaves no trace: its writes are cut off before any other command sees them.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::error::Result;
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::{AccountId, Mode, Totals, Transfer};
use crate::lifecycle::Direction;
use crate::store::record::{AccountRecord, ClockRecord, Key, Record, SettlementRecord, TaskKind, TaskRecord, UsageRecord, Version};
use crate::store::{Commit, Scan, Store, StoreError, Unique, Write, typed};
use crate::terms::{UsageId, Used};
use crate::time::Millis;
use crate::{Error, ErrorCode};

use super::Effects;
use super::prefetch::LookedUp;

pub(crate) struct Overlay<'a> {
    pub(crate) store: &'a dyn Store,
    /// The gateway's own time, the same for the whole group. What belongs to a settlement has [`Engine::time_of`] instead.
    pub(crate) now: Millis,
    pub(crate) commit: Commit,
    /// How many writes are settled. The rest belong to the command that is being decided.
    settled: usize,
    /// The results of look-ups that were made as a batch.
    pub(super) looked_up: LookedUp,
    /// The index of each record's latest write; `None` for one that is deleted, or must not be there.
    written: HashMap<Key, Option<usize>>,
    /// Unique keys that settled writes of this group took.
    unique: HashMap<Unique, Key>,
    /// Of accounts: what the store holds, read once, and what settled writes of this group moved.
    accounts: HashMap<AccountId, (Option<Totals>, Totals)>,
    /// Of counters of a day: what the store holds, read once, and what settled writes of this group counted.
    counters: HashMap<UsageId, (Option<Used>, Used)>,
    /// Of clocks of sandboxes: what the store holds, read once.
    clocks: RefCell<HashMap<ClientNo, Option<ClockRecord>>>,
    /// Settlements that settled writes touch, for those who follow them.
    changed: Vec<SettlementNo>,
    created: usize,
    due: Option<Millis>,
    /// Whether a settled write is a row of events to number.
    unlogged: bool,
    /// Feeds that settled writes extend.
    fed: Vec<(ClientNo, Mode)>,
    deliveries_due: Option<Millis>,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(store: &'a dyn Store, now: Millis) -> Self {
        Self {
            store,
            now,
            commit: Commit::default(),
            settled: 0,
            looked_up: LookedUp::default(),
            written: HashMap::new(),
            unique: HashMap::new(),
            accounts: HashMap::new(),
            counters: HashMap::new(),
            clocks: RefCell::default(),
            changed: Vec::new(),
            created: 0,
            due: None,
            unlogged: false,
            fed: Vec::new(),
            deliveries_due: None,
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

    /// Replaces a record that several processes change, if it still is as it was read. `record` has the next version.
    pub(crate) fn update(&mut self, record: impl Into<Record>, read: Version) {
        self.write(Write::Update { record: record.into(), expected: read.0 });
    }

    /// What the command that is being decided moved so far must be the account's own money: neither what other nodes spend meanwhile nor
    /// the credit that others of the group may use covers it.
    pub(crate) fn forbid_credit(&mut self, account: AccountId) {
        self.write(Write::Floor { account, floor: 0 });
    }

    /// The command failed: discards its writes since the last settle.
    pub(crate) fn discard(&mut self) {
        self.commit.writes.truncate(self.settled);
    }

    /// The command, or an independent part of it, succeeded: later reads see its writes.
    pub(crate) fn settle(&mut self) {
        for index in self.settled..self.commit.writes.len() {
            match &self.commit.writes[index] {
                Write::Insert(Record::Settlement(record)) => {
                    self.created += usize::from(record.direction() == Direction::Outgoing);
                    self.unique.insert(reference_of(record), Key::Settlement(record.no));
                    self.written.insert(Key::Settlement(record.no), Some(index));
                }
                Write::Update { record, .. } => {
                    self.written.insert(record.key(), Some(index));
                    if let Record::Settlement(record) = record {
                        self.changed.push(record.no);
                    }
                    if let Record::Queue(queue) = record {
                        self.deliveries_due = earlier(self.deliveries_due, queue.due.filter(|_| queue.owner == 0));
                    }
                }
                // Nothing reads these back while a group is decided.
                Write::Insert(Record::Event(_) | Record::Transfer(_) | Record::Audit(_)) => {}
                Write::Insert(Record::Unlogged(_) | Record::Unbooked(_)) => self.unlogged = true,
                Write::Insert(Record::Feed(feed)) => {
                    self.fed.push((feed.client, feed.mode));
                }
                Write::Insert(Record::Notification(record)) => {
                    // A user has one inbox, whatever the mode.
                    self.fed.push((record.user.party(), Mode::Sandbox));
                    self.written.insert(Key::Notification((record.user, record.n)), Some(index));
                }
                Write::Insert(Record::Queue(queue)) => {
                    self.deliveries_due = earlier(self.deliveries_due, queue.due);
                    self.written.insert(Key::Queue(queue.endpoint), Some(index));
                }
                Write::Insert(Record::Task(task)) => {
                    self.due = earlier(self.due, Some(wakes_at(task)));
                    self.written.insert(Key::Task(task.key), Some(index));
                }
                Write::Insert(Record::Reversal(record)) => {
                    let key = Key::Reversal((record.settlement, record.n));
                    if let Some(reference) = &record.reference {
                        self.unique.insert(Unique::ReversalReference(record.client, reference.as_str().to_owned()), key.clone());
                    }
                    self.written.insert(key, Some(index));
                }
                Write::Insert(Record::Movement(record)) => {
                    let key = Key::Movement(record.journal);
                    self.unique.insert(Unique::MovementReference(record.client, record.reference.as_str().to_owned()), key.clone());
                    self.written.insert(key, Some(index));
                }
                Write::Insert(Record::Approval(record)) => {
                    self.unique.insert(Unique::ApprovalId(record.id), Key::Approval(record.no));
                    self.written.insert(Key::Approval(record.no), Some(index));
                }
                Write::Insert(Record::Bundle(record)) => {
                    self.unique.insert(Unique::BundleId(record.id), Key::Bundle(record.no));
                    self.written.insert(Key::Bundle(record.no), Some(index));
                }
                Write::Insert(Record::User(record)) => {
                    self.unique.insert(Unique::UserName(record.client, record.mode, record.name.clone()), Key::User(record.no));
                    self.written.insert(Key::User(record.no), Some(index));
                }
                Write::Insert(Record::Key(record)) => {
                    self.unique.insert(Unique::KeyId(record.id), Key::Key(record.no));
                    self.written.insert(Key::Key(record.no), Some(index));
                }
                Write::Insert(record) | Write::Replace(record) => {
                    self.written.insert(record.key(), Some(index));
                }
                Write::Delete(key) | Write::Absent(key) => {
                    self.written.insert(key.clone(), None);
                }
                Write::Count { id, by, .. } => {
                    let (_, counted) = self.counters.entry(*id).or_default();
                    *counted = counted.plus(*by);
                }
                Write::Floor { .. } => {}
                Write::Post(transfer) => {
                    for (account, delta) in transfer.deltas() {
                        let (_, moved) = self.accounts.entry(account).or_default();
                        *moved = moved.plus(&delta).unwrap_or(*moved);
                    }
                }
            }
        }
        self.settled = self.commit.writes.len();
    }

    /// The record under a primary key, with the changes of this group.
    pub(crate) fn get<T: TryFrom<Record, Error = Record>>(&self, key: &Key) -> Result<Option<T>> {
        let found = match self.written.get(key) {
            Some(None) => None,
            Some(Some(index)) => self.record_at(*index),
            None => self.stored(key)?,
        };
        Ok(typed(found)?)
    }

    /// [`Overlay::get`], with the changes of the command that is being decided.
    pub(crate) fn left<T: TryFrom<Record, Error = Record>>(&self, key: &Key) -> Result<Option<T>> {
        match self.own(key) {
            Some(record) => Ok(typed(Some(record))?),
            None => self.get(key),
        }
    }

    /// The clock of a client's sandbox as the client changed it, with the changes of the command that is being decided.
    pub(crate) fn clock(&self, client: ClientNo) -> Result<Option<ClockRecord>> {
        let key = Key::Clock(client);
        if let Some(own) = self.own(&key) {
            return Ok(typed(Some(own))?);
        }
        if self.touched(&key) {
            return self.get(&key);
        }
        if let Some(known) = self.clocks.borrow().get(&client) {
            return Ok(known.clone());
        }
        let stored: Option<ClockRecord> = typed(self.stored(&key)?)?;
        self.clocks.borrow_mut().insert(client, stored.clone());
        Ok(stored)
    }

    /// What the command that is being decided has written under a key.
    fn own(&self, key: &Key) -> Option<Record> {
        (self.settled..self.commit.writes.len()).rev().find_map(|index| self.record_at(index).filter(|it| it.key() == *key))
    }

    /// The record under a primary key, as it is in the store.
    pub(crate) fn stored(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        match self.looked_up.get(key) {
            Some(mut found) => Ok(found.pop()),
            None => self.store.get(key),
        }
    }

    /// The record under another unique key, as it is in the store.
    pub(crate) fn stored_under(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        match self.looked_up.find(unique) {
            Some(mut found) => Ok(found.pop()),
            None => self.store.find(unique),
        }
    }

    /// A page of records, as they are in the store.
    pub(crate) fn stored_page(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        match self.looked_up.scan(scan) {
            Some(found) => Ok(found),
            None => self.store.scan(scan),
        }
    }

    fn record_at(&self, index: usize) -> Option<Record> {
        match &self.commit.writes[index] {
            Write::Insert(record) | Write::Replace(record) | Write::Update { record, .. } => Some(record.clone()),
            Write::Post(_) | Write::Count { .. } | Write::Floor { .. } | Write::Delete(_) | Write::Absent(_) => None,
        }
    }

    /// The records that this group added and settled.
    pub(crate) fn inserted(&self) -> impl Iterator<Item = &Record> {
        self.commit.writes[..self.settled].iter().filter_map(Write::inserted)
    }

    /// Whether this group already wrote or deleted the record, or requires that it is not there.
    pub(crate) fn touched(&self, key: &Key) -> bool {
        self.written.contains_key(key)
    }

    /// A settlement that must exist, because a record that belongs to it exists.
    pub(crate) fn settlement(&self, no: SettlementNo) -> Result<SettlementRecord> {
        self.get(&Key::Settlement(no))?
            .ok_or_else(|| StoreError::corrupt("reading a settlement", format!("number {} is missing", no.0)).into())
    }

    /// What this very group put under a unique key. Costs no read.
    pub(crate) fn here(&self, unique: &Unique) -> Option<&Key> {
        self.unique.get(unique)
    }

    /// Makes known a settlement whose reference an earlier round of this group conflicted with. A fresh one is not read again.
    pub(crate) fn know_reference(&mut self, record: &SettlementRecord, fresh: bool) {
        self.unique.insert(reference_of(record), Key::Settlement(record.no));
        if fresh {
            self.looked_up.know(record);
        }
    }

    /// The record under a further unique key, as this group left it.
    pub(crate) fn find<T: TryFrom<Record, Error = Record>>(&self, unique: &Unique) -> Result<Option<T>> {
        match self.here(unique) {
            Some(key) => self.get(key),
            None => match self.stored_under(unique)? {
                Some(record) if self.touched(&record.key()) => self.get(&record.key()),
                stored => Ok(typed(stored)?),
            },
        }
    }

    /// An account's totals, including the transfers of this group.
    pub(crate) fn totals(&mut self, account: AccountId) -> Result<Totals> {
        let (known, moved) = self.accounts.get(&account).copied().unwrap_or_default();
        let stored = match known {
            Some(stored) => stored,
            None => {
                let record: Option<AccountRecord> = typed(self.stored(&Key::Account(account))?)?;
                record.map(|a| a.totals).unwrap_or_default()
            }
        };
        self.accounts.insert(account, (Some(stored), moved));
        stored.plus(&moved).ok_or_else(overflow)
    }

    /// An account's totals, estimated from `known` unless they have been read: they grant a payment, because the store refuses a
    /// commit that spends too much, but do not refuse one.
    pub(crate) fn estimate(&mut self, account: AccountId, known: Option<Totals>) -> Result<Totals> {
        match (self.accounts.get(&account), known) {
            (None, Some(known)) => Ok(known),
            (Some((None, moved)), Some(known)) => known.plus(moved).ok_or_else(overflow),
            (Some((Some(_), _)), _) | (_, None) => self.totals(account),
        }
    }

    /// The accounts that were read or moved: what was read, and what settled writes moved.
    pub(super) fn moved(&self) -> impl Iterator<Item = (AccountId, Option<Totals>, Totals)> {
        self.accounts.iter().map(|(account, (stored, moved))| (*account, *stored, *moved))
    }

    /// [`Overlay::totals`], read again: what another commit has credited since is in it.
    pub(crate) fn totals_anew(&mut self, account: AccountId) -> Result<Totals> {
        self.looked_up.forget(Key::Account(account));
        self.accounts.entry(account).or_default().0 = None;
        self.totals(account)
    }

    /// What the counted payments of a day add up to, including those of this group.
    pub(crate) fn used(&mut self, id: UsageId) -> Result<Used> {
        let (known, counted) = self.counters.get(&id).copied().unwrap_or_default();
        let stored = match known {
            Some(stored) => stored,
            None => typed::<UsageRecord>(self.stored(&Key::Usage(id))?)?.map(|usage| usage.used).unwrap_or_default(),
        };
        self.counters.insert(id, (Some(stored), counted));
        Ok(stored.plus(counted))
    }

    /// Adds a transfer to the journal.
    pub(crate) fn post(&mut self, transfer: Transfer) {
        self.write(Write::Post(transfer));
    }

    /// What a host needs to know about the commit, once it is made.
    pub(crate) fn effects(mut self) -> Effects {
        self.changed.sort_unstable();
        self.changed.dedup();
        self.fed.sort_unstable();
        self.fed.dedup();
        Effects {
            created: self.created,
            changed: self.changed,
            due: self.due,
            unlogged: self.unlogged,
            fed: self.fed,
            deliveries_due: self.deliveries_due,
        }
    }
}

/// The unique key of a settlement's reference.
pub(super) fn reference_of(record: &SettlementRecord) -> Unique {
    Unique::SettlementReference(record.client, record.reference.clone())
}

/// When a host should look for the task. What a client has just caused may have a later turn; an idle host takes it at once.
fn wakes_at(task: &TaskRecord) -> Millis {
    match task.kind {
        TaskKind::Dispatch | TaskKind::Reverse if task.owner == 0 => task.key.due().min(task.since),
        TaskKind::Dispatch
        | TaskKind::Reverse
        | TaskKind::Inquire
        | TaskKind::InquireReversal
        | TaskKind::SimulatorCallback
        | TaskKind::Clock => task.key.due(),
    }
}

pub(super) fn earlier(one: Option<Millis>, other: Option<Millis>) -> Option<Millis> {
    one.into_iter().chain(other).min()
}

/// The error for totals above 63 bits of minor units.
pub(crate) fn overflow() -> Error {
    Error::with(ErrorCode::AmountAboveMaximum, "the account cannot hold such an amount")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::{PublicKey, ScopeSet};
    use crate::ids::KeyNo;
    use crate::store::memory::MemoryStore;
    use crate::store::record::{KeyRecord, KeyStatus, NonceRecord};

    fn key(no: u32) -> KeyRecord {
        let public = PublicKey::Ed25519([no as u8; 32]);
        KeyRecord {
            no: KeyNo(no),
            id: public.id(),
            client: ClientNo(1),
            mode: Mode::Sandbox,
            public,
            scopes: ScopeSet::CLIENT,
            status: KeyStatus::Active,
            label: None,
            created_at: 0,
            revoked_at: None,
            version: Version::default(),
        }
    }

    #[test]
    fn a_key_is_found_by_the_next_command_of_its_group() {
        let store = MemoryStore::new();
        store.commit(&Commit { writes: vec![Write::Insert(key(1).into())] }).unwrap();
        let mut overlay = Overlay::new(&store, 5);
        let found = |overlay: &Overlay<'_>, no| overlay.find::<KeyRecord>(&Unique::KeyId(key(no).id)).unwrap();
        assert_eq!(found(&overlay, 1), Some(key(1)));
        overlay.insert(key(2));
        assert_eq!(found(&overlay, 2), None, "not before the command is settled");
        overlay.discard();
        overlay.settle();
        assert_eq!(found(&overlay, 2), None, "a command that failed added nothing");

        overlay.insert(key(3));
        overlay.settle();
        assert_eq!(found(&overlay, 3), Some(key(3)));
        assert_eq!(overlay.get(&Key::Key(KeyNo(3))).unwrap(), Some(key(3)));
        let revoked = |no| KeyRecord { status: KeyStatus::Revoked, revoked_at: Some(5), version: Version(1), ..key(no) };
        overlay.update(revoked(1), Version(0));
        overlay.update(revoked(3), Version(0));
        overlay.settle();
        for no in [1, 3] {
            assert_eq!(found(&overlay, no), Some(revoked(no)));
        }
        store.commit(&overlay.commit).unwrap();
    }

    #[test]
    fn a_nonce_is_used_for_the_next_command_of_its_group() {
        let store = MemoryStore::new();
        let mut overlay = Overlay::new(&store, 5);
        let nonce = NonceRecord { hash: [1; 32], expires_at: 9 };
        let used = |overlay: &Overlay<'_>| overlay.get::<NonceRecord>(&Key::Nonce([1; 32])).unwrap();
        overlay.insert(nonce.clone());
        overlay.discard();
        overlay.settle();
        assert_eq!(used(&overlay), None);
        overlay.insert(nonce.clone());
        overlay.settle();
        assert_eq!(used(&overlay), Some(nonce));
        assert!(overlay.touched(&Key::Nonce([1; 32])));
    }
}
