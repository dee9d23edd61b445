//! Numbers of settlements and fundings: dense while one node writes, from each node's own blocks when several do.
//!
//! Dense numbers need no coordination except that the store refuses a number that is taken. Nodes that write at the same
//! time would conflict in every second commit, so a node that meets another one reserves blocks from then on, each in a
//! separate commit. It soon drops the rest of a block, so that numbers follow time over all nodes to within [`KEPT`],
//! and lists by number are lists by time.

use crate::error::{Error, ErrorCode, Result};
use crate::store::record::{Key, MetaRecord};
use crate::store::{Commit, CommitError, Store, Write, typed};
use crate::time::Millis;

use super::ROUNDS;
use super::writer::next_journal;

/// The bounds of a block's size: twice the count drawn from the previous block, within these. So unused numbers are few compared
/// with the used ones, or few in any case: a hundred idle nodes use up 1,600 per second, for which 40 bits last twenty years.
const BLOCK: (i64, i64) = (16, 4_096);
/// How long numbers are drawn from a block.
const KEPT: Millis = 1_000;
/// The name of the record that has the end of the last reserved block.
const MARK: &str = "numbers";

/// The numbers that a node draws.
pub(crate) struct Numbers {
    next: i64,
    /// `None` while numbers are dense.
    block: Option<Block>,
    /// How often in a row a number was already taken.
    lost: u32,
    /// The end of the last reserved block, of any node, when it was last looked for, and when that was.
    mark: i64,
    looked_at: Millis,
}

/// A range of numbers that a node reserved.
struct Block {
    start: i64,
    /// One past its last number.
    end: i64,
    /// Until when numbers are drawn from it.
    until: Millis,
}

impl Numbers {
    /// Draws numbers one after the other, from `next` on.
    pub(super) fn dense(store: &dyn Store, next: i64) -> Result<Self> {
        Ok(Self { next, block: None, lost: 0, mark: mark(store)?.unwrap_or(0), looked_at: Millis::MIN })
    }

    /// The next number. Past the end of a block it may be another node's, which the commit detects.
    pub(super) fn draw(&mut self) -> i64 {
        let no = self.next;
        self.next += 1;
        no
    }

    /// A number was already taken, and `next` is free as far as the store knows: another node writes too.
    ///
    /// A node whose numbers are dense takes those from `next` on before this one can use them, as long as it writes fast. So each loss
    /// goes further ahead. The other one reaches what is reserved here, or notices it within [`KEPT`]: numbers still follow time.
    pub(super) fn meet(&mut self, next: i64) {
        let ahead = if self.lost == 0 { 0 } else { BLOCK.0 << (2 * self.lost).min(8) };
        self.lost += 1;
        self.begin_blocks(next + ahead);
    }

    /// Makes sure that `wanted` numbers can be drawn.
    pub(super) fn provide(&mut self, store: &dyn Store, now: Millis, wanted: usize) -> Result<()> {
        let wanted = i64::try_from(wanted).map_err(Error::internal)?;
        if wanted > 0 && self.block.is_none() {
            self.look(store, now)?;
        }
        let Some(Block { start, end, until }) = self.block else { return Ok(()) };
        if self.next > start {
            self.lost = 0;
        }
        // A clock that was set back must not make a block last longer.
        let fresh = now < until && until - now <= KEPT;
        if wanted == 0 || fresh && self.next + wanted <= end {
            return Ok(());
        }
        let used = self.next - start;
        self.reserve(store, now, wanted.max((2 * used).clamp(BLOCK.0, BLOCK.1)))
    }

    /// Looks whether another node has reserved numbers, at most once in [`KEPT`]. This one then goes on behind them, in blocks of its own.
    fn look(&mut self, store: &dyn Store, now: Millis) -> Result<()> {
        if (self.looked_at..self.looked_at.saturating_add(KEPT)).contains(&now) {
            return Ok(());
        }
        self.looked_at = now;
        match mark(store)? {
            Some(end) if end > self.mark => self.begin_blocks(end),
            Some(_) | None => {}
        }
        Ok(())
    }

    fn begin_blocks(&mut self, next: i64) {
        self.next = self.next.max(next);
        self.block = Some(Block { start: self.next, end: self.next, until: Millis::MIN });
    }

    /// Reserves the next block. It belongs to the node that deletes the witness of the previous one.
    fn reserve(&mut self, store: &dyn Store, now: Millis, size: i64) -> Result<()> {
        for _ in 0..ROUNDS {
            let last = mark(store)?;
            let start = last.unwrap_or(0).max(next_journal(store)?).max(self.next);
            let end = start + size;
            let mark = MetaRecord { name: MARK.to_owned(), value: end.to_be_bytes().to_vec() };
            let mut writes = vec![Write::Insert(MetaRecord { name: witness(end), value: Vec::new() }.into())];
            match last {
                None => writes.push(Write::Insert(mark.into())),
                Some(last) => writes.extend([Write::Delete(Key::Meta(witness(last))), Write::Replace(mark.into())]),
            }
            match store.commit(&Commit { writes }) {
                Ok(()) => {
                    (self.next, self.block) = (start, Some(Block { start, end, until: now + KEPT }));
                    return Ok(());
                }
                // Another node reserved that block.
                Err(CommitError::Conflict(_)) => {}
                // The block may be ours and stays unused: there are enough.
                Err(error) => return Err(Error::caused(ErrorCode::StoreUnavailable, error)),
            }
        }
        Err(Error::with(ErrorCode::StoreUnavailable, "the store changes too fast; nothing was done, try again"))
    }
}

