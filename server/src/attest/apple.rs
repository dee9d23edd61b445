//! App Attest: Apple's word that an unmodified app on a genuine device vouches for the key that enrols.

use ciborium::Value;
use railgate::store::record::AttestationLevel;
use sha2::{Digest as _, Sha256};
use x509_cert::der::asn1::{AnyRef, OctetStringRef};
use x509_cert::der::{Decode as _, Reader as _, SliceReader, Tag, Tagged as _};

use super::{Attestor, Enrolling, challenge, decoded, extension, subject_key};

/// The nonce that Apple has certified.
const NONCE: &str = "1.2.840.113635.100.8.2";
/// The identifiers of the service, in production and while an app is developed.
const AAGUIDS: [&[u8; 16]; 2] = [b"appattest\0\0\0\0\0\0\0", b"appattestdevelop"];
/// Before the id of the attested key: digest of the app's id, flags, counter, identifier of the service, length.
const HEAD: usize = 32 + 1 + 4 + 16 + 2;

/// The level, if the object proves it.
pub(super) fn level(attestor: &Attestor, object: &str, enrolling: &Enrolling<'_>) -> Result<AttestationLevel, String> {
    let bytes = decoded(object)?;
    let object: Value = ciborium::from_reader(bytes.as_slice()).map_err(|error| format!("it is no attestation object: {error}"))?;
    let member = |map: &Value, name: &str| {
        let entries = map.as_map().into_iter().flatten();
        entries.filter(|(key, _)| key.as_text() == Some(name)).map(|(_, value)| value.clone()).next()
    };
    if member(&object, "fmt").as_ref().and_then(Value::as_text) != Some("apple-appattest") {
        return Err("it is no attestation object of App Attest".to_owned());
    }
    let data = member(&object, "authData").and_then(|data| data.into_bytes().ok()).ok_or("it has no authData")?;
    let chain = member(&object, "attStmt").and_then(|statement| member(&statement, "x5c")).and_then(|chain| chain.into_array().ok());
    let chain: Option<Vec<Vec<u8>>> = chain.and_then(|chain| chain.into_iter().map(|it| it.into_bytes().ok()).collect());
    let leaf = attestor.verified(&chain.ok_or("it has no certificates")?, enrolling.now)?;

    let asked = challenge(enrolling.code, &enrolling.key.id().to_string());
    let expected: [u8; 32] = Sha256::new().chain_update(&data).chain_update(asked).finalize().into();
    let certified = extension(&leaf, NONCE).ok_or("the certificate has no nonce")?;
    if nonce(certified).map_err(|error| format!("the nonce cannot be read: {error}"))? != expected {
        return Err("the nonce is not that of this code and this key".to_owned());
    }
    let (head, rest) = data.split_at_checked(HEAD).ok_or("authData is too short")?;
    let is_known = |app: &String| head[..32] == Sha256::digest(app.as_bytes())[..];
    if !attestor.apps.is_empty() && !attestor.apps.iter().any(is_known) {
        return Err("it is of an app that the settings do not name".to_owned());
    }
    if head[33..37] != [0; 4] || !AAGUIDS.iter().any(|it| head[37..53] == it[..]) {
        return Err("it is not of a key that was just made".to_owned());
    }
    let length = usize::from(u16::from_be_bytes([head[53], head[54]]));
    if rest.get(..length) != Some(&Sha256::digest(subject_key(&leaf))[..]) {
        return Err("the certificate is of another key than authData".to_owned());
    }
    Ok(AttestationLevel::SecureEnclave)
}

/// The octet string in `SEQUENCE { [1] EXPLICIT OCTET STRING }`.
fn nonce(der: &[u8]) -> Result<Vec<u8>, x509_cert::der::Error> {
    let outer = AnyRef::from_der(der)?;
    outer.tag().assert_eq(Tag::Sequence)?;
    let mut reader = SliceReader::new(outer.value())?;
    let tagged: AnyRef<'_> = reader.decode()?;
    Ok(OctetStringRef::from_der(tagged.value())?.as_bytes().to_vec())
}
