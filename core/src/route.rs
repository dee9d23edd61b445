//! Routing: the providers for a payment, their order, and the fee.
//!
//! ```
//! use railgate::ErrorCode;
//! use railgate::ids::ProviderNo;
//! use railgate::ledger::Mode;
//! use railgate::money::Currency;
//! use railgate::participant::Namespace;
//! use railgate::rail::simulator::Simulator;
//! use railgate::route::{FeeRule, ProviderSpec, Routes, Serves};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let euro = Currency::from_code("EUR").ok_or("not a currency")?;
//! let bank = ProviderSpec {
//!     namespaces: Serves::Only(vec![Namespace::Iban]),
//!     currencies: Serves::Only(vec![euro]),
//!     limits: (1_00, 50_000_00),
//!     fee: FeeRule { flat: 10, basis_points: 25 },
//!     ..ProviderSpec::new("bank", "A bank", Mode::Sandbox, &Simulator)
//! };
//! let routes = Routes::new(vec![(ProviderNo(1), bank)]);
//!
//! // 0.10 and a quarter of a percent, rounded up.
//! assert_eq!(routes.choose(Mode::Sandbox, Namespace::Iban, "10.50 EUR".parse()?, None)?, (ProviderNo(1), 13));
//!
//! let refused = |namespace, money: &str| {
//!     let money = money.parse().ok()?;
//!     routes.choose(Mode::Sandbox, namespace, money, None).err().map(|error| error.code)
//! };
//! assert_eq!(refused(Namespace::Iban, "60000.00 EUR"), Some(ErrorCode::AmountAboveMaximum));
//! assert_eq!(refused(Namespace::Msisdn, "10.50 EUR"), Some(ErrorCode::NoRoute));
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;

use crate::error::{Error, ErrorCode, Result};
use crate::ids::ProviderNo;
use crate::ledger::Mode;
use crate::money::{Currency, Money};
use crate::participant::Namespace;
use crate::rail::Rail;

/// The values of a set that a provider serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Serves<T> {
    /// All values.
    All,
    /// Only these values.
    Only(Vec<T>),
}

impl<T: PartialEq> Serves<T> {
    /// Whether `value` is served.
    pub fn includes(&self, value: &T) -> bool {
        match self {
            Self::All => true,
            Self::Only(some) => some.contains(value),
        }
    }
}

/// A provider's fee: a flat part in minor units and a proportional part in basis points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeeRule {
    /// Minor units per payment.
    pub flat: i64,
    /// Hundredths of a percent of the amount, rounded up to a whole minor unit.
    pub basis_points: i64,
}

impl FeeRule {
    /// The fee for `amount` minor units; `None` on overflow.
    pub fn fee(&self, amount: i64) -> Option<i64> {
        let proportional = (i128::from(amount) * i128::from(self.basis_points) + 9_999) / 10_000;
        i64::try_from(proportional).ok()?.checked_add(self.flat)
    }
}

/// What a provider supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capabilities {
    /// It can identify the payee before a payment.
    pub check_payee: bool,
    /// It can reverse a payment.
    pub reverse: bool,
    /// It can reverse a part of a payment.
    pub partial_reverse: bool,
    /// It can be asked for the outcome of a payment, and its "not found" is authoritative.
    pub inquiry: bool,
    /// It treats a repeated request with the same key as one request.
    pub idempotent_submit: bool,
}

/// The configuration of one operator.
#[derive(Debug, Clone)]
pub struct ProviderSpec {
    /// Stable id, `[a-z0-9._-]{1,64}`.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// The kind of its [`Rail`].
    pub rail: String,
    /// Settings for the rail, such as `base_url`.
    pub settings: BTreeMap<String, String>,
    /// Sandbox or live, never both.
    pub mode: Mode,
    /// The kinds of participant that it reaches.
    pub namespaces: Serves<Namespace>,
    /// The currencies that it settles.
    pub currencies: Serves<Currency>,
    /// Smallest and largest payment, in minor units of any currency it serves.
    pub limits: (i64, i64),
    /// Its fee.
    pub fee: FeeRule,
    /// What it supports.
    pub capabilities: Capabilities,
}

