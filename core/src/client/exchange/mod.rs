//! One signed call from its first signature to its verdict: what to fetch first, what to sign, what to retry and when, and what is
//! known at the end. The documentation of [`client`](super) has an example of a host, and the rules that hold for every exchange.

mod response;
mod retry;

use super::{ClientError, Draft, Need, Random, Request, Session, carries_token, reads};
use crate::auth::{EphemeralKey, PublicKey, SessionId, X25519Secret};
use crate::time::Millis;
use response::{Fate, Heard};

pub use retry::RetryPolicy;

/// The most fetches in a row for one call: a challenge and a token, each at most twice.
const MOST_ROUNDS: u32 = 4;

/// A call to carry out.
#[derive(Clone)]
pub struct Call {
    request: Request,
    repeatable: bool,
    extra_ms: u64,
    new_key: Option<PublicKey>,
}

impl Call {
    /// A call that is sent only once.
    pub fn new(request: Request) -> Self {
        Self { request, repeatable: false, extra_ms: 0, new_key: None }
    }

    /// Allows a retry when the response was lost: the gateway recognises the call by its reference or key, or the call changes
    /// nothing.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Extends the timeout by this many milliseconds, for calls whose response takes longer than usual.
    #[must_use]
    pub fn extra(mut self, ms: u64) -> Self {
        self.extra_ms = ms;
        self
    }

    /// Marks the call as one that registers this key, which must sign too.
    #[must_use]
    pub fn with_new_key(mut self, key: PublicKey) -> Self {
        self.new_key = Some(key);
        self
    }

    /// What it asks for, before it is signed.
    pub fn request(&self) -> &Request {
        &self.request
    }

    fn reads(&self) -> bool {
        reads(&self.request.method)
    }

    fn creates(&self) -> bool {
        self.request.method == "POST" && self.request.path == "/api/v1/gateway/settlements"
    }
}

/// Which key signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedBy {
    /// The enrolled key.
    Key,
    /// The key that the call registers.
    NewKey,
}

/// Why there is no response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// There was no connection: nothing left the host.
    NotSent,
    /// The request may have arrived, but no response came.
    NoAnswer,
    /// The response does not belong to this call: a captive portal's page, or the response to another call.
    Garbled,
}

/// What the host must do next.
#[derive(Clone)]
pub enum Step {
    /// Sign these bytes, then call [`Exchange::signed`], or [`Exchange::stop`] if the key does not sign.
    Sign {
        /// The key that signs.
        by: SignedBy,
        /// The bytes to sign.
        message: Vec<u8>,
    },
    /// Send this once, unchanged, then call [`Exchange::answered`] or [`Exchange::lost`].
    Send {
        /// The signed request, or an unsigned one for a challenge.
        request: Request,
        /// How long to wait for the response, in milliseconds.
        timeout_ms: u64,
        /// The request only fetches what the call needs; it is not the call itself.
        prepares: bool,
    },
    /// Wait this many milliseconds before the next try.
    Pause(u64),
    /// The exchange has ended.
    Done(Done),
}

/// How an exchange ended.
#[derive(Debug, Clone)]
pub struct Done {
    /// What is known about the call.
    pub verdict: Verdict,
    /// What happened last.
    pub why: Why,
    /// How long the gateway asks the client to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
}

/// What is known about the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The last response tells the result.
    Answered,
    /// The gateway refused the call, and no try was carried out.
    Refused,
    /// Nothing left the host: the call was certainly not carried out.
    NotDone,
    /// The last try may have been carried out.
    Open,
    /// An earlier try may have been carried out, and the last event does not tell.
    InDoubt,
}

/// What happened last.
#[derive(Debug, Clone)]
pub enum Why {
    /// A response came.
    Response,
    /// A response came, but not from a gateway.
    Unreadable,
    /// No response came, or a proxy reported that it got none from the gateway.
    Lost(Lost),
    /// Challenges or tokens expire before they can be used.
    NotReady,
    /// The host stopped the exchange.
    Stopped,
    /// The request cannot be signed.
    Unsigned(ClientError),
}

/// The purpose of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    Prepare,
    Call,
}

