//! Calls to a server on behalf of a profile: every call is signed, tokens are renewed when needed, and what is safe to
//! repeat is repeated when the connection breaks.

use std::sync::Arc;
use std::time::Duration;

use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use railgate::auth::Signer;
use railgate::client::{self, Call, Exchange, Lost, Request, RetryPolicy, SignedBy, Step, Verdict, Why};
use railgate::time::Millis;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{ANSWER, ApiResponse, Ask, Http, NoAnswer, Stream};
use super::problem::{refused, unanswered};
use super::profile::{Profile, ProfileFile};
use super::terminal::note;

/// The default address of the server.
pub(crate) const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
/// Sends once. Whether to send it again is the user's decision.
const ONCE: RetryPolicy = RetryPolicy {
    tries: 1,
    timeout_ms: ANSWER.as_millis() as u64,
    pause_ms: 250,
    longest_pause_ms: 30_000,
    // Nothing runs at that address: waiting would only hide a typing mistake. Unless it was there a moment ago.
    unconnected: false,
};
/// Retries until there is a response, for about a minute. A server that wants a pause longer than the longest is reported.
const FOR_A_MINUTE: RetryPolicy = RetryPolicy { tries: 9, ..ONCE };
/// Retries for as long as it takes.
const FOR_EVER: RetryPolicy = RetryPolicy { tries: u32::MAX, unconnected: true, ..ONCE };
/// Headers that the signature sets itself.
pub(crate) const SIGNED_HEADERS: [&str; 4] = ["authorization", "content-digest", "signature-input", "signature"];
/// Further headers that it covers.
const COVERED: [HeaderName; 2] = [CONTENT_TYPE, HeaderName::from_static("idempotency-key")];

/// A server, and the client's identity there.
pub(crate) struct Session {
    http: Http,
    file: ProfileFile,
    identity: Option<Identity>,
}

/// A profile and its signer.
struct Identity {
    profile: Profile,
    key: Arc<dyn Signer>,
    api: client::Session,
}

/// A call in flight.
pub(crate) struct Running {
    ask: Ask,
    exchange: Exchange,
    /// The key that the call introduces.
    new_key: Option<Arc<dyn Signer>>,
    /// The last result, of the call or of what it needs.
    last: Result<ApiResponse, NoAnswer>,
}

/// The next step of a call in flight.
pub(crate) enum Next {
    /// Send this signed request; the response may take this long.
    Send(Box<Ask>, Duration),
    /// Wait this long.
    Pause(Duration),
    /// The call is over.
    Done(client::Done),
}

/// How a call ended.
pub(crate) struct Ended {
    /// What is known about its outcome.
    pub(crate) verdict: Verdict,
    /// The last result.
    pub(crate) last: Result<ApiResponse, NoAnswer>,
}

impl Running {
    /// The end of a call that is over. A server that cannot be used at all becomes a failure.
    pub(crate) fn ended(self, done: client::Done) -> Done<Ended> {
        let stranger = |what: &str| Failure::new(what).hint("is this the address of a railgate server?");
        match (done.verdict, done.why) {
            (_, Why::Unsigned(error)) => Err(Failure::caused("the call cannot be signed", error)),
            (Verdict::NotDone, Why::NotReady) => Err(stranger("the server's challenges and tokens expire before they can be used")),
            (Verdict::NotDone, Why::Unreadable) if self.last.as_ref().is_ok_and(|answer| answer.status.is_success()) => {
                Err(stranger("the server's response cannot be read"))
            }
            (verdict, _) => Ok(Ended { verdict, last: self.last }),
        }
    }

    /// Why there is no response.
    pub(crate) fn reason(&self) -> String {
        reason(&self.last)
    }
}

fn reason(last: &Result<ApiResponse, NoAnswer>) -> String {
    match last {
        Ok(answer) => format!("the server answered {}", answer.status.as_u16()),
        Err(NoAnswer::NotSent(cause) | NoAnswer::Lost(cause)) => cause.clone(),
    }
}

impl Session {
    /// A session of the profile, which must exist.
    pub(crate) fn open(global: &Global) -> Done<Self> {
        let session = Self::open_anonymous(global)?;
        match session.profile() {
            None => Err(session.file.missing()),
            Some(profile) if profile.enrolling => Err(session.file.unfinished()),
            Some(_) => Ok(session),
        }
    }

