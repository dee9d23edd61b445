//! What the operator of the gateway does to clients and to the gateway's secrets.

use crate::auth::KeyId;
use crate::engine::group::{Command, Decision, Deed, Overlay};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo, Ulid};
use crate::store::Unique;
use crate::store::record::{AuditAction, ClientRecord, KeyRecord, KeyStatus, SecretKind};

use super::keys::revoked;

/// An operator's command, recorded in the audit trail whether it succeeds or is refused.
#[derive(Debug, Clone)]
pub struct Operated<C>(
    /// The command.
    pub C,
);

impl<C: Command> Command for Operated<C> {
    type Output = C::Output;

    fn is_repeatable(&self) -> bool {
        self.0.is_repeatable()
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<C::Output> {
        let outcome = self.0.decide(d);
        match &outcome {
            Ok(_) => {}
            Err(error) if error.code.http_status() >= 500 => return outcome,
            Err(_) => d.overlay.discard(),
        }
        d.audit((ClientNo(0), KeyNo(0)), None, &self.0, &outcome);
        d.overlay.settle();
        outcome
    }
}

/// Activates a client's pending live keys: the one named, or all. Returns the client.
#[derive(Debug, Clone)]
pub struct Approve {
    /// The client's id.
    pub client: Ulid,
    /// Only this key; `None` for all pending keys.
    pub key: Option<KeyId>,
}

impl Command for Approve {
    type Output = ClientRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClientRecord> {
        let client = client(d.overlay, self.client)?;
        d.engine.require_settled(client.no)?;
        let keys = d.engine.keys_of(d.overlay, client.no)?;
        let wanted = |key: &KeyRecord| key.status == KeyStatus::Pending && self.key.is_none_or(|id| id == key.id);
        let pending: Vec<KeyRecord> = keys.into_iter().filter(wanted).collect();
        if pending.is_empty() {
            return Err(Error::with(ErrorCode::KeyNotFound, "no key of that client waits for approval"));
        }
        for key in pending {
            let read = key.version;
            d.overlay.update(KeyRecord { status: KeyStatus::Active, version: read.next(), ..key }, read);
        }
        Ok(client)
    }

    fn deed(&self, done: Option<&ClientRecord>) -> Option<Deed> {
        Some(on_client(AuditAction::ApproveClient, self.client, done))
    }
}

/// Refuses all calls of a client from now on. Returns the client as changed.
#[derive(Debug, Clone)]
pub struct Suspend(
    /// The client's id.
    pub Ulid,
);

impl Command for Suspend {
    type Output = ClientRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClientRecord> {
        set_suspended(d.overlay, self.0, true)
    }

    fn deed(&self, done: Option<&ClientRecord>) -> Option<Deed> {
        Some(on_client(AuditAction::SuspendClient, self.0, done))
    }
}

/// Accepts a suspended client's calls again. Returns the client as changed.
#[derive(Debug, Clone)]
pub struct Resume(
    /// The client's id.
    pub Ulid,
);

impl Command for Resume {
    type Output = ClientRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<ClientRecord> {
        // Only the move itself lets in a client that is on its way here.
        if d.engine.is_arriving(client(d.overlay, self.0)?.no) {
            return Err(Error::new(ErrorCode::ClientMoving));
        }
        set_suspended(d.overlay, self.0, false)
    }

    fn deed(&self, done: Option<&ClientRecord>) -> Option<Deed> {
        Some(on_client(AuditAction::ResumeClient, self.0, done))
    }
}

/// Revokes a client's key. Returns the key as changed.
#[derive(Debug, Clone)]
pub struct Revoke {
    /// The client's id.
    pub client: Ulid,
    /// The key to revoke.
    pub key: KeyId,
}

impl Command for Revoke {
    type Output = KeyRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<KeyRecord> {
        let client = client(d.overlay, self.client)?;
        d.engine.require_at_rest(client.no)?;
        let key = d.overlay.find::<KeyRecord>(&Unique::KeyId(self.key))?.filter(|key| key.client == client.no);
        Ok(revoked(d.overlay, key.ok_or_else(|| Error::new(ErrorCode::KeyNotFound))?))
    }

    fn deed(&self, done: Option<&KeyRecord>) -> Option<Deed> {
        let deed = Deed::new(AuditAction::RevokeKey).name(self.key.to_string());
        Some(match done {
            Some(key) => deed.target(key.no.0).of(key.client, KeyNo(0)),
            None => deed,
        })
    }
}

/// Makes a new secret of this kind; the old one stays valid for what was made with it.
#[derive(Debug, Clone)]
pub struct Rotate(
    /// The kind of secret.
    pub SecretKind,
);

impl Command for Rotate {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        false
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        d.engine.rotate(d.overlay, self.0)
    }

    fn deed(&self, _: Option<&()>) -> Option<Deed> {
        Some(Deed::new(AuditAction::RotateSecret).name(self.0.as_str()))
    }
}

fn client(overlay: &Overlay<'_>, id: Ulid) -> Result<ClientRecord> {
    overlay.find(&Unique::ClientId(id))?.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))
}

fn set_suspended(overlay: &mut Overlay<'_>, id: Ulid, suspended: bool) -> Result<ClientRecord> {
    let client = client(overlay, id)?;
    let read = client.version;
    let client = ClientRecord { suspended, version: read.next(), ..client };
    overlay.update(client.clone(), read);
    Ok(client)
}

/// An audit record of an operator's act, listed among those of the client concerned.
fn on_client(action: AuditAction, id: Ulid, done: Option<&ClientRecord>) -> Deed {
    let deed = Deed::new(action).name(format!("cli_{id}"));
    match done {
        Some(client) => deed.target(client.no.0).of(client.no, KeyNo(0)),
        None => deed,
    }
}
