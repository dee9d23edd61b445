//! The worker: carries what the outbox holds to the rails and reports their answers.
//!
//! Everything it does is in the store before and after: it keeps nothing of its own, and may stop at any moment. What
//! it had leased and not reported is found again when the lease ends, or at the next start.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::stop::Stop;
use railgate::api::{Call, Command, Lease, Outcome, Subject, Work};
use railgate::engine::SWEEP;
use railgate::rail::RailAnswer;
use railgate::route::RailKind;
use railgate::store::record::TaskKey;
use railgate::{Error, Result};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::background::{Backoff, until};
use crate::gateway::Gateway;
use crate::metrics::Metrics;

/// How the worker goes about it.
#[derive(Debug, Clone, Copy)]
pub struct WorkerSettings {
    /// Tasks leased together.
    pub batch: usize,
    /// Batches under way at the same time.
    pub batches: usize,
    /// It looks into the outbox at least this often, whatever its alarm clock says: clocks are put forward, and other
    /// nodes write too.
    pub look_every: Duration,
    /// Whether it carries anything at all; if not, what is due waits.
    pub carries: bool,
    /// The store has no other host: tasks that its last host left behind are freed at the start.
    pub alone: bool,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self { batch: 64, batches: 4, look_every: Duration::from_secs(5), carries: true, alone: true }
    }
}

const MAINTAIN_EVERY: Duration = Duration::from_secs(3_600);
const MAINTAIN_AGAIN: Duration = Duration::from_secs(1);

/// Drives the outbox until `stop` turns true, then finishes what it has under way.
pub async fn drive(gateway: Gateway, metrics: Arc<Metrics>, settings: WorkerSettings, stop: Stop) {
    let backoff = Backoff::new("the outbox", &stop);
    let mut worker = Worker { gateway, metrics, settings, stop, under_way: JoinSet::new(), backoff };
    if !settings.carries {
        return worker.stop.requested().await;
    }
    if settings.alone {
        worker.insist(Command::Recover).await;
    }
    let mut maintained = None;
    while !worker.stopped() {
        if maintained.is_none_or(|at: Instant| at <= Instant::now()) {
            // What did not fit one round is not left for the next hour.
            let pause = if worker.maintain().await { MAINTAIN_AGAIN } else { MAINTAIN_EVERY };
            maintained = Some(Instant::now() + pause);
        }
        worker.step().await;
    }
    while worker.under_way.join_next().await.is_some() {}
}

struct Worker {
    gateway: Gateway,
    metrics: Arc<Metrics>,
    settings: WorkerSettings,
    stop: Stop,
    under_way: JoinSet<Result<()>>,
    backoff: Backoff,
}

impl Worker {
    fn stopped(&self) -> bool {
        self.stop.is_requested()
    }

    /// Leases one batch and starts it, or waits until there is something to lease.
    async fn step(&mut self) {
        while let Some(done) = self.under_way.try_join_next() {
            self.judge(done).await;
        }
        if self.under_way.len() >= self.settings.batches {
            if let Some(done) = self.under_way.join_next().await {
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
                self.under_way.spawn(carry(self.gateway.clone(), self.metrics.clone(), leases));
            }
            Err(error) => self.backoff.wait("leasing tasks", &error).await,
        }
    }

    async fn lease(&self) -> Result<Vec<Lease>> {
        match self.gateway.run_work(vec![Command::Lease { limit: self.settings.batch }]).await?.pop() {
            Some(Ok(Outcome::Leased(leases))) => Ok(leases),
            Some(Err(error)) => Err(error),
            Some(Ok(other)) => Err(unexpected(&other)),
            None => Err(Error::internal("no answer to a lease")),
        }
    }

