//! Verification of a whole database, for an operator who wants proof that it is sound.
//!
//! ```
//! use std::sync::Arc;
//!
//! use railgate::engine::verify::verify;
//! use railgate::store::memory::MemoryStore;
//! use railgate::store::record::{EventRecord, RecordKind};
//! use railgate::store::{Commit, Scan, Store as _, Write, typed_all};
//! # use railgate::{Config, Gateway, api::CreateRequest, env::ManualEnv};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let store = Arc::new(MemoryStore::new());
//! # let gateway = Gateway::open_with(store.clone(), Arc::new(ManualEnv::new(1_795_257_497_042, 1)), Config::sandbox())?;
//! # let enrolled = gateway.enroll("Shop")?;
//! # gateway.client(&enrolled).create(CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?))?;
//! # gateway.work()?;
//! let report = verify(&*store, &mut |_| {})?;
//! assert!(report.is_ok());
//! assert_eq!((report.settlements, report.events), (1, 5));
//!
//! // Somebody moves an event by a second. The chain of hashes tells which one.
//! let events: Vec<EventRecord> = typed_all(store.scan(&Scan::all(RecordKind::Event, 2))?)?;
//! let event = events.last().cloned().ok_or("there is no event")?;
//! store.commit(&Commit { writes: vec![Write::Replace(EventRecord { at: event.at + 1_000, ..event }.into())] })?;
//!
//! let report = verify(&*store, &mut |_| {})?;
//! assert_eq!(report.first_broken.map(|link| link.sequence), Some(2));
//! # Ok(())
//! # }
//! ```
//!
//! It checks that the files are whole, traces are unbroken, records match their traces, transfers balance, account totals are the sums of their
//! transfers, the counters of limits are the sums of their payments, clients were told of the credit that their terms have, no
//! settlement is at two providers at once, both sides of a
//! payment between clients agree and nothing stays between them, every event has one place in the log, webhooks have what they need,
//! what waits for a person exists, keys and tokens have an owner, what devices measured adds up, and what clients used at another gateway
//! before they came is not used here.

mod access;
mod books;
mod bundles;
mod cells;
mod credit;
mod log;
mod movements;
mod pairs;
mod quality;
mod reconciliations;
mod reviews;
mod statement;
mod trail;
mod tree;
mod usage;
mod webhooks;

use std::collections::{BTreeMap, HashSet};

use crate::error::Result;
use crate::ids::{IdKey, SettlementNo};
use crate::ledger::{AccountId, Totals};
use crate::store::record::{EventRecord, Key, MetaRecord, RecordKind, SettlementRecord, SimPaymentRecord, TaskKey, TaskKind, TaskRecord};
use crate::store::{Scan, Store, StoreError, typed, typed_all};
use crate::time::Millis;
use crate::trace::{About, settlement_ulid};

use log::LogCheck;
use usage::UsageCheck;

/// The progress of a verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Number of settlements verified.
    pub settlements_done: u64,
    /// The highest settlement number: an upper bound for their count.
    pub settlements_total: u64,
}

/// A problem that the verification found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyProblem {
    /// The record concerned, such as a settlement (`stl_…`), an account or a currency.
    pub what: String,
    /// Stable code of the problem.
    pub code: &'static str,
    /// One sentence for people.
    pub message: String,
}

/// An event that differs from what was recorded: it was changed, removed or replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenLink {
    /// What the trace is about: `stl_…`, or a deposit, a withdrawal or a change of credit by its reference and its client's number.
    pub settlement: String,
    /// The event's sequence in the trace, from 1.
    pub sequence: u32,
    /// The code of the problem.
    pub code: &'static str,
    /// A description of the problem: one sentence for people.
    pub message: String,
    settlement_no: SettlementNo,
}

/// The counts and findings of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// Number of settlements.
    pub settlements: u64,
    /// Number of events.
    pub events: u64,
    /// Number of transfers.
    pub transfers: u64,
    /// Number of accounts.
    pub accounts: u64,
    /// Number of open tasks.
    pub tasks: u64,
    /// Number of events that have their place in the log; the others wait for it.
    pub logged: u64,
    /// Number of webhooks.
    pub webhooks: u64,
    /// Number of stored webhook deliveries.
    pub deliveries: u64,
    /// Number of payments that the simulated operator received more than once.
    pub received_twice: u64,
    /// The first broken link of all traces: in the oldest one, the earliest event.
    pub first_broken: Option<BrokenLink>,
    /// The problems, at most [`MOST_PROBLEMS`].
    pub problems: Vec<VerifyProblem>,
    /// Whether there are more problems than listed.
    pub truncated: bool,
}

/// Maximum number of problems in a report.
pub const MOST_PROBLEMS: usize = 1_000;
const PAGE: usize = 500;

impl VerifyReport {
    /// Whether the verification found no problem.
    pub fn is_ok(&self) -> bool {
        self.problems.is_empty()
    }

    fn problem(&mut self, what: impl Into<String>, code: &'static str, message: impl Into<String>) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(VerifyProblem { what: what.into(), code, message: message.into() });
        } else {
            self.truncated = true;
        }
    }

    /// Records a problem of one event.
    fn broken(&mut self, what: &str, no: SettlementNo, sequence: u32, (code, message): (&'static str, &str)) {
        // For the same event, a problem in its trace says more than one in the log.
        let rank = |no: SettlementNo, sequence: u32, code: &str| (no, sequence, !code.starts_with("trail_"));
        let before = |first: &BrokenLink| rank(no, sequence, code) < rank(first.settlement_no, first.sequence, first.code);
        if self.first_broken.as_ref().is_none_or(before) {
            let (settlement, message) = (what.to_owned(), message.to_owned());
            self.first_broken = Some(BrokenLink { settlement, sequence, code, message, settlement_no: no });
        }
    }
}

