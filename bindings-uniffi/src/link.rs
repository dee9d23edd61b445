//! Carrying one call to the gateway and its answer back, as [`Session`] says: challenge, token, signature.
//!
//! Every try bears an `x-request-id` of its own, and an answer counts only if it bears the same: one that was meant for an
//! earlier try or for another call, or that something in between made up, is no answer. No lock is held while the app's code
//! runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use railgate::auth::PublicKey;
use railgate::client::outbox::Heard;
use railgate::client::{Answer, Draft, Drafted, Request, Session, carries_token};
use railgate::ledger::Mode;
use railgate::time::{Millis, parse_http_date};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{FieldProblem, GatewayError, Problem};
use crate::host::{HttpHeader, HttpRequest, HttpResponse, HttpTransport, Signer, SignerError, TransportError};
use crate::signing::public_key;

/// How long an answer may take, beyond what the call itself asks the gateway to wait.
const PATIENCE_MS: u64 = 30_000;
/// A gateway grants a challenge and a token; what has not made a session ready by then never will.
const MOST_NEEDS: usize = 4;
const REQUEST_ID: &str = "x-request-id";

/// A call that was not answered.
pub(crate) struct Lost {
    pub(crate) error: GatewayError,
    /// The call itself may have left.
    pub(crate) left: bool,
}

/// A key that the gateway does not know yet.
pub(crate) struct NewKey {
    pub(crate) public: PublicKey,
    signer: Arc<dyn Signer>,
}

impl NewKey {
    pub(crate) fn new(signer: Arc<dyn Signer>) -> Result<Self, GatewayError> {
        Ok(Self { public: public_key_of(&*signer)?, signer })
    }
}

/// The public half of the app's key.
pub(crate) fn public_key_of(signer: &dyn Signer) -> Result<PublicKey, GatewayError> {
    let bytes = signer.public_key().map_err(|error| GatewayError::unsigned(error.to_string()))?;
    public_key(&bytes).ok_or_else(|| GatewayError::unsignable("the public key is neither of P-256 nor of Ed25519"))
}

/// Whose session it is, and where.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// The thumbprint of the key.
    key_id: String,
    /// The gateway's address.
    base: String,
    environment: String,
}

impl Place {
    fn of(session: &Session) -> Self {
        let (key_id, environment) = (session.public_key().id().to_string(), session.mode().as_str().to_owned());
        Self { key_id, base: session.base().to_owned(), environment }
    }
}

/// What an app keeps between two runs.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// Texts of an earlier version do not say all of it.
    #[serde(flatten)]
    place: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    session: railgate::client::Snapshot,
}

struct State {
    session: Session,
    /// Never becomes another: an outbox was opened in this name.
    client_id: Option<String>,
}

/// What comes with an enrolment or a token.
#[derive(Deserialize)]
struct Granted {
    client_id: String,
}

/// A gateway, in the name of one key.
pub(crate) struct Link {
    state: Mutex<State>,
    transport: Arc<dyn HttpTransport>,
    signer: Arc<dyn Signer>,
}

/// Milliseconds since 1970 by the device's clock.
pub(crate) fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX))
}

fn random() -> Result<[u8; 16], GatewayError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| GatewayError::unsigned(format!("the device has no randomness: {error}")))?;
    Ok(bytes)
}

impl Link {
    pub(crate) fn new(session: Session, transport: Arc<dyn HttpTransport>, signer: Arc<dyn Signer>) -> Self {
        Self { state: Mutex::new(State { session, client_id: None }), transport, signer }
    }

