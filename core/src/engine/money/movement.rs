//! Real money that enters or leaves a client's account: a client paid the gateway's operator, or is paid out.

use crate::api::{BalanceMovementView, Caller};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, overflow};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{IdKey, KeyNo, Ulid};
use crate::ledger::{AccountId, Mode, Owner, SUM_MAX, Transfer, TransferCode, TransferKind};
use crate::money::Money;
use crate::participant::Reference;
use crate::store::record::{Actor, AuditAction, ClientRecord, EventRecord, MovementKind, MovementRecord};
use crate::store::{Unique, typed};
use crate::trace::{self, About};
use crate::validate::evidence;

/// Moves live money into a client's account, or out of it: once for each reference.
#[derive(Debug, Clone)]
pub struct MoveMoney {
    /// The client's id.
    pub client: Ulid,
    /// In or out.
    pub kind: MovementKind,
    /// How much, more than zero.
    pub money: Money,
    /// The operator's reference, unique for each client: a repeat of the same movement changes nothing.
    pub reference: Reference,
    /// What proves it, such as the line of a bank statement: 1 to 500 printable characters.
    pub evidence: String,
}

/// A movement that was made.
#[derive(Debug, Clone)]
pub struct Moved {
    /// The movement.
    pub movement: MovementRecord,
    /// The client.
    pub client: ClientRecord,
    /// Whether it had been made before.
    pub replayed: bool,
}

impl Command for MoveMoney {
    type Output = Moved;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Moved> {
        let evidence = evidence(&self.evidence)?;
        if self.money.minor() <= 0 {
            return Err(Error::field("/amount", "amount_not_positive", "the amount must be more than zero"));
        }
        let client: ClientRecord = d.overlay.find(&Unique::ClientId(self.client))?.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))?;
        let unique = Unique::MovementReference(client.no, self.reference.as_str().to_owned());
        if let Some(before) = d.overlay.find::<MovementRecord>(&unique)? {
            let same = (before.kind, before.amount, before.currency) == (self.kind, self.money.minor(), self.money.currency());
            return if same && before.evidence == evidence {
                Ok(Moved { movement: before, client, replayed: true })
            } else {
                Err(Error::with(ErrorCode::ReferenceConflict, "another movement of this client has this reference"))
            };
        }
        let movement = MovementRecord {
            journal: d.writer.journal(),
            client: client.no,
            reference: self.reference.clone(),
            kind: self.kind,
            mode: Mode::Live,
            currency: self.money.currency(),
            amount: self.money.minor(),
            evidence,
            at: d.overlay.now,
        };
        let transfer = movement.transfer();
        let account = AccountId::new(Owner::Client(client.no), movement.mode, movement.currency);
        let totals = d.overlay.totals(account)?;
        match movement.kind {
            MovementKind::Deposit => {
                let after = totals.ledger().and_then(|ledger| ledger.checked_add(movement.amount));
                after.filter(|after| *after < SUM_MAX).ok_or_else(overflow)?;
            }
            MovementKind::Withdrawal => {
                let available = totals.available().ok_or_else(overflow)?;
                if available < movement.amount {
                    let available = Money::from_minor(available, movement.currency).decimal();
                    return Err(Error::with(
                        ErrorCode::InsufficientFunds,
                        format!("{available} are available; money on hold cannot leave"),
                    ));
                }
            }
        }
        let event = told(&d.engine.id_key, &movement);
        d.overlay.post(transfer);
        d.overlay.insert(movement.clone());
        d.overlay.insert(event);
        Ok(Moved { movement, client, replayed: false })
    }

    fn numbers(&self, _: &Engine) -> usize {
        1
    }

    fn is_replay(moved: &Moved) -> bool {
        moved.replayed
    }

    fn deed(&self, done: Option<&Moved>) -> Option<Deed> {
        let action = match self.kind {
            MovementKind::Deposit => AuditAction::Deposit,
            MovementKind::Withdrawal => AuditAction::Withdraw,
        };
        let deed = Deed::new(action).name(format!("{} {} {}", self.reference.as_str(), self.money.decimal(), self.money.currency()));
        Some(match done {
            Some(moved) => deed.of(moved.client.no, KeyNo(0)),
            None => deed,
        })
    }
}

impl Engine {
    /// The caller's deposit or withdrawal with this reference.
    ///
    /// # Errors
    /// `movement_not_found`, also for another client's.
    pub fn movement(&self, caller: &Caller, reference: &str) -> Result<BalanceMovementView> {
        let found: Option<MovementRecord> = typed(self.store.find(&Unique::MovementReference(caller.client, reference.to_owned()))?)?;
        let found = found.filter(|it| it.mode == caller.mode).ok_or_else(|| Error::new(ErrorCode::MovementNotFound))?;
        Ok(BalanceMovementView::from(&found))
    }
}

/// The event by which the client learns of it.
fn told(key: &IdKey, movement: &MovementRecord) -> EventRecord {
    let mut event = EventRecord {
        settlement: movement.journal,
        n: 1,
        kind: movement.kind.event(),
        at: movement.at,
        from: None,
        to: None,
        actor: Actor::Operator,
        child: 0,
        data: None,
        hash: [0; 32],
    };
    event.hash = trace::link_hash(key, About::Movement(movement), &event, None);
    event
}

impl MovementRecord {
    /// The transfer that carries it out.
    pub(crate) fn transfer(&self) -> Transfer {
        let account = |owner| AccountId::new(owner, self.mode, self.currency);
        let (own, outside) = (account(Owner::Client(self.client)), account(Owner::Funding));
        let (code, debit, credit) = match self.kind {
            MovementKind::Deposit => (TransferCode::Deposit, outside, own),
            MovementKind::Withdrawal => (TransferCode::Withdrawal, own, outside),
        };
        let (journal, amount, at) = (self.journal, self.amount, self.at);
        Transfer { journal, n: 1, kind: TransferKind::Single, code, debit, credit, amount, resolves: 0, at }
    }
}
