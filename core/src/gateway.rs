//! A gateway embedded in a program. This interface hides the store.
//!
#![cfg_attr(all(feature = "sqlite", feature = "system"), doc = "```")]
#![cfg_attr(not(all(feature = "sqlite", feature = "system")), doc = "```ignore")]
//! use railgate::api::{CreateRequest, ReverseRequest, SettlementStatus};
//! use railgate::store::sqlite::SqliteStore;
//! use railgate::{Config, Gateway};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("payments.db");
//! let gateway = Gateway::open(SqliteStore::open(path)?, Config::sandbox())?;
//! let enrolled = gateway.enroll("Shop")?;
//! let shop = gateway.client(&enrolled);
//!
//! // The reference is the idempotency key: repeating the request returns the original settlement and pays nothing.
//! let request = CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?);
//! assert!(!shop.create(request.clone())?.replayed);
//! assert!(shop.create(request)?.replayed);
//!
//! gateway.work()?; // sends due payments to the operators, here a simulated one
//! assert_eq!(shop.settlement("inv-1")?.status, SettlementStatus::Completed);
//!
//! let part = ReverseRequest { amount: Some("0.50".parse()?), ..ReverseRequest::default() };
//! shop.reverse("inv-1", part)?;
//! gateway.work()?;
//! assert_eq!(shop.settlement("inv-1")?.reversed_amount.as_str(), "0.50");
//! # Ok(())
//! # }
//! ```
//!
//! A gateway can be shared between threads. Commands are decided one after the other, and each call returns once its result is
//! durable. Nothing runs in the background: call [`Gateway::work`] when the time returned by [`Gateway::next_due`] has come.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::api::{
    BalanceView, BatchResult, BatchView, Caller, CheckView, ClockView, CreateAnswer, CreateRequest, Enrolled, EventView, FaultsView,
    FeedPage, IdempotencyKey, Page, ProviderView, ReconcileView, ResetView, ReversalView, ReverseAnswer, ReverseRequest, ReverseView,
    SettlementView, StatusView, Target,
};
use crate::engine::{
    Advance, Config, Create, End, Engine, Enroll, Fund, ListRequest, NumberEvents, Reset, Restore, Reverse, SetClock, SetFaults,
};
use crate::env::Env;
use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::ids::Ulid;
use crate::ledger::Mode;
use crate::money::Money;
use crate::rail::Carrier;
use crate::receipt::Receipt;
use crate::store::record::SettlementRecord;
use crate::store::{Store, Unique, typed};
use crate::time::Millis;
use crate::validate::simulator::{parse_advance, parse_clock, parse_faults};
use crate::validate::{parse_money, parse_reverse};

/// Approximate number of events numbered in one commit.
const EVENTS: usize = 1_000;

/// A gateway embedded in this program.
pub struct Gateway {
    engine: Engine,
    store: Arc<dyn Store>,
}

impl Gateway {
    /// Opens a gateway over `store`, with the system's clock and randomness.
    ///
    /// # Errors
    /// `store_unavailable`; `internal` if the store belongs to another kind of program or is damaged.
    #[cfg(feature = "system")]
    pub fn open(store: impl Store + 'static, config: Config) -> Result<Self> {
        Self::open_with(Arc::new(store), Arc::new(crate::env::SystemEnv::default()), config)
    }

    /// Like [`Gateway::open`], with the host's own clock and randomness, for example in a test or on a target without a clock.
    ///
    /// # Errors
    /// See [`Gateway::open`].
    pub fn open_with(store: Arc<dyn Store>, env: Arc<dyn Env>, config: Config) -> Result<Self> {
        Ok(Self { engine: Engine::open(Arc::clone(&store), env, config)?, store })
    }

    /// Enrols a client with funded sandbox accounts. The client has no key: any code that holds the gateway can act for it.
    ///
    /// # Errors
    /// `invalid_fields` unless the name has 1 to 100 printable characters; `store_unavailable`.
    pub fn enroll(&self, name: &str) -> Result<Enrolled> {
        self.engine.run(Enroll { name: name.to_owned(), key: None })
    }