/// Reads the whole store, page by page, and reports all inconsistencies. The store should be a
/// snapshot, or not be written to meanwhile.
pub fn verify(store: &dyn Store, progress: &mut dyn FnMut(Progress)) -> Result<VerifyReport> {
    let mut report = VerifyReport::default();
    for found in store.damage()? {
        report.problem("the database file", "file_damaged", found);
    }
    let key = id_key(store)?;
    access::access(store, &mut report)?;
    let tasks = open_tasks(store, &mut report)?;
    let mut sums: BTreeMap<AccountId, Totals> = BTreeMap::new();
    let moved = books::journal(store, &mut report, &mut sums)?;
    books::accounts(store, &mut report, &sums)?;
    drop(sums);
    let mut log = LogCheck::begin(store, &key, &mut report)?;
    let last: Option<SettlementRecord> = typed(store.scan(&Scan::last(RecordKind::Settlement))?.pop())?;
    let settlements_total = last.map_or(0, |s| s.no.0 as u64);
    let mut after = SettlementNo(0);
    let mut references = HashSet::new();
    let mut usage = UsageCheck::default();
    loop {
        let page: Vec<SettlementRecord> = typed_all(store.scan(&Scan::after(&Key::Settlement(after), PAGE))?)?;
        let Some(last) = page.last() else { break };
        after = last.no;
        for record in &page {
            let what = format!("stl_{}", settlement_ulid(&key, record));
            report.settlements += 1;
            usage.settlement(record);
            report.events += u64::from(record.version);
            if !references.insert((record.client, record.reference.as_str().to_owned())) {
                report.problem(&what, "reference_twice", "another settlement of the client has the same reference");
            }
            if !record.status.is_final() && !record.waits_for_user() && !tasks.contains(&record.no) {
                report.problem(&what, "no_task", format!("it is {}, but the outbox has no task for it", record.status.as_str()));
            }
            one_settlement(store, &key, record, &what, &mut log, &mut report)?;
        }
        progress(Progress { settlements_done: report.settlements, settlements_total });
    }
    movements::movements(store, &key, moved, &mut log, &mut report)?;
    bundles::bundles(store, &key, &mut log, &mut report)?;
    log.end(&mut report)?;
    usage.end(store, &mut report)?;
    cells::cells(store, &mut report)?;
    reviews::reviews(store, &mut report)?;
    reconciliations::reconciliations(store, &mut report)?;
    webhooks::webhooks(store, &mut report)?;
    quality::quality(store, &mut report)?;
    Ok(report)
}

fn one_settlement(
    store: &dyn Store,
    key: &IdKey,
    record: &SettlementRecord,
    what: &str,
    log: &mut LogCheck<'_>,
    report: &mut VerifyReport,
) -> Result<()> {
    let mut places = log.trace(About::Settlement(record), what);
    let (problems, broken) = agreement(store, key, record, &mut |event| places.event(event, report))?;
    if let (Some(sequence), Some((code, message))) = (broken, problems.first()) {
        report.broken(what, record.no, sequence, (code, message));
    }
    for (code, message) in problems {
        report.received_twice += u64::from(code == RECEIVED_TWICE);
        report.problem(what, code, message);
    }
    Ok(())
}

const RECEIVED_TWICE: &str = "received_twice";

fn id_key(store: &dyn Store) -> Result<IdKey> {
    let meta: Option<MetaRecord> = typed(store.get(&Key::Meta(super::ID_KEY.to_owned()))?)?;
    let value = meta.and_then(|m| m.value.try_into().ok());
    Ok(IdKey(value.ok_or_else(|| StoreError::corrupt("reading the id key", "this is not a database of the gateway"))?))
}

fn open_tasks(store: &dyn Store, report: &mut VerifyReport) -> Result<HashSet<SettlementNo>> {
    let mut driven = HashSet::new();
    let mut after = TaskKey(i64::MIN);
    loop {
        let page: Vec<TaskRecord> = typed_all(store.scan(&Scan::tasks(after, Millis::MAX >> 20, PAGE))?)?;
        let Some(last) = page.last() else { return Ok(driven) };
        after = last.key;
        report.tasks += page.len() as u64;
        driven.extend(page.iter().filter(|t| matches!(t.kind, TaskKind::Dispatch | TaskKind::Inquire)).map(|t| t.settlement));
    }
}

/// Verifies one settlement: trace, state, journal, attempts, reversals and the operator's books.
pub(crate) fn settlement(store: &dyn Store, key: &IdKey, record: &SettlementRecord) -> Result<Vec<(&'static str, String)>> {
    Ok(agreement(store, key, record, &mut |_| Ok(()))?.0)
}

/// Like [`settlement`]. Also passes each event to `each`, and returns the sequence of the trace's first broken
/// link, which is then the first problem.
fn agreement(
    store: &dyn Store,
    key: &IdKey,
    record: &SettlementRecord,
    each: &mut dyn FnMut(&EventRecord) -> Result<()>,
) -> Result<(Findings, Option<u32>)> {
    let mut problems = Vec::new();
    let broken = trail::check_trail(store, key, record, &mut problems, each)?;
    books::check_journal(store, record, &mut problems)?;
    trail::check_attempts(store, record, &mut problems)?;
    trail::check_reversals(store, record, &mut problems)?;
    pairs::check_pair(store, record, &mut problems)?;
    for payment in typed_all::<SimPaymentRecord>(store.scan(&Scan::sim_payments(record.no))?)? {
        if payment.received > 1 {
            problems.push((RECEIVED_TWICE, format!("the operator received attempt {} {} times", payment.child, payment.received)));
        }
    }
    Ok((problems, broken))
}

type Findings = Vec<(&'static str, String)>;
