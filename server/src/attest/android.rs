//! Android Key Attestation: a chain of certificates from Google's root to one of the key itself, whose extension says where the key lives.

use railgate::auth::PublicKey;
use railgate::store::record::AttestationLevel;
use x509_cert::der::asn1::{AnyRef, OctetStringRef};
use x509_cert::der::{Decode as _, Reader as _, SliceReader, Tag, Tagged as _};

use super::{Attestor, Enrolling, challenge, decoded, extension, subject_key, weaker};

/// `KeyDescription`.
const KEY_DESCRIPTION: &str = "1.3.6.1.4.1.11129.2.1.17";

/// Where the key lives, if the chain proves it.
pub(super) fn level(attestor: &Attestor, chain: &[String], enrolling: &Enrolling<'_>) -> Result<AttestationLevel, String> {
    let chain: Vec<Vec<u8>> = chain.iter().map(|text| decoded(text)).collect::<Result<_, _>>()?;
    let leaf = attestor.verified(&chain, enrolling.now)?;
    if !is_of(enrolling.key, subject_key(&leaf)) {
        return Err("the certificate is of another key".to_owned());
    }
    let described = extension(&leaf, KEY_DESCRIPTION).ok_or("the certificate describes no key")?;
    let (attests, lives, asked) = description(described).map_err(|error| format!("the description of the key cannot be read: {error}"))?;
    if asked != challenge(enrolling.code, "") {
        return Err("the challenge is not that of this code".to_owned());
    }
    Ok(weaker(attests, lives))
}

fn is_of(key: &PublicKey, found: &[u8]) -> bool {
    match key {
        PublicKey::P256(point) => found == point,
        PublicKey::Ed25519(bytes) => found == bytes,
    }
}

/// The levels of who attests and of the key, and the challenge: the first members of the sequence.
fn description(der: &[u8]) -> Result<(AttestationLevel, AttestationLevel, Vec<u8>), x509_cert::der::Error> {
    let outer = AnyRef::from_der(der)?;
    outer.tag().assert_eq(Tag::Sequence)?;
    let mut reader = SliceReader::new(outer.value())?;
    let _version: u32 = reader.decode()?;
    let attests = security_level(reader.decode()?)?;
    let _key_version: u32 = reader.decode()?;
    let lives = security_level(reader.decode()?)?;
    let asked: OctetStringRef<'_> = reader.decode()?;
    Ok((attests, lives, asked.as_bytes().to_vec()))
}

/// `SecurityLevel`: 0 software, 1 trusted environment, 2 StrongBox.
fn security_level(value: AnyRef<'_>) -> Result<AttestationLevel, x509_cert::der::Error> {
    value.tag().assert_eq(Tag::Enumerated)?;
    Ok(match value.value() {
        [2] => AttestationLevel::StrongBox,
        [1] => AttestationLevel::TrustedEnvironment,
        _ => AttestationLevel::Software,
    })
}
