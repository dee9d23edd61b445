//! The settings of `railgate serve`, from flags, environment and file, in that order of precedence, all checked at start.

mod sources;
mod values;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use railgate::engine::FourEyes;
use railgate::store::postgres::PostgresStore;

use crate::config::{DatabaseTls, DatabaseUrl, DeprecatedRoutes, Edge, ServeConfig, StoreConfig, TlsFiles};
use crate::telemetry::{LogFormat, parse_filter};
use crate::traces::TraceSettings;
use sources::Sources;
pub(super) use sources::{ConfigError, Origin};
use values::store_address;
use values::{file, listen_address, log_name, metrics_address, on_off, platform_data_dir, public_url, whole};

/// The flags of `railgate serve`. Each may also be given as an environment variable (`RAILGATE_` and the flag's name in
/// capitals) or in the file that `--config` names, under the flag's name. Flags take precedence, then the environment.
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct ServeArgs {
    /// Read settings from this TOML file [env: RAILGATE_CONFIG]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where to listen; port 0 picks a free one. An address that other machines can reach needs TLS and --public-url
    /// [env: RAILGATE_LISTEN] [default: 127.0.0.1:8080]
    #[arg(long, value_name = "IP:PORT")]
    pub(super) listen: Option<String>,
    /// Where to serve /metrics, /healthz and /readyz, or `off`. Metrics contain no secrets, but are unencrypted: an address that other
    /// machines can reach needs --plain-http on [env: RAILGATE_METRICS_LISTEN] [default: 127.0.0.1:9090]
    #[arg(long, value_name = "IP:PORT|off")]
    pub(super) metrics_listen: Option<String>,
    /// Where settlements are kept: `sqlite:PATH`, `postgres://USER:PASSWORD@HOST/DATABASE` for any number of servers, or
    /// `memory:` to discard them at exit [env: RAILGATE_STORE] [default: sqlite:railgate.db in the data folder]
    #[arg(long, value_name = "STORE")]
    pub(super) store: Option<String>,
    /// `on` lets several servers on this machine share the same SQLite file; set it for each of them
    /// [env: RAILGATE_SHARED_STORE] [default: off]
    #[arg(long, value_name = "on|off")]
    pub(super) shared_store: Option<String>,
    /// What a durable commit to SQLite waits for: `full` survives a power cut, `normal` only a crash of the process
    /// [env: RAILGATE_SYNCHRONOUS] [default: full]
    #[arg(long, value_name = "full|normal")]
    pub(super) synchronous: Option<String>,
    /// Number of connections to PostgreSQL for reading; two more write [env: RAILGATE_DB_READERS] [default: 8]
    #[arg(long, value_name = "COUNT")]
    pub(super) db_readers: Option<String>,
    /// `off` never changes the schema of a PostgreSQL database: for a role without that right, after `railgate migrate`
    /// [env: RAILGATE_DB_MIGRATE] [default: on]
    #[arg(long, value_name = "on|off")]
    pub(super) db_migrate: Option<String>,
    /// `verify-full` refuses a PostgreSQL database on another machine unless its URL has sslmode=verify-full; `as-url` only warns
    /// [env: RAILGATE_DB_TLS] [default: as-url]
    #[arg(long, value_name = "as-url|verify-full")]
    pub(super) db_tls: Option<String>,
    /// The data folder [env: RAILGATE_DATA_DIR] [default: the platform's]
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: Option<String>,
    /// The address under which clients reach this server; their signatures cover it [env: RAILGATE_PUBLIC_URL]
    /// [default: the address it listens on]
    #[arg(long, value_name = "URL")]
    pub(super) public_url: Option<String>,
    /// Serve HTTPS with the certificates in this PEM file, the server's own first; reloaded when it changes, and on
    /// SIGHUP [env: RAILGATE_TLS_CERT]
    #[arg(long, value_name = "FILE")]
    pub(super) tls_cert: Option<String>,
    /// The PEM file of the certificate's private key [env: RAILGATE_TLS_KEY]
    #[arg(long, value_name = "FILE")]
    pub(super) tls_key: Option<String>,
    /// `on` allows plain HTTP on an address that other machines can reach: only behind a proxy that terminates TLS
    /// [env: RAILGATE_PLAIN_HTTP] [default: off]
    #[arg(long, value_name = "on|off")]
    pub(super) plain_http: Option<String>,
    /// Calls per minute that one client may make on this node in the sandbox: reads and writes, or `off`; each element of a
    /// batch counts [env: RAILGATE_RATE_LIMIT] [default: 3000/600]
    #[arg(long, value_name = "off|READS/WRITES")]
    pub(super) rate_limit: Option<String>,
    /// The same for live credentials, or `same` [env: RAILGATE_LIVE_RATE_LIMIT] [default: same]
    #[arg(long, value_name = "same|off|READS/WRITES")]
    pub(super) live_rate_limit: Option<String>,
    /// Allow calls from pages of this exact origin (`https://app.example.com`); repeat it, or separate several by commas
    /// [env: RAILGATE_CORS_ORIGIN]
    #[arg(long, value_name = "ORIGIN")]
    pub(super) cors_origin: Vec<String>,
    /// Trust proxies in this range of addresses (`10.1.0.0/16`) to name the caller in X-Forwarded-For: limits then count
    /// callers, not the proxy; repeat it, or separate several by commas [env: RAILGATE_TRUSTED_PROXY]
    #[arg(long, value_name = "CIDR")]
    pub(super) trusted_proxy: Vec<String>,
    /// Allow webhooks to this range of addresses although it is not public (`10.1.0.0/16`); repeat it, or separate
    /// several by commas [env: RAILGATE_WEBHOOK_ALLOW]
    #[arg(long, value_name = "CIDR")]
    pub(super) webhook_allow: Vec<String>,
    /// Allow calls to operators in this range of addresses although it is not public (`10.1.0.0/16`); this machine always is.
    /// Repeat it, or separate several by commas [env: RAILGATE_PROVIDER_ALLOW]
    #[arg(long, value_name = "CIDR")]
    pub(super) provider_allow: Vec<String>,
    /// The file of the keys that encrypt secrets in the store, the same for all servers of a database; not used with
    /// `memory:` [env: RAILGATE_MASTER_KEYS] [default: next to the store, with .keys added to its name; for a database:
    /// railgate.keys in the data folder]
    #[arg(long, value_name = "FILE")]
    pub(super) master_keys: Option<String>,
    /// The format of log lines on standard error [env: RAILGATE_LOG] [default: pretty on a terminal, else json]
    #[arg(long, value_name = "json|pretty")]
    pub(super) log: Option<String>,
    /// What is logged: off, error, warn, info, debug, trace, or target=level pairs [env: RAILGATE_LOG_LEVEL]
    /// [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub(super) log_level: Option<String>,
    /// Who may enrol as a new sandbox client: everybody (`open`), whoever has an invitation that `railgate clients invite`
    /// made (`invited`), or nobody (`off`) [env: RAILGATE_ENROLLMENT] [default: open]
    #[arg(long, value_name = "open|invited|off")]
    pub(super) enrollment: Option<String>,
    /// How many clients there may be before no more enrol; those that never pay expire after 30 days
    /// [env: RAILGATE_ENROLLMENT_CAP] [default: 10000]
    #[arg(long, value_name = "COUNT")]
    pub(super) enrollment_cap: Option<String>,
    /// Whether browsers get the sites `/console` and `/docs` [env: RAILGATE_CONSOLE] [default: on]
    #[arg(long, value_name = "on|off")]
    pub(super) console: Option<String>,
    /// Which acts of an operator a second one has to confirm: some of money, access, outcome, provider, routes and terms,
    /// separated by commas, or `off` [env: RAILGATE_FOUR_EYES] [default: money,access,outcome,provider]
    #[arg(long, value_name = "ACTS")]
    pub(super) four_eyes: Option<String>,
    /// The smallest amount whose outcome needs a second operator, in units of its currency [env: RAILGATE_FOUR_EYES_FROM]
    /// [default: 1000]
    #[arg(long, value_name = "AMOUNT")]
    pub(super) four_eyes_from: Option<String>,
    /// The file of device makers' root certificates, in PEM: with it, what phones show of their hardware is verified
    /// [env: RAILGATE_ATTESTATION_ROOTS] [default: none]
    #[arg(long, value_name = "FILE")]
    pub(super) attestation_roots: Option<String>,
    /// An Apple app whose attestations count, as TEAM.BUNDLE; may be repeated [env: RAILGATE_ATTESTATION_APP, separated by
    /// commas] [default: any]
    #[arg(long, value_name = "APP")]
    pub(super) attestation_app: Vec<String>,
    /// For how many days the audit trail keeps what was refused; what was done is kept for ever
    /// [env: RAILGATE_AUDIT_REFUSALS_DAYS] [default: 30]
    #[arg(long, value_name = "DAYS")]
    pub(super) audit_refusals_days: Option<String>,
    /// For how many days what devices measured is kept, as sketches [env: RAILGATE_QUALITY_RETENTION_DAYS] [default: 90]
    #[arg(long, value_name = "DAYS")]
    pub(super) quality_retention_days: Option<String>,
    /// Send spans to the collector at this address, by OTLP over HTTP: `http://127.0.0.1:4318` [env: RAILGATE_TRACES] [default: off]
    #[arg(long, value_name = "off|URL")]
    pub(super) traces: Option<String>,
    /// The share of the traces that begin here which are recorded, from 0 to 1; callers who send a `traceparent` decide about theirs
    /// [env: RAILGATE_TRACES_SHARE] [default: 1]
    #[arg(long, value_name = "SHARE")]
    pub(super) traces_share: Option<String>,
    /// Lifetime of an access token, in seconds [env: RAILGATE_TOKEN_TTL] [default: 900]
    #[arg(long, value_name = "SECONDS")]
    pub(super) token_ttl: Option<String>,
    /// Maximum number of open connections; further ones take the place of the longest idle ones, or wait. One address gets an
    /// eighth of them, at least 16, unless it is a loopback address or a trusted proxy [env: RAILGATE_MAX_CONNECTIONS] [default: 4096]
    #[arg(long, value_name = "COUNT")]
    pub(super) max_connections: Option<String>,
    /// After SIGTERM, keep serving for this many seconds while /readyz fails, so that load balancers notice first
    /// [env: RAILGATE_DRAIN_GRACE] [default: 0]
    #[arg(long, value_name = "SECONDS")]
    pub(super) drain_grace: Option<String>,
    /// Whether to send due tasks to the rails; `off` accepts payments and lets them wait, for instance during
    /// maintenance at a provider [env: RAILGATE_OUTBOX] [default: on]
    #[arg(long, value_name = "on|off")]
    pub(super) outbox: Option<String>,
}

