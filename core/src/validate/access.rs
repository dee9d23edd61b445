//! Parses the bodies of calls about credentials.
//!
//! ```
//! use railgate::auth::{Scope, ScopeSet, Signer as _, SoftwareKey};
//! use railgate::validate::access::{EnrollRequest, parse_enroll, parse_token};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let key = SoftwareKey::ed25519(&[7; 32]).public_key();
//! let body = format!(r#"{{"jwk": {}, "client_name": "Shop"}}"#, key.jwk());
//! assert_eq!(parse_enroll(body.as_bytes())?, EnrollRequest::Sandbox { key, name: "Shop".to_owned(), invitation: None });
//!
//! // A token with fewer scopes than its key has.
//! let scopes = parse_token(br#"{"scope": "settlements:read balances:read"}"#)?;
//! assert_eq!(scopes.scopes, Some(ScopeSet::NONE.with(Scope::SettlementsRead).with(Scope::BalancesRead)));
//! assert!(parse_token(br#"{"scope": "everything"}"#).is_err());
//! # Ok(())
//! # }
//! ```

use super::json::{FieldProblems, Object, Value};
use crate::api::{ChallengeBody, EnrollBody, NewKeyBody, RevokeBody, SessionBody, TokenBody};
use crate::auth::{EphemeralKey, PublicKey, ScopeSet, read_ephemeral_jwk, read_jwk, token_hash};
use crate::error::{Error, excerpt};
use crate::ledger::Mode;
use crate::store::record::Digest32;

/// The most characters of a name.
const LONGEST_NAME: usize = 100;
/// The most characters of an invitation's code.
const LONGEST_INVITATION: usize = 64;

/// A valid request to enrol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnrollRequest {
    /// A new sandbox client.
    Sandbox {
        /// The client's first key.
        key: PublicKey,
        /// The client's name: 1 to 100 printable characters.
        name: String,
        /// The code of an operator's invitation.
        invitation: Option<String>,
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
    /// The owner's label for the key: 1 to 100 printable characters.
    pub label: Option<String>,
    /// The key's scopes; `None` for those of the credential that adds it.
    pub scopes: Option<ScopeSet>,
}

/// Parses `{"jwk", "client_name", "environment"?, "invitation"?}`. With `"environment": "live"`, the name may be omitted,
/// because the client already has one.
///
/// # Errors
/// [`crate::ErrorCode::MalformedJson`], or [`crate::ErrorCode::InvalidFields`] with all problems.
pub fn parse_enroll(body: &[u8]) -> Result<EnrollRequest, Error> {
    let mut body = Object::parse(body, &EnrollBody::FIELDS)?;
    let mode = body.optional("environment", mode);
    let live = mode == Some(Some(Mode::Live));
    let key = body.required("jwk", read_jwk);
    let name = |value: Value<'_>| printable(&value.text()?).map_err(|said| FieldProblems::one("client_name_malformed", said));
    let name = if live { body.optional("client_name", name).map(Option::unwrap_or_default) } else { body.required("client_name", name) };
    let invitation = body.optional("invitation", invitation);
    body.finish(|| {
        let (key, name, invitation) = (key?, name?, invitation?);
        Some(if live { EnrollRequest::Live { key } } else { EnrollRequest::Sandbox { key, name, invitation } })
    })
}

/// Parses `{"jwk", "label"?, "scope"?}`.
///
/// # Errors
/// See [`parse_enroll`].
pub fn parse_new_key(body: &[u8]) -> Result<NewKeyRequest, Error> {
    let mut body = Object::parse(body, &NewKeyBody::FIELDS)?;
    let key = body.required("jwk", read_jwk);
    let label = |value: Value<'_>| printable(&value.text()?).map_err(|said| FieldProblems::one("label_malformed", said));
    let label = body.optional("label", label);
    let scopes = body.optional("scope", scopes);
    body.finish(|| Some(NewKeyRequest { key: key?, label: label?, scopes: scopes? }))
}

/// A valid request for a token.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenRequest {
    /// The token's scopes; `None` for those of the key.
    pub scopes: Option<ScopeSet>,
    /// The client's half of a session, if it wants one.
    pub session: Option<EphemeralKey>,
}

/// Parses `{"scope"?, "session"?: {"jwk"}}`; an empty body is an empty request.
///
/// # Errors
/// See [`parse_enroll`].
pub fn parse_token(body: &[u8]) -> Result<TokenRequest, Error> {
    if body.is_empty() {
        return Ok(TokenRequest::default());
    }
    let mut body = Object::parse(body, &TokenBody::FIELDS)?;
    let scopes = body.optional("scope", scopes);
    let session = body.optional("session", session);
    body.finish(|| Some(TokenRequest { scopes: scopes?, session: session? }))
}

