//! All scenarios in one situation over one store: what each came to.

use std::mem::take;
use std::sync::Arc;

use railgate::api::{Action, Caller, FaultsView, RailCall, Rate, SettlementStatus, Subject, Work};
use railgate::engine::{LeaseTasks, Receive, ReportAnswer, SetFaults, verify};
use railgate::env::{Env as _, ManualEnv};
use railgate::ids::ProviderNo;
use railgate::ledger::Owner;
use railgate::participant::Participant;
use railgate::rail::simulator::Scenario;
use railgate::rail::{FailureCode, RailAnswer, sandbox_providers};
use railgate::route::{FeeRefund, FeeRule, ProviderSpec, Units};
use railgate::store::record::{ClientRecord, Key, RecordKind, ReversalRecord, SettlementRecord, SimPaymentRecord, TaskKey};
use railgate::store::{Scan, Store, typed, typed_all};
use railgate::{Config, Engine};

use crate::money::Money;
use crate::receiver::{Receivers, new_hook};
use crate::support::log::{events_of, log_all, settlements};
use crate::support::{START, create, enroll, reverse, sealing};
use crate::{End, Situation, trace};

const MINUTE: i64 = 60_000;
const DAY: i64 = 86_400_000;
/// The highest bit of what the operator counts reversals under.
const REVERSAL: u16 = 1 << 15;
/// What a client of the sandbox begins with, in cents.
const FUNDS: i64 = 100_000_000;

/// What became of a payment.
#[derive(Debug, PartialEq, Eq)]
pub struct Told {
    pub end: End,
    /// Its events, in words.
    pub trace: String,
    /// When they happened.
    times: Vec<i64>,
    pub money: Money,
    /// How often each attempt and reversal arrived at which provider.
    pub arrived: Vec<(u16, ProviderNo, u16)>,
}

struct World {
    engine: Engine,
    store: Arc<dyn Store>,
    env: Arc<ManualEnv>,
    caller: Caller,
    situation: Situation,
    /// Answers and callbacks that are late.
    late: Vec<ReportAnswer>,
    /// How many were late, or arrived twice.
    odd: usize,
}

fn node(store: &Arc<dyn Store>, env: &Arc<ManualEnv>, owner: i64) -> Engine {
    let fee = FeeRule { flat: Units::of("0.25".parse().unwrap()).unwrap(), refund: Some(FeeRefund::Full), ..FeeRule::default() };
    let providers = sandbox_providers().into_iter().map(|spec| ProviderSpec { fees: vec![fee.clone()], ..spec }).collect();
    Engine::open(Arc::clone(store), env.clone(), Config { owner: Some(owner), providers, ..sealing() }).unwrap()
}

