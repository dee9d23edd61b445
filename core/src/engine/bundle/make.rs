//! Makes the provider that a bundle describes, and its routes.

use crate::api::RoutesBody;
use crate::engine::group::{Command as _, Decision};
use crate::engine::setup::{PutProviders, PutRoutes, document_of, provider_version, routes_in, table_of};
use crate::error::{Error, ErrorCode, Result};
use crate::ledger::Mode;
use crate::route::RouteRule;
use crate::store::record::{BundleRecord, BundleStepKind, Record};
use crate::store::{Scan, typed_all};

use super::{BUNDLES_MAX, Step, manifest_of, next, take};
use crate::lifecycle::bundle::BundleInput;

/// Whether a provider with this id exists that no bundle of this partner made.
pub(super) fn is_taken(d: &Decision<'_, '_>, bundle: &BundleRecord, mode: Mode, id: &str) -> Result<bool> {
    let is_there = provider_version(d.overlay, id)? != 0 || d.engine.config.providers.iter().any(|spec| spec.id == id);
    Ok(id == crate::rail::books::ID || (is_there && !siblings(d, bundle)?.iter().any(|it| is_in(it, mode))))
}

pub(super) const fn is_in(bundle: &BundleRecord, mode: Mode) -> bool {
    match mode {
        Mode::Sandbox => bundle.in_sandbox,
        Mode::Live => bundle.in_live,
    }
}

/// All bundles of the same partner about the same provider, itself included, with the changes of this group.
fn siblings(d: &Decision<'_, '_>, bundle: &BundleRecord) -> Result<Vec<BundleRecord>> {
    let mut all = Vec::new();
    for mode in [Mode::Sandbox, Mode::Live] {
        let stored: Vec<BundleRecord> =
            typed_all(d.overlay.store.scan(&Scan::bundles_of(bundle.client, mode, i64::MAX, BUNDLES_MAX + 1))?)?;
        for stored in stored.into_iter().filter(|it| it.provider == bundle.provider) {
            all.extend(d.overlay.get(&crate::store::record::Key::Bundle(stored.no))?);
        }
    }
    let made = d.overlay.inserted().filter_map(|record| if let Record::Bundle(it) = record { Some(it.clone()) } else { None });
    all.extend(made.filter(|it| it.client == bundle.client && it.provider == bundle.provider));
    Ok(all)
}

/// Makes the provider of a bundle in a mode, and its routes if they are wished for. What an earlier bundle made is replaced.
///
/// # Errors
/// Why it cannot be made; nothing must be kept of it then.
pub(super) fn make(d: &mut Decision<'_, '_>, bundle: &BundleRecord, mode: Mode) -> Result<Vec<String>> {
    let manifest = manifest_of(d, bundle)?;
    let no_endpoint = || Error::with(ErrorCode::InvalidState, "the manifest has no live endpoint");
    let spec = manifest.provider(mode).ok_or_else(no_endpoint)?;
    if is_taken(d, bundle, mode, &spec.id)? {
        return Err(Error::with(ErrorCode::InvalidState, format!("there is a provider {} already, which is not of this partner", spec.id)));
    }
    let reason = Some(format!("bundle bun_{}, version {}, revision {}", bundle.id, bundle.release, bundle.revision));
    let secrets = d.engine.bundle_secrets(bundle)?;
    let mut body = document_of(spec);
    body.secrets = match mode {
        Mode::Sandbox => secrets.sandbox,
        Mode::Live => secrets.live,
    };
    PutProviders { providers: vec![(body, None)], reason: reason.clone() }.decide(d)?;
    let mut left_out = Vec::new();
    if bundle.with_routes {
        let before = routes_in(d.overlay)?;
        let mut rules = before.clone();
        for wish in manifest.wishes(mode) {
            if !add(&mut rules, wish.clone()) {
                left_out.push(wish.namespace.as_str().to_owned());
            }
        }
        if rules != before {
            let table: RoutesBody = table_of(&rules);
            PutRoutes { table, expected: None, reason }.decide(d)?;
        }
    }
    Ok(left_out)
}

/// Adds a wish to the table: to the entry for the same payments, or as an entry of its own. `false` if the table has no entry yet for such
/// participants: the first one would take away everybody else's payments.
fn add(rules: &mut Vec<RouteRule>, wish: RouteRule) -> bool {
    if !rules.iter().any(|rule| rule.mode == wish.mode && rule.namespace == wish.namespace) {
        return false;
    }
    let same = |rule: &&mut RouteRule| {
        let what = |it: &RouteRule| (it.mode, it.namespace, it.currency, it.min, it.max);
        what(rule) == what(&wish) && rule.prefix == wish.prefix
    };
    match rules.iter_mut().find(same) {
        Some(entry) => {
            entry.providers.retain(|choice| wish.providers.iter().all(|it| it.id != choice.id));
            entry.providers.extend(wish.providers);
        }
        None => rules.push(wish),
    }
    true
}

/// An earlier bundle gives way to one that was published in its place.
pub(super) fn supersede(d: &mut Decision<'_, '_>, bundle: &BundleRecord, mode: Mode) -> Result<()> {
    for mut earlier in siblings(d, bundle)?.into_iter().filter(|it| it.no != bundle.no && is_in(it, mode)) {
        match mode {
            Mode::Sandbox => earlier.in_sandbox = false,
            Mode::Live => earlier.in_live = false,
        }
        let is_over = !earlier.in_sandbox && !earlier.in_live;
        let (status, kind) = match next(&earlier, BundleInput::Supersede) {
            Ok(status) if is_over => (status, BundleStepKind::Revoked),
            Ok(_) | Err(_) => (earlier.status, BundleStepKind::Superseded),
        };
        let data = serde_json::json!({ "superseded_by": format!("bun_{}", bundle.id), "mode": mode.as_str() });
        take(d, earlier, Step::own(kind, status).data(data));
    }
    Ok(())
}
