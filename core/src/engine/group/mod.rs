//! Group commit: commands that wait together are decided one after the other over an overlay and become durable in one commit; each
//! gets its own result. If another node changed what they read, the whole group is decided again: that is a round.

#[cfg(feature = "testkit")]
mod any;
mod command;
mod estimates;
mod numbers;
mod overlay;
mod prefetch;
#[cfg(feature = "sandbox")]
mod together;
mod turns;
mod writer;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::Mode;
use crate::store::record::{Key, Record, SettlementRecord};
use crate::store::{Clash, Commit, CommitError, Lookup, Unique, Write};
use crate::time::Millis;

use super::{Engine, ROOM};
#[cfg(feature = "testkit")]
pub use any::{AnyCommand, AnyOutput};
pub(crate) use command::SHARED;
pub use command::{Command, Decision, Deed, Pending, Prefetch, Slot};
pub(crate) use overlay::{Overlay, overflow};
use overlay::{earlier, reference_of};
pub(crate) use prefetch::{account, subject};
#[cfg(feature = "sandbox")]
pub use together::Undone;
#[cfg(feature = "sandbox")]
pub(crate) use turns::InOrder;
pub(crate) use turns::{Fair, Owner, Turns};
pub(crate) use writer::Writer;
use writer::next_journal;

/// How many times a group is decided if other nodes keep changing what it read.
pub(crate) const ROUNDS: usize = 8;

/// What a host needs to know about a group's commit. All fields are empty if it changed nothing.
#[derive(Debug, Default)]
pub struct Effects {
    /// How many settlements were created.
    pub created: usize,
    /// The settlements that changed after their creation, for those who follow them.
    pub changed: Vec<SettlementNo>,
    /// When the earliest new task is due.
    pub due: Option<Millis>,
    /// Whether there are new events that are not numbered yet.
    pub unlogged: bool,
    /// The feeds that grew.
    pub fed: Vec<(ClientNo, Mode)>,
    /// When the earliest delivery is due that this commit added or made due.
    pub deliveries_due: Option<Millis>,
}

impl Effects {
    /// The effects of two commits.
    fn and(mut self, other: Self) -> Self {
        self.changed.extend(other.changed);
        self.fed.extend(other.fed);
        Self {
            created: self.created + other.created,
            due: earlier(self.due, other.due),
            unlogged: self.unlogged || other.unlogged,
            deliveries_due: earlier(self.deliveries_due, other.deliveries_due),
            ..self
        }
    }
}