    /// A session of the profile if it exists, else an anonymous one.
    pub(crate) fn open_anonymous(global: &Global) -> Done<Self> {
        let file = ProfileFile::named(&global.profile)?;
        let profile = file.load()?;
        Self::of(global, file, profile)
    }

    /// A session of a profile that was just read or made.
    pub(crate) fn of(global: &Global, file: ProfileFile, profile: Option<Profile>) -> Done<Self> {
        let server = global.server.as_deref().or(profile.as_ref().map(|p| p.server.as_str())).unwrap_or(DEFAULT_SERVER).to_owned();
        let server = server.as_str();
        let Some(profile) = profile else {
            return Ok(Self { http: Http::new(server, &global.wire())?, file, identity: None });
        };
        // First, so that a wrong address is explained by the HTTP client.
        let http = Http::new(server, &global.wire())?;
        let key = profile.key()?;
        let opened = |server: &str| client::Session::new(server, profile.mode(), key.public_key());
        let mut api = opened(server).map_err(|error| Failure::usage(error.to_string()))?;
        // A token is valid only at its own server, and no other may see it.
        let same = opened(&profile.server).is_ok_and(|old| old.base() == api.base());
        if same {
            api.restore(&profile.snapshot());
        }
        Ok(Self { http, file, identity: Some(Identity { profile, key, api }) })
    }

    /// The profile's file.
    pub(crate) fn file(&self) -> &ProfileFile {
        &self.file
    }

    /// The profile, if there is one.
    pub(crate) fn profile(&self) -> Option<&Profile> {
        self.identity.as_ref().map(|identity| &identity.profile)
    }

    /// Changes the profile and saves it.
    pub(crate) fn update(&mut self, change: impl FnOnce(&mut Profile)) -> Done {
        let Some(identity) = &mut self.identity else { return Ok(()) };
        change(&mut identity.profile);
        identity.profile.keep(identity.api.snapshot());
        self.file.save(&identity.profile, true)
    }

    /// The server's address.
    pub(crate) fn server(&self) -> &str {
        self.http.base()
    }

    /// The connections to the server.
    pub(crate) fn http(&self) -> &Http {
        &self.http
    }

    /// The signing session, if there is a profile.
    pub(crate) fn api(&self) -> Option<&client::Session> {
        self.identity.as_ref().map(|identity| &identity.api)
    }

    /// Sends a request once; twice if it was refused before anything was done because a token or a challenge had expired.
    /// Returns any response.
    pub(crate) async fn exchange(&mut self, ask: Ask) -> Done<Ended> {
        if self.identity.is_none() {
            // Without a profile there is nothing to sign with.
            let last = self.http.send(&ask, ANSWER + ask.patience).await?;
            return Ok(Ended { verdict: Verdict::Answered, last });
        }
        let running = self.begin_once(ask)?;
        self.drive(running, |_, _| {}).await
    }

    /// Like [`Session::exchange`], for a call that introduces a new key, which signs too.
    pub(crate) async fn exchange_with_new_key(&mut self, ask: Ask, new_key: Arc<dyn Signer>) -> Done<Ended> {
        let running = self.begin(ask, ONCE, Some(new_key))?;
        self.drive(running, |_, _| {}).await
    }

    /// Begins a call that is carried out once.
    pub(crate) fn begin_once(&self, ask: Ask) -> Done<Running> {
        self.begin(ask, ONCE, None)
    }

    fn begin(&self, mut ask: Ask, patience: RetryPolicy, new_key: Option<Arc<dyn Signer>>) -> Done<Running> {
        ask.path = self.http.travelling(&ask.path)?;
        let mut call = call(&ask)?;
        if patience.tries > 1 {
            call = call.repeatable();
        }
        if let Some(key) = &new_key {
            call = call.with_new_key(key.public_key());
        }
        let last = Err(NoAnswer::NotSent("nothing was sent".to_owned()));
        Ok(Running { ask, exchange: Exchange::new(call, patience), new_key, last })
    }

    async fn drive(&mut self, mut running: Running, told: impl Fn(&Running, Duration)) -> Done<Ended> {
        loop {
            match self.next(&mut running).await? {
                Next::Send(ask, limit) => {
                    let sent = self.http.send(&ask, limit).await?;
                    self.heard(&mut running, sent);
                }
                Next::Pause(pause) => {
                    told(&running, pause);
                    tokio::time::sleep(pause).await;
                }
                Next::Done(done) => return running.ended(done),
            }
        }
    }

