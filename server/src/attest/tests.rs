use std::io::Write as _;

use railgate::auth::{Signer as _, SoftwareKey};
use railgate::store::record::AttestationFormat;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, IsCa, Issuer, KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384,
    PublicKeyData, SignatureAlgorithm,
};

use super::*;

const CODE: &str = "7K3MQ9XR2T8WHN5E";
/// 2026-11-26.
const NOW: Millis = 1_795_600_000_000;

/// A maker of devices: a root and a certificate below it.
struct Maker {
    root: CertificateDer<'static>,
    middle: CertificateDer<'static>,
    issuer: Issuer<'static, KeyPair>,
}

fn authority() -> (CertificateParams, KeyPair) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (params, KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384).unwrap())
}

impl Maker {
    fn new() -> Self {
        let (params, key) = authority();
        let root = params.self_signed(&key).unwrap().der().clone();
        let above = Issuer::new(params, key);
        let (params, key) = authority();
        let middle = params.signed_by(&key, &above).unwrap().der().clone();
        Self { root, middle, issuer: Issuer::new(params, key) }
    }

    /// A gateway that knows its root, and the app.
    fn attestor(&self) -> Attestor {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let base64 = STANDARD.encode(&self.root);
        writeln!(file, "-----BEGIN CERTIFICATE-----\n{base64}\n-----END CERTIFICATE-----").unwrap();
        Attestor::open(Some(file.path()), vec!["ABCDE12345.com.example.shop".to_owned()]).unwrap()
    }

    /// The chain of a key, leaf first, with this extension in the leaf.
    fn chain(&self, key: &Subject, oid: &[u64], content: Vec<u8>) -> Vec<Vec<u8>> {
        let mut params = CertificateParams::default();
        params.custom_extensions.push(CustomExtension::from_oid_content(oid, content));
        let leaf = params.signed_by(key, &self.issuer).unwrap();
        vec![leaf.der().to_vec(), self.middle.to_vec()]
    }
}

fn of_der(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
    let content = parts.concat();
    let length = if content.len() < 128 { vec![content.len() as u8] } else { vec![0x81, content.len() as u8] };
    [vec![tag], length, content].concat()
}

/// The device's key, which is P-256, also as a certificate has it.
fn device() -> (PublicKey, Subject) {
    let key = SoftwareKey::p256(&[7; 32]).unwrap().public_key();
    (key, info(&key))
}

/// A public key as a certificate has it.
struct Subject([u8; 65]);

