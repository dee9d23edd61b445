//! Schemas that are migrated, stores that are copied, and the errors when that is impossible.

use super::support::{Home, Run, World, railgate};

/// A database with the second schema version.
fn old_store(home: &Home, name: &str) -> String {
    let path = home.path(name);
    let golden = include_str!("../../../core/tests/golden/sqlite-0002.sql");
    rusqlite::Connection::open(&path).unwrap().execute_batch(golden).unwrap();
    format!("sqlite:{}", path.display())
}

fn address(home: &Home, name: &str) -> String {
    format!("sqlite:{}", home.path(name).display())
}

#[test]
fn an_old_schema_is_found_and_migrated() {
    let home = Home::new();
    let store = old_store(&home, "old.db");
    let run = |args: &[&str]| home.run(&[args, &["--store", &store]].concat());
    let told = run(&["migrate", "--check", "--json"]).fails(1).json();
    let current = told["current"].as_u64().unwrap();
    assert_eq!((told["was"].as_u64(), told["is"].as_u64()), (Some(2), Some(2)));
    let behind = run(&["migrate", "--check"]).fails(1);
    assert!(behind.out.contains(&format!("schema version 2; the current one is {current}")), "{behind:?}");
    assert!(behind.err.contains(&format!("{} migrations are missing", current - 2)), "{behind:?}");
    let unread = run(&["ledger", "verify"]).fails(1);
    assert!(unread.err.contains("version 2") && unread.err.contains("railgate migrate"), "{}", unread.err);

    let done = run(&["migrate"]).ok();
    assert!(done.out.contains(&format!("migrated from version 2 to version {current}")), "{}", done.out);
    run(&["migrate", "--check"]).ok();
    let again = run(&["migrate"]).ok();
    assert!(again.out.contains(&format!("schema version {current}, which is the current one")), "{}", again.out);
    let missing = home.run(&["migrate", "--store", "sqlite:/nowhere/at/all.db"]).fails(1);
    assert!(missing.err.contains("there is no store"), "{}", missing.err);
}

#[test]
fn a_database_on_another_machine_that_is_not_verified_is_warned_about_or_refused() {
    let home = Home::new();
    // A name that never resolves: nothing is connected to.
    let line =
        ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--log", "json", "--store", "postgres://g@db.invalid/railgate"];
    let warned = home.run(&line);
    assert!(warned.code != Some(0) && warned.err.contains("its certificate is not verified"), "{warned:?}");
    let refused = home.run(&[&line[..], &["--db-tls", "verify-full"]].concat()).fails(2);
    assert!(refused.err.contains("must have sslmode=verify-full"), "{}", refused.err);
    let unread = home.run(&["ledger", "verify", "--store", "postgres://g@db.invalid/railgate"]);
    assert!(!unread.err.contains("verify-full"), "only where it is wanted: {unread:?}");
}

#[test]
fn no_command_opens_a_database_that_is_not_verified_where_that_is_required() {
    let home = Home::new();
    let config = home.path("server.toml");
    std::fs::write(&config, "db-tls = \"verify-full\"\n").unwrap();
    let (config, store, file) = (config.display().to_string(), "postgres://g@db.invalid/railgate", address(&home, "gateway.db"));
    for line in [
        &["copy", "--from", store, "--to", &file][..],
        &["copy", "--from", &file, "--to", store],
        &["audit", "--store", store],
        &["backup", "--to", "never-made.db", "--store", store],
        &["clients", "list", "--store", store],
        &["clients", "invite", "--store", store],
        &["keys", "list", "--store", store],
        &["log", "new-epoch", "--store", store],
        &["ledger", "verify", "--store", store],
        &["migrate", "--store", store],
    ] {
        let refused = home.run(&[line, &["--config", &config]].concat()).fails(2);
        assert!(refused.err.contains("must have sslmode=verify-full"), "{line:?}: {}", refused.err);
    }
}

