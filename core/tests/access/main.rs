//! Clients, keys, tokens, signed commands, the audit trail and the gateway's secrets, through the engine's front door
//! and over every store of this crate.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(all(feature = "sqlite", feature = "testkit"))]

mod audit;
mod enrolment;
mod keys;
mod nodes;
mod secrets;
mod signed;
#[path = "../support/mod.rs"]
mod support;
mod tokens;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use railgate::api::{
    Caller, Command, Enrolled, IssuedToken, NewWebhook, Operation, Outcome, SignedBy, WebhookChange, WebhookDone, WebhookPatch,
};
use railgate::auth::{Nonce, PublicKey, ScopeSet, Signer, SoftwareKey, token_hash};
use railgate::engine::verify;
use railgate::env::{Env, ManualEnv};
use railgate::ids::{ClientNo, KeyNo, Ulid};
use railgate::money::{Currency, Money};
use railgate::seal::MasterKeys;
use railgate::store::conformance::everything;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{AuditAction, AuditRecord, EventType, Key, KeyRecord, NonceRecord, Record, Topic};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Scan, Store, typed_all};
use railgate::validate::parse_reverse;
use railgate::{Config, Engine, Error};
use support::meddling::Meddling;
use support::{START, target};

type Result<T, E = Error> = std::result::Result<T, E>;

