//! The gateway's own secrets: made on first use, stored sealed, replaced by an operator.

use p256::elliptic_curve::sec1::ToSec1Point as _;
use zeroize::Zeroizing;

use crate::auth::{Algorithm, ChallengeKeys, PublicKey, Signer as _, SoftwareKey};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ClientNo;
use crate::store::record::{ClientRecord, Key, Record, RecordKind, SecretKind, SecretRecord, Version};
use crate::store::{Commit, CommitError, Scan, Write, typed, typed_all};
use crate::time::Millis;

use crate::engine::Engine;
use crate::engine::group::{Overlay, ROUNDS};

/// How long a retired challenge key is kept; challenges live five minutes.
const CHALLENGE_KEPT: Millis = 3_600_000;

/// Names a client's webhook secret; the additional data under which it is sealed.
pub(crate) fn webhook_place(client: ClientNo) -> String {
    format!("client/{}/webhook_secret", client.0)
}

pub(crate) fn place(kind: SecretKind, no: u32) -> String {
    format!("secret/{}/{no}", kind.as_str())
}

/// A current or former key for signing receipts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptKey {
    /// Its public half.
    pub public: PublicKey,
    /// When it was made.
    pub created_at: Millis,
    /// When it was replaced; `None` while in use.
    pub retired_at: Option<Millis>,
}

impl Engine {
    /// The keys of challenges, newest first. Missing secrets of the gateway are made first.
    ///
    /// # Errors
    /// `internal` if this engine has no master key, or not the one under which the secrets were sealed.
    pub fn challenge_keys(&self) -> Result<ChallengeKeys> {
        let now = self.now();
        let mut keys = Vec::new();
        for secret in self.secrets()?.into_iter().filter(|s| s.kind == SecretKind::Challenge).rev().take(256) {
            if secret.retired_at.is_none_or(|at| now - at < CHALLENGE_KEPT) {
                let opened = self.unseal(&place(secret.kind, secret.no), &secret.sealed)?;
                let key = opened.as_slice().try_into().map_err(|_| Error::internal("a challenge key has the wrong length"))?;
                keys.push((secret.no as u8, key));
            }
        }
        ChallengeKeys::new(keys).ok_or_else(|| Error::internal("there is no challenge key"))
    }

    /// The public keys of receipts, oldest first, including retired ones.
    pub fn receipt_keys(&self) -> Result<Vec<ReceiptKey>> {
        let keys = self.receipt_secrets()?.into_iter();
        keys.map(|secret| {
            let public = PublicKey::of_row(Algorithm::EcdsaP256Sha256, &secret.public)
                .ok_or_else(|| Error::internal("a receipt key is not on its curve"))?;
            Ok(ReceiptKey { public, created_at: secret.created_at, retired_at: secret.retired_at })
        })
        .collect()
    }