#[test]
fn a_store_is_copied_once_its_server_is_gone() {
    let world = World::enrolled();
    world.settled("12.34", "sim:ok", "paid");
    world.run(&["settle", "5", "EUR", "sim:pending", "--reference", "open"]).ok();
    let from = world.store();
    let to = format!("sqlite:{}", world.path("copy.db").display());
    let copy = |home: &Home, more: &[&str]| home.run(&[&["copy", "--from", &from, "--to", &to], more].concat());
    let served = world.elsewhere(&["copy", "--from", &from, "--to", &to]).fails(1);
    assert!(served.err.contains("another process has it open") && served.err.contains("stop the server"), "{}", served.err);
    assert!(!world.path("copy.db").exists(), "the source is looked at first");

    let home = world.killed();
    let copied = copy(&home, &[]).ok();
    for said in ["settlement", "contain the same records", "everything agrees: 2 settlements", "never both", "railgate.db.keys"] {
        assert!(copied.out.contains(said), "{said} in {}", copied.out);
    }
    assert!(!copied.out.contains("differs"), "{}", copied.out);
    let again = copy(&home, &["--json"]).ok().json();
    assert_eq!((again["copied"].as_u64(), again["equal"].as_bool(), again["ledger"]["ok"].as_bool()), (Some(0), Some(true), Some(true)));
    let kinds = again["kinds"].as_array().unwrap();
    assert!(kinds.iter().any(|kind| kind["kind"] == "settlement" && kind["source"]["records"] == 2), "{kinds:?}");
    assert!(kinds.iter().all(|kind| kind["source"] == kind["target"]), "{kinds:?}");

    // The copy continues from the state of the source, as a separate store; copying into it again is refused.
    let keys = home.path("railgate.db.keys").display().to_string();
    home.run(&["keys", "rotate", "challenge", "--store", &to, "--master-keys", &keys]).ok();
    let refused = copy(&home, &[]).fails(1);
    assert!(refused.err.contains("the target is not empty"), "{}", refused.err);
}

#[test]
fn what_cannot_be_copied_is_said() {
    let home = Home::new();
    let (old, empty) = (old_store(&home, "old.db"), address(&home, "empty.db"));
    let copy = |from: &str, to: &str| home.run(&["copy", "--from", from, "--to", to]);
    let said = |run: Run, code: i32, what: &str| {
        let run = run.fails(code);
        assert!(run.err.contains(what), "{what} in {}", run.err);
    };
    said(copy(&old, &empty), 1, &format!("railgate migrate --store {old}"));
    said(copy(&old, &old), 2, "into itself");
    said(copy("memory:", &old), 2, "in memory");
    said(copy("old.db", &old), 2, "sqlite:PATH");
    said(copy("sqlite:/nowhere/at/all.db", &empty), 1, "there is no store");
    home.run(&["migrate", "--store", &old]).ok();
    let other = old_store(&home, "other.db");
    said(copy(&old, &other), 1, &format!("railgate migrate --store {other}"));
    assert!(home.run(&["migrate", "--check", "--store", &other]).fails(1).out.contains("version 2"), "it was left alone");
    rusqlite::Connection::open(home.path("other.db")).unwrap().execute("UPDATE meta SET value = zeroblob(16)", []).unwrap();
    home.run(&["migrate", "--store", &other]).ok();
    said(copy(&old, &other), 1, "the target is not empty");
}

#[test]
fn databases_are_named_without_their_passwords() {
    let store = "postgres://gateway:hunter2@db.example:port/railgate";
    for line in [
        &["ledger", "verify", "--store", store][..],
        &["clients", "list", "--store", store],
        &["audit", "--store", store],
        &["keys", "list", "--store", store],
        &["migrate", "--store", store],
        &["backup", "--to", "/tmp/never-made", "--store", store],
        &["copy", "--from", store, "--to", "sqlite:/nowhere/at/all.db"],
    ] {
        let refused = railgate(line, None).fails(1);
        assert!(
            refused.err.contains("postgres://gateway:***@db.example") && !format!("{refused:?}").replace(store, "").contains("hunter2")
        );
    }
    let backup = railgate(&["backup", "--to", "/tmp/never-made", "--store", store], None).fails(1);
    assert!(backup.err.contains("pg_dump"), "{}", backup.err);
}

#[test]
fn a_restored_backup_begins_a_new_epoch() {
    let home = Home::new();
    let store = address(&home, "restored.db");
    home.run(&["migrate", "--store", &old_store(&home, "restored.db")]).ok();
    let begun = home.run(&["log", "new-epoch", "--store", &store]).ok();
    assert!(begun.out.contains("epoch 2 of the log and of all feeds has begun"), "{}", begun.out);
    assert_eq!(home.run(&["log", "new-epoch", "--store", &store, "--json"]).ok().out.trim(), r#"{"epoch":3}"#);
    let audit = home.run(&["audit", "--store", &store]).ok();
    assert!(audit.out.contains("begin_epoch") && audit.out.contains("epoch 3"), "{}", audit.out);
    assert!(home.run(&["log", "new-epoch", "--store", "sqlite:/nowhere/at/all.db"]).fails(1).err.contains("there is no store"));
}
