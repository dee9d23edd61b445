//! The nonces that this node has seen.

use std::collections::{BTreeMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate::auth::Nonce;
use railgate::time::Millis;
use railgate::{Error, ErrorCode};

const SHARDS: usize = 16;
/// Nonces whose challenges expire in the same interval of this many milliseconds are forgotten together.
const SLOT_MS: Millis = 16_000;
/// More than a machine can verify in the five minutes of a challenge.
const MOST_PER_SHARD: usize = 1 << 20;

/// Refuses a used nonce for as long as its challenge lives. Only nonces of verified signatures get here.
pub(crate) struct NonceCache {
    /// Randomly keyed: callers choose their nonces, and could otherwise fill one shard.
    hash: RandomState,
    shards: [Mutex<Shard>; SHARDS],
    /// The latest time at which it was asked.
    latest: AtomicI64,
}

/// Slots by expiry; a nonce is identified by 64 bits of its SHA-256.
#[derive(Default)]
struct Shard {
    slots: BTreeMap<Millis, HashSet<u64>>,
    count: usize,
}

impl Default for NonceCache {
    fn default() -> Self {
        Self { hash: RandomState::new(), shards: std::array::from_fn(|_| Mutex::default()), latest: AtomicI64::new(Millis::MIN) }
    }
}

impl NonceCache {
    /// Refuses a nonce that was used before, without taking one that was not.
    ///
    /// # Errors
    /// `nonce_replayed`.
    pub(crate) fn check(&self, nonce: &Nonce, now: Millis) -> Result<(), Error> {
        let digest = digest(nonce);
        let shard = self.shard(digest, now);
        let used = shard.slots.get(&slot(nonce)).is_some_and(|slot| slot.contains(&digest));
        if used { Err(Error::new(ErrorCode::NonceReplayed)) } else { Ok(()) }
    }

    /// Takes the nonce.
    ///
    /// # Errors
    /// `nonce_replayed` when it was used before; `store_unavailable` when there is no room to remember it.
    pub(crate) fn take(&self, nonce: &Nonce, now: Millis) -> Result<(), Error> {
        let digest = digest(nonce);
        let mut shard = self.shard(digest, now);
        if shard.count >= MOST_PER_SHARD {
            return Err(Error::with(ErrorCode::StoreUnavailable, "too many calls at once; nothing was done, try again"));
        }
        if !shard.slots.entry(slot(nonce)).or_default().insert(digest) {
            return Err(Error::new(ErrorCode::NonceReplayed));
        }
        shard.count += 1;
        Ok(())
    }

    /// Nonces that expire later are still known here if they were taken. The others are forgotten, perhaps too early: by a clock that
    /// was ahead for a while.
    pub(crate) fn forgot_until(&self) -> Millis {
        self.latest.load(Ordering::Relaxed)
    }

    /// The shard of a nonce, without what has expired.
    fn shard(&self, digest: u64, now: Millis) -> MutexGuard<'_, Shard> {
        // Read first: every call passes here, and it changes once in a millisecond.
        if self.forgot_until() < now {
            self.latest.fetch_max(now, Ordering::Relaxed);
        }
        let shard = &self.shards[self.hash.hash_one(digest) as usize % SHARDS];
        let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
        shard.forget(now);
        shard
    }
}

fn digest(nonce: &Nonce) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = nonce.hash;
    u64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// The slot that expires after the nonce's challenge.
fn slot(nonce: &Nonce) -> Millis {
    (nonce.expires_at / SLOT_MS + 1) * SLOT_MS
}

impl Shard {
    fn forget(&mut self, now: Millis) {
        while let Some(slot) = self.slots.first_entry().filter(|slot| *slot.key() < now) {
            self.count -= slot.remove().len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nonce(n: u8, expires_at: Millis) -> Nonce {
        Nonce { hash: [n; 32], expires_at }
    }

    #[test]
    fn what_a_clock_that_was_ahead_made_it_forget_is_not_taken_for_known() {
        let cache = NonceCache::default();
        let (taken, later) = (nonce(1, 300_000), nonce(2, 900_000));
        cache.take(&taken, 0).unwrap();
        assert!(taken.expires_at > cache.forgot_until() && cache.check(&taken, 0).is_err());
        cache.check(&taken, 400_000).unwrap();
        // The clock goes back.
        cache.check(&taken, 1_000).unwrap();
        assert!(taken.expires_at <= cache.forgot_until() && later.expires_at > cache.forgot_until());
    }

    #[test]
    fn a_nonce_is_taken_once_until_its_challenge_ends() {
        let seen = NonceCache::default();
        let replayed = |result: Result<(), Error>| result.unwrap_err().code == ErrorCode::NonceReplayed;
        seen.check(&nonce(1, 300_000), 1_000).unwrap();
        seen.take(&nonce(1, 300_000), 1_000).unwrap();
        assert!(replayed(seen.check(&nonce(1, 300_000), 1_000)));
        seen.take(&nonce(2, 300_000), 1_000).unwrap();
        assert!(replayed(seen.take(&nonce(1, 300_000), 1_000)));
        assert!(replayed(seen.take(&nonce(1, 300_000), 300_000)), "to the very end");
        seen.take(&nonce(1, 900_000), 600_000).unwrap();
        let left: usize = seen.shards.iter().map(|shard| shard.lock().unwrap().count).sum();
        assert!(left <= 2, "what has ended is forgotten, not kept: {left}");
    }

    #[test]
    fn so_many_are_remembered_and_until_some_expire_there_is_no_room_for_more() {
        assert_eq!(SHARDS * MOST_PER_SHARD, 16 * 1_048_576);
        let seen = NonceCache::default();
        let (one, another, late) = (nonce(1, 300_000), nonce(2, 300_000), nonce(3, 900_000));
        seen.take(&one, 0).unwrap();
        // As if the others were there.
        let full = |missing: usize| seen.shards.iter().for_each(|shard| shard.lock().unwrap().count = MOST_PER_SHARD - missing);
        full(0);
        assert_eq!(seen.take(&another, 0).unwrap_err().code, ErrorCode::StoreUnavailable);
        assert_eq!(seen.check(&one, 0).unwrap_err().code, ErrorCode::NonceReplayed, "what was used stays used");
        full(1);
        seen.take(&another, 0).unwrap();
        full(0);
        let shard = |nonce: &Nonce| std::ptr::from_ref(&*seen.shard(digest(nonce), 0));
        let free = (4..).map(|n| Nonce { hash: [n; 32], ..late }).find(|it| shard(it) == shard(&one)).unwrap();
        seen.take(&free, 600_000).unwrap();
    }

    #[test]
    fn of_many_at_once_one_gets_through() {
        let seen = NonceCache::default();
        let taken = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8).map(|_| scope.spawn(|| seen.take(&nonce(7, 300_000), 0).is_ok())).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).filter(|won| *won).count()
        });
        assert_eq!(taken, 1);
    }
}
