//! The gateway of a test: in memory, with a key of its own, which it serves, and a door for callbacks. It sends what production would.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use railgate::api::{Action, CreateRequest, Enrolled, RailCall, ReverseRequest, Subject, Work};
use railgate::engine::{LeaseTasks, Question, ReportAnswer, Step};
use railgate::env::{Env as _, SystemEnv};
use railgate::ids::ProviderNo;
use railgate::ledger::Mode;
use railgate::money::Money;
use railgate::participant::Participant;
use railgate::rail::adapter::{Adapter, CALLBACK_SECRET, REVERSALS, TOKEN};
use railgate::rail::{CallbackError, Carried, Carrier as _, HttpReply, HttpRequest, Inbound, Rail as _, RailAnswer, Rails};
use railgate::route::{ProviderSpec, Secrets};
use railgate::seal::MasterKeys;
use railgate::store::memory::MemoryStore;
use railgate::validate::provider::parse_provider;
use railgate::{Config, Gateway};
use serde_json::json;
use tokio::net::TcpListener;
use zeroize::Zeroizing;

use super::TestArgs;
use crate::carrier::OneByOne;
use crate::cli::failure::{Done, Failure};

/// The adapter as a provider, and one that sends it a wrong token.
const ADAPTER: &str = "adapter";
const STRANGER: &str = "stranger";
/// The largest callback, in bytes.
const CALLBACK_MAX_BYTES: usize = 64 << 10;

/// A request, and what came of it.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) method: &'static str,
    pub(super) url: String,
    pub(super) body: String,
    carried: Carried,
    pub(super) took_ms: u64,
}

impl Seen {
    /// Method and path.
    pub(super) fn sent(&self) -> String {
        let path = self.url.split_once("/railgate/v1").map_or(self.url.as_str(), |(_, path)| path);
        format!("{} {path}", self.method)
    }

    /// The status, or why there is none.
    pub(super) fn came(&self) -> String {
        match &self.carried {
            Carried::Answered(reply) => reply.status.to_string(),
            Carried::NotSent => "no connection".to_owned(),
            Carried::Lost | Carried::Late => format!("no answer after {} ms", self.took_ms),
        }
    }

    pub(super) fn status(&self) -> Option<u16> {
        match &self.carried {
            Carried::Answered(reply) => Some(reply.status),
            Carried::NotSent | Carried::Lost | Carried::Late => None,
        }
    }

    /// The body that came, as far as it is text.
    pub(super) fn came_body(&self) -> &str {
        match &self.carried {
            Carried::Answered(reply) => std::str::from_utf8(&reply.body).unwrap_or("(bytes that are no text)"),
            Carried::NotSent | Carried::Lost | Carried::Late => "",
        }
    }
}

/// A callback that arrived.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) body: String,
    /// What it is about, or why it was refused.
    pub(super) read: Result<Subject, &'static str>,
}

struct Door {
    gateway: Gateway,
    jwks: String,
    arrived: Mutex<mpsc::Sender<Arrived>>,
}

/// The gateway of the test.
pub(super) struct Stand {
    door: Arc<Door>,
    shop: Enrolled,
    carrier: OneByOne,
    callbacks: Mutex<mpsc::Receiver<Arrived>>,
    seen: Mutex<Vec<Seen>>,
    base: String,
    next: AtomicU32,
}

