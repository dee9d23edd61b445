//! Asks the providers that can tell how they are, so that no payment has to find out.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use railgate::Result;
use railgate::engine::Heartbeat;
use railgate::ids::ProviderNo;
use railgate::route::ProviderSpec;
use tokio::time::Instant;

use crate::background::{Background, InFlight, Next};
use crate::carrier::Carrier;
use crate::gateway::Gateway;
use crate::metrics::Metrics;

/// How often each is asked, and by how much that varies in either direction, so that servers do not ask in step.
const EVERY: Duration = Duration::from_secs(30);
const JITTER_MS: u64 = 5_000;
/// How often to look for providers that were added or changed.
const LOOK: Duration = Duration::from_secs(1);

/// The background loop that asks.
pub(crate) struct Heartbeats {
    gateway: Gateway,
    carrier: Carrier,
    metrics: Arc<Metrics>,
    /// When each is asked next, if it is still the same then.
    next: HashMap<ProviderNo, (Arc<ProviderSpec>, Instant)>,
}

impl Heartbeats {
    pub(crate) fn new(gateway: Gateway, carrier: Carrier, metrics: Arc<Metrics>) -> Self {
        Self { gateway, carrier, metrics, next: HashMap::new() }
    }

    fn pause(&self) -> Duration {
        let mut random = [0; 8];
        self.gateway.engine().env().random(&mut random);
        EVERY - Duration::from_millis(JITTER_MS) + Duration::from_millis(u64::from_le_bytes(random) % (2 * JITTER_MS))
    }
}

impl Background for Heartbeats {
    const PART: &'static str = "the heartbeats of providers";

    async fn step(&mut self, in_flight: &mut InFlight) -> Result<Next> {
        let asked = self.gateway.engine().with_heartbeat();
        self.next.retain(|no, (spec, _)| asked.iter().any(|(other, now)| other == no && now == spec));
        let now = Instant::now();
        for (no, spec) in asked {
            if self.next.get(&no).is_some_and(|(_, at)| *at > now) {
                continue;
            }
            let (carrier, metrics, id) = (self.carrier.clone(), Arc::clone(&self.metrics), spec.id.clone());
            self.next.insert(no, (spec, now + self.pause()));
            in_flight.spawn(async move {
                // A provider that is gone meanwhile is no fault.
                if let Ok(said) = carrier.converse(Heartbeat(no)).await {
                    metrics.heartbeat(&id, said);
                }
                Ok(())
            });
        }
        Ok(Next::Rest(LOOK))
    }

    async fn woken(&self) {
        pending().await
    }

    /// Nothing depends on an answer.
    async fn end(self, mut in_flight: InFlight) {
        in_flight.shutdown().await;
    }
}
