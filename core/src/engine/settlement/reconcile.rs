//! Checks of a settlement that exists: do its record, ledger, trace and rail agree?

use crate::api::{Action, Caller, FindingView, RailCall, ReconcileView, Subject, Target};
use crate::error::Result;
use crate::ids::SettlementNo;
use crate::lifecycle::attempt::AnswerKind;
use crate::lifecycle::{AttemptStatus, ReversalStatus};
use crate::rail::{Carrier, RailAnswer};
use crate::store::record::{AttemptRecord, AuditAction, Key, ReversalRecord, SettlementRecord};
use crate::store::{Scan, typed, typed_all};

use crate::engine::dispatch::ReportAnswer;
use crate::engine::group::{Command, Decision, Deed};
use crate::engine::{Engine, Stays, verify};

/// How many reversals a rail is asked about in one check, besides the last: the oldest that are not final.
const MOST_REVERSALS: usize = 16;

/// Writes an audit record of a coming comparison of a settlement with its rail: a signed call whose effect is outside the store.
#[derive(Debug, Clone)]
pub struct NoteCheck(
    /// The settlement's number.
    pub SettlementNo,
);

impl Command for NoteCheck {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    fn stays(&self) -> Stays {
        Stays::Always
    }

    fn decide(&self, _: &mut Decision<'_, '_>) -> Result<()> {
        Ok(())
    }

    fn deed(&self, _: Option<&()>) -> Option<Deed> {
        Some(Deed::new(AuditAction::CheckSettlement).target(self.0.0))
    }
}

/// The questions to a rail about a settlement.
#[derive(Debug, Default)]
pub struct Inquiries {
    /// The calls to make. Apply each answer with [`ReportAnswer`].
    pub calls: Vec<RailCall>,
    /// How many reversals that are not final are left out.
    pub left_out: usize,
}

impl Engine {
    /// What to ask the rail before reconciling: about the last attempt, and about the reversals that are not final and the last one,
    /// unless nothing of them has left.
    pub fn inquiries(&self, record: &SettlementRecord) -> Result<Inquiries> {
        let mut found = Inquiries::default();
        // The books are the ledger itself, which is compared in any case.
        if self.routes().is_books(record.provider) {
            return Ok(found);
        }
        if let Some(attempt) = self.last_attempt(record)? {
            found.calls.push(self.attempt_call(record, &attempt, Action::Inquire, 0)?);
        }
        let reversals = self.reversals_of(record)?;
        for reversal in &reversals {
            let last = reversal.n == record.reversals;
            if reversal.status == ReversalStatus::Accepted || (reversal.status.is_final() && !last) {
                continue;
            }
            if !last && found.calls.len() > MOST_REVERSALS {
                found.left_out += 1;
                continue;
            }
            found.calls.push(self.reversal_call(record, reversal, Action::InquireReversal, 0)?);
        }
        Ok(found)
    }

    /// Asks the rail what there is to ask, and applies each answer. Returns the answers, and the number of reversals left out.
    pub(crate) fn inquire(&self, record: &SettlementRecord, carrier: &dyn Carrier) -> Result<(Vec<(Subject, RailAnswer)>, usize)> {
        let Inquiries { calls, left_out } = self.inquiries(record)?;
        let mut answers = Vec::with_capacity(calls.len());
        for call in calls {
            let subject = call.subject;
            let answer = self.ask(call, carrier)?;
            self.run(ReportAnswer { subject, answer: answer.clone(), lease: None })?;
            answers.push((subject, answer));
        }
        Ok((answers, left_out))
    }

    /// Compares record, ledger, trace and the rail's answers, which were [applied](ReportAnswer) before, so that they repaired what
    /// they can. `left_out`: how many reversals the rail was not asked about.
    pub fn reconcile(&self, caller: &Caller, target: &Target, answers: &[(Subject, RailAnswer)], left_out: usize) -> Result<ReconcileView> {
        let record = self.settlement(caller, target)?;
        let mut findings: Vec<FindingView> = verify::settlement(&*self.store, &self.id_key, &record)?
            .into_iter()
            .map(|(code, message)| FindingView { code: code.into(), message })
            .collect();
        let (attempt, reversals) = (self.last_attempt(&record)?, self.reversals_of(&record)?);
        for (subject, answer) in answers {
            let said = answer.kind();
            let (about, status, fits) = match *subject {
                Subject::Attempt(..) => {
                    let Some(attempt) = &attempt else { continue };
                    (String::new(), attempt.status.as_str(), agrees(attempt.status, said))
                }
                Subject::Reversal(_, n) => {
                    let Some(it) = reversals.iter().find(|it| it.n == n) else { continue };
                    (format!("reversal rev_{}: ", self.reversal_ulid(it)), it.status.as_str(), reversal_agrees(it.status, said))
                }
            };
            if !fits {
                let message = about + &disagreement(status, said);
                findings.push(FindingView { code: "rail_disagrees".into(), message });
            }
        }
        if left_out > 0 {
            let message = format!("the rail was not asked about {left_out} more reversals that are not final: check again");
            findings.push(FindingView { code: "rail_not_asked".into(), message });
        }
        if record.needs_review {
            findings
                .push(FindingView { code: "needs_review".into(), message: "the settlement waits for a person to look at it".to_owned() });
        }
        Ok(ReconcileView { consistent: findings.is_empty(), findings, settlement: self.view(&record, caller.client_id) })
    }

