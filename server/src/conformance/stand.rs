//! The gateway of a test: in memory, with the key of the test or of the gateway that makes it, and a door for callbacks. It sends what
//! production would.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use railgate::api::{Action, CreateRequest, Enrolled, RailCall, ReverseRequest, Subject, Work};
use railgate::engine::{LeaseTasks, Question, ReportAnswer, Step};
use railgate::env::Env;
use railgate::ids::{ProviderNo, Ulid};
use railgate::ledger::Mode;
use railgate::money::Money;
use railgate::participant::Participant;
use railgate::rail::adapter::TOKEN;
use railgate::rail::{CallbackError, Carried, Carrier, HttpReply, HttpRequest, Inbound, RailAnswer};
use railgate::route::{Availability, ProviderSpec, Secrets};
use railgate::store::memory::MemoryStore;
use railgate::{Config, Gateway};
use zeroize::Zeroizing;

use super::Plan;

/// A request, and what came of it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: &'static str,
    pub(crate) url: String,
    pub(crate) body: String,
    carried: Carried,
    pub(crate) took_ms: u64,
}

impl Seen {
    /// Method and path.
    #[cfg(feature = "cli")]
    pub(crate) fn sent(&self) -> String {
        let path = self.url.split_once("/railgate/v1").map_or(self.url.as_str(), |(_, path)| path);
        format!("{} {path}", self.method)
    }

    /// The status, or why there is none.
    pub(crate) fn came(&self) -> String {
        match &self.carried {
            Carried::Answered(reply) => reply.status.to_string(),
            Carried::NotSent => "no connection".to_owned(),
            Carried::Lost | Carried::Late => format!("no answer after {} ms", self.took_ms),
        }
    }

    pub(crate) fn status(&self) -> Option<u16> {
        match &self.carried {
            Carried::Answered(reply) => Some(reply.status),
            Carried::NotSent | Carried::Lost | Carried::Late => None,
        }
    }

    /// The body that came, as far as it is text.
    pub(crate) fn came_body(&self) -> &str {
        match &self.carried {
            Carried::Answered(reply) => std::str::from_utf8(&reply.body).unwrap_or("(bytes that are no text)"),
            Carried::NotSent | Carried::Lost | Carried::Late => "",
        }
    }
}

/// How many callbacks wait for a check that looks at them, and how much of a body is kept. Anybody who knows the address of a test can
/// send some, and a test needs few.
const KEPT: usize = 256;
const KEPT_BYTES: usize = 1 << 10;

/// A callback that arrived.
#[derive(Debug)]
pub(super) struct Arrived {
    /// Its body, or the beginning of it.
    pub(super) body: String,
    /// What it is about, or why it was refused.
    pub(super) read: Result<Subject, &'static str>,
}

/// What a callback gets for an answer, besides [`CallbackError`].
pub(crate) enum Received {
    /// It was taken note of, which this status says.
    Noted(u16),
    /// It is about nothing that was asked for.
    Unknown,
    /// It is refused.
    Refused(CallbackError),
    /// It could not be read.
    Broken,
}

/// Where the callbacks of a test arrive.
pub(crate) struct Door {
    gateway: Gateway,
    arrived: mpsc::SyncSender<Arrived>,
}

impl Door {
    /// Whether it is about the operator of this test.
    pub(crate) fn is_of(&self, provider: &str) -> bool {
        self.gateway.engine().routes().number(provider).is_some()
    }

    /// As the server's route of callbacks does it.
    pub(crate) fn receive(
        &self,
        provider: &str,
        place: Option<&str>,
        source: Option<IpAddr>,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Received {
        let engine = self.gateway.engine();
        let inbound = Inbound { rail_key: None, source, headers, body, now: engine.now() };
        let (received, read) = match engine.read_callback(provider, place, inbound) {
            Ok(Ok(Some(reported))) => {
                let report = ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None };
                (engine.run(report).map_or(Received::Broken, |()| Received::Noted(reported.status)), Ok(reported.subject))
            }
            Ok(Ok(None)) => (Received::Unknown, Err("it is about a payment or a reversal that was never asked for")),
            Ok(Err(error)) => {
                let why = match &error {
                    CallbackError::Unauthenticated => "its signature, its time or its address is wrong",
                    CallbackError::Malformed => "it cannot be read, contradicts itself, or is about something else than its address",
                    CallbackError::Unsupported => "its address is of no provider that takes callbacks",
                };
                (Received::Refused(error), Err(why))
            }
            Err(_) => (Received::Broken, Err("the gateway of the test could not read it")),
        };
        let body = String::from_utf8_lossy(body.get(..KEPT_BYTES).unwrap_or(body)).into_owned();
        // More than are kept are forgotten; only the end of the test closes the channel.
        let _ = self.arrived.try_send(Arrived { body, read });
        received
    }
}

