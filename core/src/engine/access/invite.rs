//! Invitations: an operator gives out a code, with which one client enrols.

use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::Ulid;
use crate::store::Write;
use crate::store::record::{AuditAction, Digest32, InvitationRecord, Key};
use crate::time::Millis;

const PREFIX: &str = "inv_";

/// Makes an invitation.
#[derive(Debug, Clone)]
pub struct Invite {
    /// How long it is valid.
    pub ttl_ms: Millis,
}

/// An invitation, as it is given out. Its code is shown only once.
#[derive(Clone)]
pub struct Invitation {
    /// The code: `inv_…`.
    pub code: String,
    /// When it expires.
    pub expires_at: Millis,
}

impl std::fmt::Debug for Invitation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Invitation").field("expires_at", &self.expires_at).finish_non_exhaustive()
    }
}

impl Command for Invite {
    type Output = Invitation;

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<Invitation> {
        let now = d.overlay.now;
        let mut random = [0; 16];
        d.engine.env.random(&mut random);
        let code = format!("{PREFIX}{}", Ulid(u128::from_be_bytes(random)));
        let expires_at = now.saturating_add(self.ttl_ms);
        d.overlay.insert(InvitationRecord { hash: hash(&code), created_at: now, expires_at });
        Ok(Invitation { code, expires_at })
    }

    fn deed(&self, _: Option<&Invitation>) -> Option<Deed> {
        Some(Deed::new(AuditAction::Invite))
    }
}

impl Engine {
    /// Uses up an invitation. Of several callers that send the same code at once, to any node, one succeeds: a commit that removes a
    /// record fails if it is gone.
    pub(super) fn use_invitation(&self, overlay: &mut Overlay<'_>, code: Option<&str>) -> Result<()> {
        let code = code.ok_or_else(|| Error::new(ErrorCode::InvitationInvalid))?;
        let key = Key::Invitation(hash(code));
        let found: Option<InvitationRecord> = overlay.get(&key)?;
        if found.is_none_or(|invitation| invitation.expires_at <= overlay.now) {
            let detail = "the invitation is unknown, was used or has expired: ask the operator of the gateway for another one";
            return Err(Error::with(ErrorCode::InvitationInvalid, detail));
        }
        overlay.write(Write::Delete(key));
        Ok(())
    }
}

fn hash(code: &str) -> Digest32 {
    Sha256::digest(code.as_bytes()).into()
}
