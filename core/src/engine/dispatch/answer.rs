//! A rail's answer, and its consequences for the attempt, the settlement, its money and the next step.

use crate::api::{Action, Subject};
use crate::error::Result;
use crate::ids::{ProviderNo, SettlementNo, Ulid};
use crate::lifecycle::settlement::SettlementInput;
use crate::lifecycle::{AttemptStatus, ReversalStatus, attempt};
use crate::money::Money;
use crate::rail::{FailureCode, RailAnswer};
use crate::route::{Payment, RouteRefusal};
use crate::store::record::{
    Actor, AttemptRecord, EventType, Key, ReversalRecord, ReviewReason, SettlementRecord, TaskKey, TaskKind, TaskRecord,
};
use crate::store::{Lookup, MOST_APART_MS, Write};
use crate::time::Millis;
use crate::trace::write_string;

use crate::engine::Engine;
use crate::engine::clock::Todo;
use crate::engine::group::{Command, Decision, Overlay, Owner, Prefetch, Writer, subject};
use crate::engine::review::Mark;
use crate::engine::settlement::{Change, Note};

use super::inside::subject_of;

/// The delays of the inquiries about an open attempt or reversal, counted from when it became unclear; afterwards one per hour.
const INQUIRIES: [Millis; 6] = [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000];
const HOUR: Millis = 3_600_000;
/// How long an attempt or reversal may stay open before a person must look at it.
const REVIEW_AFTER: Millis = 86_400_000;
/// How many times an attempt is sent if it provably never arrived.
const MOST_SENDS: u16 = 3;

/// A rail's answer to a call, or a callback.
#[derive(Debug, Clone)]
pub struct ReportAnswer {
    /// The attempt or reversal that the answer is about.
    pub subject: Subject,
    /// The answer.
    pub answer: RailAnswer,
    /// The lease under which the rail was asked; `None` for an unsolicited callback, or if it was asked outside the outbox.
    pub lease: Option<TaskKey>,
}

