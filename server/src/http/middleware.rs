//! What happens around every request, in one function: its id, its time limit, panics, problems, the log and the
//! metrics. The router inside it only routes.

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{CONNECTION, DATE, HOST, HeaderName, HeaderValue};
use hyper::http::uri::Authority;
use hyper::{Method, Request, Uri, Version};
use railgate::time::http_date;
use railgate::{Error, ErrorCode};
use tower::Service as _;

use super::App;
use super::body;
use super::context::{Context, Origin, REQUEST_ID};
use super::cors::Cors;
use super::deprecated::Deprecated;
use super::operator;
use super::problem::{HttpError, render};
use super::unsent::{Reader, Room};
use crate::shares::Share;
use crate::traces::{self, Kind, Span};

/// The HTTP interface as a whole. Cheap to clone.
#[derive(Clone)]
pub struct Middleware {
    router: Router,
    app: App,
    cors: Option<Arc<Cors>>,
}

/// What a request and its response occupy until the response is sent: on its connection, or, in this process, among its extensions.
pub(super) struct Burden {
    _turn: Option<Share<IpAddr>>,
    _room: Option<Room>,
}

/// A fresh challenge, in every response.
pub(crate) const SIGNATURE_CHALLENGE: HeaderName = HeaderName::from_static("signature-challenge");

impl Middleware {
    pub(crate) fn new(router: Router, app: App, cors: Option<Cors>) -> Self {
        Self { router, app, cors: cors.map(Arc::new) }
    }

    /// Answers one request of this process, whatever happens. A browser's preflight ends here.
    pub async fn answer(&self, request: Request<Body>) -> Response {
        self.answer_from(&Origin::HERE, request).await
    }

    /// [`Middleware::answer`], to a request from elsewhere.
    pub(super) async fn answer_from(&self, origin: &Origin, request: Request<Body>) -> Response {
        match &self.cors {
            Some(cors) => cors.around(request, |request| self.respond(origin, request)).await,
            None => self.respond(origin, request).await,
        }
    }

    async fn respond(&self, origin: &Origin, mut request: Request<Body>) -> Response {
        let begun = Instant::now();
        let mut span = self.span(&request);
        let context = Arc::new(Context::new(self.app.ids.of(request.headers()), origin.clone()).traced(span.place()));
        let verb = request.method().clone();
        let Origin { peer, link } = origin;
        let peer = *peer;
        let method = name(&verb);
        let uri = request.uri().clone();
        let limit = self.time_limit(&request);
        let counted = Counted::begin(&self.app);
        request.extensions_mut().insert(Arc::clone(&context));
        let notice = match self.app.deprecated {
            [] => None,
            all => Deprecated::find(all, &verb, &uri),
        };
        let stopped = notice.as_ref().and_then(|notice| notice.stopped(self.app.gateway.engine().now()));
        let refused = stopped.or_else(|| link.as_ref().and_then(|_| for_no_host(&request)));
        let turn = link.as_ref().map_or(Ok(None), |link| link.turn(peer));
        let mut response = match (&turn, refused) {
            (Ok(_), Some(refused)) => {
                let (parts, body) = request.into_parts();
                body::discard(body, &parts.headers);
                refused
            }
            (Ok(_), None) => match tokio::time::timeout(limit, self.route(request)).await {
                Ok(response) => response,
                Err(_) => HttpError(Error::in_doubt(ErrorCode::Timeout, context.is_repeatable())).into_response(),
            },
            (Err(()), _) => {
                let detail = "too many calls from this address are in progress; nothing was done, try again";
                HttpError(Error::with(ErrorCode::RateLimited, detail)).into_response()
            }
        };
        drop(counted);
        if let Some(link) = link.as_ref().filter(|_| context.client().is_some()) {
            link.recognise();
        }
        let room = self.app.unsent.reserve(Reader::of(context.client(), peer), &response, !verb.is_safe());
        let room = room.unwrap_or_else(|error| {
            response = HttpError(error).into_response();
            None
        });
        let challenge = self.app.gate.challenge(context.mode());
        if let Some(mut failure) = response.extensions_mut().remove::<HttpError>() {
            if is_a_try(failure.0.code) && self.app.gate.failed(peer) {
                failure = HttpError(Error::with(
                    ErrorCode::RateLimited,
                    "too many calls from this address were refused; the reason is no longer reported",
                ));
            }
            self.report(&failure.0, &context);
            let is_skewed = failure.0.code == ErrorCode::ClockSkew;
            render(&mut response, failure, &verb, uri.path(), &context, &challenge);
            // hyper's own waits for a clock that was set back to catch up, and clients set theirs by this one.
            if is_skewed && let Ok(date) = HeaderValue::try_from(http_date(self.app.gateway.engine().now())) {
                response.headers_mut().insert(DATE, date);
            }
        }
        let headers = response.headers_mut();
        if let Some(notice) = notice {
            notice.announce(headers);
        }
        headers.insert(REQUEST_ID, context.id.clone());
        self.app.gate.announce(headers, &context);
        if let Ok(challenge) = HeaderValue::try_from(challenge) {
            headers.insert(SIGNATURE_CHALLENGE, challenge);
        }
        let turn = turn.ok().flatten();
        if turn.is_some() || room.is_some() {
            let burden = Arc::new(Burden { _turn: turn, _room: room });
            match link {
                Some(link) => link.bear(burden),
                None => _ = response.extensions_mut().insert(burden),
            }
        }
        let status = response.status().as_u16();
        span.rename(|| format!("{method} {}", context.route().unwrap_or("unmatched")));
        span.answered(status, status >= 500);
        self.record(&context, method, status, begun.elapsed());
        response
    }

