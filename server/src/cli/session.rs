//! A conversation with a server in the name of a profile: tokens are renewed on the way, and what is safe to repeat is
//! repeated when the connection breaks.

use std::time::Duration;

use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, HeaderValue};
use railgate::time::Millis;
use serde::Deserialize;

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

/// A server, and who we are there.
pub(crate) struct Session {
    http: Http,
    file: ProfileFile,
    profile: Option<Profile>,
}

/// What the server says when it issues a token.
#[derive(Deserialize)]
struct Issued {
    /// The secret.
    access_token: String,
    /// Seconds.
    expires_in: i64,
}

impl Session {
    /// In the name of the profile, which must exist.
    pub(crate) fn open(global: &Global) -> Done<Self> {
        let session = Self::open_anonymous(global)?;
        if session.profile.is_none() {
            return Err(session.file.missing());
        }
        Ok(session)
    }

    /// In the name of the profile if it exists, else in nobody's.
    pub(crate) fn open_anonymous(global: &Global) -> Done<Self> {
        let file = ProfileFile::named(&global.profile)?;
        let profile = file.load()?;
        let server = global.server.as_deref().or(profile.as_ref().map(|p| p.server.as_str()));
        let http = Http::new(server.unwrap_or(DEFAULT_SERVER))?;
        Ok(Self { http, file, profile })
    }

    /// The profile's file.
    pub(crate) fn file(&self) -> &ProfileFile {
        &self.file
    }

    /// Whether there is a profile.
    pub(crate) fn is_enrolled(&self) -> bool {
        self.profile.is_some()
    }

    /// The server's address.
    pub(crate) fn server(&self) -> &str {
        self.http.base()
    }

    /// Sends a request once. Any answer is an answer.
    pub(crate) async fn exchange(&mut self, ask: Ask) -> Done<Result<Answer, NoAnswer>> {
        let ask = self.authorized(ask).await?;
        self.http.send(&ask).await
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
        let ask = self.authorized(ask).await?;
        match self.http.open(&ask).await? {
            Ok(stream) if stream.status.is_success() => Ok(Ok(stream)),
            Ok(stream) => {
                let answer = stream.finish().await;
                if pause_wanted(&answer).is_some() {
                    return Ok(Err(NoAnswer::Lost(format!("the server answered {}", answer.status.as_u16()))));
                }
                Err(refused(&answer, self.file.name()))
            }
            Err(cause) => Ok(Err(cause)),
        }
    }

    /// Why a command that could not reach the server stops.
    pub(crate) fn unanswered(&self, cause: &NoAnswer) -> Failure {
        unanswered(self.http.base(), cause)
    }

    fn accepted(&self, answer: Answer) -> Done<Answer> {
        if answer.status.is_success() { Ok(answer) } else { Err(refused(&answer, self.file.name())) }
    }

    async fn authorized(&mut self, mut ask: Ask) -> Done<Ask> {
        self.renew_if_due().await?;
        if let Some(profile) = &self.profile
            && !ask.headers.contains_key(AUTHORIZATION)
        {
            ask.headers.insert(AUTHORIZATION, bearer(&profile.access_token)?);
        }
        Ok(ask)
    }

    /// Takes a new token when the old one is in the last half of its life. If that does not work out, the old one is
    /// still good: whatever is wrong will show in the call itself.
    async fn renew_if_due(&mut self) -> Done {
        let now = now();
        let Some(profile) = self.profile.as_mut().filter(|profile| profile.wants_renewal(now)) else { return Ok(()) };
        let ask = Ask::post("/auth/tokens", "{}").with(AUTHORIZATION, bearer(&profile.access_token)?);
        let Ok(answer) = self.http.send(&ask).await? else { return Ok(()) };
        if answer.status.is_success()
            && let Ok(Issued { access_token, expires_in }) = serde_json::from_slice(&answer.body)
        {
            profile.renew(access_token, now, expires_in);
            if let Err(Failure::Stopped(reason)) = self.file.save(profile, true) {
                note(format_args!("the renewed token could not be kept: {}", reason.message()));
            }
        }
        Ok(())
    }
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

fn bearer(token: &str) -> Done<HeaderValue> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| Failure::new("the profile's token has characters that no token has").hint("enrol anew: railgate enroll --force"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// This machine's clock, milliseconds since the Unix epoch.
pub(crate) fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
}

/// A name that nobody else uses, for references and idempotency keys.
pub(crate) fn unique_name() -> Done<String> {
    let mut tail = [0u8; 16];
    getrandom::fill(&mut tail).map_err(|error| Failure::new(format!("the system has no random numbers: {error}")))?;
    Ok(railgate::ids::Ulid::new(now(), u128::from_be_bytes(tail)).to_string())
}