impl Command for ReportAnswer {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    /// Repeated and outdated answers change nothing. The lease under which the rail was asked ends.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let (engine, Self { subject, answer, lease }) = (d.engine, self);
        // If the lease ran out, another host may have the task by now: the answer still counts. Its key may even belong to another
        // task by now, which this answer must not touch.
        let task: Option<TaskRecord> = match *lease {
            Some(key) => d.overlay.get(&Key::Task(key))?.filter(|task: &TaskRecord| task.subject() == Some(*subject)),
            None => None,
        };
        if let Some(task) = &task {
            d.overlay.write(Write::Delete(Key::Task(task.key)));
        }
        let (still_open, sent_at) = match *subject {
            Subject::Attempt(no, n) => {
                // The settlement first: its version guarantees that the attempt read after it is current.
                let change = engine.change(d.overlay, no)?;
                let attempt = engine.attempt(d.overlay, no, n)?;
                let told = engine.told(d.overlay, &change.record, &attempt)?;
                let done = attempt.answered_at.filter(|_| lease.is_none() && attempt.status == AttemptStatus::Completed);
                let outrun = lease.is_some() && task.is_none() && attempt.sends > 1;
                let (provider, sent_at) = (attempt.provider, attempt.started_at);
                let asked = Asked { task: task.as_ref(), provider, sent_at, done_at: done, outrun };
                let answer = engine.weigh(d.overlay, told.as_ref().unwrap_or(answer), &change, &asked)?;
                let inquired = task.as_ref().is_some_and(|t| t.kind == TaskKind::Inquire);
                if *answer == RailAnswer::NotSent && inquired && engine.may_resend(&attempt) {
                    engine.send_again(d.overlay, d.writer, change.record.owner(), &attempt);
                    (false, sent_at)
                } else {
                    (engine.attempt_answered(d.overlay, d.writer, change, attempt, answer.into())?, sent_at)
                }
            }
            Subject::Reversal(no, n) => {
                let change = engine.change(d.overlay, no)?;
                let reversal = engine.reversal_record(d.overlay, no, n)?;
                let done = reversal.completed_at.filter(|_| lease.is_none() && reversal.status == ReversalStatus::Completed);
                let (provider, sent_at) = (change.record.provider, reversal.updated_at);
                let asked = Asked { task: task.as_ref(), provider, sent_at, done_at: done, outrun: false };
                let answer = match engine.weigh(d.overlay, answer, &change, &asked)? {
                    // The rail accepted it once, so not finding it now proves nothing.
                    RailAnswer::NotSent if reversal.rail_reference.is_some() && done.is_none() => &RailAnswer::Unknown,
                    other => other,
                };
                (engine.reversal_answered(d.overlay, change, reversal, answer.into())?, sent_at)
            }
        };
        let Some(task) = task else { return Ok(()) };
        match task.kind {
            TaskKind::Inquire | TaskKind::InquireReversal if still_open => {
                let proof_at = (*answer == RailAnswer::NotSent).then(|| sent_at + engine.not_found_after());
                engine.ask_again(d.overlay, d.writer, &task, proof_at)?;
            }
            TaskKind::Reverse if still_open => {
                engine.begin_inquiries(d.overlay, d.writer, TaskKind::InquireReversal, (task.settlement, task.child))?;
            }
            TaskKind::Dispatch
            | TaskKind::Inquire
            | TaskKind::Reverse
            | TaskKind::InquireReversal
            | TaskKind::SimulatorCallback
            | TaskKind::Clock => {}
        }
        engine.task_done(d.overlay, d.writer, &task)
    }

    /// An operator that calls back once more, as it got no answer, is told that it need not do so again.
    fn confirms_earlier(&self) -> bool {
        self.lease.is_none() && !mutated!(CallbackBeforeStandby)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add(self.lease.map(|key| Lookup::Get(Key::Task(key))));
        prefetch.add(subject(self.subject));
    }
}

impl TaskRecord {
    /// The attempt or reversal that the task is about; `None` if it is about a clock.
    pub(crate) fn subject(&self) -> Option<Subject> {
        match self.kind {
            TaskKind::Dispatch | TaskKind::Inquire => Some(Subject::Attempt(self.settlement, self.child)),
            TaskKind::SimulatorCallback => Some(subject_of(self.settlement, self.child)),
            TaskKind::Reverse | TaskKind::InquireReversal => Some(Subject::Reversal(self.settlement, self.child)),
            TaskKind::Clock => None,
        }
    }
}

/// What a rail's answer is about.
struct Asked<'a> {
    /// The task for which the rail was asked.
    task: Option<&'a TaskRecord>,
    provider: ProviderNo,
    /// When it was last stored before it left.
    sent_at: Millis,
    /// When it was done, if it was and nobody asked.
    done_at: Option<Millis>,
    /// Whether it may have been sent again since this answer was given.
    outrun: bool,
}

