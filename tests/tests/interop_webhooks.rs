//! Webhooks between us and third-party libraries, in `tests/interop/webhook-*` and the crate `standardwebhooks`: each side
//! verifies what the other signs, and both refuse altered ones.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use railgate::webhook::{ID, SIGNATURE, SignedHeaders, TIMESTAMP, TOLERANCE_S, VerifyError, WebhookSecret, sign, verify};
use railgate_tests::interop::{prepare, run};
use serde_json::{Value, json};

/// A webhook as received, and the receiver's secret.
#[derive(Debug, Clone)]
struct Case {
    name: String,
    secret: String,
    id: String,
    timestamp: i64,
    signature: String,
    body: String,
}

impl Case {
    fn json(&self) -> Value {
        json!({
            "name": self.name, "secret": self.secret, "id": self.id, "timestamp": self.timestamp,
            "signature": self.signature, "body": self.body,
        })
    }

    /// Whether we accept it.
    fn ours(&self) -> Result<(), VerifyError> {
        let timestamp = self.timestamp.to_string();
        let headers = SignedHeaders { id: &self.id, timestamp: &timestamp, signature: &self.signature };
        verify(&[secret(&self.secret)], &headers, self.body.as_bytes(), now_s(), TOLERANCE_S)
    }
}

/// A third-party library.
enum Library {
    Node,
    Python(&'static str),
    Shell,
    Crate,
}

impl Library {
    /// Which of the webhooks it accepts.
    fn verifies(&self, cases: &[Case]) -> BTreeMap<String, bool> {
        match self {
            Self::Crate => cases.iter().map(|case| (case.name.clone(), crate_verifies(case))).collect(),
            Self::Shell => cases.iter().map(|case| (case.name.clone(), shell("verify", case).is_ok())).collect(),
            Self::Node | Self::Python(_) => {
                self.asked("verify", cases).into_iter().map(|(name, line)| (name, line["verified"].as_bool().unwrap())).collect()
            }
        }
    }

    /// Its signatures for the webhooks, ignoring the existing ones.
    fn signs(&self, cases: &[Case]) -> BTreeMap<String, String> {
        let theirs = |case: &Case| {
            let webhook = standardwebhooks::Webhook::new(&case.secret).unwrap();
            (case.name.clone(), webhook.sign(&case.id, case.timestamp, case.body.as_bytes()).unwrap())
        };
        match self {
            Self::Crate => cases.iter().map(theirs).collect(),
            Self::Shell => cases.iter().map(|case| (case.name.clone(), shell("sign", case).unwrap().trim().to_owned())).collect(),
            Self::Node | Self::Python(_) => {
                self.asked("sign", cases).into_iter().map(|(name, line)| (name, line["signature"].as_str().unwrap().to_owned())).collect()
            }
        }
    }

    fn asked(&self, action: &str, cases: &[Case]) -> Vec<(String, Value)> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("webhooks.json");
        std::fs::write(&file, Value::from(cases.iter().map(Case::json).collect::<Vec<_>>()).to_string()).unwrap();
        let mut command = match self {
            Self::Node => prepare("webhook-node"),
            Self::Python(_) | Self::Shell | Self::Crate => prepare("webhook-python"),
        };
        if let Self::Python(library) = self {
            command.arg(library);
        }
        let printed = run(command.arg(action).arg(&file)).unwrap_or_else(|error| panic!("{error}"));
        let line = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            (line["name"].as_str().unwrap().to_owned(), line)
        };
        printed.lines().map(line).collect()
    }
}

/// The output of the script; an error if its exit code is not 0.
fn shell(action: &str, case: &Case) -> Result<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("body");
    std::fs::write(&body, &case.body).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/webhook-shell/webhook.sh");
    let mut command = Command::new("sh");
    command.arg(script).args([action, &case.secret, &case.id, &case.timestamp.to_string()]).arg(body).arg(&case.signature);
    run(&mut command)
}

fn crate_verifies(case: &Case) -> bool {
    let mut headers = axum::http::HeaderMap::new();
    for (name, value) in [(ID, &case.id), (TIMESTAMP, &case.timestamp.to_string()), (SIGNATURE, &case.signature)] {
        headers.insert(name, value.parse().unwrap());
    }
    standardwebhooks::Webhook::new(&case.secret).unwrap().verify(case.body.as_bytes(), &headers).is_ok()
}

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

fn secret(text: &str) -> WebhookSecret {
    WebhookSecret::parse(text).unwrap()
}

fn text(byte: u8) -> String {
    WebhookSecret::from_bytes([byte; 32]).to_text().to_string()
}

/// Signed by us, now.
fn genuine(name: &str, secrets: &[&str], body: &str) -> Case {
    let timestamp = now_s();
    let id = "evt_01JD2B3C4D5E6F7G8H9J0K1M2N".to_owned();
    let signers: Vec<WebhookSecret> = secrets.iter().map(|text| secret(text)).collect();
    let signature = sign(&signers, &id, timestamp, body.as_bytes());
    Case { name: name.into(), secret: secrets[0].into(), id, timestamp, signature, body: body.into() }
}

const BODY: &str = r#"{"type":"settlement.completed","timestamp":"2026-11-21T10:38:17.042Z","data":{"amount":10.50,"sequence":4}}"#;