    /// Sends a request once; any response other than 2xx is a failure.
    pub(crate) async fn call(&mut self, ask: Ask) -> Done<ApiResponse> {
        let ended = self.exchange(ask).await?;
        self.accepted(ended)
    }

    /// Sends a request that the server recognises when it is repeated, until there is a response. `again` tells the waiting
    /// user why sending it again is safe.
    pub(crate) async fn call_until_answered(&mut self, ask: Ask, again: &str) -> Done<ApiResponse> {
        let repeated = std::cell::Cell::new(false);
        let running = self.begin(ask, FOR_A_MINUTE, None)?;
        let ended = self.drive(running, |running, pause| {
            repeated.set(true);
            note(format_args!("{}; sending it again in {} ms: {again}", running.reason(), pause.as_millis()));
        });
        let ended = ended.await?;
        match ended.verdict {
            Verdict::Open | Verdict::InDoubt if repeated.get() => {
                let reason = reason(&ended.last);
                Err(Failure::new(format!("gave up: {reason}; it is not known whether the request was carried out"))
                    .hint(format!("send it again later: {again}")))
            }
            Verdict::Answered | Verdict::Refused | Verdict::NotDone | Verdict::Open | Verdict::InDoubt => self.accepted(ended),
        }
    }

    /// Opens a stream; any response other than 2xx is a failure. A stream that broke, given its cause and the number of breaks in
    /// a row, is reopened for as long as it takes.
    pub(crate) async fn stream(&mut self, ask: Ask, broke: Option<(String, u32)>) -> Done<Stream> {
        let mut running = self.begin(ask, if broke.is_some() { FOR_EVER } else { ONCE }, None)?;
        if let Some((cause, failures)) = broke {
            running.exchange.pause_first(failures, 0);
            running.last = Err(NoAnswer::Lost(cause));
        }
        loop {
            match self.next(&mut running).await? {
                Next::Send(ask, _) => match self.http.open(&ask).await? {
                    Ok(stream) if stream.status.is_success() => {
                        self.opened(&mut running, &stream);
                        return Ok(stream);
                    }
                    Ok(stream) => {
                        let answer = stream.finish().await;
                        self.heard(&mut running, Ok(answer));
                    }
                    Err(cause) => self.heard(&mut running, Err(cause)),
                },
                Next::Pause(pause) => {
                    note(format_args!("the stream from {} was interrupted ({}); resuming it", self.server(), running.reason()));
                    tokio::time::sleep(pause).await;
                }
                Next::Done(done) => {
                    let ended = running.ended(done)?;
                    return match self.accepted(ended) {
                        Ok(_) => Err(Failure::new("the server does not stream events here")),
                        Err(failure) => Err(failure),
                    };
                }
            }
        }
    }

    /// The response if it is 2xx, else the failure.
    pub(crate) fn accepted(&self, ended: Ended) -> Done<ApiResponse> {
        match ended.last {
            Ok(answer) if answer.status.is_success() => Ok(answer),
            Ok(answer) => Err(refused(&answer, self.file.name())),
            Err(cause) => Err(unanswered(self.http.base(), &cause)),
        }
    }

    /// Advances a call until it is to be sent or over: signs it, and fetches what that needs.
    pub(crate) async fn next(&mut self, running: &mut Running) -> Done<Next> {
        loop {
            let Some(Identity { api, key, .. }) = &mut self.identity else { return Err(self.file.missing()) };
            match running.exchange.next(api, now(), random_bytes()?) {
                Step::Sign { by, message } => {
                    let key = running.new_key.as_ref().filter(|_| by == SignedBy::NewKey).unwrap_or(key);
                    let signature = key.sign(&message).map_err(|error| Failure::caused("the call cannot be signed", error))?;
                    running.exchange.signed(&signature);
                }
                Step::Send { request, timeout_ms, prepares: true } => {
                    let sent = self.http.send(&sendable(request)?, Duration::from_millis(timeout_ms)).await?;
                    self.heard(running, sent);
                }
                Step::Send { request, timeout_ms, .. } => {
                    let ask = with_signature(running.ask.clone(), request)?;
                    return Ok(Next::Send(Box::new(ask), Duration::from_millis(timeout_ms)));
                }
                Step::Pause(ms) => return Ok(Next::Pause(Duration::from_millis(ms))),
                Step::Done(done) => return Ok(Next::Done(done)),
            }
        }
    }