    /// Returns a client that was just enrolled.
    pub fn client(&self, enrolled: &Enrolled) -> Client<'_> {
        Client { engine: &self.engine, caller: enrolled.caller }
    }

    /// Returns a client that was enrolled earlier, by its `cli_` id, in sandbox mode.
    ///
    /// # Errors
    /// `client_not_found`, `client_suspended`; `store_unavailable`.
    pub fn client_by_id(&self, client_id: &str) -> Result<Client<'_>> {
        let unknown = || Error::new(ErrorCode::ClientNotFound);
        let client_id = client_id.strip_prefix("cli_").and_then(Ulid::parse).ok_or_else(unknown)?;
        let found = typed::<crate::store::record::ClientRecord>(self.store.find(&Unique::ClientId(client_id))?)?;
        let client = found.ok_or_else(unknown)?;
        if client.suspended {
            return Err(Error::new(ErrorCode::ClientSuspended));
        }
        Ok(Client { engine: &self.engine, caller: Caller::client(client.no, client_id, Mode::Sandbox) })
    }

    /// Works off due tasks, including those that become due as a result: calls to operators, their answers and callbacks, and the
    /// numbering of events. Returns the number of tasks.
    ///
    /// # Errors
    /// `store_unavailable`, `internal`. Completed tasks stay done; the next call picks up the rest.
    pub fn work(&self) -> Result<usize> {
        self.work_with(&())
    }

    /// Like [`Gateway::work`], with a carrier that sends requests to operators over the network.
    /// Without one, such requests are not sent.
    ///
    /// # Errors
    /// See [`Gateway::work`].
    pub fn work_with(&self, carrier: &dyn Carrier) -> Result<usize> {
        let done = self.engine.work_until_quiet(carrier)?;
        while self.engine.run(NumberEvents { limit: EVENTS })?.more {}
        Ok(done)
    }

    /// When the next task is due, in milliseconds since 1970; `None` if there is no task.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn next_due(&self) -> Result<Option<Millis>> {
        self.engine.next_due()
    }

    /// The public keys that verify receipts, as a JWK set (RFC 7517).
    ///
    /// # Errors
    /// `internal` if [`Config::master`] is not set, because then there are no keys.
    pub fn receipt_keys(&self) -> Result<String> {
        self.engine.receipt_jwks()
    }

    /// The underlying engine, for hosts with their own queue and workers.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

/// One client of a gateway: the HTTP interface as methods. Strings have the same format as over HTTP; methods
/// named `…_json` take a request body.
#[derive(Clone, Copy)]
pub struct Client<'g> {
    engine: &'g Engine,
    caller: Caller,
}

impl<'g> Client<'g> {
    #[cfg(feature = "sandbox")]
    pub(crate) fn of(engine: &'g Engine, caller: Caller) -> Self {
        Self { engine, caller }
    }

    /// The client's public id: `cli_` and a ULID.
    pub fn id(&self) -> String {
        format!("cli_{}", self.caller.client_id)
    }

    /// Creates a settlement, or replays an earlier one.
    ///
    /// # Errors
    /// Those of a create call over HTTP.
    pub fn create(&self, request: CreateRequest) -> Result<CreateAnswer> {
        let made = self.engine.run(Create { caller: self.caller, request: Box::new(request) })?;
        Ok(CreateAnswer { settlement: self.view(&made.settlement), replayed: made.replayed })
    }

    /// Like [`Client::create`], from a JSON body.
    ///
    /// # Errors
    /// See [`Client::create`]; also `malformed_json` and `invalid_fields`.
    pub fn create_json(&self, body: &str) -> Result<CreateAnswer> {
        self.create(self.engine.parse_create(body.as_bytes())?)
    }

    /// Creates up to 1,000 settlements from a JSON body, `{"settlements": […]}`. Each succeeds or fails alone; the results are in order.
    ///
    /// # Errors
    /// `malformed_json`; `invalid_fields` if there are too many or none.
    pub fn create_batch_json(&self, body: &str) -> Result<BatchView> {
        let parsed = self.engine.parse_batch(body.as_bytes())?;
        let result = |element: Result<CreateRequest>| match element.and_then(|request| self.create(request)) {
            Ok(CreateAnswer { settlement, replayed }) => {
                BatchResult { status: if replayed { 200 } else { 201 }, settlement: Some(settlement), problem: None }
            }
            Err(error) => BatchResult { status: error.code.http_status(), settlement: None, problem: Some(error.problem()) },
        };
        Ok(BatchView { results: parsed.into_iter().map(result).collect() })
    }

    /// Reports what a create with this body would return now. Changes nothing, and asks no operator outside the gateway.
    ///
    /// # Errors
    /// `malformed_json`; every other problem is part of the result.
    pub fn check_json(&self, body: &str) -> Result<CheckView> {
        Ok(self.engine.preflight(&self.caller, body.as_bytes())?.view)
    }

