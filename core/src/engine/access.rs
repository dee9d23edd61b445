//! Clients, their keys and tokens, and play money.

use sha2::{Digest, Sha256};

use crate::api::{Caller, Credential, Enrolled, IssuedToken, KeyView, Operation, Outcome};
use crate::auth::{KeyId, PublicKey, ScopeSet, token_hash, token_text};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{ClientNo, KeyNo, SettlementNo, Ulid};
use crate::ledger::{AccountId, Mode, Owner, Transfer, TransferCode, TransferKind};
use crate::money::Money;
use crate::store::record::{ClientRecord, Digest32, Key, KeyRecord, KeyStatus, Record, TokenRecord};
use crate::store::{Scan, Unique, Write, typed, typed_all};
use crate::time::Millis;
use crate::webhook::WebhookSecret;

use super::overlay::Overlay;
use super::secrets::webhook_place;
use super::{Engine, Writer};

/// How many keys a client may have that are not revoked.
const MOST_KEYS: usize = 50;

impl Engine {
    /// Who a token speaks for, and with which key.
    ///
    /// # Errors
    /// `token_invalid` if it is not one of ours (the checksum keeps typing errors from costing a read) or its key was
    /// revoked, `token_expired`, `client_suspended`.
    pub fn authenticate(&self, token: &str) -> Result<Credential> {
        let invalid = || Error::new(ErrorCode::TokenInvalid);
        let hash = token_hash(token).ok_or_else(invalid)?;
        let token: TokenRecord = typed(self.store.get(&Key::Token(hash))?)?.ok_or_else(invalid)?;
        if token.expires_at <= self.now() {
            return Err(Error::with(ErrorCode::TokenExpired, "the access token has expired; take a fresh one at /api/v1/auth/tokens"));
        }
        let key: KeyRecord = typed(self.store.get(&Key::Key(token.key))?)?.ok_or_else(invalid)?;
        if key.status != KeyStatus::Active || key.client != token.client || key.mode != token.mode {
            return Err(invalid());
        }
        let scopes = token.scopes.both(key.scopes);
        self.credential(&key, scopes, token.expires_at)
    }

    /// Who a key speaks for that signs without a token.
    ///
    /// # Errors
    /// `key_unknown`, `key_revoked`, `enrollment_pending`, `client_suspended`.
    pub fn signatory(&self, id: &KeyId) -> Result<Credential> {
        let key: KeyRecord = typed(self.store.find(&Unique::KeyId(*id))?)?.ok_or_else(|| Error::new(ErrorCode::KeyUnknown))?;
        may_sign(&key)?;
        self.credential(&key, key.scopes, Millis::MAX)
    }

    fn credential(&self, key: &KeyRecord, scopes: ScopeSet, expires_at: Millis) -> Result<Credential> {
        let client: Option<ClientRecord> = typed(self.store.get(&Key::Client(key.client))?)?;
        let client = client.ok_or_else(|| Error::internal("a key's client is missing"))?;
        if client.suspended {
            return Err(Error::new(ErrorCode::ClientSuspended));
        }
        let caller = Caller { client: client.no, client_id: client.id, mode: key.mode };
        Ok(Credential { caller, key: key.no, key_id: key.id, public: key.public, scopes, expires_at })
    }

    /// Whether some node burnt this nonce.
    pub fn is_burnt(&self, hash: &Digest32) -> Result<bool> {
        Ok(self.store.get(&Key::Nonce(*hash))?.is_some())
    }

    /// The caller's keys of its own mode, oldest first; a live caller sees those of the sandbox too.
    pub fn keys(&self, caller: &Caller) -> Result<Vec<KeyView>> {
        let keys: Vec<KeyRecord> = typed_all(self.store.scan(&Scan::keys_of(caller.client))?)?;
        Ok(keys.iter().filter(|key| sees(caller, key)).map(KeyView::from).collect())
    }

    pub(super) fn enroll(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, name: &str, key: Option<&PublicKey>) -> Result<Outcome> {
        let mut webhook_secret = None;
        let (caller, name) = self.enroll_client(overlay, writer, name, |client| {
            let (text, sealed) = self.new_webhook_secret(client)?;
            webhook_secret = Some(text);
            Some(sealed)
        })?;
        let key = key.map(|key| self.new_key(overlay, writer, &caller, key, ScopeSet::CLIENT)).transpose()?;
        let token = key.as_ref().map(|key| self.write_token(overlay, key, key.scopes));
        if let Some(key) = &key {
            overlay.insert(key.clone());
        }
        Ok(Outcome::Enrolled(Box::new(Enrolled { caller, name, key, token, webhook_secret })))
    }