    /// The same gateway in the name of another key.
    pub(crate) fn of_new_key(&self, key: &NewKey, mode: Mode) -> Result<Self, GatewayError> {
        let session = Session::deferred(&self.session(|session| session.base().to_owned()), mode, key.public)?;
        Ok(Self::new(session, self.transport.clone(), key.signer.clone()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at the session, or changes it.
    pub(crate) fn session<T>(&self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(&mut self.state().session)
    }

    pub(crate) fn client_id(&self) -> Option<String> {
        self.state().client_id.clone()
    }

    /// What to keep between two runs.
    pub(crate) fn keep(&self) -> String {
        let state = self.state();
        let kept = Kept { place: Some(Place::of(&state.session)), client_id: state.client_id.clone(), session: state.session.snapshot() };
        // Text alone: this cannot fail.
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// Takes up what an earlier run kept of this key, at this gateway and in this environment. Another key's session says nothing
    /// about whose this one is: what an outbox holds would be sent in the name of a second client, and be paid twice. And another
    /// gateway must not see this one's token.
    pub(crate) fn restore(&self, text: &str) -> Result<(), GatewayError> {
        let kept: Kept = serde_json::from_str(text)
            .map_err(|_| GatewayError::invalid(Problem::local("session_malformed", "the kept session cannot be read")))?;
        let mut state = self.state();
        if kept.place != Some(Place::of(&state.session)) {
            return Ok(());
        }
        state.session.restore(&kept.session);
        state.client_id = kept.client_id;
        Ok(())
    }

    /// Waits, as the app can.
    pub(crate) async fn pause(&self, ms: Millis) -> Result<(), GatewayError> {
        self.transport.pause(u64::try_from(ms).unwrap_or(0)).await.map_err(|error| unanswered(&error))
    }

    /// Signs a call, sends it and gives the answer; once more if it was refused for its challenge or token alone. `wait_s`:
    /// how long the gateway is asked to wait.
    pub(crate) async fn call(&self, request: Request, wait_s: u32) -> Result<HttpResponse, Lost> {
        self.call_bringing(None, request, wait_s).await
    }

    /// The same for a call that brings a new key, which signs it too.
    pub(crate) async fn call_bringing(&self, new: Option<&NewKey>, request: Request, wait_s: u32) -> Result<HttpResponse, Lost> {
        let mut left = false;
        let answer = self.once(new, &request, wait_s, &mut left).await.map_err(|error| Lost { error, left })?;
        if !self.hear(&answer) {
            return Ok(answer);
        }
        left = false;
        let answer = self.once(new, &request, wait_s, &mut left).await.map_err(|error| Lost { error, left })?;
        self.hear(&answer);
        Ok(answer)
    }

    /// A call that everybody may make.
    pub(crate) async fn call_unsigned(&self, request: Request) -> Result<HttpResponse, GatewayError> {
        self.exchange(request, 0, &mut false).await
    }

    async fn once(&self, new: Option<&NewKey>, request: &Request, wait_s: u32, left: &mut bool) -> Result<HttpResponse, GatewayError> {
        let authenticated = carries_token(&request.path);
        self.ready(authenticated).await?;
        let one = random()?;
        let draft = self.session(|session| session.draft(request.clone(), authenticated, now(), one))?;
        let mut signed = signed(&*self.signer, draft).await?;
        if let Some(new) = new {
            let another = random()?;
            let draft = self.session(|session| session.draft_of_new_key(signed, &new.public, now(), another))?;
            signed = self::signed(&*new.signer, draft).await?;
        }
        self.exchange(signed, wait_s, left).await
    }

    /// Fetches the challenge and the token that are needed.
    async fn ready(&self, authenticated: bool) -> Result<(), GatewayError> {
        for _ in 0..MOST_NEEDS {
            let (at, random) = (now(), random()?);
            let prepare = |session: &mut Session| session.needs(at, authenticated).map(|need| session.prepare_draft(need, at, random));
            let request = match self.session(prepare).transpose()? {
                None => return Ok(()),
                Some(Drafted::Plain(request)) => request,
                Some(Drafted::Sign(draft)) => signed(&*self.signer, draft).await?,
            };
            let answer = self.exchange(request, 0, &mut false).await?;
            if answer.status >= 400 && !self.hear(&answer) {
                return Err(refusal(&answer));
            }
            if answer.status < 400 {
                self.learn(&answer)?;
            }
        }
        Err(GatewayError::unanswered("answer_unreadable", "the gateway's challenges and tokens are of no use"))
    }

    /// Sends one request as it is. `left` becomes true if it may have left.
    async fn exchange(&self, request: Request, wait_s: u32, left: &mut bool) -> Result<HttpResponse, GatewayError> {
        let id: String = random()?.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut headers: Vec<_> = request.headers.into_iter().map(|(name, value)| HttpHeader { name, value }).collect();
        headers.push(HttpHeader { name: REQUEST_ID.to_owned(), value: id.clone() });
        let url = format!("{}{}", self.session(|session| session.base().to_owned()), request.path);
        let timeout_ms = PATIENCE_MS + u64::from(wait_s) * 1_000;
        *left = true;
        let answer = self.transport.send(HttpRequest { method: request.method, url, headers, body: request.body, timeout_ms }).await;
        let answer = answer.map_err(|error| {
            *left = !matches!(error, TransportError::NotSent { .. });
            unanswered(&error)
        })?;
        let echo = answer.headers.iter().find(|header| header.name.eq_ignore_ascii_case(REQUEST_ID));
        if echo.is_none_or(|header| header.value != id) {
            return Err(GatewayError::unanswered("answer_to_another_call", "what came back is not the gateway's answer to this call"));
        }
        Ok(answer)
    }

    fn hear(&self, answer: &HttpResponse) -> bool {
        self.session(|session| with_answer(answer, |answer| session.hear(answer, now())))
    }

    /// Learns what an answer grants, and to whom.
    pub(crate) fn learn(&self, answer: &HttpResponse) -> Result<(), GatewayError> {
        let granted = serde_json::from_slice::<Granted>(&answer.body).ok().filter(|_| (200..300).contains(&answer.status));
        let mut state = self.state();
        if let (Some(known), Some(granted)) = (&state.client_id, &granted)
            && *known != granted.client_id
        {
            // Its token is not taken up either: nothing leaves in the other's name.
            return Err(other_client());
        }
        with_answer(answer, |answer| state.session.learn(answer, now()))?;
        if let Some(Granted { client_id }) = granted {
            state.client_id = Some(client_id);
        }
        Ok(())
    }

    /// Takes a token, which says whose the key is.
    pub(crate) async fn identify(&self) -> Result<String, GatewayError> {
        let request = self.session(|session| session.token_request(None));
        let answer = self.call(request, 0).await.map_err(|lost| lost.error)?;
        let Granted { client_id } = read(&answer)?;
        self.learn(&answer)?;
        Ok(client_id)
    }
}

/// The key is another client's than what this device keeps.
pub(crate) fn other_client() -> GatewayError {
    let detail = "the key is another client's than the kept session and the outbox are; go on without them";
    GatewayError::Storage { problem: Problem::local("storage_owner", detail) }
}

async fn signed(signer: &dyn Signer, draft: Draft) -> Result<Request, GatewayError> {
    let signature = signer.sign(draft.to_sign().to_vec()).await;
    let signature = signature.map_err(|SignerError::Unavailable { detail }| GatewayError::unsigned(detail))?;
    Ok(draft.finish(&signature)?)
}

fn with_answer<T>(answer: &HttpResponse, look: impl FnOnce(&Answer<'_>) -> T) -> T {
    let headers: Vec<_> = answer.headers.iter().map(|header| (header.name.as_str(), header.value.as_str())).collect();
    look(&Answer { status: answer.status, headers: &headers, body: &answer.body })
}

/// What an answer is to the outbox.
pub(crate) fn answer_heard(answer: &HttpResponse) -> Heard<'_> {
    let date = answer.headers.iter().find(|header| header.name.eq_ignore_ascii_case("date"));
    Heard::Answer { status: answer.status, body: &answer.body, date: date.and_then(|date| parse_http_date(&date.value)) }
}

fn unanswered(error: &TransportError) -> GatewayError {
    match error {
        TransportError::NotSent { detail } => GatewayError::unanswered("not_connected", detail.clone()),
        TransportError::NoAnswer { detail } => GatewayError::unanswered("no_answer", detail.clone()),
    }
}

/// The answer's document, or why there is none.
pub(crate) fn read<T: DeserializeOwned>(answer: &HttpResponse) -> Result<T, GatewayError> {
    match answer.status {
        // Done, and nothing to say.
        204 => serde_json::from_slice(b"null").map_err(|error| GatewayError::unanswered("answer_unreadable", error.to_string())),
        200..=299 => serde_json::from_slice(&answer.body)
            .map_err(|error| GatewayError::unanswered("answer_unreadable", format!("the gateway's answer cannot be read: {error}"))),
        _ => Err(refusal(answer)),
    }
}

#[derive(Deserialize)]
struct Told {
    code: String,
    #[serde(default)]
    detail: String,
    #[serde(default)]
    retryable: bool,
    #[serde(default)]
    request_id: Option<String>,
    #[serde(default)]
    errors: Vec<FieldProblem>,
}

/// The problem that an answer is. Where it does not prove that nothing was done, the call counts as one without an answer.
pub(crate) fn refusal(answer: &HttpResponse) -> GatewayError {
    let Ok(told) = serde_json::from_slice::<Told>(&answer.body) else {
        return GatewayError::unanswered("answer_unreadable", format!("the answer with status {} cannot be read", answer.status));
    };
    let Told { code, detail, retryable, request_id, errors } = told;
    let certain = match answer.status {
        400..=499 => code != "nonce_replayed" && code != "request_in_progress",
        _ => matches!(code.as_str(), "no_route" | "not_logged_yet"),
    };
    let problem = Problem { code, detail, retryable, problems: errors, status: Some(answer.status), request_id };
    if certain { GatewayError::Refused { problem } } else { GatewayError::Unanswered { problem: Problem { retryable: true, ..problem } } }
}
