//! Session signatures: HMAC-SHA256 (RFC 9421, section 3.3.3) under a key on which the owner of a token and the gateway agree.
//!
//! ```
//! use railgate::auth::{Curve, EphemeralSecret, KeyId, SessionBinding, SessionId};
//! use railgate::ledger::Mode;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (random, other_random) = ([7; 32], [8; 32]);
//! // The client sends the public half of a key that it has made for this session alone.
//! let client = EphemeralSecret::new(Curve::X25519, random).ok_or("not a key")?;
//! // The gateway makes one, too, issues a token, and answers with both and the session's id.
//! let gateway = EphemeralSecret::new(Curve::X25519, other_random).ok_or("not a key")?;
//! let bound = SessionBinding { token: "rg_sandbox_…", mode: Mode::Sandbox, key: KeyId([1; 32]), session: SessionId([2; 16]) };
//!
//! // Both derive the same key, which is never sent.
//! let key = bound.derive(&*client.agree(&gateway.public()).ok_or("a useless key")?);
//! let same = bound.derive(&*gateway.agree(&client.public()).ok_or("a useless key")?);
//! assert!(same.verify(b"a signature base", &key.sign(b"a signature base")));
//! assert!(!same.verify(b"another one", &key.sign(b"a signature base")));
//! # Ok(())
//! # }
//! ```
//!
//! `K = HKDF-SHA256(ikm = the ECDH secret, salt = SHA-256(the token's text), info = "railgate-session-v1\0" ‖ environment ‖ "\0" ‖
//! thumbprint of the key that signed the token call ‖ "\0" ‖ session id, 32 bytes)`, all of `info` as it is written on the wire. The key
//! belongs to the token: it ends with it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use hmac::{Hmac, KeyInit, Mac};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::{KeyId, PublicKey, base64url};
use crate::ledger::Mode;

/// The name of the algorithm in `alg`.
pub const SESSION_ALGORITHM: &str = "hmac-sha256";

const CONTEXT: &str = "railgate-session-v1\0";
const PREFIX: &str = "ses_";

/// A session's id, `ses_` and 16 bytes in base64url on the wire, used as `keyid`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(pub [u8; 16]);

impl SessionId {
    /// Parses `ses_` and 22 characters of base64url without padding.
    pub fn parse(text: &str) -> Option<Self> {
        base64url(text.strip_prefix(PREFIX)?).map(Self)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", URL_SAFE_NO_PAD.encode(self.0))
    }
}

/// Where ephemeral keys are points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// NIST P-256, for key stores that have no other.
    P256,
    /// Curve25519 (RFC 7748).
    X25519,
}

/// The public half of an ephemeral key. One of P-256 is on its curve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum EphemeralKey {
    /// A P-256 point, SEC 1 uncompressed: `04 ‖ x ‖ y`.
    P256([u8; 65]),
    /// An X25519 key (RFC 7748), of any order.
    X25519([u8; 32]),
}

impl EphemeralKey {
    /// A P-256 key from its SEC 1 uncompressed point; `None` if the point is not on the curve.
    pub fn p256(point: &[u8]) -> Option<Self> {
        match PublicKey::p256(point)? {
            PublicKey::P256(point) => Some(Self::P256(point)),
            PublicKey::Ed25519(_) => None,
        }
    }

    /// The key's curve.
    pub fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::X25519(_) => Curve::X25519,
        }
    }

    /// The JWK with only the required members, in the order of RFC 7638.
    pub fn jwk(&self) -> String {
        match self {
            Self::P256(point) => PublicKey::P256(*point).jwk(),
            Self::X25519(bytes) => format!(r#"{{"crv":"X25519","kty":"OKP","x":"{}"}}"#, URL_SAFE_NO_PAD.encode(bytes)),
        }
    }
}

impl fmt::Debug for EphemeralKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.jwk())
    }
}

/// A private key of X25519 for one session, wiped when dropped. Clients have only this one, which keeps P-256 out of a browser's module.
pub struct X25519Secret(Zeroizing<[u8; 32]>);

impl X25519Secret {
    /// A key from random bytes, of which any are one.
    pub fn new(random: [u8; 32]) -> Self {
        Self(Zeroizing::new(random))
    }

    /// The public half.
    pub fn public(&self) -> [u8; 32] {
        x25519_dalek::x25519(*self.0, x25519_dalek::X25519_BASEPOINT_BYTES)
    }

    /// What both sides know (RFC 7748, section 6.1); `None` for a key of small order, with which everybody knows it.
    pub fn agree(&self, theirs: &[u8; 32]) -> Option<Zeroizing<[u8; 32]>> {
        let shared = Zeroizing::new(x25519_dalek::x25519(*self.0, *theirs));
        let known_to_all: bool = shared.ct_eq(&[0; 32]).into();
        (!known_to_all).then_some(shared)
    }
}

/// A private key for one session, wiped when dropped.
pub struct EphemeralSecret(Secret);

