//! Verifies what comparisons with providers' statements found.

use crate::error::Result;
use crate::store::record::{FindingKind, FindingRecord, Key, ReconciliationRecord, ReconciliationStatus, SettlementRecord};
use crate::store::{Scan, Store, typed, typed_all};

use super::{PAGE, VerifyReport};

/// Verifies that each complete comparison has the findings that it counts, and that they are about settlements that exist.
pub(super) fn reconciliations(store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
    let mut before = i64::MAX;
    loop {
        let page: Vec<ReconciliationRecord> = typed_all(store.scan(&Scan::reconciliations(None, before, PAGE))?)?;
        let Some(last) = page.last() else { return Ok(()) };
        before = last.no;
        for run in page.iter().filter(|run| run.status == ReconciliationStatus::Done) {
            one(store, run, report)?;
        }
    }
}

fn one(store: &dyn Store, run: &ReconciliationRecord, report: &mut VerifyReport) -> Result<()> {
    let what = || format!("reconciliation number {}", run.no);
    let (mut after, mut found) = (0, [0_u32; 4]);
    loop {
        let page: Vec<FindingRecord> = typed_all(store.scan(&Scan::findings(run.no, None, after, PAGE))?)?;
        let Some(last) = page.last() else { break };
        after = last.n;
        for finding in &page {
            found[match finding.kind {
                FindingKind::MissingHere => 0,
                FindingKind::MissingThere => 1,
                FindingKind::AmountDiffers => 2,
                FindingKind::DuplicateThere => 3,
            }] += 1;
            if finding.settlement.0 == 0 {
                continue;
            }
            let exists = typed::<SettlementRecord>(store.get(&Key::Settlement(finding.settlement))?)?;
            if exists.is_none_or(|record| finding.child > record.reversals) {
                let said = format!("finding {} is about something that is missing", finding.n);
                report.problem(what(), "finding_without_settlement", said);
            }
        }
    }
    let counted = [run.missing_here, run.missing_there, run.amount_differs, run.duplicate_there];
    if counted != found {
        let said = format!("it counts {counted:?} findings (missing here and there, other amounts, duplicates), and has {found:?}");
        report.problem(what(), "findings_differ", said);
    }
    Ok(())
}
