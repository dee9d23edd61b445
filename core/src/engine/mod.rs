//! The engine: takes commands, decides each over the stored state and the earlier decisions of its group, commits the whole group
//! at once, and returns a result for each.
//!
//! It is the lower of two interfaces. To embed a gateway, use [`crate::Gateway`]. A host with many clients, its own queue and its
//! own workers, such as a server, drives an [`Engine`]:
//!
//! ```
//! use std::sync::Arc;
//!
//! use railgate::api::{CreateRequest, SettlementStatus, Target};
//! use railgate::engine::{Create, Engine, Enroll, Fund, Slot};
//! use railgate::env::ManualEnv;
//! use railgate::store::memory::MemoryStore;
//! use railgate::{Config, ErrorCode};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
//! let engine = Engine::open(Arc::new(MemoryStore::new()), env, Config::sandbox())?;
//! let shop = engine.run(Enroll { name: "Shop".to_owned(), key: None })?.caller;
//!
//! // Commands that wait together are one commit. Each has its own result, and a refused one leaves no trace.
//! let request = CreateRequest::new("10.50 EUR".parse()?, "sim:ok".parse()?, "inv-1".parse()?);
//! let another = CreateRequest { to: "sim:pending".parse()?, ..request.clone() };
//! let mut first = Slot::new(Create { caller: shop, request: Box::new(request) });
//! let mut second = Slot::new(Create { caller: shop, request: Box::new(another) });
//! let mut third = Slot::new(Fund { caller: shop, money: "5.00 USD".parse()? });
//! let effects = engine.execute(&mut [&mut first, &mut second, &mut third]);
//! assert_eq!(effects.created, 1);
//! let refused = second.into_result().and_then(Result::err).map(|error| error.code);
//! assert_eq!(refused, Some(ErrorCode::ReferenceConflict));
//!
//! // The commit also stored a task: to call the operator. A host leases it, or has the engine work off what is due.
//! assert!(effects.due.is_some());
//! engine.work_until_quiet(&())?;
//! let settlement = engine.settlement(&shop, &Target::Reference("inv-1".parse()?))?;
//! assert_eq!(settlement.status, SettlementStatus::Completed);
//! # Ok(())
//! # }
//! ```
//!
//! Each subject has a folder, and each group of commands a file:
//!
//! | folder | commands |
//! |---|---|
//! | `group/` | how commands become one commit; [`Command`], [`Slot`] |
//! | `settlement/` | [`Create`], and everything that reads settlements |
//! | `reversal/` | [`Reverse`] |
//! | `books/` | what a [`Create`] and a [`Reverse`] do between two clients |
//! | `cell/` | [`Relocation`]: the move of a client to another gateway |
//! | `review/` | [`ResolveReview`]: what waits for a person |
//! | `reconcile/` | `BeginReconciliation`: statements of providers, compared with the settlements (feature `reconcile`) |
//! | `dispatch/` | [`LeaseTasks`], [`ReportAnswer`], [`Receive`], [`Recover`], [`Release`]; [`Exchange`]s with operators |
//! | `bundle/` | `WriteBundle`, `AskBundle`, `ReviewBundle`, `LeaseTests`, `ReportTest`: descriptions of providers (feature `bundles`) |
//! | `setup/` | [`PutProviders`], [`SwitchProvider`], [`PutRoutes`], [`PutTerms`], [`SetCredit`]: providers, routes and terms, as data |
//! | `simulator/` | [`Advance`], [`SetFaults`], [`Reset`]: what a client does with its own sandbox's operator |
//! | `clock/` | [`SetClock`]: the clock of a client's sandbox, and what waits for it |
//! | `operator/` | [`Operate`], [`DecideApproval`]: acts of the people who run the gateway, and who confirms them |
//! | `access/` | [`Signed`], enrolments, keys, tokens, acts of the gateway's operator, secrets |
//! | `webhook/` | endpoints, deliveries, tests and replays |
//! | `event_log/` | [`NumberEvents`]; feeds, tiles, proofs |
//! | `mobile/` | [`EnrollDevice`], [`DecidePayment`]: end users of clients, their devices, and payments that wait for them |
//! | `quality/` | [`TakeQuality`]: how well apps work, as their devices measure it |
//! | `money/` | [`Fund`]: play money; [`MoveMoney`]: real money |
//! | `notify/` | `Subscribe`, `MarkRead`, `PutPreferences`: what end users are told (feature `push`) |
//! | `once.rs` | [`Once`]: commands under an `Idempotency-Key` |
//! | `nodes.rs` | [`RecordNode`]: which servers run over the store |
//! | `verify/` | verification of a whole database |