/// Pays each participant once, and gives back what was completed. Tells what each came to, in the same order.
pub fn play(open: &dyn Fn() -> Arc<dyn Store>, situation: Situation, participants: &[Participant]) -> Vec<Told> {
    let (store, env) = (open(), Arc::new(ManualEnv::new(START, 1)));
    let engine = node(&store, &env, 1);
    let caller = enroll(&engine, "Shop");
    engine.run(new_hook(caller, None)).unwrap();
    let mut receivers = Receivers::default();
    receivers.look(&*store, caller.client);
    for (n, to) in participants.iter().enumerate() {
        let body = format!(r#"{{"amount":10.00,"currency":"EUR","to":"{}","reference":"r{n}"}}"#, to.as_str());
        engine.run(create(&engine, caller, &body)).unwrap();
    }
    let mut world = World { engine, store, env, caller, situation, late: Vec::new(), odd: 0 };
    world = world.begin(open);
    world.pass(DAY + 20 * MINUTE);
    world.late_arrives();
    world.pass(2 * DAY);
    world.reverse_all();
    world = world.begin(open);
    world.pass(20 * MINUTE);
    world.late_arrives();
    world.pass(2 * DAY);
    let oddly = matches!(situation, Situation::LateAnswer | Situation::DuplicateCallback | Situation::LateCallback);
    assert_eq!(world.odd > 0, oddly, "{situation:?}");
    if matches!(situation, Situation::DuplicateCallback | Situation::LateCallback) {
        world.repeat_the_end();
    }
    log_all(&world.engine);
    receivers.look(&*world.store, caller.client);
    receivers.settle(&world.engine, caller, &|at| world.env.advance_to(at.max(world.env.now())));
    let told = world.told();
    let events: usize = told.iter().map(|it| it.times.len()).sum();
    assert_eq!(receivers.check(&*world.store), events, "each event is delivered once");
    world.assert_balanced(&told);
    told
}

impl World {
    /// The first steps of the host that takes the payments, or the reversals.
    fn begin(mut self, open: &dyn Fn() -> Arc<dyn Store>) -> Self {
        let leases = self.engine.run(LeaseTasks::up_to(1_000)).unwrap();
        for lease in leases {
            let Work::Call(call) = lease.work else { continue };
            let (subject, first) = (call.subject, call.action == Action::Submit);
            let report = |answer| ReportAnswer { subject, answer, lease: Some(lease.key) };
            match self.situation {
                Situation::CrashBeforeSend => {}
                Situation::CrashAfterSend => drop(self.engine.run(Receive(call)).unwrap()),
                Situation::LateAnswer => {
                    let answer = self.engine.run(Receive(call)).unwrap().unwrap();
                    self.late.push(report(answer));
                }
                Situation::FirstRefuses if first => {
                    let answer = RailAnswer::Declined { code: FailureCode::ProviderOffline, elsewhere_ok: true, rail_code: None };
                    self.engine.run(report(answer)).unwrap();
                }
                Situation::FirstDown if first => {
                    // Faults hit every provider of the sandbox: these end before the second one is called.
                    self.lose_calls(Rate::of_millionths(1_000_000).unwrap());
                    self.carry(call, lease.key);
                    self.lose_calls(Rate::default());
                }
                Situation::Create
                | Situation::CrashAfterAnswer
                | Situation::DuplicateCallback
                | Situation::LateCallback
                | Situation::FirstRefuses
                | Situation::FirstDown => self.carry(call, lease.key),
            }
        }
        match self.situation {
            Situation::CrashBeforeSend | Situation::CrashAfterSend | Situation::CrashAfterAnswer => self.crash(open),
            Situation::Create
            | Situation::LateAnswer
            | Situation::DuplicateCallback
            | Situation::LateCallback
            | Situation::FirstRefuses
            | Situation::FirstDown => self,
        }
    }

    /// Has this share of the sandbox's calls not reach the operator from now on.
    fn lose_calls(&self, rate: Rate) {
        self.engine.run(SetFaults { caller: self.caller, faults: FaultsView { rate, ..FaultsView::default() } }).unwrap();
    }

    /// The host dies with all that it knew, and another one takes over.
    fn crash(self, open: &dyn Fn() -> Arc<dyn Store>) -> Self {
        let Self { engine, store, env, caller, situation, late, odd } = self;
        let owner = 2 + env.now() - START;
        drop((engine, store));
        let store = open();
        Self { engine: node(&store, &env, owner), store, env, caller, situation, late, odd }
    }

    /// Does what is due; returns whether there was anything.
    fn round(&mut self) -> bool {
        let leases = self.engine.run(LeaseTasks::up_to(64)).unwrap();
        let any = !leases.is_empty();
        for lease in leases {
            match lease.work {
                Work::Call(call) => self.carry(call, lease.key),
                Work::Callback { subject, answer } => self.called_back(ReportAnswer { subject, answer, lease: Some(lease.key) }),
            }
        }
        any
    }

    /// Hands a call to its operator, and reports the answer.
    fn carry(&self, call: RailCall, lease: TaskKey) {
        let subject = call.subject;
        let answer = self.engine.run(Receive(call)).unwrap().unwrap();
        self.engine.run(ReportAnswer { subject, answer, lease: Some(lease) }).unwrap();
    }

    fn called_back(&mut self, callback: ReportAnswer) {
        match self.situation {
            Situation::DuplicateCallback => {
                self.odd += 1;
                self.engine.run(callback.clone()).unwrap();
                self.engine.run(ReportAnswer { lease: None, ..callback }).unwrap();
            }
            // Until it is there, it is due again whenever its lease ends.
            Situation::LateCallback if self.env.now() < START + DAY + 20 * MINUTE => self.late.push(callback),
            Situation::Create
            | Situation::CrashBeforeSend
            | Situation::CrashAfterSend
            | Situation::CrashAfterAnswer
            | Situation::LateAnswer
            | Situation::LateCallback
            | Situation::FirstRefuses
            | Situation::FirstDown => self.engine.run(callback).unwrap(),
        }
    }

    fn late_arrives(&mut self) {
        for late in take(&mut self.late) {
            self.odd += 1;
            self.engine.run(late).unwrap();
        }
    }

    fn pass(&mut self, ms: i64) {
        let end = self.env.now() + ms;
        while self.round() {}
        while let Some(due) = self.engine.next_due().unwrap().filter(|due| *due <= end) {
            self.env.advance_to(due.max(self.env.now()));
            while self.round() {}
        }
        self.env.advance_to(end);
    }

    fn reverse_all(&mut self) {
        for record in settlements(&*self.store).iter().filter(|record| record.status == SettlementStatus::Completed) {
            self.engine.run(reverse(self.caller, record.reference.as_str(), "")).unwrap();
        }
    }

    /// The operator says once more, twice, what it has said in the end.
    fn repeat_the_end(&mut self) {
        let client: ClientRecord = typed(self.store.get(&Key::Client(self.caller.client)).unwrap()).unwrap().unwrap();
        for record in settlements(&*self.store) {
            let (subject, key) = (Subject::Attempt(record.no, record.attempts), rail_key(&self.engine, &record, &client));
            let answer = Scenario::of(&record.to).inquire(record.attempts, &key, 5 * DAY);
            for _ in 0..2 {
                self.engine.run(ReportAnswer { subject, answer: answer.clone(), lease: None }).unwrap();
            }
        }
    }

    fn told(&self) -> Vec<Told> {
        let arrived: Vec<SimPaymentRecord> = typed_all(self.store.scan(&Scan::all(RecordKind::SimPayment, usize::MAX)).unwrap()).unwrap();
        let mut all = settlements(&*self.store);
        all.sort_by_key(|record| record.reference.as_str()[1..].parse::<usize>().unwrap());
        all.iter().map(|record| self.told_of(record, arrived.iter().filter(|it| it.settlement == record.no).collect())).collect()
    }

    fn told_of(&self, record: &SettlementRecord, arrived: Vec<&SimPaymentRecord>) -> Told {
        let scenario = Scenario::of(&record.to);
        let pays = |n| matches!(scenario.inquire(n, "", 5 * DAY), RailAnswer::Completed { .. } | RailAnswer::Returned { .. });
        let paid = arrived.iter().filter(|it| it.child & REVERSAL == 0 && pays(it.child)).count();
        let reversals: Vec<ReversalRecord> = typed_all(self.store.scan(&Scan::reversals(record.no)).unwrap()).unwrap();
        assert!(reversals.len() <= 1);
        let reversal = reversals.first().map(|reversal| reversal.status);
        let events = events_of(&*self.store, record.no);
        Told {
            end: End { status: record.status, needs_review: record.needs_review, paid, reversal },
            trace: trace::told(&events),
            times: events.iter().map(|it| it.at).collect(),
            money: Money::of(&typed_all(self.store.scan(&Scan::transfers(record.no)).unwrap()).unwrap()),
            arrived: arrived.iter().map(|it| (it.child, it.provider, it.received)).collect(),
        }
    }

    /// Requires the client's balance to be what the payments come to, and everything recomputed to be as it is stored.
    fn assert_balanced(&self, told: &[Told]) {
        let sum = |of: fn(&Money) -> &[(Owner, i64)]| told.iter().flat_map(|it| of(&it.money)).map(|(_, cents)| cents).sum::<i64>();
        let (held, paid, coming, back) = (sum(|it| &it.held), sum(|it| &it.paid), sum(|it| &it.coming), sum(|it| &it.back));
        let balance = self.engine.balance(&self.caller, "EUR").unwrap();
        let cents = |text: &str| text.replace('.', "").parse::<i64>().unwrap();
        let found = [balance.available, balance.reserved, balance.pending].map(|amount| cents(amount.as_str()));
        assert_eq!(found, [FUNDS - held - paid + back, held, coming], "{:?}", self.situation);
        let report = verify::verify(&*self.store, &mut |_| {}).unwrap();
        assert!(report.is_ok() && report.received_twice == 0, "{:?}: {:#?}", self.situation, report.problems);
    }
}

/// The key under which the operator has the last attempt.
fn rail_key(engine: &Engine, record: &SettlementRecord, client: &ClientRecord) -> String {
    let id = engine.view(record, client.id).id.to_string();
    format!("{}-{}", id.trim_start_matches("stl_"), record.attempts)
}
