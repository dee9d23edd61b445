//! Deliveries: created when their event is numbered, and kept for their owner to inspect.

use std::collections::{HashMap, HashSet};

use crate::engine::Engine;
use crate::engine::group::{Overlay, Writer};
use crate::engine::maintain::SWEEP;
use crate::error::{Error, Result};
use crate::ids::{ClientNo, EndpointNo, SettlementNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::{
    DeliveryCause, DeliveryRecord, DeliveryStatus, EndpointRecord, EndpointSecretRecord, EndpointStatus, Key, LoggedChange, QueueRecord,
    RecordKind, Topic,
};
use crate::store::{Lookup, Scan, typed, typed_all};
use crate::time::Millis;
use crate::trace::traced_key;

use super::message::envelope;

/// About how many bytes of bodies are written in one commit: all clients share the writer.
const TOLD_AT_ONCE: usize = 4 << 20;
/// How long a delivery is kept for its owner to inspect.
const KEPT: Millis = 30 * 86_400_000;

impl Engine {
    /// Writes the deliveries owed to the endpoints of these events' owners, and returns the number of changes covered. Stops before
    /// the commit gets so large that it would keep the others waiting.
    pub(crate) fn fan_out(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, changes: &[LoggedChange]) -> Result<usize> {
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
                let topic = Topic::Event(event.kind);
                let mut message = None;
                for endpoint in endpoints.iter().filter(|endpoint| listens(endpoint, topic)) {
                    if message.is_none() {
                        message = unless_damaged(self.message(overlay, change, index, event))?;
                    }
                    // An event that was damaged by hand is not delivered to anyone; it must not hold up the rest.
                    let Some((id, body)) = &message else { break };
                    let about = (change.settlement, change.sequence(index));
                    self.owe(overlay, writer, endpoint, (topic, *id, body), about, DeliveryCause::Event)?;
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

    /// The endpoints of each owner with any of these changes. Prefetches everything that their deliveries need.
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
            let about = change.events.first().map(|event| traced_key(event.kind, change.settlement));
            events.chain(about).chain([Key::Client(change.client)]).map(Lookup::Get)
        }))?;
        Ok(listening)
    }

    /// The enabled endpoints, with the changes of this group, except those without a queue.
    pub(crate) fn enabled_endpoints(&self, overlay: &Overlay<'_>, client: ClientNo, mode: Mode) -> Result<Vec<EndpointRecord>> {
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
    pub(crate) fn owe(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        endpoint: &EndpointRecord,
        (topic, message, body): (Topic, Ulid, &str),
        (settlement, n): (SettlementNo, u32),
        cause: DeliveryCause,
    ) -> Result<DeliveryRecord> {
        let delivery = DeliveryRecord {
            no: writer.delivery_no(overlay.now),
            endpoint: endpoint.no,
            message,
            topic,
            cause,
            status: DeliveryStatus::Pending,
            attempts: 0,
            due: Some(self.time_of(overlay, endpoint.owner())?),
            settlement,
            n,
            body: body.to_owned(),
            last: None,
        };
        overlay.insert(delivery.clone());
        Ok(delivery)
    }

    /// Sends a message about something that has no trace to a client's endpoints, all but one.
    pub(crate) fn announce(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        (client, mode): (ClientNo, Mode),
        (topic, data): (Topic, &str),
        but: Option<EndpointNo>,
    ) -> Result<()> {
        let (id, now) = (self.fresh_ulid(overlay.now), self.time_of(overlay, (client, mode))?);
        let body = envelope(topic, now, data);
        let endpoints = self.enabled_endpoints(overlay, client, mode)?;
        for endpoint in endpoints.iter().filter(|endpoint| Some(endpoint.no) != but && listens(endpoint, topic)) {
            self.owe(overlay, writer, endpoint, (topic, id, &body), (SettlementNo(0), 0), DeliveryCause::Event)?;
            self.enqueue(overlay, endpoint.no, overlay.now)?;
        }
        Ok(())
    }

    /// Tells a client's other endpoints that one was disabled.
    pub(crate) fn tell_of_disabled(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, disabled: &EndpointRecord) -> Result<()> {
        let mut view = self.webhook_view(disabled)?;
        // Recipients at the other endpoints must not learn secrets in the query of this address.
        view.url.truncate(view.url.find('?').unwrap_or(view.url.len()));
        let data = serde_json::to_string(&view).map_err(Error::internal)?;
        self.announce(overlay, writer, disabled.owner(), (Topic::WebhookDisabled, &data), Some(disabled.no))
    }

    /// The keys of expired deliveries and of the remains of removed endpoints, each once. `after` is where the search among
    /// endpoints continues: with many endpoints, each call looks at a part, because everybody waits meanwhile.
    pub(crate) fn stale_webhooks(&self, overlay: &Overlay<'_>, after: &mut EndpointNo) -> Result<Vec<Key>> {
        let before = (overlay.now - KEPT) << 20;
        let old: Vec<DeliveryRecord> = typed_all(overlay.store.scan(&Scan::deliveries_before(before, SWEEP))?)?;
        let mut gone: Vec<Key> = old.into_iter().map(|delivery| Key::Delivery(delivery.no)).collect();
        let mut seen: HashSet<Key> = gone.iter().cloned().collect();
        // The record with the highest number stays, so that no other webhook ever gets that number.
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

    /// The keys of the records of a removed endpoint: deliveries first, the endpoint last.
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
}

/// Treats a record that was damaged by hand as missing: it must not hold up the others. A store
/// that is unavailable is still an error.
pub(crate) fn unless_damaged<T>(found: Result<Option<T>>) -> Result<Option<T>> {
    match found {
        Err(error) if error.is_damage() => Ok(None),
        found => found,
    }
}

pub(crate) fn listens(endpoint: &EndpointRecord, topic: Topic) -> bool {
    endpoint.topics.is_none_or(|topics| topics.has(topic))
}
