//! Commands by which owners change their webhooks.

use zeroize::Zeroizing;

use crate::api::{Caller, NewWebhook, WebhookPatch, WebhookView};
use crate::engine::access::webhook_place;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::engine::{Answers, Engine, Stays};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, EndpointNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::{
    AuditAction, ClientRecord, EndpointRecord, EndpointSecretRecord, EndpointStatus, Key, MetaRecord, QueueRecord, Record, Version,
};
use crate::store::{Scan, Unique, Write, typed_all};
use crate::time::{Millis, rfc3339};
use crate::webhook::WebhookSecret;

use super::read::{shown, visible};

/// Maximum number of webhooks of a client in each mode.
pub const MOST_WEBHOOKS: usize = 10;
/// Maximum number of secrets that sign for one endpoint at the same time.
const MOST_SECRETS: usize = 5;

/// Names an endpoint's secret; the additional data under which it is sealed.
pub(crate) fn place(endpoint: EndpointNo, n: u32) -> String {
    format!("endpoint/{}/secret/{n}", endpoint.0)
}

/// The name of the [`MetaRecord`] that says that a webhook got the secret which its client got when it enrolled.
pub(crate) fn used_mark(client: ClientNo) -> String {
    format!("webhook_secret_used/{}", client.0)
}

/// A webhook after a change.
#[derive(Debug, Clone)]
pub struct ChangedWebhook {
    /// The webhook.
    pub endpoint: EndpointRecord,
    /// Its new secret, if there is one; not shown again.
    pub secret: Option<WebhookSecret>,
}

/// The audit record of a webhook: with its number if known, otherwise with the id from the call.
pub(crate) fn deed_on(action: AuditAction, id: Ulid, done: Option<EndpointNo>) -> Option<Deed> {
    Some(Deed::new(action).target(done.map_or(0, |no| no.0)).name(format!("whk_{id}")))
}

/// Creates a webhook.
#[derive(Debug, Clone)]
pub struct CreateWebhook {
    /// The client that owns the webhook.
    pub caller: Caller,
    /// The new webhook's settings.
    pub new: NewWebhook,
}

impl Command for CreateWebhook {
    type Output = ChangedWebhook;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ChangedWebhook> {
        let (engine, overlay, Self { caller, new }) = (d.engine, &mut *d.overlay, self);
        engine.check_url(caller.mode, &new.url)?;
        let there = engine.endpoints_of(overlay, caller)?.len();
        if there >= MOST_WEBHOOKS {
            return Err(Error::with(ErrorCode::TooManyWebhooks, format!("there are already {there} webhooks, the maximum")));
        }
        let no = d.writer.endpoint_no();
        let endpoint = EndpointRecord {
            no,
            id: engine.fresh_ulid(overlay.now),
            version: 1,
            client: caller.client,
            mode: caller.mode,
            status: EndpointStatus::Enabled,
            url: new.url.clone(),
            topics: new.topics,
            description: new.description.clone(),
            created_at: overlay.now,
            updated_at: overlay.now,
            push: None,
        };
        let secret = engine.first_secret(overlay, caller)?;
        overlay.insert(engine.sealed_secret(no, 1, &secret, overlay.now)?);
        overlay.insert(QueueRecord { endpoint: no, version: 1, troubled: false, due: None, owner: 0, added: None, failing_since: None });
        overlay.insert(endpoint.clone());
        Ok(ChangedWebhook { endpoint, secret: Some(secret) })
    }

    /// The audit record omits the URL: a refused one may contain secrets.
    fn deed(&self, done: Option<&ChangedWebhook>) -> Option<Deed> {
        let no = done.map_or(0, |done| done.endpoint.no.0);
        Some(Deed::new(AuditAction::CreateWebhook).target(no).name("a webhook"))
    }
}

/// Changes a webhook.
#[derive(Debug, Clone)]
pub struct UpdateWebhook {
    /// The client that owns the webhook.
    pub caller: Caller,
    /// The webhook's id.
    pub id: Ulid,
    /// The changes.
    pub patch: WebhookPatch,
}

impl Command for UpdateWebhook {
    type Output = ChangedWebhook;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ChangedWebhook> {
        d.engine.update_webhook(d.overlay, &self.caller, self.id, &self.patch)
    }

