//! Who may read the log. Its size tells how much all clients settle, and anybody may be a sandbox client: once the log has live
//! events, it is shown to live clients only.

use crate::api::Caller;
use crate::engine::Engine;
use crate::engine::group::Overlay;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ClientNo;
use crate::ledger::Mode;
use crate::store::record::{ClientRecord, Key, LoggedChange, MetaRecord};
use crate::store::{Commit, CommitError, Scan, Store, Write, typed, typed_all};

/// The name of the record that says whether the log has live events.
const LIVE_KEY: &str = "log_live";
const PAGE: usize = 500;

impl Engine {
    /// Whether the caller may read the log's checkpoints, tiles and proofs.
    ///
    /// # Errors
    /// `mode_mismatch` for a sandbox credential, if the log has live events.
    pub fn may_read_log(&self, caller: &Caller) -> Result<()> {
        if caller.mode.is_sandbox() && has_live(&*self.store)? != Some(false) {
            let detail = "the log has live events too, and its size is confidential: read it with a live credential";
            return Err(Error::with(ErrorCode::ModeMismatch, detail));
        }
        Ok(())
    }

    /// Records it when the first live events join the log, in the commit that adds them.
    pub(super) fn note_live(&self, overlay: &mut Overlay<'_>, changes: &[LoggedChange]) -> Result<()> {
        if changes.iter().all(|change| change.mode.is_sandbox()) {
            return Ok(());
        }
        match has_live(overlay.store)? {
            Some(true) => {}
            Some(false) => overlay.write(Write::Replace(mark(true).into())),
            None => overlay.insert(mark(true)),
        }
        Ok(())
    }

    /// Looks for live events in a log that was begun before this was recorded.
    pub(super) fn survey_log(&self) -> Result<()> {
        let store = &*self.store;
        if has_live(store)?.is_some() {
            return Ok(());
        }
        let found = any_live_feed(store)?;
        match store.commit(&Commit { writes: vec![Write::Insert(mark(found).into())] }) {
            // Another node may have been first.
            Ok(()) | Err(CommitError::Conflict(_)) => Ok(()),
            Err(error) => Err(Error::caused(ErrorCode::StoreUnavailable, error)),
        }
    }
}

fn any_live_feed(store: &dyn Store) -> Result<bool> {
    let mut after = ClientNo(0);
    loop {
        let page: Vec<ClientRecord> = typed_all(store.scan(&Scan::after(&Key::Client(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(false) };
        after = last.no;
        for client in &page {
            if !store.scan(&Scan::last_feed(client.no, Mode::Live))?.is_empty() {
                return Ok(true);
            }
        }
    }
}

/// `None` before the log was surveyed.
fn has_live(store: &dyn Store) -> Result<Option<bool>> {
    let found: Option<MetaRecord> = typed(store.get(&Key::Meta(LIVE_KEY.to_owned()))?)?;
    Ok(found.map(|mark| mark.value != [0]))
}

fn mark(live: bool) -> MetaRecord {
    MetaRecord { name: LIVE_KEY.to_owned(), value: vec![u8::from(live)] }
}
