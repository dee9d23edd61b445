//! Verifies the log: every event has one place in its owner's feed and one leaf, and the tree is the tree over these leaves.
//!
//! The events are visited in the order of their settlements, and each looks up its own place. It then remains to prove that there
//! are no other places: by counting, and with one bit for each leaf.

use std::collections::{HashMap, VecDeque};

use crate::engine::event_log::{BACKFILL_KEY, leaf_salt, log_head};
use crate::error::Result;
use crate::ids::{ClientNo, IdKey, SettlementNo};
use crate::ledger::Mode;
use crate::log::{Hash, TILE_WIDTH, commitment, leaf_hash, node_hash};
use crate::store::record::{Digest32, EventRecord, FeedRecord, Key, MetaRecord, RecordKind, SettlementRecord, TileRecord, UnloggedRecord};
use crate::store::{Scan, Store, Unique, typed, typed_all};
use crate::trace::settlement_ulid;

use super::{PAGE, VerifyReport};

const ENTRY: usize = 32;
/// How many tiles of leaves are cached: clients' events are scattered over the newest ones.
const TILES_KEPT: usize = 64;

/// What is known about the log while the events are visited.
pub(super) struct LogCheck<'a> {
    store: &'a dyn Store,
    key: &'a IdKey,
    /// How many leaves the tiles have.
    leaves: u64,
    /// One bit for each leaf: set once its event was visited.
    taken: Vec<u64>,
    /// The hashes of events that wait to be logged.
    unlogged: HashMap<(SettlementNo, u32), Digest32>,
    /// Events of settlements above this number need not be logged yet, because the log is being backfilled.
    /// Without a head, no event needs to be.
    due_until: Option<SettlementNo>,
    tiles: VecDeque<(u64, Vec<u8>)>,
}

/// The places of one settlement's events.
pub(super) struct Places<'c, 'a> {
    log: &'c mut LogCheck<'a>,
    record: &'c SettlementRecord,
    what: &'c str,
    last: Option<(i64, i64)>,
}

impl<'a> LogCheck<'a> {
    /// Verifies the tree over its own leaves, and reads the events that wait.
    pub(super) fn begin(store: &'a dyn Store, key: &'a IdKey, report: &mut VerifyReport) -> Result<Self> {
        let leaves = tree(store, report)?;
        let head = log_head(store)?;
        let size = head.as_ref().map_or(0, |head| head.size);
        if u64::try_from(size).ok() != Some(leaves) {
            report.problem("log", "log_size", format!("its head has {size} leaves, its tiles have {leaves}"));
        }
        let mark: Option<MetaRecord> = typed(store.get(&Key::Meta(BACKFILL_KEY.to_owned()))?)?;
        let filling = mark.and_then(|mark| mark.value.try_into().ok()).map(i64::from_be_bytes);
        let due_until = if head.is_none() { Some(SettlementNo(0)) } else { filling.map(SettlementNo) };
        let taken = vec![0; usize::try_from(leaves.div_ceil(64)).unwrap_or(0)];
        let unlogged = waiting(store, report)?;
        Ok(Self { store, key, leaves, taken, unlogged, due_until, tiles: VecDeque::new() })
    }

    /// Starts the events of one settlement, which follow in order.
    pub(super) fn settlement<'c>(&'c mut self, record: &'c SettlementRecord, what: &'c str) -> Places<'c, 'a> {
        Places { log: self, record, what, last: None }
    }

    /// The data of a leaf, if it exists.
    fn leaf(&mut self, index: u64) -> Result<Option<[u8; ENTRY]>> {
        let (tile, at) = (index / TILE_WIDTH as u64, (index % TILE_WIDTH as u64) as usize * ENTRY);
        if !self.tiles.iter().any(|(known, _)| *known == tile) {
            let Some(row) = tile_row(self.store, 0, tile)? else { return Ok(None) };
            self.tiles.truncate(TILES_KEPT - 1);
            self.tiles.push_front((tile, row));
        }
        let row = self.tiles.iter().find(|(known, _)| *known == tile);
        Ok(row.and_then(|(_, row)| row.get(at..at + ENTRY)).and_then(|data| data.try_into().ok()))
    }

    /// Marks a leaf; `false` if it was already marked.
    fn take(&mut self, index: u64) -> bool {
        let bit = 1 << (index % 64);
        let Some(word) = usize::try_from(index / 64).ok().and_then(|at| self.taken.get_mut(at)) else { return false };
        let free = *word & bit == 0;
        *word |= bit;
        free
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
        let free = (0..self.leaves).find(|leaf| self.taken[(leaf / 64) as usize] >> (leaf % 64) & 1 == 0);
        if let Some(leaf) = free {
            let count = self.leaves - self.taken.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            report.problem("log", "leaf_without_event", format!("{count} of its leaves belong to no event, the first is leaf {leaf}"));
        }
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
        let record: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(no))?)?;
        Ok(record.map_or_else(|| format!("settlement number {}", no.0), |record| format!("stl_{}", settlement_ulid(self.key, &record))))
    }
}

