//! The HTTP interface: routes, what every request goes through, and the listener.

mod access;
mod account;
mod authenticate;
mod body;
mod bundles;
mod cached;
mod callbacks;
mod challenge;
mod codes;
mod connections;
mod context;
mod cors;
mod deprecated;
mod document;
mod export;
mod extract;
mod feed;
mod figures;
mod follow;
mod forwarded;
mod held;
mod key_cache;
mod keyed;
mod limit;
mod listener;
mod log;
mod long_poll;
mod middleware;
mod mobile;
mod negotiate;
mod nonce_cache;
mod operator;
mod probe;
mod problem;
mod providers;
mod receipts;
mod response;
mod reversals;
mod route;
mod settlements;
mod simulator;
#[cfg(feature = "console")]
mod site;
mod stream;
mod tls;
mod token;
mod unsent;
mod upload;
mod webhooks;
mod wire;
#[cfg(any(test, feature = "written-document"))]
mod written;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use crate::attest::Attestor;
use crate::stop::Stop;
use axum::Router;
use axum::extract::Request;
use hyper::Uri;
use railgate::auth::Verify;
use railgate::env::Env;
use railgate::{Engine, Error, ErrorCode};
use utoipa_axum::router::OpenApiRouter;

use crate::carrier::Carrier;
use crate::config::Edge;
use crate::conformance::Doors;
use crate::deliver::Deliverer;
use crate::gateway::Gateway;
use crate::metrics::Metrics;
use crate::traces::Traces;
use authenticate::Authenticator;
use body::BodyMemory;
use context::RequestIds;
use cors::Cors;
pub use deprecated::{DEPRECATED, Day, Deprecated};
pub use document::document;
use extract::Noted;
pub(crate) use figures::Figures;
use held::Held;
use limit::Limits;
pub(crate) use listener::Listener;
pub use middleware::Middleware;
use probe::Readings;
use problem::HttpError;
pub(crate) use tls::Tls;
pub use tls::TlsError;
use unsent::Unsent;
use upload::Uploads;
use webhooks::InFlight;

/// Time limits and other bounds of the HTTP interface.
#[derive(Debug, Clone, Copy)]
pub struct HttpLimits {
    /// How long a whole response may take.
    pub handler: Duration,
    /// How long a TLS handshake may take.
    pub handshake: Duration,
    /// How often the files are checked for a new certificate.
    pub tls_look: Duration,
    /// How long a request's head may take, including its first byte on a connection that is kept alive.
    pub head_read: Duration,
    /// How long a request's body may take.
    pub body_read: Duration,
    /// How long a statement may take to be received and compared.
    pub upload: Duration,
    /// The longest wait that a caller may ask for, in seconds.
    pub wait_s: u32,
    /// How often an idle stream sends a sign of life.
    pub heartbeat: Duration,
    /// How often a stream looks for events by itself: other nodes change things too.
    pub look: Duration,
    /// How long a peer may leave data unread before it is cut off.
    pub stall: Duration,
    /// How long a shutdown waits for requests in flight.
    pub drain: Duration,
    /// How long new connections are served at least after a shutdown was requested, with readiness gone.
    pub grace: Duration,
    /// The most connections that may be open. When they are, the one that has been idle for longest makes room for a new one.
    pub connections: usize,
    /// How long a handshake and a request's head may take on connections that are accepted while three quarters of the places
    /// are taken.
    pub pressed: Duration,
    /// The most connections from one address; IPv6 addresses count by their /64. This machine and trusted proxies have no such
    /// bound. `None`: an eighth of `connections`, and at least 16.
    pub address_connections: Option<usize>,
    /// The most event streams that one client may have open. All held calls together may be half as many as `connections`,
    /// and one client may have a quarter of what is left of that.
    pub client_streams: usize,
    /// The most calls of one client that may wait for a change; further ones are answered at once.
    pub client_waits: usize,
    /// The most bytes of long responses that may be unsent. One client may have an eighth of what is left of that.
    pub unsent: usize,
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self {
            handler: Duration::from_secs(30),
            handshake: Duration::from_secs(10),
            tls_look: Duration::from_secs(2),
            head_read: Duration::from_secs(10),
            body_read: Duration::from_secs(10),
            upload: Duration::from_secs(600),
            wait_s: 30,
            heartbeat: Duration::from_secs(15),
            look: Duration::from_secs(15),
            stall: Duration::from_secs(30),
            drain: Duration::from_secs(35),
            grace: Duration::ZERO,
            connections: 4_096,
            pressed: Duration::from_secs(2),
            address_connections: None,
            client_streams: 64,
            client_waits: 256,
            unsent: 64 * 1024 * 1024,
        }
    }
}

/// The state that handlers share.
#[derive(Clone)]
pub(crate) struct App(Arc<AppState>);

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}

