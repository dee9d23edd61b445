//! Making a commit: one transaction, statements prepared once, every clash found before it is given up.

use rusqlite::{CachedStatement, Connection, ErrorCode};

use super::failed;
use super::rows::{self, Bind, Table};
use crate::ledger::{AccountId, Totals, Transfer};
use crate::store::record::{Key, Record};
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

/// What a commit does to a table.
#[derive(Clone, Copy)]
enum Action {
    Insert,
    Replace,
    Delete,
}

const ACTIONS: usize = 3;
const TABLES: usize = Table::Delivery as usize + 1;

/// One transaction's statements, each fetched from the connection's cache when it is first needed: a commit of a
/// thousand rows looks up each text once.
struct Writer<'c> {
    connection: &'c Connection,
    statements: [Option<CachedStatement<'c>>; TABLES * ACTIONS],
    deltas: Deltas,
}

impl<'c> Writer<'c> {
    fn new(connection: &'c Connection) -> Self {
        Self { connection, statements: [const { None }; TABLES * ACTIONS], deltas: Deltas::default() }
    }

    fn write(mut self, commit: &Commit) -> Result<(), CommitError> {
        let mut clashes = Vec::new();
        for (index, write) in commit.writes.iter().enumerate() {
            if !self.apply(write).map_err(|e| failed("writing a record", e))? {
                clashes.push(Clash { write: index });
            }
        }
        if clashes.is_empty() { self.settle() } else { Err(CommitError::Conflict(clashes)) }
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

    fn statement(&mut self, table: Table, action: Action) -> rusqlite::Result<&mut CachedStatement<'c>> {
        match &mut self.statements[table as usize * ACTIONS + action as usize] {
            Some(ready) => Ok(ready),
            empty => Ok(empty.insert(self.connection.prepare_cached(sql(table, action))?)),
        }
    }

    fn record(&mut self, record: &Record, action: Action) -> rusqlite::Result<bool> {
        let statement = self.statement(record.kind(), action)?;
        rows::bind(record, statement)?;
        Ok(statement.raw_execute()? == 1)
    }

    fn update(&mut self, record: &Record, expected: u32) -> rusqlite::Result<bool> {
        let statement = self.statement(record.kind(), Action::Replace)?;
        rows::bind_update(record, expected, statement)?;
        Ok(statement.raw_execute()? == 1)
    }

    fn post(&mut self, transfer: &Transfer) -> rusqlite::Result<bool> {
        let statement = self.statement(Table::Transfer, Action::Insert)?;
        rows::transfer(transfer, &mut Bind::new(statement))?;
        let added = statement.raw_execute()? == 1;
        if added {
            self.deltas.add(transfer);
        }
        Ok(added)
    }

    fn delete(&mut self, key: &Key) -> rusqlite::Result<bool> {
        let statement = self.statement(key.kind(), Action::Delete)?;
        rows::bind_key(key, statement)?;
        Ok(statement.raw_execute()? == 1)
    }

    /// Brings the totals up to date: one row an account, however many transfers there were.
    fn settle(self) -> Result<(), CommitError> {
        if self.deltas.is_empty() {
            return Ok(());
        }
        let cached = |sql| self.connection.prepare_cached(sql).map_err(|e| failed("preparing", e));
        let mut read = cached("SELECT debits_pending, debits_posted, credits_pending, credits_posted FROM account WHERE id = ?1")?;
        let settled = self.deltas.settle(|account| totals(&mut read, account))?;
        let mut put = cached(UPSERT_ACCOUNT)?;
        for (account, totals) in &settled {
            rows::account(*account, totals, &mut Bind::new(&mut put))
                .and_then(|()| put.raw_execute())
                .map_err(|e| failed("writing an account", e))?;
        }
        Ok(())
    }
}

fn totals(read: &mut CachedStatement<'_>, account: AccountId) -> Result<Totals, StoreError> {
    let mut found = read.query([account.0]).map_err(|e| failed("reading an account", e))?;
    match found.next().map_err(|e| failed("reading an account", e))? {
        Some(row) => rows::only_totals(row),
        None => Ok(Totals::default()),
    }
}

/// Parameters are the columns in order; what has a version has the expected one behind them when it is replaced.
const fn sql(table: Table, action: Action) -> &'static str {
    match action {
        Action::Insert => insert(table),
        Action::Replace => replace(table),
        Action::Delete => delete(table),
    }
}

macro_rules! insert {
    ($table:ident, $values:literal) => {
        concat!("INSERT INTO ", stringify!($table), " (", rows::columns!($table), ") VALUES (", $values, ") ON CONFLICT DO NOTHING")
    };
}

