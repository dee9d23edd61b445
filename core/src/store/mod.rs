//! The store: one narrow door. Reads by key and closed, paged scans; one write, [`Store::commit`], all or nothing.
//!
//! A store holds no rules: it keeps records, refuses a commit whose checks do not hold, and adds up account totals
//! from transfers. Everything that decides lives in the engine. All implementations pass one conformance suite
//! (feature `testkit`), with [`memory`] as the model.

#[cfg(any(feature = "postgres", feature = "sandbox", feature = "sqlite"))]
mod changes;
#[cfg(any(feature = "postgres", feature = "sandbox", feature = "sqlite"))]
mod compact;
#[cfg(feature = "testkit")]
pub mod conformance;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub mod copy;
#[cfg(feature = "testkit")]
pub mod faulty;
#[cfg(feature = "sandbox")]
pub mod journal;
pub mod memory;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod record;
#[cfg(any(feature = "postgres", feature = "sandbox", feature = "sqlite"))]
mod rows;
pub(crate) mod shared;
#[cfg(feature = "sqlite")]
pub mod sqlite;

use crate::auth::KeyId;
use crate::ids::{ClientNo, EndpointNo, ProviderNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode, Transfer};
use crate::lifecycle::SettlementStatus;
use crate::money::Currency;
use crate::time::Millis;
use record::*;

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

/// Which settlements a list shows. Empty fields do not restrict.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct SettlementFilter {
    /// Any of these.
    pub status: Vec<SettlementStatus>,
    /// This currency.
    pub currency: Option<Currency>,
    /// This provider.
    pub provider: Option<ProviderNo>,
    /// This participant, canonical text.
    pub to: Option<String>,
    /// This reference.
    pub reference: Option<String>,
    /// This mode.
    pub mode: Option<Mode>,
    /// Created at or after.
    pub created_from: Option<Millis>,
    /// Created before.
    pub created_to: Option<Millis>,
    /// At least this amount: `(unscaled, decimals)` is compared by value against each settlement's own currency.
    pub min_amount: Option<AmountBound>,
    /// At most this amount.
    pub max_amount: Option<AmountBound>,
    /// Flagged for review, or not.
    pub needs_review: Option<bool>,
}

/// A decimal amount as a bound, in minor units for each number of decimals a currency can have (0 to 4).
///
/// Worked out once, so that a store compares integers: index by [`Currency::minor_units`].
pub type AmountBound = [i64; 5];

