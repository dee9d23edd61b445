//! Public keys in the formats of key stores, and a signer for hosts without a key store.

use std::sync::Arc;

use async_trait::async_trait;
use railgate::auth::{PublicKey, Signer as _, SoftwareKey};

use crate::error::{GatewayError, Problem};
use crate::host::{Signer, SignerError};

/// The prefix of a `SubjectPublicKeyInfo` (RFC 5280) before the point of a P-256 key, and before an Ed25519 key (RFC 8410).
const P256_INFO: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01,
    0x07, 0x03, 0x42, 0x00,
];
const ED25519_INFO: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// Parses a public key in any format of the key stores.
pub(crate) fn public_key(bytes: &[u8]) -> Option<PublicKey> {
    let p256 = |point: &[u8]| PublicKey::p256(point);
    match bytes.len() {
        32 => PublicKey::ed25519(bytes),
        65 => p256(bytes),
        _ => bytes.strip_prefix(&P256_INFO).and_then(p256).or_else(|| bytes.strip_prefix(&ED25519_INFO).and_then(PublicKey::ed25519)),
    }
}

/// An Ed25519 key in the program's memory, for servers and tests. On a phone use the key store, which protects a key better.
#[derive(uniffi::Object)]
pub struct SoftwareSigner {
    key: SoftwareKey,
}

#[uniffi::export]
impl SoftwareSigner {
    /// The key of a seed, 32 bytes; a new key by default.
    ///
    /// # Errors
    /// `Invalid` with code `seed_malformed`; `Unsigned` if the device has no randomness.
    #[uniffi::constructor(default(secret = None))]
    pub fn new(secret: Option<Vec<u8>>) -> Result<Arc<Self>, GatewayError> {
        Ok(Arc::new(Self { key: SoftwareKey::ed25519(&seed(secret)?) }))
    }

    /// The seed. Anyone who has it can act as the client: store it where nobody else can read it.
    ///
    /// # Errors
    /// None.
    pub fn secret(&self) -> Result<Vec<u8>, GatewayError> {
        Ok(self.key.secret_bytes().to_vec())
    }
}

#[uniffi::export]
#[async_trait]
impl Signer for SoftwareSigner {
    /// The 32 bytes of the public key.
    fn public_key(&self) -> Result<Vec<u8>, SignerError> {
        Ok(self.key.public_key().as_bytes().to_vec())
    }

    /// Signs `message`; the signature has 64 bytes.
    async fn sign(&self, message: Vec<u8>) -> Result<Vec<u8>, SignerError> {
        self.key.sign(&message).map_err(|error| SignerError::Unavailable { detail: error.to_string() })
    }
}

/// The given 32 bytes, or random ones.
pub(crate) fn seed(given: Option<Vec<u8>>) -> Result<[u8; 32], GatewayError> {
    match given {
        Some(bytes) => bytes.try_into().map_err(|_| GatewayError::invalid(Problem::local("seed_malformed", "a seed has 32 bytes"))),
        None => {
            let mut bytes = [0; 32];
            let failed = |error: getrandom::Error| GatewayError::unsigned(format!("the device has no randomness: {error}"));
            getrandom::fill(&mut bytes).map_err(failed)?;
            Ok(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn public_keys_are_read_as_key_stores_give_them() {
        let ed25519 = SoftwareKey::ed25519(&[7; 32]).public_key();
        let info = [&ED25519_INFO, ed25519.as_bytes()].concat();
        assert_eq!([public_key(ed25519.as_bytes()), public_key(&info)], [Some(ed25519); 2]);
        // The base point of P-256 (SEC 2).
        let x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
        let y = "4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5";
        let hex: Vec<u8> = (0..64).map(|n| u8::from_str_radix(&format!("{x}{y}")[2 * n..2 * n + 2], 16).unwrap()).collect();
        let point = [&[4], hex.as_slice()].concat();
        let info = [&P256_INFO, point.as_slice()].concat();
        assert_eq!([public_key(&point), public_key(&info)], [PublicKey::p256(&point); 2]);
        assert!(public_key(&point).is_some());
        for bad in [&[][..], &point[1..], &info[..90], &[4; 65], &[0xff; 44]] {
            assert_eq!(public_key(bad), None, "{bad:?}");
        }
    }
    #[test]
    fn a_key_in_memory_is_the_same_key_from_its_secret() {
        let made = SoftwareSigner::new(None).unwrap();
        let again = SoftwareSigner::new(Some(made.secret().unwrap())).unwrap();
        assert_eq!(Signer::public_key(&*made), Signer::public_key(&*again));
        assert_ne!(Signer::public_key(&*made), Signer::public_key(&*SoftwareSigner::new(None).unwrap()));
        let signature = futures_lite::future::block_on(Signer::sign(&*again, b"pay".to_vec())).unwrap();
        assert_eq!(made.key.sign(b"pay").unwrap(), signature);
        assert!(SoftwareSigner::new(Some(vec![7; 31])).is_err());
    }
}
