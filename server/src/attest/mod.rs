//! Hardware attestation: what the maker of a phone says about the key of a device, verified offline against the makers' roots that the
//! settings name.
//!
//! The evidence is bound to the enrolment: it contains a digest of the code that the device enrols with, so that nobody's evidence serves
//! another enrolment. Whatever is wrong with it is recorded with the device and never refuses one.

mod android;
mod apple;

use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use railgate::auth::PublicKey;
use railgate::store::record::{AttestationLevel, DeviceAttestation};
use railgate::time::Millis;
use railgate::validate::mobile::Evidence;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, TrustAnchor, UnixTime};
use sha2::{Digest as _, Sha256};
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};
use x509_cert::Certificate;
use x509_cert::der::Decode as _;

/// Separates what is hashed here from everything else.
const LABEL: &[u8] = b"railgate-attest-v1\0";

/// Why the roots cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("attestation-roots {} holds no certificates in PEM that could be roots: {cause}", .path.display())]
pub struct RootsError {
    path: PathBuf,
    cause: String,
}

/// Verifies what devices show.
#[derive(Default)]
pub(crate) struct Attestor {
    roots: Vec<TrustAnchor<'static>>,
    /// The Apple apps (team id, a dot, bundle id) that may enrol with evidence; any if there are none.
    apps: Vec<String>,
}

/// An enrolment to which evidence belongs.
pub(crate) struct Enrolling<'a> {
    /// The code, as it is hashed.
    pub(crate) code: &'a str,
    pub(crate) key: &'a PublicKey,
    pub(crate) now: Millis,
}

impl Attestor {
    /// With the roots in this PEM file, if there is one.
    pub(crate) fn open(roots: Option<&Path>, apps: Vec<String>) -> Result<Self, RootsError> {
        let Some(path) = roots else { return Ok(Self { roots: Vec::new(), apps }) };
        let unusable = |cause: String| RootsError { path: path.to_owned(), cause };
        let read = CertificateDer::pem_file_iter(path).map_err(|error| unusable(error.to_string()))?;
        let mut roots = Vec::new();
        for certificate in read {
            let certificate = certificate.map_err(|error| unusable(error.to_string()))?;
            roots.push(anchor_from_trusted_cert(&certificate).map_err(|error| unusable(error.to_string()))?.to_owned());
        }
        if roots.is_empty() { Err(unusable("there is none".to_owned())) } else { Ok(Self { roots, apps }) }
    }

    /// What to record of the evidence that a device showed.
    pub(crate) fn record(&self, evidence: &Evidence, enrolling: &Enrolling<'_>) -> DeviceAttestation {
        let format = evidence.format();
        let level = if self.roots.is_empty() {
            Err("the gateway has no roots of device makers to verify it with".to_owned())
        } else {
            match evidence {
                Evidence::AndroidKey { chain } => android::level(self, chain, enrolling),
                Evidence::AppleAppAttest { object } => apple::level(self, object, enrolling),
            }
        };
        match level {
            Ok(level) => DeviceAttestation { format, level: Some(level), problem: None },
            Err(problem) => DeviceAttestation { format, level: None, problem: Some(problem) },
        }
    }

    /// Requires that the chain, leaf first, ends at one of the roots. Returns the leaf.
    fn verified(&self, chain: &[Vec<u8>], now: Millis) -> Result<Certificate, String> {
        let (leaf, above) = chain.split_first().ok_or("there is no certificate")?;
        let der = CertificateDer::from(leaf.as_slice());
        let above: Vec<CertificateDer<'_>> = above.iter().map(|it| CertificateDer::from(it.as_slice())).collect();
        let seconds = u64::try_from(now.div_euclid(1_000)).unwrap_or(0);
        let time = UnixTime::since_unix_epoch(std::time::Duration::from_secs(seconds));
        let refused = |error: webpki::Error| format!("the certificates do not lead to a root that the gateway knows: {error}");
        let end = EndEntityCert::try_from(&der).map_err(refused)?;
        let usage = KeyUsage::client_auth();
        end.verify_for_usage(webpki::ALL_VERIFICATION_ALGS, &self.roots, &above, time, usage, None, None).map_err(refused)?;
        Certificate::from_der(leaf).map_err(|error| format!("the certificate cannot be read: {error}"))
    }
}

/// The content of an extension of a certificate.
fn extension<'a>(certificate: &'a Certificate, oid: &str) -> Option<&'a [u8]> {
    let extensions = certificate.tbs_certificate.extensions.as_deref()?;
    extensions.iter().find(|it| it.extn_id.to_string() == oid).map(|it| it.extn_value.as_bytes())
}

/// The public key of a certificate, as it is in its subject public key info.
fn subject_key(certificate: &Certificate) -> &[u8] {
    certificate.tbs_certificate.subject_public_key_info.subject_public_key.raw_bytes()
}

/// The digest that binds evidence to a code, and to `more`.
fn challenge(code: &str, more: &str) -> [u8; 32] {
    let digest = Sha256::new().chain_update(LABEL).chain_update(code);
    if more.is_empty() { digest.finalize().into() } else { digest.chain_update([0]).chain_update(more).finalize().into() }
}

/// Base64 (RFC 4648, section 4) of a certificate or an object.
fn decoded(text: &str) -> Result<Vec<u8>, String> {
    STANDARD.decode(text).map_err(|error| format!("it is not base64: {error}"))
}

/// The weaker one of two levels.
fn weaker(one: AttestationLevel, other: AttestationLevel) -> AttestationLevel {
    if (one as u8) < (other as u8) { one } else { other }
}

#[cfg(test)]
mod tests;
