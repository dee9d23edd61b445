//! Well-behaved and misbehaving receivers: real connections, all on this machine.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hyper::header::HeaderName;
use railgate::ids::ClientNo;
use railgate::ledger::Mode;
use railgate::webhook::{AddressKind, Cidr};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

use super::lookup::Addresses;
use super::*;

/// Long enough never to expire.
const PATIENT: Limits = Limits { connect: Duration::from_secs(300), whole: Duration::from_secs(300) };
/// For receivers that would never end.
const SHORT: Limits = Limits { connect: Duration::from_millis(300), whole: Duration::from_millis(300) };

const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// This machine too, but not allowed where only `HERE` is.
const FORBIDDEN: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));

/// Answers one lookup after the other; the last answer repeats for ever.
struct Names {
    answers: Mutex<VecDeque<Vec<IpAddr>>>,
    asked: AtomicUsize,
    /// How many of them had a place among those of a client.
    of_clients: AtomicUsize,
}

impl Names {
    fn new(answers: &[&[IpAddr]]) -> Arc<Self> {
        let answers = Mutex::new(answers.iter().map(|answer| answer.to_vec()).collect());
        Arc::new(Self { answers, asked: AtomicUsize::new(0), of_clients: AtomicUsize::new(0) })
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, _: &'a str, turn: Turn) -> Addresses<'a> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.of_clients.fetch_add(usize::from(turn.is_of_a_client()), Ordering::SeqCst);
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}

fn trusting(certificates: &[CertificateDer<'static>]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    certificates.iter().for_each(|certificate| roots.add(certificate.clone()).unwrap());
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots).with_no_client_auth()
}

/// May call this machine over http.
fn development(limits: Limits) -> Outbound {
    let guard = Guard { insecure_loopback: true, ..Guard::default() };
    Outbound::with(guard, limits, Names::new(&[&[HERE]]), trusting(&[]))
}

/// May call `HERE` and no other address of this machine, over https.
fn allowing_here(names: &Arc<Names>, trusted: &[CertificateDer<'static>]) -> Outbound {
    let guard = Guard { allow: vec![Cidr::parse("127.0.0.1/32").unwrap()], ..Guard::default() };
    Outbound::with(guard, PATIENT, Arc::clone(names) as Arc<dyn Resolve>, trusting(trusted))
}

const SHARE: Share = Share { client: ClientNo(1), mode: Mode::Sandbox, troubled: false, push: false };

async fn post(outbound: &Outbound, url: &str) -> Sent {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static("webhook-id"), HeaderValue::from_static("evt_1"));
    headers.insert("host", HeaderValue::from_static("elsewhere.example"));
    outbound.post(SHARE, &outbound.target(url), headers, Bytes::from_static(b"{\"a\":1}")).await
}

async fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((HERE, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Reads one request with a body of seven bytes; `None` at the end of the connection.
async fn request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut read = Vec::new();
    while !read.ends_with(b"{\"a\":1}") {
        read.push(stream.read_u8().await.ok()?);
    }
    Some(String::from_utf8(read).unwrap())
}

/// Answers every request on every connection with the same bytes, and keeps the requests: a list for each connection.
struct Receiver {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Vec<String>>>>,
}

impl Receiver {
    async fn answering(answer: &'static [u8]) -> Self {
        let (listener, address) = listener().await;
        Self::over(listener, address, None, answer)
    }

    /// Like [`Receiver::answering`], with TLS.
    async fn secure(acceptor: TlsAcceptor, answer: &'static [u8]) -> Self {
        let (listener, address) = listener().await;
        Self::over(listener, address, Some(acceptor), answer)
    }

    fn over(listener: TcpListener, address: SocketAddr, tls: Option<TlsAcceptor>, answer: &'static [u8]) -> Self {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let number = shared.lock().unwrap().len();
                shared.lock().unwrap().push(Vec::new());
                let (shared, tls) = (Arc::clone(&shared), tls.clone());
                tokio::spawn(async move {
                    match tls {
                        None => serve(stream, number, &shared, answer).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                serve(stream, number, &shared, answer).await;
                            }
                        }
                    }
                });
            }
        });
        Self { address, seen }
    }

    fn seen(&self) -> Vec<Vec<String>> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(mut stream: impl AsyncRead + AsyncWrite + Unpin, number: usize, seen: &Mutex<Vec<Vec<String>>>, answer: &[u8]) {
    while let Some(request) = request(&mut stream).await {
        seen.lock().unwrap()[number].push(request);
        if stream.write_all(answer).await.is_err() {
            return;
        }
    }
}