    fn last_attempt(&self, record: &SettlementRecord) -> Result<Option<AttemptRecord>> {
        match record.attempts {
            0 => Ok(None),
            n => Ok(typed(self.store.get(&Key::Attempt((record.no, n)))?)?),
        }
    }

    /// A settlement's reversals, oldest first.
    pub(super) fn reversals_of(&self, record: &SettlementRecord) -> Result<Vec<ReversalRecord>> {
        match record.reversals {
            0 => Ok(Vec::new()),
            _ => Ok(typed_all(self.store.scan(&Scan::reversals(record.no))?)?),
        }
    }
}

/// What is wrong about an answer that does not fit the record.
fn disagreement(status: &str, answer: AnswerKind) -> String {
    match answer {
        AnswerKind::Unknown => "the rail could not say how it stands".to_owned(),
        AnswerKind::Completed | AnswerKind::Accepted | AnswerKind::Declined | AnswerKind::NotSent | AnswerKind::Returned => {
            format!("the rail says {}, the record says {status}", answer.as_str())
        }
    }
}

/// Whether the rail's answer fits the record of the attempt, after the answer was applied.
const fn agrees(status: AttemptStatus, answer: AnswerKind) -> bool {
    match (status, answer) {
        (AttemptStatus::Completed, AnswerKind::Completed | AnswerKind::Returned) => true,
        (AttemptStatus::Declined | AttemptStatus::NotSent, AnswerKind::Declined | AnswerKind::NotSent) => true,
        (AttemptStatus::Started | AttemptStatus::Accepted | AttemptStatus::Unknown, AnswerKind::Accepted | AnswerKind::NotSent) => true,
        (AttemptStatus::Started | AttemptStatus::Accepted | AttemptStatus::Unknown, AnswerKind::Unknown) => false,
        (AttemptStatus::Completed, AnswerKind::Accepted | AnswerKind::Declined | AnswerKind::NotSent | AnswerKind::Unknown) => false,
        (
            AttemptStatus::Declined | AttemptStatus::NotSent,
            AnswerKind::Completed | AnswerKind::Accepted | AnswerKind::Unknown | AnswerKind::Returned,
        ) => false,
        (
            AttemptStatus::Started | AttemptStatus::Accepted | AttemptStatus::Unknown,
            AnswerKind::Completed | AnswerKind::Declined | AnswerKind::Returned,
        ) => false,
    }
}

/// Whether the rail's answer fits the record of the reversal, after the answer was applied.
const fn reversal_agrees(status: ReversalStatus, answer: AnswerKind) -> bool {
    match (status, answer) {
        (ReversalStatus::Completed, AnswerKind::Completed) => true,
        (ReversalStatus::Failed, AnswerKind::Declined | AnswerKind::NotSent) => true,
        (ReversalStatus::Accepted, AnswerKind::NotSent) => true,
        (ReversalStatus::Submitted | ReversalStatus::Unknown, AnswerKind::Accepted | AnswerKind::NotSent) => true,
        (
            ReversalStatus::Completed,
            AnswerKind::Accepted | AnswerKind::Declined | AnswerKind::NotSent | AnswerKind::Unknown | AnswerKind::Returned,
        ) => false,
        (ReversalStatus::Failed, AnswerKind::Completed | AnswerKind::Accepted | AnswerKind::Unknown | AnswerKind::Returned) => false,
        (
            ReversalStatus::Accepted,
            AnswerKind::Completed | AnswerKind::Accepted | AnswerKind::Declined | AnswerKind::Unknown | AnswerKind::Returned,
        ) => false,
        (
            ReversalStatus::Submitted | ReversalStatus::Unknown,
            AnswerKind::Completed | AnswerKind::Declined | AnswerKind::Unknown | AnswerKind::Returned,
        ) => false,
    }
}
