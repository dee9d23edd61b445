//! Making a commit: one transaction, statements prepared once, every clash found before it is given up.

use rusqlite::{CachedStatement, Connection, ErrorCode};

use super::failed;
use super::rows::{Bind, Cells};
use super::tables::{ACTIONS, Action, statements};
use crate::ledger::{AccountId, Totals, Transfer};
use crate::store::column::Sink as _;
use crate::store::record::{AccountRecord, Key, Record, RecordKind};
use crate::store::shared::{self, Deltas};
use crate::store::{Clash, Commit, CommitError, StoreError, Write};

/// Makes the commit durable, or leaves nothing of it.
pub(super) fn commit(connection: &Connection, commit: &Commit) -> Result<(), CommitError> {
    shared::check(commit)?;
    if !connection.is_autocommit() {
        // What an earlier commit could not roll back, for instance because the disk was gone, is rolled back now.
        run(connection, "ROLLBACK").map_err(|e| failed("rolling back an earlier commit", e))?;
    }
    run(connection, "BEGIN IMMEDIATE").map_err(|e| failed("beginning a commit", e))?;
    let written = Writer::new(connection).write(commit);
    if let Err(error) = written {
        // If even this fails, the next commit tries again before it begins.
        let _ = run(connection, "ROLLBACK");
        return Err(error);
    }
    run(connection, "COMMIT").map_err(|error| not_committed(connection, error))
}

/// What a failed `COMMIT` means. Where SQLite says that it could not begin to make it durable, nothing was written.
/// Where the disk failed in the middle, the frames may be there or not, and a recovery may find them.
fn not_committed(connection: &Connection, error: rusqlite::Error) -> CommitError {
    if !connection.is_autocommit() {
        let _ = run(connection, "ROLLBACK");
    }
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

/// One transaction's statements, each fetched from the connection's cache when it is first needed: a commit of a
/// thousand rows looks up each text once.
struct Writer<'c> {
    connection: &'c Connection,
    statements: [Option<CachedStatement<'c>>; TABLES * ACTIONS],
}

impl<'c> Writer<'c> {
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
        if clashes.is_empty() { self.settle(&Deltas::of(commit)) } else { Err(CommitError::Conflict(clashes)) }
    }

    /// Makes one write; `false` if what it needs does not hold.
    fn apply(&mut self, write: &Write) -> rusqlite::Result<bool> {
        match write {
            Write::Insert(record) => self.record(record, Action::Insert),
            Write::Replace(record) => self.record(record, Action::Replace),
            Write::Update { record, expected } => self.update(record, *expected),
            Write::Post(transfer) => self.post(transfer),
            Write::Delete(key) => self.delete(key),
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
        record.bind::<true, _>(&mut Bind::new(statement))?;
        Ok(statement.raw_execute()? == 1)
    }

    fn update(&mut self, record: &Record, expected: u32) -> rusqlite::Result<bool> {
        let statement = self.statement(record.kind(), Action::Replace)?;
        let bind = &mut Bind::new(statement);
        record.bind::<true, _>(bind)?;
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

    /// Brings the totals up to date: one row an account, however many transfers there were.
    fn settle(self, deltas: &Deltas) -> Result<(), CommitError> {
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
}

fn totals(read: &mut CachedStatement<'_>, account: AccountId) -> Result<Totals, StoreError> {
    let mut found = read.query([account.0]).map_err(|e| failed("reading an account", e))?;
    match found.next().map_err(|e| failed("reading an account", e))? {
        Some(row) => Ok(AccountRecord::read(&mut Cells::new(row))?.totals),
        None => Ok(Totals::default()),
    }
}
