//! Bundles: a partner's description of a provider. Its manifest is held against the rules of providers and routes, so that what is accepted
//! here can be published.
//!
//! ```
//! use railgate::rail::Rails;
//! use railgate::validate::bundle::{parse_bundle, parse_manifest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let body = br#"{"manifest": {"id": "acme", "version": "1.0.0", "name": "Acme Pay", "rail": "adapter", "namespaces": ["msisdn"],
//!     "currencies": ["KES"], "contacts": [{"role": "technical", "email": "pay@acme.example"}],
//!     "sandbox": {"base_url": "https://sandbox.acme.example", "test": {"to": "msisdn:+254700000001"}}}}"#;
//! let content = parse_bundle(body)?;
//! let manifest = parse_manifest(&content.manifest, &content.secrets.unwrap_or_default(), &Rails::built_in())?;
//! assert_eq!((manifest.sandbox.id.as_str(), manifest.test.amount.decimal().as_str()), ("acme-sandbox", "10.00"));
//! assert!(manifest.live.is_none());
//! # Ok(())
//! # }
//! ```
//!
//! Pointers lead into the whole bundle: `/manifest/…`, `/secrets/…`, `/documents/…`.

mod archive;
mod made;
mod review;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::access::{printable, printable_up_to};
use super::json::{FieldProblems, Object, Value};
use super::provider::{integer, list, list_or_none, rail};
use super::simulator::one_of;
use super::{amount, currency, pairs, participant, provider as provider_id, sized};
use crate::api::{
    BundleBody, BundleSecretsBody, ContactBody, DocumentBody, LivePlaceBody, ManifestBody, PromisedBody, SandboxPlaceBody, SecretTexts,
    TestPartiesBody, WishBody,
};
use crate::error::{Error, FieldProblem, PROBLEMS_MAX};
use crate::ledger::Mode;
use crate::money::Money;
use crate::participant::Participant;
use crate::rail::Rails;
use crate::route::{ProviderSpec, RouteRule};

pub use archive::{ZIP, pack_bundle, unpack_bundle};
use made::{Made, Parties, Place};
pub use review::{
    BundleComment, parse_bundle_approval, parse_bundle_comment, parse_bundle_publication, parse_bundle_remark, parse_bundle_review,
};

/// The largest bundle, in bytes: as it is sent, and as it is kept.
pub const BUNDLE_MAX_BYTES: usize = 10 * 1024 * 1024;
/// The largest manifest, in bytes.
pub const MANIFEST_MAX_BYTES: usize = 64 * 1024;
/// The most documents of a bundle.
pub const DOCUMENTS_MAX: usize = 20;
/// The rails whose providers partners can describe.
pub const BUNDLE_RAILS: [&str; 2] = ["adapter", "gsma"];
/// The roles of contacts.
pub const CONTACT_ROLES: [&str; 3] = ["technical", "operations", "compliance"];
/// The endings of the names of documents, with the types that they stand for.
pub const DOCUMENT_TYPES: [(&str, &str); 8] = [
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("txt", "text/plain; charset=utf-8"),
    ("md", "text/markdown; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("json", "application/json"),
];
/// What the id of a provider in the sandbox ends with.
pub const SANDBOX_SUFFIX: &str = "-sandbox";

const ID_MAX_CHARS: usize = 56;
const DOCUMENT_NAME_MAX_CHARS: usize = 100;
const EMAIL_MAX_CHARS: usize = 254;
const SETTING_MAX_CHARS: usize = 16_384;
const WISHES_MAX: usize = 50;
const CONTACTS_MAX: usize = 10;
const PRIORITY: u64 = 100;
/// So many units of the currency are paid in a test, unless the manifest says.
const TEST_AMOUNT: i64 = 10;

/// The content of a bundle, as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BundleContent {
    /// The manifest: JSON.
    pub manifest: String,
    /// The secrets; `None` for those that it has.
    pub secrets: Option<BundleSecretsBody>,
    /// The documents.
    pub documents: Vec<BundleDocument>,
}

/// A document of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleDocument {
    /// The name of the file.
    pub name: String,
    /// The bytes.
    pub content: Vec<u8>,
}

