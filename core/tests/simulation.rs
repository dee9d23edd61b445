//! Two nodes over one store, an unreliable network and hosts that die: whatever happens, nobody is paid twice, no money is released
//! without proof, a signed call has its effect once however often it is sent, the books and event traces are sound, and every event
//! is in the log exactly once and delivered to every listener.
//!
//! Every run is determined by its seed, which a failure prints. `RAILGATE_SEED=n` plays only that one.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(feature = "testkit")]

mod support;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Debug;
use std::sync::Arc;

use railgate::api::{Action, Caller, Lease, RailCall, SignedBy, Subject, Work};
use railgate::auth::{Nonce, ScopeSet, Signer, SoftwareKey};
use railgate::engine::{
    AddKey, AnyCommand, AnyOutput, Command, Create, Created, LeaseTasks, NumberEvents, Receive, ReportAnswer, Reversed, Signed,
};
use railgate::env::Env;
use railgate::ids::{EndpointNo, KeyNo, SettlementNo};
use railgate::ledger::Mode;
use railgate::rail::RailAnswer;
use railgate::rail::simulator::Scenario;
use railgate::store::faulty::{CommitFault, Faulty};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{
    AuditAction, AuditRecord, EventType, Key, NonceRecord, SettlementRecord, SignedWith, SimPaymentRecord, TaskKey, Topic, TopicSet,
};
use railgate::store::{Scan, Store, typed_all};
use railgate::{Config, Engine, Error};
use support::log::{assert_logged, assert_trees, log_all};
use support::receiver::{Meeting, Receivers, new_hook};
use support::{Sandbox, create, enroll, reverse, sealing};

const SCENARIOS: &[&str] = &[
    "sim:ok",
    "sim:slow-30s",
    "sim:decline-over_limit",
    "sim:timeout-then-ok",
    "sim:timeout-then-fail",
    "sim:late-ok-after-fail",
    "sim:duplicate-callback",
    "sim:out-of-order",
    "sim:provider-down",
    "sim:failover",
    "sim:returned-after-1d",
    "sim:reverse-fail",
    "msisdn:+254700000001",
];

struct World {
    nodes: Vec<Engine>,
    sandbox: Sandbox,
    faults: Arc<Faulty<MemoryStore>>,
    random: Random,
    /// Reports in flight: they may be lost, repeated or late.
    reports: Vec<(Subject, RailAnswer, TaskKey)>,
    /// Requests in flight to the operator.
    calls: Vec<(RailCall, TaskKey)>,
    answered: HashMap<String, String>,
    references: u64,
    signed: SignedCalls,
    /// Another client, which has no webhooks.
    other: Caller,
    receivers: Receivers,
    /// The fault that hits the next commit of this step.
    fault: Option<CommitFault>,
}

/// The signed calls sent, and what the store must contain according to the responses.
#[derive(Default)]
struct SignedCalls {
    /// Complete calls, which somebody may have recorded and replay.
    sent: Vec<Sent>,
    /// Nonces that a response reported as used.
    spent: BTreeSet<[u8; 32]>,
    /// Nonces whose reversal was reported as done.
    reversed: HashSet<[u8; 32]>,
    created: usize,
    cancelled_or_reversed: usize,
    refused: usize,
    /// The number of reversals that must exist, signed or not.
    reversals: usize,
}

