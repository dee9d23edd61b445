//! Routing: the providers for a payment, their order, and the fee.
//!
//! ```
//! use railgate::ErrorCode;
//! use railgate::ids::ProviderNo;
//! use railgate::ledger::Mode;
//! use railgate::money::Currency;
//! use railgate::participant::Namespace;
//! use railgate::rail::simulator::Simulator;
//! use railgate::route::{AmountLimits, FeeRule, Payment, Percent, ProviderSpec, Routes, Serves, Units};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let euro = Currency::from_code("EUR").ok_or("not a currency")?;
//! // 0.10 and a quarter of a percent.
//! let fee = FeeRule {
//!     flat: Units::of("0.10".parse()?).ok_or("too many decimals")?,
//!     percent: Percent::of("0.25".parse()?).ok_or("not a percentage")?,
//!     ..FeeRule::default()
//! };
//! let bank = ProviderSpec {
//!     namespaces: Serves::Only(vec![Namespace::Iban]),
//!     currencies: Serves::Only(vec![euro]),
//!     limits: vec![AmountLimits { currency: euro, min: 1_00, max: 50_000_00 }],
//!     fees: vec![fee],
//!     ..ProviderSpec::new("bank", "A bank", Mode::Sandbox, &Simulator)
//! };
//! let routes = Routes::new(vec![(ProviderNo(1), bank)], None);
//!
//! let choose = |to: &str, money: &str| {
//!     let to = to.parse().expect("a participant");
//!     let money = money.parse().expect("money");
//!     routes.choose(&Payment { mode: Mode::Sandbox, to: &to, money, pinned: None, seed: "inv-1", agreed: &[] })
//! };
//! let iban = "iban:DE89370400440532013000";
//! let (provider, charge) = choose(iban, "10.50 EUR")?;
//! assert_eq!((provider, charge.fee), (ProviderNo(1), 13));
//!
//! let refused = |to, money| choose(to, money).err().map(|error| error.code);
//! assert_eq!(refused(iban, "60000.00 EUR"), Some(ErrorCode::AmountAboveMaximum));
//! assert_eq!(refused("msisdn:+254700000001", "10.50 EUR"), Some(ErrorCode::NoRoute));
//! # Ok(())
//! # }
//! ```

mod fee;
pub mod health;
mod provider;
mod rule;

use std::sync::Arc;

use crate::error::{Error, ErrorCode, Result};
use crate::ids::ProviderNo;
use crate::ledger::Mode;
use crate::lifecycle::named_enum;
use crate::money::{Currency, Money};
use crate::participant::{Namespace, Participant};
use crate::time::Millis;

use health::{Health, Pulse};

pub use fee::{Charge, FeeRefund, FeeRule, FeeTier, Percent, Units, charge};
pub use provider::{AmountLimits, Availability, Capabilities, ProviderSpec, Secrets, Serves};
pub use rule::{Choice, RouteRule};

/// A payment, as far as its route depends on it.
#[derive(Debug, Clone, Copy)]
pub struct Payment<'a> {
    /// Sandbox or live.
    pub mode: Mode,
    /// The payee.
    pub to: &'a Participant,
    /// The amount.
    pub money: Money,
    /// The id of the only provider that may take it.
    pub pinned: Option<&'a str>,
    /// The payment's reference: draws lots between providers that share.
    pub seed: &'a str,
    /// What the client pays instead of the providers' fees, where a rule fits.
    pub agreed: &'a [FeeRule],
}

/// Says which providers a payment tries. A trait, so that a program without a table of routes does not contain what reads one.
pub trait Table: Send + Sync {
    /// The ids of the providers, in order; `None` if the table says nothing about such payments.
    fn route<'a>(&'a self, payment: &Payment<'_>) -> Option<Vec<&'a str>>;
}

/// The providers, each with its number in the store, and the table of routes: as of one moment.
#[derive(Clone, Default)]
pub struct Routes {
    providers: Vec<Listed>,
    table: Option<Arc<dyn Table>>,
    /// What settles payments between clients: one for each mode, all with the same number; none in a program with one client.
    books: Vec<Listed>,
}

/// A provider, and what observes it.
#[derive(Clone)]
struct Listed {
    no: ProviderNo,
    spec: Arc<ProviderSpec>,
    pulse: Option<Arc<dyn Pulse>>,
}

impl From<(ProviderNo, ProviderSpec)> for Listed {
    fn from((no, spec): (ProviderNo, ProviderSpec)) -> Self {
        Self { no, spec: Arc::new(spec), pulse: None }
    }
}

impl Routes {
    /// Takes the providers, in order of preference where the table says nothing else, with their numbers from the store.
    pub fn new(providers: Vec<(ProviderNo, ProviderSpec)>, table: Option<Arc<dyn Table>>) -> Self {
        Self { providers: providers.into_iter().map(Listed::from).collect(), table, books: Vec::new() }
    }

