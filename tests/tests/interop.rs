//! Third-party clients, in `tests/interop`: the gateway accepts the calls that they sign, and none that was altered after
//! signing.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use railgate_tests::binary::Server;
use railgate_tests::interop::{Step, assert_steps, done, prepare, refused, run};

/// The steps of each library's client.
const LIBRARY: &[Step] = &[
    done("challenge", 200),
    done("enrol", 201),
    done("token", 200),
    done("create", 201),
    done("status", 200),
    refused("tampered: changed method", 401, "signature_invalid"),
    refused("tampered: changed path", 401, "signature_invalid"),
    refused("tampered: changed query", 401, "signature_invalid"),
    refused("tampered: changed body", 400, "digest_mismatch"),
    refused("tampered: changed body and digest", 401, "signature_invalid"),
    done("call to repeat", 200),
    refused("tampered: same nonce twice", 401, "nonce_replayed"),
    done("list", 200),
    done("nothing else was created", 200),
];

/// The steps of the shell client: everything that can be altered.
const SHELL: &[Step] = &[
    done("challenge", 200),
    done("enrol", 201),
    done("token", 200),
    done("create", 201),
    done("status", 200),
    refused("tampered: changed method", 401, "signature_invalid"),
    refused("tampered: changed path", 401, "signature_invalid"),
    refused("tampered: changed query", 401, "signature_invalid"),
    refused("tampered: changed body", 400, "digest_mismatch"),
    refused("tampered: changed body and digest", 401, "signature_invalid"),
    refused("tampered: changed content type", 401, "signature_invalid"),
    done("second token", 200),
    refused("tampered: other token of the same key", 401, "signature_invalid"),
    done("second enrolment", 201),
    refused("tampered: token of another enrolment", 401, "signature_invalid"),
    refused("tampered: token of another enrolment, signed with the own key", 401, "signature_invalid"),
    refused("tampered: body not covered", 401, "signature_invalid"),
    refused("tampered: two signatures", 401, "signature_invalid"),
    refused("tampered: forged challenge", 401, "challenge_invalid"),
    done("call to repeat", 200),
    refused("tampered: same nonce twice", 401, "nonce_replayed"),
    refused("tampered: used nonce in another call", 401, "nonce_replayed"),
    refused("tampered: created ten minutes ago", 401, "clock_skew"),
    refused("tampered: created in ten minutes", 401, "clock_skew"),
    refused("tampered: created missing", 401, "signature_invalid"),
    done("list", 200),
    done("nothing else was created", 200),
];

/// The steps of a client that goes on in a session.
const SESSION: &[Step] = &[
    done("session", 200),
    done("create in the session", 201),
    done("status in the session", 200),
    refused("tampered: changed query in the session", 401, "signature_invalid"),
    refused("tampered: token call in the session", 401, "signature_key_required"),
];

fn gets_through_untampered_only(name: &str, expected: &[Step]) {
    let mut client = prepare(name);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("gateway.db"), &["--rate-limit", "off"]);
    client.arg(format!("http://{}", server.address));
    let printed = run(&mut client).unwrap_or_else(|error| panic!("{error}"));
    assert_steps(&printed, expected);
}

#[test]
fn node_http_message_signatures() {
    gets_through_untampered_only("node", &[LIBRARY, SESSION].concat());
}

#[test]
fn python_http_message_signatures() {
    gets_through_untampered_only("python-http-message-signatures", &[LIBRARY, SESSION].concat());
}

#[test]
fn python_requests_http_signature() {
    gets_through_untampered_only("python-requests-http-signature", LIBRARY);
}

#[test]
fn shell_openssl_and_curl() {
    gets_through_untampered_only("shell", &[SHELL, SESSION].concat());
}

#[test]
fn go_with_the_packages_of_its_own_team() {
    let begin = [done("challenge", 200), done("enrol", 201)];
    gets_through_untampered_only("go-session", &[&begin, SESSION].concat());
}
