//! Calls to addresses that clients chose, such as webhooks, and to operators (`operators.rs`).
//!
//! [`Outbound`] posts to a URL and reports the result. Because strangers choose the URL and the gateway is inside a network, it
//! connects to checked addresses only (`connect.rs`, `lookup.rs`), follows no redirects, uses no proxy, and limits the time and
//! the number of bytes that it spends on a response.

mod connect;
mod excerpt;
mod gate;
mod lookup;
mod operators;
#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::ConfigBuilderExt as _;
use hyper_util::client::legacy::{Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use railgate::api::Share;
use railgate::webhook::{Guard, GuardError};
use rustls::client::WantsClientCert;
use rustls::{ClientConfig, ConfigBuilder, RootCertStore, WantsVerifier};
use tokio::time::{Instant, timeout, timeout_at};

use connect::{ASKER, Connector, Unconnected};
pub use excerpt::EXCERPT_MAX_BYTES;
pub use lookup::{Resolve, System, Turn};
pub(crate) use operators::{Operators, Unanswered};

/// The `User-Agent` in a receiver's logs.
const AGENT: &str = concat!("railgate/", env!("CARGO_PKG_VERSION"));
/// The largest head of a response, in bytes.
const HEAD_MAX_BYTES: usize = 16 << 10;
/// How many idle connections to one host are kept for later calls, and how long.
const IDLE_PER_HOST: usize = 16;
const IDLE: Duration = Duration::from_secs(30);

/// How long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For resolving the name and making a connection, TLS included.
    pub connect: Duration,
    /// For the whole call, connecting included.
    pub whole: Duration,
}

impl Default for Limits {
    /// 15 seconds in all, of which connecting may take 10.
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), whole: Duration::from_secs(15) }
    }
}

/// An HTTP client for URLs that strangers chose. Clones share their connections.
#[derive(Clone)]
pub struct Outbound {
    client: Client<Connector, Full<Bytes>>,
    guard: Arc<Guard>,
    limits: Limits,
}

/// A checked URL.
#[derive(Debug, Clone)]
pub struct Target(Uri);

impl Target {
    fn request(&self, headers: HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.0.clone();
        *request.headers_mut() = headers;
        for ours in ["host", "content-length", "transfer-encoding", "connection", "expect", "upgrade"] {
            request.headers_mut().remove(ours);
        }
        request.headers_mut().insert(USER_AGENT, HeaderValue::from_static(AGENT));
        request
    }
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// The duration of the whole call.
    pub took: Duration,
    /// The receiver's response, or why there is none.
    pub result: Result<Received, SendError>,
}

/// The response of a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The HTTP status.
    pub status: u16,
    /// The value of `Retry-After`, if it is text.
    pub retry_after: Option<String>,
    /// The beginning of the body, up to [`EXCERPT_MAX_BYTES`], made printable for people.
    pub excerpt: String,
}

/// Why there is no response. The text is for the user who entered the URL: it reveals nothing about the gateway's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The URL itself is not allowed. Nothing was sent.
    #[error("{0}")]
    Refused(GuardError),
    /// The name does not resolve. Nothing was sent. (The text is that of [`SendError::Blocked`]: a stranger must not learn
    /// which names exist inside.)
    #[error("the host's name does not resolve to a public address")]
    Dns,
    /// The name resolves only to addresses that must not be called. Nothing was sent.
    #[error("the host's name does not resolve to a public address")]
    Blocked,
    /// No connection could be made. Nothing was sent.
    #[error("no connection could be made to the host")]
    Connect,
    /// The host's certificate is not trusted. Nothing was sent.
    #[error("the host's certificate is not valid: it has expired, is for another name, or its authority is not known")]
    Certificate,
    /// The TLS handshake failed in another way. Nothing was sent.
    #[error("the TLS handshake with the host failed")]
    Handshake,
    /// There was no response in time.
    #[error("the host did not answer in time")]
    Timeout,
    /// The connection ended before there was a response.
    #[error("the host closed the connection without a response")]
    Closed,
    /// The response was not HTTP, or its head was too large.
    #[error("the host's response is not HTTP, or its headers are too large")]
    Malformed,
}

impl SendError {
    /// Whether the request may have arrived.
    pub const fn may_have_left(self) -> bool {
        match self {
            Self::Refused(_) | Self::Dns | Self::Blocked | Self::Connect | Self::Certificate | Self::Handshake => false,
            Self::Timeout | Self::Closed | Self::Malformed => true,
        }
    }