    /// A client with funded sandbox accounts and no key, and its name as it is kept.
    pub(super) fn enroll_client(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        name: &str,
        webhook_secret: impl FnOnce(ClientNo) -> Option<Vec<u8>>,
    ) -> Result<(Caller, String)> {
        let name = printable(name, "client_name")?;
        let caller = Caller { client: ClientNo(writer.next_client), client_id: self.fresh_ulid(overlay.now), mode: Mode::Sandbox };
        writer.next_client += 1;
        let (no, id) = (caller.client, caller.client_id);
        let webhook_secret = webhook_secret(no).unwrap_or_default();
        overlay.insert(ClientRecord { no, id, name: name.clone(), suspended: false, webhook_secret, created_at: overlay.now });
        for money in &self.config.sandbox_funding {
            let journal = writer.journal();
            overlay.post(funding(journal, caller.client, *money, overlay.now));
        }
        Ok((caller, name))
    }

    /// The secret's text, and how it is kept.
    fn new_webhook_secret(&self, client: ClientNo) -> Option<(String, Vec<u8>)> {
        let mut bytes = [0u8; 32];
        self.env.random(&mut bytes);
        let secret = WebhookSecret::from_bytes(bytes);
        let sealed = self.seal(&webhook_place(client), secret.as_bytes())?;
        Some((secret.to_text().to_string(), sealed))
    }

    pub(super) fn enroll_live(&self, overlay: &mut Overlay<'_>, writer: &mut Writer, caller: &Caller, key: &PublicKey) -> Result<Outcome> {
        let live = Caller { mode: Mode::Live, ..*caller };
        self.check_room(overlay, caller.client)?;
        let mut key = self.new_key(overlay, writer, &live, key, ScopeSet::CLIENT)?;
        key.status = KeyStatus::Pending;
        overlay.insert(key.clone());
        Ok(Outcome::Key(Box::new(key)))
    }

    pub(super) fn add_key(
        &self,
        overlay: &mut Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        key: &PublicKey,
        label: Option<&str>,
        scopes: ScopeSet,
    ) -> Result<Outcome> {
        let label = label.map(|label| printable(label, "label")).transpose()?;
        self.check_room(overlay, caller.client)?;
        let key = KeyRecord { label, ..self.new_key(overlay, writer, caller, key, scopes)? };
        overlay.insert(key.clone());
        Ok(Outcome::Key(Box::new(key)))
    }

    /// A client's keys, as this group left them.
    fn keys_of(&self, overlay: &Overlay<'_>, client: ClientNo) -> Result<Vec<KeyRecord>> {
        let stored: Vec<KeyRecord> = typed_all(self.store.scan(&Scan::keys_of(client))?)?;
        let added = overlay.commit.writes.iter().filter_map(|write| match write {
            Write::Insert(Record::Key(key)) if key.client == client => Some(key.no),
            Write::Insert(_) | Write::Update { .. } | Write::Replace(_) | Write::Post(_) | Write::Delete(_) => None,
        });
        let numbers = stored.iter().map(|key| key.no).chain(added);
        numbers.filter_map(|no| overlay.get(&Key::Key(no)).transpose()).collect()
    }

    fn check_room(&self, overlay: &Overlay<'_>, client: ClientNo) -> Result<()> {
        let in_use = self.keys_of(overlay, client)?.iter().filter(|key| key.status != KeyStatus::Revoked).count();
        if in_use >= MOST_KEYS {
            let message = format!("a client may have {MOST_KEYS} keys; revoke one that is not in use");
            return Err(Error::field("/jwk", "too_many_keys", message));
        }
        Ok(())
    }

    /// A key that nobody has enrolled yet. It is not written here.
    fn new_key(
        &self,
        overlay: &Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        public: &PublicKey,
        scopes: ScopeSet,
    ) -> Result<KeyRecord> {
        // Whether the client has room is asked elsewhere: the number of a client that only just enrols may turn out to
        // be another's, and that one's keys say nothing about it.
        let id = public.id();
        if overlay.key_by_id(&id)?.is_some() {
            let detail = "the key is enrolled already: take a token with it at /api/v1/auth/tokens, or make another key";
            return Err(Error::with(ErrorCode::KeyExists, detail));
        }
        let no = KeyNo(writer.next_key);
        writer.next_key += 1;
        Ok(KeyRecord {
            no,
            id,
            client: caller.client,
            mode: caller.mode,
            public: *public,
            scopes,
            status: KeyStatus::Active,
            label: None,
            created_at: overlay.now,
            revoked_at: None,
        })
    }

    pub(super) fn issue_token(&self, overlay: &mut Overlay<'_>, key: KeyNo, scopes: Option<ScopeSet>) -> Result<Outcome> {
        // Once more: the key may have been revoked since the call was checked.
        let key: KeyRecord = overlay.get(&Key::Key(key))?.ok_or_else(|| Error::new(ErrorCode::KeyUnknown))?;
        may_sign(&key)?;
        let scopes = scopes.unwrap_or(key.scopes);
        if scopes.both(key.scopes) != scopes || scopes.is_empty() {
            return Err(Error::with(ErrorCode::InsufficientScope, format!("the key may do no more than: {}", key.scopes)));
        }
        Ok(Outcome::Token(Box::new(self.write_token(overlay, &key, scopes))))
    }

