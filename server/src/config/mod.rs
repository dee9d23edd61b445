//! The settings of `railgate serve`: by flag, environment and file, in that order of strength, all checked at start.

mod sources;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use directories::ProjectDirs;
use railgate::store::sqlite::Synchronous;

use crate::telemetry::{LogFormat, parse_filter};
use sources::Sources;
pub use sources::{ConfigError, Origin, Problem};

/// The flags of `railgate serve`. Each may also be given as an environment variable (`RAILGATE_` and the flag's name in
/// capitals) or in the file that `--config` names, under the flag's name. The flag is strongest, then the environment.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct ServeArgs {
    /// Read settings from this TOML file [env: RAILGATE_CONFIG]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where to listen; port 0 takes any free one [env: RAILGATE_LISTEN] [default: 127.0.0.1:8080]
    #[arg(long, value_name = "IP:PORT")]
    pub listen: Option<String>,
    /// Where to serve /metrics, or `off` [env: RAILGATE_METRICS_LISTEN] [default: 127.0.0.1:9090]
    #[arg(long, value_name = "IP:PORT|off")]
    pub metrics_listen: Option<String>,
    /// Where settlements are kept: `sqlite:PATH`, or `memory:` to forget them at the end [env: RAILGATE_STORE]
    /// [default: sqlite:railgate.db in the data folder]
    #[arg(long, value_name = "STORE")]
    pub store: Option<String>,
    /// What a durable commit waits for: `full` survives a power cut, `normal` a crash of the process only
    /// [env: RAILGATE_SYNCHRONOUS] [default: full]
    #[arg(long, value_name = "full|normal")]
    pub synchronous: Option<String>,
    /// The data folder [env: RAILGATE_DATA_DIR] [default: the platform's]
    #[arg(long, value_name = "DIR")]
    pub data_dir: Option<String>,
    /// The address under which clients reach this server, for documents [env: RAILGATE_PUBLIC_URL]
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,
    /// What log lines on standard error look like [env: RAILGATE_LOG] [default: pretty on a terminal, else json]
    #[arg(long, value_name = "json|pretty")]
    pub log: Option<String>,
    /// What is logged: off, error, warn, info, debug, trace, or target=level pairs [env: RAILGATE_LOG_LEVEL]
    /// [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// How long an access token lives, in seconds [env: RAILGATE_TOKEN_TTL] [default: 86400]
    #[arg(long, value_name = "SECONDS")]
    pub token_ttl: Option<String>,
    /// How many connections may be open; further ones wait [env: RAILGATE_MAX_CONNECTIONS] [default: 4096]
    #[arg(long, value_name = "COUNT")]
    pub max_connections: Option<String>,
    /// Whether to send what is due to the rails; `off` accepts payments and lets them wait, for instance while a
    /// provider is being worked on [env: RAILGATE_OUTBOX] [default: on]
    #[arg(long, value_name = "on|off")]
    pub outbox: Option<String>,
}

/// Where settlements are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreConfig {
    /// In an SQLite file.
    Sqlite(PathBuf),
    /// In this process's memory.
    Memory,
}

/// The settings in force.
#[derive(Debug, Clone)]
pub struct ServeConfig {
    /// Where to listen.
    pub listen: SocketAddr,
    /// Where to serve `/metrics`, if anywhere.
    pub metrics_listen: Option<SocketAddr>,
    /// Where settlements are kept.
    pub store: StoreConfig,
    /// What a durable commit waits for.
    pub synchronous: Synchronous,
    /// The data folder.
    pub data_dir: PathBuf,
    /// The address under which clients reach this server, without a slash at its end.
    pub public_url: Option<String>,
    /// What log lines look like.
    pub log: LogFormat,
    /// What is logged.
    pub log_level: String,
    /// How long an access token lives, in seconds.
    pub token_ttl_s: u32,
    /// How many connections may be open.
    pub max_connections: usize,
    /// Whether what is due is sent to the rails.
    pub outbox: bool,
    /// Every setting's name, value and origin, in the order of the flags.
    shown: Vec<(&'static str, String, Origin)>,
}

/// The names of the settings, in the order of the flags.
const NAMES: [&str; 11] = [
    "listen",
    "metrics-listen",
    "store",
    "synchronous",
    "data-dir",
    "public-url",
    "log",
    "log-level",
    "token-ttl",
    "max-connections",
    "outbox",
];

impl ServeArgs {
    /// The settings in force, from these flags, the process's environment and the file.
    ///
    /// # Errors
    /// Everything that is wrong, at once: each problem names the setting, where it came from and what would be right.
    pub fn resolve(self) -> Result<ServeConfig, ConfigError> {
        self.resolve_with(&|name| std::env::var(name).ok())
    }

