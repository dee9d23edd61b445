//! What this node knows about keys that sign without a token: which have signed here, and which are not enrolled.
//!
//! Anybody can name a key, and naming one that nobody has costs a read of the store. Keys that have signed here are told from made-up
//! ones without a read, so that a limit on strangers does not stop them, and their signatures are verified before anything is read.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate::auth::{KeyId, PublicKey};
use railgate::ledger::Mode;
use railgate::time::Millis;

/// A key that was enrolled on another node may be unknown here for this long.
const UNKNOWN_MS: Millis = 1_000;
/// The most keys of each kind that are remembered.
const ROOM: usize = 16_384;

/// See the module.
#[derive(Default)]
pub(crate) struct KeyCache {
    keys: Mutex<Keys>,
}

#[derive(Default)]
struct Keys {
    /// A key's id is its thumbprint, and its mode never changes: this stays true whatever becomes of the key.
    signed: HashMap<KeyId, (PublicKey, Mode)>,
    /// Keys that are not enrolled, and until when that is believed.
    unknown: HashMap<KeyId, Millis>,
    /// How many keys were enrolled on this node. What was read before that is not remembered after it.
    enrolled: u64,
}

/// What is known about a key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// It has signed on this node; the key itself, and its mode.
    Signed(PublicKey, Mode),
    /// It is not enrolled.
    Unknown,
    /// Nothing; the number is for [`KeyCache::not_enrolled`].
    Nothing(u64),
}

impl KeyCache {
    pub(crate) fn find(&self, key: &KeyId, now: Millis) -> Known {
        let keys = self.lock();
        if let Some((public, mode)) = keys.signed.get(key) {
            return Known::Signed(*public, *mode);
        }
        // A clock that was set back must not make an entry live longer.
        let unknown = keys.unknown.get(key).is_some_and(|until| (1..=UNKNOWN_MS).contains(&(until - now)));
        if unknown { Known::Unknown } else { Known::Nothing(keys.enrolled) }
    }

    /// Remembers a key whose signature was verified.
    pub(crate) fn has_signed(&self, key: &PublicKey, id: &KeyId, mode: Mode) {
        let mut keys = self.lock();
        if !keys.signed.contains_key(id) {
            if keys.signed.len() >= ROOM {
                // Whoever is forgotten here is a stranger until the next signature.
                keys.signed.clear();
            }
            keys.signed.insert(*id, (*key, mode));
        }
    }

    /// Remembers for a moment that the store does not have a key.
    pub(crate) fn not_enrolled(&self, key: &KeyId, now: Millis, enrolled: u64) {
        let mut keys = self.lock();
        if keys.enrolled != enrolled {
            // Read before a key was enrolled, perhaps this one.
            return;
        }
        if keys.unknown.len() >= ROOM {
            keys.unknown.retain(|_, until| *until > now);
            if keys.unknown.len() >= ROOM {
                keys.unknown.clear();
            }
        }
        keys.unknown.insert(*key, now + UNKNOWN_MS);
    }

    /// A key was enrolled on this node, by a call that it signed.
    pub(crate) fn enrolled(&self, key: &PublicKey, id: &KeyId, mode: Mode) {
        let mut keys = self.lock();
        keys.unknown.remove(id);
        keys.enrolled += 1;
        drop(keys);
        self.has_signed(key, id, mode);
    }

    fn lock(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use railgate::auth::{Signer as _, SoftwareKey};

    use super::*;

    const KEY: KeyId = KeyId([7; 32]);

    #[test]
    fn a_key_is_unknown_for_a_moment_and_not_once_it_is_enrolled() {
        let cache = KeyCache::default();
        assert_eq!(cache.find(&KEY, 0), Known::Nothing(0));
        cache.not_enrolled(&KEY, 0, 0);
        assert_eq!(cache.find(&KEY, 999), Known::Unknown);
        assert_eq!((cache.find(&KEY, 1_000), cache.find(&KEY, -1)), (Known::Nothing(0), Known::Nothing(0)));
        let public = SoftwareKey::ed25519(&[1; 32]).public_key();
        cache.enrolled(&public, &KEY, Mode::Live);
        assert_eq!(cache.find(&KEY, 0), Known::Signed(public, Mode::Live));
        let other = KeyId([8; 32]);
        cache.not_enrolled(&other, 0, 0);
        assert_eq!(cache.find(&other, 0), Known::Nothing(1), "it was read before an enrolment, perhaps its own");
    }

    #[test]
    fn a_flood_of_keys_has_bounds() {
        let cache = KeyCache::default();
        let public = SoftwareKey::ed25519(&[1; 32]).public_key();
        for n in 0..40_000_u32 {
            let mut key = [0; 32];
            key[..4].copy_from_slice(&n.to_be_bytes());
            cache.not_enrolled(&KeyId(key), 0, 0);
            cache.has_signed(&public, &KeyId(key), Mode::Sandbox);
        }
        let keys = cache.lock();
        assert!(keys.signed.len() <= ROOM && keys.unknown.len() <= ROOM);
    }
}
