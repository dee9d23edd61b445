//! Which providers a payment goes to, in which order, and what it costs.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorCode, Result};
use crate::ids::ProviderNo;
use crate::ledger::Mode;
use crate::money::{Currency, Money};
use crate::participant::Namespace;
use crate::rail::Rail;

/// Which values of a set a provider serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Serves<T> {
    /// Every one.
    All,
    /// These.
    Only(Vec<T>),
}

impl<T: PartialEq> Serves<T> {
    /// Whether `value` is among them.
    pub fn includes(&self, value: &T) -> bool {
        match self {
            Self::All => true,
            Self::Only(some) => some.contains(value),
        }
    }
}

/// What a provider charges: a flat part and a proportional one, in minor units and basis points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FeeRule {
    /// Minor units a payment.
    pub flat: i64,
    /// Hundredths of a per cent of the amount, rounded up to a whole minor unit.
    pub basis_points: i64,
}

impl FeeRule {
    /// The fee for `amount` minor units; `None` when it would overflow.
    pub fn fee(&self, amount: i64) -> Option<i64> {
        let proportional = (i128::from(amount) * i128::from(self.basis_points) + 9_999) / 10_000;
        i64::try_from(proportional).ok()?.checked_add(self.flat)
    }
}

/// What the adapter and the operator behind it can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Capabilities {
    /// Can say who the payee is before paying.
    pub check_payee: bool,
    /// Can give a payment back.
    pub reverse: bool,
    /// Can give a part of it back.
    pub partial_reverse: bool,
    /// Can be asked how a payment ended, and its "not found" is authoritative.
    pub inquiry: bool,
    /// Takes the same request twice as one, by its key.
    pub idempotent_submit: bool,
}

/// One operator as the engine knows it.
#[derive(Debug, Clone)]
pub struct ProviderSpec {
    /// Stable id, `[a-z0-9._-]{1,64}`.
    pub id: String,
    /// For people.
    pub name: String,
    /// How it is spoken to: the kind of a [`Rail`].
    pub rail: String,
    /// What that rail has to know of it, such as its `base_url`.
    pub settings: BTreeMap<String, String>,
    /// Sandbox or live; never both.
    pub mode: Mode,
    /// Which participants it reaches.
    pub namespaces: Serves<Namespace>,
    /// Which currencies it settles.
    pub currencies: Serves<Currency>,
    /// Smallest and largest payment, in minor units of any currency it serves.
    pub limits: (i64, i64),
    /// What it charges.
    pub fee: FeeRule,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl ProviderSpec {
    /// One that serves everything of its mode, free of charge, and can do what its rail can.
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

/// The providers in force, each with its number in the store, in order of preference.
#[derive(Debug, Clone)]
pub struct Routes {
    providers: Vec<(ProviderNo, ProviderSpec)>,
}

impl Routes {
    /// From the configuration's order, with the numbers that the store gave.
    pub fn new(providers: Vec<(ProviderNo, ProviderSpec)>) -> Self {
        Self { providers }
    }

    /// The provider behind a number.
    pub fn provider(&self, no: ProviderNo) -> Option<&ProviderSpec> {
        self.providers.iter().find(|(n, _)| *n == no).map(|(_, spec)| spec)
    }

    /// The provider that is preferred to all others.
    pub fn preferred(&self) -> Option<ProviderNo> {
        self.providers.first().map(|(no, _)| *no)
    }

    /// The number behind a provider's id.
    pub fn number(&self, id: &str) -> Option<ProviderNo> {
        self.providers.iter().find(|(_, spec)| spec.id == id).map(|(n, _)| *n)
    }

    /// Whether anyone settles `currency` in any mode.
    pub fn offers(&self, currency: Currency) -> bool {
        self.providers.iter().any(|(_, spec)| spec.currencies.includes(&currency))
    }

    /// The providers that take such a payment, in order. With `pinned`, that one alone.
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
