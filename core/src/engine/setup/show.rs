//! Providers, routes and terms as their operator would write them.

use std::collections::BTreeMap;

use super::view::names;
use crate::api::{
    AmountInput, ChoiceBody, ClientLimitBody, FeeBody, FeeTierBody, LimitBody, ProviderBody, RouteBody, RoutesBody, TermsBody, TimeoutsBody,
};
use crate::ids::Ulid;
use crate::money::{Currency, Money};
use crate::route::{Availability, FeeRule, ProviderSpec, RouteRule, Units};
use crate::terms::Terms;

/// A provider without its secrets. What is as by default is left out.
pub fn document_of(spec: &ProviderSpec) -> ProviderBody {
    let limits = spec.limits.iter().map(|limits| {
        let amount = |minor| amount(minor, limits.currency);
        let min = (limits.min > 1).then(|| amount(limits.min));
        (limits.currency.code().to_owned(), LimitBody { min, max: (limits.max < i64::MAX).then(|| amount(limits.max)) })
    });
    let timeouts = TimeoutsBody { connect_ms: spec.connect_ms, answer_ms: spec.answer_ms };
    ProviderBody {
        id: spec.id.clone(),
        name: spec.name.clone(),
        rail: spec.rail.clone(),
        mode: spec.mode.as_str().to_owned(),
        base_url: spec.base_url.clone(),
        settings: (!spec.settings.is_empty()).then(|| spec.settings.clone()),
        secrets: None,
        namespaces: names(&spec.namespaces, |namespace| namespace.as_str()),
        currencies: names(&spec.currencies, |currency| currency.code()),
        countries: some(spec.countries.clone()),
        limits: Some(limits.collect::<BTreeMap<_, _>>()).filter(|limits| !limits.is_empty()),
        fees: some(spec.fees.iter().map(fee).collect()),
        timeouts: (timeouts != TimeoutsBody::default()).then_some(timeouts),
        enabled: (spec.availability == Availability::Disabled).then_some(false),
        maintenance: (spec.availability == Availability::Maintenance).then_some(true),
    }
}

/// A table of routes.
pub fn table_of(rules: &[RouteRule]) -> RoutesBody {
    RoutesBody { routes: rules.iter().map(entry).collect() }
}

/// The terms of a client.
pub fn terms_of(client: Ulid, terms: &Terms) -> TermsBody {
    let limits = terms.limits.iter().map(|limits| {
        let bound = |minor: Option<i64>| minor.map(|minor| amount(minor, limits.currency));
        ClientLimitBody {
            mode: limits.mode.as_str().to_owned(),
            currency: limits.currency.code().to_owned(),
            min: bound(limits.min),
            max: bound(limits.max),
            daily_value: bound(limits.daily_value),
            daily_count: limits.daily_count.and_then(|count| u32::try_from(count).ok()),
        }
    });
    let credit = terms.credit.iter().map(|it| (it.currency().code().to_owned(), AmountInput::text(&it.decimal())));
    TermsBody {
        client: format!("cli_{client}"),
        limits: some(limits.collect()),
        credit: Some(credit.collect::<BTreeMap<_, _>>()).filter(|credit| !credit.is_empty()),
        fees: some(terms.fees.iter().map(fee).collect()),
        reversal_days: terms.reversal_days,
        session_signatures: Some(named_uses(terms)).filter(|uses| !uses.is_empty()),
    }
}

fn named_uses(terms: &Terms) -> BTreeMap<String, String> {
    terms.session_signatures.iter().map(|(mode, it)| (mode.as_str().to_owned(), it.as_str().to_owned())).collect()
}

fn entry(rule: &RouteRule) -> RouteBody {
    let bound = |minor: Option<i64>| minor.and_then(|minor| rule.currency.map(|currency| amount(minor, currency)));
    RouteBody {
        mode: rule.mode.as_str().to_owned(),
        namespace: rule.namespace.as_str().to_owned(),
        providers: rule
            .providers
            .iter()
            .map(|choice| ChoiceBody {
                id: choice.id.clone(),
                priority: choice.priority,
                weight: (choice.weight != 1).then_some(choice.weight),
            })
            .collect(),
        prefix: Some(rule.prefix.clone()).filter(|prefix| !prefix.is_empty()),
        currency: rule.currency.map(|currency| currency.code().to_owned()),
        min: bound(rule.min),
        max: bound(rule.max),
    }
}

fn fee(rule: &FeeRule) -> FeeBody {
    let tiers = rule.tiers.iter().map(|tier| FeeTierBody {
        from: AmountInput::text(&tier.from.to_string()),
        flat: units(tier.flat),
        percent: (tier.percent != Default::default()).then(|| AmountInput::text(&tier.percent.to_string())),
    });
    FeeBody {
        currency: rule.currency.map(|currency| currency.code().to_owned()),
        namespace: rule.namespace.map(|namespace| namespace.as_str().to_owned()),
        flat: units(rule.flat),
        percent: (rule.percent != Default::default()).then(|| AmountInput::text(&rule.percent.to_string())),
        min: units(rule.min),
        max: rule.max.map(|max| AmountInput::text(&max.to_string())),
        tiers: some(tiers.collect()),
        refund: rule.refund.map(|refund| refund.as_str().to_owned()),
    }
}

fn units(units: Units) -> Option<AmountInput> {
    (units != Units::default()).then(|| AmountInput::text(&units.to_string()))
}

fn amount(minor: i64, currency: Currency) -> AmountInput {
    AmountInput::text(&Money::from_minor(minor, currency).decimal())
}

fn some<T>(list: Vec<T>) -> Option<Vec<T>> {
    (!list.is_empty()).then_some(list)
}
