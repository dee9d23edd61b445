//! Bounds what refused calls leave in the audit trail: of each client the first refusals of an hour are recorded one by one, the
//! rest as one record that says how many there were.
//!
//! Each node counts for itself, in memory: what was only counted when a node stops is in its metrics, not in the trail.

use std::collections::HashMap;

use crate::ids::ClientNo;
use crate::time::Millis;

const HOUR: Millis = 3_600_000;
/// How many refusals of a client are recorded one by one in an hour. Below it lies any client that makes mistakes; above it, one that
/// sends the same wrong call in a loop.
const RECORDED: u32 = 60;
/// How many clients are counted one by one; the others share one count.
const CLIENTS: usize = 4_096;

/// The refusals of the last hour.
#[derive(Default)]
pub(crate) struct Refusals {
    windows: HashMap<ClientNo, Window>,
    /// What the group that is being decided changed, so that it counts once, however often it is decided.
    before: Vec<(ClientNo, Option<Window>)>,
}

#[derive(Clone, Copy)]
struct Window {
    since: Millis,
    count: u32,
}

/// Refusals that were not recorded one by one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The client that was refused; 0 if there were too many clients to tell them apart.
    pub(crate) client: ClientNo,
    /// When their hour began.
    pub(crate) since: Millis,
    /// How many there were.
    pub(crate) count: u32,
}

impl Refusals {
    /// Counts a refusal. Returns whether it is recorded, and what was only counted in an earlier hour.
    pub(crate) fn note(&mut self, client: ClientNo, now: Millis) -> (bool, Option<Counted>) {
        let client = if self.has_room(client, now) { client } else { ClientNo(0) };
        let old = self.windows.get(&client).copied();
        let current = old.filter(|window| window.is_current(now));
        let window = current.unwrap_or(Window { since: now, count: 0 });
        let count = window.count.saturating_add(1);
        self.put(client, Some(Window { count, ..window }));
        let ended = if current.is_some() { None } else { old.and_then(|window| window.counted(client)) };
        (count <= RECORDED, ended)
    }

    /// Takes what was only counted in hours that are over, of at most `limit` clients.
    pub(crate) fn ended(&mut self, now: Millis, limit: usize) -> Vec<Counted> {
        let over = self.windows.iter().filter(|(_, window)| !window.is_current(now));
        let mut over: Vec<(ClientNo, Window)> = over.map(|(client, window)| (*client, *window)).take(limit).collect();
        over.sort_unstable_by_key(|(client, _)| *client);
        over.iter().for_each(|(client, _)| self.put(*client, None));
        over.into_iter().filter_map(|(client, window)| window.counted(client)).collect()
    }

    /// The group will be decided again, or was not committed: nothing of it counts.
    pub(crate) fn undo(&mut self) {
        while let Some((client, window)) = self.before.pop() {
            match window {
                Some(window) => self.windows.insert(client, window),
                None => self.windows.remove(&client),
            };
        }
    }

    /// The group was committed.
    pub(crate) fn keep(&mut self) {
        self.before.clear();
    }

    fn put(&mut self, client: ClientNo, window: Option<Window>) {
        let before = match window {
            Some(window) => self.windows.insert(client, window),
            None => self.windows.remove(&client),
        };
        self.before.push((client, before));
    }

    fn has_room(&mut self, client: ClientNo, now: Millis) -> bool {
        if self.windows.len() < CLIENTS || self.windows.contains_key(&client) {
            return true;
        }
        // Those of which nothing is left to be written may go. No group needs them again.
        self.windows.retain(|_, window| window.is_current(now) || window.count > RECORDED);
        self.windows.len() < CLIENTS
    }
}

impl Window {
    /// A clock that was set back begins a new hour.
    fn is_current(&self, now: Millis) -> bool {
        (0..HOUR).contains(&(now - self.since))
    }

    fn counted(&self, client: ClientNo) -> Option<Counted> {
        let count = self.count.saturating_sub(RECORDED);
        (count > 0).then_some(Counted { client, since: self.since, count })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = 1_795_257_497_042;

    #[test]
    fn a_loop_of_refusals_is_recorded_for_a_while_and_then_counted() {
        let mut refusals = Refusals::default();
        let recorded = (0..1_000).filter(|_| refusals.note(ClientNo(1), NOW).0).count();
        assert_eq!(recorded, 60);
        assert_eq!(refusals.note(ClientNo(2), NOW), (true, None), "another client's are recorded");
        refusals.keep();
        let counted = Counted { client: ClientNo(1), since: NOW, count: 940 };
        assert_eq!(refusals.note(ClientNo(1), NOW + HOUR), (true, Some(counted)), "with the first one of a later hour");
        assert_eq!(refusals.note(ClientNo(1), NOW + HOUR), (true, None));
    }

    #[test]
    fn what_was_counted_is_taken_once_after_its_hour() {
        let mut refusals = Refusals::default();
        (0..61).for_each(|_| assert_eq!(refusals.note(ClientNo(1), NOW).1, None));
        refusals.note(ClientNo(2), NOW);
        assert_eq!(refusals.ended(NOW + HOUR - 1, 9), []);
        assert_eq!(refusals.ended(NOW + HOUR, 9), [Counted { client: ClientNo(1), since: NOW, count: 1 }]);
        refusals.keep();
        assert_eq!(refusals.ended(NOW + HOUR, 9), []);
        assert!(refusals.windows.is_empty());
    }

    #[test]
    fn a_group_that_is_decided_again_counts_once() {
        let mut refusals = Refusals::default();
        (0..59).for_each(|_| assert!(refusals.note(ClientNo(1), NOW).0));
        refusals.keep();
        for _ in 0..5 {
            assert_eq!([0; 2].map(|_| refusals.note(ClientNo(1), NOW).0), [true, false]);
            refusals.undo();
        }
        assert!(refusals.note(ClientNo(1), NOW).0);
    }

    #[test]
    fn very_many_clients_share_one_count() {
        let mut refusals = Refusals::default();
        let clients = |from: u32| (from..from + 2 * CLIENTS as u32).map(ClientNo);
        let recorded = clients(1).filter(|client| refusals.note(*client, NOW).0).count();
        assert!(recorded <= CLIENTS + RECORDED as usize, "{recorded}");
        refusals.keep();
        assert!(refusals.windows.len() <= CLIENTS + 1);
        assert!(refusals.note(ClientNo(1_000_000), NOW + HOUR).0, "an hour later there is room again");
    }
}
