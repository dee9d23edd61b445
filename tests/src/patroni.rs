//! Three PostgreSQL servers that Patroni keeps: one accepts writes, one has all of them, and when the first is lost, another takes its
//! place. With etcd, in which they agree, and HAProxy, which leads to the one that accepts writes. Removed with this process.

use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::patience::until;
use crate::port;
use crate::postgres::{Sql, binaries, signal_server, unprivileged};
use crate::supervised::Supervised;

/// How long one of the servers may take to say how it is: a suspended one says nothing.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// How many servers there are.
pub const MEMBERS: usize = 3;

/// A cluster. Dropping it kills everything and removes the files.
pub struct Patroni {
    members: Vec<Member>,
    proxy_port: u16,
    _proxy: Supervised,
    _etcd: Supervised,
    _folder: TempDir,
}

/// One server and the Patroni that keeps it.
struct Member {
    program: Supervised,
    port: u16,
    /// Where Patroni says how it is.
    rest: u16,
}

impl Patroni {
    /// Makes one in synchronous mode, and waits until all servers are in step.
    ///
    /// # Panics
    /// If that is never so.
    pub fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("railgate-patroni-").tempdir().expect("a folder");
        fs::set_permissions(folder.path(), Permissions::from_mode(0o777)).expect("its owner");
        let [etcd, peer, proxy_port] = [(); 3].map(|()| port::free());
        // It may be in a folder of this user.
        let _etcd = start(Command::new("env"), folder.path(), "etcd", &etcd_settings(etcd, peer), &["--config-file", "conf"]);
        until("etcd listens (./check installs it)", || TcpStream::connect(("127.0.0.1", etcd)).is_ok());
        let ports = [(); MEMBERS].map(|()| (port::free(), port::free()));
        let members = ports.iter().enumerate().map(|(n, (port, rest))| {
            let program = start(unprivileged("env"), folder.path(), "patroni", &member_settings(n, etcd, *port, *rest), &["conf"]);
            Member { program, port: *port, rest: *rest }
        });
        let members = members.collect();
        let _proxy = start(unprivileged("env"), folder.path(), "haproxy", &proxy_settings(proxy_port, &ports), &["-db", "-f", "conf"]);
        let cluster = Self { members, proxy_port, _proxy, _etcd, _folder: folder };
        until("Patroni has made a cluster (./check installs it)", || cluster.is_whole());
        cluster
    }

    /// The server that accepts writes, by what the others know; `None` if there is none.
    pub fn primary(&self) -> Option<usize> {
        (0..MEMBERS).find(|n| self.members[*n].says("/primary").is_some_and(|(status, _)| status == 200))
    }

    /// Whether all servers run, one of them accepts writes, and another one has everything that was confirmed.
    pub fn is_whole(&self) -> bool {
        let Some(primary) = self.primary() else { return false };
        let Some((200, told)) = self.members[primary].says("/cluster") else { return false };
        let of = |role: &str| {
            let members = told["members"].as_array().into_iter().flatten();
            let alike = members.filter(|member| member["role"] == role && ["running", "streaming"].iter().any(|it| member["state"] == *it));
            alike.map(|member| member["timeline"].as_u64()).collect::<Vec<_>>()
        };
        let (leader, standby, others) = (of("leader"), of("sync_standby"), of("replica"));
        leader.len() == 1 && standby == leader && others.len() == MEMBERS - 2 && others.iter().all(|it| *it == leader[0])
    }

    /// Kills a server and its Patroni with SIGKILL.
    pub fn kill(&self, n: usize) {
        let Member { program, .. } = &self.members[n];
        signal("-KILL", program.pid());
        signal_server("-STOP", program.folder());
        signal_server("-KILL", program.folder());
    }

    /// Starts what was killed, as a machine does when it boots.
    pub fn start_again(&mut self, n: usize) {
        self.members[n].program.start_again();
    }

    /// Suspends or resumes a server and its Patroni.
    pub fn freeze(&self, n: usize, frozen: bool) {
        let how = if frozen { "-STOP" } else { "-CONT" };
        let Member { program, .. } = &self.members[n];
        signal_server(how, program.folder());
        signal(how, program.pid());
    }

    /// The URL of a database with all servers as hosts.
    pub fn url(&self, database: &str) -> String {
        let hosts: Vec<String> = self.members.iter().map(|member| format!("127.0.0.1:{}", member.port)).collect();
        format!("postgres://railgate@{}/{database}", hosts.join(","))
    }

    /// The port of HAProxy on 127.0.0.1, which leads to the server that accepts writes.
    pub fn proxy_port(&self) -> u16 {
        self.proxy_port
    }

    /// Makes an empty database.
    pub fn make(&self, database: &str) {
        Sql::connect(&format!("{}?target_session_attrs=read-write", self.url("postgres"))).run(&format!("CREATE DATABASE {database}"));
    }
}