/// A valid manifest.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The id of the provider, without the suffix of the sandbox.
    pub id: String,
    /// Its version.
    pub version: String,
    /// The provider in the sandbox, with its secrets.
    pub sandbox: ProviderSpec,
    /// The live provider, with its secrets.
    pub live: Option<ProviderSpec>,
    /// The routes that it would like to have, in the sandbox.
    pub wishes: Vec<RouteRule>,
    /// How the sandbox endpoint is tested.
    pub test: TestPlan,
}

/// Whom a test pays, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestPlan {
    /// Somebody who is paid at once, or soon.
    pub to: Participant,
    /// Somebody whom it does not know.
    pub unknown_to: Option<Participant>,
    /// Somebody who is paid later.
    pub later_to: Option<Participant>,
    /// How much each time.
    pub amount: Money,
}

impl Manifest {
    /// The provider in this mode.
    pub fn provider(&self, mode: Mode) -> Option<&ProviderSpec> {
        match mode {
            Mode::Sandbox => Some(&self.sandbox),
            Mode::Live => self.live.as_ref(),
        }
    }

    /// The wishes for routes in this mode.
    pub fn wishes(&self, mode: Mode) -> impl Iterator<Item = RouteRule> {
        let id = self.provider(mode).map(|provider| provider.id.clone()).unwrap_or_default();
        self.wishes.iter().cloned().map(move |mut rule| {
            rule.mode = mode;
            rule.providers.iter_mut().for_each(|choice| choice.id.clone_from(&id));
            rule
        })
    }
}

/// Parses a bundle that was sent as JSON. Its manifest is only taken out: see [`parse_manifest`].
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_bundle(body: &[u8]) -> Result<BundleContent, Error> {
    let mut body = Object::parse(body, &BundleBody::FIELDS)?;
    let manifest = body.required("manifest", |value| Ok(value.raw().to_owned()));
    let secrets = body.optional("secrets", secrets);
    let documents = body.optional("documents", |value| if value.raw() == "[]" { Ok(Vec::new()) } else { documents(value) });
    body.finish(|| Some(BundleContent { manifest: manifest?, secrets: secrets?, documents: documents?.unwrap_or_default() }))
}

/// Parses the secrets of a bundle.
///
/// # Errors
/// `malformed_json`, `invalid_fields`, with pointers into the bundle.
pub fn parse_bundle_secrets(body: &[u8]) -> Result<BundleSecretsBody, Error> {
    let text = std::str::from_utf8(body).map_err(|_| Error::field("/secrets", "malformed_json", "must be UTF-8"))?;
    let mut problems = FieldProblems::default();
    match problems.note("secrets", secrets(Value::parse(text)?)) {
        Some(read) => Ok(read),
        None => Err(problems.into()),
    }
}

fn secrets(value: Value<'_>) -> Result<BundleSecretsBody, FieldProblems> {
    let mut body = value.object(&BundleSecretsBody::FIELDS)?;
    let mut of = |name| body.optional(name, |value| pairs(value, SETTING_MAX_CHARS, Value::lines).map(SecretTexts));
    let (sandbox, live) = (of("sandbox"), of("live"));
    Ok(body.finish(|| Some(BundleSecretsBody { sandbox: sandbox?, live: live? }))?)
}

fn documents(value: Value<'_>) -> Result<Vec<BundleDocument>, FieldProblems> {
    let (mut problems, mut found) = (FieldProblems::default(), Vec::new());
    for (n, value) in value.elements(DOCUMENTS_MAX)?.into_iter().enumerate() {
        found.extend(problems.note(&n.to_string(), document(value)));
    }
    problems.into_result(found)
}

fn document(value: Value<'_>) -> Result<BundleDocument, FieldProblems> {
    let mut body = value.object(&DocumentBody::FIELDS)?;
    let name = body.required("name", |value| Ok(value.text()?.into_owned()));
    let content = body.required("content", |value| {
        STANDARD.decode(value.text()?.as_bytes()).map_err(|_| FieldProblems::one("content_malformed", "must be base64, with padding"))
    });
    Ok(body.finish(|| Some(BundleDocument { name: name?, content: content? }))?)
}

