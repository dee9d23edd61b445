//! `railgate proxy`: signs the requests of plain HTTP clients, and passes the responses back unchanged.
//!
//! Anybody who reaches the port acts with the profile's key. So it listens on this machine alone, and refuses what a web
//! page could send here: requests from pages of other sites (`Origin`, `Sec-Fetch-Site`), and names that were made to
//! point here (`Host`).

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{ApiResponse, Ask, Http, NoAnswer, Stream, is_loopback};
use super::session::{Next, SIGNED_HEADERS, Session};
use super::terminal::{Terminal, note};

const EXAMPLES: &str = "\
Examples:
  railgate proxy
  curl -s http://127.0.0.1:8090/api/v1/balances
      From another terminal, without token or signature: the proxy adds both.
  railgate proxy 127.0.0.1:0 --profile staging
      Any free port; the first line of standard output names it: listening on http://HOST:PORT

For curl, Postman and test tools on this machine. Anybody who reaches the port acts as your client, so it
listens on loopback addresses only and refuses requests of web pages. SIGINT or SIGTERM ends it.";

/// The largest body that is forwarded, in bytes.
const MAX_BODY: usize = 1 << 20;
/// The timeout for a request's head.
const HEAD: Duration = Duration::from_secs(30);
/// The longest time for which `Prefer: wait=N` holds a response.
const PATIENCE: Duration = Duration::from_secs(30);

/// Headers that concern one connection, not the request (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Sign and forward what plain HTTP clients on this machine send
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ProxyArgs {
    /// Where to listen: a loopback address; port 0 picks a free one [default: 127.0.0.1:8090]
    #[arg(value_name = "LISTEN")]
    address: Option<String>,
    /// Same as LISTEN
    #[arg(long, value_name = "IP:PORT", conflicts_with = "address")]
    listen: Option<String>,
}

type Body = BoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// State shared by all connections.
struct Proxy {
    session: Mutex<Session>,
    http: Http,
}

