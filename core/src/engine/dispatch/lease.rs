//! Leases due tasks. Everything that must be stored before a request leaves is stored in the commit of the lease.

use std::collections::HashMap;

use crate::api::{Action, Lease, Subject, Work};
use crate::error::{Error, Result};
use crate::ids::{ProviderNo, SettlementNo};
use crate::lifecycle::settlement::{Next, SettlementInput};
use crate::lifecycle::{AttemptStatus, ReversalStatus, StateName, attempt, reversal};
use crate::rail::RailAnswer;
use crate::store::record::{Actor, AttemptRecord, EventType, Key, ReversalRecord, TaskKey, TaskKind, TaskRecord};
use crate::store::{Lookup, Scan, Write, typed, typed_all};
use crate::time::Millis;

use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Overlay, ROUNDS, Writer, subject};
use crate::engine::settlement::{Change, Note};

use super::inside::{LATE, subject_of};

/// How many calls to one provider a host has under way. What a slow provider does not answer yet keeps no call to another waiting.
pub const CALLS_AT_ONCE: usize = 256;
/// How soon a payment whose providers do not answer is looked at again, or a task whose provider has as many calls as it may.
const WAIT_MIN: Millis = 1_000;
/// By when it is, even if nothing is expected to change by itself: an operator may add a provider.
const WAIT_MAX: Millis = 30_000;

/// So many rounds of a group try as many tasks as there may be: other nodes compete for them.
const HALF: usize = ROUNDS / 2;
/// The last round of a group, and with it the last chance.
const LAST: usize = ROUNDS - 1;

/// How many tasks are tried in a round of the group. A task whose writes conflict in every round, whatever is read, must not keep the
/// others waiting: fewer and fewer are tried, until it is the first, which the last round puts off.
fn tried(limit: usize, round: usize) -> usize {
    match round {
        0..HALF => limit,
        _ => (limit >> (3 * (round - HALF + 1))).max(limit.min(1)),
    }
}

/// Leases up to `limit` due tasks, and stores what must be stored before their requests leave.
#[derive(Debug, Clone)]
pub struct LeaseTasks {
    /// Maximum number of tasks.
    pub limit: usize,
    /// How many calls to each provider the host has under way already. A provider outside the program that has [`CALLS_AT_ONCE`] gets no
    /// more: its tasks wait, and the others do not.
    pub in_flight: Vec<(ProviderNo, usize)>,
}

impl LeaseTasks {
    /// For a host that has nothing under way.
    pub const fn up_to(limit: usize) -> Self {
        Self { limit, in_flight: Vec::new() }
    }
}

impl Command for LeaseTasks {
    type Output = Vec<Lease>;

    fn is_repeatable(&self) -> bool {
        true
    }

    /// Takes due tasks in the order of their keys, which is fair between clients, and, if there are too few, those that are due but
    /// whose turn is later. An obsolete task is dropped. A task that fails here, whose provider has no room, or whose writes conflict in
    /// every round is postponed, so that it never delays the others.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Vec<Lease>> {
        let (engine, overlay, writer) = (d.engine, &mut *d.overlay, &mut *d.writer);
        if writer.outrun {
            return Ok(Vec::new());
        }
        let due = next(overlay, writer, tried(self.limit, writer.round)).and_then(|due| {
            overlay.look_up(due.iter().filter_map(TaskRecord::subject).flat_map(subject))?;
            Ok(due)
        });
        // If they cannot be read now, the next look takes them again.
        let due = due.inspect_err(|_| writer.outbox.undo())?;
        let mut leases = Vec::with_capacity(due.len());
        let mut in_flight: HashMap<ProviderNo, usize> = self.in_flight.iter().copied().collect();
        for task in due {
            if overlay.touched(&Key::Task(task.key)) {
                continue;
            }
            // Tasks that wait longer look less often: many of them must not keep the store busy.
            let later = overlay.now.saturating_sub(task.since).clamp(WAIT_MIN, WAIT_MAX);
            let prepared = match writer.round {
                LAST => Ok(None),
                _ => engine
                    .prepare(overlay, writer, &task)
                    .and_then(|work| Ok(engine.has_place(&mut in_flight, work.as_ref())?.then_some(work))),
            };
            let work = match prepared {
                Ok(Some(work)) => Ok(work),
                Ok(None) => Err(later),
                Err(_) => Err(engine.config.lease_ms),
            };
            let work = match work {
                Ok(work) => work,
                Err(wait_ms) => {
                    overlay.discard();
                    engine.put_off(overlay, writer, &task, wait_ms);
                    overlay.settle();
                    continue;
                }
            };
            overlay.write(Write::Delete(Key::Task(task.key)));
            match work {
                Some(work) => {
                    let key = writer.task_key(overlay.now + engine.config.lease_ms);
                    overlay.insert(TaskRecord { key, owner: engine.owner, ..task });
                    leases.push(Lease { key, work });
                }
                None => engine.task_done(overlay, writer, &task)?,
            }
            overlay.settle();
        }
        Ok(leases)
    }

    fn touched(leases: &Vec<Lease>) -> usize {
        leases.len().max(1)
    }
}

