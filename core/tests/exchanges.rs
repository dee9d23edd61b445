//! Exchanges of several requests with an operator: access tokens, steps that follow each other, deadlines, callbacks at addresses of
//! their own.

use crate::support;
use std::sync::{Arc, Mutex};

use crate::support::START;
use railgate::api::{Action, CreateRequest, RailCall, Work};
use railgate::engine::{Create, LeaseTasks, ReportAnswer, Reported, Step};
use railgate::env::{Env as _, ManualEnv};
use railgate::ledger::Mode;
use railgate::rail::{AccessToken, CallbackError, Carried, Heard, HttpReply, HttpRequest, Inbound, Link, Rail, RailAnswer, Rails, Request};
use railgate::route::health::Health;
use railgate::route::{Capabilities, ProviderSpec};
use railgate::store::memory::MemoryStore;
use railgate::{Config, Engine, Gateway};

/// Quotes a payment, and confirms the quote: two requests, both with a token.
struct Quoting;

impl Rail for Quoting {
    fn kind(&self) -> &'static str {
        "quoting"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { check_payee: false, reverse: false, partial_reverse: false, inquiry: true, idempotent_submit: false }
    }

    fn token_request(&self, _: &ProviderSpec) -> Option<HttpRequest> {
        Some(HttpRequest::new("POST", "https://operator.example/token"))
    }

    fn decode_token(&self, reply: &HttpReply) -> Option<AccessToken> {
        let secret = String::from_utf8(reply.body.clone()).ok().filter(|_| reply.status == 200)?;
        let lifetime_ms = if secret == "brief" { 100_000 } else { 600_000 };
        Some(AccessToken { secret: secret.into(), lifetime_ms })
    }

    fn encode(&self, call: &RailCall, link: &Link<'_>) -> Request {
        let url = format!("https://operator.example/{}", if call.action == Action::Submit { "quote" } else { "status" });
        let callback = link.callback_url.unwrap_or_default();
        Request::Http(HttpRequest::new("POST", url).bearer(link.token).header("x-callback", callback))
    }

    fn decode(&self, _: &RailCall, link: &Link<'_>, reply: &HttpReply) -> Heard<RailAnswer> {
        match (reply.status, &reply.body[..]) {
            (200, b"quoted") => Heard::Ask(HttpRequest::new("POST", "https://operator.example/confirm").bearer(link.token)),
            (200, b"paid") => Heard::Answer(RailAnswer::Completed { rail_reference: None }),
            _ => Heard::Answer(RailAnswer::Unknown),
        }
    }

    fn callback_key(&self, inbound: &Inbound<'_>, _: &ProviderSpec) -> Result<String, CallbackError> {
        inbound.rail_key.map(str::to_owned).ok_or(CallbackError::Unauthenticated)
    }

    fn decode_callback(&self, _: &RailCall, _: &Inbound<'_>) -> Result<RailAnswer, CallbackError> {
        Ok(RailAnswer::Completed { rail_reference: None })
    }
}

struct World {
    engine: Engine,
    env: Arc<ManualEnv>,
    caller: railgate::api::Caller,
    next: Mutex<u32>,
}

impl World {
    fn new(adjust: impl Fn(&mut ProviderSpec)) -> Self {
        let env = Arc::new(ManualEnv::new(START, 1));
        let mut spec = ProviderSpec::new("quoting", "Quoting", Mode::Sandbox, &Quoting);
        adjust(&mut spec);
        let config = Config { providers: vec![spec], rails: Rails::sandbox().with(Quoting), ..Config::sandbox() };
        let engine = Engine::open(Arc::new(MemoryStore::new()), env.clone(), config).unwrap();
        engine.reached_at("https://gateway.example/api/v1/rails".to_owned());
        let caller = support::enroll(&engine, "Shop");
        Self { engine, env, caller, next: Mutex::new(0) }
    }

    /// A payment that was leased.
    fn call(&self) -> RailCall {
        let n = {
            let mut next = self.next.lock().unwrap();
            *next += 1;
            *next
        };
        let reference = format!("r{n}").parse().unwrap();
        let request = CreateRequest::new("10 EUR".parse().unwrap(), "msisdn:+254700000001".parse().unwrap(), reference);
        self.engine.run(Create { caller: self.caller, request: Box::new(request) }).unwrap();
        let leases = self.engine.run(LeaseTasks::up_to(10)).unwrap();
        let new = leases.into_iter().find_map(|lease| match lease.work {
            Work::Call(call) => Some(call).filter(|call| call.action == Action::Submit),
            Work::Callback { .. } => panic!("nobody calls back"),
        });
        new.unwrap()
    }

