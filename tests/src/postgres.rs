//! A real PostgreSQL for tests and benchmarks: started on first use, private to this process, and removed with it.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::error::SqlState;
use tokio_postgres::{NoTls, Row, SimpleQueryMessage};

use crate::patience::until;
use crate::port;

/// Makes a cluster in a new folder, empty or as the standby of another one, starts it, prints where it is, and waits for the end
/// of its input, which comes with the end of the process that started it, for whatever reason. Then removes everything.
const SUPERVISOR: &str = r#"
trap '' INT TERM
folder=$(mktemp -d "${TMPDIR:-/tmp}/railgate-postgres-XXXXXX") || exit 1
cd "$folder"
make() {
    if [ -n "$2" ]; then
        "$1/pg_basebackup" -d "$2" -D data -R -X stream -c fast --no-sync
    else
        "$1/initdb" -D data -U railgate -A trust -E UTF8 --locale=C --no-sync --no-instructions
    fi
}
if make "$1" "$4" >log 2>&1 &&
    printf "listen_addresses = '127.0.0.1'\nport = %s\nunix_socket_directories = '%s'\nmax_connections = 200\n%s\n" \
        "$2" "$folder" "$3" >>data/postgresql.conf &&
    "$1/pg_ctl" start -D data -w -s -l log >/dev/null 2>&1 </dev/null
then
    echo "$folder"
    cat >/dev/null
else
    echo "error: $(tail -n 5 log | tr '\n' ' ')"
fi
"$1/pg_ctl" stop -D data -m immediate -s >/dev/null 2>&1
cd / && rm -rf "$folder"
"#;

/// Settings without durability: the same behaviour in a fraction of the time, as long as the machine does not lose power.
const QUICK: &str = "fsync = off\nfull_page_writes = off\nautovacuum = off\ntrack_activity_query_size = 16384\n";

/// A running server. Dropping it stops it and removes its files.
pub struct Postgres {
    supervisor: Child,
    folder: PathBuf,
    port: u16,
}

