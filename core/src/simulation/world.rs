//! A deployment: nodes over one store, clients, operators, and the network between them.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::Arc;

use crate::Config;
use crate::api::{Caller, SignedBy};
use crate::auth::Nonce;
use crate::engine::{Command, Engine, Enroll, FourEyes, MoveMoney, Operated};
use crate::env::{Env as _, ManualEnv};
use crate::error::{Error, ErrorCode};
use crate::ids::{ClientNo, KeyNo, SettlementNo};
use crate::participant::Reference;
use crate::rail::Rails;
use crate::seal::MasterKeys;
use crate::store::Store;
use crate::store::record::{MovementKind, SignedWith};
use crate::time::Millis;

use super::clocks::NodeClock;
use super::customers::{Again, Customer};
use super::model::{Model, Verdict};
use super::network::{Message, OnWire};
use super::people::Staff;
use super::rails::{FEE, OPERATORS, Operator, Wire};
use super::random::Random;
use super::receivers::Receivers;
use super::statements::Sent;
use super::store::{Calm, Fault, SimStore};
use super::{Part, Plan, Story};

/// When every deployment begins.
const START: Millis = 1_795_257_497_042;
/// What a sandbox is funded with, in euros.
const PLAY_MONEY: &str = "500.00 EUR";
/// What each client has of real money in the beginning.
const OPENING: &str = "300.00 EUR";
/// How much time passes in one step.
const WAITS: [Millis; 16] = [1, 200, 900, 5_000, 5_000, 5_000, 5_000, 12_000, 20_000, 31_000, 31_000, 70_000, 70_000, 3_600_000, DAY, WEEK];
const WEEK: Millis = 8 * DAY;
pub(super) const DAY: Millis = 86_400_000;

/// A server.
pub(super) struct Node {
    pub(super) engine: Arc<Engine>,
    /// The clock of its host.
    pub(super) clock: Arc<NodeClock>,
    /// How often it was started: what an earlier process had under way is gone.
    pub(super) life: u64,
}

/// A whole deployment.
pub(super) struct World<'p> {
    pub(super) plan: &'p Plan,
    pub(super) random: Random,
    pub(super) env: Arc<ManualEnv>,
    pub(super) store: Arc<SimStore>,
    pub(super) config: Config,
    pub(super) nodes: Vec<Node>,
    /// Looks at everything, and is never disturbed.
    pub(super) eye: Engine,
    pub(super) operators: [Operator; OPERATORS],
    pub(super) wire: Vec<Message>,
    /// What takes its time on the way, and until when.
    pub(super) late: Vec<(Millis, Message)>,
    pub(super) calls: BTreeMap<u64, OnWire>,
    pub(super) calls_made: u64,
    pub(super) customers: Vec<Customer>,
    /// The last call that got no answer.
    pub(super) unanswered: Option<Again>,
    pub(super) staff: Staff,
    pub(super) receivers: Receivers,
    /// What each operator sent last of its books.
    pub(super) statements: [Option<Sent>; OPERATORS],
    /// Up to when another host may have a comparison of a statement of each that nobody goes on with.
    pub(super) unfinished: [Millis; OPERATORS],
    pub(super) model: Model,
    nonces: u64,
    pub(super) numbers: BTreeMap<SettlementNo, String>,
    /// Whether the first command of this step reaches two nodes at the same time.
    pub(super) races: bool,
    /// Whether one did.
    pub(super) raced: bool,
    /// Up to which step no standby gets anything.
    alone_until: Option<u64>,
    /// Whether everybody and everything is well behaved by now.
    pub(super) calm: bool,
    pub(super) step: u64,
    story: Vec<String>,
}

/// Says what failed where nothing may.
pub(super) fn fault(error: impl Display) -> String {
    format!("what nothing disturbs fails: {error}")
}

