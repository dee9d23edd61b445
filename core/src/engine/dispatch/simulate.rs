//! The simulated operator's side of a call. It keeps books of its own, as a real one does, and writes them before it
//! answers: so an inquiry after a crash finds out what really arrived, and a double dispatch would be counted.

use crate::api::{Action, Call, Subject};
use crate::error::Result;
use crate::ids::SettlementNo;
use crate::rail::RailAnswer;
use crate::rail::simulator::Scenario;
use crate::store::record::{Key, SimPaymentRecord, TaskKind, TaskRecord};
use crate::store::{Lookup, Write};

use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Overlay, Prefetch, Writer};

/// Sets reversals apart from attempts in the operator's books.
const REVERSAL: u16 = 0x8000;

/// Lets the simulated operator receive a call; its books are written before it answers.
#[derive(Debug, Clone)]
pub struct Simulate(
    /// What is asked of it.
    pub Call,
);

impl Command for Simulate {
    type Output = RailAnswer;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<RailAnswer> {
        let Self(call) = self;
        let (settlement, child) = sim_payment(call.subject);
        let known: Option<SimPaymentRecord> = d.overlay.get(&Key::SimPayment((settlement, child)))?;
        let scenario = Scenario::of(&call.to);
        let answer = match (call.action, known) {
            // Too late to leave: whoever asks meanwhile may have been told that it never will.
            (Action::Submit | Action::Reverse, _) if call.not_after <= d.overlay.now => RailAnswer::Unknown,
            (Action::Submit | Action::Reverse, _) if !scenario.reachable() => RailAnswer::NotSent,
            (Action::Submit | Action::Reverse, Some(mut payment)) => {
                payment.received = payment.received.saturating_add(1);
                d.overlay.write(Write::Replace(payment.into()));
                first_answer(scenario, child, call)
            }
            (Action::Submit | Action::Reverse, None) => {
                d.engine.receive(d.overlay, d.writer, call, settlement, child);
                first_answer(scenario, child, call)
            }
            (Action::Inquire | Action::InquireReversal, None) => RailAnswer::NotSent,
            (Action::Inquire, Some(payment)) => scenario.inquire(child, &call.rail_key, d.overlay.now - payment.received_at),
            (Action::InquireReversal, Some(_)) => scenario.reverse(&call.rail_key),
        };
        Ok(answer)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([Lookup::Get(Key::SimPayment(sim_payment(self.0.subject)))]);
    }
}

impl Engine {
    fn receive(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, call: &Call, settlement: SettlementNo, child: u16) {
        let received_at = overlay.now;
        overlay.insert(SimPaymentRecord { settlement, child, provider: call.provider, received: 1, received_at });
        if child & REVERSAL != 0 {
            return;
        }
        let callbacks = Scenario::of(&call.to).callbacks(&call.rail_key);
        for (which, (after, _)) in callbacks.into_iter().enumerate() {
            let key = writer.task_key(received_at + after);
            let tries = which as u16;
            overlay.insert(TaskRecord { key, kind: TaskKind::SimulatorCallback, settlement, child, tries, since: received_at, owner: 0 });
        }
    }
}

fn first_answer(scenario: Scenario, child: u16, call: &Call) -> RailAnswer {
    if child & REVERSAL == 0 { scenario.submit(child, &call.rail_key) } else { scenario.reverse(&call.rail_key) }
}

/// Under which key the operator knows a payment.
fn sim_payment(subject: Subject) -> (SettlementNo, u16) {
    match subject {
        Subject::Attempt(no, n) => (no, n),
        Subject::Reversal(no, n) => (no, n | REVERSAL),
    }
}
