//! What `docs/operations` ships: the drill of backup and restore, the alerts and the dashboard.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use railgate_tests::binary::{Server, railgate};
use railgate_tests::client::{Account, Client, enroll};
use railgate_tests::patience::until;
use railgate_tests::port;
use railgate_tests::postgres::{Postgres, binaries};
use railgate_tests::skipped::skipped;
use serde_json::json;

const SETTLEMENTS: &str = "/api/v1/gateway/settlements";

/// Runs a command that must succeed.
#[track_caller]
fn run(command: &mut Command) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}; ./check installs what the tests need"));
    assert!(done.status.success(), "{command:?}: {}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A store that is lost and restored.
struct Drill {
    store: String,
    keys: String,
    address: String,
}

impl Drill {
    fn serve(&self, more: &[&str]) -> Server {
        Server::over(&self.store, &[&["--listen", &*self.address, "--master-keys", &*self.keys], more].concat())
    }

    fn operate(&self, command: &[&str]) -> String {
        run(Command::new(railgate()).args(command).args(["--store", &*self.store]))
    }

    fn verify(&self) {
        let said = self.operate(&["ledger", "verify"]);
        assert!(said.contains("everything agrees"), "{said}");
    }
}

fn pay(client: &mut Client, reference: &str) -> u16 {
    let body = json!({"amount": 10, "currency": "EUR", "to": "sim:ok", "reference": reference}).to_string();
    client.send("POST", SETTLEMENTS, Some(&body)).unwrap().status
}

fn status(client: &mut Client, reference: &str) -> String {
    let answer = client.send("GET", &format!("{SETTLEMENTS}/{reference}/status?wait=5"), None).unwrap();
    answer.body["status"].as_str().map_or_else(|| answer.code().to_owned(), str::to_owned)
}

/// The epoch of the client's feed, and how many events it has.
fn feed(client: &mut Client) -> (u64, usize) {
    let page = client.send("GET", "/api/v1/gateway/events?limit=200", None).unwrap();
    assert_eq!(page.status, 200, "{page:?}");
    (page.body["epoch"].as_u64().unwrap(), page.body["data"].as_array().unwrap().len())
}

/// The steps of the drill of `docs/operations/backup.md` that are not for people. `back_up` is called while a server works,
/// `lose_and_restore` after it was killed.
fn drill(drill: &Drill, back_up: impl FnOnce(), lose_and_restore: impl FnOnce()) {
    let server = drill.serve(&[]);
    let account: Account = enroll(server.address);
    let mut client = account.connect(server.address).unwrap();
    let before: Vec<String> = (0..20).map(|n| format!("before-{n}")).collect();
    let after: Vec<String> = (0..5).map(|n| format!("after-{n}")).collect();
    for reference in &before {
        assert_eq!(pay(&mut client, reference), 201);
        until("a payment is completed", || status(&mut client, reference) == "completed");
    }
    back_up();
    for reference in &after {
        assert_eq!(pay(&mut client, reference), 201);
    }
    server.kill();
    lose_and_restore();
    drill.verify();
    drill.operate(&["log", "new-epoch"]);

    // Nothing is sent until the payments after the backup are known from the provider.
    let server = drill.serve(&["--outbox", "off"]);
    let mut client = account.connect(server.address).unwrap();
    for reference in &before {
        assert_eq!(status(&mut client, reference), "completed");
    }
    for reference in &after {
        assert_eq!(status(&mut client, reference), "settlement_not_found");
    }
    let (epoch, events) = feed(&mut client);
    assert!(epoch == 2 && events > before.len(), "epoch {epoch} with {events} events");
    assert_eq!(pay(&mut client, "held"), 201);
    assert!(server.stop());
    let server = drill.serve(&[]);
    let mut client = account.connect(server.address).unwrap();
    until("what was held is sent", || status(&mut client, "held") == "completed");
    assert!(server.stop());
    drill.verify();
}

fn text(path: PathBuf) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_sqlite_store_is_lost_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let made = Drill {
        store: format!("sqlite:{}", text(at("gateway.db"))),
        keys: text(at("master.keys")),
        address: format!("127.0.0.1:{}", port::free()),
    };
    let copy = at("copy.db");
    let back_up = || {
        let said = made.operate(&["backup", "--to", copy.to_str().unwrap()]);
        assert!(said.contains("everything agrees"), "{said}");
    };
    let lose_and_restore = || {
        for name in ["gateway.db", "gateway.db-wal", "gateway.db-shm"] {
            let _ = fs::remove_file(at(name));
        }
        fs::copy(&copy, at("gateway.db")).unwrap();
    };
    drill(&made, back_up, lose_and_restore);
}

