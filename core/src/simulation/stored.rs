//! What must be so in the end by what is stored and no interface shows: the books of the sandboxes' operator, and the audit trail.

use crate::lifecycle::{Direction, SettlementStatus};
use crate::rail::RailAnswer;
use crate::rail::simulator::Scenario;
use crate::store::record::{AuditAction, AuditRecord, Key, SettlementRecord, SimPaymentRecord};
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
    pub(super) fn check_stored(&self) -> Verdict {
        let scan = Scan::after(&Key::Settlement(crate::ids::SettlementNo(0)), usize::MAX);
        let all: Vec<SettlementRecord> = typed_all(self.store().scan(&scan).map_err(fault)?).map_err(fault)?;
        let of_sandboxes = |it: &&SettlementRecord| it.mode.is_sandbox() && it.to.as_str().starts_with("sim:");
        all.iter().filter(of_sandboxes).try_for_each(|record| self.check_sandbox(record))?;
        self.check_trail(&all)
    }

    /// The operator of the sandboxes keeps its books in the store: whatever it paid, it paid once, and the settlement says so.
    fn check_sandbox(&self, record: &SettlementRecord) -> Verdict {
        let scenario = Scenario::of(&record.to);
        let books: Vec<SimPaymentRecord> = typed_all(self.store().scan(&Scan::sim_payments(record.no)).map_err(fault)?).map_err(fault)?;
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
        let scan = Scan::after(&Key::Audit(i64::MIN), usize::MAX);
        let trail: Vec<AuditRecord> = typed_all(self.store().scan(&scan).map_err(fault)?).map_err(fault)?;
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
