//! Webhooks as a receiver's developer sees them: received, shown, saved and verified again.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use railgate::webhook::{WebhookSecret, sign};
use serde_json::Value;

use super::support::{Home, command, railgate};

const SECRET: &str = "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=";
const OTHER: &str = "whsec_CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg=";
const BODY: &str = r#"{"type":"settlement.completed","data":{"amount":10.50}}"#;

/// `railgate webhooks listen` on a free port, and its output.
pub(crate) struct Listening {
    child: Child,
    printed: BufReader<ChildStdout>,
    pub(crate) address: String,
}

impl Listening {
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut line = command(&[&["webhooks", "listen", "--listen", "127.0.0.1:0"], args].concat());
        let mut child = line.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut printed = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        printed.read_line(&mut first).unwrap();
        let address = first.split("http://").nth(1).unwrap().trim_end_matches(['"', '}', '\n']).to_owned();
        Self { child, printed, address }
    }

    /// Posts a body with these headers; returns the response's status.
    fn post(&self, headers: &[(&str, &str)], body: &str) -> u16 {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let length = body.len();
        let request = format!("POST /hook HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
        self.raw(&request)
    }

    fn raw(&self, request: &str) -> u16 {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().parse().unwrap()
    }

    /// Everything up to an empty line.
    pub(crate) fn entry(&mut self) -> String {
        let mut entry = String::new();
        while !entry.ends_with("\n\n") {
            assert_ne!(self.printed.read_line(&mut entry).unwrap(), 0, "{entry}");
        }
        entry
    }

    fn document(&mut self) -> Value {
        let mut line = String::new();
        self.printed.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn now_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

/// The three headers of a body that was sent this many seconds ago.
fn signed(secret: &str, id: &str, age_s: i64, body: &str) -> [(&'static str, String); 3] {
    let at_s = now_s() - age_s;
    let signature = sign(&[WebhookSecret::parse(secret).unwrap()], id, at_s, body.as_bytes());
    [("webhook-id", id.to_owned()), ("webhook-timestamp", at_s.to_string()), ("webhook-signature", signature)]
}

fn texts<'a>(headers: &'a [(&'static str, String); 3]) -> [(&'static str, &'a str); 3] {
    [0, 1, 2].map(|at| (headers[at].0, headers[at].1.as_str()))
}

#[test]
fn what_arrives_is_answered_and_shown_with_whether_it_is_genuine() {
    let mut listening = Listening::start(&["--secret", OTHER, "--secret", SECRET]);
    let headers = signed(SECRET, "evt_1", 2, BODY);
    assert_eq!(listening.post(&texts(&headers), BODY), 204);
    let shown = listening.entry();
    for part in ["verified  settlement.completed  evt_1\n", "answered 204", "    \"data\": {\n      \"amount\": 10.50\n    }\n"] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(!shown.contains("seen before") && !shown.contains('\x1b'), "{shown}");
    assert_eq!(listening.post(&texts(&headers), BODY), 204);
    assert!(listening.entry().contains("seen before"));

    assert_eq!(listening.post(&texts(&headers), "{}"), 400);
    let shown = listening.entry();
    assert!(shown.contains("REFUSED   (no type)  evt_1\n") && shown.contains("no signature matches"), "{shown}");
    assert_eq!(listening.post(&texts(&signed(SECRET, "evt_2", 3_000, BODY)), BODY), 400);
    assert!(listening.entry().contains("more than is tolerated"));
    assert_eq!(listening.post(&[], "\u{1b}[31mhello"), 400);
    let shown = listening.entry();
    assert!(shown.contains("webhook-id is missing") && shown.contains("\u{fffd}[31mhello"), "{shown}");
}

#[test]
fn other_methods_and_bodies_without_end_are_not_taken() {
    let listening = Listening::start(&["--secret", SECRET]);
    assert_eq!(listening.raw("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 405);
    assert_eq!(listening.raw("POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 999999999\r\n\r\n"), 413);
}

#[test]
fn a_program_reads_each_webhook_as_a_line_of_json() {
    let mut listening = Listening::start(&["--secret", SECRET, "--json", "--status", "503"]);
    let headers = signed(SECRET, "evt_1", 0, BODY);
    assert_eq!(listening.post(&texts(&headers), BODY), 503);
    let shown = listening.document();
    assert_eq!(
        (shown["verified"].as_bool(), shown["id"].as_str(), shown["type"].as_str()),
        (Some(true), Some("evt_1"), Some("settlement.completed"))
    );
    assert_eq!((shown["answered"].as_u64(), shown["body"].as_str()), (Some(503), Some(BODY)));
    assert_eq!(listening.post(&texts(&headers), "{}"), 400);
    let shown = listening.document();
    assert_eq!((shown["verified"].as_bool(), shown["answered"].as_u64()), (Some(false), Some(400)));
    assert!(shown["problem"].as_str().unwrap().contains("no signature matches"), "{shown}");
}

#[test]
fn what_was_kept_is_checked_again() {
    let home = Home::new();
    let folder = home.path("deliveries").display().to_string();
    let mut listening = Listening::start(&["--secret", SECRET, "--save", &folder]);
    let headers = signed(SECRET, "evt_1", 10, BODY);
    for _ in 0..2 {
        listening.post(&texts(&headers), BODY);
        assert!(listening.entry().contains("evt_1."));
    }
    // A webhook that is not genuine is only shown, and an id is never a path.
    assert_eq!(listening.post(&[("webhook-id", "evt_9")], BODY), 400);
    assert!(!listening.entry().contains("kept in"));
    let evil = signed(SECRET, "/etc/evil", 10, BODY);
    assert_eq!(listening.post(&texts(&evil), BODY), 204);
    listening.entry();
    let mut names: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["etcevil.1.http", "evt_1.1.http", "evt_1.2.http"]);

    let file = format!("{folder}/evt_1.2.http");
    let genuine = railgate(&["webhooks", "verify", &file, "--secret", SECRET], None).ok().out;
    assert!(genuine.starts_with("Genuine") && genuine.contains("evt_1") && genuine.contains("settlement.completed"), "{genuine}");
    let either = format!("{OTHER},{SECRET}");
    let json = railgate(&["webhooks", "verify", &file, "--secret", &either, "--json"], None).ok().json();
    assert_eq!((json["verified"].as_bool(), json["id"].as_str()), (Some(true), Some("evt_1")));
    let other = railgate(&["webhooks", "verify", &file, "--secret", OTHER], None).fails(1);
    assert!(other.err.contains("not genuine") && other.out.is_empty(), "{}", other.err);
    let strict = railgate(&["webhooks", "verify", &file, "--secret", SECRET, "--tolerance", "5"], None).fails(1);
    assert!(strict.err.contains("--tolerance any"), "{}", strict.err);
    let changed = std::fs::read_to_string(&file).unwrap().replace("10.50", "10.51");
    railgate(&["webhooks", "verify", "-", "--secret", SECRET], Some(&changed)).fails(1);
}

#[test]
fn a_folder_that_is_full_of_a_webhook_ends_nothing() {
    let home = Home::new();
    let folder = home.path("deliveries");
    std::fs::create_dir_all(&folder).unwrap();
    for number in 1..=1000 {
        std::fs::write(folder.join(format!("evt_1.{number}.http")), "").unwrap();
    }
    let mut listening = Listening::start(&["--secret", SECRET, "--save", &folder.display().to_string()]);
    assert_eq!(listening.post(&texts(&signed(SECRET, "evt_1", 0, BODY)), BODY), 204);
    assert!(!listening.entry().contains("kept in"));
    assert_eq!(listening.post(&texts(&signed(SECRET, "evt_2", 0, BODY)), BODY), 204);
    assert!(listening.entry().contains("evt_2.1.http"));
}

#[test]
fn a_webhook_written_by_hand_is_checked_whatever_its_age_if_so_wished() {
    let by_hand: String = signed(SECRET, "evt_1", 1_000_000, BODY).iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
    let by_hand = format!("{by_hand}\n{BODY}");
    let verify = |more: &[&str]| railgate(&[&["webhooks", "verify", "-", "--secret", SECRET], more].concat(), Some(&by_hand));
    verify(&["--tolerance", "any"]).ok();
    verify(&["--tolerance", "2000000"]).ok();
    verify(&[]).fails(1);
    let line_more = format!("{by_hand}\n");
    railgate(&["webhooks", "verify", "-", "--secret", SECRET, "--tolerance", "any"], Some(&line_more)).fails(1);
}

#[test]
fn wrong_usage_is_told_from_what_is_not_genuine() {
    let none = railgate(&["webhooks", "verify", "-"], Some("")).fails(2);
    assert!(none.err.contains("RAILGATE_WEBHOOK_SECRET"), "{}", none.err);
    let bad = railgate(&["webhooks", "verify", "-", "--secret", "whsec_c2hvcnQ="], Some("")).fails(2);
    assert!(bad.err.contains("24 to 64 bytes") && !bad.err.contains("c2hvcnQ"), "{}", bad.err);
    railgate(&["webhooks", "verify", "-", "--secret", SECRET, "--tolerance", "-1"], Some("")).fails(2);
    railgate(&["webhooks", "verify", "-", "--secret", SECRET], Some("no webhook")).fails(1);
    railgate(&["webhooks", "verify", "/nowhere/at/all", "--secret", SECRET], None).fails(1);
    railgate(&["webhooks", "listen", "--secret", SECRET, "--listen", "0.0.0.0:0"], None).fails(2);
    railgate(&["webhooks", "listen", "--secret", SECRET, "--status", "42"], None).fails(2);
    railgate(&["webhooks", "listen"], None).fails(2);
    let mut with_secret = command(&["webhooks", "verify", "-"]);
    let output = with_secret.env("RAILGATE_WEBHOOK_SECRET", SECRET).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "the secret is there, a webhook is not");
}
