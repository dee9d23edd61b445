//! The log's records: events not numbered yet, each client's feed, and the tiles of the Merkle trees.

use super::{Digest32, EventType, Later, LogHeadRecord};
use crate::ids::{ClientNo, ProviderNo, SettlementNo, UserNo};
use crate::ledger::{AccountId, Mode, TransferCode};
use crate::lifecycle::SettlementStatus;
use crate::time::Millis;

/// The events that one command added to a trace, and the state after them of what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedChange {
    /// The settlement, or the journal number of a movement of money.
    pub settlement: SettlementNo,
    /// The client that owns it.
    pub client: ClientNo,
    /// Sandbox or live.
    pub mode: Mode,
    /// The end user who pays, if one does.
    pub user: Option<UserNo>,
    /// The sequence number of the last event.
    pub version: u32,
    /// The mutable part of the settlement, as it was after these events; `None` for a movement, which never changes.
    pub moment: Option<Moment>,
    /// The events.
    pub events: Vec<LoggedEvent>,
}

/// One event of a [`LoggedChange`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoggedEvent {
    /// The type of the event.
    pub kind: EventType,
    /// When it happened.
    pub at: Millis,
    /// The hash of the event.
    pub hash: Digest32,
}

/// The mutable part of a settlement. Everything else stays as it was created.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The status.
    pub status: SettlementStatus,
    /// Whether a person must review it.
    pub needs_review: bool,
    /// The provider that had it.
    pub provider: ProviderNo,
    /// The amount returned so far, in minor units.
    pub reversed: i64,
    /// The amount of reversals in progress, in minor units.
    pub reversing: i64,
    /// The number of attempts started.
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

/// What a posted transfer adds to the statement of one account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BookedLine {
    /// The account.
    pub account: AccountId,
    /// What it gains, in minor units; less than zero for what it spends.
    pub amount: i64,
    /// What for.
    pub code: TransferCode,
    /// The journal of the transfer: a settlement, or a movement of money.
    pub journal: SettlementNo,
    /// The number of the transfer within the journal.
    pub transfer: u16,
    /// When it was posted.
    pub at: Millis,
}

impl LoggedChange {
    /// The sequence number of the event at `index`.
    pub fn sequence(&self, index: usize) -> u32 {
        let behind = self.events.len().saturating_sub(index + 1) as u32;
        self.version.saturating_sub(behind)
    }
}

impl LogHeadRecord {
    /// The number of leaves in the tree of a mode.
    pub fn leaves(&self, mode: Mode) -> i64 {
        let live = self.live.0.unwrap_or_default();
        match mode {
            Mode::Sandbox => self.events.saturating_sub(live),
            Mode::Live => live,
        }
    }

    /// The head after one more event of a mode.
    pub(crate) fn with_one_more(self, mode: Mode) -> Self {
        let live = self.leaves(Mode::Live) + i64::from(!mode.is_sandbox());
        Self { events: self.events + 1, live: Later(Some(live)), ..self }
    }
}
