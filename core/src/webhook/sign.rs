//! Signing and verifying: HMAC-SHA256 over `id.timestamp.body`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};

use super::secret::WebhookSecret;

/// The header with the event's id. It is the same in each attempt, so that a receiver recognises duplicates.
pub const ID: &str = "webhook-id";
/// The header with the time of the attempt, in seconds since the Unix epoch.
pub const TIMESTAMP: &str = "webhook-timestamp";
/// The header with the signatures.
pub const SIGNATURE: &str = "webhook-signature";

/// How far a timestamp may differ from the receiver's clock by default, in either direction: five minutes.
pub const TOLERANCE_S: i64 = 300;

/// The only supported version of signatures.
const VERSION: &str = "v1";
/// Longer headers are refused.
const ID_MAX_BYTES: usize = 256;
const SIGNATURE_MAX_BYTES: usize = 4096;
/// Enough until the year 33658, without any risk of overflow.
const TIMESTAMP_MAX_DIGITS: usize = 12;

/// The three headers of a signed webhook, as received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignedHeaders<'a> {
    /// The value of `webhook-id`.
    pub id: &'a str,
    /// The value of `webhook-timestamp`, as text.
    pub timestamp: &'a str,
    /// The value of `webhook-signature`: `v1,` and base64; several signatures are separated by spaces.
    pub signature: &'a str,
}

/// Why a webhook must not be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// This header is missing.
    #[error("the header {0} is missing")]
    Missing(&'static str),
    /// This header is not in the format of Standard Webhooks.
    #[error("the header {0} is malformed")]
    Malformed(&'static str),
    /// It was sent too long ago: it may be an old one that somebody replays.
    #[error("the webhook was sent {age_s} s ago, more than is tolerated")]
    TooOld {
        /// Its age, in seconds.
        age_s: i64,
    },
    /// Its timestamp is in the future: one of the two clocks is wrong.
    #[error("the webhook's timestamp is {ahead_s} s in the future, more than is tolerated")]
    TooNew {
        /// How far it is in the future, in seconds.
        ahead_s: i64,
    },
    /// None of the signatures matches any of the secrets for this id, timestamp and body.
    #[error("no signature matches: the webhook was changed in transit, or signed with another secret")]
    NoMatchingSignature,
}

impl VerifyError {
    /// The stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Missing(_) => "header_missing",
            Self::Malformed(_) => "header_malformed",
            Self::TooOld { .. } => "timestamp_too_old",
            Self::TooNew { .. } => "timestamp_too_new",
            Self::NoMatchingSignature => "no_matching_signature",
        }
    }
}

