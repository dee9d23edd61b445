//! Whether something changed that operators see.

use sha2::{Digest as _, Sha256};

use crate::api::ChangesView;
use crate::engine::Engine;
use crate::engine::event_log::log_head;
use crate::error::Result;
use crate::store::record::{AuditRecord, RecordKind};
use crate::store::{Scan, typed};

impl Engine {
    /// The state of what operators see: what happens to settlements, money and bundles has events in the log, and every act of a client
    /// or an operator is in the audit trail.
    ///
    /// # Errors
    /// `store_unavailable`, `internal`.
    pub fn changes(&self) -> Result<ChangesView> {
        let events = log_head(&*self.store)?.map_or(0, |head| head.events);
        let last: Option<AuditRecord> = typed(self.store.scan(&Scan::last(RecordKind::Audit))?.pop())?;
        let act = last.map_or(0, |act| act.no);
        let digest = Sha256::new().chain_update(events.to_be_bytes()).chain_update(act.to_be_bytes()).finalize();
        // JavaScript has exact numbers up to 53 bits.
        let mark = digest[..6].iter().fold(0, |mark, byte| mark << 8 | i64::from(*byte));
        Ok(ChangesView { mark, events })
    }
}
