//! Makes a reconciliation: reads the statement twice, compares in between, and keeps what was found.

use std::io::{self, BufRead};

use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ProviderNo, SettlementNo};
use crate::reconcile::{Head, Lines, RETURN, REVERSAL, Settings, read, unusable};
use crate::store::record::{
    Digest32, FindingKind, FindingRecord, MatchesRecord, ReconciliationRecord, ReconciliationStatus, StatementFormat, StatementLine,
};
use crate::store::{Scan, Unique, typed, typed_all};
use crate::time::Millis;

use super::begin::{BeginReconciliation, Begun};
use super::compare::{Comparison, Draft, FINDINGS_MAX, Found, too_many};
use super::earlier::{self, bytes};
use super::keep::{Keep, KeepReconciled, Kept};

/// How long before a statement begins the settlements may have been created that it is compared with. Older ones are found by their key.
const LOOK_BACK: Millis = 7 * 86_400_000;
/// How many findings are kept in one commit.
const BATCH: usize = 100;
/// How many earlier reconciliations are looked at.
const EARLIER: usize = 2_000;

/// A file that can be read more than once.
pub trait Statement {
    /// Begins to read it.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn open(&mut self) -> io::Result<Box<dyn BufRead + '_>>;
}

/// A statement that was read once, and is well formed.
pub struct ReadStatement {
    lines: Lines,
    head: Head,
    settings: Settings,
}

impl ReadStatement {
    /// Its format.
    pub const fn format(&self) -> StatementFormat {
        self.head.format
    }
}

/// Runs the commands of a reconciliation.
pub trait ReconcileHost {
    /// Runs the command that begins it.
    ///
    /// # Errors
    /// Those of the command.
    fn begin(&mut self, command: BeginReconciliation) -> Result<Begun>;
    /// Runs a step of it.
    ///
    /// # Errors
    /// Those of the command.
    fn keep(&mut self, command: KeepReconciled) -> Result<Kept>;
}

impl Engine {
    /// Reconciles a file as a whole: reads and compares it, unless that was done before. The format in `order` does not matter: it is
    /// found.
    ///
    /// # Errors
    /// `provider_not_found`, `statement_unusable`, `request_in_progress`, and those of the host.
    pub fn reconcile_file(
        &self,
        order: BeginReconciliation,
        statement: &mut dyn Statement,
        host: &mut dyn ReconcileHost,
    ) -> Result<ReconciliationRecord> {
        let is_made = self.is_reconciled(&order.provider, order.digest)? && !order.again;
        let read = if is_made { None } else { Some(self.read_statement(&order.provider, statement)?) };
        let format = read.as_ref().map_or(order.format, ReadStatement::format);
        let begun = host.begin(BeginReconciliation { format, ..order })?;
        match read {
            Some(read) if begun.is_due => self.reconcile_statement(begun, read, statement, &mut |step| host.keep(step)),
            Some(_) | None => Ok(begun.run),
        }
    }

    /// Whether a file of a provider was compared to its end, at least once.
    ///
    /// # Errors
    /// `provider_not_found`; `store_unavailable`.
    pub fn is_reconciled(&self, provider: &str, digest: Digest32) -> Result<bool> {
        let found: Option<ReconciliationRecord> =
            typed(self.store.find(&Unique::ReconciliationOf(self.number_of(provider)?, digest, 0))?)?;
        Ok(found.is_some_and(|run| run.status == ReconciliationStatus::Done))
    }

    /// Reads a statement of a provider. It is not compared yet, and nothing is kept of it.
    ///
    /// # Errors
    /// `provider_not_found`; `statement_unusable`, with the place.
    pub fn read_statement(&self, provider: &str, statement: &mut dyn Statement) -> Result<ReadStatement> {
        let settings = Settings::parse(&self.provider(self.number_of(provider)?)?.settings)?;
        let mut lines = Lines::default();
        let head = read(&mut *open(statement)?, &settings, &mut |line| {
            lines.push(&line, |ulid| self.id_key.open(ulid));
            Ok(())
        })?;
        lines.sort();
        Ok(ReadStatement { lines, head, settings })
    }

