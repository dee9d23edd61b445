//! Verifies what devices measured.

use crate::error::Result;
use crate::ids::KeyNo;
use crate::quality::Devices;
use crate::store::record::{Key, QualityRecord, QualitySeenRecord, Record, RecordKind};
use crate::store::{Scan, Store, typed_all};

use super::{PAGE, VerifyReport};

/// Verifies that each record has as many values as points, no more failures than that, and a device; and that what was seen is in order,
/// once.
pub(super) fn quality(store: &dyn Store, report: &mut VerifyReport) -> Result<()> {
    let mut scan = Scan::all(RecordKind::Quality, PAGE);
    loop {
        let page: Vec<QualityRecord> = typed_all(store.scan(&scan)?)?;
        for it in &page {
            let points = u64::try_from(it.points).ok().filter(|points| *points > 0 && *points == it.values.count());
            if points.is_none() || !(0..=it.points).contains(&it.failures) || it.devices == Devices::default() {
                let what = format!("{} of client number {} from {}", it.metric, it.client.0, it.begins_at);
                report.problem(what, "quality_differs", "its points, failures, values and devices do not fit together");
            }
        }
        let Some(last) = page.into_iter().next_back() else { break };
        scan = Scan::after(&Record::from(last).key(), PAGE);
    }
    let mut after = (i64::MIN, KeyNo(0));
    loop {
        let page: Vec<QualitySeenRecord> = typed_all(store.scan(&Scan::after(&Key::QualitySeen(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(()) };
        after = (last.day, last.device);
        for it in &page {
            let (ids, rest) = it.ids.as_chunks::<8>();
            if !rest.is_empty() || ids.is_empty() || !ids.is_sorted_by(|one, next| one < next) {
                let what = format!("what key number {} reported on day {}", it.device.0, it.day);
                report.problem(what, "quality_seen_differs", "the ids are not in order, or one is there twice");
            }
        }
    }
}
