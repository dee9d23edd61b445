//! Issuing and revoking access tokens.

use sha2::{Digest, Sha256};

use crate::api::{Caller, IssuedSession, IssuedToken};
use crate::auth::{Agreement, EphemeralKey, EphemeralSecret, ScopeSet, SessionBinding, SessionId, SessionKey, token_text};
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::engine::{Engine, Stays};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo};
use crate::ledger::Mode;
use crate::store::Write;
use crate::store::record::{AuditAction, Digest32, Key, KeyRecord, TokenRecord};
use crate::terms::SessionUse;

use super::credential::may_sign;

/// Issues a token to a key that has signed.
#[derive(Debug, Clone)]
pub struct IssueToken {
    /// The key that signed.
    pub key: KeyNo,
    /// The token's scopes, at most those of the key; `None` for all scopes of the key.
    pub scopes: Option<ScopeSet>,
    /// What [`Engine::agree`] agreed on, if the client wants a session.
    pub session: Option<Agreement>,
}

impl Command for IssueToken {
    type Output = IssuedToken;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn stays(&self) -> Stays {
        Stays::Always
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<IssuedToken> {
        // Check again: the key may have been revoked since the call was checked.
        let key: KeyRecord = d.overlay.get(&Key::Key(self.key))?.ok_or_else(|| Error::new(ErrorCode::KeyUnknown))?;
        may_sign(&key)?;
        let scopes = self.scopes.unwrap_or(key.scopes);
        if scopes.both(key.scopes) != scopes || scopes.is_empty() {
            return Err(Error::with(ErrorCode::InsufficientScope, format!("the key only has the scopes: {}", key.scopes)));
        }
        Ok(d.engine.write_token(d.overlay, &key, scopes, self.session.as_ref()))
    }

    fn deed(&self, _: Option<&IssuedToken>) -> Option<Deed> {
        Some(Deed::new(AuditAction::IssueToken).target(self.key.0))
    }
}

/// Revokes one of the caller's tokens and returns whether it existed. A token that does not exist or is not the caller's counts as
/// revoked (RFC 7009): it cannot be used.
#[derive(Debug, Clone)]
pub struct RevokeToken {
    /// The client that owns the token.
    pub caller: Caller,
    /// The key that signed the call.
    pub key: KeyNo,
    /// SHA-256 of the token's text.
    pub token: Digest32,
}

impl Command for RevokeToken {
    type Output = bool;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn stays(&self) -> Stays {
        Stays::Always
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<bool> {
        let Self { caller, token: hash, .. } = self;
        let token: Option<TokenRecord> = d.overlay.get(&Key::Token(*hash))?;
        let own = token.filter(|token| token.client == caller.party() && caller.sees(token.mode));
        if own.is_some() {
            d.overlay.write(Write::Delete(Key::Token(*hash)));
        }
        Ok(own.is_some())
    }

    fn deed(&self, _: Option<&bool>) -> Option<Deed> {
        Some(Deed::new(AuditAction::RevokeToken).target(self.key.0))
    }
}

impl Engine {
    pub(crate) fn write_token(
        &self,
        overlay: &mut Overlay<'_>,
        key: &KeyRecord,
        scopes: ScopeSet,
        agreed: Option<&Agreement>,
    ) -> IssuedToken {
        let expires_at = overlay.now + self.config.token_ttl_ms;
        let text = token_text(&self.id_key, key.mode, &self.random32(), expires_at);
        let hash: Digest32 = Sha256::digest(text.as_bytes()).into();
        let (session, sealed) = agreed.and_then(|agreed| self.begin_session(key, (&text, &hash), agreed)).unzip();
        overlay.insert(TokenRecord {
            hash,
            client: key.client,
            key: key.no,
            mode: key.mode,
            scopes,
            created_at: overlay.now,
            expires_at,
            session: sealed,
        });
        IssuedToken { text, scopes, expires_at, session }
    }

    /// Agrees on a secret with the owner of an ephemeral key, for a session. The arithmetic is done here, before the token is issued among
    /// the commands of others.
    ///
    /// # Errors
    /// `invalid_fields` if everybody would know the secret.
    pub fn agree(&self, theirs: &EphemeralKey) -> Result<Agreement> {
        // One draw in 2^32 is no scalar of P-256.
        let ours = std::iter::repeat_with(|| EphemeralSecret::new(theirs.curve(), *self.random32())).take(8).flatten().next();
        let agreed = ours.and_then(|ours| Agreement::with(theirs, &ours));
        agreed.ok_or_else(|| Error::field("/session/jwk/x", "malformed_key", "is a point of small order: everybody would know the secret"))
    }

    /// Begins the session of a token; `None` if the client's sessions may sign nothing, and without a master key. Returns the gateway's
    /// half and the sealed key.
    fn begin_session(&self, key: &KeyRecord, (text, hash): (&str, &Digest32), agreed: &Agreement) -> Option<(IssuedSession, Vec<u8>)> {
        let signs = self.session_use(key.client, key.mode);
        if signs == SessionUse::Off {
            return None;
        }
        let mut id = [0; 16];
        self.env.random(&mut id);
        let id = SessionId(id);
        let shared = agreed.derive(&SessionBinding { token: text, mode: key.mode, key: key.id, session: id });
        let sealed = self.seal(&session_place(hash), &*shared.to_bytes())?;
        Some((IssuedSession { id, public: agreed.public, signs }, sealed))
    }

    /// Which calls the sessions of a client, or of an operator, may sign.
    pub fn session_use(&self, client: ClientNo, mode: Mode) -> SessionUse {
        match client.operator() {
            Some(_) => SessionUse::Reads,
            None => self.terms(client).session_use(mode),
        }
    }

    /// The key of a token's session. One that does not open is none: its owner signs with the key itself.
    pub(super) fn session_key(&self, token: &TokenRecord) -> Option<SessionKey> {
        let opened = self.unseal(&session_place(&token.hash), token.session.as_deref()?).ok()?;
        SessionKey::from_bytes(&opened)
    }
}

/// Names a session's key; the additional data under which it is sealed.
fn session_place(token: &Digest32) -> String {
    format!("token/{}/session", base16ct::lower::encode_string(token))
}