enum Secret {
    P256(Box<p256::SecretKey>),
    X25519(X25519Secret),
}

impl EphemeralSecret {
    /// A key from 32 random bytes; `None` if they are no scalar of P-256, of which the chance is 2⁻³².
    pub fn new(curve: Curve, random: [u8; 32]) -> Option<Self> {
        Some(Self(match curve {
            Curve::P256 => Secret::P256(Box::new(p256::SecretKey::from_bytes(&random.into()).ok()?)),
            Curve::X25519 => Secret::X25519(X25519Secret::new(random)),
        }))
    }

    /// The public half.
    pub fn public(&self) -> EphemeralKey {
        match &self.0 {
            Secret::P256(secret) => {
                let point = secret.public_key().to_sec1_point(false);
                let mut bytes = [4; 65];
                bytes.copy_from_slice(point.as_bytes());
                EphemeralKey::P256(bytes)
            }
            Secret::X25519(secret) => EphemeralKey::X25519(secret.public()),
        }
    }

    /// What both sides know ([`X25519Secret::agree`]; SEC 1, section 3.3.1); `None` for a key of another curve.
    pub fn agree(&self, theirs: &EphemeralKey) -> Option<Zeroizing<[u8; 32]>> {
        match (&self.0, theirs) {
            (Secret::P256(secret), EphemeralKey::P256(point)) => {
                let public = p256::PublicKey::from_sec1_bytes(point).ok()?;
                let shared = p256::ecdh::diffie_hellman(secret.to_nonzero_scalar(), public.as_affine());
                Some(Zeroizing::new((*shared.raw_secret_bytes()).into()))
            }
            (Secret::X25519(secret), EphemeralKey::X25519(public)) => secret.agree(public),
            (Secret::P256(_) | Secret::X25519(_), _) => None,
        }
    }
}

/// What the gateway has agreed on with the owner of an ephemeral key.
#[derive(Clone)]
pub struct Agreement {
    /// The gateway's ephemeral key.
    pub public: EphemeralKey,
    secret: Zeroizing<[u8; 32]>,
}

impl Agreement {
    /// Agrees with the owner of `theirs`; `None` if everybody would know the secret.
    pub fn with(theirs: &EphemeralKey, ours: &EphemeralSecret) -> Option<Self> {
        Some(Self { public: ours.public(), secret: ours.agree(theirs)? })
    }

    /// The session's key.
    pub fn derive(&self, bound: &SessionBinding<'_>) -> SessionKey {
        bound.derive(&self.secret)
    }
}

impl fmt::Debug for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Agreement({:?}, ..)", self.public)
    }
}

/// What a session's key is derived from beside the agreed secret, so that it is of use for nothing else.
#[derive(Clone, Copy)]
pub struct SessionBinding<'a> {
    /// The text of the token.
    pub token: &'a str,
    /// The mode of the token and of the key.
    pub mode: Mode,
    /// The key that signed the token call.
    pub key: KeyId,
    /// The session's id.
    pub session: SessionId,
}

impl SessionBinding<'_> {
    /// The session's key.
    pub fn derive(&self, agreed: &[u8; 32]) -> SessionKey {
        let info = format!("{CONTEXT}{}\0{}\0{}", self.mode.as_str(), self.key, self.session);
        let mut secret = [0; 32];
        // Only an output of more than 255 blocks is refused.
        let expanded = Hkdf::<Sha256>::new(Some(&Sha256::digest(self.token)), agreed).expand(info.as_bytes(), &mut secret);
        debug_assert!(expanded.is_ok());
        SessionKey { id: self.session, secret }
    }
}

/// A session's key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionKey {
    /// The session's id.
    pub id: SessionId,
    secret: [u8; 32],
}

impl SessionKey {
    /// The length of [`SessionKey::to_bytes`].
    pub const LENGTH: usize = 48;

    /// The code of a message.
    pub fn sign(&self, message: &[u8]) -> [u8; 32] {
        self.mac(message).finalize().into_bytes().into()
    }

    /// Whether this is the code of the message. Takes the same time whatever is wrong with it.
    pub fn verify(&self, message: &[u8], code: &[u8; 32]) -> bool {
        self.sign(message).ct_eq(code).into()
    }

    /// Id and secret, to be kept sealed or as safely as the token.
    pub fn to_bytes(&self) -> Zeroizing<[u8; Self::LENGTH]> {
        let mut bytes = Zeroizing::new([0; Self::LENGTH]);
        bytes[..16].copy_from_slice(&self.id.0);
        bytes[16..].copy_from_slice(&self.secret);
        bytes
    }

