//! Settlements whose time to be sent is over.

use super::change::{Change, Note};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Overlay};
use crate::error::Result;
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::Mode;
use crate::lifecycle::settlement::SettlementInput;
use crate::lifecycle::{SettlementStatus, StateName};
use crate::store::record::{Actor, Key, SettlementRecord};
use crate::store::{Place, Scan, typed_all};
use crate::time::Millis;

/// Cancels settlements that were not sent by their `expires_at`, even if the outbox stands still. Returns how many.
#[derive(Debug, Clone)]
pub struct Expire {
    /// The settlements: see [`Engine::expired`].
    pub settlements: Vec<SettlementNo>,
}

impl Command for Expire {
    type Output = usize;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<usize> {
        let mut count = 0;
        for no in &self.settlements {
            // A command before this one in the group may have changed it.
            if d.overlay.touched(&Key::Settlement(*no)) {
                continue;
            }
            count += usize::from(d.engine.change(d.overlay, *no)?.cancel_expired(d.overlay)?);
        }
        Ok(count)
    }

    fn touched(count: &usize) -> usize {
        (*count).max(1)
    }
}

/// A page of what has expired.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Expired {
    /// What to [`Expire`].
    pub settlements: Vec<SettlementNo>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Place>,
}

impl Engine {
    /// A page of the settlements that were not sent by their `expires_at`, after a place in the order of these times. Clocks of
    /// sandboxes that are behind keep some of those among which it looks. One look into an index.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn expired(&self, after: Option<Place>, limit: usize) -> Result<Expired> {
        let overlay = Overlay::new(&*self.store, self.now());
        let page: Vec<SettlementRecord> = typed_all(self.store.scan(&Scan::expired_before(overlay.now + 1, after, limit))?)?;
        let next = page.last().filter(|_| page.len() == limit).and_then(|last| Some((last.expires_at?, last.no)));
        let mut settlements = Vec::with_capacity(page.len());
        for record in page {
            let now = self.time_of(&overlay, record.owner())?;
            if record.expires_at.is_some_and(|at| at <= now) {
                settlements.push(record.no);
            }
        }
        Ok(Expired { settlements, next })
    }

    /// Cancels what has expired of a client's sandbox when its clock shows `now`; returns how much, at most `limit`.
    pub(crate) fn expire_of(&self, overlay: &mut Overlay<'_>, client: ClientNo, now: Millis, limit: usize) -> Result<usize> {
        let scan = Scan::expired_of(client, Mode::Sandbox, now.saturating_add(1), limit);
        let expired: Vec<SettlementRecord> = typed_all(overlay.store.scan(&scan)?)?;
        let mut count = 0;
        for record in expired {
            // A clock that travels looks again at each of its stops.
            if !overlay.touched(&Key::Settlement(record.no)) || mutated!(ExpiredTwice) {
                count += usize::from(Change::of(self, record, now).cancel_expired(overlay)?);
            }
        }
        Ok(count)
    }
}

impl Change<'_> {
    /// Writes that it is cancelled if nothing was sent and its time is over; returns whether it is.
    fn cancel_expired(mut self, overlay: &mut Overlay<'_>) -> Result<bool> {
        let is_over = self.expire();
        if is_over {
            self.update(overlay)?;
            // Whatever becomes of the rest: later reads see it, so that it is not cancelled twice.
            overlay.settle();
        }
        Ok(is_over)
    }

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
