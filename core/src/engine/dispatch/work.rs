//! The work in a round of leases, and carrying it out in a host without its own queue.

use crate::api::{Lease, RailCall, Work};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::rail::{Carrier, RailAnswer};
use crate::store::record::TaskKey;

use super::{LeaseTasks, Question, Receive, ReportAnswer, Step};

/// How many tasks are carried in one round. A round is two or three commits.
const ROUND: usize = 64;

/// The work in a round of leases, sorted by what the host must do.
#[derive(Debug, Default)]
pub struct Round {
    /// Answers that are known without a call: report them.
    pub answers: Vec<ReportAnswer>,
    /// Calls to operators inside the gateway: run [`Receive`] for each, and hand the results to [`Round::received`].
    pub inside: Vec<(RailCall, TaskKey)>,
    /// Calls to other operators: hold an [exchange](Engine::exchange) about each, and report its answer.
    pub outside: Vec<(RailCall, TaskKey)>,
    /// Why a lease is missing here, if one is. Its task is leased again when the lease ends; the others are not delayed.
    pub fault: Option<Error>,
}

impl Round {
    /// Takes the results of [`Round::inside`], in the same order. The answer to a failed call is `Unknown`: it may have arrived.
    pub fn received(&mut self, results: Vec<Result<Option<RailAnswer>>>) {
        for ((call, key), result) in self.inside.drain(..).zip(results) {
            let Some(answer) = result.unwrap_or(Some(RailAnswer::Unknown)) else { continue };
            self.answers.push(ReportAnswer { subject: call.subject, answer, lease: Some(key) });
        }
    }
}

impl Engine {
    /// Sorts leases by what the host must do for each.
    pub fn round(&self, leases: Vec<Lease>) -> Round {
        let mut round = Round::default();
        for Lease { key, work } in leases {
            match work {
                Work::Callback { subject, answer } => round.answers.push(ReportAnswer { subject, answer, lease: Some(key) }),
                Work::Call(call) => match self.rail(call.provider) {
                    Ok(rail) if rail.inside().is_some() => round.inside.push((call, key)),
                    Ok(_) => round.outside.push((call, key)),
                    Err(error) => round.fault = Some(error),
                },
            }
        }
        round
    }

    /// Works off due tasks, including those that become due as a result, and returns how many. `carrier` sends the requests; with
    /// `&()`, which sends nothing, only operators inside the gateway are reached.
    pub fn work_until_quiet(&self, carrier: &dyn Carrier) -> Result<usize> {
        let (mut done, mut left) = (0, None);
        loop {
            done += match self.work(ROUND, carrier)? {
                // A look at a clock is no work, but makes work due.
                0 => match self.first_due()? {
                    Some(first) if left != Some(first) => {
                        left = Some(first);
                        0
                    }
                    Some(_) | None => return Ok(done),
                },
                more => more,
            };
        }
    }

    /// Works off up to `limit` due tasks and returns how many. Call it until it returns 0, then again at [`Engine::next_due`]. Each
    /// step is one commit for all tasks of the round, as in a server.
    pub fn work(&self, limit: usize, carrier: &dyn Carrier) -> Result<usize> {
        let leases = self.run(LeaseTasks::up_to(limit))?;
        let count = leases.len();
        let mut round = self.round(leases);
        for (call, key) in std::mem::take(&mut round.outside) {
            let subject = call.subject;
            match self.ask(call, carrier) {
                Ok(answer) => round.answers.push(ReportAnswer { subject, answer, lease: Some(key) }),
                Err(error) => round.fault = Some(error),
            }
        }
        round.received(self.run_all(round.inside.iter().map(|(call, _)| Receive(call.clone()))));
        // Reports are decided in the order of the leases.
        round.answers.sort_by_key(|report| report.lease);
        for report in self.run_all(round.answers) {
            report?;
        }
        round.fault.map_or(Ok(count), Err)
    }

    /// Asks an operator now, outside the outbox.
    pub(crate) fn ask(&self, call: RailCall, carrier: &dyn Carrier) -> Result<RailAnswer> {
        if self.rail(call.provider)?.inside().is_some() {
            return Ok(self.run(Receive(call))?.unwrap_or(RailAnswer::Unknown));
        }
        self.watch.ask(self, call, carrier)
    }

    /// Holds an exchange with an operator outside the gateway.
    pub(crate) fn converse<Q: Question>(&self, question: Q, carrier: &dyn Carrier) -> Result<Q::Answer> {
        let mut exchange = self.exchange(question)?;
        loop {
            match exchange.step(self) {
                Step::Token(request) | Step::Send(request) => exchange.heard(self, &carrier.carry(&request)),
                Step::Done(answer) => return Ok(answer),
            }
        }
    }
}
