//! Clients that are not ours, in `tests/interop`: each gets through with what it signs, and with nothing that was changed
//! after signing.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use railgate_tests::binary::Server;
use serde_json::Value;

/// One line that a client must print: the step, the status, and the code of the problem if it is refused.
type Step = (&'static str, u64, Option<&'static str>);

const fn done(step: &'static str, status: u64) -> Step {
    (step, status, None)
}

const fn refused(step: &'static str, status: u64, code: &'static str) -> Step {
    (step, status, Some(code))
}

/// What each of the libraries does.
const LIBRARY: &[Step] = &[
    done("challenge", 200),
    done("enrol", 201),
    done("token", 200),
    done("create", 201),
    done("status", 200),
    refused("tampered: changed method", 401, "signature_invalid"),
    refused("tampered: changed path", 401, "signature_invalid"),
    refused("tampered: changed query", 401, "signature_invalid"),
    refused("tampered: changed body", 400, "digest_mismatch"),
    refused("tampered: changed body and digest", 401, "signature_invalid"),
    done("call to repeat", 200),
    refused("tampered: same nonce twice", 401, "nonce_replayed"),
    done("list", 200),
    done("nothing else was created", 200),
];

/// What the shell does: all that can be changed.
const SHELL: &[Step] = &[
    done("challenge", 200),
    done("enrol", 201),
    done("token", 200),
    done("create", 201),
    done("status", 200),
    refused("tampered: changed method", 401, "signature_invalid"),
    refused("tampered: changed path", 401, "signature_invalid"),
    refused("tampered: changed query", 401, "signature_invalid"),
    refused("tampered: changed body", 400, "digest_mismatch"),
    refused("tampered: changed body and digest", 401, "signature_invalid"),
    refused("tampered: changed content type", 401, "signature_invalid"),
    done("second token", 200),
    refused("tampered: other token of the same key", 401, "signature_invalid"),
    done("second enrolment", 201),
    refused("tampered: token of another enrolment", 401, "signature_invalid"),
    refused("tampered: token of another enrolment, signed with the own key", 401, "signature_invalid"),
    refused("tampered: body not covered", 401, "signature_invalid"),
    refused("tampered: two signatures", 401, "signature_invalid"),
    refused("tampered: forged challenge", 401, "challenge_invalid"),
    done("call to repeat", 200),
    refused("tampered: same nonce twice", 401, "nonce_replayed"),
    refused("tampered: used nonce in another call", 401, "nonce_replayed"),
    refused("tampered: created ten minutes ago", 401, "clock_skew"),
    refused("tampered: created in ten minutes", 401, "clock_skew"),
    refused("tampered: created missing", 401, "signature_invalid"),
    done("list", 200),
    done("nothing else was created", 200),
];

/// A client that hangs must not hang the tests with it. This is no statement about how long a client may take.
const AT_MOST: Duration = Duration::from_secs(900);

/// Runs a command to its end; gives what it printed, or says what went wrong.
fn run(command: &mut Command) -> Result<String, String> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
    let outputs: [Box<dyn Read + Send>; 2] = [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
    let [stdout, stderr] = outputs.map(|mut output| {
        let (send, receive) = mpsc::channel();
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let read = output.read_to_end(&mut text);
            // Nobody listens any more when the time is up.
            let _ = send.send(read.map(|_| String::from_utf8_lossy(&text).into_owned()));
        });
        receive
    });
    let Ok(printed) = stdout.recv_timeout(AT_MOST) else {
        child.kill().unwrap();
        child.wait().unwrap();
        return Err(format!("{command:?} has not come to an end in {AT_MOST:?}"));
    };
    let status = child.wait().unwrap();
    let (printed, said) = (printed.unwrap(), stderr.recv().unwrap().unwrap());
    if status.success() { Ok(printed) } else { Err(format!("{command:?}: {status}\n{said}\nafter printing\n{printed}")) }
}

/// Installs what the client needs into the target folder; gives the command that runs it.
fn prepare(name: &str) -> Command {
    let exe = std::env::current_exe().unwrap();
    // <target>/<profile>/deps/<test>
    let folder = exe.ancestors().nth(3).unwrap().join("interop");
    std::fs::create_dir_all(&folder).unwrap();
    // Another test process may be about to install the same.
    let lock = File::create(folder.join(format!("{name}.lock"))).unwrap();
    lock.lock().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("interop/prepare.sh");
    let printed = run(Command::new("sh").arg(script).arg(name).arg(folder.join(name)));
    let printed = printed.unwrap_or_else(|error| panic!("the {name} client cannot be run here.\n{error}"));
    let mut words = printed.lines();
    let mut command = Command::new(words.next().unwrap());
    command.args(words);
    command
}

/// The steps that were printed, each as a client must print it.
fn steps(printed: &str) -> Vec<(String, u64, Option<String>)> {
    let step = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line:?} is not JSON: {error}"));
        (line["step"].as_str().unwrap().to_owned(), line["status"].as_u64().unwrap(), line["code"].as_str().map(str::to_owned))
    };
    printed.lines().map(step).collect()
}

fn gets_through_untampered_only(name: &str, expected: &[Step]) {
    let mut client = prepare(name);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("gateway.db"), &["--rate-limit", "off"]);
    client.arg(format!("http://{}", server.address));
    // The server is on this machine; no proxy of the environment can know it.
    client.env("NO_PROXY", "*").env("no_proxy", "*");
    let printed = run(&mut client).unwrap_or_else(|error| panic!("{error}"));
    let expected: Vec<_> = expected.iter().map(|&(step, status, code)| (step.to_owned(), status, code.map(str::to_owned))).collect();
    assert_eq!(steps(&printed), expected);
}

#[test]
fn node_http_message_signatures() {
    gets_through_untampered_only("node", LIBRARY);
}

#[test]
fn python_http_message_signatures() {
    gets_through_untampered_only("python-http-message-signatures", LIBRARY);
}

#[test]
fn python_requests_http_signature() {
    gets_through_untampered_only("python-requests-http-signature", LIBRARY);
}

#[test]
fn shell_openssl_and_curl() {
    gets_through_untampered_only("shell", SHELL);
}
