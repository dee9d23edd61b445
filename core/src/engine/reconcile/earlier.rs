//! What earlier reconciliations matched, read in the order of settlements.

use std::collections::HashMap;

use crate::error::Result;
use crate::ids::SettlementNo;
use crate::reconcile::Place;
use crate::store::record::{MatchesRecord, ReconciliationRecord};
use crate::store::{Scan, Store, typed_all};

/// How many pairs a page has.
pub(super) const PAGE: usize = 4_096;

/// A payment, a reversal or a return, in one number.
pub(super) const fn packed(no: SettlementNo, place: Place) -> i64 {
    no.0 << 16 | place as i64
}

/// The pages of one reconciliation, from the first one on.
struct Pages {
    run: i64,
    last_read: i64,
    pairs: std::vec::IntoIter<(i64, u64)>,
    next: Option<(i64, u64)>,
    ended: bool,
}

/// The matches of all earlier reconciliations.
pub(super) struct Earlier<'s> {
    store: &'s dyn Store,
    runs: Vec<Pages>,
}

impl<'s> Earlier<'s> {
    /// Of these reconciliations, those that matched something from `first` on.
    pub(super) fn of(store: &'s dyn Store, runs: &[ReconciliationRecord], first: SettlementNo) -> Self {
        let runs = runs.iter().filter(|run| run.last >= first);
        let pages =
            |run: &ReconciliationRecord| Pages { run: run.no, last_read: 0, pairs: Vec::new().into_iter(), next: None, ended: false };
        Self { store, runs: runs.map(pages).collect() }
    }

    /// What was matched of settlements up to `last`, and not taken yet. Those of lower numbers than asked for may be among them.
    pub(super) fn take(&mut self, last: SettlementNo) -> Result<HashMap<i64, u64>> {
        let (mut found, end) = (HashMap::new(), packed(last, Place::MAX));
        for run in &mut self.runs {
            loop {
                let next = match run.next.take() {
                    Some(next) => Some(next),
                    None => run.pull(self.store)?,
                };
                match next {
                    Some((key, entry)) if key <= end => drop(found.insert(key, entry)),
                    later => {
                        run.next = later;
                        break;
                    }
                }
            }
        }
        Ok(found)
    }
}

impl Pages {
    fn pull(&mut self, store: &dyn Store) -> Result<Option<(i64, u64)>> {
        if let Some(next) = self.pairs.next() {
            return Ok(Some(next));
        }
        if self.ended {
            return Ok(None);
        }
        let page: Option<MatchesRecord> = typed_all(store.scan(&Scan::matches(self.run, self.last_read, 1))?)?.pop();
        let Some(page) = page else {
            self.ended = true;
            return Ok(None);
        };
        self.last_read = page.n;
        self.pairs = unpacked(&page.pairs).into_iter();
        Ok(self.pairs.next())
    }
}

/// The pairs of a page as bytes.
pub(super) fn bytes(pairs: &[(i64, u64)]) -> Vec<u8> {
    pairs.iter().flat_map(|(key, entry)| [key.to_be_bytes(), entry.to_be_bytes()]).flatten().collect()
}

fn unpacked(bytes: &[u8]) -> Vec<(i64, u64)> {
    let number = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_be_bytes);
    bytes.chunks_exact(16).map(|pair| (number(&pair[..8]) as i64, number(&pair[8..]))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Commit;
    use crate::store::Write;
    use crate::store::memory::MemoryStore;

    #[test]
    fn pages_of_several_are_read_in_step() {
        let store = MemoryStore::new();
        let page = |run, n, pairs: &[(i64, u64)]| Write::Insert(MatchesRecord { run, n, pairs: bytes(pairs) }.into());
        let key = |no| packed(SettlementNo(no), 1);
        let writes =
            vec![page(1, 1, &[(key(1), 11), (key(5), 15)]), page(1, 2, &[(key(9), 19)]), page(2, 1, &[(key(5), 25), (key(6), 26)])];
        store.commit(&Commit { writes }).unwrap();
        let cursors = [1, 2].map(|run| Pages { run, last_read: 0, pairs: Vec::new().into_iter(), next: None, ended: false });
        let mut earlier = Earlier { store: &store, runs: cursors.into() };
        assert_eq!(earlier.take(SettlementNo(4)).unwrap(), HashMap::from([(key(1), 11)]));
        assert_eq!(earlier.take(SettlementNo(6)).unwrap(), HashMap::from([(key(5), 25), (key(6), 26)]));
        assert_eq!(earlier.take(SettlementNo(99)).unwrap(), HashMap::from([(key(9), 19)]));
        assert_eq!(earlier.take(SettlementNo(999)).unwrap(), HashMap::new());
    }
}
