//! How values are written to PostgreSQL's columns and read back, in its binary format.

use std::collections::HashSet;

use bytes::{BufMut, BytesMut};
use tokio_postgres::Row;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::store::StoreError;
use crate::store::cell::Cell;
use crate::store::column::{Bound, Kind, Read, Sink, Source};
use crate::store::record::{Record, RecordKind};

type Fault = Box<dyn std::error::Error + Sync + Send>;

/// PostgreSQL cannot store U+0000 in a text. It is written as this character and U+0001, and this character itself as itself and
/// U+0002.
const ESCAPE: char = '\u{1}';

/// A text as stored. Different texts stay different, so that unique values stay unique, and their order is preserved.
pub(super) fn escaped(text: &str) -> Option<String> {
    text.contains(['\0', ESCAPE]).then(|| text.replace(ESCAPE, "\u{1}\u{2}").replace('\0', "\u{1}\u{1}"))
}

fn unescaped(stored: &str) -> Option<String> {
    if !stored.contains(ESCAPE) {
        return Some(stored.to_owned());
    }
    let mut text = String::with_capacity(stored.len());
    let mut rest = stored.chars();
    while let Some(next) = rest.next() {
        text.push(match next {
            ESCAPE => match rest.next()? {
                '\u{1}' => '\0',
                '\u{2}' => ESCAPE,
                _ => return None,
            },
            other => other,
        });
    }
    Some(text)
}

/// Rows of one table, column by column, for a statement's array parameters.
#[derive(Debug)]
pub(super) struct Batch {
    columns: Vec<Column>,
    next: usize,
}

/// The values of one column, each after its length, as in an array.
#[derive(Debug)]
struct Column {
    kind: Kind,
    values: Vec<u8>,
    count: i32,
    nulls: bool,
}

impl Batch {
    /// An empty batch with columns of these kinds.
    pub(super) fn new(kinds: &[Kind]) -> Self {
        let columns = kinds.iter().map(|kind| Column { kind: *kind, values: Vec::new(), count: 0, nulls: false }).collect();
        Self { columns, next: 0 }
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| usize::try_from(column.count).unwrap_or(0))
    }

    /// One array parameter per column.
    pub(super) fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        self.columns.iter().map(|column| column as &(dyn ToSql + Sync)).collect()
    }

    /// The indexes of the rows that are not among `written`, the rows that a statement wrote. Those contain the primary key.
    pub(super) fn missing(&self, written: &[Row]) -> Result<Vec<usize>, StoreError> {
        let key = written.first().map_or(0, Row::len);
        let mut found = HashSet::with_capacity(written.len());
        for row in written {
            let mut bytes = Vec::new();
            for column in 0..key {
                let Raw(cell) = row.try_get(column).map_err(|e| StoreError::corrupt("reading what was written", e))?;
                put(&mut bytes, cell);
            }
            found.insert(bytes);
        }
        let mut cells: Vec<&[u8]> = self.columns.iter().take(key).map(|column| column.values.as_slice()).collect();
        let mut take_key = || cells.iter_mut().flat_map(take).copied().collect::<Vec<u8>>();
        // Nothing was written: every row is missing, whatever its key.
        Ok((0..self.rows()).filter(|_| key == 0 || !found.contains(&take_key())).collect())
    }

    fn column(&mut self) -> Result<&mut Column, StoreError> {
        let at = self.next;
        self.next = (at + 1) % self.columns.len().max(1);
        let column = self.columns.get_mut(at).ok_or_else(|| unfit("one value too many"))?;
        column.count = column.count.checked_add(1).ok_or_else(|| unfit("too many rows"))?;
        Ok(column)
    }
}

fn unfit(cause: &'static str) -> StoreError {
    StoreError::new("writing a row", cause, false)
}

/// A value after its length.
fn put(out: &mut Vec<u8>, value: &[u8]) {
    // PostgreSQL accepts no message, let alone a value, over 1 GiB; it refuses a length that is cut off here.
    out.put_i32(i32::try_from(value.len()).unwrap_or(i32::MAX));
    out.extend_from_slice(value);
}

/// The next value with its length; the primary key has no NULL.
fn take<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let length = rest.first_chunk().map_or(0, |length| usize::try_from(i32::from_be_bytes(*length)).unwrap_or(0));
    let (value, behind) = rest.split_at(rest.len().min(4 + length));
    *rest = behind;
    value
}

/// A value in its binary format.
struct Raw<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Raw<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Fault> {
        Ok(Self(raw))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

impl Sink for Batch {
    type Error = StoreError;

    fn null(&mut self) -> Bound<Self> {
        let column = self.column()?;
        column.nulls = true;
        column.values.put_i32(-1);
        Ok(())
    }

    fn int(&mut self, value: i64) -> Bound<Self> {
        let column = self.column()?;
        let out_of_range = |_| unfit("a number that its column cannot hold");
        match column.kind {
            Kind::Int8 => put(&mut column.values, &value.to_be_bytes()),
            Kind::Int4 => put(&mut column.values, &i32::try_from(value).map_err(out_of_range)?.to_be_bytes()),
            Kind::Int2 => put(&mut column.values, &i16::try_from(value).map_err(out_of_range)?.to_be_bytes()),
            Kind::Flag => put(&mut column.values, &[u8::from(value != 0)]),
            Kind::Text | Kind::Bytes => return Err(unfit("a number in a column for something else")),
        }
        Ok(())
    }

