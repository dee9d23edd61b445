//! Verifying with a public key: a trait, because a server has faster code than a browser.

use ed25519_dalek::{Signature as EdSignature, VerifyingKey as EdKey};
use p256::ecdsa::signature::Verifier as _;
use p256::ecdsa::{Signature as EcSignature, VerifyingKey as EcKey};

use super::PublicKey;

/// Verifies signatures. All implementations must decide alike; `docs/signature-policy.md` defines how.
pub trait Verify: Send + Sync {
    /// Whether `signature` was made by `key` over `message`.
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &[u8; 64]) -> bool;
}

/// The verifier in pure Rust, which runs on every platform.
#[derive(Debug, Clone, Copy, Default)]
pub struct RustCrypto;

impl Verify for RustCrypto {
    fn verify(&self, key: &PublicKey, message: &[u8], signature: &[u8; 64]) -> bool {
        match key {
            PublicKey::P256(point) => EcKey::from_sec1_bytes(point)
                .and_then(|key| EcSignature::from_slice(signature).and_then(|signature| key.verify(message, &signature)))
                .is_ok(),
            PublicKey::Ed25519(bytes) => {
                EdKey::from_bytes(bytes).and_then(|key| key.verify_strict(message, &EdSignature::from_bytes(signature))).is_ok()
            }
        }
    }
}
