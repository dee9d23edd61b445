//! Whether something changed that operators see.

use sha2::{Digest as _, Sha256};

use crate::api::ChangesView;
use crate::engine::Engine;
use crate::engine::event_log::log_head;
use crate::error::Result;
use crate::store::record::AuditRecord;
use crate::store::{Scan, typed_all};

/// How many of the newest acts count: more than nodes do while their clocks differ, unless much happens anyway.
const ACTS: usize = 32;

impl Engine {
    /// The state of what operators see: what happens to settlements, money and bundles has events in the log, and every act of a client
    /// or an operator is in the audit trail. Its newest records count, and not the last alone: another node's clock may be behind.
    ///
    /// # Errors
    /// `store_unavailable`, `internal`.
    pub fn changes(&self) -> Result<ChangesView> {
        let events = log_head(&*self.store)?.map_or(0, |head| head.events);
        let acts: Vec<AuditRecord> = typed_all(self.store.scan(&Scan::audit_before(i64::MAX, ACTS))?)?;
        let mut digest = Sha256::new_with_prefix(events.to_be_bytes());
        acts.iter().for_each(|act| digest.update(act.no.to_be_bytes()));
        // JavaScript has exact numbers up to 53 bits.
        let mark = digest.finalize()[..6].iter().fold(0, |mark, byte| mark << 8 | i64::from(*byte));
        Ok(ChangesView { mark, events })
    }
}
