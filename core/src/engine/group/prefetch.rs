//! Looks up what a group of commands is about to read in one round trip, if the store is on another machine; and what one command is
//! about to read as a batch, if the store prefers that.
//!
//! This is only an optimisation: records that are not looked up here are read when they are needed.

use std::collections::{HashMap, HashSet};

use crate::api::Subject;
use crate::error::Result;
use crate::ids::ClientNo;
use crate::ledger::{self, AccountId, Mode};
use crate::money::Currency;
use crate::store::record::{Key, Record, SettlementRecord};
use crate::store::{Lookup, Scan, Unique};

use super::command::{PREFETCHES, Pending, Prefetch};
use super::overlay::Overlay;
use super::turns::Owner;
use super::writer::Writer;
use crate::engine::Engine;

impl Engine {
    /// Looks up the records that the commands read first.
    pub(super) fn prefetch(&self, overlay: &mut Overlay<'_>, writer: &Writer, group: &[&mut dyn Pending]) -> Result<()> {
        if !PREFETCHES || !overlay.store.is_remote() {
            return Ok(());
        }
        let mut prefetch =
            Prefetch { engine: self, estimates: &writer.estimates, again: writer.round > 0, wanted: Vec::with_capacity(2 * group.len()) };
        group.iter().for_each(|command| command.prefetch(&mut prefetch));
        overlay.look_up(prefetch.wanted)
    }
}

impl Prefetch<'_> {
    pub(crate) fn add(&mut self, lookups: impl IntoIterator<Item = Lookup>) {
        self.wanted.extend(lookups);
    }

    /// The account that a payment is granted from, unless an estimate of it may do.
    pub(crate) fn payer(&mut self, client: ClientNo, mode: Mode, currency: Currency) {
        let account = AccountId::new(ledger::Owner::Client(client), mode, currency);
        if self.estimates.of(account).is_none() {
            self.wanted.push(Lookup::Get(Key::Account(account)));
        }
    }

    /// The clock of the owner's sandbox, if its client has changed it.
    pub(crate) fn clock(&mut self, owner: Owner) {
        self.wanted.extend(self.engine.held_by(owner).map(|client| Lookup::Get(Key::Clock(client))));
    }
}

/// The results of lookups.
#[derive(Default)]
pub(super) struct LookedUp(HashMap<Lookup, Vec<Record>>);

impl LookedUp {
    /// The record looked up under a primary key.
    pub(super) fn get(&self, key: &Key) -> Option<Vec<Record>> {
        self.of(|| Lookup::Get(key.clone()))
    }

    /// The record looked up under another unique key.
    pub(super) fn find(&self, unique: &Unique) -> Option<Vec<Record>> {
        self.of(|| Lookup::Find(unique.clone()))
    }

    /// The records looked up by a scan.
    pub(super) fn scan(&self, scan: &Scan) -> Option<Vec<Record>> {
        self.of(|| Lookup::Scan(scan.clone()))
    }

    /// Adds a settlement that was read elsewhere.
    pub(super) fn know(&mut self, record: &SettlementRecord) {
        if PREFETCHES {
            self.0.insert(Lookup::Get(Key::Settlement(record.no)), vec![record.clone().into()]);
        }
    }

    /// Leaves a record to be read when it is needed.
    pub(super) fn forget(&mut self, key: Key) {
        self.0.remove(&Lookup::Get(key));
    }

    fn of(&self, lookup: impl FnOnce() -> Lookup) -> Option<Vec<Record>> {
        if !PREFETCHES || self.0.is_empty() {
            return None;
        }
        self.0.get(&lookup()).cloned()
    }
}

impl Overlay<'_> {
    /// Looks up at once what is about to be read one by one, if the store prefers that. Settlements come first: their children
    /// are written without their own condition, so a child may be newer than its settlement, whose version then refuses the commit,
    /// but never older. Records that cannot be read together are read one by one when they are needed.
    pub(crate) fn look_up(&mut self, wanted: impl IntoIterator<Item = Lookup>) -> Result<()> {
        if !PREFETCHES || !self.store.prefers_batches() {
            return Ok(());
        }
        let mut seen = HashSet::new();
        let mut new = |lookup: &Lookup| match lookup {
            Lookup::Get(key) if self.touched(key) => false,
            Lookup::Get(_) | Lookup::Find(_) | Lookup::Scan(_) => !self.looked_up.0.contains_key(lookup) && seen.insert(lookup.clone()),
        };
        let mut wanted: Vec<Lookup> = wanted.into_iter().filter(|lookup| new(lookup)).collect();
        wanted.sort_by_key(|lookup| !matches!(lookup, Lookup::Get(Key::Settlement(_)) | Lookup::Find(Unique::SettlementReference(..))));
        if wanted.len() < 2 {
            return Ok(());
        }
        match self.store.look_up(&wanted) {
            Ok(found) => self.looked_up.0.extend(wanted.into_iter().zip(found)),
            Err(error) if error.retryable => return Err(error.into()),
            // A damaged record only concerns the command that reads it, not the whole group.
            Err(_) => {}
        }
        Ok(())
    }
}

/// Looks up an attempt or a reversal, and its settlement.
pub(crate) fn subject(subject: Subject) -> [Lookup; 2] {
    match subject {
        Subject::Attempt(no, n) => [Lookup::Get(Key::Settlement(no)), Lookup::Get(Key::Attempt((no, n)))],
        Subject::Reversal(no, n) => [Lookup::Get(Key::Settlement(no)), Lookup::Get(Key::Reversal((no, n)))],
    }
}

/// Looks up an account.
pub(crate) fn account(owner: ledger::Owner, mode: Mode, currency: Currency) -> Lookup {
    Lookup::Get(Key::Account(AccountId::new(owner, mode, currency)))
}
