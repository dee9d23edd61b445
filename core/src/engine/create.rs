//! Creating a settlement, or replaying one.

use crate::api::{Caller, Outcome};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ProviderNo;
use crate::ledger::{AccountId, Mode, Owner};
use crate::lifecycle::SettlementStatus;
use crate::participant::Namespace;
use crate::store::record::{Actor, EventType, SettlementMore, SettlementRecord, TaskKind, TaskRecord};
use crate::validate::CreateRequest;

use super::change::{Change, Note};
use super::overlay::{Overlay, overflow};
use super::{Engine, Writer};

impl Engine {
    /// New references cost no read: that nobody took it is a condition of the commit. Only when the request is
    /// refused is the reference looked up, since a repeat of what once succeeded is answered as the replay that it
    /// is, whatever has changed since.
    pub(super) fn create(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        request: &CreateRequest,
    ) -> Result<Outcome> {
        let mode = mode_of(caller, request)?;
        if let Some(no) = overlay.reference_here(caller.client, request.reference.as_str()) {
            return replay(overlay.settlement(no)?, mode, request);
        }
        match self.create_new(overlay, writer, caller, mode, request) {
            Ok(settlement) => Ok(Outcome::Created { settlement: Box::new(settlement), replayed: false }),
            Err(refusal) => match overlay.by_reference(caller.client, request.reference.as_str())? {
                Some(existing) => replay(existing, mode, request),
                None => Err(refusal),
            },
        }
    }

    fn create_new(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        mode: Mode,
        request: &CreateRequest,
    ) -> Result<SettlementRecord> {
        let (provider, fee) = self.price(caller, mode, request, overlay.now)?;
        let total = request.money.minor().checked_add(fee).ok_or_else(overflow)?;
        let account = AccountId::new(Owner::Client(caller.client), mode, request.money.currency());
        let available = overlay.totals(account)?.available().ok_or_else(overflow)?;
        if available < total {
            return Err(Error::new(ErrorCode::InsufficientFunds));
        }
        let mut change = Change::of(self, self.fresh_record(overlay, writer, caller, mode, request, provider, fee), overlay.now);
        change.hold();
        let status = SettlementStatus::Accepted;
        change.event(EventType::SettlementAccepted, Note::new(None, status.name(), Actor::Client));
        let settlement = change.record.no;
        let record = change.insert(overlay);
        let key = writer.task_key(overlay.now);
        overlay.insert(TaskRecord { key, kind: TaskKind::Dispatch, settlement, child: 1, tries: 0, since: overlay.now, owner: 0 });
        Ok(record)
    }

    /// Everything that may refuse a valid request for what it asks, and what it costs. No side effect.
    pub(super) fn price(&self, caller: &Caller, mode: Mode, request: &CreateRequest, now: i64) -> Result<(ProviderNo, i64)> {
        match request.to.namespace() {
            Namespace::Sim if !mode.is_sandbox() => {
                return Err(Error::field("/to", "participant_sandbox_only", "sim: participants exist in the sandbox only"));
            }
            Namespace::Participant if request.to.identifier() == format!("cli_{}", caller.client_id) => {
                return Err(Error::new(ErrorCode::SameParty));
            }
            _ => {}
        }
        if request.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::field("/expires_at", "expires_in_past", "expires_at must be in the future"));
        }
        match &request.quote_id {
            Some(quote) => self.quoted(quote, caller, mode, request, now),
            None => self.routes.choose(mode, request.to.namespace(), request.money, request.provider.as_deref()),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn fresh_record(
        &self,
        overlay: &Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        mode: Mode,
        request: &CreateRequest,
        provider: ProviderNo,
        fee: i64,
    ) -> SettlementRecord {
        let mut salt = [0u8; 8];
        self.env.random(&mut salt[3..]);
        SettlementRecord {
            no: writer.journal(),
            client: caller.client,
            reference: request.reference.clone(),
            mode,
            status: SettlementStatus::Accepted,
            version: 0,
            needs_review: false,
            amount: request.money.minor(),
            currency: request.money.currency(),
            to: request.to.clone(),
            provider,
            fee,
            reversed: 0,
            reversing: 0,
            attempts: 0,
            reversals: 0,
            transfers: 0,
            hold: 0,
            salt: u64::from_be_bytes(salt),
            head: [0; 32],
            created_at: overlay.now,
            updated_at: overlay.now,
            completed_at: None,
            expires_at: request.expires_at,
            more: more_of(request),
        }
    }
}

/// Sandbox credentials make sandbox settlements only; live ones may ask for the sandbox.
pub(super) fn mode_of(caller: &Caller, request: &CreateRequest) -> Result<Mode> {
    match (caller.mode, request.sandbox) {
        (Mode::Sandbox, None | Some(true)) | (Mode::Live, Some(true)) => Ok(Mode::Sandbox),
        (Mode::Live, None | Some(false)) => Ok(Mode::Live),
        (Mode::Sandbox, Some(false)) => {
            Err(Error::with(ErrorCode::ModeMismatch, "a sandbox credential cannot make a live settlement; leave out sandbox or send true"))
        }
    }
}

fn more_of(request: &CreateRequest) -> Option<Box<SettlementMore>> {
    if request.description.is_none() && request.metadata.is_empty() && request.provider.is_none() && request.quote_id.is_none() {
        return None;
    }
    Some(Box::new(SettlementMore {
        description: request.description.clone(),
        metadata: request.metadata.clone(),
        pinned: request.provider.clone(),
        quote_id: request.quote_id.clone(),
        ..SettlementMore::default()
    }))
}

/// The same reference again: the original if the request means the same, a conflict if not.
fn replay(existing: SettlementRecord, mode: Mode, request: &CreateRequest) -> Result<Outcome> {
    let asked = more_of(request).unwrap_or_default();
    let stored = existing.more.as_deref();
    let same = existing.mode == mode
        && existing.amount == request.money.minor()
        && existing.currency == request.money.currency()
        && existing.to == request.to
        && existing.expires_at == request.expires_at
        && stored.and_then(|m| m.description.as_ref()) == asked.description.as_ref()
        && stored.map_or(asked.metadata.is_empty(), |m| m.metadata == asked.metadata)
        && stored.and_then(|m| m.pinned.as_ref()) == asked.pinned.as_ref()
        && stored.and_then(|m| m.quote_id.as_ref()) == asked.quote_id.as_ref();
    if same {
        Ok(Outcome::Created { settlement: Box::new(existing), replayed: true })
    } else {
        Err(Error::new(ErrorCode::ReferenceConflict))
    }
}
