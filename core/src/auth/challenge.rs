//! The nonces that the gateway issues. Nothing is stored: every node with the same keys accepts them.
//!
//! `body = key_id(u8) ‖ exp(u32be, seconds) ‖ random(11)`,
//! `tag = HMAC-SHA256(key, "railgate-challenge-v1\0" ‖ env ‖ "\0" ‖ body)[..16]`,
//! `challenge = "c1." base64url(body) "." base64url(tag)`. A nonce is a challenge, or a challenge followed by `"." suffix`.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use zeroize::{Zeroize as _, Zeroizing};

use super::base64url;
use crate::error::{Error, ErrorCode};
use crate::ledger::Mode;
use crate::time::Millis;

/// How long a challenge is valid, in seconds.
pub const CHALLENGE_TTL_S: i64 = 300;

const CONTEXT: &[u8] = b"railgate-challenge-v1\0";
const PREFIX: &str = "c1.";
/// The length of sixteen bytes in base64url without padding.
const PART_CHARS: usize = 22;
const SUFFIX_MAX_CHARS: usize = 32;

/// The keys that tag challenges: the newest one tags new challenges, all are accepted.
pub struct ChallengeKeys {
    /// Key numbers and keys, newest first, never empty.
    keys: Vec<(u8, [u8; 32])>,
}

/// A nonce that the gateway issued and that has not expired. The store decides whether it was used before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nonce {
    /// SHA-256 of the whole nonce, including the suffix. The store records it as used.
    pub hash: [u8; 32],
    /// When it expires; after that it need not be remembered.
    pub expires_at: Millis,
}

impl Nonce {
    /// The nonce of an element of the call that it signed: the first has the call's. Each has its own, so that one that is refused, and
    /// whose nonce is therefore recorded as used, refuses no other that is decided later.
    #[must_use]
    pub fn of_element(&self, index: usize) -> Self {
        if index == 0 {
            return *self;
        }
        let hash = Sha256::new().chain_update(self.hash).chain_update((index as u64).to_be_bytes()).finalize().into();
        Self { hash, ..*self }
    }
}

impl ChallengeKeys {
    /// Numbered keys, newest first; `None` if there are none, or if two have the same number.
    pub fn new(keys: Vec<(u8, [u8; 32])>) -> Option<Self> {
        let keys = Self { keys };
        let unique = keys.keys.iter().enumerate().all(|(n, (id, _))| keys.keys.iter().take(n).all(|(other, _)| other != id));
        (unique && !keys.keys.is_empty()).then_some(keys)
    }

    /// A fresh challenge, valid for [`CHALLENGE_TTL_S`] from `now`, rounded up to the full second. `random` must not repeat.
    pub fn issue(&self, mode: Mode, now: Millis, random: [u8; 11]) -> String {
        let Some((id, key)) = self.keys.first() else {
            return String::new();
        };
        let second = now.saturating_add(999).div_euclid(1000);
        let expires = u32::try_from(second.saturating_add(CHALLENGE_TTL_S).max(0)).unwrap_or(u32::MAX);
        let mut body = [0; 16];
        body[0] = *id;
        body[1..5].copy_from_slice(&expires.to_be_bytes());
        body[5..].copy_from_slice(&random);
        let mut out = String::with_capacity(PREFIX.len() + 2 * PART_CHARS + 1);
        out.push_str(PREFIX);
        URL_SAFE_NO_PAD.encode_string(body, &mut out);
        out.push('.');
        URL_SAFE_NO_PAD.encode_string(tag(key, mode, &body), &mut out);
        out
    }

    /// Checks that `nonce` starts with an unexpired challenge that these keys tagged for `mode`.
    ///
    /// # Errors
    /// [`ErrorCode::ChallengeInvalid`], without a reason, if it does not; [`ErrorCode::ChallengeExpired`] if it has expired.
    pub fn check(&self, nonce: &str, mode: Mode, now: Millis) -> Result<Nonce, Error> {
        let invalid = || Error::new(ErrorCode::ChallengeInvalid);
        let parsed = Parsed::read(nonce).ok_or_else(invalid)?;
        let key = self.key(parsed.body[0]).ok_or_else(invalid)?;
        if !bool::from(tag(key, mode, &parsed.body)[..].ct_eq(&parsed.tag[..])) {
            return Err(invalid());
        }
        let expires_at = parsed.expires_at();
        if now >= expires_at {
            return Err(Error::new(ErrorCode::ChallengeExpired));
        }
        Ok(Nonce { hash: Sha256::digest(nonce).into(), expires_at })
    }

    /// Whether `nonce` names one of these keys. If not, a host that shares its keys with others may have to reload them.
    pub fn knows(&self, nonce: &str) -> bool {
        Parsed::read(nonce).is_some_and(|parsed| self.key(parsed.body[0]).is_some())
    }

    fn key(&self, id: u8) -> Option<&[u8; 32]> {
        self.keys.iter().find(|(known, _)| *known == id).map(|(_, key)| key)
    }
}

impl Drop for ChallengeKeys {
    fn drop(&mut self) {
        for (_, key) in &mut self.keys {
            key.zeroize();
        }
    }
}

impl fmt::Debug for ChallengeKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChallengeKeys")
    }
}

struct Parsed {
    body: [u8; 16],
    tag: [u8; 16],
}

impl Parsed {
    fn read(nonce: &str) -> Option<Self> {
        let (body, rest) = nonce.strip_prefix(PREFIX)?.split_at_checked(PART_CHARS)?;
        let (tag, rest) = rest.strip_prefix('.')?.split_at_checked(PART_CHARS)?;
        if !rest.is_empty() {
            let suffix = rest.strip_prefix('.')?;
            let plain = suffix.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
            (plain && (1..=SUFFIX_MAX_CHARS).contains(&suffix.len())).then_some(())?;
        }
        Some(Self { body: base64url(body)?, tag: base64url(tag)? })
    }

