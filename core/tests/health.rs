//! Providers that do not answer: payments go to others, wait, and find out when one answers again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use crate::plain_rail::{PlainRail, provider};
use crate::support::target;
use railgate::api::{Caller, CreateRequest, ReverseRequest, SettlementStatus, SettlementView, Verdict};
use railgate::auth::{Signer as _, SoftwareKey};
use railgate::engine::{DecidePayment, EnrollDevice, MakeDeviceCode, Operated, PutProviders, Shown, SwitchProvider};
use railgate::env::{Env as _, ManualEnv};
use railgate::ids::Ulid;
use railgate::ledger::Mode;
use railgate::rail::adapter::Adapter;
use railgate::rail::{Carried, Carrier, HttpReply, HttpRequest, Rails};
use railgate::route::health::{BreakerState, Health, Outcome, Reading};
use railgate::route::{Availability, ProviderSpec, RouteRefusal};
use railgate::store::memory::MemoryStore;
use railgate::validate::mobile::parse_user;
use railgate::{Client, Config, ErrorCode, Gateway};

const START: i64 = 1_795_257_497_042;

/// A network with the operators `one.example` and `two.example`, of which some do not answer.
#[derive(Default)]
struct Network {
    down: Mutex<BTreeSet<&'static str>>,
    /// The hosts of the requests that move money.
    asked: Mutex<Vec<String>>,
    answer: Mutex<Option<(u16, &'static str)>>,
}

impl Network {
    fn take_down(&self, operator: &'static str) {
        self.down.lock().unwrap().insert(operator);
    }

    fn bring_up(&self, operator: &str) {
        self.down.lock().unwrap().remove(operator);
    }

