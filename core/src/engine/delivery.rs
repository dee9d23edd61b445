//! Deliveries: made when their event is numbered, leased an endpoint at a time, reported back.
//!
//! Each endpoint has a queue of its own, and one host at a time is at it. So a receiver that is slow or gone delays
//! nobody but itself; and queues whose last delivery failed or was slow wait in a second line, so that many of them cannot
//! take the room of those that answer at once.

use std::collections::{HashMap, HashSet};

use crate::api::{Outcome, Parcel, Share, Tried};
use crate::error::{Error, Result};
use crate::ids::{ClientNo, EndpointNo, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::{
    DeliveryCause, DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointSecretRecord, EndpointStatus, Key, LoggedChange, QueueRecord,
    RecordKind, Topic,
};
use crate::store::{Lookup, Scan, Write, typed, typed_all};
use crate::time::Millis;
use crate::webhook::{RETRY_AFTER_MAX_MS, Verdict, next_delay};

use super::message::envelope;
use super::overlay::Overlay;
use super::signed::SWEEP;
use super::webhook::MOST_WEBHOOKS;
use super::{Engine, Writer};

/// How many deliveries of one endpoint are under way at the same time.
const AT_ONCE: usize = 16;
/// About so many bytes of bodies are written in one commit: the writer is everybody's.
const TOLD_AT_ONCE: usize = 4 << 20;
/// A try that took longer, in milliseconds, is slow, also where it was answered with a 2xx: its receiver goes among those
/// in trouble. So slow receivers take room only from other slow ones, and cannot be many enough to delay the rest.
const SLOW: u32 = 2_000;
/// How long a queue waits, in milliseconds, whose owner has its part of the line under way.
const PUT_OFF: Millis = 1_000;
/// An endpoint that has answered nothing but failures for so long is disabled.
const FAILING_MOST: Millis = 5 * 86_400_000;
/// How long a delivery is kept for its owner to look at.
const KEPT: Millis = 30 * 86_400_000;

impl Engine {
    /// Writes what the endpoints of these events' owners are owed; says how many of the changes that are. It stops where
    /// the commit would keep everybody else waiting.
    pub(super) fn fan_out(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, changes: &[LoggedChange]) -> Result<usize> {
        let listening = self.listening(overlay, changes)?;
        let mut owed: Vec<EndpointNo> = Vec::new();
        let (mut bytes, mut told) = (0, 0);
        for change in changes {
            if bytes >= TOLD_AT_ONCE {
                break;
            }
            told += 1;
            let Some(endpoints) = listening.get(&(change.client, change.mode)) else { continue };
            for (index, event) in change.events.iter().enumerate() {
                let topic = Topic::Settlement(event.kind);
                let mut message = None;
                for endpoint in endpoints.iter().filter(|endpoint| listens(endpoint, topic)) {
                    if message.is_none() {
                        message = unless_damaged(self.message(overlay, change, index, event))?;
                    }
                    // What was damaged by hand since is told to nobody; it must not hold up the rest.
                    let Some((id, body)) = &message else { break };
                    let about = (change.settlement, change.sequence(index));
                    self.owe(overlay, writer, endpoint.no, (topic, *id, body), about, DeliveryCause::Event);
                    bytes += body.len();
                    if !owed.contains(&endpoint.no) {
                        owed.push(endpoint.no);
                    }
                }
            }
        }
        owed.into_iter().try_for_each(|endpoint| self.enqueue(overlay, endpoint, overlay.now))?;
        Ok(told)
    }

    /// Of each owner who is told of any of these changes, the endpoints; with all that telling them will read looked up.
    fn listening(&self, overlay: &mut Overlay<'_>, changes: &[LoggedChange]) -> Result<HashMap<(ClientNo, Mode), Vec<EndpointRecord>>> {
        let owners: HashSet<(ClientNo, Mode)> = changes.iter().map(|change| (change.client, change.mode)).collect();
        overlay.look_up(owners.iter().map(|(client, mode)| Lookup::Scan(Scan::endpoints_of(*client, *mode))))?;
        let mut listening = HashMap::new();
        for owner in owners {
            let enabled = self.enabled_endpoints(overlay, owner.0, owner.1);
            let enabled = unless_damaged(enabled.map(Some))?.unwrap_or_default();
            if !enabled.is_empty() {
                listening.insert(owner, enabled);
            }
        }
        let told = changes.iter().filter(|change| listening.contains_key(&(change.client, change.mode)));
        overlay.look_up(told.flat_map(|change| {
            let events = (0..change.events.len()).map(|index| Key::Event((change.settlement, change.sequence(index))));
            events.chain([Key::Settlement(change.settlement), Key::Client(change.client)]).map(Lookup::Get)
        }))?;
        Ok(listening)
    }

    /// The endpoints that are told of events, as this group left them. One that lost its queue is not.
    fn enabled_endpoints(&self, overlay: &Overlay<'_>, client: ClientNo, mode: Mode) -> Result<Vec<EndpointRecord>> {
        let stored: Vec<EndpointRecord> = typed_all(overlay.stored_page(&Scan::endpoints_of(client, mode))?)?;
        let now: Result<Vec<Option<EndpointRecord>>> = stored.iter().map(|endpoint| overlay.get(&Key::Endpoint(endpoint.no))).collect();
        let mut enabled = Vec::new();
        for endpoint in now?.into_iter().flatten().filter(|endpoint| endpoint.status == EndpointStatus::Enabled) {
            if overlay.get::<QueueRecord>(&Key::Queue(endpoint.no))?.is_some() {
                enabled.push(endpoint);
            }
        }
        Ok(enabled)
    }

    /// Adds a delivery that is due now.
    pub(super) fn owe(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        endpoint: EndpointNo,
        (topic, message, body): (Topic, Ulid, &str),
        (settlement, n): (SettlementNo, u32),
        cause: DeliveryCause,
    ) -> DeliveryRecord {
        let delivery = DeliveryRecord {
            no: writer.delivery_no(overlay.now),
            endpoint,
            message,
            topic,
            cause,
            status: DeliveryStatus::Pending,
            attempts: 0,
            due: Some(overlay.now),
            settlement,
            n,
            body: body.to_owned(),
            last: None,
        };
        overlay.insert(delivery.clone());
        delivery
    }

    /// Lets an endpoint's queue be looked at by `due`.
    ///
    /// The queue is written even where it says so already: a node that finds nothing waiting at this moment must not
    /// put the queue to rest without having seen what is added here, nor must one that stops it.
    pub(super) fn enqueue(&self, overlay: &mut Overlay<'_>, endpoint: EndpointNo, due: Millis) -> Result<()> {
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

    /// Nothing is delivered to the endpoint any more, until it is resumed. What waits stays where it is.
    pub(super) fn stop_queue(&self, overlay: &mut Overlay<'_>, endpoint: EndpointNo) -> Result<()> {
        let queue = self.queue(overlay, endpoint)?;
        self.write_queue(overlay, QueueRecord { due: None, owner: 0, added: None, ..queue });
        Ok(())
    }

    /// Delivers again, what waits first. What failed before is not held against the endpoint any more, since its owner says
    /// so; but among those in trouble it stays until it answers, or it could leave them at its owner's will.
    pub(super) fn resume_queue(&self, overlay: &mut Overlay<'_>, endpoint: EndpointNo) -> Result<()> {
        let queue = self.queue(overlay, endpoint)?;
        self.write_queue(overlay, QueueRecord { due: Some(overlay.now), failing_since: None, owner: 0, added: None, ..queue });
        Ok(())
    }

    /// Takes queues that are due, so many of each line, with what is due in each. One that cannot be read because of a
    /// fault of its own is put off, so that it never holds up the others; for a moment also one whose owner has its part of
    /// the line. An owner comes by more than its webhooks by making them anew, or by enabling them again, while what was sent
    /// hangs.
    pub(super) fn lease_queues(
        &self,
        overlay: &mut Overlay<'_>,
        outrun: bool,
        (healthy, troubled): (usize, usize),
        under_way: &[(Share, usize)],
    ) -> Result<Outcome> {
        let mut parcels: Vec<Parcel> = Vec::new();
        let mut under_way: HashMap<Share, usize> = under_way.iter().copied().collect();
        for (line, limit) in [(false, healthy), (true, troubled)] {
            if limit == 0 || outrun {
                continue;
            }
            let due: Vec<QueueRecord> = typed_all(overlay.store.scan(&Scan::queues(line, overlay.now, limit))?)?;
            let endpoints = due.iter().map(|queue| Lookup::Get(Key::Endpoint(queue.endpoint)));
            let now = overlay.now;
            let deliveries = due.iter().map(|queue| Lookup::Scan(due_of(queue.endpoint, now)));
            overlay.look_up(endpoints.chain(deliveries))?;
            for queue in due {
                if overlay.touched(&Key::Queue(queue.endpoint)) {
                    continue;
                }
                let until = overlay.now + self.config.lease_ms;
                let Some((due, parcel)) = unless_damaged(self.waiting(overlay, &queue).map(Some))? else {
                    self.write_queue(overlay, QueueRecord { due: Some(until), owner: 0, added: None, ..queue });
                    continue;
                };
                if let Some(parcel) = &parcel {
                    let share = under_way.entry(parcel.share()).or_default();
                    if *share >= MOST_WEBHOOKS {
                        self.write_queue(overlay, QueueRecord { due: Some(overlay.now + PUT_OFF), owner: 0, added: None, ..queue });
                        continue;
                    }
                    *share += 1;
                }
                let (due, owner) = if parcel.is_some() { (Some(until), self.owner) } else { (due, 0) };
                self.write_queue(overlay, QueueRecord { due, owner, added: None, ..queue });
                parcels.extend(parcel);
            }
        }
        Ok(Outcome::Parcels(parcels))
    }

    /// What waits behind a queue: what is due, or else when something will be.
    fn waiting(&self, overlay: &Overlay<'_>, queue: &QueueRecord) -> Result<(Option<Millis>, Option<Parcel>)> {
        let endpoint: Option<EndpointRecord> = overlay.get(&Key::Endpoint(queue.endpoint))?;
        let Some(endpoint) = endpoint.filter(|endpoint| endpoint.status == EndpointStatus::Enabled) else { return Ok((None, None)) };
        let deliveries: Vec<DeliveryRecord> = typed_all(overlay.stored_page(&due_of(endpoint.no, overlay.now))?)?;
        if deliveries.is_empty() {
            return Ok((self.next_due_of(overlay, endpoint.no, &HashSet::new())?, None));
        }
        let EndpointRecord { no, client, mode, url, .. } = endpoint;
        let parcel = Parcel { endpoint: no, client, mode, troubled: queue.troubled, url, deliveries };
        Ok((None, Some(parcel)))
    }

    /// Takes in how the tries of a parcel went. A try counts, whoever holds the lease by now.
    pub(super) fn delivered(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        endpoint: EndpointNo,
        tries: &[Tried],
    ) -> Result<Outcome> {
        let mut seen = Fared::default();
        for tried in tries {
            // It may have been swept away meanwhile, or tried by another host too; or this report came before, and only
            // its answer was lost.
            let delivery: Option<DeliveryRecord> = overlay.get(&Key::Delivery(tried.delivery))?;
            let counts = |d: &DeliveryRecord| {
                d.endpoint == endpoint && d.status == DeliveryStatus::Pending && d.last.as_ref() != Some(&tried.outcome)
            };
            if let Some(delivery) = delivery.filter(counts) {
                self.count_try(overlay, delivery, tried, &mut seen);
            }
        }
        let endpoint: Option<EndpointRecord> = overlay.get(&Key::Endpoint(endpoint))?;
        let Some(endpoint) = endpoint.filter(|endpoint| endpoint.status != EndpointStatus::Removed) else { return Ok(Outcome::Done(0)) };
        let queue = self.queue(overlay, endpoint.no)?;
        let mine = queue.owner == self.owner;
        let mut next = QueueRecord { ..queue.clone() };
        if seen.delivered {
            (next.troubled, next.failing_since) = (seen.slow, None);
        } else if let Some(at) = seen.failed_at {
            (next.troubled, next.failing_since) = (true, Some(queue.failing_since.unwrap_or(at)));
        }
        if mine && let Some(peace) = seen.peace {
            // The lease is kept that long, without anything under way: so what is added meanwhile waits too.
            (next.due, next.added) = (Some(overlay.now + peace), None);
        } else if mine {
            let stored = self.next_due_of(overlay, endpoint.no, &seen.touched)?;
            // Never earlier than now: a queue that did not get through all it has goes behind those that wait already.
            next.due = [stored, seen.due, queue.added].into_iter().flatten().min().map(|due| due.max(overlay.now));
            (next.owner, next.added) = (0, None);
        }
        let dead = next.failing_since.is_some_and(|since| overlay.now - since >= FAILING_MOST);
        let disable = if seen.gone { Some(EndpointStatus::Gone) } else { dead.then_some(EndpointStatus::Failing) };
        let disable = disable.filter(|_| endpoint.status == EndpointStatus::Enabled);
        if disable.is_some() || endpoint.status != EndpointStatus::Enabled {
            (next.due, next.owner, next.added) = (None, 0, None);
        }
        if next != queue {
            self.write_queue(overlay, next);
        }
        if let Some(status) = disable {
            let endpoint = self.write_endpoint(overlay, EndpointRecord { status, ..endpoint });
            self.tell_of_disabled(overlay, writer, &endpoint)?;
        }
        Ok(Outcome::Done(tries.len()))
    }

    fn count_try(&self, overlay: &mut Overlay<'_>, mut delivery: DeliveryRecord, tried: &Tried, seen: &mut Fared) {
        delivery.attempts = delivery.attempts.saturating_add(1);
        delivery.last = Some(tried.outcome.clone());
        seen.slow |= tried.outcome.took_ms > SLOW;
        // Too many requests, or not at work: that concerns whatever would be sent, not this delivery alone.
        if let (Some(429 | 503), Some(wait)) = (tried.outcome.status, tried.retry_after) {
            seen.peace = seen.peace.max(Some(wait.clamp(0, RETRY_AFTER_MAX_MS)));
        }
        match tried.outcome.status.map_or(Verdict::Failed, Verdict::of_status) {
            Verdict::Delivered => {
                seen.delivered = true;
                (delivery.status, delivery.due) = (DeliveryStatus::Delivered, None);
            }
            verdict @ (Verdict::Gone | Verdict::Failed) => {
                seen.gone |= verdict == Verdict::Gone;
                seen.failed_at = Some(seen.failed_at.map_or(tried.outcome.at, |at| at.min(tried.outcome.at)));
                let mut random = [0u8; 4];
                self.env.random(&mut random);
                match next_delay(delivery.attempts, u32::from_be_bytes(random), tried.retry_after) {
                    Some(delay) => delivery.due = Some(overlay.now + delay),
                    None => (delivery.status, delivery.due) = (DeliveryStatus::Failed, None),
                }
            }
        }
        seen.due = [seen.due, delivery.due].into_iter().flatten().min();
        seen.touched.insert(delivery.no);
        overlay.write(Write::Replace(delivery.into()));
    }

    /// When the endpoint's next delivery is due, of those that are stored and not in `touched`.
    fn next_due_of(&self, overlay: &Overlay<'_>, endpoint: EndpointNo, touched: &HashSet<i64>) -> Result<Option<Millis>> {
        let scan = Scan::deliveries_due(endpoint, Millis::MAX, touched.len() + 1);
        let due: Vec<DeliveryRecord> = typed_all(overlay.store.scan(&scan)?)?;
        Ok(due.into_iter().find(|delivery| !touched.contains(&delivery.no)).and_then(|delivery| delivery.due))
    }

    /// Tells a client's other endpoints that one of them was disabled.
    fn tell_of_disabled(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, disabled: &EndpointRecord) -> Result<()> {
        let mut view = self.webhook_view(disabled, None)?;
        // Whom the others tell is not to learn what stands behind the address.
        view.url.truncate(view.url.find('?').unwrap_or(view.url.len()));
        let id = self.fresh_ulid(overlay.now);
        let data = serde_json::to_string(&view).map_err(Error::internal)?;
        let body = envelope(Topic::WebhookDisabled, overlay.now, &data);
        let others = self.enabled_endpoints(overlay, disabled.client, disabled.mode)?;
        for other in others.iter().filter(|other| other.no != disabled.no && listens(other, Topic::WebhookDisabled)) {
            let about = (SettlementNo(0), 0);
            self.owe(overlay, writer, other.no, (Topic::WebhookDisabled, id, &body), about, DeliveryCause::Event);
            self.enqueue(overlay, other.no, overlay.now)?;
        }
        Ok(())
    }

    /// Deliveries past their time, and what is left of removed endpoints. Each once. `after` says where to go on among the
    /// endpoints: of many not all are looked at at once, while everybody waits.
    pub(super) fn stale_webhooks(&self, overlay: &Overlay<'_>, after: &mut EndpointNo) -> Result<Vec<Key>> {
        let before = (overlay.now - KEPT) << 20;
        let old: Vec<DeliveryRecord> = typed_all(overlay.store.scan(&Scan::deliveries_before(before, SWEEP))?)?;
        let mut gone: Vec<Key> = old.into_iter().map(|delivery| Key::Delivery(delivery.no)).collect();
        let mut seen: HashSet<Key> = gone.iter().cloned().collect();
        // The highest number is kept, so that no other webhook is ever given it.
        let last: Option<EndpointRecord> = typed(overlay.store.scan(&Scan::last(RecordKind::Endpoint))?.pop())?;
        let Some(highest) = last.map(|last| last.no) else { return Ok(gone) };
        if *after >= highest {
            *after = EndpointNo(0);
        }
        let page: Vec<EndpointRecord> = typed_all(overlay.store.scan(&Scan::after(&Key::Endpoint(*after), SWEEP))?)?;
        for endpoint in page {
            *after = endpoint.no;
            if endpoint.status == EndpointStatus::Removed {
                let remains = self.remains(overlay, endpoint.no)?.into_iter().filter(|key| *key != Key::Endpoint(highest));
                gone.extend(remains.filter(|key| seen.insert(key.clone())));
            }
            if gone.len() >= SWEEP {
                break;
            }
        }
        Ok(gone)
    }

    /// What is left of a removed endpoint: deliveries first, itself last.
    fn remains(&self, overlay: &Overlay<'_>, endpoint: EndpointNo) -> Result<Vec<Key>> {
        let scan = Scan::deliveries_of(endpoint, i64::MAX, None, SWEEP);
        let deliveries: Vec<DeliveryRecord> = typed_all(overlay.store.scan(&scan)?)?;
        let mut keys: Vec<Key> = deliveries.iter().map(|delivery| Key::Delivery(delivery.no)).collect();
        if keys.len() < SWEEP {
            let secrets: Vec<EndpointSecretRecord> = typed_all(overlay.store.scan(&Scan::endpoint_secrets(endpoint))?)?;
            keys.extend(secrets.iter().map(|secret| Key::EndpointSecret((endpoint, secret.n))));
            keys.extend(overlay.store.get(&Key::Queue(endpoint))?.map(|queue| queue.key()));
            keys.push(Key::Endpoint(endpoint));
        }
        Ok(keys)
    }

    /// When the next delivery is due, in milliseconds since 1970, of any endpoint in the lines asked for: of those that
    /// answer (`healthy`), of those in trouble (`troubled`). `None` when none waits there.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn next_delivery_due(&self, healthy: bool, troubled: bool) -> Result<Option<Millis>> {
        let mut next = None;
        for (line, _) in [(false, healthy), (true, troubled)].into_iter().filter(|(_, asked)| *asked) {
            let scan = Scan::queues(line, Millis::MAX, 1);
            let queue: Option<QueueRecord> = typed(self.store.scan(&scan)?.pop())?;
            next = [next, queue.and_then(|queue| queue.due)].into_iter().flatten().min();
        }
        Ok(next)
    }

    /// Makes every queue due now that is leased by one of those.
    pub(super) fn free_queues(&self, overlay: &mut Overlay<'_>, whose: &dyn Fn(i64) -> bool) -> Result<usize> {
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

/// What the tries of one parcel came to.
#[derive(Default)]
struct Fared {
    delivered: bool,
    slow: bool,
    gone: bool,
    failed_at: Option<Millis>,
    /// How long the receiver wants to be left alone.
    peace: Option<Millis>,
    due: Option<Millis>,
    touched: HashSet<i64>,
}

/// What of an endpoint's deliveries is due, as much as goes into a parcel.
fn due_of(endpoint: EndpointNo, until: Millis) -> Scan {
    Scan::deliveries_due(endpoint, until, AT_ONCE)
}

/// What was damaged by hand since is as if it were not there: it must not hold up everybody else. That the store
/// cannot be read now, or refuses to be, is another thing.
fn unless_damaged<T>(found: Result<Option<T>>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_damage() => Ok(None),
        found => found,
    }
}

pub(super) fn listens(endpoint: &EndpointRecord, topic: Topic) -> bool {
    endpoint.topics.is_none_or(|topics| topics.has(topic))
}