    /// The public keys of receipts as a JWK set (RFC 7517), as served at `/.well-known/jwks.json`.
    ///
    /// # Errors
    /// See [`Engine::receipt_keys`].
    pub fn receipt_jwks(&self) -> Result<String> {
        let keys: Vec<String> = self.receipt_keys()?.iter().map(|key| published(&key.public)).collect();
        Ok(format!(r#"{{"keys":[{}]}}"#, keys.join(",")))
    }

    /// Reseals every secret that is not sealed under the first master key, and returns how many.
    pub fn reseal(&self) -> Result<usize> {
        let master = self.config.master.as_ref().ok_or_else(no_master)?;
        let current = master.ids().first().copied();
        let stale = |sealed: &[u8]| !sealed.is_empty() && master.seals_with(sealed) != current;
        let mut count = 0;
        for secret in self.secrets()?.into_iter().filter(|secret| stale(&secret.sealed)) {
            count += usize::from(self.reseal_one(&Key::Secret((secret.kind, secret.no)), |secret: &mut SecretRecord| {
                secret.sealed = self.sealed_anew(&place(secret.kind, secret.no), &secret.sealed)?;
                secret.version = secret.version.next();
                Ok(())
            })?);
        }
        count += self.reseal_setup(stale)?;
        count += self.reseal_approvals(stale)?;
        #[cfg(feature = "bundles")]
        {
            count += self.reseal_bundles(stale)?;
        }
        let mut after = ClientNo(0);
        loop {
            let clients: Vec<ClientRecord> = typed_all(self.store.scan(&Scan::after(&Key::Client(after), 500))?)?;
            let Some(last) = clients.last() else { return Ok(count + self.reseal_endpoints(stale)?) };
            after = last.no;
            for client in clients.into_iter().filter(|client| stale(&client.webhook_secret)) {
                count += usize::from(self.reseal_one(&Key::Client(client.no), |client: &mut ClientRecord| {
                    client.webhook_secret = self.sealed_anew(&webhook_place(client.no), &client.webhook_secret)?;
                    client.version = client.version.next();
                    Ok(())
                })?);
            }
        }
    }

    /// Changes one record and its version; `false` if it is gone. If a command changes the record meanwhile, in this process or another,
    /// it is read again: a stale copy must not undo that change, such as a suspension.
    pub(crate) fn reseal_one<T>(&self, key: &Key, change: impl Fn(&mut T) -> Result<()>) -> Result<bool>
    where
        T: TryFrom<Record, Error = Record> + Into<Record>,
    {
        for _ in 0..ROUNDS {
            let stored = self.store.get(key)?;
            let Some(expected) = stored.as_ref().and_then(Record::version) else { return Ok(false) };
            let Some(mut record) = typed::<T>(stored)? else { return Ok(false) };
            change(&mut record)?;
            match self.store.commit(&Commit { writes: vec![Write::Update { record: record.into(), expected }] }) {
                Ok(()) => return Ok(true),
                Err(CommitError::Conflict(_)) => {}
                Err(error) => return Err(Error::caused(ErrorCode::StoreUnavailable, error)),
            }
        }
        Err(Error::with(ErrorCode::StoreUnavailable, "the store changes too fast; nothing was done, try again"))
    }

    pub(crate) fn sealed_anew(&self, place: &str, sealed: &[u8]) -> Result<Vec<u8>> {
        let secret = self.unseal(place, sealed)?;
        self.seal(place, &secret).ok_or_else(no_master)
    }

    pub(crate) fn rotate(&self, overlay: &mut Overlay<'_>, kind: SecretKind) -> Result<()> {
        let mut same = self.secrets_now(overlay, kind)?;
        let next = same.iter().map(|secret| secret.no).max().unwrap_or(0) + 1;
        for secret in &mut same {
            if secret.retired_at.is_none() {
                secret.retired_at = Some(overlay.now);
                let read = secret.version;
                secret.version = read.next();
                overlay.update(secret.clone(), read);
            } else if kind == SecretKind::Challenge && secret.retired_at.is_some_and(|at| overlay.now - at > CHALLENGE_KEPT) {
                overlay.write(Write::Delete(Key::Secret((kind, secret.no))));
            }
        }
        let secret = self.new_secret(kind, maker(kind), next, overlay.now)?;
        overlay.insert(secret);
        Ok(())
    }

    /// The secrets of a kind, with the changes of this group.
    fn secrets_now(&self, overlay: &Overlay<'_>, kind: SecretKind) -> Result<Vec<SecretRecord>> {
        let stored: Vec<SecretRecord> = typed_all(self.store.scan(&Scan::all(RecordKind::Secret, usize::MAX))?)?;
        let made = overlay
            .commit
            .writes
            .iter()
            .filter_map(Write::inserted)
            .filter_map(|record| if let Record::Secret(secret) = record { Some((secret.kind, secret.no)) } else { None });
        let keys = stored.iter().map(|secret| (secret.kind, secret.no)).chain(made).filter(|(other, _)| *other == kind);
        keys.filter_map(|key| overlay.get(&Key::Secret(key)).transpose()).collect()
    }

    fn new_secret(&self, kind: SecretKind, make: Maker, no: u32, now: Millis) -> Result<SecretRecord> {
        let (secret, public) = make(self);
        let sealed = self.seal(&place(kind, no), &*secret).ok_or_else(no_master)?;
        Ok(SecretRecord { kind, no, sealed, public, created_at: now, retired_at: None, version: Version::default() })
    }

    fn new_challenge_key(&self) -> (Zeroizing<[u8; 32]>, Vec<u8>) {
        (self.random32(), Vec::new())
    }

    fn new_log_key(&self) -> (Zeroizing<[u8; 32]>, Vec<u8>) {
        let secret = self.random32();
        let public = SoftwareKey::ed25519(&secret).public_key().as_bytes().to_vec();
        (secret, public)
    }

    fn new_p256_key(&self) -> (Zeroizing<[u8; 32]>, Vec<u8>) {
        loop {
            let secret = self.random32();
            // One draw in 2^32 exceeds the order of the group.
            if let Ok(key) = p256::SecretKey::from_slice(&*secret) {
                return (secret, key.public_key().to_sec1_point(false).as_bytes().to_vec());
            }
        }
    }

    pub(crate) fn random32(&self) -> Zeroizing<[u8; 32]> {
        let mut secret = Zeroizing::new([0u8; 32]);
        self.env.random(&mut *secret);
        secret
    }

    /// All secrets, by kind and number; missing ones are made first, except for the one that only users with push subscriptions need.
    pub(crate) fn secrets(&self) -> Result<Vec<SecretRecord>> {
        self.secrets_with(SecretKind::ALL.iter().filter(|kind| **kind != SecretKind::Vapid).map(|kind| (*kind, maker(*kind))))
    }

    /// The keys that identify the gateway to push services, by number; the first is made if there is none.
    #[cfg(feature = "push")]
    pub(crate) fn vapid_secrets(&self) -> Result<Vec<SecretRecord>> {
        let mut secrets = self.secrets_with([(SecretKind::Vapid, maker(SecretKind::Vapid))])?;
        secrets.retain(|secret| secret.kind == SecretKind::Vapid);
        Ok(secrets)
    }

    /// The secrets of receipts, by number; the first is made if there is none.
    pub(crate) fn receipt_secrets(&self) -> Result<Vec<SecretRecord>> {
        let mut secrets = self.secrets_with([(SecretKind::Receipt, Self::new_p256_key as Maker)])?;
        secrets.retain(|secret| secret.kind == SecretKind::Receipt);
        Ok(secrets)
    }

    fn secrets_with(&self, wanted: impl IntoIterator<Item = (SecretKind, Maker)> + Clone) -> Result<Vec<SecretRecord>> {
        for _ in 0..ROUNDS {
            let stored: Vec<SecretRecord> = typed_all(self.store.scan(&Scan::all(RecordKind::Secret, usize::MAX))?)?;
            let missing = |kind: SecretKind| !stored.iter().any(|secret| secret.kind == kind);
            let missing = wanted.clone().into_iter().filter(|(kind, _)| missing(*kind));
            let made = missing.map(|(kind, make)| Ok(Write::Insert(self.new_secret(kind, make, 1, self.now())?.into())));
            let writes = made.collect::<Result<Vec<Write>>>()?;
            if writes.is_empty() {
                return Ok(stored);
            }
            match self.store.commit(&Commit { writes }) {
                // Another node may have been first: the stored secrets count.
                Ok(()) | Err(CommitError::Conflict(_)) => {}
                Err(error) => return Err(Error::caused(ErrorCode::StoreUnavailable, error)),
            }
        }
        Err(Error::new(ErrorCode::StoreUnavailable))
    }

    /// Seals a secret; `None` if there is no master key.
    pub(crate) fn seal(&self, place: &str, secret: &[u8]) -> Option<Vec<u8>> {
        self.vault.seal(&*self.env, place, secret)
    }

    pub(crate) fn unseal(&self, place: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>> {
        self.vault.open(place, sealed)
    }
}

fn published(key: &PublicKey) -> String {
    let required = key.jwk();
    let required = required.strip_prefix('{').unwrap_or_default();
    format!(r#"{{"alg":"ES256","kid":"{}","use":"sig",{required}"#, key.id())
}

/// Makes a secret: its bytes, and its public half where it has one.
type Maker = fn(&Engine) -> (Zeroizing<[u8; 32]>, Vec<u8>);

fn maker(kind: SecretKind) -> Maker {
    match kind {
        SecretKind::Challenge => Engine::new_challenge_key,
        SecretKind::Receipt | SecretKind::Vapid => Engine::new_p256_key,
        SecretKind::Log => Engine::new_log_key,
    }
}

pub(crate) fn no_master() -> Error {
    Error::internal("this gateway has no master key")
}
