//! Caller authentication: keys, signatures and tokens.
//!
//! Every call proves possession of a key: it carries an RFC 9421 signature over a nonce that the server issued. The private key
//! never leaves its owner; what the gateway keeps is public, hashed or sealed. Everything here is deterministic and does no I/O:
//! time and randomness are arguments.
//!
//! A verifier takes these steps in this order, which yields the most helpful errors: [`find_signature`], [`ChallengeKeys::check`]
//! with its nonce, [`Signed::check_created`], [`Signed::check_coverage`], [`Signed::base`], [`Signed::verify`],
//! [`check_content_digest`], and finally the store, which records used nonces. `docs/signature-policy.md` defines what is accepted,
//! and why.

mod base;
mod challenge;
mod digest;
mod input;
mod jwk;
mod key;
mod profile;
mod scope;
mod sign;
mod token;
mod verify;

pub use base::Message;
pub use challenge::{CHALLENGE_TTL_S, ChallengeKeys, Nonce};
pub use digest::{check_content_digest, content_digest};
pub use input::SignatureInput;
pub use jwk::parse_jwk;
pub(crate) use jwk::{read_jwk, read_unchecked_jwk};
pub use key::{Algorithm, KeyId, PublicKey};
pub use profile::{SKEW_S, Signed, TAG, TAG_NEW_KEY, find_signature};
pub use scope::{Scope, ScopeSet};
pub use sign::{
    Outgoing, P256Key, SignError, SignatureFields, Signer, SoftwareKey, Stamp, UnsignedFields, prepare_fields, sign_request, to_der, to_raw,
};
pub use token::{token_hash, token_mode, token_text};
pub use verify::{RustCrypto, Verify};
