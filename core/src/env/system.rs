//! The time and randomness of a real host.

use std::sync::{Mutex, PoisonError};
#[cfg(not(unix))]
use std::time::Instant;
use std::time::{SystemTime, UNIX_EPOCH};

use super::Env;
use crate::time::Millis;

/// The system's clock, and the system's randomness, fetched in blocks: a system call for every few bytes would cost
/// more than the work that needs them.
pub struct SystemEnv {
    pool: Mutex<Pool>,
    #[cfg(not(unix))]
    begun: Instant,
}

struct Pool {
    bytes: [u8; 1024],
    /// The bytes from here on are unused.
    used: usize,
}

impl Default for SystemEnv {
    fn default() -> Self {
        Self {
            pool: Mutex::new(Pool { bytes: [0; 1024], used: 1024 }),
            #[cfg(not(unix))]
            begun: Instant::now(),
        }
    }
}

impl Env for SystemEnv {
    fn now(&self) -> Millis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
    }

    /// Since the system started, the time included for which it was suspended: a payment that was about to leave is then as late as it
    /// would be without.
    #[cfg(unix)]
    fn steady(&self) -> Millis {
        // On Apple's systems, this is the clock that counts suspension.
        #[cfg(target_vendor = "apple")]
        const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
        #[cfg(not(target_vendor = "apple"))]
        const CLOCK: rustix::time::ClockId = rustix::time::ClockId::Boottime;
        let since = std::time::Duration::try_from(rustix::time::clock_gettime(CLOCK)).unwrap_or_default();
        Millis::try_from(since.as_millis()).unwrap_or(Millis::MAX)
    }

    #[cfg(not(unix))]
    fn steady(&self) -> Millis {
        Millis::try_from(self.begun.elapsed().as_millis()).unwrap_or(Millis::MAX)
    }

    fn random(&self, out: &mut [u8]) {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner).take(out);
    }
}

impl Pool {
    fn take(&mut self, out: &mut [u8]) {
        if out.len() > self.bytes.len() {
            fill(out);
            return;
        }
        if self.bytes.len() - self.used < out.len() {
            fill(&mut self.bytes);
            self.used = 0;
        }
        let fresh = &mut self.bytes[self.used..self.used + out.len()];
        out.copy_from_slice(fresh);
        // Bytes that were handed out, perhaps for a token, are not kept here.
        fresh.fill(0);
        self.used += out.len();
    }
}

/// Continuing without randomness would lead to tokens that can be guessed.
fn fill(out: &mut [u8]) {
    if let Err(cause) = getrandom::fill(out) {
        panic!("the system provides no randomness: {cause}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_handed_out_twice_and_large_wishes_are_filled() {
        let env = SystemEnv::default();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..1_000 {
            let mut out = [0u8; 16];
            env.random(&mut out);
            assert!(seen.insert(out));
        }
        let mut large = vec![0u8; 5_000];
        env.random(&mut large);
        assert!(large.iter().filter(|byte| **byte == 0).count() < 100);
    }
}