/// Whether a call with this answer may have been carried out.
pub(super) fn in_doubt(error: &Error) -> bool {
    error.code == ErrorCode::StoreUnavailable || error.code == ErrorCode::Internal
}

/// An amount in euros, in minor units.
pub(super) fn cents(decimal: &str) -> i128 {
    decimal.replace('.', "").parse().unwrap_or(i128::MIN)
}

fn config(first: usize) -> Result<Config, Error> {
    let mut providers = Operator::specs(first);
    providers.extend(crate::rail::sandbox_providers());
    let all = FourEyes { routes: true, terms: true, outcome_from: 0, ..FourEyes::default() };
    Ok(Config {
        providers,
        rails: Rails::sandbox().with(Wire),
        sandbox_funding: vec![PLAY_MONEY.parse()?],
        four_eyes: all,
        master: Some(Arc::new(MasterKeys::generate(1, [9; 32]))),
        ..Config::default()
    })
}

impl<'p> World<'p> {
    pub(super) fn new(plan: &'p Plan) -> Result<Self, String> {
        let mut random = Random::of(plan.seed, u64::MAX);
        let remote = plan.seed.is_multiple_of(2);
        let env = Arc::new(ManualEnv::new(START, plan.seed));
        let store = Arc::new(SimStore::new(remote));
        let config = config(random.index(OPERATORS)).map_err(fault)?;
        let eye = Engine::open(Arc::new(Calm(store.clone())), env.clone(), config.clone()).map_err(fault)?;
        let node = |_| {
            let clock = Arc::new(NodeClock::new(env.clone(), remote));
            Ok(Node { engine: Arc::new(Engine::open(store.clone(), clock.clone(), config.clone()).map_err(fault)?), clock, life: 0 })
        };
        let nodes = (0..2 + random.below(3)).map(node).collect::<Result<_, String>>()?;
        let customers = (0..3).map(|n| Customer::enrol(&eye, n)).collect::<Result<Vec<_>, _>>().map_err(fault)?;
        let staff = Staff::enrol(&eye).map_err(fault)?;
        let model = Model::new(staff.for_model(), cents(PLAY_MONEY.trim_end_matches(" EUR")), FEE.into());
        let receivers = Receivers::new(&eye, &Calm(store.clone()), &customers).map_err(fault)?;
        let mut world = Self {
            plan,
            random,
            env: env.clone(),
            store,
            config,
            nodes,
            eye,
            operators: Operator::all(),
            wire: Vec::new(),
            late: Vec::new(),
            calls: BTreeMap::new(),
            calls_made: 0,
            customers,
            unanswered: None,
            staff,
            receivers,
            statements: [const { None }; OPERATORS],
            unfinished: [0; OPERATORS],
            model,
            nonces: 0,
            numbers: BTreeMap::new(),
            races: false,
            raced: false,
            alone_until: None,
            calm: false,
            step: 0,
            story: Vec::new(),
        };
        world.open_accounts()?;
        Ok(world)
    }

    /// Whoever sets the gateway up gives each client some real money.
    fn open_accounts(&mut self) -> Verdict {
        for client in 0..self.customers.len() {
            let (reference, money) = ("first".to_owned(), OPENING.parse().map_err(fault)?);
            self.model.funds(client, &reference, cents(OPENING.trim_end_matches(" EUR")));
            let reference = Reference::parse(&reference).map_err(fault)?;
            let client = self.customers[client].caller.client_id;
            operated(&self.eye, MoveMoney { client, kind: MovementKind::Deposit, money, reference, evidence: "line 1".to_owned() })
                .map_err(fault)?;
        }
        self.look(false)
    }

    /// Whether this part of the world is there.
    pub(super) fn has(&self, part: Part) -> bool {
        !self.calm && !self.plan.without.contains(&part)
    }

    /// Adds a line to the story, if somebody wants to hear it.
    pub(super) fn tell(&mut self, line: impl FnOnce() -> String) {
        if self.plan.story != Story::Nothing {
            self.story.push(format!("{:>7}  {}", self.step, line()));
        }
    }

