//! The engine: takes commands, decides each over what the store holds and what the group decided before it, commits
//! the whole group once, and answers. This file only orchestrates; each group of commands has a file of its own.

mod access;
mod ahead;
mod answer;
mod change;
mod check;
mod create;
mod delivery;
mod dispatch;
mod feed;
mod host;
mod hosting;
mod list;
mod log;
mod message;
mod numbers;
mod overlay;
mod query;
mod quote;
mod receipt;
mod replay;
mod reverse;
mod secrets;
mod signed;
mod simulate;
pub mod verify;
mod webhook;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::api::{Command, Outcome};
use crate::env::Env;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, EndpointNo, IdKey, ProviderNo, SettlementNo};
use crate::ledger::Mode;
use crate::money::{Currency, Money};
use crate::route::{ProviderSpec, Routes};
use crate::seal::MasterKeys;
use crate::store::record::{ID_KEY, Key, MetaRecord, ProviderRecord, Record, RecordKind, SettlementRecord, TaskKey};
use crate::store::shared::require_whole;
use crate::store::{Clash, Commit, CommitError, Scan, Store, Unique, Write, typed, typed_all};
use crate::time::Millis;
use crate::webhook::Guard;

use hosting::Hosting;
pub use list::ListRequest;
use numbers::Numbers;
use overlay::Overlay;
pub use secrets::ReceiptKey;
pub use signed::SWEEP;

/// Settings of an engine. The defaults are those of the sandbox: two simulated providers.
#[derive(Debug, Clone)]
pub struct Config {
    /// The providers, in order of preference.
    pub providers: Vec<ProviderSpec>,
    /// What a new sandbox client finds in its accounts.
    pub sandbox_funding: Vec<Money>,
    /// How long an access token lives.
    pub token_ttl_ms: Millis,
    /// How long a quote holds.
    pub quote_ttl_ms: Millis,
    /// How long a host has a leased task before it counts as lost.
    pub lease_ms: Millis,
    /// Under what secrets are kept; without any, what needs one is refused or left out.
    pub master: Option<Arc<MasterKeys>>,
    /// Who signs receipts, as their `iss` says it: the gateway's public address, where it has one.
    pub issuer: String,
    /// Where webhooks may go.
    pub webhook_guard: Guard,
    /// Names this engine among those that share a store; drawn at random by default.
    pub owner: Option<i64>,
}

impl Default for Config {
    fn default() -> Self {
        // One million of each, in major units: round numbers that people recognise in their first balance.
        let funded = ["EUR", "USD", "GBP", "JPY", "KWD", "KES", "UGX", "TZS", "GHS", "NGN", "XOF", "INR"];
        let million = |c: Currency| Money::from_minor(1_000_000 * 10_i64.pow(u32::from(c.minor_units())), c);
        Self {
            providers: vec![
                ProviderSpec::simulator("simulator", "Simulated operator"),
                ProviderSpec::simulator("simulator-backup", "Simulated operator, second choice"),
            ],
            sandbox_funding: funded.iter().filter_map(|code| Currency::from_code(code)).map(million).collect(),
            token_ttl_ms: 900_000,
            quote_ttl_ms: 900_000,
            lease_ms: 30_000,
            master: None,
            issuer: "railgate".to_owned(),
            webhook_guard: Guard::default(),
            owner: None,
        }
    }
}

/// What came of a group of commands.
#[derive(Debug)]
pub struct Executed {
    /// One for each command, in order. They are durable.
    pub results: Vec<Result<Outcome>>,
    /// The settlements that changed after they were created, for those who follow them.
    pub changed: Vec<SettlementNo>,
    /// When the earliest new task is due.
    pub due: Option<Millis>,
    /// Events were made that are not numbered yet.
    pub unlogged: bool,
    /// The feeds that grew.
    pub fed: Vec<(ClientNo, Mode)>,
    /// When the earliest delivery of a webhook is due that was not before.
    pub deliveries_due: Option<Millis>,
}

impl Executed {
    /// Of commands that changed nothing.
    pub fn nothing(results: Vec<Result<Outcome>>) -> Self {
        Self { results, changed: Vec::new(), due: None, unlogged: false, fed: Vec::new(), deliveries_due: None }
    }
}

