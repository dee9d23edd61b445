//! From a URL to a configured connection.

use std::collections::HashMap;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use percent_encoding::percent_decode_str;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::lookup_host;
use tokio::time::{Instant, timeout};
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres::error::Severity;
use tokio_postgres::{AsyncMessage, Client, Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::error::{failed, text};
use super::pool::{in_order, random};
use super::session::{Identity, Opening, Pooling, Settings, first_row, given_backend, identity, last_row, who_and_when};
use super::{PostgresOptions, clock};
use crate::store::StoreError;

/// The server's addresses, the credentials, and the protection of the connection.
pub(super) struct Target {
    hosts: Vec<Address>,
    tls: Option<MakeRustlsConnect>,
    /// The settings of every connection or transaction.
    settings: Settings,
    /// How the server's processes are divided, if the URL says it.
    pooling: Option<Pooling>,
    /// The highest timeline seen of each system.
    timelines: Mutex<HashMap<String, u32>>,
    /// For reading a single snapshot: whether its only connection has fixed it.
    moment: Option<AtomicBool>,
}

/// One host of a URL.
struct Address {
    config: Config,
    /// The name and port to look up, unless the URL contains the address.
    name: Option<(String, u16)>,
}

/// `sslmode` as in libpq, without the modes that promise less than their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protection {
    Disable,
    Prefer,
    Require,
    VerifyFull,
}

impl Protection {
    /// Whether the server's certificate is verified.
    pub(super) fn verifies(self, root: Option<&Path>) -> bool {
        self == Self::VerifyFull || (self == Self::Require && root.is_some())
    }
}

/// A connection and the identity of its peer.
pub(super) struct Connected {
    pub(super) client: Client,
    /// The process and the server that answered first.
    pub(super) identity: Identity,
    /// How its transactions begin, unless it keeps its settings.
    pub(super) opening: Option<Opening>,
    /// Whether the server warned of something.
    pub(super) warned: Arc<AtomicBool>,
}

/// After how long a silent peer is probed.
const KEEPALIVE: Duration = Duration::from_secs(10);

/// The minimum time for each of several machines to accept a connection.
const LEAST_SHARE: Duration = Duration::from_millis(500);

impl Target {
    /// Parses a URL. No error contains any part of it, because in a malformed URL the password may be anywhere.
    pub(super) fn new(url: &str, options: &PostgresOptions) -> Result<Self, StoreError> {
        let Split { url, protection, root, pooling } = split(url)?;
        let given = Config::from_str(&url).map_err(|_| refused("it is not a URL of PostgreSQL"))?;
        let mut config = without_hosts(&given);
        config.ssl_mode(match protection {
            Protection::Disable => SslMode::Disable,
            Protection::Prefer => SslMode::Prefer,
            Protection::Require | Protection::VerifyFull => SslMode::Require,
        });
        // A standby would show old states and accept no commits.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        config.keepalives(true).keepalives_idle(KEEPALIVE).keepalives_interval(KEEPALIVE / 2).keepalives_retries(3);
        config.tcp_user_timeout(KEEPALIVE * 3);
        let tls = match protection {
            Protection::Disable => None,
            Protection::Prefer | Protection::Require | Protection::VerifyFull => Some(tls(protection, root.as_deref())?),
        };
        let hosts = addresses(&given, &config)?;
        Ok(Self { hosts, tls, settings: Settings::new(options), pooling, timelines: Mutex::default(), moment: None })
    }

    /// Whether a new connection may reach another server: there are several, or one name that may move to a successor.
    pub(super) fn has_choice(&self) -> bool {
        self.hosts.len() > 1 || self.hosts.iter().any(|host| host.name.as_ref().is_some_and(|(name, _)| name.parse::<IpAddr>().is_err()))
    }

    /// Refuses a server that has been replaced by another: a promoted server starts a timeline with a higher number, and writes to
    /// the old one go to a fork. A server that does not return its timeline is accepted.
    pub(super) fn follow(&self, server: &str) -> Result<(), StoreError> {
        let Some((system, timeline)) = server.split_once('/') else { return Ok(()) };
        let Ok(timeline) = u32::from_str_radix(timeline, 16) else { return Ok(()) };
        let mut seen = self.timelines.lock().unwrap_or_else(PoisonError::into_inner);
        let highest = seen.entry(system.to_owned()).or_default();
        *highest = timeline.max(*highest);
        if timeline < *highest {
            return Err(StoreError::unavailable("connecting to the database", "a replaced server still accepts writes"));
        }
        Ok(())
    }

