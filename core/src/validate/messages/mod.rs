//! What to tell the person who fills in a form, in that person's language.
//!
//! ```
//! use railgate::error::FieldProblem;
//! use railgate::validate::messages::for_payer;
//!
//! let problem = FieldProblem::new("/amount", "amount_scale", "must have at most 2 decimals, zeros included")
//!     .with([("max".to_owned(), "2".to_owned())].into_iter().collect());
//! assert_eq!(for_payer(&problem, "en"), "Enter at most 2 decimals.");
//! assert_eq!(for_payer(&problem, "fr-CM"), "Saisissez au plus 2 décimales.");
//! ```
//!
//! A catalogue is a JSON file: texts by code, or by code and, after a full stop, `nearest`, a hint, a field or a number, of which the
//! first that exists is taken. `{name}` is a value of the problem's `params`. The npm package reads the same files.

use std::collections::BTreeMap;

use crate::error::{FieldProblem, Params};

/// The catalogues, by language. The first one is for all languages that have none.
pub const CATALOGUES: [(&str, &str); 3] =
    [("en", include_str!("en.json")), ("fr", include_str!("fr.json")), ("sw", include_str!("sw.json"))];

/// The key of the text for a problem that has none of its own.
const OTHER: &str = "other";

/// One sentence for the person who fills in the form. `locale` is a BCP 47 tag, of which the language counts.
pub fn for_payer(problem: &FieldProblem, locale: &str) -> String {
    let language = locale.split(['-', '_']).next().unwrap_or_default();
    let known = CATALOGUES.iter().find(|(name, _)| name.eq_ignore_ascii_case(language)).or(CATALOGUES.first());
    let texts: BTreeMap<String, String> = known.and_then(|(_, json)| serde_json::from_str(json).ok()).unwrap_or_default();
    let said = keys(problem).into_iter().find_map(|key| filled(texts.get(&key)?, &problem.params));
    said.or_else(|| texts.get(OTHER).cloned()).unwrap_or_default()
}

/// The keys of a problem's texts, the best first.
fn keys(problem: &FieldProblem) -> Vec<String> {
    let FieldProblem { pointer, code, params, .. } = problem;
    let param = |name: &str| params.get(name);
    let field = pointer.split('/').nth(1);
    let details = [param("nearest").map(|_| "nearest"), param("hint"), field, param("min"), param("max")];
    let detailed = details.into_iter().flatten().map(|detail| [code, ".", detail].concat());
    detailed.chain([code.to_string()]).collect()
}

/// The text with its values; `None` if the problem lacks one.
fn filled(text: &str, params: &Params) -> Option<String> {
    let mut parts = text.split('{');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}')?;
        out.push_str(params.get(name)?);
        out.push_str(rest);
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::{AnyCurrency, parse_create};

    fn catalogue(json: &str) -> BTreeMap<String, String> {
        serde_json::from_str(json).unwrap()
    }

    fn values(text: &str) -> Vec<&str> {
        let mut names: Vec<_> = text.split('{').skip(1).map(|part| part.split_once('}').unwrap().0).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn every_language_says_the_same_with_the_same_values() {
        let english = catalogue(CATALOGUES[0].1);
        for (language, json) in CATALOGUES {
            let texts = catalogue(json);
            assert!(texts.keys().eq(english.keys()), "{language}");
            for (key, text) in &texts {
                assert_eq!(values(text), values(&english[key]), "{language} {key}");
                assert!(text.ends_with(['.', '?']), "{language} {key}");
            }
        }
    }

    #[test]
    fn a_payer_reads_what_to_change() {
        let told = |changes: &str, locale: &str| {
            let body = format!(r#"{{"currency":"EUR","to":"sim:ok","reference":"r",{changes}}}"#);
            for_payer(&parse_create(body.as_bytes(), &AnyCurrency, 0).unwrap_err().fields[0], locale)
        };
        for (changes, english, french) in [
            (r#""amount":"""#, "Enter an amount.", "Saisissez un montant."),
            (r#""amount":"1,50""#, "Enter the amount as 1.50.", "Saisissez le montant ainsi : 1.50."),
            (r#""amount":"€5""#, "Enter the amount as 5.", "Saisissez le montant ainsi : 5."),
            (r#""amount":" 5""#, "Enter the amount as 5.", "Saisissez le montant ainsi : 5."),
            (r#""amount":"1,000""#, "Enter the amount without a comma.", "Saisissez le montant sans virgule."),
            (r#""amount":"1.505""#, "Enter at most 2 decimals.", "Saisissez au plus 2 décimales."),
            (r#""amount":1,"sandbox":7"#, "Check this field.", "Vérifiez ce champ."),
        ] {
            assert_eq!((told(changes, "en-GB"), told(changes, "FR")), (english.to_owned(), french.to_owned()), "{changes}");
        }
        assert_eq!(told(r#""amount":0"#, "sw_TZ"), "Weka kiasi kinachozidi sifuri.");
        assert_eq!(told(r#""amount":0"#, "xx"), "Enter an amount above zero.");
    }
}
