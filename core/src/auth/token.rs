//! Access tokens: opaque, with a checksum that reveals typing errors without a look-up.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::ledger::Mode;
use crate::store::record::Digest32;

/// The text of a token: `rg_sandbox_` or `rg_live_`, then base64url of 32 random bytes and the first 4 bytes of their SHA-256.
pub fn token_text(mode: Mode, secret: &[u8; 32]) -> String {
    let mut bytes = [0u8; 36];
    bytes[..32].copy_from_slice(secret);
    bytes[32..].copy_from_slice(&checksum(secret));
    format!("rg_{}_{}", mode.as_str(), URL_SAFE_NO_PAD.encode(bytes))
}

/// The mode that a token's prefix names, whether or not the rest is valid.
pub fn token_mode(token: &str) -> Option<Mode> {
    let rest = token.strip_prefix("rg_")?;
    Mode::ALL.iter().copied().find(|mode| rest.strip_prefix(mode.as_str()).is_some_and(|rest| rest.starts_with('_')))
}

/// The hash under which a token is stored; `None` for text that cannot be a valid token.
pub fn token_hash(token: &str) -> Option<Digest32> {
    let mode = token_mode(token)?;
    let body = token.get("rg__".len() + mode.as_str().len()..)?;
    let bytes = URL_SAFE_NO_PAD.decode(body).ok().filter(|b| b.len() == 36)?;
    let (secret, sum) = bytes.split_at(32);
    (checksum(secret) == sum).then(|| Sha256::digest(token.as_bytes()).into())
}

fn checksum(secret: &[u8]) -> [u8; 4] {
    let digest = Sha256::digest(secret);
    [digest[0], digest[1], digest[2], digest[3]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_told_from_noise_without_a_read() {
        let token = token_text(Mode::Sandbox, &[7; 32]);
        assert!(token.starts_with("rg_sandbox_") && token.len() == 11 + 48, "{token}");
        assert_eq!(token_hash(&token), Some(Sha256::digest(token.as_bytes()).into()));
        assert_eq!(token_mode(&token_text(Mode::Live, &[7; 32])), Some(Mode::Live));
        let mut changed = token.clone();
        changed.replace_range(20..21, if &token[20..21] == "A" { "B" } else { "A" });
        for noise in ["", "rg_sandbox_", "rg_test_AAAA", "Bearer", changed.as_str(), &token[..58]] {
            assert_eq!(token_hash(noise), None, "{noise}");
        }
    }
}