/// A closed set of paged scans. `after`/`before` are exclusive; results are at most `limit`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Scan {
    /// A client's settlements, newest (highest number) first, below `before`.
    SettlementsOf {
        /// Whose.
        client: ClientNo,
        /// Which of them.
        filter: Box<SettlementFilter>,
        /// Below this number; `None` for the newest.
        before: Option<SettlementNo>,
        /// At most so many.
        limit: usize,
    },
    /// Every settlement by number, above `after`.
    Settlements {
        /// Above this number.
        after: SettlementNo,
        /// At most so many.
        limit: usize,
    },
    /// The settlement with the highest number, if there is any.
    LastSettlement,
    /// The transfer with the highest journal number, if there is any.
    LastTransfer,
    /// A settlement's events by sequence, above `after`.
    Events {
        /// Of which settlement.
        settlement: SettlementNo,
        /// Above this sequence.
        after: u32,
        /// At most so many.
        limit: usize,
    },
    /// All attempts of a settlement, by number.
    Attempts(SettlementNo),
    /// All reversals of a settlement, by number.
    Reversals(SettlementNo),
    /// All transfers of a journal number, by `n`.
    Transfers(SettlementNo),
    /// Every transfer, by journal number and `n`, above this one.
    AllTransfers {
        /// Above this journal number and `n`.
        after: (SettlementNo, u16),
        /// At most so many.
        limit: usize,
    },
    /// Tasks with a key above `after` and due at or before `until`, by key.
    Tasks {
        /// Above this key.
        after: TaskKey,
        /// Due at or before; `Millis::MAX` for all.
        until: Millis,
        /// At most so many.
        limit: usize,
    },
    /// A client's accounts, by key.
    AccountsOf(ClientNo),
    /// Every account by key, above `after`.
    Accounts {
        /// Above this key.
        after: AccountId,
        /// At most so many.
        limit: usize,
    },
    /// Clients by number, above `after`.
    Clients {
        /// Above this number.
        after: ClientNo,
        /// At most so many.
        limit: usize,
    },
    /// The client with the highest number, if there is any.
    LastClient,
    /// A client's keys, by number.
    KeysOf(ClientNo),
    /// The key with the highest number, if there is any.
    LastKey,
    /// All providers, by number.
    Providers,
    /// The gateway's own secrets, by kind and number.
    Secrets,
    /// The audit trail by number, above `after`.
    Audit {
        /// Above this number.
        after: i64,
        /// At most so many.
        limit: usize,
    },
    /// The audit record with the highest number, if there is any.
    LastAudit,
    /// What the simulated operator knows under a settlement.
    SimPayments(SettlementNo),
    /// Idempotency records made before this time, any order.
    IdempotencyBefore {
        /// Made before.
        created: Millis,
        /// At most so many.
        limit: usize,
    },
    /// Nonces that ended before this time, any order.
    NoncesExpiredBefore {
        /// Ended before.
        expired: Millis,
        /// At most so many.
        limit: usize,
    },
    /// Tokens that ended before this time, any order.
    TokensExpiredBefore {
        /// Ended before.
        expired: Millis,
        /// At most so many.
        limit: usize,
    },
    /// What is written but not numbered yet, by number.
    Unlogged {
        /// At most so many.
        limit: usize,
    },
    /// A client's feed by position, above `after`.
    Feed {
        /// Whose.
        client: ClientNo,
        /// Of which mode.
        mode: Mode,
        /// Above this position.
        after: i64,
        /// At most so many.
        limit: usize,
    },
    /// The last of a client's feed, if there is any.
    LastFeed(ClientNo, Mode),
    /// Every feed's records, by client, mode and position, above this one.
    AllFeeds {
        /// Above this one.
        after: (ClientNo, Mode, i64),
        /// At most so many.
        limit: usize,
    },
    /// How far the log is: one record, none before the first event.
    LogHead,
    /// Every endpoint by number, above `after`.
    Endpoints {
        /// Above this number.
        after: EndpointNo,
        /// At most so many.
        limit: usize,
    },
    /// A client's endpoints in a mode that are not removed, by number.
    EndpointsOf(ClientNo, Mode),
    /// The endpoint with the highest number, if there is any.
    LastEndpoint,
    /// An endpoint's secrets, by number.
    EndpointSecrets(EndpointNo),
    /// Queues of one line that are due at or before `until`, the earliest first.
    Queues {
        /// Of those whose last delivery failed, or of the others.
        troubled: bool,
        /// Due at or before.
        until: Millis,
        /// At most so many.
        limit: usize,
    },
    /// An endpoint's deliveries that are due at or before `until`, the earliest first.
    DeliveriesDue {
        /// Whose.
        endpoint: EndpointNo,
        /// Due at or before.
        until: Millis,
        /// At most so many.
        limit: usize,
    },
    /// An endpoint's deliveries, the newest first, below `before`.
    DeliveriesOf {
        /// Whose.
        endpoint: EndpointNo,
        /// Below this number; `i64::MAX` for the newest.
        before: i64,
        /// Only those that are so far.
        status: Option<DeliveryStatus>,
        /// At most so many.
        limit: usize,
    },
    /// Deliveries of any endpoint below this number, by number.
    DeliveriesBefore {
        /// Below this number.
        before: i64,
        /// At most so many.
        limit: usize,
    },
    /// Every record of one kind by primary key, texts byte by byte: for whoever copies or compares a whole store.
    All {
        /// Where to begin.
        from: Place,
        /// At most so many.
        limit: usize,
    },
}

/// Where a walk over the records of a kind begins.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// With the first of this kind.
    First(RecordKind),
    /// Behind this key, which a record can have.
    After(Key),
}

impl Place {
    /// Of which kind.
    pub const fn kind(&self) -> RecordKind {
        match self {
            Self::First(kind) => *kind,
            Self::After(key) => key.kind(),
        }
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

/// Look-ups by a unique key that is not the primary one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Unique {
    /// A settlement by its client and reference.
    SettlementReference(ClientNo, String),
    /// A reversal by its client and reference.
    ReversalReference(ClientNo, String),
    /// A client by the ULID behind `cli_`.
    ClientId(Ulid),
    /// A key by its thumbprint.
    KeyId(KeyId),
    /// An endpoint by the ULID behind `whk_`.
    EndpointId(Ulid),
    /// An event's place in its owner's feed.
    FeedOf(SettlementNo, u32),
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

    /// Whether every call is a journey to another machine: then callers make few of them, and none where others wait.
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
