//! Who follows what: settlements, or clients' feeds. Without followers this costs the writer one atomic read.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use railgate::ids::{ClientNo, SettlementNo};
use railgate::ledger::Mode;
use tokio::sync::watch;

/// Something that can be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Followed {
    /// A settlement.
    Settlement(SettlementNo),
    /// The feed of a client's events in a mode.
    Feed(ClientNo, Mode),
    /// Every commit of this node.
    Commits,
}

/// All that is followed.
#[derive(Default)]
pub(crate) struct Watchers {
    /// The number of entries, readable without the lock.
    count: AtomicUsize,
    entries: Mutex<HashMap<Followed, watch::Sender<()>>>,
}

impl Watchers {
    pub(crate) fn watch(self: &Arc<Self>, followed: Followed) -> Watch {
        let mut entries = self.lock();
        let sender = entries.entry(followed).or_insert_with(|| watch::Sender::new(()));
        let receiver = sender.subscribe();
        self.count.store(entries.len(), Ordering::SeqCst);
        drop(entries);
        // Either the caller, who reads the settlement next, sees a commit, or the writer, who reads the count after its commit,
        // sees this entry.
        fence(Ordering::SeqCst);
        Watch { watchers: Arc::clone(self), followed, receiver: Some(receiver) }
    }

    /// Wakes the followers of any of these. Call it after the commit.
    pub(crate) fn changed(&self, changed: impl Iterator<Item = Followed>) {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let entries = self.lock();
        for sender in changed.filter_map(|followed| entries.get(&followed)) {
            sender.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Followed, watch::Sender<()>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows one thing until it is dropped.
pub struct Watch {
    watchers: Arc<Watchers>,
    followed: Followed,
    /// Taken only on drop.
    receiver: Option<watch::Receiver<()>>,
}

impl Watch {
    /// Completes when it changed since the last call, or since this was created. Several changes may be reported as one;
    /// none is missed. Dropping the future before it completes loses nothing.
    pub async fn changed(&mut self) {
        let told = match &mut self.receiver {
            Some(receiver) => receiver.changed().await.is_ok(),
            None => false,
        };
        if !told {
            // The sender lives as long as there is a receiver: this is unreachable, and must not spin.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut entries = self.watchers.lock();
        self.receiver = None;
        if entries.get(&self.followed).is_some_and(|sender| sender.receiver_count() == 0) {
            entries.remove(&self.followed);
        }
        self.watchers.count.store(entries.len(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(no: i64) -> Followed {
        Followed::Settlement(SettlementNo(no))
    }

    #[tokio::test]
    async fn a_change_before_the_wait_is_not_lost_and_entries_vanish() {
        let watchers = Arc::new(Watchers::default());
        let mut first = watchers.watch(followed(7));
        let mut second = watchers.watch(followed(7));
        watchers.changed([followed(7), followed(8)].into_iter());
        watchers.changed([followed(7)].into_iter());
        first.changed().await;
        second.changed().await;
        let again = tokio::time::timeout(std::time::Duration::from_millis(20), first.changed()).await;
        assert!(again.is_err(), "two changes are told as one");
        drop(first);
        assert_eq!(watchers.lock().len(), 1);
        drop(second);
        assert_eq!(watchers.lock().len(), 0);
        assert_eq!(watchers.count.load(Ordering::SeqCst), 0);
    }
}
