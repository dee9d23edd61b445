//! Deliveries that an owner asks for: tests, single redeliveries, replays of a period.

use crate::api::{Caller, DeliveryView, Parcel, ReplayView, ResponseView, TestView, Tried};
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::engine::{Answers, Engine, Stays};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{SettlementNo, Ulid};
use crate::store::record::{
    AuditAction, DeliveryCause, DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointStatus, EventRecord, FeedRecord, Key, LastTry,
    Topic,
};
use crate::store::{Lookup, Scan, Write, typed, typed_all};
use crate::time::Millis;
use crate::trace::{Traced, traced_key};
use crate::webhook::Verdict;

use super::delivery::listens;
use super::endpoint::deed_on;
use super::message::envelope;
use crate::engine::event_log::last_position;

/// How many events one replay command reads.
const REPLAY: usize = 500;

/// Creates an example delivery, which the host delivers at once and reports with [`Tested`].
#[derive(Debug, Clone)]
pub struct TestWebhook {
    /// The client that owns the webhook.
    pub caller: Caller,
    /// The webhook's id.
    pub id: Ulid,
    /// The topic of the example.
    pub topic: Topic,
}

impl Command for TestWebhook {
    type Output = Parcel;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Parcel> {
        let (engine, overlay, Self { caller, id, topic }) = (d.engine, &mut *d.overlay, self);
        let (id, topic) = (*id, *topic);
        let endpoint = engine.endpoint(overlay, caller, id)?;
        let now = engine.time_of(overlay, endpoint.owner())?;
        let body = envelope(topic, now, &engine.example(caller, &endpoint, topic, now)?);
        let message = engine.fresh_ulid(overlay.now);
        // Only the host that asks tries it, and only once; if that host crashes, no other does.
        let delivery = DeliveryRecord {
            no: d.writer.delivery_no(overlay.now),
            endpoint: endpoint.no,
            message,
            topic,
            cause: DeliveryCause::Test,
            status: DeliveryStatus::Failed,
            attempts: 0,
            due: None,
            settlement: SettlementNo(0),
            n: 0,
            body,
            last: None,
        };
        overlay.insert(delivery.clone());
        let EndpointRecord { no, client, mode, url, .. } = endpoint;
        let (push, until) = (None, overlay.now);
        let parcel = Parcel { endpoint: no, client, mode, troubled: false, push, url, until, deliveries: vec![delivery] };
        Ok(parcel)
    }

    fn deed(&self, done: Option<&Parcel>) -> Option<Deed> {
        deed_on(AuditAction::TestWebhook, self.id, done.map(|parcel| parcel.endpoint))
    }
}

/// The result of a [`TestWebhook`] delivery. It does not affect the endpoint's queue.
#[derive(Debug, Clone)]
pub struct Tested {
    /// The delivery's number.
    pub delivery: i64,
    /// The result.
    pub tried: Tried,
}

impl Answers for Tested {
    type View = TestView;

    fn view(&self, d: &Decision<'_, '_>, delivery: &DeliveryRecord) -> Result<TestView> {
        let LastTry { status, took_ms, excerpt, error, .. } = self.tried.outcome.clone();
        Ok(TestView {
            delivered: delivery.status == DeliveryStatus::Delivered,
            delivery: d.engine.delivery_view(delivery)?,
            response: ResponseView { status, took_ms, excerpt, error },
        })
    }
}

impl Command for Tested {
    type Output = DeliveryRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<DeliveryRecord> {
        let (overlay, Self { delivery, tried }) = (&mut *d.overlay, self);
        let found: Option<DeliveryRecord> = overlay.get(&Key::Delivery(*delivery))?;
        let mut delivery =
            found.filter(|found| found.cause == DeliveryCause::Test).ok_or_else(|| Error::new(ErrorCode::DeliveryNotFound))?;
        delivery.attempts = 1;
        delivery.status = match tried.outcome.status.map_or(Verdict::Failed, Verdict::of_status) {
            Verdict::Delivered => DeliveryStatus::Delivered,
            Verdict::Gone | Verdict::Failed | Verdict::Refused => DeliveryStatus::Failed,
        };
        delivery.last = Some(tried.outcome.clone());
        overlay.write(Write::Replace(delivery.clone().into()));
        Ok(delivery)
    }
}

