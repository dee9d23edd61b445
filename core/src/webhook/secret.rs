//! The secret that signs webhooks.

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, PAD, STANDARD};
use zeroize::Zeroizing;

/// The prefix of a secret's text.
const PREFIX: &str = "whsec_";
/// The bounds of the specification: 192 to 512 bits.
const MIN_BYTES: usize = 24;
const MAX_BYTES: usize = 64;
/// The length of 64 bytes in base64. A text of this length may contain up to 66 bytes; longer ones are refused.
const MAX_CHARS: usize = MAX_BYTES.div_ceil(3) * 4;
const DECODED_BYTES: usize = MAX_CHARS / 4 * 3;

/// With or without padding, as in other libraries.
const LENIENT: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, PAD.with_decode_padding_mode(DecodePaddingMode::Indifferent));

/// A secret shared by the sender and the receiver of webhooks: 24 to 64 bytes, or 32 if this gateway generated it.
///
/// Wiped from memory when dropped, and never shown by `Debug`.
#[derive(Clone)]
pub struct WebhookSecret(Zeroizing<Vec<u8>>);

/// Why a text is not a webhook secret. Never quotes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// The text after the prefix is not base64.
    #[error("the webhook secret is not `whsec_` and base64 (the standard alphabet)")]
    Encoding,
    /// It decodes to too few or too many bytes.
    #[error("a webhook secret has 24 to 64 bytes")]
    Length,
}

impl WebhookSecret {
    /// Parses `whsec_` and base64 (RFC 4648, section 4). The prefix and the padding are optional, as in the reference libraries of
    /// the specification.
    ///
    /// # Errors
    /// [`SecretError`].
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let encoded = text.strip_prefix(PREFIX).unwrap_or(text);
        if encoded.len() > MAX_CHARS {
            return Err(SecretError::Length);
        }
        // Decodes into a fixed buffer: a growing vector leaves copies in memory.
        let mut decoded = Zeroizing::new([0u8; DECODED_BYTES]);
        let len = LENIENT.decode_slice(encoded, decoded.as_mut_slice()).map_err(|_| SecretError::Encoding)?;
        if !(MIN_BYTES..=MAX_BYTES).contains(&len) {
            return Err(SecretError::Length);
        }
        Ok(Self(Zeroizing::new(decoded[..len].to_vec())))
    }

    /// The secret with these bytes, which must be random.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        let bytes = Zeroizing::new(bytes);
        Self(Zeroizing::new(bytes.to_vec()))
    }

    /// The secret as `whsec_` and base64, for the only time that its owner sees it.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut text = Zeroizing::new(String::with_capacity(PREFIX.len() + MAX_CHARS));
        text.push_str(PREFIX);
        STANDARD.encode_string(self.as_bytes(), &mut text);
        text
    }

    /// The secret's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(..)")
    }
}

impl std::str::FromStr for WebhookSecret {
    type Err = SecretError;

    fn from_str(text: &str) -> Result<Self, SecretError> {
        Self::parse(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_back_with_and_without_its_prefix() {
        let secret = WebhookSecret::from_bytes([7; 32]);
        let text = secret.to_text();
        assert_eq!(text.as_str(), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
        assert_eq!(WebhookSecret::parse(&text).unwrap().as_bytes(), [7; 32]);
        assert_eq!(WebhookSecret::parse(&text[6..]).unwrap().as_bytes(), [7; 32]);
        assert_eq!(WebhookSecret::parse(text.trim_end_matches('=')).unwrap().as_bytes(), [7; 32]);
        for len in [24, 25, 63, 64] {
            let text = STANDARD.encode(vec![9; len]);
            assert_eq!(WebhookSecret::parse(&text).unwrap().as_bytes(), vec![9; len], "{len}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for len in [0, 1, 16, 23, 65, 66, 67, 4096] {
            let text = format!("whsec_{}", STANDARD.encode(vec![9; len]));
            assert_eq!(WebhookSecret::parse(&text).unwrap_err(), SecretError::Length, "{len}");
        }
        let good = STANDARD.encode([9; 32]);
        let url_safe = "-_".repeat(16);
        for bad in [
            "whsec_whsec_AAAA",
            "whpk_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=",
            &good[..41],
            &format!(" {good}"),
            &format!("{good}\n"),
            &url_safe,
            "é",
        ] {
            assert_eq!(WebhookSecret::parse(bad).unwrap_err(), SecretError::Encoding, "{bad}");
        }
    }

    #[test]
    fn it_is_not_shown() {
        assert_eq!(format!("{:?}", WebhookSecret::from_bytes([7; 32])), "WebhookSecret(..)");
    }
}
