//! What an operator has taken on, by when it is due.

use std::collections::BTreeSet;

use railgate::time::Millis;

/// The ids of what is to happen, soonest first.
#[derive(Debug, Default)]
pub struct Agenda(BTreeSet<(Millis, String)>);

impl Agenda {
    /// Notes that something is to happen at a time.
    pub fn add(&mut self, at: Millis, id: &str) {
        self.0.insert((at, id.to_owned()));
    }

    /// Takes out one that is due, the soonest first.
    pub fn take(&mut self, now: Millis) -> Option<String> {
        self.next().filter(|at| *at <= now)?;
        self.0.pop_first().map(|(_, id)| id)
    }

    /// When the next is due.
    pub fn next(&self) -> Option<Millis> {
        self.0.first().map(|(at, _)| *at)
    }
}
