//! A running service: in which order it starts, and how it stops without losing anything.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use railgate::auth::Verify;
use railgate::engine::{NodeFacts, RecordNode, Release};
use railgate::env::Env;
use railgate::rail::Rails;
use railgate::seal::{MasterKeys, SealError};
use railgate::store::memory::MemoryStore;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::record::TaskKey;
use railgate::store::sqlite::{Sharing, SqliteOptions, SqliteStore};
use railgate::store::{Scan, Store, StoreError};
use railgate::time::Millis;
use railgate::webhook::Guard;
use railgate::{Config, Engine};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use zeroize::Zeroizing;

use crate::attest::{Attestor, RootsError};
use crate::background::keep;
use crate::carrier::Carrier;
use crate::config::{DatabaseTls, Edge, ServeConfig, StoreConfig};
use crate::conformance::Doors;
use crate::conformance::tests_due::Tests;
use crate::deliver::{DeliverSettings, Deliverer, Delivering};
use crate::expiring::Expiring;
use crate::following::Following;
use crate::gateway::{Gateway, QueueLimits, cores};
use crate::heartbeat::Heartbeats;
use crate::http::{Figures, HttpLimits, Listener, Middleware, Parts, Tls, TlsError, front};
use crate::master::{self, MasterError};
use crate::metrics::Metrics;
use crate::number::Numbering;
use crate::open_files;
use crate::stop::{Stop, Stopper, stop};
use crate::traces::{Traces, TracesError};
use crate::verify::Ring;
use crate::worker::{Worker, WorkerSettings};
use railgate::env::SystemEnv;