/// The settlement engine over one store. Shared between threads; commands are decided one group at a time.
pub struct Engine {
    store: Arc<dyn Store>,
    env: Arc<dyn Env>,
    config: Config,
    routes: Routes,
    id_key: IdKey,
    owner: i64,
    hosting: &'static dyn Hosting,
    writer: Mutex<Writer>,
    receipt_key: receipt::Opened,
}

/// What only the deciding thread touches.
struct Writer {
    /// Of settlements and fundings.
    journals: Numbers,
    next_client: u32,
    next_key: u32,
    /// Of tasks and audit records.
    next_task: u32,
    last_audit: i64,
    last_unlogged: i64,
    last_delivery: i64,
    next_endpoint: u32,
    /// How far maintenance has looked for endpoints that were removed.
    swept: EndpointNo,
    /// Events that the log could not take in this group, because they are in it.
    logged_before: HashSet<(SettlementNo, u32)>,
    /// Another node took the tasks or queues that this group had leased: they are left to it, so that two nodes that are after
    /// the same work do not keep each other's clients waiting.
    outrun: bool,
}

/// How often a group is decided anew after other nodes changed what it read.
const ROUNDS: usize = 8;

impl Engine {
    /// Opens an engine over `store`: makes the store's id key and the providers' numbers if they are not there yet.
    pub fn open(store: Arc<dyn Store>, env: Arc<dyn Env>, config: Config) -> Result<Self> {
        Self::hosted(store, env, config, &hosting::Server)
    }

    /// The same for a program that has the store and one client for itself.
    #[cfg(feature = "sandbox")]
    pub(crate) fn alone(store: Arc<dyn Store>, env: Arc<dyn Env>, config: Config) -> Result<Self> {
        Self::hosted(store, env, config, &hosting::Alone)
    }

    fn hosted(store: Arc<dyn Store>, env: Arc<dyn Env>, config: Config, hosting: &'static dyn Hosting) -> Result<Self> {
        require_whole(&*store)?;
        let id_key = load_id_key(&*store, &*env)?;
        // A copy marks its target and then looks whether it is still empty: one that began meanwhile is seen here, or sees the key.
        require_whole(&*store)?;
        let routes = Routes::new(number_providers(&*store, &config.providers)?);
        let mut owner = [0u8; 8];
        env.random(&mut owner);
        let owner = config.owner.unwrap_or(i64::from_be_bytes(owner) | 1);
        // Nodes begin their task numbers at different places, so that their keys hardly ever meet.
        let writer = Mutex::new(Writer {
            journals: Numbers::dense(next_journal(&*store)?),
            next_client: next_client(&*store)?,
            next_key: next_key(&*store)?,
            next_task: owner as u32,
            last_audit: i64::MIN,
            last_unlogged: i64::MIN,
            last_delivery: i64::MIN,
            next_endpoint: next_endpoint(&*store)?,
            swept: EndpointNo(0),
            logged_before: HashSet::new(),
            outrun: false,
        });
        let engine = Self { store, env, config, routes, id_key, owner, hosting, writer, receipt_key: receipt::Opened::default() };
        hosting.begin(&engine)?;
        Ok(engine)
    }

    /// The engine's clock.
    pub fn now(&self) -> Millis {
        self.env.now()
    }

    /// Whether each read is a journey to another machine, which no thread that others need should wait for.
    pub fn is_remote(&self) -> bool {
        self.store.is_remote()
    }