impl Engine {
    /// Downgrades "not sent" to "unknown" unless it is proof. That the rail could not be reached is. "Not found" is proof
    /// only from a rail that declares it authoritative, and only if the rail was asked when nothing could be in flight any more. An
    /// answer reported under an expired lease may belong to an older inquiry and proves nothing. What was `done` so long ago that the
    /// rail must have been asked later is contradicted without a lease, too: that moves no money, and a person looks at it.
    ///
    /// A refusal is no proof either if it is reported under an expired lease and the attempt was sent more than once: it may be that of
    /// an earlier request, of which the rail kept nothing, so that it did not find it later and took the next one.
    fn weigh<'a>(&self, overlay: &Overlay<'_>, answer: &'a RailAnswer, change: &Change<'_>, asked: &Asked<'_>) -> Result<&'a RailAnswer> {
        let Asked { task, provider, sent_at, done_at, outrun } = *asked;
        let clock = self.clock_of(overlay, change.record.owner())?;
        let inside = self.rail(provider).is_ok_and(|rail| rail.inside().is_some());
        let age = |asked_at| match &clock {
            None => self.ages.age(&*self.env, sent_at, asked_at),
            // A client's clock moves on only when nothing is under way to an operator inside the gateway.
            Some(_) if inside => change.now - sent_at,
            // On the way to any other, time passes as it does.
            Some(clock) => self.ages.age(&*self.env, clock.latest(sent_at, asked_at), asked_at),
        };
        let asked_late =
            |task: &TaskRecord| age(task.key.due() - self.config.lease_ms) >= self.not_found_after() || mutated!(NotFoundTooEarly);
        let contradicts = |done_at| change.now - done_at >= self.not_found_after() && self.proves_not_sent(provider, Action::Inquire);
        let proof = task.map_or_else(
            || done_at.is_some_and(contradicts) || mutated!(StaleLeaseAccepted),
            |task| match task.kind {
                TaskKind::Dispatch => self.proves_not_sent(provider, Action::Submit),
                TaskKind::Reverse => self.proves_not_sent(provider, Action::Reverse),
                TaskKind::Inquire => asked_late(task) && self.proves_not_sent(provider, Action::Inquire),
                TaskKind::InquireReversal => asked_late(task) && self.proves_not_sent(provider, Action::InquireReversal),
                TaskKind::SimulatorCallback | TaskKind::Clock => false,
            },
        );
        Ok(match answer {
            RailAnswer::Unknown if mutated!(ReleaseOnUnknown) => &RailAnswer::NotSent,
            RailAnswer::NotSent if !proof => &RailAnswer::Unknown,
            RailAnswer::Declined { .. } if outrun => &RailAnswer::Unknown,
            RailAnswer::NotSent
            | RailAnswer::Completed { .. }
            | RailAnswer::Accepted { .. }
            | RailAnswer::Declined { .. }
            | RailAnswer::Unknown
            | RailAnswer::Returned { .. } => answer,
        })
    }

    /// Whether to send an attempt again after an inquiry proved that it never arrived: it got lost on the way, or its host
    /// died before sending it. If the rail treats a repeated request as the same one, sending it again is better than
    /// failing or trying another provider.
    fn may_resend(&self, attempt: &AttemptRecord) -> bool {
        let idempotent = self.routes().provider(attempt.provider).is_some_and(|spec| spec.capabilities.idempotent_submit);
        idempotent && attempt.status == AttemptStatus::Unknown && attempt.sends < MOST_SENDS
    }

    fn send_again(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, owner: Owner, attempt: &AttemptRecord) {
        let (settlement, child, since) = (attempt.settlement, attempt.n, overlay.now);
        let key = writer.task_key(overlay.now);
        let todo = Todo { kind: TaskKind::Dispatch, settlement, child, tries: attempt.sends, since };
        overlay.insert(todo.under(key, self.held_by(owner)));
    }

    /// How long after it was stored a payment may still turn up at a rail that has not seen it yet: it may be sent until its lease
    /// ends, and then be in flight for as long again. Another node may have sent it, whose clock is behind.
    fn not_found_after(&self) -> Millis {
        let apart = if self.is_remote() { 2 * MOST_APART_MS } else { 0 };
        2 * self.config.lease_ms + apart
    }

