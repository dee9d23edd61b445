//! Parses providers and tables of routes, as an operator writes them.
//!
//! ```
//! use railgate::rail::Rails;
//! use railgate::validate::provider::parse_provider;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body = br#"{"id": "operator-c", "name": "Operator C", "rail": "simulator", "mode": "sandbox",
//!     "fees": [{"flat": "0.10", "percent": "0.25"}], "limits": {"EUR": {"max": "500"}}}"#;
//! let provider = parse_provider(body, &Rails::built_in())?.spec;
//! assert_eq!((provider.id.as_str(), provider.limits[0].max), ("operator-c", 500_00));
//!
//! let refused = parse_provider(br#"{"id": "C", "name": "C", "rail": "telex", "mode": "live"}"#, &Rails::built_in());
//! let fields = refused.unwrap_err().into_fields();
//! let found: Vec<_> = fields.iter().map(|problem| (&*problem.pointer, &*problem.code)).collect();
//! assert_eq!(found, [("/id", "provider_malformed"), ("/rail", "rail_unknown")]);
//! # Ok(())
//! # }
//! ```
//!
//! Whether the providers of a route exist is not checked here: it depends on what is configured.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use super::access::{mode, printable};
use super::json::{FieldProblems, Object, Value};
use super::{amount, currency, pairs, provider as id, sized};
use crate::api::{ChoiceBody, FeeBody, FeeTierBody, LimitBody, ProviderBody, RouteBody, RoutesBody, TimeoutsBody};
use crate::error::{Error, excerpt};
use crate::ledger::Mode;
use crate::money::{Amount, AmountError, Currency};
use crate::participant::Namespace;
use crate::rail::{CALLBACK_SOURCES, Rail, Rails, TLS_AUTHORITIES, TLS_CERTIFICATES, is_address};
use crate::route::{
    AmountLimits, Availability, Choice, FeeRefund, FeeRule, FeeTier, Percent, ProviderSpec, RouteRule, Secrets, Serves, Units,
};
use crate::webhook::Cidr;

/// More than any provider or table needs.
pub(super) const MANY: usize = 1_000;
const URL_MAX_CHARS: usize = 2_048;
/// Room for a chain of certificates in PEM.
const SETTING_MAX_CHARS: usize = 16_384;
const PREFIX_MAX_CHARS: usize = 34;
const TIMEOUT_MAX_MS: u64 = 120_000;

/// A valid provider.
#[derive(Debug, Clone)]
pub struct ProviderRequest {
    /// The provider, with the secrets that were given.
    pub spec: ProviderSpec,
    /// Whether secrets were given: otherwise it keeps those it has.
    pub gives_secrets: bool,
}

