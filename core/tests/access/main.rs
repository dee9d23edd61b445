//! Clients, keys, tokens, signed commands, the audit trail and the gateway's secrets, tested through the engine's public interface
//! over every store in this crate.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(all(feature = "sqlite", feature = "testkit"))]

mod audit;
mod enrolment;
mod keys;
mod nodes;
mod secrets;
mod sessions;
mod signed;
mod strangers;
#[path = "../support/mod.rs"]
mod support;
mod tokens;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use railgate::api::{Caller, Enrolled, FaultsView, IssuedToken, SignedBy, WebhookPatch};
use railgate::auth::{Nonce, PublicKey, ScopeSet, Signer, SoftwareKey, token_hash};
use railgate::engine::{
    AddKey, Advance, AnyCommand, Approve, Command, Create, DeleteWebhook, EnableWebhook, Enroll, EnrollLive, EnrollStranger, Enrollment,
    Fund, InvitationId, Invite, IssueToken, Maintain, NoteCheck, NumberEvents, Operated, Redeliver, Replay, Reset, Resume, Revoke,
    RevokeKey, RevokeToken, Rotate, RotateWebhookSecret, SetClock, SetFaults, Signed, Suspend, TestWebhook, UpdateWebhook,
    WithdrawInvitation, verify,
};
use railgate::env::{Env, ManualEnv};
use railgate::ids::{ClientNo, KeyNo, Ulid};
use railgate::money::{Currency, Money};
use railgate::seal::MasterKeys;
use railgate::store::conformance::everything;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{AuditAction, AuditRecord, EventType, Key, KeyRecord, NonceRecord, Record, SignedWith, Topic};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Scan, Store, typed_all};
use railgate::validate::simulator::{ClockRequest, parse_advance};
use railgate::{Config, Engine, Error};
use support::meddling::Meddling;
use support::receiver::new_hook;
use support::{START, create, reverse, target, together};

type Result<T, E = Error> = std::result::Result<T, E>;

/// A directory that is removed when the test ends.
struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("railgate-access-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn open(&self) -> Arc<dyn Store> {
        let options = SqliteOptions { synchronous: Synchronous::Normal, readers: 2, ..Default::default() };
        Arc::new(SqliteStore::open_with(&self.0.join("railgate.db"), options).unwrap())
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a test over each store.
fn over_each_store(test: impl Fn(World)) {
    test(World::over(Arc::new(MemoryStore::new()), sealing()));
    let dir = Dir::new();
    test(World::over(dir.open(), sealing()));
}

/// Settings with a master key.
fn sealing() -> Config {
    Config { master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))), ..Config::default() }
}

struct World {
    engine: Engine,
    env: Arc<ManualEnv>,
    store: Arc<dyn Store>,
}

/// A client and the key that signs for it.
#[derive(Clone, Copy)]
struct Client {
    caller: Caller,
    key: KeyNo,
}

impl World {
    fn over(store: Arc<dyn Store>, config: Config) -> Self {
        let env = Arc::new(ManualEnv::new(START, 5));
        let engine = Engine::open(store.clone(), env.clone(), config).unwrap();
        Self { engine, env, store }
    }

    /// Another engine over the same store.
    fn node(&self, config: Config) -> Self {
        let engine = Engine::open(self.store.clone(), self.env.clone(), config).unwrap();
        Self { engine, env: self.env.clone(), store: self.store.clone() }
    }

    fn run<C: Command>(&self, command: C) -> Result<C::Output> {
        self.engine.run(command)
    }

    fn enroll(&self, n: u8) -> Enrolled {
        self.run(enrolment(&format!("Client {n}"), n)).unwrap()
    }

    fn client(&self, n: u8) -> Client {
        let enrolled = self.enroll(n);
        Client { caller: enrolled.caller, key: enrolled.key.unwrap().no }
    }

    /// A live key of the client that an operator has approved.
    fn live(&self, client: &Client, n: u8) -> Client {
        let asked = self.run(EnrollLive { caller: client.caller, key: public(n) }).unwrap();
        self.operate(Approve { client: client.caller.client_id, key: Some(asked.id) }).unwrap();
        Client { caller: self.engine.signatory(&asked.id).unwrap().caller, key: asked.no }
    }

    fn operate<C: Command>(&self, act: C) -> Result<C::Output> {
        self.run(Operated(act))
    }

    fn token(&self, key: KeyNo) -> IssuedToken {
        self.run(IssueToken { key, scopes: None, session: None }).unwrap()
    }

