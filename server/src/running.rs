//! A running service: what is started in which order, and how it ends without losing anything.

use std::future::Future;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use railgate::env::Env;
use railgate::store::memory::MemoryStore;
use railgate::store::record::TaskKey;
use railgate::store::sqlite::{SqliteOptions, SqliteStore};
use railgate::store::{Scan, Store, StoreError};
use railgate::time::Millis;
use railgate::{Config, Engine};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::config::{ServeConfig, StoreConfig};
use crate::env::SystemEnv;
use crate::gateway::{Gateway, QueueLimits};
use crate::http::{Front, HttpLimits, Listener, Parts, front, serve_metrics};
use crate::metrics::Metrics;
use crate::stop::{Stopper, stop};
use crate::worker::{self, WorkerSettings};
use crate::{telemetry, telemetry::parse_filter};

/// Why the service could not start or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The data folder cannot be made.
    #[error("the data folder {} cannot be made: {cause}", .path.display())]
    DataDir {
        /// The folder.
        path: PathBuf,
        /// Why.
        cause: io::Error,
    },
    /// The store cannot be opened.
    #[error("the store cannot be opened: {0}")]
    Store(#[from] StoreError),
    /// The engine cannot be opened over the store.
    #[error("the engine cannot be opened: {0}{cause}", cause = cause(.0))]
    Engine(#[from] railgate::Error),
    /// An address cannot be taken.
    #[error("{setting} {address} cannot be listened on: {cause}")]
    Listen {
        /// Which setting names it.
        setting: &'static str,
        /// The address.
        address: SocketAddr,
        /// Why.
        cause: io::Error,
    },
    /// The system refuses a thread, a signal handler or standard output.
    #[error("{0}")]
    System(#[from] io::Error),
}

fn cause(error: &railgate::Error) -> String {
    std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default()
}

/// What a service runs over; tests bring their own.
pub struct Hosted {
    /// Where records live.
    pub store: Arc<dyn Store>,
    /// Time and randomness.
    pub env: Arc<dyn Env>,
    /// The engine's settings.
    pub engine: Config,
    /// How long things may take.
    pub limits: HttpLimits,
    /// How the outbox is driven.
    pub worker: WorkerSettings,
}

impl Hosted {
    /// Over `store`, with the system's clock and all defaults.
    pub fn over(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            env: Arc::new(SystemEnv::default()),
            engine: Config::default(),
            limits: HttpLimits::default(),
            worker: WorkerSettings::default(),
        }
    }
}

/// A service that answers. Dropping it ends the process's tasks abruptly; [`Running::stop`] ends it well.
pub struct Running {
    address: SocketAddr,
    metrics_address: Option<SocketAddr>,
    gateway: Gateway,
    front: Front,
    metrics: Arc<Metrics>,
    store: Weak<dyn Store>,
    stop_http: Stopper,
    stop_worker: Stopper,
    http: JoinHandle<()>,
    worker: JoinHandle<()>,
    figures: Option<JoinHandle<()>>,
}

/// Starts a service.
///
/// # Errors
/// [`ServeError`].
pub async fn start(config: &ServeConfig) -> Result<Running, ServeError> {
    let store = open_store(config)?;
    let mut hosted = Hosted::over(store);
    hosted.engine.token_ttl_ms = Millis::from(config.token_ttl_s) * 1_000;
    hosted.limits.connections = config.max_connections;
    hosted.worker.carries = config.outbox;
    start_with(hosted, config.listen, config.metrics_listen, config.public_url.clone()).await
}

/// Starts a service over what the caller brings. Port 0 takes any free one.
///
/// # Errors
/// [`ServeError`].
pub async fn start_with(
    hosted: Hosted,
    listen: SocketAddr,
    metrics_listen: Option<SocketAddr>,
    public_url: Option<String>,
) -> Result<Running, ServeError> {
    let Hosted { store, env, engine, limits, worker } = hosted;
    let metrics = Arc::new(Metrics::default());
    let engine = Arc::new(Engine::open(Arc::clone(&store), Arc::clone(&env), engine)?);
    // The addresses before the threads: a second service on the same port must fail before it touches the outbox.
    let unusable = |setting, address| move |cause| ServeError::Listen { setting, address, cause };
    let listener = Listener::bind(listen, limits, Arc::clone(&metrics)).await.map_err(unusable("listen", listen))?;
    let figures = match metrics_listen {
        Some(address) => Some(TcpListener::bind(address).await.map_err(unusable("metrics-listen", address))?),
        None => None,
    };
    let gateway = Gateway::start(engine, Arc::clone(&metrics), QueueLimits::default())?;
    let (stop_http, stopping) = stop();
    let (stop_worker, worker_stopping) = stop();
    let refresh = outbox_figures(&gateway, &store, &metrics);
    let still_open = Arc::downgrade(&store);
    let front = front(Parts {
        gateway: gateway.clone(),
        store,
        env,
        metrics: Arc::clone(&metrics),
        limits,
        public_url,
        stopping: stopping.clone(),
    });
    Ok(Running {
        address: listener.address()?,
        metrics_address: figures.as_ref().map(TcpListener::local_addr).transpose()?,
        http: tokio::spawn(listener.serve(front.clone(), stopping)),
        worker: tokio::spawn(worker::drive(gateway.clone(), Arc::clone(&metrics), worker, worker_stopping.clone())),
        figures: figures.map(|socket| tokio::spawn(serve_metrics(socket, Arc::clone(&metrics), refresh, worker_stopping))),
        gateway,
        front,
        metrics,
        store: still_open,
        stop_http,
        stop_worker,
    })
}

impl Running {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where the figures are.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics_address
    }

    /// The way to the engine.
    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// The HTTP interface without its sockets.
    pub fn front(&self) -> &Front {
        &self.front
    }

    /// The figures.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Turns readiness red, lets requests under way finish, then the worker, then everything that was accepted, and
    /// closes the store.
    pub async fn stop(self) {
        let Self { gateway, front, store, stop_http, stop_worker, http, worker, figures, .. } = self;
        stop_http.stop();
        let _ = http.await;
        stop_worker.stop();
        let _ = worker.await;
        if let Some(figures) = figures {
            let _ = figures.await;
        }
        gateway.shutdown().await;
        drop((gateway, front));
        closed(&store).await;
    }
}

