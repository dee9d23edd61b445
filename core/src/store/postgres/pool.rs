//! The connections: a few for reading, a few for commits, each lent to one job at a time.
//!
//! They run on a small separate runtime. A caller hands over a job and waits for its result on a plain channel, so that it may be a
//! plain thread or a worker of any async runtime.

use std::collections::HashMap;
use std::future::Future;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep, timeout_at};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error, Row, SimpleQueryMessage, Statement};

use super::PostgresOptions;
use super::cells::Param;
use super::connect::{Connected, Target, silent};
use super::error::{Meaning, failed, is_about_the_connection, meaning, surely_not_made};
use super::session::{Identity, Opening, last_row};
use crate::store::StoreError;

/// The number of statements that a connection keeps prepared: more than there are, except for rare combinations of list filters.
const STATEMENTS: usize = 256;

/// The pause before the second try to connect; it doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// How long a call waits for a server that others have waited for in vain. Each call still tries; this must therefore be enough for
/// a connection: about ten round trips, with TLS and a password.
const BRIEFLY: Duration = Duration::from_secs(1);

/// How many commits are wary after one that met a taken key.
const WARY: u32 = 100;

/// How much longer than its own timeout a server may take to respond.
const GRACE: Duration = Duration::from_secs(5);

/// The longest wait: the maximum that PostgreSQL supports. The end of a longer one might not be representable.
const LONGEST: Duration = Duration::from_millis(i32::MAX as u64);

/// A separate runtime, and the connections on it.
pub(super) struct Pool {
    shared: Arc<Shared>,
    /// Taken when the pool is dropped.
    runtime: Option<Runtime>,
}

/// The state that jobs share.
pub(super) struct Shared {
    target: Target,
    patience: Duration,
    /// The timeout of a job with the server.
    pub(super) limit: Duration,
    readers: Lane,
    writers: Lane,
    /// Whether the database was reached once: any present error may then be temporary.
    opened: AtomicBool,
    /// Whether somebody waited for it in vain and nobody has reached it since.
    gone: AtomicBool,
    /// How many commits still do not take it for granted that the keys of their new rows are free.
    wary: AtomicU32,
}

/// Connections for one purpose.
pub(super) struct Lane {
    /// Idle connections, the most recently used on top: warm connections stay in use.
    free: Mutex<Vec<Slot>>,
    permits: Semaphore,
    connections: usize,
}

/// A slot for a connection, which may be lost and replaced.
#[derive(Default)]
struct Slot {
    link: Option<Connection>,
    /// The statements that the connection had prepared: its replacement prepares them in advance.
    prepared: Vec<(String, Vec<Type>)>,
}

/// A connection and its prepared statements.
pub(super) struct Connection {
    /// The connection.
    pub(super) client: Client,
    /// Its server process and server: those of the latest transaction, if each may have others.
    pub(super) identity: Identity,
    /// A transaction was started and not seen to end: nobody else may use the connection then.
    pub(super) in_transaction: bool,
    /// How its transactions begin, if each may reach another server process.
    opening: Option<Opening>,
    /// Whether all its reads are in one transaction.
    at_one_moment: bool,
    statements: HashMap<String, Statement>,
    warned: Arc<AtomicBool>,
}

/// A statement that can be sent.
#[derive(Clone)]
pub(super) enum Ready<'s> {
    /// By its name: the server process knows it.
    Prepared(Statement),
    /// With its text and the types of its parameters: the next server process may be another one.
    Text(&'s str, Vec<Type>),
}

