//! Payments, failures, reversals, limits and nodes in any order: balances and counters are what a model says that knows nothing of the
//! engine. The model predicts every refusal as well.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::support::{Sandbox, create, enroll, reverse, sealing, target};
use proptest::prelude::*;
use railgate::api::{Caller, TermsBody};
use railgate::engine::{Create, Fund, Operated, Pending, PutTerms, Reverse, Slot};
use railgate::env::Env as _;
use railgate::ledger::Mode;
use railgate::money::Currency;
use railgate::rail::simulator::Simulator;
use railgate::route::{FeeRefund, FeeRule, ProviderSpec, Units};
use railgate::store::memory::MemoryStore;
use railgate::store::record::{Key, UsageRecord};
use railgate::store::sqlite::SqliteStore;
use railgate::store::{Store, typed};
use railgate::terms::UsageId;
use railgate::{Config, Engine, ErrorCode};
use serde_json::json;

const DAY: i64 = 86_400_000;
/// Cents.
const FEE: i64 = 7;
const OPENING: i64 = 5_000;

/// What becomes of a payment once it is sent.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    Paid,
    PaidElsewhere,
    PaidForGood,
    Refused,
    Pending,
    InDoubt,
}

const FATES: [Fate; 6] = [Fate::Paid, Fate::PaidElsewhere, Fate::PaidForGood, Fate::Refused, Fate::Pending, Fate::InDoubt];

