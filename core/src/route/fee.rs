//! What a provider charges.

use std::fmt;

use crate::lifecycle::named_enum;
use crate::money::{Amount, Currency, Money};
use crate::participant::Namespace;

/// Decimals of the amounts in fees: as many as any currency has.
const DECIMALS: u8 = 4;
/// Millionths in a whole: 1 % is 10,000 of them.
const WHOLE: i128 = 1_000_000;

/// A decimal number of currency units, whichever the currency: in ten-thousandths, zero or more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Units(i64);

impl Units {
    /// The same number as an amount; `None` if it has more than four decimals.
    pub fn of(amount: Amount) -> Option<Self> {
        amount.scaled(DECIMALS).map(Self)
    }

    /// In minor units of `currency`, rounded up; `None` on overflow.
    pub fn minor_up(self, currency: Currency) -> Option<i64> {
        let unit = 10_i64.pow(u32::from(DECIMALS.saturating_sub(currency.minor_units())));
        Some(self.0.checked_add(unit - 1)? / unit)
    }

    /// In minor units of `currency`, rounded down.
    pub fn minor_down(self, currency: Currency) -> i64 {
        self.0 / 10_i64.pow(u32::from(DECIMALS.saturating_sub(currency.minor_units())))
    }
}

/// Plain decimals, without zeros at the end.
fn decimals(f: &mut fmt::Formatter<'_>, value: i64) -> fmt::Result {
    let (whole, part) = (value / 10_000, format!("{:04}", value % 10_000));
    match part.trim_end_matches('0') {
        "" => write!(f, "{whole}"),
        part => write!(f, "{whole}.{part}"),
    }
}

impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimals(f, self.0)
    }
}

/// In hundredths: `0.25` for a quarter of a percent.
impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimals(f, self.0)
    }
}

/// A share of an amount, in millionths: 0.25 % is 2,500.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Percent(i64);

impl Percent {
    /// A share in millionths, 0 to 1,000,000; `None` if it is out of this range.
    pub fn of_millionths(millionths: i64) -> Option<Self> {
        (0..=1_000_000).contains(&millionths).then_some(Self(millionths))
    }

    /// So many hundredths; `None` if it is more than 100 or has more than four decimals.
    pub fn of(hundredths: Amount) -> Option<Self> {
        Self::of_millionths(hundredths.scaled(DECIMALS)?)
    }

    /// The share of `minor` units, rounded up.
    fn share_up(self, minor: i64) -> i128 {
        (i128::from(minor) * i128::from(self.0) + WHOLE - 1) / WHOLE
    }
}

/// From which amount on another flat part and percentage apply, to the whole payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeeTier {
    /// The smallest amount of the tier.
    pub from: Units,
    /// Units per payment.
    pub flat: Units,
    /// The share of the amount.
    pub percent: Percent,
}

named_enum! {
    /// What completed reversals give back of a fee.
    pub enum FeeRefund {
        /// Nothing: the fee is for the payment, whatever becomes of it.
        Nothing = "none",
        /// The share of the fee that the reversed part is of the payment, rounded down; all of it with the whole payment.
        Proportional = "proportional",
        /// All of it, once the whole payment is reversed; nothing for a part.
        Full = "full",
    }
}

impl FeeRefund {
    /// What holds where nothing is said.
    pub(crate) const fn unsaid() -> Self {
        Self::Nothing
    }

    /// What has been given back of a fee once so much of an amount is reversed, all in minor units. Never falls as `reversed` rises, and
    /// is never more than the fee: the difference between two steps is what a reversal gives back, so that nothing is lost to rounding.
    pub fn given_back(self, fee: i64, amount: i64, reversed: i64) -> i64 {
        match self {
            Self::Proportional | Self::Full if reversed >= amount => fee,
            Self::Proportional => i64::try_from(i128::from(fee) * i128::from(reversed.max(0)) / i128::from(amount.max(1))).unwrap_or(fee),
            Self::Nothing | Self::Full => 0,
        }
    }
}

/// A fee, and what reversals give back of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Charge {
    /// The fee in minor units.
    pub fee: i64,
    /// What reversals give back.
    pub refund: FeeRefund,
}