    /// A key from [`SessionKey::to_bytes`].
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (id, secret) = bytes.split_at_checked(16)?;
        Some(Self { id: SessionId(id.try_into().ok()?), secret: secret.try_into().ok()? })
    }

    fn mac(&self, message: &[u8]) -> Hmac<Sha256> {
        // HMAC pads a key with zeros to a full block; padding it here leaves no error to handle.
        let mut block = Zeroizing::new([0; 64]);
        block[..32].copy_from_slice(&self.secret);
        Hmac::<Sha256>::new((&*block).into()).chain_update(message)
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionKey({}, ..)", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(curve: Curve, n: u8) -> EphemeralSecret {
        EphemeralSecret::new(curve, [n; 32]).unwrap()
    }

    const BOUND: SessionBinding<'_> =
        SessionBinding { token: "rg_sandbox_token", mode: Mode::Sandbox, key: KeyId([1; 32]), session: SessionId([2; 16]) };

    #[test]
    fn the_secret_is_that_of_rfc_7748() {
        let bytes = |hex: &str| -> [u8; 32] { base16ct::lower::decode_vec(hex).unwrap().try_into().unwrap() };
        // RFC 7748, section 5.2, the first vector.
        let scalar = bytes("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
        let point = bytes("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
        let agreed = EphemeralSecret::new(Curve::X25519, scalar).unwrap().agree(&EphemeralKey::X25519(point)).unwrap();
        assert_eq!(*agreed, bytes("c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"));
    }

    /// Computed independently, in Python; docs/signature-policy.md has it.
    #[test]
    fn the_key_is_that_of_the_documented_vector() {
        let (client, gateway) = (secret(Curve::X25519, 5), secret(Curve::X25519, 6));
        assert_eq!(client.public().jwk(), r#"{"crv":"X25519","kty":"OKP","x":"UKYUCbHd0DJemxa3AOcZ6XcsBwALG9d4bpB8ZT0gSV0"}"#);
        assert_eq!(gateway.public().jwk(), r#"{"crv":"X25519","kty":"OKP","x":"9bLW5g-Ud-MQwpgtqqbJE2wQihd3xZR-RI-jfWgXRVc"}"#);
        let agreed = client.agree(&gateway.public()).unwrap();
        let hex = |bytes: &[u8]| base16ct::lower::encode_string(bytes);
        assert_eq!(hex(&*agreed), "edfa360a9633ca9b6fe655be8849389323ae3a3444866567f463c8e2c80bbb5a");
        let key = BOUND.derive(&agreed);
        assert_eq!(hex(&key.secret), "ee7dbbd33575c24ce240482a8d05913c2da571dd4e420bc3e5760c32284c73c0");
        assert_eq!(hex(&key.sign(b"base")), "33bfdbe1aeb65fc1deea51831528bf22d867ed3d14e040c9ff683724e28a8eef");
    }

    #[test]
    fn each_part_of_the_binding_makes_another_key() {
        let agreed = secret(Curve::P256, 7).agree(&secret(Curve::P256, 8).public()).unwrap();
        let key = BOUND.derive(&agreed);
        assert_eq!(key, BOUND.derive(&secret(Curve::P256, 8).agree(&secret(Curve::P256, 7).public()).unwrap()));
        for other in [
            SessionBinding { token: "rg_sandbox_other", ..BOUND },
            SessionBinding { mode: Mode::Live, ..BOUND },
            SessionBinding { key: KeyId([2; 32]), ..BOUND },
            SessionBinding { session: SessionId([3; 16]), ..BOUND },
        ] {
            assert_ne!(other.derive(&agreed).secret, key.secret);
        }
        assert_ne!(BOUND.derive(&[9; 32]).secret, key.secret);
    }

    #[test]
    fn keys_of_two_curves_do_not_agree_and_points_of_small_order_with_nobody() {
        for (one, other) in [(Curve::P256, Curve::X25519), (Curve::X25519, Curve::P256)] {
            assert!(secret(one, 7).agree(&secret(other, 8).public()).is_none());
        }
        let one: [u8; 32] = std::array::from_fn(|at| u8::from(at == 0));
        for point in [[0; 32], one] {
            assert!(secret(Curve::X25519, 7).agree(&EphemeralKey::X25519(point)).is_none());
        }
        assert!(EphemeralSecret::new(Curve::P256, [0; 32]).is_none() && EphemeralSecret::new(Curve::P256, [0xff; 32]).is_none());
    }

    #[test]
    fn a_key_is_kept_and_never_shown() {
        let key = BOUND.derive(&[9; 32]);
        assert_eq!(SessionKey::from_bytes(&*key.to_bytes()), Some(key));
        assert_eq!((SessionKey::from_bytes(&key.to_bytes()[1..]), SessionKey::from_bytes(&[])), (None, None));
        assert_eq!(format!("{key:?}"), "SessionKey(ses_AgICAgICAgICAgICAgICAg, ..)");
        assert_eq!(SessionId::parse("ses_AgICAgICAgICAgICAgICAg"), Some(key.id));
        for other in ["", "ses_", "AgICAgICAgICAgICAgICAg", "ses_AgICAgICAgICAgICAgICAh", "ses_AgICAgICAgICAgICAgICAgIC"] {
            assert_eq!(SessionId::parse(other), None, "{other}");
        }
    }
}
