//! The steps of a move at the gateway that the client leaves.

use crate::api::PlaceState;
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, overflow};
use crate::engine::money::make;
use crate::engine::setup::Rows;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ClientNo;
use crate::ledger::{AccountId, Mode};
use crate::money::{Currency, Money};
use crate::participant::Reference;
use crate::store::Unique;
use crate::store::record::{ClientRecord, MovementKind, MovementRecord};
use crate::validate::evidence;

use super::{MoveStep, client_and_place, put_place};

/// Marks a client as leaving: from then on nothing new begins here. Every node learns it within seconds.
#[derive(Debug, Clone)]
pub(crate) struct Leave {
    pub(crate) step: MoveStep,
    /// Its accounts that exist.
    pub(crate) accounts: Vec<AccountId>,
}

impl Command for Leave {
    type Output = ClientNo;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClientNo> {
        let mut rows = Rows::read(d.overlay)?;
        let (client, place) = client_and_place(d.overlay, &rows, self.step.client)?;
        if let Some(place) = &place {
            match place.state {
                PlaceState::Leaving => return self.step.require(Some(place), &[PlaceState::Leaving]).map(|_| client.no),
                PlaceState::Moved | PlaceState::Arriving => {
                    return Err(place.refusal_to_operators().unwrap_or_else(|| Error::new(ErrorCode::InvalidState)));
                }
                PlaceState::Stayed | PlaceState::Arrived => {}
            }
        }
        require_awake(&client)?;
        for account in &self.accounts {
            empty_but_for(d, *account, |_| true)?;
        }
        // Who never used its play money has it from now on, and is not removed for want of use.
        d.engine.draw_allowance(d.overlay, d.writer, client.no)?;
        put_place(d, &mut rows, client.no, PlaceState::Leaving, &self.step)?;
        Ok(client.no)
    }

    fn numbers(&self, _: &Engine) -> usize {
        1
    }

    fn deed(&self, done: Option<&ClientNo>) -> Option<Deed> {
        Some(self.step.deed("leave", done.copied()))
    }
}

/// Takes everything that is available on a client's live accounts out, so that it can be paid in at the other gateway. Returns what left,
/// with its references.
#[derive(Debug, Clone)]
pub(crate) struct MoveOut {
    pub(crate) step: MoveStep,
    /// Its accounts that exist.
    pub(crate) accounts: Vec<AccountId>,
}

impl Command for MoveOut {
    type Output = (ClientNo, Vec<MovementRecord>);

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Self::Output> {
        let rows = Rows::read(d.overlay)?;
        let (client, place) = client_and_place(d.overlay, &rows, self.step.client)?;
        self.step.require(place.as_ref(), &[PlaceState::Leaving, PlaceState::Moved])?;
        let evidence = evidence(&format!("moved to {}", self.step.other.url))?;
        let mut left = Vec::new();
        for account in self.accounts.iter().filter(|account| account.mode() == Mode::Live) {
            let Some(currency) = account.currency() else { continue };
            let amount = d.overlay.totals(*account)?.available().ok_or_else(overflow)?;
            if amount <= 0 {
                continue;
            }
            let movement = MovementRecord {
                journal: d.writer.journal(),
                client: client.no,
                reference: unused(d, &client, &self.step, currency)?,
                kind: MovementKind::Withdrawal,
                mode: Mode::Live,
                currency,
                amount,
                evidence: evidence.clone(),
                at: d.overlay.now,
                previous: None,
                terms: None,
            };
            make(d, &movement);
            d.overlay.forbid_credit(*account);
            d.record(movement.deed(), None, None);
            left.push(movement);
        }
        Ok((client.no, left))
    }

    fn numbers(&self, _: &Engine) -> usize {
        self.accounts.len()
    }

    fn deed(&self, done: Option<&Self::Output>) -> Option<Deed> {
        Some(self.step.deed("move_out", done.map(|(client, _)| *client)))
    }
}

/// The switch: from this commit on, the client is at the other gateway.
#[derive(Debug, Clone)]
pub(crate) struct Switch {
    pub(crate) step: MoveStep,
    /// Its accounts that exist.
    pub(crate) accounts: Vec<AccountId>,
}