/// The doors of the tests that a server makes. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Doors(Arc<Mutex<HashMap<String, Arc<Door>>>>);

impl Doors {
    /// The door of the test whose operator has this id.
    pub(crate) fn of(&self, provider: &str) -> Option<Arc<Door>> {
        let doors = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        doors.values().find(|door| door.is_of(provider)).cloned()
    }

    /// Opens the door of a test, until the guard is dropped.
    pub(crate) fn open(&self, stand: &Stand) -> Opened {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(stand.id.clone(), Arc::clone(&stand.door));
        Opened { doors: self.clone(), id: stand.id.clone() }
    }
}

/// A door that is open.
pub(crate) struct Opened {
    doors: Doors,
    id: String,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.doors.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

/// What the gateway of a test is made of.
pub(crate) struct World {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) env: Arc<dyn Env>,
    /// Rails and master keys; the rest is of the test.
    pub(crate) config: Config,
    pub(crate) carrier: Box<dyn Carrier + Send + Sync>,
}

/// The gateway of the test.
pub(crate) struct Stand {
    door: Arc<Door>,
    shop: Enrolled,
    carrier: Box<dyn Carrier + Send + Sync>,
    callbacks: Mutex<mpsc::Receiver<Arrived>>,
    seen: Mutex<Vec<Seen>>,
    /// The operator, and one that sends it a wrong token.
    id: String,
    next: AtomicU32,
}

impl Stand {
    /// A gateway whose only operator is the one that is tested.
    pub(crate) fn open(plan: &Plan, world: World) -> railgate::Result<Self> {
        let World { store, env, config, carrier } = world;
        let mut random = [0; 16];
        env.random(&mut random);
        let id = format!("test-{}", Ulid::new(env.now(), u128::from_be_bytes(random)).to_string().to_ascii_lowercase());
        let funding = Money::from_minor(plan.amount.minor().saturating_mul(1_000), plan.amount.currency());
        let config = Config { providers: providers(plan, &id), sandbox_funding: vec![funding], ..config };
        let gateway = Gateway::open_with(store, env, config)?;
        let shop = gateway.enroll("Test of an operator")?;
        let (sender, callbacks) = mpsc::sync_channel(KEPT);
        let door = Arc::new(Door { gateway, arrived: sender });
        Ok(Self { door, shop, carrier, callbacks: Mutex::new(callbacks), seen: Mutex::default(), id, next: AtomicU32::new(1) })
    }

    /// Where callbacks arrive.
    #[cfg(feature = "cli")]
    pub(crate) fn door(&self) -> Arc<Door> {
        Arc::clone(&self.door)
    }

    /// The keys that sign, as a JWK set.
    #[cfg(feature = "cli")]
    pub(crate) fn keys(&self) -> railgate::Result<String> {
        self.door.gateway.receipt_keys()
    }

    /// Says where the operator reaches the routes of callbacks.
    pub(crate) fn reached_at(&self, base: String) {
        self.door.gateway.engine().reached_at(base);
    }

    pub(super) fn provider(&self) -> ProviderNo {
        self.number(&self.id).unwrap_or(ProviderNo(0))
    }

    /// A provider that sends the operator a wrong token, if there is a right one.
    pub(super) fn stranger(&self) -> Option<ProviderNo> {
        self.number(&stranger(&self.id))
    }

    fn number(&self, id: &str) -> Option<ProviderNo> {
        self.door.gateway.engine().routes().number(id)
    }

    /// The next callback, if one arrives within this time.
    pub(super) fn arrived(&self, within: Duration) -> Option<Arrived> {
        self.callbacks.lock().unwrap_or_else(PoisonError::into_inner).recv_timeout(within).ok()
    }

