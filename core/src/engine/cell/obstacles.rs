//! What stands in the way of a move, all of it at once.

use crate::api::PlaceState;
use crate::engine::Engine;
use crate::error::Result;
use crate::ids::{ClientNo, SettlementNo};
use crate::ledger::Mode;
use crate::lifecycle::{BundleStatus, SettlementStatus};
use crate::money::{Currency, Money};
use crate::store::record::{ApprovalRecord, ApprovalStatus, BundleRecord, ClientRecord, Key, KeyRecord, ReviewRecord, SettlementRecord};
use crate::store::{Scan, SettlementFilter, Unique, typed, typed_all};
use crate::time::Millis;

use super::ClientPlace;

/// How many of a kind are listed.
const LISTED: usize = 20;
/// How many are read at a time.
const PAGE: usize = 500;

/// Something that stands in the way of a move.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Obstacle {
    /// A stable code, such as `settlement_open`.
    pub code: &'static str,
    /// One sentence for people.
    pub message: String,
}

fn obstacle(code: &'static str, message: impl Into<String>) -> Obstacle {
    Obstacle { code, message: message.into() }
}

impl Engine {
    /// What is open at the gateway that a client leaves.
    pub(super) fn obstacles_here(&self, client: &ClientRecord) -> Result<Vec<Obstacle>> {
        let mut found = Vec::new();
        if client.suspended {
            found.push(obstacle("suspended", "the client is suspended: resume it first"));
        }
        self.open_settlements(client.no, &mut found)?;
        self.open_accounts(client.no, &mut found)?;
        self.open_reviews(client.no, &mut found)?;
        self.open_approvals(client.no, &mut found)?;
        self.open_bundles(client.no, &mut found)?;
        Ok(found)
    }

    fn open_settlements(&self, client: ClientNo, found: &mut Vec<Obstacle>) -> Result<()> {
        let status = vec![SettlementStatus::Accepted, SettlementStatus::Submitted, SettlementStatus::Unknown];
        let filter = SettlementFilter { status, ..SettlementFilter::default() };
        let open: Vec<SettlementRecord> = typed_all(self.store.scan(&Scan::settlements_of(client, &filter, None, LISTED + 1))?)?;
        for record in open.iter().take(LISTED) {
            let (id, status) = (self.settlement_id(record), record.status.as_str());
            let said = format!("{id} ({} {}) is {status}", record.mode.as_str(), record.reference.as_str());
            found.push(obstacle("settlement_open", said));
        }
        if open.len() > LISTED {
            found.push(obstacle("settlement_open", "there are more open settlements"));
        }
        Ok(())
    }

    fn open_accounts(&self, client: ClientNo, found: &mut Vec<Obstacle>) -> Result<()> {
        for account in self.accounts(client)? {
            let (mode, currency) = (account.id.mode(), account.id.currency());
            let (code, totals) = (currency.map_or("?", Currency::code), account.totals);
            let money = |minor| currency.map_or_else(String::new, |currency| Money::from_minor(minor, currency).decimal());
            let open = totals.debits_pending.saturating_add(totals.credits_pending);
            if open != 0 {
                let said = format!("{} {code} ({}) are on hold or on their way back", money(open), mode.as_str());
                found.push(obstacle("money_open", said));
            }
            let available = totals.available().unwrap_or(i64::MIN);
            if mode == Mode::Live && available < 0 {
                found.push(obstacle("credit_in_use", format!("the client owes {} {code}", money(available.saturating_neg()))));
            }
        }
        Ok(())
    }

    fn open_reviews(&self, client: ClientNo, found: &mut Vec<Obstacle>) -> Result<()> {
        let mut after: Option<(Millis, SettlementNo, u16)> = None;
        loop {
            let page: Vec<ReviewRecord> = typed_all(self.store.scan(&Scan::reviews(Millis::MAX, after, PAGE))?)?;
            for review in &page {
                let record: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(review.settlement))?)?;
                if let Some(record) = record.filter(|record| record.client == client) {
                    found.push(obstacle("review_open", format!("{} waits for a person's decision", self.settlement_id(&record))));
                }
            }
            let Some(last) = page.last().filter(|_| page.len() == PAGE) else { return Ok(()) };
            after = Some((last.due, last.settlement, last.child));
        }
    }

    fn open_approvals(&self, client: ClientNo, found: &mut Vec<Obstacle>) -> Result<()> {
        let (mut before, now) = (i64::MAX, self.now());
        loop {
            let scan = Scan::approvals(Some(ApprovalStatus::Pending), before, PAGE);
            let page: Vec<ApprovalRecord> = typed_all(self.store.scan(&scan)?)?;
            let waiting = page.iter().filter(|it| it.client == client && it.status_at(now) == ApprovalStatus::Pending);
            found.extend(waiting.map(|it| obstacle("approval_open", format!("apr_{} waits for a second operator", it.id))));
            let Some(last) = page.last().filter(|_| page.len() == PAGE) else { return Ok(()) };
            before = last.no;
        }
    }

    /// Bundles that wait for somebody. A published one is the gateway's: its provider stays.
    fn open_bundles(&self, client: ClientNo, found: &mut Vec<Obstacle>) -> Result<()> {
        use BundleStatus::{Approved, ChangesRequested, InReview, Submitted};
        for mode in Mode::ALL {
            let bundles: Vec<BundleRecord> = typed_all(self.store.scan(&Scan::bundles_of(client, *mode, i64::MAX, usize::MAX))?)?;
            let waiting = bundles.iter().filter(|it| matches!(it.status, Submitted | InReview | ChangesRequested | Approved));
            found.extend(
                waiting.map(|it| obstacle("bundle_open", format!("bun_{} is {}: withdraw or publish it first", it.id, it.status.as_str()))),
            );
        }
        Ok(())
    }

    /// What of a client's own is at the gateway already to which it comes. `keys` are its keys.
    pub(super) fn obstacles_there(&self, client: &ClientRecord, keys: &[KeyRecord]) -> Result<Vec<Obstacle>> {
        let there: Option<ClientRecord> = typed(self.store.find(&Unique::ClientId(client.id))?)?;
        if let Some(there) = there {
            // A move that goes on.
            if self.place_of(there.no).is_some_and(|place: std::sync::Arc<ClientPlace>| place.state == PlaceState::Arriving) {
                return Ok(Vec::new());
            }
            let said = "the client is at the other gateway already: a client comes to a gateway once";
            return Ok(vec![obstacle("client_there", said)]);
        }
        let mut found = Vec::new();
        for key in keys {
            if self.store.find(&Unique::KeyId(key.id))?.is_some() {
                found.push(obstacle("key_there", format!("the key {} is enrolled at the other gateway", key.id)));
            }
        }
        if self.config.master.is_none() {
            found.push(obstacle("no_master_key", "the other gateway's master keys are missing"));
        }
        Ok(found)
    }
}