/// The type of a document, from the ending of its name.
pub fn document_type(name: &str) -> Option<&'static str> {
    let (_, ending) = name.rsplit_once('.')?;
    DOCUMENT_TYPES.iter().find(|(known, _)| *known == ending).map(|(_, media_type)| *media_type)
}

/// Whether a document begins as one of its type does; texts are UTF-8.
fn is_what_it_says(name: &str, content: &[u8]) -> bool {
    match document_type(name) {
        Some("application/pdf") => content.starts_with(b"%PDF-"),
        Some("image/png") => content.starts_with(b"\x89PNG\r\n\x1a\n"),
        Some("image/jpeg") => content.starts_with(b"\xff\xd8\xff"),
        Some(_) => std::str::from_utf8(content).is_ok_and(|text| !text.contains('\0')),
        None => false,
    }
}

impl BundleContent {
    /// What is wrong with the sizes and the documents; a name may occur once.
    pub fn problems(&self) -> Vec<FieldProblem> {
        let mut problems = Vec::new();
        let mut refuse = |place: String, code: &'static str, said: &str| problems.push(FieldProblem::new(place, code, said.to_owned()));
        if self.manifest.len() > MANIFEST_MAX_BYTES {
            refuse("/manifest".to_owned(), "too_long", "must have at most 64 KiB");
        }
        if self.documents.len() > DOCUMENTS_MAX {
            refuse("/documents".to_owned(), "too_many", "must have at most 20 elements");
        }
        for (n, document) in self.documents.iter().enumerate() {
            let name = &document.name;
            let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b' ');
            let fits = name.len() <= DOCUMENT_NAME_MAX_CHARS && name.bytes().all(plain);
            let begins = name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric) && !name.contains("..");
            if !fits || !begins || document_type(name).is_none() {
                let said = "must be a plain file name of at most 100 characters that ends in .pdf, .png, .jpg, .txt, .md, .csv or .json";
                refuse(format!("/documents/{n}/name"), "name_malformed", said);
            } else if matches!(name.as_str(), MANIFEST | SECRETS) {
                refuse(format!("/documents/{n}/name"), "reserved", "is the name of another part of a bundle");
            } else if self.documents[..n].iter().any(|other| other.name.eq_ignore_ascii_case(name)) {
                refuse(format!("/documents/{n}/name"), "duplicate_name", "is the name of another document");
            } else if !is_what_it_says(name, &document.content) {
                refuse(format!("/documents/{n}/content"), "content_mismatch", "is not what the ending of the name says");
            }
        }
        if self.bytes() > BUNDLE_MAX_BYTES {
            refuse(String::new(), "too_long", "must have at most 10 MiB");
        }
        problems
    }

    /// How many bytes are kept of it.
    pub fn bytes(&self) -> usize {
        self.manifest.len() + self.documents.iter().map(|document| document.content.len()).sum::<usize>()
    }
}

/// The name of the manifest among the files of a bundle.
pub const MANIFEST: &str = "manifest.json";
/// The name of the secrets among the files of a bundle.
pub const SECRETS: &str = "secrets.json";

