//! A conversation with a server in the name of a profile: every call is signed, tokens are renewed on the way, and what
//! is safe to repeat is repeated when the connection breaks.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use railgate::auth::Signer;
use railgate::client::{self, ClientError, Request, carries_token};
use railgate::time::Millis;

use super::Global;
use super::failure::{Done, Failure};
use super::http::{Answer, Ask, Http, NoAnswer, Stream};
use super::problem::{Problem, refused, unanswered};
use super::profile::{Profile, ProfileFile};
use super::terminal::note;

/// Where a server is looked for when nobody says anything else.
pub(crate) const DEFAULT_SERVER: &str = "http://127.0.0.1:8080";
/// The pauses between repeated requests; after the last one the command gives up. About a minute in all.
const PAUSES_MS: [u64; 9] = [200, 500, 1_000, 2_000, 4_000, 8_000, 12_000, 16_000, 16_000];
/// A server that wants a longer pause than this is told to the person instead.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// How often what a call needs is asked for: a challenge, a token, and once more each.
const MOST_PREPARATIONS: usize = 4;
/// What a signature sets itself.
pub(crate) const SIGNED_HEADERS: [&str; 4] = ["authorization", "content-digest", "signature-input", "signature"];
/// What else it covers.
const COVERED: [HeaderName; 2] = [CONTENT_TYPE, HeaderName::from_static("idempotency-key")];

/// A server, and who we are there.
pub(crate) struct Session {
    http: Http,
    file: ProfileFile,
    identity: Option<Identity>,
}

/// A profile and what signs in its name.
struct Identity {
    profile: Profile,
    api: client::Session,
}

/// A call that is ready to leave, or why it will not.
pub(crate) enum Ready {
    /// It is signed.
    Signed(Box<Ask>),
    /// The server did not grant what signing needs.
    Refused(Answer),
    /// Or did not answer.
    Unanswered(NoAnswer),
}

impl Session {
    /// In the name of the profile, which must exist.
    pub(crate) fn open(global: &Global) -> Done<Self> {
        let session = Self::open_anonymous(global)?;
        match session.profile() {
            None => Err(session.file.missing()),
            Some(profile) if profile.enrolling => Err(session.file.unfinished()),
            Some(_) => Ok(session),
        }
    }

    /// In the name of the profile if it exists, else in nobody's.
    pub(crate) fn open_anonymous(global: &Global) -> Done<Self> {
        let file = ProfileFile::named(&global.profile)?;
        let profile = file.load()?;
        Self::of(global, file, profile)
    }

    /// In the name of a profile that was just read or made.
    pub(crate) fn of(global: &Global, file: ProfileFile, profile: Option<Profile>) -> Done<Self> {
        let server = global.server.as_deref().or(profile.as_ref().map(|p| p.server.as_str())).unwrap_or(DEFAULT_SERVER).to_owned();
        let server = server.as_str();
        let Some(profile) = profile else {
            return Ok(Self { http: Http::new(server, &global.wire())?, file, identity: None });
        };
        // First, so that a wrong address is explained by whoever connects.
        let http = Http::new(server, &global.wire())?;
        let mut api = client::Session::new(server, profile.mode(), profile.key()?).map_err(|error| Failure::usage(error.to_string()))?;
        // A token is good at its own server only, and for nobody else's eyes.
        let same = client::Session::new(&profile.server, profile.mode(), profile.key()?).is_ok_and(|old| old.base() == api.base());
        if same {
            api.restore(&profile.snapshot());
        }
        Ok(Self { http, file, identity: Some(Identity { profile, api }) })
    }

    /// The profile's file.
    pub(crate) fn file(&self) -> &ProfileFile {
        &self.file
    }

    /// The profile, if there is one.
    pub(crate) fn profile(&self) -> Option<&Profile> {
        self.identity.as_ref().map(|identity| &identity.profile)
    }

    /// Changes the profile, and keeps it so.
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

    /// What signs, if there is a profile.
    pub(crate) fn api(&self) -> Option<&client::Session> {
        self.identity.as_ref().map(|identity| &identity.api)
    }

    /// Sends a request once; twice if it was refused before anything was done because a token or challenge had ended.
    /// Any answer is an answer.
    pub(crate) async fn exchange(&mut self, ask: Ask) -> Done<Result<Answer, NoAnswer>> {
        self.exchanged(ask, None).await
    }

    /// The same for a call that brings a new key, which signs too.
    pub(crate) async fn exchange_with_new_key(&mut self, ask: Ask, new_key: &dyn Signer) -> Done<Result<Answer, NoAnswer>> {
        self.exchanged(ask, Some(new_key)).await
    }