/// What is sent to the server at once.
pub(super) enum Message<'m> {
    /// Statements without parameters.
    Plain(&'m str),
    /// A statement with its parameters.
    Query(&'m Ready<'m>, Vec<&'m (dyn ToSql + Sync)>),
}

/// The server's response to a message.
#[derive(Default)]
pub(super) struct Answer {
    /// That to statements without parameters.
    pub(super) told: Vec<SimpleQueryMessage>,
    /// That to a statement with parameters.
    pub(super) rows: Vec<Row>,
}

/// Sends a message when it is first polled, and waits for the response.
pub(super) async fn send(client: &Client, message: Message<'_>) -> Result<Answer, Error> {
    match message {
        Message::Plain(sql) => Ok(Answer { told: client.simple_query(sql).await?, ..Answer::default() }),
        Message::Query(Ready::Prepared(statement), params) => {
            Ok(Answer { rows: client.query(statement, &params).await?, ..Answer::default() })
        }
        Message::Query(Ready::Text(sql, types), params) => {
            let typed: Vec<_> = params.into_iter().zip(types.iter().cloned()).collect();
            Ok(Answer { rows: client.query_typed(sql, &typed).await?, ..Answer::default() })
        }
    }
}

impl Pool {
    /// Creates a pool. No connection is made before the first job.
    pub(super) fn new(target: Target, options: &PostgresOptions) -> Result<Self, StoreError> {
        let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("railgate-postgres").enable_all().build();
        let runtime = runtime.map_err(|e| StoreError::unavailable("starting the database's threads", e))?;
        let shared = Shared {
            target,
            patience: options.connect_timeout.min(LONGEST),
            limit: options.statement_timeout.min(LONGEST) + GRACE,
            readers: Lane::new(options.readers),
            writers: Lane::new(options.writers),
            opened: AtomicBool::new(false),
            gone: AtomicBool::new(false),
            wary: AtomicU32::new(0),
        };
        Ok(Self { shared: Arc::new(shared), runtime: Some(runtime) })
    }

    /// Runs a job on the pool's threads and waits for its result. An error of `run` itself does not tell how far the job came.
    pub(super) fn run<T, F>(&self, job: impl FnOnce(Arc<Shared>) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let gone = || StoreError::unavailable("asking the database", "the store is being closed");
        let runtime = self.runtime.as_ref().ok_or_else(gone)?;
        let (answer, answered) = sync_channel(1);
        let job = job(self.shared.clone());
        runtime.spawn(async move { drop(answer.send(job.await)) });
        answered.recv().map_err(|_| StoreError::unavailable("asking the database", "the job ended without an answer"))
    }

    /// The number of connections for reading.
    pub(super) fn readers(&self) -> usize {
        self.shared.readers.connections
    }

    /// The rows of each query, all sent at once.
    pub(super) fn read(&self, asked: Vec<Asked>) -> Result<Vec<Vec<Row>>, StoreError> {
        self.run(|shared| async move { shared.read(&asked).await })?
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Does not wait, so that it may run anywhere; the server sees the connections end.
            runtime.shutdown_background();
        }
    }
}

impl Shared {
    /// Retries a failed read on other connections until the deadline.
    async fn read(&self, asked: &[Asked]) -> Result<Vec<Vec<Row>>, StoreError> {
        let deadline = self.deadline();
        loop {
            let mut lent = self.readers.take(deadline).await?;
            let link = self.link(&mut lent, deadline).await?;
            let Ok(answer) = timeout_at(Instant::now() + self.limit, query(link, asked)).await else {
                lent.discard();
                return Err(StoreError::unavailable("reading", "the database did not answer in time"));
            };
            let error = match answer {
                Ok(rows) => match self.accepts(link) {
                    Ok(()) => return Ok(rows),
                    Err(replaced) => {
                        lent.discard();
                        replaced
                    }
                },
                Err(error) => {
                    let told = failed("reading", &error);
                    match meaning(&error) {
                        Meaning::Lost => lent.discard(),
                        Meaning::Again => {}
                        Meaning::Later => {
                            self.doubt(&mut lent);
                            return Err(told);
                        }
                        Meaning::OutOfRange | Meaning::Never => return Err(told),
                    }
                    told
                }
            };
            drop(lent);
            sleep(jittered(FIRST_PAUSE)).await;
            if Instant::now() >= deadline {
                return Err(error);
            }
        }
    }

    /// Refuses a server that has been replaced. Where a transaction may reach another one than the last, each is looked at.
    pub(super) fn accepts(&self, link: &Connection) -> Result<(), StoreError> {
        if link.opening.is_some() { self.target.follow(&link.identity.server) } else { Ok(()) }
    }

    /// A connection for a commit, waiting until the deadline at most.
    pub(super) async fn writer(&self, deadline: Instant) -> Result<Lent<'_>, StoreError> {
        self.writers.take(deadline).await
    }

    /// The deadline for waiting for an unreachable server: short once another caller has waited in vain.
    pub(super) fn deadline(&self) -> Instant {
        Instant::now() + if self.gone.load(Ordering::Relaxed) { self.patience.min(BRIEFLY) } else { self.patience }
    }

    /// The full deadline, for a caller that must know the result of a commit.
    pub(super) fn patient_deadline(&self) -> Instant {
        Instant::now() + self.patience
    }

    /// The connection in the lent slot.
    pub(super) async fn link<'l>(&self, lent: &'l mut Lent<'_>, deadline: Instant) -> Result<&'l mut Connection, StoreError> {
        let opened = self.opened.load(Ordering::Relaxed);
        let linked = lent.link(&self.target, deadline, opened).await;
        if self.gone.load(Ordering::Relaxed) != linked.is_err() {
            self.gone.store(linked.is_err(), Ordering::Relaxed);
        }
        linked.map_err(|mut error| {
            error.retryable |= opened;
            error
        })
    }

    /// Discards the connection after this server could not do the work. If there is a successor, that may be the reason: the next
    /// job tries all servers again. Otherwise a server that was replaced while it runs, and whose commits nobody confirms any more,
    /// would be used forever.
    pub(super) fn doubt(&self, lent: &mut Lent<'_>) {
        if self.target.has_choice() {
            lent.discard();
        }
    }

    /// A new row's key was taken. That costs a try, and the server logs it: where one is, others are likely to follow.
    pub(super) fn beware(&self) {
        self.wary.store(WARY, Ordering::Relaxed);
    }

    /// Whether this commit expects keys to be taken.
    pub(super) fn is_wary(&self) -> bool {
        self.wary.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }

    /// From now on, no connection error counts as permanent.
    pub(super) fn opened(&self) {
        self.opened.store(true, Ordering::Relaxed);
    }
}

