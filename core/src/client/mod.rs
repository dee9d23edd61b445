//! A client of the HTTP interface without its sockets: what to send, how it is signed, and what an answer means.
//!
//! The host (a command line, a phone, a browser) brings the clock, the randomness, the connection and the private key, which may
//! stay in hardware. A [`Session`] holds the conversation: the token, the challenge, the gateway's clock. An [`Exchange`] is one
//! call in it: it says step by step what to sign and to send, and at the end what is known.

mod draft;
mod exchange;
mod message;
pub mod outbox;
mod proof;
mod ticket;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::auth::{CHALLENGE_TTL_S, Outgoing, PublicKey, SignError, Stamp, TAG, TAG_NEW_KEY, UnsignedFields, prepare_fields};
use crate::ledger::Mode;
use crate::time::{Millis, parse_http_date};

use draft::Draft;
pub use exchange::{Call, Done, Exchange, Lost, RetryPolicy, SignedBy, Step, Verdict, Why};
pub use message::{Request, Response, normal_base};
pub use ticket::Snapshot;
use ticket::{CHALLENGE_MARGIN, TOKEN_MARGIN, Ticket};

/// What a session lacks before it can sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// A challenge of the server to sign.
    Challenge,
    /// An access token.
    Token,
}

/// Why a session cannot go on.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClientError {
    /// The server's address cannot be used.
    #[error("the server's address must be http:// or https://, a host, and no user, query or fragment")]
    Address,
    /// The path of a request cannot be signed.
    #[error("a path must begin with a slash and have no blank, control character or fragment in it")]
    Path,
    /// There is no challenge to sign, or no token yet.
    #[error("there is no challenge to sign, or no token yet")]
    NotReady,
    /// The key did not sign.
    #[error(transparent)]
    Sign(#[from] SignError),
}

impl ClientError {
    /// A stable name for it.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Address => "invalid_address",
            Self::Path => "invalid_path",
            Self::NotReady => "not_ready",
            Self::Sign(SignError::KeyStore(_)) => "key_store_failed",
            Self::Sign(SignError::Malformed(_)) => "malformed_signature",
            Self::Sign(SignError::Request(_)) => "unsignable_request",
        }
    }
}

/// A conversation with one server in the name of one key. There is no `Debug`: it holds a token.
#[derive(Clone)]
pub struct Session {
    base: String,
    mode: Mode,
    key: PublicKey,
    token: Option<Ticket>,
    challenge: Option<Ticket>,
    /// By how much the server's clock is ahead of the host's.
    ahead: Millis,
}

/// The parts of an answer that are read, whichever it is.
#[derive(Deserialize)]
struct Told {
    challenge: Option<String>,
    access_token: Option<String>,
    expires_in: Option<i64>,
    #[serde(default)]
    code: String,
    #[serde(default)]
    retryable: bool,
}

impl Session {
    /// A session of this key at `base`, such as `https://pay.example.com`, the address that the server calls its own.
    ///
    /// # Errors
    /// [`ClientError::Address`].
    pub fn new(base: &str, mode: Mode, key: PublicKey) -> Result<Self, ClientError> {
        let base = normal_base(base).ok_or(ClientError::Address)?;
        Ok(Self { base, mode, key, token: None, challenge: None, ahead: 0 })
    }

    /// The server's address as it is signed: no slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Whether real money moves.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The public half of the session's key.
    pub fn public_key(&self) -> PublicKey {
        self.key
    }