    fn add_key(&self, client: &Client, n: u8) -> Result<KeyRecord> {
        self.run(add_key(client, n))
    }

    fn pass(&self, ms: i64) {
        self.env.advance_to(self.env.now() + ms);
    }

    fn audit(&self) -> Vec<AuditRecord> {
        typed_all(self.store.scan(&Scan::after(&Key::Audit(i64::MIN), 10_000)).unwrap()).unwrap()
    }

    fn nonces(&self) -> Vec<NonceRecord> {
        typed_all(self.store.scan(&Scan::nonces_expired_before(i64::MAX, 10_000)).unwrap()).unwrap()
    }

    fn everything(&self) -> Vec<Record> {
        everything(&*self.store)
    }

    /// A command that creates a settlement in EUR, for any amount.
    fn create(&self, client: &Client, reference: &str, amount: &str) -> Create {
        let body = format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
        create(&self.engine, client.caller, &body)
    }

    fn assert_sound(&self) {
        let report = verify::verify(&*self.store, &mut |_| {}).unwrap();
        assert!(report.is_ok(), "{:#?}", report.problems);
    }
}

fn public(n: u8) -> PublicKey {
    match n % 2 {
        0 => SoftwareKey::p256(&[n + 1; 32]).unwrap().public_key(),
        _ => SoftwareKey::ed25519(&[n; 32]).public_key(),
    }
}

fn enrolment(name: &str, n: u8) -> Enroll {
    Enroll { name: name.to_owned(), key: Some(public(n)) }
}

fn add_key(client: &Client, n: u8) -> AddKey {
    AddKey { caller: client.caller, key: public(n), label: None, scopes: ScopeSet::CLIENT }
}

fn nonce(n: u8) -> Nonce {
    Nonce { hash: [n; 32], expires_at: START + 300_000 }
}

fn signed<C>(client: &Client, n: u8, command: C) -> Signed<C> {
    let by = SignedBy { client: client.caller.client, key: client.key, with: SignedWith::Key, nonce: nonce(n) };
    Signed { by, command }
}

/// A command signed by a client that is still enrolling.
fn signed_by_nobody<C>(n: u8, command: C) -> Signed<C> {
    let by = SignedBy { client: ClientNo(0), key: KeyNo(0), with: SignedWith::Key, nonce: nonce(n) };
    Signed { by, command }
}

fn code<T: Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code.as_str()
}

/// The result of a command: `ok` or the error code.
fn ended<T>(result: Result<T>) -> &'static str {
    result.map_or_else(|error| error.code.as_str(), |_| "ok")
}

/// The result of each command in a group.
fn codes<C: Command>(engine: &Engine, group: impl IntoIterator<Item = C>) -> Vec<&'static str> {
    engine.run_all(group).into_iter().map(ended).collect()
}

/// A command, and its name in the audit trail.
type Signable = (AuditAction, AnyCommand);

fn signable_as<C>(action: AuditAction, command: C) -> Signable
where
    C: Command + Sync + Debug,
    C::Output: Debug,
{
    (action, AnyCommand::new(command))
}

