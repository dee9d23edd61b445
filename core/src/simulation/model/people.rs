//! What the people who run a gateway may do, and what comes of it: four eyes, movements of money, limits.

use super::{Balance, DAY_MS, Limits, Model, SKEW_MS, Verdict};

/// How long a request waits for a second person.
const WAITS_MS: i64 = 7 * DAY_MS;

/// What a second person is asked to confirm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::simulation) enum Wish {
    /// Money in, or out if it is negative, under a reference.
    Move { client: usize, amount: i128, reference: String },
    /// What the payments of a day may add up to, and how many they may be.
    Limits { client: usize, value: i128, count: i128 },
    /// The end of something that nobody knew the end of.
    Outcome { settlement: String },
}

#[derive(Debug, Clone)]
pub(super) struct Request {
    asked_by: usize,
    asked_at: i64,
    pub(super) wish: Wish,
    pub(super) status: &'static str,
}

/// Somebody who runs the gateway.
#[derive(Debug, Clone, Copy)]
pub(in crate::simulation) struct Person {
    /// Who invited them, or whom they go back to.
    pub(in crate::simulation) line: usize,
    pub(in crate::simulation) may_confirm: bool,
}

impl Model {
    /// Somebody asked for what a second person has to confirm, and that waits now, or waits no more.
    pub(in crate::simulation) fn waits(
        &mut self,
        id: &str,
        asked: Option<(usize, Wish)>,
        status: &'static str,
        now: i64,
        undone: bool,
    ) -> Verdict {
        let Some(request) = self.requests.get_mut(id) else {
            let Some((asked_by, wish)) = asked else { return Err(format!("nobody asked for {id}")) };
            hold!(status == "pending", "{id} is {status} from the beginning");
            self.requests.insert(id.to_owned(), Request { asked_by, asked_at: now, wish, status });
            return Ok(());
        };
        let before = std::mem::replace(&mut request.status, status);
        self.promises.keep_request(id, Some(status))?;
        if undone {
            if before != status {
                self.undo(id, before);
            }
            return Ok(());
        }
        hold!(before == "pending" || before == status, "{id} was {before} and is {status}");
        if before != "pending" || status != "confirmed" {
            return Ok(());
        }
        let request = request.clone();
        let Some(by) = self.confirming.as_ref().filter(|(of, _)| of == id).map(|(_, by)| *by) else {
            return Err(format!("nobody confirmed {request:?}"));
        };
        let (asker, second) = (self.people[request.asked_by], self.people[by]);
        hold!(by != request.asked_by && asker.line != second.line, "{by} confirmed {request:?} for {}", request.asked_by);
        hold!(second.may_confirm, "{by} may not confirm {request:?}");
        hold!(now < request.asked_at + WAITS_MS + 2 * SKEW_MS, "at {now}, {request:?} was not valid any more");
        match request.wish {
            Wish::Move { client, amount, reference } => drop(self.allowed.insert((client, reference), amount)),
            Wish::Limits { client, value, count } => self.limits.entry(client).or_default().push((id.to_owned(), (value, count))),
            Wish::Outcome { settlement } => {
                let waits = self.known.get(&settlement).is_some_and(|known| known.seen.needs_review);
                hold!(waits, "{settlement} was decided, and did not wait for a person");
            }
        }
        Ok(())
    }

    /// What waited is not there any more, because a standby took over.
    pub(in crate::simulation) fn waits_no_more(&mut self, id: &str) -> Verdict {
        if let Some(status) = self.requests.get(id).map(|request| request.status) {
            self.undo(id, status);
            self.requests.remove(id);
        }
        self.promises.keep_request(id, None)
    }

    /// What was confirmed is not confirmed any more.
    fn undo(&mut self, id: &str, was: &str) {
        match self.requests.get(id).filter(|_| was == "confirmed").map(|request| &request.wish) {
            Some(Wish::Limits { client, .. }) => self.limits.entry(*client).or_default().retain(|(by, _)| by != id),
            Some(Wish::Move { client, reference, .. }) => drop(self.allowed.remove(&(*client, reference.clone()))),
            Some(Wish::Outcome { .. }) | None => {}
        }
    }

    /// What the payments of a client's day may add up to, and how many they may be.
    pub(super) fn limits_of(&self, client: usize) -> Option<Limits> {
        self.limits.get(&client)?.last().map(|(_, limits)| *limits)
    }

    /// The limits of a client as the interface shows them.
    pub(in crate::simulation) fn limits_are(&self, client: usize, is: Option<Limits>) -> Verdict {
        let due = self.limits_of(client);
        hold!(is == due, "client {client} has the limits {is:?}, and {due:?} were confirmed");
        Ok(())
    }

    /// Whoever sets the gateway up gives a client money.
    pub(in crate::simulation) fn funds(&mut self, client: usize, reference: &str, amount: i128) {
        self.allowed.insert((client, reference.to_owned()), amount);
    }

    /// Money went in or out; `None` if that is not there any more, because a standby took over.
    pub(in crate::simulation) fn moves(&mut self, client: usize, reference: &str, amount: Option<i128>) -> Verdict {
        let place = (client, reference.to_owned());
        let before = match amount {
            Some(amount) => self.moved.insert(place.clone(), amount),
            None => self.moved.remove(&place),
        };
        self.promises.keep_movement(&place, amount)?;
        if let Some(amount) = amount {
            hold!(self.allowed.get(&place) == Some(&amount), "{amount} were moved for {client} as {reference}, which nobody confirmed");
        }
        let more = amount.unwrap_or(0) - before.unwrap_or(0);
        let account = self.accounts.entry((client, true)).or_default();
        account.add(Balance { ledger: more, available: more, ..Balance::default() }, 1);
        Ok(())
    }
}
