//! The sandbox of a client starts again: without faults, with nothing open, with the opening balances.
//!
//! History stays: references are unique for ever, and traces are append-only. A host runs [`Reset`], which the client asks for, then
//! [`End`] for each settlement of the pages that [`Engine::parse_reset`] describes, then [`Restore`].

use crate::api::{Caller, Page, ResetBody, ResetView, SettlementView, Target};
use crate::clock::ClockRequest;
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed};
use crate::engine::settlement::{Change, ListRequest, Note};
use crate::error::{Error, ErrorCode, Result};
use crate::ledger::{AccountId, Mode, Owner};
use crate::lifecycle::settlement::SettlementInput;
use crate::lifecycle::{SettlementStatus, StateName};
use crate::money::Money;
use crate::rail::simulator::Outcome;
use crate::store::record::{AccountRecord, Actor, AuditAction, Key, SimulatorRecord};
use crate::store::{Scan, Write, typed_all};
use crate::validate::json::{Object, Value};
use crate::validate::simulator::AdvanceRequest;

use crate::engine::money::funding;

/// Removes the faults of a client's sandbox and lets its clock run: the first step of a reset, and the one that its client asks for.
#[derive(Debug, Clone)]
pub struct Reset {
    /// The client.
    pub caller: Caller,
}

impl Command for Reset {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let key = Key::Simulator(self.caller.client);
        if d.overlay.get::<SimulatorRecord>(&key)?.is_some() {
            d.overlay.write(Write::Delete(key));
        }
        let (client, runs) = (self.caller.client, ClockRequest { frozen: Some(false), advance_ms: 0 });
        if let Some(clock) = d.engine.clock_of(d.overlay, (client, Mode::Sandbox))? {
            // Where it stands, if it is on its way.
            let stop = ClockRequest { frozen: Some(true), ..runs };
            for request in clock.goal.map(|_| stop).into_iter().chain([runs]) {
                d.engine.change_clock(d.overlay, d.writer, client, request)?;
            }
        }
        Ok(())
    }

    fn deed(&self, _: Option<&()>) -> Option<Deed> {
        Some(Deed::new(AuditAction::ResetSandbox))
    }
}

/// Ends a settlement of the sandbox that is open: cancels it if it was not sent, otherwise has the simulated operator refuse it. Returns
/// whether it is final now.
#[derive(Debug, Clone)]
pub struct End {
    /// The client.
    pub caller: Caller,
    /// The settlement.
    pub target: Target,
}

impl End {
    /// One for each settlement of a page.
    pub fn all(caller: Caller, page: &Page<SettlementView>) -> Vec<Self> {
        let targets = page.data.iter().filter_map(|settlement| Target::parse(&settlement.id));
        targets.map(|target| Self { caller, target }).collect()
    }
}

impl ResetView {
    /// Counts the results of [`End`].
    ///
    /// # Errors
    /// The first of theirs.
    pub fn count(&mut self, results: Vec<Result<bool>>) -> Result<()> {
        for ended in results {
            *if ended? { &mut self.ended } else { &mut self.still_open } += 1;
        }
        Ok(())
    }
}

impl Command for End {
    type Output = bool;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<bool> {
        let (engine, overlay, writer) = (d.engine, &mut *d.overlay, &mut *d.writer);
        let record = engine.find_target(overlay, &self.caller, &self.target)?;
        if !record.mode.is_sandbox() {
            return Err(Error::new(ErrorCode::SettlementNotFound));
        }
        match record.status {
            SettlementStatus::Accepted => {
                let now = engine.time_of(overlay, record.owner())?;
                let mut change = Change::of(engine, record, now);
                let note = Note::new(None, StateName::Cancelled, Actor::Client).data(r#"{"reason":"reset"}"#.to_owned());
                change.input(SettlementInput::Cancel, note);
                Ok(change.update(overlay)?.status.is_final())
            }
            SettlementStatus::Submitted | SettlementStatus::Unknown => {
                let refused = AdvanceRequest { to: Outcome::Failed, code: None };
                match engine.advance(overlay, writer, record, &refused) {
                    Ok(ended) => Ok(ended.status.is_final()),
                    // A provider that is not simulated decides by itself.
                    Err(error) if error.code == ErrorCode::InvalidState => Ok(false),
                    Err(error) => Err(error),
                }
            }
            SettlementStatus::Completed
            | SettlementStatus::PartiallyReversed
            | SettlementStatus::Reversed
            | SettlementStatus::Returned
            | SettlementStatus::Failed
            | SettlementStatus::Cancelled => Ok(true),
        }
    }
}

/// Restores the opening balances of a client's sandbox: what can be spent is again what it was at first.
#[derive(Debug, Clone)]
pub struct Restore {
    /// The client.
    pub caller: Caller,
}

impl Command for Restore {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let client = self.caller.client;
        let found: Vec<AccountRecord> = typed_all(d.overlay.store.scan(&Scan::accounts_of(client))?)?;
        // A client that has never used its money still has all of it to come.
        let granted =
            d.engine.config.sandbox_funding.iter().map(|money| AccountId::new(Owner::Client(client), Mode::Sandbox, money.currency()));
        let mut accounts: Vec<AccountId> = found.iter().map(|account| account.id).filter(|id| id.mode().is_sandbox()).collect();
        if accounts.is_empty() {
            return Ok(());
        }
        accounts.extend(granted);
        accounts.sort_unstable();
        accounts.dedup();
        let (journal, now) = (d.writer.journal(), d.engine.time_of(d.overlay, (client, Mode::Sandbox))?);
        let mut n = 0;
        for id in accounts {
            let Some(currency) = id.currency() else { continue };
            let available = d.overlay.totals(id)?.available().unwrap_or_default();
            let missing = d.engine.opening_balance(currency) - available;
            if missing == 0 {
                continue;
            }
            n += 1;
            let mut transfer = funding(journal, n, client, Money::from_minor(missing.abs(), currency), now);
            if missing < 0 {
                std::mem::swap(&mut transfer.debit, &mut transfer.credit);
            }
            d.overlay.post(transfer);
        }
        Ok(())
    }

    fn numbers(&self, _: &Engine) -> usize {
        1
    }
}

impl Engine {
    /// The pages of settlements that a reset ends, from its body, which may be empty: `{"cursor"}`.
    ///
    /// # Errors
    /// `malformed_json`, `invalid_fields`.
    pub fn parse_reset(&self, body: &[u8]) -> Result<ListRequest> {
        if body.is_empty() {
            return Ok(ListRequest::open_in_sandbox(None));
        }
        let mut body = Object::parse(body, &ResetBody::FIELDS)?;
        let cursor = body.optional("cursor", Value::text);
        let cursor = body.finish(|| cursor)?;
        Ok(ListRequest::open_in_sandbox(cursor.map(|cursor| cursor.into_owned())))
    }
}
