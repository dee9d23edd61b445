//! What happens when the alarm of a clock rings: what has become due is made due for everybody, and a clock that is on its way goes on.
//!
//! A clock that a client puts ahead travels. It stands at each time at which something is due until that is done, so that everything
//! happens at its own time and in order, as if the client had waited.

use super::{PATIENCE, move_task};
use crate::engine::Engine;
use crate::engine::group::{Overlay, Writer};
use crate::error::Result;
use crate::ids::ClientNo;
use crate::ledger::Mode;
use crate::store::record::{ClockRecord, Key, Record, SettlementRecord, TaskKey, TaskKind, TaskRecord, WAITING};
use crate::store::{Scan, typed_all};
use crate::time::Millis;

/// How much is made due in one commit: all clients share the writer.
const PAGE: usize = 64;
/// How many pages of tasks that another node stored for the gateway's clock are put under the client's in one commit.
const ADOPTED: usize = 16;
/// The shortest step of a clock that has used up its stops.
const LONG_STEP: Millis = 3_600_000;
/// The first key of a task that waits for a client's clock.
const FIRST_WAITING: i64 = WAITING << 20;

impl Engine {
    /// Carries out the alarm of a clock. One that rings in vain changes nothing.
    pub(super) fn look_at_clock(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, alarm: &TaskRecord) -> Result<()> {
        let Some(client) = alarm.client else { return Ok(()) };
        let Some(read) = overlay.clock(client)? else { return Ok(()) };
        self.clocks.learn(client);
        let mut clock = read.clone();
        clock.alarm = clock.alarm.filter(|own| *own != alarm.key);
        let next = self.go_on(overlay, writer, &mut clock)?;
        let due = next.filter(|due| *due < WAITING && clock.alarm.is_none_or(|own| own.due() > *due));
        if due.is_some() || clock != read {
            self.put_clock(overlay, writer, clock, Some(&read), due);
        }
        Ok(())
    }

    /// Makes due what is due by the clock, and moves it on if nothing is left to do where it stands. Returns when to look again, by
    /// the gateway's time.
    fn go_on(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, clock: &mut ClockRecord) -> Result<Option<Millis>> {
        let (client, host) = (clock.client, overlay.now);
        // What this group has added is found once it is stored.
        if added(overlay, client) || self.adopt(overlay, writer, client)? {
            return Ok(Some(host));
        }
        // On its way: where it stands, the next stop, the end.
        for _ in 0..3 {
            let now = clock.clock().at(host);
            let released = self.release_waiting(overlay, writer, client, now)?;
            let expired = self.expire_of(overlay, client, now, PAGE)?;
            let queues = self.follow_queues(overlay, clock)?;
            if released == PAGE || expired == PAGE {
                return Ok(Some(host));
            }
            let first = self.first_waiting(overlay, client, now)?;
            let Some(goal) = clock.goal else { return Ok(first.map(|at| clock.due(at, host))) };
            let in_time = host < clock.stopped_at.saturating_add(self.config.lease_ms);
            if released > 0 || in_time && (queues.busy || is_busy(overlay, client)?) {
                return Ok(Some(host + PATIENCE));
            }
            if now >= goal {
                clock.arrive(now, host);
            } else {
                let soonest = if clock.stops == 0 { now + LONG_STEP } else { now };
                let stop = first.into_iter().chain(queues.next).min().unwrap_or(goal).max(soonest).min(goal);
                clock.stand_at(stop, host);
            }
        }
        Ok(Some(host))
    }

    /// Puts under the client's clock what a node stored that did not know it yet, or what was stored before its first change.
    fn adopt(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, client: ClientNo) -> Result<bool> {
        let (mut after, mut adopted) = (TaskKey::new(overlay.now, u32::MAX), false);
        for _ in 0..ADOPTED {
            let page: Vec<TaskRecord> = typed_all(overlay.store.scan(&Scan::tasks_of(client, after, WAITING - 1, PAGE))?)?;
            let full = page.len() == PAGE;
            after = page.last().map_or(after, |last| last.key);
            for task in page.into_iter().filter(|task| task.owner == 0 && is_timed(task.kind)) {
                if !overlay.touched(&Key::Task(task.key)) {
                    let key = writer.waiting_key(task.key.due());
                    move_task(overlay, task, key);
                    adopted = true;
                }
            }
            if !full {
                break;
            }
        }
        Ok(adopted)
    }

    /// Makes due what waits for the client's clock to show `now` or less; returns how much.
    fn release_waiting(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, client: ClientNo, now: Millis) -> Result<usize> {
        let due: Vec<TaskRecord> = typed_all(overlay.store.scan(&waiting(client, now, PAGE))?)?;
        let mut released = 0;
        for task in due {
            if !overlay.touched(&Key::Task(task.key)) {
                let key = writer.task_key(overlay.now);
                move_task(overlay, task, key);
                released += 1;
            }
        }
        Ok(released)
    }

    /// The first time after `now` at which something of the client's sandbox is due, other than deliveries.
    fn first_waiting(&self, overlay: &Overlay<'_>, client: ClientNo, now: Millis) -> Result<Option<Millis>> {
        let task: Vec<TaskRecord> = typed_all(overlay.store.scan(&waiting(client, WAITING - 1, 1))?)?;
        let task = task.first().and_then(|task| task.key.waits_until());
        // What is due until `now` was done in this commit.
        let scan = Scan::expired_of(client, Mode::Sandbox, Millis::MAX, PAGE);
        let ends: Vec<SettlementRecord> = typed_all(overlay.store.scan(&scan)?)?;
        let end = ends.into_iter().filter_map(|record| record.expires_at).find(|at| *at > now);
        Ok(task.into_iter().chain(end).min())
    }
}

/// What waits for the client's clock to show `until` or less, earliest first.
fn waiting(client: ClientNo, until: Millis, limit: usize) -> Scan {
    Scan::tasks_of(client, TaskKey(FIRST_WAITING - 1), WAITING + until.clamp(0, WAITING - 1), limit)
}

/// Whether the group has added a task of the client's sandbox.
fn added(overlay: &Overlay<'_>, client: ClientNo) -> bool {
    let is_its = |task: &TaskRecord| task.client == Some(client) && task.kind != TaskKind::Clock;
    overlay.inserted().any(|record| matches!(record, Record::Task(task) if is_its(task)))
}

/// Whether something of the client's sandbox is due or under way.
fn is_busy(overlay: &Overlay<'_>, client: ClientNo) -> Result<bool> {
    let stored: Vec<TaskRecord> = typed_all(overlay.store.scan(&Scan::tasks_of(client, TaskKey(i64::MIN), WAITING - 1, PAGE))?)?;
    Ok(stored.iter().any(|task| task.kind != TaskKind::Clock && !overlay.touched(&Key::Task(task.key))))
}

/// Whether a task waits for a time, and not for its turn.
const fn is_timed(kind: TaskKind) -> bool {
    match kind {
        TaskKind::Inquire | TaskKind::InquireReversal | TaskKind::SimulatorCallback => true,
        TaskKind::Dispatch | TaskKind::Reverse | TaskKind::Clock => false,
    }
}

impl ClockRecord {
    fn stand_at(&mut self, stop: Millis, host: Millis) {
        (self.stands_at, self.stopped_at, self.stops) = (Some(stop), host, self.stops.saturating_sub(1));
    }
}
