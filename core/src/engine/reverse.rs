//! Undoing: a settlement that was not dispatched is cancelled, a completed one is reversed, whole or in parts.

use crate::api::{Caller, IdempotencyKey, Outcome, Target};
use crate::error::{Error, ErrorCode, Result};
use crate::lifecycle::settlement::{Next, SettlementInput};
use crate::lifecycle::{ReversalStatus, SettlementStatus, StateName};
use crate::money::{Amount, Money};
use crate::store::record::{Actor, EventType, IdempotencyRecord, Key, ReversalRecord, SettlementRecord, TaskKind, TaskRecord};
use crate::store::{Unique, Write};
use crate::validate::ReverseRequest;

use super::change::{Change, Note};
use super::overlay::Overlay;
use super::{Engine, Writer};

/// A settlement's reversals; far more than anyone has a reason for, far less than its trace can hold.
const MOST_REVERSALS: u16 = 1_000;

impl Engine {
    pub(super) fn reverse(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        target: &Target,
        request: &ReverseRequest,
        idempotency: Option<&IdempotencyKey>,
    ) -> Result<Outcome> {
        if let Some(key) = idempotency
            && let Some(outcome) = self.replayed_by_key(overlay, caller, key)?
        {
            return Ok(outcome);
        }
        let record = self.find_target(overlay, caller, target)?;
        if let Some(outcome) = self.replayed_by_reference(overlay, caller, &record, request)? {
            return Ok(outcome);
        }
        let change = Change::of(self, record, overlay.now);
        let (settlement, reversal) = match change.record.status {
            SettlementStatus::Accepted => (cancel(overlay, change, request)?, None),
            SettlementStatus::Completed | SettlementStatus::PartiallyReversed => {
                let (settlement, reversal) = self.begin_reversal(overlay, writer, change, request)?;
                (settlement, Some(reversal))
            }
            SettlementStatus::Submitted | SettlementStatus::Unknown => return Err(Error::new(ErrorCode::SettlementInFlight)),
            SettlementStatus::Reversed => return Err(Error::new(ErrorCode::AlreadyReversed)),
            SettlementStatus::Cancelled | SettlementStatus::Failed | SettlementStatus::Returned => {
                let detail = format!("the settlement is {}: no money is with the payee", change.record.status.as_str());
                return Err(Error::with(ErrorCode::InvalidState, detail));
            }
        };
        if let Some(key) = idempotency {
            overlay.insert(IdempotencyRecord {
                client: caller.client,
                key: key.key.clone(),
                fingerprint: key.fingerprint,
                settlement: settlement.no,
                reversal: reversal.as_ref().map_or(0, |r| r.n),
                created_at: overlay.now,
            });
        }
        Ok(Outcome::Reversed { settlement: Box::new(settlement), reversal: reversal.map(Box::new), replayed: false })
    }

