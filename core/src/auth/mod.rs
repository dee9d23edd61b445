//! Caller authentication: keys, signatures and tokens.
//!
//! Every call proves possession of a key: it carries an RFC 9421 signature over a nonce that the server issued. The private key
//! never leaves its owner; what the gateway keeps is public, hashed or sealed. Everything here is deterministic and does no I/O:
//! time and randomness are arguments.
//!
//! # Signing a request, and verifying it
//!
//! ```
//! use railgate::auth::{
//!     ChallengeKeys, Message, Outgoing, RustCrypto, Signer, SoftwareKey, Stamp, TAG, check_content_digest, find_signature, sign_request,
//! };
//! use railgate::ledger::Mode;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let now = 1_795_257_497_042;
//! # let (secret, random) = ([7; 32], [1; 11]);
//! # let (uri, body) = ("https://pay.example/api/v1/gateway/balances/fund", br#"{"currency":"EUR","amount":1}"#.as_slice());
//! // The gateway issues a challenge.
//! let challenges = ChallengeKeys::new(vec![(1, secret)]).ok_or("no key")?;
//! let challenge = challenges.issue(Mode::Sandbox, now, random);
//!
//! // The client signs the method, the URI, the body and the challenge.
//! let key = SoftwareKey::ed25519(&secret);
//! let request = Outgoing { method: "POST", target_uri: uri, fields: &[], body };
//! let made = sign_request(&key, &request, &Stamp { created: now / 1_000, nonce: &challenge, tag: TAG, label: "sig1" })?;
//!
//! // The gateway verifies what arrived.
//! let digest = made.content_digest.ok_or("no digest")?;
//! let fields = [
//!     ("content-digest", digest.as_bytes()),
//!     ("signature-input", made.signature_input.as_bytes()),
//!     ("signature", made.signature.as_bytes()),
//! ];
//! let message = Message { method: "POST", target_uri: uri, status: None, fields: &fields };
//! let signed = find_signature(&message, TAG)?;
//! challenges.check(&signed.nonce, Mode::Sandbox, now)?;
//! signed.check_created(now)?;
//! signed.check_coverage(&message, true)?;
//! signed.verify(&signed.base(&message)?, &key.public_key(), &RustCrypto)?;
//! check_content_digest(&digest, body)?;
//!
//! // The signature is for this URI only.
//! let elsewhere = Message { target_uri: "https://pay.example/api/v1/auth/keys", ..message };
//! assert!(signed.verify(&signed.base(&elsewhere)?, &key.public_key(), &RustCrypto).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! A verifier takes these steps in this order, which yields the most helpful errors: [`find_signature`], [`ChallengeKeys::check`]
//! with its nonce, [`Signed::check_created`], [`Signed::check_coverage`], [`Signed::base`], [`Signed::verify`],
//! [`check_content_digest`], and finally the store, which records used nonces. `docs/signature-policy.md` defines what is accepted,
//! and why.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

mod base;
mod challenge;
mod digest;
mod input;
mod jwk;
mod key;
mod profile;
mod scope;
mod session;
mod sign;
mod token;
mod verify;

pub use base::Message;
pub use challenge::{CHALLENGE_TTL_S, ChallengeKeys, Nonce};
pub use digest::{check_content_digest, check_content_sha256, content_digest};
pub use input::SignatureInput;
pub use jwk::parse_jwk;
#[cfg(feature = "sandbox")]
pub(crate) use jwk::read_jwk_of_row;
pub(crate) use jwk::{read_ephemeral_jwk, read_jwk, read_unchecked_jwk};
pub use key::{Algorithm, KeyId, PublicKey};
pub use profile::{By, SKEW_S, Signed, TAG, TAG_NEW_KEY, TAG_RAIL, find_signature, key_required};
pub use scope::{Scope, ScopeSet};
pub use session::{
    Agreement, Curve, EphemeralKey, EphemeralSecret, SESSION_ALGORITHM, SessionBinding, SessionId, SessionKey, X25519Secret,
};
pub use sign::{
    Outgoing, P256Key, SignError, SignatureFields, Signer, SoftwareKey, Stamp, UnsignedFields, prepare_fields, sign_in_session,
    sign_request, to_der, to_raw,
};
pub use token::{token_end, token_hash, token_mode, token_text};
pub use verify::{RustCrypto, Verify};

/// Exactly `N` bytes in base64url without padding (RFC 4648, section 5). Strict: each value has only one encoding, so that the text can
/// be what is recorded or compared.
pub(crate) fn base64url<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut out = [0; N];
    (URL_SAFE_NO_PAD.decode_slice(text, &mut out) == Ok(N)).then_some(out)
}