/// A create or a reversal in flight, and the nonce in its signature.
#[derive(Clone)]
struct Sent {
    command: AnyCommand,
    nonce: Option<[u8; 32]>,
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

impl World {
    fn new(seed: u64) -> Self {
        // Over a remote store, the engine reads ahead and checks for used nonces itself.
        let near = Faulty::new(MemoryStore::default());
        let faults = Arc::new(if seed.is_multiple_of(2) { near.far_away() } else { near });
        let store: Arc<dyn Store> = faults.clone();
        let sandbox = Sandbox::over(store.clone(), sealing(), seed);
        // The key on whose behalf calls are signed: the first, number 1.
        let key = SoftwareKey::ed25519(&[1; 32]).public_key();
        sandbox.engine.run(AddKey { caller: sandbox.caller, key, label: None, scopes: ScopeSet::CLIENT }).unwrap();
        let other = enroll(&sandbox.engine, "Other");
        let some = TopicSet::of([EventType::SettlementCompleted, EventType::SettlementFailed].map(Topic::Event));
        for topics in [None, Some(some)] {
            sandbox.engine.run(new_hook(sandbox.caller, topics)).unwrap();
        }
        let mut receivers = Receivers::default();
        receivers.look(&*store, sandbox.caller.client);
        let node = |owner| Engine::open(store.clone(), sandbox.env.clone(), Config { owner: Some(owner), ..sealing() }).unwrap();
        let nodes = vec![node(1), node(2)];
        let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (reports, calls, answered, signed) = (Vec::new(), Vec::new(), HashMap::new(), SignedCalls::default());
        Self { nodes, sandbox, faults, random, reports, calls, answered, references: 0, signed, other, receivers, fault: None }
    }

    fn node(&mut self) -> usize {
        self.random.below(2) as usize
    }

    fn step(&mut self) {
        self.fault = self.random.one_in(6).then(|| CommitFault::ALL[self.random.below(4) as usize]);
        self.faults.script([self.fault]);
        match self.random.below(17) {
            0..=2 => self.create(),
            3 => self.reverse(),
            4..=5 => self.lease(),
            6 => self.deliver(),
            7..=8 => self.report(),
            9 => self.send_again(),
            10 => self.create_as_other(),
            11..=12 => self.log(),
            13..=14 => self.webhooks(),
            15 => self.owner(),
            _ => {
                let ms = [1, 900, 5_000, 31_000, 3_600_000, 90_000_000][self.random.below(6) as usize];
                let now = self.sandbox.env.now();
                self.sandbox.env.advance_to(now + ms);
            }
        }
        self.faults.calm();
        self.receivers.look(&*self.sandbox.store, self.sandbox.caller.client);
    }