    /// The providers in force.
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Decides the commands in order, makes what they decided durable in one commit, and answers each.
    ///
    /// A command that fails leaves nothing behind and does not disturb the others. When another node changed
    /// something meanwhile, the whole group is decided again over the new state.
    pub fn execute(&self, commands: Vec<Command>) -> Executed {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let mut known: Vec<SettlementRecord> = Vec::new();
        writer.logged_before.clear();
        writer.outrun = false;
        let drawn = commands.iter().map(|command| self.draws(command)).sum();
        for _ in 0..ROUNDS {
            let mut overlay = Overlay::new(&*self.store, self.env.now());
            let ready = writer
                .journals
                .provide(&*self.store, overlay.now, drawn)
                .and_then(|()| self.hosting.look_ahead(self, &mut overlay, &commands));
            if let Err(error) = ready {
                return Executed::nothing(commands.iter().map(|_| Err(error.clone())).collect());
            }
            for record in &known {
                overlay.know_reference(record);
            }
            let results: Vec<_> = commands.iter().map(|command| self.decide_alone(&mut overlay, &mut writer, command)).collect();
            if overlay.commit.writes.is_empty() {
                return self.retold(results);
            }
            if let Err(error) = self.hosting.note_events(self, &mut overlay, &mut writer) {
                return refuse_all(&commands, &results, |_| error.clone());
            }
            let failed = match self.store.commit(&overlay.commit) {
                Ok(()) => return overlay.effects(results),
                Err(CommitError::Conflict(clashes)) => self.learn(&overlay.commit, &clashes, &mut known, &mut writer),
                Err(CommitError::BalanceGuard(_)) => Ok(()),
                Err(CommitError::Indeterminate(cause)) if self.was_committed(&overlay.commit) && self.store.secure().is_ok() => {
                    drop(cause);
                    return overlay.effects(results);
                }
                Err(CommitError::Indeterminate(cause)) => {
                    let cause = Arc::new(cause);
                    let doubt = |command: &Command| Error::in_doubt(ErrorCode::StoreUnavailable, command.is_repeatable());
                    return refuse_all(&commands, &results, |command| doubt(command).because(cause.clone()));
                }
                Err(CommitError::Store(cause)) => Err(cause.into()),
            };
            if let Err(error) = failed {
                return refuse_all(&commands, &results, |_| error.clone());
            }
        }
        let error = Error::with(ErrorCode::StoreUnavailable, "the store changes too fast; nothing was done, try again");
        Executed::nothing(commands.iter().map(|_| Err(error.clone())).collect())
    }

    /// What only tells of earlier commits. A replay promises what the first answer did, and that answer may be the one that
    /// never came because a standby was without the commit.
    fn retold(&self, mut results: Vec<Result<Outcome>>) -> Executed {
        let replay = |result: &Result<Outcome>| {
            matches!(result, Ok(Outcome::Created { replayed: true, .. } | Outcome::Reversed { replayed: true, .. }))
        };
        if results.iter().any(replay)
            && let Err(cause) = self.store.secure()
        {
            let error = Error::from(cause);
            results.iter_mut().filter(|result| replay(result)).for_each(|result| *result = Err(error.clone()));
        }
        Executed::nothing(results)
    }

    /// How many numbers of settlements and fundings a command draws.
    fn draws(&self, command: &Command) -> usize {
        match command {
            Command::Create { .. } | Command::Fund { .. } => 1,
            Command::Enroll { .. } => self.config.sandbox_funding.len(),
            Command::Signed { command, .. } => self.draws(command),
            Command::EnrollLive { .. }
            | Command::IssueToken { .. }
            | Command::RevokeToken { .. }
            | Command::AddKey { .. }
            | Command::RevokeKey { .. }
            | Command::Note { .. }
            | Command::Operate(_)
            | Command::Reverse { .. }
            | Command::Lease { .. }
            | Command::Answer { .. }
            | Command::Simulate(_)
            | Command::Log { .. }
            | Command::Webhook { .. }
            | Command::LeaseQueues { .. }
            | Command::Delivered { .. }
            | Command::Tested { .. }
            | Command::Recover
            | Command::Release
            | Command::Maintain => 0,
        }
    }

    /// One command by itself: for hosts that have no group to wait for.
    pub fn run(&self, command: Command) -> Result<Outcome> {
        self.execute(vec![command]).results.pop().unwrap_or_else(|| Err(Error::new(ErrorCode::Internal)))
    }

    fn decide_alone(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, command: &Command) -> Result<Outcome> {
        let outcome = self.decide(overlay, writer, command);
        match &outcome {
            Ok(_) => overlay.settle(),
            Err(_) => overlay.discard(),
        }
        outcome
    }

