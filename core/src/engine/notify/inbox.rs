//! The inbox: what a user was told, newest first, and what they have read.

use crate::api::{Caller, UnreadView};
use crate::engine::group::{Command, Decision, Overlay};
use crate::engine::settlement::{cursor_of, id_of};
use crate::engine::{Answers, Engine};
use crate::error::{Error, ErrorCode, Result};
use crate::ids::{SettlementNo, Ulid, UserNo};
use crate::store::record::{Key, NotificationRecord};
use crate::store::{Scan, Write, typed_all};
use crate::time::Millis;

use super::caller_user;

/// How many notifications of a user are kept: the newest.
pub const NOTIFICATIONS_KEPT: usize = 500;
/// For how long.
const KEPT_MS: Millis = 90 * 86_400_000;

/// A notification with its public id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InboxEntry {
    /// The ULID in `ntf_…`.
    pub id: Ulid,
    /// The notification. Its `n` is its place in the stream of the inbox.
    pub record: NotificationRecord,
}

/// A page of an inbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inbox {
    /// The notifications, newest first.
    pub entries: Vec<InboxEntry>,
    /// How many of the whole inbox are unread.
    pub unread: usize,
    /// The `cursor` of the next page; `None` if this is the last.
    pub next_cursor: Option<String>,
}

/// Marks a notification as read.
#[derive(Debug, Clone)]
pub struct MarkRead {
    /// The user, on a device.
    pub caller: Caller,
    /// The ULID in `ntf_…`.
    pub id: Ulid,
}

impl Command for MarkRead {
    type Output = InboxEntry;

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<InboxEntry> {
        let mut entry = d.engine.notification(caller_user(&self.caller)?, self.id)?;
        let now: Option<NotificationRecord> = d.overlay.get(&Key::Notification((entry.record.user, entry.record.n)))?;
        entry.record = now.ok_or_else(|| Error::new(ErrorCode::NotificationNotFound))?;
        read(d.overlay, &mut entry.record);
        Ok(entry)
    }
}

impl Answers for MarkRead {
    type View = UnreadView;

    fn view(&self, d: &Decision<'_, '_>, entry: &InboxEntry) -> Result<UnreadView> {
        let InboxEntry { record: NotificationRecord { user, n, .. }, .. } = entry;
        let unread: Vec<NotificationRecord> =
            typed_all(d.overlay.store.scan(&Scan::notifications_of(*user, true, i64::MAX, NOTIFICATIONS_KEPT))?)?;
        let mut unread_count = 0;
        for other in unread.iter().filter(|other| other.n != *n) {
            let key = Key::Notification((*user, other.n));
            let now = if d.overlay.touched(&key) { d.overlay.get(&key)? } else { Some(other.clone()) };
            unread_count += usize::from(now.is_some_and(|now| now.unread));
        }
        Ok(UnreadView { unread_count })
    }
}

/// Marks all notifications as read, up to the newest that was there.
#[derive(Debug, Clone)]
pub struct MarkAllRead {
    /// The user, on a device.
    pub caller: Caller,
}

impl Command for MarkAllRead {
    type Output = ();

    fn is_repeatable(&self) -> bool {
        true
    }

    fn decide(&self, d: &mut Decision<'_, '_>) -> Result<()> {
        let user = caller_user(&self.caller)?;
        let unread: Vec<NotificationRecord> =
            typed_all(d.overlay.store.scan(&Scan::notifications_of(user, true, i64::MAX, NOTIFICATIONS_KEPT))?)?;
        for record in unread {
            let now: Option<NotificationRecord> = d.overlay.get(&Key::Notification((user, record.n)))?;
            if let Some(mut record) = now {
                read(d.overlay, &mut record);
            }
        }
        Ok(())
    }

    fn touched((): &()) -> usize {
        // It may write as many records.
        NOTIFICATIONS_KEPT / 10
    }
}

impl Answers for MarkAllRead {
    type View = UnreadView;

    fn view(&self, _: &Decision<'_, '_>, (): &()) -> Result<UnreadView> {
        Ok(UnreadView { unread_count: 0 })
    }
}

fn read(overlay: &mut Overlay<'_>, record: &mut NotificationRecord) {
    if record.unread {
        (record.unread, record.read_at) = (false, Some(overlay.now));
        overlay.write(Write::Replace(record.clone().into()));
    }
}

