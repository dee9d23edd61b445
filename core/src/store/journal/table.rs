//! All records of the store in one ordered map from the bytes of their keys to their rows.
//!
//! A single map for all kinds keeps the program small, which matters where it is loaded over a network. After the primary keys come
//! the further unique keys, each with its primary key; they are derived from the rows and not stored.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::code;
use crate::store::cell::{Cell, FURTHER, KeyBytes, key_bytes, ordered, row, unique_bytes};
use crate::store::column::Read;
use crate::store::compact::{Rest, blob, number};
use crate::store::record::{AccountRecord, Key, Record, RecordKind};
use crate::store::shared::{self, Counts, Deltas};
use crate::store::{Clash, Commit, CommitError, Scan, StoreError, Unique, Write};

type Bytes = KeyBytes;

/// The first byte of each change in an entry.
const PUT: u8 = 1;
const REMOVE: u8 = 2;

#[derive(Default)]
pub(super) struct Table<const SERVER: bool> {
    pub(super) rows: BTreeMap<Bytes, Bytes>,
}

/// What a commit has changed so far: the previous value of each key, in order.
#[derive(Default)]
struct Undo(Vec<(Bytes, Option<Bytes>)>);

/// Whether a write's condition held.
type Made = Result<bool, StoreError>;

impl<const SERVER: bool> Table<SERVER> {
    /// Applies all of a commit or nothing; returns the changes as the body of an entry.
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
                Write::Count { .. } | Write::Floor { .. } => true,
                Write::Delete(key) => self.delete(key, undo)?,
                Write::Absent(key) => self.get(key)?.is_none(),
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
            self.put(row.key(), row.encoded().into(), undo);
        }
        let counted = Counts::of(commit).settle(|id| match self.get(&Key::Usage(id))? {
            Some(Record::Usage(usage)) => Ok(usage.used),
            Some(_) | None => Ok(Default::default()),
        })?;
        for usage in counted {
            let row = Row::of::<SERVER>(&usage.into())?;
            self.put(row.key(), row.encoded().into(), undo);
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
        self.put(key, row.encoded().into(), undo);
        Ok(true)
    }

    fn replace(&mut self, record: &Record, expected: Option<u32>, undo: &mut Undo) -> Made {
        let row = Row::of::<SERVER>(record)?;
        let key = row.key();
        let Some(old) = self.rows.get(&key) else { return Ok(false) };
        let old = code::cells(row.kind, old)?;
        let at = |old: &Record| expected.is_none() || old.version() == expected;
        if !row.kind.layout().may_follow(&old, &row.cells) || !at(&code::record::<SERVER>(row.kind, old)?) {
            return Ok(false);
        }
        self.put(key, row.encoded().into(), undo);
        Ok(true)
    }

    fn delete(&mut self, key: &Key, undo: &mut Undo) -> Made {
        let Some(bytes) = key_bytes(key) else { return Ok(false) };
        let Some((bytes, old)) = self.rows.remove_entry(&bytes) else { return Ok(false) };
        if let Some(unique) = (Row { kind: key.kind(), cells: code::cells(key.kind(), &old)? }).unique() {
            undo.0.extend(self.rows.remove_entry(&unique).map(|(unique, row)| (unique, Some(row))));
        }
        undo.0.push((bytes, Some(old)));
        Ok(true)
    }

    fn put(&mut self, key: Bytes, row: Bytes, undo: &mut Undo) {
        let was = self.rows.insert(key.clone(), row);
        undo.0.push((key, was));
    }

    /// The rows that have changed, by key.
    fn changes(&self, undo: Undo) -> Vec<u8> {
        let mut keys: Vec<(Bytes, Option<Bytes>)> = undo.0.into_iter().filter(|(key, _)| key[0] < FURTHER).collect();
        // For each key, its value before all changes.
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

    /// Applies the body of an entry to the rows.
    pub(super) fn apply(&mut self, body: &[u8]) -> Result<(), StoreError> {
        let mut rest = Rest(body);
        // The number of a kind and a row; or no number, and the key of a removed row.
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
        let changes = changes.ok_or_else(|| corrupt("its changes are malformed"))?;
        // First remove the old rows: another record may now have one of their unique keys.
        let mut puts = Vec::with_capacity(changes.len());
        for (code, bytes) in changes {
            match code {
                None => {
                    self.forget(&bytes)?.then_some(()).ok_or_else(|| corrupt("it removes a row that does not exist"))?;
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

    /// Inserts a row of a snapshot.
    pub(super) fn load(&mut self, code: u8, bytes: Bytes) -> Result<(), StoreError> {
        let row = Row::read::<SERVER>(code, &bytes)?;
        if self.rows.contains_key(&row.key()) {
            return Err(corrupt("a record occurs twice"));
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

    /// Removes the further unique key of the row with this key, unless another row now has it. Returns whether there is such a row.
    fn forget(&mut self, key: &[u8]) -> Made {
        let Some(old) = self.rows.get(key) else { return Ok(false) };
        let kind = code::kind(key[0])?;
        let old = Row { kind, cells: code::cells(kind, old)? };
        if let Some(unique) = old.unique()
            && self.rows.get(&unique).is_some_and(|it| **it == *key)
        {
            self.rows.remove(&unique);
        }
        Ok(true)
    }

    /// The record with this primary key.
    pub(super) fn get(&self, key: &Key) -> Read<Option<Record>> {
        key_bytes(key).map_or(Ok(None), |bytes| self.read(&bytes))
    }

    /// Whether exactly this record is stored.
    pub(super) fn holds(&self, record: &Record) -> Read<bool> {
        let row = Row::of::<SERVER>(record)?;
        self.rows.get(&row.key()).map_or(Ok(false), |there| Ok(code::cells(row.kind, there)? == row.cells))
    }

    /// The record with this further unique key.
    pub(super) fn find(&self, unique: &Unique) -> Read<Option<Record>> {
        match unique_bytes(unique).and_then(|unique| self.rows.get(&unique)) {
            Some(key) => self.read(key),
            None => Ok(None),
        }
    }

    /// A page of records.
    pub(super) fn scan(&self, scan: &Scan) -> Read<Vec<Record>> {
        scan.page(&self.rows, |row, _| code::cells(scan.kind(), row), |_, cells| code::record::<SERVER>(scan.kind(), cells))
    }

    /// The content of a snapshot: every row, with the number of its kind.
    pub(super) fn kept(&self) -> impl Iterator<Item = (u8, &[u8])> {
        self.rows.iter().map(|(key, row)| (key[0], &**row)).take_while(|(code, _)| *code < FURTHER)
    }

    fn read(&self, key: &[u8]) -> Read<Option<Record>> {
        let Some(row) = self.rows.get(key) else { return Ok(None) };
        let kind = code::kind(key[0])?;
        code::record::<SERVER>(kind, code::cells(kind, row)?).map(Some)
    }
}

/// A record's cells, from which its keys are derived.
struct Row {
    kind: RecordKind,
    cells: Vec<Cell>,
}

impl Row {
    fn of<const SERVER: bool>(record: &Record) -> Read<Self> {
        Ok(Self { kind: record.kind(), cells: row::<SERVER>(record)? })
    }

    /// Decodes a stored row, after checking that it is a valid record.
    fn read<const SERVER: bool>(code: u8, row: &[u8]) -> Read<Self> {
        let kind = code::kind(code)?;
        let cells = code::cells(kind, row)?;
        let record = code::record::<SERVER>(kind, cells.clone())?;
        if record.refusal().is_some() { Err(corrupt("no record can have such a key")) } else { Ok(Self { kind, cells }) }
    }

    fn encoded(&self) -> Vec<u8> {
        code::row(&self.cells, self.kind.layout().later)
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