    /// The last part of the address for callbacks about a call.
    fn place(&self, call: &RailCall) -> String {
        let mut exchange = self.engine.exchange(call.clone()).unwrap();
        loop {
            match exchange.step(&self.engine) {
                Step::Token(_) => exchange.heard(&self.engine, &replied(200, "one")),
                Step::Send(request) => {
                    let url = request.headers.iter().find(|(name, _)| name == "x-callback").unwrap().1.clone();
                    return url.strip_prefix("https://gateway.example/api/v1/rails/quoting/callbacks/").unwrap().to_owned();
                }
                Step::Done(answer) => panic!("it is sent: {answer:?}"),
            }
        }
    }

    fn read(&self, place: Option<&str>, source: Option<&str>) -> Result<Option<Reported>, CallbackError> {
        let source = source.map(|text| text.parse().unwrap());
        let inbound = Inbound { rail_key: None, source, headers: &[], body: b"", now: START };
        self.engine.read_callback("quoting", place, inbound).unwrap()
    }

    /// Holds an exchange whose requests get these results, and returns what was asked and the answer.
    fn hold(&self, call: RailCall, mut results: Vec<Carried>) -> (Vec<(String, String)>, RailAnswer) {
        let mut exchange = self.engine.exchange(call).unwrap();
        let mut asked = Vec::new();
        results.reverse();
        loop {
            match exchange.step(&self.engine) {
                Step::Token(request) | Step::Send(request) => {
                    let path = request.url.rsplit_once('/').unwrap().1.to_owned();
                    let token = request.headers.iter().find(|(name, _)| name == "authorization").map(|(_, value)| value.clone());
                    asked.push((path, token.unwrap_or_default()));
                    exchange.heard(&self.engine, &results.pop().unwrap());
                }
                Step::Done(answer) => {
                    assert_eq!(results, [], "more was to be asked");
                    return (asked, answer);
                }
            }
        }
    }
}

fn replied(status: u16, body: &str) -> Carried {
    Carried::Answered(HttpReply { status, headers: Vec::new(), body: body.as_bytes().to_vec() })
}

fn asked(steps: &[(&str, &str)]) -> Vec<(String, String)> {
    steps.iter().map(|(path, token)| ((*path).to_owned(), (*token).to_owned())).collect()
}

const PAID: RailAnswer = RailAnswer::Completed { rail_reference: None };

#[test]
fn a_token_serves_until_shortly_before_its_end() {
    let world = World::new(|_| ());
    let (steps, answer) = world.hold(world.call(), vec![replied(200, "one"), replied(200, "quoted"), replied(200, "paid")]);
    assert_eq!((steps, answer), (asked(&[("token", ""), ("quote", "Bearer one"), ("confirm", "Bearer one")]), PAID));
    world.env.advance_to(world.env.now() + 569_999);
    let (steps, _) = world.hold(world.call(), vec![replied(200, "paid")]);
    assert_eq!(steps, asked(&[("quote", "Bearer one")]));
    world.env.advance_to(world.env.now() + 1);
    let (steps, _) = world.hold(world.call(), vec![replied(200, "brief"), replied(200, "paid")]);
    assert_eq!(steps, asked(&[("token", ""), ("quote", "Bearer brief")]));
    // One that lives for a short time is used for nine tenths of it.
    world.env.advance_to(world.env.now() + 89_999);
    let (steps, _) = world.hold(world.call(), vec![replied(200, "paid")]);
    assert_eq!(steps, asked(&[("quote", "Bearer brief")]));
    world.env.advance_to(world.env.now() + 1);
    let (steps, _) = world.hold(world.call(), vec![replied(200, "two"), replied(200, "paid")]);
    assert_eq!(steps, asked(&[("token", ""), ("quote", "Bearer two")]));
}

#[test]
fn a_token_that_the_operator_ended_is_renewed_once() {
    let world = World::new(|_| ());
    world.hold(world.call(), vec![replied(200, "one"), replied(200, "paid")]);
    let (steps, answer) = world.hold(world.call(), vec![replied(401, ""), replied(200, "two"), replied(200, "paid")]);
    assert_eq!((steps, answer), (asked(&[("quote", "Bearer one"), ("token", ""), ("quote", "Bearer two")]), PAID));
    // One that is refused although it is new is not the reason.
    let (steps, answer) = world.hold(world.call(), vec![replied(401, ""), replied(200, "three"), replied(401, "")]);
    assert_eq!((steps.len(), answer), (3, RailAnswer::Unknown));
}