fn session(value: Value<'_>) -> Result<EphemeralKey, FieldProblems> {
    let mut body = value.object(&SessionBody::FIELDS)?;
    let key = body.required("jwk", read_ephemeral_jwk);
    Ok(body.finish(|| key)?)
}

/// Parses `{"token"?}`: returns the hash of the token to revoke, or `None` for the token of the call. Text that is not a gateway's
/// token gets a hash that no token has.
///
/// # Errors
/// See [`parse_enroll`].
pub fn parse_revocation(body: &[u8]) -> Result<Option<Digest32>, Error> {
    if body.is_empty() {
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
    if body.is_empty() {
        return Ok(Mode::Sandbox);
    }
    let mut body = Object::parse(body, &ChallengeBody::FIELDS)?;
    let mode = body.optional("environment", mode);
    body.finish(|| mode).map(|mode| mode.unwrap_or(Mode::Sandbox))
}

/// The text without the spaces around it, if it may be stored as a name: it has 1 to 100 characters, and none that is invisible or
/// controls a terminal or the writing direction, so that no name looks like another one.
///
/// # Errors
/// What a valid text has.
pub fn printable(text: &str) -> Result<String, &'static str> {
    printable_up_to(text, LONGEST_NAME).ok_or("must have 1 to 100 printable characters")
}

/// Like [`printable`], with up to `longest` characters.
pub(crate) fn printable_up_to(text: &str, longest: usize) -> Option<String> {
    let hidden =
        |c: char| c.is_control() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let text = text.trim();
    // Bytes first: a long text is not walked to its end.
    let fits = !text.is_empty() && text.len() <= 4 * longest && text.chars().count() <= longest && !text.chars().any(hidden);
    fits.then(|| text.to_owned())
}

fn invitation(value: Value<'_>) -> Result<String, FieldProblems> {
    let text = value.text()?;
    let known = text.len() <= LONGEST_INVITATION && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if known {
        Ok(text.into_owned())
    } else {
        Err(FieldProblems::one("invitation_malformed", "must be a code as an operator gave it out: inv_…"))
    }
}

pub(super) fn mode(value: Value<'_>) -> Result<Mode, FieldProblems> {
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
    fn texts_that_are_stored_are_short_and_printable() {
        let enroll = |name: &str| parse_enroll(format!(r#"{{"jwk":{KEY},"client_name":{name},"invitation":"inv_7"}}"#).as_bytes());
        let label = |label: &str| parse_new_key(format!(r#"{{"jwk":{KEY},"label":{label}}}"#).as_bytes());
        let (long, whole) = (format!("\"{}\"", "x".repeat(60_000)), format!("\"{}\"", "ü".repeat(100)));
        assert_eq!(codes(enroll(r#""""#).unwrap_err()), "/client_name required");
        assert_eq!(codes(label(r#""""#).unwrap_err()), "/label label_malformed");
        for wrong in [r#"" ""#, r#""a\u202eb""#, &long] {
            assert_eq!(codes(enroll(wrong).unwrap_err()), "/client_name client_name_malformed");
            assert_eq!(codes(label(wrong).unwrap_err()), "/label label_malformed");
        }
        assert_eq!(codes(enroll(r#""a\u0007b""#).unwrap_err()), "/client_name invalid_characters");
        assert!(matches!(enroll(&whole).unwrap(), EnrollRequest::Sandbox { name, .. } if name.chars().count() == 100));
        assert!(matches!(enroll(r#"" Shop ""#).unwrap(), EnrollRequest::Sandbox { name, .. } if name == "Shop"));
        assert_eq!(label(&whole).unwrap().label.map(|label| label.chars().count()), Some(100));
        let wrong = format!(r#"{{"jwk":{KEY},"client_name":"Shop","invitation":{long}}}"#);
        assert_eq!(codes(parse_enroll(wrong.as_bytes()).unwrap_err()), "/invitation invitation_malformed");
    }

    #[test]
    fn bodies_that_may_be_empty_may_be_empty() {
        assert_eq!(parse_token(b"").unwrap(), TokenRequest::default());
        assert_eq!(parse_token(b"{}").unwrap(), TokenRequest::default());
        assert_eq!(parse_token(b" \n").unwrap_err().code, crate::ErrorCode::MalformedJson);
        assert_eq!(parse_revocation(b"").unwrap(), None);
        assert_eq!(parse_challenge(b"").unwrap(), Mode::Sandbox);
        assert_eq!(parse_challenge(br#"{"environment":"live"}"#).unwrap(), Mode::Live);
        assert_eq!(codes(parse_token(br#"{"scope":"settlements:read everything"}"#).unwrap_err()), "/scope scope_unknown");
        assert_eq!(codes(parse_token(br#"{"scope":" "}"#).unwrap_err()), "/scope required");
    }
}
