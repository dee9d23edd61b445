//! Parses the bodies of calls about credentials.
//!
//! ```
//! use railgate::auth::{Scope, ScopeSet, Signer as _, SoftwareKey};
//! use railgate::validate::access::{EnrollRequest, parse_enroll, parse_token};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let key = SoftwareKey::ed25519(&[7; 32]).public_key();
//! let body = format!(r#"{{"jwk": {}, "client_name": "Shop"}}"#, key.jwk());
//! assert_eq!(parse_enroll(body.as_bytes())?, EnrollRequest::Sandbox { key, name: "Shop".to_owned() });
//!
//! // A token with fewer scopes than its key has.
//! let scopes = parse_token(br#"{"scope": "settlements:read balances:read"}"#)?;
//! assert_eq!(scopes, Some(ScopeSet::NONE.with(Scope::SettlementsRead).with(Scope::BalancesRead)));
//! assert!(parse_token(br#"{"scope": "everything"}"#).is_err());
//! # Ok(())
//! # }
//! ```

use super::json::{FieldProblems, Object, Value, is_blank};
use crate::api::{ChallengeBody, EnrollBody, NewKeyBody, RevokeBody, TokenBody};
use crate::auth::{PublicKey, ScopeSet, read_jwk, token_hash};
use crate::error::{Error, excerpt};
use crate::ledger::Mode;
use crate::store::record::Digest32;

/// A valid request to enrol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnrollRequest {
    /// A new sandbox client.
    Sandbox {
        /// The client's first key.
        key: PublicKey,
        /// The client's name.
        name: String,
    },
    /// Live access for an existing client.
    Live {
        /// The key that will sign live calls.
        key: PublicKey,
    },
}

/// A valid request to add a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewKeyRequest {
    /// The key to add.
    pub key: PublicKey,
    /// The owner's label for the key.
    pub label: Option<String>,
    /// The key's scopes; `None` for those of the credential that adds it.
    pub scopes: Option<ScopeSet>,
}

/// Parses `{"jwk", "client_name", "environment"?}`. With `"environment": "live"`, the name may be omitted,
/// because the client already has one.
///
/// # Errors
/// [`crate::ErrorCode::MalformedJson`], or [`crate::ErrorCode::InvalidFields`] with all problems.
pub fn parse_enroll(body: &[u8]) -> Result<EnrollRequest, Error> {
    let mut body = Object::parse(body, &EnrollBody::FIELDS)?;
    let mode = body.optional("environment", mode);
    let live = mode == Some(Some(Mode::Live));
    let key = body.required("jwk", read_jwk);
    let name = if live {
        body.optional("client_name", |value| value.text()).map(|_| String::new())
    } else {
        body.required("client_name", |value| value.text()).map(|name| name.into_owned())
    };
    body.finish(|| {
        let (key, name) = (key?, name?);
        Some(if live { EnrollRequest::Live { key } } else { EnrollRequest::Sandbox { key, name } })
    })
}

/// Parses `{"jwk", "label"?, "scope"?}`.
///
/// # Errors
/// See [`parse_enroll`].
pub fn parse_new_key(body: &[u8]) -> Result<NewKeyRequest, Error> {
    let mut body = Object::parse(body, &NewKeyBody::FIELDS)?;
    let key = body.required("jwk", read_jwk);
    let label = body.optional("label", |value| value.text().map(|text| text.into_owned()));
    let scopes = body.optional("scope", scopes);
    body.finish(|| Some(NewKeyRequest { key: key?, label: label?, scopes: scopes? }))
}

/// Parses `{"scope"?}`; an empty body is an empty request.
///
/// # Errors
/// See [`parse_enroll`].
pub fn parse_token(body: &[u8]) -> Result<Option<ScopeSet>, Error> {
    if is_blank(body) {
        return Ok(None);
    }
    let mut body = Object::parse(body, &TokenBody::FIELDS)?;
    let scopes = body.optional("scope", scopes);
    body.finish(|| scopes)
}

/// Parses `{"token"?}`: returns the hash of the token to revoke, or `None` for the token of the call. Text that is not a gateway's
/// token gets a hash that no token has.
///
/// # Errors
/// See [`parse_enroll`].
pub fn parse_revocation(body: &[u8]) -> Result<Option<Digest32>, Error> {
    if is_blank(body) {
        return Ok(None);
    }
    let mut body = Object::parse(body, &RevokeBody::FIELDS)?;
    let token = body.optional("token", |value| value.text().map(|text| token_hash(&text).unwrap_or_default()));
    body.finish(|| token)
}

/// Parses `{"environment"?}`; an empty body means the sandbox.
///
/// # Errors
/// See [`parse_enroll`].
pub fn parse_challenge(body: &[u8]) -> Result<Mode, Error> {
    if is_blank(body) {
        return Ok(Mode::Sandbox);
    }
    let mut body = Object::parse(body, &ChallengeBody::FIELDS)?;
    let mode = body.optional("environment", mode);
    body.finish(|| mode).map(|mode| mode.unwrap_or(Mode::Sandbox))
}

fn mode(value: Value<'_>) -> Result<Mode, FieldProblems> {
    let name = value.text()?;
    let known = Mode::ALL.iter().copied().find(|mode| mode.as_str() == name);
    known.ok_or_else(|| FieldProblems::one("unknown_value", "must be sandbox or live"))
}

fn scopes(value: Value<'_>) -> Result<ScopeSet, FieldProblems> {
    let scopes = ScopeSet::parse(&value.text()?).map_err(|name| {
        let known = ScopeSet::all().to_string();
        FieldProblems::one("scope_unknown", format!("{:?} is not a scope; there are: {known}", excerpt(&name)))
    })?;
    if scopes.is_empty() {
        return Err(FieldProblems::one("required", "must name at least one scope; omit it for all scopes"));
    }
    Ok(scopes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = r#"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

    fn codes(error: Error) -> String {
        error.fields.iter().map(|field| format!("{} {}", field.pointer, field.code)).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn enrolments_name_a_key_and_a_client_or_live() {
        let sandbox = parse_enroll(format!(r#"{{"jwk":{KEY},"client_name":"Shop"}}"#).as_bytes()).unwrap();
        assert!(matches!(sandbox, EnrollRequest::Sandbox { name, .. } if name == "Shop"));
        let live = parse_enroll(format!(r#"{{"jwk":{KEY},"environment":"live"}}"#).as_bytes()).unwrap();
        assert!(matches!(live, EnrollRequest::Live { .. }));
        let all_wrong = parse_enroll(br#"{"environment":"test","client_name":7,"more":1}"#).unwrap_err();
        assert_eq!(codes(all_wrong), "/jwk required, /client_name wrong_type, /environment unknown_value, /more unknown_field");
    }

    #[test]
    fn bodies_that_may_be_empty_may_be_empty() {
        assert_eq!(parse_token(b" \n").unwrap(), None);
        assert_eq!(parse_token(b"{}").unwrap(), None);
        assert_eq!(parse_revocation(b"").unwrap(), None);
        assert_eq!(parse_challenge(b"").unwrap(), Mode::Sandbox);
        assert_eq!(parse_challenge(br#"{"environment":"live"}"#).unwrap(), Mode::Live);
        assert_eq!(codes(parse_token(br#"{"scope":"settlements:read everything"}"#).unwrap_err()), "/scope scope_unknown");
        assert_eq!(codes(parse_token(br#"{"scope":" "}"#).unwrap_err()), "/scope required");
    }
}
