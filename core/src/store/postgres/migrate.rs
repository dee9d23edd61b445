//! Migrates a database to this program's schema, and refuses databases of other programs.
//!
//! Migrations are immutable files, numbered from 1. A database keeps the hash of each applied one: a file that was changed after
//! its release is detected before it does harm. Nodes that start at the same time take turns.
//!
//! Each migration names the oldest schema version whose programs still work with it. A node of the previous release may therefore
//! restart while its successors are rolled out. A migration that removes something comes at least one release after its last use.

use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, IsolationLevel, Transaction};

use super::error::failed;
use super::pool::jittered;
use crate::store::{SchemaVersion, StoreError};

/// The advisory lock held while a program inspects the schema: `RGAT`.
const LOCK: i64 = i32::from_be_bytes(*b"RGAT") as i64;

/// One migration.
#[derive(Clone, Copy)]
pub(super) struct Migration {
    name: &'static str,
    sql: &'static str,
    /// The schema version of the oldest programs that still work with this one.
    oldest: i32,
}

/// All migrations. New ones are appended; a released one never changes.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_initial", sql: include_str!("../migrations/postgres/0001_initial.sql"), oldest: 1 },
    Migration { name: "0002_versions", sql: include_str!("../migrations/postgres/0002_versions.sql"), oldest: 1 },
    Migration { name: "0003_lists", sql: include_str!("../migrations/postgres/0003_lists.sql"), oldest: 1 },
    Migration { name: "0004_enrolment", sql: include_str!("../migrations/postgres/0004_enrolment.sql"), oldest: 1 },
    Migration { name: "0005_trees", sql: include_str!("../migrations/postgres/0005_trees.sql"), oldest: 5 },
    Migration { name: "0006_operation", sql: include_str!("../migrations/postgres/0006_operation.sql"), oldest: 6 },
    // An older program flags settlements without adding them to the queue: the next maintenance does.
    Migration { name: "0007_review", sql: include_str!("../migrations/postgres/0007_review.sql"), oldest: 6 },
    Migration { name: "0008_terms", sql: include_str!("../migrations/postgres/0008_terms.sql"), oldest: 8 },
    Migration { name: "0009_simulator", sql: include_str!("../migrations/postgres/0009_simulator.sql"), oldest: 8 },
    Migration { name: "0010_operators", sql: include_str!("../migrations/postgres/0010_operators.sql"), oldest: 8 },
    // An older program posts transfers that no statement would ever show.
    Migration { name: "0011_statement", sql: include_str!("../migrations/postgres/0011_statement.sql"), oldest: 11 },
    Migration { name: "0012_answers", sql: include_str!("../migrations/postgres/0012_answers.sql"), oldest: 11 },
    // An older program knows neither the task that looks at a clock nor the time of a sandbox.
    Migration { name: "0013_clock", sql: include_str!("../migrations/postgres/0013_clock.sql"), oldest: 13 },
    // An older program cannot read the events of movements, nor number what waits together with them.
    Migration { name: "0014_movement_events", sql: include_str!("../migrations/postgres/0014_movement_events.sql"), oldest: 14 },
    // An older program can read neither a change of credit nor its event.
    Migration { name: "0015_credit_lines", sql: include_str!("../migrations/postgres/0015_credit_lines.sql"), oldest: 15 },
    // An older program has no record of itself.
    Migration { name: "0016_nodes", sql: include_str!("../migrations/postgres/0016_nodes.sql"), oldest: 15 },
    // An older program cannot read why something waits for a person that a statement flagged.
    Migration { name: "0017_reconciliation", sql: include_str!("../migrations/postgres/0017_reconciliation.sql"), oldest: 17 },
    // An older program can read neither terms that say what sessions may sign, nor the act that changes it.
    Migration { name: "0018_sessions", sql: include_str!("../migrations/postgres/0018_sessions.sql"), oldest: 18 },
    // An older program would send a payment that waits for its user.
    Migration { name: "0019_mobile", sql: include_str!("../migrations/postgres/0019_mobile.sql"), oldest: 19 },
    Migration { name: "0020_notifications", sql: include_str!("../migrations/postgres/0020_notifications.sql"), oldest: 20 },
    Migration { name: "0021_bundles", sql: include_str!("../migrations/postgres/0021_bundles.sql"), oldest: 21 },
    // An older program would make payments for a client that is moving to another gateway, or take its references a second time.
    Migration { name: "0022_cells", sql: include_str!("../migrations/postgres/0022_cells.sql"), oldest: 22 },
    // An older program keeps what devices measured for ever, and reports nothing.
    Migration { name: "0023_quality", sql: include_str!("../migrations/postgres/0023_quality.sql"), oldest: 22 },
];

