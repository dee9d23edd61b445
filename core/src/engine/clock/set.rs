//! A client stops the clock of its sandbox, lets it run, or puts it ahead.

use crate::api::{Caller, ClockView};
use crate::clock::{Clock, ClockRequest};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay, Prefetch, Writer};
use crate::engine::once::Answers;
use crate::error::{Error, Result};
use crate::ids::ClientNo;
use crate::store::record::{AuditAction, ClockRecord, Key, SettlementRecord, TaskKey, TaskRecord, Version};
use crate::store::{Lookup, Scan, Write, typed, typed_all};
use crate::time::{Millis, rfc3339};

/// How many stops a clock makes on its way wherever something is due. After that its steps are longer, so that whatever waits for it,
/// an advance comes to an end.
const STOPS: u32 = 4_096;
/// No clock is put ahead beyond this time: the start of the year 2100.
const LATEST: Millis = 4_102_444_800_000;
/// How many tasks are looked through at a client's first change for those that are under way.
const LOOKED_THROUGH: usize = 1_024;
/// How much later than now the turn of a task is at most.
const LATEST_TURN: Millis = 60_000;

/// Changes the clock of a client's sandbox.
///
/// A clock that is put ahead travels, and each task that becomes due on its way is carried out at its own time: it has arrived when
/// [`Engine::clock`] says so. If it is put ahead again on its way, it goes farther; if it is stopped without being put ahead, it stays
/// where it is. It never goes back.
#[derive(Debug, Clone)]
pub struct SetClock {
    /// The client.
    pub caller: Caller,
    /// The change.
    pub request: ClockRequest,
}

impl Command for SetClock {
    type Output = ClockView;

    fn is_repeatable(&self) -> bool {
        self.request.advance_ms == 0
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClockView> {
        let clock = d.engine.change_clock(d.overlay, d.writer, self.caller.client, self.request)?;
        Ok(clock.view(d.overlay.now))
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([Lookup::Get(Key::Clock(self.caller.client))]);
    }

    fn deed(&self, _: Option<&ClockView>) -> Option<Deed> {
        Some(Deed::new(AuditAction::SetClock))
    }
}

impl Answers for SetClock {
    type View = ClockView;

    fn view(&self, _: &Decision<'_, '_>, set: &ClockView) -> Result<ClockView> {
        Ok(set.clone())
    }
}

impl ClockRecord {
    /// A clock that was never changed.
    fn of(client: ClientNo, now: Millis) -> Self {
        Self {
            client,
            ahead: 0,
            stands_at: None,
            goal: None,
            stays: false,
            stops: 0,
            stopped_at: now,
            alarm: None,
            since: now,
            version: Version::default(),
        }
    }

    /// The clock after a request.
    fn asked(&mut self, request: ClockRequest, host: Millis) -> Result<()> {
        let now = self.clock().at(host);
        let frozen = request.frozen.unwrap_or(if self.goal.is_some() { self.stays } else { self.stands_at.is_some() });
        let stops_there = request.advance_ms == 0 && request.frozen == Some(true);
        self.stays = frozen;
        match self.goal.filter(|_| !stops_there) {
            None if request.advance_ms == 0 => self.arrive(now, host),
            // On its way as before.
            Some(_) if request.advance_ms == 0 => {}
            goal => {
                let goal = goal.unwrap_or(now).saturating_add(request.advance_ms);
                if goal > LATEST {
                    return Err(Error::field("/advance_ms", "out_of_range", "must not put the clock ahead beyond the year 2099"));
                }
                (self.goal, self.stands_at, self.stops, self.stopped_at) = (Some(goal), Some(now), STOPS, host);
            }
        }
        Ok(())
    }

    /// It is where it was to go.
    pub(super) fn arrive(&mut self, now: Millis, host: Millis) {
        let Clock { ahead, frozen_at } = Clock::set_to(now, host, self.stays);
        (self.goal, self.ahead, self.stands_at, self.stopped_at) = (None, ahead, frozen_at, host);
    }

    fn view(&self, host: Millis) -> ClockView {
        let frozen = if self.goal.is_some() { self.stays } else { self.stands_at.is_some() };
        ClockView { advancing_to: self.goal.map(rfc3339), ..Clock::view(self.clock().at(host), host, frozen) }
    }
}

impl Engine {
    /// Changes the clock of a client's sandbox, and has it looked at.
    pub(crate) fn change_clock(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        client: ClientNo,
        request: ClockRequest,
    ) -> Result<ClockRecord> {
        let read = overlay.clock(client)?;
        let mut clock = read.clone().unwrap_or_else(|| ClockRecord::of(client, overlay.now));
        clock.asked(request, overlay.now)?;
        // Known before the commit: whoever then finds no clock takes the gateway's time.
        self.clocks.learn(client);
        if read.is_none() {
            hold(overlay, client)?;
        }
        let now = overlay.now;
        self.put_clock(overlay, writer, clock.clone(), read.as_ref(), Some(now));
        Ok(clock)
    }

    /// The clock of a client's sandbox.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn clock(&self, caller: &Caller) -> Result<ClockView> {
        let found: Option<ClockRecord> = typed(self.store.get(&Key::Clock(caller.client))?)?;
        let host = self.now();
        Ok(found.unwrap_or_else(|| ClockRecord::of(caller.client, host)).view(host))
    }
}

/// Marks what is under way for the client's sandbox: its clock must not move on before that is done. Later tasks are marked when they
/// are added.
fn hold(overlay: &mut Overlay<'_>, client: ClientNo) -> Result<()> {
    let scan = Scan::tasks(TaskKey(i64::MIN), overlay.now + LATEST_TURN, LOOKED_THROUGH);
    let mut tasks: Vec<TaskRecord> = typed_all(overlay.store.scan(&scan)?)?;
    tasks.retain(|task| task.client.is_none() && !overlay.touched(&Key::Task(task.key)));
    overlay.look_up(tasks.iter().map(|task| Lookup::Get(Key::Settlement(task.settlement))))?;
    for task in tasks {
        let settlement: Option<SettlementRecord> = overlay.get(&Key::Settlement(task.settlement))?;
        if settlement.is_some_and(|settlement| settlement.client == client && settlement.mode.is_sandbox()) {
            overlay.write(Write::Replace(TaskRecord { client: Some(client), ..task }.into()));
        }
    }
    Ok(())
}
