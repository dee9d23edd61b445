//! How long what was measured is kept, and how hours become days.

use std::collections::BTreeMap;

use crate::engine::group::Overlay;
use crate::error::Result;
use crate::store::record::{Key, QualityRecord, QualitySeenRecord, Record};
use crate::store::{Scan, Write, typed_all};
use crate::time::Millis;
use crate::validate::quality::QUALITY_WINDOW_MS;

use super::take::{SEEN_DAYS, empty};
use super::{DAY, HOUR};

/// When no point of an hour can come any more, on a node whose clock is slow either.
const SETTLED: Millis = QUALITY_WINDOW_MS + 2 * DAY;

/// Removes what was measured more than `kept_ms` ago and what was seen when it could still be sent again, and turns settled hours into
/// days. Returns the number of records; up to `most` of each kind are looked at.
pub(in crate::engine) fn tidy_quality(overlay: &mut Overlay<'_>, kept_ms: Millis, most: usize) -> Result<usize> {
    let mut count = 0;
    let mut gone: Vec<Key> = Vec::new();
    // What ended before then.
    let ended = overlay.now - kept_ms;
    for (is_day, length) in [(false, HOUR), (true, DAY)] {
        let old: Vec<QualityRecord> = typed_all(overlay.store.scan(&Scan::quality_before(is_day, ended - length, most))?)?;
        gone.extend(old.into_iter().map(|record| Record::from(record).key()));
    }
    let day = overlay.now.div_euclid(DAY) - SEEN_DAYS - 1;
    let seen: Vec<QualitySeenRecord> = typed_all(overlay.store.scan(&Scan::quality_seen_before(day, most))?)?;
    gone.extend(seen.into_iter().map(|record| Record::from(record).key()));
    for key in gone.into_iter().filter(|key| !overlay.touched(key)).collect::<Vec<_>>() {
        overlay.write(Write::Delete(key));
        count += 1;
    }
    Ok(count + merge_hours(overlay, ended - HOUR, most)?)
}

/// Adds settled hours to their days, from `from` on, as earlier ones are removed; returns how many.
fn merge_hours(overlay: &mut Overlay<'_>, from: Millis, most: usize) -> Result<usize> {
    let until = (overlay.now - SETTLED).div_euclid(DAY) * DAY;
    let hours: Vec<QualityRecord> = typed_all(overlay.store.scan(&Scan::quality_before(false, until, most))?)?;
    let mut days: BTreeMap<Key, Vec<QualityRecord>> = BTreeMap::new();
    for hour in hours.into_iter().filter(|hour| hour.begins_at >= from) {
        let begins_at = hour.begins_at.div_euclid(DAY) * DAY;
        let day = Record::from(QualityRecord { begins_at, ..hour.clone() }).key();
        days.entry(day).or_default().push(hour);
    }
    let mut count = 0;
    for (key, hours) in days {
        let hour_keys: Vec<Key> = hours.iter().map(|hour| Record::from(hour.clone()).key()).collect();
        if overlay.touched(&key) || hour_keys.iter().any(|hour| overlay.touched(hour)) {
            continue;
        }
        // The first hour of the day has the key of the day.
        let stored: Option<QualityRecord> = overlay.get(&key)?;
        let read = stored.as_ref().map(|record| record.version);
        let Some(mut day) = stored.or_else(|| empty(key.clone())) else { continue };
        for hour in hours.iter().filter(|hour| hour.begins_at != day.begins_at) {
            day.points += hour.points;
            day.failures += hour.failures;
            day.devices.merge(&hour.devices);
            day.values.merge(&hour.values);
        }
        (day.is_day, day.version) = (true, day.version.next());
        match read {
            Some(read) => overlay.update(day, read),
            None => overlay.insert(day),
        }
        count += hours.len();
        hour_keys.into_iter().filter(|hour| *hour != key).for_each(|hour| overlay.write(Write::Delete(hour)));
    }
    Ok(count)
}
