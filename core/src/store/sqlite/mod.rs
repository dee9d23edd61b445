//! The embedded store: one SQLite file, one writer, a few readers, and a log that is durable before a response leaves.
//!
//! ```
//! use railgate::engine::verify::verify;
//! use railgate::store::sqlite::SqliteStore;
//! use railgate::{Config, Gateway};
//! # use std::sync::Arc;
//! # use railgate::env::ManualEnv;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (path, copy) = (folder.path().join("payments.db"), folder.path().join("backup.db"));
//! # let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
//! let store = Arc::new(SqliteStore::open(&path)?);
//! let gateway = Gateway::open_with(store.clone(), env, Config::sandbox())?;
//! gateway.enroll("Shop")?;
//!
//! // A backup of the running gateway, verified.
//! store.backup(&copy, &mut |_, _| {})?;
//! assert!(verify(&SqliteStore::open_read_only(&copy)?, &mut |_| {})?.is_ok());
//!
//! // Another process cannot write to the file by mistake.
//! assert!(SqliteStore::open(&path).is_err());
//! # Ok(())
//! # }
//! ```
//!
//! The layout is deliberately lean (see the migrations): keys are increasing numbers, so that inserts append, and a settlement's
//! children are clustered under it. Statements are prepared once. [`Store::commit`] is one transaction. Each reading call sees the
//! complete state after the latest commit and never waits for the writer.

mod checkpoint;
mod migrate;
mod owner;
mod read;
pub(super) mod rows;
pub(super) mod tables;
mod write;

use std::fs::{File, OpenOptions, TryLockError};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::long_lock::LongLock;
use super::record::{Key, Record};
use super::{Commit, CommitError, Lookup, Scan, SchemaVersion, Store, StoreError, Unique};
use checkpoint::Checkpointer;
use migrate::MIGRATIONS;
use owner::{create_for, private};
pub use owner::{folder_of, give_to_owner_of, lock_file};

/// When a commit counts as durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// After a sync to the disk: survives a power failure.
    #[default]
    Full,
    /// Once the operating system has it: survives the end of this process. A power failure may lose the last commits.
    Normal,
}

/// Who else may write a database while it is open here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// Nobody: this process alone takes the lock file.
    #[default]
    Alone,
    /// Other processes on this machine that use the same option: several servers over one file.
    Among,
    /// Any other process: for the few changes of an operator while a server runs. Takes no lock and creates no schema.
    Beside,
}

/// Options for opening a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqliteOptions {
    /// When a commit counts as durable.
    pub synchronous: Synchronous,
    /// Who else may write it.
    pub sharing: Sharing,
    /// The number of reading connections, at least one.
    pub readers: usize,
    /// The writer's page cache in KiB: large enough for the index parts in use.
    pub cache_kib: u32,
    /// The number of pages by which the log may grow before it is copied into the database file.
    pub checkpoint_pages: u32,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { synchronous: Synchronous::Full, sharing: Sharing::Alone, readers: 4, cache_kib: 64 * 1024, checkpoint_pages: 8_000 }
    }
}

/// How long a connection waits while another process has locked the database: a backup tool that starts, or another node, which
/// keeps the lock until its commit is on the disk.
const BUSY_TIMEOUT: Duration = Duration::from_secs(15);

/// A reader's page cache in KiB. Every commit invalidates it, so that a large one would not pay off.
const READER_CACHE_KIB: u32 = 2 * 1024;

/// More than the number of different statements, except for rare combinations of list filters.
const STATEMENTS: usize = 128;

/// How many pages a backup copies before it reports its progress.
const BACKUP_STEP: i32 = 2048;

/// The store over one SQLite database file, for records of every kind.
pub type SqliteStore = Sqlite<true>;

/// The same for a sandbox: it refuses records that only a `SERVER` makes (tokens, the public log, webhooks), and reads none. An app
/// therefore need not contain the code that does.
pub type SqliteSandbox = Sqlite<false>;

/// A store over one SQLite database file.
pub struct Sqlite<const SERVER: bool> {
    path: PathBuf,
    readers: Readers,
    /// `None` if it was opened for reading only.
    writing: Option<Writing>,
}

/// Only for a store that may write.
struct Writing {
    connection: Arc<LongLock<Connection>>,
    checkpointer: Checkpointer,
    /// Locked while the store is open. Dropped last.
    _lock: Option<File>,
}

