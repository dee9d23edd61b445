//! The deliverer: carries webhooks to their endpoints and reports how that went.
//!
//! Like the worker it keeps nothing of its own. Endpoints are leased whole, so that each has at most a handful of
//! deliveries under way and nobody waits behind another's silence; those whose last delivery failed or was slow have room
//! of their own, so that many of them cannot take it from the others.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use railgate::Result;
use railgate::api::{Parcel, Share, Tried};
use railgate::engine::{Delivered, LeaseQueues};
use railgate::ledger::Mode;
use railgate::store::record::{DeliveryRecord, LastTry};
use railgate::time::Millis;
use railgate::webhook::{Guard, ID, SIGNATURE, TIMESTAMP, WebhookSecret, parse_retry_after, sign};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::background::{Background, InFlight, Next, drain, until};
use crate::gateway::Gateway;
use crate::metrics::Metrics;
use crate::outbound::{Limits, Outbound};

/// How the deliverer goes about it.
#[derive(Debug, Clone, Copy)]
pub struct DeliverSettings {
    /// Endpoints delivered to at the same time, of those whose last delivery was taken at once.
    pub healthy: usize,
    /// The same of the others.
    pub troubled: usize,
    /// How long a delivery may take.
    pub limits: Limits,
    /// It looks at least this often whether something is due, whatever its alarm clock says.
    pub look_every: Duration,
    /// How long deliveries under way are waited for at the end; what is cut off is delivered again.
    pub drain: Duration,
}

impl Default for DeliverSettings {
    fn default() -> Self {
        Self { healthy: 256, troubled: 64, limits: Limits::default(), look_every: Duration::from_secs(5), drain: Duration::from_secs(3) }
    }
}

/// Endpoints leased together.
const LEASE: usize = 64;
/// It does not look for what is due more often than this while it leases nothing.
const NAP_MIN: Duration = Duration::from_millis(5);

/// Delivers parcels. Clones share their connections.
#[derive(Clone)]
pub struct Deliverer {
    gateway: Gateway,
    metrics: Arc<Metrics>,
    sandbox: Outbound,
    live: Outbound,
}

impl Deliverer {
    /// One that keeps to `guard`: only sandbox endpoints may be on this machine.
    pub fn new(gateway: Gateway, metrics: Arc<Metrics>, guard: &Guard, limits: Limits) -> Self {
        let strict = Guard { insecure_loopback: false, ..guard.clone() };
        Self { gateway, metrics, sandbox: Outbound::new(guard.clone(), limits), live: Outbound::new(strict, limits) }
    }

    /// Makes all deliveries of a parcel at the same time. Nothing is reported yet. Where there is no secret that can be read,
    /// such as one sealed under a key that was lost, nothing is sent and every try has failed: so the endpoint leaves the
    /// line of those that answer, and is disabled in the end like any other that takes nothing.
    ///
    /// # Errors
    /// When the store cannot be read: then nothing was sent.
    pub async fn deliver_now(&self, parcel: Parcel) -> Result<Vec<Tried>> {
        let endpoint = parcel.endpoint;
        let Some(secrets) = readable(self.gateway.read(|engine| engine.webhook_secrets(endpoint)).await)? else {
            tracing::error!(endpoint = endpoint.0, "a webhook's secret cannot be read: nothing is sent to it");
            let at = self.gateway.engine().now();
            return Ok(parcel.deliveries.iter().map(|delivery| self.counted(unsigned(delivery, at))).collect());
        };
        let url: Arc<str> = parcel.url.into();
        let outbound = match parcel.mode {
            Mode::Sandbox => &self.sandbox,
            Mode::Live => &self.live,
        };
        let mut in_flight = JoinSet::new();
        for delivery in parcel.deliveries {
            let (gateway, outbound) = (self.gateway.clone(), outbound.clone());
            let (secrets, url) = (Arc::clone(&secrets), Arc::clone(&url));
            in_flight.spawn(async move { deliver(&gateway, &outbound, &secrets, &url, delivery).await });
        }
        Ok(in_flight.join_all().await.into_iter().map(|tried| self.counted(tried)).collect())
    }

    fn counted(&self, tried: Tried) -> Tried {
        self.metrics.delivered(tried.outcome.status);
        tried
    }
}

/// The secrets to sign with; `None` if there is none that can be read, which asking again does not change.
fn readable(secrets: Result<Vec<WebhookSecret>>) -> Result<Option<Arc<[WebhookSecret]>>> {
    match secrets {
        Ok(secrets) if secrets.is_empty() => Ok(None),
        Ok(secrets) => Ok(Some(secrets.into())),
        Err(error) if error.is_damage() => Ok(None),
        Err(error) => Err(error),
    }
}

/// A try that failed before anything was sent, for want of a secret.
fn unsigned(delivery: &DeliveryRecord, at: Millis) -> Tried {
    let error = Some("the webhook's secret cannot be read".to_owned());
    let outcome = LastTry { at, took_ms: 0, status: None, error, excerpt: String::new() };
    Tried { delivery: delivery.no, outcome, retry_after: None }
}

