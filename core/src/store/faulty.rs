//! A store that fails on request: what the engine must survive, in the order a script says or as a seed decides.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::record::{Key, Record};
use super::{Commit, CommitError, Lookup, Scan, Store, StoreError, Unique};

/// How a commit goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitFault {
    /// Nothing is written, and that is said: [`CommitError::Store`], to be tried again.
    Unavailable,
    /// Nothing is written: [`CommitError::Conflict`] without a clash to point at, as a serialisation failure is.
    Conflict,
    /// Nothing is written, but the caller cannot know: [`CommitError::Indeterminate`].
    LostBefore,
    /// It is written, but the caller cannot know: [`CommitError::Indeterminate`].
    LostAfter,
}

impl CommitFault {
    /// All of them.
    pub const ALL: [CommitFault; 4] = [Self::Unavailable, Self::Conflict, Self::LostBefore, Self::LostAfter];
}

/// How many of a thousand calls fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    /// For each kind of [`CommitFault::ALL`], in its order.
    pub commits: [u16; 4],
    /// Of reads: [`StoreError`], to be tried again.
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
    /// Fails never, until it is told to.
    pub fn new(inner: S) -> Self {
        Self { remote: inner.is_remote(), inner, plan: Mutex::default() }
    }

    /// Fails at these rates. The same seed and the same calls, one after the other, give the same faults.
    pub fn seeded(inner: S, seed: u64, rates: Rates) -> Self {
        Self { plan: Mutex::new(Plan { rates, random: seed, ..Plan::default() }), ..Self::new(inner) }
    }

    /// Says that it is on another machine.
    pub fn far_away(self) -> Self {
        Self { remote: true, ..self }
    }

    /// The next commits go like this, `None` being well. Before any rate, and after what was scripted before.
    pub fn script(&self, commits: impl IntoIterator<Item = Option<CommitFault>>) {
        self.plan().commits.extend(commits);
    }

    /// The next so many reads fail.
    pub fn fail_reads(&self, count: usize) {
        self.plan().reads = count;
    }

    /// From now on nothing fails.
    pub fn calm(&self) {
        let mut plan = self.plan();
        *plan = Plan { injected: plan.injected, ..Plan::default() };
    }

    /// How many faults there were so far.
    pub fn injected(&self) -> u64 {
        self.plan().injected
    }

    /// The store inside, which does not fail.
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
            // What the store itself refuses was not made, whatever happened to the answer.
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

    fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
        self.read(|inner| inner.look_up(lookups))
    }
}
