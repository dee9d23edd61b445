//! Cancels settlements that were not dispatched, and reverses completed ones, in whole or in part.

use std::cmp::Ordering;

use crate::api::{Caller, IdempotencyKey, Target};
use crate::error::{Error, ErrorCode, Result};
use crate::ledger::Mode;
use crate::lifecycle::reversal::{self, Ask, Undo};
use crate::lifecycle::settlement::{Next, SettlementInput};
use crate::lifecycle::{Direction, ReversalStatus, SettlementStatus, StateName};
use crate::money::{Amount, Money};
use crate::store::record::{
    Actor, AuditAction, EventType, IdempotencyRecord, Key, ReferenceKind, ReversalRecord, SettlementRecord, TaskKind,
};
use crate::store::{Lookup, Unique, Write};
use crate::validate::ReverseRequest;

use crate::engine::clock::Todo;
use crate::engine::group::{Command, Decision, Deed, Overlay, Prefetch, Writer};
use crate::engine::once::{place, stored_key};
use crate::engine::settlement::{Change, Note};
use crate::engine::{Engine, Stays};

/// Cancels a settlement that was not dispatched, or reverses a completed one.
#[derive(Debug, Clone)]
pub struct Reverse {
    /// The client that asks.
    pub caller: Caller,
    /// The settlement to cancel or reverse.
    pub target: Target,
    /// The amount and the reason.
    pub request: Box<ReverseRequest>,
    /// The `Idempotency-Key` header, if it was sent.
    pub idempotency: Option<IdempotencyKey>,
}

/// The output of a [`Reverse`].
#[derive(Debug, Clone)]
pub struct Reversed {
    /// The settlement after the command.
    pub settlement: Box<SettlementRecord>,
    /// The reversal; `None` when the settlement was cancelled instead.
    pub reversal: Option<Box<ReversalRecord>>,
    /// Whether this repeats an earlier reversal.
    pub replayed: bool,
}

impl Command for Reverse {
    type Output = Reversed;

    /// Without a reference or key, a repeat reverses the amount again.
    fn is_repeatable(&self) -> bool {
        self.idempotency.is_some() || self.request.reference.is_some()
    }

    fn stays(&self) -> Stays {
        Stays::Afterwards
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Reversed> {
        let Self { caller, target, request, idempotency } = self;
        let (engine, overlay) = (d.engine, &mut *d.overlay);
        // Before anything is replayed: the caller must see the settlement that the answer shows.
        let record = engine.find_target(overlay, caller, target)?;
        if let Some(key) = idempotency
            && let Some(replay) = engine.replayed_by_key(overlay, &record, key)?
        {
            return Ok(replay);
        }
        if let Some(replay) = engine.replayed_by_reference(overlay, caller, &record, request)? {
            return Ok(replay);
        }
        if record.direction() == Direction::Incoming {
            let said = "another client paid it, and only that client can reverse it: to give the money back, make a payment to it";
            return Err(Error::with(ErrorCode::ReversalNotSupported, said));
        }
        if let Some(reference) = &request.reference {
            engine.require_unused(overlay, caller.client, ReferenceKind::Reversal, reference.as_str())?;
        }
        let now = engine.time_of(overlay, record.owner())?;
        let change = Change::of(engine, record, now);
        let (settlement, reversal) = match reversal::undo(change.record.status, ask(&change.record, request)) {
            Undo::Cancel => (cancel(overlay, change, request)?, None),
            Undo::Reverse => {
                let (settlement, reversal) = engine.begin_reversal(overlay, d.writer, change, request)?;
                (settlement, Some(reversal))
            }
            // A cancellation keeps no reference: the call that asked for it may have lost its answer.
            Undo::Refuse(_) if repeats_cancellation(&change.record, request)? => {
                return Ok(Reversed { settlement: Box::new(change.record), reversal: None, replayed: true });
            }
            Undo::Refuse(code) => return Err(refused(code, &change.record)),
        };
        if let Some(key) = idempotency.as_ref().filter(|_| !mutated!(ForgottenKey)) {
            overlay.insert(IdempotencyRecord {
                client: caller.client,
                key: stored_key(settlement.mode, &key.key),
                fingerprint: key.fingerprint,
                settlement: settlement.no,
                reversal: reversal.as_ref().map_or(0, |r| r.n),
                created_at: overlay.now,
                answer: None,
            });
        }
        Ok(Reversed { settlement: Box::new(settlement), reversal: reversal.map(Box::new), replayed: false })
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        let target = match &self.target {
            Target::Reference(reference) => Lookup::Find(Unique::SettlementReference(self.caller.client, reference.clone())),
            Target::Id(id) => Lookup::Get(Key::Settlement(prefetch.engine.id_key.open(*id))),
        };
        // Those of the sandbox also where earlier versions stored them.
        let modes: &[Mode] = match self.caller.mode {
            Mode::Live => &[Mode::Live],
            Mode::Sandbox => &[Mode::Sandbox, Mode::Live],
        };
        let places = |key: &IdempotencyKey| modes.iter().map(|mode| place(self.caller.client, *mode, &key.key)).collect::<Vec<_>>();
        prefetch.add([target].into_iter().chain(self.idempotency.iter().flat_map(places).map(Lookup::Get)));
    }

    fn deed(&self, done: Option<&Reversed>) -> Option<Deed> {
        let no = done.map_or(0, |reversed| reversed.settlement.no.0);
        Some(Deed::new(AuditAction::ReverseSettlement).target(no).name(self.target.to_string()))
    }

    fn is_replay(reversed: &Reversed) -> bool {
        reversed.replayed
    }
}

/// Maximum number of reversals of a settlement: far more than anyone needs, far fewer than its trace can hold.
const MOST_REVERSALS: u16 = 1_000;

impl Engine {
    fn begin_reversal(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        mut change: Change<'_>,
        request: &ReverseRequest,
    ) -> Result<(SettlementRecord, ReversalRecord)> {
        let amount = self.reversal_amount(&change.record, request)?;
        if let Some(completed_at) = change.record.completed_at {
            self.terms(change.record.client).require_reversible(completed_at, change.now)?;
        }
        if change.record.reversals >= MOST_REVERSALS {
            return Err(Error::with(ErrorCode::InvalidState, "the settlement has the maximum number of reversals"));
        }
        let n = change.record.reversals + 1;
        change.record.reversals = n;
        let hold = change.announce(amount);
        let reversal = ReversalRecord {
            settlement: change.record.no,
            n,
            client: change.record.client,
            reference: request.reference.clone(),
            status: ReversalStatus::Accepted,
            amount,
            reason: request.reason,
            description: request.description.clone(),
            hold,
            needs_review: false,
            rail_reference: None,
            failure: None,
            created_at: change.now,
            updated_at: change.now,
            completed_at: None,
        };
        let data = self.amount_of_reversal(&change.record, &reversal);
        let note = Note::new(None, StateName::Accepted, Actor::Client).child(n).data(data);
        change.event(EventType::ReversalAccepted, note);
        if self.routes().is_books(change.record.provider) {
            return self.between_clients.take_back(self, overlay, change, reversal);
        }
        change.write(Write::Insert(reversal.clone().into()));
        let settlement = change.update(overlay)?;
        let key = writer.task_in_turn(settlement.owner(), overlay.now);
        let todo = Todo { kind: TaskKind::Reverse, settlement: settlement.no, child: n, tries: 0, since: overlay.now };
        overlay.insert(todo.under(key, self.held_by(settlement.owner())));
        Ok((settlement, reversal))
    }

