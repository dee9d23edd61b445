//! Following a settlement by long polls.

use std::sync::{Arc, Mutex, PoisonError};

use railgate::client::Request;
use railgate::client::outbox::pause_ms;

use crate::error::GatewayError;
use crate::link::{Link, read};
use crate::views::Status;

/// How long the gateway holds an answer while nothing changes.
const WAIT_S: u32 = 25;
/// After this many failures in a row the app gets an error; it may continue.
const PATIENCE: u32 = 5;

#[derive(Clone, Copy, Default)]
struct Seen {
    version: Option<u32>,
    ended: bool,
}

/// A settlement's status, change by change. The packages make an async iterator, a `Flow` and an `AsyncSequence` of it.
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
        let answer = self.link.call(Request::new("GET", &path), wait_s).await.map_err(|lost| lost.error)?;
        read(&answer)
    }
}

#[uniffi::export]
impl StatusFollower {
    /// Returns the status at once the first time, then the next one as soon as it changes; none when nothing more happens by
    /// itself. Failures are retried a few times first; after an error it may be called again.
    ///
    /// # Errors
    /// As [`GatewayClient::status`](crate::GatewayClient::status).
    pub async fn next(&self) -> Result<Option<Status>, GatewayError> {
        let mut failures = 0;
        loop {
            let seen = self.seen();
            if seen.ended {
                return Ok(None);
            }
            match self.look(seen.version).await {
                Ok(status) if seen.version.is_none_or(|version| status.version > version) => {
                    let now = Seen { version: Some(status.version), ended: status.is_final };
                    *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = now;
                    return Ok(Some(status));
                }
                // Nothing has changed.
                Ok(_) => failures = 0,
                Err(error) if failures < PATIENCE && error.may_pass() => {
                    failures += 1;
                    self.link.pause(pause_ms(&self.path, failures)).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }
}
