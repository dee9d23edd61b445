//! Follows what this or another node, or the command line, may change in the store: the configuration, and whose sandbox has a clock of
//! its own. Tells the others in return that this node runs.

use std::future::pending;
use std::time::Duration;

use railgate::Result;
use railgate::engine::{RecordNode, RemoveNode};
use tokio::time::Instant;

use crate::background::{Background, InFlight, Next, drain};
use crate::gateway::Gateway;

/// How often to look for changes.
const LOOK: Duration = Duration::from_secs(1);
/// How often to record that this node runs.
const RECORD: Duration = Duration::from_secs(10);

/// The background loop that puts changes of providers, routes and clocks into force.
pub(crate) struct Following {
    gateway: Gateway,
    node: RecordNode,
    record_at: Instant,
}

impl Following {
    pub(crate) fn new(gateway: Gateway, node: RecordNode) -> Self {
        Self { gateway, node, record_at: Instant::now() }
    }

    /// Records that this node runs, when it is time, and waits for nothing: what was changed must be in force also while the store takes
    /// no writes.
    fn record(&mut self, in_flight: &mut InFlight) {
        if self.record_at > Instant::now() || !in_flight.is_empty() {
            return;
        }
        self.record_at = Instant::now() + RECORD;
        let (gateway, node) = (self.gateway.clone(), self.node.clone());
        in_flight.spawn(async move {
            if let Err(error) = gateway.work(node).await {
                tracing::warn!(%error, "this server could not record that it runs: others may take it for stopped");
            }
            Ok(())
        });
    }
}

impl Background for Following {
    const PART: &'static str = "the configuration and the clocks";

    async fn step(&mut self, in_flight: &mut InFlight) -> Result<Next> {
        self.record(in_flight);
        if self.gateway.look(|engine| engine.follow_setup())? {
            tracing::info!("changed providers or routes are in force");
        }
        self.gateway.look(|engine| engine.follow_clocks())?;
        Ok(Next::Rest(LOOK))
    }

    async fn woken(&self) {
        pending().await
    }

    async fn end(self, in_flight: InFlight) {
        drain(in_flight).await;
        if let Err(error) = self.gateway.work(RemoveNode).await {
            tracing::warn!(%error, "this server is listed as not running for a day");
        }
    }
}