    /// Applies an answer to an attempt, and returns whether the attempt is still open.
    pub(crate) fn attempt_answered(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        mut change: Change<'_>,
        mut attempt: AttemptRecord,
        said: Said<'_>,
    ) -> Result<bool> {
        let (from, answer) = (attempt.status, said.answer);
        let note = |to: AttemptStatus| Note::new(Some(from.name()), to.name(), said.by).child(attempt.n);
        match attempt::transition(from, answer.kind()) {
            attempt::Next::Stay => return Ok(from.is_open()),
            attempt::Next::Contradiction => {
                change.input(SettlementInput::Contradiction, note(from).data(describe(answer, None)));
            }
            attempt::Next::PaidAndBounced => {
                let no = change.record.no;
                let paid = RailAnswer::Completed { rail_reference: None };
                self.attempt_answered(overlay, writer, change, attempt.clone(), Said { answer: &paid, by: said.by })?;
                attempt.status = AttemptStatus::Completed;
                overlay.settle();
                let change = self.change(overlay, no)?;
                return self.attempt_answered(overlay, writer, change, attempt, said);
            }
            attempt::Next::Bounced => {
                // A bounce while a reversal is in flight would give the money back twice: a person must look at it.
                let input = if change.record.reversing == 0 { SettlementInput::Bounced } else { SettlementInput::Contradiction };
                change.input(input, note(from).data(describe(answer, None)));
            }
            attempt::Next::To(to) => {
                let (settlement, owner) = (change.record.no, change.record.owner());
                let follow = self.take_answer(overlay, &mut change, &mut attempt, to, said)?;
                change.write(Write::Replace(attempt.clone().into()));
                change.update(overlay)?;
                match follow {
                    Follow::NextProvider => {
                        let (key, child) = (writer.task_key(overlay.now), attempt.n + 1);
                        let todo = Todo { kind: TaskKind::Dispatch, settlement, child, tries: 0, since: overlay.now };
                        overlay.insert(todo.under(key, self.held_by(owner)));
                    }
                    // Each attempt has one chain of inquiries, which starts when its outcome is first unclear.
                    Follow::Ask if from == AttemptStatus::Started => {
                        self.begin_inquiries(overlay, writer, TaskKind::Inquire, (settlement, attempt.n))?;
                    }
                    Follow::Ask | Follow::Nothing => {}
                }
                return Ok(attempt.status.is_open());
            }
        }
        change.update(overlay)?;
        Ok(from.is_open())
    }

    /// Moves the attempt to the state that an answer leads to, and the settlement with it.
    pub(crate) fn take_answer(
        &self,
        overlay: &Overlay<'_>,
        change: &mut Change<'_>,
        attempt: &mut AttemptRecord,
        to: AttemptStatus,
        said: Said<'_>,
    ) -> Result<Follow> {
        let note = Note::new(Some(attempt.status.name()), to.name(), said.by).child(attempt.n);
        change.event(EventType::AttemptAnswered, note.data(describe(said.answer, None)));
        attempt.status = to;
        attempt.answered_at = Some(change.now);
        if let RailAnswer::Completed { rail_reference: Some(reference) } | RailAnswer::Accepted { rail_reference: Some(reference) } =
            said.answer
        {
            change.more().rail_reference = Some(reference.clone());
        }
        self.follow(overlay, change, attempt, said)
    }