/// The settings in force.
#[derive(Debug, Clone)]
pub(super) struct Settings {
    /// The service.
    pub(super) serve: ServeConfig,
    /// The format of log lines.
    pub(super) log: LogFormat,
    /// The filter of log lines.
    pub(super) log_level: String,
    /// Every setting's name, value and origin, in the order in which they were read.
    shown: Vec<(&'static str, String, Origin)>,
}

/// The names of the settings, in the order of the flags.
const NAMES: [&str; 37] = [
    "listen",
    "metrics-listen",
    "store",
    "shared-store",
    "synchronous",
    "db-readers",
    "db-migrate",
    "db-tls",
    "data-dir",
    "public-url",
    "tls-cert",
    "tls-key",
    "plain-http",
    "rate-limit",
    "live-rate-limit",
    "cors-origin",
    "trusted-proxy",
    "webhook-allow",
    "provider-allow",
    "master-keys",
    "log",
    "log-level",
    "enrollment",
    "enrollment-cap",
    "console",
    "four-eyes",
    "four-eyes-from",
    "attestation-roots",
    "attestation-app",
    "audit-refusals-days",
    "quality-retention-days",
    "traces",
    "traces-share",
    "token-ttl",
    "max-connections",
    "drain-grace",
    "outbox",
];

impl ServeArgs {
    /// The settings in force, from these flags, the process's environment and the file.
    ///
    /// # Errors
    /// Everything that is wrong, at once: each problem names the setting, its origin and what would be valid.
    pub(super) fn resolve(self) -> Result<Settings, ConfigError> {
        self.resolve_with(&|name| std::env::var(name).ok())
    }

