//! The rows of who may call: clients, keys, tokens, nonces, the gateway's own secrets and the audit trail.

use super::{Bind, Bound, Cells, Read};
use crate::auth::{Algorithm, KeyId, PublicKey, ScopeSet};
use crate::ids::{ClientNo, KeyNo, Ulid};
use crate::ledger::Mode;
use crate::store::record::*;

pub(super) fn client(r: &ClientRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.no.0)?;
    b.put(r.id.0.to_be_bytes().as_slice())?;
    b.put(r.name.as_str())?;
    b.put(r.suspended)?;
    b.put(r.webhook_secret.as_slice())?;
    b.put(r.created_at)
}

pub(super) fn read_client(c: &mut Cells<'_, '_>) -> Read<ClientRecord> {
    Ok(ClientRecord {
        no: ClientNo(c.int()?),
        id: Ulid(u128::from_be_bytes(c.array()?)),
        name: c.text()?,
        suspended: c.flag()?,
        webhook_secret: c.bytes()?.to_vec(),
        created_at: c.int()?,
    })
}

pub(super) fn key(r: &KeyRecord, b: &mut Bind<'_, '_>) -> Bound {
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

pub(super) fn read_key(c: &mut Cells<'_, '_>) -> Read<KeyRecord> {
    Ok(KeyRecord {
        no: KeyNo(c.int()?),
        id: KeyId(c.array()?),
        client: ClientNo(c.int()?),
        mode: c.code(Mode::from_code)?,
        public: {
            let algorithm = c.code(Algorithm::from_code)?;
            PublicKey::from_bytes(algorithm, c.bytes()?).map_or_else(|| c.bad("a public key"), Ok)?
        },
        scopes: ScopeSet::from_bits(c.int()?),
        status: c.code(KeyStatus::from_code)?,
        label: c.optional_text()?,
        created_at: c.int()?,
        revoked_at: c.optional()?,
    })
}

pub(super) fn token(r: &TokenRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.hash.as_slice())?;
    b.put(r.client.0)?;
    b.put(r.key.0)?;
    b.put(r.mode.code())?;
    b.put(r.scopes.bits())?;
    b.put(r.created_at)?;
    b.put(r.expires_at)
}

pub(super) fn read_token(c: &mut Cells<'_, '_>) -> Read<TokenRecord> {
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

pub(super) fn nonce(r: &NonceRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.hash.as_slice())?;
    b.put(r.expires_at)
}

pub(super) fn read_nonce(c: &mut Cells<'_, '_>) -> Read<NonceRecord> {
    Ok(NonceRecord { hash: c.array()?, expires_at: c.int()? })
}

pub(super) fn secret(r: &SecretRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.kind.code())?;
    b.put(r.no)?;
    b.put(r.sealed.as_slice())?;
    b.put(r.public.as_slice())?;
    b.put(r.created_at)?;
    b.put(r.retired_at)
}

pub(super) fn read_secret(c: &mut Cells<'_, '_>) -> Read<SecretRecord> {
    Ok(SecretRecord {
        kind: c.code(SecretKind::from_code)?,
        no: c.int()?,
        sealed: c.bytes()?.to_vec(),
        public: c.bytes()?.to_vec(),
        created_at: c.int()?,
        retired_at: c.optional()?,
    })
}

pub(super) fn audit(r: &AuditRecord, b: &mut Bind<'_, '_>) -> Bound {
    b.put(r.no)?;
    b.put(r.at)?;
    b.put(r.client.0)?;
    b.put(r.key.0)?;
    b.put(r.action.code())?;
    b.put(r.target)?;
    b.put(r.name.as_deref())?;
    b.put(r.refused.as_deref())
}

pub(super) fn read_audit(c: &mut Cells<'_, '_>) -> Read<AuditRecord> {
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
