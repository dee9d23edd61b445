//! The server's TLS as another program sees it: sslyze, in `tests/interop`, holds it against Mozilla's "intermediate" configuration, and
//! looks for renegotiation by clients, weak answers to ROBOT, early data and suites without forward secrecy.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use railgate_tests::binary::Server;
use railgate_tests::interop::{prepare, run};
use serde_json::Value;

/// A certificate as an authority issues them, but by itself: P-256, for less than a year.
fn certificate(folder: &Path) -> [String; 2] {
    let [cert, key] = ["cert.pem", "key.pem"].map(|name| folder.join(name).display().to_string());
    let mut make = Command::new("openssl");
    make.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "80"]);
    make.args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-out", &cert, "-keyout", &key]);
    run(&mut make).unwrap();
    [cert, key]
}

/// What sslyze finds at this port.
fn scanned(port: u16, more: &[&str]) -> Value {
    let mut client = prepare("sslyze-python");
    client.arg(port.to_string()).args(more).env("PYTHONDONTWRITEBYTECODE", "1");
    let printed = run(&mut client).unwrap_or_else(|error| panic!("{error}"));
    println!("{printed}");
    serde_json::from_str(&printed).unwrap()
}

#[test]
fn the_server_is_as_mozillas_intermediate_configuration_asks() {
    let folder = tempfile::tempdir().unwrap();
    let [cert, key] = certificate(folder.path());
    let server = Server::start(&folder.path().join("gateway.db"), &["--tls-cert", &cert, "--tls-key", &key]);
    let found = scanned(server.address.port(), &[]);
    let versions: Vec<&String> = found["suites"].as_object().unwrap().keys().collect();
    assert_eq!(versions, ["tls_1_2", "tls_1_3"]);
    assert_eq!(found["curves"], serde_json::json!(["X25519", "secp256r1", "secp384r1"]));
    assert!(server.stop());
}

/// Killed with the test, even if that fails.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_server_that_speaks_old_versions_is_found_at_fault() {
    let folder = tempfile::tempdir().unwrap();
    let [cert, key] = certificate(folder.path());
    let mut weak = Command::new("openssl");
    weak.args(["s_server", "-accept", "127.0.0.1:0", "-cert", &cert, "-key", &key, "-min_protocol", "TLSv1", "-www"]);
    weak.args(["-cipher", "ALL:@SECLEVEL=0"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut weak = Ended(weak.spawn().unwrap());
    let lines = BufReader::new(weak.0.stdout.take().unwrap()).lines();
    let port = lines.map(Result::unwrap).find_map(|line| line.strip_prefix("ACCEPT ")?.rsplit_once(':')?.1.parse().ok()).unwrap();
    let found = scanned(port, &["open"]);
    let issues = &found["issues"];
    assert!(issues["tls_versions"].as_str().unwrap().contains("TLSv1.1") && issues["ciphers"].is_string(), "{issues:#}");
}
