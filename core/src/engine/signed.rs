//! Signed commands: the nonce is used up and the deed recorded in the same commit as the change.

use crate::api::{Command, Operation, Outcome, SignedBy, WebhookChange, WebhookDone};
use crate::auth::Nonce;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo};
use crate::store::record::{
    AuditAction, AuditRecord, ClientRecord, IdempotencyRecord, Key, KeyRecord, KeyStatus, NonceRecord, TokenRecord,
};
use crate::store::{Scan, Write, typed_all};
use crate::time::Millis;

use super::overlay::Overlay;
use super::{Engine, Writer};

const HOUR: Millis = 3_600_000;
const DAY: Millis = 24 * HOUR;
const IDEMPOTENCY_DAYS: Millis = 7;
/// How many rows past their time one maintenance command removes of each kind. If it removed so many, there may be more.
pub const SWEEP: usize = 1_000;

/// What an audit record says of a command, besides who and when.
struct Deed {
    action: AuditAction,
    client: ClientNo,
    key: KeyNo,
    /// The number of what it concerns, 0 if it has none (yet).
    target: i64,
    /// What the caller named.
    name: Option<String>,
}

impl Engine {
    /// Decides a command that a client signed.
    ///
    /// Whatever becomes of the command, the nonce is spent: the same call sent again, at any node, does nothing. A
    /// create that succeeds needs no such row, since its reference tells a replay; a refused one does, for it might
    /// succeed later.
    pub(super) fn signed(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, by: &SignedBy, command: &Command) -> Result<Outcome> {
        let creates = matches!(command, Command::Create { .. });
        if creates {
            // Hosts look for a burnt nonce before they hand a create over, unless that is a journey for each. Those that this
            // group burns do not count: they may belong to elements of the same batch.
            if self.store.is_remote() && overlay.stored(&Key::Nonce(by.nonce.hash))?.is_some() {
                return Err(Error::new(ErrorCode::NonceReplayed));
            }
        } else {
            self.still_may_sign(overlay, by)?;
            self.burn(overlay, &by.nonce)?;
            overlay.settle();
        }
        let outcome = self.decide(overlay, writer, command);
        match &outcome {
            // Nothing was done, so that there is nothing to record; what a reversal's nonce cost is settled.
            Ok(Outcome::Created { replayed: true, .. } | Outcome::Reversed { replayed: true, .. }) => return outcome,
            Ok(_) => {}
            Err(error) if error.code.http_status() >= 500 && error.code != ErrorCode::NoRoute => return outcome,
            Err(_) => {
                overlay.discard();
                if creates && !self.spent(overlay, &by.nonce)? {
                    overlay.insert(record(&by.nonce));
                }
            }
        }
        if let Some(deed) = deed(command, by.client, by.key, &outcome) {
            self.audit(overlay, writer, deed, outcome.as_ref().err());
        }
        overlay.settle();
        outcome
    }

    /// A host remembers credentials for some seconds. What they could do for good within these, such as adding a key
    /// before theirs is found revoked, is looked at once more. A create is not: it costs no read.
    fn still_may_sign(&self, overlay: &Overlay<'_>, by: &SignedBy) -> Result<()> {
        if by.key == KeyNo(0) {
            return Ok(());
        }
        let key: Option<KeyRecord> = overlay.get(&Key::Key(by.key))?;
        let client: Option<ClientRecord> = overlay.get(&Key::Client(by.client))?;
        if key.is_none_or(|key| key.status != KeyStatus::Active) {
            return Err(Error::new(ErrorCode::KeyRevoked));
        }
        if client.is_none_or(|client| client.suspended) {
            return Err(Error::new(ErrorCode::ClientSuspended));
        }
        Ok(())
    }

    /// Decides what an operator asked for, and records it.
    pub(super) fn operated(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        command: &Command,
        operation: &Operation,
    ) -> Result<Outcome> {
        let outcome = self.operate(overlay, operation);
        match &outcome {
            Ok(_) => {}
            Err(error) if error.code.http_status() >= 500 => return outcome,
            Err(_) => overlay.discard(),
        }
        if let Some(deed) = deed(command, ClientNo(0), KeyNo(0), &outcome) {
            self.audit(overlay, writer, deed, outcome.as_ref().err());
        }
        overlay.settle();
        outcome
    }