    /// [`ServeArgs::resolve`] with a different environment.
    ///
    /// # Errors
    /// As [`ServeArgs::resolve`].
    pub(super) fn resolve_with(mut self, env: &dyn Fn(&str) -> Option<String>) -> Result<Settings, ConfigError> {
        let mut from = Sources::open(self.config.as_deref(), env, &NAMES)?;
        let listen = from.read("listen", self.listen.take(), || Ok("127.0.0.1:8080".to_owned()), listen_address);
        let metrics_listen = from.read("metrics-listen", self.metrics_listen.take(), || Ok("127.0.0.1:9090".to_owned()), metrics_address);
        let data_dir = from.read("data-dir", self.data_dir.take(), platform_data_dir, |text| Ok(PathBuf::from(text)));
        let default_store = data_dir.clone();
        let default_store = move || {
            let folder = default_store.ok_or("it is in the data folder, which is unknown")?;
            Ok(format!("sqlite:{}", folder.join("railgate.db").display()))
        };
        let store = from.read("store", self.store.take(), default_store, store_address);
        let shared_store = from.read("shared-store", self.shared_store.take(), || Ok("off".to_owned()), on_off);
        let synchronous = from.read("synchronous", self.synchronous.take(), || Ok("full".to_owned()), values::synchronous);
        let readers = whole(2..=1_000, "must be a number from 2 to 1000: one for lists, one for all else");
        let db_readers = from.read("db-readers", self.db_readers.take(), || Ok("8".to_owned()), readers);
        let db_migrate = from.read("db-migrate", self.db_migrate.take(), || Ok("on".to_owned()), on_off);
        let db_tls = from.read("db-tls", self.db_tls.take(), || Ok("as-url".to_owned()), values::database_tls);
        if let (Some(StoreConfig::Postgres(url)), Some(DatabaseTls::VerifyFull)) = (&store, db_tls) {
            check_database(&mut from, url);
        }
        let plain_http = from.read("plain-http", self.plain_http.take(), || Ok("off".to_owned()), on_off);
        let edge = self.edge(&mut from);
        let master_keys = self.master_keys(&mut from, store.as_ref(), data_dir.as_deref());
        let log = from.read("log", self.log, || Ok(log_name(LogFormat::fitting()).to_owned()), values::log_format);
        let log_level =
            from.read("log-level", self.log_level, || Ok("info".to_owned()), |text| parse_filter(text).map(|_| text.to_owned()));
        let enrollment = from.read("enrollment", self.enrollment, || Ok("open".to_owned()), values::enrollment);
        let count = whole(1..=10_000_000, "must be a number from 1 to 10000000");
        let enrollment_cap = from.read("enrollment-cap", self.enrollment_cap, || Ok("10000".to_owned()), count);
        let four_eyes = || Ok("money,access,outcome,provider".to_owned());
        let four_eyes = from.read("four-eyes", self.four_eyes, four_eyes, values::four_eyes);
        let amount = whole(0..=1_000_000_000, "must be a whole number from 0 to 1000000000");
        let four_eyes_from = from.read("four-eyes-from", self.four_eyes_from, || Ok("1000".to_owned()), amount);
        let days = whole(1..=3_650, "must be a number of days from 1 to 3650");
        let audit_refusals_days = from.read("audit-refusals-days", self.audit_refusals_days, || Ok("30".to_owned()), &days);
        let quality_retention_days = from.read("quality-retention-days", self.quality_retention_days, || Ok("90".to_owned()), &days);
        let seconds = whole(60..=86_400, "must be a number of seconds from 60 to 86400");
        let token_ttl_s = from.read("token-ttl", self.token_ttl, || Ok("900".to_owned()), seconds);
        let count = whole(1..=100_000, "must be a number from 1 to 100000");
        let max_connections = from.read("max-connections", self.max_connections, || Ok("4096".to_owned()), count);
        let seconds = whole(0..=30, "must be a number of seconds from 0 to 30");
        let drain_grace_s = from.read("drain-grace", self.drain_grace.take(), || Ok("0".to_owned()), seconds);
        let outbox = from.read("outbox", self.outbox, || Ok("on".to_owned()), on_off);
        if let Some(plain) = plain_http {
            check_exposure(&mut from, listen, metrics_listen.flatten(), plain);
        }
        let shown = from.finish()?;
        let all = || {
            let serve = ServeConfig {
                listen: listen?,
                metrics_listen: metrics_listen?,
                store: store?,
                shared_store: shared_store?,
                synchronous: synchronous?,
                db_readers: db_readers? as usize,
                db_migrate: db_migrate?,
                db_tls: db_tls?,
                edge: edge?,
                master_keys: master_keys?,
                enrollment: enrollment?,
                enrollment_cap: enrollment_cap?,
                four_eyes: FourEyes { outcome_from: four_eyes_from?.into(), ..four_eyes? },
                audit_refusals_days: audit_refusals_days?,
                quality_retention_days: quality_retention_days?,
                token_ttl_s: token_ttl_s?,
                max_connections: max_connections? as usize,
                drain_grace_s: drain_grace_s?,
                outbox: outbox?,
            };
            Some(Settings { serve, log: log?, log_level: log_level?, shown })
        };
        // `finish` has returned if a setting could not be read.
        all().ok_or_else(ConfigError::default)
    }