    /// A node, at random.
    pub(super) fn node(&mut self) -> usize {
        if self.calm { 0 } else { self.random.index(self.nodes.len()) }
    }

    /// Runs a command at a node, and looks at what it changed. It may reach another one at the same time, which is faster, and whose answer
    /// nobody hears.
    pub(super) fn run<C: Command + Clone>(&mut self, node: usize, command: C) -> Result<Result<C::Output, Error>, String> {
        if std::mem::take(&mut self.races) {
            self.raced = true;
            self.tell(|| format!("a command reaches node {node} and the next one at the same time"));
            let (rival, same) = (self.nodes[(node + 1) % self.nodes.len()].engine.clone(), command.clone());
            self.store.race(Some(Box::new(move || drop(rival.run(same)))));
        }
        let result = self.run_here(node, command);
        self.store.race(None);
        result
    }

    /// Runs a command that concerns one node alone.
    pub(super) fn run_here<C: Command>(&mut self, node: usize, command: C) -> Result<Result<C::Output, Error>, String> {
        let mut all = self.run_all(node, vec![command])?;
        Ok(all.pop().unwrap_or_else(|| Err(Error::new(ErrorCode::Internal))))
    }

    /// Runs commands at a node as one group. What a dying process would have answered is not heard.
    pub(super) fn run_all<C: Command>(&mut self, node: usize, commands: Vec<C>) -> Result<Vec<Result<C::Output, Error>>, String> {
        let results = self.nodes[node].engine.run_all(commands);
        let died = self.store.has_died();
        if died {
            self.restart(node)?;
        }
        self.look(false)?;
        if !died {
            return Ok(results);
        }
        let count = results.len();
        Ok((0..count).map(|_| Err(Error::in_doubt(ErrorCode::StoreUnavailable, false))).collect())
    }

    /// One step. What it does depends on the seed, its number and what there is.
    pub(super) fn step(&mut self, step: u64) -> Verdict {
        self.step = step;
        self.random = Random::of(self.plan.seed, step);
        let what = Step::drawn(&mut self.random);
        if what.part().is_some_and(|part| !self.has(part)) {
            return Ok(());
        }
        self.draw_solitude(step, what)?;
        let fault = self.draw_fault(what);
        self.store.arm(fault);
        let races = self.random.one_in(12) && fault.is_none() && self.store.is_calm();
        self.races = races && self.has(Part::Store) && self.plan.seed.is_multiple_of(2);
        (self.raced, self.unanswered) = (false, None);
        self.carry_out(what)?;
        if self.store.calm() {
            let node = self.node();
            self.restart(node)?;
        }
        if fault == Some(Fault::Unshipped) {
            self.ask_again()?;
            if self.random.one_in(2) {
                self.fail_over()?;
            }
        }
        Ok(())
    }

    /// Whether the network is bad, or hosts stand still.
    pub(super) const fn is_sluggish(&self) -> bool {
        self.plan.seed % 4 < 2
    }

    /// The primary loses its standby for some steps; then the standby comes back, or takes over without all that was done meanwhile.
    fn draw_solitude(&mut self, step: u64, what: Step) -> Verdict {
        let rarely = if what.is_rare() { 16 } else { 100 };
        let (begins, takes, ends_well) = (self.random.one_in(rarely), 1 + self.random.below(12), self.random.one_in(2));
        if self.alone_until.is_some_and(|until| until <= step) {
            self.alone_until = None;
            if ends_well {
                self.store.confirm();
            } else {
                self.fail_over()?;
            }
        }
        if begins && self.alone_until.is_none() && self.has(Part::Store) && self.plan.seed.is_multiple_of(2) {
            self.alone_until = Some(step + takes);
            self.store.be_alone();
            self.tell(|| "no standby gets anything".to_owned());
        }
        Ok(())
    }

