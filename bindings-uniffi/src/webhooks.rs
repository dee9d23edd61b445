//! The client's webhooks and their deliveries.

use std::sync::Arc;

use railgate::ErrorCode;
use railgate::api::{DeliveryView, NewWebhookBody, Page, ReplayBody, RotationBody, TestBody, WebhookPatchBody};
use railgate::client::Request;
use serde::Deserialize;

use crate::client::{Data, GatewayClient, once, part};
use crate::error::{GatewayError, Problem};
use crate::filter::{below, pairs};
use crate::link::{Boxed, Link, TRIES};
use crate::mirror::{Give, mirror_record};
use crate::names::{DeliveryCause, DeliveryStatus, WebhookStatus};
use crate::request::written;
use crate::values::{Instant, Json};

const WEBHOOKS: &str = "/api/v1/webhooks";
/// How long a receiver may take to answer a test, and some time for the way of that.
const LONGEST_TEST_MS: u64 = 30_000;

mirror_record! {
    /// A webhook: a URL of the client's that the gateway delivers events to.
    Webhook of railgate::api::WebhookView {
        /// `whk_` and a ULID.
        id: String,
        /// The URL that deliveries go to.
        url: String,
        /// The types of event that are delivered.
        events: Vec<String>,
        /// Whether all types of event are delivered, including future ones.
        all_events: bool,
        /// The owner's description.
        description: Option<String>,
        /// Whether it receives deliveries, and if not, why.
        status: WebhookStatus,
        /// Since when all deliveries have failed; none if the last one succeeded.
        failing_since: Option<Instant>,
        /// When it was created.
        created_at: Instant,
        /// When it last changed.
        updated_at: Instant,
        /// The secret that verifies its deliveries, `whsec_` and base64; only in the response to the call that made it.
        secret: Option<String>,
        /// A lost response to this call showed the secret already: give the webhook a new one.
        secret_shown: bool [default],
    }
}

mirror_record! {
    /// A delivery to a webhook.
    Delivery of railgate::api::DeliveryView {
        /// `dlv_` and a ULID.
        id: String,
        /// The `webhook-id`: the event's id, the same in each attempt.
        message_id: String,
        /// The type of the event.
        kind("type") = topic: String,
        /// Why the delivery was created.
        cause: DeliveryCause,
        /// Its state.
        status: DeliveryStatus,
        /// The number of attempts.
        attempts: u16,
        /// When it will be tried next; none if it will not.
        next_attempt_at: Option<Instant>,
        /// The result of the last attempt; none before the first.
        last_attempt: Option<DeliveryAttempt>,
        /// When it was created.
        created_at: Instant,
        /// The body that is sent.
        payload: Json,
    }
}

mirror_record! {
    /// The result of an attempt at a delivery.
    DeliveryAttempt of railgate::api::AttemptView {
        /// When it started.
        at: Instant,
        /// How long it took, in milliseconds.
        took_ms: u32,
        /// The status of the receiver's response; none if there was none.
        status: Option<u16>,
        /// Why there was no response.
        error: Option<String>,
        /// The start of the response's body, as the receiver wrote it.
        response_excerpt: String,
    }
}

mirror_record! {
    /// The result of a test of a webhook.
    WebhookTest of railgate::api::TestView {
        /// The delivery that was sent. It is not tried again.
        delivery: Delivery,
        /// Whether the receiver accepted it with a 2xx.
        delivered: bool,
        /// The receiver's response.
        response: ReceiverResponse,
    }
}

mirror_record! {
    /// The response of a receiver.
    ReceiverResponse of railgate::api::ResponseView {
        /// The status; none if there was no response.
        status: Option<u16>,
        /// How long it took, in milliseconds.
        took_ms: u32,
        /// The start of the body, as the receiver wrote it.
        excerpt: String,
        /// Why there was no response.
        error: Option<String>,
    }
}

/// A webhook to create.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct NewWebhook {
    /// The URL that deliveries go to: https to a public address.
    pub url: String,
    /// The types of event to deliver, such as `settlement.completed`; all by default, including future ones.
    #[uniffi(default = [])]
    pub events: Vec<String>,
    /// A description for people.
    #[uniffi(default = None)]
    pub description: Option<String>,
}

/// Changes to a webhook. What is not set stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct WebhookChange {
    /// The URL that deliveries go to.
    #[uniffi(default = None)]
    pub url: Option<String>,
    /// The types of event to deliver; an empty list for all.
    #[uniffi(default = None)]
    pub events: Option<Vec<String>>,
    /// A description for people; an empty one removes it.
    #[uniffi(default = None)]
    pub description: Option<String>,
    /// Whether anything is delivered to it.
    #[uniffi(default = None)]
    pub enabled: Option<bool>,
}

