//! A gateway inside a program: the face for embedding. Nothing of the store shows.
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
//! // The reference is the idempotency key: the same request again is answered with the original, and pays nothing.
//! let request = CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?);
//! assert!(!shop.create(request.clone())?.replayed);
//! assert!(shop.create(request)?.replayed);
//!
//! gateway.work()?; // carries what is due to the operators, here simulated ones
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
//! A gateway is shared between threads; commands are decided one after the other, and each call returns after it is durable.
//! Nothing happens by itself: call [`Gateway::work`] when [`Gateway::next_due`] says that something is due.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::api::{
    BalanceView, Caller, CheckView, CreateAnswer, CreateRequest, Enrolled, EventView, FeedPage, IdempotencyKey, Page, ReconcileView,
    ReversalView, ReverseAnswer, ReverseRequest, ReverseView, SettlementView, StatusView, Target,
};
use crate::engine::{Config, Create, Engine, Enroll, Fund, NumberEvents, ReportAnswer, Reverse};
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
use crate::validate::{parse_money, parse_reverse};

/// About how many events are numbered in one commit.
const EVENTS: usize = 1_000;

/// A gateway inside this program.
pub struct Gateway {
    engine: Engine,
    store: Arc<dyn Store>,
}

impl Gateway {
    /// Opens a gateway over `store`, with the system's clock and randomness.
    ///
    /// # Errors
    /// `store_unavailable`; `internal` if the store is that of another kind of program, or damaged.
    #[cfg(feature = "system")]
    pub fn open(store: impl Store + 'static, config: Config) -> Result<Self> {
        Self::open_with(Arc::new(store), Arc::new(crate::env::SystemEnv::default()), config)
    }

    /// The same with a clock and randomness of the host's own, such as those of a test or of a target without a clock.
    ///
    /// # Errors
    /// As of [`Gateway::open`].
    pub fn open_with(store: Arc<dyn Store>, env: Arc<dyn Env>, config: Config) -> Result<Self> {
        Ok(Self { engine: Engine::open(Arc::clone(&store), env, config)?, store })
    }

    /// Enrols a client, with funded sandbox accounts. It has no key: whoever holds the gateway acts for it.
    ///
    /// # Errors
    /// `invalid_fields` unless the name has 1 to 100 printable characters; `store_unavailable`.
    pub fn enroll(&self, name: &str) -> Result<Enrolled> {
        self.engine.run(Enroll { name: name.to_owned(), key: None })
    }

    /// A client that was just enrolled.
    pub fn client(&self, enrolled: &Enrolled) -> Client<'_> {
        Client { engine: &self.engine, caller: enrolled.caller }
    }

    /// A client that was enrolled before, by its `cli_` id, in the sandbox.
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
        Ok(Client { engine: &self.engine, caller: Caller { client: client.no, client_id, mode: Mode::Sandbox } })
    }

    /// Does what is due now, and what comes due by that: calls to the operators, their answers and callbacks, the numbering of
    /// events. How many tasks that was.
    ///
    /// # Errors
    /// `store_unavailable`, `internal`. What was done stays done, and the rest is found again.
    pub fn work(&self) -> Result<usize> {
        self.work_with(&())
    }

    /// The same with somebody who carries requests to operators over the network. Without one such requests are not sent.
    ///
    /// # Errors
    /// As of [`Gateway::work`].
    pub fn work_with(&self, carrier: &dyn Carrier) -> Result<usize> {
        let done = self.engine.work_until_quiet(carrier)?;
        while self.engine.run(NumberEvents { limit: EVENTS })?.more {}
        Ok(done)
    }

    /// When the next task is due, in milliseconds since 1970; `None` when none is.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn next_due(&self) -> Result<Option<Millis>> {
        self.engine.next_due()
    }

    /// The public keys of receipts as a JWK set (RFC 7517).
    ///
    /// # Errors
    /// `internal` where [`Config::master`] is not set: then there are none.
    pub fn receipt_keys(&self) -> Result<String> {
        self.engine.receipt_jwks()
    }

    /// The engine below, for hosts with a queue and workers of their own.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

