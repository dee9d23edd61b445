//! Cancels payments whose time to be sent is over, whatever the outbox does.

use std::future::pending;
use std::time::Duration;

use railgate::Result;
use railgate::engine::{Expire, Expired};
use railgate::store::Place;

use crate::background::{Background, InFlight, Next};
use crate::gateway::Gateway;

/// How many are cancelled in one commit.
const AT_ONCE: usize = 256;
/// How often to look for more: together with the other loops, so that an idle server wakes for all of them at once.
const LOOK: Duration = Duration::from_secs(1);

/// The background loop that enforces `expires_at`.
pub(crate) struct Expiring {
    gateway: Gateway,
    /// Where the next page of what has expired begins.
    after: Option<Place>,
}

impl Expiring {
    pub(crate) fn new(gateway: Gateway) -> Self {
        Self { gateway, after: None }
    }
}

impl Background for Expiring {
    const PART: &'static str = "the expiry of payments";

    async fn step(&mut self, _: &mut InFlight) -> Result<Next> {
        let after = self.after.take();
        let Expired { settlements, next } = self.gateway.look(|engine| engine.expired(after, AT_ONCE))?;
        self.after = next;
        // A command would cost a commit for nothing.
        if settlements.is_empty() {
            return Ok(Next::Rest(LOOK));
        }
        self.gateway.work(Expire { settlements }).await?;
        Ok(Next::Step)
    }

    async fn woken(&self) {
        pending().await
    }
}
