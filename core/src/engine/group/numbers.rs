//! Numbers of settlements and fundings: dense while one node writes, from blocks of each node's own when several do.
//!
//! Dense numbers need no coordination but the store's refusal of one that is taken. Nodes that write at the same time
//! would run into that refusal with every second commit; so a node that meets another one reserves blocks from then on,
//! by a commit of its own for each. It drops what is left of a block soon, so that numbers follow time over all nodes to
//! within [`KEPT`], and lists by number are lists by time.

use crate::error::{Error, ErrorCode, Result};
use crate::store::record::{Key, MetaRecord};
use crate::store::{Commit, CommitError, Store, Write, typed};
use crate::time::Millis;

use super::ROUNDS;
use super::writer::next_journal;

/// How many numbers are reserved at a time: as many again as the block before was drawn from, within these bounds. So those
/// that stay unused are few beside those that are used, or few in any case: of a hundred idle nodes 1,600 a second, of
/// which 40 bits have room for twenty years.
const BLOCK: (i64, i64) = (16, 4_096);
/// How long a block is drawn from.
const KEPT: Millis = 1_000;
/// Where the last reserved block ends.
const MARK: &str = "numbers";

/// The numbers that a node draws.
pub(crate) struct Numbers {
    next: i64,
    /// None while numbers are dense.
    block: Option<Block>,
}

/// What a node has reserved.
struct Block {
    start: i64,
    /// Behind its last number.
    end: i64,
    /// Until when it is drawn from.
    until: Millis,
}

impl Numbers {
    /// From here on, one after the other.
    pub(super) fn dense(next: i64) -> Self {
        Self { next, block: None }
    }

    /// The next number. Behind the end of a block it may be another node's, which the commit finds out.
    pub(super) fn draw(&mut self) -> i64 {
        let no = self.next;
        self.next += 1;
        no
    }

    /// A number was taken already, and `next` is free as far as the store knows: another node writes too.
    pub(super) fn meet(&mut self, next: i64) {
        self.next = self.next.max(next);
        self.block = Some(Block { start: self.next, end: self.next, until: Millis::MIN });
    }

    /// Sees to it that so many numbers can be drawn.
    pub(super) fn provide(&mut self, store: &dyn Store, now: Millis, wanted: usize) -> Result<()> {
        let wanted = i64::try_from(wanted).map_err(Error::internal)?;
        let Some(Block { start, end, until }) = self.block else { return Ok(()) };
        // A clock that was put back must not make a block last longer.
        let fresh = now < until && until - now <= KEPT;
        if wanted == 0 || fresh && self.next + wanted <= end {
            return Ok(());
        }
        let used = self.next - start;
        self.reserve(store, now, wanted.max((2 * used).clamp(BLOCK.0, BLOCK.1)))
    }

    /// Takes the next block: whoever removes the mark of the one before has it.
    fn reserve(&mut self, store: &dyn Store, now: Millis, size: i64) -> Result<()> {
        for _ in 0..ROUNDS {
            let last: Option<MetaRecord> = typed(store.get(&Key::Meta(MARK.to_owned()))?)?;
            let last = last.and_then(|mark| mark.value.try_into().ok()).map(i64::from_be_bytes);
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
                // Somebody else has that block.
                Err(CommitError::Conflict(_)) => {}
                // Perhaps it is ours and stays unused: there are many.
                Err(error) => return Err(Error::caused(ErrorCode::StoreUnavailable, error)),
            }
        }
        Err(Error::with(ErrorCode::StoreUnavailable, "the store changes too fast; nothing was done, try again"))
    }
}

/// Stands for the block that ends here, as long as it is the last one.
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
        let (store, mut numbers) = (MemoryStore::new(), Numbers::dense(7));
        assert_eq!(draw(&mut numbers, &store, 0, 3), [7, 8, 9]);
        assert_eq!(store.get(&Key::Meta(MARK.to_owned())).unwrap(), None);
    }

    #[test]
    fn nodes_that_met_never_draw_the_same_number() {
        let store = MemoryStore::new();
        let mut nodes = [Numbers::dense(1), Numbers::dense(1)];
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
        let mut nodes = [Numbers::dense(1), Numbers::dense(1)];
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
        let (store, mut numbers) = (MemoryStore::new(), Numbers::dense(1));
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
        let (mut one, mut two) = (Numbers::dense(1), Numbers::dense(1));
        one.meet(1);
        two.meet(1);
        let many = draw(&mut one, &store, 0, 3_000);
        assert!(draw(&mut two, &store, 0, 1)[0] > many[2_999]);
    }
}