impl Engine {
    /// Decides the commands in order, makes their writes durable in one commit, and sets each command's result.
    ///
    /// A failed command leaves no trace and does not affect the others. If another node made a conflicting change, the whole group
    /// is decided again over the new state; if that happens each time, its halves are decided by themselves.
    pub fn execute(&self, group: &mut [&mut dyn Pending]) -> Effects {
        let mut writer = self.writer.lock();
        if let Err(error) = writer.refresh(&*self.store, || self.numbering.turns()) {
            return refuse(group, &|_| error.clone());
        }
        let mut known: Vec<SettlementRecord> = Vec::new();
        // Those from here on were read after the last round; the others may have changed since and are read again.
        let mut fresh = 0;
        writer.logged_before.clear();
        writer.outrun = false;
        self.ages.look(&*self.env);
        let drawn = group.iter().map(|command| command.numbers(self)).sum();
        for round in 0..ROUNDS {
            writer.round = round;
            writer.undo();
            group.iter_mut().for_each(|command| command.reset());
            let mut overlay = Overlay::new(&*self.store, self.env.now());
            let ready =
                writer.journals.provide(&*self.store, overlay.now, drawn).and_then(|()| self.prefetch(&mut overlay, &writer, group));
            if let Err(error) = ready {
                return refuse(group, &|_| error.clone());
            }
            for (n, record) in known.iter().enumerate() {
                overlay.know_reference(record, n >= fresh);
            }
            fresh = known.len();
            for command in &mut *group {
                if command.decide(&mut Decision { engine: self, overlay: &mut overlay, writer: &mut writer }) {
                    overlay.settle();
                } else {
                    overlay.discard();
                }
            }
            if overlay.commit.writes.is_empty() {
                writer.keep();
                self.secure_replays(group);
                return Effects::default();
            }
            if let Err(error) = self.numbering.note_events(self, &mut overlay, &mut writer) {
                return refuse(group, &|_| error.clone());
            }
            let committed = self.store.commit(&overlay.commit);
            self.note_writes(overlay.commit.writes.len(), &committed);
            if committed.is_err() {
                writer.estimates.forget();
            }
            let failed = match committed {
                Ok(()) => {
                    writer.keep();
                    writer.estimates.learn(&overlay);
                    return overlay.effects();
                }
                Err(CommitError::Conflict(clashes)) => self.learn(&overlay.commit, &clashes, &mut known, &mut writer),
                Err(CommitError::BalanceGuard(_) | CommitError::UsageGuard(_)) => Ok(()),
                Err(CommitError::Indeterminate(_)) if self.is_durable(&overlay.commit) => {
                    writer.keep();
                    return overlay.effects();
                }
                Err(CommitError::Indeterminate(cause)) => {
                    let cause = Arc::new(cause);
                    let doubt = |repeatable| Error::in_doubt(ErrorCode::StoreUnavailable, repeatable).because(cause.clone());
                    return refuse(group, &doubt);
                }
                Err(CommitError::Store(cause)) => Err(cause.into()),
            };
            if let Err(error) = failed {
                return refuse(group, &|_| error.clone());
            }
        }
        drop(writer);
        // One of them may be what conflicts each time: the others need not fail with it.
        if let Some(half) = group.len().checked_div(2).filter(|half| *half > 0) {
            let (one, other) = group.split_at_mut(half);
            return self.execute(one).and(self.execute(other));
        }
        group.iter_mut().for_each(|command| command.reset());
        refuse(group, &|_| Error::with(ErrorCode::StoreUnavailable, "the store changes too fast; nothing was done, try again"))
    }

    /// Whether the store has refused no commit, as a full disk does, since one that takes as much room was made.
    pub fn takes_writes(&self) -> bool {
        self.refused_writes.load(Ordering::Relaxed) == 0
    }

    fn note_writes(&self, writes: usize, committed: &Result<(), CommitError>) {
        let refused = self.refused_writes.load(Ordering::Relaxed);
        let now_refused = match committed {
            Err(CommitError::Indeterminate(_) | CommitError::Store(_)) => writes.clamp(1, ROOM).max(refused),
            // Where a payment finds no room, something smaller may.
            Ok(()) if writes >= refused => 0,
            // What a conflict or a limit refuses was never written.
            Ok(()) | Err(CommitError::Conflict(_) | CommitError::BalanceGuard(_) | CommitError::UsageGuard(_)) => refused,
        };
        // Written only when it changes: every commit passes here.
        if now_refused != refused {
            self.refused_writes.store(now_refused, Ordering::Relaxed);
        }
    }

    /// Runs a single command.
    ///
    /// # Errors
    /// Those of the command; `store_unavailable`.
    pub fn run<C: Command>(&self, command: C) -> Result<C::Output> {
        let mut slot = Slot::new(command);
        self.execute(&mut [&mut slot]);
        slot.into_result().unwrap_or_else(|| Err(Error::new(ErrorCode::Internal)))
    }

    /// Runs several commands of one type in one group, and returns their results in order.
    pub fn run_all<C: Command>(&self, commands: impl IntoIterator<Item = C>) -> Vec<Result<C::Output>> {
        let mut slots: Vec<Slot<C>> = commands.into_iter().map(Slot::new).collect();
        let mut group: Vec<&mut dyn Pending> = slots.iter_mut().map(|slot| slot as &mut dyn Pending).collect();
        self.execute(&mut group);
        slots.into_iter().map(|slot| slot.into_result().unwrap_or_else(|| Err(Error::new(ErrorCode::Internal)))).collect()
    }

