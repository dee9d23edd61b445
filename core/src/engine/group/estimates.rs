//! What this node last knew of the totals of accounts: enough to grant a payment without a read, never enough to refuse one.
//!
//! Other nodes move the same accounts. If one has spent what is left here, the store refuses the commit, and the group is decided
//! again over what it reads then.

use std::collections::HashMap;

use crate::ledger::{AccountId, Totals};

use super::Overlay;
use super::command::PREFETCHES;

/// How many accounts are remembered before all are forgotten.
const ROOM: usize = 4_096;

/// Totals by account, as of this node's last commit. Empty if the store is local: a read costs little there.
#[derive(Default)]
pub(crate) struct Estimates(HashMap<AccountId, Totals>);

impl Estimates {
    pub(crate) fn of(&self, account: AccountId) -> Option<Totals> {
        self.0.get(&account).copied()
    }

    /// A commit was made: what was read for it, or was known before, and what it moved.
    pub(super) fn learn(&mut self, overlay: &Overlay<'_>) {
        if !PREFETCHES || !overlay.store.is_remote() {
            return;
        }
        if self.0.len() > ROOM {
            self.0.clear();
        }
        for (account, stored, moved) in overlay.moved() {
            match stored.or(self.of(account)).and_then(|before| before.plus(&moved)) {
                Some(totals) => self.0.insert(account, totals),
                None => self.0.remove(&account),
            };
        }
    }

    /// A commit was not made, perhaps because of an estimate.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}