/// Creates a delivery again, with the same message.
#[derive(Debug, Clone)]
pub struct Redeliver {
    /// The client that owns the webhook.
    pub caller: Caller,
    /// The webhook's id.
    pub id: Ulid,
    /// The delivery to repeat.
    pub delivery: Ulid,
}

impl Command for Redeliver {
    type Output = DeliveryRecord;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn stays(&self) -> Stays {
        Stays::Always
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<DeliveryRecord> {
        let (engine, overlay, Self { caller, id, delivery }) = (d.engine, &mut *d.overlay, self);
        let (id, delivery) = (*id, *delivery);
        let endpoint = engine.enabled(overlay, caller, id)?;
        let was = engine.delivery_by_id(endpoint.no, delivery)?;
        let again = (was.topic, was.message, was.body.as_str());
        let made = engine.owe(overlay, d.writer, &endpoint, again, (was.settlement, was.n), DeliveryCause::Redelivery)?;
        engine.enqueue(overlay, endpoint.no, overlay.now)?;
        Ok(made)
    }

    fn deed(&self, done: Option<&DeliveryRecord>) -> Option<Deed> {
        deed_on(AuditAction::RedeliverWebhook, self.id, done.map(|delivery| delivery.endpoint))
    }
}

impl Answers for Redeliver {
    type View = DeliveryView;

    fn view(&self, d: &Decision<'_, '_>, made: &DeliveryRecord) -> Result<DeliveryView> {
        d.engine.delivery_view(made)
    }
}

/// Delivers a batch of the events of a period again, each about a settlement with its current state.
#[derive(Debug, Clone)]
pub struct Replay {
    /// The client that owns the webhook.
    pub caller: Caller,
    /// The webhook's id.
    pub id: Ulid,
    /// Start of the period, inclusive.
    pub since: Millis,
    /// End of the period, exclusive.
    pub until: Millis,
    /// Feed position after which to continue; 0 to start.
    pub after: i64,
    /// How many deliveries the batches before it created.
    pub before: usize,
}

/// The output of a [`Replay`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// Number of deliveries created, with those of the batches before it.
    pub queued: usize,
    /// The `after` of the next command; `None` at the end of the period.
    pub next: Option<i64>,
}

impl Command for Replay {
    type Output = Replayed;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn stays(&self) -> Stays {
        Stays::Always
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Replayed> {
        let (engine, overlay) = (d.engine, &mut *d.overlay);
        let &Self { ref caller, id, since, until, after, before } = self;
        let endpoint = engine.enabled(overlay, caller, id)?;
        let backfilled = engine.backfilled(caller.mode)?;
        let after = if after > 0 { after } else { engine.before_time(caller, since, backfilled)? };
        let scan = Scan::feed(caller.client, caller.mode, after, REPLAY);
        let feed: Vec<FeedRecord> = typed_all(overlay.store.scan(&scan)?)?;
        let mut next = feed.last().filter(|_| feed.len() == REPLAY).map(|last| last.position);
        // Nodes' clocks differ a little, so the end is only certain some way past it.
        if feed.last().is_some_and(|last| last.leaf >= backfilled && last.at >= until.saturating_add(60_000)) {
            next = None;
        }
        let events = engine.wanted_events(overlay, &endpoint, feed.into_iter().filter(|entry| (since..until).contains(&entry.at)))?;
        let mut queued = 0;
        for (entry, event) in events {
            let Some(traced) = overlay.get::<Traced>(&traced_key(event.kind, entry.settlement))? else { continue };
            let Some((message, body)) = engine.message_of(overlay, traced.about(), &event)? else { continue };
            let what = (Topic::Event(event.kind), message, body.as_str());
            engine.owe(overlay, d.writer, &endpoint, what, (entry.settlement, entry.n), DeliveryCause::Replay)?;
            queued += 1;
        }
        if queued > 0 {
            engine.enqueue(overlay, endpoint.no, overlay.now)?;
        }
        Ok(Replayed { queued: before + queued, next })
    }

    fn deed(&self, _: Option<&Replayed>) -> Option<Deed> {
        deed_on(AuditAction::ReplayWebhook, self.id, None)
    }
}

impl Answers for Replay {
    type View = ReplayView;