pub(crate) async fn run(args: ProxyArgs, global: &Global, terminal: &Terminal) -> Done {
    let text = args.listen.or(args.address).unwrap_or_else(|| "127.0.0.1:8090".to_owned());
    let address = loopback(&text, "everybody who reaches it would act with your key")?;
    let session = Session::open(global)?;
    let unusable = |error| Failure::new(format!("cannot listen on {address}: {error}"));
    let socket = TcpListener::bind(address).await.map_err(unusable)?;
    let bound = socket.local_addr().map_err(unusable)?;
    let ended = end().map_err(|error| Failure::caused("cannot wait for signals", error))?;
    let name = session.file().name().to_owned();
    let proxy = Arc::new(Proxy { http: session.http().clone(), session: Mutex::new(session) });
    if global.json {
        terminal.json(serde_json::json!({ "listening": format!("http://{bound}") }).to_string().as_bytes())?;
    } else {
        terminal.line(format_args!("listening on http://{bound}"))?;
    }
    note(format_args!("signing for {} as the profile {name:?}; anybody who reaches this port acts as its client", proxy.http.base()));
    let serve = async {
        loop {
            match socket.accept().await {
                Ok((stream, _)) => drop(tokio::spawn(connection(stream, Arc::clone(&proxy)))),
                // Too many open files, or a caller that left: the next one may succeed.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::select! {
        () = serve => {}
        _ = ended => {}
    }
    Ok(())
}

/// Catches SIGINT and SIGTERM from now on; completes at the first one.
#[cfg(unix)]
pub(super) fn end() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

#[cfg(not(unix))]
pub(super) fn end() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

/// Parses an address that only this machine can reach; `why` is the reason for refusing others.
pub(super) fn loopback(text: &str, why: &str) -> Done<SocketAddr> {
    let text = text.strip_prefix("localhost:").map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    let wrong = |what: &str| Failure::usage(format!("{text} {what}")).hint("write IP:PORT, such as 127.0.0.1:8090");
    let address: SocketAddr = text.parse().map_err(|_| wrong("is not an address to listen on"))?;
    if address.ip().is_loopback() {
        return Ok(address);
    }
    Err(wrong(&format!("is not a loopback address: {why}")))
}

async fn connection(stream: TcpStream, proxy: Arc<Proxy>) {
    let _ = stream.set_nodelay(true);
    let answer = service_fn(move |request| {
        let proxy = Arc::clone(&proxy);
        async move { Ok::<_, Infallible>(proxy.answer(request).await) }
    });
    let mut server = http1::Builder::new();
    // A broken connection is noticed by its caller.
    let _ = server.timer(TokioTimer::new()).header_read_timeout(HEAD).serve_connection(TokioIo::new(stream), answer).await;
}

impl Proxy {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if let Err(why) = may_ask(request.headers()) {
            return problem(StatusCode::FORBIDDEN, "forbidden", why);
        }
        let (parts, body) = request.into_parts();
        let Ok(body) = Limited::new(body, MAX_BODY).collect().await else {
            return problem(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "the proxy forwards at most 1 MiB, and only whole bodies");
        };
        let mut ask = Ask::new(parts.method, "");
        // The host of an absolute form is dropped: everything goes to the one server.
        ask.path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        ask.headers = passed_on(&parts.headers, true);
        ask.body = Some(body.to_bytes()).filter(|body| !body.is_empty());
        ask.patience = PATIENCE;
        match self.exchange(ask).await {
            Ok(response) => response,
            Err(Failure::Stopped(reason)) => problem(StatusCode::BAD_GATEWAY, "proxy_failed", reason.message()),
            Err(Failure::PipeClosed) => problem(StatusCode::BAD_GATEWAY, "proxy_failed", "the output is closed"),
        }
    }

    async fn exchange(&self, ask: Ask) -> Done<Response<Body>> {
        let mut running = self.session.lock().await.begin_once(ask)?;
        loop {
            // What signing needs is fetched one at a time; the calls themselves run in parallel.
            let next = self.session.lock().await.next(&mut running).await?;
            match next {
                Next::Send(ask, _) => match self.http.open(&ask).await? {
                    Ok(stream) if stream.status != StatusCode::UNAUTHORIZED => {
                        self.session.lock().await.opened(&mut running, &stream);
                        return Ok(streamed(stream));
                    }
                    Ok(stream) => {
                        let answer = stream.finish().await;
                        self.session.lock().await.heard(&mut running, Ok(answer));
                    }
                    Err(cause) => self.session.lock().await.heard(&mut running, Err(cause)),
                },
                Next::Pause(pause) => tokio::time::sleep(pause).await,
                Next::Done(done) => return Ok(running.ended(done)?.last.map_or_else(|cause| unreachable(&cause), whole)),
            }
        }
    }
}

/// Whether a program on this machine sent the request, and not a web page in its browser.
fn may_ask(headers: &HeaderMap) -> Result<(), &'static str> {
    if headers.contains_key(header::ORIGIN) {
        return Err("requests with an Origin header come from web pages, which may not use your key");
    }
    let from_page = |site: &HeaderValue| site != "same-origin" && site != "none";
    if headers.get_all("sec-fetch-site").iter().any(from_page) {
        return Err("the browser reports that another site sent this; web pages may not use your key");
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok()).and_then(|host| host.parse::<hyper::http::uri::Authority>().ok());
    match host {
        Some(host) if hosts.next().is_none() && !host.as_str().contains('@') && is_loopback(host.host()) => Ok(()),
        Some(_) | None => Err("the Host header must name this machine: localhost or a loopback address"),
    }
}

/// The headers without those of the connection and, towards the server, without those that the proxy sets itself.
fn passed_on(headers: &HeaderMap, to_server: bool) -> HeaderMap {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok())
        .collect();
    let ours = |name: &HeaderName| {
        SIGNED_HEADERS.contains(&name.as_str()) || [header::HOST, header::CONTENT_LENGTH, header::EXPECT, header::COOKIE].contains(name)
    };
    let mut kept = headers.clone();
    for name in headers.keys() {
        if HOP_BY_HOP.contains(&name.as_str()) || named.contains(name) || (to_server && ours(name)) {
            kept.remove(name);
        }
    }
    kept
}

