//! Queues of deliveries: leased per endpoint, with the results reported back.
//!
//! Each endpoint has its own queue, which one host at a time works on, so a slow or dead receiver delays only itself. Queues whose
//! last delivery failed or was slow wait in a second line, so that many of them cannot take the capacity of healthy ones.

use std::collections::{HashMap, HashSet};

use crate::api::{Parcel, Share, Tried};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Overlay, Prefetch};
use crate::error::{Error, Result};
use crate::ids::{ClientNo, EndpointNo};
use crate::ledger::Mode;
use crate::store::record::{ClockRecord, DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointStatus, Key, QueueRecord};
use crate::store::{Lookup, Scan, Write, typed, typed_all};
use crate::time::Millis;
use crate::webhook::{ATTEMPTS_MAX, RETRY_AFTER_MAX_MS, Verdict, next_delay};

use super::delivery::unless_damaged;
use super::endpoint::MOST_WEBHOOKS;

/// The most deliveries of a parcel for an endpoint that answers at once: one commit records them all. One in trouble gets what is in flight
/// at the same time, so that it soon shows whether it has recovered.
const PARCEL: usize = 4 * Parcel::AT_ONCE;
/// A try that took longer, in milliseconds, is slow, even if the response was 2xx: its queue joins those in trouble. So slow
/// receivers only take capacity from other slow ones, and cannot delay the rest.
const SLOW: u32 = 2_000;
/// How long a queue waits, in milliseconds, if its owner has used up its share of the line, or if its host could try nothing.
const PUT_OFF: Millis = 1_000;
/// How many push subscriptions of a client's users are served at the same time in each line. They are many, and push services answer
/// at once.
const MOST_PUSHED: usize = 64;
/// An endpoint that has only failed for this long is disabled, and a push subscription removed.
const FAILING_MOST: Millis = 5 * 86_400_000;

/// Leases the queues of endpoints for which deliveries are due.
#[derive(Debug, Clone)]
pub struct LeaseQueues {
    /// Maximum number of queues whose last delivery succeeded.
    pub healthy: usize,
    /// Maximum number of the other queues.
    pub troubled: usize,
    /// How many parcels the host already has in flight for each share. An owner with as many in one line as it
    /// may have webhooks gets no more there.
    pub in_flight: Vec<(Share, usize)>,
}

impl Command for LeaseQueues {
    type Output = Vec<Parcel>;

    fn is_repeatable(&self) -> bool {
        true
    }

    /// Leases due queues, up to the limit of each line, with their due deliveries. A queue that cannot be read because it
    /// is damaged is postponed, so that it never delays the others. A queue whose owner has used up its share of the line
    /// is postponed for a moment. An owner exceeds the number of its webhooks by creating them anew, or by enabling them
    /// again, while earlier requests hang.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Vec<Parcel>> {
        let (engine, overlay) = (d.engine, &mut *d.overlay);
        let mut parcels: Vec<Parcel> = Vec::new();
        let mut in_flight: HashMap<Share, usize> = self.in_flight.iter().copied().collect();
        for (line, limit) in [(false, self.healthy), (true, self.troubled)] {
            if limit == 0 || d.writer.outrun {
                continue;
            }
            let due: Vec<QueueRecord> = typed_all(overlay.store.scan(&Scan::queues(line, overlay.now, limit))?)?;
            let endpoints = due.iter().map(|queue| Lookup::Get(Key::Endpoint(queue.endpoint)));
            let now = overlay.now;
            let deliveries = due.iter().map(|queue| Lookup::Scan(due_of(queue, now)));
            overlay.look_up(endpoints.chain(deliveries))?;
            for queue in due {
                if overlay.touched(&Key::Queue(queue.endpoint)) {
                    continue;
                }
                let until = overlay.now + engine.config.lease_ms;
                let Some((due, parcel)) = unless_damaged(engine.waiting(overlay, &queue, until).map(Some))? else {
                    engine.write_queue(overlay, QueueRecord { due: Some(until), owner: 0, added: None, ..queue });
                    continue;
                };
                if let Some(parcel) = &parcel {
                    let share = in_flight.entry(parcel.share()).or_default();
                    let most = if parcel.push.is_some() { MOST_PUSHED } else { MOST_WEBHOOKS };
                    if *share >= most {
                        engine.write_queue(overlay, QueueRecord { due: Some(overlay.now + PUT_OFF), owner: 0, added: None, ..queue });
                        continue;
                    }
                    *share += 1;
                }
                let (due, owner) = if parcel.is_some() { (Some(until), engine.owner) } else { (due, 0) };
                engine.write_queue(overlay, QueueRecord { due, owner, added: None, ..queue });
                parcels.extend(parcel);
            }
        }
        Ok(parcels)
    }

    fn touched(parcels: &Vec<Parcel>) -> usize {
        parcels.iter().map(|parcel| parcel.deliveries.len()).sum::<usize>().max(1)
    }
}

