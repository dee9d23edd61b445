//! Programs of others that run beside a test, and end with it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Writes a configuration into a new folder, starts a program there, prints where it is, and waits for the end of its input, which
/// comes with the end of the process that started it, for whatever reason. Then kills the program and removes everything.
const SUPERVISOR: &str = r#"
trap '' INT TERM
PATH=$PATH:/usr/sbin
folder=$(mktemp -d "${TMPDIR:-/tmp}/railgate-$1-XXXXXX") || exit 1
cd "$folder"
printf '%s' "$2" >conf
program=$1
shift 2
"$program" "$@" >log 2>&1 </dev/null &
echo "$folder"
cat >/dev/null
kill -KILL $!
cd / && rm -rf "$folder"
"#;

/// A program in a folder of its own. Dropping it kills it and removes the folder.
pub struct Supervised {
    supervisor: Child,
    folder: PathBuf,
}

impl Supervised {
    /// Starts it by a shell, so that it finds `configuration` in the file `conf`.
    pub fn start(mut shell: Command, program: &str, configuration: &str, args: &[&str]) -> Self {
        shell.args(["-c", SUPERVISOR, "supervisor", program, configuration]).args(args);
        let mut supervisor = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh runs");
        let mut line = String::new();
        BufReader::new(supervisor.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        Self { supervisor, folder: line.trim_end().into() }
    }

    /// Its folder, with its configuration and its log.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}