/// One delivery, one try.
async fn deliver(gateway: &Gateway, outbound: &Outbound, secrets: &[WebhookSecret], url: &str, delivery: DeliveryRecord) -> Tried {
    let at = gateway.engine().now();
    let body = Bytes::from(delivery.body);
    let id = format!("evt_{}", delivery.message);
    let signature = sign(secrets, &id, at / 1_000, &body);
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in [(ID, id), (TIMESTAMP, (at / 1_000).to_string()), (SIGNATURE, signature)] {
        // All of them are letters, digits and a few signs.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    let sent = outbound.post(url, headers, body).await;
    let took_ms = u32::try_from(sent.took.as_millis()).unwrap_or(u32::MAX);
    let (outcome, retry_after) = match sent.result {
        Ok(answer) => {
            let retry_after = answer.retry_after.and_then(|value| parse_retry_after(&value, gateway.engine().now()));
            (LastTry { at, took_ms, status: Some(answer.status), error: None, excerpt: answer.excerpt }, retry_after)
        }
        Err(error) => (LastTry { at, took_ms, status: None, error: Some(error.to_string()), excerpt: String::new() }, None),
    };
    Tried { delivery: delivery.no, outcome, retry_after }
}

/// Delivers what is due.
pub(crate) struct Delivering {
    deliverer: Deliverer,
    settings: DeliverSettings,
    /// Room for further endpoints, of each line.
    healthy: Arc<Semaphore>,
    troubled: Arc<Semaphore>,
    shares: Arc<Shares>,
}

impl Delivering {
    pub(crate) fn new(deliverer: Deliverer, settings: DeliverSettings) -> Self {
        let room = |endpoints| Arc::new(Semaphore::new(endpoints));
        let (healthy, troubled) = (room(settings.healthy), room(settings.troubled));
        Self { deliverer, settings, healthy, troubled, shares: Arc::default() }
    }

    async fn lease(&self, healthy: usize, troubled: usize) -> Result<Vec<Parcel>> {
        if healthy == 0 && troubled == 0 {
            return Ok(Vec::new());
        }
        let in_flight = self.shares.counts().iter().map(|(share, parcels)| (*share, *parcels)).collect();
        self.deliverer.gateway.work(LeaseQueues { healthy, troubled, in_flight }).await
    }

    fn begin(&self, parcel: Parcel, in_flight: &mut InFlight) {
        let line = if parcel.troubled { &self.troubled } else { &self.healthy };
        // Nobody else takes room, and no more was leased than there is.
        let room = Arc::clone(line).try_acquire_owned();
        let place = Place::taken(&self.shares, parcel.share());
        let deliverer = self.deliverer.clone();
        in_flight.spawn(async move {
            let _held = (room, place);
            carry(deliverer, parcel).await
        });
    }

    /// How long until something is due in a line that has room. A line without is left out, whatever waits in it: there only
    /// the end of a delivery makes a difference.
    async fn nap(&self) -> Result<Duration> {
        let (healthy, troubled) = (self.healthy.available_permits() > 0, self.troubled.available_permits() > 0);
        if !healthy && !troubled {
            return Ok(Duration::MAX);
        }
        let next = self.deliverer.gateway.read(|engine| engine.next_delivery_due(healthy, troubled)).await?;
        Ok(until(next, self.deliverer.gateway.engine().now()).clamp(NAP_MIN, self.settings.look_every))
    }
}

impl Background for Delivering {
    const PART: &'static str = "webhooks";

    async fn step(&mut self, in_flight: &mut InFlight) -> Result<Next> {
        let (healthy, troubled) = (self.healthy.available_permits().min(LEASE), self.troubled.available_permits().min(LEASE));
        self.deliverer.gateway.deliveries().reset();
        let parcels = self.lease(healthy, troubled).await?;
        if parcels.is_empty() {
            return Ok(Next::Rest(self.nap().await?));
        }
        parcels.into_iter().for_each(|parcel| self.begin(parcel, in_flight));
        Ok(Next::Step)
    }

    async fn woken(&self) {
        self.deliverer.gateway.deliveries().earlier().await;
    }

    /// What is cut off was perhaps delivered: its lease ends and it is delivered again, under the same id.
    async fn end(self, in_flight: InFlight) {
        let _ = tokio::time::timeout(self.settings.drain, drain(in_flight)).await;
    }
}

/// How many parcels each client has in flight. What is leased to it is measured by that, so that one client whose receivers
/// hang does not come to hold a whole line.
#[derive(Default)]
struct Shares(Mutex<HashMap<Share, usize>>);

impl Shares {
    fn counts(&self) -> MutexGuard<'_, HashMap<Share, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A parcel as part of its client's share, for as long as this is kept.
struct Place {
    shares: Arc<Shares>,
    share: Share,
}

impl Place {
    fn taken(shares: &Arc<Shares>, share: Share) -> Self {
        *shares.counts().entry(share).or_default() += 1;
        Self { shares: Arc::clone(shares), share }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.shares.counts();
        let Entry::Occupied(mut parcels) = counts.entry(self.share) else { return };
        *parcels.get_mut() -= 1;
        if *parcels.get() == 0 {
            parcels.remove();
        }
    }
}

/// Delivers a parcel and reports it. A report that is lost costs a second delivery under the same id, no more.
async fn carry(deliverer: Deliverer, parcel: Parcel) -> Result<()> {
    let (gateway, endpoint) = (deliverer.gateway.clone(), parcel.endpoint);
    let tries = deliverer.deliver_now(parcel).await?;
    gateway.work(Delivered { endpoint, tries }).await
}

#[cfg(test)]
mod tests {
    use railgate::{Error, ErrorCode};

    use super::*;

    #[test]
    fn a_secret_that_cannot_be_read_is_told_from_a_store_that_cannot() {
        assert!(readable(Ok(vec![WebhookSecret::from_bytes([7; 32])])).unwrap().is_some());
        assert!(readable(Ok(Vec::new())).unwrap().is_none(), "nothing is sent without a signature");
        assert!(readable(Err(Error::internal("sealed under another key"))).unwrap().is_none());
        let away = readable(Err(Error::new(ErrorCode::StoreUnavailable)));
        assert_eq!(away.unwrap_err().code, ErrorCode::StoreUnavailable);
    }
}
