//! The worker: sends the outbox's tasks to the rails and reports their answers.
//!
//! All its state is in the store, so it may stop at any moment. Tasks that it leased and did not report are leased again
//! when the lease ends, or at the next start.

use std::sync::Arc;
use std::time::Duration;

use crate::stop::Stop;
use railgate::api::Lease;
use railgate::engine::{LeaseTasks, Maintain, Recover, SWEEP};
use railgate::{Error, Result};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::background::{Backoff, until};
use crate::carrier::Carrier;
use crate::gateway::Gateway;
use crate::metrics::Metrics;

/// Settings of the worker.
#[derive(Debug, Clone, Copy)]
pub struct WorkerSettings {
    /// How many tasks are leased together.
    pub batch: usize,
    /// How many batches are in flight at the same time.
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

/// Drives the outbox until `stop` turns true, then finishes the batches in flight.
pub async fn drive(gateway: Gateway, carrier: Carrier, metrics: Arc<Metrics>, settings: WorkerSettings, stop: Stop) {
    let backoff = Backoff::new("the outbox", &stop);
    let mut worker = Worker { gateway, carrier, metrics, settings, stop, in_flight: JoinSet::new(), backoff };
    if !settings.carries {
        return worker.stop.requested().await;
    }
    if settings.alone {
        worker.recover().await;
    }
    let mut maintained = None;
    while !worker.stopped() {
        if maintained.is_none_or(|at: Instant| at <= Instant::now()) {
            // More to remove is not left for the next hour.
            let pause = if worker.maintain().await { MAINTAIN_AGAIN } else { MAINTAIN_EVERY };
            maintained = Some(Instant::now() + pause);
        }
        worker.step().await;
    }
    while worker.in_flight.join_next().await.is_some() {}
}

struct Worker {
    gateway: Gateway,
    carrier: Carrier,
    metrics: Arc<Metrics>,
    settings: WorkerSettings,
    stop: Stop,
    in_flight: JoinSet<Result<()>>,
    backoff: Backoff,
}

impl Worker {
    fn stopped(&self) -> bool {
        self.stop.is_requested()
    }

    /// Leases one batch and starts it, or waits until there is something to lease.
    async fn step(&mut self) {
        while let Some(done) = self.in_flight.try_join_next() {
            self.judge(done).await;
        }
        if self.in_flight.len() >= self.settings.batches {
            if let Some(done) = self.in_flight.join_next().await {
                self.judge(done).await;
            }
            return;
        }
        self.gateway.wake().reset();
        match self.lease().await {
            Ok(leases) if leases.is_empty() => self.rest().await,
            Ok(leases) => {
                self.backoff.reset();
                self.metrics.leased(leases.len());
                let carrier = self.carrier.clone();
                self.in_flight.spawn(async move { carrier.carry(leases).await });
            }
            Err(error) => self.backoff.wait("leasing tasks", &error).await,
        }
    }

    async fn lease(&self) -> Result<Vec<Lease>> {
        self.gateway.work(LeaseTasks { limit: self.settings.batch }).await
    }

    /// Waits until a task is due, something new is, a batch ended, or it is time to stop.
    async fn rest(&mut self) {
        let next = match self.gateway.read(|engine| Ok((engine.next_due()?, engine.now()))).await {
            Ok((next, now)) => until(next, now),
            Err(error) => return self.backoff.wait("looking into the outbox", &error).await,
        };
        // A due task that was not leased is in a group that is being committed: a moment later it is gone.
        let nap = next.clamp(Duration::from_millis(1), self.settings.look_every);
        let ended = tokio::select! {
            () = sleep(nap) => None,
            () = self.gateway.wake().earlier() => None,
            done = self.in_flight.join_next(), if !self.in_flight.is_empty() => done,
            () = self.stop.requested() => None,
        };
        if let Some(done) = ended {
            self.judge(done).await;
        }
    }

    async fn judge(&mut self, done: Result<Result<()>, tokio::task::JoinError>) {
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.backoff.wait("reporting answers", &error).await,
            Err(cause) => self.backoff.wait("carrying a batch", &Error::internal(cause)).await,
        }
    }

    /// Removes what is out of date; returns whether there may be more to remove.
    async fn maintain(&mut self) -> bool {
        match self.gateway.work(Maintain).await {
            Ok(removed) => {
                tracing::debug!(removed, "maintenance");
                return removed >= SWEEP;
            }
            // Tried again in an hour.
            Err(error) => tracing::warn!(%error, "maintenance failed"),
        }
        false
    }

    /// Frees the tasks that the last host had leased, however long the store needs.
    async fn recover(&mut self) {
        while !self.stopped() {
            match self.gateway.work(Recover).await {
                Ok(freed) => return tracing::debug!(freed, "tasks of the last run freed"),
                Err(error) => self.backoff.wait("recovering tasks", &error).await,
            }
        }
    }
}
