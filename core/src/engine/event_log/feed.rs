//! Reading the log: a client's feed of events, and the proofs of what the log contains.

use crate::api::{Caller, FeedEventView, ProofView, Target};
use crate::auth::{PublicKey, SoftwareKey};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::SettlementNo;
use crate::ledger::Mode;
use crate::log::{self, Checkpoint, LogKey, LogName, Proof, TilePath, TreeError};
use crate::store::record::{EventRecord, FeedRecord, Key, Record, SecretKind, SecretRecord};
use crate::store::{Scan, Unique, typed, typed_all};
use crate::trace::{self, Traced, hex, traced_key};

use super::{StoredTiles, leaf_salt};
use crate::engine::Engine;
use crate::engine::access::place;

impl Engine {
    /// All events of the caller after feed position `after`, in feed order, at most `limit`.
    pub fn feed(&self, caller: &Caller, after: i64, limit: usize) -> Result<Vec<FeedEventView>> {
        let scan = Scan::feed(caller.client, caller.mode, after, limit);
        let feed: Vec<FeedRecord> = typed_all(self.store.scan(&scan)?)?;
        let mut views = Vec::with_capacity(feed.len());
        let mut known: Option<(Traced, EventRecord)> = None;
        for entry in feed {
            let no = entry.settlement;
            let event: EventRecord = self.stored(&Key::Event((no, entry.n)), no)?;
            let (traced, before) = match known.take().filter(|(traced, _)| traced.about().no() == no) {
                Some((traced, before)) => (traced, Some(before)),
                None => (self.stored(&traced_key(event.kind, no), no)?, None),
            };
            let prev = match before.filter(|before| before.n + 1 == entry.n) {
                Some(before) => Some(before.hash),
                None if entry.n <= 1 => None,
                None => Some(self.stored::<EventRecord>(&Key::Event((no, entry.n - 1)), no)?.hash),
            };
            views.push(FeedEventView { position: entry.position, event: self.event_view(traced.about(), &event, prev.as_ref())? });
            known = Some((traced, event));
        }
        Ok(views)
    }

    fn stored<T: TryFrom<Record, Error = Record>>(&self, key: &Key, no: SettlementNo) -> Result<T> {
        typed(self.store.get(key)?)?.ok_or_else(|| Error::internal(format!("the feed refers to a missing record of journal {}", no.0)))
    }

    /// Proves that the last event of the caller's settlement is in the tree of its mode, with everything needed to check it offline.
    ///
    /// # Errors
    /// `settlement_not_found`; `not_logged_yet` until that event is numbered, a moment later.
    pub fn proof(&self, caller: &Caller, target: &Target) -> Result<ProofView> {
        let record = self.settlement(caller, target)?;
        let entry: Option<FeedRecord> = typed(self.store.find(&Unique::FeedOf(record.no, record.version))?)?;
        let entry = entry.ok_or_else(|| Error::new(ErrorCode::NotLoggedYet))?;
        let event: EventRecord = self.stored(&Key::Event((record.no, record.version)), record.no)?;
        let (index, size) = (u64::try_from(entry.leaf).map_err(Error::internal)?, self.leaves(record.mode)?);
        let path = log::inclusion(&StoredTiles(&*self.store, record.mode), index, size).map_err(of_tree)?;
        let checkpoint = self.checkpoint_at(record.mode, size)?;
        let salt = leaf_salt(&self.id_key, record.no, record.version);
        Ok(ProofView {
            settlement_id: self.settlement_id(&record),
            reference: record.reference.as_str().to_owned(),
            event_id: format!("evt_{}", trace::event_ulid(&self.id_key, &event)),
            sequence: event.n,
            event_hash: hex(&event.hash),
            salt: hex(&salt),
            leaf_index: index,
            tree_size: size,
            path: path.iter().map(|hash| hex(hash)).collect(),
            proof: Proof { salt, index, path, checkpoint: checkpoint.clone() }.to_string(),
            checkpoint,
        })
    }

    /// The current signed checkpoint of a mode's tree: a C2SP `tlog-checkpoint` in a signed note. The bytes stay the same until
    /// the tree grows or the log's key is replaced.
    ///
    /// It states how many events of that mode all clients have: show the live one to live clients only.
    pub fn checkpoint(&self, mode: Mode) -> Result<String> {
        self.checkpoint_at(mode, self.leaves(mode)?)
    }

    fn checkpoint_at(&self, mode: Mode, size: u64) -> Result<String> {
        let root = log::root(&StoredTiles(&*self.store, mode), size).map_err(of_tree)?;
        let secret = self.log_secrets()?.pop().ok_or_else(|| Error::internal("there is no log key"))?;
        let key = self.unseal(&place(secret.kind, secret.no), &secret.sealed)?;
        let key = key.as_slice().try_into().map_err(|_| Error::internal("a log key has the wrong length"))?;
        Checkpoint { origin: self.log_name(mode, self.epoch()?), size, root }.sign(&SoftwareKey::ed25519(key)).map_err(Error::internal)
    }

    fn log_name(&self, mode: Mode, epoch: u32) -> LogName {
        LogName::of_issuer(&self.config.issuer, mode).in_epoch(epoch)
    }

    /// The current and former keys that sign checkpoints, newest first, under the name of a mode's tree; then under its names in former
    /// epochs. Each is displayed as a C2SP verifier key.
    pub fn log_keys(&self, mode: Mode) -> Result<Vec<LogKey>> {
        let secrets = self.log_secrets()?;
        let key = |epoch: u32, secret: &SecretRecord| {
            let public = PublicKey::ed25519(&secret.public);
            let key = public.and_then(|public| LogKey::new(self.log_name(mode, epoch), public));
            key.ok_or_else(|| Error::internal("a log key is not on its curve"))
        };
        (1..=self.epoch()?).rev().flat_map(|epoch| secrets.iter().rev().map(move |secret| key(epoch, secret))).collect()
    }

    fn log_secrets(&self) -> Result<Vec<SecretRecord>> {
        Ok(self.secrets()?.into_iter().filter(|secret| secret.kind == SecretKind::Log).collect())
    }

    /// A tile of a mode's tree, as C2SP `tlog-tiles` defines it; `None` if the tree has no such tile.
    pub fn log_tile(&self, mode: Mode, path: &TilePath) -> Result<Option<Vec<u8>>> {
        if !path.is_within(self.leaves(mode)?) {
            return Ok(None);
        }
        log::serve(&StoredTiles(&*self.store, mode), path).map(Some).map_err(of_tree)
    }
}

/// An unreadable store keeps its own error; a damaged tree is an internal error.
fn of_tree(error: TreeError<Error>) -> Error {
    match error {
        TreeError::Tiles(cause) => cause,
        damaged @ (TreeError::Missing { .. } | TreeError::Short { .. } | TreeError::Ahead { .. } | TreeError::Beyond { .. }) => {
            Error::internal(damaged)
        }
    }
}