    /// The data of a reversal's first event: one canonical JSON object.
    pub(crate) fn amount_of_reversal(&self, record: &SettlementRecord, reversal: &ReversalRecord) -> String {
        let decimal = Money::from_minor(reversal.amount, record.currency).decimal();
        format!(r#"{{"amount":"{decimal}","reversal":"rev_{}"}}"#, self.reversal_ulid(reversal))
    }

    /// The amount to reverse: the remainder by default, and only what the provider supports.
    fn reversal_amount(&self, record: &SettlementRecord, request: &ReverseRequest) -> Result<i64> {
        let capabilities = self.routes().provider(record.provider).map(|spec| spec.capabilities);
        if !capabilities.is_some_and(|c| c.reverse) {
            return Err(Error::new(ErrorCode::ReversalNotSupported));
        }
        let amount = match request.amount {
            None => remaining(record),
            Some(amount) => minor(amount, record)?,
        };
        if amount < record.amount && !capabilities.is_some_and(|c| c.partial_reverse) {
            return Err(Error::with(ErrorCode::ReversalNotSupported, "the provider can only give back the whole amount"));
        }
        Ok(amount)
    }

    /// The answer to the earlier call with the same key, if that was about this settlement.
    fn replayed_by_key(&self, overlay: &Overlay<'_>, record: &SettlementRecord, key: &IdempotencyKey) -> Result<Option<Reversed>> {
        let Some(stored) = stored_answer(overlay, record, &key.key)? else { return Ok(None) };
        if stored.fingerprint != key.fingerprint || stored.settlement != record.no {
            return Err(Error::new(ErrorCode::IdempotencyKeyReused));
        }
        let reversal = match stored.reversal {
            0 => None,
            n => Some(Box::new(self.reversal_record(overlay, record.no, n)?)),
        };
        Ok(Some(Reversed { settlement: Box::new(record.clone()), reversal, replayed: true }))
    }

    /// A reversal's own reference works like a settlement's: repeating the request returns the original.
    fn replayed_by_reference(
        &self,
        overlay: &Overlay<'_>,
        caller: &Caller,
        record: &SettlementRecord,
        request: &ReverseRequest,
    ) -> Result<Option<Reversed>> {
        let Some(reference) = &request.reference else { return Ok(None) };
        let unique = Unique::ReversalReference(caller.client, reference.as_str().to_owned());
        let Some(existing) = overlay.find::<ReversalRecord>(&unique)? else { return Ok(None) };
        if existing.settlement != record.no {
            return Err(Error::with(ErrorCode::ReferenceConflict, "the reference was used for a reversal of another settlement"));
        }
        let other_amount = match request.amount {
            None => false,
            Some(amount) => minor(amount, record)? != existing.amount,
        };
        let differing = Error::differing([
            ("amount", other_amount),
            ("reason", existing.reason != request.reason),
            ("description", existing.description != request.description),
        ]);
        if let Some(conflict) = differing {
            return Err(conflict);
        }
        let settlement = Box::new(record.clone());
        Ok(Some(Reversed { settlement, reversal: Some(Box::new(existing)), replayed: true }))
    }

    /// The caller's settlement, with the changes of this group.
    pub(crate) fn find_target(&self, overlay: &Overlay<'_>, caller: &Caller, target: &Target) -> Result<SettlementRecord> {
        let found = match target {
            Target::Reference(reference) => overlay.find(&Unique::SettlementReference(caller.client, reference.clone()))?,
            Target::Id(id) => overlay.get(&Key::Settlement(self.id_key.open(*id)))?,
        };
        self.visible(caller, target, found)
    }

    /// Other clients' settlements do not exist for a caller, nor do live ones for a sandbox credential, nor other users' for a device.
    pub(crate) fn visible(&self, caller: &Caller, target: &Target, found: Option<SettlementRecord>) -> Result<SettlementRecord> {
        found
            .filter(|record| caller.may_see(record))
            .filter(|record| match target {
                Target::Reference(_) => true,
                Target::Id(id) => crate::trace::settlement_ulid(&self.id_key, record) == *id,
            })
            .ok_or_else(|| Error::new(ErrorCode::SettlementNotFound))
    }
}

/// The answer to a key of this settlement's client and mode.
fn stored_answer(overlay: &Overlay<'_>, record: &SettlementRecord, key: &str) -> Result<Option<IdempotencyRecord>> {
    let stored = overlay.get(&place(record.client, record.mode, key))?;
    if stored.is_some() || !record.mode.is_sandbox() {
        return Ok(stored);
    }
    // Earlier versions stored the keys of both modes alike.
    let alike: Option<IdempotencyRecord> = overlay.get(&place(record.client, Mode::Live, key))?;
    Ok(alike.filter(|stored| stored.settlement == record.no))
}

/// The amount that can still be reversed.
fn remaining(record: &SettlementRecord) -> i64 {
    let announced = if mutated!(ReversalAboveRest) { 0 } else { record.reversing };
    record.amount - record.reversed - announced + i64::from(mutated!(RemainderOffByOne))
}

/// How the requested amount compares with the remainder. An unreadable amount is reported later, where it counts.
fn ask(record: &SettlementRecord, request: &ReverseRequest) -> Ask {
    let remaining = remaining(record);
    let asked = request.amount.and_then(|amount| minor(amount, record).ok()).unwrap_or(remaining);
    match asked.cmp(&remaining) {
        Ordering::Equal if remaining > 0 => Ask::Whole,
        Ordering::Less => Ask::Part,
        Ordering::Equal | Ordering::Greater => Ask::Excess,
    }
}

fn refused(code: ErrorCode, record: &SettlementRecord) -> Error {
    match code {
        ErrorCode::InvalidState if record.status == SettlementStatus::Accepted => {
            Error::with(code, "nothing was sent yet: it can only be cancelled as a whole")
        }
        ErrorCode::InvalidState => Error::with(code, format!("the settlement is {}: no money is with the payee", record.status.as_str())),
        ErrorCode::ReversalExceedsRemaining => {
            let remaining = Money::from_minor(remaining(record), record.currency).decimal();
            Error::with(code, format!("{remaining} {} can still be reversed", record.currency.code()))
        }
        _ => Error::new(code),
    }
}

fn cancel(overlay: &mut Overlay<'_>, mut change: Change<'_>, request: &ReverseRequest) -> Result<SettlementRecord> {
    if let Some(amount) = request.amount {
        minor(amount, &change.record)?;
    }
    match change.input(SettlementInput::Cancel, Note::new(None, StateName::Cancelled, Actor::Client)) {
        Next::To(_) => change.update(overlay),
        Next::Stay | Next::Refuse | Next::Discrepancy => Err(Error::new(ErrorCode::InvalidState)),
    }
}

/// Whether a request by reference asks for the whole of what is cancelled already.
fn repeats_cancellation(record: &SettlementRecord, request: &ReverseRequest) -> Result<bool> {
    if record.status != SettlementStatus::Cancelled || request.reference.is_none() {
        return Ok(false);
    }
    Ok(request.amount.map(|amount| minor(amount, record)).transpose()?.is_none_or(|amount| amount == record.amount))
}

fn minor(amount: Amount, record: &SettlementRecord) -> Result<i64> {
    amount.to_money(record.currency).map(Money::minor).map_err(|error| Error::field("/amount", error.code(), error.to_string()))
}
