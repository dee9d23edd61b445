//! Reading: every key, look-up and scan is one statement, and every batch of them one transaction; each therefore sees the complete state
//! after one commit.

use rusqlite::{Connection, Statement};

use super::failed;
use super::rows::{self, Bind};
use super::tables::statements;
use crate::store::record::{Key, Record, RecordKind};
use crate::store::scan::sql::Statements;
use crate::store::sql::Dialect;
use crate::store::{Lookup, Scan, StoreError, Unique};

/// The statements of scans.
static SCANS: Statements = Statements::new(Dialect::Sqlite);

/// The record with this primary key.
pub(super) fn get<const SERVER: bool>(connection: &Connection, key: &Key) -> Result<Option<Record>, StoreError> {
    if key.refusal().is_some() {
        return Ok(None);
    }
    let found = all::<SERVER>(connection, key.kind(), &statements(key.kind()).get, |it| key.bind(&mut Bind::new(it)));
    Ok(found?.pop())
}

/// The record with this other unique key.
pub(super) fn find<const SERVER: bool>(connection: &Connection, unique: &Unique) -> Result<Option<Record>, StoreError> {
    if unique.refusal().is_some() {
        return Ok(None);
    }
    let found = all::<SERVER>(connection, unique.kind(), &statements(unique.kind()).find, |it| unique.bind(&mut Bind::new(it)));
    Ok(found?.pop())
}

/// A page of records.
pub(super) fn scan<const SERVER: bool>(connection: &Connection, scan: &Scan) -> Result<Vec<Record>, StoreError> {
    all::<SERVER>(connection, scan.kind(), SCANS.of(scan), |it| {
        let bind = &mut Bind::new(it);
        scan.params().try_for_each(|cell| bind.cell(&cell))
    })
}

/// Several look-ups in one transaction: to begin and to end one costs more than most look-ups.
pub(super) fn look_up<const SERVER: bool>(connection: &Connection, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
    let each = || lookups.iter().map(|lookup| one::<SERVER>(connection, lookup)).collect();
    if lookups.len() < 2 || !connection.is_autocommit() {
        return each();
    }
    // Ends when it is dropped, also after a panic: a connection that stayed in it would never see a later commit.
    let _together = connection.unchecked_transaction().map_err(|e| failed("beginning to look up", e))?;
    each()
}

fn one<const SERVER: bool>(connection: &Connection, lookup: &Lookup) -> Result<Vec<Record>, StoreError> {
    match lookup {
        Lookup::Get(key) => get::<SERVER>(connection, key).map(|found| found.into_iter().collect()),
        Lookup::Find(unique) => find::<SERVER>(connection, unique).map(|found| found.into_iter().collect()),
        Lookup::Scan(page) => scan::<SERVER>(connection, page),
    }
}

fn all<const SERVER: bool>(
    connection: &Connection,
    kind: RecordKind,
    sql: &str,
    bind: impl FnOnce(&mut Statement<'_>) -> rusqlite::Result<()>,
) -> Result<Vec<Record>, StoreError> {
    let mut statement = connection.prepare_cached(sql).map_err(|e| failed("preparing a look-up", e))?;
    bind(&mut statement).map_err(|e| failed("looking up", e))?;
    let mut found = statement.raw_query();
    let mut records = Vec::new();
    while let Some(row) = found.next().map_err(|e| failed("looking up", e))? {
        records.push(rows::record::<SERVER>(kind, row)?);
    }
    Ok(records)
}
