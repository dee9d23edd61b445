//! What an operator has agreed with one client: limits, credit, fees, and until when a payment can be reversed.
//!
//! ```
//! use railgate::ErrorCode;
//! use railgate::ledger::Mode;
//! use railgate::terms::Used;
//! use railgate::validate::terms::parse_terms;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body = br#"{"client": "cli_01KAJX3M7Q5W8ZP9D2R4T6V8YB", "limits": [
//!     {"mode": "live", "currency": "EUR", "max": "500", "daily_value": "1000", "daily_count": 3}]}"#;
//! let terms = parse_terms(body)?.terms;
//!
//! let payment = "400.00 EUR".parse()?;
//! let limits = terms.limits(Mode::Live, payment).ok_or("there are no limits")?;
//! assert!(limits.accepts(payment).is_ok());
//! assert!(limits.another(payment, Used { value: 600_00, count: 2 }).is_ok());
//! let refused = |used| limits.another(payment, used).err().map(|error| error.code);
//! assert_eq!(refused(Used { value: 600_01, count: 2 }), Some(ErrorCode::LimitDailyValue));
//! assert_eq!(refused(Used { value: 0, count: 3 }), Some(ErrorCode::LimitDailyCount));
//! # Ok(())
//! # }
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode, Result};
use crate::ids::ClientNo;
use crate::ledger::{Mode, SUM_MAX};
use crate::money::{Currency, Money};
use crate::route::FeeRule;
use crate::time::Millis;

/// Milliseconds of a day, which begins at midnight UTC.
const DAY: Millis = 86_400_000;

/// What is agreed with a client. A client without terms has no limits and no credit, and pays the providers' fees.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// Limits, at most one for each mode and currency.
    pub limits: Vec<ClientLimits>,
    /// How far below zero the available money of its live accounts may fall, at most one amount for each currency.
    pub credit: Vec<Money>,
    /// What it pays instead of the providers' fees, where a rule fits.
    pub fees: Vec<FeeRule>,
    /// For how many days after its completion a payment can be reversed; `None` for ever.
    pub reversal_days: Option<u32>,
    /// Which calls its sessions may sign, where that is not the default of the mode.
    pub session_signatures: BTreeMap<Mode, SessionUse>,
}

/// Which calls a session may sign instead of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum SessionUse {
    /// Every call that need not be signed by the key itself.
    All,
    /// Of those, calls with `GET` or `HEAD`.
    Reads,
    /// None.
    Off,
}

impl SessionUse {
    /// What sessions may sign of a client with which nothing is agreed.
    pub const fn by_default(mode: Mode) -> Self {
        if mode.is_sandbox() { Self::All } else { Self::Reads }
    }

    /// Every use.
    pub const ALL: [Self; 3] = [Self::All, Self::Reads, Self::Off];

    /// Its name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Reads => "reads",
            Self::Off => "off",
        }
    }

    /// The use with this name on the wire.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == name)
    }

    /// Whether a session may sign such a call.
    pub const fn allows(self, writes: bool) -> bool {
        match self {
            Self::All => true,
            Self::Reads => !writes,
            Self::Off => false,
        }
    }
}

impl Terms {
    /// The limits for such a payment.
    pub fn limits(&self, mode: Mode, payment: Money) -> Option<&ClientLimits> {
        self.limits.iter().find(|limits| limits.mode == mode && limits.currency == payment.currency())
    }

    /// The credit of a client's account in minor units: zero in the sandbox.
    pub fn credit(&self, mode: Mode, currency: Currency) -> i64 {
        let granted = self.credit.iter().find(|credit| credit.currency() == currency && !mode.is_sandbox());
        granted.map_or(0, |credit| credit.minor())
    }

    /// Which calls the client's sessions of this mode may sign.
    pub fn session_use(&self, mode: Mode) -> SessionUse {
        self.session_signatures.get(&mode).copied().unwrap_or(SessionUse::by_default(mode))
    }

    /// The credit that is another one in `after`, in order of currencies: before, and after.
    pub(crate) fn credit_changes(&self, after: &Self) -> Vec<(Money, Money)> {
        let currencies: BTreeSet<Currency> = self.credit.iter().chain(&after.credit).map(|credit| credit.currency()).collect();
        let of = |terms: &Self, currency| Money::from_minor(terms.credit(Mode::Live, currency), currency);
        let both = currencies.into_iter().map(|currency| (of(self, currency), of(after, currency)));
        both.filter(|(before, after)| before != after).collect()
    }

