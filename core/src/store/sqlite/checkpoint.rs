//! Moving the write-ahead log into the database file, off the path of those who wait for an answer.
//!
//! A thread with its own connection copies what it can while commits go on. Under a steady load the log would then
//! never be at rest and grow for ever: so the thread copies the little that remains with the writer held back, and the
//! next commit begins the log anew. From then on the log's file is overwritten, no longer extended, and a sync of what
//! is overwritten costs half as much.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;

use super::{Access, connect, failed};
use crate::store::StoreError;

/// After so many written records the thread looks at the log's length: looking is cheap, but not free.
const LOOK_EVERY: usize = 1000;

#[derive(Default)]
struct Signal {
    written: usize,
    stop: bool,
}

/// The thread, and how it is told of commits.
pub(super) struct Checkpointer {
    signal: Arc<(Mutex<Signal>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Checkpointer {
    /// Starts the thread. `pages` is the length of the log, in pages, from which it is worth copying.
    pub(super) fn start(path: &Path, pages: u32, writer: Arc<Mutex<Connection>>) -> Result<Self, StoreError> {
        let connection = connect(path, Access::Write)?;
        let signal = Arc::new((Mutex::new(Signal::default()), Condvar::new()));
        let work = Work { connection, writer, pages: pages.into(), signal: signal.clone() };
        let thread = std::thread::Builder::new().name("sqlite-checkpoint".to_owned()).spawn(move || work.run());
        let thread = thread.map_err(|e| StoreError::unavailable("starting the checkpoint thread", e))?;
        Ok(Self { signal, thread: Some(thread) })
    }

    /// Takes note of a commit of so many records.
    pub(super) fn wrote(&self, records: usize) {
        let (signal, changed) = &*self.signal;
        let mut signal = signal.lock().unwrap_or_else(PoisonError::into_inner);
        signal.written += records;
        if signal.written >= LOOK_EVERY {
            changed.notify_one();
        }
    }

    /// Ends the thread, after what it is just doing.
    pub(super) fn stop(&mut self) {
        let (signal, changed) = &*self.signal;
        signal.lock().unwrap_or_else(PoisonError::into_inner).stop = true;
        changed.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic in there lost nothing: the log is complete, only longer.
            let _ = thread.join();
        }
    }
}

struct Work {
    connection: Connection,
    writer: Arc<Mutex<Connection>>,
    pages: i64,
    signal: Arc<(Mutex<Signal>, Condvar)>,
}

impl Work {
    fn run(self) {
        while self.wait() {
            // A checkpoint that fails is tried again after the next commits: nothing depends on it but the log's length.
            let _ = self.checkpoint();
        }
    }

    /// Sleeps until enough was written; `false` when it is time to stop.
    fn wait(&self) -> bool {
        let (signal, changed) = &*self.signal;
        let guard = signal.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = |signal: &mut Signal| !signal.stop && signal.written < LOOK_EVERY;
        let mut guard = changed.wait_while(guard, idle).unwrap_or_else(PoisonError::into_inner);
        guard.written = 0;
        !guard.stop
    }

    fn checkpoint(&self) -> rusqlite::Result<()> {
        let (length, copied) = checkpoint(&self.connection, "NOOP")?;
        if length - copied < self.pages {
            return Ok(());
        }
        // What was added meanwhile is copied once more, so that the writer is held back only for what little remains.
        checkpoint(&self.connection, "PASSIVE")?;
        checkpoint(&self.connection, "PASSIVE")?;
        let _held_back = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        checkpoint(&self.connection, "PASSIVE").map(drop)
    }
}

/// Runs a checkpoint of this kind; the log's length and how much of it is in the database file, in pages.
fn checkpoint(connection: &Connection, kind: &str) -> rusqlite::Result<(i64, i64)> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |row| Ok((row.get(1)?, row.get(2)?)))
}

/// Copies the whole log and empties it, for a store that is closed. Does not wait for who still reads.
pub(super) fn finish(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(Duration::ZERO).map_err(|e| failed("emptying the log", e))?;
    checkpoint(connection, "TRUNCATE").map(drop).map_err(|e| failed("emptying the log", e))
}
