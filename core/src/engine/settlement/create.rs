//! Creating a settlement, or replaying one.

use std::sync::Arc;

use crate::api::Caller;
use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::ids::ProviderNo;
use crate::ledger::{AccountId, Mode, Owner, Totals};
use crate::lifecycle::SettlementStatus;
use crate::money::{Currency, Money};
use crate::participant::Namespace;
use crate::rail::books;
use crate::rail::simulator::check_scenario;
use crate::route::{FeeRefund, Routes};
use crate::store::record::{Actor, AllowanceRecord, AuditAction, EventType, Key, ReferenceKind, SettlementMore, SettlementRecord};
use crate::store::{Lookup, Unique, Write};
use crate::terms::{ClientLimits, Terms, UsageId};
use crate::time::Millis;
use crate::validate::CreateRequest;

use super::change::{Change, Note};
use super::quote::Priced;
use crate::engine::books::client_named;
use crate::engine::group::{Command, Decision, Deed, Overlay, Prefetch, SHARED, Writer, account, overflow};
use crate::engine::mobile::payer;
use crate::engine::{Engine, Stays};

/// Creates a settlement, or replays one.
#[derive(Debug, Clone)]
pub struct Create {
    /// The client that pays.
    pub caller: Caller,
    /// The validated request.
    pub request: Box<CreateRequest>,
}

/// The output of a [`Create`].
#[derive(Debug, Clone)]
pub struct Created {
    /// The settlement after the command.
    pub settlement: Box<SettlementRecord>,
    /// Whether the settlement existed before.
    pub replayed: bool,
}

impl Command for Create {
    type Output = Created;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn stays(&self) -> Stays {
        Stays::Always
    }

    /// A new reference costs no read: the commit fails if the reference is taken. The reference is only looked up when the request
    /// is refused, because repeating a request that once succeeded is a replay, whatever has changed since.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Created> {
        let Self { caller, request } = self;
        let mode = mode_of(caller, request)?;
        let reference = Unique::SettlementReference(caller.client, request.reference.clone());
        if d.overlay.here(&reference).is_some()
            && let Some(existing) = d.overlay.find(&reference)?
        {
            return replay(caller, existing, mode, request);
        }
        match d.engine.create_new(d.overlay, d.writer, caller, mode, request) {
            Ok(settlement) => Ok(Created { settlement: Box::new(settlement), replayed: false }),
            Err(refusal) => match d.overlay.find(&reference)? {
                Some(existing) => replay(caller, existing, mode, request),
                None => Err(refusal),
            },
        }
    }

    fn names_itself(&self) -> bool {
        true
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        let (client, money) = (self.caller.client, self.request.money);
        let mode = mode_of(&self.caller, &self.request).unwrap_or(self.caller.mode);
        prefetch.payer(client, mode, money.currency());
        prefetch.clock((client, mode));
        prefetch.elsewhere(client, ReferenceKind::Settlement, self.request.reference.as_str());
        if let Some(payee) = client_named(&self.request.to)
            && let Some((books, _)) = prefetch.engine.routes().books(mode)
        {
            prefetch.add([account(Owner::Provider(books), mode, money.currency()), Lookup::Find(Unique::ClientId(payee))]);
        }
        if prefetch.engine.terms(client).limits(mode, money).is_some_and(ClientLimits::counts) {
            // Where the client's clock shows another day, its counter is read when it is needed.
            let day = UsageId::new(client, mode, money.currency(), prefetch.engine.now());
            prefetch.add([Lookup::Get(Key::Usage(day))]);
        }
    }

    /// A payment to another client has two settlements.
    fn numbers(&self, _: &Engine) -> usize {
        if self.request.to.namespace() == books::NAMESPACE { 2 } else { 1 }
    }

    fn deed(&self, done: Option<&Created>) -> Option<Deed> {
        let deed = Deed::new(AuditAction::CreateSettlement);
        Some(match done {
            Some(created) => deed.target(created.settlement.no.0),
            None => deed.name(self.request.reference.as_str()),
        })
    }

    fn is_replay(created: &Created) -> bool {
        created.replayed
    }
}

/// What a caller is told of the client's limits: a phone that they are reached, and not by how much.
pub(super) fn told(caller: &Caller, error: Error) -> Error {
    if caller.user.is_some() { Error::new(error.code) } else { error }
}

