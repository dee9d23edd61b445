//! Mends the queue after programs that did not know it, which may run beside this one while it is rolled out.

use std::collections::HashSet;

use crate::engine::group::Overlay;
use crate::error::Result;
use crate::ids::SettlementNo;
use crate::store::record::{Key, ReversalRecord, ReviewReason, ReviewRecord, SettlementRecord};
use crate::store::{Lookup, Scan, Write, typed_all};
use crate::time::Millis;

use super::queue::reviews_of;

/// Adds what is flagged but not in the queue, and removes what is in the queue but not flagged. Looks at no more than `limit` of
/// each. Returns the number of rows.
pub(crate) fn mend(overlay: &mut Overlay<'_>, limit: usize) -> Result<usize> {
    let rows: Vec<ReviewRecord> = typed_all(overlay.store.scan(&Scan::reviews(Millis::MAX, None, limit))?)?;
    let flagged: Vec<SettlementRecord> = typed_all(overlay.store.scan(&Scan::flagged(limit))?)?;
    Ok(add_missing(overlay, &rows, &flagged)? + remove_stale(overlay, rows)?)
}

fn add_missing(overlay: &mut Overlay<'_>, rows: &[ReviewRecord], flagged: &[SettlementRecord]) -> Result<usize> {
    let queued: HashSet<SettlementNo> = rows.iter().map(|row| row.settlement).collect();
    let mut count = 0;
    for no in flagged.iter().map(|record| record.no).filter(|no| !queued.contains(no)) {
        let record = overlay.settlement(no)?;
        if !record.needs_review || !reviews_of(overlay, no)?.is_empty() {
            continue;
        }
        let reason = ReviewReason::guess(record.status.is_final());
        let opened_at = record.updated_at;
        overlay.insert(ReviewRecord { settlement: no, child: 0, reason, opened_at, due: opened_at });
        count += 1;
    }
    Ok(count)
}

fn remove_stale(overlay: &mut Overlay<'_>, rows: Vec<ReviewRecord>) -> Result<usize> {
    overlay.look_up(rows.iter().map(|row| Lookup::Get(Key::Settlement(row.settlement))))?;
    let mut count = 0;
    for row in rows {
        let key = Key::Review((row.settlement, row.child));
        if !overlay.touched(&key) && !is_flagged(overlay, &row)? {
            overlay.write(Write::Delete(key));
            count += 1;
        }
    }
    Ok(count)
}

/// Whether what the row is about is still flagged.
fn is_flagged(overlay: &Overlay<'_>, row: &ReviewRecord) -> Result<bool> {
    let settlement: Option<SettlementRecord> = overlay.get(&Key::Settlement(row.settlement))?;
    if row.child == 0 || !settlement.as_ref().is_some_and(|record| record.needs_review) {
        return Ok(settlement.is_some_and(|record| record.needs_review));
    }
    let reversal: Option<ReversalRecord> = overlay.get(&Key::Reversal((row.settlement, row.child)))?;
    Ok(reversal.is_some_and(|reversal| reversal.needs_review))
}
