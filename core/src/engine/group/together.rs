//! Several groups in one write of the store, for a host that answers only once all of them are durable.

use std::sync::Arc;

use super::Writer;
use crate::engine::Engine;
use crate::error::{Error, ErrorCode};
use crate::store::long_lock::LongLock;
use crate::store::{CommitError, StoreError};

/// Why what was to be made together was not.
#[derive(Debug)]
pub struct Undone {
    cause: Arc<StoreError>,
    /// Whether it may have been made after all.
    in_doubt: bool,
}

impl Undone {
    /// The error for one of the calls. `repeatable`: whether it may be sent again, whatever became of it.
    pub fn error(&self, repeatable: bool) -> Error {
        let code = if self.cause.retryable || self.in_doubt { ErrorCode::StoreUnavailable } else { ErrorCode::Internal };
        let error = if self.in_doubt { Error::in_doubt(code, repeatable) } else { Error::new(code) };
        error.because(Arc::clone(&self.cause))
    }
}

impl From<CommitError> for Undone {
    fn from(error: CommitError) -> Self {
        let in_doubt = matches!(error, CommitError::Indeterminate(_));
        let cause = match error {
            CommitError::Indeterminate(cause) | CommitError::Store(cause) => cause,
            // Each step was checked by itself.
            CommitError::Conflict(_) | CommitError::BalanceGuard(_) | CommitError::UsageGuard(_) => {
                StoreError::new("committing", "checked steps were refused together", false)
            }
        };
        Self { cause: Arc::new(cause), in_doubt }
    }
}

/// What the engine has learned from commits that may be undone.
struct Learned<'a> {
    writer: &'a LongLock<Writer>,
    is_durable: bool,
}

impl Drop for Learned<'_> {
    fn drop(&mut self) {
        if !self.is_durable {
            self.writer.lock().is_stale = true;
        }
    }
}

impl Engine {
    /// Runs `steps`, and makes what they commit durable together, if the store can; see [`Store::together`]. Commands of other threads
    /// wait. Nothing that `steps` found may be shown before this returns.
    ///
    /// [`Store::together`]: crate::store::Store::together
    pub(crate) fn together(&self, mut steps: impl FnMut()) -> Result<(), Undone> {
        if self.writer.is_mine() {
            steps();
            return Ok(());
        }
        let _holding = self.writer.hold();
        let mut learned = Learned { writer: &self.writer, is_durable: false };
        self.store.together(&mut steps)?;
        learned.is_durable = true;
        Ok(())
    }
}