    fn edge(&mut self, from: &mut Sources<'_>) -> Option<Edge> {
        let nothing = || Ok(String::new());
        let public_url = from.read("public-url", self.public_url.take(), nothing, public_url);
        let cert = from.read("tls-cert", self.tls_cert.take(), nothing, file);
        let key = from.read("tls-key", self.tls_key.take(), nothing, file);
        let rate = from.read("rate-limit", self.rate_limit.take(), || Ok("3000/600".to_owned()), values::rate_limits);
        let live = from.read("live-rate-limit", self.live_rate_limit.take(), || Ok("same".to_owned()), values::live_rate_limits);
        let trusted_proxies = from.read_list("trusted-proxy", std::mem::take(&mut self.trusted_proxy), values::cidr);
        let webhook_allow = from.read_list("webhook-allow", std::mem::take(&mut self.webhook_allow), values::cidr);
        let provider_allow = from.read_list("provider-allow", std::mem::take(&mut self.provider_allow), values::cidr);
        let attestation_roots = from.read("attestation-roots", self.attestation_roots.take(), nothing, file);
        let attestation_apps = from.read_list("attestation-app", std::mem::take(&mut self.attestation_app), values::apple_app);
        let cors_origins = from.read_list("cors-origin", std::mem::take(&mut self.cors_origin), values::origin);
        let collector = from.read("traces", self.traces.take(), || Ok("off".to_owned()), values::collector);
        let share = from.read("traces-share", self.traces_share.take(), || Ok("1".to_owned()), values::share);
        let console = from.read("console", self.console.take(), || Ok("on".to_owned()), on_off);
        let tls = match (cert?, key?) {
            (Some(cert), Some(key)) => Some(TlsFiles { cert, key }),
            (None, None) => None,
            (Some(_), None) => {
                from.object("tls-cert", "must come with tls-key, the file of its private key");
                None
            }
            (None, Some(_)) => {
                from.object("tls-key", "must come with tls-cert, the file of the certificate");
                None
            }
        };
        let rate = rate?;
        let live_rate = live?.unwrap_or(rate);
        Some(Edge {
            tls,
            cors_origins: cors_origins?,
            rate,
            live_rate,
            public_url: public_url?,
            trusted_proxies: trusted_proxies?,
            webhook_allow: webhook_allow?,
            provider_allow: provider_allow?,
            attestation_roots: attestation_roots?,
            attestation_apps: attestation_apps?,
            traces: collector?.zip(share).map(|(collector, share)| TraceSettings { collector, share }),
            console: console?,
            deprecated: DeprecatedRoutes::default(),
        })
    }

