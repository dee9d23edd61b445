//! Migrates a database file to this program's schema, and refuses files of other programs.
//!
//! Migrations are immutable files, numbered from 1. A database keeps the hash of each applied one: a file that was changed after
//! its release is detected before it does harm.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use sha2::{Digest, Sha256};

use super::failed;
use crate::store::{SchemaVersion, StoreError};

/// Marks a file as a railgate database: `RGAT`.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"RGAT");

/// One migration.
#[derive(Clone, Copy)]
pub(super) struct Migration {
    name: &'static str,
    sql: &'static str,
}

/// All migrations. New ones are appended; a released one never changes.
pub(super) const MIGRATIONS: &[Migration] = &[
    Migration { name: "0001_initial", sql: include_str!("../migrations/sqlite/0001_initial.sql") },
    Migration { name: "0002_authentication", sql: include_str!("../migrations/sqlite/0002_authentication.sql") },
    Migration { name: "0003_log_and_webhooks", sql: include_str!("../migrations/sqlite/0003_log_and_webhooks.sql") },
    Migration { name: "0004_versions", sql: include_str!("../migrations/sqlite/0004_versions.sql") },
    Migration { name: "0005_lists", sql: include_str!("../migrations/sqlite/0005_lists.sql") },
    Migration { name: "0006_enrolment", sql: include_str!("../migrations/sqlite/0006_enrolment.sql") },
    Migration { name: "0007_trees", sql: include_str!("../migrations/sqlite/0007_trees.sql") },
    Migration { name: "0008_operation", sql: include_str!("../migrations/sqlite/0008_operation.sql") },
    Migration { name: "0009_review", sql: include_str!("../migrations/sqlite/0009_review.sql") },
    Migration { name: "0010_terms", sql: include_str!("../migrations/sqlite/0010_terms.sql") },
    Migration { name: "0011_simulator", sql: include_str!("../migrations/sqlite/0011_simulator.sql") },
    Migration { name: "0012_operators", sql: include_str!("../migrations/sqlite/0012_operators.sql") },
    Migration { name: "0013_statement", sql: include_str!("../migrations/sqlite/0013_statement.sql") },
    Migration { name: "0014_answers", sql: include_str!("../migrations/sqlite/0014_answers.sql") },
    Migration { name: "0015_clock", sql: include_str!("../migrations/sqlite/0015_clock.sql") },
    Migration { name: "0016_movement_events", sql: include_str!("../migrations/sqlite/0016_movement_events.sql") },
    Migration { name: "0017_credit_lines", sql: include_str!("../migrations/sqlite/0017_credit_lines.sql") },
    Migration { name: "0018_nodes", sql: include_str!("../migrations/sqlite/0018_nodes.sql") },
    Migration { name: "0019_reconciliation", sql: include_str!("../migrations/sqlite/0019_reconciliation.sql") },
    Migration { name: "0020_sessions", sql: include_str!("../migrations/sqlite/0020_sessions.sql") },
    Migration { name: "0021_mobile", sql: include_str!("../migrations/sqlite/0021_mobile.sql") },
    Migration { name: "0022_notifications", sql: include_str!("../migrations/sqlite/0022_notifications.sql") },
    Migration { name: "0023_bundles", sql: include_str!("../migrations/sqlite/0023_bundles.sql") },
    Migration { name: "0024_cells", sql: include_str!("../migrations/sqlite/0024_cells.sql") },
    Migration { name: "0025_quality", sql: include_str!("../migrations/sqlite/0025_quality.sql") },
];

impl Migration {
    fn hash(&self) -> [u8; 32] {
        Sha256::digest(self.sql).into()
    }
}

/// The state of a database file.
enum State {
    Empty,
    /// A railgate database with this many migrations applied.
    Ours(usize),
}

/// Refuses a file of another program or of a newer version, without changing it.
pub(super) fn require_ours(connection: &Connection, migrations: &[Migration]) -> Result<(), StoreError> {
    inspect(connection, migrations).map(drop)
}

/// The version of the schema.
pub(super) fn version(connection: &Connection, migrations: &[Migration]) -> Result<SchemaVersion, StoreError> {
    let applied = match inspect(connection, migrations)? {
        State::Empty => 0,
        State::Ours(applied) => applied,
    };
    Ok(SchemaVersion { applied, known: migrations.len() })
}

/// Applies the missing migrations. An empty file becomes a railgate database.
pub(super) fn migrate(connection: &mut Connection, migrations: &[Migration]) -> Result<(), StoreError> {
    let applied = version(connection, migrations)?.applied;
    for (no, migration) in (1u32..).zip(migrations).skip(applied) {
        apply(connection, no, migration).map_err(|e| failed("migrating the database", e))?;
    }
    Ok(())
}

