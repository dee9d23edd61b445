//! The store over PostgreSQL 14 or later: several nodes share one database, without any other coordinator.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use railgate::store::postgres::{PostgresOptions, PostgresStore};
//! use railgate::{Config, Gateway};
//! # use railgate::env::ManualEnv;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
//! let url = "postgres://gateway@db.example/payments?sslmode=verify-full";
//! assert!(PostgresStore::schema(url, PostgresOptions::default())?.is_current());
//!
//! // Each node opens the same database. It needs the schema, but not the right to change it.
//! let options = PostgresOptions { readers: 8, migrate: false, ..PostgresOptions::default() };
//! let gateway = Gateway::open_with(Arc::new(PostgresStore::open(url, options)?), env, Config::sandbox())?;
//! gateway.enroll("Shop")?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Store::commit`] is one transaction in at most two round trips, regardless of its size: its writes become one statement per kind (or
//! one for all new rows, if they are few) with one array per column, and `COMMIT` is sent once every condition has been found true, or
//! at once where the server itself checks them all. READ COMMITTED is enough, because each condition is part of the statement that
//! depends on it. Transfers are added to the current totals of an account, so that a popular account never causes a conflict. If the
//! connection breaks after a `COMMIT`, the server is asked for the result of the transaction; only if it cannot tell is the commit
//! [indeterminate](CommitError::Indeterminate).
//!
//! Each read is one prepared statement that uses an index on the primary: it sees the complete state after the latest commit.
//!
//! A pooler may give each transaction another server process. Then each brings its settings, and no statement is prepared; a commit
//! takes one more round trip.
//!
//! Two threads of the store drive the connections, and callers wait on a plain channel: it can be called from plain threads and
//! from workers of an async runtime.

mod at_once;
mod cells;
mod clock;
mod connect;
mod error;
mod migrate;
mod plan;
mod pool;
mod protection;
mod read;
mod session;
pub(super) mod tables;
mod write;

use std::time::Duration;

use super::record::{Key, Record, RecordKind};
use super::{Commit, CommitError, Lookup, Scan, SchemaVersion, Store, StoreError, Unique, shared};
use connect::Target;
use migrate::MIGRATIONS;
use plan::Plan;
use pool::Pool;

/// Options for opening a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// The number of reading connections, from 1 to 1000.
    pub readers: usize,
    /// The number of committing connections, from 1 to 1000. A host with a single writer thread uses only one.
    pub writers: usize,
    /// How long to wait for a connection: for one to become free, or for the server to become reachable again.
    pub connect_timeout: Duration,
    /// The server's timeout for a statement; the store waits five seconds longer for the server's response.
    pub statement_timeout: Duration,
    /// Whether to create and migrate the schema. If not, the database must already have the current schema: for a role that may not
    /// change it.
    pub migrate: bool,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self { readers: 4, writers: 2, connect_timeout: Duration::from_secs(10), statement_timeout: Duration::from_secs(30), migrate: true }
    }
}

/// The store over one PostgreSQL database.
pub struct PostgresStore {
    pool: Pool,
    /// Whether it may write.
    writes: bool,
}

impl PostgresStore {
    /// Connects to the database at a `postgres://` URL and migrates it to the current schema; an empty one becomes a railgate
    /// database.
    ///
    /// The URL has the format of libpq. `sslmode` is `disable`, `prefer` (the default), `require` or `verify-full`; only the last
    /// verifies the server, with the system's root certificates or those in the PEM file `sslrootcert`. With `sslrootcert`,
    /// `require` verifies just as strictly. `pool_mode` says what a pooler in between pools, `session` or `transaction`; without it, a
    /// pooler is recognised and taken for one of transactions.
    ///
    /// # Errors
    /// If the server cannot be reached (which is retryable), if the database belongs to another program or a newer version of this
    /// one, or if its role lacks a permission. No error quotes the URL or its password.
    pub fn open(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let pool = Pool::new(Target::new(url, &options)?, &options)?;
        let may_change = options.migrate;
        pool.run(move |shared| async move {
            let deadline = shared.deadline();
            let mut lent = shared.writer(deadline).await?;
            let link = shared.link(&mut lent, deadline).await?;
            migrate::migrate(&mut link.client, MIGRATIONS, may_change).await?;
            shared.opened();
            Ok::<_, StoreError>(())
        })??;
        Ok(Self { pool, writes: true })
    }

