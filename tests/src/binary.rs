//! The `railgate` binary as a child process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// The binary that `RAILGATE_BINARY` names, or that in this build's profile, rebuilt if necessary once per test process.
pub fn railgate() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        if let Some(given) = std::env::var_os("RAILGATE_BINARY") {
            return given.into();
        }
        let exe = std::env::current_exe().expect("the test's own path");
        let profile = exe.parent().and_then(Path::parent).expect("target/<profile>/deps/<test>").to_owned();
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut build = Command::new(cargo);
        build.args(["build", "--quiet", "-p", "railgate-server", "--bin", "railgate"]);
        outside_of_tests(&mut build);
        match profile.file_name().and_then(|name| name.to_str()) {
            None | Some("debug") => {}
            Some(named) => _ = build.args(["--profile", named]),
        }
        build.arg("--target-dir").arg(profile.parent().expect("the target folder"));
        build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
        assert!(build.status().expect("cargo runs").success(), "building railgate failed");
        profile.join("railgate")
    })
}

/// Removes cargo's variables about this test's package from a build's environment. Otherwise build scripts that depend on
/// them would run again, and everything after them would be rebuilt, whenever a build inside a test follows one outside.
pub fn outside_of_tests(build: &mut Command) {
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
            build.env_remove(name);
        }
    }
}

/// What a command over a store prints.
fn printed(command: &[&str], store: &str) -> String {
    let made = Command::new(railgate()).args(command).args(["--store", store]).output().expect("railgate runs");
    assert!(made.status.success(), "{made:?}");
    String::from_utf8(made.stdout).expect("text").trim().to_owned()
}

/// The URL of a SQLite file.
fn file(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

/// A running server. Dropping it kills it.
pub struct Server {
    child: Child,
    /// The address that it listens on.
    pub address: SocketAddr,
}

impl Server {
    /// Starts `railgate serve` on a free port over the SQLite database at `path`, and waits until it listens. It has no rate
    /// limit unless `more` sets one.
    pub fn start(path: &Path, more: &[&str]) -> Self {
        Self::over(&file(path), more)
    }

    /// Like [`Server::start`], for clients with an invitation only; with the code of one.
    pub fn inviting(path: &Path) -> (Self, String) {
        let server = Self::start(path, &["--enrollment", "invited"]);
        (server, printed(&["clients", "invite"], &file(path)))
    }

    /// The code of an invitation to be an operator with this role, of the server over the database at `path`.
    pub fn operator_code(path: &Path, role: &str) -> String {
        Self::operator_code_of(&file(path), role)
    }

    /// Like [`Server::operator_code`], of the server over the store with this `--store` URL.
    pub fn operator_code_of(store: &str, role: &str) -> String {
        printed(&["operators", "invite", "Ada", "--role", role], store)
    }

    /// Like [`Server::start`], over the store with this `--store` URL.
    pub fn over(store: &str, more: &[&str]) -> Self {
        Self::logging(store, more, Stdio::inherit())
    }

    /// Like [`Server::start`], logging to `log`: only errors unless `more` sets another level.
    pub fn logging(store: &str, more: &[&str], log: Stdio) -> Self {
        Self::of(railgate(), store, more, log)
    }

    /// Like [`Server::logging`], of this binary.
    pub fn of(binary: &Path, store: &str, more: &[&str], log: Stdio) -> Self {
        Self::run(&mut Command::new(binary), store, more, log)
    }

    /// Like [`Server::of`], by a command for the binary that nothing was added to.
    pub fn run(command: &mut Command, store: &str, more: &[&str], log: Stdio) -> Self {
        let unless = |name: &str, args: &'static [&'static str]| if more.contains(&name) { &[][..] } else { args };
        let mut child = command
            .args(["serve", "--store", store])
            .args(unless("--metrics-listen", &["--metrics-listen", "off"]))
            .args(unless("--listen", &["--listen", "127.0.0.1:0"]))
            .args(unless("--rate-limit", &["--rate-limit", "off"]))
            .args(unless("--log-level", &["--log-level", "error"]))
            .args(more)
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .expect("railgate starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("the first line");
        let address = line.trim().strip_prefix("listening on http").map(|a| a.trim_start_matches(['s', ':', '/']));
        let address = address.and_then(|a| a.parse().ok());
        let address = address.unwrap_or_else(|| panic!("unexpected first line {line:?}"));
        Self { child, address }
    }

    /// The process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL, without any cleanup.
    pub fn kill(mut self) {
        self.child.kill().expect("killing");
        self.child.wait().expect("waiting");
    }

    /// Sends SIGTERM and waits for the end; returns whether it exited successfully.
    pub fn stop(self) -> bool {
        self.terminate();
        self.ended()
    }

    /// Waits for the end of a server that got SIGTERM; returns whether it exited successfully.
    pub fn ended(mut self) -> bool {
        self.child.wait().expect("waiting").success()
    }

    /// Sends SIGTERM and returns.
    pub fn terminate(&self) {
        let status = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().expect("kill");
        assert!(status.success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
