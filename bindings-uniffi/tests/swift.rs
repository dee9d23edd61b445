//! The Swift package as shipped: built, used by a test package as by any other, and run against a real gateway.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod support;

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use railgate_tests::binary::Server;
use railgate_tests::interop::run;
use railgate_tests::stage::Stage;
use support::{command, package, scratch};

const HERE: &str = env!("CARGO_MANIFEST_DIR");
/// The folder of both packages, in which Swift builds.
const TESTS: &str = "tests";

/// A command run by Swift, wherever it is installed; it can access the folder and the scenarios.
fn swift(folder: &Path, arguments: &[&str]) -> Command {
    let mut swift = command(Path::new("sh"));
    let scenarios = format!("{HERE}/../tests/scenarios");
    let scenarios = std::fs::canonicalize(scenarios).unwrap();
    swift.arg(format!("{HERE}/../scripts/swift.sh")).arg(format!("{}:{}", folder.display(), scenarios.display()));
    swift.args(arguments).env("RAILGATE_SCENARIOS", scenarios);
    swift
}

/// Copies the test package beside the one that it uses. Swift's earlier build stays, and only changes are rebuilt.
fn copy_tests(tests: &Path) {
    std::fs::create_dir_all(tests).unwrap();
    for old in std::fs::read_dir(tests).unwrap().map(|entry| entry.unwrap().path()) {
        match old.is_dir() {
            true if old.ends_with(".build") => {}
            true => std::fs::remove_dir_all(&old).unwrap(),
            false => std::fs::remove_file(&old).unwrap(),
        }
    }
    ran(Command::new("cp").arg("-R").arg(format!("{HERE}/swift/Tests/.")).arg(tests));
}

fn ran(command: &mut Command) -> String {
    run(command).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_package_passes_its_tests() {
    if std::env::var_os("RAILGATE_SWIFT").is_some_and(|swift| swift == "none") {
        // Not by a macro, whose output is captured when a test passes.
        writeln!(std::io::stderr(), "SKIPPED: the tests of Swift, which ./check could not provide here").unwrap();
        return;
    }
    let _alone = scratch().locked("swift");
    let made = package("swift", &[]);
    assert_documented(&made.join("railgate"));
    copy_tests(&made.join(TESTS));

    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("gateway.db"), &[]);
    let (url, odd) = (format!("http://{}", server.address), odd_server());
    // Nothing listens on this port, and no outgoing connection gets it while Swift compiles.
    let dead = format!("127.0.0.1:{}", railgate_tests::port::free());

    ran(&mut swift(&made, &["swift", "build", "--package-path", TESTS, "--build-tests"]));
    let printed = ran(&mut swift(&made, &["tests/.build/debug/Settle", &url]));
    assert!(printed.ends_with("receipt 25 EUR completed\n"), "{printed}");

    // XCTest prints its summary to one of the outputs, depending on the platform.
    let mut test = swift(&made, &["sh", "-c", "exec swift test --package-path \"$1\" --skip-build 2>&1", "sh", TESTS]);
    test.env("RAILGATE_TEST_URL", url).env("RAILGATE_ODD_URL", format!("http://{odd}")).env("RAILGATE_DEAD_URL", format!("http://{dead}"));
    let stage = Stage::set(&[]);
    let printed = ran(stage.show(&mut test));
    stage.assert_played();
    println!("{printed}");
    assert!(printed.contains(" tests, with 0 failures") && !printed.contains(" skipped"), "{printed}");
}

/// A misbehaving server, for the lifetime of this process.
fn odd_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for connection in listener.incoming() {
            // Errors after the client closed the connection are ignored.
            std::thread::spawn(move || connection.and_then(odd_answer));
        }
    });
    address
}

fn odd_answer(mut connection: TcpStream) -> std::io::Result<()> {
    let mut lines = BufReader::new(connection.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    // The response: head and body, `{}`.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    match first.split(' ').nth(1).unwrap_or_default() {
        "/redirect" => connection
            .write_all(b"HTTP/1.1 302 Found\r\nlocation: /followed\r\nx-seen: as it is\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
        "/cut" => connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"a\":"),
        "/trickle" => {
            connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")?;
            // Until the client gives up.
            loop {
                connection.write_all(b" ")?;
                std::thread::sleep(Duration::from_millis(100));
            }
        }
        // It does end: this detects a client that accepts everything without exhausting the memory.
        "/endless" => {
            connection.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")?;
            (0..17).try_for_each(|_| connection.write_all(&[b' '; 1 << 20]))
        }
        "/followed" => connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"),
        _ => Ok(()),
    }
}

/// The public declarations of a Swift source without documentation.
fn undocumented(source: &str) -> Vec<String> {
    let (mut found, mut hidden, mut before) = (Vec::new(), false, "");
    let lines: Vec<&str> = source.lines().filter(|line| !line.trim().is_empty()).collect();
    for (n, line) in lines.iter().enumerate() {
        let text = line.trim_start();
        let indent = line.len() - text.len();
        let private = text.contains("fileprivate ") || text.starts_with("private ");
        let declares = ["public ", "open "].iter().any(|word| text.starts_with(word)) || (indent == 4 && text.starts_with("case "));
        // The generator's marks: internal declarations are not shown to users.
        let unshown = before == "#endif" && lines[n - 2].contains("@_documentation(visibility: private)");
        if indent == 0 && !text.starts_with('#') && !text.starts_with('}') {
            hidden = private || unshown || text.contains("FfiConverter") || text.contains("func uniffi");
        }
        // A record's initialiser takes its fields, which are documented themselves.
        let of_fields = text == "public init(" && lines[n + 1].trim() == "/**";
        let documented = before.ends_with("*/") || before.starts_with("///");
        if declares && indent <= 4 && !(hidden || unshown || documented || of_fields) {
            found.push((*text).to_owned());
        }
        before = text;
    }
    found
}

/// Public declarations of the package have Swift documentation, and the README's example is the one that is run.
fn assert_documented(package: &Path) {
    let sources = package.join("Sources/Railgate");
    let mut declarations = 0;
    for file in std::fs::read_dir(&sources).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert_eq!(undocumented(&text), [""; 0]);
        assert!(!text.contains("# Errors") && !text.contains("](crate::"), "Rust's notation");
        declarations += text.matches("public ").count();
    }
    assert!(declarations > 300, "{declarations}");
    assert_eq!(undocumented("public struct A {\n    public let b: Int\n}"), ["public struct A {", "public let b: Int"]);
    let readme = std::fs::read_to_string(package.join("README.md")).unwrap();
    for name in ["Settle/Settle.swift", "RailgateTests/Tour.swift", "RailgateTests/Phone.swift", "RailgateTests/Partner.swift"] {
        let example = std::fs::read_to_string(format!("{HERE}/swift/Tests/{name}")).unwrap();
        assert!(readme.contains(&format!("```swift\n{example}```\n")), "the README shows another program than {name}");
    }
}