/// Parses a provider.
///
/// # Errors
/// [`crate::ErrorCode::MalformedJson`], or [`crate::ErrorCode::InvalidFields`] with all problems.
pub fn parse_provider(body: &[u8], rails: &Rails) -> Result<ProviderRequest, Error> {
    let mut body = Object::parse(body, &ProviderBody::FIELDS)?;
    let id = body.required("id", id);
    let name = body.required("name", |value| printable(&value.text()?).map_err(|said| FieldProblems::one("name_malformed", said)));
    let rail = body.required("rail", |value| rail(value, rails));
    let mode = body.required("mode", mode);
    if let (Some(rail), Some(Mode::Live)) = (rail, mode)
        && rail.inside().is_some()
    {
        let said = format!("the rail {} moves no money: its mode is sandbox", rail.kind());
        body.refuse("mode", FieldProblems::one("rail_sandbox_only", said));
    }
    let base_url = body.optional("base_url", base_url);
    let settings = body.optional("settings", settings);
    let secrets = body.optional("secrets", |value| {
        Ok(Secrets(pairs(value, SETTING_MAX_CHARS, Value::lines)?.into_iter().map(|(k, v)| (k, Zeroizing::new(v))).collect()))
    });
    let namespaces = body.optional("namespaces", |value| list(value, namespace));
    let currencies = body.optional("currencies", |value| list(value, currency));
    let countries = body.optional("countries", |value| list(value, country));
    let limits = body.optional("limits", limits);
    let fees = body.optional("fees", |value| list(value, fee));
    let timeouts = body.optional("timeouts", timeouts);
    let enabled = body.optional("enabled", Value::boolean);
    let maintenance = body.optional("maintenance", Value::boolean);
    let request = body.finish(|| {
        let (connect_ms, answer_ms) = timeouts?.unwrap_or_default();
        let secrets = secrets?;
        let gives_secrets = secrets.is_some();
        let spec = ProviderSpec {
            base_url: base_url?,
            settings: settings?.unwrap_or_default(),
            secrets: secrets.unwrap_or_default(),
            namespaces: namespaces?.map_or(Serves::All, Serves::Only),
            currencies: currencies?.map_or(Serves::All, Serves::Only),
            countries: countries?.unwrap_or_default(),
            limits: limits?.unwrap_or_default(),
            fees: fees?.unwrap_or_default(),
            connect_ms,
            answer_ms,
            availability: match (enabled?.unwrap_or(true), maintenance?.unwrap_or(false)) {
                (false, _) => Availability::Disabled,
                (true, true) => Availability::Maintenance,
                (true, false) => Availability::Enabled,
            },
            ..ProviderSpec::new(&id?, &name?, mode?, rail?)
        };
        Some((ProviderRequest { spec, gives_secrets }, rail?))
    });
    let (mut request, rail) = request?;
    let problems = rail.configure(&mut request.spec);
    if problems.is_empty() { Ok(request) } else { Err(Error::invalid(problems)) }
}

/// The name of one of the gateway's rails.
pub(super) fn rail<'r>(value: Value<'_>, rails: &'r Rails) -> Result<&'r dyn Rail, FieldProblems> {
    let kind = value.text()?;
    rails.get(&kind).ok_or_else(|| {
        let known = rails.kinds().collect::<Vec<_>>().join(", ");
        FieldProblems::one("rail_unknown", format!("{:?} is not a rail of this gateway; it has: {known}", excerpt(&kind)))
    })
}

/// Settings of a rail, of the provider's statements, and those that every provider may have.
fn settings(value: Value<'_>) -> Result<BTreeMap<String, String>, FieldProblems> {
    let settings = pairs(value, SETTING_MAX_CHARS, Value::lines)?;
    let mut problems = FieldProblems::default();
    for (name, value) in &settings {
        let problem = match name.as_str() {
            CALLBACK_SOURCES if value.split(',').any(|range| Cidr::parse(range.trim()).is_err()) => {
                FieldProblems::one("range_malformed", "must be ranges of addresses, separated by commas: 192.0.2.0/24, 2001:db8::/32")
            }
            TLS_AUTHORITIES | TLS_CERTIFICATES if !value.contains("-----BEGIN CERTIFICATE-----") => {
                FieldProblems::one("certificate_malformed", "must be certificates in PEM")
            }
            _ => continue,
        };
        problems.add(name, problem);
    }
    #[cfg(feature = "reconcile")]
    if let Err(refused) = crate::reconcile::Settings::parse(&settings) {
        for problem in refused.into_fields() {
            let name = problem.pointer.trim_start_matches("/settings/").to_owned();
            problems.add(&name, FieldProblems::one("statement_setting", problem.message));
        }
    }
    problems.into_result(settings)
}

/// Parses a whole table of routes.
///
/// # Errors
/// See [`parse_provider`].
pub fn parse_routes(body: &[u8]) -> Result<Vec<RouteRule>, Error> {
    let mut body = Object::parse(body, &RoutesBody::FIELDS)?;
    let routes = body.required("routes", |value| list_or_none(value, route));
    body.finish(|| routes)
}

