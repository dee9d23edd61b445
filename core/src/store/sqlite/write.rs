//! Makes a commit: one transaction, statements prepared once, and every clash found before it gives up.

use rusqlite::{CachedStatement, Connection, ErrorCode};

use super::failed;
use super::rows::{Bind, Cells};
use super::tables::{ACTIONS, Action, statements};
use crate::ledger::{AccountId, Totals, Transfer};
use crate::store::column::Sink as _;
use crate::store::record::{AccountRecord, Key, Record, RecordKind, UsageRecord};
use crate::store::shared::{self, Counts, Deltas};
use crate::store::{Clash, Commit, CommitError, StoreError, Write};
use crate::terms::{UsageId, Used};

/// Makes the whole commit durable, or nothing of it.
pub(super) fn commit<const SERVER: bool>(connection: &Connection, commit: &Commit) -> Result<(), CommitError> {
    shared::check(commit)?;
    begin(connection)?;
    let written = Writer::<SERVER>::new(connection).write(commit);
    if let Err(error) = written {
        give_up(connection);
        return Err(error);
    }
    end(connection)
}

/// Begins a transaction.
pub(super) fn begin(connection: &Connection) -> Result<(), StoreError> {
    if !connection.is_autocommit() {
        // Rolls back what an earlier commit could not, for instance because the disk was gone.
        run(connection, "ROLLBACK").map_err(|e| failed("rolling back an earlier commit", e))?;
    }
    run(connection, "BEGIN IMMEDIATE").map_err(|e| failed("beginning a commit", e))
}

/// Makes the whole commit part of the transaction that has begun, or nothing of it.
pub(super) fn step<const SERVER: bool>(connection: &Connection, commit: &Commit) -> Result<(), CommitError> {
    shared::check(commit)?;
    require_begun(connection)?;
    run(connection, "SAVEPOINT step").map_err(|e| failed("beginning a step", e))?;
    let written = Writer::<SERVER>::new(connection).write(commit);
    let undone = if written.is_ok() { Ok(()) } else { run(connection, "ROLLBACK TO step") };
    match undone.and_then(|()| run(connection, "RELEASE step")) {
        Ok(()) => written,
        Err(error) => {
            // What cannot be undone by itself must not be committed with the rest.
            give_up(connection);
            written.and(Err(failed("ending a step", error).into()))
        }
    }
}

/// Makes the transaction durable.
pub(super) fn end(connection: &Connection) -> Result<(), CommitError> {
    require_begun(connection)?;
    run(connection, "COMMIT").map_err(|error| not_committed(connection, error))
}

/// Rolls back the transaction, if one is open.
pub(super) fn give_up(connection: &Connection) {
    if !connection.is_autocommit() {
        // If even this fails, the next transaction tries it again before it begins.
        let _ = run(connection, "ROLLBACK");
    }
}

/// SQLite rolls back a transaction by itself when the disk is full or fails.
fn require_begun(connection: &Connection) -> Result<(), StoreError> {
    if connection.is_autocommit() {
        return Err(StoreError::unavailable("committing", "the transaction was rolled back after an error"));
    }
    Ok(())
}

/// What a failed `COMMIT` means. If SQLite reports that it could not start making it durable, nothing was written. If the disk
/// failed midway, the frames may or may not be there, and a recovery may find them.
fn not_committed(connection: &Connection, error: rusqlite::Error) -> CommitError {
    give_up(connection);
    let harmless = match error.sqlite_error_code() {
        Some(code) => matches!(code, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull | ErrorCode::OutOfMemory),
        None => false,
    };
    let error = failed("committing", error);
    if harmless && connection.is_autocommit() { CommitError::Store(error) } else { CommitError::Indeterminate(error) }
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(drop)
}

const TABLES: usize = RecordKind::ALL.len();

/// The statements of one transaction, each fetched from the connection's cache when first needed: a commit of a thousand rows looks
/// up each text once.
struct Writer<'c, const SERVER: bool> {
    connection: &'c Connection,
    statements: [Option<CachedStatement<'c>>; TABLES * ACTIONS],
}

impl<'c, const SERVER: bool> Writer<'c, SERVER> {
    fn new(connection: &'c Connection) -> Self {
        Self { connection, statements: [const { None }; TABLES * ACTIONS] }
    }

    fn write(mut self, commit: &Commit) -> Result<(), CommitError> {
        let mut clashes = Vec::new();
        for (index, write) in commit.writes.iter().enumerate() {
            if !self.apply(write).map_err(|e| failed("writing a record", e))? {
                clashes.push(Clash { write: index });
            }
        }
        if !clashes.is_empty() {
            return Err(CommitError::Conflict(clashes));
        }
        self.settle(&Deltas::of(commit))?;
        self.count(&Counts::of(commit))
    }

