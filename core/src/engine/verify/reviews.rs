//! Verifies the queue of what waits for a person.

use crate::error::Result;
use crate::ids::SettlementNo;
use crate::store::record::{Key, ReviewRecord, SettlementRecord};
use crate::store::{Scan, Store, typed, typed_all};

use super::{PAGE, VerifyReport};

/// Verifies that each row is about a settlement or a reversal that exists. A row without a flag, and a flag without a row, are what an
/// older program may leave: maintenance mends them, and decisions depend on the flags.
pub(super) fn reviews(store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
    let mut after = (SettlementNo(0), 0);
    loop {
        let page: Vec<ReviewRecord> = typed_all(store.scan(&Scan::after(&Key::Review(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = (last.settlement, last.child);
        for row in &page {
            let what = format!("review of settlement number {}", row.settlement.0);
            match typed::<SettlementRecord>(store.get(&Key::Settlement(row.settlement))?)? {
                None => report.problem(what, "review_without_settlement", "the settlement is missing"),
                Some(record) if row.child > record.reversals => {
                    report.problem(what, "review_without_reversal", format!("it has no reversal {}", row.child));
                }
                Some(_) => {}
            }
        }
    }
}