mod access;
mod books;
#[cfg(feature = "bundles")]
mod bundle;
mod cell;
mod clock;
mod config;
mod dispatch;
mod event_log;
mod group;
mod maintain;
mod mobile;
mod money;
mod nodes;
#[cfg(feature = "push")]
mod notify;
mod once;
mod operator;
mod quality;
mod reconcile;
mod reversal;
mod review;
mod search;
mod settlement;
mod setup;
mod simulator;
pub mod verify;
mod webhook;

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock, RwLock};

use smol_str::SmolStr;

use crate::env::Env;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{IdKey, ProviderNo, Ulid};
use crate::store::long_lock::LongLock;
use crate::store::record::{ID_KEY, Key, MetaRecord};
use crate::store::shared::require_whole;
use crate::store::{Commit, CommitError, Store, Write, typed};
use crate::time::Millis;

#[cfg(feature = "sandbox")]
use access::Plain;
use access::Vault;
pub use access::*;
#[cfg(feature = "sandbox")]
use books::OneClient;
use books::{BetweenClients, OnBooks};
#[cfg(feature = "bundles")]
pub use bundle::*;
pub use cell::{Obstacle, Relocation, RelocationOrder, RelocationStep, Stays};
#[cfg(feature = "sandbox")]
use clock::Hosts;
pub use clock::SetClock;
use clock::{Changed, Clocks};
pub use config::{Config, Enrollment, FourEyes};
pub use dispatch::*;
use dispatch::{Ages, Tokens};
pub use event_log::*;
use event_log::{Deferred, Numbering};
#[cfg(feature = "sandbox")]
pub use group::Undone;
use group::Writer;
#[cfg(feature = "testkit")]
pub use group::{AnyCommand, AnyOutput};
pub use group::{Command, Decision, Deed, Effects, Pending, Prefetch, Slot};
use maintain::ROOM;
pub use maintain::{Maintain, SWEEP, TryWriting};
pub use mobile::*;
pub use money::*;
pub use nodes::{NodeFacts, RecordNode, RemoveNode, nodes};
#[cfg(feature = "push")]
pub use notify::*;
pub use once::{Answer, Answers, KeptUnder, LastStep, Once};
pub use operator::*;
pub use quality::*;
#[cfg(feature = "reconcile")]
pub use reconcile::*;
pub use reversal::*;
pub use review::*;
pub use settlement::*;
#[cfg(feature = "sandbox")]
use setup::Unwatched;
pub use setup::*;
use setup::{Setup, Watch, Watching};
pub use simulator::*;
pub use webhook::*;

/// The settlement engine over one store. It can be shared between threads; commands are decided one group at a time.
pub struct Engine {
    store: Arc<dyn Store>,
    env: Arc<dyn Env>,
    config: Config,
    setup: RwLock<Setup>,
    id_key: IdKey,
    owner: i64,
    numbering: &'static dyn Numbering,
    vault: Box<dyn Vault>,
    watch: Box<dyn Watch>,
    between_clients: &'static dyn BetweenClients,
    clocks: Box<dyn Clocks>,
    writer: LongLock<Writer>,
    receipt_key: OpenedReceiptKey,
    ages: Ages,
    tokens: Tokens,
    callback_base: OnceLock<String>,
    /// How many writes the largest commit has that the store refused lately, up to [`ROOM`]; 0 if it takes them.
    refused_writes: AtomicUsize,
}

/// What a program with one client does without.
struct Seams {
    vault: Box<dyn Vault>,
    watch: Box<dyn Watch>,
    between_clients: &'static dyn BetweenClients,
    clocks: Box<dyn Clocks>,
}

