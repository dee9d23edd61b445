//! Payments between clients over PostgreSQL.

use std::sync::Arc;

use super::Fresh;
use super::support::town::{pay_each_other_at_four_nodes, town};

#[test]
fn clients_that_pay_each_other_at_four_nodes_at_once_lose_nothing() {
    pay_each_other_at_four_nodes(Arc::new(Fresh::new()));
}

#[test]
fn a_payment_and_its_reversals_are_as_over_the_other_stores() {
    let t = town(Arc::new(Fresh::new()));
    t.pay(&t.ann, &t.bob, "10", "r").unwrap();
    assert_eq!(t.received(&t.bob).status.as_str(), "completed");
    let part = t.reverse(&t.ann, "r", r#"{"amount": 4}"#).unwrap().reversal.unwrap();
    t.pay(&t.bob, &t.eve, "1000006", "away").unwrap();
    let rest = t.reverse(&t.ann, "r", "").unwrap().reversal.unwrap();
    assert_eq!((part.status.as_str(), rest.status.as_str()), ("completed", "failed"));
    assert_eq!((t.euros(&t.ann), t.euros(&t.bob)), ("999994.00".to_owned(), "0.00".to_owned()));
    assert_eq!(t.list(&t.bob, &[("direction", "outgoing")]).len(), 1);
    t.assert_sound();
}
