//! One operator: what it reaches, at which price, and how it is called.

use std::collections::BTreeMap;
use std::fmt;

use zeroize::Zeroizing;

use super::FeeRule;
use super::health::Health;
use crate::error::{Error, ErrorCode, Result};
use crate::ledger::Mode;
use crate::lifecycle::named_enum;
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

/// What a provider supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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

named_enum! {
    /// Whether new payments go to a provider. Those that it has are followed to their end in any case.
    pub enum Availability {
        /// It takes payments.
        Enabled = "enabled",
        /// It takes none until somebody enables it.
        Disabled = "disabled",
        /// It takes none for a while, for example because the operator announced it.
        Maintenance = "maintenance",
    }
}

/// The smallest and the largest payment in one currency, in its minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmountLimits {
    /// The currency.
    pub currency: Currency,
    /// The smallest payment.
    pub min: i64,
    /// The largest payment.
    pub max: i64,
}

/// The secrets with which a provider is called, such as `client_secret`. Never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets(pub BTreeMap<String, Zeroizing<String>>);

impl Secrets {
    /// The secret of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|secret| secret.as_str())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

/// The configuration of one operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderSpec {
    /// Stable id, `[a-z0-9._-]{1,64}`.
    pub id: String,
    /// A name for people.
    pub name: String,
    /// The kind of its [`Rail`].
    pub rail: String,
    /// The address of the operator's interface, if the rail needs one.
    pub base_url: Option<String>,
    /// Settings for the rail.
    pub settings: BTreeMap<String, String>,
    /// Secrets for the rail.
    pub secrets: Secrets,
    /// Sandbox or live, never both.
    pub mode: Mode,
    /// The kinds of participant that it reaches.
    pub namespaces: Serves<Namespace>,
    /// The currencies that it settles.
    pub currencies: Serves<Currency>,
    /// The countries that it reaches (ISO 3166-1 alpha-2), for people; empty if it does not say.
    pub countries: Vec<String>,
    /// Smallest and largest payments. A currency that is not listed has no limits.
    pub limits: Vec<AmountLimits>,
    /// What it charges; see [`super::charge`].
    pub fees: Vec<FeeRule>,
    /// How long a connection may take to be made, in milliseconds; `None` for the rail's own time.
    pub connect_ms: Option<u64>,
    /// How long an answer may take, connection included, in milliseconds; `None` for the rail's own time.
    pub answer_ms: Option<u64>,
    /// What it supports.
    pub capabilities: Capabilities,
    /// Whether it takes new payments.
    pub availability: Availability,
}

impl ProviderSpec {
    /// A provider that serves everything in its mode, free of charge, with its rail's default capabilities.
    pub fn new(id: &str, name: &str, mode: Mode, rail: &dyn Rail) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            rail: rail.kind().to_owned(),
            base_url: None,
            settings: BTreeMap::new(),
            secrets: Secrets::default(),
            mode,
            namespaces: Serves::All,
            currencies: Serves::All,
            countries: Vec::new(),
            limits: Vec::new(),
            fees: Vec::new(),
            connect_ms: None,
            answer_ms: None,
            capabilities: rail.capabilities(),
            availability: Availability::Enabled,
        }
    }

    /// How it is: in maintenance as long as its operator says so, and otherwise as `observed`.
    pub fn health(&self, observed: Health) -> Health {
        match self.availability {
            Availability::Maintenance => Health::Maintenance,
            Availability::Enabled | Availability::Disabled => observed,
        }
    }

    /// Whether it reaches such participants in this currency and mode at all.
    pub fn serves(&self, mode: Mode, namespace: Namespace, currency: Currency) -> bool {
        self.mode == mode && self.namespaces.includes(&namespace) && self.currencies.includes(&currency)
    }

    /// Whether the amount is within the provider's limits.
    ///
    /// # Errors
    /// `amount_below_minimum` and `amount_above_maximum`.
    pub fn accepts(&self, money: Money) -> Result<()> {
        let Some(limits) = self.limits.iter().find(|limits| limits.currency == money.currency()) else { return Ok(()) };
        let bound = |minor| Money::from_minor(minor, money.currency()).decimal();
        if money.minor() < limits.min {
            return Err(Error::with(ErrorCode::AmountBelowMinimum, format!("the smallest payment is {}", bound(limits.min))));
        }
        if money.minor() > limits.max {
            return Err(Error::with(ErrorCode::AmountAboveMaximum, format!("the largest payment is {}", bound(limits.max))));
        }
        Ok(())
    }
}
