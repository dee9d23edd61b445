//! All records of the store in one ordered map from the bytes of their keys to their rows.
//!
//! One map for every kind makes a small program, which counts where it is loaded over a network. Behind the primary keys
//! stand the further unique ones, each with the primary key that it leads to; they follow from the rows, and are not kept.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::code::{self, Ordered};
use crate::store::compact::{Rest, blob, number};
use crate::store::record::{AccountRecord, Key, Record};
use crate::store::rows::{Bound, Read, Sink as _};
use crate::store::shared::{self, Deltas};
use crate::store::{Clash, Commit, CommitError, StoreError, Unique, Write};

type Bytes = Box<[u8]>;

/// Whether the bytes of a key are those of a further unique one.
const UNIQUE: u8 = 0x80;

/// How a change of an entry begins.
const PUT: u8 = 1;
const REMOVE: u8 = 2;

#[derive(Default)]
pub(super) struct Table<const SERVER: bool> {
    pub(super) rows: BTreeMap<Bytes, Bytes>,
}

/// What a commit has changed so far: what was under each key, in order.
#[derive(Default)]
struct Undo(Vec<(Bytes, Option<Bytes>)>);

/// Whether a write could be made.
type Made = Result<bool, StoreError>;

impl<const SERVER: bool> Table<SERVER> {
    /// Makes a commit, or nothing of it; gives the changes as the body of an entry.
    pub(super) fn commit(&mut self, commit: &Commit) -> Result<Vec<u8>, CommitError> {
        shared::check(commit)?;
        let mut undo = Undo::default();
        let made = self.make(commit, &mut undo);
        match made {
            Ok(()) => Ok(self.changes(undo)),
            Err(error) => {
                for (key, was) in undo.0.into_iter().rev() {
                    match was {
                        Some(row) => drop(self.rows.insert(key, row)),
                        None => drop(self.rows.remove(&key)),
                    }
                }
                Err(error)
            }
        }
    }

    fn make(&mut self, commit: &Commit, undo: &mut Undo) -> Result<(), CommitError> {
        let mut clashes = Vec::new();
        let mut deltas = Deltas::default();
        for (index, write) in commit.writes.iter().enumerate() {
            let made = match write {
                Write::Insert(record) => self.insert(record, undo)?,
                Write::Update { record, expected } => self.replace(record, Some(*expected), undo)?,
                Write::Replace(record) => self.replace(record, None, undo)?,
                Write::Post(transfer) => {
                    deltas.add(transfer);
                    self.insert(&Record::Transfer(transfer.clone()), undo)?
                }
                Write::Delete(key) => self.delete(key, undo)?,
            };
            if !made {
                clashes.push(Clash { write: index });
            }
        }
        if !clashes.is_empty() {
            return Err(CommitError::Conflict(clashes));
        }
        let settled = deltas.settle(|account| match self.get(&Key::Account(account))? {
            Some(Record::Account(account)) => Ok(account.totals),
            Some(_) | None => Ok(Default::default()),
        })?;
        for (id, totals) in settled {
            let account = Record::Account(AccountRecord { id, totals });
            let key = code::key(&account.key()).ok_or_else(impossible)?;
            self.put(key, code::row::<SERVER>(&account)?, undo);
        }
        Ok(())
    }

    fn insert(&mut self, record: &Record, undo: &mut Undo) -> Made {
        let key = code::key(&record.key()).ok_or_else(impossible)?;
        let unique = unique_key::<SERVER>(record);
        if self.rows.contains_key(&*key) || unique.as_ref().is_some_and(|unique| self.rows.contains_key(&**unique)) {
            return Ok(false);
        }
        if let Some(unique) = unique {
            self.put(unique, key.clone(), undo);
        }
        self.put(key, code::row::<SERVER>(record)?, undo);
        Ok(true)
    }

    fn replace(&mut self, record: &Record, expected: Option<u32>, undo: &mut Undo) -> Made {
        let key = code::key(&record.key()).ok_or_else(impossible)?;
        let Some(old) = self.read(&key)? else { return Ok(false) };
        let at = expected.is_none() || old.version() == expected;
        if !at || !same::<SERVER>(&old, record) {
            return Ok(false);
        }
        self.put(key, code::row::<SERVER>(record)?, undo);
        Ok(true)
    }

    fn delete(&mut self, key: &Key, undo: &mut Undo) -> Made {
        let Some(key) = code::key(key) else { return Ok(false) };
        let Some(old) = self.read(&key)? else { return Ok(false) };
        if let Some(unique) = unique_key::<SERVER>(&old) {
            undo.0.extend(self.rows.remove_entry(&*unique).map(|(unique, row)| (unique, Some(row))));
        }
        undo.0.extend(self.rows.remove_entry(&*key).map(|(key, row)| (key, Some(row))));
        Ok(true)
    }