/// A receiver of one request that then does as it likes. The task ends when the receiver does.
async fn once<F: Future<Output = ()> + Send>(then: impl FnOnce(TcpStream) -> F + Send + 'static) -> (SocketAddr, JoinHandle<()>) {
    let (listener, address) = listener().await;
    let task = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        request(&mut stream).await.unwrap();
        then(stream).await;
    });
    (address, task)
}

/// Writes the same bytes again and again until the other side closes, which it must do before long: what the system
/// buffers counts too.
async fn endlessly(mut stream: TcpStream, first: &[u8], then: &[u8]) {
    stream.write_all(first).await.unwrap();
    let mut written = 0;
    while stream.write_all(then).await.is_ok() {
        written += then.len();
        assert!(written < 64 << 20, "nobody stops reading");
    }
}

/// A self-issued certificate for these names, and a server that presents it.
fn certified(names: &[&str]) -> (CertificateDer<'static>, TlsAcceptor) {
    let made = rcgen::generate_simple_self_signed(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
    let config = builder.with_single_cert(vec![made.cert.der().clone()], key).unwrap();
    (made.cert.der().clone(), TlsAcceptor::from(Arc::new(config)))
}

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nRetry-After: 120\r\nContent-Length: 11\r\n\r\n{\"ok\":\x1b1}\r\n";
const CLOSING: &[u8] = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n";

#[tokio::test]
async fn a_receiver_gets_what_was_meant_for_it_and_its_answer_is_told() {
    let receiver = Receiver::answering(OK).await;
    let sent = post(&development(PATIENT), &format!("http://hook.localhost:{}/a/b?c=%20d", receiver.address.port())).await;
    let answer = Received { status: 200, retry_after: Some("120".into()), excerpt: "{\"ok\":1}".into() };
    assert_eq!(sent.result, Ok(answer));
    let seen = receiver.seen();
    let (head, body) = seen[0][0].split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /a/b?c=%20d HTTP/1.1\r\n") && body == "{\"a\":1}", "{head}");
    for line in [
        "webhook-id: evt_1",
        "content-length: 7",
        &format!("user-agent: {AGENT}"),
        &format!("host: hook.localhost:{}", receiver.address.port()),
    ] {
        assert_eq!(head.lines().filter(|given| given.eq_ignore_ascii_case(line)).count(), 1, "{line} in {head}");
    }
    assert!(!head.contains("elsewhere"), "{head}");
}

#[test]
fn whatever_url_is_allowed_is_asked_for_in_its_own_words() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _inside = runtime.enter();
    let outbound = development(PATIENT);
    for url in [
        "https://hooks.example/-._~!$&'()*+,;=:@/%20%ff?-._~!$&'()*+,;=:@/?%00",
        "https://my_hook.example:8443/",
        "http://[::1]:8080/x",
        "https://[2606:4700::1111]/?",
    ] {
        let target = outbound.target(url);
        assert_eq!(target.unwrap().0.to_string(), url);
    }
}

#[tokio::test]
async fn a_connection_is_used_again_and_leads_where_it_was_checked() {
    let (certificate, acceptor) = certified(&["hooks.example"]);
    let receiver = Receiver::secure(acceptor, OK).await;
    // If the name were resolved again, it would lead elsewhere.
    let names = Names::new(&[&[HERE], &[FORBIDDEN]]);
    let outbound = allowing_here(&names, &[certificate]);
    for _ in 0..3 {
        let sent = post(&outbound, &format!("https://hooks.example:{}/", receiver.address.port())).await;
        assert_eq!(sent.result.unwrap().status, 200);
        // The connection's own task returns it to the pool; everything that is ready gets its turn.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!((receiver.seen().len(), receiver.seen()[0].len(), names.asked()), (1, 3, 1));
    assert_eq!(names.of_clients.load(Ordering::SeqCst), 1, "the lookup had a place of its client");
}

#[tokio::test]
async fn redirects_are_told_and_not_followed() {
    let elsewhere = Receiver::answering(OK).await;
    let location = format!("HTTP/1.1 307 Moved\r\nLocation: http://{}/\r\nContent-Length: 0\r\n\r\n", elsewhere.address);
    let receiver = Receiver::answering(location.leak().as_bytes()).await;
    let sent = post(&development(PATIENT), &format!("http://{}/", receiver.address)).await;
    assert_eq!(sent.result.unwrap().status, 307);
    assert_eq!((receiver.seen().len(), elsewhere.seen().len()), (1, 0));
}

#[tokio::test]
async fn a_name_that_points_elsewhere_a_moment_later_leads_nowhere() {
    let (certificate, acceptor) = certified(&["hooks.example"]);
    let receiver = Receiver::secure(acceptor.clone(), CLOSING).await;
    // The forbidden address has a receiver on the same port, if the system has such an address at all.
    let trap = TcpListener::bind((FORBIDDEN, receiver.address.port())).await.ok();
    let trap = trap.map(|trap| Receiver::over(trap, receiver.address, Some(acceptor), CLOSING));
    let names = Names::new(&[&[HERE], &[FORBIDDEN], &[FORBIDDEN, HERE], &["::ffff:127.0.0.2".parse().unwrap(), "::1".parse().unwrap()]]);
    let outbound = allowing_here(&names, &[certificate]);
    let url = format!("https://hooks.example:{}/", receiver.address.port());
    let mut results = Vec::new();
    for _ in 0..4 {
        results.push(post(&outbound, &url).await.result.map(|answer| answer.status));
        // Until the cached result expires.
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(5)).await;
        tokio::time::resume();
    }
    assert_eq!(results, [Ok(204), Err(SendError::Blocked), Ok(204), Err(SendError::Blocked)]);
    assert_eq!(names.asked(), 4);
    assert_eq!(receiver.seen().len(), 2);
    assert!(trap.is_none_or(|trap| trap.seen().is_empty()));
}

#[tokio::test]
async fn names_of_blocked_ranges_and_names_that_are_none_read_alike() {
    for address in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "::1",
        "::",
        "fe80::1",
        "fd00::1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "224.0.0.1",
        "255.255.255.255",
    ] {
        let names = Names::new(&[&[address.parse().unwrap()]]);
        let outbound = Outbound::with(Guard::default(), PATIENT, names, trusting(&[]));
        assert_eq!(post(&outbound, "https://hooks.example/").await.result, Err(SendError::Blocked), "{address}");
    }
    for none in [Names::new(&[]), Names::new(&[&[]])] {
        let outbound = Outbound::with(Guard::default(), PATIENT, none, trusting(&[]));
        assert_eq!(post(&outbound, "https://hooks.example/").await.result, Err(SendError::Dns));
    }
    assert_eq!(SendError::Dns.to_string(), SendError::Blocked.to_string());
    assert_eq!(SendError::Dns.code(), SendError::Blocked.code());
}

