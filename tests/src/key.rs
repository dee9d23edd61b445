//! A key that signs with ring: fast enough to sign tens of thousands of calls before a measurement.

use railgate::auth::{Algorithm, PublicKey, SignError, Signer};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _};

/// A new private key in this process's memory.
pub struct RingKey {
    pair: Pair,
    public: PublicKey,
    random: SystemRandom,
}

enum Pair {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl RingKey {
    /// Generates a key.
    pub fn generate(algorithm: Algorithm) -> Self {
        let random = SystemRandom::new();
        let pair = match algorithm {
            Algorithm::EcdsaP256Sha256 => {
                let kind = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let document = EcdsaKeyPair::generate_pkcs8(kind, &random).expect("randomness");
                Pair::P256(EcdsaKeyPair::from_pkcs8(kind, document.as_ref(), &random).expect("its own key"))
            }
            Algorithm::Ed25519 => {
                let document = Ed25519KeyPair::generate_pkcs8(&random).expect("randomness");
                Pair::Ed25519(Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("its own key"))
            }
        };
        let bytes = match &pair {
            Pair::P256(pair) => pair.public_key().as_ref(),
            Pair::Ed25519(pair) => pair.public_key().as_ref(),
        };
        let public = PublicKey::from_bytes(algorithm, bytes).expect("a public key");
        Self { pair, public, random }
    }
}

impl Signer for RingKey {
    fn public_key(&self) -> PublicKey {
        self.public
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        match &self.pair {
            Pair::P256(pair) => {
                let signature = pair.sign(&self.random, message).map_err(|_| SignError::KeyStore("no randomness".to_owned()))?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
        }
    }
}