const fn insert(table: Table) -> &'static str {
    match table {
        Table::Client => insert!(client, "?,?,?,?,?,?"),
        Table::Key => insert!(key, "?,?,?,?,?,?,?,?,?,?,?"),
        Table::Token => insert!(token, "?,?,?,?,?,?,?"),
        Table::Provider => insert!(provider, "?,?"),
        Table::Account => insert!(account, "?,?,?,?,?"),
        Table::Settlement => insert!(settlement, "?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?"),
        Table::Event => insert!(event, "?,?,?,?,?,?,?,?,?"),
        Table::Attempt => insert!(attempt, "?,?,?,?,?,?"),
        Table::Reversal => insert!(reversal, "?,?,?,?,?,?,?,?,?,?,?,?,?,?"),
        Table::Transfer => insert!(transfer, "?,?,?,?,?,?,?,?"),
        Table::Task => insert!(task, "?,?,?,?,?,?,?"),
        Table::Idempotency => insert!(idempotency, "?,?,?,?,?,?"),
        Table::SimPayment => insert!(sim_payment, "?,?,?,?"),
        Table::Nonce => insert!(nonce, "?,?"),
        Table::Secret => insert!(secret, "?,?,?,?,?,?"),
        Table::Audit => insert!(audit, "?,?,?,?,?,?,?,?"),
        Table::Meta => insert!(meta, "?,?"),
        Table::Unlogged => insert!(unlogged, "?,?"),
        Table::Feed => insert!(feed, "?,?,?,?,?"),
        Table::Tile => insert!(tile, "?,?"),
        Table::LogHead => insert!(log_head, "?,?,?"),
        Table::Endpoint => insert!(endpoint, "?,?,?,?,?,?,?,?,?,?,?"),
        Table::EndpointSecret => insert!(endpoint_secret, "?,?,?,?,?"),
        Table::Queue => insert!(queue, "?,?,?,?,?,?,?"),
        Table::Delivery => insert!(delivery, "?,?,?,?,?,?,?,?,?,?,?,?"),
    }
}

/// Unique keys are conditions and not assigned: an index whose columns are named by an update is rewritten even where
/// nothing changed.
const fn replace(table: Table) -> &'static str {
    match table {
        Table::Client => "UPDATE client SET name = ?3, suspended = ?4, webhook_secret = ?5, created_at = ?6 WHERE no = ?1 AND id = ?2",
        Table::Key => {
            "UPDATE key SET client = ?3, mode = ?4, algorithm = ?5, public = ?6, scopes = ?7, status = ?8, label = ?9, created_at = ?10, \
             revoked_at = ?11 WHERE no = ?1 AND id = ?2"
        }
        Table::Token => "UPDATE token SET client = ?2, key = ?3, mode = ?4, scopes = ?5, created_at = ?6, expires_at = ?7 WHERE hash = ?1",
        Table::Provider => "UPDATE provider SET no = ?1 WHERE no = ?1 AND id = ?2",
        Table::Account => "UPDATE account SET id = ?1 WHERE FALSE",
        Table::Settlement => {
            "UPDATE settlement SET mode = ?4, status = ?5, version = ?6, needs_review = ?7, amount = ?8, currency = ?9, \
             recipient = ?10, provider = ?11, fee = ?12, reversed = ?13, reversing = ?14, attempts = ?15, reversals = ?16, \
             transfers = ?17, hold = ?18, salt = ?19, head = ?20, created_at = ?21, updated_at = ?22, completed_at = ?23, \
             expires_at = ?24, more = ?25 WHERE no = ?1 AND version = ?26 AND client = ?2 AND reference = ?3"
        }
        Table::Event => {
            "UPDATE event SET kind = ?2, at = ?3, from_state = ?4, to_state = ?5, actor = ?6, child = ?7, data = ?8, hash = ?9 \
             WHERE k = ?1"
        }
        Table::Attempt => "UPDATE attempt SET provider = ?2, status = ?3, sends = ?4, started_at = ?5, answered_at = ?6 WHERE k = ?1",
        Table::Reversal => {
            "UPDATE reversal SET status = ?4, amount = ?5, reason = ?6, description = ?7, hold = ?8, needs_review = ?9, \
             rail_reference = ?10, failure = ?11, created_at = ?12, updated_at = ?13, completed_at = ?14 \
             WHERE k = ?1 AND client = ?2 AND reference IS ?3"
        }
        Table::Transfer => "UPDATE transfer SET k = ?1 WHERE FALSE",
        Table::Task => "UPDATE task SET kind = ?2, settlement = ?3, child = ?4, tries = ?5, since = ?6, owner = ?7 WHERE key = ?1",
        Table::Idempotency => {
            "UPDATE idempotency SET fingerprint = ?3, settlement = ?4, reversal = ?5, created_at = ?6 WHERE client = ?1 AND key = ?2"
        }
        Table::SimPayment => "UPDATE sim_payment SET provider = ?2, received = ?3, received_at = ?4 WHERE k = ?1",
        Table::Nonce => "UPDATE nonce SET expires_at = ?2 WHERE hash = ?1",
        Table::Secret => "UPDATE secret SET sealed = ?3, public = ?4, created_at = ?5, retired_at = ?6 WHERE kind = ?1 AND no = ?2",
        Table::Audit => "UPDATE audit SET at = ?2, client = ?3, key = ?4, action = ?5, target = ?6, name = ?7, refused = ?8 WHERE no = ?1",
        Table::Meta => "UPDATE meta SET value = ?2 WHERE name = ?1",
        Table::Unlogged => "UPDATE unlogged SET changes = ?2 WHERE no = ?1",
        Table::Feed => "UPDATE feed SET at = ?4, leaf = ?5 WHERE owner = ?1 AND position = ?2 AND k = ?3",
        Table::Tile => "UPDATE tile SET entries = ?2 WHERE k = ?1",
        Table::LogHead => "UPDATE log_head SET owner = ?2, until = ?3 WHERE size = ?1",
        Table::Endpoint => {
            "UPDATE endpoint SET version = ?3, status = ?6, url = ?7, topics = ?8, description = ?9, created_at = ?10, updated_at = ?11 \
             WHERE no = ?1 AND version = ?12 AND id = ?2 AND client = ?4 AND mode = ?5"
        }
        Table::EndpointSecret => "UPDATE endpoint_secret SET sealed = ?3, created_at = ?4, until = ?5 WHERE endpoint = ?1 AND n = ?2",
        Table::Queue => {
            "UPDATE queue SET version = ?2, troubled = ?3, due = ?4, owner = ?5, added = ?6, failing_since = ?7 \
             WHERE endpoint = ?1 AND version = ?8"
        }
        Table::Delivery => {
            "UPDATE delivery SET message = ?3, topic = ?4, cause = ?5, status = ?6, attempts = ?7, due = ?8, settlement = ?9, n = ?10, \
             body = ?11, last = ?12 WHERE no = ?1 AND endpoint = ?2"
        }
    }
}

