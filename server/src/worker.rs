//! The worker: sends the outbox's tasks to the rails and reports their answers.
//!
//! All its state is in the store, so it may stop at any moment. Tasks that it leased and did not report are leased again
//! when the lease ends, or at the next start.

use std::sync::Arc;
use std::time::Duration;

use railgate::Result;
use railgate::engine::{LeaseTasks, Maintain, Recover, SWEEP};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::background::{Background, InFlight, Next, until};
use crate::carrier::Carrier;
use crate::gateway::Gateway;
use crate::metrics::Metrics;

/// Settings of the worker.
#[derive(Debug, Clone, Copy)]
pub struct WorkerSettings {
    /// How many tasks are leased together.
    pub batch: usize,
    /// How many batches are worked on at the same time, not counting their calls to operators outside the gateway.
    pub batches: usize,
    /// The longest time between two looks into the outbox, whatever the alarm clock says: clocks are set forward, and other
    /// nodes write too.
    pub look_every: Duration,
    /// Whether tasks are sent at all; if not, due tasks wait.
    pub carries: bool,
    /// The store has no other host: tasks that its last host had leased are freed at the start.
    pub alone: bool,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { batch: 64, batches: 4, look_every: Duration::from_secs(5), carries: true, alone: true }
    }
}

const MAINTAIN_EVERY: Duration = Duration::from_secs(3_600);
const MAINTAIN_AGAIN: Duration = Duration::from_secs(1);

/// The background loop that sends the outbox's tasks.
pub(crate) struct Worker {
    gateway: Gateway,
    carrier: Carrier,
    metrics: Arc<Metrics>,
    settings: WorkerSettings,
    /// Whether the tasks of the last run were freed.
    recovered: bool,
    maintain_at: Instant,
    /// The batches that are worked on.
    batches: Arc<Semaphore>,
}

impl Worker {
    pub(crate) fn new(gateway: Gateway, carrier: Carrier, metrics: Arc<Metrics>, settings: WorkerSettings) -> Self {
        let batches = Arc::new(Semaphore::new(settings.batches));
        Self { gateway, carrier, metrics, settings, recovered: !settings.alone, maintain_at: Instant::now(), batches }
    }

    /// Removes what has expired, when it is time.
    async fn maintain(&mut self) {
        if self.maintain_at > Instant::now() {
            return;
        }
        let pause = match self.gateway.work(Maintain).await {
            Ok(removed) => {
                tracing::debug!(removed, "maintenance");
                // More to remove is not left for the next hour.
                if removed >= SWEEP { MAINTAIN_AGAIN } else { MAINTAIN_EVERY }
            }
            // Tried again in an hour.
            Err(error) => {
                tracing::warn!(%error, "maintenance failed");
                MAINTAIN_EVERY
            }
        };
        self.maintain_at = Instant::now() + pause;
    }
}

impl Background for Worker {
    const PART: &'static str = "the outbox";

    /// Leases one batch and starts it.
    async fn step(&mut self, in_flight: &mut InFlight) -> Result<Next> {
        if !self.recovered {
            let freed = self.gateway.work(Recover).await?;
            self.recovered = true;
            tracing::debug!(freed, "tasks of the last run freed");
        }
        self.maintain().await;
        let Ok(batch) = Arc::clone(&self.batches).try_acquire_owned() else { return Ok(Next::Rest(Duration::MAX)) };
        self.gateway.wake().reset();
        let leases = self.gateway.work(LeaseTasks { limit: self.settings.batch, in_flight: self.carrier.in_flight() }).await?;
        if leases.is_empty() {
            let (next, now) = self.gateway.look(|engine| Ok((engine.next_due()?, engine.now())))?;
            // A due task that was not leased is in a group that is being committed: a moment later it is gone.
            return Ok(Next::Rest(until(next, now).clamp(Duration::from_millis(1), self.settings.look_every)));
        }
        self.metrics.leased(leases.len());
        let (carrier, round) = (self.carrier.clone(), self.carrier.begin(leases, in_flight));
        in_flight.spawn(async move {
            let _batch = batch;
            carrier.here(round).await
        });
        Ok(Next::Step)
    }

    async fn woken(&self) {
        self.gateway.wake().earlier().await;
    }
}
