//! Signing requests, for clients, the proxy and the command line.

use std::fmt;

use p256::ecdsa::signature::Signer as _;
use zeroize::Zeroizing;

use super::profile::{CONDITION, COVERED_FIELDS};
use super::{Algorithm, Message, PublicKey, SESSION_ALGORITHM, SessionKey, SignatureInput, content_digest};
use crate::error::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// A private key, regardless of where it is stored.
pub trait Signer: Send + Sync {
    /// The public half of the key.
    fn public_key(&self) -> PublicKey;

    /// Signs `message`. Returns `r‖s` or DER for P-256, 64 bytes for Ed25519.
    ///
    /// # Errors
    /// [`SignError::KeyStore`] if the key cannot be used at the moment.
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError>;
}

/// Why a request was not signed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SignError {
    /// The key store did not sign.
    #[error("the key store did not sign: {0}")]
    KeyStore(String),
    /// The key store returned something other than a signature of the key's algorithm.
    #[error("the key store's answer is not an {} signature", .0.as_str())]
    Malformed(Algorithm),
    /// The request or the stamp contains something that cannot be signed.
    #[error("the request cannot be signed: {}", .0.detail)]
    Request(Error),
}

/// A request to sign.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// The HTTP method.
    pub method: &'a str,
    /// The absolute target URI.
    pub target_uri: &'a str,
    /// The header fields, one entry per field line.
    pub fields: &'a [(&'a str, &'a [u8])],
    /// The body; empty for none.
    pub body: &'a [u8],
}

impl fmt::Debug for Outgoing<'_> {
    /// Omits the body and the field values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Outgoing({} {} with {} bytes)", self.method, self.target_uri, self.body.len())
    }
}

/// The parameters of a signature.
#[derive(Debug, Clone, Copy)]
pub struct Stamp<'a> {
    /// When the signature is made, in seconds since 1970.
    pub created: i64,
    /// A challenge from the gateway, with or without a suffix.
    pub nonce: &'a str,
    /// [`TAG`](super::TAG) or [`TAG_NEW_KEY`](super::TAG_NEW_KEY).
    pub tag: &'a str,
    /// The signature's label, unique among the signatures of the request.
    pub label: &'a str,
}

/// The fields to send with the request. The fields of two signatures are joined with `", "`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureFields {
    /// `Content-Digest`, if the request has a body but no such field yet.
    pub content_digest: Option<String>,
    /// The value of `Signature-Input`.
    pub signature_input: String,
    /// The value of `Signature`.
    pub signature: String,
}

/// The bytes to sign, and the fields that will describe them.
#[derive(Debug, Clone)]
pub struct UnsignedFields {
    algorithm: Algorithm,
    described: Described,
}

/// What is signed, and how the fields describe it.
#[derive(Debug, Clone)]
struct Described {
    label: String,
    content_digest: Option<String>,
    signature_input: String,
    base: String,
}

impl Described {
    fn with(&self, signature: &[u8]) -> SignatureFields {
        let signature = format!("{}=:{}:", self.label, STANDARD.encode(signature));
        SignatureFields { content_digest: self.content_digest.clone(), signature_input: self.signature_input.clone(), signature }
    }
}

impl UnsignedFields {
    /// The bytes to sign: the signature base (RFC 9421, section 2.5).
    pub fn to_sign(&self) -> &[u8] {
        self.described.base.as_bytes()
    }

    /// The fields with the signature: `r‖s` or DER for P-256, 64 bytes for Ed25519.
    ///
    /// # Errors
    /// [`SignError::Malformed`].
    pub fn finish(&self, signature: &[u8]) -> Result<SignatureFields, SignError> {
        let raw = to_raw(self.algorithm, signature).ok_or(SignError::Malformed(self.algorithm))?;
        Ok(self.described.with(&raw))
    }
}

/// Signs a request as the profile requires: its method, its target URI, and those of the profile's fields that are present.
///
/// A second signature on the same request may be made with or without the first one's `content_digest` among the fields; the result
/// is the same.
///
/// # Errors
/// See the variants of [`SignError`].
pub fn sign_request(signer: &dyn Signer, request: &Outgoing<'_>, stamp: &Stamp<'_>) -> Result<SignatureFields, SignError> {
    let fields = prepare_fields(&signer.public_key(), request, stamp)?;
    fields.finish(&signer.sign(fields.to_sign())?)
}

