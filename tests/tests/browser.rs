//! The npm package: built, packed, and run in Node and Chromium, alone and against a running server.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate_tests::binary::Server;
use railgate_tests::npm::{module_tests, script, succeed};
use railgate_tests::port;
use railgate_tests::stage::Stage;

/// Serialises these tests: a browser that shares a small machine with bundlers and load tests is slow.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one of the package's scripts against a separate server, which pages at `RAILGATE_TEST_PAGES` may call (CORS).
fn against_a_server(name: &str) {
    let _turn = alone();
    let folder = tempfile::tempdir().unwrap();
    let pages = port::free();
    let origin = format!("http://localhost:{pages}");
    let store = folder.path().join("gateway.db");
    let server = Server::start(&store, &["--cors-origin", &origin]);
    let (inviting, invitation) = Server::inviting(&folder.path().join("inviting.db"));
    let mut tests = script(name);
    tests.env("RAILGATE_TEST_SERVER", format!("http://{}", server.address)).env("RAILGATE_TEST_PAGES", pages.to_string());
    tests.env("RAILGATE_TEST_INVITING", format!("http://{}", inviting.address)).env("RAILGATE_TEST_INVITATION", invitation);
    tests.env("RAILGATE_TEST_OPERATOR", Server::operator_code(&store, "agent"));
    // The story is told in Chromium only.
    let stage = (name == "test:browser").then(|| Stage::set(&["--cors-origin", &origin]));
    if let Some(stage) = &stage {
        stage.show(&mut tests);
    }
    print!("{}", succeed(&mut tests));
    if let Some(stage) = stage {
        stage.assert_played();
    }
}

fn by_itself(name: &str) {
    let _turn = alone();
    print!("{}", succeed(&mut script(name)));
}

#[test]
fn it_is_packed_as_others_expect() {
    by_itself("lint");
    by_itself("test:types");
}

#[test]
fn bundlers_take_it_without_configuration() {
    by_itself("test:bundlers");
}

#[test]
fn in_node() {
    by_itself("test");
}

#[test]
fn in_node_against_a_server() {
    against_a_server("test:live");
}

#[test]
fn in_deno_and_workers() {
    against_a_server("test:runtimes");
}

#[test]
fn its_modules_in_chromium() {
    let _turn = alone();
    print!("{}", succeed(&mut module_tests()));
}

#[test]
fn in_chromium() {
    against_a_server("test:browser");
}
