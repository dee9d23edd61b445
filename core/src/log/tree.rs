//! The tree over stored tiles: appending, roots and proofs (RFC 6962, section 2.1).
//!
//! A complete subtree never changes again. A tile of level L contains 256 roots of subtrees with 256^L leaves each, so every
//! complete subtree is in one tile: that of 2^(8L+r) leaves as 2^r entries of level L. All others are combined from complete ones.

use std::collections::BTreeMap;

use super::{empty_root, leaf_hash, node_hash};

/// A SHA-256 hash.
pub type Hash = [u8; 32];

/// The number of entries in a full tile.
pub const TILE_WIDTH: usize = 256;

/// The length of an entry in bytes: of a leaf's data at level 0, of a hash above.
pub(super) const ENTRY: usize = 32;

/// The rows that store a tree.
///
/// A row of level 0 contains the data of up to 256 leaves, 32 bytes each, concatenated; tile `i` starts with leaf `256·i`. A row of
/// level L ≥ 1 contains up to 256 hashes, each the root of the 256 entries of one full tile of the level below. Only the last row
/// of a level may have fewer than 256 entries, and no row is empty.
pub trait Tiles {
    /// Why a row could not be read.
    type Error;

    /// The row of tile `index` of `level`; `None` if there is none.
    ///
    /// # Errors
    /// Why the row could not be read.
    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, Self::Error>;
}

/// Why a tree operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError<E> {
    /// A row could not be read.
    #[error("a tile of the log could not be read: {0}")]
    Tiles(E),
    /// A row that a tree of this size must have is missing.
    #[error("tile {index} of level {level} of the log is missing")]
    Missing {
        /// The level of the tile.
        level: u8,
        /// The index of the tile within its level.
        index: u64,
    },
    /// A row has fewer entries than in a tree of this size, or its last entry is truncated.
    #[error("tile {index} of level {level} of the log has {bytes} bytes, but needs at least {needed}")]
    Short {
        /// The level of the tile.
        level: u8,
        /// The index of the tile within its level.
        index: u64,
        /// The actual length, in bytes.
        bytes: usize,
        /// The minimum length, in bytes.
        needed: usize,
    },
    /// The rows contain more than the size given for an append, which would drop leaves.
    #[error("tile {index} of level {level} of the log has {bytes} bytes, but a log of this size ends at {expected}")]
    Ahead {
        /// The level of the tile.
        level: u8,
        /// The index of the tile within its level.
        index: u64,
        /// The actual length, in bytes.
        bytes: usize,
        /// The length in a tree of the given size, in bytes.
        expected: usize,
    },
    /// The requested leaf or tree is beyond the given size, or the log would have more than 2^64 − 1 leaves.
    #[error("{asked} is beyond a log of {size} leaves")]
    Beyond {
        /// The requested index or size.
        asked: u64,
        /// The given size.
        size: u64,
    },
}

/// A row to insert or replace, with its complete content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileRow {
    /// The level of the tile.
    pub level: u8,
    /// The index of the tile within its level.
    pub index: u64,
    /// The entries, 32 bytes each.
    pub bytes: Vec<u8>,
}

/// The result of an append. The caller must store all rows or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The new size.
    pub size: u64,
    /// The rows that change, by level and index.
    pub rows: Vec<TileRow>,
}

impl Appended {
    /// The rows after the append, to compute the new root before anything is stored.
    pub fn over<'a, T: Tiles>(&'a self, tiles: &'a T) -> Overlay<'a, T> {
        Overlay { appended: self, tiles }
    }
}

/// Rows overlaid with those of an append.
#[derive(Debug)]
pub struct Overlay<'a, T> {
    appended: &'a Appended,
    tiles: &'a T,
}

impl<T: Tiles> Tiles for Overlay<'_, T> {
    type Error = T::Error;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>, T::Error> {
        match self.appended.rows.binary_search_by_key(&(level, index), |row| (row.level, row.index)) {
            Ok(at) => Ok(Some(self.appended.rows[at].bytes.clone())),
            Err(_) => self.tiles.tile(level, index),
        }
    }
}

