//! What the parts of a manifest make: providers and routes, as an operator would write them, and what is wrong with that.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{TEST_AMOUNT, TestPlan, under_manifest};
use crate::api::{PromisedBody, SecretTexts};
use crate::error::FieldProblem;
use crate::ledger::Mode;
use crate::money::{Amount, Currency, Money};
use crate::participant::Participant;
use crate::rail::Rails;
use crate::route::{Capabilities, ProviderSpec, RouteRule, Serves};
use crate::validate::json::pointer;
use crate::validate::provider::{parse_provider, parse_routes};

/// An endpoint: its address, as sent, and its own settings.
pub(super) type Place<'a> = (&'a str, BTreeMap<String, String>);

/// The parties of a test as sent: who, and how much of which currency.
#[derive(Debug)]
pub(super) struct Parties {
    pub(super) to: Participant,
    pub(super) unknown_to: Option<Participant>,
    pub(super) later_to: Option<Participant>,
    pub(super) amount: Option<Amount>,
    pub(super) currency: Option<Currency>,
}

/// What the parts of a manifest make, and what is wrong with that.
pub(super) struct Made<'a> {
    pub(super) parts: &'a [(&'static str, Option<&'a str>)],
    pub(super) rail: &'a str,
    pub(super) rails: &'a Rails,
    pub(super) settings: &'a BTreeMap<String, String>,
    pub(super) problems: Vec<FieldProblem>,
}

impl Made<'_> {
    /// The provider of an endpoint, as an operator would write it.
    pub(super) fn provider(
        &mut self,
        id: &str,
        mode: Mode,
        (name, (base_url, own)): (&str, &Place<'_>),
        secrets: SecretTexts,
    ) -> Option<ProviderSpec> {
        let mut settings = self.settings.clone();
        settings.extend(own.iter().map(|(name, value)| (name.clone(), value.clone())));
        let mut body = format!(
            r#"{{"id":{},"rail":{},"mode":{},"base_url":{base_url},"settings":{}"#,
            json(id),
            json(self.rail),
            json(mode.as_str()),
            json(&settings)
        );
        if !secrets.0.is_empty() {
            let _ = write!(body, r#","secrets":{}"#, json(&secrets.0));
        }
        for (name, raw) in self.parts {
            if let Some(raw) = raw {
                let _ = write!(body, r#","{name}":{raw}"#);
            }
        }
        body.push('}');
        let body = zeroize::Zeroizing::new(body);
        match parse_provider(body.as_bytes(), self.rails) {
            Ok(request) => Some(request.spec),
            Err(error) => {
                let own_setting = |rest: &str| own.keys().any(|key| pointer(key) == rest);
                for mut problem in error.into_fields() {
                    let place = problem.pointer.as_str();
                    problem.pointer = match (place.strip_prefix("/settings"), place.strip_prefix("/secrets")) {
                        (Some(rest), _) if own_setting(rest) => format!("/manifest/{name}/settings{rest}"),
                        (_, Some(rest)) => format!("/secrets/{name}{rest}"),
                        _ if place == "/base_url" => format!("/manifest/{name}/base_url"),
                        // What is wrong with the name itself is said of the manifest's own.
                        _ => format!("/manifest{place}"),
                    };
                    let is_noted = matches!(problem.pointer.as_str(), "/manifest/id" | "/manifest/rail" | "/manifest/mode")
                        || (problem.code == "required" && problem.pointer == "/manifest/name");
                    self.problems.extend((!is_noted).then_some(problem));
                }
                None
            }
        }
    }

    /// The wishes for routes as entries of the table.
    pub(super) fn wishes(&mut self, wishes: &[String], spec: Option<&ProviderSpec>) -> Option<Vec<RouteRule>> {
        let table = format!(r#"{{"routes":[{}]}}"#, wishes.join(","));
        let rules = match parse_routes(table.as_bytes()) {
            Ok(rules) => rules,
            Err(error) => {
                let fields = error.into_fields().into_iter().map(|mut problem| {
                    problem.pointer = problem.pointer.replacen("/providers/0", "", 1);
                    under_manifest(problem)
                });
                self.problems.extend(fields);
                return None;
            }
        };
        for (n, rule) in rules.iter().enumerate() {
            let served = |pointer: &str, what: &str| {
                FieldProblem::new(
                    format!("/manifest/routes/{n}/{pointer}"),
                    "not_served",
                    format!("must be one of the {what} of the manifest"),
                )
            };
            let Some(spec) = spec else { continue };
            if !spec.namespaces.includes(&rule.namespace) {
                self.problems.push(served("namespace", "namespaces"));
            }
            if rule.currency.is_some_and(|currency| !spec.currencies.includes(&currency)) {
                self.problems.push(served("currency", "currencies"));
            }
        }
        Some(rules)
    }

    /// What is promised must be what the settings say.
    pub(super) fn promises(&mut self, promised: &PromisedBody, has: Capabilities) {
        let all = [
            ("check_payee", promised.check_payee, has.check_payee),
            ("reverse", promised.reverse, has.reverse),
            ("partial_reverse", promised.partial_reverse, has.partial_reverse),
            ("inquiry", promised.inquiry, has.inquiry),
        ];
        for (name, promised, has) in all {
            if promised.is_some_and(|promised| promised != has) {
                let said = format!("the settings of its rail say {has}: make both say the same");
                self.problems.push(FieldProblem::new(format!("/manifest/capabilities/{name}"), "contradicts_settings", said));
            }
        }
    }

    pub(super) fn test(&mut self, parties: &Parties, spec: Option<&ProviderSpec>) -> Option<TestPlan> {
        let mut refuse = |name: &str, code: &'static str, said: String| {
            self.problems.push(FieldProblem::new(format!("/manifest/sandbox/test/{name}"), code, said));
        };
        let first = spec.and_then(|spec| match &spec.currencies {
            Serves::Only(some) => some.first().copied(),
            Serves::All => None,
        });
        if let (Some(spec), Some(currency)) = (spec, parties.currency)
            && !spec.currencies.includes(&currency)
        {
            refuse("currency", "not_served", "must be one of the currencies of the manifest".to_owned());
        }
        let currency = parties.currency.or(first)?;
        let money = match parties.amount {
            None => Money::from_minor(TEST_AMOUNT * 10_i64.pow(u32::from(currency.minor_units())), currency),
            Some(amount) => match amount.to_money(currency) {
                Ok(money) => money,
                Err(error) => {
                    refuse("amount", error.code(), error.to_string());
                    return None;
                }
            },
        };
        if money.minor() < 4 {
            refuse(
                "amount",
                "out_of_range",
                "must be at least four of the smallest units, so that parts of it can be given back".to_owned(),
            );
        }
        let Parties { to, unknown_to, later_to, .. } = parties;
        for (name, who) in [("to", Some(to)), ("unknown_to", unknown_to.as_ref()), ("later_to", later_to.as_ref())] {
            if let (Some(who), Some(spec)) = (who, spec)
                && !spec.namespaces.includes(&who.namespace())
            {
                refuse(name, "not_served", "must be of one of the namespaces of the manifest".to_owned());
            }
        }
        Some(TestPlan { to: to.clone(), unknown_to: unknown_to.clone(), later_to: later_to.clone(), amount: money })
    }
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    // Texts and maps of texts can be written.
    serde_json::to_string(value).unwrap_or_default()
}
