//! A rail's answer to a reversal, and its consequences for the settlement and its money.

use crate::engine::Engine;
use crate::engine::dispatch::{INQUIRIES, Said, describe, refusal};
use crate::engine::group::{Overlay, Writer};
use crate::engine::review::Mark;
use crate::engine::settlement::{Change, Note};
use crate::error::Result;
use crate::ledger::TransferKind;
use crate::lifecycle::settlement::SettlementInput;
use crate::lifecycle::{ReversalStatus, StateName, reversal};
use crate::rail::RailAnswer;
use crate::store::Write;
use crate::store::record::{Actor, EventType, Failure, ReversalRecord, TaskKind, TaskRecord};

impl Engine {
    /// Applies an answer to a reversal, and returns whether the reversal is still open.
    pub(crate) fn reversal_answered(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        mut change: Change<'_>,
        mut reversal: ReversalRecord,
        said: Said<'_>,
    ) -> Result<bool> {
        let answer = said.answer;
        let (from, before) = (reversal.status, reversal.clone());
        let data = describe(answer, Some(self.reversal_ulid(&reversal)));
        let note = |to: ReversalStatus| Note::new(Some(from.name()), to.name(), said.by).child(reversal.n).data(data.clone());
        // A rail may answer `accepted` without a change of state: its reference is new information all the same.
        if let RailAnswer::Completed { rail_reference: Some(r) } | RailAnswer::Accepted { rail_reference: Some(r) } = answer {
            reversal.rail_reference = Some(r.clone());
        }
        let first_unclear = from == ReversalStatus::Submitted;
        match reversal::transition(from, answer.kind()) {
            reversal::Next::To(to) => {
                change.event(happened(to), note(to));
                reversal.status = to;
                reversal.updated_at = overlay.now;
                reversal.completed_at = to.is_final().then_some(overlay.now);
                // It was flagged because its outcome was unknown; now it is known. What contradicts a proof still waits for a person.
                if to.is_final() && reversal.needs_review && !self.numbering.is_contradicted(overlay, reversal.settlement, reversal.n)? {
                    reversal.needs_review = false;
                    change.mark(Mark::Close(reversal.n));
                }
                self.settle_reversal(&mut change, &mut reversal, said);
            }
            reversal::Next::Discrepancy => {
                change.discrepancy(reversal.n, note(from));
                reversal.needs_review = true;
            }
            reversal::Next::Stay => {}
        }
        let open = !reversal.status.is_final();
        let (settlement, child) = (reversal.settlement, reversal.n);
        if reversal != before {
            change.guard();
            change.write(Write::Replace(reversal.into()));
        }
        change.update(overlay)?;
        if open && first_unclear {
            let key = writer.task_key(overlay.now + INQUIRIES[0]);
            overlay.insert(TaskRecord { key, kind: TaskKind::InquireReversal, settlement, child, tries: 0, since: overlay.now, owner: 0 });
        }
        Ok(open)
    }

    /// Updates the money and the settlement after the reversal changed state.
    fn settle_reversal(&self, change: &mut Change<'_>, reversal: &mut ReversalRecord, said: Said<'_>) {
        match reversal.status {
            ReversalStatus::Completed => {
                change.end_reversal(reversal, TransferKind::Post);
                let all = change.record.reversed >= change.record.amount;
                let input = if all { SettlementInput::ReversedAll } else { SettlementInput::ReversedPart };
                change.input(input, self.reversal_note(change.record.status.name(), said.by, reversal));
            }
            ReversalStatus::Failed => {
                change.end_reversal(reversal, TransferKind::Void);
                let (code, rail_code, _) = refusal(said.answer);
                reversal.failure = Some(Failure { code, rail_code });
            }
            ReversalStatus::Accepted | ReversalStatus::Submitted | ReversalStatus::Unknown => {}
        }
    }

    fn reversal_note(&self, state: StateName, by: Actor, reversal: &ReversalRecord) -> Note {
        Note::new(None, state, by).child(reversal.n).data(format!(r#"{{"reversal":"rev_{}"}}"#, self.reversal_ulid(reversal)))
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
