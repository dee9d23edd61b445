//! Messages for one subscription (RFC 8291): encrypted with a fresh key for that of the browser, as one record.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::coding::{Coding, CodingError, HEADER, Header, TAG};
use crate::auth::base64url;

/// The size of the only record, and of the longest body that every push service takes (RFC 8030, section 7.2).
pub const RECORD_BYTES: usize = 4096;
const POINT: usize = 65;
/// The longest text of a message.
pub const PLAINTEXT_MAX_BYTES: usize = RECORD_BYTES - HEADER - POINT - TAG - 1;
/// Texts are padded to a multiple of this, so that their length says little.
const STEP: usize = 256;

/// The keys of a subscription: whose holder reads its messages. The `Debug` output omits them.
#[derive(Clone, PartialEq, Eq)]
pub struct SubscriptionKeys {
    public: [u8; POINT],
    auth: [u8; 16],
}

/// Why the keys of a subscription cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeysError {
    /// `p256dh` is not a point of P-256.
    #[error("p256dh must be an uncompressed point of P-256 in base64url, as PushSubscription.toJSON() gives it")]
    P256dh,
    /// `auth` is not 16 bytes.
    #[error("auth must be 16 bytes in base64url, as PushSubscription.toJSON() gives it")]
    Auth,
}

impl SubscriptionKeys {
    /// Reads both keys, in base64url.
    ///
    /// # Errors
    /// [`KeysError`].
    pub fn parse(p256dh: &str, auth: &str) -> Result<Self, KeysError> {
        // Some libraries pad.
        let unpadded = |text: &str| text.trim_end_matches('=').to_owned();
        let public = base64url(&unpadded(p256dh)).filter(is_point).ok_or(KeysError::P256dh)?;
        let auth = base64url(&unpadded(auth)).ok_or(KeysError::Auth)?;
        Ok(Self { public, auth })
    }

    /// The keys of a subscription that belongs to this private key; `None` if that is zero or not below the group's order.
    pub fn of(private: &[u8; 32], auth: [u8; 16]) -> Option<Self> {
        let public = point_of(&p256::SecretKey::from_slice(private).ok()?.public_key());
        Some(Self { public, auth })
    }

    /// Both keys in base64url, as [`SubscriptionKeys::parse`] reads them: `p256dh` and `auth`.
    pub fn texts(&self) -> (String, String) {
        (URL_SAFE_NO_PAD.encode(self.public), URL_SAFE_NO_PAD.encode(self.auth))
    }

    /// The bytes to store: [`SubscriptionKeys::from_bytes`] reads them.
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([&self.public[..], &self.auth[..]].concat())
    }

    /// The keys from their stored bytes; `None` if they are others.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (public, auth) = bytes.split_first_chunk::<POINT>()?;
        Some(Self { public: *public, auth: auth.try_into().ok()? }).filter(|keys| is_point(&keys.public))
    }

    /// The secret that both sides know beside the agreed one.
    pub(super) fn auth(&self) -> &[u8; 16] {
        &self.auth
    }

    /// The input key of the coding, for what both sides agreed on with these public keys.
    fn derive(&self, shared: &[u8], sender: &[u8; POINT]) -> Zeroizing<[u8; 32]> {
        let info = [b"WebPush: info\0", &self.public[..], &sender[..]].concat();
        let mut secret = Zeroizing::new([0; 32]);
        // It is far shorter than the longest output.
        let _ = Hkdf::<Sha256>::new(Some(&self.auth), shared).expand(&info, &mut *secret);
        secret
    }
}

impl fmt::Debug for SubscriptionKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SubscriptionKeys(..)")
    }
}

fn is_point(bytes: &[u8; POINT]) -> bool {
    bytes[0] == 4 && p256::PublicKey::from_sec1_bytes(bytes).is_ok()
}

fn point_of(key: &p256::PublicKey) -> [u8; POINT] {
    let mut bytes = [4; POINT];
    bytes.copy_from_slice(key.to_sec1_point(false).as_bytes());
    bytes
}

/// Encrypts a message for a subscription. `salt` and `ephemeral`, the secret of the key that is made for this message, must be drawn for
/// it alone. `None` if `ephemeral` is no secret of P-256, of which the chance is 2⁻³²: draw again; or if the text is longer than
/// [`PLAINTEXT_MAX_BYTES`].
pub fn encrypt(keys: &SubscriptionKeys, text: &[u8], salt: [u8; 16], ephemeral: &[u8; 32]) -> Option<Vec<u8>> {
    let padded = (text.len() + 1).next_multiple_of(STEP).min(PLAINTEXT_MAX_BYTES + 1);
    let padding = padded.checked_sub(text.len() + 1)?;
    encrypt_padded(keys, text, padding, salt, ephemeral)
}

fn encrypt_padded(keys: &SubscriptionKeys, text: &[u8], padding: usize, salt: [u8; 16], ephemeral: &[u8; 32]) -> Option<Vec<u8>> {
    let ours = p256::SecretKey::from_slice(ephemeral).ok()?;
    let theirs = p256::PublicKey::from_sec1_bytes(&keys.public).ok()?;
    let shared = p256::ecdh::diffie_hellman(ours.to_nonzero_scalar(), theirs.as_affine());
    let sender = point_of(&ours.public_key());
    let secret = keys.derive(shared.raw_secret_bytes(), &sender);
    let coded = Coding::new(&*secret, &salt).encode(&salt, RECORD_BYTES as u32, &sender, &[(text, padding)])?;
    Some(coded).filter(|coded| coded.len() <= RECORD_BYTES)
}