    fn draw_fault(&mut self, what: Step) -> Option<Fault> {
        let rarely = if what.is_rare() { 4 } else { 14 };
        let (strikes, of_file, of_server) =
            (self.random.one_in(rarely), self.random.pick(&Fault::OF_FILES), self.random.pick(&Fault::OF_SERVERS));
        if !strikes || !self.has(Part::Store) {
            return None;
        }
        Some(if self.plan.seed.is_multiple_of(2) { of_server } else { of_file })
    }

    fn carry_out(&mut self, what: Step) -> Verdict {
        match what {
            Step::Pay => self.pay(),
            Step::GiveBack => self.give_back(),
            Step::SendAgain => self.send_again(),
            Step::Pry => self.pry(),
            Step::Lease => self.lease(8),
            Step::Deliver => self.deliver(),
            Step::Proceed => self.proceed(),
            Step::Number => self.number(),
            Step::Webhook => self.webhook(),
            Step::Staff => self.act(),
            Step::Consent => self.consent(),
            Step::PutAhead => self.put_ahead(),
            Step::Housekeeping => self.keep_house(),
            Step::Compare => self.compare(),
            Step::Wait => {
                let ms = self.random.pick(&WAITS);
                // Once, so long that what waits for a second person has waited too long; not so often that what is kept for a time is gone.
                let ms = if ms == WEEK && self.env.now() > START + 2 * DAY { 70_000 } else { ms };
                // What is late is still under way when others look for it.
                let ms = if self.is_sluggish() && !self.random.one_in(6) { ms.min(5_000) } else { ms };
                if self.random.one_in(6) {
                    let node = self.node();
                    self.nodes[node].clock.set(&mut self.random);
                }
                self.wait(self.env.now() + ms)
            }
            Step::Crash => {
                let node = self.node();
                self.restart(node)
            }
            Step::FailOver => self.fail_over(),
            Step::ReadsFail => {
                self.store.fail_reads(1 + self.random.below(3) as u32);
                self.lease(4)
            }
        }
    }

    /// A process ends, and another begins. What it held in memory and had under way is gone.
    pub(super) fn restart(&mut self, node: usize) -> Verdict {
        self.tell(|| format!("node {node} starts again"));
        self.store.calm();
        let Node { clock, life, .. } = &self.nodes[node];
        let (clock, life) = (clock.clone(), life + 1);
        let engine = Engine::open(self.store.clone(), clock.clone(), self.config.clone()).map_err(fault)?;
        self.nodes[node] = Node { engine: Arc::new(engine), clock, life };
        self.calls.retain(|_, call| call.node != node);
        Ok(())
    }

    fn fail_over(&mut self) -> Verdict {
        if self.plan.lose_acknowledged {
            self.store.fall_back().map_err(fault)?;
            self.store.keep_old();
        }
        if self.store.fail_over().map_err(fault)? {
            self.tell(|| "the standby takes over".to_owned());
            self.follow_setup();
            self.look(true)?;
            self.look_at_log()?;
        }
        Ok(())
    }

    /// Every node learns of changed terms, as each does every few seconds.
    pub(super) fn follow_setup(&self) {
        for node in &self.nodes {
            let _ = node.engine.follow_setup();
        }
        let _ = self.eye.follow_setup();
    }

