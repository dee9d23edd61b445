//! The transparency log: anybody can verify the gateway's events without trusting the gateway.
//!
//! The log is an append-only Merkle tree (RFC 6962, section 2.1, with SHA-256). Each leaf represents one event, in the order in
//! which they were logged. The gateway signs the root and size as a *checkpoint* and serves the tree as C2SP
//! [tiles](https://c2sp.org/tlog-tiles). A gateway has two logs, one of all sandbox events and one of all live events; their names
//! tell them apart.
//!
//! # How a holder verifies a proof
//!
//! Offline, with the event's hash, the `.tlog-proof` text and the log's verifier key, obtained once from a trusted source:
//!
//! ```
//! use railgate::log::{LogKey, ProofError, verify_proof};
//! # use std::sync::Arc;
//! # use railgate::{Config, Gateway, api::{CreateRequest, Target}, env::ManualEnv, seal::MasterKeys, store::memory::MemoryStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let config = Config { master: Some(Arc::new(MasterKeys::generate(1, [7; 32]))), ..Config::sandbox() };
//! # let (store, env) = (Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(1_795_257_497_042, 1)));
//! # let gateway = Gateway::open_with(store, env, config)?;
//! # let enrolled = gateway.enroll("Shop")?;
//! # gateway.client(&enrolled).create(CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?))?;
//! # gateway.work()?;
//! # let proof = gateway.engine().proof(&enrolled.caller, &Target::Reference("inv-1".parse()?))?;
//! # let mut hash = [0; 32];
//! # base16ct::lower::decode(&proof.event_hash, &mut hash)?;
//! # let (text, proof) = (gateway.engine().log_keys(enrolled.caller.mode)?[0].to_string(), proof.proof);
//! let key = LogKey::parse(&text).ok_or("not a verifier key")?;
//! let checkpoint = verify_proof(&proof, &hash, &key)?;
//! assert_eq!((checkpoint.origin.as_str(), checkpoint.size), ("railgate/log", 5));
//!
//! // Another event is not in the log at this place.
//! assert_eq!(verify_proof(&proof, &[0; 32], &key), Err(ProofError::NotIncluded));
//! # Ok(())
//! # }
//! ```
//!
//! 1. Compute the event's hash from the event, as defined in [event trace](crate::trace).
//! 2. [`verify_proof`] computes the leaf from salt and hash, follows the path to the root of the checkpoint in the proof, and
//!    verifies its signature. It returns the [`Checkpoint`]: keep it, to request a proof of consistency with a newer one later.
//!
//! # What it proves
//!
//! - A **proof of inclusion** shows that an event was logged, at one position, before a checkpoint was signed. Together with the
//!   event's hash, which covers the settlement's earlier events, it prevents changes to the history up to that event.
//! - A **proof of consistency** between two checkpoints shows that the later log only added to the earlier one. A gateway that
//!   changes or drops logged events cannot produce one. Anybody who has kept a checkpoint can ask for it.
//!
//! It does not prove that the content of an event is true: it commits the gateway to what it stated. Nor does it prove that
//! everybody sees the same log: for that, holders compare checkpoints, or witnesses sign them as well.
//!
//! # The leaves
//!
//! A leaf is 32 bytes: a salted [`commitment`] to the event's hash. Readers of the log learn how many events there are and nothing
//! about any of them: no amount, no name, not even which of them belong together. The salt of an event comes with its proof, for
//! those who may see the event.
//!
//! The formats are those of C2SP ([checkpoint](https://c2sp.org/tlog-checkpoint), [signed note](https://c2sp.org/signed-note),
//! [proof](https://c2sp.org/tlog-proof)): other programs can verify it as well; `tests/interop/go-tlog` is one.
//!
//! # Functions
//!
//! All functions are pure. [`append`], [`root`], [`inclusion`] and [`consistency`] compute over rows that the caller stores,
//! through [`Tiles`]; [`TilePath`] and [`serve`] serve tiles and entry bundles; [`Checkpoint::sign`] and [`Proof`] produce what is
//! published; [`LogKey::open`], [`verify_inclusion`], [`verify_consistency`] and [`verify_proof`] verify it, and accept any input.

mod note;
mod proof;
mod tile;
mod tree;
mod verify;

#[cfg(test)]
mod tests;

pub use note::{Checkpoint, Follows, LogKey, LogName, NotFollowing, NoteError};
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

/// The root of the empty tree: the SHA-256 of the empty string.
pub fn empty_root() -> Hash {
    Sha256::digest([]).into()
}

/// Parses a decimal number as the formats require it: only digits, without leading zeros.
fn decimal(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    // Only the canonical form: no sign, no leading zeros.
    (number.to_string() == text).then_some(number)
}
