//! The order in which work waits that clients cause: fair between them, live before sandbox.
//!
//! Work waits in the store ordered by a time, its *turn*. First come, first served would mean that a client who causes much at once
//! delays everybody. A turn is therefore drawn by start-time fair queueing (Goyal, Vin and Cheng, 1996): a client's work beyond
//! [`BURST`] is spread over later turns, so that the work of others, which starts where the queue has got to, comes before it.
//! Nothing is ever idle because of that: what waits is taken in the order of its turns, however late they are.
//!
//! The turns of a node are in its memory. After a restart, and between nodes, what was stored keeps its order.

use std::collections::{BTreeSet, HashMap};

use crate::ids::ClientNo;
use crate::ledger::Mode;
use crate::store::record::TaskKey;
use crate::time::Millis;

/// How much of a client's work waits in the order in which it came.
const BURST: Millis = 64;
/// How far live work comes before sandbox work, in milliseconds of turns.
const LIVE_FIRST: Millis = 10_000;
/// The farthest turn, in milliseconds from now: what a node had not sent when it stopped waits so long at most.
const FARTHEST: Millis = 60_000;
/// How many clients are remembered before those without a backlog are forgotten.
const ROOM: usize = 4_096;
/// How many tasks are remembered whose turn is in the future; further ones are taken when their turn has come.
const AHEAD: usize = 65_536;

/// A client in one mode.
pub(crate) type Owner = (ClientNo, Mode);

/// How a queue orders the work of clients. A trait, so that a program with one client does not link the fair one.
pub(crate) trait Turns: Send {
    /// The turn of `count` pieces of work that `owner` causes now.
    fn draw(&mut self, owner: Owner, count: usize, now: Millis) -> Millis;
    /// The queue was served up to this turn; `None` if nothing is left.
    fn served(&mut self, until: Option<Millis>);
    /// A task was added under this key.
    fn added(&mut self, key: TaskKey, now: Millis);
    /// Up to `limit` tasks whose turn is after `now`, first turn first. They are taken: the caller works on all that exist.
    fn ahead(&mut self, now: Millis, limit: usize) -> Vec<TaskKey>;
    /// What was taken since the last [`keep`](Turns::keep) was not worked on: the commit failed.
    fn undo(&mut self);
    /// What was taken is done with.
    fn keep(&mut self);
}

/// First come, first served.
#[cfg(feature = "sandbox")]
pub(crate) struct InOrder;

#[cfg(feature = "sandbox")]
impl Turns for InOrder {
    fn draw(&mut self, _: Owner, _: usize, now: Millis) -> Millis {
        now
    }

    fn served(&mut self, _: Option<Millis>) {}

    fn added(&mut self, _: TaskKey, _: Millis) {}

    fn ahead(&mut self, _: Millis, _: usize) -> Vec<TaskKey> {
        Vec::new()
    }

    fn undo(&mut self) {}

    fn keep(&mut self) {}
}

/// Fair between clients.
#[derive(Default)]
pub(crate) struct Fair {
    /// While work is left: the turn that was served last. New work does not come before it.
    reached: Option<Millis>,
    /// For each client: the turn after its last.
    next: HashMap<Owner, Millis>,
    /// The tasks whose turn is in the future.
    ahead: BTreeSet<TaskKey>,
    /// Those that were taken by a group whose commit is not yet known.
    taken: Vec<TaskKey>,
}

impl Turns for Fair {
    fn draw(&mut self, owner: Owner, count: usize, now: Millis) -> Millis {
        // A clock that was set back must not put new work behind all that waits.
        let start = self.reached.map_or(now, |reached| reached.min(now));
        if self.next.len() >= ROOM && !self.next.contains_key(&owner) {
            self.next.retain(|_, next| *next - BURST > start);
        }
        let next = self.next.entry(owner).or_insert(start);
        *next = start.max(*next);
        let turn = start.max(*next - BURST).min(now + FARTHEST);
        *next += Millis::try_from(count).unwrap_or(BURST);
        match owner.1 {
            Mode::Live => turn - LIVE_FIRST,
            Mode::Sandbox => turn,
        }
    }

