//! The clocks of clients' sandboxes, which their clients stop and put ahead.
//!
//! Whatever belongs to a settlement of the sandbox has the time of its client's clock: [`Engine::time_of`]. Leases, tokens, nonces, the
//! audit trail and the order of the outbox have the gateway's own, which is also that of everything live.
//!
//! What waits for a time in the sandbox is a task under a key that no host's time reaches ([`TaskKey::waiting`]), once its client has
//! changed the clock. A single task of the outbox, the alarm, looks at the clock when the next of them is due, and makes it due for
//! everybody ([`look`]). So a change of the clock costs the same however much waits for it, and the hosts of all nodes carry out what
//! is due as ever.

mod look;
mod set;

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{PoisonError, RwLock};

use crate::api::RailCall;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::engine::group::{Overlay, Owner, Writer};
use crate::error::Result;
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::Mode;
use crate::store::record::{ClockRecord, Key, SettlementRecord, TaskKey, TaskKind, TaskRecord, WAITING};
use crate::store::{Scan, Store, Write, typed_all};
use crate::time::Millis;

pub use set::SetClock;

/// The clocks that clients have changed. A trait, so that a program with one client, which sets its host's clock, links none of it.
pub(crate) trait Clocks: Send + Sync {
    /// Whether this client has changed the clock of its sandbox, as far as this node knows. If not, no command reads a clock.
    fn knows(&self, client: ClientNo) -> bool;
    /// Whether clients can change their clocks at all, so that what waits must be found by its client.
    fn any(&self) -> bool;
    /// Notes that a client has changed its clock.
    fn learn(&self, client: ClientNo);
    /// Notes the clients that have changed a clock at other nodes since the last call.
    fn follow(&self, store: &dyn Store, now: Millis) -> Result<()>;
    /// Has a payment that waits for its user end at its `expires_at`.
    fn end_wait(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer, record: &SettlementRecord) -> Result<()>;
    /// Carries out [`TaskKind::Clock`].
    fn look(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer, alarm: &TaskRecord) -> Result<()>;
}

/// The clocks that clients of a server have changed.
pub(crate) struct Changed {
    clients: RwLock<HashSet<ClientNo>>,
    /// When other nodes' changes were looked for last, successfully.
    looked_at: AtomicI64,
}

impl Changed {
    /// Those in the store.
    pub(crate) fn begin(store: &dyn Store, now: Millis) -> Result<Self> {
        let all: Vec<ClockRecord> = typed_all(store.scan(&Scan::clocks_since(Millis::MIN, usize::MAX))?)?;
        let clients = RwLock::new(all.into_iter().map(|clock| clock.client).collect());
        Ok(Self { clients, looked_at: AtomicI64::new(now) })
    }
}

impl Clocks for Changed {
    fn knows(&self, client: ClientNo) -> bool {
        self.clients.read().unwrap_or_else(PoisonError::into_inner).contains(&client)
    }

    fn any(&self) -> bool {
        true
    }

    fn learn(&self, client: ClientNo) {
        self.clients.write().unwrap_or_else(PoisonError::into_inner).insert(client);
    }

    fn follow(&self, store: &dyn Store, now: Millis) -> Result<()> {
        // After an outage, however long it was, from where it began.
        let since = self.looked_at.load(Ordering::Relaxed).min(now) - LOOK_BACK;
        let new: Vec<ClockRecord> = typed_all(store.scan(&Scan::clocks_since(since, usize::MAX))?)?;
        new.into_iter().filter(|clock| !self.knows(clock.client)).for_each(|clock| self.learn(clock.client));
        self.looked_at.store(now, Ordering::Relaxed);
        Ok(())
    }

    /// The host looks for what has expired; if the client has changed its clock, that clock does.
    fn end_wait(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer, record: &SettlementRecord) -> Result<()> {
        record.expires_at.map_or(Ok(()), |at| engine.look_by(overlay, writer, record.owner(), at))
    }

    fn look(&self, engine: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer, alarm: &TaskRecord) -> Result<()> {
        engine.look_at_clock(overlay, writer, alarm)
    }
}

/// Nobody changes a clock but the host.
#[cfg(feature = "sandbox")]
pub(crate) struct Hosts;

#[cfg(feature = "sandbox")]
impl Clocks for Hosts {
    fn knows(&self, _: ClientNo) -> bool {
        false
    }

    fn any(&self) -> bool {
        false
    }

    fn learn(&self, _: ClientNo) {}

    fn follow(&self, _: &dyn Store, _: Millis) -> Result<()> {
        Ok(())
    }

