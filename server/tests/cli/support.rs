//! Running the built binary: in a home of its own, with or without a server of its own.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The binary with these arguments, and nothing of this process's settings.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_railgate"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RAILGATE_")) {
        command.env_remove(name);
    }
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// Runs it in a home that is empty and gone afterwards.
pub(crate) fn railgate(args: &[&str], input: Option<&str>) -> Run {
    Home::new().run_with(args, input)
}

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) out: String,
    pub(crate) err: String,
    code: Option<i32>,
    line: String,
}

impl Run {
    /// It was done.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.fails(0)
    }

    /// It ended with this exit code.
    #[track_caller]
    pub(crate) fn fails(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "railgate {}\n{}\n{}", self.line, self.out, self.err);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// A folder for profiles and files.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// With the default profile at this server.
    pub(crate) fn with_profile(server: &str) -> Self {
        let home = Self::new();
        std::fs::create_dir_all(home.path("home/profiles")).unwrap();
        let profile = format!(
            "server = \"{server}\"\nclient_id = \"cli_x\"\nenvironment = \"sandbox\"\naccess_token = \"t\"\nexpires_at = \"2999-01-01T00:00:00Z\"\n"
        );
        std::fs::write(home.path("home/profiles/default.toml"), profile).unwrap();
        home
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.run_with(args, None)
    }

    pub(crate) fn run_with(&self, args: &[&str], input: Option<&str>) -> Run {
        let mut command = command(args);
        command.env("RAILGATE_HOME", self.path("home")).env("RAILGATE_DATA_DIR", self.path("data"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Dropped at once, which ends the input.
        child.stdin.take().unwrap().write_all(input.unwrap_or_default().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        Run {
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
            code: output.status.code(),
            line: args.join(" "),
        }
    }
}

/// A home and a server; the server ends with it.
pub(crate) struct World {
    home: Home,
    server: Child,
    url: String,
}

impl World {
    /// A server over a fresh SQLite file.
    pub(crate) fn start() -> Self {
        let home = Home::new();
        let store = format!("sqlite:{}", home.path("railgate.db").display());
        let data = home.path("data").display().to_string();
        let line = ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--log-level", "warn"];
        let mut server = command(&line).args(["--store", &store, "--data-dir", &data]).stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let url = first.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("the first line is {first:?}")).to_owned();
        Self { home, server, url }
    }

    /// The same, with a client that is enrolled.
    pub(crate) fn enrolled() -> Self {
        let world = Self::start();
        world.run(&["enroll"]).ok();
        world
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.home.run(&[args, &["--server", &self.url]].concat())
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        self.home.run_with(&[args, &["--server", &self.url]].concat(), Some(input))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    pub(crate) fn store(&self) -> String {
        format!("sqlite:{}", self.path("railgate.db").display())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}
