//! How values are written to SQLite's columns and read back. [`crate::store::tables`] defines the values.
//!
//! Writing binds by position, without copies or allocations of its own; reading trusts nothing.

use rusqlite::types::{Null, ToSql, ValueRef};
use rusqlite::{Row, Statement};

use crate::store::StoreError;
use crate::store::cell::Cell;
use crate::store::column::{Bound, Read, Sink, Source};
use crate::store::record::{Record, RecordKind};

/// Binds one parameter after another.
pub(in crate::store) struct Bind<'s, 'c> {
    statement: &'s mut Statement<'c>,
    next: usize,
}

impl<'s, 'c> Bind<'s, 'c> {
    /// Starts at the first parameter.
    pub(in crate::store) fn new(statement: &'s mut Statement<'c>) -> Self {
        Self { statement, next: 1 }
    }

    #[inline]
    fn next(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.statement.raw_bind_parameter(self.next, value)?;
        self.next += 1;
        Ok(())
    }

    /// Binds a cell.
    pub(in crate::store) fn cell(&mut self, cell: &Cell) -> rusqlite::Result<()> {
        match cell {
            Cell::Null => self.null(),
            Cell::Int(value) => self.int(*value),
            Cell::Text(value) => self.text(value),
            Cell::Bytes(value) => self.bytes(value),
        }
    }
}

impl Sink for Bind<'_, '_> {
    type Error = rusqlite::Error;

    #[inline]
    fn null(&mut self) -> Bound<Self> {
        self.next(Null)
    }

    #[inline]
    fn int(&mut self, value: i64) -> Bound<Self> {
        self.next(value)
    }

    #[inline]
    fn text(&mut self, value: &str) -> Bound<Self> {
        self.next(value)
    }

    #[inline]
    fn bytes(&mut self, value: &[u8]) -> Bound<Self> {
        self.next(value)
    }

    fn failed(error: serde_json::Error) -> Self::Error {
        rusqlite::Error::ToSqlConversionFailure(error.into())
    }
}

/// Reads one column after another.
pub(in crate::store) struct Cells<'r, 's> {
    row: &'r Row<'s>,
    next: usize,
}

impl<'r, 's> Cells<'r, 's> {
    /// Starts at the first column.
    pub(in crate::store) fn new(row: &'r Row<'s>) -> Self {
        Self { row, next: 0 }
    }

    fn value(&mut self) -> Read<ValueRef<'r>> {
        let value = self.row.get_ref(self.next).map_err(|e| StoreError::corrupt("reading a row", e))?;
        self.next += 1;
        Ok(value)
    }
}

impl Source for Cells<'_, '_> {
    fn integer(&mut self) -> Read<Option<i64>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(n) => Ok(Some(n)),
            ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => self.bad("a number"),
        }
    }

    fn text(&mut self) -> Read<Option<String>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Ok(Some(text.to_owned())),
                Err(_) => self.bad("UTF-8"),
            },
            ValueRef::Real(_) | ValueRef::Integer(_) | ValueRef::Blob(_) => self.bad("a text"),
        }
    }

    fn bytes(&mut self) -> Read<Option<&[u8]>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Blob(bytes) => Ok(Some(bytes)),
            ValueRef::Real(_) | ValueRef::Integer(_) | ValueRef::Text(_) => self.bad("bytes"),
        }
    }

    fn column(&self) -> String {
        self.row.as_ref().column_name(self.next.saturating_sub(1)).unwrap_or("?").to_owned()
    }
}

/// Reads a row of this kind's table with all its columns, in order.
pub(in crate::store) fn record<const SERVER: bool>(kind: RecordKind, row: &Row<'_>) -> Read<Record> {
    Record::read::<SERVER, _>(kind, &mut Cells::new(row))
}
