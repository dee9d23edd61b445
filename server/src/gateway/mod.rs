//! The gateway: the only way for the hosts in this process to reach the engine.
//!
//! Commands go through a queue to a single writer thread. It takes all waiting commands as one group, lets the engine decide
//! and commit them at once, and answers only then. No timer is needed: while one commit is being made durable, the next
//! group gathers. Reads do not queue; they go straight to the store's readers.

mod clients;
mod lanes;
mod lookups;
mod turns;
mod watch;

use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use railgate::engine::{Command, Effects, Pending};
use railgate::ids::{ClientNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::store::StoreError;
use railgate::time::Millis;
use railgate::{Engine, Error, Result};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Notify, oneshot};
use tokio::task::block_in_place;

use crate::metrics::Metrics;
pub use clients::Tenant;
pub use lanes::QueueLimits;
use lanes::{Job, Lane, Lanes, Taken, Used, lost, result};
pub(crate) use lookups::Lookups;
use turns::Turns;
pub use watch::Watch;
use watch::{Followed, Watchers};

/// A handle to the engine. Clones share one queue and one writer thread.
#[derive(Clone)]
pub struct Gateway {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Arc<Engine>,
    lanes: Mutex<Lanes>,
    arrived: Condvar,
    watchers: Arc<Watchers>,
    wake: Wake,
    deliveries: Wake,
    unlogged: Notify,
    /// Limits concurrent reads of a remote store.
    reads: Turns,
    /// Limits concurrent scans.
    scans: Turns,
    metrics: Arc<Metrics>,
    writer: Mutex<Option<JoinHandle<()>>>,
    /// When the group began that is being written.
    under_way: Mutex<Option<Instant>>,
}