    fn deed(&self, done: Option<&ChangedWebhook>) -> Option<Deed> {
        deed_on(AuditAction::UpdateWebhook, self.id, done.map(|done| done.endpoint.no))
    }
}

/// Enables a webhook again, including for the deliveries that wait for it.
#[derive(Debug, Clone)]
pub struct EnableWebhook {
    /// The client that owns the webhook.
    pub caller: Caller,
    /// The webhook's id.
    pub id: Ulid,
}

impl Command for EnableWebhook {
    type Output = ChangedWebhook;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ChangedWebhook> {
        let enable = WebhookPatch { enabled: Some(true), ..WebhookPatch::default() };
        d.engine.update_webhook(d.overlay, &self.caller, self.id, &enable)
    }

    fn deed(&self, done: Option<&ChangedWebhook>) -> Option<Deed> {
        deed_on(AuditAction::EnableWebhook, self.id, done.map(|done| done.endpoint.no))
    }
}

/// Removes a webhook; its waiting deliveries are not delivered any more.
#[derive(Debug, Clone)]
pub struct DeleteWebhook {
    /// The client that owns the webhook.
    pub caller: Caller,
    /// The webhook's id.
    pub id: Ulid,
}

impl Command for DeleteWebhook {
    type Output = ChangedWebhook;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn stays(&self) -> Stays {
        Stays::Afterwards
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ChangedWebhook> {
        let endpoint = d.engine.endpoint(d.overlay, &self.caller, self.id)?;
        let endpoint = d.engine.remove_endpoint(d.overlay, endpoint)?;
        Ok(ChangedWebhook { endpoint, secret: None })
    }

    fn deed(&self, done: Option<&ChangedWebhook>) -> Option<Deed> {
        deed_on(AuditAction::DeleteWebhook, self.id, done.map(|done| done.endpoint.no))
    }
}

/// Gives a webhook a new secret; the previous ones also sign for a grace period.
#[derive(Debug, Clone)]
pub struct RotateWebhookSecret {
    /// The client that owns the webhook.
    pub caller: Caller,
    /// The webhook's id.
    pub id: Ulid,
    /// The grace period in milliseconds.
    pub grace_ms: Millis,
}

impl Command for RotateWebhookSecret {
    type Output = ChangedWebhook;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ChangedWebhook> {
        d.engine.rotate_webhook(d.overlay, &self.caller, self.id, self.grace_ms)
    }

    fn deed(&self, done: Option<&ChangedWebhook>) -> Option<Deed> {
        deed_on(AuditAction::RotateWebhookSecret, self.id, done.map(|done| done.endpoint.no))
    }
}

macro_rules! answers {
    ($($command:ident)+) => {$(
        impl Answers for $command {
            type View = WebhookView;

            fn view(&self, d: &Decision<'_, '_>, changed: &ChangedWebhook) -> Result<WebhookView> {
                let queue = d.overlay.left(&Key::Queue(changed.endpoint.no))?;
                Ok(shown(&changed.endpoint, queue.as_ref(), changed.secret.as_ref()))
            }

            fn withhold(view: &mut WebhookView) {
                view.secret_shown = view.secret.take().is_some();
            }
        }
    )+};
}

answers!(CreateWebhook UpdateWebhook EnableWebhook RotateWebhookSecret);

impl Engine {
    /// A sandbox client got a webhook secret when it enrolled. Its first webhook uses that one, so the client needs no other. Every
    /// later webhook gets a new secret, even if the first is gone: a secret that was replaced must not come back.
    fn first_secret(&self, overlay: &mut Overlay<'_>, caller: &Caller) -> Result<WebhookSecret> {
        let used = used_mark(caller.client);
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
        let sealed = sealed.ok_or_else(|| Error::internal("this gateway has no master key, so it cannot store webhook secrets"))?;
        Ok(EndpointSecretRecord { endpoint, n, sealed, created_at: now, until: None, version: Version::default() })
    }

    fn update_webhook(&self, overlay: &mut Overlay<'_>, caller: &Caller, id: Ulid, patch: &WebhookPatch) -> Result<ChangedWebhook> {
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
            // The old address's `Retry-After` and failures say nothing about the new one.
            Some(_) | None if moved && endpoint.status == EndpointStatus::Enabled => self.resume_queue(overlay, endpoint.no)?,
            Some(_) | None => {}
        }
        let endpoint = self.write_endpoint(overlay, endpoint);
        Ok(ChangedWebhook { endpoint, secret: None })
    }

