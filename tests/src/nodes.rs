//! Two servers over one store, which may be killed at any moment and restart on the same address.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

use tempfile::TempDir;

use crate::binary::{Server, railgate};
use crate::client::{Account, new_key};
use crate::port;

/// The public address of both nodes unless a test chooses another: a call signed for one is also valid at the other.
pub const PUBLIC_URL: &str = "https://pay.example.test";
/// How many lines of a node's log are shown when a test fails.
const LINES: usize = 20;

/// Nodes 0 and 1 over one store.
pub struct Nodes {
    stores: [String; 2],
    public_url: Option<String>,
    args: [Vec<String>; 2],
    addresses: [SocketAddr; 2],
    binaries: Mutex<[PathBuf; 2]>,
    servers: Mutex<[Option<Server>; 2]>,
    news: Condvar,
    folder: TempDir,
}

impl Nodes {
    /// Starts both over `store`, one after the other, with these additional arguments.
    pub fn start(store: &str, more: &[&str]) -> Self {
        Self::start_each(store, [more, more])
    }

    /// Like [`Nodes::start`], with separate arguments for each.
    pub fn start_each(store: &str, more: [&[&str]; 2]) -> Self {
        Self::start_at(PUBLIC_URL, store, more)
    }

    /// Like [`Nodes::start_each`], at another public address.
    pub fn start_at(public_url: &str, store: &str, more: [&[&str]; 2]) -> Self {
        Self::start_over(public_url, [store, store], more)
    }

    /// Like [`Nodes::start_at`], with a separate way to the same store for each.
    pub fn start_over(public_url: &str, stores: [&str; 2], more: [&[&str]; 2]) -> Self {
        Self::start_of(railgate(), Some(public_url), stores, more)
    }

    /// Like [`Nodes::start_over`], both of this binary. Without a public address, a call is for the node that it is sent to.
    pub fn start_of(binary: &Path, public_url: Option<&str>, stores: [&str; 2], more: [&[&str]; 2]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().display().to_string();
        let args = more.map(|more| {
            let shared = ["--data-dir", &home, "--log-level", "warn"];
            let public = public_url.map(|url| ["--public-url", url]);
            shared.iter().chain(public.iter().flatten()).chain(more).map(|arg| (*arg).to_owned()).collect::<Vec<_>>()
        });
        let addresses = [(); 2].map(|()| SocketAddr::from(([127, 0, 0, 1], port::free())));
        let (stores, public_url) = (stores.map(str::to_owned), public_url.map(str::to_owned));
        let binaries = Mutex::new([(); 2].map(|()| binary.to_owned()));
        let nodes = Self { stores, public_url, args, addresses, binaries, servers: Mutex::default(), news: Condvar::new(), folder };
        nodes.restart(0);
        nodes.restart(1);
        nodes
    }

    /// The address of the store, as node 0 has it.
    pub fn store(&self) -> &str {
        &self.stores[0]
    }

    /// The data folder of both.
    pub fn data_dir(&self) -> &Path {
        self.folder.path()
    }

    /// The node's address, also while it is down.
    pub fn address(&self, n: usize) -> SocketAddr {
        self.addresses[n]
    }

    /// Whether the node is up.
    pub fn is_up(&self, n: usize) -> bool {
        self.servers()[n].is_some()
    }

    /// Enrols a new client for both nodes.
    pub fn enroll(&self) -> Account {
        Account::enroll(self.address(0), self.public_url.as_deref(), new_key()).expect("enrolling")
    }

    /// Kills a node with SIGKILL.
    pub fn kill(&self, n: usize) {
        let server = self.servers()[n].take();
        server.expect("a node that is up").kill();
    }

    /// Sends SIGTERM, which lets it shut down in order.
    pub fn terminate(&self, n: usize) {
        self.servers()[n].as_ref().expect("a node that is up").terminate();
    }

    /// Waits for the end of a node that got SIGTERM; returns whether it exited successfully.
    pub fn ended(&self, n: usize) -> bool {
        let server = self.servers()[n].take();
        server.expect("a node that is up").ended()
    }

    /// Sends SIGTERM and waits for the end; returns whether it exited successfully.
    pub fn stop(&self, n: usize) -> bool {
        self.terminate(n);
        self.ended(n)
    }

    /// Has a node that is down restart as this binary, from now on.
    pub fn replace(&self, n: usize, binary: &Path) {
        binary.clone_into(&mut self.binaries.lock().expect("no panics")[n]);
        self.restart(n);
    }

    /// Restarts a node that is down, on the same port.
    pub fn restart(&self, n: usize) {
        let log = File::options().create(true).append(true).open(self.log(n)).expect("a log");
        let address = self.addresses[n].to_string();
        let args: Vec<&str> = self.args[n].iter().map(String::as_str).chain(["--listen", &address]).collect();
        let binary = self.binaries.lock().expect("no panics")[n].clone();
        let server = Server::of(&binary, &self.stores[n], &args, Stdio::from(log));
        self.servers()[n] = Some(server);
        self.news.notify_all();
    }

    /// Waits until a node restarted, or a short time has passed.
    pub fn rest(&self, most: Duration) {
        drop(self.news.wait_timeout(self.servers(), most).expect("no panics"));
    }

    fn servers(&self) -> MutexGuard<'_, [Option<Server>; 2]> {
        self.servers.lock().expect("no panics")
    }

    fn log(&self, n: usize) -> PathBuf {
        self.folder.path().join(format!("node-{n}.log"))
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        for n in [0, 1].into_iter().filter(|_| std::thread::panicking()) {
            let log = std::fs::read_to_string(self.log(n)).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("last log lines of node {n}:\n{}", lines[lines.len().saturating_sub(LINES)..].join("\n"));
        }
    }
}
