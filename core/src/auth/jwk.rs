//! Public keys as JSON Web Keys (RFC 7517), parsed strictly.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Algorithm, EphemeralKey, PublicKey, base64url};
use crate::error::Error;
use crate::validate::json::{FieldProblems, Pairs, Value};

/// Members that only private or secret keys have (RFC 7518, section 6; RFC 8037, section 2).
const PRIVATE: [&str; 8] = ["d", "k", "p", "q", "dp", "dq", "qi", "oth"];
const KEY_OPS_MAX: usize = 16;

/// Parses a public key for signatures, P-256 or Ed25519. Members that do not describe the key itself are ignored.
///
/// # Errors
/// [`MalformedJson`](crate::error::ErrorCode::MalformedJson), or
/// [`InvalidFields`](crate::error::ErrorCode::InvalidFields) with everything that is wrong; the pointers start at the key.
pub fn parse_jwk(jwk: &str) -> Result<PublicKey, Error> {
    Ok(read_jwk(Value::parse(jwk)?)?)
}

/// [`parse_jwk`] for a value inside a body.
pub(crate) fn read_jwk(value: Value<'_>) -> Result<PublicKey, FieldProblems> {
    read_jwk_as(value, PublicKey::from_bytes)
}

/// [`read_jwk`] without curve arithmetic: for callers whose own library rejects a point that is not on the curve, as every library
/// does before it verifies.
pub(crate) fn read_unchecked_jwk(value: Value<'_>) -> Result<PublicKey, FieldProblems> {
    read_jwk_as(value, PublicKey::from_stored)
}

/// [`read_jwk`] for a key that goes into a row: see [`PublicKey::of_row`].
#[cfg(feature = "sandbox")]
pub(crate) fn read_jwk_of_row(value: Value<'_>) -> Result<PublicKey, FieldProblems> {
    read_jwk_as(value, PublicKey::of_row)
}

fn read_jwk_as(value: Value<'_>, make: fn(Algorithm, &[u8]) -> Option<PublicKey>) -> Result<PublicKey, FieldProblems> {
    let mut problems = FieldProblems::default();
    let members = Members::read(value, &mut problems)?;
    let key = members.key(make, &mut problems);
    members.check_use(&mut problems);
    problems.into_result(())?;
    key.ok_or_else(|| FieldProblems::one("malformed_key", "is not a public key"))
}

/// A public key with which two sides agree on a secret: P-256 or X25519.
pub(crate) fn read_ephemeral_jwk(value: Value<'_>) -> Result<EphemeralKey, FieldProblems> {
    let mut problems = FieldProblems::default();
    let members = Members::read(value, &mut problems)?;
    let key = members.ephemeral(&mut problems);
    problems.into_result(())?;
    key.ok_or_else(|| FieldProblems::one("malformed_key", "is not a public key"))
}

fn usable<T>(key: Option<T>, curve: &str, problems: &mut FieldProblems) -> Option<T> {
    if key.is_none() {
        problem(problems, "x", "malformed_key", format!("does not belong to a usable point of {curve}"));
    }
    key
}

fn problem(problems: &mut FieldProblems, name: &str, code: &'static str, message: impl Into<String>) {
    problems.add(name, FieldProblems::one(code, message));
}

struct Members<'a>(Pairs<'a>);

impl<'a> Members<'a> {
    fn read(value: Value<'a>, problems: &mut FieldProblems) -> Result<Self, FieldProblems> {
        let mut members = value.members()?;
        let mut seen = BTreeSet::new();
        for (name, _) in &members {
            if !seen.insert(name.as_ref()) {
                problem(problems, name, "duplicate_field", "must not be given twice");
            }
        }
        // `null` counts as absent, as everywhere.
        members.retain(|(_, value)| value.raw() != "null");
        let members = Self(members);
        for name in PRIVATE.into_iter().filter(|name| members.find(name).is_some()) {
            let message = "belongs to a private key, which must never leave its device; this one must now be considered exposed: \
                           make a new key and send its public half";
            problem(problems, name, "private_key_sent", message);
        }
        Ok(members)
    }

    fn find(&self, name: &str) -> Option<Value<'a>> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    fn text(&self, name: &str, problems: &mut FieldProblems) -> Option<Cow<'a, str>> {
        match self.find(name) {
            Some(value) => problems.note(name, value.text()),
            None => problems.note(name, Err(FieldProblems::one("required", "is required"))),
        }
    }