impl Stand {
    pub(super) fn open(args: &TestArgs) -> Done<Self> {
        let env = Arc::new(SystemEnv::default());
        let mut secret = Zeroizing::new([0; 32]);
        env.random(&mut *secret);
        let gateway = Gateway::open_with(Arc::new(MemoryStore::new()), env.clone(), config(args, *secret)?)?;
        let shop = gateway.enroll("Test of an adapter")?;
        let jwks = gateway.receipt_keys()?;
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(2);
        let runtime = crate::cli::runtime(builder)?;
        let unusable = |error| Failure::new(format!("cannot listen on {}: {error}", args.listen));
        let listener = runtime.block_on(TcpListener::bind(args.listen)).map_err(unusable)?;
        let bound = listener.local_addr().map_err(unusable)?;
        let base = args.public_url.as_ref().map_or_else(|| format!("http://{bound}"), |url| url.trim_end_matches('/').to_owned());
        gateway.engine().reached_at(format!("{base}/api/v1/rails"));
        let (sender, callbacks) = mpsc::channel();
        let door = Arc::new(Door { gateway, jwks, arrived: Mutex::new(sender) });
        let router = Router::new()
            .route("/.well-known/jwks.json", get(async |State(door): State<Arc<Door>>| door.jwks.clone()))
            .route("/api/v1/rails/{provider}/callbacks", post(callback))
            .route("/api/v1/rails/{provider}/callbacks/{place}", post(callback_about))
            .layer(DefaultBodyLimit::max(CALLBACK_MAX_BYTES))
            .with_state(Arc::clone(&door));
        runtime.spawn(async move { axum::serve(listener, router).await });
        let carrier = OneByOne::new(runtime, env, args.provider_allow.clone());
        Ok(Self { door, shop, carrier, callbacks: Mutex::new(callbacks), seen: Mutex::default(), base, next: AtomicU32::new(1) })
    }

    /// Where the adapter finds the keys.
    pub(super) fn base(&self) -> &str {
        &self.base
    }

    pub(super) fn provider(&self) -> ProviderNo {
        self.number(ADAPTER)
    }

    /// A provider that sends the adapter a wrong token, if there is a right one.
    pub(super) fn stranger(&self) -> Option<ProviderNo> {
        self.door.gateway.engine().routes().number(STRANGER)
    }

    fn number(&self, id: &str) -> ProviderNo {
        self.door.gateway.engine().routes().number(id).unwrap_or(ProviderNo(0))
    }

    /// The next callback, if one arrives within this time.
    pub(super) fn arrived(&self, within: Duration) -> Option<Arrived> {
        self.callbacks.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(within).ok()
    }

    /// What was sent and came since the last call.
    pub(super) fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The call that pays somebody, not sent yet.
    pub(super) fn pay(&self, to: &Participant, money: Money) -> railgate::Result<RailCall> {
        let reference = format!("test-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let request = CreateRequest::new(money, to.clone(), reference.parse().map_err(railgate::Error::internal)?);
        self.shop().create(CreateRequest { provider: Some(ADAPTER.to_owned()), ..request })?;
        self.leased()
    }

    /// The call that gives back a part of what `paid` paid, not sent yet. The payment must be completed in the gateway.
    pub(super) fn reverse(&self, paid: &RailCall, money: Money) -> railgate::Result<RailCall> {
        let reference = format!("back-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let request =
            ReverseRequest { amount: money.decimal().parse().ok(), reference: reference.parse().ok(), ..ReverseRequest::default() };
        self.shop().reverse(paid.reference.as_str(), request)?;
        self.leased()
    }

    fn shop(&self) -> railgate::Client<'_> {
        self.door.gateway.client(&self.shop)
    }

    /// The only call that is due. Others are inquiries, which the checks make themselves.
    fn leased(&self) -> railgate::Result<RailCall> {
        let leases = self.door.gateway.engine().run(LeaseTasks::up_to(64))?;
        let mut calls = leases.into_iter().filter_map(|lease| match lease.work {
            Work::Call(call) if moves_money(&call) => Some(call),
            Work::Call(_) | Work::Callback { .. } => None,
        });
        calls.next_back().ok_or_else(|| railgate::Error::internal("the gateway of the test has nothing to send"))
    }

    /// Tells the gateway what the adapter said.
    pub(super) fn report(&self, call: &RailCall, answer: RailAnswer) -> railgate::Result<()> {
        self.door.gateway.engine().run(ReportAnswer { subject: call.subject, answer, lease: None })
    }

    /// Asks the adapter, as a server does, and returns the last reply. `alter` changes each request after it was signed.
    pub(super) fn ask<Q: Question>(&self, question: Q, alter: impl Fn(&mut HttpRequest)) -> Option<HttpReply> {
        let engine = self.door.gateway.engine();
        let (mut exchange, mut last) = (engine.exchange(question).ok()?, None);
        loop {
            match exchange.step(engine) {
                Step::Done(_) => return last,
                Step::Token(mut request) | Step::Send(mut request) => {
                    alter(&mut request);
                    let begun = Instant::now();
                    let carried = self.carrier.carry(&request);
                    exchange.heard(engine, &carried);
                    last = match &carried {
                        Carried::Answered(reply) => Some(reply.clone()),
                        Carried::NotSent | Carried::Lost | Carried::Late => None,
                    };
                    self.note(request, carried, begun.elapsed());
                }
            }
        }
    }

    fn note(&self, request: HttpRequest, carried: Carried, took: Duration) {
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let seen = Seen { method: request.method, url: request.url, body, carried, took_ms };
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

fn moves_money(call: &RailCall) -> bool {
    match call.action {
        Action::Submit | Action::Reverse => true,
        Action::Inquire | Action::InquireReversal => false,
    }
}

/// A gateway whose only operator is the adapter, checked as a file of providers is.
fn config(args: &TestArgs, secret: [u8; 32]) -> Done<Config> {
    let with_token = |id: &str, token: Option<&str>| {
        let secrets = [(TOKEN, token), (CALLBACK_SECRET, args.callback_secret.as_deref())];
        let secrets: serde_json::Map<_, _> = secrets.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?.into()))).collect();
        let body = json!({
            "id": id, "name": id, "rail": Adapter.kind(), "mode": Mode::Sandbox.as_str(), "base_url": args.url,
            "settings": { REVERSALS: args.reversals.setting() }, "secrets": secrets,
        });
        let body = Zeroizing::new(body.to_string());
        parse_provider(body.as_bytes(), &Rails::built_in()).map(|request| request.spec).map_err(|error| Failure::from(error).exit(2))
    };
    let mut providers: Vec<ProviderSpec> = vec![with_token(ADAPTER, args.token.as_deref())?];
    if args.token.is_some() {
        let stranger = with_token(STRANGER, None)?;
        let secrets = Secrets([(TOKEN.to_owned(), Zeroizing::new("not-the-token".to_owned()))].into());
        providers.push(ProviderSpec { secrets, ..stranger });
    }
    let funding = Money::from_minor(args.amount.minor().saturating_mul(1_000), args.amount.currency());
    let master = Some(Arc::new(MasterKeys::generate(1, secret)));
    Ok(Config { providers, rails: Rails::built_in(), sandbox_funding: vec![funding], master, ..Config::default() })
}

