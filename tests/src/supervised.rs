//! Programs of others that run beside a test, and end with it.

use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Writes a configuration into a new folder, prints where it is, and starts a program there for each line of its input. The input ends
/// with the process that started it, for whatever reason. Then kills the program, and the PostgreSQL that it may have started in
/// `data`, suspended or not, and removes everything.
const SUPERVISOR: &str = r#"
trap '' INT TERM
PATH=$PATH:/usr/sbin
folder=$(mktemp -d "${TMPDIR:-/tmp}/railgate-$1-XXXXXX") || exit 1
cd "$folder"
printf '%s' "$2" | sed "s|@FOLDER@|$folder|g" >conf
program=$1
shift 2
echo "$folder"
while read -r _; do
    "$program" "$@" >>log 2>&1 </dev/null &
    echo $!
done
kill -KILL $!
if server=$(head -n 1 data/postmaster.pid 2>/dev/null); then
    # Suspended first, so that it starts no others.
    kill -STOP "$server"
    pkill -KILL -P "$server"
    kill -KILL "$server"
fi 2>/dev/null
cd / && rm -rf "$folder"
"#;

/// A program in a folder of its own. Dropping it kills it and removes the folder.
pub struct Supervised {
    supervisor: Child,
    told: BufReader<ChildStdout>,
    folder: PathBuf,
    pid: u32,
}

impl Supervised {
    /// Starts it by a shell, so that it finds `configuration` in the file `conf`; `@FOLDER@` in there stands for its folder.
    pub fn start(mut shell: Command, program: &str, configuration: &str, args: &[&str]) -> Self {
        shell.args(["-c", SUPERVISOR, "supervisor", program, configuration]).args(args);
        let mut supervisor = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh runs");
        let told = BufReader::new(supervisor.stdout.take().expect("piped"));
        let mut started = Self { supervisor, told, folder: PathBuf::new(), pid: 0 };
        started.folder = started.line().into();
        started.start_again();
        started
    }

    /// Starts it once more in the same folder, after it has ended.
    pub fn start_again(&mut self) {
        writeln!(self.supervisor.stdin.as_mut().expect("piped"), "start").expect("a supervisor");
        self.pid = self.line().parse().expect("a process id");
    }

    /// Its folder, with its configuration and its log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.told.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}
