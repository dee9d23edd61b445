//! The engine's other door: time and randomness. Nothing else in the core reads a clock or draws a number.

#[cfg(feature = "system")]
mod system;

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use sha2::{Digest, Sha256};

use crate::time::Millis;

#[cfg(feature = "system")]
pub use system::SystemEnv;

/// Where time and randomness come from.
pub trait Env: Send + Sync {
    /// Now, milliseconds since the Unix epoch.
    fn now(&self) -> Millis;
    /// Fills `out` with random bytes. Tokens are made of them: on a real host they come from the system.
    fn random(&self, out: &mut [u8]);
}

/// A clock that stands still until it is told to move, and numbers that follow from a seed.
///
/// The same seed and the same commands give the same bytes. It drives the demo, the simulations and the sandbox of
/// hosts without a network. Its randomness follows from the seed: never issue a live token from it.
pub struct ManualEnv {
    now: AtomicI64,
    counter: AtomicU64,
    seed: [u8; 32],
    pool: Mutex<Vec<u8>>,
}

impl ManualEnv {
    /// A clock that stands at `now`, and the numbers of `seed`.
    pub fn new(now: Millis, seed: u64) -> Self {
        Self::seeded(now, Sha256::digest(seed.to_be_bytes()).into())
    }

    /// The same with a whole seed: SHA-256 over it and a counter. As unpredictable as the seed is.
    pub fn seeded(now: Millis, seed: [u8; 32]) -> Self {
        Self { now: AtomicI64::new(now), counter: AtomicU64::new(0), seed, pool: Mutex::new(Vec::new()) }
    }

    /// Moves the clock forward to `at`; it never goes back.
    pub fn advance_to(&self, at: Millis) {
        self.now.fetch_max(at, Ordering::SeqCst);
    }
}

impl Env for ManualEnv {
    fn now(&self) -> Millis {
        self.now.load(Ordering::SeqCst)
    }

    fn random(&self, out: &mut [u8]) {
        let mut pool = self.pool.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for byte in out {
            if pool.is_empty() {
                let n = self.counter.fetch_add(1, Ordering::SeqCst);
                pool.extend(Sha256::new().chain_update(self.seed).chain_update(n.to_be_bytes()).finalize());
            }
            *byte = pool.pop().unwrap_or_default();
        }
    }
}
