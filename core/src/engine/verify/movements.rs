//! Verifies that each movement of money has its transfer, each change of credit its place in the terms, and that the event that told the
//! client of it is as it was recorded.

use crate::error::Result;
use crate::ids::{IdKey, SettlementNo};
use crate::store::record::{Key, MovementRecord};
use crate::store::{Scan, Store, typed_all};
use crate::trace::About;

use super::credit::CreditCheck;
use super::log::LogCheck;
use super::trail::{Followed, follow};
use super::{PAGE, VerifyReport};

/// Verifies every movement. `moved` is how many transfers carry one out: each was compared with its movement.
pub(super) fn movements(store: &dyn Store, key: &IdKey, moved: u64, log: &mut LogCheck<'_>, report: &mut VerifyReport) -> Result<()> {
    let (mut after, mut count) = (SettlementNo(0), 0);
    let mut credit = CreditCheck::begin(store)?;
    loop {
        let page: Vec<MovementRecord> = typed_all(store.scan(&Scan::after(&Key::Movement(after), PAGE))?)?;
        let Some(last) = page.last() else { break };
        after = last.journal;
        for record in &page {
            count += u64::from(record.transfer().is_some());
            credit.movement(record, report);
            one_movement(store, key, record, log, report)?;
        }
    }
    credit.end(report);
    if count != moved {
        report.problem("movements", "movement_without_transfer", format!("there are {count}, their transfers are {moved}"));
    }
    Ok(())
}

/// Verifies the event of a movement. One of before there were such events has none; of an event that was removed, its place in the log
/// is left.
fn one_movement(store: &dyn Store, key: &IdKey, record: &MovementRecord, log: &mut LogCheck<'_>, report: &mut VerifyReport) -> Result<()> {
    let (about, what) = (About::Movement(record), name(record));
    let (mut problems, mut places) = (Vec::new(), log.trace(about, &what));
    let Followed { mut broken, last, kind, .. } = follow(store, key, about, &mut problems, &mut |event| places.event(event, report))?;
    report.events += u64::from(last);
    if broken.is_none() && last > 1 {
        broken = Some(2);
        problems.push(("trail_head", "event 2 is after its end".to_owned()));
    }
    if broken.is_none() && kind.is_some_and(|kind| kind != record.kind.event()) {
        broken = Some(1);
        problems.push(("trail_broken", format!("event 1 does not tell of a {}", spoken(record))));
    }
    if let (Some(sequence), Some((code, message))) = (broken, problems.first()) {
        report.broken(&what, record.journal, sequence, (code, message));
    }
    problems.into_iter().for_each(|(code, message)| report.problem(&what, code, message));
    Ok(())
}

/// What problems call it.
pub(super) fn name(record: &MovementRecord) -> String {
    format!("{} {} of client number {}", spoken(record), record.reference.as_str(), record.client.0)
}

/// Its kind in words.
fn spoken(record: &MovementRecord) -> String {
    record.kind.as_str().replace('_', " ")
}