/// One client of a gateway: what its calls to the HTTP interface would say, as methods. Texts are those of that interface;
/// `…_json` takes a body.
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

    /// Its public id: `cli_` and a ULID.
    pub fn id(&self) -> String {
        format!("cli_{}", self.caller.client_id)
    }

    /// Creates a settlement, or replays one.
    ///
    /// # Errors
    /// The problems of a create call over HTTP.
    pub fn create(&self, request: CreateRequest) -> Result<CreateAnswer> {
        let made = self.engine.run(Create { caller: self.caller, request: Box::new(request) })?;
        Ok(CreateAnswer { settlement: self.view(&made.settlement), replayed: made.replayed })
    }

    /// The same from a JSON body.
    ///
    /// # Errors
    /// As of [`Client::create`]; `malformed_json`, `invalid_fields`.
    pub fn create_json(&self, body: &str) -> Result<CreateAnswer> {
        self.create(self.engine.parse_create(body.as_bytes())?)
    }

    /// What a create with this body would meet now. Nothing is changed, and no operator outside the gateway is asked.
    ///
    /// # Errors
    /// `malformed_json`; all else is in the answer.
    pub fn check_json(&self, body: &str) -> Result<CheckView> {
        Ok(self.engine.preflight(&self.caller, body.as_bytes())?.view)
    }

    /// The settlement behind a reference or an `stl_` id.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn settlement(&self, reference: &str) -> Result<SettlementView> {
        Ok(self.view(&self.record(reference)?))
    }

    /// Its short form.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn status(&self, reference: &str) -> Result<StatusView> {
        Ok(self.engine.status_view(&self.record(reference)?))
    }

    /// A page of settlements, newest first, by the query parameters of the HTTP interface.
    ///
    /// # Errors
    /// `invalid_fields` by parameter, `invalid_cursor`.
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

    /// A page of the events of all settlements after position `after`, oldest first.
    ///
    /// # Errors
    /// `internal` if the store is damaged.
    pub fn feed(&self, after: i64, limit: usize) -> Result<FeedPage> {
        let (data, has_more) = cut(self.engine.feed(&self.caller, after, limit.saturating_add(1))?, limit);
        let next_after = data.last().map_or(after, |last| last.position);
        Ok(FeedPage { data, has_more, next_after })
    }

    /// Cancels what was not dispatched, or reverses what is completed, in whole or in part. With a reference of its own, the
    /// same request again is answered with the original; without one it reverses once more.
    ///
    /// # Errors
    /// The problems of a reverse call over HTTP.
    pub fn reverse(&self, reference: &str, request: ReverseRequest) -> Result<ReverseAnswer> {
        self.reverse_once(target(reference)?, request, None)
    }

    /// The same from a JSON body, which may be empty, and with an `Idempotency-Key`.
    ///
    /// # Errors
    /// As of [`Client::reverse`]; `malformed_json`, `invalid_fields`, `idempotency_key_reused`.
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

    /// One of them, by its `rev_` id or the client's reference of it.
    ///
    /// # Errors
    /// `settlement_not_found`, `reversal_not_found`.
    pub fn reversal(&self, reference: &str, id: &str) -> Result<ReversalView> {
        self.engine.reversal(&self.record(reference)?, id)
    }

    /// Asks the operator how a settlement stands, and whether record, ledger, trace and operator agree.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn reconcile(&self, reference: &str) -> Result<ReconcileView> {
        let target = target(reference)?;
        let question = self.engine.inquiry(&self.engine.settlement(&self.caller, &target)?)?;
        let answer = match question {
            None => None,
            Some(call) => {
                let subject = call.subject;
                let answer = self.engine.ask(call, &())?;
                self.engine.run(ReportAnswer { subject, answer: answer.clone(), lease: None })?;
                Some(answer)
            }
        };
        self.engine.reconcile(&self.caller, &target, answer.as_ref())
    }

    /// A settlement's signed receipt.
    ///
    /// # Errors
    /// `settlement_not_found`, `not_completed`; `internal` where [`Config::master`] is not set: then nothing can be signed.
    pub fn receipt(&self, reference: &str) -> Result<Receipt> {
        self.engine.receipt(&self.caller, &target(reference)?)
    }

    /// Its balances, by currency code.
    ///
    /// # Errors
    /// `internal` if the store is damaged.
    pub fn balances(&self) -> Result<Vec<BalanceView>> {
        self.engine.balances(&self.caller)
    }

    /// Its balance in one currency.
    ///
    /// # Errors
    /// `balance_not_found`.
    pub fn balance(&self, currency: &str) -> Result<BalanceView> {
        self.engine.balance(&self.caller, currency)
    }

    /// Puts play money into its sandbox account.
    ///
    /// # Errors
    /// `invalid_fields`, `amount_above_maximum`.
    pub fn fund(&self, money: Money) -> Result<BalanceView> {
        self.engine.run(Fund { caller: self.caller, money })?;
        self.balance(money.currency().code())
    }

    /// The same from a JSON body: `{"currency", "amount"}`.
    ///
    /// # Errors
    /// As of [`Client::fund`]; `malformed_json`.
    pub fn fund_json(&self, body: &str) -> Result<BalanceView> {
        self.fund(parse_money(body.as_bytes())?)
    }

    fn record(&self, reference: &str) -> Result<SettlementRecord> {
        self.engine.settlement(&self.caller, &target(reference)?)
    }

    fn view(&self, record: &SettlementRecord) -> SettlementView {
        self.engine.view(record, self.caller.client_id)
    }
}

/// The page, and whether there is more after it.
fn cut<T>(mut found: Vec<T>, limit: usize) -> (Vec<T>, bool) {
    let has_more = found.len() > limit;
    found.truncate(limit);
    (found, has_more)
}

fn target(reference: &str) -> Result<Target> {
    Target::parse(reference).ok_or_else(|| Error::new(ErrorCode::SettlementNotFound))
}

/// The key, and a fingerprint of the HTTP call that would say the same.
fn idempotency(key: &str, reference: &str, body: &str) -> Result<IdempotencyKey> {
    if !(1..=255).contains(&key.len()) || !key.bytes().all(|b| (b' '..=b'~').contains(&b)) {
        let message = "must have 1 to 255 printable ASCII characters";
        return Err(Error::invalid(vec![FieldProblem::new("/idempotency_key", "malformed", message)]));
    }
    let path = format!("/api/v1/gateway/settlements/{reference}/reverse");
    let digest = Sha256::new().chain_update("POST\0").chain_update(path).chain_update([0]).chain_update(body);
    Ok(IdempotencyKey { key: key.to_owned(), fingerprint: digest.finalize().into() })
}