    fn create_as_other(&mut self) {
        let to = SCENARIOS[self.random.below(SCENARIOS.len() as u64) as usize];
        let body = format!(r#"{{"amount":1,"currency":"EUR","to":"{to}","reference":"o{}"}}"#, self.random.below(20));
        let node = self.node();
        // Any response is right as long as the books are.
        let _ = self.nodes[node].run(create(&self.nodes[node], self.other, &body));
    }

    fn log(&mut self) {
        let (node, limit) = (self.node(), self.random.below(40) as usize);
        let _ = self.nodes[node].run(NumberEvents { limit });
    }

    /// A host leases deliveries, sends some, reports some, or dies.
    fn webhooks(&mut self) {
        let (node, which) = (self.node(), self.random.below(8) as usize);
        self.receivers.lease(&self.nodes[node], which, 2);
        for _ in 0..self.random.below(4) {
            let (which, now) = (self.random.below(8) as usize, self.sandbox.env.now());
            let random = &mut self.random;
            self.receivers.send(which, now, &mut || meet(random));
            if random.one_in(6) {
                self.receivers.crash(which);
            }
            if !random.one_in(6) {
                self.receivers.report(&self.nodes[node], which, random.one_in(4));
            }
        }
    }

    /// The owner looks after its webhooks.
    fn owner(&mut self) {
        let (node, which) = (self.node(), self.random.below(8) as usize);
        if self.random.one_in(3) {
            let _ = self.nodes[node].run(new_hook(self.sandbox.caller, None));
        } else {
            self.receivers.enable(&self.nodes[node], self.sandbox.caller, which);
        }
    }

    fn create(&mut self) {
        if !self.random.one_in(4) {
            self.references += 1;
        }
        let to = SCENARIOS[self.random.below(SCENARIOS.len() as u64) as usize];
        let reference = format!("r{}", self.references);
        // A repeat may contain a different request, which is then refused.
        let to = self.answered.get(&reference).map_or(to.to_owned(), Clone::clone);
        // Sometimes more than is available.
        let amount = if self.random.one_in(8) { 2_000_000 } else { 10 };
        let body = format!(r#"{{"amount":{amount},"currency":"EUR","to":"{to}","reference":"{reference}"}}"#);
        let node = self.node();
        let command = create(&self.nodes[node], self.sandbox.caller, &body);
        let repeats = self.random.below(3) as usize + 1;
        let sent = self.perhaps_signed(command);
        for result in self.send(node, &sent, repeats) {
            match result {
                Ok(_) => drop(self.answered.insert(reference.clone(), to.clone())),
                Err(error) => {
                    let expected = ["store_unavailable", "reference_conflict", "insufficient_funds"];
                    assert!(expected.contains(&error.code.as_str()), "{error}");
                }
            }
        }
    }

    fn reverse(&mut self) {
        if self.references == 0 {
            return;
        }
        let reference = format!("r{}", self.random.below(self.references) + 1);
        let body = ["", r#"{"amount":3}"#, r#"{"amount":7.5}"#][self.random.below(3) as usize];
        let node = self.node();
        let sent = self.perhaps_signed(reverse(self.sandbox.caller, &reference, body));
        // Any response is right as long as the books are.
        let _ = self.send(node, &sent, 1);
    }

    fn perhaps_signed<C>(&mut self, command: C) -> Sent
    where
        C: Command + Sync + Debug,
        C::Output: Debug,
    {
        if self.random.one_in(3) {
            return Sent { command: AnyCommand::new(command), nonce: None };
        }
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&(self.signed.sent.len() as u64).to_be_bytes());
        let by = SignedBy {
            client: self.sandbox.caller.client,
            key: KeyNo(1),
            with: SignedWith::Key,
            nonce: Nonce { hash, expires_at: i64::MAX - 1 },
        };
        let sent = Sent { command: AnyCommand::new(Signed { by, command }), nonce: Some(hash) };
        self.signed.sent.push(sent.clone());
        sent
    }

    /// Somebody replays a recorded call at either node. As in the server, a create whose nonce is used goes no further; for all
    /// other calls the engine must check that.
    fn send_again(&mut self) {
        if self.signed.sent.is_empty() {
            return;
        }
        let which = self.random.below(self.signed.sent.len() as u64) as usize;
        let sent = self.signed.sent[which].clone();
        let node = self.node();
        let nonce = sent.nonce.unwrap();
        let spent = self.signed.spent.contains(&nonce);
        assert_eq!(self.nodes[node].is_burnt(&nonce).unwrap(), spent, "what an answer spent is spent at every node");
        let creates = sent.command.get::<Signed<Create>>().is_some();
        if creates && spent {
            return;
        }
        for result in self.send(node, &sent, 1) {
            match result {
                Ok(output) => match output.get() {
                    Some(Created { settlement, .. }) => {
                        drop(self.answered.insert(settlement.reference.as_str().to_owned(), settlement.to.as_str().to_owned()));
                    }
                    None => assert!(!spent, "a spent nonce did something: {output:?}"),
                },
                Err(error) if spent => assert_eq!(error.code.as_str(), "nonce_replayed"),
                Err(_) => {}
            }
        }
    }

    /// Sends a call this many times as one group, and records what the responses promise.
    fn send(&mut self, node: usize, sent: &Sent, times: usize) -> Vec<Result<AnyOutput, Error>> {
        let faults = self.faults.injected();
        let results = self.nodes[node].run_all(vec![sent.command.clone(); times]);
        // If the commit was not made, no refusal in its group was recorded.
        let lost = matches!(self.fault, Some(CommitFault::Unavailable | CommitFault::LostBefore)) && self.faults.injected() > faults;
        for result in &results {
            if let Some(Reversed { reversal: Some(_), .. }) = result.as_ref().ok().and_then(AnyOutput::get) {
                self.signed.reversals += 1;
            }
            if let Some(nonce) = sent.nonce {
                self.signed.note(nonce, result, lost);
            }
        }
        results
    }

    fn lease(&mut self) {
        let node = self.node();
        let limit = self.random.below(8) as usize + 1;
        let Ok(leases) = self.nodes[node].run(LeaseTasks::up_to(limit)) else { return };
        for Lease { key, work } in leases {
            // The host may die with a lease, before or after the request left.
            if self.random.one_in(8) {
                continue;
            }
            match work {
                Work::Call(call) => self.calls.push((call, key)),
                Work::Callback { subject, answer } => self.reports.push((subject, answer, key)),
            }
        }
    }

    fn deliver(&mut self) {
        while let Some((call, key)) = self.calls.pop() {
            // A request never leaves twice: only its answer may be lost.
            let (subject, node) = (call.subject, self.node());
            let inquiry = matches!(call.action, Action::Inquire | Action::InquireReversal);
            match self.nodes[node].run(Receive(call)) {
                Ok(Some(answer)) if !self.random.one_in(5) => self.reports.push((subject, answer, key)),
                // An inquiry may be repeated; a payment whose answer is lost may not.
                Ok(_) | Err(_) if inquiry || self.random.one_in(2) => self.reports.push((subject, RailAnswer::Unknown, key)),
                Ok(_) | Err(_) => {}
            }
        }
    }

    fn report(&mut self) {
        if self.reports.is_empty() {
            return;
        }
        let which = self.random.below(self.reports.len() as u64) as usize;
        let (subject, answer, key) = self.reports[which].clone();
        if !self.random.one_in(3) {
            self.reports.swap_remove(which);
        }
        let node = self.node();
        let _ = self.nodes[node].run(ReportAnswer { subject, answer, lease: Some(key) });
    }

    /// Lets everything settle: no more faults, and unlimited time.
    fn settle(&mut self) {
        self.calls.clear();
        while !self.reports.is_empty() {
            self.report();
        }
        self.sandbox.pass(3 * 86_400_000);
        log_all(&self.sandbox.engine);
        self.receivers.look(&*self.sandbox.store, self.sandbox.caller.client);
        let env = self.sandbox.env.clone();
        self.receivers.settle(&self.sandbox.engine, self.sandbox.caller, &|at| env.advance_to(at));
    }

    fn check(&self) {
        self.sandbox.assert_sound();
        self.signed.check(&*self.sandbox.store);
        assert_logged(&*self.sandbox.store);
        assert_trees(&self.sandbox.engine, &*self.sandbox.store);
        assert!(self.receivers.check(&*self.sandbox.store) > 0);
        for (reference, to) in &self.answered {
            assert_eq!(&self.sandbox.view(reference).to, to, "what was answered is there");
        }
        let all: Vec<SettlementRecord> =
            typed_all(self.sandbox.store.scan(&Scan::after(&Key::Settlement(SettlementNo(0)), 10_000)).unwrap()).unwrap();
        assert_eq!(all.iter().map(|record| usize::from(record.reversals)).sum::<usize>(), self.signed.reversals);
        for record in all {
            let scenario = Scenario::of(&record.to);
            let reference = record.reference.as_str();
            assert!(record.status.is_final(), "{reference} {} is {}", record.to.as_str(), record.status.as_str());
            let books: Vec<SimPaymentRecord> = typed_all(self.sandbox.store.scan(&Scan::sim_payments(record.no)).unwrap()).unwrap();
            let paid = books.iter().filter(|p| p.child & 0x8000 == 0 && pays(scenario, p.child)).count();
            assert!(paid <= 1, "{reference}: the operator paid {paid} times");
            let disputed = scenario == Scenario::LateOkAfterFail;
            assert!(disputed || (paid == 1) == record.status.is_paid(), "{reference} is {}, paid {paid}", record.status.as_str());
        }
    }
}

impl SignedCalls {
    fn note(&mut self, nonce: [u8; 32], result: &Result<AnyOutput, Error>, lost: bool) {
        match result {
            Ok(output) => match (output.get::<Created>(), output.get::<Reversed>()) {
                (Some(created), _) => self.created += usize::from(!created.replayed),
                (_, Some(Reversed { replayed: false, .. })) => {
                    assert!(self.reversed.insert(nonce), "one signed call reversed twice");
                    self.cancelled_or_reversed += 1;
                    self.spent.insert(nonce);
                }
                (None, _) => {}
            },
            Err(error) if lost || ["store_unavailable", "nonce_replayed"].contains(&error.code.as_str()) => {}
            Err(_) => {
                self.refused += 1;
                self.spent.insert(nonce);
            }
        }
    }

    /// The store contains what the responses said, no more and no less.
    fn check(&self, store: &dyn Store) {
        let limit = usize::MAX;
        let nonces: Vec<NonceRecord> = typed_all(store.scan(&Scan::nonces_expired_before(i64::MAX, limit)).unwrap()).unwrap();
        let rows: Vec<AuditRecord> = typed_all(store.scan(&Scan::after(&Key::Audit(i64::MIN), limit)).unwrap()).unwrap();
        assert_eq!(nonces.iter().map(|nonce| nonce.hash).collect::<BTreeSet<_>>(), self.spent);
        let done = |action| rows.iter().filter(|row| row.action == action && row.refused.is_none()).count();
        let refused = rows.iter().filter(|row| row.refused.is_some()).count();
        let recorded = (done(AuditAction::CreateSettlement), done(AuditAction::ReverseSettlement), refused);
        assert_eq!(recorded, (self.created, self.cancelled_or_reversed, self.refused), "the trail and the answers");
    }
}

/// How a receiver treats a request. One that timed out may still have received it.
fn meet(random: &mut Random) -> Meeting {
    match random.below(40) {
        0 => (Some(410), false),
        1..=12 => (Some(500), false),
        13..=17 => (None, random.one_in(2)),
        _ => (Some(200), true),
    }
}

/// Whether the operator pays attempt `n` once it arrives.
fn pays(scenario: Scenario, n: u16) -> bool {
    matches!(scenario.inquire(n, "k", 86_400_000), RailAnswer::Completed { .. } | RailAnswer::Returned { .. })
}

fn run(seed: u64) {
    let mut world = World::new(seed);
    for _ in 0..250 {
        world.step();
    }
    world.settle();
    world.check();
}

#[test]
fn nobody_is_paid_twice_and_nothing_is_lost() {
    if let Some(seed) = std::env::var("RAILGATE_SEED").ok().and_then(|s| s.parse().ok()) {
        return run(seed);
    }
    for seed in 1..=300 {
        if let Err(cause) = std::panic::catch_unwind(|| run(seed)) {
            eprintln!("replay with RAILGATE_SEED={seed}");
            std::panic::resume_unwind(cause);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let play = || {
        let sandbox = Sandbox::over(Arc::new(MemoryStore::default()), sealing(), 7);
        let mut receivers = Receivers::default();
        sandbox.engine.run(new_hook(sandbox.caller, None)).unwrap();
        for (n, to) in SCENARIOS.iter().enumerate() {
            sandbox.pay(&format!("r{n}"), to);
            sandbox.pass(1_000);
        }
        sandbox.pass(86_400_000);
        let views: Vec<_> = (0..SCENARIOS.len()).map(|n| serde_json::to_string(&sandbox.view(&format!("r{n}"))).unwrap()).collect();
        let traces: Vec<_> = (0..SCENARIOS.len()).map(|n| serde_json::to_string(&sandbox.events(&format!("r{n}"))).unwrap()).collect();
        log_all(&sandbox.engine);
        receivers.look(&*sandbox.store, sandbox.caller.client);
        receivers.settle(&sandbox.engine, sandbox.caller, &|at| sandbox.env.advance_to(at));
        let checkpoint = sandbox.engine.checkpoint(Mode::Sandbox).unwrap();
        let scan = Scan::deliveries_of(EndpointNo(1), i64::MAX, None, usize::MAX);
        let sent = sandbox.store.scan(&scan).unwrap();
        assert!(sent.len() > SCENARIOS.len());
        (views, traces, checkpoint, sent)
    };
    assert_eq!(play(), play());
}