/// See [`App`].
pub(crate) struct AppState {
    gateway: Gateway,
    carrier: Carrier,
    deliverer: Deliverer,
    /// Calls that a client may make only once at a time for a webhook.
    in_flight: InFlight,
    held: Held,
    unsent: Unsent,
    readings: Readings,
    bodies: BodyMemory,
    uploads: Uploads,
    /// Where the callbacks of the tests of bundles arrive.
    doors: Doors,
    metrics: Arc<Metrics>,
    limits: HttpLimits,
    gate: Authenticator,
    ids: RequestIds,
    document: document::Described,
    attestor: Attestor,
    /// The address that opens an app with a code, which belongs where it says `{code}`.
    app_link: String,
    /// The routes that will stop, or have stopped.
    deprecated: &'static [Deprecated],
    /// Requested as soon as this process is to stop.
    stopping: Stop,
    traces: Traces,
    /// Whether the browser sites are served.
    #[cfg(feature = "console")]
    sites: bool,
}

/// The parts of a [`Middleware`].
pub(crate) struct Parts {
    pub(crate) gateway: Gateway,
    pub(crate) carrier: Carrier,
    pub(crate) deliverer: Deliverer,
    pub(crate) engine: Arc<Engine>,
    pub(crate) env: Arc<dyn Env>,
    pub(crate) verifier: Arc<dyn Verify>,
    pub(crate) doors: Doors,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) limits: HttpLimits,
    /// The base URLs under which callers reach this gateway; see [`Authenticator`].
    pub(crate) bases: Vec<String>,
    pub(crate) edge: Edge,
    pub(crate) attestor: Attestor,
    /// Whether no other node works on the store.
    pub(crate) alone: bool,
    pub(crate) stopping: Stop,
    pub(crate) traces: Traces,
}

/// Builds the interface from `parts`.
pub(crate) fn front(parts: Parts) -> Result<Middleware, Error> {
    let app_link = mobile::app_link(parts.bases.first().map_or("", String::as_str));
    let document = document::Described::new(parts.bases.first().cloned(), parts.edge.deprecated.0);
    let app = App(Arc::new(AppState {
        gateway: parts.gateway,
        carrier: parts.carrier,
        deliverer: parts.deliverer,
        in_flight: InFlight::default(),
        held: Held::default(),
        unsent: Unsent::new(parts.limits.unsent),
        readings: Readings::default(),
        bodies: BodyMemory::default(),
        uploads: Uploads::default(),
        doors: parts.doors,
        metrics: parts.metrics,
        limits: parts.limits,
        gate: Authenticator::open(
            parts.engine,
            Arc::clone(&parts.env),
            parts.verifier,
            parts.bases,
            Limits::new(parts.edge.rate, parts.edge.live_rate),
            parts.alone,
        )?,
        ids: RequestIds::new(&parts.env),
        document,
        app_link,
        attestor: parts.attestor,
        deprecated: parts.edge.deprecated.0,
        stopping: parts.stopping,
        traces: parts.traces,
        #[cfg(feature = "console")]
        sites: parts.edge.console,
    }));
    let router = served(Router::new());
    #[cfg(feature = "console")]
    let router = if parts.edge.console { site::served(router) } else { router };
    let router = router.fallback(not_found).method_not_allowed_fallback(wrong_method);
    Ok(Middleware::new(router.with_state(app.clone()), app, Cors::new(&parts.edge.cors_origins)))
}

/// All routes of the interface, from the `routes!` of each file. Beside the browser sites, nothing else is served, and all of it is
/// documented.
macro_rules! all_routes {
    ($($($file:ident)::+,)+) => {
        fn served(router: Router<App>) -> Router<App> {
            $(let router = $($file)::+::served(router);)+
            router
        }

        fn described() -> OpenApiRouter<App> {
            OpenApiRouter::with_openapi(document::base())$(.merge($($file)::+::described()))+
        }
    };
}

all_routes! {
    settlements,
    export,
    follow,
    feed,
    receipts,
    reversals,
    account,
    providers,
    callbacks,
    simulator,
    operator::people,
    operator::approvals,
    operator::clients,
    operator::money,
    operator::providers,
    operator::settlements,
    operator::reviews,
    operator::reconciliations,
    operator::quality,
    operator::changes,
    mobile::users,
    mobile::devices,
    mobile::approvals,
    mobile::notifications,
    mobile::push,
    mobile::quality,
    bundles,
    operator::bundles,
    log,
    access,
    webhooks::endpoints,
    webhooks::deliveries,
    codes,
    probe,
}

/// The version that is served.
const VERSIONS: &str = "v1";

async fn not_found(_: Noted, request: Request) -> HttpError {
    let detail = unknown_version(request.uri());
    let (parts, body) = request.into_parts();
    body::discard(body, &parts.headers);
    let plain = || Error::new(ErrorCode::RouteNotFound);
    HttpError(detail.map_or_else(plain, |detail| Error::with(ErrorCode::RouteNotFound, detail)))
}

fn unknown_version(uri: &Uri) -> Option<String> {
    let version = uri.path().strip_prefix("/api/")?.split('/').next()?;
    (version != VERSIONS).then(|| format!("unknown version of the interface; {VERSIONS} is under /api/{VERSIONS}"))
}

async fn wrong_method(_: Noted, request: Request) -> HttpError {
    let (parts, body) = request.into_parts();
    body::discard(body, &parts.headers);
    HttpError::from(ErrorCode::MethodNotAllowed)
}
