//! The client tells the simulated operator what becomes of one of its payments.

use crate::api::{Action, Caller, SettlementView, Target};
use crate::error::{Error, ErrorCode, Result};
use crate::lifecycle::attempt::{self, Next as Answered};
use crate::lifecycle::settlement::{Next, SettlementInput, transition};
use crate::lifecycle::{AttemptStatus, SettlementStatus};
use crate::rail::RailAnswer;
use crate::rail::simulator::Outcome;
use crate::store::record::{AttemptRecord, AuditAction, Key, SettlementRecord, SimPaymentRecord, TaskKind};
use crate::store::{Lookup, Unique, Write};
use crate::validate::simulator::AdvanceRequest;

use crate::engine::clock::Todo;
use crate::engine::dispatch::entry_of;
use crate::engine::group::{Command, Decision, Deed, Overlay, Prefetch, Writer};
use crate::engine::{Answers, Engine};

/// Has the simulated operator decide about a settlement now, whatever its scenario.
///
/// The operator answers, and the answer takes its usual way: nothing becomes what the lifecycle does not allow. What has not been
/// sent yet is sent first. From then on the operator sticks to its decision: inquiries find it, and callbacks of the scenario that
/// contradict it do not count.
#[derive(Debug, Clone)]
pub struct Advance {
    /// The client that asks.
    pub caller: Caller,
    /// The settlement, which must be in the sandbox.
    pub target: Target,
    /// What becomes of it.
    pub request: AdvanceRequest,
}

impl Command for Advance {
    type Output = Box<SettlementRecord>;

    /// A repeat finds it as asked.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Box<SettlementRecord>> {
        let (engine, overlay, writer) = (d.engine, &mut *d.overlay, &mut *d.writer);
        let record = engine.find_target(overlay, &self.caller, &self.target)?;
        if !record.mode.is_sandbox() {
            return Err(Error::new(ErrorCode::SettlementNotFound));
        }
        engine.advance(overlay, writer, record, &self.request).map(Box::new)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([match &self.target {
            Target::Reference(reference) => Lookup::Find(Unique::SettlementReference(self.caller.client, reference.clone())),
            Target::Id(id) => Lookup::Get(Key::Settlement(prefetch.engine.id_key.open(*id))),
        }]);
    }

    fn deed(&self, done: Option<&Box<SettlementRecord>>) -> Option<Deed> {
        let no = done.map_or(0, |record| record.no.0);
        Some(Deed::new(AuditAction::AdvanceSettlement).target(no).name(self.target.to_string()))
    }
}

impl Answers for Advance {
    type View = SettlementView;

    fn view(&self, d: &Decision<'_, '_>, record: &Box<SettlementRecord>) -> Result<SettlementView> {
        Ok(d.engine.view(record, self.caller.client_id))
    }
}

impl Engine {
    pub(super) fn advance(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        record: SettlementRecord,
        request: &AdvanceRequest,
    ) -> Result<SettlementRecord> {
        let AdvanceRequest { to, code } = *request;
        if record.waits_for_user() {
            return Err(Error::with(ErrorCode::InvalidState, "it waits for the approval of its user"));
        }
        let last = match record.attempts {
            0 => None,
            n => Some(self.attempt(overlay, record.no, n)?),
        };
        if is_as_asked(record.status, last.as_ref(), to) {
            return Ok(record);
        }
        let provider = last.as_ref().filter(|last| !last.status.is_dead()).map_or(record.provider, |last| last.provider);
        let Some(operator) = self.rail(provider)?.inside() else {
            return Err(Error::with(ErrorCode::InvalidState, "its provider is not the simulated operator"));
        };
        let unsent = !record.status.is_final() && last.as_ref().is_none_or(|last| last.status.is_dead());
        let sent = match last {
            Some(last) if !unsent => last,
            _ => self.send_now(overlay, writer, &record)?,
        };
        let call = self.attempt_call(&record, &sent, Action::Inquire, 0)?;
        let answer = operator.told(&call, to, code);
        if !unsent && !is_possible(&record, &sent, &answer) {
            let detail = format!("a settlement that is {} cannot become {}", record.status.as_str(), to.as_str());
            return Err(Error::with(ErrorCode::InvalidState, detail));
        }
        let (settlement, child) = entry_of(call.subject);
        let known: Option<SimPaymentRecord> = overlay.get(&Key::SimPayment((settlement, child)))?;
        overlay.write(match known {
            Some(payment) => Write::Replace(SimPaymentRecord { decided: Some(to), code, ..payment }.into()),
            None => {
                let received = u16::from(unsent);
                let received_at = self.time_of(overlay, record.owner())?;
                Write::Insert(
                    SimPaymentRecord { settlement, child, provider: sent.provider, received, received_at, decided: Some(to), code }.into(),
                )
            }
        });
        let change = self.change(overlay, settlement)?;
        self.attempt_answered(overlay, writer, change, sent, (&answer).into())?;
        overlay.settle();
        overlay.settlement(settlement)
    }

    /// Starts the attempt that is due, as if its turn had come.
    fn send_now(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, record: &SettlementRecord) -> Result<AttemptRecord> {
        let (settlement, child, now) = (record.no, record.attempts + 1, overlay.now);
        let key = writer.task_key(now);
        let task = Todo { kind: TaskKind::Dispatch, settlement, child, tries: 0, since: now }.under(key, None);
        if self.prepare_dispatch(overlay, writer, &task)?.is_none() {
            return Err(Error::with(ErrorCode::InvalidState, "it expired before it was sent"));
        }
        overlay.settle();
        self.attempt(overlay, settlement, child)
    }
}

/// Whether the settlement already is where the operator is told to bring it.
fn is_as_asked(status: SettlementStatus, last: Option<&AttemptRecord>, to: Outcome) -> bool {
    let attempt = last.map(|last| last.status);
    match to {
        Outcome::Submitted => status == SettlementStatus::Submitted && attempt == Some(AttemptStatus::Accepted),
        Outcome::Unknown => status == SettlementStatus::Unknown && attempt == Some(AttemptStatus::Unknown),
        Outcome::Completed => status == SettlementStatus::Completed,
        Outcome::Failed => status == SettlementStatus::Failed,
        Outcome::Returned => status == SettlementStatus::Returned,
    }
}

/// Whether the answer changes the attempt and the settlement, and contradicts nothing that was proved.
fn is_possible(record: &SettlementRecord, attempt: &AttemptRecord, answer: &RailAnswer) -> bool {
    match attempt::transition(attempt.status, answer.kind()) {
        Answered::To(_) | Answered::PaidAndBounced => !record.status.is_final(),
        Answered::Bounced => record.reversing == 0 && matches!(transition(record.status, SettlementInput::Bounced), Next::To(_)),
        Answered::Stay | Answered::Contradiction => false,
    }
}