impl PublicKeyData for Subject {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

fn info(key: &PublicKey) -> Subject {
    let PublicKey::P256(point) = key else { panic!("a key of another kind") };
    Subject(*point)
}

/// `KeyDescription` with these levels and this challenge.
fn described(attests: u8, lives: u8, asked: &[u8]) -> Vec<u8> {
    let number = |n: u8| of_der(2, &[vec![n]]);
    let level = |n: u8| of_der(10, &[vec![n]]);
    let empty = of_der(0x30, &[]);
    let asked = of_der(4, &[asked.to_vec()]);
    of_der(0x30, &[of_der(2, &[vec![1, 0x90]]), level(attests), number(100), level(lives), asked, of_der(4, &[]), empty.clone(), empty])
}

const ANDROID: &[u64] = &[1, 3, 6, 1, 4, 1, 11129, 2, 1, 17];

fn android(chain: &[Vec<u8>]) -> Evidence {
    Evidence::AndroidKey { chain: chain.iter().map(|it| STANDARD.encode(it)).collect() }
}

fn recorded(attestor: &Attestor, evidence: &Evidence, key: &PublicKey) -> Result<AttestationLevel, String> {
    let DeviceAttestation { format, level, problem } = attestor.record(evidence, &Enrolling { code: CODE, key, now: NOW });
    assert_eq!(format, evidence.format());
    level.ok_or_else(|| problem.unwrap())
}

#[test]
fn android_says_where_the_key_lives() {
    let (maker, (key, info)) = (Maker::new(), device());
    let attestor = maker.attestor();
    let asked = challenge(CODE, "");
    let levels = [
        ((2, 2), AttestationLevel::StrongBox),
        ((1, 1), AttestationLevel::TrustedEnvironment),
        ((1, 2), AttestationLevel::TrustedEnvironment),
        ((0, 2), AttestationLevel::Software),
    ];
    for ((attests, lives), level) in levels {
        let chain = maker.chain(&info, ANDROID, described(attests, lives, &asked));
        assert_eq!(recorded(&attestor, &android(&chain), &key), Ok(level));
    }
}

#[test]
fn android_evidence_that_proves_nothing_is_recorded_with_the_reason() {
    let (maker, (key, own)) = (Maker::new(), device());
    let attestor = maker.attestor();
    let good = maker.chain(&own, ANDROID, described(1, 1, &challenge(CODE, "")));
    let other_key = SoftwareKey::p256(&[8; 32]).unwrap().public_key();
    let foreign = Maker::new().chain(&own, ANDROID, described(1, 1, &challenge(CODE, "")));
    let refused = |chain: &[Vec<u8>], key: &PublicKey| recorded(&attestor, &android(chain), key).unwrap_err();
    let tampered = |at: usize| {
        let mut chain = good.clone();
        let last = chain[0].len() - at;
        chain[0][last] ^= 1;
        chain
    };
    let cases = [
        (refused(&foreign, &key), "do not lead to a root"),
        (refused(&good[..1], &key), "do not lead to a root"),
        (refused(&tampered(5), &key), "do not lead to a root"),
        (refused(&[], &key), "no certificate"),
        (refused(&good, &other_key), "of another key"),
        (refused(&maker.chain(&own, ANDROID, described(1, 1, &challenge("7777777777777777", ""))), &key), "not that of this code"),
        (refused(&maker.chain(&own, ANDROID, described(1, 1, b"")), &key), "not that of this code"),
        (refused(&maker.chain(&own, ANDROID, vec![0x30, 0x03, 1]), &key), "cannot be read"),
        (refused(&maker.chain(&own, &[1, 3, 6, 1, 4, 1, 11129, 2, 1, 18], vec![5, 0]), &key), "describes no key"),
    ];
    for (problem, expected) in cases {
        assert!(problem.contains(expected), "{problem}: {expected}");
    }
    let garbled = Evidence::AndroidKey { chain: vec!["====".to_owned()] };
    assert!(recorded(&attestor, &garbled, &key).unwrap_err().contains("not base64"));
    let unknowing = Attestor::open(None, Vec::new()).unwrap();
    assert!(recorded(&unknowing, &android(&good), &key).unwrap_err().contains("no roots"));
    // Evidence of a time at which a certificate was not valid.
    let late = attestor.record(&android(&good), &Enrolling { code: CODE, key: &key, now: Millis::MAX });
    assert_eq!((late.format, late.level), (AttestationFormat::AndroidKey, None));
}

/// An attestation object of App Attest, for this code and device key.
fn apple(maker: &Maker, app: &str, counter: u32, code: &str, key: &PublicKey) -> Evidence {
    let attested = SoftwareKey::p256(&[9; 32]).unwrap().public_key();
    let PublicKey::P256(point) = attested else { panic!("a key of another kind") };
    let id = Sha256::digest(point);
    let head = [&Sha256::digest(app.as_bytes())[..], &[0x40], &counter.to_be_bytes(), b"appattestdevelop", &[0, 32]].concat();
    let data = [head, id.to_vec()].concat();
    let nonce = Sha256::new().chain_update(&data).chain_update(challenge(code, &key.id().to_string())).finalize();
    let certified = of_der(0x30, &[of_der(0xa1, &[of_der(4, &[nonce.to_vec()])])]);
    let chain = maker.chain(&info(&attested), &[1, 2, 840, 113635, 100, 8, 2], certified);
    let text = |text: &str| ciborium::Value::Text(text.to_owned());
    let chain = chain.into_iter().map(ciborium::Value::Bytes).collect();
    let statement =
        ciborium::Value::Map(vec![(text("x5c"), ciborium::Value::Array(chain)), (text("receipt"), ciborium::Value::Bytes(vec![1]))]);
    let object =
        vec![(text("fmt"), text("apple-appattest")), (text("attStmt"), statement), (text("authData"), ciborium::Value::Bytes(data))];
    let mut bytes = Vec::new();
    ciborium::into_writer(&ciborium::Value::Map(object), &mut bytes).unwrap();
    Evidence::AppleAppAttest { object: STANDARD.encode(bytes) }
}

#[test]
fn apple_vouches_for_the_app_that_enrols_this_key() {
    let (maker, (key, _)) = (Maker::new(), device());
    let attestor = maker.attestor();
    const APP: &str = "ABCDE12345.com.example.shop";
    assert_eq!(recorded(&attestor, &apple(&maker, APP, 0, CODE, &key), &key), Ok(AttestationLevel::SecureEnclave));
    let other = SoftwareKey::p256(&[8; 32]).unwrap().public_key();
    let cases = [
        (apple(&Maker::new(), APP, 0, CODE, &key), "do not lead to a root"),
        (apple(&maker, "ABCDE12345.com.example.other", 0, CODE, &key), "an app that the settings do not name"),
        (apple(&maker, APP, 1, CODE, &key), "not of a key that was just made"),
        (apple(&maker, APP, 0, "7777777777777777", &key), "not that of this code"),
        (apple(&maker, APP, 0, CODE, &other), "not that of this code"),
        (Evidence::AppleAppAttest { object: STANDARD.encode([0xa0]) }, "no attestation object of App Attest"),
        (Evidence::AppleAppAttest { object: STANDARD.encode([0xff; 9]) }, "no attestation object"),
        (Evidence::AppleAppAttest { object: STANDARD.encode([0x9f; 10_000]) }, "no attestation object"),
    ];
    for (evidence, expected) in cases {
        let problem = recorded(&attestor, &evidence, &key).unwrap_err();
        assert!(problem.contains(expected), "{problem}: {expected}");
    }
}

#[test]
fn a_file_without_roots_is_refused() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    assert!(Attestor::open(Some(file.path()), Vec::new()).is_err());
    writeln!(file, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----").unwrap();
    let refused = Attestor::open(Some(file.path()), Vec::new()).err().unwrap().to_string();
    assert!(refused.starts_with("attestation-roots "), "{refused}");
    assert!(Attestor::open(Some(Path::new("/nowhere")), Vec::new()).is_err());
}
