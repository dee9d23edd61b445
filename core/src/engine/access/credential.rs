//! Identifies the client behind a token or a key.

use crate::api::{Caller, Credential};
use crate::auth::{KeyId, ScopeSet, is_token_of, token_hash};
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};
use crate::store::record::{ClientRecord, Digest32, Key, KeyRecord, KeyStatus, TokenRecord};
use crate::store::{Unique, typed};
use crate::time::Millis;

impl Engine {
    /// Whether this gateway made the token: `false` for one that is mistyped or made up. Reads nothing.
    pub fn made(&self, token: &str) -> bool {
        is_token_of(&self.id_key, token)
    }

    /// The client and the key behind a token. One that this gateway did not make costs no read.
    ///
    /// # Errors
    /// `token_invalid` if the token is not one of ours or its key was revoked, `token_expired`, `client_suspended`.
    pub fn authenticate(&self, token: &str) -> Result<Credential> {
        let invalid = || Error::new(ErrorCode::TokenInvalid);
        let hash = token_hash(token).filter(|_| self.made(token)).ok_or_else(invalid)?;
        let token: TokenRecord = typed(self.store.get(&Key::Token(hash))?)?.ok_or_else(invalid)?;
        if token.expires_at <= self.now() {
            return Err(Error::with(ErrorCode::TokenExpired, "the access token has expired; get a new one at /api/v1/auth/tokens"));
        }
        let key: KeyRecord = typed(self.store.get(&Key::Key(token.key))?)?.ok_or_else(invalid)?;
        if key.status != KeyStatus::Active || key.client != token.client || key.mode != token.mode {
            return Err(invalid());
        }
        let scopes = token.scopes.both(key.scopes);
        self.credential(&key, scopes, token.expires_at)
    }

    /// The client behind a key that signs without a token.
    ///
    /// # Errors
    /// `key_unknown`, `key_revoked`, `enrollment_pending`, `client_suspended`.
    pub fn signatory(&self, id: &KeyId) -> Result<Credential> {
        let key: KeyRecord = typed(self.store.find(&Unique::KeyId(*id))?)?.ok_or_else(|| Error::new(ErrorCode::KeyUnknown))?;
        may_sign(&key)?;
        self.credential(&key, key.scopes, Millis::MAX)
    }

    fn credential(&self, key: &KeyRecord, scopes: ScopeSet, expires_at: Millis) -> Result<Credential> {
        let client: Option<ClientRecord> = typed(self.store.get(&Key::Client(key.client))?)?;
        let client = client.ok_or_else(|| Error::internal("a key's client is missing"))?;
        if client.suspended {
            return Err(Error::new(ErrorCode::ClientSuspended));
        }
        let caller = Caller { client: client.no, client_id: client.id, mode: key.mode };
        Ok(Credential { caller, key: key.no, key_id: key.id, public: key.public, scopes, expires_at })
    }

    /// Whether any node burnt this nonce.
    pub fn is_burnt(&self, hash: &Digest32) -> Result<bool> {
        Ok(self.store.get(&Key::Nonce(*hash))?.is_some())
    }
}

pub(crate) fn may_sign(key: &KeyRecord) -> Result<()> {
    match key.status {
        KeyStatus::Active => Ok(()),
        KeyStatus::Pending => Err(Error::new(ErrorCode::EnrollmentPending)),
        KeyStatus::Revoked => Err(Error::new(ErrorCode::KeyRevoked)),
    }
}
