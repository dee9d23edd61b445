//! The process as an operator sees it: its first line, its signals, its log, and its errors about wrong settings.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

fn railgate(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_railgate"));
    command.arg("serve").args(args).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The address in the first line.
fn address(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim_end().strip_prefix("listening on http://").unwrap_or_else(|| panic!("{line:?}")).to_owned()
}

fn wait(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(600) {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    panic!("it did not end");
}

#[test]
fn it_says_where_it_listens_and_ends_well_on_a_signal() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("not/there/yet");
    let args = ["--listen", "localhost:0", "--metrics-listen", "off", "--data-dir", data.to_str().unwrap(), "--log", "json"];
    for signal in ["TERM", "INT"] {
        let mut child = railgate(&args).spawn().unwrap();
        let mut stream = TcpStream::connect(address(&mut child)).unwrap();
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        // A second server over the same data must not start.
        let second = railgate(&args).output().unwrap();
        assert_eq!(second.status.code(), Some(1), "{second:?}");
        Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        assert_eq!(wait(&mut child), Some(0), "{signal}");
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(log.lines().all(|line| line.starts_with("{\"timestamp\"") && line.ends_with('}')), "{log}");
        assert!(log.contains("\"route\":\"/readyz\"") && log.contains("everything accepted is stored"), "{log}");
    }
    assert!(data.join("railgate.db").exists() && !data.join("railgate.db-wal").exists());
}

#[test]
fn it_raises_its_limit_of_open_files_and_says_when_that_is_not_enough() {
    for (hard, connections, told) in [(2_000, 1_000, false), (300, 1_000, true)] {
        let serve = format!(
            "ulimit -Sn 100 && ulimit -Hn {hard} && exec {} serve --listen 127.0.0.1:0 --metrics-listen off --store memory: --log json \
             --max-connections {connections}",
            env!("CARGO_BIN_EXE_railgate")
        );
        let mut command = Command::new("sh");
        command.args(["-c", &serve]).env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let address = address(&mut child);
        // More than the soft limit that it was started with.
        let mut held: Vec<_> = (0..140).map(|_| TcpStream::connect(&address).unwrap()).collect();
        let last = held.last_mut().unwrap();
        last.write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        last.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert_eq!(wait(&mut child), Some(0));
        let mut log = String::new();
        child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert_eq!(log.contains("fewer files than it wants"), told, "{log}");
        assert!(!log.contains("could not be accepted"), "{log}");
        assert_eq!(log.contains("\"connections\":150"), told, "{log}");
    }
}

#[test]
fn wrong_settings_and_taken_addresses_are_named() {
    let wrong = railgate(&["--listen", "0.0.0.0:8080", "--store", "redis:"]).env("RAILGATE_TOKEN_TTL", "soon").output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let text = String::from_utf8(wrong.stderr).unwrap();
    for part in ["listen (command line)", "loopback", "store (command line)", "token-ttl (environment variable RAILGATE_TOKEN_TTL)"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = railgate(&["--store", "memory:", "--metrics-listen", "off", "--listen", &address]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(text.contains(&address) && text.contains("listen"), "{text}");
}
