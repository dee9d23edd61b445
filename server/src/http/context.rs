//! What is known about a request while it is handled.

use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use axum::extract::MatchedPath;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use railgate::api::Caller;
use railgate::env::Env;
use railgate::ids::Ulid;
use railgate::ledger::Mode;
use railgate::limit::Decision;
use railgate::traceparent::TraceParent;

use super::connections::Link;
use super::route::Access;

/// The request's id, in the request, in its response and in the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Where a request comes from.
#[derive(Clone)]
pub(crate) struct Origin {
    /// Its address. Behind a proxy that is not trusted to name the caller, it is the proxy's.
    pub(crate) peer: IpAddr,
    /// The connection that it came on, if it came on one.
    pub(super) link: Option<Arc<Link>>,
}

impl Origin {
    /// Of a caller in this process: it has no connection, and counts as this machine.
    pub(super) const HERE: Self = Self { peer: IpAddr::V4(Ipv4Addr::LOCALHOST), link: None };
}

/// Travels with the request and collects, for the middleware, what its handling finds out.
pub(crate) struct Context {
    /// The caller's id, or a generated one.
    pub(crate) id: HeaderValue,
    pub(crate) origin: Origin,
    route: OnceLock<MatchedPath>,
    client: OnceLock<Ulid>,
    mode: OnceLock<Mode>,
    access: OnceLock<Access>,
    signature_base: OnceLock<String>,
    rate: Mutex<Option<(bool, Decision)>>,
    once: OnceLock<()>,
    traceparent: Option<TraceParent>,
}

impl Context {
    pub(crate) fn new(id: HeaderValue, origin: Origin) -> Self {
        let (route, client, mode) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (access, signature_base, rate, once) = (OnceLock::new(), OnceLock::new(), Mutex::default(), OnceLock::new());
        Self { id, origin, route, client, mode, access, signature_base, rate, once, traceparent: None }
    }

    /// The same, in a trace.
    pub(crate) fn traced(self, traceparent: Option<TraceParent>) -> Self {
        Self { traceparent, ..self }
    }

    /// Where the call is in a trace.
    pub(crate) fn traceparent(&self) -> Option<TraceParent> {
        self.traceparent
    }

    /// The same for what the call makes: only what is recorded is kept.
    pub(crate) fn kept_traceparent(&self) -> Option<TraceParent> {
        self.traceparent.filter(|place| place.is_sampled())
    }

    /// The request id as text.
    pub(crate) fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// Records the matched route.
    pub(crate) fn set_route(&self, route: &MatchedPath) {
        let _ = self.route.set(route.clone());
    }

    /// Records the client that sent the request.
    pub(crate) fn set_caller(&self, caller: &Caller) {
        let _ = self.client.set(caller.client_id);
        let _ = self.mode.set(caller.mode);
    }

    /// Records the mode of the credential that the request has, or claims to have.
    pub(crate) fn set_mode(&self, mode: Mode) {
        let _ = self.mode.set(mode);
    }

    /// The mode for which the caller needs a challenge.
    pub(crate) fn mode(&self) -> Mode {
        self.mode.get().copied().unwrap_or(Mode::Sandbox)
    }

    /// Records what the route requires.
    pub(crate) fn set_access(&self, access: Access) {
        let _ = self.access.set(access);
    }

    /// What the route requires, once that was determined.
    pub(crate) fn access(&self) -> Option<Access> {
        self.access.get().copied()
    }

    /// Records the latest rate limit decision, about writes or about reads.
    pub(crate) fn set_rate(&self, write: bool, decision: Decision) {
        *self.rate.lock().unwrap_or_else(PoisonError::into_inner) = Some((write, decision));
    }

    /// See [`Context::set_rate`].
    pub(crate) fn rate(&self) -> Option<(bool, Decision)> {
        *self.rate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the base that the signature did not match.
    pub(crate) fn set_signature_base(&self, base: String) {
        let _ = self.signature_base.set(base);
    }

    /// The base that the signature did not match, without the token.
    pub(crate) fn signature_base(&self) -> Option<&str> {
        self.signature_base.get().map(String::as_str)
    }

    /// Records that the call may take effect from here on: sent again, it could be carried out twice.
    pub(crate) fn set_once(&self) {
        let _ = self.once.set(());
    }

    /// Whether the call may be sent again without knowing its outcome.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.once.get().is_none()
    }

    pub(crate) fn route(&self) -> Option<&str> {
        self.route.get().map(MatchedPath::as_str)
    }

    pub(crate) fn client(&self) -> Option<Ulid> {
        self.client.get().copied()
    }
}

/// Generates request ids, unique by a random number drawn at start and a counter.
pub(crate) struct RequestIds {
    process: u64,
    next: AtomicU64,
}

impl RequestIds {
    pub(crate) fn new(env: &Arc<dyn Env>) -> Self {
        let mut process = [0; 8];
        env.random(&mut process);
        Self { process: u64::from_be_bytes(process), next: AtomicU64::new(1) }
    }

    /// The id that the caller sent, if it is acceptable, else a new one.
    pub(crate) fn of(&self, headers: &HeaderMap) -> HeaderValue {
        match headers.get(REQUEST_ID) {
            Some(given) if acceptable(given.as_bytes()) => given.clone(),
            Some(_) | None => self.fresh(),
        }
    }

    fn fresh(&self) -> HeaderValue {
        let mut text = String::with_capacity(28);
        let _ = write!(text, "req_{:016x}{:08x}", self.process, self.next.fetch_add(1, Ordering::Relaxed));
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("req_unknown"))
    }
}

/// Accepts only what is harmless in a log, a header and a file name.
fn acceptable(id: &[u8]) -> bool {
    (1..=128).contains(&id.len()) && id.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_ids_are_taken() {
        let ids = RequestIds { process: 7, next: AtomicU64::new(1) };
        let of = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(REQUEST_ID, HeaderValue::from_str(id).unwrap());
            ids.of(&headers)
        };
        assert_eq!(of("order-17.b_2"), "order-17.b_2");
        assert_eq!(of(&"a".repeat(128)).len(), 128);
        for bad in ["", "a b", "a\"b", "a/b", &"a".repeat(129)] {
            assert!(of(bad).to_str().unwrap().starts_with("req_0000000000000007"), "{bad}");
        }
        assert_ne!(ids.fresh(), ids.fresh());
    }
}
