//! Webhooks and their deliveries as their owners see them.

use crate::api::{AttemptView, Caller, DeliveryView, Page, Target, WebhookView};
use crate::engine::Engine;
use crate::engine::settlement::{cursor_of, id_of};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{EndpointNo, SettlementNo, Ulid};
use crate::store::record::{
    DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointStatus, Key, QueueRecord, SettlementRecord, Topic, TopicSet,
};
use crate::store::{Scan, Unique, typed, typed_all};
use crate::time::{Millis, rfc3339};
use crate::webhook::WebhookSecret;

/// How many deliveries a page about one settlement looks at, and how many at once.
const EXAMINED: usize = 4_000;
const EXAMINED_AT_ONCE: usize = 500;

/// Which deliveries of a webhook a page has.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    /// Only those with this status.
    pub status: Option<DeliveryStatus>,
    /// Only those that carry events of this settlement.
    pub settlement: Option<Target>,
}

/// With this many deliveries waiting for a webhook, none are replayed to it.
pub const MOST_WAITING: usize = 5_000;

impl Engine {
    /// The caller's webhooks, oldest first.
    pub fn webhooks(&self, caller: &Caller) -> Result<Vec<WebhookView>> {
        let endpoints: Vec<EndpointRecord> = typed_all(self.store.scan(&Scan::endpoints_of(caller.client, caller.mode))?)?;
        endpoints.iter().map(|endpoint| self.webhook_view(endpoint)).collect()
    }

    /// One of the caller's webhooks.
    ///
    /// # Errors
    /// `webhook_not_found`, also for another client's webhook.
    pub fn webhook(&self, caller: &Caller, id: Ulid) -> Result<WebhookView> {
        self.webhook_view(&self.webhook_record(caller, id)?)
    }

    fn webhook_record(&self, caller: &Caller, id: Ulid) -> Result<EndpointRecord> {
        visible(caller, typed(self.store.find(&Unique::EndpointId(id))?)?)
    }

    pub(super) fn webhook_view(&self, endpoint: &EndpointRecord) -> Result<WebhookView> {
        let queue: Option<QueueRecord> = typed(self.store.get(&Key::Queue(endpoint.no))?)?;
        Ok(shown(endpoint, queue.as_ref(), None))
    }

    /// Refuses a replay while many deliveries wait: replays must not fill the store.
    ///
    /// # Errors
    /// `webhook_not_found`; `request_in_progress` while [`MOST_WAITING`] deliveries wait.
    pub fn room_for_replay(&self, caller: &Caller, id: Ulid) -> Result<()> {
        let endpoint = self.webhook_record(caller, id)?.no;
        let waiting = self.store.scan(&Scan::deliveries_due(endpoint, Millis::MAX, MOST_WAITING))?.len();
        if waiting < MOST_WAITING {
            return Ok(());
        }
        Err(Error::with(ErrorCode::RequestInProgress, format!("{waiting} deliveries already wait for this webhook; let them arrive first")))
    }

    /// A webhook's deliveries with numbers below `before`, newest first.
    ///
    /// # Errors
    /// `webhook_not_found`.
    pub fn deliveries(
        &self,
        caller: &Caller,
        id: Ulid,
        status: Option<DeliveryStatus>,
        before: Option<i64>,
        limit: usize,
    ) -> Result<Vec<DeliveryRecord>> {
        let endpoint = self.webhook_record(caller, id)?.no;
        let before = before.unwrap_or(i64::MAX);
        Ok(typed_all(self.store.scan(&Scan::deliveries_of(endpoint, before, status, limit))?)?)
    }

