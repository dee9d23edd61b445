//! How two JSON documents differ, place by place. Numbers stay as they were written.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::api::BundleChangeView;
use crate::validate::json::pointer;

/// The most places that are told one by one.
const MOST: usize = 1_000;

/// The places at which two manifests differ, in order.
pub fn changes(before: &str, after: &str) -> Vec<BundleChangeView> {
    let mut changes = Vec::new();
    if let (Ok(before), Ok(after)) = (serde_json::from_str(before), serde_json::from_str(after)) {
        compare("/manifest", Some(before), Some(after), &mut changes);
    }
    changes
}

fn compare(place: &str, before: Option<&RawValue>, after: Option<&RawValue>, changes: &mut Vec<BundleChangeView>) {
    if changes.len() >= MOST {
        return;
    }
    if let (Some(one), Some(other)) = (before, after) {
        if one.get() == other.get() {
            return;
        }
        if let (Some(ones), Some(others)) = (members(one), members(other)) {
            let names: BTreeMap<&String, ()> = ones.keys().chain(others.keys()).map(|name| (name, ())).collect();
            for name in names.into_keys() {
                compare(&format!("{place}{}", pointer(name)), ones.get(name).copied(), others.get(name).copied(), changes);
            }
            return;
        }
        if let (Some(ones), Some(others)) = (elements(one), elements(other)) {
            for n in 0..ones.len().max(others.len()) {
                compare(&format!("{place}/{n}"), ones.get(n).copied(), others.get(n).copied(), changes);
            }
            return;
        }
    }
    let owned = |raw: Option<&RawValue>| raw.map(RawValue::to_owned);
    changes.push(BundleChangeView { pointer: place.to_owned(), before: owned(before), after: owned(after) });
}

fn members(raw: &RawValue) -> Option<BTreeMap<String, &RawValue>> {
    raw.get().starts_with('{').then(|| serde_json::from_str(raw.get()).ok())?
}

fn elements(raw: &RawValue) -> Option<Vec<&RawValue>> {
    raw.get().starts_with('[').then(|| serde_json::from_str(raw.get()).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(before: &str, after: &str) -> Vec<String> {
        let raw = |raw: &Option<Box<RawValue>>| raw.as_ref().map_or("-".to_owned(), |raw| raw.get().to_owned());
        changes(before, after).iter().map(|it| format!("{} {} {}", it.pointer, raw(&it.before), raw(&it.after))).collect()
    }

    #[test]
    fn each_place_is_told_with_what_was_there_and_what_is() {
        assert_eq!(
            shown(r#"{"a": 1.50, "b": [1, 2]}"#, "{\"b\":[1,2],\n \"a\":1.50}"),
            Vec::<String>::new(),
            "order and blanks do not count"
        );
        assert_eq!(shown(r#"{"a": 1.50}"#, r#"{"a": 1.5}"#), ["/manifest/a 1.50 1.5"], "as it is written");
        assert_eq!(shown(r#"{"a": [1, 2]}"#, r#"{"a": [1, 3, {"x": 0}]}"#), ["/manifest/a/1 2 3", "/manifest/a/2 - {\"x\": 0}"]);
        assert_eq!(shown(r#"{"a/b": {"~": 1}}"#, r#"{"a/b": {}}"#), ["/manifest/a~1b/~0 1 -"]);
        assert_eq!(shown(r#"{"a": {"b": 1}}"#, r#"{"a": [1]}"#), [r#"/manifest/a {"b": 1} [1]"#]);
    }
}
