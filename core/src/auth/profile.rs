//! What railgate requires of a signature (its RFC 9421 profile).

use smol_str::SmolStr;

use super::input::{SignatureInput, invalid, signature_bytes};
use super::{Algorithm, KeyId, Message, PublicKey, SESSION_ALGORITHM, SessionId, SessionKey, Verify};
use crate::error::{Error, ErrorCode};
use crate::time::{Millis, rfc3339};

/// The tag of the signature on every call.
pub const TAG: &str = "railgate";
/// The tag of the second signature, made by a key that is being added.
pub const TAG_NEW_KEY: &str = "railgate-newkey";
/// The tag of the gateway's own signature on what it sends to operators.
pub const TAG_RAIL: &str = "railgate-rail";
/// How far a signature's time may differ from the gateway's, in seconds, in either direction.
pub const SKEW_S: i64 = 300;

/// Fields that must be covered if the message has them.
pub(super) const COVERED_FIELDS: [&str; 4] = ["authorization", "content-type", "content-digest", "idempotency-key"];
/// A field that our signers cover besides, if the message has it: without it, a change is made whatever has been changed before.
pub(super) const CONDITION: &str = "if-match";

/// A well-formed signature that matches the profile, not verified yet.
#[derive(Debug, Clone)]
pub struct Signed {
    /// What allegedly made it.
    pub by: By,
    /// When it was allegedly made, in seconds since 1970.
    pub created: i64,
    /// Its nonce, unchecked.
    pub nonce: SmolStr,
    input: SignatureInput,
}

/// What allegedly made a signature, and the signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// A key.
    Key {
        /// The key's thumbprint.
        id: KeyId,
        /// The algorithm.
        algorithm: Algorithm,
        /// `r‖s` for P-256, RFC 8032 for Ed25519.
        signature: [u8; 64],
    },
    /// The key of a session.
    Session {
        /// The session's id.
        id: SessionId,
        /// The HMAC-SHA256.
        code: [u8; 32],
    },
}

/// Finds the only signature with the tag `tag`. Signatures with other tags are ignored.
///
/// # Errors
/// [`ErrorCode::SignatureMissing`] if there is none, and [`ErrorCode::SignatureInvalid`] if there are two, or if it lacks something
/// that the profile requires; the detail names it.
pub fn find_signature(message: &Message<'_>, tag: &str) -> Result<Signed, Error> {
    let missing = || Error::with(ErrorCode::SignatureMissing, format!("the call carries no signature with the tag {tag}"));
    let field = message.combined("signature-input")?.ok_or_else(missing)?;
    let mut tagged = SignatureInput::parse_field(&field)?.into_iter().filter(|input| input.tag() == Some(tag));
    let input = tagged.next().ok_or_else(missing)?;
    if tagged.next().is_some() {
        return Err(invalid(format!("the call carries more than one signature with the tag {tag}")));
    }
    let field = message.combined("signature")?.ok_or_else(|| invalid("Signature-Input is present, but Signature is missing"))?;
    Signed::read(input, &field)
}

impl Signed {
    fn read(mut input: SignatureInput, signature: &str) -> Result<Self, Error> {
        if let Some(name) = input.wrong_parameter {
            return Err(invalid(format!("the signature's {name} is given twice or has the wrong type")));
        }
        let lacks = |name| move || invalid(format!("the signature lacks the parameter {name}"));
        let (key_id, algorithm) = (input.keyid().ok_or_else(lacks("keyid"))?, input.alg().ok_or_else(lacks("alg"))?);
        let bytes = || signature_bytes(signature, input.label());
        let by = if algorithm == SESSION_ALGORITHM {
            let id = SessionId::parse(key_id).ok_or_else(|| invalid("the keyid of an hmac-sha256 signature is not a session's, ses_…"))?;
            By::Session { id, code: sized(bytes()?)? }
        } else {
            let id = KeyId::parse(key_id).ok_or_else(|| invalid("the signature's keyid is not an RFC 7638 thumbprint in base64url"))?;
            let algorithm = Algorithm::from_name(algorithm)
                .ok_or_else(|| invalid("the signature's alg is none of ecdsa-p256-sha256, ed25519 and hmac-sha256"))?;
            By::Key { id, algorithm, signature: sized(bytes()?)? }
        };
        let created = input.created().ok_or_else(lacks("created"))?;
        let nonce = input.take_nonce().filter(|nonce| !nonce.is_empty()).ok_or_else(lacks("nonce"))?;
        Ok(Self { by, created, nonce, input })
    }