    fn spent(&self, overlay: &Overlay<'_>, nonce: &Nonce) -> Result<bool> {
        Ok(overlay.get::<NonceRecord>(&Key::Nonce(nonce.hash))?.is_some())
    }

    fn burn(&self, overlay: &mut Overlay<'_>, nonce: &Nonce) -> Result<()> {
        if self.spent(overlay, nonce)? {
            return Err(Error::new(ErrorCode::NonceReplayed));
        }
        overlay.insert(record(nonce));
        Ok(())
    }

    fn audit(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, deed: Deed, refused: Option<&Error>) {
        overlay.insert(AuditRecord {
            no: writer.audit_no(overlay.now),
            at: overlay.now,
            client: deed.client,
            key: deed.key,
            action: deed.action,
            target: deed.target,
            name: if deed.target == 0 { deed.name } else { None },
            refused: refused.map(|error| error.code.as_str().to_owned()),
        });
    }

    pub(super) fn maintain(&self, overlay: &mut Overlay<'_>, writer: &mut Writer) -> Result<Outcome> {
        let keys = Scan::idempotency_before(overlay.now - IDEMPOTENCY_DAYS * DAY, SWEEP);
        let keys: Vec<IdempotencyRecord> = typed_all(self.store.scan(&keys)?)?;
        let tokens = Scan::tokens_expired_before(overlay.now - DAY, SWEEP);
        let tokens: Vec<TokenRecord> = typed_all(self.store.scan(&tokens)?)?;
        // Long after their challenge ended: a node whose clock is slow still takes it.
        let nonces = Scan::nonces_expired_before(overlay.now - HOUR, SWEEP);
        let nonces: Vec<NonceRecord> = typed_all(self.store.scan(&nonces)?)?;
        let keys = keys.into_iter().map(|k| Key::Idempotency((k.client, k.key)));
        let gone = keys.chain(tokens.into_iter().map(|t| Key::Token(t.hash))).chain(nonces.into_iter().map(|n| Key::Nonce(n.hash)));
        let gone = gone.chain(self.stale_webhooks(overlay, &mut writer.swept)?);
        let mut count = 0;
        for key in gone {
            if !overlay.touched(&key) {
                overlay.write(Write::Delete(key));
                count += 1;
            }
        }
        Ok(Outcome::Done(count))
    }
}

fn record(nonce: &Nonce) -> NonceRecord {
    NonceRecord { hash: nonce.hash, expires_at: nonce.expires_at }
}

/// What to record of a command; `None` for what is no deed of a client or an operator.
fn deed(command: &Command, client: ClientNo, key: KeyNo, outcome: &Result<Outcome>) -> Option<Deed> {
    let done = outcome.as_ref().ok();
    let of_key = || match done {
        Some(Outcome::Key(key)) => i64::from(key.no.0),
        _ => 0,
    };
    let plain = |action, target, name| Deed { action, client, key, target, name };
    Some(match command {
        Command::Enroll { name, .. } => match done {
            // Only now it is known who it was.
            Some(Outcome::Enrolled(enrolled)) => Deed {
                client: enrolled.caller.client,
                key: enrolled.key.as_ref().map_or(KeyNo(0), |key| key.no),
                ..plain(AuditAction::Enroll, i64::from(enrolled.caller.client.0), None)
            },
            _ => plain(AuditAction::Enroll, 0, Some(name.clone())),
        },
        Command::EnrollLive { key, .. } => plain(AuditAction::EnrollLive, of_key(), Some(key.id().to_string())),
        Command::IssueToken { key, .. } => plain(AuditAction::IssueToken, i64::from(key.0), None),
        Command::RevokeToken { .. } => plain(AuditAction::RevokeToken, i64::from(key.0), None),
        Command::AddKey { key, .. } => plain(AuditAction::AddKey, of_key(), Some(key.id().to_string())),
        Command::RevokeKey { key, .. } => plain(AuditAction::RevokeKey, of_key(), Some(key.to_string())),
        Command::Fund { money, .. } => plain(AuditAction::Fund, 0, Some(money.currency().code().to_owned())),
        Command::Create { request, .. } => {
            let no = match done {
                Some(Outcome::Created { settlement, .. }) => settlement.no.0,
                _ => 0,
            };
            plain(AuditAction::CreateSettlement, no, Some(request.reference.as_str().to_owned()))
        }
        Command::Reverse { target, .. } => {
            let no = match done {
                Some(Outcome::Reversed { settlement, .. }) => settlement.no.0,
                _ => 0,
            };
            plain(AuditAction::ReverseSettlement, no, Some(target.to_string()))
        }
        Command::Note { action, target } => plain(*action, target.0, None),
        Command::Webhook { change, .. } => webhook_deed(change, done, plain),
        Command::Operate(operation) => operated_deed(operation, done),
        Command::Signed { .. }
        | Command::Lease { .. }
        | Command::Answer { .. }
        | Command::Simulate(_)
        | Command::Log { .. }
        | Command::LeaseQueues { .. }
        | Command::Delivered { .. }
        | Command::Tested { .. }
        | Command::Recover
        | Command::Release
        | Command::Maintain => return None,
    })
}

