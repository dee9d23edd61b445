//! An operator inside the gateway. Like a real one, it keeps its own books and writes them before it answers: an inquiry after a
//! crash reveals what really arrived, and a double dispatch would be counted.

use crate::api::{Action, RailCall, Subject};
use crate::error::{Error, Result};
use crate::ids::SettlementNo;
use crate::lifecycle::AttemptStatus;
use crate::rail::{Inside, RailAnswer};
use crate::store::record::{AttemptRecord, Key, SettlementRecord, SimPaymentRecord, TaskKind, TaskRecord};
use crate::store::{Lookup, Write};

use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Overlay, Prefetch};

/// Distinguishes reversals from attempts in the operator's books.
const REVERSAL: u16 = 0x8000;

/// Hands a call to an operator inside the gateway, which writes its books before it answers.
#[derive(Debug, Clone)]
pub struct Receive(
    /// The call.
    pub RailCall,
);

impl Command for Receive {
    type Output = RailAnswer;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<RailAnswer> {
        let Self(call) = self;
        let (settlement, child) = entry_of(call.subject);
        let known: Option<SimPaymentRecord> = d.overlay.get(&Key::SimPayment((settlement, child)))?;
        let rail = d.engine.rail(call.provider)?;
        let operator = rail.inside().ok_or_else(|| Error::internal(format!("the operators of rail {} are external", rail.kind())))?;
        let answer = match (call.action, known) {
            // Too late to send: an inquiry may already have been told that it never arrives.
            (Action::Submit | Action::Reverse, _) if call.not_after <= d.overlay.now => RailAnswer::Unknown,
            (Action::Submit | Action::Reverse, _) if !operator.is_reachable(call) => RailAnswer::NotSent,
            (Action::Submit | Action::Reverse, Some(mut payment)) => {
                let told = payment.told(operator, call);
                payment.received = payment.received.saturating_add(1);
                d.overlay.write(Write::Replace(payment.into()));
                told.unwrap_or_else(|| operator.answer(call))
            }
            (Action::Submit | Action::Reverse, None) => {
                enter(d, operator, call);
                operator.answer(call)
            }
            (Action::Inquire | Action::InquireReversal, None) => RailAnswer::NotSent,
            (Action::Inquire | Action::InquireReversal, Some(payment)) => {
                payment.told(operator, call).unwrap_or_else(|| operator.inquire(call, d.overlay.now - payment.received_at))
            }
        };
        Ok(answer)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([Lookup::Get(Key::SimPayment(entry_of(self.0.subject)))]);
    }
}

/// Records a call in the operator's books, and schedules its callbacks.
fn enter(d: &mut Decision<'_, '_>, operator: &dyn Inside, call: &RailCall) {
    let (settlement, child) = entry_of(call.subject);
    let received_at = d.overlay.now;
    d.overlay.insert(SimPaymentRecord { settlement, child, provider: call.provider, received: 1, received_at, decided: None, code: None });
    if child & REVERSAL != 0 {
        return;
    }
    for (which, (after, _)) in operator.callbacks(call).into_iter().enumerate() {
        let key = d.writer.task_key(received_at + after);
        let tries = which as u16;
        d.overlay.insert(TaskRecord { key, kind: TaskKind::SimulatorCallback, settlement, child, tries, since: received_at, owner: 0 });
    }
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
