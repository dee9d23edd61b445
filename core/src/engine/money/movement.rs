//! What an operator does to a client's account: real money that enters or leaves it, and what its client is told of that, or of a
//! change of its credit.

use crate::api::{BalanceMovementView, Caller};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay, overflow};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, IdKey, KeyNo, Ulid};
use crate::ledger::{AccountId, Mode, Owner, SUM_MAX, Transfer, TransferCode, TransferKind};
use crate::money::Money;
use crate::participant::Reference;
use crate::store::record::{Actor, ClientRecord, EventRecord, MovementKind, MovementRecord, ReferenceKind};
use crate::store::{Unique, typed};
use crate::trace::{self, About};
use crate::validate::evidence;

/// Moves live money into a client's account, or out of it: once for each reference.
#[derive(Debug, Clone)]
pub struct MoveMoney {
    /// The client's id.
    pub client: Ulid,
    /// In or out; for credit, which moves nothing, there is [`SetCredit`](crate::engine::SetCredit).
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
        if let Some(movement) = made_before(d.overlay, client.no, &self.reference, (self.kind, self.money, &evidence))? {
            return Ok(Moved { movement, client, replayed: true });
        }
        d.engine.require_unused(d.overlay, client.no, ReferenceKind::Movement, self.reference.as_str())?;
        // What comes back to a client that moved can also be paid out.
        match self.kind {
            MovementKind::Withdrawal => d.engine.require_at_rest(client.no)?,
            MovementKind::Deposit | MovementKind::CreditLine => d.engine.require_settled(client.no)?,
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
            previous: None,
            terms: None,
        };
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
            MovementKind::CreditLine => {
                return Err(Error::field("/kind", "kind_moves_nothing", "must be a deposit or a withdrawal: credit moves no money"));
            }
        }
        make(d, &movement);
        if movement.kind == MovementKind::Withdrawal {
            d.overlay.forbid_credit(account);
        }
        Ok(Moved { movement, client, replayed: false })
    }

    fn numbers(&self, _: &Engine) -> usize {
        1
    }

    fn is_replay(moved: &Moved) -> bool {
        moved.replayed
    }

    fn deed(&self, done: Option<&Moved>) -> Option<Deed> {
        Some(match done {
            Some(moved) => moved.movement.deed(),
            None => deed(self.kind, &self.reference, self.money),
        })
    }
}

/// What an operator did under this reference, if it was the same: what of which kind, and the evidence.
///
/// # Errors
/// `reference_conflict` if it was something else.
pub(crate) fn made_before(
    overlay: &Overlay<'_>,
    client: ClientNo,
    reference: &Reference,
    (kind, money, evidence): (MovementKind, Money, &str),
) -> Result<Option<MovementRecord>> {
    let found: Option<MovementRecord> = overlay.find(&Unique::MovementReference(client, reference.as_str().to_owned()))?;
    let Some(before) = found else { return Ok(None) };
    let differing = Error::differing([
        ("kind", before.kind != kind),
        ("amount", before.money().minor() != money.minor()),
        ("currency", before.money().currency() != money.currency()),
        ("evidence", before.evidence != evidence),
    ]);
    match differing {
        None => Ok(Some(before)),
        Some(mut conflict) => {
            let what = before.kind.as_str().replace('_', " ");
            conflict.detail = format!("a {what} of this client has this reference: {}", conflict.detail).into();
            Err(conflict)
        }
    }
}

/// Writes a new movement with its transfer, if it moves money, and the event by which its client learns of it.
pub(crate) fn make(d: &mut Decision<'_, '_>, movement: &MovementRecord) {
    let event = told(&d.engine.id_key, movement);
    if let Some(transfer) = movement.transfer() {
        d.overlay.post(transfer);
    }
    d.overlay.insert(movement.clone());
    d.overlay.insert(event);
}

/// What the audit trail says of one that was asked for.
pub(crate) fn deed(kind: MovementKind, reference: &Reference, money: Money) -> Deed {
    Deed::new(kind.action()).name(format!("{} {} {}", reference.as_str(), money.decimal(), money.currency()))
}

impl Engine {
    /// What an operator did to the caller's account under this reference.
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
    /// The amount.
    pub(crate) fn money(&self) -> Money {
        Money::from_minor(self.amount, self.currency)
    }

    /// The credit before a change of it.
    pub(crate) fn previous(&self) -> Option<Money> {
        self.previous.map(|minor| Money::from_minor(minor, self.currency))
    }

    /// What the audit trail says of it.
    pub(crate) fn deed(&self) -> Deed {
        let mut detail = serde_json::Map::new();
        if !self.evidence.is_empty() {
            detail.insert("evidence".to_owned(), self.evidence.as_str().into());
        }
        if let Some(previous) = self.previous() {
            detail.insert("previous".to_owned(), previous.decimal().into());
        }
        let detail = serde_json::Value::Object(detail).to_string();
        deed(self.kind, &self.reference, self.money()).detail(detail).of(self.client, KeyNo(0))
    }

    /// The transfer that carries it out; `None` if it moves no money.
    pub(crate) fn transfer(&self) -> Option<Transfer> {
        let account = |owner| AccountId::new(owner, self.mode, self.currency);
        let (own, outside) = (account(Owner::Client(self.client)), account(Owner::Funding));
        let (code, debit, credit) = match self.kind {
            MovementKind::Deposit => (TransferCode::Deposit, outside, own),
            MovementKind::Withdrawal => (TransferCode::Withdrawal, own, outside),
            MovementKind::CreditLine => return None,
        };
        let (journal, amount, at) = (self.journal, self.amount, self.at);
        Some(Transfer { journal, n: 1, kind: TransferKind::Single, code, debit, credit, amount, resolves: 0, at })
    }
}
