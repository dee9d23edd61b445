//! A gateway with clients that pay each other.

use std::sync::{Arc, Barrier};

use railgate::api::{Caller, SettlementView};
use railgate::engine::{ListRequest, NumberEvents, Reversed};
use railgate::store::Store;
use railgate::{Engine, Error};
use serde_json::json;

use super::live::{in_both_modes, node};
use super::{Sandbox, create, enroll, sealing, target};

/// A gateway with two clients that pay each other, and a third one.
pub struct Town {
    pub s: Sandbox,
    pub ann: Caller,
    pub bob: Caller,
    pub eve: Caller,
}

pub fn town(store: Arc<dyn Store>) -> Town {
    let s = Sandbox::over(store, in_both_modes(sealing()), 1);
    let (bob, eve) = (enroll(&s.engine, "Bob's bikes"), enroll(&s.engine, "Eve"));
    Town { ann: s.caller, bob, eve, s }
}

pub fn participant(client: &Caller) -> String {
    format!("participant:cli_{}", client.client_id)
}

pub fn body(to: &Caller, amount: &str, reference: &str) -> String {
    json!({ "amount": amount, "currency": "EUR", "to": participant(to), "reference": reference }).to_string()
}

impl Town {
    pub fn engine(&self) -> &Engine {
        &self.s.engine
    }

    pub fn pay(&self, from: &Caller, to: &Caller, amount: &str, reference: &str) -> Result<SettlementView, Error> {
        self.send(from, &body(to, amount, reference))
    }

    pub fn send(&self, from: &Caller, body: &str) -> Result<SettlementView, Error> {
        let created = self.engine().run(create(self.engine(), *from, body))?;
        Ok(self.engine().view(&created.settlement, from.client_id))
    }

    pub fn reverse(&self, by: &Caller, reference: &str, body: &str) -> Result<Reversed, Error> {
        self.engine().run(super::reverse(*by, reference, body))
    }

    pub fn list(&self, caller: &Caller, query: &[(&str, &str)]) -> Vec<SettlementView> {
        let query: Vec<_> = query.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request: ListRequest = self.engine().parse_list(&query).unwrap();
        self.engine().list(caller, &request).unwrap().data
    }

    /// The settlement that the caller received last.
    pub fn received(&self, caller: &Caller) -> SettlementView {
        self.list(caller, &[("direction", "incoming")]).remove(0)
    }

    pub fn trace(&self, caller: &Caller, reference: &str) -> Vec<&'static str> {
        let record = self.engine().settlement(caller, &target(reference)).unwrap();
        let events = self.engine().events(&record, 0, 100).unwrap();
        events.iter().for_each(super::says_what_is_documented);
        events.iter().map(|event| event.kind.as_str()).collect()
    }

    pub fn euros(&self, caller: &Caller) -> String {
        self.engine().balance(caller, "EUR").unwrap().available.as_str().to_owned()
    }

    pub fn number(&self) {
        while self.engine().run(NumberEvents { limit: 100 }).unwrap().more {}
    }

    /// Everything agrees, before and after events are numbered and statements booked.
    pub fn assert_sound(&self) {
        self.s.assert_sound();
        self.number();
        self.s.assert_sound();
        super::log::assert_logged(&*self.s.store);
    }
}

/// Everybody pays everybody large sums at four nodes at once, and takes parts of them back.
pub fn pay_each_other_at_four_nodes(store: Arc<dyn Store>) {
    let t = town(store);
    let clients = [t.ann, t.bob, t.eve];
    let start = Arc::new(Barrier::new(4));
    let threads: Vec<_> = (0..4usize)
        .map(|n| {
            let (node, start) = (node(&t.s, t.s.store.clone(), n as i64 + 1), start.clone());
            std::thread::spawn(move || {
                start.wait();
                for turn in 0..12 {
                    let (from, to) = (clients[(n + turn) % 3], clients[(n + 2 * turn + 1) % 3]);
                    let reference = format!("n-{n}-{turn}");
                    // Who would pay itself, or has nothing left, is refused.
                    let paid = node.run(create(&node, from, &body(&to, "400000", &reference)));
                    if paid.is_ok() && turn % 3 == 0 {
                        // Whoever meets the others too often is told that nothing was done.
                        while let Err(error) = node.run(super::reverse(from, &reference, r#"{"amount": 100000}"#)) {
                            assert!(error.retryable, "{error}");
                        }
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let all: i64 = clients.iter().map(|client| t.euros(client).trim_end_matches(".00").parse::<i64>().unwrap()).sum();
    assert_eq!(all, 3_000_000);
    assert!(clients.iter().any(|client| !t.list(client, &[("direction", "incoming")]).is_empty()));
    t.assert_sound();
}
