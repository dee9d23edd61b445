//! The `Content-Digest` field (RFC 9530).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sfv::visitor::{DictionaryVisitor, EntryVisitor, Ignored, InnerListVisitor, ItemVisitor, ParameterVisitor};
use sfv::{BareItemFromInput, KeyRef, Parser};
use sha2::{Digest as _, Sha256, Sha512};

use super::input::{FIELD_MAX_BYTES, Refused};
use crate::error::{Error, ErrorCode};

/// The field value for `body`: `sha-256=:…:`.
pub fn content_digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(body)))
}

/// Checks the field against the body. `sha-256` is required, `sha-512` is checked if present, and digests of other algorithms are
/// ignored.
///
/// # Errors
/// [`ErrorCode::DigestMismatch`]; the detail says whether the field is malformed, lacks `sha-256`, or belongs to another body.
pub fn check_content_digest(field: &str, body: &[u8]) -> Result<(), Error> {
    match digests(field, &Sha256::digest(body))?.sha512 {
        Some(sha512) if sha512[..] != Sha512::digest(body)[..] => Err(mismatch("the sha-512 in Content-Digest is not that of the body")),
        Some(_) | None => Ok(()),
    }
}

/// Checks the field against the SHA-256 of a body that is not in memory. Digests of other algorithms are ignored.
///
/// # Errors
/// [`ErrorCode::DigestMismatch`].
pub fn check_content_sha256(field: &str, sha256: &[u8; 32]) -> Result<(), Error> {
    digests(field, sha256).map(drop)
}

/// The digests in the field, of which that with SHA-256 is this one.
fn digests(field: &str, expected: &[u8]) -> Result<Digests, Error> {
    if field.len() > FIELD_MAX_BYTES {
        return Err(mismatch("Content-Digest is too long"));
    }
    let digests = Parser::new(field)
        .parse_dictionary_with_visitor(Digests::default())
        .map_err(|error| mismatch(format!("Content-Digest is malformed: {error}")))?;
    match &digests.sha256 {
        None => Err(mismatch("Content-Digest must include the sha-256 of the body")),
        Some(sha256) if sha256[..] != *expected => Err(mismatch("the sha-256 in Content-Digest is not that of the body")),
        Some(_) => Ok(digests),
    }
}

fn mismatch(detail: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::with(ErrorCode::DigestMismatch, detail)
}

/// The digests that are checked.
#[derive(Default)]
struct Digests {
    sha256: Option<Vec<u8>>,
    sha512: Option<Vec<u8>>,
}

/// Where to store a digest; `None` if its algorithm is unknown.
struct Slot<'s>(Option<&'s mut Option<Vec<u8>>>);

impl<'de> DictionaryVisitor<'de> for Digests {
    type Out = Self;
    type Error = Refused;

    fn entry(&mut self, key: &'de KeyRef) -> Result<impl EntryVisitor<'de>, Refused> {
        let slot = match key.as_str() {
            "sha-256" => Some(&mut self.sha256),
            "sha-512" => Some(&mut self.sha512),
            _ => None,
        };
        // The second of two would win, but a careless reader may use the first.
        if slot.as_ref().is_some_and(|slot| slot.is_some()) { Err(Refused("a digest is given twice")) } else { Ok(Slot(slot)) }
    }

    fn finish(self) -> Result<Self, Refused> {
        Ok(self)
    }
}

impl<'de> EntryVisitor<'de> for Slot<'_> {
    type Error = Refused;

    fn item(self) -> Result<impl ItemVisitor<'de>, Refused> {
        Ok(self)
    }

    fn inner_list(self) -> Result<impl InnerListVisitor<'de>, Refused> {
        if self.0.is_some() { Err(Refused("a digest must be a byte sequence")) } else { Ok(Ignored) }
    }
}

impl<'de> ItemVisitor<'de> for Slot<'_> {
    type Out = ();
    type Error = Refused;

    fn bare_item(self, item: BareItemFromInput<'de>) -> Result<impl ParameterVisitor<'de, Out = ()>, Refused> {
        match (self.0, item) {
            (Some(slot), BareItemFromInput::ByteSequence(bytes)) => *slot = Some(bytes),
            (Some(_), _) => return Err(Refused("a digest must be a byte sequence")),
            (None, _) => {}
        }
        Ok(Ignored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_is_accepted() {
        // `printf '{"hello": "world"}' | openssl dgst -sha256 -binary | base64`
        let field = content_digest(br#"{"hello": "world"}"#);
        assert_eq!(field, "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:");
        assert!(check_content_digest(&field, br#"{"hello": "world"}"#).is_ok());
        assert!(check_content_digest(&content_digest(b""), b"").is_ok());
    }

    #[test]
    fn several_digests_must_all_fit() {
        let body = br#"{"hello": "world"}"#;
        let sha256 = content_digest(body);
        // From RFC 9421, appendix B.2.
        let sha512 = "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:";
        for good in [
            format!("{sha256}, {sha512}"),
            format!("{sha512},{sha256}"),
            format!("md5=:AA==:, {sha256};q=1, crc=(1 2), x"),
            format!("  {sha256} "),
        ] {
            assert!(check_content_digest(&good, body).is_ok(), "{good}");
        }
        let other = content_digest(b"other");
        let wrong512 = sha512.replace("WZ", "WY");
        let long = format!("{sha256}, x=:{}:", "A".repeat(FIELD_MAX_BYTES));
        for (bad, why) in [
            (other.clone(), "not that of the body"),
            (format!("{sha256}, {wrong512}"), "sha-512 in Content-Digest is not"),
            (format!("{other}, {sha512}"), "sha-256 in Content-Digest is not"),
            (format!("{sha256}, {sha256}"), "twice"),
            (format!("{other}, {sha256}"), "twice"),
            (sha512.to_owned(), "must include the sha-256"),
            (String::new(), "must include the sha-256"),
            ("md5=:AA==:".into(), "must include the sha-256"),
            ("sha-256".into(), "byte sequence"),
            ("sha-256=(:AA==:)".into(), "byte sequence"),
            ("sha-256=\"X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=\"".into(), "byte sequence"),
            ("sha-256=::".into(), "not that of the body"),
            ("SHA-256=:AA==:".into(), "malformed"),
            ("sha-256=:X48E".into(), "malformed"),
            ("sha-256=:é:".into(), "malformed"),
            (format!("{sha256},"), "malformed"),
            (long, "too long"),
        ] {
            let error = check_content_digest(&bad, body).unwrap_err();
            assert_eq!(error.code, ErrorCode::DigestMismatch);
            assert!(error.detail.contains(why), "{bad}: {}", error.detail);
        }
        // Sixteen of the thirty-two bytes are not a digest.
        let short = format!("sha-256=:{}:", STANDARD.encode(&Sha256::digest(body)[..16]));
        assert!(check_content_digest(&short, body).is_err());
    }
}