    /// Compares a statement and keeps what is found by `keep`, which runs a command. Returns the reconciliation as it is then.
    ///
    /// # Errors
    /// `request_in_progress` if another host has taken it over; those of `keep`.
    pub fn reconcile_statement(
        &self,
        begun: Begun,
        read: ReadStatement,
        statement: &mut dyn Statement,
        keep: &mut dyn FnMut(KeepReconciled) -> Result<Kept>,
    ) -> Result<ReconciliationRecord> {
        let no = begun.run.no;
        let mut steps = Steps { run: no, version: begun.run.version, keep };
        let made = self.make(begun.run, read, statement, &mut steps);
        if made.is_err() {
            // The next one need not wait until this host's time is over. If that fails too, it does.
            let _ = steps.step(Keep::Left);
        }
        made
    }

    fn make(
        &self,
        run: ReconciliationRecord,
        read: ReadStatement,
        statement: &mut dyn Statement,
        steps: &mut Steps<'_>,
    ) -> Result<ReconciliationRecord> {
        while steps.step(Keep::Cleared)?.more {}
        let ReadStatement { lines, head, settings } = read;
        let (period, grace) = (head.period.or_else(|| lines.span()), settings.grace);
        let runs = self.earlier(run.provider)?;
        let due = period.and_then(|(from, to)| due(from, to, grace, &runs));
        let near = period.map_or(0..0, |(from, to)| due.map_or(from, |(due, _)| due.min(from)) - grace..to.saturating_add(grace));
        let mut comparison = Comparison::new(self, run.provider, lines, grace, near);
        let (first, last) = match period {
            Some((from, to)) => {
                let from = due.map_or(from, |(due, _)| due.min(from)) - LOOK_BACK - grace;
                let (first, end) = self.numbers_of(Some(from), Some(to.saturating_add(grace)))?;
                (SettlementNo(first.0 - 1), SettlementNo(end.0 - 1))
            }
            None => (SettlementNo(0), SettlementNo(0)),
        };
        comparison.walk(first, last, &runs)?;
        let mut found = comparison.finish(due);
        if found.drafts.len() > FINDINGS_MAX {
            return Err(too_many(found.drafts.len()));
        }
        let texts = texts(&found.drafts, &settings, statement)?;
        found.matches.sort_unstable();
        for (n, page) in (1..).zip(found.matches.chunks(earlier::PAGE)) {
            steps.step(Keep::Matches(MatchesRecord { run: run.no, n, pairs: bytes(page) }))?;
        }
        let done = counted(run, &found, &head, period);
        self.keep_findings(done.no, found.drafts, &texts, steps)?;
        steps.step(Keep::Done(Box::new(done.clone())))?;
        typed(self.store.get(&crate::store::record::Key::Reconciliation(done.no))?)?
            .ok_or_else(|| Error::internal("a reconciliation vanished"))
    }

    fn keep_findings(&self, run: i64, drafts: Vec<Draft>, texts: &[(u32, StatementLine)], steps: &mut Steps<'_>) -> Result<()> {
        let text = |line: u32| texts.binary_search_by_key(&line, |(n, _)| *n).ok().map(|at| texts[at].1.clone());
        let finding = |n: i64, draft: &Draft| {
            let line = draft.line.and_then(&text);
            let entry = line.as_ref().map_or(0, crate::reconcile::identity);
            let is_reversal = draft.place & REVERSAL != 0 && draft.place != RETURN;
            FindingRecord {
                run,
                n,
                kind: draft.kind,
                settlement: draft.settlement,
                child: if is_reversal { draft.place & !REVERSAL } else { 0 },
                matched_by: draft.by,
                confidence: draft.confidence,
                entry,
                line: line.map(Box::new),
            }
        };
        for (batch, drafts) in (0..).zip(drafts.chunks(BATCH)) {
            let first = batch * BATCH as i64 + 1;
            let findings = (first..).zip(drafts).map(|(n, draft)| (finding(n, draft), draft.reason)).collect();
            steps.step(Keep::Findings(findings))?;
        }
        Ok(())
    }