    /// For a group of replays only. A replay repeats the promise of the first response, which the caller may never have got because
    /// a standby had not confirmed the commit.
    fn secure_replays(&self, group: &mut [&mut dyn Pending]) {
        if !mutated!(ReplayBeforeStandby)
            && group.iter().any(|command| command.is_replay())
            && let Err(cause) = self.store.secure()
        {
            let error = Error::from(cause);
            group.iter_mut().filter(|command| command.is_replay()).for_each(|command| command.refuse(&|_| error.clone()));
        }
    }

    /// Reads the conflicting records, so that the next round takes them into account.
    fn learn(&self, commit: &Commit, clashes: &[Clash], known: &mut Vec<SettlementRecord>, writer: &mut Writer) -> Result<()> {
        // A batch that is sent again clashes in every element: one round trip looks all of them up.
        let unique = |clash: &Clash| match commit.writes.get(clash.write) {
            Some(Write::Insert(Record::Settlement(record))) => Some(reference_of(record)),
            Some(Write::Insert(Record::Feed(feed))) => Some(Unique::FeedOf(feed.settlement, feed.n)),
            Some(_) | None => None,
        };
        let wanted: Vec<Lookup> = clashes.iter().filter_map(unique).map(Lookup::Find).collect();
        let mut found = if wanted.is_empty() { Vec::new() } else { self.store.look_up(&wanted)? }.into_iter();
        let mut in_use = false;
        for clash in clashes {
            let there = unique(clash).and_then(|_| found.next()?.pop());
            let taken = matches!(there, Some(Record::Settlement(_)));
            match there {
                Some(Record::Settlement(record)) => known.push(record),
                Some(Record::Feed(feed)) => writer.logged_before.push((feed.settlement, feed.n)),
                Some(_) | None => {}
            }
            match commit.writes.get(clash.write) {
                Some(Write::Insert(Record::Settlement(_)) | Write::Post(_)) if !taken => writer.journals.meet(next_journal(&*self.store)?),
                // A trace has begun under the same number: a change of credit has no transfer that would clash.
                Some(Write::Insert(Record::Event(event))) if event.n == 1 => writer.journals.meet(next_journal(&*self.store)?),
                Some(Write::Delete(Key::Task(_)) | Write::Update { record: Record::Queue(_), .. }) => writer.outrun = true,
                Some(Write::Insert(
                    Record::Task(_) | Record::Unlogged(_) | Record::Unbooked(_) | Record::Audit(_) | Record::Delivery(_),
                )) => in_use = true,
                Some(_) | None => {}
            }
        }
        if in_use {
            writer.go_elsewhere();
        }
        writer.catch_up(&*self.store)
    }

    /// Whether a commit with an unknown outcome was made, and lasts.
    fn is_durable(&self, commit: &Commit) -> bool {
        let made = mutated!(AnswerBeforeCommit) || self.was_committed(commit);
        made && (answered_early!(commit) || self.store.secure().is_ok())
    }

    /// Whether a commit with an unknown outcome was made. A commit is all or nothing, so records that never change prove it.
    ///
    /// A single audit record proves nothing, because another node may have written an equal one under the same number. A log head
    /// names this node and is proof as long as nobody has appended since.
    fn was_committed(&self, commit: &Commit) -> bool {
        let there = |record: &Record| self.store.holds(record).unwrap_or(false);
        let added = commit.writes.iter().filter_map(Write::inserted);
        if added.clone().any(|record| matches!(record, Record::LogHead(_)) && there(record)) {
            return true;
        }
        let mut witnesses = added.filter(|record| {
            matches!(
                record,
                Record::Event(_)
                    | Record::Audit(_)
                    | Record::Nonce(_)
                    | Record::Token(_)
                    | Record::SimPayment(_)
                    | Record::EndpointSecret(_)
            )
        });
        witnesses.next().is_some_and(there) && witnesses.all(there)
    }
}

/// Refuses all commands: nothing of the group was made durable.
fn refuse(group: &mut [&mut dyn Pending], why: &dyn Fn(bool) -> Error) -> Effects {
    group.iter_mut().for_each(|command| command.refuse(why));
    Effects::default()
}
