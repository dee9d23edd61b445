//! Follows what this or another node, or the command line, may change in the store: the configuration, and whose sandbox has a clock of
//! its own.

use std::future::pending;
use std::time::Duration;

use railgate::Result;

use crate::background::{Background, InFlight, Next};
use crate::gateway::Gateway;

/// How often to look for changes.
const LOOK: Duration = Duration::from_secs(1);

/// The background loop that puts changes of providers, routes and clocks into force.
pub(crate) struct Following {
    gateway: Gateway,
}

impl Following {
    pub(crate) fn new(gateway: Gateway) -> Self {
        Self { gateway }
    }
}

impl Background for Following {
    const PART: &'static str = "the configuration and the clocks";

    async fn step(&mut self, _: &mut InFlight) -> Result<Next> {
        if self.gateway.look(|engine| engine.follow_setup())? {
            tracing::info!("changed providers or routes are in force");
        }
        self.gateway.look(|engine| engine.follow_clocks())?;
        Ok(Next::Rest(LOOK))
    }

    async fn woken(&self) {
        pending().await
    }
}
