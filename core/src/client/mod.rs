//! A client of the HTTP interface without its sockets: what to send, how it is signed, and what an answer means.
//!
//! The host (a command line, a phone, a browser) brings the clock, the randomness, the connection and, as a
//! [`Signer`], the private key, which may stay in hardware. One call goes like this:
//!
//! ```text
//! while let Some(need) = session.needs(now, true) {          // a challenge, a token, or nothing
//!     let answer = send(session.prepare(need, now, random)?);
//!     session.learn(&answer, now)?;
//! }
//! let answer = send(session.sign(request.clone(), true, now, random)?);
//! if session.hear(&answer, now) {                            // refused before anything was done:
//!     …the same once more, with another signature
//! }
//! ```
//!
//! A key that signs asynchronously, as a browser's does, signs [`Draft`]s: [`Session::deferred`].
//!
//! Lost answers are a different matter: whether to send a call again depends on the call, so the host decides.

mod deferred;
mod message;
pub mod outbox;
mod ticket;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::auth::{CHALLENGE_TTL_S, Outgoing, PublicKey, SignError, Signer, Stamp, UnsignedFields, prepare_fields};
use crate::ledger::Mode;
use crate::time::{Millis, parse_http_date};

pub use deferred::{Draft, Drafted};
pub use message::{Answer, Request, normal_base};
pub use ticket::Snapshot;
use ticket::{CHALLENGE_MARGIN, TOKEN_MARGIN, Ticket};

/// What a session lacks before it can sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
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
    /// [`Session::needs`] was not asked.
    #[error("there is no challenge to sign, or no token yet")]
    NotReady,
    /// The key did not sign.
    #[error(transparent)]
    Sign(#[from] SignError),
    /// The server did not grant what the session needs.
    #[error("the server answered {status} {code}")]
    Refused {
        /// The answer's status.
        status: u16,
        /// The problem's code; empty if it has none.
        code: String,
    },
    /// The server's answer is not what the interface promises.
    #[error("the server's answer cannot be read")]
    Unreadable,
}

impl ClientError {
    /// A stable name for it: the server's own where the server refused.
    pub fn code(&self) -> &str {
        match self {
            Self::Address => "invalid_address",
            Self::Path => "invalid_path",
            Self::NotReady => "not_ready",
            Self::Sign(SignError::KeyStore(_)) => "key_store_failed",
            Self::Sign(SignError::Malformed(_)) => "malformed_signature",
            Self::Sign(SignError::Request(_)) => "unsignable_request",
            Self::Refused { code, .. } if !code.is_empty() => code,
            Self::Refused { .. } => "refused",
            Self::Unreadable => "unreadable_answer",
        }
    }
}

/// A conversation with one server in the name of one key. There is no `Debug`: it holds a token.
#[derive(Clone)]
pub struct Session {
    base: String,
    mode: Mode,
    signer: Arc<dyn Signer>,
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
}

impl Session {
    /// A session at `base`, such as `https://pay.example.com`, the address that the server calls its own.
    ///
    /// # Errors
    /// [`ClientError::Address`].
    pub fn new(base: &str, mode: Mode, signer: Arc<dyn Signer>) -> Result<Self, ClientError> {
        let base = normal_base(base).ok_or(ClientError::Address)?;
        Ok(Self { base, mode, signer, token: None, challenge: None, ahead: 0 })
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
        self.signer.public_key()
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
    pub fn needs(&self, now: Millis, authenticated: bool) -> Option<Need> {
        let live = |ticket: &Option<Ticket>| ticket.as_ref().is_some_and(|ticket| now < ticket.renew_at);
        if !live(&self.challenge) {
            return Some(Need::Challenge);
        }
        (authenticated && !live(&self.token)).then_some(Need::Token)
    }

    /// The request that fetches what is needed, ready to be sent. `random` is never used twice.
    ///
    /// # Errors
    /// As [`Session::sign`].
    pub fn prepare(&self, need: Need, now: Millis, random: [u8; 16]) -> Result<Request, ClientError> {
        match need {
            Need::Challenge => Ok(self.challenge_request()),
            Need::Token => self.sign(self.token_request(None), false, now, random),
        }
    }

    /// Asks for a challenge; not to be signed.
    pub fn challenge_request(&self) -> Request {
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

    /// Adds what makes `request` a signed one: the token if it is `authenticated`, the digest of its body, and a
    /// signature over a nonce that begins with the challenge and ends in `random`, which is never used twice.
    ///
    /// # Errors
    /// [`ClientError::NotReady`] if something is needed first, [`ClientError::Path`], [`ClientError::Sign`].
    pub fn sign(&self, request: Request, authenticated: bool, now: Millis, random: [u8; 16]) -> Result<Request, ClientError> {
        let draft = self.draft(request, authenticated, now, random)?;
        draft.finish(&self.signer.sign(draft.to_sign())?)
    }

    /// The same for a request that brings a new key, which signs too.
    ///
    /// # Errors
    /// As [`Session::sign`].
    pub fn sign_with_new_key(
        &self,
        request: Request,
        authenticated: bool,
        new_key: &dyn Signer,
        now: Millis,
        random: [[u8; 16]; 2],
    ) -> Result<Request, ClientError> {
        let request = self.sign(request, authenticated, now, random[0])?;
        let draft = self.draft_of_new_key(request, &new_key.public_key(), now, random[1])?;
        draft.finish(&new_key.sign(draft.to_sign())?)
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
    /// True if the call was refused before anything was done, and the same call may succeed with a new signature. Retry once.
    pub fn hear(&mut self, answer: &Answer<'_>, now: Millis) -> bool {
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

    /// Learns the challenge or the token from the answer to a request that asked for one, or enrolled.
    ///
    /// # Errors
    /// [`ClientError::Refused`], [`ClientError::Unreadable`].
    pub fn learn(&mut self, answer: &Answer<'_>, now: Millis) -> Result<(), ClientError> {
        self.hear(answer, now);
        let told = told(answer.body);
        if !(200..300).contains(&answer.status) {
            return Err(ClientError::Refused { status: answer.status, code: told.map(|told| told.code).unwrap_or_default() });
        }
        match told {
            Some(Told { access_token: Some(text), expires_in: Some(life), .. }) => {
                self.token = Some(Ticket::new(&text, now, life, TOKEN_MARGIN));
            }
            Some(Told { challenge: Some(text), expires_in: Some(life), .. }) => {
                self.challenge = Some(Ticket::new(&text, now, life, CHALLENGE_MARGIN));
            }
            Some(Told { challenge: None, access_token: None, .. }) => {}
            Some(_) | None => return Err(ClientError::Unreadable),
        }
        Ok(())
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
    serde_json::from_slice(body).ok()
}

#[cfg(test)]
mod tests;