/// The next tasks to work on, at most `limit`.
fn next(overlay: &mut Overlay<'_>, writer: &mut Writer, limit: usize) -> Result<Vec<TaskRecord>> {
    let mut next: Vec<TaskRecord> = typed_all(overlay.store.scan(&Scan::tasks(TaskKey(i64::MIN), overlay.now, limit))?)?;
    let ahead: Vec<Key> = writer.outbox.ahead(overlay.now, limit.saturating_sub(next.len())).into_iter().map(Key::Task).collect();
    overlay.look_up(ahead.iter().cloned().map(Lookup::Get))?;
    for key in &ahead {
        match typed::<TaskRecord>(overlay.stored(key)?)? {
            Some(task) => next.push(task),
            None => keep_if_added(overlay, writer, key),
        }
    }
    writer.outbox.served(next.last().filter(|_| next.len() >= limit).map(|task| task.key.due()));
    Ok(next)
}

/// A task that is not stored. One that another node leased, or whose command was refused, never will be; one that this very group adds
/// waits for the next look.
fn keep_if_added(overlay: &Overlay<'_>, writer: &mut Writer, key: &Key) {
    if let Key::Task(key) = key
        && overlay.touched(&Key::Task(*key))
    {
        writer.outbox.added(*key, overlay.now);
    }
}

impl Engine {
    /// Whether its provider has room for a call to an operator outside the program, which is counted then. Everything else needs none.
    fn has_place(&self, in_flight: &mut HashMap<ProviderNo, usize>, work: Option<&Work>) -> Result<bool> {
        let Some(Work::Call(call)) = work else { return Ok(true) };
        if self.is_inside(call.provider)? {
            return Ok(true);
        }
        let calls = in_flight.entry(call.provider).or_default();
        *calls += 1;
        Ok(*calls <= CALLS_AT_ONCE)
    }

    fn put_off(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, task: &TaskRecord, wait_ms: Millis) {
        let key = writer.task_key(overlay.now + wait_ms);
        overlay.write(Write::Delete(Key::Task(task.key)));
        overlay.insert(TaskRecord { key, owner: 0, ..task.clone() });
    }

    /// The work that the task requires of the host; `None` if nothing is left to do.
    fn prepare(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, task: &TaskRecord) -> Result<Option<Work>> {
        match task.kind {
            TaskKind::Dispatch => self.prepare_dispatch(overlay, writer, task),
            TaskKind::Inquire => self.prepare_inquiry(overlay, task),
            TaskKind::Reverse => self.prepare_reversal(overlay, writer, task),
            TaskKind::InquireReversal => self.prepare_reversal_inquiry(overlay, task),
            TaskKind::SimulatorCallback => self.prepare_callback(overlay, task),
            TaskKind::Clock => self.clocks.look(self, overlay, writer, task).map(|()| None),
        }
    }