    fn text(&mut self, value: &str) -> Bound<Self> {
        let column = self.column()?;
        match escaped(value) {
            Some(escaped) => put(&mut column.values, escaped.as_bytes()),
            None => put(&mut column.values, value.as_bytes()),
        }
        Ok(())
    }

    fn bytes(&mut self, value: &[u8]) -> Bound<Self> {
        put(&mut self.column()?.values, value);
        Ok(())
    }

    fn failed(error: serde_json::Error) -> StoreError {
        StoreError::new("writing a row", error, false)
    }
}

impl ToSql for Column {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Fault> {
        out.reserve(20 + self.values.len());
        out.put_i32(1); // dimensions
        out.put_i32(i32::from(self.nulls));
        out.put_u32(self.kind.single().oid());
        out.put_i32(self.count);
        out.put_i32(1); // lower bound
        out.extend_from_slice(&self.values);
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// A single parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Param {
    One(Cell),
    /// An array of values of one kind, none of them NULL.
    Any(Vec<Cell>),
}

impl Param {
    /// The type of the parameter. PostgreSQL compares it by value with a column of another width.
    pub(super) fn kind(&self) -> Type {
        match self {
            Self::One(cell) => kind_of(Some(cell)).single(),
            Self::Any(cells) => kind_of(cells.first()).array(),
        }
    }
}

fn kind_of(cell: Option<&Cell>) -> Kind {
    match cell {
        Some(Cell::Text(_)) => Kind::Text,
        Some(Cell::Bytes(_)) => Kind::Bytes,
        Some(Cell::Int(_) | Cell::Null) | None => Kind::Int8,
    }
}

fn put_cell(cell: &Cell, out: &mut BytesMut) -> IsNull {
    match cell {
        Cell::Int(value) => out.put_i64(*value),
        Cell::Text(text) => match escaped(text) {
            Some(escaped) => out.extend_from_slice(escaped.as_bytes()),
            None => out.extend_from_slice(text.as_bytes()),
        },
        Cell::Bytes(bytes) => out.extend_from_slice(bytes),
        Cell::Null => return IsNull::Yes,
    }
    IsNull::No
}

impl ToSql for Param {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Fault> {
        let cells = match self {
            Self::One(cell) => return Ok(put_cell(cell, out)),
            Self::Any(cells) => cells,
        };
        // One dimension, no NULLs, the type of the elements, their number, indexes from 1.
        out.put_i32(1);
        out.put_i32(0);
        out.put_u32(kind_of(cells.first()).single().oid());
        out.put_i32(i32::try_from(cells.len())?);
        out.put_i32(1);
        let mut bytes = BytesMut::new();
        for cell in cells {
            bytes.clear();
            put_cell(cell, &mut bytes);
            out.put_i32(i32::try_from(bytes.len())?);
            out.extend_from_slice(&bytes);
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

/// Reads the columns of a row one after another.
pub(super) struct Cells<'r> {
    row: &'r Row,
    next: usize,
}

impl<'r> Cells<'r> {
    /// Starts at the first column.
    pub(super) fn new(row: &'r Row) -> Self {
        Self { row, next: 0 }
    }

    fn next<T: FromSql<'r>>(&mut self) -> Read<Option<T>> {
        let value = self.row.try_get(self.next);
        self.next += 1;
        value.or_else(|e| self.bad(&format!("a value of its type: {e}")))
    }
}

impl Source for Cells<'_> {
    fn integer(&mut self) -> Read<Option<i64>> {
        let kind = self.row.columns().get(self.next).map(|column| column.type_().clone());
        match kind {
            Some(Type::INT8) => self.next(),
            Some(Type::INT4) => Ok(self.next::<i32>()?.map(i64::from)),
            Some(Type::INT2) => Ok(self.next::<i16>()?.map(i64::from)),
            Some(Type::BOOL) => Ok(self.next::<bool>()?.map(i64::from)),
            Some(_) | None => {
                self.next += 1;
                self.bad("a number")
            }
        }
    }

    fn text(&mut self) -> Read<Option<String>> {
        match self.next::<&str>()? {
            None => Ok(None),
            Some(stored) => unescaped(stored).map_or_else(|| self.bad("a valid text"), |text| Ok(Some(text))),
        }
    }

    fn bytes(&mut self) -> Read<Option<&[u8]>> {
        self.next()
    }

    fn column(&self) -> String {
        self.row.columns().get(self.next.saturating_sub(1)).map_or("?", |column| column.name()).to_owned()
    }
}

/// Reads rows of this kind's table with all their columns, in order.
pub(super) fn records(kind: RecordKind, rows: &[Row]) -> Read<Vec<Record>> {
    rows.iter().map(|row| Record::read::<true, _>(kind, &mut Cells::new(row))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn odd_text() -> impl Strategy<Value = String> {
        "[\\x{0}-\\x{3}a]{0,9}"
    }

    proptest! {
        #[test]
        fn texts_are_read_as_they_were_written_and_in_their_order(text in any::<String>(), odd in odd_text(), other in odd_text()) {
            let stored = |text: &String| escaped(text).unwrap_or_else(|| text.clone());
            for text in [&text, &odd] {
                prop_assert!(!stored(text).contains('\0'));
                prop_assert_eq!(unescaped(&stored(text)), Some(text.clone()));
            }
            prop_assert_eq!(odd.cmp(&other), stored(&odd).cmp(&stored(&other)));
        }
    }

    #[test]
    fn an_escape_that_nobody_wrote_is_found_out() {
        for stored in ["\u{1}", "a\u{1}", "\u{1}1", "\u{1}\u{1}\u{1}"] {
            assert_eq!(unescaped(stored), None);
        }
    }
}