impl<const SERVER: bool> Sqlite<SERVER> {
    /// Opens the database at `path` with the default options.
    ///
    /// # Errors
    /// The same as for [`SqliteStore::open_with`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path.as_ref(), SqliteOptions::default())
    }

    /// Opens the database at `path` and migrates it to the current schema; creates it if there is no file.
    ///
    /// Takes the lock file `<path>.lock`, so that two processes write the same database only if both agreed to share it; see
    /// [`Sharing`].
    ///
    /// # Errors
    /// If another process has the lock, or the file belongs to another program or a newer version of this one.
    pub fn open_with(path: &Path, options: SqliteOptions) -> Result<Self, StoreError> {
        let path = &if options.sharing == Sharing::Beside { existing(path)? } else { create(path)? };
        let lock = lock(path, options.sharing)?;
        let mut writer = connect(path, Access::Write)?;
        migrate::require_ours(&writer, MIGRATIONS)?;
        configure(&writer, &options).map_err(|e| failed("configuring the database", e))?;
        match lock {
            Lock::Sole(_) => migrate::migrate(&mut writer, MIGRATIONS)?,
            Lock::Shared(_) | Lock::None => migrate::require_current(&writer, MIGRATIONS)?,
        }
        let lock = lock.settle(options.sharing)?;
        let connection = Arc::new(LongLock::new(writer));
        let checkpointer = Checkpointer::start(path, options.checkpoint_pages, connection.clone())?;
        let readers = Readers::open(path, options.readers)?;
        Ok(Self { path: path.clone(), readers, writing: Some(Writing { connection, checkpointer, _lock: lock }) })
    }

    /// Opens an existing database for reading, even while a server is running: for operators who verify or back up. It shows the
    /// state at the time of opening, regardless of later commits.
    ///
    /// # Errors
    /// If there is no such file, if it belongs to another program, or if its schema is not the current one. [`Store::commit`]
    /// always fails.
    pub fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        let readers = Readers::open(path, 1)?;
        migrate::require_current(&readers.take(), MIGRATIONS)?;
        // Stays open until the store is closed: all reads see the same point in time, regardless of later commits.
        readers.take().execute_batch("BEGIN; SELECT count(*) FROM meta").map_err(|e| failed("beginning to read", e))?;
        Ok(Self { path: path.to_owned(), readers, writing: None })
    }

    /// The schema version of an existing database. Changes nothing.
    ///
    /// # Errors
    /// If there is no such file, or it belongs to another program or a newer version of this one.
    pub fn schema(path: &Path) -> Result<SchemaVersion, StoreError> {
        migrate::version(&connect(path, Access::Read)?, MIGRATIONS)
    }

    /// Writes a consistent copy of the current database into the new file `to`, while commits continue.
    ///
    /// Calls `progress` with the number of pages copied and the total number of pages.
    ///
    /// # Errors
    /// If `to` already exists. If anything else fails, the file is removed.
    pub fn backup(&self, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        create_new(to).map_err(|e| StoreError::new("creating the backup file", e, false))?;
        let copied = self.copy_into(to, progress);
        if copied.is_err() {
            // Report the error of the copy; a half-written file must not pass for a backup.
            let _ = std::fs::remove_file(to);
        }
        copied
    }

    fn copy_into(&self, to: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(), StoreError> {
        let source = connect(&self.path, Access::Read)?;
        // The open snapshot keeps later commits from restarting the copy.
        source.execute_batch("BEGIN; SELECT count(*) FROM meta").map_err(|e| failed("beginning the backup", e))?;
        let mut target = connect(to, Access::Write)?;
        {
            let backup = Backup::new(&source, &mut target).map_err(|e| failed("beginning the backup", e))?;
            loop {
                let step = backup.step(BACKUP_STEP).map_err(|e| failed("backing up", e))?;
                let at = backup.progress();
                let (total, left) = (u64::try_from(at.pagecount).unwrap_or(0), u64::try_from(at.remaining).unwrap_or(0));
                progress(total.saturating_sub(left), total);
                match step {
                    StepResult::Done => break,
                    StepResult::More => {}
                    _ => std::thread::sleep(Duration::from_millis(10)),
                }
            }
        }
        target.close().map_err(|(_, e)| failed("finishing the backup", e))
    }
}

impl<const SERVER: bool> Sqlite<SERVER> {
    fn writing(&self) -> Result<&Writing, StoreError> {
        self.writing.as_ref().ok_or_else(|| StoreError::new("committing", "opened for reading only", false))
    }

    /// Reads what is durable; within [`Store::together`], also what this thread has written.
    fn read<T>(&self, look: impl FnOnce(&Connection) -> T) -> T {
        match &self.writing {
            Some(Writing { connection, .. }) if connection.is_mine() => look(&connection.lock()),
            Some(_) | None => look(&self.readers.take()),
        }
    }
}

