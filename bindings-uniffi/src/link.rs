//! Sends one call to the gateway and takes its response, as directed by an [`Exchange`].
//!
//! Every attempt carries its own `x-request-id`, and a response counts only if it repeats it: a response to an earlier attempt
//! or another call, or one made up by an intermediary, is ignored. No lock is held while the app's code runs.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant as Moment;

use railgate::auth::PublicKey;
use railgate::client::outbox::Heard;
use railgate::client::{Call, Done, Exchange, Lost, Request, Response, RetryPolicy, Session, SignedBy, Step, Verdict, Why, carries_token};
use railgate::ledger::Mode;
use railgate::time::{Millis, parse_http_date};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::beside::Beside;
use crate::error::{FieldProblem, GatewayError, Problem};
use crate::host::{HttpHeader, HttpRequest, HttpResponse, HttpTransport, Signer, SignerError, TransportError};
use crate::measured::{Measured, Took};
use crate::signing::public_key;

/// The number of attempts of a repeatable call.
pub(crate) const TRIES: u32 = 5;
const REQUEST_ID: &str = "x-request-id";

fn patience(tries: u32) -> RetryPolicy {
    RetryPolicy { tries, timeout_ms: 30_000, pause_ms: 1_000, longest_pause_ms: 30_000, unconnected: true }
}

/// Whether a 2xx is a response to the call. One type for all calls: the library has the code that carries them out once.
pub(crate) type Answers = dyn Fn(&HttpResponse) -> bool + Send + Sync;

/// Work that is awaited, as one type for each result: what awaits it is then small, and there are many of those.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// How a call ended.
pub(crate) struct Ended {
    pub(crate) verdict: Verdict,
    /// The last response, or why there is none.
    pub(crate) last: Result<HttpResponse, GatewayError>,
}

impl Ended {
    /// The parsed body of a successful response, or the error.
    pub(crate) fn read<T: DeserializeOwned>(self) -> Result<T, GatewayError> {
        match &self.last {
            Ok(answer) if self.verdict == Verdict::Answered => read(answer),
            Ok(_) | Err(_) => Err(self.error()),
        }
    }

    /// The gateway's own response to the call, whatever its status, or the error.
    pub(crate) fn response(self) -> Result<HttpResponse, GatewayError> {
        match (self.verdict, self.last) {
            (Verdict::Answered | Verdict::Refused | Verdict::Open, Ok(answer)) => Ok(answer),
            (verdict, last) => Err(Self { verdict, last }.error()),
        }
    }

    /// The body of a successful response, or the error.
    pub(crate) fn bytes(self) -> Result<Vec<u8>, GatewayError> {
        match (self.verdict, self.last) {
            (Verdict::Answered, Ok(answer)) => Ok(answer.body),
            (verdict, last) => Err(Self { verdict, last }.error()),
        }
    }

    /// The error of a call that did not succeed.
    pub(crate) fn error(self) -> GatewayError {
        let problem = match self.last {
            Ok(answer) => problem_of(&answer),
            Err(error) if matches!(error, GatewayError::Storage { .. }) => return error,
            Err(error) if self.verdict == Verdict::NotDone => return error.not_sent(),
            Err(error) => error.problem().clone(),
        };
        let problem = Problem { not_sent: self.verdict == Verdict::NotDone, ..problem };
        // A gateway that cannot grant a token at the moment has not refused the call.
        let refuses = problem.code != UNREADABLE && problem.status.is_some_and(|status| status < 500);
        match self.verdict {
            Verdict::Refused => GatewayError::Refused { problem },
            Verdict::NotDone if refuses => GatewayError::Refused { problem },
            Verdict::Answered | Verdict::NotDone | Verdict::Open | Verdict::InDoubt => {
                GatewayError::Unanswered { problem: Problem { retryable: true, ..problem } }
            }
        }
    }
}

/// A key that is not yet enrolled.
pub(crate) struct NewKey {
    pub(crate) public: PublicKey,
    signer: Arc<dyn Signer>,
}

