//! What a connection keeps from one transaction to the next, and what each transaction must bring along where it keeps nothing.
//!
//! A pooler that pools transactions (PgBouncer: `pool_mode = transaction`) gives a server's process to a connection for one
//! transaction. A setting of the session would stay behind with that process for strangers, and a prepared statement would be
//! missing from the next one. So each transaction then sets what it needs for itself, and every statement is sent with its text.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

use super::{PostgresOptions, clock};

/// How the server's processes are divided between connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    /// A connection has one process for as long as it lives.
    Session,
    /// Each transaction has one, and the next may have another.
    Transaction,
}

/// The settings of connections, as SQL.
pub(super) struct Settings {
    /// Makes them for as long as the connection lives.
    pub(super) session: String,
    /// Makes them for one transaction.
    local: String,
}

/// How transactions begin on a connection that keeps nothing, as SQL.
#[derive(Debug)]
pub(super) struct Opening {
    /// One that reads. The last row of the result is its [`Identity`].
    pub(super) reading: String,
    /// One that writes. The last row of the result is its [`Identity`], and then its number.
    pub(super) writing: String,
    /// One whose reads all show the same moment.
    pub(super) at_one_moment: String,
}

/// A server process and its server.
#[derive(Clone, Default)]
pub(super) struct Identity {
    /// The id of the server process.
    pub(super) backend: String,
    /// The server's identifier and its timeline, which changes after a failover: `system/timeline`. Empty if the server does not
    /// return it.
    pub(super) server: String,
}

/// Asks which process of which server answers, and for `more`.
pub(super) fn identity(more: &str) -> String {
    format!("SELECT pg_backend_pid(), system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8){more} FROM pg_control_system()")
}

/// Asks for the time, and for the id of the server process.
pub(super) fn who_and_when() -> String {
    format!("SELECT pg_backend_pid(); {}", clock::ASK)
}

impl Settings {
    /// Every statement can use an index, in the order of its result, for any number of rows. A plan made for small tables that
    /// reads a whole table, or one that reads and sorts all rows of a client because a filter seemed selective, would be kept and be
    /// wrong later. One generic plan per statement is therefore enough.
    ///
    /// Limits on a statement and on idle time are enough: a limit on a transaction may end the connection right after its commit.
    /// Whatever the defaults of the server or role are, a response leaves only after its commit is durable.
    pub(super) fn new(options: &PostgresOptions) -> Self {
        let limit = options.statement_timeout.as_millis().clamp(1, i32::MAX as u128).to_string();
        let off = ["enable_seqscan", "enable_bitmapscan", "enable_sort", "enable_hashjoin", "enable_mergejoin", "jit"];
        let mut each: Vec<(&str, &str)> = off.map(|name| (name, "off")).to_vec();
        each.extend([("plan_cache_mode", "force_generic_plan"), ("random_page_cost", "1.1")]);
        each.extend([("statement_timeout", limit.as_str()), ("idle_in_transaction_session_timeout", limit.as_str())]);
        // A server that ends a commit's wait for its standby says so by a warning only.
        each.push(("client_min_messages", "warning"));
        // Nothing is written outside an explicit transaction: if a `BEGIN` failed, the statements sent after it must not take effect
        // one by one.
        let lasting =
            [("default_transaction_isolation", "read committed"), ("default_transaction_read_only", "on"), ("client_encoding", "UTF8")];
        let kept: Vec<_> = lasting.into_iter().chain(each.iter().copied()).collect();
        Self { session: set(&kept, false), local: set(&each, true) }
    }
}

/// Makes these settings, for the connection or for the transaction. That of `synchronous_commit` is made in any case: what is set stays,
/// whatever the server's files say from then on.
fn set(each: &[(&str, &str)], local: bool) -> String {
    let calls: Vec<String> = each.iter().map(|(name, value)| format!("set_config('{name}', '{value}', {local})")).collect();
    format!(
        "SELECT {}; \
         SELECT set_config('transaction_timeout', '0', {local}) WHERE current_setting('server_version_num')::int >= 170000; \
         SELECT set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), {local})",
        calls.join(", ")
    )
}

impl Opening {
    /// With these settings, on a server that says which one it is, or does not.
    pub(super) fn new(settings: &Settings, identified: bool) -> Self {
        let local = &settings.local;
        // Also for reading: a standby refuses it, and would show old states.
        let begin = |more: &str| {
            let identity = if identified { identity(more) } else { format!("SELECT pg_backend_pid(), NULL, NULL{more}") };
            format!("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; {local}; {identity}")
        };
        let idle = "SELECT set_config('idle_in_transaction_session_timeout', '0', true)";
        Self {
            reading: begin(""),
            writing: begin(", pg_current_xact_id()"),
            at_one_moment: format!("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {local}; {idle}"),
        }
    }
}

impl Identity {
    /// The one in a row of [`identity`]; empty if it is incomplete.
    pub(super) fn of(row: Option<&SimpleQueryRow>) -> Self {
        let cell = |at| row.and_then(|row| row.try_get(at).ok().flatten());
        match (cell(0), cell(1), cell(2)) {
            (Some(backend), Some(system), Some(timeline)) => Self { backend: backend.to_owned(), server: format!("{system}/{timeline}") },
            _ => Self::default(),
        }
    }
}

/// The last row in the response to a simple query.
pub(super) fn last_row(answer: &[SimpleQueryMessage]) -> Option<&SimpleQueryRow> {
    answer.iter().rev().find_map(|message| if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None })
}

/// The first row in the response to a simple query.
pub(super) fn first_row(answer: &[SimpleQueryMessage]) -> Option<&SimpleQueryRow> {
    answer.iter().find_map(|message| if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None })
}

/// The id of the server process that the connection was given at its start, by which it would cancel a statement. A server gives its
/// own; a pooler gives one of its making, since it does not know yet which process will do the work.
pub(super) async fn given_backend(client: &Client) -> Option<String> {
    let mut heard = Heard::default();
    client.cancel_token().cancel_query_raw(&mut heard, Unencrypted).await.ok()?;
    // The end of the message: the id and the secret.
    let id = heard.0.len().checked_sub(8).and_then(|at| heard.0.get(at..at + 4))?;
    Some(i32::from_be_bytes(id.try_into().ok()?).to_string())
}

/// Keeps what is written to it, and agrees to encryption, which is then left out. Nothing leaves the process.
#[derive(Default)]
struct Heard(Vec<u8>);

struct Unencrypted;

impl<'h> TlsConnect<&'h mut Heard> for Unencrypted {
    type Stream = &'h mut Heard;
    type Error = Infallible;
    type Future = Ready<Result<&'h mut Heard, Infallible>>;

    fn connect(self, stream: &'h mut Heard) -> Self::Future {
        ready(Ok(stream))
    }
}

impl TlsStream for &mut Heard {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for Heard {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        out.put_slice(b"S");
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Heard {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.0.extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