    /// A page of a webhook's deliveries, newest first; `cursor` is from the previous page. A page about one settlement may have fewer than
    /// `limit`, or none, and still a cursor: it looks at 4,000 deliveries at most.
    ///
    /// # Errors
    /// `webhook_not_found`, `invalid_cursor`, `settlement_not_found`.
    pub fn delivery_page(
        &self,
        caller: &Caller,
        id: Ulid,
        filter: &DeliveryFilter,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Page<DeliveryView>> {
        let before = cursor.map(|cursor| self.delivery(caller, id, id_of(cursor)?)).transpose().map_err(|error| match error.code {
            ErrorCode::DeliveryNotFound => Error::new(ErrorCode::InvalidCursor),
            _ => error,
        })?;
        let before = before.map(|delivery| delivery.no);
        let (records, next) = match &filter.settlement {
            Some(target) => self.deliveries_about(caller, id, &self.settlement(caller, target)?, filter.status, before, limit)?,
            None => {
                let mut records = self.deliveries(caller, id, filter.status, before, limit + 1)?;
                let has_more = records.len() > limit;
                records.truncate(limit);
                let next = records.last().filter(|_| has_more).map(|last| self.delivery_ulid(last));
                (records, next)
            }
        };
        let data: Result<Vec<DeliveryView>> = records.iter().map(|record| self.delivery_view(record)).collect();
        Ok(Page { data: data?, has_more: next.is_some(), next_cursor: next.map(cursor_of) })
    }

    /// Deliveries that carry events of a settlement, and after which one the next page begins.
    fn deliveries_about(
        &self,
        caller: &Caller,
        id: Ulid,
        settlement: &SettlementRecord,
        status: Option<DeliveryStatus>,
        mut before: Option<i64>,
        limit: usize,
    ) -> Result<(Vec<DeliveryRecord>, Option<Ulid>)> {
        let (mut found, mut next) = (Vec::new(), None);
        // No delivery is older than what it is about; the clock of a sandbox says nothing of that.
        let oldest = if self.has_own_clock(settlement.owner()) { 0 } else { settlement.created_at << 20 };
        for _ in 0..EXAMINED / EXAMINED_AT_ONCE {
            let page = self.deliveries(caller, id, status, before, EXAMINED_AT_ONCE)?;
            let is_last = page.len() < EXAMINED_AT_ONCE || page.last().is_some_and(|last| last.no < oldest);
            for record in page {
                before = Some(record.no);
                next = Some(self.delivery_ulid(&record));
                if record.settlement == settlement.no {
                    found.push(record);
                }
                if found.len() == limit {
                    return Ok((found, next));
                }
            }
            if is_last {
                return Ok((found, None));
            }
        }
        Ok((found, next))
    }

    /// One of a webhook's deliveries.
    ///
    /// # Errors
    /// `webhook_not_found`, `delivery_not_found`.
    pub fn delivery(&self, caller: &Caller, id: Ulid, delivery: Ulid) -> Result<DeliveryRecord> {
        self.delivery_by_id(self.webhook_record(caller, id)?.no, delivery)
    }

    /// A delivery as its owner sees it.
    pub fn delivery_view(&self, delivery: &DeliveryRecord) -> Result<DeliveryView> {
        Ok(DeliveryView {
            id: format!("dlv_{}", self.delivery_ulid(delivery)),
            message_id: format!("evt_{}", delivery.message),
            topic: delivery.topic.as_str().into(),
            cause: delivery.cause,
            status: delivery.status,
            attempts: delivery.attempts,
            next_attempt_at: delivery.due.map(rfc3339),
            last_attempt: delivery.last.as_ref().map(|last| AttemptView {
                at: rfc3339(last.at),
                took_ms: last.took_ms,
                status: last.status,
                error: last.error.clone(),
                response_excerpt: last.excerpt.clone(),
            }),
            created_at: rfc3339(delivery.no >> 20),
            payload: serde_json::value::RawValue::from_string(delivery.body.clone()).map_err(Error::internal)?,
        })
    }

    /// The public ULID of a delivery: derived, so it is not stored and does not reveal how many there are.
    pub(crate) fn delivery_ulid(&self, delivery: &DeliveryRecord) -> Ulid {
        self.id_key.child("dlv", SettlementNo(delivery.no), delivery.endpoint.0, delivery.no >> 20)
    }

    /// An endpoint's delivery by its public id.
    pub(crate) fn delivery_by_id(&self, endpoint: EndpointNo, id: Ulid) -> Result<DeliveryRecord> {
        const PAGE: usize = 100;
        let missing = || Error::new(ErrorCode::DeliveryNotFound);
        // The id contains the millisecond of creation; all deliveries from that millisecond are searched. No delivery has a time so
        // late that its number would overflow.
        let mut before = id.at_ms().checked_add(1).and_then(|next| next.checked_mul(1 << 20)).ok_or_else(missing)?;
        loop {
            let scan = Scan::deliveries_of(endpoint, before, None, PAGE);
            let page: Vec<DeliveryRecord> = typed_all(self.store.scan(&scan)?)?;
            // The page after the oldest delivery is empty.
            let last = page.last().map(|last| last.no).ok_or_else(missing)?;
            if let Some(found) = page.into_iter().find(|delivery| self.delivery_ulid(delivery) == id) {
                return Ok(found);
            }
            if last >> 20 != id.at_ms() {
                return Err(missing());
            }
            before = last;
        }
    }
}

/// A webhook as its owner sees it, with `secret` if it is new.
pub(super) fn shown(endpoint: &EndpointRecord, queue: Option<&QueueRecord>, secret: Option<&WebhookSecret>) -> WebhookView {
    let topics = endpoint.topics.unwrap_or_else(|| TopicSet::of(Topic::all()));
    WebhookView {
        id: format!("whk_{}", endpoint.id),
        url: endpoint.url.clone(),
        events: topics.iter().map(|topic| topic.as_str().into()).collect(),
        all_events: endpoint.topics.is_none(),
        description: endpoint.description.clone(),
        status: endpoint.status,
        failing_since: queue.and_then(|queue| queue.failing_since).map(rfc3339),
        created_at: rfc3339(endpoint.created_at),
        updated_at: rfc3339(endpoint.updated_at),
        secret: secret.map(|secret| secret.to_text().to_string()),
        secret_shown: false,
    }
}

pub(crate) fn visible(caller: &Caller, found: Option<EndpointRecord>) -> Result<EndpointRecord> {
    let mine = |endpoint: &EndpointRecord| {
        (endpoint.client, endpoint.mode) == (caller.client, caller.mode) && endpoint.status != EndpointStatus::Removed
    };
    found.filter(mine).ok_or_else(|| Error::new(ErrorCode::WebhookNotFound))
}