    fn put(&mut self, key: Vec<u8>, row: Vec<u8>, undo: &mut Undo) {
        let key: Bytes = key.into();
        let was = self.rows.insert(key.clone(), row.into());
        undo.0.push((key, was));
    }

    /// The rows that differ from what they were, by key.
    fn changes(&self, undo: Undo) -> Vec<u8> {
        let mut keys: Vec<(Bytes, Option<Bytes>)> = undo.0.into_iter().filter(|(key, _)| key[0] < UNIQUE).collect();
        // Of each, what there was before all of them.
        keys.sort_by(|(one, _), (other, _)| one.cmp(other));
        keys.dedup_by(|(later, _), (earlier, _)| later == earlier);
        keys.retain(|(key, was)| self.rows.get(key) != was.as_ref());
        let mut out = Vec::with_capacity(128 * keys.len());
        number(&mut out, keys.len() as u64);
        for (key, _) in keys {
            match self.rows.get(&key) {
                Some(row) => {
                    out.extend([PUT, key[0]]);
                    blob(&mut out, row);
                }
                None => {
                    out.push(REMOVE);
                    blob(&mut out, &key);
                }
            }
        }
        out
    }

    /// Changes the rows as the body of an entry says.
    pub(super) fn apply(&mut self, body: &[u8]) -> Result<(), StoreError> {
        let mut rest = Rest(body);
        // The number of a kind and a row, or none and the key of what is gone.
        let read = |rest: &mut Rest<'_>| -> Option<Vec<(Option<u8>, Bytes)>> {
            let count = rest.count()?;
            let change = |rest: &mut Rest<'_>| match rest.byte()? {
                PUT => Some((Some(rest.byte()?), rest.blob()?.into())),
                REMOVE => Some((None, rest.blob()?.into())),
                _ => None,
            };
            (0..count).map(|_| change(rest)).collect()
        };
        let changes = read(&mut rest).filter(|_| rest.0.is_empty());
        let changes = changes.ok_or_else(|| corrupt("its changes are not as they are written"))?;
        // What was there first: another record may have taken its place in a unique key.
        let mut puts = Vec::with_capacity(changes.len());
        for (code, bytes) in changes {
            match code {
                None => {
                    let old = self.read(&bytes)?.ok_or_else(|| corrupt("what it removes is not there"))?;
                    self.forget(&old, &bytes);
                    self.rows.remove(&bytes);
                }
                Some(code) => {
                    let record = code::record::<SERVER>(code, &bytes)?;
                    let key = code::key(&record.key()).ok_or_else(impossible)?;
                    if let Some(old) = self.read(&key)? {
                        self.forget(&old, &key);
                    }
                    puts.push((record, key, bytes));
                }
            }
        }
        puts.into_iter().try_for_each(|(record, key, row)| self.place(&record, key, row))
    }

    /// Puts a row of a snapshot where it belongs.
    pub(super) fn load(&mut self, code: u8, row: Bytes) -> Result<(), StoreError> {
        let record = code::record::<SERVER>(code, &row)?;
        let key = code::key(&record.key()).ok_or_else(impossible)?;
        if self.rows.contains_key(&*key) {
            return Err(corrupt("a record is there twice"));
        }
        self.place(&record, key, row)
    }

    fn place(&mut self, record: &Record, key: Vec<u8>, row: Bytes) -> Result<(), StoreError> {
        if let Some(unique) = unique_key::<SERVER>(record) {
            match self.rows.entry(unique.into()) {
                Entry::Vacant(place) => drop(place.insert(key.clone().into())),
                Entry::Occupied(_) => return Err(corrupt("two records have the same unique key")),
            }
        }
        self.rows.insert(key.into(), row);
        Ok(())
    }

    fn forget(&mut self, old: &Record, key: &[u8]) {
        if let Some(unique) = unique_key::<SERVER>(old)
            && self.rows.get(&*unique).is_some_and(|it| **it == *key)
        {
            self.rows.remove(&*unique);
        }
    }

    /// The record under a primary key.
    pub(super) fn get(&self, key: &Key) -> Read<Option<Record>> {
        code::key(key).map_or(Ok(None), |key| self.read(&key))
    }

    /// Whether this very record is there: a record has one row.
    pub(super) fn holds(&self, record: &Record) -> Read<bool> {
        let Some(key) = code::key(&record.key()) else { return Ok(false) };
        let row = code::row::<SERVER>(record)?;
        Ok(self.rows.get(&*key).is_some_and(|there| **there == *row))
    }

    /// The record under a further unique key.
    pub(super) fn find(&self, unique: &Unique) -> Read<Option<Record>> {
        let unique = match unique {
            Unique::SettlementReference(client, reference) => of(SETTLEMENT, |it| named(it, client.0, reference)),
            Unique::ReversalReference(client, reference) => of(REVERSAL, |it| named(it, client.0, reference)),
            Unique::ClientId(id) => of(CLIENT, |it| it.bytes(&id.0.to_be_bytes())),
            Unique::KeyId(id) if SERVER => of(KEY, |it| it.bytes(&id.0)),
            Unique::EndpointId(id) if SERVER => of(ENDPOINT, |it| it.bytes(&id.0.to_be_bytes())),
            Unique::KeyId(_) | Unique::EndpointId(_) => None,
            Unique::FeedOf(settlement, n) => of(FEED, |it| event(it, settlement.0, *n)),
        };
        match unique.and_then(|unique| self.rows.get(&*unique)) {
            Some(key) => self.read(key),
            None => Ok(None),
        }
    }

    /// What a snapshot keeps: every row, with the number of its kind.
    pub(super) fn kept(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.rows.iter().map(|(key, row)| (key[0], &**row)).take_while(|(code, _)| *code < UNIQUE)
    }

    fn read(&self, key: &[u8]) -> Read<Option<Record>> {
        self.rows.get(key).map(|row| code::record::<SERVER>(key[0], row)).transpose()
    }
}