    /// Opens an existing database for reading, even while servers are running: for operators who verify. It shows the state at the
    /// time of opening, regardless of later commits, over one connection; if that breaks, every further read fails.
    ///
    /// # Errors
    /// The same as for [`PostgresStore::open`], or if its schema is not the current one. [`Store::commit`] always fails.
    pub fn open_read_only(url: &str, options: PostgresOptions) -> Result<Self, StoreError> {
        let SchemaVersion { applied, known } = Self::schema(url, options.clone())?;
        if applied != known {
            return Err(migrate::outdated(applied, known));
        }
        let options = PostgresOptions { readers: 1, ..options };
        let store = Self { pool: Pool::new(Target::new(url, &options)?.at_one_moment(), &options)?, writes: false };
        store.scan(&Scan::last(RecordKind::LogHead))?;
        Ok(store)
    }

    /// The schema version of a database. Changes nothing.
    ///
    /// # Errors
    /// The same as for [`PostgresStore::open`].
    pub fn schema(url: &str, options: PostgresOptions) -> Result<SchemaVersion, StoreError> {
        let pool = Pool::new(Target::new(url, &options)?, &options)?;
        pool.run(|shared| async move {
            let deadline = shared.deadline();
            let mut lent = shared.writer(deadline).await?;
            let link = shared.link(&mut lent, deadline).await?;
            migrate::version(&mut link.client, MIGRATIONS).await
        })?
    }

    /// Whether everything sent to the database at this URL stays on this machine, or goes to a server whose certificate is verified.
    /// Otherwise whoever controls a network in between can read and change it. Connects to nothing.
    ///
    /// # Errors
    /// If it is not a URL of PostgreSQL. No error quotes the URL or its password.
    pub fn is_protected(url: &str) -> Result<bool, StoreError> {
        protection::is_protected(url)
    }

    fn found(&self, asked: Option<read::Query>) -> Result<Vec<Record>, StoreError> {
        // No record can have such a key.
        let Some(read::Query { kind, sql, params }) = asked else { return Ok(Vec::new()) };
        let rows = self.pool.read(vec![(sql, params)])?.pop().unwrap_or_default();
        cells::records(kind, &rows)
    }
}

impl Store for PostgresStore {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        if !self.writes {
            return Err(StoreError::new("committing", "opened for reading only", false).into());
        }
        shared::check(commit)?;
        if commit.writes.is_empty() {
            return Ok(());
        }
        let plan = Plan::new(commit)?;
        told(self.pool.run(move |shared| write::commit(shared, plan)))
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        Ok(self.found(read::get(key)?)?.pop())
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        Ok(self.found(read::find(unique)?)?.pop())
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.found(Some(read::scan(scan)))
    }

    fn secure(&self) -> Result<(), StoreError> {
        self.pool.run(write::secured)?
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn readers(&self) -> usize {
        self.pool.readers()
    }

    fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
        let mut together = read::Together::of(lookups)?;
        let answers = self.pool.read(together.asked())?;
        together.found(answers)
    }
}

/// The result of a committing job. A job that ended without a result may have reached its `COMMIT`.
fn told(answer: Result<Result<(), CommitError>, StoreError>) -> Result<(), CommitError> {
    answer.unwrap_or_else(|error| Err(CommitError::Indeterminate(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(options: &PostgresOptions) -> Pool {
        Pool::new(Target::new("postgres://gateway@127.0.0.1:1/railgate?sslmode=disable", options).unwrap(), options).unwrap()
    }

    #[test]
    fn it_is_not_known_what_a_commit_that_panicked_came_to() {
        let pool = pool(&PostgresOptions::default());
        let lost = told(pool.run(|_| async { panic!("behind the COMMIT") }));
        assert!(matches!(lost, Err(CommitError::Indeterminate(error)) if error.to_string().contains("without an answer")));
        told(pool.run(|_| async { Ok(()) })).unwrap();
    }

    #[test]
    fn no_limit_is_too_long() {
        let endless = PostgresOptions { connect_timeout: Duration::MAX, statement_timeout: Duration::MAX, ..PostgresOptions::default() };
        pool(&endless)
            .run(|shared| async move {
                let _ = (shared.deadline(), shared.patient_deadline(), tokio::time::Instant::now() + shared.limit);
            })
            .unwrap();
    }
}