    /// Makes all reads see one snapshot, that of the first read.
    pub(super) fn at_one_moment(self) -> Self {
        Self { moment: Some(AtomicBool::new(false)), ..self }
    }

    /// Fixes the snapshot of a connection, if all reads must share one, and returns whether they must. A second connection would
    /// have a different one.
    pub(super) async fn fix_moment(&self, client: &Client, opening: Option<&Opening>) -> Result<bool, StoreError> {
        let Some(fixed) = &self.moment else { return Ok(false) };
        if fixed.swap(true, Ordering::Relaxed) {
            let cause = "the connection was lost, and with it the snapshot that was read";
            return Err(StoreError::new("reading the database", cause, false));
        }
        let begin = "SET idle_in_transaction_session_timeout = 0; BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1";
        client.batch_execute(opening.map_or(begin, |opening| &opening.at_one_moment)).await.map_err(|e| failed("beginning to read", &e))?;
        Ok(true)
    }

    /// A new, configured connection to the first machine that accepts writes and was not replaced; a task drives it until it ends.
    /// The machines are tried in random order: in a fixed order, a replaced server that came back would precede its successor for a
    /// program that has just started. A machine that is dead or does not respond uses only its share of the time.
    pub(super) async fn connect(&self, deadline: Instant) -> Result<Connected, StoreError> {
        let patience = share(deadline, self.hosts.len());
        let found = in_order(self.hosts.iter().map(|host| timeout(patience, host.configs()))).await;
        let (mut configs, mut error) = (Vec::new(), None);
        for found in found {
            match found {
                Ok(Ok(found)) => configs.extend(found),
                Ok(Err(cause)) => error = Some(cause),
                Err(_) => {}
            }
        }
        configs.sort_by_cached_key(|_| random());
        let patience = share(deadline, configs.len());
        for config in configs {
            match timeout(patience, self.connect_to(&config)).await {
                Ok(Ok(connected)) => return Ok(connected),
                Ok(Err(cause)) => error = Some(cause),
                Err(_) => {}
            }
        }
        Err(error.unwrap_or_else(silent))
    }

    async fn connect_to(&self, config: &Config) -> Result<Connected, StoreError> {
        let warned = Arc::new(AtomicBool::new(false));
        let client = match &self.tls {
            Some(tls) => {
                let (client, connection) = config.connect(tls.clone()).await.map_err(|e| unreachable(&e))?;
                tokio::spawn(drive(connection, Arc::clone(&warned)));
                client
            }
            None => {
                let (client, connection) = config.connect(NoTls).await.map_err(|e| unreachable(&e))?;
                tokio::spawn(drive(connection, Arc::clone(&warned)));
                client
            }
        };
        let failed = |e| failed("setting up a connection", &e);
        let sent = clock::now();
        let told = client.simple_query(&who_and_when()).await.map_err(failed)?;
        let received = clock::now();
        let time = last_row(&told).and_then(|row| row.get(0)?.parse().ok());
        clock::check(sent, time.ok_or_else(|| StoreError::unavailable("setting up a connection", "it returned no time"))?, received)?;
        let backend = first_row(&told).and_then(|row| row.get(0));
        let shared = match self.pooling {
            Some(pooling) => pooling == Pooling::Transaction,
            None => given_backend(&client).await.as_deref() != backend,
        };
        // If a service does not allow the second, more commits are indeterminate; nothing else changes.
        let asked = if shared { vec![identity("")] } else { vec![self.settings.session.clone(), identity("")] };
        let mut answers = in_order(asked.iter().map(|sql| client.simple_query(sql))).await;
        let identity = Identity::of(answers.pop().and_then(Result::ok).as_deref().and_then(last_row));
        answers.into_iter().try_for_each(|set| set.map(drop)).map_err(failed)?;
        self.follow(&identity.server)?;
        let opening = shared.then(|| Opening::new(&self.settings, !identity.server.is_empty()));
        Ok(Connected { client, identity, opening, warned })
    }
}

