//! Who follows which settlement. The writer pays one atomic read when nobody does.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use railgate::ids::SettlementNo;
use tokio::sync::watch;

/// The followed settlements.
#[derive(Default)]
pub(crate) struct Watchers {
    /// The number of entries, to be read without the lock.
    count: AtomicUsize,
    entries: Mutex<HashMap<SettlementNo, watch::Sender<()>>>,
}

impl Watchers {
    pub(crate) fn watch(self: &Arc<Self>, settlement: SettlementNo) -> Watch {
        let mut entries = self.lock();
        let sender = entries.entry(settlement).or_insert_with(|| watch::Sender::new(()));
        let receiver = sender.subscribe();
        self.count.store(entries.len(), Ordering::SeqCst);
        drop(entries);
        // Either the caller, who reads the settlement next, sees a commit, or the writer, who looks at the count after
        // its commit, sees this entry.
        fence(Ordering::SeqCst);
        Watch { watchers: Arc::clone(self), settlement, receiver: Some(receiver) }
    }

    /// Wakes those who follow one of `changed`. To be called after the commit.
    pub(crate) fn changed(&self, changed: &[SettlementNo]) {
        fence(Ordering::SeqCst);
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let entries = self.lock();
        for sender in changed.iter().filter_map(|settlement| entries.get(settlement)) {
            sender.send_replace(());
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SettlementNo, watch::Sender<()>>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Follows one settlement until it is dropped.
pub struct Watch {
    watchers: Arc<Watchers>,
    settlement: SettlementNo,
    /// Taken only when dropped.
    receiver: Option<watch::Receiver<()>>,
}

impl Watch {
    /// Completes when the settlement changed since the last call, or since this was made. Several changes may be told
    /// as one; none is missed. Dropping the future before it completes loses nothing.
    pub async fn changed(&mut self) {
        let told = match &mut self.receiver {
            Some(receiver) => receiver.changed().await.is_ok(),
            None => false,
        };
        if !told {
            // The sender lives as long as there is a receiver: this cannot be reached, and must not spin.
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let mut entries = self.watchers.lock();
        self.receiver = None;
        if entries.get(&self.settlement).is_some_and(|sender| sender.receiver_count() == 0) {
            entries.remove(&self.settlement);
        }
        self.watchers.count.store(entries.len(), Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_before_the_wait_is_not_lost_and_entries_vanish() {
        let watchers = Arc::new(Watchers::default());
        let mut first = watchers.watch(SettlementNo(7));
        let mut second = watchers.watch(SettlementNo(7));
        watchers.changed(&[SettlementNo(7), SettlementNo(8)]);
        watchers.changed(&[SettlementNo(7)]);
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
