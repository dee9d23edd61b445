//! All records of the store in one ordered map from the bytes of their keys to their rows.
//!
//! One map for every kind makes a small program, which counts where it is loaded over a network. Behind the primary keys
//! stand the further unique ones, each with the primary key that it leads to; they follow from the rows, and are not kept.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::code;
use crate::store::cell::{Cell, FURTHER, KeyBytes, key_bytes, ordered, row, unique_bytes};
use crate::store::column::Read;
use crate::store::compact::{Rest, blob, number};
use crate::store::record::{AccountRecord, Key, Record, RecordKind};
use crate::store::shared::{self, Deltas};
use crate::store::{Clash, Commit, CommitError, Scan, StoreError, Unique, Write};

type Bytes = KeyBytes;

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
        for (index, write) in commit.writes.iter().enumerate() {
            let made = match write {
                Write::Insert(record) => self.insert(record, undo)?,
                Write::Update { record, expected } => self.replace(record, Some(*expected), undo)?,
                Write::Replace(record) => self.replace(record, None, undo)?,
                Write::Post(transfer) => self.insert(&Record::Transfer(transfer.clone()), undo)?,
                Write::Delete(key) => self.delete(key, undo)?,
            };
            if !made {
                clashes.push(Clash { write: index });
            }
        }
        if !clashes.is_empty() {
            return Err(CommitError::Conflict(clashes));
        }
        let settled = Deltas::of(commit).settle(|account| match self.get(&Key::Account(account))? {
            Some(Record::Account(account)) => Ok(account.totals),
            Some(_) | None => Ok(Default::default()),
        })?;
        for (id, totals) in settled {
            let row = Row::of::<SERVER>(&Record::Account(AccountRecord { id, totals }))?;
            self.put(row.key(), code::row(&row.cells).into(), undo);
        }
        Ok(())
    }

    fn insert(&mut self, record: &Record, undo: &mut Undo) -> Made {
        let row = Row::of::<SERVER>(record)?;
        let (key, unique) = (row.key(), row.unique());
        if self.rows.contains_key(&key) || unique.as_ref().is_some_and(|unique| self.rows.contains_key(unique)) {
            return Ok(false);
        }
        if let Some(unique) = unique {
            self.put(unique, key.clone(), undo);
        }
        self.put(key, code::row(&row.cells).into(), undo);
        Ok(true)
    }

    fn replace(&mut self, record: &Record, expected: Option<u32>, undo: &mut Undo) -> Made {
        let row = Row::of::<SERVER>(record)?;
        let key = row.key();
        let Some(old) = self.rows.get(&key) else { return Ok(false) };
        let old = code::cells(old)?;
        let at = |old: &Record| expected.is_none() || old.version() == expected;
        if !row.kind.layout().may_follow(&old, &row.cells) || !at(&code::record::<SERVER>(row.kind, old)?) {
            return Ok(false);
        }
        self.put(key, code::row(&row.cells).into(), undo);
        Ok(true)
    }

    fn delete(&mut self, key: &Key, undo: &mut Undo) -> Made {
        let Some(bytes) = key_bytes(key) else { return Ok(false) };
        let Some((bytes, old)) = self.rows.remove_entry(&bytes) else { return Ok(false) };
        if let Some(unique) = (Row { kind: key.kind(), cells: code::cells(&old)? }).unique() {
            undo.0.extend(self.rows.remove_entry(&unique).map(|(unique, row)| (unique, Some(row))));
        }
        undo.0.push((bytes, Some(old)));
        Ok(true)
    }

    fn put(&mut self, key: Bytes, row: Bytes, undo: &mut Undo) {
        let was = self.rows.insert(key.clone(), row);
        undo.0.push((key, was));
    }

    /// The rows that differ from what they were, by key.
    fn changes(&self, undo: Undo) -> Vec<u8> {
        let mut keys: Vec<(Bytes, Option<Bytes>)> = undo.0.into_iter().filter(|(key, _)| key[0] < FURTHER).collect();
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
                    self.forget(&bytes)?.then_some(()).ok_or_else(|| corrupt("what it removes is not there"))?;
                    self.rows.remove(&bytes);
                }
                Some(code) => {
                    let row = Row::read::<SERVER>(code, &bytes)?;
                    self.forget(&row.key())?;
                    puts.push((row, bytes));
                }
            }
        }
        puts.into_iter().try_for_each(|(row, bytes)| self.place(&row, bytes))
    }

    /// Puts a row of a snapshot where it belongs.
    pub(super) fn load(&mut self, code: u8, bytes: Bytes) -> Result<(), StoreError> {
        let row = Row::read::<SERVER>(code, &bytes)?;
        if self.rows.contains_key(&row.key()) {
            return Err(corrupt("a record is there twice"));
        }
        self.place(&row, bytes)
    }

    fn place(&mut self, row: &Row, bytes: Bytes) -> Result<(), StoreError> {
        let key = row.key();
        if let Some(unique) = row.unique() {
            match self.rows.entry(unique) {
                Entry::Vacant(place) => drop(place.insert(key.clone())),
                Entry::Occupied(_) => return Err(corrupt("two records have the same unique key")),
            }
        }
        self.rows.insert(key, bytes);
        Ok(())
    }

    /// Takes the further unique key from the row under this key, unless another has it by now; whether there is such a row.
    fn forget(&mut self, key: &[u8]) -> Made {
        let Some(old) = self.rows.get(key) else { return Ok(false) };
        let old = Row { kind: code::kind(key[0])?, cells: code::cells(old)? };
        if let Some(unique) = old.unique()
            && self.rows.get(&unique).is_some_and(|it| **it == *key)
        {
            self.rows.remove(&unique);
        }
        Ok(true)
    }

    /// The record under a primary key.
    pub(super) fn get(&self, key: &Key) -> Read<Option<Record>> {
        key_bytes(key).map_or(Ok(None), |bytes| self.read(&bytes))
    }

    /// Whether this very record is there: a record has one row.
    pub(super) fn holds(&self, record: &Record) -> Read<bool> {
        let row = Row::of::<SERVER>(record)?;
        Ok(self.rows.get(&row.key()).is_some_and(|there| **there == *code::row(&row.cells)))
    }

    /// The record under a further unique key.
    pub(super) fn find(&self, unique: &Unique) -> Read<Option<Record>> {
        match unique_bytes(unique).and_then(|unique| self.rows.get(&unique)) {
            Some(key) => self.read(key),
            None => Ok(None),
        }
    }

    /// A page of records.
    pub(super) fn scan(&self, scan: &Scan) -> Read<Vec<Record>> {
        scan.page(&self.rows, |row, _| code::cells(row), |_, cells| code::record::<SERVER>(scan.kind(), cells))
    }

    /// What a snapshot keeps: every row, with the number of its kind.
    pub(super) fn kept(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.rows.iter().map(|(key, row)| (key[0], &**row)).take_while(|(code, _)| *code < FURTHER)
    }

    fn read(&self, key: &[u8]) -> Read<Option<Record>> {
        let read = |row: &Bytes| code::record::<SERVER>(code::kind(key[0])?, code::cells(row)?);
        self.rows.get(key).map(read).transpose()
    }
}

/// A record's cells, from which its keys follow.
struct Row {
    kind: RecordKind,
    cells: Vec<Cell>,
}

impl Row {
    fn of<const SERVER: bool>(record: &Record) -> Read<Self> {
        Ok(Self { kind: record.kind(), cells: row::<SERVER>(record)? })
    }

    /// What was kept, after making sure that it is a record.
    fn read<const SERVER: bool>(code: u8, row: &[u8]) -> Read<Self> {
        let (kind, cells) = (code::kind(code)?, code::cells(row)?);
        let record = code::record::<SERVER>(kind, cells.clone())?;
        if record.refusal().is_some() { Err(corrupt("no record can have such a key")) } else { Ok(Self { kind, cells }) }
    }

    fn key(&self) -> Bytes {
        let layout = self.kind.layout();
        ordered(layout.code, self.cells.iter().take(layout.key.into())).into()
    }

    fn unique(&self) -> Option<Bytes> {
        self.kind.layout().unique_of(&self.cells)
    }
}

fn corrupt(what: &'static str) -> StoreError {
    StoreError::corrupt("changing the rows", what)
}