/// A directory that goes when the test ends.
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
        Arc::new(SqliteStore::open(&self.0.join("railgate.db"), options).unwrap())
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Plays a test over each store.
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

    fn run(&self, command: Command) -> Result<Outcome> {
        self.engine.run(command)
    }

    fn enroll(&self, n: u8) -> Enrolled {
        match self.run(Command::Enroll { name: format!("Client {n}"), key: Some(public(n)) }).unwrap() {
            Outcome::Enrolled(enrolled) => *enrolled,
            other => panic!("{other:?}"),
        }
    }

    fn client(&self, n: u8) -> Client {
        let enrolled = self.enroll(n);
        Client { caller: enrolled.caller, key: enrolled.key.unwrap().no }
    }

    /// A live key of the client's that an operator approved.
    fn live(&self, client: &Client, n: u8) -> Client {
        let asked = key(self.run(Command::EnrollLive { caller: client.caller, key: public(n) }));
        self.operate(Operation::Approve { client: client.caller.client_id, key: Some(asked.id) }).unwrap();
        Client { caller: self.engine.signatory(&asked.id).unwrap().caller, key: asked.no }
    }

    fn operate(&self, operation: Operation) -> Result<Outcome> {
        self.run(Command::Operate(operation))
    }

    fn token(&self, key: KeyNo) -> IssuedToken {
        token(self.run(Command::IssueToken { key, scopes: None }))
    }

    fn add_key(&self, client: &Client, n: u8) -> Result<Outcome> {
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

    /// A create of 10.00 EUR, or of more than anybody has.
    fn create(&self, client: &Client, reference: &str, amount: &str) -> Command {
        let body = format!(r#"{{"amount":{amount},"currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
        Command::Create { caller: client.caller, request: Box::new(self.engine.parse_create(body.as_bytes()).unwrap()) }
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

fn add_key(client: &Client, n: u8) -> Command {
    Command::AddKey { caller: client.caller, key: public(n), label: None, scopes: ScopeSet::CLIENT }
}

fn nonce(n: u8) -> Nonce {
    Nonce { hash: [n; 32], expires_at: START + 300_000 }
}

fn signed(client: &Client, n: u8, command: Command) -> Command {
    let by = SignedBy { client: client.caller.client, key: client.key, nonce: nonce(n) };
    Command::Signed { by, command: Box::new(command) }
}

/// Signed by somebody who is only just enrolling.
fn signed_by_nobody(n: u8, command: Command) -> Command {
    let by = SignedBy { client: ClientNo(0), key: KeyNo(0), nonce: nonce(n) };
    Command::Signed { by, command: Box::new(command) }
}

fn token(result: Result<Outcome>) -> IssuedToken {
    match result.unwrap() {
        Outcome::Token(token) => *token,
        other => panic!("{other:?}"),
    }
}

fn key(result: Result<Outcome>) -> KeyRecord {
    match result.unwrap() {
        Outcome::Key(key) => *key,
        other => panic!("{other:?}"),
    }
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code.as_str()
}

/// How each command of a group ended.
fn codes(results: Vec<Result<Outcome>>) -> Vec<&'static str> {
    results.into_iter().map(|result| result.map_or_else(|error| error.code.as_str(), |_| "ok")).collect()
}

/// A command, and what the trail calls it.
type Signable = (AuditAction, Command);

/// One command of every kind that can come in signed, each able to succeed.
fn signable(w: &World) -> Vec<Signable> {
    let client = w.client(1);
    let caller = client.caller;
    w.add_key(&client, 2).unwrap();
    let text = w.token(client.key).text;
    for reference in ["done", "fresh"] {
        w.run(w.create(&client, reference, "10")).unwrap();
        if reference == "done" {
            while w.engine.work(64).unwrap() > 0 {}
        }
    }
    let reverse = |reference: &str| {
        let request = Box::new(parse_reverse(b"").unwrap());
        Command::Reverse { caller, target: target(reference), request, idempotency: None }
    };
    let settlement = w.engine.settlement(&caller, &target("done")).unwrap().no;
    let commands = vec![
        (AuditAction::Enroll, Command::Enroll { name: "New".to_owned(), key: Some(public(11)) }),
        (AuditAction::EnrollLive, Command::EnrollLive { caller, key: public(13) }),
        (AuditAction::IssueToken, Command::IssueToken { key: client.key, scopes: None }),
        (AuditAction::RevokeToken, Command::RevokeToken { caller, token: token_hash(&text).unwrap() }),
        (AuditAction::AddKey, add_key(&client, 15)),
        (AuditAction::RevokeKey, Command::RevokeKey { caller, key: public(2).id() }),
        (AuditAction::CheckSettlement, Command::Note { action: AuditAction::CheckSettlement, target: settlement }),
        (AuditAction::Fund, Command::Fund { caller, money: Money::from_minor(5, Currency::from_code("EUR").unwrap()) }),
        (AuditAction::ReverseSettlement, reverse("fresh")),
        (AuditAction::ReverseSettlement, reverse("done")),
    ];
    let commands: Vec<Signable> = commands.into_iter().chain(webhook_changes(w, caller)).collect();
    let kinds: Vec<_> = commands.iter().filter_map(|(_, command)| kind(command)).collect();
    let of_access = ["enroll", "enroll live", "issue", "revoke token", "add", "revoke key", "note", "fund", "reverse", "reverse"];
    let of_webhooks = ["create", "update", "enable", "rotate", "test", "redeliver", "replay", "delete"];
    assert_eq!(kinds, [&of_access[..], &of_webhooks[..]].concat());
    commands
}

/// One change of every kind to the client's webhooks.
fn webhook_changes(w: &World, caller: Caller) -> Vec<Signable> {
    let topic = Topic::Settlement(EventType::SettlementCompleted);
    let (mine, other) = (new_webhook(w, caller), new_webhook(w, caller));
    let run = |change| w.run(webhook(caller, change)).unwrap();
    let Outcome::Webhook(WebhookDone::Prepared(parcel)) = run(WebhookChange::Test { id: mine, topic }) else { panic!() };
    let delivery = w.engine.delivery_view(&parcel.deliveries[0]).unwrap().id;
    let delivery = Ulid::parse(delivery.strip_prefix("dlv_").unwrap()).unwrap();
    // So that there is something to replay.
    w.run(Command::Log { limit: 100 }).unwrap();
    let patch = WebhookPatch { description: Some(Some("The accounts".to_owned())), ..WebhookPatch::default() };
    let changes = [
        (AuditAction::CreateWebhook, WebhookChange::Create(hook("https://example.com/new"))),
        (AuditAction::UpdateWebhook, WebhookChange::Update { id: mine, patch }),
        (AuditAction::EnableWebhook, WebhookChange::Enable { id: mine }),
        (AuditAction::RotateWebhookSecret, WebhookChange::Rotate { id: mine, grace_ms: 3_600_000 }),
        (AuditAction::TestWebhook, WebhookChange::Test { id: mine, topic }),
        (AuditAction::RedeliverWebhook, WebhookChange::Redeliver { id: mine, delivery }),
        (AuditAction::ReplayWebhook, WebhookChange::Replay { id: mine, since: 0, until: i64::MAX, after: 0 }),
        (AuditAction::DeleteWebhook, WebhookChange::Delete { id: other }),
    ];
    changes.into_iter().map(|(action, change)| (action, webhook(caller, change))).collect()
}

fn webhook(caller: Caller, change: WebhookChange) -> Command {
    Command::Webhook { caller, change: Box::new(change) }
}

fn hook(url: &str) -> NewWebhook {
    NewWebhook { url: url.to_owned(), topics: None, description: None }
}

fn new_webhook(w: &World, caller: Caller) -> Ulid {
    match w.run(webhook(caller, WebhookChange::Create(hook("https://example.com/hook")))).unwrap() {
        Outcome::Webhook(WebhookDone::Webhook(endpoint, Some(_))) => endpoint.id,
        other => panic!("{other:?}"),
    }
}

/// The kinds that come in signed besides creates. A new one must be added to the list above.
fn kind(command: &Command) -> Option<&'static str> {
    match command {
        Command::Enroll { .. } => Some("enroll"),
        Command::EnrollLive { .. } => Some("enroll live"),
        Command::IssueToken { .. } => Some("issue"),
        Command::RevokeToken { .. } => Some("revoke token"),
        Command::AddKey { .. } => Some("add"),
        Command::RevokeKey { .. } => Some("revoke key"),
        Command::Note { .. } => Some("note"),
        Command::Fund { .. } => Some("fund"),
        Command::Reverse { .. } => Some("reverse"),
        Command::Webhook { change, .. } => Some(match **change {
            WebhookChange::Create(_) => "create",
            WebhookChange::Update { .. } => "update",
            WebhookChange::Delete { .. } => "delete",
            WebhookChange::Rotate { .. } => "rotate",
            WebhookChange::Enable { .. } => "enable",
            WebhookChange::Test { .. } => "test",
            WebhookChange::Redeliver { .. } => "redeliver",
            WebhookChange::Replay { .. } => "replay",
        }),
        Command::Create { .. } | Command::Signed { .. } | Command::Operate(_) => None,
        Command::Lease { .. } | Command::Answer { .. } | Command::Simulate(_) | Command::Recover | Command::Release | Command::Maintain => {
            None
        }
        Command::Log { .. } | Command::LeaseQueues { .. } | Command::Delivered { .. } | Command::Tested { .. } => None,
    }
}