    fn rotate_webhook(&self, overlay: &mut Overlay<'_>, caller: &Caller, id: Ulid, grace_ms: Millis) -> Result<ChangedWebhook> {
        let endpoint = self.endpoint(overlay, caller, id)?;
        if overlay.touched(&Key::Endpoint(endpoint.no)) {
            // Its secrets may have changed in this very group, and a scan does not see that.
            return Err(Error::new(ErrorCode::VersionConflict));
        }
        let end = overlay.now.saturating_add(grace_ms.max(0));
        let secrets: Vec<EndpointSecretRecord> = typed_all(overlay.store.scan(&Scan::endpoint_secrets(endpoint.no))?)?;
        let next = secrets.last().map_or(0, |newest| newest.n) + 1;
        let until = |secret: &EndpointSecretRecord| secret.until.unwrap_or(Millis::MAX).min(end);
        let mut living = secrets.iter().filter(|secret| until(secret) > overlay.now);
        let (oldest, room) = (living.next().map(until), living.count() + 2 <= MOST_SECRETS);
        if let Some(oldest) = oldest.filter(|_| !room) {
            // A receiver may rely on each of them until its time is up.
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
                let read = secret.version;
                overlay.update(EndpointSecretRecord { until: Some(until), version: read.next(), ..secret }, read);
            }
        }
        let secret = self.new_secret_text();
        overlay.insert(self.sealed_secret(endpoint.no, next, &secret, overlay.now)?);
        let endpoint = self.write_endpoint(overlay, endpoint);
        Ok(ChangedWebhook { endpoint, secret: Some(secret) })
    }

    /// Removes an endpoint; what waits for it is not delivered.
    pub(crate) fn remove_endpoint(&self, overlay: &mut Overlay<'_>, endpoint: EndpointRecord) -> Result<EndpointRecord> {
        self.stop_queue(overlay, endpoint.no)?;
        Ok(self.write_endpoint(overlay, EndpointRecord { status: EndpointStatus::Removed, ..endpoint }))
    }

    pub(crate) fn write_endpoint(&self, overlay: &mut Overlay<'_>, mut endpoint: EndpointRecord) -> EndpointRecord {
        let expected = endpoint.version;
        endpoint.version += 1;
        endpoint.updated_at = overlay.now;
        overlay.write(Write::Update { record: endpoint.clone().into(), expected });
        endpoint
    }

    /// The caller's endpoint, with the changes of this group.
    pub(crate) fn endpoint(&self, overlay: &Overlay<'_>, caller: &Caller, id: Ulid) -> Result<EndpointRecord> {
        visible(caller, overlay.find(&Unique::EndpointId(id))?)
    }

    pub(crate) fn endpoints_of(&self, overlay: &Overlay<'_>, caller: &Caller) -> Result<Vec<EndpointRecord>> {
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

    pub(crate) fn check_url(&self, mode: Mode, url: &str) -> Result<()> {
        let mut guard = self.config.webhook_guard.clone();
        guard.insecure_loopback &= mode == Mode::Sandbox;
        let refused = |refusal: crate::webhook::GuardError| Error::field("/url", "url_refused", refusal.to_string());
        guard.check_url(url).map(drop).map_err(refused)
    }

    /// The secrets that sign an endpoint's deliveries now, newest first.
    pub fn webhook_secrets(&self, endpoint: EndpointNo) -> Result<Vec<WebhookSecret>> {
        let now = self.now();
        let mut secrets: Vec<EndpointSecretRecord> = typed_all(self.store.scan(&Scan::endpoint_secrets(endpoint))?)?;
        secrets.retain(|secret| secret.until.is_none_or(|until| until > now));
        secrets.reverse();
        secrets.iter().map(|secret| secret_of(self.unseal(&place(endpoint, secret.n), &secret.sealed)?)).collect()
    }

    /// Reseals all endpoint secrets that are `stale`, and returns how many.
    pub(crate) fn reseal_endpoints(&self, stale: impl Fn(&[u8]) -> bool) -> Result<usize> {
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
                        secret.version = secret.version.next();
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