#[test]
fn two_exchanges_without_a_token_ask_for_one_each_only_if_neither_waits() {
    let world = World::new(|_| ());
    let (one, two) = (world.call(), world.call());
    let (mut first, mut second) = (world.engine.exchange(one).unwrap(), world.engine.exchange(two).unwrap());
    assert!(matches!(first.step(&world.engine), Step::Token(_)));
    assert!(matches!(second.step(&world.engine), Step::Token(_)));
    first.heard(&world.engine, &replied(200, "one"));
    assert!(matches!(second.step(&world.engine), Step::Send(request) if request.url.ends_with("/quote")), "the first has one now");
}

#[test]
fn what_follows_the_end_of_an_exchange_depends_on_what_may_have_left() {
    let token = || replied(200, "one");
    let quoted = || replied(200, "quoted");
    for (results, expected) in [
        (vec![Carried::NotSent], RailAnswer::NotSent),
        (vec![Carried::Lost], RailAnswer::NotSent),
        (vec![replied(500, "")], RailAnswer::NotSent),
        (vec![token(), Carried::NotSent], RailAnswer::NotSent),
        (vec![token(), Carried::Lost], RailAnswer::Unknown),
        (vec![token(), Carried::Late], RailAnswer::Unknown),
        (vec![token(), quoted(), Carried::NotSent], RailAnswer::NotSent),
        (vec![token(), quoted(), Carried::Lost], RailAnswer::Unknown),
        // It goes round in circles.
        ([vec![token()], vec![quoted(); 9]].concat(), RailAnswer::Unknown),
    ] {
        let world = World::new(|_| ());
        assert_eq!(world.hold(world.call(), results.clone()).1, expected, "{results:?}");
    }
    // An inquiry that could not be made says nothing.
    let world = World::new(|_| ());
    let inquiry = RailCall { action: Action::Inquire, ..world.call() };
    assert_eq!(world.hold(inquiry, vec![Carried::NotSent]).1, RailAnswer::Unknown);
}

#[test]
fn nothing_leaves_after_its_lease_and_that_is_not_the_operators_fault() {
    let world = World::new(|_| ());
    let call = world.call();
    let mut exchange = world.engine.exchange(call.clone()).unwrap();
    let Step::Token(request) = exchange.step(&world.engine) else { panic!("a token is asked for") };
    assert_eq!(request.leave_by, Some(call.leave_by));
    exchange.heard(&world.engine, &replied(200, "one"));
    // The host stands still, and somebody sets its clock back.
    world.env.advance_to(world.env.now() + Config::sandbox().lease_ms + 1);
    world.env.step(-3_600_000);
    assert!(matches!(exchange.step(&world.engine), Step::Done(RailAnswer::Unknown)));
    for _ in 0..20 {
        world.hold(world.call(), vec![Carried::Late]);
    }
    assert_eq!(world.engine.provider_by_id(&world.caller, "quoting").unwrap().status, Health::Up);
    // Questions that move nothing may be late.
    let inquiry = RailCall { action: Action::Inquire, ..call };
    assert_eq!(world.hold(inquiry, vec![replied(200, "paid")]).1, PAID);
}

#[test]
fn a_question_that_moves_no_money_takes_twenty_seconds_at_most() {
    let world = World::new(|spec| spec.answer_ms = Some(60_000));
    let mut exchange = world.engine.exchange(RailCall { action: Action::Inquire, ..world.call() }).unwrap();
    let Step::Token(request) = exchange.step(&world.engine) else { panic!("a token is asked for") };
    assert_eq!((request.timeout_ms, request.leave_by), (20_000, None));
    world.env.advance_to(world.env.now() + 15_000);
    exchange.heard(&world.engine, &replied(200, "one"));
    let Step::Send(request) = exchange.step(&world.engine) else { panic!("it is asked") };
    assert_eq!(request.timeout_ms, 5_000);
    world.env.advance_to(world.env.now() + 5_000);
    exchange.heard(&world.engine, &replied(200, "quoted"));
    assert!(matches!(exchange.step(&world.engine), Step::Done(RailAnswer::Unknown)));
}

