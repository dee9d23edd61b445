//! The measured servers, as child processes of the benchmark: the reference, and the service with and without
//! verification of signatures.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use railgate::auth::{PublicKey, Verify};
use railgate::store::sqlite::SqliteStore;
use railgate_server::{Hosted, start_with};
use serde::{Deserialize, Serialize};

/// A child process that printed its address. Dropping it kills it.
pub struct Server {
    child: Child,
    /// The address that it listens on.
    pub address: SocketAddr,
}

impl Server {
    /// The reference: the best that axum can do with such a body.
    pub fn echo() -> Self {
        Self::start(&["--echo"])
    }

    /// The service over a database, outbox off, with signatures verified or accepted unchecked.
    pub fn service(path: &Path, checked: bool) -> Self {
        let path = path.to_str().expect("a path in UTF-8");
        Self::start(&["--serve", path, if checked { "--checked" } else { "--unchecked" }])
    }

    fn start(args: &[&str]) -> Self {
        let exe = std::env::current_exe().expect("own path");
        let mut child = Command::new(exe).args(args).stdout(Stdio::piped()).spawn().expect("the child starts");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("its address");
        Self { child, address: line.trim().parse().expect("an address") }
    }

    /// The CPU time that it has used so far, user and system, in steps of 10 ms.
    pub fn cpu(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).expect("Linux");
        // The name, in parentheses, may contain spaces; user and system time are fields 14 and 15.
        let rest = stat.rsplit_once(')').expect("a name").1;
        let ticks: u64 = rest.split_ascii_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().expect("a number")).sum();
        Duration::from_millis(ticks * 10)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the server that [`Server`] started this process for; returns false if there is none.
pub fn main() -> bool {
    let args: Vec<String> = std::env::args().collect();
    let has = |name: &str| args.iter().position(|arg| arg == name);
    let runtime = || tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    if has("--echo").is_some() {
        runtime().block_on(echo());
        return true;
    }
    let path = has("--serve").and_then(|at| args.get(at + 1)).map(PathBuf::from);
    let Some(path) = path else { return false };
    runtime().block_on(serve(&path, has("--checked").is_some()));
    true
}

/// The body that both servers get: the echo parses and serialises all of it.
#[derive(Serialize, Deserialize)]
struct Body {
    amount: f64,
    currency: String,
    to: String,
    reference: String,
    description: String,
    metadata: std::collections::BTreeMap<String, String>,
}

async fn echo() {
    let handler = |axum::Json(body): axum::Json<Body>| async move { axum::Json(body) };
    let router = axum::Router::new().route("/echo", axum::routing::post(handler));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("binding");
    println!("{}", listener.local_addr().expect("bound"));
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await.expect("serving");
}

/// Accepts every signature. Everything else is still done: the signature is found, its nonce and time are
/// checked, and its base is built.
struct Unchecked;

impl Verify for Unchecked {
    fn verify(&self, _: &PublicKey, _: &[u8], _: &[u8; 64]) -> bool {
        true
    }
}

async fn serve(path: &Path, checked: bool) {
    let store = SqliteStore::open(path).expect("opening");
    let mut hosted = Hosted::over(Arc::new(store));
    hosted.worker.carries = false;
    if !checked {
        hosted.verifier = Arc::new(Unchecked);
    }
    let running = start_with(hosted, "127.0.0.1:0".parse().expect("an address"), None).await.expect("starting");
    println!("{}", running.address());
    std::future::pending().await
}
