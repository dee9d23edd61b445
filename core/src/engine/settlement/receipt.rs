//! Receipts of settlements: the event that one is about, and the key that signs it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::api::{Caller, Target};
use crate::auth::{P256Key, Signer as _};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ProviderNo;
use crate::receipt::{self, Moment, Receipt};
use crate::store::record::{EventRecord, ProviderRecord, RecordKind, SettlementRecord};
use crate::store::{Scan, typed_all};

use crate::engine::Engine;
use crate::engine::access::place;

/// The number of the last used receipt key, and the opened key.
#[derive(Default)]
pub(crate) struct OpenedReceiptKey(Mutex<Option<(u32, Arc<P256Key>)>>);

/// How many events are read per page.
const PAGE: usize = 200;

impl Engine {
    /// The receipt of the caller's settlement in its current state. The bytes stay the same
    /// until the settlement or the key changes.
    ///
    /// # Errors
    /// `settlement_not_found`, also for another client's settlement; `not_completed` if it is not paid; `internal` if this engine
    /// has no master key, and so no receipt key.
    pub fn receipt(&self, caller: &Caller, target: &Target) -> Result<Receipt> {
        let record = self.settlement(caller, target)?;
        if !record.status.is_paid() {
            let detail = format!("the settlement is {}; there is a receipt once it is completed", record.status.as_str());
            return Err(Error::with(ErrorCode::NotCompleted, detail));
        }
        let moments = self.moments(&record)?;
        let provider = self.provider_of(record.provider)?;
        let claims = receipt::claims(&self.config.issuer, &self.id_key, caller.client_id, &provider, &record, moments);
        let description = record.more.and_then(|more| more.description.as_deref().map(str::to_owned));
        Receipt::sign(claims, description, &*self.receipt_key()?)
    }

    /// The latest event that issues a receipt, and the previous one. Events later than `record` do not count.
    fn moments(&self, record: &SettlementRecord) -> Result<(Moment, Option<Moment>)> {
        let (mut latest, mut before) = (None, None);
        let mut after = 0;
        loop {
            let scan = Scan::events(record.no, after, PAGE);
            let events: Vec<EventRecord> = typed_all(self.store.scan(&scan)?)?;
            let known = events.iter().filter(|event| event.n <= record.version && receipt::issues(event.kind));
            for event in known {
                before = latest.replace(Moment::from(event));
            }
            match events.last() {
                Some(last) if events.len() == PAGE => after = last.n,
                Some(_) | None => break,
            }
        }
        let latest = latest.ok_or_else(|| Error::internal("a settlement is paid, but no event records it"))?;
        Ok((latest, before))
    }

    /// A provider's id, even if it is no longer configured.
    fn provider_of(&self, no: ProviderNo) -> Result<String> {
        if let Some(spec) = self.routes().provider(no) {
            return Ok(spec.id.clone());
        }
        let stored: Vec<ProviderRecord> = typed_all(self.store.scan(&Scan::all(RecordKind::Provider, usize::MAX))?)?;
        let found = stored.into_iter().find(|provider| provider.no == no);
        found.map(|provider| provider.id).ok_or_else(|| Error::internal("a settlement's provider is not known"))
    }

    /// The current key. A replacement is noticed at once: the key's number is read each time, and only a new key is opened.
    pub(crate) fn receipt_key(&self) -> Result<Arc<P256Key>> {
        let secret =
            self.receipt_secrets()?.into_iter().max_by_key(|secret| secret.no).ok_or_else(|| Error::internal("there is no receipt key"))?;
        let mut opened = self.receipt_key.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((no, key)) = &*opened
            && *no == secret.no
        {
            return Ok(Arc::clone(key));
        }
        let bytes = self.unseal(&place(secret.kind, secret.no), &secret.sealed)?;
        let bytes = bytes.as_slice().try_into().map_err(|_| Error::internal("a receipt key has the wrong length"))?;
        let key = P256Key::new(bytes).filter(|key| key.public_key().as_bytes() == secret.public);
        let key = Arc::new(key.ok_or_else(|| Error::internal("a receipt key is not the one that was published"))?);
        *opened = Some((secret.no, Arc::clone(&key)));
        Ok(key)
    }
}