    /// The given path; by default next to a store in a file, or in the data folder. A store in memory needs none, because
    /// nothing of it outlives the process.
    fn master_keys(&mut self, from: &mut Sources<'_>, store: Option<&StoreConfig>, data_dir: Option<&Path>) -> Option<Option<PathBuf>> {
        let beside = || match store {
            Some(StoreConfig::Sqlite(path)) => Ok(format!("{}.keys", path.display())),
            Some(StoreConfig::Postgres(_)) => {
                let folder = data_dir.ok_or("they are in the data folder, which is unknown")?;
                Ok(folder.join("railgate.keys").display().to_string())
            }
            Some(StoreConfig::Memory) | None => Ok(String::new()),
        };
        let given = from.read("master-keys", self.master_keys.take(), beside, file)?;
        Some(given.filter(|_| store != Some(&StoreConfig::Memory)))
    }
}

/// A URL that cannot be read is refused when the database is opened.
fn check_database(from: &mut Sources<'_>, url: &DatabaseUrl) {
    if PostgresStore::is_protected(url.reveal()).is_ok_and(|protected| !protected) {
        let right = "must have sslmode=verify-full, because db-tls is verify-full: otherwise the database's certificate is not verified";
        from.object("store", right);
    }
}

/// An address that other machines can reach must be encrypted, here or by a proxy, and requires the public URL.
fn check_exposure(from: &mut Sources<'_>, listen: Option<SocketAddr>, metrics: Option<SocketAddr>, plain: bool) {
    let beyond = |address: Option<SocketAddr>| address.is_some_and(|address| !address.ip().is_loopback());
    let encrypted = from.is_given("tls-cert") || from.is_given("tls-key");
    if beyond(listen) && !encrypted && !plain {
        let right = "is beyond loopback, where calls would travel unencrypted: give --tls-cert and --tls-key, \
            or --plain-http on if a proxy in front terminates TLS, or an address such as 127.0.0.1:8080";
        from.object("listen", right);
    } else if beyond(listen) && !from.is_given("public-url") && !from.is_wrong("public-url") {
        let right = "is required when listen is beyond loopback, such as https://pay.example.com: \
            the signatures of clients cover the public address";
        from.object("public-url", right);
    }
    if beyond(metrics) && !plain {
        let right = "must be a loopback address, such as 127.0.0.1:9090, or off: metrics \
            are not encrypted, so any other address needs --plain-http on";
        from.object("metrics-listen", right);
    }
}

impl Settings {
    /// A table for people: name, value and origin. Secrets are hidden.
    pub(super) fn describe(&self) -> String {
        let wide = |column: fn(&(&'static str, String, Origin)) -> usize| self.shown.iter().map(column).max().unwrap_or(0);
        let (name_width, value_width) = (wide(|row| row.0.len()), wide(|row| row.1.chars().count()));
        let mut text = String::new();
        for name in NAMES {
            for (name, value, origin) in self.shown.iter().filter(|row| row.0 == name) {
                text.push_str(&format!("{name:name_width$}  {value:value_width$}  {origin}\n"));
            }
        }
        text
    }

    /// Every setting's name, value and origin, as [`Settings::describe`] shows them.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&'static str, &str, &Origin)> {
        self.shown.iter().map(|(name, value, origin)| (*name, value.as_str(), origin))
    }
}

#[cfg(test)]
mod tests;
