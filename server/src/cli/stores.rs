//! The store that an operator's command works on: found as `railgate serve` finds it, and opened.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use railgate::engine::{Config, Engine};
use railgate::rail::Rails;
use railgate::seal::MasterKeys;
use railgate::store::postgres::{PostgresOptions, PostgresStore};
use railgate::store::sqlite::{Sharing, SqliteOptions, SqliteStore};
use railgate::store::{SchemaVersion, Store, StoreError};

use super::failure::{Done, Failure};
use super::settings::ServeArgs;
use crate::config::{DatabaseUrl, ServeConfig, StoreConfig};
use railgate::env::SystemEnv;

/// The options that name a store, as for `railgate serve`.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct StoreArg {
    /// The store, `sqlite:PATH` or `postgres://USER@HOST/DATABASE` [env: RAILGATE_STORE] [default: sqlite:railgate.db in
    /// the data folder]
    #[arg(long, value_name = "STORE")]
    store: Option<String>,
    /// The server's settings file, if it has one [env: RAILGATE_CONFIG]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The data folder [env: RAILGATE_DATA_DIR] [default: the platform's]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<String>,
}

impl StoreArg {
    /// The place of the store.
    pub(super) fn place(&self) -> Done<StorePlace> {
        StorePlace::of(self.settings(None)?.store)
    }

    /// The places of the store and of its master keys' file.
    pub(super) fn place_and_keys(&self, master_keys: Option<String>) -> Done<(StorePlace, PathBuf)> {
        let settings = self.settings(master_keys)?;
        let place = StorePlace::of(settings.store)?;
        let keys = match (settings.master_keys, &place) {
            (Some(keys), _) => keys,
            (None, StorePlace::File(path)) => crate::master::beside(path),
            (None, StorePlace::Database(_)) => return Err(Failure::usage("no file of master keys is named").hint("--master-keys FILE")),
        };
        Ok((place, keys))
    }

    fn settings(&self, master_keys: Option<String>) -> Done<ServeConfig> {
        let Self { store, config, data_dir } = self.clone();
        Ok(super::resolve(ServeArgs { store, config, data_dir, master_keys, ..ServeArgs::default() })?.serve)
    }
}

/// A store that outlives the process that serves it. Displayed without its password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StorePlace {
    /// An SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    Database(DatabaseUrl),
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "sqlite:{}", path.display()),
            Self::Database(url) => url.fmt(f),
        }
    }
}

impl StorePlace {
    fn of(store: StoreConfig) -> Done<Self> {
        match store {
            StoreConfig::Sqlite(path) => Ok(Self::File(path)),
            StoreConfig::Postgres(url) => Ok(Self::Database(url)),
            StoreConfig::Memory => Err(Failure::usage("a store in memory exists only in its server")
                .hint("name another: --store sqlite:PATH, or --store postgres://USER@HOST/DATABASE")),
        }
    }

    /// The store at an address in the form of `railgate serve --store`, under the settings of the environment and of `config`.
    pub(super) fn named(address: &str, config: Option<&Path>) -> Done<Self> {
        StoreArg { store: Some(address.to_owned()), config: config.map(Path::to_owned), data_dir: None }.place()
    }

    /// Opens it for reading, as of this moment. Servers may run on it.
    pub(super) fn open(&self) -> Done<Arc<dyn Store>> {
        match self {
            Self::File(path) => {
                self.present(path)?;
                Ok(Arc::new(SqliteStore::open_read_only(path).map_err(|error| self.not_opened(&error))?))
            }
            Self::Database(url) => {
                let store = PostgresStore::open_read_only(url.reveal(), few());
                Ok(Arc::new(store.map_err(|error| self.not_opened(&error))?))
            }
        }
    }

    /// Opens an engine over it, to change something. Servers may run on it.
    pub(super) fn engine(&self, master: Option<Arc<MasterKeys>>) -> Done<Engine> {
        let store: Arc<dyn Store> = match self {
            Self::File(path) => {
                self.present(path)?;
                let options = SqliteOptions { sharing: Sharing::Beside, ..SqliteOptions::default() };
                Arc::new(SqliteStore::open_with(path, options).map_err(|error| self.not_opened(&error))?)
            }
            Self::Database(url) => Arc::new(PostgresStore::open(url.reveal(), few()).map_err(|error| self.not_opened(&error))?),
        };
        let config = Config { master, rails: Rails::built_in(), ..Config::default() };
        Ok(Engine::open(store, Arc::new(SystemEnv::default()), config)?)
    }