    /// Requires that what was completed then can still be reversed.
    ///
    /// # Errors
    /// `reversal_window_closed`.
    pub fn require_reversible(&self, completed_at: Millis, now: Millis) -> Result<()> {
        match self.reversal_days {
            Some(days) if now - completed_at > i64::from(days) * DAY => {
                let said = format!("a payment can be reversed for {days} days after its completion");
                Err(Error::with(ErrorCode::ReversalWindowClosed, said))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The limits of a client's payments in one mode and currency. Amounts are in minor units, without fees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientLimits {
    /// Sandbox or live.
    pub mode: Mode,
    /// The currency.
    pub currency: Currency,
    /// The smallest payment.
    pub min: Option<i64>,
    /// The largest payment.
    pub max: Option<i64>,
    /// The most that payments of one day add up to.
    pub daily_value: Option<i64>,
    /// The most payments of one day.
    pub daily_count: Option<i64>,
}

impl ClientLimits {
    /// Requires that a single payment is neither too small nor too large.
    ///
    /// # Errors
    /// `amount_below_minimum`, `amount_above_maximum`.
    pub fn accepts(&self, payment: Money) -> Result<()> {
        let bound = |minor| format!("{} {}", Money::from_minor(minor, self.currency).decimal(), self.currency);
        if let Some(min) = self.min.filter(|min| payment.minor() < *min) {
            return Err(Error::with(ErrorCode::AmountBelowMinimum, format!("your smallest payment is {}", bound(min))));
        }
        if let Some(max) = self.max.filter(|max| payment.minor() > *max) {
            return Err(Error::with(ErrorCode::AmountAboveMaximum, format!("your largest payment is {}", bound(max))));
        }
        Ok(())
    }

    /// Whether they limit nothing.
    pub fn is_empty(&self) -> bool {
        let Self { min, max, daily_value, daily_count, .. } = self;
        [min, max, daily_value, daily_count].iter().all(|bound| bound.is_none())
    }

    /// Whether the payments of a day are counted.
    pub fn counts(&self) -> bool {
        self.daily_value.is_some() || self.daily_count.is_some()
    }

    /// What the payments of a day may add up to.
    pub fn day(&self) -> Used {
        Used { value: self.daily_value.unwrap_or(SUM_MAX), count: self.daily_count.unwrap_or(SUM_MAX) }
    }

    /// Requires that another payment fits into the day on which so much was paid.
    ///
    /// # Errors
    /// `limit_daily_value`, `limit_daily_count`.
    pub fn another(&self, payment: Money, used: Used) -> Result<()> {
        let day = self.day();
        if used.count >= day.count {
            let said = format!("{} payments a day are allowed, and {} are made; the day ends at midnight UTC", day.count, used.count);
            return Err(Error::with(ErrorCode::LimitDailyCount, said));
        }
        let left = day.value.saturating_sub(used.value).max(0);
        if payment.minor() > left {
            let money = |minor| Money::from_minor(minor, self.currency).decimal();
            let said = format!("{} of {} {} are left today; the day ends at midnight UTC", money(left), money(day.value), self.currency);
            return Err(Error::with(ErrorCode::LimitDailyValue, said));
        }
        Ok(())
    }
}

/// What an end user of a client may pay in one currency. Amounts are in minor units, without fees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserLimits {
    /// The currency.
    pub currency: Currency,
    /// The largest payment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<i64>,
    /// The most that payments of one day add up to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_value: Option<i64>,
    /// The most payments of one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_count: Option<i64>,
    /// Payments of more than this wait until the user approves them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_over: Option<i64>,
}

impl UserLimits {
    /// The limits as those of a client are checked.
    pub fn limits(&self, mode: Mode) -> ClientLimits {
        let Self { currency, max, daily_value, daily_count, .. } = *self;
        ClientLimits { mode, currency, min: None, max, daily_value, daily_count }
    }

    /// Whether such a payment waits for the user.
    pub fn asks(&self, payment: Money) -> bool {
        self.approval_over.is_some_and(|over| payment.minor() > over)
    }
}

/// A change of the limits in one mode and currency: what is `None` stays as it is, `Some(None)` lifts a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitsEdit {
    /// Sandbox or live.
    pub mode: Mode,
    /// The currency.
    pub currency: Currency,
    /// The smallest payment.
    pub min: Option<Option<i64>>,
    /// The largest payment.
    pub max: Option<Option<i64>>,
    /// The most that payments of one day add up to.
    pub daily_value: Option<Option<i64>>,
    /// The most payments of one day.
    pub daily_count: Option<Option<i64>>,
}

impl LimitsEdit {
    /// The limits after the change of `prior`.
    ///
    /// # Errors
    /// `invalid_fields` if the smallest payment were larger than the largest.
    pub fn after(&self, prior: Option<&ClientLimits>) -> Result<ClientLimits> {
        let Self { mode, currency, min, max, daily_value, daily_count } = *self;
        let of = |edit: Option<Option<i64>>, before: fn(&ClientLimits) -> Option<i64>| edit.unwrap_or_else(|| prior.and_then(before));
        let limits = ClientLimits {
            mode,
            currency,
            min: of(min, |it| it.min),
            max: of(max, |it| it.max),
            daily_value: of(daily_value, |it| it.daily_value),
            daily_count: of(daily_count, |it| it.daily_count),
        };
        match (limits.min, limits.max) {
            (Some(min), Some(max)) if min > max => Err(Error::field("/min", "out_of_range", "must not be more than max")),
            _ => Ok(limits),
        }
    }
}

/// What the counted payments of a day add up to: amounts in minor units, and how many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// The sum of the amounts.
    pub value: i64,
    /// The number of payments.
    pub count: i64,
}

