//! The transparency log: what anybody can check about the gateway's events without trusting the gateway.
//!
//! The log is an append-only Merkle tree (RFC 6962, section 2.1, over SHA-256), served as C2SP
//! [tiles](https://c2sp.org/tlog-tiles). Its parts:
//!
//! - [`append`], [`root`], [`inclusion`] and [`consistency`] do the mathematics over rows that the caller keeps, behind
//!   [`Tiles`]. Nothing here does I/O.
//! - [`TilePath`] and [`serve`] are what a server needs to answer for tiles and entry bundles.
//! - [`verify_inclusion`] and [`verify_consistency`] check proofs, and take any input.

mod tile;
mod tree;
mod verify;

#[cfg(test)]
mod tests;

pub use tile::{TileKind, TilePath, serve};
pub use tree::{Appended, Hash, Overlay, TILE_WIDTH, TileRow, Tiles, TreeError, append, consistency, inclusion, root};
pub use verify::{verify_consistency, verify_inclusion};

use sha2::{Digest, Sha256};

/// The hash of a leaf: SHA-256(`00 ‖ data`).
pub fn leaf_hash(data: &[u8]) -> Hash {
    Sha256::new().chain_update([0]).chain_update(data).finalize().into()
}

/// The hash of a node over its two children: SHA-256(`01 ‖ left ‖ right`).
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    Sha256::new().chain_update([1]).chain_update(left).chain_update(right).finalize().into()
}

/// The root of the tree without leaves: the SHA-256 of nothing.
pub fn empty_root() -> Hash {
    Sha256::digest([]).into()
}
