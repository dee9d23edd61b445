//! A gateway in a box: memory store, a clock controlled by the test, one enrolled client.
#![allow(dead_code, reason = "each test file uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test helper fails by panicking")]

pub mod live;
pub mod log;
#[cfg(feature = "testkit")]
pub mod meddling;
#[cfg(feature = "testkit")]
pub mod receiver;
#[cfg(feature = "testkit")]
pub mod remote;
pub mod town;

use std::sync::Arc;

use railgate::api::{Caller, EventView, SettlementView, Target};
use railgate::engine::{Command, Create, Created, Enroll, Reverse, Reversed, Slot, verify};
use railgate::env::{Env, ManualEnv};
use railgate::seal::MasterKeys;
use railgate::store::Store;
use railgate::store::memory::MemoryStore;
use railgate::validate::parse_reverse;
use railgate::{Config, Engine, Error};

pub const START: i64 = 1_795_257_497_042;

pub struct Sandbox {
    pub engine: Engine,
    pub env: Arc<ManualEnv>,
    pub store: Arc<dyn Store>,
    pub caller: Caller,
}

/// Checks that an event's details are those of its type, to the last member.
pub fn says_what_is_documented(event: &EventView) {
    let details = event.details().unwrap_or_else(|error| panic!("{}: {error}: {}", event.kind.as_str(), event.data));
    let said: serde_json::Value = serde_json::from_str(event.data.get()).unwrap();
    assert_eq!(serde_json::to_value(&details).unwrap(), said, "{}", event.kind.as_str());
}

impl Sandbox {
    pub fn new() -> Self {
        Self::over(Arc::new(MemoryStore::default()), Config::default(), 1)
    }

    pub fn over(store: Arc<dyn Store>, config: Config, seed: u64) -> Self {
        let env = Arc::new(ManualEnv::new(START, seed));
        let engine = Engine::open(store.clone(), env.clone(), config).unwrap();
        let caller = enroll(&engine, "Tester");
        Self { engine, env, store, caller }
    }

    pub fn create(&self, body: &str) -> Result<(SettlementView, bool), Error> {
        let request = Box::new(self.engine.parse_create(body.as_bytes())?);
        let Created { settlement, replayed } = self.engine.run(Create { caller: self.caller, request })?;
        Ok((self.engine.view(&settlement, self.caller.client_id), replayed))
    }

    /// Creates a payment of 10.00 EUR to `to` with `reference`.
    pub fn pay(&self, reference: &str, to: &str) -> SettlementView {
        self.create(&format!(r#"{{"amount":10.00,"currency":"EUR","to":"{to}","reference":"{reference}"}}"#)).unwrap().0
    }

    pub fn reverse(&self, reference: &str, body: &str) -> Result<Reversed, Error> {
        let request = Box::new(parse_reverse(body.as_bytes())?);
        self.engine.run(Reverse { caller: self.caller, target: target(reference), request, idempotency: None })
    }

    pub fn view(&self, reference: &str) -> SettlementView {
        let record = self.engine.settlement(&self.caller, &target(reference)).unwrap();
        self.engine.view(&record, self.caller.client_id)
    }

    pub fn status(&self, reference: &str) -> &'static str {
        self.view(reference).status.as_str()
    }

    pub fn trace(&self, reference: &str) -> Vec<&'static str> {
        self.events(reference).iter().map(|e| e.kind.as_str()).collect()
    }

    pub fn events(&self, reference: &str) -> Vec<EventView> {
        let record = self.engine.settlement(&self.caller, &target(reference)).unwrap();
        let events = self.engine.events(&record, 0, 1_000).unwrap();
        events.iter().for_each(says_what_is_documented);
        events
    }

    /// Carries out everything due now, without moving the clock.
    pub fn work(&self) {
        while self.engine.work(64, &()).unwrap() > 0 {}
    }

    /// Lets `ms` pass, carrying out each task at its time.
    pub fn pass(&self, ms: i64) {
        let end = self.env.now() + ms;
        self.work();
        while let Some(due) = self.engine.next_due().unwrap().filter(|due| *due <= end) {
            self.env.advance_to(due);
            self.work();
        }
        self.env.advance_to(end);
    }

    /// Available, reserved and pending euros.
    pub fn euros(&self) -> (String, String, String) {
        let b = self.engine.balance(&self.caller, "EUR").unwrap();
        (b.available.as_str().to_owned(), b.reserved.as_str().to_owned(), b.pending.as_str().to_owned())
    }

    pub fn assert_sound(&self) {
        let report = verify::verify(&*self.store, &mut |_| {}).unwrap();
        assert!(report.is_ok(), "{:#?}", report.problems);
        assert_eq!(report.received_twice, 0);
    }
}

pub fn enroll(engine: &Engine, name: &str) -> Caller {
    engine.run(Enroll { name: name.to_owned(), key: None }).unwrap().caller
}

/// A create command with this body.
pub fn create(engine: &Engine, caller: Caller, body: &str) -> Create {
    Create { caller, request: Box::new(engine.parse_create(body.as_bytes()).unwrap()) }
}

/// A reverse command with this body.
pub fn reverse(caller: Caller, reference: &str, body: &str) -> Reverse {
    let request = Box::new(parse_reverse(body.as_bytes()).unwrap());
    Reverse { caller, target: target(reference), request, idempotency: None }
}

/// Two commands in one group, in this order.
pub fn together<A: Command, B: Command>(engine: &Engine, one: A, next: B) -> (Result<A::Output, Error>, Result<B::Output, Error>) {
    let (mut one, mut next) = (Slot::new(one), Slot::new(next));
    engine.execute(&mut [&mut one, &mut next]);
    (one.into_result().unwrap(), next.into_result().unwrap())
}

pub fn target(reference: &str) -> Target {
    Target::parse(reference).unwrap()
}

/// Settings with a master key, which webhooks and checkpoints require.
pub fn sealing() -> Config {
    Config { master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))), ..Config::default() }
}