#[test]
fn a_postgresql_database_is_lost_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let server = Postgres::quick();
    let [first, second] = [server.database(), server.database()];
    let keys = text(folder.path().join("master.keys"));
    let dump = text(folder.path().join("railgate.dump"));
    let at = format!("127.0.0.1:{}", port::free());
    // Restored under the name that it had.
    let made = Drill { store: server.url(&first), keys, address: at };
    let back_up = || _ = run(Command::new(binaries().join("pg_dump")).args(["--format=custom", "--file", &dump, &made.store]));
    let lose_and_restore = || {
        server.sql(&second).run(&format!("DROP DATABASE \"{first}\" WITH (FORCE)"));
        server.sql(&second).run(&format!("CREATE DATABASE \"{first}\" TEMPLATE template0 ENCODING 'UTF8'"));
        let restore = ["--exit-on-error", "--single-transaction", "--no-owner", "--dbname", &made.store, &dump];
        run(Command::new(binaries().join("pg_restore")).args(restore));
    };
    drill(&made, back_up, lose_and_restore);
}

/// The owner and the mode of each file in a folder, by name.
#[cfg(unix)]
fn owned(folder: &Path) -> Vec<(String, u32, u32)> {
    use std::os::unix::fs::MetadataExt as _;
    let each = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut each: Vec<_> = each
        .map(|entry| {
            let about = entry.metadata().unwrap();
            (entry.file_name().into_string().unwrap(), about.uid(), about.mode() & 0o777)
        })
        .collect();
    each.sort();
    each
}

#[cfg(unix)]
#[test]
fn what_root_does_with_a_store_leaves_it_to_the_service() {
    use std::os::unix::fs::{chown, symlink};
    const SERVICE: u32 = 61_234;
    let folder = tempfile::tempdir().unwrap();
    if chown(folder.path(), Some(SERVICE), Some(SERVICE)).is_err() {
        return skipped("that root's commands leave a store to the service, which needs root");
    }
    let (old, new) = (folder.path().join("old.db"), folder.path().join("new.db"));
    let golden = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../core/tests/golden/sqlite-0020.sql")).unwrap();
    rusqlite::Connection::open(&old).unwrap().execute_batch(&golden).unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    chown(&old, Some(SERVICE), Some(SERVICE)).unwrap();
    let [from, to] = [&old, &new].map(|path| format!("sqlite:{}", path.display()));
    run(Command::new(railgate()).args(["migrate", "--store", &from]));
    run(Command::new(railgate()).args(["copy", "--from", &from, "--to", &to]));
    let names = ["new.db", "new.db.lock", "old.db", "old.db.lock"];
    assert_eq!(owned(folder.path()), names.map(|name| (name.to_owned(), SERVICE, 0o600)));

    // A service that was taken over cannot make root give it a file of root's.
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    fs::remove_file(folder.path().join("old.db.lock")).unwrap();
    symlink(elsewhere.path(), folder.path().join("old.db.lock")).unwrap();
    run(Command::new(railgate()).args(["copy", "--from", &from, "--to", &format!("{to}.other")]));
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&elsewhere.as_file().metadata().unwrap()), 0);
}

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/operations").join(name)
}

#[test]
fn the_alerts_are_well_formed_and_fire_when_they_should() {
    let promtool = |args: &[&str]| run(Command::new("promtool").args(args).current_dir(shipped("prometheus")));
    promtool(&["check", "rules", "alerts.yml"]);
    promtool(&["test", "rules", "alerts_test.yml"]);
    let rules = fs::read_to_string(shipped("prometheus/alerts.yml")).unwrap();
    let tests = fs::read_to_string(shipped("prometheus/alerts_test.yml")).unwrap();
    let mut alerts = 0;
    for alert in rules.lines().filter_map(|line| line.trim().strip_prefix("- alert: ")) {
        let fires = tests.split("- eval_time:").any(|case| case.contains(&format!("alertname: {alert}\n")) && case.contains("exp_alerts:"));
        assert!(fires, "no test shows when {alert} fires");
        alerts += 1;
    }
    for page in rules.lines().filter_map(|line| line.trim().strip_prefix("runbook: ")) {
        assert!(shipped("../..").join(page).exists(), "{page} is missing");
    }
    assert!(alerts > 10);
}