/// Waits until whoever still looked something up has let go of the store: the last one closes it.
async fn closed(store: &Weak<dyn Store>) {
    for _ in 0..400 {
        if store.strong_count() == 0 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    tracing::warn!("the store is still in use; it is whole, and closed by the end of the process");
}

/// Runs a service until SIGINT or SIGTERM. The first line on standard output is `listening on http://HOST:PORT`.
///
/// # Errors
/// [`ServeError`].
pub async fn serve(config: ServeConfig) -> Result<(), ServeError> {
    let filter = parse_filter(&config.log_level).map_err(io::Error::other)?;
    let _log = telemetry::init(config.log, filter)?;
    let ended = signals()?;
    let running = start(&config).await?;
    let mut out = io::stdout();
    writeln!(out, "listening on http://{}", running.address())?;
    out.flush()?;
    tracing::info!(
        address = %running.address(),
        metrics = running.metrics_address().map(tracing::field::display),
        version = env!("CARGO_PKG_VERSION"),
        "serving"
    );
    let signal = ended.await;
    tracing::info!(signal, "shutting down");
    running.stop().await;
    tracing::info!("everything accepted is stored");
    Ok(())
}

/// Completes at the first signal to end, with its name. A second one ends the process at once: whoever sends it means
/// it, and nothing that is durable is lost.
fn signals() -> io::Result<impl Future<Output = &'static str>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            let first = tokio::select! {
                _ = interrupt.recv() => "SIGINT",
                _ = terminate.recv() => "SIGTERM",
            };
            tokio::spawn(async move {
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                }
                std::process::exit(130);
            });
            first
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        "ctrl-c"
    })
}

fn open_store(config: &ServeConfig) -> Result<Arc<dyn Store>, ServeError> {
    match &config.store {
        StoreConfig::Memory => Ok(Arc::new(MemoryStore::new())),
        StoreConfig::Sqlite(path) => {
            if let Some(folder) = path.parent() {
                make_folder(folder)?;
            }
            let options = SqliteOptions { synchronous: config.synchronous, ..SqliteOptions::default() };
            Ok(Arc::new(SqliteStore::open(path, options)?))
        }
    }
}

fn make_folder(path: &Path) -> Result<(), ServeError> {
    if path.as_os_str().is_empty() {
        return Ok(());
    }
    std::fs::create_dir_all(path).map_err(|cause| ServeError::DataDir { path: path.to_owned(), cause })
}

/// Counts what waits in the outbox when the figures are asked for.
fn outbox_figures(gateway: &Gateway, store: &Arc<dyn Store>, metrics: &Arc<Metrics>) -> Arc<dyn Fn() + Send + Sync> {
    const MOST: usize = 10_000;
    let (gateway, store, metrics) = (gateway.clone(), Arc::clone(store), Arc::clone(metrics));
    Arc::new(move || {
        let now = gateway.engine().now();
        let due = store.scan(&Scan::Tasks { after: TaskKey(i64::MIN), until: now, limit: MOST });
        let oldest = gateway.engine().next_due();
        if let (Ok(due), Ok(oldest)) = (due, oldest) {
            let lag = oldest.map_or(0, |oldest| u64::try_from(now - oldest).unwrap_or(0));
            metrics.outbox(due.len(), Duration::from_millis(lag));
        }
    })
}
