//! What a bundle overlaps with: reviewers should know, and it refuses nothing.

use crate::api::BundleFindingView;
use crate::engine::group::Decision;
use crate::engine::setup::routes_in;
use crate::error::Result;
use crate::ledger::Mode;
use crate::route::{ProviderSpec, RouteRule, Serves};
use crate::store::record::BundleRecord;
use crate::validate::bundle::Manifest;

use super::make::is_taken;

/// The most findings of a kind.
const MOST: usize = 20;

/// What there is to know, in both modes that the bundle could be published in.
pub(super) fn findings(d: &Decision<'_, '_>, bundle: &BundleRecord, manifest: &Manifest) -> Result<Vec<BundleFindingView>> {
    let mut found = Vec::new();
    let rules = routes_in(d.overlay)?;
    for mode in [Mode::Sandbox, Mode::Live] {
        let Some(spec) = manifest.provider(mode) else { continue };
        if is_taken(d, bundle, mode, &spec.id)? {
            let said =
                format!("there is a provider {} already, which is not of this partner: it cannot be published under this id", spec.id);
            found.push(finding("id_taken", "/manifest/id", said));
        }
        let routes = d.engine.routes();
        let same = routes.providers().map(|(_, other)| other).filter(|other| other.id != spec.id && overlaps(spec, other));
        for other in same.take(MOST) {
            let said = format!("{}: the provider {} serves some of the same participants and currencies", mode.as_str(), other.id);
            found.push(finding("serves_the_same", "/manifest/namespaces", said));
        }
        for (n, wish) in manifest.wishes(mode).enumerate().take(MOST) {
            let pointer = format!("/manifest/routes/{n}");
            let about: Vec<&RouteRule> = rules.iter().filter(|rule| rule.mode == mode && rule.namespace == wish.namespace).collect();
            if about.is_empty() {
                let said = format!(
                    "{}: the table has no entry for {} yet, so every provider that serves it is tried; the wish would leave all others without \
                     a route, and is not added",
                    mode.as_str(),
                    wish.namespace.as_str()
                );
                found.push(finding("first_route", &pointer, said));
            }
            for rule in about.into_iter().filter(|rule| meets(rule, &wish)).take(MOST) {
                let ids: Vec<&str> = rule.providers.iter().map(|choice| choice.id.as_str()).collect();
                let said = format!(
                    "{}: the entry for {}{} has {} today",
                    mode.as_str(),
                    rule.namespace.as_str(),
                    about_what(rule),
                    ids.join(", ")
                );
                found.push(finding("route_overlap", &pointer, said));
            }
        }
    }
    Ok(found)
}

fn finding(code: &str, pointer: &str, message: String) -> BundleFindingView {
    BundleFindingView { code: code.to_owned(), pointer: pointer.to_owned(), message }
}

fn overlaps(one: &ProviderSpec, other: &ProviderSpec) -> bool {
    fn common<T: PartialEq>(one: &Serves<T>, other: &Serves<T>) -> bool {
        match (one, other) {
            (Serves::Only(some), other) => some.iter().any(|it| other.includes(it)),
            (Serves::All, Serves::Only(some)) => !some.is_empty(),
            (Serves::All, Serves::All) => true,
        }
    }
    one.mode == other.mode && common(&one.namespaces, &other.namespaces) && common(&one.currencies, &other.currencies)
}

/// Whether payments exist that both entries cover.
fn meets(rule: &RouteRule, wish: &RouteRule) -> bool {
    let prefixes = rule.prefix.starts_with(&wish.prefix) || wish.prefix.starts_with(&rule.prefix);
    prefixes && (rule.currency.is_none() || wish.currency.is_none() || rule.currency == wish.currency)
}

fn about_what(rule: &RouteRule) -> String {
    let currency = rule.currency.map(|currency| format!(" in {currency}")).unwrap_or_default();
    if rule.prefix.is_empty() { currency } else { format!(" {}…{currency}", rule.prefix) }
}
