//! The settings of a service, as values. The command line reads them from text: `cli/settings/`.

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use crate::http::{DEPRECATED, Deprecated};
use crate::traces::TraceSettings;
use hyper::header::HeaderValue;
use railgate::engine::{Enrollment, FourEyes};
use railgate::store::sqlite::Synchronous;
use railgate::webhook::Cidr;

/// The store of settlements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreConfig {
    /// An SQLite file.
    Sqlite(PathBuf),
    /// A PostgreSQL database.
    Postgres(DatabaseUrl),
    /// This process's memory.
    Memory,
}

/// The URL of a database. It may contain a password, so it is displayed without it.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// Takes `postgres://USER:PASSWORD@HOST/DATABASE`.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// The URL with its password.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&presentable(&self.0))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What a connection to a PostgreSQL database must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DatabaseTls {
    /// What its URL says. There is a warning if the server is not verified.
    #[default]
    AsUrl,
    /// A server whose certificate is verified, unless the connection stays on this machine.
    VerifyFull,
}

/// Settings of [`crate::start`]: a service over a store that it opens itself.
#[derive(Debug, Clone)]
pub struct ServeConfig {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The address to serve `/metrics` on, if any.
    pub metrics_listen: Option<SocketAddr>,
    /// The store of settlements.
    pub store: StoreConfig,
    /// Whether other servers on this machine serve the same SQLite file.
    pub shared_store: bool,
    /// What a durable commit waits for.
    pub synchronous: Synchronous,
    /// The number of database connections for reads.
    pub db_readers: usize,
    /// Whether the database's schema is created and migrated at the start.
    pub db_migrate: bool,
    /// What a connection to the database must have.
    pub db_tls: DatabaseTls,
    /// Encryption, browsers, rate limits and the public address.
    pub edge: Edge,
    /// The file of the keys that encrypt secrets in the store; none for a store in memory.
    pub master_keys: Option<PathBuf>,
    /// Who may enrol as a new client.
    pub enrollment: Enrollment,
    /// How many clients there may be before no more enrol.
    pub enrollment_cap: u32,
    /// Which acts of an operator a second one has to confirm.
    pub four_eyes: FourEyes,
    /// For how many days the audit trail keeps what was refused.
    pub audit_refusals_days: u32,
    /// For how many days what devices measured is kept.
    pub quality_retention_days: u32,
    /// How long an access token lives, in seconds.
    pub token_ttl_s: u32,
    /// The most connections that may be open.
    pub max_connections: usize,
    /// How many seconds calls are still served at least after a shutdown was requested.
    pub drain_grace_s: u32,
    /// Whether due tasks are sent to the rails.
    pub outbox: bool,
}

impl ServeConfig {
    /// Whether other servers may use the same store.
    pub fn is_shared(&self) -> bool {
        match self.store {
            StoreConfig::Sqlite(_) => self.shared_store,
            StoreConfig::Postgres(_) => true,
            StoreConfig::Memory => false,
        }
    }
}

/// Settings between the network and the interface. The default is a plain listener without limits, for tests and for a
/// host in the same process; `railgate serve` has its own defaults.
#[derive(Debug, Clone, Default)]
pub struct Edge {
    /// The files for HTTPS; plain HTTP without them.
    pub tls: Option<TlsFiles>,
    /// Origins whose pages may call and read the responses.
    pub cors_origins: Vec<HeaderValue>,
    /// How often one client may call in the sandbox.
    pub rate: Option<RateLimits>,
    /// How often one client may call with a live credential.
    pub live_rate: Option<RateLimits>,
    /// The address under which clients reach this server, without a trailing slash.
    pub public_url: Option<String>,
    /// Proxies that name the caller in `X-Forwarded-For`.
    pub trusted_proxies: Vec<Cidr>,
    /// Addresses that webhooks may go to even though they are not public.
    pub webhook_allow: Vec<Cidr>,
    /// Addresses that operators may be called at even though they are not public.
    pub provider_allow: Vec<Cidr>,
    /// The roots of device makers, in PEM, with which attestations of devices are verified.
    pub attestation_roots: Option<PathBuf>,
    /// The Apple apps whose attestations count: a team id, a dot and a bundle id; any if there are none.
    pub attestation_apps: Vec<String>,
    /// Where spans go; nowhere without.
    pub traces: Option<TraceSettings>,
    /// Whether the browser sites `/console` and `/docs` are served, by a build with the feature `console`.
    pub console: bool,
    /// The routes that will stop.
    pub deprecated: DeprecatedRoutes,
}

/// The routes that will stop; by default those of this program. Only tests have others.
#[derive(Debug, Clone, Copy)]
pub struct DeprecatedRoutes(pub &'static [Deprecated]);

impl Default for DeprecatedRoutes {
    fn default() -> Self {
        Self(DEPRECATED)
    }
}

/// The paths of a certificate and its private key, both PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate first, then the chain to a root.
    pub cert: PathBuf,
    /// The private key of the first certificate.
    pub key: PathBuf,
}

/// How often one client may call in one mode; each node counts for itself. Each element of a batch counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Calls that change nothing.
    pub reads_per_minute: u32,
    /// Calls that may change something.
    pub writes_per_minute: u32,
}

/// A setting in a form that may be shown: the URL of a database without its password, even if it is malformed.
pub(crate) fn presentable(text: &str) -> Cow<'_, str> {
    if text.contains("://") && (text.contains('@') || text.to_ascii_lowercase().contains("password")) {
        hide_password(text).into()
    } else {
        text.into()
    }
}

/// The URL of a database with `***` for its password, wherever that is. An unencoded password may contain anything, so
/// everything from the first colon to the last `@` is hidden, and everything in a parameter that is named so.
fn hide_password(url: &str) -> String {
    let parameter = |part: &str| {
        let named = part.to_ascii_lowercase().find("password=").map(|at| at + "password=".len());
        named.map_or_else(|| part.to_owned(), |end| format!("{}***", &part[..end]))
    };
    let url = url.split('&').map(parameter).collect::<Vec<_>>().join("&");
    let Some((scheme, rest)) = url.split_once("://") else { return "***".to_owned() };
    match rest.rsplit_once('@') {
        Some((user, rest)) => match user.split_once(':') {
            Some((name, _)) => format!("{scheme}://{name}:***@{rest}"),
            None => format!("{scheme}://{user}@{rest}"),
        },
        None => format!("{scheme}://{rest}"),
    }
}