/// Signs a request as [`sign_request`] does, with the key of a session.
///
/// # Errors
/// [`SignError::Request`].
pub fn sign_in_session(session: &SessionKey, request: &Outgoing<'_>, stamp: &Stamp<'_>) -> Result<SignatureFields, SignError> {
    let described = describe((&session.id.to_string(), SESSION_ALGORITHM), request, stamp)?;
    let code = session.sign(described.base.as_bytes());
    Ok(described.with(&code))
}

/// The first half of [`sign_request`], for a key that signs elsewhere or later.
///
/// # Errors
/// [`SignError::Request`].
pub fn prepare_fields(key: &PublicKey, request: &Outgoing<'_>, stamp: &Stamp<'_>) -> Result<UnsignedFields, SignError> {
    let algorithm = key.algorithm();
    Ok(UnsignedFields { algorithm, described: describe((&key.id().to_string(), algorithm.as_str()), request, stamp)? })
}

/// What a key of this id and algorithm is to sign.
fn describe(key: (&str, &str), request: &Outgoing<'_>, stamp: &Stamp<'_>) -> Result<Described, SignError> {
    let mut fields = request.fields.to_vec();
    let given = fields.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-digest"));
    let content_digest = (!request.body.is_empty() && !given).then(|| content_digest(request.body));
    if let Some(digest) = &content_digest {
        fields.push(("content-digest", digest.as_bytes()));
    }
    let message = Message { method: request.method, target_uri: request.target_uri, status: None, fields: &fields };
    let signature_input = signature_input(&message, key, stamp);
    // Parsed again as a verifier does: a request that would be refused is not sent.
    let base = match SignatureInput::parse_field(&signature_input).map_err(SignError::Request)?.as_slice() {
        [input] if input.label() == stamp.label => input.base(&message).map_err(SignError::Request)?,
        _ => return Err(SignError::Request(super::input::invalid("the label is malformed"))),
    };
    Ok(Described { label: stamp.label.to_owned(), content_digest, signature_input, base })
}