impl<const SERVER: bool> Store for Sqlite<SERVER> {
    fn commit(&self, commit: &Commit) -> Result<(), CommitError> {
        let Writing { connection, checkpointer, .. } = self.writing()?;
        let writer = connection.lock();
        let made = if connection.is_mine() { write::step::<SERVER>(&writer, commit) } else { write::commit::<SERVER>(&writer, commit) };
        drop(writer);
        if made.is_ok() {
            checkpointer.wrote(commit.writes.len());
        }
        made
    }

    fn together(&self, steps: &mut dyn FnMut()) -> Result<(), CommitError> {
        let Writing { connection, .. } = self.writing()?;
        if connection.is_mine() {
            // Part of what this thread makes already.
            steps();
            return Ok(());
        }
        let _holding = connection.hold();
        write::begin(&connection.lock())?;
        let begun = Begun(connection);
        steps();
        let made = write::end(&begun.0.lock());
        drop(begun);
        made
    }

    fn get(&self, key: &Key) -> Result<Option<Record>, StoreError> {
        self.read(|connection| read::get::<SERVER>(connection, key))
    }

    fn find(&self, unique: &Unique) -> Result<Option<Record>, StoreError> {
        self.read(|connection| read::find::<SERVER>(connection, unique))
    }

    fn scan(&self, scan: &Scan) -> Result<Vec<Record>, StoreError> {
        self.read(|connection| read::scan::<SERVER>(connection, scan))
    }

    /// Reads every page and compares each index with its table: an index that is damaged can hide what is there.
    fn damage(&self) -> Result<Vec<String>, StoreError> {
        let found = self.read(|connection| {
            let mut check = connection.prepare("PRAGMA integrity_check(10)")?;
            check.query_map([], |row| row.get::<_, String>(0))?.collect::<rusqlite::Result<Vec<_>>>()
        });
        let found = found.map_err(|error| failed("checking the file", error))?;
        Ok(found.into_iter().filter(|line| line != "ok").collect())
    }

    fn prefers_batches(&self) -> bool {
        true
    }

    fn readers(&self) -> usize {
        self.readers.connections.len()
    }

    fn look_up(&self, lookups: &[Lookup]) -> Result<Vec<Vec<Record>>, StoreError> {
        self.read(|connection| read::look_up::<SERVER>(connection, lookups))
    }
}

/// A transaction of several commits. Without an end, as after a panic, nothing of it stays.
struct Begun<'a>(&'a LongLock<Connection>);

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        write::give_up(&self.0.lock());
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        self.checkpointer.stop();
        // A failure loses nothing: the log stays and is read at the next start.
        let _ = checkpoint::finish(&self.connection.lock());
    }
}

/// The reading connections.
struct Readers {
    connections: Vec<Mutex<Connection>>,
    /// The places of those that nobody uses, the most recently used on top: warm connections stay in use.
    free: Mutex<Vec<usize>>,
    returned: Condvar,
}

/// A reading connection in use.
struct Reader<'a> {
    connection: MutexGuard<'a, Connection>,
    /// Free again after the connection is.
    _place: Place<'a>,
}

struct Place<'a>(&'a Readers, usize);

impl Readers {
    fn open(path: &Path, count: usize) -> Result<Self, StoreError> {
        let connections: Vec<_> = (0..count.max(1)).map(|_| connect(path, Access::Read).map(Mutex::new)).collect::<Result<_, _>>()?;
        Ok(Self { free: Mutex::new((0..connections.len()).collect()), connections, returned: Condvar::new() })
    }

    /// A free connection, or else the first that becomes free.
    fn take(&self) -> Reader<'_> {
        let none = |free: &mut Vec<usize>| free.is_empty();
        let mut free = self.returned.wait_while(self.free(), none).unwrap_or_else(PoisonError::into_inner);
        let place = Place(self, free.pop().unwrap_or_default());
        Reader { connection: lock_of(&self.connections[place.1]), _place: place }
    }

    fn free(&self) -> MutexGuard<'_, Vec<usize>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deref for Reader<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.free().push(self.1);
        self.0.returned.notify_one();
    }
}