/// Webhooks that every receiver accepts.
fn good() -> Vec<Case> {
    let (old, new) = (text(1), text(2));
    let rotating = genuine("during a rotation, the old secret", &[&old, &new], BODY);
    let shortest = format!("whsec_{}", "QUJD".repeat(8));
    let longest = format!("whsec_{}QQ==", "QUJD".repeat(21));
    let without_prefix = Case { secret: new[6..].to_owned(), ..genuine("a secret without its prefix", &[&new], BODY) };
    let mut with_others = genuine("beside signatures of other versions", &[&new], BODY);
    with_others.signature = format!("v1a,{} {} v2,AAAA", "A".repeat(86) + "==", with_others.signature);
    vec![
        genuine("as it is", &[&new], BODY),
        Case { name: "during a rotation, the new secret".into(), secret: new.clone(), ..rotating.clone() },
        rotating,
        without_prefix,
        with_others,
        genuine("the shortest secret", &[&shortest], BODY),
        genuine("the longest secret", &[&longest], BODY),
        genuine("no body", &[&new], ""),
        genuine("a body of many letters", &[&new], "{\"description\":\"Grüße, 支付 🚂\\u2028\\n\", \"a\" :  1.0 }\r\n"),
        Case { name: "a little old".into(), ..signed_at(now_s() - 200, &new) },
        Case { name: "a little early".into(), ..signed_at(now_s() + 200, &new) },
    ]
}

fn signed_at(timestamp: i64, text: &str) -> Case {
    let case = genuine("", &[text], BODY);
    let signature = sign(&[secret(text)], &case.id, timestamp, case.body.as_bytes());
    Case { timestamp, signature, ..case }
}

/// Alterations of a valid webhook that every receiver must refuse.
fn tampered(genuine: &Case) -> Vec<Case> {
    let changed = |name: &str, change: &dyn Fn(&mut Case)| {
        let mut case = Case { name: name.into(), ..genuine.clone() };
        change(&mut case);
        case
    };
    let of_another = sign(&[secret(&text(9))], &genuine.id, genuine.timestamp, genuine.body.as_bytes());
    let first = genuine.signature.split(' ').next().unwrap();
    let flipped = |case: &mut Case| {
        let at = "v1,".len();
        let other = if &case.signature[at..=at] == "A" { "B" } else { "A" };
        case.signature.replace_range(at..=at, other);
    };
    vec![
        changed("changed body", &|case| case.body = case.body.replace("10.50", "10.51")),
        changed("body with a blank more", &|case| case.body.push(' ')),
        changed("no body any more", &|case| case.body.clear()),
        changed("changed id", &|case| case.id.replace_range(4..5, "9")),
        changed("changed timestamp", &|case| case.timestamp += 1),
        changed("changed signature", &flipped),
        changed("signature of another version", &|case| case.signature = first.replacen("v1,", "v1a,", 1)),
        changed("signature by another secret", &|case| case.signature.clone_from(&of_another)),
        changed("another secret at the receiver", &|case| case.secret = text(9)),
    ]
}

fn old_and_new() -> Vec<Case> {
    let named = |name: &str, offset: i64| Case { name: name.into(), ..signed_at(now_s() + offset, &text(2)) };
    vec![named("sent too long ago", -600), named("sent in the future", 600), named("sent in 1970", -now_s())]
}

fn each(cases: &[Case], verified: bool) -> BTreeMap<String, bool> {
    let all: BTreeMap<_, _> = cases.iter().map(|case| (case.name.clone(), verified)).collect();
    assert_eq!(all.len(), cases.len(), "each case has a name of its own");
    all
}

fn both_ways(library: &Library) {
    // Fetching a library may take minutes: afterwards, each step makes webhooks with the current time.
    library.verifies(&[]);
    let cases = good();
    // They and we accept what we sign.
    assert_eq!(library.verifies(&cases), each(&cases, true));
    assert!(cases.iter().all(|case| case.ours() == Ok(())));

    // They and we refuse altered ones.
    let mut bad = tampered(&genuine("", &[&text(2)], BODY));
    bad.extend(old_and_new());
    assert_eq!(library.verifies(&bad), each(&bad, false));
    for case in &bad {
        assert!(case.ours().is_err(), "{}", case.name);
    }

    // We accept what they sign: their signature equals ours.
    let cases = good();
    let signatures = library.signs(&cases);
    for case in &cases {
        let theirs = Case { signature: signatures[&case.name].clone(), ..case.clone() };
        assert_eq!(theirs.ours(), Ok(()), "{}", case.name);
        assert_eq!(sign(&[secret(&case.secret)], &case.id, case.timestamp, case.body.as_bytes()), theirs.signature, "{}", case.name);
        if case.body == BODY {
            for case in tampered(&theirs) {
                assert_eq!(case.ours(), Err(VerifyError::NoMatchingSignature), "{}", case.name);
            }
        }
    }
    // Also two of theirs in one header, as during a rotation.
    let (old, new) = (&cases[2], &cases[1]);
    let signature = format!("{} {}", signatures[&old.name], signatures[&new.name]);
    for case in [old, new] {
        assert_eq!(Case { signature: signature.clone(), ..case.clone() }.ours(), Ok(()), "{}", case.name);
    }
}

#[test]
fn npm_standardwebhooks() {
    both_ways(&Library::Node);
}

#[test]
fn pypi_standardwebhooks() {
    both_ways(&Library::Python("standardwebhooks"));
}

#[test]
fn pypi_svix() {
    both_ways(&Library::Python("svix"));
}

#[test]
fn shell_openssl() {
    both_ways(&Library::Shell);
}

#[test]
fn crate_standardwebhooks() {
    both_ways(&Library::Crate);
}