    /// The key, or `None` after recording why there is none.
    fn key(&self, make: fn(Algorithm, &[u8]) -> Option<PublicKey>, problems: &mut FieldProblems) -> Option<PublicKey> {
        let (algorithm, curve, names): (_, _, &[&str]) = match &*self.text("kty", problems)? {
            "EC" => (Algorithm::EcdsaP256Sha256, "P-256", &["ES256"]),
            "OKP" => (Algorithm::Ed25519, "Ed25519", &["EdDSA", "Ed25519"]),
            _ => {
                problem(problems, "kty", "unsupported_key_type", "must be EC (with crv P-256) or OKP (with crv Ed25519)");
                return None;
            }
        };
        self.check_algorithm(names, problems);
        self.check_curve(curve, problems)?;
        let key = match algorithm {
            Algorithm::EcdsaP256Sha256 => make(algorithm, &self.point(problems)?),
            Algorithm::Ed25519 => make(algorithm, &self.coordinate("x", problems)?),
        };
        usable(key, curve, problems)
    }

    /// The ephemeral key, or `None` after recording why there is none.
    fn ephemeral(&self, problems: &mut FieldProblems) -> Option<EphemeralKey> {
        match &*self.text("kty", problems)? {
            "EC" => {
                self.check_curve("P-256", problems)?;
                usable(EphemeralKey::p256(&self.point(problems)?), "P-256", problems)
            }
            "OKP" => {
                self.check_curve("X25519", problems)?;
                self.coordinate("x", problems).map(EphemeralKey::X25519)
            }
            _ => {
                problem(problems, "kty", "unsupported_key_type", "must be EC (with crv P-256) or OKP (with crv X25519)");
                None
            }
        }
    }

    fn check_curve(&self, curve: &str, problems: &mut FieldProblems) -> Option<()> {
        let right = self.text("crv", problems)? == curve;
        if !right {
            problem(problems, "crv", "unsupported_curve", format!("must be {curve} for this kty"));
        }
        right.then_some(())
    }

    /// A point of two coordinates, SEC 1 uncompressed.
    fn point(&self, problems: &mut FieldProblems) -> Option<[u8; 65]> {
        let (x, y) = (self.coordinate("x", problems), self.coordinate("y", problems));
        let mut point = [4; 65];
        point[1..33].copy_from_slice(&x?);
        point[33..].copy_from_slice(&y?);
        Some(point)
    }

    fn coordinate(&self, name: &str, problems: &mut FieldProblems) -> Option<[u8; 32]> {
        let text = self.text(name, problems)?;
        let bytes = base64url(&text);
        if bytes.is_none() {
            problem(problems, name, "malformed_key", "must be 32 bytes in base64url without padding (43 characters)");
        }
        bytes
    }

    fn check_algorithm(&self, names: &[&str], problems: &mut FieldProblems) {
        let Some(value) = self.find("alg") else { return };
        if problems.note("alg", value.text()).is_some_and(|alg| !names.contains(&&*alg)) {
            problem(problems, "alg", "unsupported_algorithm", format!("must be {} for this kty", names.join(" or ")));
        }
    }