/// Appends `leaves`, in order, to the tree of `size` leaves in `tiles`.
///
/// Reads at most the last row of each level, and only if something is added to that level.
///
/// # Errors
/// A [`TreeError`] if a row cannot be read or does not belong to a tree of `size` leaves.
pub fn append<T: Tiles>(tiles: &T, size: u64, leaves: &[[u8; 32]]) -> Result<Appended, TreeError<T::Error>> {
    let more = u64::try_from(leaves.len()).unwrap_or(u64::MAX);
    let new_size = size.checked_add(more).ok_or(TreeError::Beyond { asked: more, size })?;
    let mut appended = Appended { size: new_size, rows: Vec::new() };
    let (mut level, mut count, mut new) = (0, size, leaves.to_vec());
    while !new.is_empty() {
        let mut roots = Vec::with_capacity(new.len() / TILE_WIDTH + 1);
        let mut index = count / TILE_WIDTH as u64;
        let mut bytes = last_row(tiles, level, count)?;
        let mut rest = new.as_slice();
        while !rest.is_empty() {
            let (these, others) = rest.split_at(rest.len().min(TILE_WIDTH - bytes.len() / ENTRY));
            bytes.extend_from_slice(these.as_flattened());
            rest = others;
            if bytes.len() == TILE_WIDTH * ENTRY {
                roots.push(complete_root(level, &bytes));
            }
            appended.rows.push(TileRow { level, index, bytes: std::mem::take(&mut bytes) });
            index += 1;
        }
        (level, count, new) = (level + 1, count / TILE_WIDTH as u64, roots);
    }
    Ok(appended)
}

/// The root of the first `size` leaves.
///
/// # Errors
/// A [`TreeError`] if a row cannot be read or has too few entries: the tree is smaller than `size`, or damaged.
pub fn root<T: Tiles>(tiles: &T, size: u64) -> Result<Hash, TreeError<T::Error>> {
    Reader::new(tiles).range(0, size)
}

/// The proof that the leaf at `index` is in the tree of the first `size` leaves: the hashes to combine with its hash, from its
/// sibling up to the root's child (RFC 6962, section 2.1.1).
///
/// # Errors
/// [`TreeError::Beyond`] if there is no such leaf in that tree; any other if a row cannot be read or has too few entries.
pub fn inclusion<T: Tiles>(tiles: &T, index: u64, size: u64) -> Result<Vec<Hash>, TreeError<T::Error>> {
    if index >= size {
        return Err(TreeError::Beyond { asked: index, size });
    }
    let mut reader = Reader::new(tiles);
    let mut path = Vec::new();
    let (mut from, mut to) = (0, size);
    while to - from > 1 {
        let middle = from + left_leaves(to - from);
        if index < middle {
            path.push(reader.range(middle, to)?);
            to = middle;
        } else {
            path.push(reader.range(from, middle)?);
            from = middle;
        }
    }
    path.reverse();
    Ok(path)
}

/// The proof that the tree of the first `new` leaves starts with the tree of the first `old` (RFC 6962, section 2.1.2). It is empty
/// if `old` is 0 or `new`.
///
/// # Errors
/// [`TreeError::Beyond`] if `old` is more than `new`; any other if a row cannot be read or has too few entries.
pub fn consistency<T: Tiles>(tiles: &T, old: u64, new: u64) -> Result<Vec<Hash>, TreeError<T::Error>> {
    if old > new {
        return Err(TreeError::Beyond { asked: old, size: new });
    }
    let mut path = Vec::new();
    if old == 0 {
        return Ok(path);
    }
    let mut reader = Reader::new(tiles);
    let (mut from, mut to) = (0, new);
    while to > old {
        let middle = from + left_leaves(to - from);
        if old <= middle {
            path.push(reader.range(middle, to)?);
            to = middle;
        } else {
            path.push(reader.range(from, middle)?);
            from = middle;
        }
    }
    // The verifier has the old root: only part of it is needed.
    if from > 0 {
        path.push(reader.range(from, to)?);
    }
    path.reverse();
    Ok(path)
}

