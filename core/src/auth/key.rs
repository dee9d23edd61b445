//! Public keys and their thumbprints.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::{base64url, read_unchecked_jwk};
use crate::error::Error;
use crate::lifecycle::stored_enum;
use crate::validate::json::Value;

stored_enum! {
    /// The signature algorithms (RFC 9421, section 3.3).
    pub enum Algorithm {
        /// ECDSA over P-256 with SHA-256; the signature is `r‖s`, 64 bytes.
        EcdsaP256Sha256 = 1 "ecdsa-p256-sha256",
        /// Ed25519 (RFC 8032).
        Ed25519 = 2 "ed25519",
    }
}

/// A key's RFC 7638 thumbprint (SHA-256), used as `keyid`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub [u8; 32]);

impl KeyId {
    /// Parses 43 characters of base64url without padding.
    pub fn parse(text: &str) -> Option<Self> {
        base64url(text).map(Self)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

/// A public key that can verify signatures: on its curve, and not one of the weak keys under which anything verifies.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum PublicKey {
    /// A P-256 point, SEC 1 uncompressed: `04 ‖ x ‖ y`.
    P256([u8; 65]),
    /// An Ed25519 key (RFC 8032).
    Ed25519([u8; 32]),
}

impl PublicKey {
    /// A P-256 key from its SEC 1 uncompressed point; `None` if the point is not on the curve.
    pub fn p256(point: &[u8]) -> Option<Self> {
        let point: [u8; 65] = point.try_into().ok()?;
        (point[0] == 4).then_some(())?;
        p256::ecdsa::VerifyingKey::from_sec1_bytes(&point).ok().map(|_| Self::P256(point))
    }

    /// An Ed25519 key; `None` if it is not on the curve, is of small order, or has a `y` that is not below the field's prime: such
    /// a key would have two thumbprints.
    pub fn ed25519(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; 32] = bytes.try_into().ok()?;
        let [low, middle @ .., high] = &bytes;
        let beyond = *low >= 0xed && middle.iter().all(|byte| *byte == 0xff) && high & 0x7f == 0x7f;
        (!beyond).then_some(())?;
        ed25519_dalek::VerifyingKey::from_bytes(&bytes).ok().filter(|key| !key.is_weak()).map(|_| Self::Ed25519(bytes))
    }

    /// A key from the bytes of [`PublicKey::as_bytes`].
    pub fn from_bytes(algorithm: Algorithm, bytes: &[u8]) -> Option<Self> {
        match algorithm {
            Algorithm::EcdsaP256Sha256 => Self::p256(bytes),
            Algorithm::Ed25519 => Self::ed25519(bytes),
        }
    }

    /// A key from the bytes of [`PublicKey::as_bytes`] that this program checked and stored itself. Costs no curve arithmetic.
    pub(crate) fn from_stored(algorithm: Algorithm, bytes: &[u8]) -> Option<Self> {
        match algorithm {
            Algorithm::EcdsaP256Sha256 => bytes.try_into().ok().filter(|point: &[u8; 65]| point[0] == 4).map(Self::P256),
            Algorithm::Ed25519 => bytes.try_into().ok().map(Self::Ed25519),
        }
    }

    /// The key in a row. Database rows may have been changed by hand, so the point is checked. Rows of a journal are chained, and
    /// its hosts need not load the arithmetic of two curves.
    pub(crate) fn of_row(algorithm: Algorithm, bytes: &[u8]) -> Option<Self> {
        let databases = cfg!(any(feature = "sqlite", feature = "postgres"));
        if databases { Self::from_bytes(algorithm, bytes) } else { Self::from_stored(algorithm, bytes) }
    }

    /// The caller's own key, from the JWK that its key store returned. Checks its format, but not that it is a point on its curve.
    ///
    /// # Errors
    /// The same errors as [`parse_jwk`](super::parse_jwk).
    pub fn trusted_jwk(jwk: &str) -> Result<Self, Error> {
        Ok(read_unchecked_jwk(Value::parse(jwk)?)?)
    }

    /// The key's signature algorithm.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::P256(_) => Algorithm::EcdsaP256Sha256,
            Self::Ed25519(_) => Algorithm::Ed25519,
        }
    }

    /// The key's bytes: 65 for P-256, 32 for Ed25519.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Self::P256(bytes) => bytes,
            Self::Ed25519(bytes) => bytes,
        }
    }

    /// The JWK with only the required members, in the order of RFC 7638.
    pub fn jwk(&self) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::P256(point) => {
                let (x, y) = (text(&point[1..33]), text(&point[33..]));
                format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#)
            }
            Self::Ed25519(bytes) => format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, text(bytes)),
        }
    }

    /// The key's RFC 7638 thumbprint.
    pub fn id(&self) -> KeyId {
        KeyId(Sha256::digest(self.jwk()).into())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.jwk())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thumbprint_is_that_of_rfc_8037() {
        let bytes = URL_SAFE_NO_PAD.decode("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo").unwrap();
        let key = PublicKey::ed25519(&bytes).unwrap();
        assert_eq!(key.id().to_string(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        assert_eq!(KeyId::parse(&key.id().to_string()), Some(key.id()));
        assert_eq!(PublicKey::from_bytes(Algorithm::Ed25519, key.as_bytes()), Some(key));
    }

    #[test]
    fn what_is_no_key_is_refused() {
        assert_eq!(PublicKey::p256(&[4; 65]), None);
        assert_eq!(PublicKey::p256(&[0]), None);
        // The identity: a signature could be forged for any message.
        let mut weak = [0u8; 32];
        weak[0] = 1;
        assert_eq!(PublicKey::ed25519(&weak), None);
        assert_eq!(PublicKey::ed25519(&[7; 31]), None);
        // y = 3 is a point, and a careless reader also accepts its second encoding y = p + 3.
        let mut spelt = [0u8; 32];
        spelt[0] = 3;
        assert!(PublicKey::ed25519(&spelt).is_some());
        spelt = [0xff; 32];
        (spelt[0], spelt[31]) = (0xf0, 0x7f);
        assert!(ed25519_dalek::VerifyingKey::from_bytes(&spelt).is_ok());
        assert_eq!(PublicKey::ed25519(&spelt), None);
        assert_eq!(KeyId::parse("short"), None);
    }
}
