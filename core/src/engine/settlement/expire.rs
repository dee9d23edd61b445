//! Settlements whose time to be sent is over.

use super::change::{Change, Note};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision};
use crate::error::Result;
use crate::lifecycle::settlement::SettlementInput;
use crate::lifecycle::{SettlementStatus, StateName};
use crate::store::record::{Actor, Key, SettlementRecord};
use crate::store::{Scan, typed_all};

/// Cancels settlements that were not sent by their `expires_at`, even if the outbox stands still. Returns how many.
#[derive(Debug, Clone)]
pub struct Expire {
    /// Maximum number of settlements.
    pub limit: usize,
}

impl Command for Expire {
    type Output = usize;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<usize> {
        let expired: Vec<SettlementRecord> = typed_all(d.overlay.store.scan(&Scan::expired_before(d.overlay.now + 1, self.limit))?)?;
        let mut count = 0;
        for record in expired {
            // A command before this one in the group may have changed it.
            if d.overlay.touched(&Key::Settlement(record.no)) {
                continue;
            }
            let mut change = d.engine.change(d.overlay, record.no)?;
            if change.expire() {
                change.update(d.overlay)?;
                d.overlay.settle();
                count += 1;
            }
        }
        Ok(count)
    }

    fn touched(count: &usize) -> usize {
        (*count).max(1)
    }
}

impl Engine {
    /// Whether there is something to [`Expire`]. One look into an index.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn has_expired(&self) -> Result<bool> {
        Ok(!self.store.scan(&Scan::expired_before(self.now() + 1, 1))?.is_empty())
    }
}

impl Change<'_> {
    /// Cancels it if nothing was sent and its time is over; returns whether it did.
    pub(crate) fn expire(&mut self) -> bool {
        let is_over = self.record.status == SettlementStatus::Accepted && self.record.expires_at.is_some_and(|at| at <= self.now);
        if is_over {
            let note = Note::new(None, StateName::Cancelled, Actor::System).data(r#"{"reason":"expired"}"#.to_owned());
            self.input(SettlementInput::Cancel, note);
        }
        is_over
    }
}