impl Migration {
    fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.sql).to_vec()
    }
}

/// How long a migration waits for a table that others use. Every later statement on that table waits behind it.
const LOCK_TIMEOUT_MS: u32 = 1_000;
/// The pause before the next try: servers catch up in between.
const PAUSE: Duration = Duration::from_secs(2);
/// How long it goes on trying.
const PATIENCE: Duration = Duration::from_secs(600);

/// Applies the missing migrations, or requires that there are none if `may_change` is not set. A database without tables becomes a
/// railgate database. Everything happens in one transaction: a node that starts in the meantime waits and then finds everything
/// done. While others use a table that is to change, it tries again and again, and lets everybody pass in between.
pub(super) async fn migrate(client: &mut Client, migrations: &[Migration], may_change: bool) -> Result<(), StoreError> {
    let fail = |e| failed("migrating the database", &e);
    let deadline = Instant::now() + PATIENCE;
    loop {
        let transaction = locked(client).await?;
        let applied = inspect(&transaction, migrations).await?;
        if applied < migrations.len() && !may_change {
            return Err(outdated(applied, migrations.len()));
        }
        match apply_all(&transaction, migrations, applied).await {
            Ok(()) => return transaction.commit().await.map_err(fail),
            Err(error) if !is_in_use(&error) => return Err(fail(error)),
            Err(_) if Instant::now() >= deadline => return Err(StoreError::unavailable("migrating the database", IN_USE)),
            Err(_) => transaction.rollback().await.map_err(fail)?,
        }
        sleep(jittered(PAUSE)).await;
    }
}

/// What to do about a table that stays in use.
const IN_USE: &str = "a long transaction, such as that of pg_dump or `railgate ledger verify`, keeps a table from being changed: end it, or \
                      try again when it has ended; SELECT pid, application_name, xact_start, query FROM pg_stat_activity WHERE datname = \
                      current_database() ORDER BY xact_start shows the oldest first, and SELECT pg_terminate_backend(pid) ends one";

/// Whether others use a table, or wait for one that this transaction has changed.
fn is_in_use(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(&SqlState::LOCK_NOT_AVAILABLE | &SqlState::T_R_DEADLOCK_DETECTED))
}

async fn apply_all(transaction: &Transaction<'_>, migrations: &[Migration], applied: usize) -> Result<(), tokio_postgres::Error> {
    transaction.batch_execute(&format!("SET LOCAL lock_timeout = {LOCK_TIMEOUT_MS}")).await?;
    for (no, migration) in (1i32..).zip(migrations).skip(applied) {
        apply(transaction, no, migration).await?;
    }
    Ok(())
}

/// The version of the schema.
pub(super) async fn version(client: &mut Client, migrations: &[Migration]) -> Result<SchemaVersion, StoreError> {
    let applied = inspect(&locked(client).await?, migrations).await?;
    Ok(SchemaVersion { applied, known: migrations.len() })
}

