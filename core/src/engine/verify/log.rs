//! Verifies the log: every event has one place in its owner's feed and one leaf in the tree of its mode, and each tree is the tree over
//! these leaves.
//!
//! The events are visited in the order of their settlements, and each looks up its own place. It then remains to prove that there
//! are no other places: by counting, and with one bit for each leaf.

use std::collections::HashMap;

use crate::engine::event_log::{BACKFILL_KEY, leaf_salt, log_head};
use crate::error::Result;
use crate::ids::{ClientNo, IdKey, SettlementNo};
use crate::ledger::Mode;
use crate::log::commitment;
use crate::store::record::{
    BundleRecord, Digest32, EventRecord, FeedRecord, Key, MetaRecord, MovementRecord, RecordKind, SettlementRecord, UnloggedRecord,
};
use crate::store::{Scan, Store, Unique, typed, typed_all};
use crate::trace::{About, settlement_ulid};

use super::tree::Tree;
use super::{PAGE, VerifyReport, movements};

/// What is known about the log while the events are visited.
pub(super) struct LogCheck<'a> {
    store: &'a dyn Store,
    key: &'a IdKey,
    sandbox: Tree<'a>,
    live: Tree<'a>,
    /// The hashes of events that wait to be logged.
    unlogged: HashMap<(SettlementNo, u32), Digest32>,
    /// Events of settlements above this number need not be logged yet, because the log is being backfilled.
    /// Without a head, no event needs to be.
    due_until: Option<SettlementNo>,
}

/// The places of the events of one trace.
pub(super) struct Places<'c, 'a> {
    log: &'c mut LogCheck<'a>,
    about: About<'c>,
    what: &'c str,
    last: Option<(i64, i64)>,
}

impl<'a> LogCheck<'a> {
    /// Verifies each tree over its own leaves, and reads the events that wait.
    pub(super) fn begin(store: &'a dyn Store, key: &'a IdKey, report: &mut VerifyReport) -> Result<Self> {
        let head = log_head(store)?;
        let sandbox = Tree::begin(store, Mode::Sandbox, head.as_ref(), report)?;
        let live = Tree::begin(store, Mode::Live, head.as_ref(), report)?;
        let mark: Option<MetaRecord> = typed(store.get(&Key::Meta(BACKFILL_KEY.to_owned()))?)?;
        let filling = mark.and_then(|mark| mark.value.try_into().ok()).map(i64::from_be_bytes);
        let due_until = if head.is_none() { Some(SettlementNo(0)) } else { filling.map(SettlementNo) };
        let unlogged = waiting(store, report)?;
        Ok(Self { store, key, sandbox, live, unlogged, due_until })
    }

    /// Starts the events of one trace, which follow in order.
    pub(super) fn trace<'c>(&'c mut self, about: About<'c>, what: &'c str) -> Places<'c, 'a> {
        Places { log: self, about, what, last: None }
    }

    fn tree(&mut self, mode: Mode) -> &mut Tree<'a> {
        match mode {
            Mode::Sandbox => &mut self.sandbox,
            Mode::Live => &mut self.live,
        }
    }

    /// Verifies the rest, after all events were visited.
    pub(super) fn end(mut self, report: &mut VerifyReport) -> Result<()> {
        self.feeds(report)?;
        let mut left: Vec<(SettlementNo, u32)> = std::mem::take(&mut self.unlogged).into_keys().collect();
        left.sort_unstable();
        for (no, n) in left {
            let what = self.name(no)?;
            report.problem(what, "unlogged_without_event", format!("event {n} waits to be logged, but it is missing"));
        }
        self.sandbox.end(report);
        self.live.end(report);
        Ok(())
    }

    /// Verifies that feeds have no gaps, and no entries except those that events found.
    fn feeds(&self, report: &mut VerifyReport) -> Result<()> {
        let (mut entries, mut last) = (0, (ClientNo(0), Mode::Sandbox, 0));
        let mut gaps = Vec::new();
        self.each_entry(&mut |entry| {
            let expected = if (entry.client, entry.mode) == (last.0, last.1) { last.2 + 1 } else { 1 };
            if entry.position != expected {
                let found = entry.position;
                gaps.push((feed_name(entry), format!("position {found} is in the place of {expected}")));
            }
            (entries, last) = (entries + 1, (entry.client, entry.mode, entry.position));
            Ok(gaps.len() < super::MOST_PROBLEMS)
        })?;
        for (what, message) in gaps {
            report.problem(what, "feed_gap", message);
        }
        if entries == report.logged {
            return Ok(());
        }
        self.each_entry(&mut |entry| {
            if self.store.get(&Key::Event((entry.settlement, entry.n)))?.is_none() {
                let (what, message) = (self.name(entry.settlement)?, format!("event {} was logged, but it is missing", entry.n));
                report.broken(&what, entry.settlement, entry.n, ("feed_without_event", &message));
                report.problem(what, "feed_without_event", message);
            }
            Ok(!report.truncated)
        })
    }

    /// Passes every entry of every feed to `each`, until it returns `false`.
    fn each_entry(&self, each: &mut dyn FnMut(&FeedRecord) -> Result<bool>) -> Result<()> {
        let mut after = (ClientNo(0), Mode::Sandbox, 0);
        loop {
            let page: Vec<FeedRecord> = typed_all(self.store.scan(&Scan::after(&Key::Feed(after), PAGE))?)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = (last.client, last.mode, last.position);
            for entry in &page {
                if !each(entry)? {
                    return Ok(());
                }
            }
        }
    }

    fn name(&self, no: SettlementNo) -> Result<String> {
        if let Some(record) = typed::<SettlementRecord>(self.store.get(&Key::Settlement(no))?)? {
            return Ok(format!("stl_{}", settlement_ulid(self.key, &record)));
        }
        if let Some(bundle) = typed::<BundleRecord>(self.store.get(&Key::Bundle(no.0))?)? {
            return Ok(format!("bun_{}", bundle.id));
        }
        let movement: Option<MovementRecord> = typed(self.store.get(&Key::Movement(no))?)?;
        Ok(movement.map_or_else(|| format!("settlement number {}", no.0), |record| movements::name(&record)))
    }
}