/// The results of deliveries of a [`Parcel`].
#[derive(Debug, Clone)]
pub struct Delivered {
    /// The endpoint of the parcel.
    pub endpoint: EndpointNo,
    /// [`Parcel::until`].
    pub until: Millis,
    /// The result of each delivery that was tried. If none was, because the host lacks what it takes, they are put off for a moment.
    pub tries: Vec<Tried>,
    /// Whether the host takes the next parcel for this endpoint at once, if one is due: the same commit then extends its lease.
    pub more: bool,
}

/// The output of [`Delivered`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tallied {
    /// How many deliveries were tried.
    pub tried: usize,
    /// The next parcel, if the host wanted one and deliveries are due.
    pub next: Option<Parcel>,
}

impl Command for Delivered {
    type Output = Tallied;

    fn is_repeatable(&self) -> bool {
        true
    }

    /// A try counts even if another host has the lease by now.
    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Tallied> {
        let (engine, overlay) = (d.engine, &mut *d.overlay);
        let endpoint: Option<EndpointRecord> = overlay.get(&Key::Endpoint(self.endpoint))?;
        let clock = match &endpoint {
            Some(endpoint) => engine.clock_of(overlay, endpoint.owner())?,
            None => None,
        };
        let now = clock.as_ref().map_or(overlay.now, |clock| clock.clock().at(overlay.now));
        let mut seen = Fared { peace: self.tries.is_empty().then_some(PUT_OFF), ..Fared::default() };
        let waiting: Vec<DeliveryRecord> = typed_all(overlay.stored_page(&self.waiting())?)?;
        let (mut tried_of, mut left): (HashMap<i64, DeliveryRecord>, Vec<DeliveryRecord>) = self.parted(waiting);
        for tried in &self.tries {
            // The delivery may have been deleted or also tried by another host, or this report was received
            // before and only its response was lost.
            let key = Key::Delivery(tried.delivery);
            let known = if overlay.touched(&key) { None } else { tried_of.remove(&tried.delivery) };
            let delivery: Option<DeliveryRecord> = if known.is_some() { known } else { overlay.get(&key)? };
            let counts = |it: &DeliveryRecord| {
                it.endpoint == self.endpoint && it.status == DeliveryStatus::Pending && it.last.as_ref() != Some(&tried.outcome)
            };
            match delivery {
                Some(delivery) if counts(&delivery) => {
                    let push = endpoint.as_ref().is_some_and(|endpoint| endpoint.push.is_some());
                    engine.count_try(overlay, (delivery, push), tried, now, &mut seen);
                }
                uncounted => left.extend(uncounted.filter(|it| it.endpoint == self.endpoint)),
            }
        }
        let Some(endpoint) = endpoint.filter(|endpoint| endpoint.status != EndpointStatus::Removed) else { return Ok(self.reported(None)) };
        let queue = engine.queue(overlay, endpoint.no)?;
        let mine = queue.owner == engine.owner && queue.due == Some(self.until);
        let mut next = QueueRecord { ..queue.clone() };
        if seen.delivered {
            (next.troubled, next.failing_since) = (seen.slow, None);
        } else if let Some(at) = seen.failed_at {
            // How long it fails is a matter of the client's clock, if it was changed.
            let at = clock.as_ref().map_or(at, |_| now);
            (next.troubled, next.failing_since) = (true, Some(queue.failing_since.unwrap_or(at)));
        }
        let dead = next.failing_since.is_some_and(|since| now - since >= FAILING_MOST);
        let disable = match endpoint.push {
            // An app subscribes again when it needs to; nobody enables a subscription.
            Some(_) => (seen.gone || dead).then_some(EndpointStatus::Removed),
            None if seen.gone => Some(EndpointStatus::Gone),
            None => dead.then_some(EndpointStatus::Failing),
        };
        let disable = disable.filter(|_| endpoint.status == EndpointStatus::Enabled);
        let mut parcel = None;
        if disable.is_some() || endpoint.status != EndpointStatus::Enabled {
            (next.due, next.owner, next.added) = (None, 0, None);
        } else if mine && let Some(peace) = seen.peace {
            // Keep the lease that long, with nothing in flight, so that added deliveries wait too.
            (next.due, next.added) = (Some(overlay.now + peace), None);
        } else if mine {
            let left = as_left(overlay, left)?;
            let waiting = left.first().and_then(|delivery| delivery.due).into_iter().chain(seen.due).min();
            let waiting = waiting.map(|at| clock.as_ref().map_or(at, |clock| clock.due(at, overlay.now)));
            let until = overlay.now + engine.config.lease_ms;
            if self.more && next.troubled == queue.troubled {
                parcel = parcel_of(&endpoint, &next, until, left.into_iter().filter(|delivery| delivery.due <= Some(now)));
            }
            if parcel.is_some() {
                next.due = Some(until);
            } else {
                // Never earlier than now: a queue with deliveries left over queues up after those that already wait.
                next.due = waiting.into_iter().chain(queue.added).min().map(|due| due.max(overlay.now));
                (next.owner, next.added) = (0, None);
            }
        }
        if next != queue {
            engine.write_queue(overlay, next);
        }
        let owner = endpoint.owner();
        if let Some(status) = disable {
            let endpoint = engine.write_endpoint(overlay, EndpointRecord { status, ..endpoint });
            if endpoint.push.is_none() {
                engine.tell_of_disabled(overlay, d.writer, &endpoint)?;
            }
        }
        engine.done_for(overlay, d.writer, owner)?;
        Ok(self.reported(parcel))
    }