/// The number of leaves in the left child of a tree of `leaves`, at least 2: the largest power of two below.
fn left_leaves(leaves: u64) -> u64 {
    1 << (leaves - 1).ilog2()
}

/// The last row of a level with `count` entries; empty if that row does not exist yet.
fn last_row<T: Tiles>(tiles: &T, level: u8, count: u64) -> Result<Vec<u8>, TreeError<T::Error>> {
    let (index, entries) = (count / TILE_WIDTH as u64, (count % TILE_WIDTH as u64) as usize);
    let expected = entries * ENTRY;
    let bytes = match row(tiles, level, index, entries) {
        Err(TreeError::Missing { .. }) if expected == 0 => Vec::new(),
        read => read?,
    };
    if bytes.len() > expected {
        return Err(TreeError::Ahead { level, index, bytes: bytes.len(), expected });
    }
    Ok(bytes)
}

/// A row that must have at least the first `entries`.
pub(super) fn row<T: Tiles>(tiles: &T, level: u8, index: u64, entries: usize) -> Result<Vec<u8>, TreeError<T::Error>> {
    let bytes = tiles.tile(level, index).map_err(TreeError::Tiles)?.ok_or(TreeError::Missing { level, index })?;
    let needed = entries * ENTRY;
    if bytes.len() < needed {
        return Err(TreeError::Short { level, index, bytes: bytes.len(), needed });
    }
    Ok(bytes)
}

/// The hashes of a row's entries; at level 0 the row contains the data itself.
pub(super) fn hashes(level: u8, bytes: &[u8]) -> Vec<Hash> {
    let (entries, _) = bytes.as_chunks::<ENTRY>();
    if level == 0 { entries.iter().map(|data| leaf_hash(data)).collect() } else { entries.to_vec() }
}

/// The root of a power of two of entries.
fn complete_root(level: u8, bytes: &[u8]) -> Hash {
    let mut nodes = hashes(level, bytes);
    while nodes.len() > 1 {
        nodes = nodes.as_chunks::<2>().0.iter().map(|[left, right]| node_hash(left, right)).collect();
    }
    nodes.pop().unwrap_or_else(empty_root)
}

/// Reads each row only once.
struct Reader<'a, T> {
    tiles: &'a T,
    rows: BTreeMap<(u8, u64), Vec<u8>>,
}

impl<'a, T: Tiles> Reader<'a, T> {
    fn new(tiles: &'a T) -> Self {
        Self { tiles, rows: BTreeMap::new() }
    }

    /// The root over the leaves from `from` up to `to`, which must be a subtree: `from` is a multiple of a power of two that is at
    /// least the number of leaves.
    fn range(&mut self, from: u64, to: u64) -> Result<Hash, TreeError<T::Error>> {
        let mut complete = Vec::new();
        let mut at = from;
        while at < to {
            let height = (to - at).ilog2();
            complete.push(self.complete(at, height)?);
            // The last one may end at 2^64 − 1, but never beyond `to`.
            at += 1 << height;
        }
        let combine = |right: Option<Hash>, left: Hash| Some(right.map_or(left, |right| node_hash(&left, &right)));
        Ok(complete.into_iter().rev().fold(None, combine).unwrap_or_else(empty_root))
    }

    /// The root over the 2^`height` leaves starting at `from`.
    fn complete(&mut self, from: u64, height: u32) -> Result<Hash, TreeError<T::Error>> {
        // A height is at most 63, and a level therefore at most 7.
        let (level, entries) = ((height / 8) as u8, 1usize << (height % 8));
        let first = from >> (8 * u32::from(level));
        let (index, position) = (first / TILE_WIDTH as u64, (first % TILE_WIDTH as u64) as usize);
        let (start, end) = (position * ENTRY, (position + entries) * ENTRY);
        let known = self.rows.entry((level, index));
        let bytes = match known {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(unknown) => unknown.insert(row(self.tiles, level, index, 0)?),
        };
        let part = bytes.get(start..end).ok_or(TreeError::Short { level, index, bytes: bytes.len(), needed: end })?;
        Ok(complete_root(level, part))
    }
}