    /// Applies the attempt's new state to the settlement.
    fn follow(&self, overlay: &Overlay<'_>, change: &mut Change<'_>, attempt: &AttemptRecord, said: Said<'_>) -> Result<Follow> {
        if change.record.status.is_final() || attempt.n != change.record.attempts {
            return Ok(Follow::Nothing);
        }
        let note = |change: &Change<'_>| Note::new(None, change.record.status.name(), said.by).child(attempt.n);
        Ok(match attempt.status {
            AttemptStatus::Completed => {
                change.input(SettlementInput::AttemptCompleted, note(change));
                Follow::Nothing
            }
            AttemptStatus::Accepted => {
                change.input(SettlementInput::AttemptAccepted, note(change));
                Follow::Ask
            }
            AttemptStatus::Unknown => {
                change.input(SettlementInput::AttemptUnknown, note(change));
                if mutated!(FailOverOnUnknown)
                    && let Some(provider) = self.next_provider(overlay, change, attempt)?
                {
                    change.rehold(provider);
                    return Ok(Follow::NextProvider);
                }
                Follow::Ask
            }
            AttemptStatus::Declined | AttemptStatus::NotSent => {
                let (code, rail_code, elsewhere_ok) = refusal(said.answer);
                let next = if elsewhere_ok { self.next_provider(overlay, change, attempt)? } else { None };
                match next {
                    Some(provider) => {
                        change.input(SettlementInput::AttemptDeadRouteLeft, note(change));
                        change.rehold(provider);
                        Follow::NextProvider
                    }
                    None => {
                        change.failure(code, rail_code);
                        let data = format!(r#"{{"code":"{}"}}"#, code.as_str());
                        change.input(SettlementInput::AttemptDeadNoRoute, note(change).data(data));
                        Follow::Nothing
                    }
                }
            }
            AttemptStatus::Started => Follow::Nothing,
        })
    }

    /// The next provider on the route as configured now; one that does not answer only if there is no other. Never one that was tried
    /// before, wherever the route has it by now.
    fn next_provider(&self, overlay: &Overlay<'_>, change: &Change<'_>, attempt: &AttemptRecord) -> Result<Option<ProviderNo>> {
        let record = &change.record;
        let mut tried = vec![attempt.provider];
        for n in 1..attempt.n {
            tried.push(self.attempt(overlay, record.no, n)?.provider);
        }
        let routes = self.routes();
        let mut steps = routes.steps(&payment(record));
        steps.retain(|step| !tried.contains(&step.no));
        let next = |out| steps.iter().find(|step| step.out == out);
        Ok(next(None).or_else(|| next(Some(RouteRefusal::Unavailable))).map(|step| step.no))
    }

    /// Starts a chain of inquiries about an attempt or a reversal, each of which has one: an attempt when its outcome is first unclear, and
    /// a reversal when its task to send it ends before it does.
    pub(crate) fn begin_inquiries(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        kind: TaskKind,
        (settlement, child): (SettlementNo, u16),
    ) -> Result<()> {
        let owner = overlay.settlement(settlement)?.owner();
        let since = self.time_of(overlay, owner)?;
        let todo = Todo { kind, settlement, child, tries: 0, since };
        if mutated!(InquiredTwice) {
            self.schedule(overlay, writer, owner, since + INQUIRIES[0], todo)?;
        }
        self.schedule(overlay, writer, owner, since + INQUIRIES[0], todo)
    }

    /// Schedules the next inquiry of the chain, or one in between at the time from which an answer that came too early would be proof.
    /// After a day the settlement is flagged for a person, and the inquiries continue.
    fn ask_again(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, task: &TaskRecord, proof_at: Option<Millis>) -> Result<()> {
        let &TaskRecord { kind, settlement, child, since, .. } = task;
        let (next, owner) = (task.tries.saturating_add(1), overlay.settlement(settlement)?.owner());
        let now = self.time_of(overlay, owner)?;
        let regular = match INQUIRIES.get(usize::from(next)) {
            Some(after) => (since + after).max(now + 1_000),
            None => now + HOUR,
        };
        let (due, tries) = match proof_at {
            Some(at) if now < at && at < regular => (at, task.tries),
            Some(_) | None => (regular, next),
        };
        self.schedule(overlay, writer, owner, due, Todo { kind, settlement, child, tries, since })?;
        if now - since >= REVIEW_AFTER {
            overlay.settle();
            self.call_a_person(overlay, task)?;
        }
        Ok(())
    }

    fn call_a_person(&self, overlay: &mut Overlay<'_>, task: &TaskRecord) -> Result<()> {
        let mut change = self.change(overlay, task.settlement)?;
        let reversal = match task.kind {
            TaskKind::InquireReversal => Some(self.reversal_record(overlay, task.settlement, task.child)?),
            TaskKind::Dispatch | TaskKind::Inquire | TaskKind::Reverse | TaskKind::SimulatorCallback | TaskKind::Clock => None,
        };
        if reversal.as_ref().map_or(change.record.needs_review, |reversal| reversal.needs_review) {
            return Ok(());
        }
        change.mark(Mark::Open(reversal.as_ref().map_or(0, |reversal| reversal.n), ReviewReason::NoEndForADay));
        if let Some(reversal) = reversal {
            change.write(Write::Replace(ReversalRecord { needs_review: true, ..reversal }.into()));
        }
        let state = change.record.status.name();
        let note = Note::new(Some(state), state, Actor::System)
            .child(task.child)
            .data(r#"{"needs_review":true,"reason":"no_end_for_a_day"}"#.to_owned());
        let kind = match (task.kind, change.record.status.is_final()) {
            (TaskKind::InquireReversal, _) | (_, true) => EventType::ReversalUnknown,
            (_, false) => EventType::SettlementUnknown,
        };
        change.event(kind, note);
        change.update(overlay)?;
        Ok(())
    }
}

/// A settlement, as far as its route depends on it.
pub(crate) fn payment(record: &SettlementRecord) -> Payment<'_> {
    Payment {
        mode: record.mode,
        to: &record.to,
        money: Money::from_minor(record.amount, record.currency),
        pinned: record.more.as_ref().and_then(|more| more.pinned.as_deref()),
        seed: record.reference.as_str(),
        // The fee was agreed when it was accepted.
        agreed: &[],
    }
}

/// The next step for a settlement.
pub(crate) enum Follow {
    Nothing,
    Ask,
    NextProvider,
}

/// An answer, and who vouches for it.
#[derive(Clone, Copy)]
pub(crate) struct Said<'a> {
    pub(crate) answer: &'a RailAnswer,
    pub(crate) by: Actor,
}