impl Drop for Patroni {
    /// A test that failed says what each Patroni did last.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        for (n, member) in self.members.iter().enumerate() {
            let log = fs::read_to_string(member.program.folder().join("log")).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            eprintln!("last log lines of Patroni {n}:\n{}", lines[lines.len().saturating_sub(15)..].join("\n"));
        }
    }
}

impl Member {
    /// What Patroni answers: the status, and the body if it is JSON. `None` if it does not answer.
    fn says(&self, path: &str) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect_timeout(&SocketAddr::from(([127, 0, 0, 1], self.rest)), ANSWERS_WITHIN).ok()?;
        stream.set_read_timeout(Some(ANSWERS_WITHIN)).ok()?;
        stream.write_all(format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").as_bytes()).ok()?;
        let mut text = String::new();
        stream.read_to_string(&mut text).ok()?;
        let status = text.split(' ').nth(1)?.parse().ok()?;
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        Some((status, serde_json::from_str(body).unwrap_or_default()))
    }
}

/// Starts a program with its folder in `home`. PostgreSQL refuses to run as root, and so does what starts it.
fn start(mut shell: Command, home: &Path, program: &str, settings: &str, args: &[&str]) -> Supervised {
    shell.arg(format!("TMPDIR={}", home.display())).arg("sh");
    Supervised::start(shell, program, settings, args)
}

fn signal(how: &str, pid: u32) {
    let status = Command::new("kill").args([how, &pid.to_string()]).status().expect("kill");
    assert!(status.success(), "kill {how} {pid}");
}

fn etcd_settings(port: u16, peer: u16) -> String {
    format!(
        "name: etcd\ndata-dir: '@FOLDER@/data'\nlisten-client-urls: http://127.0.0.1:{port}\nadvertise-client-urls: http://127.0.0.1:{port}\n\
         listen-peer-urls: http://127.0.0.1:{peer}\ninitial-advertise-peer-urls: http://127.0.0.1:{peer}\n\
         initial-cluster: etcd=http://127.0.0.1:{peer}\nenable-v2: true\n"
    )
}

/// As Patroni's documentation has it, but quicker to notice. A server that was replaced is rewound. By etcd's second protocol: by the
/// third, Patroni before 3.0.3 lets a primary that wakes up take the lead back from its successor, with everything that this one confirmed.
fn member_settings(n: usize, etcd: u16, port: u16, rest: u16) -> String {
    format!(
        "scope: railgate
name: node{n}
restapi: {{listen: '127.0.0.1:{rest}', connect_address: '127.0.0.1:{rest}'}}
etcd: {{host: '127.0.0.1:{etcd}'}}
bootstrap:
  dcs:
    ttl: 10
    loop_wait: 1
    retry_timeout: 3
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {{max_connections: 100, wal_keep_size: 256MB}}
  initdb: [encoding: UTF8, locale: C, data-checksums]
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: '@FOLDER@/data'
  bin_dir: '{binaries}'
  pgpass: '@FOLDER@/pgpass'
  authentication:
    superuser: {{username: railgate, password: '-'}}
    replication: {{username: replicator, password: '-'}}
  parameters: {{unix_socket_directories: '@FOLDER@'}}
  pg_hba: [local all all trust, host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust]
",
        binaries = binaries().display()
    )
}

/// As Patroni's documentation has it: who accepts writes is asked from Patroni, and connections to another one are closed.
fn proxy_settings(port: u16, members: &[(u16, u16)]) -> String {
    let servers = members.iter().enumerate();
    let servers = servers.map(|(n, (port, rest))| format!("    server node{n} 127.0.0.1:{port} maxconn 100 check port {rest}\n"));
    format!(
        "global
    maxconn 400
defaults
    mode tcp
    retries 2
    timeout client 30m
    timeout connect 4s
    timeout server 30m
    timeout check 2s
listen primary
    bind 127.0.0.1:{port}
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 1s fall 3 rise 2 on-marked-down shutdown-sessions
{}",
        servers.collect::<String>()
    )
}