/// One command of every kind that can be signed, except creates; each can succeed.
fn signable(w: &World) -> Vec<Signable> {
    let client = w.client(1);
    let caller = client.caller;
    w.add_key(&client, 2).unwrap();
    let token = token_hash(&w.token(client.key).text).unwrap();
    for reference in ["done", "fresh"] {
        w.run(w.create(&client, reference, "10")).unwrap();
        if reference == "done" {
            while w.engine.work(64, &()).unwrap() > 0 {}
        }
    }
    let settlement = w.engine.settlement(&caller, &target("done")).unwrap().no;
    let completed = parse_advance(br#"{"to":"completed"}"#).unwrap();
    let mut commands = vec![
        signable_as(AuditAction::Enroll, enrolment("New", 11)),
        signable_as(AuditAction::EnrollLive, EnrollLive { caller, key: public(13) }),
        signable_as(AuditAction::IssueToken, IssueToken { key: client.key, scopes: None, session: None }),
        signable_as(AuditAction::RevokeToken, RevokeToken { caller, key: client.key, token }),
        signable_as(AuditAction::AddKey, add_key(&client, 15)),
        signable_as(AuditAction::RevokeKey, RevokeKey { caller, key: public(2).id() }),
        signable_as(AuditAction::CheckSettlement, NoteCheck(settlement)),
        signable_as(AuditAction::Fund, Fund { caller, money: Money::from_minor(5, Currency::from_code("EUR").unwrap()) }),
        signable_as(AuditAction::AdvanceSettlement, Advance { caller, target: target("done"), request: completed }),
        signable_as(AuditAction::SetFaults, SetFaults { caller, faults: FaultsView::default() }),
        signable_as(AuditAction::ResetSandbox, Reset { caller }),
        signable_as(AuditAction::ReverseSettlement, reverse(caller, "fresh", "")),
        signable_as(AuditAction::ReverseSettlement, reverse(caller, "done", "")),
    ];
    commands.extend(webhook_changes(w, caller));
    commands.push(signable_as(AuditAction::Enroll, EnrollStranger { enroll: enrolment("Newer", 17), invitation: None }));
    commands.push(signable_as(AuditAction::SetClock, SetClock { caller, request: ClockRequest::default() }));
    let kinds: BTreeSet<String> = commands.iter().map(|(_, command)| kind(command)).collect();
    assert_eq!(kinds, kinds_with_deeds(), "every kind that leaves a deed of a client's is in the list");
    commands
}

/// One change of every kind to the client's webhooks.
fn webhook_changes(w: &World, caller: Caller) -> Vec<Signable> {
    let topic = Topic::Event(EventType::SettlementCompleted);
    let (id, other) = (new_webhook(w, caller), new_webhook(w, caller));
    let parcel = w.run(TestWebhook { caller, id, topic }).unwrap();
    let delivery = w.engine.delivery_view(&parcel.deliveries[0]).unwrap().id;
    let delivery = Ulid::parse(delivery.strip_prefix("dlv_").unwrap()).unwrap();
    // There must be something to replay.
    w.run(NumberEvents { limit: 100 }).unwrap();
    let patch = WebhookPatch { description: Some(Some("The accounts".to_owned())), ..WebhookPatch::default() };
    vec![
        signable_as(AuditAction::CreateWebhook, new_hook(caller, None)),
        signable_as(AuditAction::UpdateWebhook, UpdateWebhook { caller, id, patch }),
        signable_as(AuditAction::EnableWebhook, EnableWebhook { caller, id }),
        signable_as(AuditAction::RotateWebhookSecret, RotateWebhookSecret { caller, id, grace_ms: 3_600_000 }),
        signable_as(AuditAction::TestWebhook, TestWebhook { caller, id, topic }),
        signable_as(AuditAction::RedeliverWebhook, Redeliver { caller, id, delivery }),
        signable_as(AuditAction::ReplayWebhook, Replay { caller, id, since: 0, until: i64::MAX, after: 0, before: 0 }),
        signable_as(AuditAction::DeleteWebhook, DeleteWebhook { caller, id: other }),
    ]
}

fn new_webhook(w: &World, caller: Caller) -> Ulid {
    let made = w.run(new_hook(caller, None)).unwrap();
    assert!(made.secret.is_some());
    made.endpoint.id
}

/// The name of a command's type.
fn kind(command: &AnyCommand) -> String {
    format!("{command:?}").chars().take_while(|c| c.is_alphanumeric()).collect()
}

/// The commands that record a client's action in the audit trail, taken from the engine's sources: a new one must be added to the
/// list above. Creates have separate tests.
fn kinds_with_deeds() -> BTreeSet<String> {
    const BY_OPERATORS: [&str; 17] = [
        "access/operator.rs",
        "operator/act.rs",
        "operator/approval.rs",
        "reconcile/begin.rs",
        "operator/people.rs",
        "money/movement.rs",
        "access/invite.rs",
        "review/resolve.rs",
        "setup/agree.rs",
        "setup/credit.rs",
        "setup/put.rs",
        "group/any.rs",
        "engine/once.rs",
        "event_log/epoch.rs",
        "event_log/repair.rs",
        "cell/leave.rs",
        "cell/arrive.rs",
    ];
    let mut kinds = BTreeSet::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src/engine")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if !BY_OPERATORS.iter().any(|other| path.ends_with(other)) {
                let source = std::fs::read_to_string(path).unwrap();
                let bodies = source.split("\nimpl").filter_map(|item| item.split_once("Command for ")?.1.split_once(" {\n"));
                kinds.extend(bodies.filter(|(_, body)| body.contains("fn deed(")).map(|(name, _)| name.to_owned()));
            }
        }
    }
    assert!(kinds.remove("Create"));
    kinds
}