    async fn exchanged(&mut self, ask: Ask, new_key: Option<&dyn Signer>) -> Done<Result<Answer, NoAnswer>> {
        let mut again = true;
        loop {
            let signed = match self.ready(ask.clone(), new_key).await? {
                Ready::Signed(signed) => signed,
                Ready::Refused(answer) => return Ok(Ok(answer)),
                Ready::Unanswered(cause) => return Ok(Err(cause)),
            };
            let answer = match self.http.send(&signed).await? {
                Ok(answer) => answer,
                Err(cause) => return Ok(Err(cause)),
            };
            if !(self.hear(answer.status, &answer.headers, &answer.body) && again) {
                return Ok(Ok(answer));
            }
            again = false;
        }
    }

    /// Sends a request once; only 2xx is an answer.
    pub(crate) async fn call(&mut self, ask: Ask) -> Done<Answer> {
        let answer = self.exchange(ask).await?.map_err(|cause| unanswered(self.http.base(), &cause))?;
        self.accepted(answer)
    }

    /// Sends a request that the server recognises when it comes again, until it is answered. `again` says, for the
    /// person who waits, why sending it again is safe.
    pub(crate) async fn call_until_answered(&mut self, ask: Ask, again: &str) -> Done<Answer> {
        let mut pauses = PAUSES_MS.into_iter().map(Duration::from_millis);
        let mut may_have_arrived = false;
        loop {
            let (reason, wish) = match self.exchange(ask.clone()).await? {
                Ok(answer) => match pause_wanted(&answer) {
                    Some(wish) if wish <= LONGEST_PAUSE => (format!("the server answered {}", answer.status.as_u16()), wish),
                    _ => return self.accepted(answer),
                },
                // Nothing runs at that address: waiting a minute for it would only hide the typing mistake. Unless it
                // was there a moment ago.
                Err(cause @ NoAnswer::NotSent(_)) if !may_have_arrived => return Err(unanswered(self.http.base(), &cause)),
                Err(NoAnswer::NotSent(cause) | NoAnswer::Lost(cause)) => (cause, Duration::ZERO),
            };
            may_have_arrived = true;
            let Some(pause) = pauses.next() else {
                return Err(Failure::new(format!("gave up: {reason}; it is not known whether the request was carried out"))
                    .hint(format!("send it again later: {again}")));
            };
            let pause = pause.max(wish);
            note(format_args!("{reason}; sending it again in {} ms: {again}", pause.as_millis()));
            tokio::time::sleep(pause).await;
        }
    }

    /// Opens a stream; only 2xx is an answer, and a lost connection is for the caller to repair.
    pub(crate) async fn stream(&mut self, ask: Ask) -> Done<Result<Stream, NoAnswer>> {
        let mut again = true;
        loop {
            let signed = match self.signed(ask.clone()).await? {
                Ready::Signed(signed) => signed,
                Ready::Refused(answer) => return self.stopped(&answer),
                Ready::Unanswered(cause) => return Ok(Err(cause)),
            };
            let stream = match self.http.open(&signed).await? {
                Ok(stream) => stream,
                Err(cause) => return Ok(Err(cause)),
            };
            if stream.status.is_success() {
                self.hear(stream.status, &stream.headers, b"");
                return Ok(Ok(stream));
            }
            let answer = stream.finish().await;
            if !(self.hear(answer.status, &answer.headers, &answer.body) && again) {
                return self.stopped(&answer);
            }
            again = false;
        }
    }

    /// A stream that was not opened: for now, or for good.
    fn stopped(&self, answer: &Answer) -> Done<Result<Stream, NoAnswer>> {
        if pause_wanted(answer).is_some() {
            return Ok(Err(NoAnswer::Lost(format!("the server answered {}", answer.status.as_u16()))));
        }
        Err(refused(answer, self.file.name()))
    }

    /// Why a command that could not reach the server stops.
    pub(crate) fn unanswered(&self, cause: &NoAnswer) -> Failure {
        unanswered(self.http.base(), cause)
    }

