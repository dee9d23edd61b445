//! A store that fails on request, by script or by seed, to test what the engine must survive.
//!
//! ```
//! use std::sync::Arc;
//!
//! use railgate::store::faulty::{CommitFault, Faulty};
//! use railgate::store::memory::MemoryStore;
//! use railgate::{Config, ErrorCode, Gateway};
//! # use railgate::env::ManualEnv;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
//! let store = Arc::new(Faulty::new(MemoryStore::new()));
//! let gateway = Gateway::open_with(store.clone(), env, Config::sandbox())?;
//!
//! // Other nodes get in between twice: the engine decides again.
//! store.script([Some(CommitFault::Conflict), Some(CommitFault::Conflict)]);
//! assert!(gateway.enroll("Shop").is_ok());
//!
//! // The database is gone: the client learns that it may try again.
//! store.script([Some(CommitFault::Unavailable)]);
//! let refused = gateway.enroll("Till").map_err(|error| (error.code, error.retryable));
//! assert_eq!(refused.err(), Some((ErrorCode::StoreUnavailable, true)));
//! assert_eq!(store.injected(), 3);
//! # Ok(())
//! # }
//! ```

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::{Key, Record};
use super::{Commit, CommitError, Lookup, Scan, Store, StoreError, Unique};

/// How a commit fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitFault {
    /// Nothing is written, and the caller learns that: [`CommitError::Store`], retryable.
    Unavailable,
    /// Nothing is written: [`CommitError::Conflict`] without a particular clash, as after a serialisation failure.
    Conflict,
    /// Nothing is written, but the caller cannot tell: [`CommitError::Indeterminate`].
    LostBefore,
    /// Everything is written, but the caller cannot tell: [`CommitError::Indeterminate`].
    LostAfter,
}

impl CommitFault {
    /// Every kind of fault.
    pub const ALL: [CommitFault; 4] = [Self::Unavailable, Self::Conflict, Self::LostBefore, Self::LostAfter];
}

/// Failure rates, per thousand calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    /// The rate of each fault in [`CommitFault::ALL`], in the same order.
    pub commits: [u16; 4],
    /// The rate of failing reads: [`StoreError`], retryable.
    pub reads: u16,
}

/// Wraps a store and injects faults.
pub struct Faulty<S> {
    inner: S,
    plan: Mutex<Plan>,
    remote: bool,
}

#[derive(Default)]
struct Plan {
    commits: VecDeque<Option<CommitFault>>,
    reads: usize,
    rates: Rates,
    random: u64,
    injected: u64,
}

impl<S: Store> Faulty<S> {
    /// A store that never fails until it is told to.
    pub fn new(inner: S) -> Self {
        Self { remote: inner.is_remote(), inner, plan: Mutex::default() }
    }

    /// A store that fails at these rates. The same seed and the same sequence of calls produce the same faults.
    pub fn seeded(inner: S, seed: u64, rates: Rates) -> Self {
        Self { plan: Mutex::new(Plan { rates, random: seed, ..Plan::default() }), ..Self::new(inner) }
    }

    /// Makes the store report that it is on another machine.
    pub fn far_away(self) -> Self {
        Self { remote: true, ..self }
    }

    /// Scripts the results of the next commits; `None` means success. The script takes precedence over rates and is appended to an
    /// earlier one.
    pub fn script(&self, commits: impl IntoIterator<Item = Option<CommitFault>>) {
        self.plan().commits.extend(commits);
    }

    /// Makes the next `count` reads fail.
    pub fn fail_reads(&self, count: usize) {
        self.plan().reads = count;
    }

    /// Stops all faults from now on.
    pub fn calm(&self) {
        let mut plan = self.plan();
        *plan = Plan { injected: plan.injected, ..Plan::default() };
    }

    /// The number of faults so far.
    pub fn injected(&self) -> u64 {
        self.plan().injected
    }

    /// The wrapped store, which does not fail.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, read: impl FnOnce(&S) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.plan().next_read_fails() { Err(injected()) } else { read(&self.inner) }
    }
}

impl Plan {
    fn next_commit(&mut self) -> Option<CommitFault> {
        let fault = match self.commits.pop_front() {
            Some(scripted) => scripted,
            None => self.drawn(),
        };
        self.injected += u64::from(fault.is_some());
        fault
    }

    fn drawn(&mut self) -> Option<CommitFault> {
        if self.rates.commits == [0; 4] {
            return None;
        }
        let mut drawn = self.per_mille();
        for (fault, rate) in CommitFault::ALL.into_iter().zip(self.rates.commits) {
            match drawn.checked_sub(rate) {
                Some(left) => drawn = left,
                None => return Some(fault),
            }
        }
        None
    }

    fn next_read_fails(&mut self) -> bool {
        let fails = if self.reads > 0 {
            self.reads -= 1;
            true
        } else {
            self.rates.reads > 0 && self.per_mille() < self.rates.reads
        };
        self.injected += u64::from(fails);
        fails
    }

    /// SplitMix64: small, and good enough to decide what fails.
    fn per_mille(&mut self) -> u16 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % 1000) as u16
    }
}

fn injected() -> StoreError {
    StoreError::unavailable("a test", "injected fault")
}

impl<S: Store> Store for Faulty<S> {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        let fault = self.plan().next_commit();
        match fault {
            None => self.inner.commit(commit),
            Some(CommitFault::Unavailable) => Err(CommitError::Store(injected())),
            Some(CommitFault::Conflict) => Err(CommitError::Conflict(Vec::new())),
            Some(CommitFault::LostBefore) => Err(CommitError::Indeterminate(injected())),
            // A commit that the store itself refuses was not made, even if its response is lost.
            Some(CommitFault::LostAfter) => self.inner.commit(commit).and(Err(CommitError::Indeterminate(injected()))),
        }
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.read(|inner| inner.get(key))
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.read(|inner| inner.find(unique))
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.read(|inner| inner.scan(scan))
    }

    fn secure(&self) -> Result<(), StoreError> {
        self.read(Store::secure)
    }

    fn is_remote(&self) -> bool {
        self.remote
    }

    fn readers(&self) -> usize {
        self.inner.readers()
    }

    fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
        self.read(|inner| inner.look_up(lookups))
    }
}