/// What was done to which webhook: its number where it is known, its id where the call only named one.
fn webhook_deed(change: &WebhookChange, done: Option<&Outcome>, plain: impl Fn(AuditAction, i64, Option<String>) -> Deed) -> Deed {
    let no = match done {
        Some(Outcome::Webhook(WebhookDone::Webhook(endpoint, _))) => i64::from(endpoint.no.0),
        Some(Outcome::Webhook(WebhookDone::Prepared(parcel))) => i64::from(parcel.endpoint.0),
        Some(Outcome::Webhook(WebhookDone::Queued(delivery))) => i64::from(delivery.endpoint.0),
        _ => 0,
    };
    let (action, name) = match change {
        // A URL that is refused may hold what is nobody's business.
        WebhookChange::Create(_) => (AuditAction::CreateWebhook, "a webhook".to_owned()),
        WebhookChange::Update { id, .. } => (AuditAction::UpdateWebhook, format!("whk_{id}")),
        WebhookChange::Delete { id } => (AuditAction::DeleteWebhook, format!("whk_{id}")),
        WebhookChange::Rotate { id, .. } => (AuditAction::RotateWebhookSecret, format!("whk_{id}")),
        WebhookChange::Enable { id } => (AuditAction::EnableWebhook, format!("whk_{id}")),
        WebhookChange::Test { id, .. } => (AuditAction::TestWebhook, format!("whk_{id}")),
        WebhookChange::Redeliver { id, .. } => (AuditAction::RedeliverWebhook, format!("whk_{id}")),
        WebhookChange::Replay { id, .. } => (AuditAction::ReplayWebhook, format!("whk_{id}")),
    };
    plain(action, no, Some(name))
}

/// An operator's deed counts among the client's that it concerns.
fn operated_deed(operation: &Operation, done: Option<&Outcome>) -> Deed {
    let (client, target) = match done {
        Some(Outcome::Client(client)) => (client.no, i64::from(client.no.0)),
        Some(Outcome::Key(key)) => (key.client, i64::from(key.no.0)),
        _ => (ClientNo(0), 0),
    };
    let (action, name) = match operation {
        Operation::Approve { client, .. } => (AuditAction::ApproveClient, format!("cli_{client}")),
        Operation::Suspend(client) => (AuditAction::SuspendClient, format!("cli_{client}")),
        Operation::Resume(client) => (AuditAction::ResumeClient, format!("cli_{client}")),
        Operation::Revoke { key, .. } => (AuditAction::RevokeKey, key.to_string()),
        Operation::Rotate(kind) => (AuditAction::RotateSecret, kind.as_str().to_owned()),
    };
    Deed { action, client, key: KeyNo(0), target, name: Some(name) }
}
