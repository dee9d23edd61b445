//! The browser sites in `server/web`: builds them once and runs their scripts.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::binary::{outside_of_tests, railgate};
use crate::npm::{npm, succeed, turn};

/// Their folder, with the sites built from the current sources. A server that is built after this has them.
///
/// # Panics
/// If they cannot be built, with the output.
pub fn sites() -> &'static Path {
    static SITES: OnceLock<PathBuf> = OnceLock::new();
    SITES.get_or_init(|| {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
        let _turn = turn(&top.join("bindings-wasm/npm"));
        let mut build = Command::new("sh");
        outside_of_tests(build.arg(top.join("scripts/web.sh")));
        succeed(&mut build);
        top.join("server/web")
    })
}

/// The command for one of their scripts, with the server's binary.
pub fn script(name: &str) -> Command {
    let mut command = npm(sites());
    command.args(["run", "--silent", name]).env("RAILGATE_TEST_BINARY", railgate());
    command
}