    /// Records the result of what was sent.
    pub(crate) fn heard(&mut self, running: &mut Running, sent: Result<ApiResponse, NoAnswer>) {
        match &sent {
            Ok(answer) => self.answered(running, answer),
            Err(NoAnswer::NotSent(_)) => running.exchange.lost(Lost::NotSent),
            Err(NoAnswer::Lost(_)) => running.exchange.lost(Lost::NoAnswer),
        }
        running.last = sent;
    }

    /// Records a response whose body is streamed.
    pub(crate) fn opened(&mut self, running: &mut Running, stream: &Stream) {
        self.answered(running, &ApiResponse { status: stream.status, headers: stream.headers.clone(), body: Default::default() });
    }

    fn answered(&mut self, running: &mut Running, answer: &ApiResponse) {
        let Some(Identity { api, .. }) = &mut self.identity else { return };
        let headers: Vec<_> = client::Response::HEADERS.iter().filter_map(|name| Some((*name, answer.header(name)?))).collect();
        let said = client::Response { status: answer.status.as_u16(), headers: &headers, body: &answer.body };
        running.exchange.answered(api, &said, now());
        self.keep();
    }

    /// Saves what the next command can use. It may fail: that only costs time.
    fn keep(&mut self) {
        let Some(Identity { profile, api, .. }) = &mut self.identity else { return };
        // Tokens of another address than the profile's are not the profile's. And the file may have another key by now:
        // `enroll --force` next to a running proxy must not lose its new key.
        if profile.server == api.base()
            && profile.keep(api.snapshot())
            && self.file.holds(profile)
            && let Err(Failure::Stopped(reason)) = self.file.save(profile, true)
        {
            note(format_args!("the token could not be saved: {}", reason.message()));
        }
    }
}

/// The parts of a request that are signed.
fn call(ask: &Ask) -> Done<Call> {
    let mut request = Request::new(ask.method.as_str(), &ask.path);
    request.body = ask.body.as_ref().map(|body| body.to_vec()).unwrap_or_default();
    for name in &COVERED {
        for value in ask.headers.get_all(name) {
            let value = value.to_str().map_err(|_| Failure::usage(format!("the header {name} has characters that cannot be signed")))?;
            request.headers.push((name.as_str().to_owned(), value.to_owned()));
        }
    }
    Ok(Call::new(request).extra(u64::try_from(ask.patience.as_millis()).unwrap_or(u64::MAX)))
}

/// A request with its token and signature.
fn with_signature(mut ask: Ask, signed: Request) -> Done<Ask> {
    SIGNED_HEADERS.iter().for_each(|name| drop(ask.headers.remove(*name)));
    for (name, value) in signed.headers.iter().filter(|(name, _)| SIGNED_HEADERS.contains(&name.as_str())) {
        let (name, value) = header(name, value)?;
        ask.headers.insert(name, value);
    }
    Ok(ask)
}

/// A request that the session itself makes.
fn sendable(request: Request) -> Done<Ask> {
    let method = hyper::Method::from_bytes(request.method.as_bytes()).map_err(|error| Failure::caused("not a method", error))?;
    let mut ask = Ask::new(method, "");
    ask.path = request.path;
    ask.body = Some(request.body.into());
    for (name, value) in &request.headers {
        let (name, value) = header(name, value)?;
        ask.headers.insert(name, value);
    }
    Ok(ask)
}

fn header(name: &str, value: &str) -> Done<(HeaderName, HeaderValue)> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| Failure::caused("not a header", error))?;
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| Failure::new(format!("{name} has characters that no header has")).hint("enrol again: railgate enroll --force"))?;
    value.set_sensitive(name == AUTHORIZATION);
    Ok((name, value))
}

/// This machine's clock, milliseconds since the Unix epoch.
pub(crate) fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// Fills `out` with random bytes of the system.
pub(crate) fn random(out: &mut [u8]) -> Done {
    getrandom::fill(out).map_err(|error| Failure::new(format!("the system provides no random numbers: {error}")))
}

fn random_bytes<const N: usize>() -> Done<[u8; N]> {
    let mut bytes = [0; N];
    random(&mut bytes)?;
    Ok(bytes)
}

/// A name that nobody else uses, for references and idempotency keys.
pub(crate) fn unique_name() -> Done<String> {
    Ok(railgate::ids::Ulid::new(now(), u128::from_be_bytes(random_bytes()?)).to_string())
}