    fn served(&mut self, until: Option<Millis>) {
        match until {
            Some(_) => self.reached = self.reached.max(until),
            None => {
                self.reached = None;
                self.next.clear();
            }
        }
    }

    fn added(&mut self, key: TaskKey, now: Millis) {
        if key.due() > now && self.ahead.len() < AHEAD {
            self.ahead.insert(key);
        }
    }

    fn ahead(&mut self, now: Millis, limit: usize) -> Vec<TaskKey> {
        // The others are due, and found like any task that is.
        self.ahead = self.ahead.split_off(&TaskKey::new(now + 1, 0));
        let taken: Vec<_> = std::iter::from_fn(|| self.ahead.pop_first()).take(limit).collect();
        self.taken.extend(&taken);
        taken
    }

    fn undo(&mut self) {
        self.ahead.extend(self.taken.drain(..));
    }

    fn keep(&mut self) {
        self.taken.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_795_257_497_042;
    const FLOOD: Owner = (ClientNo(1), Mode::Sandbox);
    const OTHER: Owner = (ClientNo(2), Mode::Sandbox);
    const LIVE: Owner = (ClientNo(3), Mode::Live);

    #[test]
    fn what_few_cause_waits_in_the_order_in_which_it_came() {
        let mut fair = Fair::default();
        for n in 0..BURST {
            assert_eq!(fair.draw(FLOOD, 1, NOW), NOW, "{n}");
        }
        assert_eq!(fair.draw(FLOOD, 1, NOW), NOW);
        assert_eq!(fair.draw(FLOOD, 1, NOW), NOW + 1, "beyond that it is spread");
        assert_eq!(fair.draw(OTHER, 1, NOW), NOW);
        assert_eq!(fair.draw(LIVE, 1, NOW), NOW - LIVE_FIRST);
    }

    #[test]
    fn others_come_next_however_much_of_one_waits() {
        let mut fair = Fair::default();
        let flood: Vec<_> = (0..10_000).map(|_| fair.draw(FLOOD, 1, NOW)).collect();
        // Long after, the queue has got only so far.
        fair.served(Some(flood[2_000]));
        let later = NOW + 60_000;
        let other = fair.draw(OTHER, 1, later);
        assert!(flood[2_001] >= other && flood[1_999] <= other, "next in line");
        assert!(fair.draw(LIVE, 1, later) < other);
        // Two that flood share what is left of the queue.
        let second: Vec<_> = (0..1_000).map(|_| fair.draw(OTHER, 1, later)).collect();
        let before = flood[2_000..].iter().filter(|turn| **turn <= second[900]).count();
        assert!((700..1_100).contains(&before), "{before}");
    }

    #[test]
    fn a_queue_that_was_emptied_holds_nothing_against_anybody() {
        let mut fair = Fair::default();
        for _ in 0..10_000 {
            fair.draw(FLOOD, 1, NOW);
        }
        fair.served(None);
        assert_eq!(fair.draw(FLOOD, 1, NOW + 1), NOW + 1);
    }

    #[test]
    fn tasks_ahead_of_time_are_taken_once_and_in_order() {
        let mut fair = Fair::default();
        let keys: Vec<_> = (0..5u32).map(|n| TaskKey::new(NOW + Millis::from(n), n)).collect();
        keys.iter().rev().for_each(|key| fair.added(*key, NOW));
        assert_eq!(fair.ahead(NOW + 1, 2), keys[2..4], "the first two are due");
        assert_eq!(fair.ahead(NOW + 1, 2), keys[4..]);
        assert!(fair.ahead(NOW + 1, 2).is_empty());
    }

    #[test]
    fn clients_without_a_backlog_are_forgotten() {
        let mut fair = Fair::default();
        for client in 0..50_000 {
            fair.draw((ClientNo(client), Mode::Sandbox), 1, NOW + Millis::from(client));
        }
        assert!(fair.next.len() <= ROOM);
    }
}