impl Fate {
    fn payee(self) -> &'static str {
        match self {
            Self::Paid => "sim:ok",
            Self::PaidElsewhere => "sim:failover",
            Self::PaidForGood => "sim:reverse-fail",
            Self::Refused => "sim:decline-over_limit",
            Self::Pending => "sim:pending",
            Self::InDoubt => "sim:timeout-then-ok",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Stage {
    Waiting,
    Pending,
    InDoubt,
    Paid,
    Failed,
    Cancelled,
}

#[derive(Debug, Clone)]
struct Payment {
    reference: String,
    fate: Fate,
    amount: i64,
    stage: Stage,
    /// The day whose limits it counts for.
    day: Option<i64>,
    reversed: i64,
    /// Reversals that are not sent yet.
    announced: Vec<i64>,
}

impl Payment {
    /// What reversals gave back of the fee: the share of the reversed part, rounded down.
    fn fee_back(&self) -> i64 {
        FEE * self.reversed / self.amount
    }

    fn remaining(&self) -> i64 {
        self.amount - self.reversed - self.announced.iter().sum::<i64>()
    }

    fn send(&mut self) {
        if self.stage == Stage::Waiting {
            self.stage = match self.fate {
                Fate::Paid | Fate::PaidElsewhere | Fate::PaidForGood => Stage::Paid,
                Fate::Refused => Stage::Failed,
                Fate::Pending => Stage::Pending,
                Fate::InDoubt => Stage::InDoubt,
            };
        }
        let arrived: i64 = self.announced.drain(..).sum();
        if self.fate != Fate::PaidForGood {
            self.reversed += arrived;
        }
    }
}

/// A client as the model knows it.
struct Client {
    caller: Caller,
    funded: i64,
    payments: Vec<Payment>,
    /// The value and the number of payments a day.
    limits: Option<(i64, i64)>,
}

impl Client {
    /// Available, reserved and pending cents.
    fn balance(&self) -> (i64, i64, i64) {
        let (mut available, mut reserved, mut pending) = (self.funded, 0, 0);
        for payment in &self.payments {
            let whole = payment.amount + FEE;
            match payment.stage {
                Stage::Waiting | Stage::Pending | Stage::InDoubt => (available, reserved) = (available - whole, reserved + whole),
                Stage::Paid => available -= whole - payment.reversed - payment.fee_back(),
                Stage::Failed | Stage::Cancelled => {}
            }
            pending += payment.announced.iter().sum::<i64>();
        }
        (available, reserved, pending)
    }

    /// Value and number of the payments that count for each day.
    fn used(&self) -> BTreeMap<i64, (i64, i64)> {
        let mut days = BTreeMap::new();
        for payment in &self.payments {
            let Some(day) = payment.day else { continue };
            let (value, count) = days.entry(day).or_insert((0, 0));
            if !matches!(payment.stage, Stage::Failed | Stage::Cancelled) {
                (*value, *count) = (*value + payment.amount, *count + 1);
            }
        }
        days
    }

    /// Creates a payment, or says why not.
    fn pay(&mut self, reference: &str, fate: Fate, amount: i64, day: i64) -> Result<(), ErrorCode> {
        if let Some((value, count)) = self.limits {
            let used = self.used().get(&day).copied().unwrap_or_default();
            if used.1 >= count {
                return Err(ErrorCode::LimitDailyCount);
            }
            if used.0 + amount > value {
                return Err(ErrorCode::LimitDailyValue);
            }
        }
        if self.balance().0 < amount + FEE {
            return Err(ErrorCode::InsufficientFunds);
        }
        let day = self.limits.map(|_| day);
        let reference = reference.to_owned();
        self.payments.push(Payment { reference, fate, amount, stage: Stage::Waiting, day, reversed: 0, announced: Vec::new() });
        Ok(())
    }
}

impl Payment {
    /// Cancels or reverses `part`, or says why not.
    fn undo(&mut self, part: Option<i64>) -> Result<(), ErrorCode> {
        let remaining = self.remaining();
        let amount = part.unwrap_or(remaining);
        match self.stage {
            Stage::Waiting if amount == remaining => self.stage = Stage::Cancelled,
            Stage::Waiting | Stage::Failed | Stage::Cancelled => return Err(ErrorCode::InvalidState),
            Stage::Pending | Stage::InDoubt => return Err(ErrorCode::SettlementInFlight),
            Stage::Paid if self.reversed == self.amount => return Err(ErrorCode::AlreadyReversed),
            Stage::Paid if remaining == 0 || amount > remaining => return Err(ErrorCode::ReversalExceedsRemaining),
            Stage::Paid => self.announced.push(amount),
        }
        Ok(())
    }
}

/// What a client asks for.
#[derive(Debug, Clone)]
enum Ask {
    Pay {
        fate: Fate,
        amount: i64,
    },
    /// Reverses this one of its payments, all of it or so many cents.
    Undo {
        which: usize,
        part: Option<i64>,
    },
}

#[derive(Debug, Clone)]
enum Step {
    /// Asked in one group, by these clients.
    Together(Vec<(usize, Ask)>),
    /// Due tasks are carried out.
    Work,
    Pass(i64),
    Limit(usize, Option<(i64, i64)>),
    Fund(usize, i64),
}

fn asks() -> impl Strategy<Value = (usize, Ask)> {
    let pay = (0..FATES.len(), 1i64..1_500).prop_map(|(fate, amount)| Ask::Pay { fate: FATES[fate], amount });
    let undo = (0usize..64, prop::option::of(1i64..900)).prop_map(|(which, part)| Ask::Undo { which, part });
    (0usize..2, prop_oneof![3 => pay, 2 => undo])
}

fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => prop::collection::vec(asks(), 1..5).prop_map(Step::Together),
        3 => Just(Step::Work),
        1 => prop_oneof![Just(10_000), Just(DAY / 2)].prop_map(Step::Pass),
        1 => (0usize..2, prop::option::of((1i64..6_000, 1i64..8))).prop_map(|(who, limits)| Step::Limit(who, limits)),
        1 => (0usize..2, 1i64..2_000).prop_map(|(who, cents)| Step::Fund(who, cents)),
    ]
}

/// A command in a group, and what the model says becomes of it.
struct Asked {
    slot: Command,
    expected: Result<(), ErrorCode>,
}

enum Command {
    Create(Slot<Create>),
    Reverse(Slot<Reverse>),
}