/// Drives a connection until it ends, and notes warnings. That of a commit arrives before its answer: somebody ended its wait for a
/// standby.
async fn drive<S, T>(mut connection: tokio_postgres::Connection<S, T>, warned: Arc<AtomicBool>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notice(notice) = message
            && notice.parsed_severity() == Some(Severity::Warning)
        {
            warned.store(true, Ordering::Release);
        }
    }
}

impl Address {
    /// One configuration for each machine behind the name.
    async fn configs(&self) -> Result<Vec<Config>, StoreError> {
        let Some((name, port)) = &self.name else { return Ok(vec![self.config.clone()]) };
        let found = lookup_host((name.as_str(), *port)).await;
        let found = found.map_err(|e| StoreError::unavailable("looking up the database's host", e))?;
        let at = |address: SocketAddr| {
            let mut config = self.config.clone();
            config.hostaddr(address.ip());
            config
        };
        Ok(found.map(at).collect())
    }
}

/// No server responded in time.
pub(super) fn silent() -> StoreError {
    StoreError::unavailable("connecting to the database", "it did not answer in time")
}

/// The share of the remaining time for each of `among`.
fn share(deadline: Instant, among: usize) -> Duration {
    let left = deadline.saturating_duration_since(Instant::now());
    (left / u32::try_from(among).unwrap_or(u32::MAX).max(1)).max(LEAST_SHARE)
}

/// The part of a URL about the client. The remaining settings are our own.
fn without_hosts(given: &Config) -> Config {
    let mut config = Config::new();
    given.get_user().map(|it| config.user(it));
    given.get_password().map(|it| config.password(it));
    given.get_dbname().map(|it| config.dbname(it));
    given.get_options().map(|it| config.options(it));
    config.application_name(given.get_application_name().unwrap_or("railgate"));
    config.ssl_negotiation(given.get_ssl_negotiation()).channel_binding(given.get_channel_binding());
    config
}

/// The hosts of a URL, each with the common settings.
fn addresses(given: &Config, config: &Config) -> Result<Vec<Address>, StoreError> {
    let (names, addresses, ports) = (given.get_hosts(), given.get_hostaddrs(), given.get_ports());
    let count = names.len().max(addresses.len());
    if count == 0 {
        return Err(refused("it names no host"));
    }
    if !names.is_empty() && !addresses.is_empty() && names.len() != addresses.len() || ports.len() > 1 && ports.len() != count {
        return Err(refused("it has different numbers of host, hostaddr and port"));
    }
    let one = |at: usize| {
        let (mut config, mut name) = (config.clone(), None);
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        config.port(port);
        match names.get(at) {
            Some(Host::Tcp(host)) => {
                config.host(host);
                name = Some((host.clone(), port));
            }
            #[cfg(unix)]
            Some(Host::Unix(path)) => drop(config.host_path(path)),
            None => {}
        }
        if let Some(address) = addresses.get(at) {
            config.hostaddr(*address);
            name = None;
        }
        Address { config, name }
    };
    Ok((0..count).map(one).collect())
}

pub(super) fn refused(cause: &'static str) -> StoreError {
    StoreError::new("reading the database's URL", cause, false)
}

/// Waiting does not help against a wrong password, a missing database, or an unsuitable certificate.
fn unreachable(error: &tokio_postgres::Error) -> StoreError {
    let told = error.code().map(|state| state.code().get(..2).unwrap_or_default().to_owned());
    let retryable = match told.as_deref() {
        Some("28" | "3D" | "42") => false,
        Some(_) | None => !is_about_certificates(error),
    };
    StoreError::new("connecting to the database", text(error), retryable)
}

fn is_about_certificates(error: &tokio_postgres::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(it) = cause {
        let inner = it.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let inner = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>());
        if let Some(rustls::Error::InvalidCertificate(_)) = inner.or(it.downcast_ref()) {
            return true;
        }
        cause = it.source();
    }
    false
}

/// A URL as libpq has it, and what it says besides.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) url: String,
    pub(super) protection: Protection,
    /// A file with root certificates.
    pub(super) root: Option<PathBuf>,
    /// What a pooler pools.
    pub(super) pooling: Option<Pooling>,
}