    fn begin_reversal(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        mut change: Change<'_>,
        request: &ReverseRequest,
    ) -> Result<(SettlementRecord, ReversalRecord)> {
        let amount = self.reversal_amount(&change.record, request)?;
        if change.record.reversals >= MOST_REVERSALS {
            return Err(Error::with(ErrorCode::InvalidState, "the settlement has as many reversals as it can have"));
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
            created_at: overlay.now,
            updated_at: overlay.now,
            completed_at: None,
        };
        let decimal = Money::from_minor(amount, change.record.currency).decimal();
        let data = format!(r#"{{"amount":"{decimal}","reversal":"rev_{}"}}"#, self.reversal_ulid(&reversal));
        let note = Note::new(None, StateName::Accepted, Actor::Client).child(n).data(data);
        change.event(EventType::ReversalAccepted, note);
        change.write(Write::Insert(reversal.clone().into()));
        let settlement = change.update(overlay);
        let key = writer.task_key(overlay.now);
        overlay.insert(TaskRecord {
            key,
            kind: TaskKind::Reverse,
            settlement: settlement.no,
            child: n,
            tries: 0,
            since: overlay.now,
            owner: 0,
        });
        Ok((settlement, reversal))
    }

    /// What is to be reversed: the rest by default, never more than the rest, never more than the provider can do.
    fn reversal_amount(&self, record: &SettlementRecord, request: &ReverseRequest) -> Result<i64> {
        let capabilities = self.routes.provider(record.provider).map(|spec| spec.capabilities);
        if !capabilities.is_some_and(|c| c.reverse) {
            return Err(Error::new(ErrorCode::ReversalNotSupported));
        }
        let rest = record.amount - record.reversed - record.reversing;
        let amount = match request.amount {
            None => rest,
            Some(amount) => minor(amount, record)?,
        };
        if amount > rest || rest == 0 {
            let rest = Money::from_minor(rest, record.currency).decimal();
            let detail = format!("{rest} {} can still be reversed", record.currency.code());
            return Err(Error::with(ErrorCode::ReversalExceedsRemaining, detail));
        }
        if amount < record.amount && !capabilities.is_some_and(|c| c.partial_reverse) {
            return Err(Error::with(ErrorCode::ReversalNotSupported, "the provider can only give back the whole amount"));
        }
        Ok(amount)
    }

    fn replayed_by_key(&self, overlay: &Overlay<'_>, caller: &Caller, key: &IdempotencyKey) -> Result<Option<Outcome>> {
        let stored: Option<IdempotencyRecord> = overlay.get(&Key::Idempotency((caller.client, key.key.clone())))?;
        let Some(stored) = stored else { return Ok(None) };
        if stored.fingerprint != key.fingerprint {
            return Err(Error::new(ErrorCode::IdempotencyKeyReused));
        }
        let settlement = overlay.settlement(stored.settlement)?;
        let reversal = match stored.reversal {
            0 => None,
            n => Some(Box::new(self.reversal_record(overlay, stored.settlement, n)?)),
        };
        Ok(Some(Outcome::Reversed { settlement: Box::new(settlement), reversal, replayed: true }))
    }

    /// A reversal's own reference works like a settlement's: the same request again is answered by the original.
    fn replayed_by_reference(
        &self,
        overlay: &Overlay<'_>,
        caller: &Caller,
        record: &SettlementRecord,
        request: &ReverseRequest,
    ) -> Result<Option<Outcome>> {
        let Some(reference) = &request.reference else { return Ok(None) };
        let unique = Unique::ReversalReference(caller.client, reference.as_str().to_owned());
        let Some(existing) = overlay.find::<ReversalRecord>(&unique)? else { return Ok(None) };
        let same_amount = match request.amount {
            None => true,
            Some(amount) => minor(amount, record)? == existing.amount,
        };
        if existing.settlement != record.no
            || !same_amount
            || existing.reason != request.reason
            || existing.description != request.description
        {
            return Err(Error::with(ErrorCode::ReferenceConflict, "the reference was used for a different reversal"));
        }
        let settlement = Box::new(record.clone());
        Ok(Some(Outcome::Reversed { settlement, reversal: Some(Box::new(existing)), replayed: true }))
    }

    /// The caller's settlement behind `<ref>`, as this group left it.
    pub(super) fn find_target(&self, overlay: &Overlay<'_>, caller: &Caller, target: &Target) -> Result<SettlementRecord> {
        let found = match target {
            Target::Reference(reference) => overlay.by_reference(caller.client, reference.as_str())?,
            Target::Id(id) => overlay.get(&Key::Settlement(self.id_key.open(*id)))?,
        };
        self.visible(caller, target, found)
    }

    /// Another client's settlement, and live ones to a sandbox credential, are not there at all.
    pub(super) fn visible(&self, caller: &Caller, target: &Target, found: Option<SettlementRecord>) -> Result<SettlementRecord> {
        found
            .filter(|record| record.client == caller.client)
            .filter(|record| caller.mode == crate::ledger::Mode::Live || record.mode == caller.mode)
            .filter(|record| match target {
                Target::Reference(_) => true,
                Target::Id(id) => crate::trail::settlement_ulid(&self.id_key, record) == *id,
            })
            .ok_or_else(|| Error::new(ErrorCode::SettlementNotFound))
    }
}

fn cancel(overlay: &mut Overlay<'_>, mut change: Change<'_>, request: &ReverseRequest) -> Result<SettlementRecord> {
    if let Some(amount) = request.amount
        && minor(amount, &change.record)? != change.record.amount
    {
        return Err(Error::with(ErrorCode::InvalidState, "nothing was sent yet: it can only be cancelled as a whole"));
    }
    match change.input(SettlementInput::Cancel, Note::new(None, StateName::Cancelled, Actor::Client)) {
        Next::To(_) => Ok(change.update(overlay)),
        Next::Stay | Next::Refuse | Next::Discrepancy => Err(Error::new(ErrorCode::InvalidState)),
    }
}

fn minor(amount: Amount, record: &SettlementRecord) -> Result<i64> {
    amount.to_money(record.currency).map(Money::minor).map_err(|error| Error::field("/amount", error.code(), error.to_string()))
}
