//! The encoding of records in the journal: as rows, one value after another.
//!
//! A row is the columns of a table, in order. A value starts with a type byte: 0 is null, 1 an integer (zigzag, LEB128), 2 a text
//! and 3 bytes (length and content); from 4 on, the byte itself is an integer from 0 to 251.

use crate::store::StoreError;
use crate::store::cell::Cell;
use crate::store::column::{Read, Source};
use crate::store::compact::{Rest, blob, signed, text};
use crate::store::record::{Record, RecordKind};

const NULL: u8 = 0;
const INTEGER: u8 = 1;
const TEXT: u8 = 2;
const BYTES: u8 = 3;
/// The first byte that is itself an integer.
const SMALL: u8 = 4;

/// The kind with this number.
pub(in crate::store) fn kind(code: u8) -> Read<RecordKind> {
    let kind = RecordKind::ALL.iter().copied().find(|kind| kind.layout().code == code);
    kind.ok_or_else(|| StoreError::corrupt("reading a row", "no kind of record has this number"))
}

/// Encodes cells as a row. Of the last columns, `later` are left out where they are NULL.
pub(in crate::store) fn row(cells: &[Cell], later: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let left_out = cells.iter().rev().take(later.into()).take_while(|cell| **cell == Cell::Null).count();
    for cell in &cells[..cells.len() - left_out] {
        match cell {
            Cell::Null => out.push(NULL),
            Cell::Int(value) => match u8::try_from(*value).ok().and_then(|small| small.checked_add(SMALL)) {
                Some(small) => out.push(small),
                None => {
                    out.push(INTEGER);
                    signed(&mut out, *value);
                }
            },
            Cell::Text(value) => {
                out.push(TEXT);
                text(&mut out, value);
            }
            Cell::Bytes(value) => {
                out.push(BYTES);
                blob(&mut out, value);
            }
        }
    }
    out
}

/// Decodes a row of this kind into cells. A row that was written before its kind had further columns has NULL there.
pub(in crate::store) fn cells(kind: RecordKind, row: &[u8]) -> Read<Vec<Cell>> {
    let mut cells = decode(row)?;
    cells.resize(cells.len().max(kind.layout().columns.into()), Cell::Null);
    Ok(cells)
}

/// Decodes a row into the cells that it contains.
pub(in crate::store) fn decode(row: &[u8]) -> Read<Vec<Cell>> {
    let mut rest = Rest(row);
    let mut cells = Vec::with_capacity(25);
    while !rest.0.is_empty() {
        cells.push(cell(&mut rest).ok_or_else(|| StoreError::corrupt("reading a row", "a value is malformed"))?);
    }
    Ok(cells)
}

fn cell(rest: &mut Rest<'_>) -> Option<Cell> {
    Some(match rest.byte()? {
        NULL => Cell::Null,
        INTEGER => Cell::Int(rest.signed()?),
        TEXT => Cell::Text(rest.text()?),
        BYTES => Cell::Bytes(rest.blob()?.to_vec()),
        small => Cell::Int(i64::from(small - SMALL)),
    })
}

/// Decodes the cells of a row of this kind into a record.
pub(in crate::store) fn record<const SERVER: bool>(kind: RecordKind, cells: Vec<Cell>) -> Read<Record> {
    let mut cells = Cells::new(cells);
    let record = Record::read::<SERVER, _>(kind, &mut cells)?;
    if cells.is_read() { Ok(record) } else { cells.bad("the end of its row") }
}

/// Reads a row's cells one after another.
pub(in crate::store) struct Cells {
    rest: std::vec::IntoIter<Cell>,
    read: usize,
    bytes: Vec<u8>,
}

impl Cells {
    /// Starts at the first cell.
    pub(in crate::store) fn new(row: Vec<Cell>) -> Self {
        Self { rest: row.into_iter(), read: 0, bytes: Vec::new() }
    }

    /// Whether all cells have been read.
    pub(in crate::store) fn is_read(&self) -> bool {
        self.rest.len() == 0
    }

    fn next(&mut self) -> Option<Cell> {
        self.read += 1;
        self.rest.next()
    }
}

impl Source for Cells {
    fn integer(&mut self) -> Read<Option<i64>> {
        match self.next() {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Int(value)) => Ok(Some(value)),
            Some(Cell::Text(_) | Cell::Bytes(_)) | None => self.bad("an integer"),
        }
    }

    fn text(&mut self) -> Read<Option<String>> {
        match self.next() {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Text(value)) => Ok(Some(value)),
            Some(Cell::Int(_) | Cell::Bytes(_)) | None => self.bad("a text"),
        }
    }

    fn bytes(&mut self) -> Read<Option<&[u8]>> {
        match self.next() {
            Some(Cell::Null) => Ok(None),
            Some(Cell::Bytes(value)) => {
                self.bytes = value;
                Ok(Some(&self.bytes))
            }
            Some(Cell::Int(_) | Cell::Text(_)) | None => self.bad("bytes"),
        }
    }

    fn column(&self) -> String {
        self.read.to_string()
    }
}
