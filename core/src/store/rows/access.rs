//! The rows of who may call: clients, keys, tokens, nonces, the gateway's own secrets and the audit trail.

use super::{Bound, Read, Sink, Source};
use crate::auth::{Algorithm, KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, KeyNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::*;

pub(super) fn client<S: Sink>(r: &ClientRecord, b: &mut S) -> Bound<S> {
    b.put(r.no.0)?;
    b.put(r.id.0.to_be_bytes().as_slice())?;
    b.put(r.name.as_str())?;
    b.put(r.suspended)?;
    b.put(r.webhook_secret.as_slice())?;
    b.put(r.created_at)
}

pub(super) fn read_client(c: &mut impl Source) -> Read<ClientRecord> {
    Ok(ClientRecord {
        no: ClientNo(c.int()?),
        id: Ulid(u128::from_be_bytes(c.array()?)),
        name: c.text()?,
        suspended: c.flag()?,
        webhook_secret: c.bytes()?.to_vec(),
        created_at: c.int()?,
    })
}

pub(super) fn key<S: Sink>(r: &KeyRecord, b: &mut S) -> Bound<S> {
    b.put(r.no.0)?;
    b.put(r.id.0.as_slice())?;
    b.put(r.client.0)?;
    b.put(r.mode.code())?;
    b.put(r.public.algorithm().code())?;
    b.put(r.public.as_bytes())?;
    b.put(r.scopes.bits())?;
    b.put(r.status.code())?;
    b.put(r.label.as_deref())?;
    b.put(r.created_at)?;
    b.put(r.revoked_at)
}

pub(super) fn read_key(c: &mut impl Source) -> Read<KeyRecord> {
    Ok(KeyRecord {
        no: KeyNo(c.int()?),
        id: KeyId(c.array()?),
        client: ClientNo(c.int()?),
        mode: c.code(Mode::from_code)?,
        public: {
            let algorithm = c.code(Algorithm::from_code)?;
            PublicKey::of_row(algorithm, c.bytes()?).map_or_else(|| c.bad("a public key"), Ok)?
        },
        scopes: ScopeSet::from_bits(c.int()?),
        status: c.code(KeyStatus::from_code)?,
        label: c.optional_text()?,
        created_at: c.int()?,
        revoked_at: c.optional()?,
    })
}

pub(super) fn token<S: Sink>(r: &TokenRecord, b: &mut S) -> Bound<S> {
    b.put(r.hash.as_slice())?;
    b.put(r.client.0)?;
    b.put(r.key.0)?;
    b.put(r.mode.code())?;
    b.put(r.scopes.bits())?;
    b.put(r.created_at)?;
    b.put(r.expires_at)
}

pub(super) fn read_token(c: &mut impl Source) -> Read<TokenRecord> {
    Ok(TokenRecord {
        hash: c.array()?,
        client: ClientNo(c.int()?),
        key: KeyNo(c.int()?),
        mode: c.code(Mode::from_code)?,
        scopes: ScopeSet::from_bits(c.int()?),
        created_at: c.int()?,
        expires_at: c.int()?,
    })
}

pub(super) fn nonce<S: Sink>(r: &NonceRecord, b: &mut S) -> Bound<S> {
    b.put(r.hash.as_slice())?;
    b.put(r.expires_at)
}

pub(super) fn read_nonce(c: &mut impl Source) -> Read<NonceRecord> {
    Ok(NonceRecord { hash: c.array()?, expires_at: c.int()? })
}

pub(super) fn secret<S: Sink>(r: &SecretRecord, b: &mut S) -> Bound<S> {
    b.put(r.kind.code())?;
    b.put(r.no)?;
    b.put(r.sealed.as_slice())?;
    b.put(r.public.as_slice())?;
    b.put(r.created_at)?;
    b.put(r.retired_at)
}

pub(super) fn read_secret(c: &mut impl Source) -> Read<SecretRecord> {
    Ok(SecretRecord {
        kind: c.code(SecretKind::from_code)?,
        no: c.int()?,
        sealed: c.bytes()?.to_vec(),
        public: c.bytes()?.to_vec(),
        created_at: c.int()?,
        retired_at: c.optional()?,
    })
}

pub(super) fn audit<S: Sink>(r: &AuditRecord, b: &mut S) -> Bound<S> {
    b.put(r.no)?;
    b.put(r.at)?;
    b.put(r.client.0)?;
    b.put(r.key.0)?;
    b.put(r.action.code())?;
    b.put(r.target)?;
    b.put(r.name.as_deref())?;
    b.put(r.refused.as_deref())
}

pub(super) fn read_audit(c: &mut impl Source) -> Read<AuditRecord> {
    Ok(AuditRecord {
        no: c.int()?,
        at: c.int()?,
        client: ClientNo(c.int()?),
        key: KeyNo(c.int()?),
        action: c.code(AuditAction::from_code)?,
        target: c.int()?,
        name: c.optional_text()?,
        refused: c.optional_text()?,
    })
}
