//! When a commit's events are numbered: after the commit, by one of the nodes, or at once in a program that runs alone.

use std::collections::{BTreeMap, HashMap};

use crate::engine::Engine;
#[cfg(feature = "sandbox")]
use crate::engine::group::InOrder;
use crate::engine::group::{Fair, Overlay, Owner, Turns, Writer};
use crate::engine::review::{Mark, queue};
use crate::error::{Error, Result};
use crate::ids::SettlementNo;
#[cfg(feature = "sandbox")]
use crate::store::record::FeedRecord;
use crate::store::record::{Key, LoggedChange, ReviewReason, ReviewRecord, SANDBOX_KEY, SettlementRecord, UnbookedRecord, UnloggedRecord};
use crate::time::Millis;

use super::{changes_of, statement::lines_of};
#[cfg(feature = "sandbox")]
use super::{last_position, log_head};

/// How an engine numbers events. A trait, so that a program that never opens a public log does not link one.
pub(crate) trait Numbering: Send + Sync {
    /// Prepares the store, or refuses one that is numbered in another way.
    fn begin(&self, engine: &Engine) -> Result<()>;
    /// Adds to the group's commit what its events require.
    fn note_events(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer) -> Result<()>;
    /// The order of what clients cause.
    fn turns(&self) -> Box<dyn Turns>;
    /// Makes leases other than those of tasks due now: this engine's if it is leaving, otherwise those of others. Returns how many.
    fn free(&self, engine: &Engine, overlay: &mut Overlay<'_>, leaving: bool) -> Result<usize>;
    /// Adds to the commit what the marks change in the queue of what waits for a person. Returns whether the settlement, which was
    /// `flagged` before or not, still waits for one.
    fn review(&self, overlay: &mut Overlay<'_>, record: &SettlementRecord, flagged: bool, marks: &[Mark]) -> Result<bool>;
    /// Whether a reversal waits for a person because something contradicts what was proved. `agrees`: its outcome is what a statement
    /// says, or what a person decided who saw that.
    fn is_contradicted(&self, overlay: &Overlay<'_>, reversal: (SettlementNo, u16), agrees: bool) -> Result<bool>;
    /// Whether end users are told what happens.
    #[cfg(feature = "push")]
    fn tells_users(&self) -> bool;
}

/// Numbers events after the commit, in the log of all clients' events, as a server does.
pub(crate) struct Deferred;

impl Numbering for Deferred {
    fn begin(&self, engine: &Engine) -> Result<()> {
        if engine.store.get(&Key::Meta(SANDBOX_KEY.to_owned()))?.is_some() {
            return Err(Error::internal("the store belongs to an app's sandbox: a server needs a separate one"));
        }
        engine.begin_log()?;
        engine.follow_setup().map(drop)
    }

    fn note_events(&self, _: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer) -> Result<()> {
        // What waits for the same turn shares a row: one, unless clients have a backlog.
        let mut rows: BTreeMap<Millis, Vec<LoggedChange>> = BTreeMap::new();
        let mut turns: HashMap<Owner, Millis> = HashMap::new();
        let mut changes = changes_of(&overlay.commit)?;
        if mutated!(EventSkipped) {
            for change in changes.iter_mut().filter(|change| change.events.len() > 1) {
                change.events.remove(0);
            }
        }
        let mut counts: HashMap<Owner, usize> = HashMap::new();
        changes.iter().for_each(|change| *counts.entry((change.client, change.mode)).or_default() += 1);
        for change in changes {
            let owner = (change.client, change.mode);
            let count = counts.get(&owner).copied().unwrap_or(1);
            let turn = *turns.entry(owner).or_insert_with(|| writer.unlogged.draw(owner, count, overlay.now));
            rows.entry(turn).or_default().push(change);
        }
        for (turn, changes) in rows {
            overlay.insert(UnloggedRecord { no: writer.task_key(turn).0, changes });
        }
        let lines = lines_of(&overlay.commit);
        if !lines.is_empty() {
            overlay.insert(UnbookedRecord { no: writer.task_key(overlay.now).0, lines });
        }
        overlay.settle();
        Ok(())
    }

    fn turns(&self) -> Box<dyn Turns> {
        Box::new(Fair::default())
    }

    fn free(&self, engine: &Engine, overlay: &mut Overlay<'_>, leaving: bool) -> Result<usize> {
        if leaving {
            engine.leave_log(overlay)?
        } else {
            engine.take_over_log(overlay)?
        }
        engine.free_queues(overlay, &|owner| engine.frees(owner, leaving))
    }

    fn review(&self, overlay: &mut Overlay<'_>, record: &SettlementRecord, flagged: bool, marks: &[Mark]) -> Result<bool> {
        queue(overlay, record, flagged, marks)
    }

    fn is_contradicted(&self, overlay: &Overlay<'_>, reversal: (SettlementNo, u16), agrees: bool) -> Result<bool> {
        let row: Option<ReviewRecord> = overlay.get(&Key::Review(reversal))?;
        Ok(row.is_some_and(|row| match row.reason {
            ReviewReason::Discrepancy | ReviewReason::StatementDiffers => true,
            ReviewReason::InStatement => !agrees,
            ReviewReason::NoEndForADay => false,
        }))
    }

    #[cfg(feature = "push")]
    fn tells_users(&self) -> bool {
        true
    }
}

/// Without a log and with a single writer, gives each event its place in its owner's feed at once, as [`crate::sandbox`] does.
#[cfg(feature = "sandbox")]
pub(crate) struct Immediate;

#[cfg(feature = "sandbox")]
impl Numbering for Immediate {
    fn begin(&self, engine: &Engine) -> Result<()> {
        match log_head(&*engine.store)? {
            None => Ok(()),
            Some(_) => Err(Error::internal("the store belongs to a server: a sandbox needs a separate one")),
        }
    }

    fn note_events(&self, engine: &Engine, overlay: &mut Overlay<'_>, _: &mut Writer) -> Result<()> {
        let changes = changes_of(&overlay.commit)?;
        let Some(LoggedChange { client, mode, .. }) = changes.first() else { return Ok(()) };
        // There is one client, and therefore one feed.
        let mut position = last_position(&*engine.store, *client, *mode)?;
        for change in &changes {
            for (index, event) in change.events.iter().enumerate() {
                position += 1;
                overlay.insert(FeedRecord {
                    client: change.client,
                    mode: change.mode,
                    position,
                    settlement: change.settlement,
                    n: change.sequence(index),
                    at: event.at,
                    leaf: position - 1,
                });
            }
        }
        overlay.settle();
        Ok(())
    }

    fn turns(&self) -> Box<dyn Turns> {
        Box::new(InOrder)
    }

    fn free(&self, _: &Engine, _: &mut Overlay<'_>, _: bool) -> Result<usize> {
        Ok(0)
    }

    /// Nobody reviews anything here, so there is no queue.
    fn review(&self, _: &mut Overlay<'_>, _: &SettlementRecord, _: bool, marks: &[Mark]) -> Result<bool> {
        Ok(marks.iter().any(|mark| matches!(mark, Mark::Open(..))))
    }

    fn is_contradicted(&self, _: &Overlay<'_>, _: (SettlementNo, u16), _: bool) -> Result<bool> {
        Ok(false)
    }

    #[cfg(feature = "push")]
    fn tells_users(&self) -> bool {
        false
    }
}
