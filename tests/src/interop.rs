//! Third-party clients, in the folder `interop`: installs them, runs them, and reads their output.
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs::File;
use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

/// A line that a client must print: the step, the status, and the problem's code if it is refused.
pub type Step = (&'static str, u64, Option<&'static str>);

/// A step that succeeds.
pub const fn done(step: &'static str, status: u64) -> Step {
    (step, status, None)
}

/// A step that is refused.
pub const fn refused(step: &'static str, status: u64, code: &'static str) -> Step {
    (step, status, Some(code))
}

/// A timeout against hangs of a client or a test suite, not a measure of how long either may take.
const AT_MOST: Duration = Duration::from_secs(3_600);

/// Runs a command to completion and returns its output.
///
/// # Errors
/// A sentence for people: it could not be started, timed out, or failed, with its output.
pub fn run(command: &mut Command) -> Result<String, String> {
    // In a separate process group, so that it can be killed with all its children.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| e.to_string())?;
    let outputs: [Box<dyn Read + Send>; 2] = [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
    let [stdout, stderr] = outputs.map(|mut output| {
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let read = output.read_to_end(&mut text);
            // After the timeout nobody receives.
            let _ = send.send(read.map(|_| String::from_utf8_lossy(&text).into_owned()));
        });
        receive
    });
    let heard = stdout.recv_timeout(AT_MOST).and_then(|printed| Ok((printed, stderr.recv_timeout(AT_MOST)?)));
    let Ok((printed, said)) = heard else {
        let group = format!("-{}", child.id());
        Command::new("kill").args(["-KILL", "--", &group]).status().unwrap();
        child.wait().unwrap();
        return Err(format!("{command:?} did not end within {AT_MOST:?}"));
    };
    let status = child.wait().unwrap();
    let (printed, said) = (printed.unwrap(), said.unwrap());
    if status.success() { Ok(printed) } else { Err(format!("{command:?}: {status}\n{said}\nafter printing\n{printed}")) }
}

/// Installs a client's dependencies into the target folder; returns the command that runs it.
///
/// # Panics
/// If it cannot be installed, with what is missing.
pub fn prepare(name: &str) -> Command {
    let exe = std::env::current_exe().unwrap();
    // <target>/<profile>/deps/<test>
    let folder = exe.ancestors().nth(3).unwrap().join("interop");
    std::fs::create_dir_all(&folder).unwrap();
    // Another test process may install the same client.
    let lock = File::create(folder.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/prepare.sh");
    let printed = run(Command::new("sh").arg(script).arg(name).arg(folder.join(name)));
    let printed = printed.unwrap_or_else(|error| panic!("the {name} client cannot be run here.\n{error}"));
    let mut words = printed.lines();
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    // The tests' servers are on this machine, which a proxy of the environment cannot reach.
    command.env("NO_PROXY", "*").env("no_proxy", "*");
    command
}

/// Parses the printed steps; each must have the required form.
fn steps(printed: &str) -> Vec<(String, u64, Option<String>)> {
    let step = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?} is not JSON: {error}"));
        (line["step"].as_str().unwrap().to_owned(), line["status"].as_u64().unwrap(), line["code"].as_str().map(str::to_owned))
    };
    printed.lines().map(step).collect()
}

/// Asserts that the client printed exactly these steps, in this order.
///
/// # Panics
/// If it did not.
#[track_caller]
pub fn assert_steps(printed: &str, expected: &[Step]) {
    let expected: Vec<_> = expected.iter().map(|&(step, status, code)| (step.to_owned(), status, code.map(str::to_owned))).collect();
    assert_eq!(steps(printed), expected);
}
