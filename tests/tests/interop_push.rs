//! Web Push against a receiver of other code, in `tests/interop`: it reads what the gateway encrypts, trusts its tokens, and what it
//! encrypts itself is read here.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use railgate::auth::{Curve, EphemeralKey, EphemeralSecret};
use railgate::push::{PLAINTEXT_MAX_BYTES, SubscriptionKeys, VapidKey, decrypt, encrypt};
use railgate_tests::interop::{prepare, run};
use serde_json::{Value, json};

#[test]
fn node_reads_every_message_and_is_read() {
    let encoded = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
    let texts = [Vec::new(), b"{}".to_vec(), "وصلت دفعتك".as_bytes().to_vec(), vec![0; 255], vec![b'x'; 256], vec![2; PLAINTEXT_MAX_BYTES]];
    let mut messages = Vec::new();
    let mut expected = Vec::new();
    for (n, text) in (1u8..).zip(texts) {
        let (secret, auth) = ([n; 32], [n; 16]);
        let EphemeralKey::P256(public) = EphemeralSecret::new(Curve::P256, secret).unwrap().public() else { panic!("another curve") };
        let keys = SubscriptionKeys::parse(&encoded(&public), &encoded(&auth)).unwrap();
        let body = encrypt(&keys, &text, [n.wrapping_mul(7); 16], &[n + 100; 32]).unwrap();
        let authorization = VapidKey::new(&[n; 32]).unwrap().authorization("https://push.example.net", Some("https://pay.example"), 1_000);
        messages.push(json!({
            "secret": encoded(&secret), "auth": encoded(&auth), "body": encoded(&body), "authorization": authorization.unwrap(),
        }));
        expected.push((keys, secret, text));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("messages.json");
    std::fs::write(&file, Value::from(messages).to_string()).unwrap();
    let printed = run(prepare("push-node").arg(&file)).unwrap();
    let results: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), expected.len());
    for (result, (keys, secret, text)) in results.iter().zip(expected) {
        let bytes = |name: &str| URL_SAFE_NO_PAD.decode(result[name].as_str().unwrap()).unwrap();
        assert_eq!(bytes("text"), text);
        assert_eq!(result["claims"], json!({"aud": "https://push.example.net", "exp": 44_200, "sub": "https://pay.example"}));
        // Its own message has a few bytes more than fit, of the longest one.
        if text.len() + 6 <= PLAINTEXT_MAX_BYTES {
            assert_eq!(decrypt(&keys, &secret, &bytes("answer")).unwrap(), [b"back: ", text.as_slice()].concat());
        }
    }
}