impl<'a> From<&'a RailAnswer> for Said<'a> {
    fn from(answer: &'a RailAnswer) -> Self {
        Self { answer, by: actor_of(answer) }
    }
}

/// "Unknown" and "not sent" are our own conclusions; everything else is the rail's answer.
fn actor_of(answer: &RailAnswer) -> Actor {
    match answer {
        RailAnswer::Unknown | RailAnswer::NotSent => Actor::System,
        RailAnswer::Completed { .. } | RailAnswer::Accepted { .. } | RailAnswer::Declined { .. } | RailAnswer::Returned { .. } => {
            Actor::Rail
        }
    }
}

/// Why it failed, and whether another provider may be tried.
pub(crate) fn refusal(answer: &RailAnswer) -> (FailureCode, Option<String>, bool) {
    match answer {
        RailAnswer::Declined { code, elsewhere_ok, rail_code } => (*code, rail_code.clone(), *elsewhere_ok),
        RailAnswer::NotSent => (FailureCode::ProviderOffline, None, true),
        RailAnswer::Completed { .. } | RailAnswer::Accepted { .. } | RailAnswer::Unknown | RailAnswer::Returned { .. } => {
            (FailureCode::Other, None, false)
        }
    }
}

/// The answer as an event's data: one canonical JSON object, with sorted keys.
pub(crate) fn describe(answer: &RailAnswer, reversal: Option<Ulid>) -> String {
    let mut out = format!(r#"{{"answer":"{}""#, answer.kind().as_str());
    let mut text = |name: &str, value: &str| {
        out.push_str(&format!(r#","{name}":"#));
        write_string(&mut out, value);
    };
    match answer {
        RailAnswer::Completed { rail_reference } | RailAnswer::Accepted { rail_reference } => {
            rail_reference.iter().for_each(|r| text("rail_reference", r));
        }
        RailAnswer::Declined { code, rail_code, .. } => {
            text("code", code.as_str());
            rail_code.iter().for_each(|r| text("rail_code", r));
        }
        RailAnswer::Returned { rail_code } => rail_code.iter().for_each(|r| text("rail_code", r)),
        RailAnswer::NotSent | RailAnswer::Unknown => {}
    }
    if let Some(id) = reversal {
        text("reversal", &format!("rev_{id}"));
    }
    out.push('}');
    out
}