    fn view(&self, _: &Decision<'_, '_>, replayed: &Replayed) -> Result<ReplayView> {
        Ok(ReplayView { queued: replayed.queued, next_after: replayed.next })
    }
}

impl Engine {
    /// The events of these entries that the endpoint listens to. Prefetches what their deliveries need, so that a few round trips
    /// suffice for any number of events.
    fn wanted_events(
        &self,
        overlay: &mut Overlay<'_>,
        endpoint: &EndpointRecord,
        feed: impl Iterator<Item = FeedRecord>,
    ) -> Result<Vec<(FeedRecord, EventRecord)>> {
        let feed: Vec<FeedRecord> = feed.collect();
        let key = |entry: &FeedRecord| Key::Event((entry.settlement, entry.n));
        overlay.look_up(feed.iter().map(|entry| Lookup::Get(key(entry))))?;
        let mut wanted = Vec::new();
        for entry in feed {
            let event: Option<EventRecord> = overlay.get(&key(&entry))?;
            if let Some(event) = event.filter(|event| listens(endpoint, Topic::Event(event.kind))) {
                wanted.push((entry, event));
            }
        }
        let about = wanted.iter().flat_map(|(entry, event)| {
            let reversal = (event.child != 0).then_some(Key::Reversal((entry.settlement, event.child)));
            [traced_key(event.kind, entry.settlement)].into_iter().chain(reversal)
        });
        overlay.look_up(about.chain([Key::Client(endpoint.client)]).map(Lookup::Get))?;
        Ok(wanted)
    }

    fn enabled(&self, overlay: &Overlay<'_>, caller: &Caller, id: Ulid) -> Result<EndpointRecord> {
        let endpoint = self.endpoint(overlay, caller, id)?;
        if endpoint.status == EndpointStatus::Enabled {
            return Ok(endpoint);
        }
        Err(Error::with(ErrorCode::InvalidState, format!("the webhook is {}; enable it first", endpoint.status.as_str())))
    }

    /// A feed position such that all events from `since` on are after it. The feed is nearly in order of time, because nodes'
    /// clocks differ a little, except for the backfilled part, before leaf `backfilled`.
    fn before_time(&self, caller: &Caller, since: Millis, backfilled: i64) -> Result<i64> {
        let end = last_position(&*self.store, caller.client, caller.mode)?;
        let filled_in = self.first_not(caller, (0, end), |entry| entry.leaf < backfilled)?;
        let low = self.first_not(caller, (filled_in, end), |entry| entry.at < since.saturating_sub(60_000))?;
        Ok(if low == filled_in { 0 } else { low })
    }

    /// How many entries of the feed precede the first that is not `before`, given that the entries from the
    /// first position on are partitioned by it.
    fn first_not(&self, caller: &Caller, (mut low, mut high): (i64, i64), before: impl Fn(&FeedRecord) -> bool) -> Result<i64> {
        while low < high {
            let middle = low + (high - low) / 2;
            let entry: Option<FeedRecord> = typed(self.store.get(&Key::Feed((caller.client, caller.mode, middle + 1)))?)?;
            if entry.is_some_and(|entry| before(&entry)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}