/// A reading statement and its parameters.
pub(super) type Asked = (&'static str, Vec<Param>);

/// The rows of each query, in one round trip if all statements are known.
async fn query(link: &mut Connection, asked: &[Asked]) -> Result<Vec<Vec<Row>>, Error> {
    let wanted: Vec<_> = asked.iter().map(|(sql, params)| (*sql, params.iter().map(Param::kind).collect())).collect();
    let statements = link.prepare(&wanted).await?;
    let opening = link.opening.as_ref().filter(|_| !link.at_one_moment);
    link.in_transaction |= opening.is_some();
    let queries = statements.iter().zip(asked).map(|(statement, (_, params))| {
        let params = params.iter().map(|it| it as &(dyn ToSql + Sync)).collect();
        Message::Query(statement, params)
    });
    let begin = opening.map(|opening| Message::Plain(&opening.reading));
    let end = opening.map(|_| Message::Plain("COMMIT"));
    let messages = begin.into_iter().chain(queries).chain(end);
    let answers = in_order(messages.map(|message| send(&link.client, message))).await;
    let mut answers: Vec<Answer> = answers.into_iter().collect::<Result<_, _>>()?;
    if opening.is_some() {
        answers.pop();
        let begun = if answers.is_empty() { Answer::default() } else { answers.remove(0) };
        link.identity = Identity::of(last_row(&begun.told));
        link.in_transaction = false;
    }
    Ok(answers.into_iter().map(|answer| answer.rows).collect())
}

impl Lane {
    fn new(connections: usize) -> Self {
        let connections = connections.clamp(1, 1_000);
        let free = Mutex::new((0..connections).map(|_| Slot::default()).collect());
        Self { free, permits: Semaphore::new(connections), connections }
    }

    async fn take(&self, deadline: Instant) -> Result<Lent<'_>, StoreError> {
        let busy = || StoreError::unavailable("waiting for a connection", "all connections are in use");
        let permit = timeout_at(deadline, self.permits.acquire()).await.map_err(|_| busy())?.map_err(|_| busy())?;
        let slot = self.free().pop().unwrap_or_default();
        Ok(Lent { lane: self, slot, _permit: permit })
    }

    fn free(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection lent to one job.
pub(super) struct Lent<'p> {
    lane: &'p Lane,
    slot: Slot,
    /// Released after the slot is returned.
    _permit: SemaphorePermit<'p>,
}

impl Lent<'_> {
    /// The connection, or a new one if it was lost. While the server is unreachable, it retries until the deadline, with growing
    /// random pauses so that many callers do not reconnect at the same time. An error that waiting does not help against ends it at
    /// once, unless `persist` is set.
    async fn link(&mut self, target: &Target, deadline: Instant, persist: bool) -> Result<&mut Connection, StoreError> {
        let useless = |link: &Connection| link.client.is_closed() || link.in_transaction || target.follow(&link.identity.server).is_err();
        if self.slot.link.as_ref().is_some_and(useless) {
            self.discard();
        }
        let (mut pause, mut refusal) = (FIRST_PAUSE, None);
        while self.slot.link.is_none() {
            match timeout_at(deadline, Connection::new(target, &self.slot.prepared, deadline)).await {
                Ok(Ok(link)) => self.slot.link = Some(link),
                Ok(Err(error)) if !(error.retryable || persist) || Instant::now() + pause >= deadline => return Err(error),
                Ok(Err(error)) => {
                    refusal = Some(error);
                    sleep(jittered(pause)).await;
                }
                // The previous reason is more informative than the timeout.
                Err(_) => return Err(refusal.unwrap_or_else(silent)),
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        self.slot.link.as_mut().ok_or_else(|| StoreError::unavailable("connecting to the database", "there is no connection"))
    }

    /// Drops the connection because it is no longer usable.
    pub(super) fn discard(&mut self) {
        if let Some(link) = self.slot.link.take() {
            self.slot.prepared = link.statements.iter().map(|(sql, statement)| (sql.clone(), statement.params().to_vec())).collect();
        }
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        self.lane.free().push(std::mem::take(&mut self.slot));
    }
}

impl Connection {
    async fn new(target: &Target, prepared: &[(String, Vec<Type>)], deadline: Instant) -> Result<Self, StoreError> {
        let Connected { client, identity, opening, warned } = target.connect(deadline).await?;
        let at_one_moment = target.fix_moment(&client, opening.as_ref()).await?;
        let mut link = Self { client, identity, in_transaction: false, opening, at_one_moment, statements: HashMap::new(), warned };
        let again: Vec<_> = prepared.iter().map(|(sql, types)| (sql.as_str(), types.clone())).collect();
        link.prepare(&again).await.map_err(|e| failed("preparing statements", &e))?;
        Ok(link)
    }

    /// Begins a transaction, if it must be seen to have begun before anything else is sent: should the `BEGIN` fail, what follows
    /// would be written without it, one by one. Other connections write nothing outside a transaction, so that they need not wait.
    pub(super) async fn enter(&mut self, sql: impl FnOnce(&Opening) -> &str) -> Result<Option<Answer>, Error> {
        let Some(opening) = &self.opening else { return Ok(None) };
        self.in_transaction = true;
        let begun = send(&self.client, Message::Plain(sql(opening))).await?;
        self.identity = Identity::of(last_row(&begun.told));
        Ok(Some(begun))
    }

    /// Whether the server warned of something since the last look. One that answers a commit without having waited for its standby
    /// does: an operator cancelled the wait.
    pub(super) fn was_warned(&self) -> bool {
        self.warned.swap(false, Ordering::AcqRel)
    }

    /// Whether the server itself has refused a statement with this error, rather than a pooler that lost the server.
    pub(super) fn is_refusal(&self, error: &Error) -> bool {
        surely_not_made(error) || self.opening.is_none() && !is_about_the_connection(error)
    }

    /// These statements, in order. All that are not prepared yet are prepared in one round trip.
    pub(super) async fn prepare<'s>(&mut self, wanted: &[(&'s str, Vec<Type>)]) -> Result<Vec<Ready<'s>>, Error> {
        if self.opening.is_some() {
            return Ok(wanted.iter().map(|(sql, types)| Ready::Text(sql, types.clone())).collect());
        }
        let distinct: HashMap<&str, &Vec<Type>> = wanted.iter().map(|(sql, types)| (*sql, types)).collect();
        let mut missing: Vec<_> = distinct.iter().filter(|(sql, _)| !self.statements.contains_key(**sql)).collect();
        if self.statements.len() + missing.len() > STATEMENTS {
            self.statements.clear();
            missing = distinct.iter().collect();
        }
        if !missing.is_empty() {
            let client = &self.client;
            let prepared = in_order(missing.iter().map(|(sql, types)| client.prepare_typed(sql, types))).await;
            for ((sql, _), statement) in missing.into_iter().zip(prepared) {
                self.statements.insert((*sql).to_owned(), statement?);
            }
        }
        Ok(wanted.iter().filter_map(|(sql, _)| self.statements.get(*sql).cloned().map(Ready::Prepared)).collect())
    }
}

/// A running job, or its result.
enum Job<F: Future> {
    Running(Pin<Box<F>>),
    Done(F::Output),
}

/// Runs all of these, sent and completed in this order, without waiting in between.
pub(super) async fn in_order<F: Future>(jobs: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut jobs: Vec<Job<F>> = jobs.into_iter().map(|job| Job::Running(Box::pin(job))).collect();
    std::future::poll_fn(|context| {
        let mut running = false;
        for job in &mut jobs {
            if let Job::Running(future) = job {
                match future.as_mut().poll(context) {
                    Poll::Ready(output) => *job = Job::Done(output),
                    Poll::Pending => running = true,
                }
            }
        }
        if running { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    jobs.into_iter().filter_map(|job| if let Job::Done(output) = job { Some(output) } else { None }).collect()
}

/// A random duration between half of `pause` and all of it.
pub(super) fn jittered(pause: Duration) -> Duration {
    let half = pause / 2;
    half + Duration::from_nanos(random() % u64::try_from(half.as_nanos()).unwrap_or(u64::MAX).max(1))
}

/// The standard library seeds its hasher at random, which is enough here.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
