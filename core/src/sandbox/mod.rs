//! The gateway in a box: one client, the simulated operator, no network and no server, for browsers, phones and tests.
//!
//! It is the very engine of the server over any [`Store`], and answers with the views of the HTTP interface, to the byte. The
//! host brings the time with each call and 32 random bytes at the start; from the same seed and calls follow the same bytes.
//!
//! A host does three things: it calls, as a client of a server would; it lets the sandbox [`work`](Sandbox::work) whenever
//! something is due; and where the store has a journal, it keeps what [`take`](crate::store::journal::JournalStore::take) gives
//! before it shows what came of a call. Typed methods are for hosts in Rust; [`Sandbox::call`] is for all others.
//!
//! What needs several parties is left to a server: keys and tokens, webhooks, the public log, live mode.

mod call;
mod clock;

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::api::{
    BalanceView, Caller, CheckView, Command, EventView, FeedPage, IdempotencyKey, Outcome, Page, ReconcileView, ReversalView, ReverseView,
    SettlementView, StatusView, Target,
};
use crate::engine::{Config, Engine};
use crate::env::{Env as _, ManualEnv};
use crate::error::{Error, ErrorCode, FieldProblem, Result};
use crate::ledger::Mode;
use crate::money::Money;
use crate::receipt::Receipt;
use crate::store::record::{ClientRecord, Key, MetaRecord, RecordKind, SANDBOX_KEY, SettlementRecord};
use crate::store::{Commit, Scan, Store, Write, typed, typed_all};
use crate::time::Millis;
use crate::validate::json::{Object, Value};
use crate::validate::{parse_money, parse_reverse};

pub use clock::ClockView;
use clock::{Clock, ClockRequest};

/// What a host may choose when it opens a sandbox for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The client's name, 1 to 100 characters.
    pub name: String,
    /// Who signs receipts, as their `iss` says it.
    pub issuer: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { name: "Sandbox".to_owned(), issuer: "railgate".to_owned() }
    }
}

impl Options {
    /// Reads `{"name", "issuer"}`, both of which may be left out.
    ///
    /// # Errors
    /// `malformed_json`, `invalid_fields`.
    pub fn parse(json: &str) -> Result<Self> {
        const FIELDS: [&str; 2] = ["name", "issuer"];
        let mut object = Object::parse(json.as_bytes(), &FIELDS)?;
        let name = object.optional("name", Value::text);
        let issuer = object.optional("issuer", Value::text);
        let or =
            |given: Option<Option<std::borrow::Cow<'_, str>>>, otherwise: String| Some(given?.map_or(otherwise, |text| text.into_owned()));
        let default = Self::default();
        object.finish(|| Some(Self { name: or(name, default.name)?, issuer: or(issuer, default.issuer)? }))
    }
}

/// One client's gateway. Shared between threads; commands are decided one after the other.
pub struct Sandbox {
    engine: Engine,
    env: Arc<ManualEnv>,
    store: Arc<dyn Store>,
    caller: Caller,
    clock: Mutex<Clock>,
}

/// What a create came to.
#[derive(Debug, Clone)]
pub struct Created {
    /// The settlement as it stands.
    pub settlement: SettlementView,
    /// It was there before.
    pub replayed: bool,
}

/// What a reversal came to.
#[derive(Debug, Clone)]
pub struct Reversed {
    /// The reversal, if the settlement was not cancelled instead, and the settlement.
    pub view: ReverseView,
    /// It was there before.
    pub replayed: bool,
}

/// What [`Sandbox::work`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Worked {
    /// When there is more to do, by the host's clock; null when nothing is due by itself.
    pub due: Option<Millis>,
    /// How many tasks were carried out.
    pub done: usize,
}

/// How many tasks are carried in one round, each round being two commits or three.
const ROUND: usize = 64;

