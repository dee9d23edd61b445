//! Wycheproof's vectors through what a server verifies with: `core/tests/auth_vectors.rs` has the same for the portable default.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use railgate::auth::{Algorithm, PublicKey, RustCrypto, Verify, to_raw};
use serde_json::Value;

use super::Ring;

/// The folders with vectors: those of this repository, and those that somebody put beside it, which may be newer.
fn folders() -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/wycheproof")];
    let beside = std::env::var_os("RAILGATE_VECTORS")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/vectors")), PathBuf::from)
        .join("wycheproof");
    if beside.is_dir() {
        folders.push(beside);
    } else {
        let what = format!("SKIPPED: ring with further vectors: {} is no folder\n", beside.display());
        // Bypasses the capture of test output: the skip must be visible although nothing fails.
        std::io::stderr().write_all(what.as_bytes()).unwrap();
        if let Some(list) = std::env::var_os("RAILGATE_SKIPPED") {
            let list = std::fs::OpenOptions::new().append(true).create(true).open(list);
            list.unwrap().write_all(what.as_bytes()).unwrap();
        }
    }
    folders
}

fn unhex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

/// Verifies all vectors of a file. `raw` reads a signature as a call's field is read; what it refuses is never verified.
fn compare(name: &str, key: impl Fn(&Value) -> PublicKey, raw: impl Fn(&[u8]) -> Option<[u8; 64]>) {
    for folder in folders() {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
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