impl NewKey {
    pub(crate) fn new(signer: Arc<dyn Signer>) -> Result<Self, GatewayError> {
        Ok(Self { public: public_key_of(&*signer)?, signer })
    }
}

/// The public key of the app's signer.
pub(crate) fn public_key_of(signer: &dyn Signer) -> Result<PublicKey, GatewayError> {
    let bytes = signer.public_key().map_err(|error| GatewayError::unsigned(error.to_string()))?;
    public_key(&bytes).ok_or_else(|| GatewayError::unsignable("the public key is neither a P-256 nor an Ed25519 key"))
}

/// The key, gateway and environment that a session belongs to.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// The key's RFC 7638 thumbprint.
    key_id: String,
    /// The gateway's public address.
    base: String,
    environment: String,
}

impl Place {
    fn of(session: &Session) -> Self {
        let (key_id, environment) = (session.public_key().id().to_string(), session.mode().as_str().to_owned());
        Self { key_id, base: session.base().to_owned(), environment }
    }
}

/// The state that an app stores between two runs.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Kept {
    /// Absent in texts of an earlier version, which lack parts of it.
    #[serde(flatten)]
    place: Option<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<String>,
    session: railgate::client::Snapshot,
}

struct State {
    session: Session,
    /// Never changes once set: an outbox may have been opened for this client.
    client_id: Option<String>,
    /// The end user whose device this is, once it has enrolled as one.
    user: Option<String>,
}

/// The common part of the responses to an enrolment and a token request.
#[derive(Deserialize)]
struct Granted {
    client_id: String,
}

/// The connection to a gateway on behalf of one key, and what is sent beside its calls.
pub(crate) struct Link {
    line: Arc<Line>,
    beside: Beside,
}

/// The connection itself.
struct Line {
    state: Mutex<State>,
    transport: Arc<dyn HttpTransport>,
    signer: Arc<dyn Signer>,
    measured: Measured,
}

/// Milliseconds since 1970 by the device's clock.
pub(crate) fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX))
}

pub(crate) fn random<const N: usize>() -> Result<[u8; N], GatewayError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| GatewayError::unsigned(format!("the device has no randomness: {error}")))?;
    Ok(bytes)
}

