//! How values get into SQLite's columns and out of them again. Which values those are, [`crate::store::rows`] says.
//!
//! Writing binds by position without a copy or an allocation of our own; reading trusts nothing that it finds.

use rusqlite::types::{Null, ToSql, ValueRef};
use rusqlite::{Row, Statement};

use crate::ledger::Totals;
use crate::store::StoreError;
use crate::store::record::*;
use crate::store::rows::{self, Bound, Read, Sink, Source};
pub(super) use crate::store::rows::{Table, account, child_key, columns, feed_owner, transfer};

/// Binds one parameter after another.
pub(super) struct Bind<'s, 'c> {
    statement: &'s mut Statement<'c>,
    next: usize,
}

impl<'s, 'c> Bind<'s, 'c> {
    /// From the first parameter on.
    pub(super) fn new(statement: &'s mut Statement<'c>) -> Self {
        Self { statement, next: 1 }
    }

    #[inline]
    fn next(&mut self, value: impl ToSql) -> rusqlite::Result<()> {
        self.statement.raw_bind_parameter(self.next, value)?;
        self.next += 1;
        Ok(())
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

/// Binds a whole record, its key first.
pub(super) fn bind(record: &Record, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
    rows::bind(record, &mut Bind::new(statement))
}

/// Binds a whole record, and behind it the version that it replaces.
pub(super) fn bind_update(record: &Record, expected: u32, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
    let b = &mut Bind::new(statement);
    rows::bind(record, b)?;
    b.put(expected)
}

/// Binds a primary key.
pub(super) fn bind_key(key: &Key, statement: &mut Statement<'_>) -> rusqlite::Result<()> {
    rows::bind_key(key, &mut Bind::new(statement))
}

/// Reads one column after another.
struct Cells<'r, 's> {
    row: &'r Row<'s>,
    next: usize,
}

impl<'r> Cells<'r, '_> {
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

    fn optional_text(&mut self) -> Read<Option<String>> {
        match self.value()? {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => match std::str::from_utf8(text) {
                Ok(text) => Ok(Some(text.to_owned())),
                Err(_) => self.bad("UTF-8"),
            },
            ValueRef::Real(_) | ValueRef::Integer(_) | ValueRef::Blob(_) => self.bad("a text"),
        }
    }

    fn bytes(&mut self) -> Read<&[u8]> {
        match self.value()? {
            ValueRef::Blob(bytes) => Ok(bytes),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Integer(_) | ValueRef::Text(_) => self.bad("bytes"),
        }
    }

    fn column(&self) -> String {
        self.row.as_ref().column_name(self.next.saturating_sub(1)).unwrap_or("?").to_owned()
    }
}

/// Reads a row of `table`, all its columns in order.
pub(super) fn record(table: Table, row: &Row<'_>) -> Read<Record> {
    rows::record(table, &mut Cells { row, next: 0 })
}

/// The totals of an account's row that holds only them.
pub(super) fn only_totals(row: &Row<'_>) -> Read<Totals> {
    rows::totals(&mut Cells { row, next: 0 })
}