impl Engine {
    fn create_new(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        mode: Mode,
        request: &CreateRequest,
    ) -> Result<SettlementRecord> {
        let reference = request.reference.as_str();
        self.between_clients.takes(self, overlay, caller.client, reference)?;
        let terms = self.terms(caller.client);
        let owner = (caller.client, mode);
        let now = self.time_of(overlay, owner)?;
        let Priced { provider, charge, .. } = self.price(caller, mode, request, &terms, now)?;
        let payer = payer(overlay, caller, mode, request)?;
        let payee = self.between_clients.payee(self, overlay, mode, &request.to, request.money)?;
        let total = request.money.minor().checked_add(charge.fee).ok_or_else(overflow)?;
        let user_limits = payer.as_ref().and_then(|payer| Some((payer.no, payer.limits?.limits(mode))));
        if let Some((user, limits)) = &user_limits {
            limits.accepts(request.money)?;
            let day = UsageId::new(user.party(), mode, request.money.currency(), now);
            limits.another(request.money, overlay.used(day)?)?;
        }
        let limits = terms.limits(mode, request.money).filter(|limits| limits.counts());
        if let Some(limits) = limits {
            let day = UsageId::new(caller.client, mode, request.money.currency(), now);
            limits.another(request.money, overlay.used(day)?).map_err(|error| told(caller, error))?;
        }
        let account = AccountId::new(Owner::Client(caller.client), mode, request.money.currency());
        let credit = terms.credit(mode, request.money.currency());
        let covers = |totals: Totals| Ok::<_, Error>(totals.available().ok_or_else(overflow)?.saturating_add(credit) >= total);
        let known = overlay.estimate(account, writer.estimates.of(account))?;
        let totals = if covers(known)? { known } else { overlay.totals(account)? };
        if !covers(totals)? && !self.opens(overlay, writer, account, total)? && !covers(opened_meanwhile(overlay, account, totals)?)? {
            return Err(self.short_of_funds(overlay, totals, credit, account)?);
        }
        let mut change = Change::of(self, self.fresh_record(writer, caller, mode, request, (provider, charge.fee), now), now);
        if charge.fee > 0 && charge.refund != FeeRefund::Nothing {
            change.more().fee_refund = Some(charge.refund);
        }
        change.hold();
        if credit != 0 {
            change.write(Write::Floor { account, floor: -credit });
        }
        if let Some(limits) = limits {
            change.count(limits.day());
        }
        if let Some((user, limits)) = user_limits.filter(|(_, limits)| limits.counts()) {
            change.count_for_user(user, limits.day());
        }
        let status = SettlementStatus::Accepted;
        let actor = if caller.user.is_some() { Actor::User } else { Actor::Client };
        if let Some(payer) = &payer {
            change.record.user = Some(payer.no);
            change.more().user = Some(payer.name.clone());
        }
        change.event(EventType::SettlementAccepted, Note::new(None, status.name(), actor));
        if let Some(payer) = payer.filter(|payer| payer.limits.is_some_and(|limits| limits.asks(request.money)) && !mutated!(UserNotAsked))
        {
            change.ask_user(&payer.name)?;
            let record = change.insert(overlay);
            self.clocks.end_wait(self, overlay, writer, &record)?;
            return Ok(record);
        }
        if let Some(payee) = payee {
            return self.between_clients.pay(self, overlay, writer, change, (caller.client_id, &payee));
        }
        let record = change.insert(overlay);
        self.send_first(overlay, writer, &record)?;
        Ok(record)
    }

    /// Why an account does not pay: it does not hold enough, or there is none, nor will the client's first payment open it.
    fn short_of_funds(&self, overlay: &Overlay<'_>, totals: Totals, credit: i64, account: AccountId) -> Result<Error> {
        let (Owner::Client(client), Some(currency)) = (account.owner(), account.currency()) else { return Err(overflow()) };
        let opens = || {
            let granted = account.mode().is_sandbox() && self.opening_balance(currency) > 0;
            Ok::<_, Error>(granted && overlay.get::<AllowanceRecord>(&Key::Allowance(client))?.is_some_and(|it| !it.is_leaving()))
        };
        let exists = credit > 0 || totals != Totals::default() || opens()?;
        Ok(if exists { Error::new(ErrorCode::InsufficientFunds) } else { no_account(currency) })
    }

    /// Whether this is the first use of a sandbox client's money, and it covers `total`. Its accounts are then credited.
    fn opens(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, account: AccountId, total: i64) -> Result<bool> {
        let (Owner::Client(client), Some(currency)) = (account.owner(), account.currency()) else { return Ok(false) };
        let granted = |money: &&Money| money.currency() == currency && money.minor() >= total;
        let covered = account.mode().is_sandbox() && self.config.sandbox_funding.iter().any(|money| granted(&money));
        Ok(covered && self.draw_allowance(overlay, writer, client)?)
    }

    /// The provider, the fee and how long they hold, or the error if a valid request cannot be granted. No side effects.
    pub(crate) fn price(&self, caller: &Caller, mode: Mode, request: &CreateRequest, terms: &Terms, now: i64) -> Result<Priced> {
        match request.to.namespace() {
            Namespace::Sim if !mode.is_sandbox() => {
                return Err(Error::field("/to", "participant_sandbox_only", "sim: participants exist in the sandbox only"));
            }
            // A request that was not read from JSON.
            Namespace::Sim => check_scenario(&request.to).map_err(|unknown| {
                let problem = FieldProblem::new("/to", unknown.code(), unknown.to_string());
                Error::invalid(vec![problem.with(unknown.params())])
            })?,
            Namespace::Participant if request.to.identifier() == format!("cli_{}", caller.client_id) => {
                return Err(Error::new(ErrorCode::SameParty));
            }
            _ => {}
        }
        if request.expires_at.is_some_and(|at| at <= now) {
            return Err(Error::field("/expires_at", "expires_in_past", "expires_at must be in the future"));
        }
        if let Some(limits) = terms.limits(mode, request.money) {
            limits.accepts(request.money)?;
        }
        match &request.quote_id {
            Some(quote) => self.quoted(quote, caller, mode, request, now),
            None => {
                let routes = self.routes();
                let (provider, charge) =
                    routes.choose(&request.payment(mode, &terms.fees)).map_err(|error| lasting(&routes, mode, error))?;
                Ok(Priced { provider, charge, until: now + self.config.quote_ttl_ms })
            }
        }
    }

