//! Giving leases back: those of owners that are gone, and one's own at the end.

use crate::engine::Engine;
use crate::engine::group::{Command, Decision};
use crate::error::Result;
use crate::store::record::{Key, TaskKey, TaskRecord};
use crate::store::{Scan, Write, typed_all};
use crate::time::Millis;

/// Makes the tasks of owners that are gone due now; how many. For a host that has the store to itself, at its start: then
/// those others are gone, and waiting for their leases to end would only cost time.
#[derive(Debug, Clone)]
pub struct Recover;

/// Gives back what this engine has leased and not reported, so that other nodes need not wait for its leases to end; how
/// many. For a host that has nothing in flight any more, at its end.
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

/// Frees tasks and queues, and hands the log over: what others hold, or, `leaving`, what this engine does.
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
    /// Whether what this owner has leased is made due now: all but what is this engine's own, or, as it leaves, just that.
    pub(crate) fn frees(&self, owner: i64, leaving: bool) -> bool {
        (owner == self.owner) == leaving
    }
}