/// A transaction with the lock on the schema. A migration takes as long as the tables are large, and so does waiting for it; these
/// have no timeout, whatever the role's defaults are. The connection of a machine that died during a migration becomes idle sooner or
/// later, and idle time still has a limit.
async fn locked(client: &mut Client) -> Result<Transaction<'_>, StoreError> {
    let fail = |e| failed("looking at the schema", &e);
    let transaction = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).read_only(false);
    let transaction = transaction.start().await.map_err(fail)?;
    let lock = format!("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock({LOCK})");
    transaction.batch_execute(&lock).await.map_err(fail)?;
    Ok(transaction)
}

async fn apply(transaction: &Transaction<'_>, no: i32, migration: &Migration) -> Result<(), tokio_postgres::Error> {
    let table = "CREATE TABLE IF NOT EXISTS railgate_migration (no integer PRIMARY KEY, name text NOT NULL, hash bytea NOT NULL)";
    transaction.batch_execute(table).await?;
    transaction.batch_execute("ALTER TABLE railgate_migration ADD COLUMN IF NOT EXISTS oldest integer").await?;
    transaction.batch_execute(migration.sql).await?;
    let kept = "INSERT INTO railgate_migration (no, name, hash, oldest) VALUES ($1, $2, $3, $4)";
    let hash = migration.hash();
    let row: [(&(dyn ToSql + Sync), Type); 4] =
        [(&no, Type::INT4), (&migration.name, Type::TEXT), (&hash, Type::BYTEA), (&migration.oldest, Type::INT4)];
    // Not by a prepared statement: a pooler may have another server process next.
    transaction.query_typed(kept, &row).await.map(drop)
}

/// How many of these migrations have been applied. Later ones may follow them if they support programs as old as this one.
async fn inspect(transaction: &Transaction<'_>, migrations: &[Migration]) -> Result<usize, StoreError> {
    let fail = |e| failed("reading the migrations", &e);
    let header = "SELECT current_schema() IS NOT NULL, to_regclass('railgate_migration') IS NOT NULL, current_setting('server_encoding'), \
                  (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'f')), \
                  current_setting('server_version_num')::int";
    let header = transaction.query_typed_one(header, &[]).await.map_err(fail)?;
    let (placed, ours, encoding, tables, version): (bool, bool, String, i64, i32) =
        (header.get(0), header.get(1), header.get(2), header.get(3), header.get(4));
    if version < 140_000 {
        return Err(refused(format!("PostgreSQL 14 or later is needed, this is version number {version}")));
    }
    if encoding != "UTF8" {
        return Err(refused(format!("its encoding is {encoding} and not UTF8")));
    }
    if !placed {
        return Err(refused("there is no schema in the search path"));
    }
    if !ours {
        return if tables == 0 { Ok(0) } else { Err(refused("it contains tables of another program")) };
    }
    // The first databases have no column for the oldest compatible version.
    let all = "SELECT no, hash, (to_jsonb(railgate_migration) ->> 'oldest')::integer FROM railgate_migration ORDER BY no";
    let rows = transaction.query_typed(all, &[]).await.map_err(fail)?;
    let made_by: Vec<(i32, Vec<u8>)> = rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    let (applied, known) = (made_by.len(), migrations.len());
    let ours = i32::try_from(known).unwrap_or(i32::MAX);
    if rows.iter().skip(known).any(|row| row.get::<_, Option<i32>>(2).is_none_or(|oldest| oldest > ours)) {
        return Err(refused(format!("its schema is version {applied}, newer than this program's version {known}")));
    }
    for ((no, migration), (its_no, hash)) in (1i32..).zip(migrations).zip(made_by) {
        if no != its_no || hash != migration.hash() {
            return Err(refused(format!("its schema was not made by this program's migration {}", migration.name)));
        }
    }
    Ok(applied.min(known))
}

/// The error for a database that must be migrated first.
pub(super) fn outdated(applied: usize, known: usize) -> StoreError {
    refused(format!("its schema is version {applied}, this program needs {known}: open it once with permission to migrate it"))
}

fn refused(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new("opening the database", cause, false)
}