    fn touched(reported: &Tallied) -> usize {
        reported.tried.max(1)
    }

    fn prefetch(&self, prefetch: &mut Prefetch<'_>) {
        prefetch.add([Lookup::Get(Key::Endpoint(self.endpoint)), Lookup::Get(Key::Queue(self.endpoint)), Lookup::Scan(self.waiting())]);
    }
}

impl Delivered {
    fn reported(&self, next: Option<Parcel>) -> Tallied {
        Tallied { tried: self.tries.len(), next }
    }

    /// What is stored of the endpoint's deliveries that wait: those tried, and as many as the next parcel needs.
    fn waiting(&self) -> Scan {
        Scan::deliveries_due(self.endpoint, Millis::MAX, self.tries.len() + if self.more { PARCEL } else { 1 })
    }

    /// Of these deliveries, those tried, and the others in order.
    fn parted(&self, waiting: Vec<DeliveryRecord>) -> (HashMap<i64, DeliveryRecord>, Vec<DeliveryRecord>) {
        let tried: HashSet<i64> = self.tries.iter().map(|tried| tried.delivery).collect();
        let (tried, left): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|delivery| tried.contains(&delivery.no));
        (tried.into_iter().map(|delivery| (delivery.no, delivery)).collect(), left)
    }
}

/// Stored deliveries as the group so far leaves them, the first due first, without those that do not wait any more.
fn as_left(overlay: &Overlay<'_>, stored: Vec<DeliveryRecord>) -> Result<Vec<DeliveryRecord>> {
    let mut left = Vec::with_capacity(stored.len());
    for delivery in stored {
        let key = Key::Delivery(delivery.no);
        left.extend(if overlay.touched(&key) { overlay.get(&key)? } else { Some(delivery) });
    }
    left.retain(|delivery: &DeliveryRecord| delivery.due.is_some());
    left.sort_by_key(|delivery| (delivery.due, delivery.no));
    Ok(left)
}

impl Engine {
    /// Makes sure that an endpoint's queue is looked at by `due`.
    ///
    /// The queue is written even if it is already due by then. Another node that finds nothing waiting, or stops the queue, must
    /// not do so without having seen the delivery added here; the write makes its commit fail.
    pub(crate) fn enqueue(&self, overlay: &mut Overlay<'_>, endpoint: EndpointNo, due: Millis) -> Result<()> {
        let queue = self.queue(overlay, endpoint)?;
        let earlier = |known: Option<Millis>| Some(known.map_or(due, |known| known.min(due)));
        let queue = match queue.owner {
            0 => QueueRecord { due: earlier(queue.due), ..queue },
            _ => QueueRecord { added: earlier(queue.added), ..queue },
        };
        self.write_queue(overlay, queue);
        Ok(())
    }

    fn queue(&self, overlay: &Overlay<'_>, endpoint: EndpointNo) -> Result<QueueRecord> {
        overlay.get(&Key::Queue(endpoint))?.ok_or_else(|| Error::internal(format!("endpoint {} has no queue", endpoint.0)))
    }

    fn write_queue(&self, overlay: &mut Overlay<'_>, mut queue: QueueRecord) {
        let expected = queue.version;
        queue.version += 1;
        overlay.write(Write::Update { record: queue.into(), expected });
    }

