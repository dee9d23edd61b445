//! Messages between a rail and its operator, as data.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::RailAnswer;
use crate::money::Currency;
use crate::participant::Participant;
use crate::route::ProviderSpec;
use crate::time::Millis;

/// What a rail makes its requests of, besides the call.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// The provider.
    pub provider: &'a ProviderSpec,
    /// The access token, if the rail [asks for one](super::Rail::token_request).
    pub token: Option<&'a AccessToken>,
    /// Where the operator may report what becomes of the attempt or the reversal: an address of its own that nobody can guess. `None`
    /// if the gateway has no public address.
    pub callback_url: Option<&'a str>,
    /// The request, as its rail made it, that the reply to be decoded answers; `None` while there is no reply.
    pub asked: Option<&'a HttpRequest>,
    /// The current time, in milliseconds since 1970.
    pub now: Millis,
}

/// What lets a rail's requests in at an operator. Debugging does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// The token.
    pub secret: Zeroizing<String>,
    /// For how many milliseconds it is valid.
    pub lifetime_ms: Millis,
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AccessToken(valid for {} ms)", self.lifetime_ms)
    }
}

/// A payee, before a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payee {
    /// The participant.
    pub to: Participant,
    /// The currency of the payment.
    pub currency: Currency,
}

/// What a reply leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard<T> {
    /// The answer.
    Answer(T),
    /// The next request.
    Ask(HttpRequest),
}

/// What to do for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Hand the call to the operator inside the gateway: run [`crate::engine::Receive`].
    Inside,
    /// Send this request.
    Http(HttpRequest),
    /// Send nothing: the answer is known without asking.
    Known(RailAnswer),
}

/// An HTTP request to an operator.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: &'static str,
    /// The absolute URL.
    pub url: String,
    /// Header fields, names in lower case. Values may be secret: never log them.
    pub headers: Vec<(String, String)>,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
    /// Timeout in milliseconds, including the connection. The provider's own takes its place.
    pub timeout_ms: u64,
    /// How long making the connection may take, in milliseconds, if the provider says.
    pub connect_ms: Option<u64>,
    /// Whether sending it twice has the same effect as sending it once. If so, it may be sent again when the reply got lost.
    pub repeatable: bool,
    /// No byte of it may leave after this moment of [`Env::steady`](crate::env::Env::steady): by then an inquiry may prove that it
    /// never arrived. A carrier checks this as the last thing before it writes.
    pub leave_by: Option<Millis>,
    /// Whether the gateway signs it (RFC 9421) with the key that its receipts are signed with.
    pub signed: bool,
    /// How to know the operator and to be known by it, beyond what the system trusts.
    pub tls: Option<Arc<Tls>>,
}

/// Time that a request has, unless its rail or its provider says otherwise.
const TIMEOUT_MS: u64 = 20_000;

impl HttpRequest {
    /// A request without header fields and body. A `GET` may be repeated, all others must not.
    pub fn new(method: &'static str, url: impl Into<String>) -> Self {
        Self {
            method,
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout_ms: TIMEOUT_MS,
            connect_ms: None,
            repeatable: method == "GET",
            leave_by: None,
            signed: false,
            tls: None,
        }
    }

    /// Adds a header field; its name is in lower case.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Adds the access token, if there is one.
    #[must_use]
    pub fn bearer(self, token: Option<&AccessToken>) -> Self {
        match token {
            Some(token) => self.header("authorization", format!("Bearer {}", token.secret.as_str())),
            None => self,
        }
    }

    /// Sets the body.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Sets a JSON body, and says that it is one.
    #[must_use]
    pub fn json(self, body: &serde_json::Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }
}

impl fmt::Debug for HttpRequest {
    /// Shows neither header values nor the body, which may have secrets and personal data.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpRequest({} with {} header fields, {} bytes)", self.method, self.headers.len(), self.body.len())
    }
}

/// Certificates of a provider, all in PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Tls {
    /// The authorities that vouch for the operator, instead of those that the system trusts.
    pub authorities: Option<String>,
    /// The gateway's own certificates and their private key, if the operator wants to know who calls.
    pub identity: Option<(String, Zeroizing<String>)>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tls(own authorities: {}, identity: {})", self.authorities.is_some(), self.identity.is_some())
    }
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
    /// No byte was sent, because it was [too late](HttpRequest::leave_by).
    Late,
    /// It may have been sent, but no complete reply arrived.
    Lost,
    /// The reply.
    Answered(HttpReply),
}

impl HttpReply {
    /// The value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The body, if it is JSON.
    pub fn json(&self) -> Option<serde_json::Value> {
        serde_json::from_slice(&self.body).ok()
    }
}

/// Whether a text is an http or https address without user name, query and fragment.
pub(crate) fn is_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
    host.is_some_and(|host| !host.is_empty() && !host.contains('@')) && !text.contains(['?', '#', ' '])
}

/// A message that a provider sent on its own initiative.
#[derive(Debug, Clone, Copy)]
pub struct Inbound<'a> {
    /// The key that the address says it is about, if the address is one of those that the gateway [handed out](Link::callback_url).
    pub rail_key: Option<&'a str>,
    /// Whence it came, if that is known.
    pub source: Option<std::net::IpAddr>,
    /// Header fields, names in lower case.
    pub headers: &'a [(&'a str, &'a str)],
    /// The body as received.
    pub body: &'a [u8],
    /// When it arrived, in milliseconds since 1970.
    pub now: Millis,
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