    /// The answer if it is 2xx, else why the command stops.
    pub(crate) fn accepted(&self, answer: Answer) -> Done<Answer> {
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&answer, self.file.name())) }
    }

    /// Signs a call, and fetches what is needed for that. In nobody's name there is nothing to sign with.
    pub(crate) async fn signed(&mut self, ask: Ask) -> Done<Ready> {
        self.ready(ask, None).await
    }

    async fn ready(&mut self, ask: Ask, new_key: Option<&dyn Signer>) -> Done<Ready> {
        let authenticated = carries_token(&ask.path);
        for round in 1..=MOST_PREPARATIONS {
            let Some(Identity { api, .. }) = &mut self.identity else { return Ok(Ready::Signed(Box::new(ask))) };
            let Some(need) = api.needs(now(), authenticated) else { break };
            let request = api.prepare(need, now(), random16()?).map_err(unsigned)?;
            let answer = match self.http.send(&sendable(request)?).await? {
                Ok(answer) => answer,
                Err(cause) => return Ok(Ready::Unanswered(cause)),
            };
            let headers = heard(&answer.headers);
            let said = client::Answer { status: answer.status.as_u16(), headers: &headers, body: &answer.body };
            match api.learn(&said, now()) {
                Ok(()) => {}
                // Its own challenge may have ended just then.
                Err(ClientError::Refused { .. }) if api.hear(&said, now()) && round < MOST_PREPARATIONS => {}
                Err(ClientError::Refused { .. }) => return Ok(Ready::Refused(answer)),
                Err(error) => return Err(Failure::new(error.to_string()).hint("is this the address of a railgate server?")),
            }
            self.keep();
        }
        self.sign(ask, new_key, authenticated).map(|ask| Ready::Signed(Box::new(ask)))
    }

    fn sign(&self, mut ask: Ask, new_key: Option<&dyn Signer>, authenticated: bool) -> Done<Ask> {
        let Some(Identity { api, .. }) = &self.identity else { return Ok(ask) };
        let mut request = Request::new(ask.method.as_str(), &ask.path);
        request.body = ask.body.as_ref().map(|body| body.to_vec()).unwrap_or_default();
        for name in &COVERED {
            for value in ask.headers.get_all(name) {
                let value =
                    value.to_str().map_err(|_| Failure::usage(format!("the header {name} has characters that cannot be signed")))?;
                request.headers.push((name.as_str().to_owned(), value.to_owned()));
            }
        }
        let signed = match new_key {
            None => api.sign(request, authenticated, now(), random16()?),
            Some(key) => api.sign_with_new_key(request, authenticated, key, now(), [random16()?, random16()?]),
        };
        SIGNED_HEADERS.iter().for_each(|name| drop(ask.headers.remove(*name)));
        for (name, value) in signed.map_err(unsigned)?.headers {
            if SIGNED_HEADERS.contains(&name.as_str()) {
                let (name, value) = header(&name, &value)?;
                ask.headers.insert(name, value);
            }
        }
        Ok(ask)
    }

    /// Takes from an answer what concerns the session. True if the same call, signed anew, may be taken.
    pub(crate) fn hear(&mut self, status: StatusCode, headers: &HeaderMap, body: &[u8]) -> bool {
        let Some(Identity { api, .. }) = &mut self.identity else { return false };
        let again = api.hear(&client::Answer { status: status.as_u16(), headers: &heard(headers), body }, now());
        self.keep();
        again
    }

    /// Learns the token from the answer to an enrolment.
    pub(crate) fn learn(&mut self, answer: &Answer) {
        if let Some(Identity { api, .. }) = &mut self.identity {
            let said = client::Answer { status: answer.status.as_u16(), headers: &heard(&answer.headers), body: &answer.body };
            // Without a token the next call takes one.
            let _ = api.learn(&said, now());
        }
    }

    /// Keeps what the next command can use. It is a help, not a must.
    fn keep(&mut self) {
        let Some(Identity { profile, api }) = &mut self.identity else { return };
        // What belongs to another address than the profile's is not the profile's. And the file may hold another key by
        // now: `enroll --force` beside a proxy that runs must not lose its new key.
        if profile.server == api.base()
            && profile.keep(api.snapshot())
            && self.file.holds(profile)
            && let Err(Failure::Stopped(reason)) = self.file.save(profile, true)
        {
            note(format_args!("the token could not be kept: {}", reason.message()));
        }
    }
}

/// The headers that a session looks at.
fn heard(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let names = ["signature-challenge", "date"];
    names.iter().filter_map(|name| Some((*name, headers.get(*name)?.to_str().ok()?))).collect()
}

fn unsigned(error: ClientError) -> Failure {
    Failure::caused("the call cannot be signed", error)
}

/// A request of the session's own.
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
        .map_err(|_| Failure::new(format!("{name} has characters that no header has")).hint("enrol anew: railgate enroll --force"))?;
    value.set_sensitive(name == AUTHORIZATION);
    Ok((name, value))
}

/// How long to wait before sending the same again, if the answer is one after which that helps.
fn pause_wanted(answer: &Answer) -> Option<Duration> {
    let worth_it = match answer.status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => true,
        StatusCode::TOO_MANY_REQUESTS => answer.headers.contains_key("retry-after"),
        _ => false,
    };
    // `no_route` is 503 as well and will not go away within a minute: tell it at once.
    if !worth_it || Problem::of(answer).code == "no_route" {
        return None;
    }
    let seconds = answer.header("retry-after").and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    Some(Duration::from_secs(seconds))
}

/// This machine's clock, milliseconds since the Unix epoch.
pub(crate) fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// Fills `out` with random bytes of the system.
pub(crate) fn random(out: &mut [u8]) -> Done {
    getrandom::fill(out).map_err(|error| Failure::new(format!("the system has no random numbers: {error}")))
}

fn random16() -> Done<[u8; 16]> {
    let mut bytes = [0u8; 16];
    random(&mut bytes)?;
    Ok(bytes)
}

/// A name that nobody else uses, for references and idempotency keys.
pub(crate) fn unique_name() -> Done<String> {
    Ok(railgate::ids::Ulid::new(now(), u128::from_be_bytes(random16()?)).to_string())
}
