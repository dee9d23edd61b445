//! Keeps what a comparison found, in commits of bounded size.

use crate::engine::group::{Command, Decision};
use crate::engine::settlement::{Change, Note};
use crate::error::{Error, ErrorCode, Result};
use crate::lifecycle::{ReversalStatus, SettlementStatus};
use crate::store::record::{
    Actor, EventType, FindingKind, FindingRecord, Key, MatchesRecord, ReconciliationRecord, ReconciliationStatus, ReversalRecord,
    ReviewReason, Version,
};
use crate::store::{Scan, Write, typed_all};

use super::begin::LEASE;

/// How many records of an unfinished reconciliation are cleared at once.
const CLEARED: usize = 500;
/// How many earlier findings about a settlement are looked at.
const LOOKED_AT: usize = 200;

/// A step of a reconciliation that this host makes.
#[derive(Debug, Clone)]
pub struct KeepReconciled {
    /// The reconciliation.
    pub run: i64,
    /// The version that the last step left. Another one means that another host makes it by now.
    pub expected: Version,
    /// What is kept.
    pub what: Keep,
}

/// What is kept.
#[derive(Debug, Clone)]
pub enum Keep {
    /// Nothing: some of what a host before left behind is removed.
    Cleared,
    /// A page of what matches.
    Matches(MatchesRecord),
    /// Findings, each with why its settlement waits for a person, if it does.
    Findings(Vec<(FindingRecord, Option<ReviewReason>)>),
    /// The counts of the whole; the reconciliation is complete.
    Done(Box<ReconciliationRecord>),
    /// Nothing: this host makes it no longer. If nothing was kept, it was never begun.
    Left,
}

/// The output of a [`KeepReconciled`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// The version that the step left.
    pub version: Version,
    /// Whether there is more to clear.
    pub more: bool,
}

impl Command for KeepReconciled {
    type Output = Kept;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Kept> {
        let run: Option<ReconciliationRecord> = d.overlay.get(&Key::Reconciliation(self.run))?;
        let mine = |run: &ReconciliationRecord| run.version == self.expected && run.status == ReconciliationStatus::Running;
        let said = "another host has taken this reconciliation over";
        let run = run.filter(mine).ok_or_else(|| Error::with(ErrorCode::RequestInProgress, said))?;
        let (version, now) = (self.expected.next(), d.overlay.now);
        let mut run = ReconciliationRecord { until: now + LEASE, version, ..run };
        let mut more = false;
        match &self.what {
            Keep::Cleared => more = clear(d, self.run)?,
            Keep::Matches(page) => d.overlay.insert(page.clone()),
            Keep::Findings(_) => {}
            Keep::Left if is_empty(d, self.run)? => {
                d.overlay.write(Write::Delete(Key::Reconciliation(self.run)));
                return Ok(Kept { version, more });
            }
            Keep::Left => run.until = now,
            Keep::Done(counts) => {
                let status = ReconciliationStatus::Done;
                run = ReconciliationRecord { status, finished_at: Some(now), until: now, version, ..(**counts).clone() };
            }
        }
        d.overlay.update(run, self.expected);
        if let Keep::Findings(findings) = &self.what {
            d.overlay.settle();
            for (finding, reason) in findings {
                keep(d, finding, *reason)?;
                // The next one may be about the same settlement.
                d.overlay.settle();
            }
        }
        Ok(Kept { version, more })
    }

    fn touched(_: &Kept) -> usize {
        // One commit of its kind is as much as a group should have.
        100
    }
}

/// Whether nothing is kept of a reconciliation.
fn is_empty(d: &Decision<'_, '_>, run: i64) -> Result<bool> {
    let store = d.overlay.store;
    Ok(store.scan(&Scan::findings(run, None, 0, 1))?.is_empty() && store.scan(&Scan::matches(run, 0, 1))?.is_empty())
}

fn clear(d: &mut Decision<'_, '_>, run: i64) -> Result<bool> {
    let findings: Vec<FindingRecord> = typed_all(d.overlay.store.scan(&Scan::findings(run, None, 0, CLEARED))?)?;
    let matches: Vec<MatchesRecord> = typed_all(d.overlay.store.scan(&Scan::matches(run, 0, CLEARED / 10))?)?;
    let more = findings.len() == CLEARED || matches.len() == CLEARED / 10;
    findings.iter().for_each(|it| d.overlay.write(Write::Delete(Key::Finding((it.run, it.n)))));
    matches.iter().for_each(|it| d.overlay.write(Write::Delete(Key::Matches((it.run, it.n)))));
    Ok(more)
}