#[test]
fn a_providers_time_outs_and_certificates_are_in_its_requests() {
    let world = World::new(|spec| {
        (spec.answer_ms, spec.connect_ms) = (Some(7_000), Some(900));
        spec.settings.insert("tls_authorities".to_owned(), "authorities".to_owned());
        spec.settings.insert("tls_certificates".to_owned(), "chain".to_owned());
        spec.secrets.0.insert("tls_key".to_owned(), "key".to_owned().into());
    });
    let mut exchange = world.engine.exchange(world.call()).unwrap();
    let Step::Token(request) = exchange.step(&world.engine) else { panic!("a token is asked for") };
    assert_eq!((request.timeout_ms, request.connect_ms), (7_000, Some(900)));
    let tls = request.tls.clone().unwrap();
    assert_eq!((tls.authorities.as_deref(), tls.identity.as_ref().map(|(chain, _)| chain.as_str())), (Some("authorities"), Some("chain")));
    assert_eq!(format!("{request:?} {tls:?}").matches("key").count(), 0, "secrets are not shown");

    for (settings, expected) in [(&["tls_authorities"][..], (true, false)), (&["tls_certificates"], (false, true)), (&[], (false, false))] {
        let world = World::new(|spec| {
            spec.settings.extend(settings.iter().map(|name| ((*name).to_owned(), "of the provider".to_owned())));
            spec.secrets.0.insert("tls_key".to_owned(), "key".to_owned().into());
        });
        let mut exchange = world.engine.exchange(world.call()).unwrap();
        let Step::Token(request) = exchange.step(&world.engine) else { panic!("a token is asked for") };
        let given = request.tls.as_ref().map(|tls| (tls.authorities.is_some(), tls.identity.is_some()));
        assert_eq!(given, (expected != (false, false)).then_some(expected), "one is enough");
    }
}

#[test]
fn a_callback_counts_at_the_address_that_was_given_for_its_payment() {
    let world = World::new(|_| ());
    let (call, other) = (world.call(), world.call());
    let (given, others) = (world.place(&call), world.place(&other));
    let read = |place| world.read(place, None);
    let (key, tag) = given.split_once('.').unwrap();
    assert_eq!((key, tag.len()), (call.rail_key.as_str(), 32));
    let (_, others_tag) = others.split_once('.').unwrap();
    let forged = [key.to_owned(), format!("{key}."), format!("{key}.{others_tag}"), tag.to_uppercase(), String::new()];
    for place in forged.iter().map(|forged| Some(forged.as_str())).chain([None]) {
        assert_eq!(read(place).unwrap_err(), CallbackError::Unauthenticated, "{place:?}");
    }
    let reported = read(Some(&given)).unwrap().unwrap();
    assert_eq!((reported.subject, reported.answer.clone()), (call.subject, PAID));
    let report = ReportAnswer { subject: reported.subject, answer: reported.answer, lease: None };
    for _ in 0..2 {
        world.engine.run(report.clone()).unwrap();
    }
    assert_eq!(world.engine.settlement(&world.caller, &support::target("r1")).unwrap().status.as_str(), "completed");
    assert_eq!(world.engine.settlement(&world.caller, &support::target("r2")).unwrap().status.as_str(), "submitted");
}

#[test]
fn callbacks_come_from_where_the_provider_says() {
    let world = World::new(|spec| {
        spec.settings.insert("callback_sources".to_owned(), "192.0.2.0/24, 2001:db8::/32".to_owned());
    });
    let given = world.place(&world.call());
    let counts = |source: Option<&str>| world.read(Some(&given), source).is_ok();
    for (source, expected) in [
        (None, false),
        (Some("198.51.100.1"), false),
        (Some("192.0.3.7"), false),
        (Some("192.0.2.7"), true),
        (Some("::ffff:192.0.2.7"), true),
        (Some("2001:db8::1"), true),
    ] {
        assert_eq!(counts(source), expected, "{source:?}");
    }
}

#[test]
fn an_embedding_program_drives_exchanges_too() {
    struct Network(Mutex<Vec<String>>);
    impl railgate::rail::Carrier for Network {
        fn carry(&self, request: &HttpRequest) -> Carried {
            let step = request.url.rsplit_once('/').unwrap().1.to_owned();
            let reply = match step.as_str() {
                "token" => replied(200, "one"),
                "quote" => replied(200, "quoted"),
                _ => replied(200, "paid"),
            };
            self.0.lock().unwrap().push(step);
            reply
        }
    }
    let env = Arc::new(ManualEnv::new(START, 1));
    let providers = vec![ProviderSpec::new("quoting", "Quoting", Mode::Sandbox, &Quoting)];
    let config = Config { providers, rails: Rails::sandbox().with(Quoting), ..Config::sandbox() };
    let gateway = Gateway::open_with(Arc::new(MemoryStore::new()), env, config).unwrap();
    let enrolled = gateway.enroll("Shop").unwrap();
    let shop = gateway.client(&enrolled);
    for reference in ["a", "b"] {
        let request = CreateRequest::new("10 EUR".parse().unwrap(), "msisdn:+254700000001".parse().unwrap(), reference.parse().unwrap());
        shop.create(request).unwrap();
    }
    let network = Network(Mutex::default());
    gateway.work_with(&network).unwrap();
    assert_eq!(*network.0.lock().unwrap(), ["token", "quote", "confirm", "quote", "confirm"]);
    assert_eq!(shop.settlement("b").unwrap().status.as_str(), "completed");
}
