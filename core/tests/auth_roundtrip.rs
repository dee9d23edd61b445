//! Signed requests are recognised and verified; requests changed in transit are refused.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use railgate::auth::{
    By, ChallengeKeys, Message, Outgoing, RustCrypto, Signer, SoftwareKey, Stamp, TAG, check_content_digest, find_signature, sign_request,
};
use railgate::ledger::Mode;
use railgate::{Error, ErrorCode};

const NOW: i64 = 1_795_257_497_000;

/// A request as received.
#[derive(Debug, Clone)]
struct Arrived {
    method: String,
    uri: String,
    fields: Vec<(String, Vec<u8>)>,
    body: Vec<u8>,
}

impl Arrived {
    fn field(&mut self, name: &str) -> Option<&mut Vec<u8>> {
        self.fields.iter_mut().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

fn keys() -> ChallengeKeys {
    ChallengeKeys::new(vec![(1, [7; 32])]).unwrap()
}

fn signer(ed25519: bool) -> SoftwareKey {
    if ed25519 { SoftwareKey::ed25519(&[5; 32]) } else { SoftwareKey::p256(&[5; 32]).unwrap() }
}

/// The request, signed and sent.
fn sent(key: &SoftwareKey, mut request: Arrived, random: [u8; 11], suffix: &str) -> Arrived {
    let nonce = keys().issue(Mode::Sandbox, NOW, random) + suffix;
    let fields: Vec<_> = request.fields.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let outgoing = Outgoing { method: &request.method, target_uri: &request.uri, fields: &fields, body: &request.body };
    let made = sign_request(key, &outgoing, &Stamp { created: NOW / 1000, nonce: &nonce, tag: TAG, label: "sig1" }).unwrap();
    request.fields.extend(made.content_digest.map(|digest| ("content-digest".to_owned(), digest.into_bytes())));
    request.fields.push(("signature-input".into(), made.signature_input.into_bytes()));
    request.fields.push(("signature".into(), made.signature.into_bytes()));
    request
}

/// All checks of a verifier, in order; the result depends on each of them.
fn accepted(key: &SoftwareKey, request: &Arrived) -> Result<[u8; 32], Error> {
    let fields: Vec<_> = request.fields.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
    let message = Message { method: &request.method, target_uri: &request.uri, status: None, fields: &fields };
    let signed = find_signature(&message, TAG)?;
    if signed.key_id()? != key.public_key().id() {
        return Err(Error::new(ErrorCode::KeyUnknown));
    }
    let nonce = keys().check(&signed.nonce, Mode::Sandbox, NOW)?;
    signed.check_created(NOW)?;
    signed.check_coverage(&message, !request.body.is_empty())?;
    signed.verify(&signed.base(&message)?, &key.public_key(), &RustCrypto)?;
    if let Some(digest) = message.field("content-digest") {
        check_content_digest(&digest, &request.body)?;
    }
    Ok(nonce.hash)
}

fn requests() -> impl Strategy<Value = Arrived> {
    let value = || proptest::option::of("[!-~]([ -~]{0,40}[!-~])?");
    let uri = "https://[a-z]{1,8}\\.example(:[1-9][0-9]{1,3})?(/[a-zA-Z0-9._~%-]{0,8}){0,4}(\\?[a-z0-9=&+%]{0,20})?";
    ("[A-Z]{3,7}", uri, value(), value(), value(), proptest::collection::vec(any::<u8>(), 0..200)).prop_map(
        |(method, uri, authorization, content_type, key, body)| {
            let named = [("authorization", authorization), ("content-type", content_type), ("idempotency-key", key)];
            let fields = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into_bytes()))).collect();
            Arrived { method, uri, fields, body }
        },
    )
}

fn run<S: Strategy>(cases: u32, strategy: &S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, rng).run(strategy, test).unwrap();
}

#[test]
fn what_is_signed_is_accepted() {
    let strategy = (requests(), any::<bool>(), any::<[u8; 11]>(), "(\\.[A-Za-z0-9_-]{1,32})?");
    run(64, &strategy, |(request, ed25519, random, suffix)| {
        let key = signer(ed25519);
        let arrived = sent(&key, request, random, &suffix);
        prop_assert!(accepted(&key, &arrived).is_ok(), "{:?}", accepted(&key, &arrived));
        prop_assert!(accepted(&signer(!ed25519), &arrived).is_err());
        Ok(())
    });
}

fn full() -> Arrived {
    Arrived {
        method: "POST".into(),
        uri: "https://gateway.example/api/v1/gateway/settlements?a=1".into(),
        fields: vec![
            ("authorization".into(), b"Bearer rg_sandbox_x".to_vec()),
            ("content-type".into(), b"application/json".to_vec()),
            ("idempotency-key".into(), b"\"key-1\"".to_vec()),
        ],
        body: br#"{"amount":10.5}"#.to_vec(),
    }
}

