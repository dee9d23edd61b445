//! The credentials of bearer tokens, cached for a few seconds.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate::api::Credential;
use railgate::ids::ClientNo;
use railgate::store::record::Digest32;
use railgate::time::Millis;
use railgate::{Error, ErrorCode};
use sha2::{Digest, Sha256};

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use crate::gateway::Lookups;

/// A suspension or a revocation on another node takes effect after this time at the latest.
const FRESH_MS: Millis = 5_000;
/// The most tokens that are cached.
const ROOM: usize = 16_384;
/// The most clients whose last revocation is known. Beyond that, what is being read from the store at that moment is not cached.
const REVOKERS: usize = 1_024;

/// Saves calls in quick succession the reads of token, key and client. Tokens are kept as hashes, the keys of their sessions as they are.
#[derive(Default)]
pub(crate) struct TokenCache {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    known: HashMap<Digest32, Entry>,
    /// The number of revocations.
    revocations: u64,
    /// The last revocation of each client. What was read of a client before that is not cached after it.
    revoked: HashMap<ClientNo, u64>,
    /// What was read before this revocation is not cached, whosever it is.
    horizon: u64,
}

struct Entry {
    /// `None` for a token that was revoked: it never becomes valid again.
    credential: Option<Credential>,
    until: Millis,
}

impl TokenCache {
    /// The credential of a token.
    ///
    /// # Errors
    /// `token_invalid`, `token_expired`, `client_suspended`, and errors of the store.
    pub(crate) fn authenticate(&self, token: &str, lookups: &Lookups) -> Result<Credential, Error> {
        let hash = Sha256::digest(token.as_bytes()).into();
        let engine = lookups.engine();
        let now = engine.now();
        let (known, revocations) = self.get(&hash, now);
        if let Some(known) = known {
            return known.ok_or_else(|| Error::new(ErrorCode::TokenInvalid));
        }
        engine.check_token(token)?;
        let found = lookups.read(|engine| engine.authenticate(token));
        let entry = match &found {
            Ok(credential) => Entry { credential: Some(*credential), until: credential.expires_at.min(now + FRESH_MS) },
            Err(error) if error.code == ErrorCode::TokenInvalid => Entry { credential: None, until: now + FRESH_MS },
            Err(_) => return found,
        };
        self.put(hash, entry, now, revocations);
        found
    }

    /// Clears the cached tokens of a client after it revoked something on this node.
    pub(crate) fn forget(&self, client: ClientNo) {
        let mut entries = self.lock();
        entries.known.retain(|_, entry| entry.credential.is_none_or(|credential| credential.caller.client != client));
        entries.revocations += 1;
        let now = entries.revocations;
        if entries.revoked.len() >= REVOKERS {
            entries.revoked.clear();
            entries.horizon = now;
        }
        entries.revoked.insert(client, now);
    }

    /// What is cached, and the number of revocations so far.
    fn get(&self, hash: &Digest32, now: Millis) -> (Option<Option<Credential>>, u64) {
        let entries = self.lock();
        // A clock that was set back must not make an entry live longer.
        let fresh = entries.known.get(hash).filter(|entry| now < entry.until && entry.until <= now + FRESH_MS);
        (fresh.map(|entry| entry.credential), entries.revocations)
    }

    /// Caches what was read when `revocations` was their number.
    fn put(&self, hash: Digest32, entry: Entry, now: Millis, revocations: u64) {
        let mut entries = self.lock();
        if let Some(credential) = &entry.credential {
            let last = entries.revoked.get(&credential.caller.client).copied().unwrap_or_default();
            if revocations < last.max(entries.horizon) {
                // Read before its client revoked something, perhaps this token.
                return;
            }
        }
        if entries.known.len() >= ROOM {
            entries.known.retain(|_, entry| now < entry.until);
            if entries.known.len() >= ROOM {
                entries.known.clear();
            }
        }
        entries.known.insert(hash, entry);
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The token of `Authorization: Bearer …`; `None` where there is no such header.
///
/// # Errors
/// `token_missing` for another scheme or no token, `token_invalid` for several headers or bytes that no token has.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Error> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Error::with(ErrorCode::TokenInvalid, "Authorization may appear only once"));
    }
    let text = value.to_str().map_err(|_| Error::new(ErrorCode::TokenInvalid))?;
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    match token.trim() {
        token if !token.is_empty() && scheme.eq_ignore_ascii_case("bearer") => Ok(Some(token)),
        _ => Err(missing()),
    }
}

/// A required token is missing.
pub(crate) fn missing() -> Error {
    Error::with(ErrorCode::TokenMissing, "send Authorization: Bearer and an access token")
}

#[cfg(test)]
mod tests {
    use railgate::api::Caller;
    use railgate::auth::{ScopeSet, Signer as _, SoftwareKey};
    use railgate::ids::{KeyNo, Ulid};
    use railgate::ledger::Mode;

    use super::*;

    fn entry(client: u32) -> Entry {
        let public = SoftwareKey::ed25519(&[1; 32]).public_key();
        let caller = Caller::client(ClientNo(client), Ulid::new(0, 1), Mode::Sandbox);
        let credential = Credential {
            caller,
            key: KeyNo(1),
            key_id: public.id(),
            public,
            scopes: ScopeSet::CLIENT,
            expires_at: Millis::MAX,
            session: None,
        };
        Entry { credential: Some(credential), until: 1_000 }
    }

    #[test]
    fn what_was_read_before_a_revocation_is_not_remembered_after_it() {
        let cache = TokenCache::default();
        let (_, read_at) = cache.get(&[7; 32], 0);
        cache.forget(ClientNo(1));
        cache.put([7; 32], entry(1), 0, read_at);
        let (known, read_at) = cache.get(&[7; 32], 0);
        assert!(known.is_none());
        cache.put([7; 32], entry(1), 0, read_at);
        assert!(cache.get(&[7; 32], 0).0.is_some() && cache.get(&[7; 32], 1_000).0.is_none());
    }

    #[test]
    fn a_revocation_leaves_what_is_cached_of_others() {
        let cache = TokenCache::default();
        let (_, read_at) = cache.get(&[2; 32], 0);
        cache.put([1; 32], entry(1), 0, read_at);
        cache.put([2; 32], entry(2), 0, read_at);
        for _ in 0..2 * REVOKERS {
            cache.forget(ClientNo(1));
        }
        assert!(cache.get(&[1; 32], 0).0.is_none() && cache.get(&[2; 32], 0).0.is_some());
        cache.put([3; 32], entry(2), 0, read_at);
        assert!(cache.get(&[3; 32], 0).0.is_some(), "nor does it stop what is being read");
    }

    #[test]
    fn revocations_of_many_clients_are_kept_in_bounds_and_none_is_missed() {
        let cache = TokenCache::default();
        let (_, read_at) = cache.get(&[7; 32], 0);
        for client in 1..3 * REVOKERS as u32 {
            cache.forget(ClientNo(client));
        }
        assert!(cache.lock().revoked.len() <= REVOKERS);
        cache.put([7; 32], entry(1), 0, read_at);
        assert!(cache.get(&[7; 32], 0).0.is_none(), "read before its client revoked something, long ago");
    }
}
