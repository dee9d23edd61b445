//! What is known of one request while it is answered.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use axum::extract::MatchedPath;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use railgate::env::Env;
use railgate::ids::Ulid;

/// Names a request, in its answer and in the log.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Travels with the request, so that whoever answers can tell the front what it found out.
#[derive(Debug)]
pub(crate) struct Context {
    /// The request's id.
    pub(crate) id: HeaderValue,
    route: OnceLock<MatchedPath>,
    client: OnceLock<Ulid>,
}

impl Context {
    pub(crate) fn new(id: HeaderValue) -> Self {
        Self { id, route: OnceLock::new(), client: OnceLock::new() }
    }

    /// The id as text.
    pub(crate) fn id(&self) -> &str {
        self.id.to_str().unwrap_or_default()
    }

    /// The request goes to this route.
    pub(crate) fn set_route(&self, route: &MatchedPath) {
        let _ = self.route.set(route.clone());
    }

    /// The request comes from this client.
    pub(crate) fn set_client(&self, client: Ulid) {
        let _ = self.client.set(client);
    }

    pub(crate) fn route(&self) -> Option<&str> {
        self.route.get().map(MatchedPath::as_str)
    }

    pub(crate) fn client(&self) -> Option<Ulid> {
        self.client.get().copied()
    }
}

/// Makes request ids: unique by a number drawn at start and a counter.
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

    /// The id that the caller gave, if it is one, else a new one.
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

/// Only what is harmless in a log, a header and a file name.
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
