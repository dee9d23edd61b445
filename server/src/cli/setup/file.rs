//! Files with providers, routes or terms of clients, in TOML or JSON. The same text becomes the same bytes that the operator's interface
//! takes.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;

use railgate::api::{ProviderBody, RoutesBody};
use railgate::engine::table_of;
use railgate::rail::Rails;
use railgate::route::ProviderSpec;
use railgate::validate::provider::{parse_provider, parse_routes};
use railgate::validate::terms::{TermsRequest, parse_terms};
use serde_json::value::RawValue;

use crate::cli::failure::{Done, Failure};

/// A provider in a file: as written, and what it means.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) body: ProviderBody,
    pub(super) spec: ProviderSpec,
}

/// The providers of a file: one, or several under `providers`.
pub(super) fn providers(path: &Path) -> Done<Vec<Given>> {
    let rails = Rails::built_in();
    let mut given: Vec<Given> = Vec::new();
    for (n, text) in several(path, "providers")?.iter().enumerate() {
        let spec = parse_provider(text.as_bytes(), &rails).map_err(|error| faulty(error, "provider", n, path))?.spec;
        let body: ProviderBody = serde_json::from_str(text).map_err(|error| Failure::caused("cannot read a provider", error))?;
        if given.iter().any(|other| other.spec.id == spec.id) {
            return Err(Failure::new(format!("{} has the provider {} twice", path.display(), spec.id)));
        }
        given.push(Given { body, spec });
    }
    Ok(given)
}

/// The terms of a file: those of one client, or of several under `clients`.
pub(super) fn terms(path: &Path) -> Done<Vec<TermsRequest>> {
    let mut given: Vec<TermsRequest> = Vec::new();
    for (n, text) in several(path, "clients")?.iter().enumerate() {
        let request = parse_terms(text.as_bytes()).map_err(|error| faulty(error, "client", n, path))?;
        if given.iter().any(|other| other.client == request.client) {
            return Err(Failure::new(format!("{} has the client cli_{} twice", path.display(), request.client)));
        }
        given.push(request);
    }
    Ok(given)
}

/// The texts of the objects in the list of this name, or of the only object in the file.
fn several(path: &Path, name: &str) -> Done<Vec<String>> {
    let text = json(path)?;
    let listed = serde_json::from_str::<BTreeMap<String, Vec<Box<RawValue>>>>(&text).ok().filter(|members| members.len() == 1);
    Ok(match listed.and_then(|mut members| members.remove(name)) {
        Some(several) => several.into_iter().map(|raw| raw.get().to_owned()).collect(),
        None => vec![text],
    })
}

fn faulty(error: railgate::Error, what: &str, n: usize, path: &Path) -> Failure {
    Failure::from(error).detail(format!("in {what} {} of {}", n + 1, path.display()))
}

/// The table of routes of a file.
pub(super) fn routes(path: &Path) -> Done<RoutesBody> {
    let text = json(path)?;
    let rules = parse_routes(text.as_bytes()).map_err(|error| Failure::from(error).detail(format!("in {}", path.display())))?;
    Ok(table_of(&rules))
}

/// The file's content as JSON.
fn json(path: &Path) -> Done<String> {
    let unreadable = |error: std::io::Error| Failure::new(format!("cannot read {}: {error}", path.display()));
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map_err(unreadable)?;
        return Ok(text);
    }
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    if path.extension().is_some_and(|extension| extension == "json") {
        return Ok(text);
    }
    let document: toml::Table = toml::from_str(&text).map_err(|error| Failure::new(format!("{} is not TOML: {error}", path.display())))?;
    let document = converted(&toml::Value::Table(document), "")?;
    Ok(document.to_string())
}

/// A TOML value as JSON. A number with decimals is refused: it would pass through a float.
fn converted(value: &toml::Value, at: &str) -> Done<serde_json::Value> {
    use serde_json::Value as Json;
    Ok(match value {
        toml::Value::String(text) => Json::String(text.clone()),
        toml::Value::Integer(number) => Json::Number((*number).into()),
        toml::Value::Boolean(flag) => Json::Bool(*flag),
        toml::Value::Array(list) => {
            let each = list.iter().enumerate().map(|(n, value)| converted(value, &format!("{at}/{n}")));
            Json::Array(each.collect::<Done<_>>()?)
        }
        toml::Value::Table(table) => {
            let each = table.iter().map(|(name, value)| Ok((name.clone(), converted(value, &format!("{at}/{name}"))?)));
            Json::Object(each.collect::<Done<_>>()?)
        }
        toml::Value::Float(number) => {
            return Err(Failure::new(format!("{at}: write the number as a text, \"{number}\"")).hint("amounts never pass through a float"));
        }
        toml::Value::Datetime(_) => return Err(Failure::new(format!("{at}: a time has no meaning here"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved(name: &str, text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn toml_and_json_say_the_same() {
        let (_one, toml) = saved(
            "a.toml",
            "[[providers]]\nid = \"c\"\nname = \"C\"\nrail = \"simulator\"\nmode = \"sandbox\"\n\
             limits = { EUR = { max = 500 } }\nfees = [{ flat = \"0.10\" }]\n",
        );
        let (_two, json) = saved(
            "a.json",
            r#"{"id": "c", "name": "C", "rail": "simulator", "mode": "sandbox", "limits": {"EUR": {"max": 500}}, "fees": [{"flat": "0.10"}]}"#,
        );
        assert_eq!(providers(&toml).unwrap()[0].spec, providers(&json).unwrap()[0].spec);
    }

    /// The examples on the pages about rails.
    #[test]
    fn the_pages_about_rails_show_files_that_can_be_applied() {
        let pages = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/rails")).unwrap();
        let mut shown = 0;
        for page in pages.map(|page| page.unwrap().path()).filter(|page| page.extension().is_some_and(|it| it == "md")) {
            let text = std::fs::read_to_string(&page).unwrap();
            for example in text.split("```toml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()) {
                let (_folder, path) = saved("a.toml", example);
                assert!(providers(&path).is_ok_and(|given| !given.is_empty()), "{}", page.display());
                shown += 1;
            }
        }
        assert!(shown > 0);
    }

    #[test]
    fn mistakes_are_named() {
        let refused = |name: &str, text: &str| {
            let (_folder, path) = saved(name, text);
            match providers(&path) {
                Err(Failure::Stopped(reason)) => format!("{} {}", reason.message(), reason.below().collect::<Vec<_>>().join(" ")),
                other => panic!("{other:?}"),
            }
        };
        let whole = "id = \"c\"\nname = \"C\"\nrail = \"simulator\"\nmode = \"sandbox\"\n";
        assert!(refused("a.toml", &format!("{whole}fees = [{{ flat = 0.10 }}]")).contains("/fees/0/flat: write the number as a text"));
        assert!(refused("a.toml", "id = ").contains("is not TOML"));
        assert!(refused("a.json", "[]").contains("must be an object"));
        let twice = format!("[[providers]]\n{whole}[[providers]]\n{whole}");
        assert!(refused("a.toml", &twice).contains("the provider c twice"));
        let unknown = refused("a.toml", &format!("[[providers]]\n{whole}[[providers]]\ncolour = 1"));
        assert!(unknown.contains("/colour") && unknown.contains("in provider 2 of"), "{unknown}");
    }
}
