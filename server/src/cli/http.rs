//! The HTTP client of the command line: one request at a time, every wait bounded, and failures distinguished by whether
//! the request can have reached the server.

use std::error::Error as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::{BodyDataStream, BodyExt, Limited};
use hyper::body::Bytes;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, StatusCode, Uri};
use hyper_rustls::ConfigBuilderExt;
use reqwest::{Client, Url};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use sse_stream::{Sse, SseByteStream};
use tokio::time::timeout;
use tokio_stream::StreamExt as _;

use super::failure::{Done, Failure, chain};

/// The path prefix of version 1 of the interface.
pub(crate) const API: &str = "/api/v1";
/// The timeout for making a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// The timeout for a response; the server itself gives up after 30 seconds.
pub(crate) const ANSWER: Duration = Duration::from_secs(40);
/// How long a stream may be silent. The server sends comments more often than that.
const SILENCE: Duration = Duration::from_secs(60);
/// The largest response, in bytes; a server that sends more is not railgate.
const MAX_BODY: usize = 64 << 20;

/// One request.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) method: Method,
    /// Path and query, beginning with a slash.
    pub(crate) path: String,
    /// Additional headers.
    pub(crate) headers: HeaderMap,
    /// The body; absent and empty are different.
    pub(crate) body: Option<Bytes>,
    /// Extra time for the response.
    pub(crate) patience: Duration,
}

impl Ask {
    /// A request to a path below `/api/v1`.
    pub(crate) fn new(method: Method, path: impl AsRef<str>) -> Self {
        Self { method, path: format!("{API}{}", path.as_ref()), headers: HeaderMap::new(), body: None, patience: Duration::ZERO }
    }

    /// A `GET` below `/api/v1`.
    pub(crate) fn get(path: impl AsRef<str>) -> Self {
        Self::new(Method::GET, path)
    }

    /// A `POST` of a JSON document below `/api/v1`.
    pub(crate) fn post(path: impl AsRef<str>, json: impl Into<Bytes>) -> Self {
        let mut ask = Self::new(Method::POST, path);
        ask.body = Some(json.into());
        ask.with(hyper::header::CONTENT_TYPE, HeaderValue::from_static("application/json"))
    }

    /// A `PUT` of a JSON document below `/api/v1`.
    pub(crate) fn put(path: impl AsRef<str>, json: impl Into<Bytes>) -> Self {
        Self { method: Method::PUT, ..Self::post(path, json) }
    }

    /// Adds a header.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Allows for a response that is held this long at the client's request.
    pub(crate) fn patient(mut self, seconds: u64) -> Self {
        self.patience = Duration::from_secs(seconds);
        self
    }
}

/// A whole response.
#[derive(Debug, Clone)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl ApiResponse {
    /// A header's text, if it is there and is text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Why there is no response.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// No connection was made: nothing was sent.
    NotSent(String),
    /// The request may have arrived; the response did not.
    Lost(String),
}

/// How a server may be connected to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wire {
    /// Trust the certificates in this PEM file, instead of those of the system.
    pub(crate) cacert: Option<PathBuf>,
    /// Allow tokens in clear text over a network.
    pub(crate) insecure_http: bool,
}

/// An HTTP client of one server.
#[derive(Clone)]
pub(crate) struct Http {
    client: Client,
    base: String,
}

impl Http {
    /// A client of the server at `base`, such as `http://127.0.0.1:8080`.
    pub(crate) fn new(base: &str, wire: &Wire) -> Done<Self> {
        let base = base.trim_end_matches('/');
        // Who gives the address of the API means the server's.
        let base = base.strip_suffix(API).unwrap_or(base).to_owned();
        let secure = check_base(&base, wire.insecure_http)?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls(secure, wire.cacert.as_deref())?)
            .user_agent(concat!("railgate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            .tcp_nodelay(true)
            .http1_only()
            // A signed call goes only to the server that it was signed for, and only once.
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never());
        let client = client.build().map_err(|error| Failure::caused("cannot set up the connection", error))?;
        Ok(Self { client, base })
    }

