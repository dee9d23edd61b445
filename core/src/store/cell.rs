//! Rows as plain cells, and keys as ordered bytes, for the stores without a database.

use super::column::{Bound, Read, Sink};
use super::record::{Key, Record};
use super::tables::Layout;
use super::{StoreError, Unique};

/// The value of a column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Cell {
    /// No value.
    Null,
    /// A number, a flag or a code.
    Int(i64),
    /// A text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
}

/// The bytes of a key, in the same order as its values: the number of the kind, then integers as eight big-endian bytes with the
/// sign bit flipped; texts and bytes unchanged, because no column follows one of variable length.
pub(crate) type KeyBytes = Box<[u8]>;

/// Set in the first byte of a further unique key. No kind has such a high number.
pub(crate) const FURTHER: u8 = 0x80;

impl Sink for Vec<Cell> {
    type Error = StoreError;

    fn null(&mut self) -> Bound<Self> {
        self.push(Cell::Null);
        Ok(())
    }

    fn int(&mut self, value: i64) -> Bound<Self> {
        self.push(Cell::Int(value));
        Ok(())
    }

    fn text(&mut self, value: &str) -> Bound<Self> {
        self.push(Cell::Text(value.to_owned()));
        Ok(())
    }

    fn bytes(&mut self, value: &[u8]) -> Bound<Self> {
        self.push(Cell::Bytes(value.to_owned()));
        Ok(())
    }

    fn failed(error: serde_json::Error) -> StoreError {
        StoreError::corrupt("writing a row", error)
    }
}

/// A record's cells, or why no store accepts it.
pub(crate) fn row<const SERVER: bool>(record: &Record) -> Read<Vec<Cell>> {
    let mut row = Vec::with_capacity(25);
    record.bind::<SERVER, _>(&mut row)?;
    Ok(row)
}

/// The cells of a record up to the last column in a set with one bit per column. Columns that are not in the set, which may be long,
/// are not read, and are NULL.
pub(crate) fn head<const SERVER: bool>(record: &Record, columns: u32) -> Read<Vec<Cell>> {
    let width = (u32::BITS - columns.leading_zeros()) as usize;
    let mut head = Head { cells: Vec::with_capacity(width), columns, width };
    if width > 0 {
        match record.bind::<SERVER, _>(&mut head) {
            Ok(()) | Err(Enough::Reached) => {}
            Err(Enough::Failed(error)) => return Err(error),
        }
    }
    Ok(head.cells)
}

/// Accepts cells until there are enough, and keeps those of some columns.
struct Head {
    cells: Vec<Cell>,
    columns: u32,
    width: usize,
}

/// Why a [`Head`] accepts no more cells.
enum Enough {
    /// All wanted cells are there.
    Reached,
    /// A value cannot be written.
    Failed(StoreError),
}

impl Head {
    fn take(&mut self, cell: impl FnOnce() -> Cell) -> Bound<Self> {
        let wanted = self.columns >> self.cells.len() & 1 == 1;
        self.cells.push(if wanted { cell() } else { Cell::Null });
        if self.cells.len() < self.width { Ok(()) } else { Err(Enough::Reached) }
    }
}

impl Sink for Head {
    type Error = Enough;

    fn null(&mut self) -> Bound<Self> {
        self.take(|| Cell::Null)
    }

    fn int(&mut self, value: i64) -> Bound<Self> {
        self.take(|| Cell::Int(value))
    }

    fn text(&mut self, value: &str) -> Bound<Self> {
        self.take(|| Cell::Text(value.to_owned()))
    }

    fn bytes(&mut self, value: &[u8]) -> Bound<Self> {
        self.take(|| Cell::Bytes(value.to_owned()))
    }

    fn failed(error: serde_json::Error) -> Enough {
        Enough::Failed(Vec::failed(error))
    }
}

/// The bytes of these cells after a first byte. A text that others follow ends with two zero bytes, and one in it is followed by the
/// highest byte: it sorts before every text that it begins.
pub(crate) fn ordered<'c>(first: u8, cells: impl IntoIterator<Item = &'c Cell>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(24);
    bytes.push(first);
    let mut cells = cells.into_iter().peekable();
    while let Some(cell) = cells.next() {
        append(&mut bytes, cell, cells.peek().is_some());
    }
    bytes
}

/// Adds the bytes of a cell of a key; `inside` if others follow it there.
pub(crate) fn append(bytes: &mut Vec<u8>, cell: &Cell, inside: bool) {
    match cell {
        Cell::Null => {}
        Cell::Int(value) => bytes.extend_from_slice(&(value ^ i64::MIN).to_be_bytes()),
        Cell::Text(text) if inside => {
            for byte in text.bytes() {
                bytes.push(byte);
                bytes.extend((byte == 0).then_some(u8::MAX));
            }
            bytes.extend_from_slice(&[0, 0]);
        }
        Cell::Text(text) => bytes.extend_from_slice(text.as_bytes()),
        Cell::Bytes(value) => bytes.extend_from_slice(value),
    }
}

/// The bytes of a primary key; `None` if no record can have it.
pub(crate) fn key_bytes(key: &Key) -> Option<KeyBytes> {
    let mut cells = Vec::with_capacity(2);
    (key.refusal().is_none() && key.bind(&mut cells).is_ok()).then(|| ordered(key.kind().layout().code, &cells).into())
}

/// The bytes of a further unique key; `None` if no record can have it.
pub(crate) fn unique_bytes(unique: &Unique) -> Option<KeyBytes> {
    let mut cells = Vec::with_capacity(2);
    (unique.refusal().is_none() && unique.bind(&mut cells).is_ok()).then(|| ordered(unique.kind().layout().code | FURTHER, &cells).into())
}

impl Layout {
    /// The bytes of a record's further unique key; `None` if it has none.
    pub(crate) fn unique_key<const SERVER: bool>(&self, record: &Record) -> Read<Option<KeyBytes>> {
        Ok(self.unique_of(&head::<SERVER>(record, self.unique)?))
    }

    /// Whether one record may replace another: the columns that never change are equal.
    pub(crate) fn may_replace<const SERVER: bool>(&self, old: &Record, new: &Record) -> Read<bool> {
        let fixed = |record| head::<SERVER>(record, self.fixed);
        Ok(self.may_follow(&fixed(old)?, &fixed(new)?))
    }

    /// The bytes of a row's further unique key; `None` if it has none.
    pub(crate) fn unique_of(&self, row: &[Cell]) -> Option<KeyBytes> {
        let mut cells = columns(self.unique, row).peekable();
        cells.peek()?;
        let bytes = || ordered(self.code | FURTHER, columns(self.unique, row)).into();
        (!columns(self.unique, row).any(|cell| *cell == Cell::Null)).then(bytes)
    }

    /// Like [`may_replace`](Self::may_replace), for rows.
    pub(crate) fn may_follow(&self, old: &[Cell], new: &[Cell]) -> bool {
        columns(self.fixed, old).eq(columns(self.fixed, new))
    }
}

/// The columns of a row that are in a set with one bit per column.
fn columns(set: u32, row: &[Cell]) -> impl Iterator<Item = &Cell> {
    row.iter().enumerate().filter(move |(at, _)| set >> at & 1 == 1).map(|(_, cell)| cell)
}