impl<'a> SignedHeaders<'a> {
    /// Collects the headers: `find` returns the value of a header by its lower-case name.
    ///
    /// # Errors
    /// [`VerifyError::Missing`].
    pub fn find(find: impl Fn(&'static str) -> Option<&'a str>) -> Result<Self, VerifyError> {
        let header = |name| find(name).ok_or(VerifyError::Missing(name));
        Ok(Self { id: header(ID)?, timestamp: header(TIMESTAMP)?, signature: header(SIGNATURE)? })
    }

    /// When the attempt was made, in seconds since the Unix epoch. Do not trust it before [`verify`] has succeeded.
    ///
    /// # Errors
    /// [`VerifyError::Malformed`] unless it is a canonical decimal number.
    pub fn timestamp_s(&self) -> Result<i64, VerifyError> {
        let text = self.timestamp;
        let canonical = text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
        let number = Some(text).filter(|text| canonical && text.len() <= TIMESTAMP_MAX_DIGITS);
        number.and_then(|text| text.parse().ok()).ok_or(VerifyError::Malformed(TIMESTAMP))
    }

    /// The id must not contain a full stop: it could absorb part of the signed text after it.
    fn check_id(&self) -> Result<(), VerifyError> {
        let fits = (1..=ID_MAX_BYTES).contains(&self.id.len()) && self.id.bytes().all(|b| b.is_ascii_graphic() && b != b'.');
        fits.then_some(()).ok_or(VerifyError::Malformed(ID))
    }
}

/// The value of `webhook-signature` for a body: one signature per secret, separated by spaces.
///
/// `id` is the `webhook-id` and must not contain a full stop, as the ids of this gateway never do; `at_s`, in seconds since the
/// Unix epoch, is the `webhook-timestamp`, sent as a decimal number; `body` is signed byte for byte as it is sent.
pub fn sign(secrets: &[WebhookSecret], id: &str, at_s: i64, body: &[u8]) -> String {
    const LENGTH: usize = "v1,".len() + 44 + " ".len();
    let timestamp = at_s.to_string();
    let mut header = String::with_capacity(LENGTH * secrets.len());
    for secret in secrets {
        if !header.is_empty() {
            header.push(' ');
        }
        header.push_str(VERSION);
        header.push(',');
        STANDARD.encode_string(mac(secret, id, &timestamp, body), &mut header);
    }
    header
}

/// Checks that a webhook was signed with one of the secrets, and that its timestamp differs from `now_s` by at most `tolerance_s`
/// seconds, in either direction ([`TOLERANCE_S`] is what Standard Webhooks recommends). Signatures of versions other than `v1` are
/// ignored. Signatures are compared in constant time.
///
/// It cannot tell whether the webhook was received before: remember its id for at least the tolerance.
///
/// # Errors
/// [`VerifyError`]: the webhook was not signed, or not for this receiver.
pub fn verify(
    secrets: &[WebhookSecret],
    headers: &SignedHeaders<'_>,
    body: &[u8],
    now_s: i64,
    tolerance_s: i64,
) -> Result<(), VerifyError> {
    headers.check_id()?;
    let at_s = headers.timestamp_s()?;
    let signature = headers.signature;
    if signature.is_empty() || signature.len() > SIGNATURE_MAX_BYTES || !signature.contains(',') {
        return Err(VerifyError::Malformed(SIGNATURE));
    }
    let age_s = now_s.saturating_sub(at_s);
    if age_s > tolerance_s {
        return Err(VerifyError::TooOld { age_s });
    }
    if age_s.saturating_neg() > tolerance_s {
        return Err(VerifyError::TooNew { ahead_s: age_s.saturating_neg() });
    }
    // The header is short, and therefore the work that a stranger can cause as well.
    let given: Vec<[u8; 32]> = signature.split(' ').filter_map(decoded).collect();
    let mut matches = Choice::from(0);
    for secret in secrets {
        let expected = mac(secret, headers.id, headers.timestamp, body);
        for given in &given {
            matches |= given.ct_eq(&expected);
        }
    }
    bool::from(matches).then_some(()).ok_or(VerifyError::NoMatchingSignature)
}

/// The bytes of a signature, if it has the supported version.
fn decoded(signature: &str) -> Option<[u8; 32]> {
    let (version, encoded) = signature.split_once(',')?;
    let bytes = STANDARD.decode(encoded).ok().filter(|_| version == VERSION)?;
    bytes.try_into().ok()
}

fn mac(secret: &WebhookSecret, id: &str, timestamp: &str, body: &[u8]) -> [u8; 32] {
    #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
    let mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("HMAC takes any key");
    mac.chain_update(id).chain_update(b".").chain_update(timestamp).chain_update(b".").chain_update(body).finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const NOW: i64 = 1_614_265_330;

    /// The test vector of the specification's reference libraries.
    fn known() -> (WebhookSecret, SignedHeaders<'static>) {
        let headers = SignedHeaders {
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            timestamp: "1614265330",
            signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        };
        (WebhookSecret::parse("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap(), headers)
    }

    fn other() -> WebhookSecret {
        WebhookSecret::from_bytes([1; 32])
    }

    #[test]
    fn the_spec_s_vector_is_signed_and_verified() {
        let (secret, headers) = known();
        let secrets = [secret];
        assert_eq!(sign(&secrets, headers.id, NOW, BODY), headers.signature);
        assert_eq!(verify(&secrets, &headers, BODY, NOW, 0), Ok(()));
        assert_eq!(verify(&[other(), secrets[0].clone()], &headers, BODY, NOW, 0), Ok(()));
    }

    #[test]
    fn during_a_rotation_either_secret_verifies() {
        let (old, headers) = known();
        let both = [other(), old];
        let signature = sign(&both, headers.id, NOW, BODY);
        assert_eq!(signature.split(' ').count(), 2);
        let headers = SignedHeaders { signature: &signature, ..headers };
        for one in &both {
            assert_eq!(verify(std::slice::from_ref(one), &headers, BODY, NOW, 0), Ok(()));
        }
        let neither = [WebhookSecret::from_bytes([2; 32])];
        assert_eq!(verify(&neither, &headers, BODY, NOW, 0), Err(VerifyError::NoMatchingSignature));
        assert_eq!(sign(&[], headers.id, NOW, BODY), "");
    }

    #[test]
    fn nothing_may_be_changed_on_the_way() {
        let (secret, headers) = known();
        let secrets = [secret];
        let no = Err(VerifyError::NoMatchingSignature);
        assert_eq!(verify(&secrets, &headers, br#"{"test":2432232314}"#, NOW, 10), no);
        assert_eq!(verify(&secrets, &headers, b"", NOW, 10), no);
        assert_eq!(verify(&secrets, &SignedHeaders { id: "msg_other", ..headers }, BODY, NOW, 10), no);
        assert_eq!(verify(&secrets, &SignedHeaders { timestamp: "1614265331", ..headers }, BODY, NOW, 10), no);
        assert_eq!(verify(&[other()], &headers, BODY, NOW, 10), no);
        assert_eq!(verify(&[], &headers, BODY, NOW, 10), no);
    }

    #[test]
    fn only_whole_signatures_of_version_1_count() {
        let (secret, headers) = known();
        let secrets = [secret];
        let good = headers.signature;
        let with = |signature: &str| verify(&secrets, &SignedHeaders { signature, ..headers }, BODY, NOW, 0);
        for passes in [
            format!("v1a,{} {good}", STANDARD.encode([0; 64])),
            format!("{good} v2,AAAA"),
            format!("v1,!!! v1, nonsense {good}"),
            format!("v1,{} {good}", STANDARD.encode([0; 32])),
            format!("  {good} "),
        ] {
            assert_eq!(with(&passes), Ok(()), "{passes}");
        }
        let bare = good.strip_prefix("v1,").unwrap();
        for fails in [
            format!("v1a,{bare}"),
            format!("v2,{bare}"),
            format!("V1,{bare}"),
            format!(",{bare}"),
            format!("v1,{}", &bare[..43]),
            format!("v1,{bare}="),
            format!("v1,{}", STANDARD.encode([0; 32])),
            // Part of it is not enough.
            format!("v1,{}", STANDARD.encode(&STANDARD.decode(bare).unwrap()[..16])),
            "v1,".into(),
            good.replace(' ', "\t").replace("v1,", "v1\t,"),
        ] {
            assert_eq!(with(&fails), Err(VerifyError::NoMatchingSignature), "{fails}");
        }
        let long = format!("{good} {}", "v1,AAAA ".repeat(512));
        for malformed in ["", "v1", bare, &long] {
            assert_eq!(with(malformed), Err(VerifyError::Malformed(SIGNATURE)), "{malformed}");
        }
    }

    #[test]
    fn a_timestamp_is_near_and_written_in_one_way_only() {
        let (secret, headers) = known();
        let secrets = [secret];
        let at = |now_s| verify(&secrets, &headers, BODY, now_s, TOLERANCE_S);
        assert_eq!((at(NOW - 300), at(NOW + 300)), (Ok(()), Ok(())));
        assert_eq!(at(NOW + 301), Err(VerifyError::TooOld { age_s: 301 }));
        assert_eq!(at(NOW - 301), Err(VerifyError::TooNew { ahead_s: 301 }));
        assert!(matches!(at(i64::MAX), Err(VerifyError::TooOld { .. })));
        assert!(matches!(at(i64::MIN), Err(VerifyError::TooNew { .. })));
        for bad in ["", "-1", "+1614265330", "01614265330", " 1614265330", "1614265330.0", "1e9", "1614265330000000", "١٦"] {
            let verified = verify(&secrets, &SignedHeaders { timestamp: bad, ..headers }, BODY, NOW, i64::MAX);
            assert_eq!(verified, Err(VerifyError::Malformed(TIMESTAMP)), "{bad}");
        }
    }

    #[test]
    fn an_id_takes_nothing_over_from_what_follows_it() {
        let secrets = [other()];
        // Signed with id "evt", timestamp 5 and a body that starts like a timestamp.
        let signature = sign(&secrets, "evt", 5, b"1614265330.{}");
        let shifted = SignedHeaders { id: "evt.5", timestamp: "1614265330", signature: &signature };
        assert_eq!(verify(&secrets, &shifted, b"{}", NOW, 0), Err(VerifyError::Malformed(ID)));
        let long = "x".repeat(257);
        for bad in ["", "a b", "a\nb", "é", &long] {
            let headers = SignedHeaders { id: bad, ..shifted };
            assert_eq!(verify(&secrets, &headers, b"{}", NOW, 0), Err(VerifyError::Malformed(ID)), "{bad}");
        }
    }

    #[test]
    fn a_header_that_is_missing_is_named() {
        let (_, headers) = known();
        let without = |gone: &'static str| {
            SignedHeaders::find(|name| match name {
                _ if name == gone => None,
                ID => Some(headers.id),
                TIMESTAMP => Some(headers.timestamp),
                _ => Some(headers.signature),
            })
        };
        assert_eq!(without("none"), Ok(headers));
        for name in [ID, TIMESTAMP, SIGNATURE] {
            assert_eq!(without(name), Err(VerifyError::Missing(name)));
        }
    }
}