/// A name that nobody else uses.
pub(crate) fn unique_name() -> Result<String, GatewayError> {
    Ok(random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Link {
    pub(crate) fn new(session: Session, transport: Arc<dyn HttpTransport>, signer: Arc<dyn Signer>) -> Self {
        let (state, measured) = (Mutex::new(State { session, client_id: None, user: None }), Measured::default());
        Self { line: Arc::new(Line { state, transport, signer, measured }), beside: Beside::default() }
    }

    /// A connection to the same gateway on behalf of another key.
    pub(crate) fn of_new_key(&self, key: &NewKey, mode: Mode) -> Result<Self, GatewayError> {
        let session = Session::new(&self.session(|session| session.base().to_owned()), mode, key.public)?;
        Ok(Self::new(session, self.line.transport.clone(), key.signer.clone()))
    }

    /// What is measured of its calls.
    pub(crate) fn measured(&self) -> &Measured {
        &self.line.measured
    }

    /// Reads or changes the session.
    pub(crate) fn session<T>(&self, look: impl FnOnce(&mut Session) -> T) -> T {
        self.line.session(look)
    }

    pub(crate) fn client_id(&self) -> Option<String> {
        self.line.state().client_id.clone()
    }

    /// The end user whose device this is, as far as that is known.
    pub(crate) fn user(&self) -> Option<String> {
        self.line.state().user.clone()
    }

    /// The key enrolled as that of a device of this end user.
    pub(crate) fn is_of_user(&self, user: &str) {
        self.line.state().user = Some(user.to_owned());
    }

    /// The state to store between two runs, as JSON.
    pub(crate) fn keep(&self) -> String {
        let state = self.line.state();
        let kept = Kept {
            place: Some(Place::of(&state.session)),
            client_id: state.client_id.clone(),
            user: state.user.clone(),
            session: state.session.snapshot().without_session(),
        };
        // All members are texts: this cannot fail.
        serde_json::to_string(&kept).unwrap_or_default()
    }

    /// Restores the state of an earlier run if it belongs to the same key, gateway and environment. Another key may belong to
    /// another client: the entries of an outbox would then be sent on behalf of a second client and paid twice. And another
    /// gateway must not see this one's token.
    pub(crate) fn restore(&self, text: &str) -> Result<(), GatewayError> {
        let kept: Kept = serde_json::from_str(text)
            .map_err(|_| GatewayError::invalid(Problem::local("session_malformed", "the stored session cannot be read")))?;
        let mut state = self.line.state();
        if kept.place != Some(Place::of(&state.session)) {
            return Ok(());
        }
        state.session.restore(&kept.session);
        (state.client_id, state.user) = (kept.client_id, kept.user);
        Ok(())
    }

    /// Waits, using the app's timer.
    pub(crate) async fn pause(&self, ms: Millis) -> Result<(), GatewayError> {
        self.line.transport.pause(u64::try_from(ms).unwrap_or(0)).await.map_err(|error| unanswered(&error))
    }

    /// Executes a call in at most `tries` attempts. `answers` tells whether a 2xx is a response to this call.
    pub(crate) fn carry<'a>(&'a self, call: Call, tries: u32, answers: &'a Answers) -> Boxed<'a, Ended> {
        Box::pin(async move {
            let (subject, since, mut took) = (self.measured().subject(call.request()), Moment::now(), Took::default());
            if self.measured().is_due() {
                let line = &self.line;
                self.beside.begin(|| {
                    let line = Arc::clone(line);
                    Box::pin(async move { line.report().await.map_or((), drop) })
                });
            }
            let driven = self.line.drive(Exchange::new(call, patience(tries)), None, answers, &mut took);
            let ended = self.beside.during(driven).await;
            if let Some(subject) = subject {
                self.measured().ended(subject, ended.verdict, &took, since.elapsed());
            }
            ended
        })
    }

    /// Sends everything that was measured; returns how many points.
    pub(crate) async fn send_measured(&self) -> Result<u64, GatewayError> {
        // The same points are sent again, and count once.
        self.beside.end();
        let mut sent = 0;
        loop {
            match self.line.report().await? {
                0 => return Ok(sent),
                count => sent += count,
            }
        }
    }

    /// [`Link::carry`], for a call whose response is JSON of this type.
    pub(crate) fn call<T: DeserializeOwned>(&self, call: Call, tries: u32) -> Boxed<'_, Result<T, GatewayError>> {
        Box::pin(async move { self.carry(call, tries, &|answer| read::<T>(answer).is_ok()).await.read() })
    }

    /// Executes a call that enrols a new key, which signs it too. One attempt is enough: if the key is already enrolled, an earlier
    /// call succeeded.
    pub(crate) async fn carry_with(&self, new: &NewKey, request: Request) -> Ended {
        let exchange = Exchange::new(Call::new(request).with_new_key(new.public), patience(1));
        self.line.drive(exchange, Some(new), &|_| true, &mut Took::default()).await
    }

    /// Makes a public call, without signature and token.
    pub(crate) async fn call_unsigned(&self, request: Request) -> Ended {
        let last = self.line.send(request, patience(1).timeout_ms).await.map_err(|(_, error)| error);
        let success = last.as_ref().is_ok_and(|answer| (200..300).contains(&answer.status));
        Ended { verdict: if success { Verdict::Answered } else { Verdict::NotDone }, last }
    }

    /// Requests a token; its response names the client that the key belongs to.
    pub(crate) async fn identify(&self) -> Result<String, GatewayError> {
        let request = self.session(|session| session.token_request(None));
        let Granted { client_id } = self.carry(Call::new(request), 1, &|_| true).await.read()?;
        Ok(client_id)
    }
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn session<T>(&self, look: impl FnOnce(&mut Session) -> T) -> T {
        look(&mut self.state().session)
    }

    /// Sends the points that wait; returns how many.
    async fn report(&self) -> Result<u64, GatewayError> {
        let Some((request, ids)) = self.measured.report() else { return Ok(0) };
        let exchange = Exchange::new(Call::new(request), patience(1));
        let ended = self.drive(exchange, None, &|_| true, &mut Took::default()).await;
        let error = (ended.verdict != Verdict::Answered).then(|| ended.error());
        self.measured.reported(&ids, error.as_ref());
        error.map_or(Ok(ids.len() as u64), Err)
    }

    /// Carries out an exchange, whose signatures and tries are counted.
    async fn drive(&self, mut exchange: Exchange, new: Option<&NewKey>, answers: &Answers, took: &mut Took) -> Ended {
        let mut last = Err(GatewayError::unanswered(UNREADABLE, "the gateway's challenges and tokens are unusable"));
        loop {
            let random = random().unwrap_or_else(|error| {
                last = Err(error);
                exchange.stop();
                [0; 48]
            });
            match self.session(|session| exchange.next(session, now(), random)) {
                Step::Sign { by, message } => {
                    let signer = new.filter(|_| by == SignedBy::NewKey).map_or(&self.signer, |new| &new.signer);
                    let asked = Moment::now();
                    let signature = signer.sign(message).await;
                    took.signing += asked.elapsed();
                    match signature {
                        Ok(signature) => exchange.signed(&signature),
                        Err(SignerError::Unavailable { detail }) => {
                            last = Err(GatewayError::unsigned(detail));
                            exchange.stop();
                        }
                    }
                }
                Step::Send { request, timeout_ms, prepares } => {
                    took.tries += u32::from(!prepares);
                    let grants = new.is_none() && !carries_token(&request.method, &request.path);
                    match self.send(request, timeout_ms).await {
                        Ok(answer) if (200..300).contains(&answer.status) && !prepares && !answers(&answer) => {
                            last = Err(unreadable("the gateway's response cannot be read"));
                            exchange.lost(Lost::Garbled);
                        }
                        // The token is discarded, so that nothing is sent on behalf of the other client.
                        Ok(answer) if grants && !self.knows_client_of(&answer) => {
                            last = Err(other_client());
                            exchange.stop();
                        }
                        Ok(answer) => {
                            self.session(|session| with_answer(&answer, |answer| exchange.answered(session, answer, now())));
                            last = Ok(answer);
                        }
                        Err((lost, error)) => {
                            last = Err(error);
                            exchange.lost(lost);
                        }
                    }
                }
                Step::Pause(ms) => {
                    if let Err(error) = self.transport.pause(ms).await {
                        last = Err(unanswered(&error));
                        exchange.stop();
                    }
                }
                Step::Done(Done { verdict, why, .. }) => {
                    return Ended { verdict, last: if let Why::Unsigned(error) = why { Err(error.into()) } else { last } };
                }
            }
        }
    }

    /// Sends one request unchanged.
    async fn send(&self, request: Request, timeout_ms: u64) -> Result<HttpResponse, (Lost, GatewayError)> {
        let id = unique_name().map_err(|error| (Lost::NotSent, error))?;
        let mut headers: Vec<_> = request.headers.into_iter().map(|(name, value)| HttpHeader { name, value }).collect();
        headers.push(HttpHeader { name: REQUEST_ID.to_owned(), value: id.clone() });
        let url = format!("{}{}", self.session(|session| session.base().to_owned()), request.path);
        let target = format!("{} {url}", request.method);
        let answer = self.transport.send(HttpRequest { method: request.method, url, headers, body: request.body, timeout_ms }).await;
        self.measured.connected(!matches!(answer, Err(TransportError::NotSent { .. })));
        let answer = answer.map_err(|error| match error {
            TransportError::NotSent { detail } => {
                (Lost::NotSent, unanswered(&TransportError::NotSent { detail: format!("{target}: {detail}") }))
            }
            TransportError::NoAnswer { detail } => {
                (Lost::NoAnswer, unanswered(&TransportError::NoAnswer { detail: format!("{target}: {detail}") }))
            }
        })?;
        let echo = answer.headers.iter().find(|header| header.name.eq_ignore_ascii_case(REQUEST_ID));
        if echo.is_none_or(|header| header.value != id) {
            let error = GatewayError::unanswered("answer_to_another_call", "the response is not the gateway's to this call");
            return Err((Lost::Garbled, error));
        }
        Ok(answer)
    }

    /// Whether a response grants something to this connection's client. The first such response determines the client.
    fn knows_client_of(&self, answer: &HttpResponse) -> bool {
        let granted = parse::<Granted>(&answer.body).ok().filter(|_| (200..300).contains(&answer.status));
        let Some(Granted { client_id }) = granted else { return true };
        *self.state().client_id.get_or_insert_with(|| client_id.clone()) == client_id
    }
}

/// The key belongs to another client or end user than the state stored on this device.
pub(crate) fn other_client() -> GatewayError {
    let detail = "the key belongs to another client or end user than the stored session and the outbox; continue without them";
    GatewayError::Storage { problem: Problem::local("storage_owner", detail) }
}

fn with_answer<T>(answer: &HttpResponse, look: impl FnOnce(&Response<'_>) -> T) -> T {
    let headers: Vec<_> = answer.headers.iter().map(|header| (header.name.as_str(), header.value.as_str())).collect();
    look(&Response { status: answer.status, headers: &headers, body: &answer.body })
}

/// A response in the outbox's terms.
pub(crate) fn answer_heard(answer: &HttpResponse) -> Heard<'_> {
    let date = answer.headers.iter().find(|header| header.name.eq_ignore_ascii_case("date"));
    Heard::Response { status: answer.status, body: &answer.body, date: date.and_then(|date| parse_http_date(&date.value)) }
}

fn unanswered(error: &TransportError) -> GatewayError {
    match error {
        TransportError::NotSent { detail } => GatewayError::unanswered("not_connected", detail.clone()),
        TransportError::NoAnswer { detail } => GatewayError::unanswered("no_answer", detail.clone()),
    }
}

const UNREADABLE: &str = "answer_unreadable";

fn unreadable(detail: impl Into<String>) -> GatewayError {
    GatewayError::unanswered(UNREADABLE, detail)
}

/// Parses the body of a 2xx.
pub(crate) fn read<T: DeserializeOwned>(answer: &HttpResponse) -> Result<T, GatewayError> {
    // Success without a body.
    view(if answer.status == 204 { b"null" } else { answer.body.as_slice() })
}

/// Parses a view.
pub(crate) fn view<T: DeserializeOwned>(body: &[u8]) -> Result<T, GatewayError> {
    parse(body).map_err(|error| unreadable(format!("the gateway's response cannot be read: {error}")))
}

/// Parses JSON, always as text: the library then has one parser for each type.
pub(crate) fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, String> {
    let text = std::str::from_utf8(body).map_err(|error| error.to_string())?;
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// A problem document.
#[derive(Deserialize)]
pub(crate) struct Told {
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

/// The problem document of an error response.
fn problem_of(answer: &HttpResponse) -> Problem {
    let status = Some(answer.status);
    let Ok(told) = parse::<Told>(&answer.body) else {
        let detail = format!("the response with status {} cannot be read", answer.status);
        return Problem { status, ..Problem::passing(UNREADABLE, detail) };
    };
    told.problem(status)
}

impl Told {
    pub(crate) fn problem(self, status: Option<u16>) -> Problem {
        let Self { code, detail, retryable, request_id, errors } = self;
        Problem { code, detail, retryable, problems: errors, status, request_id, not_sent: false }
    }
}
