//! Messages between a rail and its operator, as data.

/// What to do for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Hand the call to the operator inside the gateway: run [`crate::engine::Receive`].
    Inside,
    /// Have a carrier send this request, and pass the result to [`crate::Engine::heard`].
    Http(HttpRequest),
    /// Send nothing. It is too late: an inquiry may already have been told that it never arrives. The answer is
    /// [`super::RailAnswer::Unknown`].
    TooLate,
}

/// An HTTP request to an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: &'static str,
    /// The absolute URL.
    pub url: String,
    /// Header fields, names in lower case. Values may be secret: never log them.
    pub headers: Vec<(String, String)>,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
    /// Timeout in milliseconds, including the connection.
    pub timeout_ms: u64,
    /// Whether sending it twice has the same effect as sending it once. If so, it may be sent again when the reply got lost.
    pub repeatable: bool,
}

/// An HTTP response of an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The status code.
    pub status: u16,
    /// Header fields, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The complete body.
    pub body: Vec<u8>,
}

/// The result of sending a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// No byte was sent, because no connection could be made.
    NotSent,
    /// It may have been sent, but no complete reply arrived.
    Lost,
    /// The reply.
    Answered(HttpReply),
}

/// A message that a provider sent on its own initiative.
#[derive(Debug, Clone, Copy)]
pub struct Inbound<'a> {
    /// Header fields, names in lower case.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body as received.
    pub body: &'a [u8],
    /// When it arrived, in milliseconds since 1970.
    pub now: crate::time::Millis,
}

/// A provider's report about an attempt or a reversal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// The key of the attempt or the reversal at the rail: [`crate::api::RailCall::rail_key`].
    pub rail_key: String,
    /// The answer it contains.
    pub answer: super::RailAnswer,
}

/// Why a callback is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallbackError {
    /// This kind of operator sends no callbacks.
    #[error("this rail supports no callbacks")]
    Unsupported,
    /// It cannot be authenticated as the provider's.
    #[error("the callback does not have the provider's signature")]
    Unauthenticated,
    /// It cannot be read.
    #[error("the callback cannot be read")]
    Malformed,
}