/// Keeps a finding, and flags its settlement if it still is as the comparison found it.
fn keep(d: &mut Decision<'_, '_>, finding: &FindingRecord, reason: Option<ReviewReason>) -> Result<()> {
    d.overlay.insert(finding.clone());
    let Some(reason) = reason else { return Ok(()) };
    if mutated!(DifferenceNotFlagged) || is_known(d, finding)? {
        return Ok(());
    }
    let (no, child) = (finding.settlement, finding.child);
    let change = d.engine.change(d.overlay, no)?;
    let reversal = if child > 0 { Some(d.engine.reversal_record(d.overlay, no, child)?) } else { None };
    match still(finding.kind, reason, outcome(change.record.status, reversal.as_ref())) {
        Some(reason) => flag(d, change, reversal, reason),
        None => Ok(()),
    }
}

/// Whether an earlier reconciliation found the same: a person has it in the queue, or decided about it.
fn is_known(d: &Decision<'_, '_>, finding: &FindingRecord) -> Result<bool> {
    let earlier: Vec<FindingRecord> = typed_all(d.overlay.store.scan(&Scan::findings_of(finding.settlement, LOOKED_AT))?)?;
    let identity = |it: &FindingRecord| (it.kind, it.child, it.entry);
    Ok(earlier.iter().any(|it| it.run != finding.run && identity(it) == identity(finding)))
}

/// Whether it was carried out; `None` if that is not known.
fn outcome(settlement: SettlementStatus, reversal: Option<&ReversalRecord>) -> Option<bool> {
    use SettlementStatus as S;
    match reversal.map(|it| it.status) {
        None => match settlement {
            S::Submitted | S::Unknown => None,
            S::Completed | S::PartiallyReversed | S::Reversed | S::Returned => Some(true),
            S::Accepted | S::Failed | S::Cancelled => Some(false),
        },
        Some(ReversalStatus::Submitted | ReversalStatus::Unknown) => None,
        Some(ReversalStatus::Completed) => Some(true),
        Some(ReversalStatus::Accepted | ReversalStatus::Failed) => Some(false),
    }
}

/// Why something waits, given its outcome by now.
fn still(kind: FindingKind, reason: ReviewReason, outcome: Option<bool>) -> Option<ReviewReason> {
    match (kind, reason, outcome) {
        (FindingKind::MissingHere, ReviewReason::InStatement, None) => Some(reason),
        // Meanwhile the provider itself has said what the statement says, or the opposite.
        (FindingKind::MissingHere, ReviewReason::InStatement, Some(true)) => None,
        (FindingKind::MissingHere, ReviewReason::InStatement, Some(false)) => Some(ReviewReason::StatementDiffers),
        (FindingKind::MissingThere, _, None | Some(false)) => None,
        (FindingKind::MissingHere | FindingKind::MissingThere | FindingKind::AmountDiffers | FindingKind::DuplicateThere, _, _) => {
            Some(reason)
        }
    }
}

fn flag(d: &mut Decision<'_, '_>, mut change: Change<'_>, reversal: Option<ReversalRecord>, reason: ReviewReason) -> Result<()> {
    let child = reversal.as_ref().map_or(0, |reversal| reversal.n);
    let state = change.record.status.name();
    let kind = match (reason, child) {
        (ReviewReason::InStatement | ReviewReason::NoEndForADay, 0) => EventType::SettlementUnknown,
        (ReviewReason::InStatement | ReviewReason::NoEndForADay, _) => EventType::ReversalUnknown,
        (ReviewReason::StatementDiffers | ReviewReason::Discrepancy, _) => EventType::SettlementDiscrepancy,
    };
    let data = format!(r#"{{"needs_review":true,"reason":"{}"}}"#, reason.as_str());
    change.flag(child, reason, kind, Note::new(Some(state), state, Actor::System).child(child).data(data));
    if let Some(reversal) = reversal.filter(|reversal| !reversal.needs_review) {
        change.guard();
        change.write(Write::Replace(ReversalRecord { needs_review: true, ..reversal }.into()));
    }
    change.update(d.overlay).map(drop)
}