    fn decide(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, command: &Command) -> Result<Outcome> {
        match command {
            Command::Note { .. } => Ok(Outcome::Done(1)),
            Command::Fund { caller, money } => self.fund(overlay, writer, caller, *money),
            Command::Create { caller, request } => self.create(overlay, writer, caller, request),
            Command::Reverse { caller, target, request, idempotency } => {
                self.reverse(overlay, writer, caller, target, request, idempotency.as_ref())
            }
            Command::Lease { limit } => self.lease(overlay, writer, *limit),
            Command::Answer { subject, answer, lease } => self.answer(overlay, writer, *subject, answer, *lease),
            Command::Simulate(call) => self.simulate(overlay, writer, call),
            Command::Recover => self.free(overlay, writer, false),
            Command::Release => self.free(overlay, writer, true),
            Command::Enroll { .. }
            | Command::EnrollLive { .. }
            | Command::IssueToken { .. }
            | Command::RevokeToken { .. }
            | Command::AddKey { .. }
            | Command::RevokeKey { .. }
            | Command::Signed { .. }
            | Command::Operate(_)
            | Command::Log { .. }
            | Command::Webhook { .. }
            | Command::LeaseQueues { .. }
            | Command::Delivered { .. }
            | Command::Tested { .. }
            | Command::Maintain => self.hosting.decide(self, overlay, writer, command),
        }
    }

    /// Reads what stood in the way, so that the next round decides with it in sight.
    fn learn(&self, commit: &Commit, clashes: &[Clash], known: &mut Vec<SettlementRecord>, writer: &mut Writer) -> Result<()> {
        for clash in clashes {
            let mut taken = false;
            if let Some(Write::Insert(Record::Settlement(record))) = commit.writes.get(clash.write) {
                let unique = Unique::SettlementReference(record.client, record.reference.as_str().to_owned());
                if let Some(there) = typed(self.store.find(&unique)?)? {
                    known.push(there);
                    taken = true;
                }
            }
            if let Some(Write::Insert(Record::Feed(feed))) = commit.writes.get(clash.write)
                && self.store.find(&Unique::FeedOf(feed.settlement, feed.n))?.is_some()
            {
                writer.logged_before.insert((feed.settlement, feed.n));
            }
            match commit.writes.get(clash.write) {
                Some(Write::Insert(Record::Settlement(_)) | Write::Post(_)) if !taken => writer.journals.meet(next_journal(&*self.store)?),
                Some(Write::Delete(Key::Task(_)) | Write::Update { record: Record::Queue(_), .. }) => writer.outrun = true,
                Some(_) | None => {}
            }
        }
        writer.next_client = writer.next_client.max(next_client(&*self.store)?);
        writer.next_key = writer.next_key.max(next_key(&*self.store)?);
        writer.next_endpoint = writer.next_endpoint.max(next_endpoint(&*self.store)?);
        Ok(())
    }

    /// Whether a commit whose fate is unknown was made: all or nothing, so witnesses that never change tell.
    ///
    /// One alone does not: another node may have written an equal audit record under the same number. What names this
    /// node does: a log head, as long as nobody has appended since.
    fn was_committed(&self, commit: &Commit) -> bool {
        let there = |record: &Record| self.store.holds(record).unwrap_or(false);
        let heads = commit.writes.iter().filter_map(|write| match write {
            Write::Insert(head @ Record::LogHead(_)) => Some(head),
            Write::Insert(_) | Write::Update { .. } | Write::Replace(_) | Write::Post(_) | Write::Delete(_) => None,
        });
        if heads.into_iter().any(there) {
            return true;
        }
        let mut witnesses = commit.writes.iter().filter_map(|write| match write {
            Write::Insert(
                record @ (Record::Event(_)
                | Record::Audit(_)
                | Record::Nonce(_)
                | Record::Token(_)
                | Record::SimPayment(_)
                | Record::EndpointSecret(_)),
            ) => Some(record),
            Write::Insert(_) | Write::Update { .. } | Write::Replace(_) | Write::Post(_) | Write::Delete(_) => None,
        });
        witnesses.next().is_some_and(there) && witnesses.all(there)
    }

    fn provider_id(&self, no: ProviderNo) -> &str {
        self.routes.provider(no).map_or("retired", |spec| spec.id.as_str())
    }
}

impl Writer {
    /// The next journal number: of a settlement, or of a funding. Numbers of refused commands stay unused.
    fn journal(&mut self) -> SettlementNo {
        SettlementNo(self.journals.draw())
    }

    /// A fresh key for a task that is due at `due`.
    fn task_key(&mut self, due: Millis) -> TaskKey {
        self.next_task = self.next_task.wrapping_add(1);
        TaskKey::new(due, self.next_task)
    }