#[tokio::test]
async fn an_address_that_is_remembered_is_checked_for_each_connection() {
    let (certificate, acceptor) = certified(&["hooks.example"]);
    let receiver = Receiver::secure(acceptor, CLOSING).await;
    let names = Names::new(&[&[FORBIDDEN, HERE]]);
    let outbound = allowing_here(&names, &[certificate]);
    let url = format!("https://hooks.example:{}/", receiver.address.port());
    for _ in 0..3 {
        assert_eq!(post(&outbound, &url).await.result.map(|answer| answer.status), Ok(204));
    }
    assert_eq!((receiver.seen().len(), names.asked()), (3, 1));
    let names = Names::new(&[&[FORBIDDEN]]);
    let outbound = allowing_here(&names, &[]);
    for _ in 0..3 {
        assert_eq!(post(&outbound, &url).await.result, Err(SendError::Blocked));
    }
    assert_eq!(names.asked(), 1);
}

#[tokio::test]
async fn urls_that_are_refused_are_not_even_resolved() {
    let names = Names::new(&[&[HERE]]);
    let outbound = Outbound::with(Guard::default(), PATIENT, Arc::clone(&names) as Arc<dyn Resolve>, trusting(&[]));
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "017700000001",
        "0177.0.0.0x1",
        "127.0.0.1.",
        "%3127.0.0.1",
        "１２７.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[fe80::1%25lo]",
        "localhost",
        "a.localhost",
        "metadata.google.internal",
        "x@127.0.0.1",
    ] {
        for scheme in ["https", "http"] {
            let sent = post(&outbound, &format!("{scheme}://{host}/")).await;
            assert!(matches!(sent.result, Err(SendError::Refused(_))), "{host}: {sent:?}");
        }
    }
    assert_eq!(names.asked(), 0);
    let private = post(&outbound, "https://10.0.0.1/").await.result;
    assert_eq!(private, Err(SendError::Refused(GuardError::Address(AddressKind::Private))));
}

#[tokio::test]
async fn what_a_slow_body_began_with_is_told_and_its_connection_is_closed() {
    let (address, receiver) = once(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun").await.unwrap();
        // The other side disconnects.
        assert!(matches!(stream.read_u8().await, Err(error) if error.kind() != io::ErrorKind::TimedOut));
    })
    .await;
    // Enough time for what does arrive.
    let limits = Limits { whole: Duration::from_secs(3), ..PATIENT };
    let answer = post(&development(limits), &format!("http://{address}/")).await.result.unwrap();
    assert_eq!((answer.status, answer.excerpt.as_str()), (200, "begun"));
    receiver.await.unwrap();
}