    /// How many requests that move money went to an operator since the last call.
    fn asked(&self, operator: &str) -> usize {
        let mut asked = self.asked.lock().unwrap();
        let before = asked.len();
        asked.retain(|host| host != operator);
        before - asked.len()
    }
}

impl Carrier for Network {
    fn carry(&self, request: &HttpRequest) -> Carried {
        let host = request.url.split('/').nth(2).unwrap().trim_end_matches(".example").to_owned();
        let down = self.down.lock().unwrap().contains(host.as_str());
        if request.method == "PUT" {
            self.asked.lock().unwrap().push(host);
        }
        if down {
            return Carried::NotSent;
        }
        let (status, body) = self.answer.lock().unwrap().unwrap_or((200, r#"{"status":"paid"}"#));
        Carried::Answered(HttpReply { status, headers: Vec::new(), body: body.as_bytes().to_vec() })
    }
}

struct World {
    gateway: Gateway,
    env: Arc<ManualEnv>,
    client: railgate::api::Enrolled,
    network: Network,
}

impl World {
    /// With the providers `one` and `two`, in this order, and the simulated one.
    fn new() -> Self {
        let env = Arc::new(ManualEnv::new(START, 1));
        let mut providers = vec![provider("one", "https://one.example"), provider("two", "https://two.example")];
        for provider in &mut providers {
            provider.namespaces = railgate::route::Serves::Only(vec![railgate::participant::Namespace::Msisdn]);
        }
        providers.extend(Config::sandbox().providers);
        let config = Config { providers, rails: Rails::built_in().with(PlainRail), ..Config::sandbox() };
        let gateway = Gateway::open_with(Arc::new(MemoryStore::new()), env.clone(), config).unwrap();
        let client = gateway.enroll("Shop").unwrap();
        Self { gateway, env, client, network: Network::default() }
    }

    fn shop(&self) -> Client<'_> {
        self.gateway.client(&self.client)
    }

    fn request(reference: &str, pinned: Option<&str>) -> CreateRequest {
        let request = CreateRequest::new("10 EUR".parse().unwrap(), "msisdn:+254700000001".parse().unwrap(), reference.parse().unwrap());
        CreateRequest { provider: pinned.map(str::to_owned), ..request }
    }

    fn create(&self, reference: &str, pinned: Option<&str>) -> SettlementView {
        self.shop().create(Self::request(reference, pinned)).unwrap().settlement
    }

    /// Creates a payment and carries everything that is due.
    fn pay(&self, reference: &str, pinned: Option<&str>) -> SettlementView {
        self.create(reference, pinned);
        self.work();
        self.shop().settlement(reference).unwrap()
    }

    fn work(&self) {
        self.gateway.work_with(&self.network).unwrap();
    }

    fn pass(&self, ms: i64) {
        let end = self.env.now() + ms;
        while let Some(due) = self.gateway.next_due().unwrap().filter(|due| *due <= end) {
            self.env.advance_to(due);
            self.work();
        }
        self.env.advance_to(end);
    }

    /// Opens the breaker of an operator with payments that fail there.
    fn open(&self, operator: &'static str) {
        self.network.take_down(operator);
        for n in 0..5 {
            assert_eq!(self.reading(operator).breaker, BreakerState::Closed);
            self.pay(&format!("{operator}-fails-{n}"), Some(operator));
        }
        assert_eq!(self.reading(operator).breaker, BreakerState::Open);
        assert_eq!(self.network.asked(operator), 5);
    }

    /// As an operator does.
    fn switch(&self, provider: &str, to: Availability) {
        let engine = self.gateway.engine();
        engine.run(Operated(SwitchProvider { id: provider.to_owned(), to, expected: None, reason: None })).unwrap();
        assert!(engine.follow_setup().unwrap());
    }

    fn reading(&self, provider: &str) -> Reading {
        let engine = self.gateway.engine();
        engine.reading(engine.routes().number(provider).unwrap())
    }

    fn status(&self, reference: &str) -> SettlementStatus {
        self.shop().settlement(reference).unwrap().status
    }

    /// The route of a payment as a check shows it: provider, verdict, why not, health. Without the simulated ones.
    fn route(&self) -> Vec<(String, Verdict, Option<RouteRefusal>, Health)> {
        let body = r#"{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"checked"}"#;
        let steps = self.shop().check_json(body).unwrap().route.into_iter();
        steps.take(2).map(|step| (step.provider, step.verdict, step.why, step.health)).collect()
    }
}

#[test]
fn payments_pass_over_a_provider_that_does_not_answer_and_return_when_it_does() {
    let world = World::new();
    assert_eq!(world.pay("before", None).provider, "one");
    let of = |provider: &str, verdict, why, health| (provider.to_owned(), verdict, why, health);
    let two = || of("two", Verdict::In, None, Health::Up);
    assert_eq!(world.route(), [of("one", Verdict::In, None, Health::Up), two()]);

    world.network.asked("one");
    world.pass(60_000);
    world.open("one");
    assert_eq!(world.route(), [of("one", Verdict::Out, Some(RouteRefusal::Unavailable), Health::Down), two()]);
    assert_eq!(world.create("meanwhile", None).provider, "two");
    world.work();
    assert_eq!((world.status("meanwhile"), world.network.asked("one")), (SettlementStatus::Completed, 0));

    // After ten seconds it is tried again: by one payment, which then fails over, as it did before.
    world.pass(10_000);
    assert_eq!(world.route(), [of("one", Verdict::In, None, Health::Degraded), two()]);
    let probe = world.pay("probe", None);
    assert_eq!((probe.status, probe.provider.as_str(), probe.attempts), (SettlementStatus::Completed, "two", 2));
    assert_eq!(world.reading("one").health, Health::Down);

    world.network.bring_up("one");
    world.pass(20_000);
    assert_eq!(world.pay("again", None).provider, "one");
    assert_eq!(world.route(), [of("one", Verdict::In, None, Health::Up), two()]);
    assert_eq!(world.reading("one").success_rate, Some(1.0), "the outage is over, and so are its figures");
}

#[test]
fn a_refusal_is_an_answer() {
    let world = World::new();
    *world.network.answer.lock().unwrap() = Some((200, r#"{"status":"refused","code":"nobody"}"#));
    for n in 0..20 {
        assert_eq!(world.pay(&format!("refused-{n}"), Some("one")).status, SettlementStatus::Failed);
    }
    let reading = world.reading("one");
    assert_eq!((reading.health, reading.success_rate), (Health::Up, Some(1.0)));
}

#[test]
fn an_unclear_answer_is_a_failure_whatever_inquiries_find() {
    let world = World::new();
    *world.network.answer.lock().unwrap() = Some((500, ""));
    for n in 0..5 {
        assert_eq!(world.pay(&format!("unclear-{n}"), Some("one")).status, SettlementStatus::Unknown);
    }
    assert_eq!(world.reading("one").breaker, BreakerState::Open);
    *world.network.answer.lock().unwrap() = None;
    world.pass(9_000);
    assert_eq!(world.status("unclear-0"), SettlementStatus::Completed, "asked after five seconds, breaker or not");
    assert_eq!(world.reading("one").breaker, BreakerState::Open, "that it answers questions does not mean that it takes payments");
}

#[test]
fn a_payment_that_nobody_could_take_waits_and_is_not_lost() {
    let world = World::new();
    world.open("one");
    world.create("waits", Some("one"));
    world.create("cancelled", Some("one"));
    let expires_at = Some(world.env.now() + 5_000);
    world.shop().create(CreateRequest { expires_at, ..World::request("expires", Some("one")) }).unwrap();
    let body = r#"{"amount":10,"currency":"EUR","to":"msisdn:+254700000001","reference":"checked","provider":"one"}"#;
    let check = world.shop().check_json(body).unwrap();
    assert!(check.ok);
    assert_eq!(check.warnings.iter().map(|it| &*it.code).collect::<Vec<_>>(), ["provider_unavailable"]);
    assert_eq!((check.route[0].verdict, check.route[0].health), (Verdict::In, Health::Down), "no other is on its route");

    world.work();
    world.pass(5_000);
    assert_eq!(world.network.asked("one"), 0);
    assert_eq!(world.status("waits"), SettlementStatus::Accepted);
    world.shop().reverse("cancelled", ReverseRequest::default()).unwrap();
    assert_eq!(world.status("cancelled"), SettlementStatus::Cancelled, "nothing of it had left");

    world.network.bring_up("one");
    world.pass(5_000);
    assert_eq!((world.status("waits"), world.status("expires")), (SettlementStatus::Completed, SettlementStatus::Cancelled));
    assert_eq!((world.network.asked("one"), world.reading("one").breaker), (1, BreakerState::Closed));
    assert_eq!(world.shop().balance("EUR").unwrap().reserved.as_str(), "0.00");
}

#[test]
fn three_payments_find_out_and_the_others_follow() {
    let world = World::new();
    world.open("one");
    for n in 0..10 {
        world.create(&format!("p-{n}"), Some("one"));
    }
    world.work();
    // Those that leave are chosen together, before the first of them is heard of.
    world.env.advance_to(world.gateway.next_due().unwrap().unwrap());
    *world.network.answer.lock().unwrap() = Some((500, ""));
    world.network.bring_up("one");
    world.work();
    assert_eq!((world.network.asked("one"), world.reading("one").breaker), (3, BreakerState::Open));

    *world.network.answer.lock().unwrap() = None;
    world.pass(26_000);
    assert_eq!(world.network.asked("one"), 7, "three find out, the others leave within five seconds");
    assert_eq!((0..10).filter(|n| world.status(&format!("p-{n}")) == SettlementStatus::Completed).count(), 10);
}

#[test]
fn what_was_accepted_for_a_provider_that_failed_meanwhile_goes_to_another_before_it_leaves() {
    let world = World::new();
    assert_eq!(world.create("early", None).provider, "one");
    let early = world.shop().settlement("early").unwrap();
    // Five others fail there before it is sent.
    let engine = world.gateway.engine();
    let one = engine.routes().number("one").unwrap();
    (0..5).for_each(|_| engine.routes().pulse(one).unwrap().hear(Outcome::Failed, 10));
    world.work();
    let paid = world.shop().settlement("early").unwrap();
    assert_eq!((paid.status, paid.provider.as_str(), paid.attempts), (SettlementStatus::Completed, "two", 1));
    assert_eq!(paid.fee, early.fee);
    assert_eq!(world.network.asked("one"), 0);
    let agree = world.gateway.client(&world.client).reconcile("early").unwrap();
    assert_eq!(agree.findings.iter().filter(|it| it.code != "rail_disagrees").count(), 0, "{:?}", agree.findings);
}

#[test]
fn what_waited_for_its_user_while_its_provider_was_switched_off_goes_to_another() {
    let world = World::new();
    let (engine, caller) = (world.gateway.engine(), world.client.caller);
    let (limits, _) = parse_user(br#"{"limits":[{"currency":"EUR","approval_over":0}]}"#).unwrap();
    let made = engine.run(MakeDeviceCode { caller, name: "ada".to_owned(), limits, link: "app:{code}".to_owned() }).unwrap();
    let (key, platform) = (SoftwareKey::ed25519(&[7; 32]).public_key(), "android".to_owned());
    let phone = EnrollDevice { code: made.code, key, platform, app_version: None, model: None, label: None, attestation: None };
    let ada = engine.run(phone).unwrap();
    for (n, away) in [Availability::Disabled, Availability::Maintenance].into_iter().enumerate() {
        let reference = format!("waits-{n}");
        let request = CreateRequest { user: Some("ada".to_owned()), ..World::request(&reference, None) };
        assert_eq!(world.shop().create(request.clone()).unwrap().settlement.provider, "one");
        world.switch("one", away);
        let record = engine.settlement(&caller, &target(&reference)).unwrap();
        let shown = Shown { money: request.money, to: request.to, reference: request.reference, payee_name: None };
        let id = engine.view(&record, caller.client_id).id;
        let settlement = Ulid::parse(id.strip_prefix("stl_").unwrap()).unwrap();
        let caller = Caller { user: Some(ada.user.no), ..caller };
        engine.run(DecidePayment { caller, key: ada.key.no, settlement, approve: true, shown, reason: None }).unwrap();
        world.work();
        let paid = world.shop().settlement(&reference).unwrap();
        assert_eq!((paid.status, paid.provider.as_str(), paid.attempts), (SettlementStatus::Completed, "two", 1));
        assert_eq!((world.network.asked("one"), world.network.asked("two")), (0, 1), "{away:?}");
        world.switch("one", Availability::Enabled);
    }
}

#[test]
fn what_no_other_takes_waits_until_its_provider_is_switched_on() {
    let world = World::new();
    world.open("one");
    world.create("waits", Some("one"));
    world.create("cancelled", Some("one"));
    let expires_at = Some(world.env.now() + 60_000);
    world.shop().create(CreateRequest { expires_at, ..World::request("expires", Some("one")) }).unwrap();
    world.switch("one", Availability::Disabled);
    world.network.bring_up("one");
    world.pass(60_000);
    assert_eq!(world.network.asked("one"), 0);
    world.shop().reverse("cancelled", ReverseRequest::default()).unwrap();
    assert_eq!((world.status("waits"), world.status("cancelled")), (SettlementStatus::Accepted, SettlementStatus::Cancelled));

    world.switch("one", Availability::Enabled);
    world.pass(30_000);
    assert_eq!((world.status("waits"), world.status("expires")), (SettlementStatus::Completed, SettlementStatus::Cancelled));
    assert_eq!(world.network.asked("one"), 1);
}

#[test]
fn what_a_provider_was_sent_before_it_was_switched_off_is_sent_there_again_if_it_got_lost() {
    let world = World::new();
    *world.network.answer.lock().unwrap() = Some((404, ""));
    assert_eq!(world.pay("lost", None).status, SettlementStatus::Unknown);
    world.switch("one", Availability::Disabled);
    assert_eq!(world.network.asked("one"), 1);
    // An inquiry that does not find it, late enough, is proof.
    world.pass(119_000);
    *world.network.answer.lock().unwrap() = None;
    world.pass(10_000_000);
    let paid = world.shop().settlement("lost").unwrap();
    assert_eq!((paid.status, paid.provider.as_str(), paid.attempts), (SettlementStatus::Completed, "one", 1));
    assert_eq!((world.network.asked("one"), world.network.asked("two")), (1, 0));
}

#[test]
fn one_clients_simulated_outages_close_no_provider_to_others() {
    let world = World::new();
    for n in 0..30 {
        let to = "sim:provider-down".parse().unwrap();
        world.shop().create(CreateRequest::new("1 EUR".parse().unwrap(), to, format!("sim-{n}").parse().unwrap())).unwrap();
        world.work();
    }
    for simulated in ["simulator", "simulator-backup"] {
        assert_eq!(world.reading(simulated), Reading::NONE);
    }
}

#[test]
fn clients_see_the_providers_of_their_modes_except_those_that_are_switched_off() {
    let world = World::new();
    let engine = world.gateway.engine();
    let live = r#"{"id":"bank","name":"Bank","rail":"plain","mode":"live","currencies":["EUR"],"limits":{"EUR":{"max":"500"}},
        "fees":[{"flat":"0.10","percent":"0.5","tiers":[{"from":"100","flat":"1"}]}]}"#;
    engine.run(Operated(PutProviders { providers: vec![(serde_json::from_str(live).unwrap(), None)], reason: None })).unwrap();
    world.switch("two", Availability::Disabled);
    world.switch("simulator", Availability::Maintenance);

    let of_sandbox = world.client.caller;
    let of_live = Caller { mode: Mode::Live, ..of_sandbox };
    let ids = |caller| engine.providers(&caller).into_iter().map(|it| it.id).collect::<Vec<_>>();
    assert_eq!(ids(of_sandbox), ["one", "simulator", "simulator-backup"]);
    assert_eq!(ids(of_live), ["one", "simulator", "simulator-backup", "bank"]);
    for (caller, id) in [(of_sandbox, "bank"), (of_sandbox, "two"), (of_live, "two"), (of_live, "nobody")] {
        assert_eq!(engine.provider_by_id(&caller, id).unwrap_err().code, ErrorCode::ProviderNotFound, "{id}");
    }
    assert_eq!(engine.provider_by_id(&of_sandbox, "simulator").unwrap().status, Health::Maintenance);
    let bank = serde_json::to_string(&engine.provider_by_id(&of_live, "bank").unwrap()).unwrap();
    let takes = r#""sandbox":false,"namespaces":null,"currencies":["EUR"],"countries":[],"limits":{"EUR":{"min":0.01,"max":500.00}}"#;
    let fees = r#""fees":[{"currency":null,"namespace":null,"flat":0.1,"percent":0.5,"min":0,"max":null,"tiers":[{"from":100,"flat":1,"percent":0}],"refund":"none"}]"#;
    assert!(bank.contains(takes) && bank.contains(fees), "{bank}");
}

#[test]
fn a_provider_that_is_changed_is_known_nothing_about() {
    let world = World::new();
    world.open("one");
    world.network.bring_up("one");
    world.switch("one", Availability::Maintenance);
    assert_eq!(world.route()[0].3, Health::Maintenance);
    world.switch("one", Availability::Enabled);
    assert_eq!(world.reading("one"), Reading::NONE);
    assert_eq!(world.pay("after", None).provider, "one");
}

#[test]
fn a_provider_that_says_it_takes_nothing_gets_nothing_until_it_says_otherwise_or_falls_silent() {
    let world = World::new();
    let engine = world.gateway.engine();
    let one = engine.routes().number("one").unwrap();
    let says = |health| engine.routes().pulse(one).unwrap().says(health);
    let first = || world.route()[0].clone();
    let of_one = |verdict, why, health| ("one".to_owned(), verdict, why, health);
    for away in [Health::Down, Health::Maintenance] {
        says(away);
        assert_eq!(first(), of_one(Verdict::Out, Some(RouteRefusal::Unavailable), away));
        assert_eq!(world.create(&format!("meanwhile-{}", away.as_str()), None).provider, "two");
        says(Health::Degraded);
        assert_eq!(first(), of_one(Verdict::In, None, Health::Degraded), "it is shown, and takes payments");
        assert_eq!(world.create(&format!("again-{}", away.as_str()), None).provider, "one");
    }
    says(Health::Up);
    assert_eq!(first(), of_one(Verdict::In, None, Health::Up));
    world.work();
    world.network.asked("one");

    // A payment that no other can take waits for its word.
    says(Health::Maintenance);
    world.create("waits", Some("one"));
    world.pass(60_000);
    assert_eq!((world.status("waits"), world.network.asked("one")), (SettlementStatus::Accepted, 0));
    assert_eq!(world.reading("one").updated_at, Some(world.env.now() - 60_000));
    says(Health::Up);
    world.pass(5_000);
    assert_eq!(world.status("waits"), SettlementStatus::Completed);

    says(Health::Down);
    world.create("silent", Some("one"));
    world.pass(119_999);
    assert_eq!((world.status("silent"), world.reading("one").health), (SettlementStatus::Accepted, Health::Down));
    world.pass(1);
    assert_eq!((world.status("silent"), world.reading("one").health), (SettlementStatus::Completed, Health::Up));
}

#[test]
fn the_providers_that_can_say_how_they_are_are_asked_unless_they_are_switched_off() {
    let says = |id: &str, availability| {
        let spec = ProviderSpec::new(id, id, Mode::Sandbox, &Adapter);
        ProviderSpec { base_url: Some(format!("https://{id}.example")), availability, ..spec }
    };
    let mut providers =
        vec![says("on", Availability::Enabled), says("off", Availability::Disabled), says("away", Availability::Maintenance)];
    providers.push(provider("silent", "https://silent.example"));
    providers.extend(Config::sandbox().providers);
    let config = Config { providers, rails: Rails::built_in().with(PlainRail), ..Config::sandbox() };
    let gateway = Gateway::open_with(Arc::new(MemoryStore::new()), Arc::new(ManualEnv::new(START, 1)), config).unwrap();
    let engine = gateway.engine();
    let asked: Vec<String> = engine.with_heartbeat().iter().map(|(no, _)| engine.provider_name(*no)).collect();
    assert_eq!(asked, ["on", "away"]);
}

#[test]
fn that_it_says_it_is_up_opens_no_breaker() {
    let world = World::new();
    world.open("one");
    let engine = world.gateway.engine();
    engine.routes().pulse(engine.routes().number("one").unwrap()).unwrap().says(Health::Up);
    assert_eq!((world.reading("one").health, world.route()[0].1), (Health::Down, Verdict::Out), "only payments prove that");
}
