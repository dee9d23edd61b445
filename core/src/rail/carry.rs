//! Sends requests for a program without its own queue.

use super::{Carried, HttpRequest};

/// Sends requests to operators and waits for their replies.
pub trait Carrier {
    /// Sends a request once, or again if it is [repeatable](HttpRequest::repeatable). Must not follow redirects.
    fn carry(&self, request: &HttpRequest) -> Carried;
}

/// Sends nothing: all requests count as provably not sent.
impl Carrier for () {
    fn carry(&self, _: &HttpRequest) -> Carried {
        Carried::NotSent
    }
}
