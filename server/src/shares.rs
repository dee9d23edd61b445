//! Counts what many have in hand at once, each and all together, until they give it back.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What each has in hand. Clones count together.
pub(crate) struct Shares<K>(Arc<Mutex<Counts<K>>>);

struct Counts<K> {
    all: usize,
    of: HashMap<K, usize>,
}

/// Something in hand, given back on drop.
pub(crate) struct Share<K: Copy + Eq + Hash> {
    of: Shares<K>,
    key: K,
    amount: usize,
}

/// How much is in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InHand {
    pub(crate) own: usize,
    pub(crate) all: usize,
}

impl InHand {
    /// Whether one may have `amount` more: in all no more than a `part` of what is still free of `most`. So the share shrinks
    /// as room does, and a few who take all they can leave room to the next.
    pub(crate) fn leaves_enough(self, amount: usize, most: usize, part: usize) -> bool {
        self.own.saturating_add(amount) <= most.saturating_sub(self.all) / part
    }
}

impl<K> Clone for Shares<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> Default for Shares<K> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Counts { all: 0, of: HashMap::new() })))
    }
}

impl<K: Copy + Eq + Hash> Shares<K> {
    fn counts(&self) -> MutexGuard<'_, Counts<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn in_hand(&self, key: K) -> InHand {
        let counts = self.counts();
        InHand { own: counts.of.get(&key).copied().unwrap_or(0), all: counts.all }
    }

    /// Takes `amount`, if what is in hand is `allowed`.
    ///
    /// # Errors
    /// What is in hand, when it is not.
    pub(crate) fn take(&self, key: K, amount: usize, allowed: impl FnOnce(InHand) -> bool) -> Result<Share<K>, InHand> {
        let mut counts = self.counts();
        let in_hand = InHand { own: counts.of.get(&key).copied().unwrap_or(0), all: counts.all };
        if !allowed(in_hand) {
            return Err(in_hand);
        }
        counts.all += amount;
        *counts.of.entry(key).or_default() += amount;
        Ok(Share { of: self.clone(), key, amount })
    }

    /// What each who has something in hand has.
    pub(crate) fn each(&self) -> Vec<(K, usize)> {
        self.counts().of.iter().map(|(key, own)| (*key, *own)).collect()
    }
}

impl<K: Copy + Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut counts = self.of.counts();
        counts.all -= self.amount;
        if let Some(own) = counts.of.get_mut(&self.key) {
            *own -= self.amount;
            if *own == 0 {
                counts.of.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_in_hand_is_counted_until_it_is_given_back() {
        let shares = Shares::default();
        let below = |most: usize| move |in_hand: InHand| in_hand.own < most && in_hand.all < 3;
        let first = shares.take("one", 1, below(2)).ok();
        let second = shares.take("one", 1, below(2)).ok();
        assert_eq!(shares.take("one", 1, below(2)).err(), Some(InHand { own: 2, all: 2 }));
        let other = shares.take("two", 1, below(2)).ok();
        assert_eq!(shares.take("two", 1, below(2)).err(), Some(InHand { own: 1, all: 3 }));
        drop(first);
        assert!(shares.take("two", 1, below(2)).is_ok());
        drop((second, other));
        assert!(shares.counts().all == 0 && shares.counts().of.is_empty(), "who has nothing in hand is forgotten");
    }

    #[test]
    fn the_share_shrinks_with_the_room_and_leaves_some_to_the_next() {
        let shares = Shares::default();
        let mut taken = Vec::new();
        for greedy in 0..20 {
            while let Ok(share) = shares.take(greedy, 1, |in_hand| in_hand.leaves_enough(1, 6_400, 8)) {
                taken.push(share);
            }
        }
        let own: Vec<_> = [0, 1, 19].map(|greedy| shares.in_hand(greedy).own).into();
        assert_eq!(own, [711, 632, 76]);
        assert!(shares.take(20, 60, |in_hand| in_hand.leaves_enough(60, 6_400, 8)).is_ok());
    }
}
