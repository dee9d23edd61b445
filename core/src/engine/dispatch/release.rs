//! Returning leases: those of owners that are gone, and this engine's own at shutdown.

use crate::engine::Engine;
use crate::engine::group::{Command, Decision};
use crate::error::Result;
use crate::store::record::{Key, TaskKey, TaskRecord};
use crate::store::{Scan, Write, typed_all};
use crate::time::Millis;

/// Makes the leased tasks of other owners due now, and returns how many. For a host that does not share its store, at startup: the
/// other owners are gone, so there is no point in waiting for their leases to end.
#[derive(Debug, Clone)]
pub struct Recover;

/// Returns the leases of this engine that were not reported, so that other nodes need not wait for them to end, and returns how
/// many. For a host with nothing in flight, at shutdown.
#[derive(Debug, Clone)]
pub struct Release;

impl Command for Recover {
    type Output = usize;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<usize> {
        free(d, false)
    }

    fn touched(freed: &usize) -> usize {
        (*freed).max(1)
    }
}

impl Command for Release {
    type Output = usize;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<usize> {
        free(d, true)
    }

    fn touched(freed: &usize) -> usize {
        (*freed).max(1)
    }
}

/// Frees tasks and queues, and hands over the log: those of other owners or, if `leaving`, those of this engine.
fn free(d: &mut Decision<'_, '_>, leaving: bool) -> Result<usize> {
    let engine = d.engine;
    let mut freed = engine.numbering.free(engine, d.overlay, leaving)?;
    let mut after = TaskKey(i64::MIN);
    loop {
        let page = Scan::tasks(after, Millis::MAX >> 20, 1_000);
        let page: Vec<TaskRecord> = typed_all(engine.store.scan(&page)?)?;
        let Some(last) = page.last() else { return Ok(freed) };
        after = last.key;
        for task in page.into_iter().filter(|task| task.owner != 0 && engine.frees(task.owner, leaving)) {
            d.overlay.write(Write::Delete(Key::Task(task.key)));
            let key = d.writer.task_key(d.overlay.now);
            d.overlay.insert(TaskRecord { key, owner: 0, ..task });
            freed += 1;
        }
    }
}

impl Engine {
    /// Whether this owner's leases are freed: if `leaving`, only this engine's own; otherwise those of all others.
    pub(crate) fn frees(&self, owner: i64, leaving: bool) -> bool {
        (owner == self.owner) == leaving
    }
}
