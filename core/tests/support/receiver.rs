//! Webhook receivers and the hosts that deliver to them, for simulations: both fail at any moment.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use railgate::Engine;
use railgate::api::{Caller, NewWebhook, Parcel, Tried};
use railgate::engine::{CreateWebhook, Delivered, EnableWebhook, LeaseQueues};
use railgate::ids::{ClientNo, EndpointNo, Ulid};
use railgate::ledger::Mode;
use railgate::store::record::{
    DeliveryCause, DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointStatus, EventRecord, FeedRecord, Key, LastTry, Topic, TopicSet,
};
use railgate::store::{Scan, Store, typed, typed_all};

use super::log::{ALL, feeds, head};

/// Everything in flight to receivers, and what they must receive.
#[derive(Default)]
pub struct Receivers {
    /// Parcels that hosts have leased and not yet sent.
    parcels: Vec<Parcel>,
    /// Reports that may come late or twice.
    reports: Vec<Delivered>,
    /// The body of each message that arrived, by endpoint.
    received: HashMap<(EndpointNo, Ulid), String>,
    /// Leaves of the log written while an endpoint was enabled for them.
    owed: BTreeSet<(EndpointNo, i64)>,
    endpoints: BTreeMap<EndpointNo, EndpointRecord>,
    size: i64,
}

pub fn new_hook(caller: Caller, topics: Option<TopicSet>) -> CreateWebhook {
    CreateWebhook { caller, new: NewWebhook { url: "https://example.com/hook".to_owned(), topics, description: None } }
}

/// How a receiver treats a request: the status of its response, and whether the message arrived.
pub type Meeting = (Option<u16>, bool);

impl Receivers {
    /// Records the state after the last step: what was logged, and which endpoints are enabled now.
    pub fn look(&mut self, store: &dyn Store, client: ClientNo) {
        let size = head(store).leaves(Mode::Sandbox);
        for endpoint in self.endpoints.values().filter(|endpoint| endpoint.status == EndpointStatus::Enabled) {
            self.owed.extend((self.size..size).map(|leaf| (endpoint.no, leaf)));
        }
        self.size = size;
        let now: Vec<EndpointRecord> = typed_all(store.scan(&Scan::endpoints_of(client, Mode::Sandbox)).unwrap()).unwrap();
        self.endpoints = now.into_iter().map(|endpoint| (endpoint.no, endpoint)).collect();
    }

    pub fn lease(&mut self, engine: &Engine, healthy: usize, troubled: usize) {
        if let Ok(parcels) = engine.run(LeaseQueues { healthy, troubled, in_flight: Vec::new() }) {
            self.parcels.extend(parcels);
        }
    }

    /// Sends a leased parcel; `meet` decides the result of each delivery. The report is kept, to be made now or later.
    pub fn send(&mut self, which: usize, now: i64, meet: &mut dyn FnMut() -> Meeting) {
        if self.parcels.is_empty() {
            return;
        }
        let parcel = self.parcels.swap_remove(which % self.parcels.len());
        let mut tries = Vec::new();
        for delivery in parcel.deliveries {
            let (status, arrived) = meet();
            if arrived {
                let known = self.received.entry((parcel.endpoint, delivery.message)).or_insert_with(|| delivery.body.clone());
                assert_eq!(*known, delivery.body, "a message has one body");
            }
            let outcome = LastTry { at: now, took_ms: 1, status, error: None, excerpt: String::new() };
            tries.push(Tried { delivery: delivery.no, outcome, retry_after: None, is_too_late: false });
        }
        self.reports.push(Delivered { endpoint: parcel.endpoint, until: parcel.until, tries, more: which.is_multiple_of(2) });
    }

    /// A host vanishes with what it has leased.
    pub fn crash(&mut self, which: usize) {
        if !self.parcels.is_empty() {
            self.parcels.swap_remove(which % self.parcels.len());
        }
    }

    /// Makes a report; if it is `kept`, it may come again.
    pub fn report(&mut self, engine: &Engine, which: usize, kept: bool) {
        if self.reports.is_empty() {
            return;
        }
        let at = which % self.reports.len();
        let report = if kept { self.reports[at].clone() } else { self.reports.swap_remove(at) };
        if let Ok(reported) = engine.run(report) {
            self.parcels.extend(reported.next);
        }
    }

    /// The owner enables an endpoint again.
    pub fn enable(&self, engine: &Engine, caller: Caller, which: usize) {
        if let Some(endpoint) = self.endpoints.values().nth(which % self.endpoints.len().max(1)) {
            let _ = engine.run(EnableWebhook { caller, id: endpoint.id });
        }
    }

    /// From now on every receiver works: everything that waits is delivered.
    pub fn settle(&mut self, engine: &Engine, caller: Caller, advance: &dyn Fn(i64)) {
        for which in 0..self.endpoints.len() {
            self.enable(engine, caller, which);
        }
        self.parcels.clear();
        self.reports.clear();
        while let Some(due) = engine.next_delivery_due(true, true).unwrap() {
            advance(due);
            self.lease(engine, 9, 9);
            while !self.parcels.is_empty() {
                self.send(0, engine.now(), &mut || (Some(204), true));
                self.report(engine, 0, false);
            }
        }
    }

    /// Each endpoint received exactly the events logged while it was enabled, unless ten tries failed.
    pub fn check(&self, store: &dyn Store) -> usize {
        let by_leaf: Vec<FeedRecord> = feeds(store);
        let mut delivered = 0;
        for endpoint in self.endpoints.values() {
            let scan = Scan::deliveries_of(endpoint.no, i64::MAX, None, ALL);
            let made: Vec<DeliveryRecord> = typed_all(store.scan(&scan).unwrap()).unwrap();
            let mut of: BTreeMap<_, Vec<&DeliveryRecord>> = BTreeMap::new();
            made.iter().for_each(|delivery| of.entry((delivery.settlement, delivery.n)).or_default().push(delivery));
            for entry in by_leaf.iter().filter(|entry| (entry.client, entry.mode) == (endpoint.client, endpoint.mode)) {
                let event: EventRecord = typed(store.get(&Key::Event((entry.settlement, entry.n))).unwrap()).unwrap().unwrap();
                let listens = endpoint.topics.is_none_or(|topics| topics.has(Topic::Event(event.kind)));
                let told = of.remove(&(entry.settlement, entry.n)).unwrap_or_default();
                let owed = listens && self.owed.contains(&(endpoint.no, entry.leaf));
                assert_eq!(told.len(), usize::from(owed), "endpoint {} and leaf {}", endpoint.no.0, entry.leaf);
            }
            of.retain(|(settlement, _), _| settlement.0 != 0);
            assert!(of.is_empty(), "deliveries of what is not in its feed: {of:?}");
            for delivery in &made {
                assert_eq!(delivery.cause, DeliveryCause::Event);
                match delivery.status {
                    DeliveryStatus::Delivered => {
                        delivered += 1;
                        assert_eq!(self.received.get(&(endpoint.no, delivery.message)), Some(&delivery.body));
                    }
                    DeliveryStatus::Failed => assert_eq!(delivery.attempts, 10),
                    DeliveryStatus::Pending => panic!("{delivery:?} still waits"),
                }
            }
        }
        delivered
    }
}