const CLIENT: u8 = UNIQUE | 1;
const KEY: u8 = UNIQUE | 2;
const PROVIDER: u8 = UNIQUE | 3;
const SETTLEMENT: u8 = UNIQUE | 4;
const REVERSAL: u8 = UNIQUE | 5;
const ENDPOINT: u8 = UNIQUE | 6;
const FEED: u8 = UNIQUE | 7;

/// What no other record may have besides the primary key.
fn unique_key<const SERVER: bool>(record: &Record) -> Option<Vec<u8>> {
    match record {
        Record::Client(r) => of(CLIENT, |it| it.bytes(&r.id.0.to_be_bytes())),
        Record::Key(r) if SERVER => of(KEY, |it| it.bytes(&r.id.0)),
        Record::Provider(r) => of(PROVIDER, |it| it.text(&r.id)),
        Record::Settlement(r) => of(SETTLEMENT, |it| named(it, r.client.0, r.reference.as_str())),
        Record::Reversal(r) => r.reference.as_ref().and_then(|reference| of(REVERSAL, |it| named(it, r.client.0, reference.as_str()))),
        Record::Endpoint(r) if SERVER => of(ENDPOINT, |it| it.bytes(&r.id.0.to_be_bytes())),
        Record::Feed(r) => of(FEED, |it| event(it, r.settlement.0, r.n)),
        Record::Token(_) | Record::Account(_) | Record::Attempt(_) | Record::Event(_) | Record::Transfer(_) | Record::Task(_) => None,
        Record::Idempotency(_) | Record::SimPayment(_) | Record::Nonce(_) | Record::Secret(_) | Record::Audit(_) => None,
        Record::Meta(_) | Record::Unlogged(_) | Record::Tile(_) | Record::LogHead(_) => None,
        Record::EndpointSecret(_) | Record::Queue(_) | Record::Delivery(_) | Record::Key(_) | Record::Endpoint(_) => None,
    }
}

fn of(which: u8, rest: impl FnOnce(&mut Ordered) -> Bound<Ordered>) -> Option<Vec<u8>> {
    let mut key = Ordered::of(which);
    rest(&mut key).is_ok().then_some(key.0)
}

fn named(key: &mut Ordered, client: u32, reference: &str) -> Bound<Ordered> {
    key.int(client.into())?;
    key.text(reference)
}

fn event(key: &mut Ordered, settlement: i64, n: u32) -> Bound<Ordered> {
    key.int(settlement)?;
    key.int(n.into())
}

/// Whether a record may take the place of another: what never changes is the same.
fn same<const SERVER: bool>(old: &Record, new: &Record) -> bool {
    let fixed = match (old, new) {
        (Record::Endpoint(old), Record::Endpoint(new)) => (old.client, old.mode) == (new.client, new.mode),
        (Record::Reversal(old), Record::Reversal(new)) => old.client == new.client,
        (Record::Delivery(old), Record::Delivery(new)) => old.endpoint == new.endpoint,
        _ => true,
    };
    fixed && unique_key::<SERVER>(old) == unique_key::<SERVER>(new)
}

fn impossible() -> StoreError {
    corrupt("no record can have such a key")
}

fn corrupt(what: &'static str) -> StoreError {
    StoreError::corrupt("changing the rows", what)
}
