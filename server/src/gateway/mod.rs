//! The gateway: the one door through which the hosts of this process reach the engine.
//!
//! Commands go through a queue to a single writer thread. It takes whatever waits as one group, lets the engine decide
//! and commit it once, and answers only then. No timer is needed: while one commit is being made durable, the next
//! group gathers. Reads do not queue; they go straight to the store's readers.

mod lanes;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use railgate::api::{Command, Outcome};
use railgate::engine::Executed;
use railgate::ids::{ClientNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::store::StoreError;
use railgate::time::Millis;
use railgate::{Engine, Error, ErrorCode, Result};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{Notify, Semaphore, SemaphorePermit, oneshot};
use tokio::task::block_in_place;
use tokio::time::timeout;

use crate::metrics::Metrics;
use lanes::{Job, Lanes, Reply, Taken, Used};
pub use lanes::{Lane, QueueLimits};
pub use watch::Watch;
use watch::{Followed, Watchers};

/// The way to the engine. Clones share one queue and one writer thread.
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
    /// Turns at a store that is far away.
    reads: Semaphore,
    metrics: Arc<Metrics>,
    writer: Mutex<Option<JoinHandle<()>>>,
}

impl Gateway {
    /// Starts the writer thread over `engine`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(engine: Arc<Engine>, metrics: Arc<Metrics>, limits: QueueLimits) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            engine,
            lanes: Mutex::new(Lanes::new(limits)),
            arrived: Condvar::new(),
            watchers: Arc::default(),
            wake: Wake::default(),
            deliveries: Wake::default(),
            unlogged: Notify::new(),
            reads: Semaphore::new(READS),
            metrics,
            writer: Mutex::new(None),
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

    /// Carries out one command of a client. Returns after it is durable, or says why nothing was done.
    ///
    /// A caller that stops waiting does not stop the command.
    pub async fn run(&self, command: Command) -> Result<Outcome> {
        let (sender, receiver) = oneshot::channel();
        self.submit(Job::one(command, sender))?;
        receiver.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Carries out several commands of a client in one group; each succeeds or fails alone. The order is kept.
    pub async fn run_many(&self, commands: Vec<Command>) -> Result<Vec<Result<Outcome>>> {
        self.run_in(Lane::Client, commands).await
    }

    /// The same for the worker, which has to leave most of each group to the clients.
    pub(crate) async fn run_work(&self, commands: Vec<Command>) -> Result<Vec<Result<Outcome>>> {
        self.run_in(Lane::Worker, commands).await
    }

    async fn run_in(&self, lane: Lane, commands: Vec<Command>) -> Result<Vec<Result<Outcome>>> {
        if commands.is_empty() {
            return Ok(Vec::new());
        }
        let (sender, receiver) = oneshot::channel();
        self.submit(Job::many(lane, commands, sender))?;
        receiver.await.map_err(|_| lost())
    }

    /// [`Gateway::run`] for a thread that is not part of an async runtime. Panics on one that is.
    pub fn run_blocking(&self, command: Command) -> Result<Outcome> {
        let (sender, receiver) = oneshot::channel();
        self.submit(Job::one(command, sender))?;
        receiver.blocking_recv().unwrap_or_else(|_| Err(lost()))
    }

    /// A read by key, made where the caller stands: it takes some ten microseconds, less than handing it to another
    /// thread would cost. Where the store is another machine, others of this thread do not wait for it.
    ///
    /// # Errors
    /// Those of `read`, [`ErrorCode::Internal`] when it panicked, and [`ErrorCode::StoreUnavailable`] when too many wait for
    /// a store that is far away.
    pub async fn read<T>(&self, read: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        let _turn = self.turn().await?;
        aside(&self.shared.engine, read)
    }

    /// A turn at a store that is far away: while it does not answer, those who need it do not take all threads.
    async fn turn(&self) -> Result<Option<SemaphorePermit<'_>>> {
        if !self.shared.engine.is_remote() {
            return Ok(None);
        }
        match timeout(TURN, self.shared.reads.acquire()).await {
            Ok(Ok(turn)) => Ok(Some(turn)),
            Ok(Err(_)) | Err(_) => Err(Error::new(ErrorCode::StoreUnavailable)),
        }
    }