    /// What was sent and came since the last call.
    pub(super) fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What came last.
    pub(super) fn last_came(&self) -> String {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).last().map_or_else(|| "nothing was sent".to_owned(), Seen::came)
    }

    /// The call that pays somebody, not sent yet.
    pub(super) fn pay(&self, to: &Participant, money: Money) -> railgate::Result<RailCall> {
        let reference = format!("test-{}", self.next.fetch_add(1, Ordering::Relaxed));
        let request = CreateRequest::new(money, to.clone(), reference.parse().map_err(railgate::Error::internal)?);
        self.shop().create(CreateRequest { provider: Some(self.id.clone()), ..request })?;
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

    /// Tells the gateway what the operator said.
    pub(super) fn report(&self, call: &RailCall, answer: RailAnswer) -> railgate::Result<()> {
        self.door.gateway.engine().run(ReportAnswer { subject: call.subject, answer, lease: None })
    }

    /// Asks the operator, as a server does: the last reply, and what all of them mean. `alter` changes each request after it was signed.
    pub(super) fn ask<Q: Question>(&self, question: Q, alter: impl Fn(&mut HttpRequest)) -> (Option<HttpReply>, Option<Q::Answer>) {
        let engine = self.door.gateway.engine();
        let Ok(mut exchange) = engine.exchange(question) else { return (None, None) };
        let mut last = None;
        loop {
            match exchange.step(engine) {
                Step::Done(answer) => return (last, Some(answer)),
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

fn stranger(id: &str) -> String {
    format!("{id}-stranger")
}

/// The operator under an id of its own, and as a stranger calls it. What it charges and takes does not matter here.
fn providers(plan: &Plan, id: &str) -> Vec<ProviderSpec> {
    let tested = ProviderSpec {
        id: id.to_owned(),
        mode: Mode::Sandbox,
        limits: Vec::new(),
        fees: Vec::new(),
        availability: Availability::Enabled,
        ..plan.provider.clone()
    };
    let mut all = vec![tested];
    if plan.is_adapter() && plan.provider.secrets.get(TOKEN).is_some() {
        let secrets = Secrets([(TOKEN.to_owned(), Zeroizing::new("not-the-token".to_owned()))].into());
        all.push(ProviderSpec { id: stranger(id), secrets, ..all[0].clone() });
    }
    all
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use railgate::engine::BundleTest;
    use railgate::env::SystemEnv;
    use railgate::validate::bundle::TestPlan;

    use super::super::checks::{Verdict, run_all};
    use super::*;

    struct Nobody;

    impl Carrier for Nobody {
        fn carry(&self, _: &HttpRequest) -> Carried {
            Carried::NotSent
        }
    }

    fn test() -> BundleTest {
        let (to, amount) = ("sim:ok".parse().unwrap(), "1.00 EUR".parse().unwrap());
        let plan = TestPlan { to, unknown_to: None, later_to: None, amount };
        BundleTest { bundle: 1, until: 0, provider: railgate::rail::sandbox_providers().remove(0), plan }
    }

    fn stand(plan: &Plan) -> Stand {
        let (store, env) = (Arc::new(MemoryStore::new()), Arc::new(SystemEnv::default()));
        Stand::open(plan, World { store, env, config: Config::sandbox(), carrier: Box::new(Nobody) }).unwrap()
    }

    #[test]
    fn a_flood_of_callbacks_takes_bounded_memory() {
        let stand = stand(&Plan::of(&test(), Arc::default()));
        for _ in 0..4 * KEPT {
            stand.door.receive(&stand.id, None, None, &[], &[0xff; 64 << 10]);
        }
        let kept: Vec<Arrived> = std::iter::from_fn(|| stand.arrived(Duration::ZERO)).collect();
        assert_eq!(kept.len(), KEPT);
        // A byte that is no text becomes a character of three.
        assert!(kept.iter().all(|it| it.read.is_err() && it.body.len() <= 3 * KEPT_BYTES));
    }

    #[test]
    fn after_four_minutes_a_test_asks_nothing_more_and_has_failed() {
        let begun = Instant::now();
        let plan = Plan::of(&test(), Arc::default());
        let time = plan.until.unwrap() - begun;
        assert!(time >= Duration::from_secs(240) && time <= Duration::from_secs(240) + begun.elapsed(), "{time:?}");
        let over = Plan { until: Some(begun), ..plan };
        let checks = run_all(&stand(&over), &over);
        let (last, others) = checks.split_last().unwrap();
        assert!(matches!(last.verdict, Verdict::Failed(_)) && checks.iter().all(|it| it.seen.is_empty()));
        assert!(!others.is_empty() && others.iter().all(|it| matches!(it.verdict, Verdict::Skipped(_))));
    }
}