    /// 40 random bits for the id of a new settlement.
    pub(crate) fn salt(&self) -> u64 {
        let mut salt = [0u8; 8];
        self.env.random(&mut salt[3..]);
        u64::from_be_bytes(salt)
    }

    fn fresh_record(
        &self,
        writer: &mut Writer,
        caller: &Caller,
        mode: Mode,
        request: &CreateRequest,
        (provider, fee): (ProviderNo, i64),
        now: Millis,
    ) -> SettlementRecord {
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
            salt: self.salt(),
            head: [0; 32],
            created_at: now,
            updated_at: now,
            completed_at: None,
            expires_at: request.expires_at,
            more: more_of(request),
            user: None,
        }
    }
}

/// What an account that held nothing holds now: another node may have opened it between the two reads.
fn opened_meanwhile(overlay: &mut Overlay<'_>, account: AccountId, totals: Totals) -> Result<Totals> {
    if !SHARED || totals.credits_posted != 0 {
        return Ok(totals);
    }
    overlay.totals_anew(account)
}

/// Without any provider of a mode, the same request will not find one soon.
fn lasting(routes: &Routes, mode: Mode, mut error: Error) -> Error {
    if error.code == ErrorCode::NoRoute && routes.providers().all(|(_, spec)| spec.mode != mode) {
        error.detail = format!("the gateway has no provider for {} payments", mode.as_str()).into();
        error.retryable = false;
    }
    error
}

/// The error of a client that never held the currency.
pub(crate) fn no_account(currency: Currency) -> Error {
    Error::with(ErrorCode::AccountNotFound, format!("the client has no account in {currency}"))
}

/// Sandbox credentials create sandbox settlements only; live credentials may choose the sandbox.
pub(crate) fn mode_of(caller: &Caller, request: &CreateRequest) -> Result<Mode> {
    match (caller.mode, request.sandbox) {
        (Mode::Sandbox, None | Some(true)) | (Mode::Live, Some(true)) => Ok(Mode::Sandbox),
        (Mode::Live, None | Some(false)) => Ok(Mode::Live),
        (Mode::Sandbox, Some(false)) => {
            Err(Error::with(ErrorCode::ModeMismatch, "a sandbox credential cannot make a live settlement; leave out sandbox or send true"))
        }
    }
}

fn more_of(request: &CreateRequest) -> Option<Arc<SettlementMore>> {
    let has_words = request.description.is_some() || !request.metadata.is_empty();
    if !has_words && request.provider.is_none() && request.quote_id.is_none() && request.traceparent.is_none() {
        return None;
    }
    Some(Arc::new(SettlementMore {
        description: request.description.clone(),
        metadata: request.metadata.clone(),
        pinned: request.provider.clone(),
        quote_id: request.quote_id.clone(),
        traceparent: request.traceparent,
        ..SettlementMore::default()
    }))
}

/// Replays the original if the request is the same; a conflict if it differs.
fn replay(caller: &Caller, existing: SettlementRecord, mode: Mode, request: &CreateRequest) -> Result<Created> {
    if !caller.may_see(&existing) {
        return Err(Error::new(ErrorCode::ReferenceConflict));
    }
    let asked = more_of(request).unwrap_or_default();
    let stored = existing.more.as_deref();
    let differing = Error::differing([
        ("sandbox", existing.mode != mode),
        ("amount", existing.amount != request.money.minor()),
        ("currency", existing.currency != request.money.currency()),
        ("to", existing.to != request.to),
        ("expires_at", existing.asked_expiry() != request.expires_at),
        ("user", caller.user.is_none() && stored.and_then(|m| m.user.as_ref()) != request.user.as_ref()),
        ("description", stored.and_then(|m| m.description.as_ref()) != asked.description.as_ref()),
        ("metadata", stored.map_or(!asked.metadata.is_empty(), |m| m.metadata != asked.metadata)),
        ("provider", stored.and_then(|m| m.pinned.as_ref()) != asked.pinned.as_ref()),
        ("quote_id", stored.and_then(|m| m.quote_id.as_ref()) != asked.quote_id.as_ref()),
    ]);
    match differing.filter(|_| !mutated!(OtherRequestReplayed)) {
        None => Ok(Created { settlement: Box::new(existing), replayed: true }),
        Some(conflict) => Err(conflict),
    }
}
