//! A client's keys.

use crate::api::{Caller, KeyView};
use crate::auth::{KeyId, PublicKey, ScopeSet};
use crate::engine::group::{Command, Decision, Deed, Overlay, Writer};
use crate::engine::{Answers, Engine, Stays};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ClientNo;
use crate::store::Unique;
use crate::store::record::{AuditAction, Key, KeyRecord, KeyStatus, Record, Version};
use crate::store::{Scan, Write, typed_all};

use super::enroll::named;

/// Maximum number of a client's keys that are not revoked.
const MOST_KEYS: usize = 50;

/// Adds a key for the caller's mode.
#[derive(Debug, Clone)]
pub struct AddKey {
    /// The client that adds the key.
    pub caller: Caller,
    /// The key, which signed the call too.
    pub key: PublicKey,
    /// The client's label for it, 1 to 100 printable characters.
    pub label: Option<String>,
    /// Its scopes: at most those of the credential that adds it.
    pub scopes: ScopeSet,
}

impl Command for AddKey {
    type Output = KeyRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<KeyRecord> {
        let label = self.label.as_deref().map(|label| named(label, "label", "label_malformed")).transpose()?;
        d.engine.check_room(d.overlay, self.caller.client)?;
        let key = KeyRecord { label, ..d.engine.new_key(d.overlay, d.writer, &self.caller, &self.key, self.scopes)? };
        d.overlay.insert(key.clone());
        Ok(key)
    }

    fn deed(&self, done: Option<&KeyRecord>) -> Option<Deed> {
        Some(Deed::new(AuditAction::AddKey).target(done.map_or(0, |key| key.no.0)).name(self.key.id().to_string()))
    }
}

impl Answers for AddKey {
    type View = KeyView;

    fn view(&self, _: &Decision<'_, '_>, key: &KeyRecord) -> Result<KeyView> {
        Ok(KeyView::from(key))
    }
}

/// Revokes one of the caller's keys, and with it the key's tokens.
#[derive(Debug, Clone)]
pub struct RevokeKey {
    /// The client that owns the key.
    pub caller: Caller,
    /// The key to revoke.
    pub key: KeyId,
}

impl Command for RevokeKey {
    type Output = KeyRecord;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn stays(&self) -> Stays {
        Stays::Afterwards
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<KeyRecord> {
        let Self { caller, key } = self;
        let key = d.overlay.find::<KeyRecord>(&Unique::KeyId(*key))?.filter(|key| key.client == caller.party() && caller.sees(key.mode));
        Ok(revoked(d.overlay, key.ok_or_else(|| Error::new(ErrorCode::KeyNotFound))?))
    }

    fn deed(&self, done: Option<&KeyRecord>) -> Option<Deed> {
        Some(Deed::new(AuditAction::RevokeKey).target(done.map_or(0, |key| key.no.0)).name(self.key.to_string()))
    }
}

pub(crate) fn revoked(overlay: &mut Overlay<'_>, mut key: KeyRecord) -> KeyRecord {
    if key.status != KeyStatus::Revoked {
        key.status = KeyStatus::Revoked;
        key.revoked_at = Some(overlay.now);
        let read = key.version;
        key.version = read.next();
        overlay.update(key.clone(), read);
    }
    key
}

impl Engine {
    /// The caller's keys of its own mode, oldest first. A live caller also sees its sandbox keys.
    pub fn keys(&self, caller: &Caller) -> Result<Vec<KeyView>> {
        let keys: Vec<KeyRecord> = typed_all(self.store.scan(&Scan::keys_of(caller.party()))?)?;
        Ok(keys.iter().filter(|key| caller.sees(key.mode)).map(KeyView::from).collect())
    }

    /// A client's keys, with the changes of this group.
    pub(crate) fn keys_of(&self, overlay: &Overlay<'_>, client: ClientNo) -> Result<Vec<KeyRecord>> {
        let stored: Vec<KeyRecord> = typed_all(overlay.stored_page(&Scan::keys_of(client))?)?;
        let added = overlay
            .commit
            .writes
            .iter()
            .filter_map(Write::inserted)
            .filter_map(|record| if let Record::Key(key) = record { (key.client == client).then_some(key.no) } else { None });
        let numbers = stored.iter().map(|key| key.no).chain(added);
        numbers.filter_map(|no| overlay.get(&Key::Key(no)).transpose()).collect()
    }

    pub(crate) fn check_room(&self, overlay: &Overlay<'_>, client: ClientNo) -> Result<()> {
        let in_use = self.keys_of(overlay, client)?.iter().filter(|key| key.status != KeyStatus::Revoked).count();
        if in_use >= MOST_KEYS {
            let message = format!("a client may have {MOST_KEYS} keys; revoke one that is no longer used");
            return Err(Error::field("/jwk", "too_many_keys", message));
        }
        Ok(())
    }

    /// Makes the record of a key that is not enrolled yet, without writing it.
    pub(crate) fn new_key(
        &self,
        overlay: &Overlay<'_>,
        writer: &mut Writer,
        caller: &Caller,
        public: &PublicKey,
        scopes: ScopeSet,
    ) -> Result<KeyRecord> {
        // The limit on keys is checked elsewhere: the number of a client that is just being enrolled may turn out to be another
        // client's, whose keys must not count.
        let id = public.id();
        if overlay.find::<KeyRecord>(&Unique::KeyId(id))?.is_some() {
            let detail = "the key is already enrolled: get a token with it at /api/v1/auth/tokens, or generate another key";
            return Err(Error::with(ErrorCode::KeyExists, detail));
        }
        let no = writer.key_no();
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
            version: Version::default(),
        })
    }
}