    /// The settlement with this reference or `stl_` id.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn settlement(&self, reference: &str) -> Result<SettlementView> {
        Ok(self.view(&self.record(reference)?))
    }

    /// A settlement's short form.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn status(&self, reference: &str) -> Result<StatusView> {
        Ok(self.engine.status_view(&self.record(reference)?))
    }

    /// A page of settlements, newest first. `query` has the query parameters of the HTTP interface.
    ///
    /// # Errors
    /// `invalid_fields` naming each faulty parameter, `invalid_cursor`.
    pub fn list(&self, query: &[(String, String)]) -> Result<Page<SettlementView>> {
        self.engine.list(&self.caller, &self.engine.parse_list(query)?)
    }

    /// A page of a settlement's trace after sequence `after`, oldest first.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn events(&self, reference: &str, after: u32, limit: usize) -> Result<Page<EventView>> {
        let events = self.engine.events(&self.record(reference)?, after, limit.saturating_add(1))?;
        let (data, has_more) = cut(events, limit);
        let next_cursor = data.last().filter(|_| has_more).map(|event| event.sequence.to_string());
        Ok(Page { data, has_more, next_cursor })
    }

    /// A page of the events of all settlements after feed position `after`, oldest first.
    ///
    /// # Errors
    /// `epoch_changed` if `after` is past the end of the feed; `internal` if the store is damaged.
    pub fn feed(&self, after: i64, limit: usize) -> Result<FeedPage> {
        self.engine.feed_page(&self.caller, after, limit, None)
    }

    /// Cancels a settlement that was not dispatched, or reverses a completed one, in whole or in part. If the request has a
    /// reference, repeating it returns the original reversal; without one, it reverses again.
    ///
    /// # Errors
    /// Those of a reverse call over HTTP.
    pub fn reverse(&self, reference: &str, request: ReverseRequest) -> Result<ReverseAnswer> {
        self.reverse_once(target(reference)?, request, None)
    }

    /// Like [`Client::reverse`], from a JSON body, which may be empty, and with an optional `Idempotency-Key`.
    ///
    /// # Errors
    /// See [`Client::reverse`]; also `malformed_json`, `invalid_fields` and `idempotency_key_reused`.
    pub fn reverse_json(&self, reference: &str, body: &str, idempotency_key: Option<&str>) -> Result<ReverseAnswer> {
        let (target, request) = (target(reference)?, parse_reverse(body.as_bytes())?);
        let key = idempotency_key.map(|key| idempotency(key, reference, body)).transpose()?;
        self.reverse_once(target, request, key)
    }

    fn reverse_once(&self, target: Target, request: ReverseRequest, idempotency: Option<IdempotencyKey>) -> Result<ReverseAnswer> {
        let done = self.engine.run(Reverse { caller: self.caller, target, request: Box::new(request), idempotency })?;
        let reversal = done.reversal.map(|reversal| self.engine.reversal_view(&done.settlement, &reversal));
        Ok(ReverseAnswer { view: ReverseView { reversal, settlement: self.view(&done.settlement) }, replayed: done.replayed })
    }

    /// A settlement's reversals, oldest first.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn reversals(&self, reference: &str) -> Result<Vec<ReversalView>> {
        self.engine.reversals(&self.record(reference)?)
    }

    /// One reversal of a settlement, by its `rev_` id or the client's reference.
    ///
    /// # Errors
    /// `settlement_not_found`, `reversal_not_found`.
    pub fn reversal(&self, reference: &str, id: &str) -> Result<ReversalView> {
        self.engine.reversal(&self.record(reference)?, id)
    }

    /// Asks the operator for the state of a settlement and of its reversals, and checks that record, ledger, trace and operator agree.
    /// What contradicts the record waits for a person from then on.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn reconcile(&self, reference: &str) -> Result<ReconcileView> {
        self.reconcile_with(reference, &())
    }

    /// Like [`Client::reconcile`], with a carrier that sends requests to operators over the network. Without one, an operator outside
    /// the gateway is not asked.
    ///
    /// # Errors
    /// See [`Client::reconcile`].
    pub fn reconcile_with(&self, reference: &str, carrier: &dyn Carrier) -> Result<ReconcileView> {
        let target = target(reference)?;
        let (answers, left_out) = self.engine.inquire(&self.engine.settlement(&self.caller, &target)?, carrier)?;
        self.engine.reconcile(&self.caller, &target, &answers, left_out)
    }

    /// A settlement's signed receipt.
    ///
    /// # Errors
    /// `settlement_not_found`, `not_completed`; `internal` if [`Config::master`] is not set, because then nothing can be signed.
    pub fn receipt(&self, reference: &str) -> Result<Receipt> {
        self.engine.receipt(&self.caller, &target(reference)?)
    }

    /// The providers that the client's payments can go to, and how they are.
    pub fn providers(&self) -> Vec<ProviderView> {
        self.engine.providers(&self.caller)
    }

    /// The provider with this id.
    ///
    /// # Errors
    /// `provider_not_found`.
    pub fn provider(&self, id: &str) -> Result<ProviderView> {
        self.engine.provider_by_id(&self.caller, id)
    }

    /// The client's balances, sorted by currency code.
    ///
    /// # Errors
    /// `internal` if the store is damaged.
    pub fn balances(&self) -> Result<Vec<BalanceView>> {
        self.engine.balances(&self.caller)
    }

    /// The client's balance in one currency.
    ///
    /// # Errors
    /// `balance_not_found`.
    pub fn balance(&self, currency: &str) -> Result<BalanceView> {
        self.engine.balance(&self.caller, currency)
    }

    /// Adds play money to the client's sandbox account, which may be credited with 10,000,000,000 of its currency in all.
    ///
    /// # Errors
    /// `invalid_fields`, `amount_above_maximum`.
    pub fn fund(&self, money: Money) -> Result<BalanceView> {
        self.engine.run(Fund { caller: self.caller, money })?;
        self.balance(money.currency().code())
    }

    /// Like [`Client::fund`], from a JSON body: `{"currency", "amount"}`.
    ///
    /// # Errors
    /// See [`Client::fund`]; also `malformed_json`.
    pub fn fund_json(&self, body: &str) -> Result<BalanceView> {
        self.fund(parse_money(body.as_bytes())?)
    }

    /// Has the simulated operator decide about a settlement of the sandbox now, from a JSON body: `{"to", "code"}`.
    ///
    /// # Errors
    /// `settlement_not_found`; `invalid_state` if that cannot become of it; `malformed_json`, `invalid_fields`.
    pub fn advance_json(&self, reference: &str, body: &str) -> Result<SettlementView> {
        let (target, request) = (target(reference)?, parse_advance(body.as_bytes())?);
        Ok(self.view(&*self.engine.run(Advance { caller: self.caller, target, request })?))
    }

    /// The faults of the simulated operator and of the way to it.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn faults(&self) -> Result<FaultsView> {
        self.engine.faults(&self.caller)
    }

    /// Replaces the faults, from a JSON body: `{"rate", "latency_ms", "drop_answer_rate", "seed"}`. What is left out is 0.
    ///
    /// # Errors
    /// `malformed_json`, `invalid_fields`.
    pub fn set_faults_json(&self, body: &str) -> Result<FaultsView> {
        self.engine.run(SetFaults { caller: self.caller, faults: parse_faults(body.as_bytes())? })
    }

    /// The clock of the client's sandbox.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn clock(&self) -> Result<ClockView> {
        self.engine.clock(&self.caller)
    }

    /// Stops that clock, lets it run or puts it ahead, from a JSON body: `{"frozen", "advance_ms"}`, both optional. What becomes due on
    /// the way is carried out at its own time by [`Gateway::work`], and then it arrives.
    ///
    /// # Errors
    /// `malformed_json`, `invalid_fields`.
    pub fn set_clock_json(&self, body: &str) -> Result<ClockView> {
        self.engine.run(SetClock { caller: self.caller, request: parse_clock(body.as_bytes())? })
    }

    /// Starts the sandbox again: cancels what was not sent, has the simulated operator refuse what is open, removes all faults and restores
    /// the opening balances. History and references stay.
    ///
    /// # Errors
    /// `store_unavailable`; what was ended stays so, and the next call continues.
    pub fn reset(&self) -> Result<ResetView> {
        let caller = self.caller;
        self.engine.run(Reset { caller })?;
        let (mut pages, mut done) = (Some(ListRequest::open_in_sandbox(None)), ResetView::default());
        while let Some(request) = pages {
            let page = self.engine.list(&caller, &request)?;
            done.count(self.engine.run_all(End::all(caller, &page)))?;
            pages = request.next(&page);
        }
        self.engine.run(Restore { caller })?;
        Ok(done)
    }

    fn record(&self, reference: &str) -> Result<SettlementRecord> {
        self.engine.settlement(&self.caller, &target(reference)?)
    }

    fn view(&self, record: &SettlementRecord) -> SettlementView {
        self.engine.view(record, self.caller.client_id)
    }
}

/// Truncates `found` to `limit`, and returns whether there was more.
fn cut<T>(mut found: Vec<T>, limit: usize) -> (Vec<T>, bool) {
    let has_more = found.len() > limit;
    found.truncate(limit);
    (found, has_more)
}

fn target(reference: &str) -> Result<Target> {
    Target::parse(reference).ok_or_else(|| Error::new(ErrorCode::SettlementNotFound))
}

/// The key, with a fingerprint of the equivalent HTTP call.
fn idempotency(key: &str, reference: &str, body: &str) -> Result<IdempotencyKey> {
    if !(1..=255).contains(&key.len()) || !key.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        let message = "must have 1 to 255 printable ASCII characters";
        return Err(Error::invalid(vec![FieldProblem::new("/idempotency_key", "malformed", message)]));
    }
    let path = format!("/api/v1/gateway/settlements/{reference}/reverse");
    let digest = Sha256::new().chain_update("POST\0").chain_update(path).chain_update([0]).chain_update(body);
    Ok(IdempotencyKey { key: key.to_owned(), fingerprint: digest.finalize().into() })
}
