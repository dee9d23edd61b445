//! Issuing and revoking access tokens.

use sha2::{Digest, Sha256};

use crate::api::{Caller, IssuedToken};
use crate::auth::{ScopeSet, token_text};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::KeyNo;
use crate::store::Write;
use crate::store::record::{AuditAction, Digest32, Key, KeyRecord, TokenRecord};

use super::credential::may_sign;

/// Issues a token to a key that has signed.
#[derive(Debug, Clone)]
pub struct IssueToken {
    /// The key that signed.
    pub key: KeyNo,
    /// The token's scopes, at most those of the key; `None` for all scopes of the key.
    pub scopes: Option<ScopeSet>,
}

impl Command for IssueToken {
    type Output = IssuedToken;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<IssuedToken> {
        // Check again: the key may have been revoked since the call was checked.
        let key: KeyRecord = d.overlay.get(&Key::Key(self.key))?.ok_or_else(|| Error::new(ErrorCode::KeyUnknown))?;
        may_sign(&key)?;
        let scopes = self.scopes.unwrap_or(key.scopes);
        if scopes.both(key.scopes) != scopes || scopes.is_empty() {
            return Err(Error::with(ErrorCode::InsufficientScope, format!("the key only has the scopes: {}", key.scopes)));
        }
        Ok(d.engine.write_token(d.overlay, &key, scopes))
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

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<bool> {
        let Self { caller, token: hash, .. } = self;
        let token: Option<TokenRecord> = d.overlay.get(&Key::Token(*hash))?;
        let own = token.filter(|token| token.client == caller.client && caller.sees(token.mode));
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
    pub(crate) fn write_token(&self, overlay: &mut Overlay<'_>, key: &KeyRecord, scopes: ScopeSet) -> IssuedToken {
        let mut secret = [0u8; 32];
        self.env.random(&mut secret);
        let expires_at = overlay.now + self.config.token_ttl_ms;
        let text = token_text(&self.id_key, key.mode, &secret, expires_at);
        overlay.insert(TokenRecord {
            hash: Sha256::digest(text.as_bytes()).into(),
            client: key.client,
            key: key.no,
            mode: key.mode,
            scopes,
            created_at: overlay.now,
            expires_at,
        });
        IssuedToken { text, scopes, expires_at }
    }
}