fn route(value: Value<'_>) -> Result<RouteRule, FieldProblems> {
    let mut body = value.object(&RouteBody::FIELDS)?;
    let mode = body.required("mode", mode);
    let namespace = body.required("namespace", namespace);
    let providers = body.required("providers", |value| list(value, choice));
    let prefix = body.optional("prefix", |value| {
        let text = sized(value.text()?, 0, PREFIX_MAX_CHARS)?;
        if text.contains(char::is_whitespace) { Err(FieldProblems::one("prefix_malformed", "must not have spaces")) } else { Ok(text) }
    });
    let currency = body.optional("currency", currency);
    let mut bound = |name| body.optional(name, |value| minor(value, currency.flatten()));
    let (min, max) = (bound("min"), bound("max"));
    require_order(&mut body, min, max);
    Ok(body.finish(|| {
        let prefix = prefix?.unwrap_or_default();
        Some(RouteRule { mode: mode?, namespace: namespace?, prefix, currency: currency?, min: min?, max: max?, providers: providers? })
    })?)
}

/// An amount of an entry in minor units of its currency, which must be given.
pub(super) fn minor(value: Value<'_>, currency: Option<Currency>) -> Result<i64, FieldProblems> {
    let currency = currency.ok_or_else(|| FieldProblems::one("currency_missing", "needs a currency beside it"))?;
    Ok(amount(value)?.to_money(currency)?.minor())
}

fn choice(value: Value<'_>) -> Result<Choice, FieldProblems> {
    let mut body = value.object(&ChoiceBody::FIELDS)?;
    let id = body.required("id", id);
    let priority = body.required("priority", |value| integer(value, 1_000_000));
    let weight = body.optional("weight", |value| integer(value, 1_000_000));
    let choice = body.finish(|| Some((id?, priority?, weight?)))?;
    let fits = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Ok(Choice { id: choice.0, priority: fits(choice.1), weight: choice.2.map_or(1, fits) })
}

fn limits(value: Value<'_>) -> Result<Vec<AmountLimits>, FieldProblems> {
    let mut problems = FieldProblems::default();
    let mut limits: Vec<AmountLimits> = Vec::new();
    for (code, bounds) in value.members_within(MANY)? {
        let Some(currency) = Currency::from_code(&code) else {
            problems.add(&code, FieldProblems::one("currency_unknown", "must be an ISO 4217 currency code in upper case, such as EUR"));
            continue;
        };
        if limits.iter().any(|known| known.currency == currency) {
            problems.add(&code, FieldProblems::one("duplicate_field", "must not be given twice"));
        }
        limits.extend(problems.note(&code, limit(bounds, currency)));
    }
    problems.into_result(limits)
}

fn limit(value: Value<'_>, currency: Currency) -> Result<AmountLimits, FieldProblems> {
    let mut body = value.object(&LimitBody::FIELDS)?;
    let mut bound = |name| body.optional(name, |value| minor(value, Some(currency)));
    let (min, max) = (bound("min"), bound("max"));
    require_order(&mut body, min, max);
    Ok(body.finish(|| Some(AmountLimits { currency, min: min?.unwrap_or(1), max: max?.unwrap_or(i64::MAX) }))?)
}

pub(super) fn fee(value: Value<'_>) -> Result<FeeRule, FieldProblems> {
    let mut body = value.object(&FeeBody::FIELDS)?;
    let currency = body.optional("currency", currency);
    let namespace = body.optional("namespace", namespace);
    let flat = body.optional("flat", units);
    let percent = body.optional("percent", percent);
    let (min, max) = (body.optional("min", units), body.optional("max", units));
    require_order(&mut body, min, max);
    let tiers = body.optional("tiers", tiers);
    let refund = body.optional("refund", refund);
    Ok(body.finish(|| {
        Some(FeeRule {
            currency: currency?,
            namespace: namespace?,
            flat: flat?.unwrap_or_default(),
            percent: percent?.unwrap_or_default(),
            min: min?.unwrap_or_default(),
            max: max?,
            tiers: tiers?.unwrap_or_default(),
            refund: refund?,
        })
    })?)
}

