//! Verifies that a trace is unbroken, and that a settlement's record, its attempts and its reversals match it.

use crate::error::Result;
use crate::ids::IdKey;
use crate::lifecycle::{AttemptStatus, Direction, ReversalStatus, SettlementStatus, StateName};
use crate::store::record::{AttemptRecord, Digest32, EventRecord, EventType, ReversalRecord, SettlementRecord};
use crate::store::{Scan, Store, typed_all};
use crate::trace::{self, About};

use super::{Findings, PAGE};

/// The end of a trace that was followed.
#[derive(Default)]
pub(super) struct Followed {
    /// The sequence of the first broken link.
    pub(super) broken: Option<u32>,
    /// The sequence of the last event; 0 if there is none.
    pub(super) last: u32,
    /// The type of the last event.
    pub(super) kind: Option<EventType>,
    /// Its hash.
    pub(super) head: Option<Digest32>,
    state: Option<StateName>,
}

/// Follows a trace to its end. Passes each existing event to `each`.
pub(super) fn follow(
    store: &dyn Store,
    key: &IdKey,
    about: About<'_>,
    problems: &mut Findings,
    each: &mut dyn FnMut(&EventRecord) -> Result<()>,
) -> Result<Followed> {
    let mut it = Followed::default();
    loop {
        let page: Vec<EventRecord> = typed_all(store.scan(&Scan::events(about.no(), it.last, PAGE))?)?;
        if page.is_empty() {
            return Ok(it);
        }
        for event in &page {
            // After the first broken link, nothing can be said about the rest.
            if it.broken.is_none() {
                it.broken = check_link(key, about, event, it.last + 1, it.head.as_ref(), problems);
            }
            if names_settlement_state(event.kind) {
                it.state = event.to;
            }
            (it.head, it.last, it.kind) = (Some(event.hash), event.n, Some(event.kind));
            each(event)?;
        }
    }
}

/// Verifies a settlement's trace, and that the record is as the trace says. Returns the sequence of the first broken link.
pub(super) fn check_trail(
    store: &dyn Store,
    key: &IdKey,
    record: &SettlementRecord,
    problems: &mut Findings,
    each: &mut dyn FnMut(&EventRecord) -> Result<()>,
) -> Result<Option<u32>> {
    let Followed { mut broken, last, head, state, .. } = follow(store, key, About::Settlement(record), problems, each)?;
    if broken.is_some() {
        return Ok(broken);
    }
    if last != record.version || head != Some(record.head) {
        broken = Some(if last < record.version { last + 1 } else { record.version });
        let what = match last.cmp(&record.version) {
            std::cmp::Ordering::Less => format!("event {} is missing at its end", last + 1),
            std::cmp::Ordering::Equal => "its last hash differs".to_owned(),
            std::cmp::Ordering::Greater => format!("event {} is after its end", record.version + 1),
        };
        problems.push(("trail_head", format!("the record says version {}, the trail ends at {last}: {what}", record.version)));
    }
    if state != Some(record.status.name()) {
        problems.push((
            "state_differs",
            format!("the record says {}, the trail {}", record.status.as_str(), state.map_or("nothing", |s| s.as_str())),
        ));
    }
    Ok(broken)
}

/// The sequence of a broken link; `None` if it is sound.
fn check_link(
    key: &IdKey,
    about: About<'_>,
    event: &EventRecord,
    expected: u32,
    prev: Option<&Digest32>,
    problems: &mut Findings,
) -> Option<u32> {
    if event.n != expected {
        problems.push(("trail_gap", format!("event {expected} is missing")));
        return Some(expected);
    }
    if trace::link_hash(key, about, event, prev) != event.hash {
        problems.push(("trail_broken", format!("event {} is not what was recorded", event.n)));
        return Some(expected);
    }
    None
}

