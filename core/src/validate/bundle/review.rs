//! The bodies of what is said and decided about bundles.

use super::super::access::mode;
use super::super::json::{FieldProblems, Object, Value};
use super::super::operator::said;
use super::super::sized;
use super::remark;
use crate::api::{ApproveBundleBody, BundleCommentBody, PublishBundleBody, ReviewBundleBody};
use crate::error::Error;
use crate::ledger::Mode;
use crate::store::record::Digest32;

const REMARK_MAX_CHARS: usize = 2_000;
const POINTER_MAX_CHARS: usize = 256;

/// A comment on a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleComment {
    /// What is said.
    pub comment: String,
    /// The place that it is about; `None` for the whole bundle.
    pub pointer: Option<String>,
}

/// Parses `{"comment"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_bundle_review(body: &[u8]) -> Result<String, Error> {
    let mut body = Object::parse(body, &ReviewBundleBody::FIELDS)?;
    let comment = body.required("comment", comment);
    body.finish(|| comment)
}

/// Parses `{"comment"}`; an empty body has none.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_bundle_remark(body: &[u8]) -> Result<Option<String>, Error> {
    if body.is_empty() { Ok(None) } else { parse_bundle_review(body).map(Some) }
}

/// Parses `{"digest", "comment"}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_bundle_approval(body: &[u8]) -> Result<(Digest32, String), Error> {
    let mut body = Object::parse(body, &ApproveBundleBody::FIELDS)?;
    let digest = body.required("digest", |value| {
        let text = value.text()?;
        let mut digest = [0; 32];
        let read = base16ct::lower::decode(text.as_bytes(), &mut digest).map(<[u8]>::len);
        let fits = read == Ok(32);
        fits.then_some(digest).ok_or_else(|| FieldProblems::one("digest_malformed", "must be the digest of a revision: 64 of 0-9, a-f"))
    });
    let comment = body.required("comment", comment);
    body.finish(|| Some((digest?, comment?)))
}

/// Parses `{"comment", "pointer"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_bundle_comment(body: &[u8]) -> Result<BundleComment, Error> {
    let mut body = Object::parse(body, &BundleCommentBody::FIELDS)?;
    let comment = body.required("comment", comment);
    let pointer = body.optional("pointer", |value| {
        let text = sized(value.text()?, 0, POINTER_MAX_CHARS)?;
        let fits = text.is_empty() || text.starts_with("/manifest") || text.starts_with("/documents") || text.starts_with("/secrets");
        let said = "must be a pointer into the bundle, such as /manifest/limits/KES/max";
        if fits { Ok(text) } else { Err(FieldProblems::one("pointer_malformed", said)) }
    });
    body.finish(|| Some(BundleComment { comment: comment?, pointer: pointer? }))
}

/// Parses `{"mode", "reason", "routes"?}`.
///
/// # Errors
/// `malformed_json`, `invalid_fields`.
pub fn parse_bundle_publication(body: &[u8]) -> Result<(Mode, bool, String), Error> {
    let mut body = Object::parse(body, &PublishBundleBody::FIELDS)?;
    let mode = body.required("mode", mode);
    let reason = body.required("reason", said);
    let routes = body.optional("routes", Value::boolean);
    body.finish(|| Some((mode?, routes?.unwrap_or(true), reason?)))
}

fn comment(value: Value<'_>) -> Result<String, FieldProblems> {
    remark(value, REMARK_MAX_CHARS)
}