    /// The span of a call. Probes come every few seconds and have none.
    fn span(&self, request: &Request<Body>) -> Span {
        if !self.app.traces.is_on() || matches!(request.uri().path(), "/healthz" | "/readyz") {
            return Span::none();
        }
        let mut span = self.app.traces.begin("call", Kind::Server, traces::given(request.headers()));
        span.set("http.request.method", name(request.method()));
        span
    }

    /// The router's response; a panic in a handler becomes an internal error.
    async fn route(&self, request: Request<Body>) -> Response {
        let mut router = self.router.clone();
        let mut answer = pin!(router.call(request));
        let outcome = std::future::poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))) {
            Ok(Poll::Ready(answer)) => Poll::Ready(Some(answer)),
            Ok(Poll::Pending) => Poll::Pending,
            Err(_) => Poll::Ready(None),
        });
        match outcome.await {
            Some(Ok(response)) => response,
            Some(Err(never)) => match never {},
            None => HttpError::from(ErrorCode::Internal).into_response(),
        }
    }

    /// A call that may be held gets the longest wait on top.
    fn time_limit(&self, request: &Request<Body>) -> Duration {
        let limits = &self.app.limits;
        if request.method() == Method::POST && request.uri().path() == operator::RECONCILIATIONS {
            return limits.handler + limits.upload;
        }
        let held = request.headers().contains_key("prefer") || holds(request.uri());
        if held { limits.handler + Duration::from_secs(limits.wait_s.into()) } else { limits.handler }
    }

    /// Logs causes, which are for the operator: they leave the process here and nowhere else.
    fn report(&self, error: &Error, context: &Context) {
        self.app.metrics.problem(error.code);
        // An event that is not numbered yet is a normal response, not a fault to look into.
        if error.code.http_status() >= 500 && error.code != ErrorCode::NotLoggedYet {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            tracing::error!(code = error.code.as_str(), cause, request_id = context.id(), "a request failed");
        }
    }

    fn record(&self, context: &Context, method: &'static str, status: u16, took: Duration) {
        let route = context.route().unwrap_or("unmatched");
        self.app.metrics.answered(route, method, status, took);
        // Of what a caller chose, only the request id is logged: paths contain references, bodies contain personal data.
        if tracing::enabled!(target: "railgate::http", tracing::Level::INFO) {
            tracing::info!(
                target: "railgate::http",
                route,
                method,
                status,
                duration_us = took.as_micros() as u64,
                request_id = context.id(),
                client = context.client().map(tracing::field::display),
                trace_id = context.traceparent().map(|place| tracing::field::display(place.trace())),
                "request"
            );
        }
    }
}

/// Whether a refusal may be an attempt to break in. A token or a challenge that has merely expired is not: its owner
/// needs to learn that, even from an address that others flood.
fn is_a_try(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::TokenMissing
            | ErrorCode::TokenInvalid
            | ErrorCode::SignatureMissing
            | ErrorCode::SignatureInvalid
            | ErrorCode::ChallengeInvalid
            | ErrorCode::KeyUnknown
            | ErrorCode::KeyRevoked
    )
}

/// Whether this is a name or an IPv4 address, with a port or none. That is what nearly every call has; parsing it would allocate.
fn is_plain(host: &str) -> bool {
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let is_number = |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'-') && port.is_none_or(is_number)
}

/// Whether this is a host, with a port or none, and nothing besides (RFC 9110, section 7.2).
fn is_authority(host: &str) -> bool {
    // The digits of a port may be none (RFC 3986, section 3.2.3).
    let is_port = |port: &str, it: &Authority| matches!(port, "" | ":") || it.port_u16().is_some();
    host.parse::<Authority>().is_ok_and(|it| host.strip_prefix(it.host()).is_some_and(|port| is_port(port, &it)))
}

/// The answer to a request that arrived without a host, or with two: whoever passed it on may have seen another one than this server
/// (RFC 9112, section 3.2).
fn for_no_host(request: &Request<Body>) -> Option<Response> {
    let mut hosts = request.headers().get_all(HOST).iter();
    let is_good = match (hosts.next(), hosts.next()) {
        (None, _) => request.version() < Version::HTTP_11,
        (Some(host), None) => host.to_str().is_ok_and(|host| is_plain(host) || is_authority(host)),
        (Some(_), Some(_)) => false,
    };
    let refuse = || {
        let error = Error::with(ErrorCode::MalformedRequest, "a request has one Host header, with the name of a host");
        ([(CONNECTION, HeaderValue::from_static("close"))], HttpError(error)).into_response()
    };
    (!is_good).then(refuse)
}

/// Whether the query asks for a long poll.
fn holds(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.contains("wait="))
}

/// Counts a request as in flight until it is answered or its sender disconnects.
struct Counted<'a>(&'a App);

impl<'a> Counted<'a> {
    fn begin(app: &'a App) -> Self {
        app.metrics.request_begun();
        Self(app)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.metrics.request_dropped();
    }
}

/// A closed set of names, so that invented methods cannot inflate the metrics.
fn name(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    }
}
