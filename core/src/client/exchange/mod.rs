//! One signed call from its first signature to its verdict: what to fetch before, what to sign, what may be sent again and when,
//! and what is known at the end.
//!
//! The host does what each [`Step`] says and tells what came of it:
//!
//! ```text
//! let mut exchange = Exchange::new(Call::new(request).repeatable(), patience);
//! let done = loop {
//!     match exchange.next(&mut session, now, random) {
//!         Step::Sign { by, message } => match key(by).sign(&message).await {
//!             Ok(signature) => exchange.signed(&signature),
//!             Err(_) => exchange.stop(),
//!         },
//!         Step::Send { request, timeout_ms, .. } => match send(request, timeout_ms).await {
//!             Ok(answer) => exchange.answered(&mut session, &answer, now),
//!             Err(_) => exchange.lost(Lost::NoAnswer),
//!         },
//!         Step::Pause(ms) => sleep(ms).await,
//!         Step::Done(done) => break done,
//!     }
//! };
//! ```
//!
//! Three rules hold whatever the network does:
//!
//! - **Nothing is sent twice that is not [repeatable](Call::repeatable)**, unless the gateway proved that it had done nothing: it
//!   refused the challenge, the token or the time of the signature. Every try has a signature of its own.
//! - **Unknown is never refused.** What a later try is refused for says nothing about an earlier one whose answer got lost: that
//!   one may have been carried out, or be on its way still. Only a reference that is somebody else's, or a key that is known,
//!   settles it for all tries.
//! - **All of it ends**: tries, and what is fetched for one of them, are counted.

mod response;
mod retry;

use super::{ClientError, Draft, Need, Request, Session, carries_token};
use crate::auth::PublicKey;
use crate::time::Millis;
use response::{Fate, Heard};

pub use retry::RetryPolicy;

/// How often in a row a call fetches what it needs: a challenge and a token, and each once more.
const MOST_ROUNDS: u32 = 4;

/// What is to be carried out.
#[derive(Clone)]
pub struct Call {
    request: Request,
    repeatable: bool,
    extra_ms: u64,
    new_key: Option<PublicKey>,
}

impl Call {
    /// A call that is sent once.
    pub fn new(request: Request) -> Self {
        Self { request, repeatable: false, extra_ms: 0, new_key: None }
    }

    /// It may be sent again when its answer got lost: the gateway knows it by its reference or key, or it changes nothing.
    #[must_use]
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Its answer may take so much longer than others.
    #[must_use]
    pub fn extra(mut self, ms: u64) -> Self {
        self.extra_ms = ms;
        self
    }

    /// It makes this key known, which signs too.
    #[must_use]
    pub fn with_new_key(mut self, key: PublicKey) -> Self {
        self.new_key = Some(key);
        self
    }

    /// To have read twice does no harm.
    fn reads(&self) -> bool {
        matches!(self.request.method.as_str(), "GET" | "HEAD")
    }

    fn creates(&self) -> bool {
        self.request.method == "POST" && self.request.path == "/api/v1/gateway/settlements"
    }
}

/// Which key signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedBy {
    /// The session's own.
    Session,
    /// The one that the call makes known.
    NewKey,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    /// No connection was made: nothing of it left.
    NotSent,
    /// It may have arrived; the answer did not.
    NoAnswer,
    /// What came is no answer to this call: a portal's page, another call's answer.
    Garbled,
}

/// What the host does next.
#[derive(Clone)]
pub enum Step {
    /// Sign these bytes; [`Exchange::signed`], or [`Exchange::stop`] if the key does not.
    Sign {
        /// Which key.
        by: SignedBy,
        /// The bytes to sign.
        message: Vec<u8>,
    },
    /// Send this once, as it is; [`Exchange::answered`] or [`Exchange::lost`].
    Send {
        /// The request.
        request: Request,
        /// How long the answer may take.
        timeout_ms: u64,
        /// It fetches what the call needs, and is not the call itself.
        prepares: bool,
    },
    /// Wait so many milliseconds before the next try.
    Pause(u64),
    /// It is over.
    Done(Done),
}

