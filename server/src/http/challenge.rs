//! Challenges of this node: issued with keys that all nodes share, and that are reloaded because an operator may replace them.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use railgate::auth::{ChallengeKeys, Nonce};
use railgate::env::Env;
use railgate::ledger::Mode;
use railgate::time::Millis;
use railgate::{Engine, Error, Result};

use crate::gateway::Lookups;

/// How often the keys are reloaded.
const FRESH_MS: Millis = 10_000;
/// The shortest interval between reloads when a challenge names an unknown key.
const AT_MOST_MS: Millis = 1_000;

/// Mints challenges and checks nonces.
pub(crate) struct Challenger {
    keys: RwLock<Arc<ChallengeKeys>>,
    read_at: AtomicI64,
    env: Arc<dyn Env>,
}

impl Challenger {
    /// Loads the keys; the first node creates them.
    pub(crate) fn open(engine: &Engine, env: Arc<dyn Env>) -> Result<Self> {
        let keys = RwLock::new(Arc::new(engine.challenge_keys()?));
        Ok(Self { keys, read_at: AtomicI64::new(env.now()), env })
    }

    /// A fresh challenge.
    pub(crate) fn mint(&self, mode: Mode) -> String {
        let mut random = [0u8; 11];
        self.env.random(&mut random);
        self.keys().issue(mode, self.env.now(), random)
    }

    /// Parses a nonce, which must begin with an unexpired challenge of this gateway.
    ///
    /// # Errors
    /// `challenge_invalid`, `challenge_expired`.
    pub(crate) fn check(&self, lookups: &Lookups, nonce: &str, mode: Mode) -> Result<Nonce, Error> {
        let now = self.env.now();
        let age = now - self.read_at.load(Ordering::Relaxed);
        // A clock that was set back must not stop the reloads.
        let stale = !(0..FRESH_MS).contains(&age);
        if stale || (age >= AT_MOST_MS && !self.keys().knows(nonce)) {
            self.read_again(lookups, now);
        }
        self.keys().check(nonce, mode, now)
    }

    fn keys(&self) -> Arc<ChallengeKeys> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reloads the keys. If the store cannot be read, they stay as they are.
    fn read_again(&self, lookups: &Lookups, now: Millis) {
        self.read_at.store(now, Ordering::Relaxed);
        match lookups.read(Engine::challenge_keys) {
            Ok(keys) => *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(keys),
            Err(error) => {
                let cause = std::error::Error::source(&error).map(ToString::to_string);
                tracing::error!(cause, "the challenge keys could not be reloaded");
            }
        }
    }
}