    /// What to keep between two runs of the host. It holds the token: keep it as safe as a password.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.token.as_ref(), self.challenge.as_ref())
    }

    /// Takes up what an earlier run kept.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        (self.token, self.challenge) = snapshot.tickets();
    }

    /// What to fetch before a call can be signed. `authenticated` is false for calls that carry no token.
    fn needs(&self, now: Millis, authenticated: bool) -> Option<Need> {
        let live = |ticket: &Option<Ticket>| ticket.as_ref().is_some_and(|ticket| now < ticket.renew_at);
        if !live(&self.challenge) {
            return Some(Need::Challenge);
        }
        (authenticated && !live(&self.token)).then_some(Need::Token)
    }

    /// Asks for a challenge; not to be signed.
    fn challenge_request(&self) -> Request {
        Request::post("/api/v1/auth/challenges", format!(r#"{{"environment":"{}"}}"#, self.mode.as_str()))
    }

    /// Asks for a token that may do everything the key may, or only `scope`. To be signed, without a token.
    pub fn token_request(&self, scope: Option<&str>) -> Request {
        let body = scope.map_or_else(|| "{}".to_owned(), |scope| format!(r#"{{"scope":{}}}"#, quoted(scope)));
        Request::post("/api/v1/auth/tokens", body)
    }

    /// Enrols the session's key as a new sandbox client. To be signed, without a token.
    pub fn enroll_request(&self, name: &str) -> Request {
        let body = format!(r#"{{"jwk":{},"client_name":{}}}"#, self.public_key().jwk(), quoted(name));
        Request::post("/api/v1/auth/enrollments", body)
    }

    /// Asks for live access with a key of its own. To be signed by both keys, without a token.
    pub fn enroll_live_request(&self, key: &PublicKey) -> Request {
        Request::post("/api/v1/auth/enrollments", format!(r#"{{"jwk":{},"environment":"live"}}"#, key.jwk()))
    }

    /// A request that lacks its signature: with the token if it is `authenticated`, the digest of its body, and a nonce that begins
    /// with the challenge and ends in `random`, which is never used twice.
    fn draft(&self, request: Request, authenticated: bool, now: Millis, random: [u8; 16]) -> Result<Draft, ClientError> {
        let request = self.with_token(request, authenticated)?;
        let fields = self.unsigned(&request, &self.key, ("sig1", TAG), now, random)?;
        Ok(Draft { request, fields })
    }

    /// The second signature of a request that brings `key`, a new one; to be made by that. `request` is what the draft of the
    /// first came to.
    fn draft_of_new_key(&self, request: Request, key: &PublicKey, now: Millis, random: [u8; 16]) -> Result<Draft, ClientError> {
        let fields = self.unsigned(&request, key, ("sig2", TAG_NEW_KEY), now, random)?;
        Ok(Draft { request, fields })
    }

    fn with_token(&self, mut request: Request, authenticated: bool) -> Result<Request, ClientError> {
        request.remove(&["authorization", "content-digest", "signature-input", "signature"]);
        if authenticated {
            let token = self.token.as_ref().ok_or(ClientError::NotReady)?;
            request.headers.push(("authorization".to_owned(), format!("Bearer {}", token.text)));
        }
        Ok(request)
    }

    fn unsigned(
        &self,
        request: &Request,
        key: &PublicKey,
        (label, tag): (&str, &str),
        now: Millis,
        random: [u8; 16],
    ) -> Result<UnsignedFields, ClientError> {
        if !request.path.starts_with('/') || request.path.bytes().any(|b| b <= b' ' || b == 0x7f || b == b'#') {
            return Err(ClientError::Path);
        }
        let challenge = self.challenge.as_ref().ok_or(ClientError::NotReady)?;
        let nonce = format!("{}.{}", challenge.text, URL_SAFE_NO_PAD.encode(random));
        let created = now.saturating_add(self.ahead).div_euclid(1000);
        let target_uri = format!("{}{}", self.base, request.path);
        let earlier = |name: &str| matches!(name, "signature" | "signature-input");
        let fields: Vec<(&str, &[u8])> =
            request.headers.iter().filter(|(name, _)| !earlier(name)).map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
        let outgoing = Outgoing { method: &request.method, target_uri: &target_uri, fields: &fields, body: &request.body };
        Ok(prepare_fields(key, &outgoing, &Stamp { created, nonce: &nonce, tag, label })?)
    }

    /// Learns from any answer: a fresh challenge, the end of a token, the server's clock.
    ///
    /// True if the call was refused before anything was done and the same call, signed anew, may be taken. Try once.
    fn hear(&mut self, answer: &Response<'_>, now: Millis) -> bool {
        let code = if answer.status >= 400 { told(answer.body).map(|told| told.code).unwrap_or_default() } else { String::new() };
        match code.as_str() {
            // The server's header may hold one for another environment; asking for one cannot go wrong.
            "challenge_expired" | "challenge_invalid" => self.challenge = None,
            "token_expired" | "token_invalid" => self.token = None,
            "clock_skew" => {
                let Some(theirs) = answer.header("date").and_then(parse_http_date) else { return false };
                self.ahead = theirs - now;
            }
            _ => {
                let stale = self.challenge.as_ref().is_none_or(|challenge| challenge.is_half_over(now));
                if let Some(fresh) = answer.header("signature-challenge").filter(|_| stale) {
                    self.challenge = Some(Ticket::new(fresh, now, CHALLENGE_TTL_S, CHALLENGE_MARGIN));
                }
                return false;
            }
        }
        true
    }

    /// Learns the challenge or the token from the 2xx to a request that asked for one, or enrolled. False if it cannot be read.
    fn learn(&mut self, answer: &Response<'_>, now: Millis) -> bool {
        match told(answer.body) {
            Some(Told { access_token: Some(text), expires_in: Some(life), .. }) => {
                self.token = Some(Ticket::new(&text, now, life, TOKEN_MARGIN));
                true
            }
            Some(Told { challenge: Some(text), expires_in: Some(life), .. }) => {
                self.challenge = Some(Ticket::new(&text, now, life, CHALLENGE_MARGIN));
                true
            }
            Some(Told { challenge, access_token, .. }) => challenge.is_none() && access_token.is_none(),
            None => false,
        }
    }
}

/// As JSON. A text always serialises.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Whether a call to this path carries the token: all do, but those that bring a first one.
pub fn carries_token(path: &str) -> bool {
    let path = path.split('?').next().unwrap_or(path);
    !["/api/v1/auth/challenges", "/api/v1/auth/enrollments", "/api/v1/auth/tokens"].contains(&path)
}

fn told(body: &[u8]) -> Option<Told> {
    // As text: a module for browsers has a reader of that, and need not have another.
    serde_json::from_str(std::str::from_utf8(body).ok()?).ok()
}

#[cfg(test)]
mod tests;
