//! Several nodes over one store.

use crate::support;
use railgate::engine::SetCredit;
use railgate::store::hooked::Hooked;

use super::*;
use crate::support::live::{live, node};
use crate::support::meddling::Meddling;
use crate::support::remote::Remote;
use crate::support::town::pay_each_other_at_four_nodes;

#[test]
fn money_that_a_payee_spends_meanwhile_elsewhere_is_not_taken_back() {
    let t = town(Arc::new(MemoryStore::new()));
    t.pay(&t.bob, &t.eve, "1000000", "all").unwrap();
    t.pay(&t.ann, &t.bob, "10", "r").unwrap();
    let store = Meddling::over(t.s.store.clone());
    let (slow, fast) = (node(&t.s, store.clone(), 1), node(&t.s, t.s.store.clone(), 2));
    let spends = create(&fast, t.bob, &body(&t.eve, "1", "away"));
    store.before_commit(move || drop(fast.run(spends).unwrap()));
    let refused = slow.run(support::reverse(t.ann, "r", "")).unwrap();
    assert_eq!(refused.reversal.unwrap().status.as_str(), "failed");
    assert_eq!(t.euros(&t.bob), "9.00");
    t.assert_sound();
}

#[test]
fn nor_is_it_taken_out_of_the_payees_credit_that_a_payment_in_the_same_commit_may_use() {
    let t = town(Arc::new(MemoryStore::new()));
    let (ann, bob) = (live(t.ann), live(t.bob));
    t.deposit(&t.ann, "100.00 EUR");
    t.approve(&t.bob, 8);
    t.pay(&ann, &bob, "20", "r").unwrap();
    let (reference, evidence) = ("line-1".parse().unwrap(), "contract of May".to_owned());
    let credit = "100.00 EUR".parse().unwrap();
    t.engine().run(SetCredit { client: bob.client_id, credit, reference, evidence, expected: None, reason: None }).unwrap();
    let store = Meddling::over(t.s.store.clone());
    let (slow, fast) = (node(&t.s, store.clone(), 1), node(&t.s, t.s.store.clone(), 2));
    let abroad =
        |reference: &str| json!({ "amount": 5, "currency": "EUR", "to": "msisdn:+254700000001", "reference": reference }).to_string();
    // Each draws numbers of its own by now, so that they do not meet.
    for (node, reference) in [(&slow, "slow"), (&fast, "fast")] {
        node.run(create(node, ann, &abroad(reference))).unwrap();
    }
    let (spends, also) = (create(&fast, bob, &abroad("away")), create(&slow, bob, &abroad("also")));
    store.before_write(RecordKind::Reversal, move || drop(fast.run(spends).unwrap()));
    let (refused, paid) = together(&slow, support::reverse(ann, "r", ""), also);
    assert_eq!(refused.unwrap().reversal.unwrap().status.as_str(), "failed");
    assert!(paid.is_ok());
    assert_eq!(t.euros(&bob), "10.00");
    t.assert_sound();
}

#[test]
fn a_payment_is_reversed_once_at_whichever_node() {
    let t = town(Arc::new(MemoryStore::new()));
    t.pay(&t.ann, &t.bob, "10", "r").unwrap();
    let store = Meddling::over(t.s.store.clone());
    let (slow, fast) = (node(&t.s, store.clone(), 1), node(&t.s, t.s.store.clone(), 2));
    let first = support::reverse(t.ann, "r", "");
    store.before_commit(move || drop(fast.run(first).unwrap()));
    assert_eq!(slow.run(support::reverse(t.ann, "r", "")).unwrap_err().code, ErrorCode::AlreadyReversed);
    assert_eq!((t.euros(&t.ann), t.euros(&t.bob)), ("1000000.00".to_owned(), "1000000.00".to_owned()));
    t.assert_sound();
}

#[test]
fn a_payee_is_credited_its_opening_balances_by_one_of_two_payers() {
    let t = town(Arc::new(MemoryStore::new()));
    let store = Meddling::over(t.s.store.clone());
    let (slow, fast) = (node(&t.s, store.clone(), 1), node(&t.s, t.s.store.clone(), 2));
    let first = create(&fast, t.eve, &body(&t.bob, "1", "r"));
    store.before_commit(move || drop(fast.run(first).unwrap()));
    slow.run(create(&slow, t.ann, &body(&t.bob, "2", "r"))).unwrap();
    assert_eq!(t.euros(&t.bob), "1000003.00");
    t.assert_sound();
}

#[test]
fn the_same_create_at_two_nodes_pays_once() {
    let t = town(Arc::new(MemoryStore::new()));
    let store = Meddling::over(t.s.store.clone());
    let (slow, fast) = (node(&t.s, store.clone(), 1), node(&t.s, t.s.store.clone(), 2));
    let first = create(&fast, t.ann, &body(&t.bob, "2", "r"));
    store.before_commit(move || drop(fast.run(first).unwrap()));
    assert!(slow.run(create(&slow, t.ann, &body(&t.bob, "2", "r"))).unwrap().replayed);
    assert_eq!((t.euros(&t.bob), t.list(&t.bob, &[]).len()), ("1000002.00".to_owned(), 1));
    t.assert_sound();
}

#[test]
fn on_another_machine_a_payment_takes_three_round_trips() {
    let t = town(Arc::new(MemoryStore::new()));
    let store: Arc<Remote> = Hooked::over(t.s.store.clone());
    let node = node(&t.s, store.clone(), 1);
    for (from, to) in [(t.ann, t.bob), (t.bob, t.ann)] {
        node.run(create(&node, from, &body(&to, "2", "warm"))).unwrap();
    }
    store.taken();
    node.run(create(&node, t.ann, &body(&t.bob, "2", "r"))).unwrap();
    assert_eq!(store.taken(), 3, "what the request names, what belongs to the payee, and the commit");
    node.run(support::reverse(t.ann, "r", "")).unwrap();
    assert_eq!(store.taken(), 3, "the settlement, the payee's side, and the commit");
}

#[test]
fn clients_that_pay_each_other_at_four_nodes_at_once_lose_nothing() {
    over_each_store_alone(pay_each_other_at_four_nodes);
}