/// Parses a manifest.
///
/// # Errors
/// `malformed_json`, `invalid_fields` with all problems.
pub fn parse_manifest(text: &str, secrets: &BundleSecretsBody, rails: &Rails) -> Result<Manifest, Error> {
    let mut body = Object::parse(text.as_bytes(), &ManifestBody::FIELDS).map_err(in_manifest)?;
    let id = body.required("id", |value| {
        let id = provider_id(value)?;
        if id.len() <= ID_MAX_CHARS { Ok(id) } else { Err(FieldProblems::one("too_long", "must have at most 56 characters")) }
    });
    let version = body.required("version", version);
    let rail = body.required("rail", |value| {
        let at = one_of(value, &mut BUNDLE_RAILS.into_iter())?;
        rail(value, rails).map(|_| BUNDLE_RAILS[at])
    });
    let contacts = body.required("contacts", |value| {
        value.elements(CONTACTS_MAX)?;
        list(value, contact)
    });
    let settings = body.optional("settings", own_settings);
    let sandbox = body.required("sandbox", sandbox_place);
    let live = body.optional("live", live_place);
    let promised = body.optional("capabilities", promised);
    let mut parts = vec![("name", body.required("name", raw)), ("namespaces", body.required("namespaces", raw))];
    parts.push(("currencies", body.required("currencies", raw)));
    for name in ["countries", "limits", "fees", "timeouts"] {
        parts.push((name, body.optional(name, raw).flatten()));
    }
    let wishes = body.optional("routes", |value| {
        if value.raw() != "[]" {
            value.elements(WISHES_MAX)?;
        }
        list_or_none(value, wish)
    });
    let (id_of, settings_of) = (id.clone().unwrap_or_else(|| "x".to_owned()), settings.clone().flatten().unwrap_or_default());
    let mut made = Made { parts: &parts, rail: rail.unwrap_or("adapter"), rails, settings: &settings_of, problems: Vec::new() };
    let test_spec = sandbox.as_ref().and_then(|place| {
        let given = secrets.sandbox.clone().unwrap_or_default();
        made.provider(&format!("{id_of}{SANDBOX_SUFFIX}"), Mode::Sandbox, ("sandbox", &place.0), given)
    });
    let live_spec = live.as_ref().and_then(|live| live.as_ref()).and_then(|place| {
        let given = secrets.live.clone().unwrap_or_default();
        made.provider(&id_of, Mode::Live, ("live", place), given)
    });
    if live == Some(None) && secrets.live.as_ref().is_some_and(|secrets| !secrets.0.is_empty()) {
        made.problems.push(FieldProblem::new("/secrets/live", "no_endpoint", "the manifest has no live endpoint"));
    }
    let rules = wishes.as_ref().and_then(|wishes| made.wishes(wishes.as_deref().unwrap_or_default(), test_spec.as_ref()));
    if let (Some(Some(promised)), Some(spec)) = (&promised, &test_spec) {
        made.promises(promised, spec.capabilities);
    }
    let test = sandbox.as_ref().and_then(|(_, test)| made.test(test, test_spec.as_ref()));
    let problems = made.problems;
    let read = body.finish(|| {
        contacts?;
        Some((id?, version?))
    });
    let mut all = match &read {
        Ok(_) => Vec::new(),
        Err(error) => error.fields.iter().cloned().map(under_manifest).collect(),
    };
    // A setting that both endpoints share is wrong once.
    all.extend(problems);
    let mut seen = std::collections::HashSet::new();
    all.retain(|problem: &FieldProblem| seen.insert((problem.pointer.clone(), problem.code.clone())));
    all.truncate(PROBLEMS_MAX);
    if !all.is_empty() {
        return Err(Error::invalid(all));
    }
    let (id, version) = read?;
    let whole = test_spec.zip(rules).zip(test).ok_or_else(|| Error::internal("a part of a manifest was refused and no problem noted"));
    let ((sandbox, wishes), test) = whole?;
    Ok(Manifest { id, version, sandbox, live: live_spec, wishes, test })
}

fn in_manifest(mut error: Error) -> Error {
    let fields = std::mem::take(&mut error.fields);
    error.fields = fields.into_iter().map(under_manifest).collect();
    error
}

fn under_manifest(problem: FieldProblem) -> FieldProblem {
    FieldProblem { pointer: format!("/manifest{}", problem.pointer), ..problem }
}

/// A value as it was sent, to be read with others.
fn raw(value: Value<'_>) -> Result<&str, FieldProblems> {
    Ok(value.raw())
}

fn version(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    let number = |part: &str| (1..=5).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let fits = text.split('.').count() == 3 && text.split('.').all(number);
    if fits { Ok(text.into_owned()) } else { Err(FieldProblems::one("version_malformed", "must be three numbers, such as 1.0.0")) }
}

fn contact(value: Value<'_>) -> Result<(), FieldProblems> {
    let mut body = value.object(&ContactBody::FIELDS)?;
    let role = body.required("role", |value| one_of(value, &mut CONTACT_ROLES.into_iter()));
    let email = body.required("email", |value| {
        let text = sized(value.text()?, 3, EMAIL_MAX_CHARS)?;
        let (name, host) = text.split_once('@').unwrap_or_default();
        let fits = !name.is_empty() && !host.is_empty() && !host.contains('@') && text.bytes().all(|b| b.is_ascii_graphic());
        if fits { Ok(()) } else { Err(FieldProblems::one("email_malformed", "must be an e-mail address")) }
    });
    let name =
        body.optional("name", |value| printable(&value.text()?).map(drop).map_err(|said| FieldProblems::one("name_malformed", said)));
    Ok(body.finish(|| {
        role?;
        email?;
        name.map(drop)
    })?)
}