    /// Starts attempt `task.child`. It is stored as submitted before a byte leaves.
    pub(crate) fn prepare_dispatch(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, task: &TaskRecord) -> Result<Option<Work>> {
        let mut change = self.change(overlay, task.settlement)?;
        if change.record.attempts >= task.child {
            let attempt = self.attempt(overlay, task.settlement, task.child)?;
            return match attempt.status {
                AttemptStatus::Started if mutated!(ResendAfterRestart) => {
                    Ok(Some(Work::Call(self.attempt_call(&change.record, &attempt, Action::Submit, task.tries)?)))
                }
                // A host started it before and never reported back: it may or may not have been sent.
                AttemptStatus::Started => {
                    self.attempt_answered(overlay, writer, change, attempt, (&RailAnswer::Unknown).into())?;
                    Ok(None)
                }
                AttemptStatus::Unknown if task.tries == attempt.sends => self.resend(overlay, change, attempt, task),
                // It was to be sent again, and with that its inquiries had ended; but then its operator reported that it has it.
                AttemptStatus::Accepted if task.tries == attempt.sends => {
                    self.begin_inquiries(overlay, writer, TaskKind::Inquire, (task.settlement, task.child))?;
                    Ok(None)
                }
                AttemptStatus::Unknown | AttemptStatus::Accepted => Ok(None),
                AttemptStatus::Completed | AttemptStatus::Declined | AttemptStatus::NotSent => Ok(None),
            };
        }
        if change.expire() {
            change.update(overlay)?;
            return Ok(None);
        }
        if change.record.status.is_final() {
            return Ok(None);
        }
        if change.record.attempts == 0
            && let Err(wait_ms) = self.watch.may_leave(&self.routes(), &mut change)
        {
            // Nothing of it has left: it can still be cancelled, or expire. No clock waits for a provider.
            let key = writer.task_key(overlay.now + wait_ms.clamp(WAIT_MIN, WAIT_MAX));
            overlay.insert(TaskRecord { key, owner: 0, client: None, ..task.clone() });
            return Ok(None);
        }
        let Some(attempt) = self.start_attempt(&mut change, task.child) else { return Ok(None) };
        let call = self.attempt_call(&change.record, &attempt, Action::Submit, task.tries)?;
        change.write(Write::Insert(attempt.into()));
        change.update(overlay)?;
        Ok(Some(Work::Call(call)))
    }