/// Takes out of a URL what is not for the driver.
pub(super) fn split(url: &str) -> Result<Split, StoreError> {
    if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
        return Err(refused("it does not start with postgres://"));
    }
    // A password may contain a question mark.
    let behind = url.find('@').unwrap_or(0);
    let (base, query) = match url[behind..].find('?') {
        Some(at) => (&url[..behind + at], &url[behind + at + 1..]),
        None => (url, ""),
    };
    let (mut protection, mut root, mut pooling, mut rest) = (Protection::Prefer, None, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        match pair.split_once('=') {
            Some(("sslmode", "disable")) => protection = Protection::Disable,
            Some(("sslmode", "prefer")) => protection = Protection::Prefer,
            Some(("sslmode", "require")) => protection = Protection::Require,
            Some(("sslmode", "verify-full")) => protection = Protection::VerifyFull,
            Some(("sslmode", _)) => return Err(refused("its sslmode is not one of disable, prefer, require and verify-full")),
            Some(("pool_mode", "session")) => pooling = Some(Pooling::Session),
            Some(("pool_mode", "transaction")) => pooling = Some(Pooling::Transaction),
            Some(("pool_mode", _)) => return Err(refused("its pool_mode is neither session nor transaction")),
            Some(("sslrootcert", path)) => {
                let path = percent_decode_str(path).decode_utf8().map_err(|_| refused("its sslrootcert is not UTF-8"))?;
                root = Some(PathBuf::from(path.as_ref()));
            }
            Some(_) | None => rest.push(pair),
        }
    }
    let mut url = base.to_owned();
    if !rest.is_empty() {
        url.push('?');
        url.push_str(&rest.join("&"));
    }
    Ok(Split { url, protection, root, pooling })
}

/// As in libpq, `prefer` and `require` encrypt and trust any server. Unlike in libpq, a root certificate makes `require` verify as
/// strictly as `verify-full`.
fn tls(protection: Protection, root: Option<&Path>) -> Result<MakeRustlsConnect, StoreError> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|e| misconfigured("setting up TLS", e))?;
    let config = if protection.verifies(root) {
        builder.with_root_certificates(roots(root)?).with_no_client_auth()
    } else {
        builder.dangerous().with_custom_certificate_verifier(Arc::new(Unverified(provider))).with_no_client_auth()
    };
    Ok(MakeRustlsConnect::new(config))
}

