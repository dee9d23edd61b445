//! An operator inside the gateway. Like a real one, it keeps its own books and writes them before it answers: an inquiry after a
//! crash reveals what really arrived, and a double dispatch would be counted.

use crate::api::{Action, RailCall, Subject};
use crate::error::{Error, Result};
use crate::ids::SettlementNo;
use crate::lifecycle::AttemptStatus;
use crate::rail::{Inside, RailAnswer};
use crate::store::record::{AttemptRecord, Key, SettlementRecord, SimPaymentRecord, SimulatorRecord, TaskKind};
use crate::store::{Lookup, Write};
use crate::time::Millis;

use crate::engine::Engine;
use crate::engine::clock::Todo;
use crate::engine::group::{Command, Decision, Overlay, Prefetch};
use crate::engine::simulator::Fault;

/// Instead of the number of a callback: the operator's answer itself, which comes late.
pub(super) const LATE: u16 = u16::MAX;
/// Distinguishes reversals from attempts in the operator's books.
const REVERSAL: u16 = 0x8000;

/// Hands a call to an operator inside the gateway, which writes its books before it answers. `None` if the answer takes its time: it
/// comes as a callback.
#[derive(Debug, Clone)]
pub struct Receive(
    /// The call.
    pub RailCall,
);

impl Command for Receive {
    type Output = Option<RailAnswer>;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Option<RailAnswer>> {
        let Self(call) = self;
        let (settlement, child) = entry_of(call.subject);
        let known: Option<SimPaymentRecord> = d.overlay.get(&Key::SimPayment((settlement, child)))?;
        let rail = d.engine.rail(call.provider)?;
        let operator = rail.inside().ok_or_else(|| Error::internal(format!("the operators of rail {} are external", rail.kind())))?;
        let fault = fault(d.overlay, call)?;
        let now = d.engine.time_of(d.overlay, (call.client, call.mode))?;
        let moves_money = matches!(call.action, Action::Submit | Action::Reverse);
        let answer = match (moves_money, known) {
            // Too late to send: an inquiry may already have been told that it never arrives.
            (true, _) if call.not_after <= d.overlay.now => return Ok(Some(RailAnswer::Unknown)),
            (true, _) if fault.not_sent || !operator.is_reachable(call) => return Ok(Some(RailAnswer::NotSent)),
            // An inquiry that could not be sent says nothing.
            (false, _) if fault.not_sent => return Ok(Some(RailAnswer::Unknown)),
            (true, Some(mut payment)) => {
                let told = payment.told(operator, call);
                payment.received = payment.received.saturating_add(1);
                d.overlay.write(Write::Replace(payment.into()));
                told.unwrap_or_else(|| operator.answer(call))
            }
            (true, None) => {
                enter(d, operator, call, now)?;
                operator.answer(call)
            }
            (false, None) => RailAnswer::NotSent,
            (false, Some(payment)) => payment.told(operator, call).unwrap_or_else(|| operator.inquire(call, now - payment.received_at)),
        };
        if fault.lost {
            return Ok(Some(RailAnswer::Unknown));
        }
        if fault.latency_ms > 0 {
            let todo = Todo { kind: TaskKind::SimulatorCallback, settlement, child, tries: LATE, since: now };
            let owner = (call.client, call.mode);
            d.engine.schedule(d.overlay, d.writer, owner, now + fault.latency_ms, todo)?;
            d.engine.wait_for_late(d.overlay, d.writer, call)?;
            return Ok(None);
        }
        Ok(Some(answer))
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([Lookup::Get(Key::SimPayment(entry_of(self.0.subject)))]);
        prefetch.add(self.0.mode.is_sandbox().then_some(Lookup::Get(Key::Simulator(self.0.client))));
        prefetch.clock((self.0.client, self.0.mode));
    }
}

/// What the client of a sandbox wants to go wrong with a call.
fn fault(overlay: &Overlay<'_>, call: &RailCall) -> Result<Fault> {
    if !call.mode.is_sandbox() {
        return Ok(Fault::default());
    }
    let ordered: Option<SimulatorRecord> = overlay.get(&Key::Simulator(call.client))?;
    Ok(ordered.map_or(Fault::default(), |ordered| ordered.fault(call)))
}

/// Records a call in the operator's books, and schedules its callbacks.
fn enter(d: &mut Decision<'_, '_>, operator: &dyn Inside, call: &RailCall, received_at: Millis) -> Result<()> {
    let (settlement, child) = entry_of(call.subject);
    d.overlay.insert(SimPaymentRecord { settlement, child, provider: call.provider, received: 1, received_at, decided: None, code: None });
    if child & REVERSAL != 0 {
        return Ok(());
    }
    for (which, (after, _)) in operator.callbacks(call).into_iter().enumerate() {
        let todo = Todo { kind: TaskKind::SimulatorCallback, settlement, child, tries: which as u16, since: received_at };
        d.engine.schedule(d.overlay, d.writer, (call.client, call.mode), received_at + after, todo)?;
    }
    Ok(())
}

impl SimPaymentRecord {
    /// The operator's answer, if it was told what becomes of the payment.
    fn told(&self, operator: &dyn Inside, call: &RailCall) -> Option<RailAnswer> {
        self.decided.map(|outcome| operator.told(call, outcome, self.code))
    }
}

impl Engine {
    /// What an operator inside the gateway answers about an attempt now, if it was told to since it gave an earlier answer: that one
    /// may still be on its way, as a callback or in a report.
    pub(super) fn told(&self, overlay: &Overlay<'_>, record: &SettlementRecord, attempt: &AttemptRecord) -> Result<Option<RailAnswer>> {
        // Nobody told it anything about an attempt that still waits for its first answer.
        if !record.mode.is_sandbox() || attempt.status == AttemptStatus::Started {
            return Ok(None);
        }
        let payment: Option<SimPaymentRecord> = overlay.get(&Key::SimPayment((attempt.settlement, attempt.n)))?;
        let Some(payment) = payment.filter(|payment| payment.decided.is_some()) else { return Ok(None) };
        // An operator that is not configured any more says nothing.
        let Ok(call) = self.attempt_call(record, attempt, Action::Inquire, 0) else { return Ok(None) };
        Ok(self.rail(attempt.provider)?.inside().and_then(|operator| payment.told(operator, &call)))
    }
}

/// The key of a payment in the operator's books.
pub(crate) fn entry_of(subject: Subject) -> (SettlementNo, u16) {
    match subject {
        Subject::Attempt(no, n) => (no, n),
        Subject::Reversal(no, n) => (no, n | REVERSAL),
    }
}

/// What an entry in the operator's books is about.
pub(super) fn subject_of(settlement: SettlementNo, child: u16) -> Subject {
    if child & REVERSAL == 0 { Subject::Attempt(settlement, child) } else { Subject::Reversal(settlement, child & !REVERSAL) }
}
