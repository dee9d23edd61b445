//! Invitations: an operator gives out a code, with which one client enrols, and may withdraw it before.

use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::Ulid;
use crate::store::record::{AuditAction, Digest32, InvitationRecord, Key};
use crate::store::{Scan, Write, typed_all};
use crate::time::Millis;

const PREFIX: &str = "inv_";

/// Names an invitation without telling its code: the first bytes of the code's hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvitationId([u8; 6]);

impl InvitationId {
    /// The name of a stored invitation.
    pub fn of(invitation: &InvitationRecord) -> Self {
        Self::named(&invitation.hash)
    }

    /// Parses what is displayed.
    pub fn parse(text: &str) -> Option<Self> {
        let mut id = [0; 6];
        let whole = base16ct::lower::decode(text, &mut id).is_ok_and(|bytes| bytes.len() == 6);
        whole.then_some(Self(id))
    }

    fn named(hash: &Digest32) -> Self {
        let mut id = [0; 6];
        id.copy_from_slice(&hash[..6]);
        Self(id)
    }
}

/// As 12 hexadecimal digits.
impl fmt::Display for InvitationId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&base16ct::lower::encode_string(&self.0))
    }
}

/// Makes an invitation.
#[derive(Debug, Clone)]
pub struct Invite {
    /// How long it is valid.
    pub ttl_ms: Millis,
}

/// An invitation, as it is given out. Its code is shown only once.
#[derive(Clone)]
pub struct Invitation {
    /// Names it from now on.
    pub id: InvitationId,
    /// The code: `inv_…`.
    pub code: String,
    /// When it expires.
    pub expires_at: Millis,
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invitation").field("id", &self.id).field("expires_at", &self.expires_at).finish_non_exhaustive()
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
        let hash = hash(&code);
        d.overlay.insert(InvitationRecord { hash, created_at: now, expires_at });
        Ok(Invitation { id: InvitationId::named(&hash), code, expires_at })
    }

    fn deed(&self, done: Option<&Invitation>) -> Option<Deed> {
        let deed = Deed::new(AuditAction::Invite);
        Some(match done {
            Some(invitation) => deed.name(invitation.id.to_string()),
            None => deed,
        })
    }
}

/// Withdraws an invitation that was not used: its code enrols nobody.
#[derive(Debug, Clone)]
pub struct WithdrawInvitation(
    /// Its name.
    pub InvitationId,
);

impl Command for WithdrawInvitation {
    type Output = ();

    /// The second attempt finds nothing to withdraw.
    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let mut from = [0; 32];
        from[..6].copy_from_slice(&self.0.0);
        let found: Vec<InvitationRecord> = typed_all(d.overlay.store.scan(&Scan::after(&Key::Invitation(from), 1))?)?;
        let unknown = || Error::with(ErrorCode::InvitationInvalid, "there is no such invitation: it was used or withdrawn, or has expired");
        let named = found.first().filter(|invitation| InvitationId::of(invitation) == self.0).ok_or_else(unknown)?;
        let key = Key::Invitation(named.hash);
        // Another command of this group may have used it.
        d.overlay.get::<InvitationRecord>(&key)?.ok_or_else(unknown)?;
        d.overlay.write(Write::Delete(key));
        Ok(())
    }

    fn deed(&self, _: Option<&()>) -> Option<Deed> {
        Some(Deed::new(AuditAction::WithdrawInvitation).name(self.0.to_string()))
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
