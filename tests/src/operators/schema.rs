//! The published document of an operator's interface (OpenAPI 3.0), against which its requests and replies are held.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Mutex;

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};

use crate::skipped::skipped;

/// A document, with the validators that were needed so far.
pub struct Document {
    root: Value,
    validators: Mutex<HashMap<String, Validator>>,
}

/// The text of a published document among the public test data; `None`, with a message, if it is missing.
///
/// # Panics
/// If that cannot be said.
pub fn published(name: &str) -> Option<String> {
    let folder = std::env::var_os("RAILGATE_VECTORS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/vectors")), PathBuf::from);
    let missing = |error| skipped(&format!("whether all is as {name} says: {error}"));
    std::fs::read_to_string(folder.join(name)).map_err(missing).ok()
}

impl Document {
    /// Reads a document among the public test data; `None`, with a message, if it is missing.
    ///
    /// # Panics
    /// If it is there and cannot be read.
    pub fn read(name: &str) -> Option<Self> {
        let mut root: Value = serde_saphyr::from_str(&published(name)?).unwrap_or_else(|error| panic!("{name}: {error}"));
        let root = json!({"components": as_json_schema(root["components"].take()), "paths": as_json_schema(root["paths"].take())});
        Some(Self { root, validators: Mutex::default() })
    }

    /// Adds to a list at a place of the document what operators do and it forgets.
    ///
    /// # Panics
    /// If there is no list.
    pub fn add(&mut self, pointer: &str, value: &str) {
        self.root.pointer_mut(pointer).and_then(Value::as_array_mut).expect("a list").push(value.into());
    }

    /// Requires a request to be as the document says.
    ///
    /// # Panics
    /// If it is not.
    pub fn check_request(&self, method: &str, path: &str, body: &[u8]) {
        self.check(&format!("{}/requestBody", operation(method, path)), body);
    }

    /// Requires a reply to be as the document says.
    ///
    /// # Panics
    /// If it is not.
    pub fn check_reply(&self, method: &str, path: &str, status: u16, body: &[u8]) {
        self.check(&format!("{}/responses/{status}", operation(method, path)), body);
    }

    /// Requires a body to be as what is at a place of the document says, or to be empty if nothing is said.
    fn check(&self, pointer: &str, body: &[u8]) {
        let mut pointer = pointer.to_owned();
        while let Some(other) = self.root.pointer(&pointer).and_then(|at| at["$ref"].as_str()) {
            pointer = other.trim_start_matches('#').to_owned();
        }
        let said = self.root.pointer(&pointer);
        let schema = format!("{pointer}/content/application~1json/schema");
        if self.root.pointer(&schema).is_none() {
            assert!(said.is_some() || pointer.ends_with("/requestBody"), "the document has no {pointer}");
            return assert!(body.is_empty(), "{pointer} has no body");
        }
        self.hold(schema, &serde_json::from_slice(body).unwrap_or_else(|error| panic!("{pointer}: {error}")));
    }

    /// Requires the body of a callback of an operation, sent to where its request said, to be as the document says.
    ///
    /// # Panics
    /// If it is not.
    pub fn check_callback(&self, path: &str, event: &str, body: &[u8]) {
        let callbacks = format!("{}/callbacks/{event}", operation("POST", path));
        let address = self.root.pointer(&callbacks).and_then(|at| at.as_object()?.keys().next()).expect("a callback");
        self.check(&format!("{callbacks}/{}/put/requestBody", escaped(address)), body);
    }

    /// Requires the value of one of the document's parameters to be as it says.
    ///
    /// # Panics
    /// If it is not.
    pub fn check_parameter(&self, name: &str, value: &str) {
        self.hold(format!("/components/parameters/{name}/schema"), &value.into());
    }

    fn hold(&self, schema: String, value: &Value) {
        let mut validators = self.validators.lock().expect("no panics");
        let validator = validators.entry(schema.clone()).or_insert_with_key(|schema| self.validator(schema));
        let problems: Vec<_> = validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(problems.is_empty(), "{schema}: {problems:#?}\nin {value:#}");
    }

    fn validator(&self, pointer: &str) -> Validator {
        let schema = json!({"allOf": [self.root.pointer(pointer)], "components": self.root["components"]});
        jsonschema::options().with_draft(Draft::Draft4).build(&schema).unwrap_or_else(|error| panic!("{pointer}: {error}"))
    }
}

/// Where an operation is in the document.
fn operation(method: &str, path: &str) -> String {
    format!("/paths/{}/{}", escaped(path), method.to_ascii_lowercase())
}

/// A name as part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A schema of OpenAPI 3.0 as one of JSON Schema draft 4, from which it differs in `nullable` and in examples.
fn as_json_schema(value: Value) -> Value {
    match value {
        Value::Object(mut members) => {
            members.remove("example");
            let nullable = members.remove("nullable") == Some(Value::Bool(true));
            let members: Value = members.into_iter().map(|(name, value)| (name, as_json_schema(value))).collect();
            if nullable { json!({"anyOf": [members, {"type": "null"}]}) } else { members }
        }
        Value::Array(values) => values.into_iter().map(as_json_schema).collect(),
        other => other,
    }
}
