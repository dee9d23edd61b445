//! A complete gateway in one object: one client, the simulated operator, no network and no server, for browsers, phones and tests.
//!
//! ```
//! use std::sync::Arc;
//!
//! use railgate::sandbox::{Options, Sandbox};
//! use railgate::store::journal::SandboxJournal;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (seed, mut now) = ([7; 32], 1_795_257_497_042);
//! let store = Arc::new(SandboxJournal::new());
//! let sandbox = Sandbox::open(store.clone(), &Options::default(), seed, now)?;
//!
//! // A call is a line of JSON, and so is its answer, with the status and the body of the HTTP interface.
//! let pay = r#"{"call": "create", "body": {"amount": 10.50, "currency": "EUR", "to": "sim:slow-30s", "reference": "inv-1"}}"#;
//! assert!(sandbox.call(now, pay).starts_with(r#"{"status":201,"ok":{"id":"stl_"#));
//! let wrong = sandbox.call(now, r#"{"call": "fund", "body": {"currency": "EUR", "amount": -1}}"#);
//! assert!(wrong.starts_with(r#"{"status":422,"error":"#) && wrong.contains(r#""pointer":"/amount""#));
//!
//! // The host works off what is due, and comes back whenever the result says. Here, time passes at once.
//! while let Some(due) = sandbox.work(now)?.due {
//!     now = due;
//! }
//! let answer = sandbox.call(now, r#"{"call": "status", "ref": "inv-1"}"#);
//! assert!(answer.contains(r#""status":"completed""#));
//!
//! // What the host must save before it shows the answers.
//! assert!(!store.take()?.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! It is the same engine as in the server, over any [`Store`], and returns the views of the HTTP interface, byte for byte. The host
//! passes the time with each call, and 32 random bytes at the start; the same seed and calls produce the same bytes.
//!
//! A host does three things: it makes calls, as a client of a server would; it lets the sandbox [`work`](Sandbox::work) whenever a
//! task is due; and if the store has a journal, it saves what [`take`](crate::store::journal::JournalStore::take) returns before it
//! shows the result of a call. [`Sandbox::client`] is for hosts in Rust, [`Sandbox::call`] for all others.
//!
//! The client has end users, their devices and payments that wait for them: [`Sandbox::on_device`]. A sandbox checks no signature.
//!
//! Features that involve several parties are left to a server: keys and tokens, webhooks, what users are told, the public log, live mode.

mod call;
mod clock;
mod users;

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use crate::api::{Caller, ClockView, ResetView};
use crate::clock::{Clock, ClockRequest};
pub use crate::engine::Undone;
use crate::engine::{Config, Engine, EnrollAlone, Recover};
use crate::env::{Env as _, ManualEnv};
use crate::error::{Error, ErrorCode, Result};
use crate::gateway::Client;
use crate::ledger::Mode;
use crate::store::record::{ClientRecord, Key, MetaRecord, RecordKind, SANDBOX_KEY};
use crate::store::{Commit, Scan, Store, Write, typed, typed_all};
use crate::time::Millis;
use crate::validate::json::{Object, Value};
use crate::validate::simulator::parse_clock;
pub use users::{OnDevice, Party};

/// The options for opening a sandbox for the first time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The client's name, 1 to 100 characters.
    pub name: String,
    /// The `iss` of receipts.
    pub issuer: String,
}

impl Default for Options {
    fn default() -> Self {
        Self { name: "Sandbox".to_owned(), issuer: "railgate".to_owned() }
    }
}

impl Options {
    /// Parses `{"name", "issuer"}`; both are optional.
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

/// A gateway with one client. It can be shared between threads; commands are decided one after the other.
pub struct Sandbox {
    engine: Engine,
    env: Arc<ManualEnv>,
    store: Arc<dyn Store>,
    caller: Caller,
    clock: Mutex<Clock>,
}

/// The result of [`Sandbox::work`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Worked {
    /// When the next task is due, by the host's clock; null if none is.
    pub due: Option<Millis>,
    /// How many tasks were carried out.
    pub done: usize,
}

impl Sandbox {
    /// Opens the sandbox in `store`, which must not be shared. The first time, enrols the client and funds its accounts. Tasks that
    /// were in flight when an earlier run was killed are resumed.
    ///
    /// `seed` must be 32 fresh random bytes on each start, except to repeat a run.
    ///
    /// # Errors
    /// `internal` if the store is a server's or is damaged; `invalid_fields` if the name is not valid.
    pub fn open(store: Arc<dyn Store>, options: &Options, seed: [u8; 32], now: Millis) -> Result<Self> {
        let clock = read_clock(&*store)?;
        let env = Arc::new(ManualEnv::seeded(clock.unwrap_or_default().at(now), seed));
        // Its only client shares play money with nobody.
        let config = Config { issuer: options.issuer.clone(), play_money_max: None, ..Config::default() };
        let engine = Engine::alone(Arc::clone(&store), Arc::<ManualEnv>::clone(&env), config)?;
        if clock.is_none() {
            let mark = MetaRecord { name: SANDBOX_KEY.to_owned(), value: clock::to_bytes(Clock::default()) };
            write(&*store, Write::Insert(mark.into()))?;
        }
        let caller = match typed_all::<ClientRecord>(store.scan(&Scan::last(RecordKind::Client))?)?.pop() {
            Some(client) => Caller::client(client.no, client.id, Mode::Sandbox),
            None => engine.run(EnrollAlone { name: options.name.clone() })?,
        };
        engine.run(Recover)?;
        Ok(Self { engine, env, store, caller, clock: Mutex::new(clock.unwrap_or_default()) })
    }