/// How it ended.
#[derive(Debug, Clone)]
pub struct Done {
    /// What is known about the call.
    pub verdict: Verdict,
    /// What came last.
    pub why: Why,
    /// How long the gateway asks to be left alone.
    pub retry_after_ms: Option<u64>,
}

/// What is known about the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The last answer says what came of it.
    Answered,
    /// The gateway refused it, and no try was carried out.
    Refused,
    /// It was not sent, or did not leave: for certain nothing was done.
    NotDone,
    /// The last try may have been carried out.
    Open,
    /// An earlier try may have been carried out, and what came last does not tell.
    InDoubt,
}

/// What came last.
#[derive(Debug, Clone)]
pub enum Why {
    /// The last answer.
    Response,
    /// The last answer, which is none of a gateway.
    Unreadable,
    /// No answer, or one of something before the gateway that has none.
    Lost(Lost),
    /// Challenges or tokens end before they can be used.
    NotReady,
    /// The host could not go on.
    Stopped,
    /// It cannot be signed.
    Unsigned(ClientError),
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Aim {
    Prepare,
    Call,
}

enum State {
    /// Something is to be fetched or signed.
    Begin,
    /// A draft waits for its signature.
    Signing(Box<Draft>, Aim, SignedBy),
    /// Signed by the session's key; the new one is next.
    Countersign(Request),
    /// Signed, and not sent.
    Ready(Request, Aim),
    /// Sent, and not answered.
    Sent(Aim),
    /// To be tried again; at least so many milliseconds later.
    Pausing(u64),
    Ended(Done),
}

const ANSWERED: State = State::Ended(Done { verdict: Verdict::Answered, why: Why::Response, retry_after_ms: None });

/// One signed call, or what is needed before one.
pub struct Exchange {
    /// `None`: what is fetched is all that is wanted.
    call: Option<Call>,
    authenticated: bool,
    patience: RetryPolicy,
    state: State,
    /// Tries that failed.
    failures: u32,
    /// How often in a row something was fetched for the call.
    rounds: u32,
    /// This try was refused for its signature before.
    signed_anew: bool,
    /// An earlier try had no answer.
    unanswered: bool,
    /// An earlier try had an answer that leaves open what was done.
    open: bool,
}

impl Exchange {
    /// Carries out a call.
    pub fn new(call: Call, patience: RetryPolicy) -> Self {
        let authenticated = carries_token(&call.request.path);
        Self::of(Some(call), authenticated, patience)
    }

    /// Fetches what this call needs, for all that wait for the same.
    #[must_use]
    pub fn preparation(&self) -> Self {
        Self::of(None, self.authenticated, self.patience)
    }

    fn of(call: Option<Call>, authenticated: bool, patience: RetryPolicy) -> Self {
        let (state, failures, rounds) = (State::Begin, 0, 0);
        Self { call, authenticated, patience, state, failures, rounds, signed_anew: false, unanswered: false, open: false }
    }

    /// Begins with the pause after so many failures, `wish_ms` at least: what an earlier exchange opened, such as a stream, broke
    /// that often in a row.
    pub fn pause_first(&mut self, failures: u32, wish_ms: u64) {
        self.failures = failures;
        self.state = State::Pausing(wish_ms);
    }

    /// Whether the next step fetches something that other calls may be fetching, too: [`Exchange::preparation`] fetches it for all.
    pub fn lacks(&self, session: &Session, now: Millis) -> bool {
        matches!(self.state, State::Begin) && session.needs(now, self.authenticated).is_some()
    }

