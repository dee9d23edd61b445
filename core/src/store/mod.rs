//! The store: one narrow door. Reads by key and closed, paged scans; one write, [`Store::commit`], all or nothing.
//!
//! A store holds no rules: it keeps records, refuses a commit whose checks do not hold, and adds up account totals
//! from transfers. Everything that decides lives in the engine. All implementations pass one conformance suite
//! (feature `testkit`), with [`memory`] as the model.
#![cfg_attr(
    not(all(feature = "postgres", feature = "sandbox", feature = "sqlite")),
    allow(dead_code, reason = "what is declared serves every store, and not each needs all of it")
)]

mod cell;
mod changes;
mod column;
mod compact;
#[cfg(feature = "testkit")]
pub mod conformance;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub mod copy;
mod declare;
#[cfg(feature = "testkit")]
pub mod faulty;
#[cfg(feature = "sandbox")]
pub mod journal;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod record;
mod scan;
#[cfg(all(test, feature = "sandbox", feature = "sqlite"))]
mod scratch;
pub(crate) mod shared;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod tables;

use crate::ledger::{AccountId, Transfer};
use record::*;
pub use scan::{AmountBound, Scan, SettlementFilter};
pub use tables::Unique;

/// One write of a commit. Each names what must hold for it, so that no lock is held across a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Adds a record. Fails if its primary key or one of its unique keys is taken:
    /// settlement `(client, reference)`, reversal `(client, reference)` if it has one, client `id`, key `id`,
    /// provider `id`, endpoint `id`, feed `(settlement, n)`.
    Insert(Record),
    /// Replaces a settlement, endpoint or queue that still has version `expected`. A settlement's client and reference,
    /// and an endpoint's id, client and mode, never change.
    Update {
        /// The whole new record, of a kind that has a version.
        record: Record,
        /// The version that it replaces.
        expected: u32,
    },
    /// Replaces a record of any other kind that exists. Children of a settlement are guarded by its version.
    /// Unique keys never change: a record that differs in one is another record, and clashes.
    /// Accounts and transfers are never replaced, inserted or deleted: they change only by [`Write::Post`].
    Replace(Record),
    /// Adds a journal line and moves the totals of both accounts; an account without a row starts at zero.
    Post(Transfer),
    /// Removes a record that exists.
    Delete(Key),
}

/// Writes that become durable together or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commit {
    /// In order: a later write sees the earlier ones.
    pub writes: Vec<Write>,
}

/// What stood in the way of a commit: the write at this index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// Index into [`Commit::writes`].
    pub write: usize,
}

/// Why a commit was not made.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Nothing was written: these writes' conditions did not hold. Read again and decide again.
    /// A store reports every clash that it can see at once, so that deciding again converges.
    #[error("{} conditions did not hold", .0.len())]
    Conflict(Vec<Clash>),
    /// Nothing was written: this account's available money would have fallen below its floor.
    #[error("the balance guard of account {0:?} refused")]
    BalanceGuard(AccountId),
    /// The link broke after the commit was sent: it may or may not have been made. Resolve by reading.
    #[error("it is not known whether the commit was made: {0}")]
    Indeterminate(StoreError),
    /// Nothing was written: the store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A fault of the store itself; what it says is in [`StoreFault`]. One pointer, since everything that is read might be one.
#[derive(Debug)]
pub struct StoreError(Box<StoreFault>);

/// What went wrong with the store.
#[derive(Debug)]
pub struct StoreFault {
    /// What was being done.
    pub context: &'static str,
    /// What went wrong.
    pub cause: Box<dyn std::error::Error + Send + Sync>,
    /// Whether trying again later can help (busy, full, unreachable).
    pub retryable: bool,
    /// What is stored is damaged: reading it again finds the same. Neither this nor retryable is a store that refuses or fails, as
    /// when a right was taken away, until somebody sees to it.
    pub corrupt: bool,
}

impl StoreError {
    /// A fault.
    #[cold]
    pub fn new(context: &'static str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>, retryable: bool) -> Self {
        Self(Box::new(StoreFault { context, cause: cause.into(), retryable, corrupt: false }))
    }

    /// The store cannot be used now.
    pub fn unavailable(context: &'static str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(context, cause, true)
    }

    /// What is stored cannot be what was written.
    pub fn corrupt(context: &'static str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(Box::new(StoreFault { context, cause: cause.into(), retryable: false, corrupt: true }))
    }
}

impl std::ops::Deref for StoreError {
    type Target = StoreFault;

    fn deref(&self) -> &StoreFault {
        &self.0
    }
}

impl std::ops::DerefMut for StoreError {
    fn deref_mut(&mut self) -> &mut StoreFault {
        &mut self.0
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.context, self.cause)
    }
}

impl std::error::Error for StoreError {}

impl From<StoreError> for crate::Error {
    fn from(error: StoreError) -> Self {
        let code = if error.retryable { crate::ErrorCode::StoreUnavailable } else { crate::ErrorCode::Internal };
        Self::caused(code, error)
    }
}

/// How far the schema of a database is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaVersion {
    /// How many migrations made it; 0 for an empty database.
    pub applied: usize,
    /// How many this program knows.
    pub known: usize,
}

impl SchemaVersion {
    /// Whether nothing is missing.
    pub const fn is_current(self) -> bool {
        self.applied == self.known
    }
}

/// One look-up of many that are made together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// As [`Store::get`].
    Get(Key),
    /// As [`Store::find`].
    Find(Unique),
    /// As [`Store::scan`].
    Scan(Scan),
}

/// Where records live. Implementations are shared between threads and lock inside, never across calls.
pub trait Store: Send + Sync {
    /// Makes all writes durable together, or none. Returns only after they are durable.
    fn commit(&self, commit: &Commit) -> Result<(), CommitError>;

    /// The record under a primary key.
    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError>;

    /// The record under another unique key.
    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError>;

    /// A page of records.
    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError>;

    /// Whether this very record is there, with all that it says.
    fn holds(&self, record: &Record) -> Result<bool, StoreError> {
        Ok(self.get(&record.key())?.as_ref() == Some(record))
    }

    /// Returns once everything that could be read before the call is as durable as what a commit was answered with. Where a
    /// commit's answer was lost, what is read of it may not be yet: a standby may still be without it.
    fn secure(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether every call is a round trip to another machine: then callers make few of them, and none where others wait.
    fn is_remote(&self) -> bool {
        false
    }

    /// What several look-ups find, made in one go and answered in their order. They need not see one moment.
    fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
        let one = |lookup: &Lookup| match lookup {
            Lookup::Get(key) => self.get(key).map(|found| found.into_iter().collect()),
            Lookup::Find(unique) => self.find(unique).map(|found| found.into_iter().collect()),
            Lookup::Scan(scan) => self.scan(scan),
        };
        lookups.iter().map(one).collect()
    }
}

/// The record that `found` must be. A store that answers with another kind is broken.
pub fn typed<T: TryFrom<Record, Error = Record>>(found: Option<Record>) -> Result<Option<T>, StoreError> {
    found.map(one).transpose()
}

/// All of `found` as one kind.
pub fn typed_all<T: TryFrom<Record, Error = Record>>(found: Vec<Record>) -> Result<Vec<T>, StoreError> {
    found.into_iter().map(one).collect()
}

fn one<T: TryFrom<Record, Error = Record>>(record: Record) -> Result<T, StoreError> {
    T::try_from(record).map_err(|other| StoreError::corrupt("reading a record", format!("unexpected kind: {}", other.kind().as_str())))
}