    /// A short name for logs, metrics and the interface. `Dns` and `Blocked` share theirs.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Refused(_) => "url_refused",
            Self::Dns | Self::Blocked => "not_resolved",
            Self::Connect => "not_connected",
            Self::Certificate => "certificate_invalid",
            Self::Handshake => "tls_failed",
            Self::Timeout => "timed_out",
            Self::Closed => "connection_closed",
            Self::Malformed => "answer_malformed",
        }
    }
}

impl Outbound {
    /// A client with the system's resolver and trusted certificates.
    pub fn new(guard: Guard, limits: Limits) -> Self {
        Self::with(guard, limits, Arc::new(System::default()), system_roots())
    }

    /// A client with this resolver and this TLS configuration, whose ALPN is set here.
    pub fn with(guard: Guard, limits: Limits, resolver: Arc<dyn Resolve>, mut tls: ClientConfig) -> Self {
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let guard = Arc::new(guard);
        let connector = Connector::new(Arc::clone(&guard), resolver, Arc::new(tls), limits.connect);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .pool_max_idle_per_host(IDLE_PER_HOST)
            .http1_max_buf_size(HEAD_MAX_BYTES)
            .build(connector);
        Self { client, guard, limits }
    }

    /// Checks a URL, for any number of calls to it.
    ///
    /// # Errors
    /// Why it may not be called.
    pub fn target(&self, url: &str) -> Result<Target, GuardError> {
        let destination = self.guard.check_url(url)?;
        Ok(Target(destination.to_string().parse().map_err(|_| GuardError::Character)?))
    }

    /// Posts `body` with these headers for a client, and reports the result. Adds `Host`, `Content-Length` and `User-Agent`.
    pub async fn post(&self, share: Share, target: &Result<Target, GuardError>, headers: HeaderMap, body: Bytes) -> Sent {
        let began = Instant::now();
        let result = match target {
            Ok(target) => {
                let request = target.request(headers, body);
                ASKER.scope(share, self.exchange(request, began + self.limits.whole)).await
            }
            Err(error) => Err(SendError::Refused(*error)),
        };
        Sent { took: began.elapsed(), result }
    }

    async fn exchange(&self, request: Request<Full<Bytes>>, end: Instant) -> Result<Received, SendError> {
        let response = timeout_at(end, self.client.request(request)).await.map_err(|_| SendError::Timeout)?;
        let response = response.map_err(|error| unanswered(&error))?;
        let status = response.status().as_u16();
        let retry_after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(Received { status, retry_after, excerpt: excerpt(response, end).await })
    }
}

/// The beginning of the body. It does not affect the result: when the time is up, the rest stays unread.
async fn excerpt(response: Response<Incoming>, end: Instant) -> String {
    let mut body = response.into_body();
    let mut begun = Vec::new();
    while begun.len() < EXCERPT_MAX_BYTES {
        match timeout_at(end, body.frame()).await {
            Ok(Some(Ok(frame))) => {
                let data = frame.into_data().unwrap_or_default();
                begun.extend_from_slice(&data[..data.len().min(EXCERPT_MAX_BYTES - begun.len())]);
            }
            Ok(None | Some(Err(_))) | Err(_) => break,
        }
    }
    // If the body ends here, its connection is reused; otherwise the connection is closed with the rest unread.
    let _ = timeout(Duration::ZERO, body.frame()).await;
    drop(body);
    excerpt::printable(&begun)
}

fn unanswered(error: &Error) -> SendError {
    let mut cause = error.source();
    while let Some(error) = cause {
        if let Some(unconnected) = error.downcast_ref::<Unconnected>() {
            return (*unconnected).into();
        }
        if let Some(hyper) = error.downcast_ref::<hyper::Error>() {
            return if hyper.is_parse() || hyper.is_parse_too_large() { SendError::Malformed } else { SendError::Closed };
        }
        cause = error.source();
    }
    if error.is_connect() { SendError::Connect } else { SendError::Closed }
}

type TlsBuilder = ConfigBuilder<ClientConfig, WantsVerifier>;

fn tls_builder() -> TlsBuilder {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    #[expect(clippy::expect_used, reason = "the provider has both versions of TLS")]
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().expect("the provider has TLS");
    builder
}

/// Trusts what the system trusts. If that cannot be read, nothing is trusted and this is logged: a gateway without
/// webhooks can still run.
fn with_system_roots(builder: TlsBuilder) -> ConfigBuilder<ClientConfig, WantsClientCert> {
    builder.clone().with_native_roots().unwrap_or_else(|cause| {
        tracing::warn!(%cause, "the system's certificates cannot be read: nothing can be sent to https");
        builder.with_root_certificates(RootCertStore::empty())
    })
}

pub(crate) fn system_roots() -> ClientConfig {
    with_system_roots(tls_builder()).with_no_client_auth()
}
