//! The transparency log, by which anybody can check the gateway's events without trusting the gateway.
//!
//! The log is an append-only Merkle tree (RFC 6962, section 2.1, over SHA-256) whose leaves stand for events, one each,
//! in the order in which they were logged. The gateway signs its root and size as a *checkpoint* and serves the tree as
//! C2SP [tiles](https://c2sp.org/tlog-tiles).
//!
//! # What it proves
//!
//! - A **proof of inclusion** shows that an event was logged, at one place, before a checkpoint was signed. With the
//!   event's hash, which covers the settlement's earlier events, the history up to it cannot be changed.
//! - A **proof of consistency** between two checkpoints shows that the later log only added to the earlier one. A
//!   gateway that changes or drops what it has logged cannot produce one. Whoever has kept a checkpoint can ask for it.
//!
//! It does not show that what an event says is true: it holds the gateway to what it said. Nor does it show that
//! everybody sees the same log: for that, holders compare checkpoints, or witnesses sign them as well.
//!
//! # What a leaf is
//!
//! 32 bytes: a salted [`commitment`] to the event's hash. Readers of the log learn how many events there are and
//! nothing about any of them: no amount, no name, not which of them belong together. The salt of an event comes with
//! its proof, to those who may see the event.
//!
//! # How a holder checks a proof
//!
//! Offline, with the event, the `.tlog-proof` text and the log's verifier key ([`LogKey`], obtained once from a trusted
//! source):
//!
//! 1. Compute the event's hash from the event, as the [event trace](crate::trace) says.
//! 2. [`verify_proof`] computes the leaf from salt and hash, follows the path to the root of the checkpoint in the proof,
//!    and checks its signature. It returns the [`Checkpoint`]: keep it, to ask later for consistency with a newer one.
//!
//! The formats are those of C2SP ([checkpoint](https://c2sp.org/tlog-checkpoint), [signed
//! note](https://c2sp.org/signed-note), [proof](https://c2sp.org/tlog-proof)), so that other programs can check
//! it as well; `tests/interop/go-tlog` is one.
//!
//! # What is here
//!
//! Pure functions. [`append`], [`root`], [`inclusion`] and [`consistency`] do the mathematics over rows that the caller
//! stores, through [`Tiles`]; [`TilePath`] and [`serve`] serve tiles and entry bundles; [`Checkpoint::sign`] and
//! [`Proof`] write what is published; [`LogKey::open`], [`verify_inclusion`], [`verify_consistency`] and
//! [`verify_proof`] check it, and accept any input.

mod note;
mod proof;
mod tile;
mod tree;
mod verify;

#[cfg(test)]
mod tests;

pub use note::{Checkpoint, LogKey, LogName, NoteError};
pub use proof::{Proof, ProofError, commitment, verify_proof};
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

/// A number in decimal, as the formats write it: digits alone, without zeros before it.
fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    // The one spelling: no sign, no zeros.
    (number.to_string() == text).then_some(number)
}
