//! Holds the exchanges with operators that the engine asks for.
//!
//! A request that provably did not leave is distinguished from one that may have; see [`Carried`]. A request is sent again
//! only if its rail declares that safe.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as Lock, PoisonError};

use railgate::api::{Action, Lease, RailCall, Subject};
use railgate::engine::{Question, Receive, ReportAnswer, Round, Step};
use railgate::ids::ProviderNo;
use railgate::lifecycle::attempt::AnswerKind;
use railgate::rail::{Carried, HttpRequest, RailAnswer};
use railgate::traceparent::TraceParent;
use railgate::webhook::{Cidr, Guard};
use railgate::{Error, Result};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::background::InFlight;
use crate::gateway::{Gateway, Tenant};
use crate::metrics::Metrics;
use crate::outbound::{Operators, Unanswered};
use crate::shares::Shares;
use crate::traces::{Kind, Span, TRACEPARENT, Traces};

/// Sends requests to operators. Clones share their connections.
#[derive(Clone)]
pub struct Carrier {
    gateway: Gateway,
    operators: Operators,
    metrics: Arc<Metrics>,
    /// Who is asking each provider for an access token.
    tokens: Arc<Lock<HashMap<ProviderNo, Arc<Mutex<()>>>>>,
    /// The calls that leases asked for and that are under way.
    in_flight: Shares<ProviderNo>,
    traces: Traces,
}

impl Carrier {
    /// Uses the system's network: https to public addresses, this machine, and the addresses of `allow`.
    pub fn new(gateway: Gateway, metrics: Arc<Metrics>, allow: Vec<Cidr>) -> Self {
        let operators = Operators::new(guard(allow), Arc::clone(gateway.engine().env()));
        Self { gateway, operators, metrics, tokens: Arc::default(), in_flight: Shares::default(), traces: Traces::default() }
    }

    /// The same, whose requests are spans.
    pub(crate) fn traced(self, traces: Traces) -> Self {
        Self { traces, ..self }
    }

    /// How many calls that leases asked for are under way to each operator outside the gateway.
    pub(crate) fn in_flight(&self) -> Vec<(ProviderNo, usize)> {
        self.in_flight.each()
    }

    /// Begins what the leases ask for. Calls to operators outside the gateway are on their own, and each is reported as soon as it is
    /// answered: however slow they are, nothing else waits for them. What needs no such call is returned, to be [done](Carrier::here)
    /// together.
    pub(crate) fn begin(&self, leases: Vec<Lease>, in_flight: &mut InFlight) -> Round {
        let mut round = self.gateway.engine().round(leases);
        let mut travelling = InFlight::new();
        for (call, key) in std::mem::take(&mut round.outside) {
            let (carrier, place) = (self.clone(), self.in_flight.take(call.provider, 1, |_| true));
            travelling.spawn(async move {
                let _counted = place;
                let subject = call.subject;
                let answer = carrier.ask(Tenant::GATEWAY, call).await?;
                carrier.report(vec![ReportAnswer { subject, answer, lease: Some(key) }]).await
            });
        }
        if !travelling.is_empty() {
            in_flight.spawn(async move {
                let mut ended = Ok(());
                // Requests that may have left are waited for, whatever else failed.
                while let Some(done) = travelling.join_next().await {
                    ended = done.unwrap_or_else(|panicked| Err(Error::internal(panicked))).and(ended);
                }
                ended
            });
        }
        round
    }

    /// Does what needs no call to an operator outside the gateway.
    ///
    /// # Errors
    /// One of the faults. Tasks that failed are leased again when their lease ends.
    pub(crate) async fn here(&self, mut round: Round) -> Result<()> {
        let mut fault = round.fault.take();
        match self.receive(&round).await {
            Ok(received) => round.received(received),
            Err(error) => fault = Some(error),
        }
        fault = self.report(round.answers).await.err().or(fault);
        fault.map_or(Ok(()), Err)
    }

