//! A real PgBouncer in front of a [`Postgres`]: private to this process, and removed with it.

use std::fs;
use std::net::TcpStream;

use crate::patience::until;
use crate::port;
use crate::postgres::{Postgres, Sql, unprivileged};
use crate::supervised::Supervised;

/// The number of server connections of each database.
pub const POOL: usize = 3;

/// A running pooler. Dropping it kills it.
pub struct PgBouncer {
    /// `None` only while it restarts.
    program: Option<Supervised>,
    port: u16,
    mode: &'static str,
}

impl PgBouncer {
    /// One that pools transactions of this server.
    pub fn pooling_transactions(server: &Postgres) -> Self {
        Self::start(server, "transaction")
    }

    /// One that pools sessions of this server.
    pub fn pooling_sessions(server: &Postgres) -> Self {
        Self::start(server, "session")
    }

    fn start(server: &Postgres, mode: &'static str) -> Self {
        let mut started = Self { program: None, port: port::free(), mode };
        started.restart(server);
        started
    }

    /// One that pools transactions of a server that it reaches at this port of the machine.
    pub fn pooling_transactions_at(port: u16) -> Self {
        let mut started = Self { program: None, port: port::free(), mode: "transaction" };
        started.run("127.0.0.1", port);
        started
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of a database of its server, through it.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://railgate@127.0.0.1:{}/{database}", self.port)
    }

    /// Kills it with everything in flight, and starts another on the same address.
    pub fn restart(&mut self, server: &Postgres) {
        self.run(folder(server), server.port());
    }

    fn run(&mut self, host: &str, port: u16) {
        self.program = None;
        // PgBouncer refuses to run as root, like PostgreSQL.
        self.program = Some(Supervised::start(unprivileged("sh"), "pgbouncer", &self.configuration(host, port), &["-q", "conf"]));
        until("PgBouncer listens (./check installs it)", || TcpStream::connect(("127.0.0.1", self.port)).is_ok());
    }

    /// Sends every later transaction to this server. Its clients notice nothing.
    pub fn turn_to(&self, server: &Postgres) {
        let its = self.program.as_ref().expect("it runs").folder();
        fs::write(its.join("conf"), self.configuration(folder(server), server.port())).expect("its configuration");
        let console = Sql::connect(&self.url("pgbouncer"));
        console.run("RELOAD");
        console.run("RECONNECT");
    }

    fn configuration(&self, host: &str, its: u16) -> String {
        let Self { port, mode, .. } = self;
        format!(
            "[databases]\n* = host={host} port={its} user=railgate\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\nauth_type = any\nadmin_users = railgate\npool_mode = {mode}\ndefault_pool_size = {POOL}\nmax_client_conn = 1000\n\
             server_idle_timeout = 2\n"
        )
    }
}

/// Where the server's socket is.
fn folder(server: &Postgres) -> &str {
    server.folder().to_str().expect("a path in UTF-8")
}
