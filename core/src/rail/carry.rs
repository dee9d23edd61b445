//! Who carries requests for a program without a queue of its own.

use super::{Carried, HttpRequest};

/// Sends requests to operators and waits for their replies.
pub trait Carrier {
    /// Sends it once, or again where it is [repeatable](HttpRequest::repeatable). No redirect is followed.
    fn carry(&self, request: &HttpRequest) -> Carried;
}

/// Carries nothing: whatever would travel was provably not sent.
impl Carrier for () {
    fn carry(&self, _: &HttpRequest) -> Carried {
        Carried::NotSent
    }
}
