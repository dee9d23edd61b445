//! The log's records: what was written but not numbered yet, each client's feed, and the Merkle tree's tiles.

use super::{Digest32, EventType};
use crate::ids::{ClientNo, ProviderNo, SettlementNo};
use crate::ledger::Mode;
use crate::lifecycle::SettlementStatus;
use crate::time::Millis;

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