    /// Has payments to clients of the gateway settled by these providers alone, one for each mode under the same number. They are not
    /// among the configured [providers](Routes::providers).
    #[must_use]
    pub fn with_books(mut self, no: ProviderNo, specs: impl IntoIterator<Item = ProviderSpec>) -> Self {
        self.books = specs.into_iter().map(|spec| Listed::from((no, spec))).collect();
        self
    }

    /// The provider of payments between clients in this mode.
    pub fn books(&self, mode: Mode) -> Option<(ProviderNo, &Arc<ProviderSpec>)> {
        self.books.iter().find(|listed| listed.spec.mode == mode).map(|listed| (listed.no, &listed.spec))
    }

    /// Whether this is the provider of payments between clients.
    pub fn is_books(&self, no: ProviderNo) -> bool {
        self.books.iter().any(|listed| listed.no == no)
    }

    /// Whether payments to such participants are payments between clients.
    pub fn are_between_clients(&self, namespace: Namespace) -> bool {
        self.books.iter().any(|listed| listed.spec.namespaces.includes(&namespace))
    }

    /// Has providers observed: payments go to one that does not answer only if no other takes them.
    #[must_use]
    pub fn observed(mut self, mut pulse: impl FnMut(ProviderNo, &ProviderSpec) -> Option<Arc<dyn Pulse>>) -> Self {
        for listed in &mut self.providers {
            listed.pulse = pulse(listed.no, &listed.spec);
        }
        self
    }

    /// All configured providers, in order of preference.
    pub fn providers(&self) -> impl Iterator<Item = (ProviderNo, &Arc<ProviderSpec>)> {
        self.providers.iter().map(|listed| (listed.no, &listed.spec))
    }

    /// The provider with this number.
    pub fn provider(&self, no: ProviderNo) -> Option<&Arc<ProviderSpec>> {
        self.listed(no).map(|listed| &listed.spec)
    }

    /// What observes the provider with this number, if something does.
    pub fn pulse(&self, no: ProviderNo) -> Option<&dyn Pulse> {
        self.listed(no)?.pulse.as_deref()
    }

    /// Lets a payment leave for this provider.
    ///
    /// # Errors
    /// In how many milliseconds to ask again, if it may not leave now; [`Millis::MAX`] if an operator must switch the provider on.
    pub fn leave(&self, no: ProviderNo) -> Result<(), Millis> {
        let Some(listed) = self.listed(no) else { return Ok(()) };
        match listed.spec.availability {
            Availability::Disabled | Availability::Maintenance => Err(Millis::MAX),
            Availability::Enabled => listed.pulse.as_deref().map_or(Ok(()), Pulse::leave),
        }
    }

    fn listed(&self, no: ProviderNo) -> Option<&Listed> {
        self.providers.iter().chain(&self.books).find(|listed| listed.no == no)
    }

    /// The first provider in order of preference.
    pub fn preferred(&self) -> Option<ProviderNo> {
        self.providers.first().map(|listed| listed.no)
    }

    /// The number of the provider with this id.
    pub fn number(&self, id: &str) -> Option<ProviderNo> {
        self.by_id(id).map(|listed| listed.no)
    }

    fn by_id(&self, id: &str) -> Option<&Listed> {
        self.providers.iter().chain(&self.books).find(|listed| listed.spec.id == id)
    }

    /// Whether any provider settles `currency`, in any mode, for such participants if given.
    pub fn offers(&self, currency: Currency, namespace: Option<Namespace>) -> bool {
        let between_clients = namespace.is_some_and(|namespace| self.are_between_clients(namespace));
        between_clients || self.providers.iter().any(|listed| listed.spec.currencies.includes(&currency))
    }

    /// The providers on the route of a payment, in the order in which they are tried, and why those are out that do not take it. One
    /// that does not answer is out as long as another takes the payment; if none does, the payment may wait for it.
    pub fn steps<'a>(&'a self, payment: &Payment<'_>) -> Vec<Step<'a>> {
        let between_clients = self.are_between_clients(payment.to.namespace());
        let step = |listed: &'a Listed| (listed.spec.mode == payment.mode).then(|| Step::of(listed, payment, between_clients));
        let mut steps: Vec<_> = if between_clients {
            self.books.iter().filter_map(step).collect()
        } else {
            match self.table.as_ref().and_then(|table| table.route(payment)) {
                None => self.providers.iter().filter_map(step).collect(),
                Some(ids) => ids.into_iter().filter_map(|id| self.by_id(id)).filter_map(step).collect(),
            }
        };
        if steps.iter().all(|step| step.out.is_some()) {
            for step in steps.iter_mut().filter(|step| step.out == Some(RouteRefusal::Unavailable)) {
                step.out = None;
            }
        }
        steps
    }