/// Decrypts a message with the subscription's private key, as a browser does.
///
/// # Errors
/// [`CodingError`], also if there is more than one record, which RFC 8291 forbids.
pub fn decrypt(keys: &SubscriptionKeys, private: &[u8; 32], body: &[u8]) -> Result<Vec<u8>, CodingError> {
    let header = Header::read(body)?;
    let sender: [u8; POINT] = header.key_id.try_into().map_err(|_| CodingError::Header)?;
    if header.records.len() > header.record {
        return Err(CodingError::Record);
    }
    let theirs = p256::PublicKey::from_sec1_bytes(&sender).map_err(|_| CodingError::Header)?;
    let ours = p256::SecretKey::from_slice(private).map_err(|_| CodingError::Forged)?;
    let shared = p256::ecdh::diffie_hellman(ours.to_nonzero_scalar(), theirs.as_affine());
    Coding::new(&*keys.derive(shared.raw_secret_bytes(), &sender), &header.salt).decode(&header)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        base64url(text).unwrap()
    }

    /// RFC 8291, appendix A.
    const P256DH: &str = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
    const AUTH: &str = "BTBZMqHH6r4Tts7J_aSIgg";
    const RECEIVER: &str = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94";
    const SENDER: &str = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw";
    const TEXT: &[u8] = b"When I grow up, I want to be a watermelon";
    const BODY: &str = concat!(
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95b",
        "Qpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
    );

    fn keys() -> SubscriptionKeys {
        SubscriptionKeys::parse(P256DH, AUTH).unwrap()
    }

    #[test]
    fn the_example_of_the_standard_is_encrypted_byte_for_byte() {
        let body = encrypt_padded(&keys(), TEXT, 0, bytes("DGv6ra1nlYgDCS1FRnbzlw"), &bytes(SENDER)).unwrap();
        assert_eq!(body, bytes::<144>(BODY));
        assert_eq!(decrypt(&keys(), &bytes(RECEIVER), &body).unwrap(), TEXT);
    }

    #[test]
    fn only_the_receiver_reads_it() {
        let body = encrypt(&keys(), TEXT, [1; 16], &[2; 32]).unwrap();
        assert_eq!(decrypt(&keys(), &[3; 32], &body), Err(CodingError::Forged), "another key");
        let other = SubscriptionKeys { auth: [0; 16], ..keys() };
        assert_eq!(decrypt(&other, &bytes(RECEIVER), &body), Err(CodingError::Forged), "another secret");
        assert_eq!(encrypt(&keys(), TEXT, [1; 16], &[0; 32]), None, "zero is no secret");
    }

    #[test]
    fn a_message_fits_into_one_record_and_its_length_says_little() {
        let length = |text: usize| encrypt(&keys(), &vec![b'x'; text], [1; 16], &[2; 32]).map(|body| body.len());
        assert_eq!(length(0), length(255));
        assert_ne!(length(255), length(256));
        assert_eq!(length(PLAINTEXT_MAX_BYTES), Some(RECORD_BYTES));
        assert_eq!(length(PLAINTEXT_MAX_BYTES + 1), None);
        assert_eq!(PLAINTEXT_MAX_BYTES, 3993);
    }

    #[test]
    fn keys_are_read_as_a_browser_writes_them() {
        let stored = keys().to_bytes();
        assert_eq!(SubscriptionKeys::from_bytes(&stored), Some(keys()));
        assert_eq!(SubscriptionKeys::from_bytes(&stored[1..]), None);
        assert_eq!(SubscriptionKeys::parse(&format!("{P256DH}="), &format!("{AUTH}==")), Ok(keys()), "some libraries pad");
        let off_curve = format!("{}A", &P256DH[..P256DH.len() - 1]);
        for bad in ["", "BCVx", &P256DH[1..], &off_curve, "not base64!"] {
            assert_eq!(SubscriptionKeys::parse(bad, AUTH), Err(KeysError::P256dh), "{bad}");
        }
        for bad in ["", "BTBZMqHH6r4Tts7J_aSI", "BTBZMqHH6r4Tts7J_aSIggAA"] {
            assert_eq!(SubscriptionKeys::parse(P256DH, bad), Err(KeysError::Auth), "{bad}");
        }
        assert_eq!(format!("{:?}", keys()), "SubscriptionKeys(..)");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_was_encrypted_is_read(
            text in prop::collection::vec(any::<u8>(), 0..PLAINTEXT_MAX_BYTES + 1), salt in any::<[u8; 16]>(), mut secret in any::<[u8; 32]>(),
            changed in any::<prop::sample::Index>(),
        ) {
            secret[0] &= 0x7f;
            secret[31] |= 1;
            let body = encrypt(&keys(), &text, salt, &secret).unwrap();
            prop_assert!(body.len() <= RECORD_BYTES);
            prop_assert_eq!(decrypt(&keys(), &bytes(RECEIVER), &body).unwrap(), text);
            let mut forged = body;
            let at = changed.index(forged.len());
            forged[at] ^= 1;
            // The record size alone may be another one that fits.
            prop_assert!((16..20).contains(&at) || decrypt(&keys(), &bytes(RECEIVER), &forged).is_err());
        }
    }
}
