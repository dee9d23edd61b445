//! Clients, keys, tokens, signed commands, the audit trail and the gateway's secrets, tested through the engine's public interface
//! over every store in this crate.
#![cfg(all(feature = "bundles", feature = "push", feature = "sqlite", feature = "testkit"))]

mod audit;
mod enrolment;
mod keys;
mod nodes;
mod secrets;
mod sessions;
mod signable;
mod signed;
mod strangers;
mod tokens;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::support::meddling::Meddling;
use crate::support::receiver::new_hook;
use crate::support::remote::Remote;
use crate::support::{START, create, reverse, target, together};
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
use railgate::rail::Rails;
use railgate::seal::MasterKeys;
use railgate::store::conformance::everything;
use railgate::store::memory::MemoryStore;
use railgate::store::record::{AuditAction, AuditRecord, EventType, Key, KeyRecord, NonceRecord, Record, SignedWith, Topic};
use railgate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use railgate::store::{Scan, Store, typed_all};
use railgate::validate::simulator::{ClockRequest, parse_advance};
use railgate::{Config, Engine, Error};
use signable::{Signable, new_webhook, signable, signable_as};

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
    test(World::over(Arc::new(Remote::default()), sealing()));
    let dir = Dir::new();
    test(World::over(dir.open(), sealing()));
}

/// Settings with a master key and the rails that partners offer.
fn sealing() -> Config {
    Config { master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))), rails: Rails::built_in(), ..Config::default() }
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
