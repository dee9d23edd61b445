//! Receivers of webhooks, and the hosts that deliver to them: both fail at any moment.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::api::{Caller, NewWebhook, Parcel, Tried};
use crate::engine::{CreateWebhook, Delivered, EnableWebhook, Engine, LeaseQueues, NumberEvents};
use crate::env::Env as _;
use crate::error::Error;
use crate::ids::{ClientNo, EndpointNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::{
    DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointStatus, EventRecord, EventType, FeedRecord, Key, LastTry, LogHeadRecord,
    RecordKind, Topic, TopicSet,
};
use crate::store::{Scan, Store, typed, typed_all};

use super::customers::Customer;
use super::end::{ENDLESS, TURNS};
use super::model::Verdict;
use super::world::{World, fault};

/// Everything on its way to receivers, and what they must receive.
#[derive(Default)]
pub(super) struct Receivers {
    callers: Vec<Caller>,
    /// Parcels that hosts have leased and not yet sent.
    parcels: Vec<Parcel>,
    /// Reports that may come late or twice.
    reports: Vec<Delivered>,
    /// The body of each message that arrived.
    received: HashMap<(EndpointNo, Ulid), String>,
    /// Leaves of the log that were written while an endpoint was enabled.
    owed: BTreeSet<(EndpointNo, i64)>,
    endpoints: BTreeMap<EndpointNo, EndpointRecord>,
    size: i64,
}

impl Receivers {
    /// Two of the clients have a webhook for their payments with real money.
    pub(super) fn new(eye: &Engine, store: &dyn Store, customers: &[Customer]) -> Result<Self, Error> {
        let callers: Vec<Caller> = customers.iter().take(2).map(|it| Caller { mode: Mode::Live, ..it.caller }).collect();
        for caller in &callers {
            let some = TopicSet::of([EventType::SettlementCompleted, EventType::SettlementFailed].map(Topic::Event));
            for topics in [None, Some(some)] {
                let new = NewWebhook { url: "https://example.com/hook".to_owned(), topics, description: None };
                eye.run(CreateWebhook { caller: *caller, new })?;
            }
        }
        let mut receivers = Self { callers, ..Self::default() };
        receivers.endpoints = receivers.now(store)?;
        Ok(receivers)
    }

    fn now(&self, store: &dyn Store) -> Result<BTreeMap<EndpointNo, EndpointRecord>, Error> {
        let mut all = BTreeMap::new();
        for caller in &self.callers {
            let found: Vec<EndpointRecord> = typed_all(store.scan(&Scan::endpoints_of(caller.client, Mode::Live))?)?;
            all.extend(found.into_iter().map(|endpoint| (endpoint.no, endpoint)));
        }
        Ok(all)
    }

    fn pick(list: usize, at: usize) -> Option<usize> {
        (list > 0).then(|| at % list)
    }
}

impl World<'_> {
    /// Notes what was written to the log, and who listened then.
    pub(super) fn look_at_log(&mut self) -> Verdict {
        let head: Option<LogHeadRecord> =
            typed(self.store().scan(&Scan::last(RecordKind::LogHead)).map_err(fault)?.pop()).map_err(fault)?;
        let size = head.map_or(0, |head| head.leaves(Mode::Live));
        let store = self.store();
        let receivers = &mut self.receivers;
        // A standby took over that lacks the end of it.
        if size < receivers.size {
            receivers.owed.retain(|(_, leaf)| *leaf < size);
        }
        for endpoint in receivers.endpoints.values().filter(|endpoint| endpoint.status == EndpointStatus::Enabled) {
            receivers.owed.extend((receivers.size..size).map(|leaf| (endpoint.no, leaf)));
        }
        receivers.size = size;
        receivers.endpoints = receivers.now(&*store).map_err(fault)?;
        Ok(())
    }

    /// A host leases deliveries, sends some, reports some, or dies; or an owner enables its webhook again.
    pub(super) fn webhook(&mut self) -> Verdict {
        let (node, what, at) = (self.node(), self.random.below(8), self.random.index(1 << 16));
        match what {
            0 | 1 => {
                if let Ok(parcels) = self.run(node, LeaseQueues { healthy: 3, troubled: 2, in_flight: Vec::new() })? {
                    self.receivers.parcels.extend(parcels);
                }
            }
            2..=4 => self.send_parcel(at)?,
            5 | 6 => self.report_parcel(node, at)?,
            _ if self.random.one_in(3) => self.enable(node, at)?,
            _ => {
                if let Some(at) = Receivers::pick(self.receivers.parcels.len(), at) {
                    self.receivers.parcels.swap_remove(at);
                }
            }
        }
        self.look_at_log()
    }

    fn enable(&mut self, node: usize, at: usize) -> Verdict {
        let Some(at) = Receivers::pick(self.receivers.endpoints.len(), at) else { return Ok(()) };
        let Some(endpoint) = self.receivers.endpoints.values().nth(at) else { return Ok(()) };
        let (id, client) = (endpoint.id, endpoint.client);
        if let Some(caller) = self.receivers.callers.iter().find(|caller| caller.client == client).copied() {
            let _ = self.run(node, EnableWebhook { caller, id })?;
        }
        Ok(())
    }

    /// How a receiver answers, and whether the message arrived.
    fn meet(&mut self) -> (Option<u16>, bool) {
        if self.calm {
            return (Some(204), true);
        }
        match self.random.below(40) {
            0 => (Some(410), false),
            1..=8 => (Some(500), false),
            // One that timed out may still have received it.
            9..=12 => (None, self.random.one_in(2)),
            _ => (Some(200), true),
        }
    }

    fn send_parcel(&mut self, at: usize) -> Verdict {
        let Some(at) = Receivers::pick(self.receivers.parcels.len(), at) else { return Ok(()) };
        let parcel = self.receivers.parcels.swap_remove(at);
        let mut tries = Vec::new();
        for delivery in parcel.deliveries {
            let (status, arrived) = self.meet();
            if arrived {
                let known = self.receivers.received.entry((parcel.endpoint, delivery.message)).or_insert_with(|| delivery.body.clone());
                if *known != delivery.body {
                    return Err(format!("a message has two bodies: {known} and {}", delivery.body));
                }
            }
            let outcome = LastTry { at: self.env.now(), took_ms: 1, status, error: None, excerpt: String::new() };
            tries.push(Tried { delivery: delivery.no, outcome, retry_after: None, is_too_late: false });
        }
        self.receivers.reports.push(Delivered { endpoint: parcel.endpoint, until: parcel.until, tries, more: false });
        Ok(())
    }

    fn report_parcel(&mut self, node: usize, at: usize) -> Verdict {
        let Some(at) = Receivers::pick(self.receivers.reports.len(), at) else { return Ok(()) };
        let kept = !self.calm && self.random.one_in(4);
        let report = if kept { self.receivers.reports[at].clone() } else { self.receivers.reports.swap_remove(at) };
        if let Ok(reported) = self.run(node, report)? {
            self.receivers.parcels.extend(reported.next);
        }
        Ok(())
    }

    /// From now on every receiver works: all events get their places, and everything that waits is delivered.
    pub(super) fn settle_webhooks(&mut self) -> Verdict {
        self.number_all()?;
        self.look_at_log()?;
        for at in 0..self.receivers.endpoints.len() {
            self.enable(0, at)?;
        }
        self.receivers.parcels.clear();
        self.receivers.reports.clear();
        for _ in 0..TURNS {
            let Some(due) = self.eye.next_delivery_due(true, true).map_err(fault)? else { return Ok(()) };
            self.env.advance_to(due);
            let leased = self.run(0, LeaseQueues { healthy: 9, troubled: 9, in_flight: Vec::new() })?.map_err(fault)?;
            self.receivers.parcels.extend(leased);
            // What is reported brings what is next.
            for _ in 0..TURNS {
                if self.receivers.parcels.is_empty() {
                    break;
                }
                self.send_parcel(0)?;
                self.report_parcel(0, 0)?;
            }
        }
        Err(ENDLESS.to_owned())
    }

    fn number_all(&mut self) -> Verdict {
        for _ in 0..TURNS {
            if !self.run(0, NumberEvents { limit: 500 })?.map_err(fault)?.more {
                return Ok(());
            }
        }
        Err(ENDLESS.to_owned())
    }

    /// Each endpoint received exactly the events that were logged while it was enabled, unless ten tries failed.
    pub(super) fn check_webhooks(&self) -> Verdict {
        let store = self.store();
        let feeds: Vec<FeedRecord> =
            typed_all(store.scan(&Scan::after(&Key::Feed((ClientNo(0), Mode::Sandbox, 0)), usize::MAX)).map_err(fault)?).map_err(fault)?;
        for endpoint in self.receivers.endpoints.values() {
            let scan = Scan::deliveries_of(endpoint.no, i64::MAX, None, usize::MAX);
            let made: Vec<DeliveryRecord> = typed_all(store.scan(&scan).map_err(fault)?).map_err(fault)?;
            let mut told: BTreeMap<_, usize> = BTreeMap::new();
            made.iter().for_each(|delivery| *told.entry((delivery.settlement, delivery.n)).or_default() += 1);
            for entry in feeds.iter().filter(|entry| (entry.client, entry.mode) == (endpoint.client, endpoint.mode)) {
                let event: Option<EventRecord> =
                    typed(store.get(&Key::Event((entry.settlement, entry.n))).map_err(fault)?).map_err(fault)?;
                let listens = event.is_some_and(|event| endpoint.topics.is_none_or(|topics| topics.has(Topic::Event(event.kind))));
                let owed = usize::from(listens && self.receivers.owed.contains(&(endpoint.no, entry.leaf)));
                let is = told.remove(&(entry.settlement, entry.n)).unwrap_or(0);
                if is != owed {
                    return Err(format!("endpoint {} was told {is} times of leaf {}, not {owed}", endpoint.no.0, entry.leaf));
                }
            }
            for delivery in made {
                let arrived = self.receivers.received.get(&(endpoint.no, delivery.message)) == Some(&delivery.body);
                match delivery.status {
                    DeliveryStatus::Delivered if arrived => {}
                    DeliveryStatus::Failed if delivery.attempts == 10 => {}
                    DeliveryStatus::Delivered | DeliveryStatus::Failed | DeliveryStatus::Pending => {
                        return Err(format!("{delivery:?}, arrived: {arrived}"));
                    }
                }
            }
        }
        Ok(())
    }
}