    /// What to do next. `random` is never used twice. Asked again before it heard what came of a request, it takes the answer as
    /// lost.
    pub fn next(&mut self, session: &mut Session, now: Millis, random: [u8; 16]) -> Step {
        loop {
            match std::mem::replace(&mut self.state, State::Begin) {
                State::Begin => self.state = self.begun(session, now, random),
                State::Countersign(request) => {
                    let key = self.new_key().unwrap_or_else(|| session.public_key());
                    let draft = session.draft_of_new_key(request, &key, now, random);
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
                State::Pausing(wish_ms) => return Step::Pause(wish_ms.max(self.patience.backoff_ms(self.failures, random))),
                State::Ended(done) => {
                    self.state = State::Ended(done.clone());
                    return Step::Done(done);
                }
            }
        }
    }

    /// The signature of what was to be signed: for P-256 `r‖s`, as Web Crypto gives it, or DER, as key stores do; for Ed25519 64
    /// bytes.
    pub fn signed(&mut self, signature: &[u8]) {
        self.state = match std::mem::replace(&mut self.state, State::Begin) {
            State::Signing(draft, aim, by) => match draft.finish(signature) {
                Ok(request) if aim == Aim::Call && by == SignedBy::Session && self.new_key().is_some() => State::Countersign(request),
                Ok(request) => State::Ready(request, aim),
                Err(error) => self.ended(Fate::NotSent, Why::Unsigned(error), None),
            },
            other => other,
        };
    }

    fn new_key(&self) -> Option<PublicKey> {
        self.call.as_ref().and_then(|call| call.new_key)
    }

    /// The answer to what was sent. Of one that goes on as a stream the body may be left out.
    pub fn answered(&mut self, session: &mut Session, answer: &super::Response<'_>, now: Millis) {
        let State::Sent(aim) = self.state else { return };
        let success = (200..300).contains(&answer.status);
        let again = session.hear(answer, now);
        match aim {
            Aim::Prepare if success => match session.learn(answer, now) {
                true => self.fetched(),
                false => self.state = self.ended(Fate::NotSent, Why::Unreadable, None),
            },
            // Its own challenge may have ended just then.
            Aim::Prepare if again && self.rounds + 1 < MOST_ROUNDS => self.fetched(),
            Aim::Prepare => self.failed(Heard { fate: Fate::NotSent, ..Heard::of(answer, false, now) }),
            Aim::Call if success => {
                // What an enrolment or a token grants is the session's, unless a new key asked for it.
                if !self.authenticated && self.new_key().is_none() {
                    session.learn(answer, now);
                }
                self.state = ANSWERED;
            }
            Aim::Call if again && !self.signed_anew => {
                self.signed_anew = true;
                self.state = State::Begin;
            }
            Aim::Call => self.failed(Heard::of(answer, self.call.as_ref().is_some_and(Call::creates), now)),
        }
    }

    /// There is no answer to what was sent.
    pub fn lost(&mut self, lost: Lost) {
        let State::Sent(aim) = self.state else { return };
        let fate = match (aim, lost) {
            (Aim::Prepare, _) | (Aim::Call, Lost::NotSent) => Fate::NotSent,
            (Aim::Call, Lost::NoAnswer | Lost::Garbled) => Fate::Unanswered,
        };
        // Nothing runs at that address: to wait for it would only hide a typing mistake.
        let passes = lost != Lost::NotSent || self.patience.unconnected || self.failures > 0;
        self.failed(Heard { fate, why: Why::Lost(lost), passes, retry_after_ms: None });
    }

    /// The host cannot go on: a key did not sign, or nobody waits any more. What was sent and not answered stays open.
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

    fn begun(&mut self, session: &Session, now: Millis, random: [u8; 16]) -> State {
        match session.needs(now, self.authenticated) {
            Some(_) if self.rounds == MOST_ROUNDS => self.ended(Fate::NotSent, Why::NotReady, None),
            Some(Need::Challenge) => State::Ready(session.challenge_request(), Aim::Prepare),
            Some(Need::Token) => {
                let draft = session.draft(session.token_request(None), false, now, random);
                self.signing(draft, Aim::Prepare, SignedBy::Session)
            }
            None => {
                let Some(call) = &self.call else { return ANSWERED };
                let draft = session.draft(call.request.clone(), self.authenticated, now, random);
                self.rounds = 0;
                self.signing(draft, Aim::Call, SignedBy::Session)
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

    /// A try is over without the answer that was wanted: it is made again, or it was the last.
    fn failed(&mut self, heard: Heard) {
        let Heard { fate, why, passes, retry_after_ms } = heard;
        let wish_ms = retry_after_ms.unwrap_or(0);
        self.failures += 1;
        // What is fetched may be fetched again, whatever the call is.
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
        // Another try without an answer says of itself that it does not know.
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

#[cfg(test)]
mod tests;
