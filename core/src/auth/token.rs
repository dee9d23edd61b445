//! Access tokens: opaque, with a checksum under a key of the store, so that a made-up token is refused without a look-up.
//!
//! `token = "rg_" env "_" base64url(secret(32) ‖ tag)`,
//! `tag = HMAC-SHA256(id key, "railgate-token-v1\0" ‖ env ‖ "\0" ‖ secret)[..8]`.
//!
//! The tag protects the store from reads for strangers, and nothing else: a token counts because the store has its hash.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::ids::IdKey;
use crate::ledger::Mode;
use crate::store::record::Digest32;

const CONTEXT: &[u8] = b"railgate-token-v1\0";
const SECRET: usize = 32;
const TAG: usize = 8;

/// The text of a token: `rg_sandbox_` or `rg_live_`, then base64url of 32 random bytes and their tag under the store's key.
pub fn token_text(key: &IdKey, mode: Mode, secret: &[u8; SECRET]) -> String {
    let mut bytes = [0u8; SECRET + TAG];
    bytes[..SECRET].copy_from_slice(secret);
    bytes[SECRET..].copy_from_slice(&tag(key, mode, secret));
    format!("rg_{}_{}", mode.as_str(), URL_SAFE_NO_PAD.encode(bytes))
}

/// The mode that a token's prefix names, whether or not the rest is valid.
pub fn token_mode(token: &str) -> Option<Mode> {
    let rest = token.strip_prefix("rg_")?;
    Mode::ALL.iter().copied().find(|mode| rest.strip_prefix(mode.as_str()).is_some_and(|rest| rest.starts_with('_')))
}

/// The hash under which a token is stored; `None` for text that does not have the form of a token.
pub fn token_hash(token: &str) -> Option<Digest32> {
    parse(token).map(|_| Sha256::digest(token.as_bytes()).into())
}

/// Whether a store with this key made the token. It may have expired or been revoked since.
pub fn is_token_of(key: &IdKey, token: &str) -> bool {
    parse(token).is_some_and(|(mode, bytes)| {
        let (secret, given) = bytes.split_at(SECRET);
        tag(key, mode, secret)[..].ct_eq(given).into()
    })
}

fn parse(token: &str) -> Option<(Mode, [u8; SECRET + TAG])> {
    let mode = token_mode(token)?;
    let body = token.get("rg__".len() + mode.as_str().len()..)?;
    let bytes = URL_SAFE_NO_PAD.decode(body).ok()?;
    Some((mode, bytes.try_into().ok()?))
}

fn tag(key: &IdKey, mode: Mode, secret: &[u8]) -> [u8; TAG] {
    // HMAC pads a key with zeros to a full block; padding it here leaves no error to handle.
    let mut block = Zeroizing::new([0; 64]);
    block[..key.0.len()].copy_from_slice(&key.0);
    let mut mac = Hmac::<Sha256>::new((&*block).into()).chain_update(CONTEXT);
    mac.update(mode.as_str().as_bytes());
    mac.update(b"\0");
    mac.update(secret);
    let full = mac.finalize().into_bytes();
    let mut out = [0; TAG];
    out.copy_from_slice(&full[..TAG]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: IdKey = IdKey([3; 16]);

    #[test]
    fn a_token_is_told_from_noise_without_a_read() {
        let token = token_text(&KEY, Mode::Sandbox, &[7; 32]);
        assert!(token.starts_with("rg_sandbox_") && token.len() == 11 + 54, "{token}");
        assert_eq!(token_hash(&token), Some(Sha256::digest(token.as_bytes()).into()));
        assert!(is_token_of(&KEY, &token));
        let live = token_text(&KEY, Mode::Live, &[7; 32]);
        assert!(token_mode(&live) == Some(Mode::Live) && is_token_of(&KEY, &live));
        for noise in ["", "rg_sandbox_", "rg_test_AAAA", "Bearer", &token[..64]] {
            assert_eq!(token_hash(noise), None, "{noise}");
        }
    }

    #[test]
    fn only_the_store_that_made_a_token_recognises_it() {
        let token = token_text(&KEY, Mode::Sandbox, &[7; 32]);
        assert!(!is_token_of(&IdKey([4; 16]), &token));
        assert!(!is_token_of(&KEY, &token.replace("rg_sandbox_", "rg_live_")), "nor in another mode");
        for at in "rg_sandbox_".len()..token.len() {
            for other in ["A", "_", "z"] {
                let mut changed = token.clone();
                changed.replace_range(at..=at, other);
                assert!(changed == token || !is_token_of(&KEY, &changed), "{changed}");
            }
        }
    }
}