/// Requires a database that needs no migration, for callers that may not write.
pub(super) fn require_current(connection: &Connection, migrations: &[Migration]) -> Result<(), StoreError> {
    match inspect(connection, migrations)? {
        State::Ours(applied) if applied == migrations.len() => Ok(()),
        State::Ours(applied) => {
            let known = migrations.len();
            Err(refused(format!("its schema is version {applied}, this program needs {known}: open it once for writing to migrate it")))
        }
        State::Empty => Err(refused("it is empty")),
    }
}

/// One transaction per migration: the schema, its number and its hash change together.
fn apply(connection: &mut Connection, no: u32, migration: &Migration) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction
        .execute_batch("CREATE TABLE IF NOT EXISTS migration (no INTEGER PRIMARY KEY, name TEXT NOT NULL, hash BLOB NOT NULL) STRICT")?;
    transaction.execute_batch(migration.sql)?;
    transaction.execute("INSERT INTO migration (no, name, hash) VALUES (?1, ?2, ?3)", params![no, migration.name, migration.hash()])?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", no)?;
    transaction.commit()
}

fn inspect(connection: &Connection, migrations: &[Migration]) -> Result<State, StoreError> {
    let (id, version, objects) = header(connection).map_err(|e| failed("reading the database's header", e))?;
    if (id, version, objects) == (0, 0, 0) {
        return Ok(State::Empty);
    }
    if id != APPLICATION_ID {
        return Err(refused("it is a database of another program"));
    }
    let known = migrations.len();
    match usize::try_from(version) {
        Ok(applied) if applied <= known => {
            for (no, migration) in (1u32..).zip(migrations).take(applied) {
                unchanged(connection, no, migration)?;
            }
            Ok(State::Ours(applied))
        }
        Ok(_) | Err(_) => Err(refused(format!("its schema is version {version}, newer than this program's version {known}"))),
    }
}

fn header(connection: &Connection) -> rusqlite::Result<(i32, i64, i64)> {
    let sql = "SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), \
               (SELECT count(*) FROM sqlite_schema)";
    connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

fn unchanged(connection: &Connection, no: u32, migration: &Migration) -> Result<(), StoreError> {
    let sql = "SELECT hash FROM migration WHERE no = ?1";
    let made_by: Option<Vec<u8>> =
        connection.query_row(sql, [no], |row| row.get(0)).optional().map_err(|e| failed("reading the migrations", e))?;
    if made_by.is_some_and(|hash| hash == migration.hash()) {
        Ok(())
    } else {
        Err(refused(format!("its schema was not made by this program's migration {}", migration.name)))
    }
}

fn refused(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new("opening the database", cause, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &[Migration] = &[MIGRATIONS[0]];
    const TWO: &[Migration] = &[MIGRATIONS[0], Migration { name: "0002_test", sql: "ALTER TABLE provider ADD COLUMN note TEXT;" }];

    fn schema(connection: &Connection) -> Vec<(String, Option<String>)> {
        let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name").unwrap();
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_migrated_database_has_the_schema_of_a_fresh_one() {
        for all in [MIGRATIONS, TWO] {
            let mut fresh = Connection::open_in_memory().unwrap();
            migrate(&mut fresh, all).unwrap();
            let mut grown = Connection::open_in_memory().unwrap();
            for known in 1..=all.len() {
                migrate(&mut grown, &all[..known]).unwrap();
                require_current(&grown, &all[..known]).unwrap();
            }
            migrate(&mut grown, all).unwrap();
            assert_eq!(schema(&fresh), schema(&grown));
        }
    }

    #[test]
    fn a_newer_schema_and_a_changed_migration_are_refused() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, TWO).unwrap();
        let newer = migrate(&mut connection, ONE).unwrap_err();
        assert!(newer.to_string().contains("newer than this program"), "{newer}");

        let changed = &[MIGRATIONS[0], Migration { sql: "SELECT 1", ..TWO[1] }];
        let changed = migrate(&mut connection, changed).unwrap_err();
        assert!(changed.to_string().contains("0002_test"), "{changed}");
    }

    #[test]
    fn a_step_that_fails_leaves_the_schema_as_it_was() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, ONE).unwrap();
        let before = schema(&connection);
        let broken = &[MIGRATIONS[0], Migration { name: "0002_broken", sql: "CREATE TABLE half (a); CREATE TABLE half (a);" }];
        migrate(&mut connection, broken).unwrap_err();
        assert_eq!(schema(&connection), before);
        require_current(&connection, ONE).unwrap();
    }

    #[test]
    fn who_may_not_write_needs_a_current_schema() {
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(require_current(&connection, ONE).is_err());
        migrate(&mut connection, ONE).unwrap();
        assert!(require_current(&connection, TWO).is_err());
    }
}
