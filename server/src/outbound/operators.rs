//! Calls to operators: whole exchanges on kept connections, on which nothing leaves late (`gate.rs`).
//!
//! The pool of `hyper-util` is not used here: it does not tell which connection a request takes, and the time until which a request may
//! leave is checked by the connection.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Bytes;
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Uri};
use railgate::env::Env;
use railgate::rail::{HttpReply, HttpRequest, Tls};
use railgate::webhook::{Guard, GuardError};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tokio::time::{Instant, timeout_at};
use tower::Service as _;

use super::connect::Connector;
use super::gate::{Gate, Pass};
use super::{AGENT, HEAD_MAX_BYTES, IDLE, IDLE_PER_HOST, Resolve, SendError, System, tls_builder, with_system_roots};

/// The largest reply of an operator, in bytes.
const REPLY_MAX_BYTES: usize = 64 << 10;
/// How long making a connection may take, unless the provider says.
const CONNECT: Duration = Duration::from_secs(10);

/// Why there is no reply of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// Nothing was sent.
    NotSent(SendError),
    /// Nothing was sent: it was too late.
    Late,
    /// It may have arrived.
    Lost(SendError),
}

/// An HTTP client for operators. Clones share their connections.
#[derive(Clone)]
pub(crate) struct Operators {
    shared: Arc<Shared>,
}

struct Shared {
    guard: Arc<Guard>,
    resolver: Arc<dyn Resolve>,
    clock: Arc<dyn Env>,
    lines: Mutex<Vec<Arc<Line>>>,
}

/// The connections of one configuration.
struct Line {
    tls: Option<Arc<Tls>>,
    connect_ms: Option<u64>,
    connector: Connector,
    idle: Mutex<HashMap<String, Vec<Open>>>,
}

/// A connection on which nothing is under way.
struct Open {
    sender: http1::SendRequest<Full<Bytes>>,
    pass: Arc<Pass>,
    since: Instant,
}

impl Operators {
    /// A client that may call what `guard` allows, and checks `clock` before anything leaves.
    pub(crate) fn new(guard: Guard, clock: Arc<dyn Env>) -> Self {
        Self { shared: Arc::new(Shared { guard: Arc::new(guard), resolver: Arc::new(System::default()), clock, lines: Mutex::default() }) }
    }

    /// Sends a request and reads the whole reply. One that is too large, or cut off, counts as none.
    ///
    /// # Errors
    /// Why there is no reply.
    pub(crate) async fn send(&self, request: &HttpRequest) -> Result<HttpReply, Unanswered> {
        let end = Instant::now() + Duration::from_millis(request.timeout_ms);
        let prepared = prepare(&self.shared.guard, request).map_err(|error| Unanswered::NotSent(SendError::Refused(error)))?;
        let line = self.line(request).map_err(Unanswered::NotSent)?;
        loop {
            let (mut open, kept) = match line.take(&prepared.place) {
                Some(open) => (open, true),
                None => (line.connect(&prepared.uri, &self.shared.clock, end).await.map_err(Unanswered::NotSent)?, false),
            };
            open.pass.set(request.leave_by);
            match open.exchange(prepared.request(), end).await {
                Ok(reply) => {
                    Arc::clone(&line).keep(prepared.place, open);
                    return Ok(reply);
                }
                Err(error) if open.pass.may_have_left() => return Err(Unanswered::Lost(error)),
                Err(_) if open.pass.was_late() => return Err(Unanswered::Late),
                // The operator had closed a kept connection: nothing of the request was written.
                Err(SendError::Closed) if kept => {}
                // Dropping a request that waits for its connection takes it back only if nothing else runs meanwhile.
                Err(error @ SendError::Timeout) => return Err(Unanswered::Lost(error)),
                Err(error) => return Err(Unanswered::NotSent(error)),
            }
        }
    }