const fn names_settlement_state(kind: EventType) -> bool {
    match kind {
        EventType::SettlementAccepted
        | EventType::SettlementSubmitted
        | EventType::SettlementUnknown
        | EventType::SettlementCompleted
        | EventType::SettlementFailed
        | EventType::SettlementCancelled
        | EventType::SettlementPartiallyReversed
        | EventType::SettlementReversed
        | EventType::SettlementReturned => true,
        EventType::SettlementDiscrepancy
        | EventType::SettlementReviewed
        | EventType::AttemptStarted
        | EventType::AttemptAnswered
        | EventType::ReversalAccepted
        | EventType::ReversalSubmitted
        | EventType::ReversalUnknown
        | EventType::ReversalCompleted
        | EventType::ReversalFailed
        | EventType::BalanceDeposited
        | EventType::BalanceWithdrawn
        | EventType::BalanceCreditChanged
        | EventType::ApprovalRequested
        | EventType::ApprovalApproved
        | EventType::ApprovalDeclined
        | EventType::BundleCreated
        | EventType::BundleEdited
        | EventType::BundleCommented
        | EventType::BundleTested
        | EventType::BundlePublicationAsked
        | EventType::BundlePublicationFailed
        | EventType::BundleSuperseded
        | EventType::BundleTestAsked
        | EventType::BundleSubmitted
        | EventType::BundleInReview
        | EventType::BundleApproved
        | EventType::BundleRejected
        | EventType::BundleChangesRequested
        | EventType::BundleWithdrawn
        | EventType::BundlePublished
        | EventType::BundleRevoked => false,
    }
}

pub(super) fn check_attempts(store: &dyn Store, record: &SettlementRecord, problems: &mut Findings) -> Result<()> {
    let attempts: Vec<AttemptRecord> = typed_all(store.scan(&Scan::attempts(record.no))?)?;
    if attempts.len() != usize::from(record.attempts) {
        problems.push(("attempt_count", format!("{} attempts, the record says {}", attempts.len(), record.attempts)));
    }
    let alive = attempts.iter().filter(|a| !a.status.is_dead()).count();
    if alive > 1 {
        problems.push(("in_two_places", format!("{alive} attempts may pay or have paid")));
    }
    let last = attempts.last().map(|a| a.status);
    let fits = match record.status {
        // The attempt is the payer's.
        SettlementStatus::Completed | SettlementStatus::PartiallyReversed | SettlementStatus::Reversed
            if record.direction() == Direction::Incoming =>
        {
            last.is_none()
        }
        SettlementStatus::Accepted | SettlementStatus::Cancelled => last.is_none(),
        // Between two providers, the last attempt has failed and the next has not started yet.
        SettlementStatus::Submitted | SettlementStatus::Unknown => last.is_some_and(|s| s != AttemptStatus::Completed),
        SettlementStatus::Completed | SettlementStatus::PartiallyReversed | SettlementStatus::Reversed | SettlementStatus::Returned => {
            last == Some(AttemptStatus::Completed)
        }
        SettlementStatus::Failed => last.is_none_or(AttemptStatus::is_dead),
    };
    if !fits {
        problems.push((
            "attempt_differs",
            format!("the settlement is {}, its last attempt {}", record.status.as_str(), last.map_or("missing", |s| s.as_str())),
        ));
    }
    Ok(())
}

pub(super) fn check_reversals(store: &dyn Store, record: &SettlementRecord, problems: &mut Findings) -> Result<()> {
    let reversals: Vec<ReversalRecord> = typed_all(store.scan(&Scan::reversals(record.no))?)?;
    let sum = |wanted: &dyn Fn(ReversalStatus) -> bool| reversals.iter().filter(|r| wanted(r.status)).map(|r| r.amount).sum::<i64>();
    let reversed = sum(&|s| s == ReversalStatus::Completed);
    let reversing = sum(&|s| !s.is_final());
    if (reversed, reversing) != (record.reversed, record.reversing) || reversals.len() != usize::from(record.reversals) {
        problems.push(("reversals_differ", format!("its reversals add up to {reversed} done and {reversing} in flight, in minor units")));
    }
    if reversed + reversing > record.amount {
        problems.push(("reversed_too_much", "more is being given back than was paid".to_owned()));
    }
    Ok(())
}