    /// The version of its schema.
    pub(super) fn schema(&self) -> Done<SchemaVersion> {
        let found = match self {
            Self::File(path) => {
                self.present(path)?;
                SqliteStore::schema(path)
            }
            Self::Database(url) => PostgresStore::schema(url.reveal(), few()),
        };
        found.map_err(|error| self.not_opened(&error))
    }

    /// Opens it exclusively, to read all of it: as it is, and as it becomes if somebody changes it anyway.
    pub(super) fn open_quiet(&self) -> Done<Arc<dyn Store>> {
        self.require_current(self.schema()?)?;
        match self {
            Self::File(path) => Ok(Arc::new(SqliteStore::open(path).map_err(|error| self.in_use(&error))?)),
            Self::Database(url) => Ok(Arc::new(PostgresStore::open(url.reveal(), few()).map_err(|error| self.not_opened(&error))?)),
        }
    }

    /// Opens it exclusively, to fill it; creates it if there is nothing yet.
    pub(super) fn open_to_fill(&self) -> Done<Arc<dyn Store>> {
        let absent = if let Self::File(path) = self { !path.exists() } else { false };
        if !absent {
            // A store that was named by mistake is not even migrated.
            let schema = self.schema()?;
            if schema.applied > 0 {
                self.require_current(schema)?;
            }
        }
        self.open_to_write()
    }

    fn require_current(&self, schema: SchemaVersion) -> Done {
        if schema.is_current() {
            return Ok(());
        }
        let SchemaVersion { applied, known } = schema;
        Err(Failure::new(format!("the schema of {self} is version {applied}, this program needs {known}"))
            .hint(format!("railgate migrate --store {self}")))
    }

    /// Opens it exclusively, to write to it; creates it, or migrates it to the current schema.
    pub(super) fn open_to_write(&self) -> Done<Arc<dyn Store>> {
        match self {
            Self::File(path) => Ok(Arc::new(SqliteStore::open(path).map_err(|error| self.in_use(&error))?)),
            Self::Database(url) => {
                let options = PostgresOptions { migrate: true, ..few() };
                Ok(Arc::new(PostgresStore::open(url.reveal(), options).map_err(|error| self.not_opened(&error))?))
            }
        }
    }

    fn present(&self, path: &Path) -> Done {
        if path.exists() {
            return Ok(());
        }
        Err(Failure::new(format!("there is no store at {}", path.display())).hint("name it with --store sqlite:PATH"))
    }

    fn not_opened(&self, error: &StoreError) -> Failure {
        let failure = Failure::new(format!("cannot open {self}: {}", super::failure::chain(error)));
        let hint = "is it a database of railgate, and of this version? See railgate migrate --check";
        // A retryable error has nothing to do with the stored data.
        if error.retryable { failure } else { failure.hint(hint) }
    }

    fn in_use(&self, error: &StoreError) -> Failure {
        let failure = self.not_opened(error);
        if error.retryable { failure.hint("first stop the server that uses it") } else { failure }
    }
}

/// An operator's command needs few connections, and changes no schema unless that is its purpose.
fn few() -> PostgresOptions {
    PostgresOptions { readers: 2, writers: 1, migrate: false, ..PostgresOptions::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_shown_without_its_password() {
        let shown = |address: &str| StorePlace::named(address, None).unwrap().to_string();
        assert_eq!(shown("sqlite:/a b.db"), "sqlite:/a b.db");
        assert_eq!(shown("postgres://u:hunter2@h/db"), "postgres://u:***@h/db");
        let debug = format!("{:?}", StorePlace::named("postgres://u:hunter2@h/db", None).unwrap());
        assert!(!debug.contains("hunter2"), "{debug}");
        assert!(StorePlace::named("memory:", None).is_err() && StorePlace::named("/a.db", None).is_err());
    }
}