    fn check_use(&self, problems: &mut FieldProblems) {
        if let Some(value) = self.find("use")
            && problems.note("use", value.text()).is_some_and(|it| it != "sig")
        {
            problem(problems, "use", "wrong_use", "must be sig");
        }
        if let Some(value) = self.find("key_ops") {
            let verifies = |ops: Vec<Value<'_>>| ops.iter().any(|op| op.text().is_ok_and(|op| op == "verify"));
            if problems.note("key_ops", value.elements(KEY_OPS_MAX)).is_some_and(|ops| !verifies(ops)) {
                problem(problems, "key_ops", "wrong_use", "must contain verify");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The keys of RFC 9421, appendix B.1.3 and B.1.4.
    const X: &str = "qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA";
    const Y: &str = "Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0";
    const EDWARDS: &str = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs";

    fn ec(more: &str) -> String {
        format!(r#"{{"kty":"EC","crv":"P-256","x":"{X}","y":"{Y}"{more}}}"#)
    }

    fn okp(more: &str) -> String {
        format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{EDWARDS}"{more}}}"#)
    }

    #[test]
    fn keys_are_read_whatever_else_is_said_of_them() {
        for more in [
            "",
            r#","kid":"a","ext":true,"x5c":["x"],"x5t":1,"anything":{"d":"x"}"#,
            r#","use":"sig","key_ops":["sign","verify"],"alg":null,"d":null"#,
        ] {
            assert_eq!(parse_jwk(&ec(more)).unwrap().algorithm(), Algorithm::EcdsaP256Sha256, "{more}");
            assert_eq!(parse_jwk(&okp(more)).unwrap().algorithm(), Algorithm::Ed25519, "{more}");
        }
        assert!(parse_jwk(&ec(r#","alg":"ES256""#)).is_ok());
        assert!(parse_jwk(&okp(r#","alg":"EdDSA""#)).is_ok() && parse_jwk(&okp(r#","alg":"Ed25519""#)).is_ok());
        let key = parse_jwk(&ec("")).unwrap();
        assert_eq!(parse_jwk(&key.jwk()).unwrap(), key);
    }

    #[test]
    fn everything_wrong_with_a_key_is_told() {
        let zeros = "A".repeat(43);
        let weak = format!("AQ{}", "A".repeat(41));
        let cases: &[(String, &[(&str, &str)])] = &[
            ("{}".into(), &[("/kty", "required")]),
            ("[]".into(), &[("", "wrong_type")]),
            (r#"{"kty":1}"#.into(), &[("/kty", "wrong_type")]),
            (r#"{"kty":"RSA","n":"AQ","e":"AQAB"}"#.into(), &[("/kty", "unsupported_key_type")]),
            (r#"{"kty":"oct","k":"AQ"}"#.into(), &[("/k", "private_key_sent"), ("/kty", "unsupported_key_type")]),
            (ec(r#","d":"UpuF81l-kOxbjf7T4mNSv0r5tN67Gim7rnf6EFpcYDs""#), &[("/d", "private_key_sent")]),
            (okp(r#","d":7"#), &[("/d", "private_key_sent")]),
            (ec(r#","use":"enc""#), &[("/use", "wrong_use")]),
            (ec(r#","key_ops":["sign"],"use":1"#), &[("/use", "wrong_type"), ("/key_ops", "wrong_use")]),
            (ec(r#","key_ops":[]"#), &[("/key_ops", "too_few")]),
            (ec(r#","alg":"EdDSA""#), &[("/alg", "unsupported_algorithm")]),
            (okp(r#","alg":"ES256""#), &[("/alg", "unsupported_algorithm")]),
            (ec(r#","crv":"P-256""#), &[("/crv", "duplicate_field")]),
            (ec(r#","\u0063rv":"P-256""#), &[("/crv", "duplicate_field")]),
            (ec(r#","other":1,"other":2"#), &[("/other", "duplicate_field")]),
            (ec("").replace("P-256", "P-384"), &[("/crv", "unsupported_curve")]),
            (ec("").replace("P-256", "secp256k1"), &[("/crv", "unsupported_curve")]),
            (okp("").replace("Ed25519", "X25519"), &[("/crv", "unsupported_curve")]),
            (ec("").replace("\"crv\"", "\"curve\""), &[("/crv", "required")]),
            (ec("").replace(X, "").replace(Y, "A"), &[("/x", "malformed_key"), ("/y", "malformed_key")]),
            (ec("").replace(X, &format!("{X}=")), &[("/x", "malformed_key")]),
            (ec("").replace('_', "/"), &[("/x", "malformed_key")]),
            // The last character has two non-zero bits that do not belong to the value.
            (okp("").replace("D0bs", "D0bt"), &[("/x", "malformed_key")]),
            (ec("").replace(Y, X), &[("/x", "malformed_key")]),
            (ec("").replace(X, &zeros).replace(Y, &zeros), &[("/x", "malformed_key")]),
            (okp("").replace(EDWARDS, &zeros), &[("/x", "malformed_key")]),
            (okp("").replace(EDWARDS, &weak), &[("/x", "malformed_key")]),
            (ec("").replace("\"y\"", "\"z\""), &[("/y", "required")]),
        ];
        for (jwk, expected) in cases {
            let error = parse_jwk(jwk).unwrap_err();
            let found: Vec<_> = error.fields.iter().map(|field| (field.pointer.as_str(), &*field.code)).collect();
            assert_eq!(&found, expected, "{jwk}");
            assert!(!format!("{error:?}").contains("UpuF81l"), "a secret is repeated");
        }
        for jwk in ["", "{", "{}x", "\u{feff}{}"] {
            assert_eq!(parse_jwk(jwk).unwrap_err().code, crate::error::ErrorCode::MalformedJson, "{jwk}");
        }
    }
}
