//! Verifies the log's tree of one mode: every tile follows from the leaves, and every leaf belongs to one event.

use std::collections::VecDeque;

use crate::error::Result;
use crate::ledger::Mode;
use crate::log::{Hash, TILE_WIDTH, Tiles as _, leaf_hash, node_hash};
use crate::store::Store;
use crate::store::record::LogHeadRecord;

use super::VerifyReport;
use crate::engine::event_log::StoredTiles;

const ENTRY: usize = 32;
/// How many tiles of leaves are cached: clients' events are scattered over the newest ones.
const TILES_KEPT: usize = 64;

/// What is known about a tree while the events are visited.
pub(super) struct Tree<'a> {
    rows: StoredTiles<'a>,
    /// How many leaves the tiles have.
    leaves: u64,
    /// One bit for each leaf: set once its event was visited.
    taken: Vec<u64>,
    tiles: VecDeque<(u64, Vec<u8>)>,
}

impl<'a> Tree<'a> {
    /// Verifies the tree over its own leaves, and that it has as many as the log's head says.
    pub(super) fn begin(store: &'a dyn Store, mode: Mode, head: Option<&LogHeadRecord>, report: &mut VerifyReport) -> Result<Self> {
        let mut tree = Self { rows: StoredTiles(store, mode), leaves: 0, taken: Vec::new(), tiles: VecDeque::new() };
        tree.leaves = tree.verify(report)?;
        let size = head.map_or(0, |head| head.leaves(mode));
        if u64::try_from(size).ok() != Some(tree.leaves) {
            report.problem(tree.name(), "log_size", format!("its head has {size} leaves, its tiles have {}", tree.leaves));
        }
        tree.taken = vec![0; usize::try_from(tree.leaves.div_ceil(64)).unwrap_or(0)];
        Ok(tree)
    }

    /// What problems call it.
    pub(super) const fn name(&self) -> &'static str {
        match self.rows.1 {
            Mode::Sandbox => "sandbox log",
            Mode::Live => "live log",
        }
    }

    /// The data of a leaf, if it exists.
    pub(super) fn leaf(&mut self, index: i64) -> Result<Option<[u8; ENTRY]>> {
        let Some(index) = u64::try_from(index).ok().filter(|index| *index < self.leaves) else { return Ok(None) };
        let (tile, at) = (index / TILE_WIDTH as u64, (index % TILE_WIDTH as u64) as usize * ENTRY);
        if !self.tiles.iter().any(|(known, _)| *known == tile) {
            let Some(row) = self.rows.tile(0, tile)? else { return Ok(None) };
            self.tiles.truncate(TILES_KEPT - 1);
            self.tiles.push_front((tile, row));
        }
        let row = self.tiles.iter().find(|(known, _)| *known == tile);
        Ok(row.and_then(|(_, row)| row.get(at..at + ENTRY)).and_then(|data| data.try_into().ok()))
    }

    /// Marks a leaf; `false` if there is none or it was already marked.
    pub(super) fn take(&mut self, index: i64) -> bool {
        let Ok(index) = usize::try_from(index) else { return false };
        let Some(word) = self.taken.get_mut(index / 64) else { return false };
        let bit = 1 << (index % 64);
        let free = *word & bit == 0;
        *word |= bit;
        free
    }

    /// Reports the leaves that were not marked.
    pub(super) fn end(&self, report: &mut VerifyReport) {
        let free = (0..self.leaves).find(|leaf| self.taken[(leaf / 64) as usize] >> (leaf % 64) & 1 == 0);
        if let Some(leaf) = free {
            let count = self.leaves - self.taken.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
            let message = format!("{count} of its leaves belong to no event, the first is leaf {leaf}");
            report.problem(self.name(), "leaf_without_event", message);
        }
    }

    /// Verifies that each tile follows from the tiles below it, up to the highest. Returns the number of leaves.
    fn verify(&self, report: &mut VerifyReport) -> Result<u64> {
        let mut above: Vec<Level> = Vec::new();
        let (mut leaves, mut index) = (0, 0);
        while let Some(row) = self.rows.tile(0, index)? {
            let count = row.len() / ENTRY;
            leaves += count as u64;
            index += 1;
            if !row.len().is_multiple_of(ENTRY) || count == 0 || count > TILE_WIDTH {
                let message = format!("tile {} of level 0 has {} bytes", index - 1, row.len());
                report.problem(self.name(), "tile_malformed", message);
                return Ok(leaves);
            }
            if count < TILE_WIDTH {
                break;
            }
            self.push(report, &mut above, 0, root_of(row.chunks(ENTRY).map(leaf_hash).collect()))?;
        }
        if self.rows.tile(0, index)?.is_some() {
            let message = format!("tile {} of level 0 is not full, but another follows", index - 1);
            report.problem(self.name(), "tile_gap", message);
        }
        for (at, level) in above.iter().enumerate() {
            self.compare(report, at as u8 + 1, level)?;
            self.absent(report, at as u8 + 1, level.index + 1)?;
        }
        self.absent(report, above.len() as u8 + 1, 0)?;
        Ok(leaves)
    }

    /// Adds the root of a full tile of level `below` to the level above, recursively.
    fn push(&self, report: &mut VerifyReport, above: &mut Vec<Level>, below: usize, root: Hash) -> Result<()> {
        if above.len() == below {
            above.push(Level::default());
        }
        above[below].hashes.push(root);
        if above[below].hashes.len() < TILE_WIDTH {
            return Ok(());
        }
        self.compare(report, below as u8 + 1, &above[below])?;
        above[below].index += 1;
        let root = root_of(std::mem::take(&mut above[below].hashes));
        self.push(report, above, below + 1, root)
    }

    /// Verifies that the stored tile equals this one.
    fn compare(&self, report: &mut VerifyReport, level: u8, expected: &Level) -> Result<()> {
        let stored = self.rows.tile(level, expected.index)?.unwrap_or_default();
        if stored != expected.hashes.as_flattened() {
            let message = format!("tile {} of level {level} does not match the tiles below", expected.index);
            report.problem(self.name(), "tile_differs", message);
        }
        Ok(())
    }

    fn absent(&self, report: &mut VerifyReport, level: u8, index: u64) -> Result<()> {
        if self.rows.tile(level, index)?.is_some() {
            let message = format!("there is a tile {index} of level {level}, beyond the log's end");
            report.problem(self.name(), "tile_too_many", message);
        }
        Ok(())
    }
}

/// The tile of a level that is being filled.
#[derive(Default)]
struct Level {
    index: u64,
    hashes: Vec<Hash>,
}

/// The root over a full tile's hashes.
fn root_of(mut hashes: Vec<Hash>) -> Hash {
    while hashes.len() > 1 {
        hashes = hashes.chunks(2).map(|pair| node_hash(&pair[0], &pair[pair.len() - 1])).collect();
    }
    hashes.first().copied().unwrap_or_default()
}
