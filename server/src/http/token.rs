//! Who a bearer token speaks for, remembered for a few seconds.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use railgate::api::Caller;
use railgate::store::record::{Digest32, Key, TokenRecord};
use railgate::store::{Store, typed};
use railgate::time::Millis;
use railgate::{Engine, Error, ErrorCode};
use sha2::{Digest, Sha256};

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;

/// A suspension or a revocation takes effect after this at the latest.
const FRESH_MS: Millis = 5_000;
/// How many tokens are remembered.
const ROOM: usize = 16_384;

/// Spares calls that follow each other the read of the token. Only hashes are kept.
#[derive(Default)]
pub(crate) struct TokenCache {
    entries: Mutex<HashMap<Digest32, Entry>>,
}

struct Entry {
    caller: Caller,
    until: Millis,
}

impl TokenCache {
    /// Who sends a request with these headers.
    ///
    /// # Errors
    /// `token_missing`, `token_invalid`, `token_expired`, `client_suspended`, and the store's.
    pub(crate) fn authenticate(&self, headers: &HeaderMap, engine: &Engine, store: &dyn Store) -> Result<Caller, Error> {
        let token = bearer(headers)?;
        let key = Sha256::digest(token.as_bytes()).into();
        let now = engine.now();
        if let Some(caller) = self.get(&key, now) {
            return Ok(caller);
        }
        let caller = engine.authenticate(token)?;
        let record: Option<TokenRecord> = typed(store.get(&Key::Token(key))?)?;
        if let Some(record) = record {
            self.put(key, Entry { caller, until: record.expires_at.min(now + FRESH_MS) }, now);
        }
        Ok(caller)
    }

    fn get(&self, key: &Digest32, now: Millis) -> Option<Caller> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        // A clock that was put back must not make an entry live longer.
        entries.get(key).filter(|entry| now < entry.until && entry.until <= now + FRESH_MS).map(|entry| entry.caller)
    }

    fn put(&self, key: Digest32, entry: Entry, now: Millis) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= ROOM {
            entries.retain(|_, entry| now < entry.until);
            if entries.len() >= ROOM {
                entries.clear();
            }
        }
        entries.insert(key, entry);
    }
}

/// The token of `Authorization: Bearer …`.
fn bearer(headers: &HeaderMap) -> Result<&str, Error> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let missing = || Error::with(ErrorCode::TokenMissing, "send Authorization: Bearer and an access token");
    let value = values.next().ok_or_else(missing)?;
    if values.next().is_some() {
        return Err(Error::with(ErrorCode::TokenInvalid, "Authorization may appear once"));
    }
    let text = value.to_str().map_err(|_| Error::new(ErrorCode::TokenInvalid))?;
    let (scheme, token) = text.split_once(' ').unwrap_or((text, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Err(missing());
    }
    match token.trim() {
        "" => Err(missing()),
        token => Ok(token),
    }
}