    /// Sets the sandbox's clock by the host's time `now`. It never goes back.
    pub fn tick(&self, now: Millis) {
        self.env.advance_to(self.clock().at(now));
    }

    /// Carries out the tasks that are due at `now`: calls to the simulated operator, its answers and its callbacks.
    ///
    /// # Errors
    /// `store_unavailable`, `internal`.
    pub fn work(&self, now: Millis) -> Result<Worked> {
        self.tick(now);
        let done = self.engine.work_until_quiet(&())?;
        let due = self.engine.next_due()?.and_then(|due| self.clock().host_time(due, now));
        Ok(Worked { due, done })
    }

    /// Makes `calls`, then carries out what is due at once, and makes all of it durable in one write, if the store can do that; without it,
    /// each step is durable by itself. Calls of other threads wait meanwhile. Nothing that `calls` found may be shown before this
    /// returns, and nothing at all of it happened if it fails. The result is that of the work. `calls` must not change the clock, which
    /// is durable before anything happens by it.
    ///
    /// # Errors
    /// [`Undone`]: the write failed.
    pub fn at_once(&self, now: Millis, calls: impl FnOnce()) -> Result<Result<Worked>, Undone> {
        let (mut calls, mut worked) = (Some(calls), Ok(Worked { due: None, done: 0 }));
        self.engine.together(|| {
            self.tick(now);
            if let Some(calls) = calls.take() {
                calls();
            }
            worked = self.work(now);
        })?;
        Ok(worked)
    }

    /// The sandbox's only client.
    pub fn client(&self) -> Client<'_> {
        Client::of(&self.engine, self.caller)
    }

    /// The public keys that verify receipts, as a JWK set (RFC 7517).
    ///
    /// # Errors
    /// `internal` if the store is damaged.
    pub fn keys(&self) -> Result<String> {
        self.engine.receipt_jwks()
    }

    /// The state of the clock at the host's time `now`.
    pub fn clock_view(&self, now: Millis) -> ClockView {
        Clock::view(self.env.now(), now, self.clock().frozen_at.is_some())
    }

    /// Moves the clock ahead, stops it or restarts it: `{"frozen", "advance_ms"}`, both optional. Each task that becomes due
    /// meanwhile is carried out at its own time.
    ///
    /// # Errors
    /// `invalid_fields`.
    pub fn set_clock(&self, now: Millis, body: &str) -> Result<ClockView> {
        self.change_clock(now, parse_clock(body.as_bytes())?)
    }

    fn change_clock(&self, now: Millis, request: ClockRequest) -> Result<ClockView> {
        let frozen = request.frozen.unwrap_or(self.clock().frozen_at.is_some());
        let clock = Clock::set_to(self.env.now().saturating_add(request.advance_ms), now, frozen);
        // First the clock: if the run is killed meanwhile, no completed task is later than its clock.
        write(&*self.store, Write::Replace(MetaRecord { name: SANDBOX_KEY.to_owned(), value: clock::to_bytes(clock) }.into()))?;
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner) = clock;
        self.pass(clock.at(now))?;
        Ok(self.clock_view(now))
    }

    /// Starts the sandbox again, as [`Client::reset`] does, and lets the clock run if it was stopped. Time never goes back: the clock stays
    /// ahead by as much as it was.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn reset(&self, now: Millis) -> Result<ResetView> {
        self.tick(now);
        let done = self.client().reset()?;
        self.change_clock(now, ClockRequest { frozen: Some(false), advance_ms: 0 })?;
        Ok(done)
    }

    /// Advances the time to `end`, carrying out each task at its own time.
    fn pass(&self, end: Millis) -> Result<()> {
        self.engine.work_until_quiet(&())?;
        // A task with nothing left to do is dropped and not counted. Only one that stays due is left for later.
        let mut idle = None;
        while let Some(due) = self.engine.next_due()?.filter(|due| *due <= end && idle != Some(*due)) {
            self.env.advance_to(due);
            idle = (self.engine.work_until_quiet(&())? == 0).then_some(due);
        }
        self.env.advance_to(end);
        Ok(())
    }

    fn clock(&self) -> Clock {
        *self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_clock(store: &dyn Store) -> Result<Option<Clock>> {
    let found: Option<MetaRecord> = typed(store.get(&Key::Meta(SANDBOX_KEY.to_owned()))?)?;
    found.map(|meta| clock::from_bytes(&meta.value)).transpose()
}

fn write(store: &dyn Store, write: Write) -> Result<()> {
    store.commit(&Commit { writes: vec![write] }).map_err(|error| Error::caused(ErrorCode::StoreUnavailable, error))
}