/// A connection stays usable even if the thread that used it panicked: a commit first rolls back any open transaction.
fn lock_of(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a connection may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// A connection to an existing file. Each is behind our own lock or owned by one thread, so SQLite needs no lock itself.
fn connect(path: &Path, access: Access) -> Result<Connection, StoreError> {
    let mode = match access {
        Access::Read => OpenFlags::SQLITE_OPEN_READ_ONLY,
        Access::Write => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let open = || {
        let connection = Connection::open_with_flags(path, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        connection.execute_batch(&format!("PRAGMA temp_store = MEMORY; PRAGMA cache_size = -{READER_CACHE_KIB}"))?;
        Ok(connection)
    };
    open().map_err(|e| failed("opening the database", e))
}

fn configure(writer: &Connection, options: &SqliteOptions) -> rusqlite::Result<()> {
    let synchronous = match options.synchronous {
        Synchronous::Full => "FULL",
        Synchronous::Normal => "NORMAL",
    };
    // A separate thread copies the log, never a commit.
    writer.execute_batch(&format!(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -{}",
        options.cache_kib
    ))
}

/// Ensures that the file exists, readable only by its owner, that of the folder, and returns its canonical path, so that it has only one lock.
fn create(path: &Path) -> Result<PathBuf, StoreError> {
    match create_for(folder_of(path), path) {
        Ok(_) => {}
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(e) => return Err(StoreError::new("creating the database", e, false)),
    }
    path.canonicalize().map_err(|e| StoreError::unavailable("finding the database", e))
}

/// The canonical path of a file that must exist.
fn existing(path: &Path) -> Result<PathBuf, StoreError> {
    path.canonicalize().map_err(|e| StoreError::new("finding the database", e, false))
}

fn create_new(path: &Path) -> std::io::Result<()> {
    private(OpenOptions::new().write(true).create_new(true)).open(path).map(drop)
}

/// The result of locking a database's lock file.
enum Lock {
    /// Nobody else has a lock.
    Sole(File),
    /// Shared with other processes.
    Shared(File),
    /// No lock was requested.
    None,
}

impl Lock {
    /// The lock to keep: if the database is to be shared, the exclusive lock for the migrations becomes a shared one.
    fn settle(self, sharing: Sharing) -> Result<Option<File>, StoreError> {
        match self {
            Lock::Sole(file) if sharing == Sharing::Among => {
                file.unlock().map_err(|e| StoreError::unavailable("unlocking the database", e))?;
                match file.try_lock_shared() {
                    Ok(()) => Ok(Some(file)),
                    Err(error) => Err(taken(error)),
                }
            }
            Lock::Sole(file) | Lock::Shared(file) => Ok(Some(file)),
            Lock::None => Ok(None),
        }
    }
}

/// Locks the lock file.
fn lock(database: &Path, sharing: Sharing) -> Result<Lock, StoreError> {
    if sharing == Sharing::Beside {
        return Ok(Lock::None);
    }
    let file = lock_file(database).map_err(|e| StoreError::unavailable("opening the lock file", e))?;
    match file.try_lock() {
        Ok(()) => Ok(Lock::Sole(file)),
        Err(TryLockError::WouldBlock) if sharing == Sharing::Among => match file.try_lock_shared() {
            Ok(()) => Ok(Lock::Shared(file)),
            Err(error) => Err(taken(error)),
        },
        Err(error) => Err(taken(error)),
    }
}

fn taken(error: TryLockError) -> StoreError {
    match error {
        TryLockError::WouldBlock => StoreError::unavailable("opening the database", "another process has it open"),
        TryLockError::Error(cause) => StoreError::unavailable("locking the database", cause),
    }
}

/// Converts an SQLite error: retrying can help if the disk is busy, full or failing, but not if the database is wrong.
fn failed(context: &'static str, error: rusqlite::Error) -> StoreError {
    let retryable = match error.sqlite_error_code() {
        None | Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => return StoreError::corrupt(context, error),
        Some(code) => matches!(
            code,
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::DiskFull
                | ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::OutOfMemory
                | ErrorCode::OperationInterrupted
                | ErrorCode::FileLockingProtocolFailed
        ),
    };
    StoreError::new(context, error, retryable)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn who_waits_for_a_reader_gets_the_first_that_becomes_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        create_new(&path).unwrap();
        let readers = Readers::open(&path, 2).unwrap();
        for kept in 0..2 {
            let mut held = vec![readers.take(), readers.take()];
            let (said, heard) = channel();
            std::thread::scope(|scope| {
                let readers = &readers;
                scope.spawn(move || {
                    said.send("waits").unwrap();
                    let _one = readers.take();
                    said.send("reads").unwrap();
                });
                assert_eq!(heard.recv(), Ok("waits"));
                drop(held.remove(1 - kept));
                assert_eq!(heard.recv(), Ok("reads"), "while the other one is held");
            });
        }
    }
}