/// Selects deliveries.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct DeliveryFilter {
    /// In this state.
    #[uniffi(default = None)]
    pub status: Option<DeliveryStatus>,
    /// Page size, 1 to 200.
    #[uniffi(default = 50)]
    pub limit: u32,
    /// `next_cursor` of the previous page.
    #[uniffi(default = None)]
    pub cursor: Option<String>,
}

/// A page of deliveries.
#[derive(Debug, Clone, PartialEq, Deserialize, uniffi::Record)]
pub struct DeliveryPage {
    /// The deliveries, newest first.
    pub data: Vec<Delivery>,
    /// Whether there are more after this page.
    pub has_more: bool,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

impl Give<DeliveryPage> for Page<DeliveryView> {
    fn give(self) -> Result<DeliveryPage, GatewayError> {
        let Self { data, has_more, next_cursor } = self;
        Ok(DeliveryPage { data: data.give()?, has_more, next_cursor })
    }
}

/// Events to deliver again.
#[derive(Debug, Clone, PartialEq, Eq, uniffi::Record)]
pub struct ReplayRequest {
    /// Those that happened at this time or later.
    pub since: Instant,
    /// Those that happened before this time; all by default.
    #[uniffi(default = None)]
    pub until: Option<Instant>,
    /// `next_after` of the previous call, to continue from there.
    #[uniffi(default = None)]
    pub after: Option<i64>,
}

/// The result of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, uniffi::Record)]
pub struct Replay {
    /// The number of deliveries that were queued.
    pub queued: u64,
    /// Set if there are more events than one call handles: make the same call with this as `after`.
    pub next_after: Option<i64>,
}

/// The client's webhooks: see [`GatewayClient::webhooks`].
#[derive(uniffi::Object)]
pub struct Webhooks {
    link: Arc<Link>,
}

fn path(id: &str, rest: &str) -> Result<String, GatewayError> {
    Ok(format!("{WEBHOOKS}/{}{rest}", part(id, ErrorCode::WebhookNotFound)?))
}

fn path_of_delivery(id: &str, delivery: &str, rest: &str) -> Result<String, GatewayError> {
    path(id, &format!("/deliveries/{}{rest}", part(delivery, ErrorCode::DeliveryNotFound)?))
}

impl Webhooks {
    fn call<T: serde::de::DeserializeOwned>(&self, request: Request, extra_ms: u64) -> Boxed<'_, Result<T, GatewayError>> {
        self.link.call(railgate::client::Call::new(request).repeatable().extra(extra_ms), TRIES)
    }

    fn look<T: serde::de::DeserializeOwned>(&self, path: &str) -> Boxed<'_, Result<T, GatewayError>> {
        self.call(Request::new("GET", path), 0)
    }
}

#[uniffi::export]
impl GatewayClient {
    /// The client's webhooks at the gateway.
    ///
    /// # Errors
    /// None.
    pub fn webhooks(&self) -> Result<Arc<Webhooks>, GatewayError> {
        Ok(Arc::new(Webhooks { link: self.link.clone() }))
    }
}

#[uniffi::export]
impl Webhooks {
    /// Creates a webhook. The result has its secret, only this once: in the sandbox the one that the client got when it enrolled.
    ///
    /// # Errors
    /// `Refused`, such as `invalid_fields` or `too_many_webhooks`; `Unanswered`, `Unsigned`.
    pub async fn create(&self, request: NewWebhook) -> Result<Webhook, GatewayError> {
        let NewWebhook { url, events, description } = request;
        let body = NewWebhookBody { url, events: (!events.is_empty()).then_some(events), description };
        self.call(once("POST", WEBHOOKS, written(&body))?, 0).await
    }

    /// Returns the webhooks, oldest first.
    ///
    /// # Errors
    /// `Refused`, `Unanswered`, `Unsigned`.
    pub async fn list(&self) -> Result<Vec<Webhook>, GatewayError> {
        let page: Data<Webhook> = self.look(WEBHOOKS).await?;
        Ok(page.data)
    }

    /// Returns the webhook with this id.
    ///
    /// # Errors
    /// `Refused` with code `webhook_not_found`; `Unanswered`, `Unsigned`.
    pub async fn get(&self, id: String) -> Result<Webhook, GatewayError> {
        self.look(&path(&id, "")?).await
    }