    fn line(&self, request: &HttpRequest) -> Result<Arc<Line>, SendError> {
        let mut lines = self.shared.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let known = lines.iter().find(|line| line.tls == request.tls && line.connect_ms == request.connect_ms);
        if let Some(line) = known {
            return Ok(Arc::clone(line));
        }
        let mut tls = config_of(request.tls.as_deref()).ok_or(SendError::Certificate)?;
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        let limit = request.connect_ms.map_or(CONNECT, Duration::from_millis);
        let connector = Connector::new(Arc::clone(&self.shared.guard), Arc::clone(&self.shared.resolver), Arc::new(tls), limit);
        let line = Arc::new(Line { tls: request.tls.clone(), connect_ms: request.connect_ms, connector, idle: Mutex::default() });
        lines.push(Arc::clone(&line));
        Ok(line)
    }
}

/// What the operator's side and ours prove themselves with; `None` if a certificate or the key cannot be read.
fn config_of(tls: Option<&Tls>) -> Option<ClientConfig> {
    let certificates = |pem: &str| CertificateDer::pem_slice_iter(pem.as_bytes()).collect::<Result<Vec<_>, _>>().ok();
    let with_roots = match tls.and_then(|tls| tls.authorities.as_ref()) {
        None => with_system_roots(tls_builder()),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for authority in certificates(pem).filter(|found| !found.is_empty())? {
                roots.add(authority).ok()?;
            }
            tls_builder().with_root_certificates(roots)
        }
    };
    match tls.and_then(|tls| tls.identity.as_ref()) {
        None => Some(with_roots.with_no_client_auth()),
        Some((chain, key)) => {
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).ok()?;
            with_roots.with_client_auth_cert(certificates(chain)?, key).ok()
        }
    }
}

/// A request that is ready for any connection to its place.
struct Prepared {
    place: String,
    uri: Uri,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
}

fn prepare(guard: &Guard, request: &HttpRequest) -> Result<Prepared, GuardError> {
    let destination = guard.check_url(&request.url)?;
    let uri: Uri = destination.to_string().parse().map_err(|_| GuardError::Character)?;
    let host = uri.authority().map(|authority| authority.as_str().to_owned()).ok_or(GuardError::Host)?;
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let pair = name.parse::<HeaderName>().ok().zip(value.parse::<HeaderValue>().ok());
        let (name, value) = pair.ok_or(GuardError::Character)?;
        headers.append(name, value);
    }
    headers.insert(HOST, HeaderValue::from_str(&host).map_err(|_| GuardError::Host)?);
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    let place = format!("{}://{host}", uri.scheme_str().unwrap_or_default());
    let method = Method::from_bytes(request.method.as_bytes()).map_err(|_| GuardError::Character)?;
    Ok(Prepared { place, uri, method, headers, body: Bytes::from(request.body.clone()) })
}

impl Prepared {
    fn request(&self) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::new(self.body.clone()));
        *request.method_mut() = self.method.clone();
        *request.headers_mut() = self.headers.clone();
        // In the form that a server expects, without scheme and authority.
        *request.uri_mut() = self.uri.path_and_query().map_or_else(|| Uri::from_static("/"), |path| path.clone().into());
        request
    }
}

impl Line {
    async fn connect(&self, uri: &Uri, clock: &Arc<dyn Env>, end: Instant) -> Result<Open, SendError> {
        let connected = timeout_at(end, self.connector.clone().call(uri.clone())).await.map_err(|_| SendError::Connect)?;
        let pass = Pass::new(Arc::clone(clock));
        let gate = Gate::new(connected?, Arc::clone(&pass));
        let shaken = http1::Builder::new().max_buf_size(HEAD_MAX_BYTES).handshake(gate).await;
        let (sender, connection) = shaken.map_err(|_| SendError::Connect)?;
        // How it ends, the exchange on it tells.
        tokio::spawn(async move { connection.await.ok() });
        Ok(Open { sender, pass, since: Instant::now() })
    }

