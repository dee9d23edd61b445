//! Begins a reconciliation, once for each file.

use serde_json::json;

use crate::api::ReconciliationView;
use crate::engine::group::{Command, Decision, Deed};
use crate::engine::once::Answers;
use crate::error::{Error, ErrorCode, Result, excerpt};
use crate::ids::{OperatorNo, ProviderNo, SettlementNo};
use crate::store::record::{
    AuditAction, Digest32, Key, ReconciliationRecord, ReconciliationStatus, Record, RecordKind, StatementFormat, Version,
};
use crate::store::{Scan, Unique, typed, typed_all};
use crate::time::Millis;

/// How long a host has a reconciliation without a sign of life.
pub(super) const LEASE: Millis = 600_000;

/// Among how many reconciliations of a provider one is looked for that is being made.
const NEWEST: usize = 100;

/// Begins a reconciliation, or finds the one that was made of the same file.
#[derive(Debug, Clone)]
pub struct BeginReconciliation {
    /// The id of the provider.
    pub provider: String,
    /// The name of the file, for people.
    pub name: String,
    /// SHA-256 of the file.
    pub digest: Digest32,
    /// The format of the file.
    pub format: StatementFormat,
    /// Who has it made; 0 if that is done on the store itself.
    pub by: OperatorNo,
    /// Whether a file that was compared before is compared again, with what the gateway has now.
    pub again: bool,
}

/// The output of a [`BeginReconciliation`].
#[derive(Debug, Clone)]
pub struct Begun {
    /// The reconciliation.
    pub run: ReconciliationRecord,
    /// Whether this host is to make it; otherwise it was made before.
    pub is_due: bool,
}

impl Command for BeginReconciliation {
    type Output = Begun;

    /// The second attempt finds the first one's.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Begun> {
        let provider = d.engine.routes().number(&self.provider).ok_or_else(|| Error::new(ErrorCode::ProviderNotFound))?;
        let last = last_of(d, provider, self.digest)?;
        // One after the other, so that each knows what those before it matched.
        if last.as_ref().is_none_or(|run| self.again || run.status == ReconciliationStatus::Running) && is_busy(d, provider)? {
            let said = "a statement of this provider is being compared: wait for the end of that";
            return Err(Error::with(ErrorCode::RequestInProgress, said));
        }
        match last {
            Some(run) if run.status == ReconciliationStatus::Running => {
                let read = run.version;
                let (owner, until, version) = (d.engine.owner, d.overlay.now + LEASE, read.next());
                let run = ReconciliationRecord { owner, until, version, by: self.by, format: self.format, ..run };
                d.overlay.update(run.clone(), read);
                Ok(Begun { run, is_due: true })
            }
            Some(run) if !self.again && !mutated!(StatementComparedTwice) => Ok(Begun { run, is_due: false }),
            earlier => {
                let run = self.fresh(d, provider, earlier.map_or(0, |run| run.round + 1))?;
                d.overlay.insert(run.clone());
                Ok(Begun { run, is_due: true })
            }
        }
    }

    fn is_replay(begun: &Begun) -> bool {
        !begun.is_due
    }

    fn deed(&self, _: Option<&Begun>) -> Option<Deed> {
        let digest: String = self.digest.iter().map(|byte| format!("{byte:02x}")).collect();
        let detail = json!({ "file": excerpt(&self.name), "sha256": digest });
        Some(Deed::new(AuditAction::Reconcile).name(excerpt(&self.provider)).detail(detail.to_string()))
    }
}

impl BeginReconciliation {
    fn fresh(&self, d: &Decision<'_, '_>, provider: ProviderNo, round: u32) -> Result<ReconciliationRecord> {
        let stored: Option<ReconciliationRecord> = typed(d.overlay.store.scan(&Scan::last(RecordKind::Reconciliation))?.pop())?;
        let no = made(d).map(|run| run.no).chain(stored.map(|run| run.no)).max().unwrap_or(0) + 1;
        let now = d.overlay.now;
        Ok(ReconciliationRecord {
            no,
            provider,
            digest: self.digest,
            round,
            name: self.name.chars().filter(|it| !it.is_control()).take(200).collect(),
            format: self.format,
            status: ReconciliationStatus::Running,
            by: self.by,
            created_at: now,
            finished_at: None,
            owner: d.engine.owner,
            until: now + LEASE,
            from: None,
            to: None,
            lines: 0,
            skipped: 0,
            by_reference: 0,
            by_key: 0,
            by_amount: 0,
            missing_here: 0,
            missing_there: 0,
            amount_differs: 0,
            duplicate_there: 0,
            last: SettlementNo(0),
            version: Version::default(),
        })
    }
}

/// The reconciliations that this group begins.
fn made<'d>(d: &'d Decision<'_, '_>) -> impl Iterator<Item = &'d ReconciliationRecord> {
    d.overlay.inserted().filter_map(|record| if let Record::Reconciliation(run) = record { Some(run) } else { None })
}

/// Whether a host makes a reconciliation of this provider.
fn is_busy(d: &Decision<'_, '_>, provider: ProviderNo) -> Result<bool> {
    let now = d.overlay.now;
    let is_made = |run: &ReconciliationRecord| run.status == ReconciliationStatus::Running && run.until > now;
    let stored: Vec<ReconciliationRecord> = typed_all(d.overlay.store.scan(&Scan::reconciliations(Some(provider), i64::MAX, NEWEST))?)?;
    for run in stored.into_iter().filter(|run| !made(d).any(|it| it.no == run.no)) {
        let current: Option<ReconciliationRecord> = d.overlay.get(&Key::Reconciliation(run.no))?;
        if current.is_some_and(|run| is_made(&run)) {
            return Ok(true);
        }
    }
    Ok(made(d).any(|run| run.provider == provider && is_made(run)))
}

/// The last reconciliation of a file.
fn last_of(d: &Decision<'_, '_>, provider: ProviderNo, digest: Digest32) -> Result<Option<ReconciliationRecord>> {
    let mut last: Option<ReconciliationRecord> = None;
    loop {
        let round = last.as_ref().map_or(0, |run| run.round + 1);
        let here = made(d).find(|run| (run.provider, run.digest, run.round) == (provider, digest, round)).cloned();
        let Some(next) = here.map_or_else(|| d.overlay.find(&Unique::ReconciliationOf(provider, digest, round)), |run| Ok(Some(run)))?
        else {
            return Ok(last);
        };
        last = Some(next);
    }
}

impl Answers for BeginReconciliation {
    type View = ReconciliationView;

    fn view(&self, d: &Decision<'_, '_>, begun: &Begun) -> Result<ReconciliationView> {
        d.engine.reconciliation_view(&begun.run)
    }
}