async fn callback(State(door): State<Arc<Door>>, Path(provider): Path<String>, headers: HeaderMap, body: Bytes) -> StatusCode {
    door.receive(&provider, None, &headers, &body)
}

async fn callback_about(
    State(door): State<Arc<Door>>,
    Path((provider, place)): Path<(String, String)>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    door.receive(&provider, Some(&place), &headers, &body)
}

impl Door {
    /// As the server's route of callbacks does it.
    fn receive(&self, provider: &str, place: Option<&str>, headers: &HeaderMap, body: &[u8]) -> StatusCode {
        let engine = self.gateway.engine();
        let headers: Vec<_> = headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
        let inbound = Inbound { rail_key: None, source: None, headers: &headers, body, now: engine.now() };
        let (status, read) = match engine.read_callback(provider, place, inbound) {
            Ok(Ok(Some(reported))) => {
                let report = ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None };
                (engine.run(report).map_or(StatusCode::INTERNAL_SERVER_ERROR, |()| StatusCode::OK), Ok(reported.subject))
            }
            Ok(Ok(None)) => (StatusCode::NOT_FOUND, Err("it is about a payment or a reversal that was never asked for")),
            Ok(Err(CallbackError::Unauthenticated)) => (StatusCode::UNAUTHORIZED, Err("its signature, its time or its address is wrong")),
            Ok(Err(CallbackError::Malformed)) => {
                (StatusCode::BAD_REQUEST, Err("it cannot be read, contradicts itself, or is about something else than its address"))
            }
            Ok(Err(CallbackError::Unsupported)) => (StatusCode::NOT_FOUND, Err("its address is of no provider that takes callbacks")),
            Err(_) => (StatusCode::INTERNAL_SERVER_ERROR, Err("the gateway of the test could not read it")),
        };
        let arrived = Arrived { body: String::from_utf8_lossy(body).into_owned(), read };
        // Only the end of the test closes the channel.
        let _ = self.arrived.lock().unwrap_or_else(PoisonError::into_inner).send(arrived);
        status
    }
}
