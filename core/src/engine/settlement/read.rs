//! Reads: what callers see of their own settlements and balances.

use smol_str::ToSmolStr as _;

use crate::api::{BalanceView, Caller, DecimalNumber, EventView, FailureView, LinksView, ReversalView, SettlementView, StatusView, Target};
use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::ids::{SettlementNo, Short, Ulid, named};
use crate::ledger::{AccountId, Mode, Owner, Totals};
use crate::lifecycle::Direction;
use crate::money::{Currency, Money};
use crate::participant::Namespace;
use crate::store::record::{AccountRecord, EventRecord, Failure, Key, ReversalRecord, SettlementRecord, TaskKey, TaskRecord, WAITING};
use crate::store::{Scan, Unique, typed, typed_all};
use crate::time::{Millis, rfc3339, short_rfc3339};
use crate::trace::{self, About, hex};
use crate::traceparent::TraceParent;
use crate::validate::{self, CreateRequest, Offer};

use crate::engine::Engine;

/// Lets the validation ask what the configured providers offer.
struct Offered<'a>(&'a crate::route::Routes);

impl Offer for Offered<'_> {
    fn currency(&self, currency: Currency, to: Option<Namespace>) -> bool {
        self.0.offers(currency, to)
    }
}

impl Engine {
    /// The place in a distributed trace of the call that made a settlement, if that is recorded.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn traceparent_of(&self, no: SettlementNo) -> Result<Option<TraceParent>> {
        let record: Option<SettlementRecord> = typed(self.store.get(&Key::Settlement(no))?)?;
        Ok(record.and_then(|record| record.more?.traceparent))
    }

    /// Parses and validates the body of a create call; reports every problem at once.
    ///
    /// Does not check that `expires_at` is in the future. The create does: repeating a request
    /// that once succeeded must stay a replay.
    pub fn parse_create(&self, body: &[u8]) -> Result<CreateRequest> {
        validate::parse_create(body, &Offered(&self.routes()), Millis::MIN)
    }

    /// Parses and validates the body of a batch, each element separately.
    pub fn parse_batch(&self, body: &[u8]) -> Result<Vec<Result<CreateRequest>>> {
        validate::parse_batch(body, &Offered(&self.routes()), Millis::MIN)
    }

    /// The caller's settlement with this reference or id.
    ///
    /// # Errors
    /// `settlement_not_found`, also for another client's settlement.
    pub fn settlement(&self, caller: &Caller, target: &Target) -> Result<SettlementRecord> {
        let found = match target {
            Target::Reference(r) => self.store.find(&Unique::SettlementReference(caller.client, r.clone()))?,
            Target::Id(id) => self.store.get(&Key::Settlement(self.id_key.open(*id)))?,
        };
        self.visible(caller, target, typed(found)?)
    }

    /// The record as its owner sees it.
    pub fn view(&self, record: &SettlementRecord, client_id: Ulid) -> SettlementView {
        let money = |minor| DecimalNumber::from(Money::from_minor(minor, record.currency));
        let more = record.more.as_deref();
        let payee = self.payee(record.provider, &record.to);
        SettlementView {
            id: self.short_id(record),
            reference: record.reference.text(),
            status: record.status,
            version: record.version,
            sandbox: record.mode.is_sandbox(),
            direction: record.direction(),
            amount: money(record.amount),
            amount_minor: record.amount.to_smolstr(),
            currency: record.currency.code().into(),
            from: record.other_side().and_then(|it| it.from.clone()),
            to: record.to.text(),
            payee,
            fee: money(record.fee),
            total_debit: money(match record.direction() {
                Direction::Outgoing => record.amount + record.fee,
                Direction::Incoming => 0,
            }),
            provider: self.provider_id(record.provider),
            rail_reference: more.and_then(|m| m.rail_reference.clone()),
            attempts: record.attempts,
            failure: more.and_then(|m| m.failure.as_ref()).map(failure_view),
            needs_review: record.needs_review,
            reversed_amount: money(record.reversed),
            reversing_amount: money(record.reversing),
            fee_refunded: Some(record.fee_given_back()).filter(|minor| *minor > 0).map(money),
            iso_status: record.status.iso_status(),
            description: more.and_then(|m| m.description.clone()),
            metadata: more.map(|m| m.metadata.clone()).unwrap_or_default(),
            client_id: named("cli_", client_id),
            created_at: short_rfc3339(record.created_at),
            updated_at: short_rfc3339(record.updated_at),
            completed_at: record.completed_at.map(short_rfc3339),
            user: more.and_then(|m| m.user.clone()),
            approval: record.approval().map(|approval| Box::new(approval.into())),
            expires_at: record.expires_at.map(short_rfc3339),
            links: LinksView::of(&record.reference.text()),
        }
    }

    /// A settlement's short form, for polling.
    pub fn status_view(&self, record: &SettlementRecord) -> StatusView {
        StatusView {
            id: self.short_id(record),
            reference: record.reference.text(),
            status: record.status,
            version: record.version,
            iso_status: record.status.iso_status(),
            failure: record.more.as_deref().and_then(|m| m.failure.as_ref()).map(failure_view),
            needs_review: record.needs_review,
            is_final: record.status.is_final(),
            updated_at: short_rfc3339(record.updated_at),
        }
    }

    /// A settlement's trace after sequence `after`, oldest first.
    pub fn events(&self, record: &SettlementRecord, after: u32, limit: usize) -> Result<Vec<EventView>> {
        // The previous event is read too, for its hash.
        let scan = Scan::events(record.no, after.saturating_sub(1), limit.saturating_add(1));
        let events: Vec<EventRecord> = typed_all(self.store.scan(&scan)?)?;
        let mut prev = None;
        let mut views = Vec::with_capacity(events.len());
        for event in events {
            let hash = event.hash;
            if event.n > after && views.len() < limit {
                views.push(self.event_view(About::Settlement(record), &event, prev.as_ref())?);
            }
            prev = Some(hash);
        }
        Ok(views)
    }

    pub(crate) fn event_view(&self, about: About<'_>, event: &EventRecord, prev: Option<&[u8; 32]>) -> Result<EventView> {
        let mut data = String::new();
        trace::write_data(&mut data, about, event);
        Ok(EventView {
            actor: event.actor,
            at: rfc3339(event.at),
            attempt: trace::attempt_of(event),
            data: serde_json::value::RawValue::from_string(data).map_err(Error::internal)?,
            from: event.from,
            hash: Some(hex(&event.hash)),
            id: format!("evt_{}", trace::event_ulid(&self.id_key, event)),
            prev: prev.map(|hash| hex(hash)),
            reference: about.reference().into_owned(),
            sequence: event.n,
            settlement_id: match about {
                About::Settlement(record) => Some(self.settlement_id(record)),
                About::Movement(_) | About::Bundle(_) => None,
            },
            to: event.to,
            kind: event.kind,
        })
    }

    /// A settlement's reversals, oldest first.
    pub fn reversals(&self, record: &SettlementRecord) -> Result<Vec<ReversalView>> {
        Ok(self.reversals_of(record)?.iter().map(|r| self.reversal_view(record, r)).collect())
    }

    /// One reversal of a settlement, by its `rev_` id or the client's reference.
    pub fn reversal(&self, record: &SettlementRecord, id: &str) -> Result<ReversalView> {
        let found = self.reversals(record)?.into_iter().find(|r| r.id == id || r.reference.as_deref() == Some(id));
        found.ok_or_else(|| Error::new(ErrorCode::ReversalNotFound))
    }

    /// A reversal as its owner sees it.
    pub fn reversal_view(&self, settlement: &SettlementRecord, reversal: &ReversalRecord) -> ReversalView {
        ReversalView {
            id: format!("rev_{}", self.reversal_ulid(reversal)),
            settlement_id: self.settlement_id(settlement),
            reference: reversal.reference.as_ref().map(|r| r.as_str().to_owned()),
            status: reversal.status,
            iso_status: reversal.status.iso_status(),
            amount: Money::from_minor(reversal.amount, settlement.currency).into(),
            amount_minor: reversal.amount.to_string(),
            currency: settlement.currency.code().to_owned(),
            reason: reversal.reason,
            description: reversal.description.clone(),
            rail_reference: reversal.rail_reference.clone(),
            failure: reversal.failure.as_ref().map(failure_view),
            needs_review: reversal.needs_review,
            created_at: rfc3339(reversal.created_at),
            updated_at: rfc3339(reversal.updated_at),
            completed_at: reversal.completed_at.map(rfc3339),
        }
    }

    pub(crate) fn reversal_ulid(&self, reversal: &ReversalRecord) -> Ulid {
        self.id_key.child("rev", reversal.settlement, u32::from(reversal.n), reversal.created_at)
    }

    pub(crate) fn settlement_id(&self, record: &SettlementRecord) -> String {
        self.short_id(record).as_str().to_owned()
    }

    fn short_id(&self, record: &SettlementRecord) -> Short {
        named("stl_", trace::settlement_ulid(&self.id_key, record))
    }

    /// The caller's balances in its own mode, sorted by currency code.
    pub fn balances(&self, caller: &Caller) -> Result<Vec<BalanceView>> {
        let read = || -> Result<Vec<(AccountId, Totals)>> {
            let accounts: Vec<AccountRecord> = typed_all(self.store.scan(&Scan::accounts_of(caller.client))?)?;
            Ok(accounts.into_iter().map(|it| (it.id, it.totals)).filter(|(id, _)| id.mode() == caller.mode).collect())
        };
        let mut own = read()?;
        if own.is_empty() {
            // The accounts may have been opened between the two reads.
            own = self.opening(caller.client, caller.mode)?.map_or_else(read, Ok)?;
        }
        // Credit can be spent before there was ever any money.
        for id in self.granted(caller) {
            if own.iter().all(|(known, _)| *known != id) {
                own.push((id, Totals::default()));
            }
        }
        let mut views = own.iter().map(|(id, totals)| self.balance_view(*id, totals)).collect::<Result<Vec<_>>>()?;
        views.sort_by(|a, b| a.currency.cmp(&b.currency));
        Ok(views)
    }

    /// The caller's balance in one currency.
    ///
    /// # Errors
    /// `balance_not_found` if the caller never held that currency and has no credit in it.
    pub fn balance(&self, caller: &Caller, currency: &str) -> Result<BalanceView> {
        let not_found = || Error::new(ErrorCode::BalanceNotFound);
        let currency = Currency::from_code(currency).ok_or_else(not_found)?;
        let id = AccountId::new(Owner::Client(caller.client), caller.mode, currency);
        let totals = match self.held(id)? {
            Some(totals) => totals,
            None if self.granted(caller).contains(&id) => Totals::default(),
            None => return Err(not_found()),
        };
        self.balance_view(id, &totals)
    }

    /// The accounts in which the caller has credit.
    fn granted(&self, caller: &Caller) -> Vec<AccountId> {
        let (terms, owner, mode) = (self.terms(caller.client), Owner::Client(caller.client), caller.mode);
        let credit = terms.credit.iter().filter(|it| terms.credit(mode, it.currency()) > 0);
        credit.map(|it| AccountId::new(owner, mode, it.currency())).collect()
    }

    pub(crate) fn balance_view(&self, id: AccountId, totals: &Totals) -> Result<BalanceView> {
        let broken = || Error::internal(format!("account {} does not add up", id.0));
        let currency = id.currency().ok_or_else(broken)?;
        let money = |minor| DecimalNumber::from(Money::from_minor(minor, currency));
        let credit = match id.owner() {
            Owner::Client(client) => self.terms(client).credit(id.mode(), currency),
            Owner::Provider(_) | Owner::Fees | Owner::Funding => 0,
        };
        Ok(BalanceView {
            account: "main".into(),
            currency: currency.code().to_owned(),
            sandbox: id.mode() == Mode::Sandbox,
            available: money(totals.available().ok_or_else(broken)?),
            credit: money(credit),
            reserved: money(totals.debits_pending),
            pending: money(totals.credits_pending),
            ledger: money(totals.ledger().ok_or_else(broken)?),
            as_of: rfc3339(match id.owner() {
                Owner::Client(client) => self.time_now((client, id.mode()))?,
                Owner::Provider(_) | Owner::Fees | Owner::Funding => self.now(),
            }),
        })
    }

    /// When the next task is due, or its lease ends.
    pub fn next_due(&self) -> Result<Option<Millis>> {
        Ok(self.first_task(WAITING - 1)?.map(TaskKey::due))
    }

    /// The first task that is due now.
    pub(crate) fn first_due(&self) -> Result<Option<TaskKey>> {
        self.first_task(self.now())
    }

    fn first_task(&self, until: Millis) -> Result<Option<TaskKey>> {
        let tasks: Vec<TaskRecord> = typed_all(self.store.scan(&Scan::tasks(TaskKey(i64::MIN), until, 1))?)?;
        Ok(tasks.first().map(|task| task.key))
    }

    /// The settlement with this number, for hosts that follow changes.
    pub fn settlement_by_number(&self, no: SettlementNo) -> Result<Option<SettlementRecord>> {
        Ok(typed(self.store.get(&Key::Settlement(no))?)?)
    }
}

pub(crate) fn failure_view(failure: &Failure) -> FailureView {
    FailureView {
        code: failure.code,
        category: failure.code.category(),
        message: failure.code.message().into(),
        rail_code: failure.rail_code.clone(),
        iso_reason: failure.code.iso_reason().into(),
    }
}

/// The problems of a request, as part of a response that is not an error.
pub(crate) fn as_problems(error: &Error) -> Vec<FieldProblem> {
    if error.fields.is_empty() { vec![FieldProblem::new("", error.code.as_str(), error.detail.clone())] } else { error.fields.clone() }
}