fn signature_input(message: &Message<'_>, (id, alg): (&str, &str), stamp: &Stamp<'_>) -> String {
    let mut covered = String::from("\"@method\" \"@target-uri\"");
    for name in COVERED_FIELDS.into_iter().chain([CONDITION]).filter(|name| message.has(name)) {
        covered.push_str(" \"");
        covered.push_str(name);
        covered.push('"');
    }
    let (nonce, tag) = (quoted(stamp.nonce), quoted(stamp.tag));
    let created = stamp.created;
    format!("{}=({covered});created={created};keyid=\"{id}\";alg=\"{alg}\";nonce={nonce};tag={tag}", stamp.label)
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The 64 bytes to send. P-256 signatures of 64 bytes are read as `r‖s`, all others as strict DER.
pub fn to_raw(algorithm: Algorithm, signature: &[u8]) -> Option<[u8; 64]> {
    match (algorithm, <[u8; 64]>::try_from(signature)) {
        (_, Ok(raw)) => Some(raw),
        (Algorithm::EcdsaP256Sha256, Err(_)) => from_der(signature),
        (Algorithm::Ed25519, Err(_)) => None,
    }
}

/// Reads `SEQUENCE { r INTEGER, s INTEGER }` in DER (X.690): shortest lengths, shortest non-negative integers, no trailing bytes.
fn from_der(der: &[u8]) -> Option<[u8; 64]> {
    let [0x30, length, rest @ ..] = der else { return None };
    (rest.len() < 0x80 && rest.len() == usize::from(*length)).then_some(())?;
    let (r, rest) = integer(rest)?;
    let (s, rest) = integer(rest)?;
    rest.is_empty().then_some(())?;
    let mut raw = [0; 64];
    raw[..32].copy_from_slice(&r);
    raw[32..].copy_from_slice(&s);
    Some(raw)
}

fn integer(der: &[u8]) -> Option<([u8; 32], &[u8])> {
    let [0x02, length, rest @ ..] = der else { return None };
    let (value, rest) = rest.split_at_checked(usize::from(*length))?;
    let value = match value {
        [0, digits @ ..] if digits.first().is_some_and(|first| *first >= 0x80) => digits,
        [0..0x80, ..] if value == [0] || value[0] != 0 => value,
        _ => return None,
    };
    let mut out = [0; 32];
    out.get_mut(32_usize.checked_sub(value.len())?..)?.copy_from_slice(value);
    Some((out, rest))
}

/// `r‖s` as DER, for libraries that need it.
pub fn to_der(signature: &[u8; 64]) -> Vec<u8> {
    let mut body = Vec::with_capacity(70);
    for half in signature.chunks_exact(32) {
        let start = half.iter().position(|byte| *byte != 0).unwrap_or(31);
        let digits = half.get(start..).unwrap_or_default();
        let sign: &[u8] = if digits.first().is_some_and(|first| *first >= 0x80) { &[0] } else { &[] };
        body.push(0x02);
        // At most 33 bytes.
        body.extend(u8::try_from(sign.len() + digits.len()));
        body.extend_from_slice(sign);
        body.extend_from_slice(digits);
    }
    let mut der = Vec::with_capacity(2 + body.len());
    der.push(0x30);
    der.extend(u8::try_from(body.len()));
    der.append(&mut body);
    der
}

/// A P-256 key in this process's memory, wiped when dropped. Its signatures are deterministic (RFC 6979).
pub struct P256Key(Box<p256::ecdsa::SigningKey>);

impl P256Key {
    /// A key from its secret scalar, big-endian; `None` if that is zero or not below the group's order.
    pub fn new(secret: &[u8; 32]) -> Option<Self> {
        p256::ecdsa::SigningKey::from_slice(secret).ok().map(|key| Self(Box::new(key)))
    }
}

impl Signer for P256Key {
    fn public_key(&self) -> PublicKey {
        let point = self.0.verifying_key().to_sec1_point(false);
        let mut bytes = [4; 65];
        bytes.copy_from_slice(point.as_bytes());
        PublicKey::P256(bytes)
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        let signature: p256::ecdsa::Signature = self.0.try_sign(message).map_err(|error| SignError::KeyStore(error.to_string()))?;
        Ok(signature.to_bytes().to_vec())
    }
}

impl fmt::Debug for P256Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "P256Key({:?})", self.public_key())
    }
}

/// A private key in this process's memory, wiped when dropped: for the command line, tests and hosts without a key store.
pub struct SoftwareKey(Secret);

enum Secret {
    P256(P256Key),
    Ed25519(Box<ed25519_dalek::SigningKey>),
}

impl SoftwareKey {
    /// A P-256 key from its secret scalar, big-endian; `None` if that is zero or not below the group's order.
    pub fn p256(secret: &[u8; 32]) -> Option<Self> {
        P256Key::new(secret).map(|key| Self(Secret::P256(key)))
    }

    /// An Ed25519 key from its seed.
    pub fn ed25519(secret: &[u8; 32]) -> Self {
        Self(Secret::Ed25519(Box::new(ed25519_dalek::SigningKey::from_bytes(secret))))
    }

    /// The key's secret scalar or seed, to be kept in a file or a store.
    pub fn secret_bytes(&self) -> Zeroizing<[u8; 32]> {
        match &self.0 {
            Secret::P256(key) => Zeroizing::new(key.0.to_bytes().into()),
            Secret::Ed25519(key) => Zeroizing::new(key.to_bytes()),
        }
    }
}

impl Signer for SoftwareKey {
    fn public_key(&self) -> PublicKey {
        match &self.0 {
            Secret::P256(key) => key.public_key(),
            Secret::Ed25519(key) => PublicKey::Ed25519(key.verifying_key().to_bytes()),
        }
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        match &self.0 {
            Secret::P256(key) => Signer::sign(key, message),
            Secret::Ed25519(key) => Ok(key.sign(message).to_bytes().to_vec()),
        }
    }
}

