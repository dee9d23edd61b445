//! The trees of the log, one for each mode. What a sandbox client reads, and anybody may be one, tells nothing about live events: not
//! even how many there are.

use crate::engine::Engine;
use crate::engine::group::Overlay;
use crate::error::{Error, ErrorCode, Result};
use crate::ids::ClientNo;
use crate::ledger::Mode;
use crate::log::{self, TileRow, Tiles, TreeError};
use crate::store::record::{ClientRecord, Key, Later, LogHeadRecord, TileRecord};
use crate::store::{Commit, CommitError, Lookup, Scan, Store, Write, typed, typed_all};

use super::log_head;

/// How many clients are searched for live events at a time.
const PAGE: usize = 500;

/// A tree's tiles, as they are stored.
pub(crate) struct StoredTiles<'a>(pub(crate) &'a dyn Store, pub(crate) Mode);

impl Tiles for StoredTiles<'_> {
    type Error = Error;

    fn tile(&self, level: u8, index: u64) -> Result<Option<Vec<u8>>> {
        let Ok(index) = i64::try_from(index) else { return Ok(None) };
        let row: Option<TileRecord> = typed(self.0.get(&Key::Tile((self.1, level, index)))?)?;
        Ok(row.map(|row| row.entries))
    }
}

impl Engine {
    /// The number of leaves in the tree of a mode.
    pub(super) fn leaves(&self, mode: Mode) -> Result<u64> {
        u64::try_from(log_head(&*self.store)?.map_or(0, |head| head.leaves(mode))).map_err(Error::internal)
    }

    /// Gives each mode its tree, in a log that has only one. That one stays the sandbox's, as it is.
    pub(super) fn separate_trees(&self, head: LogHeadRecord) -> Result<()> {
        let store = &*self.store;
        if any_live_feed(store)? {
            let cause = "the log of this store has live and sandbox events in one tree, as an earlier release kept them: \
                         this release keeps them apart and cannot continue it. Serve it with the release that made it";
            return Err(Error::internal(cause));
        }
        match store.commit(&Commit { writes: vec![Write::Replace(LogHeadRecord { live: Later(Some(0)), ..head }.into())] }) {
            // Another node may have been first.
            Ok(()) | Err(CommitError::Conflict(_)) => Ok(()),
            Err(error) => Err(Error::caused(ErrorCode::StoreUnavailable, error)),
        }
    }
}

/// Appends leaves to the tree of a mode.
pub(super) fn grow(overlay: &mut Overlay<'_>, head: &LogHeadRecord, mode: Mode, leaves: &[[u8; 32]]) -> Result<()> {
    let start = u64::try_from(head.leaves(mode)).map_err(Error::internal)?;
    let rows = match log::append(&StoredTiles(overlay.store, mode), start, leaves) {
        Ok(appended) => appended.rows,
        // Another node appended after the head was read here.
        Err(TreeError::Ahead { .. }) if log_head(overlay.store)?.is_some_and(|now| now.events > head.events) => {
            return Err(Error::with(ErrorCode::StoreUnavailable, "another node is numbering events"));
        }
        Err(error) => return Err(Error::internal(error)),
    };
    for TileRow { level, index, bytes } in rows {
        let record = TileRecord { mode, level, index: i64::try_from(index).map_err(Error::internal)?, entries: bytes };
        let there = overlay.store.get(&Key::Tile((mode, level, record.index)))?.is_some();
        overlay.write(if there { Write::Replace(record.into()) } else { Write::Insert(record.into()) });
    }
    Ok(())
}

fn any_live_feed(store: &dyn Store) -> Result<bool> {
    let mut after = ClientNo(0);
    loop {
        let page: Vec<ClientRecord> = typed_all(store.scan(&Scan::after(&Key::Client(after), PAGE))?)?;
        let Some(last) = page.last() else { return Ok(false) };
        after = last.no;
        let feeds: Vec<Lookup> = page.iter().map(|client| Lookup::Scan(Scan::last_feed(client.no, Mode::Live))).collect();
        if store.look_up(&feeds)?.iter().any(|feed| !feed.is_empty()) {
            return Ok(true);
        }
    }
}
