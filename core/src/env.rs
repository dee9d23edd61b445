//! The engine's environment: time and randomness. Nothing else in the core reads a clock or draws random numbers.
//!
//! A test moves the clock by hand, so that a day of waiting takes no time:
//!
//! ```
//! use std::sync::Arc;
//!
//! use railgate::api::{CreateRequest, SettlementStatus};
//! use railgate::env::{Env as _, ManualEnv};
//! use railgate::store::memory::MemoryStore;
//! use railgate::{Config, Gateway};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let env = Arc::new(ManualEnv::new(1_795_257_497_042, 1));
//! let gateway = Gateway::open_with(Arc::new(MemoryStore::new()), env.clone(), Config::sandbox())?;
//! let enrolled = gateway.enroll("Shop")?;
//! let shop = gateway.client(&enrolled);
//!
//! // This operator accepts a payment at once and completes it after 30 seconds.
//! shop.create(CreateRequest::new("10.50 EUR".parse()?, "sim:slow-30s".parse()?, "inv-1".parse()?))?;
//! gateway.work()?;
//! assert_eq!(shop.settlement("inv-1")?.status, SettlementStatus::Submitted);
//!
//! env.advance_to(env.now() + 30_000);
//! gateway.work()?;
//! assert_eq!(shop.settlement("inv-1")?.status, SettlementStatus::Completed);
//! # Ok(())
//! # }
//! ```
//!
//! A host uses `SystemEnv` (feature `system`), or implements [`Env`] over its platform's clock and randomness.

#[cfg(feature = "system")]
mod system;

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use sha2::{Digest, Sha256};

use crate::time::Millis;

#[cfg(feature = "system")]
pub use system::SystemEnv;

/// A source of time and randomness.
pub trait Env: Send + Sync {
    /// The current time, in milliseconds since the Unix epoch.
    fn now(&self) -> Millis;
    /// Milliseconds since any moment in the past, by a clock that nobody can set. On a platform without one, [`Env::now`]; then a wait
    /// for the end of a payment is shorter when the clock is set ahead.
    fn steady(&self) -> Millis {
        self.now()
    }
    /// Fills `out` with random bytes. Tokens are made from them, so on a real host they come from the system.
    fn random(&self, out: &mut [u8]);
}

/// A clock that only moves on request, and random numbers derived from a seed.
///
/// The same seed and the same commands produce the same bytes. Used by the demo, the simulations and the sandboxes of hosts without
/// a network. Its randomness is as predictable as the seed: never issue a live token from it.
pub struct ManualEnv {
    now: AtomicI64,
    /// How far the clock was set ahead without time passing.
    stepped: AtomicI64,
    counter: AtomicU64,
    seed: [u8; 32],
    pool: Mutex<Vec<u8>>,
}

impl ManualEnv {
    /// A clock set to `now`, with the random numbers of `seed`.
    pub fn new(now: Millis, seed: u64) -> Self {
        Self::seeded(now, Sha256::digest(seed.to_be_bytes()).into())
    }

    /// Like [`ManualEnv::new`], with a full seed: the numbers are SHA-256 over it and a counter, as unpredictable as the seed.
    pub fn seeded(now: Millis, seed: [u8; 32]) -> Self {
        Self { now: AtomicI64::new(now), stepped: AtomicI64::new(0), counter: AtomicU64::new(0), seed, pool: Mutex::new(Vec::new()) }
    }

    /// Moves the clock forward to `at`. It never goes back.
    pub fn advance_to(&self, at: Millis) {
        self.now.fetch_max(at, Ordering::SeqCst);
    }

    /// Sets the clock ahead by `by` milliseconds, or back, while no time passes: [`Env::steady`] stays where it is.
    pub fn step(&self, by: Millis) {
        self.stepped.fetch_add(by, Ordering::SeqCst);
        self.now.fetch_add(by, Ordering::SeqCst);
    }
}

impl Env for ManualEnv {
    fn now(&self) -> Millis {
        self.now.load(Ordering::SeqCst)
    }

    fn steady(&self) -> Millis {
        self.now() - self.stepped.load(Ordering::SeqCst)
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
