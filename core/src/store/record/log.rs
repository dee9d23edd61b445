//! The log's records: what was written but not numbered yet, each client's feed, and the Merkle tree's tiles.

use super::{Digest32, EventType};
use crate::ids::{ClientNo, ProviderNo, SettlementNo};
use crate::ledger::Mode;
use crate::lifecycle::SettlementStatus;
use crate::time::Millis;

/// The events of one commit that are not numbered yet. Written in that very commit, so that none can be missed, and
/// removed in the one that numbers them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnloggedRecord {
    /// Ordered by time over all nodes, and growing at each of them.
    pub no: i64,
    /// What changed, in the order in which it was decided.
    pub changes: Vec<LoggedChange>,
}

/// Events that one command added to a settlement's trace, and the settlement as they left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedChange {
    /// Which.
    pub settlement: SettlementNo,
    /// Whose.
    pub client: ClientNo,
    /// Sandbox or live.
    pub mode: Mode,
    /// What of the settlement changes in its life, as it stood after these events.
    pub moment: Moment,
    /// The events: the last one's place in the trace is the moment's version.
    pub events: Vec<LoggedEvent>,
}

/// One event of a [`LoggedChange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedEvent {
    /// What happened.
    pub kind: EventType,
    /// When.
    pub at: Millis,
    /// Its hash.
    pub hash: Digest32,
}

/// What of a settlement changes in its life. All else is as it was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// Where it stood.
    pub status: SettlementStatus,
    /// The sequence of its last event.
    pub version: u32,
    /// A person must look.
    pub needs_review: bool,
    /// The provider it was at.
    pub provider: ProviderNo,
    /// Minor units given back.
    pub reversed: i64,
    /// Minor units of reversals under way.
    pub reversing: i64,
    /// How many attempts were started.
    pub attempts: u16,
    /// When it last changed.
    pub updated_at: Millis,
    /// When it became final for the first time.
    pub completed_at: Option<Millis>,
    /// The rail's own reference of the payment.
    pub rail_reference: Option<String>,
    /// Why it failed: a [`super::Failure`] as JSON.
    pub failure: Option<String>,
}

impl LoggedChange {
    /// Each event's place in the trace.
    pub fn sequence(&self, index: usize) -> u32 {
        let behind = self.events.len().saturating_sub(index + 1) as u32;
        self.moment.version.saturating_sub(behind)
    }
}

/// One event in its owner's feed: numbered without gaps per client and mode, in an order that never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedRecord {
    /// Whose.
    pub client: ClientNo,
    /// Sandbox or live.
    pub mode: Mode,
    /// Its place in the feed, from 1.
    pub position: i64,
    /// The settlement that it is an event of.
    pub settlement: SettlementNo,
    /// Its place in that settlement's trace.
    pub n: u32,
    /// When it happened.
    pub at: Millis,
    /// The index of its leaf in the Merkle tree over all events, from 0.
    pub leaf: i64,
}

/// A row of the Merkle tree: at level 0 the leaves themselves (commitments), above it the roots of the full tiles below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileRecord {
    /// 0 for leaves.
    pub level: u8,
    /// Which one of its level, from 0.
    pub index: i64,
    /// At most 256 entries of 32 bytes.
    pub entries: Vec<u8>,
}

/// How far the log is. There is one such row; its key is the size, so that only one node at a time can move it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogHeadRecord {
    /// How many leaves there are.
    pub size: i64,
    /// The node that appends.
    pub owner: i64,
    /// Until when the others leave it to that node.
    pub until: Millis,
}
