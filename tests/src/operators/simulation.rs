//! Stories in memory: two nodes over one store, two operators, an unreliable network and hosts that die or stand still.
//!
//! Every story is determined by its seed, which a failure prints. `RAILGATE_SEED=n` plays only that one; `RAILGATE_SEEDS=n` plays so
//! many.

use std::sync::Arc;

use railgate::api::{Caller, CreateRequest, RailCall, Target};
use railgate::engine::{Create, Enroll, Exchange, LeaseTasks, ReportAnswer, Reverse, Step};
use railgate::env::{Env as _, ManualEnv};
use railgate::rail::{Carried, HttpReply, HttpRequest};
use railgate::seal::MasterKeys;
use railgate::store::memory::MemoryStore;
use railgate::store::record::TaskKey;
use railgate::validate::parse_reverse;
use railgate::{Config, Engine};

use super::truth::{bring_to_rest, called, compare, receive};
use super::{Cast, IDS, Placed, Random, from_environment};

const START: i64 = 1_795_257_497_042;
const STEPS: u64 = 120;

/// An exchange that a host holds.
struct Held {
    node: usize,
    exchange: Exchange<RailCall>,
    lease: TaskKey,
}

/// A request on its way to an operator, whose sender waits no more.
struct Stray {
    operator: usize,
    request: HttpRequest,
    arrives: i64,
}

struct World<'c> {
    cast: &'c Cast,
    env: Arc<ManualEnv>,
    store: Arc<MemoryStore>,
    nodes: Vec<Engine>,
    /// How many hosts have started. Each has a number of its own, as if it had drawn one.
    started: i64,
    caller: Caller,
    operators: Vec<Placed>,
    /// Whether to the operators, a request that is repeated is one.
    repeats: bool,
    random: Random,
    held: Vec<Held>,
    strays: Vec<Stray>,
    reports: Vec<(usize, ReportAnswer)>,
    callbacks: Vec<(i64, HttpRequest)>,
    references: u64,
}

/// Plays the stories of many seeds.
pub fn simulate_many(cast: &Cast, seeds: u64) {
    if let Some(seed) = from_environment("RAILGATE_SEED") {
        return simulate(cast, seed);
    }
    for seed in 1..=from_environment("RAILGATE_SEEDS").unwrap_or(seeds) {
        if seed.is_multiple_of(10_000) {
            eprintln!("{seed} seeds");
        }
        let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| simulate(cast, seed)));
        assert!(played.is_ok(), "seed {seed} failed: RAILGATE_SEED={seed} plays it again");
    }
}

/// Plays the story of one seed.
pub fn simulate(cast: &Cast, seed: u64) {
    let mut world = World::new(cast, seed);
    for _ in 0..STEPS {
        world.step();
    }
    world.rest();
    compare(&*world.store, &world.nodes[0], &world.operators);
}