    /// A number for an audit record: ordered by time over all nodes, and growing at each of them whatever its clock does.
    fn audit_no(&mut self, now: Millis) -> i64 {
        self.last_audit = self.task_key(now).0.max(self.last_audit.saturating_add(1));
        self.last_audit
    }

    /// The same for a row of events that are not numbered yet.
    fn log_no(&mut self, now: Millis) -> i64 {
        self.last_unlogged = self.task_key(now).0.max(self.last_unlogged.saturating_add(1));
        self.last_unlogged
    }

    /// The same for a delivery.
    fn delivery_no(&mut self, now: Millis) -> i64 {
        self.last_delivery = self.task_key(now).0.max(self.last_delivery.saturating_add(1));
        self.last_delivery
    }
}

fn refuse_all(commands: &[Command], results: &[Result<Outcome>], error: impl Fn(&Command) -> Error) -> Executed {
    // A command that was refused on its own stays refused for its own reason. Not so a signed one: its nonce is not
    // spent, so that the same call may still come and succeed.
    let answer = |(command, result): (&Command, &Result<Outcome>)| match result {
        Err(own) if !matches!(command, Command::Signed { .. }) => Err(own.clone()),
        Ok(_) | Err(_) => Err(error(command)),
    };
    Executed::nothing(commands.iter().zip(results).map(answer).collect())
}

fn next_journal(store: &dyn Store) -> Result<i64> {
    let settlement: Option<SettlementRecord> = typed(store.scan(&Scan::last(RecordKind::Settlement))?.pop())?;
    let transfer: Option<crate::ledger::Transfer> = typed(store.scan(&Scan::last(RecordKind::Transfer))?.pop())?;
    Ok(settlement.map_or(0, |s| s.no.0).max(transfer.map_or(0, |t| t.journal.0)) + 1)
}

fn next_client(store: &dyn Store) -> Result<u32> {
    let last: Option<crate::store::record::ClientRecord> = typed(store.scan(&Scan::last(RecordKind::Client))?.pop())?;
    Ok(last.map_or(0, |c| c.no.0) + 1)
}

fn next_key(store: &dyn Store) -> Result<u32> {
    let last: Option<crate::store::record::KeyRecord> = typed(store.scan(&Scan::last(RecordKind::Key))?.pop())?;
    Ok(last.map_or(0, |key| key.no.0) + 1)
}

fn next_endpoint(store: &dyn Store) -> Result<u32> {
    let last: Option<crate::store::record::EndpointRecord> = typed(store.scan(&Scan::last(RecordKind::Endpoint))?.pop())?;
    Ok(last.map_or(0, |endpoint| endpoint.no.0) + 1)
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
        // Another node may have been first: whoever was, its key counts.
        Ok(()) | Err(CommitError::Conflict(_)) => read()?.ok_or_else(|| Error::internal("the id key vanished")),
        Err(error) => Err(Error::caused(ErrorCode::StoreUnavailable, error)),
    }
}

fn number_providers(store: &dyn Store, specs: &[ProviderSpec]) -> Result<Vec<(ProviderNo, ProviderSpec)>> {
    for _ in 0..ROUNDS {
        let stored: Vec<ProviderRecord> = typed_all(store.scan(&Scan::all(RecordKind::Provider, usize::MAX))?)?;
        let mut next = stored.iter().map(|p| p.no.0).max().unwrap_or(0);
        let mut writes = Vec::new();
        let mut numbered = Vec::new();
        for spec in specs {
            let no = stored.iter().find(|p| p.id == spec.id).map(|p| p.no).unwrap_or_else(|| {
                next += 1;
                writes.push(Write::Insert(ProviderRecord { no: ProviderNo(next), id: spec.id.clone() }.into()));
                ProviderNo(next)
            });
            numbered.push((no, spec.clone()));
        }
        if writes.is_empty() {
            return Ok(numbered);
        }
        match store.commit(&Commit { writes }) {
            Ok(()) => return Ok(numbered),
            Err(CommitError::Conflict(_)) => {}
            Err(error) => return Err(Error::caused(ErrorCode::StoreUnavailable, error)),
        }
    }
    Err(Error::new(ErrorCode::StoreUnavailable))
}
