//! The gateway against its own OpenAPI document, by a program that knows nothing else of it: schemathesis, in `tests/interop`. What the
//! document allows is accepted, what it forbids is refused, nothing is answered that it does not say, and nothing fails with a 5xx.
//!
//! `RAILGATE_SCHEMA_EXAMPLES` (3) and `RAILGATE_SCHEMA_SEED` (1) say how many cases of each operation are made up beside those that its
//! schema leads to, and which.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use railgate_tests::binary::Server;
use railgate_tests::interop::{prepare, run};
use serde_json::{Map, Value};

/// Everything that an operator can be asked to confirm: otherwise an agent's change of the routes would stop all payments.
const CONFIRMED: &str = "money,access,outcome,provider,routes,terms";

fn is_as_documented(callers: &str) {
    let mut client = prepare("schemathesis-python");
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("gateway.db");
    let more = ["--webhook-allow", "127.0.0.0/8", "--four-eyes", CONFIRMED, "--token-ttl", "3600"];
    let server = Server::start(&database, &more);
    let code = |role: &str| (role.to_owned(), Value::from(Server::operator_code(&database, role)));
    let codes: Map<String, Value> = ["viewer", "agent", "approver", "admin"].map(code).into_iter().collect();
    client.arg(callers).arg(format!("http://{}", server.address)).arg(Value::from(codes).to_string());
    // It writes where it runs.
    client.current_dir(folder.path()).env("PYTHONDONTWRITEBYTECODE", "1");
    let printed = run(&mut client).unwrap_or_else(|error| panic!("{error}"));
    println!("{printed}");
}

#[test]
fn signed_calls_are_answered_as_documented() {
    is_as_documented("signed");
}

#[test]
fn calls_without_a_signature_are_answered_as_documented() {
    is_as_documented("unsigned");
}