    fn expires_at(&self) -> Millis {
        let [_, a, b, c, d, ..] = self.body;
        Millis::from(u32::from_be_bytes([a, b, c, d])) * 1000
    }
}

fn tag(key: &[u8; 32], mode: Mode, body: &[u8; 16]) -> [u8; 16] {
    // HMAC pads a key with zeros to a full block; padding it here leaves no error to handle.
    let mut block = Zeroizing::new([0; 64]);
    block[..32].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new((&*block).into()).chain_update(CONTEXT);
    mac.update(mode.as_str().as_bytes());
    mac.update(b"\0");
    mac.update(body);
    let full = mac.finalize().into_bytes();
    let mut out = [0; 16];
    out.copy_from_slice(&full[..16]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_795_257_497_000;
    const RANDOM: [u8; 11] = [0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa];

    fn keys(ids: &[u8]) -> ChallengeKeys {
        let key = |id: u8| (id, std::array::from_fn(|n| n as u8 ^ id ^ 7));
        ChallengeKeys::new(ids.iter().map(|id| key(*id)).collect()).unwrap()
    }

    fn code(result: Result<Nonce, Error>) -> Option<ErrorCode> {
        result.err().map(|error| error.code)
    }

    #[test]
    fn a_challenge_is_good_for_its_time_and_its_mode() {
        let keys = keys(&[7]);
        for mode in [Mode::Sandbox, Mode::Live] {
            let challenge = keys.issue(mode, NOW, RANDOM);
            assert_eq!(keys.check(&challenge, mode, NOW).unwrap().expires_at, NOW + 300_000);
            assert!(keys.check(&challenge, mode, NOW + 299_999).is_ok());
            assert_eq!(code(keys.check(&challenge, mode, NOW + 300_000)), Some(ErrorCode::ChallengeExpired));
            let other = if mode == Mode::Live { Mode::Sandbox } else { Mode::Live };
            assert_eq!(code(keys.check(&challenge, other, NOW)), Some(ErrorCode::ChallengeInvalid));
        }
        assert_eq!(keys.check(&keys.issue(Mode::Live, NOW + 1, RANDOM), Mode::Live, NOW).unwrap().expires_at, NOW + 301_000);
    }

    #[test]
    fn each_suffix_is_another_nonce() {
        let keys = keys(&[7]);
        let challenge = keys.issue(Mode::Live, NOW, RANDOM);
        let long = format!("{challenge}.{}", "x".repeat(32));
        let nonces = [challenge.clone(), format!("{challenge}.a"), format!("{challenge}.b"), format!("{challenge}._-9Z"), long];
        let hashes: std::collections::BTreeSet<_> = nonces.iter().map(|nonce| keys.check(nonce, Mode::Live, NOW).unwrap().hash).collect();
        assert_eq!(hashes.len(), nonces.len());
        for suffix in [".", ".a b", ".a.b", ".é", "a", "..", ".=", &format!(".{}", "x".repeat(33))] {
            let nonce = format!("{challenge}{suffix}");
            assert_eq!(code(keys.check(&nonce, Mode::Live, NOW)), Some(ErrorCode::ChallengeInvalid), "{suffix}");
        }
    }

    #[test]
    fn every_changed_character_is_noticed() {
        let keys = keys(&[7]);
        let challenge = keys.issue(Mode::Live, NOW, RANDOM);
        for at in 0..challenge.len() {
            for other in "A_z9.=".chars() {
                let mut changed = challenge.clone();
                changed.replace_range(at..=at, other.encode_utf8(&mut [0; 4]));
                if changed != challenge {
                    // Even if it has expired: only genuine challenges are reported as expired.
                    assert_eq!(code(keys.check(&changed, Mode::Live, NOW * 2)), Some(ErrorCode::ChallengeInvalid), "{changed}");
                }
            }
            assert_eq!(code(keys.check(&challenge[..at], Mode::Live, NOW)), Some(ErrorCode::ChallengeInvalid));
        }
        for nonce in ["", "c1.", "é", "c1.éééééééééééé.", &challenge.replace("c1", "c2"), &challenge.to_uppercase()] {
            assert_eq!(code(keys.check(nonce, Mode::Live, NOW)), Some(ErrorCode::ChallengeInvalid), "{nonce}");
        }
    }

    #[test]
    fn keys_are_rotated_by_number() {
        let (old, both, new) = (keys(&[7]), keys(&[8, 7]), keys(&[8]));
        let (from_old, from_both) = (old.issue(Mode::Live, NOW, RANDOM), both.issue(Mode::Live, NOW, RANDOM));
        assert_eq!(from_both, new.issue(Mode::Live, NOW, RANDOM));
        assert!(both.check(&from_old, Mode::Live, NOW).is_ok() && both.check(&from_both, Mode::Live, NOW).is_ok());
        assert!(!new.knows(&from_old) && !old.knows(&from_both) && both.knows(&from_old) && !both.knows("c1."));
        assert_eq!(code(new.check(&from_old, Mode::Live, NOW)), Some(ErrorCode::ChallengeInvalid));
    }

    #[test]
    fn keys_are_at_least_one_and_each_its_own() {
        assert!(ChallengeKeys::new(Vec::new()).is_none());
        assert!(ChallengeKeys::new(vec![(1, [1; 32]), (1, [2; 32])]).is_none());
        assert_eq!(format!("{:?}", keys(&[7])), "ChallengeKeys");
    }
}