const fn delete(table: Table) -> &'static str {
    match table {
        Table::Client => "DELETE FROM client WHERE no = ?1",
        Table::Key => "DELETE FROM key WHERE no = ?1",
        Table::Token => "DELETE FROM token WHERE hash = ?1",
        Table::Provider => "DELETE FROM provider WHERE no = ?1",
        Table::Account => "DELETE FROM account WHERE FALSE",
        Table::Settlement => "DELETE FROM settlement WHERE no = ?1",
        Table::Event => "DELETE FROM event WHERE k = ?1",
        Table::Attempt => "DELETE FROM attempt WHERE k = ?1",
        Table::Reversal => "DELETE FROM reversal WHERE k = ?1",
        Table::Transfer => "DELETE FROM transfer WHERE FALSE",
        Table::Task => "DELETE FROM task WHERE key = ?1",
        Table::Idempotency => "DELETE FROM idempotency WHERE client = ?1 AND key = ?2",
        Table::SimPayment => "DELETE FROM sim_payment WHERE k = ?1",
        Table::Nonce => "DELETE FROM nonce WHERE hash = ?1",
        Table::Secret => "DELETE FROM secret WHERE kind = ?1 AND no = ?2",
        Table::Audit => "DELETE FROM audit WHERE no = ?1",
        Table::Meta => "DELETE FROM meta WHERE name = ?1",
        Table::Unlogged => "DELETE FROM unlogged WHERE no = ?1",
        Table::Feed => "DELETE FROM feed WHERE owner = ?1 AND position = ?2",
        Table::Tile => "DELETE FROM tile WHERE k = ?1",
        Table::LogHead => "DELETE FROM log_head WHERE size = ?1",
        Table::Endpoint => "DELETE FROM endpoint WHERE no = ?1",
        Table::EndpointSecret => "DELETE FROM endpoint_secret WHERE endpoint = ?1 AND n = ?2",
        Table::Queue => "DELETE FROM queue WHERE endpoint = ?1",
        Table::Delivery => "DELETE FROM delivery WHERE no = ?1",
    }
}

const UPSERT_ACCOUNT: &str = concat!(
    "INSERT INTO account (",
    rows::columns!(account),
    ") VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET \
     debits_pending = ?2, debits_posted = ?3, credits_pending = ?4, credits_posted = ?5"
);
