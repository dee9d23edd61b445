//! Clients, their tokens, and play money.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use crate::api::{Caller, Enrolled, Outcome};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode, Owner, Transfer, TransferCode, TransferKind};
use crate::money::Money;
use crate::store::record::{ClientRecord, Digest32, IdempotencyRecord, Key, TokenRecord};
use crate::store::{Scan, Write, typed, typed_all};
use crate::time::Millis;

use super::overlay::Overlay;
use super::{Engine, Writer};

const DAY: Millis = 86_400_000;
const IDEMPOTENCY_DAYS: Millis = 7;
/// How many expired rows one maintenance command removes of each kind.
const SWEEP: usize = 1_000;

impl Engine {
    /// Who a token speaks for.
    ///
    /// # Errors
    /// `token_invalid` if it is not one of ours (the checksum keeps typing errors from costing a read),
    /// `token_expired`, `client_suspended`.
    pub fn authenticate(&self, token: &str) -> Result<Caller> {
        let hash = token_hash(token).ok_or_else(|| Error::new(ErrorCode::TokenInvalid))?;
        let token: TokenRecord = typed(self.store.get(&Key::Token(hash))?)?.ok_or_else(|| Error::new(ErrorCode::TokenInvalid))?;
        if token.expires_at <= self.now() {
            return Err(Error::new(ErrorCode::TokenExpired));
        }
        let client: Option<ClientRecord> = typed(self.store.get(&Key::Client(token.client))?)?;
        let client = client.ok_or_else(|| Error::new(ErrorCode::TokenInvalid))?;
        if client.suspended {
            return Err(Error::new(ErrorCode::ClientSuspended));
        }
        Ok(Caller { client: client.no, client_id: client.id, mode: token.mode })
    }

    pub(super) fn enroll(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, name: &str) -> Result<Outcome> {
        let name = name.trim();
        if name.is_empty() || name.chars().count() > 100 || name.chars().any(char::is_control) {
            return Err(Error::field("/client_name", "client_name_malformed", "client_name must have 1 to 100 printable characters"));
        }
        let caller = Caller { client: ClientNo(writer.next_client), client_id: self.fresh_ulid(overlay.now), mode: Mode::Sandbox };
        writer.next_client += 1;
        overlay.insert(ClientRecord {
            no: caller.client,
            id: caller.client_id,
            name: name.to_owned(),
            suspended: false,
            created_at: overlay.now,
        });
        for money in &self.config.sandbox_funding {
            let journal = writer.journal();
            overlay.post(funding(journal, caller.client, *money, overlay.now));
        }
        let (token, token_expires_at) = self.write_token(overlay, &caller);
        Ok(Outcome::Enrolled(Box::new(Enrolled { caller, name: name.to_owned(), token, token_expires_at })))
    }

    pub(super) fn issue_token(&self, overlay: &mut Overlay<'_>, caller: &Caller) -> Result<Outcome> {
        let (token, expires_at) = self.write_token(overlay, caller);
        Ok(Outcome::Token(token, expires_at))
    }

    fn write_token(&self, overlay: &mut Overlay<'_>, caller: &Caller) -> (String, Millis) {
        let mut secret = [0u8; 32];
        self.env.random(&mut secret);
        let token = token_text(caller.mode, &secret);
        let expires_at = overlay.now + self.config.token_ttl_ms;
        overlay.insert(TokenRecord {
            hash: Sha256::digest(token.as_bytes()).into(),
            client: caller.client,
            mode: caller.mode,
            created_at: overlay.now,
            expires_at,
        });
        (token, expires_at)
    }

    pub(super) fn fund(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, caller: &Caller, money: Money) -> Result<Outcome> {
        if money.minor() <= 0 {
            return Err(Error::field("/amount", "amount_not_positive", "the amount must be more than zero"));
        }
        let account = AccountId::new(Owner::Client(caller.client), Mode::Sandbox, money.currency());
        let ledger = overlay.totals(account)?.ledger().and_then(|l| l.checked_add(money.minor()));
        ledger.filter(|l| *l < i64::MAX / 4).ok_or_else(super::overlay::overflow)?;
        overlay.post(funding(writer.journal(), caller.client, money, overlay.now));
        Ok(Outcome::Done(1))
    }

    pub(super) fn maintain(&self, overlay: &mut Overlay<'_>) -> Result<Outcome> {
        let keys = Scan::IdempotencyBefore { created: overlay.now - IDEMPOTENCY_DAYS * DAY, limit: SWEEP };
        let keys: Vec<IdempotencyRecord> = typed_all(self.store.scan(&keys)?)?;
        let tokens = Scan::TokensExpiredBefore { expired: overlay.now - DAY, limit: SWEEP };
        let tokens: Vec<TokenRecord> = typed_all(self.store.scan(&tokens)?)?;
        let gone = keys.into_iter().map(|k| Key::Idempotency((k.client, k.key))).chain(tokens.into_iter().map(|t| Key::Token(t.hash)));
        let mut count = 0;
        for key in gone {
            if !overlay.touched(&key) {
                overlay.write(Write::Delete(key));
                count += 1;
            }
        }
        Ok(Outcome::Done(count))
    }

    pub(super) fn fresh_ulid(&self, now: Millis) -> Ulid {
        let mut tail = [0u8; 16];
        self.env.random(&mut tail[6..]);
        Ulid::new(now, u128::from_be_bytes(tail))
    }
}

fn funding(journal: SettlementNo, client: ClientNo, money: Money, at: Millis) -> Transfer {
    let account = |owner| AccountId::new(owner, Mode::Sandbox, money.currency());
    Transfer {
        journal,
        n: 1,
        kind: TransferKind::Single,
        code: TransferCode::Funding,
        debit: account(Owner::Funding),
        credit: account(Owner::Client(client)),
        amount: money.minor(),
        resolves: 0,
        at,
    }
}

/// `rg_sandbox_` or `rg_live_`, then base64url of 32 random bytes and the first 4 of their SHA-256.
fn token_text(mode: Mode, secret: &[u8; 32]) -> String {
    let mut bytes = [0u8; 36];
    bytes[..32].copy_from_slice(secret);
    bytes[32..].copy_from_slice(&checksum(secret));
    format!("rg_{}_{}", mode.as_str(), URL_SAFE_NO_PAD.encode(bytes))
}

fn checksum(secret: &[u8]) -> [u8; 4] {
    let digest = Sha256::digest(secret);
    [digest[0], digest[1], digest[2], digest[3]]
}

/// The hash under which a token is kept; `None` for text that cannot be one of ours.
pub(super) fn token_hash(token: &str) -> Option<Digest32> {
    let body = Mode::ALL.iter().find_map(|mode| token.strip_prefix("rg_")?.strip_prefix(mode.as_str())?.strip_prefix('_'))?;
    let bytes = URL_SAFE_NO_PAD.decode(body).ok().filter(|b| b.len() == 36)?;
    let (secret, sum) = bytes.split_at(32);
    (checksum(secret) == sum).then(|| Sha256::digest(token.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_told_from_noise_without_a_read() {
        let token = token_text(Mode::Sandbox, &[7; 32]);
        assert!(token.starts_with("rg_sandbox_") && token.len() == 11 + 48, "{token}");
        assert_eq!(token_hash(&token), Some(Sha256::digest(token.as_bytes()).into()));
        let mut changed = token.clone();
        changed.replace_range(20..21, if &token[20..21] == "A" { "B" } else { "A" });
        for noise in ["", "rg_sandbox_", "rg_test_AAAA", "Bearer", changed.as_str(), &token[..58]] {
            assert_eq!(token_hash(noise), None, "{noise}");
        }
    }
}
