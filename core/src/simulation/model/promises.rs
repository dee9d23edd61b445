//! What was acknowledged lasts: whoever got an answer may rely on it, whatever fails afterwards, and whoever takes over.
//!
//! Only an answer is a promise. One that says that nobody knows is none, nor is the one that a process would have given had it not died;
//! a refusal promises nothing either. What is stored and not yet acknowledged may be gone when a standby takes over.

use std::collections::{BTreeMap, BTreeSet};

use super::{Event, Model, SKEW_MS, Seen, Verdict};

/// What somebody was told.
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// The id under which a client's reference was answered.
    payments: BTreeMap<(usize, String), String>,
    /// The last event of each settlement whose state was told: its number and its hash.
    told: BTreeMap<String, (u32, Option<String>)>,
    /// What was cancelled by its client.
    cancelled: BTreeSet<String>,
    /// What users decided.
    decided: BTreeMap<String, &'static str>,
    /// What waits for a second person, or what that one decided.
    requests: BTreeMap<String, &'static str>,
    /// The money that was moved.
    moved: BTreeMap<(usize, String), i128>,
    /// What the clock of a sandbox was put ahead to.
    clocks: BTreeMap<usize, i64>,
}

/// What a call for money back was answered.
#[derive(Debug, Clone, Copy)]
pub(in crate::simulation) enum Back<'a> {
    /// By the reversal with this id; whether that repeats an earlier answer.
    Reversed(&'a str, bool),
    /// Nothing had left: it is cancelled.
    Cancelled,
    /// It was refused.
    Refused,
}

impl Promises {
    /// The trace of a settlement, from its beginning, has everything that was told of it; an empty one if it is gone.
    pub(super) fn keep_trace(&self, id: &str, trace: &[Event]) -> Verdict {
        let Some((last, hash)) = self.told.get(id) else { return Ok(()) };
        let is_there = trace.iter().any(|event| event.sequence == *last && event.hash == *hash);
        hold!(is_there, "event {last} of {id} was answered and is gone");
        Ok(())
    }

    /// A request has this status, or is not there.
    pub(super) fn keep_request(&self, id: &str, status: Option<&str>) -> Verdict {
        let Some(told) = self.requests.get(id) else { return Ok(()) };
        let fits = status.is_some_and(|status| *told == "pending" || status == *told);
        hold!(fits, "{id} was answered as {told} and is {status:?}");
        Ok(())
    }

    /// So much was moved under a reference, or nothing.
    pub(super) fn keep_movement(&self, place: &(usize, String), amount: Option<i128>) -> Verdict {
        let told = self.moved.get(place);
        hold!(told.is_none_or(|told| amount == Some(*told)), "{told:?} were moved for {place:?}, by the answer, and {amount:?} are there");
        Ok(())
    }
}

impl Model {
    /// A client got a settlement as the answer.
    pub(in crate::simulation) fn answered(&mut self, client: usize, reference: &str, id: &str) -> Verdict {
        let before = self.promises.payments.insert((client, reference.to_owned()), id.to_owned());
        hold!(before.as_ref().is_none_or(|before| before == id), "{reference} was {before:?} and is {id}");
        self.is_there(client, reference)?;
        self.tells(id)
    }

    fn is_there(&self, client: usize, reference: &str) -> Verdict {
        let key = (client, reference.to_owned());
        let (promised, there) = (self.promises.payments.get(&key), self.by_reference.get(&key));
        hold!(promised == there, "{reference} was answered as {promised:?}, and there is {there:?}");
        Ok(())
    }

    /// Somebody got an answer about a settlement: what its trace has by now is there for ever.
    pub(in crate::simulation) fn tells(&mut self, id: &str) -> Verdict {
        let Some(known) = self.known.get(id) else { return Err(format!("{id} was answered, and nothing is stored of it")) };
        self.promises.told.insert(id.to_owned(), (known.seen.version, known.head.clone()));
        self.keeps(&known.seen)
    }

    /// A client asks for a reversal. `call` is the same however often the same call is sent.
    pub(in crate::simulation) fn asks_back(&mut self, settlement: &str, call: &str) {
        let asked = self.reversals.entry(settlement.to_owned()).or_default();
        if !asked.by_call.contains_key(call) {
            asked.perhaps.insert(call.to_owned());
        }
    }

