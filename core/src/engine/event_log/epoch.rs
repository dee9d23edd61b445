//! Epochs: what tells the log and the feeds of a restored backup from those that were lost.
//!
//! A backup is older than what was published after it. Served again, the gateway assigns the same positions and leaf indexes to other
//! events, and must not sign that under the name of the log whose checkpoints others keep. Nothing in the database says that it was
//! restored, so its operator does, by beginning an epoch.

use crate::api::{Caller, FeedEventView, FeedPage};
use crate::engine::Engine;
use crate::engine::group::{Command, Decision, Deed};
use crate::error::{Error, ErrorCode, Result};
use crate::store::record::{AuditAction, Key, MetaRecord};
use crate::store::{Store, Write, typed};

use super::last_position;

const EPOCH_KEY: &str = "log_epoch";
/// The epoch of a database that was never restored.
const FIRST: u32 = 1;

/// Begins the next epoch of both logs and of all feeds. Returns its number.
#[derive(Debug, Clone)]
pub struct BeginEpoch {
    /// The epoch that ends with it: of two such commands at once, one is refused.
    pub after: u32,
}

impl Command for BeginEpoch {
    type Output = u32;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<u32> {
        let stored: Option<MetaRecord> = d.overlay.get(&Key::Meta(EPOCH_KEY.to_owned()))?;
        let now = number(stored.as_ref())?;
        if now != self.after {
            return Err(Error::with(ErrorCode::VersionConflict, format!("epoch {now} has begun already")));
        }
        let next = now.checked_add(1).ok_or_else(|| Error::internal("there are no more epochs"))?;
        let record = MetaRecord { name: EPOCH_KEY.to_owned(), value: next.to_be_bytes().to_vec() };
        d.overlay.write(if stored.is_some() { Write::Replace(record.into()) } else { Write::Insert(record.into()) });
        Ok(next)
    }

    fn deed(&self, done: Option<&u32>) -> Option<Deed> {
        let epoch = done.copied().unwrap_or(self.after.saturating_add(1));
        Some(Deed::new(AuditAction::BeginEpoch).name(format!("epoch {epoch}")))
    }
}

impl Engine {
    /// The current epoch, from 1.
    pub fn epoch(&self) -> Result<u32> {
        epoch(&*self.store)
    }

    /// Checks that a follower may go on after feed position `after`, of the epoch that it knows, if it says so. Returns the current
    /// epoch.
    ///
    /// # Errors
    /// `epoch_changed` if positions that the follower knows may have been assigned again.
    pub fn place_in_feed(&self, caller: &Caller, after: i64, known: Option<u32>) -> Result<u32> {
        let epoch = self.epoch()?;
        if let Some(known) = known.filter(|known| *known != epoch) {
            let detail = format!("this is epoch {epoch}, not {known}: a backup was restored, and positions were assigned again");
            return Err(Error::with(ErrorCode::EpochChanged, detail));
        }
        let last = if after > 0 { last_position(&*self.store, caller.client, caller.mode)? } else { 0 };
        if after > last {
            let detail = format!("the feed ends at position {last}: {after} is not assigned, or was lost with what came after a backup");
            return Err(Error::with(ErrorCode::EpochChanged, detail));
        }
        Ok(epoch)
    }

    /// The position of the newest event in the caller's feed; 0 if there is none.
    pub fn feed_end(&self, caller: &Caller) -> Result<i64> {
        last_position(&*self.store, caller.client, caller.mode)
    }

    /// A page of at most `limit` events after feed position `after`; see [`Engine::place_in_feed`].
    ///
    /// # Errors
    /// `epoch_changed`.
    pub fn feed_page(&self, caller: &Caller, after: i64, limit: usize, known: Option<u32>) -> Result<FeedPage> {
        let epoch = self.place_in_feed(caller, after, known)?;
        let mut data: Vec<FeedEventView> = self.feed(caller, after, limit.saturating_add(1))?;
        let has_more = data.len() > limit;
        data.truncate(limit);
        let next_after = data.last().map_or(after, |last| last.position);
        Ok(FeedPage { data, has_more, next_after, epoch })
    }
}

fn epoch(store: &dyn Store) -> Result<u32> {
    number(typed::<MetaRecord>(store.get(&Key::Meta(EPOCH_KEY.to_owned()))?)?.as_ref())
}

fn number(stored: Option<&MetaRecord>) -> Result<u32> {
    let Some(stored) = stored else { return Ok(FIRST) };
    let bytes = stored.value.as_slice().try_into().map_err(|_| Error::internal("the number of the epoch is damaged"))?;
    Ok(u32::from_be_bytes(bytes))
}