    /// Nothing looks for what has expired: a task does, when it has.
    fn end_wait(&self, _: &Engine, overlay: &mut Overlay<'_>, writer: &mut Writer, record: &SettlementRecord) -> Result<()> {
        if let Some(at) = record.expires_at {
            let todo = Todo { kind: TaskKind::Clock, settlement: record.no, child: 0, tries: 0, since: overlay.now };
            overlay.insert(todo.under(writer.task_key(at), None));
        }
        Ok(())
    }

    fn look(&self, engine: &Engine, overlay: &mut Overlay<'_>, _: &mut Writer, alarm: &TaskRecord) -> Result<()> {
        let mut change = engine.change(overlay, alarm.settlement)?;
        if change.expire() {
            change.update(overlay)?;
        }
        Ok(())
    }
}

/// How far before its last look [`Engine::follow_clocks`] looks: further than the clocks of two nodes differ, plus the time of a commit.
const LOOK_BACK: Millis = 60_000;

/// How soon a clock that waits for something to be done is looked at again if nobody reports that it is.
const PATIENCE: Millis = 1_000;
/// Among how many tasks under way the one of a call is looked for.
const LEASES: usize = 1_024;

/// What is to be done, before it has a key.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Todo {
    pub(crate) kind: TaskKind,
    pub(crate) settlement: SettlementNo,
    /// The attempt or reversal.
    pub(crate) child: u16,
    pub(crate) tries: u16,
    pub(crate) since: Millis,
}

impl Todo {
    pub(crate) fn under(self, key: TaskKey, client: Option<ClientNo>) -> TaskRecord {
        let Self { kind, settlement, child, tries, since } = self;
        TaskRecord { key, kind, settlement, child, tries, since, owner: 0, client }
    }
}

impl ClockRecord {
    pub(crate) fn clock(&self) -> Clock {
        Clock { ahead: self.ahead, frozen_at: self.stands_at }
    }

    /// The gateway's time at which the clock will show `at`: not before `host`, and never while the clock stands before that.
    pub(crate) fn due(&self, at: Millis, host: Millis) -> Millis {
        self.clock().host_time(at, host).unwrap_or(WAITING)
    }

    /// The latest time, by the gateway's clock, that it can have been when this one showed `at`; not after `now`.
    pub(crate) fn latest(&self, at: Millis, now: Millis) -> Millis {
        match self.stands_at {
            None => at.saturating_sub(self.ahead).max(self.stopped_at).min(now),
            Some(stands_at) if at < stands_at => self.stopped_at,
            Some(_) => now,
        }
    }

    /// About when, by the gateway's clock, this one showed `at`: exactly, unless it was put ahead since, by as much as that was. A clock
    /// that stands shows one time for as long as it does: then it is when it came to stand there. Before its client first changed it, it
    /// was the gateway's.
    pub(crate) fn shown(&self, at: Millis, now: Millis) -> Millis {
        match self.stands_at {
            _ if at < self.since => at,
            Some(stands_at) if at >= stands_at => self.stopped_at,
            Some(_) | None => at.saturating_sub(self.ahead).max(self.since).min(now),
        }
    }
}

impl Engine {
    /// The time of whatever belongs to a client in this mode: in the sandbox, by the client's clock; live, always the gateway's own.
    pub(crate) fn time_of(&self, overlay: &Overlay<'_>, owner: Owner) -> Result<Millis> {
        Ok(self.clock_of(overlay, owner)?.map_or(overlay.now, |clock| clock.clock().at(overlay.now)))
    }

    /// [`Engine::time_of`] now, outside a command.
    pub(crate) fn time_now(&self, owner: Owner) -> Result<Millis> {
        self.time_of(&Overlay::new(&*self.store, self.now()), owner)
    }

    /// Whether the owner's time may differ from the gateway's, as far as this node knows.
    pub(crate) fn has_own_clock(&self, (client, mode): Owner) -> bool {
        mode.is_sandbox() && self.clocks.knows(client)
    }

    /// The clock that a client has changed; `None` if its time is the gateway's.
    pub(crate) fn clock_of(&self, overlay: &Overlay<'_>, (client, mode): Owner) -> Result<Option<ClockRecord>> {
        if self.has_own_clock((client, mode)) { overlay.clock(client) } else { Ok(None) }
    }

    /// The mark of a task that is to be done now, if the owner's clock must not move on before.
    pub(crate) fn held_by(&self, owner: Owner) -> Option<ClientNo> {
        self.has_own_clock(owner).then_some(owner.0)
    }