/// The keys of notifications that are too old to keep.
pub(crate) fn stale_notifications(overlay: &Overlay<'_>, limit: usize) -> Result<impl Iterator<Item = Key> + use<>> {
    let old: Vec<NotificationRecord> = typed_all(overlay.store.scan(&Scan::notifications_before(overlay.now - KEPT_MS, limit))?)?;
    Ok(old.into_iter().map(|record| Key::Notification((record.user, record.n))))
}

impl Engine {
    /// The public ULID of a notification: derived, so it is not stored and does not reveal how many there are.
    pub(super) fn notification_ulid(&self, user: UserNo, n: i64) -> Ulid {
        self.id_key.child("ntf", SettlementNo(n), user.0, n >> 20)
    }

    fn entry(&self, record: NotificationRecord) -> InboxEntry {
        InboxEntry { id: self.notification_ulid(record.user, record.n), record }
    }

    /// A user's notification by its public id, which contains the millisecond of its number.
    fn notification(&self, user: UserNo, id: Ulid) -> Result<InboxEntry> {
        let missing = || Error::new(ErrorCode::NotificationNotFound);
        let end = id.at_ms().checked_add(1).and_then(|next| next.checked_mul(1 << 20)).ok_or_else(missing)?;
        let mut before = end;
        loop {
            let page: Vec<NotificationRecord> = typed_all(self.store.scan(&Scan::notifications_of(user, false, before, 50))?)?;
            let last = page.last().map(|last| last.n).ok_or_else(missing)?;
            if let Some(found) = page.into_iter().map(|record| self.entry(record)).find(|entry| entry.id == id) {
                return Ok(found);
            }
            if last >> 20 != id.at_ms() {
                return Err(missing());
            }
            before = last;
        }
    }

    /// A page of the caller's inbox, newest first; only what is unread, if asked for.
    ///
    /// # Errors
    /// `invalid_cursor`; `insufficient_scope` for a caller who is not an end user.
    pub fn inbox(&self, caller: &Caller, unread: bool, cursor: Option<&str>, limit: usize) -> Result<Inbox> {
        let user = caller_user(caller)?;
        let before = cursor.map(|cursor| self.notification(user, id_of(cursor)?)).transpose().map_err(|error| match error.code {
            ErrorCode::NotificationNotFound => Error::new(ErrorCode::InvalidCursor),
            _ => error,
        })?;
        let before = before.map_or(i64::MAX, |entry| entry.record.n);
        let found = self.store.scan(&Scan::notifications_of(user, unread, before, limit + 1))?;
        let mut entries: Vec<InboxEntry> = typed_all(found)?.into_iter().map(|record| self.entry(record)).collect();
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let next_cursor = entries.last().filter(|_| has_more).map(|last| cursor_of(last.id));
        Ok(Inbox { entries, unread: self.unread_count(caller)?, next_cursor })
    }

    /// How many notifications the caller has not read.
    ///
    /// # Errors
    /// See [`Engine::inbox`].
    pub fn unread_count(&self, caller: &Caller) -> Result<usize> {
        Ok(self.store.scan(&Scan::notifications_of(caller_user(caller)?, true, i64::MAX, NOTIFICATIONS_KEPT))?.len())
    }

    /// The place of a notification of the caller; if it is no longer kept, that of its time.
    ///
    /// # Errors
    /// See [`Engine::inbox`].
    pub fn place_in_inbox(&self, caller: &Caller, id: Ulid) -> Result<i64> {
        match self.notification(caller_user(caller)?, id) {
            Ok(entry) => Ok(entry.record.n),
            Err(error) if error.code == ErrorCode::NotificationNotFound => Ok(id.at_ms().saturating_mul(1 << 20)),
            Err(error) => Err(error),
        }
    }

    /// The caller's notifications after this place, oldest first.
    ///
    /// # Errors
    /// See [`Engine::inbox`].
    pub fn inbox_after(&self, caller: &Caller, after: i64, limit: usize) -> Result<Vec<InboxEntry>> {
        let found = self.store.scan(&Scan::notifications_after(caller_user(caller)?, after, limit))?;
        Ok(typed_all(found)?.into_iter().map(|record| self.entry(record)).collect())
    }
}
