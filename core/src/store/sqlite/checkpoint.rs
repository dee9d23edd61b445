//! Moves the write-ahead log into the database file, without delaying callers that wait for a response.
//!
//! A thread with its own connection copies what it can while commits continue. Under a steady load the log would never be idle and
//! would grow forever. The thread therefore holds back the writer while it copies the small remainder and the reads that still use
//! the log end, and the next commit restarts it. From then on the log file is overwritten instead of extended, and syncing
//! overwritten data costs half as much.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::{Access, connect, failed};
use crate::store::StoreError;
use crate::store::long_lock::LongLock;

/// After this many written records, the thread checks the log's length: the check is cheap, but not free.
const LOOK_EVERY: usize = 1000;

/// How long commits wait for reads that keep the log from being restarted: so long for each time that it should have been. Almost all
/// take less than a millisecond; a backup, which takes longer than any wait, delays nothing for longer.
const READS_END_WITHIN: Duration = Duration::from_millis(10);
/// The longest that commits wait for them.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

#[derive(Default)]
struct Signal {
    written: usize,
    stop: bool,
}

/// The thread, and the signal that tells it about commits.
pub(super) struct Checkpointer {
    signal: Arc<(Mutex<Signal>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread. `pages` is the length of the log, in pages, from which copying is worthwhile.
    pub(super) fn start(path: &Path, pages: u32, writer: Arc<LongLock<Connection>>) -> Result<Self, StoreError> {
        let connection = connect(path, Access::Write)?;
        let signal = Arc::new((Mutex::new(Signal::default()), Condvar::new()));
        let work = Work { connection, writer, pages: i64::from(pages).max(1), waited: 0, signal: signal.clone() };
        let thread = std::thread::Builder::new().name("sqlite-checkpoint".to_owned()).spawn(move || work.run());
        let thread = thread.map_err(|e| StoreError::unavailable("starting the checkpoint thread", e))?;
        Ok(Self { signal, thread: Some(thread) })
    }

    /// Records a commit of `records` records.
    pub(super) fn wrote(&self, records: usize) {
        let (signal, changed) = &*self.signal;
        let mut signal = signal.lock().unwrap_or_else(PoisonError::into_inner);
        signal.written += records;
        if signal.written >= LOOK_EVERY {
            changed.notify_one();
        }
    }

    /// Stops the thread after its current work.
    pub(super) fn stop(&mut self) {
        let (signal, changed) = &*self.signal;
        signal.lock().unwrap_or_else(PoisonError::into_inner).stop = true;
        changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic in the thread lost nothing: the log is complete, only longer.
            let _ = thread.join();
        }
    }
}

struct Work {
    connection: Connection,
    writer: Arc<LongLock<Connection>>,
    pages: i64,
    /// How many times `pages` the log had when commits last waited for reads.
    waited: i64,
    signal: Arc<(Mutex<Signal>, Condvar)>,
}

impl Work {
    fn run(mut self) {
        while self.wait() {
            // A failed checkpoint is retried after the next commits: it affects only the log's length.
            let _ = self.checkpoint();
        }
    }

    /// Sleeps until enough has been written; returns `false` when the thread must stop.
    fn wait(&self) -> bool {
        let (signal, changed) = &*self.signal;
        let guard = signal.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |signal: &mut Signal| !signal.stop && signal.written < LOOK_EVERY;
        let mut guard = changed.wait_while(guard, idle).unwrap_or_else(PoisonError::into_inner);
        guard.written = 0;
        !guard.stop
    }

    fn checkpoint(&mut self) -> rusqlite::Result<()> {
        let (_, length, copied) = checkpoint(&self.connection, "NOOP")?;
        if length - copied < self.pages {
            return Ok(());
        }
        // The second run copies what was added during the first, so that the writer is held back only for the small remainder.
        checkpoint(&self.connection, "PASSIVE")?;
        checkpoint(&self.connection, "PASSIVE")?;
        let held_back = self.writer.lock();
        // While a read goes on for long, commits wait for it once for each time that the log should have been restarted.
        let times = length / self.pages;
        let longest = READS_END_WITHIN.saturating_mul(times.try_into().unwrap_or(u32::MAX)).min(LONGEST_WAIT);
        self.connection.busy_timeout(if times == self.waited { Duration::ZERO } else { longest })?;
        let (used, ..) = checkpoint(&self.connection, "RESTART")?;
        drop(held_back);
        self.waited = if used { times } else { 0 };
        Ok(())
    }
}

/// Runs a checkpoint in this mode; returns whether something prevented a part of it, the log's length, and how much of it is in the
/// database file, in pages.
fn checkpoint(connection: &Connection, kind: &str) -> rusqlite::Result<(bool, i64, i64)> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
}

/// Copies the whole log and truncates it when the store is closed. Does not wait for readers.
pub(super) fn finish(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(Duration::ZERO).map_err(|e| failed("emptying the log", e))?;
    checkpoint(connection, "TRUNCATE").map(drop).map_err(|e| failed("emptying the log", e))
}
