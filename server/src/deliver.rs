//! The deliverer: sends webhooks and pushes to their endpoints and reports the outcome.
//!
//! Like the worker it keeps no state. Endpoints are leased as a whole, so that each has at most a handful of deliveries in
//! flight and none waits for another that is silent. While deliveries are due for an endpoint and its line has room, the commit that
//! records a parcel leases the next. Endpoints whose last delivery failed or was slow have a line and room
//! of their own, so that many of them cannot crowd out the others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use railgate::api::{Parcel, Share, Tried};
use railgate::engine::{Delivered, LeaseQueues};
use railgate::ids::SettlementNo;
use railgate::ledger::Mode;
use railgate::seal::SealError;
use railgate::store::record::{DeliveryRecord, LastTry};
use railgate::time::Millis;
use railgate::webhook::{Guard, GuardError, ID, SIGNATURE, TIMESTAMP, Verdict, WebhookSecret, parse_retry_after, sign};
use railgate::{Error, Result};
use tokio::sync::Semaphore;

use crate::background::{Background, InFlight, Next, drain, until};
use crate::gateway::Gateway;
use crate::metrics::Metrics;
use crate::outbound::{Limits, Outbound, Target};
use crate::push::{Pusher, Unsent};
use crate::shares::Shares;
use crate::traces::{Kind, Span, TRACEPARENT, Traces};

/// Settings of the deliverer.
#[derive(Debug, Clone, Copy)]
pub struct DeliverSettings {
    /// How many endpoints whose last delivery was accepted at once are served at the same time.
    pub healthy: usize,
    /// How many of the other endpoints are served at the same time.
    pub troubled: usize,
    /// How long a delivery may take.
    pub limits: Limits,
    /// The longest time between two looks for due deliveries, whatever the alarm clock says.
    pub look_every: Duration,
    /// How long a shutdown waits for deliveries in flight; those that are cut off are delivered again.
    pub drain: Duration,
}

impl Default for DeliverSettings {
    fn default() -> Self {
        Self { healthy: 256, troubled: 64, limits: Limits::default(), look_every: Duration::from_secs(5), drain: Duration::from_secs(3) }
    }
}

/// How long a parcel's deliveries are begun. With the time that one may take, it must be shorter than a lease.
const BEGIN: Duration = Duration::from_secs(1);
/// How many endpoints are leased together.
const LEASE: usize = 64;
/// The shortest time between two looks for due deliveries while none are leased.
const NAP_MIN: Duration = Duration::from_millis(5);

/// Delivers parcels. Clones share their connections.
#[derive(Clone)]
pub struct Deliverer {
    gateway: Gateway,
    metrics: Arc<Metrics>,
    sandbox: Outbound,
    live: Outbound,
    /// Where the people of push services reach those of the gateway.
    contact: Option<Arc<str>>,
    traces: Traces,
    /// The last master key that was missing, in the log already.
    missing: Arc<AtomicI64>,
}

/// What turns deliveries to an endpoint into messages.
enum Means {
    /// The secrets that sign a webhook.
    Webhook(Arc<[WebhookSecret]>),
    /// The keys of a push subscription.
    Push(Box<Pusher>),
}

impl Deliverer {
    /// A deliverer that obeys `guard`: only sandbox endpoints may be on this machine.
    pub fn new(gateway: Gateway, metrics: Arc<Metrics>, guard: &Guard, limits: Limits) -> Self {
        let strict = Guard { insecure_loopback: false, ..guard.clone() };
        let (sandbox, live) = (Outbound::new(guard.clone(), limits), Outbound::new(strict, limits));
        let missing = Arc::new(AtomicI64::new(-1));
        Self { gateway, metrics, sandbox, live, contact: None, traces: Traces::default(), missing }
    }

    /// The same, whose webhooks are spans.
    pub(crate) fn traced(self, traces: Traces) -> Self {
        Self { traces, ..self }
    }