    /// Stops all deliveries to the endpoint until it is resumed. Waiting deliveries stay where they are.
    pub(crate) fn stop_queue(&self, overlay: &mut Overlay<'_>, endpoint: EndpointNo) -> Result<()> {
        let queue = self.queue(overlay, endpoint)?;
        self.write_queue(overlay, QueueRecord { due: None, owner: 0, added: None, ..queue });
        Ok(())
    }

    /// Resumes deliveries, starting with those that wait. Earlier failures no longer count, because the owner asked for it; but a
    /// queue in trouble stays in its line until the endpoint responds, or owners could leave it at will.
    pub(crate) fn resume_queue(&self, overlay: &mut Overlay<'_>, endpoint: EndpointNo) -> Result<()> {
        let queue = self.queue(overlay, endpoint)?;
        self.write_queue(overlay, QueueRecord { due: Some(overlay.now), failing_since: None, owner: 0, added: None, ..queue });
        Ok(())
    }

    /// The parcel of a queue's due deliveries, leased until then; if none is due, the time when the next will be.
    fn waiting(&self, overlay: &Overlay<'_>, queue: &QueueRecord, until: Millis) -> Result<(Option<Millis>, Option<Parcel>)> {
        let endpoint: Option<EndpointRecord> = overlay.get(&Key::Endpoint(queue.endpoint))?;
        let Some(endpoint) = endpoint.filter(|endpoint| endpoint.status == EndpointStatus::Enabled) else { return Ok((None, None)) };
        let clock = self.clock_of(overlay, endpoint.owner())?;
        let now = clock.as_ref().map_or(overlay.now, |clock| clock.clock().at(overlay.now));
        let deliveries: Vec<DeliveryRecord> = typed_all(overlay.stored_page(&due_of(queue, now))?)?;
        let parcel = parcel_of(&endpoint, queue, until, deliveries.into_iter());
        if parcel.is_none() {
            let next = self.next_due_of(overlay, endpoint.no)?;
            return Ok((next.map(|at| clock.map_or(at, |clock| clock.due(at, overlay.now))), None));
        }
        Ok((None, parcel))
    }

    fn count_try(
        &self,
        overlay: &mut Overlay<'_>,
        (mut delivery, push): (DeliveryRecord, bool),
        tried: &Tried,
        now: Millis,
        seen: &mut Fared,
    ) {
        delivery.attempts = delivery.attempts.saturating_add(1);
        delivery.last = Some(tried.outcome.clone());
        seen.slow |= tried.outcome.took_ms > SLOW;
        // Too many requests, or unavailable: this concerns every delivery to the endpoint, not just this one.
        if let (Some(429 | 503), Some(wait)) = (tried.outcome.status, tried.retry_after) {
            seen.peace = seen.peace.max(Some(wait.clamp(0, RETRY_AFTER_MAX_MS)));
        }
        let verdict = if push { Verdict::of_push_status } else { Verdict::of_status };
        let verdict = if mutated!(WebhookForgotten) { Verdict::Delivered } else { tried.outcome.status.map_or(Verdict::Failed, verdict) };
        match verdict {
            // Nothing was sent, and nothing will be: that says nothing about the endpoint.
            Verdict::Failed if push && tried.is_too_late => (delivery.status, delivery.due) = (DeliveryStatus::Failed, None),
            Verdict::Delivered => {
                seen.delivered = true;
                (delivery.status, delivery.due) = (DeliveryStatus::Delivered, None);
            }
            verdict @ (Verdict::Gone | Verdict::Failed | Verdict::Refused) => {
                seen.gone |= verdict == Verdict::Gone;
                seen.failed_at = Some(seen.failed_at.map_or(tried.outcome.at, |at| at.min(tried.outcome.at)));
                let mut random = [0u8; 4];
                self.env.random(&mut random);
                let attempts = if verdict == Verdict::Refused { ATTEMPTS_MAX } else { delivery.attempts };
                match next_delay(attempts, u32::from_be_bytes(random), tried.retry_after) {
                    Some(delay) => delivery.due = Some(now + delay),
                    None => (delivery.status, delivery.due) = (DeliveryStatus::Failed, None),
                }
            }
        }
        seen.due = [seen.due, delivery.due].into_iter().flatten().min();
        overlay.write(Write::Replace(delivery.into()));
    }

    /// When the endpoint's next delivery is due, of those that are stored.
    fn next_due_of(&self, overlay: &Overlay<'_>, endpoint: EndpointNo) -> Result<Option<Millis>> {
        let next: Option<DeliveryRecord> = typed(overlay.store.scan(&Scan::deliveries_due(endpoint, Millis::MAX, 1))?.pop())?;
        Ok(next.and_then(|delivery| delivery.due))
    }

