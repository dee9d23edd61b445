//! The table "To add …" of CONTRIBUTING.md is true: a column, a kind of record, a command, a rail and a route are added to a copy of this
//! workspace, in the files that the table names, and used over databases that were written before.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod additions;
mod copy;

use std::path::Path;
use std::process::Command;

use additions::{ADDITIONS, Edit};
use copy::{Workspace, text};
use railgate::api::CreateRequest;
use railgate::store::Store;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::sqlite::SqliteStore;
use railgate::{Config, Gateway};
use railgate_tests::binary::outside_of_tests;
use railgate_tests::postgres::Postgres;

/// What uses the additions.
const IN_USE: Edit = Edit::New { file: "tests/tests/added.rs", text: include_str!("added/added.rs") };

/// What the table says to touch in order to add this.
fn row(what: &str) -> String {
    let guide = text("CONTRIBUTING.md");
    let table = guide.split("\n## To add …\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let row = table.lines().find_map(|line| line.strip_prefix(&format!("| {what} | ")));
    row.unwrap_or_else(|| panic!("the table does not say how to add {what}")).to_owned()
}

/// The paths that a row names: from the root, or from `core/src/`.
fn paths(row: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for code in row.split('`').skip(1).step_by(2).filter(|code| code.contains('/')) {
        match code.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?))) {
            Some((before, (names, after))) => paths.extend(names.split(',').map(|name| format!("{before}{name}{after}"))),
            None => paths.push(code.to_owned()),
        }
    }
    paths
}

fn names(path: &str, file: &str) -> bool {
    [file.strip_prefix("core/src/"), Some(file)].into_iter().flatten().any(|file| match path.ends_with('/') {
        true => file.starts_with(path),
        false => file == path,
    })
}

#[test]
fn the_table_names_every_file_that_is_touched() {
    for addition in ADDITIONS {
        let row = row(addition.row);
        let paths = paths(&row);
        for file in addition.edits.iter().map(Edit::file) {
            assert!(paths.iter().any(|path| names(path, file)), "{} is added in {file}, which is not among {paths:?}", addition.row);
        }
        assert!(addition.compiler_named.is_empty() || row.contains("the compiler names"), "who names more files? {row}");
    }
}

#[test]
fn what_is_added_as_the_table_says_works() {
    let mut copy = Workspace::new();
    ADDITIONS.iter().flat_map(|it| it.edits.iter().chain(it.compiler_named)).for_each(|edit| copy.apply(edit));
    copy.apply(&IN_USE);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
    let workspace = target.join("to-add");
    copy.lay_out(&workspace);

    let folder = tempfile::tempdir().unwrap();
    let sqlite = folder.path().join("old.db");
    settle(SqliteStore::open(&sqlite).unwrap());
    let server = Postgres::shared();
    let postgres = server.url(&server.database());
    settle(PostgresStore::open(&postgres, PostgresOptions::default()).unwrap());

    let mut test = test(&workspace, target);
    let done = test.env("OLD_SQLITE", sqlite).env("OLD_POSTGRES", postgres).output().unwrap();
    let said = [done.stderr, done.stdout].map(|it| String::from_utf8_lossy(&it).into_owned()).concat();
    println!("{said}");
    assert!(done.status.success() && said.contains("test result: ok. 4 passed"), "{} fails", workspace.display());
}

/// Makes one settlement, with this code.
fn settle(store: impl Store + 'static) {
    let gateway = Gateway::open(store, Config::sandbox()).unwrap();
    let shop = gateway.enroll("Shop").unwrap();
    let request = CreateRequest::new("10.50 EUR".parse().unwrap(), "sim:ok".parse().unwrap(), "old".parse().unwrap());
    gateway.client(&shop).create(request).unwrap();
    gateway.work().unwrap();
}

/// Builds and runs the copy's test. Dependencies are those that this test was built with; only the workspace's crates are built.
fn test(workspace: &Path, target: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["test", "--offline", "--locked", "--workspace", "--test", "added"]);
    let exe = std::env::current_exe().unwrap();
    let profile = exe.parent().and_then(Path::parent).and_then(Path::file_name).unwrap();
    if profile != "debug" {
        command.arg("--profile").arg(profile);
    }
    command.arg("--target-dir").arg(target).current_dir(workspace);
    outside_of_tests(&mut command);
    command
}