    /// The answer to [`Model::asks_back`].
    pub(in crate::simulation) fn gives_back(&mut self, settlement: &str, call: &str, answer: Back<'_>) -> Verdict {
        let asked = self.reversals.entry(settlement.to_owned()).or_default();
        asked.perhaps.remove(call);
        match answer {
            Back::Refused => return Ok(()),
            Back::Cancelled => drop(self.promises.cancelled.insert(settlement.to_owned())),
            Back::Reversed(id, replayed) => {
                let is_new = asked.named.insert(id.to_owned());
                // The answer to the first call may have been lost.
                hold!(is_new || replayed, "{settlement} was reversed as {id} once more");
                let before = asked.by_call.insert(call.to_owned(), id.to_owned());
                hold!(before.as_ref().is_none_or(|before| before == id), "by {call}, {settlement} was reversed as {before:?} and as {id}");
            }
        }
        self.tells(settlement)
    }

    /// A user's decision was taken.
    pub(in crate::simulation) fn decides(&mut self, id: &str, approve: bool) -> Verdict {
        self.promises.decided.insert(id.to_owned(), if approve { "approved" } else { "declined" });
        self.tells(id)
    }

    /// Whoever asked was told that their request waits, or whoever decided that it is confirmed or declined.
    pub(in crate::simulation) fn told_of_request(&mut self, id: &str, status: &'static str) -> Verdict {
        let request = self.requests.get(id);
        if let Some(super::Wish::Move { client, amount, reference }) = request.map(|it| &it.wish).filter(|_| status == "confirmed") {
            let (place, amount) = ((*client, reference.clone()), *amount);
            self.promises.moved.insert(place.clone(), amount);
            self.promises.keep_movement(&place, self.moved.get(&place).copied())?;
        }
        let status_now = request.map(|it| it.status);
        // What is asked for once more may have been decided before.
        self.promises.requests.entry(id.to_owned()).and_modify(|it| *it = if status == "pending" { *it } else { status }).or_insert(status);
        self.promises.keep_request(id, status_now)
    }

    /// Somebody was told that money was moved.
    pub(in crate::simulation) fn told_of_movement(&mut self, client: usize, reference: &str, amount: i128) -> Verdict {
        let place = (client, reference.to_owned());
        self.promises.moved.insert(place.clone(), amount);
        self.promises.keep_movement(&place, self.moved.get(&place).copied())
    }

    /// A client was told that the clock of its sandbox goes on to a time.
    pub(in crate::simulation) fn puts_ahead(&mut self, client: usize, to: i64) {
        self.promises.clocks.insert(client, to);
    }

    /// The clock of a client's sandbox shows this time, or goes on to it.
    pub(in crate::simulation) fn clock_shows(&self, client: usize, time: i64) -> Verdict {
        let told = self.promises.clocks.get(&client);
        // Who answered may have another time than who is asked now.
        hold!(
            told.is_none_or(|told| *told <= time + 2 * SKEW_MS),
            "the clock of client {client} goes to {time}, and {told:?} was answered"
        );
        Ok(())
    }

    /// A settlement is as it was answered.
    pub(super) fn keeps(&self, seen: &Seen) -> Verdict {
        let is_cancelled = seen.status == "cancelled";
        hold!(is_cancelled || !self.promises.cancelled.contains(&seen.id), "its cancellation was answered, and is gone: {seen:?}");
        if let Some(decided) = self.promises.decided.get(&seen.id) {
            let fits = seen.approval == Some(decided) && (is_cancelled || *decided == "approved");
            hold!(fits, "its user was told that it is {decided}: {seen:?}");
        }
        let named = self.reversals.get(&seen.id).into_iter().flat_map(|asked| &asked.named);
        let lost: Vec<&String> = named.filter(|id| !seen.reversals.contains(id)).collect();
        hold!(lost.is_empty(), "the reversals {lost:?} were answered and are gone: {seen:?}");
        Ok(())
    }

    /// Everything that was acknowledged is there.
    pub(super) fn keeps_all(&self) -> Verdict {
        for (client, reference) in self.promises.payments.keys() {
            self.is_there(*client, reference)?;
        }
        for (id, (version, _)) in &self.promises.told {
            hold!(self.version(id) >= *version, "event {version} of {id} was answered and is gone");
        }
        for known in self.known.values() {
            self.keeps(&known.seen)?;
        }
        for id in self.promises.requests.keys() {
            self.promises.keep_request(id, self.requests.get(id).map(|request| request.status))?;
        }
        for place in self.promises.moved.keys() {
            self.promises.keep_movement(place, self.moved.get(place).copied())?;
        }
        Ok(())
    }
}