impl Places<'_, '_> {
    /// Looks up the event's place and verifies it.
    pub(super) fn event(&mut self, event: &EventRecord, report: &mut VerifyReport) -> Result<()> {
        let place = (self.record.no, event.n);
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
        if (entry.client, entry.mode, entry.at) != (self.record.client, self.record.mode, event.at) {
            return Ok(Some(("feed_differs", format!("event {n} is in the feed of another client or mode, or has another time there"))));
        }
        let before = self.last.replace((entry.leaf, entry.position));
        if before.is_some_and(|(leaf, position)| entry.leaf <= leaf || entry.position <= position) {
            return Ok(Some(("feed_order", format!("event {n} was logged before its predecessor"))));
        }
        let expected = commitment(&leaf_salt(self.log.key, event.settlement, n), &event.hash);
        let leaf = u64::try_from(entry.leaf).ok().filter(|leaf| *leaf < self.log.leaves);
        let data = match leaf {
            Some(leaf) => self.log.leaf(leaf)?,
            None => None,
        };
        if data != Some(expected) {
            return Ok(Some(("leaf_differs", format!("leaf {} of the log does not match event {n}", entry.leaf))));
        }
        let free = leaf.is_some_and(|leaf| self.log.take(leaf));
        Ok((!free).then(|| ("leaf_twice", format!("leaf {} of the log belongs to event {n} and to another one", entry.leaf))))
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

/// Verifies that each tile follows from the tiles below it, up to the highest. Returns the number of leaves.
fn tree(store: &dyn Store, report: &mut VerifyReport) -> Result<u64> {
    let mut above: Vec<Level> = Vec::new();
    let (mut leaves, mut index) = (0, 0);
    while let Some(row) = tile_row(store, 0, index)? {
        let count = row.len() / ENTRY;
        leaves += count as u64;
        index += 1;
        if !row.len().is_multiple_of(ENTRY) || count == 0 || count > TILE_WIDTH {
            report.problem("log", "tile_malformed", format!("tile {} of level 0 has {} bytes", index - 1, row.len()));
            return Ok(leaves);
        }
        if count < TILE_WIDTH {
            break;
        }
        push(store, report, &mut above, 0, root_of(row.chunks(ENTRY).map(leaf_hash).collect()))?;
    }
    if tile_row(store, 0, index)?.is_some() {
        report.problem("log", "tile_gap", format!("tile {} of level 0 is not full, but another follows", index - 1));
    }
    for (at, level) in above.iter().enumerate() {
        level.compare(store, report, at as u8 + 1)?;
        absent(store, report, at as u8 + 1, level.index + 1)?;
    }
    absent(store, report, above.len() as u8 + 1, 0)?;
    Ok(leaves)
}

/// The tile of a level that is being filled.
#[derive(Default)]
struct Level {
    index: u64,
    hashes: Vec<Hash>,
}

impl Level {
    /// Verifies that the stored tile equals this one.
    fn compare(&self, store: &dyn Store, report: &mut VerifyReport, level: u8) -> Result<()> {
        let stored = tile_row(store, level, self.index)?.unwrap_or_default();
        if stored != self.hashes.as_flattened() {
            let message = format!("tile {} of level {level} does not match the tiles below", self.index);
            report.problem("log", "tile_differs", message);
        }
        Ok(())
    }
}

/// Adds the root of a full tile of level `below` to the level above, recursively.
fn push(store: &dyn Store, report: &mut VerifyReport, above: &mut Vec<Level>, below: usize, root: Hash) -> Result<()> {
    if above.len() == below {
        above.push(Level::default());
    }
    let level = &mut above[below];
    level.hashes.push(root);
    if level.hashes.len() < TILE_WIDTH {
        return Ok(());
    }
    level.compare(store, report, below as u8 + 1)?;
    level.index += 1;
    let root = root_of(std::mem::take(&mut level.hashes));
    push(store, report, above, below + 1, root)
}

fn absent(store: &dyn Store, report: &mut VerifyReport, level: u8, index: u64) -> Result<()> {
    if tile_row(store, level, index)?.is_some() {
        report.problem("log", "tile_too_many", format!("there is a tile {index} of level {level}, beyond the log's end"));
    }
    Ok(())
}

/// The root over a full tile's hashes.
fn root_of(mut hashes: Vec<Hash>) -> Hash {
    while hashes.len() > 1 {
        hashes = hashes.chunks(2).map(|pair| node_hash(&pair[0], &pair[pair.len() - 1])).collect();
    }
    hashes.first().copied().unwrap_or_default()
}

fn tile_row(store: &dyn Store, level: u8, index: u64) -> Result<Option<Vec<u8>>> {
    let Ok(index) = i64::try_from(index) else { return Ok(None) };
    Ok(typed::<TileRecord>(store.get(&Key::Tile((level, index)))?)?.map(|row| row.entries))
}