    fn take(&self, place: &str) -> Option<Open> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle.get_mut(place)?;
        kept.retain(|open| open.sender.is_ready() && open.since.elapsed() < IDLE);
        kept.pop()
    }

    /// Keeps a connection for the next request, once it is ready for one.
    fn keep(self: Arc<Self>, place: String, mut open: Open) {
        tokio::spawn(async move {
            if open.sender.ready().await.is_err() {
                return;
            }
            open.since = Instant::now();
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = idle.entry(place).or_default();
            if kept.len() < IDLE_PER_HOST {
                kept.push(open);
            }
        });
    }
}

impl Open {
    async fn exchange(&mut self, request: Request<Full<Bytes>>, end: Instant) -> Result<HttpReply, SendError> {
        let response = timeout_at(end, self.sender.send_request(request)).await.map_err(|_| SendError::Timeout)?;
        let malformed = |error: &hyper::Error| error.is_parse() || error.is_parse_too_large();
        let response = response.map_err(|error| if malformed(&error) { SendError::Malformed } else { SendError::Closed })?;
        let (head, body) = response.into_parts();
        let whole = timeout_at(end, Limited::new(body, REPLY_MAX_BYTES).collect()).await.map_err(|_| SendError::Timeout)?;
        let body = whole.map_err(|_| SendError::Malformed)?.to_bytes().to_vec();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let headers = head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
        Ok(HttpReply { status: head.status.as_u16(), headers, body })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;
    use std::sync::mpsc;

    use railgate::env::ManualEnv;

    use super::super::lookup::{Addresses, Turn};
    use super::*;

    fn operators(env: &Arc<ManualEnv>, guard: Guard) -> Operators {
        Operators::new(guard, Arc::clone(env) as Arc<dyn Env>)
    }

    fn here() -> Guard {
        Guard { insecure_loopback: true, ..Guard::default() }
    }

    /// Reads a request and sends this reply on each connection, as often as there are replies for it; tells what arrived.
    fn listening(connections: Vec<Vec<&'static str>>) -> (String, mpsc::Receiver<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/payments", listener.local_addr().unwrap());
        let (tell, arrived) = mpsc::channel();
        std::thread::spawn(move || {
            for replies in connections {
                let (mut stream, _) = listener.accept().unwrap();
                for reply in replies {
                    let mut head = [0; 4_096];
                    let Ok(read @ 1..) = stream.read(&mut head) else { break };
                    let _ = tell.send(String::from_utf8_lossy(&head[..read]).into_owned());
                    stream.write_all(reply.as_bytes()).unwrap();
                }
            }
        });
        (url, arrived)
    }

    const DONE: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";

    #[tokio::test]
    async fn nothing_leaves_after_its_time_whatever_the_wall_clock_says() {
        let env = Arc::new(ManualEnv::new(1_000, 1));
        let (url, arrived) = listening(vec![vec![DONE]; 3]);
        let operators = operators(&env, here());
        let request = HttpRequest { leave_by: Some(5_000), ..HttpRequest::new("POST", &*url) };
        env.advance_to(5_000);
        assert_eq!(operators.send(&request).await.unwrap().status, 200);
        assert!(arrived.recv().unwrap().starts_with("POST /payments HTTP/1.1\r\nhost: 127.0.0.1:"));
        // The host stands still, and its clock is set back.
        env.advance_to(5_001);
        env.step(-4_000);
        assert_eq!(operators.send(&request).await.unwrap_err(), Unanswered::Late);
        assert!(arrived.try_recv().is_err(), "a byte left");
        // The connection that held it back is not used again.
        let question = HttpRequest::new("GET", &*url);
        assert_eq!(operators.send(&question).await.unwrap().status, 200);
    }

    #[tokio::test]
    async fn a_kept_connection_that_the_operator_closed_is_replaced_and_the_request_is_sent_once() {
        let env = Arc::new(ManualEnv::new(1_000, 1));
        let (url, arrived) = listening(vec![vec![DONE], vec![DONE]]);
        let operators = operators(&env, here());
        for _ in 0..2 {
            assert_eq!(operators.send(&HttpRequest::new("POST", &*url)).await.unwrap().status, 200);
        }
        drop(operators);
        assert_eq!(arrived.iter().take(2).count(), 2);
    }

    #[tokio::test]
    async fn requests_share_a_connection() {
        let env = Arc::new(ManualEnv::new(1_000, 1));
        let (url, _arrived) = listening(vec![vec![DONE; 21]]);
        let operators = operators(&env, here());
        for _ in 0..20 {
            assert_eq!(operators.send(&HttpRequest::new("POST", &*url)).await.unwrap().status, 200);
            // The connection is kept once its task has noticed that it rests.
            let rests = || operators.shared.lines.lock().unwrap()[0].idle.lock().unwrap().values().any(|kept| !kept.is_empty());
            while !rests() {
                tokio::task::yield_now().await;
            }
        }
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_lost_and_what_may_not_be_called_is_not_sent() {
        let env = Arc::new(ManualEnv::new(1_000, 1));
        let large = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", REPLY_MAX_BYTES + 1);
        let large: &'static str = Box::leak((large + &"x".repeat(REPLY_MAX_BYTES + 1)).into_boxed_str());
        for reply in ["", "nonsense\r\n\r\n", "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}", large] {
            let (url, _arrived) = listening(vec![vec![reply]]);
            let lost = operators(&env, here()).send(&HttpRequest::new("POST", &*url)).await;
            assert!(matches!(lost, Err(Unanswered::Lost(_))), "{lost:?}");
        }
        let refused = [
            "https://10.1.2.3/payments",
            "https://169.254.169.254/latest",
            "http://198.51.100.7/payments",
            "https://operator.internal/payments",
            "ftp://operator.example/",
        ];
        for url in refused {
            let answer = operators(&env, here()).send(&HttpRequest::new("POST", url)).await;
            assert!(matches!(answer, Err(Unanswered::NotSent(SendError::Refused(_)))), "{url}: {answer:?}");
        }
        // A redirect is an answer, and is not followed.
        let (url, arrived) = listening(vec![vec!["HTTP/1.1 307 Look elsewhere\r\nlocation: /other\r\ncontent-length: 0\r\n\r\n"]]);
        assert_eq!(operators(&env, here()).send(&HttpRequest::new("POST", &*url)).await.unwrap().status, 307);
        assert_eq!(arrived.iter().count(), 1);
    }

    /// A server that begins a reply like this, and goes on like that for as long as it is let; how much it wrote.
    fn endless(begin: &'static str, more: &'static str) -> (String, mpsc::Receiver<usize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/payments", listener.local_addr().unwrap());
        let (tell, written) = mpsc::channel();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4_096]).unwrap();
            stream.write_all(begin.as_bytes()).unwrap();
            let mut all = 0;
            while stream.write_all(more.as_bytes()).is_ok() {
                all += more.len();
            }
            tell.send(all).unwrap();
        });
        (url, written)
    }

    #[tokio::test]
    async fn of_an_endless_reply_a_little_is_read_and_its_connection_is_closed() {
        let env = Arc::new(ManualEnv::new(1_000, 1));
        let chunk: &'static str = Box::leak(format!("1000\r\n{}\r\n", "x".repeat(0x1000)).into_boxed_str());
        let line: &'static str = Box::leak(format!("x-more: {}\r\n", "x".repeat(4_000)).into_boxed_str());
        for (begin, more) in [
            ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", chunk),
            ("HTTP/1.1 200 OK\r\n\r\n", chunk),
            ("HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n", chunk),
            ("HTTP/1.1 200 OK\r\n", line),
        ] {
            let (url, written) = endless(begin, more);
            let operators = operators(&env, here());
            let lost = operators.send(&HttpRequest::new("POST", &*url)).await;
            assert_eq!(lost.unwrap_err(), Unanswered::Lost(SendError::Malformed), "{begin}");
            // It cannot write on, so the connection was closed; what it wrote beyond the bound is what the systems hold between us.
            let all = tokio::task::spawn_blocking(move || written.recv().unwrap()).await.unwrap();
            assert!(all < 64 << 20, "{begin}: {all}");
        }
    }

    /// A server for one connection, with a certificate of its own for this name; the certificate as text.
    fn certified(name: &str) -> (u16, String) {
        let made = rcgen::generate_simple_self_signed(vec![name.to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let builder = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
        let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        let config = Arc::new(builder.with_single_cert(vec![made.cert.der().clone()], key).unwrap());
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut stream = rustls::StreamOwned::new(rustls::ServerConnection::new(config).unwrap(), stream);
            // Whoever does not believe the certificate sends nothing.
            if stream.read(&mut [0; 4_096]).is_ok_and(|read| read > 0) {
                stream.write_all(DONE.as_bytes()).unwrap();
            }
        });
        (port, made.cert.pem())
    }

    #[tokio::test]
    async fn only_a_certificate_of_the_operators_name_by_a_known_authority_will_do() {
        let env = Arc::new(ManualEnv::new(1_000, 1));
        let asked = async |port: u16, authorities: Option<String>| {
            let tls = authorities.map(|pem| Arc::new(Tls { authorities: Some(pem), identity: None }));
            let request = HttpRequest { tls, ..HttpRequest::new("POST", format!("https://127.0.0.1:{port}/")) };
            operators(&env, here()).send(&request).await.map(|reply| reply.status)
        };
        let refused = Err(Unanswered::NotSent(SendError::Certificate));
        let (port, own) = certified("127.0.0.1");
        assert_eq!(asked(port, Some(own)).await, Ok(200));
        let (port, own) = certified("operator.example");
        assert_eq!(asked(port, Some(own)).await, refused, "it is of another name");
        let ((port, _), (_, strangers)) = (certified("127.0.0.1"), certified("127.0.0.1"));
        assert_eq!(asked(port, Some(strangers)).await, refused, "somebody else signed it");
        let (port, _) = certified("127.0.0.1");
        assert_eq!(asked(port, None).await, refused, "nobody signed it whom the system knows");
    }

    /// Every name points to this machine.
    struct Here;

    impl Resolve for Here {
        fn resolve<'a>(&'a self, _: &'a str, _: Turn) -> Addresses<'a> {
            Box::pin(async { Ok(vec![std::net::IpAddr::from([127, 0, 0, 1])]) })
        }
    }

    #[tokio::test]
    async fn a_name_that_points_to_this_machine_leads_nowhere_unless_that_is_allowed() {
        let env = Arc::new(ManualEnv::new(1_000, 1));
        let asked = async |guard: Guard| {
            let (port, pem) = certified("partner.example");
            let shared = Shared { guard: guard.into(), resolver: Arc::new(Here), clock: env.clone(), lines: Mutex::default() };
            let tls = Some(Arc::new(Tls { authorities: Some(pem), identity: None }));
            let request = HttpRequest { tls, ..HttpRequest::new("POST", format!("https://partner.example:{port}/")) };
            Operators { shared: Arc::new(shared) }.send(&request).await.map(|reply| reply.status)
        };
        assert_eq!(asked(here()).await, Err(Unanswered::NotSent(SendError::Blocked)));
        assert_eq!(asked(Guard { allow: vec!["127.0.0.0/8".parse().unwrap()], ..here() }).await, Ok(200));
    }

    #[tokio::test]
    async fn certificates_that_cannot_be_read_send_nothing() {
        let env = Arc::new(ManualEnv::new(1_000, 1));
        let wrong = |tls| HttpRequest { tls: Some(Arc::new(tls)), ..HttpRequest::new("POST", "https://127.0.0.1:9/") };
        let identity = Some(("no chain".to_owned(), "no key".to_owned().into()));
        for tls in [Tls { authorities: Some("nothing".to_owned()), identity: None }, Tls { authorities: None, identity }] {
            let answer = operators(&env, here()).send(&wrong(tls)).await;
            assert_eq!(answer.unwrap_err(), Unanswered::NotSent(SendError::Certificate));
        }
    }
}
