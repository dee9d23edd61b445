//! A client for the HTTP API without its sockets: what to send, how to sign it, and what a response means.
//!
//! The host (a command line, a phone, a browser) provides the clock, the randomness, the connection and the private key, which may
//! stay in hardware. It carries out each [`Step`] and reports the result:
//!
//! ```
//! use railgate::auth::{Signer as _, SoftwareKey};
//! use railgate::client::{Call, Exchange, Request, Response, RetryPolicy, Session, Step, Verdict};
//! use railgate::ledger::Mode;
//! # use railgate::env::{Env as _, ManualEnv};
//!
//! # /// A server with canned answers.
//! # fn send(request: &Request) -> &'static [u8] {
//! #     match request.path.as_str() {
//! #         "/api/v1/auth/challenges" => br#"{"challenge":"c1.a.b","expires_in":300}"#,
//! #         "/api/v1/auth/tokens" => br#"{"access_token":"rg_sandbox_t","expires_in":900}"#,
//! #         _ => br#"{"data":[]}"#,
//! #     }
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let env = ManualEnv::new(1_795_257_497_042, 1);
//! # let random = || {
//! #     let mut random = [0; 48];
//! #     env.random(&mut random);
//! #     random
//! # };
//! # let secret = [7; 32];
//! let key = SoftwareKey::ed25519(&secret);
//! let mut session = Session::new("https://pay.example", Mode::Sandbox, key.public_key())?;
//! let policy = RetryPolicy { tries: 3, timeout_ms: 30_000, pause_ms: 250, longest_pause_ms: 20_000, unconnected: true };
//! let mut exchange = Exchange::new(Call::new(Request::new("GET", "/api/v1/gateway/balances")).repeatable(), policy);
//! let mut sent = Vec::new();
//! let done = loop {
//!     match exchange.next(&mut session, env.now(), random()) {
//!         Step::Sign { message, .. } => exchange.signed(&key.sign(&message)?),
//!         Step::Send { request, .. } => {
//!             let body = send(&request);
//!             exchange.answered(&mut session, &Response { status: 200, headers: &[], body }, env.now());
//!             sent.push(request.path);
//!         }
//!         Step::Pause(ms) => std::thread::sleep(std::time::Duration::from_millis(ms)),
//!         Step::Done(done) => break done,
//!     }
//! };
//! assert_eq!(done.verdict, Verdict::Answered);
//! // The session fetched what the call needs. The next call finds both there.
//! assert_eq!(sent, ["/api/v1/auth/challenges", "/api/v1/auth/tokens", "/api/v1/gateway/balances"]);
//! # Ok(())
//! # }
//! ```
//!
//! A [`Session`] keeps the state between calls: the token, the challenge, the gateway's clock. An [`Exchange`] is one call within it.
//! A connection that breaks is reported with [`Exchange::lost`], a key that does not sign with [`Exchange::stop`]. The host keeps the
//! last response itself; [`Done`] says what it proves.
//!
//! Three rules hold regardless of the network:
//!
//! - **Only a [repeatable](Call::repeatable) call is sent twice**, unless the gateway proved that it did nothing because it refused
//!   the challenge, the token or the time of the signature. Every try has its own signature.
//! - **Unknown is never refused.** The refusal of a later try proves nothing about an earlier one whose response was lost: the
//!   gateway may have carried that one out, or it may still be in flight. Only a reference that belongs to somebody else, or a key
//!   that is already registered, settles all tries.
//! - **Every exchange ends**: tries, and the fetches for each try, are counted.

mod draft;
mod exchange;
mod message;
pub mod outbox;
mod proof;
mod ticket;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::api::DeviceEnrollBody;
use crate::auth::{
    CHALLENGE_TTL_S, EphemeralKey, Outgoing, PublicKey, SESSION_ALGORITHM, SessionBinding, SessionId, SessionKey, SignError, Stamp, TAG,
    TAG_NEW_KEY, X25519Secret, prepare_fields, sign_in_session,
};
use crate::ledger::Mode;
use crate::terms::SessionUse;
use crate::time::{Millis, parse_http_date};