impl Postgres {
    /// The server that this process's tests share, each with its own databases.
    pub fn shared() -> &'static Self {
        static SERVER: OnceLock<Postgres> = OnceLock::new();
        SERVER.get_or_init(|| Self::start(QUICK))
    }

    /// A separate server that does not wait for the disk, for tests that restart it.
    pub fn quick() -> Self {
        Self::start(QUICK)
    }

    /// A separate server with PostgreSQL's defaults except for `settings` (lines of `postgresql.conf`).
    pub fn start(settings: &str) -> Self {
        Self::make_server(settings, "")
    }

    /// A standby that follows this server, synchronously from now on: each commit waits until the standby has it.
    pub fn standby(&self) -> Self {
        let folder = self.folder.to_str().expect("a path in UTF-8");
        let standby = Self::make_server(QUICK, &format!("host={folder} port={} user=railgate", self.port));
        let sql = self.sql("postgres");
        sql.run("ALTER SYSTEM SET synchronous_standby_names = '*'");
        sql.run("SELECT pg_reload_conf()");
        until("the standby is in step", || sql.texts("SELECT sync_state FROM pg_stat_replication") == ["sync"]);
        standby
    }

    /// Promotes this standby, so that it accepts writes.
    pub fn promote(&self) {
        self.control(&["promote", "-w"]);
    }

    fn make_server(settings: &str, primary: &str) -> Self {
        let port = port::free();
        let mut command = unprivileged("sh");
        command.args(["-c", SUPERVISOR, "supervisor"]).arg(binaries()).arg(port.to_string()).arg(settings).arg(primary);
        let mut supervisor = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("sh runs");
        let mut line = String::new();
        BufReader::new(supervisor.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
        assert!(line.starts_with('/'), "PostgreSQL did not start: {line}");
        Self { supervisor, folder: line.trim_end().into(), port }
    }

    /// The folder of the server's files and socket.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Its port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The URL of a database, over the server's socket.
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.to_str().expect("a path in UTF-8").replace('/', "%2F");
        format!("postgres://railgate@{folder}:{}/{database}", self.port)
    }

    /// The URL of a database with these servers as hosts, over their ports.
    pub fn url_of_any(servers: &[&Self], database: &str) -> String {
        let hosts: Vec<String> = servers.iter().map(|server| format!("127.0.0.1:{}", server.port)).collect();
        format!("postgres://railgate@{}/{database}", hosts.join(","))
    }

    /// Creates an empty database and returns its name.
    pub fn database(&self) -> String {
        self.make("template0")
    }

    /// Creates a copy of a database without connections.
    pub fn copy(&self, template: &str) -> String {
        self.make(template)
    }

    fn make(&self, template: &str) -> String {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres").run(&format!("CREATE DATABASE {name} TEMPLATE {template}"));
        name
    }

    /// Removes a database, even if there are connections to it.
    pub fn remove(&self, database: &str) {
        let sql = self.sql("postgres");
        let remove = format!("DROP DATABASE IF EXISTS {database} WITH (FORCE)");
        // The server waits five seconds for the sessions that it terminates.
        until("every connection is closed", || match sql.wait(sql.client.batch_execute(&remove)) {
            Ok(()) => true,
            Err(error) if error.code() == Some(&SqlState::OBJECT_IN_USE) => false,
            Err(error) => panic!("{}: {remove}", told(&error)),
        });
    }

    /// A connection besides the store's.
    pub fn sql(&self, database: &str) -> Sql {
        Sql::connect(&self.url(database))
    }

    /// Writes a file into the server's folder that only the server can read.
    pub fn put(&self, name: &str, content: &[u8]) {
        let hex: String = content.iter().map(|byte| format!("{byte:02x}")).collect();
        let path = self.folder.join(name);
        let path = path.to_str().expect("a path in UTF-8");
        let sql = self.sql("postgres");
        let object = sql.texts(&format!("SELECT lo_from_bytea(0, '\\x{hex}')")).remove(0);
        sql.texts(&format!("SELECT lo_export({object}, '{path}')"));
        sql.run(&format!("COPY (SELECT 1) TO PROGRAM 'cat >/dev/null; chmod 600 {path}'"));
    }

    /// Restarts it in a mode of `pg_ctl`: `fast`, or `immediate`, which is a crash.
    pub fn restart(&self, how: &str) {
        self.control(&["restart", "-w", "-m", how, "-l", "log"]);
    }

    /// Stops it in the same modes.
    pub fn stop(&self, how: &str) {
        self.control(&["stop", "-w", "-m", how]);
    }

    /// Starts it again on the same address, after it was stopped.
    pub fn start_again(&self) {
        self.control(&["start", "-w", "-l", "log"]);
    }

    /// Suspends or resumes all its processes: while suspended, it accepts connections but does not respond.
    pub fn freeze(&self, frozen: bool) {
        signal_server(if frozen { "-STOP" } else { "-CONT" }, &self.folder);
    }

    fn control(&self, args: &[&str]) {
        let mut command = unprivileged(binaries().join("pg_ctl").to_str().expect("a path in UTF-8"));
        command.args(args).args(["-s", "-D", "data"]).current_dir(&self.folder);
        let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("pg_ctl runs");
        assert!(status.success(), "pg_ctl {args:?} failed");
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// Sends a signal to all processes of the server whose data is in this folder.
pub(crate) fn signal_server(signal: &str, folder: &Path) {
    let file = std::fs::read_to_string(folder.join("data/postmaster.pid")).expect("a server that runs");
    let first = file.lines().next().expect("a line");
    let others = || Command::new("ps").args(["-o", "pid=", "--ppid", first]).output().expect("ps runs").stdout;
    // A server that is killed leaves its processes to nobody.
    let before = if signal == "-KILL" { others() } else { Vec::new() };
    let send = |pid: &str| {
        let status = Command::new("kill").args([signal, pid]).stderr(Stdio::null()).status().expect("kill");
        // Any process except the first may end by itself.
        assert!(status.success() || pid != first);
    };
    // Suspended first, so that it starts no others.
    send(first);
    String::from_utf8_lossy(&[before, others()].concat()).split_whitespace().for_each(send);
}

/// PostgreSQL refuses to run as root: in that case it runs as the user that its package created.
pub(crate) fn unprivileged(program: &str) -> Command {
    let root = Command::new("id").arg("-u").output().is_ok_and(|it| it.stdout == b"0\n");
    if !root {
        return Command::new(program);
    }
    let mut command = Command::new("runuser");
    command.args(["-u", "postgres", "--", program]).current_dir("/");
    command
}

/// The folder of `initdb` and `pg_ctl`: Debian keeps them outside `PATH`, in a folder for each version.
pub fn binaries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let newest = versions.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok()).max();
        if let Some(version) = newest {
            return format!("/usr/lib/postgresql/{version}/bin").into();
        }
        let asked = Command::new("pg_config").arg("--bindir").output().expect("PostgreSQL is installed (./check does it)");
        String::from_utf8(asked.stdout).expect("a path in UTF-8").trim_end().into()
    })
}

/// A plain connection, from a plain thread.
pub struct Sql {
    runtime: tokio::runtime::Runtime,
    /// The client, for everything else.
    pub client: tokio_postgres::Client,
}

impl Sql {
    /// Connects without TLS.
    pub fn connect(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let (client, connection) = runtime.block_on(tokio_postgres::connect(url, NoTls)).expect("connecting");
        runtime.spawn(async move { drop(connection.await) });
        Self { runtime, client }
    }

    /// Executes statements.
    pub fn run(&self, sql: &str) {
        self.runtime.block_on(self.client.batch_execute(sql)).unwrap_or_else(|e| panic!("{}: {sql}", told(&e)));
    }

    /// The first column of each row, as text.
    pub fn texts(&self, sql: &str) -> Vec<String> {
        let told = self.runtime.block_on(self.client.simple_query(sql)).unwrap_or_else(|e| panic!("{}: {sql}", told(&e)));
        let rows = told.iter().filter_map(|it| if let SimpleQueryMessage::Row(row) = it { row.get(0) } else { None });
        rows.map(str::to_owned).collect()
    }

    /// The rows of a query without parameters.
    pub fn rows(&self, sql: &str) -> Vec<Row> {
        self.runtime.block_on(self.client.query(sql, &[])).unwrap_or_else(|e| panic!("{}: {sql}", told(&e)))
    }

    /// Waits for an operation of the client.
    pub fn wait<T>(&self, job: impl Future<Output = T>) -> T {
        self.runtime.block_on(job)
    }
}

fn told(error: &tokio_postgres::Error) -> String {
    error.as_db_error().map_or_else(|| error.to_string(), ToString::to_string)
}