    /// Asks an operator now, for `tenant`.
    ///
    /// # Errors
    /// If the store cannot be used, or the call's provider is no longer configured.
    pub async fn ask(&self, tenant: impl Into<Tenant>, call: RailCall) -> Result<RailAnswer> {
        if self.gateway.engine().is_inside(call.provider)? {
            return Ok(self.gateway.run(tenant, Receive(call)).await?.unwrap_or(RailAnswer::Unknown));
        }
        let (begun, provider) = (Instant::now(), self.gateway.engine().provider_name(call.provider));
        let mut span = self.span(&call, &provider);
        let answer = self.converse_in(call, span.place()).await?;
        span.set("railgate.answer", answer.kind().as_str());
        span.end();
        self.metrics.rail_took(&provider, begun.elapsed());
        self.metrics.rail_answer(&provider, answer.kind());
        Ok(answer)
    }

    /// Holds an exchange with an operator outside the gateway.
    ///
    /// # Errors
    /// If its provider is no longer configured.
    pub async fn converse<Q: Question>(&self, question: Q) -> Result<Q::Answer> {
        self.converse_in(question, None).await
    }

    /// The span of a call, in the trace of the settlement.
    fn span(&self, call: &RailCall, provider: &str) -> Span {
        if !self.traces.is_on() {
            return Span::none();
        }
        let (Subject::Attempt(no, _) | Subject::Reversal(no, _)) = call.subject;
        // Without its trace, a call is one of its own.
        let parent = self.gateway.look(|engine| engine.traceparent_of(no)).ok().flatten();
        let name = match call.action {
            Action::Submit => "rail submit",
            Action::Inquire => "rail inquire",
            Action::Reverse => "rail reverse",
            Action::InquireReversal => "rail inquire reversal",
        };
        let mut span = self.traces.begin(name, Kind::Client, parent);
        span.set("railgate.provider", provider.to_owned());
        span.set("railgate.rail_key", call.rail_key.clone());
        span
    }

    async fn converse_in<Q: Question>(&self, question: Q, place: Option<TraceParent>) -> Result<Q::Answer> {
        let engine = self.gateway.engine();
        let mut exchange = engine.exchange(question)?;
        loop {
            match exchange.step(engine) {
                Step::Done(answer) => return Ok(answer),
                Step::Send(request) => exchange.heard(engine, &self.send(exchange.question().provider(), request, place).await),
                Step::Token(_) => {
                    let asking = self.asking(exchange.question().provider());
                    let _alone = asking.lock().await;
                    // Meanwhile another exchange may have one.
                    if let Step::Token(request) = exchange.step(engine) {
                        exchange.heard(engine, &self.send(exchange.question().provider(), request, place).await);
                    }
                }
            }
        }
    }

    fn asking(&self, provider: ProviderNo) -> Arc<Mutex<()>> {
        Arc::clone(self.tokens.lock().unwrap_or_else(PoisonError::into_inner).entry(provider).or_default())
    }

    async fn send(&self, provider: ProviderNo, mut request: HttpRequest, place: Option<TraceParent>) -> Carried {
        request.headers.extend(place.map(|place| (TRACEPARENT.as_str().to_owned(), place.to_string())));
        send(&self.operators, &request, || self.gateway.engine().provider_name(provider)).await
    }

    /// Operators inside the gateway keep their books in the same store, so calls to them are commands.
    async fn receive(&self, round: &Round) -> Result<Vec<Result<Option<RailAnswer>>>> {
        let results = self.gateway.work_all(round.inside.iter().map(|(call, _)| Receive(call.clone())).collect()).await?;
        for ((call, _), result) in round.inside.iter().zip(&results) {
            let kind = match result {
                Ok(Some(answer)) => answer.kind(),
                Ok(None) => continue,
                Err(_) => AnswerKind::Unknown,
            };
            self.metrics.rail_answer(&self.gateway.engine().provider_name(call.provider), kind);
        }
        Ok(results)
    }

    async fn report(&self, answers: Vec<ReportAnswer>) -> Result<()> {
        // A task whose report fails is leased again when its lease ends; the others are not held up.
        self.gateway.work_all(answers).await?.into_iter().collect()
    }
}