use draft::Draft;
pub use exchange::{Call, Done, Exchange, Lost, RetryPolicy, SignedBy, Step, Verdict, Why};
pub use message::{Request, Response, normal_base};
pub use ticket::Snapshot;
use ticket::{CHALLENGE_MARGIN, TOKEN_MARGIN, Ticket};

/// What a session lacks before it can sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    /// A challenge from the server.
    Challenge,
    /// An access token.
    Token,
}

/// Why a session cannot sign a request.
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
    /// The stable name of the error.
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

/// A client's state towards one server, on behalf of one key. It has no `Debug` because it contains a token.
#[derive(Clone)]
pub struct Session {
    base: String,
    mode: Mode,
    key: PublicKey,
    token: Option<Ticket>,
    /// The key of the token's session, and which calls it may sign.
    shared: Option<(SessionKey, SessionUse)>,
    challenge: Option<Ticket>,
    /// How far the server's clock is ahead of the host's, in milliseconds.
    ahead: Millis,
}

/// The members of a response that are read, of whatever kind it is.
#[derive(Deserialize)]
struct Told {
    challenge: Option<String>,
    access_token: Option<String>,
    expires_in: Option<i64>,
    session: Option<ToldSession>,
    #[serde(default)]
    code: String,
    #[serde(default)]
    retryable: bool,
}

/// The gateway's half of a session. What a later gateway says that this one cannot use must not hide the token beside it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ToldSession {
    key_id: String,
    jwk: ToldKey,
    alg: String,
    signs: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToldKey {
    crv: String,
    x: String,
}

/// Random bytes for one step of an [`Exchange`], never to be used again: 16 for a nonce, which is sent, and 32 for a secret.
pub type Random = [u8; 48];

impl Session {
    /// A session for this key at `base`, such as `https://pay.example.com`: the address that the server has for itself.
    ///
    /// # Errors
    /// [`ClientError::Address`].
    pub fn new(base: &str, mode: Mode, key: PublicKey) -> Result<Self, ClientError> {
        let base = normal_base(base).ok_or(ClientError::Address)?;
        // Paths begin with it: whoever gives the address of the API means the server's.
        let base = base.strip_suffix("/api/v1").map(str::to_owned).unwrap_or(base);
        Ok(Self { base, mode, key, token: None, shared: None, challenge: None, ahead: 0 })
    }

    /// The server's address in the form that is signed, without a trailing slash.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// The environment, live or sandbox.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// The public half of the session's key.
    pub fn public_key(&self) -> PublicKey {
        self.key
    }