    /// A read that may scan, made on a thread that may block.
    ///
    /// # Errors
    /// Those of `read`, and [`ErrorCode::Internal`] when it panicked.
    pub async fn scan<T: Send + 'static>(&self, read: impl FnOnce(&Engine) -> Result<T> + Send + 'static) -> Result<T> {
        let _turn = self.turn().await?;
        let shared = Arc::clone(&self.shared);
        match tokio::task::spawn_blocking(move || read(&shared.engine)).await {
            Ok(answer) => answer,
            Err(cause) => Err(panicked(cause)),
        }
    }

    /// Follows a settlement: from now on no change goes unnoticed. Look at the settlement after this call, not before.
    pub fn watch(&self, settlement: SettlementNo) -> Watch {
        self.shared.watchers.watch(Followed::Settlement(settlement))
    }

    /// Follows a client's feed in the same way.
    pub fn watch_feed(&self, client: ClientNo, mode: Mode) -> Watch {
        self.shared.watchers.watch(Followed::Feed(client, mode))
    }

    /// How the worker learns that something new is due.
    pub(crate) fn wake(&self) -> &Wake {
        &self.shared.wake
    }

    /// How the deliverer learns that something new is due.
    pub(crate) fn deliveries(&self) -> &Wake {
        &self.shared.deliveries
    }

    /// Completes when events were made that are not numbered yet, since the last call.
    pub(crate) async fn unlogged(&self) {
        self.shared.unlogged.notified().await;
    }

    /// Whether commands are still taken.
    pub fn is_open(&self) -> bool {
        lock(&self.shared.lanes).is_open()
    }

    /// Takes no further commands, carries out all that were taken, and ends the writer thread. A second call waits
    /// for nothing.
    pub async fn shutdown(&self) {
        lock(&self.shared.lanes).close();
        self.shared.arrived.notify_one();
        let writer = lock(&self.shared.writer).take();
        if let Some(writer) = writer
            && let Ok(Err(_)) = tokio::task::spawn_blocking(move || writer.join()).await
        {
            tracing::error!("the writer thread ended by a panic");
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

/// How many reads are made at a time of a store that is far away, and how long one waits for its turn.
const READS: usize = 64;
const TURN: Duration = Duration::from_secs(5);
/// How many calls that are not let in yet may wait for such a store: they have no turn, and may be anybody's.
const AT_THE_GATE: usize = 128;

/// A read for a call that is still at the gate, made where the caller stands. It waits for no turn, and takes none.
pub(crate) fn read_from<T>(engine: &Engine, read: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
    static WAITING: Semaphore = Semaphore::const_new(AT_THE_GATE);
    let place = engine.is_remote().then(|| WAITING.try_acquire()).transpose();
    let _place = place.map_err(|_| Error::new(ErrorCode::StoreUnavailable))?;
    aside(engine, read)
}

/// Reads so that others of this thread do not wait for a store that is far away. A panic ends the read, not the task that
/// wanted it: some of these do work for everybody.
fn aside<T>(engine: &Engine, read: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
    let others_wait = || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    let read = || catch_unwind(AssertUnwindSafe(|| read(engine)));
    let outcome = if engine.is_remote() && others_wait() { block_in_place(read) } else { read() };
    outcome.unwrap_or_else(|_| Err(panicked("a panic ended it")))
}

/// What comes of a read that panicked: a fault, and no proof that what is stored is damaged.
fn panicked(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    StoreError::new("reading", cause, false).into()
}

/// What a caller hears whose answer was dropped: only when the writer thread itself died.
fn lost() -> Error {
    Error::with(ErrorCode::Internal, "it is not known whether the request was carried out")
}

/// No panic happens under these locks; if one did, what they guard is still whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn write(&self) {
        let mut jobs = Vec::new();
        let mut used = Used::default();
        while self.next_group(&mut jobs, used) {
            let mut commands = Vec::with_capacity(jobs.len());
            let mut replies = Vec::with_capacity(jobs.len());
            for job in jobs.drain(..) {
                replies.push(job.unpack(&mut commands));
            }
            let size = commands.len();
            let begun = Instant::now();
            let executed = self.execute(commands);
            let took = begun.elapsed();
            self.metrics.group(size, took);
            self.publish(&executed);
            used = Used { took, ..answer(replies, executed.results, &self.metrics) };
        }
    }

    /// Waits for the next group; `false` when there will be none any more.
    fn next_group(&self, jobs: &mut Vec<Job>, mut used: Used) -> bool {
        let mut lanes = lock(&self.lanes);
        loop {
            let pause = match lanes.take(jobs, std::mem::take(&mut used), Instant::now()) {
                Taken::Group => {
                    self.metrics.queued(lanes.waiting(Lane::Client), lanes.waiting(Lane::Worker));
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

    /// A panic ends its group, not the gateway. The engine keeps nothing between groups but numbers that it counts
    /// up, and a commit is all or nothing: so what comes after is decided over what is really stored.
    fn execute(&self, commands: Vec<Command>) -> Executed {
        let size = commands.len();
        catch_unwind(AssertUnwindSafe(|| self.engine.execute(commands))).unwrap_or_else(|_| {
            tracing::error!(commands = size, "a group of commands ended by a panic; its callers were told so");
            Executed::nothing((0..size).map(|_| Err(lost())).collect())
        })
    }

    fn publish(&self, executed: &Executed) {
        let settlements = executed.changed.iter().map(|no| Followed::Settlement(*no));
        let feeds = executed.fed.iter().map(|(client, mode)| Followed::Feed(*client, *mode));
        self.watchers.changed(settlements.chain(feeds));
        if let Some(due) = executed.due {
            self.wake.at(due);
        }
        if let Some(due) = executed.deliveries_due {
            self.deliveries.at(due);
        }
        if executed.unlogged {
            self.unlogged.notify_one();
        }
    }
}

/// Hands the results of a group to those who wait for them, in the order of the commands, and counts whose they were.
fn answer(replies: Vec<Reply>, results: Vec<Result<Outcome>>, metrics: &Metrics) -> Used {
    let mut results = results.into_iter().inspect(|result| metrics.outcome(result));
    let mut used = Used::default();
    for reply in replies {
        // Whoever does not listen any more hung up; the command counts all the same.
        match reply {
            Reply::One(sender) => {
                used.client += 1;
                let _ = sender.send(results.next().unwrap_or_else(|| Err(lost())));
            }
            Reply::Many(sender, lane, count) => {
                let results: Vec<_> = results.by_ref().take(count).collect();
                match lane {
                    Lane::Client => used.client += count,
                    Lane::Worker => used.worker += results.iter().map(touched).sum::<usize>(),
                }
                let _ = sender.send(results);
            }
        }
    }
    used
}

/// How many settlements, events or endpoints a command of the worker touched.
fn touched(result: &Result<Outcome>) -> usize {
    match result {
        Ok(Outcome::Leased(leases)) => leases.len().max(1),
        Ok(Outcome::Logged(logged)) => logged.events.max(1),
        Ok(Outcome::Parcels(parcels)) => parcels.iter().map(|parcel| parcel.deliveries.len()).sum::<usize>().max(1),
        Ok(Outcome::Done(count)) => (*count).max(1),
        Ok(
            Outcome::Enrolled(_)
            | Outcome::Token(_)
            | Outcome::Key(_)
            | Outcome::Client(_)
            | Outcome::Created { .. }
            | Outcome::Reversed { .. }
            | Outcome::Simulated(_)
            | Outcome::Webhook(_),
        )
        | Err(_) => 1,
    }
}

/// An alarm clock that can only be set earlier until it is looked at.
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
    /// Something is due at `due`. Costs next to nothing when something earlier is known already.
    fn at(&self, due: Millis) {
        if due < self.due.fetch_min(due, Ordering::SeqCst) {
            self.earlier.notify_one();
        }
    }

    /// Forgets what is known. To be called before looking into the outbox, so that what comes after is noticed.
    pub(crate) fn reset(&self) {
        self.due.store(Millis::MAX, Ordering::SeqCst);
    }

    /// Since the last [`Wake::reset`] something became due earlier than anything known before.
    pub(crate) async fn earlier(&self) {
        self.earlier.notified().await;
    }
}

#[cfg(test)]
mod tests;
