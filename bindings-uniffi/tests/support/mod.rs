//! Builds the packages for the tests.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use railgate_tests::binary::outside_of_tests;
use railgate_tests::interop::run;

/// The folder for the packages and their installed dependencies: `<target>/phones`.
pub struct Scratch(PathBuf);

/// See [`Scratch`].
pub fn scratch() -> Scratch {
    let exe = std::env::current_exe().unwrap();
    // <target>/<profile>/deps/<test>
    let folder = exe.ancestors().nth(3).unwrap().join("phones");
    std::fs::create_dir_all(&folder).unwrap();
    Scratch(folder)
}

impl Scratch {
    /// One language's folder.
    pub fn of(&self, language: &str) -> PathBuf {
        self.0.join(language)
    }

    /// Locks out other processes that would make the same package, until it is dropped.
    pub fn locked(&self, language: &str) -> File {
        let lock = File::create(self.0.join(format!("{language}.lock"))).unwrap();
        lock.lock().unwrap();
        lock
    }
}

/// A command whose connections to this machine do not use the environment's proxy.
pub fn command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("NO_PROXY", "*").env("no_proxy", "*");
    command
}

/// The generator: a run of all tests builds it, as does the first run of a single test.
fn bindgen(profile: &Path) -> PathBuf {
    let bindgen = profile.join("examples/uniffi-bindgen");
    if !bindgen.exists() {
        let mut build = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        build.args(["build", "--quiet", "-p", "railgate-uniffi", "--example", "uniffi-bindgen"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        if profile.ends_with("release") {
            build.arg("--release");
        }
        outside_of_tests(build.arg("--target-dir").arg(profile.parent().unwrap()));
        run(&mut build).unwrap_or_else(|error| panic!("{error}"));
    }
    bindgen
}

/// What the generator writes for a language, from the library built with these tests; returns its folder.
#[allow(dead_code, reason = "the tests of surfaces need it")]
pub fn generated(language: &str) -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let profile = exe.ancestors().nth(2).unwrap();
    let name = format!("{}railgate_uniffi{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let folder = scratch().of(&format!("surface-{language}"));
    let mut generate = Command::new(bindgen(profile));
    generate.args(["generate", "--metadata-no-deps", "--no-format", "--language", language, "--out-dir"]).arg(&folder);
    // The generator finds uniffi.toml through cargo.
    generate.arg(profile.join("deps").join(name)).current_dir(env!("CARGO_MANIFEST_DIR"));
    run(&mut generate).unwrap_or_else(|error| panic!("{error}"));
    folder
}

/// Makes a language's package from the library built with these tests; returns its folder.
pub fn package(language: &str, more: &[(&str, &Path)]) -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let profile = exe.ancestors().nth(2).unwrap();
    let name = format!("{}railgate_uniffi{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let folder = scratch().of(language);
    let mut script = Command::new("sh");
    script.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/package.sh")).arg(language);
    script.args([profile.join("deps").join(name).as_os_str(), bindgen(profile).as_os_str(), folder.as_os_str()]);
    script.envs(more.iter().map(|(name, value)| (OsStr::new(name), value.as_os_str())));
    run(&mut script).unwrap_or_else(|error| panic!("{error}"));
    folder
}
