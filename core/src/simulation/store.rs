//! The store of a simulated deployment: it keeps everything in memory, and fails as real ones do.
//!
//! A file fails with its host: the process dies before or after a commit. A database server fails on its own: transactions conflict, the
//! answer to a commit is lost, and a standby takes over that lacks what was never acknowledged.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ids::{ClientNo, SettlementNo, Ulid};
use crate::store::memory::{MemoryStore, Undo};
use crate::store::record::{ApprovalRecord, Key, MovementRecord, Record, SettlementRecord};
use crate::store::{Commit, CommitError, Scan, Store, StoreError, Unique, Write};

/// How the next commit fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing is written, and the caller learns that.
    Unavailable,
    /// Nothing is written: another transaction was first.
    Conflict,
    /// Nothing is written, and nobody can tell.
    LostBefore,
    /// It is written, and nobody can tell until it is read.
    LostAfter,
    /// It is written and can be read, but no standby has it, and the primary does not confirm that one does.
    Unshipped,
    /// The process dies before the commit.
    DiesBefore,
    /// The process dies after the commit, before it answers anybody.
    DiesAfter,
}

impl Fault {
    /// Those of a file in the process.
    pub(super) const OF_FILES: [Self; 3] = [Self::Unavailable, Self::DiesBefore, Self::DiesAfter];
    /// Those of a database server.
    pub(super) const OF_SERVERS: [Self; 7] =
        [Self::Unavailable, Self::Conflict, Self::LostBefore, Self::LostAfter, Self::Unshipped, Self::DiesBefore, Self::DiesAfter];
}

/// What a commit touched that the outside looks at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Touched {
    Approval(Ulid),
    Movement(ClientNo, String),
    Settlement(SettlementNo, ClientNo),
}

#[derive(Default)]
struct State {
    primary: MemoryStore,
    /// How to take back the last commits.
    undo: Vec<Undo>,
    /// How many of those the standby has.
    shipped: usize,
    /// What the others touched.
    lacks: Vec<Touched>,
    /// How many of those an old standby has, in a deployment whose standby may lack acknowledged commits.
    old: Option<usize>,
    fault: Option<Fault>,
    /// Whether no standby gets anything.
    alone: bool,
    died: bool,
    failing_reads: u32,
    touched: Vec<Touched>,
    commits: u64,
    /// How many commits were in conflict with what is stored.
    conflicts: u32,
}

/// What another node does.
type Rival = Box<dyn FnOnce() + Send>;

/// See the module.
pub(super) struct SimStore {
    state: Mutex<State>,
    /// What commits first, between what the next commit read and that commit.
    rival: Mutex<Option<Rival>>,
    remote: bool,
}

impl SimStore {
    pub(super) fn new(remote: bool) -> Self {
        Self { state: Mutex::default(), rival: Mutex::default(), remote }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets another node commit before the next commit, or nobody any more.
    pub(super) fn race(&self, rival: Option<Rival>) {
        *self.rival.lock().unwrap_or_else(PoisonError::into_inner) = rival;
    }

    /// Makes the next commit fail.
    pub(super) fn arm(&self, fault: Option<Fault>) {
        self.state().fault = fault;
    }

    /// Whether nothing will fail, as far as is known.
    pub(super) fn is_calm(&self) -> bool {
        let state = self.state();
        state.fault.is_none() && state.failing_reads == 0 && !state.died && !state.alone
    }

    /// Makes the next reads fail.
    pub(super) fn fail_reads(&self, count: u32) {
        self.state().failing_reads = count;
    }

    /// Ends all faults. Returns whether the process that used it died of one.
    pub(super) fn calm(&self) -> bool {
        let mut state = self.state();
        (state.fault, state.failing_reads) = (None, 0);
        std::mem::take(&mut state.died)
    }

    /// Whether the process that used it died.
    pub(super) fn has_died(&self) -> bool {
        self.state().died
    }

    /// From now on no standby gets anything, and no commit is confirmed.
    pub(super) fn be_alone(&self) {
        self.state().alone = true;
    }

    /// A standby is there again, and has everything.
    pub(super) fn confirm(&self) {
        let mut state = self.state();
        state.alone = false;
        state.ship();
    }

    /// What was touched since the last call.
    pub(super) fn touched(&self) -> Vec<Touched> {
        let mut touched = std::mem::take(&mut self.state().touched);
        touched.sort_unstable();
        touched.dedup();
        touched
    }

    /// How many commits were in conflict with what is stored, since the last call.
    pub(super) fn conflicts(&self) -> u32 {
        std::mem::take(&mut self.state().conflicts)
    }

    pub(super) fn commits(&self) -> u64 {
        self.state().commits
    }

    /// The standby takes over. What it lacks is gone. Returns whether it lacked something.
    pub(super) fn fail_over(&self) -> Result<bool, StoreError> {
        self.state().fail_over()
    }

    /// A standby follows no longer, for [`SimStore::fall_back`].
    pub(super) fn keep_old(&self) {
        let mut state = self.state();
        state.old = Some(state.undo.len());
    }

    /// A standby takes over that lacks acknowledged commits, as one may without synchronous replication.
    pub(super) fn fall_back(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        let Some(old) = state.old.take() else { return Ok(()) };
        state.take_back(old)?;
        state.ship();
        Ok(())
    }
}

impl State {
    fn lacks_something(&self) -> bool {
        self.undo.len() > self.shipped
    }