    /// The key that allegedly made it.
    ///
    /// # Errors
    /// `signature_key_required` for the signature of a session.
    pub fn key_id(&self) -> Result<KeyId, Error> {
        match self.by {
            By::Key { id, .. } => Ok(id),
            By::Session { .. } => Err(key_required("the key itself must sign this call, not a session")),
        }
    }

    /// Checks that all important parts are signed: the method and the target URI; the token, content type, digest and idempotency
    /// key if the message has them; and that a body has a digest. More may be signed.
    ///
    /// # Errors
    /// [`ErrorCode::SignatureInvalid`]; the detail names what is not covered.
    pub fn check_coverage(&self, message: &Message<'_>, has_body: bool) -> Result<(), Error> {
        if has_body && !self.input.covers("content-digest") {
            return Err(invalid("the signature must cover content-digest: a body that is not covered is refused"));
        }
        let present = COVERED_FIELDS.into_iter().filter(|name| message.has(name));
        match ["@method", "@target-uri"].into_iter().chain(present).find(|name| !self.input.covers(name)) {
            Some(name) => Err(invalid(format!("the signature must cover {name}"))),
            None => Ok(()),
        }
    }

    /// Checks that the signature was made within [`SKEW_S`] of `now` and has not expired.
    ///
    /// # Errors
    /// [`ErrorCode::ClockSkew`]; the detail contains both times.
    pub fn check_created(&self, now: Millis) -> Result<(), Error> {
        let created = self.created.saturating_mul(1000);
        if now.saturating_sub(created).saturating_abs() > SKEW_S * 1000 {
            let (created, now) = (rfc3339(created), rfc3339(now));
            let detail = format!("the signature was made at {created}, but it is {now}; they may differ by at most {SKEW_S} seconds");
            return Err(Error::with(ErrorCode::ClockSkew, detail));
        }
        match self.input.expires().map(|expires| expires.saturating_mul(1000)) {
            Some(expires) if expires < now => {
                let detail = format!("the signature expired at {} and it is {}", rfc3339(expires), rfc3339(now));
                Err(Error::with(ErrorCode::ClockSkew, detail))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The text that was signed, provided that `message` is what was signed.
    ///
    /// # Errors
    /// The errors of [`SignatureInput::base`].
    pub fn base(&self, message: &Message<'_>) -> Result<String, Error> {
        self.input.base(message)
    }

    /// Verifies the signature of a key over `base`. The caller looked the key up by [`Signed::key_id`] or compared it with that.
    ///
    /// # Errors
    /// [`ErrorCode::SignatureInvalid`]; `signature_key_required` for the signature of a session.
    pub fn verify(&self, base: &str, key: &PublicKey, verifier: &dyn Verify) -> Result<(), Error> {
        match self.by {
            By::Key { algorithm, .. } if algorithm != key.algorithm() => Err(invalid("the signature's alg is not the key's")),
            By::Key { signature, .. } if verifier.verify(key, base.as_bytes(), &signature) => Ok(()),
            By::Key { .. } => Err(Error::new(ErrorCode::SignatureInvalid)),
            By::Session { .. } => self.key_id().map(drop),
        }
    }

    /// Verifies the signature of a session over `base`.
    ///
    /// # Errors
    /// [`ErrorCode::KeyUnknown`] if it is another session's; [`ErrorCode::SignatureInvalid`].
    pub fn verify_session(&self, base: &str, session: &SessionKey) -> Result<(), Error> {
        match self.by {
            By::Session { id, .. } if id != session.id => {
                Err(Error::with(ErrorCode::KeyUnknown, "keyid does not name the session of the token"))
            }
            By::Session { code, .. } if session.verify(base.as_bytes(), &code) => Ok(()),
            By::Session { .. } | By::Key { .. } => Err(Error::new(ErrorCode::SignatureInvalid)),
        }
    }
}

/// A call that the key itself must sign.
pub fn key_required(why: &'static str) -> Error {
    Error::with(ErrorCode::SignatureKeyRequired, why)
}

fn sized<const N: usize>(bytes: Vec<u8>) -> Result<[u8; N], Error> {
    bytes.try_into().map_err(|bytes: Vec<u8>| invalid(format!("the signature has {} bytes instead of {N}", bytes.len())))
}

#[cfg(test)]
mod tests {
    use super::super::{Outgoing, RustCrypto, Signer as _, SoftwareKey, Stamp, sign_request};
    use super::*;

    const URI: &str = "https://gateway.example/api/v1/gateway/settlements";
    const NOW: Millis = 1_795_257_497_000;
    const BODY: &[u8] = b"{}";

    type Field<'a> = (&'a str, &'a [u8]);

    fn message<'a>(fields: &'a [Field<'a>]) -> Message<'a> {
        Message { method: "POST", target_uri: URI, status: None, fields }
    }

    fn find(input: &str, signature: &str) -> Result<Signed, Error> {
        find_signature(&message(&[("signature-input", input.as_bytes()), ("signature", signature.as_bytes())]), TAG)
    }

    fn good_input() -> String {
        let key = SoftwareKey::ed25519(&[1; 32]).public_key().id();
        format!("sig1=(\"@method\" \"@target-uri\");created=1795257497;keyid=\"{key}\";alg=\"ed25519\";nonce=\"n\";tag=\"railgate\"")
    }

    fn bytes(n: usize) -> String {
        use base64::Engine as _;
        format!("sig1=:{}:", base64::engine::general_purpose::STANDARD.encode(vec![1; n]))
    }

    #[test]
    fn the_one_signature_with_the_tag_is_found() {
        let others = "a=(\"x\";sf);tag=\"other\", b=();created=\"x\", ";
        let signed = find(&format!("{others}{}", good_input()), &format!("a=:AA==:, {}", bytes(64))).unwrap();
        assert_eq!((signed.created, signed.nonce.as_str()), (1_795_257_497, "n"));
        assert!(matches!(signed.by, By::Key { algorithm: Algorithm::Ed25519, signature: [1, ..], .. }));
        // Spread over several lines.
        let (input, signature) = (good_input(), bytes(64));
        let fields: &[Field<'_>] = &[
            ("signature-input", b"a=()"),
            ("signature", signature.as_bytes()),
            ("signature-input", input.as_bytes()),
            ("signature", b"a=:AA==:"),
        ];
        assert!(find_signature(&message(fields), TAG).is_ok());
        let code = |fields| find_signature(&message(fields), TAG).unwrap_err().code;
        assert_eq!(code(&[]), ErrorCode::SignatureMissing);
        assert_eq!(code(&[("signature", b"sig1=:AA==:")]), ErrorCode::SignatureMissing);
        assert_eq!(code(&[("signature-input", b"")]), ErrorCode::SignatureMissing);
        assert_eq!(code(&[("signature-input", b"sig1=();tag=\"railgate-newkey\"")]), ErrorCode::SignatureMissing);
        assert_eq!(code(&[("signature-input", b"sig1=")]), ErrorCode::SignatureInvalid);
        assert_eq!(code(&[("signature-input", b"\xff")]), ErrorCode::SignatureInvalid);
        assert_eq!(code(&[("signature-input", input.as_bytes())]), ErrorCode::SignatureInvalid);
    }

    #[test]
    fn what_a_signature_lacks_is_named() {
        let good = good_input();
        let id = SoftwareKey::ed25519(&[1; 32]).public_key().id().to_string();
        for (change, to, why) in [
            (";created=1795257497", "", "lacks the parameter created"),
            ("1795257497", "\"1795257497\"", "created is given twice or has the wrong type"),
            ("1795257497", "1;created=1795257497", "created is given twice or has the wrong type"),
            (";nonce=\"n\"", "", "lacks the parameter nonce"),
            ("\"n\"", "\"\"", "lacks the parameter nonce"),
            (";alg=\"ed25519\"", "", "lacks the parameter alg"),
            ("\"ed25519\"", "\"rsa-pss-sha512\"", "none of ecdsa-p256-sha256, ed25519 and hmac-sha256"),
            ("\"ed25519\"", "\"hmac-sha256\"", "is not a session's"),
            (&format!(";keyid=\"{id}\""), "", "lacks the parameter keyid"),
            (&id, "key-1", "not an RFC 7638 thumbprint"),
            (&id, &format!("{id}="), "not an RFC 7638 thumbprint"),
            ("sig1", "sig2", "lacks the label sig2"),
            ("sig1=", "sig0=();tag=\"railgate\", sig1=", "more than one"),
        ] {
            let input = good.replace(change, to);
            assert_ne!(input, good);
            let error = find(&input, &bytes(64)).unwrap_err();
            assert_eq!(error.code, ErrorCode::SignatureInvalid);
            assert!(error.detail.contains(why), "{input}: {}", error.detail);
        }
        for n in [0, 63, 65, 72] {
            let error = find(&good, &bytes(n)).unwrap_err();
            assert!(error.detail.contains(&format!("{n} bytes instead of 64")), "{}", error.detail);
        }
    }

    #[test]
    fn what_matters_must_be_covered() {
        let covering = |components: &str| find(&good_input().replace("\"@method\" \"@target-uri\"", components), &bytes(64)).unwrap();
        let all = "\"@method\" \"@target-uri\" \"authorization\" \"content-type\" \"content-digest\" \"idempotency-key\"";
        let fields: &[Field<'_>] = &[("authorization", b""), ("content-type", b""), ("Content-Digest", b""), ("idempotency-key", b"\xff")];
        assert!(covering(all).check_coverage(&message(fields), true).is_ok());
        assert!(covering(&format!("\"date\" {all}")).check_coverage(&message(fields), true).is_ok());
        assert!(covering("\"@target-uri\" \"@method\"").check_coverage(&message(&[]), false).is_ok());
        for name in all.split(' ') {
            let without = all.replace(name, "");
            let error = covering(without.trim()).check_coverage(&message(fields), false).unwrap_err();
            assert_eq!(error.code, ErrorCode::SignatureInvalid);
            assert!(error.detail.contains(name.trim_matches('"')), "{}", error.detail);
            let partly = all.replace(name, &format!("{name};key=\"a\""));
            assert!(covering(&partly).check_coverage(&message(fields), false).is_err());
        }
        let error = covering("\"@method\" \"@target-uri\"").check_coverage(&message(&[]), true).unwrap_err();
        assert!(error.detail.contains("a body that is not covered is refused"));
    }

    #[test]
    fn the_time_may_differ_a_little() {
        let at = |input: &str, now| find(input, &bytes(64)).unwrap().check_created(now).map_err(|error| error.code);
        for now in [NOW, NOW - 300_000, NOW + 300_000] {
            assert_eq!(at(&good_input(), now), Ok(()));
        }
        for now in [NOW - 300_001, NOW + 300_001, 0, i64::MIN, i64::MAX] {
            assert_eq!(at(&good_input(), now), Err(ErrorCode::ClockSkew));
        }
        for created in ["0", "-1", "999999999999999", "-999999999999999"] {
            assert_eq!(at(&good_input().replace("1795257497", created), NOW), Err(ErrorCode::ClockSkew));
        }
        let expiring = |at: &str| good_input().replace(";nonce", &format!(";expires={at};nonce"));
        assert_eq!(at(&expiring("1795257497"), NOW), Ok(()));
        assert_eq!(at(&expiring("1795257497"), NOW + 1), Err(ErrorCode::ClockSkew));
        assert_eq!(at(&expiring("-999999999999999"), NOW), Err(ErrorCode::ClockSkew));
        let detail = find(&good_input(), &bytes(64)).unwrap().check_created(NOW + 400_000).unwrap_err().detail.to_string();
        assert!(detail.contains("2026-11-21T10:38:17.000Z") && detail.contains("2026-11-21T10:44:57.000Z"), "{detail}");
    }

    #[test]
    fn two_keys_sign_one_request() {
        let (old, new) = (SoftwareKey::p256(&[2; 32]).unwrap(), SoftwareKey::ed25519(&[3; 32]));
        let request = Outgoing { method: "POST", target_uri: URI, fields: &[("content-type", b"application/json")], body: BODY };
        let stamp = |tag, label| Stamp { created: 1_795_257_497, nonce: "c1.x", tag, label };
        let first = sign_request(&old, &request, &stamp(TAG, "sig1")).unwrap();
        let second = sign_request(&new, &request, &stamp(TAG_NEW_KEY, "sig2")).unwrap();
        assert_eq!(first.content_digest, second.content_digest);
        let input = format!("{}, {}", first.signature_input, second.signature_input);
        let signature = format!("{}, {}", first.signature, second.signature);
        let digest = first.content_digest.unwrap();
        let fields: &[Field<'_>] = &[
            ("content-type", b"application/json"),
            ("content-digest", digest.as_bytes()),
            ("signature-input", input.as_bytes()),
            ("signature", signature.as_bytes()),
        ];
        for (tag, key, other) in [(TAG, &old, &new), (TAG_NEW_KEY, &new, &old)] {
            let signed = find_signature(&message(fields), tag).unwrap();
            signed.check_coverage(&message(fields), true).unwrap();
            let base = signed.base(&message(fields)).unwrap();
            assert_eq!(signed.key_id().unwrap(), key.public_key().id());
            signed.verify(&base, &key.public_key(), &RustCrypto).unwrap();
            assert_eq!(signed.verify(&base, &other.public_key(), &RustCrypto).unwrap_err().code, ErrorCode::SignatureInvalid);
            let same_kind = match tag {
                TAG => SoftwareKey::p256(&[9; 32]).unwrap(),
                _ => SoftwareKey::ed25519(&[9; 32]),
            };
            assert_eq!(signed.verify(&base, &same_kind.public_key(), &RustCrypto).unwrap_err().code, ErrorCode::SignatureInvalid);
        }
    }
}