    /// The span of a delivery, in the trace of the settlement that it tells of.
    fn span(&self, means: &Means, delivery: &DeliveryRecord) -> Span {
        if !self.traces.is_on() || matches!(means, Means::Push(_)) {
            return Span::none();
        }
        let parent = match delivery.settlement {
            SettlementNo(0) => None,
            no => self.gateway.look(|engine| engine.traceparent_of(no)).ok().flatten(),
        };
        let mut span = self.traces.begin(format!("webhook {}", delivery.topic.as_str()), Kind::Client, parent);
        span.set("railgate.message", format!("evt_{}", delivery.message));
        span
    }

    /// The same, which tells push services of this `https:` address.
    #[must_use]
    pub fn reached_at(self, contact: Option<&str>) -> Self {
        Self { contact: contact.filter(|url| url.starts_with("https://")).map(Arc::from), ..self }
    }

    /// What is needed to send to the parcel's endpoint; `None` if it cannot be decrypted.
    fn means(&self, parcel: &Parcel) -> Result<Option<Means>> {
        let endpoint = parcel.endpoint;
        let Some(route) = &parcel.push else {
            let secrets = readable(self.gateway.look(|engine| engine.webhook_secrets(endpoint)))?;
            return Ok(secrets.map(Means::Webhook));
        };
        let keys = self.gateway.look(|engine| Ok(engine.subscription_keys(endpoint)?.zip(Some(engine.vapid_key(route.vapid)?))));
        match keys {
            Ok(keys) => Ok(keys.map(|(keys, vapid)| Means::Push(Box::new(Pusher::new(keys, vapid, &parcel.url, self.contact.clone()))))),
            Err(error) if is_lost(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes the deliveries of a parcel, [`Parcel::AT_ONCE`] at the same time, and reports none yet. After one that was not accepted, or
    /// when they take long, it begins no more: the rest stays due, behind the endpoints that wait. Without a readable secret, for example
    /// if it is sealed under a key that was lost, nothing is sent and every attempt fails: so the endpoint leaves the line of the
    /// healthy ones, and is finally disabled like any other that accepts nothing. If only this server lacks the key, nothing is tried: the
    /// operator is about to bring it.
    ///
    /// # Errors
    /// When the store cannot be read: then nothing was sent.
    pub async fn deliver_now(&self, parcel: Parcel) -> Result<Vec<Tried>> {
        let means = self.means(&parcel);
        if let Some(key) = means.as_ref().err().and_then(missing_key) {
            if self.missing.swap(key.into(), Ordering::Relaxed) != i64::from(key) {
                tracing::error!(key, "endpoints wait: their secrets are sealed under a master key that this server does not have");
            }
            return Ok(Vec::new());
        }
        let Some(means) = means? else {
            tracing::error!(endpoint = parcel.endpoint.0, "an endpoint's secret cannot be read: nothing is sent to it");
            let at = self.gateway.engine().now();
            return Ok(parcel.deliveries.iter().map(|delivery| self.counted(unsigned(delivery, at))).collect());
        };
        let share = parcel.share();
        let outbound = match parcel.mode {
            Mode::Sandbox => &self.sandbox,
            Mode::Live => &self.live,
        };
        let target = outbound.target(&parcel.url);
        let begin = |delivery| {
            let span = self.span(&means, &delivery);
            deliver(&self.gateway, (outbound, share), &means, &target, (delivery, span))
        };
        let (began, mut well) = (Instant::now(), true);
        let (mut tries, mut deliveries) = (Vec::with_capacity(parcel.deliveries.len()), parcel.deliveries.into_iter());
        // In one task: its wake-ups are fewer than those of a task for each.
        let mut in_flight: FuturesUnordered<_> = deliveries.by_ref().take(Parcel::AT_ONCE).map(begin).collect();
        while let Some(tried) = in_flight.next().await {
            well &= tried.outcome.status.is_some_and(|status| Verdict::of_status(status) == Verdict::Delivered);
            if well && began.elapsed() < BEGIN {
                in_flight.extend(deliveries.next().map(begin));
            }
            tries.push(self.counted(tried));
        }
        Ok(tries)
    }

    fn counted(&self, tried: Tried) -> Tried {
        self.metrics.delivered(tried.outcome.status);
        tried
    }
}

/// The secrets to sign with; `None` if they cannot be decrypted, which trying again does not change.
fn readable(secrets: Result<Vec<WebhookSecret>>) -> Result<Option<Arc<[WebhookSecret]>>> {
    match secrets {
        Ok(secrets) if secrets.is_empty() => Ok(None),
        Ok(secrets) => Ok(Some(secrets.into())),
        Err(error) if is_lost(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether trying again does not change that something cannot be read.
fn is_lost(error: &Error) -> bool {
    error.is_damage() && missing_key(error).is_none()
}

/// The master key that this server lacks: the operator has made a new one and not brought it here yet.
fn missing_key(error: &Error) -> Option<u32> {
    match std::error::Error::source(error)?.downcast_ref()? {
        SealError::UnknownKey(key) => Some(*key),
        SealError::Malformed | SealError::Forged | SealError::BadLine { .. } | SealError::NoKey => None,
    }
}

/// An attempt that failed before anything was sent, because there is no secret.
fn unsigned(delivery: &DeliveryRecord, at: Millis) -> Tried {
    unsent(delivery, at, "the endpoint's secret cannot be read", false)
}

fn unsent(delivery: &DeliveryRecord, at: Millis, why: &str, is_too_late: bool) -> Tried {
    let outcome = LastTry { at, took_ms: 0, status: None, error: Some(why.to_owned()), excerpt: String::new() };
    Tried { delivery: delivery.no, outcome, retry_after: None, is_too_late }
}

/// The headers and the body of a webhook, signed.
fn signed(secrets: &[WebhookSecret], delivery: &DeliveryRecord, at: Millis) -> (HeaderMap, Bytes) {
    let body = Bytes::from(delivery.body.clone());
    let id = format!("evt_{}", delivery.message);
    let signature = sign(secrets, &id, at / 1_000, &body);
    let mut headers = HeaderMap::with_capacity(4);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in [(ID, id), (TIMESTAMP, (at / 1_000).to_string()), (SIGNATURE, signature)] {
        // All values are letters, digits and a few signs.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    (headers, body)
}

/// One attempt at one delivery.
async fn deliver(
    gateway: &Gateway,
    (outbound, share): (&Outbound, Share),
    means: &Means,
    target: &Result<Target, GuardError>,
    (delivery, mut span): (DeliveryRecord, Span),
) -> Tried {
    let at = gateway.engine().now();
    let message = match means {
        Means::Webhook(secrets) => Ok(signed(secrets, &delivery, at)),
        Means::Push(pusher) => pusher.message(gateway.engine(), &delivery, at),
    };
    let (mut headers, body) = match message {
        Ok(message) => message,
        Err(Unsent::TooLate) => return unsent(&delivery, at, "it was too late for it to be of use", true),
        Err(Unsent::Unusable) => return unsent(&delivery, at, "it cannot be encrypted", true),
    };
    if let Some(value) = span.place().and_then(|place| HeaderValue::try_from(place.to_string()).ok()) {
        headers.insert(TRACEPARENT, value);
    }
    let sent = outbound.post(share, target, headers, body).await;
    let took_ms = u32::try_from(sent.took.as_millis()).unwrap_or(u32::MAX);
    let (outcome, retry_after) = match sent.result {
        Ok(answer) => {
            span.answered(answer.status, answer.status >= 400);
            let retry_after = answer.retry_after.and_then(|value| parse_retry_after(&value, gateway.engine().now()));
            (LastTry { at, took_ms, status: Some(answer.status), error: None, excerpt: answer.excerpt }, retry_after)
        }
        Err(error) => {
            span.fail(error.to_string());
            (LastTry { at, took_ms, status: None, error: Some(error.to_string()), excerpt: String::new() }, None)
        }
    };
    Tried { delivery: delivery.no, outcome, retry_after, is_too_late: false }
}

/// Makes due deliveries.
pub(crate) struct Delivering {
    deliverer: Deliverer,
    settings: DeliverSettings,
    /// Free places for endpoints, in each line.
    healthy: Arc<Semaphore>,
    troubled: Arc<Semaphore>,
    /// How many parcels of each client are in flight. Leasing takes that into account, so that a client whose receivers hang
    /// does not fill a whole line.
    shares: Shares<Share>,
    /// Set at a shutdown: no parcel follows another.
    ending: Arc<AtomicBool>,
}

impl Delivering {
    pub(crate) fn new(deliverer: Deliverer, settings: DeliverSettings) -> Self {
        let room = |endpoints| Arc::new(Semaphore::new(endpoints));
        let (healthy, troubled) = (room(settings.healthy), room(settings.troubled));
        Self { deliverer, settings, healthy, troubled, shares: Shares::default(), ending: Arc::default() }
    }

    async fn lease(&self, healthy: usize, troubled: usize) -> Result<Vec<Parcel>> {
        if healthy == 0 && troubled == 0 {
            return Ok(Vec::new());
        }
        self.deliverer.gateway.work(LeaseQueues { healthy, troubled, in_flight: self.shares.each() }).await
    }

    fn begin(&self, parcel: Parcel, in_flight: &mut InFlight) {
        let line = Arc::clone(if parcel.troubled { &self.troubled } else { &self.healthy });
        // Nobody else takes permits, and no more was leased than there is room for.
        let room = Arc::clone(&line).try_acquire_owned();
        let place = self.shares.take(parcel.share(), 1, |_| true);
        let (deliverer, ending) = (self.deliverer.clone(), Arc::clone(&self.ending));
        in_flight.spawn(async move {
            let _held = (room, place);
            // In a full line, others wait for this place.
            let more = || line.available_permits() > 0 && !ending.load(Ordering::Relaxed);
            let mut next = Some(parcel);
            while let Some(parcel) = next {
                next = carry(&deliverer, parcel, more).await?;
            }
            Ok(())
        });
    }

    /// The time until a delivery is due in a line that has room. A full line is left out: there only the end of a delivery
    /// helps.
    async fn nap(&self) -> Result<Duration> {
        let (healthy, troubled) = (self.healthy.available_permits() > 0, self.troubled.available_permits() > 0);
        if !healthy && !troubled {
            return Ok(Duration::MAX);
        }
        let next = self.deliverer.gateway.look(|engine| engine.next_delivery_due(healthy, troubled))?;
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

    /// A delivery that is cut off may have arrived: its lease ends and it is made again, under the same id.
    async fn end(self, in_flight: InFlight) {
        self.ending.store(true, Ordering::Relaxed);
        let _ = tokio::time::timeout(self.settings.drain, drain(in_flight)).await;
    }
}

/// Delivers a parcel and reports it. Returns the next parcel for its endpoint, if there is `more` of it and of room: the commit of the
/// report leases it too. A lost report only costs a second delivery under the same id.
async fn carry(deliverer: &Deliverer, parcel: Parcel, more: impl Fn() -> bool) -> Result<Option<Parcel>> {
    let (endpoint, until) = (parcel.endpoint, parcel.until);
    let tries = deliverer.deliver_now(parcel).await?;
    Ok(deliverer.gateway.work(Delivered { endpoint, until, tries, more: more() }).await?.next)
}

#[cfg(test)]
mod tests {
    use railgate::ErrorCode;

    use super::*;

    #[test]
    fn a_secret_that_cannot_be_read_is_told_from_a_store_that_cannot() {
        assert!(readable(Ok(vec![WebhookSecret::from_bytes([7; 32])])).unwrap().is_some());
        assert!(readable(Ok(Vec::new())).unwrap().is_none(), "nothing is sent without a signature");
        assert!(readable(Err(Error::internal("sealed under another key"))).unwrap().is_none());
        let forged = Error::internal(SealError::Forged);
        assert!(readable(Err(forged)).unwrap().is_none());
        let early = Error::internal(SealError::UnknownKey(2));
        assert!(readable(Err(early)).is_err_and(|error| missing_key(&error) == Some(2)));
        let away = readable(Err(Error::new(ErrorCode::StoreUnavailable)));
        assert_eq!(away.unwrap_err().code, ErrorCode::StoreUnavailable);
    }
}