    /// What to keep between two runs of the host. It contains the token, and the key of its session, with which others could do for some
    /// minutes what a session may: protect it like a password, or leave that key out with [`Snapshot::without_session`].
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self.token.as_ref(), self.shared.as_ref(), self.challenge.as_ref())
    }

    /// Restores what an earlier run kept.
    pub fn restore(&mut self, snapshot: &Snapshot) {
        let before = self.token.take();
        (self.token, self.challenge) = snapshot.tickets();
        let is_as_before = self.token.as_ref().zip(before.as_ref()).is_some_and(|(now, before)| now.text == before.text);
        self.shared = snapshot.session().or(self.shared.filter(|_| is_as_before));
    }

    /// What to fetch before a call can be signed. `authenticated` is false for calls without a token.
    fn needs(&self, now: Millis, authenticated: bool) -> Option<Need> {
        let live = |ticket: &Option<Ticket>| ticket.as_ref().is_some_and(|ticket| now < ticket.renew_at);
        if !live(&self.challenge) {
            return Some(Need::Challenge);
        }
        (authenticated && !live(&self.token)).then_some(Need::Token)
    }

    /// A request for a challenge; sent unsigned.
    fn challenge_request(&self) -> Request {
        Request::post("/api/v1/auth/challenges", format!(r#"{{"environment":"{}"}}"#, self.mode.as_str()))
    }

    /// A request for a token with all scopes of the key, or only `scope`. Must be signed; carries no token.
    pub fn token_request(&self, scope: Option<&str>) -> Request {
        let body = scope.map_or_else(|| "{}".to_owned(), |scope| format!(r#"{{"scope":{}}}"#, quoted(scope)));
        Request::post("/api/v1/auth/tokens", body)
    }

    /// A request for a token with all scopes of the key, and for a session.
    fn session_request(&self, ephemeral: &EphemeralKey) -> Request {
        Request::post("/api/v1/auth/tokens", format!(r#"{{"session":{{"jwk":{}}}}}"#, ephemeral.jwk()))
    }

    /// The key of the session that may sign this call, if there is one.
    fn shared_for(&self, request: &Request) -> Option<SessionKey> {
        let reads = reads(&request.method);
        let itself = BY_KEY.iter().any(|prefix| request.path.starts_with(prefix));
        let (key, signs) = self.shared?;
        (signs.allows(!reads) && (reads || !itself)).then_some(key)
    }

    /// A request that enrols the session's key as a new sandbox client, with the code of an operator's invitation if the gateway
    /// requires one. Must be signed; carries no token.
    pub fn enroll_request(&self, name: &str, invitation: Option<&str>) -> Request {
        let invitation = invitation.map(|code| format!(r#","invitation":{}"#, quoted(code))).unwrap_or_default();
        let body = format!(r#"{{"jwk":{},"client_name":{}{invitation}}}"#, self.public_key().jwk(), quoted(name));
        Request::post("/api/v1/auth/enrollments", body)
    }

    /// A request for live access with a separate key. Must be signed by both keys; carries no token.
    pub fn enroll_live_request(&self, key: &PublicKey) -> Request {
        Request::post("/api/v1/auth/enrollments", format!(r#"{{"jwk":{},"environment":"live"}}"#, key.jwk()))
    }

    /// The request that enrols the session's key as an operator's, with the code of an invitation.
    pub fn enroll_operator_request(&self, code: &str, name: Option<&str>) -> Request {
        let name = name.map(|name| format!(r#","name":{}"#, quoted(name))).unwrap_or_default();
        Request::post(OPERATOR_ENROLMENT, format!(r#"{{"code":{},"jwk":{}{name}}}"#, quoted(code), self.public_key().jwk()))
    }

    /// The request that enrols the session's key, whatever `body` has as its key, as that of an end user's device. Must be signed; carries
    /// no token.
    pub fn enroll_device_request(&self, mut body: DeviceEnrollBody) -> Request {
        body.jwk = (&self.public_key()).into();
        Request::post(DEVICES, serde_json::to_string(&body).unwrap_or_default())
    }

    /// A request ready for signing: with the token if `authenticated`, the digest of its body, and a nonce that starts with the
    /// challenge and ends with `random`, which must never be used twice.
    fn draft(&self, request: Request, authenticated: bool, now: Millis, random: [u8; 16]) -> Result<Draft, ClientError> {
        let request = self.with_token(request, authenticated)?;
        let fields = self.stamped(&request, ("sig1", TAG), now, random, |outgoing, stamp| prepare_fields(&self.key, outgoing, stamp))?;
        Ok(Draft { request, fields })
    }

    /// A request with the token, signed with the key of the session.
    fn signed_in_session(&self, request: Request, shared: &SessionKey, now: Millis, random: [u8; 16]) -> Result<Request, ClientError> {
        let mut request = self.with_token(request, true)?;
        let fields = self.stamped(&request, ("sig1", TAG), now, random, |outgoing, stamp| sign_in_session(shared, outgoing, stamp))?;
        request.add(fields);
        Ok(request)
    }

    /// The draft of the second signature, made by `key`, on a request that registers that key. `request` already has the first
    /// signature.
    fn draft_of_new_key(&self, request: Request, key: &PublicKey, now: Millis, random: [u8; 16]) -> Result<Draft, ClientError> {
        let fields = self.stamped(&request, ("sig2", TAG_NEW_KEY), now, random, |outgoing, stamp| prepare_fields(key, outgoing, stamp))?;
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

    fn stamped<T>(
        &self,
        request: &Request,
        (label, tag): (&str, &str),
        now: Millis,
        random: [u8; 16],
        sign: impl FnOnce(&Outgoing<'_>, &Stamp<'_>) -> Result<T, SignError>,
    ) -> Result<T, ClientError> {
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
        Ok(sign(&outgoing, &Stamp { created, nonce: &nonce, tag, label })?)
    }

    /// Learns from any response: a fresh challenge, the end of a token, the server's clock.
    ///
    /// Returns true if the call was refused before anything was done and may succeed if signed again. Retry only once.
    fn hear(&mut self, answer: &Response<'_>, now: Millis) -> bool {
        let code = if answer.status >= 400 { told(answer.body).map(|told| told.code).unwrap_or_default() } else { String::new() };
        match code.as_str() {
            // The challenge in the server's header may be for another environment; requesting one is always right.
            "challenge_expired" | "challenge_invalid" => self.challenge = None,
            "token_expired" | "token_invalid" => (self.token, self.shared) = (None, None),
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

    /// Whether a call that was signed in the session `id` was refused for that: then the key itself signs it, and all others until the next
    /// token.
    fn needs_key(&mut self, id: SessionId, answer: &Response<'_>) -> bool {
        let code = told(answer.body).map(|told| told.code).unwrap_or_default();
        let refused = answer.status == 401 && matches!(code.as_str(), "signature_key_required" | "key_unknown" | "signature_invalid");
        // Another call may have begun the next session meanwhile.
        if refused && self.shared.is_some_and(|(key, _)| key.id == id) {
            self.shared = None;
        }
        refused
    }

    /// Learns the challenge or token from the 2xx response to a request for one, or to an enrolment. Returns false if it cannot be
    /// read. A request for a session sent the public half of `ephemeral`.
    fn learn(&mut self, answer: &Response<'_>, ephemeral: Option<&X25519Secret>, now: Millis) -> bool {
        match told(answer.body) {
            Some(Told { access_token: Some(text), expires_in: Some(life), session, .. }) => {
                self.shared = ephemeral.zip(session).and_then(|(ours, theirs)| self.agreed(&text, ours, &theirs));
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

    /// The key on which both sides have agreed; `None` if the gateway's half is not usable, and then the key itself signs.
    fn agreed(&self, token: &str, ours: &X25519Secret, theirs: &ToldSession) -> Option<(SessionKey, SessionUse)> {
        let signs = theirs.signs.as_deref().map_or(Some(SessionUse::by_default(self.mode)), SessionUse::from_name)?;
        let is_known = theirs.alg == SESSION_ALGORITHM && theirs.jwk.crv == "X25519";
        let public = URL_SAFE_NO_PAD.decode(&theirs.jwk.x).ok().filter(|_| is_known)?.try_into().ok()?;
        let session = SessionId::parse(&theirs.key_id)?;
        let bound = SessionBinding { token, mode: self.mode, key: self.key.id(), session };
        Some((bound.derive(&*ours.agree(&public)?), signs))
    }
}

/// Reading twice does no harm.
fn reads(method: &str) -> bool {
    matches!(method, "GET" | "HEAD")
}

/// `text` as a JSON string. Serialising a string cannot fail.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

/// Where operators enrol.
const OPERATOR_ENROLMENT: &str = "/api/v1/operator/enrollments";
/// Where devices enrol, and where they are listed.
const DEVICES: &str = "/api/v1/mobile/devices";
/// Where changes are signed by the key itself, whatever a session may sign.
const BY_KEY: [&str; 6] =
    ["/api/v1/auth/", "/api/v1/operator/", DEVICES, "/api/v1/mobile/approvals/", "/api/v1/mobile/users", "/api/v1/mobile/enrollment-codes"];

/// Whether such a call carries the token: all do, except those that obtain the first one.
pub fn carries_token(method: &str, path: &str) -> bool {
    let path = path.split('?').next().unwrap_or(path);
    let enrols = path == DEVICES && method == "POST";
    !enrols && !["/api/v1/auth/challenges", "/api/v1/auth/enrollments", "/api/v1/auth/tokens", OPERATOR_ENROLMENT].contains(&path)
}

fn told(body: &[u8]) -> Option<Told> {
    // Read as text: the browser module already contains a parser for text, and this avoids a second one.
    serde_json::from_str(std::str::from_utf8(body).ok()?).ok()
}

#[cfg(test)]
mod tests;
