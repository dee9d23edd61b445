//! What travels between a rail and its operator, as data.

/// What to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// To the operator inside the gateway: run [`crate::engine::Receive`].
    Inside,
    /// Over HTTP: have a carrier send it, and hand what came of it to [`crate::Engine::decode`].
    Http(HttpRequest),
    /// Nothing: it is too late to leave, and whoever asks meanwhile may have been told that it never will. The answer is
    /// [`super::RailAnswer::Unknown`].
    TooLate,
}

/// A request over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// In capitals.
    pub method: &'static str,
    /// The whole URL.
    pub url: String,
    /// Names in lower case. Secrets may be among them: never log them.
    pub headers: Vec<(String, String)>,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
    /// How long the operator may take, the connection included.
    pub timeout_ms: u64,
    /// Sent twice it does no more than sent once: it may be sent again when its answer got lost.
    pub repeatable: bool,
}

/// A reply over HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpReply {
    /// The status.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, whole.
    pub body: Vec<u8>,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carried {
    /// Not a byte of it left: no connection could be made.
    NotSent,
    /// It may have left, and no whole reply came.
    Lost,
    /// The reply.
    Answered(HttpReply),
}

/// What a provider sent by itself.
#[derive(Debug, Clone, Copy)]
pub struct Inbound<'a> {
    /// Names in lower case.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body as it came.
    pub body: &'a [u8],
    /// When it came, milliseconds since 1970.
    pub now: crate::time::Millis,
}

/// What a provider said by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callback {
    /// The key under which the rail knows the attempt or the reversal: [`crate::api::RailCall::rail_key`].
    pub rail_key: String,
    /// What it says.
    pub answer: super::RailAnswer,
}

/// Why a callback is not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallbackError {
    /// This kind of operator sends none.
    #[error("this rail takes no callbacks")]
    Unsupported,
    /// It cannot be proved to come from the provider.
    #[error("the callback is not signed as the provider signs")]
    Unauthenticated,
    /// It cannot be read.
    #[error("the callback cannot be read")]
    Malformed,
}