    /// Changes a webhook.
    ///
    /// # Errors
    /// As [`Webhooks::get`]; `Refused` with code `invalid_fields`.
    pub async fn update(&self, id: String, change: WebhookChange) -> Result<Webhook, GatewayError> {
        let WebhookChange { url, events, description, enabled } = change;
        let filled = |text: String| (!text.is_empty()).then_some(text);
        let events = events.map(|events| (!events.is_empty()).then_some(events));
        let body = WebhookPatchBody { url, events, description: description.map(filled), enabled };
        self.call(once("PATCH", &path(&id, "")?, written(&body))?, 0).await
    }

    /// Removes a webhook. Its pending deliveries are dropped, and its past ones can no longer be read.
    ///
    /// # Errors
    /// As [`Webhooks::get`].
    pub async fn remove(&self, id: String) -> Result<(), GatewayError> {
        self.call(Request::new("DELETE", &path(&id, "")?), 0).await
    }

    /// Enables a webhook again that its owner or the gateway disabled. Its pending deliveries are made at once.
    ///
    /// # Errors
    /// As [`Webhooks::get`].
    pub async fn enable(&self, id: String) -> Result<Webhook, GatewayError> {
        self.call(once("POST", &path(&id, "/enable")?, String::new())?, 0).await
    }

    /// Gives a webhook a new secret, which the result has, only this once. For `grace_s` seconds, one day by default, the old one
    /// signs deliveries too.
    ///
    /// # Errors
    /// As [`Webhooks::get`]; `Refused` with code `invalid_fields`.
    #[uniffi::method(default(grace_s = None))]
    pub async fn rotate(&self, id: String, grace_s: Option<u32>) -> Result<Webhook, GatewayError> {
        self.call(once("POST", &path(&id, "/rotate-secret")?, written(&RotationBody { grace: grace_s }))?, 0).await
    }

    /// Delivers an example at once, of type `kind`, or of a completed settlement, and returns what the receiver answered.
    ///
    /// # Errors
    /// As [`Webhooks::get`]. A receiver that refuses is no error.
    #[uniffi::method(default(kind = None))]
    pub async fn test(&self, id: String, kind: Option<String>) -> Result<WebhookTest, GatewayError> {
        self.call(once("POST", &path(&id, "/test")?, written(&TestBody { kind }))?, LONGEST_TEST_MS).await
    }

    /// Returns a page of the deliveries to a webhook, newest first: those of the last 30 days.
    ///
    /// # Errors
    /// As [`Webhooks::get`]; `Invalid` for a status that this version does not know.
    pub async fn deliveries(&self, id: String, filter: DeliveryFilter) -> Result<DeliveryPage, GatewayError> {
        let DeliveryFilter { status, limit, cursor } = filter;
        let unknown = || GatewayError::invalid(Problem::local("invalid_fields", "this status cannot be searched for"));
        let status = status.map(|status| status.name().ok_or_else(unknown)).transpose()?;
        let query = pairs([("limit", Some(limit.to_string())), ("status", status.map(str::to_owned)), ("cursor", cursor)]);
        self.look(&below(&path(&id, "/deliveries")?, query)).await
    }

    /// Returns a delivery to a webhook.
    ///
    /// # Errors
    /// `Refused` with code `delivery_not_found`; `Unanswered`, `Unsigned`.
    pub async fn delivery(&self, id: String, delivery: String) -> Result<Delivery, GatewayError> {
        self.look(&path_of_delivery(&id, &delivery, "")?).await
    }

    /// Delivers the same event again, with the same `webhook-id`; returns the new delivery.
    ///
    /// # Errors
    /// As [`Webhooks::delivery`]; `Refused` if the webhook is disabled.
    pub async fn redeliver(&self, id: String, delivery: String) -> Result<Delivery, GatewayError> {
        self.call(once("POST", &path_of_delivery(&id, &delivery, "/redeliver")?, String::new())?, 0).await
    }

    /// Delivers the events of a period again, each with its `webhook-id`.
    ///
    /// # Errors
    /// As [`Webhooks::get`]; `Refused` if the webhook is disabled.
    pub async fn replay(&self, id: String, request: ReplayRequest) -> Result<Replay, GatewayError> {
        let ReplayRequest { since, until, after } = request;
        let body = ReplayBody { since: since.rfc3339(), until: until.map(Instant::rfc3339), after };
        self.call(once("POST", &path(&id, "/replay")?, written(&body))?, 0).await
    }
}
