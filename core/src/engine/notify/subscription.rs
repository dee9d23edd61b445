//! Push subscriptions: endpoints that belong to an end user, with the keys that encrypt for them.

use crate::api::{Caller, PushSubscriptionView, PushSubscriptionsView};
use crate::engine::access::place as secret_place;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::engine::webhook::endpoint_place;
use crate::engine::{Answers, Engine};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{EndpointNo, KeyNo, Ulid};
use crate::push::{SubscriptionKeys, VapidKey, application_server_key, origin_of};
use crate::store::record::{
    AuditAction, EndpointRecord, EndpointSecretRecord, EndpointStatus, Key, PushRoute, QueueRecord, SecretKind, SecretRecord, Version,
};
use crate::store::{Scan, Unique, typed, typed_all};
use crate::time::{Millis, rfc3339};
use crate::validate::notification::NewSubscription;

use super::caller_user;

/// How many push subscriptions a user may have; one more replaces the oldest.
pub const MOST_SUBSCRIPTIONS: usize = 10;

/// Pushes to a subscription from now on. The same endpoint again replaces its keys.
#[derive(Debug, Clone)]
pub struct Subscribe {
    /// The user, on a device.
    pub caller: Caller,
    /// The device's key, which signed the call.
    pub key: KeyNo,
    /// The subscription.
    pub new: NewSubscription,
}

impl Command for Subscribe {
    type Output = EndpointRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<EndpointRecord> {
        let (engine, overlay, Self { caller, new, .. }) = (d.engine, &mut *d.overlay, self);
        let party = party(caller)?;
        engine.check_push_url(caller, &new.endpoint)?;
        let route = PushRoute {
            client: caller.client.0,
            device: self.key.0,
            vapid: engine.vapid_number(new.application_server_key.as_deref())?,
            locale: new.locale.clone(),
            expires_at: new.expires_at,
        };
        let mut there = engine.endpoints_of(overlay, &party)?;
        if let Some(same) = there.iter().find(|endpoint| endpoint.url == new.endpoint) {
            return engine.renewed(overlay, same.clone(), route, &new.keys);
        }
        there.sort_by_key(|endpoint| endpoint.no);
        let room = MOST_SUBSCRIPTIONS.saturating_sub(1);
        for oldest in there.iter().take(there.len().saturating_sub(room)) {
            engine.remove_endpoint(overlay, oldest.clone())?;
        }
        let no = d.writer.endpoint_no();
        let endpoint = EndpointRecord {
            no,
            id: engine.fresh_ulid(overlay.now),
            version: 1,
            client: party.client,
            mode: caller.mode,
            status: EndpointStatus::Enabled,
            url: new.endpoint.clone(),
            topics: None,
            description: None,
            created_at: overlay.now,
            updated_at: overlay.now,
            push: Some(Box::new(route)),
        };
        overlay.insert(engine.sealed_keys(no, &new.keys, overlay.now)?);
        overlay.insert(QueueRecord { endpoint: no, version: 1, troubled: false, due: None, owner: 0, added: None, failing_since: None });
        overlay.insert(endpoint.clone());
        Ok(endpoint)
    }

    /// The audit record omits the endpoint: whoever knows it may send to the device.
    fn deed(&self, done: Option<&EndpointRecord>) -> Option<Deed> {
        Some(deed(AuditAction::Subscribe, done.map(|endpoint| endpoint.no)))
    }
}

impl Answers for Subscribe {
    type View = PushSubscriptionView;

    fn view(&self, _: &Decision<'_, '_>, endpoint: &EndpointRecord) -> Result<PushSubscriptionView> {
        Ok(shown(endpoint, None, self.key))
    }
}

/// Removes a push subscription; what waits for it is not sent.
#[derive(Debug, Clone)]
pub struct RemoveSubscription {
    /// The user, on a device.
    pub caller: Caller,
    /// The ULID in `psh_…`.
    pub id: Ulid,
}

impl Command for RemoveSubscription {
    type Output = EndpointNo;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<EndpointNo> {
        let party = party(&self.caller)?;
        let found: Option<EndpointRecord> = d.overlay.find(&Unique::EndpointId(self.id))?;
        let mine = |endpoint: &EndpointRecord| endpoint.client == party.client && endpoint.status != EndpointStatus::Removed;
        let endpoint = found.filter(mine).ok_or_else(|| Error::new(ErrorCode::PushSubscriptionNotFound))?;
        let no = endpoint.no;
        d.engine.remove_endpoint(d.overlay, endpoint)?;
        Ok(no)
    }

    fn deed(&self, done: Option<&EndpointNo>) -> Option<Deed> {
        Some(deed(AuditAction::Unsubscribe, done.copied()))
    }
}

fn deed(action: AuditAction, no: Option<EndpointNo>) -> Deed {
    Deed::new(action).target(no.map_or(0, |no| no.0)).name("a push subscription")
}

/// The caller under the number that owns the user's endpoints.
fn party(caller: &Caller) -> Result<Caller> {
    Ok(Caller { client: caller_user(caller)?.party(), ..*caller })
}