/// One fee of a provider: a flat part and a percentage, within bounds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeeRule {
    /// Only for this currency.
    pub currency: Option<Currency>,
    /// Only for this kind of participant.
    pub namespace: Option<Namespace>,
    /// Units per payment.
    pub flat: Units,
    /// The share of the amount, rounded up to a whole minor unit.
    pub percent: Percent,
    /// The smallest fee.
    pub min: Units,
    /// The largest fee.
    pub max: Option<Units>,
    /// Tiers, in rising order of `from`: the last whose `from` the amount reaches replaces `flat` and `percent`.
    pub tiers: Vec<FeeTier>,
    /// What reversals give back of it; `None` for nothing.
    pub refund: Option<FeeRefund>,
}

impl FeeRule {
    /// The fee for a payment, in its minor units; `None` on overflow.
    pub fn fee(&self, money: Money) -> Option<i64> {
        let currency = money.currency();
        let reached = |tier: &&FeeTier| tier.from.minor_up(currency).is_some_and(|from| money.minor() >= from);
        let (flat, percent) = self.tiers.iter().rev().find(reached).map_or((self.flat, self.percent), |tier| (tier.flat, tier.percent));
        let fee = i64::try_from(percent.share_up(money.minor())).ok()?.checked_add(flat.minor_up(currency)?)?;
        let fee = fee.max(self.min.minor_up(currency)?);
        Some(self.max.map_or(fee, |max| fee.min(max.minor_down(currency))))
    }

    fn covers(&self, currency: Currency, namespace: Namespace) -> bool {
        self.currency.is_none_or(|only| only == currency) && self.namespace.is_none_or(|only| only == namespace)
    }
}