impl Command for Switch {
    type Output = ClientNo;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClientNo> {
        let mut rows = Rows::read(d.overlay)?;
        let (client, place) = client_and_place(d.overlay, &rows, self.step.client)?;
        if self.step.require(place.as_ref(), &[PlaceState::Leaving, PlaceState::Moved])? == PlaceState::Moved {
            return Ok(client.no);
        }
        require_awake(&client)?;
        for account in &self.accounts {
            empty_but_for(d, *account, |available| available == 0)?;
        }
        put_place(d, &mut rows, client.no, PlaceState::Moved, &self.step)?;
        Ok(client.no)
    }

    fn deed(&self, done: Option<&ClientNo>) -> Option<Deed> {
        Some(self.step.deed("switch", done.copied()))
    }
}

/// Ends a move that has not reached the other gateway yet: the client stays.
#[derive(Debug, Clone)]
pub(crate) struct Stay {
    pub(crate) step: MoveStep,
}

impl Command for Stay {
    type Output = ClientNo;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClientNo> {
        let mut rows = Rows::read(d.overlay)?;
        let (client, place) = client_and_place(d.overlay, &rows, self.step.client)?;
        if self.step.require(place.as_ref(), &[PlaceState::Leaving, PlaceState::Stayed])? == PlaceState::Leaving {
            put_place(d, &mut rows, client.no, PlaceState::Stayed, &self.step)?;
        }
        Ok(client.no)
    }

    fn deed(&self, done: Option<&ClientNo>) -> Option<Deed> {
        Some(self.step.deed("stay", done.copied()))
    }
}

/// A suspended client would be free again at the other gateway.
fn require_awake(client: &ClientRecord) -> Result<()> {
    let said = "the client is suspended: resume it first, or leave it where it is";
    if client.suspended { Err(Error::with(ErrorCode::InvalidState, said)) } else { Ok(()) }
}

/// Requires that nothing is on hold or announced on an account, and that its money, if it is live, is as it must be: never owed.
fn empty_but_for(d: &mut Decision<'_, '_>, account: AccountId, is_fine: impl Fn(i64) -> bool) -> Result<()> {
    let totals = d.overlay.totals(account)?;
    let available = totals.available().ok_or_else(overflow)?;
    let fault = if totals.debits_pending != 0 || totals.credits_pending != 0 {
        "money is on hold or announced: a payment or a reversal is not at its end"
    } else if account.mode() == Mode::Live && available < 0 {
        "the client owes money: its credit is in use"
    } else if account.mode() == Mode::Live && !is_fine(available) {
        "money came in meanwhile"
    } else {
        return Ok(());
    };
    let (mode, currency) = (account.mode().as_str(), account.currency().map_or("?", Currency::code));
    Err(Error::with(ErrorCode::InvalidState, format!("{mode} {currency}: {fault}")))
}

/// The first reference of a move that nothing has: a later run finds what came back since.
fn unused(d: &Decision<'_, '_>, client: &ClientRecord, step: &MoveStep, currency: Currency) -> Result<Reference> {
    for n in 1.. {
        let text = reference(&step.other.gateway, currency, n);
        let taken: Option<MovementRecord> = d.overlay.find(&Unique::MovementReference(client.no, text.clone()))?;
        if taken.is_none() {
            return Ok(Reference::from_stored(text));
        }
    }
    Err(Error::internal("a client has moved too often"))
}

/// The reference, at both gateways, of the `n`th amount that moves to `gateway` in a currency.
pub(super) fn reference(gateway: &str, currency: Currency, n: u32) -> String {
    format!("move-{gateway}-{currency}-{n}")
}

/// Whether a movement is of a client's move to another gateway: its reference is one of [`reference`].
pub(super) fn is_of_a_move(movement: &MovementRecord) -> bool {
    let mut parts = movement.reference.as_str().splitn(4, '-');
    let gateway = parts.next().filter(|first| *first == "move").and(parts.next());
    let (currency, n) = (parts.next(), parts.next().and_then(|n| n.parse().ok()));
    gateway.zip(n).is_some_and(|(gateway, n)| {
        gateway.len() == 16
            && currency == Some(movement.currency.code())
            && reference(gateway, movement.currency, n) == movement.reference.as_str()
    })
}

impl MovementRecord {
    /// Its reference and its money, as the other gateway takes them in.
    pub(super) fn moved(&self) -> (Reference, Money) {
        (self.reference.clone(), self.money())
    }
}
