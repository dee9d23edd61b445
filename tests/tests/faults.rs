//! Faults of files and of the system around a server: nothing that was answered is lost, the error says what is wrong, and when the fault
//! is over, the server goes on by itself where that is possible. What else there is to break, and where that is tested: RELIABILITY.md.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use railgate_tests::binary::{Server, railgate};
use railgate_tests::client::{Account, Client, Connection, Response, call, enroll, render};
use railgate_tests::disk::Disk;
use railgate_tests::kept::assert_all_there;
use railgate_tests::patience::until;
use railgate_tests::postgres::Postgres;
use railgate_tests::skipped::skipped;
use serde_json::Value;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

/// What a client has been told.
#[derive(Default)]
struct Told(HashMap<String, String>);

impl Told {
    /// Makes a payment, and remembers it if it is acknowledged.
    fn pay(&mut self, server: SocketAddr, account: &Account, reference: &str) -> Response {
        let body = format!(r#"{{"amount":"0.01","currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
        let response = account.connect(server).unwrap().send("POST", SETTLEMENTS, Some(&body)).unwrap();
        if [200, 201].contains(&response.status) {
            self.0.insert(reference.to_owned(), response.body["id"].as_str().unwrap().to_owned());
        }
        response
    }

    fn pay_all(&mut self, server: SocketAddr, account: &Account, name: &str, count: usize) {
        for n in 0..count {
            let made = self.pay(server, account, &format!("{name}-{n}"));
            assert_eq!(made.status, 201, "{made:?}");
        }
    }
}

fn get(server: SocketAddr, path: &str) -> Response {
    Connection::open(server).unwrap().exchange(&render(&call("GET", path, None))).unwrap()
}

#[track_caller]
fn assert_later(response: &Response) {
    assert_eq!((response.status, response.code()), (503, "store_unavailable"), "{response:?}");
    assert!(response.header("retry-after").is_some(), "{response:?}");
}

/// A payment whose result is still unknown when the time of a call is over is told so.
#[track_caller]
fn assert_too_late(response: &Response) {
    if response.status == 504 {
        assert_eq!((response.code(), &response.body["retryable"]), ("timeout", &Value::Bool(true)), "{response:?}");
    } else {
        assert_later(response);
    }
}

fn file(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

fn verified(store: &str) -> Output {
    Command::new(railgate()).args(["ledger", "verify", "--store", store]).output().unwrap()
}

#[test]
fn a_full_disk_refuses_payments_until_there_is_room_again() {
    let Some(disk) = Disk::small("48m") else { return };
    // Nothing is said about each of hundreds of refusals.
    let server = Server::start(&disk.path(), &["--log-level", "off"]);
    let (account, mut told) = (enroll(server.address), Told::default());
    told.pay_all(server.address, &account, "before", 20);
    let ballast = disk.fill();
    let mut refused = None;
    // What is left of the write-ahead log takes some more.
    for n in 0..2_000 {
        let made = told.pay(server.address, &account, &format!("full-{n}"));
        if made.status != 201 {
            refused = Some(made);
            break;
        }
    }
    assert_later(&refused.expect("the disk never got full"));
    // What is known can still be read.
    assert_all_there(server.address, &account, &told.0);
    assert_eq!(get(server.address, "/healthz").status, 200);
    // What is smaller than a payment may still find room: that makes nobody ready.
    until("it is not ready", || get(server.address, "/readyz").status == 503);
    assert_later(&told.pay(server.address, &account, "meanwhile"));
    assert_later(&get(server.address, "/readyz"));
    fs::remove_file(ballast).unwrap();
    until("it takes payments again", || told.pay(server.address, &account, "after").status == 201);
    until("it is ready again", || get(server.address, "/readyz").status == 200);
    assert_all_there(server.address, &account, &told.0);
    assert!(server.stop(), "a graceful end");
    let verified = verified(&file(&disk.path()));
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_disk_that_cannot_be_written_keeps_the_server_from_starting_and_loses_nothing() {
    let Some(disk) = Disk::small("48m") else { return };
    let server = Server::start(&disk.path(), &[]);
    let (account, mut told) = (enroll(server.address), Told::default());
    told.pay_all(server.address, &account, "before", 5);
    assert!(server.stop());
    disk.again("ro");
    let mut serve = Command::new(railgate());
    let refused =
        serve.args(["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--store", &file(&disk.path())]).output().unwrap();
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && said.to_lowercase().contains("read-only"), "{said}");
    disk.again("rw");
    let server = Server::start(&disk.path(), &[]);
    told.pay_all(server.address, &account, "after", 5);
    assert_all_there(server.address, &account, &told.0);
}

#[test]
fn a_disk_that_fails_under_a_server_loses_nothing_and_is_repaired() {
    let Some(disk) = Disk::on_a_device() else { return };
    let server = Server::start(&disk.path(), &["--log-level", "off"]);
    let (account, mut told) = (enroll(server.address), Told::default());
    told.pay_all(server.address, &account, "before", 20);
    disk.fail();
    assert_later(&told.pay(server.address, &account, "on-a-failed-disk"));
    assert_later(&get(server.address, "/readyz"));
    assert_eq!(get(server.address, "/healthz").status, 200);
    server.kill();
    disk.repair();
    let server = Server::start(&disk.path(), &[]);
    assert_all_there(server.address, &account, &told.0);
    told.pay_all(server.address, &account, "after", 20);
    assert!(server.stop(), "a graceful end");
    let verified = verified(&file(&disk.path()));
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_disk_that_stands_still_is_told_to_callers_and_the_server_goes_on_with_it() {
    let Some(disk) = Disk::on_a_device() else { return };
    let server = Server::start(&disk.path(), &["--log-level", "off"]);
    let (account, mut told) = (enroll(server.address), Told::default());
    told.pay_all(server.address, &account, "before", 10);
    disk.freeze(true);
    let refused = told.pay(server.address, &account, "while");
    let (ready, alive) = (get(server.address, "/readyz"), get(server.address, "/healthz"));
    disk.freeze(false);
    assert_too_late(&refused);
    assert_later(&ready);
    assert_eq!(alive.status, 200);
    until("the same payment is taken", || [200, 201].contains(&told.pay(server.address, &account, "while").status));
    until("it is ready again", || get(server.address, "/readyz").status == 200);
    told.pay_all(server.address, &account, "after", 10);
    assert_all_there(server.address, &account, &told.0);
    assert!(server.stop(), "a graceful end");
    let verified = verified(&file(&disk.path()));
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn files_that_are_used_up_keep_nobody_out_who_is_in_and_the_others_only_until_there_are_some() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("gateway.db"), &["--log-level", "off"]);
    let (account, mut told) = (enroll(server.address), Told::default());
    told.pay_all(server.address, &account, "before", 5);
    let mut inside = account.connect(server.address).unwrap();
    let pay = |client: &mut Client, reference: &str| {
        let body = format!(r#"{{"amount":"0.01","currency":"EUR","to":"sim:ok","reference":"{reference}"}}"#);
        client.send("POST", SETTLEMENTS, Some(&body)).unwrap()
    };
    assert_eq!(pay(&mut inside, "inside").status, 201);
    let limit = |files: &str| {
        let set = Command::new("prlimit").args([&format!("--pid={}", server.pid()), &format!("--nofile={files}:")]).status();
        assert!(set.unwrap().success());
    };
    limit("3");
    // The system connects, and the server cannot take it.
    let mut outside = Connection::open(server.address).unwrap();
    outside.put(&render(&call("GET", "/healthz", None))).unwrap();
    for n in 0..50 {
        let reference = format!("meanwhile-{n}");
        let made = pay(&mut inside, &reference);
        assert_eq!(made.status, 201, "{made:?}");
        told.0.insert(reference, made.body["id"].as_str().unwrap().to_owned());
    }
    assert!(outside.is_silent().unwrap(), "it was taken, with no file for it");
    limit("1024");
    assert_eq!(outside.answer().unwrap().status, 200);
    told.pay_all(server.address, &account, "after", 5);
    assert_all_there(server.address, &account, &told.0);
    assert!(server.stop(), "a graceful end");
}

/// The files of a store whose server was killed, with a write-ahead log; and who was told what.
fn killed(folder: &Path) -> (PathBuf, Account, Told) {
    let path = folder.join("gateway.db");
    let server = Server::start(&path, &[]);
    let (account, mut told) = (enroll(server.address), Told::default());
    told.pay_all(server.address, &account, "before", 20);
    server.kill();
    (path, account, told)
}

#[test]
fn a_write_ahead_log_with_a_torn_tail_is_read_up_to_there() {
    let folder = tempfile::tempdir().unwrap();
    let (path, account, mut told) = killed(folder.path());
    // A commit that nobody was told of, as a crash tears it: most of a frame, and a frame whose content is not what its checksum says.
    let log = path.with_extension("db-wal");
    let mut bytes = fs::read(&log).unwrap();
    let frame = 24 + 4_096;
    assert_eq!((bytes.len() - 32) % frame, 0, "frames of another size");
    let last = bytes[bytes.len() - frame..].to_vec();
    let mut wrong = last.clone();
    wrong[frame / 2] ^= 0xff;
    bytes.extend(wrong);
    bytes.extend(&last[..frame / 3]);
    fs::write(&log, bytes).unwrap();
    let server = Server::start(&path, &[]);
    assert_all_there(server.address, &account, &told.0);
    told.pay_all(server.address, &account, "after", 20);
    server.kill();
    let server = Server::start(&path, &[]);
    assert_all_there(server.address, &account, &told.0);
    assert!(server.stop());
    let verified = verified(&file(&path));
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_corrupted_page_is_reported_whichever_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _, _) = killed(folder.path());
    assert!(Server::start(&path, &[]).stop(), "everything is in the file itself");
    let length = fs::metadata(&path).unwrap().len();
    let pages = length / 4_096;
    let sound = fs::read(&path).unwrap();
    let broken = folder.path().join("broken.db");
    let mut silent = Vec::new();
    for page in 0..pages {
        fs::write(&broken, &sound).unwrap();
        let noise: Vec<u8> = (0..4_096_u64).map(|n| u8::try_from((n * 167 + page * 13 + 91) % 251).unwrap()).collect();
        File::options().write(true).open(&broken).unwrap().write_all_at(&noise, page * 4_096).unwrap();
        let verified = verified(&file(&broken));
        let said = String::from_utf8_lossy(&verified.stderr).into_owned() + &String::from_utf8_lossy(&verified.stdout);
        if verified.status.success() {
            silent.push(page);
        } else {
            assert!(!said.contains("panicked"), "page {page}: {said}");
        }
    }
    // What is in a page that nothing uses does not matter.
    let unused: u32 = rusqlite::Connection::open(&path).unwrap().pragma_query_value(None, "freelist_count", |row| row.get(0)).unwrap();
    assert!(silent.len() <= unused as usize, "{silent:?} of {pages} pages, of which {unused} are not used");
    eprintln!("{} of {pages} pages were reported, and {unused} are not used", pages - silent.len() as u64);
}

#[test]
fn ten_thousand_idle_connections_keep_nobody_from_paying() {
    const IDLE: usize = 10_000;
    // For this process and the server that it starts.
    let enough = Command::new("prlimit").args([&format!("--pid={}", std::process::id()), "--nofile=12000:"]).status();
    if !enough.is_ok_and(|it| it.success()) {
        return skipped("10,000 idle connections, which need 12,000 open files (ulimit -Hn)");
    }
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("gateway.db"), &[]);
    let (account, mut told) = (enroll(server.address), Told::default());
    let mut idle: Vec<TcpStream> = Vec::with_capacity(IDLE);
    for n in 0..IDLE {
        let mut stream = TcpStream::connect(server.address).unwrap();
        // Half of them begin a request, and never end it.
        if n % 2 == 0 {
            let _ = stream.write_all(b"GET /healthz HTTP/1.1\r\nHost:");
        }
        idle.push(stream);
        if n % 500 == 0 {
            let reference = format!("during-{n}");
            assert_eq!(told.pay(server.address, &account, &reference).status, 201);
        }
    }
    told.pay_all(server.address, &account, "beside", 20);
    assert_eq!(get(server.address, "/readyz").status, 200);
    let open = idle.iter_mut().filter_map(|stream| stream.set_nonblocking(true).and_then(|()| stream.read(&mut [0; 512])).err());
    eprintln!("{} of {IDLE} idle connections are still open", open.count());
    drop(idle);
    told.pay_all(server.address, &account, "after", 20);
    assert_all_there(server.address, &account, &told.0);
    assert!(server.stop(), "a graceful end");
}

#[test]
fn a_database_that_hangs_is_told_to_callers_and_goes_on_when_it_wakes_up() {
    let (database, folder) = (Postgres::quick(), tempfile::tempdir().unwrap());
    let home = folder.path().display().to_string();
    let url = database.url(&database.database());
    let server = Server::over(&url, &["--data-dir", &home, "--log-level", "off"]);
    let (account, mut told) = (enroll(server.address), Told::default());
    told.pay_all(server.address, &account, "before", 10);
    database.freeze(true);
    let refused = told.pay(server.address, &account, "while");
    let (ready, alive) = (get(server.address, "/readyz"), get(server.address, "/healthz"));
    database.freeze(false);
    assert_too_late(&refused);
    assert_later(&ready);
    assert_eq!(alive.status, 200);
    until("the same payment is taken", || [200, 201].contains(&told.pay(server.address, &account, "while").status));
    until("it is ready again", || get(server.address, "/readyz").status == 200);
    told.pay_all(server.address, &account, "after", 10);
    assert_all_there(server.address, &account, &told.0);
    assert!(server.stop(), "a graceful end");
    let verified = verified(&url);
    assert!(verified.status.success(), "{verified:?}");
}

/// A clock that says whatever it is told, for processes that libfaketime is loaded into. Timers go on as they would.
struct Clock {
    library: PathBuf,
    says: PathBuf,
}

impl Clock {
    /// One that is right; `None`, with a message, where libfaketime is not installed.
    fn right(folder: &Path) -> Option<Self> {
        let places = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
        let library = places.map(|place| place.path().join("faketime/libfaketime.so.1")).find(|library| library.exists());
        let Some(library) = library else {
            skipped("a clock that is set back, which needs libfaketime");
            return None;
        };
        let clock = Self { library, says: folder.join("clock") };
        clock.set(0);
        Some(clock)
    }

