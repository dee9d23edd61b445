//! Copies a whole store into an empty one, and proves that both are equal.
//!
#![cfg_attr(feature = "sqlite", doc = "```")]
#![cfg_attr(not(feature = "sqlite"), doc = "```ignore")]
//! use railgate::store::copy::copy;
//! use railgate::store::memory::MemoryStore;
//! use railgate::store::sqlite::SqliteStore;
//! # use std::sync::Arc;
//! # use railgate::{Config, Gateway, env::ManualEnv};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("payments.db");
//! # let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
//! let from = Arc::new(MemoryStore::new());
//! let gateway = Gateway::open_with(from.clone(), env.clone(), Config::sandbox())?;
//! let shop = gateway.client(&gateway.enroll("Shop")?).id();
//! drop(gateway); // nobody may change either store during a copy
//!
//! let to = Arc::new(SqliteStore::open(path)?);
//! let report = copy(&*from, &*to, &mut |_| {})?;
//! assert!(report.is_equal());
//!
//! let gateway = Gateway::open_with(to, env, Config::sandbox())?;
//! assert_eq!(gateway.client_by_id(&shop)?.balance("EUR")?.available.as_str(), "1000000.00");
//! # Ok(())
//! # }
//! ```
//!
//! Records are copied kind by kind, in key order, one page per commit. Each commit also moves a mark in the target. An interrupted
//! copy therefore continues where it stopped, and nobody serves half a store, because an engine refuses a store with that mark. At
//! the end, every record of both stores is read again and compared; only then is the mark removed.
//!
//! Accounts are not copied: they are derived from their transfers, as in the source, and must turn out equal. What is only about the
//! servers of the source is left out.

mod mark;

use sha2::{Digest, Sha256};

use super::cell::{Cell, row};
use super::declare::{Flag, has};
use super::record::{Digest32, ID_KEY, Key, MetaRecord, Record, RecordKind};
use super::shared::COPY_MARK;
use super::{Commit, CommitError, Scan, Store, StoreError, Write, typed};
use mark::{Mark, Place};

/// How many records are read at a time and written in one commit.
const PAGE: usize = 1_000;

/// The maximum number of transfer pages posted together. If several nodes drew numbers, money may have come in under a slightly
/// higher number than it went out; the balance guard then needs both in one commit.
const MOST_TOGETHER: usize = 64;

/// The current step of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Records are written into the target.
    Copying,
    /// The source is read again.
    ReadingSource,
    /// The target is read again.
    ReadingTarget,
}

/// The progress of a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The current step.
    pub step: Step,
    /// The kind of records in progress.
    pub kind: RecordKind,
    /// How many records of all kinds this step has finished, including those of an interrupted copy that this one continues.
    pub records: u64,
}

/// A summary of all records of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// The number of records.
    pub records: u64,
    /// SHA-256 over all their values, in key order. Equal in every kind of store.
    pub digest: Digest32,
}

/// The records of one kind in both stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compared {
    /// The kind.
    pub kind: RecordKind,
    /// The records in the source.
    pub source: Tally,
    /// The records in the target.
    pub target: Tally,
}

/// The result of a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// How many records an earlier try had copied.
    pub resumed: u64,
    /// How many records this call copied, not counting accounts.
    pub copied: u64,
    /// One entry per kind.
    pub kinds: Vec<Compared>,
}

impl Report {
    /// Whether both stores are equal. If not, the target keeps its mark.
    pub fn is_equal(&self) -> bool {
        self.kinds.iter().all(|kind| kind.source == kind.target)
    }
}