impl<'c> World<'c> {
    fn new(cast: &'c Cast, seed: u64) -> Self {
        let (env, store) = (Arc::new(ManualEnv::new(START, seed)), Arc::new(MemoryStore::new()));
        let nodes: Vec<_> = [1, 2].map(|owner| open(cast, &store, &env, owner)).into();
        let caller = nodes[0].run(Enroll { name: "Shop".to_owned(), key: None }).expect("a client").caller;
        let operators = IDS.iter().map(|id| Placed::new(cast, id, base_url(id))).collect();
        let repeats = (cast.provider)(IDS[0], &base_url(IDS[0])).capabilities.idempotent_submit;
        let (held, strays, reports, callbacks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let random = Random::new(seed);
        Self { cast, env, store, nodes, caller, operators, repeats, random, held, strays, reports, callbacks, references: 0, started: 2 }
    }

    fn step(&mut self) {
        match self.random.below(22) {
            0..=2 => self.create(),
            3 => self.reverse(),
            4..=6 => self.lease(),
            7..=11 => self.carry(),
            12..=13 => self.report(),
            14 => self.crash(),
            15..=16 => self.call_back(),
            17 => self.mischief(),
            18..=19 => self.hurry(),
            _ => self.time_passes(),
        }
        self.arrive();
    }

    fn create(&mut self) {
        self.references += 1;
        let payee = self.cast.payees[self.random.below(self.cast.payees.len() as u64) as usize];
        let money = format!("{}.{:02} EUR", 1 + self.random.below(900), self.random.below(100)).parse().expect("money");
        let reference = format!("r{}", self.references).parse().expect("a reference");
        let request = Box::new(CreateRequest::new(money, payee.parse().expect("a participant"), reference));
        let node = self.random.below(2) as usize;
        self.nodes[node].run(Create { caller: self.caller, request }).expect("created");
    }

    fn reverse(&mut self) {
        if self.references == 0 {
            return;
        }
        let reference = format!("r{}", 1 + self.random.below(self.references));
        let body: &[u8] = if self.random.one_in(2) { b"" } else { br#"{"amount":0.50,"reason":"duplicate"}"# };
        let request = Box::new(parse_reverse(body).expect("a reversal"));
        let target = Target::parse(&reference).expect("a reference");
        let node = self.random.below(2) as usize;
        // Refused for what is on its way, failed or reversed.
        let _ = self.nodes[node].run(Reverse { caller: self.caller, target, request, idempotency: None });
    }

    fn lease(&mut self) {
        let node = self.random.below(2) as usize;
        self.lease_at(node);
    }

    fn lease_at(&mut self, node: usize) {
        let engine = &self.nodes[node];
        let round = engine.round(engine.run(LeaseTasks::up_to(4)).expect("leases"));
        self.reports.extend(round.answers.into_iter().map(|answer| (node, answer)));
        for (call, lease) in round.outside {
            let exchange = engine.exchange(call).expect("its provider is there");
            self.held.push(Held { node, exchange, lease });
        }
    }

    /// A node does at once all that is due to it, as hosts do that nothing delays.
    fn hurry(&mut self) {
        let node = self.random.below(2) as usize;
        self.lease_at(node);
        while let Some(at) = self.held.iter().position(|held| held.node == node) {
            self.carry_at(at);
        }
        let (own, others) = std::mem::take(&mut self.reports).into_iter().partition(|(of, _)| *of == node);
        self.reports = others;
        own.into_iter().for_each(|(_, report)| self.nodes[node].run(report).expect("reported"));
    }

    fn carry(&mut self) {
        if !self.held.is_empty() {
            let at = self.random.below(self.held.len() as u64) as usize;
            self.carry_at(at);
        }
    }

    /// One step of one exchange, over a network that may do anything.
    fn carry_at(&mut self, at: usize) {
        let held = &mut self.held[at];
        match held.exchange.step(&self.nodes[held.node]) {
            Step::Done(answer) => {
                let Held { node, exchange, lease } = self.held.swap_remove(at);
                let subject = exchange.question().subject;
                // The host may die before it reports.
                if !self.random.one_in(12) {
                    self.reports.push((node, ReportAnswer { subject, answer, lease: Some(lease) }));
                }
            }
            Step::Send(request) | Step::Token(request) => {
                let carried = self.over_the_network(&request);
                let held = &mut self.held[at];
                held.exchange.heard(&self.nodes[held.node], &carried);
                // The host may stand still now, until its lease is long over.
                if self.random.one_in(30) {
                    self.env.advance_to(self.env.now() + self.random.ms(120_000));
                }
            }
        }
    }

    fn over_the_network(&mut self, request: &HttpRequest) -> Carried {
        if request.leave_by.is_some_and(|moment| self.env.steady() > moment) {
            return Carried::Late;
        }
        let operator = called(&self.operators, request);
        match self.random.below(16) {
            0 => Carried::NotSent,
            1 => Carried::Lost,
            2 => {
                self.serve(operator, request);
                Carried::Lost
            }
            3 => {
                let mut reply = self.serve(operator, request);
                reply.body.truncate(reply.body.len() / 2);
                Carried::Answered(reply)
            }
            4 => {
                if self.random.one_in(2) {
                    self.serve(operator, request);
                }
                Carried::Answered(HttpReply { status: 502, headers: Vec::new(), body: b"<html>Bad gateway</html>".to_vec() })
            }
            // It is slow on its way, often as long as a lease and never longer, and nobody waits for the answer.
            5 | 9 => {
                let on_its_way = if self.random.one_in(2) { 30_000 } else { self.random.ms(30_000) };
                let arrives = self.env.now() + on_its_way;
                self.strays.push(Stray { operator, request: request.clone(), arrives });
                Carried::Lost
            }
            6 => {
                self.operators[operator].operator.mix_up();
                Carried::Answered(self.serve(operator, request))
            }
            7 => Carried::Answered(HttpReply { status: 429, headers: Vec::new(), body: b"slow down".to_vec() }),
            // Somebody on the way misses the answer, and sends again what HTTP lets him send again. None is before an operator that
            // would pay again.
            8 if self.repeats && request.method != "POST" => {
                self.serve(operator, request);
                Carried::Answered(self.serve(operator, request))
            }
            _ => Carried::Answered(self.serve(operator, request)),
        }
    }

    fn serve(&mut self, operator: usize, request: &HttpRequest) -> HttpReply {
        let (now, intent) = (self.env.now(), self.random.intent());
        self.operators[operator].operator.intend(intent);
        self.operators[operator].operator.serve(request, now)
    }

    /// What was slow on its way arrives.
    fn arrive(&mut self) {
        let now = self.env.now();
        let (due, later) = std::mem::take(&mut self.strays).into_iter().partition(|stray: &Stray| stray.arrives <= now);
        self.strays = later;
        for Stray { operator, request, .. } in due {
            self.serve(operator, &request);
        }
    }

    /// Reports may be lost, repeated and late.
    fn report(&mut self) {
        if self.reports.is_empty() {
            return;
        }
        let at = self.random.below(self.reports.len() as u64) as usize;
        let (node, report) = self.reports[at].clone();
        if !self.random.one_in(8) {
            self.reports.swap_remove(at);
        }
        if !self.random.one_in(16) {
            let node = if self.random.one_in(16) { 1 - node } else { node };
            self.nodes[node].run(report).expect("reported");
        }
    }

    /// A host dies with all that it was about to do, and starts again.
    fn crash(&mut self) {
        if !self.random.one_in(3) {
            return;
        }
        let node = self.random.below(2) as usize;
        self.held.retain(|held| held.node != node);
        self.reports.retain(|(of, _)| *of != node);
        self.started += 1;
        self.nodes[node] = open(self.cast, &self.store, &self.env, self.started);
    }

    /// Callbacks arrive, or not, late, twice, out of order.
    fn call_back(&mut self) {
        let now = self.env.now();
        for placed in &mut self.operators {
            for callback in placed.operator.callbacks(now) {
                for _ in 0..self.random.below(3) {
                    self.callbacks.push((now + self.random.ms(60_000), callback.clone()));
                }
            }
        }
        let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut self.callbacks).into_iter().partition(|(at, _)| *at <= now);
        self.callbacks = later;
        for (_, callback) in due {
            let node = self.random.below(2) as usize;
            receive(&self.nodes[node], &callback);
        }
    }

    fn mischief(&mut self) {
        let operator = self.random.below(2) as usize;
        if self.random.one_in(2) {
            self.operators[operator].operator.end_tokens();
        } else if !self.cast.finds_everything {
            let until = self.env.now() + self.random.ms(120_000);
            self.operators[operator].operator.hide_until(until);
        }
    }

    fn time_passes(&mut self) {
        let ms = if self.random.one_in(4) { self.random.ms(60_000) } else { self.random.ms(3_000) };
        self.env.advance_to(self.env.now() + ms);
    }

    /// Everything that is under way arrives; then nothing goes wrong any more.
    fn rest(&mut self) {
        self.held.clear();
        while !self.strays.is_empty() {
            self.env.advance_to(self.env.now() + 30_000);
            self.arrive();
        }
        for (node, report) in std::mem::take(&mut self.reports) {
            self.nodes[node].run(report).expect("reported");
        }
        bring_to_rest(&self.nodes[0], &self.env, &mut self.operators);
    }
}

fn base_url(id: &str) -> String {
    format!("https://{id}.example/api")
}

fn open(cast: &Cast, store: &Arc<MemoryStore>, env: &Arc<ManualEnv>, owner: i64) -> Engine {
    let config = Config {
        providers: IDS.iter().map(|id| (cast.provider)(id, &base_url(id))).collect(),
        rails: (cast.rails)(),
        owner: Some(owner),
        master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))),
        ..Config::sandbox()
    };
    let engine = Engine::open(store.clone(), env.clone(), config).expect("opened");
    engine.reached_at("https://gateway.example/api/v1/rails".to_owned());
    engine
}
