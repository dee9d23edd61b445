//! The store interface: reads by key, closed paged scans, and one atomic write, [`Store::commit`].
//!
//! ```
//! use railgate::ids::{ClientNo, Ulid};
//! use railgate::store::memory::MemoryStore;
//! use railgate::store::record::{ClientRecord, Key, RecordKind, Version};
//! use railgate::store::{Commit, CommitError, Scan, Store as _, Unique, Write, typed};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = MemoryStore::new();
//! let client = |no, id| ClientRecord {
//!     no: ClientNo(no),
//!     id: Ulid(id),
//!     name: format!("Shop {no}"),
//!     suspended: false,
//!     webhook_secret: Vec::new(),
//!     created_at: 1_795_257_497_042,
//!     version: Version::default(),
//! };
//! let insert = |no, id| Write::Insert(client(no, id).into());
//! store.commit(&Commit { writes: vec![insert(1, 11), insert(2, 12)] })?;
//!
//! // By primary key, by another unique key, and as a page.
//! assert_eq!(typed(store.get(&Key::Client(ClientNo(1)))?)?, Some(client(1, 11)));
//! assert_eq!(typed(store.find(&Unique::ClientId(Ulid(12)))?)?, Some(client(2, 12)));
//! assert_eq!(store.scan(&Scan::all(RecordKind::Client, 100))?.len(), 2);
//!
//! // A commit is made as a whole or not at all: the id of the second client is taken, so the first one is not stored either.
//! let refused = store.commit(&Commit { writes: vec![insert(3, 13), insert(4, 12)] });
//! assert!(matches!(refused, Err(CommitError::Conflict(clashes)) if clashes[0].write == 1));
//! assert_eq!(store.get(&Key::Client(ClientNo(3)))?, None);
//! # Ok(())
//! # }
//! ```
//!
//! A store contains no business rules: it keeps records, refuses a commit whose conditions do not hold, and derives account totals
//! from transfers. All decisions are made in the engine. All implementations pass one conformance suite (feature `testkit`), with
//! [`memory`] as the model.
#![cfg_attr(
    not(all(feature = "postgres", feature = "sandbox", feature = "sqlite")),
    allow(dead_code, reason = "what is declared serves every store, and not each needs all of it")
)]

mod cell;
mod changes;
mod column;
pub(crate) mod compact;
#[cfg(feature = "testkit")]
pub mod conformance;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub mod copy;
mod declare;
#[cfg(feature = "testkit")]
pub mod faulty;
#[cfg(feature = "testkit")]
pub mod hooked;
#[cfg(feature = "sandbox")]
pub mod journal;
pub(crate) mod long_lock;
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
use crate::terms::{UsageId, Used};
use record::*;
pub use scan::{AmountBound, Place, Scan, SettlementFilter};
pub use tables::Unique;

/// How far the clock of a node may differ from that of a store on another machine: such a store refuses others, because leases and what is
/// in flight are judged by the clocks of several nodes.
pub(crate) const MOST_APART_MS: crate::time::Millis = 5_000;

/// One write of a commit. Each one states its condition, so that no lock is held across a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Write {
    /// Adds a record. Fails if its primary key or one of its unique keys is taken: settlement `(client, reference)`, reversal
    /// `(client, reference)` if it has one, client `id`, key `id`, provider `id`, endpoint `id`, feed `(settlement, n)`.
    Insert(Record),
    /// Replaces a record of a kind with a version, if its version is still `expected`. Unique keys, and an endpoint's client and
    /// mode, never change.
    Update {
        /// The complete new record, of a kind that has a version.
        record: Record,
        /// The version to replace.
        expected: u32,
    },
    /// Replaces an existing record of any other kind. The version of a settlement guards its children. Unique keys never change: a
    /// record that differs in one is another record, and clashes. Accounts and transfers are never replaced, inserted or deleted:
    /// they change only through [`Write::Post`].
    Replace(Record),
    /// Adds a journal line and updates the totals of both accounts; an account without a row starts at zero.
    Post(Transfer),
    /// Adds to the counter of a day, which starts at zero. Fails if it adds something and a part is then more than `most`.
    Count {
        /// The counter.
        id: UsageId,
        /// What to add; negative to take back.
        by: Used,
        /// The most that the day may add up to; without effect on what takes back.
        most: Used,
    },
    /// In this commit, the available money of this account may fall to `floor` instead of zero. With zero, the writes before it must leave
    /// zero at least, whatever lower floor the commit has.
    Floor {
        /// The account.
        account: AccountId,
        /// In minor units, zero or less.
        floor: i64,
    },
    /// Removes an existing record.
    Delete(Key),
    /// Writes nothing. Fails if there is a record with this key.
    Absent(Key),
}

impl Write {
    /// The record that it adds; `None` for every other write.
    pub(crate) fn inserted(&self) -> Option<&Record> {
        match self {
            Self::Insert(record) => Some(record),
            Self::Update { .. } | Self::Replace(_) | Self::Post(_) | Self::Count { .. } | Self::Floor { .. } => None,
            Self::Delete(_) | Self::Absent(_) => None,
        }
    }
}

/// Writes that become durable together or not at all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Commit {
    /// Applied in order: a later write sees the earlier ones.
    pub writes: Vec<Write>,
}

/// A write whose condition did not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clash {
    /// Index into [`Commit::writes`].
    pub write: usize,
}

