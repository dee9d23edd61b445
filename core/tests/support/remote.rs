//! A store on another machine.

use std::sync::atomic::{AtomicUsize, Ordering};

use railgate::store::StoreError;
use railgate::store::hooked::{Call, Hooked, Hooks};

/// A store on another machine that counts the round trips to it.
pub type Remote = Hooked<Trips>;

/// See [`Remote`].
#[derive(Default)]
pub struct Trips(AtomicUsize);

impl Trips {
    /// The round trips since the last call.
    pub fn taken(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

impl Hooks for Trips {
    fn before(&self, _: &Call<'_>) -> Result<(), StoreError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn is_remote(&self) -> bool {
        true
    }
}