enum State {
    /// Something must be fetched or signed.
    Begin,
    /// A draft waits for its signature.
    Signing(Box<Draft>, Aim, SignedBy),
    /// Signed by the enrolled key; the new key signs next.
    Countersign(Request),
    /// Signed, but not sent.
    Ready(Request, Aim),
    /// Sent, but not answered.
    Sent(Aim),
    /// Waiting for the next try, at least this many milliseconds.
    Pausing(u64),
    Ended(Done),
}

const ANSWERED: State = State::Ended(Done { verdict: Verdict::Answered, why: Why::Response, retry_after_ms: None });

/// One signed call, or only the fetches that must precede it.
pub struct Exchange {
    /// `None`: nothing but the fetches is wanted.
    call: Option<Call>,
    authenticated: bool,
    patience: RetryPolicy,
    state: State,
    /// The number of failed tries.
    failures: u32,
    /// How often in a row something was fetched for the call.
    rounds: u32,
    /// The current try was already refused once for its signature and signed again.
    signed_anew: bool,
    /// An earlier try had no response.
    unanswered: bool,
    /// An earlier try was answered, but the response leaves open whether it was carried out.
    open: bool,
    /// The secret half of what a request for a token offers.
    ephemeral: Option<X25519Secret>,
    /// The gateway is of a version that knows no sessions: a request for a token offers none.
    offers_none: bool,
    /// The session in which the call was signed.
    in_session: Option<SessionId>,
    /// The call was refused because a session had signed it.
    by_key: bool,
}

impl Exchange {
    /// An exchange that carries out `call`.
    pub fn new(call: Call, patience: RetryPolicy) -> Self {
        let authenticated = carries_token(&call.request.method, &call.request.path);
        Self::of(Some(call), authenticated, patience)
    }

    /// An exchange that only fetches what this call needs, on behalf of all calls that wait for it.
    #[must_use]
    pub fn preparation(&self) -> Self {
        Self::of(None, self.authenticated, self.patience)
    }

    fn of(call: Option<Call>, authenticated: bool, patience: RetryPolicy) -> Self {
        let (state, failures, rounds) = (State::Begin, 0, 0);
        let (signed_anew, unanswered, open, offers_none, by_key) = (false, false, false, false, false);
        let (ephemeral, in_session) = (None, None);
        Self {
            call,
            authenticated,
            patience,
            state,
            failures,
            rounds,
            signed_anew,
            unanswered,
            open,
            ephemeral,
            offers_none,
            in_session,
            by_key,
        }
    }

    /// Starts with the pause that follows this many failures, at least `wish_ms`: for calls that open something, such as a stream,
    /// which then broke that often in a row.
    pub fn pause_first(&mut self, failures: u32, wish_ms: u64) {
        self.failures = failures;
        self.state = State::Pausing(wish_ms);
    }

    /// Whether the next step fetches something that other calls may be fetching too; [`Exchange::preparation`] fetches it for all
    /// of them.
    pub fn lacks(&self, session: &Session, now: Millis) -> bool {
        matches!(self.state, State::Begin) && session.needs(now, self.authenticated).is_some()
    }

    /// Returns the next step. Never pass the same `random` twice. If called before the result of a request was reported, it treats
    /// the response as lost.
    pub fn next(&mut self, session: &mut Session, now: Millis, random: Random) -> Step {
        let (nonce, secret) = halves(random);
        loop {
            match std::mem::replace(&mut self.state, State::Begin) {
                State::Begin => self.state = self.begun(session, now, nonce, secret),
                State::Countersign(request) => {
                    let key = self.new_key().unwrap_or_else(|| session.public_key());
                    let draft = session.draft_of_new_key(request, &key, now, nonce);
                    self.state = self.signing(draft, Aim::Call, SignedBy::NewKey);
                }
                State::Sent(aim) => {
                    self.state = State::Sent(aim);
                    self.lost(Lost::NoAnswer);
                }
                State::Signing(draft, aim, by) => {
                    let message = draft.to_sign().to_vec();
                    self.state = State::Signing(draft, aim, by);
                    return Step::Sign { by, message };
                }
                State::Ready(request, aim) => {
                    self.state = State::Sent(aim);
                    let extra_ms = self.call.as_ref().filter(|_| aim == Aim::Call).map_or(0, |call| call.extra_ms);
                    let timeout_ms = self.patience.timeout_ms.saturating_add(extra_ms);
                    return Step::Send { request, timeout_ms, prepares: aim == Aim::Prepare };
                }
                State::Pausing(wish_ms) => return Step::Pause(wish_ms.max(self.patience.backoff_ms(self.failures, nonce))),
                State::Ended(done) => {
                    self.state = State::Ended(done.clone());
                    return Step::Done(done);
                }
            }
        }
    }

