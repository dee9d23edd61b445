//! Access tokens: opaque, with their end and a tag under a key of the store, so that a token which is made up or over is refused
//! without a look-up.
//!
//! `body = secret(32) ‖ end(u32be, seconds)`,
//! `tag = HMAC-SHA256(id key, "railgate-token-v1\0" ‖ env ‖ "\0" ‖ body)[..8]`,
//! `token = "rg_" env "_" base64url(body ‖ tag)`.
//!
//! The tag protects the store from reads for strangers, and nothing else: a token counts because the store has its hash.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use super::base64url;
use crate::ids::IdKey;
use crate::ledger::Mode;
use crate::store::record::Digest32;
use crate::time::Millis;

const CONTEXT: &[u8] = b"railgate-token-v1\0";
const SECRET: usize = 32;
const BODY: usize = SECRET + 4;
const TAG: usize = 8;

/// The text of a token: `rg_sandbox_` or `rg_live_`, then base64url of 32 random bytes, its end, rounded up to the full second, and
/// the tag of both under the store's key.
pub fn token_text(key: &IdKey, mode: Mode, secret: &[u8; SECRET], expires_at: Millis) -> String {
    let end = u32::try_from(expires_at.saturating_add(999).div_euclid(1000).max(0)).unwrap_or(u32::MAX);
    let mut bytes = [0u8; BODY + TAG];
    bytes[..SECRET].copy_from_slice(secret);
    bytes[SECRET..BODY].copy_from_slice(&end.to_be_bytes());
    let tag = tag(key, mode, &bytes[..BODY]);
    bytes[BODY..].copy_from_slice(&tag);
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

/// When a token ends that a store with this key made, to the full second; `None` for any other text. It may have been revoked.
pub fn token_end(key: &IdKey, token: &str) -> Option<Millis> {
    let (mode, bytes) = parse(token)?;
    let (body, given) = bytes.split_at(BODY);
    let [.., a, b, c, d] = body else { return None };
    let ours: bool = tag(key, mode, body)[..].ct_eq(given).into();
    ours.then(|| Millis::from(u32::from_be_bytes([*a, *b, *c, *d])) * 1000)
}

fn parse(token: &str) -> Option<(Mode, [u8; BODY + TAG])> {
    let mode = token_mode(token)?;
    let body = token.get("rg__".len() + mode.as_str().len()..)?;
    Some((mode, base64url(body)?))
}

fn tag(key: &IdKey, mode: Mode, body: &[u8]) -> [u8; TAG] {
    // HMAC pads a key with zeros to a full block; padding it here leaves no error to handle.
    let mut block = Zeroizing::new([0; 64]);
    block[..key.0.len()].copy_from_slice(&key.0);
    let mut mac = Hmac::<Sha256>::new((&*block).into()).chain_update(CONTEXT);
    mac.update(mode.as_str().as_bytes());
    mac.update(b"\0");
    mac.update(body);
    let full = mac.finalize().into_bytes();
    let mut out = [0; TAG];
    out.copy_from_slice(&full[..TAG]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: IdKey = IdKey([3; 16]);
    const END: Millis = 1_795_257_498_000;

    fn token_of(mode: Mode) -> String {
        token_text(&KEY, mode, &[7; 32], END - 999)
    }

    #[test]
    fn a_token_is_told_from_noise_without_a_read() {
        let token = token_of(Mode::Sandbox);
        assert!(token.starts_with("rg_sandbox_") && token.len() == 11 + 59, "{token}");
        assert_eq!(token_hash(&token), Some(Sha256::digest(token.as_bytes()).into()));
        assert_eq!(token_end(&KEY, &token), Some(END));
        let live = token_of(Mode::Live);
        assert!(token_mode(&live) == Some(Mode::Live) && token_end(&KEY, &live) == Some(END));
        for noise in ["", "rg_sandbox_", "rg_test_AAAA", "Bearer", &token[..69]] {
            assert_eq!(token_hash(noise), None, "{noise}");
        }
    }

    #[test]
    fn only_the_store_that_made_a_token_recognises_it() {
        let token = token_of(Mode::Sandbox);
        assert_eq!(token_end(&IdKey([4; 16]), &token), None);
        assert_eq!(token_end(&KEY, &token.replace("rg_sandbox_", "rg_live_")), None, "nor in another mode");
        for at in "rg_sandbox_".len()..token.len() {
            for other in ["A", "_", "z"] {
                let mut changed = token.clone();
                changed.replace_range(at..=at, other);
                assert!(changed == token || token_end(&KEY, &changed).is_none(), "{changed}");
            }
        }
    }
}
