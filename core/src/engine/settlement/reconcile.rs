//! Checks of a settlement that exists: do its record, ledger, trace and rail agree?

use std::collections::VecDeque;

use crate::api::{Action, Caller, FindingView, RailCall, ReconcileView, Subject, Target};
use crate::error::Result;
use crate::ids::{ProviderNo, SettlementNo, Ulid};
use crate::lifecycle::attempt::AnswerKind;
use crate::lifecycle::{AttemptStatus, ReversalStatus};
use crate::rail::{Carrier, RailAnswer};
use crate::store::record::{AttemptRecord, AuditAction, Key, ReversalRecord, SettlementRecord};
use crate::store::{Scan, typed, typed_all};

use crate::engine::group::{Command, Decision, Deed, Prefetch, subject};
use crate::engine::{Engine, verify};

/// How many reversals a rail is asked about in one check: the last, and the oldest that are not final.
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

    fn decide(&self, _: &mut Decision<'_, '_>) -> Result<()> {
        Ok(())
    }

    fn deed(&self, _: Option<&()>) -> Option<Deed> {
        Some(Deed::new(AuditAction::CheckSettlement).target(self.0.0))
    }
}

/// A rail's answer to one of [`Engine::inquiries`]. It changes what an answer to an inquiry of the outbox would, with two exceptions:
/// that the rail does not find what is open proves nothing, because it may still be on its way; and that it does not find what it
/// carried out is a contradiction, if the rail declares such answers authoritative.
#[derive(Debug, Clone)]
pub struct ReportInquiry {
    /// The attempt or reversal that the rail was asked about.
    pub subject: Subject,
    /// The answer.
    pub answer: RailAnswer,
}

impl Command for ReportInquiry {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let engine = d.engine;
        match self.subject {
            Subject::Attempt(no, n) => {
                // The settlement first: its version guarantees that what is read after it is current.
                let change = engine.change(d.overlay, no)?;
                let attempt = engine.attempt(d.overlay, no, n)?;
                let done = attempt.status == AttemptStatus::Completed;
                let answer = self.weighed(engine, done, attempt.provider, Action::Inquire);
                engine.attempt_answered(d.overlay, d.writer, change, attempt, answer.into())?;
            }
            Subject::Reversal(no, n) => {
                let change = engine.change(d.overlay, no)?;
                let reversal = engine.reversal_record(d.overlay, no, n)?;
                let done = reversal.status == ReversalStatus::Completed;
                let answer = self.weighed(engine, done, change.record.provider, Action::InquireReversal);
                engine.reversal_answered(d.overlay, d.writer, change, reversal, answer.into())?;
            }
        }
        Ok(())
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add(subject(self.subject));
    }
}

impl ReportInquiry {
    fn weighed(&self, engine: &Engine, done: bool, provider: ProviderNo, action: Action) -> &RailAnswer {
        match self.answer {
            RailAnswer::NotSent if !done || !engine.proves_not_sent(provider, action) => &RailAnswer::Unknown,
            RailAnswer::NotSent
            | RailAnswer::Completed { .. }
            | RailAnswer::Accepted { .. }
            | RailAnswer::Declined { .. }
            | RailAnswer::Unknown
            | RailAnswer::Returned { .. } => &self.answer,
        }
    }
}

/// The questions to a rail about a settlement.
#[derive(Debug, Default)]
pub struct Inquiries {
    /// The calls to make. Apply each answer with [`ReportInquiry`].
    pub calls: Vec<RailCall>,
    /// How many reversals that are not final are left out.
    pub left_out: usize,
}

impl Engine {
    /// What to ask the rail before reconciling: about the last attempt, and about the reversals that are not final and the last one,
    /// unless nothing of them has left.
    pub fn inquiries(&self, record: &SettlementRecord) -> Result<Inquiries> {
        let mut found = Inquiries::default();
        if let Some(attempt) = self.last_attempt(record)? {
            found.calls.push(self.attempt_call(record, &attempt, Action::Inquire, 0)?);
        }
        let mut asked: VecDeque<_> = self.reversals_of(record)?.into();
        let last = asked.back().map(|reversal| reversal.n);
        asked.retain(|it| it.status != ReversalStatus::Accepted && (!it.status.is_final() || Some(it.n) == last));
        while asked.len() > MOST_REVERSALS {
            // The newest but one: the oldest have waited the longest.
            asked.remove(asked.len() - 2);
            found.left_out += 1;
        }
        for reversal in asked {
            found.calls.push(self.reversal_call(record, &reversal, Action::InquireReversal, 0)?);
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
            self.run(ReportInquiry { subject, answer: answer.clone() })?;
            answers.push((subject, answer));
        }
        Ok((answers, left_out))
    }

    /// Compares record, ledger, trace and the rail's answers, which were [applied](ReportInquiry) before, so that they repaired what
    /// they can. `left_out`: how many reversals the rail was not asked about.
    pub fn reconcile(&self, caller: &Caller, target: &Target, answers: &[(Subject, RailAnswer)], left_out: usize) -> Result<ReconcileView> {
        let record = self.settlement(caller, target)?;
        let mut findings: Vec<FindingView> = verify::settlement(&*self.store, &self.id_key, &record)?
            .into_iter()
            .map(|(code, message)| FindingView { code: code.into(), message })
            .collect();
        for (subject, answer) in answers {
            let message = match *subject {
                Subject::Attempt(no, n) => {
                    let attempt: Option<AttemptRecord> = typed(self.store.get(&Key::Attempt((no, n)))?)?;
                    attempt.filter(|it| !agrees(it.status, answer.kind())).map(|it| disagreement(None, it.status.as_str(), answer.kind()))
                }
                Subject::Reversal(no, n) => {
                    let reversal: Option<ReversalRecord> = typed(self.store.get(&Key::Reversal((no, n)))?)?;
                    let odd = reversal.filter(|it| !reversal_agrees(it.status, answer.kind()));
                    odd.map(|it| disagreement(Some(self.reversal_ulid(&it)), it.status.as_str(), answer.kind()))
                }
            };
            findings.extend(message.map(|message| FindingView { code: "rail_disagrees".into(), message }));
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

    fn reversals_of(&self, record: &SettlementRecord) -> Result<Vec<ReversalRecord>> {
        match record.reversals {
            0 => Ok(Vec::new()),
            _ => Ok(typed_all(self.store.scan(&Scan::reversals(record.no))?)?),
        }
    }
}

/// What is wrong about an answer that does not fit the record of the payment or of a reversal.
fn disagreement(reversal: Option<Ulid>, status: &str, answer: AnswerKind) -> String {
    let said = match answer {
        AnswerKind::Unknown => "the rail could not say how the payment stands".to_owned(),
        AnswerKind::Completed | AnswerKind::Accepted | AnswerKind::Declined | AnswerKind::NotSent | AnswerKind::Returned => {
            format!("the rail says {}, the record says {status}", answer.as_str())
        }
    };
    match reversal {
        None => said,
        Some(id) => format!("reversal rev_{id}: {}", said.replace("the payment", "it")),
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
