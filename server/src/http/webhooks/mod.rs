//! Webhooks: a client's endpoints, and the deliveries to them.

mod announced;
pub(super) mod deliveries;
pub(super) mod endpoints;
mod example;
mod in_flight;

use std::convert::Infallible;

use axum::extract::{FromRequestParts, RawPathParams};
use hyper::http::request::Parts;
use railgate::ids::Ulid;
use railgate::{Error, ErrorCode, Result};

pub(super) use announced::announced;
pub(super) use in_flight::InFlight;

/// The webhook and the delivery that the path names. Text that cannot name one counts as not found.
pub(crate) struct Place {
    webhook: Option<Ulid>,
    delivery: Option<Ulid>,
}

impl<S: Send + Sync> FromRequestParts<S> for Place {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        let params = RawPathParams::from_request_parts(parts, state).await.ok();
        let named = |name: &str, prefix: &str| {
            let (_, text) = params.as_ref()?.iter().find(|(known, _)| *known == name)?;
            Ulid::parse(text.strip_prefix(prefix)?)
        };
        Ok(Self { webhook: named("id", "whk_"), delivery: named("delivery", "dlv_") })
    }
}

impl Place {
    fn webhook(&self) -> Result<Ulid> {
        self.webhook.ok_or_else(|| Error::new(ErrorCode::WebhookNotFound))
    }

    fn delivery(&self) -> Result<Ulid> {
        self.delivery.ok_or_else(|| Error::new(ErrorCode::DeliveryNotFound))
    }
}
