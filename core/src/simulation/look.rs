//! What is seen from outside after every step: what a commit touched, and the accounts concerned.

use std::collections::BTreeSet;

use crate::api::{Caller, EventView, Target};
use crate::env::Env as _;
use crate::error::ErrorCode;
use crate::ids::SettlementNo;
use crate::ledger::Mode;
use crate::store::record::SettlementRecord;
use crate::time::{Millis, parse_rfc3339};

use super::model::{Balance, Event, Seen, Verdict};
use super::store::Touched;
use super::world::{World, cents, fault};

/// How many commits of a group may be refused because its node knew less than what is stored. It learns from each, and while it does
/// nobody else changes anything.
const MOST_CONFLICTS: u32 = 3;

/// A time as the interface shows it.
pub(super) fn time_of(text: &str) -> Result<Millis, String> {
    parse_rfc3339(text).ok_or_else(|| format!("{text} is no time"))
}

impl World<'_> {
    /// Looks at everything that changed, and at the accounts concerned.
    pub(super) fn look(&mut self, undone: bool) -> Verdict {
        let conflicts = self.store.conflicts();
        // Another node that changed something may have been refused, too.
        if conflicts > if self.raced { 2 * MOST_CONFLICTS + 1 } else { MOST_CONFLICTS } {
            return Err(format!("a group was refused {conflicts} times, although nobody else changed anything"));
        }
        let touched = self.store.touched();
        let mut accounts = BTreeSet::new();
        for touched in touched {
            match touched {
                Touched::Approval(id) => self.look_at_approval(id, undone)?,
                Touched::Movement(client, reference) => {
                    let Some(client) = self.customer_of(client) else { continue };
                    let caller = Caller { mode: Mode::Live, ..self.customers[client].caller };
                    let movement = self.eye.movement(&caller, &reference).ok();
                    let amount = movement.map(|it| cents(it.amount.as_str()) * if it.kind.as_str() == "withdrawal" { -1 } else { 1 });
                    self.model.moves(client, &reference, amount)?;
                    accounts.insert((client, true));
                }
                Touched::Settlement(no, client) => {
                    let Some(client) = self.customer_of(client) else { continue };
                    accounts.extend(self.look_at_settlement(no, client, undone)?);
                }
            }
        }
        for (client, live) in accounts {
            self.look_at_account(client, live)?;
        }
        if undone { self.look_at_terms() } else { Ok(()) }
    }

    /// What clients were promised that no commit touches: the limits in force, and the clocks of the sandboxes.
    pub(super) fn look_at_terms(&self) -> Verdict {
        for (client, customer) in self.customers.iter().enumerate() {
            let terms = self.eye.applied_terms(customer.caller.client);
            let of_live = terms.as_ref().and_then(|it| it.terms.limits.iter().find(|limits| limits.mode == Mode::Live));
            let limits = of_live.map(|it| (it.daily_value.unwrap_or(i64::MAX).into(), it.daily_count.unwrap_or(i64::MAX).into()));
            self.model.limits_are(client, limits)?;
            let clock = self.eye.clock(&customer.caller).map_err(fault)?;
            self.model.clock_shows(client, time_of(clock.advancing_to.as_ref().unwrap_or(&clock.now))?)?;
        }
        Ok(())
    }

    fn look_at_account(&self, client: usize, live: bool) -> Verdict {
        let mode = if live { Mode::Live } else { Mode::Sandbox };
        let is = match self.eye.balance(&Caller { mode, ..self.customers[client].caller }, "EUR") {
            Ok(it) => {
                let [ledger, available, reserved, pending] =
                    [&it.ledger, &it.available, &it.reserved, &it.pending].map(|it| cents(it.as_str()));
                Balance { ledger, available, reserved, pending }
            }
            Err(error) if error.code == ErrorCode::BalanceNotFound => Balance::default(),
            Err(error) => return Err(fault(error)),
        };
        self.model.holds(client, live, is)
    }

    fn look_at_settlement(&mut self, no: SettlementNo, client: usize, undone: bool) -> Result<Option<(usize, bool)>, String> {
        let Some(record) = self.eye.settlement_by_number(no).map_err(fault)? else {
            if let Some(id) = self.numbers.remove(&no) {
                self.model.is_gone(&id)?;
            }
            return Ok(None);
        };
        let owner = self.customers[client].caller;
        let view = self.eye.view(&record, owner.client_id);
        let reversals = if record.reversals == 0 { Vec::new() } else { self.eye.reversals(&record).map_err(fault)? };
        let seen = Seen {
            id: view.id.to_string(),
            client,
            live: !view.sandbox,
            incoming: view.direction.as_str() == "incoming",
            reference: view.reference.to_string(),
            to: view.to.to_string(),
            status: view.status.as_str(),
            version: view.version,
            amount: cents(view.amount.as_str()),
            fee: cents(view.fee.as_str()),
            fee_back: view.fee_refunded.map_or(0, |it| cents(it.as_str())),
            reversed: cents(view.reversed_amount.as_str()),
            reversing: cents(view.reversing_amount.as_str()),
            reversals: reversals.into_iter().map(|it| it.id).collect(),
            needs_review: view.needs_review,
            approval: view.approval.map(|it| it.status.as_str()),
            created_at: time_of(&view.created_at)?,
        };
        if view.client_id.as_str() != format!("cli_{}", owner.client_id) {
            return Err(format!("the settlement of {} is shown as one of {}", owner.client_id, view.client_id));
        }
        self.numbers.insert(no, seen.id.clone());
        let after = if undone { 0 } else { self.model.version(&seen.id) };
        let trace = self.trace_of(&record, after)?;
        self.tell(|| format!("{} {}: {}", seen.reference, seen.id, trace.iter().map(|it| it.kind).collect::<Vec<_>>().join(", ")));
        let account = (client, seen.live);
        self.model.sees(seen, &trace, self.env.now(), undone)?;
        Ok(Some(account))
    }

    pub(super) fn trace_of(&self, record: &SettlementRecord, after: u32) -> Result<Vec<Event>, String> {
        let events = self.eye.events(record, after, 10_000).map_err(fault)?;
        let event = |it: EventView| Event {
            sequence: it.sequence,
            kind: it.kind.as_str(),
            from: it.from.map(|it| it.as_str()),
            to: it.to.map(|it| it.as_str()),
            hash: it.hash,
            prev: it.prev,
        };
        Ok(events.into_iter().map(event).collect())
    }

    /// Everything that is known is looked at again: nothing changes without being seen.
    pub(super) fn look_at_all(&mut self) -> Verdict {
        for client in 0..self.customers.len() {
            self.look_at_account(client, true)?;
            self.look_at_account(client, false)?;
        }
        self.look_at_terms()?;
        self.look_at_requests()?;
        self.look_at_comparisons()?;
        let all: Vec<(usize, String, u32)> = self.model.settlements().map(|seen| (seen.client, seen.id.clone(), seen.version)).collect();
        for (client, id, version) in all {
            let caller = Caller { mode: Mode::Live, ..self.customers[client].caller };
            let target = Target::parse(&id).ok_or_else(|| format!("{id} is no id"))?;
            let record = self.eye.settlement(&caller, &target).map_err(|error| format!("{id} is gone: {error}"))?;
            if record.version != version {
                return Err(format!("{id} changed to version {} from {version} unseen", record.version));
            }
        }
        Ok(())
    }
}
