//! The cost of a signed call before any decision: its signature, its challenge and the digest of its body.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use railgate::auth::{
    Algorithm, ChallengeKeys, Message, Outgoing, RustCrypto, Signer as _, Stamp, TAG, Verify, check_content_digest, content_digest,
    find_signature, sign_request,
};
use railgate::ledger::Mode;
use railgate_server::verify::Ring;
use railgate_tests::key::RingKey;

const NOW: i64 = 1_795_257_497_042;
const URI: &str = "https://pay.example.test/api/v1/gateway/settlements";

fn keys() -> ChallengeKeys {
    ChallengeKeys::new(vec![(1, [7; 32])]).expect("a key")
}

/// Processes a create as it arrives: finds its signature, checks its coverage, builds the base and, with a verifier, verifies it.
fn signatures(c: &mut Criterion) {
    let nonce = format!("{}.000012345", keys().issue(Mode::Sandbox, NOW, [3; 11]));
    let body = [b'x'; 300];
    for algorithm in [Algorithm::EcdsaP256Sha256, Algorithm::Ed25519] {
        let key = RingKey::generate(algorithm);
        let authorization = format!("Bearer rg_sandbox_{}", "A".repeat(48));
        let own: &[(&str, &[u8])] = &[("content-type", b"application/json"), ("authorization", authorization.as_bytes())];
        let outgoing = Outgoing { method: "POST", target_uri: URI, fields: own, body: &body };
        let stamp = Stamp { created: NOW / 1_000, nonce: &nonce, tag: TAG, label: "sig1" };
        let made = sign_request(&key, &outgoing, &stamp).expect("signing");
        let digest = made.content_digest.as_deref().expect("a body");
        let added: &[(&str, &[u8])] = &[
            ("content-digest", digest.as_bytes()),
            ("signature-input", made.signature_input.as_bytes()),
            ("signature", made.signature.as_bytes()),
        ];
        let fields = [&[("host", &b"pay.example.test"[..]), ("content-length", b"300")], own, added].concat();
        let message = Message { method: "POST", target_uri: URI, status: None, fields: &fields };
        let public = key.public_key();
        let mut group = c.benchmark_group(algorithm.as_str());
        let verifiers: [(&str, Option<&dyn Verify>); 3] = [
            ("find, coverage and base", None),
            ("… and verify with ring", Some(&Ring)),
            ("… and verify with RustCrypto", Some(&RustCrypto)),
        ];
        for (name, verifier) in verifiers {
            group.bench_function(name, |b| {
                b.iter(|| {
                    let signed = find_signature(black_box(&message), TAG).expect("a signature");
                    signed.check_coverage(&message, true).expect("all is covered");
                    let base = signed.base(&message).expect("a base");
                    if let Some(verifier) = verifier {
                        signed.verify(&base, &public, verifier).expect("a good signature");
                    }
                    base
                });
            });
        }
        group.bench_function("sign a create (ring)", |b| b.iter(|| sign_request(&key, black_box(&outgoing), &stamp).expect("signing")));
        group.finish();
    }
}

fn challenges(c: &mut Criterion) {
    let keys = keys();
    c.bench_function("issue a challenge", |b| b.iter(|| keys.issue(Mode::Sandbox, black_box(NOW), [3; 11])));
    let nonce = format!("{}.000012345", keys.issue(Mode::Sandbox, NOW, [3; 11]));
    c.bench_function("check a nonce", |b| b.iter(|| keys.check(black_box(&nonce), Mode::Sandbox, NOW).expect("our own")));
}

fn digests(c: &mut Criterion) {
    let body = [b'x'; 1_024];
    c.bench_function("content digest of 1 KiB", |b| b.iter(|| content_digest(black_box(&body))));
    let field = content_digest(&body);
    c.bench_function("check the digest of 1 KiB", |b| b.iter(|| check_content_digest(&field, black_box(&body))));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(50);
    targets = signatures, challenges, digests
}
criterion_main!(benches);
