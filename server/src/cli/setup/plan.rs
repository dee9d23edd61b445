//! What a file would change.

use std::collections::BTreeMap;

use railgate::api::{ProviderBody, RoutesBody, TermsBody};
use railgate::engine::{document_of, terms_of};
use railgate::ids::Ulid;
use railgate::validate::terms::TermsRequest;
use serde_json::Value;

use super::file::Given;
use crate::cli::failure::{Done, Failure};
use crate::cli::terminal::{Terminal, Tone};

/// Everything that a file would change.
pub(super) struct Plan(Vec<Change>);

/// What happens to one provider, the table of routes, or the terms of one client.
pub(super) struct Change {
    what: String,
    is_new: bool,
    /// The members that change: the name, the value before, and the value after.
    members: Vec<(String, Option<Value>, Option<Value>)>,
}

impl Plan {
    pub(super) fn of_providers(given: &[Given], before: impl Fn(&str) -> Option<ProviderBody>) -> Done<Self> {
        let changes = given.iter().map(|it| {
            let after = ProviderBody { secrets: it.body.secrets.clone(), ..document_of(&it.spec) };
            Change::of(format!("provider {}", it.spec.id), &before(&it.spec.id), after)
        });
        Ok(Self(changes.collect::<Done<_>>()?))
    }

    pub(super) fn of_terms(given: &[TermsRequest], before: impl Fn(Ulid) -> Option<TermsBody>) -> Done<Self> {
        let changes = given.iter().map(|it| {
            let after = terms_of(it.client, &it.terms);
            Change::of(format!("client {}", after.client), &before(it.client), after)
        });
        Ok(Self(changes.collect::<Done<_>>()?))
    }

    pub(super) fn of_routes(before: &RoutesBody, after: &RoutesBody) -> Done<Self> {
        let entries = |table: &RoutesBody| -> Done<BTreeMap<String, Value>> {
            let each = table.routes.iter().enumerate();
            each.map(|(n, entry)| Ok((format!("entry {:>3}", n + 1), value(entry)?))).collect()
        };
        let members = differing(&entries(before)?, &entries(after)?);
        Ok(Self(vec![Change { what: "the table of routes".to_owned(), is_new: before.routes.is_empty(), members }]))
    }

    pub(super) fn changes(&self) -> impl Iterator<Item = &Change> {
        self.0.iter().filter(|change| !change.members.is_empty())
    }

    pub(super) fn show(&self, terminal: &Terminal) -> Done {
        for change in &self.0 {
            let (tone, mark) = match (change.members.is_empty(), change.is_new) {
                (true, _) => (Tone::Dim, "="),
                (false, true) => (Tone::Good, "+"),
                (false, false) => (Tone::Warn, "~"),
            };
            terminal.line(format_args!("{} {}", terminal.paint(tone, mark), change.what))?;
            for (name, before, after) in &change.members {
                let text = |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
                match (before, change.is_new) {
                    (None, true) => terminal.line(format_args!("    {name}: {}", text(after)))?,
                    (_, _) => terminal.line(format_args!("    {name}: {} → {}", text(before), text(after)))?,
                }
            }
        }
        Ok(())
    }
}

impl Change {
    fn of<T: serde::Serialize>(what: String, before: &Option<T>, after: T) -> Done<Self> {
        let members = differing(&members(before)?, &members(&Some(after))?);
        Ok(Self { what, is_new: before.is_none(), members })
    }

    pub(super) fn shape(&self) -> Value {
        let members =
            self.members.iter().map(|(name, before, after)| serde_json::json!({ "member": name, "before": before, "after": after }));
        serde_json::json!({ "what": self.what, "new": self.is_new, "members": members.collect::<Vec<_>>() })
    }
}

fn value(of: &impl serde::Serialize) -> Done<Value> {
    serde_json::to_value(of).map_err(|error| Failure::caused("cannot compare", error))
}

/// The members of a document. Of a provider's secrets only the names are shown, and they always count as changed.
fn members(body: &Option<impl serde::Serialize>) -> Done<BTreeMap<String, Value>> {
    let mut members: BTreeMap<String, Value> = match value(body)? {
        Value::Object(members) => members.into_iter().collect(),
        _ => BTreeMap::new(),
    };
    if let Some(Value::Object(secrets)) = members.remove("secrets") {
        let names = secrets.keys().map(|name| Value::String(name.clone())).collect();
        members.insert("secrets".to_owned(), Value::Array(names));
    }
    Ok(members)
}

fn differing(before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) -> Vec<(String, Option<Value>, Option<Value>)> {
    let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let pairs = names.into_iter().map(|name| (name.clone(), before.get(name).cloned(), after.get(name).cloned()));
    pairs.filter(|(_, before, after)| before != after).collect()
}