fn refund(value: Value<'_>) -> Result<FeeRefund, FieldProblems> {
    let known = FeeRefund::from_name(&value.text()?);
    known.ok_or_else(|| FieldProblems::one("unknown_value", "must be none, proportional or full"))
}

/// Refuses an upper bound below the lower one.
pub(super) fn require_order<T: PartialOrd, const N: usize>(body: &mut Object<'_, N>, min: Option<Option<T>>, max: Option<Option<T>>) {
    if let (Some(Some(min)), Some(Some(max))) = (min, max)
        && min > max
    {
        body.refuse("max", FieldProblems::one("out_of_range", "must not be less than min"));
    }
}

fn tiers(value: Value<'_>) -> Result<Vec<FeeTier>, FieldProblems> {
    let tiers: Vec<FeeTier> = list(value, |value| {
        let mut body = value.object(&FeeTierBody::FIELDS)?;
        let from = body.required("from", units);
        let (flat, percent) = (body.optional("flat", units), body.optional("percent", percent));
        Ok(body.finish(|| Some(FeeTier { from: from?, flat: flat?.unwrap_or_default(), percent: percent?.unwrap_or_default() }))?)
    })?;
    if tiers.is_sorted_by(|one, next| one.from < next.from) {
        return Ok(tiers);
    }
    Err(FieldProblems::one("out_of_order", "must be in rising order of from"))
}

fn units(value: Value<'_>) -> Result<Units, FieldProblems> {
    decimal(value, Units::of, "must have at most four decimals")
}

fn percent(value: Value<'_>) -> Result<Percent, FieldProblems> {
    decimal(value, Percent::of, "must be a percentage of at most 100 with at most four decimals")
}

fn decimal<T: Default>(value: Value<'_>, of: fn(Amount) -> Option<T>, said: &'static str) -> Result<T, FieldProblems> {
    let text = value.number()?;
    match Amount::parse(&text) {
        // An amount is more than zero; here zero means something too.
        Err(AmountError::NotPositive) if !text.starts_with('-') => Ok(T::default()),
        amount => of(amount?).ok_or_else(|| FieldProblems::one("out_of_range", said)),
    }
}

fn timeouts(value: Value<'_>) -> Result<(Option<u64>, Option<u64>), FieldProblems> {
    let mut body = value.object(&TimeoutsBody::FIELDS)?;
    let mut time = |name| body.optional(name, |value| integer(value, TIMEOUT_MAX_MS));
    let (connect_ms, answer_ms) = (time("connect_ms"), time("answer_ms"));
    Ok(body.finish(|| Some((connect_ms?, answer_ms?)))?)
}

pub(super) fn integer(value: Value<'_>, max: u64) -> Result<u64, FieldProblems> {
    let said = || FieldProblems::one("out_of_range", format!("must be a whole number, at most {max}"));
    value.raw().parse().ok().filter(|n| *n <= max).ok_or_else(said)
}

fn namespace(value: Value<'_>) -> Result<Namespace, FieldProblems> {
    Namespace::from_str(&value.text()?).ok_or_else(|| {
        let known: Vec<_> = Namespace::ALL.iter().map(|namespace| namespace.as_str()).collect();
        FieldProblems::one("participant_unknown_namespace", format!("must be one of {}", known.join(", ")))
    })
}

fn country(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    if text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return Ok(text.into_owned());
    }
    Err(FieldProblems::one("country_malformed", "must be an ISO 3166-1 code of two capital letters, such as KE"))
}

fn base_url(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = sized(value.text()?, 1, URL_MAX_CHARS)?;
    if is_address(&text) {
        return Ok(text.trim_end_matches('/').to_owned());
    }
    Err(FieldProblems::one("url_malformed", "must be an http or https address without user name, query and fragment"))
}

