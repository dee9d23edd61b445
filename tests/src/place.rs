//! Where the store of a server that gets killed is: a SQLite file, or a database of a PostgreSQL of its own.

use std::path::PathBuf;
use std::sync::Arc;

use railgate::store::Store;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::sqlite::SqliteStore;
use tempfile::TempDir;

use crate::binary::Server;
use crate::postgres::Postgres;

/// A store that outlives every server over it.
pub struct Place {
    url: String,
    file: Option<PathBuf>,
    database: Option<Postgres>,
    folder: TempDir,
}

impl Place {
    /// A SQLite file.
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("gateway.db");
        Self { url: format!("sqlite:{}", file.display()), file: Some(file), database: None, folder }
    }

    /// A database of a PostgreSQL that is started for it.
    pub fn postgres() -> Self {
        let (folder, server) = (tempfile::tempdir().expect("a folder"), Postgres::quick());
        Self { url: server.url(&server.database()), file: None, database: Some(server), folder }
    }

    /// The value of `--store`.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Starts a server over it.
    pub fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// Starts a server over it with these options, too.
    pub fn serve_with(&self, more: &[&str]) -> Server {
        let home = self.home();
        Server::over(&self.url, &[&["--data-dir", &home], more].concat())
    }

    /// The folder of its servers.
    pub fn home(&self) -> String {
        self.folder.path().display().to_string()
    }

    /// The file with the master keys of its servers.
    pub fn keys(&self) -> PathBuf {
        match &self.file {
            Some(file) => file.with_added_extension("keys"),
            None => self.folder.path().join("railgate.keys"),
        }
    }

    /// Opens it for reading what is there now.
    pub fn read(&self) -> Arc<dyn Store> {
        match &self.file {
            Some(file) => Arc::new(SqliteStore::open_read_only(file).expect("opening")),
            None => self.open(),
        }
    }

    /// Opens it.
    pub fn open(&self) -> Arc<dyn Store> {
        match &self.file {
            Some(file) => Arc::new(SqliteStore::open(file).expect("opening")),
            None => Arc::new(PostgresStore::open(&self.url, PostgresOptions::default()).expect("opening")),
        }
    }

    /// The PostgreSQL, if it is in one.
    pub fn database(&self) -> Option<&Postgres> {
        self.database.as_ref()
    }
}