fn own_settings(value: Value<'_>) -> Result<BTreeMap<String, String>, FieldProblems> {
    pairs(value, SETTING_MAX_CHARS, Value::lines)
}

fn sandbox_place(value: Value<'_>) -> Result<(Place<'_>, Parties), FieldProblems> {
    let mut body = value.object(&SandboxPlaceBody::FIELDS)?;
    let base_url = body.required("base_url", |value| Ok(value.raw()));
    let settings = body.optional("settings", own_settings);
    let test = body.required("test", parties);
    Ok(body.finish(|| Some(((base_url?, settings?.unwrap_or_default()), test?)))?)
}

fn live_place(value: Value<'_>) -> Result<Place<'_>, FieldProblems> {
    let mut body = value.object(&LivePlaceBody::FIELDS)?;
    let base_url = body.required("base_url", |value| Ok(value.raw()));
    let settings = body.optional("settings", own_settings);
    Ok(body.finish(|| Some((base_url?, settings?.unwrap_or_default())))?)
}

fn parties(value: Value<'_>) -> Result<Parties, FieldProblems> {
    let mut body = value.object(&TestPartiesBody::FIELDS)?;
    let to = body.required("to", participant);
    let (unknown_to, later_to) = (body.optional("unknown_to", participant), body.optional("later_to", participant));
    let amount = body.optional("amount", amount);
    let currency = body.optional("currency", currency);
    Ok(body.finish(|| Some(Parties { to: to?, unknown_to: unknown_to?, later_to: later_to?, amount: amount?, currency: currency? }))?)
}

fn promised(value: Value<'_>) -> Result<PromisedBody, FieldProblems> {
    let mut body = value.object(&PromisedBody::FIELDS)?;
    let mut flag = |name| body.optional(name, Value::boolean);
    let (check_payee, reverse, partial_reverse, inquiry) = (flag("check_payee"), flag("reverse"), flag("partial_reverse"), flag("inquiry"));
    Ok(body.finish(|| {
        Some(PromisedBody { check_payee: check_payee?, reverse: reverse?, partial_reverse: partial_reverse?, inquiry: inquiry? })
    })?)
}

/// A wish for a route, as an entry of the table that names nobody yet.
fn wish(value: Value<'_>) -> Result<String, FieldProblems> {
    let mut body = value.object(&WishBody::FIELDS)?;
    let namespace = body.required("namespace", |value| Ok(value.raw()));
    let mut entry = format!(r#"{{"mode":"sandbox","namespace":{}"#, namespace.unwrap_or("null"));
    for name in ["prefix", "currency", "min", "max"] {
        if let Some(Some(raw)) = body.optional(name, |value| Ok(value.raw())) {
            let _ = write!(entry, r#","{name}":{raw}"#);
        }
    }
    let mut number = |name| body.optional(name, |value| integer(value, 1_000_000));
    let (priority, weight) = (number("priority"), number("weight"));
    let priority_of = priority.flatten().unwrap_or(PRIORITY);
    let _ = write!(entry, r#","providers":[{{"id":"wished","priority":{priority_of},"weight":{}}}]}}"#, weight.flatten().unwrap_or(1));
    Ok(body.finish(|| {
        namespace?;
        priority?;
        weight?;
        Some(entry)
    })?)
}

/// A remark of at most so many characters, which may have lines.
fn remark(value: Value<'_>, longest: usize) -> Result<String, FieldProblems> {
    let text = value.lines()?;
    let lines: Option<Vec<String>> = text
        .trim()
        .split('\n')
        .map(|line| if line.trim().is_empty() { Some(String::new()) } else { printable_up_to(&line.replace('\t', " "), longest) })
        .collect();
    let text = lines.map(|lines| lines.join("\n")).filter(|text| !text.is_empty() && text.chars().count() <= longest);
    text.ok_or_else(|| FieldProblems::one("comment_malformed", format!("must have 1 to {longest} printable characters")))
}