    /// The server's address, without a trailing slash.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// A path as it is sent, which is how it is signed: without dot segments, and special characters encoded.
    pub(crate) fn travelling(&self, path: &str) -> Done<String> {
        // Refused later, when it is signed.
        if path.bytes().any(|byte| byte <= b' ' || byte == b'#') {
            return Ok(path.to_owned());
        }
        let (url, base) = (self.url(path)?, self.url("/")?);
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        match url.path().strip_prefix(base.path().trim_end_matches('/')) {
            Some(rest) => Ok(format!("{rest}{query}")),
            None => Err(Failure::usage(format!("{path} leaves the server's address"))),
        }
    }

    fn url(&self, path: &str) -> Done<Url> {
        let address = format!("{}{path}", self.base);
        Url::parse(&address).map_err(|error| Failure::usage(format!("not an address: {address}: {error}")))
    }

    /// Sends a request and reads the whole response, within `limit`.
    pub(crate) async fn send(&self, ask: &Ask, limit: Duration) -> Done<Result<ApiResponse, NoAnswer>> {
        let sent = self.sent(ask)?;
        let exchange = async {
            let Stream { status, headers, body } = sent.await?;
            let body = Limited::new(body, MAX_BODY).collect().await;
            let body = body.map_err(|error| NoAnswer::Lost(chain(error.as_ref())))?.to_bytes();
            Ok(ApiResponse { status, headers, body })
        };
        Ok(timeout(limit, exchange).await.unwrap_or_else(|_| Err(late(limit))))
    }

    /// Sends a request whose response is read piece by piece.
    pub(crate) async fn open(&self, ask: &Ask) -> Done<Result<Stream, NoAnswer>> {
        Ok(timeout(ANSWER, self.sent(ask)?).await.unwrap_or_else(|_| Err(late(ANSWER))))
    }

    fn sent(&self, ask: &Ask) -> Done<impl Future<Output = Result<Stream, NoAnswer>>> {
        let mut headers = ask.headers.clone();
        // The connection determines the server; a different `Host` would only confuse.
        headers.remove(HOST);
        let request = self.client.request(ask.method.clone(), self.url(&ask.path)?).headers(headers);
        let sent = request.body(ask.body.clone().unwrap_or_default()).send();
        Ok(async {
            let (parts, body) = hyper::Response::<reqwest::Body>::from(sent.await.map_err(|error| no_answer(&error))?).into_parts();
            Ok(Stream { status: parts.status, headers: parts.headers, body })
        })
    }
}

/// A response that is still being received.
pub(crate) struct Stream {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The rest of the body.
    pub(crate) body: reqwest::Body,
}

impl Stream {
    /// The Server-Sent Events of the body.
    pub(crate) fn events(self) -> impl tokio_stream::Stream<Item = Result<Sse, NoAnswer>> {
        let silent = || std::io::Error::other(format!("nothing was received for {} s", SILENCE.as_secs()));
        let pieces = BodyDataStream::new(self.body).timeout(SILENCE).map(move |piece| match piece {
            Ok(piece) => piece.map_err(|error| std::io::Error::other(chain(&error))),
            Err(_) => Err(silent()),
        });
        SseByteStream::new(pieces).map(|event| {
            event.map_err(|error| match error {
                sse_stream::Error::Body(cause) => NoAnswer::Lost(cause.to_string()),
                other => NoAnswer::Lost(other.to_string()),
            })
        })
    }

    /// Reads the rest into a whole response.
    pub(crate) async fn finish(self) -> ApiResponse {
        let body = timeout(ANSWER, Limited::new(self.body, MAX_BODY).collect()).await;
        // The body of an error is useful, but not worth failing for.
        let body = body.ok().and_then(Result::ok).map(|all| all.to_bytes()).unwrap_or_default();
        ApiResponse { status: self.status, headers: self.headers, body }
    }
}

fn late(limit: Duration) -> NoAnswer {
    NoAnswer::Lost(format!("no response within {} s", limit.as_secs()))
}

fn no_answer(error: &reqwest::Error) -> NoAnswer {
    // The outer two errors only tell that a request failed, and its URL: both are known here.
    let cause = error.source().and_then(|inner| inner.source().or(Some(inner))).map_or_else(|| error.to_string(), chain);
    if error.is_connect() { NoAnswer::NotSent(cause) } else { NoAnswer::Lost(cause) }
}

