//! Receipts from a real server, verified by third-party JOSE libraries, in `tests/interop`: each accepts signed receipts,
//! also those signed by a key replaced since, and refuses altered ones.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::path::Path;
use std::process::Command;

use railgate::receipt::verify_receipt;
use railgate_tests::binary::{Server, railgate};
use railgate_tests::interop::{prepare, run};
use serde_json::Value;

/// The alterations of each receipt, all of which must be refused.
const REFUSED: &[&str] = &[
    "changed payload",
    "changed signature",
    "no signature",
    "algorithm none",
    "algorithm HS256",
    "another key",
    "swapped key set",
    "another type",
    "key not published",
];

/// The command line of a client of `server` with the home directory `home`.
fn client(home: &Path, server: &str, words: &[&str]) -> String {
    let mut command = Command::new(railgate());
    command.args(words).args(["--server", server]).env("RAILGATE_HOME", home).env("NO_PROXY", "*").env("no_proxy", "*");
    run(&mut command).unwrap()
}

fn accepts_genuine_receipts_only(name: &str) {
    let mut checker = prepare(name);
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("gateway.db");
    let server = Server::start(&database, &[]);
    let url = format!("http://{}", server.address);
    let pay = |words: &[&str]| client(folder.path(), &url, words);
    pay(&["enroll"]);
    pay(&["settle", "12.50", "EUR", "sim:ok", "--reference", "inv-1", "--description", "שלום 東京", "--wait", "30"]);
    let receipt = || pay(&["receipt", "get", "inv-1", "--format", "jose"]).trim().to_owned();
    let old = receipt();
    let rotate = ["keys", "rotate", "receipt", "--store", &format!("sqlite:{}", database.display())];
    run(Command::new(railgate()).args(rotate).env("RAILGATE_HOME", folder.path())).unwrap();
    pay(&["reverse", "inv-1", "--amount", "2.50"]);
    pay(&["status", "inv-1", "--wait", "30"]);
    let new = receipt();

    let printed = run(checker.arg(&url).args([&old, &new])).unwrap_or_else(|error| panic!("{error}"));
    let mut steps = printed.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let keys = pay(&["curl", "GET", "/.well-known/jwks.json"]);
    let published: Value = serde_json::from_str(&keys).unwrap();
    let kids: Vec<&Value> = published["keys"].as_array().unwrap().iter().map(|key| &key["kid"]).collect();
    let first = steps.next().unwrap();
    assert_eq!(first["kids"].as_array().unwrap().iter().collect::<Vec<_>>(), kids);
    assert_eq!(kids.len(), 2, "{keys}");
    for jws in [&old, &new] {
        let genuine = steps.next().unwrap();
        let ours = serde_json::to_value(verify_receipt(jws, &keys).unwrap()).unwrap();
        assert_eq!((&genuine["step"], &genuine["claims"]), (&"genuine".into(), &ours));
        let refused: Vec<Value> = steps.by_ref().take(REFUSED.len()).collect();
        assert_eq!(refused.iter().map(|step| step["step"].as_str().unwrap()).collect::<Vec<_>>(), REFUSED);
        assert!(refused.iter().all(|step| step["refused"].is_string()), "{refused:?}");
    }
    assert_eq!(steps.next(), None);
}

#[test]
fn node_jose() {
    accepts_genuine_receipts_only("receipt-node");
}

#[test]
fn python_joserfc() {
    accepts_genuine_receipts_only("receipt-python");
}