impl Gateway {
    /// Starts the writer thread over `engine`.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn start(engine: Arc<Engine>, metrics: Arc<Metrics>, limits: QueueLimits) -> std::io::Result<Self> {
        let scans = scans(&engine);
        let shared = Arc::new(Shared {
            engine,
            lanes: Mutex::new(Lanes::new(limits)),
            arrived: Condvar::new(),
            watchers: Arc::default(),
            wake: Wake::default(),
            deliveries: Wake::default(),
            unlogged: Notify::new(),
            reads: Turns::new(READS, READS_OF_ONE),
            scans,
            metrics,
            writer: Mutex::new(None),
            under_way: Mutex::new(None),
        });
        let own = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("railgate-writer".to_owned()).spawn(move || own.write())?;
        *lock(&shared.writer) = Some(thread);
        Ok(Self { shared })
    }

    /// The engine, for what needs no queue: parsing, views and reads.
    pub fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    /// Carries out a command of `tenant`. Returns once it is durable, or reports why nothing was done.
    ///
    /// A caller that stops waiting does not stop the command.
    pub async fn run<C: Command>(&self, tenant: impl Into<Tenant>, command: C) -> Result<C::Output> {
        self.run_in(Lane::Client(tenant.into()), command).await
    }

    /// Carries out several commands of `tenant`, in as few groups as is fair to others; each succeeds or fails on its own. The order
    /// is kept.
    pub async fn run_all<C: Command>(&self, tenant: impl Into<Tenant>, commands: Vec<C>) -> Result<Vec<Result<C::Output>>> {
        self.run_all_in(Lane::Client(tenant.into()), commands).await
    }

    /// [`Gateway::run`] for background work, which has to leave most of each group to the clients.
    pub(crate) async fn work<C: Command>(&self, command: C) -> Result<C::Output> {
        self.run_in(Lane::Worker, command).await
    }

    /// [`Gateway::run_all`] for background work.
    pub(crate) async fn work_all<C: Command>(&self, commands: Vec<C>) -> Result<Vec<Result<C::Output>>> {
        self.run_all_in(Lane::Worker, commands).await
    }

    /// For how long the group that is being written has been: a disk that stands still never says that it does.
    pub(crate) fn writing_for(&self) -> Duration {
        lock(&self.shared.under_way).map_or(Duration::ZERO, |begun| begun.elapsed())
    }

    async fn run_in<C: Command>(&self, lane: Lane, command: C) -> Result<C::Output> {
        let (sender, receiver) = oneshot::channel();
        self.submit(Job::one(lane, command, sender))?;
        result(receiver.await.map_err(|_| lost())?)
    }

    async fn run_all_in<C: Command>(&self, lane: Lane, commands: Vec<C>) -> Result<Vec<Result<C::Output>>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let (sender, receiver) = oneshot::channel();
        self.submit(Job::many(lane, commands, sender))?;
        let slots = receiver.await.map_err(|_| lost())?;
        Ok(slots.into_iter().map(result).collect())
    }

    /// [`Gateway::run`] for a thread that is not part of an async runtime. Panics on one that is.
    pub fn run_blocking<C: Command>(&self, tenant: impl Into<Tenant>, command: C) -> Result<C::Output> {
        let (sender, receiver) = oneshot::channel();
        self.submit(Job::one(Lane::Client(tenant.into()), command, sender))?;
        result(receiver.blocking_recv().map_err(|_| lost())?)
    }

    /// A read by key for `tenant`, on the caller's thread: it takes some ten microseconds, less than handing it to another thread would
    /// cost. With a remote store, other tasks of this thread do not have to wait for it.
    ///
    /// # Errors
    /// Those of `read`, `internal` when it panicked, and `store_unavailable` when too many wait for
    /// a remote store.
    pub async fn read<T>(&self, tenant: impl Into<Tenant>, read: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        let _turn = self.turn(tenant.into()).await?;
        aside(&self.shared.engine, read)
    }

    /// A read of the gateway itself, which waits for no client.
    pub(crate) fn look<T>(&self, read: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        aside(&self.shared.engine, read)
    }

    /// Waits for a turn at a remote store: while it does not answer, those who need it must not occupy all threads.
    async fn turn(&self, tenant: Tenant) -> Result<Option<turns::Turn<'_>>> {
        if !self.shared.engine.is_remote() {
            return Ok(None);
        }
        self.shared.reads.take(tenant).await.map(Some)
    }

    /// A read for `tenant` that may scan, on a thread that may block. Each tenant has only so many at a time, and all together half as many
    /// as the store has readers: neither a look-up by key nor the writer waits for a scan.
    ///
    /// # Errors
    /// Those of `read`, `internal` when it panicked, and `store_unavailable` when too many wait.
    pub async fn scan<T: Send + 'static>(
        &self,
        tenant: impl Into<Tenant>,
        read: impl FnOnce(&Engine) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let tenant = tenant.into();
        let _scan = self.shared.scans.take(tenant).await?;
        let _turn = self.turn(tenant).await?;
        let shared = Arc::clone(&self.shared);
        match tokio::task::spawn_blocking(move || read(&shared.engine)).await {
            Ok(answer) => answer,
            Err(cause) => Err(panicked(cause)),
        }
    }

    /// Follows a settlement: from this call on no change is missed. Read the settlement after this call, not before.
    pub fn watch(&self, settlement: SettlementNo) -> Watch {
        self.shared.watchers.watch(Followed::Settlement(settlement))
    }

    /// Follows a client's feed, like [`Gateway::watch`].
    pub fn watch_feed(&self, client: ClientNo, mode: Mode) -> Watch {
        self.shared.watchers.watch(Followed::Feed(client, mode))
    }

    /// Follows every commit of this node, like [`Gateway::watch`].
    pub(crate) fn watch_commits(&self) -> Watch {
        self.shared.watchers.watch(Followed::Commits)
    }

    /// Tells the worker that something new is due.
    pub(crate) fn wake(&self) -> &Wake {
        &self.shared.wake
    }

    /// Tells the deliverer that something new is due.
    pub(crate) fn deliveries(&self) -> &Wake {
        &self.shared.deliveries
    }

    /// Completes when, since the last call, events were made that are not numbered yet.
    pub(crate) async fn unlogged(&self) {
        self.shared.unlogged.notified().await;
    }

    /// Whether commands are still accepted.
    pub fn is_open(&self) -> bool {
        lock(&self.shared.lanes).is_open()
    }

    /// Accepts no further commands, carries out all accepted ones, and ends the writer thread. A second call does not wait
    /// for anything.
    pub async fn shutdown(&self) {
        lock(&self.shared.lanes).close();
        self.shared.arrived.notify_one();
        let writer = lock(&self.shared.writer).take();
        if let Some(writer) = writer
            && let Ok(Err(_)) = tokio::task::spawn_blocking(move || writer.join()).await
        {
            tracing::error!("the writer thread panicked");
        }
    }

    fn submit(&self, job: Job) -> Result<()> {
        let wake = lock(&self.shared.lanes).push(job)?;
        if wake {
            self.shared.arrived.notify_one();
        }
        Ok(())
    }
}

/// How many reads of a remote store run at a time, and how many of them for one tenant.
const READS: usize = 64;
const READS_OF_ONE: usize = 16;

/// The places of scans. The other half of the store's readers is for look-ups by key, and for the writer.
fn scans(engine: &Engine) -> Turns {
    let (most, most_of_one) = if engine.is_remote() { (READS / 2, READS_OF_ONE / 2) } else { (cores(), cores() / 2) };
    let all = (engine.readers() / 2).clamp(1, most);
    Turns::new(all, (all / 2).clamp(1, most_of_one))
}

/// The cores of this machine, at least two.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, NonZero::get).max(2)
}