    fn fail_over(&mut self) -> Result<bool, StoreError> {
        self.alone = false;
        if !self.lacks_something() {
            return Ok(false);
        }
        self.take_back(self.shipped)?;
        self.touched.append(&mut self.lacks);
        Ok(true)
    }

    /// Takes commits back until so many are left of those that can be. No standby has what is gone.
    fn take_back(&mut self, left: usize) -> Result<(), StoreError> {
        self.old = self.old.map(|old| old.min(left));
        self.undo.drain(left..).rev().try_for_each(|undo| self.primary.take_back(undo))
    }

    fn apply(&mut self, commit: &Commit) -> Result<(), CommitError> {
        let made = self.primary.commit_for_now(commit);
        self.conflicts += u32::from(matches!(made, Err(CommitError::Conflict(_))));
        self.undo.push(made?);
        self.commits += 1;
        for write in &commit.writes {
            let touched = match write {
                Write::Insert(record) | Write::Replace(record) | Write::Update { record, .. } => match record {
                    Record::Settlement(SettlementRecord { no, client, .. }) => Touched::Settlement(*no, *client),
                    Record::Movement(MovementRecord { client, reference, .. }) => Touched::Movement(*client, reference.as_str().to_owned()),
                    Record::Approval(ApprovalRecord { id, .. }) => Touched::Approval(*id),
                    _ => continue,
                },
                Write::Post(_) | Write::Count { .. } | Write::Floor { .. } | Write::Delete(_) | Write::Absent(_) => continue,
            };
            self.touched.push(touched);
        }
        Ok(())
    }

    /// A commit that the standby has too, if there is one, and with it the earlier ones.
    fn make(&mut self, commit: &Commit) -> Result<(), CommitError> {
        if self.alone {
            return self.make_alone(commit);
        }
        self.apply(commit)?;
        self.ship();
        Ok(())
    }

    /// A commit that only the primary has.
    fn make_alone(&mut self, commit: &Commit) -> Result<(), CommitError> {
        let known = self.touched.len();
        self.apply(commit)?;
        self.lacks.extend_from_slice(&self.touched[known..]);
        Ok(())
    }

    /// The standby gets what it lacks.
    fn ship(&mut self) {
        if self.old.is_none() {
            self.undo.clear();
        }
        self.shipped = self.undo.len();
        self.lacks.clear();
    }

    fn commit(&mut self, commit: &Commit) -> Result<(), CommitError> {
        let lost = || CommitError::Indeterminate(broken());
        if self.died {
            return Err(CommitError::Store(broken()));
        }
        match self.fault.take() {
            None if self.alone => {
                self.make_alone(commit)?;
                Err(lost())
            }
            None => self.make(commit),
            Some(Fault::Unavailable) => Err(CommitError::Store(broken())),
            Some(Fault::Conflict) => Err(CommitError::Conflict(Vec::new())),
            Some(Fault::LostBefore) => Err(lost()),
            Some(Fault::LostAfter) => {
                self.make(commit)?;
                Err(lost())
            }
            Some(Fault::Unshipped) => {
                self.make_alone(commit)?;
                Err(lost())
            }
            Some(Fault::DiesBefore) => {
                self.died = true;
                Err(lost())
            }
            Some(Fault::DiesAfter) => {
                self.make(commit)?;
                self.died = true;
                Err(lost())
            }
        }
    }

    fn read<T>(&mut self, read: impl FnOnce(&MemoryStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.failing_reads > 0 || self.died {
            self.failing_reads = self.failing_reads.saturating_sub(1);
            return Err(broken());
        }
        read(&self.primary)
    }
}

fn broken() -> StoreError {
    StoreError::unavailable("the simulation", "injected fault")
}

impl Store for SimStore {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        let rival = self.rival.lock().unwrap_or_else(PoisonError::into_inner).take();
        // It commits to this very store.
        if let Some(rival) = rival {
            rival();
        }
        self.state().commit(commit)
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.state().read(|store| store.get(key))
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.state().read(|store| store.find(unique))
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.state().read(|store| store.scan(scan))
    }

    fn secure(&self) -> Result<(), StoreError> {
        let mut state = self.state();
        if state.lacks_something() || state.alone { Err(broken()) } else { state.read(|_| Ok(())) }
    }

    fn is_remote(&self) -> bool {
        self.remote
    }
}

/// The same store without faults, for whoever looks from outside.
pub(super) struct Calm(pub(super) std::sync::Arc<SimStore>);

impl Store for Calm {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        self.0.state().make(commit)
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.0.state().primary.get(key)
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.0.state().primary.find(unique)
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.0.state().primary.scan(scan)
    }
}
