//! A rail's answer to a reversal, and its consequences for the settlement and its money.

use crate::engine::Engine;
use crate::engine::dispatch::{Said, describe, refusal};
use crate::engine::group::Overlay;
use crate::engine::review::Mark;
use crate::engine::settlement::{Change, Note};
use crate::error::Result;
use crate::ledger::TransferKind;
use crate::lifecycle::settlement::SettlementInput;
use crate::lifecycle::{ReversalStatus, reversal};
use crate::rail::RailAnswer;
use crate::store::Write;
use crate::store::record::{Actor, EventType, Failure, ReversalRecord, ReviewReason};

impl Engine {
    /// Applies an answer to a reversal, and returns whether the reversal is still open.
    pub(crate) fn reversal_answered(
        &self,
        overlay: &mut Overlay<'_>,
        mut change: Change<'_>,
        mut reversal: ReversalRecord,
        said: Said<'_>,
    ) -> Result<bool> {
        let answer = said.answer;
        let (from, before) = (reversal.status, reversal.clone());
        // A rail may answer `accepted` without a change of state: its reference is new information all the same.
        if let RailAnswer::Completed { rail_reference: Some(r) } | RailAnswer::Accepted { rail_reference: Some(r) } = answer {
            reversal.rail_reference = Some(r.clone());
        }
        match reversal::transition(from, answer.kind()) {
            reversal::Next::To(to) => {
                self.take_reversal_answer(&mut change, &mut reversal, to, said);
                // It was flagged because its outcome was unknown; now it is known. What contradicts a proof still waits for a person.
                if to.is_final() && reversal.needs_review {
                    let agrees = to == ReversalStatus::Completed || said.by == Actor::Operator;
                    reversal.needs_review = self.numbering.is_contradicted(overlay, (reversal.settlement, reversal.n), agrees)?;
                    change.mark(match reversal.needs_review {
                        true => Mark::Open(reversal.n, ReviewReason::StatementDiffers),
                        false => Mark::Close(reversal.n),
                    });
                }
            }
            reversal::Next::Discrepancy => {
                change.discrepancy(reversal.n, self.answer_note(&reversal, from, said));
                reversal.needs_review = true;
            }
            reversal::Next::Stay => {}
        }
        let open = !reversal.status.is_final();
        if reversal != before {
            change.guard();
            change.write(Write::Replace(reversal.into()));
        }
        change.update(overlay)?;
        Ok(open)
    }

    /// Moves the reversal to the state that an answer leads to, and the settlement and its money with it.
    pub(crate) fn take_reversal_answer(&self, change: &mut Change<'_>, reversal: &mut ReversalRecord, to: ReversalStatus, said: Said<'_>) {
        change.event(happened(to), self.answer_note(reversal, to, said));
        reversal.status = to;
        reversal.updated_at = change.now;
        reversal.completed_at = to.is_final().then_some(change.now);
        self.settle_reversal(change, reversal, said);
    }

    fn answer_note(&self, reversal: &ReversalRecord, to: ReversalStatus, said: Said<'_>) -> Note {
        let data = describe(said.answer, Some(self.reversal_ulid(reversal)));
        Note::new(Some(reversal.status.name()), to.name(), said.by).child(reversal.n).data(data)
    }

    /// Records that the reversal is about to be sent.
    pub(crate) fn submit_reversal(&self, change: &mut Change<'_>, reversal: &mut ReversalRecord, to: ReversalStatus) {
        let data = format!(r#"{{"reversal":"rev_{}"}}"#, self.reversal_ulid(reversal));
        let note = Note::new(Some(reversal.status.name()), to.name(), Actor::System).child(reversal.n).data(data);
        reversal.status = to;
        reversal.updated_at = change.now;
        change.event(happened(to), note);
    }

    /// Updates the money and the settlement after the reversal changed state.
    fn settle_reversal(&self, change: &mut Change<'_>, reversal: &mut ReversalRecord, said: Said<'_>) {
        match reversal.status {
            ReversalStatus::Completed => {
                change.end_reversal(reversal, TransferKind::Post);
                self.reversed(change, reversal, said.by);
            }
            ReversalStatus::Failed => {
                change.end_reversal(reversal, TransferKind::Void);
                let (code, rail_code, _) = refusal(said.answer);
                reversal.failure = Some(Failure { code, rail_code });
            }
            ReversalStatus::Accepted | ReversalStatus::Submitted | ReversalStatus::Unknown => {}
        }
    }

    /// Applies a completed reversal, whose money has moved, to the settlement.
    pub(crate) fn reversed(&self, change: &mut Change<'_>, reversal: &ReversalRecord, by: Actor) {
        let all = change.record.reversed >= change.record.amount;
        let input = if all { SettlementInput::ReversedAll } else { SettlementInput::ReversedPart };
        let data = format!(r#"{{"reversal":"rev_{}"}}"#, self.reversal_ulid(reversal));
        change.input(input, Note::new(None, change.record.status.name(), by).child(reversal.n).data(data));
    }
}

const fn happened(status: ReversalStatus) -> EventType {
    match status {
        ReversalStatus::Accepted => EventType::ReversalAccepted,
        ReversalStatus::Submitted => EventType::ReversalSubmitted,
        ReversalStatus::Unknown => EventType::ReversalUnknown,
        ReversalStatus::Completed => EventType::ReversalCompleted,
        ReversalStatus::Failed => EventType::ReversalFailed,
    }
}