#[tokio::test]
async fn of_an_endless_body_a_little_is_read_and_its_connection_is_closed() {
    for head in [&b"HTTP/1.1 500 No\r\nConnection: close\r\n\r\n"[..], b"HTTP/1.1 500 No\r\nContent-Length: 99999999999\r\n\r\n"] {
        let (address, receiver) = once(move |stream| async move { endlessly(stream, head, &[b'x'; 4096]).await }).await;
        let answer = post(&development(PATIENT), &format!("http://{address}/")).await.result.unwrap();
        assert_eq!((answer.status, answer.excerpt), (500, "x".repeat(EXCERPT_MAX_BYTES)));
        receiver.await.unwrap();
    }
}

#[tokio::test]
async fn endless_heads_and_what_is_not_http_are_given_up() {
    for (first, then) in [
        (&b"HTTP/1.1 200 OK\r\n"[..], &b"X-More: and more\r\n"[..]),
        (b"HTTP/1.1 200 OK\r\nX-Long: ", &[b'x'; 4096]),
        (b"SSH-2.0-OpenSSH_9.9\r\n", b"\0"),
        (b"\x16\x03\x01", b"\0"),
    ] {
        let (address, receiver) = once(move |stream| async move { endlessly(stream, first, then).await }).await;
        let sent = post(&development(PATIENT), &format!("http://{address}/")).await;
        assert_eq!(sent.result, Err(SendError::Malformed), "{}", String::from_utf8_lossy(first));
        receiver.await.unwrap();
    }
}

#[tokio::test]
async fn silence_is_not_waited_for() {
    let (address, receiver) = once(|mut stream| async move { drop(stream.read_u8().await) }).await;
    assert_eq!(post(&development(SHORT), &format!("http://{address}/")).await.result, Err(SendError::Timeout));
    // Given up so early, it may not even have connected.
    receiver.abort();
    // Accepted by the system and by nobody else: the handshake gets no response.
    let (_listener, address) = listener().await;
    let sent = post(&development(SHORT), &format!("https://{address}/")).await;
    assert_eq!(sent.result, Err(SendError::Timeout));
}

#[tokio::test]
async fn whoever_hangs_up_or_is_not_there_is_told_apart() {
    let (address, receiver) = once(|stream| async move { drop(stream) }).await;
    assert_eq!(post(&development(PATIENT), &format!("http://{address}/")).await.result, Err(SendError::Closed));
    receiver.await.unwrap();
    // A port that nobody uses, and that the system assigns to nobody.
    assert_eq!(post(&development(PATIENT), "http://127.0.0.1:9/").await.result, Err(SendError::Connect));
}

#[tokio::test]
async fn only_a_certificate_of_the_host_by_a_known_authority_will_do() {
    let (certificate, acceptor) = certified(&["hooks.example", "127.0.0.1"]);
    let receiver = Receiver::secure(acceptor, OK).await;
    let (stranger, _) = certified(&["hooks.example", "127.0.0.1"]);
    let names = Names::new(&[&[HERE]]);
    for (host, trusted, expected) in [
        ("hooks.example", &certificate, Ok(200)),
        ("127.0.0.1", &certificate, Ok(200)),
        ("other.example", &certificate, Err(SendError::Certificate)),
        ("hooks.example", &stranger, Err(SendError::Certificate)),
    ] {
        let outbound = allowing_here(&names, std::slice::from_ref(trusted));
        let sent = post(&outbound, &format!("https://{host}:{}/", receiver.address.port())).await;
        assert_eq!(sent.result.map(|answer| answer.status), expected, "{host}");
    }
    let (listener, address) = listener().await;
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let plain = post(&allowing_here(&names, &[certificate]), &format!("https://hooks.example:{}/", address.port())).await;
    assert_eq!(plain.result, Err(SendError::Handshake));
}

/// Set for the run of this test in a separate process, with proxies in its environment.
const INNER: &str = "RAILGATE_TEST_BEHIND_A_PROXY";

#[tokio::test]
async fn a_proxy_of_the_environment_is_not_asked() {
    if std::env::var_os(INNER).is_some() {
        let receiver = Receiver::answering(OK).await;
        let sent = post(&development(PATIENT), &format!("http://hook.localhost:{}/", receiver.address.port())).await;
        assert_eq!((sent.result.unwrap().status, receiver.seen().len()), (200, 1));
        return;
    }
    let proxy = Receiver::answering(OK).await;
    let mut inner = Command::new(std::env::current_exe().unwrap());
    inner.args(["--exact", "outbound::tests::a_proxy_of_the_environment_is_not_asked"]).env(INNER, "1");
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        inner.env(name, format!("http://{}", proxy.address));
    }
    inner.env_remove("no_proxy").env_remove("NO_PROXY");
    let output = tokio::task::spawn_blocking(move || inner.output().unwrap()).await.unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}");
    assert!(proxy.seen().is_empty());
}