    /// Reports the signature of the bytes to sign. For P-256: `r‖s` as Web Crypto returns it, or DER as key stores do; for Ed25519:
    /// 64 bytes.
    pub fn signed(&mut self, signature: &[u8]) {
        self.state = match std::mem::replace(&mut self.state, State::Begin) {
            State::Signing(draft, aim, by) => match draft.finish(signature) {
                Ok(request) if aim == Aim::Call && by == SignedBy::Key && self.new_key().is_some() => State::Countersign(request),
                Ok(request) => State::Ready(request, aim),
                Err(error) => self.ended(Fate::NotSent, Why::Unsigned(error), None),
            },
            other => other,
        };
    }

    fn new_key(&self) -> Option<PublicKey> {
        self.call.as_ref().and_then(|call| call.new_key)
    }

    /// Reports the response to the request sent. The body may be omitted if it continues as a stream.
    pub fn answered(&mut self, session: &mut Session, answer: &super::Response<'_>, now: Millis) {
        let State::Sent(aim) = self.state else { return };
        let success = (200..300).contains(&answer.status);
        let again = session.hear(answer, now);
        match aim {
            Aim::Prepare if success => match session.learn(answer, self.ephemeral.take().as_ref(), now) {
                true => self.fetched(),
                false => self.state = self.ended(Fate::NotSent, Why::Unreadable, None),
            },
            Aim::Prepare if self.was_refused_a_session(answer) && self.rounds + 1 < MOST_ROUNDS => {
                self.offers_none = true;
                self.fetched();
            }
            // The fetch's own challenge may just have expired.
            Aim::Prepare if again && self.rounds + 1 < MOST_ROUNDS => self.fetched(),
            Aim::Prepare => self.failed(Heard { fate: Fate::NotSent, ..Heard::of(answer, false, now) }),
            Aim::Call if success => {
                // A token or challenge granted by an enrolment belongs to the session, unless a new key asked for it.
                if !self.authenticated && self.new_key().is_none() {
                    session.learn(answer, None, now);
                }
                self.state = ANSWERED;
            }
            Aim::Call if self.in_session.take().is_some_and(|id| session.needs_key(id, answer)) => {
                self.by_key = true;
                self.state = State::Begin;
            }
            Aim::Call if again && !self.signed_anew => {
                self.signed_anew = true;
                self.state = State::Begin;
            }
            Aim::Call => self.failed(Heard::of(answer, self.call.as_ref().is_some_and(Call::creates), now)),
        }
    }

    /// Whether the gateway refused a token only because a session was offered with it, as versions before sessions do.
    fn was_refused_a_session(&self, answer: &super::Response<'_>) -> bool {
        self.ephemeral.is_some() && !self.offers_none && answer.status == 422
    }

    /// Reports that the request got no response.
    pub fn lost(&mut self, lost: Lost) {
        let State::Sent(aim) = self.state else { return };
        let fate = match (aim, lost) {
            (Aim::Prepare, _) | (Aim::Call, Lost::NotSent) => Fate::NotSent,
            (Aim::Call, Lost::NoAnswer | Lost::Garbled) => Fate::Unanswered,
        };
        // Nothing listens at that address: waiting for it would only hide a typing mistake.
        let passes = lost != Lost::NotSent || self.patience.unconnected || self.failures > 0;
        self.failed(Heard { fate, why: Why::Lost(lost), passes, retry_after_ms: None });
    }

    /// Reports that the host cannot continue: a key did not sign, or nobody waits any more. A request that was sent and not
    /// answered stays open.
    pub fn stop(&mut self) {
        let fate = match self.state {
            State::Ended(_) => return,
            State::Sent(Aim::Call) => Fate::Unanswered,
            State::Sent(Aim::Prepare)
            | State::Begin
            | State::Signing(..)
            | State::Countersign(_)
            | State::Ready(..)
            | State::Pausing(_) => Fate::NotSent,
        };
        self.state = self.ended(fate, Why::Stopped, None);
    }