    fn write_token(&self, overlay: &mut Overlay<'_>, key: &KeyRecord, scopes: ScopeSet) -> IssuedToken {
        let mut secret = [0u8; 32];
        self.env.random(&mut secret);
        let text = token_text(key.mode, &secret);
        let expires_at = overlay.now + self.config.token_ttl_ms;
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

    /// A token that is not there, or not the caller's, counts as revoked (RFC 7009): it cannot be used.
    pub(super) fn revoke_token(&self, overlay: &mut Overlay<'_>, caller: &Caller, hash: &Digest32) -> Result<Outcome> {
        let token: Option<TokenRecord> = overlay.get(&Key::Token(*hash))?;
        let own = token.filter(|token| token.client == caller.client && (caller.mode == Mode::Live || token.mode == caller.mode));
        if own.is_some() {
            overlay.write(Write::Delete(Key::Token(*hash)));
        }
        Ok(Outcome::Done(usize::from(own.is_some())))
    }

    pub(super) fn revoke_key(&self, overlay: &mut Overlay<'_>, caller: &Caller, id: &KeyId) -> Result<Outcome> {
        let key = overlay.key_by_id(id)?.filter(|key| key.client == caller.client && sees(caller, key));
        let key = key.ok_or_else(|| Error::new(ErrorCode::KeyNotFound))?;
        self.revoke(overlay, key)
    }

    fn revoke(&self, overlay: &mut Overlay<'_>, mut key: KeyRecord) -> Result<Outcome> {
        if key.status != KeyStatus::Revoked {
            key.status = KeyStatus::Revoked;
            key.revoked_at = Some(overlay.now);
            overlay.write(Write::Replace(key.clone().into()));
        }
        Ok(Outcome::Key(Box::new(key)))
    }

    pub(super) fn operate(&self, overlay: &mut Overlay<'_>, operation: &Operation) -> Result<Outcome> {
        match operation {
            Operation::Approve { client, key } => self.approve(overlay, *client, key.as_ref()),
            Operation::Suspend(client) => self.suspend(overlay, *client, true),
            Operation::Resume(client) => self.suspend(overlay, *client, false),
            Operation::Revoke { client, key } => {
                let client = self.client(overlay, *client)?;
                let key = overlay.key_by_id(key)?.filter(|key| key.client == client.no);
                self.revoke(overlay, key.ok_or_else(|| Error::new(ErrorCode::KeyNotFound))?)
            }
            Operation::Rotate(kind) => self.rotate(overlay, *kind),
        }
    }

    fn client(&self, overlay: &Overlay<'_>, id: Ulid) -> Result<ClientRecord> {
        overlay.find(&Unique::ClientId(id))?.ok_or_else(|| Error::new(ErrorCode::ClientNotFound))
    }

    fn approve(&self, overlay: &mut Overlay<'_>, client: Ulid, only: Option<&KeyId>) -> Result<Outcome> {
        let client = self.client(overlay, client)?;
        let keys = self.keys_of(overlay, client.no)?;
        let wanted = |key: &KeyRecord| key.status == KeyStatus::Pending && only.is_none_or(|id| *id == key.id);
        let pending: Vec<KeyRecord> = keys.into_iter().filter(wanted).collect();
        if pending.is_empty() {
            return Err(Error::with(ErrorCode::KeyNotFound, "no key of that client waits for approval"));
        }
        for key in pending {
            overlay.write(Write::Replace(KeyRecord { status: KeyStatus::Active, ..key }.into()));
        }
        Ok(Outcome::Client(Box::new(client)))
    }

    fn suspend(&self, overlay: &mut Overlay<'_>, client: Ulid, suspended: bool) -> Result<Outcome> {
        let client = ClientRecord { suspended, ..self.client(overlay, client)? };
        overlay.write(Write::Replace(client.clone().into()));
        Ok(Outcome::Client(Box::new(client)))
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

    pub(super) fn fresh_ulid(&self, now: Millis) -> Ulid {
        let mut tail = [0u8; 16];
        self.env.random(&mut tail[6..]);
        Ulid::new(now, u128::from_be_bytes(tail))
    }
}

fn may_sign(key: &KeyRecord) -> Result<()> {
    match key.status {
        KeyStatus::Active => Ok(()),
        KeyStatus::Pending => Err(Error::new(ErrorCode::EnrollmentPending)),
        KeyStatus::Revoked => Err(Error::new(ErrorCode::KeyRevoked)),
    }
}

/// A sandbox credential has no power over live keys, and does not see them.
fn sees(caller: &Caller, key: &KeyRecord) -> bool {
    caller.mode == Mode::Live || key.mode == caller.mode
}

fn printable(text: &str, field: &'static str) -> Result<String> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > 100 || text.chars().any(|c| c.is_control() || is_invisible(c)) {
        let code = if field == "client_name" { "client_name_malformed" } else { "label_malformed" };
        return Err(Error::field(format!("/{field}"), code, format!("{field} must have 1 to 100 printable characters")));
    }
    Ok(text.to_owned())
}

/// Marks that turn the direction of a line, or are nothing at all to the eye: a name must not pass for another.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
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