    /// Attempt `n` at the settlement's provider, which the caller must insert; `None` if the settlement is not to be sent.
    pub(crate) fn start_attempt(&self, change: &mut Change<'_>, n: u16) -> Option<AttemptRecord> {
        if change.record.waits_for_user() {
            return None;
        }
        let provider = change.record.provider;
        change.record.attempts = n;
        match change.input(SettlementInput::AttemptStarted, Note::new(None, StateName::Submitted, Actor::System)) {
            Next::To(_) | Next::Stay => {}
            Next::Refuse | Next::Discrepancy => return None,
        }
        let data = format!(r#"{{"provider":"{}"}}"#, self.provider_id(provider));
        change.event(EventType::AttemptStarted, Note::new(None, StateName::Started, Actor::System).child(n).data(data));
        let (settlement, status) = (change.record.no, AttemptStatus::Started);
        Some(AttemptRecord { settlement, n, provider, status, sends: 1, started_at: change.now, answered_at: None })
    }

    /// Sends an attempt again that provably never arrived: the same attempt, under the same rail key.
    fn resend(
        &self,
        overlay: &mut Overlay<'_>,
        mut change: Change<'_>,
        mut attempt: AttemptRecord,
        task: &TaskRecord,
    ) -> Result<Option<Work>> {
        let attempt::Next::To(status) = attempt::resend(attempt.status) else { return Ok(None) };
        let from = Some(attempt.status.name());
        attempt.status = status;
        attempt.sends += 1;
        attempt.started_at = change.now;
        change.input(SettlementInput::AttemptStarted, Note::new(None, StateName::Submitted, Actor::System));
        let data = format!(r#"{{"provider":"{}","sends":{}}}"#, self.provider_id(attempt.provider), attempt.sends);
        change.event(EventType::AttemptStarted, Note::new(from, status.name(), Actor::System).child(attempt.n).data(data));
        let call = self.attempt_call(&change.record, &attempt, Action::Submit, task.tries)?;
        change.write(Write::Replace(attempt.into()));
        change.update(overlay)?;
        Ok(Some(Work::Call(call)))
    }

    fn prepare_inquiry(&self, overlay: &Overlay<'_>, task: &TaskRecord) -> Result<Option<Work>> {
        let attempt = self.attempt(overlay, task.settlement, task.child)?;
        if !attempt.status.is_open() {
            return Ok(None);
        }
        let record = overlay.settlement(task.settlement)?;
        Ok(Some(Work::Call(self.attempt_call(&record, &attempt, Action::Inquire, task.tries)?)))
    }

    fn prepare_reversal(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, task: &TaskRecord) -> Result<Option<Work>> {
        let mut change = self.change(overlay, task.settlement)?;
        let mut reversal = self.reversal_record(overlay, task.settlement, task.child)?;
        match reversal::dispatch(reversal.status) {
            reversal::Next::To(status) => {
                self.submit_reversal(&mut change, &mut reversal, status);
                let call = self.reversal_call(&change.record, &reversal, Action::Reverse, task.tries)?;
                change.write(Write::Replace(reversal.into()));
                change.update(overlay)?;
                Ok(Some(Work::Call(call)))
            }
            reversal::Next::Stay if mutated!(ResendReversal) && matches!(reversal.status, ReversalStatus::Submitted) => {
                Ok(Some(Work::Call(self.reversal_call(&change.record, &reversal, Action::Reverse, task.tries)?)))
            }
            reversal::Next::Stay | reversal::Next::Discrepancy if reversal.status.is_final() => Ok(None),
            // A host sent it before and never reported back.
            reversal::Next::Stay | reversal::Next::Discrepancy => {
                if reversal.status == ReversalStatus::Submitted && reversal.rail_reference.is_none() {
                    self.reversal_answered(overlay, change, reversal, (&RailAnswer::Unknown).into())?;
                }
                self.begin_inquiries(overlay, writer, TaskKind::InquireReversal, (task.settlement, task.child))?;
                Ok(None)
            }
        }
    }

    fn prepare_reversal_inquiry(&self, overlay: &Overlay<'_>, task: &TaskRecord) -> Result<Option<Work>> {
        let reversal = self.reversal_record(overlay, task.settlement, task.child)?;
        if reversal.status.is_final() {
            return Ok(None);
        }
        let record = overlay.settlement(task.settlement)?;
        Ok(Some(Work::Call(self.reversal_call(&record, &reversal, Action::InquireReversal, task.tries)?)))
    }

    fn prepare_callback(&self, overlay: &Overlay<'_>, task: &TaskRecord) -> Result<Option<Work>> {
        let record = overlay.settlement(task.settlement)?;
        let subject = subject_of(task.settlement, task.child);
        let call = match subject {
            Subject::Attempt(no, n) => self.attempt_call(&record, &self.attempt(overlay, no, n)?, Action::Submit, 0)?,
            Subject::Reversal(no, n) => self.reversal_call(&record, &self.reversal_record(overlay, no, n)?, Action::Reverse, 0)?,
        };
        let Some(operator) = self.rail(call.provider)?.inside() else { return Ok(None) };
        let answer = match task.tries {
            LATE => Some(operator.answer(&call)),
            n => operator.callbacks(&call).into_iter().nth(usize::from(n)).map(|(_, answer)| answer),
        };
        Ok(answer.map(|answer| Work::Callback { subject, answer }))
    }

    pub(crate) fn attempt(&self, overlay: &Overlay<'_>, no: SettlementNo, n: u16) -> Result<AttemptRecord> {
        overlay.get(&Key::Attempt((no, n)))?.ok_or_else(|| Error::internal(format!("attempt {n} of settlement {} is missing", no.0)))
    }

    pub(crate) fn reversal_record(&self, overlay: &Overlay<'_>, no: SettlementNo, n: u16) -> Result<ReversalRecord> {
        overlay.get(&Key::Reversal((no, n)))?.ok_or_else(|| Error::internal(format!("reversal {n} of settlement {} is missing", no.0)))
    }
}