    /// Makes one write; returns `false` if its condition does not hold.
    fn apply(&mut self, write: &Write) -> rusqlite::Result<bool> {
        match write {
            Write::Insert(record) => self.record(record, Action::Insert),
            Write::Replace(record) => self.record(record, Action::Replace),
            Write::Update { record, expected } => self.update(record, *expected),
            Write::Post(transfer) => self.post(transfer),
            // Added up at the end.
            Write::Count { .. } | Write::Floor { .. } => Ok(true),
            Write::Delete(key) => self.delete(key),
            Write::Absent(key) => self.is_absent(key),
        }
    }

    fn statement(&mut self, kind: RecordKind, action: Action) -> rusqlite::Result<&mut CachedStatement<'c>> {
        match &mut self.statements[kind as usize * ACTIONS + action as usize] {
            Some(ready) => Ok(ready),
            empty => Ok(empty.insert(self.connection.prepare_cached(statements(kind).write(action))?)),
        }
    }

    fn record(&mut self, record: &Record, action: Action) -> rusqlite::Result<bool> {
        let statement = self.statement(record.kind(), action)?;
        record.bind::<SERVER, _>(&mut Bind::new(statement))?;
        Ok(statement.raw_execute()? == 1)
    }

    fn update(&mut self, record: &Record, expected: u32) -> rusqlite::Result<bool> {
        let statement = self.statement(record.kind(), Action::Replace)?;
        let bind = &mut Bind::new(statement);
        record.bind::<SERVER, _>(bind)?;
        bind.int(expected.into())?;
        Ok(statement.raw_execute()? == 1)
    }

    fn post(&mut self, transfer: &Transfer) -> rusqlite::Result<bool> {
        let statement = self.statement(RecordKind::Transfer, Action::Insert)?;
        transfer.bind(&mut Bind::new(statement))?;
        Ok(statement.raw_execute()? == 1)
    }

    fn delete(&mut self, key: &Key) -> rusqlite::Result<bool> {
        let statement = self.statement(key.kind(), Action::Delete)?;
        key.bind(&mut Bind::new(statement))?;
        Ok(statement.raw_execute()? == 1)
    }

    fn is_absent(&self, key: &Key) -> rusqlite::Result<bool> {
        let mut statement = self.connection.prepare_cached(&statements(key.kind()).get)?;
        key.bind(&mut Bind::new(&mut statement))?;
        Ok(statement.raw_query().next()?.is_none())
    }

    /// Updates the totals: one row per account, regardless of the number of transfers.
    fn settle(&self, deltas: &Deltas) -> Result<(), CommitError> {
        if deltas.is_empty() {
            return Ok(());
        }
        let cached = |sql: &str| self.connection.prepare_cached(sql).map_err(|e| failed("preparing", e));
        let account = statements(RecordKind::Account);
        let mut read = cached(&account.get)?;
        let settled = deltas.settle(|account| totals(&mut read, account))?;
        let mut put = cached(&account.upsert)?;
        for (id, totals) in settled {
            AccountRecord { id, totals }
                .bind(&mut Bind::new(&mut put))
                .and_then(|()| put.raw_execute())
                .map_err(|e| failed("writing an account", e))?;
        }
        Ok(())
    }

    /// Updates the counters: one row per counter, regardless of the number of payments.
    fn count(&self, counts: &Counts) -> Result<(), CommitError> {
        if counts.is_empty() {
            return Ok(());
        }
        let cached = |sql: &str| self.connection.prepare_cached(sql).map_err(|e| failed("preparing", e));
        let usage = statements(RecordKind::Usage);
        let mut read = cached(&usage.get)?;
        let counted = counts.settle(|id| used(&mut read, id))?;
        let mut put = cached(&usage.upsert)?;
        for record in counted {
            record.bind(&mut Bind::new(&mut put)).and_then(|()| put.raw_execute()).map_err(|e| failed("writing a counter", e))?;
        }
        Ok(())
    }
}

fn used(read: &mut CachedStatement<'_>, id: UsageId) -> Result<Used, StoreError> {
    let mut found = read.query([id.0]).map_err(|e| failed("reading a counter", e))?;
    match found.next().map_err(|e| failed("reading a counter", e))? {
        Some(row) => Ok(UsageRecord::read(&mut Cells::new(row))?.used),
        None => Ok(Used::default()),
    }
}

fn totals(read: &mut CachedStatement<'_>, account: AccountId) -> Result<Totals, StoreError> {
    let mut found = read.query([account.0]).map_err(|e| failed("reading an account", e))?;
    match found.next().map_err(|e| failed("reading an account", e))? {
        Some(row) => Ok(AccountRecord::read(&mut Cells::new(row))?.totals),
        None => Ok(Totals::default()),
    }
}