    /// Waits until the next task is due, something new is, a batch ended, or it is time to stop.
    async fn rest(&mut self) {
        let next = match self.gateway.read(|engine| Ok((engine.next_due()?, engine.now()))).await {
            Ok((next, now)) => until(next, now),
            Err(error) => return self.backoff.wait("looking into the outbox", &error).await,
        };
        // A task that is due and was not leased belongs to somebody else's group: a moment later it is gone.
        let nap = next.clamp(Duration::from_millis(1), self.settings.look_every);
        let ended = tokio::select! {
            () = sleep(nap) => None,
            () = self.gateway.wake().earlier() => None,
            done = self.under_way.join_next(), if !self.under_way.is_empty() => done,
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

    /// Says whether there may be more to remove.
    async fn maintain(&mut self) -> bool {
        match self.gateway.run_work(vec![Command::Maintain]).await.map(|mut all| all.pop()) {
            Ok(Some(Ok(Outcome::Done(removed)))) => {
                tracing::debug!(removed, "maintenance");
                return removed >= SWEEP;
            }
            Ok(Some(Ok(_)) | None) => {}
            // The next hour will do.
            Ok(Some(Err(error))) | Err(error) => tracing::warn!(%error, "maintenance failed"),
        }
        false
    }

    /// Carries out a command however long the store needs.
    async fn insist(&mut self, command: Command) {
        while !self.stopped() {
            match self.gateway.run_work(vec![command.clone()]).await.map(|mut all| all.pop()) {
                Ok(Some(Err(error))) | Err(error) => self.backoff.wait("recovering tasks", &error).await,
                Ok(Some(Ok(Outcome::Done(freed)))) => return tracing::debug!(freed, "tasks of the last run freed"),
                Ok(Some(Ok(_)) | None) => return,
            }
        }
    }
}

/// Asks the rails what a batch wants to know, and reports what they said.
async fn carry(gateway: Gateway, metrics: Arc<Metrics>, leases: Vec<Lease>) -> Result<()> {
    let mut answers: Vec<(Subject, RailAnswer, TaskKey)> = Vec::with_capacity(leases.len());
    let mut calls: HashMap<RailKind, Vec<(TaskKey, Call)>> = HashMap::new();
    for lease in leases {
        match lease.work {
            Work::Callback { subject, answer } => answers.push((subject, answer, lease.key)),
            Work::Call(call) => calls.entry(call.rail).or_default().push((lease.key, call)),
        }
    }
    for (rail, calls) in calls {
        match rail {
            RailKind::Simulator => answers.extend(simulate(&gateway, calls).await?),
        }
    }
    for (_, answer, _) in &answers {
        metrics.rail_answer(answer.kind());
    }
    let commands = answers.into_iter().map(|(subject, answer, key)| Command::Answer { subject, answer, lease: Some(key) });
    let mut first_error = None;
    for result in gateway.run_work(commands.collect()).await? {
        if let Err(error) = result {
            // Its lease ends and it is taken again; the others of the batch are not held up.
            first_error.get_or_insert(error);
        }
    }
    first_error.map_or(Ok(()), Err)
}

/// The simulated operator keeps its books in the same store: its calls are commands.
async fn simulate(gateway: &Gateway, calls: Vec<(TaskKey, Call)>) -> Result<Vec<(Subject, RailAnswer, TaskKey)>> {
    let asked: Vec<_> = calls.iter().map(|(key, call)| (call.subject, *key)).collect();
    let commands = calls.into_iter().map(|(_, call)| Command::Simulate(call)).collect();
    let results = gateway.run_work(commands).await?;
    // A call that could not be carried says nothing about its fate: it may have arrived.
    let answer = |result| match result {
        Ok(Outcome::Simulated(answer)) => answer,
        Ok(_) | Err(_) => RailAnswer::Unknown,
    };
    Ok(asked.into_iter().zip(results).map(|((subject, key), result)| (subject, answer(result), key)).collect())
}

/// Asks a rail right now, in the name of a client that waits.
pub async fn ask(gateway: &Gateway, call: Call) -> Result<RailAnswer> {
    match call.rail {
        RailKind::Simulator => match gateway.run(Command::Simulate(call)).await? {
            Outcome::Simulated(answer) => Ok(answer),
            other => Err(unexpected(&other)),
        },
    }
}

pub(crate) fn unexpected(outcome: &Outcome) -> Error {
    let kind = match outcome {
        Outcome::Enrolled(_) => "enrolled",
        Outcome::Token(_) => "token",
        Outcome::Key(_) => "key",
        Outcome::Client(_) => "client",
        Outcome::Created { .. } => "created",
        Outcome::Reversed { .. } => "reversed",
        Outcome::Leased(_) => "leased",
        Outcome::Simulated(_) => "simulated",
        Outcome::Logged(_) => "logged",
        Outcome::Webhook(_) => "webhook",
        Outcome::Parcels(_) => "parcels",
        Outcome::Done(_) => "done",
    };
    Error::internal(format!("the engine answered another command: {kind}"))
}