    /// A fresh nonce of a signature.
    pub(super) fn signed_by(&mut self, client: ClientNo, key: KeyNo) -> SignedBy {
        self.nonces += 1;
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&self.nonces.to_be_bytes());
        SignedBy { client, key, with: SignedWith::Key, nonce: Nonce { hash, expires_at: i64::MAX - 1 } }
    }

    pub(super) fn customer_of(&self, no: ClientNo) -> Option<usize> {
        self.customers.iter().position(|customer| customer.caller.client == no)
    }

    /// The lines of the story that are about one settlement.
    pub(super) fn story_of(&self, reference: &str) -> Vec<String> {
        let seen = self.model.settlements().find(|seen| seen.reference == reference || seen.id == reference);
        let id = seen.map(|seen| seen.id.trim_start_matches("stl_").to_owned());
        let concerns = |line: &&String| {
            line.contains(" starts again")
                || line.contains(" standby ")
                || line.contains(&format!(" {reference} "))
                || id.as_ref().is_some_and(|id| line.contains(id.as_str()))
        };
        self.story.iter().filter(concerns).cloned().collect()
    }

    pub(super) fn take_story(&mut self) -> Vec<String> {
        std::mem::take(&mut self.story)
    }

    pub(super) fn commits(&self) -> u64 {
        self.store.commits()
    }

    pub(super) fn settlements(&self) -> usize {
        self.model.settlements().count()
    }

    pub(super) fn into_end(self) -> (Arc<dyn Store>, Engine) {
        (self.store(), self.eye)
    }

    pub(super) fn store(&self) -> Arc<dyn Store> {
        Arc::new(Calm(self.store.clone()))
    }
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Pay,
    GiveBack,
    SendAgain,
    Pry,
    Lease,
    Deliver,
    Proceed,
    Number,
    Webhook,
    Staff,
    Consent,
    PutAhead,
    Housekeeping,
    Compare,
    Wait,
    Crash,
    FailOver,
    ReadsFail,
}

impl Step {
    /// How often each is drawn.
    const WEIGHTS: [(Self, u64); 18] = [
        (Self::Pay, 140),
        (Self::GiveBack, 70),
        (Self::SendAgain, 40),
        (Self::Pry, 20),
        (Self::Lease, 140),
        (Self::Deliver, 380),
        (Self::Proceed, 60),
        (Self::Number, 30),
        (Self::Webhook, 60),
        (Self::Staff, 50),
        (Self::Consent, 20),
        (Self::PutAhead, 8),
        (Self::Housekeeping, 6),
        (Self::Compare, 5),
        (Self::Wait, 44),
        (Self::Crash, 8),
        (Self::FailOver, 4),
        (Self::ReadsFail, 4),
    ];

    fn drawn(random: &mut Random) -> Self {
        let mut left = random.below(Self::WEIGHTS.iter().map(|(_, weight)| weight).sum());
        for (step, weight) in Self::WEIGHTS {
            match left.checked_sub(weight) {
                Some(less) => left = less,
                None => return step,
            }
        }
        Self::Deliver
    }

    /// Whether it is so rare that a larger part of it must go wrong, to see as much of that.
    const fn is_rare(self) -> bool {
        matches!(self, Self::Staff | Self::Consent | Self::PutAhead)
    }

    /// The part of the world without which it is left out.
    const fn part(self) -> Option<Part> {
        Some(match self {
            Self::Pay | Self::Lease | Self::Deliver | Self::Proceed | Self::Number => return None,
            Self::GiveBack => Part::Reversals,
            Self::SendAgain => Part::Repeats,
            Self::Pry => Part::Strangers,
            Self::Webhook => Part::Webhooks,
            Self::Staff => Part::Staff,
            Self::Consent => Part::Users,
            Self::PutAhead => Part::Clocks,
            Self::Housekeeping => Part::Housekeeping,
            Self::Compare => Part::Statements,
            Self::Wait => Part::Clock,
            Self::Crash => Part::Crashes,
            Self::FailOver | Self::ReadsFail => Part::Store,
        })
    }
}

/// A client of the gateway.
pub(super) fn enrol(eye: &Engine, name: String) -> Result<Caller, Error> {
    Ok(eye.run(Enroll { name, key: None })?.caller)
}

/// An act on the store itself.
pub(super) fn operated<C: Command>(eye: &Engine, command: C) -> Result<C::Output, Error> {
    eye.run(Operated(command))
}