impl Asked {
    fn pending(&mut self) -> &mut dyn Pending {
        match &mut self.slot {
            Command::Create(slot) => slot,
            Command::Reverse(slot) => slot,
        }
    }

    fn assert_as_expected(self) {
        let result = match self.slot {
            Command::Create(slot) => slot.into_result().unwrap().map(drop),
            Command::Reverse(slot) => slot.into_result().unwrap().map(drop),
        };
        assert_eq!(result.map_err(|error| error.code), self.expected);
    }
}

/// Two nodes over one store, and the model of their two clients.
struct World {
    s: Sandbox,
    other: Engine,
    clients: [Client; 2],
    made: usize,
}

fn config(owner: i64) -> Config {
    let flat = Units::of("0.07".parse().unwrap()).unwrap();
    let fees = vec![FeeRule { flat, refund: Some(FeeRefund::Proportional), ..FeeRule::default() }];
    let provider = |id| ProviderSpec { fees: fees.clone(), ..ProviderSpec::new(id, id, Mode::Sandbox, &Simulator) };
    let sandbox_funding = vec![format!("{}.00 EUR", OPENING / 100).parse().unwrap()];
    Config { owner: Some(owner), providers: vec![provider("one"), provider("two")], sandbox_funding, ..sealing() }
}

impl World {
    fn over(store: Arc<dyn Store>) -> Self {
        let s = Sandbox::over(store.clone(), config(1), 1);
        let other = Engine::open(store, s.env.clone(), config(2)).unwrap();
        let client = |caller| Client { caller, funded: OPENING, payments: Vec::new(), limits: None };
        let clients = [s.caller, enroll(&s.engine, "Second")].map(client);
        let mut world = Self { s, other, clients, made: 0 };
        // Its first payment opens an account.
        world.take(0, Step::Together(vec![(0, Ask::Pay { fate: Fate::Paid, amount: 1 }), (1, Ask::Pay { fate: Fate::Paid, amount: 1 })]));
        world
    }

    fn take(&mut self, node: usize, step: Step) {
        match step {
            Step::Together(asks) => self.ask(node, asks),
            Step::Work => {
                while [&self.s.engine, &self.other][node].work(64, &()).unwrap() > 0 {}
                self.payments().for_each(Payment::send);
            }
            Step::Pass(ms) => {
                self.s.pass(ms);
                for payment in self.payments() {
                    payment.send();
                    if payment.stage == Stage::InDoubt {
                        payment.stage = Stage::Paid;
                    }
                }
            }
            Step::Limit(who, limits) => self.limit(who, limits),
            Step::Fund(who, cents) => {
                let money = format!("{}.{:02} EUR", cents / 100, cents % 100).parse().unwrap();
                [&self.s.engine, &self.other][node].run(Fund { caller: self.clients[who].caller, money }).unwrap();
                self.clients[who].funded += cents;
            }
        }
        self.compare();
    }

    fn payments(&mut self) -> impl Iterator<Item = &mut Payment> {
        self.clients.iter_mut().flat_map(|client| &mut client.payments)
    }

