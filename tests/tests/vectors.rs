//! Wycheproof's vectors through what a server verifies with: `core/tests/auth_vectors.rs` has the same for the portable default.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::path::Path;

use railgate::auth::{Algorithm, PublicKey, RustCrypto, Verify, to_raw};
use railgate_server::verify::Ring;
use railgate_tests::operators::schema::published;
use serde_json::Value;

/// The vectors of this repository, and those that somebody put beside it, which may be newer.
fn vectors(name: &str) -> Vec<String> {
    let own = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/wycheproof")).join(name);
    let own = std::fs::read_to_string(&own).unwrap_or_else(|error| panic!("{}: {error}", own.display()));
    [own].into_iter().chain(published(&format!("wycheproof/{name}"))).collect()
}

fn unhex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Verifies all vectors of a file. `raw` reads a signature as a call's field is read; what it refuses is never verified.
fn compare(name: &str, key: impl Fn(&Value) -> PublicKey, raw: impl Fn(&[u8]) -> Option<[u8; 64]>) {
    for text in vectors(name) {
        let file: Value = serde_json::from_str(&text).unwrap();
        let (mut count, mut verified) = (0, 0);
        for group in file["testGroups"].as_array().unwrap() {
            let key = key(group);
            for test in group["tests"].as_array().unwrap() {
                let (message, signature) = (unhex(&test["msg"]), raw(&unhex(&test["sig"])));
                let by = |verifier: &dyn Verify| signature.is_some_and(|signature| verifier.verify(&key, &message, &signature));
                assert_eq!(by(&Ring), test["result"] == "valid", "ring: {test}");
                assert_eq!(by(&Ring), by(&RustCrypto), "what one server accepts, a host with the default does: {test}");
                count += 1;
                verified += usize::from(by(&Ring));
            }
        }
        assert_eq!(count, file["numberOfTests"].as_u64().unwrap(), "{name}");
        assert!(verified > 50, "{name}: {verified}");
    }
}

fn p256(group: &Value) -> PublicKey {
    PublicKey::p256(&unhex(&group["publicKey"]["uncompressed"])).unwrap()
}

#[test]
fn a_server_verifies_wycheproofs_raw_ecdsa() {
    compare("ecdsa_secp256r1_sha256_p1363_test.json", p256, |signature| signature.try_into().ok());
}

#[test]
fn a_server_verifies_wycheproofs_der_ecdsa() {
    compare("ecdsa_secp256r1_sha256_test.json", p256, |signature| to_raw(Algorithm::EcdsaP256Sha256, signature));
}

#[test]
fn a_server_verifies_wycheproofs_ed25519() {
    let key = |group: &Value| PublicKey::ed25519(&unhex(&group["publicKey"]["pk"])).unwrap();
    compare("ed25519_test.json", key, |signature| to_raw(Algorithm::Ed25519, signature));
}
