//! Numbers events after the commits that make them: in their owners' feeds, and in the log.

use std::time::Duration;

use railgate::Result;
use railgate::api::Logged;
use railgate::engine::NumberEvents;
use tokio::time::{Instant, sleep_until};

use crate::background::{Background, InFlight, Next};
use crate::gateway::Gateway;

/// About how many events are numbered in one commit.
const AT_ONCE: usize = 512;
/// The shortest time between rounds under load: each round is a commit that creates have to wait for.
const PACE: Duration = Duration::from_millis(10);
/// How often to look whether another node is still numbering.
const LOOK: Duration = Duration::from_millis(250);

/// The background loop that numbers events.
pub(crate) struct Numbering {
    gateway: Gateway,
    look_every: Duration,
    begun: Instant,
}

impl Numbering {
    pub(crate) fn new(gateway: Gateway, look_every: Duration) -> Self {
        Self { gateway, look_every, begun: Instant::now() }
    }
}

impl Background for Numbering {
    const PART: &'static str = "the numbering of events";

    async fn step(&mut self, _: &mut InFlight) -> Result<Next> {
        self.begun = Instant::now();
        let logged = step(&self.gateway).await?;
        Ok(match (logged.more, logged.held_until) {
            (true, _) => Next::Step,
            (false, Some(_)) => Next::Rest(LOOK),
            // Other nodes make events too, and may go away before they number them.
            (false, None) => Next::Rest(self.look_every),
        })
    }

    async fn woken(&self) {
        self.gateway.unlogged().await;
        sleep_until(self.begun + PACE).await;
    }

    /// Numbers once more. Events that are left then are durable, and are numbered after the next start.
    async fn end(self, _: InFlight) {
        if let Err(error) = step(&self.gateway).await {
            tracing::warn!(%error, "the last events are numbered after the next start");
        }
    }
}

/// Numbers some events; returns how far it got.
pub(crate) async fn step(gateway: &Gateway) -> Result<Logged> {
    gateway.work(NumberEvents { limit: AT_ONCE }).await
}