/// The fee for a payment by the rule that fits best: of both its currency and its namespace, then of its currency, then of its
/// namespace, then of neither; among equals, the first. The rules of a list count only if none of an earlier list fits. Without a
/// rule that fits it is free. `None` on overflow.
pub fn charge<'a>(lists: impl IntoIterator<Item = &'a [FeeRule]>, namespace: Namespace, money: Money) -> Option<Charge> {
    let best = |rules: &'a [FeeRule]| {
        let fitting = rules.iter().filter(|rule| rule.covers(money.currency(), namespace));
        // The first of several minimal ones.
        fitting.min_by_key(|rule| (rule.currency.is_none(), rule.namespace.is_none()))
    };
    match lists.into_iter().find_map(best) {
        None => Some(Charge { fee: 0, refund: FeeRefund::Nothing }),
        Some(rule) => Some(Charge { fee: rule.fee(money)?, refund: rule.refund.unwrap_or(FeeRefund::unsaid()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(text: &str) -> Units {
        Units::of(text.parse().unwrap()).unwrap()
    }

    fn percent(text: &str) -> Percent {
        Percent::of(text.parse().unwrap()).unwrap()
    }

    fn fee<'a>(lists: impl IntoIterator<Item = &'a [FeeRule]>, namespace: Namespace, money: Money) -> Option<i64> {
        charge(lists, namespace, money).map(|charge| charge.fee)
    }

    fn money(text: &str) -> Money {
        text.parse().unwrap()
    }

    #[test]
    fn a_fee_is_rounded_up_and_kept_within_its_bounds() {
        let rule =
            FeeRule { flat: units("0.10"), percent: percent("0.25"), min: units("0.15"), max: Some(units("2")), ..FeeRule::default() };
        for (amount, expected) in [("10.50 EUR", 15), ("20.01 EUR", 16), ("1000.00 EUR", 200), ("400 JPY", 2), ("10.500 KWD", 150)] {
            assert_eq!(rule.fee(money(amount)), Some(expected), "{amount}");
        }
    }

    #[test]
    fn a_tier_applies_to_the_whole_payment() {
        let tiers = vec![
            FeeTier { from: units("100"), percent: percent("1"), ..FeeTier::default() },
            FeeTier { from: units("1000"), flat: units("5"), ..FeeTier::default() },
        ];
        let rule = FeeRule { flat: units("2"), tiers, ..FeeRule::default() };
        for (amount, expected) in [("99.99 EUR", 200), ("100.00 EUR", 100), ("999.99 EUR", 1000), ("1000.00 EUR", 500)] {
            assert_eq!(rule.fee(money(amount)), Some(expected), "{amount}");
        }
    }

    #[test]
    fn the_rule_that_fits_best_decides() {
        let eur = Currency::from_code("EUR");
        let flat = |flat, currency, namespace| FeeRule { flat: units(flat), currency, namespace, ..FeeRule::default() };
        let all = [
            flat("1", None, None),
            flat("2", None, Some(Namespace::Iban)),
            flat("3", eur, None),
            flat("4", eur, Some(Namespace::Iban)),
            flat("5", eur, None),
        ];
        let charged = |namespace, amount| fee([&all[..]], namespace, money(amount));
        assert_eq!(charged(Namespace::Msisdn, "10.00 USD"), Some(100));
        assert_eq!(charged(Namespace::Iban, "10.00 USD"), Some(200));
        assert_eq!(charged(Namespace::Msisdn, "10.00 EUR"), Some(300));
        assert_eq!(charged(Namespace::Iban, "10.00 EUR"), Some(400));
        assert_eq!(fee([&[][..]], Namespace::Iban, money("10.00 EUR")), Some(0));
        assert_eq!(fee([&all[3..4]], Namespace::Iban, money("10.00 USD")), Some(0), "no rule fits");
        let agreed = |rules, namespace| fee([rules, &all[..]], namespace, money("10.00 EUR"));
        assert_eq!(agreed(&all[1..2], Namespace::Iban), Some(200), "what is agreed comes before a rule that fits better");
        assert_eq!(agreed(&all[1..2], Namespace::Msisdn), Some(300), "where nothing agreed fits");
    }

    #[test]
    fn a_part_gives_back_its_share_or_nothing() {
        let steps = |refund: FeeRefund| [0, 1, 333, 999, 1_000].map(|reversed| refund.given_back(10, 1_000, reversed));
        assert_eq!(steps(FeeRefund::Nothing), [0; 5]);
        assert_eq!(steps(FeeRefund::Proportional), [0, 0, 3, 9, 10]);
        assert_eq!(steps(FeeRefund::Full), [0, 0, 0, 0, 10]);
        assert_eq!(FeeRefund::Proportional.given_back(i64::MAX, i64::MAX, i64::MAX - 1), i64::MAX - 1);
    }

    proptest! {
        #[test]
        fn parts_never_give_back_more_than_the_fee_and_the_whole_exactly_it(
            fee in 0i64..=i64::MAX, parts in proptest::collection::vec(1i64..=i64::MAX / 64, 1..64)
        ) {
            let amount: i64 = parts.iter().sum();
            for refund in FeeRefund::ALL {
                let (mut reversed, mut sum) = (0, 0i64);
                for part in &parts {
                    let before = refund.given_back(fee, amount, reversed);
                    reversed += part;
                    let more = refund.given_back(fee, amount, reversed) - before;
                    prop_assert!(more >= 0);
                    sum += more;
                    prop_assert!(sum <= fee);
                }
                prop_assert_eq!(sum, if *refund == FeeRefund::Nothing { 0 } else { fee });
            }
        }

        #[test]
        fn a_fee_never_falls_as_the_amount_rises_within_a_rule(
            flat in 0i64..100_000, share in 0i64..=1_000_000, amount in 1i64..=i64::MAX / 4, more in 0i64..1_000_000_000
        ) {
            let rule = FeeRule { flat: Units(flat), percent: Percent(share), ..FeeRule::default() };
            for currency in Currency::all() {
                let fee = |minor| rule.fee(Money::from_minor(minor, currency));
                let (small, large) = (fee(amount).unwrap(), fee(amount + more).unwrap());
                prop_assert!(0 <= small && small <= large);
                // The exact share, and less than two minor units above it: both parts are rounded up.
                let scale = 10_i128.pow(u32::from(currency.minor_units()));
                let exact = i128::from(amount) * i128::from(share) * 10_000 + i128::from(flat) * scale * WHOLE;
                let charged = i128::from(small) * WHOLE * 10_000;
                prop_assert!(charged >= exact && charged < exact + 2 * WHOLE * 10_000);
            }
        }
    }
}
