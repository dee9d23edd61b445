//! Providers as clients see them.

use std::sync::Arc;

use super::show::{document_of, table_of};
use crate::api::{Caller, DecimalNumber, FeeTierView, FeeView, LimitView, OperatedProviderView, OperatedRoutesView, ProviderView};
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ProviderNo;
use crate::money::Money;
use crate::route::health::{Pulse, Reading};
use crate::route::{AmountLimits, Availability, FeeRefund, FeeRule, ProviderSpec, Serves};
use crate::time::rfc3339;

impl Engine {
    /// What this engine knows about whether a provider answers. An operator inside the gateway always does.
    pub fn reading(&self, no: ProviderNo) -> Reading {
        self.routes().pulse(no).map_or(Reading::NONE, Pulse::reading)
    }

    /// The providers that payments of a caller can go to, with how they are. Those that are disabled are not shown.
    pub fn providers(&self, caller: &Caller) -> Vec<ProviderView> {
        let routes = self.routes();
        let shown = routes.providers().filter(|(_, spec)| is_shown(spec, caller));
        shown.map(|(no, spec)| view_of(spec, routes.pulse(no))).collect()
    }

    /// One of [`Engine::providers`], or the books on which payments between clients are settled.
    ///
    /// # Errors
    /// `provider_not_found`.
    pub fn provider_by_id(&self, caller: &Caller, id: &str) -> Result<ProviderView> {
        let routes = self.routes();
        let found = routes.providers().find(|(_, spec)| spec.id == id && is_shown(spec, caller));
        let found = found.or_else(|| routes.books(caller.mode).filter(|(_, spec)| spec.id == id));
        found.map(|(no, spec)| view_of(spec, routes.pulse(no))).ok_or_else(|| Error::new(ErrorCode::ProviderNotFound))
    }
}

impl Engine {
    /// All providers as operators configured them, and how they are.
    pub fn operated_providers(&self) -> Vec<OperatedProviderView> {
        let (routes, applied) = (self.routes(), self.applied_providers());
        let version = |id: &str| applied.iter().find(|it| it.spec.id == id).map_or(0, |it| it.version);
        let view = |(no, spec): (ProviderNo, &Arc<ProviderSpec>)| {
            let reading = routes.pulse(no).map_or(Reading::NONE, Pulse::reading);
            OperatedProviderView {
                provider: document_of(spec),
                version: version(&spec.id),
                secret_names: spec.secrets.0.keys().cloned().collect(),
                status: spec.health(reading.health),
                success_rate: reading.success_rate,
                p95_ms: reading.p95_ms,
            }
        };
        routes.providers().map(view).collect()
    }

    /// One of [`Engine::operated_providers`].
    ///
    /// # Errors
    /// `provider_not_found`.
    pub fn operated_provider(&self, id: &str) -> Result<OperatedProviderView> {
        let found = self.operated_providers().into_iter().find(|it| it.provider.id == id);
        found.ok_or_else(|| Error::new(ErrorCode::ProviderNotFound))
    }

    /// The table of routes, and its version.
    pub fn operated_routes(&self) -> OperatedRoutesView {
        let (rules, version) = self.applied_routes();
        OperatedRoutesView { table: table_of(&rules), version }
    }
}

fn is_shown(spec: &ProviderSpec, caller: &Caller) -> bool {
    caller.sees(spec.mode) && spec.availability != Availability::Disabled
}

fn view_of(spec: &ProviderSpec, pulse: Option<&dyn Pulse>) -> ProviderView {
    let reading = pulse.map_or(Reading::NONE, Pulse::reading);
    ProviderView {
        id: spec.id.clone(),
        name: spec.name.clone(),
        rail: spec.rail.clone(),
        sandbox: spec.mode.is_sandbox(),
        namespaces: names(&spec.namespaces, |namespace| namespace.as_str()),
        currencies: names(&spec.currencies, |currency| currency.code()),
        countries: spec.countries.clone(),
        limits: spec.limits.iter().map(|limits| (limits.currency.code().to_owned(), limit(limits))).collect(),
        fees: spec.fees.iter().map(fee).collect(),
        capabilities: spec.capabilities,
        status: spec.health(reading.health),
        success_rate: reading.success_rate,
        p95_ms: reading.p95_ms,
        updated_at: reading.updated_at.map(rfc3339),
    }
}

fn limit(limits: &AmountLimits) -> LimitView {
    let amount = |minor| DecimalNumber::from(Money::from_minor(minor, limits.currency));
    LimitView { min: amount(limits.min), max: (limits.max < i64::MAX).then(|| amount(limits.max)) }
}

fn fee(rule: &FeeRule) -> FeeView {
    let decimal = |number: &dyn ToString| DecimalNumber::from_text(number.to_string());
    let tiers = rule.tiers.iter();
    FeeView {
        currency: rule.currency.map(|currency| currency.code().to_owned()),
        namespace: rule.namespace.map(|namespace| namespace.as_str().to_owned()),
        flat: decimal(&rule.flat),
        percent: decimal(&rule.percent),
        min: decimal(&rule.min),
        max: rule.max.map(|max| decimal(&max)),
        tiers: tiers
            .map(|tier| FeeTierView { from: decimal(&tier.from), flat: decimal(&tier.flat), percent: decimal(&tier.percent) })
            .collect(),
        refund: rule.refund.unwrap_or(FeeRefund::Nothing),
    }
}

pub(super) fn names<T: Copy>(serves: &Serves<T>, name: fn(T) -> &'static str) -> Option<Vec<String>> {
    match serves {
        Serves::All => None,
        Serves::Only(some) => Some(some.iter().map(|it| name(*it).to_owned()).collect()),
    }
}
