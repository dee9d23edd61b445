//! What must be so by what is stored and no interface shows: the outbox at any time, and in the end the books of the sandboxes' operator and
//! the audit trail.

use std::collections::BTreeMap;

use crate::ids::SettlementNo;
use crate::lifecycle::{Direction, ReversalStatus, SettlementStatus};
use crate::rail::RailAnswer;
use crate::rail::simulator::Scenario;
use crate::store::record::{
    AuditAction, AuditRecord, Key, Record, RecordKind, ReversalRecord, SettlementRecord, SimPaymentRecord, TaskKind, TaskRecord,
};
use crate::store::{Scan, typed_all};

use super::model::Verdict;
use super::world::{DAY, World, fault};

/// Of the children of a settlement: its reversals, not its attempts.
const REVERSAL: u16 = 1 << 15;

/// Whether the operator of the sandboxes pays attempt `n` once it arrives.
fn pays(scenario: Scenario, n: u16) -> bool {
    matches!(scenario.inquire(n, "k", DAY), RailAnswer::Completed { .. } | RailAnswer::Returned { .. })
}

impl World<'_> {
    fn stored<T: TryFrom<Record, Error = Record>>(&self, scan: &Scan) -> Result<Vec<T>, String> {
        typed_all(self.store().scan(scan).map_err(fault)?).map_err(fault)
    }

    fn stored_settlements(&self) -> Result<Vec<SettlementRecord>, String> {
        self.stored(&Scan::after(&Key::Settlement(SettlementNo(0)), usize::MAX))
    }

    /// Whatever is under way has a task, so that somebody finds out what becomes of it, and one inquiry at most.
    pub(super) fn check_outbox(&self) -> Verdict {
        let mut tasks: BTreeMap<(SettlementNo, bool, u16), Vec<TaskKind>> = BTreeMap::new();
        for task in self.stored::<TaskRecord>(&Scan::all(RecordKind::Task, usize::MAX))? {
            let reverses = match task.kind {
                TaskKind::Dispatch | TaskKind::Inquire => false,
                TaskKind::Reverse | TaskKind::InquireReversal => true,
                TaskKind::SimulatorCallback | TaskKind::Clock => continue,
            };
            tasks.entry((task.settlement, reverses, task.child)).or_default().push(task.kind);
        }
        let inquires = |kind: &&TaskKind| matches!(kind, TaskKind::Inquire | TaskKind::InquireReversal);
        if let Some(twice) = tasks.iter().find(|(_, kinds)| kinds.iter().filter(inquires).count() > 1) {
            return Err(format!("an operator is asked about the same thing by several tasks: {twice:?}"));
        }
        for record in self.stored_settlements()? {
            let is_open = matches!(record.status, SettlementStatus::Submitted | SettlementStatus::Unknown);
            // Or the next attempt waits to be sent.
            let mut attempts = [record.attempts, record.attempts + 1].into_iter();
            if is_open && !attempts.any(|n| tasks.contains_key(&(record.no, false, n))) {
                return Err(format!("nobody asks what becomes of {record:?}"));
            }
            let reversals = if record.reversals == 0 { Vec::new() } else { self.stored::<ReversalRecord>(&Scan::reversals(record.no))? };
            let is_left = |it: &&ReversalRecord| {
                matches!(it.status, ReversalStatus::Submitted | ReversalStatus::Unknown) && !tasks.contains_key(&(record.no, true, it.n))
            };
            if let Some(left) = reversals.iter().find(is_left) {
                return Err(format!("nobody asks what becomes of {left:?}"));
            }
        }
        Ok(())
    }

    pub(super) fn check_stored(&self) -> Verdict {
        let all = self.stored_settlements()?;
        let of_sandboxes = |it: &&SettlementRecord| it.mode.is_sandbox() && it.to.as_str().starts_with("sim:");
        all.iter().filter(of_sandboxes).try_for_each(|record| self.check_sandbox(record))?;
        self.check_trail(&all)
    }

    /// The operator of the sandboxes keeps its books in the store: whatever it paid, it paid once, and the settlement says so.
    fn check_sandbox(&self, record: &SettlementRecord) -> Verdict {
        let scenario = Scenario::of(&record.to);
        let books: Vec<SimPaymentRecord> = self.stored(&Scan::sim_payments(record.no))?;
        let paid = books.iter().filter(|payment| payment.child & REVERSAL == 0 && pays(scenario, payment.child)).count();
        // One of them refuses first and pays later, which is left to a person.
        let disputed = scenario == Scenario::LateOkAfterFail;
        if paid > 1 || !disputed && (paid == 1) != record.status.is_paid() {
            return Err(format!("the sandbox's operator paid {paid} times: {record:?}"));
        }
        Ok(())
    }

    /// Every call was signed: each payment, and each reversal or cancellation, has one record in the audit trail.
    fn check_trail(&self, all: &[SettlementRecord]) -> Verdict {
        let trail: Vec<AuditRecord> = self.stored(&Scan::after(&Key::Audit(i64::MIN), usize::MAX))?;
        let done = |action| trail.iter().filter(|row| row.action == action && row.refused.is_none()).count();
        let own = || all.iter().filter(|record| record.direction() == Direction::Outgoing);
        let reversals = own().map(|record| usize::from(record.reversals)).sum::<usize>();
        let cancelled = own().filter(|record| record.status == SettlementStatus::Cancelled).count();
        let (made, undone) = (done(AuditAction::CreateSettlement), done(AuditAction::ReverseSettlement));
        // What expires is cancelled by nobody.
        if made != own().count() || !(reversals..=reversals + cancelled).contains(&undone) {
            return Err(format!("the trail has {made} payments and {undone} reversals and cancellations"));
        }
        Ok(())
    }
}