impl Sandbox {
    /// Opens the sandbox in `store`, which it has for itself; the first time its client is enrolled and its accounts are
    /// funded. What an earlier run had under way when it was killed is taken up.
    ///
    /// `seed` is 32 fresh random bytes on each start, unless a run is to be repeated.
    ///
    /// # Errors
    /// `internal` if the store is that of a server or damaged; `invalid_fields` if the name cannot be one.
    pub fn open(store: Arc<dyn Store>, options: &Options, seed: [u8; 32], now: Millis) -> Result<Self> {
        let clock = read_clock(&*store)?;
        let env = Arc::new(ManualEnv::seeded(clock.unwrap_or_default().at(now), seed));
        let config = Config { issuer: options.issuer.clone(), ..Config::default() };
        let engine = Engine::alone(Arc::clone(&store), Arc::<ManualEnv>::clone(&env), config)?;
        if clock.is_none() {
            let mark = MetaRecord { name: SANDBOX_KEY.to_owned(), value: Clock::default().to_bytes() };
            write(&*store, Write::Insert(mark.into()))?;
        }
        let caller = match typed_all::<ClientRecord>(store.scan(&Scan::last(RecordKind::Client))?)?.pop() {
            Some(client) => Caller { client: client.no, client_id: client.id, mode: Mode::Sandbox },
            None => enroll(&engine, &options.name)?,
        };
        engine.run(Command::Recover)?;
        Ok(Self { engine, env, store, caller, clock: Mutex::new(clock.unwrap_or_default()) })
    }

    /// Tells the sandbox the host's time. Time that goes back is held.
    pub fn tick(&self, now: Millis) {
        self.env.advance_to(self.clock().at(now));
    }

    /// Carries out what is due at `now`: calls to the simulated operator, its answers and its call-backs.
    ///
    /// # Errors
    /// `store_unavailable`, `internal`.
    pub fn work(&self, now: Millis) -> Result<Worked> {
        self.tick(now);
        let done = self.settle()?;
        let due = self.engine.next_due()?.and_then(|due| self.clock().host_time(due, now));
        Ok(Worked { due, done })
    }

    /// Creates a settlement, or replays one.
    ///
    /// # Errors
    /// As of a create call: see the contract, section 2.
    pub fn create(&self, body: &str) -> Result<Created> {
        let request = Box::new(self.engine.parse_create(body.as_bytes())?);
        let outcome = self.engine.run(Command::Create { caller: self.caller, request })?;
        let Outcome::Created { settlement, replayed } = outcome else { return Err(unexpected()) };
        Ok(Created { settlement: self.view(&settlement), replayed })
    }

    /// What a create with this body would meet now.
    ///
    /// # Errors
    /// `malformed_json`; all else is in the answer.
    pub fn check(&self, body: &str) -> Result<CheckView> {
        self.engine.preflight(&self.caller, body.as_bytes())
    }

    /// The settlement behind a reference or an `stl_` id.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn get(&self, reference: &str) -> Result<SettlementView> {
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

    /// A page of a settlement's trace above sequence `after`, oldest first.
    ///
    /// # Errors
    /// `settlement_not_found`.
    pub fn events(&self, reference: &str, after: u32, limit: usize) -> Result<Page<EventView>> {
        let events = self.engine.events(&self.record(reference)?, after, limit.saturating_add(1))?;
        let (data, has_more) = cut(events, limit);
        let next_cursor = data.last().filter(|_| has_more).map(|event| event.sequence.to_string());
        Ok(Page { data, has_more, next_cursor })
    }

    /// A page of the events of all settlements behind position `after`, oldest first.
    ///
    /// # Errors
    /// `internal` if the store is damaged.
    pub fn feed(&self, after: i64, limit: usize) -> Result<FeedPage> {
        let (data, has_more) = cut(self.engine.feed(&self.caller, after, limit.saturating_add(1))?, limit);
        let next_after = data.last().map_or(after, |last| last.position);
        Ok(FeedPage { data, has_more, next_after })
    }