/// Replacements for one byte: similar ones, and those that parsers treat specially.
fn others(byte: u8) -> impl Iterator<Item = u8> {
    [byte ^ 1, byte ^ 0x20, byte ^ 0x80, b' ', b'"', b'\n', b'=', 0].into_iter().filter(move |other| *other != byte)
}

#[test]
fn no_byte_can_be_changed_on_the_way() {
    for ed25519 in [true, false] {
        let key = signer(ed25519);
        let good = sent(&key, full(), [9; 11], ".s");
        accepted(&key, &good).unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        type Part = fn(&mut Arrived) -> &mut Vec<u8>;
        let fields: [Part; 6] = [
            |request| request.field("authorization").unwrap(),
            |request| request.field("content-type").unwrap(),
            |request| request.field("content-digest").unwrap(),
            |request| request.field("idempotency-key").unwrap(),
            |request| request.field("signature-input").unwrap(),
            |request| &mut request.body,
        ];
        for part in fields {
            for at in 0..part(&mut good.clone()).len() {
                for other in others(part(&mut good.clone())[at]) {
                    let mut changed = good.clone();
                    part(&mut changed)[at] = other;
                    assert!(accepted(&key, &changed).is_err(), "{}", text(part(&mut changed).clone()));
                }
            }
        }
        for (target, of) in [(false, good.method.clone()), (true, good.uri.clone())] {
            for at in 0..of.len() {
                for other in others(of.as_bytes()[at]) {
                    let mut bytes = of.clone().into_bytes();
                    bytes[at] = other;
                    let mut changed = good.clone();
                    *(if target { &mut changed.uri } else { &mut changed.method }) = text(bytes);
                    assert!(accepted(&key, &changed).is_err(), "{} {}", changed.method, changed.uri);
                }
            }
        }
    }
}

#[test]
fn no_bit_of_the_signature_can_be_changed() {
    for ed25519 in [true, false] {
        let key = signer(ed25519);
        let good = sent(&key, full(), [9; 11], "");
        let fields: Vec<_> = good.fields.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect();
        let message = Message { method: &good.method, target_uri: &good.uri, status: None, fields: &fields };
        let signed = find_signature(&message, TAG).unwrap();
        let base = signed.base(&message).unwrap();
        for bit in 0..512 {
            let mut changed = signed.clone();
            let By::Key { signature, .. } = &mut changed.by else { panic!("a key signed") };
            signature[bit / 8] ^= 1 << (bit % 8);
            assert!(changed.verify(&base, &key.public_key(), &RustCrypto).is_err(), "bit {bit}");
        }
        signed.verify(&base, &key.public_key(), &RustCrypto).unwrap();
    }
}

#[test]
fn no_covered_field_can_be_dropped_doubled_or_added() {
    let key = signer(true);
    let good = sent(&key, full(), [9; 11], "");
    for name in ["authorization", "content-type", "content-digest", "idempotency-key", "signature-input", "signature"] {
        let mut changed = good.clone();
        changed.fields.retain(|(known, _)| known != name);
        assert!(accepted(&key, &changed).is_err(), "{name} dropped");
        changed = good.clone();
        let value = changed.field(name).unwrap().clone();
        changed.fields.push((name.into(), value));
        assert!(accepted(&key, &changed).is_err(), "{name} doubled");
        let mut bare = full();
        bare.fields.clear();
        bare.body.clear();
        bare = sent(&key, bare, [9; 11], "");
        accepted(&key, &bare).unwrap();
        bare.fields.push((name.into(), b"x".to_vec()));
        assert!(accepted(&key, &bare).is_err(), "{name} added");
    }
    let mut bodyless = full();
    bodyless.body.clear();
    let mut with_body = sent(&key, bodyless, [9; 11], "");
    with_body.body = b"{}".to_vec();
    assert!(accepted(&key, &with_body).unwrap_err().detail.contains("a body that is not covered is refused"));
    // Parts that are not covered may change.
    let mut other = good.clone();
    other.fields.push(("user-agent".into(), b"\xff".to_vec()));
    assert!(accepted(&key, &other).is_ok());
}

#[test]
fn nothing_makes_the_reader_panic() {
    let text = "[ -~]{0,60}|[a-z=()\";:,@. 0-9\\\\-]{0,80}";
    run(512, &(text, text, any::<Vec<u8>>()), |(input, signature, noise)| {
        for (input, signature) in [(input.as_bytes(), signature.as_bytes()), (&noise, &noise)] {
            let input = [b"s=(\"@query-param\";name=\"", input].concat();
            let fields: &[(&str, &[u8])] = &[("signature-input", &input), ("signature", signature), ("x", &noise)];
            let message = Message { method: "GET", target_uri: "https://a.example/?", status: None, fields };
            prop_assert!(find_signature(&message, TAG).is_err());
            if let Some(Ok(inputs)) = message.field("signature-input").map(|field| railgate::auth::SignatureInput::parse_field(&field)) {
                for input in inputs {
                    let _ = input.base(&message);
                }
            }
        }
        Ok(())
    });
}
