//! Random payments and reversals between a few clients, at two engines over one store, against a model of balances.

use crate::support;
use proptest::prelude::*;
use railgate::Config;
use railgate::engine::{Create, Reverse, Slot};

use super::*;

const CLIENTS: usize = 3;
/// What each client has at first, in cents: few payments exhaust it.
const FIRST: i64 = 10_00;

/// What a client does.
#[derive(Debug, Clone)]
enum Act {
    Pay {
        from: usize,
        to: usize,
        cents: i64,
    },
    /// Reverses so much of one of the payments so far; the remainder with `None`.
    Reverse {
        which: prop::sample::Index,
        cents: Option<i64>,
    },
}

fn act() -> impl Strategy<Value = Act> {
    let pay = (0..CLIENTS, 1..CLIENTS, 1i64..12_00).prop_map(|(from, by, cents)| Act::Pay { from, to: (from + by) % CLIENTS, cents });
    let reverse = (any::<prop::sample::Index>(), prop::option::of(1i64..12_00)).prop_map(|(which, cents)| Act::Reverse { which, cents });
    prop_oneof![3 => pay, 2 => reverse]
}

/// A payment in the model.
#[derive(Debug, Clone)]
struct Paid {
    from: usize,
    to: usize,
    cents: i64,
    reversed: i64,
}

#[derive(Debug, Clone)]
struct Model {
    balances: [i64; CLIENTS],
    payments: Vec<Paid>,
}

/// What the model expects of an act.
#[derive(Debug, PartialEq, Eq)]
enum Expected {
    Done,
    Failed,
    Refused,
}

impl Model {
    fn pay(&mut self, from: usize, to: usize, cents: i64) -> Expected {
        if self.balances[from] < cents {
            return Expected::Refused;
        }
        self.balances[from] -= cents;
        self.balances[to] += cents;
        self.payments.push(Paid { from, to, cents, reversed: 0 });
        Expected::Done
    }

    fn reverse(&mut self, which: usize, cents: Option<i64>) -> Expected {
        let paid = &mut self.payments[which];
        let rest = paid.cents - paid.reversed;
        let cents = cents.unwrap_or(rest);
        if rest == 0 || cents > rest {
            return Expected::Refused;
        }
        if self.balances[paid.to] < cents {
            return Expected::Failed;
        }
        paid.reversed += cents;
        self.balances[paid.to] -= cents;
        self.balances[paid.from] += cents;
        Expected::Done
    }
}

fn decimal(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// Three clients with little money, and the model of it.
fn begin() -> (Town, [Caller; CLIENTS], Model) {
    let t = town(Arc::new(MemoryStore::new()));
    let clients = [t.ann, t.bob, t.eve];
    let sink = enroll(t.engine(), "Sink");
    for client in &clients {
        t.pay(client, &sink, &decimal(100_000_000 - FIRST), "spent").unwrap();
    }
    (t, clients, Model { balances: [FIRST; CLIENTS], payments: Vec::new() })
}

enum Pending {
    Pay(Slot<Create>, Expected),
    Reverse(Slot<Reverse>, Expected),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn balances_are_those_of_the_model_at_every_commit(groups in prop::collection::vec(prop::collection::vec(act(), 1..5), 1..12)) {
        let (t, clients, mut model) = begin();
        let other = Engine::open(t.s.store.clone(), t.s.env.clone(), in_both_modes(Config { owner: Some(2), ..sealing() })).unwrap();
        for (turn, group) in groups.into_iter().enumerate() {
            let engine = [t.engine(), &other][turn % 2];
            let mut pending: Vec<Pending> = group.into_iter().filter_map(|act| match act {
                Act::Pay { from, to, cents } => {
                    let reference = format!("p-{}", model.payments.len());
                    let command = create(engine, clients[from], &body(&clients[to], &decimal(cents), &reference));
                    Some(Pending::Pay(Slot::new(command), model.pay(from, to, cents)))
                }
                Act::Reverse { .. } if model.payments.is_empty() => None,
                Act::Reverse { which, cents } => {
                    let which = which.index(model.payments.len());
                    let body = cents.map_or_else(String::new, |cents| format!(r#"{{"amount": {}}}"#, decimal(cents)));
                    let command = support::reverse(clients[model.payments[which].from], &format!("p-{which}"), &body);
                    Some(Pending::Reverse(Slot::new(command), model.reverse(which, cents)))
                }
            }).collect();
            let mut slots: Vec<&mut dyn railgate::engine::Pending> = pending.iter_mut().map(|it| match it {
                Pending::Pay(slot, _) => slot as &mut dyn railgate::engine::Pending,
                Pending::Reverse(slot, _) => slot,
            }).collect();
            engine.execute(&mut slots);
            for it in pending {
                let (came, expected) = match it {
                    Pending::Pay(slot, expected) => {
                        (slot.into_result().unwrap().map_or(Expected::Refused, |_| Expected::Done), expected)
                    }
                    Pending::Reverse(slot, expected) => (slot.into_result().unwrap().map_or(Expected::Refused, |reversed| {
                        let failed = reversed.reversal.unwrap().status.as_str() == "failed";
                        if failed { Expected::Failed } else { Expected::Done }
                    }), expected),
                };
                prop_assert_eq!(came, expected);
            }
            for (client, cents) in clients.iter().zip(model.balances) {
                prop_assert_eq!(t.euros(client), decimal(cents));
            }
        }
        for (n, paid) in model.payments.iter().enumerate() {
            let record = t.engine().settlement(&clients[paid.from], &target(&format!("p-{n}"))).unwrap();
            prop_assert_eq!((record.amount, record.reversed), (paid.cents, paid.reversed));
        }
        t.s.assert_sound();
    }
}