impl ProviderSpec {
    /// A provider that serves everything in its mode, free of charge, with its rail's default capabilities.
    pub fn new(id: &str, name: &str, mode: Mode, rail: &dyn Rail) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            rail: rail.kind().to_owned(),
            settings: BTreeMap::new(),
            mode,
            namespaces: Serves::All,
            currencies: Serves::All,
            limits: (1, i64::MAX),
            fee: FeeRule::default(),
            capabilities: rail.capabilities(),
        }
    }
}

/// The configured providers, each with its number in the store, in order of preference.
#[derive(Debug, Clone)]
pub struct Routes {
    providers: Vec<(ProviderNo, ProviderSpec)>,
}

impl Routes {
    /// Takes the providers in the configuration's order, with their numbers from the store.
    pub fn new(providers: Vec<(ProviderNo, ProviderSpec)>) -> Self {
        Self { providers }
    }

    /// The provider with this number.
    pub fn provider(&self, no: ProviderNo) -> Option<&ProviderSpec> {
        self.providers.iter().find(|(n, _)| *n == no).map(|(_, spec)| spec)
    }

    /// The first provider in order of preference.
    pub fn preferred(&self) -> Option<ProviderNo> {
        self.providers.first().map(|(no, _)| *no)
    }

    /// The number of the provider with this id.
    pub fn number(&self, id: &str) -> Option<ProviderNo> {
        self.providers.iter().find(|(_, spec)| spec.id == id).map(|(n, _)| *n)
    }

    /// Whether any provider settles `currency`, in any mode.
    pub fn offers(&self, currency: Currency) -> bool {
        self.providers.iter().any(|(_, spec)| spec.currencies.includes(&currency))
    }

    /// The providers that serve such a payment, in order. With `pinned`, only that one.
    pub fn candidates<'a>(
        &'a self,
        mode: Mode,
        namespace: Namespace,
        currency: Currency,
        pinned: Option<&'a str>,
    ) -> impl Iterator<Item = (ProviderNo, &'a ProviderSpec)> {
        self.providers
            .iter()
            .filter(move |(_, spec)| {
                spec.mode == mode
                    && spec.namespaces.includes(&namespace)
                    && spec.currencies.includes(&currency)
                    && pinned.is_none_or(|id| id == spec.id)
            })
            .map(|(no, spec)| (*no, spec))
    }

    /// The first provider for a payment, and its fee.
    pub fn choose(&self, mode: Mode, namespace: Namespace, money: Money, pinned: Option<&str>) -> Result<(ProviderNo, i64)> {
        if let Some(id) = pinned
            && self.number(id).is_none()
        {
            return Err(Error::field("/provider", "provider_unknown", format!("no provider has the id {id:?}")));
        }
        let mut refused = None;
        for (no, spec) in self.candidates(mode, namespace, money.currency(), pinned) {
            match spec.accepts(money) {
                Ok(()) => {
                    let fee = spec.fee.fee(money.minor()).ok_or_else(|| Error::new(ErrorCode::AmountAboveMaximum))?;
                    return Ok((no, fee));
                }
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| Error::new(ErrorCode::NoRoute)))
    }
}

impl ProviderSpec {
    /// Whether the amount is within the provider's limits.
    pub fn accepts(&self, money: Money) -> Result<()> {
        let bound = |minor| Money::from_minor(minor, money.currency()).decimal();
        let (min, max) = self.limits;
        if money.minor() < min {
            return Err(Error::with(ErrorCode::AmountBelowMinimum, format!("the smallest payment is {}", bound(min))));
        }
        if money.minor() > max {
            return Err(Error::with(ErrorCode::AmountAboveMaximum, format!("the largest payment is {}", bound(max))));
        }
        Ok(())
    }
}