/// Why a copy did not start or did not finish.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// Reading the source failed. A retry continues a copy that was started.
    #[error("the source cannot be read: {0}")]
    Source(#[source] StoreError),
    /// Reading the target failed. A retry continues a copy that was started.
    #[error("the target cannot be read: {0}")]
    Target(#[source] StoreError),
    /// The target refused a page. A retry continues a copy that was started.
    #[error("the target cannot be written: {0}")]
    Commit(#[source] CommitError),
    /// There is nothing to copy.
    #[error("the source is a database that no gateway has served")]
    NothingThere,
    /// The source is an incomplete copy.
    #[error("the source is itself a copy that is not finished")]
    SourceUnfinished,
    /// The target has records that are not from the source.
    #[error("the target is not empty")]
    TargetTaken,
    /// The copy in the target was started from another store.
    #[error("the target is an unfinished copy of another store")]
    OtherSource,
    /// The source has changed since part of it was copied.
    #[error("the source changed since the copy began")]
    SourceChanged,
}

/// Copies all of `from` into `to`, which must be empty or an unfinished copy of it, and compares both. Nobody may change either in
/// the meantime. If everything has been copied already, it only compares.
///
/// # Errors
/// [`CopyError`]. Whatever the reason, the same call continues where the copy stopped.
pub fn copy(from: &dyn Store, to: &dyn Store, progress: &mut dyn FnMut(Progress)) -> Result<Report, CopyError> {
    let origin = Origin::of(from)?;
    let Some(mark) = begin(&origin, to)? else {
        // The response to its last commit may have been lost.
        to.secure().map_err(CopyError::Target)?;
        let report = Report { resumed: 0, copied: 0, kinds: compare(from, to, progress)? };
        return if report.is_equal() { Ok(report) } else { Err(CopyError::TargetTaken) };
    };
    let resumed = mark.copied;
    let mark = copy_records(from, to, mark, progress)?;
    let kinds = compare(from, to, progress)?;
    if Origin::of(from)? != origin {
        return Err(CopyError::SourceChanged);
    }
    let report = Report { resumed, copied: mark.copied - resumed, kinds };
    if report.is_equal() {
        to.commit(&unmark()).map_err(CopyError::Commit)?;
    }
    Ok(report)
}

/// The kinds of records that a copy has.
fn kinds() -> impl Iterator<Item = RecordKind> {
    RecordKind::ALL.iter().copied().filter(|kind| !has(kind.spec().flags, Flag::Local))
}

/// Which store it is, and in which state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Origin {
    identity: Digest32,
    moment: Digest32,
}

impl Origin {
    fn of(source: &dyn Store) -> Result<Self, CopyError> {
        if mark_of(source).map_err(CopyError::Source)?.is_some() {
            return Err(CopyError::SourceUnfinished);
        }
        let identity = identity(source).map_err(CopyError::Source)?.ok_or(CopyError::NothingThere)?;
        Ok(Self { identity, moment: moment(source).map_err(CopyError::Source)? })
    }
}

/// The identity of a store: the hash of its id key. `None` before a gateway has served it.
fn identity(store: &dyn Store) -> Result<Option<Digest32>, StoreError> {
    let key: Option<MetaRecord> = typed(store.get(&Key::Meta(ID_KEY.to_owned()))?)?;
    Ok(key.map(|key| Sha256::new().chain_update("railgate copy\0").chain_update(key.value).finalize().into()))
}

/// The ends of everything that grows: nearly every change moves one of them. The comparison finds the remaining changes.
fn moment(store: &dyn Store) -> Result<Digest32, StoreError> {
    let ends = [
        Scan::last(RecordKind::Settlement),
        Scan::last(RecordKind::Transfer),
        Scan::last(RecordKind::Audit),
        Scan::last(RecordKind::Client),
        Scan::last(RecordKind::Key),
        Scan::last(RecordKind::Endpoint),
        Scan::last(RecordKind::LogHead),
        Scan::all(RecordKind::Unlogged, 1),
        Scan::all(RecordKind::Task, 1),
        Scan::all(RecordKind::Meta, PAGE),
    ];
    let mut digest = Digester::default();
    for scan in &ends {
        let found = store.scan(scan)?;
        digest.number(found.len() as u64);
        found.iter().try_for_each(|record| digest.record(record))?;
    }
    Ok(digest.0.finalize().into())
}

fn mark_of(store: &dyn Store) -> Result<Option<MetaRecord>, StoreError> {
    typed(store.get(&Key::Meta(COPY_MARK.to_owned()))?)
}

/// Where to start or continue; `None` if the target may already have everything.
fn begin(origin: &Origin, to: &dyn Store) -> Result<Option<Mark>, CopyError> {
    let mark = match mark_of(to).map_err(CopyError::Target)? {
        Some(found) => {
            let mark = Mark::read(&found).map_err(CopyError::Target)?;
            match () {
                () if mark.origin.identity != origin.identity => return Err(CopyError::OtherSource),
                () if mark.origin.moment != origin.moment => return Err(CopyError::SourceChanged),
                () => mark,
            }
        }
        None if is_empty(to).map_err(CopyError::Target)? => {
            let mark = Mark { origin: *origin, copied: 0, next: kinds().next().map(Place::First) };
            let first = Commit { writes: vec![Write::Insert(mark.record().map_err(CopyError::Target)?.into())] };
            to.commit(&first).map_err(CopyError::Commit)?;
            mark
        }
        None => {
            let same = identity(to).map_err(CopyError::Target)? == Some(origin.identity);
            return if same { Ok(None) } else { Err(CopyError::TargetTaken) };
        }
    };
    // A server that starts writes its id key and then looks for a mark: whatever it does now, one of the two sees the other.
    if mark.copied == 0 && !is_empty(to).map_err(CopyError::Target)? {
        let ours = mark.record().map_err(CopyError::Target)?;
        if mark_of(to).map_err(CopyError::Target)? == Some(ours) {
            to.commit(&unmark()).map_err(CopyError::Commit)?;
        }
        return Err(CopyError::TargetTaken);
    }
    Ok(Some(mark))
}

/// Whether the store contains nothing, except perhaps a mark.
fn is_empty(store: &dyn Store) -> Result<bool, StoreError> {
    for kind in RecordKind::ALL {
        let first = store.scan(&Scan::all(*kind, 2))?;
        if !first.iter().all(is_mark) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn unmark() -> Commit {
    Commit { writes: vec![Write::Delete(Key::Meta(COPY_MARK.to_owned()))] }
}

/// Copies from the mark onwards; returns the last mark.
fn copy_records(from: &dyn Store, to: &dyn Store, mut mark: Mark, progress: &mut dyn FnMut(Progress)) -> Result<Mark, CopyError> {
    let mut together = 1;
    while let Some(place) = mark.next.clone() {
        let kind = place.kind();
        let page = place.page(PAGE * together);
        let page = if kind == RecordKind::Account { Vec::new() } else { from.scan(&page).map_err(CopyError::Source)? };
        let Some(last) = page.last() else {
            mark.next = kinds().find(|other| *other > kind).map(Place::First);
            continue;
        };
        let (next, copied) = (Some(Place::After(last.key())), mark.copied + page.len() as u64);
        let moved = Mark { next, copied, ..mark.clone() };
        let record = moved.record().map_err(CopyError::Target)?;
        let mut writes: Vec<Write> = page.into_iter().map(write).collect();
        writes.push(Write::Replace(record.clone().into()));
        match to.commit(&Commit { writes }) {
            Ok(()) => {}
            Err(CommitError::BalanceGuard(_)) if together < MOST_TOGETHER => {
                together *= 2;
                continue;
            }
            // The mark tells whether it was made: it is part of the commit.
            Err(CommitError::Indeterminate(_)) if mark_of(to).map_err(CopyError::Target)?.as_ref() == Some(&record) => {}
            Err(error) => return Err(CopyError::Commit(error)),
        }
        (mark, together) = (moved, 1);
        progress(Progress { step: Step::Copying, kind, records: copied });
    }
    Ok(mark)
}

fn write(record: Record) -> Write {
    if let Record::Transfer(transfer) = record { Write::Post(transfer) } else { Write::Insert(record) }
}

/// Reads and compares all records of both.
fn compare(from: &dyn Store, to: &dyn Store, progress: &mut dyn FnMut(Progress)) -> Result<Vec<Compared>, CopyError> {
    let source = tallies(from, Step::ReadingSource, progress).map_err(CopyError::Source)?;
    let target = tallies(to, Step::ReadingTarget, progress).map_err(CopyError::Target)?;
    let both = kinds().zip(source.into_iter().zip(target));
    Ok(both.map(|(kind, (source, target))| Compared { kind, source, target }).collect())
}

/// Summarises the records of each kind, without our own mark.
fn tallies(store: &dyn Store, step: Step, progress: &mut dyn FnMut(Progress)) -> Result<Vec<Tally>, StoreError> {
    let (mut tallies, mut all) = (Vec::new(), 0);
    for kind in kinds() {
        let (mut digest, mut records) = (Digester::default(), 0);
        let mut from = Place::First(kind);
        loop {
            let page = store.scan(&from.page(PAGE))?;
            let Some(last) = page.last() else { break };
            from = Place::After(last.key());
            for record in page.iter().filter(|record| !is_mark(record)) {
                digest.record(record)?;
                records += 1;
            }
            all += page.len() as u64;
            progress(Progress { step, kind, records: all });
        }
        tallies.push(Tally { records, digest: digest.0.finalize().into() });
    }
    Ok(tallies)
}

fn is_mark(record: &Record) -> bool {
    if let Record::Meta(meta) = record { meta.name == COPY_MARK } else { false }
}

/// Hashes the values of records as all stores keep them. Each value is preceded by its type and length, so that it cannot be
/// mistaken for two others. The kind determines the number of values.
#[derive(Default)]
struct Digester(Sha256);

impl Digester {
    fn record(&mut self, record: &Record) -> Result<(), StoreError> {
        for cell in row::<true>(record)? {
            match cell {
                Cell::Null => self.value(0, &[]),
                Cell::Int(value) => self.value(1, &value.to_be_bytes()),
                Cell::Text(value) => self.value(2, value.as_bytes()),
                Cell::Bytes(value) => self.value(3, &value),
            }
        }
        Ok(())
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_be_bytes());
    }

    fn value(&mut self, tag: u8, value: &[u8]) {
        self.0.update([tag]);
        self.number(value.len() as u64);
        self.0.update(value);
    }
}
