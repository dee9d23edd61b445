//! Runs the built binary: in its own home, with or without its own server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

/// The binary with these arguments, and none of this process's settings.
pub(crate) fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_railgate"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RAILGATE_")) {
        command.env_remove(name);
    }
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::null());
    command
}

/// Runs it in an empty home that is removed afterwards.
pub(crate) fn railgate(args: &[&str], input: Option<&str>) -> Run {
    Home::new().run_with(args, input)
}

/// The result of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) code: Option<i32>,
    line: String,
}

impl Run {
    /// Asserts that it succeeded.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        self.fails(0)
    }

    /// Asserts that it ended with this exit code.
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

    /// A home with a default profile at this server.
    pub(crate) fn with_profile(server: &str) -> Self {
        let home = Self::new();
        std::fs::create_dir_all(home.path("home/profiles")).unwrap();
        // With a token and a challenge that outlive every test, nothing is fetched first.
        let profile = format!(
            "server = \"{server}\"\nclient_id = \"cli_x\"\nenvironment = \"sandbox\"\n\
             key_algorithm = \"ed25519\"\nprivate_key = \"{}\"\nkey_id = \"x\"\n\
             access_token = \"t\"\nexpires_at = \"2999-01-01T00:00:00Z\"\n\
             challenge = \"c1.a.b\"\nchallenge_expires_at = \"2999-01-01T00:00:00Z\"\n",
            "B".repeat(42) + "A"
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

/// A process that prints where it listens; killed on drop.
pub(crate) struct Background {
    child: Child,
    /// `http://HOST:PORT`
    pub(crate) url: String,
}

impl Background {
    fn start(mut line: Command) -> Self {
        let mut child = line.stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let url = first.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("the first line is {first:?}")).to_owned();
        Self { child, url }
    }

    /// The process's id.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the process ends by itself.
    pub(crate) fn wait(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Sends bytes unchanged, and returns everything received until the connection ends.
    pub(crate) fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.url.strip_prefix("http://").unwrap()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8(answer).unwrap()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A home and a server, which is killed on drop.
pub(crate) struct World {
    home: Home,
    url: String,
    _server: Background,
}

impl World {
    /// A server over a fresh SQLite file.
    pub(crate) fn start() -> Self {
        Self::start_with(Home::new(), &[])
    }

    /// A server with further settings.
    pub(crate) fn start_with(home: Home, more: &[&str]) -> Self {
        let store = format!("sqlite:{}", home.path("railgate.db").display());
        let data = home.path("data").display().to_string();
        let line = ["serve", "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--log-level", "warn"];
        let mut server = command(&line);
        server.args(["--store", &store, "--data-dir", &data]).args(more);
        let server = Background::start(server);
        Self { home, url: server.url.clone(), _server: server }
    }

    /// A server with an enrolled client.
    pub(crate) fn enrolled() -> Self {
        let world = Self::start();
        world.run(&["enroll"]).ok();
        world
    }

    /// Kills the server; returns what is left.
    pub(crate) fn killed(self) -> Home {
        self.home
    }

    pub(crate) fn run(&self, args: &[&str]) -> Run {
        self.home.run(&[args, &["--server", &self.url]].concat())
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Run {
        self.home.run_with(&[args, &["--server", &self.url]].concat(), Some(input))
    }

    /// A final payment: without a wait, `settle` returns once it was accepted.
    pub(crate) fn settled(&self, amount: &str, to: &str, reference: &str) {
        self.run(&["settle", amount, "EUR", to, "--reference", reference]).ok();
        while self.run(&["status", reference, "--wait", "30", "--json"]).ok().json()["final"] != true {}
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    /// The server's address.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// A proxy of the default profile on a free port.
    pub(crate) fn proxy(&self) -> Background {
        let mut line = command(&["proxy", "127.0.0.1:0", "--server", &self.url]);
        line.env("RAILGATE_HOME", self.path("home")).stderr(Stdio::null());
        Background::start(line)
    }

    /// Runs a command in the same home, without the server's address.
    pub(crate) fn elsewhere(&self, args: &[&str]) -> Run {
        self.home.run(args)
    }

    /// Runs a command on the same home and store, without the server's address.
    pub(crate) fn operate(&self, args: &[&str]) -> Run {
        self.home.run(&[args, &["--store", &self.store()]].concat())
    }

    pub(crate) fn store(&self) -> String {
        format!("sqlite:{}", self.path("railgate.db").display())
    }
}
