//! Tiles as they are served: their paths and contents (C2SP tlog-tiles).

use std::fmt;

use super::tree::{ENTRY, hashes, row};
use super::{TILE_WIDTH, Tiles, TreeError};

/// The highest level that a path may name. Levels above 7 never have a tile: a size has 64 bits.
const MAX_LEVEL: u8 = 63;
/// The maximum length of a tile's path: `tile/entries/`, seven groups of an index and `.p/255`.
const MAX_PATH: usize = 64;

/// The content of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TileKind {
    /// Hashes of this level, 32 bytes each. At level 0, those of the leaves.
    Hashes(u8),
    /// The data of the leaves: an entry bundle.
    Entries,
}

/// The path of a tile below the log's prefix: `tile/<L>/<N>[.p/<W>]` or `tile/entries/<N>[.p/<W>]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TilePath {
    kind: TileKind,
    index: u64,
    width: u16,
}

impl TilePath {
    /// The path of the first `width` entries of a tile; `None` if the width is not 1 to 256, or the level is above 63.
    pub fn new(kind: TileKind, index: u64, width: u16) -> Option<Self> {
        let known = match kind {
            TileKind::Hashes(level) => level <= MAX_LEVEL,
            TileKind::Entries => true,
        };
        (known && (1..=TILE_WIDTH).contains(&usize::from(width))).then_some(Self { kind, index, width })
    }

    /// Parses a path as [`TilePath`] displays it, and in no other form: no leading zeros, no `.p/256`.
    pub fn parse(path: &str) -> Option<Self> {
        // The comparison at the end needs no path that is longer than any valid one.
        (path.len() <= MAX_PATH).then_some(())?;
        let (kind, rest) = path.strip_prefix("tile/")?.split_once('/')?;
        let kind = if kind == "entries" { TileKind::Entries } else { TileKind::Hashes(kind.parse().ok()?) };
        let (index, width) = match rest.split_once(".p/") {
            Some((index, width)) => (index, width.parse().ok()?),
            None => (rest, TILE_WIDTH as u16),
        };
        let digits: String = index.chars().filter(|c| !matches!(c, 'x' | '/')).collect();
        let read = Self::new(kind, digits.parse().ok()?, width)?;
        // A path has one canonical form: anything else is refused.
        (read.to_string() == path).then_some(read)
    }

    /// The content of the tile.
    pub fn kind(&self) -> TileKind {
        self.kind
    }

    /// The tile's index within its level.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The number of entries: 256 if the tile is full.
    pub fn width(&self) -> u16 {
        self.width
    }

    /// Whether it is full and therefore never grows.
    pub fn is_full(&self) -> bool {
        usize::from(self.width) == TILE_WIDTH
    }

    /// Whether a log of `size` leaves has all its entries: those of a full tile, or those of the partial tile at some smaller size
    /// or at this one.
    pub fn is_within(&self, size: u64) -> bool {
        let level = match self.kind {
            TileKind::Hashes(level) => level,
            TileKind::Entries => 0,
        };
        let entries = size.checked_shr(8 * u32::from(level)).unwrap_or(0);
        let end = self.index.checked_mul(TILE_WIDTH as u64).and_then(|start| start.checked_add(u64::from(self.width)));
        end.is_some_and(|end| end <= entries)
    }
}

impl fmt::Display for TilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            TileKind::Hashes(level) => write!(f, "tile/{level}/")?,
            TileKind::Entries => f.write_str("tile/entries/")?,
        }
        // Groups of three digits; all but the last start with an x.
        let mut groups = vec![self.index % 1000];
        let mut rest = self.index / 1000;
        while rest > 0 {
            groups.push(rest % 1000);
            rest /= 1000;
        }
        for group in groups[1..].iter().rev() {
            write!(f, "x{group:03}/")?;
        }
        write!(f, "{:03}", groups[0])?;
        if self.is_full() { Ok(()) } else { write!(f, ".p/{}", self.width) }
    }
}

/// The bytes at a path: the concatenated hashes, or for each entry its length as two big-endian bytes, followed by its data. They
/// never change once they exist.
///
/// The rows may be ahead of the latest signed checkpoint: check [`TilePath::is_within`] first, with the signed size.
///
/// # Errors
/// [`TreeError::Missing`] or [`TreeError::Short`] if the log has no such tile, [`TreeError::Tiles`] if it cannot be read.
pub fn serve<T: Tiles>(tiles: &T, path: &TilePath) -> Result<Vec<u8>, TreeError<T::Error>> {
    let width = usize::from(path.width);
    match path.kind {
        TileKind::Hashes(level) => {
            let bytes = row(tiles, level, path.index, width)?;
            Ok(hashes(level, &bytes[..width * ENTRY]).into_flattened())
        }
        TileKind::Entries => {
            let bytes = row(tiles, 0, path.index, width)?;
            let (entries, _) = bytes[..width * ENTRY].as_chunks::<ENTRY>();
            Ok(entries.iter().flat_map(|data| (ENTRY as u16).to_be_bytes().into_iter().chain(*data)).collect())
        }
    }
}