    fn begun(&mut self, session: &Session, now: Millis, nonce: [u8; 16], secret: [u8; 32]) -> State {
        match session.needs(now, self.authenticated) {
            Some(_) if self.rounds == MOST_ROUNDS => self.ended(Fate::NotSent, Why::NotReady, None),
            Some(Need::Challenge) => State::Ready(session.challenge_request(), Aim::Prepare),
            Some(Need::Token) => {
                self.ephemeral = (!self.offers_none).then(|| X25519Secret::new(secret));
                let offered = self.ephemeral.as_ref().map(|secret| EphemeralKey::X25519(secret.public()));
                let request = offered.map_or_else(|| session.token_request(None), |offered| session.session_request(&offered));
                self.signing(session.draft(request, false, now, nonce), Aim::Prepare, SignedBy::Key)
            }
            None => {
                let Some(call) = &self.call else { return ANSWERED };
                self.rounds = 0;
                let may_share = self.authenticated && call.new_key.is_none() && !self.by_key;
                let shared = session.shared_for(&call.request).filter(|_| may_share);
                self.in_session = shared.map(|shared| shared.id);
                let request = call.request.clone();
                match shared.map(|shared| session.signed_in_session(request.clone(), &shared, now, nonce)) {
                    Some(Ok(signed)) => State::Ready(signed, Aim::Call),
                    Some(Err(error)) => self.ended(Fate::NotSent, Why::Unsigned(error), None),
                    None => self.signing(session.draft(request, self.authenticated, now, nonce), Aim::Call, SignedBy::Key),
                }
            }
        }
    }

    fn signing(&self, draft: Result<Draft, ClientError>, aim: Aim, by: SignedBy) -> State {
        match draft {
            Ok(draft) => State::Signing(Box::new(draft), aim, by),
            Err(error) => self.ended(Fate::NotSent, Why::Unsigned(error), None),
        }
    }

    fn fetched(&mut self) {
        self.rounds += 1;
        self.state = State::Begin;
    }

    /// Ends a try that did not get the wanted answer: schedules another one, or ends the exchange.
    fn failed(&mut self, heard: Heard) {
        let Heard { fate, why, passes, retry_after_ms } = heard;
        let wish_ms = retry_after_ms.unwrap_or(0);
        self.failures += 1;
        // A fetch may be repeated, even if the call may not.
        let again = self.call.as_ref().is_none_or(|call| call.repeatable) || matches!(self.state, State::Sent(Aim::Prepare));
        if again && passes && self.failures < self.patience.tries && wish_ms <= self.patience.longest_pause_ms {
            self.unanswered |= fate == Fate::Unanswered;
            self.open |= fate == Fate::Open;
            self.signed_anew = false;
            self.state = State::Pausing(wish_ms);
        } else {
            self.state = self.ended(fate, why, retry_after_ms);
        }
    }

    fn ended(&self, fate: Fate, why: Why, retry_after_ms: Option<u64>) -> State {
        let reads = self.call.as_ref().is_none_or(Call::reads);
        // If this try, too, has no response, its own verdict already says that the result is unknown.
        let doubt = match fate {
            Fate::Settled | Fate::Unanswered => false,
            Fate::Open => self.unanswered,
            Fate::NotSent | Fate::Refused | Fate::Unreadable => self.unanswered || self.open,
        };
        let verdict = match fate {
            _ if doubt && !reads => Verdict::InDoubt,
            Fate::NotSent => Verdict::NotDone,
            Fate::Refused | Fate::Settled => Verdict::Refused,
            Fate::Open | Fate::Unanswered | Fate::Unreadable => Verdict::Open,
        };
        State::Ended(Done { verdict, why, retry_after_ms })
    }
}

/// The part of random bytes that is sent, and the part that is not.
fn halves(random: Random) -> ([u8; 16], [u8; 32]) {
    let (mut nonce, mut secret) = ([0; 16], [0; 32]);
    nonce.copy_from_slice(&random[..16]);
    secret.copy_from_slice(&random[16..]);
    (nonce, secret)
}

#[cfg(test)]
mod tests;