fn roots(root: Option<&Path>) -> Result<RootCertStore, StoreError> {
    let mut store = RootCertStore::empty();
    match root {
        Some(path) => {
            let found = CertificateDer::pem_file_iter(path).map_err(|e| misconfigured("reading sslrootcert", e))?;
            for certificate in found {
                let certificate = certificate.map_err(|e| misconfigured("reading sslrootcert", e))?;
                store.add(certificate).map_err(|e| misconfigured("reading sslrootcert", e))?;
            }
        }
        None => {
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if store.is_empty() {
        Err(misconfigured("setting up TLS", "there is no root certificate to verify the server with"))
    } else {
        Ok(store)
    }
}

fn misconfigured(context: &'static str, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new(context, cause, false)
}

/// Encrypts and trusts any server: the meaning of `prefer` and `require`. Signatures are still checked, so that the handshake is at
/// least consistent.
#[derive(Debug)]
struct Unverified(Arc<CryptoProvider>);

impl ServerCertVerifier for Unverified {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        match Target::new(url, &PostgresOptions::default()) {
            Ok(_) => panic!("{url} was taken"),
            Err(error) => {
                assert!(!error.retryable);
                error.to_string()
            }
        }
    }

    #[test]
    fn no_error_about_a_url_quotes_a_part_of_it() {
        for url in [
            "mysql://u:hunter2@h/db",
            "hunter2",
            "postgres://u:hunter2@h:port/db",
            "postgres://u:hunter2@h/db?sslmode=hunter2",
            "postgres://u:hunter2@h/db?hunter2=1",
            "postgres://u:hunter2@h/db?connect_timeout=hunter2",
            "postgres://u:%zz@h/db?hunter2",
            "postgres://u:hunter2@h,i,j/db?hostaddr=127.0.0.1,127.0.0.2",
        ] {
            let refused = refusal(url);
            assert!(!refused.contains("hunter2") && !refused.contains("ter2"), "{refused}");
        }
    }

    #[test]
    fn protection_is_what_the_url_says() {
        let of = |query: &str| split(&format!("postgres://h/db{query}"));
        let plain = "postgres://h/db".to_owned();
        let split_to = |url: &str, protection, root: Option<&str>| Split {
            url: url.to_owned(),
            protection,
            root: root.map(Into::into),
            pooling: None,
        };
        assert_eq!(of("").unwrap(), split_to(&plain, Protection::Prefer, None));
        assert_eq!(of("?sslmode=disable").unwrap(), split_to(&plain, Protection::Disable, None));
        let full = of("?sslmode=verify-full&sslrootcert=%2Fa%20b.pem&options=-c%20x%3D1").unwrap();
        assert_eq!(full, split_to(&format!("{plain}?options=-c%20x%3D1"), Protection::VerifyFull, Some("/a b.pem")));
        assert!(of("?sslmode=verify-ca").is_err());
        let odd = split("postgres://u:a?sslmode=disable&b@h/db?sslmode=require").unwrap();
        assert_eq!(odd, split_to("postgres://u:a?sslmode=disable&b@h/db", Protection::Require, None));
        assert!(refusal("postgres://h/db?sslmode=verify-full&sslrootcert=/does/not/exist").contains("sslrootcert"));
    }

    #[test]
    fn what_a_pooler_pools_is_what_the_url_says() {
        let of = |query: &str| split(&format!("postgres://h/db?{query}")).map(|it| (it.url, it.pooling));
        assert_eq!(of("application_name=a").unwrap(), ("postgres://h/db?application_name=a".to_owned(), None));
        assert_eq!(of("pool_mode=session").unwrap(), ("postgres://h/db".to_owned(), Some(Pooling::Session)));
        assert_eq!(of("pool_mode=transaction").unwrap().1, Some(Pooling::Transaction));
        assert!(of("pool_mode=statement").is_err());
    }

    #[test]
    fn every_host_of_a_url_is_one_with_its_own_port() {
        let hosts = |url: &str| {
            let target = Target::new(url, &PostgresOptions::default()).unwrap();
            let one = |host: &Address| (host.config.get_ports().to_vec(), host.config.get_hostaddrs().len(), host.name.clone());
            (target.has_choice(), target.hosts.iter().map(one).collect::<Vec<_>>())
        };
        let named = |name: &str, port| Some((name.to_owned(), port));
        let two = hosts("postgres://g@one:1,10.0.0.2:2/db");
        assert_eq!(two, (true, vec![(vec![1], 0, named("one", 1)), (vec![2], 0, named("10.0.0.2", 2))]));
        assert_eq!(hosts("postgres://g@10.0.0.2/db"), (false, vec![(vec![5432], 0, named("10.0.0.2", 5432))]));
        assert_eq!(hosts("postgres://g@one/db?hostaddr=10.0.0.1"), (false, vec![(vec![5432], 1, None)]));
        let target =
            Target::new("postgres://me:pw@h/db?application_name=a&options=-cx%3D1&channel_binding=require", &PostgresOptions::default());
        let config = &target.unwrap().hosts[0].config;
        assert_eq!((config.get_user(), config.get_password(), config.get_dbname()), (Some("me"), Some(&b"pw"[..]), Some("db")));
        assert_eq!((config.get_application_name(), config.get_options()), (Some("a"), Some("-cx=1")));
        assert_eq!(config.get_channel_binding(), tokio_postgres::config::ChannelBinding::Require);
    }

    #[test]
    fn a_server_that_was_replaced_is_not_written_to_again() {
        let target = Target::new("postgres://gateway@one,two/railgate?sslmode=disable", &PostgresOptions::default()).unwrap();
        for (server, right) in
            [("7/00000001", true), ("7/00000002", true), ("7/00000001", false), ("7/0000000A", true), ("7/00000009", false)]
        {
            assert_eq!(target.follow(server).is_ok(), right, "{server}");
        }
        assert!(target.follow("8/00000001").is_ok(), "another system counts separately");
        assert!(target.follow("").is_ok(), "one that returns nothing");
    }
}
