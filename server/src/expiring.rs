//! Cancels payments whose time to be sent is over, whatever the outbox does.

use std::future::pending;
use std::time::Duration;

use railgate::Result;
use railgate::engine::Expire;

use crate::background::{Background, InFlight, Next};
use crate::gateway::Gateway;

/// How many are cancelled in one commit.
const AT_ONCE: usize = 256;
/// How often to look for more.
const LOOK: Duration = Duration::from_millis(500);

/// The background loop that enforces `expires_at`.
pub(crate) struct Expiring {
    gateway: Gateway,
}

impl Expiring {
    pub(crate) fn new(gateway: Gateway) -> Self {
        Self { gateway }
    }
}

impl Background for Expiring {
    const PART: &'static str = "the expiry of payments";

    async fn step(&mut self, _: &mut InFlight) -> Result<Next> {
        // A look first: a command would cost a commit for nothing.
        if !self.gateway.look(|engine| engine.has_expired())? {
            return Ok(Next::Rest(LOOK));
        }
        self.gateway.work(Expire { limit: AT_ONCE }).await?;
        Ok(Next::Step)
    }

    async fn woken(&self) {
        pending().await
    }
}
