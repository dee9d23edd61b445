//! Webhooks as their owners change and see them. How deliveries are made is in `delivery.rs`.

use zeroize::Zeroizing;

use crate::api::{AttemptView, Caller, DeliveryView, NewWebhook, Outcome, Page, WebhookChange, WebhookDone, WebhookPatch, WebhookView};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{EndpointNo, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::{
    ClientRecord, DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointSecretRecord, EndpointStatus, Key, MetaRecord, QueueRecord,
    Record, Topic, TopicSet,
};
use crate::store::{Scan, Unique, Write, typed, typed_all};
use crate::time::{Millis, rfc3339};
use crate::webhook::WebhookSecret;

use super::list::{cursor_of, id_of};
use super::overlay::Overlay;
use super::secrets::webhook_place;
use super::{Engine, Writer};

/// How many webhooks a client has in each mode, at most.
pub const MOST_WEBHOOKS: usize = 10;
/// With so many deliveries waiting for a webhook, none are replayed to it.
pub const MOST_WAITING: usize = 5_000;
/// How many secrets of one endpoint sign at the same time, at most.
const MOST_SECRETS: usize = 5;

/// Where an endpoint's secret is kept, as the additional data under which it is sealed.
fn place(endpoint: EndpointNo, n: u32) -> String {
    format!("endpoint/{}/secret/{n}", endpoint.0)
}

impl Engine {
    pub(super) fn change_webhook(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        change: &WebhookChange,
    ) -> Result<Outcome> {
        let done = match change {
            WebhookChange::Create(new) => self.create_webhook(overlay, writer, caller, new)?,
            WebhookChange::Update { id, patch } => self.update_webhook(overlay, caller, *id, patch)?,
            WebhookChange::Delete { id } => self.delete_webhook(overlay, caller, *id)?,
            WebhookChange::Rotate { id, grace_ms } => self.rotate_webhook(overlay, caller, *id, *grace_ms)?,
            WebhookChange::Enable { id } => {
                self.update_webhook(overlay, caller, *id, &WebhookPatch { enabled: Some(true), ..WebhookPatch::default() })?
            }
            WebhookChange::Test { id, topic } => self.test_webhook(overlay, writer, caller, *id, *topic)?,
            WebhookChange::Redeliver { id, delivery } => self.redeliver(overlay, writer, caller, *id, *delivery)?,
            WebhookChange::Replay { id, since, until, after } => self.replay(overlay, writer, caller, *id, (*since, *until), *after)?,
        };
        Ok(Outcome::Webhook(done))
    }

    fn create_webhook(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, caller: &Caller, new: &NewWebhook) -> Result<WebhookDone> {
        self.check_url(caller.mode, &new.url)?;
        let there = self.endpoints_of(overlay, caller)?.len();
        if there >= MOST_WEBHOOKS {
            return Err(Error::with(ErrorCode::TooManyWebhooks, format!("there are {there} webhooks already, the most there can be")));
        }
        let no = EndpointNo(writer.next_endpoint);
        writer.next_endpoint += 1;
        let endpoint = EndpointRecord {
            no,
            id: self.fresh_ulid(overlay.now),
            version: 1,
            client: caller.client,
            mode: caller.mode,
            status: EndpointStatus::Enabled,
            url: new.url.clone(),
            topics: new.topics,
            description: new.description.clone(),
            created_at: overlay.now,
            updated_at: overlay.now,
        };
        let secret = self.first_secret(overlay, caller)?;
        overlay.insert(self.sealed_secret(no, 1, &secret, overlay.now)?);
        overlay.insert(QueueRecord { endpoint: no, version: 1, troubled: false, due: None, owner: 0, added: None, failing_since: None });
        overlay.insert(endpoint.clone());
        Ok(WebhookDone::Webhook(Box::new(endpoint), Some(secret)))
    }

    /// A sandbox client got a webhook secret when it enrolled: its first webhook begins with that one, so that what the
    /// client keeps already is all it needs. Every other has one of its own from the start, also when the first is gone:
    /// what was replaced must not come back.
    fn first_secret(&self, overlay: &mut Overlay<'_>, caller: &Caller) -> Result<WebhookSecret> {
        let used = format!("webhook_secret_used/{}", caller.client.0);
        let client: Option<ClientRecord> = overlay.get(&Key::Client(caller.client))?;
        let sealed = client.map(|client| client.webhook_secret).filter(|sealed| !sealed.is_empty());
        match sealed {
            Some(sealed) if caller.mode == Mode::Sandbox && overlay.get::<MetaRecord>(&Key::Meta(used.clone()))?.is_none() => {
                overlay.insert(MetaRecord { name: used, value: Vec::new() });
                secret_of(self.unseal(&webhook_place(caller.client), &sealed)?)
            }
            Some(_) | None => Ok(self.new_secret_text()),
        }
    }

    fn new_secret_text(&self) -> WebhookSecret {
        let mut bytes = Zeroizing::new([0u8; 32]);
        self.env.random(&mut *bytes);
        WebhookSecret::from_bytes(*bytes)
    }

    fn sealed_secret(&self, endpoint: EndpointNo, n: u32, secret: &WebhookSecret, now: Millis) -> Result<EndpointSecretRecord> {
        let sealed = self.seal(&place(endpoint, n), secret.as_bytes());
        let sealed = sealed.ok_or_else(|| Error::internal("this gateway has no master key, and so keeps no webhook secrets"))?;
        Ok(EndpointSecretRecord { endpoint, n, sealed, created_at: now, until: None })
    }

    fn update_webhook(&self, overlay: &mut Overlay<'_>, caller: &Caller, id: Ulid, patch: &WebhookPatch) -> Result<WebhookDone> {
        let mut endpoint = self.endpoint(overlay, caller, id)?;
        let moved = patch.url.as_ref().is_some_and(|url| *url != endpoint.url);
        if let Some(url) = &patch.url {
            self.check_url(caller.mode, url)?;
            endpoint.url.clone_from(url);
        }
        if let Some(topics) = patch.topics {
            endpoint.topics = topics;
        }
        if let Some(description) = &patch.description {
            endpoint.description.clone_from(description);
        }
        match patch.enabled {
            Some(true) if endpoint.status != EndpointStatus::Enabled => {
                endpoint.status = EndpointStatus::Enabled;
                self.resume_queue(overlay, endpoint.no)?;
            }
            Some(false) if endpoint.status == EndpointStatus::Enabled => {
                endpoint.status = EndpointStatus::Disabled;
                self.stop_queue(overlay, endpoint.no)?;
            }
            // What the old address asked for and how it failed says nothing about the new one.
            Some(_) | None if moved && endpoint.status == EndpointStatus::Enabled => self.resume_queue(overlay, endpoint.no)?,
            Some(_) | None => {}
        }
        let endpoint = self.write_endpoint(overlay, endpoint);
        Ok(WebhookDone::Webhook(Box::new(endpoint), None))
    }

    fn delete_webhook(&self, overlay: &mut Overlay<'_>, caller: &Caller, id: Ulid) -> Result<WebhookDone> {
        let mut endpoint = self.endpoint(overlay, caller, id)?;
        endpoint.status = EndpointStatus::Removed;
        self.stop_queue(overlay, endpoint.no)?;
        let endpoint = self.write_endpoint(overlay, endpoint);
        Ok(WebhookDone::Webhook(Box::new(endpoint), None))
    }

    fn rotate_webhook(&self, overlay: &mut Overlay<'_>, caller: &Caller, id: Ulid, grace_ms: Millis) -> Result<WebhookDone> {
        let endpoint = self.endpoint(overlay, caller, id)?;
        if overlay.touched(&Key::Endpoint(endpoint.no)) {
            // Its secrets may have changed in this very group, where a scan does not see them.
            return Err(Error::new(ErrorCode::VersionConflict));
        }
        let end = overlay.now.saturating_add(grace_ms.max(0));
        let secrets: Vec<EndpointSecretRecord> = typed_all(overlay.store.scan(&Scan::endpoint_secrets(endpoint.no))?)?;
        let next = secrets.last().map_or(0, |newest| newest.n) + 1;
        let until = |secret: &EndpointSecretRecord| secret.until.unwrap_or(Millis::MAX).min(end);
        let mut living = secrets.iter().filter(|secret| until(secret) > overlay.now);
        let (oldest, room) = (living.next().map(until), living.count() + 2 <= MOST_SECRETS);
        if let Some(oldest) = oldest.filter(|_| !room) {
            // A receiver may count on each of them until its time is up.
            let detail = format!(
                "{MOST_SECRETS} secrets sign for this webhook already, one of them until {}; rotate then, or with a grace of 0",
                rfc3339(oldest)
            );
            return Err(Error::with(ErrorCode::InvalidState, detail));
        }
        for secret in secrets {
            let until = until(&secret);
            if until <= overlay.now {
                overlay.write(Write::Delete(Key::EndpointSecret((secret.endpoint, secret.n))));
            } else if secret.until != Some(until) {
                overlay.write(Write::Replace(EndpointSecretRecord { until: Some(until), ..secret }.into()));
            }
        }
        let secret = self.new_secret_text();
        overlay.insert(self.sealed_secret(endpoint.no, next, &secret, overlay.now)?);
        let endpoint = self.write_endpoint(overlay, endpoint);
        Ok(WebhookDone::Webhook(Box::new(endpoint), Some(secret)))
    }

    pub(super) fn write_endpoint(&self, overlay: &mut Overlay<'_>, mut endpoint: EndpointRecord) -> EndpointRecord {
        let expected = endpoint.version;
        endpoint.version += 1;
        endpoint.updated_at = overlay.now;
        overlay.write(Write::Update { record: endpoint.clone().into(), expected });
        endpoint
    }

    /// The caller's endpoint, as this group left it.
    pub(super) fn endpoint(&self, overlay: &Overlay<'_>, caller: &Caller, id: Ulid) -> Result<EndpointRecord> {
        visible(caller, overlay.find(&Unique::EndpointId(id))?)
    }

    fn endpoints_of(&self, overlay: &Overlay<'_>, caller: &Caller) -> Result<Vec<EndpointRecord>> {
        let stored: Vec<EndpointRecord> = typed_all(overlay.store.scan(&Scan::endpoints_of(caller.client, caller.mode))?)?;
        let made = overlay.inserted().filter_map(|record| match record {
            Record::Endpoint(made) => {
                Some(made).filter(|made| (made.client, made.mode) == (caller.client, caller.mode)).map(|made| made.no)
            }
            _ => None,
        });
        let numbers: Vec<EndpointNo> = stored.iter().map(|endpoint| endpoint.no).chain(made).collect();
        let all: Result<Vec<Option<EndpointRecord>>> = numbers.into_iter().map(|no| overlay.get(&Key::Endpoint(no))).collect();
        Ok(all?.into_iter().flatten().filter(|endpoint| endpoint.status != EndpointStatus::Removed).collect())
    }

    fn check_url(&self, mode: Mode, url: &str) -> Result<()> {
        let mut guard = self.config.webhook_guard.clone();
        guard.insecure_loopback &= mode == Mode::Sandbox;
        let refused = |refusal: crate::webhook::GuardError| Error::field("/url", "url_refused", refusal.to_string());
        guard.check_url(url).map(drop).map_err(refused)
    }

    /// The caller's webhooks, oldest first.
    pub fn webhooks(&self, caller: &Caller) -> Result<Vec<WebhookView>> {
        let endpoints: Vec<EndpointRecord> = typed_all(self.store.scan(&Scan::endpoints_of(caller.client, caller.mode))?)?;
        endpoints.iter().map(|endpoint| self.webhook_view(endpoint, None)).collect()
    }

    /// One of the caller's webhooks.
    ///
    /// # Errors
    /// `webhook_not_found`, also for another client's.
    pub fn webhook(&self, caller: &Caller, id: Ulid) -> Result<WebhookView> {
        self.webhook_view(&self.webhook_record(caller, id)?, None)
    }

    fn webhook_record(&self, caller: &Caller, id: Ulid) -> Result<EndpointRecord> {
        visible(caller, typed(self.store.find(&Unique::EndpointId(id))?)?)
    }

    /// A webhook as its owner sees it; `secret` where it is new.
    pub fn webhook_view(&self, endpoint: &EndpointRecord, secret: Option<&WebhookSecret>) -> Result<WebhookView> {
        let queue: Option<QueueRecord> = typed(self.store.get(&Key::Queue(endpoint.no))?)?;
        let topics = endpoint.topics.unwrap_or_else(|| TopicSet::of(Topic::all()));
        Ok(WebhookView {
            id: format!("whk_{}", endpoint.id),
            url: endpoint.url.clone(),
            events: topics.iter().map(Topic::as_str).collect(),
            all_events: endpoint.topics.is_none(),
            description: endpoint.description.clone(),
            status: endpoint.status,
            failing_since: queue.and_then(|queue| queue.failing_since).map(rfc3339),
            created_at: rfc3339(endpoint.created_at),
            updated_at: rfc3339(endpoint.updated_at),
            secret: secret.map(|secret| secret.to_text().to_string()),
        })
    }

    /// Refuses to add many deliveries where many wait: a replay is no way to fill the store.
    ///
    /// # Errors
    /// `webhook_not_found`; `request_in_progress` while some thousand deliveries wait.
    pub fn room_for_replay(&self, caller: &Caller, id: Ulid) -> Result<()> {
        let endpoint = self.webhook_record(caller, id)?.no;
        let waiting = self.store.scan(&Scan::deliveries_due(endpoint, Millis::MAX, MOST_WAITING))?.len();
        if waiting < MOST_WAITING {
            return Ok(());
        }
        Err(Error::with(ErrorCode::RequestInProgress, format!("{waiting} deliveries wait for this webhook already; let them arrive first")))
    }

    /// A webhook's deliveries, newest first, below `before`.
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

    /// A page of a webhook's deliveries, newest first; `cursor` is that of the page before.
    ///
    /// # Errors
    /// `webhook_not_found`, `invalid_cursor`.
    pub fn delivery_page(
        &self,
        caller: &Caller,
        id: Ulid,
        status: Option<DeliveryStatus>,
        cursor: Option<&str>,
        limit: usize,
    ) -> Result<Page<DeliveryView>> {
        let before = cursor.map(|cursor| self.delivery(caller, id, id_of(cursor)?)).transpose().map_err(|error| match error.code {
            ErrorCode::DeliveryNotFound => Error::new(ErrorCode::InvalidCursor),
            _ => error,
        })?;
        let mut records = self.deliveries(caller, id, status, before.map(|delivery| delivery.no), limit + 1)?;
        let has_more = records.len() > limit;
        records.truncate(limit);
        let next_cursor = records.last().filter(|_| has_more).map(|last| cursor_of(self.delivery_ulid(last)));
        let data: Result<Vec<DeliveryView>> = records.iter().map(|record| self.delivery_view(record)).collect();
        Ok(Page { data: data?, has_more, next_cursor })
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
            topic: delivery.topic.as_str(),
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

    /// The public ULID of a delivery: derived, so that it needs no room and shows nothing of how many there are.
    pub(super) fn delivery_ulid(&self, delivery: &DeliveryRecord) -> Ulid {
        self.id_key.child("dlv", SettlementNo(delivery.no), delivery.endpoint.0, delivery.no >> 20)
    }

    /// An endpoint's delivery by its public id.
    pub(super) fn delivery_by_id(&self, endpoint: EndpointNo, id: Ulid) -> Result<DeliveryRecord> {
        const PAGE: usize = 100;
        let missing = || Error::new(ErrorCode::DeliveryNotFound);
        // The id holds the millisecond: all that were made within it are looked at. Nobody has made any so late that
        // their numbers have no room for it.
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

    /// The secrets under which an endpoint's deliveries are signed now, the newest first.
    pub fn webhook_secrets(&self, endpoint: EndpointNo) -> Result<Vec<WebhookSecret>> {
        let now = self.now();
        let mut secrets: Vec<EndpointSecretRecord> = typed_all(self.store.scan(&Scan::endpoint_secrets(endpoint))?)?;
        secrets.retain(|secret| secret.until.is_none_or(|until| until > now));
        secrets.reverse();
        secrets.iter().map(|secret| secret_of(self.unseal(&place(endpoint, secret.n), &secret.sealed)?)).collect()
    }

    /// Seals every endpoint's secrets anew that are `stale`; says how many that was.
    pub(super) fn reseal_endpoints(&self, stale: impl Fn(&[u8]) -> bool) -> Result<usize> {
        let (mut count, mut after) = (0, EndpointNo(0));
        loop {
            let endpoints: Vec<EndpointRecord> = typed_all(self.store.scan(&Scan::after(&Key::Endpoint(after), 500))?)?;
            let Some(last) = endpoints.last() else { return Ok(count) };
            after = last.no;
            for endpoint in endpoints {
                let secrets: Vec<EndpointSecretRecord> = typed_all(self.store.scan(&Scan::endpoint_secrets(endpoint.no))?)?;
                for secret in secrets.into_iter().filter(|secret| stale(&secret.sealed)) {
                    let key = Key::EndpointSecret((secret.endpoint, secret.n));
                    count += usize::from(self.reseal_one(&key, |secret: &mut EndpointSecretRecord| {
                        secret.sealed = self.sealed_anew(&place(secret.endpoint, secret.n), &secret.sealed)?;
                        Ok(())
                    })?);
                }
            }
        }
    }
}

fn secret_of(bytes: Zeroizing<Vec<u8>>) -> Result<WebhookSecret> {
    let bytes: [u8; 32] = bytes.as_slice().try_into().map_err(|_| Error::internal("a webhook secret has the wrong length"))?;
    Ok(WebhookSecret::from_bytes(bytes))
}

fn visible(caller: &Caller, found: Option<EndpointRecord>) -> Result<EndpointRecord> {
    let mine = |endpoint: &EndpointRecord| {
        (endpoint.client, endpoint.mode) == (caller.client, caller.mode) && endpoint.status != EndpointStatus::Removed
    };
    found.filter(mine).ok_or_else(|| Error::new(ErrorCode::WebhookNotFound))
}