    /// Adds a task for when the owner's clock shows `at`.
    pub(crate) fn schedule(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, owner: Owner, at: Millis, todo: Todo) -> Result<()> {
        let client = (owner.1.is_sandbox() && self.clocks.any()).then_some(owner.0);
        let Some(clock) = self.clock_of(overlay, owner)? else {
            let key = writer.task_key(at);
            overlay.insert(todo.under(key, client));
            return Ok(());
        };
        if at <= clock.clock().at(overlay.now) {
            let key = writer.task_key(overlay.now);
            overlay.insert(todo.under(key, client));
            return Ok(());
        }
        let key = writer.waiting_key(at);
        overlay.insert(todo.under(key, client));
        self.look_by(overlay, writer, owner, at)
    }

    /// Has the owner's clock looked at when it shows `at`, if the client has changed it.
    pub(crate) fn look_by(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, owner: Owner, at: Millis) -> Result<()> {
        if let Some(clock) = self.clock_of(overlay, owner)? {
            let due = clock.due(at, overlay.now);
            if due < WAITING {
                self.ring(overlay, writer, clock, due);
            }
        }
        Ok(())
    }

    /// [`Engine::done_for`], for a task.
    pub(crate) fn task_done(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, task: &TaskRecord) -> Result<()> {
        // A look at a clock is nothing that the clock waits for.
        let client = task.client.filter(|_| task.kind != TaskKind::Clock);
        client.map_or(Ok(()), |client| self.done_for(overlay, writer, (client, Mode::Sandbox)))
    }

    /// A task or a delivery of a client's sandbox is done: if its clock waits for that to move on, it is looked at.
    pub(crate) fn done_for(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, owner: Owner) -> Result<()> {
        if let Some(clock) = self.clock_of(overlay, owner)?.filter(|clock| clock.goal.is_some()) {
            let now = overlay.now;
            self.ring(overlay, writer, clock, now);
        }
        Ok(())
    }

    /// Makes sure that the clock is looked at by `due`, the gateway's time.
    fn ring(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, clock: ClockRecord, due: Millis) {
        if clock.alarm.is_none_or(|alarm| alarm.due() > due) {
            let read = clock.clone();
            self.put_clock(overlay, writer, clock, Some(&read), Some(due));
        }
    }

    /// Writes a changed clock, with a new alarm if it is to be looked at. An alarm that was set before rings in vain.
    fn put_clock(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        mut clock: ClockRecord,
        read: Option<&ClockRecord>,
        due: Option<Millis>,
    ) {
        if let Some(due) = due {
            let key = writer.task_key(due);
            let todo = Todo { kind: TaskKind::Clock, settlement: SettlementNo(0), child: 0, tries: 0, since: overlay.now };
            overlay.insert(todo.under(key, Some(clock.client)));
            clock.alarm = Some(key);
        }
        match read {
            None => overlay.insert(clock),
            Some(read) => {
                clock.version = read.version.next();
                overlay.update(clock, read.version);
            }
        }
    }

    /// Learns which clocks other nodes' clients have changed. Call it every second.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn follow_clocks(&self) -> Result<()> {
        self.clocks.follow(&*self.store, self.now())
    }
}

impl Engine {
    /// The operator inside the gateway takes its time to answer a call. The lease of that call ends by the client's clock, if the client
    /// has changed it: otherwise the clock would stand until it ends by the gateway's.
    pub(crate) fn wait_for_late(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, call: &RailCall) -> Result<()> {
        let owner = (call.client, call.mode);
        if self.clock_of(overlay, owner)?.is_none() {
            return Ok(());
        }
        let scan = Scan::tasks_of(call.client, TaskKey::new(overlay.now, 0), call.not_after.saturating_add(PATIENCE), LEASES);
        let leased: Vec<TaskRecord> = typed_all(overlay.store.scan(&scan)?)?;
        let of_call = |task: &TaskRecord| task.subject() == Some(call.subject) && task.owner == self.owner;
        if let Some(task) = leased.into_iter().find(|task| of_call(task) && !overlay.touched(&Key::Task(task.key))) {
            let end = self.time_of(overlay, owner)? + self.config.lease_ms;
            let key = writer.waiting_key(end);
            move_task(overlay, task, key);
            self.look_by(overlay, writer, owner, end)?;
        }
        Ok(())
    }
}

/// The same task under another key.
fn move_task(overlay: &mut Overlay<'_>, task: TaskRecord, key: TaskKey) {
    overlay.write(Write::Delete(Key::Task(task.key)));
    overlay.insert(TaskRecord { key, owner: 0, ..task });
}