/// Why the service could not start or did not stop properly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The data folder cannot be created.
    #[error("the data folder {} cannot be created: {cause}", .path.display())]
    DataDir {
        /// The folder's path.
        path: PathBuf,
        /// The system's error.
        cause: io::Error,
    },
    /// The store cannot be opened.
    #[error("the store cannot be opened: {0}")]
    Store(#[from] StoreError),
    /// The engine cannot be opened over the store.
    #[error("the engine cannot be opened: {0}{cause}", cause = cause(.0))]
    Engine(#[from] railgate::Error),
    /// The certificate or its key cannot be used.
    #[error("{0}")]
    Tls(#[from] TlsError),
    /// The roots of device makers cannot be used.
    #[error("{0}")]
    Roots(#[from] RootsError),
    /// The secrets in the store are sealed under master keys other than these.
    #[error(
        "the store's secrets cannot be opened with the master keys in {}: {cause}. All servers of one store need the same \
         file: copy it from a running server or from a backup",
        .path.display()
    )]
    OtherKeys {
        /// The file of the master keys.
        path: PathBuf,
        /// Why they do not open the secrets.
        cause: SealError,
    },
    /// An address cannot be listened on.
    #[error("cannot listen on {address} ({setting}): {cause}")]
    Listen {
        /// The setting that names it.
        setting: &'static str,
        /// The address.
        address: SocketAddr,
        /// The system's error.
        cause: io::Error,
    },
    /// Spans cannot be sent.
    #[error(transparent)]
    Traces(#[from] TracesError),
    /// The master keys cannot be used.
    #[error(transparent)]
    Master(#[from] MasterError),
    /// The system refuses a thread, a signal handler or standard output.
    #[error("{0}")]
    System(#[from] io::Error),
}

fn cause(error: &railgate::Error) -> String {
    std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default()
}

/// The components of a service; tests bring their own.
pub struct Hosted {
    /// The store of all records.
    pub store: Arc<dyn Store>,
    /// Time and randomness.
    pub env: Arc<dyn Env>,
    /// The engine's settings.
    pub engine: Config,
    /// Time limits and bounds of the HTTP interface.
    pub limits: HttpLimits,
    /// Settings of the outbox's worker.
    pub worker: WorkerSettings,
    /// Encryption, browsers, rate limits and the public address.
    pub edge: Edge,
    /// Settings of the deliverer of webhooks.
    pub deliver: DeliverSettings,
    /// How signatures are verified.
    pub verifier: Arc<dyn Verify>,
}

impl Hosted {
    /// A service over `store`, with the system's clock, a master key that is lost when this process ends, and all defaults.
    pub fn over(store: Arc<dyn Store>) -> Self {
        let env = SystemEnv::default();
        let mut secret = Zeroizing::new([0; 32]);
        env.random(&mut *secret);
        let master = Some(Arc::new(MasterKeys::generate(1, *secret)));
        Self {
            store,
            env: Arc::new(env),
            engine: Config { master, rails: Rails::built_in(), ..Config::default() },
            limits: HttpLimits::default(),
            worker: WorkerSettings::default(),
            edge: Edge::default(),
            deliver: DeliverSettings::default(),
            verifier: Arc::new(Ring),
        }
    }
}

/// A running service. Dropping it aborts its tasks; [`Running::stop`] stops it gracefully.
pub struct Running {
    address: SocketAddr,
    origin: String,
    public_url: Option<String>,
    tls: Option<Arc<Tls>>,
    metrics_address: Option<SocketAddr>,
    gateway: Gateway,
    front: Middleware,
    metrics: Arc<Metrics>,
    store: Weak<dyn Store>,
    traces: Traces,
    stop_http: Stopper,
    stop_worker: Stopper,
    http: JoinHandle<()>,
    worker: JoinHandle<()>,
    figures: Option<JoinHandle<()>>,
    master: Option<JoinHandle<()>>,
}

/// How long a call waits for the database to come back before it fails with a retryable error.
const DATABASE_PATIENCE: Duration = Duration::from_secs(5);
/// How long a statement may take in the database; the store gives up on a silent database 5 s later.
const STATEMENT_PATIENCE: Duration = Duration::from_secs(8);

/// How often the file of master keys is checked for changes.
const MASTER_LOOK: Duration = Duration::from_secs(2);

/// Starts a service.
///
/// # Errors
/// [`ServeError`].
pub async fn start(config: &ServeConfig) -> Result<Running, ServeError> {
    let store = open_store(config)?;
    let mut hosted = Hosted::over(store);
    let mut watched = None;
    if let Some(path) = &config.master_keys {
        let keys = master::load_or_create(path)?;
        let file = path.clone();
        keys.updated_by(move |keys| reload_master_keys(&file, keys));
        watched = Some((path.clone(), Arc::clone(&keys)));
        hosted.engine.master = Some(keys);
    }
    hosted.worker.alone = !config.is_shared();
    hosted.engine.enrollment = config.enrollment;
    hosted.engine.enrollment_cap = config.enrollment_cap;
    hosted.engine.four_eyes = config.four_eyes;
    hosted.engine.audit_refusals_ms = Millis::from(config.audit_refusals_days) * 86_400_000;
    hosted.engine.quality_retention_ms = Millis::from(config.quality_retention_days) * 86_400_000;
    hosted.engine.token_ttl_ms = Millis::from(config.token_ttl_s) * 1_000;
    hosted.limits.connections = open_files::make_room(config.max_connections);
    hosted.limits.grace = Duration::from_secs(config.drain_grace_s.into());
    hosted.worker.carries = config.outbox;
    hosted.edge = config.edge.clone();
    if config.is_shared() {
        hosted.limits.look = Duration::from_secs(1);
        hosted.worker.look_every = Duration::from_secs(1);
    }
    let started = start_with(hosted, config.listen, config.metrics_listen).await;
    let mut running = started.map_err(|error| other_keys(error, config.master_keys.as_deref()))?;
    running.master = watched.map(|(path, keys)| tokio::spawn(follow_master_keys(path, keys)));
    Ok(running)
}

/// Names the file whose keys do not fit, if that is the error: the likeliest mistake when a server is added.
fn other_keys(error: ServeError, path: Option<&Path>) -> ServeError {
    let ServeError::Engine(engine) = &error else { return error };
    let cause = std::error::Error::source(engine).and_then(|cause| cause.downcast_ref::<SealError>()).copied();
    match (cause, path) {
        (Some(cause), Some(path)) => ServeError::OtherKeys { path: path.to_owned(), cause },
        (Some(_) | None, _) => error,
    }
}

/// Reloads the master keys, because an operator may add one to the file while this server runs.
async fn follow_master_keys(path: PathBuf, keys: Arc<MasterKeys>) {
    loop {
        tokio::time::sleep(MASTER_LOOK).await;
        let (path, keys) = (path.clone(), Arc::clone(&keys));
        let _ = tokio::task::spawn_blocking(move || reload_master_keys(&path, &keys)).await;
    }
}

fn reload_master_keys(path: &Path, keys: &MasterKeys) {
    match master::reload(path, keys) {
        Ok(false) => {}
        Ok(true) => tracing::info!("the master keys were reloaded"),
        Err(cause) => tracing::error!(%cause, "the master keys cannot be reloaded; the current ones stay in use"),
    }
}

/// Starts a service over the caller's components. Port 0 takes any free port.
///
/// # Errors
/// [`ServeError`].
pub async fn start_with(hosted: Hosted, listen: SocketAddr, metrics_listen: Option<SocketAddr>) -> Result<Running, ServeError> {
    let Hosted { store, env, mut engine, limits, worker, edge, deliver, verifier } = hosted;
    // Without a public URL, receipts keep the engine's name as the issuer: a loopback address would mean nothing to readers.
    engine.issuer = edge.public_url.clone().unwrap_or(engine.issuer);
    // Developers on this machine have receivers here; behind a public URL nobody has.
    let insecure_loopback = listen.ip().is_loopback() && edge.public_url.is_none();
    engine.webhook_guard = Guard { insecure_loopback, allow: edge.webhook_allow.clone() };
    let guard = engine.webhook_guard.clone();
    let metrics = Arc::new(Metrics::default());
    let attestor = Attestor::open(edge.attestation_roots.as_deref(), edge.attestation_apps.clone())?;
    let tls = edge.tls.clone().map(Tls::open).transpose()?.map(Arc::new);
    let engine = Arc::new(Engine::open(Arc::clone(&store), Arc::clone(&env), engine)?);
    // Bind before starting threads: a second service on the same port must fail before it touches the outbox.
    let unusable = |setting, address| move |cause| ServeError::Listen { setting, address, cause };
    let bound = Listener::bind(listen, limits, edge.trusted_proxies.clone(), Arc::clone(&metrics), tls.clone()).await;
    let listener = bound.map_err(unusable("listen", listen))?;
    let address = listener.address()?;
    let origin = format!("{}://{address}", if tls.is_some() { "https" } else { "http" });
    let public_url = edge.public_url.clone();
    let figures = match metrics_listen {
        Some(address) => Some(TcpListener::bind(address).await.map_err(unusable("metrics-listen", address))?),
        None => None,
    };
    let gateway = Gateway::start(Arc::clone(&engine), Arc::clone(&metrics), QueueLimits::default())?;
    let (stop_http, stopping) = stop();
    let (stop_worker, worker_stopping) = stop();
    let bases = bases(public_url.as_deref(), &origin, address);
    let callback_base = format!("{}/api/v1/rails", public_url.as_ref().unwrap_or(&origin));
    gateway.engine().reached_at(callback_base.clone());
    let doors = Doors::default();
    let traces = Traces::open(edge.traces.as_ref())?;
    let carrier = Carrier::new(gateway.clone(), Arc::clone(&metrics), edge.provider_allow.clone()).traced(traces.clone());
    let deliverer = Deliverer::new(gateway.clone(), Arc::clone(&metrics), &guard, deliver.limits).traced(traces.clone());
    let deliverer = deliverer.reached_at(public_url.as_deref());
    let node = RecordNode { facts: facts(&gateway, address, &origin), alone: worker.alone };
    let refresh = outbox_figures(&gateway, &store, &metrics);
    let still_open = Arc::downgrade(&store);
    let front = front(Parts {
        gateway: gateway.clone(),
        carrier: carrier.clone(),
        deliverer: deliverer.clone(),
        doors: doors.clone(),
        engine,
        env,
        verifier,
        metrics: Arc::clone(&metrics),
        limits,
        bases,
        edge,
        attestor,
        alone: worker.alone,
        stopping: stopping.clone(),
        traces: traces.clone(),
    })?;
    if let Some(tls) = &tls {
        tokio::spawn(Arc::clone(tls).watch(limits.tls_look, stopping.clone()));
    }
    Ok(Running {
        address,
        origin,
        public_url,
        tls,
        metrics_address: figures.as_ref().map(TcpListener::local_addr).transpose()?,
        http: tokio::spawn(listener.serve(front.clone(), stopping)),
        worker: {
            let tests = TestsOf { doors, guard, callback_base };
            let loops = Loops { gateway: gateway.clone(), carrier, metrics: Arc::clone(&metrics), deliverer, worker, deliver, node, tests };
            tokio::spawn(loops.run(worker_stopping.clone()))
        },
        figures: figures.map(|socket| {
            let figures = Figures { metrics: Arc::clone(&metrics), refresh, front: front.clone() };
            tokio::spawn(figures.serve(socket, worker_stopping))
        }),
        gateway,
        front,
        metrics,
        store: still_open,
        traces,
        stop_http,
        stop_worker,
        master: None,
    })
}

/// What the background loops need.
struct Loops {
    gateway: Gateway,
    carrier: Carrier,
    metrics: Arc<Metrics>,
    deliverer: Deliverer,
    worker: WorkerSettings,
    deliver: DeliverSettings,
    node: RecordNode,
    tests: TestsOf,
}

/// What the tests of bundles need.
struct TestsOf {
    doors: Doors,
    guard: Guard,
    callback_base: String,
}

impl Loops {
    /// All background tasks: the outbox, heartbeats, the numbering of events, webhooks, the configuration, expiry. None ends before `stop`.
    async fn run(self, stop: Stop) {
        let Self { gateway, carrier, metrics, deliverer, worker, deliver, node, tests } = self;
        let carrying = async {
            if worker.carries {
                let outbox = keep(&stop, || Worker::new(gateway.clone(), carrier.clone(), metrics.clone(), worker));
                let webhooks = keep(&stop, || Delivering::new(deliverer.clone(), deliver));
                let heartbeats = keep(&stop, || Heartbeats::new(gateway.clone(), carrier.clone(), metrics.clone()));
                let tested = keep(&stop, || {
                    let TestsOf { doors, guard, callback_base } = &tests;
                    Tests::new(gateway.clone(), doors.clone(), guard.clone(), callback_base.clone())
                });
                tokio::join!(outbox, webhooks, heartbeats, tested);
            }
        };
        let following = keep(&stop, || Following::new(gateway.clone(), node.clone()));
        let expiring = keep(&stop, || Expiring::new(gateway.clone()));
        tokio::join!(carrying, following, expiring, keep(&stop, || Numbering::new(gateway.clone(), worker.look_every)));
    }
}

/// What this server says about itself. Other machines reach it at the address that it listens on, unless that is every address.
fn facts(gateway: &Gateway, address: SocketAddr, origin: &str) -> NodeFacts {
    #[cfg(unix)]
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let host = std::env::var("COMPUTERNAME").unwrap_or_default();
    NodeFacts {
        host,
        address: (!address.ip().is_unspecified()).then(|| origin.to_owned()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: gateway.engine().now(),
    }
}

/// The base URLs that signatures may cover: only the configured one. Without one, a service on a loopback address accepts
/// all names of this machine, because they cannot mean any other.
fn bases(public_url: Option<&str>, origin: &str, address: SocketAddr) -> Vec<String> {
    if let Some(url) = public_url {
        return vec![url.to_owned()];
    }
    let mut bases = vec![origin.to_owned()];
    if address.ip().is_loopback()
        && let Some((scheme, _)) = origin.split_once("://")
    {
        let names = ["127.0.0.1", "localhost", "[::1]"].map(|name| format!("{scheme}://{name}:{}", address.port()));
        bases.extend(names.into_iter().filter(|name| name != origin));
    }
    bases
}

impl Running {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL under which clients reach it, without a trailing slash: the configured one, or else the one of the listening
    /// address.
    pub fn base_url(&self) -> &str {
        self.public_url.as_deref().unwrap_or(&self.origin)
    }

    /// The URL of the listening address: `https://IP:PORT` or `http://IP:PORT`.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Whether it serves HTTPS.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// Reads certificate and key again, if it serves HTTPS. Changed files are also noticed without this call.
    ///
    /// # Errors
    /// Why they cannot be used; the current ones then stay in use.
    pub async fn reload_tls(&self) -> Result<(), ServeError> {
        let Some(tls) = self.tls.clone() else { return Ok(()) };
        let reloaded = tokio::task::spawn_blocking(move || tls.reload()).await;
        Ok(reloaded.map_err(io::Error::other)??)
    }

    /// The address of the metrics listener, if there is one.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// The gateway to the engine.
    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// The HTTP interface without its sockets.
    pub fn front(&self) -> &Middleware {
        &self.front
    }

    /// The metrics.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Reports not ready, finishes the requests in flight, then the worker's tasks, then every accepted command, and closes
    /// the store.
    pub async fn stop(self) {
        let Self { gateway, front, store, traces, stop_http, stop_worker, http, worker, figures, master, .. } = self;
        if let Some(master) = master {
            master.abort();
        }
        stop_http.stop();
        let _ = http.await;
        stop_worker.stop();
        let _ = worker.await;
        // Tasks that this node could not report are free for other nodes at once.
        if let Err(error) = gateway.work(Release).await {
            tracing::warn!(%error, "leases could not be released; they will expire");
        }
        if let Some(figures) = figures {
            let _ = figures.await;
        }
        gateway.shutdown().await;
        drop((gateway, front));
        // Its own thread sends them, with the help of this runtime.
        let _ = tokio::task::spawn_blocking(move || traces.flush()).await;
        closed(&store).await;
    }
}

/// Waits until pending reads have released the store: the last one closes it.
async fn closed(store: &Weak<dyn Store>) {
    for _ in 0..400 {
        if store.strong_count() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tracing::warn!("the store is still in use; it is consistent, and the end of the process closes it");
}

fn open_store(config: &ServeConfig) -> Result<Arc<dyn Store>, ServeError> {
    match &config.store {
        StoreConfig::Memory => Ok(Arc::new(MemoryStore::new())),
        StoreConfig::Postgres(url) => {
            if !PostgresStore::is_protected(url.reveal())? {
                require_protection(config.db_tls)?;
            }
            let options = PostgresOptions {
                readers: config.db_readers,
                connect_timeout: DATABASE_PATIENCE,
                statement_timeout: STATEMENT_PATIENCE,
                migrate: config.db_migrate,
                ..PostgresOptions::default()
            };
            Ok(Arc::new(PostgresStore::open(url.reveal(), options)?))
        }
        StoreConfig::Sqlite(path) => {
            if let Some(folder) = path.parent() {
                make_folder(folder)?;
            }
            let sharing = if config.shared_store { Sharing::Among } else { Sharing::Alone };
            let options = SqliteOptions { synchronous: config.synchronous, sharing, readers: 2 * cores(), ..SqliteOptions::default() };
            Ok(Arc::new(SqliteStore::open_with(path, options)?))
        }
    }
}

/// Refuses a database whose certificate is not verified, or warns about it.
fn require_protection(tls: DatabaseTls) -> Result<(), ServeError> {
    match tls {
        DatabaseTls::VerifyFull => {
            let cause = "its certificate would not be verified: its URL needs sslmode=verify-full";
            Err(StoreError::new("opening the database", cause, false).into())
        }
        DatabaseTls::AsUrl => {
            tracing::warn!(
                "the database is on another machine and its certificate is not verified: whoever controls the network in between can \
                 read and change everything; add sslmode=verify-full to its URL, and set db-tls to verify-full to require that"
            );
            Ok(())
        }
    }
}

fn make_folder(path: &Path) -> Result<(), ServeError> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(path).map_err(|cause| ServeError::DataDir { path: path.to_owned(), cause })
}

/// Updates the metrics of the outbox, of the providers and of the reviews when they are scraped.
fn outbox_figures(gateway: &Gateway, store: &Arc<dyn Store>, metrics: &Arc<Metrics>) -> Arc<dyn Fn() + Send + Sync> {
    const MOST: usize = 10_000;
    let (gateway, store, metrics) = (gateway.clone(), Arc::clone(store), Arc::clone(metrics));
    Arc::new(move || {
        let now = gateway.engine().now();
        let due = store.scan(&Scan::tasks(TaskKey(i64::MIN), now, MOST));
        let oldest = gateway.engine().next_due();
        if let (Ok(due), Ok(oldest)) = (due, oldest) {
            let lag = oldest.map_or(0, |oldest| u64::try_from(now - oldest).unwrap_or(0));
            metrics.outbox(due.len(), Duration::from_millis(lag));
        }
        metrics.providers(&gateway.engine().readings());
        if let Ok(due) = gateway.engine().reviews_due(MOST) {
            metrics.reviews(&due, now);
        }
    })
}