    /// The same with another environment.
    ///
    /// # Errors
    /// As [`ServeArgs::resolve`].
    pub fn resolve_with(self, env: &dyn Fn(&str) -> Option<String>) -> Result<ServeConfig, ConfigError> {
        let mut from = Sources::open(self.config.as_deref(), env, &NAMES)?;
        let listen = from.read("listen", self.listen, || Ok("127.0.0.1:8080".to_owned()), loopback);
        let metrics_listen = from.read("metrics-listen", self.metrics_listen, || Ok("127.0.0.1:9090".to_owned()), metrics_address);
        let data_dir = from.read("data-dir", self.data_dir, platform_data_dir, |text| Ok(PathBuf::from(text)));
        let default_store = data_dir.clone();
        let default_store = move || {
            let folder = default_store.ok_or("it lies in the data folder, which is not known")?;
            Ok(format!("sqlite:{}", folder.join("railgate.db").display()))
        };
        let store = from.read("store", self.store, default_store, store_address);
        let synchronous = from.read(
            "synchronous",
            self.synchronous,
            || Ok("full".to_owned()),
            |text| match text {
                "full" => Ok(Synchronous::Full),
                "normal" => Ok(Synchronous::Normal),
                _ => Err("must be full or normal".to_owned()),
            },
        );
        let public_url = from.read("public-url", self.public_url, || Ok(String::new()), public_url);
        let log = from.read(
            "log",
            self.log,
            || Ok(log_name(LogFormat::fitting()).to_owned()),
            |text| match text {
                "json" => Ok(LogFormat::Json),
                "pretty" => Ok(LogFormat::Pretty),
                _ => Err("must be json or pretty; what is logged is the setting log-level".to_owned()),
            },
        );
        let log_level =
            from.read("log-level", self.log_level, || Ok("info".to_owned()), |text| parse_filter(text).map(|_| text.to_owned()));
        let token_ttl_s = from.read(
            "token-ttl",
            self.token_ttl,
            || Ok("86400".to_owned()),
            |text| {
                text.parse()
                    .ok()
                    .filter(|s| (60..=31_536_000).contains(s))
                    .ok_or("must be a number of seconds from 60 to 31536000".to_owned())
            },
        );
        let max_connections = from.read(
            "max-connections",
            self.max_connections,
            || Ok("4096".to_owned()),
            |text| text.parse().ok().filter(|n| (1..=100_000).contains(n)).ok_or("must be a number from 1 to 100000".to_owned()),
        );
        let outbox = from.read(
            "outbox",
            self.outbox,
            || Ok("on".to_owned()),
            |text| match text {
                "on" => Ok(true),
                "off" => Ok(false),
                _ => Err("must be on or off".to_owned()),
            },
        );
        let shown = from.finish()?;
        let all = || {
            Some(ServeConfig {
                listen: listen?,
                metrics_listen: metrics_listen?,
                store: store?,
                synchronous: synchronous?,
                data_dir: data_dir?,
                public_url: public_url?,
                log: log?,
                log_level: log_level?,
                token_ttl_s: token_ttl_s?,
                max_connections: max_connections?,
                outbox: outbox?,
                shown,
            })
        };
        // A setting that could not be read has noted a problem: `finish` returned it.
        all().ok_or_else(ConfigError::default)
    }
}

/// The settings in force as a table for people: name, value, where it came from. Secrets would be hidden.
pub fn describe(config: &ServeConfig) -> String {
    let wide = |column: fn(&(&'static str, String, Origin)) -> usize| config.shown.iter().map(column).max().unwrap_or(0);
    let (name_width, value_width) = (wide(|row| row.0.len()), wide(|row| row.1.chars().count()));
    let mut text = String::new();
    for name in NAMES {
        for (name, value, origin) in config.shown.iter().filter(|row| row.0 == name) {
            text.push_str(&format!("{name:name_width$}  {value:value_width$}  {origin}\n"));
        }
    }
    text
}

impl ServeConfig {
    /// Every setting's name, value and origin, as [`describe`] shows them.
    pub fn settings(&self) -> impl Iterator<Item = (&'static str, &str, &Origin)> {
        self.shown.iter().map(|(name, value, origin)| (*name, value.as_str(), origin))
    }
}

fn log_name(format: LogFormat) -> &'static str {
    match format {
        LogFormat::Json => "json",
        LogFormat::Pretty => "pretty",
    }
}

fn platform_data_dir() -> Result<String, String> {
    let dirs = ProjectDirs::from("dev", "railgate", "railgate").ok_or("this system names no data folder; give one")?;
    Ok(dirs.data_dir().display().to_string())
}

/// An address on this machine only: whoever can reach the port can enrol, and calls are not signed yet.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let address = match text.strip_prefix("localhost:").map(str::parse) {
        Some(Ok(port)) => SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port),
        Some(Err(_)) | None => text.parse().map_err(|_| "must be IP:PORT, such as 127.0.0.1:8080".to_owned())?,
    };
    if address.ip().is_loopback() {
        return Ok(address);
    }
    let right = "must be a loopback address, such as 127.0.0.1:8080: calls are not signed yet, so nobody else may reach them";
    Err(right.to_owned())
}

fn metrics_address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" { Ok(None) } else { loopback(text).map(Some).map_err(|right| format!("{right}; or off")) }
}

fn store_address(text: &str) -> Result<StoreConfig, String> {
    if text == "memory:" {
        return Ok(StoreConfig::Memory);
    }
    match text.strip_prefix("sqlite:") {
        Some(path) if !path.is_empty() => Ok(StoreConfig::Sqlite(PathBuf::from(path))),
        Some(_) => Err("must name a file, such as sqlite:/var/lib/railgate/railgate.db".to_owned()),
        None => Err("must be sqlite:PATH or memory:".to_owned()),
    }
}

fn public_url(text: &str) -> Result<Option<String>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let wrong = || "must be an absolute http or https address without query, such as https://pay.example.com".to_owned();
    let uri: hyper::Uri = text.parse().map_err(|_| wrong())?;
    let http = matches!(uri.scheme_str(), Some("http" | "https"));
    if !http || uri.host().is_none_or(str::is_empty) || uri.query().is_some() || text.contains(['#', '@']) {
        return Err(wrong());
    }
    Ok(Some(text.trim_end_matches('/').to_owned()))
}

#[cfg(test)]
mod tests;