    /// The first provider for a payment, and its fee.
    ///
    /// # Errors
    /// `invalid_fields` if the pinned provider does not exist; `amount_below_minimum` or `amount_above_maximum` if only the amount
    /// stands in the way; otherwise `no_route`.
    pub fn choose(&self, payment: &Payment<'_>) -> Result<(ProviderNo, Charge)> {
        if let Some(id) = payment.pinned
            && self.by_id(id).is_none()
        {
            return Err(Error::field("/provider", "provider_unknown", format!("no provider has the id {id:?}")));
        }
        let steps = self.steps(payment);
        if let Some(step) = steps.iter().find(|step| step.out.is_none()) {
            return Ok((step.no, step.charge(payment).ok_or_else(|| Error::new(ErrorCode::AmountAboveMaximum))?));
        }
        let refused =
            steps.iter().find_map(|step| step.spec.accepts(payment.money).err().filter(|_| step.out.is_some_and(RouteRefusal::is_amount)));
        Err(refused.unwrap_or_else(|| Error::new(ErrorCode::NoRoute)))
    }
}

named_enum! {
    /// Why a provider on the route does not take a payment.
    pub enum RouteRefusal {
        /// The payment is pinned to another provider.
        NotPinned = "not_pinned",
        /// It does not reach such participants, or does not settle the currency.
        NotServed = "not_served",
        /// It takes no payments at all.
        Disabled = "disabled",
        /// It takes no payments for a while.
        Maintenance = "maintenance",
        /// The amount is less than it takes.
        BelowMinimum = "below_minimum",
        /// The amount is more than it takes.
        AboveMaximum = "above_maximum",
        /// It does not answer, and another provider takes the payment.
        Unavailable = "unavailable",
    }
}

impl RouteRefusal {
    fn is_amount(self) -> bool {
        match self {
            Self::BelowMinimum | Self::AboveMaximum => true,
            Self::NotPinned | Self::NotServed | Self::Disabled | Self::Maintenance | Self::Unavailable => false,
        }
    }
}

/// A provider on the route of a payment.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Its number.
    pub no: ProviderNo,
    /// The provider.
    pub spec: &'a Arc<ProviderSpec>,
    /// Why it does not take the payment; `None` if it does.
    pub out: Option<RouteRefusal>,
    pulse: Option<&'a dyn Pulse>,
    /// Whether the payment is between two clients.
    between_clients: bool,
}

impl<'a> Step<'a> {
    fn of(listed: &'a Listed, payment: &Payment<'_>, between_clients: bool) -> Self {
        let pulse = listed.pulse.as_deref();
        let silent = || pulse.filter(|pulse| !pulse.admits()).map(|_| RouteRefusal::Unavailable);
        Self { no: listed.no, spec: &listed.spec, out: out(&listed.spec, payment).or_else(silent), pulse, between_clients }
    }

    /// How the provider is.
    pub fn health(&self) -> Health {
        self.spec.health(self.pulse.map_or(Health::Up, |pulse| pulse.reading().health))
    }

    /// Lets the payment leave for the provider.
    ///
    /// # Errors
    /// In how many milliseconds to ask again, if it may not leave now.
    pub fn leave(&self) -> Result<(), Millis> {
        self.pulse.map_or(Ok(()), Pulse::leave)
    }

    /// Its fee for the payment; `None` on overflow. What is agreed for payments over operators is not for those between two clients.
    pub fn charge(&self, payment: &Payment<'_>) -> Option<Charge> {
        let named: Vec<FeeRule>;
        let agreed = if self.between_clients {
            named = payment.agreed.iter().filter(|rule| rule.namespace.is_some()).cloned().collect();
            &named
        } else {
            payment.agreed
        };
        charge([agreed, &self.spec.fees], payment.to.namespace(), payment.money)
    }
}

fn out(spec: &ProviderSpec, payment: &Payment<'_>) -> Option<RouteRefusal> {
    if payment.pinned.is_some_and(|id| id != spec.id) {
        return Some(RouteRefusal::NotPinned);
    }
    if !spec.serves(payment.mode, payment.to.namespace(), payment.money.currency()) {
        return Some(RouteRefusal::NotServed);
    }
    match spec.availability {
        Availability::Disabled => Some(RouteRefusal::Disabled),
        Availability::Maintenance => Some(RouteRefusal::Maintenance),
        Availability::Enabled => match spec.accepts(payment.money).err()?.code {
            ErrorCode::AmountBelowMinimum => Some(RouteRefusal::BelowMinimum),
            _ => Some(RouteRefusal::AboveMaximum),
        },
    }
}