impl Places<'_, '_> {
    /// Looks up the event's place and verifies it.
    pub(super) fn event(&mut self, event: &EventRecord, report: &mut VerifyReport) -> Result<()> {
        let place = (self.about.no(), event.n);
        let waiting = self.log.unlogged.remove(&place);
        let problem = match typed::<FeedRecord>(self.log.store.find(&Unique::FeedOf(place.0, place.1))?)? {
            Some(entry) => {
                report.logged += 1;
                let twice = waiting.map(|_| ("unlogged_twice", format!("event {} is logged, and waits to be logged again", event.n)));
                self.logged(event, &entry)?.or(twice)
            }
            None => match waiting {
                Some(hash) if hash == event.hash => None,
                Some(_) => Some(("unlogged_differs", format!("event {} waits to be logged with another hash", event.n))),
                None if self.log.due_until.is_some_and(|until| place.0 > until) => None,
                None => Some(("event_not_logged", format!("event {} is not in the log, and does not wait for it", event.n))),
            },
        };
        if let Some((code, message)) = problem {
            report.broken(self.what, place.0, place.1, (code, &message));
            report.problem(self.what, code, message);
        }
        Ok(())
    }

    /// The problem with an event's place; `None` if it is sound.
    fn logged(&mut self, event: &EventRecord, entry: &FeedRecord) -> Result<Option<(&'static str, String)>> {
        let n = event.n;
        if ((entry.client, entry.mode), entry.at) != (self.about.owner(), event.at) {
            return Ok(Some(("feed_differs", format!("event {n} is in the feed of another client or mode, or has another time there"))));
        }
        let before = self.last.replace((entry.leaf, entry.position));
        if before.is_some_and(|(leaf, position)| entry.leaf <= leaf || entry.position <= position) {
            return Ok(Some(("feed_order", format!("event {n} was logged before its predecessor"))));
        }
        let expected = commitment(&leaf_salt(self.log.key, event.settlement, n), &event.hash);
        let tree = self.log.tree(entry.mode);
        let name = tree.name();
        if tree.leaf(entry.leaf)? != Some(expected) {
            return Ok(Some(("leaf_differs", format!("leaf {} of the {name} does not match event {n}", entry.leaf))));
        }
        let free = tree.take(entry.leaf);
        Ok((!free).then(|| ("leaf_twice", format!("leaf {} of the {name} belongs to event {n} and to another one", entry.leaf))))
    }
}

fn feed_name(entry: &FeedRecord) -> String {
    format!("{} feed of client number {}", entry.mode.as_str(), entry.client.0)
}

fn waiting(store: &dyn Store, report: &mut VerifyReport) -> Result<HashMap<(SettlementNo, u32), Digest32>> {
    // This scan cannot be continued page by page; but these rows are deleted as soon as a node numbers them.
    let rows: Vec<UnloggedRecord> = typed_all(store.scan(&Scan::all(RecordKind::Unlogged, usize::MAX))?)?;
    let mut waiting = HashMap::new();
    for row in rows {
        for change in &row.changes {
            for (index, event) in change.events.iter().enumerate() {
                let n = change.sequence(index);
                if waiting.insert((change.settlement, n), event.hash).is_some() {
                    let message = format!("event {n} of settlement number {} waits to be logged twice", change.settlement.0);
                    report.problem(format!("unlogged row {}", row.no), "unlogged_twice", message);
                }
            }
        }
    }
    Ok(waiting)
}