/// Why a commit failed.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// Nothing was written: the conditions of these writes did not hold. Read and decide again. A store reports every clash that it
    /// can see at once, so that repeated decisions converge.
    #[error("{} conditions did not hold", .0.len())]
    Conflict(Vec<Clash>),
    /// Nothing was written: the available money of this account would have fallen below its floor.
    #[error("the balance guard of account {} refused", .0.0)]
    BalanceGuard(AccountId),
    /// Nothing was written: this counter would have become more than it may.
    #[error("the guard of counter {} refused", .0.0)]
    UsageGuard(UsageId),
    /// The connection broke after the commit was sent: it may or may not have been made. Resolve by reading.
    #[error("it is not known whether the commit was made: {0}")]
    Indeterminate(StoreError),
    /// Nothing was written: the store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A fault of the store itself; the details are in [`StoreFault`]. It is one pointer wide, because every result of a read carries
/// one.
#[derive(Debug)]
pub struct StoreError(Box<StoreFault>);

/// What went wrong with the store.
#[derive(Debug)]
pub struct StoreFault {
    /// The operation that failed.
    pub context: &'static str,
    /// The cause.
    pub cause: Box<dyn std::error::Error + Send + Sync>,
    /// Whether trying again later can help (busy, full, unreachable).
    pub retryable: bool,
    /// Whether the stored data is damaged: reading it again has the same result. If neither this nor `retryable` is set, the store
    /// refuses or fails until somebody intervenes, for example because a privilege was revoked.
    pub corrupt: bool,
}

impl StoreError {
    /// Creates a fault.
    #[cold]
    pub fn new(context: &'static str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>, retryable: bool) -> Self {
        Self(Box::new(StoreFault { context, cause: cause.into(), retryable, corrupt: false }))
    }

    /// The store cannot be used at the moment.
    pub fn unavailable(context: &'static str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::new(context, cause, true)
    }

    /// The stored data cannot be what was written.
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

/// The version of a database's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchemaVersion {
    /// The number of applied migrations; 0 for an empty database.
    pub applied: usize,
    /// The number of migrations in this program.
    pub known: usize,
}

impl SchemaVersion {
    /// Whether no migration is missing.
    pub const fn is_current(self) -> bool {
        self.applied == self.known
    }
}

/// One look-up of a batch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Lookup {
    /// See [`Store::get`].
    Get(Key),
    /// See [`Store::find`].
    Find(Unique),
    /// See [`Store::scan`].
    Scan(Scan),
}

/// Keeps records. Implementations are shared between threads and lock internally, across calls only within [`Store::together`].
pub trait Store: Send + Sync {
    /// Makes all writes durable together, or none of them. Returns only once they are durable; within [`Store::together`], once that does.
    fn commit(&self, commit: &Commit) -> Result<(), CommitError>;

    /// Runs `steps`, whose commits become durable together when this returns, or not at all. Until then, only this thread reads what
    /// they wrote, and those of other threads wait. By default each commit is durable by itself, as soon as it is made.
    ///
    /// Who runs an engine's commands in `steps` must hold back those of other threads before, as
    /// `Sandbox::at_once` does: they would wait for each other for ever.
    fn together(&self, steps: &mut dyn FnMut()) -> Result<(), CommitError> {
        steps();
        Ok(())
    }

    /// The record with this primary key.
    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError>;

    /// The record with this other unique key.
    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError>;

    /// A page of records, in the order of the scan.
    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError>;

    /// Whether exactly this record is stored, with all its values.
    fn holds(&self, record: &Record) -> Result<bool, StoreError> {
        Ok(self.get(&record.key())?.as_ref() == Some(record))
    }

    /// Returns once everything that could be read before the call is as durable as an acknowledged commit. If the response to a
    /// commit was lost, its data may be readable but not that durable yet: a standby may not have it.
    fn secure(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Whether every call is a round trip to another machine. If so, callers make few calls, and none where others wait.
    fn is_remote(&self) -> bool {
        false
    }

    /// How many reads it makes at a time. Further ones wait, also short ones behind long ones: callers bound the long ones.
    fn readers(&self) -> usize {
        usize::MAX
    }

    /// What is wrong with the files themselves, whether or not anything reads that part of them: empty if nothing is, or if a server looks
    /// after them.
    fn damage(&self) -> Result<Vec<String>, StoreError> {
        Ok(Vec::new())
    }

    /// Whether several look-ups cost less as a batch than one by one.
    fn prefers_batches(&self) -> bool {
        self.is_remote()
    }

    /// The results of several look-ups, made as a batch and returned in their order. They need not see the same point in time.
    fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
        lookups.iter().map(|lookup| one_by_one(self, lookup)).collect()
    }
}

/// One look-up, made by itself.
fn one_by_one(store: &(impl Store + ?Sized), lookup: &Lookup) -> Result<Vec<Record>, StoreError> {
    match lookup {
        Lookup::Get(key) => store.get(key).map(|found| found.into_iter().collect()),
        Lookup::Find(unique) => store.find(unique).map(|found| found.into_iter().collect()),
        Lookup::Scan(scan) => store.scan(scan),
    }
}

/// Converts `found` to the expected kind. A store that returns another kind is broken.
pub fn typed<T: TryFrom<Record, Error = Record>>(found: Option<Record>) -> Result<Option<T>, StoreError> {
    found.map(one).transpose()
}

/// Converts all of `found` to the expected kind.
pub fn typed_all<T: TryFrom<Record, Error = Record>>(found: Vec<Record>) -> Result<Vec<T>, StoreError> {
    found.into_iter().map(one).collect()
}

fn one<T: TryFrom<Record, Error = Record>>(record: Record) -> Result<T, StoreError> {
    T::try_from(record).map_err(|other| StoreError::corrupt("reading a record", format!("unexpected kind: {}", other.kind().as_str())))
}
