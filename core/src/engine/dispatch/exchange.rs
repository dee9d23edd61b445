//! One exchange with an operator, request by request: perhaps for an access token, then for what is asked, perhaps in several steps.
//!
//! An [`Exchange`] does no I/O. A host sends each request that [`Exchange::step`] returns and reports the result to
//! [`Exchange::heard`], until there is an answer.

use std::sync::Arc;

use super::tokens::Held;
use crate::api::{Action, PayeeView, RailCall};
use crate::auth::{Outgoing, Stamp, TAG_RAIL, sign_request};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::ids::ProviderNo;
use crate::rail::{
    Carried, Heard, HttpReply, HttpRequest, Link, Payee, Rail, RailAnswer, Request, TLS_AUTHORITIES, TLS_CERTIFICATES, TLS_KEY, Tls,
};
use crate::route::ProviderSpec;
use crate::route::health::{Health, Outcome};
use crate::time::Millis;

/// The most requests of an exchange: more than any protocol needs.
const STEPS_MAX: u8 = 8;
/// How long an exchange that moves no money takes at most, in milliseconds: somebody may wait for it.
const ASKING_MS: Millis = 20_000;

/// What a host does next.
#[derive(Debug)]
pub enum Step<A> {
    /// Ask for an access token. One host needs one token for all its exchanges with the provider: after waiting for another
    /// exchange's, take this step again.
    Token(HttpRequest),
    /// Send the request.
    Send(HttpRequest),
    /// The answer is there.
    Done(A),
}

/// What an operator is asked.
pub trait Question {
    /// The operator's answer.
    type Answer: Clone;

