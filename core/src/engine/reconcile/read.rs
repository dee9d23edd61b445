//! Reads: reconciliations, and what they found.

use crate::api::{MatchedView, ReconciliationView, ReconciliationsView, StatementFindingView, StatementFindingsView, StatementLineView};
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{OperatorNo, SettlementNo, Ulid};
use crate::money::Money;
use crate::store::record::{
    FindingKind, FindingRecord, Key, OperatorRecord, ReconciliationRecord, ReversalRecord, ReviewRecord, SettlementRecord, StatementLine,
};
use crate::store::{Scan, typed, typed_all};
use crate::time::rfc3339;

/// The most findings that are shown with a settlement.
const SHOWN: usize = 100;
/// The kind of the public ids.
const KIND: &str = "reconciliation";

impl Engine {
    /// The public id of a reconciliation: like those of settlements, it leads to the number without an index.
    pub fn reconciliation_id(&self, run: &ReconciliationRecord) -> String {
        let salt = self.id_key.child(KIND, SettlementNo(run.no), 0, run.created_at).0 as u64;
        format!("rec_{}", self.id_key.seal(SettlementNo(run.no), run.created_at, salt))
    }

    fn reconciliation_record(&self, id: &str) -> Result<ReconciliationRecord> {
        let unknown = || Error::new(ErrorCode::ReconciliationNotFound);
        let ulid = id.strip_prefix("rec_").and_then(Ulid::parse).ok_or_else(unknown)?;
        let run: Option<ReconciliationRecord> = typed(self.store.get(&Key::Reconciliation(self.id_key.open(ulid).0))?)?;
        run.filter(|run| self.reconciliation_id(run) == format!("rec_{ulid}")).ok_or_else(unknown)
    }

    /// A reconciliation.
    ///
    /// # Errors
    /// `reconciliation_not_found`.
    pub fn reconciliation(&self, id: &str) -> Result<ReconciliationView> {
        self.reconciliation_view(&self.reconciliation_record(id)?)
    }

    /// The view of a reconciliation.
    pub fn reconciliation_view(&self, run: &ReconciliationRecord) -> Result<ReconciliationView> {
        let by: Option<OperatorRecord> = if run.by == OperatorNo(0) { None } else { typed(self.store.get(&Key::Operator(run.by))?)? };
        Ok(ReconciliationView {
            id: self.reconciliation_id(run),
            provider: self.provider_id(run.provider).into(),
            file: run.name.clone(),
            sha256: run.digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            format: run.format,
            status: run.status,
            period_from: run.from.map(rfc3339),
            period_to: run.to.map(rfc3339),
            lines: run.lines,
            skipped: run.skipped,
            matched: MatchedView { rail_reference: run.by_reference, rail_key: run.by_key, amount: run.by_amount },
            missing_here: run.missing_here,
            missing_there: run.missing_there,
            amount_differs: run.amount_differs,
            duplicate_there: run.duplicate_there,
            made_by: by.map(|by| format!("opr_{}", by.id)),
            created_at: rfc3339(run.created_at),
            finished_at: run.finished_at.map(rfc3339),
        })
    }

    /// A page of reconciliations, newest first, after the one with the id `cursor`; of this provider, or all.
    ///
    /// # Errors
    /// `invalid_cursor`, `provider_not_found`.
    pub fn reconciliations(&self, provider: Option<&str>, cursor: Option<&str>, limit: usize) -> Result<ReconciliationsView> {
        let known = |id| self.routes().number(id).ok_or_else(|| Error::new(ErrorCode::ProviderNotFound));
        let provider = provider.map(known).transpose()?;
        let before = match cursor {
            Some(cursor) => self.reconciliation_record(cursor).map_err(|_| Error::new(ErrorCode::InvalidCursor))?.no,
            None => i64::MAX,
        };
        let mut found: Vec<ReconciliationRecord> = typed_all(self.store.scan(&Scan::reconciliations(provider, before, limit + 1))?)?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next_cursor = found.last().filter(|_| more).map(|last| self.reconciliation_id(last));
        let data = found.iter().map(|run| self.reconciliation_view(run)).collect::<Result<_>>()?;
        Ok(ReconciliationsView { data, has_more: more, next_cursor })
    }