    fn ask(&mut self, node: usize, asks: Vec<(usize, Ask)>) {
        let engine = [&self.s.engine, &self.other][node];
        let day = self.s.env.now().div_euclid(DAY);
        let decimal = |cents: i64| format!("{}.{:02}", cents / 100, cents % 100);
        let mut group = Vec::new();
        for (who, ask) in asks {
            let client = &mut self.clients[who];
            group.push(match ask {
                Ask::Pay { fate, amount } => {
                    self.made += 1;
                    let reference = format!("r-{}", self.made);
                    let (to, decimal) = (fate.payee(), decimal(amount));
                    let body = format!(r#"{{"amount":{decimal},"currency":"EUR","to":"{to}","reference":"{reference}"}}"#);
                    let slot = Command::Create(Slot::new(create(engine, client.caller, &body)));
                    Asked { slot, expected: client.pay(&reference, fate, amount, day) }
                }
                Ask::Undo { which, part } => {
                    let which = which % client.payments.len().max(1);
                    let Some(payment) = client.payments.get_mut(which) else { continue };
                    let body = part.map_or_else(|| "{}".to_owned(), |part| format!(r#"{{"amount":{}}}"#, decimal(part)));
                    let slot = Command::Reverse(Slot::new(reverse(client.caller, &payment.reference, &body)));
                    Asked { slot, expected: payment.undo(part) }
                }
            });
        }
        let mut pending: Vec<&mut dyn Pending> = group.iter_mut().map(Asked::pending).collect();
        engine.execute(&mut pending);
        group.into_iter().for_each(Asked::assert_as_expected);
    }

    fn limit(&mut self, who: usize, limits: Option<(i64, i64)>) {
        let decimal = |cents: i64| format!("{}.{:02}", cents / 100, cents % 100);
        let of = |(value, count)| json!([{"mode": "sandbox", "currency": "EUR", "daily_value": decimal(value), "daily_count": count}]);
        let client = format!("cli_{}", self.clients[who].caller.client_id);
        let body = json!({ "client": client, "limits": limits.map_or_else(|| json!([]), of) });
        let body: TermsBody = serde_json::from_value(body).unwrap();
        self.s.engine.run(Operated(PutTerms { terms: vec![(body, None)], reason: None })).unwrap();
        for node in [&self.s.engine, &self.other] {
            node.follow_setup().unwrap();
        }
        self.clients[who].limits = limits;
    }

    fn compare(&self) {
        let euro = Currency::from_code("EUR").unwrap();
        for client in &self.clients {
            let balance = self.s.engine.balance(&client.caller, "EUR").unwrap();
            let cents = |text: &str| text.replace('.', "").parse::<i64>().unwrap();
            let found = [&balance.available, &balance.reserved, &balance.pending].map(|part| cents(part.as_str()));
            let (available, reserved, pending) = client.balance();
            assert_eq!(found, [available, reserved, pending], "available, reserved, pending of {:#?}", client.payments);
            assert_eq!(cents(balance.ledger.as_str()), available + reserved, "the parts add up");
            for (day, used) in client.used() {
                let id = UsageId::new(client.caller.client, Mode::Sandbox, euro, day * DAY);
                let found: Option<UsageRecord> = typed(self.s.store.get(&Key::Usage(id)).unwrap()).unwrap();
                assert_eq!(
                    found.map_or((0, 0), |found| (found.used.value, found.used.count)),
                    used,
                    "the counter of {:#?}",
                    client.payments
                );
            }
        }
    }

    fn end(mut self) {
        self.take(1, Step::Pass(10_000));
        for client in &self.clients {
            for payment in &client.payments {
                let status = self.s.engine.settlement(&client.caller, &target(&payment.reference)).unwrap().status.as_str();
                let expected = match payment.stage {
                    Stage::Pending => "submitted",
                    Stage::Failed => "failed",
                    Stage::Cancelled => "cancelled",
                    Stage::Paid if payment.reversed == payment.amount => "reversed",
                    Stage::Paid if payment.reversed > 0 => "partially_reversed",
                    Stage::Paid => "completed",
                    Stage::Waiting | Stage::InDoubt => unreachable!("time has passed"),
                };
                assert_eq!(status, expected, "{payment:?}");
            }
        }
        self.s.assert_sound();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn balances_and_counters_are_what_the_model_says(
        on_disk in prop::bool::weighted(0.2), steps in prop::collection::vec((0usize..2, steps()), 1..60)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store: Arc<dyn Store> = if on_disk {
            Arc::new(SqliteStore::open(folder.path().join("model.db")).unwrap())
        } else {
            Arc::new(MemoryStore::new())
        };
        let mut world = World::over(store);
        for (node, step) in steps {
            world.take(node, step);
        }
        world.end();
    }
}