impl fmt::Debug for SoftwareKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SoftwareKey({:?})", self.public_key())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RustCrypto, TAG, Verify as _};
    use super::*;

    const URI: &str = "https://gateway.example/api/v1/auth/tokens";
    const STAMP: Stamp<'_> = Stamp { created: 1_795_257_497, nonce: "c1.x", tag: TAG, label: "sig1" };

    fn bare(body: &[u8]) -> Outgoing<'_> {
        Outgoing { method: "POST", target_uri: URI, fields: &[], body }
    }

    /// A key store that returns whatever it was given.
    struct Answers(SoftwareKey, Result<Vec<u8>, SignError>);

    impl Signer for Answers {
        fn public_key(&self) -> PublicKey {
            self.0.public_key()
        }

        fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SignError> {
            self.1.clone()
        }
    }

    #[test]
    fn the_components_come_in_the_order_of_the_contract() {
        let key = SoftwareKey::ed25519(&[1; 32]);
        let id = key.public_key().id();
        let tail = format!(";created=1795257497;keyid=\"{id}\";alg=\"ed25519\";nonce=\"c1.x\";tag=\"railgate\"");
        let none = sign_request(&key, &bare(b""), &STAMP).unwrap();
        assert_eq!(none.signature_input, format!("sig1=(\"@method\" \"@target-uri\"){tail}"));
        assert_eq!(none.content_digest, None);
        let fields: &[(&str, &[u8])] =
            &[("idempotency-key", b"1"), ("date", b"x"), ("Content-Type", b"application/json"), ("authorization", b"Bearer t")];
        let all = sign_request(&key, &Outgoing { fields, ..bare(b"{}") }, &STAMP).unwrap();
        let covered = "\"@method\" \"@target-uri\" \"authorization\" \"content-type\" \"content-digest\" \"idempotency-key\"";
        assert_eq!(all.signature_input, format!("sig1=({covered}){tail}"));
        assert_eq!(all.content_digest, Some(content_digest(b"{}")));
        let fields: &[(&str, &[u8])] = &[("content-digest", b"sha-256=:AA==:")];
        assert_eq!(sign_request(&key, &Outgoing { fields, ..bare(b"{}") }, &STAMP).unwrap().content_digest, None);
    }

    #[test]
    fn der_is_sent_as_two_numbers() {
        let key = SoftwareKey::p256(&[2; 32]).unwrap();
        let plain = sign_request(&key, &bare(b""), &STAMP).unwrap();
        let bytes = STANDARD.decode(plain.signature.strip_prefix("sig1=:").unwrap().strip_suffix(':').unwrap()).unwrap();
        let der = to_der(&to_raw(Algorithm::EcdsaP256Sha256, &bytes).unwrap());
        let store = Answers(SoftwareKey::p256(&[2; 32]).unwrap(), Ok(der.clone()));
        assert_eq!(sign_request(&store, &bare(b""), &STAMP).unwrap(), plain);
        let wrong = Answers(SoftwareKey::ed25519(&[2; 32]), Ok(der));
        assert!(matches!(sign_request(&wrong, &bare(b""), &STAMP), Err(SignError::Malformed(Algorithm::Ed25519))));
        let locked = Answers(SoftwareKey::ed25519(&[2; 32]), Err(SignError::KeyStore("locked".into())));
        assert!(matches!(sign_request(&locked, &bare(b""), &STAMP), Err(SignError::KeyStore(_))));
    }

    #[test]
    fn what_no_verifier_would_take_is_not_signed() {
        let key = SoftwareKey::ed25519(&[1; 32]);
        let refused = |request: &Outgoing<'_>, stamp: &Stamp<'_>| matches!(sign_request(&key, request, stamp), Err(SignError::Request(_)));
        for label in ["", "Sig", "s s", "a=(), b", "1"] {
            assert!(refused(&bare(b""), &Stamp { label, ..STAMP }), "{label}");
        }
        assert!(refused(&bare(b""), &Stamp { nonce: "é", ..STAMP }));
        assert!(refused(&bare(b""), &Stamp { created: i64::MAX, ..STAMP }));
        assert!(refused(&Outgoing { method: "PO ST", ..bare(b"") }, &STAMP));
        assert!(refused(&Outgoing { target_uri: "/api/v1/auth/tokens", ..bare(b"") }, &STAMP));
        assert!(refused(&Outgoing { fields: &[("authorization", b"a\nb")], ..bare(b"") }, &STAMP));
        let odd = sign_request(&key, &bare(b""), &Stamp { nonce: "\"\\", ..STAMP }).unwrap();
        assert_eq!(SignatureInput::parse_field(&odd.signature_input).unwrap()[0].nonce(), Some("\"\\"));
    }

    #[test]
    fn der_is_read_strictly() {
        let p256 = |der: &[u8]| to_raw(Algorithm::EcdsaP256Sha256, der);
        for (der, r, s) in [
            (&[0x30, 6, 2, 1, 1, 2, 1, 2][..], 1, 2),
            (&[0x30, 6, 2, 1, 0, 2, 1, 0x7f], 0, 0x7f),
            (&[0x30, 8, 2, 2, 0, 0x80, 2, 2, 0, 0xff], 0x80, 0xff),
        ] {
            let raw = p256(der).unwrap();
            assert_eq!(
                (raw[31], raw[63], raw.iter().filter(|byte| **byte != 0).count()),
                (r, s, usize::from(r != 0) + usize::from(s != 0))
            );
            assert_eq!(to_der(&raw), der);
        }
        let long = [&[0x30, 37, 2, 32][..], &[1; 32], &[2, 1, 1]].concat();
        assert!(p256(&long).is_some());
        let bad: &[&[u8]] = &[
            &[],
            &[0x30],
            &[0x30, 0],
            &[0x31, 6, 2, 1, 1, 2, 1, 2],
            &[0x30, 7, 2, 1, 1, 2, 1, 2],
            &[0x30, 5, 2, 1, 1, 2, 1, 2],
            &[0x30, 6, 2, 1, 1, 2, 1, 2, 0],
            &[0x30, 7, 2, 1, 1, 2, 1, 2, 0],
            &[0x30, 0x81, 6, 2, 1, 1, 2, 1, 2],
            &[0x30, 0x80, 2, 1, 1, 2, 1, 2, 0, 0],
            &[0x30, 7, 2, 0x81, 1, 1, 2, 1, 2],
            &[0x30, 7, 2, 2, 0, 1, 2, 1, 2],
            &[0x30, 6, 2, 1, 0x80, 2, 1, 2],
            &[0x30, 5, 2, 0, 2, 1, 2],
            &[0x30, 6, 3, 1, 1, 2, 1, 2],
            &[0x30, 3, 2, 1, 1],
            &[0x30, 9, 2, 1, 1, 2, 1, 2, 2, 1, 3],
        ];
        for der in bad {
            assert_eq!(p256(der), None, "{der:x?}");
        }
        let too_long = [&[0x30, 38, 2, 33][..], &[1; 33], &[2, 1, 1]].concat();
        assert_eq!(p256(&too_long), None);
        assert_eq!(to_raw(Algorithm::Ed25519, &[0x30, 6, 2, 1, 1, 2, 1, 2]), None);
    }

    #[test]
    fn a_software_key_shows_its_public_half_only() {
        let mut secret = [0; 32];
        assert!(SoftwareKey::p256(&secret).is_none() && SoftwareKey::p256(&[0xff; 32]).is_none());
        secret[31] = 1;
        for key in [SoftwareKey::p256(&secret).unwrap(), SoftwareKey::ed25519(&secret)] {
            assert_eq!(*key.secret_bytes(), secret);
            assert_eq!(format!("{key:?}"), format!("SoftwareKey({})", key.public_key().jwk()));
            assert_eq!(PublicKey::from_bytes(key.public_key().algorithm(), key.public_key().as_bytes()), Some(key.public_key()));
            let signature = to_raw(key.public_key().algorithm(), &key.sign(b"x").unwrap()).unwrap();
            assert!(RustCrypto.verify(&key.public_key(), b"x", &signature) && !RustCrypto.verify(&key.public_key(), b"y", &signature));
        }
    }
}
