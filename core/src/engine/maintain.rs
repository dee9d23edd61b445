//! Deleting expired records.

use crate::engine::group::{Command, Decision};
use crate::engine::nodes::old_nodes;
#[cfg(feature = "push")]
use crate::engine::notify::stale_notifications;
use crate::engine::operator::expire_approvals;
use crate::engine::quality::tidy_quality;
use crate::engine::review::mend;
use crate::error::Result;
use crate::store::record::{AuditRecord, DeviceCodeRecord, IdempotencyRecord, InvitationRecord, Key, MetaRecord, NonceRecord, TokenRecord};
use crate::store::{Scan, Write, typed_all};
use crate::time::Millis;

const HOUR: Millis = 3_600_000;
const DAY: Millis = 24 * HOUR;
/// How long an `Idempotency-Key` is kept.
const IDEMPOTENCY_DAYS: Millis = 7;
/// How many expired rows of each kind one maintenance command removes. If it removed that many, there may be more.
pub const SWEEP: usize = 1_000;

/// How many writes [`TryWriting`] makes.
pub(super) const ROOM: usize = 16;
/// How much each of them writes, in bytes: in all more than a payment.
const ROOM_BYTES: usize = 8_192;

/// Tries whether the store takes writes again: writes as much as a payment may need, or removes that.
#[derive(Debug, Clone)]
pub enum TryWriting {
    /// Fails where a payment would find no room.
    Write,
    /// Leaves nothing of it.
    Remove,
}

impl Command for TryWriting {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        for n in 0..ROOM {
            let name = format!("room-{n}");
            let key = Key::Meta(name.clone());
            // A process may have ended between the two.
            let is_there = d.overlay.get::<MetaRecord>(&key)?.is_some();
            let record = || MetaRecord { name, value: vec![0; ROOM_BYTES] }.into();
            match self {
                Self::Write if is_there => d.overlay.write(Write::Replace(record())),
                Self::Write => d.overlay.write(Write::Insert(record())),
                Self::Remove if is_there => d.overlay.write(Write::Delete(key)),
                Self::Remove => {}
            }
        }
        Ok(())
    }
}

/// Deletes expired records: idempotency keys after seven days, tokens a day and nonces an hour after they expire, invitations and codes
/// of devices, refusals in the audit trail and what devices measured after the configured times, the remains of webhooks, notifications
/// after 90 days, records of servers that are gone for a day, and sandbox clients that were never used. Mends the queue of reviews; turns
/// what was measured in hours into days. Returns the number of rows.
#[derive(Debug, Clone)]
pub struct Maintain;

impl Command for Maintain {
    type Output = usize;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<usize> {
        let keys = Scan::idempotency_before(d.overlay.now - IDEMPOTENCY_DAYS * DAY, SWEEP);
        let keys: Vec<IdempotencyRecord> = typed_all(d.engine.store.scan(&keys)?)?;
        let tokens = Scan::tokens_expired_before(d.overlay.now - DAY, SWEEP);
        let tokens: Vec<TokenRecord> = typed_all(d.engine.store.scan(&tokens)?)?;
        // Long after their challenge expired: a node whose clock is slow still accepts it.
        let nonces = Scan::nonces_expired_before(d.overlay.now - HOUR, SWEEP);
        let nonces: Vec<NonceRecord> = typed_all(d.engine.store.scan(&nonces)?)?;
        let invitations = Scan::invitations_expired_before(d.overlay.now, SWEEP);
        let invitations: Vec<InvitationRecord> = typed_all(d.engine.store.scan(&invitations)?)?;
        let codes = Scan::device_codes_expired_before(d.overlay.now, SWEEP);
        let codes: Vec<DeviceCodeRecord> = typed_all(d.engine.store.scan(&codes)?)?;
        let refusals = Scan::refusals_before(d.overlay.now - d.engine.config.audit_refusals_ms, SWEEP);
        let refusals: Vec<AuditRecord> = typed_all(d.engine.store.scan(&refusals)?)?;
        let keys = keys.into_iter().map(|k| Key::Idempotency((k.client, k.key)));
        let gone = keys.chain(tokens.into_iter().map(|t| Key::Token(t.hash))).chain(nonces.into_iter().map(|n| Key::Nonce(n.hash)));
        let gone = gone.chain(invitations.into_iter().map(|i| Key::Invitation(i.hash)));
        let gone = gone.chain(codes.into_iter().map(|code| Key::DeviceCode(code.hash)));
        let gone = gone.chain(refusals.into_iter().map(|r| Key::Audit(r.no)));
        let gone = gone.chain(d.engine.stale_webhooks(d.overlay, &mut d.writer.swept)?);
        #[cfg(feature = "push")]
        let gone = gone.chain(stale_notifications(d.overlay, SWEEP)?);
        let gone = gone.chain(old_nodes(d.overlay.store, d.overlay.now, SWEEP)?);
        let mut count = 0;
        for key in gone {
            if !d.overlay.touched(&key) {
                d.overlay.write(Write::Delete(key));
                count += 1;
            }
        }
        for counted in d.writer.refusals.ended(d.overlay.now, SWEEP) {
            d.record_counted(&counted);
        }
        count += mend(d.overlay, SWEEP)? + expire_approvals(d.overlay, SWEEP)?;
        count += tidy_quality(d.overlay, d.engine.config.quality_retention_ms, SWEEP)?;
        Ok(count + d.engine.expire_clients(d.overlay)?)
    }

    fn touched(removed: &usize) -> usize {
        (*removed).max(1)
    }
}
