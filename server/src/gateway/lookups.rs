//! The reads that find out who calls.

use std::sync::Arc;

use railgate::{Engine, Error, ErrorCode, Result};
use tokio::sync::Semaphore;

use super::aside;

/// How many calls that are being authenticated may wait for a remote store: they take no turn, because they may come from anybody.
const AT_THE_GATE: usize = 128;
/// How many reads for strangers run at a time, on any store.
const STRANGERS: usize = 16;

/// Reads for calls that are being authenticated, on the caller's thread.
pub(crate) struct Lookups {
    engine: Arc<Engine>,
    known: Semaphore,
    strangers: Semaphore,
}

impl Lookups {
    pub(crate) fn new(engine: Arc<Engine>) -> Self {
        Self { engine, known: Semaphore::new(AT_THE_GATE), strangers: Semaphore::new(STRANGERS) }
    }

    /// The engine, for what reads nothing.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }

    /// A read for somebody who has shown what only we could have given, or for the gateway itself. It neither waits for a turn nor
    /// takes one.
    ///
    /// # Errors
    /// Those of `read`, and `store_unavailable` when too many wait for a remote store.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        let place = self.engine.is_remote().then(|| self.known.try_acquire()).transpose();
        let _place = place.map_err(|_| Error::new(ErrorCode::StoreUnavailable))?;
        aside(&self.engine, read)
    }

    /// A read for somebody who has shown no such thing: it takes none of the places of those who have.
    ///
    /// # Errors
    /// Those of `read`, and `store_unavailable` when too many are made already.
    pub(crate) fn read_for_a_stranger<T>(&self, read: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        let _place = self.strangers.try_acquire().map_err(|_| Error::new(ErrorCode::StoreUnavailable))?;
        aside(&self.engine, read)
    }
}
