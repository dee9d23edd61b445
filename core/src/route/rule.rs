//! Which providers take which payments: the entries of the table of routes.

use std::cmp::Reverse;

use sha2::{Digest as _, Sha256};

use super::{Payment, Table};
use crate::ledger::Mode;
use crate::money::{Currency, Money};
use crate::participant::{Namespace, Participant};

/// A provider in a route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The provider's id.
    pub id: String,
    /// The lowest comes first.
    pub priority: u32,
    /// Its share among those of the same priority; 0 for the last of them.
    pub weight: u32,
}

/// One entry: for payments like these, these providers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteRule {
    /// Sandbox or live.
    pub mode: Mode,
    /// The kind of participant.
    pub namespace: Namespace,
    /// What the identifier starts with, such as `+2547` or `DE`; empty for all.
    pub prefix: String,
    /// Only this currency.
    pub currency: Option<Currency>,
    /// The smallest amount, in minor units of `currency`.
    pub min: Option<i64>,
    /// The largest amount, in minor units of `currency`.
    pub max: Option<i64>,
    /// The providers.
    pub providers: Vec<Choice>,
}

impl RouteRule {
    /// Whether the entry is about such participants at all.
    fn is_about(&self, mode: Mode, namespace: Namespace) -> bool {
        self.mode == mode && self.namespace == namespace
    }

    fn covers(&self, to: &Participant, money: Money) -> bool {
        to.identifier().starts_with(&self.prefix)
            && self.currency.is_none_or(|only| only == money.currency())
            && self.min.is_none_or(|min| money.minor() >= min)
            && self.max.is_none_or(|max| money.minor() <= max)
    }

    /// Orders entries by how narrow they are, the narrowest last.
    fn narrowness(&self) -> (usize, bool, Reverse<i64>) {
        let width = self.max.unwrap_or(i64::MAX).saturating_sub(self.min.unwrap_or(0));
        (self.prefix.len(), self.currency.is_some(), Reverse(width))
    }
}

/// A table of routes is its entries.
impl Table for Vec<RouteRule> {
    fn route<'a>(&'a self, payment: &Payment<'_>) -> Option<Vec<&'a str>> {
        let covering = entry(self, payment.mode, payment.to, payment.money).transpose()?;
        Some(covering.map(|entry| in_order(&entry.providers, payment.seed)).unwrap_or_default())
    }
}

/// The entry for a payment: of those that cover it the one with the longest prefix, then the narrowest, then the first. `Ok(None)`
/// if the table has no entry for such participants, `Err(())` if it has some, but none that covers this payment.
fn entry<'a>(rules: &'a [RouteRule], mode: Mode, to: &Participant, money: Money) -> Result<Option<&'a RouteRule>, ()> {
    let mut about = rules.iter().filter(|rule| rule.is_about(mode, to.namespace())).peekable();
    if about.peek().is_none() {
        return Ok(None);
    }
    // The last of several maximal ones, so they come in reverse.
    let covering: Vec<&RouteRule> = about.filter(|rule| rule.covers(to, money)).collect();
    covering.into_iter().rev().max_by_key(|rule| rule.narrowness()).map(Some).ok_or(())
}

/// The ids of an entry's providers, in the order in which a payment tries them. Among those of one priority `seed`, the payment's
/// reference, draws lots, so that each is first in proportion to its weight, and the same payment has the same order every time.
fn in_order<'a>(providers: &'a [Choice], seed: &str) -> Vec<&'a str> {
    let mut left: Vec<&Choice> = providers.iter().collect();
    left.sort_by_key(|choice| choice.priority);
    let mut ordered = Vec::with_capacity(left.len());
    while let Some(first) = left.first() {
        let equals = left.partition_point(|choice| choice.priority <= first.priority);
        let at = drawn(&left[..equals], seed, ordered.len());
        ordered.push(left.remove(at).id.as_str());
    }
    ordered
}

/// Which of several equals is next.
fn drawn(equals: &[&Choice], seed: &str, round: usize) -> usize {
    let total: u64 = equals.iter().map(|choice| u64::from(choice.weight)).sum();
    if equals.len() < 2 || total == 0 {
        return 0;
    }
    let hash = Sha256::new().chain_update(seed).chain_update([0, u8::try_from(round).unwrap_or(u8::MAX)]).finalize();
    let mut lot = u64::from_be_bytes([hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]]) % total;
    for (at, choice) in equals.iter().enumerate() {
        match lot.checked_sub(u64::from(choice.weight)) {
            Some(rest) => lot = rest,
            None => return at,
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(prefix: &str, currency: Option<&str>, min: Option<i64>, max: Option<i64>, id: &str) -> RouteRule {
        let providers = vec![Choice { id: id.to_owned(), priority: 1, weight: 1 }];
        let currency = currency.and_then(Currency::from_code);
        RouteRule { mode: Mode::Live, namespace: Namespace::Msisdn, prefix: prefix.to_owned(), currency, min, max, providers }
    }

    #[test]
    fn the_longest_prefix_then_the_narrowest_entry_wins() {
        let rules = [
            rule("", None, None, None, "world"),
            rule("+254", None, None, None, "kenya"),
            rule("+254", Some("KES"), None, None, "shillings"),
            rule("+254", Some("KES"), Some(100_000), None, "large"),
            rule("+254", Some("KES"), Some(100_000), Some(200_000), "middle"),
            rule("+254", Some("KES"), Some(100_000), Some(200_000), "second"),
            rule("+2547", None, None, None, "mobile"),
        ];
        let found = |to: &str, money: &str| {
            let rule = entry(&rules, Mode::Live, &to.parse().unwrap(), money.parse().unwrap());
            rule.map(|rule| rule.map(|rule| rule.providers[0].id.as_str()))
        };
        assert_eq!(found("msisdn:+255700000001", "10.00 TZS"), Ok(Some("world")));
        assert_eq!(found("msisdn:+254200000001", "10.00 EUR"), Ok(Some("kenya")));
        assert_eq!(found("msisdn:+254200000001", "10.00 KES"), Ok(Some("shillings")));
        assert_eq!(found("msisdn:+254200000001", "5000.00 KES"), Ok(Some("large")));
        assert_eq!(found("msisdn:+254200000001", "1000.00 KES"), Ok(Some("middle")));
        assert_eq!(found("msisdn:+254700000001", "1000.00 KES"), Ok(Some("mobile")));
        assert_eq!(found("iban:DE89370400440532013000", "10.00 EUR"), Ok(None), "no entry about IBANs");
        let kenya = |to: &str| entry(&rules[1..], Mode::Live, &to.parse().unwrap(), "1.00 EUR".parse().unwrap());
        assert_eq!(kenya("msisdn:+255700000001"), Err(()), "entries about telephone numbers, but none for this one");
    }

    #[test]
    fn equals_share_by_weight_and_a_payment_keeps_its_order() {
        let choice = |id: &str, priority, weight| Choice { id: id.to_owned(), priority, weight };
        let all = [choice("last", 9, 1), choice("one", 1, 1), choice("three", 1, 3), choice("none", 1, 0)];
        let mut first = std::collections::BTreeMap::new();
        for n in 0..4_000 {
            let seed = format!("inv-{n}");
            let order = in_order(&all, &seed);
            assert_eq!(order, in_order(&all, &seed));
            assert_eq!((order.len(), order[2], order[3]), (4, "none", "last"));
            *first.entry(order[0]).or_insert(0) += 1;
        }
        assert!((900..1_100).contains(&first["one"]) && (2_900..3_100).contains(&first["three"]), "{first:?}");
    }
}
