//! Follows a settlement: by long polling at a gateway, by its changes in a sandbox.

use std::sync::{Arc, Mutex, PoisonError};

use railgate::ErrorCode;
use railgate::client::{Call, Request};

use crate::client::part;
use crate::error::GatewayError;
use crate::link::{Link, view};
use crate::live::Live;
use crate::names::ReversalStatus;
use crate::sandbox_line::json;
use crate::views::{Reversal, Settlement, Status};

/// How long the gateway delays a response while nothing changes.
const WAIT_S: u32 = 25;
/// Attempts of one poll before the app gets an error, after which it may continue.
const TRIES: u32 = 6;

/// A settlement whose changes are awaited.
#[derive(Clone)]
pub(crate) enum Followed {
    /// At a gateway, its path.
    Server(Arc<Link>, String),
    /// In a sandbox, its reference or id.
    Sandbox(Live, String),
}

impl Followed {
    /// The status, once its version is above `version`. At a gateway it may also be the same one, after a while.
    async fn status(&self, version: Option<u32>) -> Result<Status, GatewayError> {
        match self {
            Self::Server(link, path) => {
                let (query, wait_s) = match version {
                    None => (String::new(), 0),
                    Some(version) => (format!("?wait={WAIT_S}&version={version}"), WAIT_S),
                };
                let request = Request::new("GET", &format!("{path}/status{query}"));
                link.call(Call::new(request).repeatable().extra(u64::from(wait_s) * 1_000), TRIES).await
            }
            Self::Sandbox(live, reference) => {
                let reference = reference.clone();
                let look = move |sandbox: &railgate::sandbox::Sandbox| {
                    let status = sandbox.client().status(&reference)?;
                    version.is_none_or(|version| status.version > version).then(|| json(&status)).transpose()
                };
                view(live.until(look).await?.as_bytes())
            }
        }
    }

    async fn settlement(&self) -> Result<Settlement, GatewayError> {
        match self {
            Self::Server(link, path) => link.call(Call::new(Request::new("GET", path)).repeatable(), TRIES).await,
            Self::Sandbox(live, reference) => {
                let reference = reference.clone();
                view(live.until(move |sandbox| json(&sandbox.client().settlement(&reference)?).map(Some)).await?.as_bytes())
            }
        }
    }

    /// One of its reversals, by its id or reference.
    pub(crate) async fn reversal(&self, id: &str) -> Result<Reversal, GatewayError> {
        let id = part(id, ErrorCode::ReversalNotFound)?;
        match self {
            Self::Server(link, path) => {
                let request = Request::new("GET", &format!("{path}/reversals/{id}"));
                link.call(Call::new(request).repeatable(), TRIES).await
            }
            Self::Sandbox(live, reference) => {
                let (reference, id) = (reference.clone(), id.to_owned());
                view(live.until(move |sandbox| json(&sandbox.client().reversal(&reference, &id)?).map(Some)).await?.as_bytes())
            }
        }
    }

    /// The settlement once it no longer changes by itself, and with `reversals` once none of them is in flight.
    pub(crate) async fn settled(&self, reversals: bool) -> Result<Settlement, GatewayError> {
        let mut version = None;
        loop {
            let status = self.status(version).await?;
            version = Some(status.version);
            if status.is_final {
                let settlement = self.settlement().await?;
                if !reversals || settlement.reversing_amount.is_zero() {
                    return Ok(settlement);
                }
                version = Some(settlement.version);
            }
        }
    }

    /// One of its reversals once it is completed or has failed.
    pub(crate) async fn reversed(&self, id: &str) -> Result<Reversal, GatewayError> {
        let mut version = None;
        loop {
            version = Some(self.status(version).await?.version);
            let reversal = self.reversal(id).await?;
            if matches!(reversal.status, ReversalStatus::Completed | ReversalStatus::Failed) {
                return Ok(reversal);
            }
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Seen {
    version: Option<u32>,
    ended: bool,
}

/// The changes of a settlement's status. The packages wrap it as an async iterator, a `Flow` or an `AsyncSequence`.
#[derive(uniffi::Object)]
pub struct StatusFollower {
    followed: Followed,
    seen: Mutex<Seen>,
}

impl StatusFollower {
    pub(crate) fn new(followed: Followed) -> Self {
        Self { followed, seen: Mutex::default() }
    }

    fn seen(&self) -> Seen {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[uniffi::export]
impl StatusFollower {
    /// Returns the status at once the first time, then the next one as soon as it changes; none when it no longer changes by
    /// itself. Failures are retried a few times first; after an error it may be called again.
    ///
    /// # Errors
    /// As [`GatewayClient::status`](crate::GatewayClient::status).
    pub async fn next(&self) -> Result<Option<Status>, GatewayError> {
        loop {
            let seen = self.seen();
            if seen.ended {
                return Ok(None);
            }
            let status = self.followed.status(seen.version).await?;
            // Otherwise nothing has changed.
            if seen.version.is_none_or(|version| status.version > version) {
                let now = Seen { version: Some(status.version), ended: status.is_final };
                *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = now;
                return Ok(Some(status));
            }
        }
    }
}
