//! CORS: which origins may call, and which response headers their pages may read.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use hyper::header::{ACCESS_CONTROL_REQUEST_METHOD, HeaderName, HeaderValue};
use hyper::{Method, Request};
use tower::{Layer as _, Service as _, service_fn};
use tower_http::cors::{AllowOrigin, CorsLayer};

const METHODS: [Method; 5] = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// The request headers that a page may send.
const SENT: [&str; 13] = [
    "authorization",
    "content-type",
    "content-digest",
    "signature",
    "signature-input",
    "idempotency-key",
    "prefer",
    "if-match",
    "if-none-match",
    "last-event-id",
    "x-request-id",
    // What a page's tracing adds (W3C Trace Context); nothing here reads them, proxies may.
    "traceparent",
    "tracestate",
];

/// The response headers that a page may read.
const READ: [&str; 14] = [
    // Tells the page how far off its clock is.
    "date",
    "signature-challenge",
    "www-authenticate",
    "accept-signature",
    "location",
    "etag",
    "link",
    "retry-after",
    "ratelimit",
    "ratelimit-policy",
    "idempotent-replayed",
    "x-request-id",
    "deprecation",
    "sunset",
];

/// How long a browser may cache a preflight response.
const MAX_AGE: Duration = Duration::from_secs(600);

/// Handles CORS. No cookies are involved, so credentials are not allowed.
#[derive(Clone)]
pub(crate) struct Cors(CorsLayer);

impl Cors {
    /// Allows exactly these origins; without any there is no CORS.
    pub(crate) fn new(origins: &[HeaderValue]) -> Option<Self> {
        let layer = CorsLayer::new()
            .allow_origin(AllowOrigin::list(origins.iter().cloned()))
            .allow_methods(METHODS)
            .allow_headers(SENT.map(HeaderName::from_static))
            .expose_headers(READ.map(HeaderName::from_static))
            .max_age(MAX_AGE);
        (!origins.is_empty()).then_some(Self(layer))
    }

    /// Answers a preflight itself; passes any other request to `answer` and adds the CORS headers to its response.
    pub(crate) async fn around<F, A>(&self, request: Request<Body>, answer: F) -> Response
    where
        F: FnMut(Request<Body>) -> A,
        A: Future<Output = Response>,
    {
        let mut answer = answer;
        // OPTIONS without Access-Control-Request-Method is not a preflight, and is routed like any other request.
        if request.method() == Method::OPTIONS && !request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD) {
            return answer(request).await;
        }
        let inner = service_fn(|request| {
            let answered = answer(request);
            async move { Ok::<_, Infallible>(answered.await) }
        });
        match self.0.layer(inner).call(request).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }
}