impl Used {
    /// More than there ever is.
    pub(crate) const MAX: Self = Self { value: i64::MAX, count: i64::MAX };

    /// Whether a change makes a part larger.
    pub(crate) const fn adds(self) -> bool {
        self.value > 0 || self.count > 0
    }

    /// One payment.
    pub(crate) const fn one(value: i64) -> Self {
        Self { value, count: 1 }
    }

    /// One payment less.
    pub(crate) const fn minus_one(value: i64) -> Self {
        Self { value: -value, count: -1 }
    }

    /// Adds a change. Sums beyond the range stay at its end, where every limit refuses.
    #[must_use]
    pub(crate) const fn plus(self, change: Self) -> Self {
        Self { value: self.value.saturating_add(change.value), count: self.count.saturating_add(change.count) }
    }

    /// Whether neither part is more than that of `most`.
    pub(crate) const fn is_within(self, most: Self) -> bool {
        self.value <= most.value && self.count <= most.count
    }
}

/// The key of a day's counter: client, currency, mode and day packed into one number, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UsageId(pub i64);

impl UsageId {
    /// The counter of a client's payments on the day of `at`.
    pub fn new(client: ClientNo, mode: Mode, currency: Currency, at: Millis) -> Self {
        let day = at.div_euclid(DAY) & 0x3_ffff;
        Self(i64::from(client.0) << 30 | i64::from(currency.numeric()) << 20 | i64::from(mode.code()) << 18 | day)
    }

    /// The client.
    pub fn client(self) -> ClientNo {
        ClientNo((self.0 >> 30) as u32)
    }

    /// The mode.
    pub fn mode(self) -> Mode {
        Mode::from_code((self.0 >> 18 & 3) as u8).unwrap_or(Mode::Sandbox)
    }

    /// The currency; `None` only for a number that no counter has.
    pub fn currency(self) -> Option<Currency> {
        Currency::from_numeric((self.0 >> 20 & 0x3ff) as u16)
    }

    /// When the day begins.
    pub fn day(self) -> Millis {
        (self.0 & 0x3_ffff) * DAY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counters_key_tells_what_it_was_made_of() {
        let at = 1_795_257_497_042;
        for client in [0, 1, u32::MAX].map(ClientNo) {
            for &mode in Mode::ALL {
                for currency in Currency::all() {
                    let id = UsageId::new(client, mode, currency, at);
                    assert_eq!((id.client(), id.mode(), id.currency()), (client, mode, Some(currency)));
                    assert_eq!(id.day(), at - at % DAY);
                    assert_ne!(id, UsageId::new(client, mode, currency, id.day() - 1));
                    assert_eq!(id, UsageId::new(client, mode, currency, id.day() + DAY - 1));
                }
            }
        }
    }

    #[test]
    fn a_payment_can_be_reversed_until_its_days_have_passed() {
        let terms = Terms { reversal_days: Some(2), ..Terms::default() };
        assert!(terms.require_reversible(5, 5 + 2 * DAY).is_ok());
        let late = terms.require_reversible(5, 6 + 2 * DAY).unwrap_err();
        assert_eq!(late.code, ErrorCode::ReversalWindowClosed);
        assert!(Terms::default().require_reversible(5, i64::MAX).is_ok());
    }

    #[test]
    fn credit_is_for_live_money_only() {
        let terms = Terms { credit: vec!["5.00 EUR".parse().unwrap()], ..Terms::default() };
        let currency = |code| Currency::from_code(code).unwrap();
        assert_eq!(terms.credit(Mode::Live, currency("EUR")), 500);
        assert_eq!(terms.credit(Mode::Live, currency("USD")), 0);
        assert_eq!(terms.credit(Mode::Sandbox, currency("EUR")), 0);
    }
}