    /// So many seconds from what is right, from now on.
    fn set(&self, seconds: i64) {
        let whole = self.says.with_extension("new");
        fs::write(&whole, format!("{seconds:+}\n")).unwrap();
        fs::rename(whole, &self.says).unwrap();
    }

    /// A server that looks at it.
    fn serve(&self, store: &Path) -> Server {
        let mut command = Command::new(railgate());
        command.env("LD_PRELOAD", &self.library).env("FAKETIME_TIMESTAMP_FILE", &self.says);
        command.env("FAKETIME_NO_CACHE", "1").env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        Server::run(&mut command, &file(store), &[], Stdio::inherit())
    }
}

#[test]
fn a_clock_that_is_set_forward_and_back_loses_nothing_and_lets_no_recorded_call_in_again() {
    let folder = tempfile::tempdir().unwrap();
    let Some(clock) = Clock::right(folder.path()) else { return };
    let server = clock.serve(&folder.path().join("gateway.db"));
    let (account, mut told) = (enroll(server.address), Told::default());
    // Half of it is given back: the same call could do that twice.
    let body = r#"{"amount":"1.00","currency":"EUR","to":"sim:ok","reference":"halved"}"#;
    let mut client = account.connect(server.address).unwrap();
    assert_eq!(client.send("POST", SETTLEMENTS, Some(body)).unwrap().status, 201);
    let halved = |client: &mut Client| client.send("GET", &format!("{SETTLEMENTS}/halved/status"), None).unwrap().body;
    until("it is paid", || halved(&mut client)["status"] == "completed");
    let reversal = call("POST", &format!("{SETTLEMENTS}/halved/reverse"), Some(r#"{"amount":"0.50"}"#));
    let recorded = client.signed(reversal).unwrap();
    assert_eq!(client.exchange(&recorded).unwrap().status, 201);
    until("half of it is back", || halved(&mut client)["status"] == "partially_reversed");
    for (name, hours) in [("now", 0), ("earlier", -1), ("later", 49), ("in-between", 1), ("again", 0)] {
        clock.set(hours * 3_600);
        told.pay_all(server.address, &account, name, 10);
        let refused = Connection::open(server.address).unwrap().exchange(&recorded).unwrap();
        assert_eq!(refused.status, 401, "{name}: {refused:?}");
    }
    assert_eq!(halved(&mut account.connect(server.address).unwrap())["status"], "partially_reversed");
    assert_eq!(get(server.address, "/readyz").status, 200);
    assert_all_there(server.address, &account, &told.0);
    assert!(server.stop(), "a graceful end");
    let verified = verified(&file(&folder.path().join("gateway.db")));
    assert!(verified.status.success(), "{verified:?}");
}