    /// Who is asked.
    fn provider(&self) -> ProviderNo;
    /// The first request.
    fn encode(&self, rail: &dyn Rail, link: &Link<'_>) -> Result<HttpRequest, Self::Answer>;
    /// What a reply leads to.
    fn decode(&self, rail: &dyn Rail, link: &Link<'_>, reply: &HttpReply) -> Heard<Self::Answer>;
    /// The answer if a request provably did not leave, and nothing happened before.
    fn unsent(&self) -> Self::Answer;
    /// The answer if nobody knows.
    fn unknown(&self) -> Self::Answer;
    /// The moment of [`Env::steady`](crate::env::Env::steady) after which nothing may leave, if there is one.
    fn leave_by(&self) -> Option<Millis>;
    /// The call, if it is one.
    fn call(&self) -> Option<&RailCall>;
    /// What the end says about the operator; `None` for nothing.
    fn outcome(&self, carried: &Carried, answer: &Self::Answer) -> Option<Outcome>;
    /// How the operator says that it is; `None` if the answer does not say.
    fn said(&self, _answer: &Self::Answer) -> Option<Health> {
        None
    }
}

const fn moves_money(action: Action) -> bool {
    match action {
        Action::Submit | Action::Reverse => true,
        Action::Inquire | Action::InquireReversal => false,
    }
}

impl Question for RailCall {
    type Answer = RailAnswer;

    fn provider(&self) -> ProviderNo {
        self.provider
    }

    fn encode(&self, rail: &dyn Rail, link: &Link<'_>) -> Result<HttpRequest, RailAnswer> {
        match rail.encode(self, link) {
            Request::Http(request) => Ok(request),
            Request::Known(answer) => Err(answer),
            Request::Inside => Err(RailAnswer::Unknown),
        }
    }

    fn decode(&self, rail: &dyn Rail, link: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
        rail.decode(self, link, reply)
    }

    /// An inquiry that could not be sent says nothing about its subject.
    fn unsent(&self) -> RailAnswer {
        if moves_money(self.action) { RailAnswer::NotSent } else { RailAnswer::Unknown }
    }

    fn unknown(&self) -> RailAnswer {
        RailAnswer::Unknown
    }

    fn leave_by(&self) -> Option<Millis> {
        moves_money(self.action).then_some(self.leave_by)
    }

    fn call(&self) -> Option<&RailCall> {
        Some(self)
    }

    /// To refuse a payment is an answer as good as any.
    fn outcome(&self, carried: &Carried, answer: &RailAnswer) -> Option<Outcome> {
        let outcome = match (carried, answer) {
            (Carried::Late, _) => return None,
            (Carried::NotSent | Carried::Lost, _) | (Carried::Answered(_), RailAnswer::Unknown) => Outcome::Failed,
            (
                Carried::Answered(_),
                RailAnswer::Completed { .. }
                | RailAnswer::Accepted { .. }
                | RailAnswer::Declined { .. }
                | RailAnswer::NotSent
                | RailAnswer::Returned { .. },
            ) => Outcome::Answered,
        };
        moves_money(self.action).then_some(outcome)
    }
}

/// The question who a payee is.
#[derive(Debug, Clone)]
pub struct PayeeQuestion {
    /// The provider to ask.
    pub provider: ProviderNo,
    /// The payee.
    pub payee: Payee,
}

impl Question for PayeeQuestion {
    type Answer = PayeeView;

    fn provider(&self) -> ProviderNo {
        self.provider
    }

    fn encode(&self, rail: &dyn Rail, link: &Link<'_>) -> Result<HttpRequest, PayeeView> {
        rail.look_up_payee(&self.payee, link).ok_or(PayeeView::UNKNOWN)
    }

    fn decode(&self, rail: &dyn Rail, link: &Link<'_>, reply: &HttpReply) -> Heard<PayeeView> {
        rail.decode_payee(&self.payee, link, reply)
    }

    fn unsent(&self) -> PayeeView {
        PayeeView::UNKNOWN
    }

    fn unknown(&self) -> PayeeView {
        PayeeView::UNKNOWN
    }

    fn leave_by(&self) -> Option<Millis> {
        None
    }

    fn call(&self) -> Option<&RailCall> {
        None
    }

    fn outcome(&self, _: &Carried, _: &PayeeView) -> Option<Outcome> {
        None
    }
}

/// The question how a provider is; `None` if it does not say.
#[derive(Debug, Clone)]
pub struct Heartbeat(pub ProviderNo);

impl Question for Heartbeat {
    type Answer = Option<Health>;

    fn provider(&self) -> ProviderNo {
        self.0
    }

    fn encode(&self, rail: &dyn Rail, link: &Link<'_>) -> Result<HttpRequest, Option<Health>> {
        rail.heartbeat(link).ok_or(None)
    }

    fn decode(&self, rail: &dyn Rail, _: &Link<'_>, reply: &HttpReply) -> Heard<Option<Health>> {
        Heard::Answer(rail.decode_heartbeat(reply))
    }

    fn unsent(&self) -> Option<Health> {
        None
    }

    fn unknown(&self) -> Option<Health> {
        None
    }

    fn leave_by(&self) -> Option<Millis> {
        None
    }

    fn call(&self) -> Option<&RailCall> {
        None
    }

    fn outcome(&self, _: &Carried, _: &Option<Health>) -> Option<Outcome> {
        None
    }

    fn said(&self, answer: &Option<Health>) -> Option<Health> {
        *answer
    }
}

/// An exchange with one operator.
pub struct Exchange<Q: Question> {
    question: Q,
    spec: Arc<ProviderSpec>,
    callback_url: Option<String>,
    token: Option<Held>,
    next: Next<Q::Answer>,
    /// What was sent last, besides requests for a token.
    asked: Option<HttpRequest>,
    steps: u8,
    began: Millis,
}

enum Next<A> {
    /// A token, if the operator wants one, and then the first request.
    Begin,
    /// The reply to the request for a token.
    Token,
    /// This request.
    Ask(Box<HttpRequest>),
    /// The reply to a request.
    Reply,
    Done(A),
}

impl Engine {
    /// Begins an exchange with an operator outside the gateway.
    ///
    /// # Errors
    /// `internal` if the provider is no longer configured.
    pub fn exchange<Q: Question>(&self, question: Q) -> Result<Exchange<Q>> {
        let spec = self.provider(question.provider())?;
        self.rail(question.provider())?;
        let callback_url = question.call().and_then(|call| self.callback_url(&spec, call));
        Ok(Exchange { question, spec, callback_url, token: None, next: Next::Begin, asked: None, steps: 0, began: self.env.steady() })
    }
}

impl<Q: Question> Exchange<Q> {
    /// What is asked.
    pub fn question(&self) -> &Q {
        &self.question
    }

    /// What to do next. Taken again without anything [heard](Exchange::heard) in between, it may be another step.
    pub fn step(&mut self, engine: &Engine) -> Step<Q::Answer> {
        let Ok(rail) = engine.rail(self.question.provider()) else { return Step::Done(self.question.unknown()) };
        if matches!(self.next, Next::Begin | Next::Token) {
            self.asked = None;
            if self.token.is_none() {
                self.token = engine.tokens.current(&*engine.env, &self.spec);
            }
            if self.token.is_none()
                && let Some(request) = rail.token_request(&self.spec)
            {
                self.next = Next::Token;
                return self.leave(engine, request, Step::Token);
            }
            self.next = match self.question.encode(rail, &self.link(engine)) {
                Ok(request) => Next::Ask(request.into()),
                Err(answer) => Next::Done(answer),
            };
        }
        match std::mem::replace(&mut self.next, Next::Reply) {
            Next::Done(answer) => {
                self.next = Next::Done(answer.clone());
                Step::Done(answer)
            }
            Next::Ask(request) => {
                self.asked = Some((*request).clone());
                self.leave(engine, *request, Step::Send)
            }
            Next::Begin | Next::Token | Next::Reply => self.give_up(),
        }
    }

    /// The result of the request that [`Exchange::step`] returned last.
    pub fn heard(&mut self, engine: &Engine, carried: &Carried) {
        let Ok(rail) = engine.rail(self.question.provider()) else { return };
        let wants_token = matches!(self.next, Next::Token);
        let answer = match carried {
            Carried::Answered(reply) if wants_token => match rail.decode_token(reply) {
                Some(token) => {
                    self.token = Some(engine.tokens.keep(&*engine.env, &self.spec, token));
                    self.next = Next::Begin;
                    return;
                }
                None => self.question.unsent(),
            },
            // What was to follow has not left.
            Carried::Lost if wants_token => self.question.unsent(),
            Carried::NotSent => self.question.unsent(),
            // An inquiry may already have been told that it never arrives.
            Carried::Lost | Carried::Late => self.question.unknown(),
            // The operator took nothing from somebody whom it does not know any more: ask as somebody whom it knows.
            Carried::Answered(reply) if reply.status == 401 && self.steps == 0 && self.forget_token(engine) => {
                self.next = Next::Begin;
                return;
            }
            Carried::Answered(reply) => match self.question.decode(rail, &self.link(engine), reply) {
                Heard::Answer(answer) => answer,
                Heard::Ask(request) if self.steps < STEPS_MAX => {
                    self.steps += 1;
                    self.next = Next::Ask(request.into());
                    return;
                }
                Heard::Ask(_) => self.question.unknown(),
            },
        };
        self.end(engine, carried, answer);
    }

    /// Forgets a token that others used before, so that the operator may have ended it; `false` if it was a new one.
    fn forget_token(&mut self, engine: &Engine) -> bool {
        let old = self.token.take_if(|held| held.was_used());
        old.inspect(|held| engine.tokens.forget(&self.spec, held)).is_some()
    }

    /// Ends without another request: the time is up, and others may ask what became of it.
    fn give_up(&mut self) -> Step<Q::Answer> {
        self.next = Next::Done(self.question.unknown());
        Step::Done(self.question.unknown())
    }

    /// Ends with an answer. What it says about the operator is taken note of.
    fn end(&mut self, engine: &Engine, carried: &Carried, answer: Q::Answer) {
        if let Some(pulse) = engine.routes().pulse(self.question.provider()) {
            if let Some(outcome) = self.question.outcome(carried, &answer) {
                pulse.hear(outcome, engine.env.steady() - self.began);
            }
            if let Some(health) = self.question.said(&answer) {
                pulse.says(health);
            }
        }
        self.next = Next::Done(answer);
    }

    fn link(&self, engine: &Engine) -> Link<'_> {
        Link {
            provider: &self.spec,
            token: self.token.as_ref().map(Held::token),
            callback_url: self.callback_url.as_deref(),
            asked: self.asked.as_ref(),
            now: engine.now(),
        }
    }

    /// The request as it leaves: within its time, and signed if its rail wants it.
    fn leave(&mut self, engine: &Engine, mut request: HttpRequest, step: fn(HttpRequest) -> Step<Q::Answer>) -> Step<Q::Answer> {
        let end = self.question.leave_by().unwrap_or(self.began + ASKING_MS);
        let left = u64::try_from(end - engine.env.steady()).unwrap_or(0);
        if left == 0 {
            return self.give_up();
        }
        request.timeout_ms = self.spec.answer_ms.unwrap_or(request.timeout_ms).min(left);
        request.connect_ms = self.spec.connect_ms;
        request.leave_by = self.question.leave_by();
        request.tls = tls_of(&self.spec);
        if request.signed && engine.sign_outgoing(&mut request).is_err() {
            // There is no key: nothing leaves.
            self.next = Next::Done(self.question.unsent());
            return Step::Done(self.question.unsent());
        }
        step(request)
    }
}

fn tls_of(spec: &ProviderSpec) -> Option<Arc<Tls>> {
    let setting = |name| spec.settings.get(name).cloned();
    let identity = setting(TLS_CERTIFICATES).zip(spec.secrets.get(TLS_KEY).map(|key| key.to_owned().into()));
    let tls = Tls { authorities: setting(TLS_AUTHORITIES), identity };
    (tls.authorities.is_some() || tls.identity.is_some()).then(|| Arc::new(tls))
}

impl Engine {
    /// Signs a request with the key that receipts are signed with, whose public half is at `/.well-known/jwks.json`.
    fn sign_outgoing(&self, request: &mut HttpRequest) -> Result<()> {
        let mut nonce = [0u8; 16];
        self.env.random(&mut nonce);
        let nonce = base16ct::lower::encode_string(&nonce);
        let fields: Vec<(&str, &[u8])> = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let outgoing = Outgoing { method: request.method, target_uri: &request.url, fields: &fields, body: &request.body };
        let stamp = Stamp { created: self.now().div_euclid(1_000), nonce: &nonce, tag: TAG_RAIL, label: "sig1" };
        let signed = sign_request(&*self.receipt_key()?, &outgoing, &stamp).map_err(Error::internal)?;
        let added = [("content-digest", signed.content_digest)];
        let made = [("signature-input", Some(signed.signature_input)), ("signature", Some(signed.signature))];
        request.headers.extend(added.into_iter().chain(made).filter_map(|(name, value)| Some((name.to_owned(), value?))));
        Ok(())
    }
}