/// The end of the last reserved block.
fn mark(store: &dyn Store) -> Result<Option<i64>> {
    let mark: Option<MetaRecord> = typed(store.get(&Key::Meta(MARK.to_owned()))?)?;
    Ok(mark.and_then(|mark| mark.value.try_into().ok()).map(i64::from_be_bytes))
}

/// The name of a record that exists as long as the block that ends here is the last one.
fn witness(end: i64) -> String {
    format!("{MARK}:{end}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::store::memory::MemoryStore;

    fn draw(numbers: &mut Numbers, store: &MemoryStore, now: Millis, count: usize) -> Vec<i64> {
        numbers.provide(store, now, count).unwrap();
        (0..count).map(|_| numbers.draw()).collect()
    }

    #[test]
    fn a_node_that_is_alone_counts_and_writes_nothing() {
        let store = MemoryStore::new();
        let mut numbers = Numbers::dense(&store, 7).unwrap();
        assert_eq!(draw(&mut numbers, &store, 0, 3), [7, 8, 9]);
        assert_eq!(store.get(&Key::Meta(MARK.to_owned())).unwrap(), None);
    }

    #[test]
    fn nodes_that_met_never_draw_the_same_number() {
        let store = MemoryStore::new();
        let mut nodes = [Numbers::dense(&store, 1).unwrap(), Numbers::dense(&store, 1).unwrap()];
        for node in &mut nodes {
            node.meet(5);
        }
        let mut seen = HashSet::new();
        for round in 0..50 {
            for node in &mut nodes {
                for no in draw(node, &store, round * 100, 70) {
                    assert!(no >= 5 && seen.insert(no), "{no} was drawn before");
                }
            }
        }
    }

    #[test]
    fn numbers_follow_time_over_all_nodes() {
        let store = MemoryStore::new();
        let mut nodes = [Numbers::dense(&store, 1).unwrap(), Numbers::dense(&store, 1).unwrap()];
        for node in &mut nodes {
            node.meet(1);
        }
        let early = draw(&mut nodes[0], &store, 0, 1)[0];
        let other = draw(&mut nodes[1], &store, 500, 1)[0];
        assert_eq!(draw(&mut nodes[0], &store, KEPT - 1, 1), [early + 1], "a block is used for a while");
        assert!(draw(&mut nodes[0], &store, KEPT, 1)[0] > other, "and not for long");
        assert!(draw(&mut nodes[1], &store, 0, 1)[0] > other, "nor by a clock that was put back");
    }

    #[test]
    fn blocks_grow_and_shrink_with_what_is_drawn() {
        let store = MemoryStore::new();
        let mut numbers = Numbers::dense(&store, 1).unwrap();
        numbers.meet(1);
        let mut size = |now: Millis, count: usize| {
            draw(&mut numbers, &store, now, count);
            numbers.block.as_ref().map(|block| block.end - block.start).unwrap()
        };
        assert_eq!(size(0, 1), 16);
        assert_eq!(size(0, 16), 16, "what does not fit begins a new one, behind one that was hardly used");
        assert_eq!([size(0, 1), size(0, 31), size(0, 2)], [32, 32, 64]);
        assert_eq!(size(0, 5_000), 5_000);
        assert_eq!(size(0, 1), 4_096);
        assert_eq!([size(KEPT, 1), size(2 * KEPT, 1)], [16, 16], "a node that has less to do takes less");
    }

    #[test]
    fn a_group_larger_than_a_block_has_numbers_of_its_own() {
        let store = MemoryStore::new();
        let (mut one, mut two) = (Numbers::dense(&store, 1).unwrap(), Numbers::dense(&store, 1).unwrap());
        one.meet(1);
        two.meet(1);
        let many = draw(&mut one, &store, 0, 3_000);
        assert!(draw(&mut two, &store, 0, 1)[0] > many[2_999]);
    }

    #[test]
    fn a_node_that_counts_densely_notices_a_block_before_long() {
        let store = MemoryStore::new();
        let (mut dense, mut late) = (Numbers::dense(&store, 1).unwrap(), Numbers::dense(&store, 1).unwrap());
        assert_eq!(draw(&mut dense, &store, 0, 1), [1]);
        for next in [2, 3, 4] {
            late.meet(next);
        }
        let far = draw(&mut late, &store, 10, 1)[0];
        assert!(far > 4 + BLOCK.0, "each loss goes further ahead");
        assert_eq!(draw(&mut dense, &store, KEPT - 1, 1), [2], "it does not look all the time");
        assert!(draw(&mut dense, &store, KEPT, 1)[0] > far);
        // What was reserved before it began says nothing.
        let mut alone = Numbers::dense(&store, 9_000).unwrap();
        assert_eq!(draw(&mut alone, &store, 5 * KEPT, 2), [9_000, 9_001]);
    }
}
