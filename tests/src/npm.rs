//! The npm package in `bindings-wasm/npm`: builds it once and runs its scripts.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::binary::outside_of_tests;
use crate::interop::run;

/// The package's folder, with everything built from the current sources.
///
/// # Panics
/// If it cannot be built, with its output.
pub fn package() -> &'static Path {
    static PACKAGE: OnceLock<PathBuf> = OnceLock::new();
    PACKAGE.get_or_init(|| {
        let bindings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings-wasm").canonicalize().unwrap();
        let package = bindings.join("npm");
        let _turn = turn(&package);
        let mut modules = Command::new("sh");
        outside_of_tests(modules.arg(bindings.join("build.sh")));
        succeed(&mut modules);
        succeed(npm(&package).args(["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=5"]));
        print!("{}", succeed(npm(&package).args(["run", "build"])));
        package
    })
}

/// Waits until no other test process builds the package, whose folder this is, and keeps others from it.
pub(crate) fn turn(package: &Path) -> File {
    let lock = File::create(package.join(".building")).unwrap();
    lock.lock().unwrap();
    lock
}

/// The tests of the modules as shipped, on their Rust side.
pub fn module_tests() -> Command {
    let mut command = Command::new("sh");
    outside_of_tests(command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../bindings-wasm/test.sh")));
    command
}

/// The command for one of the package's scripts.
pub fn script(name: &str) -> Command {
    let mut command = npm(package());
    command.args(["run", "--silent", name]);
    command
}

/// Runs a command to completion and returns its output.
///
/// # Panics
/// If it fails, with its output.
pub fn succeed(command: &mut Command) -> String {
    run(command).unwrap_or_else(|error| panic!("{error}"))
}

/// npm, run in a folder.
pub(crate) fn npm(folder: &Path) -> Command {
    let mut command = Command::new("npm");
    // The tests' servers are on this machine, which a proxy of the environment cannot reach. Registries are elsewhere.
    command.current_dir(folder).env("NO_PROXY", "localhost,127.0.0.1").env("no_proxy", "localhost,127.0.0.1");
    command
}
