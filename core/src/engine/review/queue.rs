//! Keeps the queue in step with the flags.

use std::collections::BTreeMap;

use crate::engine::group::Overlay;
use crate::error::Result;
use crate::ids::SettlementNo;
use crate::lifecycle::SettlementStatus;
use crate::store::record::{Key, Record, ReviewReason, ReviewRecord, SettlementRecord};
use crate::store::{Scan, Write, typed_all};

use super::AGAIN_AFTER;

/// A change of what waits for a person, about the settlement itself (`0`) or its reversal with that number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// It needs review from now on; nothing changes if it does already.
    Open(u16, ReviewReason),
    /// It needs none any more.
    Close(u16),
    /// The settlement's outcome is known: it needs none any more, unless something contradicts what was proved.
    Known,
    /// It needs review again in a day.
    PutOff(u16),
}

/// Adds to the commit what the marks change in the queue of a settlement, which was `flagged` before or not. Returns whether it or
/// one of its reversals still waits.
pub(crate) fn queue(overlay: &mut Overlay<'_>, record: &SettlementRecord, flagged: bool, marks: &[Mark]) -> Result<bool> {
    let stored = reviews_of(overlay, record.no)?;
    let opened = |child, reason| ReviewRecord { settlement: record.no, child, reason, opened_at: overlay.now, due: overlay.now };
    let mut waiting = stored.clone();
    if flagged && waiting.is_empty() {
        // Flagged by a program that knew no queue: the reason can only be guessed.
        let reason = ReviewReason::guess(record.status.is_final());
        waiting.insert(0, opened(0, reason));
    }
    for mark in marks {
        match *mark {
            Mark::Open(child, reason) => {
                let row = waiting.entry(child).or_insert_with(|| opened(child, reason));
                row.reason = row.reason.or_stronger(reason);
            }
            Mark::Known => {
                // That the outcome gets known ends the wait for it. What contradicts it goes on waiting.
                let known = waiting.get(&0).map(|row| (row.reason, record.status == SettlementStatus::Completed));
                match known {
                    Some((ReviewReason::NoEndForADay, _) | (ReviewReason::InStatement, true)) => drop(waiting.remove(&0)),
                    Some((ReviewReason::InStatement, false)) => {
                        waiting.entry(0).and_modify(|row| row.reason = ReviewReason::StatementDiffers);
                    }
                    Some((ReviewReason::Discrepancy | ReviewReason::StatementDiffers, _)) | None => {}
                }
            }
            Mark::Close(child) => {
                waiting.remove(&child);
            }
            Mark::PutOff(child) => {
                let row = waiting.entry(child).or_insert_with(|| opened(child, ReviewReason::NoEndForADay));
                row.due = overlay.now + AGAIN_AFTER;
            }
        }
    }
    for (child, row) in &stored {
        match waiting.get(child) {
            None => overlay.write(Write::Delete(Key::Review((record.no, *child)))),
            Some(changed) if changed != row => overlay.write(Write::Replace(changed.clone().into())),
            Some(_) => {}
        }
    }
    for (child, row) in &waiting {
        if !stored.contains_key(child) {
            overlay.insert(row.clone());
        }
    }
    Ok(!waiting.is_empty())
}

/// The rows of a settlement by number of the reversal, with the changes of this group.
pub(super) fn reviews_of(overlay: &Overlay<'_>, no: SettlementNo) -> Result<BTreeMap<u16, ReviewRecord>> {
    let stored: Vec<ReviewRecord> = typed_all(overlay.store.scan(&Scan::reviews_of(no))?)?;
    let mut children: Vec<u16> = stored.iter().map(|row| row.child).collect();
    children.extend(overlay.inserted().filter_map(|record| match record {
        Record::Review(row) if row.settlement == no => Some(row.child),
        _ => None,
    }));
    let mut rows = BTreeMap::new();
    for child in children {
        if let Some(row) = overlay.get::<ReviewRecord>(&Key::Review((no, child)))? {
            rows.insert(child, row);
        }
    }
    Ok(rows)
}
