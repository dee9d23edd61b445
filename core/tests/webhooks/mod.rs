//! Webhooks through the engine's public interface: which deliveries are made and when, and what owners can do.
#![cfg(feature = "testkit")]

mod clock;
mod fan_out;
mod owner;
mod queues;

use std::sync::Arc;

use crate::support::log::{ALL, log_all};
use crate::support::meddling::Meddling;
use crate::support::receiver::new_hook;
use crate::support::{Sandbox, create, enroll, sealing, target, together};
use railgate::api::{Caller, Parcel, Share, Tried, WebhookPatch};
use railgate::engine::{
    ChangedWebhook, Command, CreateWebhook, DeleteWebhook, Delivered, EnableWebhook, LeaseQueues, Maintain, NumberEvents, Redeliver,
    Replay, Replayed, RotateWebhookSecret, TestWebhook, Tested, UpdateWebhook,
};
use railgate::env::Env;
use railgate::ids::{EndpointNo, Ulid};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{
    DeliveryCause, DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointStatus, EventType, Key, LastTry, QueueRecord, Topic, TopicSet,
};
use railgate::store::{Commit, Scan, Store, typed, typed_all};
use railgate::{Config, Engine, Error};
use serde_json::Value;

/// The maximum per client and mode.
const MOST_WEBHOOKS: usize = 10;
const COMPLETED: Topic = Topic::Event(EventType::SettlementCompleted);
const ACCEPTED: Topic = Topic::Event(EventType::SettlementAccepted);
const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A sandbox whose client has webhooks.
struct World {
    s: Sandbox,
}

impl World {
    fn new() -> Self {
        Self::over(Arc::new(MemoryStore::new()))
    }

    fn over(store: Arc<dyn Store>) -> Self {
        Self { s: Sandbox::over(store, Config { owner: Some(1), ..sealing() }, 1) }
    }

    fn node(&self, store: Arc<dyn Store>, owner: i64) -> Engine {
        Engine::open(store, self.s.env.clone(), Config { owner: Some(owner), ..sealing() }).unwrap()
    }

    fn run<C: Command>(&self, command: C) -> Result<C::Output, Error> {
        self.s.engine.run(command)
    }

    fn hook(&self) -> EndpointRecord {
        self.hook_of(self.s.caller, None)
    }

    fn hook_of(&self, caller: Caller, topics: Option<TopicSet>) -> EndpointRecord {
        let ChangedWebhook { endpoint, secret } = self.run(new_hook(caller, topics)).unwrap();
        assert!(secret.is_some());
        endpoint
    }

    fn update(&self, id: Ulid, patch: WebhookPatch) -> Result<ChangedWebhook, Error> {
        self.run(UpdateWebhook { caller: self.s.caller, id, patch })
    }

    fn delete(&self, id: Ulid) {
        self.run(DeleteWebhook { caller: self.s.caller, id }).unwrap();
    }

    fn test(&self, id: Ulid, topic: Topic) -> Result<Parcel, Error> {
        self.run(TestWebhook { caller: self.s.caller, id, topic })
    }

    fn redeliver(&self, id: Ulid, delivery: Ulid) -> Result<DeliveryRecord, Error> {
        self.run(Redeliver { caller: self.s.caller, id, delivery })
    }

    fn enable(&self, id: Ulid, enabled: bool) {
        let patch = WebhookPatch { enabled: Some(enabled), ..WebhookPatch::default() };
        self.update(id, patch).unwrap();
    }

    /// Creates and logs one event: a settlement was accepted.
    fn event(&self, reference: &str) {
        self.s.pay(reference, "sim:ok");
        log_all(&self.s.engine);
    }

    fn lease(&self) -> Vec<Parcel> {
        lease(&self.s.engine, 100, 100)
    }

    /// The only parcel available.
    fn parcel(&self) -> Parcel {
        let mut parcels = self.lease();
        assert_eq!(parcels.len(), 1);
        parcels.remove(0)
    }

    fn report(&self, parcel: &Parcel, status: u16) {
        self.run(self.delivered(parcel, Some(status))).unwrap();
    }

    fn delivered(&self, parcel: &Parcel, status: Option<u16>) -> Delivered {
        let now = self.s.env.now();
        let tries = parcel.deliveries.iter().map(|delivery| tried(delivery, now, status)).collect();
        Delivered { endpoint: parcel.endpoint, until: parcel.until, tries, more: false }
    }

    /// Delivers everything due; the receiver responds with `status`. Returns what was sent.
    fn deliver(&self, status: u16) -> Vec<DeliveryRecord> {
        let mut sent = Vec::new();
        loop {
            let parcels = self.lease();
            if parcels.is_empty() {
                return sent;
            }
            for parcel in parcels {
                self.report(&parcel, status);
                sent.extend(parcel.deliveries);
            }
        }
    }

    /// Moves the clock to the next due delivery; returns by how much.
    fn to_next_due(&self) -> i64 {
        let (now, due) = (self.s.env.now(), self.s.engine.next_delivery_due(true, true).unwrap().unwrap());
        self.s.env.advance_to(due);
        due - now
    }

    fn pass(&self, ms: i64) {
        self.s.env.advance_to(self.s.env.now() + ms);
    }

    fn deliveries(&self, endpoint: EndpointNo) -> Vec<DeliveryRecord> {
        let mut all: Vec<DeliveryRecord> =
            typed_all(self.s.store.scan(&Scan::deliveries_of(endpoint, i64::MAX, None, ALL)).unwrap()).unwrap();
        all.reverse();
        all
    }

    fn queue(&self, endpoint: EndpointNo) -> QueueRecord {
        typed(self.s.store.get(&Key::Queue(endpoint)).unwrap()).unwrap().unwrap()
    }

    fn status(&self, id: Ulid) -> EndpointStatus {
        self.s.engine.webhook(&self.s.caller, id).unwrap().status
    }

    fn public_id(&self, delivery: &DeliveryRecord) -> Ulid {
        let id = self.s.engine.delivery_view(delivery).unwrap().id;
        Ulid::parse(id.strip_prefix("dlv_").unwrap()).unwrap()
    }
}

fn lease(engine: &Engine, healthy: usize, troubled: usize) -> Vec<Parcel> {
    engine.run(LeaseQueues { healthy, troubled, in_flight: Vec::new() }).unwrap()
}

fn tried(delivery: &DeliveryRecord, at: i64, status: Option<u16>) -> Tried {
    let error = if status.is_none() { Some("timed out".to_owned()) } else { None };
    let outcome = LastTry { at, took_ms: 5, status, error, excerpt: String::new() };
    Tried { delivery: delivery.no, outcome, retry_after: None, is_too_late: false }
}

fn json(delivery: &DeliveryRecord) -> Value {
    serde_json::from_str(&delivery.body).unwrap()
}

fn code<T: std::fmt::Debug>(result: Result<T, Error>) -> &'static str {
    result.unwrap_err().code.as_str()
}