fn streamed(stream: Stream) -> Response<Body> {
    let mut response = Response::new(BodyExt::map_err(stream.body, Into::into).boxed());
    *response.status_mut() = stream.status;
    *response.headers_mut() = passed_on(&stream.headers, false);
    response
}

fn whole(answer: ApiResponse) -> Response<Body> {
    let mut response = Response::new(full(answer.body));
    *response.status_mut() = answer.status;
    *response.headers_mut() = passed_on(&answer.headers, false);
    response
}

fn unreachable(cause: &NoAnswer) -> Response<Body> {
    match cause {
        NoAnswer::NotSent(cause) => problem(StatusCode::BAD_GATEWAY, "server_unreachable", cause),
        NoAnswer::Lost(cause) => {
            let detail = format!("the response was lost; it is not known whether the request was carried out: {cause}");
            problem(StatusCode::BAD_GATEWAY, "answer_lost", &detail)
        }
    }
}

/// A problem of the proxy's own (RFC 9457), in one line.
fn problem(status: StatusCode, code: &str, detail: &str) -> Response<Body> {
    let title = status.canonical_reason().unwrap_or("The proxy stopped");
    let document = serde_json::json!({ "type": "about:blank", "title": title, "status": status.as_u16(), "code": code, "detail": detail });
    let mut response = Response::new(full(Bytes::from(format!("{document}\n"))));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
    response
}

fn full(bytes: Bytes) -> Body {
    Full::new(bytes).map_err(|never: Infallible| match never {}).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn only_loopback_addresses_are_listened_on() {
        for good in ["127.0.0.1:8090", "[::1]:0", "localhost:8090", "127.1.2.3:1"] {
            assert!(loopback(good, "").is_ok(), "{good}");
        }
        for bad in ["0.0.0.0:8090", "[::]:8090", "10.0.0.5:80", "8090", "example.org:80"] {
            assert!(loopback(bad, "").is_err(), "{bad}");
        }
    }

    #[test]
    fn web_pages_and_names_that_point_here_are_refused() {
        for good in [
            &[("host", "127.0.0.1:8090")][..],
            &[("host", "localhost")],
            &[("host", "[::1]:8090"), ("sec-fetch-site", "none")],
            &[("host", "LocalHost:1"), ("sec-fetch-site", "same-origin")],
        ] {
            assert_eq!(may_ask(&headers(good)), Ok(()), "{good:?}");
        }
        for bad in [
            &[][..],
            &[("host", "pay.example.com")],
            &[("host", "localhost.example.com")],
            &[("host", "evil@127.0.0.1")],
            &[("host", "127.0.0.1"), ("origin", "https://evil.example")],
            &[("host", "127.0.0.1"), ("origin", "null")],
            &[("host", "127.0.0.1"), ("sec-fetch-site", "cross-site")],
            &[("host", "127.0.0.1"), ("sec-fetch-site", "same-site")],
        ] {
            assert!(may_ask(&headers(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_concerns_the_connection_or_is_set_here_is_dropped() {
        let given = headers(&[
            ("host", "127.0.0.1"),
            ("connection", "close, X-Private"),
            ("x-private", "1"),
            ("transfer-encoding", "chunked"),
            ("authorization", "Bearer somebody"),
            ("signature", "sig1=:x:"),
            ("signature-input", "sig1=()"),
            ("content-digest", "sha-256=:x:"),
            ("prefer", "wait=5"),
            ("idempotency-key", "k"),
        ]);
        let mut left: Vec<String> = passed_on(&given, true).keys().map(ToString::to_string).collect();
        left.sort();
        assert_eq!(left, ["idempotency-key", "prefer"]);
        assert!(passed_on(&headers(&[("content-length", "3"), ("keep-alive", "1")]), false).contains_key("content-length"));
    }
}