/// Whom to trust. A plain connection needs no certificates, and reading the system's takes a while.
fn tls(secure: bool, cacert: Option<&Path>) -> Done<ClientConfig> {
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Failure::caused("cannot set up TLS", error))?;
    let builder = match cacert {
        Some(path) => builder.with_root_certificates(roots(path)?),
        None if secure => builder.with_native_roots().map_err(|error| {
            Failure::new(format!("the system's certificates cannot be read: {error}")).hint("name a file: --cacert FILE")
        })?,
        None => builder.with_root_certificates(RootCertStore::empty()),
    };
    Ok(builder.with_no_client_auth())
}

fn roots(path: &Path) -> Done<RootCertStore> {
    let wrong = |cause: &dyn std::fmt::Display| {
        Failure::new(format!("{} cannot be used as certificates to trust: {cause}", path.display()))
            .hint("--cacert expects a PEM file with one or more CERTIFICATE blocks")
    };
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
        store.add(certificate.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
    }
    if store.is_empty() { Err(wrong(&"there is none in it")) } else { Ok(store) }
}

/// Checks the server's address; returns whether it uses TLS.
fn check_base(base: &str, insecure_http: bool) -> Done<bool> {
    let wrong = |what: &str| Failure::usage(format!("the server's address {base:?} {what}"));
    let uri: Uri = base.parse().map_err(|_| wrong("is not a URL").hint("write it as https://HOST or http://127.0.0.1:PORT"))?;
    if uri.query().is_some() || uri.authority().is_some_and(|a| a.as_str().contains('@')) {
        return Err(wrong("must have no query and no user name in it"));
    }
    match uri.scheme_str() {
        Some("https") => Ok(true),
        Some("http") if insecure_http || uri.host().is_some_and(is_loopback) => Ok(false),
        Some("http") => Err(wrong("is http and not on this machine: anybody who listens on the network would see the token")
            .hint("use https://, or --insecure-http on a network that you trust")),
        _ => Err(wrong("must begin with https:// or http://").hint("write it as https://HOST or http://127.0.0.1:PORT")),
    }
}

/// Whether a host, in the form of a URL, can only be this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Percent-encodes what is not allowed in a path segment or a query value (RFC 3986: all but the unreserved).
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte as char),
            _ => {
                let hex = |nibble: u8| b"0123456789ABCDEF"[usize::from(nibble & 15)] as char;
                out.extend(['%', hex(byte >> 4), hex(byte)]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodes_all_but_the_unreserved() {
        assert_eq!(encode("a-B_9.~"), "a-B_9.~");
        assert_eq!(encode("sim:ok/é?"), "sim%3Aok%2F%C3%A9%3F");
    }

    #[test]
    fn an_address_is_secret_on_the_way_or_stays_on_this_machine() {
        for good in ["http://127.0.0.1:8080", "http://[::1]:80", "http://localhost:1/base", "http://127.9.9.9", "https://example.org/base"]
        {
            assert_eq!(check_base(good, false).ok(), Some(good.starts_with("https")), "{good}");
        }
        for clear in ["http://gateway.internal/base", "http://10.0.0.5:8080", "http://localhost.example.org", "http://0.0.0.0:80"] {
            assert!(check_base(clear, false).is_err() && check_base(clear, true).is_ok(), "{clear}");
        }
        for bad in ["ftp://x", "127.0.0.1:8080", "", "http://user:pw@127.0.0.1", "https://host/?q=1"] {
            assert!(check_base(bad, true).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_path_travels_as_it_is_signed() {
        let http = Http::new("http://127.0.0.1:8080/base", &Wire::default()).unwrap();
        for (given, travels) in [
            ("/api/v1/balances?x=1&y=a%2Fb", "/api/v1/balances?x=1&y=a%2Fb"),
            ("/a/../b/./c", "/b/c"),
            ("/a\"b?c='d'", "/a%22b?c=%27d%27"),
            ("/a b", "/a b"),
        ] {
            assert_eq!(http.travelling(given).unwrap(), travels, "{given}");
        }
        assert!(http.travelling("/../x").is_err());
    }

    #[test]
    fn certificates_to_trust_are_read_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ca.pem");
        assert!(roots(&file).is_err());
        std::fs::write(&file, "no certificate").unwrap();
        assert!(roots(&file).is_err());
    }
}