fn guard(allow: Vec<Cidr>) -> Guard {
    Guard { insecure_loopback: true, allow }
}

/// Sends requests from a thread that may wait, one at a time.
pub(crate) struct OneByOne {
    runtime: Runtime,
    operators: Operators,
}

/// What drives the requests. A runtime of one thread is driven by its owner alone: a handle of it waits for ever.
enum Runtime {
    /// Its own, for a process that has no other.
    #[cfg(feature = "cli")]
    Own(tokio::runtime::Runtime),
    Other(tokio::runtime::Handle),
}

impl OneByOne {
    /// For a process without a gateway: uses the system's network, like [`Carrier::new`]. `env` is the one of the engine whose requests
    /// are sent.
    #[cfg(feature = "cli")]
    pub(crate) fn new(runtime: tokio::runtime::Runtime, env: Arc<dyn railgate::env::Env>, allow: Vec<Cidr>) -> Self {
        Self { runtime: Runtime::Own(runtime), operators: Operators::new(guard(allow), env) }
    }

    /// Like [`OneByOne::new`], on a runtime that is driven elsewhere.
    #[cfg(feature = "cli")]
    pub(crate) fn on(handle: tokio::runtime::Handle, env: Arc<dyn railgate::env::Env>, allow: Vec<Cidr>) -> Self {
        Self::guarded(handle, env, guard(allow))
    }

    /// To where `guard` allows.
    pub(crate) fn guarded(handle: tokio::runtime::Handle, env: Arc<dyn railgate::env::Env>, guard: Guard) -> Self {
        Self { runtime: Runtime::Other(handle), operators: Operators::new(guard, env) }
    }
}

impl railgate::rail::Carrier for OneByOne {
    fn carry(&self, request: &HttpRequest) -> Carried {
        let sent = send(&self.operators, request, || "?".to_owned());
        match &self.runtime {
            #[cfg(feature = "cli")]
            Runtime::Own(runtime) => runtime.block_on(sent),
            Runtime::Other(handle) => handle.block_on(sent),
        }
    }
}

/// Sends a request, and again if that is safe.
async fn send(operators: &Operators, request: &HttpRequest, provider: impl Fn() -> String) -> Carried {
    let mut may_have_left = false;
    for _ in 0..if request.repeatable { 2 } else { 1 } {
        match operators.send(request).await {
            Ok(reply) => return Carried::Answered(reply),
            Err(Unanswered::Late) if !may_have_left => return Carried::Late,
            Err(Unanswered::NotSent(error)) => {
                // What stands in the way of every call should not stay hidden behind an outage.
                tracing::warn!(provider = provider(), why = error.code(), "a request to an operator was not sent: {error}");
            }
            Err(Unanswered::Late | Unanswered::Lost(_)) => may_have_left = true,
        }
    }
    if may_have_left { Carried::Lost } else { Carried::NotSent }
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use railgate::rail::Carrier as _;

    use super::*;

    #[test]
    fn a_process_without_a_gateway_sends_a_request_and_tells_a_refused_connection_from_a_lost_answer() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let one_by_one = OneByOne::new(runtime, Arc::new(railgate::env::SystemEnv::default()), Vec::new());
        let ask = |url: String| one_by_one.carry(&HttpRequest { repeatable: false, ..HttpRequest::new("GET", url) });
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let operator = std::thread::spawn(move || {
            for answer in ["HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}", ""] {
                let (mut stream, _) = listener.accept().unwrap();
                let mut head = [0; 1_024];
                assert!(stream.read(&mut head).unwrap() > 0);
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        let url = format!("http://{address}/payments/1");
        assert!(matches!(ask(url.clone()), Carried::Answered(reply) if reply.status == 200 && reply.body == b"{}"));
        assert!(matches!(ask(url.clone()), Carried::Lost));
        operator.join().unwrap();
        // A port that the system gives to nobody by chance, unlike the one above.
        assert!(matches!(ask("http://127.0.0.1:1/payments/1".to_owned()), Carried::NotSent), "nobody listens");
    }
}
