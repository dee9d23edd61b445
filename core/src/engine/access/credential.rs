//! Identifies the client behind a token or a key.

use crate::api::{Caller, Credential};
use crate::auth::{KeyId, ScopeSet, token_end, token_hash};
use crate::engine::Engine;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::Ulid;
use crate::store::record::{ClientRecord, Digest32, Key, KeyRecord, KeyStatus, NonceRecord, OperatorRecord, TokenRecord};
use crate::store::{Scan, Unique, typed};
use crate::time::Millis;

impl Engine {
    /// Refuses a token that is mistyped, made up or long over. Reads nothing.
    ///
    /// # Errors
    /// `token_invalid` if this gateway did not make the token, `token_expired`.
    pub fn check_token(&self, token: &str) -> Result<()> {
        let end = token_end(&self.id_key, token).ok_or_else(|| Error::new(ErrorCode::TokenInvalid))?;
        if end <= self.now() { Err(token_expired()) } else { Ok(()) }
    }

    /// The client and the key behind a token. One that [`Engine::check_token`] refuses costs no read.
    ///
    /// # Errors
    /// `token_invalid` if the token is not one of ours or its key was revoked, `token_expired`, `client_suspended`.
    pub fn authenticate(&self, token: &str) -> Result<Credential> {
        let invalid = || Error::new(ErrorCode::TokenInvalid);
        self.check_token(token)?;
        let hash = token_hash(token).ok_or_else(invalid)?;
        let token: TokenRecord = typed(self.store.get(&Key::Token(hash))?)?.ok_or_else(invalid)?;
        if token.expires_at <= self.now() {
            return Err(token_expired());
        }
        let key: KeyRecord = typed(self.store.get(&Key::Key(token.key))?)?.ok_or_else(invalid)?;
        if key.status != KeyStatus::Active || key.client != token.client || key.mode != token.mode {
            return Err(invalid());
        }
        let scopes = token.scopes.both(key.scopes);
        let session = self.session_key(&token);
        Ok(Credential { session, ..self.credential(&key, scopes, token.expires_at)? })
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
        let caller = self.signing_caller(key)?;
        Ok(Credential { caller, key: key.no, key_id: key.id, public: key.public, scopes, expires_at, session: None })
    }

    /// The client, the client's end user or the operator who signs with this key.
    fn signing_caller(&self, key: &KeyRecord) -> Result<Caller> {
        if let Some(no) = key.client.user() {
            let (user, client_id) = self.signing_user(no)?;
            return Ok(Caller { user: Some(no), ..Caller::client(user.client, client_id, user.mode) });
        }
        Ok(Caller::client(key.client, self.signing_id(key)?, key.mode))
    }

    /// The id of the client or operator who signs with this key.
    fn signing_id(&self, key: &KeyRecord) -> Result<Ulid> {
        if let Some(no) = key.client.operator() {
            // Whoever is revoked has no key that is active.
            let operator: Option<OperatorRecord> = typed(self.store.get(&Key::Operator(no))?)?;
            return operator.map(|operator| operator.id).ok_or_else(|| Error::internal("a key's operator is missing"));
        }
        let client: Option<ClientRecord> = typed(self.store.get(&Key::Client(key.client))?)?;
        let client = client.ok_or_else(|| Error::internal("a key's client is missing"))?;
        match client.suspended {
            true if self.is_arriving(client.no) => Err(Error::new(ErrorCode::ClientMoving)),
            true => Err(Error::new(ErrorCode::ClientSuspended)),
            false => Ok(client.id),
        }
    }

    /// Whether any node burnt this nonce.
    pub fn is_burnt(&self, hash: &Digest32) -> Result<bool> {
        Ok(self.store.get(&Key::Nonce(*hash))?.is_some())
    }

    /// When all nonces that are burnt by now have expired.
    pub fn burnt_until(&self) -> Result<Millis> {
        let last: Option<NonceRecord> = typed(self.store.scan(&Scan::last_nonce())?.pop())?;
        Ok(last.map_or(Millis::MIN, |nonce| nonce.expires_at))
    }
}

fn token_expired() -> Error {
    Error::with(ErrorCode::TokenExpired, "the access token has expired; get a new one at /api/v1/auth/tokens")
}

pub(crate) fn may_sign(key: &KeyRecord) -> Result<()> {
    match key.status {
        KeyStatus::Active => Ok(()),
        KeyStatus::Pending => Err(Error::new(ErrorCode::EnrollmentPending)),
        KeyStatus::Revoked => Err(Error::new(ErrorCode::KeyRevoked)),
    }
}
