//! Sends the requests of rails to operators, and returns the operators' answers.
//!
//! A request that provably did not leave is distinguished from one that may have; see [`Carried`]. A request is sent again
//! only if its rail declares that safe.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use hyper::{HeaderMap, Method};
use railgate::api::{Lease, RailCall};
use railgate::engine::{Receive, ReportAnswer, Round};
use railgate::lifecycle::attempt::AnswerKind;
use railgate::rail::{Carried, HttpReply, HttpRequest, RailAnswer, Request};
use railgate::time::Millis;
use railgate::webhook::{Cidr, Guard};
use railgate::{Error, Result};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::gateway::{Gateway, Tenant};
use crate::metrics::Metrics;
use crate::outbound::{Limits, Outbound};

/// The largest reply of an operator, in bytes.
const REPLY_MAX_BYTES: usize = 64 << 10;

/// Sends requests to operators. Clones share their connections.
#[derive(Clone)]
pub struct Carrier {
    gateway: Gateway,
    outbound: Outbound,
    metrics: Arc<Metrics>,
}

impl Carrier {
    /// Uses the system's network. Whoever configures a provider chooses its address, so it may be inside the gateway's own
    /// network; without TLS it must be on this machine.
    pub fn new(gateway: Gateway, metrics: Arc<Metrics>) -> Self {
        Self { gateway, outbound: anywhere(), metrics }
    }

    /// Asks operators what the leases ask for, and reports each answer as soon as it is there.
    ///
    /// # Errors
    /// One of the faults. Tasks that failed are leased again when their lease ends.
    pub(crate) async fn carry(&self, leases: Vec<Lease>) -> Result<()> {
        let mut round = self.gateway.engine().round(leases);
        let mut travelling = JoinSet::new();
        for (call, key) in std::mem::take(&mut round.outside) {
            let carrier = self.clone();
            travelling.spawn(async move {
                let subject = call.subject;
                let answer = carrier.ask(Tenant::GATEWAY, call).await?;
                carrier.report(vec![ReportAnswer { subject, answer, lease: Some(key) }]).await
            });
        }
        let mut fault = round.fault.take();
        match self.receive(&round).await {
            Ok(received) => round.received(received),
            Err(error) => fault = Some(error),
        }
        fault = self.report(round.answers).await.err().or(fault);
        // Requests that may have left are waited for, whatever else failed.
        while let Some(done) = travelling.join_next().await {
            fault = done.unwrap_or_else(|panicked| Err(Error::internal(panicked))).err().or(fault);
        }
        fault.map_or(Ok(()), Err)
    }

    /// Asks an operator now, for `tenant`.
    ///
    /// # Errors
    /// If the store cannot be used, or the call's provider is no longer configured.
    pub async fn ask(&self, tenant: impl Into<Tenant>, call: RailCall) -> Result<RailAnswer> {
        match self.gateway.engine().request(&call)? {
            Request::Inside => Ok(self.gateway.run(tenant, Receive(call)).await?.unwrap_or(RailAnswer::Unknown)),
            Request::TooLate => Ok(RailAnswer::Unknown),
            Request::Http(request) => Ok(self.send(&call, request).await),
        }
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

    async fn send(&self, call: &RailCall, request: HttpRequest) -> RailAnswer {
        let (engine, begun) = (self.gateway.engine(), Instant::now());
        let carried = self.exchange(request).await;
        let took = begun.elapsed();
        let answer = engine.heard(call, &carried, Millis::try_from(took.as_millis()).unwrap_or(Millis::MAX));
        let provider = engine.provider_name(call.provider);
        self.metrics.rail_took(&provider, took);
        self.metrics.rail_answer(&provider, answer.kind());
        answer
    }

    /// Sends a request, and again if that is safe.
    pub(crate) async fn exchange(&self, request: HttpRequest) -> Carried {
        exchange(&self.outbound, request).await
    }
}

/// To wherever a provider is said to be.
fn anywhere() -> Outbound {
    let allow: Vec<Cidr> = ["0.0.0.0/0", "::/0"].iter().filter_map(|range| range.parse().ok()).collect();
    Outbound::new(Guard { insecure_loopback: true, allow }, Limits::default())
}

/// Sends the requests of a process without a gateway, one at a time.
#[cfg(feature = "cli")]
pub(crate) struct OneByOne {
    runtime: tokio::runtime::Runtime,
    outbound: Outbound,
}

#[cfg(feature = "cli")]
impl OneByOne {
    /// Uses the system's network, like [`Carrier::new`].
    pub(crate) fn new(runtime: tokio::runtime::Runtime) -> Self {
        Self { runtime, outbound: anywhere() }
    }
}

#[cfg(feature = "cli")]
impl railgate::rail::Carrier for OneByOne {
    fn carry(&self, request: &HttpRequest) -> Carried {
        self.runtime.block_on(exchange(&self.outbound, request.clone()))
    }
}

/// Sends a request, and again if that is safe.
async fn exchange(outbound: &Outbound, request: HttpRequest) -> Carried {
    let HttpRequest { method, url, headers, body, timeout_ms, repeatable } = request;
    let end = Instant::now() + Duration::from_millis(timeout_ms);
    let (Ok(method), Some(headers)) = (Method::from_bytes(method.as_bytes()), header_map(&headers)) else { return Carried::NotSent };
    let body = Bytes::from(body);
    let mut may_have_left = false;
    for _ in 0..if repeatable { 2 } else { 1 } {
        match outbound.exchange_whole((method.clone(), &url), headers.clone(), body.clone(), end, REPLY_MAX_BYTES).await {
            Ok((status, headers, body)) => {
                let text = |value: &hyper::header::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
                let headers = headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect();
                return Carried::Answered(HttpReply { status, headers, body });
            }
            Err(error) => may_have_left |= error.may_have_left(),
        }
    }
    if may_have_left { Carried::Lost } else { Carried::NotSent }
}

/// `None` if a name or a value is not valid in a header.
fn header_map(headers: &[(String, String)]) -> Option<HeaderMap> {
    headers.iter().map(|(name, value)| Some((name.parse::<hyper::header::HeaderName>().ok()?, value.parse().ok()?))).collect()
}

#[cfg(all(test, feature = "cli"))]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use railgate::rail::Carrier as _;

    use super::*;

    #[test]
    fn a_process_without_a_gateway_sends_a_request_and_tells_a_refused_connection_from_a_lost_answer() {
        let one_by_one = OneByOne::new(tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
        let ask = |url: String| {
            one_by_one.carry(&HttpRequest {
                method: "GET",
                url,
                headers: Vec::new(),
                body: Vec::new(),
                timeout_ms: 5_000,
                repeatable: false,
            })
        };
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
        assert!(matches!(ask(url), Carried::NotSent), "nobody listens any more");
    }
}