/// Reads so that other tasks of this thread do not wait for a remote store. A panic ends the read, not the calling task,
/// because some of these tasks work for everybody.
fn aside<T>(engine: &Engine, read: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
    let others_wait = || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    let read = || catch_unwind(AssertUnwindSafe(|| read(engine)));
    let outcome = if engine.is_remote() && others_wait() { block_in_place(read) } else { read() };
    outcome.unwrap_or_else(|_| Err(panicked("a panic ended it")))
}

/// The error of a read that panicked: a fault, but no proof that the stored data is damaged.
fn panicked(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    StoreError::new("reading", cause, false).into()
}

/// No panic happens under these locks; if one did, the guarded data would still be consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn write(&self) {
        let mut jobs = Vec::new();
        let mut used = Used::default();
        while self.next_group(&mut jobs, used) {
            let mut group = Vec::with_capacity(jobs.len());
            jobs.iter_mut().for_each(|job: &mut Job| job.join(&mut group));
            let begun = Instant::now();
            *lock(&self.under_way) = Some(begun);
            let effects = self.execute(&mut group);
            *lock(&self.under_way) = None;
            let took = begun.elapsed();
            self.metrics.group(group.len(), effects.created, took);
            group.iter().filter_map(|command| command.error()).for_each(|error| self.metrics.failed(error.code));
            self.publish(&effects);
            let touched: Vec<usize> = group.iter().map(|command| command.touched()).collect();
            used = Used { took, ..shared_by(&jobs, &touched) };
            // A batch that was decided in part goes on in the next group.
            jobs = jobs.into_iter().filter_map(Job::decided).collect();
        }
    }

    /// Waits for the next group; `false` when no more will come.
    fn next_group(&self, jobs: &mut Vec<Job>, mut used: Used) -> bool {
        let mut lanes = lock(&self.lanes);
        loop {
            let pause = match lanes.take(jobs, std::mem::take(&mut used), Instant::now()) {
                Taken::Group => {
                    let (clients, worker) = lanes.waiting();
                    self.metrics.queued(clients, worker);
                    return true;
                }
                Taken::After(pause) => pause,
                Taken::Nothing if lanes.is_open() => Duration::MAX,
                Taken::Nothing => return false,
            };
            lanes.sleep();
            lanes = self.arrived.wait_timeout(lanes, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// A panic ends its group, not the gateway. Between groups, the engine keeps nothing but numbers that it counts up, and
    /// a commit is all or nothing: later commands are decided over what is really stored.
    fn execute(&self, group: &mut [&mut dyn Pending]) -> Effects {
        catch_unwind(AssertUnwindSafe(|| self.engine.execute(group))).unwrap_or_else(|_| {
            tracing::error!(commands = group.len(), "a group of commands panicked; its callers get an error");
            // Decided commands may be durable or not: no caller gets a success.
            group.iter_mut().for_each(|command| command.reset());
            Effects::default()
        })
    }

    fn publish(&self, effects: &Effects) {
        let settlements = effects.changed.iter().map(|no| Followed::Settlement(*no));
        let feeds = effects.fed.iter().map(|(client, mode)| Followed::Feed(*client, *mode));
        self.watchers.changed(settlements.chain(feeds).chain([Followed::Commits]));
        if let Some(due) = effects.due {
            self.wake.at(due);
        }
        if let Some(due) = effects.deliveries_due {
            self.deliveries.at(due);
        }
        if effects.unlogged {
            self.unlogged.notify_one();
        }
    }
}

/// How much of a group was touched for each lane: a client's command counts as one, whatever it touched.
fn shared_by(jobs: &[Job], touched: &[usize]) -> Used {
    let (mut used, mut rest) = (Used::default(), touched);
    for (lane, size) in jobs.iter().map(Job::share) {
        let (mine, others) = rest.split_at(size);
        rest = others;
        match lane {
            Lane::Client(_) => used.client += size,
            Lane::Worker => used.worker += mine.iter().sum::<usize>(),
        }
    }
    used
}

/// An alarm clock that, until it is read, can only be set earlier.
pub(crate) struct Wake {
    due: AtomicI64,
    earlier: Notify,
}

impl Default for Wake {
    fn default() -> Self {
        Self { due: AtomicI64::new(Millis::MAX), earlier: Notify::new() }
    }
}

impl Wake {
    /// Something is due at `due`. Costs next to nothing if something earlier is known already.
    fn at(&self, due: Millis) {
        if due < self.due.fetch_min(due, Ordering::SeqCst) {
            self.earlier.notify_one();
        }
    }

    /// Forgets the alarm. Call it before looking into the outbox, so that later changes are noticed.
    pub(crate) fn reset(&self) {
        self.due.store(Millis::MAX, Ordering::SeqCst);
    }

    /// Completes if, since the last [`Wake::reset`], something became due earlier than anything known before.
    pub(crate) async fn earlier(&self) {
        self.earlier.notified().await;
    }
}

#[cfg(test)]
mod tests;
