//! What a service is set up with, as values. The command line reads them from text: `cli/settings/`.

use std::borrow::Cow;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

use hyper::header::HeaderValue;
use railgate::store::sqlite::Synchronous;
use railgate::webhook::Cidr;

/// Where settlements are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreConfig {
    /// In an SQLite file.
    Sqlite(PathBuf),
    /// In a PostgreSQL database.
    Postgres(DatabaseUrl),
    /// In this process's memory.
    Memory,
}

/// The address of a database. It may hold a password, so it is shown without.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl DatabaseUrl {
    /// `postgres://USER:PASSWORD@HOST/DATABASE`.
    pub fn new(url: impl Into<String>) -> Self {
        Self(url.into())
    }

    /// With its password.
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

/// What [`crate::start`] runs: a service over a store that it opens itself.
#[derive(Debug, Clone)]
pub struct ServeConfig {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Where to serve `/metrics`, if anywhere.
    pub metrics_listen: Option<SocketAddr>,
    /// Where settlements are kept.
    pub store: StoreConfig,
    /// Whether other servers of this machine serve the same SQLite file.
    pub shared_store: bool,
    /// What a durable commit waits for.
    pub synchronous: Synchronous,
    /// How many connections to a database read.
    pub db_readers: usize,
    /// Whether the schema of a database is made and migrated at the start.
    pub db_migrate: bool,
    /// Encryption, browsers, rate limits and the public address.
    pub edge: Edge,
    /// Where the keys are that encrypt secrets in the store; none for a store in memory.
    pub master_keys: Option<PathBuf>,
    /// How long an access token lives, in seconds.
    pub token_ttl_s: u32,
    /// How many connections may be open.
    pub max_connections: usize,
    /// For how many seconds at least calls are still served after the wish to end.
    pub drain_grace_s: u32,
    /// Whether what is due is sent to the rails.
    pub outbox: bool,
}

impl ServeConfig {
    /// Whether other servers may work over the same store.
    pub fn is_shared(&self) -> bool {
        match self.store {
            StoreConfig::Sqlite(_) => self.shared_store,
            StoreConfig::Postgres(_) => true,
            StoreConfig::Memory => false,
        }
    }
}

/// What stands between the network and the interface. The default is a plain listener without limits, for tests and
/// for a host in the same process; `railgate serve` has defaults of its own.
#[derive(Debug, Clone, Default)]
pub struct Edge {
    /// Serve HTTPS from these files; plain HTTP without.
    pub tls: Option<TlsFiles>,
    /// Pages of these origins may call, and read what is answered.
    pub cors_origins: Vec<HeaderValue>,
    /// How often one client may call.
    pub rate: Option<RateLimits>,
    /// The address under which clients reach this server, without a slash at its end.
    pub public_url: Option<String>,
    /// Addresses that webhooks may go to although they are not public.
    pub webhook_allow: Vec<Cidr>,
}

/// Where a certificate and its private key are, both PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate first, then those that lead to a root.
    pub cert: PathBuf,
    /// The private key of the first certificate.
    pub key: PathBuf,
}

/// How often one client may call, on each node of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimits {
    /// Calls that change nothing.
    pub reads_per_minute: u32,
    /// Calls that may change something.
    pub writes_per_minute: u32,
}

/// What may be shown of a setting: the address of a database without its password, also of one that is written wrongly.
pub(crate) fn presentable(text: &str) -> Cow<'_, str> {
    if text.contains("://") && (text.contains('@') || text.to_ascii_lowercase().contains("password")) {
        hide_password(text).into()
    } else {
        text.into()
    }
}

/// The address of a database with `***` for its password, wherever it stands. A password that somebody forgot to encode may
/// have anything in it: so all from the first colon to the last `@` is taken for one, and all of a parameter that is named so.
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
