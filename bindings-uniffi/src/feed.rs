//! Follows the events of all settlements.

use std::sync::{Arc, Mutex, PoisonError};

use railgate::ErrorCode;
use railgate::client::{Call, Request};
use railgate::sandbox::Sandbox;

use crate::error::GatewayError;
use crate::link::{Link, TRIES, view};
use crate::live::Live;
use crate::sandbox_line::json;
use crate::views::{FeedEvent, FeedPage};

/// The maximum number of events returned at once.
const AT_ONCE: usize = 100;
/// The pauses between two looks at a server's feed, while nothing happens: the first one, and the longest.
const PAUSES_MS: (i64, i64) = (500, 8_000);

/// A page of the feed of a sandbox.
pub(crate) fn feed_of(sandbox: &Sandbox, after: i64, limit: usize, epoch: Option<u32>) -> railgate::error::Result<railgate::api::FeedPage> {
    let page = sandbox.client().feed(after, limit)?;
    if epoch.is_some_and(|epoch| epoch != page.epoch) { Err(railgate::Error::new(ErrorCode::EpochChanged)) } else { Ok(page) }
}

enum Source {
    Server(Arc<Link>),
    Sandbox(Live),
}

#[derive(Clone, Copy)]
struct Seen {
    after: i64,
    epoch: Option<u32>,
}

/// The events of a gateway. The packages wrap it as an async iterator, a `Flow` or an `AsyncSequence`.
#[derive(uniffi::Object)]
pub struct FeedFollower {
    source: Source,
    seen: Mutex<Seen>,
}

impl FeedFollower {
    pub(crate) fn of_server(link: Arc<Link>, after: i64, epoch: Option<u32>) -> Self {
        Self { source: Source::Server(link), seen: Mutex::new(Seen { after, epoch }) }
    }

    pub(crate) fn of_sandbox(live: Live, after: i64, epoch: Option<u32>) -> Self {
        Self { source: Source::Sandbox(live), seen: Mutex::new(Seen { after, epoch }) }
    }

    fn seen(&self) -> Seen {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next page that is not empty.
    async fn page(&self, seen: Seen) -> Result<FeedPage, GatewayError> {
        match &self.source {
            Source::Sandbox(live) => {
                let look = move |sandbox: &Sandbox| {
                    let page = feed_of(sandbox, seen.after, AT_ONCE, seen.epoch)?;
                    (!page.data.is_empty()).then(|| json(&page)).transpose()
                };
                view(live.until(look).await?.as_bytes())
            }
            Source::Server(link) => {
                let epoch = seen.epoch.map(|epoch| format!("&epoch={epoch}")).unwrap_or_default();
                let path = format!("/api/v1/gateway/events?after={}&limit={AT_ONCE}{epoch}", seen.after);
                let mut pause_ms = PAUSES_MS.0;
                loop {
                    let page: FeedPage = link.call(Call::new(Request::new("GET", &path)).repeatable(), TRIES).await?;
                    if !page.data.is_empty() {
                        return Ok(page);
                    }
                    link.pause(pause_ms).await?;
                    pause_ms = (2 * pause_ms).min(PAUSES_MS.1);
                }
            }
        }
    }
}

#[uniffi::export]
impl FeedFollower {
    /// Returns the events since the last call; waits until there are any. Failures are retried a few times first; after an error it may
    /// be called again.
    ///
    /// # Errors
    /// `Refused`, with `epoch_changed` if a backup of the gateway was restored since; `Unanswered`, `Unsigned`, `Storage`.
    pub async fn next(&self) -> Result<Vec<FeedEvent>, GatewayError> {
        let page = self.page(self.seen()).await?;
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = Seen { after: page.next_after, epoch: Some(page.epoch) };
        Ok(page.data)
    }
}