    /// Cancels what was not dispatched, or reverses what is completed, in whole or in part. `body` may be empty.
    ///
    /// # Errors
    /// As of a reverse call: see the contract, section 2.
    pub fn reverse(&self, reference: &str, body: &str, idempotency_key: Option<&str>) -> Result<Reversed> {
        let command = Command::Reverse {
            caller: self.caller,
            target: target(reference)?,
            request: Box::new(parse_reverse(body.as_bytes())?),
            idempotency: idempotency_key.map(|key| idempotency(key, reference, body)).transpose()?,
        };
        let Outcome::Reversed { settlement, reversal, replayed } = self.engine.run(command)? else { return Err(unexpected()) };
        let reversal = reversal.map(|reversal| self.engine.reversal_view(&settlement, &reversal));
        Ok(Reversed { view: ReverseView { reversal, settlement: self.view(&settlement) }, replayed })
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
                let Outcome::Simulated(answer) = self.engine.run(Command::Simulate(call))? else { return Err(unexpected()) };
                self.engine.run(Command::Answer { subject, answer: answer.clone(), lease: None })?;
                Some(answer)
            }
        };
        self.engine.reconcile(&self.caller, &target, answer.as_ref())
    }

    /// A settlement's receipt, signed under the sandbox's own key.
    ///
    /// # Errors
    /// `settlement_not_found`, `not_completed`.
    pub fn receipt(&self, reference: &str) -> Result<Receipt> {
        self.engine.receipt(&self.caller, &target(reference)?)
    }

    /// The public keys of receipts as a JWK set.
    ///
    /// # Errors
    /// `internal` if the store is damaged.
    pub fn keys(&self) -> Result<String> {
        self.engine.receipt_jwks()
    }

    /// The client's balances, by currency code.
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

    /// Puts play money into the client's account: `{"currency", "amount"}`.
    ///
    /// # Errors
    /// `invalid_fields`, `amount_above_maximum`.
    pub fn fund(&self, body: &str) -> Result<BalanceView> {
        let money: Money = parse_money(body.as_bytes())?;
        self.engine.run(Command::Fund { caller: self.caller, money })?;
        self.balance(money.currency().code())
    }

    /// How the clock stands at `now`.
    pub fn clock_view(&self, now: Millis) -> ClockView {
        self.clock().view(self.env.now(), now)
    }

    /// Moves the clock ahead, stops it or lets it go on: `{"frozen", "advance_ms"}`, both of which may be left out. What is
    /// due meanwhile is done each at its own time.
    ///
    /// # Errors
    /// `invalid_fields`.
    pub fn set_clock(&self, now: Millis, body: &str) -> Result<ClockView> {
        let request = ClockRequest::parse(body)?;
        let clock = self.clock().asked(request, self.env.now(), now);
        // First, so that a run that is killed meanwhile finds nothing done that its clock has not come to.
        write(&*self.store, Write::Replace(MetaRecord { name: SANDBOX_KEY.to_owned(), value: clock.to_bytes() }.into()))?;
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock;
        self.pass(clock.at(now))?;
        Ok(self.clock_view(now))
    }

    /// Lets the time come to `end`, doing each task at its own.
    fn pass(&self, end: Millis) -> Result<()> {
        self.settle()?;
        while let Some(due) = self.engine.next_due()?.filter(|due| *due <= end) {
            self.env.advance_to(due);
            if self.settle()? == 0 {
                break;
            }
        }
        self.env.advance_to(end);
        Ok(())
    }

    /// Does what is due now, and what comes due by that.
    fn settle(&self) -> Result<usize> {
        let mut done = 0;
        loop {
            match self.engine.work(ROUND)? {
                0 => return Ok(done),
                more => done += more,
            }
        }
    }

    fn clock(&self) -> Clock {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, reference: &str) -> Result<SettlementRecord> {
        self.engine.settlement(&self.caller, &target(reference)?)
    }

    fn view(&self, record: &SettlementRecord) -> SettlementView {
        self.engine.view(record, self.caller.client_id)
    }
}

fn enroll(engine: &Engine, name: &str) -> Result<Caller> {
    let outcome = engine.run(Command::Enroll { name: name.to_owned(), key: None })?;
    let Outcome::Enrolled(enrolled) = outcome else { return Err(unexpected()) };
    Ok(enrolled.caller)
}

fn read_clock(store: &dyn Store) -> Result<Option<Clock>> {
    let found: Option<MetaRecord> = typed(store.get(&Key::Meta(SANDBOX_KEY.to_owned()))?)?;
    found.map(|meta| Clock::from_bytes(&meta.value)).transpose()
}

fn write(store: &dyn Store, write: Write) -> Result<()> {
    store.commit(&Commit { writes: vec![write] }).map_err(|error| Error::caused(ErrorCode::StoreUnavailable, error))
}

/// The page, and whether there is more behind it.
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

fn unexpected() -> Error {
    Error::internal("the engine answered another command")
}