impl Engine {
    /// Opens an engine over `store`. On first use, creates the store's id key and the providers' numbers.
    pub fn open(store: Arc<dyn Store>, env: Arc<dyn Env>, config: Config) -> Result<Self> {
        let vault = Box::new(config.master.clone());
        let watch = Box::new(Watching::new(Arc::clone(&env)));
        let clocks = Box::new(Changed::begin(&*store, env.now())?);
        Self::with(store, env, config, &Deferred, Seams { vault, watch, between_clients: &OnBooks, clocks })
    }

    /// Like [`Engine::open`], for a program that does not share its store and has one client.
    #[cfg(feature = "sandbox")]
    pub(crate) fn alone(store: Arc<dyn Store>, env: Arc<dyn Env>, config: Config) -> Result<Self> {
        let (vault, watch, clocks) = (Box::new(Plain), Box::new(Unwatched), Box::new(Hosts));
        Self::with(store, env, config, &Immediate, Seams { vault, watch, between_clients: &OneClient, clocks })
    }

    fn with(
        store: Arc<dyn Store>,
        env: Arc<dyn Env>,
        config: Config,
        numbering: &'static dyn Numbering,
        Seams { vault, watch, between_clients, clocks }: Seams,
    ) -> Result<Self> {
        require_whole(&*store)?;
        let id_key = load_id_key(&*store, &*env)?;
        // A copy marks its target, then checks that it is still empty: if one started meanwhile,
        // it is seen here, or it sees the key.
        require_whole(&*store)?;
        if let Some(spec) = config.providers.iter().find(|spec| config.rails.get(&spec.rail).is_none()) {
            return Err(Error::internal(format!("provider {} uses rail {}, which this gateway does not support", spec.id, spec.rail)));
        }
        let setup = RwLock::new(Setup::begin(&*store, &config, &*watch, between_clients.providers())?);
        let mut owner = [0u8; 8];
        env.random(&mut owner);
        let owner = config.owner.unwrap_or(i64::from_be_bytes(owner) | 1);
        let writer = LongLock::new(Writer::new(&*store, owner, || numbering.turns())?);
        let (receipt_key, ages) = (OpenedReceiptKey::default(), Ages::begin(&*env));
        let engine = Self {
            store,
            env,
            config,
            setup,
            id_key,
            owner,
            numbering,
            vault,
            watch,
            between_clients,
            clocks,
            writer,
            receipt_key,
            ages,
            tokens: Tokens::default(),
            callback_base: OnceLock::new(),
            refused_writes: AtomicUsize::new(0),
        };
        numbering.begin(&engine)?;
        Ok(engine)
    }

    /// The current time, by the engine's clock.
    pub fn now(&self) -> Millis {
        self.env.now()
    }

    /// The engine's environment.
    pub fn env(&self) -> &Arc<dyn Env> {
        &self.env
    }

    /// Whether each read is a round trip to another machine. A thread that others need must not wait for it.
    pub fn is_remote(&self) -> bool {
        self.store.is_remote()
    }

    /// How many reads the store makes at a time.
    pub fn readers(&self) -> usize {
        self.store.readers()
    }

    fn provider_id(&self, no: ProviderNo) -> SmolStr {
        self.routes().provider(no).map_or(SmolStr::new_static("retired"), |spec| SmolStr::new(&spec.id))
    }

    fn fresh_ulid(&self, now: Millis) -> Ulid {
        let mut tail = [0u8; 16];
        self.env.random(&mut tail[6..]);
        Ulid::new(now, u128::from_be_bytes(tail))
    }
}

fn load_id_key(store: &dyn Store, env: &dyn Env) -> Result<IdKey> {
    let read = || -> Result<Option<IdKey>> {
        let found: Option<MetaRecord> = typed(store.get(&Key::Meta(ID_KEY.to_owned()))?)?;
        Ok(found.and_then(|meta| meta.value.try_into().ok()).map(IdKey))
    };
    if let Some(key) = read()? {
        return Ok(key);
    }
    let mut value = [0u8; 16];
    env.random(&mut value);
    let meta = MetaRecord { name: ID_KEY.to_owned(), value: value.to_vec() };
    match store.commit(&Commit { writes: vec![Write::Insert(meta.into())] }) {
        // Another node may have been first: the stored key counts.
        Ok(()) | Err(CommitError::Conflict(_)) => read()?.ok_or_else(|| Error::internal("the id key vanished")),
        Err(error) => Err(Error::caused(ErrorCode::StoreUnavailable, error)),
    }
}