    /// A page of what a reconciliation found, in the order of the statement's lines, and then what is missing there; after the finding
    /// with the number `cursor`. Of this kind, or all.
    ///
    /// # Errors
    /// `reconciliation_not_found`, `invalid_cursor`.
    pub fn findings(&self, id: &str, kind: Option<FindingKind>, cursor: Option<&str>, limit: usize) -> Result<StatementFindingsView> {
        let run = self.reconciliation_record(id)?;
        let after = cursor.map_or(Ok(0), |cursor| cursor.parse().map_err(|_| Error::new(ErrorCode::InvalidCursor)))?;
        let mut found: Vec<FindingRecord> = typed_all(self.store.scan(&Scan::findings(run.no, kind, after, limit + 1))?)?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next_cursor = found.last().filter(|_| more).map(|last| last.n.to_string());
        let id = self.reconciliation_id(&run);
        let data = found.iter().map(|finding| self.finding_view(&id, finding)).collect::<Result<_>>()?;
        Ok(StatementFindingsView { data, has_more: more, next_cursor })
    }

    /// What complete reconciliations found about a settlement, in the order in which it was found.
    pub(crate) fn findings_about(&self, settlement: SettlementNo) -> Result<Vec<StatementFindingView>> {
        let found: Vec<FindingRecord> = typed_all(self.store.scan(&Scan::findings_of(settlement, SHOWN))?)?;
        let mut views = Vec::with_capacity(found.len());
        for finding in &found {
            let run: Option<ReconciliationRecord> = typed(self.store.get(&Key::Reconciliation(finding.run))?)?;
            if let Some(run) = run {
                views.push(self.finding_view(&self.reconciliation_id(&run), finding)?);
            }
        }
        Ok(views)
    }

    fn finding_view(&self, reconciliation: &str, finding: &FindingRecord) -> Result<StatementFindingView> {
        let no = finding.settlement;
        let settlement: Option<SettlementRecord> = if no.0 == 0 { None } else { typed(self.store.get(&Key::Settlement(no))?)? };
        let reversal: Option<ReversalRecord> =
            if finding.child == 0 { None } else { typed(self.store.get(&Key::Reversal((no, finding.child)))?)? };
        let review: Option<ReviewRecord> = match &settlement {
            Some(record) if record.needs_review => typed(self.store.get(&Key::Review((no, finding.child)))?)?,
            Some(_) | None => None,
        };
        let amount = reversal.as_ref().map(|it| it.amount).or_else(|| settlement.as_ref().map(|it| it.amount));
        Ok(StatementFindingView {
            n: finding.n,
            reconciliation_id: reconciliation.to_owned(),
            kind: finding.kind,
            settlement_id: settlement.as_ref().map(|record| self.settlement_id(record)),
            reversal: Some(finding.child).filter(|n| *n > 0),
            reference: settlement.as_ref().map(|record| record.reference.as_str().to_owned()),
            client_id: settlement.as_ref().map(|it| Ok::<_, Error>(format!("cli_{}", self.client_of(it.client)?))).transpose()?,
            status: settlement.as_ref().map(|it| reversal.as_ref().map_or_else(|| it.status.name(), |reversal| reversal.status.name())),
            amount: settlement.as_ref().zip(amount).map(|(it, amount)| Money::from_minor(amount, it.currency).into()),
            currency: settlement.as_ref().map(|it| it.currency.code().to_owned()),
            matched_by: finding.matched_by,
            confidence: finding.confidence,
            line: finding.line.as_deref().map(line_view),
            waits: review.is_some(),
        })
    }
}

fn line_view(line: &StatementLine) -> StatementLineView {
    let at = rfc3339(line.at);
    StatementLineView {
        line: line.line,
        direction: line.direction,
        amount: Money::from_minor(line.amount, line.currency).into(),
        currency: line.currency.code().to_owned(),
        booked_at: if line.whole_day { at[..10].to_owned() } else { at },
        references: line.references.clone(),
        participant: line.participant.clone(),
        entry: line.entry.clone(),
        text: line.text.clone(),
    }
}
