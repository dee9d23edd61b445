//! The credentials of bearer tokens, cached for a few seconds.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use railgate::api::Credential;
use railgate::store::record::Digest32;
use railgate::time::Millis;
use railgate::{Engine, Error, ErrorCode};
use sha2::{Digest, Sha256};

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

use crate::gateway::read_from;

/// A suspension or a revocation on another node takes effect after this time at the latest.
const FRESH_MS: Millis = 5_000;
/// The most tokens that are cached.
const ROOM: usize = 16_384;

/// Saves calls in quick succession the reads of token, key and client. Only hashes are kept.
#[derive(Default)]
pub(crate) struct TokenCache {
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    known: HashMap<Digest32, Entry>,
    /// How often the cache was cleared. What was read before that is not cached after it.
    forgotten: u64,
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
    pub(crate) fn authenticate(&self, token: &str, engine: &Engine) -> Result<Credential, Error> {
        let hash = Sha256::digest(token.as_bytes()).into();
        let now = engine.now();
        let (known, forgotten) = self.get(&hash, now);
        if let Some(known) = known {
            return known.ok_or_else(|| Error::new(ErrorCode::TokenInvalid));
        }
        engine.check_token(token)?;
        let found = read_from(engine, |engine| engine.authenticate(token));
        let entry = match &found {
            Ok(credential) => Entry { credential: Some(*credential), until: credential.expires_at.min(now + FRESH_MS) },
            Err(error) if error.code == ErrorCode::TokenInvalid => Entry { credential: None, until: now + FRESH_MS },
            Err(_) => return found,
        };
        self.put(hash, entry, now, forgotten);
        found
    }

    /// Clears the cache after something was revoked on this node.
    pub(crate) fn forget(&self) {
        let mut entries = self.lock();
        entries.known.clear();
        entries.forgotten += 1;
    }

    /// What is cached, and how often the cache was cleared so far.
    fn get(&self, hash: &Digest32, now: Millis) -> (Option<Option<Credential>>, u64) {
        let entries = self.lock();
        // A clock that was set back must not make an entry live longer.
        let fresh = entries.known.get(hash).filter(|entry| now < entry.until && entry.until <= now + FRESH_MS);
        (fresh.map(|entry| entry.credential), entries.forgotten)
    }

    fn put(&self, hash: Digest32, entry: Entry, now: Millis, forgotten: u64) {
        let mut entries = self.lock();
        if entries.forgotten != forgotten {
            // Read before something was revoked, perhaps this token.
            return;
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
    use railgate::ids::{ClientNo, KeyNo, Ulid};
    use railgate::ledger::Mode;

    use super::*;

    #[test]
    fn what_was_read_before_a_revocation_is_not_remembered_after_it() {
        let public = SoftwareKey::ed25519(&[1; 32]).public_key();
        let caller = Caller { client: ClientNo(1), client_id: Ulid::new(0, 1), mode: Mode::Sandbox };
        let credential =
            Credential { caller, key: KeyNo(1), key_id: public.id(), public, scopes: ScopeSet::CLIENT, expires_at: Millis::MAX };
        let entry = || Entry { credential: Some(credential), until: 1_000 };
        let cache = TokenCache::default();
        let (_, read_at) = cache.get(&[7; 32], 0);
        cache.forget();
        cache.put([7; 32], entry(), 0, read_at);
        let (known, read_at) = cache.get(&[7; 32], 0);
        assert!(known.is_none());
        cache.put([7; 32], entry(), 0, read_at);
        assert!(cache.get(&[7; 32], 0).0.is_some() && cache.get(&[7; 32], 1_000).0.is_none());
    }
}