    /// The complete reconciliations of a provider, newest first.
    fn earlier(&self, provider: ProviderNo) -> Result<Vec<ReconciliationRecord>> {
        let all: Vec<ReconciliationRecord> = typed_all(self.store.scan(&Scan::reconciliations(Some(provider), i64::MAX, EARLIER))?)?;
        Ok(all.into_iter().filter(|run| run.status == ReconciliationStatus::Done).collect())
    }

    pub(super) fn number_of(&self, provider: &str) -> Result<ProviderNo> {
        self.routes().number(provider).ok_or_else(|| Error::new(ErrorCode::ProviderNotFound))
    }
}

struct Steps<'a> {
    run: i64,
    version: crate::store::record::Version,
    keep: &'a mut dyn FnMut(KeepReconciled) -> Result<Kept>,
}

impl Steps<'_> {
    fn step(&mut self, what: Keep) -> Result<Kept> {
        let kept = (self.keep)(KeepReconciled { run: self.run, expected: self.version, what })?;
        self.version = kept.version;
        Ok(kept)
    }
}

fn open(statement: &mut dyn Statement) -> Result<Box<dyn BufRead + '_>> {
    statement.open().map_err(|error| unusable("byte 0", format!("the file cannot be read: {error}")))
}

/// When something must have been carried out here to be missing there. What was carried out shortly before the statement ends may be in
/// the next one, and what was carried out shortly before it begins is in this one at the latest, if the one before ends there.
fn due(from: Millis, to: Millis, grace: Millis, runs: &[ReconciliationRecord]) -> Option<(Millis, Millis)> {
    let before = runs.iter().filter(|run| run.from.is_some_and(|begin| begin < from)).filter_map(|run| run.to).max();
    let begin = match before {
        Some(end) if end >= from - grace => from.min(end - grace),
        Some(_) | None => from + grace,
    };
    Some((begin, to - grace)).filter(|(begin, end)| begin < end)
}

/// The texts of the lines that findings are about.
fn texts(drafts: &[Draft], settings: &Settings, statement: &mut dyn Statement) -> Result<Vec<(u32, StatementLine)>> {
    let mut wanted = drafts.iter().filter_map(|draft| draft.line).peekable();
    let mut found = Vec::new();
    if wanted.peek().is_none() {
        return Ok(found);
    }
    let mut n = 0;
    read(&mut *open(statement)?, settings, &mut |line| {
        while wanted.next_if(|it| *it < n).is_some() {}
        if wanted.next_if_eq(&n).is_some() {
            found.push((n, line));
        }
        n += 1;
        Ok(())
    })?;
    Ok(found)
}

fn counted(run: ReconciliationRecord, found: &Found, head: &Head, period: Option<(Millis, Millis)>) -> ReconciliationRecord {
    let of = |kind: FindingKind| found.drafts.iter().filter(|draft| draft.kind == kind).count() as u32;
    ReconciliationRecord {
        from: period.map(|(from, _)| from),
        to: period.map(|(_, to)| to),
        lines: head.lines,
        skipped: head.skipped,
        by_reference: found.by_reference,
        by_key: found.by_key,
        by_amount: found.by_amount,
        missing_here: of(FindingKind::MissingHere),
        missing_there: of(FindingKind::MissingThere),
        amount_differs: of(FindingKind::AmountDiffers),
        duplicate_there: of(FindingKind::DuplicateThere),
        last: found.matches.last().map_or(SettlementNo(0), |(key, _)| SettlementNo(key >> 16)),
        ..run
    }
}
