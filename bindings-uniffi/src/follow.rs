//! Follows a settlement by long polling.

use std::sync::{Arc, Mutex, PoisonError};

use railgate::client::{Call, Request};

use crate::error::GatewayError;
use crate::link::{Link, read};
use crate::views::Status;

/// How long the gateway delays a response while nothing changes.
const WAIT_S: u32 = 25;
/// Attempts of one poll before the app gets an error, after which it may continue.
const TRIES: u32 = 6;

#[derive(Clone, Copy, Default)]
struct Seen {
    version: Option<u32>,
    ended: bool,
}

/// The changes of a settlement's status. The packages wrap it as an async iterator, a `Flow` or an `AsyncSequence`.
#[derive(uniffi::Object)]
pub struct StatusFollower {
    link: Arc<Link>,
    path: String,
    seen: Mutex<Seen>,
}

impl StatusFollower {
    pub(crate) fn new(link: Arc<Link>, path: String) -> Self {
        Self { link, path, seen: Mutex::default() }
    }

    fn seen(&self) -> Seen {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn look(&self, version: Option<u32>) -> Result<Status, GatewayError> {
        let (path, wait_s) = match version {
            None => (self.path.clone(), 0),
            Some(version) => (format!("{}?wait={WAIT_S}&version={version}", self.path), WAIT_S),
        };
        let call = Call::new(Request::new("GET", &path)).repeatable().extra(u64::from(wait_s) * 1_000);
        self.link.carry(call, TRIES, |answer| read::<Status>(answer).is_ok()).await.read()
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
            let status = self.look(seen.version).await?;
            // Otherwise nothing has changed.
            if seen.version.is_none_or(|version| status.version > version) {
                let now = Seen { version: Some(status.version), ended: status.is_final };
                *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = now;
                return Ok(Some(status));
            }
        }
    }
}