impl Engine {
    /// The same subscription, with what may have changed.
    fn renewed(
        &self,
        overlay: &mut Overlay<'_>,
        endpoint: EndpointRecord,
        route: PushRoute,
        keys: &SubscriptionKeys,
    ) -> Result<EndpointRecord> {
        let secret: Option<EndpointSecretRecord> = overlay.get(&Key::EndpointSecret((endpoint.no, 1)))?;
        let secret = secret.ok_or_else(|| Error::internal("a push subscription has no keys"))?;
        let known = self.unseal(&endpoint_place(endpoint.no, 1), &secret.sealed)?;
        if *known != *keys.to_bytes() {
            let read = secret.version;
            let anew = self.sealed_keys(endpoint.no, keys, secret.created_at)?;
            overlay.update(EndpointSecretRecord { version: read.next(), ..anew }, read);
        }
        if endpoint.push.as_deref() == Some(&route) {
            return Ok(endpoint);
        }
        Ok(self.write_endpoint(overlay, EndpointRecord { push: Some(Box::new(route)), ..endpoint }))
    }

    fn sealed_keys(&self, endpoint: EndpointNo, keys: &SubscriptionKeys, now: Millis) -> Result<EndpointSecretRecord> {
        let sealed = self.seal(&endpoint_place(endpoint, 1), &keys.to_bytes());
        let sealed = sealed.ok_or_else(|| Error::internal("this gateway has no master key, so it cannot store push subscriptions"))?;
        Ok(EndpointSecretRecord { endpoint, n: 1, sealed, created_at: now, until: None, version: Version::default() })
    }

    /// Refuses the endpoint of a subscription that the gateway may not call.
    fn check_push_url(&self, caller: &Caller, url: &str) -> Result<()> {
        self.check_url(caller.mode, url).map_err(|mut error| {
            error.fields.iter_mut().for_each(|field| field.pointer = "/endpoint".to_owned());
            error
        })
    }

    /// The number of the key with this public half, or of the present one.
    fn vapid_number(&self, wanted: Option<&str>) -> Result<u32> {
        let keys = self.vapid_secrets()?;
        let found = match wanted {
            None => keys.last(),
            Some(wanted) => keys.iter().find(|secret| application_server_key(&secret.public) == wanted),
        };
        found.map(|secret| secret.no).ok_or_else(|| {
            let message = "is not a key of this gateway: subscribe with that of GET /api/v1/mobile/push-subscriptions";
            Error::field("/application_server_key", "key_unknown", message)
        })
    }

    /// The gateway's key with this number, to which subscriptions are bound. It stays in use for them after it was replaced: a browser
    /// takes no messages that another key signed.
    ///
    /// # Errors
    /// `internal` if it is missing, or sealed under a master key that this engine lacks.
    pub fn vapid_key(&self, no: u32) -> Result<VapidKey> {
        let secret: Option<SecretRecord> = typed(self.store.get(&Key::Secret((SecretKind::Vapid, no)))?)?;
        let secret = secret.ok_or_else(|| Error::internal("the key of a push subscription is missing"))?;
        let opened = self.unseal(&secret_place(secret.kind, secret.no), &secret.sealed)?;
        let key = opened.as_slice().try_into().ok().and_then(VapidKey::new);
        key.ok_or_else(|| Error::internal("the key of a push subscription is damaged"))
    }

    /// The keys that encrypt for a subscription; `None` if it is no longer there.
    ///
    /// # Errors
    /// `internal` if they are sealed under a master key that this engine lacks.
    pub fn subscription_keys(&self, endpoint: EndpointNo) -> Result<Option<SubscriptionKeys>> {
        let secret: Option<EndpointSecretRecord> = typed(self.store.get(&Key::EndpointSecret((endpoint, 1)))?)?;
        let Some(secret) = secret else { return Ok(None) };
        let keys = SubscriptionKeys::from_bytes(&self.unseal(&endpoint_place(endpoint, 1), &secret.sealed)?);
        keys.map(Some).ok_or_else(|| Error::internal("the keys of a push subscription are damaged"))
    }

    /// The caller's push subscriptions, and the key that new ones need.
    ///
    /// # Errors
    /// `insufficient_scope` for a caller who is not an end user.
    pub fn subscriptions(&self, caller: &Caller, key: KeyNo) -> Result<PushSubscriptionsView> {
        let party = party(caller)?;
        let present = self.vapid_secrets()?.pop().ok_or_else(|| Error::internal("there is no key for push subscriptions"))?;
        let endpoints: Vec<EndpointRecord> = typed_all(self.store.scan(&Scan::endpoints_of(party.client, caller.mode))?)?;
        let mut data = Vec::with_capacity(endpoints.len());
        for endpoint in endpoints {
            let queue: Option<QueueRecord> = typed(self.store.get(&Key::Queue(endpoint.no))?)?;
            data.push(shown(&endpoint, queue.as_ref(), key));
        }
        Ok(PushSubscriptionsView { application_server_key: application_server_key(&present.public), data })
    }
}

/// A subscription as its user sees it.
fn shown(endpoint: &EndpointRecord, queue: Option<&QueueRecord>, device: KeyNo) -> PushSubscriptionView {
    let route = endpoint.push.as_deref();
    PushSubscriptionView {
        id: format!("psh_{}", endpoint.id),
        push_service: origin_of(&endpoint.url).to_owned(),
        this_device: route.is_some_and(|route| route.device == device.0),
        locale: route.and_then(|route| route.locale.clone()),
        created_at: rfc3339(endpoint.created_at),
        expires_at: route.and_then(|route| route.expires_at).map(rfc3339),
        failing_since: queue.and_then(|queue| queue.failing_since).map(rfc3339),
    }
}