    /// When the next delivery is due, in milliseconds since 1970, in the requested lines: endpoints that respond (`healthy`),
    /// endpoints in trouble (`troubled`). `None` if none waits there.
    ///
    /// # Errors
    /// `store_unavailable`.
    pub fn next_delivery_due(&self, healthy: bool, troubled: bool) -> Result<Option<Millis>> {
        let mut next = None;
        for (line, _) in [(false, healthy), (true, troubled)].into_iter().filter(|(_, asked)| *asked) {
            let scan = Scan::queues(line, Millis::MAX, 1);
            let queue: Option<QueueRecord> = typed(self.store.scan(&scan)?.pop())?;
            next = [next, queue.and_then(|queue| queue.due)].into_iter().flatten().min();
        }
        Ok(next)
    }

    /// Has the queues of a client's sandbox looked at when its clock shows that deliveries are due.
    pub(crate) fn follow_queues(&self, overlay: &mut Overlay<'_>, clock: &ClockRecord) -> Result<Queues> {
        let (mut queues, now) = (Queues::default(), clock.clock().at(overlay.now));
        let endpoints: Vec<EndpointRecord> = typed_all(overlay.store.scan(&Scan::endpoints_of(clock.client, Mode::Sandbox))?)?;
        overlay.look_up(endpoints.iter().map(|endpoint| Lookup::Get(Key::Queue(endpoint.no))))?;
        for endpoint in endpoints {
            let Some(queue) = overlay.left::<QueueRecord>(&Key::Queue(endpoint.no))? else { continue };
            let Some(first) = self.next_due_of(overlay, endpoint.no)? else { continue };
            // One that is stopped stays so.
            let Some(known) = queue.due else { continue };
            if first > now {
                queues.next = queues.next.into_iter().chain([first]).min();
            } else {
                queues.busy = true;
            }
            let due = clock.due(first, overlay.now);
            if queue.owner == 0 && known != due && known.max(due) > overlay.now {
                self.write_queue(overlay, QueueRecord { due: Some(due), ..queue });
            }
        }
        Ok(queues)
    }

    /// Makes all queues due now whose lease owner matches.
    pub(crate) fn free_queues(&self, overlay: &mut Overlay<'_>, whose: &dyn Fn(i64) -> bool) -> Result<usize> {
        let mut freed = 0;
        for troubled in [false, true] {
            let scan = Scan::queues(troubled, Millis::MAX, usize::MAX);
            let leased: Vec<QueueRecord> = typed_all(overlay.store.scan(&scan)?)?;
            for queue in leased.into_iter().filter(|queue| queue.owner != 0 && whose(queue.owner)) {
                if !overlay.touched(&Key::Queue(queue.endpoint)) {
                    self.write_queue(overlay, QueueRecord { due: Some(overlay.now), owner: 0, added: None, ..queue });
                    freed += 1;
                }
            }
        }
        Ok(freed)
    }
}

/// What waits in the queues of a client's sandbox.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    /// Whether a delivery is due or under way.
    pub(crate) busy: bool,
    /// When the next one is due, by the client's clock.
    pub(crate) next: Option<Millis>,
}

/// The combined results of one parcel's tries.
#[derive(Default)]
struct Fared {
    delivered: bool,
    slow: bool,
    gone: bool,
    failed_at: Option<Millis>,
    /// How long the receiver asked to be left alone.
    peace: Option<Millis>,
    due: Option<Millis>,
}

/// The due deliveries of a queue, at most one parcel.
fn due_of(queue: &QueueRecord, until: Millis) -> Scan {
    Scan::deliveries_due(queue.endpoint, until, most_of(queue))
}

/// The most deliveries of a parcel.
const fn most_of(queue: &QueueRecord) -> usize {
    if queue.troubled { Parcel::AT_ONCE } else { PARCEL }
}

/// The parcel of these deliveries; `None` if there are none.
fn parcel_of(endpoint: &EndpointRecord, queue: &QueueRecord, until: Millis, due: impl Iterator<Item = DeliveryRecord>) -> Option<Parcel> {
    let deliveries: Vec<DeliveryRecord> = due.take(most_of(queue)).collect();
    let EndpointRecord { no, client, mode, url, push, .. } = endpoint.clone();
    // What is pushed to the users of a client shares that client's part of a line.
    let client = push.as_ref().map_or(client, |push| ClientNo(push.client));
    (!deliveries.is_empty()).then_some(Parcel { endpoint: no, client, mode, troubled: queue.troubled, push, url, until, deliveries })
}