/// Each element of a list, with the problems of all of them.
pub(super) fn list<'a, T>(value: Value<'a>, read: impl Fn(Value<'a>) -> Result<T, FieldProblems>) -> Result<Vec<T>, FieldProblems> {
    let mut problems = FieldProblems::default();
    let elements = value.elements(MANY)?.into_iter().enumerate();
    let read: Vec<T> = elements.filter_map(|(n, element)| problems.note(&n.to_string(), read(element))).collect();
    problems.into_result(read)
}

/// Like [`list`], but it may be empty.
pub(super) fn list_or_none<'a, T>(value: Value<'a>, read: impl Fn(Value<'a>) -> Result<T, FieldProblems>) -> Result<Vec<T>, FieldProblems> {
    if value.raw() == "[]" { Ok(Vec::new()) } else { list(value, read) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(more: &str) -> Vec<(String, String)> {
        let body = format!(r#"{{"id": "c", "name": "C", "rail": "simulator", "mode": "sandbox", {more}}}"#);
        let problems = parse_provider(body.as_bytes(), &Rails::built_in()).err().map(Error::into_fields).unwrap_or_default();
        problems.into_iter().map(|problem| (problem.pointer.to_string(), problem.code.to_string())).collect()
    }

    #[test]
    fn a_fee_is_a_plain_decimal_and_zero_is_one() {
        for fine in ["0", "0.00", "\"0\"", "\"0.0001\"", "100"] {
            assert_eq!(refused(&format!(r#""fees": [{{"flat": {fine}, "percent": {fine}}}]"#)), [], "{fine}");
        }
        for wrong in ["\"\"", "\".\"", "\"0.0.0\"", "\"00\"", "-0", "-1", "1e1", "\"0.00001\"", "true"] {
            let found = refused(&format!(r#""fees": [{{"flat": {wrong}, "percent": {wrong}}}]"#));
            let pointers: Vec<_> = found.iter().map(|(pointer, _)| pointer.as_str()).collect();
            assert_eq!(pointers, ["/fees/0/flat", "/fees/0/percent"], "{wrong}");
        }
        assert_eq!(refused(r#""fees": [{"percent": "100.0001"}]"#).len(), 1);
        assert_eq!(refused(r#""fees": [{"refund": "proportional"}, {"refund": "full"}, {"refund": "none"}]"#), []);
        let unknown = refused(r#""fees": [{"refund": "half"}]"#);
        assert_eq!((&*unknown[0].0, &*unknown[0].1), ("/fees/0/refund", "unknown_value"));
    }

    #[test]
    fn settings_and_secrets_may_have_lines() {
        let certificate = r#""-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n""#;
        assert_eq!(refused(&format!(r#""settings": {{"tls_authorities": {certificate}}}, "secrets": {{"tls_key": {certificate}}}"#)), []);
        let wrong = refused(r#""settings": {"a": "\u0000"}, "secrets": {"b": "\u0000"}"#);
        let pointers: Vec<_> = wrong.iter().map(|(pointer, _)| pointer.as_str()).collect();
        assert_eq!(pointers, ["/settings/a", "/secrets/b"]);
    }

    #[test]
    fn an_upper_bound_is_not_below_the_lower_one() {
        let out_of_range = |pointer: &str| [(pointer.to_owned(), "out_of_range".to_owned())];
        assert_eq!(refused(r#""fees": [{"min": 2, "max": "1.99"}]"#), out_of_range("/fees/0/max"));
        assert_eq!(refused(r#""limits": {"EUR": {"min": 2, "max": "1.99"}}"#), out_of_range("/limits/EUR/max"));
        assert_eq!(refused(r#""fees": [{"min": 2, "max": 2}], "limits": {"EUR": {"min": 2, "max": 2}}"#), []);
    }
}
