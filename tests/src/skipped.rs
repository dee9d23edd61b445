//! Tests that cannot run on this machine.

use std::io::Write as _;

/// Says loudly that something is not tested, and adds it to the list that `./check` prints at its end.
///
/// # Panics
/// If that cannot be said.
pub fn skipped(what: &str) {
    let line = format!("SKIPPED: {what}\n");
    // Bypasses the capture of test output: the skip must be visible although nothing fails.
    std::io::stderr().write_all(line.as_bytes()).expect("stderr");
    if let Some(list) = std::env::var_os("RAILGATE_SKIPPED") {
        let list = std::fs::OpenOptions::new().append(true).create(true).open(list);
        list.expect("opened").write_all(line.as_bytes()).expect("written");
    }
}
